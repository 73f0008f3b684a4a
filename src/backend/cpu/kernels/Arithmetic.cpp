//===- Arithmetic.cpp - what a generator multiplies and sums in -----------===//

#include "backend/cpu/kernels/Arithmetic.h"

#include "graph/Types.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

/// As it lies in memory: integers without sign.
static Type typeOf(ElementType type, MLIRContext *context) {
  if (isInteger(type))
    return IntegerType::get(context, bitWidth(type));
  return mlirTypeOf(type, context);
}

Arithmetic Arithmetic::of(Type element) {
  const ElementType type = *elementTypeOf(element);
  return {type, type, 1};
}

VectorType Arithmetic::sumType(MLIRContext *context, int64_t lanes) const {
  return VectorType::get({lanes}, typeOf(accumulator, context));
}

VectorType Arithmetic::operandType(MLIRContext *context, int64_t lanes) const {
  return VectorType::get({lanes * kGroup}, typeOf(operand, context));
}

Value Arithmetic::loadSplat(VectorBuilder &code, Value flat, Value offset,
                            int64_t lanes, int64_t valid) const {
  OpBuilder &b = code.builder;
  VectorType type = operandType(b.getContext(), lanes);
  if (kGroup == 1)
    return code.loadSplat(flat, offset, type);
  // The group as one wide integer, which is repeated as such.
  auto group = VectorType::get({kGroup}, type.getElementType());
  auto whole = VectorType::get(
      {1}, b.getIntegerType(static_cast<unsigned>(kGroup * bytes() * 8)));
  Value loaded = code.loadFirst(flat, offset, group, valid);
  Value packed = b.create<vector::BitCastOp>(code.loc, whole, loaded);
  Value scalar =
      b.create<vector::ExtractOp>(code.loc, packed, ArrayRef<int64_t>{0});
  Value splat = b.create<vector::SplatOp>(
      code.loc, VectorType::get({lanes}, whole.getElementType()), scalar);
  return b.create<vector::BitCastOp>(code.loc, type, splat);
}

/// In the type of the sums.
Value Arithmetic::widened(VectorBuilder &code, Value factor) const {
  if (operand == accumulator)
    return factor;
  OpBuilder &b = code.builder;
  auto type = cast<VectorType>(factor.getType())
                  .clone(typeOf(accumulator, b.getContext()));
  if (isFloat(operand))
    return b.create<arith::ExtFOp>(code.loc, type, factor);
  return classOf(operand) == ElementClass::UInt
             ? Value(b.create<arith::ExtUIOp>(code.loc, type, factor))
             : Value(b.create<arith::ExtSIOp>(code.loc, type, factor));
}

Value Arithmetic::multiplyAdd(VectorBuilder &code, Value a, Value b,
                              Value sum) const {
  if (isFloat(accumulator))
    return code.fma(widened(code, a), widened(code, b), sum);
  OpBuilder &builder = code.builder;
  Value products = builder.create<arith::MulIOp>(code.loc, widened(code, a),
                                                 widened(code, b));
  const int64_t lanes = cast<VectorType>(sum.getType()).getNumElements();
  // One of each group after the other.
  for (int64_t i = 0; i < kGroup; ++i) {
    Value part = products;
    if (kGroup > 1) {
      SmallVector<int64_t> places;
      for (int64_t lane = 0; lane < lanes; ++lane)
        places.push_back(lane * kGroup + i);
      part = builder.create<vector::ShuffleOp>(code.loc, products, products,
                                               places);
    }
    sum = builder.create<arith::AddIOp>(code.loc, sum, part);
  }
  return sum;
}

Value Arithmetic::add(VectorBuilder &code, Value a, Value b) const {
  return isFloat(accumulator)
             ? code.addVectors(a, b)
             : code.builder.create<arith::AddIOp>(code.loc, a, b);
}
