//===- Collectives.h - what processes do together, on tensors -------------===//
//
// The distribution operations of StableHLO in terms of a Communicator. `what`
// names the operation in messages. Errors: InvalidModel for groups that do not
// fit the grid, and the communicator's.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RUNTIME_COLLECTIVES_H
#define SINTER_RUNTIME_COLLECTIVES_H

#include "runtime/ProcessGroups.h"

namespace sinter {

/// What each process of this one's group has, and this one's place in it. It is
/// an error to be in none.
struct Gathered {
  std::vector<Tensors> all;
  size_t place = 0;
};
Result<Gathered> gather(Communicator &communicator, const Groups &groups,
                        const Tensors &mine, std::string_view what);

/// Each operand of the group, joined along \p axis.
Result<Tensors> allGather(Communicator &communicator, const Groups &groups,
                          const Tensors &operands, int64_t axis,
                          std::string_view what);

/// Part \p place of each operand of the group, cut along \p splitAxis into
/// \p count parts, joined along \p joinAxis.
Result<Tensors> allToAll(Communicator &communicator, const Groups &groups,
                         const Tensors &operands, int64_t splitAxis,
                         int64_t joinAxis, int64_t count,
                         std::string_view what);

/// Operand i of the process at place roots[i] of the group, or of the first
/// without \p roots. Nothing for a process in no group.
Result<std::optional<Tensors>>
collectiveBroadcast(Communicator &communicator, const Groups &groups,
                    const Tensors &operands, std::span<const int64_t> roots,
                    std::string_view what);

/// The operands of the process that the pairs send from to this one; nothing if
/// there is none.
Result<std::optional<Tensors>> collectivePermute(Communicator &communicator,
                                                 const Groups &pairs,
                                                 const Tensors &operands,
                                                 std::string_view what);

/// Sends over a channel to those that the pairs say, or, if there are none, to
/// whoever asks.
Result<void> sendValues(Communicator &communicator, int64_t channel,
                        Groups pairs, const Tensors &values,
                        std::string_view what);
/// What comes over the channel; nothing for a process that the pairs send
/// nothing to.
Result<std::optional<Tensors>> receiveValues(Communicator &communicator,
                                             int64_t channel, Groups pairs,
                                             std::string_view what);

/// The next values of the infeed. WrongResult where there are none.
Result<Tensors> takeInfeed(Communicator &communicator, std::string_view what);

/// The tensors, which differ in the size of \p axis at most, one behind the
/// other; and part \p index of \p count equal parts of one. Usage errors where
/// they do not fit.
Result<Tensor> joined(std::span<const Tensor> tensors, int64_t axis);
Result<Tensor> partOf(const Tensor &tensor, int64_t axis, int64_t index,
                      int64_t count);

} // namespace sinter

#endif // SINTER_RUNTIME_COLLECTIVES_H
