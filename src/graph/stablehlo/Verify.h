//===- Verify.h - helpers of verifiers and type inference -----------------===//

#ifndef SINTER_GRAPH_STABLEHLO_VERIFY_H
#define SINTER_GRAPH_STABLEHLO_VERIFY_H

#include "graph/Bounds.h"
#include "graph/stablehlo/StablehloOps.h"

namespace sinter::stablehlo {

/// Whether two sizes are static and differ.
inline bool differ(int64_t lhs, int64_t rhs) {
  return !mlir::ShapedType::isDynamic(lhs) &&
         !mlir::ShapedType::isDynamic(rhs) && lhs != rhs;
}

/// Whether all entries are dimensions of a tensor of rank \p rank.
bool isWithin(llvm::ArrayRef<int64_t> list, int64_t rank);
/// Whether all entries are distinct.
bool isUnique(llvm::ArrayRef<int64_t> list);
/// Both.
inline bool isDistinctWithin(llvm::ArrayRef<int64_t> list, int64_t rank) {
  return isWithin(list, rank) && isUnique(list);
}

/// Whether the entries are in ascending order.
inline bool isSorted(llvm::ArrayRef<int64_t> list) {
  return llvm::is_sorted(list);
}

/// Whether a reduction may take elements of type \p from and accumulate in
/// type \p to: is_promotable of the specification.
bool isPromotable(mlir::Type from, mlir::Type to);

/// Constraints of operations that move elements: the result has the operand's
/// element type, unless that is quantised per axis. With \p keepsScales the
/// scales stay even then, and only the axis may change.
mlir::LogicalResult verifyMovedElements(mlir::Operation *op,
                                        mlir::Value operand, mlir::Value result,
                                        bool keepsScales);

/// The number of elements; nothing if a size is dynamic or it overflows.
std::optional<int64_t> countElements(llvm::ArrayRef<int64_t> shape);

/// The most processes of a valid program.
inline constexpr int64_t mostProcesses = 1 << 20;

/// Whether the attribute has at most \p most elements: a splat may claim any
/// number.
inline bool hasAtMost(mlir::DenseElementsAttr attribute, int64_t most) {
  std::optional<int64_t> count = countElements(attribute.getType().getShape());
  return count && *count <= most;
}

/// Constraint (C3) of reshape and dynamic_reshape.
mlir::LogicalResult verifyPerAxisReshape(mlir::Operation *op,
                                         mlir::RankedTensorType from,
                                         mlir::RankedTensorType to);

/// Constraints (C1) to (C6) of broadcast_in_dim and dynamic_broadcast_in_dim.
mlir::LogicalResult verifyBroadcast(mlir::Operation *op, mlir::Value operand,
                                    mlir::Value result,
                                    llvm::ArrayRef<int64_t> dimensions);

/// The labels of the constraints of gather and dynamic_gather.
struct GatherLabels {
  llvm::StringRef rank, vectorDim, indexSize, offsetsSorted, offsetsWithin,
      collapsedUnique, collapsedSorted, collapsedWithin, collapsedSizes,
      mapUnique, mapWithin, sizesRank, sizesFit;
};
inline constexpr GatherLabels gatherLabels = {
    "(C1)", "(C2)", "(C3)",  "(C4)",  "(C5)",  "(C6)", "(C7)",
    "(C8)", "(C9)", "(C18)", "(C19)", "(C20)", "(C21)"};
inline constexpr GatherLabels dynamicGatherLabels = {
    "(C1)", "(C2)", "(C3)", "(C4)",  "(C5)",  "(C6)", "(C6)",
    "(C7)", "(C8)", "(C9)", "(C10)", "(C11)", "(C12)"};

/// The result shape of a gather; emits an error if the dimension numbers are
/// invalid. \p sizes are the slice's, nothing where they are dynamic.
std::optional<Dimensions> inferGather(
    std::optional<mlir::Location> location, mlir::RankedTensorType operand,
    mlir::RankedTensorType indices, GatherDimensionNumbersAttr numbers,
    std::optional<llvm::ArrayRef<int64_t>> sizes, const GatherLabels &labels);

/// The integers of a constant; nothing for any other value.
std::optional<llvm::SmallVector<int64_t>> constantInts(mlir::Value value);

/// Whether two types have the same baseline element type.
bool sameBaselineElement(mlir::Type lhs, mlir::Type rhs);

/// The types that the region's block returns; empty if it does not end in a
/// return.
mlir::TypeRange returnedTypes(mlir::Region &region);

/// Checks that the region's arguments and results are scalars of the given
/// element types; \p label is the constraint's.
mlir::LogicalResult verifyScalarRegion(mlir::Operation *op,
                                       mlir::Region &region,
                                       mlir::TypeRange arguments,
                                       mlir::TypeRange results,
                                       llvm::StringRef label);

/// Checks a region that accumulates: it takes an accumulator E and a value E
/// for each input and returns the E, to which the input's elements may be
/// promoted; the results have elements E. \p label and \p resultLabel are the
/// constraints'.
mlir::LogicalResult verifyReducer(mlir::Operation *op, mlir::Region &region,
                                  mlir::TypeRange inputs,
                                  mlir::TypeRange results,
                                  llvm::StringRef label,
                                  llvm::StringRef resultLabel);

/// All types twice: the argument types of an accumulating region.
llvm::SmallVector<mlir::Type> twice(mlir::TypeRange types);

/// \p shaped with the element types that the region returns.
mlir::LogicalResult
inferElementsOfRegion(std::optional<mlir::Location> location,
                      mlir::TypeRange shaped, mlir::RegionRange regions,
                      unsigned region,
                      llvm::SmallVectorImpl<mlir::Type> &types);

} // namespace sinter::stablehlo

#endif // SINTER_GRAPH_STABLEHLO_VERIFY_H
