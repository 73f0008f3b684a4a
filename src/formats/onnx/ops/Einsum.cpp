// Einsum: contractions over labelled dimensions.

#include "formats/import/Einsum.h"
#include "formats/onnx/NodeContext.h"
#include "formats/onnx/Operators.h"

using namespace mlir;

namespace sinter::onnx {

static LogicalResult importEinsum(NodeContext &node) {
  return node.result(
      einsum(node, node.getString("equation", ""), node.operands()));
}

llvm::ArrayRef<Operator> einsumOperators() {
  static const Operator table[] = {
      {"Einsum", "", 12, importEinsum, 1, anyNumber},
  };
  return table;
}

} // namespace sinter::onnx
