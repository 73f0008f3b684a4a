//===- Replica.h - one of the processes that train a model ----------------===//

#ifndef SINTER_ENGINE_REPLICA_H
#define SINTER_ENGINE_REPLICA_H

#include "engine/Train.h"
#include "runtime/Communicator.h"

#include <functional>
#include <map>
#include <memory>
#include <string>

namespace sinter {

/// The programs of one process of a run and its states, which go from the one
/// to the next.
class Replica {
public:
  using Make = std::function<Result<std::unique_ptr<Executor>>()>;

  /// The step of this key, made when it is first asked for, with the states as
  /// they are now.
  Result<Executor *> step(const std::string &key, const Make &make);
  /// What judges the model with these.
  Result<Executor *> judge(const std::string &key, const Make &make);
  /// Gives \p executor the states as they are.
  Result<void> giveTo(Executor &executor) const;

  /// All that outlives a step; nothing before the first one.
  NamedTensors states() const;
  /// The same, or what the first step begins with.
  NamedTensors current() const { return latest ? states() : restored; }
  /// What the first step begins with, if not with the model's weights.
  void restore(NamedTensors states) { restored = std::move(states); }
  /// The states of another process behind a step that this one had no part in,
  /// in the same order.
  Result<void> take(std::vector<Tensor> states);

private:
  NamedTensors restored;
  std::map<std::string, std::unique_ptr<Executor>> steps, judges;
  /// The one that holds the states.
  Executor *latest = nullptr;
};

/// The processes that take steps together: one, several threads of this
/// process, or the one that this process is under mpirun.
class Processes {
public:
  Processes() = default;
  /// \p count threads of this process. Those that run in the interpreter take
  /// turns.
  Processes(uint32_t count, bool takesTurns)
      : count(count), takesTurns(takesTurns) {}
  explicit Processes(std::unique_ptr<Communicator> own)
      : count(own->grid().size()), own(std::move(own)) {}

  uint32_t size() const { return count; }
  /// How many of them this process is.
  size_t localCount() const { return own ? 1 : count; }
  Rank rankOf(size_t local) const {
    return own ? own->rank() : static_cast<Rank>(local);
  }
  /// Whether this is who writes.
  bool isFirst() const { return rankOf(0) == 0; }

  /// Does \p work in each of this process's, with a communicator if there are
  /// several.
  Result<void>
  run(const std::function<Result<void>(size_t local, Communicator *)> &work);
  /// The rows of all processes, by rank, where each gives \p mine: a row for
  /// each of this process's.
  Result<std::vector<std::vector<double>>>
  gather(const std::vector<std::vector<double>> &mine, std::string_view what);
  /// To be called once all is done.
  Result<void> finish() { return own ? own->finish() : Result<void>(); }

private:
  uint32_t count = 1;
  bool takesTurns = false;
  std::unique_ptr<Communicator> own;
};

} // namespace sinter

#endif // SINTER_ENGINE_REPLICA_H
