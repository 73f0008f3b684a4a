//===- LoopWriter.h - builds loops over elements in the graph -------------===//

#ifndef SINTER_BACKEND_CPU_LEGALIZE_LOOPWRITER_H
#define SINTER_BACKEND_CPU_LEGALIZE_LOOPWRITER_H

#include "graph/Values.h"
#include "graph/nn/TensorBuilder.h"

namespace sinter::cpu {

/// Builds stablehlo.while and stablehlo.if around scalars. Positions and sizes
/// are scalars of i64.
class LoopWriter : public nn::TensorBuilder {
public:
  using TensorBuilder::TensorBuilder;

  mlir::Value position(int64_t value) { return scalar(value, integerType(64)); }
  mlir::Value quotient(mlir::Value a, int64_t b);
  mlir::Value remainder(mlir::Value a, int64_t b);
  mlir::Value both(mlir::Value a, mlir::Value b) {
    return make<stablehlo::AndOp>(a, b);
  }
  /// 0 <= value < size, i1.
  mlir::Value isWithin(mlir::Value value, int64_t size);

  /// for (i = 0; i < count; ++i) carried = body(i, carried); its last values.
  Values loop(int64_t count, mlir::ValueRange carried,
              llvm::function_ref<Values(mlir::Value, mlir::ValueRange)> body);
  /// stablehlo.if: the values of one of two branches.
  Values branch(mlir::Value condition, llvm::function_ref<Values()> then,
                llvm::function_ref<Values()> otherwise);
  /// Inlines \p region on scalars, which are converted to its argument types.
  Values apply(mlir::Region &region, mlir::ValueRange arguments);

  /// \p tensor, flattened to a row.
  mlir::Value flat(mlir::Value tensor);
  /// Element \p index of a row, which is in bounds, and the row with \p value
  /// there.
  mlir::Value elementOf(mlir::Value row, mlir::Value index);
  mlir::Value replaced(mlir::Value row, mlir::Value index, mlir::Value value);
  /// The indices in a tensor of \p shape for the flat index \p index; and back.
  Values unflatten(mlir::Value index, llvm::ArrayRef<int64_t> shape);
  mlir::Value flatten(mlir::ValueRange place, llvm::ArrayRef<int64_t> shape);
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_LEGALIZE_LOOPWRITER_H
