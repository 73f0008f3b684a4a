//===- ByteProducts.h - products of integers as products of bytes ---------===//
//
//   dot_general(convert<i32>(a : ui8) - z, w : i32)
//     ->  cpu.byte_product(a, w' : i8) : i32  -  z * sums of w' over its rows
//
//   convolution(convert<i32>(a : ui8) - z, w : i32)
//     ->  cpu.convolution(a, w' : i8) {zero_point = z} : i32
//
// Quantised products are sums of products of distances from zero points. What
// the generators multiply are the bytes themselves, by signed bytes; zero
// points become one number an output. All is exact, or wraps as sums of 32 bits
// do.
//
// Where f32 holds the sums, too, kernels/Estimates says which is faster.
//
// Restrictions:
//   - The left operand is bytes, or distances of bytes from one number; of a
//     convolution, from a constant.
//   - The right operand is a constant whose numbers, without zero points, are
//     signed bytes.
//   - Sums are of 32 bits; convolutions are not channel by channel, whose sums
//     f32 holds.
//   - Products have no batching dimensions, and their weights lie as a matrix.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_LAYOUT_BYTEPRODUCTS_H
#define SINTER_BACKEND_CPU_LAYOUT_BYTEPRODUCTS_H

#include "graph/nn/TensorBuilder.h"
#include "runtime/Tensor.h"
#include <optional>

namespace sinter::cpu {

struct Target;

/// A tensor whose elements are the distances of bytes from a number, or the
/// bytes themselves.
struct ByteDistances {
  mlir::Value bytes;
  int64_t zeroPoint = 0;
  /// The number where it is not a constant, a tensor of one element of the
  /// type of the distances; null else.
  mlir::Value variable;

  static std::optional<ByteDistances> match(mlir::Value value);
  /// The same distances from bytes of the kind that \p target multiplies
  /// fastest.
  ByteDistances preferredBy(const Target &target,
                            nn::TensorBuilder &emit) const;
};

/// The elements of a constant, as signed bytes if all of them are.
std::optional<Tensor> signedBytes(mlir::Value weights);

/// A convolution that the kernels of bytes compute, given that they compute its
/// form.
struct ByteConvolution {
  ByteDistances input;
  Tensor weights;

  static std::optional<ByteConvolution> match(stablehlo::ConvolutionOp op);
  /// Whether match will read the weights of \p op as they are: constant signed
  /// bytes that are only widened.
  static bool readsBytes(stablehlo::ConvolutionOp op);
};

/// The result of \p op, of distances from a number that is not a constant, by
/// a convolution of what they are the distances of, padded with that number:
///
///   convolution(convert<i32>(a) - z, w), padded
///     ->  convolution(convert<i32>(pad(a, z)), w) - z * sums of w
///
/// Null for anything else.
mlir::Value withoutVariableZeroPoint(stablehlo::ConvolutionOp op);

/// A matrix product that the kernels of bytes compute.
struct ByteProduct {
  stablehlo::DotGeneralOp op;
  ByteDistances input;
  Tensor weights;

  static std::optional<ByteProduct> match(stablehlo::DotGeneralOp op);
  /// The result of the product.
  mlir::Value emit(const Target &target) const;
};

/// \p value, the left operand \p side of a product, with the contracted
/// dimensions behind the others.
mlir::Value withNeighbours(nn::TensorBuilder &emit, mlir::Value value,
                           const stablehlo::ProductSide &side);

/// Whether the weights \p side of a product lie as a matrix or a transposed
/// one.
bool isMatrix(const stablehlo::ProductSide &side);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_LAYOUT_BYTEPRODUCTS_H
