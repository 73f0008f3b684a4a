//===- Conversions.cpp - other types, comparing, choosing -----------------===//

#include "graph/stablehlo/StablehloOps.h"
#include "interpreter/ElementwiseLoops.h"
#include "interpreter/Strided.h"
#include "runtime/ElementDispatch.h"

#include <bit>
#include <cmath>

namespace sinter::interpreter {

//===----------------------------------------------------------------------===//
// convert
//===----------------------------------------------------------------------===//

template <typename T> using Buffer = std::array<T, chunkSize>;

static void convertElements(const Tensor &from, Tensor &to) {
  if (from.type() == to.type()) {
    std::memcpy(to.mutableBytes(), from.data(), from.bytes());
  } else if (isComplex(from.type()) && isComplex(to.type())) {
    inChunks(to.size(), [&](int64_t begin, int64_t count) {
      Buffer<Complex> buffer;
      std::span values(buffer.data(), size_t(count));
      loadComplex(from, begin, values);
      storeComplex(to, begin, values);
    });
  } else if (isInteger(from.type())) {
    inChunks(to.size(), [&](int64_t begin, int64_t count) {
      Buffer<int64_t> buffer;
      std::span values(buffer.data(), size_t(count));
      loadIntegers(from, begin, values);
      storeIntegers(to, begin, values, from.type() == ElementType::UI64);
    });
  } else {
    inChunks(to.size(), [&](int64_t begin, int64_t count) {
      Buffer<double> buffer;
      std::span values(buffer.data(), size_t(count));
      loadReals(from, begin, values);
      storeReals(to, begin, values);
    });
  }
}

static Result<Tensors> evaluateConvert(const Call &call) {
  return produce(call.resultElement(), call[0].shape(),
                 [&](Tensor &result) { convertElements(call[0], result); });
}

//===----------------------------------------------------------------------===//
// bitcast_convert
//===----------------------------------------------------------------------===//

/// The low bits of an element of at most 64 bits.
static uint64_t bitsAt(const Tensor &tensor, int64_t index) {
  const size_t size = byteSize(tensor.type());
  uint64_t bits = 0;
  std::memcpy(&bits, tensor.data() + index * size, size);
  return bits & (~uint64_t(0) >> (64 - bitWidth(tensor.type())));
}

/// Between types of which one has fewer bits than its bytes: part by part.
static void castSubByte(const Tensor &from, Tensor &to) {
  const unsigned fromBits = bitWidth(from.type()), toBits = bitWidth(to.type());
  const unsigned part = std::min(fromBits, toBits);
  const unsigned fromParts = fromBits / part, toParts = toBits / part;
  const size_t size = byteSize(to.type());
  for (int64_t i = 0; i < to.size(); ++i) {
    uint64_t value = 0;
    for (unsigned p = 0; p < toParts; ++p) {
      const int64_t at = i * toParts + p;
      const uint64_t bits =
          bitsAt(from, at / fromParts) >> (at % fromParts * part) &
          (~uint64_t(0) >> (64 - part));
      value |= bits << (p * part);
    }
    std::memcpy(to.mutableBytes() + i * size, &value, size);
  }
  normalizeSubByte(to);
}

static Result<Tensors> evaluateBitcastConvert(const Call &call) {
  const Tensor &from = call[0];
  auto written = elementTypeOf(call.resultType().getElementType());
  const ElementType type = written.value_or(call.resultElement());
  const unsigned fromBits = bitWidth(from.type()), toBits = bitWidth(type);
  Shape shape = from.shape();
  if (fromBits < toBits) {
    if (shape.empty() || shape.back() != toBits / fromBits)
      return invalidModel("the last dimension does not hold the parts of one "
                          "element");
    shape.pop_back();
  } else if (fromBits > toBits) {
    shape.push_back(fromBits / toBits);
  }
  return produce(type, shape, [&](Tensor &result) {
    if (result.bytes() == from.bytes() && fromBits >= 8 && toBits >= 8)
      std::memcpy(result.mutableBytes(), from.data(), from.bytes());
    else
      castSubByte(from, result);
  });
}

//===----------------------------------------------------------------------===//
// Floats and complex numbers
//===----------------------------------------------------------------------===//

static Result<Tensors> evaluatePart(const Call &call, bool imaginary) {
  return produce(call.resultElement(), call[0].shape(), [&](Tensor &result) {
    if (isComplex(call[0].type())) {
      // Real and imaginary parts alternate.
      const int64_t box[] = {result.size()};
      copyBox(byteSize(result.type()), box, result.mutableBytes(), {0, {1}},
              call[0].data(), {imaginary ? 1 : 0, {2}});
    } else if (!imaginary) {
      std::memcpy(result.mutableBytes(), call[0].data(), call[0].bytes());
    }
  });
}
static Result<Tensors> evaluateReal(const Call &call) {
  return evaluatePart(call, false);
}
static Result<Tensors> evaluateImag(const Call &call) {
  return evaluatePart(call, true);
}

static Result<Tensors> evaluateComplex(const Call &call) {
  if (call[0].shape() != call[1].shape())
    return invalidModel("operands have different shapes");
  return produce(call.resultElement(), call[0].shape(), [&](Tensor &result) {
    const int64_t box[] = {result.size()};
    for (int64_t part : {0, 1})
      copyBox(byteSize(call[0].type()), box, result.mutableBytes(), {part, {2}},
              call[part].data(), {0, {1}});
  });
}

static Result<Tensors> evaluateIsFinite(const Call &call) {
  return produce(ElementType::I1, call[0].shape(), [&](Tensor &result) {
    std::span<uint8_t> to = result.mutableValues<uint8_t>();
    inChunks(result.size(), [&](int64_t begin, int64_t count) {
      Buffer<double> buffer;
      loadReals(call[0], begin, std::span(buffer.data(), size_t(count)));
      for (int64_t i = 0; i < count; ++i)
        to[begin + i] = std::isfinite(buffer[i]);
    });
  });
}

/// \p value rounded to \p mantissaBits, ties to even; infinite or zero if its
/// exponent does not fit into \p exponentBits. \p least is the exponent of the
/// element type's smallest normal number, below which digits do not get finer.
static double reducePrecision(double value, int exponentBits, int mantissaBits,
                              int least) {
  if (value == 0 || !std::isfinite(value))
    return value;
  const int exponent = std::max(std::ilogb(value), least);
  const double unit = std::ldexp(1.0, exponent - mantissaBits);
  const double rounded =
      mantissaBits >= 52 ? value : std::nearbyint(value / unit) * unit;
  if (exponentBits >= 11 || rounded == 0)
    return rounded;
  const int bias = (1 << (exponentBits - 1)) - 1;
  // As many exponents as the element type has: nothing to cut off.
  if (1 - bias <= least)
    return rounded;
  const int newExponent = std::ilogb(rounded);
  if (newExponent > bias)
    return std::copysign(HUGE_VAL, value);
  return newExponent < 1 - bias ? std::copysign(0.0, value) : rounded;
}

static Result<Tensors> evaluateReducePrecision(const Call &call) {
  auto op = call.as<stablehlo::ReducePrecisionOp>();
  const auto exponentBits = static_cast<int>(op.getExponentBits());
  const auto mantissaBits = static_cast<int>(op.getMantissaBits());
  const int least = dispatch(call[0].type(), [](auto tag) -> int {
    using T = typename decltype(tag)::type;
    return std::numeric_limits<T>::min_exponent - 1;
  });
  return produce(call[0].type(), call[0].shape(), [&](Tensor &result) {
    auto round = [=](double value) {
      return reducePrecision(value, exponentBits, mantissaBits, least);
    };
    loopReal<1>(round, call.operands, result);
  });
}

//===----------------------------------------------------------------------===//
// compare and select
//===----------------------------------------------------------------------===//

namespace {
/// What a comparison of two numbers can find; a set of them is a mask.
enum Ordering : unsigned { Less = 1, Equal = 2, Greater = 4, Unordered = 8 };
} // namespace

static unsigned orderingsThatHold(stablehlo::ComparisonDirection direction) {
  using stablehlo::ComparisonDirection;
  switch (direction) {
  case ComparisonDirection::EQ:
    return Equal;
  case ComparisonDirection::NE:
    return Less | Greater | Unordered;
  case ComparisonDirection::GE:
    return Greater | Equal;
  case ComparisonDirection::GT:
    return Greater;
  case ComparisonDirection::LE:
    return Less | Equal;
  case ComparisonDirection::LT:
    return Less;
  }
  return 0;
}

template <typename T> static unsigned orderingOf(T a, T b) {
  return a < b ? Less : a > b ? Greater : a == b ? Equal : Unordered;
}
static unsigned orderingOf(Complex a, Complex b) {
  return a == b ? Equal : Unordered;
}

/// IEEE 754's totalOrder as an order of integers: -NaN < -inf < ... < -0 < +0
/// < ... < inf < NaN.
static int64_t totalOrderKey(double value) {
  const auto bits = std::bit_cast<int64_t>(value);
  return bits < 0 ? bits ^ std::numeric_limits<int64_t>::max() : bits;
}

template <typename T, typename Load, typename Key>
static void compareElements(const Tensor &lhs, const Tensor &rhs,
                            Tensor &result, unsigned holds, Load load,
                            Key key) {
  std::span<uint8_t> to = result.mutableValues<uint8_t>();
  inChunks(result.size(), [&](int64_t begin, int64_t count) {
    Buffer<T> a, b;
    load(lhs, begin, std::span(a.data(), size_t(count)));
    load(rhs, begin, std::span(b.data(), size_t(count)));
    for (int64_t i = 0; i < count; ++i)
      to[begin + i] = (orderingOf(key(a[i]), key(b[i])) & holds) != 0;
  });
}

static Result<Tensors> evaluateCompare(const Call &call) {
  auto op = call.as<stablehlo::CompareOp>();
  const Tensor &lhs = call[0], &rhs = call[1];
  if (lhs.shape() != rhs.shape())
    return invalidModel("operands have different shapes");
  const unsigned holds = orderingsThatHold(op.getComparisonDirection());
  const bool total =
      op.getCompareType() == stablehlo::ComparisonType::TOTALORDER;
  return produce(ElementType::I1, lhs.shape(), [&](Tensor &result) {
    auto same = [](auto value) { return value; };
    if (isComplex(lhs.type()))
      compareElements<Complex>(lhs, rhs, result, holds, loadComplex, same);
    else if (isFloat(lhs.type()) && total)
      compareElements<double>(lhs, rhs, result, holds, loadReals,
                              totalOrderKey);
    else if (isFloat(lhs.type()))
      compareElements<double>(lhs, rhs, result, holds, loadReals, same);
    else if (lhs.type() == ElementType::UI64)
      compareElements<int64_t>(lhs, rhs, result, holds, loadIntegers,
                               [](int64_t x) { return uint64_t(x); });
    else
      compareElements<int64_t>(lhs, rhs, result, holds, loadIntegers, same);
  });
}

static Result<Tensors> evaluateSelect(const Call &call) {
  const Tensor &onTrue = call[1], &onFalse = call[2];
  Tensor pred = call[0].rank() == 0 ? splat(call[0], onTrue.shape()) : call[0];
  if (onTrue.shape() != onFalse.shape() || pred.shape() != onTrue.shape())
    return invalidModel("operands have different shapes");
  return produce(onTrue.type(), onTrue.shape(), [&](Tensor &result) {
    const size_t size = byteSize(onTrue.type());
    std::byte *to = result.mutableBytes();
    for (int64_t i = 0; i < result.size(); ++i) {
      const Tensor &from = pred.at<uint8_t>(i) ? onTrue : onFalse;
      std::memcpy(to + i * size, from.data() + i * size, size);
    }
  });
}

void registerConversions(Registry &registry) {
  using namespace stablehlo;
  registry.addElementwise<ConvertOp>(evaluateConvert);
  registry.addElementwise<RealOp>(evaluateReal);
  registry.addElementwise<ImagOp>(evaluateImag);
  registry.addElementwise<ComplexOp>(evaluateComplex);
  registry.addElementwise<IsFiniteOp>(evaluateIsFinite);
  registry.addElementwise<ReducePrecisionOp>(evaluateReducePrecision);
  registry.addElementwise<CompareOp>(evaluateCompare);
  registry.addElementwise<SelectOp>(evaluateSelect);
  registry.addMoving<BitcastConvertOp>(evaluateBitcastConvert);
}

} // namespace sinter::interpreter
