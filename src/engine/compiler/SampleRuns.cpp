//===- SampleRuns.cpp - runs a graph on samples ---------------------------===//

#include "engine/compiler/SampleRuns.h"

#include "engine/FallbackExecutor.h"
#include "engine/compiler/MlirCompiler.h"
#include "runtime/DynamicProgram.h"
#include "runtime/ThreadPool.h"

#include <algorithm>
#include <chrono>

using namespace mlir;

namespace sinter {

std::vector<Value> valuesInOrder(const Model &model) {
  std::vector<Value> values;
  func::FuncOp entry = model.entry();
  entry.walk<WalkOrder::PreOrder>([&](Operation *op) {
    values.insert(values.end(), op->result_begin(), op->result_end());
    for (Region &region : op->getRegions())
      for (Block &block : region)
        values.insert(values.end(), block.args_begin(), block.args_end());
  });
  return values;
}

llvm::DenseMap<Value, Value> copiesIn(const Model &copy, const Model &model) {
  llvm::DenseMap<Value, Value> copies;
  for (auto [value, same] :
       llvm::zip_equal(valuesInOrder(model), valuesInOrder(copy)))
    copies[value] = same;
  return copies;
}

SampleRuns::SampleRuns(Model model, const QuantizeRequest &request,
                       const ModelDescription &description,
                       std::vector<NumberedValue> observed)
    : model(std::move(model)), request(request), description(description),
      isObserved(!observed.empty()) {
  observe(observed);
}

SpecializeOptions knownOf(const ModelDescription &description,
                          const std::vector<Tensor> &inputs) {
  SpecializeOptions known;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ModelInput &input = description.inputs[i];
    known.shapes[input.spec.name] = inputs[i].shape();
    if (input.feedsShapes)
      known.values[input.spec.name] = inputs[i];
  }
  return known;
}

/// The key of a program: shapes, and values that feed shapes.
static std::string keyOf(const std::vector<Tensor> &inputs,
                         const ModelDescription &description) {
  std::string key;
  for (size_t i = 0; i < inputs.size(); ++i) {
    key += toString(inputs[i].type(), inputs[i].shape()) + ";";
    if (description.inputs[i].feedsShapes)
      key.append(reinterpret_cast<const char *>(inputs[i].data()),
                 inputs[i].bytes());
  }
  return key;
}

SampleRuns::MadeExecutor
SampleRuns::compile(const SpecializeOptions &known,
                    std::shared_ptr<const Program> &program) const {
  CompileRequest compile;
  compile.threads = request.threads;
  compile.kernelFolder = request.kernelFolder;
  compile.compiler = request.compiler;
  compile.ceilings = request.ceilings;
  compile.passes.cancellation = request.passes.cancellation;
  auto compiled = compileModel(model.clone(), known, compile);
  if (!compiled)
    return compiled.takeError();
  program = std::move(*compiled);
  ProgramExecutorOptions how;
  how.threads = request.threads;
  return ProgramExecutor::create(
      program, ThreadPool::ofProcess(request.threads), std::move(how));
}

/// Compiles the shape-generic program, if dimensions are dynamic and it is
/// possible.
Result<void> SampleRuns::compileDynamic() {
  if (isObserved || std::exchange(triedDynamic, true))
    return {};
  SpecializeOptions known;
  known.leavesDynamic = true;
  bool isDynamic = false;
  for (const ModelInput &input : description.inputs) {
    known.shapes[input.spec.name] = input.spec.shape;
    isDynamic |= llvm::is_contained(input.spec.shape, -1);
  }
  if (!isDynamic)
    return {};
  MadeExecutor executor = compile(known, dynamic);
  // A model that was read for given sizes is static.
  if (executor && !dynamic->dynamic)
    return {};
  if (executor)
    dynamicExecutor = std::make_unique<FallbackExecutor>(
        std::move(*executor),
        [this](std::span<const Tensor> inputs,
               const Error &why) -> Result<std::unique_ptr<Executor>> {
          refusal = why.message();
          std::shared_ptr<const Program> program;
          MadeExecutor made = compile(
              knownOf(description, {inputs.begin(), inputs.end()}), program);
          if (!made)
            return made.takeError();
          return std::unique_ptr<Executor>(std::move(*made));
        });
  else if (executor.error().kind == ErrorKind::System ||
           executor.error().kind == ErrorKind::Cancelled)
    return executor.takeError();
  else
    refusal = executor.error().message();
  return {};
}

Result<Executor *> SampleRuns::executorFor(const std::vector<Tensor> &inputs) {
  if (Result<void> done = compileDynamic(); !done)
    return done.takeError();
  if (dynamicExecutor) {
    Result<std::vector<int64_t>> sizes = parametersOf(*dynamic, inputs);
    if (!sizes)
      return sizes.takeError();
    Result<void> serves = checkGuards(*dynamic, *sizes);
    if (serves)
      return dynamicExecutor.get();
    refusal = serves.error().message();
  }
  std::unique_ptr<Executor> &place = executors[keyOf(inputs, description)];
  if (place)
    return place.get();
  std::shared_ptr<const Program> program;
  MadeExecutor executor = compile(knownOf(description, inputs), program);
  if (!executor)
    return executor.takeError();
  place = std::move(*executor);
  return place.get();
}

Result<std::vector<Tensor>> SampleRuns::run(const std::vector<Tensor> &inputs,
                                            const ValueObserver &observer) {
  Result<Executor *> executor = executorFor(inputs);
  if (!executor)
    return executor.takeError();
  (*executor)->resetStates();
  (*executor)->setObserver(observer);
  (*executor)->setPrinter(request.print);
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  Result<std::vector<Tensor>> outputs =
      (*executor)->run(inputs, request.passes.cancellation.get());
  const std::chrono::duration<double, std::milli> took = Clock::now() - begin;
  (*executor)->setObserver({});
  if (!warm.insert(*executor).second)
    times.push_back(took.count());
  return outputs;
}

Result<std::map<std::string, double>>
SampleRuns::layerTimes(const std::vector<Tensor> &inputs) {
  Result<Executor *> executor = executorFor(inputs);
  if (!executor)
    return executor.takeError();
  (*executor)->resetStates();
  (*executor)->setProfiling(true);
  (*executor)->setPrinter(request.print);
  Result<std::vector<Tensor>> outputs =
      (*executor)->run(inputs, request.passes.cancellation.get());
  std::map<std::string, double> times;
  for (const LayerTime &layer : (*executor)->layerTimes())
    times[std::string(layer.name)] += layer.seconds * 1e3;
  (*executor)->setProfiling(false);
  if (!outputs)
    return outputs.takeError();
  return times;
}

double SampleRuns::medianMilliseconds() const {
  if (times.empty())
    return 0;
  std::vector<double> sorted = times;
  std::nth_element(sorted.begin(), sorted.begin() + sorted.size() / 2,
                   sorted.end());
  return sorted[sorted.size() / 2];
}

} // namespace sinter
