#include "runtime/Comparison.h"

#include "runtime/ElementDispatch.h"
#include "runtime/TensorText.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sinter {

namespace {

constexpr uint64_t farthest = std::numeric_limits<uint64_t>::max();

/// A tensor as a sequence of real values: a complex element has two.
class Reals {
public:
  explicit Reals(const Tensor &tensor)
      : parts(isComplex(tensor.type()) ? 2 : 1), tensor(reals(tensor)) {}

  const int64_t parts;
  double value(int64_t index) const { return tensor.toDouble(index); }

  /// The values from \p first on.
  void read(int64_t first, std::span<double> to) const {
    dispatch(tensor.type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (!isStdComplex<T>)
        for (size_t i = 0; i < to.size(); ++i)
          to[i] = static_cast<double>(
              tensor.at<T>(first + static_cast<int64_t>(i)));
    });
  }

  uint64_t bits(int64_t index) const {
    switch (byteSize(tensor.type())) {
    case 1:
      return tensor.at<uint8_t>(index);
    case 2:
      return tensor.at<uint16_t>(index);
    case 4:
      return tensor.at<uint32_t>(index);
    default:
      return tensor.at<uint64_t>(index);
    }
  }
  uint64_t signBit() const {
    return uint64_t(1) << (bitWidth(tensor.type()) - 1);
  }

private:
  static Tensor reals(const Tensor &tensor) {
    if (!isComplex(tensor.type()))
      return tensor;
    const bool narrow = tensor.type() == ElementType::C64;
    return Tensor::share(narrow ? ElementType::F32 : ElementType::F64,
                         {2 * tensor.size()}, tensor.data(),
                         std::make_shared<Tensor>(tensor));
  }

  const Tensor tensor;
};

/// The distance in ULP between two real values of the same type.
uint64_t ulpBetween(const Reals &a, const Reals &b, int64_t index) {
  const uint64_t bitsA = a.bits(index), bitsB = b.bits(index);
  if (bitsA == bitsB)
    return 0;
  const double valueA = a.value(index), valueB = b.value(index);
  if (std::isnan(valueA) && std::isnan(valueB))
    return 0;
  if (!std::isfinite(valueA) || !std::isfinite(valueB))
    return farthest;
  // Without the sign, the bits of finite values count up from zero.
  const uint64_t sign = a.signBit();
  const uint64_t sizeA = bitsA & ~sign, sizeB = bitsB & ~sign;
  if ((bitsA & sign) != (bitsB & sign))
    return sizeA + sizeB;
  return sizeA > sizeB ? sizeA - sizeB : sizeB - sizeA;
}

/// The contribution of a pair of elements to a Difference.
struct Verdict {
  bool good = true;
  /// |got - expected|.
  double distance = 0;
  /// By how much it exceeds its tolerance, to choose the worst.
  double excess = 0;
  uint64_t steps = 0;

  /// The imaginary part's.
  void join(const Verdict &other) {
    good &= other.good;
    distance = std::max(distance, other.distance);
    excess = std::max(excess, other.excess);
    steps = std::max(steps, other.steps);
  }
};

/// Accumulates verdicts.
class Summary {
public:
  void add(int64_t element, const Verdict &verdict) {
    if (verdict.distance > sum.largest) {
      sum.largest = verdict.distance;
      sum.furthest = element;
    }
    if (verdict.good)
      return;
    if (sum.wrong++ > 0 && verdict.excess <= worstExcess)
      return;
    sum.worst = element;
    sum.steps = verdict.steps;
    worstExcess = verdict.excess;
  }

  Difference sum;

private:
  double worstExcess = 0;
};

bool areIntegers(const Tensor &a, const Tensor &b) {
  return isInteger(a.type()) && isInteger(b.type());
}

Verdict ofIntegers(const Tensor &got, const Tensor &expected, int64_t element,
                   double allowed) {
  const int64_t a = got.toInteger(element), b = expected.toInteger(element);
  if (a == b)
    return {};
  const bool isUnsigned = classOf(expected.type()) == ElementClass::UInt;
  const bool less =
      isUnsigned ? static_cast<uint64_t>(a) < static_cast<uint64_t>(b) : a < b;
  const uint64_t distance =
      less ? static_cast<uint64_t>(b) - static_cast<uint64_t>(a)
           : static_cast<uint64_t>(a) - static_cast<uint64_t>(b);
  const auto difference = static_cast<double>(distance);
  return {difference <= allowed, difference, difference - allowed};
}

