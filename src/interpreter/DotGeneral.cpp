//===- DotGeneral.cpp - dot_general and dot -------------------------------===//

#include "graph/stablehlo/StablehloOps.h"
#include "interpreter/Evaluation.h"
#include "interpreter/Products.h"
#include "interpreter/Strided.h"

using namespace mlir;

namespace sinter::interpreter {

void registerConvolution(Registry &registry);

namespace {
/// An operand's dimensions by their role in the matmul.
struct Roles {
  SmallVector<int64_t> batching, free, contracting;

  Roles(int64_t rank, ArrayRef<int64_t> batchingDims,
        ArrayRef<int64_t> contractingDims)
      : batching(batchingDims), contracting(contractingDims) {
    for (int64_t i = 0; i < rank; ++i)
      if (!llvm::is_contained(batching, i) &&
          !llvm::is_contained(contracting, i))
        free.push_back(i);
  }
};
} // namespace

static SmallVector<int64_t>
concatenated(ArrayRef<int64_t> a, ArrayRef<int64_t> b, ArrayRef<int64_t> c) {
  SmallVector<int64_t> all(a);
  llvm::append_range(all, b);
  llvm::append_range(all, c);
  return all;
}

static SmallVector<int64_t> sizesOf(const Tensor &tensor,
                                    ArrayRef<int64_t> dimensions) {
  SmallVector<int64_t> sizes;
  for (int64_t dimension : dimensions)
    sizes.push_back(tensor.dim(dimension));
  return sizes;
}

static int64_t product(ArrayRef<int64_t> sizes) {
  return elementCount(sizes).value_or(0);
}

/// Transposes both operands to batches of matrices: lhs [batching, free,
/// contracting], rhs [batching, contracting, free].
Result<Tensor> dotGeneral(ElementType type, const Tensor &lhs,
                          const Tensor &rhs, const DotDimensions &dimensions) {
  const Roles left(lhs.rank(), dimensions.lhsBatching,
                   dimensions.lhsContracting);
  const Roles right(rhs.rank(), dimensions.rhsBatching,
                    dimensions.rhsContracting);
  const auto batches = sizesOf(lhs, left.batching);
  const auto summed = sizesOf(lhs, left.contracting);
  if (batches != sizesOf(rhs, right.batching) ||
      summed != sizesOf(rhs, right.contracting))
    return invalidModel("batching or contracting dimensions of " +
                        toString(lhs.type(), lhs.shape()) + " and " +
                        toString(rhs.type(), rhs.shape()) + " differ in size");
  const auto rows = sizesOf(lhs, left.free);
  const auto columns = sizesOf(rhs, right.free);
  const int64_t m = product(rows), n = product(columns), k = product(summed);
  const Shape shape = toShape(concatenated(batches, rows, columns));
  if (Result<void> fits = checkSize(type, shape); !fits)
    return fits.takeError();
  Tensor result(type, shape);
  if (result.size() == 0)
    return result;
  const Tensor a =
      transposed(lhs, concatenated(left.batching, left.free, left.contracting));
  const Tensor b = transposed(
      rhs, concatenated(right.batching, right.contracting, right.free));
  dispatchAccumulator(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const std::vector<T> x = toAccumulators<T>(a), y = toAccumulators<T>(b);
    std::vector<T> sums(result.size());
    for (int64_t i = 0; i < product(batches); ++i)
      addProduct<T>(m, k, n, x.data() + i * m * k, y.data() + i * k * n,
                    sums.data() + i * m * n);
    fromAccumulators<T>(sums, result);
  });
  return result;
}

static Result<Tensors> evaluateDotGeneral(const Call &call) {
  auto numbers = call.as<stablehlo::DotGeneralOp>().getDotDimensionNumbers();
  Result<Tensor> result =
      dotGeneral(call.resultElement(), call[0], call[1],
                 {llvm::to_vector(numbers.getLhsBatchingDimensions()),
                  llvm::to_vector(numbers.getRhsBatchingDimensions()),
                  llvm::to_vector(numbers.getLhsContractingDimensions()),
                  llvm::to_vector(numbers.getRhsContractingDimensions())});
  if (!result)
    return result.takeError();
  return single(std::move(*result));
}

/// Contracts the last dimension of lhs with the first of rhs.
static Result<Tensors> evaluateDot(const Call &call) {
  if (call[0].rank() == 0 || call[1].rank() == 0)
    return invalidModel("an operand is a scalar");
  Result<Tensor> result = dotGeneral(call.resultElement(), call[0], call[1],
                                     {{}, {}, {call[0].rank() - 1}, {0}});
  if (!result)
    return result.takeError();
  return single(std::move(*result));
}

void registerProducts(Registry &registry) {
  registry.add<stablehlo::DotGeneralOp>(evaluateDotGeneral);
  registry.add<stablehlo::DotOp>(evaluateDot);
  registerConvolution(registry);
}

} // namespace sinter::interpreter
