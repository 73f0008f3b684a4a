//===- Float.h - the floating-point types that C++ does not have ----------===//
//
// f16, bf16 and the six 8-bit formats of MLIR as value types. One conversion
// serves them all: a format is its widths, its bias and what it does about
// infinity, NaN and negative zero. Arithmetic goes through float and rounds
// once per operation; float has more than twice the digits of every format
// here plus two, so the result is the correctly rounded one (Figueroa, "When
// is double rounding innocuous?", 1995).
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RUNTIME_FLOAT_H
#define SINTER_RUNTIME_FLOAT_H

#include <bit>
#include <cmath>
#include <compare>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace sinter {

/// The meaning of the largest exponent and of negative zero in a format.
enum class FloatFlavour : uint8_t {
  Ieee,        ///< Infinities and NaNs as in IEEE 754.
  FiniteNan,   ///< FN: no infinities, NaN is all ones.
  UnsignedZero ///< FNUZ: no infinities, no negative zero; its code is NaN.
};

/// The result for a finite value or an infinity beyond the largest finite one.
enum class Overflow : uint8_t {
  ToInfinity, ///< Infinity, or NaN where the format has none.
  Saturate    ///< The largest finite value of the same sign.
};

/// A binary format of \p ExponentBits, \p MantissaBits (without the hidden one)
/// and a sign bit. \p Bias is subtracted from the stored exponent.
template <unsigned ExponentBits, unsigned MantissaBits, int Bias,
          FloatFlavour Flavour>
struct FloatFormat {
  static constexpr unsigned mantissaBits = MantissaBits;
  static constexpr unsigned totalBits = 1 + ExponentBits + MantissaBits;
  using Bits = std::conditional_t<totalBits == 8, uint8_t, uint16_t>;
  static_assert(totalBits == 8 || totalBits == 16);

  static constexpr unsigned signBit = 1u << (totalBits - 1);
  static constexpr unsigned magnitudeMask = signBit - 1;
  static constexpr unsigned infinity = ((1u << ExponentBits) - 1)
                                       << MantissaBits;
  static constexpr unsigned maxFinite =
      Flavour == FloatFlavour::Ieee        ? infinity - 1
      : Flavour == FloatFlavour::FiniteNan ? magnitudeMask - 1
                                           : magnitudeMask;
  static constexpr unsigned quietNan =
      Flavour == FloatFlavour::Ieee ? infinity | (1u << (MantissaBits - 1))
      : Flavour == FloatFlavour::FiniteNan ? magnitudeMask
                                           : signBit;
  static constexpr bool hasInfinity = Flavour == FloatFlavour::Ieee;
  static constexpr bool hasNegativeZero = Flavour != FloatFlavour::UnsignedZero;
  /// The exponent of the smallest normal number.
  static constexpr int minExponent = 1 - Bias;

  static constexpr bool isNan(unsigned bits) {
    if constexpr (Flavour == FloatFlavour::UnsignedZero)
      return bits == quietNan;
    else
      return (bits & magnitudeMask) > (hasInfinity ? infinity : maxFinite);
  }

  /// \p value rounded to the nearest code, ties to even. Any double, once
  /// rounded: there is no step through float.
  static constexpr Bits encode(double value,
                               Overflow overflow = Overflow::ToInfinity) {
    const auto bits = std::bit_cast<uint64_t>(value);
    const unsigned sign = bits >> 63 ? signBit : 0;
    const int stored = static_cast<int>(bits >> 52 & 0x7FF);
    const uint64_t fraction = bits & ((uint64_t(1) << 52) - 1);
    if (stored == 0x7FF && fraction != 0)
      return Flavour == FloatFlavour::UnsignedZero ? quietNan : sign | quietNan;
    if (stored == 0x7FF)
      return beyondRange(sign, overflow);
    // Double's own subnormals are far below every format's smallest number.
    if (stored == 0)
      return withSign(sign, 0);

    const uint64_t significand = fraction | uint64_t(1) << 52;
    const int exponent = stored - 1023;
    const bool subnormal = exponent < minExponent;
    const int shift =
        52 - int(MantissaBits) + (subnormal ? minExponent - exponent : 0);
    if (shift > 54)
      return withSign(sign, 0);
    const uint64_t half = uint64_t(1) << (shift - 1);
    const uint64_t rest = significand & ((half << 1) - 1);
    uint64_t magnitude = significand >> shift;
    if (rest > half || (rest == half && (magnitude & 1)))
      ++magnitude;
    // A carry out of the mantissa runs into the exponent, as it should.
    if (!subnormal)
      magnitude += static_cast<uint64_t>(exponent - minExponent)
                   << MantissaBits;
    if (magnitude > maxFinite)
      return beyondRange(sign, overflow);
    return withSign(sign, static_cast<unsigned>(magnitude));
  }

