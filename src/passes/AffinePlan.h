//===- AffinePlan.h - where a scale and a shift would go ------------------===//

#ifndef SINTER_PASSES_AFFINEPLAN_H
#define SINTER_PASSES_AFFINEPLAN_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/ChannelFactors.h"
#include "passes/ClipForm.h"
#include "passes/Groups.h"
#include "passes/MeanForm.h"
#include "passes/PatternLabels.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include <memory>

namespace sinter {

/// The cost of scales and shifts.
struct AffineCost {
  double elements = 0;
  int64_t operations = 0;

  AffineCost operator+(const AffineCost &other) const {
    return {elements + other.elements, operations + other.operations};
  }
  AffineCost operator-() const { return {-elements, -operations}; }
  bool isLessThan(const AffineCost &other) const {
    return operations <= other.operations && elements < other.elements;
  }
  /// Likewise, or as many elements in fewer operations.
  bool isLessOrFewerThan(const AffineCost &other) const {
    return isLessThan(other) ||
           (operations < other.operations && elements <= other.elements);
  }
  /// The cost of one operation with the elements of \p value.
  static AffineCost of(mlir::Value value);
  /// The cost of operations that would scale and shift \p value: each counts by
  /// itself, also in a kernel that computes both.
  static AffineCost of(mlir::Value value, const PlacedAffine &affine);
  /// The cost of the one operation that does so already.
  static AffineCost ofStep(mlir::Value value, const PlacedAffine &affine);
};

/// How a value becomes scaled and shifted through the operations that compute
/// it.
struct PlanAbove {
  enum class Kind { Nothing, Stays, Absorbed, Constant, Merged, Across, Clip };
  Kind kind = Kind::Stays;
  mlir::Value value;
  PlacedAffine affine;
  AffineCost cost;
  AffinePassage passage = AffinePassage::Movement;
  /// Operands, and the plan for each.
  llvm::SmallVector<unsigned> operands = {};
  std::vector<PlanAbove> above = {};
  std::optional<ClipForm> clip = std::nullopt;
  /// Where several operations are crossed together, those.
  std::optional<MeanForm> mean = std::nullopt;
  /// The user of a value that stays as it is for other users.
  mlir::Operation *reader = nullptr;
};

/// How the users of a value scale and shift it.
struct PlanBelow {
  enum class Kind { Stays, Absorbed, Merged, Across, Clip };
  struct Use {
    mlir::OpOperand *operand;
    Kind kind = Kind::Stays;
    AffinePassage passage = AffinePassage::Movement;
    /// The plans for the user's result.
    std::vector<PlanBelow> below = {};
    /// The bounds of elements that are not scaled and shifted yet.
    std::optional<ClipForm> clip = std::nullopt;
    /// Where several operations are crossed together, those.
    std::optional<MeanForm> mean = std::nullopt;
  };
  PlacedAffine affine;
  AffineCost cost;
  std::vector<Use> uses = {};
};

/// Whether \p step adds a bias to a product, which is where that is cheapest.
bool isBias(const AffineStep &step);

/// Whether values of the type of \p value keep their range and precision when
/// they are scaled and shifted so.
bool keepsNumbers(mlir::Value value, const PlacedAffine &affine);

/// Whether \p op is a static or dynamic slice of its first operand.
bool takesSlices(mlir::Operation *op);

/// Whether \p op computes floats, and nothing else.
bool isFloatComputation(mlir::Operation *op);
/// Whether what is done to \p from, an operand or result of \p op, may be done
/// to \p to instead: its type has as many digits.
bool mayBeDoneTo(mlir::Operation *op, mlir::Value from, mlir::Value to);
/// The cost of one bound for each channel of \p value, where there was one for
/// all.
AffineCost costOfBounds(mlir::Value value);

/// Makes plans; the graph stays as it is.
class AffinePlanner {
public:
  AffinePlanner(mlir::func::FuncOp function, const WholeNodes &whole,
                const PatternRun &run)
      : function(function), whole(whole), run(run) {}

