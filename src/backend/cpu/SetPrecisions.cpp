//===- SetPrecisions.cpp - every product says how exactly it is computed --===//

#include "backend/cpu/SetPrecisions.h"

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
           nn::AttentionOp, ConvolutionOp, NarrowProductOp, AttentionOp,
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

/// Of whose numbers \p value is, as far as moves and conversions tell.
static Type numbersIn(Value value) {
  const Type own = getElementTypeOrSelf(value.getType());
  while (Operation *made = value.getDefiningOp()) {
    // Channels that fill a block up are zeros of any type.
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
  // Bytes may have been wider integers on the way.
  auto before =
      convert.getOperand().getDefiningOp<sinter::stablehlo::ConvertOp>();
  if (before && from.isSignlessInteger() && from.getIntOrFloatBitWidth() > 8)
    from = tensorOf(before.getOperand()).getElementType();
  return from.isF16() || from.isBF16() || from.isInteger(8) ? from : own;
}

void cpu::sayWhichNumbers(func::FuncOp function) {
  function.walk([&](Operation *op) {
    if (!multipliesFloats(op))
      return;
    const unsigned factors = isa<nn::AttentionOp, AttentionOp>(op) ? 3 : 2;
    SmallVector<Attribute> all;
    bool areOwn = true;
    for (Value operand : op->getOperands().take_front(factors)) {
      const Type numbers = numbersIn(operand);
      areOwn &= numbers == getElementTypeOrSelf(operand.getType());
      all.push_back(TypeAttr::get(numbers));
    }
    if (!areOwn)
      op->setDiscardableAttr(numbersAttribute,
                             ArrayAttr::get(op->getContext(), all));
  });
}

std::optional<ElementType> cpu::numbersOf(Operation *op, size_t index) {
  Value operand = op->getOperand(unsigned(index));
  Type numbers = numbersIn(operand);
  if (auto types = op->getAttrOfType<ArrayAttr>(numbersAttribute)) {
    auto said =
        index < types.size() ? dyn_cast<TypeAttr>(types[index]) : TypeAttr();
    numbers = said ? said.getValue() : numbers;
  }
  if (numbers == getElementTypeOrSelf(operand.getType()))
    return std::nullopt;
  return elementTypeOf(numbers);
}
