#include "graph/stablehlo/Combination.h"

#include "graph/Constants.h"
#include "graph/Types.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>

using namespace mlir;

namespace sinter::stablehlo {

std::optional<Combination> combinationOf(Region &body, Type element) {
  using Found = std::optional<Combination>;
  auto name = soleOperation(body);
  if (!name || isa<ComplexType>(element))
    return std::nullopt;
  if (element.isInteger(1))
    return llvm::StringSwitch<Found>(*name)
        .Cases("stablehlo.add", "stablehlo.maximum", "stablehlo.or",
               Combination::Any)
        .Cases("stablehlo.multiply", "stablehlo.minimum", "stablehlo.and",
               Combination::All)
        .Default(std::nullopt);
  return llvm::StringSwitch<Found>(*name)
      .Case("stablehlo.add", Combination::Sum)
      .Case("stablehlo.multiply", Combination::Product)
      .Case("stablehlo.maximum", Combination::Max)
      .Case("stablehlo.minimum", Combination::Min)
      .Default(std::nullopt);
}

bool isNeutral(Value value, StringRef operation) {
  while (auto reshape = value.getDefiningOp<ReshapeOp>())
    value = reshape.getOperand();
  auto tensor = constantTensor(value);
  if (!tensor || tensor->size() != 1)
    return false;
  const bool adds = operation == AddOp::getOperationName(),
             multiplies = operation == MulOp::getOperationName(),
             isMax = operation == MaxOp::getOperationName(),
             isMin = operation == MinOp::getOperationName();
  if (isFloat(tensor->type())) {
    const double number = tensor->toDouble(0);
    return (adds && number == 0) || (multiplies && number == 1) ||
           ((isMax || isMin) && std::isinf(number) && (number < 0) == isMax);
  }
  auto type = dyn_cast<IntegerType>(tensorOf(value).getElementType());
  if (!type)
    return false;
  const llvm::APInt number(type.getWidth(),
                           static_cast<uint64_t>(tensor->toInteger(0)),
                           /*isSigned=*/true);
  const bool isUnsigned = type.isUnsigned() || type.getWidth() == 1;
  if (adds || operation == OrOp::getOperationName() ||
      operation == XorOp::getOperationName())
    return number.isZero();
  if (multiplies)
    return number.isOne();
  if (operation == AndOp::getOperationName())
    return number.isAllOnes();
  if (isMax)
    return isUnsigned ? number.isZero() : number.isMinSignedValue();
  return isMin && (isUnsigned ? number.isAllOnes() : number.isMaxSignedValue());
}

static StringRef operationOf(Combination combination) {
  switch (combination) {
  case Combination::Sum:
    return AddOp::getOperationName();
  case Combination::Product:
    return MulOp::getOperationName();
  case Combination::Max:
    return MaxOp::getOperationName();
  case Combination::Min:
    return MinOp::getOperationName();
  case Combination::Any:
    return OrOp::getOperationName();
  case Combination::All:
    return AndOp::getOperationName();
  }
  llvm_unreachable("a combination without an operation");
}

bool isNeutral(Value value, Combination combination) {
  return isNeutral(value, operationOf(combination));
}

} // namespace sinter::stablehlo
