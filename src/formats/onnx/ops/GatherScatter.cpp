// Gathers and scatters.

#include "formats/import/Building.h"
#include "formats/import/Indexing.h"
#include "formats/onnx/Operators.h"
#include "formats/onnx/ops/Inputs.h"

using namespace mlir;
using sinter::stablehlo::ComparisonDirection;

namespace sinter::onnx {

//===----------------------------------------------------------------------===//
// Gathers
//===----------------------------------------------------------------------===//

static LogicalResult importGatherElements(NodeContext &node) {
  Value data = node.operand(0), indices = node.operand(1);
  if (!data || !indices)
    return failure();
  auto axis = node.axis(node.getInt("axis", 0), node.rank(data));
  if (!axis || !indicesFit(node, indices, data, *axis))
    return failure();
  return node.result(
      node.op<nn::TakeAlongOp>(data, indices, static_cast<uint64_t>(*axis)));
}

static LogicalResult importGatherND(NodeContext &node) {
  Value data = node.operand(0), indices = node.operand(1);
  if (!data || !indices)
    return failure();
  int64_t batch = node.getInt("batch_dims", 0);
  int64_t rank = node.rank(data), indexRank = node.rank(indices);
  if (batch < 0 || batch >= rank || batch >= indexRank)
    return node.fail("attribute 'batch_dims' is out of range");
  return node.result(gatherTuples(node, data, indices, batch));
}

/// The first elements of \p list, at most as many as \p data has along \p axis.
static Value startOf(NodeContext &node, Value list, Value data, int64_t axis) {
  const Dim length = node.dim(list, 0), size = node.dim(data, axis);
  if (node.known().sameSize(list, 0, data, axis) ||
      (length.isStatic() && size.isStatic() && length.size <= size.size))
    return list;
  if (length.isStatic() && size.isStatic())
    return node.sliceAxis(list, 0, 0, size.size);
  const Value count =
      node.op<stablehlo::MinOp>(node.extents(length), node.extents(size));
  constexpr int64_t unknown = ShapedType::kDynamic;
  return node.typed<stablehlo::RealDynamicSliceOp>(
      node.tensorType({unknown}, node.element(list)), list, node.integers({0}),
      count, node.integers({1}));
}

/// The elements whose condition holds. Their number is static only if the
/// condition is known.
static LogicalResult importCompress(NodeContext &node) {
  Value data = node.operand(0), condition = node.operand(1);
  if (!data || !condition)
    return failure();
  if (node.rank(condition) != 1)
    return node.fail("the condition is no vector");
  uint64_t axis = 0;
  if (node.hasAttribute("axis")) {
    auto given = node.axis(node.getInt("axis", 0), node.rank(data));
    if (!given)
      return failure();
    axis = *given;
  } else {
    Dim all = node.product(node.dims(data));
    data = node.reshape(data, ArrayRef(all));
  }
  Value indices;
  if (auto known = node.knownTensor(condition)) {
    // A condition that is too long is truncated.
    Ints chosen;
    int64_t size = node.size(data, axis);
    int64_t count = ShapedType::isDynamic(size)
                        ? known->size()
                        : std::min<int64_t>(known->size(), size);
    for (int64_t i = 0; i < count; ++i)
      if (known->toInteger(i) != 0)
        chosen.push_back(i);
    indices = node.integers(chosen);
  } else {
    constexpr int64_t unknown = ShapedType::kDynamic;
    Value found = node.typed<nn::NonZeroOp>(
        node.tensorType({1, unknown}, node.i64()),
        startOf(node, condition, data, static_cast<int64_t>(axis)));
    if (!found)
      return failure();
    indices = node.squeeze(found, {0});
  }
  return node.result(node.op<nn::TakeOp>(data, indices, axis));
}

static LogicalResult importNonZero(NodeContext &node) {
  Value x = node.operand(0);
  if (!x)
    return failure();
  if (node.rank(x) == 0)
    x = node.reshape(x, ArrayRef<int64_t>{1});
  return node.result(node.typed<nn::NonZeroOp>(
      node.tensorType({node.rank(x), ShapedType::kDynamic}, node.i64()), x));
}

/// Reverses each sequence's first `length` elements; the others stay.
static LogicalResult importReverseSequence(NodeContext &node) {
  Value x = node.operand(0), lengths = node.operand(1);
  if (!x || !lengths)
    return failure();
  auto time = node.axis(node.getInt("time_axis", 0), node.rank(x));
  auto batch = node.axis(node.getInt("batch_axis", 1), node.rank(x));
  if (!time || !batch)
    return failure();
  if (*time == *batch)
    return node.fail("time_axis and batch_axis are the same");
  if (node.rank(lengths) != 1)
    return node.fail("the lengths are no vector");
  requireSize(node, {lengths, 0, "lengths"}, {x, *batch, "input"});
  Value step = iota(node, node.dims(x), *time, node.i64());
  Value length = node.alongDimension(node.cast(lengths, node.i64()), x, *batch);
  Value last = node.binary<stablehlo::SubtractOp>(length, node.one(length, 1));
  Value inside = node.compare(step, length, ComparisonDirection::LT);
  Value mirrored = node.binary<stablehlo::SubtractOp>(last, step);
  return node.result(node.op<nn::TakeAlongOp>(
      x, select(node, inside, mirrored, step), static_cast<uint64_t>(*time)));
}

//===----------------------------------------------------------------------===//
// Scatters
//===----------------------------------------------------------------------===//

static LogicalResult importScatterElements(NodeContext &node) {
  Value data = node.operand(0), indices = node.operand(1);
  Value updates = node.operand(2);
  auto combine = readCombine(node);
  if (!data || !indices || !updates || !combine)
    return failure();
  int64_t rank = node.rank(data);
  auto axis = node.axis(node.getInt("axis", 0), rank);
  if (!axis || !indicesFit(node, indices, data, *axis))
    return failure();
  if (node.rank(indices) != rank || node.rank(updates) != rank)
    return node.fail("data, indices and updates differ in rank");
  return node.result(
      scatterAlong(node, data, indices, updates, *axis, *combine));
}

static LogicalResult importScatterND(NodeContext &node) {
  Value data = node.operand(0), indices = node.operand(1);
  Value updates = node.operand(2);
  auto combine = readCombine(node);
  if (!data || !indices || !updates || !combine)
    return failure();
  return node.result(scatterTuples(node, data, indices, updates, *combine));
}

/// OneHot with a depth that is known only at run time.
static LogicalResult oneHotDynamic(NodeContext &node, Value indices,
                                   Value values) {
  auto axis = node.axis(node.getInt("axis", -1), node.rank(indices) + 1);
  Value depth = node.reshape(node.cast(scalarInput(node, 1), node.i64()),
                             ArrayRef<int64_t>{1});
  if (!axis || !depth)
    return failure();
  const Dim size(ShapedType::kDynamic, depth);
  Value wrapped = node.unsqueeze(
      wrapNegative(node, node.cast(indices, node.i64()), size), {*axis});
  Dims shape = node.dims(indices);
  shape.insert(shape.begin() + *axis, size);
  Value positions = iota(node, shape, *axis, node.i64());
  auto one = [&](int64_t index) {
    return node.reshape(node.sliceAxis(values, 0, index, index + 1),
                        ArrayRef<int64_t>());
  };
  return node.result(
      select(node, node.compare(wrapped, positions, ComparisonDirection::EQ),
             one(1), one(0)));
}

static LogicalResult importOneHot(NodeContext &node) {
  Value indices = node.operand(0), values = node.operand(2);
  if (!indices || !values)
    return failure();
  // The depth may have any numeric type.
  auto depth = node.knownScalar(node.operand(1));
  if (!depth && node.expandsUnknown())
    return oneHotDynamic(node, indices, values);
  if (!depth)
    return node.unknown("the depth is known only at run time");
  if (!(*depth >= 0) || *depth > (int64_t(1) << 40))
    return node.fail("the depth is out of range");
  auto axis = node.axis(node.getInt("axis", -1), node.rank(indices) + 1);
  if (!axis)
    return failure();
  Ints shape(node.shape(indices));
  shape.insert(shape.begin() + *axis, static_cast<int64_t>(*depth));
  return node.result(node.typed<nn::OneHotOp>(
      node.tensorType(shape, node.element(values)),
      node.isFloat(indices) ? node.cast(indices, node.i64()) : indices, values,
      static_cast<uint64_t>(*axis)));
}

llvm::ArrayRef<Operator> gatherScatterOperators() {
  static const Operator table[] = {
      {"Compress", "", 9, importCompress, 2, 2},
      {"GatherElements", "", 11, importGatherElements, 2, 2},
      {"GatherND", "", 11, importGatherND, 2, 2},
      {"GatherND", runtimeDomain, 1, importGatherND, 2, 2, false, true},
      {"NonZero", "", 9, importNonZero, 1, 1},
      {"OneHot", "", 9, importOneHot, 3, 3},
      {"ReverseSequence", "", 10, importReverseSequence, 2, 2},
      {"Scatter", "", 9, importScatterElements, 3, 3},
      {"ScatterElements", "", 11, importScatterElements, 3, 3},
      {"ScatterND", "", 11, importScatterND, 3, 3},
  };
  return table;
}

} // namespace sinter::onnx
