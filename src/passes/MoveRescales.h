//===- MoveRescales.h - rescales meet, and vanish -------------------------===//
//
// A rescale takes quantised numbers to another scale or zero point
// (stablehlo.uniform_quantize or nn.quantize of what is quantised already).
//
//   rescale(x) : x's type             ->  x
//   rescale(constant)                 ->  constant
//   rescale(rescale(x))               ->  rescale(x)
//   max_pool(rescale(x))              ->  rescale(max_pool(x))
//   rescale(broadcast(x))             ->  broadcast(rescale(x))
//   add(rescale(x), y)                ->  add(x, y)
//   rescale(lrn(x))                   ->  lrn(x) : the rescale's type
//   rescale(conv(x, w))               ->  clamp(conv(x, w) : the rescale's
//   type)
//
//   return rescale(x)                 ->  return x, if outputs may change
//
// What may be done around an operation it says itself (RescaleOpInterface), of
// whatever dialect it is. A rescale goes through a whole tree of operations at
// once, to where it vanishes or where there is less to do.
//
// It ends, since each step makes less of what a graph costs: bytes that
// rescales read and write and that quantised values have, then rescales, then
// readers of rescales. (A dimension of unknown size counts as some; the same
// everywhere.) A step that would leave more rescales than there were is none,
// however few bytes they have. So nothing moves to and fro.
//
// Restrictions:
//   - Exact are: what keeps the order of numbers, for a rescale does, too;
//     what has the same result for each of the numbers that a type stores,
//     which are all tried, up to 16 bits. Anything else is allowed as
//     `requantize`: one unit of the type that is rounded to.
//   - A type that vanishes between two others cuts nothing that the last one
//     holds, as far as the numbers are known not to be there (RealRange.h), and
//     its unit is at most two of the last one's.
//     Where it cuts something (a branch of a concatenation, whose range is
//     narrower than the joint one), a clamp to what it held takes its place, if
//     the rescale has nowhere else to go and the type behind has one scale.
//   - A rescale vanishes into an operand if it cuts nothing.
//   - Operations that a rescale moves through have one reader, and no quantised
//     operand that does not move along. Constants among their operands are
//     numbers that some number before the rescale becomes.
//   - With scales for each element of a dimension, that dimension is kept
//     (AxesOpInterface), and there is no constant or region on the way.
//   - An output keeps its type, unless the run says that outputs may change
//     (PatternRun::changesOutputs). In any case it stays quantised, and another
//     output of the same value stays the same value.
//   - Types of 32 bits are those of sums, and stay as their products made them:
//     what rounds them is part of the product, which a rescale may join.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_PASSES_MOVERESCALES_H
#define SINTER_PASSES_MOVERESCALES_H

#include "mlir/Pass/Pass.h"
#include "passes/RewriteRule.h"

namespace sinter {

/// Those that are not about one operation.
llvm::ArrayRef<PatternInfo> moveRescalesPatterns();
llvm::ArrayRef<RewriteRule> moveRescalesRules();
std::unique_ptr<mlir::Pass>
createMoveRescales(std::shared_ptr<PatternRun> run = nullptr);

/// How many rescales \p module has. Those of sums are not counted, nor what
/// gives products the same numbers in the storage type of their weights.
uint64_t countRescales(mlir::ModuleOp module);

} // namespace sinter

#endif // SINTER_PASSES_MOVERESCALES_H
