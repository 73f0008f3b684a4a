#include "passes/AffinePlan.h"

#include "graph/ElementUses.h"
#include "graph/nn/NnOps.h"
#include "graph/stablehlo/Sums.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/ChannelAbsorption.h"
#include "passes/DequantizedWeight.h"
#include "passes/FoldBatchNorm.h"
#include "passes/Matching.h"
#include "passes/ScaledNumbers.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter {

StringRef labelOf(AffinePassage passage) {
  static constexpr StringLiteral labels[] = {
      "move-affine-across-movement",  "move-affine-across-concatenation",
      "move-affine-across-sum",       "move-affine-across-product",
      "move-affine-across-clip",      "move-affine-across-slope",
      "move-affine-across-pool",      "move-affine-across-resize",
      "move-affine-across-reduction", "move-affine-across-selection"};
  return labels[static_cast<int>(passage)];
}

bool isBias(const AffineStep &step) {
  auto product =
      dyn_cast_or_null<ChannelwiseAffineOpInterface>(step.from.getDefiningOp());
  return product && !step.affine.scales() && !product.getInnerBias();
}

AffineCost AffineCost::of(Value value) {
  constexpr double unknown = 8;
  double elements = 1;
  for (int64_t size : tensorOf(value).getShape())
    elements *=
        ShapedType::isDynamic(size) ? unknown : static_cast<double>(size);
  return {elements, 1};
}
AffineCost AffineCost::of(Value value, const PlacedAffine &affine) {
  AffineCost cost = ofStep(value, affine);
  if (affine.scales() && affine.shifts() && !normDimension(value, affine))
    cost.operations = 2;
  return cost;
}
AffineCost AffineCost::ofStep(Value value, const PlacedAffine &affine) {
  AffineCost cost = of(value);
  cost.elements *= int(affine.scales()) + int(affine.shifts());
  return cost;
}

//===----------------------------------------------------------------------===//
// Queries
//===----------------------------------------------------------------------===//

bool AffinePlanner::isBias(const AffineStep &step) const {
  auto found = products.find(step.from);
  return sinter::isBias(step) ||
         (found != products.end() && !step.affine.scales() &&
          llvm::none_of(found->second, [](Operation *product) {
            return cast<ChannelwiseAffineOpInterface>(product)
                .getInnerBias()
                .has_value();
          }));
}

void AffinePlanner::begin() {
  left = 200;
  crossed.clear();
  shared.clear();
  if (!std::exchange(knowsProducts, true))
    findProducts();
}

void AffinePlanner::findProducts() {
  function.walk([&](Operation *op) {
    if (!isa<ChannelwiseAffineOpInterface>(op) || whole.contains(op))
      return;
    for (WeightedProduct &product :
         weightedProductsOf(op, whole, run.keepsQuantizedConstants)) {
      auto &list = products[product.result()];
      if (list.empty() || list.back() != op)
        list.push_back(op);
    }
  });
}

bool isFloatComputation(Operation *op) {
  return op->getNumResults() == 1 && op->getNumRegions() <= 1 &&
         isMemoryEffectFree(op) &&
         isa<RankedTensorType>(op->getResult(0).getType()) &&
         isFloatTensor(op->getResult(0));
}

bool AffinePlanner::mayChange(Operation *op) const {
  return isFloatComputation(op) && !isKept(op);
}

bool AffinePlanner::isInsideNode(Value value, Operation *reader) const {
  return isKept(reader) &&
         whole.isInside(value, llvm::SmallPtrSet<Operation *, 1>());
}

/// An operation with one operand on the way gives the same behind a scale and a
/// shift as in front of them.
bool AffinePlanner::mayCross(Operation *op, const AffineWay &way) const {
  return isEnabled(way.passage) && (!isKept(op) || way.operands.size() == 1);
}

bool AffinePlanner::isEnabled(AffinePassage passage) const {
  return run.isEnabled(labelOf(passage));
}

bool mayBeDoneTo(Operation *op, Value from, Value to) {
  auto floatOf = [](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type ? dyn_cast<FloatType>(type.getElementType()) : FloatType();
  };
  auto digitsOf = [](FloatType type) {
    return APFloat::semanticsPrecision(type.getFloatSemantics());
  };
  const FloatType one = floatOf(from), other = floatOf(to);
  return one && other &&
         (one == other ||
          (isa<ConvertOp>(op) && digitsOf(other) >= digitsOf(one)));
}

