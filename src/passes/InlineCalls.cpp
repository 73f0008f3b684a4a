#include "passes/InlineCalls.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;

namespace sinter {

namespace {

class Inliner {
public:
  explicit Inliner(func::FuncOp function)
      : symbols(function->getParentOfType<ModuleOp>()) {
    under.push_back(function);
  }

  Result<void> inlineIn(Operation *root) {
    SmallVector<func::CallOp> calls;
    root->walk([&](func::CallOp call) { calls.push_back(call); });
    for (func::CallOp call : calls)
      if (Result<void> done = replace(call); !done)
        return done;
    return {};
  }

private:
  static constexpr size_t callLimit = 100'000;

  Result<void> replace(func::CallOp call) {
    const std::string name = call.getCallee().str();
    auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
    if (!callee || callee.isExternal())
      return invalidModel("there is no function '" + name + "' to call");
    if (!callee.getBody().hasOneBlock())
      return unsupported("the function '" + name + "' has several blocks");
    if (llvm::is_contained(under, callee))
      return unsupported("the function '" + name + "' calls itself");
    if (++count > callLimit)
      return unsupported("there are more than " + std::to_string(callLimit) +
                         " calls, those in called functions included");
    OpBuilder builder(call);
    IRMapping mapping;
    Block &body = callee.getBody().front();
    mapping.map(body.getArguments(), call.getOperands());
    SmallVector<Operation *> copies;
    for (Operation &op : body.without_terminator())
      copies.push_back(builder.clone(op, mapping));
    for (auto [result, value] : llvm::zip_equal(
             call.getResults(), body.getTerminator()->getOperands()))
      result.replaceAllUsesWith(mapping.lookupOrDefault(value));
    call.erase();
    // Only now: a call among the copies goes away with its results.
    under.push_back(callee);
    for (Operation *copy : copies)
      if (Result<void> done = inlineIn(copy); !done)
        return done;
    under.pop_back();
    return {};
  }

  SymbolTable symbols;
  /// Functions that are being copied.
  SmallVector<func::FuncOp> under;
  size_t count = 0;
};

} // namespace

Result<void> inlineCalls(func::FuncOp function) {
  return Inliner(function).inlineIn(function);
}

} // namespace sinter
