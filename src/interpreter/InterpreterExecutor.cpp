//===- InterpreterExecutor.cpp - a model, run by the oracle ---------------===//

#include "interpreter/InterpreterExecutor.h"
#include "graph/ArithmeticCount.h"
#include "graph/Constants.h"
#include "interpreter/Interpreter.h"

#include <chrono>

using namespace mlir;

namespace sinter {

InterpreterExecutor::InterpreterExecutor(std::shared_ptr<const Model> owned,
                                         Storage storage)
    : model(std::move(owned)), storage(std::move(storage)),
      inputSpecs(model->inputs()), outputSpecs(model->outputs()) {
  for (const StateTensor &state : this->storage.states())
    stateSpecs.push_back(state.spec);
  resetStates();
}

Result<std::unique_ptr<InterpreterExecutor>>
InterpreterExecutor::create(std::shared_ptr<const Model> model) {
  if (!model->entry())
    return invalidModel(whyNoEntry(model->module()));
  Result<Storage> storage = Storage::of(*model);
  if (!storage)
    return storage.takeError();
  return std::unique_ptr<InterpreterExecutor>(
      new InterpreterExecutor(std::move(model), std::move(*storage)));
}

void InterpreterExecutor::resetStates() {
  const auto look = turns.look();
  stateTensors.clear();
  for (const StateTensor &state : storage.states())
    stateTensors.push_back(toTensor(state.initial)->owned());
}

void InterpreterExecutor::addLayer(Operation *op, double start, double end) {
  auto name = dyn_cast<NameLoc>(op->getLoc());
  layerNames.push_back(name ? name.getName().str() : "");
  LayerTime layer;
  layer.name = layerNames.back();
  layer.op = op->getName().getStringRef();
  layer.start = start;
  layer.seconds = end - start;
  layer.flops = arithmeticCount(*op);
  layers.push_back(layer);
}

Result<std::vector<Tensor>>
InterpreterExecutor::run(std::span<const Tensor> inputs) {
  Result<Turns::Turn> turn = turns.take();
  if (!turn)
    return turn.takeError();
  if (Result<void> ok = checkInputs(inputSpecs, inputs); !ok)
    return ok.takeError();
  layers.clear();
  layerNames.clear();
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  double last = 0;
  Observer observer;
  if (isProfiling)
    observer = [&](Operation *op, ArrayRef<Tensor>) {
      const double now =
          std::chrono::duration<double>(Clock::now() - begin).count();
      addLayer(op, last, now);
      last = now;
    };
  std::vector<Tensor> arguments(inputs.size() + stateTensors.size());
  for (auto [tensor, place] : llvm::zip_equal(inputs, storage.inputs()))
    arguments[place] = tensor;
  for (auto [tensor, state] : llvm::zip_equal(stateTensors, storage.states()))
    arguments[state.argument] = tensor;
  Environment environment;
  environment.observer = listener;
  if (auto *communicator = dynamic_cast<Communicator *>(host))
    environment.communicator =
        std::shared_ptr<Communicator>(std::shared_ptr<void>(), communicator);
  Result<std::vector<Tensor>> results =
      interpret(model->entry(), arguments, observer, &environment);
  if (!results)
    return results;
  // A result may be a constant of the model or an input, which others own.
  for (auto [tensor, state] : llvm::zip_equal(stateTensors, storage.states()))
    tensor = (*results)[state.result].owned();
  std::vector<Tensor> outputs;
  for (unsigned place : storage.outputs())
    outputs.push_back((*results)[place].owned());
  return outputs;
}

} // namespace sinter
