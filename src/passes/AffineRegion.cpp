#include "passes/AffineRegion.h"

#include "graph/ElementUses.h"
#include "passes/Matching.h"
#include <cmath>

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter {

/// A region with more values or more uses is given up.
static constexpr size_t mostMembers = 100, mostUses = 400;

/// The affine function that maps \p given of a value to \p wanted of it, up to
/// rounding in double; nothing where that cannot be computed.
static std::optional<PlacedAffine> difference(const PlacedAffine &wanted,
                                              const PlacedAffine &given) {
  PlacedAffine a = wanted, b = given;
  if (!align({&a, &b}))
    return std::nullopt;
  constexpr double tiny = 1e-14;
  for (size_t i = 0; i < a.numbers.scale.size(); ++i) {
    double &scale = a.numbers.scale[i], &shift = a.numbers.shift[i];
    const double before = b.numbers.scale[i], offset = b.numbers.shift[i];
    if (before == 0)
      return std::nullopt;
    // wanted(given^-1(x))
    const double factor = scale / before, moved = factor * offset;
    const double size = std::abs(shift) + std::abs(moved);
    scale = std::abs(factor - 1) <= tiny ? 1 : factor;
    shift = std::abs(shift - moved) <= tiny * size ? 0 : shift - moved;
  }
  a.simplify();
  return a.isFinite() ? std::optional(std::move(a)) : std::nullopt;
}

static bool isSame(const PlacedAffine &a, const PlacedAffine &b) {
  auto rest = difference(a, b);
  return rest && rest->isIdentity();
}

//===----------------------------------------------------------------------===//
// Growing
//===----------------------------------------------------------------------===//

PlacedAffine RegionPlanner::of(Value value) const {
  auto found = members.find(value);
  return found == members.end() ? PlacedAffine() : found->second;
}

bool RegionPlanner::isProduct(Operation *op) const {
  return isa<ChannelwiseAffineOpInterface>(op);
}

std::optional<AffineStep> RegionPlanner::stepOf(Operation *op) const {
  if (!planner.mayChange(op) || !run.isEnabled(mergeAffineLabel))
    return std::nullopt;
  return affineStep(op);
}

void RegionPlanner::join(Value value, std::optional<PlacedAffine> affine) {
  if (!affine || affine->isIdentity() || isOfRegion(value) ||
      members.size() >= mostMembers || value.getParentBlock() != block ||
      followsFromConstants(value) || !keepsNumbers(value, *affine))
    return;
  members.insert({value, std::move(*affine)});
  if (Operation *op = value.getDefiningOp())
    next.insert(op);
  for (OpOperand &use : value.getUses()) {
    if (++uses > mostUses)
      return;
    if (!usesShapeOnly(use) && use.getOwner()->getBlock() == block)
      next.insert(use.getOwner());
  }
}

/// The affine way of an addition, if \p op is one.
static std::optional<AffineWay> sumOf(Operation *op) {
  auto flow = dyn_cast<AffineFlowOpInterface>(op);
  if (!flow || affineStep(op))
    return std::nullopt;
  for (const AffineWay &way : flow.getAffineWays())
    if (way.shift == ShiftRule::One || way.shift == ShiftRule::First)
      return way;
  return std::nullopt;
}

/// Takes the first of \p list.
static Operation *takeFirst(llvm::SetVector<Operation *> &list) {
  Operation *op = list.front();
  list.remove(op);
  return op;
}

/// Additions come behind what does not depend on choices, and choices last.
void RegionPlanner::grow() {
  while (!next.empty() || !sums.empty() || !waiting.empty()) {
    if (!next.empty()) {
      Operation *op = takeFirst(next);
      if (sumOf(op))
        sums.insert(op);
      else if (!grow(op, /*mayGuess=*/false))
        waiting.insert(op);
    } else if (!sums.empty()) {
      Operation *op = takeFirst(sums);
      if (!grow(op, /*mayGuess=*/false))
        waiting.insert(op);
    } else {
      grow(takeFirst(waiting), /*mayGuess=*/true);
    }
  }
}

/// Whether \p ways are those of an elementwise multiplication of two operands.
static bool areOfProduct(ArrayRef<AffineWay> ways) {
  return ways.size() == 2 && ways[0].passage == AffinePassage::Product &&
         ways[1].passage == AffinePassage::Product;
}

bool RegionPlanner::grow(Operation *op, bool mayGuess) {
  if (isProduct(op) || !isFloatComputation(op) || stepOf(op))
    return true;
  const Value result = op->getResult(0);
  if (planner.isEnabled(AffinePassage::Reduction)) {
    if (auto mean = MeanForm::endingIn(op); mean && of(result).shifts()) {
      join(mean->operand(), mean->toOperand(of(result)));
      return true;
    }
    if (auto mean = MeanForm::beginningWith(op);
        mean && of(mean->operand()).shifts()) {
      join(mean->result(), mean->toResult(of(mean->operand())));
      return true;
    }
  }
  if (planner.mayChange(op) && planner.isEnabled(AffinePassage::Clip))
    if (auto form = ClipForm::of(op)) {
      const Value known = isOfRegion(result) ? result : form->operand;
      const PlacedAffine affine = of(known);
      if (form->after(affine)) {
        join(known == result ? form->operand : result, affine);
        return true;
      }
    }
  bool waits = false;
  if (auto flow = dyn_cast<AffineFlowOpInterface>(op)) {
    const auto ways = flow.getAffineWays();
    if (areOfProduct(ways)) {
      if (mayGuess && planner.mayCross(op, ways[0]))
        growProduct(op);
      return mayGuess;
    }
    for (const AffineWay &way : ways)
      if (planner.mayCross(op, way) && grow(op, way, mayGuess, waits))
        return true;
  }
  return !waits;
}

/// The scales of two factors are multiplied.
void RegionPlanner::growProduct(Operation *op) {
  const Value a = op->getOperand(0), b = op->getOperand(1),
              result = op->getResult(0);
  if (of(a).shifts() || of(b).shifts() || of(result).shifts())
    return;
  if (isOfRegion(a) == isOfRegion(b) && isOfRegion(result))
    return;
  if (!isOfRegion(result)) {
    join(result, compose(of(a), of(b)));
    return;
  }
  join(isOfRegion(a) ? b : a,
       difference(of(result), of(isOfRegion(a) ? a : b)));
}

/// Whether \p affine of the result may be computed from its operands' on
/// \p way.
static bool mayPass(const AffineWay &way, const PlacedAffine &affine) {
  return (way.scale == ScaleRule::Any || affine.isPositive()) &&
         (way.shift != ShiftRule::None || !affine.shifts());
}

static PlacedAffine withShiftTimes(PlacedAffine affine, double factor) {
  for (double &shift : affine.numbers.shift)
    shift *= factor;
  return affine;
}

/// \p affine of the result of \p op, which takes slices. It has one coefficient
/// for each index of the sliced dimension, if there is only one: other slices
/// may have other coefficients.
static PlacedAffine ofSlices(Operation *op, const PlacedAffine &affine) {
  const auto type = tensorOf(op->getOperand(0)),
             sliced = tensorOf(op->getResult(0));
  PlacedAffine own = affine, slices;
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (type.getDimSize(i) != sliced.getDimSize(i) && !sliced.isDynamicDim(i)) {
      slices.dimensions.push_back(i);
      slices.sizes.push_back(sliced.getDimSize(i));
    }
  if (slices.dimensions.size() != 1)
    return affine;
  slices.numbers = ChannelAffine::identity(slices.sizes.front());
  return align({&own, &slices}) ? own : affine;
}

/// Each slice of a value may have its own scale and shift.
void RegionPlanner::joinSlices(Value value) {
  std::optional<PlacedAffine> all = PlacedAffine();
  for (Operation *op : value.getUsers()) {
    if (!takesSlices(op) || !isOfRegion(op->getResult(0)))
      continue;
    // Elements that two slices share are scaled and shifted once.
    auto own = acrossToResult(op, 0, *all, false);
    auto rest = own ? difference(of(op->getResult(0)), *own) : std::nullopt;
    auto more = rest && !rest->isIdentity()
                    ? acrossToOperand(op, 0, ofSlices(op, *rest))
                    : std::nullopt;
    if (more)
      all = compose(*more, *all);
    if (!all)
      return;
  }
  join(value, std::move(all));
}

bool RegionPlanner::grow(Operation *op, const AffineWay &way, bool mayGuess,
                         bool &waits) {
  const Value result = op->getResult(0);
  SmallVector<unsigned> known;
  for (unsigned operand : way.operands)
    if (isOfRegion(op->getOperand(operand)))
      known.push_back(operand);
  const bool isKnown = isOfRegion(result);
  if (!isKnown && known.empty())
    return false;
  if (isKnown && !mayPass(way, of(result)))
    return false;
  for (unsigned operand : known)
    if (!mayPass(way, of(op->getOperand(operand))))
      return false;
  const bool isSum =
      way.shift == ShiftRule::One || way.shift == ShiftRule::First;
  const size_t unknown = way.operands.size() - known.size();
  // An operand that is one of several choices waits until the others are known.
  const bool isGuess = (isSum && unknown + !isKnown > 1) ||
                       (!isKnown && way.isSeparate && unknown > 0) ||
                       (isKnown && takesSlices(op));
  if (isGuess && !mayGuess) {
    waits = true;
    return false;
  }
  if (isSum) {
    growSum(op, way);
    return true;
  }
  if (!isKnown) {
    // Each operand of a concatenate along channels has its own scale and shift.
    std::optional<PlacedAffine> all = PlacedAffine();
    for (unsigned operand : known) {
      const Value value = op->getOperand(operand);
      auto own = acrossToOperand(op, operand, *all);
      auto rest = own ? difference(of(value), *own) : std::nullopt;
      auto more = rest && mayBeDoneTo(op, value, result)
                      ? acrossToResult(op, operand, *rest, false)
                      : std::nullopt;
      all = more ? compose(*more, *all) : std::nullopt;
      if (!all)
        return false;
    }
    join(result, withShiftTimes(std::move(*all), way.gain));
  }
  if (!isOfRegion(result))
    return true;
  if (takesSlices(op)) {
    joinSlices(op->getOperand(0));
    return true;
  }
  for (unsigned operand : way.operands)
    if (const Value value = op->getOperand(operand);
        mayBeDoneTo(op, result, value))
      if (auto own = acrossToOperand(op, operand, of(result)))
        join(value, withShiftTimes(std::move(*own), 1 / way.gain));
  return true;
}

/// Whether the operation that computes \p value absorbs a shift.
bool RegionPlanner::takesShift(Value value) const {
  Operation *op = value.getDefiningOp();
  return planner.isProduct(value) || (op && stepOf(op));
}

/// The factor of the shift of operand \p i of an addition.
static double factorOf(const AffineWay &way, size_t i) {
  return way.shift == ShiftRule::First && i > 0 ? -1 : 1;
}

/// Adds the shifts of \p other, times \p factor, to those of \p sum.
static bool addShifts(PlacedAffine &sum, PlacedAffine other, double factor) {
  if (!align({&sum, &other}))
    return false;
  for (auto [all, each] :
       llvm::zip_equal(sum.numbers.shift, other.numbers.shift))
    all += factor * each;
  return true;
}

/// A sum is shifted by the sum of its operands' shifts. If the result's shift
/// is known, one operand takes the difference, or both where they are the same
/// value.
void RegionPlanner::growSum(Operation *op, const AffineWay &way) {
  const Value result = op->getResult(0);
  const bool isKnown = isOfRegion(result);
  PlacedAffine scale = of(result).onlyScale(), shift;
  if (!addShifts(shift, of(result), 1))
    return;
  llvm::MapVector<Value, double> unknown;
  for (auto [i, operand] : llvm::enumerate(way.operands)) {
    const Value value = op->getOperand(operand);
    const double factor = factorOf(way, i);
    if (!isOfRegion(value)) {
      unknown[value] += factor;
      continue;
    }
    if (!isKnown)
      scale = of(value).onlyScale();
    if (!addShifts(shift, of(value), isKnown ? -factor : factor))
      return;
  }
  Value taker;
  for (auto [value, factor] : unknown)
    if (factor != 0 && (!taker || (!takesShift(taker) && takesShift(value))))
      taker = value;
  auto shifted = [&](double factor) {
    return compose(withShiftTimes(shift, factor), scale);
  };
  // Another operand makes up for a shift where that costs nothing.
  const bool makesUp = !isKnown && taker && takesShift(taker);
  if (!isKnown)
    join(result, makesUp ? scale : shifted(1));
  if (unknown.size() > 1 && isKnown && taker) {
    // The others may follow from that.
    auto share = shares.try_emplace(op, 1).first->second;
    join(taker, shifted(share / unknown[taker]));
    if (isOfRegion(taker)) {
      sums.insert(op);
      return;
    }
  }
  for (auto [value, factor] : unknown)
    join(value, value == taker && (isKnown || makesUp)
                    ? shifted((isKnown ? 1 : -1) / factor)
                    : scale);
}

/// Where the shift that one operand of an addition was given came back as a
/// multiple of the difference, the operand's share is reduced. Returns whether
/// there is such an addition.
bool RegionPlanner::correctShares() {
  bool isCorrected = false;
  for (auto &[op, share] : shares) {
    const AffineWay way = *sumOf(op);
    PlacedAffine given;
    bool isAligned = true;
    for (auto [i, operand] : llvm::enumerate(way.operands))
      isAligned &=
          addShifts(given, of(op->getOperand(operand)), factorOf(way, i));
    PlacedAffine wanted = of(op->getResult(0));
    if (!isAligned || !align({&wanted, &given}))
      continue;
    std::optional<double> ratio;
    for (auto [a, b] :
         llvm::zip_equal(given.numbers.shift, wanted.numbers.shift)) {
      if (b == 0 ? a != 0 : ratio && std::abs(a / b - *ratio) > 1e-6)
        ratio = 0;
      else if (b != 0 && !ratio)
        ratio = a / b;
    }
    // Multiples of a few operands are integers.
    const double whole = std::round(ratio.value_or(1));
    if (whole == 0 || whole == 1 || std::abs(*ratio - whole) > 1e-6)
      continue;
    share /= whole;
    isCorrected = true;
  }
  return isCorrected;
}

//===----------------------------------------------------------------------===//
// Cost
//===----------------------------------------------------------------------===//

bool RegionPlanner::placeAt(OpOperand &use, const PlacedAffine &wanted,
                            RegionPlan &plan) {
  auto rest = difference(wanted, of(use.get()));
  if (!rest)
    return false;
  if (rest->isIdentity())
    return true;
  Operation *op = use.getOwner();
  if (op->getBlock() != block || planner.isInsideNode(use.get(), op) ||
      !keepsNumbers(use.get(), *rest))
    return false;
  const bool mayTakeUp = isProduct(op);
  if (!mayTakeUp && !planner.mayComputeAnew(use.get()))
    plan.cost = plan.cost + AffineCost::of(use.get(), *rest);
  plan.placements.push_back({use.get(), &use, std::move(*rest), mayTakeUp});
  return true;
}

bool RegionPlanner::placeBehind(Value value, RegionPlan &plan) {
  const PlacedAffine affine = of(value);
  if (affine.isIdentity())
    return true;
  if (llvm::any_of(value.getUsers(), [&](Operation *reader) {
        return planner.isInsideNode(value, reader);
      }))
    return false;
  const bool mayTakeUp = planner.isProduct(value);
  if (!mayTakeUp)
    plan.cost = plan.cost + AffineCost::of(value, affine);
  plan.placements.push_back({value, nullptr, affine, mayTakeUp});
  return true;
}

bool RegionPlanner::evaluateApart(Operation *op, RegionPlan &plan) {
  for (OpOperand &use : op->getOpOperands())
    if (isOfRegion(use.get()) && !usesShapeOnly(use) && !placeAt(use, {}, plan))
      return false;
  return llvm::all_of(op->getResults(),
                      [&](Value result) { return placeBehind(result, plan); });
}

bool RegionPlanner::evaluateStep(Operation *op, const AffineStep &step,
                                 RegionPlan &plan) {
  const Value result = op->getResult(0);
  auto after = compose(of(result), step.affine);
  after = after ? difference(*after, of(step.from)) : std::nullopt;
  if (!after || !keepsNumbers(result, *after))
    return false;
  RegionPlan::Change change{op, RegionPlan::Change::Kind::Step};
  change.isOfRegion = isOfRegion(result);
  change.isTakenUp =
      (planner.isProduct(step.from) && soleElementUse(step.from)) ||
      isPending(op);
  if (!planner.isBias(step) && !isPending(op))
    plan.cost = plan.cost + -AffineCost::ofStep(result, step.affine);
  if (!after->isIdentity() && !change.isTakenUp)
    plan.cost = plan.cost + AffineCost::of(result, *after);
  change.step = std::move(*after);
  plan.changes.push_back(std::move(change));
  return true;
}

std::optional<RegionPlan> RegionPlanner::evaluateClip(Operation *op) {
  if (!planner.mayChange(op) || !planner.isEnabled(AffinePassage::Clip))
    return std::nullopt;
  auto form = ClipForm::of(op);
  const PlacedAffine affine = of(op->getResult(0));
  auto after = form ? form->after(affine) : std::nullopt;
  if (!after)
    return std::nullopt;
  RegionPlan plan;
  for (OpOperand &use : op->getOpOperands())
    if (use.get() == form->operand && !placeAt(use, affine, plan))
      return std::nullopt;
  RegionPlan::Change change{op, RegionPlan::Change::Kind::Crossed,
                            AffinePassage::Clip};
  change.isOfRegion = !affine.isIdentity();
  if (!after->hasBoundsOf(*form)) {
    change.kind = RegionPlan::Change::Kind::Clip;
    change.clip = std::move(after);
    plan.cost = plan.cost + costOfBounds(op->getResult(0));
  }
  plan.changes.push_back(std::move(change));
  return plan;
}

/// The scales and shifts that the operands of \p way must have.
std::optional<SmallVector<PlacedAffine>>
RegionPlanner::operandsOf(Operation *op, const AffineWay &way) {
  const Value result = op->getResult(0);
  const PlacedAffine affine = of(result);
  if (!mayPass(way, affine))
    return std::nullopt;
  SmallVector<PlacedAffine> wanted;
  const bool isSum =
      way.shift == ShiftRule::One || way.shift == ShiftRule::First;
  for (unsigned operand : way.operands) {
    if (!mayBeDoneTo(op, result, op->getOperand(operand)))
      return std::nullopt;
    // Coefficients that the result does not have are free.
    const PlacedAffine given = of(op->getOperand(operand));
    if (way.operands.size() == 1 && !given.isIdentity())
      if (auto passed = acrossToResult(op, operand, given, false);
          passed &&
          isSame(affine, withShiftTimes(std::move(*passed), way.gain)))
        return SmallVector<PlacedAffine>{given};
    auto own =
        acrossToOperand(op, operand, isSum ? affine.onlyScale() : affine);
    if (!own)
      return std::nullopt;
    wanted.push_back(withShiftTimes(std::move(*own), 1 / way.gain));
  }
  if (!isSum)
    return wanted;
  // The shifts of operands with the required scale count. The operand that
  // takes the difference has another scale, or is the first.
  size_t taker = 0;
  SmallVector<bool> isScaled;
  for (auto [i, operand] : llvm::enumerate(way.operands)) {
    auto rest = difference(wanted[i], of(op->getOperand(operand)).onlyScale());
    if (!rest)
      return std::nullopt;
    isScaled.push_back(rest->isIdentity());
    if (!isScaled.back())
      taker = i;
  }
  PlacedAffine missing;
  if (!addShifts(missing, affine, 1))
    return std::nullopt;
  for (auto [i, operand] : llvm::enumerate(way.operands)) {
    const PlacedAffine own = of(op->getOperand(operand));
    if (i == taker || !isScaled[i])
      continue;
    wanted[i] = own;
    if (!addShifts(missing, own, -factorOf(way, i)))
      return std::nullopt;
  }
  auto both =
      compose(withShiftTimes(missing, factorOf(way, taker)), wanted[taker]);
  if (!both)
    return std::nullopt;
  wanted[taker] = std::move(*both);
  return wanted;
}

/// The mean that \p op is the sum or the division of, if its operand and its
/// result are in the region and a shift has to pass.
std::optional<MeanForm> RegionPlanner::meanOf(Operation *op) const {
  auto mean = MeanForm::endingIn(op);
  if (!mean)
    mean = MeanForm::beginningWith(op);
  if (!mean || !planner.isEnabled(AffinePassage::Reduction) ||
      !isOfRegion(mean->operand()) || !isOfRegion(mean->result()) ||
      (!of(mean->operand()).shifts() && !of(mean->result()).shifts()))
    return std::nullopt;
  return mean;
}

/// At the sum; the division has nothing to do then.
bool RegionPlanner::evaluateMean(Operation *op, const MeanForm &mean,
                                 RegionPlan &plan) {
  if (op == mean.division())
    return true;
  auto wanted = mean.toOperand(of(mean.result()));
  if (!wanted || !placeAt(op->getOpOperand(0), *wanted, plan))
    return false;
  for (Operation *each : mean.path)
    plan.changes.push_back(
        {each, RegionPlan::Change::Kind::Crossed, AffinePassage::Reduction});
  return true;
}

std::optional<RegionPlan> RegionPlanner::evaluateProduct(Operation *op,
                                                         const AffineWay &way) {
  const PlacedAffine a = of(op->getOperand(0)), b = of(op->getOperand(1));
  auto both = compose(a, b);
  if (!both || a.shifts() || b.shifts() ||
      !isSame(of(op->getResult(0)), *both) || !planner.mayCross(op, way))
    return std::nullopt;
  RegionPlan plan;
  RegionPlan::Change change{op, RegionPlan::Change::Kind::Crossed, way.passage};
  change.isOfRegion = isOfRegion(op->getResult(0));
  plan.changes.push_back(std::move(change));
  return plan;
}

std::optional<RegionPlan> RegionPlanner::evaluateWay(Operation *op,
                                                     const AffineWay &way) {
  if (!planner.mayCross(op, way))
    return std::nullopt;
  auto wanted = operandsOf(op, way);
  if (!wanted)
    return std::nullopt;
  RegionPlan plan;
  for (OpOperand &use : op->getOpOperands()) {
    const auto *found = llvm::find(way.operands, use.getOperandNumber());
    if (usesShapeOnly(use) ||
        (found == way.operands.end() && !isOfRegion(use.get())))
      continue;
    if (!placeAt(use,
                 found == way.operands.end()
                     ? PlacedAffine()
                     : (*wanted)[found - way.operands.begin()],
                 plan))
      return std::nullopt;
  }
  RegionPlan::Change change{op, RegionPlan::Change::Kind::Crossed, way.passage};
  change.isOfRegion = isOfRegion(op->getResult(0));
  plan.changes.push_back(std::move(change));
  return plan;
}

static bool isCheaper(const AffineCost &a, const AffineCost &b) {
  return std::pair(a.operations, a.elements) <
         std::pair(b.operations, b.elements);
}

bool RegionPlanner::evaluate(Operation *op, RegionPlan &plan) {
  if (op->getBlock() != block)
    return false;
  if (!isProduct(op) && isFloatComputation(op))
    if (auto step = stepOf(op);
        step && (isOfRegion(step->from) || isOfRegion(op->getResult(0))))
      return evaluateStep(op, *step, plan);
  if (auto mean = meanOf(op))
    return evaluateMean(op, *mean, plan);
  std::optional<RegionPlan> best;
  auto consider = [&](std::optional<RegionPlan> other) {
    if (other && (!best || isCheaper(other->cost, best->cost)))
      best = std::move(other);
  };
  if (!isProduct(op) && isFloatComputation(op)) {
    consider(evaluateClip(op));
    if (auto flow = dyn_cast<AffineFlowOpInterface>(op)) {
      const auto ways = flow.getAffineWays();
      if (areOfProduct(ways))
        consider(evaluateProduct(op, ways[0]));
      // Bounds per channel cost more than scaling constants, but stay few.
      const bool isClip = best.has_value();
      for (const AffineWay &way : ways)
        if (!isClip || way.passage != AffinePassage::Clip)
          consider(evaluateWay(op, way));
    }
  }
  RegionPlan apart;
  if (evaluateApart(op, apart))
    consider(std::move(apart));
  if (!best)
    return false;
  plan.cost = plan.cost + best->cost;
  llvm::append_range(plan.placements, best->placements);
  llvm::append_range(plan.changes, best->changes);
  return true;
}

void RegionPlanner::check(RegionPlan &plan) {
  for (RegionPlan::Placement &each : plan.placements) {
    if (!each.isTakenUp)
      continue;
    each.isTakenUp = each.use
                         ? planner.isAbsorbedBelow(*each.use, each.affine)
                         : planner.isAbsorbedAbove(each.value, {}, each.affine);
    if (!each.isTakenUp)
      plan.cost = plan.cost + AffineCost::of(each.value, each.affine);
  }
  for (RegionPlan::Change &each : plan.changes) {
    if (!each.isTakenUp)
      continue;
    const AffineStep step = *affineStep(each.op);
    OpOperand *use = soleElementUse(each.op->getResult(0));
    each.isTakenUp =
        each.step.isIdentity() ||
        planner.isAbsorbedAbove(step.from, {}, each.step) ||
        (isPending(each.op) && use && planner.isAbsorbedBelow(*use, each.step));
    if (!each.isTakenUp)
      plan.cost = plan.cost + AffineCost::of(each.op->getResult(0), each.step);
  }
}

void RegionPlanner::joinSiblings(Value value) {
  for (Operation *op : value.getUsers()) {
    auto flow = dyn_cast<AffineFlowOpInterface>(op);
    if (!flow)
      continue;
    for (const AffineWay &way : flow.getAffineWays())
      if (way.isSeparate)
        for (unsigned operand : way.operands) {
          const Value sibling = op->getOperand(operand);
          std::optional<PlacedAffine> all = PlacedAffine();
          Value each = sibling;
          while (Operation *source = each.getDefiningOp()) {
            auto step = stepOf(source);
            if (!step)
              break;
            all = all ? compose(*all, step->affine) : std::nullopt;
            each = step->from;
          }
          if (all && each != sibling)
            join(sibling, all->inverse());
        }
  }
}

/// The scale and shift of the value that a region begins with at \p step.
std::optional<PlacedAffine> RegionPlanner::firstAffine(const PlacedAffine &step,
                                                       RegionStart start) {
  const bool hasBoth = step.scales() && step.shifts();
  PlacedAffine back = step;
  switch (start) {
  case RegionStart::Operand:
    return step;
  case RegionStart::Result:
  case RegionStart::Joined:
    return step.inverse();
  case RegionStart::ScaledOperand:
    return hasBoth ? std::optional(step.onlyScale()) : std::nullopt;
  case RegionStart::ScaledResult:
    return hasBoth ? step.onlyScale().inverse() : std::nullopt;
  case RegionStart::ShiftedOperand:
    return hasBoth ? step.shiftBefore() : std::nullopt;
  case RegionStart::ShiftedResult:
    back.numbers.scale.assign(back.numbers.scale.size(), 1);
    for (double &shift : back.numbers.shift)
      shift = -shift;
    back.simplify();
    return hasBoth ? std::optional(std::move(back)) : std::nullopt;
  }
  return std::nullopt;
}

std::optional<RegionPlan> RegionPlanner::plan(Operation *op,
                                              RegionStart start) {
  auto step = stepOf(op);
  if (!step)
    return std::nullopt;
  planner.begin();
  block = op->getBlock();
  isTooLarge = false;
  next.clear();
  sums.clear();
  waiting.clear();
  const Value first = startsAtOperand(start) ? step->from : op->getResult(0);
  shares.clear();
  constexpr unsigned mostTrials = 3;
  for (unsigned trial = 0; trial < mostTrials; ++trial) {
    members.clear();
    uses = 0;
    if (start == RegionStart::Joined)
      joinSiblings(first);
    join(first, firstAffine(step->affine, start));
    if (members.empty())
      return std::nullopt;
    grow();
    isTooLarge = members.size() >= mostMembers || uses > mostUses;
    if (isTooLarge)
      return std::nullopt;
    if (!correctShares())
      break;
  }
  Operations touched;
  RegionPlan plan;
  for (auto &[value, own] : members) {
    Operation *source = value.getDefiningOp();
    if (source)
      touched.insert(source);
    else if (!placeBehind(value, plan))
      return std::nullopt;
    for (OpOperand &use : value.getUses())
      if (!usesShapeOnly(use))
        touched.insert(use.getOwner());
  }
  for (Operation *each : touched)
    if (!evaluate(each, plan))
      return std::nullopt;
  if (!plan.cost.isLessOrFewerThan({}))
    return std::nullopt;
  check(plan);
  if (!plan.cost.isLessOrFewerThan({}))
    return std::nullopt;
  llvm::sort(plan.changes, [](const auto &a, const auto &b) {
    return a.op->isBeforeInBlock(b.op);
  });
  return plan;
}

} // namespace sinter
