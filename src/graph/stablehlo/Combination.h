//===- Combination.h - how a region combines two numbers ------------------===//
//
// The region of a reduction, a window or a scatter that does one operation with
// its two arguments, as formats have a word for.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_GRAPH_STABLEHLO_COMBINATION_H
#define SINTER_GRAPH_STABLEHLO_COMBINATION_H

#include "graph/stablehlo/StablehloOps.h"
#include <optional>

namespace sinter::stablehlo {

/// Any and All are those of booleans, whichever of the operations that mean the
/// same there the region has.
enum class Combination : uint8_t { Sum, Product, Max, Min, Any, All };

/// Nothing where \p body does more than one operation, another one, or that one
/// to complex numbers.
std::optional<Combination> combinationOf(mlir::Region &body,
                                         mlir::Type element);

/// Whether \p value is a constant of one element that changes nothing under the
/// operation called \p operation: the least number of the type for
/// stablehlo.maximum, say. (-0.0 + 0.0 is 0.0, but how often an initial value
/// is added the specification leaves open.)
bool isNeutral(mlir::Value value, llvm::StringRef operation);
bool isNeutral(mlir::Value value, Combination combination);

} // namespace sinter::stablehlo

#endif // SINTER_GRAPH_STABLEHLO_COMBINATION_H
