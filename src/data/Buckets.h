//===- Buckets.h - sequences of different lengths -------------------------===//
//
// Arrays hold sequences padded to one size, and `length` has the length of
// each. Samples of similar lengths are trained on together, truncated to the
// size of their bucket: 32, 64 or 128, say.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_DATA_BUCKETS_H
#define SINTER_DATA_BUCKETS_H

#include "engine/ModelDescription.h"
#include "runtime/Result.h"
#include "runtime/Tensor.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sinter {

struct BucketOptions {
  /// The symbol of the dynamic dimension; empty: the only one besides the
  /// batch.
  std::string dimension;
  /// In ascending order; empty: no buckets.
  std::vector<int64_t> sizes;
  /// The name of this option in messages.
  std::string called = "buckets";
};

/// Reads "32,64,128" or "NAME=32,64,128"; nothing for other texts.
std::optional<BucketOptions> parseBuckets(const std::string &text);

/// The truncation of a batch's tensors.
class Buckets {
public:
  /// For samples with the arrays \p inputs, of a model of this description, and
  /// \p targets, each with the output of the model that it is compared with or
  /// null. \p lengths is the array `length`. The Usage error, prefixed by \p
  /// where, says what does not fit.
  static Result<Buckets> of(const BucketOptions &options,
                            const ModelDescription &model,
                            const std::vector<Tensor> &inputs,
                            const std::vector<Tensor> &targets,
                            const std::vector<const TensorSpec *> &outputs,
                            const Tensor &lengths, const std::string &where);

  /// The bucket of each sample.
  const std::vector<uint32_t> &ofSamples() const { return buckets; }
  /// Truncates the tensors of a batch, all of one bucket, to its size.
  void cut(uint32_t bucket, std::vector<Tensor> &inputs,
           std::vector<Tensor> &targets) const;

private:
  std::vector<uint32_t> buckets;
  std::vector<int64_t> sizes;
  /// The truncated dimensions of each input and target.
  std::vector<std::vector<int64_t>> inputDimensions, targetDimensions;
};

} // namespace sinter

#endif // SINTER_DATA_BUCKETS_H
