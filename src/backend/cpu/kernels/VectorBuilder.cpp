//===- VectorBuilder.cpp - index arithmetic and loops, written shortly ----===//

#include "backend/cpu/kernels/VectorBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace sinter::cpu;

Value VectorBuilder::index(int64_t value) {
  return builder.create<arith::ConstantIndexOp>(loc, value);
}
Value VectorBuilder::add(Value a, Value b) {
  return builder.createOrFold<arith::AddIOp>(loc, a, b);
}
Value VectorBuilder::sub(Value a, Value b) {
  return builder.createOrFold<arith::SubIOp>(loc, a, b);
}
Value VectorBuilder::mul(Value a, Value b) {
  return builder.createOrFold<arith::MulIOp>(loc, a, b);
}
Value VectorBuilder::div(Value a, Value b) {
  return builder.createOrFold<arith::DivUIOp>(loc, a, b);
}
Value VectorBuilder::rem(Value a, Value b) {
  return builder.createOrFold<arith::RemUIOp>(loc, a, b);
}
Value VectorBuilder::min(Value a, Value b) {
  return builder.createOrFold<arith::MinSIOp>(loc, a, b);
}
Value VectorBuilder::max(Value a, Value b) {
  return builder.createOrFold<arith::MaxSIOp>(loc, a, b);
}
Value VectorBuilder::less(Value a, Value b) {
  return builder.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, a,
                                             b);
}
Value VectorBuilder::equal(Value a, Value b) {
  return builder.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, a,
                                             b);
}
Value VectorBuilder::inRange(Value a, int64_t bound) {
  return builder.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::ult, a,
                                             index(bound));
}
Value VectorBuilder::both(Value a, Value b) {
  return builder.createOrFold<arith::AndIOp>(loc, a, b);
}
Value VectorBuilder::select(Value condition, Value a, Value b) {
  return builder.createOrFold<arith::SelectOp>(loc, condition, a, b);
}

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
                            VectorType type) {
  auto maskType = VectorType::get(type.getShape(), builder.getI1Type());
  Value mask = builder.create<vector::SplatOp>(loc, maskType, condition);
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
Value VectorBuilder::addVectors(Value a, Value b) {
  return builder.create<arith::AddFOp>(loc, a, b);
}
Value VectorBuilder::subVectors(Value a, Value b) {
  return builder.create<arith::SubFOp>(loc, a, b);
}
Value VectorBuilder::scaleAdd(Value a, double factor, Value c) {
  auto type = cast<VectorType>(a.getType());
  Value splat = builder.create<arith::ConstantOp>(
      loc, DenseElementsAttr::get(
               type,
               builder.getFloatAttr(type.getElementType(), factor).getValue()));
  return fma(a, splat, c);
}
Value VectorBuilder::first(Value vector, int64_t lanes) {
  if (lanes == cast<VectorType>(vector.getType()).getNumElements())
    return vector;
  return builder.create<vector::ExtractStridedSliceOp>(
      loc, vector, ArrayRef<int64_t>{0}, ArrayRef<int64_t>{lanes},
      ArrayRef<int64_t>{1});
}

SmallVector<Value> VectorBuilder::loop(Value lower, Value upper, int64_t step,
                                       ValueRange carried, LoopBody body) {
  auto loop =
      builder.create<scf::ForOp>(loc, lower, upper, index(step), carried);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> next =
      body(loop.getInductionVar(), loop.getRegionIterArgs());
  if (!carried.empty())
    builder.create<scf::YieldOp>(loc, next);
  return SmallVector<Value>(loop.getResults());
}

void VectorBuilder::loop(Value lower, Value upper, int64_t step,
                         llvm::function_ref<void(Value)> body) {
  loop(lower, upper, step, ValueRange{}, [&](Value i, ValueRange) {
    body(i);
    return SmallVector<Value>();
  });
}

void VectorBuilder::branch(Value condition, llvm::function_ref<void()> then,
                           llvm::function_ref<void()> otherwise) {
  auto branch =
      builder.create<scf::IfOp>(loc, condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  then();
  builder.setInsertionPointToStart(branch.elseBlock());
  otherwise();
}

void VectorBuilder::when(Value condition, llvm::function_ref<void()> then) {
  auto branch =
      builder.create<scf::IfOp>(loc, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  then();
}
