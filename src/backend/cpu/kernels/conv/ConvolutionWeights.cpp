//===- ConvolutionWeights.cpp - weights of direct convolutions ------------===//

#include "backend/cpu/kernels/conv/Convolution.h"

#include <cstring>

using namespace sinter;
using namespace sinter::cpu;

void Convolution::forEachWeight(
    llvm::function_ref<void(std::optional<int64_t>)> emit) const {
  const int64_t taps = shape.taps();
  const int64_t givenInputs = groupInputs / mergedGroups;
  const int64_t givenOutputs = groupOutputs / mergedGroups;
  // There are no weights between channels of different original groups, or for
  // padding channels.
  auto place = [&](int64_t group, int64_t k, int64_t c,
                   int64_t tap) -> std::optional<int64_t> {
    if (k >= groupOutputs || c >= groupInputs)
      return std::nullopt;
    if (mergedGroups > 1) {
      if (k / givenOutputs != c / givenInputs)
        return std::nullopt;
      c %= givenInputs;
    }
    int64_t row = (group * groupOutputs + k) * givenInputs + c;
    return row * taps + tap;
  };
  const int64_t blockSize = blockInputs();
  for (int64_t group = 0; group < shape.groups; ++group)
    for (int64_t first = 0; first < groupVectors; first += panelVectors) {
      int64_t begin = first * lanes;
      int64_t end = std::min(first + panelVectors, groupVectors) * lanes;
      for (int64_t block = 0; block < groupInputs; block += blockSize) {
        int64_t blockEnd = std::min(block + blockSize, groupInputs);
        for (int64_t tap = 0; tap < taps; ++tap)
          for (int64_t c = block; c < blockEnd; c += arithmetic.kGroup)
            for (int64_t k = begin; k < end; ++k)
              for (int64_t i = 0; i < arithmetic.kGroup; ++i)
                emit(place(group, k, c + i, tap));
      }
    }
}

template <typename T> void Convolution::packAs(const char *from, T *to) const {
  forEachWeight([&](std::optional<int64_t> place) {
    T value = 0;
    if (place)
      std::memcpy(&value, from + *place * int64_t(sizeof(T)), sizeof(T));
    *to++ = value;
  });
}

/// Packs weights of fewer than eight bits, which are given in one byte each.
void Convolution::packBits(const char *from, char *to) const {
  const auto bits = int64_t(bitWidth(arithmetic.rhs));
  std::memset(to, 0, size_t(weightBytes()));
  int64_t count = 0;
  forEachWeight([&](std::optional<int64_t> place) {
    const int64_t bit = count++ * bits;
    if (place)
      to[bit / 8] |=
          static_cast<char>((from[*place] & ((1 << bits) - 1)) << (bit % 8));
  });
}

/// Writes minus the contribution of a zero point of 1 to each output.
void Convolution::packInitialSums(const int8_t *weights, int32_t *to) const {
  const int64_t products = groupInputs / mergedGroups * shape.taps();
  for (int64_t group = 0; group < shape.groups; ++group)
    for (int64_t k = 0; k < groupVectors * lanes; ++k) {
      int64_t sum = 0;
      for (int64_t i = 0; k < groupOutputs && i < products; ++i) {
        const int8_t weight =
            weights[(group * groupOutputs + k) * products + i];
        sum += arithmetic.rhs == ElementType::I8 ? weight : uint8_t(weight);
      }
      // Wraps as the accumulators do.
      *to++ = static_cast<int32_t>(-sum);
    }
}

void Convolution::pack(const void *weights, void *packed) const {
  const auto *from = static_cast<const char *>(weights);
  if (shape.countsDistances()) {
    auto *to = static_cast<char *>(packed);
    std::memset(to + weightBytes(), 0, initialSumsAt() - weightBytes());
    packInitialSums(reinterpret_cast<const int8_t *>(from),
                    reinterpret_cast<int32_t *>(to + initialSumsAt()));
  }
  if (bitWidth(arithmetic.rhs) < 8)
    return packBits(from, static_cast<char *>(packed));
  // Only the element size matters.
  switch (arithmetic.rhsBytes()) {
  case 1:
    return packAs(from, static_cast<uint8_t *>(packed));
  case 2:
    return packAs(from, static_cast<uint16_t *>(packed));
  case 4:
    return packAs(from, static_cast<uint32_t *>(packed));
  default:
    return packAs(from, static_cast<uint64_t *>(packed));
  }
}
