//===- Einsum.h - contractions over labelled dimensions -------------------===//

#ifndef SINTER_FORMATS_IMPORT_EINSUM_H
#define SINTER_FORMATS_IMPORT_EINSUM_H

#include "formats/import/GraphBuilder.h"

namespace sinter::formats {

/// The contraction of \p operands by \p equation in NumPy's form (letters,
/// `...` and an optional `->`), in the first operand's element type, rounded
/// once. Fails if the equation does not fit the operands.
mlir::Value einsum(GraphBuilder &builder, std::string equation,
                   llvm::ArrayRef<mlir::Value> operands);

} // namespace sinter::formats

#endif // SINTER_FORMATS_IMPORT_EINSUM_H
