//===- ModelComparison.cpp - compares two runs tensor by tensor -----------===//

#include "compare/ModelComparison.h"

#include "compare/CompareWeights.h"
#include "data/TensorFiles.h"
#include "runtime/Suggestions.h"
#include "runtime/TensorNames.h"
#include "runtime/TensorText.h"
#include "runtime/Text.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

namespace sinter {

ModelComparison::ModelComparison(CompareSide one, CompareSide other,
                                 StateOptions states,
                                 const CompareCriteria &criteria)
    : first(std::move(one)), second(std::move(other)),
      states(std::move(states)) {
  report.first = first->what;
  report.second = second.what;
  report.criteria = criteria;
}

ModelComparison::ModelComparison(NamedTensors tensors, std::string source,
                                 CompareSide other, StateOptions states,
                                 const CompareCriteria &criteria)
    : expected(std::move(tensors)), second(std::move(other)),
      states(std::move(states)) {
  report.first = std::move(source);
  report.second = second.what;
  report.criteria = criteria;
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

/// Those of the same names, or, where no names are the same, in their order.
std::vector<std::pair<size_t, size_t>>
ModelComparison::matchOutputs(const std::vector<TensorSpec> &one,
                              const std::vector<TensorSpec> &other) {
  std::vector<std::pair<size_t, size_t>> pairs;
  std::map<std::string, size_t> places;
  for (size_t i = 0; i < other.size(); ++i)
    places.emplace(other[i].name, i);
  for (size_t i = 0; i < one.size(); ++i)
    if (const auto found = places.find(one[i].name); found != places.end())
      pairs.emplace_back(i, found->second);
  if (pairs.empty() && !one.empty() && !other.empty()) {
    report.notes.push_back(
        "the outputs have different names and are matched by their order");
    for (size_t i = 0; i < std::min(one.size(), other.size()); ++i)
      pairs.emplace_back(i, i);
  }
  if (pairs.size() < one.size() || pairs.size() < other.size())
    report.notes.push_back("only " + std::to_string(pairs.size()) + " of " +
                           std::to_string(one.size()) + " and " +
                           std::to_string(other.size()) +
                           " outputs are compared: the others have no "
                           "counterpart");
  return pairs;
}

static ComparedTensor comparedOutput(const std::string &name,
                                     const std::string &otherName,
                                     const Tensor &expected, const Tensor &got,
                                     const CompareCriteria &criteria) {
  ComparedTensor tensor;
  tensor.name = name;
  tensor.otherName = otherName;
  compareInto(tensor, expected, got, criteria);
  return tensor;
}

void ModelComparison::forget() {
  report.outputs.clear();
  report.notes.clear();
}

std::vector<CompareSide *> ModelComparison::sides() {
  return first ? std::vector{&*first, &second} : std::vector{&second};
}

/// A refusal by only one of them is a difference.
Result<std::pair<RunValues, RunValues>> ModelComparison::runBoth() {
  Result<RunValues> one = first->run(states);
  if (!one && one.error().kind != ErrorKind::InvalidModel)
    return one.takeError();
  Result<RunValues> other = second.run(states);
  if (one && other)
    return std::pair(std::move(*one), std::move(*other));
  if (!one && !other)
    return one.takeError();
  const Error &refused = one ? other.error() : one.error();
  if (refused.kind != ErrorKind::InvalidModel)
    return refused;
  return Error{ErrorKind::WrongResult, (one ? first->what : second.what) +
                                           " computes what is refused by " +
                                           (one ? second.what : first->what) +
                                           ": " + refused.message()};
}

/// A quantised model is not within tolerances of floats, so that another
/// measure decides unless the caller gives one.
Result<void> ModelComparison::chooseCriteria() {
  if (isSameModel())
    return {};
  if (!isOneQuantized && report.criteria.areDefault()) {
    Result<ModelWeights> one = first->session->weights(/*folds=*/false);
    if (!one)
      return one.takeError();
    Result<ModelWeights> other = second.session->weights(/*folds=*/false);
    if (!other)
      return other.takeError();
    isOneQuantized = one->isQuantized != other->isQuantized;
    if (*isOneQuantized)
      report.criteria.minDecibels = quantizedDecibels;
  }
  if (isOneQuantized.value_or(false))
    report.notes.push_back(
        "one model is quantised and the other is not: outputs agree from an "
        "SQNR of " +
        numberText(quantizedDecibels) + " dB (" + names.minDecibels + ")");
  return {};
}

Result<void> ModelComparison::compareOutputs(
    std::vector<std::pair<std::string, int64_t>> sizes) {
  if (!first)
    return compareWithFile();
  auto both = runBoth();
  if (!both)
    return both.takeError();
  const auto &[one, other] = *both;
  if (Result<void> chosen = chooseCriteria(); !chosen)
    return chosen;
  for (const auto &[i, j] :
       matchOutputs(first->outputSpecs, second.outputSpecs))
    report.outputs.push_back(
        comparedOutput(first->outputSpecs[i].name, second.outputSpecs[j].name,
                       one.outputs[i], other.outputs[j], report.criteria));
  for (size_t i = 0; i < first->stateSpecs.size(); ++i)
    for (size_t j = 0; j < second.stateSpecs.size(); ++j)
      if (first->stateSpecs[i].name == second.stateSpecs[j].name)
        report.outputs.push_back(
            comparedOutput("state " + first->stateSpecs[i].name,
                           "state " + second.stateSpecs[j].name, one.states[i],
                           other.states[j], report.criteria));
  if (report.outputs.empty())
    return usageError("the models have no outputs to compare");
  if (!sizes.empty())
    report.sizes.push_back({std::move(sizes), report.agrees()});
  return {};
}

Result<void> ModelComparison::giveInputs(
    const SampleSizes &of, const InputsOfSizes &inputs,
    const std::function<void(const std::string &)> &note) {
  if (!first)
    return {};
  Result<std::vector<Tensor>> given = inputs(*first, of);
  if (!given)
    return given.takeError();
  first->inputs = std::move(*given);
  second.inputs.clear();
  return shareInputs(*first, second, note, names);
}

Result<void> ModelComparison::compareOutputsAt(
    const std::vector<SampleSizes> &sizes, const InputsOfSizes &inputs,
    const std::function<void(const std::string &)> &note) {
  // Inputs match in the same way at all sizes.
  const std::function<void(const std::string &)> silent =
      [](const std::string &) {};
  std::vector<std::string> refused;
  for (const SampleSizes &each : sizes) {
    forget();
    if (Result<void> given =
            giveInputs(each, inputs, &each == &sizes[0] ? note : silent);
        !given)
      return given;
    Result<void> done = compareOutputs(each.chosen);
    if (!done && !each.chosen.empty()) {
      Error error = done.takeError();
      error.what += ", at " + each.text();
      done = error;
      if (error.kind == ErrorKind::InvalidModel && &each != &sizes[0]) {
        refused.push_back("both sides refuse these sizes: " + error.message());
        continue;
      }
    }
    if (!done)
      return done;
    if (!report.agrees())
      break;
  }
  if (report.agrees() && sizes.size() > 1) {
    forget();
    if (Result<void> given = giveInputs(sizes[0], inputs, silent); !given)
      return given;
    if (Result<void> done = compareOutputs(); !done)
      return done;
  }
  report.notes.insert(report.notes.end(), refused.begin(), refused.end());
  return {};
}

//===----------------------------------------------------------------------===//
// Tensors on the way
//===----------------------------------------------------------------------===//

static ComparedTensor described(const TensorMatch &match) {
  ComparedTensor tensor;
  tensor.name = match.facts->name;
  tensor.otherName = match.otherFacts->name;
  tensor.op = match.facts->op;
  tensor.by = match.by;
  tensor.type = match.facts->type;
  tensor.otherType = match.otherFacts->type;
  return tensor;
}

Result<void> ModelComparison::compareWeights() {
  if (isSameModel())
    return {};
  for (bool folds : {false, true}) {
    Result<ModelWeights> one = first->session->weights(folds);
    if (!one)
      return one.takeError();
    Result<ModelWeights> other = second.session->weights(folds);
    if (!other)
      return other.takeError();
    if (!folds && !haveSameWeights(*one, *other))
      continue;
    WeightDifferences found = differingWeights(*one, *other);
    report.weights = std::move(found.weights);
    if (!found.scaledLayers.empty())
      report.notes.push_back(
          "the quantised model has other scales of channels in " +
          std::to_string(found.scaledLayers.size()) + " layers, first '" +
          found.scaledLayers.front() +
          "': tensors between such layers are scaled, too");
    break;
  }
  return {};
}

Result<void> ModelComparison::compareTensors() {
  if (!first)
    return {};
  if (Result<void> done = compareWeights(); !done)
    return done;
  Result<RunFacts> one = first->session->runFacts();
  if (!one)
    return one.takeError();
  facts = std::move(*one);
  Result<RunFacts> other = second.session->runFacts();
  if (!other)
    return other.takeError();
  otherFacts = std::move(*other);
  std::set<std::string> outputs;
  for (const TensorSpec &spec : first->outputSpecs)
    outputs.insert(spec.name);
  matches = isSameModel() ? matchNumbers(facts, otherFacts)
                          : matchValues(facts, otherFacts);
  const auto countLeft = [](const RunFacts &of) {
    return static_cast<size_t>(
        std::ranges::count_if(of.values, &ValueFacts::isLeft));
  };
  report.onlyFirst = countLeft(facts) - matches.size();
  report.onlySecond = countLeft(otherFacts) - matches.size();
  if (std::ranges::none_of(matches, [&](const TensorMatch &match) {
        return match.by != MatchedBy::Flow &&
               !outputs.contains(match.facts->name);
      }))
    report.notes.push_back(
        "the models share no names of tensors or nodes: intermediate "
        "tensors are matched by the operations that lead to them");
  for (const TensorMatch &match : matches)
    report.tensors.push_back(described(match));

  size_t chunks = 0;
  for (size_t begin = 0, end = 0; begin < matches.size(); begin = end) {
    uint64_t bytes = 0;
    for (; end < matches.size(); ++end) {
      const ValueFacts &value = *matches[end].facts;
      const size_t times = value.isInside ? mostTimesObserved : 1;
      bytes += times * static_cast<uint64_t>(value.bytes);
      if (bytes > mostBytes && end > begin)
        break;
    }
    if (Result<void> done = compareChunk(begin, end); !done)
      return done;
    ++chunks;
  }
  if (chunks > 1)
    report.notes.push_back("the intermediate tensors take more than " +
                           bytesText(static_cast<double>(mostBytes)) + " (" +
                           names.memory + ") and were compared in " +
                           std::to_string(chunks) + " runs");
  const bool outputsDiffer =
      std::ranges::any_of(report.outputs, &ComparedTensor::differs);
  if (outputsDiffer &&
      std::ranges::none_of(report.tensors, &ComparedTensor::differs))
    return compareAlone();
  return {};
}

/// Runs both and compares the matches from \p begin to \p end.
Result<void> ModelComparison::compareChunk(size_t begin, size_t end) {
  std::vector<int64_t> numbers, others;
  std::unordered_multimap<int64_t, size_t> places;
  for (size_t i = begin; i < end; ++i) {
    numbers.push_back(matches[i].first);
    others.push_back(matches[i].second);
    places.emplace(matches[i].second, i);
  }
  Result<RunValues> one = first->run(states, numbers);
  if (!one)
    return one.takeError();
  const auto compareValue = [&](int64_t number, size_t time,
                                const Tensor &value) {
    const auto [from, to] = places.equal_range(number);
    for (auto place = from; place != to; ++place) {
      const auto seen = one->observed.find(matches[place->second].first);
      if (seen != one->observed.end() && time < seen->second.size())
        compareInto(report.tensors[place->second], seen->second[time], value,
                    report.criteria);
    }
  };
  Result<RunValues> other = second.run(states, others, compareValue);
  return other ? Result<void>() : other.takeError();
}

/// Whether the match \p index differs if nothing else is observed.
Result<bool> ModelComparison::differAlone(size_t index) {
  report.tensors[index] = described(matches[index]);
  if (Result<void> done = compareChunk(index, index + 1); !done)
    return done.takeError();
  return report.tensors[index].differs();
}

/// The first match that differs if only it is observed: later ones usually
/// differ, too.
Result<void> ModelComparison::compareAlone() {
  std::vector<size_t> places;
  for (size_t i = 0; i < matches.size(); ++i)
    if (!matches[i].facts->isInside && report.tensors[i].isCompared)
      places.push_back(i);
  size_t low = 0, high = places.size();
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    Result<bool> differs = differAlone(places[middle]);
    if (!differs)
      return differs.takeError();
    if (*differs)
      high = middle;
    else
      low = middle + 1;
  }
  report.notes.push_back(
      low == places.size()
          ? "no intermediate tensor differs when it is an output, since "
            "outputs "
            "are not fused: the difference arises where operations are fused"
          : "intermediate tensors do not differ when all are outputs, since "
            "outputs are not fused; each was compared alone, by bisection");
  return {};
}

//===----------------------------------------------------------------------===//
// Tensors of other tools
//===----------------------------------------------------------------------===//

/// A name as a file name.
static std::string plainName(const std::string &name) {
  std::set<std::string> used;
  return fileName(name, used);
}

Result<void> ModelComparison::compareWithFile() {
  if (Result<void> ready = second.session->prepare(second.inputs); !ready)
    return ready;
  Result<RunFacts> known = second.session->runFacts();
  if (!known)
    return known.takeError();
  facts = std::move(*known);
  std::set<std::string> wanted;
  for (const auto &[name, tensor] : expected) {
    wanted.insert(name);
    wanted.insert(plainName(name));
  }
  std::vector<int64_t> numbers;
  for (const ValueFacts &value : facts.values)
    if (value.isLeft && (wanted.contains(value.name) ||
                         wanted.contains(plainName(value.name)) ||
                         wanted.contains(value.origin)))
      numbers.push_back(value.number);
  Result<RunValues> outputs = second.run(states);
  if (!outputs)
    return outputs.takeError();
  Result<RunValues> values = second.run(states, numbers);
  if (!values)
    return values.takeError();
  outputs->observed = std::move(values->observed);
  compareNamed(*outputs);
  if (report.outputs.empty() && report.tensors.empty())
    return usageError("none of the " + std::to_string(expected.size()) +
                      " tensors of '" + report.first +
                      "' has the name of a tensor of the model; its outputs "
                      "are " +
                      quotedList(namesOf(second.outputSpecs)));
  return {};
}

/// Outputs by name, others by name or, for a node's name, the last value of the
/// node.
void ModelComparison::compareNamed(const RunValues &got) {
  std::set<std::string> found;
  const auto take = [&](const std::string &name) -> const Tensor * {
    for (const auto &[given, tensor] : expected)
      if (given == name || given == plainName(name)) {
        found.insert(given);
        return &tensor;
      }
    return nullptr;
  };
  std::map<std::string, int64_t> lastOfNode;
  for (const ValueFacts &value : facts.values)
    if (got.observed.contains(value.number))
      lastOfNode[value.origin] = value.number;
  std::set<std::string> outputs;
  for (size_t i = 0; i < second.outputSpecs.size(); ++i) {
    const std::string &name = second.outputSpecs[i].name;
    outputs.insert(name);
    if (const Tensor *tensor = take(name))
      report.outputs.push_back(
          comparedOutput(name, name, *tensor, got.outputs[i], report.criteria));
  }
  for (const ValueFacts &value : facts.values) {
    const auto seen = got.observed.find(value.number);
    if (seen == got.observed.end() || outputs.contains(value.name))
      continue;
    const Tensor *tensor = value.isNamed ? take(value.name) : nullptr;
    if (!tensor && !value.origin.empty() &&
        lastOfNode[value.origin] == value.number)
      tensor = take(value.origin);
    if (!tensor)
      continue;
    ComparedTensor compared =
        comparedOutput(value.isNamed ? value.name : value.origin, value.name,
                       *tensor, seen->second.front(), report.criteria);
    compared.op = value.op;
    compared.by = MatchedBy::Given;
    report.tensors.push_back(std::move(compared));
  }
  std::vector<std::string> left;
  for (const auto &[name, tensor] : expected)
    if (!found.contains(name))
      left.push_back(name);
  report.onlyFirst = left.size();
  constexpr size_t named = 5;
  const size_t count = left.size();
  left.resize(std::min(named, count));
  if (count > 0)
    report.notes.push_back(
        std::to_string(count) +
        " of the given tensors are none of the model's, or "
        "were rewritten away" +
        (second.backend == Backend::Cpu
             ? " (" + names.backend + " interpreter keeps all)"
             : "") +
        ": " + quotedList(left) + (count > named ? ", ..." : ""));
}

//===----------------------------------------------------------------------===//
// Rewrites
//===----------------------------------------------------------------------===//

/// The side whose graph passes rewrite, the second if both are; null if none
/// is.
CompareSide *ModelComparison::rewritten() {
  if (second.backend == Backend::Cpu || second.interpretsRewritten)
    return &second;
  if (first && first->backend == Backend::Cpu)
    return &*first;
  return nullptr;
}

/// Runs the side without rewrites again, and counts the steps of rewriting.
Result<void> ModelComparison::beginSearch() {
  if (!rewrites.passes.empty())
    return {};
  CompareSide *side = first ? rewritten() : nullptr;
  if (!side)
    return usageError("there is no rewriting to search: compare a model with "
                      "itself, with " +
                      names.passes + " or on the backend cpu");
  // If no output differs, the first tensor that does is observed.
  looked.clear();
  if (std::ranges::none_of(report.outputs, &ComparedTensor::differs))
    for (size_t i = 0; i < matches.size() && looked.empty(); ++i)
      if (report.tensors[i].differs())
        looked = {matches[i].first, matches[i].second};
  CompareSide &other = side == &second ? *first : second;
  std::vector<int64_t> numbers;
  if (!looked.empty())
    numbers.push_back(looked[side == &second ? 0 : 1]);
  Result<RunValues> values = other.run(states, numbers);
  if (!values)
    return values.takeError();
  reference = std::move(*values);
  if (Result<void> ready = side->session->prepare(side->inputs); !ready)
    return ready;
  Result<RunFacts> known =
      side->session->runFacts(/*ofDynamic=*/looked.empty());
  if (!known)
    return known.takeError();
  rewrites = std::move(*known);
  return {};
}

/// Whether they differ if rewriting ends after this many steps.
Result<bool> ModelComparison::differAfter(uint64_t steps) {
  CompareSide &side = *rewritten();
  const bool isSecond = &side == &second;
  CompareSide &other = isSecond ? *first : second;
  side.session->limitSteps(steps);
  std::vector<int64_t> numbers;
  if (!looked.empty())
    numbers.push_back(looked[isSecond ? 1 : 0]);
  Result<RunValues> values = side.run(states, numbers);
  side.session->limitSteps(std::numeric_limits<uint64_t>::max());
  if (!values)
    return values.takeError();
  const auto part = [&](const Tensor &one, const Tensor &two) {
    ComparedTensor tensor;
    compareInto(tensor, isSecond ? one : two, isSecond ? two : one,
                report.criteria);
    return tensor.differs();
  };
  std::vector<std::string> notes = std::move(report.notes);
  const auto pairs = matchOutputs(first->outputSpecs, second.outputSpecs);
  report.notes = std::move(notes);
  for (const auto &[i, j] : pairs)
    if (part(reference.outputs[isSecond ? i : j],
             values->outputs[isSecond ? j : i]))
      return true;
  for (size_t i = 0; i < reference.states.size(); ++i)
    for (size_t j = 0; j < values->states.size(); ++j)
      if (other.stateSpecs[i].name == side.stateSpecs[j].name &&
          part(reference.states[i], values->states[j]))
        return true;
  if (looked.empty())
    return false;
  const auto one = reference.observed.find(looked[isSecond ? 0 : 1]),
             two = values->observed.find(numbers[0]);
  return one != reference.observed.end() && two != values->observed.end() &&
         part(one->second.front(), two->second.front());
}

Result<void> ModelComparison::findPass() {
  if (Result<void> begun = beginSearch(); !begun)
    return begun;
  size_t low = 0, high = rewrites.passes.size();
  Result<bool> atOnce = differAfter(0);
  if (!atOnce)
    return atOnce.takeError();
  if (*atOnce) {
    report.notes.push_back("they differ without any rewriting, too");
    return {};
  }
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    Result<bool> differs = differAfter(rewrites.passes[middle].second);
    if (!differs)
      return differs.takeError();
    if (*differs)
      high = middle;
    else
      low = middle + 1;
  }
  if (low < rewrites.passes.size())
    report.pass = rewrites.passes[low].first;
  return {};
}

