//===- MoveRescales.h - rescales meet, and vanish -------------------------===//
//
// A rescale changes the scale or zero point of quantised values
// (stablehlo.uniform_quantize or nn.quantize with a quantised operand).
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
// Operations of any dialect define by RescaleOpInterface how rescales move
// across them. A rescale moves through a whole tree of operations at once, to
// where it vanishes or where it has fewer elements.
//
// The pass terminates, since each step reduces the cost of the graph: bytes
// that rescales read and write and bytes of quantised values, then rescales,
// then users of rescales. (All dynamic dimensions count as the same size.) A
// step that would leave more rescales than before is not done, however few
// bytes they have. So nothing moves to and fro.
//
// Restrictions:
//   - Exact are: operations that keep the order of elements, since a rescale
//     does, too; rewrites with the same result for every storage value, which
//     are all tried, up to 16 bits. Anything else needs `requantize`: it may
//     change results by one unit of the type that is rounded to.
//   - A type that vanishes between two others clips nothing in the last one's
//     range, except values known not to occur (RealRange.h), and its unit is at
//     most two of the last one's. Where it clips something (an operand of a
//     concatenate, whose range is narrower than the result's), a clamp to its
//     range replaces it, if the rescale has nowhere else to go and the type
//     behind has one scale.
//   - A rescale vanishes into an operand if it clips nothing.
//   - Operations that a rescale moves through have one user, and no quantised
//     operand that does not move along. Constants among their operands are
//     values that the rescale gives for some storage value.
//   - With per-axis scales, that dimension is kept (AxesOpInterface), and there
//     is no constant or region on the way.
//   - An output keeps its type, unless PatternRun::changesOutputs is set. In
//     any case it stays quantised, and another output of the same value stays
//     the same value.
//   - 32-bit types are those of accumulators, and stay as their products made
//     them: the rescale that rounds them is part of the product, and may be
//     combined with another.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_PASSES_MOVERESCALES_H
#define SINTER_PASSES_MOVERESCALES_H

#include "mlir/Pass/Pass.h"
#include "passes/RewriteRule.h"

namespace sinter {

/// Patterns that do not belong to one operation.
llvm::ArrayRef<PatternInfo> moveRescalesPatterns();
llvm::ArrayRef<RewriteRule> moveRescalesRules();
std::unique_ptr<mlir::Pass>
createMoveRescales(std::shared_ptr<PatternRun> run = nullptr);

/// How many rescales \p module has. Those of accumulators are not counted, nor
/// those that only convert an operand of a product to the storage type of its
/// weights.
uint64_t countRescales(mlir::ModuleOp module);

} // namespace sinter

#endif // SINTER_PASSES_MOVERESCALES_H
