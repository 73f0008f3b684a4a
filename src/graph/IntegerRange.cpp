//===- IntegerRange.cpp - which integers a value may have -----------------===//

#include "graph/IntegerRange.h"

#include "graph/Constants.h"
#include "graph/Types.h"
#include "graph/nn/NnOps.h"
#include "graph/stablehlo/StablehloOps.h"
#include "runtime/ElementDispatch.h"

using namespace mlir;

namespace sinter {

IntegerRange IntegerRange::ofType(Type element) {
  auto integer = cast<IntegerType>(element);
  const auto width = static_cast<int>(integer.getWidth());
  if (integer.isUnsigned() || width == 1)
    return {0, std::ldexp(1, width) - 1};
  return {-std::ldexp(1, width - 1), std::ldexp(1, width - 1) - 1};
}

static IntegerRange united(IntegerRange a, IntegerRange b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

static std::optional<IntegerRange> ofTensor(const Tensor &tensor) {
  if (tensor.size() == 0)
    return std::nullopt;
  return dispatch(tensor.type(), [&](auto tag) -> std::optional<IntegerRange> {
    using T = typename decltype(tag)::type;
    if constexpr (!std::is_integral_v<T>) {
      return std::nullopt;
    } else {
      T low = tensor.at<T>(0), high = low;
      for (int64_t i = 1; i < tensor.size(); ++i) {
        low = std::min(low, tensor.at<T>(i));
        high = std::max(high, tensor.at<T>(i));
      }
      return IntegerRange{static_cast<double>(low), static_cast<double>(high)};
    }
  });
}

IntegerRange IntegerRange::ofSums(IntegerRange lhs, IntegerRange rhs,
                                  double count) {
  auto [low, high] = std::minmax({lhs.low * rhs.low, lhs.low * rhs.high,
                                  lhs.high * rhs.low, lhs.high * rhs.high});
  return {std::min(low, 0.0) * count, std::max(high, 0.0) * count};
}

/// Looks at no more than \p budget operations.
static IntegerRange rangeOf(Value value, int &budget);

/// The range that follows from the operands and the kind of \p op; nothing if
/// none does.
static std::optional<IntegerRange> fromOperands(Operation *op, int &budget) {
  using namespace stablehlo;
  auto operand = [&](unsigned i) { return rangeOf(op->getOperand(i), budget); };
  if (isa<AddOp>(op)) {
    IntegerRange a = operand(0), b = operand(1);
    return IntegerRange{a.low + b.low, a.high + b.high};
  }
  if (isa<SubtractOp>(op)) {
    IntegerRange a = operand(0), b = operand(1);
    return IntegerRange{a.low - b.high, a.high - b.low};
  }
  if (isa<ConvertOp>(op))
    return isa<IntegerType>(getElementTypeOrSelf(op->getOperand(0)))
               ? std::optional(operand(0))
               : std::nullopt;
  if (isa<ReshapeOp, DynamicReshapeOp, TransposeOp, BroadcastInDimOp,
          DynamicBroadcastInDimOp, nn::BroadcastLikeOp, RealDynamicSliceOp,
          SliceOp, ReverseOp, DynamicSliceOp>(op))
    return operand(0);
  if (isa<ConcatenateOp, PadOp>(op)) {
    IntegerRange range = operand(0);
    for (unsigned i = 1; i < op->getNumOperands(); ++i)
      range = united(range, operand(i));
    return range;
  }
  if (isa<SelectOp>(op))
    return united(operand(1), operand(2));
  if (isa<ClampOp>(op)) {
    IntegerRange low = operand(0), high = operand(2);
    return IntegerRange{std::min(low.low, high.low), high.high};
  }
  return std::nullopt;
}

static IntegerRange rangeOf(Value value, int &budget) {
  const IntegerRange all =
      IntegerRange::ofType(getElementTypeOrSelf(value.getType()));
  Operation *op = value.getDefiningOp();
  if (!op || budget-- <= 0)
    return all;
  if (std::optional<Tensor> constant = constantTensor(value))
    return ofTensor(*constant).value_or(all);
  std::optional<IntegerRange> range = fromOperands(op, budget);
  // What does not fit its type wraps around.
  if (!range || range->low < all.low || range->high > all.high)
    return all;
  return *range;
}

IntegerRange IntegerRange::of(Value value) {
  int budget = 32;
  return rangeOf(value, budget);
}

} // namespace sinter
