//===- StoreBytes.h - quantised bytes of the sign that products like ------===//
//
//   q = quantize(x) : !quant<i8, s:z>      q = quantize(x) : !quant<u8,
//   s:z+128> y = conv(q, w : !quant<i8>)       ->   y = conv(q, w : !quant<i8>)
//
// A CPU multiplies bytes of one sign by signed ones fastest. The numbers that a
// quantised value stands for stay the same, so nothing else changes, and no
// byte is turned around between a layer that gives it and one that reads it.
//
// Restrictions: types that use all of 8 bits with one scale. Values that come
// from outside or go there, whose bits are read, or which stand on the right of
// a product stay as they are, and so does what they share their elements with.
// What is left between this and lowerQuantized is not valid StableHLO, whose
// products take one type of storage.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_STOREBYTES_H
#define SINTER_BACKEND_CPU_STOREBYTES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace sinter::cpu {

/// Gives the quantised values of \p function the storage type \p wanted, of 8
/// bits, where they may have it.
void storeBytes(mlir::func::FuncOp function, mlir::IntegerType wanted);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_STOREBYTES_H
