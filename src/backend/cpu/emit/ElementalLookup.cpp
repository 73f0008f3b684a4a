//===- ElementalLookup.cpp - elements that stand in a table ---------------===//

#include "backend/cpu/emit/Elemental.h"
#include "backend/cpu/ir/CpuOps.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

/// What the table in \p memory has for the bytes of the vector \p index: the
/// lower seven bits choose in each half of the table, and the highest between
/// what both gave.
static Value permuted(KernelBuilder &code, Value memory, Value index) {
  constexpr int64_t width = 64;
  const int64_t count = cast<VectorType>(index.getType()).getNumElements();
  auto type = VectorType::get({width}, code.builder.getI8Type());
  const SmallVector<int64_t> first = {0}, sizes = {count}, strides = {1};
  Value wide = index;
  if (count != width)
    wide = code.create<vector::InsertStridedSliceOp>(
        index, code.create<LLVM::UndefOp>(type), first, strides);
  auto half = [&](int64_t begin) -> Value {
    auto quarter = [&](int64_t offset) -> Value {
      return code.create<vector::LoadOp>(type, memory,
                                         ValueRange{code.index(offset)});
    };
    return code.create<LLVM::CallIntrinsicOp>(
        type, code.builder.getStringAttr("llvm.x86.avx512.vpermi2var.qi.512"),
        ValueRange{quarter(begin), wide, quarter(begin + width)});
  };
  Value zero = code.create<arith::ConstantOp>(code.builder.getZeroAttr(type));
  Value isUpper =
      code.create<arith::CmpIOp>(arith::CmpIPredicate::slt, wide, zero);
  Value found = code.create<arith::SelectOp>(isUpper, half(2 * width), half(0));
  return count == width ? found
                        : code.create<vector::ExtractStridedSliceOp>(
                              found, first, sizes, strides);
}

/// The same by rows of 16 entries (pshufb), which give 0 for what lies in
/// another: \p index less the row's first, to which so much is added, with
/// saturation, that the highest bit says whether it is 16 or more.
static Value shuffled(KernelBuilder &code, Value memory, Value index,
                      int64_t width) {
  constexpr int64_t row = 16, entries = 256;
  const int64_t count = cast<VectorType>(index.getType()).getNumElements();
  Type byte = code.builder.getI8Type();
  auto type = VectorType::get({width}, byte),
       rowType = VectorType::get({row}, byte);
  auto splat = [&](uint64_t number) -> Value {
    return code.create<arith::ConstantOp>(
        DenseElementsAttr::get(type, APInt(8, number)));
  };
  const StringRef name = width == 64   ? "llvm.x86.avx512.pshuf.b.512"
                         : width == 32 ? "llvm.x86.avx2.pshuf.b"
                                       : "llvm.x86.ssse3.pshuf.b.128";
  const int64_t parts = count / width;
  SmallVector<Value> rest(parts), found(parts);
  const SmallVector<int64_t> sizes = {width}, strides = {1};
  for (int64_t part = 0; part < parts; ++part)
    rest[part] = parts == 1 ? index
                            : code.create<vector::ExtractStridedSliceOp>(
                                  index, SmallVector<int64_t>{part * width},
                                  sizes, strides);
  SmallVector<int64_t> repeated;
  for (int64_t i = 0; i < width; ++i)
    repeated.push_back(i % row);
  Value beyond = splat(0x70), first = splat(row);
  for (int64_t begin = 0; begin < entries; begin += row) {
    Value table = code.create<vector::LoadOp>(rowType, memory,
                                              ValueRange{code.index(begin)});
    if (width != row)
      table = code.create<vector::ShuffleOp>(table, table, repeated);
    for (int64_t part = 0; part < parts; ++part) {
      Value place = code.create<LLVM::UAddSat>(type, rest[part], beyond);
      Value chosen = code.create<LLVM::CallIntrinsicOp>(
          type, code.builder.getStringAttr(name), ValueRange{table, place});
      found[part] =
          found[part] ? code.create<arith::OrIOp>(found[part], chosen) : chosen;
      if (begin + row < entries)
        rest[part] = code.create<arith::SubIOp>(rest[part], first);
    }
  }
  if (parts == 1)
    return found[0];
  Value all = code.create<LLVM::UndefOp>(index.getType());
  for (int64_t part = 0; part < parts; ++part)
    all = code.create<vector::InsertStridedSliceOp>(
        found[part], all, SmallVector<int64_t>{part * width}, strides);
  return all;
}

/// \p entry for each of the bytes \p index, eight of which are taken apart and
/// put together as one integer: what else is computed in vectors leaves time
/// for that, but not for moving bytes from and to vectors one by one.
static Value oneByOne(KernelBuilder &code, Value index,
                      llvm::function_ref<Value(Value)> entry) {
  const int64_t count = cast<VectorType>(index.getType()).getNumElements();
  Type byte = code.builder.getI8Type();
  if (count % 8 != 0) {
    Values entries;
    for (int64_t i = 0; i < count; ++i)
      entries.push_back(entry(code.create<vector::ExtractOp>(index, i)));
    return code.create<vector::FromElementsOp>(VectorType::get({count}, byte),
                                               entries);
  }
  Type word = code.builder.getI64Type();
  auto words = VectorType::get({count / 8}, word);
  Value packed = code.create<vector::BitCastOp>(words, index);
  Values found;
  for (int64_t i = 0; i < count / 8; ++i) {
    Value bytes = code.create<vector::ExtractOp>(packed, i), all;
    for (int64_t at = 0; at < 64; at += 8) {
      Value shift = code.create<arith::ConstantIntOp>(at, word);
      Value number = code.create<arith::TruncIOp>(
          byte, code.create<arith::ShRUIOp>(bytes, shift));
      Value wide = code.create<arith::ShLIOp>(
          code.create<arith::ExtUIOp>(word, entry(number)), shift);
      all = all ? code.create<arith::OrIOp>(all, wide) : wide;
    }
    found.push_back(all);
  }
  return code.create<vector::BitCastOp>(
      index.getType(), code.create<vector::FromElementsOp>(words, found));
}

std::optional<Values> Elemental::lookupAt(LookupOp op, Place place) {
  Value index = at(op.getOperand(), place);
  auto entry = [&](Value number) {
    Value offset =
        code.create<arith::IndexCastUIOp>(code.builder.getIndexType(), number);
    return at(op.getTable(), Coordinates{Coordinate(offset)});
  };
  auto vector = dyn_cast<VectorType>(index.getType());
  if (!vector)
    return Values{entry(index)};
  Value memory = memories.lookup(op.getTable());
  if (memory && code.permutesBytes && vector.getNumElements() <= 64)
    return Values{permuted(code, memory, index)};
  // Fewer are as fast one by one.
  constexpr int64_t leastShuffled = 32;
  if (memory && code.shuffledBytes > 0 &&
      vector.getNumElements() >= leastShuffled &&
      vector.getNumElements() % code.shuffledBytes == 0)
    return Values{shuffled(code, memory, index, code.shuffledBytes)};
  return Values{oneByOne(code, index, entry)};
}
