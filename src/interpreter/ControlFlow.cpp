//===- ControlFlow.cpp - choosing and repeating regions -------------------===//

#include "graph/stablehlo/StablehloOps.h"
#include "interpreter/Evaluation.h"

namespace sinter::interpreter {

static Result<Tensors> evaluateIf(const Call &call) {
  auto op = call.as<stablehlo::IfOp>();
  const bool holds = call[0].at<uint8_t>(0) != 0;
  return runRegion(holds ? op.getTrueBranch() : op.getFalseBranch(), {},
                   call.scope);
}

static Result<Tensors> evaluateCase(const Call &call) {
  auto branches = call.as<stablehlo::CaseOp>().getBranches();
  const auto count = static_cast<int64_t>(branches.size());
  int64_t index = call[0].at<int32_t>(0);
  if (index < 0 || index >= count)
    index = count - 1;
  return runRegion(branches[index], {}, call.scope);
}

static Result<Tensors> evaluateWhile(const Call &call) {
  auto op = call.as<stablehlo::WhileOp>();
  Tensors values(call.operands.begin(), call.operands.end());
  while (true) {
    Result<Tensors> condition = runRegion(op.getCond(), values, call.scope);
    if (!condition)
      return condition;
    if (condition->front().at<uint8_t>(0) == 0)
      return values;
    uint64_t &left = environmentOf(call).roundsLeft;
    if (left == 0)
      return unsupported("the loop takes too many rounds");
    --left;
    Result<Tensors> next =
        runRegion(op.getBody(), std::move(values), call.scope);
    if (!next)
      return next;
    values = std::move(*next);
  }
}

void registerControlFlow(Registry &registry) {
  registry.add<stablehlo::IfOp>(evaluateIf);
  registry.add<stablehlo::CaseOp>(evaluateCase);
  registry.add<stablehlo::WhileOp>(evaluateWhile);
}

} // namespace sinter::interpreter
