// rewrite-rules RESULTS: prints docs/rewrites.md from the tables of patterns.
// RESULTS is what prove-rules found: "label | text | verdict", a line each.

#include "backend/cpu/pipeline/Passes.h"
#include "passes/RuleTables.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace sinter;

namespace {

/// What was proved, by "label | text".
using Verdicts = llvm::StringMap<std::string>;

std::optional<Verdicts> readVerdicts(const char *path) {
  auto file = llvm::MemoryBuffer::getFile(path);
  if (!file)
    return std::nullopt;
  Verdicts verdicts;
  llvm::SmallVector<llvm::StringRef> lines;
  (*file)->getBuffer().split(lines, '\n');
  for (llvm::StringRef line : lines) {
    auto [rule, verdict] = line.rsplit(" | ");
    verdicts[rule] = verdict.str();
  }
  return verdicts;
}

void printRow(llvm::raw_ostream &os, llvm::StringRef label,
              llvm::StringRef picture, unsigned needs, bool isForm,
              llvm::StringRef verdict) {
  os << "| " << label << " | `";
  for (char letter : picture)
    os << (letter == '|' ? "\\|" : std::string(1, letter));
  os << "` | " << toString(static_cast<Allowance>(needs))
     << (isForm ? " | yes | " : " | | ") << verdict << " |\n";
}

void printHead(llvm::raw_ostream &os, llvm::StringRef title) {
  os << "\n## " << title
     << "\n\n| label | rewrite | needs `--allow=` | form | proof |\n"
        "|---|---|---|---|---|\n";
}

} // namespace

int main(int argc, char **argv) {
  std::optional<Verdicts> verdicts;
  if (argc == 2)
    verdicts = readVerdicts(argv[1]);
  if (!verdicts) {
    llvm::errs() << "usage: rewrite-rules RESULTS (of prove-rules)\n";
    return 2;
  }
  cpu::registerPatternLabels();
  llvm::raw_ostream &os = llvm::outs();
  os << "# Rewrites\n\n"
        "Made by `build/bin/rewrite-rules test/passes/proofs/results.txt`; do "
        "not edit. What `sinter "
        "optimize` "
        "may do to a graph, by label: each can be\nswitched off "
        "(`--disable-patterns`), and one that needs something allowed on "
        "(`--enable-patterns`). In those written\nas algebra, `c` and `d` are "
        "constants, `v` is none, and `op!` is read by nothing else. How they "
        "are run is in [architecture.md](architecture.md#passes). A form "
        "saves nothing by itself, but is what other\nrules and our kernels "
        "look "
        "for: it applies in what is compiled, and where a file is written "
        "not to the nodes that came from it.\n\n"
        "Every rule is tested by value, alone, on functions that it applies "
        "to. A rule that is written as algebra is also handed\nto an SMT "
        "solver (`build/bin/prove-rules`): *proved* names the types for which "
        "no values make the sides differ, under what it\nneeds to be allowed. "
        "Integers of 8 bits are tried out, all of them; those of 32 and 64 "
        "bits are bit-vectors; `f16` and\n`f32` are the theory of IEEE 754, "
        "NaN, infinities and signed zeros included. A rule that rounds "
        "differently (reassociate,\ncontract, reciprocal) is proved for the "
        "real numbers. *Undecided*: not within a minute. Complex numbers are "
        "tested only.\n";
  llvm::StringSet<> inTables;
  for (const RuleTable &table : ruleTables()) {
    printHead(os, table.title);
    for (const RewriteRule &rule : table.rules) {
      inTables.insert(rule.label);
      auto found = verdicts->find((rule.label + " | " + rule.picture).str());
      if (rule.identity && found == verdicts->end()) {
        llvm::errs() << "rewrite-rules: " << argv[1] << " has no line for "
                     << rule.label << "; build/bin/prove-rules --update "
                     << argv[1] << "\n";
        return 1;
      }
      printRow(os, rule.label, rule.picture, rule.needs, rule.isForm,
               found == verdicts->end() ? "tested"
                                        : llvm::StringRef(found->second));
    }
  }
  auto printPasses = [&](const char *title, bool areOfBackend) {
    printHead(os, title);
    for (const PatternInfo &info : allPatterns())
      if (!inTables.contains(info.label) &&
          info.pass.starts_with("cpu-") == areOfBackend)
        printRow(os, info.label, info.picture, info.needs, info.isForm,
                 "tested");
  };
  printPasses("Passes of their own", false);
  printPasses("The CPU backend, when compiling", true);
  return 0;
}
