//===- Scans.cpp - windows that are running sums --------------------------===//

#include "backend/cpu/ir/Scans.h"

#include "graph/Types.h"

using namespace mlir;
using namespace sinter;

bool cpu::ignoresPadding(stablehlo::ReduceWindowOp op) {
  std::optional<StringRef> name = stablehlo::soleOperation(op.getBody());
  if (!name || op.getInputs().size() != 1)
    return false;
  // Twice is as good as once, and the start has it.
  if (*name == stablehlo::MaxOp::getOperationName() ||
      *name == stablehlo::MinOp::getOperationName() ||
      *name == stablehlo::AndOp::getOperationName() ||
      *name == stablehlo::OrOp::getOperationName())
    return true;
  auto constant = op.getInitValues()[0].getDefiningOp<stablehlo::ConstantOp>();
  auto start = constant ? dyn_cast<DenseElementsAttr>(constant.getValue())
                        : DenseElementsAttr();
  if (!start || !start.isSplat() || isa<ComplexType>(start.getElementType()))
    return false;
  const bool isSum = *name == stablehlo::AddOp::getOperationName() ||
                     *name == stablehlo::XorOp::getOperationName();
  if (!isSum && *name != stablehlo::MulOp::getOperationName())
    return false;
  auto value = start.getSplatValue<Attribute>();
  if (auto number = dyn_cast<FloatAttr>(value))
    return isSum ? number.getValue().isZero()
                 : number.getValue().isExactlyValue(1.0);
  auto integer = dyn_cast<IntegerAttr>(value);
  return integer &&
         (isSum ? integer.getValue().isZero() : integer.getValue().isOne());
}

std::optional<stablehlo::Scan> cpu::scanOf(stablehlo::ReduceWindowOp op) {
  return ignoresPadding(op)
             ? stablehlo::scanOf(dimsOf(op.getInputs()[0]), op.getWindow())
             : std::nullopt;
}
