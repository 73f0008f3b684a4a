#include "interpreter/CustomCalls.h"

namespace sinter::interpreter {

CustomCalls::CustomCalls() {
  for (const char *target : {"check.eq", "check.expect_eq",
                             "check.expect_almost_eq", "check.expect_close"})
    evaluators[target] = evaluateCheck;
  addKnownCalls(evaluators);
}

const CustomCalls &CustomCalls::get() {
  static const CustomCalls calls;
  return calls;
}

llvm::StringRef targetOf(mlir::Operation *op) {
  if (op->getName().getStringRef() != "stablehlo.custom_call")
    return {};
  auto target = op->getAttrOfType<mlir::StringAttr>("call_target_name");
  return target ? target.getValue() : llvm::StringRef();
}

static Result<Tensors> evaluateCustomCall(const Call &call) {
  const llvm::StringRef target = targetOf(call.op);
  if (Evaluator evaluator = CustomCalls::get().find(target))
    return evaluator(call);
  return unsupported("nobody knows the target '" + target.str() + "'");
}

void registerCustomCalls(Registry &registry) {
  registry.addMoving("stablehlo.custom_call", evaluateCustomCall);
}

} // namespace sinter::interpreter
