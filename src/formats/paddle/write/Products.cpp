// Matmuls.

#include "formats/import/MatMul.h"
#include "formats/paddle/write/SizesAndIndices.h"
#include "formats/paddle/write/WriterRules.h"
#include "graph/stablehlo/StablehloOps.h"

using namespace mlir;

namespace sinter::paddle {

/// \p x, the variable of \p value, with the dimensions \p batch, \p rows and
/// \p columns each merged.
static Var asMatrices(OperatorWriter &e, const Var &x, Value value,
                      ArrayRef<int64_t> batch, ArrayRef<int64_t> rows,
                      ArrayRef<int64_t> columns) {
  Ints order, shape;
  for (ArrayRef<int64_t> dims : {batch, rows, columns}) {
    order.append(dims.begin(), dims.end());
    shape.push_back(productOf(sizesAt(x.shape(), dims)));
  }
  return reshape(e, e.transpose(x, order), shape, [&] {
    Vars joined;
    for (ArrayRef<int64_t> dims : {batch, rows, columns})
      joined.push_back(stridesOf(e, value, dims).back().var(e));
    return joined;
  });
}

static Var multiply(OperatorWriter &e, const Var &x, const Var &y,
                    RankedTensorType type) {
  return e.make("matmul_v2", {{"X", x}, {"Y", y}},
                {{"trans_x", false}, {"trans_y", false}}, type);
}

/// [batch..., rows, columns] if both are one dimension, or the one at \p free
/// is absent and becomes size 1: no dimensions are merged, so any size may be
/// dynamic.
static std::optional<Var> asStack(OperatorWriter &e, const Var &x,
                                  ArrayRef<int64_t> batch,
                                  ArrayRef<int64_t> free,
                                  ArrayRef<int64_t> contracted, bool isLeft) {
  if (contracted.size() != 1 || free.size() > 1)
    return std::nullopt;
  Ints order(batch);
  ArrayRef<int64_t> first = isLeft ? free : contracted,
                    second = isLeft ? contracted : free;
  order.append(first.begin(), first.end());
  order.append(second.begin(), second.end());
  Var stack = e.transpose(x, order);
  const auto place = static_cast<int64_t>(batch.size());
  return free.empty() ? e.unsqueeze(stack, {isLeft ? place : place + 1})
                      : stack;
}

/// Batched matmul of matrices or vectors.
static std::optional<Var> multiplyStacks(OperatorWriter &e, const Var &lhs,
                                         const Var &rhs,
                                         const stablehlo::ProductSide &left,
                                         const stablehlo::ProductSide &right) {
  auto x = asStack(e, lhs, left.batching, left.free(), left.contracting, true);
  if (!x)
    return std::nullopt;
  auto y =
      asStack(e, rhs, right.batching, right.free(), right.contracting, false);
  if (!y)
    return std::nullopt;
  Ints shape(x->shape());
  shape.back() = y->shape().back();
  Var product = multiply(e, *x, *y, e.typed(shape, lhs.element()));
  Ints gone;
  const int64_t rank = product.rank();
  if (left.free().empty())
    gone.push_back(rank - 2);
  if (right.free().empty())
    gone.push_back(rank - 1);
  return e.squeeze(product, gone);
}

static LogicalResult writeDotGeneral(OperatorWriter &e,
                                     stablehlo::DotGeneralOp op) {
  auto type = tensorOf(op.getResult());
  Type element = type.getElementType();
  auto compute = formats::typeOfProducts(op);
  if (!compute || !e.typeNumber(element))
    return e.unsupported("of these element types");
  auto wide = [&](Value value) { return e.cast(e.operand(value), *compute); };
  auto done = [&](const Var &product) {
    return e.alias(e.cast(product, element));
  };
  if (formats::isMatMul(op)) {
    auto [lhs, rhs] = formats::matMulOperands(op);
    return done(
        multiply(e, wide(lhs), wide(rhs), e.typed(type.getShape(), *compute)));
  }
  auto numbers = op.getDotDimensionNumbers();
  stablehlo::ProductSide left{op.getLhs(), numbers.getLhsBatchingDimensions(),
                              numbers.getLhsContractingDimensions()},
      right{op.getRhs(), numbers.getRhsBatchingDimensions(),
            numbers.getRhsContractingDimensions()};
  Var lhs = wide(op.getLhs()), rhs = wide(op.getRhs());
  if (auto product = multiplyStacks(e, lhs, rhs, left, right))
    return done(*product);
  Var x = asMatrices(e, lhs, op.getLhs(), left.batching, left.free(),
                     left.contracting);
  Var y = asMatrices(e, rhs, op.getRhs(), right.batching, right.contracting,
                     right.free());
  Var product = multiply(
      e, x, y, e.typed({x.shape()[0], x.shape()[1], y.shape()[2]}, *compute));
  return done(reshape(e, product, type.getShape(), [&] {
    Vars sizes;
    for (int64_t dim : left.batching)
      sizes.push_back(sizeOf(e, op.getLhs(), dim));
    for (int64_t dim : left.free())
      sizes.push_back(sizeOf(e, op.getLhs(), dim));
    for (int64_t dim : right.free())
      sizes.push_back(sizeOf(e, op.getRhs(), dim));
    return sizes;
  }));
}

WriterRules productRules() {
  static const WriterRule rules[] = {writerRule<writeDotGeneral>()};
  return rules;
}

} // namespace sinter::paddle
