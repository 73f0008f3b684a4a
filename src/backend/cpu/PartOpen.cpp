#include "backend/cpu/PartOpen.h"

#include "backend/cpu/NameSizes.h"
#include "backend/cpu/ir/CpuOps.h"
#include "graph/stablehlo/StablehloOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

/// Marks the part.
static constexpr StringLiteral partAttribute = "cpu.open_part";

namespace {

/// Moves operations from a function to its open part.
class Parting {
public:
  explicit Parting(func::FuncOp function)
      : function(function), body(function.front()) {}

  void run() {
    for (Operation &op : body.without_terminator())
      if (isOpen(&op))
        add(&op);
    if (!moved.empty())
      move();
  }

private:
  bool isOpen(Operation *op) const {
    const bool hasOpenType =
        op->walk([](Operation *inner) {
            return llvm::any_of(inner->getOperandTypes(), isOfUnknownSize) ||
                           llvm::any_of(inner->getResultTypes(),
                                        isOfUnknownSize)
                       ? WalkResult::interrupt()
                       : WalkResult::advance();
          }).wasInterrupted();
    if (hasOpenType || (hasEffects && !isMemoryEffectFree(op)))
      return true;
    bool readsOpen = false;
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        readsOpen |= results.contains(operand);
    });
    return readsOpen;
  }

  void add(Operation *op) {
    moved.push_back(op);
    hasEffects |= !isMemoryEffectFree(op);
    results.insert(op->result_begin(), op->result_end());
  }

  void move() {
    // What crosses the border, in the order of the text.
    llvm::SetVector<Value> inputs, outputs;
    SmallVector<Operation *> constants;
    llvm::DenseSet<Operation *> isMoved(moved.begin(), moved.end());
    for (Operation *op : moved) {
      op->walk([&](Operation *inner) {
        for (Value operand : inner->getOperands()) {
          Operation *source = operand.getDefiningOp();
          if (results.contains(operand) || isInside(operand, op))
            continue;
          if (source && isa<stablehlo::ConstantOp>(source))
            constants.push_back(source);
          else
            inputs.insert(operand);
        }
      });
      for (Value result : op->getResults())
        if (llvm::any_of(result.getUsers(), [&](Operation *user) {
              return !isMoved.contains(body.findAncestorOpInBlock(*user));
            }))
          outputs.insert(result);
    }
    OpBuilder builder(function);
    std::string name = "cpu.open";
    while (function->getParentOfType<ModuleOp>().lookupSymbol(name))
      name += "_";
    auto part = builder.create<func::FuncOp>(
        function.getLoc(), name,
        builder.getFunctionType(
            llvm::to_vector(ValueRange(inputs.getArrayRef()).getTypes()),
            llvm::to_vector(ValueRange(outputs.getArrayRef()).getTypes())));
    part.setPrivate();
    part->setAttr(partAttribute, builder.getUnitAttr());
    Block *inner = part.addEntryBlock();
    // The call stands where the last of them did.
    builder.setInsertionPointAfter(moved.back());
    auto call = builder.create<func::CallOp>(function.getLoc(), part,
                                             inputs.getArrayRef());
    builder.setInsertionPointToEnd(inner);
    IRMapping ofConstants;
    for (Operation *constant : constants)
      if (!ofConstants.contains(constant->getResult(0)))
        builder.clone(*constant, ofConstants);
    auto returned = builder.create<func::ReturnOp>(function.getLoc(),
                                                   outputs.getArrayRef());
    for (Operation *op : moved)
      op->moveBefore(returned);
    for (auto [value, result] :
         llvm::zip_equal(outputs.takeVector(), call.getResults()))
      value.replaceUsesWithIf(result, [&](OpOperand &use) {
        return body.findAncestorOpInBlock(*use.getOwner()) != nullptr;
      });
    auto isOfPart = [&](OpOperand &use) {
      return inner->findAncestorOpInBlock(*use.getOwner()) != nullptr;
    };
    for (auto [value, argument] :
         llvm::zip_equal(inputs.takeVector(), inner->getArguments()))
      value.replaceUsesWithIf(argument, isOfPart);
    for (Operation *constant : constants)
      constant->getResult(0).replaceUsesWithIf(
          ofConstants.lookup(constant->getResult(0)), isOfPart);
  }

  static bool isInside(Value value, Operation *op) {
    Operation *owner = value.getParentBlock()->getParentOp();
    return owner && op->isAncestor(owner);
  }

  func::FuncOp function;
  Block &body;
  SmallVector<Operation *> moved;
  llvm::DenseSet<Value> results;
  bool hasEffects = false;
};

} // namespace

void cpu::partOpen(func::FuncOp function) {
  if (hasUnknownSizes(function) &&
      llvm::none_of(function.getArgumentTypes(), isOfUnknownSize))
    Parting(function).run();
}

func::FuncOp cpu::openPartOf(func::FuncOp function) {
  for (auto each : function->getParentOfType<ModuleOp>().getOps<func::FuncOp>())
    if (each->hasAttr(partAttribute))
      return each;
  return {};
}

void cpu::joinOpen(func::FuncOp function) {
  func::FuncOp part = openPartOf(function);
  if (!part)
    return;
  func::CallOp call;
  function.walk([&](func::CallOp each) {
    if (each.getCallee() == part.getSymName())
      call = each;
  });
  Block &inner = part.front();
  for (auto [argument, value] :
       llvm::zip_equal(inner.getArguments(), call.getOperands()))
    argument.replaceAllUsesWith(value);
  for (Operation &op : llvm::make_early_inc_range(inner.without_terminator()))
    op.moveBefore(call);
  for (auto [result, value] :
       llvm::zip_equal(call.getResults(), inner.getTerminator()->getOperands()))
    result.replaceAllUsesWith(value);
  call.erase();
  part.erase();
}
