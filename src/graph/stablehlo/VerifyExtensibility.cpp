// Constraints and effects of calls.

#include "graph/stablehlo/Verify.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace sinter::stablehlo {

LogicalResult CompositeOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto name = getDecompositionAttr();
  auto function = symbols.lookupNearestSymbolFrom<func::FuncOp>(*this, name);
  if (!function)
    return emitOpError("(C2) there is no function ") << name;
  if (!compatibleTypes(function.getArgumentTypes(), getOperandTypes()))
    return emitOpError("(C3) the operands' types are not those of ") << name;
  if (!compatibleTypes(function.getResultTypes(), getResultTypes()))
    return emitOpError("(C4) the results' types are not those of ") << name;
  return success();
}

void CustomCallOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  // What a call without results is for can only be an effect.
  if (!getHasSideEffect() && getNumResults())
    return;
  effects.emplace_back(MemoryEffects::Allocate::get());
  effects.emplace_back(MemoryEffects::Free::get());
  effects.emplace_back(MemoryEffects::Write::get());
  effects.emplace_back(MemoryEffects::Read::get());
}

LogicalResult CustomCallOp::verify() { return success(); }

} // namespace sinter::stablehlo
