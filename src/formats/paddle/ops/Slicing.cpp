// Slices.

#include "formats/import/SizeArithmetic.h"
#include "formats/import/Slices.h"
#include "formats/paddle/Operators.h"
#include "formats/paddle/ops/Listed.h"
#include "formats/paddle/ops/Results.h"

using namespace mlir;

namespace sinter::paddle {

/// Bounds of \p count axes from tensors, or from the attribute.
static std::optional<std::vector<formats::SliceBound>>
readBounds(OperatorContext &op, ArrayRef<StringRef> slots, StringRef name,
           size_t count) {
  Value list = op.integersValue(slots, name);
  if (!list)
    return std::nullopt;
  if (!op.isStatic(list))
    list = op.reshape(list, ArrayRef<int64_t>(static_cast<int64_t>(count)));
  if (!list)
    return std::nullopt;
  return formats::sliceBounds(op, list);
}

/// Slices along axes, then removes the dimensions in decrease_axis.
static LogicalResult cut(OperatorContext &op, ArrayRef<int64_t> steps) {
  Value x = op.operand("Input");
  Ints axes = op.getInts("axes");
  auto starts = readBounds(op, {"StartsTensorList", "StartsTensor"}, "starts",
                           axes.size());
  auto ends =
      readBounds(op, {"EndsTensorList", "EndsTensor"}, "ends", axes.size());
  if (!x || !starts || !ends || op.failed())
    return failure();
  if (starts->size() != axes.size() || ends->size() != axes.size() ||
      (!steps.empty() && steps.size() != axes.size()))
    return op.fail("axes, starts, ends and strides differ in length");
  formats::Slicer slicer(op, x);
  for (size_t i = 0; i < axes.size(); ++i) {
    auto axis = op.axis(axes[i], op.rank(x));
    if (!axis)
      return failure();
    const int64_t step = steps.empty() ? 1 : steps[i];
    if (step == 0)
      return op.fail("a stride is 0");
    formats::SliceBound end = (*ends)[i];
    // With a negative step, an end of -1 is before the first element, not the
    // last.
    if (step < 0 && end.element == formats::Element::integer(-1))
      end.element =
          formats::Element::integer(std::numeric_limits<int32_t>::min());
    slicer.along(*axis, (*starts)[i], end, step);
  }
  Value result = slicer.finish();
  auto gone = result ? op.axes(op.getInts("decrease_axis"), op.rank(result))
                     : std::nullopt;
  if (!gone)
    return failure();
  for (int64_t axis : *gone)
    if (op.size(result, axis) != 1 &&
        !ShapedType::isDynamic(op.size(result, axis)))
      return op.fail("a dimension of " + Twine(op.size(result, axis)) +
                     " elements, not 1, is to be taken away");
  if (!gone->empty())
    result = op.squeeze(result, *gone);
  return op.result("Out", asDeclared(op, "Out", result));
}

static LogicalResult importSlice(OperatorContext &op) {
  // A slice of an array of tensors is one element.
  if (op.bound("Input").kind == Bound::Array) {
    auto starts =
        op.integersFrom({"StartsTensorList", "StartsTensor"}, "starts");
    const auto &elements = op.bound("Input").elements;
    if (!starts)
      return failure();
    if (starts->size() != 1 || op.getInts("decrease_axis").size() != 1 ||
        starts->front() < 0 ||
        starts->front() >= static_cast<int64_t>(elements.size()))
      return op.unsupported("a part of an array of tensors");
    return op.result("Out", elements[starts->front()]);
  }
  return cut(op, {});
}

static LogicalResult importStridedSlice(OperatorContext &op) {
  auto steps =
      op.integersFrom({"StridesTensorList", "StridesTensor"}, "strides");
  return steps ? cut(op, *steps) : failure();
}

/// Slices from offsets. A size of -1 extends to the end.
static LogicalResult cropTo(OperatorContext &op, ArrayRef<Dim> sizes) {
  Value x = op.operand("X");
  auto offsets = op.integersFrom({"OffsetsTensor", "Offsets"}, "offsets");
  if (!x || !offsets)
    return failure();
  const int64_t rank = op.rank(x);
  if (offsets->empty())
    offsets->assign(rank, 0);
  if (static_cast<int64_t>(offsets->size()) != rank ||
      static_cast<int64_t>(sizes.size()) != rank)
    return op.fail("shape or offsets has not one element a dimension");
  formats::Slicer slicer(op, x);
  for (int64_t i = 0; i < rank; ++i) {
    const int64_t start = (*offsets)[i], there = op.size(x, i);
    const Dim &size = sizes[i];
    const bool isRest = size.size == -1;
    int64_t end = start;
    if (start < 0 ||
        (size.isStatic() && !isRest &&
         (size.size < 0 || llvm::AddOverflow(start, size.size, end))) ||
        (!ShapedType::isDynamic(there) && end > there))
      return op.fail("the part lies outside of X");
    formats::SliceBound to{formats::Element::integer(end), {}, 0};
    if (isRest)
      to.element =
          formats::Element::integer(std::numeric_limits<int64_t>::max());
    else if (!size.isStatic())
      to = {{}, op.op<stablehlo::AddOp>(size.extent, op.integers({start})), 0};
    slicer.along(i, {formats::Element::integer(start), {}, 0}, to, 1);
  }
  return op.result("Out", slicer.finish());
}
static LogicalResult importCropTensor(OperatorContext &op) {
  auto sizes = op.integersFrom({"ShapeTensor", "Shape"}, "shape");
  return sizes ? cropTo(op, Dims(sizes->begin(), sizes->end())) : failure();
}
/// The first generation takes the shape of Y, or the attribute.
static LogicalResult importCrop(OperatorContext &op) {
  if (op.has("Y")) {
    Value like = op.operand("Y");
    return like ? cropTo(op, op.dims(like)) : failure();
  }
  Ints sizes = op.getInts("shape");
  return cropTo(op, Dims(sizes.begin(), sizes.end()));
}

namespace {
/// The strided slice that set_value writes: elements before and after it,
/// between its elements, and its sizes.
struct StridedSlice {
  Dims low, high, sizes;
  Ints between;
};
} // namespace

/// Adds one dimension of \p size elements with dynamic bounds to a slice.
static void addDynamicRange(OperatorContext &op, StridedSlice &part,
                            int64_t axis, int64_t first, int64_t last,
                            int64_t step) {
  formats::SizeArithmetic a(op);
  const Dim size = part.sizes[axis];
  // No dimension is that long.
  step = std::min(step, int64_t(1) << 40);
  auto inside = [&](int64_t at) {
    return at < 0 ? a.max(a.add(size, at), 0)
                  : a.apply<stablehlo::MinOp>(size, at);
  };
  const Dim start = inside(first), end = a.max(inside(last), start),
            count = a.divide(a.add(a.subtract(end, start), step - 1), step);
  const Dim reach = a.max(a.add(a.multiply(a.subtract(count, 1), step), 1), 0);
  part.sizes[axis] = count;
  part.low[axis] = start;
  part.between[axis] = step - 1;
  part.high[axis] = a.subtract(a.subtract(size, start), reach);
}

/// axes, starts, ends and steps, all of which are known.
static std::optional<StridedSlice> readSlice(OperatorContext &op, Value x) {
  Ints axes = op.getInts("axes");
  auto starts = op.integersFrom({"StartsTensorList"}, "starts"),
       ends = op.integersFrom({"EndsTensorList"}, "ends"),
       steps = op.integersFrom({"StepsTensorList"}, "steps");
  if (!starts || !ends || !steps || op.failed())
    return std::nullopt;
  if (starts->size() != axes.size() || ends->size() != axes.size() ||
      steps->size() != axes.size())
    return op.fail("axes, starts, ends and steps differ in length");
  if (!op.isStatic(x) && !op.expandsUnknown())
    return op.unknown("the sizes of what is written to are unknown");
  const int64_t rank = op.rank(x);
  StridedSlice part{Dims(rank, Dim(0)), Dims(rank, Dim(0)), op.dims(x),
                    Ints(rank, 0)};
  for (size_t i = 0; i < axes.size(); ++i) {
    auto axis = op.axis(axes[i], rank);
    if (!axis)
      return std::nullopt;
    const int64_t size = op.size(x, *axis), step = (*steps)[i];
    if (step < 1)
      return op.unsupported("a part that goes backwards");
    if (ShapedType::isDynamic(size)) {
      addDynamicRange(op, part, *axis, (*starts)[i], (*ends)[i], step);
      continue;
    }
    auto inside = [&](int64_t at) {
      return std::clamp<int64_t>(at < 0 ? at + size : at, 0, size);
    };
    const int64_t start = inside((*starts)[i]),
                  end = std::max(start, inside((*ends)[i]));
    const int64_t count = end == start ? 0 : (end - start - 1) / step + 1;
    part.sizes[*axis] = count;
    part.low[*axis] = start;
    part.between[*axis] = count > 0 ? step - 1 : 0;
    part.high[*axis] = size - start - (count > 0 ? (count - 1) * step + 1 : 0);
  }
  return part;
}

/// Pads \p filled, of the slice's shape, with zeros to the shape of \p x.
static Value padSlice(OperatorContext &op, const StridedSlice &part,
                      Value filled, Value x) {
  if (!filled)
    return {};
  Ints low, high;
  for (auto [before, behind] : llvm::zip_equal(part.low, part.high)) {
    low.push_back(before.size);
    high.push_back(behind.size);
  }
  Value zero = op.scalar(op.element(filled), 0);
  if (!ShapedType::isDynamicShape(low) && !ShapedType::isDynamicShape(high))
    return op.op<stablehlo::PadOp>(filled, zero, low, high, part.between);
  return op.typed<stablehlo::DynamicPadOp>(
      op.tensorType(op.shape(x), op.element(filled)), filled, zero,
      op.extents(part.low), op.extents(part.high), op.integers(part.between));
}

/// Replaces a strided slice of Input by a tensor, or constants, that broadcast
/// to it.
static LogicalResult importSetValue(OperatorContext &op) {
  Value x = op.operand("Input");
  if (!x)
    return failure();
  if (!op.getInts("none_axes").empty())
    return op.unsupported("a part with dimensions that X lacks");
  auto part = readSlice(op, x);
  Value value = op.has("ValueTensor")
                    ? op.cast(op.operand("ValueTensor"), op.element(x))
                    : listedValues(op, op.element(x));
  auto gone = op.axes(op.getInts("decrease_axes"), op.rank(x));
  if (!part || !value || !gone)
    return failure();
  if (!op.isStatic(value) && !op.expandsUnknown())
    return op.unknown("the size of what is written is unknown");
  // Insert dimensions in decrease_axes again, with size 1.
  Dims own = op.dims(value);
  const auto kept = op.rank(x) - static_cast<int64_t>(gone->size());
  if (static_cast<int64_t>(own.size()) <= kept) {
    own.insert(own.begin(), kept - own.size(), Dim(1));
    for (int64_t axis : *gone)
      own.insert(own.begin() + axis, Dim(1));
  }
  const int64_t offset = op.rank(x) - static_cast<int64_t>(own.size());
  if (offset < 0)
    return op.fail("what is written has more dimensions than the part");
  value = op.broadcastInDim(
      op.reshape(value, ArrayRef<Dim>(own)), part->sizes,
      llvm::to_vector(llvm::seq<int64_t>(offset, op.rank(x))));
  Value everywhere = op.broadcastInDim(op.scalar(op.i1(), 1), part->sizes, {});
  return op.result(
      "Out", op.op<stablehlo::SelectOp>(padSlice(op, *part, everywhere, x),
                                        padSlice(op, *part, value, x), x));
}

OperatorReaders slicingReaders() {
  static const OperatorReader table[] = {
      {"crop", importCrop},
      {"crop_tensor", importCropTensor},
      {"set_value", importSetValue},
      {"slice", importSlice},
      {"strided_slice", importStridedSlice},
  };
  return table;
}

} // namespace sinter::paddle
