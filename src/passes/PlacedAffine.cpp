#include "passes/PlacedAffine.h"

#include "graph/Broadcast.h"
#include "graph/Constants.h"
#include "graph/interfaces/Axes.h"
#include "graph/stablehlo/StablehloOps.h"
#include "graph/stablehlo/Sums.h"
#include "passes/Matching.h"
#include "passes/ScaledNumbers.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <utility>

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter {

/// Constants with more elements than this are not treated as parameters of
/// channels.
static constexpr int64_t mostNumbers = int64_t(1) << 22;

//===----------------------------------------------------------------------===//
// Coefficients
//===----------------------------------------------------------------------===//

PlacedAffine PlacedAffine::along(int64_t dimension, ChannelAffine numbers) {
  PlacedAffine affine;
  affine.dimensions = {dimension};
  affine.sizes = {static_cast<int64_t>(numbers.scale.size())};
  affine.numbers = std::move(numbers);
  affine.simplify();
  return affine;
}

bool PlacedAffine::scales() const { return !isOne(numbers.scale); }

bool PlacedAffine::isPositive() const {
  return llvm::none_of(numbers.scale, [](double each) { return each < 0; });
}

PlacedAffine PlacedAffine::onlyScale() const {
  PlacedAffine affine = *this;
  affine.numbers.shift.assign(numbers.shift.size(), 0);
  affine.simplify();
  return affine;
}

std::optional<PlacedAffine> PlacedAffine::shiftBefore() const {
  PlacedAffine affine = *this;
  for (auto [scale, shift] :
       llvm::zip_equal(affine.numbers.scale, affine.numbers.shift)) {
    if (scale == 0)
      return std::nullopt;
    shift /= std::exchange(scale, 1);
  }
  affine.simplify();
  return affine;
}

std::optional<PlacedAffine> PlacedAffine::inverse() const {
  PlacedAffine affine = *this;
  for (auto [scale, shift] :
       llvm::zip_equal(affine.numbers.scale, affine.numbers.shift)) {
    if (scale == 0)
      return std::nullopt;
    scale = 1 / scale;
    shift *= -scale;
  }
  return affine;
}

namespace {

/// Size and stride of a dimension, or of an axis of one, among the
/// coefficients.
struct Stride {
  int64_t size, stride;
};

} // namespace

/// Whether neither scale nor shift varies along \p one.
static bool isConstantAlong(const ChannelAffine &numbers, Stride one) {
  for (size_t i = 0; i < numbers.scale.size(); ++i) {
    const auto flat = static_cast<int64_t>(i);
    const int64_t first = flat - flat / one.stride % one.size * one.stride;
    if (numbers.scale[i] != numbers.scale[first] ||
        numbers.shift[i] != numbers.shift[first])
      return false;
  }
  return true;
}

/// The number of elements; nothing where they are too many or a size is
/// dynamic.
static std::optional<int64_t> countOf(ArrayRef<int64_t> sizes) {
  int64_t count = 1;
  for (int64_t size : sizes)
    if (ShapedType::isDynamic(size) || llvm::MulOverflow(count, size, count) ||
        count > mostNumbers)
      return std::nullopt;
  return count;
}

/// \p count coefficients, each that of \p inner at the index that \p indexOf
/// returns; the identity where that is negative.
static ChannelAffine pick(const ChannelAffine &inner, int64_t count,
                          llvm::function_ref<int64_t(int64_t)> indexOf) {
  ChannelAffine picked = ChannelAffine::identity(count);
  for (int64_t i = 0; i < count; ++i)
    if (const int64_t index = indexOf(i); index >= 0) {
      picked.scale[i] = inner.scale[index];
      picked.shift[i] = inner.shift[index];
    }
  return picked;
}

/// \p affine with one coefficient for each index of \p dimensions, which
/// include its own.
static PlacedAffine spread(const PlacedAffine &affine,
                           ArrayRef<int64_t> dimensions,
                           ArrayRef<int64_t> sizes) {
  const SmallVector<int64_t> strides = stridesOf(sizes),
                             own = stridesOf(affine.sizes);
  PlacedAffine result;
  result.dimensions.assign(dimensions.begin(), dimensions.end());
  result.sizes.assign(sizes.begin(), sizes.end());
  result.numbers = pick(affine.numbers, *countOf(sizes), [&](int64_t i) {
    int64_t flat = 0;
    for (auto [dimension, size, stride] :
         llvm::zip_equal(dimensions, sizes, strides))
      if (auto found = llvm::find(affine.dimensions, dimension);
          found != affine.dimensions.end())
        flat += i / stride % size * own[found - affine.dimensions.begin()];
    return flat;
  });
  return result;
}

void PlacedAffine::simplify() {
  const SmallVector<int64_t> strides = stridesOf(sizes);
  SmallVector<int64_t> keptDimensions, keptSizes, keptStrides;
  for (auto [dimension, size, stride] :
       llvm::zip_equal(dimensions, sizes, strides)) {
    if (size != 0 && isConstantAlong(numbers, {size, stride}))
      continue;
    keptDimensions.push_back(dimension);
    keptSizes.push_back(size);
    keptStrides.push_back(stride);
  }
  if (keptDimensions.size() == dimensions.size())
    return;
  const SmallVector<int64_t> after = stridesOf(keptSizes);
  numbers = pick(numbers, *countOf(keptSizes), [&](int64_t i) {
    int64_t flat = 0;
    for (auto [size, stride, before] :
         llvm::zip_equal(keptSizes, after, keptStrides))
      flat += i / stride % size * before;
    return flat;
  });
  dimensions = std::move(keptDimensions);
  sizes = std::move(keptSizes);
}

std::optional<ChannelAffine> PlacedAffine::channels(int64_t dimension,
                                                    int64_t count) const {
  if (dimensions.empty())
    return pick(numbers, count, [](int64_t) { return 0; });
  if (dimensions.size() != 1 || dimensions.front() != dimension ||
      sizes.front() != count)
    return std::nullopt;
  return numbers;
}

bool align(ArrayRef<PlacedAffine *> list) {
  SmallVector<std::pair<int64_t, int64_t>> dimensionSizes;
  for (const PlacedAffine *each : list)
    for (auto [dimension, size] :
         llvm::zip_equal(each->dimensions, each->sizes))
      dimensionSizes.push_back({dimension, size});
  llvm::sort(dimensionSizes);
  dimensionSizes.erase(llvm::unique(dimensionSizes), dimensionSizes.end());
  const auto dimensions =
                 llvm::to_vector(llvm::make_first_range(dimensionSizes)),
             sizes = llvm::to_vector(llvm::make_second_range(dimensionSizes));
  if (!countOf(sizes))
    return false;
  for (PlacedAffine *each : list)
    *each = spread(*each, dimensions, sizes);
  return true;
}

std::optional<PlacedAffine> compose(const PlacedAffine &outer,
                                    const PlacedAffine &inner) {
  PlacedAffine both = outer, other = inner;
  if (!align({&both, &other}))
    return std::nullopt;
  both.numbers = compose(both.numbers, other.numbers);
  both.simplify();
  return both;
}

//===----------------------------------------------------------------------===//
// Across operations
//===----------------------------------------------------------------------===//

namespace {

/// An axis of a dimension, and its stride among the coefficients.
struct PlacedAxis {
  unsigned axis;
  Stride place;
};

/// The index on the other side for each index along a resized axis, or -1.
using Indices = SmallVector<int64_t>;

} // namespace

/// The axes of \p dimensions, whose sizes are \p sizes; nothing where the size
/// of one is dynamic.
static std::optional<SmallVector<PlacedAxis>>
axesIn(const Axes &axes, const TensorAxes &tensor, ArrayRef<int64_t> dimensions,
       ArrayRef<int64_t> sizes) {
  SmallVector<PlacedAxis> placed;
  for (auto [dimension, size, stride] :
       llvm::zip_equal(dimensions, sizes, stridesOf(sizes))) {
    const AxisList &list = tensor[dimension];
    int64_t step = stride;
    for (unsigned axis : llvm::reverse(list)) {
      const int64_t own = list.size() == 1 ? size : axes.axes[axis].size;
      if (ShapedType::isDynamic(own) || own < 1)
        return std::nullopt;
      placed.push_back({axis, {own, step}});
      step *= own;
    }
    if (!list.empty() && step != stride * size)
      return std::nullopt;
  }
  return placed;
}

static std::optional<int64_t> dimensionWith(const TensorAxes &tensor,
                                            unsigned axis) {
  for (auto [dimension, list] : llvm::enumerate(tensor))
    if (llvm::is_contained(list, axis))
      return static_cast<int64_t>(dimension);
  return std::nullopt;
}

/// \p affine of a tensor with the axes \p from as one of a tensor of \p shape
/// with the axes \p to.
static std::optional<PlacedAffine>
carried(const Axes &axes, const TensorAxes &from, const TensorAxes &to,
        ArrayRef<int64_t> shape, const PlacedAffine &affine,
        llvm::function_ref<std::optional<Indices>(unsigned axis)> resized) {
  auto placed = axesIn(axes, from, affine.dimensions, affine.sizes);
  if (!placed)
    return std::nullopt;
  llvm::erase_if(*placed, [&](const PlacedAxis &each) {
    return axes.axes[each.axis].kind != AxisKind::Resized &&
           isConstantAlong(affine.numbers, each.place);
  });
  PlacedAffine result;
  llvm::SmallDenseMap<unsigned, Indices> indices;
  for (const PlacedAxis &each : *placed) {
    const AxisKind kind = axes.axes[each.axis].kind;
    const auto dimension = dimensionWith(to, each.axis);
    if (!dimension || (kind != AxisKind::Kept && kind != AxisKind::Resized))
      return std::nullopt;
    if (!llvm::is_contained(result.dimensions, *dimension))
      result.dimensions.push_back(*dimension);
    if (kind != AxisKind::Resized)
      continue;
    auto found = to[*dimension].size() == 1 ? resized(each.axis) : std::nullopt;
    if (!found)
      return std::nullopt;
    indices[each.axis] = std::move(*found);
  }
  llvm::sort(result.dimensions);
  for (int64_t dimension : result.dimensions)
    result.sizes.push_back(shape[dimension]);
  const auto count = countOf(result.sizes);
  const auto target =
      count ? axesIn(axes, to, result.dimensions, result.sizes) : std::nullopt;
  if (!target)
    return std::nullopt;
  result.numbers = pick(affine.numbers, *count, [&](int64_t i) {
    int64_t place = 0;
    for (const PlacedAxis &each : *target) {
      auto source = llvm::find_if(*placed, [&](const PlacedAxis &other) {
        return other.axis == each.axis;
      });
      if (source == placed->end())
        continue;
      int64_t index = i / each.place.stride % each.place.size;
      if (auto found = indices.find(each.axis); found != indices.end())
        index = found->second[index];
      if (index < 0)
        return int64_t(-1);
      place += index * source->place.stride;
    }
    return place;
  });
  result.simplify();
  return result;
}

/// The index of the operand's slice for each slice of the result along \p axis.
static std::optional<Indices> sourcesOf(Operation *op, unsigned operand,
                                        const Axes &axes, unsigned axis) {
  const auto dimension = dimensionWith(axes.operands[operand], axis);
  return dimension ? cast<AffineFlowOpInterface>(op).getChannelSources(
                         operand, *dimension)
                   : std::nullopt;
}

/// The inverse of \p sources; nothing where a slice is taken twice.
static std::optional<Indices> inverted(const Indices &sources, int64_t size) {
  if (ShapedType::isDynamic(size))
    return std::nullopt;
  Indices inverse(size, -1);
  for (auto [i, source] : llvm::enumerate(sources)) {
    if (source < 0)
      continue;
    if (source >= size || inverse[source] >= 0)
      return std::nullopt;
    inverse[source] = static_cast<int64_t>(i);
  }
  return inverse;
}

std::optional<PlacedAffine> acrossToOperand(Operation *op, unsigned operand,
                                            const PlacedAffine &affine) {
  const std::optional<Axes> axes = axesOf(op);
  if (!axes)
    return std::nullopt;
  auto type = tensorOf(op->getOperand(operand));
  return carried(
      *axes, axes->results[0], axes->operands[operand], type.getShape(), affine,
      [&](unsigned axis) -> std::optional<Indices> {
        auto sources = sourcesOf(op, operand, *axes, axis);
        const auto dimension = dimensionWith(axes->operands[operand], axis);
        return sources ? inverted(*sources, type.getDimSize(*dimension))
                       : std::nullopt;
      });
}

/// \p affine with a coefficient for each slice of operand \p operand along the
/// dimensions in which the result also has slices of other operands.
static std::optional<PlacedAffine> apart(Operation *op, unsigned operand,
                                         const Axes &axes,
                                         const PlacedAffine &affine) {
  auto type = tensorOf(op->getOperand(operand));
  PlacedAffine all, own = affine;
  for (auto [dimension, list] : llvm::enumerate(axes.operands[operand])) {
    if (llvm::none_of(list, [&](unsigned axis) {
          return axes.axes[axis].kind == AxisKind::Resized;
        }))
      continue;
    all.dimensions.push_back(static_cast<int64_t>(dimension));
    all.sizes.push_back(type.getDimSize(dimension));
  }
  const auto count = countOf(all.sizes);
  if (!count)
    return std::nullopt;
  all.numbers = ChannelAffine::identity(*count);
  return align({&own, &all}) ? std::optional(std::move(own)) : std::nullopt;
}

std::optional<PlacedAffine> acrossToResult(Operation *op, unsigned operand,
                                           const PlacedAffine &affine,
                                           bool isSeparate) {
  const std::optional<Axes> axes = axesOf(op);
  std::optional<PlacedAffine> own =
      axes && isSeparate ? apart(op, operand, *axes, affine) : affine;
  if (!axes || !own)
    return std::nullopt;
  return carried(
      *axes, axes->operands[operand], axes->results[0],
      tensorOf(op->getResult(0)).getShape(), *own,
      [&](unsigned axis) { return sourcesOf(op, operand, *axes, axis); });
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

std::optional<AffineStep> affineStep(Operation *op) {
  if (op->getNumResults() != 1 || op->getNumOperands() == 0 ||
      !isa<RankedTensorType>(op->getResult(0).getType()) ||
      !isFloatTensor(op->getResult(0)))
    return std::nullopt;
  if (auto norm = dyn_cast<BatchNormInferenceOp>(op)) {
    const auto dimension = static_cast<int64_t>(norm.getFeatureIndex());
    auto step = channelStep(op, norm.getOperand(), dimension,
                            tensorOf(norm.getScale()).getDimSize(0));
    if (!step)
      return std::nullopt;
    return AffineStep{step->from,
                      PlacedAffine::along(dimension, std::move(step->affine))};
  }
  if (isa<NegOp>(op))
    return AffineStep{op->getOperand(0),
                      PlacedAffine{{}, {}, ChannelAffine{{-1.0}, {0.0}}}};
  if (!isa<AddOp, SubtractOp, MulOp, DivOp>(op))
    return std::nullopt;
  for (unsigned i : {0u, 1u}) {
    Value x = op->getOperand(i), other = op->getOperand(1 - i);
    if (x == other)
      continue;
    const auto dimension =
        channelDimensionOf(other, tensorOf(op->getResult(0)).getRank());
    if (!dimension)
      continue;
    const bool varies = *dimension >= 0;
    auto step = channelStep(
        op, x, *dimension,
        varies ? tensorOf(op->getResult(0)).getDimSize(*dimension) : 1);
    if (!step)
      continue;
    PlacedAffine affine;
    if (varies)
      affine = PlacedAffine::along(*dimension, std::move(step->affine));
    else
      affine.numbers = std::move(step->affine);
    return AffineStep{x, std::move(affine)};
  }
  return std::nullopt;
}

Value placeNumbers(OpBuilder &builder, const PlacedAffine &affine,
                   ArrayRef<double> numbers, Value like) {
  auto type = tensorOf(like);
  Value constant = makeConstant(
      builder, like.getLoc(),
      tensorOfDoubles(*elementTypeOf(type.getElementType()),
                      Shape(ArrayRef<int64_t>(affine.sizes)), numbers),
      "");
  return broadcastTo(builder, like.getLoc(), type, constant, affine.dimensions,
                     like);
}

std::optional<int64_t> normDimension(Value value, const PlacedAffine &affine,
                                     bool isTakenUp) {
  const bool isPrecise =
      isTakenUp && isNarrowFloat(tensorOf(value).getElementType());
  if (!affine.scales() || (!affine.shifts() && !isPrecise))
    return std::nullopt;
  if (affine.dimensions.size() == 1)
    return affine.dimensions.front();
  // All channels alike, where ONNX has them.
  auto type = tensorOf(value);
  if (!affine.dimensions.empty() || type.getRank() < 2 || type.isDynamicDim(1))
    return std::nullopt;
  return 1;
}

namespace {

/// y = (x - mean) * scale / sqrt(variance) + offset.
struct NormParameters {
  std::vector<double> scale, offset, mean, variance;
};

} // namespace

/// The parameters in \p type of a batch norm that scales and shifts so. For
/// floats narrower than f32 the variance is the best of a few for the scale,
/// and the mean makes up for the rounding of the shift: weights that absorb the
/// norm are rounded as if these had been f32.
static NormParameters normParameters(ElementType type, bool isNarrow,
                                     const ChannelAffine &affine) {
  const size_t count = affine.scale.size();
  NormParameters norm{affine.scale, affine.shift,
                      std::vector<double>(count, 0.0),
                      std::vector<double>(count, 1.0)};
  if (!isNarrow)
    return norm;
  norm.scale = roundedTo(type, affine.scale);
  norm.offset = roundedTo(type, affine.shift);
  for (int64_t step = 1; step < 64; ++step) {
    const double variance = 1 - static_cast<double>(step) / 128,
                 root = std::sqrt(variance);
    std::vector<double> scale = affine.scale;
    for (double &each : scale)
      each *= root;
    scale = roundedTo(type, scale);
    for (size_t i = 0; i < count; ++i) {
      const double before = norm.scale[i] / std::sqrt(norm.variance[i]);
      if (std::abs(scale[i] / root - affine.scale[i]) <
          std::abs(before - affine.scale[i])) {
        norm.scale[i] = scale[i];
        norm.variance[i] = variance;
      }
    }
  }
  for (size_t i = 0; i < count; ++i) {
    const double factor = norm.scale[i] / std::sqrt(norm.variance[i]);
    if (factor != 0)
      norm.mean[i] = (norm.offset[i] - affine.shift[i]) / factor;
  }
  return norm;
}

Value makeAffine(OpBuilder &builder, Value value, const PlacedAffine &affine,
                 bool isTakenUp) {
  const Location location = value.getLoc();
  auto type = tensorOf(value);
  if (const auto dimension = normDimension(value, affine, isTakenUp)) {
    const ElementType element = *elementTypeOf(type.getElementType());
    const int64_t count = type.getDimSize(*dimension);
    const NormParameters norm =
        normParameters(element, isNarrowFloat(type.getElementType()),
                       *affine.channels(*dimension, count));
    auto parameter = [&](ArrayRef<double> list) {
      return makeConstant(builder, location,
                          tensorOfDoubles(element, Shape{count}, list), "");
    };
    return builder.create<BatchNormInferenceOp>(
        location, type, value, parameter(norm.scale), parameter(norm.offset),
        parameter(norm.mean), parameter(norm.variance),
        builder.getF32FloatAttr(0), builder.getI64IntegerAttr(*dimension));
  }
  if (affine.scales())
    value = builder.create<MulOp>(
        location, type, value,
        placeNumbers(builder, affine, affine.numbers.scale, value));
  if (affine.shifts())
    value = builder.create<AddOp>(
        location, type, value,
        placeNumbers(builder, affine, affine.numbers.shift, value));
  return value;
}

} // namespace sinter
