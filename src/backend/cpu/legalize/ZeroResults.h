//===- ZeroResults.h - calls whose results may be missing -----------------===//
//
//   x = call f()   ->   x, there = call f(),  x = select(there, x, zero)
//
// A process that no other one sends a value to gets zeros instead. For
// quantised tensors these are not zero bytes, so the runtime function returns
// whether there were values, and the program has the zeros.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_LEGALIZE_ZERORESULTS_H
#define SINTER_BACKEND_CPU_LEGALIZE_ZERORESULTS_H

#include "mlir/IR/Builders.h"

#include <string>

namespace sinter::cpu {

/// The results of a cpu.host_call; quantised ones as above.
llvm::SmallVector<mlir::Value>
createCallWithZeros(mlir::OpBuilder &builder, mlir::Location location,
                    mlir::TypeRange types, mlir::ValueRange inputs,
                    const std::string &function, std::string configuration);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_LEGALIZE_ZERORESULTS_H
