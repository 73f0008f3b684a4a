//===- TrainingRun.cpp - steps of training, one after the other -----------===//

#include "engine/TrainingRun.h"

#include "runtime/ProgramExecutor.h"
#include "runtime/ThreadPool.h"

#include <algorithm>
#include <set>

namespace sinter {

static std::string keyOf(std::span<const Tensor> inputs, const Tensor &target) {
  std::string key;
  for (const Tensor &input : inputs)
    key += toString(input.type(), input.shape()) + ";";
  return key + toString(target.type(), target.shape());
}

/// Gives \p to what \p from holds, as far as both have it.
static Result<void> moveStates(const Executor &from, Executor &to) {
  std::map<std::string, size_t> places;
  for (size_t i = 0; i < from.states().size(); ++i)
    places[from.states()[i].name] = i;
  for (size_t i = 0; i < to.states().size(); ++i)
    if (auto place = places.find(to.states()[i].name); place != places.end())
      if (Result<void> done = to.setState(i, from.state(place->second)); !done)
        return done;
  return {};
}

/// Gives \p executor the states of a checkpoint, which must be all of its own.
static Result<void> giveStates(const NamedTensors &states, Executor &executor) {
  std::map<std::string, const Tensor *> byName;
  for (const auto &[name, tensor] : states)
    byName[name] = &tensor;
  for (size_t i = 0; i < executor.states().size(); ++i) {
    const TensorSpec &spec = executor.states()[i];
    auto found = byName.find(spec.name);
    if (found == byName.end())
      return usageError("the checkpoint has no state '" + spec.name + "'");
    if (Result<void> given = executor.setState(i, *found->second); !given)
      return given;
  }
  return {};
}

Result<std::unique_ptr<Executor>>
TrainingRun::executorOf(TrainingProgram program) const {
  if (program.interpreted)
    return std::move(program.interpreted);
  ProgramExecutorOptions how;
  how.threads = threads;
  how.denormals = denormals;
  auto executor = ProgramExecutor::create(std::move(program.compiled),
                                          ThreadPool::ofProcess(threads), how);
  if (!executor)
    return executor.takeError();
  return std::unique_ptr<Executor>(std::move(*executor));
}

Result<Executor *> TrainingRun::stepFor(std::span<const Tensor> inputs,
                                        const Tensor &target) {
  std::unique_ptr<Executor> &place = steps[keyOf(inputs, target)];
  if (!place) {
    Result<TrainingProgram> program = model->step(inputs, target);
    if (!program)
      return program.takeError();
    auto executor = executorOf(std::move(*program));
    if (!executor)
      return executor.takeError();
    place = std::move(*executor);
  }
  if (!latest && !restored.empty())
    if (Result<void> given = giveStates(restored, *place); !given)
      return given.takeError();
  if (latest && latest != place.get())
    if (Result<void> moved = moveStates(*latest, *place); !moved)
      return moved.takeError();
  latest = place.get();
  return place.get();
}

Result<Executor *> TrainingRun::judgeFor(std::span<const Tensor> inputs,
                                         const Tensor &target) {
  std::unique_ptr<Executor> &place = judges[keyOf(inputs, target)];
  if (!place) {
    Result<TrainingProgram> program = model->evaluation(inputs, target);
    if (!program)
      return program.takeError();
    auto executor = executorOf(std::move(*program));
    if (!executor)
      return executor.takeError();
    place = std::move(*executor);
  }
  if (latest)
    if (Result<void> moved = moveStates(*latest, *place); !moved)
      return moved.takeError();
  return place.get();
}

static Result<BatchOutcome> outcomeOf(Executor &executor,
                                      std::span<const Tensor> inputs) {
  Result<std::vector<Tensor>> outputs = executor.run(inputs);
  if (!outputs)
    return outputs.takeError();
  BatchOutcome outcome;
  for (size_t i = 0; i < outputs->size(); ++i) {
    const std::string &name = executor.outputs()[i].name;
    const double number = (*outputs)[i].toDouble(0);
    if (name == "loss")
      outcome.loss = number;
    else if (name == "right")
      outcome.right = number;
    else
      outcome.count = number;
  }
  return outcome;
}

Result<BatchOutcome> TrainingRun::step(std::span<const Tensor> inputs,
                                       const Tensor &target, double rate) {
  Result<Executor *> executor = stepFor(inputs, target);
  if (!executor)
    return executor.takeError();
  if (Result<void> good = model->checkLabels(target); !good)
    return good.takeError();
  std::vector<Tensor> all(inputs.begin(), inputs.end());
  all.push_back(target);
  const auto single = static_cast<float>(rate);
  all.push_back(Tensor::of<float>(ElementType::F32, {}, {&single, 1}));
  return outcomeOf(**executor, all);
}

Result<BatchOutcome> TrainingRun::judge(std::span<const Tensor> inputs,
                                        const Tensor &target) {
  Result<Executor *> executor = judgeFor(inputs, target);
  if (!executor)
    return executor.takeError();
  if (Result<void> good = model->checkLabels(target); !good)
    return good.takeError();
  std::vector<Tensor> all(inputs.begin(), inputs.end());
  all.push_back(target);
  return outcomeOf(**executor, all);
}

NamedTensors TrainingRun::states() const {
  NamedTensors all;
  for (size_t i = 0; latest && i < latest->states().size(); ++i)
    all.emplace_back(latest->states()[i].name, latest->state(i));
  return all;
}

NamedTensors TrainingRun::values() const {
  NamedTensors values;
  if (!latest)
    return values;
  std::set<std::string> wanted(model->weights().begin(),
                               model->weights().end());
  wanted.insert(model->statistics().begin(), model->statistics().end());
  for (size_t i = 0; i < latest->states().size(); ++i)
    if (wanted.contains(latest->states()[i].name))
      values.emplace_back(latest->states()[i].name, latest->state(i));
  return values;
}

} // namespace sinter
