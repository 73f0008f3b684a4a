// What moves elements: concat, transpose, reshape, squeeze.

#include "formats/paddle/OperatorContext.h"
#include "formats/paddle/Operators.h"

using namespace mlir;

namespace sinter::paddle {

static LogicalResult importConcat(OperatorContext &op) {
  Values parts = op.operands("X");
  auto place = op.integersFrom({"AxisTensor"}, "axis");
  if (parts.empty() || !place || op.failed())
    return failure();
  auto axis = op.axis(place->empty() ? 0 : place->front(), op.rank(parts[0]));
  if (!axis)
    return failure();
  return op.result("Out", op.concatenate(parts, *axis));
}

static LogicalResult importTranspose(OperatorContext &op) {
  Value x = op.operand("X");
  Ints order = op.getInts("axis");
  if (!x || op.failed())
    return failure();
  for (int64_t &each : order)
    each += each < 0 ? op.rank(x) : 0;
  return op.result("Out", op.transpose(x, order));
}

static LogicalResult importSqueeze(OperatorContext &op) {
  Value x = op.operand("X");
  auto list = op.integersFrom({"AxesTensorList", "AxesTensor"}, "axes");
  if (!x || !list)
    return failure();
  auto axes = op.axes(*list, op.rank(x));
  if (!axes)
    return failure();
  // Without a list, all that have one element; else those of the list.
  const bool isAll = axes->empty();
  Ints gone;
  for (int64_t i = 0; i < op.rank(x); ++i)
    if (op.shape(x)[i] == 1 && (isAll || llvm::is_contained(*axes, i)))
      gone.push_back(i);
    else if (ShapedType::isDynamic(op.shape(x)[i]) &&
             (isAll || llvm::is_contained(*axes, i)))
      return op.unknown("whether dimension " + Twine(i) +
                        " has one element is known only at run time");
  return op.result("Out", op.squeeze(x, gone));
}

OperatorReaders movementReaders() {
  static const OperatorReader table[] = {
      {"concat", importConcat},        {"squeeze", importSqueeze},
      {"squeeze2", importSqueeze},     {"transpose", importTranspose},
      {"transpose2", importTranspose},
  };
  return table;
}

} // namespace sinter::paddle
