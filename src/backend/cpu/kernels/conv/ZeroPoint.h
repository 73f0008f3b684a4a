//===- ZeroPoint.h - zero points of int8 images ---------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_CONV_ZEROPOINT_H
#define SINTER_BACKEND_CPU_KERNELS_CONV_ZEROPOINT_H

#include "backend/cpu/kernels/common/Arithmetic.h"
#include "backend/cpu/kernels/conv/Window.h"

namespace sinter::cpu {

/// The zero point of \p shape, a constant or a value in memory, as vectors.
class ZeroPoint {
public:
  /// \p element is the type in memory; \p memory, a memref of one element, is
  /// used if the shape has its zero point in memory.
  ZeroPoint(VectorBuilder &code, ElementType element, const WindowShape &shape,
            mlir::Value memory)
      : code(code), element(element), shape(shape), memory(memory) {}

  /// A vector of \p count of it, in the type in memory.
  mlir::Value elements(int64_t count) const;
  /// A vector of \p count of it in another type, which holds it.
  mlir::Value as(ElementType type, int64_t count) const {
    return converted(code, elements(count), element, type);
  }

private:
  VectorBuilder &code;
  ElementType element;
  const WindowShape &shape;
  mlir::Value memory;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_CONV_ZEROPOINT_H
