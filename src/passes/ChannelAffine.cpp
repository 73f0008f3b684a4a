#include "passes/ChannelAffine.h"

#include "graph/Broadcast.h"
#include "graph/Constants.h"
#include "graph/interfaces/Axes.h"
#include "graph/interfaces/Interfaces.h"
#include "graph/stablehlo/StablehloOps.h"
#include "passes/Matching.h"
#include <array>
#include <cmath>

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter {

bool ChannelAffine::shifts() const {
  return llvm::any_of(shift, [](double each) { return each != 0; });
}
bool ChannelAffine::isFinite() const {
  auto finite = [](double each) { return std::isfinite(each); };
  return llvm::all_of(scale, finite) && llvm::all_of(shift, finite);
}

ChannelAffine compose(const ChannelAffine &outer, const ChannelAffine &inner) {
  ChannelAffine both = outer;
  for (size_t i = 0; i < both.scale.size(); ++i) {
    both.scale[i] = outer.scale[i] * inner.scale[i];
    both.shift[i] = outer.scale[i] * inner.shift[i] + outer.shift[i];
  }
  return both;
}

namespace {

/// A constant whose dimension i is dimension `place[i]` of a value that it is
/// broadcast to.
struct PlacedConstant {
  Tensor tensor;
  SmallVector<int64_t> place;
};

} // namespace

/// A constant of the shape of a value of rank \p rank, seen through the
/// broadcast that made it.
static std::optional<PlacedConstant> placedConstant(Value value, int64_t rank) {
  std::optional<Broadcast> broadcast = Broadcast::of(value);
  std::optional<Tensor> tensor =
      constantValue(broadcast ? broadcast->operand : value);
  if (!tensor)
    return std::nullopt;
  SmallVector<int64_t> place =
      broadcast ? broadcast->dimensions
                : llvm::to_vector(llvm::seq<int64_t>(0, rank));
  if (tensor->rank() != static_cast<int64_t>(place.size()))
    return std::nullopt;
  return PlacedConstant{std::move(*tensor), std::move(place)};
}

std::optional<std::vector<double>>
channelNumbers(Value value, int64_t rank, int64_t dimension, int64_t channels) {
  auto constant = placedConstant(value, rank);
  if (!constant || constant->tensor.size() == 0)
    return std::nullopt;
  const Tensor &tensor = constant->tensor;
  // The channel of an element is its flat index / stride % size.
  int64_t stride = 1, size = 1;
  for (int64_t i = tensor.rank() - 1, step = 1; i >= 0; --i) {
    if (constant->place[i] == dimension) {
      stride = step;
      size = tensor.dim(i);
    }
    step *= tensor.dim(i);
  }
  if (size != 1 && size != channels)
    return std::nullopt;
  std::vector<double> numbers(channels);
  for (int64_t c = 0; c < channels; ++c)
    numbers[c] = tensor.toDouble(size == 1 ? 0 : c * stride);
  for (int64_t i = 0; i < tensor.size(); ++i)
    if (!(tensor.toDouble(i) == numbers[size == 1 ? 0 : i / stride % size]))
      return std::nullopt;
  return numbers;
}

std::optional<int64_t> channelDimensionOf(Value value, int64_t rank) {
  auto constant = placedConstant(value, rank);
  if (!constant || constant->tensor.size() == 0)
    return std::nullopt;
  const Tensor &tensor = constant->tensor;
  int64_t found = -1;
  for (int64_t i = tensor.rank() - 1, stride = 1; i >= 0; --i) {
    const int64_t size = tensor.dim(i);
    bool varies = false;
    for (int64_t flat = 0; size > 1 && !varies && flat < tensor.size(); ++flat)
      varies = !(tensor.toDouble(flat) ==
                 tensor.toDouble(flat - flat / stride % size * stride));
    if (varies && found >= 0)
      return std::nullopt;
    if (varies)
      found = constant->place[i];
    stride *= size;
  }
  return found;
}

/// The name of the constant that a value is computed from, or "".
static std::string nameOfSource(Value value) {
  for (unsigned depth = 0; depth < 8; ++depth) {
    Operation *op = value.getDefiningOp();
    if (!op)
      return "";
    if (isa<ConstantOp>(op))
      return constantName(value).str();
    if (op->getNumOperands() == 0)
      return "";
    value = op->getOperand(0);
  }
  return "";
}

static std::optional<ChannelStep>
batchNormStep(BatchNormInferenceOp op, int64_t dimension, int64_t channels) {
  if (static_cast<int64_t>(op.getFeatureIndex()) != dimension)
    return std::nullopt;
  const std::array<Value, 4> parameters = {op.getScale(), op.getOffset(),
                                           op.getMean(), op.getVariance()};
  std::array<std::vector<double>, 4> numbers;
  for (auto [list, value] : llvm::zip_equal(numbers, parameters)) {
    std::optional<Tensor> tensor = constantValue(value);
    if (!tensor || tensor->size() != channels)
      return std::nullopt;
    for (int64_t c = 0; c < channels; ++c)
      list.push_back(tensor->toDouble(c));
  }
  auto &[scale, offset, mean, variance] = numbers;
  double epsilon = op.getEpsilon().convertToDouble();
  ChannelStep step{op,
                   {},
                   AffineStepKind::BatchNorm,
                   ChannelAffine::identity(channels),
                   nameOfSource(op.getOffset())};
  for (int64_t c = 0; c < channels; ++c) {
    double spread = variance[c] + epsilon;
    if (!(spread > 0) || !std::isfinite(spread))
      return std::nullopt;
    double factor = scale[c] / std::sqrt(spread);
    step.affine.scale[c] = factor;
    step.affine.shift[c] = offset[c] - mean[c] * factor;
  }
  return step;
}

/// x + c, c + x, x - c, c - x, x * c, c * x or x / c.
static std::optional<ChannelStep>
arithmeticStep(Operation *op, Value x, int64_t dimension, int64_t channels) {
  bool isFirst = op->getOperand(0) == x;
  if (isa<DivOp>(op) && !isFirst)
    return std::nullopt;
  Value other = op->getOperand(isFirst ? 1 : 0);
  auto numbers =
      channelNumbers(other, tensorOf(x).getRank(), dimension, channels);
  if (!numbers)
    return std::nullopt;
  ChannelStep step{
      op, {}, AffineStepKind::Scale, ChannelAffine::identity(channels), ""};
  if (isa<AddOp, SubtractOp>(op)) {
    step.kind = AffineStepKind::Shift;
    step.shiftName = nameOfSource(other);
    bool isSubtract = isa<SubtractOp>(op);
    for (int64_t c = 0; c < channels; ++c) {
      step.affine.shift[c] =
          isSubtract && isFirst ? -(*numbers)[c] : (*numbers)[c];
      if (isSubtract && !isFirst)
        step.affine.scale[c] = -1;
    }
    if (isSubtract && !isFirst)
      step.kind = AffineStepKind::Scale;
    return step;
  }
  for (int64_t c = 0; c < channels; ++c)
    step.affine.scale[c] = isa<DivOp>(op) ? 1 / (*numbers)[c] : (*numbers)[c];
  return step;
}

std::optional<ChannelStep> channelStep(Operation *op, Value x,
                                       int64_t dimension, int64_t channels) {
  if (llvm::count(op->getOperands(), x) != 1 || op->getNumResults() != 1 ||
      op->getResult(0).getType() != x.getType() || !isFloatTensor(x))
    return std::nullopt;
  std::optional<ChannelStep> step;
  if (auto norm = dyn_cast<BatchNormInferenceOp>(op)) {
    if (norm.getOperand() == x)
      step = batchNormStep(norm, dimension, channels);
  } else if (isa<AddOp, SubtractOp, MulOp, DivOp>(op)) {
    step = arithmeticStep(op, x, dimension, channels);
  } else if (isa<NegOp>(op)) {
    step = ChannelStep{
        op, {}, AffineStepKind::Scale, ChannelAffine::identity(channels), ""};
    step->affine.scale.assign(channels, -1.0);
  }
  if (!step || !step->affine.isFinite())
    return std::nullopt;
  step->from = x;
  step->dimension = dimension;
  return step;
}

/// The dimension that holds, on the other side of \p op, the channels in
/// dimension \p dimension of the operand (of the result, if \p backwards).
static std::optional<int64_t> dimensionAcross(Operation *op, int64_t dimension,
                                              bool backwards) {
  const Axes axes = *axesOf(op);
  return backwards ? axes.operandOf(0, dimension) : axes.resultOf(0, dimension);
}

/// Whether the elements of the result are those of the first operand at other
/// indices, or of another type, and zeros, which no scale changes. No
/// computation may be moved across a barrier or a collective.
static bool movesOrConverts(Operation *op) {
  if (op->getNumOperands() == 0 || op->getNumResults() != 1 ||
      !isFloatTensor(op->getOperand(0)) || !isFloatTensor(op->getResult(0)))
    return false;
  if (isa<ConvertOp>(op))
    return true;
  return op->hasTrait<traits::MovesElements>() && isPure(op) &&
         !isa<OptimizationBarrierOp>(op) &&
         llvm::all_of(op->getOperands().drop_front(), [](Value other) {
           return !isFloatTensor(other) || splatValue(other) == 0.0;
         });
}

static std::optional<ChannelStep> passageAcross(Operation *op,
                                                int64_t dimension,
                                                int64_t channels,
                                                bool backwards) {
  if (!movesOrConverts(op))
    return std::nullopt;
  std::optional<int64_t> other = dimensionAcross(op, dimension, backwards);
  if (!other)
    return std::nullopt;
  ChannelStep step{op, op->getOperand(0),
                   isa<ConvertOp>(op) ? AffineStepKind::Convert
                                      : AffineStepKind::Rearrange,
                   ChannelAffine::identity(channels), ""};
  step.dimension = backwards ? dimension : *other;
  step.addsZeros = llvm::any_of(op->getOperands().drop_front(), isFloatTensor);
  return step;
}

std::optional<ChannelStep> passage(Operation *op, Value x, int64_t dimension,
                                   int64_t channels) {
  if (op->getNumOperands() == 0 || op->getOperand(0) != x)
    return std::nullopt;
  return passageAcross(op, dimension, channels, /*backwards=*/false);
}

std::optional<ChannelStep> passageTo(Operation *op, int64_t dimension,
                                     int64_t channels) {
  return passageAcross(op, dimension, channels, /*backwards=*/true);
}

int64_t dimensionBefore(const ChannelStep &step) {
  if (!step.isPassage())
    return step.dimension;
  return *dimensionAcross(step.op, step.dimension, /*backwards=*/true);
}

} // namespace sinter
