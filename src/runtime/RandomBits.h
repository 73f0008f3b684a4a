//===- RandomBits.h - counter-based random bits ---------------------------===//
//
// Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (SC 2011): a
// block of random words is a function of a counter and a key. Counters map to
// elements as in XLA, so that the same state gives the same bits.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RUNTIME_RANDOMBITS_H
#define SINTER_RUNTIME_RANDOMBITS_H

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace sinter {

/// Threefry2x32 with 20 rounds.
std::array<uint32_t, 2> threefry2x32(std::array<uint32_t, 2> counter,
                                     std::array<uint32_t, 2> key);

/// Philox4x32 with 10 rounds.
std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter,
                                   std::array<uint32_t, 2> key);

/// Random words of `bits` (32 or 64) for the elements of a tensor of \p shape,
/// row-major. \p state is [key, counter] and becomes the state after them.
std::vector<uint64_t> threefryWords(std::span<uint64_t> state,
                                    std::span<const int64_t> shape,
                                    unsigned bits);

/// The same for \p count elements. \p state is [key, counter] or [key, low half
/// of the counter, high half].
std::vector<uint64_t> philoxWords(std::span<uint64_t> state, int64_t count,
                                  unsigned bits);

} // namespace sinter

#endif // SINTER_RUNTIME_RANDOMBITS_H
