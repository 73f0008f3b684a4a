//===- Buckets.h - sequences of several lengths ---------------------------===//
//
// Arrays hold sequences that are padded to one size, and `length` says how long
// each is. Samples of similar lengths are trained on together, cut to the size
// of their bucket: --bucket 32,64,128.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_DRIVER_BUCKETS_H
#define SINTER_DRIVER_BUCKETS_H

#include "engine/ModelDescription.h"
#include "runtime/Result.h"
#include "runtime/Tensor.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sinter::driver {

/// --bucket as it was given.
struct BucketOptions {
  /// The name of the unknown dimension; empty: the only one that is none of
  /// samples.
  std::string dimension;
  /// In ascending order; empty: there are no buckets.
  std::vector<int64_t> sizes;
};

/// Reads "32,64,128" or "NAME=32,64,128"; nothing for other texts.
std::optional<BucketOptions> parseBuckets(const std::string &text);

/// What is cut of the tensors of a batch.
class Buckets {
public:
  /// For samples whose arrays are \p inputs, of a model of this description,
  /// and \p targets, each with the output of the model that it is compared with
  /// or null. \p lengths is the array `length`. A Usage error, behind \p where,
  /// says what does not fit.
  static Result<Buckets> of(const BucketOptions &options,
                            const ModelDescription &model,
                            const std::vector<Tensor> &inputs,
                            const std::vector<Tensor> &targets,
                            const std::vector<const TensorSpec *> &outputs,
                            const Tensor &lengths, const std::string &where);

  /// The bucket of each sample.
  const std::vector<uint32_t> &ofSamples() const { return buckets; }
  /// Cuts the tensors of a batch, all of one bucket, to its size.
  void cut(uint32_t bucket, std::vector<Tensor> &inputs,
           std::vector<Tensor> &targets) const;

private:
  std::vector<uint32_t> buckets;
  std::vector<int64_t> sizes;
  /// Of each input and target the dimensions that are cut.
  std::vector<std::vector<int64_t>> inputDimensions, targetDimensions;
};

} // namespace sinter::driver

#endif // SINTER_DRIVER_BUCKETS_H
