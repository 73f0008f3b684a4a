//===- OperationKind.cpp - how an operation is computed -------------------===//

#include "backend/cpu/OperationKind.h"

#include "backend/cpu/emit/KernelBody.h"
#include "backend/cpu/ir/CpuOps.h"
#include "graph/nn/NnOps.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

bool cpu::isAlias(Operation *op) {
  // Elements narrower than a byte do not lie as their bits do.
  auto isByte = [](Type type) {
    return bitWidth(*elementTypeOf(getElementTypeOrSelf(type))) >= 8;
  };
  if (isa<stablehlo::BitcastConvertOp>(op))
    return isByte(op->getOperand(0).getType()) &&
           isByte(op->getResult(0).getType());
  return isa<stablehlo::ReshapeOp>(op);
}

bool cpu::isControlFlow(Operation *op) {
  return isa<stablehlo::IfOp, stablehlo::CaseOp, stablehlo::WhileOp>(op);
}

Kind cpu::kindOf(Operation *op) {
  using namespace stablehlo;
  if (isElementwise(op) || isa<BatchNormInferenceOp, MapOp>(op))
    return Kind::Elementwise;
  if (isAlias(op))
    return Kind::Alias;
  if (isControlFlow(op))
    return Kind::Control;
  if (isa<HostCallOp>(op))
    return Kind::Call;
  if (isa<BroadcastInDimOp, TransposeOp, SliceOp, PadOp, ConcatenateOp,
          ReverseOp, IotaOp, GatherOp, DynamicSliceOp, DynamicUpdateSliceOp,
          BitcastConvertOp>(op))
    return Kind::Movement;
  return llvm::TypeSwitch<Operation *, Kind>(op)
      .Case<ConstantOp, ComputedConstantOp>([](auto) { return Kind::Constant; })
      .Case<ReduceOp>([](auto) { return Kind::Reduction; })
      .Case<ReduceWindowOp>([](ReduceWindowOp window) {
        return scanOf(window) ? Kind::Whole : Kind::Window;
      })
      .Case<DotGeneralOp, stablehlo::ConvolutionOp, cpu::ConvolutionOp, PoolOp,
            cpu::AttentionOp>([](auto) { return Kind::Product; })
      .Case<ScatterOp, SortOp, SelectAndScatterOp>(
          [](auto) { return Kind::Whole; })
      .Default([](Operation *) { return Kind::Unknown; });
}

bool cpu::isCheap(Operation *op) {
  using namespace stablehlo;
  return isa<AbsOp, NegOp, NotOp, AddOp, AndOp, MaxOp, MinOp, MulOp, OrOp,
             SubtractOp, XorOp, ConvertOp, CompareOp, SelectOp, ClampOp,
             ShiftLeftOp, ShiftRightArithmeticOp, ShiftRightLogicalOp,
             BroadcastInDimOp, IotaOp, SliceOp, ReverseOp, TransposeOp,
             ReshapeOp, RealOp, ImagOp>(op);
}

int64_t cpu::sizeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getNumElements();
}

bool cpu::isSplatConstant(Value value) {
  auto constant = value.getDefiningOp<stablehlo::ConstantOp>();
  return constant && isa<SplatElementsAttr>(constant.getValue());
}
