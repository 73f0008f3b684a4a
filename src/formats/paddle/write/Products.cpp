// Products of matrices.

#include "formats/import/MatMul.h"
#include "formats/paddle/write/WriterRules.h"
#include "graph/stablehlo/StablehloOps.h"

using namespace mlir;

namespace sinter::paddle {

static int64_t productOf(ArrayRef<int64_t> shape, ArrayRef<int64_t> dims) {
  int64_t product = 1;
  for (int64_t dim : dims)
    product =
        ShapedType::isDynamic(shape[dim]) || ShapedType::isDynamic(product)
            ? ShapedType::kDynamic
            : product * shape[dim];
  return product;
}

/// \p x with the dimensions \p batch, \p rows and \p columns each as one.
static std::optional<Var> asMatrices(OperatorWriter &e, const Var &x,
                                     ArrayRef<int64_t> batch,
                                     ArrayRef<int64_t> rows,
                                     ArrayRef<int64_t> columns) {
  Ints order(batch);
  order.append(rows.begin(), rows.end());
  order.append(columns.begin(), columns.end());
  const Ints shape = {productOf(x.shape(), batch), productOf(x.shape(), rows),
                      productOf(x.shape(), columns)};
  if (llvm::count_if(shape, ShapedType::isDynamic) > 1)
    return std::nullopt;
  return e.reshape(e.transpose(x, order), shape);
}

static Var multiply(OperatorWriter &e, const Var &x, const Var &y,
                    RankedTensorType type) {
  return e.make("matmul_v2", {{"X", x}, {"Y", y}},
                {{"trans_x", false}, {"trans_y", false}}, type);
}

static LogicalResult writeDotGeneral(OperatorWriter &e,
                                     stablehlo::DotGeneralOp op) {
  auto type = tensorOf(op.getResult());
  Type element = type.getElementType();
  if (!isa<FloatType>(element) || !e.typeNumber(element) ||
      elementOf(op.getLhs()) != elementOf(op.getRhs()))
    return e.unsupported("of these element types");
  // Sums of half precision may be wanted wider.
  auto wide = [&](Value value) { return e.cast(e.operand(value), element); };
  if (formats::isMatMul(op)) {
    auto [lhs, rhs] = formats::matMulOperands(op);
    return e.alias(multiply(e, wide(lhs), wide(rhs), type));
  }
  auto numbers = op.getDotDimensionNumbers();
  stablehlo::ProductSide left{op.getLhs(), numbers.getLhsBatchingDimensions(),
                              numbers.getLhsContractingDimensions()},
      right{op.getRhs(), numbers.getRhsBatchingDimensions(),
            numbers.getRhsContractingDimensions()};
  auto x = asMatrices(e, wide(op.getLhs()), numbers.getLhsBatchingDimensions(),
                      left.free(), numbers.getLhsContractingDimensions());
  auto y = asMatrices(e, wide(op.getRhs()), numbers.getRhsBatchingDimensions(),
                      numbers.getRhsContractingDimensions(), right.free());
  if (!x || !y || llvm::count_if(type.getShape(), ShapedType::isDynamic) > 1)
    return e.unsupported("of several unknown sizes");
  Var product =
      multiply(e, *x, *y,
               e.typed({x->shape()[0], x->shape()[1], y->shape()[2]}, element));
  return e.alias(e.reshape(product, type.getShape()));
}

WriterRules productRules() {
  static const WriterRule rules[] = {writerRule<writeDotGeneral>()};
  return rules;
}

} // namespace sinter::paddle
