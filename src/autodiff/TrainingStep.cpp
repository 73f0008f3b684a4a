//===- TrainingStep.cpp - turns a model into a training step --------------===//

#include "autodiff/TrainingStep.h"

#include "autodiff/BoundLoops.h"
#include "autodiff/ChosenWeights.h"
#include "autodiff/Differentiate.h"
#include "autodiff/Losses.h"
#include "autodiff/Optimizers.h"
#include "autodiff/Reinitialize.h"
#include "autodiff/Replicas.h"
#include "autodiff/StepStates.h"
#include "autodiff/TrainBatchNorms.h"
#include "autodiff/TrainDropouts.h"
#include "autodiff/WeightUses.h"
#include "graph/Constants.h"
#include "graph/FirstError.h"
#include "graph/Types.h"
#include "graph/interfaces/Differentiable.h"
#include "graph/stablehlo/OpenTuples.h"
#include "runtime/OptionNames.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringSet.h"

#include <map>

using namespace mlir;

namespace sinter::autodiff {

using nn::TensorBuilder;

namespace {

/// Builds a step, or an evaluation, in a model's entry function.
class StepBuilder {
public:
  StepBuilder(Model &model, std::vector<LiftedWeight> weights,
              const TrainingOptions &options, const LossFacts &facts)
      : entry(model.entry()), weights(std::move(weights)), options(options),
        facts(facts), inputs(entry.getNumArguments()),
        builder(entry.front().getTerminator()), emit(builder, named("loss")),
        states(entry) {
    if (!this->weights.empty())
      inputs = this->weights.front().argument;
  }

  Result<TrainedTensors> step(ArrayRef<TensorSpec> targets);
  Result<void> evaluation(ArrayRef<TensorSpec> targets,
                          const TrainedTensors &trained);

private:
  Location named(StringRef what) {
    return NameLoc::get(builder.getStringAttr(what));
  }
  Value argumentOf(const LiftedWeight &weight) {
    return entry.getArgument(weight.argument);
  }

  /// Weights that are trained, beside their gradients.
  struct Differentiated {
    std::vector<const LiftedWeight *> weights;
    SmallVector<Value> gradients;
  };
  void prepare();
  Result<std::vector<const LiftedWeight *>>
  chooseWeights(const llvm::SetVector<Value> &statistics);
  llvm::MapVector<Value, Value> trainNorms();
  Result<Differentiated> differentiate(ArrayRef<const LiftedWeight *> chosen);
  void begin(const LiftedWeight &weight, TrainedTensors &names);
  void keepStatistics(const llvm::MapVector<Value, Value> &moved,
                      TrainedTensors &names);
  void describe(const llvm::SetVector<Value> &statistics, size_t targets,
                TrainedTensors &names);
  void dropAtRandom(int64_t samples);
  Result<LossValues> lossOf(const LossOptions &loss, ArrayRef<Value> targets);
  Result<LossValues> lossOfFile(const LossOptions &loss,
                                ArrayRef<Value> targets);
  Result<void> findLosses(ArrayRef<TensorSpec> targets);
  Result<void> reinitialize(const llvm::SetVector<Value> &statistics);
  Value movedWeight(const LiftedWeight &weight, Value &gradient);
  LossValues sumLosses();
  LossValues shareLosses();
  void accumulate(ArrayRef<const LiftedWeight *> trained,
                  MutableArrayRef<Value> gradients, Value count);
  Value largest(ArrayRef<Value> gradients);
  void update(ArrayRef<const LiftedWeight *> trained,
              MutableArrayRef<Value> gradients, Value rate);
  void readAverage(const LiftedWeight &weight);
  void average(const LiftedWeight &weight, Value before, Value after);
  void keepWhereStepFails(Value loss, Value largest);
  void finish(const LossValues &values, Value largest = {});

