#include "formats/stablehlo/UnrankedTypes.h"

#include "graph/stablehlo/StablehloOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace sinter {

/// Gives \p value the \p type if it has no rank; whether it has changed.
static bool rank(Value value, Type type) {
  if (!isa<UnrankedTensorType>(value.getType()) ||
      !isa<RankedTensorType>(type) ||
      getElementTypeOrSelf(type) != getElementTypeOrSelf(value.getType()))
    return false;
  value.setType(type);
  return true;
}

/// Functions return what their last operation takes, and calls give that.
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
  // What a call gives may be what another mark takes: each turn ranks one more,
  // and a chain of calls is no longer than there are marks.
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
