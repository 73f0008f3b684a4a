//===- DotGeneral.cpp - products of tensors -------------------------------===//

#include "graph/stablehlo/StablehloOps.h"
#include "interpreter/Evaluation.h"
#include "interpreter/Products.h"
#include "interpreter/Strided.h"

using namespace mlir;

namespace sinter::interpreter {

void registerConvolution(Registry &registry);

namespace {
/// An operand's dimensions by their part in the product.
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

static SmallVector<int64_t> joined(ArrayRef<int64_t> a, ArrayRef<int64_t> b,
                                   ArrayRef<int64_t> c) {
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

/// Of both operands, dimensions in this order make them stacks of matrices:
/// lhs [batching, free, contracting], rhs [batching, contracting, free].
static Result<Tensors> evaluateDotGeneral(const Call &call) {
  auto numbers = call.as<stablehlo::DotGeneralOp>().getDotDimensionNumbers();
  const Roles lhs(call[0].rank(), numbers.getLhsBatchingDimensions(),
                  numbers.getLhsContractingDimensions());
  const Roles rhs(call[1].rank(), numbers.getRhsBatchingDimensions(),
                  numbers.getRhsContractingDimensions());
  const auto batches = sizesOf(call[0], lhs.batching);
  const auto summed = sizesOf(call[0], lhs.contracting);
  if (batches != sizesOf(call[1], rhs.batching) ||
      summed != sizesOf(call[1], rhs.contracting))
    return invalidModel("batching or contracting dimensions of " +
                        toString(call[0].type(), call[0].shape()) + " and " +
                        toString(call[1].type(), call[1].shape()) +
                        " differ in size");
  const auto rows = sizesOf(call[0], lhs.free);
  const auto columns = sizesOf(call[1], rhs.free);
  const int64_t m = product(rows), n = product(columns), k = product(summed);
  return produce(
      call.resultElement(), toShape(joined(batches, rows, columns)),
      [&](Tensor &result) {
        if (result.size() == 0)
          return;
        const Tensor left = transposed(
            call[0], joined(lhs.batching, lhs.free, lhs.contracting));
        const Tensor right = transposed(
            call[1], joined(rhs.batching, rhs.contracting, rhs.free));
        dispatchAccumulator(result.type(), [&](auto tag) {
          using T = typename decltype(tag)::type;
          const std::vector<T> a = toAccumulators<T>(left);
          const std::vector<T> b = toAccumulators<T>(right);
          std::vector<T> sums(result.size());
          for (int64_t i = 0; i < product(batches); ++i)
            addProduct<T>(m, k, n, a.data() + i * m * k, b.data() + i * k * n,
                          sums.data() + i * m * n);
          fromAccumulators<T>(sums, result);
        });
      });
}

void registerProducts(Registry &registry) {
  registry.add<stablehlo::DotGeneralOp>(evaluateDotGeneral);
  registerConvolution(registry);
}

} // namespace sinter::interpreter
