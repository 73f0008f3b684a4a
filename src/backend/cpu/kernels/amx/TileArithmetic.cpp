//===- TileArithmetic.cpp - bf16 splits of AMX products -------------------===//

#include "backend/cpu/kernels/amx/TileArithmetic.h"

#include "backend/cpu/kernels/common/Arithmetic.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/STLExtras.h"

#include <bit>
#include <cmath>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

/// How many bf16 terms, of eight bits each, represent \p type exactly.
static std::optional<int64_t> wholeTerms(ElementType type) {
  switch (type) {
  case ElementType::F32:
    return 3;
  case ElementType::F16:
    return 2;
  case ElementType::BF16:
  case ElementType::I8:
  case ElementType::UI8:
    return 1;
  default:
    return std::nullopt;
  }
}

std::optional<TileArithmetic>
TileArithmetic::of(ElementType lhs, ElementType rhs, ElementType sums,
                   Precision precision, const TileOperandTypes &numbers) {
  if (isByte(lhs) && isByte(rhs) && sums == ElementType::I32)
    return TileArithmetic{lhs, rhs, 1, 1, 1, true};
  const std::optional<int64_t> ofLhs = wholeTerms(numbers.lhs.value_or(lhs)),
                               ofRhs = wholeTerms(numbers.rhs.value_or(rhs));
  if (lhs != ElementType::F32 || sums != ElementType::F32 || !ofLhs || !ofRhs)
    return std::nullopt;
  const int64_t ofF32 = *wholeTerms(ElementType::F32);
  if (*ofLhs < ofF32 && *ofRhs < ofF32)
    return TileArithmetic{lhs, rhs, *ofLhs, *ofRhs, *ofLhs + *ofRhs - 1, true};
  const int64_t depth = precision == Precision::Exact     ? 3
                        : precision == Precision::Default ? 2
                                                          : 1;
  return TileArithmetic{lhs, rhs, std::min(depth, *ofLhs),
                        std::min(depth, *ofRhs), depth};
}

std::vector<TileArithmetic>
TileArithmetic::allOf(ElementType lhs, ElementType rhs, ElementType sums,
                      Precision precision, const TileOperandTypes &numbers) {
  std::vector<TileArithmetic> all;
  for (Precision each : {precision, Precision::Exact})
    if (const auto tiles = of(lhs, rhs, sums, each, numbers);
        tiles && !llvm::is_contained(all, *tiles))
      all.push_back(*tiles);
  return all;
}

bool TileArithmetic::isOfBytes() const { return isByte(lhs); }

SmallVector<PartPair> TileArithmetic::products() const {
  SmallVector<PartPair> all;
  // Back and forth over the terms of b, so that one stays from row to row.
  for (int64_t i = 0; i < lhsTerms; ++i) {
    const int64_t parts = std::min(rhsTerms, depth - i);
    for (int64_t j = 0; j < parts; ++j)
      all.emplace_back(i, i % 2 == 0 ? parts - 1 - j : j);
  }
  return all;
}

StringRef TileArithmetic::name() const {
  if (isOfBytes())
    return "tiles-i8";
  constexpr StringRef names[] = {"tiles-bf16",   "tiles-split2",
                                 "tiles-split3", "tiles-split4",
                                 "tiles-split5", "tiles-split6"};
  return names[products().size() - 1];
}

Value cpu::upperHalves(VectorBuilder &code, Value a, Value b) {
  OpBuilder &builder = code.builder;
  auto halves = VectorType::get({32}, builder.getI16Type());
  SmallVector<int64_t> odd;
  for (int64_t i = 0; i < 32; ++i)
    odd.push_back(2 * i + 1);
  return builder.create<vector::ShuffleOp>(
      code.loc, builder.create<vector::BitCastOp>(code.loc, halves, a),
      builder.create<vector::BitCastOp>(code.loc, halves, b), odd);
}

namespace {
/// Splits vectors of 16 values into bf16 terms, one term after the other.
class BitSplitter {
public:
  BitSplitter(VectorBuilder &code, ValueRange elements)
      : code(code), b(code.builder),
        bits(VectorType::get({16}, b.getI32Type())) {
    Value scale = b.create<arith::ConstantOp>(
        code.loc, DenseElementsAttr::get(
                      cast<VectorType>(elements[0].getType()), tileScale));
    for (Value each : elements)
      rest.push_back(code.mulVectors(each, scale));
    half = constant(0x8000);
    upper = constant(0xffff0000);
  }

  /// The next term of each value, in the upper halves of 32-bit lanes; the
  /// lower halves are undefined. Keeps the rests for the next terms.
  SmallVector<Value> next() {
    SmallVector<Value> rounded;
    for (Value &each : rest) {
      Value number =
          b.create<arith::AddIOp>(code.loc, code.bitsAs(each, bits), half);
      rounded.push_back(number);
      each = code.subVectors(
          each, code.bitsAs(upperOf(number), cast<VectorType>(each.getType())));
    }
    return rounded;
  }

  Value upperOf(Value number) {
    return b.create<arith::AndIOp>(code.loc, number, upper);
  }
  Value lowered(Value number) {
    return b.create<arith::ShRUIOp>(code.loc, number, constant(16));
  }
  /// A row of a register.
  Value asRow(Value vector) {
    return code.bitsAs(vector, VectorType::get({tileRowBytes}, b.getI8Type()));
  }

private:
  Value constant(uint32_t number) {
    return b.create<arith::ConstantOp>(
        code.loc, DenseElementsAttr::get(bits, int32_t(number)));
  }

  VectorBuilder &code;
  OpBuilder &b;
  VectorType bits;
  Value half, upper;
  SmallVector<Value> rest;
};
} // namespace

SmallVector<Value> TileArithmetic::split(VectorBuilder &code,
                                         ValueRange elements,
                                         int64_t count) const {
  if (isOfBytes())
    return {elements[0]};
  BitSplitter cutter(code, elements);
  SmallVector<Value> parts;
  for (int64_t part = 0; part < count; ++part) {
    const SmallVector<Value> both = cutter.next();
    parts.push_back(cutter.asRow(upperHalves(code, both[0], both[1])));
  }
  return parts;
}

SmallVector<Value> TileArithmetic::splitPairs(VectorBuilder &code,
                                              ValueRange pair,
                                              int64_t parts) const {
  BitSplitter cutter(code, pair);
  SmallVector<Value> all;
  for (int64_t part = 0; part < parts; ++part) {
    const SmallVector<Value> both = cutter.next();
    all.push_back(cutter.asRow(code.builder.create<arith::OrIOp>(
        code.loc, cutter.lowered(both[0]), cutter.upperOf(both[1]))));
  }
  return all;
}

void TileArithmetic::split(float weight, bool isUsual,
                           std::span<uint16_t> parts) {
  constexpr uint32_t upper = 0xffff0000;
  float rest = isUsual ? weight * tileScale : weight;
  for (uint16_t &part : parts) {
    const auto bits = std::bit_cast<uint32_t>(rest);
    if (!std::isfinite(rest)) {
      // A NaN may have no mantissa bits in its upper half.
      part = uint16_t(bits >> 16 | (std::isnan(rest) ? 0x40 : 0));
      rest = 0;
      continue;
    }
    const uint32_t top = (isUsual ? bits + 0x8000 : bits) & upper;
    part = uint16_t(top >> 16);
    rest -= std::bit_cast<float>(top);
  }
}
