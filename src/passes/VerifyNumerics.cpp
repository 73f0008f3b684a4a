#include "passes/VerifyNumerics.h"

#include "graph/Model.h"
#include "graph/Quantization.h"
#include "graph/Types.h"
#include "graph/stablehlo/StablehloOps.h"
#include "interpreter/Interpreter.h"
#include "passes/Matching.h"
#include "passes/Observe.h"
#include "passes/WidenFloats.h"
#include "runtime/Comparison.h"
#include "runtime/Random.h"
#include "runtime/TensorText.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace mlir;

namespace sinter {

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

/// A type that has no parts, and what it is called.
struct Leaf {
  std::string name;
  Type type;
};

/// What the parts of tuples, and of futures that were awaited, are at last.
static void addLeaves(const std::string &name, Type type, bool isAwaited,
                      std::vector<Leaf> &leaves) {
  auto tuple = dyn_cast<TupleType>(type);
  auto future = dyn_cast<stablehlo::FutureType>(type);
  if (!tuple && !(future && isAwaited)) {
    leaves.push_back({name, type});
    return;
  }
  for (auto [i, part] :
       llvm::enumerate(tuple ? tuple.getTypes() : future.getTypes()))
    addLeaves(name + "[" + std::to_string(i) + "]", part, isAwaited, leaves);
}

static std::vector<Leaf> argumentsOf(func::FuncOp function) {
  std::vector<Leaf> leaves;
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
    auto name = function.getArgAttrOfType<StringAttr>(i, nameAttribute);
    addLeaves(name ? name.str() : "arg" + std::to_string(i), type,
              /*isAwaited=*/false, leaves);
  }
  return leaves;
}

static std::vector<Leaf> resultsOf(func::FuncOp function) {
  std::vector<Leaf> leaves;
  for (auto [i, type] : llvm::enumerate(function.getResultTypes())) {
    auto name = function.getResultAttrOfType<StringAttr>(i, nameAttribute);
    addLeaves(name ? name.str() : "result" + std::to_string(i), type,
              /*isAwaited=*/true, leaves);
  }
  return leaves;
}

/// One unit of the quantised type of \p value, the greatest of its scales; 0
/// for other types.
static double unitOf(Value value) {
  quant::QuantizedType type = quantizedOf(value.getType());
  auto parameters = type ? roundedParametersOf(type) : std::nullopt;
  // What is told of it is rounded to the expressed type.
  constexpr double roundings = 1 + 0x1p-10;
  return parameters ? roundings * *std::max_element(parameters->scales.begin(),
                                                    parameters->scales.end())
                    : 0;
}

/// Numbers for each argument. Where dimensions are unknown, single integers are
/// taken for the sizes: JAX hands them over so.
static Result<std::vector<Tensor>>
randomInputs(func::FuncOp function, int64_t unknownDimension, uint64_t seed) {
  const std::vector<Leaf> arguments = argumentsOf(function);
  const bool isOpen = llvm::any_of(arguments, [](const Leaf &argument) {
    return isOfUnknownSize(argument.type);
  });
  std::vector<Tensor> inputs;
  for (const auto &[name, type] : arguments) {
    if (isa<stablehlo::TokenType>(type)) {
      inputs.emplace_back(ElementType::I1, Shape{0});
      continue;
    }
    if (isa<stablehlo::FutureType>(type))
      return unsupported("--verify-numerics cannot make '" + name +
                         "': a future is what async_start gives, and cannot "
                         "be given from outside");
    auto tensor = dyn_cast<RankedTensorType>(type);
    std::optional<ElementType> element =
        tensor ? elementTypeOf(tensor.getElementType()) : std::nullopt;
    if (!element)
      return unsupported("--verify-numerics cannot make '" + name + "' of " +
                         llvm::formatv("{0}", type).str());
    Shape shape;
    for (int64_t size : tensor.getShape())
      shape.push_back(ShapedType::isDynamic(size) ? unknownDimension : size);
    if (!byteCount(*element, shape))
      return invalidModel("an input is too large");
    const bool isSize = isOpen && shape.empty() && isInteger(*element) &&
                        *element != ElementType::I1;
    Tensor input = isSize ? tensorOfDoubles(*element, {}, unknownDimension)
                          : Tensor(*element, std::move(shape));
    if (!isSize)
      fillRandom(input, seed + inputs.size());
    inputs.push_back(std::move(input));
  }
  return inputs;
}

