#include "backend/cpu/ir/TreeOps.h"

#include "graph/Types.h"
#include "graph/nn/TreeWalk.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

#define GET_OP_CLASSES
#include "backend/cpu/ir/TreeOps.cpp.inc"

namespace sinter::cpu {

nn::TreeLayout TreeEnsembleOp::layout() {
  nn::TreeLayout layout;
  layout.isWide = getWide();
  layout.hasRows = getRows();
  layout.knowsNaN = getKnowsNan();
  layout.hasEqual = getHasEqual();
  layout.featureBits = static_cast<unsigned>(getFeatureBits());
  layout.depth = static_cast<int64_t>(getDepth());
  return layout;
}

LogicalResult TreeEnsembleOp::verify() {
  auto operand = tensorOf(getOperand()), result = tensorOf(getResult());
  auto isVector = [](Value value, unsigned width) {
    auto type = tensorOf(value);
    return type.getRank() == 1 &&
           type.getElementType().isSignlessInteger(width);
  };
  const Type element = operand.getElementType();
  if (operand.getRank() != 2 || result.getRank() != 2 ||
      result.getElementType() != element ||
      (!element.isF32() && !element.isF64()) || result.isDynamicDim(1))
    return emitOpError("operand and result are not [N, features] and [N, "
                       "targets] of f32 or f64");
  if (!isVector(getNodes(), 64) || !isVector(getRoots(), 32))
    return emitOpError("nodes and roots are not vectors of i64 and i32");
  if (element.isF64() && !getWide())
    return emitOpError("nodes for f64 are not wide");
  const int64_t segments = getRows() ? 1 : result.getDimSize(1);
  ArrayRef<int32_t> starts = getStarts();
  if (static_cast<int64_t>(starts.size()) != segments + 1 || starts[0] != 0 ||
      !llvm::is_sorted(starts))
    return emitOpError("starts does not ascend from 0, with one element a "
                       "target and one more");
  if (tensorOf(getRoots()).getDimSize(0) !=
      trees() + static_cast<int64_t>(starts.size()))
    return emitOpError("roots are not as many as trees and starts");
  if (bool(getWeights()) != getRows())
    return emitOpError("there are weights without rows, or rows without");
  return success();
}

FailureOr<SmallVector<Value>> TreeEnsembleOp::decompose(OpBuilder &builder) {
  nn::TensorBuilder emit(builder, getLoc());
  nn::TreeWalk walk{layout(), getAggregate(),
                    tensorOf(getResult()).getDimSize(1)};
  walk.nodes = getNodes();
  walk.roots = emit.slice(getRoots(), 0, nn::Size(0), nn::Size(trees()));
  if (getRows())
    walk.weights = emit.convert(getWeights(), builder.getF64Type());
  const SmallVector<int64_t> starts(getStarts());
  walk.targetStarts = starts;
  return SmallVector<Value>{emit.convert(
      walk.build(emit, getOperand()), tensorOf(getResult()).getElementType())};
}

} // namespace sinter::cpu
