//===- Collectives.h - collective operations on tensors -------------------===//
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

/// The operands of each process in this one's group, and this one's index in
/// the group. Being in no group is an error.
struct Gathered {
  std::vector<Tensors> all;
  size_t place = 0;
};
Result<Gathered> gather(Communicator &communicator, const Groups &groups,
                        const Tensors &mine, std::string_view what);

/// Each operand, gathered over the group and concatenated along \p axis.
Result<Tensors> allGather(Communicator &communicator, const Groups &groups,
                          const Tensors &operands, int64_t axis,
                          std::string_view what);

/// All-to-all: each operand is split along \p splitAxis into \p count slices;
/// this process gets slice \p place of every process, concatenated along \p
/// joinAxis.
Result<Tensors> allToAll(Communicator &communicator, const Groups &groups,
                         const Tensors &operands, int64_t splitAxis,
                         int64_t joinAxis, int64_t count,
                         std::string_view what);

/// Operand i of the process with index roots[i] in the group, or of the first
/// if \p roots is empty. Nothing for a process in no group.
Result<std::optional<Tensors>>
collectiveBroadcast(Communicator &communicator, const Groups &groups,
                    const Tensors &operands, std::span<const int64_t> roots,
                    std::string_view what);

/// The operands of the process whose pair sends to this one; nothing if there
/// is none.
Result<std::optional<Tensors>> collectivePermute(Communicator &communicator,
                                                 const Groups &pairs,
                                                 const Tensors &operands,
                                                 std::string_view what);

/// Sends over a channel to the targets in the pairs or, without pairs, to any
/// process that asks.
Result<void> sendValues(Communicator &communicator, int64_t channel,
                        Groups pairs, const Tensors &values,
                        std::string_view what);
/// The values received from the channel; nothing for a process that no pair
/// sends to.
Result<std::optional<Tensors>> receiveValues(Communicator &communicator,
                                             int64_t channel, Groups pairs,
                                             std::string_view what);

/// The next values of the infeed. WrongResult if there are none.
Result<Tensors> takeInfeed(Communicator &communicator, std::string_view what);

/// Concatenates tensors, which may differ in the size of \p axis only; and
/// slice \p index of \p count equal slices of a tensor. Usage errors if they do
/// not fit.
Result<Tensor> joined(std::span<const Tensor> tensors, int64_t axis);
Result<Tensor> partOf(const Tensor &tensor, int64_t axis, int64_t index,
                      int64_t count);

} // namespace sinter

#endif // SINTER_RUNTIME_COLLECTIVES_H
