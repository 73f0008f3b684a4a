#include "passes/InlineCalls.h"

#include "graph/Model.h"
#include "graph/stablehlo/StablehloOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "passes/Pass.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace sinter {

static constexpr StringLiteral inlineCallLabel = "inline-call";

ArrayRef<PatternInfo> inlineCallsPatterns() {
  static const PatternInfo infos[] = {
      {inlineCallLabel, "call @f(x), f(y) = abs(y) -> abs(x)", "inline-calls"}};
  return infos;
}

namespace {

class Inliner {
public:
  Inliner(func::FuncOp function, PatternRun &run)
      : symbols(function->getParentOfType<ModuleOp>()), run(run) {
    under.insert(function);
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
    if (!run.mayStep())
      return {};
    const std::string name = call.getCallee().str();
    auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
    if (!callee || callee.isExternal())
      return invalidModel("there is no function '" + name + "' to call");
    if (!callee.getBody().hasOneBlock())
      return unsupported("the function '" + name + "' has several blocks");
    if (under.contains(callee))
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
             call.getResults(), body.getTerminator()->getOperands())) {
      Value by = mapping.lookupOrDefault(value);
      run.replaced(inlineCallLabel, result, by);
      result.replaceAllUsesWith(by);
    }
    call.erase();
    run.count(inlineCallLabel);
    run.graphIsWhole(inlineCallLabel);
    // Only now: a call among the copies goes away with its results.
    under.insert(callee);
    for (Operation *copy : copies)
      if (Result<void> done = inlineIn(copy); !done)
        return done;
    under.pop_back();
    return {};
  }

  SymbolTable symbols;
  PatternRun &run;
  /// Functions that are being copied.
  SetVector<func::FuncOp> under;
  size_t count = 0;
};

} // namespace

Result<void> inlineCalls(func::FuncOp function) {
  PatternRun run;
  // Composites are replaced by their decompositions later: these must not have
  // calls, either.
  SymbolTable symbols(function->getParentOfType<ModuleOp>());
  SetVector<func::FuncOp> functions;
  functions.insert(function);
  for (size_t i = 0; i < functions.size(); ++i) {
    func::FuncOp next = functions[i];
    if (Result<void> done = Inliner(next, run).inlineIn(next); !done)
      return done;
    next.walk([&](stablehlo::CompositeOp composite) {
      if (auto inner =
              symbols.lookup<func::FuncOp>(composite.getDecomposition());
          inner && !inner.isExternal())
        functions.insert(inner);
    });
  }
  return {};
}

namespace {
struct InlineCalls : LabelledPass<InlineCalls> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(InlineCalls)
  using LabelledPass::LabelledPass;
  StringRef getArgument() const final { return "inline-calls"; }
  StringRef getDescription() const final { return "Inline calls"; }
  void runOnOperation() final {
    if (!patternRun().isEnabled(inlineCallLabel))
      return;
    // A call that cannot be inlined stays one, and so do those behind it.
    for (func::FuncOp function : rootsOf(getOperation()))
      (void)Inliner(function, patternRun()).inlineIn(function);
  }
};
} // namespace

std::unique_ptr<Pass> createInlineCalls(std::shared_ptr<PatternRun> run) {
  return std::make_unique<InlineCalls>(std::move(run));
}

} // namespace sinter
