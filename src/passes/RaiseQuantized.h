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
// What ONNX files have as QuantizeLinear and DequantizeLinear, QLinearConv and
// QLinearMatMul, ConvInteger and MatMulInteger, and what others spell out so,
// becomes operations on quantised types. Tensors that stay integers are
// bitcast_convert of these. Products say which form they came in
// (productFormAttribute), so that a writer can give it back.
//
// Quantising and dequantising are raised exactly; so are integer products, what
// only moves elements, and what keeps order. A product of dequantised numbers
// becomes an exact sum of integers, and a quantised result may be another by
// one step of its scale: sums are not rounded on the way, and operations on
// quantised types add the zero point before they round.
//
// Restrictions:
//   - Scales and zero points are constants, one for a tensor or one an element
//     of a dimension. So what a DynamicQuantizeLinear gives stays arithmetic.
//   - Storage has 4, 8 or 16 bits, or 32 in biases. The expressed type holds
//     the differences of elements and zero points exactly.
//   - The zero points of a matrix on the right are the same number, or the
//     middle of its storage: StableHLO has none there, so that they are moved.
//   - A product's left operand has one scale; its sums fit 32 bits, and the
//     expressed type where that is smaller than f32: products of f16 and bf16
//     stay between dequantising and quantising.
//   - What computes between dequantising and quantising has one reader.
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
