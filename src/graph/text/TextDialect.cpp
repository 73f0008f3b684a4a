#include "graph/text/TextOps.h"

#include "graph/Quantization.h"
#include "graph/interfaces/Axes.h"
#include "graph/nn/NnOps.h"

#include "mlir/IR/DialectImplementation.h"
#include "runtime/StringFunctions.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::text;

#include "graph/text/TextDialect.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "graph/text/TextTypes.cpp.inc"

#define GET_OP_CLASSES
#include "graph/text/TextOps.cpp.inc"

void TextDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "graph/text/TextTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "graph/text/TextOps.cpp.inc"
      >();
  attachAxes(getContext());
}

bool text::takesStrings(Operation *op) {
  if (auto compare = dyn_cast<stablehlo::CompareOp>(op)) {
    const auto direction = compare.getComparisonDirection();
    return direction == stablehlo::ComparisonDirection::EQ ||
           direction == stablehlo::ComparisonDirection::NE;
  }
  // Handles mean something in this process only, and are not made of bits.
  if (isa<stablehlo::BitcastConvertOp, stablehlo::InfeedOp,
          stablehlo::OutfeedOp, stablehlo::SendOp, stablehlo::RecvOp,
          stablehlo::AllGatherOp, stablehlo::AllToAllOp,
          stablehlo::CollectivePermuteOp, stablehlo::CollectiveBroadcastOp,
          stablehlo::AllReduceOp, stablehlo::ReduceScatterOp,
          stablehlo::CollectiveReduceOp>(op))
    return false;
  return takesStorage(op) || isa<nn::ShapeOp>(op) ||
         isa<TextDialect>(op->getDialect());
}

LogicalResult FullMatchOp::verify() {
  if (Result<StringPattern> good = StringPattern::of(getPattern()); !good)
    return emitOpError(good.error().message());
  return success();
}

LogicalResult FindOp::verify() {
  if (failed(verifyCompatibleShape(getOperand().getType(), getType())))
    return emitOpError("expects a result of the operand's shape");
  return success();
}

LogicalResult SplitOp::verify() {
  auto operand = tensorOf(getOperand()), parts = tensorOf(getParts());
  if (failed(verifyCompatibleShape(operand, getCounts().getType())))
    return emitOpError("expects as many counts as texts");
  if (parts.getRank() != operand.getRank() + 1 ||
      failed(verifyCompatibleShape(operand.getShape(),
                                   parts.getShape().drop_back())))
    return emitOpError("expects parts of the operand's shape with a last "
                       "dimension");
  if (IntegerAttr most = getMostAttr(); most && most.getInt() < 0)
    return emitOpError("expects `most` to be no less than 0");
  return success();
}
