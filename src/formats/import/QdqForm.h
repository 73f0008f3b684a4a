//===- QdqForm.h - computation between quantise and dequantise ops --------===//
//
//   y = add(a, b) : !quant   ->   y = quantize(add(dequantize(a),
//                                                  dequantize(b)))
//
// For formats without quantised types (QDQ form), in which a quantised tensor
// is a tensor of its storage type between operators that quantise and
// dequantise. Operations that only move elements move storage elements; any
// other operation computes in floating point, between the two operators that
// runtimes look for. A convolution or matmul whose 32-bit result has the scale
// of its accumulators is not rounded to it.
//
// A result may differ by one step of its scale from StableHLO's: accumulators
// are floats, and an operator may add the zero point after rounding.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_IMPORT_QDQFORM_H
#define SINTER_FORMATS_IMPORT_QDQFORM_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <map>
#include <string>

namespace sinter::formats {

/// Removes conversions of convolution and matmul operands to another storage
/// type with the same values: operators take any storage type.
void dropShifts(mlir::func::FuncOp function);

/// Rewrites \p function so that only uniform_quantize (of floats), nn.quantize
/// of floats, uniform_dequantize, constants, operations that move elements, and
/// operations that \p keeps accepts have quantised types. An operation without
/// such a form stays and is counted in \p unsupported.
void convertToQdqForm(mlir::func::FuncOp function,
                      llvm::function_ref<bool(mlir::Operation *)> keeps,
                      std::map<std::string, int64_t> &unsupported);

/// Expands quantise and dequantise operations that \p isExpanded accepts: to
/// operations on storage elements (bitcast_convert), in a type that represents
/// all of them; 32-bit constants (biases) become their dequantised values.
void expandQuantization(mlir::func::FuncOp function,
                        llvm::function_ref<bool(mlir::Operation *)> isExpanded);

} // namespace sinter::formats

#endif // SINTER_FORMATS_IMPORT_QDQFORM_H
