// Constraints of branches, loops and calls.

#include "graph/stablehlo/Verify.h"

using namespace mlir;

namespace sinter::stablehlo {

static LogicalResult verifyBranch(Operation *op, Region &region) {
  Block &block = region.front();
  if (block.getNumArguments())
    return op->emitOpError("(C1) a branch takes arguments");
  if (block.empty() || !isa<ReturnOp>(block.back()) ||
      !compatibleTypes(block.back().getOperandTypes(), op->getResultTypes()))
    return op->emitOpError("(C2, C3) a branch does not return the results' "
                           "types");
  return success();
}

LogicalResult IfOp::verify() {
  return failure(failed(verifyBranch(*this, getTrueBranch())) ||
                 failed(verifyBranch(*this, getFalseBranch())));
}

LogicalResult CaseOp::verify() {
  if (getBranches().empty())
    return emitOpError("(C1) has no branches");
  for (Region &branch : getBranches())
    if (failed(verifyBranch(*this, branch)))
      return failure();
  return success();
}

LogicalResult WhileOp::verify() {
  if (!compatibleTypes(getOperandTypes(), getResultTypes()))
    return emitOpError("(C3) results differ from operands in type");
  for (Region *region : {&getCond(), &getBody()})
    if (!compatibleTypes(region->front().getArgumentTypes(),
                         getOperandTypes()) ||
        region->front().empty() || !isa<ReturnOp>(region->front().back()))
      return emitOpError("(C1, C2) a region does not take the operands' types "
                         "or does not return");
  TypeRange condition = getCond().front().back().getOperandTypes();
  if (condition.size() != 1 ||
      condition[0] !=
          RankedTensorType::get({}, IntegerType::get(getContext(), 1)))
    return emitOpError("(C1) the condition does not return tensor<i1>");
  if (!compatibleTypes(getBody().front().back().getOperandTypes(),
                       getOperandTypes()))
    return emitOpError("(C2) the body does not return the operands' types");
  return success();
}

LogicalResult AsyncStartOp::verify() {
  Block &block = getBody().front();
  if (!compatibleTypes(block.getArgumentTypes(), getOperandTypes()))
    return emitOpError("(C3) the region does not take the operands' types");
  return success();
}

} // namespace sinter::stablehlo
