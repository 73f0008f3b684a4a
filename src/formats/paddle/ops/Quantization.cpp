// Quantisation as arithmetic. Paddle's scale is the maximum absolute value, not
// the quantisation step, which is scale / (2^(bits - 1) - 1).

#include "formats/import/Building.h"
#include "formats/paddle/OperatorContext.h"
#include "formats/paddle/Operators.h"
#include "graph/Constants.h"

using namespace mlir;

namespace sinter::paddle {

/// The maximum of a signed integer of \p bits bits, 127 for 8; nothing for an
/// invalid bit width.
static std::optional<double> maxOfBits(OperatorContext &op, int64_t bits) {
  if (bits < 2 || bits > 16)
    return op.fail("a quantised number has 2 to 16 bits, this one " +
                   Twine(bits));
  return static_cast<double>((int64_t(1) << (bits - 1)) - 1);
}

/// \p scale / \p greatest; a constant if known, so that passes recognise
/// quantisation.
static Value stepOf(OperatorContext &op, Value scale, double greatest) {
  if (!scale)
    return {};
  auto known = op.knownTensor(scale);
  if (!known)
    return op.binary<stablehlo::DivOp>(scale, op.one(scale, greatest));
  // Rounding the quotient to f64 first does not change the result.
  std::vector<double> steps;
  for (int64_t i = 0; i < known->size(); ++i)
    steps.push_back(known->toDouble(i) / greatest);
  return op.constant(tensorOfDoubles(known->type(), known->shape(), steps));
}

/// Broadcasts a scale per channel along \p axis of \p like, or per tensor.
static Value spreadScale(OperatorContext &op, Value scale, Value like,
                         int64_t axis) {
  if (!scale || !like)
    return {};
  if (op.rank(scale) == 0 ||
      (op.isStatic(scale) && tensorOf(scale).getNumElements() == 1))
    return op.reshape(scale, ArrayRef<int64_t>());
  auto normal = op.axis(axis, op.rank(like));
  if (!normal)
    return {};
  if (op.rank(scale) != 1)
    return op.fail("the scale has more than one dimension");
  return op.alongDimension(scale, like, *normal);
}

/// \p x / step as an integral value of \p bits bits, still in floating point.
/// With round_type 0 ties round to even; else half away from zero, and the
/// minimum is the negative of the maximum.
static Value quantized(OperatorContext &op, Value x, Value scale, int64_t bits,
                       int64_t axis, int64_t roundType) {
  auto greatest = maxOfBits(op, bits);
  if (!x || !scale || !greatest)
    return {};
  Value step = spreadScale(
      op, stepOf(op, op.cast(scale, op.element(x)), *greatest), x, axis);
  Value quotient = op.binary<stablehlo::DivOp>(x, step);
  if (!quotient)
    return {};
  const bool toEven = roundType == 0;
  Value whole = toEven ? op.op<stablehlo::RoundNearestEvenOp>(quotient)
                       : op.op<stablehlo::RoundOp>(quotient);
  Value clamped = op.op<stablehlo::ClampOp>(
      op.scalar(op.element(x), toEven ? -*greatest - 1 : -*greatest), whole,
      op.scalar(op.element(x), *greatest));
  if (bits > 8 && bits < 16)
    return clamped;
  Type narrow = op.builder().getIntegerType(bits <= 8 ? 8 : 16);
  return clamped ? op.cast(op.cast(clamped, narrow), op.element(x)) : Value();
}

/// Integral values times the step.
static Value dequantized(OperatorContext &op, Value x, Value scale,
                         double greatest, int64_t axis) {
  if (!x || !scale)
    return {};
  Value wide = op.cast(x, op.element(scale));
  return op.binary<stablehlo::MulOp>(
      wide, spreadScale(op, stepOf(op, scale, greatest), wide, axis));
}

//===----------------------------------------------------------------------===//
// quantize_linear, dequantize_linear
//===----------------------------------------------------------------------===//

static LogicalResult importQuantizeLinear(OperatorContext &op) {
  Value x = op.operand("X");
  if (op.getBool("only_observer", false))
    return op.result("Y", x);
  return op.result(
      "Y", quantized(op, x, op.operand("Scale"), op.getInt("bit_length", 8),
                     op.getInt("quant_axis", 0), op.getInt("round_type", 0)));
}

static LogicalResult importDequantizeLinear(OperatorContext &op) {
  Value x = op.operand("X");
  if (op.getBool("only_observer", false))
    return op.result("Y", x);
  auto greatest = maxOfBits(op, op.getInt("bit_length", 8));
  if (!greatest)
    return failure();
  return op.result("Y", dequantized(op, x, op.operand("Scale"), *greatest,
                                    op.getInt("quant_axis", 0)));
}

//===----------------------------------------------------------------------===//
// fake_*: in programs from quantisation-aware training
//===----------------------------------------------------------------------===//

/// The maximum absolute value per tensor, or per index along an axis.
static Value maxAbsolute(OperatorContext &op, Value x,
                         std::optional<int64_t> axis) {
  if (!x)
    return {};
  Ints axes;
  for (int64_t i = 0; i < op.rank(x); ++i)
    if (!axis || i != *axis)
      axes.push_back(i);
  return op.reduce<stablehlo::MaxOp>(op.op<stablehlo::AbsOp>(x), axes, 0,
                                     false);
}

/// The value of an output variable before the operator: a parameter, if it is
/// one.
static Value heldBy(OperatorContext &op, StringRef slot) {
  const std::vector<std::string> *names = op.proto.output(slot);
  if (!names || names->size() != 1)
    return {};
  const Bound *held = op.importer.lookup(op.frame, names->front());
  return held && held->kind == Bound::Tensor ? held->value : Value();
}

/// Out is X quantised by \p scale and, with \p isBack, dequantised again.
static LogicalResult fakeQuantize(OperatorContext &op, Value scale,
                                  int64_t axis, bool isBack) {
  Value x = op.operand("X");
  const int64_t bits = op.getInt("bit_length", 8);
  auto greatest = maxOfBits(op, bits);
  Value whole = quantized(op, x, scale, bits, axis, op.getInt("round_type", 1));
  if (!whole || !greatest)
    return failure();
  if (op.wants("OutScale")) {
    Value given =
        op.rank(scale) == 0 ? op.reshape(scale, ArrayRef<int64_t>{1}) : scale;
    if (mlir::failed(op.result("OutScale", given)))
      return failure();
  }
  return op.result("Out", isBack ? dequantized(op, whole,
                                               op.cast(scale, op.element(x)),
                                               *greatest, axis)
                                 : whole);
}

/// Quantises by the scale of X itself.
static LogicalResult importFakeQuantize(OperatorContext &op) {
  return fakeQuantize(op, maxAbsolute(op, op.operand("X"), std::nullopt), -1,
                      false);
}
static LogicalResult importFakeQuantizeDequantize(OperatorContext &op) {
  return fakeQuantize(op, maxAbsolute(op, op.operand("X"), std::nullopt), -1,
                      true);
}

/// Quantises by the scale from training.
static LogicalResult fakeQuantizeFound(OperatorContext &op, bool isBack) {
  if (!op.getBool("is_test", false))
    return op.unsupported("it measures its scale, as in training; export the "
                          "program for inference");
  return fakeQuantize(op, op.operand("InScale"), -1, isBack);
}
static LogicalResult importFakeQuantizeFound(OperatorContext &op) {
  return fakeQuantizeFound(op, false);
}
static LogicalResult importFakeQuantizeDequantizeFound(OperatorContext &op) {
  return fakeQuantizeFound(op, true);
}

/// Quantises by a scale per index along quant_axis: with is_test the one in
/// OutScale, else that of X itself.
static LogicalResult fakeQuantizeChannels(OperatorContext &op, bool isBack) {
  Value x = op.operand("X");
  if (!x)
    return failure();
  auto axis = op.axis(op.getInt("quant_axis", 0), op.rank(x));
  if (!axis)
    return failure();
  Value scale;
  if (!isBack && op.getBool("is_test", false))
    scale = heldBy(op, "OutScale");
  if (!scale)
    scale = maxAbsolute(op, x, *axis);
  return fakeQuantize(op, scale, *axis, isBack);
}
static LogicalResult importFakeQuantizeChannels(OperatorContext &op) {
  return fakeQuantizeChannels(op, false);
}
static LogicalResult importFakeQuantizeDequantizeChannels(OperatorContext &op) {
  return fakeQuantizeChannels(op, true);
}

/// X * Scale / max_range.
static LogicalResult importFakeDequantize(OperatorContext &op) {
  const double range = op.getFloat("max_range", 127);
  if (!(range > 0))
    return op.fail("attribute 'max_range' is not positive");
  return op.result(
      "Out", dequantized(op, op.operand("X"), op.operand("Scale"), range, -1));
}

/// Dequantises by per-channel scales of a weight, or for a matmul or
/// convolution by those of the weight, then by that of the activation.
static LogicalResult importFakeDequantizeChannels(OperatorContext &op) {
  Values scales = op.operands("Scales");
  Ints bits = op.getInts("quant_bits", {8});
  if (scales.empty() || op.failed())
    return failure();
  if (scales.size() > 2 || bits.size() < scales.size())
    return op.fail("there are more than two scales, or too few quant_bits");
  const int64_t axis = scales.size() == 2 ? op.getInt("x_num_col_dims", 1)
                                          : op.getInt("quant_axis", 0);
  Value result = op.operand("X");
  for (auto [i, scale] : llvm::enumerate(scales)) {
    auto greatest = maxOfBits(op, bits[i]);
    if (!greatest)
      return failure();
    result = dequantized(op, result, scale, *greatest, axis);
  }
  return op.result("Out", result);
}

/// Observers return X unchanged.
static LogicalResult importObserve(OperatorContext &op) {
  return op.result("Out", op.operand("X"));
}

OperatorReaders quantizationReaders() {
  static const OperatorReader table[] = {
      {"dequantize_linear", importDequantizeLinear},
      {"fake_channel_wise_dequantize_max_abs", importFakeDequantizeChannels},
      {"fake_channel_wise_quantize_abs_max", importFakeQuantizeChannels},
      {"fake_channel_wise_quantize_dequantize_abs_max",
       importFakeQuantizeDequantizeChannels},
      {"fake_dequantize_max_abs", importFakeDequantize},
      {"fake_quantize_abs_max", importFakeQuantize},
      {"fake_quantize_dequantize_abs_max", importFakeQuantizeDequantize},
      {"fake_quantize_dequantize_moving_average_abs_max",
       importFakeQuantizeDequantizeFound},
      {"fake_quantize_moving_average_abs_max", importFakeQuantizeFound},
      {"fake_quantize_range_abs_max", importFakeQuantizeFound},
      {"moving_average_abs_max_scale", importObserve},
      {"quantize_linear", importQuantizeLinear},
  };
  return table;
}

} // namespace sinter::paddle
