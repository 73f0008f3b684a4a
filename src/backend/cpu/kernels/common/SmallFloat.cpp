//===- SmallFloat.cpp - 8-bit floats in code ------------------------------===//

#include "backend/cpu/kernels/common/SmallFloat.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"
#include "runtime/Float.h"

#include <bit>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;
using arith::CmpIPredicate;

namespace {

/// The parameters of a format.
struct Format {
  unsigned mantissaBits;
  int minExponent;
  unsigned maxFinite, infinity, quietNan;
  bool hasInfinity, hasNegativeZero;
};

template <typename F> constexpr Format formatOf() {
  return {F::mantissaBits, F::minExponent, F::maxFinite,      F::infinity,
          F::quietNan,     F::hasInfinity, F::hasNegativeZero};
}

std::optional<Format> findFormat(Type element) {
  if (element.isFloat8E4M3())
    return formatOf<Float8E4M3::Format>();
  if (element.isFloat8E4M3FN())
    return formatOf<Float8E4M3FN::Format>();
  if (element.isFloat8E4M3FNUZ())
    return formatOf<Float8E4M3FNUZ::Format>();
  if (element.isFloat8E4M3B11FNUZ())
    return formatOf<Float8E4M3B11FNUZ::Format>();
  if (element.isFloat8E5M2())
    return formatOf<Float8E5M2::Format>();
  if (element.isFloat8E5M2FNUZ())
    return formatOf<Float8E5M2FNUZ::Format>();
  return std::nullopt;
}

/// Arithmetic on i32 and f32, or vectors of them.
class SmallFloatWriter {
public:
  SmallFloatWriter(KernelBuilder &code, Value like)
      : e(code), like(like.getType()) {}

  Type shaped(Type element) const {
    auto vector = dyn_cast<VectorType>(like);
    return vector ? Type(vector.clone(element)) : element;
  }
  Type intType() const { return shaped(e.builder.getI32Type()); }
  Type floatType() const { return shaped(e.builder.getF32Type()); }
  Value constant(TypedAttr scalar) {
    auto vector = dyn_cast<VectorType>(like);
    if (!vector)
      return e.create<arith::ConstantOp>(scalar);
    return e.create<arith::ConstantOp>(DenseElementsAttr::get(
        vector.clone(scalar.getType()), Attribute(scalar)));
  }
  Value integer(uint32_t value) {
    return constant(e.builder.getI32IntegerAttr(static_cast<int32_t>(value)));
  }
  Value number(float value) {
    return constant(e.builder.getF32FloatAttr(value));
  }
  Value add(Value a, Value b) { return e.create<arith::AddIOp>(a, b); }
  Value sub(Value a, uint32_t b) {
    return e.create<arith::SubIOp>(a, integer(b));
  }
  Value both(Value a, uint32_t b) {
    return e.create<arith::AndIOp>(a, integer(b));
  }
  Value either(Value a, Value b) { return e.create<arith::OrIOp>(a, b); }
  Value left(Value a, uint32_t bits) {
    return e.create<arith::ShLIOp>(a, integer(bits));
  }
  Value right(Value a, uint32_t bits) {
    return e.create<arith::ShRUIOp>(a, integer(bits));
  }
  Value compare(CmpIPredicate predicate, Value a, uint32_t b) {
    return e.create<arith::CmpIOp>(predicate, a, integer(b));
  }
  Value select(Value condition, Value a, Value b) {
    return e.create<arith::SelectOp>(condition, a, b);
  }
  Value toBits(Value a) { return e.create<arith::BitcastOp>(intType(), a); }
  Value fromBits(Value a) { return e.create<arith::BitcastOp>(floatType(), a); }

  KernelBuilder &e;

private:
  Type like;
};

constexpr uint32_t floatInfinity = 0x7F800000, floatNan = 0x7FC00000;

float powerOfTwo(int exponent) {
  return std::bit_cast<float>(static_cast<uint32_t>(exponent + 127) << 23);
}

} // namespace

bool cpu::isFloat8(Type element) { return findFormat(element).has_value(); }

