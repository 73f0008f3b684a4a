//===- ExactSums.h - types that hold sums of integers ---------------------===//
//
//   i8 * i8 + ... 1024 times   [-2^24, 2^24]   f32 holds it
//   u8 * i8 + ... 1024 times   [-2^25, 2^25]   f64 does, i32 does
//
// Sums of products of small integers are exact in a float type that represents
// all of them, in any order. Floats have the fast kernels, and some formats
// lack integer operators. Code that accumulates in another type than the
// graph's asks here.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_GRAPH_EXACTSUMS_H
#define SINTER_GRAPH_EXACTSUMS_H

#include "graph/IntegerRange.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/ArrayRef.h"
#include <optional>

namespace sinter {

/// The greatest n such that \p element, a float, has all integers from -n to n.
double exactMagnitude(mlir::FloatType element);

/// Whether \p element, a float or an integer, represents all integers of
/// \p range.
bool holds(mlir::Type element, const IntegerRange &range);

/// The first of \p types that holds \p range; null if none does.
mlir::Type firstHolding(llvm::ArrayRef<mlir::Type> types,
                        const IntegerRange &range);

/// How many terms an element of the result of \p op, a matmul or convolution,
/// sums up, by its axes. Nothing where a size that matters is dynamic.
std::optional<double> productsPerSum(mlir::Operation *op);

/// The range of the accumulators of \p op, a matmul or convolution of elements
/// in \p lhs and \p rhs. Where the number of terms is unknown, it is taken to
/// be larger than a tensor can have.
IntegerRange rangeOfSums(mlir::Operation *op, const IntegerRange &lhs,
                         const IntegerRange &rhs);

} // namespace sinter

#endif // SINTER_GRAPH_EXACTSUMS_H
