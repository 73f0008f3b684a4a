// Values that need no input: constants, ranges, and what passes a value on.

#include "graph/Constants.h"
#include "formats/import/Building.h"
#include "formats/onnx/Operators.h"
#include "formats/onnx/ops/Inputs.h"

using namespace mlir;

namespace sinter::onnx {

/// A constant under the name of the node's output.
static LogicalResult give(NodeContext &node, const Tensor &tensor) {
  StringRef name = node.wants(0) ? StringRef(node.proto.output(0)) : "";
  return node.result(node.importer.makeInitializer(tensor, name));
}

template <typename T, typename List>
static Tensor tensorOf(ElementType type, const List &list, bool isScalar) {
  std::vector<T> values(list.begin(), list.end());
  Shape shape;
  if (!isScalar)
    shape.push_back(values.size());
  return Tensor::of<T>(type, shape, values);
}

/// Exactly one of the attributes that say what the constant is.
static LogicalResult importConstant(NodeContext &node) {
  if (node.hasAttribute("value") || node.hasAttribute("sparse_value")) {
    auto tensor =
        node.getTensor(node.hasAttribute("value") ? "value" : "sparse_value");
    return tensor ? give(node, *tensor) : failure();
  }
  if (node.hasAttribute("value_float"))
    return give(node, tensorOf<float>(ElementType::F32,
                                      ArrayRef(node.getFloat("value_float", 0)),
                                      true));
  if (node.hasAttribute("value_floats"))
    return give(node, tensorOf<float>(ElementType::F32,
                                      node.getFloats("value_floats"), false));
  if (node.hasAttribute("value_int"))
    return give(node,
                tensorOf<int64_t>(ElementType::I64,
                                  ArrayRef(node.getInt("value_int", 0)), true));
  if (node.hasAttribute("value_ints"))
    return give(node, tensorOf<int64_t>(ElementType::I64,
                                        node.getInts("value_ints"), false));
  if (node.hasAttribute("value_string") || node.hasAttribute("value_strings"))
    return node.unsupported("tensors of strings are not supported");
  return node.fail("has no attribute that gives the value");
}

/// A tensor of a shape that an input gives, all of one value.
static LogicalResult importConstantOfShape(NodeContext &node) {
  Type element = node.f32();
  Value filler;
  if (auto value = node.getTensor("value")) {
    if (value->size() != 1)
      return node.fail("attribute 'value' has not one element");
    filler = node.constant(value->reshaped({}));
    element = node.element(filler);
  } else {
    filler = node.scalar(element, 0);
  }
  Value shape = node.operand(0);
  if (!listLength(node, shape, "input"))
    return failure();
  Ints sizes(node.shape(shape)[0], ShapedType::kDynamic);
  if (auto known = node.knownElements(shape))
    for (auto [size, element] : llvm::zip_equal(sizes, *known)) {
      if (!element.isInteger())
        continue;
      if (element.value < 0)
        return node.fail("a size is negative");
      size = element.value;
    }
  auto type = node.tensorType(sizes, element);
  if (type.hasStaticShape())
    return node.result(node.typed<stablehlo::BroadcastInDimOp>(
        type, filler, ArrayRef<int64_t>()));
  return node.result(node.typed<stablehlo::DynamicBroadcastInDimOp>(
      type, filler, shape, node.builder().getDenseI64ArrayAttr({}),
      DenseI64ArrayAttr(), DenseI64ArrayAttr()));
}

/// How many elements a range of known bounds has; fails for too many.
static std::optional<int64_t> knownLength(NodeContext &node,
                                          const Tensor &start,
                                          const Tensor &limit,
                                          const Tensor &delta) {
  double count;
  if (isInteger(delta.type())) {
    int64_t step = delta.toInteger(0), from = start.toInteger(0),
            to = limit.toInteger(0);
    if (step == 0)
      return node.fail("the step is zero");
    __int128 distance = static_cast<__int128>(to) - from;
    __int128 whole = (distance + step + (step > 0 ? -1 : 1)) / step;
    count = static_cast<double>(whole);
  } else {
    count =
        std::ceil((limit.toDouble(0) - start.toDouble(0)) / delta.toDouble(0));
  }
  if (!(count < 1e9))
    return node.fail("has too many elements");
  return static_cast<int64_t>(std::max(count, 0.0));
}

/// How many elements a range has, max(ceil((limit - start) / delta), 0), as
/// tensor<1xi64>.
static Value openLength(NodeContext &node, Value start, Value limit,
                        Value delta) {
  Value distance = node.op<stablehlo::SubtractOp>(limit, start);
  Value count = distance;
  if (node.isFloat(start)) {
    count =
        node.op<stablehlo::CeilOp>(node.op<stablehlo::DivOp>(distance, delta));
  } else if (node.knownIntegers(delta) != Ints{1}) {
    // Division cuts towards zero, so what rounds up is added first.
    Value more = node.op<stablehlo::SubtractOp>(
        delta, node.op<stablehlo::SignOp>(delta));
    count = node.op<stablehlo::DivOp>(node.op<stablehlo::AddOp>(distance, more),
                                      delta);
  }
  count = node.cast(count, node.i64());
  auto known = node.knownElements(count);
  bool isSize = known && known->front().kind == Element::Symbol;
  if (!isSize)
    count = node.op<stablehlo::MaxOp>(count, node.scalar(node.i64(), 0));
  return node.reshape(count, ArrayRef<int64_t>{1});
}

/// start, start + delta, ... before limit. That of 16-bit floats is computed in
/// f32, since counting in 16 bits comes to a halt.
static LogicalResult importRange(NodeContext &node) {
  Value start = scalarInput(node, 0), limit = scalarInput(node, 1),
        delta = scalarInput(node, 2);
  if (!start || !limit || !delta)
    return failure();
  Type element = node.element(start);
  Type wide = element.isF16() || element.isBF16() ? node.f32() : element;
  start = node.cast(start, wide);
  limit = node.cast(limit, wide);
  delta = node.cast(delta, wide);
  auto first = node.knownTensor(start), last = node.knownTensor(limit),
       step = node.knownTensor(delta);
  auto dimension = uint64_t(0);
  Value counter;
  if (first && last && step) {
    auto length = knownLength(node, *first, *last, *step);
    if (!length)
      return failure();
    counter = node.typed<stablehlo::IotaOp>(node.tensorType({*length}, wide),
                                            dimension);
  } else {
    counter = node.typed<stablehlo::DynamicIotaOp>(
        node.tensorType({ShapedType::kDynamic}, wide),
        openLength(node, start, limit, delta), dimension);
  }
  bool isCount = !node.isFloat(start) && node.knownIntegers(delta) == Ints{1};
  if (!isCount)
    counter = node.binary<stablehlo::MulOp>(counter, delta);
  if (!isCount || node.knownIntegers(start) != Ints{0})
    counter = node.binary<stablehlo::AddOp>(counter, start);
  return node.result(node.cast(counter, element));
}

static LogicalResult importIdentity(NodeContext &node) {
  return node.boundResults({node.bound(0)});
}

llvm::ArrayRef<Operator> constantOperators() {
  static const Operator table[] = {
      {"Constant", "", 1, importConstant, 0, 0},
      {"ConstantOfShape", "", 9, importConstantOfShape, 1, 1},
      {"Identity", "", 1, importIdentity, 1, 1, true},
      {"Range", "", 11, importRange, 3, 3},
  };
  return table;
}

} // namespace sinter::onnx
