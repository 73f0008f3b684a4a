//===- FormAttention.h - attention that reads its operands where they are
//---===//
//
//     transpose(attention(transpose(q), ...))  ->  cpu.attention(q, ...)
//     attention(q : f16, ...) : f16
//         ->  convert<f16>(cpu.attention(convert<f32>(q), ...))
//
// cpu.attention names the dimensions of its operands and its result, so that
// heads that lie between rows and columns cost nothing. It is of f32; operands
// that are narrower are converted where they are computed.
//
// Restrictions: the elements of a value and of a row of the result stay side by
// side, and those of a key, or the same element of all keys.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_LAYOUT_FORMATTENTION_H
#define SINTER_BACKEND_CPU_LAYOUT_FORMATTENTION_H

#include "graph/nn/NnOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/PatternLabels.h"

namespace sinter::cpu {

struct PassSetting;

/// Whether \p op is computed as a whole: \p run lets it be, it is of f32 or
/// floats narrower than that, and cost/Estimates says that it takes less
/// than two products and what is between them: it does not where a row of the
/// query is by itself, since keys are packed for it.
bool computesWhole(nn::AttentionOp op, const PassSetting &setting,
                   const PatternRun &run);

/// Rewrites all nn.attention of \p function, those in regions included.
void formAttention(mlir::func::FuncOp function, PatternRun &run);

llvm::ArrayRef<PatternInfo> formAttentionPatterns();

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_LAYOUT_FORMATTENTION_H
