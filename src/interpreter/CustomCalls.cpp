#include "interpreter/CustomCalls.h"

#include "graph/Types.h"
#include "graph/chlo/KnownCalls.h"
#include "graph/stablehlo/StablehloOps.h"
#include "interpreter/Evaluation.h"
#include "mlir/IR/BuiltinTypes.h"
#include "runtime/HostFunctions.h"

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

/// Evaluates by a runtime function that compiled programs call, too.
static Result<Tensors> evaluateByHost(const Call &call,
                                      const HostFunction &function) {
  Tensors results;
  for (mlir::Type type : call.op->getResultTypes()) {
    auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type);
    auto element = tensor ? elementTypeOf(tensor.getElementType())
                          : std::optional<ElementType>();
    if (!element || !tensor.hasStaticShape())
      return unsupported("gives something else than tensors of known shapes");
    if (Result<void> ok = checkSize(*element, toShape(tensor.getShape())); !ok)
      return ok.takeError();
    results.emplace_back(*element, toShape(tensor.getShape()));
  }
  RandomStream random;
  const std::string configuration = hostConfiguration(call.op);
  if (Result<void> done =
          function({configuration, call.operands, results, random});
      !done)
    return done.takeError();
  return results;
}

static Result<Tensors> evaluateCustomCall(const Call &call) {
  const llvm::StringRef target = targetOf(call.op);
  if (Evaluator evaluator = CustomCalls::get().find(target))
    return evaluator(call);
  // Our own targets assume what their operations verify.
  const HostFunction *function =
      target.starts_with("sinter.")
          ? nullptr
          : findHostFunction({target.data(), target.size()});
  if (function)
    return evaluateByHost(call, *function);
  return unsupported("the target '" + target.str() + "' is unknown");
}

void registerCustomCalls(Registry &registry) {
  registry.add<stablehlo::CustomCallOp>(evaluateCustomCall);
}

} // namespace sinter::interpreter
