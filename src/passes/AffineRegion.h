//===- AffineRegion.h - values that are scaled and shifted together -------===//
//
// Neither the producers of its operand nor the users of its result absorb all
// of a scale and a shift. They may if other values change, too:
//
//   x = conv(...)                              x' = conv'(...)
//   concat(batch_norm(x), conv(x))      ->     concat(x', conv'(x'))
//
// A region is the values that become scaled and shifted, each with its own
// scale and shift. A producer or user of one of them either lets both pass, so
// that its other operands and its result are in the region, too, or absorbs
// them, or gets a scale and a shift beside it.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_PASSES_AFFINEREGION_H
#define SINTER_PASSES_AFFINEREGION_H

#include "passes/AffinePlan.h"
#include "llvm/ADT/MapVector.h"
#include <deque>

namespace sinter {

/// What becomes of the values of a region, and of their producers and users.
struct RegionPlan {
  /// A scale and a shift behind `value`, for all of its uses, or for `use`
  /// alone.
  struct Placement {
    mlir::Value value;
    mlir::OpOperand *use;
    PlacedAffine affine;
    /// Whether the product beside it absorbs it.
    bool isTakenUp = false;
  };
  /// An operation of the region.
  struct Change {
    mlir::Operation *op;
    enum class Kind { Crossed, Clip, Step } kind = Kind::Crossed;
    AffinePassage passage = AffinePassage::Movement;
    std::optional<ClipForm> clip = std::nullopt;
    /// The new scale and shift of a step; the identity if it is removed.
    PlacedAffine step = {};
    /// Whether the product in front of it absorbs it.
    bool isTakenUp = false;
    bool isOfRegion = true;
  };
  std::vector<Placement> placements;
  std::vector<Change> changes;
  /// How much more is scaled and shifted than before.
  AffineCost cost;
};

/// Where a region begins: with the operand of a step, which becomes its result,
/// or with the result, which becomes the operand; either scaled alone, where
/// the shift stays, or shifted alone, where the scale stays; or with the
/// results of all steps that are concatenated.
enum class RegionStart {
  Operand,
  Result,
  ScaledOperand,
  ScaledResult,
  ShiftedOperand,
  ShiftedResult,
  Joined
};

inline bool startsAtOperand(RegionStart start) {
  return start == RegionStart::Operand || start == RegionStart::ScaledOperand ||
         start == RegionStart::ShiftedOperand;
}

/// Makes plans; the graph stays as it is.
class RegionPlanner {
public:
  RegionPlanner(AffinePlanner &planner, const PatternRun &run)
      : planner(planner), run(run) {}

  /// The region that begins at \p op, an affineStep(); nothing where there is
  /// none that leaves less to scale and shift.
  std::optional<RegionPlan> plan(mlir::Operation *op, RegionStart start);
  /// Whether the last one had too many values.
  bool wasTooLarge() const { return isTooLarge; }
  /// Steps that products will absorb: they cost nothing.
  llvm::DenseSet<mlir::Operation *> pending;

private:
  using Operations = llvm::SetVector<mlir::Operation *>;

  static std::optional<PlacedAffine> firstAffine(const PlacedAffine &step,
                                                 RegionStart start);
  void join(mlir::Value value, std::optional<PlacedAffine> affine);
  void joinSlices(mlir::Value value);
  void joinSiblings(mlir::Value value);
  void grow();
  /// Whether nothing was guessed that may yet become known, or \p mayGuess is
  /// set.
  bool grow(mlir::Operation *op, bool mayGuess);
  bool grow(mlir::Operation *op, const AffineWay &way, bool mayGuess,
            bool &waits);
  void growSum(mlir::Operation *op, const AffineWay &way);
  bool correctShares();
  void growProduct(mlir::Operation *op);
  bool isOfRegion(mlir::Value value) const { return members.contains(value); }
  PlacedAffine of(mlir::Value value) const;
  bool isProduct(mlir::Operation *op) const;
  bool takesShift(mlir::Value value) const;
  bool isPending(mlir::Operation *op) const { return pending.contains(op); }
  std::optional<AffineStep> stepOf(mlir::Operation *op) const;

  bool evaluate(mlir::Operation *op, RegionPlan &plan);
  bool evaluateStep(mlir::Operation *op, const AffineStep &step,
                    RegionPlan &plan);
  std::optional<MeanForm> meanOf(mlir::Operation *op) const;
  bool evaluateMean(mlir::Operation *op, const MeanForm &mean,
                    RegionPlan &plan);
  bool evaluateApart(mlir::Operation *op, RegionPlan &plan);
  std::optional<RegionPlan> evaluateClip(mlir::Operation *op);
  std::optional<RegionPlan> evaluateProduct(mlir::Operation *op,
                                            const AffineWay &way);
  std::optional<RegionPlan> evaluateWay(mlir::Operation *op,
                                        const AffineWay &way);
  std::optional<llvm::SmallVector<PlacedAffine>>
  operandsOf(mlir::Operation *op, const AffineWay &way);
  bool placeBehind(mlir::Value value, RegionPlan &plan);
  bool placeAt(mlir::OpOperand &use, const PlacedAffine &wanted,
               RegionPlan &plan);
  /// Counts what products turn out not to absorb.
  void check(RegionPlan &plan);

  AffinePlanner &planner;
  const PatternRun &run;
  mlir::Block *block = nullptr;
  llvm::MapVector<mlir::Value, PlacedAffine> members;
  size_t uses = 0;
  bool isTooLarge = false;
  Operations next, sums, waiting;
  /// The share of the missing shift that one operand of an addition gets first.
  llvm::MapVector<mlir::Operation *, double> shares;
};

} // namespace sinter

#endif // SINTER_PASSES_AFFINEREGION_H
