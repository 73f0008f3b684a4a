#include "passes/VerifyNumerics.h"

#include "graph/Model.h"
#include "graph/Types.h"
#include "interpreter/Interpreter.h"
#include "passes/Groups.h"
#include "runtime/Random.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mlir;

namespace sinter {

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// Pairs of a result and a number.
static SmallVector<int64_t> tracesOf(Operation *op) {
  auto list = op->getAttrOfType<DenseI64ArrayAttr>(traceAttribute);
  return list ? SmallVector<int64_t>(list.asArrayRef())
              : SmallVector<int64_t>();
}

static void setTraces(Operation *op, ArrayRef<int64_t> traces) {
  if (traces.empty())
    op->removeAttr(traceAttribute);
  else
    op->setAttr(traceAttribute,
                DenseI64ArrayAttr::get(op->getContext(), traces));
}

/// Values that are new since the last pass get numbers of their own.
void VerifyNumerics::number() {
  for (Operation &op : entryOf(module).front()) {
    SmallVector<int64_t> traces = tracesOf(&op);
    if (!traces.empty())
      continue;
    for (OpResult result : op.getResults())
      traces.append({result.getResultNumber(), nextNumber++});
    setTraces(&op, traces);
  }
}

void VerifyNumerics::replaced(StringRef label, Value old, Value by) {
  Operation *from = old.getDefiningOp(), *to = by.getDefiningOp();
  if (!from)
    return;
  SmallVector<int64_t> left, moved;
  int64_t oldResult = cast<OpResult>(old).getResultNumber();
  SmallVector<int64_t> traces = tracesOf(from);
  for (size_t i = 0; i + 1 < traces.size(); i += 2)
    if (traces[i] == oldResult) {
      moved.push_back(traces[i + 1]);
      patterns[traces[i + 1]].insert(label.str());
    } else {
      left.append({traces[i], traces[i + 1]});
    }
  setTraces(from, left);
  // An argument is what it was, and values elsewhere run any number of times.
  if (!to || to->getBlock() != &entryOf(module).front())
    return;
  SmallVector<int64_t> all = tracesOf(to);
  for (int64_t id : moved)
    all.append({cast<OpResult>(by).getResultNumber(), id});
  setTraces(to, all);
}

void VerifyNumerics::changed(Operation *op) { setTraces(op, {}); }

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

static Result<std::vector<Tensor>> randomInputs(func::FuncOp function,
                                                int64_t unknownDimension) {
  std::vector<Tensor> inputs;
  for (Type type : function.getArgumentTypes()) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    std::optional<ElementType> element =
        tensor ? elementTypeOf(tensor.getElementType()) : std::nullopt;
    if (!element)
      return unsupported("--verify-numerics cannot make inputs of this type");
    Shape shape;
    for (int64_t size : tensor.getShape())
      shape.push_back(ShapedType::isDynamic(size) ? unknownDimension : size);
    if (!byteCount(*element, shape))
      return invalidModel("an input is too large");
    Tensor input(*element, std::move(shape));
    fillRandom(input, /*seed=*/inputs.size() + 1);
    inputs.push_back(std::move(input));
  }
  return inputs;
}

static std::string outputName(func::FuncOp function, unsigned index) {
  if (auto name =
          function.getResultAttrOfType<StringAttr>(index, nameAttribute))
    return name.str();
  return "result" + std::to_string(index);
}

/// "'conv1' (stablehlo.add)".
static std::string describe(Operation *op) {
  std::string text;
  if (auto name = dyn_cast<NameLoc>(op->getLoc()))
    text = "'" + name.getName().str() + "' ";
  return text + "(" + op->getName().getStringRef().str() + ")";
}

