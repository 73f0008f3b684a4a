//===- InterpreterExecutor.h - runs a model in the interpreter ------------===//

#ifndef SINTER_INTERPRETER_INTERPRETEREXECUTOR_H
#define SINTER_INTERPRETER_INTERPRETEREXECUTOR_H

#include "graph/Model.h"
#include "graph/storage/Storage.h"
#include "runtime/Executor.h"
#include "runtime/HostContextUser.h"
#include "runtime/Turns.h"
#include <deque>
#include <memory>

namespace sinter {

/// Runs a model's entry function, whose shapes may be dynamic, operation by
/// operation. With profiling, each operation is a layer. Threads that share one
/// are serialised by a lock; graphs nest, so each run is on a deep stack
/// (runtime/DeepStack.h).
class InterpreterExecutor : public Executor, public HostContextUser {
public:
  /// Fails where the model has no entry function (InvalidModel).
  static Result<std::unique_ptr<InterpreterExecutor>>
  create(std::shared_ptr<const Model> model);
  ~InterpreterExecutor() override;

  std::span<const TensorSpec> inputs() const override { return inputSpecs; }
  std::span<const TensorSpec> outputs() const override { return outputSpecs; }
  Result<std::vector<Tensor>> runOn(const RunRequest &request) override;
  std::span<const TensorSpec> states() const override { return stateSpecs; }
  Tensor state(size_t index) const override {
    const auto look = turns.look();
    return stateTensors[index];
  }
  void resetStates() override;
  /// A Communicator, for operations that communicate with other processes.
  void setHostContext(HostContext *context) override { host = context; }
  void setObserver(const ValueObserver &told) override { listener = told; }
  void setPrinter(const Printer &printing) override { printer = printing; }
  void setProfiling(bool enabled) override { isProfiling = enabled; }
  std::span<const LayerTime> layerTimes() const override { return layers; }

private:
  InterpreterExecutor(std::shared_ptr<const Model> model, Storage storage);
  void replaceState(size_t index, Tensor value) override {
    const auto look = turns.look();
    stateTensors[index] = std::move(value);
  }
  Result<std::vector<Tensor>> runHere(const RunRequest &request);
  void addLayer(mlir::Operation *op, double start, double end);

  std::shared_ptr<const Model> model;
  Turns turns;
  Storage storage;
  std::vector<TensorSpec> inputSpecs, outputSpecs, stateSpecs;
  std::vector<Tensor> stateTensors;
  bool isProfiling = false;
  HostContext *host = nullptr;
  ValueObserver listener;
  Printer printer;
  std::vector<LayerTime> layers;
  std::deque<std::string> layerNames;
};

} // namespace sinter

#endif // SINTER_INTERPRETER_INTERPRETEREXECUTOR_H
