//===- VectorBuilder.h - index arithmetic and loops, written shortly ------===//
//
// What the kernels' generators write all the time: offsets into flat buffers,
// vector loads and stores, loops that carry values. Constants fold on the spot.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_VECTORBUILDER_H
#define SINTER_BACKEND_CPU_KERNELS_VECTORBUILDER_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace sinter::cpu {

class VectorBuilder {
public:
  VectorBuilder(mlir::OpBuilder &builder, mlir::Location location)
      : builder(builder), loc(location) {}

  mlir::OpBuilder &builder;
  mlir::Location loc;

  // Index arithmetic.
  mlir::Value index(int64_t value);
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value add(mlir::Value a, int64_t b) { return add(a, index(b)); }
  mlir::Value sub(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, int64_t b) { return mul(a, index(b)); }
  /// Quotient and remainder of numbers that are not negative.
  mlir::Value div(mlir::Value a, mlir::Value b);
  mlir::Value div(mlir::Value a, int64_t b) { return div(a, index(b)); }
  mlir::Value rem(mlir::Value a, mlir::Value b);
  mlir::Value rem(mlir::Value a, int64_t b) { return rem(a, index(b)); }
  mlir::Value min(mlir::Value a, mlir::Value b);
  mlir::Value max(mlir::Value a, mlir::Value b);
  mlir::Value less(mlir::Value a, mlir::Value b);
  mlir::Value equal(mlir::Value a, mlir::Value b);
  /// 0 <= a < bound.
  mlir::Value inRange(mlir::Value a, int64_t bound);
  mlir::Value both(mlir::Value a, mlir::Value b);
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b);

  /// A static-shape contiguous memref as one of rank 1.
  mlir::Value flatten(mlir::Value memref);

  // Elements of flat memrefs.
  mlir::Value load(mlir::Value flat, mlir::Value offset, mlir::VectorType type);
  /// Only the first \p valid lanes; the others are zero and are not read.
  mlir::Value loadFirst(mlir::Value flat, mlir::Value offset,
                        mlir::VectorType type, int64_t valid);
  /// The elements if \p condition holds, else zeros without reading.
  mlir::Value loadIf(mlir::Value condition, mlir::Value flat,
                     mlir::Value offset, mlir::VectorType type);
  /// One element in all lanes.
  mlir::Value loadSplat(mlir::Value flat, mlir::Value offset,
                        mlir::VectorType type);
  /// Brings a cache line into the second-level cache; any offset will do.
  void prefetch(mlir::Value flat, mlir::Value offset);
  void store(mlir::Value value, mlir::Value flat, mlir::Value offset);

  mlir::Value zero(mlir::VectorType type);
  /// a * b + c, rounded once where the target can.
  mlir::Value fma(mlir::Value a, mlir::Value b, mlir::Value c);
  mlir::Value addVectors(mlir::Value a, mlir::Value b);
  mlir::Value subVectors(mlir::Value a, mlir::Value b);
  /// a * factor + c.
  mlir::Value scaleAdd(mlir::Value a, double factor, mlir::Value c);
  /// The first \p lanes lanes.
  mlir::Value first(mlir::Value vector, int64_t lanes);

  /// for (i = lower; i < upper; i += step) carried = body(i, carried).
  using LoopBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(
      mlir::Value, mlir::ValueRange)>;
  llvm::SmallVector<mlir::Value> loop(mlir::Value lower, mlir::Value upper,
                                      int64_t step, mlir::ValueRange carried,
                                      LoopBody body);
  /// The same without carried values.
  void loop(mlir::Value lower, mlir::Value upper, int64_t step,
            llvm::function_ref<void(mlir::Value)> body);
  void when(mlir::Value condition, llvm::function_ref<void()> then);
  void branch(mlir::Value condition, llvm::function_ref<void()> then,
              llvm::function_ref<void()> otherwise);
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_VECTORBUILDER_H
