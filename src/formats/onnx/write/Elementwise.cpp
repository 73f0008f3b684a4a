// Elementwise ops of stablehlo.

#include "formats/onnx/file/DataTypes.h"
#include "formats/onnx/write/WriterRules.h"
#include "graph/Constants.h"
#include "graph/stablehlo/ElementOrder.h"
#include "graph/stablehlo/StablehloOps.h"
#include "llvm/ADT/StringMap.h"
#include <limits>

using namespace mlir;

namespace sinter::onnx {

static bool isBool(Type type) { return type.isInteger(1); }

//===----------------------------------------------------------------------===//
// One to one
//===----------------------------------------------------------------------===//

/// The op's ONNX name, and that of its logical form on i1.
struct OneToOne {
  StringRef op, onnx, onBool;
};

static const OneToOne oneToOne[] = {
    {"stablehlo.abs", "Abs", ""},
    {"stablehlo.ceil", "Ceil", ""},
    {"stablehlo.cosine", "Cos", ""},
    {"stablehlo.exponential", "Exp", ""},
    {"stablehlo.floor", "Floor", ""},
    {"stablehlo.log", "Log", ""},
    {"stablehlo.logistic", "Sigmoid", ""},
    {"stablehlo.negate", "Neg", ""},
    {"stablehlo.round_nearest_even", "Round", ""},
    {"stablehlo.sign", "Sign", ""},
    {"stablehlo.sine", "Sin", ""},
    {"stablehlo.sqrt", "Sqrt", ""},
    {"stablehlo.tan", "Tan", ""},
    {"stablehlo.tanh", "Tanh", ""},
    {"stablehlo.add", "Add", "Or"},
    {"stablehlo.divide", "Div", ""},
    {"stablehlo.maximum", "Max", "Or"},
    {"stablehlo.minimum", "Min", "And"},
    {"stablehlo.multiply", "Mul", "And"},
    {"stablehlo.power", "Pow", ""},
    {"stablehlo.subtract", "Sub", ""},
    {"stablehlo.select", "Where", "Where"},
};

static LogicalResult writeOneToOne(NodeWriter &e, Operation *op) {
  static const auto *table = [] {
    auto *map = new llvm::StringMap<const OneToOne *>();
    for (const OneToOne &each : oneToOne)
      (*map)[each.op] = &each;
    return map;
  }();
  const OneToOne &entry = *table->lookup(op->getName().getStringRef());
  Value result = op->getResult(0);
  Type element = elementOf(result);
  if (isa<ComplexType>(element))
    return e.unsupported("of complex numbers");
  StringRef onnx = isBool(element) ? entry.onBool : entry.onnx;
  if (onnx.empty())
    return e.unsupported("of booleans");
  // Arithmetic on narrow integers exists since version 14.
  auto integer = dyn_cast<IntegerType>(element);
  if (integer && integer.getWidth() < 32 && integer.getWidth() > 1)
    e.need(14);
  return e.result(onnx, e.broadcast(op->getOperands(), result.getType()));
}

//===----------------------------------------------------------------------===//
// Functions that ONNX lacks
//===----------------------------------------------------------------------===//

static LogicalResult writeRsqrt(NodeWriter &e, stablehlo::RsqrtOp op) {
  return e.result("Reciprocal", {e.make("Sqrt", e.operands())});
}

/// sign(x) * |x|^(1/3)
static LogicalResult writeCbrt(NodeWriter &e, stablehlo::CbrtOp op) {
  Name x = e.operand(op.getOperand());
  Name third = e.scalar(elementOf(op), 1.0 / 3);
  Name root = e.make("Pow", {e.make("Abs", {x}), third});
  return e.result("Mul", {e.make("Sign", {x}), root});
}

/// exp(x) - 1 = tanh(x / 2) * (exp(x) + 1), exact near zero.
static LogicalResult writeExpm1(NodeWriter &e, stablehlo::Expm1Op op) {
  Name x = e.operand(op.getOperand());
  Type element = elementOf(op);
  Name half = e.make("Mul", {x, e.scalar(element, 0.5)});
  Name sum = e.make("Add", {e.make("Exp", {x}), e.scalar(element, 1)});
  return e.result("Mul", {e.make("Tanh", {half}), sum});
}

/// With u = 1 + x: log(u) * x / (u - 1), which cancels the rounding of u
/// (HP-15C Advanced Functions Handbook, 1982); log(u) for large x, x where u
/// is 1.
static LogicalResult writeLog1p(NodeWriter &e, stablehlo::Log1pOp op) {
  Name x = e.operand(op.getOperand());
  Name one = e.scalar(elementOf(op), 1);
  Name u = e.make("Add", {x, one});
  Name log = e.make("Log", {u});
  Name exact =
      e.make("Mul", {log, e.make("Div", {x, e.make("Sub", {u, one})})});
  Name isLarge = e.make("Greater", {e.make("Abs", {x}), one});
  Name large = e.where(isLarge, log, exact);
  return e.result("Where", {e.make("Equal", {u, one}), x, large});
}

/// sign(x) * (floor(|x|) + (|x| - floor(|x|) >= 0.5))
static LogicalResult writeRound(NodeWriter &e, stablehlo::RoundOp op) {
  Name x = e.operand(op.getOperand());
  Type element = elementOf(op);
  Name size = e.make("Abs", {x});
  Name floor = e.make("Floor", {size});
  Name up = e.make("GreaterOrEqual",
                   {e.make("Sub", {size, floor}), e.scalar(element, 0.5)});
  Name more = e.cast(up, IntegerType::get(op.getContext(), 1), element);
  return e.result("Mul", {e.make("Sign", {x}), e.make("Add", {floor, more})});
}

/// x - x is 0 for finite values and NaN for all others.
static LogicalResult writeIsFinite(NodeWriter &e, stablehlo::IsFiniteOp op) {
  Name x = e.operand(op.getOperand());
  return e.result("Equal", {e.make("Sub", {x, x}),
                            e.scalar(elementOf(op.getOperand()), 0)});
}

/// atan(y / x), plus or minus pi if x is negative; by the signs if x is zero.
static LogicalResult writeAtan2(NodeWriter &e, stablehlo::Atan2Op op) {
  Names both = e.broadcast(op->getOperands(), op.getType());
  Name y = both[0], x = both[1];
  Type element = elementOf(op);
  constexpr double pi = 3.14159265358979323846;
  Name zero = e.scalar(element, 0);
  Name isNegative = e.make("Less", {y, zero});
  auto signedAngle = [&](double angle) {
    return e.where(isNegative, e.scalar(element, -angle),
                   e.scalar(element, angle));
  };
  Name xIsZero = e.make("Equal", {x, zero});
  Name yIsZero = e.make("Equal", {y, zero});
  Name slope = e.make("Atan", {e.make("Div", {y, x})});
  Name turned = e.make("Add", {slope, signedAngle(pi)});
  Name general = e.where(e.make("Less", {x, zero}), turned, slope);
  Name onAxis = e.where(yIsZero, zero, signedAngle(pi / 2));
  return e.result("Where", {xIsZero, onAxis, general});
}

static LogicalResult writeRemainder(NodeWriter &e, stablehlo::RemOp op) {
  return e.result("Mod", e.broadcast(op->getOperands(), op.getType()),
                  {{"fmod", 1}});
}

//===----------------------------------------------------------------------===//
// Bits
//===----------------------------------------------------------------------===//

template <typename Op>
static LogicalResult writeLogic(NodeWriter &e, Op op, StringRef onBool,
                                StringRef onInteger) {
  Names inputs = e.broadcast(op->getOperands(), op.getType());
  if (isBool(elementOf(op)))
    return e.result(onBool, inputs);
  e.need(18);
  return e.result(onInteger, inputs);
}
static LogicalResult writeAnd(NodeWriter &e, stablehlo::AndOp op) {
  return writeLogic(e, op, "And", "BitwiseAnd");
}
static LogicalResult writeOr(NodeWriter &e, stablehlo::OrOp op) {
  return writeLogic(e, op, "Or", "BitwiseOr");
}
static LogicalResult writeXor(NodeWriter &e, stablehlo::XorOp op) {
  return writeLogic(e, op, "Xor", "BitwiseXor");
}
static LogicalResult writeNot(NodeWriter &e, stablehlo::NotOp op) {
  return writeLogic(e, op, "Not", "BitwiseNot");
}

static Type unsignedOf(Type type) {
  return IntegerType::get(type.getContext(), type.getIntOrFloatBitWidth(),
                          IntegerType::Unsigned);
}

/// Whether every distance is known to be less than the width.
static bool isNear(Value distance, unsigned width) {
  if (auto broadcast = distance.getDefiningOp<stablehlo::BroadcastInDimOp>())
    distance = broadcast.getOperand();
  auto tensor = constantTensor(distance);
  if (!tensor)
    return false;
  for (int64_t i = 0; i < tensor->size(); ++i)
    if (tensor->toInteger(i) < 0 || tensor->toInteger(i) >= width)
      return false;
  return true;
}

/// BitShift of unsigned integers; 0 if the distance is the width or more.
/// Runtimes support few types of selection, so all use i64.
static Name shift(NodeWriter &e, const Name &x, const Name &distance, Type type,
                  StringRef direction) {
  Type bits = unsignedOf(type);
  Type i64 = IntegerType::get(type.getContext(), 64);
  Name ux = e.cast(x, type, bits), by = e.cast(distance, type, bits);
  unsigned width = type.getIntOrFloatBitWidth();
  if (isNear(e.op->getOperand(1), width))
    return e.cast(e.make("BitShift", {ux, by}, {{"direction", direction}}),
                  bits, type);
  Name isFar = e.make("GreaterOrEqual", {by, e.scalar(bits, width)});
  Name zero = e.scalar(i64, 0);
  Name near = e.cast(e.where(isFar, zero, e.cast(by, bits, i64)), i64, bits);
  Name moved = e.make("BitShift", {ux, near}, {{"direction", direction}});
  return e.cast(e.where(isFar, zero, e.cast(moved, bits, i64)), i64, type);
}

static LogicalResult writeShiftLeft(NodeWriter &e, stablehlo::ShiftLeftOp op) {
  Names both = e.broadcast(op->getOperands(), op.getType());
  return e.alias(shift(e, both[0], both[1], elementOf(op), "LEFT"));
}

static LogicalResult writeShiftRightLogical(NodeWriter &e,
                                            stablehlo::ShiftRightLogicalOp op) {
  Names both = e.broadcast(op->getOperands(), op.getType());
  return e.alias(shift(e, both[0], both[1], elementOf(op), "RIGHT"));
}

/// Arithmetic shift; for a negative x: ~(~x >> distance).
static LogicalResult
writeShiftRightArithmetic(NodeWriter &e, stablehlo::ShiftRightArithmeticOp op) {
  Names both = e.broadcast(op->getOperands(), op.getType());
  Type type = elementOf(op);
  if (type.isUnsignedInteger())
    type = IntegerType::get(op.getContext(), type.getIntOrFloatBitWidth());
  Name x = e.cast(both[0], elementOf(op), type);
  Name distance = e.cast(both[1], elementOf(op), type);
  Name isNegative = e.make("Less", {x, e.scalar(type, 0)});
  Name minusOne = e.scalar(type, -1);
  Name flipped = e.where(isNegative, e.make("Sub", {minusOne, x}), x);
  Name moved = shift(e, flipped, distance, type, "RIGHT");
  Name result = e.where(isNegative, e.make("Sub", {minusOne, moved}), moved);
  return e.alias(e.cast(result, type, elementOf(op)));
}

/// The number of masks that have a bit in common with x.
static Name countMasks(NodeWriter &e, Value value, ArrayRef<uint64_t> masks) {
  e.need(18);
  Type type = elementOf(value);
  auto element = sinter::elementTypeOf(type);
  Name x = e.operand(value), sum;
  for (uint64_t mask : masks) {
    Tensor one(*element, {});
    std::memcpy(one.mutableBytes(), &mask, byteSize(*element));
    Name met = e.make("BitwiseAnd", {x, e.constant(one, "mask")});
    Name isZero = e.make("Equal", {met, e.scalar(type, 0)});
    Name bit = e.cast(e.make("Not", {isZero}),
                      IntegerType::get(type.getContext(), 1), type);
    sum = sum.empty() ? bit : e.make("Add", {sum, bit});
  }
  return sum;
}

static LogicalResult writePopcnt(NodeWriter &e, stablehlo::PopcntOp op) {
  std::vector<uint64_t> masks;
  for (unsigned i = 0; i < elementOf(op).getIntOrFloatBitWidth(); ++i)
    masks.push_back(uint64_t(1) << i);
  return e.alias(countMasks(e, op.getOperand(), masks));
}

/// The width minus the number of right shifts with a non-zero result.
static LogicalResult writeLeadingZeros(NodeWriter &e, stablehlo::ClzOp op) {
  std::vector<uint64_t> masks;
  unsigned width = elementOf(op).getIntOrFloatBitWidth();
  for (unsigned i = 0; i < width; ++i)
    masks.push_back(~uint64_t(0) << i);
  return e.result("Sub", {e.scalar(elementOf(op), width),
                          countMasks(e, op.getOperand(), masks)});
}

//===----------------------------------------------------------------------===//
// Comparison, selection, conversion
//===----------------------------------------------------------------------===//

/// Whether values come before 0 in the total order, as -0 does: x < 0 or 1 / x
/// < 0. ONNX has no operator for the sign of a NaN.
static LogicalResult writeSignTest(NodeWriter &e, stablehlo::CompareOp op) {
  if (op.getComparisonDirection() != stablehlo::ComparisonDirection::LT ||
      !isPositiveZero(op.getRhs()))
    return e.unsupported("in the total order of floats");
  Name x = e.operand(op.getLhs());
  Name zero = e.scalar(elementOf(op.getLhs()), 0);
  Name isLess = e.make("Less", {x, zero});
  return e.result("Or",
                  {isLess, e.make("Less", {e.make("Reciprocal", {x}), zero})});
}

static LogicalResult writeCompare(NodeWriter &e, stablehlo::CompareOp op) {
  using Direction = stablehlo::ComparisonDirection;
  Type element = elementOf(op.getLhs());
  if (isa<ComplexType>(element))
    return e.unsupported("of complex numbers");
  if (op.getCompareType() == stablehlo::ComparisonType::TOTALORDER)
    return writeSignTest(e, op);
  Names inputs = e.broadcast(op->getOperands(), op.getType());
  Direction direction = op.getComparisonDirection();
  if (direction == Direction::EQ)
    return e.result("Equal", inputs);
  if (direction == Direction::NE)
    return e.result("Not", {e.make("Equal", inputs)});
  auto castTo = [&](Type type) {
    for (Name &each : inputs)
      each = e.cast(each, element, type);
    element = type;
  };
  // ONNX cannot compare these. Sign extension preserves the unsigned order.
  if (isa<IntegerType>(element) && element.getIntOrFloatBitWidth() < 8)
    castTo(IntegerType::get(op.getContext(), 32));
  if (stablehlo::comparesOtherwise(op))
    castTo(IntegerType::get(op.getContext(), element.getIntOrFloatBitWidth(),
                            IntegerType::Unsigned));
  return e.result(direction == Direction::LT   ? "Less"
                  : direction == Direction::LE ? "LessOrEqual"
                  : direction == Direction::GT ? "Greater"
                                               : "GreaterOrEqual",
                  inputs);
}

static LogicalResult writeClamp(NodeWriter &e, stablehlo::ClampOp op) {
  Value min = op.getMin(), max = op.getMax();
  if (isa<ComplexType>(elementOf(op)) || isBool(elementOf(op)))
    return e.unsupported("of this element type");
  // Before version 12 Clip takes only floats.
  if (!isa<FloatType>(elementOf(op)))
    e.need(12);
  Names all = e.broadcast({min, op.getOperand(), max}, op.getType());
  if (tensorOf(min).getRank() == 0 && tensorOf(max).getRank() == 0)
    return e.result("Clip", {all[1], all[0], all[2]});
  return e.result("Min", {e.make("Max", {all[1], all[0]}), all[2]});
}

static LogicalResult writeConvert(NodeWriter &e, stablehlo::ConvertOp op) {
  Type from = elementOf(op.getOperand()), to = elementOf(op);
  auto element = sinter::elementTypeOf(to);
  auto dataType = element ? dataTypeOf(*element) : std::nullopt;
  if (isa<ComplexType>(from) || isa<ComplexType>(to) || !dataType)
    return e.unsupported("between these element types");
  if (from == to)
    return e.alias(e.operand(op.getOperand()));
  bool isNew = from.getIntOrFloatBitWidth() == 8 && isa<FloatType>(from);
  if (isNew || (to.getIntOrFloatBitWidth() == 8 && isa<FloatType>(to)))
    e.need(19);
  return e.result("Cast", {e.operand(op.getOperand())}, {{"to", *dataType}});
}

/// For a format that is an ONNX type: casts to it and back.
static LogicalResult writeReducePrecision(NodeWriter &e,
                                          stablehlo::ReducePrecisionOp op) {
  MLIRContext *context = op.getContext();
  Type element = elementOf(op), narrow;
  unsigned exponent = op.getExponentBits(), mantissa = op.getMantissaBits();
  if (exponent == 5 && mantissa == 10)
    narrow = Float16Type::get(context);
  else if (exponent == 8 && mantissa == 7)
    narrow = BFloat16Type::get(context);
  else if (exponent == 8 && mantissa == 23)
    narrow = Float32Type::get(context);
  else
    return e.unsupported("to a format that is no element type");
  Name x = e.operand(op.getOperand());
  return e.alias(e.cast(e.cast(x, element, narrow), narrow, element));
}

WriterRules elementwiseRules() {
  static const std::vector<WriterRule> rules = [] {
    std::vector<WriterRule> all = {writerRule<writeRsqrt>(),
                                   writerRule<writeCbrt>(),
                                   writerRule<writeExpm1>(),
                                   writerRule<writeLog1p>(),
                                   writerRule<writeRound>(),
                                   writerRule<writeIsFinite>(),
                                   writerRule<writeAtan2>(),
                                   writerRule<writeRemainder>(),
                                   writerRule<writeAnd>(),
                                   writerRule<writeOr>(),
                                   writerRule<writeXor>(),
                                   writerRule<writeNot>(),
                                   writerRule<writeShiftLeft>(),
                                   writerRule<writeShiftRightLogical>(),
                                   writerRule<writeShiftRightArithmetic>(),
                                   writerRule<writePopcnt>(),
                                   writerRule<writeLeadingZeros>(),
                                   writerRule<writeCompare>(),
                                   writerRule<writeClamp>(),
                                   writerRule<writeConvert>(),
                                   writerRule<writeReducePrecision>()};
    for (const OneToOne &each : oneToOne)
      all.push_back({each.op, writeOneToOne});
    return all;
  }();
  return rules;
}

} // namespace sinter::onnx
