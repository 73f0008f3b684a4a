#include "passes/EliminateCommonSubexpressions.h"

#include "graph/stablehlo/StablehloOps.h"
#include "passes/Groups.h"
#include "passes/Pass.h"
#include "llvm/ADT/ScopedHashTable.h"

using namespace mlir;

namespace sinter {

static constexpr StringLiteral label = "eliminate-common-subexpressions";

ArrayRef<PatternInfo> eliminateCommonSubexpressionsPatterns() {
  static const PatternInfo infos[] = {
      {label, "exp(x), exp(x) -> one exp(x)", label}};
  return infos;
}

/// The attributes that are part of what an operation is; not its source node
/// nor what it is traced by.
static SmallVector<NamedAttribute> comparedAttributes(Operation *op) {
  SmallVector<NamedAttribute> attributes;
  for (NamedAttribute each : op->getDiscardableAttrs())
    if (each.getName() != groupAttribute && each.getName() != traceAttribute)
      attributes.push_back(each);
  return attributes;
}

namespace {

struct SameOperation : llvm::DenseMapInfo<Operation *> {
  static unsigned getHashValue(const Operation *constOp) {
    auto *op = const_cast<Operation *>(constOp);
    return llvm::hash_combine(
        op->getName(), op->hashProperties(),
        llvm::hash_combine_range(op->operand_begin(), op->operand_end()),
        llvm::hash_combine_range(op->result_type_begin(),
                                 op->result_type_end()));
  }
  static bool isEqual(const Operation *constLhs, const Operation *constRhs) {
    auto *lhs = const_cast<Operation *>(constLhs);
    auto *rhs = const_cast<Operation *>(constRhs);
    if (lhs == rhs)
      return true;
    if (lhs == getTombstoneKey() || lhs == getEmptyKey() ||
        rhs == getTombstoneKey() || rhs == getEmptyKey())
      return false;
    return lhs->getName() == rhs->getName() &&
           lhs->getOperands() == rhs->getOperands() &&
           lhs->getResultTypes() == rhs->getResultTypes() &&
           lhs->getName().compareOpProperties(lhs->getPropertiesStorage(),
                                              rhs->getPropertiesStorage()) &&
           comparedAttributes(lhs) == comparedAttributes(rhs);
  }
};

/// A repeated constant that two source nodes each have: it costs nothing, and
/// each node can be written back with its own.
bool belongsToEach(Operation *op, Operation *same) {
  Attribute group = op->getDiscardableAttr(groupAttribute);
  return group && group != same->getDiscardableAttr(groupAttribute) &&
         isa<stablehlo::BroadcastInDimOp, stablehlo::IotaOp>(op) &&
         llvm::all_of(op->getOperands(), [](Value operand) {
           return operand.getDefiningOp<stablehlo::ConstantOp>() != nullptr;
         });
}

struct EliminateCommonSubexpressions
    : LabelledPass<EliminateCommonSubexpressions> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(EliminateCommonSubexpressions)
  using LabelledPass::LabelledPass;
  StringRef getArgument() const final { return label; }
  StringRef getDescription() const final {
    return "Compute the same only once";
  }

  void runOnOperation() final {
    if (!patternRun().isEnabled(label))
      return;
    Known known;
    for (Operation &op : *getOperation().getBody())
      for (Region &region : op.getRegions())
        for (Block &block : region)
          merge(block, known);
    dissolveHalves();
  }

private:
  using Known = llvm::ScopedHashTable<Operation *, Operation *, SameOperation>;

  /// What is known in a block is known in the regions of its operations.
  void merge(Block &block, Known &known) {
    Known::ScopeTy scope(known);
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (op.getNumRegions()) {
        for (Region &region : op.getRegions())
          for (Block &inner : region)
            merge(inner, known);
        continue;
      }
      if (op.getNumResults() == 0 || !isPure(&op))
        continue;
      Operation *same = known.lookup(&op);
      if (!same) {
        known.insert(&op, &op);
        continue;
      }
      if (belongsToEach(&op, same))
        continue;
      patternRun().count(label);
      if (Attribute group = op.getDiscardableAttr(groupAttribute))
        merged.push_back({group, same->getDiscardableAttr(groupAttribute)});
      for (auto [old, by] :
           llvm::zip_equal(op.getResults(), same->getResults()))
        patternRun().replaced(label, old, by);
      op.replaceAllUsesWith(same);
      op.erase();
    }
  }

  /// Of two source nodes that only share a part neither is what it was.
  void dissolveHalves() {
    llvm::DenseSet<Attribute> left;
    getOperation().walk([&](Operation *op) {
      if (Attribute group = op->getDiscardableAttr(groupAttribute))
        left.insert(group);
    });
    llvm::DenseSet<Attribute> halves;
    for (auto [gone, kept] : merged)
      if (left.contains(gone)) {
        halves.insert(gone);
        halves.insert(kept);
      }
    getOperation().walk([&](Operation *op) {
      if (Attribute group = op->getDiscardableAttr(groupAttribute))
        if (halves.contains(group))
          op->removeDiscardableAttr(groupAttribute);
    });
    merged.clear();
  }

  SmallVector<std::pair<Attribute, Attribute>> merged;
};

} // namespace

std::unique_ptr<Pass>
createEliminateCommonSubexpressions(std::shared_ptr<PatternRun> run) {
  return std::make_unique<EliminateCommonSubexpressions>(std::move(run));
}

} // namespace sinter
