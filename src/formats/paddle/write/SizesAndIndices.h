//===- SizesAndIndices.h - tensors of sizes and indices -------------------===//

#ifndef SINTER_FORMATS_PADDLE_WRITE_SIZESANDINDICES_H
#define SINTER_FORMATS_PADDLE_WRITE_SIZESANDINDICES_H

#include "formats/import/IndexedWindows.h"
#include "formats/paddle/write/OperatorWriter.h"

namespace sinter::paddle {

using formats::IndexedWindows;

/// The sizes of \p x: a vector of i32.
Var shapeOf(OperatorWriter &e, const Var &x);

/// 0, 1, ..., size - 1 of i64 in the shape \p shape, which has as many
/// elements. Long ones are computed when the program runs.
Var count(OperatorWriter &e, int64_t size, llvm::ArrayRef<int64_t> shape);

/// The size of a dimension of \p value: a vector of one i64.
Var sizeOf(OperatorWriter &e, mlir::Value value, int64_t dim);

/// A product of sizes, some of which are known only at run time.
class SizeProduct {
public:
  void multiply(int64_t size) { factor *= size; }
  /// Multiplies by dimension \p dim of \p value.
  void multiply(OperatorWriter &e, mlir::Value value, int64_t dim);
  /// ShapedType::kDynamic if a size is dynamic.
  int64_t known() const { return open ? mlir::ShapedType::kDynamic : factor; }
  /// The product as a vector of one i64.
  Var var(OperatorWriter &e) const;

private:
  int64_t factor = 1;
  std::optional<Var> open;
};

/// The row-major strides of a tensor with the dimensions \p dims of \p value,
/// in order, and its element count, last.
llvm::SmallVector<SizeProduct> stridesOf(OperatorWriter &e, mlir::Value value,
                                         llvm::ArrayRef<int64_t> dims);

/// Reshapes \p x to \p shape, with the sizes \p sizes, a vector of one i64 for
/// each dimension, used if several are dynamic.
Var reshape(OperatorWriter &e, const Var &x, llvm::ArrayRef<int64_t> shape,
            llvm::function_ref<Vars()> sizes);

/// 0, 1, ... below \p end, a vector of one i64, as a vector of i64.
Var upTo(OperatorWriter &e, const Var &end);

/// An i64 iota along dimension \p place of a tensor of rank \p rank; its length
/// is dimension \p of of \p value.
Var countAlong(OperatorWriter &e, mlir::Value value, int64_t of, int64_t place,
               int64_t rank);

/// \p x broadcast to \p shape. Its dynamic sizes are those of \p sizes, a
/// vector of one i64 for each dimension.
Var expand(OperatorWriter &e, const Var &x, llvm::ArrayRef<int64_t> shape,
           const Vars &sizes);

/// A row of indices for each element of each window of \p windows: i64 of
/// [batch..., window along the listed dimensions..., listed dimensions].
Var rowsOf(OperatorWriter &e, const IndexedWindows &windows);

/// The start indices of windows along the \p k-th mapped dimension, as i64 of
/// [batch...]; clamped to the tensor if the windows are clamped.
Var startIndices(OperatorWriter &e, const IndexedWindows &windows, int64_t k);

} // namespace sinter::paddle

#endif // SINTER_FORMATS_PADDLE_WRITE_SIZESANDINDICES_H
