//===- BatchOrder.h - splits samples into batches -------------------------===//

#ifndef SINTER_DATA_BATCHORDER_H
#define SINTER_DATA_BATCHORDER_H

#include <cstdint>
#include <span>
#include <vector>

namespace sinter {

/// Cuts samples into batches, each of samples of one bucket.
class BatchOrder {
public:
  /// \p buckets has the bucket of each sample, from 0 on. An incomplete batch
  /// is a batch of its own, unless \p dropsLast.
  BatchOrder(std::vector<uint32_t> buckets, uint64_t batch, bool dropsLast);

  /// The number of batches, in any order of samples.
  uint64_t count() const { return batches; }
  /// The number of samples in them.
  uint64_t samples() const { return held; }
  /// The batches of samples in the order of \p numbers: ordered by the samples
  /// that complete them; incomplete ones follow, by bucket.
  std::vector<std::vector<size_t>>
  batchesOf(std::span<const size_t> numbers) const;

private:
  std::vector<uint32_t> buckets;
  uint64_t batch;
  bool dropsLast;
  uint32_t bucketCount = 1;
  uint64_t batches = 0, held = 0;
};

/// A permutation of \p count samples for one epoch (Fisher and Yates), a
/// function of \p seed and \p epoch.
std::vector<size_t> shuffled(size_t count, uint64_t seed, uint64_t epoch);

} // namespace sinter

#endif // SINTER_DATA_BATCHORDER_H
