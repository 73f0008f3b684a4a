//===- RefineTypes.h - what follows from the types that are known ---------===//

#ifndef SINTER_PASSES_REFINETYPES_H
#define SINTER_PASSES_REFINETYPES_H

#include "mlir/IR/BuiltinOps.h"

namespace sinter {

/// Gives every operation's results the sizes that follow from its operands,
/// attributes and constant operands, from the entry function on into regions
/// and called functions; whether any type changed. Fails, with a diagnostic,
/// where what follows contradicts what is written.
mlir::FailureOr<bool> refineTypes(mlir::ModuleOp module);

} // namespace sinter

#endif // SINTER_PASSES_REFINETYPES_H
