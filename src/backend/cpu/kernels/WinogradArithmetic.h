//===- WinogradArithmetic.h - what fast convolution computes in -----------===//
//
// The transforms of F(4x4, 3x3) and F(2x4, 3x3), Y = A^T [(G g G^T) . (B^T d
// B)] A, along one dimension, in floats and in integers.
//
// B^T is of integers. G has fractions, so that integers are transformed with
// each of its rows times its denominator, which A^T makes up for: sums are 24,
// 12, 6 and 6 times four outputs, and twice two of them. Of bytes, transformed
// activations are below 50 * 255 and weights below 49 * 255: both are of 16
// bits, which machines multiply in pairs. A result that is 24 * 24 times too
// large need not fit 32 bits. It is multiplied by the inverse of 9 modulo 2^32
// and shifted by the rest of the factor, 6 bits at most, which gives a sum of
// 25 bits and a sign exactly, whatever overflowed on the way. (Of 24 * 2 the
// inverse is that of 3, and more bits are left.)
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_KERNELS_WINOGRADARITHMETIC_H
#define SINTER_BACKEND_CPU_KERNELS_WINOGRADARITHMETIC_H

#include "backend/cpu/kernels/Arithmetic.h"

#include "runtime/Tensor.h"

#include <optional>

namespace sinter::cpu {

struct WinogradArithmetic {
  Arithmetic given;    ///< Of the convolution.
  Arithmetic products; ///< Of elements of transformed tiles.
  /// Of a tile: four, or two, which have two thirds of the weights and a third
  /// more products for as many outputs. Its columns are four.
  int64_t outputRows = 4;

  static constexpr int64_t outputColumns = 4, inputColumns = 6;
  int64_t inputRows() const { return outputRows + 2; }
  /// Products for a tile, between two channels.
  int64_t elements() const { return inputRows() * inputColumns; }

  /// None if \p target has no kernel that is any faster than \p given.
  static std::optional<WinogradArithmetic>
  of(const Arithmetic &given, const Target &target, int64_t outputRows = 4);
  bool isOfFloats() const { return isFloat(products.accumulator); }

  /// Whether all sums of products of \p activations, bytes of any numbers, by
  /// \p weights [K, C, 3, 3], bytes, too, come out exactly.
  static bool holdsSums(ElementType activations, const Tensor &weights);

  /// B^T d: six inputs of one row or column become six, and four become four.
  llvm::SmallVector<mlir::Value>
  transformInputs(VectorBuilder &code, llvm::ArrayRef<mlir::Value> d) const;
  /// A^T m: six products become four outputs, of integers times 24, 12, 6 and
  /// 6, and four become two, of integers times 2.
  llvm::SmallVector<mlir::Value>
  transformProducts(VectorBuilder &code, llvm::ArrayRef<mlir::Value> m) const;
  /// Vector operations of the transforms of a tile before and after products.
  int64_t inputOperations() const;
  int64_t outputOperations() const;
  /// Output (\p row, \p column) of a tile, of which \p scaled came out.
  mlir::Value unscaled(VectorBuilder &code, mlir::Value scaled, int64_t row,
                       int64_t column) const;
  /// G g G^T of \p count weights g, with integers times the denominators: tap i
  /// of weight n is taps[i * count + n], and so are the elements().
  void transformWeights(const double *taps, int64_t count,
                        double *result) const;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_KERNELS_WINOGRADARITHMETIC_H
