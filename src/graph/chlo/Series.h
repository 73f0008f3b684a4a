//===- Series.h - building blocks of special functions --------------------===//

#ifndef SINTER_GRAPH_CHLO_SERIES_H
#define SINTER_GRAPH_CHLO_SERIES_H

#include "graph/nn/TensorBuilder.h"

namespace sinter::chlo {

using nn::TensorBuilder;
using Direction = stablehlo::ComparisonDirection;

/// The element type of a tensor; of its real part if it is complex.
mlir::Type realElementOf(mlir::Value value);
bool isComplexTensor(mlir::Value value);
bool isDouble(mlir::Value value);

/// The largest finite value of the elements' type.
double largestOf(mlir::Value value);

/// Builds \p function in f32 where the operands' type is smaller.
mlir::Value
inWideType(TensorBuilder &emit, mlir::ValueRange operands,
           llvm::function_ref<mlir::Value(mlir::ValueRange)> function);

/// c[0] + c[1] T_1(t) + c[2] T_2(t) + ... for t in [-1, 1], T_k Chebyshev's
/// polynomials, by Clenshaw's recurrence. Terms below the precision of \p t's
/// type are left out.
mlir::Value chebyshev(TensorBuilder &emit, mlir::Value t,
                      llvm::ArrayRef<double> coefficients);

/// c[0] x^n + c[1] x^(n-1) + ... + c[n]
mlir::Value polynomial(TensorBuilder &emit, mlir::Value x,
                       llvm::ArrayRef<double> coefficients);

/// Maps \p x from [low, high] to [-1, 1].
mlir::Value toUnit(TensorBuilder &emit, mlir::Value x, double low, double high);

/// \p magnitude, which is not negative, with the sign of \p sign, also if that
/// is a signed zero.
mlir::Value withSignOf(TensorBuilder &emit, mlir::Value magnitude,
                       mlir::Value sign);

mlir::Value infinityLike(TensorBuilder &emit, mlir::Value x);
mlir::Value nanLike(TensorBuilder &emit, mlir::Value x);

inline mlir::Value log1p(TensorBuilder &emit, mlir::Value x) {
  return emit.make<stablehlo::Log1pOp>(x);
}
inline mlir::Value expm1(TensorBuilder &emit, mlir::Value x) {
  return emit.make<stablehlo::Expm1Op>(x);
}
inline mlir::Value atan2(TensorBuilder &emit, mlir::Value y, mlir::Value x) {
  return emit.make<stablehlo::Atan2Op>(y, x);
}
inline mlir::Value floor(TensorBuilder &emit, mlir::Value x) {
  return emit.make<stablehlo::FloorOp>(x);
}
inline mlir::Value both(TensorBuilder &emit, mlir::Value a, mlir::Value b) {
  return emit.make<stablehlo::AndOp>(a, b);
}
inline mlir::Value either(TensorBuilder &emit, mlir::Value a, mlir::Value b) {
  return emit.make<stablehlo::OrOp>(a, b);
}
/// number - x and number / x.
inline mlir::Value from(TensorBuilder &emit, double number, mlir::Value x) {
  return emit.sub(emit.splat(number, nn::tensorOf(x)), x);
}
inline mlir::Value over(TensorBuilder &emit, double number, mlir::Value x) {
  return emit.div(emit.splat(number, nn::tensorOf(x)), x);
}

} // namespace sinter::chlo

#endif // SINTER_GRAPH_CHLO_SERIES_H
