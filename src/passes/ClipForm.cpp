#include "passes/ClipForm.h"

#include "graph/nn/NnOps.h"
#include "graph/stablehlo/StablehloOps.h"
#include "passes/Matching.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter {

/// A bound for \p like: a scalar, or a constant that varies along one
/// dimension.
static std::optional<PlacedAffine> boundOf(Value value, Value like) {
  if (tensorOf(value).getRank() == 0) {
    auto number = splatValue(value);
    return number ? std::optional(PlacedAffine{{}, {}, {{0.0}, {*number}}})
                  : std::nullopt;
  }
  auto type = tensorOf(like);
  const auto dimension = channelDimensionOf(value, type.getRank());
  if (!dimension)
    return std::nullopt;
  const bool varies = *dimension >= 0;
  const int64_t count = varies ? type.getDimSize(*dimension) : 1;
  auto numbers = channelNumbers(value, type.getRank(), *dimension, count);
  if (!numbers)
    return std::nullopt;
  PlacedAffine bound{{}, {}, {std::vector<double>(count, 0.0), *numbers}};
  if (varies) {
    bound.dimensions = {*dimension};
    bound.sizes = {count};
  }
  return bound;
}

std::optional<ClipForm> ClipForm::of(Operation *op) {
  const PlacedAffine zero{{}, {}, {{0.0}, {0.0}}};
  if (isa<nn::ReluOp>(op))
    return ClipForm{op->getOperand(0), zero, std::nullopt};
  if (auto clamp = dyn_cast<ClampOp>(op)) {
    auto low = boundOf(clamp.getMin(), clamp.getOperand()),
         high = boundOf(clamp.getMax(), clamp.getOperand());
    if (!low || !high)
      return std::nullopt;
    return ClipForm{clamp.getOperand(), std::move(low), std::move(high)};
  }
  if (!isa<MaxOp, MinOp>(op))
    return std::nullopt;
  for (unsigned i : {0u, 1u}) {
    auto bound = boundOf(op->getOperand(1 - i), op->getOperand(i));
    if (!bound)
      continue;
    return isa<MaxOp>(op)
               ? ClipForm{op->getOperand(i), std::move(bound), std::nullopt}
               : ClipForm{op->getOperand(i), std::nullopt, std::move(bound)};
  }
  return std::nullopt;
}

/// The bound that is \p bound where \p affine's scale is not negative and
/// \p other where it is, scaled and shifted; \p none where there is none.
static std::optional<PlacedAffine>
boundAfter(const PlacedAffine &affine, const std::optional<PlacedAffine> &bound,
           const std::optional<PlacedAffine> &other, double none) {
  const PlacedAffine nothing{{}, {}, {{0.0}, {none}}};
  std::optional<PlacedAffine> own = bound ? compose(affine, *bound) : nothing,
                              swapped =
                                  other ? compose(affine, *other) : nothing;
  PlacedAffine sign = affine;
  if (!own || !swapped || !align({&sign, &*own, &*swapped}))
    return std::nullopt;
  for (size_t i = 0; i < own->numbers.shift.size(); ++i) {
    if (sign.numbers.scale[i] < 0)
      own->numbers.shift[i] = swapped->numbers.shift[i];
    if (std::isnan(own->numbers.shift[i]))
      return std::nullopt;
  }
  own->numbers.scale.assign(own->numbers.scale.size(), 0);
  own->simplify();
  return own;
}

std::optional<ClipForm> ClipForm::after(const PlacedAffine &affine) const {
  // The high bound wins where the two are crossed: turned round, the low one
  // would.
  if (low && high && !affine.isPositive()) {
    PlacedAffine least = *low, most = *high;
    if (!align({&least, &most}))
      return std::nullopt;
    for (auto [a, b] : llvm::zip_equal(least.numbers.shift, most.numbers.shift))
      if (!(a <= b))
        return std::nullopt;
  }
  constexpr double infinity = std::numeric_limits<double>::infinity();
  ClipForm form{operand, std::nullopt, std::nullopt};
  auto isNegative = [](double each) { return each < 0; };
  const bool hasNegative = llvm::any_of(affine.numbers.scale, isNegative),
             hasPositive = !llvm::all_of(affine.numbers.scale, isNegative);
  const bool hasLow = (low && hasPositive) || (high && hasNegative),
             hasHigh = (high && hasPositive) || (low && hasNegative);
  if (hasLow)
    form.low = boundAfter(affine, low, high, -infinity);
  if (hasHigh)
    form.high = boundAfter(affine, high, low, infinity);
  if (hasLow != form.low.has_value() || hasHigh != form.high.has_value())
    return std::nullopt;
  return form;
}

static bool isSameBound(const std::optional<PlacedAffine> &a,
                        const std::optional<PlacedAffine> &b) {
  if (!a || !b)
    return !a && !b;
  return a->dimensions == b->dimensions && a->sizes == b->sizes &&
         a->numbers.shift == b->numbers.shift;
}

bool ClipForm::hasBoundsOf(const ClipForm &other) const {
  return isSameBound(low, other.low) && isSameBound(high, other.high);
}

Value makeClip(Operation *op, Value operand, const ClipForm &form) {
  OpBuilder builder(op);
  auto bound = [&](const std::optional<PlacedAffine> &of) {
    return placeNumbers(builder, *of, of->numbers.shift, operand);
  };
  const Location location = op->getLoc();
  const auto &[ignored, low, high] = form;
  if (low && high)
    return builder.create<ClampOp>(location, operand.getType(), bound(low),
                                   operand, bound(high));
  if (low)
    return builder.create<MaxOp>(location, operand.getType(), operand,
                                 bound(low));
  return builder.create<MinOp>(location, operand.getType(), operand,
                               bound(high));
}

} // namespace sinter
