//===- StoreInt8.h - choose the signedness of int8 activations ------------===//
//
//   q = quantize(x) : !quant<i8, s:z>
//   y = conv(q, w : !quant<i8>)
//     ->  q = quantize(x) : !quant<u8, s:z+128>
//         y = conv(q, w : !quant<i8>)
//
// CPUs multiply 8-bit values of one signedness by signed ones fastest. The real
// values stay the same, so nothing else changes, and no conversion is needed
// between a layer and its users.
//
// Restrictions: types that use all of 8 bits with one scale. Inputs and
// outputs, values whose bits are used, and right operands of products stay as
// they are, and so do values that share their elements. Between this and
// lowerQuantized the graph is not valid StableHLO, whose products take one
// storage type.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_QUANTIZED_STOREINT8_H
#define SINTER_BACKEND_CPU_QUANTIZED_STOREINT8_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace sinter::cpu {

/// Changes the storage type of quantised values of \p function to \p wanted, of
/// 8 bits, where possible.
void storeInt8(mlir::func::FuncOp function, mlir::IntegerType wanted);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_QUANTIZED_STOREINT8_H
