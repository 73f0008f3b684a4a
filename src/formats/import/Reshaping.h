//===- Reshaping.h - to a shape that is a value --------------------------===//

#ifndef SINTER_FORMATS_IMPORT_RESHAPING_H
#define SINTER_FORMATS_IMPORT_RESHAPING_H

#include "formats/import/GraphBuilder.h"

namespace sinter::formats {

/// \p data in the shape that the list \p shape holds, as far as its elements
/// are known: 0 takes the operand's size (unless \p allowsZero), -1 is what is
/// left. With \p keepsShape the result takes \p shape itself where it says all,
/// so that a writer finds it. Waits for a shape of which nothing is known
/// unless unknown sizes are spelt.
mlir::Value reshapeTo(GraphBuilder &builder, mlir::Value data,
                      mlir::Value shape, bool allowsZero, bool keepsShape);

} // namespace sinter::formats

#endif // SINTER_FORMATS_IMPORT_RESHAPING_H
