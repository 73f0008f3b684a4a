// Concatenate, split, transpose, pad and similar.

#include "formats/import/Building.h"
#include "formats/import/SizeArithmetic.h"
#include "formats/import/Slices.h"
#include "formats/paddle/Operators.h"
#include "formats/paddle/ops/Windows.h"

using namespace mlir;
using sinter::stablehlo::ComparisonDirection;

namespace sinter::paddle {

//===----------------------------------------------------------------------===//
// Concatenate and split
//===----------------------------------------------------------------------===//

static LogicalResult importConcat(OperatorContext &op) {
  Values pieces = op.operands("X");
  auto axisList = op.integersFrom({"AxisTensor"}, "axis");
  if (pieces.empty() || !axisList || op.failed())
    return failure();
  // An empty tensor may have rank 1 whatever the others' rank is.
  const int64_t most = op.rank(
      *std::max_element(pieces.begin(), pieces.end(), [&](Value a, Value b) {
        return op.rank(a) < op.rank(b);
      }));
  if (most > 1)
    llvm::erase_if(pieces, [&](Value part) {
      return op.rank(part) == 1 && op.size(part, 0) == 0;
    });
  auto axis = op.axis(axisList->empty() ? 0 : axisList->front(), most);
  if (!axis)
    return failure();
  return op.result("Out", op.concatenate(pieces, *axis));
}

static LogicalResult importStack(OperatorContext &op) {
  Values pieces = op.operands("X");
  if (pieces.empty() || op.failed())
    return failure();
  auto axis = op.axis(op.getInt("axis", 0), op.rank(pieces[0]) + 1);
  if (!axis)
    return failure();
  for (Value &part : pieces)
    part = op.unsqueeze(part, {*axis});
  return op.result("Y", op.concatenate(pieces, *axis));
}

/// The slices along an axis, which is removed.
static LogicalResult unstack(OperatorContext &op, StringRef slot) {
  Value x = op.operand("X");
  if (!x)
    return failure();
  auto axis = op.axis(op.getInt("axis", 0), op.rank(x));
  if (!axis)
    return failure();
  Values pieces;
  const auto count = static_cast<int64_t>(op.outputCount(slot));
  const int64_t size = op.size(x, *axis);
  if (!ShapedType::isDynamic(size) && size != count)
    return op.fail("there are " + Twine(count) + " outputs for " + Twine(size) +
                   " slices");
  for (int64_t i = 0; i < count; ++i)
    pieces.push_back(op.squeeze(op.sliceAxis(x, *axis, i, i + 1), {*axis}));
  return op.results(slot, pieces);
}
static LogicalResult importUnstack(OperatorContext &op) {
  return unstack(op, "Y");
}
static LogicalResult importUnbind(OperatorContext &op) {
  return unstack(op, "Out");
}

/// The sizes of a split: given, one of them possibly inferred (-1 for a dynamic
/// dimension), or all equal.
static std::optional<Ints> splitSizes(OperatorContext &op, int64_t size) {
  const auto count = static_cast<int64_t>(op.outputCount("Out"));
  auto sizes = op.integersFrom({"SectionsTensorList"}, "sections");
  if (!sizes)
    return std::nullopt;
  if (sizes->empty()) {
    if (ShapedType::isDynamic(size))
      return op.unknown("equal slices of a dimension of unknown size");
    const int64_t pieces =
        op.getInt("num", 0) > 0 ? op.getInt("num", 0) : count;
    if (pieces != count || pieces < 1 || size % pieces != 0)
      return op.fail("the dimension is no multiple of the number of outputs");
    return Ints(pieces, size / pieces);
  }
  if (static_cast<int64_t>(sizes->size()) != count)
    return op.fail("there are " + Twine(sizes->size()) + " sections for " +
                   Twine(count) + " outputs");
  int64_t sum = 0;
  int64_t *rest = nullptr;
  for (int64_t &each : *sizes) {
    if (each == -1 && !rest)
      rest = &each;
    else if (each < 0 || llvm::AddOverflow(sum, each, sum))
      return op.fail("a section is negative or too large");
  }
  if (rest && ShapedType::isDynamic(size)) {
    if (op.expandsUnknown())
      return sizes;
    return op.unknown("a section is what is left of a dimension of unknown "
                      "size");
  }
  if (rest)
    *rest = size - sum;
  if (rest ? *rest < 0 : (!ShapedType::isDynamic(size) && sum != size))
    return op.fail("the sections do not sum up to the dimension");
  return sizes;
}

/// Splits a dynamic dimension into equal outputs.
static LogicalResult splitDynamic(OperatorContext &op, Value x, int64_t axis) {
  const auto count = static_cast<int64_t>(op.outputCount("Out"));
  Dims sizes = op.dims(x);
  sizes[axis] =
      Dim(ShapedType::kDynamic,
          op.op<stablehlo::DivOp>(sizes[axis].extent, op.integers({count})));
  sizes.insert(sizes.begin() + axis, Dim(count));
  Value apart = op.reshape(x, ArrayRef<Dim>(sizes));
  Values pieces;
  for (int64_t i = 0; i < count; ++i)
    pieces.push_back(op.squeeze(op.sliceAxis(apart, axis, i, i + 1), {axis}));
  return op.results("Out", pieces);
}

/// The elements from \p start to \p end along an axis; a negative index and an
/// end of 0 count from the end.
static Value sliceFrom(OperatorContext &op, Value x, int64_t axis,
                       int64_t start, int64_t end) {
  formats::Slicer slicer(op, x);
  slicer.along(axis, {formats::Element::integer(start), {}, 0},
               {formats::Element::integer(
                    end == 0 ? std::numeric_limits<int64_t>::max() : end),
                {},
                0},
               1);
  return slicer.finish();
}

static LogicalResult importSplit(OperatorContext &op) {
  Value x = op.operand("X");
  auto axisList = op.integersFrom({"AxisTensor"}, "axis");
  if (!x || !axisList)
    return failure();
  auto axis = op.axis(axisList->empty() ? 0 : axisList->front(), op.rank(x));
  if (!axis)
    return failure();
  const bool isEqual =
      !op.has("SectionsTensorList") && op.getInts("sections").empty();
  if (isEqual && ShapedType::isDynamic(op.size(x, *axis)) &&
      op.expandsUnknown() && op.outputCount("Out") > 0)
    return splitDynamic(op, x, *axis);
  auto sizes = splitSizes(op, op.size(x, *axis));
  if (!sizes)
    return failure();
  // After the inferred size, indices count from the end.
  Values pieces;
  int64_t start = 0, rest = 0;
  for (int64_t size : *sizes)
    rest += std::max<int64_t>(size, 0);
  for (int64_t size : *sizes) {
    if (size == -1) {
      pieces.push_back(sliceFrom(op, x, *axis, start, start - rest));
      start -= rest;
    } else {
      pieces.push_back(start < 0 ? sliceFrom(op, x, *axis, start, start + size)
                                 : op.sliceAxis(x, *axis, start, start + size));
      start += size;
    }
  }
  return op.results("Out", pieces);
}

//===----------------------------------------------------------------------===//
// Permutations
//===----------------------------------------------------------------------===//

static LogicalResult importTranspose(OperatorContext &op) {
  Value x = op.operand("X");
  Ints order = op.getInts("axis");
  if (!x || op.failed())
    return failure();
  for (int64_t &each : order)
    each += each < 0 ? op.rank(x) : 0;
  return op.result("Out", op.transpose(x, order));
}

static LogicalResult importFlip(OperatorContext &op) {
  Value x = op.operand("X");
  if (!x)
    return failure();
  auto axes = op.axes(op.getInts("axis"), op.rank(x));
  if (!axes)
    return failure();
  return op.result("Out",
                   op.op<stablehlo::ReverseOp>(x, ArrayRef<int64_t>(*axes)));
}

/// Rolls a dynamic dimension.
static Value rollDynamic(OperatorContext &op, Value x, int64_t axis,
                         int64_t shift) {
  formats::SizeArithmetic a(op);
  const Dim size = op.dim(x, axis), divisor = a.max(size, 1);
  auto remainder = [&](const Dim &of) {
    return a.apply<stablehlo::RemOp>(of, divisor);
  };
  const Dim moved = remainder(a.add(remainder(shift), divisor)),
            start = a.subtract(size, moved);
  const formats::SliceBound cut{{}, start.extent, 0},
      first{formats::Element::integer(0), {}, 0},
      last{formats::Element::integer(std::numeric_limits<int64_t>::max()),
           {},
           0};
  auto part = [&](const formats::SliceBound &from,
                  const formats::SliceBound &to) {
    formats::Slicer slicer(op, x);
    slicer.along(axis, from, to, 1);
    return slicer.finish();
  };
  Values pieces = {part(cut, last), part(first, cut)};
  return op.concatenate(pieces, axis);
}

/// Shifts a dimension cyclically.
static LogicalResult importRoll(OperatorContext &op) {
  Value x = op.operand("X");
  auto shifts = op.integersFrom({"ShiftsTensor"}, "shifts");
  Ints axes = op.getInts("axis");
  if (!x || !shifts || op.failed())
    return failure();
  Dims sizes = op.dims(x);
  const bool isFlat = axes.empty();
  Value result = isFlat ? op.reshape(x, Dims{op.product(sizes)}) : x;
  if (isFlat)
    axes = {0};
  if (axes.size() != shifts->size())
    return op.fail("there is not one shift an axis");
  for (auto [each, shift] : llvm::zip_equal(axes, *shifts)) {
    auto axis = result ? op.axis(each, op.rank(result)) : std::nullopt;
    if (!axis)
      return failure();
    const int64_t size = op.size(result, *axis);
    if (ShapedType::isDynamic(size) && op.expandsUnknown()) {
      result = rollDynamic(op, result, *axis, shift);
      continue;
    }
    if (ShapedType::isDynamic(size))
      return op.unknown("dimension " + Twine(*axis) + " is unknown");
    const int64_t moved = size == 0 ? 0 : (shift % size + size) % size;
    if (moved != 0)
      result =
          op.concatenate(Values{op.sliceAxis(result, *axis, size - moved, size),
                                op.sliceAxis(result, *axis, 0, size - moved)},
                         *axis);
  }
  return op.result("Out",
                   isFlat ? op.reshape(result, ArrayRef<Dim>(sizes)) : result);
}

//===----------------------------------------------------------------------===//
// Triangles
//===----------------------------------------------------------------------===//

/// The elements below a diagonal, or above it; the rest is 0.
static LogicalResult keepTriangle(OperatorContext &op, bool isLower) {
  Value x = op.operand("X");
  if (!x)
    return failure();
  if (op.rank(x) < 2)
    return op.fail("X has fewer than two dimensions");
  Dims all = op.dims(x);
  ArrayRef<Dim> matrix = ArrayRef<Dim>(all).take_back(2);
  Value diagonal = op.binary<stablehlo::SubtractOp>(
      iota(op, matrix, 1, op.i64()), iota(op, matrix, 0, op.i64()));
  Value limit =
      op.scalar(op.i64(), static_cast<double>(op.getInt("diagonal", 0)));
  Value kept =
      op.compare(diagonal, limit,
                 isLower ? ComparisonDirection::LE : ComparisonDirection::GE);
  return op.result("Out", select(op, kept, x, op.scalar(op.element(x), 0)));
}
static LogicalResult importTrilTriu(OperatorContext &op) {
  return keepTriangle(op, op.getBool("lower", true));
}
static LogicalResult importTril(OperatorContext &op) {
  return keepTriangle(op, true);
}
static LogicalResult importTriu(OperatorContext &op) {
  return keepTriangle(op, false);
}

//===----------------------------------------------------------------------===//
// Padding
//===----------------------------------------------------------------------===//

static LogicalResult padWith(OperatorContext &op, Value x,
                             ArrayRef<int64_t> low, ArrayRef<int64_t> high,
                             StringRef mode, Value filler) {
  if (mode == "constant")
    return op.result("Out", op.op<stablehlo::PadOp>(x, filler, low, high,
                                                    Ints(low.size(), 0)));
  for (ArrayRef<int64_t> list : {low, high})
    for (int64_t each : list)
      if (each > formats::longestTable)
        return op.unsupported("padding of more than " +
                              Twine(formats::longestTable) + " elements");
  const StringRef known = mode == "replicate"  ? "edge"
                          : mode == "circular" ? "wrap"
                                               : mode;
  if (known != "edge" && known != "wrap" && known != "reflect")
    return op.fail("attribute 'mode' is '" + mode + "'");
  return op.result("Out", op.op<nn::PadModeOp>(x, known, low, high));
}

/// Paddings before and after each dimension, in order.
static LogicalResult importPad(OperatorContext &op) {
  Value x = op.operand("X");
  auto pads = op.integersFrom({"Paddings"}, "paddings");
  if (!x || !pads)
    return failure();
  if (static_cast<int64_t>(pads->size()) != 2 * op.rank(x))
    return op.fail("paddings has not two elements a dimension");
  Ints low, high;
  for (size_t i = 0; i < pads->size(); i += 2) {
    low.push_back((*pads)[i]);
    high.push_back((*pads)[i + 1]);
  }
  return padWith(op, x, low, high, "constant",
                 op.numberFrom("PadValue", "pad_value", 0, op.element(x)));
}

/// Pads the spatial dimensions of images. pad2d has [top, bottom, left, right],
/// the first dimension first; pad3d has the last one first.
static LogicalResult padImage(OperatorContext &op, bool isLastFirst,
                              StringRef valueName) {
  Value x = op.operand("X");
  auto pads = op.integersFrom({"Paddings"}, "paddings");
  if (!x || !pads)
    return failure();
  const bool isLast = hasChannelsLast(op);
  const int64_t rank = op.rank(x), spatial = rank - 2, first = isLast ? 1 : 2;
  if (spatial < 1 || static_cast<int64_t>(pads->size()) != 2 * spatial)
    return op.fail("paddings has not two elements a spatial dimension");
  Ints low(rank, 0), high(rank, 0);
  for (int64_t i = 0; i < spatial; ++i) {
    const int64_t at = first + (isLastFirst ? spatial - 1 - i : i);
    low[at] = (*pads)[2 * i];
    high[at] = (*pads)[2 * i + 1];
  }
  return padWith(op, x, low, high, op.getString("mode", "constant"),
                 op.numberFrom("", valueName, 0, op.element(x)));
}
static LogicalResult importPad2d(OperatorContext &op) {
  return padImage(op, false, "pad_value");
}
static LogicalResult importPad3d(OperatorContext &op) {
  return padImage(op, true, op.hasAttribute("value") ? "value" : "pad_value");
}

OperatorReaders movementReaders() {
  static const OperatorReader table[] = {
      {"concat", importConcat},
      {"flip", importFlip},
      {"pad", importPad},
      {"pad2d", importPad2d},
      {"pad3d", importPad3d},
      {"reverse", importFlip},
      {"roll", importRoll},
      {"split", importSplit},
      {"stack", importStack},
      {"transpose", importTranspose},
      {"transpose2", importTranspose},
      {"tril", importTril},
      {"tril_triu", importTrilTriu},
      {"triu", importTriu},
      {"unbind", importUnbind},
      {"unstack", importUnstack},
  };
  return table;
}

} // namespace sinter::paddle
