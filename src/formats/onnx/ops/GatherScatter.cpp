// Reading and writing elements that indices name.

#include "formats/import/Building.h"
#include "formats/onnx/Operators.h"
#include "formats/onnx/ops/Inputs.h"

using namespace mlir;
using sinter::stablehlo::ComparisonDirection;

namespace sinter::onnx {

static Ints range(int64_t begin, int64_t end) {
  return llvm::to_vector(llvm::seq(begin, std::max(begin, end)));
}

//===----------------------------------------------------------------------===//
// Reading
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

/// Tuples of indices into the dimensions from \p first on, as i64 with negative
/// ones resolved; each tuple is a row of the last dimension.
static Value wrapTuples(NodeContext &node, Value indices, Value data,
                        int64_t first, int64_t length) {
  indices = node.cast(indices, node.i64());
  if (auto known = node.knownIntegers(indices)) {
    if (llvm::all_of(*known, [](int64_t index) { return index >= 0; }))
      return indices;
    ArrayRef<int64_t> bounds = node.shape(data).slice(first, length);
    if (!ShapedType::isDynamicShape(bounds)) {
      for (auto [i, index] : llvm::enumerate(*known))
        index += index < 0 ? bounds[i % length] : 0;
      return integersLike(node, *known, indices);
    }
  }
  Dims sizes;
  for (int64_t i = first; i < first + length; ++i)
    sizes.push_back(node.dim(data, i));
  Value negative = node.compare(indices, node.scalar(node.i64(), 0),
                                ComparisonDirection::LT);
  Value shifted = node.binary<stablehlo::AddOp>(indices, node.extents(sizes));
  return node.op<stablehlo::SelectOp>(negative, shifted, indices);
}

/// The length of the tuples in the last dimension of \p indices, which index
/// the dimensions of \p data from \p first on.
static std::optional<int64_t> tupleLength(NodeContext &node, Value indices,
                                          Value data, int64_t first) {
  int64_t available = node.rank(data) - first;
  if (node.rank(indices) < 1)
    return node.fail("the indices are a scalar");
  int64_t length = node.shape(indices).back();
  if (ShapedType::isDynamic(length))
    return node.unknown("the last dimension of the indices is unknown");
  if (length < 1 || length > available)
    return node.fail("the indices have " + Twine(length) +
                     " elements a place, for " + Twine(available) +
                     " dimensions");
  for (int64_t i = 0; i < length; ++i)
    if (!indicesFit(node, indices, data, first + i, i, length))
      return std::nullopt;
  return length;
}

static LogicalResult importGatherND(NodeContext &node) {
  Value data = node.operand(0), indices = node.operand(1);
  if (!data || !indices)
    return failure();
  int64_t batch = node.getInt("batch_dims", 0);
  int64_t rank = node.rank(data), indexRank = node.rank(indices);
  if (batch < 0 || batch >= rank || batch >= indexRank)
    return node.fail("attribute 'batch_dims' is out of range");
  auto length = tupleLength(node, indices, data, batch);
  if (!length)
    return failure();
  int64_t whole = batch + *length;
  Ints sizes(rank, 1);
  for (int64_t i = whole; i < rank; ++i) {
    sizes[i] = node.shape(data)[i];
    if (ShapedType::isDynamic(sizes[i]) && !node.spellsUnknown())
      return node.unknown("dimension " + Twine(i) + " of the data is unknown");
  }
  auto numbers = stablehlo::GatherDimensionNumbersAttr::get(
      node.context(), /*offsetDims=*/
      range(indexRank - 1, indexRank - 1 + rank - whole),
      /*collapsedSliceDims=*/range(batch, whole),
      /*operandBatchingDims=*/range(0, batch),
      /*startIndicesBatchingDims=*/range(0, batch),
      /*startIndexMap=*/range(batch, whole),
      /*indexVectorDim=*/indexRank - 1);
  if (ShapedType::isDynamicShape(sizes)) {
    Dims taken(rank, Dim(1));
    for (int64_t i = whole; i < rank; ++i)
      taken[i] = node.dim(data, i);
    Ints shape(node.shape(indices).drop_back());
    llvm::append_range(shape, node.shape(data).drop_front(whole));
    return node.result(node.typed<stablehlo::DynamicGatherOp>(
        node.tensorType(shape, node.element(data)), data,
        wrapTuples(node, indices, data, batch, *length), node.extents(taken),
        numbers, /*indices_are_sorted=*/false));
  }
  return node.result(node.op<stablehlo::GatherOp>(
      data, wrapTuples(node, indices, data, batch, *length), numbers,
      ArrayRef<int64_t>(sizes)));
}

/// Elements whose condition holds. How many is known only where the condition
/// is.
static LogicalResult importCompress(NodeContext &node) {
  Value data = node.operand(0), condition = node.operand(1);
  if (!data || !condition)
    return failure();
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
    // A condition that is too long counts as far as there are elements.
    Ints chosen;
    int64_t size = node.shape(data)[axis];
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
        node.tensorType({1, unknown}, node.i64()), condition);
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

/// Each sequence's first `length` elements in reverse, the others as they are.
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
  Value step = iota(node, node.dims(x), *time, node.i64());
  Value length = node.alongDimension(node.cast(lengths, node.i64()), x, *batch);
  Value last = node.binary<stablehlo::SubtractOp>(length, node.one(length, 1));
  Value inside = node.compare(step, length, ComparisonDirection::LT);
  Value mirrored = node.binary<stablehlo::SubtractOp>(last, step);
  return node.result(node.op<nn::TakeAlongOp>(
      x, select(node, inside, mirrored, step), static_cast<uint64_t>(*time)));
}

