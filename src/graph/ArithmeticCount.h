//===- ArithmeticCount.h - how much an operation computes -----------------===//

#ifndef SINTER_GRAPH_ARITHMETICCOUNT_H
#define SINTER_GRAPH_ARITHMETICCOUNT_H

#include "mlir/IR/Operation.h"

namespace sinter {

/// Arithmetic operations for all elements of \p op's results: a multiplication
/// and an addition count as two, a transcendental function as 20, anything else
/// as one an element. 0 where it computes nothing or a shape is not known.
double arithmeticCount(mlir::Operation &op);

} // namespace sinter

#endif // SINTER_GRAPH_ARITHMETICCOUNT_H
