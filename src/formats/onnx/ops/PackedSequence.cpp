#include "formats/onnx/ops/PackedSequence.h"

#include "formats/import/Building.h"
#include "formats/import/Indexing.h"
#include "formats/import/Regions.h"
#include "formats/import/SizeArithmetic.h"

using namespace mlir;

namespace sinter::onnx {

using Direction = stablehlo::ComparisonDirection;
using formats::iota;
using formats::select;

//===----------------------------------------------------------------------===//
// Helpers
//===----------------------------------------------------------------------===//

/// A size as tensor<1xi64>.
static Value extentOf(NodeContext &node, const Dim &dim) {
  return node.extents({dim});
}

static Dim dimOf(Value extent) { return Dim(ShapedType::kDynamic, extent); }

/// The sole element of \p value as [1].
static Value asVector(NodeContext &node, Value value) {
  return node.reshape(value, Ints{1});
}

/// Elements from \p start to \p limit, both [1], of dimension 0 of \p value.
static Value sliceRows(NodeContext &node, Value value, Value start,
                       Value limit) {
  if (!value)
    return {};
  Dims starts(node.rank(value), Dim(0)), limits = node.dims(value);
  starts[0] = dimOf(start);
  limits[0] = dimOf(limit);
  Ints shape(node.shape(value));
  shape[0] = ShapedType::kDynamic;
  return node.typed<stablehlo::RealDynamicSliceOp>(
      node.tensorType(shape, node.element(value)), value, node.extents(starts),
      node.extents(limits), node.integers(Ints(shape.size(), 1)));
}

static Value flatten(NodeContext &node, Value value) {
  return node.reshape(value, Dims{node.product(node.dims(value))});
}

/// The sizes of \p value as a row of the shapes.
static Value shapeRow(NodeContext &node, Value value) {
  Dims dims = node.dims(value);
  if (dims.empty())
    dims.emplace_back(1);
  return node.unsqueeze(node.extents(dims), {0});
}

/// The rows of \p dims, [N, R], with the column \p axis from \p lengths, [N].
static Value shapeTable(NodeContext &node, ArrayRef<Dim> dims, int64_t axis,
                        Value lengths) {
  Values columns;
  Dim count = node.dim(lengths, 0);
  for (auto [i, dim] : llvm::enumerate(dims)) {
    Value column = static_cast<int64_t>(i) == axis
                       ? lengths
                       : node.broadcastInDim(extentOf(node, dim), {count}, {0});
    columns.push_back(node.unsqueeze(column, {1}));
  }
  return node.concatenate(columns, 1);
}

/// The index in the packed data of element (o, j, n) of the concatenation along
/// the middle dimension. \p lengths, [N], are the tensors' sizes along it. If j
/// lies in the tensor that begins at s and has size l, the tensors before it
/// have outer * s * inner elements, so the index is
///
///   (j + (outer - 1) * s + o * l) * inner + n
static Value packedIndices(NodeContext &node, Value lengths, Dim outer,
                           Dim total, Dim inner) {
  Type i64 = node.i64();
  Dim count = node.dim(lengths, 0);
  Value starts =
      node.op<nn::CumulativeSumOp>(lengths, uint64_t(0), true, false);
  Value ends = node.binary<stablehlo::AddOp>(starts, lengths);
  Value each = iota(node, {total, count}, 0, i64);
  Value isInside = node.op<stablehlo::AndOp>(
      node.compare(each, node.alongDimension(starts, each, 1), Direction::GE),
      node.compare(each, node.alongDimension(ends, each, 1), Direction::LT));
  // Looks up the entry of the tensor that holds each index along the dimension.
  auto lookUp = [&](Value table) {
    Value all = select(node, isInside, node.alongDimension(table, each, 1),
                       node.scalar(i64, 0));
    return node.reduce<stablehlo::AddOp>(all, {1}, 0, false);
  };
  const Dims dims = {outer, total, inner};
  auto count3 = [&](int64_t axis) { return iota(node, dims, axis, i64); };
  auto along = [&](Value vector) {
    return node.alongDimension(vector, count3(1), 1);
  };
  Value shift = node.binary<stablehlo::MulOp>(
      lookUp(starts), node.binary<stablehlo::SubtractOp>(extentOf(node, outer),
                                                         node.integers({1})));
  Value rows = node.binary<stablehlo::AddOp>(
      node.binary<stablehlo::AddOp>(count3(1), along(shift)),
      node.binary<stablehlo::MulOp>(count3(0), along(lookUp(lengths))));
  return node.binary<stablehlo::AddOp>(
      node.binary<stablehlo::MulOp>(rows, extentOf(node, inner)), count3(2));
}

/// Whether all of \p dims are known to be 1.
static bool areOne(ArrayRef<Dim> dims) {
  return llvm::all_of(dims, [](const Dim &dim) { return dim.size == 1; });
}

//===----------------------------------------------------------------------===//
// To and from static sequences
//===----------------------------------------------------------------------===//

std::optional<RankedTensorType>
tensorTypeOf(NodeContext &node, const Bound &bound, RankedTensorType first) {
  SmallVector<Type> types;
  if (bound.kind == Bound::Packed)
    types.push_back(bound.type);
  else
    for (Value element : bound.elements)
      types.push_back(element.getType());
  Type common = first;
  for (Type type : types) {
    common = common ? formats::joinTypes(common, type) : type;
    if (!common)
      return node.unknown("a sequence of a computed number of tensors that "
                          "differ in rank or element type");
  }
  return common ? cast<RankedTensorType>(common) : RankedTensorType();
}

std::optional<PackedSequence> PackedSequence::of(NodeContext &node,
                                                 const Bound &bound,
                                                 RankedTensorType type) {
  if (!node.expandsUnknown())
    return node.unknown("a sequence whose number of tensors is known only at "
                        "run time");
  auto common = tensorTypeOf(node, bound, type);
  if (!common)
    return std::nullopt;
  type = *common;
  if (!type)
    return node.unknown("an empty sequence of tensors of unknown rank");
  if (bound.kind == Bound::Packed)
    return PackedSequence(node, bound.elements[0], bound.elements[1], type);
  if (bound.elements.empty()) {
    const int64_t columns = std::max<int64_t>(type.getRank(), 1);
    return PackedSequence(node, node.splat(type.getElementType(), 0, {0}),
                          node.splat(node.i64(), 0, {0, columns}), type);
  }
  Values data, shapes;
  for (Value element : bound.elements) {
    data.push_back(flatten(node, element));
    shapes.push_back(shapeRow(node, element));
  }
  return PackedSequence(node, node.concatenate(data, 0),
                        node.concatenate(shapes, 0), type);
}

Bound PackedSequence::bound() const {
  Bound bound;
  bound.kind = Bound::Packed;
  bound.elements = {data, shapes};
  bound.type = type;
  return bound;
}

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

/// \p position, [1] or a scalar, as [1] between 0 and the last tensor, or the
/// end. The graph checks that it is in bounds.
Value PackedSequence::normalize(Value position, bool mayBeEnd) const {
  Value count = extentOf(node, length()), zero = node.integers({0}),
        one = node.integers({1});
  position = asVector(node, node.cast(position, node.i64()));
  Value fromEnd = node.binary<stablehlo::AddOp>(position, count);
  position = select(node, node.compare(position, zero, Direction::LT), fromEnd,
                    position);
  Value last =
      mayBeEnd ? count : node.binary<stablehlo::SubtractOp>(count, one);
  node.require(formats::scalarOf(
      node, node.binary<stablehlo::AndOp>(
                node.compare(position, zero, Direction::GE),
                node.compare(position, last, Direction::LE))));
  return node.op<stablehlo::MaxOp>(node.op<stablehlo::MinOp>(position, last),
                                   zero);
}

/// The offset in the data of tensor \p position.
Value PackedSequence::startOf(Value position) const {
  if (type.hasStaticShape())
    return node.binary<stablehlo::MulOp>(
        position, node.integers({type.getNumElements()}));
  Value sizes = node.reduce<stablehlo::MulOp>(shapes, {1}, 1, false);
  Value isBefore = node.compare(iota(node, {length()}, 0, node.i64()),
                                node.broadcastInDim(position, {length()}, {0}),
                                Direction::LT);
  Value before = select(node, isBefore, sizes, node.scalar(node.i64(), 0));
  return asVector(node, node.reduce<stablehlo::AddOp>(before, {0}, 0, false));
}

/// The sizes of tensor \p position.
Dims PackedSequence::dimsAt(Value position) const {
  Value row;
  Dims dims;
  for (int64_t i = 0; i < type.getRank(); ++i) {
    if (!type.isDynamicDim(i)) {
      dims.emplace_back(type.getDimSize(i));
      continue;
    }
    if (!row)
      row = node.op<nn::TakeOp>(shapes, formats::scalarOf(node, position),
                                uint64_t(0));
    dims.push_back(dimOf(node.sliceAxis(row, 0, i, i + 1)));
  }
  return dims;
}

Value PackedSequence::at(Value position) const {
  position = normalize(position, false);
  const Dims dims = dimsAt(position);
  Value start = startOf(position);
  const Dim count = node.product(dims);
  if (!count.isStatic())
    return node.reshape(
        sliceRows(node, data, start,
                  node.binary<stablehlo::AddOp>(start, count.extent)),
        dims);
  return node.reshape(
      node.op<stablehlo::DynamicSliceOp>(
          data, ValueRange{formats::scalarOf(node, start)}, Ints{count.size}),
      dims);
}

//===----------------------------------------------------------------------===//
// Insert and erase
//===----------------------------------------------------------------------===//

std::optional<PackedSequence> PackedSequence::insert(Value tensor,
                                                     Value position) const {
  auto common = tensorTypeOf(node, Bound::sequence({tensor}), type);
  if (!common)
    return std::nullopt;
  Value elements = flatten(node, tensor), row = shapeRow(node, tensor);
  if (!position)
    return PackedSequence(node, node.concatenate({data, elements}, 0),
                          node.concatenate({shapes, row}, 0), *common);
  position = normalize(position, true);
  auto between = [&](Value all, Value start, Value inserted) {
    Value zero = node.integers({0}), end = extentOf(node, node.dim(all, 0));
    return node.concatenate({sliceRows(node, all, zero, start), inserted,
                             sliceRows(node, all, start, end)},
                            0);
  };
  return PackedSequence(node, between(data, startOf(position), elements),
                        between(shapes, position, row), *common);
}

PackedSequence PackedSequence::erase(Value position) const {
  Value one = node.integers({1});
  position = normalize(position ? position : node.integers({-1}), false);
  // An empty sequence is rejected, or stays as it is in a branch that must not
  // be taken.
  Value next = node.op<stablehlo::MinOp>(
      node.binary<stablehlo::AddOp>(position, one), extentOf(node, length()));
  auto without = [&](Value all, Value start, Value limit) {
    Value zero = node.integers({0}), end = extentOf(node, node.dim(all, 0));
    return node.concatenate(
        {sliceRows(node, all, zero, start), sliceRows(node, all, limit, end)},
        0);
  };
  return {node, without(data, startOf(position), startOf(next)),
          without(shapes, position, next), type};
}

PackedSequence PackedSequence::splitEach(NodeContext &node, Value x,
                                         int64_t axis, bool keepsDimension) {
  Ints order = {axis};
  for (int64_t i = 0; i < node.rank(x); ++i)
    if (i != axis)
      order.push_back(i);
  Dims dims = node.dims(x);
  const Dim count = dims[axis];
  if (keepsDimension)
    dims[axis] = 1;
  else
    dims.erase(dims.begin() + axis);
  Ints shape;
  for (const Dim &dim : dims)
    shape.push_back(dim.size);
  Value row = node.extents(dims.empty() ? Dims{Dim(1)} : dims);
  Value shapes = node.broadcastInDim(row, {count, Dim(node.size(row, 0))}, {1});
  return {node, flatten(node, node.transpose(x, order)), shapes,
          node.tensorType(shape, node.element(x))};
}

PackedSequence PackedSequence::split(NodeContext &node, Value x, int64_t axis,
                                     Value lengths) {
  const Dims dims = node.dims(x);
  Value sum = node.reduce<stablehlo::AddOp>(lengths, {0}, 0, false);
  Value least = node.reduceWith(lengths, {0}, 0, false,
                                stablehlo::MinOp::getOperationName());
  Value size = formats::scalarOf(node, extentOf(node, dims[axis]));
  node.require(node.op<stablehlo::AndOp>(
      node.compare(sum, size, Direction::EQ),
      node.compare(least, node.scalar(node.i64(), 0), Direction::GE)));
  Ints shape(node.shape(x));
  shape[axis] = ShapedType::kDynamic;
  Value elements = flatten(node, x);
  const ArrayRef<Dim> before = ArrayRef(dims).take_front(axis);
  if (!areOne(before)) {
    Value indices = flatten(
        node, packedIndices(node, lengths, node.product(before), dims[axis],
                            node.product(ArrayRef(dims).drop_front(axis + 1))));
    Value base = node.broadcastInDim(node.scalar(node.element(x), 0),
                                     node.dims(elements), {});
    elements = formats::scatterTuples(node, base, node.unsqueeze(indices, {1}),
                                      elements, formats::Combine::Replace);
  }
  return {node, elements, shapeTable(node, dims, axis, lengths),
          node.tensorType(shape, node.element(x))};
}

//===----------------------------------------------------------------------===//
// Concatenation
//===----------------------------------------------------------------------===//

/// Column \p axis of the shapes.
Value PackedSequence::column(int64_t axis) const {
  return node.squeeze(node.sliceAxis(shapes, 1, axis, axis + 1), {1});
}

/// Requires at least one tensor, and that all have equal sizes, except along
/// \p axis unless it is new.
void PackedSequence::requireAlike(int64_t axis, bool isNew) const {
  if (!node.requiresValues())
    return;
  Value condition =
      node.compare(extentOf(node, length()), node.integers({1}), Direction::GE);
  condition = formats::scalarOf(node, condition);
  if (!type.hasStaticShape()) {
    Value first =
        node.op<nn::TakeOp>(shapes, node.scalar(node.i64(), 0), uint64_t(0));
    Value isAlike = node.compare(shapes, node.alongDimension(first, shapes, 1),
                                 Direction::EQ);
    if (!isNew)
      isAlike = node.op<stablehlo::OrOp>(
          isAlike,
          node.compare(iota(node, node.dims(shapes), 1, node.i64()),
                       node.broadcastInDim(node.scalar(node.i64(), axis),
                                           node.dims(shapes), {}),
                       Direction::EQ));
    condition = node.op<stablehlo::AndOp>(
        condition, node.reduce<stablehlo::AndOp>(isAlike, {0, 1}, 1, false));
  }
  node.require(condition);
}

Value PackedSequence::concatenate(int64_t axis, bool isNew) const {
  requireAlike(axis, isNew);
  const Dims dims = dimsAt(node.integers({0}));
  Dims whole = dims;
  // All tensors have the same size there: they are stacked.
  if (isNew || !type.isDynamicDim(axis)) {
    Dims stacked = {length()};
    stacked.append(dims.begin(), dims.end());
    Ints order;
    for (int64_t i = 1; i <= type.getRank(); ++i)
      order.push_back(i);
    order.insert(order.begin() + axis, 0);
    Value all = node.transpose(node.reshape(data, stacked), order);
    if (isNew)
      return all;
    whole[axis] = node.product({length(), dims[axis]});
    return node.reshape(all, whole);
  }
  Value lengths = column(axis);
  whole[axis] = dimOf(
      asVector(node, node.reduce<stablehlo::AddOp>(lengths, {0}, 0, false)));
  const ArrayRef<Dim> before = ArrayRef(dims).take_front(axis);
  if (areOne(before))
    return node.reshape(data, whole);
  Value indices =
      packedIndices(node, lengths, node.product(before), whole[axis],
                    node.product(ArrayRef(dims).drop_front(axis + 1)));
  return node.reshape(
      node.op<nn::TakeOp>(data, flatten(node, indices), uint64_t(0)), whole);
}

} // namespace sinter::onnx
