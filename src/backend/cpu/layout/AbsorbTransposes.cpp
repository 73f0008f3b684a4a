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

static constexpr llvm::StringLiteral absorbTransposeLabel = "absorb-transpose";

ArrayRef<PatternInfo> absorbTransposesPatterns() {
  static const PatternInfo infos[] = {
      {absorbTransposeLabel,
       "dot_general(transpose(x), y) -> dot_general(x, y)",
       "cpu-absorb-transposes"}};
  return infos;
}

void absorbTransposes(func::FuncOp function, PatternRun &run) {
  if (!run.isEnabled(absorbTransposeLabel))
    return;
  function.walk([&](stablehlo::DotGeneralOp op) {
    for (unsigned side : {0u, 1u}) {
      auto transpose =
          op->getOperand(side).getDefiningOp<stablehlo::TransposeOp>();
      if (!transpose)
        continue;
      ArrayRef<int64_t> permutation = transpose.getPermutation();
      const stablehlo::ProductSide lhs = op.getSide(0), rhs = op.getSide(1);
      // The free dimensions must be in the same order before the transpose.
      if (!llvm::is_sorted(through(permutation, op.getSide(side).free())))
        continue;
      SmallVector<int64_t> dims[4] = {
          llvm::to_vector(lhs.batching), llvm::to_vector(rhs.batching),
          llvm::to_vector(lhs.contracting), llvm::to_vector(rhs.contracting)};
      dims[side] = through(permutation, dims[side]);
      dims[2 + side] = through(permutation, dims[2 + side]);
      op->setOperand(side, transpose.getOperand());
      op.setDotDimensionNumbersAttr(stablehlo::DotDimensionNumbersAttr::get(
          op.getContext(), dims[0], dims[1], dims[2], dims[3]));
      run.count(absorbTransposeLabel);
      run.graphIsWhole(absorbTransposeLabel);
    }
  });
}

} // namespace sinter::cpu
