//===- RowPairs.cpp - rows of a tile that are multiplied in pairs ---------===//

#include "backend/cpu/kernels/gemm/RowPairs.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

/// The lower halves of \p a and \p b, or the upper ones.
static Value halves(VectorBuilder &code, Value a, Value b, bool areUpper) {
  const int64_t size = cast<VectorType>(a.getType()).getNumElements();
  SmallVector<int64_t> places;
  for (const int64_t first : {int64_t(0), size})
    for (int64_t i = 0; i < size / 2; ++i)
      places.push_back(first + (areUpper ? size / 2 : 0) + i);
  return code.create<vector::ShuffleOp>(a, b, places);
}

SmallVector<Value> RowPairs::paired(VectorBuilder &code,
                                    ValueRange sums) const {
  SmallVector<Value> pairs;
  for (int64_t pair = 0; pair < count(); ++pair)
    for (int64_t v = 0; v < vectors; ++v)
      for (const bool areUpper : {false, true})
        pairs.push_back(halves(
            code, sums[2 * pair * vectors + v],
            sums[std::min(2 * pair + 1, rows - 1) * vectors + v], areUpper));
  return pairs;
}

SmallVector<Value> RowPairs::apart(VectorBuilder &code,
                                   ValueRange pairs) const {
  SmallVector<Value> sums;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t v = 0; v < vectors; ++v) {
      const int64_t at = 2 * (row / 2 * vectors + v);
      sums.push_back(halves(code, pairs[at], pairs[at + 1], row % 2 != 0));
    }
  return sums;
}

void RowPairs::step(VectorBuilder &code, MutableArrayRef<Value> pairs,
                    ArrayRef<Value> b,
                    llvm::function_ref<Value(int64_t)> a) const {
  OpBuilder &builder = code.builder;
  const auto lanes = cast<VectorType>(b.front().getType()).getNumElements() /
                     arithmetic.kGroup;
  auto words = VectorType::get({lanes}, builder.getI64Type()),
       two = VectorType::get({2}, builder.getI64Type());
  const VectorType type = arithmetic.lhsType(builder.getContext(), 2);
  // The group of a row, which all lanes have.
  auto groupOf = [&](Value row) -> Value {
    return code.create<vector::ExtractOp>(code.bitsAs(row, words),
                                          ArrayRef<int64_t>{0});
  };
  // The groups of both rows, and where the sums of one row stay, which of all
  // and then of the new sums are kept.
  struct Pair {
    Value groups;
    SmallVector<int64_t> kept;
  };
  SmallVector<Pair> rowPairs(count());
  for (auto [i, pair] : llvm::enumerate(rowPairs)) {
    Value first = a(2 * i),
          second = 2 * int64_t(i) + 1 < rows ? a(2 * i + 1) : first;
    if (!first && !second)
      continue;
    if (!first)
      pair.kept = {0, 1, 6, 7};
    if (!second)
      pair.kept = {4, 5, 2, 3};
    Value both =
        code.create<vector::SplatOp>(two, groupOf(first ? first : second));
    if (first && second && first != second)
      both = code.create<vector::InsertOp>(groupOf(second), both,
                                           ArrayRef<int64_t>{1});
    pair.groups = code.bitsAs(both, type);
  }
  for (int64_t v = 0; v < vectors; ++v)
    for (int64_t half = 0; half < 2; ++half) {
      Value columns = code.create<vector::ExtractStridedSliceOp>(
          b[v], ArrayRef<int64_t>{half * type.getNumElements()},
          ArrayRef<int64_t>{type.getNumElements()}, ArrayRef<int64_t>{1});
      for (auto [i, pair] : llvm::enumerate(rowPairs)) {
        Value &sums = pairs[2 * (int64_t(i) * vectors + v) + half];
        if (!pair.groups)
          continue;
        Value next = arithmetic.multiplyPairs(code, pair.groups, columns, sums);
        sums = pair.kept.empty()
                   ? next
                   : code.create<vector::ShuffleOp>(sums, next, pair.kept);
      }
    }
}
