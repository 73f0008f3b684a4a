//===- RefineTypes.h - infers types from operands -------------------------===//

#ifndef SINTER_PASSES_REFINETYPES_H
#define SINTER_PASSES_REFINETYPES_H

#include "mlir/IR/BuiltinOps.h"

namespace sinter {

/// Whether a loop may change the shapes of its values.
enum class Loops {
  KeepShapes,      ///< the shapes stay; else they contradict the declared types
  MayChangeShapes, ///< if they do not stay, the declared types stay
};

/// Infers every operation's result types from its operands, attributes and
/// constant operands, from the entry function on into regions and called
/// functions. Returns whether any type changed. Fails, with a diagnostic, where
/// an inferred type contradicts the declared one.
mlir::FailureOr<bool> refineTypes(mlir::ModuleOp module,
                                  Loops loops = Loops::KeepShapes);

} // namespace sinter

#endif // SINTER_PASSES_REFINETYPES_H
