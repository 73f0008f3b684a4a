//===- WinogradArithmetic.h - transforms of Winograd convolution ----------===//
//
// The transforms of F(4x4, 3x3) and F(2x4, 3x3), Y = A^T [(G g G^T) . (B^T d
// B)] A, along one dimension, in floats and in integers.
//
// B^T has integer coefficients. G has fractions: for integers, each of its rows
// is multiplied by its denominator, which A^T accounts for: accumulators are
// 24, 12, 6 and 6 times the four outputs, and twice them for two outputs. For
// int8, transformed activations are below 50 * 255 and weights below 49 * 255:
// both fit 16 bits, which CPUs multiply in pairs. A result that is 24 * 24
// times too large need not fit 32 bits. It is multiplied by the inverse of 9
// modulo 2^32 and shifted by the rest of the factor, at most 6 bits, which
// gives a sum of 25 bits and a sign exactly, whatever overflowed before. (For
// 24 * 2 it is the inverse of 3, and more bits are left.)
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_CONV_WINOGRADARITHMETIC_H
#define SINTER_BACKEND_CPU_KERNELS_CONV_WINOGRADARITHMETIC_H

#include "backend/cpu/kernels/common/Arithmetic.h"

#include "runtime/Tensor.h"

#include <optional>

namespace sinter::cpu {

struct WinogradArithmetic {
  Arithmetic given;    ///< The convolution's arithmetic.
  Arithmetic products; ///< That of transformed tiles.
  /// The output rows of a tile: four, or two, with two thirds of the weights
  /// and a third more multiplications per output. Tiles have four columns.
  int64_t outputRows = 4;

  static constexpr int64_t outputColumns = 4, inputColumns = 6;
  int64_t inputRows() const { return outputRows + 2; }
  /// Multiplications of a tile, for a pair of channels.
  int64_t elements() const { return inputRows() * inputColumns; }

  /// Nothing if \p target has no kernel that is faster than \p given.
  static std::optional<WinogradArithmetic>
  of(const Arithmetic &given, const Target &target, int64_t outputRows = 4);
  bool isOfFloats() const { return isFloat(products.accumulator); }

  /// Whether all sums of products of 8-bit \p activations of any values by
  /// 8-bit \p weights [K, C, 3, 3] are exact.
  static bool holdsSums(ElementType activations, const Tensor &weights);

  /// B^T d: maps six inputs of one row or column to six values, and four to
  /// four.
  llvm::SmallVector<mlir::Value>
  transformInputs(VectorBuilder &code, llvm::ArrayRef<mlir::Value> d) const;
  /// A^T m: maps six products to four outputs, for integers times 24, 12, 6 and
  /// 6, and four to two, for integers times 2.
  llvm::SmallVector<mlir::Value>
  transformProducts(VectorBuilder &code, llvm::ArrayRef<mlir::Value> m) const;
  /// Vector operations of the transforms of a tile before and after the matmul.
  int64_t inputOperations() const;
  int64_t outputOperations() const;
  /// Output (\p row, \p column) of a tile, given the transformed value
  /// \p scaled.
  mlir::Value unscaled(VectorBuilder &code, mlir::Value scaled, int64_t row,
                       int64_t column) const;
  /// G g G^T of \p count weights g, with integers times the denominators: tap i
  /// of weight n is taps[i * count + n], and so are the elements().
  void transformWeights(const double *taps, int64_t count,
                        double *result) const;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_CONV_WINOGRADARITHMETIC_H
