//===- VectorBuilder.cpp - builds vector code -----------------------------===//

#include "backend/cpu/kernels/common/VectorBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <numeric>

using namespace mlir;
using namespace sinter::cpu;

Value VectorBuilder::flatten(Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  if (type.getRank() == 1)
    return memref;
  int64_t size = type.getNumElements();
  auto flat = MemRefType::get({size}, type.getElementType());
  return builder.create<memref::ReinterpretCastOp>(
      loc, flat, memref, /*offset=*/0, ArrayRef<int64_t>{size},
      ArrayRef<int64_t>{1});
}

Value VectorBuilder::load(Value flat, Value offset, VectorType type) {
  return builder.create<vector::LoadOp>(loc, type, flat, offset);
}

Value VectorBuilder::loadFirst(Value flat, Value offset, VectorType type,
                               int64_t valid) {
  if (valid >= type.getNumElements())
    return load(flat, offset, type);
  auto maskType = VectorType::get({type.getNumElements()}, builder.getI1Type());
  SmallVector<bool> bits(type.getNumElements(), false);
  std::fill_n(bits.begin(), valid, true);
  Value mask = builder.create<arith::ConstantOp>(
      loc, DenseElementsAttr::get(maskType, bits));
  return builder.create<vector::MaskedLoadOp>(loc, type, flat, offset, mask,
                                              zero(type));
}

Value VectorBuilder::loadIf(Value condition, Value flat, Value offset,
                            VectorType type, Value otherwise) {
  auto maskType = VectorType::get(type.getShape(), builder.getI1Type());
  Value mask = builder.create<vector::SplatOp>(loc, maskType, condition);
  return builder.create<vector::MaskedLoadOp>(
      loc, type, flat, offset, mask, otherwise ? otherwise : zero(type));
}

Value VectorBuilder::addressOf(Value flat, Value offset) {
  const Type i64 = builder.getI64Type(),
             element = cast<MemRefType>(flat.getType()).getElementType(),
             pointer = LLVM::LLVMPointerType::get(builder.getContext());
  auto number = [&](Value index) -> Value {
    return builder.create<arith::IndexCastOp>(loc, i64, index);
  };
  Value address = builder.create<LLVM::IntToPtrOp>(
      loc, pointer,
      number(
          builder.create<memref::ExtractAlignedPointerAsIndexOp>(loc, flat)));
  return builder.create<LLVM::GEPOp>(loc, pointer, element, address,
                                     ValueRange{number(offset)});
}

Value VectorBuilder::loadAt(Value address, Value offset, VectorType type) {
  const Type element = type.getElementType();
  Value number =
      builder.create<arith::IndexCastOp>(loc, builder.getI64Type(), offset);
  Value there = builder.create<LLVM::GEPOp>(loc, address.getType(), element,
                                            address, ValueRange{number});
  return builder.create<LLVM::LoadOp>(loc, type, there,
                                      element.getIntOrFloatBitWidth() / 8);
}

Value VectorBuilder::loadEither(Value condition, Value flat, Value offset,
                                VectorType type, Value other) {
  return loadAt(
      select(condition, addressOf(flat, offset), addressOf(other, index(0))),
      index(0), type);
}

Value VectorBuilder::loadSome(Value flat, Value offset, VectorType type,
                              Value count) {
  const int64_t lanes = type.getNumElements();
  SmallVector<int32_t> numbers(lanes);
  std::iota(numbers.begin(), numbers.end(), 0);
  Value lane =
      builder.create<arith::ConstantOp>(loc, builder.getI32VectorAttr(numbers));
  Value last = builder.create<arith::IndexCastOp>(loc, builder.getI32Type(),
                                                  min(count, index(lanes)));
  Value mask = builder.create<arith::CmpIOp>(
      loc, arith::CmpIPredicate::slt, lane,
      builder.create<vector::SplatOp>(loc, lane.getType(), last));
  return builder.create<vector::MaskedLoadOp>(loc, type, flat, offset, mask,
                                              zero(type));
}

