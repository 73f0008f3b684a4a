//===- BatchOrder.cpp - splits samples into batches -----------------------===//

#include "data/BatchOrder.h"

#include "runtime/Random.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace sinter {

BatchOrder::BatchOrder(std::vector<uint32_t> buckets, uint64_t batch,
                       bool dropsLast)
    : buckets(std::move(buckets)), batch(batch), dropsLast(dropsLast) {
  for (uint32_t bucket : this->buckets)
    bucketCount = std::max(bucketCount, bucket + 1);
  std::vector<uint64_t> sizes(bucketCount);
  for (uint32_t bucket : this->buckets)
    ++sizes[bucket];
  for (uint64_t size : sizes) {
    batches += dropsLast ? size / batch : (size + batch - 1) / batch;
    held += dropsLast ? size / batch * batch : size;
  }
}

std::vector<std::vector<size_t>>
BatchOrder::batchesOf(std::span<const size_t> numbers) const {
  std::vector<std::vector<size_t>> all, open(bucketCount);
  for (size_t number : numbers) {
    std::vector<size_t> &own = open[buckets[number]];
    own.push_back(number);
    if (own.size() == batch)
      all.push_back(std::exchange(own, {}));
  }
  if (!dropsLast)
    for (std::vector<size_t> &rest : open)
      if (!rest.empty())
        all.push_back(std::move(rest));
  return all;
}

std::vector<size_t> shuffled(size_t count, uint64_t seed, uint64_t epoch) {
  std::vector<size_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), size_t(0));
  const uint64_t own = splitMix(seed, epoch);
  for (size_t i = numbers.size(); i > 1; --i)
    std::swap(numbers[i - 1], numbers[splitMix(own, i) % i]);
  return numbers;
}

} // namespace sinter
