#include "backend/cpu/layout/AbsorbTransposes.h"

#include "graph/stablehlo/StablehloOps.h"

using namespace mlir;

namespace sinter::cpu {

/// The dimensions of the transpose's operand that \p dims of its result are.
static SmallVector<int64_t> through(ArrayRef<int64_t> permutation,
                                    ArrayRef<int64_t> dims) {
  return llvm::to_vector(
      llvm::map_range(dims, [&](int64_t dim) { return permutation[dim]; }));
}

/// Whether the free dimensions are in the same order before the transpose.
static bool keepsOrder(ArrayRef<int64_t> permutation,
                       ArrayRef<int64_t> batching,
                       ArrayRef<int64_t> contracting) {
  int64_t last = -1;
  for (int64_t i = 0; i < static_cast<int64_t>(permutation.size()); ++i) {
    if (llvm::is_contained(batching, i) || llvm::is_contained(contracting, i))
      continue;
    if (permutation[i] < last)
      return false;
    last = permutation[i];
  }
  return true;
}

static constexpr llvm::StringLiteral label = "absorb-transpose";

ArrayRef<PatternInfo> absorbTransposesPatterns() {
  static const PatternInfo infos[] = {
      {label, "dot_general(transpose(x), y) -> dot_general(x, y)",
       "cpu-absorb-transposes"}};
  return infos;
}

void absorbTransposes(func::FuncOp function, PatternRun &run) {
  if (!run.isEnabled(label))
    return;
  function.walk([&](stablehlo::DotGeneralOp op) {
    for (unsigned side : {0u, 1u}) {
      auto transpose =
          op->getOperand(side).getDefiningOp<stablehlo::TransposeOp>();
      if (!transpose)
        continue;
      auto numbers = op.getDotDimensionNumbers();
      SmallVector<int64_t> dims[4] = {
          llvm::to_vector(numbers.getLhsBatchingDimensions()),
          llvm::to_vector(numbers.getRhsBatchingDimensions()),
          llvm::to_vector(numbers.getLhsContractingDimensions()),
          llvm::to_vector(numbers.getRhsContractingDimensions())};
      ArrayRef<int64_t> permutation = transpose.getPermutation();
      if (!keepsOrder(permutation, dims[side], dims[2 + side]))
        continue;
      dims[side] = through(permutation, dims[side]);
      dims[2 + side] = through(permutation, dims[2 + side]);
      op->setOperand(side, transpose.getOperand());
      op.setDotDimensionNumbersAttr(stablehlo::DotDimensionNumbersAttr::get(
          op.getContext(), dims[0], dims[1], dims[2], dims[3]));
      run.count(label);
      run.graphIsWhole(label);
    }
  });
}

} // namespace sinter::cpu
