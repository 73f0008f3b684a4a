// Concat, Split, Slice, Gather.

#include "formats/onnx/Operators.h"
#include "formats/onnx/ops/Lists.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace sinter::onnx {

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

/// The parts' sizes: given, or as equal as they can be.
static std::optional<Ints> partSizes(NodeContext &node, int64_t size) {
  bool given;
  auto sizes = node.integersFrom(1, "split", &given);
  if (!sizes)
    return std::nullopt;
  int64_t parts = node.version() >= 18
                      ? node.getInt("num_outputs", node.outputCount())
                      : node.outputCount();
  if (parts < 1 || parts < node.outputCount() || parts > (1 << 20))
    return node.fail("the number of outputs is wrong");
  if (!given) {
    if (node.version() < 18 && size % parts != 0)
      return node.fail("the dimension is no multiple of the number of outputs");
    int64_t each = llvm::divideCeil(size, parts);
    for (int64_t i = 0; i < parts; ++i) {
      sizes->push_back(std::min(each, size));
      size -= sizes->back();
    }
    return sizes;
  }
  int64_t sum = 0;
  for (int64_t part : *sizes)
    if (part < 0 || llvm::AddOverflow(sum, part, sum))
      return node.fail("a part has a negative size");
  if (sum != size)
    return node.fail("the parts' sizes do not sum up to the dimension");
  if (static_cast<int64_t>(sizes->size()) < node.outputCount())
    return node.fail("there are fewer parts than outputs");
  return sizes;
}

static LogicalResult importSplit(NodeContext &node) {
  Value data = node.operand(0);
  auto axis = node.axis(node.getInt("axis", 0), node.rank(data));
  if (!axis)
    return failure();
  int64_t size = node.shape(data)[*axis];
  if (ShapedType::isDynamic(size))
    return node.unsupported("the size of the dimension to split is known only "
                            "when run; give it with --shape");
  auto sizes = partSizes(node, size);
  if (!sizes)
    return failure();
  Values parts;
  int64_t start = 0;
  for (int64_t i = 0; i < node.outputCount(); ++i) {
    int64_t part = (*sizes)[i];
    parts.push_back(node.wants(i)
                        ? node.sliceAxis(data, *axis, start, start + part)
                        : Value());
    start += part;
  }
  return node.results(parts);
}

//===----------------------------------------------------------------------===//
// Slice
//===----------------------------------------------------------------------===//

namespace {
/// A bound of a slice: a number, or element `index` of a list that is known
/// only when run.
struct Bounds {
  Element element;
  Value list;
  int64_t index;
};
} // namespace

/// The elements of an input, as far as they are known.
static std::optional<std::vector<Bounds>>
readBounds(NodeContext &node, int64_t input, StringRef name) {
  std::vector<Bounds> bounds;
  if (node.version() < 10) {
    for (int64_t each : node.getInts(name))
      bounds.push_back({Element::integer(each), {}, 0});
    return bounds;
  }
  Value list = node.operand(input);
  auto length = listLength(node, list, name);
  if (!length)
    return std::nullopt;
  int64_t count = *length;
  Elements elements(count);
  if (auto known = node.knownElements(list))
    elements = *known;
  else if (auto integers = node.knownIntegers(list))
    for (auto [element, value] : llvm::zip_equal(elements, *integers))
      element = Element::integer(value);
  for (int64_t i = 0; i < count; ++i)
    bounds.push_back({elements[i], list, i});
  return bounds;
}

/// min(max(bound, 0), size), counted from the end where negative, as a value.
static Value clampBound(NodeContext &node, const Bounds &bound, Dim size) {
  Value extent = size.isStatic() ? node.integers({size.size}) : size.extent;
  Value zero = node.integers({0});
  if (bound.element.isInteger()) {
    int64_t value = bound.element.value;
    if (value == 0)
      return zero;
    if (value > (int64_t(1) << 30))
      return extent;
    Value number = node.integers({value});
    return value < 0 ? node.op<stablehlo::MaxOp>(
                           node.op<stablehlo::AddOp>(extent, number), zero)
                     : node.op<stablehlo::MinOp>(number, extent);
  }
  Value number = node.cast(
      node.sliceAxis(bound.list, 0, bound.index, bound.index + 1), node.i64());
  if (bound.element.kind != Element::Symbol) {
    Value negative =
        node.compare(number, zero, stablehlo::ComparisonDirection::LT);
    number = node.op<stablehlo::SelectOp>(
        negative, node.op<stablehlo::AddOp>(number, extent), number);
    number = node.op<stablehlo::MaxOp>(number, zero);
  }
  return node.op<stablehlo::MinOp>(number, extent);
}