  /// The plan to scale and shift \p value for its user \p reader alone.
  PlanAbove above(mlir::Value value, mlir::Operation *reader,
                  const PlacedAffine &affine);
  /// The plan to scale and shift \p value in all of its users.
  PlanBelow below(mlir::Value value, const PlacedAffine &affine);
  /// Must be called before each plan for a new root.
  void begin();
  /// Whether a plan may change \p op.
  bool mayChange(mlir::Operation *op) const;
  /// Whether \p op belongs to a source node that is left as it is.
  bool isKept(mlir::Operation *op) const { return whole.contains(op); }
  bool isEnabled(AffinePassage passage) const;
  /// Whether nothing may be inserted between \p value and \p reader.
  bool isInsideNode(mlir::Value value, mlir::Operation *reader) const;
  /// Whether scales and shifts may pass \p op on \p way.
  bool mayCross(mlir::Operation *op, const AffineWay &way) const;
  /// Whether \p value is the result, in floats, of a matmul or convolution with
  /// a constant weight.
  bool isProduct(mlir::Value value) const { return products.contains(value); }
  /// sinter::isBias(), also for a quantised product, whose result is
  /// dequantised behind it.
  bool isBias(const AffineStep &step) const;
  /// Whether a product whose result is \p value absorbs \p affine of it. The
  /// result is converted to \p converted behind that, if given.
  bool isAbsorbedAbove(mlir::Value value, mlir::Type converted,
                       const PlacedAffine &affine) const;
  /// Whether \p value follows from constants and may be recomputed: not one
  /// computed from a quantised constant that stays quantised.
  bool mayComputeAnew(mlir::Value value) const;
  /// Whether the scales of a quantised constant that stays quantised absorb
  /// \p affine of \p value, which is dequantised from it.
  bool isTakenUpByScales(mlir::Value value, const PlacedAffine &affine) const;
  /// Whether the product that owns \p use absorbs \p affine of its operand.
  bool isAbsorbedBelow(mlir::OpOperand &use, const PlacedAffine &affine) const;

private:
  bool isReadBy(mlir::Value value, mlir::Operation *reader,
                const PlacedAffine &affine) const;
  bool isFolded(mlir::Value value, const PlacedAffine &affine,
                bool isBefore) const;
  std::optional<PlanAbove> merged(mlir::Value value,
                                  const PlacedAffine &affine);
  std::optional<PlanAbove> clipped(mlir::Value value,
                                   const PlacedAffine &affine);
  std::optional<PlanAbove> acrossMean(mlir::Value value,
                                      const PlacedAffine &affine);
  std::optional<PlanAbove> across(mlir::Value value, const PlacedAffine &affine,
                                  const AffineWay &way,
                                  std::optional<unsigned> shifted);
  PlanBelow::Use use(mlir::OpOperand &operand, const PlacedAffine &affine,
                     AffineCost &cost);
  std::optional<PlacedAffine> passedBelow(mlir::OpOperand &operand,
                                          const PlacedAffine &affine,
                                          const AffineWay &way) const;

  void findProducts();

  mlir::func::FuncOp function;
  const WholeNodes &whole;
  const PatternRun &run;
  /// The products by their results in floats, once there is a plan to make.
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Operation *, 1>> products;
  bool knowsProducts = false;
  unsigned left = 0;
  /// Operations that the plan crosses downwards: a second path to one ends in
  /// front of it.
  llvm::SmallPtrSet<mlir::Operation *, 16> crossed;
  /// Values with several users that are scaled already, for some of them.
  llvm::DenseSet<mlir::Value> shared;
};

/// The scale of \p affine as factors of a quantised constant; nothing where it
/// shifts, or varies along several dimensions.
std::optional<ChannelFactors> factorsOf(const PlacedAffine &affine);

/// The label that switches a passage off.
llvm::StringRef labelOf(AffinePassage passage);
inline constexpr llvm::StringLiteral mergeAffineLabel = "merge-affine",
                                     splitAffineLabel = "split-affine",
                                     affineConstantLabel =
                                         "fold-affine-constant";

} // namespace sinter

#endif // SINTER_PASSES_AFFINEPLAN_H
