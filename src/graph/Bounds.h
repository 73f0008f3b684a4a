//===- Bounds.h - sizes of dimensions and the bounds on them --------------===//
//
// A dimension has a size, or it is unknown and may have a bound: the greatest
// size it has. Bounds propagate through operations as sizes do, since a
// result's size grows with the operand's.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_GRAPH_BOUNDS_H
#define SINTER_GRAPH_BOUNDS_H

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <optional>

namespace sinter {

/// A dimension of a tensor's type: its size, or `?` and the bound, which is `?`
/// where there is none.
struct Dimension {
  int64_t size = mlir::ShapedType::kDynamic;
  int64_t bound = mlir::ShapedType::kDynamic;

  bool isKnown() const { return !mlir::ShapedType::isDynamic(size); }
  bool isBounded() const { return !mlir::ShapedType::isDynamic(bound); }
  /// The largest possible size; `?` for a dimension without a bound.
  int64_t most() const { return isKnown() ? size : bound; }
};
using Dimensions = llvm::SmallVector<Dimension>;

/// The dimensions of \p type.
Dimensions dimensionsOf(mlir::RankedTensorType type);

/// The sizes alone.
llvm::SmallVector<int64_t> sizesOf(llvm::ArrayRef<Dimension> dimensions);

/// A tensor type of these dimensions.
mlir::RankedTensorType tensorTypeOf(llvm::ArrayRef<Dimension> dimensions,
                                    mlir::Type element);

/// \p change applied to the size, or to the bound on it; nothing where it
/// returns nothing.
std::optional<Dimension>
changed(Dimension dimension,
        llvm::function_ref<std::optional<int64_t>(int64_t)> change);

/// A dimension that satisfies both: the size if one has it, else the lower
/// bound. Nothing if sizes differ, or one exceeds the other's bound.
std::optional<Dimension> meet(Dimension lhs, Dimension rhs);

/// A dimension that is one or the other: a size that both have, the higher of
/// two bounds, or nothing known.
Dimension join(Dimension lhs, Dimension rhs);

/// The dimension of a concatenation: the sum of both. Nothing if it overflows.
std::optional<Dimension> appended(Dimension lhs, Dimension rhs);

/// The dimensions that satisfy both types; nothing if they contradict each
/// other.
std::optional<Dimensions> meet(mlir::RankedTensorType lhs,
                               mlir::RankedTensorType rhs);

/// What two shapes broadcast to by NumPy's rule: `?` against a size other than
/// 1 gives that size. Nothing if they do not broadcast.
std::optional<Dimensions> broadcast(llvm::ArrayRef<Dimension> lhs,
                                    llvm::ArrayRef<Dimension> rhs);

} // namespace sinter

#endif // SINTER_GRAPH_BOUNDS_H
