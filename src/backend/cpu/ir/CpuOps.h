//===- CpuOps.h - the CPU backend's own operations ------------------------===//

#ifndef SINTER_BACKEND_CPU_IR_CPUOPS_H
#define SINTER_BACKEND_CPU_IR_CPUOPS_H

#include "graph/interfaces/Interfaces.h"
#include "graph/stablehlo/StablehloOps.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "backend/cpu/ir/CpuDialect.h.inc"

namespace sinter::cpu {

/// How many elements of each row of a stablehlo.sort are read; results behind
/// them are undefined.
inline constexpr llvm::StringLiteral frontAttribute = "sinter.front";

} // namespace sinter::cpu

#define GET_OP_CLASSES
#include "backend/cpu/ir/CpuOps.h.inc"

#endif // SINTER_BACKEND_CPU_IR_CPUOPS_H
