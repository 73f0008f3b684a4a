//===- DynamicRules.h - facts about dynamic dimensions --------------------===//

#ifndef SINTER_PASSES_RULES_DYNAMICRULES_H
#define SINTER_PASSES_RULES_DYNAMICRULES_H

#include "graph/SizeSources.h"
#include "graph/stablehlo/StablehloOps.h"
#include <optional>

namespace sinter {

/// On a custom call: which operands are the shapes of the results, one each.
inline constexpr llvm::StringLiteral shapeOperandsAttribute =
    "indices_of_shape_operands";

/// The size of a slice with stride 1 along each dimension, if its limits are
/// its starts plus constants.
std::optional<llvm::SmallVector<int64_t>>
sizesOfUnitSlice(stablehlo::RealDynamicSliceOp op);

} // namespace sinter

#endif // SINTER_PASSES_RULES_DYNAMICRULES_H
