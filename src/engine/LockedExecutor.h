//===- LockedExecutor.h - runs under a lock -------------------------------===//
//
// The interpreter reads the compiler's graph, which only one thread at a time
// may use, even to read.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_ENGINE_LOCKEDEXECUTOR_H
#define SINTER_ENGINE_LOCKEDEXECUTOR_H

#include "runtime/Executor.h"
#include "runtime/HostContextUser.h"

#include <memory>
#include <mutex>

namespace sinter {

/// Runs \p inner with a lock held.
class LockedExecutor : public Executor, public HostContextUser {
public:
  LockedExecutor(std::unique_ptr<Executor> inner, std::recursive_mutex &lock)
      : inner(std::move(inner)), lock(lock) {}

  std::span<const TensorSpec> inputs() const override {
    return inner->inputs();
  }
  std::span<const TensorSpec> outputs() const override {
    return inner->outputs();
  }
  Result<std::vector<Tensor>> runOn(const RunRequest &request) override {
    const std::lock_guard held(lock);
    return inner->runOn(request);
  }
  Result<std::vector<std::optional<Shape>>>
  outputShapes(std::span<const Shape> shapes) const override {
    return inner->outputShapes(shapes);
  }
  std::span<const TensorSpec> states() const override {
    return inner->states();
  }
  bool hasDefinedStates() const override { return inner->hasDefinedStates(); }
  Tensor state(size_t index) const override { return inner->state(index); }
  void resetStates() override {
    const std::lock_guard held(lock);
    inner->resetStates();
  }
  void setObserver(const ValueObserver &observer) override {
    inner->setObserver(observer);
  }
  void setPrinter(const Printer &printer) override {
    inner->setPrinter(printer);
  }
  void setProfiling(bool enabled) override { inner->setProfiling(enabled); }
  std::span<const LayerTime> layerTimes() const override {
    return inner->layerTimes();
  }
  void setHostContext(HostContext *context) override {
    if (auto *user = dynamic_cast<HostContextUser *>(inner.get()))
      user->setHostContext(context);
  }

private:
  void replaceState(size_t index, Tensor value) override {
    // Checked by the caller.
    static_cast<void>(inner->setState(index, value));
  }

  std::unique_ptr<Executor> inner;
  std::recursive_mutex &lock;
};

} // namespace sinter

#endif // SINTER_ENGINE_LOCKEDEXECUTOR_H
