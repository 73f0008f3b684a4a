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

/// The parts' sizes as they are given; \p size is open or must be their sum.
static std::optional<Dims> givenSizes(NodeContext &node, ArrayRef<int64_t> list,
                                      int64_t size) {
  int64_t sum = 0;
  for (int64_t part : list)
    if (part < 0 || llvm::AddOverflow(sum, part, sum))
      return node.fail("a part has a negative size");
  if (sum != size && !ShapedType::isDynamic(size))
    return node.fail("the parts' sizes do not sum up to the dimension");
  if (static_cast<int64_t>(list.size()) < node.outputCount())
    return node.fail("there are fewer parts than outputs");
  return Dims(list.begin(), list.end());
}

/// The elements of \p list, which are known only at run time.
static std::optional<Dims> openSizes(NodeContext &node, Value list) {
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
  return sizes;
}

/// The parts' sizes: given, or as equal as they can be.
static std::optional<Dims> partSizes(NodeContext &node, Dim size) {
  bool given;
  if (node.spellsUnknown() && node.has(1) &&
      !node.knownIntegers(node.operand(1)))
    return openSizes(node, node.operand(1));
  auto sizes = node.integersFrom(1, "split", &given);
  if (!sizes)
    return std::nullopt;
  if (given)
    return givenSizes(node, *sizes, size.size);
  int64_t parts = node.version() >= 18
                      ? node.getInt("num_outputs", node.outputCount())
                      : node.outputCount();
  if (parts < 1 || parts < node.outputCount() || parts > (1 << 20))
    return node.fail("the number of outputs is wrong");
  if (!size.isStatic()) {
    // The last parts may be smaller, which only shows when they are cut.
    Value sum =
        node.op<stablehlo::AddOp>(size.extent, node.integers({parts - 1}));
    return Dims(parts,
                Dim(ShapedType::kDynamic,
                    node.op<stablehlo::DivOp>(sum, node.integers({parts}))));
  }
  if (node.version() < 18 && size.size % parts != 0)
    return node.fail("the dimension is no multiple of the number of outputs");
  int64_t each = llvm::divideCeil(size.size, parts);
  Dims equal;
  for (int64_t rest = size.size; parts > 0; --parts) {
    equal.push_back(std::min(each, rest));
    rest -= equal.back().size;
  }
  return equal;
}

/// [start, start + part) along an axis, as much of it as there is.
static Value openPart(NodeContext &node, Value data, int64_t axis, Value start,
                      Value end) {
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
  auto sizes = partSizes(node, node.dim(data, *axis));
  if (!sizes)
    return failure();
  Values parts;
  int64_t start = 0;
  Value openStart = node.integers({0});
  for (int64_t i = 0; i < node.outputCount(); ++i) {
    const Dim &part = (*sizes)[i];
    if (part.isStatic()) {
      parts.push_back(
          node.wants(i) ? node.sliceAxis(data, *axis, start, start + part.size)
                        : Value());
      start += part.size;
      continue;
    }
    Value end = node.op<stablehlo::AddOp>(openStart, part.extent);
    parts.push_back(node.wants(i) ? openPart(node, data, *axis, openStart, end)
                                  : Value());
    openStart = end;
  }
  return node.results(parts);
}

//===----------------------------------------------------------------------===//
// Slice
//===----------------------------------------------------------------------===//

/// The elements of an input, as far as they are known.
static std::optional<std::vector<SliceBound>>
readBounds(NodeContext &node, int64_t input, StringRef name) {
  std::vector<SliceBound> bounds;
  if (node.version() < 10) {
    for (int64_t each : node.getInts(name))
      bounds.push_back({Element::integer(each), {}, 0});
    return bounds;
  }
  Value list = node.operand(input);
  if (!listLength(node, list, name))
    return std::nullopt;
  return formats::sliceBounds(node, list);
}

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
  if (node.version() >= 10 && node.has(4)) {
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
      {"Gather", "", 1, importGather, 2, 2},
      {"Slice", "", 1, importSlice, 1, 5},
      {"Split", "", 1, importSplit, 1, 2},
  };
  return table;
}

} // namespace sinter::onnx