Result<void> ModelComparison::findStep() {
  if (Result<void> begun = beginSearch(); !begun)
    return begun;
  const uint64_t all =
      rewrites.passes.empty() ? 0 : rewrites.passes.back().second;
  Result<bool> atOnce = differAfter(0);
  if (!atOnce)
    return atOnce.takeError();
  Result<bool> atLast = differAfter(all);
  if (!atLast)
    return atLast.takeError();
  if (*atOnce || !*atLast) {
    report.notes.push_back(
        names.step +
        (*atOnce ? ": they differ without any rewriting, too: no pattern makes "
                   "the difference"
                 : ": run again, they do not differ"));
    return {};
  }
  uint64_t low = 0, high = all;
  while (low + 1 < high) {
    const uint64_t middle = low + (high - low) / 2;
    Result<bool> differs = differAfter(middle);
    if (!differs)
      return differs.takeError();
    (*differs ? high : low) = middle;
  }
  CompareSide &side = *rewritten();
  side.session->limitSteps(high);
  Result<void> ready = side.session->prepare(side.inputs);
  Result<RunFacts> last =
      ready ? side.session->runFacts(/*ofDynamic=*/looked.empty())
            : Result<RunFacts>(ready.takeError());
  side.session->limitSteps(std::numeric_limits<uint64_t>::max());
  if (!last)
    return last.takeError();
  FoundStep step{high, all, "", last->label, last->op, last->location};
  for (const auto &[pass, steps] : rewrites.passes)
    if (steps >= high) {
      step.pass = pass;
      break;
    }
  report.step = step;
  report.pass = step.pass;
  return {};
}

} // namespace sinter
