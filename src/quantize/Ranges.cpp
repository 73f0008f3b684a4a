//===- Ranges.cpp - ranges, scales and zero points ------------------------===//

#include "quantize/Ranges.h"

#include "llvm/Support/ErrorHandling.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sinter::quantize {

static IntegerBounds boundsOf(ElementType storage) {
  switch (storage) {
  case ElementType::UI8:
    return {0, 255};
  case ElementType::I4:
    return {-8, 7};
  case ElementType::I16:
    return {-32768, 32767};
  default:
    return {-128, 127};
  }
}

double LinearCode::nearest(double number) const {
  const IntegerBounds bounds = boundsOf(storage);
  const double element = std::clamp(
      std::nearbyint(number / scale) + static_cast<double>(zeroPoint),
      static_cast<double>(bounds.least), static_cast<double>(bounds.greatest));
  return (element - static_cast<double>(zeroPoint)) * scale;
}

ChannelErrors LinearCode::numbers() const {
  const IntegerBounds bounds = boundsOf(storage);
  ChannelErrors numbers;
  numbers.scale = scale;
  numbers.least = static_cast<double>(bounds.least - zeroPoint) * scale;
  numbers.greatest = static_cast<double>(bounds.greatest - zeroPoint) * scale;
  return numbers;
}

/// A scale as it is stored: a normal number of f32.
static double stored(double scale) {
  // Elements times the scale stay finite, and the scale's reciprocal, too.
  constexpr double least = 0x1p-120, greatest = 0x1p100;
  if (!(scale > 0))
    return 1;
  return static_cast<float>(std::clamp(scale, least, greatest));
}

/// The least scale with which elements around \p zero cover \p least to
/// \p greatest, except for half a step at an end.
static double scaleAround(double zero, double least, double greatest,
                          IntegerBounds bounds) {
  const double below = zero - static_cast<double>(bounds.least),
               above = static_cast<double>(bounds.greatest) - zero;
  return std::max({(greatest - least) / (below + above), -least / (below + 0.5),
                   greatest / (above + 0.5)});
}

/// The even zero point with the lesser scale: with an even one, rounding before
/// and behind its addition gives the same.
static LinearCode asymmetric(double least, double greatest,
                             ElementType storage) {
  const IntegerBounds bounds = boundsOf(storage);
  const double steps = static_cast<double>(bounds.greatest - bounds.least),
               width = greatest - least;
  const int64_t nearest =
      bounds.least +
      (width > 0 ? static_cast<int64_t>(std::nearbyint(-least / width * steps))
                 : 0);
  LinearCode best;
  best.storage = storage;
  best.scale = std::numeric_limits<double>::infinity();
  for (int64_t zero : {nearest - 1, nearest, nearest + 1}) {
    if (zero % 2 != 0 || !bounds.contains(zero))
      continue;
    const double scale =
        scaleAround(static_cast<double>(zero), least, greatest, bounds);
    if (scale < best.scale) {
      best.scale = scale;
      best.zeroPoint = zero;
    }
  }
  best.scale = stored(best.scale);
  return best;
}

LinearCode codeOf(Range range, ElementType storage, Scheme scheme) {
  // Zero must be exact: it is the value of padding and the result of a relu.
  const double least = std::min(range.least, 0.0),
               greatest = std::max(range.greatest, 0.0);
  if (scheme == Scheme::Asymmetric)
    return asymmetric(least, greatest, storage);
  const double magnitude = std::max(-least, greatest);
  LinearCode code;
  code.storage = storage;
  if (scheme == Scheme::SymmetricU8 && storage != ElementType::I16)
    code.storage = least < 0 ? ElementType::I8 : ElementType::UI8;
  const IntegerBounds bounds = boundsOf(code.storage);
  const auto most = static_cast<double>(bounds.greatest);
  // Where values may be negative, unsigned storage has its middle as zero
  // point.
  const bool isShifted = bounds.least == 0 && least < 0;
  code.zeroPoint = isShifted ? (bounds.greatest + 1) / 2 : 0;
  const double scale =
      magnitude /
      (isShifted ? most - static_cast<double>(code.zeroPoint) : most);
  code.scale = stored(scheme == Scheme::PowerOfTwo && scale > 0
                          ? std::exp2(std::ceil(std::log2(scale)))
                          : scale);
  return code;
}

double leastScaleOf(mlir::Value value) {
  auto type = mlir::cast<mlir::FloatType>(
      mlir::cast<mlir::ShapedType>(value.getType()).getElementType());
  return type.isF16() ? 0x1p-14 : 0;
}

