//===- Profile.h - the distributions of a model's tensors -----------------===//
//
//     first pass over the data    ranges, whole and by channel
//     second pass                 a histogram within the range
//     third pass                  mean errors of channels as the
//                                 integers that were chosen for them
//
// Nothing is kept of the data itself, so that memory does not grow with it. A
// profile is a JSON file that a person can read and edit: it uses the names of
// the user's file.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_QUANTIZE_PROFILE_H
#define SINTER_QUANTIZE_PROFILE_H

#include "runtime/Result.h"
#include "runtime/Tensor.h"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace sinter::quantize {

/// The mean errors of the slices along a dimension once their elements are
/// rounded to the nearest multiples of `scale` between `least` and `greatest`.
struct ChannelErrors {
  /// 0: not requested.
  double scale = 0, least = 0, greatest = 0;
  std::vector<double> mean;
  /// While it is measured: of how many tensors the means are.
  std::vector<uint64_t> tensors;

  bool isOfSameNumbers(const ChannelErrors &other) const {
    return scale == other.scale && least == other.least &&
           greatest == other.greatest;
  }
};

/// The range, the mean and the mean square of each slice along a dimension.
struct ChannelProfile {
  /// -1: not requested.
  int64_t axis = -1;
  std::vector<double> least, greatest, mean, square;
  /// While it is measured: of how many tensors the means are.
  std::vector<uint64_t> tensors;
  ChannelErrors errors;
};

/// The minima and maxima of those samples in which they lay farthest out, the
/// outermost first. They show how far out the next sample may lie.
struct MinMax {
  static constexpr size_t most = 32;

  std::vector<double> least, greatest;

  void add(double leastOfOne, double greatestOfOne);
};

/// Statistics of one tensor.
struct TensorProfile {
  /// Histograms have this many bins of one width, from `least` to `greatest`.
  static constexpr size_t bins = 2048;

  std::string name;
  /// How often it was computed, and with how many elements; those that are not
  /// finite are counted separately, and in nothing else.
  uint64_t times = 0, elements = 0, notFinite = 0;
  double least = std::numeric_limits<double>::infinity();
  double greatest = -std::numeric_limits<double>::infinity();
  MinMax sampleMinMax;
  /// Empty before the second pass, and where all elements are equal.
  std::vector<uint64_t> histogram;
  ChannelProfile channels;

  bool wasReached() const { return elements != 0; }
  bool isConstant() const { return least == greatest; }
  double widthOfBin() const {
    return (greatest - least) / static_cast<double>(bins);
  }
  /// The middle of a bin.
  double middleOf(size_t bin) const {
    return least + (static_cast<double>(bin) + 0.5) * widthOfBin();
  }
  /// The mean of the squares, from the histogram.
  double power() const;

  /// Adds a float tensor on the first pass. Channels are left out where a
  /// dimension has another size than before.
  void measure(const Tensor &values);
  /// Adds the same tensor on the second pass.
  void count(const Tensor &values);
  /// Adds the same tensor on the third pass, if `channels.errors` has a scale.
  void compare(const Tensor &values);
};

/// An activation whose channels were divided by factors before it was measured
/// (Equalize.h).
struct EqualizedTensor {
  std::string tensor;
  std::vector<double> factors;
};

struct Profile {
  /// A hash of the model's file.
  std::string model;
  uint64_t samples = 0;
  std::vector<EqualizedTensor> equalized;
  std::vector<TensorProfile> tensors;
};

std::string toJson(const Profile &profile);
/// Usage errors describe what is missing in the text at \p path.
Result<Profile> profileFromJson(std::string_view text, const std::string &path);

} // namespace sinter::quantize

#endif // SINTER_QUANTIZE_PROFILE_H