/// The narrow type that the result of \p reader is converted to, directly or
/// after additions and scales.
static Type typeInTheEnd(Operation *reader) {
  while (affineStep(reader)) {
    OpOperand *sole = soleElementUse(reader->getResult(0));
    if (!sole)
      return {};
    reader = sole->getOwner();
  }
  auto convert = dyn_cast<ConvertOp>(reader);
  const Type type =
      convert ? tensorOf(convert.getResult()).getElementType() : Type();
  return type && isNarrowFloat(type) ? type : Type();
}

bool keepsNumbers(Value value, const PlacedAffine &affine) {
  if (!affine.isFinite())
    return false;
  if (!isRoundedCoarsely(value))
    return true;
  return isModerate(affine.numbers.scale) &&
         llvm::all_of(affine.numbers.shift,
                      [](double each) { return std::abs(each) <= mostShift; });
}

bool takesSlices(Operation *op) { return isa<SliceOp, RealDynamicSliceOp>(op); }

/// Whether \p a and \p b, which take slices of one value, have no element in
/// common along \p dimension.
static bool areApart(Operation *a, Operation *b, int64_t dimension) {
  auto of = [&](Operation *op) {
    return cast<AffineFlowOpInterface>(op).getChannelSources(0, dimension);
  };
  const auto one = of(a), other = of(b);
  return one && other && llvm::none_of(*other, [&](int64_t each) {
           return llvm::is_contained(*one, each);
         });
}

bool AffinePlanner::isReadBy(Value value, Operation *reader,
                             const PlacedAffine &affine) const {
  if (OpOperand *sole = soleElementUse(value))
    return sole->getOwner() == reader;
  // Slices that have no other users, along the dimension of channels.
  if (!takesSlices(reader) || affine.dimensions.size() != 1)
    return false;
  return llvm::all_of(value.getUses(), [&](OpOperand &use) {
    Operation *other = use.getOwner();
    return other == reader || usesShapeOnly(use) ||
           (takesSlices(other) && use.getOperandNumber() == 0 &&
            areApart(reader, other, affine.dimensions.front()));
  });
}

/// Whether fold-batch-norm, with all of its patterns on, folds a scale and a
/// shift of \p value into a product beside it.
bool AffinePlanner::isFolded(Value value, const PlacedAffine &affine,
                             bool isBefore) const {
  return foldsAffine(run, normDimension(value, affine, true).has_value(),
                     affine.scales(), affine.shifts(), isBefore);
}

bool AffinePlanner::isAbsorbedAbove(Value value, Type converted,
                                    const PlacedAffine &affine) const {
  auto found = products.find(value);
  if (found == products.end() || !isFolded(value, affine, /*isBefore=*/false))
    return false;
  for (Operation *op : found->second)
    for (const WeightedProduct &product :
         weightedProductsOf(op, whole, run.keepsQuantizedConstants)) {
      if (product.quantized && product.quantized->isRounded() &&
          !run.allows(requantize))
        continue;
      for (const ChannelFold &fold : product.resultFolds()) {
        const int64_t count = ChannelOf(fold, product.weight.shape()).count();
        const auto channels = affine.channels(fold.activationDim, count);
        if (channels &&
            absorbedByResult(product, fold, *channels, {}, converted))
          return true;
      }
    }
  return false;
}

bool AffinePlanner::isAbsorbedBelow(OpOperand &use,
                                    const PlacedAffine &affine) const {
  Operation *op = use.getOwner();
  if (!isa<ChannelwiseAffineOpInterface>(op) || whole.contains(op) ||
      !isFolded(use.get(), affine, /*isBefore=*/true))
    return false;
  for (const WeightedProduct &product :
       weightedProductsOf(op, whole, run.keepsQuantizedConstants)) {
    if (use.getOperandNumber() != 1 - product.weightOperand)
      continue;
    for (const ChannelFold &fold : product.operandFolds()) {
      const int64_t count = ChannelOf(fold, product.weight.shape()).count();
      const auto channels = affine.channels(fold.activationDim, count);
      if (channels && absorbedByOperand(product, fold, *channels))
        return true;
    }
  }
  return false;
}

/// Whether \p value is computed from what FoldConstants leaves quantised.
static bool staysQuantized(Value value, const WholeNodes &whole,
                           const PatternRun &run, unsigned depth = 8) {
  Operation *op = value.getDefiningOp();
  if (!op || depth == 0)
    return false;
  const bool stays =
      isa<UniformDequantizeOp>(op) &&
      (run.keepsQuantizedConstants || run.keepsBytes || whole.areKept());
  return stays || whole.lasts(op) ||
         llvm::any_of(op->getOperands(), [&](Value operand) {
           return staysQuantized(operand, whole, run, depth - 1);
         });
}

