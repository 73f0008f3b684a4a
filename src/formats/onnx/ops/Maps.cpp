// Maps of ai.onnx.ml: ZipMap.

#include "formats/onnx/Operators.h"
#include "formats/onnx/ops/ClassicalScores.h"

using namespace mlir;

namespace sinter::onnx {

/// A map a row, from the labels to the row's elements. There are no maps in the
/// graph: what runs gives the rows, whose columns are in the order of the
/// labels. A file that is written again keeps the node.
static LogicalResult importZipMap(NodeContext &node) {
  Value x = rowsOf(node, node.operand(0), /*narrows=*/true);
  const auto labels = readLabels(node, "classlabels_int64s");
  if (!x || !labels)
    return failure();
  const int64_t width = node.size(x, 1);
  if (!ShapedType::isDynamic(width) && width != labels->size())
    return node.fail("there are " + Twine(labels->size()) + " labels for " +
                     Twine(width) + " columns");
  if (node.readOptions().keepsNodes)
    return node.unsupported("maps");
  return node.result(x);
}

llvm::ArrayRef<Operator> mapOperators() {
  static const Operator table[] = {
      {"ZipMap", mlDomain, 1, importZipMap, 1, 1},
  };
  return table;
}

} // namespace sinter::onnx
