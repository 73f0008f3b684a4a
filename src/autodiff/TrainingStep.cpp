//===- TrainingStep.cpp - a model becomes a step of its training ----------===//

#include "autodiff/TrainingStep.h"

#include "autodiff/Differentiate.h"
#include "autodiff/Losses.h"
#include "autodiff/Optimizers.h"
#include "autodiff/TrainBatchNorms.h"
#include "graph/Constants.h"
#include "graph/FirstError.h"
#include "graph/Types.h"
#include "graph/interfaces/Differentiable.h"
#include "graph/storage/Storage.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/GlobPattern.h"

using namespace mlir;

namespace sinter::autodiff {

using nn::TensorBuilder;

Result<std::vector<LiftedWeight>> liftWeights(Model &model) {
  func::FuncOp entry = model.entry();
  std::vector<LiftedWeight> weights;
  llvm::StringMap<unsigned> known;
  Builder builder(model.context());
  for (auto constant : llvm::make_early_inc_range(
           entry.front().getOps<stablehlo::ConstantOp>())) {
    Value value = constant.getResult();
    const StringRef name = constantName(value);
    auto type = tensorOf(value);
    if (name.empty() || type.getRank() == 0 ||
        !isa<FloatType>(type.getElementType()))
      continue;
    std::optional<Tensor> tensor = constantTensor(value);
    if (!tensor)
      continue;
    auto [place, isNew] = known.try_emplace(name, weights.size());
    if (isNew) {
      DictionaryAttr names = builder.getDictionaryAttr(
          builder.getNamedAttr(nameAttribute, builder.getStringAttr(name)));
      const unsigned number = entry.getNumArguments();
      entry.insertArgument(number, type, names, value.getLoc());
      weights.push_back({name.str(), number, std::move(*tensor)});
    }
    BlockArgument argument = entry.getArgument(weights[place->second].argument);
    if (argument.getType() != type)
      return unsupported("the weight '" + name.str() +
                         "' is there in two forms; a weight that is trained "
                         "has one");
    value.replaceAllUsesWith(argument);
    constant.erase();
  }
  return weights;
}

namespace {

/// Builds a step, or an evaluation, in a model's entry function.
class StepBuilder {
public:
  StepBuilder(Model &model, std::vector<LiftedWeight> weights,
              const TrainingOptions &options)
      : entry(model.entry()), weights(std::move(weights)), options(options),
        builder(entry.front().getTerminator()),
        emit(builder, entry.front().getTerminator()->getLoc()) {}

  Result<TrainedTensors> step(const TensorSpec &target);
  Result<void> evaluation(const TensorSpec &target,
                          const TrainedTensors &trained);

private:
  /// A tensor that outlives a step.
  struct State {
    std::string name;
    Value before, after;
    Tensor initial;
  };

  Result<void> findOutput();
  Result<LossValues> loss(const TensorSpec &target);
  Result<std::vector<const LiftedWeight *>>
  wanted(const llvm::SetVector<Value> &statistics);
  Value addArgument(StringRef name, RankedTensorType type);
  Value addState(std::string name, Tensor initial);
  void update(ArrayRef<const LiftedWeight *> trained,
              MutableArrayRef<Value> gradients, Value rate);
  void finish(const LossValues &values);
  void makeConstants();

