//===- Communicator.h - how the processes of a program talk ---------------===//
//
// A program may run as a grid of processes, `replicas` times `partitions`; rank
// = replica * partitions + partition. They are threads of this process
// (ThreadGroup) or processes that MPI started (mpi/), and what runs in them
// does not see the difference: everything that they exchange goes through here.
//
// What a group of processes does together, they do in the same order. A program
// whose processes do not agree ends in an error that says who does what.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RUNTIME_COMMUNICATOR_H
#define SINTER_RUNTIME_COMMUNICATOR_H

#include "runtime/HostFunctions.h"
#include "runtime/Tensor.h"

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sinter {

struct ProcessGrid {
  uint32_t replicas = 1, partitions = 1;

  uint32_t size() const { return replicas * partitions; }
  uint32_t rankOf(uint32_t replica, uint32_t partition) const {
    return replica * partitions + partition;
  }
  bool operator==(const ProcessGrid &) const = default;
};

using Rank = uint32_t;
using RankGroup = std::vector<Rank>;
using Tensors = std::vector<Tensor>;

/// One process's side of the grid.
class Communicator : public HostContext {
public:
  Communicator(ProcessGrid grid, Rank rank) : processGrid(grid), self(rank) {}

  const ProcessGrid &grid() const { return processGrid; }
  Rank rank() const { return self; }
  uint32_t replica() const { return self / processGrid.partitions; }
  uint32_t partition() const { return self % processGrid.partitions; }

  /// What each process of \p group gives, in the order of the group, which this
  /// process is in. All must call this with the same group and the same \p
  /// what, which names the operation, and with tensors of the same types. \p
  /// what with WrongResult otherwise, and where all processes are blocked.
  virtual Result<std::vector<Tensors>> exchange(const RankGroup &group,
                                                const Tensors &mine,
                                                std::string_view what) = 0;

  /// Leaves \p values for the process \p to, or for whoever asks first if there
  /// is none, on a channel. Does not wait.
  virtual Result<void> send(int64_t channel, std::optional<Rank> to,
                            const Tensors &values, std::string_view what) = 0;
  /// What was sent on the channel to this process, in the order it was sent, by
  /// \p from if that is known. Waits for it.
  virtual Result<Tensors> receive(int64_t channel, std::optional<Rank> from,
                                  std::string_view what) = 0;

  /// To be called once all is done, by every process of the grid.
  virtual Result<void> finish() { return {}; }

  /// What stablehlo.infeed gives, one list of values a time, and what
  /// stablehlo.outfeed got.
  std::deque<Tensors> infeed;
  std::vector<Tensors> outfeed;
  /// What the processes of a group gave last, where a program combines it
  /// piece by piece.
  std::vector<Tensors> gathered;

private:
  const ProcessGrid processGrid;
  const Rank self;
};

/// "process 3 (replica 1, partition 1)".
std::string processText(const ProcessGrid &grid, Rank rank);
/// What all are told where none can go on; \p where says of each what it does.
std::string standstillText(const ProcessGrid &grid,
                           std::span<const std::string> where);

/// A grid of one process.
class LoneCommunicator : public Communicator {
public:
  LoneCommunicator() : Communicator({}, 0) {}
  Result<std::vector<Tensors>> exchange(const RankGroup &group,
                                        const Tensors &mine,
                                        std::string_view what) override;
  Result<void> send(int64_t channel, std::optional<Rank> to,
                    const Tensors &values, std::string_view what) override;
  Result<Tensors> receive(int64_t channel, std::optional<Rank> from,
                          std::string_view what) override;

private:
  std::vector<std::pair<int64_t, Tensors>> sent;
};

} // namespace sinter

#endif // SINTER_RUNTIME_COMMUNICATOR_H
