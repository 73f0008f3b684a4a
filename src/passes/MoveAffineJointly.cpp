#include "passes/MoveAffineJointly.h"

#include "graph/nn/NnOps.h"
#include "graph/stablehlo/StablehloOps.h"
#include "passes/AffineMover.h"
#include "passes/AffineRegion.h"
#include "passes/FoldBatchNorm.h"
#include "passes/Pass.h"

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter {

static constexpr StringLiteral jointPassName = "move-affine-jointly";

ArrayRef<PatternInfo> moveAffineJointlyPatterns() {
  static const PatternInfo infos[] = {
      {jointPassName,
       "concat(batch_norm(x), conv(x)) -> concat(x', conv'(x')), x' = "
       "batch_norm(x)",
       jointPassName},
  };
  return infos;
}

namespace {

class JointMover : AffineMover {
public:
  JointMover(func::FuncOp function, const WholeNodes &whole, PatternRun &run,
             GroupTracker &groups)
      : AffineMover(function, whole, run, groups), regions(planner, run) {}

  void moveAll();

private:
  /// \p fewer: so that fewer operations remain.
  bool move(Operation *op, bool fewer);
  void apply(const RegionPlan &plan);
  void apply(const RegionPlan::Change &change);
  void place(const RegionPlan::Placement &placement);
  Value make(OpBuilder &builder, Value value, const PlacedAffine &affine,
             bool isTakenUp);
  void replace(Operation *op, Value by, bool isSame);

  RegionPlanner regions;
  /// Steps that no region begins at.
  llvm::DenseSet<Operation *> settled;
};

} // namespace

Value JointMover::make(OpBuilder &builder, Value value,
                       const PlacedAffine &affine, bool isTakenUp) {
  const Value made = makeAffine(builder, value, affine, isTakenUp);
  if (isTakenUp)
    for (Value each = made; each != value;) {
      regions.pending.insert(each.getDefiningOp());
      each = each.getDefiningOp()->getOperand(0);
    }
  return made;
}

void JointMover::place(const RegionPlan::Placement &placement) {
  const auto &[value, use, affine, isTakenUp] = placement;
  OpBuilder builder(function.getContext());
  if (use) {
    Operation *op = use->getOwner();
    builder.setInsertionPoint(op);
    if (isOfNodeOf(op, value))
      groups.touch(op);
    const Value placed = make(builder, use->get(), affine, isTakenUp);
    use->set(placed);
    // Computed once, as elements of the constant's type.
    if (planner.mayComputeAnew(value))
      if (const auto folded = foldedConstant(builder, value, placed))
        use->set(*folded);
    return;
  }
  SmallVector<OpOperand *> uses;
  for (OpOperand &each : value.getUses())
    if (!usesShapeOnly(each)) {
      uses.push_back(&each);
      if (isOfNodeOf(each.getOwner(), value))
        groups.touch(each.getOwner());
    }
  builder.setInsertionPointAfterValue(value);
  const Value placed = make(builder, value, affine, isTakenUp);
  for (OpOperand *each : uses)
    each->set(placed);
}

void JointMover::replace(Operation *op, Value by, bool isSame) {
  if (isSame)
    run.replaced(jointPassName, op->getResult(0), by);
  replaceUses(op, by);
}

void JointMover::apply(const RegionPlan::Change &change) {
  Operation *op = change.op;
  OpBuilder builder(op);
  switch (change.kind) {
  case RegionPlan::Change::Kind::Crossed:
    if (change.isOfRegion)
      run.changed(op);
    return;
  case RegionPlan::Change::Kind::Clip: {
    const Value operand = ClipForm::of(op)->operand;
    replace(op, makeClip(op, operand, *change.clip), !change.isOfRegion);
    return;
  }
  case RegionPlan::Change::Kind::Step: {
    const Value from = affineStep(op)->from;
    replace(op,
            change.step.isIdentity()
                ? from
                : make(builder, from, change.step, change.isTakenUp),
            !change.isOfRegion);
    return;
  }
  }
}

void JointMover::apply(const RegionPlan &plan) {
  for (const RegionPlan::Placement &each : plan.placements)
    if (each.use)
      place(each);
  for (const RegionPlan::Change &each : plan.changes)
    apply(each);
  for (const RegionPlan::Placement &each : plan.placements)
    if (!each.use)
      place(each);
  eraseDead([&](Operation *each) {
    regions.pending.erase(each);
    settled.erase(each);
  });
}

/// Whether a product absorbs some of what \p plan moves.
static bool isTakenUp(const RegionPlan &plan) {
  auto isTaken = [](const auto &each) { return each.isTakenUp; };
  return llvm::any_of(plan.placements, isTaken) ||
         llvm::any_of(plan.changes, isTaken);
}

bool JointMover::move(Operation *op, bool fewer) {
  if (regions.pending.contains(op) || settled.contains(op) || !movableStep(op))
    return false;
  // The scale or shift of a norm goes no other way than the whole norm.
  const bool maySplit = run.isEnabled(splitAffineLabel) &&
                        foldsAffine(run, true, true, true, /*isBefore=*/true) &&
                        foldsAffine(run, true, true, true, /*isBefore=*/false);
  SmallVector<RegionStart> starts = {RegionStart::Operand, RegionStart::Result,
                                     RegionStart::Joined};
  if (maySplit)
    starts.append({RegionStart::ScaledOperand, RegionStart::ScaledResult,
                   RegionStart::ShiftedOperand, RegionStart::ShiftedResult});
  std::optional<RegionPlan> best;
  bool areTooLarge[] = {false, false};
  for (RegionStart start : starts) {
    bool &isTooLarge = areTooLarge[startsAtOperand(start)];
    if (isTooLarge)
      continue;
    auto plan = regions.plan(op, start);
    isTooLarge = regions.wasTooLarge();
    // Separate multiplications and additions of a file become no batch norm
    // unless something absorbs it.
    if (plan && !isa<BatchNormInferenceOp>(op) && !isTakenUp(*plan))
      continue;
    if (plan && (!best || plan->cost.isLessOrFewerThan(best->cost)))
      best = std::move(plan);
  }
  if (!best)
    settled.insert(op);
  else if (fewer && best->cost.operations >= 0)
    return false;
  if (!best)
    return false;
  run.count(jointPassName);
  apply(*best);
  run.graphIsWhole(jointPassName);
  return true;
}

/// Moves that only make tensors smaller come last: they may block others.
void JointMover::moveAll() {
  if (!run.isEnabled(jointPassName))
    return;
  auto moveSome = [&](bool fewer) {
    return moveEach([&](Operation *op) { return move(op, fewer); });
  };
  for (unsigned round = 0; round < mostRounds; ++round)
    if (!moveSome(/*fewer=*/true) && !moveSome(/*fewer=*/false))
      break;
}

namespace {
struct MoveAffineJointly : LabelledPass<MoveAffineJointly> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(MoveAffineJointly)
  using LabelledPass::LabelledPass;
  StringRef getArgument() const final { return jointPassName; }
  StringRef getDescription() const final {
    return "Move batch norms together with other values that are scaled and "
           "shifted";
  }
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<nn::NnDialect, StablehloDialect>();
  }
  void runOnOperation() final {
    moveAffine<JointMover>(getOperation(), patternRun());
  }
};
} // namespace

std::unique_ptr<Pass> createMoveAffineJointly(std::shared_ptr<PatternRun> run) {
  return std::make_unique<MoveAffineJointly>(std::move(run));
}

} // namespace sinter
