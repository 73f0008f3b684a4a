// BitCast, Cast, CastLike.

#include "formats/import/Building.h"
#include "formats/import/TextBuilding.h"
#include "formats/onnx/NodeContext.h"
#include "formats/onnx/Operators.h"
#include "formats/onnx/file/DataTypes.h"
#include "formats/onnx/ops/Minifloats.h"
#include "graph/Types.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace sinter::onnx {

/// Casts to another element type. Values out of the range of an 8-bit float
/// saturate, unless attribute `saturate` is 0.
static LogicalResult castTo(NodeContext &node, int64_t dataType) {
  if (llvm::isInt<32>(dataType) && codeTypeOf(static_cast<int32_t>(dataType)))
    return codedResult(node,
                       codesOf(node, numbersOf(node, 0, node.f32()),
                               static_cast<int32_t>(dataType)),
                       static_cast<int32_t>(dataType));
  Type element = node.elementType(dataType);
  Value data =
      isCoded(node, 0) ? numbersOf(node, 0, node.f32()) : node.operand(0);
  if (!element || !data)
    return failure();
  if (isStringType(element) || areStrings(node, data))
    return node.result(castStrings(node, data, element));
  bool narrow = isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 8;
  if (narrow && node.getBool("saturate", true) && node.isFloat(data) &&
      node.element(data).getIntOrFloatBitWidth() > 8)
    data = saturate(node, data, element);
  // The specification does not define casts of out-of-range floats to fewer
  // than 8 bits; ONNX's own test cases keep the lowest bits of the integer.
  if (auto type = dyn_cast<IntegerType>(element);
      type && type.getWidth() > 1 && type.getWidth() < 8 && node.isFloat(data))
    data = node.cast(data, node.builder().getI32Type());
  return node.result(node.cast(data, element));
}

static LogicalResult importCast(NodeContext &node) {
  if (!node.hasAttribute("to"))
    return node.fail("attribute 'to' is missing");
  if (node.version() < 6) {
    std::string name = node.getString("to", "");
    int64_t type = llvm::StringSwitch<int64_t>(name)
                       .Case("FLOAT", TensorProto::FLOAT)
                       .Case("DOUBLE", TensorProto::DOUBLE)
                       .Case("FLOAT16", TensorProto::FLOAT16)
                       .Case("INT8", TensorProto::INT8)
                       .Case("UINT8", TensorProto::UINT8)
                       .Case("INT16", TensorProto::INT16)
                       .Case("UINT16", TensorProto::UINT16)
                       .Case("INT32", TensorProto::INT32)
                       .Case("UINT32", TensorProto::UINT32)
                       .Case("INT64", TensorProto::INT64)
                       .Case("UINT64", TensorProto::UINT64)
                       .Case("BOOL", TensorProto::BOOL)
                       .Case("STRING", TensorProto::STRING)
                       .Default(TensorProto::UNDEFINED);
    return castTo(node, type);
  }
  return castTo(node, node.getInt("to", 0));
}

static LogicalResult importCastLike(NodeContext &node) {
  if (isCoded(node, 1))
    return castTo(node, node.bound(1).dataType);
  auto type = sinter::elementTypeOf(node.element(node.operand(1)));
  auto dataType = type ? onnx::dataTypeOf(*type) : std::nullopt;
  return dataType ? castTo(node, *dataType)
                  : node.unsupported("the element type of the second input");
}

/// The same bits as another element type of the same width; a boolean is a byte
/// that is 0 or 1.
static LogicalResult importBitCast(NodeContext &node) {
  Value data = node.operand(0);
  if (!node.hasAttribute("to"))
    return node.fail("attribute 'to' is missing");
  Type to = node.elementType(node.getInt("to", 0));
  if (!data || !to)
    return failure();
  Type byte = node.builder().getIntegerType(8);
  auto stored = [&](Type type) { return type.isInteger(1) ? byte : type; };
  auto width = [](Type type) -> int64_t {
    if (auto complex = dyn_cast<ComplexType>(type))
      return 2 * complex.getElementType().getIntOrFloatBitWidth();
    return type.getIntOrFloatBitWidth();
  };
  Type from = node.element(data);
  if (isStringType(from) || isStringType(to))
    return node.fail("strings have no bits of one width");
  if (width(stored(from)) != width(stored(to)))
    return node.fail("the element types differ in width");
  if (isa<ComplexType>(from) != isa<ComplexType>(to))
    return node.unsupported("bits of complex numbers as another type");
  if (from == to)
    return node.result(data);
  if (from.isInteger(1))
    data = node.cast(data, byte);
  Value bits = data;
  if (node.element(data) != stored(to))
    bits = node.typed<stablehlo::BitcastConvertOp>(
        node.type(data).clone(stored(to)), data);
  if (to.isInteger(1))
    bits = node.compare(bits, node.scalar(byte, 0),
                        stablehlo::ComparisonDirection::NE);
  return node.result(bits);
}

llvm::ArrayRef<Operator> castOperators() {
  static const Operator table[] = {
      {"BitCast", "", 26, importBitCast, 1, 1},
      {"Cast", "", 1, importCast, 1, 1},
      {"CastLike", "", 15, importCastLike, 2, 2},
  };
  return table;
}

} // namespace sinter::onnx
