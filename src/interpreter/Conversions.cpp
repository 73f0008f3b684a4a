//===- Conversions.cpp - convert, bitcast, compare, select ----------------===//

#include "graph/stablehlo/ElementOrder.h"
#include "graph/stablehlo/StablehloOps.h"
#include "interpreter/ElementwiseLoops.h"
#include "interpreter/ScalarFunction.h"
#include "interpreter/TotalOrder.h"
#include "runtime/ElementDispatch.h"

#include <cmath>

using namespace mlir;

namespace sinter::interpreter {

//===----------------------------------------------------------------------===//
// convert
//===----------------------------------------------------------------------===//

template <typename T> using Buffer = std::array<T, chunkSize>;

/// Converts between two types of any class: through complex numbers, 64-bit
/// integers or doubles.
static void runConvert(const ArrayFunction &function, int64_t count,
                       const std::byte *const *operands, std::byte *to) {
  const ElementType source = function.operand, target = function.result;
  const std::byte *from = operands[0];
  if (source == target) {
    std::memmove(to, from, count * byteSize(target));
    return;
  }
  inChunks(count, [&](int64_t begin, int64_t length) {
    const std::byte *in = from + begin * byteSize(source);
    std::byte *out = to + begin * byteSize(target);
    const auto size = static_cast<size_t>(length);
    if (isComplex(source) && isComplex(target)) {
      std::vector<Complex> values(size);
      loadComplex(source, in, values);
      storeComplex(target, out, values);
    } else if (isInteger(source)) {
      Buffer<int64_t> buffer;
      std::span values(buffer.data(), size);
      loadIntegers(source, in, values);
      storeIntegers(target, out, values, source == ElementType::UI64);
    } else {
      Buffer<double> buffer;
      std::span values(buffer.data(), size);
      loadReals(source, in, values);
      storeReals(target, out, values);
    }
  });
}

Tensor converted(const Tensor &tensor, ElementType type) {
  Tensor result(type, tensor.shape());
  const std::byte *from[] = {tensor.data()};
  runConvert({nullptr, tensor.type(), type}, result.size(), from,
             result.mutableBytes());
  return result;
}

/// The runtime's type for the elements of an operation's result.
static Result<ElementType> resultElementOf(Operation *op) {
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  Type element = type ? type.getElementType() : Type();
  // The dequantised value of a quantised element.
  if (auto quantised = dyn_cast_or_null<quant::QuantizedType>(element))
    element = quantised.getExpressedType();
  auto known = element ? elementTypeOf(element) : std::nullopt;
  if (!known)
    return unsupported("the result's element type is not supported");
  return *known;
}

static Result<ArrayFunction>
convertFunction(Operation *op, llvm::ArrayRef<ElementType> operands) {
  Result<ElementType> result = resultElementOf(op);
  if (!result)
    return result.takeError();
  return ArrayFunction{runConvert, operands[0], *result};
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

/// Casts between types of which one is narrower than its storage, element by
/// element.
static void castSubByte(const Tensor &from, Tensor &to) {
  const unsigned fromBits = bitWidth(from.type()), toBits = bitWidth(to.type());
  const unsigned width = std::min(fromBits, toBits);
  const unsigned fromCount = fromBits / width, toCount = toBits / width;
  const size_t size = byteSize(to.type());
  for (int64_t i = 0; i < to.size(); ++i) {
    uint64_t value = 0;
    for (unsigned p = 0; p < toCount; ++p) {
      const int64_t at = i * toCount + p;
      const uint64_t bits =
          bitsAt(from, at / fromCount) >> (at % fromCount * width) &
          (~uint64_t(0) >> (64 - width));
      value |= bits << (p * width);
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

/// Calls `visit(F())` with the float type F of a complex type's components.
template <typename Visitor>
static void visitComponents(ElementType type, Visitor v) {
  if (type == ElementType::C64)
    v(float());
  else
    v(double());
}

/// Component 0 (real) or 1 (imaginary) of complex numbers.
static void runComponent(const ArrayFunction &function, int64_t count,
                         const std::byte *const *from, std::byte *to) {
  visitComponents(function.operand, [&]<typename F>(F) {
    const F *components = reinterpret_cast<const F *>(from[0]);
    for (int64_t i = 0; i < count; ++i)
      reinterpret_cast<F *>(to)[i] = components[2 * i + function.parameters[0]];
  });
}
static void runCopy(const ArrayFunction &function, int64_t count,
                    const std::byte *const *from, std::byte *to) {
  std::memmove(to, from[0], count * byteSize(function.result));
}
static void runZero(const ArrayFunction &function, int64_t count,
                    const std::byte *const *, std::byte *to) {
  std::memset(to, 0, count * byteSize(function.result));
}

/// A real number is its own real part, and has no imaginary one.
static Result<ArrayFunction> componentFunction(ElementType type,
                                               int component) {
  if (!isComplex(type))
    return ArrayFunction{component == 0 ? runCopy : runZero, type, type};
  return ArrayFunction{runComponent,
                       type,
                       type == ElementType::C64 ? ElementType::F32
                                                : ElementType::F64,
                       {component}};
}
static Result<ArrayFunction>
realFunction(Operation *, llvm::ArrayRef<ElementType> operands) {
  return componentFunction(operands[0], 0);
}
static Result<ArrayFunction>
imagFunction(Operation *, llvm::ArrayRef<ElementType> operands) {
  return componentFunction(operands[0], 1);
}

static void runComplex(const ArrayFunction &function, int64_t count,
                       const std::byte *const *from, std::byte *to) {
  visitComponents(function.result, [&]<typename F>(F) {
    for (int64_t i = 0; i < count; ++i)
      reinterpret_cast<std::complex<F> *>(to)[i] = {
          reinterpret_cast<const F *>(from[0])[i],
          reinterpret_cast<const F *>(from[1])[i]};
  });
}
static Result<ArrayFunction>
complexFunction(Operation *, llvm::ArrayRef<ElementType> operands) {
  return ArrayFunction{runComplex, operands[0],
                       operands[0] == ElementType::F32 ? ElementType::C64
                                                       : ElementType::C128};
}

static void runIsFinite(const ArrayFunction &function, int64_t count,
                        const std::byte *const *from, std::byte *to) {
  inChunks(count, [&](int64_t begin, int64_t length) {
    Buffer<double> buffer;
    loadReals(function.operand, from[0] + begin * byteSize(function.operand),
              std::span(buffer.data(), size_t(length)));
    for (int64_t i = 0; i < length; ++i)
      to[begin + i] = std::byte(std::isfinite(buffer[i]));
  });
}
static Result<ArrayFunction>
isFiniteFunction(Operation *, llvm::ArrayRef<ElementType> operands) {
  return ArrayFunction{runIsFinite, operands[0], ElementType::I1};
}

/// \p value rounded to \p mantissaBits, ties to even; infinite or zero if its
/// exponent does not fit into \p exponentBits. \p least is the exponent of the
/// element type's smallest normal number, below which precision does not get
/// finer.
static double reducePrecision(double value, int exponentBits, int mantissaBits,
                              int least) {
  if (value == 0 || std::isinf(value))
    return value;
  // Without mantissa bits there is no NaN.
  if (std::isnan(value))
    return mantissaBits == 0 ? std::copysign(HUGE_VAL, value) : value;
  const int exponent = std::max(std::ilogb(value), least);
  const double unit = std::ldexp(1.0, exponent - mantissaBits);
  const double rounded =
      mantissaBits >= 52 ? value : std::nearbyint(value / unit) * unit;
  if (exponentBits >= 11 || rounded == 0)
    return rounded;
  const int bias = (1 << (exponentBits - 1)) - 1;
  // At least the exponents of the element type: nothing to clamp.
  if (1 - bias <= least)
    return rounded;
  const int newExponent = std::ilogb(rounded);
  if (newExponent > bias)
    return std::copysign(HUGE_VAL, value);
  return newExponent < 1 - bias ? std::copysign(0.0, value) : rounded;
}

static void runReducePrecision(const ArrayFunction &function, int64_t count,
                               const std::byte *const *from, std::byte *to) {
  const auto [exponentBits, mantissaBits, least] = function.parameters;
  auto round = [=](double value) {
    return reducePrecision(value, exponentBits, mantissaBits, least);
  };
  loopReal<1>(round, function.operand, count, from, to);
}

static Result<ArrayFunction>
reducePrecisionFunction(Operation *op, llvm::ArrayRef<ElementType> operands) {
  auto reduce = cast<stablehlo::ReducePrecisionOp>(op);
  const int least = dispatch(operands[0], [](auto tag) -> int {
    using T = typename decltype(tag)::type;
    return std::numeric_limits<T>::min_exponent - 1;
  });
  return ArrayFunction{runReducePrecision,
                       operands[0],
                       operands[0],
                       {static_cast<int>(reduce.getExponentBits()),
                        static_cast<int>(reduce.getMantissaBits()), least}};
}

//===----------------------------------------------------------------------===//
// compare and select
//===----------------------------------------------------------------------===//

namespace {
/// The possible results of a comparison; a set of them is a mask.
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
/// The order of the pairs (real, imaginary).
static unsigned orderingOf(Complex a, Complex b) {
  const unsigned real = orderingOf(a.real(), b.real());
  const unsigned imaginary = orderingOf(a.imag(), b.imag());
  return real == Equal ? imaginary : real;
}

/// Compares elements of \p T in memory by their \p key.
template <typename T, typename Key>
static void compareInPlace(unsigned holds, int64_t count,
                           const std::byte *const *from, std::byte *to,
                           Key key) {
  const T *lhs = reinterpret_cast<const T *>(from[0]);
  const T *rhs = reinterpret_cast<const T *>(from[1]);
  for (int64_t i = 0; i < count; ++i)
    to[i] = std::byte((orderingOf(key(lhs[i]), key(rhs[i])) & holds) != 0);
}

/// The same for the types that are compared as doubles.
static void compareReals(ElementType type, unsigned holds, int64_t count,
                         const std::byte *const *from, std::byte *to) {
  const size_t size = byteSize(type);
  inChunks(count, [&](int64_t begin, int64_t length) {
    Buffer<double> a, b;
    loadReals(type, from[0] + begin * size,
              std::span(a.data(), size_t(length)));
    loadReals(type, from[1] + begin * size,
              std::span(b.data(), size_t(length)));
    for (int64_t i = 0; i < length; ++i)
      to[begin + i] = std::byte((orderingOf(a[i], b[i]) & holds) != 0);
  });
}

/// The same in the order of TOTALORDER.
static void compareTotally(ElementType type, unsigned holds, int64_t count,
                           const std::byte *const *from, std::byte *to) {
  const size_t size = byteSize(type);
  inChunks(count, [&](int64_t begin, int64_t length) {
    Buffer<int64_t> a, b;
    totalOrderKeys(type, from[0] + begin * size,
                   std::span(a.data(), size_t(length)));
    totalOrderKeys(type, from[1] + begin * size,
                   std::span(b.data(), size_t(length)));
    for (int64_t i = 0; i < length; ++i)
      to[begin + i] = std::byte((orderingOf(a[i], b[i]) & holds) != 0);
  });
}

static void runCompare(const ArrayFunction &function, int64_t count,
                       const std::byte *const *from, std::byte *to) {
  const ElementType type = function.operand;
  const auto holds = static_cast<unsigned>(function.parameters[0]);
  const bool total = function.parameters[1] != 0;
  if (isFloat(type) && total)
    return compareTotally(type, holds, count, from, to);
  dispatch(type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_integral_v<T> || std::is_floating_point_v<T>)
      compareInPlace<T>(holds, count, from, to, [](T x) { return x; });
    else if constexpr (isStdComplex<T>)
      compareInPlace<T>(holds, count, from, to, [](T x) { return Complex(x); });
    else
      compareReals(type, holds, count, from, to);
  });
}

static Result<ArrayFunction>
compareFunction(Operation *op, llvm::ArrayRef<ElementType> operands) {
  auto compare = cast<stablehlo::CompareOp>(op);
  const unsigned holds = orderingsThatHold(compare.getComparisonDirection());
  const bool total =
      compare.getCompareType() == stablehlo::ComparisonType::TOTALORDER;
  // Sign-extended bits are in the unsigned order, too.
  return ArrayFunction{runCompare,
                       stablehlo::comparesOtherwise(compare)
                           ? *elementTypeOf(stablehlo::comparedType(compare))
                           : operands[0],
                       ElementType::I1,
                       {static_cast<int>(holds), total}};
}

static void runSelect(const ArrayFunction &function, int64_t count,
                      const std::byte *const *from, std::byte *to) {
  auto choose = [&]<typename T>(T) {
    const T *onTrue = reinterpret_cast<const T *>(from[1]);
    const T *onFalse = reinterpret_cast<const T *>(from[2]);
    for (int64_t i = 0; i < count; ++i)
      reinterpret_cast<T *>(to)[i] =
          from[0][i] != std::byte() ? onTrue[i] : onFalse[i];
  };
  switch (byteSize(function.result)) {
  case 1:
    return choose(uint8_t());
  case 2:
    return choose(uint16_t());
  case 4:
    return choose(uint32_t());
  case 8:
    return choose(uint64_t());
  default:
    return choose(Complex());
  }
}
static Result<ArrayFunction>
selectFunction(Operation *, llvm::ArrayRef<ElementType> operands) {
  return ArrayFunction{runSelect, operands[1], operands[1]};
}

void registerConversions(Registry &registry) {
  using namespace stablehlo;
  registry.addArrayFunction<ConvertOp>(convertFunction);
  registry.addArrayFunction<RealOp>(realFunction);
  registry.addArrayFunction<ImagOp>(imagFunction);
  registry.addArrayFunction<ComplexOp>(complexFunction);
  registry.addArrayFunction<IsFiniteOp>(isFiniteFunction);
  registry.addArrayFunction<ReducePrecisionOp>(reducePrecisionFunction);
  registry.addArrayFunction<CompareOp>(compareFunction);
  registry.addArrayFunction<SelectOp>(selectFunction);
  registry.add<BitcastConvertOp>(evaluateBitcastConvert);
}

} // namespace sinter::interpreter
