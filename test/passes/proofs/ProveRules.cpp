// prove-rules [--seconds N] [--share K/N] [--chains N] [--update] [RESULTS]:
// proves every identity of the tables of rules, and the rules that move
// elements, and prints a line for each:
//
//   label | text | what was proved
//
// With RESULTS, a file of such lines, it proves again what stands there and
// fails where anything else comes out. What was undecided there is not tried
// again, since it takes all its time. With --share it takes every Nth of the
// identities that the file knows, from the one at K on, and all others. With
// --update it proves the identities that the file does not know, and the rules
// that move elements, and writes the file anew.
//
// Covers: passes Identities IdentityText RuleTables

#include "passes/RuleTables.h"
#include "passes/proofs/AffinePassages.h"
#include "passes/proofs/ProveIdentity.h"
#include "passes/proofs/ProveMovement.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <sstream>

using namespace sinter;
using namespace sinter::test;

namespace {

/// The verdicts of a file of results, by what stands before them.
using Results = std::map<std::string, std::string>;

std::string keyOf(const Identity &identity) {
  return identity.label.str() + " | " + identity.text.str() + " | ";
}

std::optional<Results> readResults(const char *path) {
  std::ifstream file(path);
  Results results;
  for (std::string line; std::getline(file, line);)
    if (size_t end = line.rfind(" | "); end != std::string::npos)
      results[line.substr(0, end + 3)] = line.substr(end + 3);
  if (results.empty())
    return std::nullopt;
  return results;
}

/// The types that a verdict calls undecided.
std::set<std::string> undecided(llvm::StringRef verdict) {
  std::set<std::string> types;
  llvm::SmallVector<llvm::StringRef> parts;
  verdict.split(parts, "; ");
  for (llvm::StringRef part : parts)
    if (part.consume_back(" undecided"))
      types.insert(part.str());
  return types;
}

/// The identities of all tables, and of scales and shifts that move.
std::vector<const Identity *> allIdentities() {
  std::vector<const Identity *> all;
  for (llvm::ArrayRef<RewriteRule> table : rulesOf("simplify-algebra"))
    for (const RewriteRule &rule : table)
      if (rule.identity)
        all.push_back(rule.identity);
  for (const Identity &passage : affinePassages)
    all.push_back(&passage);
  return all;
}

/// Prints what came out, and compares it with what is expected.
struct Report {
  std::ostream &out;
  const Results &expected;

