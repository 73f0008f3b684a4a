// Constraints that type inference does not check.

#include "graph/stablehlo/Verify.h"
#include "graph/nn/NnOps.h"

using namespace mlir;

namespace sinter::nn {

using stablehlo::differ;

/// Checks that the axis is a dimension of the operand.
template <typename Op> static LogicalResult verifyAxis(Op op, Value operand) {
  if (static_cast<int64_t>(op.getAxis()) >= tensorOf(operand).getRank())
    return op.emitOpError("axis ")
           << op.getAxis() << " is not a dimension of the operand "
           << operand.getType();
  return success();
}

/// Whether every element of the result has a source: a dimension of size 0 has
/// none.
static bool hasElementsToTake(mlir::Operation *op, int64_t size) {
  auto result = tensorOf(op->getResult(0));
  return size != 0 || !result.hasStaticShape() || result.getNumElements() == 0;
}

LogicalResult TakeOp::verify() {
  if (failed(verifyAxis(*this, getOperand())))
    return failure();
  if (!hasElementsToTake(*this, tensorOf(getOperand()).getDimSize(getAxis())))
    return emitOpError("takes from a dimension of size 0");
  return success();
}

LogicalResult TakeAlongOp::verify() {
  auto operand = tensorOf(getOperand()), indices = tensorOf(getIndices());
  if (operand.getRank() != indices.getRank())
    return emitOpError("operand and indices differ in rank");
  for (int64_t size : operand.getShape())
    if (!hasElementsToTake(*this, size))
      return emitOpError("takes from a dimension of size 0");
  for (auto [i, size, reach] :
       llvm::enumerate(operand.getShape(), indices.getShape()))
    if (i != getAxis() && !ShapedType::isDynamic(size) && reach > size)
      return emitOpError("the indices reach beyond dimension ")
             << i << " of the operand: " << reach << " elements, of " << size;
  return verifyAxis(*this, getOperand());
}

LogicalResult PadModeOp::verify() {
  if (getMode() != "reflect" && getMode() != "edge" && getMode() != "wrap")
    return emitOpError("mode is not \"reflect\", \"edge\" or \"wrap\"");
  auto type = tensorOf(getOperand());
  if (static_cast<int64_t>(getLow().size()) != type.getRank() ||
      getLow().size() != getHigh().size())
    return emitOpError("padding has not one element a dimension");
  for (auto [i, low] : llvm::enumerate(getLow())) {
    int64_t size = type.getDimSize(i);
    int64_t most = std::max(low, getHigh()[i]);
    if (ShapedType::isDynamic(size) || most <= 0)
      continue;
    if (size == 0)
      return emitOpError("dimension ") << i << " has no elements to pad with";
  }
  return success();
}

LogicalResult OneHotOp::verify() {
  auto indices = tensorOf(getIndices()), result = tensorOf(getResult());
  int64_t axis = getAxis();
  if (result.getRank() != indices.getRank() + 1 || axis >= result.getRank())
    return emitOpError("the result has not the indices' dimensions and one "
                       "more at the axis");
  for (int64_t i = 0; i < indices.getRank(); ++i)
    if (differ(indices.getDimSize(i), result.getDimSize(i < axis ? i : i + 1)))
      return emitOpError("the result has not the indices' dimensions and one "
                         "more at the axis");
  auto values = tensorOf(getValues());
  if (differ(values.getDimSize(0), 2) ||
      values.getElementType() != result.getElementType())
    return emitOpError("values does not hold off and on of the result's "
                       "element type");
  return success();
}

LogicalResult NonMaxSuppressionOp::verify() {
  auto boxes = tensorOf(getBoxes()), scores = tensorOf(getScores());
  if (differ(boxes.getDimSize(2), 4))
    return emitOpError("boxes have ")
           << boxes.getDimSize(2) << " numbers each, not 4";
  if (differ(boxes.getDimSize(0), scores.getDimSize(0)))
    return emitOpError("boxes and scores are of different numbers of images");
  if (differ(boxes.getDimSize(1), scores.getDimSize(2)))
    return emitOpError("there is not one score a class for each box");
  if (differ(tensorOf(getResult()).getDimSize(1), 3))
    return emitOpError("the result has not 3 columns");
  return success();
}

LogicalResult CumulativeSumOp::verify() {
  return verifyAxis(*this, getOperand());
}
template <typename Op> static LogicalResult verifyArg(Op op) {
  if (failed(verifyAxis(op, op.getOperand())))
    return failure();
  if (tensorOf(op.getOperand()).getDimSize(op.getAxis()) == 0)
    return op.emitOpError("the axis has no elements");
  return success();
}
LogicalResult ArgMaxOp::verify() { return verifyArg(*this); }
LogicalResult ArgMinOp::verify() { return verifyArg(*this); }
LogicalResult TopKOp::verify() { return verifyAxis(*this, getOperand()); }

/// Checks a pool, channels first: at least [N, C, one spatial dimension].
template <typename Op> static LogicalResult verifyPool(Op op) {
  if (tensorOf(op.getOperand()).getRank() < 3)
    return op.emitOpError("the operand is not [N, C, spatial...]");
  return success();
}
LogicalResult MaxPoolOp::verify() { return verifyPool(*this); }
LogicalResult MaxPoolIndicesOp::verify() { return verifyPool(*this); }
LogicalResult AveragePoolOp::verify() {
  if (!getCeilPadding().empty() &&
      getCeilPadding().size() != getWindow().size())
    return emitOpError("ceil_padding has not one element a spatial dimension");
  return verifyPool(*this);
}
LogicalResult LpPoolOp::verify() {
  if (getP() < 1)
    return emitOpError("p is not positive");
  return verifyPool(*this);
}

template <typename Op> static LogicalResult verifyAxes(Op op) {
  llvm::SmallDenseSet<int64_t> seen;
  for (int64_t axis : op.getAxes())
    if (axis < 0 || axis >= tensorOf(op.getOperand()).getRank() ||
        !seen.insert(axis).second)
      return op.emitOpError("axes are not distinct dimensions of the operand");
  return success();
}
LogicalResult SoftmaxOp::verify() { return verifyAxes(*this); }
LogicalResult LogSoftmaxOp::verify() { return verifyAxes(*this); }

LogicalResult HardmaxOp::verify() { return verifyAxis(*this, getOperand()); }
LogicalResult LpNormalizeOp::verify() {
  return verifyAxis(*this, getOperand());
}

LogicalResult LrnOp::verify() {
  if (tensorOf(getOperand()).getRank() < 2)
    return emitOpError("the operand is not [N, C, spatial...]");
  return success();
}

/// Checks a norm over the dimensions from the axis on: it computes in a float
/// type, and \p parameters broadcast to those dimensions.
template <typename Op>
static LogicalResult verifyTrailingNorm(Op op, ArrayRef<Value> parameters) {
  if (failed(verifyAxis(op, op.getOperand())))
    return failure();
  if (!isa<FloatType>(op.getComputeType()))
    return op.emitOpError("compute_type is not a float type");
  auto normalised =
      tensorOf(op.getOperand()).getShape().drop_front(op.getAxis());
  for (Value value : parameters) {
    if (!value)
      continue;
    auto joined = broadcastShapes(normalised, tensorOf(value).getShape());
    if (!joined || joined->size() != normalised.size() ||
        failed(verifyCompatibleShape(*joined, normalised)))
      return op.emitOpError("scale or bias does not broadcast to the "
                            "normalised dimensions");
  }
  return success();
}
LogicalResult LayerNormOp::verify() {
  return verifyTrailingNorm(*this, {getScale(), getBias()});
}
LogicalResult RmsNormOp::verify() {
  return verifyTrailingNorm(*this, {getScale()});
}

LogicalResult MeanVarNormOp::verify() {
  auto type = tensorOf(getOperand());
  int64_t feature = getFeatureIndex();
  if (feature >= type.getRank())
    return emitOpError("feature_index ")
           << feature << " is not a dimension of the operand " << type;
  for (Value value : {getRunningMean(), getRunningVariance()})
    if (tensorOf(value).getRank() != 1 ||
        differ(tensorOf(value).getDimSize(0), type.getDimSize(feature)))
      return emitOpError("running statistics are not one number a feature");
  return success();
}

LogicalResult GroupNormOp::verify() {
  auto type = tensorOf(getOperand());
  if (type.getRank() < 2)
    return emitOpError("the operand is not [N, C, spatial...]");
  int64_t channels = type.getDimSize(1), groups = getGroups();
  if (!ShapedType::isDynamic(channels) && channels % groups != 0)
    return emitOpError("the channels are not a multiple of groups");
  for (Value value : {getScale(), getBias()})
    if (tensorOf(value).getRank() != 1 ||
        differ(tensorOf(value).getDimSize(0), channels))
      return emitOpError("scale or bias is not one number a channel");
  return success();
}

/// Checks shapes and names of a recurrent layer with \p gates gates and
/// \p functions activations per direction.
template <typename Op>
static LogicalResult verifyRecurrent(Op op, int64_t gates, size_t functions) {
  auto x = tensorOf(op.getX()), w = tensorOf(op.getW()),
       r = tensorOf(op.getR());
  int64_t directions = op.getDirection() == "bidirectional" ? 2 : 1;
  if (directions == 1 && op.getDirection() != "forward" &&
      op.getDirection() != "reverse")
    return op.emitOpError("direction is not forward, reverse or bidirectional");
  if (x.getRank() != 3 || w.getRank() != 3 || r.getRank() != 3)
    return op.emitOpError("X, W and R have not three dimensions");
  int64_t hidden = r.getDimSize(2);
  auto times = [&](int64_t count) {
    return ShapedType::isDynamic(hidden) ? hidden : count * hidden;
  };
  auto shaped = [&](Value value, ArrayRef<int64_t> shape) {
    if (!value)
      return true;
    auto type = tensorOf(value);
    return succeeded(verifyCompatibleShape(type.getShape(), shape));
  };
  int64_t batch = x.getDimSize(1), width = x.getDimSize(2);
  if (!shaped(op.getW(), {directions, times(gates), width}) ||
      !shaped(op.getR(), {directions, times(gates), hidden}))
    return op.emitOpError("W is not [D, gates * H, I] or R not "
                          "[D, gates * H, H]");
  if (!shaped(op.getBias(), {directions, times(2 * gates)}))
    return op.emitOpError("the bias is not [D, 2 * gates * H]");
  if (!shaped(op.getSequenceLengths(), {batch}))
    return op.emitOpError("sequence_lengths is not [N]");
  if (!shaped(op.getInitialH(), {directions, batch, hidden}))
    return op.emitOpError("the initial state is not [D, N, H]");
  if (op.getActivations().size() != functions * directions)
    return op.emitOpError("needs ")
           << functions * directions << " activations, not "
           << op.getActivations().size();
  static constexpr StringRef known[] = {
      "Relu",       "Tanh",        "Sigmoid",
      "Affine",     "LeakyRelu",   "ThresholdedRelu",
      "ScaledTanh", "HardSigmoid", "Elu",
      "Softsign",   "Softplus"};
  for (Attribute name : op.getActivations())
    if (!llvm::is_contained(known, cast<StringAttr>(name).getValue()))
      return op.emitOpError("does not know the activation ") << name;
  return success();
}

LogicalResult LstmOp::verify() {
  if (failed(verifyRecurrent(*this, 4, 3)))
    return failure();
  auto r = tensorOf(getR());
  int64_t hidden = r.getDimSize(2), directions = r.getDimSize(0);
  if (getInitialC() &&
      failed(verifyCompatibleShape(
          tensorOf(getInitialC()).getShape(),
          {directions, tensorOf(getX()).getDimSize(1), hidden})))
    return emitOpError("the initial cell state is not [D, N, H]");
  if (getPeephole() &&
      failed(verifyCompatibleShape(
          tensorOf(getPeephole()).getShape(),
          {directions, ShapedType::isDynamic(hidden) ? hidden : 3 * hidden})))
    return emitOpError("the peephole weights are not [D, 3 * H]");
  return success();
}
LogicalResult GruOp::verify() { return verifyRecurrent(*this, 3, 2); }
LogicalResult RnnOp::verify() { return verifyRecurrent(*this, 1, 1); }

LogicalResult ResizeOp::verify() {
  auto type = tensorOf(getOperand());
  if (static_cast<int64_t>(getScales().size()) != type.getRank() ||
      tensorOf(getResult()).getRank() != type.getRank())
    return emitOpError("scales has not one element a dimension");
  for (double scale : getScales())
    if (!(scale > 0))
      return emitOpError("a scale is not positive");
  if (getMode() != "nearest" && getMode() != "linear" && getMode() != "cubic")
    return emitOpError("mode is not nearest, linear or cubic");
  static constexpr StringRef coordinates[] = {
      "half_pixel",        "half_pixel_symmetric", "pytorch_half_pixel",
      "align_corners",     "asymmetric",           "tf_half_pixel_for_nn",
      "tf_crop_and_resize"};
  static constexpr StringRef rounding[] = {
      "round_prefer_floor", "round_prefer_ceil", "floor", "ceil", "simple"};
  if (!llvm::is_contained(coordinates, getCoordinates()))
    return emitOpError("does not know the coordinates ") << getCoordinates();
  if (!llvm::is_contained(rounding, getNearest()))
    return emitOpError("does not know the rounding ") << getNearest();
  if (!getRoi().empty() && getRoi().size() != 2 * getScales().size())
    return emitOpError("roi has not two elements a dimension");
  if (getCoordinates() == "tf_crop_and_resize" && getRoi().empty())
    return emitOpError("tf_crop_and_resize needs roi");
  if (llvm::is_contained(type.getShape(), 0) &&
      tensorOf(getResult()).hasStaticShape() &&
      !llvm::is_contained(tensorOf(getResult()).getShape(), 0))
    return emitOpError("the operand has no elements to sample");
  return success();
}

LogicalResult QuantizeOp::verify() {
  return stablehlo::verifyExpressedType(*this);
}

} // namespace sinter::nn
