//===- FormKernels.cpp - form fusion groups -------------------------------===//

#include "backend/cpu/fusion/FormKernels.h"

#include "backend/cpu/emit/Elemental.h"
#include "backend/cpu/emit/RegionForm.h"
#include "backend/cpu/emit/RootKernels.h"
#include "backend/cpu/fusion/CollapseDimensions.h"
#include "backend/cpu/fusion/FusionConditions.h"
#include "backend/cpu/ir/CpuOps.h"
#include "backend/cpu/ir/OperationKind.h"
#include "backend/cpu/precision/BFloat16Roundings.h"
#include "backend/cpu/precision/ExactWidening.h"
#include "backend/cpu/precision/MarkAmplified.h"
#include "backend/cpu/precision/SetPrecisions.h"
#include "graph/ProductPrecision.h"
#include "graph/nn/NnOps.h"

#include <map>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

namespace {

constexpr llvm::StringLiteral joinLabel = "join-producer",
                              collapseLabel = "collapse-dimensions",
                              formKernelsPass = "cpu-form-kernels";

class FusionPlanner {
public:
  FusionPlanner(Block &block, PatternRun &run)
      : block(block), patterns(run), fuses(run.isEnabled(joinLabel)),
        collapses(run.isEnabled(collapseLabel)) {}

  void run() {
    for (Operation &op : llvm::reverse(block)) {
      Kind kind = kindOf(&op);
      if (kind == Kind::Constant || kind == Kind::Alias ||
          kind == Kind::Control || kind == Kind::Call ||
          op.hasTrait<OpTrait::IsTerminator>() || !isNeeded(&op))
        continue;
      groups.push_back(std::make_unique<FusionGroup>(&op));
      grow(*groups.back(), &op);
    }
    for (std::unique_ptr<FusionGroup> &group : groups)
      materialize(*group);
    eraseDead();
  }

private:
  /// Whether \p op's result must be stored to memory.
  bool isNeeded(Operation *op) {
    for (Operation *user : op->getUsers()) {
      auto holders = groupsOf.find(user);
      if (holders == groupsOf.end()) {
        if (isLive(user))
          return true;
        continue;
      }
      for (FusionGroup *group : holders->second)
        if (!group->contains(op))
          return true;
      // An alias in one kernel may be used by another one, which recomputes a
      // broadcast of it.
      if (isAlias(user) && isNeeded(user))
        return true;
    }
    return false;
  }
  /// An alias without users is dead.
  bool isLive(Operation *user) { return !isAlias(user) || isNeeded(user); }

  void grow(FusionGroup &group, Operation *root) {
    groupsOf[root].push_back(&group);
    if (!fuses)
      return;
    for (bool changed = true; changed && group.ops.size() < maxKernelOps;) {
      changed = false;
      for (size_t i = 0; i < group.ops.size(); ++i)
        for (OpOperand &operand : group.ops[i]->getOpOperands())
          if (std::optional<Fusion> fusion = fusionOf(group, operand)) {
            fuse(group, std::move(*fusion));
            changed = true;
          }
    }
  }

  void fuse(FusionGroup &group, Fusion fusion) {
    for (auto &[op, place] : fusion.members) {
      if (auto reduce = dyn_cast<stablehlo::ReduceOp>(op))
        group.admit(reduce, place);
      group.add(op, std::move(place));
      groupsOf[op].push_back(&group);
      if (fusion.isRepeated)
        group.repeated.insert(op);
    }
    if (fusion.awaited)
      group.awaited = fusion.awaited;
  }

  /// Whether the value is constant, so that a root may pack it.
  static bool isPackable(Value value) {
    Operation *definition = value.getDefiningOp();
    while (definition && isAlias(definition))
      definition = definition->getOperand(0).getDefiningOp();
    return definition && kindOf(definition) == Kind::Constant;
  }

