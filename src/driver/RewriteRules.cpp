// rewrite-rules: prints docs/rewrites.md from the tables of patterns.

#include "passes/AlgebraRules.h"
#include "passes/MoveTransposes.h"
#include "passes/RaiseAttention.h"
#include "passes/RaiseIdioms.h"
#include "passes/ResolveShapes.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"

using namespace sinter;

namespace {

struct Table {
  const char *title;
  llvm::ArrayRef<Rule> rules;
};

void printRow(llvm::raw_ostream &os, llvm::StringRef label,
              llvm::StringRef picture, unsigned needs, bool isForm) {
  os << "| " << label << " | `";
  for (char letter : picture)
    os << (letter == '|' ? "\\|" : std::string(1, letter));
  os << "` | " << toString(static_cast<Allowance>(needs))
     << (isForm ? " | yes |\n" : " | |\n");
}

void printHead(llvm::raw_ostream &os, llvm::StringRef title) {
  os << "\n## " << title
     << "\n\n| label | rewrite | needs `--allow=` | form |\n"
        "|---|---|---|---|\n";
}

} // namespace

int main() {
  llvm::raw_ostream &os = llvm::outs();
  os << "# Rewrites\n\n"
        "Made by `build/bin/rewrite-rules`; do not edit. What `sinter "
        "optimize` "
        "may do to a graph, by label: each can be\nswitched off "
        "(`--disable-patterns`), and one that needs something allowed on "
        "(`--enable-patterns`). In those written\nas algebra, `c` and `d` are "
        "constants, `v` is none, and `op!` is read by nothing else. How they "
        "are run is told in [architecture.md](architecture.md#passes). A form "
        "saves nothing by itself, but is what other\nrules and our kernels "
        "look "
        "for: it applies in what is compiled, and where a file is written "
        "not to the nodes that came from it.\n";
  const Table tables[] = {
      {"Arithmetic and functions", elementwiseRules()},
      {"Truth, bits, comparisons, choices", logicRules()},
      {"Conversions and complex numbers", conversionRules()},
      {"Transposes, reshapes, broadcasts, slices, joins, padding",
       movementRules()},
      {"The same of repeated, padded and joined tensors", rearrangementRules()},
      {"Places known when run, gather, scatter, iota", indexingRules()},
      {"Reductions, sorts, windows, products", reductionRules()},
      {"Branches and loops", controlRules()},
      {"Recurrent layers", recurrentRules()},
      {"Tuples, deprecated and dynamic operations", modernRules()},
      {"Sizes that are not known", dynamicRules()},
      {"Shapes", shapeRules()},
      {"Transposes and reshapes on the move", moveTransposesRules()},
      {"Idioms, when compiling", raiseIdiomsRules()},
      {"Attention, when compiling", raiseAttentionRules()},
  };
  llvm::StringSet<> inTables;
  for (const Table &table : tables) {
    printHead(os, table.title);
    for (const Rule &rule : table.rules) {
      inTables.insert(rule.label);
      printRow(os, rule.label, rule.picture, rule.needs, rule.isForm);
    }
  }
  printHead(os, "Passes of their own");
  for (const PatternInfo &info : allPatterns())
    if (!inTables.contains(info.label))
      printRow(os, info.label, info.picture, info.needs, info.isForm);
  return 0;
}