LinearCode withLeastScale(const LinearCode &code, Range range, Scheme scheme,
                          double leastScale) {
  if (code.scale >= leastScale)
    return code;
  // A little wider, since scales are rounded.
  const double wider = leastScale / code.scale * (1 + 0x1p-10);
  return codeOf({range.least * wider, range.greatest * wider}, code.storage,
                scheme);
}

llvm::StringRef nameOf(RangeMethod method) {
  switch (method) {
  case RangeMethod::Best:
    return "best";
  case RangeMethod::Max:
    return "max";
  case RangeMethod::Percentile:
    return "percentile";
  case RangeMethod::Entropy:
    return "entropy";
  case RangeMethod::SquaredError:
    return "mse";
  case RangeMethod::Wider:
    return "wider";
  }
  llvm_unreachable("no such method");
}

namespace {

/// The expected clipping error on one side of a range that ends farther out
/// than half of the samples reached: the mean over all elements of the squared
/// distance beyond the end. It falls exponentially with the end, fitted to its
/// value and slope at the median of the samples' outermost values. (Farther
/// out, the values that were seen underestimate it, and beyond the outermost
/// value they give nothing, though the next sample will exceed it.)
struct Tail {
  /// Infinite where nothing is known of values farther out.
  double from = std::numeric_limits<double>::infinity();
  double power = 0, decay = 1;

  static Tail of(const TensorProfile &profile, bool isAbove);
  double beyond(double end) const {
    return power * std::exp(-(end - from) / decay);
  }
};

/// Searches ranges for the elements of one tensor.
class RangeSearch {
public:
  RangeSearch(const TensorProfile &profile, const QuantizeOptions &options)
      : profile(profile), options(options), above(Tail::of(profile, true)),
        below(Tail::of(profile, false)) {
    for (uint64_t count : profile.histogram)
      all += static_cast<double>(count);
  }

  Range whole() const { return {profile.least, profile.greatest}; }
  Range percentile(double covered) const;
  /// One of the two error estimates below.
  using Estimate = double (RangeSearch::*)(Range range,
                                           double weightOfCut) const;
  Range leastError(Estimate error, double weightOfCut) const;
  Range leastDivergence() const;
  /// \p start with ends farther out, where that reduces the expected error.
  Range wider(Range start, double weightOfCut, RealRange possible) const;
  /// The mean of squared errors; clipping errors count \p weightOfCut times.
  double error(Range range, double weightOfCut) const;
  /// The same, with the expected clipping errors of unseen samples.
  double expectedError(Range range, double weightOfCut) const;

private:
  bool isOneSided() const {
    return profile.least >= 0 || profile.greatest <= 0;
  }
  double divergence(Range range) const;
  /// For the values that were seen: the mean squared errors of rounding, and of
  /// clipping below and above.
  struct Errors {
    double rounded = 0, below = 0, above = 0;
  };
  Errors errorsOf(const LinearCode &code) const;

  const TensorProfile &profile;
  const QuantizeOptions &options;
  Tail above, below;
  double all = 0;
};

} // namespace

/// The range that holds \p covered percent of the elements, with as many left
/// out on either side; for elements of one sign, on the far side only.
Range RangeSearch::percentile(double covered) const {
  const double sides = isOneSided() ? 1 : 2;
  const double out = all * (100 - covered) / 100 / sides;
  Range range = whole();
  const auto edge = [&](const auto &begin, const auto &end, double from,
                        double step) {
    double left = 0;
    for (auto bin = begin; bin != end; ++bin) {
      left += static_cast<double>(*bin);
      if (left > out)
        break;
      from += step;
    }
    return from;
  };
  const double width = profile.widthOfBin();
  if (profile.least < 0)
    range.least = edge(profile.histogram.begin(), profile.histogram.end(),
                       profile.least, width);
  if (profile.greatest > 0)
    range.greatest = edge(profile.histogram.rbegin(), profile.histogram.rend(),
                          profile.greatest, -width);
  return range.least < range.greatest ? range : whole();
}

Tail Tail::of(const TensorProfile &profile, bool isAbove) {
  const std::vector<double> &outermost =
      isAbove ? profile.sampleMinMax.greatest : profile.sampleMinMax.least;
  Tail tail;
  if (outermost.size() < 2 || profile.histogram.empty())
    return tail;
  const double sign = isAbove ? 1 : -1;
  const size_t half =
      std::clamp<size_t>(profile.times / 2, 2, outermost.size());
  const double from = sign * outermost[half - 1];
  // Ranges include zero, whatever is on its other side.
  if (!(from > 0))
    return tail;
  double all = 0, beyond = 0, squares = 0;
  for (size_t bin = 0; bin < profile.histogram.size(); ++bin) {
    const auto count = static_cast<double>(profile.histogram[bin]);
    const double more = std::max(0.0, sign * profile.middleOf(bin) - from);
    all += count;
    beyond += count * more;
    squares += count * more * more;
  }
  if (!(squares > 0))
    return tail;
  tail.from = from;
  tail.power = squares / all;
  // The slope of the sum of (x - end)^2 is -2 times that of (x - end).
  tail.decay = squares / (2 * beyond);
  return tail;
}

