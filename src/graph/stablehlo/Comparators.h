//===- Comparators.h - sort keys and arg-min/max in regions ---------------===//
//
// Recognises regions of scalar operations that formats and kernels have a name
// for:
//
//   sort by `compare LT, %a, %b`          ascending, by that tensor
//   reduce (x, indices) with a body that  arg_max of x: the index of the
//   keeps the greater of two pairs        greatest element
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_GRAPH_STABLEHLO_COMPARATORS_H
#define SINTER_GRAPH_STABLEHLO_COMPARATORS_H

#include "graph/stablehlo/StablehloOps.h"
#include <optional>

namespace sinter::stablehlo {

/// A sort by the elements of one tensor.
struct SortKey {
  /// The index of the input.
  unsigned input;
  bool isDescending;
  /// Whether -0 is less than 0: floats are compared in their total order. Not
  /// if zeros and NaNs are unified first.
  bool ordersZeros = false;
};
/// The only key of a sort; nothing if there are several, or elements are
/// compared as another type.
std::optional<SortKey> soleSortKey(SortOp op);

/// The keys of a sort in lexicographic order. Nothing if the comparator is not
/// an order by such keys.
std::optional<llvm::SmallVector<SortKey>> sortKeys(SortOp op);

/// The pair that a region returns, given two pairs of a number and its
/// companion: the number of pair `number` and the companion of pair
/// `companion`.
struct KeptPair {
  unsigned number, companion;
  /// Whether the result depends on the order of the companions.
  bool comparesCompanions;
};
/// The pair that the region \p block keeps. Its arguments are two pairs, with
/// the number at \p numberPlace of each and its companion at the other
/// position. \p order is the sign of the first number minus the second, neither
/// of them NaN, and \p companionOrder that of the companions. Nothing if it
/// returns something else, or does more than compare and select.
std::optional<KeptPair> keptPair(mlir::Block &block, unsigned numberPlace,
                                 int order, int companionOrder);

/// Whether \p value is an iota along \p dimension that does not wrap around.
bool countsAlong(mlir::Value value, int64_t dimension);

/// A reduction of elements and their indices along one dimension to the index
/// of the minimum or maximum.
struct ArgReduction {
  int64_t dimension;
  bool isGreatest;
  /// Whether it selects the last of equal elements, else the first.
  bool selectsLast;
};
/// The search of \p op, a reduction of two tensors, whatever it does with NaN.
/// Determined from all orders of two pairs.
///
/// Restrictions: the second tensor counts from 0 along the dimension; initial
/// values are neutral, or lose to every other pair.
std::optional<ArgReduction> argReductionOf(ReduceOp op);

} // namespace sinter::stablehlo

#endif // SINTER_GRAPH_STABLEHLO_COMPARATORS_H
