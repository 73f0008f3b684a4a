// Concat, Split, Slice, Gather.

#include "formats/import/Building.h"
#include "formats/onnx/Operators.h"
#include "formats/onnx/ops/Inputs.h"
#include "llvm/Support/MathExtras.h"
#include <tuple>

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

/// Bounds beyond this mean the end, whatever the size is.
static constexpr int64_t far = int64_t(1) << 30;

namespace {
/// A bound of a slice: a number, or element `index` of a list that is known
/// only at run time.
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

/// A bound, counted from the end where negative, as a value between 0 and the
/// size, or with \p reversed between -1 and the last place.
static Value clampBound(NodeContext &node, const Bounds &bound, Dim size,
                        bool reversed) {
  Value extent = size.isStatic() ? node.integers({size.size}) : size.extent;
  Value least = node.integers({reversed ? -1 : 0});
  Value most = reversed
                   ? node.op<stablehlo::SubtractOp>(extent, node.integers({1}))
                   : extent;
  if (bound.element.isInteger()) {
    int64_t value = bound.element.value;
    if (value < -far || (value == 0 && !reversed))
      return least;
    if (value > far || (value == -1 && reversed))
      return most;
    Value number = node.integers({value});
    return value < 0 ? node.op<stablehlo::MaxOp>(
                           node.op<stablehlo::AddOp>(extent, number), least)
                     : node.op<stablehlo::MinOp>(number, most);
  }
  Value number = bound.list;
  if (node.shape(number) != ArrayRef<int64_t>(1))
    number = node.sliceAxis(number, 0, bound.index, bound.index + 1);
  number = node.cast(number, node.i64());
  if (bound.element.kind != Element::Symbol) {
    Value negative = node.compare(number, node.integers({0}),
                                  stablehlo::ComparisonDirection::LT);
    number = node.op<stablehlo::SelectOp>(
        negative, node.op<stablehlo::AddOp>(number, extent), number);
    number = node.op<stablehlo::MaxOp>(number, least);
  }
  return node.op<stablehlo::MinOp>(number, most);
}

namespace {
/// One axis of a slice with known bounds, start and limit inside.
struct Range {
  int64_t start = 0, limit = 0, stride = 1;
};
} // namespace

/// ONNX's rule for bounds outside [0, size), for either direction.
static Range clampRange(int64_t start, int64_t end, int64_t step,
                        int64_t size) {
  auto fromEnd = [&](int64_t at) { return at < 0 ? at + size : at; };
  Range range;
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

/// Where a slice with a negative step begins and ends in the reversed
/// dimension, whose element i is element size - 1 - i.
static std::pair<Value, Value> openReversedRange(NodeContext &node,
                                                 const Bounds &start,
                                                 const Bounds &end, Dim size) {
  Value extent = size.isStatic() ? node.integers({size.size}) : size.extent;
  Value last = node.op<stablehlo::SubtractOp>(extent, node.integers({1}));
  Value from =
      node.op<stablehlo::SubtractOp>(last, clampBound(node, start, size, true));
  Value to =
      node.op<stablehlo::SubtractOp>(last, clampBound(node, end, size, true));
  return {from, node.op<stablehlo::MaxOp>(to, from)};
}

namespace {
/// A slice, put together axis by axis.
class Cut {
public:
  Cut(NodeContext &node, Value data)
      : node(node), data(data), strides(node.rank(data), 1),
        sizes(node.shape(data)), first(node.rank(data), 0),
        limit(node.shape(data)), starts(node.rank(data), Dim(0)),
        limits(node.dims(data)) {}

  void along(int64_t axis, const Bounds &start, const Bounds &end,
             int64_t step);
  LogicalResult finish();

private:
  void alongOpen(int64_t axis, const Bounds &start, const Bounds &end,
                 bool isReversed);

  NodeContext &node;
  Value data;
  Ints strides, sizes;
  /// What is known of the bounds.
  Ints first, limit, reversed;
  /// The same with what is known only at run time.
  Dims starts, limits;
  bool isKnown = true;
};
} // namespace

void Cut::along(int64_t axis, const Bounds &start, const Bounds &end,
                int64_t step) {
  const int64_t size = node.shape(data)[axis];
  if (step < 0)
    reversed.push_back(axis);
  if (!ShapedType::isDynamic(size) && start.element.isInteger() &&
      end.element.isInteger()) {
    Range range =
        clampRange(start.element.value, end.element.value, step, size);
    starts[axis] = first[axis] = range.start;
    limits[axis] = limit[axis] = range.limit;
    strides[axis] = range.stride;
    sizes[axis] = range.limit == range.start
                      ? 0
                      : (range.limit - range.start - 1) / range.stride + 1;
    return;
  }
  // The largest number of steps that can be taken back.
  strides[axis] =
      step < 0 ? -std::max(step, -std::numeric_limits<int64_t>::max()) : step;
  const bool isAll = end.element.isInteger() &&
                     (step == 1 ? start.element == Element::integer(0) &&
                                      end.element.value > far
                      : step == -1 ? start.element == Element::integer(-1) &&
                                         end.element.value < -far
                                   : false);
  if (!isAll)
    alongOpen(axis, start, end, step < 0);
}

void Cut::alongOpen(int64_t axis, const Bounds &start, const Bounds &end,
                    bool isReversed) {
  isKnown = false;
  const Dim whole = limits[axis];
  Value from, to;
  if (isReversed) {
    std::tie(from, to) = openReversedRange(node, start, end, whole);
  } else {
    from = clampBound(node, start, whole, false);
    to = node.op<stablehlo::MaxOp>(clampBound(node, end, whole, false), from);
  }
  starts[axis] = Dim(ShapedType::kDynamic, from);
  limits[axis] = Dim(ShapedType::kDynamic, to);
  sizes[axis] = ShapedType::kDynamic;
}

LogicalResult Cut::finish() {
  if (!reversed.empty())
    data = node.op<stablehlo::ReverseOp>(data, ArrayRef<int64_t>(reversed));
  if (isKnown && !ShapedType::isDynamicShape(limit))
    return node.result(node.op<stablehlo::SliceOp>(
        data, ArrayRef<int64_t>(first), ArrayRef<int64_t>(limit),
        ArrayRef<int64_t>(strides)));
  if (!data)
    return failure();
  return node.result(node.typed<stablehlo::RealDynamicSliceOp>(
      node.tensorType(sizes, node.element(data)), data, node.extents(starts),
      node.extents(limits), node.integers(strides)));
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

  Cut cut(node, data);
  for (int64_t i = 0; i < count; ++i) {
    auto axis = node.axis((*axes)[i], rank);
    if (!axis)
      return failure();
    if (steps[i] == 0)
      return node.fail("a step is zero");
    cut.along(*axis, (*starts)[i], (*ends)[i], steps[i]);
  }
  return cut.finish();
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
