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
// A result may differ by one step of its scale from StableHLO's: sums are of
// floats, and ONNX adds the zero point after it has rounded.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_ONNX_WRITE_QUANTIZED_H
#define SINTER_FORMATS_ONNX_WRITE_QUANTIZED_H

#include "formats/onnx/write/NodeWriter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <map>
#include <string>

namespace sinter::onnx {

/// Rewrites \p function so that only uniform_quantize (of floats),
/// nn.quantize of floats, uniform_dequantize, constants, what moves elements
/// and products that keep their form (QuantizedProducts.h) have quantised
/// types. What has no such form stays and is counted in \p unsupported.
void computeWithRealNumbers(mlir::func::FuncOp function,
                            std::map<std::string, int64_t> &unsupported);

/// The inputs that say what elements of a quantised type mean: one number each,
/// or one an element of its axis.
struct LinearNames {
  Name scale, zeroPoint;
};

/// Nothing where ONNX has no such type; says why to \p e.
std::optional<LinearNames> linearNames(NodeWriter &e, mlir::Type quantized);

} // namespace sinter::onnx

#endif // SINTER_FORMATS_ONNX_WRITE_QUANTIZED_H
