//===- TensorBuilder.h - builds stablehlo operations on tensors -----------===//
//
// Decompositions use this builder. For dynamic dimensions (Sizes.h) it builds
// the operations that take sizes as operands: dynamic_broadcast_in_dim for
// broadcast_in_dim, and so on.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_GRAPH_NN_TENSORBUILDER_H
#define SINTER_GRAPH_NN_TENSORBUILDER_H

#include "graph/nn/NnOps.h"
#include "graph/nn/Sizes.h"

namespace sinter::nn {

using sinter::tensorOf;

/// Whether every operand and result of \p op has a static shape.
bool isStatic(mlir::Operation *op);

class TensorBuilder {
public:
  TensorBuilder(mlir::OpBuilder &builder, mlir::Location location)
      : builder(builder), location(location) {}

  template <typename Op, typename... Args> mlir::Value make(Args &&...args) {
    return builder.create<Op>(location, std::forward<Args>(args)...);
  }

  /// Makes splat, splatLike and spread use the shape of \p value for types with
  /// dynamic dimensions.
  void setShape(mlir::Value value) { shaped = value; }

  mlir::Type integerType(unsigned width) {
    return builder.getIntegerType(width);
  }

  /// The value as a scalar constant, or as a splat of \p type.
  mlir::Value scalar(double value, mlir::Type element);
  mlir::Value splat(double value, mlir::RankedTensorType type);
  mlir::Value splat(double value, const Sizes &sizes, mlir::Type element);
  /// A splat of \p value in the shape and element type of \p like.
  mlir::Value splatLike(double value, mlir::Value like);
  /// A scalar broadcast to \p type; setShape defines its dynamic dimensions.
  mlir::Value spread(mlir::Value scalar, mlir::RankedTensorType type);
  /// The sizes of \p value; builds no operations yet.
  Sizes sizes(mlir::Value value);
  /// The sizes as a 1-d tensor of i32.
  mlir::Value shapeOf(mlir::Value value) { return vectorOf(sizes(value)); }
  mlir::Value vectorOf(const Sizes &sizes);
  /// A size as a tensor<1xi32>, and as a scalar of an element type.
  mlir::Value extentOf(const Size &size);
  mlir::Value number(const Size &size, mlir::Type element);
  /// Arithmetic on sizes.
  Size sum(const Size &a, const Size &b);
  Size difference(const Size &a, const Size &b);
  Size product(const Size &a, const Size &b);
  Size quotient(const Size &a, const Size &b);
  /// How many elements there are along \p dims.
  Size count(const Sizes &sizes, llvm::ArrayRef<int64_t> dims);
  /// The size of one dimension, or a static one, as a tensor<1xi32>.
  mlir::Value sizeOf(mlir::Value value, int64_t dimension);
  mlir::Value knownSize(int64_t size);
  mlir::Value integers(llvm::ArrayRef<int64_t> values);
  /// A 1-d constant of a float type.
  mlir::Value floats(llvm::ArrayRef<double> values, mlir::Type element);
  /// The minimum and maximum value of the type.
  mlir::Value lowest(mlir::Type element);
  mlir::Value greatest(mlir::Type element);

  mlir::Value add(mlir::Value a, mlir::Value b) {
    return make<stablehlo::AddOp>(a, b);
  }
  mlir::Value sub(mlir::Value a, mlir::Value b) {
    return make<stablehlo::SubtractOp>(a, b);
  }
  mlir::Value mul(mlir::Value a, mlir::Value b) {
    return make<stablehlo::MulOp>(a, b);
  }
  mlir::Value div(mlir::Value a, mlir::Value b) {
    return make<stablehlo::DivOp>(a, b);
  }
  mlir::Value max(mlir::Value a, mlir::Value b) {
    return make<stablehlo::MaxOp>(a, b);
  }
  mlir::Value min(mlir::Value a, mlir::Value b) {
    return make<stablehlo::MinOp>(a, b);
  }
  // The same with a constant.
  mlir::Value add(mlir::Value a, double b) { return add(a, splatLike(b, a)); }
  mlir::Value sub(mlir::Value a, double b) { return sub(a, splatLike(b, a)); }
  mlir::Value mul(mlir::Value a, double b) { return mul(a, splatLike(b, a)); }
  mlir::Value div(mlir::Value a, double b) { return div(a, splatLike(b, a)); }
  mlir::Value max(mlir::Value a, double b) { return max(a, splatLike(b, a)); }
  mlir::Value min(mlir::Value a, double b) { return min(a, splatLike(b, a)); }

  /// The same with a size, converted to the element type.
  mlir::Value mul(mlir::Value a, const Size &b) {
    return mul(a, spreadLike(number(b, tensorOf(a).getElementType()), a));
  }
  mlir::Value div(mlir::Value a, const Size &b) {
    return div(a, spreadLike(number(b, tensorOf(a).getElementType()), a));
  }
  /// A scalar broadcast to the shape of \p like.
  mlir::Value spreadLike(mlir::Value scalar, mlir::Value like);

  mlir::Value exp(mlir::Value x) { return make<stablehlo::ExpOp>(x); }
  mlir::Value log(mlir::Value x) { return make<stablehlo::LogOp>(x); }
  mlir::Value abs(mlir::Value x) { return make<stablehlo::AbsOp>(x); }
  mlir::Value neg(mlir::Value x) { return make<stablehlo::NegOp>(x); }
  mlir::Value sqrt(mlir::Value x) { return make<stablehlo::SqrtOp>(x); }

  mlir::Value compare(stablehlo::ComparisonDirection direction, mlir::Value a,
                      mlir::Value b);
  mlir::Value compare(stablehlo::ComparisonDirection direction, mlir::Value a,
                      double b) {
    return compare(direction, a, splatLike(b, a));
  }
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b) {
    return make<stablehlo::SelectOp>(condition, a, b);
  }

