//===- InterpreterExecutor.cpp - a model, run by the oracle ---------------===//

#include "interpreter/InterpreterExecutor.h"
#include "interpreter/Interpreter.h"

#include <chrono>

using namespace mlir;

namespace sinter {

InterpreterExecutor::InterpreterExecutor(std::shared_ptr<const Model> owned)
    : model(std::move(owned)), inputSpecs(model->inputs()),
      outputSpecs(model->outputs()) {}

Result<std::unique_ptr<InterpreterExecutor>>
InterpreterExecutor::create(std::shared_ptr<const Model> model) {
  if (!model->entry())
    return invalidModel("the model has no entry function 'main'");
  return std::unique_ptr<InterpreterExecutor>(
      new InterpreterExecutor(std::move(model)));
}

void InterpreterExecutor::addLayer(Operation *op, double start, double end) {
  auto name = dyn_cast<NameLoc>(op->getLoc());
  layerNames.push_back(name ? name.getName().str() : "");
  LayerTime layer;
  layer.name = layerNames.back();
  layer.op = op->getName().getStringRef();
  layer.start = start;
  layer.seconds = end - start;
  layers.push_back(layer);
}

Result<std::vector<Tensor>>
InterpreterExecutor::run(std::span<const Tensor> inputs) {
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
  Result<std::vector<Tensor>> results = interpret(
      model->entry(), ArrayRef(inputs.data(), inputs.size()), observer);
  if (!results)
    return results;
  // A result may be a constant of the model or an input, which others own.
  for (Tensor &result : *results)
    result = result.owned();
  return results;
}

} // namespace sinter
