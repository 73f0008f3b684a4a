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
#include "runtime/OptionNames.h"
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

/// A type without elements, and its name.
struct Leaf {
  std::string name;
  Type type;
};

/// Appends the leaves of nested tuples, and of futures that were awaited.
static void addLeaves(const std::string &name, Type type, bool isAwaited,
                      std::vector<Leaf> &leaves) {
  auto tuple = dyn_cast<TupleType>(type);
  auto future = dyn_cast<stablehlo::FutureType>(type);
  if (!tuple && !(future && isAwaited)) {
    leaves.push_back({name, type});
    return;
  }
  for (auto [i, element] :
       llvm::enumerate(tuple ? tuple.getTypes() : future.getTypes()))
    addLeaves(name + "[" + std::to_string(i) + "]", element, isAwaited, leaves);
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
  // The observed values are rounded to the expressed type.
  constexpr double roundings = 1 + 0x1p-10;
  return parameters ? roundings * *std::max_element(parameters->scales.begin(),
                                                    parameters->scales.end())
                    : 0;
}

/// Whether an argument of \p type may be a dimension's size.
static bool isSize(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() == 0 &&
         tensor.getElementType().isInteger() &&
         !tensor.getElementType().isInteger(1);
}

/// The shape of the argument \p name of \p type in run \p number.
static Shape shapeIn(const VerifyNumerics::Sizes &sizes, unsigned number,
                     const std::string &name, RankedTensorType type) {
  Shape shape(type.getShape());
  if (type.hasStaticShape())
    return shape;
  Shape given;
  if (!sizes.shapes.empty()) {
    const auto &those = sizes.shapes[number % sizes.shapes.size()];
    if (auto found = those.find(name);
        found != those.end() && found->second.size() == shape.size())
      given = found->second;
  }
  for (auto [i, size] : llvm::enumerate(shape))
    if (ShapedType::isDynamic(size))
      size = given.empty() ? sizes.dimension : given[i];
  return shape;
}

/// A tensor for each argument in run \p number. Where dimensions are dynamic,
/// scalar integers are taken for their sizes: JAX passes them so.
static Result<std::vector<Tensor>>
randomInputs(func::FuncOp function, const VerifyNumerics::Sizes &sizes,
             unsigned number) {
  constexpr uint64_t seedsOfRun = 1000;
  const uint64_t seed = number * seedsOfRun + 1;
  const std::vector<Leaf> arguments = argumentsOf(function);
  const bool isDynamic = llvm::any_of(arguments, [](const Leaf &argument) {
    return isOfUnknownSize(argument.type);
  });
  const bool hasSizes =
      isDynamic && llvm::any_of(arguments, [](const Leaf &leaf) {
        return isSize(leaf.type);
      });
  std::vector<Tensor> inputs;
  for (const auto &[name, type] : arguments) {
    if (isa<stablehlo::TokenType>(type)) {
      inputs.emplace_back(ElementType::I1, Shape{0});
      continue;
    }
    if (isa<stablehlo::FutureType>(type))
      return unsupported(optionText("verify-numerics") + " cannot make '" +
                         name +
                         "': a future is what async_start gives, and cannot "
                         "be given from outside");
    auto tensor = dyn_cast<RankedTensorType>(type);
    std::optional<ElementType> element =
        tensor ? elementTypeOf(tensor.getElementType()) : std::nullopt;
    if (!element)
      return unsupported(optionText("verify-numerics") + " cannot make '" +
                         name + "' of " + llvm::formatv("{0}", type).str());
    Shape shape =
        shapeIn(hasSizes ? VerifyNumerics::Sizes{sizes.dimension, {}} : sizes,
                number, name, tensor);
    if (!byteCount(*element, shape))
      return invalidModel("an input is too large");
    const bool givesSize = hasSizes && isSize(type);
    Tensor input = givesSize ? tensorOfDoubles(*element, {}, sizes.dimension)
                             : Tensor(*element, std::move(shape));
    if (!givesSize)
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

/// Whether every branch and body with values to compare was run.
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
  // Of values that are computed more often, this many are kept.
  constexpr size_t mostTimes = 8;
  auto inputs = randomInputs(entryOf(graph), sizes, number);
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
                         indexText(was.shape(), difference.worst), before, now)
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
      if (std::string mismatch =
              of(std::get<0>(pair), std::get<1>(pair), was.name);
          !mismatch.empty())
        return i == 0 ? mismatch
                      : "time " + std::to_string(i + 1) + ": " + mismatch;
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
    std::string mismatch = comparison.of(was, found->second);
    labels = patternsOf(id);
    if (mismatch.empty())
      continue;
    const Observation &right = exact();
    auto wide = right.values.find(id);
    if (wide == right.values.end() ||
        !isNoWorse(was, found->second, wide->second))
      return was.name + ": " + mismatch;
    ++comparison.rounded;
  }
  labels = patternsOf(-1);
  comparison.unit = 0;
  if (before.outputs.size() != now.outputs.size())
    return "the number of outputs";
  for (auto [i, was] : llvm::enumerate(before.outputs)) {
    // There is one of each output for each run.
    if (followingOutputs.contains(i % (before.outputs.size() / runs)))
      continue;
    auto mismatch = comparison.of(was, now.outputs[i]);
    if (mismatch.empty())
      continue;
    const Observation &right = exact();
    if (i >= right.outputs.size() ||
        !isNoWorse(was, now.outputs[i], right.outputs[i]))
      return was.name + ": " + mismatch;
    ++comparison.rounded;
  }
  return "";
}