  /// The exact value of a code.
  static constexpr double decode(unsigned bits) {
    const uint64_t sign = bits & signBit ? uint64_t(1) << 63 : 0;
    if (isNan(bits))
      return std::bit_cast<double>(sign | 0x7FF8000000000000u);
    const unsigned magnitude = bits & magnitudeMask;
    if (hasInfinity && magnitude == infinity)
      return std::bit_cast<double>(sign | 0x7FF0000000000000u);
    const unsigned fraction = magnitude & ((1u << MantissaBits) - 1);
    const int stored = static_cast<int>(magnitude >> MantissaBits);
    if (stored != 0) {
      const auto exponent = static_cast<uint64_t>(stored - Bias + 1023);
      return std::bit_cast<double>(sign | exponent << 52 |
                                   uint64_t(fraction) << (52 - MantissaBits));
    }
    const auto unit = std::bit_cast<double>(
        static_cast<uint64_t>(minExponent - int(MantissaBits) + 1023) << 52);
    return (sign ? -1.0 : 1.0) * (fraction * unit);
  }

private:
  static constexpr Bits withSign(unsigned sign, unsigned magnitude) {
    if (!hasNegativeZero && magnitude == 0)
      return 0;
    return static_cast<Bits>(sign | magnitude);
  }
  static constexpr Bits beyondRange(unsigned sign, Overflow overflow) {
    if (overflow == Overflow::Saturate)
      return static_cast<Bits>(sign | maxFinite);
    if constexpr (Flavour == FloatFlavour::UnsignedZero)
      return quietNan;
    return static_cast<Bits>(sign | (hasInfinity ? infinity : quietNan));
  }
};

/// A value of format \p Format. Conversions to and from other types are
/// explicit and round to nearest even.
template <typename FormatT> class SmallFloat {
public:
  using Format = FormatT;
  using Bits = typename Format::Bits;

  constexpr SmallFloat() = default;
  template <typename T>
    requires std::is_arithmetic_v<T>
  explicit constexpr SmallFloat(T value) : code(Format::encode(widen(value))) {}
  template <typename Other>
  explicit constexpr SmallFloat(SmallFloat<Other> other)
      : code(Format::encode(static_cast<double>(other))) {}

  static constexpr SmallFloat fromBits(Bits bits) {
    SmallFloat result;
    result.code = bits;
    return result;
  }
  /// \p value, clamped to the largest finite value.
  static constexpr SmallFloat saturated(double value) {
    return fromBits(Format::encode(value, Overflow::Saturate));
  }
  constexpr Bits bits() const { return code; }

  template <typename T>
    requires std::is_arithmetic_v<T>
  explicit constexpr operator T() const {
    return static_cast<T>(Format::decode(code));
  }

  constexpr SmallFloat operator-() const {
    if (!Format::hasNegativeZero && (code & Format::magnitudeMask) == 0)
      return *this;
    return fromBits(code ^ Format::signBit);
  }
  friend constexpr SmallFloat operator+(SmallFloat a, SmallFloat b) {
    return SmallFloat(float(a) + float(b));
  }
  friend constexpr SmallFloat operator-(SmallFloat a, SmallFloat b) {
    return SmallFloat(float(a) - float(b));
  }
  friend constexpr SmallFloat operator*(SmallFloat a, SmallFloat b) {
    return SmallFloat(float(a) * float(b));
  }
  friend constexpr SmallFloat operator/(SmallFloat a, SmallFloat b) {
    return SmallFloat(float(a) / float(b));
  }
  constexpr SmallFloat &operator+=(SmallFloat b) { return *this = *this + b; }
  constexpr SmallFloat &operator-=(SmallFloat b) { return *this = *this - b; }
  constexpr SmallFloat &operator*=(SmallFloat b) { return *this = *this * b; }
  constexpr SmallFloat &operator/=(SmallFloat b) { return *this = *this / b; }

  friend constexpr bool operator==(SmallFloat a, SmallFloat b) {
    return float(a) == float(b);
  }
  friend constexpr std::partial_ordering operator<=>(SmallFloat a,
                                                     SmallFloat b) {
    return float(a) <=> float(b);
  }

private:
  /// A double that rounds as \p value does. Integers of over 53 bits are
  /// rounded to odd, so that the rounding that follows is the only one.
  template <typename T> static constexpr double widen(T value) {
    if constexpr (std::is_integral_v<T> && sizeof(T) == 8) {
      const bool negative = value < 0;
      uint64_t magnitude = negative ? 0 - uint64_t(value) : uint64_t(value);
      if (magnitude >> 53) {
        const uint64_t lost = magnitude & 0xFFF;
        magnitude = (magnitude & ~uint64_t(0xFFF)) | (lost ? 0x1000 : 0);
      }
      return negative ? -double(magnitude) : double(magnitude);
    } else {
      return static_cast<double>(value);
    }
  }

  Bits code = 0;
};

