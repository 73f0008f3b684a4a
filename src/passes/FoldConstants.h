//===- FoldConstants.h - evaluates operations on constants ----------------===//
//
//   add(constant [1, 2], constant [3, 4])  ->  constant [4, 6]
//
// through the interpreter, so that a folded value is what the operation means.
// A reshape or a rearrangement of one named weight without other uses keeps the
// weight's name. Operations that move elements of quantised constants are
// folded, except for 32-bit ones: a bias stays the vector that it is in a file.
// What is computed of a repeated constant, element by element, is repeated.
//
// Restrictions:
//   - The operation is pure and its regions use nothing from outside.
//   - The result has at most `byteLimit` bytes, or is no larger than the
//     operands, all of which have no other user: a shared weight is not
//     duplicated. A broadcast or an iota stays, unless it has a few integers,
//     and is looked through.
//   - An operation of a source node that is not folded as a whole stays if the
//     graph is to be exported, which writes that node back with its own weight,
//     and if its result is large.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_PASSES_FOLDCONSTANTS_H
#define SINTER_PASSES_FOLDCONSTANTS_H

#include "mlir/Pass/Pass.h"
#include "passes/PatternLabels.h"

namespace mlir {
class ModuleOp;
} // namespace mlir

namespace sinter {

inline constexpr int64_t defaultConstantByteLimit = int64_t(1) << 20;

llvm::ArrayRef<PatternInfo> foldConstantsPatterns();

/// Folds all that can be folded. Returns whether anything was.
bool foldConstants(mlir::ModuleOp module, int64_t byteLimit, PatternRun &run);

std::unique_ptr<mlir::Pass>
createFoldConstants(std::shared_ptr<PatternRun> run = nullptr,
                    int64_t byteLimit = defaultConstantByteLimit);

} // namespace sinter

#endif // SINTER_PASSES_FOLDCONSTANTS_H
