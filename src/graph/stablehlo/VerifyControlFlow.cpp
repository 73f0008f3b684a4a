// Constraints of branches, loops and asynchronous operations.

#include "graph/stablehlo/Verify.h"

using namespace mlir;

namespace sinter::stablehlo {

/// Checks that a branch has no arguments and returns the op's result types.
static LogicalResult verifyBranch(Operation *op, Region &region,
                                  StringRef inputLabel, StringRef sameLabel,
                                  StringRef resultLabel) {
  if (region.front().getNumArguments())
    return op->emitOpError(inputLabel) << " a branch takes arguments";
  TypeRange returned = returnedTypes(region),
            first = returnedTypes(op->getRegion(0));
  // Static sizes in the branches may differ where the result's are dynamic.
  const bool isDynamic = compatibleTypes(returned, op->getResultTypes()) &&
                         compatibleTypes(first, op->getResultTypes());
  if (!isDynamic && !compatibleTypes(returned, first))
    return op->emitOpError(sameLabel) << " the branches return different types";
  if (!compatibleTypes(returned, op->getResultTypes()))
    return op->emitOpError(resultLabel)
           << " a branch does not return the results' types";
  return success();
}

LogicalResult IfOp::verify() {
  for (Region *branch : {&getTrueBranch(), &getFalseBranch()})
    if (failed(verifyBranch(*this, *branch, "(C1)", "(C2)", "(C3)")))
      return failure();
  return success();
}

LogicalResult CaseOp::verify() {
  if (getBranches().empty())
    return emitOpError("(C1) has no branches");
  for (Region &branch : getBranches())
    if (failed(verifyBranch(*this, branch, "(C2)", "(C3)", "(C4)")))
      return failure();
  return success();
}

LogicalResult WhileOp::verify() {
  if (!compatibleTypes(getOperandTypes(), getResultTypes()))
    return emitOpError("(C3) results differ from operands in type");
  if (!compatibleTypes(getCond().front().getArgumentTypes(), getOperandTypes()))
    return emitOpError("(C1) the condition does not take the operands' types");
  TypeRange condition = returnedTypes(getCond());
  if (condition.size() != 1 ||
      condition[0] !=
          RankedTensorType::get({}, IntegerType::get(getContext(), 1)))
    return emitOpError("(C1) the condition does not return tensor<i1>");
  if (!compatibleTypes(getBody().front().getArgumentTypes(), getOperandTypes()))
    return emitOpError("(C2) the body does not take the operands' types");
  if (!compatibleTypes(returnedTypes(getBody()), getOperandTypes()))
    return emitOpError("(C2) the body does not return the operands' types");
  return success();
}

LogicalResult AsyncStartOp::verify() {
  Block &block = getBody().front();
  auto inner = block.without_terminator();
  if (std::distance(inner.begin(), inner.end()) != 1)
    return emitOpError("(C1) the region is not one operation and a return");
  Operation &op = *inner.begin();
  if (!isa<AllReduceOp, AllGatherOp, AllToAllOp, CollectivePermuteOp,
           ReduceScatterOp, CollectiveBroadcastOp, CollectiveReduceOp, SliceOp,
           DynamicSliceOp, DynamicUpdateSliceOp>(op))
    return emitOpError("(C2) starts ")
           << op.getName() << ", which is neither a collective nor a slice";
  if (!compatibleTypes(block.getArgumentTypes(), getOperandTypes()) ||
      !llvm::equal(op.getOperands(), block.getArguments()))
    return emitOpError("(C3) the operation does not take the operands");
  if (block.back().getOperands() != op.getResults())
    return emitOpError("(C4) the region does not return the operation's "
                       "results");
  return success();
}

} // namespace sinter::stablehlo