//===----------------------------------------------------------------------===//
// The check
//===----------------------------------------------------------------------===//

Result<std::unique_ptr<VerifyNumerics>>
VerifyNumerics::begin(ModuleOp module, PatternRun &run, Sizes sizes,
                      double tolerance) {
  if (!entryOf(module))
    return invalidModel(optionText("verify-numerics") +
                        " runs the program, but " + whyNoEntry(module));
  std::unique_ptr<VerifyNumerics> check(
      new VerifyNumerics(module, run, std::move(sizes), tolerance));
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
  auto &shapes = check->sizes.shapes;
  Result<void> first = check->observeRun(0, check->before);
  for (; !first && shapes.size() > 1;
       first = check->observeRun(0, check->before)) {
    shapes.erase(shapes.begin());
    check->before = {};
  }
  if (!first)
    return first.takeError();
  while (check->runs < mostRuns && (check->runs < shapes.size() ||
                                    !check->hasEnteredAll(check->before))) {
    Observation more = check->before;
    if (check->observeRun(check->runs, more)) {
      check->before = std::move(more);
      ++check->runs;
      continue;
    }
    // Inputs that the program rejects verify nothing.
    if (check->runs >= shapes.size())
      break;
    shapes.erase(shapes.begin() + check->runs);
  }
  check->found.shapes = shapes;
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

/// Finds the values that are computed from values that may have changed.
void VerifyNumerics::findFollowing() {
  if (requantized.empty() && following.empty())
    return;
  llvm::DenseMap<Value, std::vector<int64_t>> idsOf;
  std::vector<Value> reached;
  llvm::DenseSet<Value> known;
  for (auto [value, id] : ValueNumbers::valuesOf(module)) {
    idsOf[value].push_back(id);
    if ((requantized.contains(id) || following.contains(id)) &&
        known.insert(value).second)
      reached.push_back(value);
  }
  auto reach = [&](Value value) {
    for (int64_t id : idsOf.lookup(value))
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
      // Results and region arguments of a branch or loop may depend on any
      // value that it uses.
      for (Operation *op = user; op && !isa<func::FuncOp>(op);
           op = op->getParentOp()) {
        llvm::for_each(op->getResults(), reach);
        for (Region &region : op->getRegions())
          llvm::for_each(region.getArguments(), reach);
      }
    }
}

/// Compares the current graph with the one before; \p who returns a text about
/// the patterns at fault.
Result<void>
VerifyNumerics::compare(llvm::function_ref<std::string(StringRef)> who) {
  numbers.number(module);
  auto now = observe();
  if (!now)
    return now.takeError();
  findFollowing();
  std::string labels;
  Comparison comparison{tolerance};
  if (std::string mismatch = firstDifference(*now, labels, comparison);
      !mismatch.empty())
    return Error{ErrorKind::WrongResult, who(labels) + " changed " + mismatch};
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
