#include "passes/WidenFloats.h"

#include "graph/Model.h"
#include "graph/stablehlo/StablehloOps.h"

using namespace mlir;

namespace sinter {

static bool isOfF32(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getElementType().isF32();
}

static Type widened(Type type) {
  return isOfF32(type) ? cast<RankedTensorType>(type).clone(
                             Float64Type::get(type.getContext()))
                       : type;
}

/// Makes the users of \p value use it in f64.
static void convertForUsers(Value value, OpBuilder &builder) {
  if (!isOfF32(value.getType()) || value.use_empty())
    return;
  auto wide = builder.create<stablehlo::ConvertOp>(
      value.getLoc(), widened(value.getType()), value);
  value.replaceAllUsesExcept(wide, wide);
}

static void widenResults(Operation *op) {
  if (isa<stablehlo::ConstantOp>(op)) {
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    convertForUsers(op->getResult(0), builder);
    return;
  }
  for (Value result : op->getResults())
    result.setType(widened(result.getType()));
}

bool widenFloats(ModuleOp module) {
  func::FuncOp entry = entryOf(module);
  if (!entry || module
                    .walk([](stablehlo::BitcastConvertOp op) {
                      return isOfF32(op.getOperand().getType()) ||
                                     isOfF32(op.getResult().getType())
                                 ? WalkResult::interrupt()
                                 : WalkResult::advance();
                    })
                    .wasInterrupted())
    return false;
  Block &body = entry.front();
  SmallVector<Operation *> ops;
  module.walk([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops) {
    for (Region &region : op->getRegions())
      for (Block &block : region)
        if (&block != &body)
          for (BlockArgument argument : block.getArguments())
            argument.setType(widened(argument.getType()));
    widenResults(op);
  }
  OpBuilder builder = OpBuilder::atBlockBegin(&body);
  for (BlockArgument argument : body.getArguments())
    convertForUsers(argument, builder);
  module.walk([](func::FuncOp function) {
    if (!function.isExternal())
      function.setFunctionType(FunctionType::get(
          function.getContext(), function.front().getArgumentTypes(),
          function.front().getTerminator()->getOperandTypes()));
  });
  return true;
}

} // namespace sinter
