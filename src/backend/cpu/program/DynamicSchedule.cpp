#include "backend/cpu/program/DynamicSchedule.h"

#include "backend/cpu/ir/LayerName.h"
#include "backend/cpu/ir/OperationKind.h"
#include "graph/Types.h"

using namespace mlir;

namespace sinter::cpu {

static Error tooManyTerms(Location location) {
  return unsupported("'" + layerOf(location) +
                     "': its size has too many terms");
}

std::vector<SizeExpression> DynamicSchedule::sizesOf(Value value) const {
  std::vector<SizeExpression> all;
  for (Dim size : dimsOf(value))
    all.push_back(sizes.expressionOf(size));
  return all;
}

Result<SizeExpression> DynamicSchedule::unitsOf(const DynamicStages &stages) {
  std::optional<SizeExpression> count = 1;
  for (const TaskExtent &extent : stages.units) {
    const std::optional<SizeExpression> factor = sizes.partsOf(extent);
    count = count && factor ? SizeExpression::productOf(*count, *factor)
                            : std::nullopt;
  }
  if (!count)
    return unsupported("a kernel's size has too many terms");
  return *count;
}

/// Large enough for the units of one round.
Result<void> DynamicSchedule::addWorkspace(MemoryPlan::Id id,
                                           const DynamicStages &stages) {
  Result<SizeExpression> units = unitsOf(stages);
  if (!units)
    return units.takeError();
  const uint64_t ofUnit = stages.workspace.bytes;
  const std::optional<SizeExpression> bytes =
      SizeExpression::productOf(*units, static_cast<int64_t>(ofUnit));
  if (!bytes)
    return unsupported("a kernel's size has too many terms");
  workspaces.push_back({id, *bytes, ofUnit * uint64_t(stages.unitsOfRound)});
  return {};
}

Result<void> DynamicSchedule::addScratch(MemoryPlan::Id id, KernelOp op,
                                         const Scratch &scratch) {
  std::optional<SizeExpression> bytes =
      SizeExpression::productOf(sizes.expressionOf(scratch.size),
                                static_cast<int64_t>(scratch.bytesEach));
  if (bytes)
    bytes = SizeExpression::sumOf(*bytes, static_cast<int64_t>(scratch.bytes));
  if (!bytes)
    return tooManyTerms(op.getLoc());
  workspaces.push_back({id, *bytes, 0});
  return {};
}

/// Lets \p step read \p table, which gets an index in the program's. Code that
/// reads no size gets a table of one element, too.
void DynamicSchedule::setTable(DynamicStep &step, ArrayRef<FormNumber> table) {
  const FormNumber none[] = {0};
  if (table.empty())
    table = none;
  const auto [entry, isNew] =
      tables.try_emplace(table.vec(), uint32_t(program.sizes.size()));
  if (isNew)
    for (const FormNumber &each : table)
      program.sizes.push_back(each.isEntry ? sizes.sizes[each.number]
                                           : SizeExpression(each.number));
  step.firstSize = entry->second;
  step.sizeCount = uint32_t(table.size());
}

/// Tasks of static sizes.
void DynamicSchedule::addStatic(int64_t tasks, double flops) {
  DynamicStep step;
  step.tasks = {{tasks, 1}};
  step.flopsPerUnit = flops;
  addStep(std::move(step));
}

/// The tasks and the work of \p op follow from its dimensions.
Result<void> DynamicSchedule::addLoop(const DynamicTaskLoop &loop, KernelOp op,
                                      ArrayRef<FormNumber> table) {
  DynamicStep step;
  step.flopsPerUnit = loop.flopsPerElement;
  std::optional<SizeExpression> units = sizes.countOf(dimsOf(op.getResult(0)));
  for (const TaskExtent &extent : loop.tasks) {
    const std::optional<SizeExpression> size =
        sizes.partsOf({extent.sizes, 1, extent.tiles});
    if (!size)
      units.reset();
    step.tasks.push_back({size.value_or(SizeExpression()), extent.block});
  }
  if (units)
    units = SizeExpression::productOf(*units, sizes.expressionOf(loop.depth));
  if (!units)
    return tooManyTerms(op.getLoc());
  step.units = *units;
  setTable(step, table);
  addStep(std::move(step));
  return {};
}

Result<void> DynamicSchedule::addStages(const DynamicStages &stages,
                                        const CompiledKernel &compiled) {
  Result<SizeExpression> units = unitsOf(stages);
  if (!units)
    return units.takeError();
  for (const auto &[i, stage] : llvm::enumerate(stages.stages)) {
    DynamicStep step;
    step.round = {*units, stages.unitsOfRound};
    step.inTurns = i == 0 ? static_cast<uint32_t>(stages.stages.size()) : 0;
    step.tasks = {{stage.tasks, 1}};
    step.flopsPerUnit = stage.flops;
    setTable(step, compiled.table(i));
    addStep(std::move(step));
  }
  return {};
}

Result<void> DynamicSchedule::addKernel(KernelOp op,
                                        const CompiledKernel &compiled) {
  return std::visit(
      llvm::makeVisitor(
          [&](const TaskLoop &loop) -> Result<void> {
            addStatic(loop.tasks, loop.flops);
            return {};
          },
          [&](const DynamicTaskLoop &loop) {
            return addLoop(loop, op, compiled.table());
          },
          [&](const Stages &all) -> Result<void> {
            for (int64_t round = 0; round < all.rounds; ++round)
              for (const Stages::Stage &stage : all.stages)
                addStatic(stage.tasks, stage.flops);
            return {};
          },
          [&](const DynamicStages &all) { return addStages(all, compiled); }),
      compiled.plan->work);
}

std::vector<SizeExpression>
DynamicSchedule::differencesOf(Operation *op, Operation *end) const {
  std::vector<SizeExpression> all;
  for (auto [value, result] : llvm::zip(end->getOperands(), op->getResults())) {
    const auto own = sizes.countOf(dimsOf(memoryOf(value))),
               whole = sizes.countOf(dimsOf(result));
    const auto less =
        whole ? SizeExpression::productOf(*whole, -1) : std::nullopt;
    const auto difference =
        own && less ? SizeExpression::sumOf(*own, *less) : std::nullopt;
    if (difference && *difference != SizeExpression(0))
      all.push_back(*difference);
  }
  return all;
}

bool DynamicSchedule::isKnownWith(Value value, Value memory) const {
  if (value == memory)
    return true;
  llvm::SmallDenseSet<uint32_t> known;
  for (const SizeExpression &size : sizesOf(memory))
    for (const SizeExpression::Term &term : size.terms())
      known.insert(term.parameters.begin(), term.parameters.end());
  return llvm::all_of(sizesOf(value), [&](const SizeExpression &size) {
    return llvm::all_of(size.terms(), [&](const SizeExpression::Term &term) {
      return llvm::all_of(term.parameters, [&](uint32_t parameter) {
        return known.contains(parameter);
      });
    });
  });
}

Result<DynamicProgram> DynamicSchedule::finish(const MemoryPlan &plan) {
  program.parameters = sizes.parameters;
  program.guards = sizes.guards;
  program.following = sizes.following;
  for (MemoryPlan::Id id = 0; id < plan.size(); ++id) {
    const MemorySlot &slot = plan[id];
    program.slots.push_back({slot.space, slot.index,
                             SizeExpression(static_cast<int64_t>(slot.bytes)),
                             slot.begin, slot.end, 0});
  }
  for (auto [id, value] : valueSlots) {
    const ElementType element =
        *elementTypeOf(tensorOf(value).getElementType());
    std::optional<SizeExpression> bytes = sizes.countOf(dimsOf(value));
    if (bytes)
      bytes = SizeExpression::productOf(
          *bytes, static_cast<int64_t>(byteSize(element)));
    if (!bytes)
      return tooManyTerms(value.getLoc());
    program.slots[id].bytes = *bytes;
  }
  for (const Workspace &each : workspaces) {
    program.slots[each.slot].bytes = each.bytes;
    program.slots[each.slot].most = each.most;
  }
  return std::move(program);
}

} // namespace sinter::cpu
