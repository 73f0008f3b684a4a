#include "formats/onnx/ops/Inputs.h"

using namespace mlir;

namespace sinter::onnx {

Value scalarInput(NodeContext &node, int64_t input) {
  Value value = node.operand(input);
  return value ? node.reshape(value, ArrayRef<int64_t>()) : value;
}

std::optional<Combine> readCombine(NodeContext &node) {
  std::string word = node.getString("reduction", "none");
  static const std::pair<StringRef, Combine> words[] = {
      {"none", Combine::Replace},
      {"add", Combine::Add},
      {"mul", Combine::Multiply},
      {"max", Combine::Max},
      {"min", Combine::Min}};
  for (auto [name, combine] : words)
    if (name == word)
      return combine;
  return node.fail("attribute 'reduction' is '" + word + "'");
}

std::optional<int64_t> listLength(NodeContext &node, Value list,
                                  StringRef name) {
  if (!list || node.rank(list) != 1 || node.size(list, 0) > mostDimensions)
    return node.fail("input '" + name + "' is not a list of sizes");
  if (!node.isStatic(list))
    return node.unknown("the length of input '" + name + "' is unknown");
  return node.size(list, 0);
}

} // namespace sinter::onnx
