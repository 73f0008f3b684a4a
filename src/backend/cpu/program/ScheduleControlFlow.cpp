//===- ScheduleControlFlow.cpp - the steps of branches and loops ----------===//

#include "backend/cpu/ir/LayerName.h"
#include "backend/cpu/program/Scheduler.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

Result<void> Scheduler::scheduleBranch(Block &block, ArrayRef<Id> results,
                                       std::vector<Step> &steps) {
  OperandRange returned = block.getTerminator()->getOperands();
  for (auto [value, slot] : llvm::zip(returned, results))
    slots.claim(value, block, slot);
  if (Result<void> done = scheduleBlock(block, steps); !done)
    return done;
  for (auto [value, slot] : llvm::zip(returned, results))
    if (Result<void> done = copy(value, slot, steps); !done)
      return done;
  return {};
}

Result<void> Scheduler::inBody(DynamicStep &step,
                               llvm::function_ref<Result<void>()> schedule) {
  std::vector<DynamicStep> body;
  std::vector<DynamicStep> *outer = dynamic ? dynamic->enter(&body) : nullptr;
  Result<void> done = schedule();
  if (dynamic) {
    dynamic->enter(outer);
    step.bodies.push_back(std::move(body));
  }
  return done;
}

Result<void> Scheduler::scheduleBranches(Operation *op,
                                         std::vector<Step> &steps) {
  Step step;
  step.kind = StepKind::If;
  step.op = op->getName().stripDialect().str();
  step.layer = layerOf(op->getLoc());
  step.selector = isa<stablehlo::IfOp>(op) ? ElementType::I1 : ElementType::I32;
  Result<Id> selector = slots.find(op->getOperand(0));
  if (!selector)
    return selector.takeError();
  step.buffers = {reference(*selector, BufferAccess::In)};
  plan.tick();
  SmallVector<Id> results;
  for (Value result : op->getResults()) {
    results.push_back(slots.create(result));
    plan.touch(results.back());
  }
  DynamicStep dynamicStep;
  for (Region &region : op->getRegions()) {
    std::vector<Step> &body = step.bodies.emplace_back();
    if (Result<void> done = inBody(
            dynamicStep,
            [&] { return scheduleBranch(region.front(), results, body); });
        !done)
      return done;
    if (dynamic)
      dynamicStep.fits.push_back(
          dynamic->differencesOf(op, region.front().getTerminator()));
  }
  for (Id slot : results)
    plan.touch(slot);
  if (dynamic)
    dynamic->addStep(std::move(dynamicStep));
  add(std::move(step), steps);
  return {};
}

/// Several loops may run at once.
Result<void> Scheduler::scheduleLoops(ArrayRef<stablehlo::WhileOp> loops,
                                      std::vector<Step> &steps) {
  if (loops.size() == 1)
    return scheduleLoop(loops.front(), steps);
  Step step;
  step.kind = StepKind::Concurrent;
  step.op = "concurrent";
  DynamicStep dynamicStep;
  plan.beginConcurrent();
  for (stablehlo::WhileOp loop : loops) {
    std::vector<Step> &body = step.bodies.emplace_back();
    if (Result<void> done =
            inBody(dynamicStep, [&] { return scheduleLoop(loop, body); });
        !done)
      return done;
  }
  plan.endConcurrent();
  if (dynamic)
    dynamic->addStep(std::move(dynamicStep));
  add(std::move(step), steps);
  return {};
}

Result<void> Scheduler::scheduleLoop(stablehlo::WhileOp op,
                                     std::vector<Step> &steps) {
  Block &condition = op.getCond().front(), &body = op.getBody().front();
  SmallVector<Id> carried;
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    carried.push_back(slots.create(op->getResult(i)));
    if (Result<void> done = copy(operand, carried.back(), steps); !done)
      return done;
    slots.assign(condition.getArgument(i), carried.back());
    slots.assign(body.getArgument(i), carried.back());
  }
  Step step;
  step.kind = StepKind::While;
  step.op = "while";
  step.layer = layerOf(op.getLoc());
  step.bodies.resize(2);
  DynamicStep dynamicStep;
  dynamicStep.bodies.resize(2);
  plan.tick();
  plan.beginLoop();
  std::vector<DynamicStep> *outer =
      dynamic ? dynamic->enter(&dynamicStep.bodies[0]) : nullptr;
  if (Result<void> done = scheduleBlock(condition, step.bodies[0]); !done)
    return done;
  if (dynamic)
    dynamic->enter(&dynamicStep.bodies[1]);
  Result<Id> again = slots.find(condition.getTerminator()->getOperand(0));
  if (!again)
    return again.takeError();
  step.buffers = {reference(*again, BufferAccess::In)};
  plan.tick();
  OperandRange returned = body.getTerminator()->getOperands();
  for (auto [i, value] : llvm::enumerate(returned))
    slots.claimUpdate(value, body.getArgument(i), carried[i]);
  if (Result<void> done = scheduleBlock(body, step.bodies[1]); !done)
    return done;
  if (Result<void> done =
          carry(llvm::to_vector(returned), carried, step.bodies[1]);
      !done)
    return done;
  for (Id slot : carried)
    plan.touch(slot);
  plan.endLoop();
  if (dynamic) {
    dynamic->enter(outer);
    dynamic->addStep(std::move(dynamicStep));
  }
  add(std::move(step), steps);
  return {};
}
