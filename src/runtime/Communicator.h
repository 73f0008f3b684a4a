//===- Communicator.h - communication between a program's processes -------===//
//
// A program may run on `replicas` times `partitions` processes; rank = replica
// * partitions + partition. They are threads of this process (ThreadGroup) or
// processes that MPI started (mpi/). Programs do not depend on which: all
// communication goes through this interface.
//
// The processes of a group call its collectives in the same order. If they do
// not agree, the program ends with an error that lists what each process waits
// for.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RUNTIME_COMMUNICATOR_H
#define SINTER_RUNTIME_COMMUNICATOR_H

#include "runtime/Hash.h"
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

/// One process's endpoint.
class Communicator : public HostContext {
public:
  Communicator(ProcessGrid grid, Rank rank) : processGrid(grid), self(rank) {}

  const ProcessGrid &grid() const { return processGrid; }
  Rank rank() const { return self; }
  uint32_t replica() const { return self / processGrid.partitions; }
  uint32_t partition() const { return self % processGrid.partitions; }

  /// The values of each process of \p group, in the order of the group, which
  /// contains this process. All must call this with the same group, the same \p
  /// what, which names the operation, and tensors of the same types.
  /// WrongResult naming \p what otherwise, and if all processes are blocked.
  virtual Result<std::vector<Tensors>> exchange(const RankGroup &group,
                                                const Tensors &mine,
                                                std::string_view what) = 0;

  /// Sends \p values over a channel to the process \p to or, without one, to
  /// the first that asks. Does not block.
  virtual Result<void> send(int64_t channel, std::optional<Rank> to,
                            const Tensors &values, std::string_view what) = 0;
  /// The values sent over the channel to this process, in order, by \p from if
  /// given. Blocks until there are some.
  virtual Result<Tensors> receive(int64_t channel, std::optional<Rank> from,
                                  std::string_view what) = 0;

  /// Every process calls this at the end.
  virtual Result<void> finish() { return {}; }

  /// The values for stablehlo.infeed, one list per call, and those from
  /// stablehlo.outfeed.
  std::deque<Tensors> infeed;
  std::vector<Tensors> outfeed;
  /// The last values of the processes of a group, which a program combines
  /// tensor by tensor.
  std::vector<Tensors> gathered;

private:
  const ProcessGrid processGrid;
  const Rank self;
};

/// "process 3 (replica 1, partition 1)".
std::string processText(const ProcessGrid &grid, Rank rank);
/// The error of all processes when none can continue; \p where lists what each
/// waits for.
std::string standstillText(const ProcessGrid &grid,
                           std::span<const std::string> where);

/// Every process calls this first: whether all run \p program. The Usage error
/// names one that runs another program than the first process.
Result<void> checkSameProgram(Communicator &communicator,
                              const Hash128 &program);

/// A communicator of one process.
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
