//===- InterpreterExecutor.cpp - runs a model in the interpreter ----------===//

#include "interpreter/InterpreterExecutor.h"
#include "graph/ArithmeticCount.h"
#include "graph/Constants.h"
#include "interpreter/Interpreter.h"
#include "runtime/DeepStack.h"
#include "runtime/OutOfMemory.h"

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

/// The last one that has a model destroys it. Where there can be no thread,
/// that is left to the member.
InterpreterExecutor::~InterpreterExecutor() {
  static_cast<void>(onDeepStack([&] { model.reset(); }));
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
InterpreterExecutor::runOn(const RunRequest &request) {
  // The turn is taken there, too: it is a thread's.
  return resultOnDeepStack([&] { return runHere(request); });
}

Result<std::vector<Tensor>>
InterpreterExecutor::runHere(const RunRequest &request) {
  Result<Turns::Turn> turn = turns.take();
  if (!turn)
    return turn.takeError();
  const std::span<const Tensor> inputs = request.inputs;
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
  for (auto [tensor, index] : llvm::zip_equal(inputs, storage.inputs()))
    arguments[index] = tensor;
  for (auto [tensor, state] : llvm::zip_equal(stateTensors, storage.states()))
    arguments[state.argument] = tensor;
  Environment environment;
  environment.observer = listener;
  if (printer)
    environment.print = printer;
  environment.cancellation = request.cancellation;
  if (auto *communicator = dynamic_cast<Communicator *>(host))
    environment.communicator =
        std::shared_ptr<Communicator>(std::shared_ptr<void>(), communicator);
  Result<std::vector<Tensor>> results =
      interpret(model->entry(), arguments, observer, &environment);
  if (!results)
    return results;
  // A result may share the memory of a constant of the model or of an input.
  // The states change once all of them are there.
  return catchingOutOfMemory(
      "the model's outputs", [&]() -> Result<std::vector<Tensor>> {
        std::vector<Tensor> outputs, states;
        for (const StateTensor &state : storage.states())
          states.push_back((*results)[state.result].owned());
        for (unsigned index : storage.outputs())
          outputs.push_back((*results)[index].owned());
        stateTensors = std::move(states);
        return outputs;
      });
}

} // namespace sinter
