//===- ValueNumbers.h - traces values across passes -----------------------===//
//
// Each operation has an attribute (Groups.h) with one or more trace numbers for
// each result: pairs of a result's index and a number. Where a pass replaces a
// value by another, it reports that (PatternRun::replaced), and the new value
// takes over the old one's number. An operation whose results it changes
// (PatternRun::changed) loses its own.
//
// Numbers are given to the results of operations in the entry function and in
// its branches and loops, but not in the bodies of reductions, sorts and the
// like, nor in called functions.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_PASSES_VALUENUMBERS_H
#define SINTER_PASSES_VALUENUMBERS_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/Observe.h"
#include "passes/PatternLabels.h"
#include <vector>

namespace sinter {

/// While it is the watcher of a PatternRun, trace numbers follow the values.
class ValueNumbers : public ReplacementWatcher {
public:
  /// Gives new trace numbers to values of \p module that are new since the last
  /// call, in the order of the text. A copy does not have the original's
  /// numbers.
  void number(mlir::ModuleOp module);

  /// Every value of \p module that has a number, in the order in which they are
  /// computed; of two values with one number the first.
  static std::vector<NumberedValue> valuesOf(mlir::ModuleOp module);

  /// Removes all trace numbers.
  static void remove(mlir::ModuleOp module);

  void replaced(llvm::StringRef label, mlir::Value old,
                mlir::Value by) override;
  void changed(mlir::Operation *op) override;
  void follows(mlir::Operation *op) override;
  void outputChanged(unsigned number) override {
    if (whenOutputChanged)
      whenOutputChanged(number);
  }

  /// Called with the trace numbers of \p old, which is replaced.
  std::function<void(llvm::StringRef label, mlir::Value old,
                     llvm::ArrayRef<int64_t> numbers)>
      whenReplaced;
  /// Called with the trace numbers of values that follow from replaced
  /// operands.
  std::function<void(llvm::ArrayRef<int64_t> numbers)> whenFollowing;
  std::function<void(unsigned number)> whenOutputChanged;

private:
  int64_t next = 0;
};

} // namespace sinter

#endif // SINTER_PASSES_VALUENUMBERS_H
