// Unique: distinct elements, or distinct slices along an axis.

#include "formats/import/Unique.h"
#include "formats/onnx/NodeContext.h"
#include "formats/onnx/Operators.h"

using namespace mlir;

namespace sinter::onnx {

static LogicalResult importUnique(NodeContext &node) {
  std::optional<int64_t> axis;
  if (node.hasAttribute("axis"))
    axis = node.getInt("axis", 0);
  auto found =
      uniqueSlices(node, node.operand(0), axis, node.getBool("sorted", true));
  if (!found)
    return failure();
  return node.results(
      {found->slices, found->first, found->inverse, found->counts});
}

llvm::ArrayRef<Operator> uniqueOperators() {
  static const Operator table[] = {
      {"Unique", "", 11, importUnique, 1, 1, false, true},
  };
  return table;
}

} // namespace sinter::onnx
