//===- WinogradArithmetic.h - what fast convolution computes in -----------===//
//
// The transforms of F(4x4, 3x3), Y = A^T [(G g G^T) . (B^T d B)] A, along one
// dimension, in floats and in integers.
//
// B^T is of integers. G has fractions, so that integers are transformed with
// each of its rows times its denominator, which A^T makes up for: sums are 24,
// 12, 6 and 6 times the four outputs. Of bytes, transformed activations are
// below 50 * 255 and weights below 49 * 255: both are of 16 bits, which
// machines multiply in pairs. A result that is 24 * 24 times too large need not
// fit 32 bits. It is multiplied by the inverse of 9 modulo 2^32 and shifted by
// the rest of the factor, 6 bits at most, which gives a sum of 25 bits and a
// sign exactly, whatever overflowed on the way.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_WINOGRADARITHMETIC_H
#define SINTER_BACKEND_CPU_KERNELS_WINOGRADARITHMETIC_H

#include "backend/cpu/kernels/Arithmetic.h"

#include "runtime/Tensor.h"

#include <array>
#include <optional>

namespace sinter::cpu {

struct WinogradArithmetic {
  Arithmetic given;    ///< Of the convolution.
  Arithmetic products; ///< Of elements of transformed tiles.

  /// None if \p target has no kernel that is any faster than \p given.
  static std::optional<WinogradArithmetic> of(const Arithmetic &given,
                                              const Target &target);
  bool isOfFloats() const { return isFloat(products.accumulator); }

  /// Whether all sums of products of \p activations, bytes of any numbers, by
  /// \p weights [K, C, 3, 3], bytes, too, come out exactly.
  static bool holdsSums(ElementType activations, const Tensor &weights);

  /// One row of B^T d: six inputs of one row or column become six.
  std::array<mlir::Value, 6>
  transformInputs(VectorBuilder &code,
                  const std::array<mlir::Value, 6> &d) const;
  /// One row of A^T m: six products become four outputs, of integers times
  /// 24, 12, 6 and 6.
  std::array<mlir::Value, 4>
  transformProducts(VectorBuilder &code,
                    const std::array<mlir::Value, 6> &m) const;
  /// Output (\p row, \p column) of a tile, of which \p scaled came out.
  mlir::Value unscaled(VectorBuilder &code, mlir::Value scaled, int64_t row,
                       int64_t column) const;
  /// G g G^T of \p count weights g, with integers times the denominators: tap i
  /// of weight n is taps[i * count + n], and so are the 36 results.
  void transformWeights(const double *taps, int64_t count,
                        double *result) const;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_WINOGRADARITHMETIC_H
