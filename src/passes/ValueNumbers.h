//===- ValueNumbers.h - which value is which after a pass -----------------===//
//
// Each operation carries numbers (Groups.h), one or more for each result:
// pairs of a result and a number. Where a pass puts a value in another's place,
// it says so (PatternRun::replaced), and the value takes the other's number; an
// operation whose results it changes (PatternRun::changed) loses its own.
//
// Numbered are the results of the entry function's operations and of those in
// its branches and loops. The bodies of reductions, sorts and the like are no
// more than how these are computed, and so are called functions.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_PASSES_VALUENUMBERS_H
#define SINTER_PASSES_VALUENUMBERS_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/Observe.h"
#include "passes/PatternLabels.h"
#include <vector>

namespace sinter {

/// While it is the watcher of a PatternRun, numbers go where values go.
class ValueNumbers : public ReplacementWatcher {
public:
  /// Gives numbers of their own to values of \p module that are new since the
  /// last call, in the order of the text. A copy has not those of what it is a
  /// copy of.
  void number(mlir::ModuleOp module);

  /// Every value of \p module that has a number, in the order in which they are
  /// computed; of two values with one number the first.
  static std::vector<NumberedValue> valuesOf(mlir::ModuleOp module);

  /// Takes all numbers away.
  static void remove(mlir::ModuleOp module);

  void replaced(llvm::StringRef label, mlir::Value old,
                mlir::Value by) override;
  void changed(mlir::Operation *op) override;
  void follows(mlir::Operation *op) override;
  void outputChanged(unsigned number) override {
    if (whenOutputChanged)
      whenOutputChanged(number);
  }

  /// Told of the numbers of \p old, which is replaced.
  std::function<void(llvm::StringRef label, mlir::Value old,
                     llvm::ArrayRef<int64_t> numbers)>
      whenReplaced;
  /// Told of the numbers of values that follow from operands that were
  /// replaced.
  std::function<void(llvm::ArrayRef<int64_t> numbers)> whenFollowing;
  std::function<void(unsigned number)> whenOutputChanged;

private:
  int64_t next = 0;
};

} // namespace sinter

#endif // SINTER_PASSES_VALUENUMBERS_H
