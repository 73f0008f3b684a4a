//===- EnteredRegions.h - guards of what may not be reached ---------------===//
//
// A loop over no steps and a branch that is not taken compute nothing, so that
// a slice in one may be larger than what it is of: a recurrent layer takes a
// step of a sequence that has none. Whether a region is entered at all, be it
// once, is a number that is positive exactly then. Where it follows from sizes
// it is an expression of them, and else the program computes it. A guard that
// something is not negative is one of its product with that:
//
//   while i < S { dynamic_slice %x, i, sizes 2 } : %x of N elements
//
// requires S (N - 2) >= 0.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_SHAPES_ENTEREDREGIONS_H
#define SINTER_BACKEND_CPU_SHAPES_ENTEREDREGIONS_H

#include "backend/cpu/shapes/ComputedSizes.h"

#include <functional>

namespace sinter::cpu {

class EnteredRegions {
public:
  /// \p follow finds out the sizes of an operation that is new in the
  /// function; whether it can.
  EnteredRegions(SizeFacts &facts, ShapeValues &values, ComputedSizes &computed,
                 std::function<bool(mlir::Operation *)> follow)
      : facts(facts), values(values), computed(computed),
        follow(std::move(follow)) {}

  /// Requires that \p slice is at most \p size, wherever \p op is reached.
  void requireRoom(mlir::Operation *op, const SizeExpression &slice,
                   const SizeExpression &size, const llvm::Twine &sliceIs,
                   const llvm::Twine &sizeIs);
  /// Requires that \p size elements hold a slice that \p op takes, wherever it
  /// is reached, unless there is nothing in what is made of such slices, a
  /// tensor of sizes \p result.
  void requireSlice(mlir::Operation *op, const SizeExpression &slice,
                    const SizeExpression &size, const Dims &result);

private:
  /// What must not be negative where \p left must not be if \p op is reached;
  /// nothing where it is surely not, \p left being \p size less \p slice or a
  /// multiple of that.
  Known leftIfEntered(mlir::Operation *op, const SizeExpression &slice,
                      const SizeExpression &size, const SizeExpression &left);
  /// What is positive if \p region, the body of a loop or a branch, is entered
  /// at all; nothing where no expression says it.
  Known enteredIf(mlir::Region &region);
  /// Likewise, if \p condition holds, or does not, when a loop begins that it
  /// is the condition of.
  Known positiveIf(mlir::Value condition, bool holds = true,
                   unsigned depth = 0) const;
  /// Likewise, as a number that the program computes in front of the loop or
  /// the branch; nothing where that is inside of another.
  Known computedEntry(mlir::Region &region);

  SizeFacts &facts;
  ShapeValues &values;
  ComputedSizes &computed;
  std::function<bool(mlir::Operation *)> follow;
  /// What enteredIf() has found out.
  llvm::DenseMap<mlir::Region *, Known> entries;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_SHAPES_ENTEREDREGIONS_H
