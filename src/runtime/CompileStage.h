//===- CompileStage.h - a part of making a model ready to run -------------===//

#ifndef SINTER_RUNTIME_COMPILESTAGE_H
#define SINTER_RUNTIME_COMPILESTAGE_H

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

namespace sinter {

/// What was done, to what, and when.
struct CompileStage {
  using Clock = std::chrono::steady_clock;

  /// "simplify"; of a kernel "emit", "lower", "translate", "optimise" and
  /// "assemble".
  std::string name;
  /// A layer with the kernel; empty for what is done once for the model.
  std::string kernel;
  /// The number of the thread that compiled the kernel.
  unsigned thread = 0;
  Clock::time_point start, end;

  double seconds() const {
    return std::chrono::duration<double>(end - start).count();
  }
};

/// Is told of each stage once it is over; from any thread, never from two at
/// once.
using CompileObserver = std::function<void(const CompileStage &)>;

/// Tells an observer of stages that follow on one another.
class CompileStages {
public:
  /// \p observer may be empty.
  CompileStages(const CompileObserver &observer, std::string kernel = {},
                unsigned thread = 0)
      : observer(observer), stage{{}, std::move(kernel), thread, now(), {}} {}

  /// The stage that began with the end of the one before is over.
  void end(std::string_view name) {
    stage.end = now();
    stage.name = name;
    if (observer)
      observer(stage);
    stage.start = stage.end;
  }

private:
  static CompileStage::Clock::time_point now() {
    return CompileStage::Clock::now();
  }

  const CompileObserver &observer;
  CompileStage stage;
};

} // namespace sinter

#endif // SINTER_RUNTIME_COMPILESTAGE_H
