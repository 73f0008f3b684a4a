#include "passes/MeanForm.h"

#include "graph/Broadcast.h"
#include "graph/Constants.h"
#include "graph/ElementUses.h"
#include "graph/SizeSources.h"
#include "graph/gradient/Gradient.h"
#include "passes/Matching.h"

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter {

/// The source of \p value, a splat, behind broadcasts and reshapes.
static Value uniformSource(Value value) {
  constexpr unsigned mostSteps = 8;
  for (unsigned i = 0; i < mostSteps; ++i)
    if (std::optional<Broadcast> broadcast = Broadcast::of(value))
      value = broadcast->operand;
    else if (isa_and_nonnull<ReshapeOp, DynamicReshapeOp>(
                 value.getDefiningOp()))
      value = value.getDefiningOp()->getOperand(0);
    else
      break;
  return withoutForm(value);
}

/// Appends the factors that \p value is the product of. Returns whether they
/// are all constants and dimension sizes.
static bool appendFactors(Value value, SmallVectorImpl<SizeSource> &factors,
                          unsigned depth = 0) {
  constexpr unsigned deepest = 8;
  value = uniformSource(value);
  const auto type = tensorOf(value);
  if (!type.hasStaticShape() || type.getNumElements() != 1 || depth > deepest)
    return false;
  if (auto product = value.getDefiningOp<MulOp>())
    return appendFactors(product.getLhs(), factors, depth + 1) &&
           appendFactors(product.getRhs(), factors, depth + 1);
  if (auto number = splatNumber(value)) {
    factors.push_back({static_cast<int64_t>(*number), {}, 0});
    return *number == static_cast<double>(factors.back().known.value());
  }
  const auto sources = sourcesOfSizes(value);
  if (sources.size() != 1)
    return false;
  factors.push_back(sources.front());
  return sources.front().known || sources.front().of;
}

/// Whether \p number is how many elements of its operand \p sum adds up for one
/// of its result.
static bool counts(Value number, ReduceOp sum) {
  SmallVector<SizeSource> factors;
  if (!appendFactors(number, factors))
    return false;
  const Value operand = sum.getOperands().front(),
              source = shapeSource(operand);
  int64_t expected = 1, known = 1;
  for (int64_t dimension : sum.getDimensions()) {
    const int64_t size = tensorOf(operand).getDimSize(dimension);
    if (!ShapedType::isDynamic(size)) {
      expected *= size;
      continue;
    }
    auto *found = llvm::find_if(factors, [&](const SizeSource &each) {
      return !each.known && each.of == source && each.dimension == dimension;
    });
    if (found == factors.end())
      return false;
    factors.erase(found);
  }
  for (const SizeSource &each : factors) {
    if (!each.known)
      return false;
    known *= *each.known;
  }
  return known == expected && known != 0;
}

std::optional<MeanForm> MeanForm::endingIn(Operation *op) {
  auto division = dyn_cast<DivOp>(op);
  if (!division)
    return std::nullopt;
  MeanForm mean;
  mean.path.push_back(op);
  for (Operation *each = op;;) {
    OpOperand &operand = each->getOpOperand(0);
    Operation *source = operand.get().getDefiningOp();
    if (!source || soleElementUse(operand.get()) != &operand ||
        source->getBlock() != op->getBlock())
      return std::nullopt;
    mean.path.insert(mean.path.begin(), source);
    if (isa<ReduceOp>(source))
      break;
    if (!isa<ReshapeOp, DynamicReshapeOp>(source))
      return std::nullopt;
    each = source;
  }
  auto sum = cast<ReduceOp>(mean.sum());
  if (sum->getNumOperands() != 2 || !isPositiveZero(sum->getOperand(1)) ||
      gradient::combinerOf(sum->getRegion(0)) != AddOp::getOperationName() ||
      !isFloatTensor(mean.result()) || !counts(division.getRhs(), sum))
    return std::nullopt;
  return mean;
}

std::optional<MeanForm> MeanForm::beginningWith(Operation *op) {
  if (!isa<ReduceOp>(op) || op->getNumResults() != 1)
    return std::nullopt;
  for (Operation *each = op;;) {
    OpOperand *sole = soleElementUse(each->getResult(0));
    if (!sole || sole->getOperandNumber() != 0)
      return std::nullopt;
    each = sole->getOwner();
    if (isa<DivOp>(each))
      return endingIn(each);
    if (!isa<ReshapeOp, DynamicReshapeOp>(each))
      return std::nullopt;
  }
}

std::optional<PlacedAffine>
MeanForm::toOperand(const PlacedAffine &affine) const {
  std::optional<PlacedAffine> own = affine;
  for (Operation *op : llvm::reverse(path)) {
    own = acrossToOperand(op, 0, *own);
    if (!own)
      break;
  }
  return own;
}

std::optional<PlacedAffine>
MeanForm::toResult(const PlacedAffine &affine) const {
  std::optional<PlacedAffine> own = affine;
  for (Operation *op : path) {
    own = acrossToResult(op, 0, *own, /*isSeparate=*/false);
    if (!own)
      break;
  }
  return own;
}

} // namespace sinter
