//===- PermutedType.h - tensor types in another order of dimensions -------===//

#ifndef SINTER_GRAPH_PERMUTEDTYPE_H
#define SINTER_GRAPH_PERMUTEDTYPE_H

#include "mlir/IR/BuiltinTypes.h"

namespace sinter {

/// \p element quantised along dimension \p axis, if it is quantised per axis;
/// any other type as it is.
mlir::Type alongAxis(mlir::Type element, int64_t axis);

/// The type of a transpose: dimension i is dimension `permutation[i]` of
/// \p type. The quantised dimension moves along.
mlir::RankedTensorType permutedType(mlir::RankedTensorType type,
                                    llvm::ArrayRef<int64_t> permutation);

/// Whether the elements of \p type are quantised per axis.
bool isQuantizedPerAxis(mlir::Type type);

} // namespace sinter

#endif // SINTER_GRAPH_PERMUTEDTYPE_H