Value VectorBuilder::loadSplat(Value flat, Value offset, VectorType type) {
  Value scalar = builder.create<memref::LoadOp>(loc, flat, offset);
  return builder.create<vector::SplatOp>(loc, type, scalar);
}

void VectorBuilder::prefetch(Value flat, Value offset) {
  builder.create<memref::PrefetchOp>(loc, flat, offset, /*isWrite=*/false,
                                     /*localityHint=*/2, /*isDataCache=*/true);
}

void VectorBuilder::store(Value value, Value flat, Value offset) {
  builder.create<vector::StoreOp>(loc, value, flat, offset);
}

Value VectorBuilder::zero(VectorType type) {
  return builder.create<arith::ConstantOp>(loc, builder.getZeroAttr(type));
}
Value VectorBuilder::fma(Value a, Value b, Value c) {
  return builder.create<vector::FMAOp>(loc, a, b, c);
}
static bool isOfIntegers(Value vector) {
  return isa<IntegerType>(getElementTypeOrSelf(vector.getType()));
}
Value VectorBuilder::addVectors(Value a, Value b) {
  if (isOfIntegers(a))
    return builder.create<arith::AddIOp>(loc, a, b);
  return builder.create<arith::AddFOp>(loc, a, b);
}
Value VectorBuilder::subVectors(Value a, Value b) {
  if (isOfIntegers(a))
    return builder.create<arith::SubIOp>(loc, a, b);
  return builder.create<arith::SubFOp>(loc, a, b);
}
Value VectorBuilder::mulVectors(Value a, Value b) {
  return builder.create<arith::MulFOp>(loc, a, b);
}
Value VectorBuilder::scaleAdd(Value a, double factor, Value c) {
  auto type = cast<VectorType>(a.getType());
  if (isOfIntegers(a)) {
    const auto number = builder.getIntegerAttr(type.getElementType(),
                                               static_cast<int64_t>(factor));
    Value splat = builder.create<arith::ConstantOp>(
        loc, DenseElementsAttr::get(type, number));
    return addVectors(builder.create<arith::MulIOp>(loc, a, splat), c);
  }
  Value splat = builder.create<arith::ConstantOp>(
      loc, DenseElementsAttr::get(
               type,
               builder.getFloatAttr(type.getElementType(), factor).getValue()));
  return fma(a, splat, c);
}
Value VectorBuilder::bitsAs(Value vector, VectorType type) {
  if (vector.getType() == type)
    return vector;
  return builder.create<vector::BitCastOp>(loc, type, vector);
}
Value VectorBuilder::interleaved(Value a, Value b) {
  const int64_t count = cast<VectorType>(a.getType()).getNumElements();
  SmallVector<int64_t> places;
  for (int64_t i = 0; i < count; ++i) {
    places.push_back(i);
    places.push_back(count + i);
  }
  return builder.create<vector::ShuffleOp>(loc, a, b, places);
}
Value VectorBuilder::interleavedBytes(ArrayRef<Value> four) {
  const int64_t count = cast<VectorType>(four[0].getType()).getNumElements();
  auto pairs = VectorType::get({count}, builder.getI16Type());
  auto pairsOf = [&](Value a, Value b) {
    return bitsAs(interleaved(a, b), pairs);
  };
  return bitsAs(
      interleaved(pairsOf(four[0], four[1]), pairsOf(four[2], four[3])),
      VectorType::get({4 * count}, builder.getI8Type()));
}
Value VectorBuilder::first(Value vector, int64_t lanes) {
  if (lanes == cast<VectorType>(vector.getType()).getNumElements())
    return vector;
  return builder.create<vector::ExtractStridedSliceOp>(
      loc, vector, ArrayRef<int64_t>{0}, ArrayRef<int64_t>{lanes},
      ArrayRef<int64_t>{1});
}