//===----------------------------------------------------------------------===//
// Writing
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
  Value wrapped = wrapNegative(node, indices, node.dim(data, *axis));
  // A place is its own coordinates, but for the axis.
  Values coordinates;
  Dims sizes = node.dims(indices);
  for (int64_t i = 0; i < rank; ++i)
    coordinates.push_back(node.unsqueeze(
        i == *axis ? wrapped : iota(node, sizes, i, node.i64()), {rank}));
  auto numbers = stablehlo::ScatterDimensionNumbersAttr::get(
      node.context(), /*updateWindowDims=*/{},
      /*insertedWindowDims=*/range(0, rank), /*inputBatchingDims=*/{},
      /*scatterIndicesBatchingDims=*/{},
      /*scatterDimsToOperandDims=*/range(0, rank), /*indexVectorDim=*/rank);
  return node.result(scatter(node, data, node.concatenate(coordinates, rank),
                             updates, numbers, *combine));
}

static LogicalResult importScatterND(NodeContext &node) {
  Value data = node.operand(0), indices = node.operand(1);
  Value updates = node.operand(2);
  auto combine = readCombine(node);
  if (!data || !indices || !updates || !combine)
    return failure();
  int64_t rank = node.rank(data), indexRank = node.rank(indices);
  auto length = tupleLength(node, indices, data, 0);
  if (!length)
    return failure();
  auto numbers = stablehlo::ScatterDimensionNumbersAttr::get(
      node.context(), /*updateWindowDims=*/
      range(indexRank - 1, indexRank - 1 + rank - *length),
      /*insertedWindowDims=*/range(0, *length), /*inputBatchingDims=*/{},
      /*scatterIndicesBatchingDims=*/{},
      /*scatterDimsToOperandDims=*/range(0, *length),
      /*indexVectorDim=*/indexRank - 1);
  return node.result(scatter(node, data,
                             wrapTuples(node, indices, data, 0, *length),
                             updates, numbers, *combine));
}

/// Of a depth that is known only at run time.
static LogicalResult oneHotOpen(NodeContext &node, Value indices,
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
  Value places = iota(node, shape, *axis, node.i64());
  auto one = [&](int64_t index) {
    return node.reshape(node.sliceAxis(values, 0, index, index + 1),
                        ArrayRef<int64_t>());
  };
  return node.result(
      select(node, node.compare(wrapped, places, ComparisonDirection::EQ),
             one(1), one(0)));
}

static LogicalResult importOneHot(NodeContext &node) {
  Value indices = node.operand(0), values = node.operand(2);
  if (!indices || !values)
    return failure();
  // Of any numeric type.
  auto depth = node.knownScalar(node.operand(1));
  if (!depth && node.spellsUnknown())
    return oneHotOpen(node, indices, values);
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
