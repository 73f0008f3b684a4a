//===- AttentionShape.cpp - parameters of the attention generators --------===//

#include "backend/cpu/kernels/attention/AttentionShape.h"

using namespace sinter;
using namespace sinter::cpu;

/// Rows of a task: enough to amortise packing the keys, few enough that there
/// are tasks for some threads.
static constexpr int64_t leastTaskRows = 32, mostTaskRows = 128;
static constexpr int64_t wantedTasks = 8;
/// The keys of a block, whatever their number: so the summation order of a row
/// depends only on the positions of its keys. With smaller blocks more of them
/// are masked for causal rows.
static constexpr int64_t blockOfKeys = 256, blockIfCausal = 128;

Dim AttentionShape::matrices() const {
  Dim all = 1;
  for (const Heads &each : heads)
    all *= each.size;
  return all;
}

Partition AttentionShape::rowBlocks() const {
  const int64_t wanted = ceilDivide(matrices() * rows, wantedTasks).value();
  return Partition::of(rows.value(),
                       std::clamp(wanted, leastTaskRows, mostTaskRows));
}

int64_t AttentionShape::keyBlock() const {
  const int64_t most = isCausal ? blockIfCausal : blockOfKeys;
  return rows.isDynamic() ? most : keys.upTo(most);
}
