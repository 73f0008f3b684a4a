//===- Einsum.h - products and sums over labelled dimensions -------------===//

#ifndef SINTER_FORMATS_IMPORT_EINSUM_H
#define SINTER_FORMATS_IMPORT_EINSUM_H

#include "formats/import/GraphBuilder.h"

namespace sinter::formats {

/// The contraction of \p operands that \p equation says in NumPy's form, with
/// letters, `...` and perhaps `->`; in the first operand's element type,
/// rounded once. Fails where the equation does not fit the operands.
mlir::Value einsum(GraphBuilder &builder, std::string equation,
                   llvm::ArrayRef<mlir::Value> operands);

} // namespace sinter::formats

#endif // SINTER_FORMATS_IMPORT_EINSUM_H
