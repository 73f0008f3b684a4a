//===- Verify.h - what the verifiers and inference share ------------------===//

#ifndef SINTER_GRAPH_STABLEHLO_VERIFY_H
#define SINTER_GRAPH_STABLEHLO_VERIFY_H

#include "graph/Bounds.h"
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

/// Whether the numbers do not fall.
inline bool isSorted(llvm::ArrayRef<int64_t> list) {
  return llvm::is_sorted(list);
}

/// Whether a reduction may take elements of type \p from and accumulate in
/// type \p to: is_promotable of the specification.
bool isPromotable(mlir::Type from, mlir::Type to);

/// Constraints of elements that are moved: the result's type is the operand's
/// but where it is quantised per axis. \p keepsScales if the scales stay even
/// then, and only the axis may change.
mlir::LogicalResult verifyMovedElements(mlir::Operation *op,
                                        mlir::Value operand, mlir::Value result,
                                        bool keepsScales);

/// The number of elements; nothing if a size is not known or it overflows.
std::optional<int64_t> countElements(llvm::ArrayRef<int64_t> shape);

/// More processes than this are not a program but a mistake.
inline constexpr int64_t mostProcesses = 1 << 20;

/// Whether the attribute has at most \p most elements: what stands in for many
/// by one value may claim to have any number.
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

/// The constraints' labels of gather and dynamic_gather.
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

/// The shape that a gather gives; says what is wrong if the dimension numbers
/// do not fit. \p sizes are the slice's, nothing where they are not known.
std::optional<Dimensions> inferGather(
    std::optional<mlir::Location> location, mlir::RankedTensorType operand,
    mlir::RankedTensorType indices, GatherDimensionNumbersAttr numbers,
    std::optional<llvm::ArrayRef<int64_t>> sizes, const GatherLabels &labels);

/// The integers of a constant; nothing for another value.
std::optional<llvm::SmallVector<int64_t>> constantInts(mlir::Value value);

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

/// Checks a region that accumulates: it takes an accumulator E and a value E
/// for each input and returns the E, to which the input's elements may be
/// promoted; the results have elements E. \p label and \p resultLabel are the
/// constraints'.
mlir::LogicalResult verifyReducer(mlir::Operation *op, mlir::Region &region,
                                  mlir::TypeRange inputs,
                                  mlir::TypeRange results,
                                  llvm::StringRef label,
                                  llvm::StringRef resultLabel);

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
