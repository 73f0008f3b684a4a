//===- CpuDialect.cpp - the CPU backend's own operations ------------------===//

#include "backend/cpu/ir/CpuOps.h"

using namespace mlir;
using namespace sinter::cpu;

#include "backend/cpu/ir/CpuDialect.cpp.inc"

#define GET_OP_CLASSES
#include "backend/cpu/ir/CpuOps.cpp.inc"

void CpuDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "backend/cpu/ir/CpuOps.cpp.inc"
      >();
}

void HostCallOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  if (!getPure())
    effects.emplace_back(MemoryEffects::Write::get());
}

/// Whether \p inner is \p outer, perhaps in another shape.
static bool isSameMemory(Type outer, Type inner) {
  auto a = cast<RankedTensorType>(outer), b = cast<RankedTensorType>(inner);
  return a.hasStaticShape() && b.hasStaticShape() &&
         a.getElementType() == b.getElementType() &&
         a.getNumElements() == b.getNumElements();
}

LogicalResult KernelOp::verify() {
  Block &block = getBody().front();
  Operation *yield = block.getTerminator();
  if (!isa<YieldOp>(yield))
    return emitOpError("must end with cpu.yield");
  if (block.getNumArguments() != getInputs().size() ||
      yield->getNumOperands() != getNumResults())
    return emitOpError("has ")
           << getInputs().size() << " inputs and " << getNumResults()
           << " results, and its region others";
  for (auto [input, argument] : llvm::zip(getInputs(), block.getArguments()))
    if (!isSameMemory(input.getType(), argument.getType()))
      return emitOpError("sees input ")
             << input.getType() << " as " << argument.getType();
  for (auto [result, value] : llvm::zip(getResults(), yield->getOperands()))
    if (!isSameMemory(result.getType(), value.getType()))
      return emitOpError("yields ")
             << value.getType() << " as " << result.getType();
  return success();
}
