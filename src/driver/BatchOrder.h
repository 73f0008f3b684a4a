//===- BatchOrder.h - which samples make which batch ----------------------===//

#ifndef SINTER_DRIVER_BATCHORDER_H
#define SINTER_DRIVER_BATCHORDER_H

#include <cstdint>
#include <span>
#include <vector>

namespace sinter::driver {

/// Cuts samples into batches, each of samples of one bucket.
class BatchOrder {
public:
  /// \p buckets has the bucket of each sample, numbers from 0 on. What fills no
  /// batch is one of its own, or \p dropsLast.
  BatchOrder(std::vector<uint32_t> buckets, uint64_t batch, bool dropsLast);

  /// How many batches all samples make, in any order.
  uint64_t count() const { return batches; }
  /// How many samples these hold.
  uint64_t samples() const { return held; }
  /// The batches of samples in the order of \p numbers: a batch stands where
  /// the sample that fills it does, and those that are not filled at the end,
  /// by their buckets.
  std::vector<std::vector<size_t>>
  batchesOf(std::span<const size_t> numbers) const;

private:
  std::vector<uint32_t> buckets;
  uint64_t batch;
  bool dropsLast;
  uint32_t bucketCount = 1;
  uint64_t batches = 0, held = 0;
};

/// The numbers of \p count samples in the order of one epoch (Fisher and
/// Yates), a function of \p seed and \p epoch.
std::vector<size_t> shuffled(size_t count, uint64_t seed, uint64_t epoch);

} // namespace sinter::driver

#endif // SINTER_DRIVER_BATCHORDER_H
