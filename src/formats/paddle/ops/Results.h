//===- Results.h - results whose form depends on the release --------------===//

#ifndef SINTER_FORMATS_PADDLE_OPS_RESULTS_H
#define SINTER_FORMATS_PADDLE_OPS_RESULTS_H

#include "formats/paddle/OperatorContext.h"

namespace sinter::paddle {

/// \p value, a scalar as [1] where the program declares the output of \p slot
/// so: before Paddle 2.5 no tensor was without dimensions.
mlir::Value asDeclared(OperatorContext &op, llvm::StringRef slot,
                       mlir::Value value);

} // namespace sinter::paddle

#endif // SINTER_FORMATS_PADDLE_OPS_RESULTS_H
