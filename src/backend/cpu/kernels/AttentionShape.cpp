//===- AttentionShape.cpp - what the generators of attention are given ----===//

#include "backend/cpu/kernels/AttentionShape.h"

#include "llvm/Support/MathExtras.h"

using namespace sinter;
using namespace sinter::cpu;

/// Rows of a task: enough that packing the keys is small beside their products,
/// few enough that there are tasks for some threads.
static constexpr int64_t leastTaskRows = 32, mostTaskRows = 128;
static constexpr int64_t wantedTasks = 8;
/// So many keys are a block, whatever there are of them: the order of a row's
/// sums follows from the place of its keys. Smaller blocks leave more of them
/// hidden behind causal rows.
static constexpr int64_t blockOfKeys = 256, blockIfCausal = 128;

int64_t AttentionShape::matrices() const {
  int64_t all = 1;
  for (const Heads &each : heads)
    all *= each.size;
  return all;
}

Partition AttentionShape::rowBlocks() const {
  const int64_t wanted = llvm::divideCeil(matrices() * rows, wantedTasks);
  return Partition::of(rows, std::clamp(wanted, leastTaskRows, mostTaskRows));
}

int64_t AttentionShape::keyBlock() const {
  const int64_t most = isCausal ? blockIfCausal : blockOfKeys;
  return isNamed(rows) || isNamed(keys) ? most : std::min(keys, most);
}
