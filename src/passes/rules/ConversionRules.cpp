#include "graph/Broadcast.h"
#include "graph/stablehlo/StablehloOps.h"
#include "passes/Identities.h"
#include "passes/Matching.h"
#include "passes/RuleTables.h"

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter {

template <typename Op> static Value toOwnType(Op op, OpBuilder &) {
  return op.getOperand().getType() == op.getType() ? Value(op.getOperand())
                                                   : Value();
}

/// Where the first conversion is lossless, the second can start from the
/// original.
static Value convertConvert(ConvertOp op, OpBuilder &builder) {
  auto inner = op.getOperand().getDefiningOp<ConvertOp>();
  if (!inner)
    return {};
  Type first = tensorOf(inner.getOperand()).getElementType();
  Type last = tensorOf(op).getElementType();
  if (!convertsLosslessly(first, tensorOf(inner).getElementType()))
    return {};
  if (first == last && inner.getOperand().getType() == op.getType())
    return inner.getOperand();
  bool bothFloat = isa<FloatType>(first) && isa<FloatType>(last);
  // Integers are truncated the same in one step as in two.
  bool bothInteger = first.isIntOrIndex() && last.isIntOrIndex() &&
                     tensorOf(inner).getElementType().isIntOrIndex();
  // An index converts only from and to signless integers.
  if ((first.isIndex() && last.isUnsignedInteger()) ||
      (last.isIndex() && first.isUnsignedInteger()))
    return {};
  if (first == last ||
      !(bothFloat || bothInteger || convertsLosslessly(first, last)))
    return {};
  return builder.create<ConvertOp>(op.getLoc(), op.getType(),
                                   inner.getOperand());
}

/// How many integers, from 0 up, a float of \p type represents exactly.
static int64_t exactIntegers(FloatType type) {
  return int64_t(1) << std::min(62u, type.getFPMantissaWidth());
}

/// An iota in another type, where that represents every index exactly.
static Value convertIota(ConvertOp op, OpBuilder &builder) {
  auto iota = op.getOperand().getDefiningOp<IotaOp>();
  auto type = tensorOf(op);
  if (!iota || !type.hasStaticShape())
    return {};
  int64_t last = type.getDimSize(iota.getIotaDimension()) - 1;
  auto holds = [&](Type element) {
    if (auto real = dyn_cast<FloatType>(element))
      return last <= exactIntegers(real) &&
             // The 8-bit floats have less range than digits.
             real.getWidth() > 8;
    auto integer = dyn_cast<IntegerType>(element);
    if (!integer || integer.getWidth() == 1)
      return false;
    unsigned bits = integer.getWidth() - (integer.isUnsigned() ? 0 : 1);
    return bits >= 63 || last < int64_t(1) << bits;
  };
  if (!holds(type.getElementType()) || !holds(tensorOf(iota).getElementType()))
    return {};
  return builder.create<IotaOp>(op.getLoc(), type, iota.getIotaDimension());
}

/// The same bits can be cast to the last type directly.
static Value bitcastBitcast(BitcastConvertOp op, OpBuilder &builder) {
  auto inner = op.getOperand().getDefiningOp<BitcastConvertOp>();
  if (!inner)
    return {};
  if (inner.getOperand().getType() == op.getType())
    return inner.getOperand();
  auto widthOf = [](Value value) {
    Type element = tensorOf(value).getElementType();
    return element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 0;
  };
  unsigned width = widthOf(op);
  if (!width || width != widthOf(inner) || width != widthOf(inner.getOperand()))
    return {};
  return builder.create<BitcastConvertOp>(op.getLoc(), op.getType(),
                                          inner.getOperand());
}

/// As many bits as the type has: nothing is rounded.
static Value precisionFull(ReducePrecisionOp op, OpBuilder &) {
  Type element = tensorOf(op).getElementType();
  struct Bits {
    int exponent, mantissa;
  };
  Bits own = element.isF16()    ? Bits{5, 10}
             : element.isBF16() ? Bits{8, 7}
             : element.isF32()  ? Bits{8, 23}
             : element.isF64()  ? Bits{11, 52}
                                : Bits{INT_MAX, INT_MAX};
  bool isFull = static_cast<int>(op.getExponentBits()) >= own.exponent &&
                static_cast<int>(op.getMantissaBits()) >= own.mantissa;
  return isFull ? Value(op.getOperand()) : Value();
}

static Value realOfReal(RealOp op, OpBuilder &) {
  return op.getOperand().getType() == op.getType() ? Value(op.getOperand())
                                                   : Value();
}
static Value imagOfReal(ImagOp op, OpBuilder &builder) {
  auto type = tensorOf(op);
  if (op.getOperand().getType() != type)
    return {};
  return splatLike(builder, op.getLoc(), type, 0, op.getOperand());
}

static constexpr Identity conversionIdentities[] = {
    {"real-complex", "real(complex(x, y)) -> x"},
    {"imag-complex", "imag(complex(x, y)) -> y"},
    {"complex-parts", "complex(real(x), imag(x)) -> x"},
};

RuleTable conversionRules() {
  static const std::vector<RewriteRule> rules = [] {
    std::vector<RewriteRule> all = rulesOf(conversionIdentities);
    all.insert(
        all.end(),
        {rule<ConvertOp, toOwnType<ConvertOp>>("convert-same",
                                               "f32(x : f32) -> x"),
         rule<ConvertOp, convertConvert>("convert-convert",
                                         "f16(f32(x : f16)) -> x, if lossless"),
         rule<ConvertOp, convertIota>("convert-iota",
                                      "f32(iota : i32) -> iota : f32"),
         rule<BitcastConvertOp, toOwnType<BitcastConvertOp>>(
             "bitcast-same", "bitcast_convert(x) to its own type -> x"),
         rule<BitcastConvertOp, bitcastBitcast>(
             "bitcast-bitcast",
             "bitcast_convert(bitcast_convert(x)) -> bitcast_convert(x), or x"),
         rule<ReducePrecisionOp, precisionFull>(
             "reduce-precision-full", "reduce_precision(x : f32, e8m23) -> x"),
         rule<RealOp, realOfReal>("real-real", "real(x : f32) -> x"),
         rule<ImagOp, imagOfReal>("imag-real", "imag(x : f32) -> 0")});
    return all;
  }();
  return {"Conversions and complex numbers", rules};
}

} // namespace sinter
