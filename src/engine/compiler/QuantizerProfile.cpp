//===- QuantizerProfile.cpp - what a network's tensors hold ---------------===//

#include "engine/compiler/Quantizer.h"

#include "engine/compiler/TensorNames.h"
#include "graph/Origin.h"
#include "passes/ValueNumbers.h"
#include "quantize/Equalize.h"
#include "runtime/OptionNames.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace sinter {

using quantize::Profile;
using quantize::TensorProfile;
using quantize::Unit;
using quantize::UnitKind;

/// Gives each value a unique name, after the user's file.
void Quantizer::nameValues(const std::map<int64_t, std::string> &byNumber) {
  std::map<const void *, std::string> known;
  for (const NumberedValue &each : ValueNumbers::valuesOf(model.module()))
    if (auto name = byNumber.find(each.number); name != byNumber.end())
      known[each.value.getAsOpaquePointer()] = name->second;
  const std::vector<TensorSpec> inputs = model.inputs();
  llvm::StringMap<unsigned> used;
  for (Value value : valuesInOrder(model)) {
    std::string name = known[value.getAsOpaquePointer()];
    if (name.empty())
      if (auto argument = dyn_cast<BlockArgument>(value);
          argument && argument.getOwner() == &model.entry().front() &&
          argument.getArgNumber() < inputs.size())
        name = inputs[argument.getArgNumber()].name;
    if (name.empty())
      name = originOf(value.getLoc());
    if (name.empty())
      name = value.getDefiningOp()
                 ? value.getDefiningOp()->getName().getStringRef().str()
                 : "argument";
    unsigned &count = used[name];
    if (count++)
      name += "#" + std::to_string(count);
    names[value] = std::move(name);
  }
}

/// Measures the inputs and results of layers that could be quantised.
void Quantizer::choosePoints() {
  profile.tensors.clear();
  tensorOf.clear();
  llvm::DenseMap<Value, int64_t> axisOf;
  llvm::SetVector<Value> points;
  for (const Unit &unit : quantize::findUnits(model).units) {
    if (unit.kind == UnitKind::Other)
      continue;
    for (OpOperand *operand : unit.data)
      points.insert(operand->get());
    points.insert(unit.result);
    if (unit.weights.activationAxis)
      axisOf[unit.data.front()->get()] = *unit.weights.activationAxis;
  }
  for (Value value : valuesInOrder(model)) {
    if (!points.contains(value) || !canBeObserved(value))
      continue;
    tensorOf[value] = static_cast<int64_t>(profile.tensors.size());
    TensorProfile tensor;
    tensor.name = names[value];
    if (auto axis = axisOf.find(value); axis != axisOf.end())
      tensor.channels.axis = axis->second;
    profile.tensors.push_back(std::move(tensor));
  }
}

const TensorProfile *Quantizer::profileOf(Value value) const {
  auto found = tensorOf.find(value);
  return found == tensorOf.end() ? nullptr : &profile.tensors[found->second];
}

//===----------------------------------------------------------------------===//
// Profiles
//===----------------------------------------------------------------------===//

Result<void> Quantizer::passOverSamples(SampleRuns &runs, const char *stage,
                                        size_t most, Measure measure) {
  const size_t total = request.samples.count;
  size_t done = 0;
  for (size_t sample = 0; sample < total && done < most; ++sample) {
    progress(stage, sample, total);
    if (isSetAside(sample))
      continue;
    Result<std::vector<Tensor>> inputs = request.samples.load(sample);
    if (!inputs)
      return inputs.takeError();
    const auto observer = [&](std::string_view name, const Tensor &value) {
      const std::optional<int64_t> number = observedNumber(name);
      if (!number)
        return;
      (profile.tensors[*number].*measure)(value);
    };
    if (Result<std::vector<Tensor>> outputs = runs.run(*inputs, observer);
        !outputs)
      return inFile(outputs.takeError(), request.input.path);
    ++done;
  }
  profile.samples = done;
  progress(stage, total, total);
  return {};
}

/// The present graph, with the values of the profile observed.
SampleRuns Quantizer::observedRuns() const {
  Model probed = model.clone();
  std::vector<NumberedValue> points;
  const llvm::DenseMap<Value, Value> copyOf = copiesIn(probed, model);
  for (Value value : valuesInOrder(model))
    if (auto number = tensorOf.find(value); number != tensorOf.end())
      points.push_back({copyOf.lookup(value), number->second});
  return SampleRuns(std::move(probed), request, description, std::move(points));
}

