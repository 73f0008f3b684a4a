#include "backend/cpu/shapes/OutlineDynamic.h"

#include "backend/cpu/ir/CpuOps.h"
#include "backend/cpu/ir/OperationKind.h"
#include "backend/cpu/shapes/InferDimensions.h"
#include "backend/cpu/shapes/NestPrograms.h"
#include "graph/Quantization.h"
#include "graph/Types.h"
#include "graph/stablehlo/StablehloOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <map>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

/// Marks the parts.
static constexpr StringLiteral partAttribute = "cpu.open_part";

/// Whether \p is says so of \p op or an operation in its regions.
static bool holdsOne(Operation *op, bool (*is)(Operation *)) {
  return op
      ->walk([&](Operation *inner) {
        return is(inner) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

namespace {

/// The operations of a function in stages: those of known sizes, then a part of
/// those that are not and read nothing of a later stage.
class Parting {
public:
  explicit Parting(func::FuncOp function)
      : function(function), body(function.front()) {}

  Result<void> run() {
    for (Operation &op : body.without_terminator())
      if (isa<stablehlo::ConstantOp>(op))
        continue;
      else if (isDynamic(&op))
        parts[stageOf(&op)].push_back(&op);
      else
        rest[stageOf(&op)].push_back(&op);
    if (parts.empty())
      return {};
    for (const auto &[stage, ops] : parts)
      for (Operation *op : ops)
        if (holdsOne(op, hasQuantizedType)) {
          // In a program of its own they are sizes of inputs.
          if (isControlFlow(op))
            recordRefused(op);
          return unsupported("quantised tensors of sizes that are computed");
        }
    Operation *end = body.getTerminator();
    const int64_t last = std::max(parts.rbegin()->first,
                                  rest.empty() ? 0 : rest.rbegin()->first);
    for (int64_t stage = 0; stage <= last; ++stage) {
      // What does not follow from a part stays where it is.
      if (auto found = rest.find(stage); found != rest.end() && stage > 0)
        for (Operation *op : found->second)
          op->moveBefore(end);
      if (auto part = parts.find(stage); part != parts.end())
        move(part->second, end);
    }
    return {};
  }

private:
  /// Also sets the stage of \p op.
  bool isDynamic(Operation *op) {
    const bool hasEffects = !isMemoryEffectFree(op);
    Stage own = {hasEffects ? lastEffect.stage : 0,
                 holdsOne(op, isOnUnknownSizes)};
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (auto known = stages.find(operand.getDefiningOp());
            known != stages.end())
          own.stage = std::max(own.stage,
                               known->second.stage +
                                   (known->second.isDynamic && !own.isDynamic));
    });
    // Nothing is done before what was done in the part of this stage.
    own.isDynamic |=
        hasEffects && lastEffect.isDynamic && own.stage == lastEffect.stage;
    if (hasEffects)
      lastEffect = own;
    stages[op] = own;
    return own.isDynamic;
  }
  int64_t stageOf(Operation *op) const { return stages.lookup(op).stage; }

  /// Makes a part of \p ops, called before \p end.
  void move(ArrayRef<Operation *> ops, Operation *end) {
    // What crosses the border, in the order of the text.
    llvm::SetVector<Value> inputs, outputs;
    SmallVector<Operation *> constants;
    llvm::DenseSet<Operation *> isMoved(ops.begin(), ops.end());
    auto isInPart = [&](Operation *op) {
      return isMoved.contains(body.findAncestorOpInBlock(*op));
    };
    for (Operation *op : ops) {
      op->walk([&](Operation *inner) {
        for (Value operand : inner->getOperands()) {
          Operation *source = operand.getDefiningOp();
          if (operand.getParentBlock() != &body)
            continue;
          if (source && isMoved.contains(source))
            continue;
          if (source && isa<stablehlo::ConstantOp>(source))
            constants.push_back(source);
          else
            inputs.insert(operand);
        }
      });
      for (Value result : op->getResults())
        if (!llvm::all_of(result.getUsers(), isInPart))
          outputs.insert(result);
    }
    OpBuilder builder(function);
    const SmallVector<Value> given = inputs.takeVector(),
                             taken = outputs.takeVector();
    auto part = builder.create<func::FuncOp>(
        function.getLoc(), freeName(),
        builder.getFunctionType(llvm::to_vector(ValueRange(given).getTypes()),
                                llvm::to_vector(ValueRange(taken).getTypes())));
    part.setPrivate();
    part->setAttr(partAttribute, builder.getUnitAttr());
    Block *inner = part.addEntryBlock();
    builder.setInsertionPoint(end);
    auto call = builder.create<func::CallOp>(function.getLoc(), part, given);
    builder.setInsertionPointToEnd(inner);
    IRMapping ofConstants;
    for (Operation *constant : constants)
      if (!ofConstants.contains(constant->getResult(0)))
        builder.clone(*constant, ofConstants);
    auto returned = builder.create<func::ReturnOp>(function.getLoc(), taken);
    for (Operation *op : ops)
      op->moveBefore(returned);
    auto isOfPart = [&](OpOperand &use) {
      return inner->findAncestorOpInBlock(*use.getOwner()) != nullptr;
    };
    for (auto [value, result] : llvm::zip_equal(taken, call.getResults())) {
      Value inside = value;
      inside.replaceUsesWithIf(result,
                               [&](OpOperand &use) { return !isOfPart(use); });
    }
    for (auto [value, argument] :
         llvm::zip_equal(given, inner->getArguments())) {
      Value outside = value;
      outside.replaceUsesWithIf(argument, isOfPart);
    }
    for (Operation *constant : constants)
      constant->getResult(0).replaceUsesWithIf(
          ofConstants.lookup(constant->getResult(0)), isOfPart);
  }

  std::string freeName() {
    std::string name = "cpu.open" + std::to_string(number++);
    while (function->getParentOfType<ModuleOp>().lookupSymbol(name))
      name += "_";
    return name;
  }

  struct Stage {
    int64_t stage = 0;
    bool isDynamic = false;
  };

  func::FuncOp function;
  Block &body;
  llvm::DenseMap<Operation *, Stage> stages;
  std::map<int64_t, std::vector<Operation *>> parts, rest;
  /// Of the last operation that does something.
  Stage lastEffect;
  int64_t number = 0;
};

} // namespace

Result<void> cpu::outlineDynamic(func::FuncOp function) {
  if (hasUnknownSizes(function) &&
      llvm::none_of(function.getArgumentTypes(), isOfUnknownSize))
    return Parting(function).run();
  return {};
}

SmallVector<func::FuncOp> cpu::dynamicRegionsOf(func::FuncOp function) {
  SmallVector<func::FuncOp> parts;
  for (auto each : function->getParentOfType<ModuleOp>().getOps<func::FuncOp>())
    if (each->hasAttr(partAttribute))
      parts.push_back(each);
  return parts;
}

void cpu::inlineDynamic(func::FuncOp function) {
  llvm::StringMap<func::FuncOp> parts;
  for (func::FuncOp part : dynamicRegionsOf(function))
    parts[part.getSymName()] = part;
  SmallVector<func::CallOp> calls;
  function.walk([&](func::CallOp call) {
    if (parts.contains(call.getCallee()))
      calls.push_back(call);
  });
  for (func::CallOp call : calls) {
    func::FuncOp part = parts.lookup(call.getCallee());
    Block &inner = part.front();
    for (auto [argument, value] :
         llvm::zip_equal(inner.getArguments(), call.getOperands()))
      argument.replaceAllUsesWith(value);
    for (Operation &op : llvm::make_early_inc_range(inner.without_terminator()))
      op.moveBefore(call);
    for (auto [result, value] : llvm::zip_equal(
             call.getResults(), inner.getTerminator()->getOperands()))
      result.replaceAllUsesWith(value);
    call.erase();
  }
  for (auto &[name, part] : parts)
    part.erase();
}
