//===- Quantized.h - quantised tensors in Paddle's form -------------------===//
//
// Paddle has no quantised types: a quantised tensor has integral values,
// between quantize_linear and dequantize_linear (formats/import/QdqForm.h).
// These have no zero points: zero points are added to the result of
// quantize_linear, and values with them are dequantised by arithmetic. A result
// may differ by one step of its scale, since StableHLO rounds after adding
// them.
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
/// one that is the direct result of quantize_linear has integral floats, any
/// other its storage elements.
std::optional<ElementType> heldType(mlir::RankedTensorType type);

/// Rewrites \p function so that it computes in floating point and only these
/// have quantised types: results of uniform_quantize and nn.quantize, used by
/// uniform_dequantize and as storage elements (bitcast_convert), and operands
/// of uniform_dequantize, which are such results or storage elements. 4-bit
/// integers are stored in 8 bits, unsigned 16-bit ones in 32. Operations
/// without a form are counted in \p unsupported.
void computeWithOperators(mlir::func::FuncOp function,
                          std::map<std::string, int64_t> &unsupported);

} // namespace sinter::paddle

#endif // SINTER_FORMATS_PADDLE_WRITE_QUANTIZED_H
