//===- MarkFronts.cpp - mark sorts of which only the front is read --------===//

#include "backend/cpu/legalize/MarkFronts.h"

#include "backend/cpu/ir/CpuOps.h"
#include "graph/stablehlo/StablehloOps.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

/// How many elements from the first on the uses of \p op read; nothing if one
/// reads others.
static std::optional<int64_t> frontOf(stablehlo::SortOp op) {
  int64_t dim = op.getDimension();
  if (dim < 0)
    dim += tensorOf(op.getInputs()[0]).getRank();
  int64_t front = 0;
  for (Operation *user : op->getUsers()) {
    auto slice = dyn_cast<stablehlo::SliceOp>(user);
    if (!slice || slice.getStartIndices()[dim] != 0 ||
        slice.getStrides()[dim] != 1)
      return std::nullopt;
    front = std::max(front, slice.getLimitIndices()[dim]);
  }
  return front;
}

void cpu::markFronts(func::FuncOp function) {
  Builder builder(function.getContext());
  function.walk([&](stablehlo::SortOp op) {
    if (std::optional<int64_t> front = frontOf(op); front && *front > 0)
      op->setAttr(frontAttribute, builder.getI64IntegerAttr(*front));
  });
}
