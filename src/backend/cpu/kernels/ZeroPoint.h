//===- ZeroPoint.h - what bytes of an image count from --------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_ZEROPOINT_H
#define SINTER_BACKEND_CPU_KERNELS_ZEROPOINT_H

#include "backend/cpu/kernels/Arithmetic.h"
#include "backend/cpu/kernels/Window.h"

namespace sinter::cpu {

/// The zero point of \p shape, a number of the code or one in \p memory, as
/// vectors.
class ZeroPoint {
public:
  /// Of elements \p element; \p memory, a memref of one of them, counts where
  /// the shape says so.
  ZeroPoint(VectorBuilder &code, ElementType element, const WindowShape &shape,
            mlir::Value memory)
      : code(code), element(element), shape(shape), memory(memory) {}

  /// So many of it, as elements lie in memory.
  mlir::Value elements(int64_t count) const;
  /// So many of it in another type, which holds it.
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

#endif // SINTER_BACKEND_CPU_KERNELS_ZEROPOINT_H
