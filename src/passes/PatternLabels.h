//===- PatternLabels.h - names that enable and disable rewrites -----------===//
//
// Each rewrite has a label, in kebab-case. One table holds them all, each with
// a diagram of what it does and the allowances that it needs where it is not
// exact. A PatternRun has the set of those that may apply in one run of the
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
  /// A value rounded to a quantised type may differ by one unit of it, and
  /// values computed from it accordingly.
  requantize = 64,
};

/// The names of allowances: "reassociate", "contract", "reciprocal", "nonan",
/// "noinf", "nosignedzero", "requantize", and "all": all of floats, which
/// excludes `requantize`.
std::vector<std::string> allowanceNames();
/// The set of allowances with these names. The Usage error names an unknown
/// one.
Result<unsigned> parseAllowances(const std::vector<std::string> &names);
/// "nonan,noinf"; "" for `exact`.
std::string toString(Allowance set);

struct PatternInfo {
  llvm::StringRef label;
  /// "x + 0 -> x": a diagram of what it does, in one line.
  llvm::StringRef picture;
  /// The pass that it belongs to.
  llvm::StringRef pass;
  /// A set of Allowance: applies only where all of it is allowed, or where the
  /// label is enabled by name.
  unsigned needs = exact;
  /// Whether it saves nothing by itself: it only brings an operation into the
  /// form that other rules and our kernels match. In a graph that will be
  /// exported it leaves the operations of the file as they are, since other
  /// runtimes may match them.
  bool isForm = false;
};

/// The allowances that the pattern \p label needs; `exact` for no pattern.
unsigned needsOf(llvm::StringRef label);

/// Every pattern of every pass, by label.
const std::vector<PatternInfo> &allPatterns();

/// Adds the patterns of a backend's passes, whose strings live as long as the
/// program.
void registerPatterns(llvm::ArrayRef<PatternInfo> patterns);

/// Called back with what rewrites do to values.
class ReplacementWatcher {
public:
  virtual ~ReplacementWatcher() = default;
  /// \p by replaces \p old, and must have its value. Called before the uses
  /// change.
  virtual void replaced(llvm::StringRef label, mlir::Value old,
                        mlir::Value by) = 0;
  /// The results of \p op have changed.
  virtual void changed(mlir::Operation *op) = 0;
  /// The results of \p op will be replaced by values computed from changed
  /// operands.
  virtual void follows(mlir::Operation *) {}
  /// The elements of output \p number of the entry function have changed.
  virtual void outputChanged(unsigned /*number*/) {}
};

/// One step of rewriting: the pattern, and the first operation whose result it
/// replaced.
struct PatternApplication {
  std::string label, op;
  /// The name of the source node, or its file, line and column.
  std::string location;
};

/// Which patterns may apply in one run, and how often each did.
class PatternRun {
public:
  /// Enables the default patterns.
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
  /// Rewriting ends after so many steps, each of which leaves a valid graph:
  /// used to bisect for a wrong step.
  uint64_t mostSteps = std::numeric_limits<uint64_t>::max();
  /// Whether dequantised constants stay quantised, and converted weights of
  /// products keep their types: these are smaller than their floats.
  bool keepsQuantizedConstants = false;
  /// Whether conversions of int8 constants and int32 biases are not folded:
  /// dimension sizes are not computed from them, and explicit quantisation
  /// arithmetic has its weights in these types.
  bool keepsBytes = false;
  /// Whether the quantised types of outputs may change.
  bool changesOutputs = false;
  uint64_t steps() const { return stepsDone; }
  /// The last step that `mostSteps` lets happen, once it has.
  const PatternApplication &lastStep() const { return last; }

  /// Counts the application of \p label, and replaces the results of \p op by
  /// \p values.
  void replace(llvm::StringRef label, mlir::Operation *op,
               mlir::ValueRange values);
  /// Must be called before \p by replaces \p old.
  void replaced(llvm::StringRef label, mlir::Value old, mlir::Value by) {
    noteLast(old.getDefiningOp());
    if (watcher)
      watcher->replaced(label, old, by);
  }
  /// Must be called where an operation is changed in place so that its results
  /// change.
  void changed(mlir::Operation *op) {
    noteLast(op);
    if (watcher)
      watcher->changed(op);
  }
  /// Must be called where the results of \p op will be replaced by values
  /// computed from other operands.
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

  /// Sets the error of a pass that cannot go on, for the pipeline's caller.
  void fail(Error error) { failed = std::move(error); }
  const std::optional<Error> &failure() const { return failed; }

  /// Ends a step: \p label was just applied, and the graph is valid again.
  void graphIsWhole(llvm::StringRef label) {
    if (++stepsDone == mostSteps)
      last.label = label.str();
    if (afterEach)
      afterEach(label);
  }
  /// Called then: to look at the graph after each single application.
  std::function<void(llvm::StringRef label)> afterEach;

private:
  /// Records \p op, if it is not null, as rewritten in the current step.
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
