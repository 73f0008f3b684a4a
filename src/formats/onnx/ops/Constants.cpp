// Values that need no input: constants, ranges, and what passes a value on.

#include "graph/Constants.h"
#include "formats/onnx/Operators.h"
#include "formats/onnx/ops/Lists.h"

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
    for (auto [size, element] : llvm::zip_equal(sizes, *known))
      if (element.isInteger())
        size = element.value;
  for (int64_t size : sizes)
    if (!ShapedType::isDynamic(size) && size < 0)
      return node.fail("a size is negative");
  auto type = node.tensorType(sizes, element);
  if (type.hasStaticShape())
    return node.result(node.typed<stablehlo::BroadcastInDimOp>(
        type, filler, ArrayRef<int64_t>()));
  return node.result(node.typed<stablehlo::DynamicBroadcastInDimOp>(
      type, filler, shape, node.builder().getDenseI64ArrayAttr({}),
      DenseI64ArrayAttr(), DenseI64ArrayAttr()));
}

/// start, start + delta, ... before limit.
static LogicalResult importRange(NodeContext &node) {
  Value start = node.operand(0);
  Type element = node.element(start);
  auto first = node.knownTensor(start),
       last = node.knownTensor(node.operand(1)),
       step = node.knownTensor(node.operand(2));
  if (step && step->size() == 1 && first && last && first->size() == 1 &&
      last->size() == 1) {
    double count;
    if (isInteger(step->type())) {
      int64_t delta = step->toInteger(0), from = first->toInteger(0),
              to = last->toInteger(0);
      if (delta == 0)
        return node.fail("the step is zero");
      __int128 distance = static_cast<__int128>(to) - from;
      __int128 whole = (distance + delta + (delta > 0 ? -1 : 1)) / delta;
      count = static_cast<double>(whole);
    } else {
      count = std::ceil((last->toDouble(0) - first->toDouble(0)) /
                        step->toDouble(0));
    }
    if (!(count < 1e9))
      return node.fail("has too many elements");
    auto type = node.tensorType(
        {std::max<int64_t>(static_cast<int64_t>(count), 0)}, element);
    Value counter = node.typed<stablehlo::IotaOp>(type, uint64_t(0));
    Value scaled = node.binary<stablehlo::MulOp>(
        counter, node.reshape(node.operand(2), ArrayRef<int64_t>()));
    return node.result(node.binary<stablehlo::AddOp>(
        scaled, node.reshape(start, ArrayRef<int64_t>())));
  }
  // 0, 1, ... before a size that is known only when run.
  auto step1 = node.knownIntegers(node.operand(2));
  auto start0 = node.knownIntegers(start);
  if (step1 && start0 && *step1 == Ints{1} && node.rank(start) == 0) {
    Value limit = node.operand(1);
    Value count = node.binary<stablehlo::SubtractOp>(limit, start);
    Value shape =
        node.reshape(node.cast(count, node.i64()), ArrayRef<int64_t>{1});
    Value counter = node.typed<stablehlo::DynamicIotaOp>(
        node.tensorType({ShapedType::kDynamic}, element), shape, uint64_t(0));
    if ((*start0)[0] == 0)
      return node.result(counter);
    return node.result(node.binary<stablehlo::AddOp>(counter, start));
  }
  return node.unsupported("the number of elements is known only when run");
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