/// "'conv1' (stablehlo.add)".
static std::string describe(Operation *op) {
  std::string text;
  if (auto name = dyn_cast<NameLoc>(op->getLoc()))
    text = "'" + name.getName().str() + "' ";
  return text + "(" + op->getName().getStringRef().str() + ")";
}

/// Whether every branch and body of which values are compared was run.
bool VerifyNumerics::hasEnteredAll(const Observation &seen) const {
  llvm::DenseMap<Region *, bool> entered;
  for (auto [value, number] : ValueNumbers::valuesOf(module))
    if (canBeObserved(value))
      entered[value.getParentRegion()] |= seen.values.contains(number);
  return llvm::all_of(entered,
                      [](const auto &region) { return region.second; });
}

Result<void> VerifyNumerics::observeRun(ModuleOp graph, unsigned number,
                                        bool isWide, Observation &seen) {
  // What is computed more often is kept this many times.
  constexpr size_t mostTimes = 8;
  constexpr uint64_t seedsOfRun = 1000;
  auto inputs =
      randomInputs(entryOf(graph), dimension, number * seedsOfRun + 1);
  if (!inputs)
    return inputs.takeError();
  OwningOpRef<ModuleOp> observed(graph.clone());
  if (isWide && !widenFloats(*observed))
    return unsupported("the program looks at the bits of its floats");
  func::FuncOp function = entryOf(*observed);
  const std::vector<NumberedValue> values = ValueNumbers::valuesOf(*observed);
  std::map<int64_t, std::string> names;
  for (auto [value, id] : values)
    names[id] = isa<BlockArgument>(value) ? "an argument"
                                          : describe(value.getDefiningOp());
  sinter::observe(values);
  Environment environment;
  environment.observer = [&](std::string_view probe, const Tensor &tensor) {
    const std::optional<int64_t> id = observedNumber(probe);
    if (!id)
      return;
    auto [value, isNew] = seen.values.try_emplace(*id);
    if (isNew) {
      seen.order.push_back(*id);
      value->second.name = names[*id];
    }
    std::vector<std::vector<Tensor>> &all = value->second.tensors;
    all.resize(std::max<size_t>(all.size(), number + 1));
    if (all[number].size() < mostTimes)
      all[number].push_back(tensor);
  };
  auto outputs = interpret(function, *inputs, /*observer=*/{}, &environment);
  if (!outputs)
    return outputs.takeError();
  for (auto [result, tensor] : llvm::zip(resultsOf(function), *outputs))
    seen.outputs.push_back(
        {"output '" + result.name + "'", {{std::move(tensor)}}});
  return {};
}

Result<VerifyNumerics::Observation> VerifyNumerics::observe() {
  Observation seen;
  for (unsigned i = 0; i < runs; ++i)
    if (Result<void> done = observeRun(i, seen); !done)
      return done.takeError();
  return seen;
}

//===----------------------------------------------------------------------===//
// Comparing
//===----------------------------------------------------------------------===//

std::string VerifyNumerics::Comparison::of(const Tensor &was, const Tensor &is,
                                           const std::string &name) {
  if (was.type() != is.type() || was.shape() != is.shape())
    return "was " + toString(was.type(), was.shape()) + " and is " +
           toString(is.type(), is.shape());
  ++tensors;
  if (was.data() == is.data())
    return "";
  const Difference difference =
      differenceOf(is, was, Expectation::within({0, unit, tolerance}));
  if (difference.wrong > 0) {
    const auto [before, now] = elementTexts(was, is, difference.worst);
    return llvm::formatv("{0} of {1} values, most at {2}: was {3}, is {4}",
                         difference.wrong, was.size(),
                         placeText(was.shape(), difference.worst), before, now)
        .str();
  }
  if (difference.magnitude > 0 && difference.ofRange() > largest) {
    largest = difference.ofRange();
    where = name;
  }
  return "";
}

