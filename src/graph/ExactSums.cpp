//===- ExactSums.cpp - types that hold sums of integers -------------------===//

#include "graph/ExactSums.h"

#include "graph/stablehlo/StablehloOps.h"
#include "llvm/ADT/SmallBitVector.h"

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
  // A range is computed in doubles: where they are rounded, it takes some less
  // to be sure.
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

/// The product of the sizes of \p type's dimensions in \p dims.
static std::optional<double> sizeAlong(RankedTensorType type,
                                       const llvm::SmallBitVector &dims) {
  double size = 1;
  for (unsigned dim : dims.set_bits()) {
    if (type.isDynamicDim(dim))
      return std::nullopt;
    size *= double(type.getDimSize(dim));
  }
  return size;
}

std::optional<double> sinter::productsPerSum(Operation *op) {
  using namespace stablehlo;
  auto type = cast<RankedTensorType>(op->getOperands().back().getType());
  llvm::SmallBitVector isSummed(type.getRank());
  if (auto dot = dyn_cast<DotGeneralOp>(op)) {
    for (int64_t dim :
         dot.getDotDimensionNumbers().getRhsContractingDimensions())
      isSummed.set(dim);
    return sizeAlong(type, isSummed);
  }
  if (isa<DotOp>(op))
    return sizeAlong(type, isSummed.set(0));
  if (auto convolution = dyn_cast<ConvolutionOp>(op)) {
    isSummed.set().reset(
        convolution.getDimensionNumbers().getKernelOutputFeatureDimension());
    return sizeAlong(type, isSummed);
  }
  double most = 1;
  for (Type each : op->getOperandTypes()) {
    auto operand = cast<RankedTensorType>(each);
    std::optional<double> size =
        sizeAlong(operand, llvm::SmallBitVector(operand.getRank(), /*t=*/true));
    if (!size)
      return std::nullopt;
    most *= std::max(*size, 1.0);
  }
  return most;
}
