//===- Filling.h - tensors that follow from a few numbers ----------------===//

#ifndef SINTER_FORMATS_IMPORT_FILLING_H
#define SINTER_FORMATS_IMPORT_FILLING_H

#include "formats/import/GraphBuilder.h"

namespace sinter::formats {

/// \p start, start + delta, ... before \p limit, all scalars of one type. That
/// of 16-bit floats is computed in f32, since counting in 16 bits comes to a
/// halt.
mlir::Value range(GraphBuilder &builder, mlir::Value start, mlir::Value limit,
                  mlir::Value delta);

/// The scalar \p filler in the shape that the vector \p shape, of known
/// length, holds. Fails for a negative size.
mlir::Value filled(GraphBuilder &builder, mlir::Value filler,
                   mlir::Value shape);

/// \p x with each dimension repeated as often as \p repeats says.
mlir::Value tile(GraphBuilder &builder, mlir::Value x,
                 llvm::ArrayRef<Dim> repeats);

} // namespace sinter::formats

#endif // SINTER_FORMATS_IMPORT_FILLING_H
