//===- Verify.h - what the verifiers and inference share ------------------===//

#ifndef SINTER_GRAPH_STABLEHLO_VERIFY_H
#define SINTER_GRAPH_STABLEHLO_VERIFY_H

#include "graph/stablehlo/StablehloOps.h"

namespace sinter::stablehlo {

/// Whether two sizes are known and differ.
inline bool differ(int64_t lhs, int64_t rhs) {
  return !mlir::ShapedType::isDynamic(lhs) &&
         !mlir::ShapedType::isDynamic(rhs) && lhs != rhs;
}

/// Whether the numbers are dimensions of a tensor of that rank.
bool isWithin(llvm::ArrayRef<int64_t> list, int64_t rank);
/// Whether no number stands twice.
bool isUnique(llvm::ArrayRef<int64_t> list);
/// Both.
inline bool isDistinctWithin(llvm::ArrayRef<int64_t> list, int64_t rank) {
  return isWithin(list, rank) && isUnique(list);
}

/// Whether two types have the same baseline element type.
bool sameBaselineElement(mlir::Type lhs, mlir::Type rhs);

/// What the region's block returns; nothing if it does not end in a return.
mlir::TypeRange returnedTypes(mlir::Region &region);

/// Checks that the region's arguments and results are scalars of the given
/// element types; \p label is the constraint's.
mlir::LogicalResult verifyScalarRegion(mlir::Operation *op,
                                       mlir::Region &region,
                                       mlir::TypeRange arguments,
                                       mlir::TypeRange results,
                                       llvm::StringRef label);

/// Checks that the region combines scalars of the results' element types, to
/// which those of \p operands can be promoted, one after the other and again.
mlir::LogicalResult verifyReductionRegion(mlir::Operation *op,
                                          mlir::Region &region,
                                          mlir::TypeRange operands,
                                          mlir::TypeRange results,
                                          llvm::StringRef label);

/// Each type, then each type again: what an accumulating region takes.
llvm::SmallVector<mlir::Type> twice(mlir::TypeRange types);

/// \p shaped with the element types that the region returns.
mlir::LogicalResult
inferElementsOfRegion(std::optional<mlir::Location> location,
                      mlir::TypeRange shaped, mlir::RegionRange regions,
                      unsigned region,
                      llvm::SmallVectorImpl<mlir::Type> &types);

} // namespace sinter::stablehlo

#endif // SINTER_GRAPH_STABLEHLO_VERIFY_H
