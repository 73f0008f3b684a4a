// Constants, ranges, and Identity.

#include "graph/Constants.h"
#include "formats/import/Filling.h"
#include "formats/onnx/Operators.h"
#include "formats/onnx/file/DataTypes.h"
#include "formats/onnx/ops/Inputs.h"
#include "formats/onnx/ops/Minifloats.h"
#include "graph/Literals.h"
#include "runtime/Strings.h"

using namespace mlir;

namespace sinter::onnx {

/// A constant under the name of the node's output.
static Value constantOf(NodeContext &node, const Tensor &tensor) {
  StringRef name = node.wants(0) ? StringRef(node.proto.output(0)) : "";
  return node.importer.makeInitializer(tensor, name);
}

/// Returns a constant from the node's attributes.
static LogicalResult giveConstant(NodeContext &node, const Tensor &tensor) {
  Value value = constantOf(node, tensor);
  setLiteral(value.getDefiningOp());
  return node.result(value);
}

template <typename T, typename List>
static Tensor tensorOf(ElementType type, const List &list, bool isScalar) {
  std::vector<T> values(list.begin(), list.end());
  Shape shape;
  if (!isScalar)
    shape.push_back(values.size());
  return Tensor::of<T>(type, shape, values);
}

/// The node has exactly one of the attributes that hold the value.
static LogicalResult importConstant(NodeContext &node) {
  if (codeTypeOf(node.dataTypeOf("value"))) {
    node.allowCodes();
    auto tensor = node.getTensor("value");
    return tensor ? codedResult(node, constantOf(node, *tensor),
                                node.dataTypeOf("value"))
                  : failure();
  }
  if (node.hasAttribute("value") || node.hasAttribute("sparse_value")) {
    auto tensor =
        node.getTensor(node.hasAttribute("value") ? "value" : "sparse_value");
    return tensor ? giveConstant(node, *tensor) : failure();
  }
  if (node.hasAttribute("value_float"))
    return giveConstant(
        node, tensorOf<float>(ElementType::F32,
                              ArrayRef(node.getFloat("value_float", 0)), true));
  if (node.hasAttribute("value_floats"))
    return giveConstant(node,
                        tensorOf<float>(ElementType::F32,
                                        node.getFloats("value_floats"), false));
  if (node.hasAttribute("value_int"))
    return giveConstant(
        node, tensorOf<int64_t>(ElementType::I64,
                                ArrayRef(node.getInt("value_int", 0)), true));
  if (node.hasAttribute("value_ints"))
    return giveConstant(
        node,
        tensorOf<int64_t>(ElementType::I64, node.getInts("value_ints"), false));
  if (node.hasAttribute("value_string")) {
    const std::string text[] = {node.getString("value_string", "")};
    return giveConstant(node,
                        stringTensor({}, std::span<const std::string>(text)));
  }
  if (node.hasAttribute("value_strings")) {
    const std::vector<std::string> texts = node.getStrings("value_strings");
    return giveConstant(node,
                        stringTensor({static_cast<int64_t>(texts.size())},
                                     std::span<const std::string>(texts)));
  }
  return node.fail("has no attribute that gives the value");
}

/// A tensor whose shape is an input, filled with one value.
static LogicalResult importConstantOfShape(NodeContext &node) {
  Value filler;
  if (auto value = node.getTensor("value")) {
    if (value->size() != 1)
      return node.fail("attribute 'value' has not one element");
    filler = node.constant(value->reshaped({}));
  } else {
    filler = node.scalar(node.f32(), 0);
  }
  Value shape = node.operand(0);
  if (!listLength(node, shape, "input"))
    return failure();
  return node.result(filled(node, filler, shape));
}

static LogicalResult importRange(NodeContext &node) {
  Value start = scalarInput(node, 0), limit = scalarInput(node, 1),
        delta = scalarInput(node, 2);
  if (!start || !limit || !delta)
    return failure();
  return node.result(range(node, start, limit, delta));
}

/// Whether \p tensor has several (or possibly several) elements that are all
/// equal: a parameter of an untrained network.
static bool isUntrainedParameter(const Tensor &tensor) {
  if (tensor.size() == 0)
    return false;
  const size_t width = byteSize(tensor.type());
  for (int64_t i = 1; i < tensor.size(); ++i)
    if (std::memcmp(tensor.data(), tensor.data() + i * width, width) != 0)
      return false;
  return true;
}

/// Whether an Identity node of an initializer represents a separate parameter,
/// which training updates separately. PyTorch writes parameters with equal
/// elements once and the others as Identity of the first: the scales of all
/// norms before training, or layers that were copied. It writes tied parameters
/// as one initializer, without a node. Other exporters may tie by Identity, so
/// for these only tensors whose elements are all equal count as separate.
static bool isSeparateParameter(NodeContext &node, const Tensor &tensor) {
  return tensor.rank() != 0 && isFloat(tensor.type()) &&
         (node.importer.file.model().producer_name() == "pytorch" ||
          isUntrainedParameter(tensor));
}

static LogicalResult importIdentity(NodeContext &node) {
  const Bound &given = node.bound(0);
  if (given.kind == Bound::Tensor && given.value &&
      !constantName(given.value).empty() &&
      !isLiteral(given.value.getDefiningOp()))
    if (auto tensor = constantTensor(given.value);
        tensor && isSeparateParameter(node, *tensor))
      return node.result(constantOf(node, *tensor));
  return node.boundResults({given});
}

llvm::ArrayRef<Operator> constantOperators() {
  static const Operator table[] = {
      {"Constant", "", 1, importConstant, 0, 0},
      {"ConstantOfShape", "", 9, importConstantOfShape, 1, 1},
      {"Identity", "", 1, importIdentity, 1, 1, true},
      {"Range", "", 11, importRange, 3, 3},
  };
  return table;
}

} // namespace sinter::onnx
