//===- Places.h - tensors of numbers that say where elements are ----------===//

#ifndef SINTER_FORMATS_PADDLE_WRITE_PLACES_H
#define SINTER_FORMATS_PADDLE_WRITE_PLACES_H

#include "formats/import/IndexedWindows.h"
#include "formats/paddle/write/OperatorWriter.h"

namespace sinter::paddle {

using formats::IndexedWindows;

/// The sizes of \p x: a vector of i32.
Var shapeOf(OperatorWriter &e, const Var &x);

/// The size of a dimension of \p value: a vector of one i64.
Var sizeOf(OperatorWriter &e, mlir::Value value, int64_t dim);

/// A product of sizes, some of which are known only at run time.
class SizeProduct {
public:
  void multiply(int64_t size) { factor *= size; }
  /// Dimension \p dim of \p value.
  void multiply(OperatorWriter &e, mlir::Value value, int64_t dim);
  /// ShapedType::kDynamic where a size is unknown.
  int64_t known() const { return open ? mlir::ShapedType::kDynamic : factor; }
  /// A vector of one i64.
  Var var(OperatorWriter &e) const;

private:
  int64_t factor = 1;
  std::optional<Var> open;
};

/// How far apart elements are along each of \p dims of \p value if these are
/// its dimensions, in order, and how many there are in all, last.
llvm::SmallVector<SizeProduct> stridesOf(OperatorWriter &e, mlir::Value value,
                                         llvm::ArrayRef<int64_t> dims);

/// \p x with the shape \p shape, whose sizes are \p sizes, a vector of one i64
/// for each dimension, which are read where several are unknown.
Var reshape(OperatorWriter &e, const Var &x, llvm::ArrayRef<int64_t> shape,
            llvm::function_ref<Vars()> sizes);

/// 0, 1, ... up to \p end, a vector of one i64: a vector of i64.
Var upTo(OperatorWriter &e, const Var &end);

/// 0, 1, ... up to the size of dimension \p of of \p value: i64 along dimension
/// \p place of a tensor of \p rank dimensions.
Var countAlong(OperatorWriter &e, mlir::Value value, int64_t of, int64_t place,
               int64_t rank);

/// \p x repeated to \p shape. Sizes that are unknown there are those of
/// \p sizes, a vector of one i64 for each dimension.
Var expand(OperatorWriter &e, const Var &x, llvm::ArrayRef<int64_t> shape,
           const Vars &sizes);

/// A row of numbers for each element of each window of \p windows: i64 of
/// [batch..., window along the listed dimensions..., listed dimensions].
Var rowsOf(OperatorWriter &e, const IndexedWindows &windows);

/// The first places of windows along the dimension that is mapped \p k-th, as
/// i64 of [batch...]: inside of the tensor where the windows are clamped.
Var firstPlaces(OperatorWriter &e, const IndexedWindows &windows, int64_t k);

} // namespace sinter::paddle

#endif // SINTER_FORMATS_PADDLE_WRITE_PLACES_H
