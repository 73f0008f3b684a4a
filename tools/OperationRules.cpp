// operation-rules: prints docs/rescales.md, or docs/affine-flow.md's table,
// from what operations say of rescales, of scales and of shifts.

#include "backend/cpu/pipeline/Registration.h"
#include "graph/Model.h"
#include "graph/interfaces/AffineFlow.h"
#include "graph/interfaces/Rescale.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace sinter;

/// Calls \p print with each operation that has \p Interface, by name.
template <typename Interface>
static void forEach(
    MLIRContext &context,
    llvm::function_ref<void(StringRef, typename Interface::Concept &)> print) {
  auto names = llvm::to_vector(context.getRegisteredOperations());
  llvm::sort(names, [](RegisteredOperationName a, RegisteredOperationName b) {
    return a.getStringRef() < b.getStringRef();
  });
  for (RegisteredOperationName name : names)
    if (auto *model = name.getInterface<Interface>())
      print(name.getStringRef(), *model);
}

static void printRescales(MLIRContext &context, llvm::raw_ostream &os) {
  os << "# Rescale rules\n\n"
        "Made by `build/bin/operation-rules rescales`; do not edit. What a "
        "rescale of a "
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
  forEach<RescaleOpInterface>(context, [&](StringRef name, auto &model) {
    const RescaleSummary summary = model.summarizeRescales();
    os << "| `" << name << "` | " << summary.ways << " | " << summary.ranges
       << " | " << (summary.absorbsOfOperands ? "yes" : "") << " | "
       << (summary.absorbsOfResult ? "yes" : "") << " |\n";
  });
}

static void printAffineFlow(MLIRContext &context, llvm::raw_ostream &os) {
  os << "# How scales and shifts pass operations\n\n"
        "Made by `build/bin/operation-rules affine-flow`; do not edit. A batch "
        "norm is a scale and a shift for each channel, y = s x + t. What each "
        "operation lets pass,\nfrom its result to the operands of a *way* or "
        "from one operand to the result, it says itself "
        "(`AffineFlowOpInterface`, `graph/interfaces/AffineFlow.h`); what "
        "`move-affine`\nmakes of it stands in `passes/MoveAffine.h` and on the "
        "page [folding.md](folding.md). An operation that is not here lets "
        "none pass.\n\n"
        "| operation | operands of a way | scales | shifts |\n"
        "|---|---|---|---|\n";
  forEach<AffineFlowOpInterface>(context, [&](StringRef name, auto &model) {
    const AffineFlowSummary summary = model.summarizeAffineFlow();
    os << "| `" << name << "` | " << summary.operands << " | " << summary.scale
       << " | " << summary.shift << " |\n";
  });
}

int main(int argc, char **argv) {
  const StringRef page = argc == 2 ? argv[1] : "";
  if (page != "rescales" && page != "affine-flow") {
    llvm::errs() << "usage: operation-rules rescales|affine-flow\n";
    return 2;
  }
  auto context = makeContext();
  cpu::loadCpuDialect(context.get());
  if (page == "rescales")
    printRescales(*context, llvm::outs());
  else
    printAffineFlow(*context, llvm::outs());
  return 0;
}
