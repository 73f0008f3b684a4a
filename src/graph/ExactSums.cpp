//===- ExactSums.cpp - types that hold sums of integers -------------------===//

#include "graph/ExactSums.h"

#include "graph/interfaces/Axes.h"

#include <cmath>

using namespace mlir;
using namespace sinter;

double sinter::exactMagnitude(FloatType element) {
  return std::ldexp(1, static_cast<int>(element.getFPMantissaWidth()));
}

bool sinter::holds(Type element, const IntegerRange &range) {
  if (auto real = dyn_cast<FloatType>(element))
    return range.reach() <= exactMagnitude(real);
  IntegerRange all = IntegerRange::ofType(element);
  // A range is computed in doubles; leave a margin for their rounding.
  constexpr unsigned digits = 53, fewRoundings = 3;
  if (cast<IntegerType>(element).getWidth() >= digits) {
    const double surely = 1 - std::ldexp(1, fewRoundings - int(digits));
    all = {all.low * surely, all.high * surely};
  }
  return range.low >= all.low && range.high <= all.high;
}

Type sinter::firstHolding(ArrayRef<Type> types, const IntegerRange &range) {
  const auto *found =
      llvm::find_if(types, [&](Type type) { return holds(type, range); });
  return found == types.end() ? Type() : *found;
}

std::optional<double> sinter::productsPerSum(Operation *op) {
  std::optional<Axes> axes = axesOf(op);
  return axes ? axes->depth() : std::nullopt;
}

IntegerRange sinter::rangeOfSums(Operation *op, const IntegerRange &lhs,
                                 const IntegerRange &rhs) {
  constexpr double tooMany = 0x1p62;
  return IntegerRange::ofSums(lhs, rhs, productsPerSum(op).value_or(tooMany));
}
