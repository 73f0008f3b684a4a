#include "passes/MoveAffine.h"

#include "graph/Constants.h"
#include "graph/Types.h"
#include "graph/nn/NnOps.h"
#include "graph/stablehlo/StablehloOps.h"
#include "passes/AffineMover.h"
#include "passes/DequantizedWeight.h"
#include "passes/Pass.h"

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter {

static constexpr StringLiteral passName = "move-affine";

ArrayRef<PatternInfo> moveAffinePatterns() {
  using enum AffinePassage;
  static const PatternInfo infos[] = {
      {labelOf(Movement), "batch_norm(reshape(x)) -> reshape(batch_norm(x))",
       passName},
      {labelOf(Concatenation),
       "batch_norm(concat(x, y)) -> concat(batch_norm(x), batch_norm(y))",
       passName},
      {labelOf(Sum), "(x + y) * s + t -> (x * s + t) + y * s", passName},
      {labelOf(Product), "(x * y) * s -> (x * s) * y", passName},
      {labelOf(Clip), "max(x, 0) * s + t -> max(x * s + t, t)", passName},
      {labelOf(Slope), "leaky_relu(x) * s -> leaky_relu(x * s), s >= 0",
       passName},
      {labelOf(Pool), "batch_norm(pool(x)) -> pool(batch_norm(x))", passName},
      {labelOf(Resize), "batch_norm(resize(x)) -> resize(batch_norm(x))",
       passName},
      {labelOf(Reduction), "sum(x) * s + t -> sum(x * s + t / n)", passName},
      {labelOf(Selection), "select(p, x, y) * s -> select(p, x * s, y * s)",
       passName},
      {mergeAffineLabel, "(x * s + t) * u + v -> x * (s * u) + (t * u + v)",
       passName},
      {splitAffineLabel, "product(x * s + t) -> product'(x + t / s)", passName},
      {affineConstantLabel, "c * s + t -> c'", passName},
  };
  return infos;
}

namespace {

class SingleMover : AffineMover {
public:
  using AffineMover::AffineMover;
  void moveAll();

private:
  bool move(Operation *op);
  bool moveUp(Operation *op, const PlanAbove &plan);
  bool moveDown(Operation *op, const PlanBelow &plan, Value base);
  bool split(Operation *op, AffineStep step);

  Value build(const PlanAbove &plan);
  Value buildAcross(const PlanAbove &plan);
  Value buildClip(const PlanAbove &plan);
  Value buildConstant(const PlanAbove &plan);
  Value buildScales(const PlanAbove &plan);
  Value place(OpBuilder &builder, Value value, const PlacedAffine &affine,
              bool isTakenUp = false);
  /// Makes the users of \p old use \p base, which is then scaled and shifted.
  void build(const PlanBelow &plan, Value old, Value base);
};

} // namespace

/// Whether a plan is more than to leave it all to fold-batch-norm.
static bool goesFar(const PlanAbove &plan) {
  using Kind = PlanAbove::Kind;
  return plan.kind == Kind::Across || plan.kind == Kind::Clip ||
         plan.kind == Kind::Constant || llvm::any_of(plan.above, goesFar);
}
static bool goesFar(const PlanBelow &plan) {
  return plan.uses.size() > 1 ||
         llvm::any_of(plan.uses, [](const PlanBelow::Use &use) {
           return use.kind == PlanBelow::Kind::Across ||
                  use.kind == PlanBelow::Kind::Clip ||
                  llvm::any_of(use.below, [](const PlanBelow &below) {
                    return goesFar(below);
                  });
         });
}

/// Whether a plan makes one norm of two, which no product is next to.
static bool mergesNorms(Operation *op, const PlanAbove &plan) {
  using Kind = PlanAbove::Kind;
  return plan.kind == Kind::Merged && plan.above.front().kind == Kind::Stays &&
         isa<BatchNormInferenceOp>(op) &&
         isa<BatchNormInferenceOp>(plan.value.getDefiningOp());
}

/// The label of the first passage of a plan.
static StringRef labelOf(const PlanAbove &plan) {
  using Kind = PlanAbove::Kind;
  switch (plan.kind) {
  case Kind::Across:
  case Kind::Clip:
    return labelOf(plan.passage);
  case Kind::Constant:
    return affineConstantLabel;
  default:
    for (const PlanAbove &each : plan.above)
      if (StringRef label = labelOf(each); label != mergeAffineLabel)
        return label;
    return mergeAffineLabel;
  }
}
static StringRef labelOf(const PlanBelow &plan) {
  for (const PlanBelow::Use &use : plan.uses)
    if (use.kind == PlanBelow::Kind::Across ||
        use.kind == PlanBelow::Kind::Clip)
      return labelOf(use.passage);
  for (const PlanBelow::Use &use : plan.uses)
    for (const PlanBelow &below : use.below)
      if (StringRef label = labelOf(below); label != mergeAffineLabel)
        return label;
  return labelOf(AffinePassage::Movement);
}

//===----------------------------------------------------------------------===//
// Up
//===----------------------------------------------------------------------===//

Value SingleMover::place(OpBuilder &builder, Value value,
                         const PlacedAffine &affine, bool isTakenUp) {
  return affine.isIdentity() ? value
                             : makeAffine(builder, value, affine, isTakenUp);
}

Value SingleMover::build(const PlanAbove &plan) {
  using Kind = PlanAbove::Kind;
  switch (plan.kind) {
  case Kind::Nothing:
    return plan.value;
  case Kind::Stays: {
    // For its user alone, in the same block.
    OpBuilder builder(plan.reader);
    return place(builder, plan.value, plan.affine);
  }
  case Kind::Absorbed: {
    OpBuilder builder(function.getContext());
    builder.setInsertionPointAfterValue(plan.value);
    return place(builder, plan.value, plan.affine, /*isTakenUp=*/true);
  }
  case Kind::Constant:
    return buildConstant(plan);
  case Kind::Merged: {
    run.count(mergeAffineLabel);
    replaced.insert(plan.value.getDefiningOp());
    Value value = build(plan.above.front());
    // Uses of the shape alone can use that of this value.
    Value(plan.value).replaceUsesWithIf(value, usesShapeOnly);
    return value;
  }
  case Kind::Across:
    return buildAcross(plan);
  case Kind::Clip:
    return buildClip(plan);
  }
  return {};
}

/// Gives a quantised constant that stays quantised other scales.
Value SingleMover::buildScales(const PlanAbove &plan) {
  for (Value each = plan.value; Operation *op = each.getDefiningOp();
       each = op->getOperand(0)) {
    run.changed(op);
    groups.touch(op);
    if (op->getNumOperands() == 0)
      break;
  }
  FoldedNames names(function->getParentOfType<ModuleOp>());
  for (Operation *old : DequantizedWeight::find(plan.value)
                            ->scale(*factorsOf(plan.affine), names))
    replaced.insert(old);
  return plan.value;
}

Value SingleMover::buildConstant(const PlanAbove &plan) {
  run.count(affineConstantLabel);
  if (!planner.mayComputeAnew(plan.value))
    return buildScales(plan);
  OpBuilder builder(function.getContext());
  builder.setInsertionPointAfterValue(plan.value);
  // Computed once, as elements of the constant's type.
  Value value = place(builder, plan.value, plan.affine, /*isTakenUp=*/true);
  const auto folded = foldedConstant(builder, plan.value, value);
  if (!folded)
    return value;
  if (Operation *op = plan.value.getDefiningOp())
    replaced.insert(op);
  return *folded;
}

/// Whether \p plan inserts something between \p op and its operands from the
/// same source node, which could not be exported as it was then.
static bool isPutInto(Operation *op, const PlanAbove &plan) {
  using Kind = PlanAbove::Kind;
  return llvm::any_of(plan.above, [&](const PlanAbove &above) {
    return (above.kind == Kind::Stays || above.kind == Kind::Absorbed ||
            above.kind == Kind::Constant || above.kind == Kind::Merged) &&
           isOfNodeOf(op, above.value);
  });
}
/// The same for the users of \p op.
static bool isPutInto(Operation *op, const PlanBelow &plan) {
  return llvm::any_of(plan.uses, [&](const PlanBelow::Use &use) {
    return use.kind != PlanBelow::Kind::Across &&
           isOfNodeOf(use.operand->getOwner(), op->getResult(0));
  });
}

Value SingleMover::buildAcross(const PlanAbove &plan) {
  Operation *op = plan.mean ? plan.mean->sum() : plan.value.getDefiningOp();
  run.count(labelOf(plan.passage));
  for (auto [operand, above] : llvm::zip_equal(plan.operands, plan.above)) {
    Value old = op->getOperand(operand), value = build(above);
    op->setOperand(operand, value);
    // Other slices keep their values, though their operand is scaled and
    // shifted now.
    if (takesSlices(op) && old != value && above.kind != PlanAbove::Kind::Stays)
      old.replaceUsesWithIf(
          value, [](OpOperand &use) { return takesSlices(use.getOwner()); });
  }
  if (!planner.isKept(op) && isPutInto(op, plan))
    groups.touch(op);
  if (plan.mean)
    for (Operation *each : plan.mean->path)
      run.changed(each);
  else
    run.changed(op);
  return plan.value;
}

Value SingleMover::buildClip(const PlanAbove &plan) {
  Value old = plan.value;
  Operation *op = old.getDefiningOp();
  const ClipForm form = *ClipForm::of(op);
  run.count(labelOf(plan.passage));
  groups.touch(op);
  Value operand = build(plan.above.front());
  if (!plan.clip) {
    op->replaceUsesOfWith(form.operand, operand);
    run.changed(op);
    return plan.value;
  }
  Value result = makeClip(op, operand, *plan.clip);
  // Uses of the shape alone can use that of the result.
  old.replaceAllUsesWith(result);
  replaced.insert(op);
  return result;
}

bool SingleMover::moveUp(Operation *op, const PlanAbove &plan) {
  const StringRef label = labelOf(plan);
  const Value built = build(plan);
  run.replaced(label, op->getResult(0), built);
  replaceUses(op, built);
  eraseDead();
  run.graphIsWhole(label);
  return true;
}

//===----------------------------------------------------------------------===//
// Down
//===----------------------------------------------------------------------===//

void SingleMover::build(const PlanBelow &plan, Value old, Value base) {
  Value staying;
  for (const PlanBelow::Use &use : plan.uses) {
    Operation *reader = use.operand->getOwner();
    switch (use.kind) {
    case PlanBelow::Kind::Stays:
      if (!staying) {
        OpBuilder builder(function.getContext());
        builder.setInsertionPointAfterValue(base);
        staying = place(builder, base, plan.affine);
      }
      use.operand->set(staying);
      break;
    case PlanBelow::Kind::Absorbed: {
      OpBuilder builder(reader);
      use.operand->set(place(builder, base, plan.affine, /*isTakenUp=*/true));
      break;
    }
    case PlanBelow::Kind::Merged:
      run.count(mergeAffineLabel);
      groups.touch(reader);
      build(use.below.front(), reader->getResult(0), base);
      replaced.insert(reader);
      break;
    case PlanBelow::Kind::Clip:
      run.count(labelOf(use.passage));
      groups.touch(reader);
      build(use.below.front(), reader->getResult(0),
            makeClip(reader, base, *use.clip));
      replaced.insert(reader);
      break;
    case PlanBelow::Kind::Across:
      run.count(labelOf(use.passage));
      if (use.mean) {
        for (Operation *each : use.mean->path)
          run.changed(each);
        reader = use.mean->division();
      }
      if (!planner.isKept(reader) && isPutInto(reader, use.below.front()))
        groups.touch(reader);
      use.operand->set(base);
      build(use.below.front(), reader->getResult(0), reader->getResult(0));
      run.changed(reader);
      break;
    }
  }
  if (old == base)
    return;
  old.replaceAllUsesWith(base);
  replaced.insert(old.getDefiningOp());
}

bool SingleMover::moveDown(Operation *op, const PlanBelow &plan, Value base) {
  const StringRef label = labelOf(plan);
  groups.touch(op);
  build(plan, op->getResult(0), base);
  eraseDead();
  run.graphIsWhole(label);
  return true;
}

/// Moves only the scale of \p op down, where no product absorbs the shift.
bool SingleMover::split(Operation *op, AffineStep step) {
  const Value result = op->getResult(0);
  AffineCost before = AffineCost::ofStep(result, step.affine);
  // x * s + t in two operations.
  Operation *source = step.from.getDefiningOp();
  auto scale = !step.affine.scales() && hasOneElementUse(step.from) && source &&
                       source->getBlock() == op->getBlock() &&
                       planner.mayChange(source)
                   ? affineStep(source)
                   : std::nullopt;
  if (scale && scale->affine.scales() && !scale->affine.shifts()) {
    auto both = compose(step.affine, scale->affine);
    if (!both)
      return false;
    before = before + AffineCost::ofStep(step.from, scale->affine);
    step = {scale->from, std::move(*both)};
  }
  const auto shift = step.affine.shiftBefore();
  if (!run.isEnabled(splitAffineLabel) || !step.affine.scales() ||
      !step.affine.shifts() || !shift || !keepsNumbers(result, *shift))
    return false;
  planner.begin();
  const PlanBelow below = planner.below(result, step.affine.onlyScale());
  const AffineCost after = below.cost + AffineCost::of(result, *shift);
  if (below.uses.empty() || !after.isLessThan(before))
    return false;
  run.count(splitAffineLabel);
  OpBuilder builder(op);
  return moveDown(op, below, place(builder, step.from, *shift));
}

bool SingleMover::move(Operation *op) {
  auto step = movableStep(op);
  if (!step)
    return false;
  const Value result = op->getResult(0);
  const AffineCost before = AffineCost::ofStep(result, step->affine);
  planner.begin();
  const PlanAbove above = planner.above(step->from, op, step->affine);
  const bool isLessAbove = above.cost.isLessThan(before);
  planner.begin();
  const PlanBelow below = planner.below(result, step->affine);
  const bool isLessBelow = !below.uses.empty() && below.cost.isLessThan(before);
  if (isLessAbove && !(isLessBelow && below.cost.isLessThan(above.cost)))
    // Steps next to a product are left to fold-batch-norm.
    return (goesFar(above) || mergesNorms(op, above)) && moveUp(op, above);
  return isLessBelow ? goesFar(below) && moveDown(op, below, step->from)
                     : split(op, std::move(*step));
}

void SingleMover::moveAll() {
  for (unsigned round = 0; round < mostRounds; ++round)
    if (!moveEach([&](Operation *op) { return move(op); }))
      break;
}

namespace {
struct MoveAffine : LabelledPass<MoveAffine> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(MoveAffine)
  using LabelledPass::LabelledPass;
  StringRef getArgument() const final { return passName; }
  StringRef getDescription() const final {
    return "Move batch norms and per-channel arithmetic to matmuls and "
           "convolutions that absorb them";
  }
  /// Operations of both let scales and shifts pass.
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<nn::NnDialect, StablehloDialect>();
  }
  void runOnOperation() final {
    moveAffine<SingleMover>(getOperation(), patternRun());
  }
};
} // namespace

std::unique_ptr<Pass> createMoveAffine(std::shared_ptr<PatternRun> run) {
  return std::make_unique<MoveAffine>(std::move(run));
}

} // namespace sinter
