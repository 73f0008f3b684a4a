//===- VectorBuilder.h - builds vector code -------------------------------===//
//
// An IndexBuilder with vectors: loads and stores at offsets of flat buffers,
// and vector arithmetic.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_COMMON_VECTORBUILDER_H
#define SINTER_BACKEND_CPU_KERNELS_COMMON_VECTORBUILDER_H

#include "backend/cpu/kernels/common/IndexBuilder.h"
#include "mlir/IR/BuiltinTypes.h"

namespace sinter::cpu {

class VectorBuilder : public IndexBuilder {
public:
  using IndexBuilder::IndexBuilder;

  /// Flattens a static-shape contiguous memref to rank 1.
  mlir::Value flatten(mlir::Value memref);

  // Elements of flat memrefs.
  mlir::Value load(mlir::Value flat, mlir::Value offset, mlir::VectorType type);
  /// Loads only the first \p valid lanes; the others are zero.
  mlir::Value loadFirst(mlir::Value flat, mlir::Value offset,
                        mlir::VectorType type, int64_t valid);
  /// Loads the elements if \p condition holds, else returns \p otherwise, or
  /// zeros, without a load.
  mlir::Value loadIf(mlir::Value condition, mlir::Value flat,
                     mlir::Value offset, mlir::VectorType type,
                     mlir::Value otherwise = {});
  /// The address of element \p offset of a flat memref, which can be an operand
  /// of select.
  mlir::Value addressOf(mlir::Value flat, mlir::Value offset);
  /// Loads the elements at \p offset from such an address.
  mlir::Value loadAt(mlir::Value address, mlir::Value offset,
                     mlir::VectorType type);
  /// Loads the elements if \p condition holds, else the first ones of \p other,
  /// a flat memref of the same type: selects the address, which needs no masked
  /// loads.
  mlir::Value loadEither(mlir::Value condition, mlir::Value flat,
                         mlir::Value offset, mlir::VectorType type,
                         mlir::Value other);
  /// Loads at most \p count lanes; the others are zero and are not read.
  mlir::Value loadSome(mlir::Value flat, mlir::Value offset,
                       mlir::VectorType type, mlir::Value count);
  /// Loads one element into all lanes.
  mlir::Value loadSplat(mlir::Value flat, mlir::Value offset,
                        mlir::VectorType type);
  /// Prefetches a cache line into the second-level cache; the offset may be out
  /// of bounds.
  void prefetch(mlir::Value flat, mlir::Value offset);
  void store(mlir::Value value, mlir::Value flat, mlir::Value offset);

  mlir::Value zero(mlir::VectorType type);
  /// a * b + c, with a single rounding if the target has FMA.
  mlir::Value fma(mlir::Value a, mlir::Value b, mlir::Value c);
  mlir::Value mulVectors(mlir::Value a, mlir::Value b);
  // Of floats, or of integers with wrap-around.
  mlir::Value addVectors(mlir::Value a, mlir::Value b);
  mlir::Value subVectors(mlir::Value a, mlir::Value b);
  /// a * factor + c; for integers the factor is an integer.
  mlir::Value scaleAdd(mlir::Value a, double factor, mlir::Value c);
  /// \p vector, bitcast to \p type.
  mlir::Value bitsAs(mlir::Value vector, mlir::VectorType type);
  /// Interleaves the elements of \p a and \p b.
  mlir::Value interleaved(mlir::Value a, mlir::Value b);
  /// Interleaves the bytes of four vectors.
  mlir::Value interleavedBytes(llvm::ArrayRef<mlir::Value> four);
  /// The first \p lanes lanes.
  mlir::Value first(mlir::Value vector, int64_t lanes);
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_COMMON_VECTORBUILDER_H
