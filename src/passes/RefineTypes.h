//===- RefineTypes.h - what follows from the types that are known ---------===//

#ifndef SINTER_PASSES_REFINETYPES_H
#define SINTER_PASSES_REFINETYPES_H

#include "mlir/IR/BuiltinOps.h"

namespace sinter {

/// What a loop may do whose values begin with known shapes.
enum class Loops {
  KeepShapes,      ///< the shapes stay; else they contradict what is written
  MayChangeShapes, ///< if they do not stay, they are what is written
};

/// Gives every operation's results the sizes that follow from its operands,
/// attributes and constant operands, from the entry function on into regions
/// and called functions; whether any type changed. Fails, with a diagnostic,
/// where what follows contradicts what is written.
mlir::FailureOr<bool> refineTypes(mlir::ModuleOp module,
                                  Loops loops = Loops::KeepShapes);

} // namespace sinter

#endif // SINTER_PASSES_REFINETYPES_H
