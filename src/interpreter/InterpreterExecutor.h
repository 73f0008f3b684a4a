//===- InterpreterExecutor.h - a model, run by the oracle -----------------===//

#ifndef SINTER_INTERPRETER_INTERPRETEREXECUTOR_H
#define SINTER_INTERPRETER_INTERPRETEREXECUTOR_H

#include "graph/Model.h"
#include "graph/storage/Storage.h"
#include "runtime/Executor.h"
#include "runtime/HostContextUser.h"
#include <deque>
#include <memory>

namespace sinter {

/// Runs a model's entry function, whose shapes may be unknown, operation by
/// operation. With profiling, each operation is a layer.
class InterpreterExecutor : public Executor, public HostContextUser {
public:
  /// Fails where the model has no entry function (InvalidModel).
  static Result<std::unique_ptr<InterpreterExecutor>>
  create(std::shared_ptr<const Model> model);

  std::span<const TensorSpec> inputs() const override { return inputSpecs; }
  std::span<const TensorSpec> outputs() const override { return outputSpecs; }
  std::span<const TensorSpec> states() const override { return stateSpecs; }
  /// A Communicator, for operations that talk with other processes.
  void setHostContext(HostContext *context) override { host = context; }
  void setProfiling(bool enabled) override { isProfiling = enabled; }
  std::span<const LayerTime> layerTimes() const override { return layers; }

private:
  InterpreterExecutor(std::shared_ptr<const Model> model, Storage storage);
  Result<std::vector<Tensor>> runAlone(std::span<const Tensor> inputs) override;
  Tensor copyState(size_t index) const override { return stateTensors[index]; }
  void replaceState(size_t index, Tensor value) override {
    stateTensors[index] = std::move(value);
  }
  void setInitialStates() override;
  void addLayer(mlir::Operation *op, double start, double end);

  std::shared_ptr<const Model> model;
  Storage storage;
  std::vector<TensorSpec> inputSpecs, outputSpecs, stateSpecs;
  std::vector<Tensor> stateTensors;
  bool isProfiling = false;
  HostContext *host = nullptr;
  std::vector<LayerTime> layers;
  std::deque<std::string> layerNames;
};

} // namespace sinter

#endif // SINTER_INTERPRETER_INTERPRETEREXECUTOR_H
