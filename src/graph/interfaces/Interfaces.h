//===- Interfaces.h - op interfaces for passes ----------------------------===//

#ifndef SINTER_GRAPH_INTERFACES_INTERFACES_H
#define SINTER_GRAPH_INTERFACES_INTERFACES_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"
#include <optional>

namespace sinter {

/// Where the channels of an activation are found in a weight.
///
/// The activation's dimension \p activationDim holds `groups * groupSize`
/// channels. Channel `g * groupSize + i` belongs to the weight's elements whose
/// index along \p weightDim is `i` (when \p groupDim is set, and whose index
/// along \p groupDim lies in the g-th of \p groups equal ranges) or is `g *
/// groupSize + i` (when \p groupDim is not set and the weight's dimension holds
/// all channels).
struct ChannelFold {
  int64_t activationDim;
  int64_t weightDim;
  std::optional<int64_t> groupDim = std::nullopt;
  int64_t groups = 1;
  /// The operation reads values (zeros) from outside the operand, which a shift
  /// of the operand would not reach.
  bool padded = false;
};

namespace traits {
/// See Interfaces.td.
template <typename Op>
class MovesElements : public mlir::OpTrait::TraitBase<Op, MovesElements> {};
template <typename Op>
class HandsTensorsOn : public mlir::OpTrait::TraitBase<Op, HandsTensorsOn> {};
} // namespace traits

} // namespace sinter

#include "graph/interfaces/Interfaces.h.inc"

namespace sinter {

/// The dimensions of the result of \p op that the weight, its operand
/// \p weight, has, too, so that a scale along one of them can be folded into
/// the weight. Empty if there is none.
llvm::SmallVector<ChannelFold> resultFolds(ChannelwiseAffineOpInterface op,
                                           unsigned weight);
/// The same for the operand other than the weight. A shift of the operand may
/// be folded only where `ChannelFold::padded` is false.
llvm::SmallVector<ChannelFold> operandFolds(ChannelwiseAffineOpInterface op,
                                            unsigned weight);

} // namespace sinter

#endif // SINTER_GRAPH_INTERFACES_INTERFACES_H
