//===- RealNumbers.h - quantised tensors around what computes -------------===//
//
//   y = add(a, b) : !quant   ->   y = quantize(add(dequantize(a),
//                                                  dequantize(b)))
//
// For formats without quantised types, in which a quantised tensor is one of
// its storage elements, between operators that quantise and dequantise. What
// only moves elements moves these; any other operation computes with real
// numbers, between the two operators that runtimes look for. A product whose
// 32-bit result has the scale of its sums is not rounded to it.
//
// A result may differ by one step of its scale from StableHLO's: sums are of
// floats, and an operator may add the zero point after it has rounded.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_IMPORT_REALNUMBERS_H
#define SINTER_FORMATS_IMPORT_REALNUMBERS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <map>
#include <string>

namespace sinter::formats {

/// Removes what gives products the same numbers in another storage type:
/// operators take operands of any.
void dropShifts(mlir::func::FuncOp function);

/// Rewrites \p function so that only uniform_quantize (of floats),
/// nn.quantize of floats, uniform_dequantize, constants, what moves elements
/// and what \p keeps chooses have quantised types. What has no such form stays
/// and is counted in \p unsupported.
void computeWithRealNumbers(mlir::func::FuncOp function,
                            llvm::function_ref<bool(mlir::Operation *)> keeps,
                            std::map<std::string, int64_t> &unsupported);

/// Spells out what quantises and dequantises and \p isSpelt chooses: operations
/// on storage elements (bitcast_convert), in a type that has all of them; of
/// constants of 32 bits, biases, the numbers that they stand for.
void spellQuantization(mlir::func::FuncOp function,
                       llvm::function_ref<bool(mlir::Operation *)> isSpelt);

} // namespace sinter::formats

#endif // SINTER_FORMATS_IMPORT_REALNUMBERS_H
