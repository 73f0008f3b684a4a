// prove-rules [--seconds N] [--share K/N] [--chains N] [RESULTS]: proves every
// identity of the tables of rules, and the rules that move elements, and prints
// a line for each:
//
//   label | text | what was proved
//
// With RESULTS, a file of such lines, it proves again what stands there and
// fails where anything else comes out. What was undecided there is not tried
// again, since it takes all its time. With --share it takes every Nth of the
// identities that the file knows, from the one at K on, and all others.

#include "passes/RuleTables.h"
#include "passes/proofs/ProveIdentity.h"
#include "passes/proofs/ProveMovement.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>

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

/// The identities of all tables, each once.
std::vector<const Identity *> allIdentities() {
  std::vector<const Identity *> all;
  for (llvm::ArrayRef<RewriteRule> table : rulesOf("simplify-algebra"))
    for (const RewriteRule &rule : table)
      if (rule.identity)
        all.push_back(rule.identity);
  return all;
}

/// Prints what came out; whether it is what \p expected says, if that says
/// anything.
bool report(const std::string &key, const std::string &found,
            const Results &expected) {
  std::cout << key << found << std::endl;
  auto known = expected.find(key);
  std::string before = known == expected.end() ? "nothing" : known->second;
  if (expected.empty() || before == found)
    return true;
  std::cerr << "prove-rules: " << key << found << "; the file says " << before
            << "\n";
  return false;
}

/// Every \p of-th identity, from the one at \p first on, and those that the
/// results do not know.
struct Share {
  size_t first = 0, of = 1;
};

bool proveIdentities(unsigned seconds, Share share, const Results &expected) {
  bool good = true;
  for (auto [place, identity] : llvm::enumerate(allIdentities())) {
    std::string key = keyOf(*identity);
    auto known = expected.find(key);
    if (known != expected.end() && place % share.of != share.first)
      continue;
    std::set<std::string> hopeless;
    if (known != expected.end())
      hopeless = undecided(known->second);
    auto verdicts = prove(*identity, seconds, hopeless);
    for (const Verdict &verdict : verdicts)
      if (verdict.kind == Verdict::Refuted) {
        good = false;
        std::cerr << "prove-rules: " << key << "does not hold on "
                  << verdict.type << ": " << verdict.why << "\n";
      }
    good &= report(key, summary(verdicts), expected);
  }
  return good;
}

bool proveMovements(unsigned chains, const Results &expected) {
  bool good = true;
  for (const auto &[rule, verdict] : proveMovement(chains, /*seed=*/1)) {
    good &= report(rule + " | ", summary(verdict), expected);
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
      {"wrong", "divide(v, c) -> multiply(v, c)", For::Floats, reciprocal},
      {"wrong", "not(compare_LT!(x, y)) -> compare_GE(x, y)", For::Floats},
      {"wrong", "select(compare_GT(x, y), x, y) -> minimum(x, y)",
       For::Integers},
      {"wrong", "shift_right_arithmetic(x, 1) -> shift_right_logical(x, 1)",
       For::Integers}};
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

} // namespace

int main(int argc, char **argv) {
  unsigned seconds = 60, chains = 6000;
  Share share;
  Results expected;
  for (int i = 1; i < argc; ++i)
    if (std::string(argv[i]) == "--seconds" && i + 1 < argc) {
      seconds = std::strtoul(argv[++i], nullptr, 10);
    } else if (std::string(argv[i]) == "--share" && i + 1 < argc) {
      auto [first, of] = llvm::StringRef(argv[++i]).split('/');
      if (first.getAsInteger(10, share.first) ||
          of.getAsInteger(10, share.of) || share.first >= share.of) {
        std::cerr << "prove-rules: --share wants K/N with K below N\n";
        return 2;
      }
    } else if (std::string(argv[i]) == "--chains" && i + 1 < argc) {
      chains = std::strtoul(argv[++i], nullptr, 10);
    } else if (auto results = readResults(argv[i])) {
      expected = std::move(*results);
    } else {
      std::cerr << "prove-rules: no results in " << argv[i] << "\n";
      return 2;
    }
  bool good = findsWrongRules(seconds);
  good &= proveIdentities(seconds, share, expected);
  good &= proveMovements(chains, expected);
  return good ? 0 : 1;
}
