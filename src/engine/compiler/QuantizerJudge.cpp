//===- QuantizerJudge.cpp - what integers cost ----------------------------===//

#include "engine/compiler/Quantizer.h"

#include "backend/cpu/cost/LayerTimes.h"
#include "engine/compiler/MlirCompiler.h"
#include "graph/nn/NnOps.h"
#include "graph/stablehlo/StablehloOps.h"
#include "runtime/OptionNames.h"
#include "llvm/Support/FormatVariadic.h"

#include <set>

using namespace mlir;

namespace sinter {

using quantize::UnitKind;
using quantize::Units;

/// Runs both models alternately, and each once with layer times.
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

/// On the samples set aside, or on all if there are few.
Result<OutputAgreement> Quantizer::judge(const QuantizedModel &quantized) {
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
    const int64_t label = sample < request.samples.classes.size()
                              ? request.samples.classes[sample]
                              : -1;
    if (auto classes = classesIn(*before); classes && label >= *classes)
      return inFile(usageError("'" + request.samples.paths[sample] +
                               "' is of the class " + std::to_string(label) +
                               ", and the model has " +
                               std::to_string(*classes) + ", from 0 on"),
                    request.input.path);
    judged.add(*before, *after, label);
    ++report.judged;
    if (report.judged == 1)
      if (Result<void> done = tellTimes(*inputs, *floatRuns, runs); !done)
        return inFile(done.takeError(), request.input.path);
  }
  progress("comparing", request.samples.count, request.samples.count);
  report.staticBecause =
      runs.whyStatic().empty() ? floatRuns->whyStatic() : runs.whyStatic();
  report.before.milliseconds = floatRuns->medianMilliseconds();
  report.after.milliseconds = runs.medianMilliseconds();
  return judged;
}

/// The results of each layer, in both models.
Result<void> Quantizer::judgeLayers(const QuantizedModel &quantized) {
  constexpr size_t most = 4;
  Model before = model.clone(), after = quantized.model.clone();
  const llvm::DenseMap<Value, Value> copyOf = copiesIn(after, quantized.model);
  std::vector<NumberedValue> results;
  for (const NumberedValue &each : quantized.results)
    results.push_back({copyOf.lookup(each.value), each.number});
  std::vector<NumberedValue> floats;
  for (auto [number, unit] : llvm::enumerate(quantize::findUnits(before).units))
    if (unit.result && canBeObserved(unit.result))
      floats.push_back({unit.result, static_cast<int64_t>(number)});
  SampleRuns floatRuns(std::move(before), request, description,
                       std::move(floats)),
      runs(std::move(after), request, description, std::move(results));
  std::vector<Similarity> powers(report.layers.size());
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
    if (auto run = runs.run(
            *inputs,
            [&](std::string_view name, const Tensor &value) {
              auto number = observedNumber(name);
              if (!number || !compared.insert(*number).second)
                return;
              if (auto found = seen.find(*number); found != seen.end())
                powers[*number].add(similarityOfFloats(found->second, value));
            });
        !run)
      return inFile(run.takeError(), request.input.path);
  }
  progress("comparing layers", most, most);
  for (size_t i = 0; i < powers.size(); ++i)
    report.layers[i].decibels = decibelsOf(powers[i]);
  return {};
}

bool Quantizer::holds(const OutputAgreement &judged) {
  if (!request.mostLoss)
    return true;
  if (auto before = judged.accuracyBefore()) {
    const double most = *request.mostLoss / 100;
    const quantize::ChangedAnswers &changed = judged.changed();
    const bool isHeld = *before - *judged.accuracyAfter() <= most;
    report.judgedHold |= isHeld;
    // Too few samples to conclude on others count for themselves.
    return isHeld &&
           (changed.samples() < quantize::ChangedAnswers::samplesFor(most) ||
            *changed.lossOfOthers() <= most);
  }
  const auto isEnough = [&](std::optional<double> decibels) {
    return !decibels || *decibels >= *request.mostLoss;
  };
  report.judgedHold |= isEnough(judged.decibels());
  // One sample allows no conclusion on others.
  return isEnough(judged.decibels()) && isEnough(judged.decibelsOfOthers());
}

/// The quantised layers by their noise, most first: the squared errors of their
/// input activations and of their weights, relative to the squared values.
std::vector<unsigned> Quantizer::byCost(const QuantizedModel &quantized) const {
  std::vector<std::pair<double, unsigned>> costs;
  for (auto [number, unit] : llvm::enumerate(quantized.units.units)) {
    if (!quantized.plan.layers[number].isQuantized ||
        unit.kind == UnitKind::Moves)
      continue;
    double cost = quantized.plan.layers[number].weightNoise;
    for (OpOperand *operand : unit.data) {
      // The value before the two operations.
      Value value = operand->get();
      while (isa_and_nonnull<stablehlo::UniformDequantizeOp,
                             stablehlo::UniformQuantizeOp, nn::QuantizeOp>(
          value.getDefiningOp()))
        value = value.getDefiningOp()->getOperand(0);
      auto chosen = quantized.plan.values.find(value);
      if (chosen == quantized.plan.values.end())
        continue;
      const quantize::ChosenRange &range = chosen->second;
      cost += range.power > 0 ? range.error / range.power : 0;
    }
    costs.emplace_back(-cost, static_cast<unsigned>(number));
  }
  llvm::sort(costs);
  std::vector<unsigned> order;
  for (const auto &[cost, number] : costs)
    order.push_back(number);
  return order;
}

