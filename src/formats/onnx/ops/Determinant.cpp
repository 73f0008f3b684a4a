// Det.

#include "formats/import/Building.h"
#include "formats/onnx/NodeContext.h"
#include "formats/onnx/Operators.h"
#include "llvm/ADT/bit.h"

using namespace mlir;

namespace sinter::onnx {

/// Laplace's expansion by rows, from the last one up: the minor of rows k...
/// and each set of as many columns is computed once, 2^n in all.
static LogicalResult importDet(NodeContext &node) {
  Value x = node.operand(0);
  if (!x)
    return failure();
  int64_t rank = node.rank(x);
  if (rank < 2)
    return node.fail("the input is no matrix");
  int64_t n = node.size(x, rank - 1);
  if (n != node.size(x, rank - 2))
    return node.fail("the matrices are not square");
  constexpr int64_t largest = 8;
  if (ShapedType::isDynamic(n) || n < 1 || n > largest)
    return node.unsupported("matrices of more than " + Twine(largest) +
                            " rows, or of unknown size");
  auto entry = [&](int64_t row, int64_t column) {
    Value line = node.sliceAxis(x, rank - 2, row, row + 1);
    return node.squeeze(node.sliceAxis(line, rank - 1, column, column + 1),
                        {rank - 2, rank - 1});
  };
  std::vector<Value> minors(size_t(1) << n);
  for (uint32_t columns = 1; columns < minors.size(); ++columns) {
    int64_t row = n - llvm::popcount(columns), sign = 0;
    Value minor;
    for (int64_t column = 0; column < n && !node.failed(); ++column) {
      uint32_t bit = 1u << column;
      if (!(columns & bit))
        continue;
      Value term = entry(row, column);
      if (columns != bit)
        term = node.op<stablehlo::MulOp>(term, minors[columns & ~bit]);
      if (!minor)
        minor = term;
      else if (sign % 2 == 1)
        minor = node.op<stablehlo::SubtractOp>(minor, term);
      else
        minor = node.op<stablehlo::AddOp>(minor, term);
      ++sign;
    }
    minors[columns] = minor;
  }
  return node.result(minors.back());
}

llvm::ArrayRef<Operator> determinantOperators() {
  static const Operator table[] = {
      {"Det", "", 11, importDet, 1, 1},
  };
  return table;
}

} // namespace sinter::onnx
