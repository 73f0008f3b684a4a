//===- Quantize.cpp - an 8-bit model of a float one -----------------------===//
//
//     read, simplify     batch norms are in weights before these are rounded
//     profile            the simplified graph is run on samples, twice
//     plan, insert       src/quantize
//     judge              both models are run on samples that were set aside
//     write
//
//===----------------------------------------------------------------------===//

#include "engine/Quantize.h"

#include "backend/cpu/LayerTimes.h"
#include "engine/compiler/MlirCompiler.h"
#include "engine/compiler/ModelSource.h"
#include "engine/compiler/OutputAgreement.h"
#include "engine/compiler/SampleRuns.h"
#include "engine/compiler/Simplification.h"
#include "engine/compiler/TensorNames.h"
#include "graph/Constants.h"
#include "graph/nn/NnOps.h"
#include "graph/stablehlo/StablehloOps.h"
#include "passes/ValueNumbers.h"
#include "quantize/Equalize.h"
#include "quantize/Insert.h"
#include "quantize/Profile.h"
#include "runtime/Hash.h"
#include "runtime/MappedFile.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"

#include <filesystem>
#include <map>
#include <set>

using namespace mlir;

namespace sinter {

using quantize::Plan;
using quantize::Profile;
using quantize::TensorProfile;
using quantize::Unit;
using quantize::UnitKind;
using quantize::Units;

namespace {

/// A graph with integers, and what became of its layers.
struct QuantizedModel {
  Model model;
  Units units;
  Plan plan;
  /// What each unit gives, while the graph is not changed.
  std::vector<NumberedValue> results;
  /// What kernels may be called that end in a unit.
  std::map<std::string, unsigned> unitOfKernel;
};

class Quantizer {
public:
  explicit Quantizer(const QuantizeRequest &request) : request(request) {}

  Result<QuantizeReport> run();

private:
  Result<void> read();
  void nameValues(const std::map<int64_t, std::string> &byNumber);
  void choosePoints();
  const TensorProfile *profileOf(Value value) const;
  SampleRuns observedRuns() const;
  Result<void> equalizeChannels();
  Result<void> profileModel();
  Result<void> takeProfile();
  Result<void> passOverSamples(const char *stage, size_t most, bool isSecond);
  Result<QuantizedModel>
  quantized(const llvm::DenseMap<unsigned, std::string> &left);
  Result<void> tellTimes(const std::vector<Tensor> &inputs, SampleRuns &before,
                         SampleRuns &after);
  Result<OutputAgreement> judge(const QuantizedModel &quantized);
  Result<void> judgeLayers(const QuantizedModel &quantized);
  Result<QuantizedModel> withinBound();
  Result<void> leaveSlowLayers();
  std::vector<unsigned> byCost(const QuantizedModel &quantized) const;
  bool holds(const OutputAgreement &judged) const;
  void describeLayers(const QuantizedModel &quantized);
  Result<void> countRescales(const QuantizedModel &quantized);
  Result<void> write(QuantizedModel quantized);

  bool isSetAside(size_t sample) const {
    return setsAside() && sample % 5 == 4;
  }
  bool setsAside() const { return request.samples.count >= 5; }
  void progress(const std::string &stage, size_t done, size_t total) const {
    if (request.progress)
      request.progress(stage, done, total);
  }
  const quantize::QuantizeOptions &options() const { return request.options; }