  /// Marks the inputs that may be packed at compile time.
  static void markConstants(KernelOp kernel) {
    SmallVector<int64_t> indices;
    for (auto [i, input] : llvm::enumerate(kernel.getInputs()))
      if (isPackable(input))
        indices.push_back(i);
    kernel.setConstantInputs(indices);
  }

  /// Drops attributes of \p op and of operations inside it that do not affect
  /// code, so that equal computations of different nodes share a kernel.
  static void forgetOrigins(Operation *op) {
    op->walk([](Operation *each) {
      constexpr StringLiteral ofCode[] = {
          roundsNothingAttribute, ofBFloat16Attribute, precisionAttribute,
          operandTypesAttribute,  amplifiedAttribute,  lastAttribute,
          frontAttribute};
      NamedAttrList kept;
      for (NamedAttribute attribute : each->getDiscardableAttrs())
        if (llvm::is_contained(ofCode, attribute.getName().getValue()))
          kept.append(attribute);
      each->setDiscardableAttrs(kept.getDictionary(each->getContext()));
    });
  }

  /// The operations of \p group in a topological order that depends only on the
  /// computation, not on their positions: equal kernels have the same text.
  static SmallVector<Operation *> inOrder(const FusionGroup &group) {
    SmallVector<Operation *> order;
    llvm::DenseSet<Operation *> seen;
    SmallVector<std::pair<Operation *, unsigned>> open;
    auto enter = [&](Operation *op) {
      if (op && group.contains(op) && seen.insert(op).second)
        open.push_back({op, 0});
    };
    enter(group.root);
    while (!open.empty()) {
      auto &[op, next] = open.back();
      if (next < op->getNumOperands()) {
        enter(op->getOperand(next++).getDefiningOp());
        continue;
      }
      order.push_back(op);
      open.pop_back();
    }
    return order;
  }

  void materialize(FusionGroup &group) {
    const SmallVector<Operation *> ordered = inOrder(group);
    assert(ordered.size() == group.ops.size() &&
           "an operation that the root does not need");
    SetVector<Value> inputs, constants;
    // An operand that a root may pack is a separate input without other uses:
    // only the root knows its packed layout.
    SmallVector<OpOperand *> ofRoot;
    for (Operation *op : ordered)
      for (OpOperand &operand : op->getOpOperands()) {
        Value value = operand.get();
        Operation *definition = value.getDefiningOp();
        if (definition && group.contains(definition))
          continue;
        bool isInside = isSplatConstant(value) && kindOf(op) != Kind::Product;
        if (!isInside && isRoot(op) && isPackable(value))
          ofRoot.push_back(&operand);
        else
          (isInside ? constants : inputs).insert(value);
      }
    SmallVector<Value> all = inputs.takeVector();
    const size_t shared = all.size();
    for (OpOperand *operand : ofRoot)
      all.push_back(operand->get());
    // Regions of reductions and the like capture nothing; ExpandRegions has
    // ensured that.
    OpBuilder builder(group.root);
    auto kernel = builder.create<KernelOp>(group.root->getLoc(),
                                           group.root->getResultTypes(), all);
    Block *body = builder.createBlock(&kernel.getBody());
    if (llvm::any_of(group.ops, isRoot))
      markConstants(kernel);
    if (group.hasRows)
      kernel.setRows(group.rowRank());
    IRMapping mapping;
    for (auto [i, input] : llvm::enumerate(all)) {
      Value argument = body->addArgument(input.getType(), input.getLoc());
      if (i < shared)
        mapping.map(input, argument);
    }
    for (Value constant : constants)
      forgetOrigins(builder.clone(*constant.getDefiningOp(), mapping));
    for (Operation *op : ordered) {
      Operation *copy = builder.clone(*op, mapping);
      forgetOrigins(copy);
      for (auto [i, operand] : llvm::enumerate(ofRoot))
        if (operand->getOwner() == op)
          copy->setOperand(operand->getOperandNumber(),
                           body->getArgument(shared + i));
    }
    SmallVector<Value> results;
    for (Value result : group.root->getResults())
      results.push_back(mapping.lookup(result));
    builder.create<YieldOp>(group.root->getLoc(), results);
    markUpdate(kernel);
    if (collapses && collapseDimensions(kernel))
      patterns.count(collapseLabel);
    for (size_t i = 1; i < group.ops.size(); ++i)
      patterns.count(joinLabel);
    replacements.push_back({group.root, kernel});
  }