namespace {
/// One axis of a slice with known bounds, start and limit inside.
struct Range {
  int64_t start = 0, limit = 0, stride = 1;
  bool reversed = false;
};
} // namespace

/// ONNX's rule for bounds outside [0, size), for either direction.
static Range clampRange(int64_t start, int64_t end, int64_t step,
                        int64_t size) {
  auto fromEnd = [&](int64_t at) { return at < 0 ? at + size : at; };
  Range range;
  range.reversed = step < 0;
  if (step > 0) {
    range.start = std::clamp<int64_t>(fromEnd(start), 0, size);
    range.limit = std::clamp<int64_t>(fromEnd(end), range.start, size);
    range.stride = step;
    return range;
  }
  // Of the reversed dimension, element i is element size - 1 - i.
  int64_t first = std::clamp<int64_t>(fromEnd(start), -1, size - 1);
  int64_t last = std::clamp<int64_t>(fromEnd(end), -1, size - 1);
  range.start = size - 1 - first;
  range.limit = std::max(range.start, size - 1 - last);
  range.stride = step == std::numeric_limits<int64_t>::min()
                     ? std::numeric_limits<int64_t>::max()
                     : -step;
  return range;
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

  Ints strides(rank, 1), sizes(node.shape(data)), first(rank, 0),
      limit(node.shape(data)), reversed;
  Dims startDims(rank, Dim(0)), limitDims;
  for (int64_t i = 0; i < rank; ++i)
    limitDims.push_back(node.dim(data, i));
  bool known = true;
  for (int64_t i = 0; i < count; ++i) {
    auto axis = node.axis((*axes)[i], rank);
    if (!axis)
      return failure();
    if (steps[i] == 0)
      return node.fail("a step is zero");
    Bounds &start = (*starts)[i], &end = (*ends)[i];
    int64_t size = node.shape(data)[*axis];
    strides[*axis] = steps[i];
    if (!ShapedType::isDynamic(size) && start.element.isInteger() &&
        end.element.isInteger()) {
      Range range =
          clampRange(start.element.value, end.element.value, steps[i], size);
      if (range.reversed)
        reversed.push_back(*axis);
      first[*axis] = range.start;
      limit[*axis] = range.limit;
      strides[*axis] = range.stride;
      startDims[*axis] = range.start;
      limitDims[*axis] = range.limit;
      sizes[*axis] = range.limit == range.start
                         ? 0
                         : (range.limit - range.start - 1) / range.stride + 1;
      continue;
    }
    if (steps[i] < 0)
      return node.unsupported("a negative step needs sizes and bounds; give "
                              "them with --shape");
    Dim whole = limitDims[*axis];
    bool all = start.element == Element::integer(0) &&
               end.element.isInteger() &&
               end.element.value > (int64_t(1) << 30) && steps[i] == 1;
    if (all)
      continue;
    known = false;
    Value from = clampBound(node, start, whole);
    startDims[*axis] = Dim(ShapedType::kDynamic, from);
    limitDims[*axis] =
        Dim(ShapedType::kDynamic,
            node.op<stablehlo::MaxOp>(clampBound(node, end, whole), from));
    sizes[*axis] = ShapedType::kDynamic;
  }
  if (!reversed.empty())
    data = node.op<stablehlo::ReverseOp>(data, ArrayRef<int64_t>(reversed));
  if (known && !ShapedType::isDynamicShape(limit))
    return node.result(node.op<stablehlo::SliceOp>(
        data, ArrayRef<int64_t>(first), ArrayRef<int64_t>(limit),
        ArrayRef<int64_t>(strides)));
  if (!data)
    return failure();
  return node.result(node.typed<stablehlo::RealDynamicSliceOp>(
      node.tensorType(sizes, node.element(data)), data, node.extents(startDims),
      node.extents(limitDims), node.integers(strides)));
}

static LogicalResult importGather(NodeContext &node) {
  Value data = node.operand(0);
  auto axis = node.axis(node.getInt("axis", 0), node.rank(data));
  if (!axis)
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
