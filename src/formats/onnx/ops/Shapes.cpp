// Shape, Reshape, Expand and similar.

#include "formats/import/Reshaping.h"
#include "formats/onnx/Operators.h"
#include "formats/onnx/ops/Inputs.h"
#include "runtime/OptionNames.h"

using namespace mlir;

namespace sinter::onnx {

/// A slice of the sizes: [start, end), both clamped.
static LogicalResult importShape(NodeContext &node) {
  Value data = node.operand(0);
  int64_t rank = node.rank(data);
  auto clamp = [&](int64_t at) {
    return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  int64_t start = clamp(node.getInt("start", 0));
  int64_t end = std::max(start, clamp(node.getInt("end", rank)));
  ArrayRef<int64_t> sizes = node.shape(data).slice(start, end - start);
  if (!ShapedType::isDynamicShape(sizes))
    return node.result(node.integers(sizes));
  Value all = node.op<nn::ShapeOp>(data);
  if (start == 0 && end == rank)
    return node.result(all);
  return node.result(node.sliceAxis(all, 0, start, end));
}

static LogicalResult importSize(NodeContext &node) {
  Dim count = node.product(node.dims(node.operand(0)));
  return node.result(count.isStatic()
                         ? node.scalar(node.i64(), count.size)
                         : node.reshape(count.extent, ArrayRef<int64_t>()));
}

//===----------------------------------------------------------------------===//
// Reshape
//===----------------------------------------------------------------------===//

static LogicalResult importReshape(NodeContext &node) {
  Value data = node.operand(0);
  Value shape = node.version() < 5 ? node.integers(node.getInts("shape"))
                                   : node.operand(1);
  if (!shape)
    return node.fail("input 1 is missing");
  if (!listLength(node, shape, "shape"))
    return failure();
  return node.result(reshapeTo(node, data, shape,
                               node.getBool("allowzero", false),
                               /*keepsShape=*/node.version() >= 5));
}

static LogicalResult importFlatten(NodeContext &node) {
  Value data = node.operand(0);
  int64_t rank = node.rank(data), axis = node.getInt("axis", 1);
  if (axis < -rank || axis > rank)
    return node.fail("axis " + Twine(axis) + " is not in [-rank, rank]");
  if (axis < 0)
    axis += rank;
  Dims sizes = node.dims(data);
  return node.result(node.reshape(
      data, Dims{node.product(ArrayRef<Dim>(sizes).take_front(axis)),
                 node.product(ArrayRef<Dim>(sizes).drop_front(axis))}));
}

static LogicalResult importSqueeze(NodeContext &node) {
  Value data = node.operand(0);
  bool given;
  auto list = node.integersFrom(1, "axes", &given);
  if (!list)
    return failure();
  if (!given) {
    if (!node.isStatic(data))
      return node.unknown("squeezing every dimension of size 1 needs the "
                          "input's shape; give it with " +
                          optionText("shape"));
    for (int64_t i = 0; i < node.rank(data); ++i)
      if (node.size(data, i) == 1)
        list->push_back(i);
  }
  auto axes = node.axes(*list, node.rank(data));
  if (!axes)
    return failure();
  for (int64_t axis : *axes)
    if (node.size(data, axis) != 1 &&
        !ShapedType::isDynamic(node.size(data, axis)))
      return node.fail("dimension " + Twine(axis) + " has size " +
                       Twine(node.size(data, axis)) + ", not 1");
  return node.result(node.squeeze(data, *axes));
}

static LogicalResult importUnsqueeze(NodeContext &node) {
  Value data = node.operand(0);
  auto list = node.integersFrom(1, "axes");
  if (!list)
    return failure();
  auto axes = node.axes(*list, node.rank(data) + list->size());
  if (!axes)
    return failure();
  return node.result(node.unsqueeze(data, *axes));
}

static LogicalResult importTranspose(NodeContext &node) {
  Value data = node.operand(0);
  Ints order = llvm::to_vector(llvm::seq<int64_t>(0, node.rank(data)));
  std::reverse(order.begin(), order.end());
  order = node.getInts("perm", order);
  return node.result(
      node.op<stablehlo::TransposeOp>(data, ArrayRef<int64_t>(order)));
}

/// Requires that elements of \p shape that are known only at run time are 1 or
/// equal the size of \p data there, if that is static and not 1: the result
/// type does not imply it.
static void requireBroadcast(NodeContext &node, Value data, Value shape,
                             ArrayRef<int64_t> known) {
  const int64_t missing = static_cast<int64_t>(known.size()) - node.rank(data);
  for (auto [i, size] : llvm::enumerate(known)) {
    const int64_t own = static_cast<int64_t>(i) - missing;
    if (!ShapedType::isDynamic(size) || own < 0 ||
        ShapedType::isDynamic(node.size(data, own)) ||
        node.size(data, own) == 1 || !node.requiresValues())
      continue;
    const auto at = static_cast<int64_t>(i);
    const Value element = node.cast(
        node.reshape(node.sliceAxis(shape, 0, at, at + 1), ArrayRef<int64_t>()),
        node.i64());
    auto beyond = [&](int64_t number) {
      return node.op<stablehlo::SubtractOp>(
          element, node.scalar(node.i64(), static_cast<double>(number)));
    };
    node.require(node.compare(
        node.op<stablehlo::MulOp>(beyond(1), beyond(node.size(data, own))),
        node.scalar(node.i64(), 0), stablehlo::ComparisonDirection::EQ));
  }
}

/// The input broadcast together with a shape.
static LogicalResult importExpand(NodeContext &node) {
  Value data = node.operand(0), shape = node.operand(1);
  if (!listLength(node, shape, "shape"))
    return failure();
  Ints wanted(node.size(shape, 0), ShapedType::kDynamic);
  if (auto known = node.knownElements(shape))
    for (auto [size, element] : llvm::zip_equal(wanted, *known)) {
      if (!element.isInteger())
        continue;
      if (element.value < 0)
        return node.fail("the shape has a negative size");
      size = element.value;
    }
  auto common = broadcastShapes(node.shape(data), wanted);
  if (!common)
    return node.fail("the input does not broadcast to the shape");
  int64_t rank = common->size(), own = node.rank(data);
  if (node.isStatic(data) && !ShapedType::isDynamicShape(wanted))
    return node.result(node.broadcastInDim(
        data, Dims(common->begin(), common->end()),
        llvm::to_vector(llvm::seq<int64_t>(rank - own, rank))));
  requireBroadcast(node, data, shape, wanted);
  Value filler = node.typed<stablehlo::DynamicBroadcastInDimOp>(
      node.tensorType(wanted, node.element(data)),
      node.scalar(node.element(data), 0), shape,
      node.builder().getDenseI64ArrayAttr({}), DenseI64ArrayAttr(),
      DenseI64ArrayAttr());
  return node.result(node.op<nn::BroadcastLikeOp>(data, ValueRange(filler)));
}

llvm::ArrayRef<Operator> shapeOperators() {
  static const Operator table[] = {
      {"Expand", "", 8, importExpand, 2, 2},
      {"Flatten", "", 1, importFlatten, 1, 1},
      {"Reshape", "", 1, importReshape, 1, 2},
      {"Shape", "", 1, importShape, 1, 1},
      {"Size", "", 1, importSize, 1, 1},
      {"Squeeze", "", 1, importSqueeze, 1, 2},
      {"Transpose", "", 1, importTranspose, 1, 1},
      {"Unsqueeze", "", 1, importUnsqueeze, 1, 2},
  };
  return table;
}

} // namespace sinter::onnx
