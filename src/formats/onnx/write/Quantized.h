//===- Quantized.h - quantised tensors as ONNX has them -------------------===//
//
//   y = add(a, b) : !quant   ->   y = quantize(add(dequantize(a),
//                                                  dequantize(b)))
//
// ONNX has no quantised types: a quantised tensor is one of its storage
// elements, between QuantizeLinear and DequantizeLinear. What only moves
// elements moves these; any other operation computes with real numbers, between
// the two nodes that runtimes look for. A product whose 32-bit result has the
// scale of its sums is not rounded to it.
//
// A product that says that it was a QLinearConv or QLinearMatMul, a ConvInteger
// or MatMulInteger (productFormAttribute) becomes that again where it is still
// what these are: with the bias and the rescale behind it, or with its sums as
// they are.
//
// A result may differ by one step of its scale from StableHLO's: sums are of
// floats, and ONNX adds the zero point after it has rounded.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_ONNX_WRITE_QUANTIZED_H
#define SINTER_FORMATS_ONNX_WRITE_QUANTIZED_H

#include "formats/onnx/write/Emitter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <map>
#include <string>

namespace sinter::onnx {

/// Rewrites \p function so that only uniform_quantize (of floats),
/// nn.quantize of floats, uniform_dequantize, constants, what moves elements
/// and products that keep their form have quantised types. What has no such
/// form stays and is counted in \p unsupported.
void computeWithRealNumbers(mlir::func::FuncOp function,
                            std::map<std::string, int64_t> &unsupported);

/// What a product that keeps its form takes beside its operands.
struct QuantizedInputs {
  /// Behind the left operand, and behind the right one.
  Names between, others;
  /// The zero point of the left operand.
  Name zero;
  /// Whether the node scales, rounds and cuts.
  bool hasScales = false;
  /// What the node gives.
  mlir::Type element;
};

/// Nothing for a product that has no such form.
std::optional<QuantizedInputs> quantizedInputs(Emitter &e, mlir::Operation *op);

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_WRITE_QUANTIZED_H
