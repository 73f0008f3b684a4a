// Concat, Split, Slice, Gather.

#include "formats/import/Building.h"
#include "formats/import/Slices.h"
#include "formats/onnx/Operators.h"
#include "formats/onnx/ops/Inputs.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace sinter::onnx {

using formats::SliceBound;
using formats::Slicer;

static LogicalResult importConcat(NodeContext &node) {
  Values values = node.operands();
  if (node.failed() || values.empty())
    return failure();
  if (node.version() >= 4 && !node.hasAttribute("axis"))
    return node.fail("attribute 'axis' is missing");
  auto axis = node.axis(node.getInt("axis", 1), node.rank(values[0]));
  if (!axis)
    return failure();
  if (values.size() == 1)
    return node.result(values[0]);
  return node.result(node.concatenate(values, *axis));
}

/// Requires that the sum of \p pieces is \p size, and that none is negative.
static void requireSizes(NodeContext &node, ArrayRef<Dim> pieces,
                         const Dim &size) {
  if (!node.requiresValues())
    return;
  using Direction = stablehlo::ComparisonDirection;
  auto scalar = [&](const Dim &dim) {
    return sizeScalar(node, dim, node.i64());
  };
  const Value zero = node.scalar(node.i64(), 0);
  Value sum = zero;
  for (const Dim &part : pieces) {
    if (!part.isStatic())
      node.require(node.compare(scalar(part), zero, Direction::GE));
    sum = node.op<stablehlo::AddOp>(sum, scalar(part));
  }
  node.require(node.compare(sum, scalar(size), Direction::EQ));
}

/// The given output sizes of a Split; \p size is dynamic or must be their sum.
static std::optional<Dims> givenSizes(NodeContext &node, ArrayRef<int64_t> list,
                                      int64_t size) {
  int64_t sum = 0;
  for (int64_t part : list)
    if (part < 0 || llvm::AddOverflow(sum, part, sum))
      return node.fail("an output has a negative size");
  if (sum != size && !ShapedType::isDynamic(size))
    return node.fail("the sizes do not sum up to the dimension");
  if (static_cast<int64_t>(list.size()) < node.outputCount())
    return node.fail("there are fewer sizes than outputs");
  return Dims(list.begin(), list.end());
}

/// The output sizes in \p list, which are known only at run time; requires that
/// none is negative and that their sum is \p size.
static std::optional<Dims> dynamicSizes(NodeContext &node, Value list,
                                        const Dim &size) {
  auto length = listLength(node, list, "split");
  if (!length)
    return std::nullopt;
  if (*length < node.outputCount())
    return node.fail("there are fewer parts than outputs");
  Dims sizes;
  for (int64_t i = 0; i < *length; ++i)
    sizes.push_back(
        Dim(ShapedType::kDynamic,
            node.cast(node.sliceAxis(list, 0, i, i + 1), node.i64())));
  requireSizes(node, sizes, size);
  return sizes;
}

/// The output sizes of a Split: given, or as equal as possible.
static std::optional<Dims> splitSizes(NodeContext &node, Dim size) {
  bool given;
  if (node.expandsUnknown() && node.has(1) &&
      !node.knownIntegers(node.operand(1)))
    return dynamicSizes(node, node.operand(1), size);
  auto sizes = node.integersFrom(1, "split", &given);
  if (!sizes)
    return std::nullopt;
  if (given)
    return givenSizes(node, *sizes, size.size);
  int64_t pieces = node.version() >= 18
                       ? node.getInt("num_outputs", node.outputCount())
                       : node.outputCount();
  if (pieces < 1 || pieces < node.outputCount() || pieces > (1 << 20))
    return node.fail("the number of outputs is wrong");
  if (!size.isStatic()) {
    if (node.version() < 18 && node.requiresValues()) {
      const Value count = node.integers({pieces});
      const Value whole = node.op<stablehlo::MulOp>(
          node.op<stablehlo::DivOp>(size.extent, count), count);
      node.require(node.compare(
          sizeScalar(node, size, node.i64()),
          sizeScalar(node, Dim(ShapedType::kDynamic, whole), node.i64()),
          stablehlo::ComparisonDirection::EQ));
    }
    // The last outputs may be smaller, which only the slice shows.
    Value sum =
        node.op<stablehlo::AddOp>(size.extent, node.integers({pieces - 1}));
    return Dims(pieces,
                Dim(ShapedType::kDynamic,
                    node.op<stablehlo::DivOp>(sum, node.integers({pieces}))));
  }
  if (node.version() < 18 && size.size % pieces != 0)
    return node.fail("the dimension is no multiple of the number of outputs");
  int64_t each = llvm::divideCeil(size.size, pieces);
  Dims equal;
  for (int64_t rest = size.size; pieces > 0; --pieces) {
    equal.push_back(std::min(each, rest));
    rest -= equal.back().size;
  }
  return equal;
}

