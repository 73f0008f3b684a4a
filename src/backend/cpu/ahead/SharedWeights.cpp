//===- SharedWeights.cpp - one copy of the weights of programs ------------===//

#include "backend/cpu/ahead/SharedWeights.h"

#include "runtime/Hash.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Endian.h"

#include <algorithm>
#include <cstring>
#include <map>

using namespace sinter;
using namespace sinter::cpu;

using Bytes = std::span<const std::byte>;

/// Writes what weights that are not in the code begin with.
static void addHeader(std::vector<char> &weights) {
  const Bytes content =
      std::as_bytes(std::span(weights)).subspan(bundleAlignment);
  const Hash128 hash = hashOf(content);
  char *header = weights.data();
  std::memcpy(header, bundleWeightsMagic, 8);
  llvm::support::endian::write64le(header + 8, hash.low);
  llvm::support::endian::write64le(header + 16, hash.high);
  llvm::support::endian::write64le(header + 24, weights.size());
}

void cpu::layOutWeights(llvm::ArrayRef<LaidOut> all, BundleWeights weights) {
  // By hash: what has its place.
  std::multimap<std::pair<uint64_t, uint64_t>, std::pair<Bytes, uint64_t>>
      placed;
  uint64_t end = weights == BundleWeights::InCode ? 0 : bundleAlignment;
  const auto placeOf = [&](Bytes bytes) {
    const Hash128 hash = hashOf(bytes);
    const std::pair key(hash.low, hash.high);
    const auto [first, last] = placed.equal_range(key);
    for (auto each = first; each != last; ++each)
      if (std::ranges::equal(each->second.first, bytes))
        return each->second.second;
    const uint64_t offset = end;
    end += alignedUp(bytes.size());
    placed.emplace(key, std::pair(bytes, offset));
    return offset;
  };
  for (const LaidOut &each : all)
    for (auto [constant, offset] :
         llvm::zip_equal(each.program->constants, each.layout->constants))
      if (offset)
        offset = placeOf(constant.bytes);
  std::vector<char> joined(end);
  for (const auto &[hash, place] : placed)
    if (const auto &[bytes, offset] = place; !bytes.empty())
      std::memcpy(joined.data() + offset, bytes.data(), bytes.size());
  if (weights != BundleWeights::InCode)
    addHeader(joined);
  all.front().layout->weights = std::move(joined);
}

Result<void> cpu::checkSameStates(llvm::ArrayRef<const Program *> programs) {
  const Program &first = *programs.front();
  const auto isSame = [&](const Program &program) {
    return std::ranges::equal(
        first.states, program.states,
        [&](const ProgramState &one, const ProgramState &other) {
          return one.spec == other.spec &&
                 std::ranges::equal(first.constants[one.initial].bytes,
                                    program.constants[other.initial].bytes);
        });
  };
  for (const Program *program : programs)
    if (!isSame(*program))
      return unsupported("the entry points have different states, and can "
                         "share none");
  return {};
}
