//===- PackTiles.cpp - pack weights for AMX -------------------------------===//

#include "backend/cpu/kernels/amx/TileProduct.h"

#include "runtime/Float.h"
#include "runtime/MappedPages.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/MathExtras.h"

#include <bit>
#include <cstring>
#include <span>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

namespace {

/// A weight of \p type as f32, which is exact.
template <ElementType type> float floatAt(const char *at) {
  if constexpr (type == ElementType::F32) {
    float number;
    std::memcpy(&number, at, sizeof(number));
    return number;
  } else if constexpr (type == ElementType::F16) {
    Half number;
    std::memcpy(&number, at, sizeof(number));
    return static_cast<float>(number);
  } else if constexpr (type == ElementType::BF16) {
    uint16_t bits;
    std::memcpy(&bits, at, sizeof(bits));
    return std::bit_cast<float>(uint32_t(bits) << 16);
  } else if constexpr (type == ElementType::UI8) {
    return static_cast<float>(static_cast<uint8_t>(*at));
  } else {
    static_assert(type == ElementType::I8);
    return static_cast<float>(static_cast<int8_t>(*at));
  }
}

/// The strides of weights, in bytes.
struct WeightStrides {
  int64_t n, k, tap;
};

} // namespace

/// Calls \p fill for each register of columns in the order of use, with the
/// first column, the first index along k and the tap.
static void
forRegisters(const TileProduct &product, int64_t taps,
             llvm::function_ref<void(int64_t column, int64_t k, int64_t tap,
                                     int64_t registers, int64_t number)>
                 fill) {
  const int64_t tiles = product.columnTiles();
  for (int64_t first = 0; first < tiles; first += TileProduct::panelTiles) {
    const int64_t ofPanel = std::min(TileProduct::panelTiles, tiles - first);
    const int64_t firstBlock =
        product.firstBlock(first / TileProduct::panelTiles);
    for (int64_t i = 0; i < product.panelBlocks(); ++i)
      for (int64_t tap = 0; tap < taps; ++tap)
        for (int64_t tile = 0; tile < ofPanel; ++tile)
          fill((first + tile) * 16,
               (firstBlock + i) * product.numbers().blockElements(), tap,
               ofPanel, tile);
  }
}

/// Whether none of \p count weights is too large to be scaled, or NaN.
template <ElementType type>
static bool areUsual(const char *from, int64_t count) {
  const int64_t bytes = byteSize(type);
  uint32_t most = 0;
  for (int64_t i = 0; i < count; ++i)
    most = std::max(most,
                    std::bit_cast<uint32_t>(floatAt<type>(from + i * bytes)) &
                        0x7fffffff);
  return most <= std::bit_cast<uint32_t>(mostUsualMagnitude);
}

/// Packs a row of a register: the terms of two neighbours along k, of 16
/// columns.
static void packPairs(float (&pair)[2][16], bool isUsual, int64_t parts,
                      char *to, int64_t partBytes) {
  if (!isUsual) {
    uint16_t ofWeight[3];
    for (int64_t n = 0; n < 16; ++n)
      for (int64_t i = 0; i < 2; ++i) {
        TileArithmetic::split(pair[i][n], false,
                              std::span(ofWeight, size_t(parts)));
        for (int64_t part = 0; part < parts; ++part)
          std::memcpy(to + part * partBytes + n * 4 + i * 2, &ofWeight[part],
                      2);
      }
    return;
  }
  // The same as split() does, in loops over columns.
  for (auto &row : pair)
    for (float &number : row)
      number *= tileScale;
  for (int64_t part = 0; part < parts; ++part) {
    uint32_t words[16] = {};
    for (int64_t i = 0; i < 2; ++i)
      for (int64_t n = 0; n < 16; ++n) {
        const uint32_t top =
            (std::bit_cast<uint32_t>(pair[i][n]) + 0x8000) & 0xffff0000;
        pair[i][n] -= std::bit_cast<float>(top);
        words[n] |= i == 0 ? top >> 16 : top;
      }
    std::memcpy(to + part * partBytes, words, sizeof(words));
  }
}