bool AffinePlanner::mayComputeAnew(Value value) const {
  return run.isEnabled(affineConstantLabel) && followsFromConstants(value) &&
         tensorOf(value).hasStaticShape() && !staysQuantized(value, whole, run);
}

std::optional<ChannelFactors> factorsOf(const PlacedAffine &affine) {
  if (affine.shifts() || affine.dimensions.size() > 1)
    return std::nullopt;
  return ChannelFactors{affine.dimensions.empty() ? -1
                                                  : affine.dimensions.front(),
                        affine.numbers.scale};
}

bool AffinePlanner::isTakenUpByScales(Value value,
                                      const PlacedAffine &affine) const {
  if (!run.isEnabled(affineConstantLabel) || !followsFromConstants(value) ||
      !staysQuantized(value, whole, run))
    return false;
  const auto factors = factorsOf(affine);
  const auto weight = factors ? DequantizedWeight::find(value) : std::nullopt;
  return weight && weight->takesUp(*factors);
}

//===----------------------------------------------------------------------===//
// Up
//===----------------------------------------------------------------------===//

/// The operands of \p way that may be the only one to be shifted; nothing as
/// the only choice where all are, and no choice where \p affine may not pass.
static SmallVector<std::optional<unsigned>>
shiftedOperands(const AffineWay &way, const PlacedAffine &affine) {
  if ((way.scale == ScaleRule::Positive && !affine.isPositive()) ||
      (way.shift == ShiftRule::None && affine.shifts()))
    return {};
  if (way.shift == ShiftRule::First)
    return {0u};
  if (way.shift != ShiftRule::One)
    return {std::nullopt};
  if (!affine.shifts())
    return {0u};
  SmallVector<std::optional<unsigned>> each;
  for (unsigned i = 0; i < way.operands.size(); ++i)
    each.push_back(i);
  return each;
}

PlanAbove AffinePlanner::above(Value value, Operation *reader,
                               const PlacedAffine &affine) {
  PlanAbove best{PlanAbove::Kind::Stays, value, affine,
                 AffineCost::of(value, affine)};
  best.reader = reader;
  if (affine.isIdentity()) {
    best.kind = PlanAbove::Kind::Nothing;
    best.cost = {};
    return best;
  }
  // Nothing is put into a node that is left as it is.
  const bool isInside = isInsideNode(value, reader);
  if (isInside)
    best.cost.elements = std::numeric_limits<double>::infinity();
  if (left == 0 || !keepsNumbers(value, affine) ||
      !isReadBy(value, reader, affine))
    return best;
  --left;
  if (!soleElementUse(value) && !shared.insert(value).second) {
    best.cost.elements = std::numeric_limits<double>::infinity();
    return best;
  }
  if (!isInside &&
      (mayComputeAnew(value) || isTakenUpByScales(value, affine))) {
    best.kind = PlanAbove::Kind::Constant;
    best.cost = {};
    return best;
  }
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != reader->getBlock())
    return best;
  if (!isInside && isAbsorbedAbove(value, typeInTheEnd(reader), affine)) {
    best.kind = PlanAbove::Kind::Absorbed;
    best.cost = {};
    return best;
  }
  if (!isFloatComputation(op))
    return best;
  const llvm::DenseSet<Value> sharedBefore = shared;
  llvm::DenseSet<Value> sharedByBest = shared;
  auto tryPlan = [&](std::optional<PlanAbove> plan) {
    if (plan && plan->cost.isLessThan(best.cost)) {
      best = std::move(*plan);
      sharedByBest = shared;
    }
    shared = sharedBefore;
  };
  bool isClip = false;
  if (mayChange(op)) {
    tryPlan(merged(value, affine));
    auto plan = clipped(value, affine);
    isClip = plan.has_value();
    tryPlan(std::move(plan));
  }
  if (auto flow = dyn_cast<AffineFlowOpInterface>(op))
    for (const AffineWay &way : flow.getAffineWays()) {
      if (isClip && way.passage == AffinePassage::Clip)
        continue;
      for (std::optional<unsigned> shifted : shiftedOperands(way, affine))
        if (mayCross(op, way))
          tryPlan(across(value, affine, way, shifted));
    }
  tryPlan(acrossMean(value, affine));
  shared = std::move(sharedByBest);
  return best;
}