  func::FuncOp entry;
  std::vector<LiftedWeight> weights;
  const TrainingOptions &options;
  OpBuilder builder;
  TensorBuilder emit;
  Value output;
  std::vector<State> states;
};

} // namespace

Result<void> StepBuilder::findOutput() {
  Operation *end = entry.front().getTerminator();
  const unsigned number = options.loss.output;
  if (number >= end->getNumOperands())
    return usageError("the loss: there is no output " + std::to_string(number) +
                      "; the model has " +
                      std::to_string(end->getNumOperands()));
  output = end->getOperand(number);
  return {};
}

Value StepBuilder::addArgument(StringRef name, RankedTensorType type) {
  Builder attributes(entry.getContext());
  DictionaryAttr names = attributes.getDictionaryAttr(
      attributes.getNamedAttr(nameAttribute, attributes.getStringAttr(name)));
  const unsigned number = entry.getNumArguments();
  entry.insertArgument(number, type, names, entry.getLoc());
  return entry.getArgument(number);
}

/// A state that is no weight.
Value StepBuilder::addState(std::string name, Tensor initial) {
  auto type = RankedTensorType::get(
      initial.shape(), mlirTypeOf(initial.type(), entry.getContext()));
  Value before = addArgument(name, type);
  states.push_back({std::move(name), before, Value(), std::move(initial)});
  return before;
}

Result<LossValues> StepBuilder::loss(const TensorSpec &target) {
  auto type = RankedTensorType::get(
      target.shape, mlirTypeOf(target.type, entry.getContext()));
  if (Result<void> good = checkTarget(tensorOf(output), type, options.loss);
      !good)
    return good.takeError();
  return buildLoss(emit, output, addArgument(targetName, type), options.loss);
}

/// Whether \p name fits one of the patterns.
static Result<bool> fitsOne(StringRef name, ArrayRef<std::string> patterns) {
  for (const std::string &text : patterns) {
    auto pattern = llvm::GlobPattern::create(text);
    if (!pattern)
      return usageError("'" + text +
                        "': " + llvm::toString(pattern.takeError()));
    if (pattern->match(name))
      return true;
  }
  return false;
}

/// The weights that options ask for, in the order of the file.
Result<std::vector<const LiftedWeight *>>
StepBuilder::wanted(const llvm::SetVector<Value> &statistics) {
  std::vector<const LiftedWeight *> chosen;
  for (const LiftedWeight &weight : weights) {
    if (statistics.contains(entry.getArgument(weight.argument)))
      continue;
    Result<bool> isTrained = options.trainable.empty()
                                 ? Result<bool>(true)
                                 : fitsOne(weight.name, options.trainable);
    if (!isTrained)
      return isTrained.takeError();
    Result<bool> isFrozen = fitsOne(weight.name, options.frozen);
    if (!isFrozen)
      return isFrozen.takeError();
    if (*isTrained && !*isFrozen)
      chosen.push_back(&weight);
  }
  return chosen;
}

void StepBuilder::update(ArrayRef<const LiftedWeight *> trained,
                         MutableArrayRef<Value> gradients, Value rate) {
  const OptimizerOptions &how = options.optimizer;
  clipGradients(emit, gradients, how);
  Value number;
  if (countsSteps(how)) {
    Value before = addState("optimizer.step", Tensor(ElementType::F64, {}));
    number = emit.add(before, 1.0);
    states.back().after = number;
  }
  for (auto [weight, gradient] : llvm::zip_equal(trained, gradients)) {
    WeightUpdate one;
    one.weight = entry.getArgument(weight->argument);
    one.gradient = gradient;
    one.rate = rate;
    one.step = number;
    const size_t first = states.size();
    for (StringRef kept : keptTensors(how))
      one.kept.push_back(
          addState(weight->name + "." + kept.str(),
                   Tensor(weight->value.type(), weight->value.shape())));
    Value after = updateWeight(emit, one, how);
    for (auto [i, kept] : llvm::enumerate(one.kept))
      states[first + i].after = kept;
    states.push_back({weight->name, one.weight, after, weight->value});
  }
}

/// The results of the entry function: those of the loss, and the states.
void StepBuilder::finish(const LossValues &values) {
  Operation *end = entry.front().getTerminator();
  entry.eraseResults(llvm::BitVector(entry.getNumResults(), true));
  end->setOperands({});
  Builder attributes(entry.getContext());
  auto add = [&](Value value, ArrayRef<NamedAttribute> names) {
    entry.insertResult(entry.getNumResults(), value.getType(),
                       attributes.getDictionaryAttr(names));
    end->insertOperands(end->getNumOperands(), value);
  };
  auto named = [&](StringRef what, StringRef name) {
    return attributes.getNamedAttr(what, attributes.getStringAttr(name));
  };
  add(values.loss, {named(nameAttribute, "loss")});
  if (values.right)
    add(values.right, {named(nameAttribute, "right")});
  add(values.count, {named(nameAttribute, "count")});
  // In the order of their arguments, so that one can be fed from the other.
  llvm::sort(states, [](const State &a, const State &b) {
    return cast<BlockArgument>(a.before).getArgNumber() <
           cast<BlockArgument>(b.before).getArgNumber();
  });
  for (const State &state : states) {
    add(state.after, {named(stateAttribute, state.name)});
    const unsigned number = cast<BlockArgument>(state.before).getArgNumber();
    entry.removeArgAttr(number, nameAttribute);
    entry.setArgAttr(number, stateAttribute,
                     attributes.getStringAttr(state.name));
    entry.setArgAttr(
        number, initialAttribute,
        toAttribute(state.initial, state.name, entry.getContext()));
  }
}

/// What is no state is a constant again.
void StepBuilder::makeConstants() {
  llvm::DenseSet<Value> kept;
  for (const State &state : states)
    kept.insert(state.before);
  OpBuilder first = OpBuilder::atBlockBegin(&entry.front());
  llvm::BitVector gone(entry.getNumArguments());
  for (const LiftedWeight &weight : weights) {
    BlockArgument argument = entry.getArgument(weight.argument);
    if (kept.contains(argument))
      continue;
    argument.replaceAllUsesWith(
        makeConstant(first, argument.getLoc(), weight.value, weight.name));
    gone.set(weight.argument);
  }
  entry.eraseArguments(gone);
}

Result<TrainedTensors> StepBuilder::step(const TensorSpec &target) {
  if (Result<void> good = findOutput(); !good)
    return good.takeError();
  const llvm::SetVector<Value> statistics = runningStatistics(entry);
  Result<std::vector<const LiftedWeight *>> chosen = wanted(statistics);
  if (!chosen)
    return chosen.takeError();
  llvm::MapVector<Value, Value> moved;
  if (!options.freezeBatchNorm)
    moved = trainBatchNorms(entry, options.batchNormMomentum);
  Result<LossValues> values = loss(target);
  if (!values)
    return values.takeError();
  SmallVector<Value> by, gradients;
  for (const LiftedWeight *weight : *chosen)
    by.push_back(entry.getArgument(weight->argument));
  FirstError errors(entry.getContext());
  SmallVector<Value> seeds = {emit.splat(1, tensorOf(values->loss))};
  auto found = backpropagate(builder, values->loss, seeds, by);
  if (failed(found))
    return unsupported(errors.take());
  TrainedTensors names;
  std::vector<const LiftedWeight *> trained;
  for (auto [weight, gradient] : llvm::zip_equal(*chosen, *found))
    if (gradient) {
      trained.push_back(weight);
      gradients.push_back(gradient);
      names.weights.push_back(weight->name);
    }
  if (trained.empty())
    return usageError(chosen->empty()
                          ? "there is no weight to train"
                          : "the loss depends on none of the weights that are "
                            "to be trained");
  Value rate =
      addArgument(rateName, RankedTensorType::get({}, builder.getF32Type()));
  update(trained, gradients, rate);
  for (const LiftedWeight &weight : weights)
    if (auto each = moved.find(entry.getArgument(weight.argument));
        each != moved.end()) {
      states.push_back({weight.name, each->first, each->second, weight.value});
      names.statistics.push_back(weight.name);
    }
  finish(*values);
  makeConstants();
  names.classes = values->classes;
  return names;
}

Result<void> StepBuilder::evaluation(const TensorSpec &target,
                                     const TrainedTensors &trained) {
  if (Result<void> good = findOutput(); !good)
    return good.takeError();
  Result<LossValues> values = loss(target);
  if (!values)
    return values.takeError();
  llvm::StringSet<> names;
  for (const auto *list : {&trained.weights, &trained.statistics})
    for (const std::string &name : *list)
      names.insert(name);
  for (const LiftedWeight &weight : weights)
    if (names.contains(weight.name)) {
      Value value = entry.getArgument(weight.argument);
      states.push_back({weight.name, value, value, weight.value});
    }
  finish(*values);
  makeConstants();
  return {};
}

Result<TrainedTensors> makeTrainingStep(Model &model,
                                        std::vector<LiftedWeight> weights,
                                        const TensorSpec &target,
                                        const TrainingOptions &options) {
  return StepBuilder(model, std::move(weights), options).step(target);
}

Result<void> makeEvaluation(Model &model, std::vector<LiftedWeight> weights,
                            const TrainedTensors &trained,
                            const TensorSpec &target,
                            const TrainingOptions &options) {
  return StepBuilder(model, std::move(weights), options)
      .evaluation(target, trained);
}

} // namespace sinter::autodiff
