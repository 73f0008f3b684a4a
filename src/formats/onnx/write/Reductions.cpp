// Reductions over dimensions and windows.

#include "formats/onnx/write/WriterRules.h"
#include "graph/Constants.h"
#include "graph/stablehlo/Combination.h"
#include "graph/stablehlo/Comparators.h"

using namespace mlir;

namespace sinter::onnx {

using stablehlo::Combination;

namespace {
/// ONNX's names of a reduction and of the binary operation.
struct Combining {
  StringRef reduce, binary;
};
} // namespace

static Combining namesOf(Combination combination) {
  switch (combination) {
  case Combination::Sum:
    return {"ReduceSum", "Add"};
  case Combination::Product:
    return {"ReduceProd", "Mul"};
  case Combination::Max:
  case Combination::Any:
    return {"ReduceMax", "Max"};
  case Combination::Min:
  case Combination::All:
    return {"ReduceMin", "Min"};
  }
  llvm_unreachable("a combination without a name");
}

/// The type in which ONNX reduces integers: i32 for i1 and narrow ones, except
/// i8 and ui8 under max and min.
static Type computeType(Type element, StringRef binary) {
  auto integer = dyn_cast<IntegerType>(element);
  bool isMinOrMax = binary == "Max" || binary == "Min";
  if (!integer || integer.getWidth() >= 32 ||
      (integer.getWidth() == 8 && isMinOrMax))
    return element;
  return IntegerType::get(element.getContext(), 32);
}

/// A reduction of elements and their indices: ArgMax, ArgMin.
static LogicalResult writeSearch(NodeWriter &e, stablehlo::ReduceOp op) {
  auto search = stablehlo::argReductionOf(op);
  if (!search)
    return e.unsupported("of several tensors");
  Name x = e.operand(op.getInputs()[0]);
  Name index = e.make(search->isGreatest ? "ArgMax" : "ArgMin", {x},
                      {{"axis", search->dimension},
                       {"keepdims", 0},
                       {"select_last_index", search->selectsLast}});
  Type i64 = IntegerType::get(op.getContext(), 64);
  if (failed(e.alias(e.cast(index, i64, elementOf(op.getResult(1))), 1)))
    return failure();
  if (op.getResult(0).use_empty())
    return success();
  return e.alias(e.reduce(search->isGreatest ? "ReduceMax" : "ReduceMin", x,
                          op.getDimensions(), /*keep=*/false),
                 0);
}

static LogicalResult writeReduce(NodeWriter &e, stablehlo::ReduceOp op) {
  if (op.getInputs().size() != 1)
    return writeSearch(e, op);
  Value input = op.getInputs()[0], initial = op.getInitValues()[0];
  Type element = elementOf(input);
  auto combination = stablehlo::combinationOf(op.getBody(), element);
  if (!combination)
    return e.unsupported("by more than one operation");
  const Combining names = namesOf(*combination);
  Type compute = computeType(element, names.binary);
  Name x = e.cast(e.operand(input), element, compute);
  Name reduced = e.reduce(names.reduce, x, op.getDimensions(), /*keep=*/false);
  if (!stablehlo::isNeutral(initial, *combination)) {
    Name start = e.cast(e.operand(initial), element, compute);
    reduced = e.make(names.binary, {reduced, start});
  }
  return e.alias(e.cast(reduced, compute, element));
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

/// Maximum window size in one dimension.
static constexpr int64_t mostSlices = 4096;

/// The attributes of MaxPool, if the windows slide over all dimensions but the
/// first two.
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

/// Combines, one dimension after the other, the slices at each window offset.
static Name combineWindow(NodeWriter &e, Name x,
                          ArrayRef<stablehlo::WindowDimension> window,
                          ArrayRef<int64_t> shape, StringRef binary) {
  for (auto [i, each] : llvm::enumerate(window)) {
    int64_t axis = i;
    int64_t positions = shape[i], step = each.stride;
    if (each.size == 1 && step == 1)
      continue;
    Names pieces;
    for (int64_t k = 0; k < each.size; ++k) {
      int64_t start = k * each.windowDilation;
      pieces.push_back(e.slice(x, {axis}, {start},
                               {start + (positions - 1) * step + 1}, {step}));
    }
    x = pieces.front();
    for (const Name &part : ArrayRef<Name>(pieces).drop_front())
      x = e.make(binary, {x, part});
  }
  return x;
}

/// A reduce_window with dynamic dimensions as a pool of the same reduction,
/// with the dimensions that it slides over last; nothing if there is none.
static std::optional<Name>
dynamicPool(NodeWriter &e, const Name &x, stablehlo::ReduceWindowOp op,
            ArrayRef<stablehlo::WindowDimension> window, StringRef binary) {
  Ints order = identity(window.size());
  auto slides = [&](int64_t i) {
    return window[i].size != 1 || window[i].stride != 1 ||
           window[i].paddingLow != 0 || window[i].paddingHigh != 0;
  };
  llvm::stable_sort(
      order, [&](int64_t a, int64_t b) { return !slides(a) && slides(b); });
  const int64_t still =
      llvm::count_if(order, [&](int64_t i) { return !slides(i); });
  if (still == static_cast<int64_t>(order.size()))
    return std::nullopt;
  // Pools require two leading non-spatial dimensions.
  const Ints added = identity(std::max<int64_t>(0, 2 - still));
  double count = 1;
  bool isDilated = false;
  SmallVector<stablehlo::WindowDimension> moved(added.size());
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
  if (!added.empty())
    result = e.unsqueeze(result, added);
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
  if (!added.empty())
    result = e.squeeze(result, added);
  return e.transpose(result, inverse(order));
}

static LogicalResult writeReduceWindow(NodeWriter &e,
                                       stablehlo::ReduceWindowOp op) {
  if (op.getInputs().size() != 1)
    return e.unsupported("of several tensors");
  Value input = op.getInputs()[0], initial = op.getInitValues()[0];
  auto type = tensorOf(op.getResult(0));
  Type element = elementOf(input);
  auto combination = stablehlo::combinationOf(op.getBody(), element);
  if (!combination)
    return e.unsupported("by more than one operation");
  const StringRef binary = namesOf(*combination).binary;
  auto window = op.getWindow();
  bool neutral = stablehlo::isNeutral(initial, *combination);
  auto pool = poolAttributes(window);
  if (neutral && pool && binary == "Max" && isa<FloatType>(element))
    return e.result("MaxPool", {e.operand(input)}, *pool);

  Ints low, high, interior;
  for (const auto &each : window) {
    if (each.size > mostSlices)
      return e.unsupported("of large windows");
    low.push_back(each.paddingLow);
    high.push_back(each.paddingHigh);
    interior.push_back(each.baseDilation - 1);
  }
  if (!type.hasStaticShape()) {
    std::optional<Name> pooled;
    if (neutral && isa<FloatType>(element)) {
      Name x = e.operand(input);
      // Pools require padding smaller than the window.
      if (llvm::any_of(window, [](const stablehlo::WindowDimension &each) {
            return each.paddingLow >= each.size ||
                   each.paddingHigh >= each.size;
          })) {
        x = e.pad(x, e.operand(initial), low, high);
        for (stablehlo::WindowDimension &each : window)
          each.paddingLow = each.paddingHigh = 0;
      }
      pooled = dynamicPool(e, x, op, window, binary);
    }
    return pooled ? e.alias(*pooled) : e.unsupported("with unknown dimensions");
  }
  Type compute = computeType(element, binary);
  Name x = e.cast(e.operand(input), element, compute);
  Name filler = e.cast(e.operand(initial), element, compute);
  x = e.dilate(x, filler, tensorOf(input).getShape(), interior);
  x = e.pad(x, filler, low, high);
  x = combineWindow(e, x, window, type.getShape(), binary);
  if (!neutral)
    x = e.make(binary, {x, filler});
  return e.alias(e.cast(x, compute, element));
}

WriterRules reductionRules() {
  static const WriterRule rules[] = {writerRule<writeReduce>(),
                                     writerRule<writeReduceWindow>()};
  return rules;
}

} // namespace sinter::onnx