  const QuantizeRequest &request;
  const Format *written = nullptr;
  Model model;
  ModelDescription description;
  /// What each value of `model` is called.
  llvm::DenseMap<Value, std::string> names;
  /// Which tensor of the profile it is, if it is one.
  llvm::DenseMap<Value, int64_t> tensorOf;
  Profile profile;
  /// Units that stay float for their speed, and the reason.
  llvm::DenseMap<unsigned, std::string> slow;
  std::unique_ptr<SampleRuns> floatRuns;
  /// Of the float and of the quantised model that was judged last.
  std::array<std::map<std::string, double>, 2> kernelTimes;
  QuantizeReport report;
};

} // namespace

//===----------------------------------------------------------------------===//
// The graph, and what its values are called
//===----------------------------------------------------------------------===//

static int64_t bytesOfFile(const std::string &path) {
  std::error_code error;
  const auto bytes = std::filesystem::file_size(path, error);
  return error ? 0 : static_cast<int64_t>(bytes);
}

/// A quantised model has nothing left to do here.
static Error quantizedAlready(const std::string &path) {
  return usageError(path + ": the model is quantised already: `sinter optimize "
                           "--raise-quantized` simplifies it");
}

static bool isQuantizedAlready(const Model &model) {
  bool found = false;
  const_cast<Model &>(model).entry().walk([&](Operation *op) {
    found |= isa<stablehlo::UniformQuantizeOp, stablehlo::UniformDequantizeOp,
                 nn::QuantizeOp>(op);
  });
  return found;
}

Result<void> Quantizer::read() {
  if (!request.output.empty()) {
    Result<WrittenForm> form = writtenForm(request.output);
    if (!form)
      return form.takeError();
    written = form->format;
    if (options().block && written->name != "onnx")
      return unsupported("'" + request.output + "': " + written->title.str() +
                         " has no form for weights with a scale for a block "
                         "of them; .onnx has");
  }
  Result<ModelToRewrite> read = readToRewrite(request.input, written);
  if (!read)
    return inFile(read.takeError(), request.input.path);
  if (!request.output.empty() && !request.mayOverwrite)
    if (Result<void> good = checkOverwrite(request.input.path,
                                           read->description, request.output);
        !good)
      return good;
  model = std::move(read->model);
  description = std::move(read->description);
  report.before.bytes = bytesOfFile(request.input.path);
  const std::string folder =
      std::filesystem::path(request.input.path).parent_path().string();
  for (const std::string &file : description.dataFiles)
    report.before.bytes +=
        bytesOfFile(folder.empty() ? file : folder + "/" + file);
  // Not every format tells what a program takes before it is asked.
  if (description.inputs.empty()) {
    Result<ModelDescription> known = describeModel(model);
    if (!known)
      return inFile(known.takeError(), request.input.path);
    known->dataFiles = std::move(description.dataFiles);
    description = std::move(*known);
  }
  markShapeInputs(model, description);
  Model raised = model.clone();
  if (Result<SimplifyReport> done = raiseQuantized(raised); !done)
    return inFile(done.takeError(), request.input.path);
  if (isQuantizedAlready(raised))
    return quantizedAlready(request.input.path);
  // Before the numbers: nodes are known by all attributes of their operations.
  std::map<int64_t, std::string> byNumber;
  ValueNumbers numbers;
  {
    const TensorNames known(model);
    std::vector<std::pair<Value, std::string>> named;
    for (Value value : valuesInOrder(model))
      named.emplace_back(value, known.nameOf(value));
    numbers.number(model.module());
    std::map<const void *, std::string> nameOfValue;
    for (auto &[value, name] : named)
      nameOfValue[value.getAsOpaquePointer()] = name;
    for (const NumberedValue &each : ValueNumbers::valuesOf(model.module()))
      byNumber[each.number] = nameOfValue[each.value.getAsOpaquePointer()];
  }
  Result<SimplifyReport> simplified =
      simplify(model, simplifyOptions(request.passes, &numbers));
  if (!simplified)
    return inFile(simplified.takeError(), request.input.path);
  nameValues(byNumber);
  ValueNumbers::remove(model.module());
  return {};
}

/// Gives each value a name of its own, after the user's file.
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
      name = TensorNames::originOf(value.getLoc());
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

/// Profiled is what layers read and give that could do so with integers.
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

Result<void> Quantizer::passOverSamples(const char *stage, size_t most,
                                        bool isSecond) {
  SampleRuns runs = observedRuns();
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
      TensorProfile &tensor = profile.tensors[*number];
      if (isSecond)
        tensor.count(value);
      else
        tensor.measure(value);
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

/// The graph as it is now, in which the values of the profile are told of.
SampleRuns Quantizer::observedRuns() const {
  Model probed = model.clone();
  std::vector<NumberedValue> points;
  for (auto [own, copy] :
       llvm::zip_equal(valuesInOrder(model), valuesInOrder(probed)))
    if (auto number = tensorOf.find(own); number != tensorOf.end())
      points.push_back({copy, number->second});
  return SampleRuns(std::move(probed), request, description, std::move(points));
}

/// A few samples tell how wide channels are; the graph is measured as it is
/// afterwards.
Result<void> Quantizer::equalizeChannels() {
  constexpr size_t enough = 32;
  if (!options().equalize && !options().smooth)
    return {};
  if (Result<void> done = passOverSamples("channels", enough, false); !done)
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
  for (bool isSecond : {false, true})
    if (Result<void> done = passOverSamples(isSecond ? "histograms" : "ranges",
                                            request.samples.count, isSecond);
        !done)
      return done;
  return {};
}

static Result<std::string> hashOfFile(const std::string &path) {
  auto file = MappedFile::open(path);
  if (!file)
    return file.takeError();
  return hashOf((*file)->bytes()).text();
}

/// A profile that was measured before, if it is of this model.
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
      return usageError("--profile " + request.profilePath +
                        ": it is of another model: it has no tensor '" +
                        tensor.name + "'; --profile-out measures this one");
    const int64_t axis = tensor.channels.axis;
    if (axis >= 0 && found->channels.axis >= 0 && found->channels.axis != axis)
      return usageError("--profile " + request.profilePath +
                        ": it is of another model: the channels of tensor '" +
                        tensor.name + "' lie along another dimension");
    tensor = *found;
  }
  if (!given->equalized.empty()) {
    if (!options().equalize && !options().smooth)
      return usageError("--profile " + request.profilePath +
                        ": it was measured with equalised channels; measure "
                        "without: --profile-out --no-equalize --no-smooth");
    const auto valueOf = [&](llvm::StringRef name) {
      for (auto &[value, own] : names)
        if (own == name)
          return value;
      return Value();
    };
    if (!quantize::applyFactors(model, valueOf, given->equalized))
      return usageError("--profile " + request.profilePath +
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

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

Result<QuantizedModel>
Quantizer::quantized(const llvm::DenseMap<unsigned, std::string> &left) {
  QuantizedModel made;
  made.model = model.clone();
  llvm::DenseMap<Value, const TensorProfile *> profiles;
  for (auto [own, copy] :
       llvm::zip_equal(valuesInOrder(model), valuesInOrder(made.model)))
    if (const TensorProfile *known = profileOf(own))
      profiles[copy] = known;
  const auto profileOf = [&](Value value) { return profiles.lookup(value); };
  made.units = quantize::findUnits(made.model);
  llvm::DenseMap<unsigned, std::string> allLeft = left;
  for (const auto &[unit, reason] : slow)
    allLeft.try_emplace(unit, reason);
  Result<Plan> plan =
      quantize::makePlan(made.units, profileOf, options(), allLeft);
  if (!plan)
    return plan.takeError();
  made.plan = std::move(*plan);
  const bool isOnnx = written && written->name == "onnx";
  quantize::insertQuantization(made.units, made.plan, profileOf, options(),
                               written && !isOnnx
                                   ? QuantizedRounding::AfterZeroPoint
                                   : QuantizedRounding::BeforeZeroPoint);
  for (auto [number, unit] : llvm::enumerate(made.units.units)) {
    if (unit.result && canBeObserved(unit.result))
      made.results.push_back({unit.result, static_cast<int64_t>(number)});
    for (Operation *op : unit.ops)
      made.unitOfKernel.try_emplace(TensorNames::originOf(op->getLoc()),
                                    static_cast<unsigned>(number));
    if (const TensorProfile *given = profileOf(unit.result))
      for (const char *what : {"_QuantizeLinear", "_DequantizeLinear"})
        made.unitOfKernel.try_emplace(given->name + what,
                                      static_cast<unsigned>(number));
  }
  return made;
}

//===----------------------------------------------------------------------===//
// What it costs
//===----------------------------------------------------------------------===//

/// Runs both models in turns, and each once to see what its layers take.
Result<void> Quantizer::tellTimes(const std::vector<Tensor> &inputs,
                                  SampleRuns &before, SampleRuns &after) {
  constexpr int times = 5;
  for (int i = 0; i < times; ++i)
    for (SampleRuns *each : {&before, &after})
      if (Result<std::vector<Tensor>> again = each->run(inputs); !again)
        return again.takeError();
  auto floats = before.layerTimes(inputs);
  if (!floats)
    return floats.takeError();
  auto integers = after.layerTimes(inputs);
  if (!integers)
    return integers.takeError();
  kernelTimes = {std::move(*floats), std::move(*integers)};
  return {};
}

/// On the samples that were set aside, or on all if there are few.
Result<OutputAgreement> Quantizer::judge(const QuantizedModel &quantized) {
  if (!floatRuns)
    floatRuns =
        std::make_unique<SampleRuns>(model.clone(), request, description);
  SampleRuns runs(quantized.model.clone(), request, description);
  OutputAgreement judged;
  report.judged = 0;
  for (size_t sample = 0; sample < request.samples.count; ++sample) {
    progress("comparing", sample, request.samples.count);
    if (setsAside() && !isSetAside(sample))
      continue;
    Result<std::vector<Tensor>> inputs = request.samples.load(sample);
    if (!inputs)
      return inputs.takeError();
    Result<std::vector<Tensor>> before = floatRuns->run(*inputs);
    if (!before)
      return inFile(before.takeError(), request.input.path);
    Result<std::vector<Tensor>> after = runs.run(*inputs);
    if (!after)
      return inFile(after.takeError(), request.input.path);
    judged.add(*before, *after,
               sample < request.samples.classes.size()
                   ? request.samples.classes[sample]
                   : -1);
    ++report.judged;
    if (report.judged == 1)
      if (Result<void> done = tellTimes(*inputs, *floatRuns, runs); !done)
        return inFile(done.takeError(), request.input.path);
  }
  progress("comparing", request.samples.count, request.samples.count);
  report.before.milliseconds = floatRuns->medianMilliseconds();
  report.after.milliseconds = runs.medianMilliseconds();
  return judged;
}

/// What each layer gives, in both models.
Result<void> Quantizer::judgeLayers(const QuantizedModel &quantized) {
  constexpr size_t most = 4;
  Model before = model.clone(), after = quantized.model.clone();
  const std::vector<Value> own = valuesInOrder(quantized.model),
                           copies = valuesInOrder(after);
  llvm::DenseMap<Value, Value> copyOf;
  for (auto [value, copy] : llvm::zip_equal(own, copies))
    copyOf[value] = copy;
  std::vector<NumberedValue> results;
  for (const NumberedValue &each : quantized.results)
    results.push_back({copyOf[each.value], each.number});
  std::vector<NumberedValue> floats;
  for (auto [number, unit] : llvm::enumerate(quantize::findUnits(before).units))
    if (unit.result && canBeObserved(unit.result))
      floats.push_back({unit.result, static_cast<int64_t>(number)});
  SampleRuns floatRuns(std::move(before), request, description,
                       std::move(floats)),
      runs(std::move(after), request, description, std::move(results));
  std::vector<SignalToNoise> powers(report.layers.size());
  size_t done = 0;
  for (size_t sample = 0; sample < request.samples.count && done < most;
       ++sample) {
    if (setsAside() && !isSetAside(sample))
      continue;
    progress("comparing layers", done++, most);
    Result<std::vector<Tensor>> inputs = request.samples.load(sample);
    if (!inputs)
      return inputs.takeError();
    std::map<int64_t, Tensor> seen;
    if (auto run = floatRuns.run(
            *inputs,
            [&](std::string_view name, const Tensor &value) {
              if (auto number = observedNumber(name))
                seen.try_emplace(*number, Tensor::of<std::byte>(
                                              value.type(), value.shape(),
                                              {value.data(), value.bytes()}));
            });
        !run)
      return inFile(run.takeError(), request.input.path);
    std::set<int64_t> compared;
    if (auto run = runs.run(*inputs,
                            [&](std::string_view name, const Tensor &value) {
                              auto number = observedNumber(name);
                              if (!number || !compared.insert(*number).second)
                                return;
                              if (auto found = seen.find(*number);
                                  found != seen.end())
                                powers[*number].add(found->second, value);
                            });
        !run)
      return inFile(run.takeError(), request.input.path);
  }
  progress("comparing layers", most, most);
  for (size_t i = 0; i < powers.size(); ++i)
    report.layers[i].decibels = powers[i].decibels();
  return {};
}

bool Quantizer::holds(const OutputAgreement &judged) const {
  if (!request.mostLoss)
    return true;
  if (auto before = judged.accuracyBefore())
    return (*before - *judged.accuracyAfter()) * 100 <= *request.mostLoss;
  std::optional<double> decibels = judged.decibels();
  return !decibels || *decibels >= *request.mostLoss;
}

/// The layers with integers, that which adds the most noise first: the noise of
/// its activations and its weights, each as a part of their power.
std::vector<unsigned> Quantizer::byCost(const QuantizedModel &quantized) const {
  std::vector<std::pair<double, unsigned>> costs;
  for (auto [number, unit] : llvm::enumerate(quantized.units.units)) {
    if (!quantized.plan.layers[number].isQuantized ||
        unit.kind == UnitKind::Moves)
      continue;
    double cost = 0;
    for (OpOperand *operand : unit.data) {
      // The value behind the two operations in between.
      Value value = operand->get();
      while (isa_and_nonnull<stablehlo::UniformDequantizeOp,
                             stablehlo::UniformQuantizeOp, nn::QuantizeOp>(
          value.getDefiningOp()))
        value = value.getDefiningOp()->getOperand(0);
      auto chosen = quantized.plan.values.find(value);
      if (chosen == quantized.plan.values.end())
        continue;
      const double power =
          std::max(chosen->second.range.greatest, -chosen->second.range.least);
      cost += power > 0 ? chosen->second.error / (power * power) : 0;
    }
    costs.emplace_back(-cost, static_cast<unsigned>(number));
  }
  llvm::sort(costs);
  std::vector<unsigned> order;
  for (const auto &[cost, number] : costs)
    order.push_back(number);
  return order;
}

/// The convolutions and products of a graph, in order.
static std::vector<Operation *> productsOf(const Model &model) {
  std::vector<Operation *> products;
  model.entry().walk([&](Operation *op) {
    if (isa<stablehlo::ConvolutionOp, stablehlo::DotGeneralOp>(op))
      products.push_back(op);
  });
  return products;
}

/// The table of estimates decides, not a stopwatch: with the shapes of the
/// first sample, and the rates that are typical of a named target.
Result<void> Quantizer::leaveSlowLayers() {
  const bool areBytes = options().activations != ElementType::I16;
  if (request.target.empty() || options().weightsOnly || !areBytes)
    return {};
  Result<cpu::Target> target = request.target == "native"
                                   ? cpu::Target::host()
                                   : cpu::Target::named("", request.target, "");
  if (!target)
    return target.takeError();
  Model known = model.clone();
  if (request.samples.count != 0) {
    Result<std::vector<Tensor>> inputs = request.samples.load(0);
    if (!inputs)
      return inputs.takeError();
    if (Result<void> done =
            specializeForPasses(known, knownOf(description, *inputs));
        !done)
      return inFile(done.takeError(), request.input.path);
  }
  const std::vector<Operation *> own = productsOf(model),
                                 sized = productsOf(known);
  if (own.size() != sized.size())
    return {};
  const Units units = quantize::findUnits(model);
  for (auto [op, copy] : llvm::zip_equal(own, sized)) {
    auto unit = units.unitOf.find(op);
    std::optional<cpu::LayerTimes> times = cpu::layerTimes(copy, *target);
    if (unit == units.unitOf.end() || !times || times->bytes < times->f32)
      continue;
    slow[unit->second] =
        llvm::formatv("no faster with bytes on {0}, by estimate: {1:f4} ms, "
                      "{2:f4} ms in float",
                      request.target, times->bytes * 1e3, times->f32 * 1e3)
            .str();
  }
  return {};
}

/// With as few layers left float as it takes to hold the bound: halving finds
/// the number, as if more never did harm, and the result is judged itself.
Result<QuantizedModel> Quantizer::withinBound() {
  Result<QuantizedModel> all =
      quantized(llvm::DenseMap<unsigned, std::string>());
  if (!all)
    return all;
  if (request.samples.count == 0)
    return all;
  const auto tell = [&](const OutputAgreement &judged) {
    report.agreement = judged.agreement();
    report.cosine = judged.cosine();
    report.decibels = judged.decibels();
    report.before.accuracy = judged.accuracyBefore();
    report.after.accuracy = judged.accuracyAfter();
  };
  Result<OutputAgreement> judged = judge(*all);
  if (!judged)
    return judged.takeError();
  tell(*judged);
  if (holds(*judged))
    return all;
  const std::vector<unsigned> order = byCost(*all);
  std::optional<QuantizedModel> best;
  for (size_t low = 0, high = order.size(); low < high;) {
    const size_t middle = low + (high - low) / 2;
    llvm::DenseMap<unsigned, std::string> left;
    for (size_t i = 0; i <= middle; ++i)
      left[order[i]] = "--max-loss";
    Result<QuantizedModel> some = quantized(left);
    if (!some)
      return some;
    judged = judge(*some);
    if (!judged)
      return judged.takeError();
    // With no product left there is nothing that was quantised.
    const bool hasProducts =
        llvm::any_of(llvm::zip_equal(some->units.units, some->plan.layers),
                     [](const auto &layer) {
                       return std::get<0>(layer).kind == UnitKind::Product &&
                              std::get<1>(layer).isQuantized;
                     });
    if (!hasProducts) {
      high = middle;
      continue;
    }
    if (holds(*judged)) {
      tell(*judged);
      best = std::move(*some);
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  report.boundHolds = best.has_value();
  return best ? std::move(*best) : std::move(all);
}

//===----------------------------------------------------------------------===//
// The report, and the file
//===----------------------------------------------------------------------===//

static const char *textOf(quantize::Scheme scheme) {
  switch (scheme) {
  case quantize::Scheme::Asymmetric:
    return "asymmetric";
  case quantize::Scheme::Symmetric:
    return "symmetric";
  case quantize::Scheme::SymmetricU8:
    return "symmetric-u8";
  case quantize::Scheme::PowerOfTwo:
    return "power-of-two";
  }
  llvm_unreachable("no such scheme");
}

void Quantizer::describeLayers(const QuantizedModel &quantized) {
  report.layers.clear();
  for (auto [unit, plan] :
       llvm::zip_equal(quantized.units.units, quantized.plan.layers)) {
    QuantizedLayer layer;
    layer.name = unit.name;
    layer.op = unit.op;
    layer.keptFloat = !plan.isQuantized;
    layer.reason = plan.reason;
    if (plan.isQuantized && !options().weightsOnly)
      layer.scheme = std::string(name(options().activations)) + " " +
                     textOf(options().scheme);
    if (plan.isQuantized && unit.kind == UnitKind::Product)
      layer.scheme += (layer.scheme.empty() ? "weights " : ", weights ") +
                      std::string(name(options().weights)) +
                      (options().perChannel ? " by channel" : "");
    if (auto chosen = quantized.plan.values.find(unit.result);
        chosen != quantized.plan.values.end()) {
      layer.rangeMethod = quantize::nameOf(chosen->second.method).str();
      layer.least = chosen->second.range.least;
      layer.greatest = chosen->second.range.greatest;
    }
    report.layers.push_back(std::move(layer));
  }
  for (auto [times, place] :
       {std::pair(&kernelTimes[0], &QuantizedLayer::floatMilliseconds),
        std::pair(&kernelTimes[1], &QuantizedLayer::milliseconds)})
    for (const auto &[name, milliseconds] : *times)
      if (auto unit = quantized.unitOfKernel.find(name);
          unit != quantized.unitOfKernel.end())
        report.layers[unit->second].*place += milliseconds;
  // What was seen of what they give.
  const Units units = quantize::findUnits(model);
  for (auto [number, unit] : llvm::enumerate(units.units)) {
    const TensorProfile *seen = unit.result ? profileOf(unit.result) : nullptr;
    if (!seen || !seen->wasReached())
      continue;
    report.layers[number].seenLeast = seen->least;
    report.layers[number].seenGreatest = seen->greatest;
    report.layers[number].histogram = seen->histogram;
  }
}

/// Makes quantised types of \p model, and moves rescales to where they vanish.
static Result<void> raise(Model &model, const PassOptions &passes) {
  SimplifyOptions how = simplifyOptions(passes);
  how.keepsQuantizedConstants = true;
  how.allowed.push_back("requantize");
  if (Result<SimplifyReport> done = raiseQuantized(model, how); !done)
    return done.takeError();
  if (Result<SimplifyReport> done = simplify(model, how); !done)
    return done.takeError();
  return {};
}

/// Those of \p model that do more than to round sums, or to move numbers to the
/// other signedness, which products of both kinds of storage need.
static int64_t rescalesIn(const Model &model) {
  int64_t count = 0;
  model.module().walk([&](Operation *op) {
    if (!isa<stablehlo::UniformQuantizeOp, nn::QuantizeOp>(op))
      return;
    quant::QuantizedType before = quantizedOf(op->getOperand(0).getType());
    count += before && storageOf(before).getWidth() < 32 &&
             beforeShift(op->getResult(0)) == op->getResult(0);
  });
  return count;
}

Result<void> Quantizer::countRescales(const QuantizedModel &quantized) {
  report.rescalesBefore = quantized.plan.sharedScales;
  Model raised = quantized.model.clone();
  if (Result<void> done = raise(raised, request.passes); !done)
    return inFile(done.takeError(), request.input.path);
  report.rescalesAfter = rescalesIn(raised);
  return {};
}

Result<void> Quantizer::write(QuantizedModel quantized) {
  if (written->name != "onnx") {
    if (Result<void> done = raise(quantized.model, request.passes); !done)
      return inFile(done.takeError(), request.input.path);
  }
  if (Result<void> done = writeModel(quantized.model, request.output); !done)
    return ofInput(done.takeError(), request.input.path);
  report.after.bytes = bytesOfFile(request.output);
  return {};
}

Result<QuantizeReport> Quantizer::run() {
  if (Result<void> done = read(); !done)
    return done.takeError();
  choosePoints();
  Result<std::string> hash = hashOfFile(request.input.path);
  if (!hash)
    return hash.takeError();
  profile.model = *hash;
  // Of weights alone, biases are corrected where there is something to measure.
  const bool hasData = request.samples.count != 0 || !request.profile.empty();
  if (!options().weightsOnly || (options().correctBias && hasData)) {
    Result<void> done =
        request.profile.empty() ? profileModel() : takeProfile();
    if (!done)
      return done.takeError();
  }
  report.samples = profile.samples;
  if (request.wantsProfile)
    report.profile = quantize::toJson(profile);
  if (request.onlyMeasures)
    return std::move(report);
  if (Result<void> done = leaveSlowLayers(); !done)
    return done.takeError();
  Result<QuantizedModel> made = withinBound();
  if (!made)
    return made.takeError();
  describeLayers(*made);
  if (request.samples.count != 0)
    if (Result<void> done = judgeLayers(*made); !done)
      return done.takeError();
  if (Result<void> done = countRescales(*made); !done)
    return done.takeError();
  if (!request.output.empty() && report.boundHolds)
    if (Result<void> done = write(std::move(*made)); !done)
      return done.takeError();
  return std::move(report);
}

Result<QuantizeReport> MlirCompiler::quantize(const QuantizeRequest &request) {
  return Quantizer(request).run();
}

} // namespace sinter