/// The convolutions and matmuls of a graph, in order.
static std::vector<Operation *> productsOf(const Model &model) {
  std::vector<Operation *> products;
  model.entry().walk([&](Operation *op) {
    if (isa<stablehlo::ConvolutionOp, stablehlo::DotGeneralOp>(op))
      products.push_back(op);
  });
  return products;
}

/// By estimates, not by measurement: for the shapes of the first sample, and
/// the typical rates of a named target.
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
    slow[unit->second] = quantize::WhyFloat(
        quantize::FloatReason::Slow,
        llvm::formatv("no faster in int8 on {0}, by estimate: {1:f4} ms, "
                      "{2:f4} ms in float",
                      request.target, times->bytes * 1e3, times->f32 * 1e3)
            .str());
  }
  return {};
}

void Quantizer::tell(const OutputAgreement &judged) {
  report.agreement = judged.agreement();
  report.cosine = judged.cosine();
  report.decibels = judged.decibels();
  report.decibelsOfOthers = judged.decibelsOfOthers();
  report.before.accuracy = judged.accuracyBefore();
  report.after.accuracy = judged.accuracyAfter();
  const quantize::ChangedAnswers &changed = judged.changed();
  report.accuracyLossOfOthers = changed.lossOfOthers();
  report.classified = changed.samples();
  report.becameWrong = changed.lost();
  report.becameRight = changed.gained();
  if (request.mostLoss)
    report.enough =
        quantize::ChangedAnswers::samplesFor(*request.mostLoss / 100);
}

/// Without a quantised matmul or convolution, nothing is quantised.
static bool hasProducts(const QuantizedModel &quantized) {
  return llvm::any_of(
      llvm::zip_equal(quantized.units.units, quantized.plan.layers),
      [](const auto &layer) {
        return std::get<0>(layer).kind == UnitKind::Product &&
               std::get<1>(layer).isQuantized;
      });
}

/// With as few of the first layers of \p order in 16 bits (\p areWide), or else
/// float besides those of \p wide, as hold the bound: found by bisection, as if
/// the loss were monotonic, and the result is evaluated. Nothing if none of
/// them holds it.
Result<std::optional<QuantizedModel>>
Quantizer::fewestExceptions(const std::vector<unsigned> &order, bool areWide,
                            const std::set<unsigned> &wide) {
  std::optional<QuantizedModel> best;
  for (size_t low = 0, high = order.size(); low < high;) {
    const size_t middle = low + (high - low) / 2;
    quantize::Exceptions exceptions;
    exceptions.wide = wide;
    for (unsigned layer : llvm::ArrayRef(order).take_front(middle + 1)) {
      if (areWide)
        exceptions.wide.insert(layer);
      else
        exceptions.left[layer] =
            quantize::WhyFloat(quantize::FloatReason::Bound);
    }
    Result<QuantizedModel> some = quantized(std::move(exceptions));
    if (!some)
      return some.takeError();
    if (!hasProducts(*some)) {
      high = middle;
      continue;
    }
    Result<OutputAgreement> judged = judge(*some);
    if (!judged)
      return judged.takeError();
    if (holds(*judged)) {
      tell(*judged);
      best = std::move(*some);
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return best;
}

/// If a few layers in 16 bits do not suffice, a few float ones may. If speed
/// decides, no layer becomes 16 bits: no kernel is faster with these than with
/// floats.
Result<QuantizedModel> Quantizer::withinBound() {
  Result<QuantizedModel> all = quantized({});
  if (!all || request.samples.count == 0)
    return all;
  Result<OutputAgreement> judged = judge(*all);
  if (!judged)
    return judged.takeError();
  tell(*judged);
  if (holds(*judged))
    return all;
  const std::vector<unsigned> order = byCost(*all);
  std::set<unsigned> wide;
  if (request.target.empty() && !options().weightsOnly &&
      options().activations != ElementType::I16) {
    auto some = fewestExceptions(order, /*areWide=*/true, {});
    if (!some)
      return some.takeError();
    if (*some)
      return std::move(some->value());
    wide.insert(order.begin(), order.end());
  }
  auto some = fewestExceptions(order, /*areWide=*/false, wide);
  if (!some)
    return some.takeError();
  report.boundHolds = some->has_value();
  if (!*some)
    return all;
  return std::move(some->value());
}

} // namespace sinter
