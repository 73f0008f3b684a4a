//===- Reshaping.h - reshapes to a shape that is a value ------------------===//

#ifndef SINTER_FORMATS_IMPORT_RESHAPING_H
#define SINTER_FORMATS_IMPORT_RESHAPING_H

#include "formats/import/GraphBuilder.h"

namespace sinter::formats {

/// \p data in the shape given by the elements of the vector \p shape, as far as
/// they are known: 0 takes the operand's size (unless \p allowsZero), -1 is
/// inferred. With \p keepsShape the op uses \p shape itself if it is complete,
/// so that a writer finds it. Waits for a shape of which nothing is known,
/// unless ReadOptions::expandsUnknown.
mlir::Value reshapeTo(GraphBuilder &builder, mlir::Value data,
                      mlir::Value shape, bool allowsZero, bool keepsShape);

} // namespace sinter::formats

#endif // SINTER_FORMATS_IMPORT_RESHAPING_H
