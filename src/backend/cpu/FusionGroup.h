//===- FusionGroup.h - operations that one kernel computes ----------------===//

#ifndef SINTER_BACKEND_CPU_FUSIONGROUP_H
#define SINTER_BACKEND_CPU_FUSIONGROUP_H

#include "graph/stablehlo/StablehloOps.h"

#include "llvm/ADT/DenseSet.h"

#include <optional>

namespace sinter::cpu {

/// Where an operation's elements are computed, as seen from the kernel's root:
/// which of the root's dimensions each of its own runs along (unit dimensions
/// are left out), or a number of its own where it is not so simple. Operations
/// of the same place are computed side by side.
struct Place {
  bool isSimple = true;
  llvm::SmallVector<int64_t> dims;

  bool operator==(const Place &) const = default;
};

/// A root and what has joined it, each at a place.
struct FusionGroup {
  mlir::Operation *root;
  llvm::SmallVector<mlir::Operation *> ops;
  llvm::DenseMap<mlir::Operation *, Place> places;
  /// Reductions make a kernel of rows: the root's first dimensions number the
  /// rows, `interior` are the sizes that are reduced.
  bool hasRows = false;
  llvm::SmallVector<int64_t> rowDims, interiorDims, interior;
  int64_t nextPlace = 0;
  /// Members that other kernels compute, too.
  llvm::DenseSet<mlir::Operation *> repeated;
  /// The product that what has joined is computed from, which may join yet.
  mlir::Operation *awaited = nullptr;

  explicit FusionGroup(mlir::Operation *root);

  bool contains(mlir::Operation *op) const { return places.contains(op); }
  bool hasProduct() const;
  void add(mlir::Operation *op, Place place);

  /// Whether \p reduce at \p place can be one of the kernel's row reductions.
  bool mayAdmit(stablehlo::ReduceOp reduce, const Place &place) const;
  void admit(stablehlo::ReduceOp reduce, const Place &place);
  /// How many of the root's dimensions number the rows.
  int64_t rowRank() const;

  /// The place of the operand \p operand of \p user, which is here.
  Place placeThrough(mlir::Operation *user, mlir::Value operand);
  /// The one place at which \p op's users here want its elements; nothing if
  /// they want them at several, so that it would be computed more than once.
  std::optional<Place> placeFor(mlir::Operation *op);
};

/// The sizes of \p shape that are not 1.
llvm::SmallVector<int64_t> properSizes(llvm::ArrayRef<int64_t> shape);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_FUSIONGROUP_H
