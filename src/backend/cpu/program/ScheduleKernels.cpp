//===- ScheduleKernels.cpp - the steps of kernels -------------------------===//

#include "backend/cpu/emit/RootKernels.h"
#include "backend/cpu/ir/LayerName.h"
#include "backend/cpu/ir/OperationKind.h"
#include "backend/cpu/kernels/conv/Winograd.h"
#include "backend/cpu/program/Scheduler.h"
#include "graph/Types.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

/// Whose ceiling the arithmetic of \p kernel has.
static ElementType arithmeticOf(KernelOp kernel, StringRef name) {
  Operation *heavy = kernel.rootOp();
  for (Operation &op : kernel.getBody().front())
    if (isRoot(&op))
      heavy = &op;
  if (!heavy)
    return ElementType::F32;
  const Type sums = getElementTypeOrSelf(heavy->getResult(0).getType());
  if (isRoot(heavy) && isa<IntegerType>(sums))
    return ElementType::I8;
  // Channel by channel and by Winograd's method f32 is multiplied.
  const auto factor = [&](unsigned i) {
    return getElementTypeOrSelf(heavy->getOperand(i));
  };
  if (isa<LowBitProductOp, cpu::ConvolutionOp>(heavy) && factor(0).isBF16() &&
      factor(1).isBF16() && !Winograd::formOf(name))
    return ElementType::BF16;
  return sums.isF64() ? ElementType::F64 : ElementType::F32;
}

/// "convolution+add+maximum": the operations of \p op, each once.
static std::string describe(KernelOp op) {
  std::string text;
  llvm::StringSet<> seen;
  for (Operation &inner : op.getBody().front()) {
    StringRef name = inner.getName().stripDialect();
    if (isa<stablehlo::ConstantOp, stablehlo::BroadcastInDimOp, YieldOp>(
            inner) ||
        !seen.insert(name).second)
      continue;
    text += (text.empty() ? "" : "+") + name.str();
  }
  return text.empty() ? "fill" : text;
}

/// The slot of a kernel's input, packed if \p packing is not null.
Result<Scheduler::Id> Scheduler::input(Value value, const Packing *packing) {
  if (!packing)
    return slots.find(value);
  Result<uint32_t> index = constants.indexOf(memoryOf(value), packing);
  if (!index)
    return index.takeError();
  return plan.add(BufferSpace::Constant, *index, packing->bytes);
}

/// The constant that is the table of a kernel of static sizes; it has one
/// element at least.
Scheduler::Id Scheduler::addTable(ArrayRef<FormNumber> table) {
  Tensor values(ElementType::I64,
                {std::max<int64_t>(1, int64_t(table.size()))});
  llvm::transform(table, values.mutableValues<int64_t>().begin(),
                  [](const FormNumber &each) { return each.number; });
  return plan.add(BufferSpace::Constant, constants.owned(values),
                  values.bytes());
}

Result<void> Scheduler::addOperands(Step &step, KernelOp op,
                                    const KernelPlan &how) {
  for (auto [i, value] : llvm::enumerate(op.getInputs())) {
    if (i == op.getUpdated())
      continue;
    const auto packing = how.packings.find(unsigned(i));
    Result<Id> slot = input(
        value, packing == how.packings.end() ? nullptr : &packing->second);
    if (!slot)
      return slot.takeError();
    step.buffers.push_back(reference(*slot, BufferAccess::In));
    step.bytesMoved += plan[*slot].bytes;
  }
  for (OpResult result : op.getResults()) {
    Id slot = slots.create(result);
    step.buffers.push_back(
        reference(slot, op.getUpdated() && result.getResultNumber() == 0
                            ? BufferAccess::InOut
                            : BufferAccess::Out));
    step.bytesMoved += plan[slot].bytes;
  }
  return {};
}

