//===- Replica.h - data-parallel processes of training --------------------===//

#ifndef SINTER_ENGINE_REPLICA_H
#define SINTER_ENGINE_REPLICA_H

#include "engine/Train.h"
#include "runtime/Communicator.h"

#include <functional>
#include <map>
#include <memory>
#include <string>

namespace sinter {

/// The programs of one process of a run, and its states, which move between
/// them.
class Replica {
public:
  using Make = std::function<Result<std::unique_ptr<Executor>>()>;

  /// The step of this key, created on first use, with the present states.
  Result<Executor *> step(const std::string &key, const Make &make);
  /// The program that evaluates the model with them.
  Result<Executor *> judge(const std::string &key, const Make &make);
  /// Copies the present states to \p executor.
  Result<void> giveTo(Executor &executor) const;

  /// All states after a step; nothing before the first one.
  NamedTensors states() const;
  /// The same, or the initial states of the first step.
  NamedTensors current() const { return latest ? states() : restored; }
  /// The initial states of the first step, if not the model's weights.
  void restore(NamedTensors states) { restored = std::move(states); }
  /// Copies the states of another process after a step without this one, in the
  /// same order.
  Result<void> take(std::vector<Tensor> states);

private:
  NamedTensors restored;
  std::map<std::string, std::unique_ptr<Executor>> steps, judges;
  /// The executor with the present states.
  Executor *latest = nullptr;
};

/// The processes that take steps together: one, several threads of this
/// process, or one of mpirun's.
class Processes {
public:
  Processes() = default;
  /// \p count threads of this process. Those that run in the interpreter are
  /// serialised.
  Processes(uint32_t count, bool takesTurns)
      : count(count), takesTurns(takesTurns) {}
  explicit Processes(std::unique_ptr<Communicator> own)
      : count(own->grid().size()), own(std::move(own)) {}

  uint32_t size() const { return count; }
  /// The number of them in this process.
  size_t localCount() const { return own ? 1 : count; }
  Rank rankOf(size_t local) const {
    return own ? own->rank() : static_cast<Rank>(local);
  }
  /// Whether this process writes files.
  bool isFirst() const { return rankOf(0) == 0; }

  /// Calls \p work for each of this process's, with a communicator if there are
  /// several.
  Result<void>
  run(const std::function<Result<void>(size_t local, Communicator *)> &work);
  /// Gathers the rows of all processes, by rank; \p mine has a row for each of
  /// this process's.
  Result<std::vector<std::vector<double>>>
  gather(const std::vector<std::vector<double>> &mine, std::string_view what);
  /// As checkSameProgram(). Threads of one process run the same program anyway.
  Result<void> checkSame(const Hash128 &program) {
    return own ? checkSameProgram(*own, program) : Result<void>();
  }
  /// To be called at the end.
  Result<void> finish() { return own ? own->finish() : Result<void>(); }

private:
  uint32_t count = 1;
  bool takesTurns = false;
  std::unique_ptr<Communicator> own;
};

} // namespace sinter

#endif // SINTER_ENGINE_REPLICA_H
