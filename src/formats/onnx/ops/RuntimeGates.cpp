// Element-wise fusions of ONNX Runtime for gated layers, complex numbers and
// dropout. They are specified in its docs/ContribOperators.md.

#include "formats/import/Building.h"
#include "formats/import/Products.h"
#include "formats/onnx/Operators.h"
#include "formats/onnx/ops/RuntimeAttention.h"

using namespace mlir;

namespace sinter::onnx {

/// x + y * gate, where the product is rounded.
static LogicalResult importGatedAdd(NodeContext &node) {
  Value product =
      node.binary<stablehlo::MulOp>(node.operand(1), node.operand(2));
  return node.result(node.binary<stablehlo::AddOp>(node.operand(0), product));
}

/// x / sqrt(mean of x^2 + epsilon) * scale * silu(gate); the mean is over as
/// many elements as the scale has.
static LogicalResult importGatedRmsNorm(NodeContext &node) {
  Value x = node.operand(0), scale = node.operand(1), gate = node.operand(2);
  if (node.rank(scale) != 1 || node.rank(x) < 1)
    return node.fail("the scale is not a vector, or the input is a scalar");
  const int64_t width = node.size(scale, 0), all = node.size(x, -1),
                rank = node.rank(x);
  if (ShapedType::isDynamic(width) || ShapedType::isDynamic(all))
    return node.unknown("the size of a group is known only at run time");
  if (width < 1 || all % width != 0)
    return node.fail(Twine(all) + " elements are no multiple of the scale's " +
                     Twine(width));
  Type wide = formats::sumElement(node, x);
  Dims sizes = node.dims(x), apart = sizes;
  apart.back() = all / width;
  apart.push_back(width);
  Value norm = node.op<nn::RmsNormOp>(
      node.reshape(node.cast(x, wide), apart), node.cast(scale, wide),
      static_cast<uint64_t>(rank), APFloat(node.getFloat("epsilon", 1e-5f)),
      wide);
  Value open = node.op<nn::SiluOp>(node.cast(gate, wide),
                                   node.builder().getF64FloatAttr(1));
  Value result = node.binary<stablehlo::MulOp>(node.reshape(norm, sizes), open);
  return node.result(node.cast(result, node.element(x)));
}

/// a, a bias, a factor, b: factor * softplus(a + bias), and sigmoid(b).
static LogicalResult importLinearAttentionGate(NodeContext &node) {
  Value a = node.operand(0);
  Type wide = formats::sumElement(node, a);
  Value bent = node.op<nn::SoftplusOp>(node.binary<stablehlo::AddOp>(
      node.cast(a, wide), node.cast(node.operand(1), wide)));
  Value decay =
      node.binary<stablehlo::MulOp>(bent, node.cast(node.operand(2), wide));
  Value rate = node.has(3) ? node.unary<stablehlo::LogisticOp>(node.operand(3))
                           : Value();
  if (node.wants(1) && !rate)
    return node.fail("input 3 is missing");
  return node.results({node.cast(decay, node.element(a)), rate});
}

/// a * b of complex numbers, whose parts are the last dimension; with
/// \p isConjugate a * conj(b).
template <bool isConjugate>
static LogicalResult importComplexMul(NodeContext &node) {
  Value a = node.operand(0), b = node.operand(1);
  for (Value each : {a, b})
    if (node.rank(each) < 1 || node.size(each, -1) != 2)
      return node.fail("the last dimension of a complex number is not 2");
  auto part = [&](Value x, int64_t index) {
    return node.sliceAxis(x, node.rank(x) - 1, index, index + 1);
  };
  auto times = [&](int64_t i, int64_t j) {
    return node.binary<stablehlo::MulOp>(part(a, i), part(b, j));
  };
  auto sum = [&](Value x, Value y) {
    return node.binary<stablehlo::AddOp>(x, y);
  };
  auto difference = [&](Value x, Value y) {
    return node.binary<stablehlo::SubtractOp>(x, y);
  };
  Value real, imaginary;
  if constexpr (isConjugate) {
    real = sum(times(0, 0), times(1, 1));
    imaginary = difference(times(1, 0), times(0, 1));
  } else {
    real = difference(times(0, 0), times(1, 1));
    imaginary = sum(times(0, 1), times(1, 0));
  }
  if (!real)
    return failure();
  return node.result(node.concatenate({real, imaginary}, node.rank(real) - 1));
}

/// x + bias + a residual, of which nothing is dropped: x, bias, residual,
/// ratio, whether it trains.
static LogicalResult importBiasDropout(NodeContext &node) {
  if (node.has(4)) {
    auto training = node.knownScalar(node.operand(4));
    if (!training)
      return node.unknown("whether it trains is known only at run time");
    if (*training != 0)
      return node.unsupported("training");
  }
  Value sum = node.binary<stablehlo::AddOp>(node.operand(0), node.operand(1));
  Value mask;
  if (node.wants(1) && sum)
    mask = node.broadcastInDim(node.scalar(node.i1(), 1), node.dims(sum), {});
  if (node.has(2))
    sum = node.binary<stablehlo::AddOp>(sum, node.operand(2));
  return node.results({sum, mask});
}

/// Rows [tokens, D] in their places [B, S], zeros elsewhere.
static LogicalResult importRestorePadding(NodeContext &node) {
  auto rows = PackedRows::of(node, node.operand(0), node.operand(1));
  return rows ? node.result(rows->unpack(node.operand(0))) : failure();
}

llvm::ArrayRef<Operator> runtimeGateOperators() {
  static const Operator table[] = {
      {"BiasDropout", runtimeDomain, 1, importBiasDropout, 2, 5, false, true},
      {"ComplexMul", runtimeDomain, 1, importComplexMul<false>, 2, 2, false,
       true},
      {"ComplexMulConj", runtimeDomain, 1, importComplexMul<true>, 2, 2, false,
       true},
      {"GatedAdd", runtimeDomain, 1, importGatedAdd, 3, 3, false, true},
      {"GatedRMSNorm", runtimeDomain, 1, importGatedRmsNorm, 3, 3, false, true},
      {"LinearAttentionGate", runtimeDomain, 1, importLinearAttentionGate, 3, 4,
       false, true},
      {"RestorePadding", runtimeDomain, 1, importRestorePadding, 2, 2, false,
       true},
  };
  return table;
}

} // namespace sinter::onnx
