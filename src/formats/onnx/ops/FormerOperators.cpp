// Operators of ONNX's first days, which left the standard before they were
// stable; ONNX Runtime still has them in the default domain.

#include "formats/import/Building.h"
#include "formats/onnx/Operators.h"
#include "formats/onnx/ops/Inputs.h"

using namespace mlir;

namespace sinter::onnx {

/// \p x * \p factor + \p shift, as far as they are not 1 and 0.
static Value scaledBy(NodeContext &node, Value x, double factor,
                      double shift = 0) {
  if (!x)
    return {};
  if (factor != 1)
    x = node.binary<stablehlo::MulOp>(x, node.scalar(node.element(x), factor));
  if (shift != 0)
    x = node.binary<stablehlo::AddOp>(x, node.scalar(node.element(x), shift));
  return x;
}

/// alpha * x + beta.
static LogicalResult importAffine(NodeContext &node) {
  Value x = formats::widened(node, node.operand(0));
  return node.result(node.cast(
      scaledBy(node, x, node.getFloat("alpha", 1), node.getFloat("beta", 0)),
      node.element(node.operand(0))));
}

/// scale * x.
static LogicalResult importScale(NodeContext &node) {
  return node.result(
      scaledBy(node, node.operand(0), node.getFloat("scale", 1)));
}

/// alpha * tanh(beta * x).
static LogicalResult importScaledTanh(NodeContext &node) {
  Value x = formats::widened(node, node.operand(0));
  Value bent = node.unary<stablehlo::TanhOp>(
      scaledBy(node, x, node.getFloat("beta", 1)));
  return node.result(node.cast(scaledBy(node, bent, node.getFloat("alpha", 1)),
                               node.element(node.operand(0))));
}

/// alpha * ln(1 + exp(beta * x)).
static LogicalResult importParametricSoftplus(NodeContext &node) {
  Value x = formats::widened(node, node.operand(0));
  Value bent =
      node.op<nn::SoftplusOp>(scaledBy(node, x, node.getFloat("beta", 1)));
  return node.result(node.cast(scaledBy(node, bent, node.getFloat("alpha", 1)),
                               node.element(node.operand(0))));
}

/// scale * x + the bias of the channel.
static LogicalResult importImageScaler(NodeContext &node) {
  Value x = node.operand(0);
  if (node.rank(x) < 2)
    return node.fail("the input has no channels");
  SmallVector<double> bias = node.getFloats("bias");
  const int64_t channels = node.size(x, 1),
                count = static_cast<int64_t>(bias.size());
  if (!ShapedType::isDynamic(channels) && count != channels)
    return node.fail("attribute 'bias' has " + Twine(count) + " elements for " +
                     Twine(channels) + " channels");
  Value scaled =
      scaledBy(node, formats::widened(node, x), node.getFloat("scale", 1));
  if (!scaled)
    return failure();
  Ints shape(node.rank(x) - 1, 1);
  shape[0] = count;
  Value shift = formats::numbers(node, node.element(scaled), bias, shape);
  return node.result(
      node.cast(node.binary<stablehlo::AddOp>(scaled, shift), node.element(x)));
}

/// Removes `border` (left, top, right, bottom) of an image or, with `scale`
/// (height, width), takes as much from its left and top on.
static LogicalResult importCrop(NodeContext &node) {
  Value x = node.operand(0);
  const Ints border = node.getInts("border"), scale = node.getInts("scale");
  if (node.rank(x) != 4 || border.size() != 4 ||
      (!scale.empty() && scale.size() != 2))
    return node.fail("the input is not [N, C, H, W], or 'border' has not four "
                     "elements");
  for (int64_t each : border)
    if (each < 0)
      return node.fail("attribute 'border' is negative");
  for (int64_t axis : {2, 3}) {
    const int64_t size = node.size(x, axis), start = border[3 - axis];
    if (ShapedType::isDynamic(size))
      return node.unknown("the size of the image is unknown");
    const int64_t end =
        scale.empty() ? size - border[5 - axis] : start + scale[axis - 2];
    if (start > end || end > size)
      return node.fail("the image, of size " + Twine(size) +
                       ", is smaller than what is taken of it");
    x = node.sliceAxis(x, axis, start, end);
  }
  return node.result(x);
}

/// The shape of a tensor that a node makes: attribute shape or, with
/// input_as_shape, the elements of input 0, else its shape; then extra_shape.
static std::optional<Dims> filledShape(NodeContext &node) {
  Dims shape;
  if (node.getBool("input_as_shape", false)) {
    auto length = listLength(node, node.operand(0), "shape");
    if (!length)
      return std::nullopt;
    auto known = node.knownIntegers(node.operand(0));
    for (int64_t i = 0; i < *length; ++i)
      shape.push_back(
          known ? Dim((*known)[i])
                : Dim(ShapedType::kDynamic,
                      node.cast(node.sliceAxis(node.operand(0), 0, i, i + 1),
                                node.i64())));
  } else if (node.has(0)) {
    shape = node.dims(node.operand(0));
  } else {
    for (int64_t size : node.getInts("shape"))
      shape.push_back(size);
  }
  for (int64_t size : node.getInts("extra_shape"))
    shape.push_back(size);
  for (const Dim &each : shape)
    if (each.isStatic() && each.size < 0)
      return node.fail("a size is negative");
  return node.failed() ? std::nullopt : std::optional(shape);
}

/// A tensor of one number.
static LogicalResult importConstantFill(NodeContext &node) {
  Type element = node.numberType(node.getInt("dtype", TensorProto::FLOAT));
  auto shape = filledShape(node);
  if (!shape || !element)
    return failure();
  return node.result(node.broadcastInDim(
      node.scalar(element, node.getFloat("value", 0)), *shape, {}));
}

/// A tensor of given numbers.
static LogicalResult importGivenTensorFill(NodeContext &node) {
  SmallVector<double> values = node.getFloats("values");
  auto shape = filledShape(node);
  if (!shape)
    return failure();
  const Dim count = node.product(*shape);
  if (!count.isStatic())
    return node.unknown("the shape is known only at run time");
  if (node.failed() || count.size != static_cast<int64_t>(values.size()))
    return node.fail("attribute 'values' has " + Twine(values.size()) +
                     " elements for " + Twine(count.size));
  return node.result(node.reshape(
      formats::numbers(node, node.f32(), values, {count.size}), *shape));
}

llvm::ArrayRef<Operator> formerOperators() {
  static const Operator table[] = {
      {"Affine", "", 1, importAffine, 1, 1},
      {"ConstantFill", "", 1, importConstantFill, 0, 1},
      {"Crop", "", 1, importCrop, 1, 1},
      {"GivenTensorFill", "", 1, importGivenTensorFill, 0, 1},
      {"ImageScaler", "", 1, importImageScaler, 1, 1},
      {"ParametricSoftplus", "", 1, importParametricSoftplus, 1, 1},
      {"Scale", "", 1, importScale, 1, 1},
      {"ScaledTanh", "", 1, importScaledTanh, 1, 1},
  };
  return table;
}

} // namespace sinter::onnx
