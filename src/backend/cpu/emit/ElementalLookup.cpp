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
  Values entries;
  for (int64_t i = 0; i < vector.getNumElements(); ++i)
    entries.push_back(entry(code.create<vector::ExtractOp>(index, i)));
  return Values{code.create<vector::FromElementsOp>(
      VectorType::get(vector.getShape(), entries[0].getType()), entries)};
}
