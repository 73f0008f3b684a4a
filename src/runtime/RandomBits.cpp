//===- RandomBits.cpp - counter-based random bits -------------------------===//

#include "runtime/RandomBits.h"

#include <bit>

namespace sinter {

static uint32_t lowWord(uint64_t value) { return static_cast<uint32_t>(value); }
static uint32_t highWord(uint64_t value) {
  return static_cast<uint32_t>(value >> 32);
}
static uint64_t joined(uint32_t low, uint32_t high) {
  return low | static_cast<uint64_t>(high) << 32;
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

std::array<uint32_t, 2> threefry2x32(std::array<uint32_t, 2> counter,
                                     std::array<uint32_t, 2> key) {
  constexpr int rotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  constexpr uint32_t parity = 0x1BD11BDA;
  const uint32_t keys[3] = {key[0], key[1], parity ^ key[0] ^ key[1]};
  auto [a, b] = counter;
  a += keys[0];
  b += keys[1];
  for (uint32_t injection = 1; injection <= 5; ++injection) {
    for (int rotation : rotations[(injection - 1) % 2]) {
      a += b;
      b = std::rotl(b, rotation) ^ a;
    }
    a += keys[injection % 3];
    b += keys[(injection + 1) % 3] + injection;
  }
  return {a, b};
}

std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter,
                                   std::array<uint32_t, 2> key) {
  constexpr uint64_t multipliers[] = {0xD2511F53, 0xCD9E8D57};
  constexpr uint32_t increments[] = {0x9E3779B9, 0xBB67AE85};
  for (int round = 0; round < 10; ++round) {
    const uint64_t first = counter[0] * multipliers[0];
    const uint64_t second = counter[2] * multipliers[1];
    counter = {highWord(second) ^ counter[1] ^ key[0], lowWord(second),
               highWord(first) ^ counter[3] ^ key[1], lowWord(first)};
    key[0] += increments[0];
    key[1] += increments[1];
  }
  return counter;
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

/// The dimension along which neighbours share a block of two words: the first
/// even one, else the first of the largest.
static size_t pairedDimension(std::span<const int64_t> shape) {
  size_t largest = 0;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] % 2 == 0)
      return i;
    if (shape[i] > shape[largest])
      largest = i;
  }
  return largest;
}

std::vector<uint64_t> threefryWords(std::span<uint64_t> state,
                                    std::span<const int64_t> shape,
                                    unsigned bits) {
  const std::array<uint32_t, 2> key = {lowWord(state[0]), highWord(state[0])};
  const uint64_t base = state[1];
  auto block = [&](uint64_t number) {
    const uint64_t counter = base + number;
    return threefry2x32({lowWord(counter), highWord(counter)}, key);
  };
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  std::vector<uint64_t> words(count);
  if (bits == 64) {
    for (int64_t i = 0; i < count; ++i) {
      const auto [low, high] = block(i);
      words[i] = joined(low, high);
    }
    state[1] += count;
    return words;
  }
  if (shape.empty()) {
    words[0] = block(0)[0];
    state[1] += 1;
    return words;
  }
  // The sizes around the paired dimension: [outer, size, inner]; a block is for
  // two elements.
  const size_t paired = pairedDimension(shape);
  const int64_t size = shape[paired], half = (size + 1) / 2;
  int64_t outer = 1, inner = 1;
  for (size_t i = 0; i < shape.size(); ++i)
    if (i != paired)
      (i < paired ? outer : inner) *= shape[i];
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t h = 0; h < half; ++h)
      for (int64_t i = 0; i < inner; ++i) {
        const auto pair = block((o * half + h) * inner + i);
        for (int64_t which = 0; which < 2 && 2 * h + which < size; ++which)
          words[(o * size + 2 * h + which) * inner + i] = pair[which];
      }
  state[1] += outer * half * inner;
  return words;
}

std::vector<uint64_t> philoxWords(std::span<uint64_t> state, int64_t count,
                                  unsigned bits) {
  const std::array<uint32_t, 2> key = {lowWord(state[0]), highWord(state[0])};
  // A short state's key is the counter's high half, too.
  const uint64_t low = state[1];
  const uint64_t high = state.size() >= 3 ? state[2] : state[0];
  const int64_t perBlock = 128 / bits;
  const int64_t blocks = count / perBlock + (count % perBlock != 0);
  std::vector<uint64_t> words;
  words.reserve(blocks * perBlock);
  for (int64_t i = 0; i < blocks; ++i) {
    const uint64_t l = low + static_cast<uint64_t>(i);
    const uint64_t h = high + (l < low);
    const auto block =
        philox4x32({lowWord(l), highWord(l), lowWord(h), highWord(h)}, key);
    if (bits == 64) {
      words.push_back(joined(block[0], block[1]));
      words.push_back(joined(block[2], block[3]));
    } else {
      words.insert(words.end(), block.begin(), block.end());
    }
  }
  words.resize(count);
  state[1] = low + static_cast<uint64_t>(blocks);
  if (state.size() >= 3)
    state[2] = high + (state[1] < low);
  return words;
}

} // namespace sinter
