//===- PatternLabels.h - every rewrite has a name that switches it --------===//
//
// A rewrite is known by its label, in kebab-case. One table holds them all,
// each with a picture of what it does. A PatternRun says which of them may
// apply in one run of the pipeline, and counts how often each did.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_PASSES_PATTERNLABELS_H
#define SINTER_PASSES_PATTERNLABELS_H

#include "runtime/Result.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace sinter {

struct PatternInfo {
  llvm::StringRef label;
  /// "x + 0 -> x": what it does, in one line.
  llvm::StringRef picture;
  /// The pass that it belongs to.
  llvm::StringRef pass;
  /// Whether it applies without being asked for.
  bool byDefault = true;
};

/// Every pattern of every pass, by label.
const std::vector<PatternInfo> &allPatterns();

/// Which patterns may apply in one run, and how often each did.
class PatternRun {
public:
  /// What applies by default.
  PatternRun() = default;

  /// \p disabled ones do not apply ("all": none but those enabled); \p enabled
  /// ones do even if they do not by default. The Usage error names a label that
  /// no pattern has.
  static Result<std::shared_ptr<PatternRun>>
  create(const std::vector<std::string> &disabled,
         const std::vector<std::string> &enabled);

  bool isEnabled(llvm::StringRef label) const;
  void count(llvm::StringRef label) { ++applied[label.str()]; }
  /// Applications by label, of those that applied.
  const std::map<std::string, uint64_t> &counts() const { return applied; }

private:
  llvm::StringSet<> disabled, enabled;
  bool allDisabled = false;
  std::map<std::string, uint64_t> applied;
};

} // namespace sinter

#endif // SINTER_PASSES_PATTERNLABELS_H