Result<VerifyNumerics::Observation> VerifyNumerics::observe() {
  func::FuncOp function = entryOf(module);
  auto inputs = randomInputs(function, dimension);
  if (!inputs)
    return inputs.takeError();
  Observation seen;
  auto outputs = interpret(
      function, *inputs, [&](Operation *op, ArrayRef<Tensor> results) {
        if (op->getBlock() != &function.front())
          return;
        SmallVector<int64_t> traces = tracesOf(op);
        for (size_t i = 0; i + 1 < traces.size(); i += 2) {
          seen.order.push_back(traces[i + 1]);
          seen.values[traces[i + 1]] = {describe(op), results[traces[i]]};
        }
      });
  if (!outputs)
    return outputs.takeError();
  for (auto [i, tensor] : llvm::enumerate(*outputs))
    seen.outputs.push_back(
        {"output '" + outputName(function, i) + "'", std::move(tensor)});
  return seen;
}

//===----------------------------------------------------------------------===//
// Comparing
//===----------------------------------------------------------------------===//

static bool sameSpecial(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || a == b;
}

/// "" or where the tensors part.
static std::string difference(const Tensor &was, const Tensor &is,
                              double tolerance) {
  if (was.type() != is.type() || was.shape() != is.shape())
    return "was " + toString(was.type(), was.shape()) + " and is " +
           toString(is.type(), is.shape());
  if (was.data() == is.data())
    return "";
  double largest = 0;
  for (int64_t i = 0; i < was.size(); ++i)
    if (std::isfinite(was.toDouble(i)))
      largest = std::max(largest, std::abs(was.toDouble(i)));
  for (int64_t i = 0; i < was.size(); ++i) {
    double a = was.toDouble(i), b = is.toDouble(i);
    if (!sameSpecial(a, b) && !(std::abs(a - b) <= tolerance * largest))
      return llvm::formatv("element {0} was {1}, is {2}", i, a, b).str();
  }
  return "";
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
                                            std::string &labels) {
  for (int64_t id : before.order) {
    auto found = now.values.find(id);
    if (found == now.values.end())
      continue;
    const Seen &was = before.values.at(id);
    std::string parts = difference(was.tensor, found->second.tensor, tolerance);
    labels = patternsOf(id);
    if (!parts.empty())
      return was.name + ": " + parts;
  }
  labels = patternsOf(-1);
  if (before.outputs.size() != now.outputs.size())
    return "the number of outputs";
  for (auto [was, is] : llvm::zip_equal(before.outputs, now.outputs))
    if (auto parts = difference(was.tensor, is.tensor, tolerance);
        !parts.empty())
      return was.name + ": " + parts;
  return "";
}

//===----------------------------------------------------------------------===//
// The check
//===----------------------------------------------------------------------===//

Result<std::unique_ptr<VerifyNumerics>>
VerifyNumerics::begin(ModuleOp module, PatternRun &run, int64_t dimension,
                      double tolerance) {
  if (!entryOf(module))
    return invalidModel("there is no function 'main' to run");
  std::unique_ptr<VerifyNumerics> check(
      new VerifyNumerics(module, run, dimension, tolerance));
  check->number();
  auto seen = check->observe();
  if (!seen)
    return seen.takeError();
  check->before = std::move(*seen);
  check->earlier = run.counts();
  run.watcher = check.get();
  return check;
}

VerifyNumerics::~VerifyNumerics() {
  run.watcher = nullptr;
  module.walk([](Operation *op) { op->removeAttr(traceAttribute); });
}

Result<void> VerifyNumerics::after(StringRef pass) {
  if (!entryOf(module))
    return invalidModel("pass " + pass.str() + " removed 'main'");
  return compare([&](StringRef labels) {
    return "pass " + pass.str() + " (patterns: " + labels.str() + ")";
  });
}

Result<void> VerifyNumerics::afterApplication(StringRef label) {
  return compare([&](StringRef) { return "an application of " + label.str(); });
}

/// Looks at the graph as it is now; \p who tells of the patterns at fault.
Result<void>
VerifyNumerics::compare(llvm::function_ref<std::string(StringRef)> who) {
  number();
  auto now = observe();
  if (!now)
    return now.takeError();
  std::string labels;
  if (std::string parts = firstDifference(*now, labels); !parts.empty())
    return Error{ErrorKind::WrongResult, who(labels) + " changed " + parts};
  before = std::move(*now);
  earlier = run.counts();
  patterns.clear();
  return {};
}

} // namespace sinter
