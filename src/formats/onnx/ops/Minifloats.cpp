#include "formats/onnx/ops/Minifloats.h"

#include "formats/import/Building.h"
#include "formats/onnx/file/DataTypes.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>
#include <limits>

using namespace mlir;
using sinter::stablehlo::ComparisonDirection;

namespace sinter::onnx {

/// What the codes of \p dataType stand for, in their order.
static std::vector<double> numbersOfCodes(int32_t dataType) {
  std::vector<double> numbers;
  if (dataType == TensorProto::FLOAT4E2M1) {
    for (double sign : {1.0, -1.0})
      for (double size : {0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0})
        numbers.push_back(sign * size);
    return numbers;
  }
  for (int exponent = -127; exponent < 128; ++exponent)
    numbers.push_back(std::ldexp(1.0, exponent));
  numbers.push_back(std::numeric_limits<double>::quiet_NaN());
  return numbers;
}

bool isCoded(NodeContext &node, int64_t input) {
  return node.bound(input).kind == Bound::Coded;
}

Value numbersOf(NodeContext &node, int64_t input, Type element) {
  const Bound &bound = node.bound(input);
  if (bound.kind != Bound::Coded)
    return node.cast(node.operand(input), element);
  const std::vector<double> list = numbersOfCodes(bound.dataType);
  Value table =
      numbers(node, element, list, {static_cast<int64_t>(list.size())});
  return node.op<nn::TakeOp>(table, node.cast(bound.value, node.i64()),
                             uint64_t(0));
}

/// 1 where \p x is at least \p limit or, if \p isTieIn is false, above it.
static Value isAbove(NodeContext &node, Value x, double limit, bool isTieIn) {
  return node.cast(
      node.compare(x, node.scalar(node.element(x), limit),
                   isTieIn ? ComparisonDirection::GE : ComparisonDirection::GT),
      node.builder().getI32Type());
}

/// The sum of a number of steps and the sign, which is that of the bits. NaN is
/// above nothing, and gets a sign of its own.
static Value codesOfE2M1(NodeContext &node, Value x) {
  Type i32 = node.builder().getI32Type();
  x = node.cast(x, node.f32());
  if (!x)
    return {};
  Value size = node.op<stablehlo::AbsOp>(x);
  // Halfway between two numbers, the one with an even code is nearer.
  Value code;
  bool isTieIn = false;
  for (double limit : {0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0}) {
    Value step = isAbove(node, size, limit, isTieIn);
    code = code ? node.op<stablehlo::AddOp>(code, step) : step;
    isTieIn = !isTieIn;
  }
  Value bits =
      node.typed<stablehlo::BitcastConvertOp>(node.type(x).clone(i32), x);
  Value isNegative =
      node.compare(bits, node.scalar(i32, 0), ComparisonDirection::LT);
  Value isNan = node.compare(x, x, ComparisonDirection::NE);
  Value sign = node.cast(node.binary<stablehlo::OrOp>(isNegative, isNan), i32);
  Value all = node.binary<stablehlo::AddOp>(
      code, node.binary<stablehlo::MulOp>(sign, node.scalar(i32, 8)));
  return node.cast(all, node.builder().getIntegerType(4, false));
}

/// The exponent of f32, one more if the mantissa rounds up. That of 2^-127, a
/// denormal number, is 0 with half a mantissa.
static Value codesOfE8M0(NodeContext &node, Value x) {
  Type i32 = node.builder().getI32Type();
  x = node.cast(x, node.f32());
  if (!x)
    return {};
  const std::string mode = node.getString("round_mode", "up");
  if (mode != "up" && mode != "down" && mode != "nearest")
    return node.fail("attribute 'round_mode' is not up, down or nearest");
  const bool saturates = node.getBool("saturate", true);
  auto number = [&](int64_t value) {
    return node.scalar(i32, static_cast<double>(value));
  };
  auto masked = [&](Value value, int64_t mask) {
    return node.binary<stablehlo::AndOp>(value, number(mask));
  };
  constexpr int64_t half = 0x400000, largestMantissa = 0x7fffff;
  Value bits =
      node.typed<stablehlo::BitcastConvertOp>(node.type(x).clone(i32), x);
  Value exponent = masked(
      node.binary<stablehlo::ShiftRightLogicalOp>(bits, number(23)), 255);
  Value mantissa = masked(bits, largestMantissa);
  Value isDenormal = node.compare(exponent, number(0), ComparisonDirection::EQ);
  Value code = exponent;
  if (mode != "down") {
    const bool isUp = mode == "up";
    Value least = formats::select(node, isDenormal,
                                  number(isUp ? half + 1 : half * 3 / 2),
                                  number(isUp ? 1 : half));
    code = node.binary<stablehlo::AddOp>(
        code,
        node.cast(node.compare(mantissa, least, ComparisonDirection::GE), i32));
  }
  Value isSpecial;
  if (saturates) {
    code = node.binary<stablehlo::MinOp>(code, number(254));
    isSpecial = node.compare(x, x, ComparisonDirection::NE);
  } else {
    // What is infinite, or below the least number.
    isSpecial = node.binary<stablehlo::OrOp>(
        node.compare(exponent, number(255), ComparisonDirection::EQ),
        node.binary<stablehlo::AndOp>(
            isDenormal,
            node.compare(mantissa, number(half), ComparisonDirection::LT)));
  }
  return node.cast(formats::select(node, isSpecial, number(255), code),
                   node.builder().getIntegerType(8, false));
}

Bound boundOf(Value value, int32_t dataType) {
  return codeTypeOf(dataType) ? Bound::coded(value, dataType) : Bound(value);
}

Value codesOf(NodeContext &node, Value x, int32_t dataType) {
  if (!x)
    return {};
  return dataType == TensorProto::FLOAT4E2M1 ? codesOfE2M1(node, x)
                                             : codesOfE8M0(node, x);
}

LogicalResult codedResult(NodeContext &node, Value codes, int32_t dataType) {
  // Written again, the codes would be integers.
  if (node.readOptions().keepsNodes)
    return node.unsupported("elements of type " + dataTypeName(dataType) +
                            " are not supported");
  if (!codes)
    return failure();
  return node.boundResults({Bound::coded(codes, dataType)});
}

bool movesCodes(StringRef opType) {
  return llvm::StringSwitch<bool>(opType)
      .Cases("Concat", "Expand", "Flatten", "Gather", "GatherElements",
             "GatherND", true)
      .Cases("DepthToSpace", "Reshape", "ReverseSequence", "Shape", "Size",
             "Slice", true)
      .Cases("SpaceToDepth", "Split", "Squeeze", "Tile", "Transpose",
             "Unsqueeze", true)
      .Default(false);
}

} // namespace sinter::onnx