  mlir::Value convert(mlir::Value x, mlir::Type element);
  mlir::Value reshape(mlir::Value x, const Sizes &sizes);
  mlir::Value transpose(mlir::Value x, llvm::ArrayRef<int64_t> permutation);
  /// Dimension i of \p x becomes dimension dims[i] of \p sizes.
  mlir::Value broadcast(mlir::Value x, llvm::ArrayRef<int64_t> dims,
                        const Sizes &sizes);
  /// NumPy's rule: aligned at the last dimension.
  mlir::Value broadcastTrailing(mlir::Value x, const Sizes &sizes);
  mlir::Value iota(const Sizes &sizes, int64_t dimension, mlir::Type element);
  /// Elements [start, limit) along one dimension.
  mlir::Value slice(mlir::Value x, int64_t dimension, const Size &start,
                    const Size &limit);
  /// Every \p strides-th of the elements [starts, limits), along all
  /// dimensions.
  mlir::Value slice(mlir::Value x, llvm::ArrayRef<int64_t> starts,
                    const Sizes &limits, llvm::ArrayRef<int64_t> strides);
  mlir::Value concatenate(llvm::ArrayRef<mlir::Value> values,
                          int64_t dimension);
  /// Zeros along \p dimension: \p low before the elements, \p high behind
  /// them, \p interior between each two. Negative ones remove elements.
  mlir::Value pad(mlir::Value x, int64_t dimension, int64_t low, int64_t high,
                  int64_t interior = 0);
  mlir::Value padEnd(mlir::Value x, int64_t dimension, int64_t count) {
    return pad(x, dimension, 0, count);
  }
  /// Slices along \p axis at \p indices, which are clamped.
  mlir::Value take(mlir::Value x, mlir::Value indices, int64_t axis);
  /// a . b over a's and b's last dimensions, both 2-d.
  mlir::Value matmulTransposed(mlir::Value a, mlir::Value b);

  /// Combines the elements along \p dims by a binary op.
  template <typename Op>
  mlir::Value reduce(mlir::Value x, mlir::Value init,
                     llvm::ArrayRef<int64_t> dims) {
    return reduceWith(x, init, dims, Op::getOperationName());
  }
  mlir::Value sum(mlir::Value x, llvm::ArrayRef<int64_t> dims) {
    return reduce<stablehlo::AddOp>(x, scalar(0, tensorOf(x).getElementType()),
                                    dims);
  }
  /// The sum of all elements, a scalar.
  mlir::Value sumAll(mlir::Value x) {
    return sum(x,
               llvm::to_vector(llvm::seq<int64_t>(0, tensorOf(x).getRank())));
  }
  /// The sum, or maximum, over \p dims, broadcast back to the shape of \p x.
  mlir::Value sumKeep(mlir::Value x, llvm::ArrayRef<int64_t> dims);
  mlir::Value maxKeep(mlir::Value x, llvm::ArrayRef<int64_t> dims);
  mlir::Value meanKeep(mlir::Value x, llvm::ArrayRef<int64_t> dims);
  /// Broadcasts a value reduced over \p dims back to \p sizes.
  mlir::Value restore(mlir::Value reduced, llvm::ArrayRef<int64_t> dims,
                      const Sizes &sizes);

  /// reduce_window by a binary op with the windows of a pool: \p window has one
  /// entry per dimension of the operand.
  template <typename Op>
  mlir::Value reduceWindow(mlir::Value x, mlir::Value init,
                           llvm::ArrayRef<stablehlo::WindowDimension> window) {
    return reduceWindowWith(x, init, window, Op::getOperationName());
  }
  /// Builds the body of a variadic reduction from the scalars.
  using Body = llvm::function_ref<llvm::SmallVector<mlir::Value>(
      TensorBuilder &, mlir::ValueRange)>;
  mlir::ValueRange
  reduceWindow(mlir::ValueRange inputs, mlir::ValueRange inits,
               llvm::ArrayRef<stablehlo::WindowDimension> window, Body body);
  mlir::ValueRange reduce(mlir::ValueRange inputs, mlir::ValueRange inits,
                          llvm::ArrayRef<int64_t> dims, Body body);
  /// Fills \p region with a block of the given argument types.
  void fill(mlir::Region &region, mlir::TypeRange arguments, Body body);

  mlir::OpBuilder &builder;
  mlir::Location location;

private:
  /// The argument of setShape; its shape as a 1-d tensor once computed.
  mlir::Value shaped, shape;
  /// The results of sizeOf, by value and dimension.
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, mlir::Value> extents;

  mlir::Value reduceWith(mlir::Value x, mlir::Value init,
                         llvm::ArrayRef<int64_t> dims, llvm::StringRef op);
  mlir::Value
  reduceWindowWith(mlir::Value x, mlir::Value init,
                   llvm::ArrayRef<stablehlo::WindowDimension> window,
                   llvm::StringRef op);
};

/// The \p k greatest (or least) elements of \p x along \p axis, in order, and
/// their indices (i64); ties keep their order.
std::pair<mlir::Value, mlir::Value> takeTop(TensorBuilder &emit, mlir::Value x,
                                            int64_t axis, const Size &k,
                                            bool isLargest);

/// \p x padded by \p low and \p high elements along \p axis, as by
/// `nn.pad_mode` in \p mode, for dynamic amounts or dimensions.
mlir::Value padDynamic(TensorBuilder &emit, mlir::Value x, llvm::StringRef mode,
                       int64_t axis, const Size &low, const Size &high);

} // namespace sinter::nn

#endif // SINTER_GRAPH_NN_TENSORBUILDER_H
