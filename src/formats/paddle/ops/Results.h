//===- Results.h - results that depend on the release ---------------------===//

#ifndef SINTER_FORMATS_PADDLE_OPS_RESULTS_H
#define SINTER_FORMATS_PADDLE_OPS_RESULTS_H

#include "formats/paddle/OperatorContext.h"

namespace sinter::paddle {

/// \p value; a scalar is reshaped to [1] if the program declares the output of
/// \p slot so: before Paddle 2.5 there were no rank-0 tensors.
mlir::Value asDeclared(OperatorContext &op, llvm::StringRef slot,
                       mlir::Value value);

} // namespace sinter::paddle

#endif // SINTER_FORMATS_PADDLE_OPS_RESULTS_H