/// A shift passes a mean. It does not pass a sum over dynamic dimensions.
std::optional<PlanAbove> AffinePlanner::acrossMean(Value value,
                                                   const PlacedAffine &affine) {
  if (!affine.shifts() || !isEnabled(AffinePassage::Reduction))
    return std::nullopt;
  auto mean = MeanForm::endingIn(value.getDefiningOp());
  auto own = mean ? mean->toOperand(affine) : std::nullopt;
  if (!own)
    return std::nullopt;
  PlanAbove plan{PlanAbove::Kind::Across,  value, affine, {},
                 AffinePassage::Reduction, {0}};
  plan.above.push_back(above(mean->operand(), mean->sum(), *own));
  plan.cost = plan.above.back().cost;
  plan.mean = std::move(mean);
  return plan;
}

std::optional<PlanAbove> AffinePlanner::merged(Value value,
                                               const PlacedAffine &affine) {
  auto step = affineStep(value.getDefiningOp());
  if (!step || !run.isEnabled(mergeAffineLabel))
    return std::nullopt;
  auto both = compose(affine, step->affine);
  if (!both)
    return std::nullopt;
  PlanAbove plan{PlanAbove::Kind::Merged, value, affine, {}};
  plan.above.push_back(above(step->from, value.getDefiningOp(), *both));
  plan.cost = plan.above[0].cost;
  // A product that absorbs a bias with a shift still has a bias.
  const bool isBiasAgain = plan.above[0].kind == PlanAbove::Kind::Absorbed &&
                           both->shifts() && isBias(*step);
  if (!isBiasAgain)
    plan.cost = plan.cost + -AffineCost::ofStep(value, step->affine);
  return plan;
}

AffineCost costOfBounds(Value value) {
  return {0.125 * AffineCost::of(value).elements, 0};
}

std::optional<PlanAbove> AffinePlanner::clipped(Value value,
                                                const PlacedAffine &affine) {
  if (!isEnabled(AffinePassage::Clip))
    return std::nullopt;
  auto form = ClipForm::of(value.getDefiningOp());
  auto after = form ? form->after(affine) : std::nullopt;
  if (!after)
    return std::nullopt;
  PlanAbove plan{PlanAbove::Kind::Clip, value, affine, {}, AffinePassage::Clip};
  plan.above.push_back(above(form->operand, value.getDefiningOp(), affine));
  plan.cost = plan.above[0].cost;
  // Kernels match a relu, so that it should stay one.
  if (!after->hasBoundsOf(*form)) {
    plan.cost = plan.cost + costOfBounds(value);
    plan.clip = std::move(after);
  }
  return plan;
}

/// The plans for the operands of \p way. Only operand \p shifted is shifted, if
/// that is given.
std::optional<PlanAbove>
AffinePlanner::across(Value value, const PlacedAffine &affine,
                      const AffineWay &way, std::optional<unsigned> shifted) {
  Operation *op = value.getDefiningOp();
  PlanAbove plan{
      PlanAbove::Kind::Across, value, affine, {}, way.passage, way.operands};
  for (auto [i, operand] : llvm::enumerate(way.operands)) {
    Value source = op->getOperand(operand);
    if (!mayBeDoneTo(op, value, source))
      return std::nullopt;
    auto own = acrossToOperand(
        op, operand, shifted && *shifted != i ? affine.onlyScale() : affine);
    if (!own)
      return std::nullopt;
    for (double &shift : own->numbers.shift)
      shift /= way.gain;
    plan.above.push_back(above(source, op, *own));
    plan.cost = plan.cost + plan.above.back().cost;
  }
  return plan;
}

//===----------------------------------------------------------------------===//
// Down
//===----------------------------------------------------------------------===//

std::optional<PlacedAffine>
AffinePlanner::passedBelow(OpOperand &operand, const PlacedAffine &affine,
                           const AffineWay &way) const {
  const unsigned number = operand.getOperandNumber();
  const auto *found = llvm::find(way.operands, number);
  if (!mayCross(operand.getOwner(), way) || found == way.operands.end() ||
      (way.scale == ScaleRule::Positive && !affine.isPositive()))
    return std::nullopt;
  const bool isAlone = way.operands.size() == 1 || way.isSeparate;
  switch (way.shift) {
  case ShiftRule::Every:
    if (!isAlone)
      return std::nullopt;
    break;
  case ShiftRule::One:
  case ShiftRule::First:
    // The others are not scaled.
    if (affine.scales() ||
        (way.shift == ShiftRule::First && found != way.operands.begin()))
      return std::nullopt;
    break;
  case ShiftRule::None:
    if (affine.shifts() || !isAlone)
      return std::nullopt;
    break;
  }
  auto own = acrossToResult(operand.getOwner(), number, affine, way.isSeparate);
  if (own)
    for (double &shift : own->numbers.shift)
      shift *= way.gain;
  return own;
}

