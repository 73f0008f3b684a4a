//===- Filling.h - ranges, fills and tiles --------------------------------===//

#ifndef SINTER_FORMATS_IMPORT_FILLING_H
#define SINTER_FORMATS_IMPORT_FILLING_H

#include "formats/import/GraphBuilder.h"

namespace sinter::formats {

/// \p start, start + delta, ... before \p limit, all scalars of one type. A
/// range of 16-bit floats is computed in f32, since adding a step in 16 bits
/// eventually has no effect.
mlir::Value range(GraphBuilder &builder, mlir::Value start, mlir::Value limit,
                  mlir::Value delta);

/// The scalar \p filler broadcast to the shape in the elements of the vector
/// \p shape, of known length. Fails for a negative size.
mlir::Value filled(GraphBuilder &builder, mlir::Value filler,
                   mlir::Value shape);

/// \p x with each dimension repeated as often as \p repeats says.
mlir::Value tile(GraphBuilder &builder, mlir::Value x,
                 llvm::ArrayRef<Dim> repeats);

} // namespace sinter::formats

#endif // SINTER_FORMATS_IMPORT_FILLING_H
