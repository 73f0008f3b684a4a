//===- RaiseQuantized.h - quantisation as types ---------------------------===//
//
//   convert<i8>(clamp(round(x / s) + z))
//       ->  quantize(x) : !quant<i8, s:z>
//   (convert<f32>(q) - z) * s
//       ->  dequantize(q : !quant<i8, s:z>)
//   conv(dequantize(a), dequantize(b))
//       ->  dequantize(conv(a, b) : !quant<i32, sa * sb>)
//   quantize(f(dequantize(a), ...))
//       ->  f(a, ...) : !quant
//   quantize(concatenate(dequantize(a), b))
//       ->  concatenate(quantize(a), quantize(b))
//   conv(convert<i32>(a) - za, convert<i32>(b) - zb)
//       ->  conv(a, b) : !quant<i32, 1>
//   conv(convert<f32>(a) - za, convert<f32>(b) - zb)
//       ->  dequantize(conv(a, b) : !quant<i32, 1>)
//   round(convert<f32>(conv(a - za, b - zb) + c) * (sa * sb / s)) + z
//       ->  quantize(conv(a, b) + c)
//
// QuantizeLinear and DequantizeLinear, QLinearConv and QLinearMatMul,
// ConvInteger and MatMulInteger of ONNX files, and the same arithmetic in other
// files, become operations on quantised types. Tensors that stay integers are
// bitcast_convert of these. Products have an attribute with their original form
// (productFormAttribute), so that an exporter can restore it.
//
// Quantising and dequantising are raised exactly; so are integer products,
// operations that only move elements or keep their order, and elementwise
// operations. A product of dequantised values accumulates integers exactly, so
// that a quantised result may differ by one step of its scale, as may that of a
// mean: accumulators are not rounded on the way. Operations on quantised types
// add the zero point before they round, so that an operation whose result has
// an odd zero point stays between dequantising and quantising.
//
// Restrictions:
//   - Scales and zero points are constants, per-tensor or per-axis. So the
//     result of a DynamicQuantizeLinear stays arithmetic.
//   - Storage has 4, 8 or 16 bits, or 32 in biases. The expressed type holds
//     the differences of elements and zero points exactly.
//   - The zero points of a matmul's right operand are all equal, or the middle
//     of its storage range: StableHLO allows none there, so that they are
//     shifted to zero.
//   - A product's left operand has one scale; its accumulators fit 32 bits, and
//     the expressed type where that is narrower than f32: products of f16 and
//     bf16 stay between dequantising and quantising.
//   - Values between dequantising and quantising have one use.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_PASSES_RAISEQUANTIZED_H
#define SINTER_PASSES_RAISEQUANTIZED_H

#include "mlir/Pass/Pass.h"
#include "passes/RewriteRule.h"

namespace sinter {

llvm::ArrayRef<RewriteRule> raiseQuantizedRules();
std::unique_ptr<mlir::Pass>
createRaiseQuantized(std::shared_ptr<PatternRun> run = nullptr);

} // namespace sinter

#endif // SINTER_PASSES_RAISEQUANTIZED_H