/// Compares pairs of real values with the expected ones.
class Judge {
public:
  Judge(const Expectation &wanted, double magnitude)
      : isEqual(wanted.kind == Expectation::Kind::Equal),
        relative(wanted.tolerance.relative),
        allowance(wanted.tolerance.absolute +
                  (wanted.tolerance.ofRange > 0
                       ? wanted.tolerance.ofRange * magnitude
                       : 0)) {}

  Verdict of(double got, double expected) const {
    if (got == expected)
      return {};
    if (std::isnan(got) && std::isnan(expected))
      return isEqual ? Verdict{false, HUGE_VAL, HUGE_VAL} : Verdict{};
    const double distance = std::abs(got - expected);
    if (!std::isfinite(distance))
      return {false, HUGE_VAL, HUGE_VAL};
    const double limit = allowance + relative * std::abs(expected);
    return {distance <= limit, distance, distance - limit};
  }

private:
  bool isEqual;
  double relative, allowance;
};

/// Calls \p visit with each pair of real values, and its index.
template <typename Visitor>
void forEachPair(const Reals &got, const Reals &expected, int64_t count,
                 Visitor &&visit) {
  constexpr int64_t blockLength = 512;
  double a[blockLength], b[blockLength];
  for (int64_t first = 0; first < count; first += blockLength) {
    const auto length =
        static_cast<size_t>(std::min(blockLength, count - first));
    got.read(first, {a, length});
    expected.read(first, {b, length});
    for (size_t i = 0; i < length; ++i)
      visit(first + static_cast<int64_t>(i), a[i], b[i]);
  }
}

double largestMagnitude(const Reals &reals, int64_t count) {
  double largest = 0;
  forEachPair(reals, reals, count, [&](int64_t, double value, double) {
    if (std::isfinite(value))
      largest = std::max(largest, std::abs(value));
  });
  return largest;
}

Difference ofReals(const Tensor &got, const Tensor &expected,
                   const Expectation &wanted) {
  const Reals a(got), b(expected);
  const int64_t count = b.parts * expected.size();
  Summary summary;
  summary.sum.magnitude = largestMagnitude(b, count);
  const Judge judge(wanted, summary.sum.magnitude);
  Verdict element;
  forEachPair(a, b, count, [&](int64_t place, double x, double y) {
    Verdict part = judge.of(x, y);
    if (wanted.kind == Expectation::Kind::Close) {
      part.steps = ulpBetween(a, b, place);
      part.excess = static_cast<double>(part.steps);
    }
    if (place % b.parts != 0)
      part.join(element);
    element = part;
    if (place % b.parts != b.parts - 1)
      return;
    // The bounds hold for the larger of both distances.
    if (wanted.kind == Expectation::Kind::Close)
      element.good =
          wanted.minUlp <= element.steps && element.steps <= wanted.maxUlp;
    summary.add(place / b.parts, element);
  });
  return summary.sum;
}

std::string limitText(const Expectation &wanted, const Difference &difference) {
  switch (wanted.kind) {
  case Expectation::Kind::Close:
    return ", " + std::to_string(difference.steps) +
           " steps apart, allowed are " + std::to_string(wanted.minUlp) +
           " to " + std::to_string(wanted.maxUlp);
  case Expectation::Kind::Almost:
  case Expectation::Kind::AlmostOrEqual:
    return ", tolerance " + numberText(wanted.tolerance.absolute);
  case Expectation::Kind::Equal:
  case Expectation::Kind::Within:
    return "";
  }
  return "";
}

} // namespace

double Difference::ofRange() const {
  if (largest == 0)
    return 0;
  return magnitude > 0 ? largest / magnitude : HUGE_VAL;
}

void Similarity::add(const Similarity &other) {
  signal += other.signal;
  noise += other.noise;
  product += other.product;
  power += other.power;
  elements += other.elements;
}

double Similarity::decibels() const {
  if (noise == 0)
    return HUGE_VAL;
  if (!std::isfinite(noise) || signal == 0)
    return -HUGE_VAL;
  return 10 * std::log10(signal / noise);
}

double Similarity::cosine() const {
  if (!std::isfinite(noise))
    return 0;
  if (signal == 0 || power == 0)
    return signal == power ? 1 : 0;
  return std::clamp(product / (std::sqrt(signal) * std::sqrt(power)), -1.0,
                    1.0);
}

/// Strings are equal or not: 1 apart.
static Difference ofStrings(const Tensor &got, const Tensor &expected) {
  Summary summary;
  for (int64_t i = 0; i < expected.size(); ++i)
    if (got.at<uint64_t>(i) != expected.at<uint64_t>(i))
      summary.add(i, {false, 1, 1});
  return summary.sum;
}

