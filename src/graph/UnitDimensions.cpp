#include "graph/UnitDimensions.h"

#include "graph/Types.h"
#include "graph/interfaces/Axes.h"
#include "graph/stablehlo/StablehloOps.h"

using namespace mlir;

std::optional<SmallVector<int64_t>> sinter::movedDimensions(Operation *op) {
  if (auto transpose = dyn_cast_or_null<stablehlo::TransposeOp>(op))
    return llvm::to_vector(transpose.getPermutation());
  auto reshape = dyn_cast_or_null<stablehlo::ReshapeOp>(op);
  if (!reshape || !tensorOf(reshape.getOperand()).hasStaticShape() ||
      !tensorOf(reshape.getResult()).hasStaticShape())
    return std::nullopt;
  const Axes axes = *axesOf(op);
  SmallVector<int64_t> dims;
  for (auto [i, size] :
       llvm::enumerate(tensorOf(reshape.getResult()).getShape())) {
    auto from = axes.operandOf(0, i);
    if (size != 1 && !from)
      return std::nullopt;
    dims.push_back(size == 1 ? -1 : *from);
  }
  return dims;
}
