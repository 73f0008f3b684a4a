//===- Axes.h - how axes are attached to operations -----------------------===//

#ifndef SINTER_GRAPH_AXES_AXES_H
#define SINTER_GRAPH_AXES_AXES_H

#include "graph/Types.h"
#include "graph/interfaces/Axes.h"

namespace sinter::axes {

/// A dimension of an operand or of a result.
struct Place {
  bool isResult;
  unsigned value;
  int64_t dimension;
};
inline Place operand(unsigned value, int64_t dimension) {
  return {false, value, dimension};
}
inline Place result(unsigned value, int64_t dimension) {
  return {true, value, dimension};
}
inline Place result(int64_t dimension) { return {true, 0, dimension}; }

/// Builds the axes of an operation.
class Builder {
public:
  explicit Builder(mlir::Operation *op);

  int64_t rankOf(unsigned operand) const {
    return axes.operands[operand].size();
  }
  int64_t resultRank(unsigned result = 0) const {
    return axes.results[result].size();
  }
  /// The size of a dimension by its type.
  int64_t sizeAt(Place place) const;

  /// Adds an axis as the next (inner) one of each of \p places; its size is the
  /// first static one of theirs.
  void add(AxisKind kind, llvm::ArrayRef<Place> places);
  /// The same with a given size.
  void add(AxisKind kind, llvm::ArrayRef<Place> places, int64_t size);
  void keep(llvm::ArrayRef<Place> places) { add(AxisKind::Kept, places); }
  void mix(llvm::ArrayRef<Place> places) { add(AxisKind::Mixed, places); }
  void reduce(llvm::ArrayRef<Place> places) { add(AxisKind::Reduced, places); }
  void repeat(llvm::ArrayRef<Place> places) { add(AxisKind::Repeated, places); }
  /// Adds a Resized axis, whose size is that of the result's type.
  void resize(llvm::ArrayRef<Place> places) {
    add(AxisKind::Resized, places, mlir::ShapedType::kDynamic);
  }

  /// Dimension \p dimension of all operands and results of \p rank dimensions.
  llvm::SmallVector<Place> everywhere(int64_t dimension, int64_t rank) const;
  /// Adds an axis for each dimension of all operands and results of \p rank
  /// dimensions: of the kind \p kind where \p isOther, else Kept.
  void alike(
      int64_t rank, AxisKind kind = AxisKind::Mixed,
      llvm::function_ref<bool(int64_t)> isOther = [](int64_t) {
        return false;
      });

  /// Returns the axes. Dimensions without an axis get one of their own.
  Axes take();

private:
  TensorAxes &tensorAt(Place place) {
    return (place.isResult ? axes.results : axes.operands)[place.value];
  }
  mlir::Operation *op;
  Axes axes;
};

using NewOrder = std::optional<llvm::SmallVector<int64_t>>;

template <typename Op> NewOrder isFixed(Op, llvm::ArrayRef<int64_t>) {
  return std::nullopt;
}

/// Implements the interface by functions Axes(Op) and NewOrder(Op,
/// ArrayRef<int64_t> order), the latter optionally with the sizes.
template <typename Op, auto build, auto change>
struct Model : AxesOpInterface::ExternalModel<Model<Op, build, change>, Op> {
  Axes getAxes(mlir::Operation *op) const { return build(mlir::cast<Op>(op)); }
  NewOrder reorder(mlir::Operation *op, llvm::ArrayRef<int64_t> order,
                   llvm::ArrayRef<int64_t> sizes) const {
    if constexpr (requires { change(mlir::cast<Op>(op), order, sizes); })
      return change(mlir::cast<Op>(op), order, sizes);
    else
      return change(mlir::cast<Op>(op), order);
  }
};

template <typename Op, auto build, auto change = isFixed<Op>>
void attach(mlir::MLIRContext *context) {
  // Its dialect may not be loaded.
  auto name =
      mlir::RegisteredOperationName::lookup(mlir::TypeID::get<Op>(), context);
  if (name)
    name->template attachInterface<Model<Op, build, change>>();
}

//===----------------------------------------------------------------------===//
// Kinds of operations
//===----------------------------------------------------------------------===//

/// All operands and results other than scalars have one shape, and each result
/// element depends on the operands' elements at the same index.
Axes elementwise(mlir::Operation *op);
/// Each result is its operand, or that of another process.
Axes passedOn(mlir::Operation *op);
/// Operands that broadcast together by NumPy's rule. Where several dynamic
/// sizes may be the result's, it is unknown which one is.
Axes broadcastTogether(mlir::Operation *op);

/// New values of an attribute with one element per dimension; new dimensions
/// get \p neutral.
template <typename T>
llvm::SmallVector<T> inOrder(llvm::ArrayRef<T> list,
                             llvm::ArrayRef<int64_t> order, T neutral) {
  return llvm::map_to_vector(
      order, [&](int64_t from) { return from < 0 ? neutral : list[from]; });
}
/// The index of dimension \p dimension after \p order.
inline int64_t placeIn(llvm::ArrayRef<int64_t> order, int64_t dimension) {
  return llvm::find(order, dimension) - order.begin();
}

void attachElementwise(mlir::MLIRContext *context);
void attachMovement(mlir::MLIRContext *context);
void attachReshapes(mlir::MLIRContext *context);
void attachIndexing(mlir::MLIRContext *context);
void attachProducts(mlir::MLIRContext *context);
void attachReductions(mlir::MLIRContext *context);
void attachStructured(mlir::MLIRContext *context);
void attachText(mlir::MLIRContext *context);
void attachDistribution(mlir::MLIRContext *context);

} // namespace sinter::axes

#endif // SINTER_GRAPH_AXES_AXES_H