/// A few samples suffice for the ranges of channels; the graph is measured
/// after equalisation.
Result<void> Quantizer::equalizeChannels() {
  constexpr size_t enough = 32;
  if (!options().equalize && !options().smooth)
    return {};
  SampleRuns runs = observedRuns();
  if (Result<void> done =
          passOverSamples(runs, "channels", enough, &TensorProfile::measure);
      !done)
    return done;
  for (quantize::Equalized &each : quantize::equalize(
           model, [&](Value value) { return profileOf(value); }, options())) {
    report.notes.push_back(
        llvm::formatv("equalised the channels of '{0}': {1:f1} dB less noise "
                      "by estimate",
                      each.of.tensor, each.gain)
            .str());
    profile.equalized.push_back(std::move(each.of));
  }
  choosePoints();
  return {};
}

Result<void> Quantizer::profileModel() {
  if (Result<void> done = equalizeChannels(); !done)
    return done;
  SampleRuns runs = observedRuns();
  const std::pair<const char *, Measure> passes[] = {
      {"ranges", &TensorProfile::measure},
      {"histograms", &TensorProfile::count}};
  for (const auto &[stage, measure] : passes)
    if (Result<void> done =
            passOverSamples(runs, stage, request.samples.count, measure);
        !done)
      return done;
  return {};
}

/// Which errors of activations biases can absorb: those of the inputs of
/// matmuls and convolutions, with the chosen integers.
Result<void> Quantizer::measureErrors() {
  if (!options().correctBias || options().weightsOnly)
    return {};
  const quantize::Units units = quantize::findUnits(model);
  Result<quantize::Plan> plan =
      quantize::makePlan(units, [&](Value value) { return profileOf(value); },
                         options(), {slow, {}});
  if (!plan)
    return plan.takeError();
  bool isAny = false;
  for (auto [unit, layer] : llvm::zip_equal(units.units, plan->layers)) {
    if (unit.kind != UnitKind::Product || !layer.isQuantized)
      continue;
    Value input = unit.data.front()->get();
    auto place = tensorOf.find(input);
    auto chosen = plan->values.find(input);
    if (place == tensorOf.end() || chosen == plan->values.end())
      continue;
    quantize::ChannelProfile &channels =
        profile.tensors[place->second].channels;
    channels.errors = chosen->second.code.numbers();
    isAny |= channels.axis >= 0;
  }
  if (!isAny)
    return {};
  SampleRuns runs = observedRuns();
  return passOverSamples(runs, "errors", request.samples.count,
                         &TensorProfile::compare);
}

/// An earlier profile, if it is of this model.
Result<void> Quantizer::takeProfile() {
  Result<Profile> given =
      quantize::profileFromJson(request.profile, request.profilePath);
  if (!given)
    return given.takeError();
  llvm::StringMap<const TensorProfile *> byName;
  for (const TensorProfile &tensor : given->tensors)
    byName[tensor.name] = &tensor;
  for (TensorProfile &tensor : profile.tensors) {
    const TensorProfile *found = byName.lookup(tensor.name);
    if (!found)
      return withHint(
          optionText("profile-out") + " measures this one",
          usageError(optionText("profile") + " " + request.profilePath +
                     ": it is of another model: it has no tensor '" +
                     tensor.name + "'"));
    const int64_t axis = tensor.channels.axis;
    if (axis >= 0 && found->channels.axis >= 0 && found->channels.axis != axis)
      return usageError(optionText("profile") + " " + request.profilePath +
                        ": it is of another model: the channels of tensor '" +
                        tensor.name + "' lie along another dimension");
    tensor = *found;
  }
  if (!given->equalized.empty()) {
    if (!options().equalize && !options().smooth)
      return withHint(
          "measure without: " + optionText("profile-out") + " " +
              optionText("no-equalize") + " " + optionText("no-smooth"),
          usageError(optionText("profile") + " " + request.profilePath +
                     ": it was measured with equalised channels"));
    llvm::StringMap<Value> valueOfName;
    for (const auto &[value, name] : names)
      valueOfName[name] = value;
    const auto valueOf = [&](llvm::StringRef name) {
      return valueOfName.lookup(name);
    };
    if (!quantize::applyFactors(model, valueOf, given->equalized))
      return usageError(optionText("profile") + " " + request.profilePath +
                        ": it is of another model: the channels that it has "
                        "equalised are not there");
    profile.equalized = given->equalized;
  }
  if (given->model != profile.model)
    report.notes.push_back("the profile was measured on another version of "
                           "the file, with the same tensors");
  profile.samples = given->samples;
  return {};
}

} // namespace sinter
