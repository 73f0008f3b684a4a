#include "graph/UnitDimensions.h"

#include "graph/Types.h"
#include "graph/stablehlo/StablehloOps.h"

using namespace mlir;

std::optional<SmallVector<int64_t>> sinter::movedDimensions(Operation *op) {
  if (auto transpose = dyn_cast_or_null<stablehlo::TransposeOp>(op))
    return llvm::to_vector(transpose.getPermutation());
  auto reshape = dyn_cast_or_null<stablehlo::ReshapeOp>(op);
  if (!reshape || !tensorOf(reshape.getOperand()).hasStaticShape() ||
      !tensorOf(reshape.getResult()).hasStaticShape())
    return std::nullopt;
  ArrayRef<int64_t> from = shapeOf(reshape.getOperand()),
                    to = shapeOf(reshape.getResult());
  SmallVector<int64_t> dims(to.size(), -1);
  size_t next = 0;
  auto skipUnits = [&] {
    while (next < from.size() && from[next] == 1)
      ++next;
  };
  for (size_t i = 0; i < to.size(); ++i) {
    if (to[i] == 1)
      continue;
    skipUnits();
    if (next == from.size() || from[next] != to[i])
      return std::nullopt;
    dims[i] = static_cast<int64_t>(next++);
  }
  skipUnits();
  if (next != from.size())
    return std::nullopt;
  return dims;
}
