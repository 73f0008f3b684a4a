//===- Arithmetic.h - what a generator multiplies and sums in -------------===//
//
//   f32 * f32 -> f32           one multiply-add a lane
//   f16 * f16 -> f32           the same, both widened on the way
//   i16 * i16 + i16 * i16 -> i32   a group of two neighbours a lane
//
// Tiles, panels and tasks follow from the types of operands and sums; what one
// step of a reduction does with a lane is said here alone. A group of
// neighbours along the reduction lies side by side in both operands and adds to
// one lane of sums, as instructions for dot products have it.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_ARITHMETIC_H
#define SINTER_BACKEND_CPU_KERNELS_ARITHMETIC_H

#include "backend/cpu/codegen/Target.h"
#include "backend/cpu/kernels/VectorBuilder.h"
#include "runtime/ElementType.h"

namespace sinter::cpu {

struct Arithmetic {
  ElementType operand = ElementType::F32;     ///< Elements of both factors.
  ElementType accumulator = ElementType::F32; ///< Sums.
  /// Elements of each factor that one step multiplies for a lane of sums.
  int64_t kGroup = 1;

  /// Of \p element, a float, which is multiplied and summed as it is.
  static Arithmetic of(mlir::Type element);

  bool operator==(const Arithmetic &) const = default;

  int64_t bytes() const { return int64_t(byteSize(operand)); }
  int64_t sumBytes() const { return int64_t(byteSize(accumulator)); }
  /// Sums in a vector register.
  int64_t lanes(const Target &target) const {
    return target.vectorBytes() / sumBytes();
  }
  /// Steps of a reduction over \p k products.
  int64_t steps(int64_t k) const { return (k + kGroup - 1) / kGroup; }

  mlir::VectorType sumType(mlir::MLIRContext *context, int64_t lanes) const;
  /// What is multiplied for so many lanes of sums.
  mlir::VectorType operandType(mlir::MLIRContext *context, int64_t lanes) const;

  /// Elements [offset, offset + kGroup) in every lane, as operandType; of which
  /// only the first \p valid are read, the others being zero.
  mlir::Value loadSplat(VectorBuilder &code, mlir::Value flat,
                        mlir::Value offset, int64_t lanes, int64_t valid) const;
  /// sum + a * b, lane by lane.
  mlir::Value multiplyAdd(VectorBuilder &code, mlir::Value a, mlir::Value b,
                          mlir::Value sum) const;
  mlir::Value add(VectorBuilder &code, mlir::Value a, mlir::Value b) const;

private:
  mlir::Value widened(VectorBuilder &code, mlir::Value factor) const;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_ARITHMETIC_H