PlanBelow::Use AffinePlanner::use(OpOperand &operand,
                                  const PlacedAffine &affine,
                                  AffineCost &cost) {
  PlanBelow::Use best{&operand};
  Value value = operand.get();
  Operation *op = operand.getOwner();
  // Nothing is put into a node that is left as it is.
  const bool isInside = isInsideNode(value, op);
  const AffineCost staying =
      isInside ? AffineCost{std::numeric_limits<double>::infinity(), 1}
               : AffineCost::of(value, affine);
  if (left == 0 || op->getBlock() != value.getParentBlock())
    return best;
  --left;
  if (isAbsorbedBelow(operand, affine)) {
    best.kind = PlanBelow::Kind::Absorbed;
    return best;
  }
  if (!isFloatComputation(op) || !mayBeDoneTo(op, value, op->getResult(0)) ||
      !crossed.insert(op).second)
    return best;
  std::optional<AffineCost> least;
  const auto crossedBefore = crossed;
  auto crossedByBest = crossed;
  auto consider = [&](PlanBelow::Kind kind, AffinePassage passage,
                      const PlacedAffine &passed, AffineCost own,
                      const MeanForm *mean = nullptr) {
    PlanBelow plan = below(mean ? mean->result() : op->getResult(0), passed);
    own = own + plan.cost;
    if (!least || own.isLessThan(*least)) {
      least = own;
      best.kind = kind;
      best.passage = passage;
      best.below.clear();
      best.below.push_back(std::move(plan));
      best.mean = mean ? std::optional(*mean) : std::nullopt;
      crossedByBest = crossed;
    }
    crossed = crossedBefore;
  };
  const Value result = op->getResult(0);
  if (auto step = affineStep(op); step && step->from == value &&
                                  mayChange(op) &&
                                  run.isEnabled(mergeAffineLabel))
    if (auto both = compose(step->affine, affine);
        both && keepsNumbers(value, *both))
      consider(PlanBelow::Kind::Merged, AffinePassage::Movement, *both,
               -AffineCost::ofStep(result, step->affine));
  auto form = mayChange(op) && isEnabled(AffinePassage::Clip) ? ClipForm::of(op)
                                                              : std::nullopt;
  const auto inverse =
      form && form->operand == value ? affine.inverse() : std::nullopt;
  const auto after = inverse && keepsNumbers(value, *inverse)
                         ? form->after(*inverse)
                         : std::nullopt;
  if (after) {
    const bool isSame = after->hasBoundsOf(*form);
    consider(isSame ? PlanBelow::Kind::Across : PlanBelow::Kind::Clip,
             AffinePassage::Clip, affine,
             isSame ? AffineCost{} : costOfBounds(result));
  }
  if (auto flow = dyn_cast<AffineFlowOpInterface>(op))
    for (const AffineWay &way : flow.getAffineWays())
      if (!after || way.passage != AffinePassage::Clip)
        if (auto passed = passedBelow(operand, affine, way);
            passed && keepsNumbers(result, *passed))
          consider(PlanBelow::Kind::Across, way.passage, *passed, {});
  if (affine.shifts() && isEnabled(AffinePassage::Reduction))
    if (auto mean = MeanForm::beginningWith(op))
      if (auto passed = mean->toResult(affine);
          passed && keepsNumbers(mean->result(), *passed))
        consider(PlanBelow::Kind::Across, AffinePassage::Reduction, *passed, {},
                 &*mean);
  crossed = std::move(crossedByBest);
  // Where all users would keep a copy, it stays here.
  if (least && !least->isLessThan(staying)) {
    best.kind = PlanBelow::Kind::Stays;
    best.below.clear();
  } else if (least) {
    cost = cost + *least;
  }
  if (best.kind == PlanBelow::Kind::Clip)
    best.clip = after;
  return best;
}

PlanBelow AffinePlanner::below(Value value, const PlacedAffine &affine) {
  PlanBelow plan{affine, {}};
  if (affine.isIdentity())
    return plan;
  bool stays = false;
  for (OpOperand &operand : value.getUses()) {
    if (usesShapeOnly(operand))
      continue;
    plan.uses.push_back(use(operand, affine, plan.cost));
    if (plan.uses.back().kind != PlanBelow::Kind::Stays)
      continue;
    stays = true;
    // Nothing is put into a node that is left as it is.
    if (isInsideNode(value, operand.getOwner()))
      plan.cost.elements = std::numeric_limits<double>::infinity();
  }
  if (stays)
    plan.cost = plan.cost + AffineCost::of(value, affine);
  return plan;
}

} // namespace sinter
