//===- PatternLabels.h - every rewrite has a name that switches it --------===//
//
// A rewrite is known by its label, in kebab-case. One table holds them all,
// each with a picture of what it does and what it asks of arithmetic beyond
// exactness. A PatternRun says which of them may apply in one run of the
// pipeline, and counts how often each did.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_PASSES_PATTERNLABELS_H
#define SINTER_PASSES_PATTERNLABELS_H

#include "mlir/IR/Operation.h"
#include "mlir/IR/ValueRange.h"
#include "runtime/Result.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sinter {

/// What a rewrite of floating-point or quantised arithmetic may need to be
/// allowed; sets of these are made with `|`.
enum Allowance : unsigned {
  exact = 0,
  reassociate = 1,   ///< (x + y) + z is x + (y + z)
  contract = 2,      ///< a formula is the function it computes, rounded once
  reciprocal = 4,    ///< x / y is x * (1 / y)
  noNan = 8,         ///< no value is NaN
  noInfinity = 16,   ///< no value is infinite
  noSignedZero = 32, ///< -0.0 is 0.0
  /// A number that was rounded to a quantised type may be another by one unit
  /// of it; what is computed of it follows.
  requantize = 64,
};

/// The names by which users allow: "reassociate", "contract", "reciprocal",
/// "nonan", "noinf", "nosignedzero", "requantize", and "all": what is said of
/// floats, which `requantize` is not.
std::vector<std::string> allowanceNames();
/// The set that the names make. The Usage error names an unknown one.
Result<unsigned> parseAllowances(const std::vector<std::string> &names);
/// "nonan,noinf"; "" for `exact`.
std::string toString(Allowance set);

struct PatternInfo {
  llvm::StringRef label;
  /// "x + 0 -> x": what it does, in one line.
  llvm::StringRef picture;
  /// The pass that it belongs to.
  llvm::StringRef pass;
  /// A set of Allowance: applies only where all of it is allowed, or where the
  /// label is enabled by name.
  unsigned needs = exact;
  /// Whether it saves nothing by itself: it only brings an operation into the
  /// form that other rules and our kernels look for. In a graph that is to be
  /// written again it leaves the operations of the file as they are, since
  /// those who run the file may look for them.
  bool isForm = false;
};

/// What the pattern \p label needs to be allowed; `exact` for no pattern.
unsigned needsOf(llvm::StringRef label);

/// Every pattern of every pass, by label.
const std::vector<PatternInfo> &allPatterns();

/// Adds the patterns of passes that are not of this folder, a backend's, whose
/// texts live as long as the program.
void registerPatterns(llvm::ArrayRef<PatternInfo> patterns);

/// Told what rewrites do to values.
class ReplacementWatcher {
public:
  virtual ~ReplacementWatcher() = default;
  /// \p by takes the place of \p old, and must have its value. Called before
  /// the uses change.
  virtual void replaced(llvm::StringRef label, mlir::Value old,
                        mlir::Value by) = 0;
  /// The results of \p op are not what they were.
  virtual void changed(mlir::Operation *op) = 0;
  /// Those of \p op, which are about to be replaced, follow from operands that
  /// were.
  virtual void follows(mlir::Operation *) {}
  /// Output \p number of the entry function has other elements than it had.
  virtual void outputChanged(unsigned /*number*/) {}
};

/// One step of rewriting: the pattern, and the first operation of which it put
/// a result away.
struct PatternApplication {
  std::string label, op;
  /// The name of the source's node, or where it stands.
  std::string location;
};

/// Which patterns may apply in one run, and how often each did.
class PatternRun {
public:
  /// What applies by default.
  PatternRun() = default;

  /// \p disabled ones do not apply ("all": none but those enabled); \p enabled
  /// ones do, whatever they need; \p allowed is a set of Allowance's names. The
  /// Usage error names a label that no pattern has, or an unknown allowance.
  static Result<std::shared_ptr<PatternRun>>
  create(const std::vector<std::string> &disabled,
         const std::vector<std::string> &enabled,
         const std::vector<std::string> &allowed = {});

  bool isEnabled(llvm::StringRef label) const;
  /// Whether a rewrite that is sound only under \p needs may be done.
  bool allows(unsigned needs) const { return (needs & ~allowances) == 0; }

  void count(llvm::StringRef label) { ++applied[label.str()]; }
  /// Whether one more may be applied; see `mostSteps`.
  bool mayStep() const { return stepsDone < mostSteps; }
  /// Rewriting ends after so many steps, the graph being whole after each: to
  /// find the one that does harm.
  uint64_t mostSteps = std::numeric_limits<uint64_t>::max();
  /// Whether dequantised constants stay quantised, and weights of products that
  /// are converted what they are: they are small, and their numbers are not.
  bool keepsQuantizedConstants = false;
  /// Whether constants of bytes, and biases of 32 bits, are not converted to
  /// other types: sizes are not computed from such, and quantisation that is
  /// spelt out has its weights so.
  bool keepsBytes = false;
  /// Whether outputs may have other quantised types than they had.
  bool changesOutputs = false;
  uint64_t steps() const { return stepsDone; }
  /// The last step that `mostSteps` lets happen, once it has.
  const PatternApplication &lastStep() const { return last; }

  /// Counts, and lets the results of \p op be replaced by \p values, which are
  /// theirs.
  void replace(llvm::StringRef label, mlir::Operation *op,
               mlir::ValueRange values);
  /// To be called before \p by takes the place of \p old.
  void replaced(llvm::StringRef label, mlir::Value old, mlir::Value by) {
    noteLast(old.getDefiningOp());
    if (watcher)
      watcher->replaced(label, old, by);
  }
  /// To be called where an operation is changed in place so that its results
  /// are other values.
  void changed(mlir::Operation *op) {
    noteLast(op);
    if (watcher)
      watcher->changed(op);
  }
  /// To be called where the results of \p op will be replaced by such as
  /// follow from other operands.
  void follows(mlir::Operation *op) {
    if (watcher)
      watcher->follows(op);
  }
  void outputChanged(unsigned number) {
    if (watcher)
      watcher->outputChanged(number);
  }
  ReplacementWatcher *watcher = nullptr;

  /// Applications by label, of those that applied.
  const std::map<std::string, uint64_t> &counts() const { return applied; }

  /// A pass that cannot go on says why, for whoever runs it.
  void fail(Error error) { failed = std::move(error); }
  const std::optional<Error> &failure() const { return failed; }

  /// A pass says that \p label was just applied and that the graph is whole
  /// again: a step.
  void graphIsWhole(llvm::StringRef label) {
    if (++stepsDone == mostSteps)
      last.label = label.str();
    if (afterEach)
      afterEach(label);
  }
  /// Called then: to look at the graph after each single application.
  std::function<void(llvm::StringRef label)> afterEach;

private:
  /// \p op, if there is one, is rewritten in the step that is being done.
  void noteLast(mlir::Operation *op);

  uint64_t stepsDone = 0;
  PatternApplication last;
  llvm::StringSet<> disabled, enabled;
  bool allDisabled = false;
  unsigned allowances = exact;
  std::map<std::string, uint64_t> applied;
  std::optional<Error> failed;
};

} // namespace sinter

#endif // SINTER_PASSES_PATTERNLABELS_H
