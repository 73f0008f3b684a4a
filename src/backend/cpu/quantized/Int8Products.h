//===- Int8Products.h - form int8 matmuls and convolutions ----------------===//
//
//   dot_general(convert<i32>(a : ui8) - z, w : i32)
//     ->  cpu.int8_product(a, w' : i8) : i32  -  z * sums of w' over its rows
//
//   convolution(convert<i32>(a : ui8) - z, w : i32)
//     ->  cpu.convolution(a, w' : i8) {zero_point = z} : i32
//
// Quantised products accumulate products of values minus zero points. The
// kernels multiply the 8-bit values themselves by signed ones; zero points
// become one correction per output. All is exact, or wraps as 32-bit
// accumulators do.
//
// Where f32 holds the sums exactly, too, cost/Estimates chooses the faster
// kernel.
//
// Restrictions:
//   - The left operand is 8-bit, or 8-bit values minus a scalar; of a
//     convolution, from a constant.
//   - The right operand is a constant whose elements, minus zero points, are in
//     the range of i8.
//   - Accumulators have 32 bits; convolutions are not depthwise, whose sums f32
//     holds.
//   - Matmuls have no batching dimensions, and their weights form a matrix.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_QUANTIZED_INT8PRODUCTS_H
#define SINTER_BACKEND_CPU_QUANTIZED_INT8PRODUCTS_H

#include "graph/nn/TensorBuilder.h"
#include "runtime/Tensor.h"
#include <optional>

namespace sinter::cpu {

struct Target;

/// A tensor of 8-bit integers minus a zero point, which may be 0.
struct Int8Distances {
  mlir::Value bytes;
  int64_t zeroPoint = 0;
  /// The zero point if it is not a constant, a tensor of one element of the
  /// type of the differences; else null.
  mlir::Value variable;

  static std::optional<Int8Distances> match(mlir::Value value);
  /// The same values with the 8-bit type that \p target multiplies fastest.
  Int8Distances preferredBy(const Target &target,
                            nn::TensorBuilder &emit) const;
};

/// The elements of a constant as i8, if all of them fit.
std::optional<Tensor> signedBytes(mlir::Value weights);

/// A convolution for the int8 kernels, if these support its form.
struct Int8Convolution {
  Int8Distances input;
  Tensor weights;

  static std::optional<Int8Convolution> match(stablehlo::ConvolutionOp op);
  /// Whether match() uses the weights of \p op as they are: i8 constants that
  /// are only widened.
  static bool readsBytes(stablehlo::ConvolutionOp op);
};

/// Rewrites \p op, whose input has a run-time zero point, as a convolution of
/// the input without it, padded with the zero point:
///
///   convolution(convert<i32>(a) - z, w), padded
///     ->  convolution(convert<i32>(pad(a, z)), w) - z * sums of w
///
/// Null for anything else.
mlir::Value withoutVariableZeroPoint(stablehlo::ConvolutionOp op);

/// A matmul for the int8 kernels.
struct Int8Product {
  stablehlo::DotGeneralOp op;
  Int8Distances input;
  Tensor weights;

  static std::optional<Int8Product> match(stablehlo::DotGeneralOp op);
  /// Builds the matmul and returns its result.
  mlir::Value emit(const Target &target) const;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_QUANTIZED_INT8PRODUCTS_H
