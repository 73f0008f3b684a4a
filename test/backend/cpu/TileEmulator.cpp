//===- TileEmulator.cpp - tile instructions without matrix units ----------===//

#include "backend/cpu/TileEmulator.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/TargetParser/Triple.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

namespace {

[[noreturn]] void refuse(const char *what) {
  std::fprintf(stderr, "tile instruction: %s\n", what);
  std::exit(1);
}

struct Tile {
  int64_t rows = 0, bytes = 0;
  alignas(64) std::array<std::array<uint8_t, 64>, 16> data;
};

struct State {
  bool isConfigured = false;
  std::array<Tile, 8> tiles;
  TileCounts counts;
};

State &state() {
  static thread_local State ofThread;
  return ofThread;
}

Tile &tile(int8_t number) {
  if (!state().isConfigured)
    refuse("no configuration is loaded");
  if (number < 0 || number > 7)
    refuse("there is no such register");
  Tile &found = state().tiles[size_t(number)];
  if (found.rows == 0 || found.bytes == 0)
    refuse("the register is not configured");
  return found;
}

/// Denormal numbers as zeros of their sign.
float flushed(float number) {
  return std::fpclassify(number) == FP_SUBNORMAL ? std::copysign(0.0f, number)
                                                 : number;
}

float fromBFloat16(uint16_t bits) {
  return flushed(std::bit_cast<float>(uint32_t(bits) << 16));
}

float multiplyAdd(float a, float b, float c) {
  return flushed(std::fma(a, b, c));
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

void ldtilecfg(const uint8_t *memory) {
  State &all = state();
  if (memory[0] != 1)
    refuse("LDTILECFG of a palette that is not 1");
  if (std::any_of(memory + 1, memory + 16, [](uint8_t x) { return x != 0; }) ||
      std::any_of(memory + 32, memory + 48, [](uint8_t x) { return x != 0; }) ||
      std::any_of(memory + 56, memory + 64, [](uint8_t x) { return x != 0; }))
    refuse("LDTILECFG of reserved bytes that are not 0");
  for (size_t i = 0; i < 8; ++i) {
    uint16_t bytes;
    std::memcpy(&bytes, memory + 16 + 2 * i, 2);
    if (bytes > 64 || memory[48 + i] > 16)
      refuse("LDTILECFG of a register that is too large");
    all.tiles[i].bytes = bytes;
    all.tiles[i].rows = memory[48 + i];
    all.tiles[i].data = {};
  }
  all.isConfigured = true;
  ++all.counts.configurations;
}

void tilerelease() {
  State &all = state();
  if (!all.isConfigured)
    refuse("TILERELEASE without a configuration");
  all.isConfigured = false;
  ++all.counts.releases;
}

void tilezero(int8_t number) { tile(number).data = {}; }

void tileloadd64(int8_t number, const uint8_t *memory, int64_t stride) {
  Tile &to = tile(number);
  to.data = {};
  for (int64_t row = 0; row < to.rows; ++row)
    std::memcpy(to.data[size_t(row)].data(), memory + row * stride,
                size_t(to.bytes));
  ++state().counts.loads;
}

void tilestored64(int8_t number, uint8_t *memory, int64_t stride) {
  const Tile &from = tile(number);
  for (int64_t row = 0; row < from.rows; ++row)
    std::memcpy(memory + row * stride, from.data[size_t(row)].data(),
                size_t(from.bytes));
}

/// The registers of a product, which must fit each other.
struct Operands {
  Tile &sums;
  const Tile &a, &b;
};

Operands operandsOf(int8_t sums, int8_t a, int8_t b) {
  if (sums == a || sums == b || a == b)
    refuse("a product of a register with itself");
  const Operands all{tile(sums), tile(a), tile(b)};
  if (all.a.rows != all.sums.rows || all.b.bytes != all.sums.bytes ||
      all.a.bytes != 4 * all.b.rows || all.sums.bytes % 4 != 0)
    refuse("a product of registers that do not fit each other");
  ++state().counts.products;
  return all;
}

/// Element \p i of 32 bits, or of 16, of a row.
template <typename T>
T elementOf(const std::array<uint8_t, 64> &row, int64_t i) {
  T element;
  std::memcpy(&element, row.data() + i * int64_t(sizeof(T)), sizeof(T));
  return element;
}

template <typename T>
void setElement(std::array<uint8_t, 64> &row, int64_t i, T element) {
  std::memcpy(row.data() + i * int64_t(sizeof(T)), &element, sizeof(T));
}

void tdpbf16ps(int8_t sums, int8_t a, int8_t b) {
  const Operands o = operandsOf(sums, a, b);
  for (size_t m = 0; m < size_t(o.sums.rows); ++m)
    for (int64_t n = 0; n < o.sums.bytes / 4; ++n) {
      std::array<uint16_t, 32> row, column;
      std::memcpy(row.data(), o.a.data[m].data(), 64);
      for (int64_t k = 0; k < o.b.rows; ++k)
        for (int64_t i : {0, 1})
          column[size_t(2 * k + i)] =
              elementOf<uint16_t>(o.b.data[size_t(k)], 2 * n + i);
      setElement(o.sums.data[m], n,
                 dotOfPairs(row.data(), column.data(), 2, o.b.rows,
                            elementOf<float>(o.sums.data[m], n)));
    }
}

template <typename A, typename B> void tdpb(int8_t sums, int8_t a, int8_t b) {
  const Operands o = operandsOf(sums, a, b);
  for (size_t m = 0; m < size_t(o.sums.rows); ++m)
    for (int64_t n = 0; n < o.sums.bytes / 4; ++n) {
      auto sum = elementOf<uint32_t>(o.sums.data[m], n);
      for (int64_t k = 0; k < o.b.rows; ++k)
        for (int64_t i = 0; i < 4; ++i)
          sum +=
              uint32_t(int32_t(elementOf<A>(o.a.data[m], 4 * k + i)) *
                       int32_t(elementOf<B>(o.b.data[size_t(k)], 4 * n + i)));
      setElement(o.sums.data[m], n, sum);
    }
}

/// The address of what computes an intrinsic.
const void *functionOf(llvm::StringRef name) {
  auto address = [](auto *function) {
    return reinterpret_cast<const void *>(function);
  };
  return llvm::StringSwitch<const void *>(name)
      .Case("ldtilecfg", address(&ldtilecfg))
      .Case("tilerelease", address(&tilerelease))
      .Case("tilezero", address(&tilezero))
      .Case("tileloadd64", address(&tileloadd64))
      .Case("tilestored64", address(&tilestored64))
      .Case("tdpbf16ps", address(&tdpbf16ps))
      .Case("tdpbssd", address(&tdpb<int8_t, int8_t>))
      .Case("tdpbsud", address(&tdpb<int8_t, uint8_t>))
      .Case("tdpbusd", address(&tdpb<uint8_t, int8_t>))
      .Case("tdpbuud", address(&tdpb<uint8_t, uint8_t>))
      .Default(nullptr);
}

} // namespace

float cpu::dotOfPairs(const uint16_t *a, const uint16_t *b, int64_t bStride,
                      int64_t pairs, float sum) {
  float even = 0, odd = 0;
  for (int64_t k = 0; k < pairs; ++k) {
    even =
        multiplyAdd(fromBFloat16(a[2 * k]), fromBFloat16(b[bStride * k]), even);
    odd = multiplyAdd(fromBFloat16(a[2 * k + 1]),
                      fromBFloat16(b[bStride * k + 1]), odd);
  }
  return flushed(flushed(sum) + flushed(even + odd));
}

TileCounts cpu::takeTileCounts() {
  return std::exchange(state().counts, TileCounts());
}

std::optional<Target> cpu::hostWithTiles() {
  Target target = *Target::host();
  // Where vectors are shorter LLVM makes several of each, which takes minutes;
  // the instructions that we name for a vector's length would not be there.
  if (!target.hasAvx512) {
    if (!std::getenv("SINTER_EMULATE_TILES") ||
        !llvm::Triple(target.triple).isX86())
      return std::nullopt;
    target.f32Lanes = 16;
    target.hasPairSum = target.hasVnni = false;
  }
  target.hasMatrixUnits = true;
  const Target like =
      *Target::named("x86_64-unknown-linux-gnu", "sapphirerapids", "");
  target.rates = like.rates;
  return target;
}

void cpu::preferTiles(Target &target) {
  Rates &rates = target.rates;
  rates.f32 = rates.i8 = 1;
  rates.tiles = 1e6;
  rates.cache = rates.memory = rates.tileLoads = 1e15;
}

void cpu::emulateTiles(ModuleOp module) {
  SmallVector<LLVM::CallIntrinsicOp> calls;
  module.walk([&](LLVM::CallIntrinsicOp op) {
    llvm::StringRef name = op.getIntrin();
    if (name.consume_front("llvm.x86.") && functionOf(name))
      calls.push_back(op);
  });
  for (LLVM::CallIntrinsicOp op : calls) {
    OpBuilder b(op);
    const Location loc = op.getLoc();
    llvm::StringRef name = op.getIntrin();
    name.consume_front("llvm.x86.");
    Value number = b.create<LLVM::ConstantOp>(
        loc, b.getI64Type(),
        b.getI64IntegerAttr(reinterpret_cast<int64_t>(functionOf(name))));
    Value function = b.create<LLVM::IntToPtrOp>(
        loc, LLVM::LLVMPointerType::get(b.getContext()), number);
    SmallVector<Type> types(op.getOperandTypes());
    auto type = LLVM::LLVMFunctionType::get(
        LLVM::LLVMVoidType::get(b.getContext()), types);
    SmallVector<Value> operands = {function};
    llvm::append_range(operands, op.getOperands());
    b.create<LLVM::CallOp>(loc, type, operands);
    op.erase();
  }
}
