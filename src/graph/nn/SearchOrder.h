//===- SearchOrder.h - the order of elements in arg-min and arg-max -------===//

#ifndef SINTER_GRAPH_NN_SEARCHORDER_H
#define SINTER_GRAPH_NN_SEARCHORDER_H

#include "graph/nn/TensorBuilder.h"

namespace sinter::nn {

/// Whether each of \p x is NaN; null for types without one.
inline mlir::Value isNan(TensorBuilder &emit, mlir::Value x) {
  return mlir::isa<mlir::FloatType>(tensorOf(x).getElementType())
             ? emit.compare(stablehlo::ComparisonDirection::NE, x, x)
             : mlir::Value();
}

/// How a search for the maximum or the minimum orders two elements.
struct SearchOrder {
  mlir::Value wins; ///< The first before the second.
  mlir::Value same; ///< Neither before the other.

  /// As in NumPy: NaN before any other value.
  static SearchOrder of(TensorBuilder &emit, mlir::Value first,
                        mlir::Value second, bool greatest) {
    using Direction = stablehlo::ComparisonDirection;
    SearchOrder order{
        emit.compare(greatest ? Direction::GT : Direction::LT, first, second),
        emit.compare(Direction::EQ, first, second)};
    mlir::Value isNone = isNan(emit, first), isOtherNone = isNan(emit, second);
    if (!isNone)
      return order;
    auto both = [&](mlir::Value a, mlir::Value b) {
      return emit.make<stablehlo::AndOp>(a, b);
    };
    order.wins = emit.make<stablehlo::OrOp>(
        order.wins, both(isNone, emit.make<stablehlo::NotOp>(isOtherNone)));
    order.same =
        emit.make<stablehlo::OrOp>(order.same, both(isNone, isOtherNone));
    return order;
  }
};

} // namespace sinter::nn

#endif // SINTER_GRAPH_NN_SEARCHORDER_H
