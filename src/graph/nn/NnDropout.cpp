#include "graph/nn/NnDropout.h"

#include "graph/nn/Wide.h"

using namespace mlir;
using namespace sinter;

#define GET_OP_CLASSES
#include "graph/nn/NnDropout.cpp.inc"

namespace sinter::nn {

LogicalResult DropoutOp::verify() {
  const double ratio = getRatio().convertToDouble();
  if (!(ratio >= 0 && ratio <= 1))
    return emitOpError("ratio is ") << ratio << ", not from 0 to 1";
  return success();
}

FailureOr<SmallVector<Value>> DropoutOp::decompose(OpBuilder &builder) {
  if (!getMask())
    return SmallVector<Value>{getOperand()};
  if (auto wide = decomposeInF32(*this, builder))
    return *wide;
  TensorBuilder emit(builder, getLoc());
  Value x = getOperand();
  emit.setShape(x);
  Value kept = emit.div(x, 1 - getRatio().convertToDouble());
  return SmallVector<Value>{emit.select(getMask(), kept, emit.splatLike(0, x))};
}

} // namespace sinter::nn