  /// Whether what came out is what is expected, if anything is.
  bool operator()(const std::string &key, const std::string &found) const {
    out << key << found << std::endl;
    auto known = expected.find(key);
    std::string before = known == expected.end() ? "nothing" : known->second;
    if (expected.empty() || before == found)
      return true;
    std::cerr << "prove-rules: " << key << found << "; the file says " << before
              << "\n";
    return false;
  }
};

/// Every \p of-th identity, from the one at \p first on, and those that the
/// results do not know.
struct Share {
  size_t first = 0, of = 1;
};

/// \p skipsKnown: takes over the verdicts of \p known without a try.
bool proveIdentities(unsigned seconds, Share share, const Results &known,
                     bool skipsKnown, const Report &report) {
  bool good = true;
  std::set<std::string> keys;
  for (auto [place, identity] : llvm::enumerate(allIdentities())) {
    std::string key = keyOf(*identity);
    if (!keys.insert(key).second) {
      good = false;
      std::cerr << "prove-rules: two rules are " << key << "\n";
    }
    auto verdict = known.find(key);
    const bool isKnown = verdict != known.end();
    if (isKnown && skipsKnown) {
      report(key, verdict->second);
      continue;
    }
    if (isKnown && place % share.of != share.first)
      continue;
    std::set<std::string> hopeless;
    if (isKnown)
      hopeless = undecided(verdict->second);
    auto verdicts = prove(*identity, seconds, hopeless);
    for (const Verdict &verdict : verdicts)
      if (verdict.kind == Verdict::Refuted) {
        good = false;
        std::cerr << "prove-rules: " << key << "does not hold on "
                  << verdict.type << ": " << verdict.why << "\n";
      }
    good &= report(key, summary(verdicts));
  }
  return good;
}

bool proveMovements(unsigned chains, const Report &report) {
  bool good = true;
  for (const auto &[rule, verdict] : proveMovement(chains, /*seed=*/1)) {
    good &= report(rule + " | ", summary(verdict));
    if (!verdict.wrong.empty()) {
      good = false;
      std::cerr << "prove-rules: " << rule << " is wrong here:\n"
                << verdict.wrong << "\n";
    }
  }
  return good;
}

/// What proves everything proves nothing: these must be found out, on every
/// type that they are for.
bool findsWrongRules(unsigned seconds) {
  static constexpr Identity wrong[] = {
      {"wrong", "subtract(x, y) -> subtract(y, x)"},
      {"wrong", "add(x, 0.0) -> x", For::Floats},
      {"wrong", "subtract(x, x) -> 0", For::Floats},
      {"wrong", "maximum(x, negate(x)) -> abs(x)", For::Unsigned},
      {"wrong", "divide(v, c) -> multiply(v, c)", For::Floats, reciprocal},
      {"wrong", "not(compare_LT!(x, y)) -> compare_GE(x, y)", For::Floats},
      {"wrong", "select(compare_GT(x, y), x, y) -> minimum(x, y)",
       For::Integers},
      {"wrong", "shift_right_arithmetic(x, 1) -> shift_right_logical(x, 1)",
       For::Integers},
      {"wrong",
       "multiply(select(compare_GE(x, y), x, y), c) -> "
       "select(compare_GE(multiply(x, c), multiply(y, c)), multiply(x, c), "
       "multiply(y, c))",
       For::Floats, reassociate},
      {"wrong",
       "add(multiply(add(x, y), c), d) -> add(add(multiply(x, c), d), "
       "add(multiply(y, c), d))",
       For::Floats, reassociate}};
  bool good = true;
  for (const Identity &identity : wrong)
    for (const Verdict &verdict : prove(identity, seconds))
      if (verdict.kind != Verdict::Refuted) {
        good = false;
        std::cerr << "prove-rules: the wrong rule " << identity.text.str()
                  << " was not found out on " << verdict.type << "\n";
      }
  return good;
}

int usage() {
  std::cerr << "usage: prove-rules [--seconds N] [--share K/N] [--chains N] "
               "[--update] [RESULTS]\n";
  return 2;
}

} // namespace

int main(int argc, char **argv) {
  unsigned seconds = 60, chains = 6000;
  Share share;
  bool isUpdate = false;
  const char *path = nullptr;
  for (int i = 1; i < argc; ++i) {
    const llvm::StringRef option = argv[i];
    if (option == "--update") {
      isUpdate = true;
    } else if (!option.starts_with("-")) {
      path = argv[i];
    } else if (++i == argc) {
      return usage();
    } else if (option == "--share") {
      auto [first, of] = llvm::StringRef(argv[i]).split('/');
      if (first.getAsInteger(10, share.first) ||
          of.getAsInteger(10, share.of) || share.first >= share.of)
        return usage();
    } else if (option != "--seconds" && option != "--chains") {
      return usage();
    } else if (llvm::StringRef(argv[i]).getAsInteger(
                   10, option == "--seconds" ? seconds : chains)) {
      return usage();
    }
  }
  if (isUpdate && !path)
    return usage();
  std::optional<Results> known = path ? readResults(path) : Results();
  if (!known) {
    std::cerr << "prove-rules: no results in " << path << "\n";
    return 2;
  }
  std::ostringstream text;
  const Results expected = isUpdate ? Results() : *known;
  const Report report{isUpdate ? text : std::cout, expected};
  bool good = findsWrongRules(seconds);
  good &= proveIdentities(seconds, share, *known, isUpdate, report);
  good &= proveMovements(chains, report);
  if (!good)
    return 1;
  if (isUpdate && !(std::ofstream(path) << text.str() << std::flush)) {
    std::cerr << "prove-rules: cannot write " << path << "\n";
    return 1;
  }
  return 0;
}