/// Slices [start, start + part) along an axis, clamped to its size.
static Value dynamicSlice(NodeContext &node, Value data, int64_t axis,
                          Value start, Value end) {
  if (!data || !start || !end)
    return {};
  Dims starts(node.rank(data), Dim(0)), limits = node.dims(data);
  Ints sizes(node.shape(data));
  Value size = limits[axis].isStatic() ? node.integers({limits[axis].size})
                                       : limits[axis].extent;
  starts[axis].extent = node.op<stablehlo::MinOp>(start, size);
  limits[axis].extent = node.op<stablehlo::MinOp>(end, size);
  starts[axis].size = limits[axis].size = sizes[axis] = ShapedType::kDynamic;
  return node.typed<stablehlo::RealDynamicSliceOp>(
      node.tensorType(sizes, node.element(data)), data, node.extents(starts),
      node.extents(limits), node.integers(Ints(node.rank(data), 1)));
}

static LogicalResult importSplit(NodeContext &node) {
  Value data = node.operand(0);
  auto axis = node.axis(node.getInt("axis", 0), node.rank(data));
  if (!axis)
    return failure();
  auto sizes = splitSizes(node, node.dim(data, *axis));
  if (!sizes)
    return failure();
  // Static slice sizes would span the whole dimension.
  if (ShapedType::isDynamic(node.size(data, *axis)) &&
      llvm::all_of(*sizes, [](const Dim &part) { return part.isStatic(); })) {
    Dims whole = node.dims(data);
    whole[*axis] = 0;
    for (const Dim &part : *sizes)
      whole[*axis].size += part.size;
    data = node.reshape(data, whole);
  }
  Values pieces;
  int64_t start = 0;
  Value dynamicStart = node.integers({0});
  for (int64_t i = 0; i < node.outputCount(); ++i) {
    const Dim &part = (*sizes)[i];
    if (part.isStatic()) {
      pieces.push_back(
          node.wants(i) ? node.sliceAxis(data, *axis, start, start + part.size)
                        : Value());
      start += part.size;
      continue;
    }
    Value end = node.op<stablehlo::AddOp>(dynamicStart, part.extent);
    pieces.push_back(node.wants(i)
                         ? dynamicSlice(node, data, *axis, dynamicStart, end)
                         : Value());
    dynamicStart = end;
  }
  return node.results(pieces);
}

//===----------------------------------------------------------------------===//
// Slice
//===----------------------------------------------------------------------===//

/// The elements of an input as bounds, static as far as they are known.
static std::optional<std::vector<SliceBound>>
readBounds(NodeContext &node, int64_t input, StringRef name) {
  std::vector<SliceBound> bounds;
  if (node.version() < 10 && node.inputCount() == 1) {
    for (int64_t each : node.getInts(name))
      bounds.push_back({Element::integer(each), {}, 0});
    return bounds;
  }
  Value list = node.operand(input);
  if (!listLength(node, list, name))
    return std::nullopt;
  return formats::sliceBounds(node, list);
}

/// Since opset 10, and in DynamicSlice before it, all but the data are inputs.
static LogicalResult importSlice(NodeContext &node) {
  Value data = node.operand(0);
  int64_t rank = node.rank(data);
  auto starts = readBounds(node, 1, "starts"),
       ends = readBounds(node, 2, "ends");
  if (!starts || !ends)
    return failure();
  int64_t count = starts->size();
  bool given;
  auto axes = node.integersFrom(3, "axes", &given);
  if (!axes)
    return failure();
  if (!given)
    *axes = llvm::to_vector(llvm::seq<int64_t>(0, count));
  Ints steps(count, 1);
  if (node.has(4)) {
    auto known = node.integersFrom(4, "steps");
    if (!known)
      return failure();
    steps = *known;
  }
  if (static_cast<int64_t>(ends->size()) != count ||
      static_cast<int64_t>(axes->size()) != count ||
      static_cast<int64_t>(steps.size()) != count)
    return node.fail("starts, ends, axes and steps differ in length");

  Slicer cut(node, data);
  for (int64_t i = 0; i < count; ++i) {
    auto axis = node.axis((*axes)[i], rank);
    if (!axis)
      return failure();
    if (steps[i] == 0)
      return node.fail("a step is zero");
    cut.along(*axis, (*starts)[i], (*ends)[i], steps[i]);
  }
  return node.result(cut.finish());
}

static LogicalResult importGather(NodeContext &node) {
  Value data = node.operand(0);
  auto axis = node.axis(node.getInt("axis", 0), node.rank(data));
  if (!axis || !indicesFit(node, node.operand(1), data, *axis))
    return failure();
  return node.result(
      node.op<nn::TakeOp>(data, node.operand(1), static_cast<uint64_t>(*axis)));
}

llvm::ArrayRef<Operator> slicingOperators() {
  static const Operator table[] = {
      {"Concat", "", 1, importConcat, 1, anyNumber},
      {"DynamicSlice", "", 1, importSlice, 3, 4},
      {"Gather", "", 1, importGather, 2, 2},
      {"Slice", "", 1, importSlice, 1, 5},
      {"Split", "", 1, importSplit, 1, 2},
  };
  return table;
}

} // namespace sinter::onnx
