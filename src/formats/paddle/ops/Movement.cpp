// What moves, joins and repeats elements by a fixed pattern.

#include "formats/import/Building.h"
#include "formats/import/Filling.h"
#include "formats/paddle/Operators.h"
#include "formats/paddle/ops/Windows.h"

using namespace mlir;
using sinter::stablehlo::ComparisonDirection;

namespace sinter::paddle {

//===----------------------------------------------------------------------===//
// Joining and taking apart
//===----------------------------------------------------------------------===//

static LogicalResult importConcat(OperatorContext &op) {
  Values parts = op.operands("X");
  auto place = op.integersFrom({"AxisTensor"}, "axis");
  if (parts.empty() || !place || op.failed())
    return failure();
  // A list without elements has one dimension, whatever the others have.
  const int64_t most = op.rank(
      *std::max_element(parts.begin(), parts.end(), [&](Value a, Value b) {
        return op.rank(a) < op.rank(b);
      }));
  if (most > 1)
    llvm::erase_if(parts, [&](Value part) {
      return op.rank(part) == 1 && op.shape(part)[0] == 0;
    });
  auto axis = op.axis(place->empty() ? 0 : place->front(), most);
  if (!axis)
    return failure();
  return op.result("Out", op.concatenate(parts, *axis));
}

static LogicalResult importStack(OperatorContext &op) {
  Values parts = op.operands("X");
  if (parts.empty() || op.failed())
    return failure();
  auto axis = op.axis(op.getInt("axis", 0), op.rank(parts[0]) + 1);
  if (!axis)
    return failure();
  for (Value &part : parts)
    part = op.unsqueeze(part, {*axis});
  return op.result("Y", op.concatenate(parts, *axis));
}

/// The slices along an axis, without it.
static LogicalResult unstack(OperatorContext &op, StringRef slot) {
  Value x = op.operand("X");
  if (!x)
    return failure();
  auto axis = op.axis(op.getInt("axis", 0), op.rank(x));
  if (!axis)
    return failure();
  Values parts;
  const auto count = static_cast<int64_t>(op.outputCount(slot));
  const int64_t size = op.shape(x)[*axis];
  if (!ShapedType::isDynamic(size) && size != count)
    return op.fail("there are " + Twine(count) + " outputs for " + Twine(size) +
                   " slices");
  for (int64_t i = 0; i < count; ++i)
    parts.push_back(op.squeeze(op.sliceAxis(x, *axis, i, i + 1), {*axis}));
  return op.results(slot, parts);
}
static LogicalResult importUnstack(OperatorContext &op) {
  return unstack(op, "Y");
}
static LogicalResult importUnbind(OperatorContext &op) {
  return unstack(op, "Out");
}

/// The sizes of the parts: given, one of them perhaps as what is left, or all
/// the same.
static std::optional<Ints> partSizes(OperatorContext &op, int64_t size) {
  const auto count = static_cast<int64_t>(op.outputCount("Out"));
  auto sizes = op.integersFrom({"SectionsTensorList"}, "sections");
  if (!sizes)
    return std::nullopt;
  if (sizes->empty()) {
    if (ShapedType::isDynamic(size))
      return op.unknown("equal parts of a dimension of unknown size");
    const int64_t parts = op.getInt("num", 0) > 0 ? op.getInt("num", 0) : count;
    if (parts != count || parts < 1 || size % parts != 0)
      return op.fail("the dimension is no multiple of the number of outputs");
    return Ints(parts, size / parts);
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
  if (rest && ShapedType::isDynamic(size))
    return op.unknown("a section is what is left of a dimension of unknown "
                      "size");
  if (rest)
    *rest = size - sum;
  if (rest ? *rest < 0 : (!ShapedType::isDynamic(size) && sum != size))
    return op.fail("the sections do not sum up to the dimension");
  return sizes;
}

/// As many equal parts as outputs of a dimension that is known only at run
/// time.
static LogicalResult splitOpen(OperatorContext &op, Value x, int64_t axis) {
  const auto count = static_cast<int64_t>(op.outputCount("Out"));
  Dims sizes = op.dims(x);
  sizes[axis] =
      Dim(ShapedType::kDynamic,
          op.op<stablehlo::DivOp>(sizes[axis].extent, op.integers({count})));
  sizes.insert(sizes.begin() + axis, Dim(count));
  Value apart = op.reshape(x, ArrayRef<Dim>(sizes));
  Values parts;
  for (int64_t i = 0; i < count; ++i)
    parts.push_back(op.squeeze(op.sliceAxis(apart, axis, i, i + 1), {axis}));
  return op.results("Out", parts);
}

static LogicalResult importSplit(OperatorContext &op) {
  Value x = op.operand("X");
  auto place = op.integersFrom({"AxisTensor"}, "axis");
  if (!x || !place)
    return failure();
  auto axis = op.axis(place->empty() ? 0 : place->front(), op.rank(x));
  if (!axis)
    return failure();
  const bool isEqual =
      !op.has("SectionsTensorList") && op.getInts("sections").empty();
  if (isEqual && ShapedType::isDynamic(op.shape(x)[*axis]) &&
      op.spellsUnknown() && op.outputCount("Out") > 0)
    return splitOpen(op, x, *axis);
  auto sizes = partSizes(op, op.shape(x)[*axis]);
  if (!sizes)
    return failure();
  Values parts;
  int64_t start = 0;
  for (int64_t size : *sizes) {
    parts.push_back(op.sliceAxis(x, *axis, start, start + size));
    start += size;
  }
  return op.results("Out", parts);
}

//===----------------------------------------------------------------------===//
// Orders
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

/// Elements that leave a dimension at its end come in at its beginning.
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
    const int64_t size = op.shape(result)[*axis];
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

/// Channels in groups, the groups' first channels first.
static LogicalResult importShuffleChannel(OperatorContext &op) {
  Value x = op.operand("X");
  const int64_t group = op.getInt("group", 1);
  if (!x || op.failed())
    return failure();
  if (op.rank(x) != 4)
    return op.fail("X has not four dimensions");
  const int64_t channels = op.shape(x)[1];
  if (ShapedType::isDynamic(channels))
    return op.unknown("the number of channels is unknown");
  if (group < 1 || channels % group != 0)
    return op.fail("the channels are no multiple of group");
  Dims all = op.dims(x);
  Value apart = op.reshape(
      x, ArrayRef<Dim>({all[0], group, channels / group, all[2], all[3]}));
  return op.result("Out", op.reshape(op.transpose(apart, {0, 2, 1, 3, 4}),
                                     ArrayRef<Dim>(all)));
}

/// [N, C * r * r, H, W] as [N, C, H * r, W * r], or back.
static LogicalResult shufflePixels(OperatorContext &op, StringRef name,
                                   bool grows) {
  Value x = op.operand("X");
  const int64_t r = op.getInt(name, 1);
  if (!x || op.failed())
    return failure();
  if (op.rank(x) != 4 || r < 1 || r > (1 << 15))
    return op.fail("X has not four dimensions, or the factor is out of range");
  const bool isLast = hasChannelsLast(op);
  if (isLast)
    x = channelsFirst(op, x);
  Dims d = op.dims(x);
  auto divided = [&](const Dim &dim, int64_t by) {
    if (!dim.isStatic())
      return Dim(ShapedType::kDynamic,
                 op.op<stablehlo::DivOp>(dim.extent, op.integers({by})));
    if (dim.size % by != 0)
      op.fail("a dimension of " + Twine(dim.size) + " is no multiple of " +
              Twine(by));
    return Dim(dim.size / by);
  };
  Value result;
  if (grows) {
    Dim depth = divided(d[1], r * r);
    result = op.transpose(
        op.reshape(x, ArrayRef<Dim>({d[0], depth, r, r, d[2], d[3]})),
        {0, 1, 4, 2, 5, 3});
    result = op.reshape(result,
                        ArrayRef<Dim>({d[0], depth, op.product({d[2], Dim(r)}),
                                       op.product({d[3], Dim(r)})}));
  } else {
    Dim height = divided(d[2], r), width = divided(d[3], r);
    result = op.transpose(
        op.reshape(x, ArrayRef<Dim>({d[0], d[1], height, r, width, r})),
        {0, 1, 3, 5, 2, 4});
    result = op.reshape(
        result,
        ArrayRef<Dim>({d[0], op.product({d[1], Dim(r * r)}), height, width}));
  }
  if (result && isLast)
    result = channelsLast(op, result);
  return op.result("Out", result);
}
static LogicalResult importPixelShuffle(OperatorContext &op) {
  return shufflePixels(op, "upscale_factor", true);
}
static LogicalResult importPixelUnshuffle(OperatorContext &op) {
  return shufflePixels(op, "downscale_factor", false);
}

/// [N * T, C, H, W]: of the T pictures of a film the first part of the channels
/// comes from the picture before, as many from the one after; 0 beyond the
/// ends.
static LogicalResult importTemporalShift(OperatorContext &op) {
  Value x = op.operand("X");
  const int64_t length = op.getInt("seg_num", 1);
  const double part = op.getFloat("shift_ratio", 0.25);
  if (!x || op.failed())
    return failure();
  if (op.rank(x) != 4 || length < 1 || !(part >= 0) || part > 0.5)
    return op.fail("X has not four dimensions, or seg_num or shift_ratio is "
                   "out of range");
  const bool isLast = hasChannelsLast(op);
  if (isLast)
    x = channelsFirst(op, x);
  Dims all = op.dims(x);
  if (!all[1].isStatic())
    return op.unknown("the number of channels is unknown");
  if (!all[0].isStatic())
    return op.unknown("the number of pictures is unknown");
  if (all[0].size % length != 0)
    return op.fail("the pictures are no multiple of seg_num");
  const int64_t channels = all[1].size;
  const auto first = static_cast<int64_t>(static_cast<double>(channels) * part),
             second =
                 static_cast<int64_t>(static_cast<double>(channels) * 2 * part);
  Value films = op.reshape(x, ArrayRef<Dim>({all[0].size / length, length,
                                             channels, all[2], all[3]}));
  auto moved = [&](int64_t from, int64_t to, int64_t low, int64_t high) {
    Value own = op.sliceAxis(films, 2, from, to);
    return low == 0 && high == 0
               ? own
               : op.pad(own, 0, {0, low, 0, 0, 0}, {0, high, 0, 0, 0});
  };
  Values parts = {moved(0, first, 1, -1), moved(first, second, -1, 1),
                  moved(second, channels, 0, 0)};
  Value result = op.reshape(op.concatenate(parts, 2), ArrayRef<Dim>(all));
  if (result && isLast)
    result = channelsLast(op, result);
  return op.result("Out", result);
}

/// The windows of images, as columns: [N, C * window, windows].
static LogicalResult importUnfold(OperatorContext &op) {
  Value x = op.operand("X");
  Ints size = op.getInts("kernel_sizes"), strides = op.getInts("strides"),
       pads = op.getInts("paddings"), dilations = op.getInts("dilations");
  if (!x || op.failed())
    return failure();
  if (pads.size() == 2)
    pads.append({pads[0], pads[1]});
  if (op.rank(x) != 4 || size.size() != 2 || strides.size() != 2 ||
      pads.size() != 4 || dilations.size() != 2)
    return op.fail("X has not four dimensions, or a list not one element a "
                   "spatial dimension");
  auto isSane = [](int64_t each) { return each >= 0 && each < (1 << 20); };
  for (const Ints &list : {size, strides, pads, dilations})
    if (!llvm::all_of(list, isSane))
      return op.fail("a number is negative or too large");
  if (size[0] < 1 || size[1] < 1 || size[0] * size[1] > (1 << 12) ||
      strides[0] < 1 || strides[1] < 1 || dilations[0] < 1 || dilations[1] < 1)
    return op.fail("a window, stride or dilation is not positive or too large");
  Dims all = op.dims(x);
  if (!all[2].isStatic() || !all[3].isStatic())
    return op.unknown("the size of the images is unknown");
  x = op.pad(x, 0, {0, 0, pads[0], pads[1]}, {0, 0, pads[2], pads[3]});
  int64_t count[2];
  for (int i : {0, 1}) {
    const int64_t free = all[i + 2].size + pads[i] + pads[i + 2] -
                         (size[i] - 1) * dilations[i] - 1;
    if (free < 0)
      return op.fail("a window is larger than the image");
    count[i] = free / strides[i] + 1;
  }
  Values taken;
  for (int64_t i = 0; i < size[0]; ++i)
    for (int64_t j = 0; j < size[1]; ++j) {
      Value part = x;
      for (auto [axis, at] : {std::pair(0, i), std::pair(1, j)}) {
        const int64_t start = at * dilations[axis];
        part = op.sliceAxis(part, axis + 2, start,
                            start + (count[axis] - 1) * strides[axis] + 1,
                            strides[axis]);
      }
      taken.push_back(op.unsqueeze(part, {2}));
    }
  Dim rows = op.product({all[1], Dim(size[0] * size[1])});
  return op.result(
      "Y", op.reshape(op.concatenate(taken, 2),
                      ArrayRef<Dim>({all[0], rows, count[0] * count[1]})));
}

//===----------------------------------------------------------------------===//
// Repeating
//===----------------------------------------------------------------------===//

/// The elements of the vector \p list as sizes.
static std::optional<Dims> sizesIn(OperatorContext &op, Value list) {
  if (!list)
    return std::nullopt;
  if (op.rank(list) != 1 || !op.isStatic(list))
    return op.unknown("the number of dimensions is unknown");
  auto known = op.knownElements(list);
  Dims sizes;
  for (int64_t i = 0; i < op.shape(list)[0]; ++i)
    if (known && (*known)[i].isInteger())
      sizes.push_back((*known)[i].value);
    else
      sizes.push_back(
          Dim(ShapedType::kDynamic, op.sliceAxis(list, 0, i, i + 1)));
  return sizes;
}

/// The shorter of dimensions and repeats gets leading ones.
static LogicalResult tileBy(OperatorContext &op, Value list) {
  Value x = op.operand("X");
  auto repeats = sizesIn(op, list);
  if (!x || !repeats)
    return failure();
  for (const Dim &each : *repeats)
    if (each.isStatic() && each.size < 0)
      return op.fail("a number of repeats is negative");
  const auto rank = std::max<int64_t>(op.rank(x), repeats->size());
  repeats->insert(repeats->begin(), rank - repeats->size(), Dim(1));
  return op.result("Out", tile(op, op.alignRank(x, rank), *repeats));
}
static LogicalResult importTile(OperatorContext &op) {
  return tileBy(op, op.integersValue({"RepeatTimes", "repeat_times_tensor"},
                                     "repeat_times"));
}
static LogicalResult importExpandV1(OperatorContext &op) {
  return tileBy(op, op.integersValue({"ExpandTimes", "expand_times_tensor"},
                                     "expand_times"));
}

/// Broadcast to a shape in which -1 stays as it is.
static LogicalResult expandTo(OperatorContext &op, std::optional<Dims> sizes) {
  Value x = op.operand("X");
  if (!x || !sizes)
    return failure();
  const int64_t own = op.rank(x), rank = sizes->size();
  if (rank < own)
    return op.fail("the shape has fewer dimensions than X");
  for (int64_t i = 0; i < rank; ++i) {
    Dim &size = (*sizes)[i];
    const int64_t at = i - (rank - own);
    if (size.isStatic() && size.size == -1) {
      if (at < 0)
        return op.fail("the shape keeps a dimension that X lacks");
      size = op.dim(x, at);
      continue;
    }
    if (!size.isStatic() || at < 0)
      continue;
    const int64_t there = op.shape(x)[at];
    if (size.size < 0 ||
        (!ShapedType::isDynamic(there) && there != 1 && there != size.size))
      return op.fail("X does not broadcast to the shape");
  }
  return op.result(
      "Out",
      op.broadcastInDim(x, *sizes,
                        llvm::to_vector(llvm::seq<int64_t>(rank - own, rank))));
}
static LogicalResult importExpand(OperatorContext &op) {
  return expandTo(
      op, sizesIn(op, op.integersValue({"Shape", "expand_shapes_tensor"},
                                       "shape")));
}
static LogicalResult importExpandAs(OperatorContext &op) {
  for (StringRef slot : {"Y", "target_tensor"})
    if (op.has(slot))
      return expandTo(op, op.dims(op.operand(slot)));
  return expandTo(op, sizesIn(op, op.integersValue({}, "target_shape")));
}

/// Each of the tensors, broadcast to a dimension of its own.
static LogicalResult importMeshgrid(OperatorContext &op) {
  Values parts = op.operands("X");
  if (parts.empty() || op.failed())
    return failure();
  Dims sizes;
  for (Value part : parts) {
    if (op.rank(part) > 1)
      return op.fail("a tensor has more than one dimension");
    sizes.push_back(op.product(op.dims(part)));
  }
  Values results;
  for (auto [i, part] : llvm::enumerate(parts))
    results.push_back(op.broadcastInDim(op.reshape(part, Dims{sizes[i]}), sizes,
                                        {static_cast<int64_t>(i)}));
  return op.results("Out", results);
}

/// The part below a diagonal, or above it; the rest is 0.
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

/// Before and after each dimension, in their order.
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

/// The spatial dimensions of images. In pad2d [top, bottom, left, right], the
/// first dimension first; in pad3d the last one first.
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
      {"expand", importExpandV1},
      {"expand_as", importExpandAs},
      {"expand_as_v2", importExpandAs},
      {"expand_v2", importExpand},
      {"flip", importFlip},
      {"meshgrid", importMeshgrid},
      {"pad", importPad},
      {"pad2d", importPad2d},
      {"pad3d", importPad3d},
      {"pixel_shuffle", importPixelShuffle},
      {"pixel_unshuffle", importPixelUnshuffle},
      {"reverse", importFlip},
      {"roll", importRoll},
      {"shuffle_channel", importShuffleChannel},
      {"split", importSplit},
      {"stack", importStack},
      {"temporal_shift", importTemporalShift},
      {"tile", importTile},
      {"transpose", importTranspose},
      {"transpose2", importTranspose},
      {"tril", importTril},
      {"tril_triu", importTrilTriu},
      {"triu", importTriu},
      {"unbind", importUnbind},
      {"unfold", importUnfold},
      {"unstack", importUnstack},
  };
  return table;
}

} // namespace sinter::paddle
