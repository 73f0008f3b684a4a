// ImageDecoder.

#include "formats/onnx/NodeContext.h"
#include "formats/onnx/Operators.h"
#include "runtime/ImagePixels.h"

using namespace mlir;

namespace sinter::onnx {

static LogicalResult importImageDecoder(NodeContext &node) {
  Value bytes = node.operand(0);
  const std::string name = node.getString("pixel_format", "RGB");
  const std::optional<ImageChannels> format = pixelFormatOf(name);
  if (!format)
    return node.fail("attribute 'pixel_format' is not RGB, BGR or Grayscale");
  if (node.rank(bytes) != 1 || !node.element(bytes).isUnsignedInteger(8))
    return node.fail("the input is no vector of bytes");
  const int64_t channels = *format == ImageChannels::Gray ? 1 : 3;
  NamedAttrList attributes;
  attributes.set("call_target_name",
                 node.builder().getStringAttr("sinter.decode_image"));
  attributes.set("backend_config", node.builder().getStringAttr(name));
  attributes.set("has_side_effect", node.builder().getBoolAttr(false));
  OperationState state(node.location(),
                       stablehlo::CustomCallOp::getOperationName());
  state.addOperands(bytes);
  state.addTypes(
      node.tensorType({ShapedType::kDynamic, ShapedType::kDynamic, channels},
                      node.element(bytes)));
  state.addAttributes(attributes);
  Operation *op = node.create(state);
  return op ? node.result(op->getResult(0)) : failure();
}

llvm::ArrayRef<Operator> imageOperators() {
  static const Operator table[] = {
      {"ImageDecoder", "", 20, importImageDecoder, 1, 1, false, true},
  };
  return table;
}

} // namespace sinter::onnx
