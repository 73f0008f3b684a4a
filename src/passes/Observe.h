//===- Observe.h - chosen values are told of as they are computed ---------===//
//
//   a = f(x)             a = f(x)
//   b = g(a)      ->     interpreter.probe a, probe_id = "sinter.observed.7"
//                        b = g(a)
//
// Whoever runs the program sees each value, as often as it is computed, in
// branches and loops too, by the backend's ValueObserver. A quantised value is
// seen as the numbers that it stands for.
//
// Restrictions: only tensors can be observed, in the body of a function and in
// branches and loops; what says how a single tensor is computed (a reduction's
// body) has no values of its own. What is observed is computed as a tensor, so
// a backend does not fuse it into what reads it.
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

/// All results in the entry function, or those whose operations are of these
/// origins; numbered in the order of the text.
std::unique_ptr<mlir::Pass> createObserve();

} // namespace sinter

#endif // SINTER_PASSES_OBSERVE_H
