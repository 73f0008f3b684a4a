//===- FallbackExecutor.h - a generic program, or one for given values ----===//
//
// A program that computes sizes has guards on them, which are checked during a
// run. If one fails, another executor, specialised to the given values,
// restarts the run with the previous states. It serves later runs with the same
// values, too.
//
// Host functions of the failed run are called again: so there is no fallback if
// they share a context with other processes.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_ENGINE_FALLBACKEXECUTOR_H
#define SINTER_ENGINE_FALLBACKEXECUTOR_H

#include "runtime/ProgramExecutor.h"

#include <functional>
#include <memory>

namespace sinter {

class FallbackExecutor : public Executor, public HostContextUser {
public:
  /// Creates an executor for \p inputs, whose guard failed with \p why.
  using Make = std::function<Result<std::unique_ptr<Executor>>(
      std::span<const Tensor> inputs, const Error &why)>;

  FallbackExecutor(std::unique_ptr<ProgramExecutor> general, Make make)
      : general(std::move(general)), make(std::move(make)) {}

  std::span<const TensorSpec> inputs() const override {
    return general->inputs();
  }
  std::span<const TensorSpec> outputs() const override {
    return general->outputs();
  }
  /// Errors: those of the program; if no executor can be created for the
  /// values, the failed guard and the reason.
  Result<std::vector<Tensor>> runOn(const RunRequest &request) override;
  /// After a failed guard, values decide all unknown sizes.
  Result<std::vector<std::optional<Shape>>>
  outputShapes(std::span<const Shape> shapes) const override;
  std::span<const TensorSpec> states() const override {
    return general->states();
  }
  bool hasDefinedStates() const override;
  Tensor state(size_t index) const override;
  void resetStates() override;
  void setObserver(const ValueObserver &told) override;
  void setPrinter(const Printer &printing) override;
  void setProfiling(bool enabled) override;
  std::span<const LayerTime> layerTimes() const override;
  void setHostContext(HostContext *context) override;

private:
  void replaceState(size_t index, Tensor value) override;
  bool isFor(std::span<const Tensor> inputs) const;
  Result<std::vector<Tensor>> runSpecial(const RunRequest &request);
  Result<void> makeSpecial(std::span<const Tensor> inputs, const Error &why);
  Result<void> use(Executor &next);

  std::unique_ptr<ProgramExecutor> general;
  Make make;
  /// The executor for given values, and these; no values if they do not matter.
  std::unique_ptr<Executor> special;
  std::vector<std::optional<Tensor>> values;
  /// The executor of the last run.
  Executor *current = general.get();
  ValueObserver observer;
  Printer printer;
  bool profiling = false;
  HostContext *hostContext = nullptr;
  Turns turns;
};

/// Copies the states of \p from to \p to, if they have the same states. Usage
/// error if these are undefined.
Result<void> carryStates(const Executor &from, Executor &to);

} // namespace sinter

#endif // SINTER_ENGINE_FALLBACKEXECUTOR_H
