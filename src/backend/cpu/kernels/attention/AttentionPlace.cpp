//===- AttentionPlace.cpp - the head and rows of an attention task --------===//

#include "backend/cpu/kernels/attention/AttentionPlace.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/Sequence.h"

#include <limits>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

Value cpu::splatNumber(VectorBuilder &e, Type type, double number) {
  if (auto vector = dyn_cast<VectorType>(type))
    return e.builder.create<arith::ConstantOp>(
        e.loc,
        DenseElementsAttr::get(
            vector, e.builder.getFloatAttr(vector.getElementType(), number)
                        .getValue()));
  return e.builder.create<arith::ConstantOp>(
      e.loc, e.builder.getFloatAttr(type, number));
}

Value cpu::loadNumber(VectorBuilder &e, Value flat, Value offset) {
  return e.builder.create<memref::LoadOp>(e.loc, flat, offset);
}

void cpu::storeNumber(VectorBuilder &e, Value number, Value flat,
                      Value offset) {
  e.builder.create<memref::StoreOp>(e.loc, number, flat, offset);
}

Value cpu::greater(VectorBuilder &e, Value a, Value b) {
  Value isGreater =
      e.builder.create<arith::CmpFOp>(e.loc, arith::CmpFPredicate::OGT, a, b);
  return e.select(isGreater, a, b);
}

AttentionPlace::AttentionPlace(VectorBuilder &e, const AttentionShape &shape,
                               const AttentionOperands &operands, Value matrix)
    : shape(shape), query(e.flatten(operands.query)),
      key(e.flatten(operands.key)), value(e.flatten(operands.value)),
      mask(operands.mask ? e.flatten(operands.mask) : Value()),
      result(e.flatten(operands.result)), scratch(e.flatten(operands.scratch)),
      heads(shape.heads.size()) {
  queryBase = keyBase = valueBase = maskBase = resultBase = e.index(0);
  for (size_t d = shape.heads.size(); d-- > 0;) {
    const AttentionShape::Heads &of = shape.heads[d];
    Value i = d == 0 ? matrix : e.rem(matrix, of.size);
    heads[d] = i;
    matrix = e.div(matrix, of.size);
    Value shared = e.div(i, of.shared);
    auto advance = [&](Value &base, Value by, const Distance &stride) {
      base = e.add(base, e.mul(by, stride.in(e)));
    };
    advance(queryBase, i, of.query);
    advance(keyBase, shared, of.key);
    advance(valueBase, shared, of.value);
    advance(maskBase, i, of.mask);
    advance(resultBase, i, of.result);
  }
}

void AttentionPlace::beginAt(VectorBuilder &e, Value row) {
  firstRow = row;
  auto advance = [&](Value &base, const Distance &stride) {
    base = e.add(base, e.mul(firstRow, stride.in(e)));
  };
  advance(queryBase, shape.queryRow);
  advance(maskBase, shape.maskRow);
  advance(resultBase, shape.resultRow);
}

/// The lanes of the vector at \p column of a block that are scores of keys.
Value AttentionPlace::seenLanes(VectorBuilder &e, Value column,
                                VectorType type) const {
  const int64_t count = type.getNumElements();
  // A block has few keys: 32-bit indices suffice, one per score lane.
  Type narrow = e.builder.getI32Type();
  auto indices = VectorType::get({count}, narrow);
  auto numbers = llvm::to_vector(llvm::seq<int32_t>(0, count));
  Value lane = e.builder.create<arith::ConstantOp>(
      e.loc, DenseElementsAttr::get(indices, ArrayRef<int32_t>(numbers)));
  Value left = e.builder.create<vector::SplatOp>(
      e.loc, indices,
      e.builder.create<arith::IndexCastOp>(e.loc, narrow,
                                           e.sub(keyCount, column)));
  return e.builder.create<arith::CmpIOp>(e.loc, arith::CmpIPredicate::slt, lane,
                                         left);
}

Value AttentionPlace::finishScores(VectorBuilder &e, Value first, Value vector,
                                   Value row, Value ofBlock) const {
  auto type = cast<VectorType>(vector.getType());
  if (shape.scale != 1)
    vector = e.mulVectors(vector, splatNumber(e, type, shape.scale));
  Value column = e.add(first, ofBlock);
  if (shape.mask != AttentionShape::Mask::None) {
    Value offset =
        e.add(e.add(maskBase, e.mul(row, shape.maskRow.in(e))), column);
    Value added = keyCount ? Value(e.builder.create<vector::MaskedLoadOp>(
                                 e.loc, type, mask, ValueRange{offset},
                                 seenLanes(e, ofBlock, type), e.zero(type)))
                           : e.load(mask, offset, type);
    if (shape.mask == AttentionShape::Mask::Added) {
      vector = e.addVectors(vector, added);
    } else {
      Value isSeen = e.builder.create<arith::CmpFOp>(
          e.loc, arith::CmpFPredicate::OEQ, added, splatNumber(e, type, 0));
      vector = e.select(isSeen, vector, added);
    }
  }
  if (keyCount)
    vector = e.select(
        seenLanes(e, ofBlock, type), vector,
        splatNumber(e, type, -std::numeric_limits<double>::infinity()));
  if (!shape.isCausal)
    return vector;
  // Lane l is visible where column + l <= row.
  int64_t lanes = type.getNumElements();
  auto indices = VectorType::get({lanes}, e.builder.getIndexType());
  auto numbers = llvm::to_vector(llvm::seq<int64_t>(0, lanes));
  Value lane = e.builder.create<arith::ConstantOp>(
      e.loc, DenseElementsAttr::get(indices, ArrayRef<int64_t>(numbers)));
  auto spread = [&](Value x) -> Value {
    return e.builder.create<vector::SplatOp>(e.loc, indices, x);
  };
  Value columns = e.create<arith::AddIOp>(spread(column), lane);
  Value isSeen = e.builder.create<arith::CmpIOp>(
      e.loc, arith::CmpIPredicate::sle, columns, spread(e.add(firstRow, row)));
  return e.select(
      isSeen, vector,
      splatNumber(e, type, -std::numeric_limits<double>::infinity()));
}
