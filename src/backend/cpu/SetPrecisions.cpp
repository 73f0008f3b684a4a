//===- SetPrecisions.cpp - every product says how exactly it is computed --===//

#include "backend/cpu/SetPrecisions.h"

#include "backend/cpu/ir/CpuOps.h"
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

void cpu::sayWhichNumbers(func::FuncOp function) {
  function.walk([&](Operation *op) {
    if (!multipliesFloats(op))
      return;
    Value activations = op->getOperand(0);
    while (Operation *made = activations.getDefiningOp()) {
      if (!isa<sinter::stablehlo::ReshapeOp, sinter::stablehlo::TransposeOp,
               PackOp>(made))
        break;
      activations = made->getOperand(0);
    }
    auto convert = activations.getDefiningOp<sinter::stablehlo::ConvertOp>();
    if (!convert)
      return;
    const Type from = tensorOf(convert.getOperand()).getElementType();
    if (from.isF16() || from.isBF16())
      op->setDiscardableAttr(numbersAttribute, TypeAttr::get(from));
  });
}

std::optional<ElementType> cpu::numbersOf(Operation *op) {
  auto type = op->getAttrOfType<TypeAttr>(numbersAttribute);
  return type ? elementTypeOf(type.getValue()) : std::nullopt;
}
