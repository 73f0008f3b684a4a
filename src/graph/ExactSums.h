//===- ExactSums.h - types that hold sums of integers ---------------------===//
//
//   i8 * i8 + ... 1024 times   [-2^24, 2^24]   f32 holds it
//   u8 * i8 + ... 1024 times   [-2^25, 2^25]   f64 does, i32 does
//
// Sums of products of small integers are exact in a float that holds them all,
// in any order. Floats have the fast kernels, other formats lack operators on
// integers. Whoever takes sums in another type than the graph says asks here.
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

/// Whether \p element, a float or an integer, has all integers of \p range.
bool holds(mlir::Type element, const IntegerRange &range);

/// The first of \p types that holds \p range; null if none does.
mlir::Type firstHolding(llvm::ArrayRef<mlir::Type> types,
                        const IntegerRange &range);

/// How many products an element of the result of \p op, a product, is the sum
/// of, by its axes. Nothing where a size that counts is not known.
std::optional<double> productsPerSum(mlir::Operation *op);

/// What the sums of \p op, a product of numbers of \p lhs and \p rhs, may be;
/// where nobody knows of how many products, as if of more than a tensor has.
IntegerRange rangeOfSums(mlir::Operation *op, const IntegerRange &lhs,
                         const IntegerRange &rhs);

} // namespace sinter

#endif // SINTER_GRAPH_EXACTSUMS_H
