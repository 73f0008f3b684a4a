//===- Quantized.h - quantised tensors as Paddle has them -----------------===//
//
// Paddle has no quantised types: a quantised tensor is one of whole numbers,
// between quantize_linear and dequantize_linear (formats/import/RealNumbers.h).
// These know no zero points: they are added to what quantize_linear rounds, and
// what has them is dequantised by arithmetic. A result may be another by one
// step of its scale where StableHLO rounds after it has added them.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_PADDLE_WRITE_QUANTIZED_H
#define SINTER_FORMATS_PADDLE_WRITE_QUANTIZED_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "runtime/ElementType.h"
#include <map>
#include <optional>
#include <string>

namespace sinter::paddle {

/// The element type of a variable that holds a tensor of \p type. A quantised
/// one that quantize_linear gives as it is has whole numbers that are floats,
/// any other its storage elements.
std::optional<ElementType> heldType(mlir::RankedTensorType type);

/// Rewrites \p function so that it computes with real numbers and only these
/// have quantised types: results of uniform_quantize and nn.quantize, which are
/// read by uniform_dequantize and as storage elements (bitcast_convert), and
/// operands of uniform_dequantize, which are such results or storage elements.
/// Numbers of 4 bits are stored in 8, those of 16 without a sign in 32. What
/// has no form is counted in \p unsupported.
void computeWithOperators(mlir::func::FuncOp function,
                          std::map<std::string, int64_t> &unsupported);

} // namespace sinter::paddle

#endif // SINTER_FORMATS_PADDLE_WRITE_QUANTIZED_H
