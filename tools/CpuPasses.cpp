// cpu-passes: prints docs/cpu-backend/passes.md from the CPU backend's table of
// passes.

#include "backend/cpu/pipeline/Passes.h"
#include "llvm/Support/raw_ostream.h"

using namespace sinter;

int main() {
  auto setting = std::make_shared<cpu::PassSetting>();
  // All passes run on programs that compute sizes.
  setting->unknown = cpu::PassSetting::UnknownSizes::Computed;
  llvm::raw_ostream &os = llvm::outs();
  os << "# The pass pipeline\n\n"
        "Made by `build/bin/cpu-passes` from the table in `Passes.cpp`; do not "
        "edit. The passes run in this order:\n\n"
        "| pass | what it does |\n|---|---|\n";
  for (const auto &pass :
       cpu::createPasses(std::make_shared<PatternRun>(), setting))
    os << "| " << pass->getArgument() << " | " << pass->getDescription()
       << " |\n";
  os << R"(
`cpu-outline-dynamic`, `cpu-inline-dynamic` and the `fold-constants` behind it run only if the program computes sizes.
`cpu-fuse-min-max` runs only on graphs whose inputs have known sizes. `move-rescales` runs once more, now that tuples and
barriers are gone.

Each pass is a pass of its own in MLIR's sense. `sinter-opt --cpu-...` runs one, `sinter-opt --cpu` all. A pass that
depends on the machine takes options (`cpu=x86-64-v4`). `--print-ir-after`, `--verify-numerics` and `--disable-patterns`
of the command reach these passes as they reach [those before the backend](../architecture.md#passes). What you may
disable has a label in [rewrites.md](../rewrites.md); without it the code is slower and computes the same.

Operations of the dialect `cpu` have decompositions into the graph's operations (`ir/Decompositions.cpp`), so the
interpreter runs the graph after every pass. Weights packed at run time and runtime calls end the comparison, with a
note.

A row of the table in `Passes.cpp` says whether a pass is right for dynamic shapes. `cpu-outline-dynamic` outlines what has
them for the others ([dynamic shapes](dynamic-shapes.md)).
)";
  return 0;
}
