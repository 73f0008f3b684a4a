#include "graph/stablehlo/ElementOrder.h"

#include "graph/Types.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace sinter::stablehlo {

Type comparedType(CompareOp op) {
  Type element = tensorOf(op.getLhs()).getElementType();
  auto integer = dyn_cast<IntegerType>(element);
  if (op.getCompareType() != ComparisonType::UNSIGNED || !integer ||
      integer.getWidth() == 1)
    return element;
  return IntegerType::get(op.getContext(), integer.getWidth(),
                          IntegerType::Unsigned);
}

bool comparesOtherwise(CompareOp op) {
  return comparedType(op) != tensorOf(op.getLhs()).getElementType();
}

bool convertsIndex(Operation &op) {
  const Type from = getElementTypeOrSelf(op.getOperand(0).getType());
  const Type to = getElementTypeOrSelf(op.getResult(0).getType());
  auto fits = [](Type one, Type other) {
    return !one.isIndex() || other.isIndex() || other.isSignlessInteger();
  };
  return fits(from, to) && fits(to, from);
}

} // namespace sinter::stablehlo