/// The magnitude, shifted to the position of an f32's, is the value up to the
/// exponent bias. A subnormal value gets a leading one, which is then
/// subtracted: both are normal in f32.
Value cpu::emitDecode(KernelBuilder &code, Value stored, Type element) {
  const Format format = *findFormat(element);
  SmallFloatWriter w(code, stored);
  Value bits = code.create<arith::ExtUIOp>(w.intType(), stored);
  Value magnitude = w.both(bits, 0x7F);
  Value sign = w.left(w.both(bits, 0x80), 24);
  Value moved = w.left(magnitude, 23 - format.mantissaBits);
  const auto bias = static_cast<uint32_t>(format.minExponent + 126) << 23;
  Value normal = w.add(moved, w.integer(bias));
  Value withOne = w.fromBits(w.add(moved, w.integer(bias + (1u << 23))));
  Value subnormal = w.toBits(code.create<arith::SubFOp>(
      withOne, w.number(powerOfTwo(format.minExponent))));
  Value result = w.select(
      w.compare(CmpIPredicate::ult, magnitude, 1u << format.mantissaBits),
      subnormal, normal);
  Value isNan =
      format.hasNegativeZero
          ? w.compare(CmpIPredicate::ugt, magnitude,
                      format.hasInfinity ? format.infinity : format.maxFinite)
          : w.compare(CmpIPredicate::eq, bits, format.quietNan);
  if (format.hasInfinity)
    result = w.select(w.compare(CmpIPredicate::eq, magnitude, format.infinity),
                      w.integer(floatInfinity), result);
  result = w.select(isNan, w.integer(floatNan), result);
  return w.fromBits(w.either(result, sign));
}

/// Normal values are rounded by integer addition, where a carry correctly
/// increments the exponent. Smaller values are added to a constant whose last
/// bit has the weight of the format's last bit, which rounds them.
Value cpu::emitEncode(KernelBuilder &code, Value value, Type element) {
  const Format format = *findFormat(element);
  SmallFloatWriter w(code, value);
  Value bits = w.toBits(value);
  Value magnitude = w.both(bits, 0x7FFFFFFF);
  Value sign = w.right(w.both(bits, 0x80000000), 24);

  const unsigned shift = 23 - format.mantissaBits;
  Value last = w.both(w.right(magnitude, shift), 1);
  Value rounded =
      w.add(w.add(magnitude, last), w.integer((1u << (shift - 1)) - 1));
  const auto rebias = static_cast<uint32_t>(format.minExponent + 126) << 23;
  Value normal = w.right(w.sub(rounded, rebias), shift);

  const float magic =
      powerOfTwo(format.minExponent - int(format.mantissaBits) + 23);
  Value sum =
      code.create<arith::AddFOp>(w.fromBits(magnitude), w.number(magic));
  Value subnormal = w.sub(w.toBits(sum), std::bit_cast<uint32_t>(magic));

  const auto leastNormal = static_cast<uint32_t>(format.minExponent + 127)
                           << 23;
  Value result = w.select(w.compare(CmpIPredicate::ult, magnitude, leastNormal),
                          subnormal, normal);
  const unsigned beyond =
      format.hasInfinity ? format.infinity : format.quietNan;
  result = w.select(w.compare(CmpIPredicate::ugt, result, format.maxFinite),
                    w.integer(beyond), result);
  result = w.select(w.compare(CmpIPredicate::ugt, magnitude, floatInfinity),
                    w.integer(format.quietNan), result);
  Value signedResult = w.either(result, sign);
  // Zero and NaN have no sign in these formats.
  if (!format.hasNegativeZero)
    signedResult =
        w.select(w.compare(CmpIPredicate::eq, w.both(result, 0x7F), 0), result,
                 signedResult);
  return code.create<arith::TruncIOp>(w.shaped(code.builder.getI8Type()),
                                      signedResult);
}

Value cpu::emitRoundToOdd(KernelBuilder &code, Value value) {
  SmallFloatWriter w(code, value);
  using P = arith::CmpFPredicate;
  Value nearest = code.create<arith::TruncFOp>(w.floatType(), value);
  Value back = code.create<arith::ExtFOp>(value.getType(), nearest);
  Value isInexact = code.create<arith::CmpFOp>(P::ONE, back, value);
  Value isAway =
      code.create<arith::CmpFOp>(P::OGT, code.create<math::AbsFOp>(back),
                                 code.create<math::AbsFOp>(value));
  Value bits = w.toBits(nearest);
  Value toward = w.select(isAway, w.sub(bits, 1), bits);
  Value odd = w.either(toward, w.integer(1));
  return w.fromBits(w.select(isInexact, odd, bits));
}
