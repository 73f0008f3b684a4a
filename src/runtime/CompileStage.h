//===- CompileStage.h - a stage of compilation ----------------------------===//

#ifndef SINTER_RUNTIME_COMPILESTAGE_H
#define SINTER_RUNTIME_COMPILESTAGE_H

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

namespace sinter {

/// The name, object and time of a stage.
struct CompileStage {
  using Clock = std::chrono::steady_clock;

  /// "simplify"; of a kernel "emit", "lower", "translate", "optimise" and
  /// "assemble".
  std::string name;
  /// A layer that uses the kernel; empty for stages of the whole model.
  std::string kernel;
  /// The index of the thread that compiled the kernel.
  unsigned thread = 0;
  Clock::time_point start, end;

  double seconds() const {
    return std::chrono::duration<double>(end - start).count();
  }
};

/// Called with each stage once it is over; from any thread, but not
/// concurrently.
using CompileObserver = std::function<void(const CompileStage &)>;

/// Reports consecutive stages to an observer.
class CompileStages {
public:
  /// \p observer may be empty.
  CompileStages(const CompileObserver &observer, std::string kernel = {},
                unsigned thread = 0)
      : observer(observer), stage{{}, std::move(kernel), thread, now(), {}} {}

  /// Reports the stage that began at the end of the previous one.
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
