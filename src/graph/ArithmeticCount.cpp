#include "graph/ArithmeticCount.h"

#include "graph/Types.h"
#include "graph/chlo/ChloOps.h"
#include "graph/nn/NnOps.h"
#include "graph/stablehlo/Einsum.h"
#include "graph/stablehlo/StablehloOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter {

//===----------------------------------------------------------------------===//
// Multiply-adds
//===----------------------------------------------------------------------===//

using Products = SmallVector<DimProduct, 2>;

/// Each element of the result sums up over the contracting dimensions.
static Products ofMatmul(DotGeneralOp op) {
  DimProduct product(dimsOf(op.getResult()));
  const ProductSide lhs = op.getSide(0);
  for (int64_t dimension : lhs.contracting)
    product.push_back(dimsOf(lhs.value)[dimension]);
  return {product};
}

static Products ofMatmul(DotOp op) {
  DimProduct product(dimsOf(op.getResult()));
  if (!dimsOf(op.getLhs()).empty())
    product.push_back(dimsOf(op.getLhs()).back());
  return {product};
}

/// Each row of the left operand meets one group's matrix.
static Products ofMatmul(chlo::RaggedDotOp op) {
  DimProduct product(dimsOf(op.getLhs()));
  const ProductSide rhs = op.getSide(1);
  const auto groups = op.getRaggedDotDimensionNumbers().getRhsGroupDimensions();
  for (int64_t dimension : rhs.free())
    if (!llvm::is_contained(groups, dimension))
      product.push_back(dimsOf(rhs.value)[dimension]);
  return {product};
}

/// One for each combination of indices.
static Products ofMatmul(EinsumOp op) {
  const std::optional<Einsum> einsum =
      parseEinsum(op.getEinsumConfig(), ranksOf(op->getOperands()));
  if (!einsum)
    return {};
  std::string seen;
  DimProduct product;
  for (auto [operand, letters] :
       llvm::zip_equal(op->getOperands(), einsum->operands))
    for (auto [size, letter] : llvm::zip_equal(dimsOf(operand), letters))
      if (!StringRef(seen).contains(letter)) {
        seen.push_back(letter);
        product.push_back(size);
      }
  return {product};
}

/// Whether zeros are put between the elements of the operand.
static bool isTransposed(const ConvolutionWindow &window) {
  return llvm::any_of(window,
                      [](const WindowDimension &each) {
                        return each.baseDilation > 1;
                      }) &&
         llvm::all_of(window, [](const WindowDimension &each) {
           return each.stride == 1;
         });
}

/// Each element of the result sums up over the kernel's elements for its
/// feature; in a transposed convolution each element of the operand is
/// multiplied by those that it has there.
template <typename Op> static Products ofConvolution(Op op) {
  const auto numbers = op.getDimensionNumbers();
  const ArrayRef<Dim> kernel = dimsOf(op.getRhs());
  const int64_t groups =
      static_cast<int64_t>(op.getFeatureGroupCount()) * op.getBatchGroupCount();
  const bool transposed = isTransposed(op.getWindow()) && groups > 0;
  DimProduct product(transposed ? dimsOf(op.getLhs()) : dimsOf(op.getResult()));
  for (int64_t dimension : numbers.getKernelSpatialDimensions())
    product.push_back(kernel[dimension]);
  product.push_back(
      transposed ? kernel[numbers.getKernelOutputFeatureDimension()] / groups
                 : kernel[numbers.getKernelInputFeatureDimension()]);
  return {product};
}

/// query . key^T, and the scores . value.
static Products ofAttention(nn::AttentionOp op) {
  const ArrayRef<Dim> query = dimsOf(op.getQuery()), key = dimsOf(op.getKey()),
                      value = dimsOf(op.getValue());
  DimProduct scores(query), result(dimsOf(op.getResult()));
  scores.push_back(key[key.size() - 2]);
  result.push_back(value[value.size() - 2]);
  return {scores, result};
}

/// At each step, W with the input and R with the hidden state.
template <typename Op> static Products ofRecurrence(Op op) {
  Products products;
  for (Value weights : {op.getW(), op.getR()}) {
    DimProduct &product =
        products.emplace_back(dimsOf(op.getX()).take_front(2));
    product.append(dimsOf(weights).begin(), dimsOf(weights).end());
  }
  return products;
}

static bool isRankedTensor(Value value) {
  return isa<RankedTensorType>(value.getType());
}

Products multiplyAdds(Operation &op) {
  if (!llvm::all_of(op.getOperands(), isRankedTensor) ||
      !llvm::all_of(op.getResults(), isRankedTensor))
    return {};
  return llvm::TypeSwitch<Operation *, Products>(&op)
      .Case<DotGeneralOp, DotOp, EinsumOp, chlo::RaggedDotOp>(
          [](auto matmul) { return ofMatmul(matmul); })
      .Case<ConvolutionOp, DynamicConvOp>(
          [](auto convolution) { return ofConvolution(convolution); })
      .Case([](nn::AttentionOp attention) { return ofAttention(attention); })
      .Case<nn::LstmOp, nn::GruOp, nn::RnnOp>(
          [](auto layer) { return ofRecurrence(layer); })
      .Default([](Operation *) { return Products(); });
}

//===----------------------------------------------------------------------===//
// All arithmetic
//===----------------------------------------------------------------------===//

static double sizeOf(ArrayRef<int64_t> sizes) {
  double product = 1;
  for (int64_t size : sizes)
    product *= static_cast<double>(size);
  return product;
}

/// 0 where one is not static.
static double valueOf(const DimProduct &factors) {
  double product = 1;
  for (Dim factor : factors)
    product *= static_cast<double>(factor.valueOr(0));
  return product;
}

static bool isStaticTensor(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape();
}

double arithmeticCount(Operation &op) {
  if (op.getNumResults() == 0 || isa<ConstantOp>(op) ||
      !llvm::all_of(op.getOperands(), isStaticTensor) ||
      !llvm::all_of(op.getResults(), isStaticTensor))
    return 0;
  if (const Products products = multiplyAdds(op); !products.empty()) {
    double sum = 0;
    for (const DimProduct &each : products)
      sum += 2 * valueOf(each);
    return sum;
  }
  constexpr double ofFunction = 20;
  const double elements = sizeOf(tensorOf(op.getResult(0)).getShape());
  return llvm::TypeSwitch<Operation *, double>(&op)
      .Case<ReduceOp>([&](ReduceOp reduce) {
        return sizeOf(tensorOf(reduce.getInputs()[0]).getShape());
      })
      .Case<ReduceWindowOp>([&](ReduceWindowOp window) {
        return sizeOf(window.getWindowDimensions()) * elements;
      })
      .Case<ExpOp, Expm1Op, LogOp, Log1pOp, LogisticOp, TanhOp, SineOp,
            CosineOp, TanOp, PowOp, Atan2Op, CbrtOp, nn::ErfOp, nn::ErfcOp>(
          [&](auto) { return ofFunction * elements; })
      .Default([&](Operation *) { return elements; });
}

} // namespace sinter
