#include "graph/Repetition.h"

#include "graph/Broadcast.h"
#include "graph/Types.h"
#include "graph/UnitDimensions.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;

namespace sinter {

Repetition Repetition::of(Value value) {
  auto places =
      llvm::to_vector(llvm::seq<int64_t>(0, tensorOf(value).getRank()));
  while (true) {
    if (auto repeated = Broadcast::of(value)) {
      places = llvm::map_to_vector(repeated->dimensions,
                                   [&](int64_t dim) { return places[dim]; });
      value = repeated->operand;
      continue;
    }
    auto moved = movedDimensions(value.getDefiningOp());
    if (!moved)
      return {value, places};
    Value from = value.getDefiningOp()->getOperand(0);
    SmallVector<int64_t> before(tensorOf(from).getRank(), -1);
    for (auto [result, operand] : llvm::enumerate(*moved))
      if (operand >= 0)
        before[operand] = places[result];
    places = std::move(before);
    value = from;
  }
}

} // namespace sinter
