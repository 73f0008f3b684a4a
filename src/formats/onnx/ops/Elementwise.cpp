// Arithmetic, comparisons, logic, elementwise functions.

#include "formats/import/Building.h"
#include "formats/onnx/Operators.h"
#include "formats/onnx/ops/Inputs.h"
#include <limits>

using namespace mlir;
using sinter::stablehlo::ComparisonDirection;

namespace sinter::onnx {

//===----------------------------------------------------------------------===//
// Helpers
//===----------------------------------------------------------------------===//

/// The second operand of a binary operator. Before opset 7 it did not broadcast
/// by NumPy's rule: attribute `broadcast` enabled broadcasting, and `axis` was
/// the dimension of the first operand at which its dimensions start.
static Value secondOperand(NodeContext &node) {
  Value lhs = node.operand(0), rhs = node.operand(1);
  if (!lhs || !rhs || node.version() >= 7 ||
      !node.getBool("broadcast", false) || !node.hasAttribute("axis"))
    return rhs;
  auto axis = node.axis(node.getInt("axis", 0), node.rank(lhs));
  if (!axis)
    return {};
  int64_t trailing = node.rank(lhs) - *axis - node.rank(rhs);
  if (trailing < 0)
    return node.fail("the second input has more dimensions than the first has "
                     "from 'axis' on");
  return node.unsqueeze(rhs, llvm::to_vector(llvm::seq(
                                 node.rank(rhs), node.rank(rhs) + trailing)));
}

template <typename Op> static LogicalResult unary(NodeContext &node) {
  return node.result(node.op<Op>(node.operand(0)));
}

template <typename Op> static LogicalResult binary(NodeContext &node) {
  return node.result(node.binary<Op>(node.operand(0), secondOperand(node)));
}

template <ComparisonDirection direction>
static LogicalResult compare(NodeContext &node) {
  return node.result(
      node.compare(node.operand(0), secondOperand(node), direction));
}

/// All inputs combined from left to right.
template <typename Op> static Value fold(NodeContext &node) {
  Values values = node.operands();
  if (values.empty())
    return node.fail("it has no inputs");
  Value result = values.front();
  for (Value next : llvm::drop_begin(values))
    result = node.binary<Op>(result, next);
  return result;
}

template <typename Op> static LogicalResult variadic(NodeContext &node) {
  return node.result(fold<Op>(node));
}

//===----------------------------------------------------------------------===//
// One operand
//===----------------------------------------------------------------------===//

static LogicalResult importAbs(NodeContext &node) {
  Value x = node.operand(0);
  if (x && node.isUnsigned(x))
    return node.result(x);
  return node.result(node.op<stablehlo::AbsOp>(x));
}

static LogicalResult importSign(NodeContext &node) {
  Value x = node.operand(0);
  if (x && node.isUnsigned(x))
    return node.result(node.binary<stablehlo::MinOp>(x, node.one(x, 1)));
  return node.result(node.op<stablehlo::SignOp>(x));
}

static LogicalResult importReciprocal(NodeContext &node) {
  Value x = node.operand(0);
  return node.result(node.binary<stablehlo::DivOp>(node.one(x, 1), x));
}

static LogicalResult importIsNaN(NodeContext &node) {
  Value x = node.operand(0);
  return node.result(node.compare(x, x, ComparisonDirection::NE));
}

static LogicalResult importIsInf(NodeContext &node) {
  Value x = node.operand(0);
  bool negative = node.getBool("detect_negative", true);
  bool positive = node.getBool("detect_positive", true);
  double infinity = std::numeric_limits<double>::infinity();
  if (negative && positive)
    return node.result(node.compare(node.op<stablehlo::AbsOp>(x),
                                    node.one(x, infinity),
                                    ComparisonDirection::EQ));
  if (negative || positive)
    return node.result(
        node.compare(x, node.one(x, negative ? -infinity : infinity),
                     ComparisonDirection::EQ));
  // Always false, even for NaN.
  return node.result(node.compare(x, x, ComparisonDirection::LT));
}

//===----------------------------------------------------------------------===//
// Two or more operands
//===----------------------------------------------------------------------===//

static LogicalResult importBitShift(NodeContext &node) {
  std::string direction = node.getString("direction", "");
  Value x = node.operand(0), amount = node.operand(1);
  if (direction == "LEFT")
    return node.result(node.binary<stablehlo::ShiftLeftOp>(x, amount));
  if (direction == "RIGHT")
    return node.result(node.binary<stablehlo::ShiftRightLogicalOp>(x, amount));
  return node.fail("attribute 'direction' is not LEFT or RIGHT");
}

/// Without fmod the result has the divisor's sign, as in Python's %.
static LogicalResult importMod(NodeContext &node) {
  Value x = node.operand(0), y = node.operand(1);
  if (!x || !y)
    return failure();
  Value remainder = node.binary<stablehlo::RemOp>(x, y);
  if (node.getBool("fmod", false) || node.isUnsigned(x))
    return node.result(remainder);
  if (node.isFloat(x))
    return node.fail("floating-point inputs need attribute 'fmod'");
  Value zero = node.scalar(node.element(x), 0);
  Value signsDiffer = node.binary<stablehlo::XorOp>(
      node.compare(remainder, zero, ComparisonDirection::LT),
      node.compare(y, zero, ComparisonDirection::LT));
  Value wrong = node.binary<stablehlo::AndOp>(
      signsDiffer, node.compare(remainder, zero, ComparisonDirection::NE));
  Value shifted = node.binary<stablehlo::AddOp>(remainder, y);
  return node.result(select(node, wrong, shifted, remainder));
}

/// The result has the base's type; an integer with a fractional exponent is
/// raised in f64.
static LogicalResult importPow(NodeContext &node) {
  Value base = node.operand(0), exponent = secondOperand(node);
  if (!base || !exponent)
    return failure();
  Type element = node.element(base);
  if (!node.isFloat(base) && node.isFloat(exponent)) {
    Type f64 = node.builder().getF64Type();
    Value power = node.binary<stablehlo::PowOp>(node.cast(base, f64),
                                                node.cast(exponent, f64));
    return node.result(node.cast(power, element));
  }
  return node.result(
      node.binary<stablehlo::PowOp>(base, node.cast(exponent, element)));
}

static LogicalResult importMean(NodeContext &node) {
  Value sum = fold<stablehlo::AddOp>(node);
  if (node.inputCount() == 1)
    return node.result(sum);
  return node.result(node.binary<stablehlo::DivOp>(
      sum, node.one(sum, static_cast<double>(node.inputCount()))));
}

static LogicalResult importWhere(NodeContext &node) {
  return node.result(
      select(node, node.operand(0), node.operand(1), node.operand(2)));
}

/// A bound of Clip as a scalar, null if there is none: an attribute before
/// opset 11, an input of one element from then on.
static Value clipBound(NodeContext &node, Type element, StringRef name,
                       int64_t input) {
  if (node.version() < 11)
    return node.hasAttribute(name)
               ? node.scalar(element, node.getFloat(name, 0))
               : Value();
  return node.has(input) ? scalarInput(node, input) : Value();
}

static LogicalResult importClip(NodeContext &node) {
  Value x = node.operand(0);
  if (!x)
    return failure();
  Value low = clipBound(node, node.element(x), "min", 1);
  Value high = clipBound(node, node.element(x), "max", 2);
  if (low && high)
    return node.result(node.op<stablehlo::ClampOp>(low, x, high));
  if (low)
    return node.result(node.binary<stablehlo::MaxOp>(x, low));
  if (high)
    return node.result(node.binary<stablehlo::MinOp>(x, high));
  return node.result(x);
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

llvm::ArrayRef<Operator> elementwiseOperators() {
  using namespace stablehlo;
  using enum ComparisonDirection;
  static const Operator table[] = {
      {"Abs", "", 1, importAbs, 1, 1},
      {"Acos", "", 7, unary<nn::AcosOp>, 1, 1},
      {"Acosh", "", 9, unary<nn::AcoshOp>, 1, 1},
      {"Add", "", 1, binary<AddOp>, 2, 2},
      {"And", "", 1, binary<AndOp>, 2, 2},
      {"Asin", "", 7, unary<nn::AsinOp>, 1, 1},
      {"Asinh", "", 9, unary<nn::AsinhOp>, 1, 1},
      {"Atan", "", 7, unary<nn::AtanOp>, 1, 1},
      {"Atanh", "", 9, unary<nn::AtanhOp>, 1, 1},
      {"BitShift", "", 11, importBitShift, 2, 2},
      {"BitwiseAnd", "", 18, binary<AndOp>, 2, 2},
      {"BitwiseNot", "", 18, unary<NotOp>, 1, 1},
      {"BitwiseOr", "", 18, binary<OrOp>, 2, 2},
      {"BitwiseXor", "", 18, binary<XorOp>, 2, 2},
      {"Ceil", "", 1, unary<CeilOp>, 1, 1},
      {"Clip", "", 1, importClip, 1, 3},
      {"Cos", "", 7, unary<CosineOp>, 1, 1},
      {"Cosh", "", 9, unary<nn::CoshOp>, 1, 1},
      {"Div", "", 1, binary<DivOp>, 2, 2},
      {"Equal", "", 1, compare<EQ>, 2, 2},
      {"Erf", "", 9, unary<nn::ErfOp>, 1, 1},
      {"Exp", "", 1, unary<ExpOp>, 1, 1},
      {"Floor", "", 1, unary<FloorOp>, 1, 1},
      {"Greater", "", 1, compare<GT>, 2, 2},
      {"GreaterOrEqual", "", 12, compare<GE>, 2, 2},
      {"IsInf", "", 10, importIsInf, 1, 1},
      {"IsNaN", "", 9, importIsNaN, 1, 1},
      {"Less", "", 1, compare<LT>, 2, 2},
      {"LessOrEqual", "", 12, compare<LE>, 2, 2},
      {"Log", "", 1, unary<LogOp>, 1, 1},
      {"Max", "", 1, variadic<MaxOp>, 1, anyNumber},
      {"Mean", "", 1, importMean, 1, anyNumber},
      {"Min", "", 1, variadic<MinOp>, 1, anyNumber},
      {"Mod", "", 10, importMod, 2, 2},
      {"Mul", "", 1, binary<MulOp>, 2, 2},
      {"Neg", "", 1, unary<NegOp>, 1, 1},
      {"Not", "", 1, unary<NotOp>, 1, 1},
      {"Or", "", 1, binary<OrOp>, 2, 2},
      {"Pow", "", 1, importPow, 2, 2},
      {"Reciprocal", "", 1, importReciprocal, 1, 1},
      {"Round", "", 11, unary<RoundNearestEvenOp>, 1, 1},
      {"Sign", "", 9, importSign, 1, 1},
      {"Sin", "", 7, unary<SineOp>, 1, 1},
      {"Sinh", "", 9, unary<nn::SinhOp>, 1, 1},
      {"Sqrt", "", 1, unary<SqrtOp>, 1, 1},
      {"Sub", "", 1, binary<SubtractOp>, 2, 2},
      {"Sum", "", 1, variadic<AddOp>, 1, anyNumber},
      {"Tan", "", 7, unary<TanOp>, 1, 1},
      {"Tanh", "", 1, unary<TanhOp>, 1, 1},
      {"Where", "", 9, importWhere, 3, 3},
      {"Xor", "", 1, binary<XorOp>, 2, 2},
  };
  return table;
}

} // namespace sinter::onnx