/// Returns whether the weights are usual, and so were scaled.
template <ElementType type>
static bool packTerms(const TileProduct &product, const TileProductShape &shape,
                      const char *from, const WeightStrides &strides,
                      char *to) {
  const bool isUsual = areUsual<type>(from, shape.weights());
  const int64_t parts = product.numbers().rhsTerms;
  forRegisters(product, shape.taps(),
               [&](int64_t column, int64_t k, int64_t tap, int64_t registers,
                   int64_t number) {
                 const int64_t columns =
                     std::min<int64_t>(16, shape.n - column);
                 for (int64_t row = 0; row < mostTileRows; ++row) {
                   float pair[2][16] = {};
                   for (int64_t i = 0; i < 2; ++i)
                     for (int64_t n = 0; n < columns; ++n)
                       if (const int64_t own =
                               shape.ownNumber(column + n, k + 2 * row + i);
                           own >= 0)
                         pair[i][n] =
                             floatAt<type>(from + (column + n) * strides.n +
                                           own * strides.k + tap * strides.tap);
                   packPairs(pair, isUsual, parts,
                             to + number * tileBytes + row * tileRowBytes,
                             registers * tileBytes);
                 }
                 if (number + 1 == registers)
                   to += parts * registers * tileBytes;
               });
  return isUsual;
}

static void packBytes(const TileProduct &product, const TileProductShape &shape,
                      const char *from, const WeightStrides &strides,
                      char *to) {
  forRegisters(product, shape.taps(),
               [&](int64_t column, int64_t k, int64_t tap, int64_t, int64_t) {
                 const int64_t columns =
                     std::min<int64_t>(16, shape.n - column);
                 std::memset(to, 0, tileBytes);
                 for (int64_t n = 0; n < columns; ++n)
                   for (int64_t i = 0; i < 64; ++i)
                     if (const int64_t own = shape.ownNumber(column + n, k + i);
                         own >= 0)
                       to[i / 4 * tileRowBytes + n * 4 + i % 4] =
                           from[(column + n) * strides.n + own * strides.k +
                                tap * strides.tap];
                 to += tileBytes;
               });
}

/// Minus the sum of each column's weights, which a zero point of 1 adds; wraps
/// as accumulators do.
static void packInitialSums(const TileProductShape &shape, bool isSigned,
                            const char *from, const WeightStrides &strides,
                            int64_t columns, char *to) {
  for (int64_t n = 0; n < columns; ++n) {
    int64_t sum = 0;
    const int64_t depth = shape.group ? shape.group : shape.k;
    for (int64_t k = 0; n < shape.n && k < depth; ++k)
      for (int64_t tap = 0; tap < shape.taps(); ++tap) {
        const char weight =
            from[n * strides.n + k * strides.k + tap * strides.tap];
        sum += isSigned ? int64_t(int8_t(weight)) : int64_t(uint8_t(weight));
      }
    const auto initial = static_cast<int32_t>(-sum);
    std::memcpy(to + n * 4, &initial, 4);
  }
}

void TileProduct::pack(const void *weights, int64_t nStride, int64_t kStride,
                       int64_t tapStride, void *packed) const {
  const auto *from = static_cast<const char *>(weights);
  auto *to = static_cast<char *>(packed);
  const auto bytes = int64_t(byteSize(arithmetic.rhs));
  const WeightStrides strides{nStride * bytes, kStride * bytes,
                              tapStride * bytes};
  // They are not used again, and may be a large part of the memory.
  auto release = llvm::make_scope_exit([&] {
    releasePages(
        std::as_bytes(std::span(from, size_t(shape.weights() * bytes))));
  });
  if (arithmetic.isOfBytes()) {
    packBytes(*this, shape, from, strides, to);
    if (hasInitialSums())
      packInitialSums(shape, arithmetic.rhs == ElementType::I8, from, strides,
                      columnTiles() * 16, to + weightBytes());
    return;
  }
  bool isUsual = false;
  switch (arithmetic.rhs) {
  case ElementType::F16:
    isUsual = packTerms<ElementType::F16>(*this, shape, from, strides, to);
    break;
  case ElementType::BF16:
    isUsual = packTerms<ElementType::BF16>(*this, shape, from, strides, to);
    break;
  case ElementType::I8:
    isUsual = packTerms<ElementType::I8>(*this, shape, from, strides, to);
    break;
  case ElementType::UI8:
    isUsual = packTerms<ElementType::UI8>(*this, shape, from, strides, to);
    break;
  default:
    assert(arithmetic.rhs == ElementType::F32);
    isUsual = packTerms<ElementType::F32>(*this, shape, from, strides, to);
  }
  // The factor that undoes the scaling; 1 where weights are not usual.
  const float unscale = isUsual ? 1 / tileScale : 1;
  std::memset(to + weightBytes(), 0, tileRowBytes);
  std::memcpy(to + weightBytes(), &unscale, sizeof(unscale));
}