std::string VerifyNumerics::Comparison::of(const Seen &was, const Seen &is) {
  const size_t runs = std::min(was.tensors.size(), is.tensors.size());
  for (size_t run = 0; run < runs; ++run)
    for (auto [i, pair] :
         llvm::enumerate(llvm::zip(was.tensors[run], is.tensors[run])))
      if (std::string parts =
              of(std::get<0>(pair), std::get<1>(pair), was.name);
          !parts.empty())
        return i == 0 ? parts : "time " + std::to_string(i + 1) + ": " + parts;
  return "";
}

const VerifyNumerics::Observation &VerifyNumerics::exact() {
  if (!exactBefore) {
    exactBefore.emplace();
    for (unsigned i = 0; i < runs; ++i)
      if (!observeRun(*graphBefore, i, /*isWide=*/true, *exactBefore)) {
        *exactBefore = {};
        break;
      }
  }
  return *exactBefore;
}

/// Whether each tensor of \p is is at most twice as far from \p exact as that
/// of \p was.
bool VerifyNumerics::isNoWorse(const Seen &was, const Seen &is,
                               const Seen &exact) {
  constexpr double mostTimes = 2;
  const size_t runs =
      std::min({was.tensors.size(), is.tensors.size(), exact.tensors.size()});
  for (size_t run = 0; run < runs; ++run) {
    const auto &old = was.tensors[run], &now = is.tensors[run],
               &right = exact.tensors[run];
    for (size_t i = 0; i < std::min(old.size(), now.size()); ++i) {
      if (i >= right.size() || old[i].type() != ElementType::F32 ||
          now[i].type() != ElementType::F32 ||
          right[i].type() != ElementType::F64 ||
          old[i].shape() != right[i].shape() ||
          now[i].shape() != right[i].shape())
        return false;
      const Expectation any = Expectation::within({});
      const double before = differenceOf(old[i], right[i], any).largest,
                   after = differenceOf(now[i], right[i], any).largest;
      if (!std::isfinite(before) || !(after <= mostTimes * before))
        return false;
    }
  }
  return runs > 0;
}

/// The patterns by which the value was replaced or, where it was not, all that
/// applied in the pass.
std::string VerifyNumerics::patternsOf(int64_t id) const {
  std::set<std::string> labels;
  if (auto found = patterns.find(id); found != patterns.end())
    labels = found->second;
  else
    for (const auto &[label, count] : run.counts())
      if (auto was = earlier.find(label);
          was == earlier.end() || was->second != count)
        labels.insert(label);
  return labels.empty() ? "none" : llvm::join(labels, ", ");
}

std::string VerifyNumerics::firstDifference(const Observation &now,
                                            std::string &labels,
                                            Comparison &comparison) {
  for (int64_t id : before.order) {
    auto found = now.values.find(id);
    if (found == now.values.end() || following.contains(id))
      continue;
    const Seen &was = before.values.at(id);
    auto unit = requantized.find(id);
    comparison.unit = unit == requantized.end() ? 0 : unit->second;
    std::string parts = comparison.of(was, found->second);
    labels = patternsOf(id);
    if (parts.empty())
      continue;
    const Observation &right = exact();
    auto wide = right.values.find(id);
    if (wide == right.values.end() ||
        !isNoWorse(was, found->second, wide->second))
      return was.name + ": " + parts;
    ++comparison.rounded;
  }
  labels = patternsOf(-1);
  comparison.unit = 0;
  if (before.outputs.size() != now.outputs.size())
    return "the number of outputs";
  for (auto [i, was] : llvm::enumerate(before.outputs)) {
    if (followingOutputs.contains(i))
      continue;
    auto parts = comparison.of(was, now.outputs[i]);
    if (parts.empty())
      continue;
    const Observation &right = exact();
    if (i >= right.outputs.size() ||
        !isNoWorse(was, now.outputs[i], right.outputs[i]))
      return was.name + ": " + parts;
    ++comparison.rounded;
  }
  return "";
}

//===----------------------------------------------------------------------===//
// The check
//===----------------------------------------------------------------------===//

