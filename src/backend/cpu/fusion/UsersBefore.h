//===- UsersBefore.h - what moves together with operations ----------------===//

#ifndef SINTER_BACKEND_CPU_FUSION_USERSBEFORE_H
#define SINTER_BACKEND_CPU_FUSION_USERSBEFORE_H

#include "mlir/IR/Operation.h"
#include <optional>

namespace sinter::cpu {

/// \p ops of the block of \p last, and what in front of \p last uses their
/// results, directly or not, in the order of the block: what has to move if
/// they move behind \p last. Nothing if \p last uses them, or if these are more
/// than
/// \p most.
std::optional<llvm::SmallVector<mlir::Operation *>>
usersBefore(llvm::ArrayRef<mlir::Operation *> ops, mlir::Operation *last,
            size_t most);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_FUSION_USERSBEFORE_H
