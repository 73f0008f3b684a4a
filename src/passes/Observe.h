//===- Observe.h - reports chosen values at run time ----------------------===//
//
//   a = f(x)             a = f(x)
//   b = g(a)      ->     interpreter.probe a, probe_id = "sinter.observed.7"
//                        b = g(a)
//
// The backend's ValueObserver is called with each value, as often as it is
// computed, in branches and loops too. A quantised value is dequantised for it.
//
// Restrictions: only tensors can be observed, in the body of a function and in
// branches and loops; the body of a reduction has no tensors of its own. An
// observed value is materialised, so a backend does not fuse it into its users.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_PASSES_OBSERVE_H
#define SINTER_PASSES_OBSERVE_H

#include "mlir/IR/Value.h"
#include "mlir/Pass/Pass.h"
#include "runtime/ValueObserver.h"
#include <memory>
#include <optional>
#include <string>

namespace sinter {

struct NumberedValue {
  mlir::Value value;
  int64_t number;
};

bool canBeObserved(mlir::Value value);

/// Observes those of \p values that can be.
void observe(llvm::ArrayRef<NumberedValue> values);

/// Observes all results in the entry function, or those of operations with
/// these origins; they are numbered in the order of the text.
std::unique_ptr<mlir::Pass> createObserve();

} // namespace sinter

#endif // SINTER_PASSES_OBSERVE_H