Result<std::unique_ptr<VerifyNumerics>>
VerifyNumerics::begin(ModuleOp module, PatternRun &run, int64_t dimension,
                      double tolerance) {
  if (!entryOf(module))
    return invalidModel("--verify-numerics runs the program, but " +
                        whyNoEntry(module));
  std::unique_ptr<VerifyNumerics> check(
      new VerifyNumerics(module, run, dimension, tolerance));
  check->numbers.whenReplaced =
      [check = check.get()](StringRef label, Value old, ArrayRef<int64_t> ids) {
        const bool isRequantized = (needsOf(label) & requantize) != 0;
        for (int64_t id : ids) {
          check->patterns[id].insert(label.str());
          if (isRequantized)
            check->requantized[id] = unitOf(old);
        }
      };
  check->numbers.whenFollowing = [check = check.get()](ArrayRef<int64_t> ids) {
    check->following.insert(ids.begin(), ids.end());
  };
  check->numbers.whenOutputChanged = [check = check.get()](unsigned number) {
    check->followingOutputs.insert(number);
  };
  check->numbers.number(module);
  constexpr unsigned mostRuns = 8;
  if (auto first = check->observeRun(0, check->before); !first)
    return first.takeError();
  for (; check->runs < mostRuns && !check->hasEnteredAll(check->before);
       ++check->runs) {
    Observation more = check->before;
    // Inputs that the program refuses say nothing.
    if (!check->observeRun(check->runs, more))
      break;
    check->before = std::move(more);
  }
  check->keepGraph();
  check->earlier = run.counts();
  run.watcher = &check->numbers;
  return check;
}

void VerifyNumerics::keepGraph() {
  graphBefore = module.clone();
  exactBefore.reset();
}

VerifyNumerics::~VerifyNumerics() {
  run.watcher = nullptr;
  ValueNumbers::remove(module);
}

Result<void> VerifyNumerics::after(StringRef pass) {
  if (!entryOf(module))
    return invalidModel("pass " + pass.str() +
                        " removed the function that is run");
  return compare([&](StringRef labels) {
    return "pass " + pass.str() + " (patterns: " + labels.str() + ")";
  });
}

Result<void> VerifyNumerics::afterApplication(StringRef label) {
  return compare([&](StringRef) { return "an application of " + label.str(); });
}

/// Notes what is computed of values that may be others than they were.
void VerifyNumerics::findFollowing() {
  if (requantized.empty() && following.empty())
    return;
  llvm::DenseMap<Value, std::vector<int64_t>> numbersOf;
  std::vector<Value> reached;
  llvm::DenseSet<Value> known;
  for (auto [value, id] : ValueNumbers::valuesOf(module)) {
    numbersOf[value].push_back(id);
    if ((requantized.contains(id) || following.contains(id)) &&
        known.insert(value).second)
      reached.push_back(value);
  }
  auto reach = [&](Value value) {
    for (int64_t id : numbersOf.lookup(value))
      following.insert(id);
    if (known.insert(value).second)
      reached.push_back(value);
  };
  for (size_t i = 0; i < reached.size(); ++i)
    for (OpOperand &use : reached[i].getUses()) {
      Operation *user = use.getOwner();
      if (isa<func::ReturnOp>(user)) {
        followingOutputs.insert(use.getOperandNumber());
        continue;
      }
      // A branch or loop gives what is computed in it, and hands on what it is
      // given.
      for (Operation *op = user; op && !isa<func::FuncOp>(op);
           op = op->getParentOp()) {
        llvm::for_each(op->getResults(), reach);
        for (Region &region : op->getRegions())
          llvm::for_each(region.getArguments(), reach);
      }
    }
}

/// Looks at the graph as it is now; \p who tells of the patterns at fault.
Result<void>
VerifyNumerics::compare(llvm::function_ref<std::string(StringRef)> who) {
  numbers.number(module);
  auto now = observe();
  if (!now)
    return now.takeError();
  findFollowing();
  std::string labels;
  Comparison comparison{tolerance};
  if (std::string parts = firstDifference(*now, labels, comparison);
      !parts.empty())
    return Error{ErrorKind::WrongResult, who(labels) + " changed " + parts};
  ++found.comparisons;
  found.tensors += comparison.tensors;
  found.rounded += comparison.rounded;
  if (comparison.largest > found.largestDifference) {
    found.largestDifference = comparison.largest;
    found.where = comparison.where + ", " + who(patternsOf(-1));
  }
  before = std::move(*now);
  keepGraph();
  earlier = run.counts();
  patterns.clear();
  requantized.clear();
  following.clear();
  followingOutputs.clear();
  return {};
}

} // namespace sinter
