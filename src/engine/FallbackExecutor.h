//===- FallbackExecutor.h - a program for all values, or one for some -----===//
//
// A program that computes sizes is for the values with which these keep to its
// limits, which shows when it runs. Where they do not, another executor, made
// for the values at hand, starts anew with the states of before. It serves
// later runs with the same values, too.
//
// What functions of the process did in the run that failed they do again: so
// nothing falls back where they share a context with others.
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
  /// Makes an executor for \p inputs, which are beyond what the program is for
  /// as \p why says.
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
  /// Errors: those of the program; where none can be made for the values,
  /// why the first one is not for them, and what keeps them from another one.
  Result<std::vector<Tensor>> run(std::span<const Tensor> inputs) override;
  std::span<const TensorSpec> states() const override {
    return general->states();
  }
  Tensor state(size_t index) const override;
  void resetStates() override;
  void setObserver(const ValueObserver &told) override;
  void setProfiling(bool enabled) override;
  std::span<const LayerTime> layerTimes() const override;
  void setHostContext(HostContext *context) override;

private:
  void replaceState(size_t index, Tensor value) override;
  bool isFor(std::span<const Tensor> inputs) const;
  Result<std::vector<Tensor>> runSpecial(std::span<const Tensor> inputs);
  Result<void> makeSpecial(std::span<const Tensor> inputs, const Error &why);
  Result<void> use(Executor &next);

  std::unique_ptr<ProgramExecutor> general;
  Make make;
  /// The one for some values, and these; nothing where they do not matter.
  std::unique_ptr<Executor> special;
  std::vector<std::optional<Tensor>> values;
  /// The one that ran last.
  Executor *current = general.get();
  ValueObserver observer;
  bool profiling = false;
  HostContext *hostContext = nullptr;
  Turns turns;
};

/// Gives \p to what outlived a run of \p from, if they have the same states.
Result<void> carryStates(const Executor &from, Executor &to);

} // namespace sinter

#endif // SINTER_ENGINE_FALLBACKEXECUTOR_H