  /// The operand that \p op updates partially; null if there is none.
  static Value updatedBy(Operation *op) {
    if (auto update = dyn_cast_or_null<stablehlo::DynamicUpdateSliceOp>(op))
      return update.getOperand();
    auto scatter = dyn_cast_or_null<stablehlo::ScatterOp>(op);
    return scatter && scatter.getInputs().size() == 1 ? scatter.getInputs()[0]
                                                      : Value();
  }

  /// Marks a kernel that updates a part of an input that it does not read.
  static void markUpdate(KernelOp kernel) {
    Value result = kernel.getBody().front().getTerminator()->getOperand(0);
    Value operand = updatedBy(result.getDefiningOp());
    auto updated = dyn_cast_or_null<BlockArgument>(operand);
    if (updated && updated.hasOneUse())
      kernel.setUpdated(updated.getArgNumber());
  }

  void eraseDead() {
    for (auto [root, kernel] : replacements)
      for (auto [result, value] :
           llvm::zip_equal(root->getResults(), kernel.getResults())) {
        patterns.replaced(formKernelsPass, result, value);
        result.replaceAllUsesWith(value);
      }
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (op.use_empty() && !isa<KernelOp, HostCallOp, DefineSizesOp>(op) &&
          !op.hasTrait<OpTrait::IsTerminator>() && !isControlFlow(&op))
        op.erase();
  }

  Block &block;
  PatternRun &patterns;
  const bool fuses, collapses;
  std::vector<std::unique_ptr<FusionGroup>> groups;
  DenseMap<Operation *, SmallVector<FusionGroup *, 1>> groupsOf;
  SmallVector<std::pair<Operation *, KernelOp>> replacements;
};

/// Fails with a list of all operations without a kernel, with counts.
Result<void> checkSupported(func::FuncOp function) {
  std::map<std::string, int> unknown;
  auto check = [&](auto &self, Block &block) -> void {
    for (Operation &op : block) {
      if (op.hasTrait<OpTrait::IsTerminator>())
        continue;
      Kind kind = kindOf(&op);
      if (kind == Kind::Constant)
        continue;
      if (kind == Kind::Unknown)
        ++unknown[op.getName().getStringRef().str()];
      if (kind == Kind::Control)
        for (Region &region : op.getRegions())
          self(self, region.front());
      else if (!hasInlinableRegions(&op))
        ++unknown["a region of " + op.getName().getStringRef().str()];
    }
  };
  check(check, function.getBody().front());
  if (unknown.empty())
    return {};
  std::string list;
  for (auto &[name, count] : unknown)
    list +=
        (list.empty() ? "" : ", ") + name + " (" + std::to_string(count) + ")";
  return unsupported("the CPU backend has no kernel for " + list);
}

void formIn(Block &block, PatternRun &run) {
  for (Operation &op : block)
    if (isControlFlow(&op))
      for (Region &region : op.getRegions())
        formIn(region.front(), run);
  FusionPlanner(block, run).run();
}

} // namespace

ArrayRef<PatternInfo> cpu::formKernelsPatterns() {
  static const PatternInfo infos[] = {
      {joinLabel, "f(g(x)) -> cpu.kernel(x) { f(g) }", formKernelsPass},
      {collapseLabel,
       "cpu.kernel(8x64x56x56: x + bias) -> cpu.kernel(8x64x3136: x + bias)",
       formKernelsPass}};
  return infos;
}

Result<void> cpu::formKernels(func::FuncOp function, PatternRun &run) {
  if (Result<void> supported = checkSupported(function); !supported)
    return supported;
  formIn(function.getBody().front(), run);
  return {};
}
