//===- VectorBuilder.h - builds the code of the generators ----------------===//
//
// An IndexBuilder with vectors: loads and stores at offsets into flat buffers,
// and arithmetic on what they hold.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_VECTORBUILDER_H
#define SINTER_BACKEND_CPU_KERNELS_VECTORBUILDER_H

#include "backend/cpu/kernels/IndexBuilder.h"
#include "mlir/IR/BuiltinTypes.h"

namespace sinter::cpu {

class VectorBuilder : public IndexBuilder {
public:
  using IndexBuilder::IndexBuilder;

  /// A static-shape contiguous memref as one of rank 1.
  mlir::Value flatten(mlir::Value memref);

  // Elements of flat memrefs.
  mlir::Value load(mlir::Value flat, mlir::Value offset, mlir::VectorType type);
  /// Only the first \p valid lanes; the others are zero and are not read.
  mlir::Value loadFirst(mlir::Value flat, mlir::Value offset,
                        mlir::VectorType type, int64_t valid);
  /// The elements if \p condition holds, else \p otherwise, or zeros, without
  /// reading.
  mlir::Value loadIf(mlir::Value condition, mlir::Value flat,
                     mlir::Value offset, mlir::VectorType type,
                     mlir::Value otherwise = {});
  /// Where element \p offset of a flat memref is; one address may be selected
  /// from two.
  mlir::Value addressOf(mlir::Value flat, mlir::Value offset);
  /// The elements \p offset behind such an address.
  mlir::Value loadAt(mlir::Value address, mlir::Value offset,
                     mlir::VectorType type);
  /// The elements if \p condition holds, else the first ones of \p other, a
  /// flat memref of such: what is chosen is the address, which any machine can.
  mlir::Value loadEither(mlir::Value condition, mlir::Value flat,
                         mlir::Value offset, mlir::VectorType type,
                         mlir::Value other);
  /// Only as many lanes as \p count says, or all; the others are zero and are
  /// not read.
  mlir::Value loadSome(mlir::Value flat, mlir::Value offset,
                       mlir::VectorType type, mlir::Value count);
  /// One element in all lanes.
  mlir::Value loadSplat(mlir::Value flat, mlir::Value offset,
                        mlir::VectorType type);
  /// Brings a cache line into the second-level cache; any offset will do.
  void prefetch(mlir::Value flat, mlir::Value offset);
  void store(mlir::Value value, mlir::Value flat, mlir::Value offset);

  mlir::Value zero(mlir::VectorType type);
  /// a * b + c, rounded once where the target can.
  mlir::Value fma(mlir::Value a, mlir::Value b, mlir::Value c);
  mlir::Value mulVectors(mlir::Value a, mlir::Value b);
  // Of floats, or of integers, which wrap.
  mlir::Value addVectors(mlir::Value a, mlir::Value b);
  mlir::Value subVectors(mlir::Value a, mlir::Value b);
  /// a * factor + c, where integers have whole factors.
  mlir::Value scaleAdd(mlir::Value a, double factor, mlir::Value c);
  /// The bits of \p vector as another vector of as many.
  mlir::Value bitsAs(mlir::Value vector, mlir::VectorType type);
  /// The elements of \p a and \p b in turn.
  mlir::Value interleaved(mlir::Value a, mlir::Value b);
  /// Of four vectors of bytes those of each lane together.
  mlir::Value interleavedBytes(llvm::ArrayRef<mlir::Value> four);
  /// The first \p lanes lanes.
  mlir::Value first(mlir::Value vector, int64_t lanes);
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_VECTORBUILDER_H