Similarity similarityOf(const Tensor &got, const Tensor &expected,
                        bool ofFinite) {
  Similarity sum;
  // A string is 1, and 1 apart from another.
  if (isString(expected.type())) {
    const auto size = static_cast<double>(expected.size());
    sum.noise = static_cast<double>(ofStrings(got, expected).wrong);
    sum.signal = sum.power = size;
    sum.elements = static_cast<uint64_t>(expected.size());
    sum.product = size - sum.noise;
    return sum;
  }
  const Reals a(got), b(expected);
  forEachPair(a, b, b.parts * expected.size(),
              [&](int64_t, double have, double want) {
                if (ofFinite && !std::isfinite(want))
                  return;
                if (!std::isfinite(want) || !std::isfinite(have)) {
                  sum.elements += std::isfinite(want) || std::isfinite(have);
                  if (have != want && !(std::isnan(have) && std::isnan(want)))
                    sum.noise = HUGE_VAL;
                  return;
                }
                ++sum.elements;
                const double error = have - want;
                sum.signal += want * want;
                sum.noise += error * error;
                sum.product += want * have;
                sum.power += have * have;
              });
  return sum;
}

Difference differenceOf(const Tensor &got, const Tensor &expected,
                        const Expectation &wanted) {
  if (isString(expected.type()))
    return ofStrings(got, expected);
  if (!areIntegers(got, expected))
    return ofReals(got, expected, wanted);
  const double allowed =
      wanted.kind == Expectation::Kind::Within ? wanted.tolerance.absolute : 0;
  Summary summary;
  for (int64_t i = 0; i < expected.size(); ++i) {
    summary.sum.magnitude =
        std::max(summary.sum.magnitude, std::abs(expected.toDouble(i)));
    summary.add(i, ofIntegers(got, expected, i, allowed));
  }
  return summary.sum;
}

std::string differenceText(const Tensor &got, const Tensor &expected,
                           const Difference &difference) {
  const int64_t worst =
      difference.wrong > 0 ? difference.worst : difference.furthest;
  const auto [was, wanted] = elementTexts(got, expected, worst);
  return std::to_string(difference.wrong) + " of " +
         std::to_string(expected.size()) + " values differ, most at " +
         indexText(expected.shape(), worst) + ": got " + was + ", expected " +
         wanted;
}

Result<void> expect(const Tensor &got, const Tensor &expected,
                    const Expectation &wanted) {
  if (got.type() != expected.type() || got.shape() != expected.shape())
    return Error{ErrorKind::WrongResult,
                 "got " + toString(got.type(), got.shape()) + ", expected " +
                     toString(expected.type(), expected.shape())};
  const Difference difference = differenceOf(got, expected, wanted);
  if (difference.wrong == 0)
    return {};
  return Error{ErrorKind::WrongResult,
               differenceText(got, expected, difference) +
                   limitText(wanted, difference)};
}

std::vector<int64_t> furthestElements(const Tensor &got, const Tensor &expected,
                                      size_t most) {
  // A heap of the furthest elements, with the nearest of them on top.
  using Place = std::pair<double, int64_t>;
  std::vector<Place> found;
  const auto isFurther = [](const Place &a, const Place &b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  };
  const auto add = [&](const Place &place) {
    if (place.first == 0 || most == 0)
      return;
    if (found.size() == most) {
      if (!isFurther(place, found.front()))
        return;
      std::ranges::pop_heap(found, isFurther);
      found.pop_back();
    }
    found.push_back(place);
    std::ranges::push_heap(found, isFurther);
  };
  if (areIntegers(got, expected)) {
    for (int64_t i = 0; i < expected.size(); ++i)
      add({ofIntegers(got, expected, i, 0).distance, i});
  } else {
    const Reals a(got), b(expected);
    const Judge judge(Expectation::almost(0), 0);
    double distance = 0;
    forEachPair(a, b, b.parts * expected.size(),
                [&](int64_t place, double x, double y) {
                  const double own = judge.of(x, y).distance;
                  distance =
                      place % b.parts == 0 ? own : std::max(distance, own);
                  if (place % b.parts == b.parts - 1)
                    add({distance, place / b.parts});
                });
  }
  std::ranges::sort(found, isFurther);
  std::vector<int64_t> elements;
  for (const Place &place : found)
    elements.push_back(place.second);
  return elements;
}

uint64_t ulpDistance(const Tensor &a, const Tensor &b, int64_t index) {
  const Reals realsA(a), realsB(b);
  uint64_t distance = 0;
  for (int64_t part = 0; part < realsA.parts; ++part)
    distance = std::max(
        distance, ulpBetween(realsA, realsB, index * realsA.parts + part));
  return distance;
}

} // namespace sinter
