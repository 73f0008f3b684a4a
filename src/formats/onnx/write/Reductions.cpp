// Reductions over dimensions and windows.

#include "formats/onnx/write/WriterRules.h"
#include "graph/Constants.h"
#include "graph/stablehlo/StablehloOps.h"

using namespace mlir;

namespace sinter::onnx {

namespace {
/// How ONNX combines elements as a region's only op does.
struct Combination {
  StringRef op, reduce, binary;
  /// The value that changes nothing.
  enum { Zero, One, Least, Greatest } neutral;
};
} // namespace

static const Combination combinations[] = {
    {"stablehlo.add", "ReduceSum", "Add", Combination::Zero},
    {"stablehlo.multiply", "ReduceProd", "Mul", Combination::One},
    {"stablehlo.maximum", "ReduceMax", "Max", Combination::Least},
    {"stablehlo.minimum", "ReduceMin", "Min", Combination::Greatest},
    {"stablehlo.or", "ReduceMax", "Max", Combination::Zero},
    {"stablehlo.and", "ReduceMin", "Min", Combination::One},
};

static const Combination *combinationOf(Region &body, Type element) {
  auto name = stablehlo::soleOperation(body);
  if (!name)
    return nullptr;
  StringRef op = *name;
  bool isBool = element.isInteger(1);
  if (isBool)
    op = llvm::StringSwitch<StringRef>(op)
             .Cases("stablehlo.add", "stablehlo.maximum", "stablehlo.or")
             .Cases("stablehlo.multiply", "stablehlo.minimum", "stablehlo.and")
             .Default(op);
  bool isLogical = op == "stablehlo.or" || op == "stablehlo.and";
  if (isBool != isLogical || isa<ComplexType>(element))
    return nullptr;
  for (const Combination &each : combinations)
    if (each.op == op)
      return &each;
  return nullptr;
}

/// Whether a constant changes nothing when it is combined.
static bool isNeutral(Value value, const Combination &combination) {
  auto tensor = constantTensor(value);
  if (!tensor || tensor->size() != 1)
    return false;
  double number = tensor->toDouble(0);
  if (combination.neutral == Combination::Zero)
    return number == 0;
  if (combination.neutral == Combination::One)
    return number == 1;
  bool isLeast = combination.neutral == Combination::Least;
  if (isFloat(tensor->type()))
    return std::isinf(number) && (number < 0) == isLeast;
  auto type = cast<IntegerType>(elementOf(value));
  unsigned width = type.getWidth();
  llvm::APInt bound = type.isUnsigned()
                          ? (isLeast ? llvm::APInt::getMinValue(width)
                                     : llvm::APInt::getMaxValue(width))
                          : (isLeast ? llvm::APInt::getSignedMinValue(width)
                                     : llvm::APInt::getSignedMaxValue(width));
  return cast<stablehlo::ConstantOp>(value.getDefiningOp())
             .getValue()
             .getSplatValue<llvm::APInt>() == bound;
}

/// Integers that ONNX reduces: i1 and narrow ones go through i32, but i8 and
/// ui8 under max and min.
static Type computeType(Type element, const Combination &combination) {
  auto integer = dyn_cast<IntegerType>(element);
  bool isExtreme = combination.binary == "Max" || combination.binary == "Min";
  if (!integer || integer.getWidth() >= 32 ||
      (integer.getWidth() == 8 && isExtreme))
    return element;
  return IntegerType::get(element.getContext(), 32);
}

static LogicalResult writeReduce(NodeWriter &e, stablehlo::ReduceOp op) {
  if (op.getInputs().size() != 1)
    return e.unsupported("of several tensors");
  Value input = op.getInputs()[0], initial = op.getInitValues()[0];
  Type element = elementOf(input);
  const Combination *combination = combinationOf(op.getBody(), element);
  if (!combination)
    return e.unsupported("by more than one operation");
  Type compute = computeType(element, *combination);
  Name x = e.cast(e.operand(input), element, compute);
  Name reduced =
      e.reduce(combination->reduce, x, op.getDimensions(), /*keep=*/false);
  if (!isNeutral(initial, *combination)) {
    Name start = e.cast(e.operand(initial), element, compute);
    reduced = e.make(combination->binary, {reduced, start});
  }
  return e.alias(e.cast(reduced, compute, element));
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

/// A window of more elements in one dimension is not worth a graph.
static constexpr int64_t mostParts = 4096;

/// MaxPool, where the windows slide over all dimensions but the first two.
static std::optional<NodeAttributes>
poolAttributes(ArrayRef<stablehlo::WindowDimension> window) {
  Ints kernel, strides, dilations, low, high;
  for (auto [i, each] : llvm::enumerate(window)) {
    bool isTrivial = each.size == 1 && each.stride == 1 &&
                     each.paddingLow == 0 && each.paddingHigh == 0;
    if (each.baseDilation != 1 || (i < 2 && !isTrivial) ||
        each.paddingLow < 0 || each.paddingHigh < 0 ||
        each.paddingLow >= each.size || each.paddingHigh >= each.size)
      return std::nullopt;
    if (i < 2)
      continue;
    kernel.push_back(each.size);
    strides.push_back(each.stride);
    dilations.push_back(each.windowDilation);
    low.push_back(each.paddingLow);
    high.push_back(each.paddingHigh);
  }
  if (kernel.empty())
    return std::nullopt;
  low.append(high);
  return NodeAttributes{{"kernel_shape", kernel},
                        {"strides", strides},
                        {"dilations", dilations},
                        {"pads", low}};
}

/// One dimension after the other: the parts at each place of the window.
static Name combineWindow(NodeWriter &e, Name x,
                          ArrayRef<stablehlo::WindowDimension> window,
                          ArrayRef<int64_t> shape, StringRef binary) {
  for (auto [i, each] : llvm::enumerate(window)) {
    int64_t axis = i;
    int64_t places = shape[i], step = each.stride;
    if (each.size == 1 && step == 1)
      continue;
    Names parts;
    for (int64_t k = 0; k < each.size; ++k) {
      int64_t start = k * each.windowDilation;
      parts.push_back(e.slice(x, {axis}, {start},
                              {start + (places - 1) * step + 1}, {step}));
    }
    x = parts.front();
    for (const Name &part : ArrayRef<Name>(parts).drop_front())
      x = e.make(binary, {x, part});
  }
  return x;
}

/// A window of unknown sizes as one of the pools that combine as it does, with
/// the dimensions that it slides over last; nothing where there is none.
static std::optional<Name> openPool(NodeWriter &e, const Name &x,
                                    stablehlo::ReduceWindowOp op,
                                    StringRef binary) {
  auto window = op.getWindow();
  Ints order = identity(window.size());
  auto slides = [&](int64_t i) {
    return window[i].size != 1 || window[i].stride != 1 ||
           window[i].paddingLow != 0 || window[i].paddingHigh != 0;
  };
  llvm::stable_sort(
      order, [&](int64_t a, int64_t b) { return !slides(a) && slides(b); });
  // MaxPool wants two dimensions that it leaves alone.
  int64_t still = 0;
  while (still < static_cast<int64_t>(order.size()) && !slides(order[still]))
    ++still;
  if (still < 2 || still == static_cast<int64_t>(order.size()))
    return std::nullopt;
  double count = 1;
  bool isDilated = false;
  SmallVector<stablehlo::WindowDimension> moved;
  for (int64_t from : order) {
    moved.push_back(window[from]);
    count *= static_cast<double>(window[from].size);
    isDilated |= window[from].windowDilation != 1;
  }
  auto attributes = poolAttributes(moved);
  if (!attributes)
    return std::nullopt;
  Type element = elementOf(op.getResult(0));
  if (element.isBF16())
    e.need(22);
  Name result = e.transpose(x, order);
  if (binary == "Max") {
    result = e.make("MaxPool", {result}, *attributes);
  } else if (binary == "Min") {
    result = e.make("MaxPool", {e.make("Neg", {result})}, *attributes);
    result = e.make("Neg", {result});
  } else if (binary == "Add") {
    if (isDilated)
      e.need(19);
    else
      llvm::erase_if(*attributes, [](const NodeAttribute &each) {
        return StringRef(each.name) == "dilations";
      });
    attributes->push_back({"count_include_pad", 1});
    result = e.make("AveragePool", {result}, *attributes);
    result = e.make("Mul", {result, e.scalar(element, count)});
  } else {
    return std::nullopt;
  }
  return e.transpose(result, inverse(order));
}

static LogicalResult writeReduceWindow(NodeWriter &e,
                                       stablehlo::ReduceWindowOp op) {
  if (op.getInputs().size() != 1)
    return e.unsupported("of several tensors");
  Value input = op.getInputs()[0], initial = op.getInitValues()[0];
  auto type = tensorOf(op.getResult(0));
  Type element = elementOf(input);
  const Combination *combination = combinationOf(op.getBody(), element);
  if (!combination)
    return e.unsupported("by more than one operation");
  auto window = op.getWindow();
  bool neutral = isNeutral(initial, *combination);
  auto pool = poolAttributes(window);
  if (neutral && pool && combination->binary == "Max" &&
      isa<FloatType>(element))
    return e.result("MaxPool", {e.operand(input)}, *pool);

  Ints low, high, interior;
  for (const auto &each : window) {
    if (each.size > mostParts)
      return e.unsupported("of large windows");
    low.push_back(each.paddingLow);
    high.push_back(each.paddingHigh);
    interior.push_back(each.baseDilation - 1);
  }
  if (!type.hasStaticShape()) {
    std::optional<Name> pooled;
    if (neutral && isa<FloatType>(element))
      pooled = openPool(e, e.operand(input), op, combination->binary);
    return pooled ? e.alias(*pooled) : e.unsupported("with unknown dimensions");
  }
  Type compute = computeType(element, *combination);
  Name x = e.cast(e.operand(input), element, compute);
  Name filler = e.cast(e.operand(initial), element, compute);
  x = e.dilate(x, filler, tensorOf(input).getShape(), interior);
  x = e.pad(x, filler, low, high);
  x = combineWindow(e, x, window, type.getShape(), combination->binary);
  if (!neutral)
    x = e.make(combination->binary, {x, filler});
  return e.alias(e.cast(x, compute, element));
}

WriterRules reductionRules() {
  static const WriterRule rules[] = {writerRule<writeReduce>(),
                                     writerRule<writeReduceWindow>()};
  return rules;
}

} // namespace sinter::onnx