  func::FuncOp entry;
  std::vector<LiftedWeight> weights;
  const TrainingOptions &options;
  const LossFacts &facts;
  /// How many of the first arguments are the model's inputs.
  unsigned inputs;
  OpBuilder builder;
  TensorBuilder emit;
  /// The separate losses, and the number of samples.
  std::vector<LossValues> losses;
  int64_t samples = 1;
  /// The factor of each loss's gradient.
  SmallVector<Value> seeds;
  StepStates states;
  /// The initial values of reinitialised weights, by index.
  std::map<size_t, Tensor> fresh;
  /// The arguments with weight decay, by their uses in the model.
  llvm::DenseSet<Value> decayed;
  /// Whether the optimiser updates the weights; null: it does.
  Value updates;
};

} // namespace

/// Gives each dropout random bits, by the samples' keys, which are an input.
void StepBuilder::dropAtRandom(int64_t samples) {
  const SmallVector<Operation *> dropouts = trainedDropouts(entry);
  if (dropouts.empty())
    return;
  Value keys = states.addArgument(
      randomName, RankedTensorType::get(
                      {samples}, IntegerType::get(entry.getContext(), 64,
                                                  IntegerType::Unsigned)));
  trainDropouts(entry, dropouts, keys, [&](BlockArgument argument) {
    return argument.getArgNumber() < inputs;
  });
}

/// The loss that a function of the user's file computes.
Result<LossValues> StepBuilder::lossOfFile(const LossOptions &loss,
                                           ArrayRef<Value> targets) {
  Operation *end = entry.front().getTerminator();
  SmallVector<Value> arguments = {end->getOperand(loss.output),
                                  targets[loss.target]};
  for (const LossArgument &each : loss.more)
    arguments.push_back(
        each.kind == LossArgument::Kind::Input ? entry.getArgument(each.number)
        : each.kind == LossArgument::Kind::Output ? end->getOperand(each.number)
                                                  : targets[each.number]);
  Result<Value> found = facts.fileLoss(loss, emit, arguments);
  if (!found)
    return found.takeError();
  Type f32 = builder.getF32Type();
  Value each = emit.convert(*found, f32);
  const bool isMean = tensorOf(each).getRank() == 0;
  const auto count =
      static_cast<double>(isMean ? samples : tensorOf(each).getNumElements());
  if (!isMean)
    each = emit.div(emit.sumAll(each), std::max(count, 1.0));
  return LossValues{each, Value(), emit.scalar(count, f32), std::nullopt};
}

Result<LossValues> StepBuilder::lossOf(const LossOptions &loss,
                                       ArrayRef<Value> targets) {
  Operation *end = entry.front().getTerminator();
  if (loss.output >= end->getNumOperands())
    return usageError("the loss: there is no output " +
                      std::to_string(loss.output) + "; the model has " +
                      std::to_string(end->getNumOperands()));
  if (loss.kind == Loss::Function)
    return lossOfFile(loss, targets);
  Value output = end->getOperand(loss.output), target = targets[loss.target];
  const ClassDimension classes = facts.classes[loss.output];
  if (Result<void> good = checkTarget(tensorOf(output), tensorOf(target), loss,
                                      options.targets[loss.target], classes);
      !good)
    return good.takeError();
  return buildLoss(emit, output, target, loss, classes);
}

Result<void> StepBuilder::findLosses(ArrayRef<TensorSpec> targets) {
  SmallVector<Value> values;
  for (const TensorSpec &target : targets)
    values.push_back(states.addArgument(
        target.name,
        RankedTensorType::get(target.shape,
                              mlirTypeOf(target.type, entry.getContext()))));
  for (const LossOptions &loss : options.losses) {
    Result<LossValues> one = lossOf(loss, values);
    if (!one)
      return one.takeError();
    losses.push_back(std::move(*one));
  }
  return {};
}

/// Computes the initial values of weights that the options select, from the
/// inference graph.
Result<void>
StepBuilder::reinitialize(const llvm::SetVector<Value> &statistics) {
  if (Result<void> good = checkPatterns(optionText("reinitialize"),
                                        options.reinitialized, weights);
      !good)
    return good;
  for (auto [number, weight] : llvm::enumerate(weights))
    if (Result<bool> fits = fitsOne(weight.name, options.reinitialized);
        fits && *fits)
      fresh.try_emplace(
          number,
          freshValue(weight, entry.getArgument(weight.argument), options.seed));
  return {};
}

static Tensor inSingle(const Tensor &tensor) {
  SmallVector<double> numbers;
  for (int64_t i = 0; i < tensor.size(); ++i)
    numbers.push_back(tensor.toDouble(i));
  return tensorOfDoubles(ElementType::F32, tensor.shape(), numbers);
}

/// The weight that the optimiser updates, with \p gradient in its type: a
/// narrow type would lose most updates to rounding, so a copy in f32 is kept as
/// a state.
Value StepBuilder::movedWeight(const LiftedWeight &weight, Value &gradient) {
  Value argument = entry.getArgument(weight.argument);
  if (tensorOf(argument).getElementTypeBitWidth() >= 32)
    return argument;
  if (tensorOf(gradient).getElementTypeBitWidth() < 32)
    gradient = emit.convert(gradient, builder.getF32Type());
  return states.add(weight.name + ".f32", inSingle(weight.value));
}

/// The weighted sum of the current losses.
LossValues StepBuilder::sumLosses() {
  LossValues all;
  for (auto [loss, one] : llvm::zip_equal(options.losses, losses)) {
    Value term = loss.weight == 1 ? one.loss : emit.mul(one.loss, loss.weight);
    all.loss = all.loss ? emit.add(all.loss, term) : term;
    if (losses.size() > 1)
      all.parts.push_back(one.loss);
    if (one.right && !all.right) {
      all.right = one.right;
      all.labels = one.count;
    }
  }
  all.count = losses.front().count;
  if (losses.size() == 1)
    all.labels = {};
  else
    all.count = emit.scalar(static_cast<double>(samples), builder.getF32Type());
  return all;
}

/// The same over all processes' samples. Batches are weighted by their labels
/// or elements or, with several losses, by their samples.
LossValues StepBuilder::shareLosses() {
  SmallVector<Value> own;
  Value together =
      emit.scalar(static_cast<double>(samples), builder.getF32Type());
  for (const LossValues &one : losses)
    own.push_back(one.count);
  if (options.replicas > 1) {
    SmallVector<Value> sums;
    for (const LossValues &one : losses) {
      sums.append({emit.mul(one.loss, one.count), one.count});
      if (one.right)
        sums.push_back(one.right);
    }
    if (losses.size() > 1)
      sums.push_back(together);
    sums = sumOverReplicas(emit, sums, options.replicas);
    size_t next = 0;
    for (LossValues &one : losses) {
      Value loss = sums[next++];
      one.count = sums[next++];
      one.loss = emit.div(loss, emit.max(one.count, 1.0));
      if (one.right)
        one.right = sums[next++];
    }
    if (losses.size() > 1)
      together = sums[next];
  }
  for (auto [number, one] : llvm::enumerate(losses)) {
    // This process's share in the mean of all samples.
    Value seed;
    if (options.accumulates && losses.size() == 1)
      seed = own[number];
    else if (options.replicas > 1)
      seed = emit.div(own[number], emit.max(one.count, 1.0));
    else
      seed = emit.splat(1, tensorOf(one.loss));
    if (options.accumulates && losses.size() > 1)
      seed = emit.mul(seed, together);
    if (options.losses[number].weight != 1)
      seed = emit.mul(seed, options.losses[number].weight);
    seeds.push_back(seed);
  }
  LossValues all = sumLosses();
  if (losses.size() > 1)
    all.count = together;
  return all;
}

/// Replaces the gradients by the weighted mean of this batch's and those
/// accumulated before it. The weights are the counts of labels or elements that
/// the loss compares.
void StepBuilder::accumulate(ArrayRef<const LiftedWeight *> trained,
                             MutableArrayRef<Value> gradients, Value count) {
  TensorBuilder own(builder, named("accumulation"));
  auto add = [&](std::string name, Value value) {
    auto type = tensorOf(value);
    Value before = states.add(
        std::move(name),
        Tensor(*elementTypeOf(type.getElementType()),
               Shape(type.getShape().begin(), type.getShape().end())));
    Value sum = own.add(before, value);
    states.list.back().isRead = true;
    states.list.back().after =
        own.select(updates, own.splat(0, tensorOf(sum)), sum);
    return sum;
  };
  Value total = own.max(add("accumulated", count), 1.0);
  for (auto [weight, gradient] : llvm::zip_equal(trained, gradients)) {
    if (tensorOf(gradient).getElementTypeBitWidth() < 32)
      gradient = own.convert(gradient, builder.getF32Type());
    Value sum = add(weight->name + ".gradient", gradient);
    gradient = own.div(
        sum, own.spreadLike(own.convert(total, tensorOf(sum).getElementType()),
                            sum));
  }
}

/// The largest magnitude of an element of all gradients, a scalar of f32; not
/// finite where one of them is not.
Value StepBuilder::largest(ArrayRef<Value> gradients) {
  TensorBuilder own(builder, named("the largest gradient"));
  Value all;
  for (Value gradient : gradients) {
    Value size = own.abs(gradient);
    Value most = own.reduce<stablehlo::MaxOp>(
        size, own.scalar(0, tensorOf(size).getElementType()),
        llvm::to_vector(llvm::seq<int64_t>(0, tensorOf(size).getRank())));
    most = own.convert(most, builder.getF32Type());
    all = all ? own.max(all, most) : most;
  }
  return all;
}

/// Adds the state of a weight's moving average.
void StepBuilder::average(const LiftedWeight &weight, Value before,
                          Value after) {
  TensorBuilder own(builder, named(weight.name));
  const bool isNarrow =
      tensorOf(before).getElementType() !=
      tensorOf(entry.getArgument(weight.argument)).getElementType();
  Value old = states.add((weight.name + averageSuffix).str(),
                         isNarrow ? inSingle(weight.value) : weight.value);
  states.list.back().after = own.add(own.mul(old, *options.average),
                                     own.mul(after, 1 - *options.average));
}

void StepBuilder::update(ArrayRef<const LiftedWeight *> trained,
                         MutableArrayRef<Value> gradients, Value rate) {
  const OptimizerOptions &how = options.optimizer;
  const size_t before = states.list.size();
  TensorBuilder clip(builder, named("gradient clipping"));
  clipGradients(clip, gradients, how);
  Value number;
  if (countsSteps(how)) {
    Value old = states.add("optimizer.step", Tensor(ElementType::F64, {}));
    number = emit.add(old, 1.0);
    states.list.back().after = number;
  }
  for (auto [weight, gradient] : llvm::zip_equal(trained, gradients)) {
    Value argument = entry.getArgument(weight->argument);
    WeightUpdate one;
    const size_t copy = states.list.size();
    one.weight = movedWeight(*weight, gradient);
    one.gradient = gradient;
    one.rate = rate;
    one.step = number;
    one.isDecayed = decayed.contains(argument);
    const size_t first = states.list.size();
    for (StringRef kept : keptTensors(how))
      one.kept.push_back(states.add(
          weight->name + "." + kept.str(),
          Tensor(*elementTypeOf(tensorOf(one.weight).getElementType()),
                 weight->value.shape())));
    TensorBuilder own(builder, named(weight->name));
    Value after = updateWeight(own, one, how);
    for (auto [i, kept] : llvm::enumerate(one.kept))
      states.list[first + i].after = kept;
    if (options.average)
      average(*weight, one.weight, after);
    if (one.weight != argument) {
      states.list[copy].after = after;
      after = emit.convert(after, tensorOf(argument).getElementType());
    }
    states.list.push_back(
        {weight->name, argument, after, weight->value, /*isRead=*/true});
  }
  if (updates)
    for (StepStates::State &state :
         MutableArrayRef(states.list).drop_front(before))
      state.after = emit.select(updates, state.after, state.before);
}

/// A step whose loss or gradients are not finite does not change the states
/// that they are computed from, so that it can be examined. The optimiser's
/// other states do not matter for that, and would cost more writes.
void StepBuilder::keepWhereStepFails(Value loss, Value largest) {
  Value isFinite =
      emit.make<stablehlo::AndOp>(emit.make<stablehlo::IsFiniteOp>(loss),
                                  emit.make<stablehlo::IsFiniteOp>(largest));
  for (StepStates::State &state : states.list)
    if (state.isRead)
      state.after = emit.select(isFinite, state.after, state.before);
}

/// Sets the results of the entry function: the loss with its counts, and the
/// states.
void StepBuilder::finish(const LossValues &values, Value largest) {
  std::vector<std::pair<std::string, Value>> outputs;
  auto add = [&](std::string name, Value value) {
    if (value)
      outputs.emplace_back(std::move(name), value);
  };
  add("loss", values.loss);
  add("right", values.right);
  add("count", values.count);
  add("labels", values.labels);
  for (auto [number, single] : llvm::enumerate(values.parts))
    add(partPrefix.str() + std::to_string(number), single);
  add("gradient", largest);
  states.finish(outputs);
  states.makeConstants(weights);
}

/// Brings the model into the form that gradients are taken of.
void StepBuilder::prepare() {
  inlineFutures(entry);
  openTuples(entry);
  if (options.mostTrips > 0)
    boundLoops(entry, options.mostTrips);
}

/// The weights to train: those that the options name, or all but \p statistics
/// that the model asks for.
Result<std::vector<const LiftedWeight *>>
StepBuilder::chooseWeights(const llvm::SetVector<Value> &statistics) {
  Result<std::vector<const LiftedWeight *>> chosen =
      chosenWeights(weights, options, [&](const LiftedWeight &weight) {
        return statistics.contains(argumentOf(weight));
      });
  if (!chosen)
    return chosen;
  if (Result<void> done = reinitialize(statistics); !done)
    return done.takeError();
  for (const LiftedWeight *weight : *chosen)
    if (isDecayed(argumentOf(*weight)))
      decayed.insert(argumentOf(*weight));
  return chosen;
}

/// Lets batch norms normalise by their batch. Returns the next value of each
/// running statistic.
llvm::MapVector<Value, Value> StepBuilder::trainNorms() {
  llvm::MapVector<Value, Value> moved;
  if (!options.freezeBatchNorm)
    moved = trainBatchNorms(entry, options.batchNormMomentum);
  if (options.replicas > 1)
    shareStatistics(entry, options.replicas, options.hasLocalStatistics, moved);
  return moved;
}

/// Appends the backward pass. Returns those of \p chosen that the losses depend
/// on, with their gradients, summed over all replicas.
Result<StepBuilder::Differentiated>
StepBuilder::differentiate(ArrayRef<const LiftedWeight *> chosen) {
  SmallVector<Value> by, own;
  for (const LiftedWeight *weight : chosen)
    by.push_back(argumentOf(*weight));
  for (const LossValues &one : losses)
    own.push_back(one.loss);
  FirstError errors(entry.getContext());
  auto found = backpropagate(builder, own, seeds, by);
  if (failed(found))
    return unsupported(errors.take());
  Differentiated trained;
  for (auto [weight, gradient] : llvm::zip_equal(chosen, *found))
    if (gradient) {
      trained.weights.push_back(weight);
      trained.gradients.push_back(gradient);
    }
  if (trained.weights.empty())
    return usageError(chosen.empty()
                          ? "there is no weight to train"
                          : "the loss depends on none of the weights that are "
                            "to be trained");
  if (options.replicas > 1) {
    TensorBuilder sum(builder, named("gradients of all processes"));
    trained.gradients =
        sumOverReplicas(sum, trained.gradients, options.replicas);
  }
  return trained;
}

/// Gives \p weight its new initial value if it is reinitialised.
void StepBuilder::begin(const LiftedWeight &weight, TrainedTensors &names) {
  auto found = fresh.find(static_cast<size_t>(&weight - weights.data()));
  if (found == fresh.end())
    return;
  weights[found->first].value = found->second;
  names.reinitialized.push_back(weight.name);
}

/// Makes states of the running statistics that batch norms \p moved.
void StepBuilder::keepStatistics(const llvm::MapVector<Value, Value> &moved,
                                 TrainedTensors &names) {
  for (const LiftedWeight &weight : weights)
    if (auto each = moved.find(argumentOf(weight)); each != moved.end()) {
      begin(weight, names);
      states.list.push_back({weight.name, each->first, each->second,
                             weight.value,
                             /*isRead=*/true});
      names.statistics.push_back(weight.name);
    }
}

/// Reports the weights that the model itself marks as trainable, and the number
/// of classes of each target.
void StepBuilder::describe(const llvm::SetVector<Value> &statistics,
                           size_t targets, TrainedTensors &names) {
  for (const LiftedWeight &weight : weights)
    if (weight.isAskedFor && options.trainable.empty() &&
        !statistics.contains(argumentOf(weight)))
      names.askedFor.push_back(weight.name);
  names.classes.resize(targets);
  for (auto [loss, one] : llvm::zip_equal(options.losses, losses))
    if (one.classes)
      names.classes[loss.target] = one.classes;
}

/// The forward pass becomes that of training, then come the losses, the
/// backward pass, the optimiser's updates, and the states that carry weights to
/// the next step.
Result<TrainedTensors> StepBuilder::step(ArrayRef<TensorSpec> targets) {
  samples = targets.front().shape.empty() ? 1 : targets.front().shape.front();
  prepare();
  const llvm::SetVector<Value> statistics = runningStatistics(entry);
  auto chosen = chooseWeights(statistics);
  if (!chosen)
    return chosen.takeError();
  const llvm::MapVector<Value, Value> moved = trainNorms();
  dropAtRandom(samples);

  if (Result<void> done = findLosses(targets); !done)
    return done.takeError();
  const LossValues values = shareLosses();
  Result<Differentiated> trained = differentiate(*chosen);
  if (!trained)
    return trained.takeError();
  TrainedTensors names;
  for (const LiftedWeight *weight : trained->weights) {
    names.weights.push_back(weight->name);
    begin(*weight, names);
  }

  Value rate = states.addArgument(
      rateName, RankedTensorType::get({}, builder.getF32Type()));
  if (options.accumulates) {
    updates = states.addArgument(
        updateName, RankedTensorType::get({}, builder.getI1Type()));
    accumulate(trained->weights, trained->gradients, values.count);
  }
  Value most = largest(trained->gradients);
  update(trained->weights, trained->gradients, rate);
  keepStatistics(moved, names);
  if (names.reinitialized.empty() && !options.reinitialized.empty())
    return usageError(optionText("reinitialize") +
                      ": none of the weights that it names is "
                      "trained");
  keepWhereStepFails(values.loss, most);
  finish(values, most);
  describe(statistics, targets.size(), names);
  return names;
}

/// Replaces a weight by its moving average, which is as wide as the optimiser's
/// copy.
void StepBuilder::readAverage(const LiftedWeight &weight) {
  Value argument = entry.getArgument(weight.argument);
  const std::string name = (weight.name + averageSuffix).str();
  if (tensorOf(argument).getElementTypeBitWidth() >= 32) {
    states.list.push_back({name, argument, argument, weight.value, true});
    return;
  }
  Value average = states.add(name, inSingle(weight.value));
  states.list.back().after = average;
  OpBuilder first = OpBuilder::atBlockBegin(&entry.front());
  TensorBuilder own(first, named(weight.name));
  argument.replaceAllUsesWith(
      own.convert(average, tensorOf(argument).getElementType()));
}

Result<void> StepBuilder::evaluation(ArrayRef<TensorSpec> targets,
                                     const TrainedTensors &trained) {
  samples = targets.front().shape.empty() ? 1 : targets.front().shape.front();
  if (Result<void> done = findLosses(targets); !done)
    return done.takeError();
  const LossValues values = sumLosses();
  llvm::StringSet<> names, averaged;
  for (const auto *list : {&trained.weights, &trained.statistics})
    for (const std::string &name : *list)
      names.insert(name);
  if (options.average)
    for (const std::string &name : trained.weights)
      averaged.insert(name);
  for (const LiftedWeight &weight : weights) {
    if (averaged.contains(weight.name))
      readAverage(weight);
    else if (names.contains(weight.name)) {
      Value value = entry.getArgument(weight.argument);
      states.list.push_back({weight.name, value, value, weight.value, true});
    }
  }
  finish(values);
  return {};
}

Result<TrainedTensors> makeTrainingStep(Model &model,
                                        std::vector<LiftedWeight> weights,
                                        ArrayRef<TensorSpec> targets,
                                        const TrainingOptions &options,
                                        const LossFacts &facts) {
  return StepBuilder(model, std::move(weights), options, facts).step(targets);
}

Result<void> makeEvaluation(Model &model, std::vector<LiftedWeight> weights,
                            const TrainedTensors &trained,
                            ArrayRef<TensorSpec> targets,
                            const TrainingOptions &options,
                            const LossFacts &facts) {
  return StepBuilder(model, std::move(weights), options, facts)
      .evaluation(targets, trained);
}

} // namespace sinter::autodiff
