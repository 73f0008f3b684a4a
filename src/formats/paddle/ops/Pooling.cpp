// Window, global and adaptive pooling.

#include "formats/import/Building.h"
#include "formats/import/SizeArithmetic.h"
#include "formats/paddle/Operators.h"
#include "formats/paddle/ops/Windows.h"
#include "runtime/OptionNames.h"
#include "llvm/Support/MathExtras.h"
#include <limits>

using namespace mlir;

namespace sinter::paddle {

static constexpr double infinity = std::numeric_limits<double>::infinity();

/// The mean or maximum of each image.
static Value poolWhole(OperatorContext &op, Value x, bool isMax) {
  Ints axes = llvm::to_vector(llvm::seq<int64_t>(2, op.rank(x)));
  return isMax ? op.reduce<stablehlo::MaxOp>(x, axes, -infinity, true)
               : averageAlong(op, x, axes);
}

//===----------------------------------------------------------------------===//
// Adaptive pools
//===----------------------------------------------------------------------===//

/// The mean or maximum of \p count windows along \p axis; window i is [floor(i
/// * size / count), ceil((i + 1) * size / count)), so they may overlap and
/// differ in size. Gathers the elements of each; shorter ones are padded with
/// their last element with weight 0.
static Value poolAlong(OperatorContext &op, Value x, int64_t axis,
                       int64_t count, bool isMax) {
  const int64_t size = op.size(x, axis);
  if (size == count)
    return x;
  const auto tooLarge = [&] {
    return op.unsupported("an adaptive pool of that size");
  };
  if (count > formats::longestTable || size > formats::longestTable)
    return tooLarge();
  int64_t longest = 0;
  SmallVector<std::pair<int64_t, int64_t>> windows;
  for (int64_t i = 0; i < count; ++i) {
    windows.push_back(
        {i * size / count, llvm::divideCeil((i + 1) * size, count)});
    longest = std::max(longest, windows[i].second - windows[i].first);
  }
  if (count * longest > formats::longestTable)
    return tooLarge();
  Ints indices;
  SmallVector<double> weights;
  for (auto [begin, end] : windows)
    for (int64_t k = 0; k < longest; ++k) {
      indices.push_back(std::min(begin + k, end - 1));
      weights.push_back(begin + k < end ? 1.0 / static_cast<double>(end - begin)
                                        : 0.0);
    }
  Value taken =
      op.op<nn::TakeOp>(x, op.integers(indices), static_cast<uint64_t>(axis));
  if (!taken)
    return {};
  Dims split = op.dims(taken);
  split[axis] = Dim(count);
  split.insert(split.begin() + axis + 1, Dim(longest));
  if (isMax)
    return op.reduce<stablehlo::MaxOp>(op.reshape(taken, ArrayRef<Dim>(split)),
                                       {axis + 1}, -infinity, false);
  Ints shape(op.rank(taken), 1);
  shape[axis] = count * longest;
  Value weighted = op.binary<stablehlo::MulOp>(
      taken, numbers(op, op.element(x), weights, shape));
  return op.reduce<stablehlo::AddOp>(op.reshape(weighted, ArrayRef<Dim>(split)),
                                     {axis + 1}, 0, false);
}

/// The same along a dynamic dimension: broadcasts all elements to each window,
/// with a mask of those in it.
static Value poolDynamic(OperatorContext &op, Value x, int64_t axis,
                         int64_t count, bool isMax) {
  formats::SizeArithmetic a(op);
  const Dim size = op.dim(x, axis);
  // Along two dimensions, windows and elements.
  Dims shape(op.rank(x) + 1, Dim(1)), windows = shape, elements = shape;
  windows[axis] = Dim(count);
  elements[axis + 1] = size;
  auto number = [&](const Dim &dim) { return sizeScalar(op, dim, op.i64()); };
  Value window = iota(op, windows, axis, op.i64()),
        position = iota(op, elements, axis + 1, op.i64());
  auto bound = [&](Value index, int64_t more) {
    return op.binary<stablehlo::DivOp>(
        op.binary<stablehlo::AddOp>(
            op.binary<stablehlo::MulOp>(index, number(size)), number(more)),
        number(count));
  };
  Value begin = bound(window, 0),
        end = bound(op.binary<stablehlo::AddOp>(window, number(1)), count - 1);
  Value isInside = op.binary<stablehlo::AndOp>(
      op.compare(position, begin, stablehlo::ComparisonDirection::GE),
      op.compare(position, end, stablehlo::ComparisonDirection::LT));
  Value filler = op.scalar(op.element(x), isMax ? -infinity : 0);
  Value taken = select(op, isInside, op.unsqueeze(x, {axis}), filler);
  if (isMax)
    return op.reduce<stablehlo::MaxOp>(taken, {axis + 1}, -infinity, false);
  Value counts =
      op.cast(op.binary<stablehlo::SubtractOp>(end, begin), op.element(x));
  return op.binary<stablehlo::DivOp>(
      op.reduce<stablehlo::AddOp>(taken, {axis + 1}, 0, false),
      op.squeeze(counts, {axis + 1}));
}

/// Adaptive pooling to \p counts elements per spatial dimension.
static Value poolAdaptive(OperatorContext &op, Value x,
                          ArrayRef<int64_t> counts, bool isMax) {
  const int64_t spatial = op.rank(x) - 2;
  if (static_cast<int64_t>(counts.size()) != spatial)
    return op.fail("ksize has not one element a spatial dimension");
  Window window;
  bool isEven = true, isDynamic = false;
  for (int64_t i = 0; i < spatial; ++i) {
    const int64_t size = op.size(x, i + 2);
    if (counts[i] < 1 || counts[i] > formats::longestTable)
      return op.fail("ksize is not positive or too large");
    if (ShapedType::isDynamic(size) && !op.expandsUnknown())
      return op.unknown("an adaptive pool needs the size of the input; give it "
                        "with " +
                        optionText("shape"));
    isDynamic |= ShapedType::isDynamic(size);
    isEven &= size % counts[i] == 0 && size > 0;
    window.size.push_back(size / counts[i]);
  }
  if (isEven && !isDynamic) {
    window.strides = window.size;
    window.dilations.assign(spatial, 1);
    window.low = window.high = window.ceilPadding = Ints(spatial, 0);
    return isMax ? maxPool(op, x, window) : averagePool(op, x, window, false);
  }
  Value result = isMax ? x : formats::widened(op, x);
  for (int64_t i = 0; i < spatial && result; ++i)
    result = ShapedType::isDynamic(op.size(x, i + 2))
                 ? poolDynamic(op, result, i + 2, counts[i], isMax)
                 : poolAlong(op, result, i + 2, counts[i], isMax);
  return result ? op.cast(result, op.element(x)) : Value();
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

/// The mean of each window. If padding counts, then at the end only as much as
/// the padding at the beginning.
static Value poolMean(OperatorContext &op, Value x, Window window) {
  const bool countsPadding = !op.getBool("exclusive", true);
  if (countsPadding && !window.isDynamic())
    for (size_t i = 0; i < window.size.size(); ++i)
      window.ceilPadding[i] =
          window.high[i] - std::min(window.high[i], window.low[i]);
  return averagePool(op, x, window, countsPadding);
}

/// The index in its image of the maximum of each window, as i32.
static Value indicesInImage(OperatorContext &op, Value x,
                            const Window &window) {
  Value indices = op.op<nn::MaxPoolIndicesOp>(
      x, window.size, window.strides, window.dilations, window.low, window.high,
      /*column_major=*/false);
  Dims sizes = op.dims(x);
  Dim image = op.product(ArrayRef<Dim>(sizes).drop_front(2));
  Value inImage =
      op.binary<stablehlo::RemOp>(indices, sizeScalar(op, image, op.i64()));
  return inImage ? op.cast(inImage, op.builder().getI32Type()) : Value();
}

static LogicalResult pool(OperatorContext &op, bool isMax) {
  Value x = op.operand("X");
  if (!x)
    return failure();
  if (op.rank(x) < 3)
    return op.fail("X is not [N, C, spatial...]");
  const bool isLast = hasChannelsLast(op);
  if (isLast)
    x = channelsFirst(op, x);
  auto size = op.integersFrom({"KernelSize"}, "ksize");
  if (!size || op.failed())
    return failure();
  if (size->size() == 1)
    size->assign(op.rank(x) - 2, size->front());
  const bool isAdaptive = op.getBool("adaptive", false);
  const bool isWhole = op.getBool("global_pooling", false) ||
                       (isAdaptive && llvm::all_of(*size, [](int64_t each) {
                          return each == 1;
                        }));
  Value result, mask;
  if (isWhole) {
    result = poolWhole(op, x, isMax);
  } else if (isAdaptive) {
    result = poolAdaptive(op, x, *size, isMax);
  } else {
    auto window = readWindow(op, x, *size, op.getBool("ceil_mode", false));
    if (!window)
      return failure();
    result = isMax ? maxPool(op, x, *window) : poolMean(op, x, *window);
    if (op.wants("Mask") && !window->isDynamic() && result)
      mask = indicesInImage(op, x, *window);
  }
  auto laidOut = [&](Value value) {
    return isLast ? channelsLast(op, value) : value;
  };
  if (mask && mlir::failed(op.result("Mask", laidOut(mask))))
    return failure();
  return op.result("Out", result ? laidOut(result) : Value());
}

static LogicalResult importPool(OperatorContext &op) {
  const std::string kind = op.getString("pooling_type", "max");
  if (kind != "max" && kind != "avg")
    return op.fail("attribute 'pooling_type' is '" + kind + "'");
  return pool(op, kind == "max");
}
static LogicalResult importMaxPoolWithIndex(OperatorContext &op) {
  return pool(op, true);
}

OperatorReaders poolingReaders() {
  static const OperatorReader table[] = {
      {"max_pool2d_with_index", importMaxPoolWithIndex},
      {"max_pool3d_with_index", importMaxPoolWithIndex},
      {"pool2d", importPool},
      {"pool3d", importPool},
  };
  return table;
}

} // namespace sinter::paddle
