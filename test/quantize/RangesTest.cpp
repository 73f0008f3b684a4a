// Codes over all schemes, storages and signs; ranges against searches over
// every pair of bin edges.

#include "quantize/Ranges.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <random>

namespace sinter::quantize {
namespace {

constexpr Scheme allSchemes[] = {Scheme::Asymmetric, Scheme::Symmetric,
                                 Scheme::SymmetricU8, Scheme::PowerOfTwo};

std::pair<double, double> elementsOf(ElementType storage) {
  switch (storage) {
  case ElementType::UI8:
    return {0, 255};
  case ElementType::I16:
    return {-32768, 32767};
  default:
    return {-128, 127};
  }
}

using CodeCell = std::tuple<Scheme, ElementType, std::pair<double, double>>;
class Codes : public testing::TestWithParam<CodeCell> {};

TEST_P(Codes, ZeroIsExactAndTheRangeIsCovered) {
  const auto &[scheme, storage, ends] = GetParam();
  const auto [least, greatest] = ends;
  const LinearCode code = codeOf({least, greatest}, storage, scheme);
  EXPECT_EQ(code.nearest(0), 0);
  EXPECT_TRUE(std::isnormal(static_cast<float>(code.scale)));
  EXPECT_EQ(code.scale, static_cast<double>(static_cast<float>(code.scale)));
  const auto [first, last] = elementsOf(code.storage);
  EXPECT_GE(static_cast<double>(code.zeroPoint), first);
  EXPECT_LE(static_cast<double>(code.zeroPoint), last);
  EXPECT_EQ(code.zeroPoint % 2, 0);
  if (scheme == Scheme::SymmetricU8 && storage != ElementType::I16)
    EXPECT_EQ(code.storage, least < 0 ? ElementType::I8 : ElementType::UI8);
  else
    EXPECT_EQ(code.storage, storage);
  if (scheme != Scheme::Asymmetric && code.storage != ElementType::UI8)
    EXPECT_EQ(code.zeroPoint, 0);
  if (scheme == Scheme::PowerOfTwo) {
    int exponent = 0;
    EXPECT_EQ(std::frexp(code.scale, &exponent), 0.5);
  }
  // No number of the range is further from its code than half a step, where
  // scales can be that small; an end of an asymmetric range may be, since its
  // zero point is rounded.
  for (int i = 0; i <= 64; ++i) {
    const double number = least + (greatest - least) * i / 64;
    EXPECT_LE(std::abs(code.nearest(number) - number),
              code.scale * (scheme == Scheme::Asymmetric ? 1.0001 : 0.5001))
        << number;
  }
  // What is beyond has the outermost code.
  const double steps = last - first,
               below = (first - static_cast<double>(code.zeroPoint)),
               above = (last - static_cast<double>(code.zeroPoint));
  const double far = 2 * steps * code.scale;
  EXPECT_EQ(code.nearest(-far), below * code.scale);
  EXPECT_EQ(code.nearest(far), above * code.scale);
}

// Not more than is worth a storage element is wasted.
TEST_P(Codes, TheScaleIsNotWiderThanItMustBe) {
  const auto &[scheme, storage, ends] = GetParam();
  const double least = std::min(ends.first, 0.0),
               greatest = std::max(ends.second, 0.0);
  if (greatest - least < 1e-30)
    return;
  const LinearCode code = codeOf({least, greatest}, storage, scheme);
  const auto [first, last] = elementsOf(code.storage);
  const double magnitude = std::max(-least, greatest);
  double steps = last;
  if (scheme == Scheme::Asymmetric)
    steps = last - first;
  else if (code.storage == ElementType::UI8 && least < 0)
    steps = 127;
  const double wanted =
      (scheme == Scheme::Asymmetric ? greatest - least : magnitude) / steps;
  EXPECT_GE(code.scale, wanted * (1 - 1e-6));
  // An even zero point is at most one element from where it would be.
  const double wider = scheme == Scheme::PowerOfTwo   ? 2
                       : scheme == Scheme::Asymmetric ? 1 + 1 / (steps / 2)
                                                      : 1;
  EXPECT_LE(code.scale, wanted * wider * (1 + 1e-6));
}

INSTANTIATE_TEST_SUITE_P(
    Cells, Codes,
    testing::Combine(
        testing::ValuesIn(allSchemes),
        testing::Values(ElementType::UI8, ElementType::I8, ElementType::I16),
        testing::Values(std::pair(-1.0, 1.0), std::pair(0.0, 6.0),
                        std::pair(-3.0, 0.0), std::pair(2.0, 5.0),
                        std::pair(-5.0, -2.0), std::pair(-0.1, 12.7),
                        std::pair(-100.0, 0.3), std::pair(0.0, 0.0),
                        std::pair(7.0, 7.0), std::pair(-7.0, -7.0),
                        std::pair(0.0, 1e-40), std::pair(-1e-40, 1e-40),
                        std::pair(-1e30, 1e30), std::pair(0.0, 1e30))));

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

TensorProfile profileOf(const std::vector<double> &numbers) {
  Tensor tensor(ElementType::F64, {static_cast<int64_t>(numbers.size())});
  for (size_t i = 0; i < numbers.size(); ++i)
    tensor.set(static_cast<int64_t>(i), numbers[i]);
  TensorProfile profile;
  profile.measure(tensor);
  profile.count(tensor);
  return profile;
}

/// What real tensors look like: bells, with few numbers far out.
std::vector<double> bell(unsigned seed, bool isRectified, double outlier) {
  std::mt19937 random(seed);
  std::normal_distribution<double> draw;
  std::vector<double> numbers;
  for (int i = 0; i < 4000; ++i)
    numbers.push_back(isRectified ? std::max(0.0, draw(random)) : draw(random));
  if (outlier != 0)
    numbers.push_back(outlier);
  return numbers;
}

std::vector<TensorProfile> someProfiles() {
  return {profileOf(bell(1, false, 0)),   profileOf(bell(2, false, 40)),
          profileOf(bell(3, false, -40)), profileOf(bell(4, true, 0)),
          profileOf(bell(5, true, 100)),  profileOf({-1, 1}),
          profileOf({0, 5, 5, 5}),        profileOf({-8, -8, -1, -0.5})};
}

/// What is beyond the outermost elements by more than half a step counts
/// \p weightOfCut times.
double errorOf(const TensorProfile &profile, Range range,
               const QuantizeOptions &options, double weightOfCut = 1) {
  const LinearCode code = codeOf(range, options.activations, options.scheme);
  double sum = 0, all = 0;
  for (size_t bin = 0; bin < profile.histogram.size(); ++bin) {
    const double number = profile.middleOf(bin);
    const double off = std::abs(code.nearest(number) - number);
    sum += static_cast<double>(profile.histogram[bin]) * off * off *
           (off > 0.501 * code.scale ? weightOfCut : 1);
    all += static_cast<double>(profile.histogram[bin]);
  }
  return sum / all;
}

ChosenRange chosenBy(const TensorProfile &profile, RangeMethod method,
                     QuantizeOptions options = {}) {
  options.range = method;
  return chooseRange(profile, options);
}

TEST(Ranges, TheErrorIsThatOfTheCode) {
  for (const TensorProfile &profile : someProfiles())
    for (RangeMethod method :
         {RangeMethod::Best, RangeMethod::Max, RangeMethod::Percentile,
          RangeMethod::Entropy, RangeMethod::SquaredError}) {
      const ChosenRange chosen = chosenBy(profile, method);
      EXPECT_NEAR(chosen.error, errorOf(profile, chosen.range, {}),
                  1e-12 * (1 + chosen.error));
      EXPECT_LE(chosen.range.least, chosen.range.greatest);
    }
}

TEST(Ranges, MaxIsTheWholeRange) {
  for (const TensorProfile &profile : someProfiles()) {
    const ChosenRange chosen = chosenBy(profile, RangeMethod::Max);
    EXPECT_EQ(chosen.range.least, profile.least);
    EXPECT_EQ(chosen.range.greatest, profile.greatest);
  }
}

TEST(Ranges, BestIsNeverWorseThanAnyOther) {
  for (Scheme scheme : allSchemes)
    for (const TensorProfile &profile : someProfiles()) {
      QuantizeOptions options;
      options.scheme = scheme;
      options.activations =
          scheme == Scheme::Asymmetric ? ElementType::UI8 : ElementType::I8;
      const auto harmBy = [&](RangeMethod method) {
        return errorOf(profile, chosenBy(profile, method, options).range,
                       options, 2);
      };
      const double best = harmBy(RangeMethod::Best);
      for (RangeMethod method :
           {RangeMethod::Max, RangeMethod::Percentile, RangeMethod::Entropy,
            RangeMethod::SquaredError})
        EXPECT_LE(best, harmBy(method) * (1 + 1e-12));
    }
}

// Of all ranges with both ends at a twentieth of the whole one none is much
// better than that of least error.
TEST(Ranges, SquaredErrorIsNearTheBestOfAll) {
  for (const TensorProfile &profile : someProfiles()) {
    double best = std::numeric_limits<double>::infinity();
    for (int low = 1; low <= 20; ++low)
      for (int high = 1; high <= 20; ++high) {
        const Range range = {profile.least < 0 ? profile.least * low / 20
                                               : profile.least,
                             profile.greatest > 0 ? profile.greatest * high / 20
                                                  : profile.greatest};
        if (range.least < range.greatest)
          best = std::min(best, errorOf(profile, range, {}));
      }
    const double found = chosenBy(profile, RangeMethod::SquaredError).error,
                 whole = chosenBy(profile, RangeMethod::Max).error;
    EXPECT_LE(found, whole);
    EXPECT_LE(found, best * 1.6 + 1e-12)
        << profile.least << " " << profile.greatest << " whole " << whole;
  }
}

// At most that part of the numbers lies outside, and a bin less on either side
// would leave out more.
TEST(Ranges, PercentileLeavesOutWhatItSays) {
  for (double percentile : {51.0, 90.0, 99.0, 99.9, 100.0})
    for (const TensorProfile &profile : someProfiles()) {
      QuantizeOptions options;
      options.percentile = percentile;
      const Range range =
          chosenBy(profile, RangeMethod::Percentile, options).range;
      const bool isOneSided = profile.least >= 0 || profile.greatest <= 0;
      double all = 0, below = 0, above = 0;
      for (size_t bin = 0; bin < profile.histogram.size(); ++bin) {
        const auto count = static_cast<double>(profile.histogram[bin]);
        all += count;
        below += profile.middleOf(bin) < range.least ? count : 0;
        above += profile.middleOf(bin) > range.greatest ? count : 0;
      }
      const double allowed =
          all * (100 - percentile) / 100 / (isOneSided ? 1 : 2);
      EXPECT_LE(below, allowed + 1e-9);
      EXPECT_LE(above, allowed + 1e-9);
      if (percentile == 100)
        EXPECT_NEAR(range.greatest, profile.greatest,
                    1e-9 * std::abs(profile.greatest));
    }
}

// One number far out is not worth the precision of all others.
TEST(Ranges, OutliersAreCutOff) {
  TensorProfile profile = profileOf(bell(6, true, 100));
  for (uint64_t &count : profile.histogram)
    count *= 100;
  for (RangeMethod method : {RangeMethod::Percentile, RangeMethod::Entropy}) {
    QuantizeOptions options;
    options.percentile = 99.9;
    EXPECT_LT(chosenBy(profile, method, options).range.greatest, 50)
        << nameOf(method).str();
  }
}

/// A rectifier's zeros have an element of their own: that there are many is no
/// reason to cut off what it lets through.
TEST(Ranges, ZerosDoNotDrawTheRangeInByEntropy) {
  std::mt19937 random(9);
  std::normal_distribution<double> draw;
  for (double middle : {0.0, -1.5}) {
    Tensor numbers(ElementType::F32, {200000});
    for (int64_t i = 0; i < numbers.size(); ++i)
      numbers.set(i, static_cast<float>(std::max(0.0, draw(random) + middle)));
    TensorProfile profile;
    profile.measure(numbers);
    profile.count(numbers);
    const double whole = chosenBy(profile, RangeMethod::Max).error;
    EXPECT_LE(chosenBy(profile, RangeMethod::Entropy).error, 1.2 * whole)
        << middle;
  }
}

/// Of few numbers the shape of the distribution is not known.
TEST(Ranges, FewNumbersKeepTheirRangeByEntropy) {
  const TensorProfile profile = profileOf(bell(6, true, 100));
  QuantizeOptions options;
  const ChosenRange chosen = chosenBy(profile, RangeMethod::Entropy, options);
  EXPECT_EQ(chosen.range.least, profile.least);
  EXPECT_EQ(chosen.range.greatest, profile.greatest);
}

//===----------------------------------------------------------------------===//
// What other samples hold
//===----------------------------------------------------------------------===//

/// How the samples of a population differ.
enum class Population {
  /// Some have more contrast than others.
  Contrast,
  /// The same behind a rectifier.
  RectifiedContrast,
  /// All are alike.
  Alike,
  /// Few of them have numbers far out.
  RareOutliers,
  /// All reach the same bound.
  Bounded
};

Tensor sampleOf(Population population, std::mt19937 &random) {
  std::normal_distribution<double> draw;
  const double contrast = std::exp(0.35 * draw(random));
  const bool hasOutliers = random() % 8 == 0;
  Tensor sample(ElementType::F32, {500});
  for (int64_t i = 0; i < sample.size(); ++i) {
    double number = draw(random);
    if (population == Population::Contrast ||
        population == Population::RectifiedContrast)
      number *= contrast;
    if (population == Population::RectifiedContrast)
      number = std::max(0.0, number);
    if (population == Population::RareOutliers && hasOutliers && i < 5)
      number *= 4;
    if (population == Population::Bounded)
      number = std::clamp(3 * number, 0.0, 6.0);
    sample.set(i, static_cast<float>(number));
  }
  return sample;
}

TensorProfile profileOf(const std::vector<Tensor> &samples) {
  TensorProfile profile;
  for (const Tensor &sample : samples)
    profile.measure(sample);
  for (const Tensor &sample : samples)
    profile.count(sample);
  return profile;
}

/// The mean of squared errors on \p samples.
double errorOn(const std::vector<Tensor> &samples, const LinearCode &code) {
  double sum = 0, count = 0;
  for (const Tensor &sample : samples)
    for (int64_t i = 0; i < sample.size(); ++i) {
      const double off = code.nearest(sample.toDouble(i)) - sample.toDouble(i);
      sum += off * off;
      ++count;
    }
  return sum / count;
}

/// How much less noise other samples have in the best range than in that of all
/// numbers that were seen, in dB, on average of some draws of \p count samples.
double gainOf(Population population, int count, Scheme scheme) {
  constexpr int draws = 12, others = 150;
  std::mt19937 random(17);
  QuantizeOptions options;
  options.scheme = scheme;
  double gain = 0;
  for (int i = 0; i < draws; ++i) {
    std::vector<Tensor> seen, unseen;
    for (int k = 0; k < count; ++k)
      seen.push_back(sampleOf(population, random));
    for (int k = 0; k < others; ++k)
      unseen.push_back(sampleOf(population, random));
    const TensorProfile profile = profileOf(seen);
    const double best =
        errorOn(unseen, chosenBy(profile, RangeMethod::Best, options).code);
    const double whole =
        errorOn(unseen, chosenBy(profile, RangeMethod::Max, options).code);
    gain += 10 * std::log10(whole / best) / draws;
  }
  return gain;
}

TEST(Expected, OtherSamplesHaveLessNoise) {
  for (const auto &[count, scheme, more] :
       {std::tuple(4, Scheme::Asymmetric, 1.5),
        std::tuple(20, Scheme::Asymmetric, 0.8),
        std::tuple(20, Scheme::SymmetricU8, 0.8),
        std::tuple(80, Scheme::Asymmetric, 0.1)}) {
    const auto gain = [&, count = count, scheme = scheme](Population of) {
      return gainOf(of, count, scheme);
    };
    EXPECT_GT(gain(Population::Contrast), more) << count;
    EXPECT_GT(gain(Population::RectifiedContrast), more) << count;
    // Where there is little or nothing to gain, little is lost.
    EXPECT_GT(gain(Population::RareOutliers), -0.6) << count;
    EXPECT_GT(gain(Population::Alike), -0.6) << count;
    EXPECT_GT(gain(Population::Bounded), -1e-9) << count;
  }
}

/// What the numbers that were seen are off in the range of all of them says
/// little of what others are.
TEST(Expected, TheEstimateIsNearerToWhatOtherSamplesHave) {
  constexpr int draws = 12;
  std::mt19937 random(23);
  double seenOff = 0, expectedOff = 0;
  for (int i = 0; i < draws; ++i) {
    std::vector<Tensor> seen, unseen;
    for (int k = 0; k < 20; ++k)
      seen.push_back(sampleOf(Population::Contrast, random));
    for (int k = 0; k < 150; ++k)
      unseen.push_back(sampleOf(Population::Contrast, random));
    const ChosenRange chosen = chosenBy(profileOf(seen), RangeMethod::Max);
    const double error = errorOn(unseen, chosen.code);
    seenOff += std::abs(std::log(error / errorOn(seen, chosen.code)));
    expectedOff += std::abs(std::log(error / chosen.error));
  }
  EXPECT_LT(expectedOff, 0.9 * seenOff) << seenOff / draws;
}

TEST(Expected, NothingBeyondWhatCanBe) {
  std::mt19937 random(5);
  std::vector<Tensor> seen;
  for (int i = 0; i < 20; ++i)
    seen.push_back(sampleOf(Population::Contrast, random));
  const TensorProfile profile = profileOf(seen);
  const ChosenRange free = chooseRange(profile, {});
  EXPECT_EQ(free.method, RangeMethod::Wider);
  EXPECT_GT(free.range.greatest, profile.greatest);
  EXPECT_LT(free.range.least, profile.least);
  const RealRange possible = {profile.least, profile.greatest * 1.01};
  const ChosenRange bounded = chooseRange(profile, {}, possible);
  EXPECT_GE(bounded.range.least, possible.least);
  EXPECT_LE(bounded.range.greatest, possible.greatest);
}

/// One sample does not tell how others differ, and neither does a profile
/// without the extreme values of samples.
TEST(Expected, NothingIsKnownOfOneSample) {
  std::mt19937 random(5);
  TensorProfile one = profileOf({sampleOf(Population::Contrast, random)});
  EXPECT_NE(chooseRange(one, {}).method, RangeMethod::Wider);
  std::vector<Tensor> seen;
  for (int i = 0; i < 20; ++i)
    seen.push_back(sampleOf(Population::Contrast, random));
  TensorProfile many = profileOf(seen);
  many.sampleMinMax = {};
  EXPECT_NE(chooseRange(many, {}).method, RangeMethod::Wider);
}

TEST(Ranges, WithoutAHistogramThereIsTheWholeRange) {
  TensorProfile profile;
  profile.times = profile.elements = 1;
  profile.least = profile.greatest = 3;
  for (RangeMethod method : {RangeMethod::Best, RangeMethod::Percentile,
                             RangeMethod::Entropy, RangeMethod::SquaredError}) {
    const ChosenRange chosen = chosenBy(profile, method);
    EXPECT_EQ(chosen.method, RangeMethod::Max);
    EXPECT_EQ(chosen.range.greatest, 3);
    EXPECT_NEAR(chosen.code.nearest(3), 3, chosen.code.scale / 2);
  }
}

} // namespace
} // namespace sinter::quantize