using Half = SmallFloat<FloatFormat<5, 10, 15, FloatFlavour::Ieee>>;
using BFloat16 = SmallFloat<FloatFormat<8, 7, 127, FloatFlavour::Ieee>>;
using Float8E4M3 = SmallFloat<FloatFormat<4, 3, 7, FloatFlavour::Ieee>>;
using Float8E4M3FN = SmallFloat<FloatFormat<4, 3, 7, FloatFlavour::FiniteNan>>;
using Float8E4M3FNUZ =
    SmallFloat<FloatFormat<4, 3, 8, FloatFlavour::UnsignedZero>>;
using Float8E4M3B11FNUZ =
    SmallFloat<FloatFormat<4, 3, 11, FloatFlavour::UnsignedZero>>;
using Float8E5M2 = SmallFloat<FloatFormat<5, 2, 15, FloatFlavour::Ieee>>;
using Float8E5M2FNUZ =
    SmallFloat<FloatFormat<5, 2, 16, FloatFlavour::UnsignedZero>>;

template <typename T> inline constexpr bool isSmallFloat = false;
template <typename F> inline constexpr bool isSmallFloat<SmallFloat<F>> = true;

} // namespace sinter

template <typename F> class std::numeric_limits<sinter::SmallFloat<F>> {
  using Value = sinter::SmallFloat<F>;
  using Bits = typename F::Bits;

public:
  static constexpr bool is_specialized = true;
  static constexpr bool is_signed = true;
  static constexpr bool is_integer = false;
  static constexpr bool is_exact = false;
  static constexpr bool has_infinity = F::hasInfinity;
  static constexpr bool has_quiet_NaN = true;
  static constexpr int digits = F::mantissaBits + 1;
  static constexpr int radix = 2;
  static constexpr int min_exponent = F::minExponent + 1;

  static constexpr Value min() {
    return Value::fromBits(Bits(1u << F::mantissaBits));
  }
  static constexpr Value denorm_min() { return Value::fromBits(1); }
  static constexpr Value max() { return Value::fromBits(Bits(F::maxFinite)); }
  static constexpr Value lowest() {
    return Value::fromBits(Bits(F::signBit | F::maxFinite));
  }
  static constexpr Value epsilon() {
    return Value(1.0 / double(1u << F::mantissaBits));
  }
  /// NaN where the format has no infinity.
  static constexpr Value infinity() {
    return Value::fromBits(Bits(F::hasInfinity ? F::infinity : F::quietNan));
  }
  static constexpr Value quiet_NaN() {
    return Value::fromBits(Bits(F::quietNan));
  }
};

#endif // SINTER_RUNTIME_FLOAT_H
