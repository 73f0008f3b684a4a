//===- FusionGroup.h - the operations of one kernel -----------------------===//

#ifndef SINTER_BACKEND_CPU_FUSION_FUSIONGROUP_H
#define SINTER_BACKEND_CPU_FUSION_FUSIONGROUP_H

#include "graph/stablehlo/StablehloOps.h"

#include "llvm/ADT/DenseSet.h"

#include <optional>

namespace sinter::cpu {

/// The iteration space of an operation relative to the kernel's root: for each
/// of its dimensions, the root's dimension (without unit dimensions), or one of
/// FusionGroup::interiorDims. Operations with the same place are computed in
/// the same loop.
struct Place {
  llvm::SmallVector<int64_t> dims;
  /// The use that has no simple map to the root's dimensions; `dims` are those
  /// behind it then, if any.
  const mlir::OpOperand *through = nullptr;

  bool isSimple() const { return !through; }
  bool operator==(const Place &) const = default;
};

/// A root and the operations fused with it, each with a place.
struct FusionGroup {
  mlir::Operation *root;
  llvm::SmallVector<mlir::Operation *> ops;
  llvm::DenseMap<mlir::Operation *, Place> places;
  /// Whether reductions make this a row kernel: the root's first dimensions
  /// enumerate the rows, `interior` are the reduced sizes. Their dimensions are
  /// the root's last ones, or numbers from its rank on.
  bool hasRows = false;
  llvm::SmallVector<int64_t> rowDims, interiorDims;
  llvm::SmallVector<Dim> interior;
  /// Members that other kernels recompute.
  llvm::DenseSet<mlir::Operation *> repeated;
  /// The product that the members depend on, which may still be fused.
  mlir::Operation *awaited = nullptr;

  explicit FusionGroup(mlir::Operation *root);

  bool contains(mlir::Operation *op) const { return places.contains(op); }
  bool hasProduct() const;
  void add(mlir::Operation *op, Place place);

  /// Whether \p reduce at \p place can be one of the kernel's row reductions.
  bool mayAdmit(stablehlo::ReduceOp reduce, const Place &place) const;
  void admit(stablehlo::ReduceOp reduce, const Place &place);
  /// How many of the root's dimensions enumerate the rows.
  int64_t rowRank() const;

  /// The place of what \p use, of a member, reads.
  Place placeThrough(const mlir::OpOperand &use) const;
  /// The place at which \p op's users in the group need its elements; nothing
  /// if there are several, so that it would be computed repeatedly.
  std::optional<Place> placeFor(mlir::Operation *op) const;
};

/// The sizes of \p shape that are not 1.
llvm::SmallVector<Dim> properSizes(llvm::ArrayRef<Dim> shape);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_FUSION_FUSIONGROUP_H
