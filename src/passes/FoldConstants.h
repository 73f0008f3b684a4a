//===- FoldConstants.h - what depends on constants only is computed -------===//
//
//   add(constant [1, 2], constant [3, 4])  ->  constant [4, 6]
//
// through the interpreter, so that a folded value is what the operation means.
// A reshape or a change of order of one named weight that nothing else reads
// keeps the weight's name. Of quantised constants, what moves elements is
// folded, but not of 32 bits: a bias stays the vector that it is in a file.
//
// Restrictions:
//   - The operation is pure and reads nothing from outside its regions.
//   - The result has at most `byteLimit` bytes, or is no larger than the
//     operands, all of which have no other reader: a shared weight is not
//     doubled. A broadcast or an iota stays (of a few integers it does not),
//     and is looked through.
//   - An operation that came from a source node of which something is left
//     to run stays: the writer gives that node back with its own weight.
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

/// Folds all that can be folded; whether anything was.
bool foldConstants(mlir::ModuleOp module, int64_t byteLimit, PatternRun &run);

std::unique_ptr<mlir::Pass>
createFoldConstants(std::shared_ptr<PatternRun> run = nullptr,
                    int64_t byteLimit = defaultConstantByteLimit);

} // namespace sinter

#endif // SINTER_PASSES_FOLDCONSTANTS_H
