// Cast, CastLike.

#include "formats/import/Building.h"
#include "formats/onnx/NodeContext.h"
#include "formats/onnx/Operators.h"

using namespace mlir;

namespace sinter::onnx {

/// Casts to another element type. Values out of the range of an 8-bit float
/// saturate, unless attribute `saturate` is 0.
static LogicalResult castTo(NodeContext &node, Type element) {
  Value data = node.operand(0);
  if (!element)
    return failure();
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
                       .Default(TensorProto::STRING);
    return castTo(node, node.elementType(type));
  }
  return castTo(node, node.elementType(node.getInt("to", 0)));
}

static LogicalResult importCastLike(NodeContext &node) {
  return castTo(node, node.element(node.operand(1)));
}

llvm::ArrayRef<Operator> castOperators() {
  static const Operator table[] = {
      {"Cast", "", 1, importCast, 1, 1},
      {"CastLike", "", 15, importCastLike, 2, 2},
  };
  return table;
}

} // namespace sinter::onnx
