// Operators that move, repeat or add elements by a fixed pattern.

#include "formats/import/Building.h"
#include "formats/import/Filling.h"
#include "formats/onnx/Operators.h"
#include "formats/onnx/ops/Inputs.h"
#include "graph/nn/TensorBuilder.h"

using namespace mlir;
using sinter::stablehlo::ComparisonDirection;

namespace sinter::onnx {

//===----------------------------------------------------------------------===//
// Pad, Tile
//===----------------------------------------------------------------------===//

namespace {
struct Padding {
  Ints low, high;
};
} // namespace

/// The padding of each dimension: all starts, then all ends; from opset 18 on
/// possibly only for some axes.
static std::optional<Padding> readPadding(NodeContext &node, int64_t rank) {
  auto pads = node.version() < 11
                  ? node.getInts(node.version() < 2 ? "paddings" : "pads")
                  : node.integersFrom(1, "pads");
  if (!pads)
    return std::nullopt;
  Ints axes = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  if (node.has(3)) {
    auto given = node.integersFrom(3, "axes");
    if (!given)
      return std::nullopt;
    axes.clear();
    for (int64_t each : *given) {
      auto axis = node.axis(each, rank);
      if (!axis)
        return std::nullopt;
      axes.push_back(*axis);
    }
  }
  if (pads->size() != 2 * axes.size())
    return node.fail("pads has " + Twine(pads->size()) + " elements, not " +
                     Twine(2 * axes.size()));
  Padding padding{Ints(rank, 0), Ints(rank, 0)};
  for (auto [i, axis] : llvm::enumerate(axes)) {
    padding.low[axis] = (*pads)[i];
    padding.high[axis] = (*pads)[i + axes.size()];
  }
  return padding;
}

/// Pads by amounts that are known only at run time.
static LogicalResult padDynamic(NodeContext &node, Value x, StringRef mode) {
  const int64_t rank = node.rank(x);
  Ints axes = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  if (node.has(3)) {
    auto given = node.integersFrom(3, "axes");
    if (!given)
      return failure();
    axes.clear();
    for (int64_t each : *given) {
      auto axis = node.axis(each, rank);
      if (!axis)
        return failure();
      axes.push_back(*axis);
    }
  }
  Value list = node.operand(1);
  const int64_t count = axes.size();
  if (node.rank(list) != 1 || node.size(list, 0) != 2 * count)
    return node.unknown("the length of input 'pads' is unknown");
  Dims low(rank, Dim(0)), high(rank, Dim(0));
  auto element = [&](int64_t i) {
    return Dim(ShapedType::kDynamic,
               node.cast(node.sliceAxis(list, 0, i, i + 1), node.i64()));
  };
  for (auto [i, axis] : llvm::enumerate(axes)) {
    low[axis] = element(i);
    high[axis] = element(i + count);
  }
  if (mode != "constant") {
    nn::TensorBuilder emit(node.builder(), node.location());
    auto amount = [&](const Dim &dim) {
      return nn::Size::computed(emit.convert(dim.extent, emit.integerType(32)));
    };
    for (int64_t axis : axes)
      x = nn::padDynamic(emit, x, mode, axis, amount(low[axis]),
                         amount(high[axis]));
    return node.result(x);
  }
  Value filler =
      node.has(2) ? scalarInput(node, 2) : node.scalar(node.element(x), 0);
  return node.result(node.typed<stablehlo::DynamicPadOp>(
      node.tensorType(Ints(rank, ShapedType::kDynamic), node.element(x)), x,
      filler, node.extents(low), node.extents(high),
      node.integers(Ints(rank, 0))));
}

static LogicalResult importPad(NodeContext &node) {
  Value x = node.operand(0);
  if (!x)
    return failure();
  std::string mode = node.getString("mode", "constant");
  if (node.expandsUnknown() && node.version() >= 11 &&
      !node.knownIntegers(node.operand(1)))
    return padDynamic(node, x, mode);
  auto padding = readPadding(node, node.rank(x));
  if (!padding)
    return failure();
  if (mode != "constant")
    for (const Ints &list : {padding->low, padding->high})
      for (int64_t each : list)
        if (each > formats::longestTable)
          return node.unsupported("padding of more than " +
                                  Twine(formats::longestTable) + " elements");
  if (mode != "constant")
    return node.result(node.op<nn::PadModeOp>(
        x, StringRef(mode), ArrayRef<int64_t>(padding->low),
        ArrayRef<int64_t>(padding->high)));
  Value filler = node.has(2)
                     ? scalarInput(node, 2)
                     : node.scalar(node.element(x), node.getFloat("value", 0));
  return node.result(node.op<stablehlo::PadOp>(
      x, filler, ArrayRef<int64_t>(padding->low),
      ArrayRef<int64_t>(padding->high),
      ArrayRef<int64_t>(Ints(padding->low.size(), 0))));
}

/// How often each dimension is repeated. Opset 1 had one axis and its count.
static std::optional<Dims> readRepeats(NodeContext &node, Value x) {
  int64_t rank = node.rank(x);
  if (node.version() < 6) {
    auto tiles = node.integersFrom(1, "tiles");
    auto axis = node.integersFrom(2, "axis");
    if (!tiles || !axis)
      return std::nullopt;
    if (tiles->size() != 1 || axis->size() != 1)
      return node.fail("tiles or axis is not one number");
    auto which = node.axis(axis->front(), rank);
    if (!which)
      return std::nullopt;
    Dims repeats(rank, Dim(1));
    if (tiles->front() < 0)
      return node.fail("a number of repeats is negative");
    repeats[*which] = tiles->front();
    return repeats;
  }
  Value list = node.operand(1);
  if (!list)
    return std::nullopt;
  if (node.rank(list) == 1 && !node.isStatic(list))
    return node.unknown("the length of input 'repeats' is unknown");
  if (node.rank(list) != 1 || node.size(list, 0) != rank)
    return node.fail("repeats has not one element a dimension");
  auto known = node.knownElements(list);
  Dims repeats;
  for (int64_t i = 0; i < rank; ++i) {
    if (known && (*known)[i].isInteger() && (*known)[i].value < 0)
      return node.fail("a number of repeats is negative");
    if (known && (*known)[i].isInteger())
      repeats.push_back((*known)[i].value);
    else
      repeats.push_back(
          Dim(ShapedType::kDynamic, node.sliceAxis(list, 0, i, i + 1)));
  }
  return repeats;
}

static LogicalResult importTile(NodeContext &node) {
  Value x = node.operand(0);
  if (!x)
    return failure();
  auto repeats = readRepeats(node, x);
  return repeats ? node.result(tile(node, x, *repeats)) : failure();
}

//===----------------------------------------------------------------------===//
// Between depth and space
//===----------------------------------------------------------------------===//

/// \p dim divided by a positive divisor of it.
static Dim quotient(NodeContext &node, const Dim &dim, int64_t divisor) {
  if (dim.isStatic()) {
    if (dim.size % divisor != 0)
      node.fail("a dimension of " + Twine(dim.size) +
                " is no multiple of the block size");
    return dim.size / divisor;
  }
  return Dim(ShapedType::kDynamic,
             node.op<stablehlo::DivOp>(dim.extent, node.integers({divisor})));
}

/// The input's dimensions [N, C, H, W] and the block size.
static std::optional<std::pair<Dims, int64_t>> readBlocks(NodeContext &node,
                                                          Value x) {
  int64_t block = node.getInt("blocksize", 0);
  if (block < 1 || block > (1 << 15))
    return node.fail("attribute 'blocksize' is out of range");
  if (node.rank(x) != 4)
    return node.fail("the input has not four dimensions");
  return std::pair(node.dims(x), block);
}

static LogicalResult importDepthToSpace(NodeContext &node) {
  Value x = node.operand(0);
  if (!x)
    return failure();
  auto read = readBlocks(node, x);
  if (!read)
    return failure();
  auto &[d, block] = *read;
  std::string mode = node.getString("mode", "DCR");
  if (mode != "DCR" && mode != "CRD")
    return node.fail("attribute 'mode' is not DCR or CRD");
  Dim depth = quotient(node, d[1], block * block);
  Value result;
  if (mode == "DCR")
    result = node.transpose(
        node.reshape(x, ArrayRef<Dim>({d[0], block, block, depth, d[2], d[3]})),
        {0, 3, 4, 1, 5, 2});
  else
    result = node.transpose(
        node.reshape(x, ArrayRef<Dim>({d[0], depth, block, block, d[2], d[3]})),
        {0, 1, 4, 2, 5, 3});
  return node.result(node.reshape(
      result, ArrayRef<Dim>({d[0], depth, node.product({d[2], block}),
                             node.product({d[3], block})})));
}

static LogicalResult importSpaceToDepth(NodeContext &node) {
  Value x = node.operand(0);
  if (!x)
    return failure();
  auto read = readBlocks(node, x);
  if (!read)
    return failure();
  auto &[d, block] = *read;
  Dim height = quotient(node, d[2], block), width = quotient(node, d[3], block);
  Value split = node.transpose(
      node.reshape(x, ArrayRef<Dim>({d[0], d[1], height, block, width, block})),
      {0, 3, 5, 1, 2, 4});
  return node.result(node.reshape(
      split, ArrayRef<Dim>(
                 {d[0], node.product({d[1], block * block}), height, width})));
}

//===----------------------------------------------------------------------===//
// Diagonals
//===----------------------------------------------------------------------===//

/// Column minus row, of each element of a matrix.
static Value diagonalOf(NodeContext &node, ArrayRef<Dim> sizes) {
  return node.binary<stablehlo::SubtractOp>(iota(node, sizes, 1, node.i64()),
                                            iota(node, sizes, 0, node.i64()));
}

/// The upper triangle has the diagonals from k on, the lower one those up to k.
static LogicalResult importTrilu(NodeContext &node) {
  Value x = node.operand(0);
  if (!x)
    return failure();
  if (node.rank(x) < 2)
    return node.fail("the input has fewer than two dimensions");
  Value k = node.has(1) ? node.cast(scalarInput(node, 1), node.i64())
                        : node.scalar(node.i64(), 0);
  Dims sizes = node.dims(x);
  Value kept =
      node.compare(diagonalOf(node, ArrayRef(sizes).take_back(2)), k,
                   node.getBool("upper", true) ? ComparisonDirection::GE
                                               : ComparisonDirection::LE);
  return node.result(select(node, kept, x, node.scalar(node.element(x), 0)));
}

static LogicalResult importEyeLike(NodeContext &node) {
  Value x = node.operand(0);
  if (!x)
    return failure();
  if (node.rank(x) != 2)
    return node.fail("the input has not two dimensions");
  Type element = node.element(x);
  if (node.hasAttribute("dtype"))
    element = node.numberType(node.getInt("dtype", 1));
  Value k = node.scalar(node.i64(), static_cast<double>(node.getInt("k", 0)));
  return node.result(node.cast(
      node.compare(diagonalOf(node, node.dims(x)), k, ComparisonDirection::EQ),
      element));
}

//===----------------------------------------------------------------------===//
// CenterCropPad
//===----------------------------------------------------------------------===//

/// Crops or zero-pads to a shape, around the centre.
static LogicalResult importCenterCropPad(NodeContext &node) {
  Value x = node.operand(0);
  auto shape = node.integersFrom(1, "shape");
  if (!x || !shape)
    return failure();
  int64_t rank = node.rank(x);
  Ints axes =
      node.getInts("axes", llvm::to_vector(llvm::seq<int64_t>(0, rank)));
  if (axes.size() != shape->size())
    return node.fail("shape has not one element an axis");
  Ints low(rank, 0), high(rank, 0);
  for (auto [each, size] : llvm::zip_equal(axes, *shape)) {
    auto axis = node.axis(each, rank);
    if (!axis)
      return failure();
    int64_t old = node.size(x, *axis);
    if (ShapedType::isDynamic(old))
      return node.unknown("dimension " + Twine(*axis) + " is unknown");
    if (size < 0)
      return node.fail("shape has a negative element");
    int64_t more = size - old;
    // Rounded down for padding and for cropping.
    low[*axis] = more >= 0 ? more / 2 : -(-more / 2);
    high[*axis] = more - low[*axis];
  }
  return node.result(node.pad(x, 0, low, high));
}

llvm::ArrayRef<Operator> rearrangingOperators() {
  static const Operator table[] = {
      {"CenterCropPad", "", 18, importCenterCropPad, 2, 2},
      {"DepthToSpace", "", 1, importDepthToSpace, 1, 1},
      {"EyeLike", "", 9, importEyeLike, 1, 1},
      {"Pad", "", 1, importPad, 1, 4},
      {"SpaceToDepth", "", 1, importSpaceToDepth, 1, 1},
      {"Tile", "", 1, importTile, 2, 3},
      {"Trilu", "", 14, importTrilu, 1, 2},
      {"Trilu", runtimeDomain, 1, importTrilu, 1, 2, false, true},
  };
  return table;
}

} // namespace sinter::onnx
