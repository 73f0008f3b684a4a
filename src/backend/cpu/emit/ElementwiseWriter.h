//===- ElementwiseWriter.h - arithmetic of each class of numbers ----------===//
//
// stablehlo's elementwise operations on scalars or vectors. Floats narrower
// than f32 are computed in f32 and rounded after every operation.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_EMIT_ELEMENTWISEWRITER_H
#define SINTER_BACKEND_CPU_EMIT_ELEMENTWISEWRITER_H

#include "backend/cpu/kernels/common/KernelBuilder.h"
#include "graph/nn/NnOps.h"
#include "graph/stablehlo/StablehloOps.h"

namespace sinter::cpu {

class ElementwiseWriter {
public:
  /// \p like is a type whose vector shape all values have. \p reassociate lets
  /// LLVM take sums and products of floats in another order.
  ElementwiseWriter(KernelBuilder &code, mlir::Type like,
                    bool reassociate = false)
      : e(code), like(like), reassociate(reassociate) {}

  using Operands = llvm::ArrayRef<mlir::Value>;
  mlir::Value floatOperation(mlir::Operation *op, Operands operands,
                             mlir::Type element);
  mlir::Value integerOperation(mlir::Operation *op, Operands operands,
                               mlir::Type element);
  mlir::Value complexOperation(mlir::Operation *op, Operands operands,
                               mlir::Type result);
  mlir::Value compareInOrder(stablehlo::ComparisonDirection direction,
                             mlir::Value a, mlir::Value b);
  mlir::Value compare(stablehlo::ComparisonDirection direction,
                      std::optional<stablehlo::ComparisonType> type,
                      mlir::Value a, mlir::Value b, mlir::Type element);
  mlir::Value clamp(mlir::Value least, mlir::Value x, mlir::Value greatest,
                    mlir::Type element);
  mlir::Value convert(mlir::Value value, mlir::Type from, mlir::Type to);

private:
  mlir::Value wideFloat(mlir::Operation *op, Operands operands,
                        bool roundsToHalf = false);
  mlir::Value exactReciprocal(mlir::Operation *op, mlir::Type element);
  mlir::Value refineCubicRoot(mlir::Value root, mlir::Value x);
  mlir::Value floatPower(mlir::Operation *op, mlir::Value x, mlir::Value y);
  mlir::Value floatRemainder(mlir::Value x, mlir::Value y);
  mlir::Value reducePrecision(stablehlo::ReducePrecisionOp op, mlir::Value x);
  mlir::Value integerDivision(mlir::Value a, mlir::Value b, bool isUnsigned,
                              bool remainder);
  bool dividesFasterInFloats(mlir::Value divisor, unsigned width);
  mlir::Value quotientInFloats(mlir::Value a, mlir::Value b, bool isUnsigned);
  mlir::Value integerPower(mlir::Value x, mlir::Value y, bool isUnsigned);
  mlir::Value shift(mlir::Operation *op, mlir::Value a, mlir::Value b);
  mlir::Value floatToInteger(mlir::Value value, mlir::Type to);
  /// The number that \p value is, or that all its elements are, if it is known
  /// and no NaN.
  static std::optional<llvm::APFloat> numberIn(mlir::Value value);
  mlir::Value clampByNumbers(mlir::Value least, mlir::Value x,
                             mlir::Value greatest);
  mlir::Value totalOrder(mlir::Value value, mlir::FloatType element);

  /// \p element with the shape of the operands.
  mlir::Type shaped(mlir::Type element);
  mlir::Value constant(mlir::Type shapedType, mlir::TypedAttr scalar);
  mlir::Value number(mlir::Type shapedType, double value);
  mlir::Value integer(mlir::Type shapedType, const llvm::APInt &value);
  mlir::Value integer(mlir::Type shapedType, int64_t value);
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b) {
    return e.create<mlir::arith::SelectOp>(condition, a, b);
  }
  mlir::Value compareFloats(mlir::arith::CmpFPredicate predicate, mlir::Value a,
                            mlir::Value b) {
    return e.create<mlir::arith::CmpFOp>(predicate, a, b);
  }
  mlir::Value compareIntegers(mlir::arith::CmpIPredicate predicate,
                              mlir::Value a, mlir::Value b) {
    return e.create<mlir::arith::CmpIOp>(predicate, a, b);
  }

  KernelBuilder &e;
  mlir::Type like;
  bool reassociate;
};

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_EMIT_ELEMENTWISEWRITER_H
