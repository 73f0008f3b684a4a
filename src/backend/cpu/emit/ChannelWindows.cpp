//===- ChannelWindows.cpp - windows over images with channels last --------===//

#include "backend/cpu/emit/ChannelWindows.h"

#include "backend/cpu/emit/Elemental.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

static bool isReal(Value value) {
  return !isa<ComplexType>(getElementTypeOrSelf(value.getType()));
}

bool ChannelWindows::are(const stablehlo::ConvolutionWindow &windows,
                         ArrayRef<Dim> shape) {
  if (shape.empty() || shape.back() < lanes)
    return false;
  const stablehlo::WindowDimension &last = windows.back();
  return last.size == 1 && last.stride == 1 && last.paddingLow == 0 &&
         last.paddingHigh == 0 && last.baseDilation == 1;
}

bool ChannelWindows::takesVectors(Region &region) {
  return llvm::all_of(region.front().without_terminator(), [](Operation &op) {
    return (isElementwise(&op) || isa<stablehlo::ConstantOp>(op)) &&
           llvm::all_of(op.getOperands(), isReal) &&
           llvm::all_of(op.getResults(), [](Value result) {
             return isReal(result) && dimsOf(result).empty();
           });
  });
}

bool ChannelWindows::areAll(KernelOp kernel) {
  Block &body = kernel.getBody().front();
  ArrayRef<Dim> shape = dimsOf(body.getTerminator()->getOperand(0));
  bool hasWindows = false;
  for (Operation &op : body.without_terminator()) {
    if (!llvm::all_of(op.getOperands(), isReal) ||
        !llvm::all_of(op.getResults(), isReal))
      return false;
    if (auto window = dyn_cast<stablehlo::ReduceWindowOp>(op)) {
      if (dimsOf(op.getResult(0)) != shape || !are(window.getWindow(), shape) ||
          !takesVectors(window.getBody()))
        return false;
      hasWindows = true;
    } else if (!isElementwise(&op) &&
               !isa<stablehlo::ConstantOp, stablehlo::BroadcastInDimOp>(op)) {
      return false;
    }
  }
  return hasWindows;
}
