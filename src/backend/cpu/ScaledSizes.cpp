//===- ScaledSizes.cpp - sizes times numbers that need not be whole -------===//
//
// Where an image is resized by a scale, its new size is computed in floats: the
// old one is converted, multiplied, rounded to a whole number and converted
// back. Such a number is followed as a size and the power of two that it is
// divided by.
//
//===----------------------------------------------------------------------===//

#include "backend/cpu/SizeNamer.h"
#include "graph/Types.h"

#include <cmath>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

using Scaled = std::optional<ScaledSize>;

/// Scales that are followed have no more bits behind the point.
static constexpr int64_t mostDivisor = 1 << 10;

static Scaled scaledNumber(double number) {
  constexpr double most = 1 << 20;
  for (int64_t divisor = 1; divisor <= mostDivisor; divisor *= 2) {
    const double whole = number * static_cast<double>(divisor);
    // NaN is not, either.
    if (!(std::abs(whole) <= most))
      return std::nullopt;
    if (whole == std::floor(whole))
      return ScaledSize{static_cast<int64_t>(whole), divisor};
  }
  return std::nullopt;
}

static Scaled productOf(const Scaled &a, const Scaled &b) {
  if (!a || !b || a->divisor * b->divisor > mostDivisor)
    return std::nullopt;
  const Known size = SizeExpression::productOf(a->size, b->size);
  return size ? Scaled(ScaledSize{*size, a->divisor * b->divisor})
              : std::nullopt;
}

std::vector<Scaled> SizeNamer::scaledOf(Value value) const {
  if (auto found = scaled.find(value); found != scaled.end())
    return found->second;
  std::vector<Scaled> list;
  for (const Known &each : elementsOf(value))
    list.push_back(each ? Scaled(ScaledSize{*each, 1}) : std::nullopt);
  return list;
}

/// \p number, rounded to a whole one as \p op does it.
Known SizeNamer::roundedSize(const ScaledSize &number, Operation *op) {
  if (number.divisor == 1)
    return number.size;
  const Known size =
      isa<stablehlo::CeilOp>(op)
          ? SizeExpression::sumOf(number.size, number.divisor - 1)
          : number.size;
  // What becomes an integer is rounded towards zero.
  return size && isSurelySize(*size) ? table.quotientOf(*size, number.divisor)
                                     : Known();
}

void SizeNamer::followScaled(Operation *op) {
  using namespace stablehlo;
  constexpr int64_t most = 64;
  if (op->getNumResults() != 1)
    return;
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!type || type.getRank() > 1 || !type.hasStaticShape() ||
      type.getNumElements() > most)
    return;
  auto element = dyn_cast<FloatType>(type.getElementType());
  std::vector<Scaled> made;
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    if (auto values = dyn_cast<DenseFPElementsAttr>(constant.getValue()))
      for (const APFloat &value : values.getValues<APFloat>())
        made.push_back(scaledNumber(value.convertToDouble()));
  } else if (isa<ConvertOp, ReshapeOp, FloorOp, CeilOp>(op)) {
    made = scaledOf(op->getOperand(0));
    const bool rounds = isa<FloorOp, CeilOp>(op) || !element;
    for (Scaled &each : made) {
      const Known whole = each && rounds ? roundedSize(*each, op) : Known();
      if (rounds)
        each = whole ? Scaled(ScaledSize{*whole, 1}) : std::nullopt;
    }
  } else if (isa<MulOp>(op)) {
    const std::vector<Scaled> a = scaledOf(op->getOperand(0)),
                              b = scaledOf(op->getOperand(1));
    for (auto [left, right] : llvm::zip(a, b))
      made.push_back(productOf(left, right));
  }
  if (static_cast<int64_t>(made.size()) != type.getNumElements())
    return;
  if (element) {
    // For sizes that these floats do not hold there is another program; f64
    // holds all that there are.
    constexpr unsigned bitsOfSizes = 46;
    const unsigned bits = element.getFPMantissaWidth();
    for (const Scaled &each : made)
      if (const Known left = each && !each->size.number() && bits < bitsOfSizes
                                 ? differenceOf(int64_t(1) << bits, each->size)
                                 : Known())
        expectPositive(*left);
    scaled[op->getResult(0)] = std::move(made);
    return;
  }
  std::vector<Known> sizes;
  for (const Scaled &each : made)
    sizes.push_back(each ? Known(each->size) : std::nullopt);
  if (isa<IntegerType>(type.getElementType()))
    elements[op->getResult(0)] = std::move(sizes);
}
