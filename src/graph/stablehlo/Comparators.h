//===- Comparators.h - what the regions of sort and reduce choose by ------===//
//
// Regions say in scalar operations what formats and kernels have a word for:
//
//   sort by `compare LT, %a, %b`          ascending, by that tensor
//   reduce (x, places) with a body that   arg_max of x: the place of the
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
  /// Which of the inputs.
  unsigned input;
  bool isDescending;
};
/// Nothing where several tensors decide, or elements are compared as what they
/// are not.
std::optional<SortKey> soleSortKey(SortOp op);

/// The tensors that decide, one after the other where those before are equal.
/// Nothing where they do not do so alone, each by its elements' order.
std::optional<llvm::SmallVector<SortKey>> sortKeys(SortOp op);

/// Of two pairs of a number and its companion, those that a region gives: its
/// number is that of pair `number`, its companion that of pair `companion`.
struct KeptPair {
  unsigned number, companion;
  /// Whether it depends on the order of the companions.
  bool comparesCompanions;
};
/// What \p block gives, a region whose arguments are a pair and another one,
/// each a number at \p numberPlace and its companion beside it. \p order is the
/// sign of the first number minus the second, neither of them NaN, and
/// \p companionOrder that of the companions. Nothing where it gives something
/// else, or does not compare and choose alone.
std::optional<KeptPair> keptPair(mlir::Block &block, unsigned numberPlace,
                                 int order, int companionOrder);

/// Whether \p value, integers that do not wrap round, counts from 0 along
/// \p dimension.
bool countsAlong(mlir::Value value, int64_t dimension);

/// A reduction of elements and their places along one dimension to the place of
/// the extreme one.
struct ArgReduction {
  int64_t dimension;
  bool isGreatest;
  /// Of equal elements the last one, else the first.
  bool selectsLast;
};
/// What \p op, a reduction of two tensors, searches; whatever it does with
/// numbers that are none. Found by all orders of two pairs.
///
/// Restrictions: the second tensor counts from 0 along the dimension; initial
/// values are of the worst element, or lose to every other pair.
std::optional<ArgReduction> argReductionOf(ReduceOp op);

} // namespace sinter::stablehlo

#endif // SINTER_GRAPH_STABLEHLO_COMPARATORS_H
