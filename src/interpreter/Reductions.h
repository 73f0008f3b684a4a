//===- Reductions.h - shared by reductions --------------------------------===//

#ifndef SINTER_INTERPRETER_REDUCTIONS_H
#define SINTER_INTERPRETER_REDUCTIONS_H

#include "graph/stablehlo/StablehloOps.h"
#include "interpreter/Evaluation.h"

namespace sinter::interpreter {

/// reduce_window of the first 2 * \p count operands, inputs and initial values,
/// by the region \p body.
Result<Tensors> reduceWindow(const Call &call, size_t count,
                             llvm::ArrayRef<stablehlo::WindowDimension> window,
                             mlir::Region &body);

} // namespace sinter::interpreter

#endif // SINTER_INTERPRETER_REDUCTIONS_H
