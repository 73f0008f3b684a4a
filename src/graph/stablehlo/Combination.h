//===- Combination.h - how a region combines two values -------------------===//
//
// Classifies regions of a reduction, a windowed reduction or a scatter that
// apply one operation to their two arguments, which formats have a name for.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_GRAPH_STABLEHLO_COMBINATION_H
#define SINTER_GRAPH_STABLEHLO_COMBINATION_H

#include "graph/stablehlo/StablehloOps.h"
#include <optional>

namespace sinter::stablehlo {

/// Any and All are for booleans, where several operations are equivalent.
enum class Combination : uint8_t { Sum, Product, Max, Min, Any, All };

/// The combination of \p body; nothing if it has several operations, another
/// one, or complex arguments.
std::optional<Combination> combinationOf(mlir::Region &body,
                                         mlir::Type element);

/// Whether \p value is a constant of one element that is neutral for the
/// operation called \p operation: the least value of the type for
/// stablehlo.maximum, say. (-0.0 + 0.0 is 0.0, but the specification does not
/// fix how often an initial value is added.)
bool isNeutral(mlir::Value value, llvm::StringRef operation);
bool isNeutral(mlir::Value value, Combination combination);

} // namespace sinter::stablehlo

#endif // SINTER_GRAPH_STABLEHLO_COMBINATION_H
