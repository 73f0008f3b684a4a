#include "formats/stablehlo/UnrankedTypes.h"

#include "graph/stablehlo/StablehloOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace sinter {

/// Sets the type of \p value to \p type if it is unranked; returns whether it
/// has changed.
static bool rank(Value value, Type type) {
  if (!isa<UnrankedTensorType>(value.getType()) ||
      !isa<RankedTensorType>(type) ||
      getElementTypeOrSelf(type) != getElementTypeOrSelf(value.getType()))
    return false;
  value.setType(type);
  return true;
}

/// Propagates the types of returned values to functions, and from functions to
/// calls.
static bool rankFunctions(ModuleOp module) {
  bool changed = false;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isExternal() || !function.getBody().hasOneBlock())
      continue;
    auto end = dyn_cast<func::ReturnOp>(function.front().back());
    SmallVector<Type> types(function.getResultTypes());
    if (!end || end.getNumOperands() != types.size())
      continue;
    bool changes = false;
    for (auto [type, given] : llvm::zip_equal(types, end.getOperandTypes()))
      if (isa<UnrankedTensorType>(type) && isa<RankedTensorType>(given)) {
        type = given;
        changes = true;
      }
    if (changes)
      function.setFunctionType(FunctionType::get(
          module.getContext(), function.getArgumentTypes(), types));
  }
  module.walk([&](func::CallOp call) {
    auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee());
    if (!callee || callee.getNumResults() != call.getNumResults())
      return;
    for (auto [result, type] :
         llvm::zip_equal(call.getResults(), callee.getResultTypes()))
      changed |= rank(result, type);
  });
  return changed;
}

static bool isWrapper(stablehlo::CustomCallOp call) {
  return call.getCallTargetName() ==
             "stablehlo.shape_refinement_operand_wrapper" &&
         call->getNumOperands() > 0 && call->getNumResults() == 1;
}

LogicalResult rankWrappers(ModuleOp module) {
  SmallVector<stablehlo::CustomCallOp> wrappers;
  module.walk([&](stablehlo::CustomCallOp call) {
    if (isWrapper(call) &&
        isa<UnrankedTensorType>(call->getResult(0).getType()))
      wrappers.push_back(call);
  });
  // The result of a call may be the operand of another wrapper: each iteration
  // ranks at least one more, so there are at most as many as wrappers.
  for (bool changed = !wrappers.empty(); changed;) {
    changed = false;
    for (stablehlo::CustomCallOp call : wrappers) {
      const Type from = call->getOperand(0).getType();
      const Value result = call->getResult(0);
      if (getElementTypeOrSelf(from) != getElementTypeOrSelf(result.getType()))
        return call.emitOpError("gives ")
               << result.getType() << " where it takes " << from;
      changed |= rank(result, from);
    }
    changed |= rankFunctions(module);
  }
  return success();
}

} // namespace sinter
