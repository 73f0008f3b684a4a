#include "backend/cpu/program/BufferAssignment.h"

#include "backend/cpu/ir/OperationKind.h"
#include "graph/Dim.h"
#include "graph/Types.h"

using namespace mlir;

namespace sinter::cpu {

/// The bytes of \p value; 0 where dimensions are dynamic.
static uint64_t staticBytesOf(Value value) {
  RankedTensorType type = tensorOf(value);
  if (sinter::hasNamedSizes(type))
    return 0;
  std::optional<ElementType> element = elementTypeOf(type.getElementType());
  return type.getNumElements() * byteSize(*element);
}

BufferAssignment::Id BufferAssignment::add(BufferSpace space, uint32_t index,
                                           Value value) {
  const Id slot = plan.add(space, index, staticBytesOf(value));
  if (sinter::hasNamedSizes(value.getType()))
    dynamic->addSlot(slot, value);
  return slot;
}

Result<BufferAssignment::Id> BufferAssignment::find(Value value) {
  const Value memory = memoryOf(value);
  if (auto known = slotOf.find(memory); known != slotOf.end())
    return known->second;
  if (!memory.getDefiningOp<stablehlo::ConstantOp>() &&
      !memory.getDefiningOp<ComputedConstantOp>())
    return systemError("a value is used before it is computed");
  Result<uint32_t> index = constants.indexOf(memory, nullptr);
  if (!index)
    return index.takeError();
  return slotOf[memory] = add(BufferSpace::Constant, *index, memory);
}

BufferAssignment::Id BufferAssignment::create(Value value) {
  const auto [entry, isNew] = slotOf.try_emplace(value, 0);
  if (isNew)
    entry->second = add(BufferSpace::Arena, 0, value);
  return entry->second;
}

void BufferAssignment::claim(Value value, Block &block, Id slot) {
  const Value memory = memoryOf(value);
  Operation *op = memory.getDefiningOp();
  if (op && op->getBlock() == &block &&
      (isa<KernelOp, HostCallOp>(op) || isControlFlow(op)) &&
      (!dynamic || dynamic->isKnownWith(value, memory)))
    slotOf.try_emplace(memory, slot);
}

/// Whether \p value, under all its aliases, has one use.
static bool hasOneUse(Value value) {
  Operation *op = value.getDefiningOp();
  return value.hasOneUse() &&
         (!op || !isAlias(op) || hasOneUse(op->getOperand(0)));
}

void BufferAssignment::claimCarried(stablehlo::WhileOp op) {
  for (auto [operand, result] : llvm::zip(op->getOperands(), op->getResults()))
    if (hasOneUse(operand))
      claim(operand, *op->getBlock(), create(result));
}

void BufferAssignment::claimUpdated(KernelOp op) {
  auto compiled = kernels.find(op);
  if (compiled == kernels.end() || !op.getUpdated())
    return;
  Value operand = op.getInputs()[*op.getUpdated()];
  if (hasOneUse(operand))
    claim(operand, *op->getBlock(), create(op.getResult(0)));
}

void BufferAssignment::claimOperands(Block &block) {
  for (Operation &op : llvm::reverse(block)) {
    if (auto loop = dyn_cast<stablehlo::WhileOp>(op))
      claimCarried(loop);
    else if (auto kernel = dyn_cast<KernelOp>(op))
      claimUpdated(kernel);
  }
}

/// Whether all uses of \p value are by kernels that run before \p op, or by
/// \p op as the operand \p updated.
static bool areUsesBefore(Value value, KernelOp op,
                          std::optional<uint64_t> updated) {
  return llvm::all_of(value.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (user == op)
      return updated == use.getOperandNumber();
    if (user->getBlock() != op->getBlock())
      return false;
    if (isAlias(user))
      return areUsesBefore(user->getResult(0), op, updated);
    return isa<KernelOp>(user) && user->isBeforeInBlock(op);
  });
}

StringRef BufferAssignment::claimUpdate(Value value, BlockArgument argument,
                                        Id slot) {
  const Value memory = memoryOf(value);
  auto kernel = memory.getDefiningOp<KernelOp>();
  auto compiled = kernel ? kernels.find(kernel) : kernels.end();
  if (compiled == kernels.end() || kernel->getBlock() != argument.getOwner())
    return "which no kernel computes";
  const std::optional<uint64_t> updated = kernel.getUpdated();
  if (updated && memoryOf(kernel.getInputs()[*updated]) != argument)
    return "which another tensor becomes in place";
  if (!areUsesBefore(argument, kernel, updated))
    return "whose old value is read until the new one is there";
  if (!slotOf.try_emplace(memory, slot).second)
    return "which is a result, too";
  return "";
}

} // namespace sinter::cpu