RangeSearch::Errors RangeSearch::errorsOf(const LinearCode &code) const {
  Errors errors;
  for (size_t bin = 0; bin < profile.histogram.size(); ++bin) {
    if (profile.histogram[bin] == 0)
      continue;
    const double number = profile.middleOf(bin);
    const double off = code.nearest(number) - number;
    // Rounding errors are half a step at most.
    double &sum = std::abs(off) <= code.scale * 0.501 ? errors.rounded
                  : off > 0                           ? errors.below
                                                      : errors.above;
    sum += static_cast<double>(profile.histogram[bin]) * off * off;
  }
  if (all > 0)
    for (double *sum : {&errors.rounded, &errors.below, &errors.above})
      *sum /= all;
  return errors;
}

double RangeSearch::error(Range range, double weightOfCut) const {
  const Errors errors =
      errorsOf(codeOf(range, options.activations, options.scheme));
  return errors.rounded + weightOfCut * (errors.below + errors.above);
}

double RangeSearch::expectedError(Range range, double weightOfCut) const {
  const LinearCode code = codeOf(range, options.activations, options.scheme);
  const ChannelErrors numbers = code.numbers();
  Errors errors = errorsOf(code);
  if (numbers.greatest > above.from)
    errors.above = above.beyond(numbers.greatest);
  if (-numbers.least > below.from)
    errors.below = below.beyond(-numbers.least);
  return errors.rounded + weightOfCut * (errors.below + errors.above);
}

/// Moves the ends out alternately, each in steps of a twentieth until the error
/// grows.
Range RangeSearch::wider(Range start, double weightOfCut,
                         RealRange possible) const {
  constexpr double step = 0.05;
  // The widest is about three times as wide.
  constexpr int most = 40;
  Range best = start;
  double least = expectedError(best, weightOfCut);
  for (bool changed = true; changed;) {
    changed = false;
    for (double Range::*end : {&Range::least, &Range::greatest}) {
      const double whole = this->whole().*end;
      for (int i = 0; i < most; ++i) {
        Range more = best;
        more.*end += step * whole;
        // An end must not move towards zero, nor beyond the possible values.
        more.least = std::max(more.least, possible.least);
        more.greatest = std::min(more.greatest, possible.greatest);
        if (!(std::abs(more.*end) > std::abs(best.*end)) ||
            std::abs(more.*end) > (1 + step * most) * std::abs(whole))
          break;
        const double now = expectedError(more, weightOfCut);
        if (!(now < least))
          break;
        best = more;
        least = now;
        changed = true;
      }
    }
  }
  return best;
}

/// Moves the ends in alternately, each in steps of a twentieth until the error
/// grows.
Range RangeSearch::leastError(Estimate error, double weightOfCut) const {
  constexpr double step = 0.05;
  constexpr int most = 20;
  Range best = whole();
  double least = (this->*error)(best, weightOfCut);
  const Range full = best;
  for (bool changed = true; changed;) {
    changed = false;
    for (double Range::*end : {&Range::least, &Range::greatest}) {
      for (int i = 0; i < most; ++i) {
        Range narrower = best;
        narrower.*end -= step * (full.*end);
        if (narrower.least > 0 && full.least < 0)
          break;
        if (narrower.greatest < 0 && full.greatest > 0)
          break;
        if (!(narrower.least < narrower.greatest) ||
            std::abs(narrower.*end) < std::abs(full.*end) * step)
          break;
        const double now = (this->*error)(narrower, weightOfCut);
        if (!(now < least))
          break;
        best = narrower;
        least = now;
        changed = true;
      }
    }
  }
  return best;
}