/// Scratch memory of each thread, the workspace of all threads, and the table
/// of static kernels; runs add that of dynamic ones.
Result<void> Scheduler::addWorkMemory(Step &step, KernelOp op,
                                      const CompiledKernel &compiled) {
  const KernelPlan &how = *compiled.plan;
  if (const Scratch &scratch = how.scratch; !scratch.isNone()) {
    const Id slot = plan.add(BufferSpace::Scratch, 0, scratch.bytes);
    if (scratch.isDynamic())
      if (Result<void> done = dynamic->addScratch(slot, op, scratch); !done)
        return done;
    step.buffers.push_back(reference(slot, BufferAccess::InOut));
  }
  if (const uint64_t bytes = how.workspace().bytes; bytes != 0) {
    const Id slot = plan.addTemporary(bytes);
    if (const auto *stages = std::get_if<DynamicStages>(&how.work))
      if (Result<void> done = dynamic->addWorkspace(slot, *stages); !done)
        return done;
    step.buffers.push_back(reference(slot, BufferAccess::InOut));
  }
  if (how.readsTable() && !how.isDynamic())
    step.buffers.push_back(
        reference(addTable(compiled.table()), BufferAccess::In));
  return {};
}

/// The steps of a kernel: one per stage, and per round of known sizes; \p step
/// is what they have in common.
void Scheduler::addWork(Step step, const KernelWork &work,
                        std::vector<Step> &steps) {
  const std::vector<BufferReference> buffers = step.buffers;
  const uint32_t entry = step.kernel;
  auto addStage = [&](size_t stage, int64_t tasks, double flops) {
    for (const BufferReference &buffer : buffers)
      plan.touch(static_cast<Id>(buffer.offset));
    step.kernel = entry + static_cast<uint32_t>(stage);
    step.tasks = tasks;
    step.flops = flops;
    add(step, steps);
  };
  std::visit(
      llvm::makeVisitor(
          [&](const TaskLoop &loop) { addStage(0, loop.tasks, loop.flops); },
          // Its DynamicStep says how many tasks there are.
          [&](const DynamicTaskLoop &) { addStage(0, 1, 0); },
          [&](const Stages &all) {
            step.bytesMoved /= double(all.rounds);
            for (int64_t round = 0; round < all.rounds; ++round)
              for (const auto &[i, stage] : llvm::enumerate(all.stages)) {
                step.firstTask = round * stage.tasks;
                addStage(i, stage.tasks, stage.flops);
              }
          },
          [&](const DynamicStages &all) {
            for (const auto &[i, stage] : llvm::enumerate(all.stages)) {
              step.buffers.clear();
              for (unsigned buffer : stage.buffers)
                step.buffers.push_back(buffers[buffer]);
              addStage(i, stage.tasks, stage.flops);
            }
          }),
      work);
}

Result<void> Scheduler::scheduleKernel(KernelOp op, std::vector<Step> &steps) {
  auto compiled = kernels.find(op);
  if (compiled == kernels.end()) {
    // All results are empty.
    for (Value result : op.getResults())
      slots.create(result);
    return {};
  }
  const KernelPlan &how = *compiled->second.plan;
  Step step;
  step.kernel = compiled->second.entry;
  step.kernelName = how.name;
  step.arithmetic = arithmeticOf(op, how.name);
  step.layer = layerOf(op.getLoc());
  step.op = describe(op);
  if (const std::optional<uint64_t> updated = op.getUpdated()) {
    Id target = slots.create(op.getResult(0));
    if (Result<void> done = copy(op.getInputs()[*updated], target, steps);
        !done)
      return done;
  }
  if (dynamic)
    if (Result<void> added = dynamic->addKernel(op, compiled->second); !added)
      return added;
  if (Result<void> added = addOperands(step, op, how); !added)
    return added;
  if (Result<void> added = addWorkMemory(step, op, compiled->second); !added)
    return added;
  addWork(std::move(step), how.work, steps);
  return {};
}
