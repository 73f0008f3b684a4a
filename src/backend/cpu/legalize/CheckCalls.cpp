//===- CheckCalls.cpp - lower checks to runtime calls ---------------------===//

#include "backend/cpu/legalize/CheckCalls.h"

#include "backend/cpu/ir/CpuOps.h"
#include "graph/check/CheckOps.h"

#include <bit>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

/// The configuration that host::expectation parses.
static std::string configurationOf(const check::Check &wanted) {
  const Expectation &expectation = wanted.expectation;
  auto setting = [](const char *key, auto value) {
    return std::string(key) + "=" + std::to_string(int64_t(value)) + ";";
  };
  return setting("kind", expectation.kind) +
         setting("tolerance",
                 std::bit_cast<int64_t>(expectation.tolerance.absolute)) +
         setting("min_ulp", expectation.minUlp) +
         setting("max_ulp", expectation.maxUlp) +
         setting("swapped", wanted.expectedFirst);
}

HostCallOp cpu::callObserver(Operation *op, StringRef suffix) {
  OpBuilder builder(op);
  std::string function, name;
  if (auto probe = dyn_cast<check::ProbeOp>(op)) {
    function = "sinter.probe";
    name = probe.getProbeId();
    probe.getResult().replaceAllUsesWith(probe.getOperand());
  } else if (isa<check::PrintOp>(op)) {
    function = "sinter.print";
    llvm::raw_string_ostream stream(name);
    op->getOperand(0).printAsOperand(stream, OpPrintingFlags());
  } else {
    return {};
  }
  return builder.create<HostCallOp>(op->getLoc(), TypeRange(),
                                    op->getOperands(), function + suffix.str(),
                                    name, /*isPure=*/false);
}

/// The call that replaces \p op, a check, print or probe; null for anything
/// else.
static HostCallOp callFor(Operation *op) {
  OpBuilder builder(op);
  if (HostCallOp call = cpu::callObserver(op))
    return call;
  const std::optional<check::Check> wanted = check::checkOf(op);
  if (!wanted)
    return {};
  SmallVector<Value> operands(op->getOperands());
  if (wanted->constant)
    operands.push_back(
        builder.create<stablehlo::ConstantOp>(op->getLoc(), wanted->constant));
  return builder.create<HostCallOp>(op->getLoc(), op->getResultTypes(),
                                    operands, "sinter.expect",
                                    configurationOf(*wanted),
                                    /*isPure=*/false);
}

void cpu::lowerChecks(func::FuncOp function) {
  function.walk([](Operation *op) {
    if (llvm::any_of(op->getOperandTypes(), [](Type type) {
          return isa<quant::QuantizedType>(getElementTypeOrSelf(type));
        }))
      return;
    if (HostCallOp call = callFor(op)) {
      if (call->getNumResults() > 0)
        op->replaceAllUsesWith(call.getResults());
      op->erase();
    }
  });
}
