// rescale-rules: prints docs/rescales.md from what operations say of rescales.

#include "backend/cpu/Registration.h"
#include "graph/Model.h"
#include "graph/interfaces/Rescale.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace sinter;

int main(int argc, char **) {
  if (argc != 1) {
    llvm::errs() << "usage: rescale-rules\n";
    return 2;
  }
  auto context = makeContext();
  cpu::loadCpuDialect(context.get());
  llvm::raw_ostream &os = llvm::outs();
  os << "# Rescale rules\n\n"
        "Made by `build/bin/rescale-rules`; do not edit. What a rescale of a "
        "quantised tensor may do around each operation, as it says itself "
        "(`RescaleOpInterface`,\n`graph/interfaces/Rescale.h`); what "
        "`move-rescales` makes of it stands in `passes/MoveRescales.h`, its "
        "patterns in [rewrites.md](rewrites.md). An operation that is not "
        "here\nlets none pass.\n\n"
        "A rescale of the operands of a *way* is as good as one of the "
        "result, if what is said of the *ranges* holds: *any* rescale keeps "
        "the order of numbers, and is exact;\nwhat takes zero to zero every "
        "rescale does, so that this is exact, too. What *takes up* rescales "
        "computes with real numbers of any scale, or rounds them to any: a "
        "rescale in\nfront of it, or behind it, vanishes into its types where "
        "it cuts nothing and `--allow=requantize` is given; behind it, where "
        "it cuts something, it becomes a clamp.\n\n"
        "| operation | operands of a way | ranges | takes up those of "
        "operands | of the result |\n|---|---|---|---|---|\n";
  auto names = llvm::to_vector(context->getRegisteredOperations());
  llvm::sort(names, [](RegisteredOperationName a, RegisteredOperationName b) {
    return a.getStringRef() < b.getStringRef();
  });
  for (RegisteredOperationName name : names) {
    auto *rescales = name.getInterface<RescaleOpInterface>();
    if (!rescales)
      continue;
    const RescaleSummary summary = rescales->summarizeRescales();
    os << "| `" << name.getStringRef() << "` | " << summary.ways << " | "
       << summary.ranges << " | " << (summary.absorbsOfOperands ? "yes" : "")
       << " | " << (summary.absorbsOfResult ? "yes" : "") << " |\n";
  }
  return 0;
}
