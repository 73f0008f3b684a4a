//===- SetPrecisions.cpp - set the precision of matmuls and convolutions --===//

#include "backend/cpu/precision/SetPrecisions.h"

#include "backend/cpu/ir/CpuOps.h"
#include "graph/Constants.h"
#include "graph/ProductPrecision.h"
#include "graph/Types.h"
#include "graph/nn/NnOps.h"
#include "graph/stablehlo/StablehloOps.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

bool cpu::multipliesFloats(Operation *op) {
  if (!isa<sinter::stablehlo::DotGeneralOp, sinter::stablehlo::ConvolutionOp,
           nn::AttentionOp, ConvolutionOp, LowBitProductOp, AttentionOp,
           WeightGradientOp, DepthwiseGradientOp>(op))
    return false;
  return isa<FloatType>(getElementTypeOrSelf(op->getResult(0).getType()));
}

void cpu::setPrecisions(func::FuncOp function, Precision wanted) {
  function.walk([&](Operation *op) {
    if (!multipliesFloats(op))
      return;
    const Precision precision = askedPrecision(op).value_or(wanted);
    if (precision != Precision::Default || wanted != Precision::Default)
      setPrecision(op, precision);
  });
}

/// The narrowest element type that holds the elements of \p value, looking
/// through moves and conversions.
static Type narrowestTypeOf(Value value) {
  const Type own = getElementTypeOrSelf(value.getType());
  while (Operation *made = value.getDefiningOp()) {
    // Padding channels are zeros, which every type holds.
    auto pad = dyn_cast<sinter::stablehlo::PadOp>(made);
    if (!isa<sinter::stablehlo::ReshapeOp, sinter::stablehlo::DynamicReshapeOp,
             sinter::stablehlo::TransposeOp, PackOp>(made) &&
        !(pad && isPositiveZero(pad.getPaddingValue())))
      break;
    value = made->getOperand(0);
  }
  auto convert = value.getDefiningOp<sinter::stablehlo::ConvertOp>();
  if (!convert)
    return own;
  Type from = tensorOf(convert.getOperand()).getElementType();
  // int8 values may have been converted to wider integers in between.
  auto before =
      convert.getOperand().getDefiningOp<sinter::stablehlo::ConvertOp>();
  if (before && from.isSignlessInteger() && from.getIntOrFloatBitWidth() > 8)
    from = tensorOf(before.getOperand()).getElementType();
  return from.isF16() || from.isBF16() || from.isInteger(8) ? from : own;
}

void cpu::setOperandTypes(func::FuncOp function) {
  function.walk([&](Operation *op) {
    if (!multipliesFloats(op))
      return;
    const unsigned factors = isa<nn::AttentionOp, AttentionOp>(op) ? 3 : 2;
    SmallVector<Attribute> all;
    bool areOwn = true;
    for (Value operand : op->getOperands().take_front(factors)) {
      const Type numbers = narrowestTypeOf(operand);
      areOwn &= numbers == getElementTypeOrSelf(operand.getType());
      all.push_back(TypeAttr::get(numbers));
    }
    if (!areOwn)
      op->setDiscardableAttr(operandTypesAttribute,
                             ArrayAttr::get(op->getContext(), all));
  });
}

std::optional<ElementType> cpu::operandTypeOf(Operation *op, size_t index) {
  Value operand = op->getOperand(unsigned(index));
  Type numbers = narrowestTypeOf(operand);
  if (auto types = op->getAttrOfType<ArrayAttr>(operandTypesAttribute)) {
    auto said =
        index < types.size() ? dyn_cast<TypeAttr>(types[index]) : TypeAttr();
    numbers = said ? said.getValue() : numbers;
  }
  if (numbers == getElementTypeOrSelf(operand.getType()))
    return std::nullopt;
  return elementTypeOf(numbers);
}
