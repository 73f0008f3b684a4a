// Slices.

#include "formats/import/Slices.h"
#include "formats/paddle/Operators.h"
#include "formats/paddle/ops/Listed.h"
#include "formats/paddle/ops/Results.h"

using namespace mlir;

namespace sinter::paddle {

/// Bounds from tensors, or from the attribute.
static std::optional<std::vector<formats::SliceBound>>
readBounds(OperatorContext &op, ArrayRef<StringRef> slots, StringRef name) {
  Value list = op.integersValue(slots, name);
  if (!list)
    return std::nullopt;
  if (op.rank(list) != 1 || !op.isStatic(list))
    return op.unknown("how many axes are cut is unknown");
  return formats::sliceBounds(op, list);
}

/// The cut along axes, then without the dimensions of decrease_axis.
static LogicalResult cut(OperatorContext &op, ArrayRef<int64_t> steps) {
  Value x = op.operand("Input");
  Ints axes = op.getInts("axes");
  auto starts = readBounds(op, {"StartsTensorList", "StartsTensor"}, "starts");
  auto ends = readBounds(op, {"EndsTensorList", "EndsTensor"}, "ends");
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
    // Backwards, -1 is the place before the first, not the last.
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
    if (op.shape(result)[axis] != 1 &&
        !ShapedType::isDynamic(op.shape(result)[axis]))
      return op.fail("a dimension of " + Twine(op.shape(result)[axis]) +
                     " elements, not 1, is to be taken away");
  if (!gone->empty())
    result = op.squeeze(result, *gone);
  return op.result("Out", asDeclared(op, "Out", result));
}

static LogicalResult importSlice(OperatorContext &op) {
  // An array of tensors is cut into one of its elements.
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

/// The part of a shape that begins at offsets; a size of -1 is what is left.
static LogicalResult importCrop(OperatorContext &op) {
  Value x = op.operand("X");
  auto offsets = op.integersFrom({"OffsetsTensor", "Offsets"}, "offsets");
  auto sizes = op.integersFrom({"ShapeTensor", "Shape"}, "shape");
  if (!x || !offsets || !sizes)
    return failure();
  const int64_t rank = op.rank(x);
  if (offsets->empty())
    offsets->assign(rank, 0);
  if (static_cast<int64_t>(offsets->size()) != rank ||
      static_cast<int64_t>(sizes->size()) != rank)
    return op.fail("shape or offsets has not one element a dimension");
  Value result = x;
  for (int64_t i = 0; i < rank; ++i) {
    const int64_t start = (*offsets)[i], there = op.shape(x)[i];
    const bool isRest = (*sizes)[i] == -1;
    if (isRest && start == 0)
      continue;
    if (isRest && ShapedType::isDynamic(there))
      return op.unknown("dimension " + Twine(i) + " is unknown");
    int64_t end = there;
    if (start < 0 ||
        (!isRest &&
         ((*sizes)[i] < 0 || llvm::AddOverflow(start, (*sizes)[i], end))) ||
        end < start || (!ShapedType::isDynamic(there) && end > there))
      return op.fail("the part lies outside of X");
    result = op.sliceAxis(result, i, start, end);
  }
  return op.result("Out", result);
}

namespace {
/// The part of a tensor that set_value writes.
struct Part {
  Ints low, high, between, sizes;
};
} // namespace

/// axes, starts, ends and steps, all of which are known.
static std::optional<Part> readPart(OperatorContext &op, Value x) {
  Ints axes = op.getInts("axes");
  auto starts = op.integersFrom({"StartsTensorList"}, "starts"),
       ends = op.integersFrom({"EndsTensorList"}, "ends"),
       steps = op.integersFrom({"StepsTensorList"}, "steps");
  if (!starts || !ends || !steps || op.failed())
    return std::nullopt;
  if (starts->size() != axes.size() || ends->size() != axes.size() ||
      steps->size() != axes.size())
    return op.fail("axes, starts, ends and steps differ in length");
  if (!op.isStatic(x))
    return op.unknown("the sizes of what is written to are unknown");
  const int64_t rank = op.rank(x);
  Part part{Ints(rank, 0), Ints(rank, 0), Ints(rank, 0), Ints(op.shape(x))};
  for (size_t i = 0; i < axes.size(); ++i) {
    auto axis = op.axis(axes[i], rank);
    if (!axis)
      return std::nullopt;
    const int64_t size = op.shape(x)[*axis], step = (*steps)[i];
    if (step < 1)
      return op.unsupported("a part that goes backwards");
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

/// Input with a part of it replaced by a tensor, or numbers, that broadcast to
/// it.
static LogicalResult importSetValue(OperatorContext &op) {
  Value x = op.operand("Input");
  if (!x)
    return failure();
  if (!op.getInts("none_axes").empty())
    return op.unsupported("a part with dimensions that X lacks");
  auto part = readPart(op, x);
  Value value = op.has("ValueTensor")
                    ? op.cast(op.operand("ValueTensor"), op.element(x))
                    : listedValues(op, op.element(x));
  auto gone = op.axes(op.getInts("decrease_axes"), op.rank(x));
  if (!part || !value || !gone)
    return failure();
  // Dimensions that were taken away are there again, of one element.
  Ints own(op.shape(value));
  const auto kept = op.rank(x) - static_cast<int64_t>(gone->size());
  if (!op.isStatic(value))
    return op.unknown("the size of what is written is unknown");
  if (static_cast<int64_t>(own.size()) <= kept) {
    own.insert(own.begin(), kept - own.size(), 1);
    for (int64_t axis : *gone)
      own.insert(own.begin() + axis, 1);
  }
  const int64_t offset = op.rank(x) - static_cast<int64_t>(own.size());
  if (offset < 0)
    return op.fail("what is written has more dimensions than the part");
  value = op.broadcastInDim(
      op.reshape(value, own), Dims(part->sizes.begin(), part->sizes.end()),
      llvm::to_vector(llvm::seq<int64_t>(offset, op.rank(x))));
  auto spread = [&](Value filled, Type element) {
    return op.op<stablehlo::PadOp>(filled, op.scalar(element, 0), part->low,
                                   part->high, part->between);
  };
  Value isWritten = spread(op.splat(op.i1(), 1, part->sizes), op.i1());
  return op.result("Out", op.op<stablehlo::SelectOp>(
                              isWritten, spread(value, op.element(x)), x));
}

OperatorReaders slicingReaders() {
  static const OperatorReader table[] = {
      {"crop_tensor", importCrop},
      {"set_value", importSetValue},
      {"slice", importSlice},
      {"strided_slice", importStridedSlice},
  };
  return table;
}

} // namespace sinter::paddle
