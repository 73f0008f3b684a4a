#include "passes/ValueNumbers.h"

#include "graph/Model.h"
#include "graph/stablehlo/StablehloOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Groups.h"
#include <set>

using namespace mlir;

namespace sinter {

/// The list of integers in an attribute.
static SmallVector<int64_t> listIn(Operation *op, StringRef attribute) {
  auto list = op->getAttrOfType<DenseI64ArrayAttr>(attribute);
  return list ? SmallVector<int64_t>(list.asArrayRef())
              : SmallVector<int64_t>();
}
static void setList(Operation *op, StringRef attribute,
                    ArrayRef<int64_t> list) {
  if (list.empty())
    op->removeAttr(attribute);
  else
    op->setAttr(attribute, DenseI64ArrayAttr::get(op->getContext(), list));
}

/// Pairs of a result's index and a trace number.
static SmallVector<int64_t> tracesOf(Operation *op) {
  return listIn(op, traceAttribute);
}
static void setTraces(Operation *op, ArrayRef<int64_t> traces) {
  setList(op, traceAttribute, traces);
}

/// Whether a block's values have trace numbers: those of the entry function,
/// and of branches and loops in it.
static bool isNumbered(Block *block, Operation *entry) {
  for (Operation *op = block ? block->getParentOp() : nullptr; op;
       op = op->getParentOp()) {
    if (op == entry)
      return true;
    if (!isa<stablehlo::WhileOp, stablehlo::IfOp, stablehlo::CaseOp>(op))
      return false;
  }
  return false;
}

void ValueNumbers::number(ModuleOp module) {
  std::set<int64_t> taken;
  func::FuncOp entry = entryOf(module);
  entry.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op == entry || !isNumbered(op->getBlock(), entry))
      return;
    SmallVector<int64_t> traces, own = tracesOf(op);
    for (size_t i = 0; i + 1 < own.size(); i += 2)
      if (taken.insert(own[i + 1]).second)
        traces.append({own[i], own[i + 1]});
    if (traces.empty())
      for (OpResult result : op->getResults()) {
        taken.insert(next);
        traces.append({result.getResultNumber(), next++});
      }
    setTraces(op, traces);
  });
}

std::vector<NumberedValue> ValueNumbers::valuesOf(ModuleOp module) {
  std::vector<NumberedValue> values;
  std::set<int64_t> taken;
  func::FuncOp entry = entryOf(module);
  auto add = [&](Value value, int64_t number) {
    if (taken.insert(number).second)
      values.push_back({value, number});
  };
  // Values inside of an operation come before its results.
  entry.walk<WalkOrder::PostOrder>([&](Operation *op) {
    if (op != entry && !isNumbered(op->getBlock(), entry))
      return;
    SmallVector<int64_t> traces = tracesOf(op);
    for (size_t i = 0; i + 1 < traces.size(); i += 2)
      if (traces[i] >= 0 &&
          traces[i] < static_cast<int64_t>(op->getNumResults()))
        add(op->getResult(traces[i]), traces[i + 1]);
    SmallVector<int64_t> arguments = listIn(op, argumentTraceAttribute);
    for (size_t i = 0; i + 2 < arguments.size(); i += 3)
      if (arguments[i] >= 0 &&
          arguments[i] < static_cast<int64_t>(op->getNumRegions()))
        if (Region &region = op->getRegion(arguments[i]);
            arguments[i + 1] >= 0 &&
            arguments[i + 1] < static_cast<int64_t>(region.getNumArguments()))
          add(region.getArgument(arguments[i + 1]), arguments[i + 2]);
  });
  return values;
}

void ValueNumbers::remove(ModuleOp module) {
  module.walk([](Operation *op) {
    op->removeAttr(traceAttribute);
    op->removeAttr(argumentTraceAttribute);
  });
}

/// Removes and returns the trace numbers of an operation's result.
static SmallVector<int64_t> takeNumbers(OpResult value) {
  Operation *op = value.getOwner();
  SmallVector<int64_t> left, taken, traces = tracesOf(op);
  for (size_t i = 0; i + 1 < traces.size(); i += 2)
    if (traces[i] == static_cast<int64_t>(value.getResultNumber()))
      taken.push_back(traces[i + 1]);
    else
      left.append({traces[i], traces[i + 1]});
  setTraces(op, left);
  return taken;
}

/// Adds trace numbers to a value.
static void addNumbers(Value value, ArrayRef<int64_t> numbers) {
  if (auto result = dyn_cast<OpResult>(value)) {
    SmallVector<int64_t> traces = tracesOf(result.getOwner());
    for (int64_t number : numbers)
      traces.append({result.getResultNumber(), number});
    setTraces(result.getOwner(), traces);
    return;
  }
  auto argument = cast<BlockArgument>(value);
  Region *region = argument.getParentRegion();
  Operation *op = region->getParentOp();
  SmallVector<int64_t> traces = listIn(op, argumentTraceAttribute);
  for (int64_t number : numbers)
    traces.append({region->getRegionNumber(), argument.getArgNumber(), number});
  setList(op, argumentTraceAttribute, traces);
}

/// Whether a block is the body of a function.
static bool isOutermost(Block *block) {
  return isa<func::FuncOp>(block->getParentOp());
}

void ValueNumbers::replaced(StringRef label, Value old, Value by) {
  auto result = dyn_cast<OpResult>(old);
  if (!result)
    return;
  SmallVector<int64_t> numbers = takeNumbers(result);
  if (numbers.empty())
    return;
  if (whenReplaced)
    whenReplaced(label, old, numbers);
  // A value that is computed at other times is compared through its users.
  Block *block = by.getParentBlock();
  if (block == result.getParentBlock() || isOutermost(block))
    addNumbers(by, numbers);
}

void ValueNumbers::follows(Operation *op) {
  SmallVector<int64_t> numbers, traces = tracesOf(op);
  for (size_t i = 0; i + 1 < traces.size(); i += 2)
    numbers.push_back(traces[i + 1]);
  if (whenFollowing)
    whenFollowing(numbers);
}

void ValueNumbers::changed(Operation *op) { setTraces(op, {}); }

} // namespace sinter