/// The divergence of the distribution quantised to \p range from the original:
/// the sum of p * log(p / q) over bins, where p has clipped elements in its
/// outermost bins. Zero has its own storage element, so that its bin keeps its
/// count: a relu's zeros are not spread over neighbouring bins.
double RangeSearch::divergence(Range range) const {
  const LinearCode code = codeOf(range, options.activations, options.scheme);
  const size_t bins = profile.histogram.size();
  std::vector<double> inside(bins), spread(bins);
  size_t first = bins, last = 0;
  for (size_t bin = 0; bin < bins; ++bin) {
    const double middle = profile.middleOf(bin);
    if (middle < range.least || middle > range.greatest)
      continue;
    first = std::min(first, bin);
    last = bin;
  }
  if (first > last)
    return std::numeric_limits<double>::infinity();
  for (size_t bin = 0; bin < bins; ++bin)
    inside[std::clamp(bin, first, last)] +=
        static_cast<double>(profile.histogram[bin]);
  const double zero = -profile.least / profile.widthOfBin();
  const size_t binOfZero = zero >= 0 && zero <= static_cast<double>(bins)
                               ? std::min(static_cast<size_t>(zero), bins - 1)
                               : bins;
  // Bins that share an element share its probability, where they have any.
  for (size_t begin = first; begin <= last;) {
    const double element = code.nearest(profile.middleOf(begin));
    size_t end = begin;
    double sum = 0, filled = 0;
    while (end <= last && code.nearest(profile.middleOf(end)) == element) {
      const auto count = static_cast<double>(profile.histogram[end]);
      if (end == binOfZero) {
        spread[end] = count;
      } else {
        sum += count;
        filled += count != 0;
      }
      ++end;
    }
    for (size_t bin = begin; bin < end; ++bin)
      if (profile.histogram[bin] != 0 && bin != binOfZero)
        spread[bin] = sum / filled;
    begin = end;
  }
  double total = 0, result = 0;
  for (double each : spread)
    total += each;
  constexpr double nothing = 1e-9;
  for (size_t bin = first; bin <= last; ++bin)
    if (inside[bin] > 0)
      result +=
          inside[bin] / all *
          std::log(inside[bin] / all / std::max(nothing, spread[bin] / total));
  return result;
}

Range RangeSearch::leastDivergence() const {
  constexpr int steps = 64;
  Range best = whole();
  // A distribution of few elements has many empty bins: clipping seems to cost
  // little.
  constexpr double fewInBin = 8;
  if (all < fewInBin * static_cast<double>(profile.histogram.size()))
    return best;
  double least = divergence(best);
  for (int i = 1; i < steps; ++i) {
    const double share = 1 - static_cast<double>(i) / steps;
    const Range range = {
        profile.least < 0 ? profile.least * share : profile.least,
        profile.greatest > 0 ? profile.greatest * share : profile.greatest};
    if (!(range.least < range.greatest))
      break;
    if (const double now = divergence(range); now < least) {
      least = now;
      best = range;
    }
  }
  return best;
}

ChosenRange chooseRange(const TensorProfile &profile,
                        const QuantizeOptions &options, RealRange possible) {
  const RangeSearch search(profile, options);
  const double power = profile.power();
  // Clipping errors have one sign only, so that they do not average out in a
  // sum as rounding errors do.
  const bool isBest = options.range == RangeMethod::Best;
  constexpr double weightOfCut = 2;
  const double weight = isBest ? weightOfCut : 1;
  const auto rangeBy = [&](RangeMethod method) {
    switch (method) {
    case RangeMethod::Percentile:
      return search.percentile(options.percentile);
    case RangeMethod::Entropy:
      return search.leastDivergence();
    case RangeMethod::SquaredError:
      return search.leastError(
          isBest ? &RangeSearch::expectedError : &RangeSearch::error, weight);
    default:
      return search.whole();
    }
  };
  const auto chosenAs = [&](RangeMethod method, Range range) {
    ChosenRange chosen;
    chosen.method = method;
    chosen.range = range;
    chosen.code = codeOf(chosen.range, options.activations, options.scheme);
    chosen.error = search.expectedError(chosen.range, 1);
    chosen.power = power;
    return chosen;
  };
  const auto chosenBy = [&](RangeMethod method) {
    return chosenAs(method, rangeBy(method));
  };
  if (profile.histogram.empty())
    return chosenBy(RangeMethod::Max);
  if (!isBest)
    return chosenBy(options.range);
  ChosenRange best = chosenBy(RangeMethod::Max);
  double least = search.expectedError(best.range, weight);
  for (RangeMethod method : {RangeMethod::Percentile, RangeMethod::Entropy,
                             RangeMethod::SquaredError}) {
    ChosenRange other = chosenBy(method);
    if (const double harm = search.expectedError(other.range, weight);
        harm < least) {
      least = harm;
      best = other;
    }
  }
  const Range wider = search.wider(best.range, weight, possible);
  return search.expectedError(wider, weight) < least
             ? chosenAs(RangeMethod::Wider, wider)
             : best;
}

} // namespace sinter::quantize
