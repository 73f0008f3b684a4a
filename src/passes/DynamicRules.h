//===- DynamicRules.h - what is known of sizes that are not ---------------===//

#ifndef SINTER_PASSES_DYNAMICRULES_H
#define SINTER_PASSES_DYNAMICRULES_H

#include "graph/stablehlo/StablehloOps.h"
#include <optional>

namespace sinter {

/// On a custom call: which operands are the shapes of the results, one each.
inline constexpr llvm::StringLiteral shapeOperandsAttribute =
    "indices_of_shape_operands";

/// Where the number of elements along a dimension comes from.
struct SizeSource {
  std::optional<int64_t> known;
  /// Otherwise it is that of dimension `dimension` of `of`, a shapeSource; of
  /// null where it is computed.
  mlir::Value of;
  int64_t dimension = 0;
};

/// Of each element of the vector \p sizes: of a shape operand, say. Fewer where
/// \p sizes is of unknown length.
llvm::SmallVector<SizeSource> sourcesOfSizes(mlir::Value sizes);

/// The first value above \p value that is known to have its shape.
mlir::Value shapeSource(mlir::Value value);

/// How many elements a slice without gaps takes along each dimension, if its
/// limits are its starts and known numbers more.
std::optional<llvm::SmallVector<int64_t>>
sizesOfUnitSlice(stablehlo::RealDynamicSliceOp op);

} // namespace sinter

#endif // SINTER_PASSES_DYNAMICRULES_H
