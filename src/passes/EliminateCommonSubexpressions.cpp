#include "passes/EliminateCommonSubexpressions.h"

#include "graph/stablehlo/StablehloOps.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Groups.h"
#include "passes/Pass.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/ScopedHashTable.h"

using namespace mlir;

namespace sinter {

static constexpr StringLiteral commonSubexpressionsLabel =
    "eliminate-common-subexpressions";

ArrayRef<PatternInfo> eliminateCommonSubexpressionsPatterns() {
  static const PatternInfo infos[] = {{commonSubexpressionsLabel,
                                       "exp(x), exp(x) -> one exp(x)",
                                       commonSubexpressionsLabel}};
  return infos;
}

/// The attributes that determine what an operation computes; not those of its
/// source node and traces.
static SmallVector<NamedAttribute> comparedAttributes(Operation *op) {
  SmallVector<NamedAttribute> attributes;
  for (NamedAttribute each : op->getDiscardableAttrs())
    if (each.getName() != sourceAttribute && each.getName() != traceAttribute)
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
  const std::optional<int64_t> group = sourceOf(op);
  return group && group != sourceOf(same) &&
         isa<stablehlo::BroadcastInDimOp, stablehlo::IotaOp>(op) &&
         llvm::all_of(op->getOperands(), [](Value operand) {
           return operand.getDefiningOp<stablehlo::ConstantOp>() != nullptr;
         });
}

/// The operations of one source node, in block order.
using NodeOps = SmallVector<Operation *>;

/// A hash that is equal for nodes that compute the same; without attributes.
llvm::hash_code hashOf(const NodeOps &ops) {
  DenseMap<Operation *, size_t> numbers;
  llvm::hash_code hash = ops.size();
  for (Operation *op : ops) {
    hash = llvm::hash_combine(hash, op->getName(), op->hashProperties());
    for (Value operand : op->getOperands()) {
      auto inner = numbers.find(operand.getDefiningOp());
      hash = inner == numbers.end() ? llvm::hash_combine(hash, operand)
                                    : llvm::hash_combine(hash, inner->second);
    }
    numbers[op] = numbers.size();
  }
  return hash;
}

bool haveSameRegions(Operation *lhs, Operation *rhs) {
  if (lhs->getNumRegions() != rhs->getNumRegions())
    return false;
  for (auto [left, right] :
       llvm::zip_equal(lhs->getRegions(), rhs->getRegions()))
    if (!OperationEquivalence::isRegionEquivalentTo(
            &left, &right, OperationEquivalence::IgnoreLocations))
      return false;
  return true;
}

/// Whether \p rhs may be replaced by \p lhs, operation by operation.
bool isSameNode(const NodeOps &lhs, const NodeOps &rhs) {
  if (lhs.size() != rhs.size())
    return false;
  IRMapping mapping;
  for (auto [left, right] : llvm::zip_equal(lhs, rhs)) {
    if (left->getName() != right->getName() ||
        left->getResultTypes() != right->getResultTypes() ||
        !left->getName().compareOpProperties(left->getPropertiesStorage(),
                                             right->getPropertiesStorage()) ||
        comparedAttributes(left) != comparedAttributes(right) ||
        left->getNumOperands() != right->getNumOperands() ||
        !haveSameRegions(left, right) || !left->isBeforeInBlock(right))
      return false;
    for (auto [mine, other] :
         llvm::zip_equal(left->getOperands(), right->getOperands()))
      if (mapping.lookupOrDefault(other) != mine)
        return false;
    mapping.map(right->getResults(), left->getResults());
  }
  return true;
}

struct EliminateCommonSubexpressions
    : LabelledPass<EliminateCommonSubexpressions> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(EliminateCommonSubexpressions)
  using LabelledPass::LabelledPass;
  StringRef getArgument() const final { return commonSubexpressionsLabel; }
  StringRef getDescription() const final {
    return "Eliminate common subexpressions";
  }

  void runOnOperation() final {
    if (!patternRun().isEnabled(commonSubexpressionsLabel))
      return;
    const WholeNodes wholeNodes(getOperation());
    whole = &wholeNodes;
    groupSizes.clear();
    if (whole->areKept())
      getOperation().walk([&](Operation *op) {
        if (std::optional<int64_t> group = sourceOf(op))
          ++groupSizes[*group];
      });
    do {
      Known known;
      for (Operation &op : *getOperation().getBody())
        for (Region &region : op.getRegions())
          for (Block &block : region)
            merge(block, known);
    } while (mergeNodes());
    dissolveHalves();
  }

private:
  using Known = llvm::ScopedHashTable<Operation *, Operation *, SameOperation>;

  /// Erases one of two source nodes in a block that compute the same, as a
  /// whole. Forms of several nodes stay: if two shared a node, neither would
  /// match any more. Returns whether there were any.
  bool mergeNodes() {
    bool isChanged = false;
    getOperation().walk([&](Block *block) {
      llvm::MapVector<int64_t, NodeOps> nodes;
      for (Operation &op : *block)
        if (whole->isOneNode(&op) || isSharedAsNode(&op))
          nodes[sourceOf(&op).value_or(-1)].push_back(&op);
      DenseMap<size_t, NodeOps> known;
      for (const auto &[number, ops] : nodes) {
        if (!llvm::all_of(ops,
                          [](Operation *op) { return isMemoryEffectFree(op); }))
          continue;
        auto [same, isNew] = known.try_emplace(hashOf(ops), ops);
        if (isNew || !patternRun().mayStep() || !isSameNode(same->second, ops))
          continue;
        for (auto [op, by] : llvm::zip_equal(ops, same->second))
          replace(op, by);
        for (Operation *op : llvm::reverse(ops))
          op->erase();
        patternRun().graphIsWhole(commonSubexpressionsLabel);
        isChanged = true;
      }
    });
    return isChanged;
  }

  void replace(Operation *op, Operation *by) {
    patternRun().count(commonSubexpressionsLabel);
    for (auto [old, value] :
         llvm::zip_equal(op->getResults(), by->getResults()))
      patternRun().replaced(commonSubexpressionsLabel, old, value);
    op->replaceAllUsesWith(by);
  }

  /// A source node that computes the same twice is exported as it was.
  bool isWithinNode(Operation *op, Operation *same) const {
    const std::optional<int64_t> group = sourceOf(op);
    return whole->areKept() && group && group == sourceOf(same);
  }

  /// Where the module will be exported, a source node of several operations is
  /// shared as a whole or not at all: with an operation missing it could not be
  /// exported as that node.
  bool isSharedAsNode(Operation *op) const {
    const std::optional<int64_t> group = sourceOf(op);
    return whole->areKept() && !whole->contains(op) && group &&
           groupSizes.lookup(*group) > 1;
  }

  /// Values known in a block are known in the regions of its operations.
  void merge(Block &block, Known &known) {
    Known::ScopeTy scope(known);
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (op.getNumRegions()) {
        for (Region &region : op.getRegions())
          for (Block &inner : region)
            merge(inner, known);
        continue;
      }
      if (op.getNumResults() == 0 || !isPure(&op) || whole->contains(&op) ||
          isSharedAsNode(&op))
        continue;
      Operation *same = known.lookup(&op);
      if (!same) {
        known.insert(&op, &op);
        continue;
      }
      if (!patternRun().mayStep() || belongsToEach(&op, same) ||
          isWithinNode(&op, same))
        continue;
      if (std::optional<int64_t> group = sourceOf(&op))
        merged.push_back({*group, sourceOf(same)});
      replace(&op, same);
      op.erase();
      patternRun().graphIsWhole(commonSubexpressionsLabel);
    }
  }

  /// Removes the mark from source nodes that lost only some of their
  /// operations, and from those that these were merged into.
  void dissolveHalves() {
    llvm::DenseSet<int64_t> left;
    getOperation().walk([&](Operation *op) {
      if (std::optional<int64_t> group = sourceOf(op))
        left.insert(*group);
    });
    llvm::DenseSet<int64_t> halves;
    for (auto [gone, kept] : merged)
      if (left.contains(gone)) {
        halves.insert(gone);
        if (kept)
          halves.insert(*kept);
      }
    getOperation().walk([&](Operation *op) {
      if (std::optional<int64_t> group = sourceOf(op))
        if (halves.contains(*group))
          removeSource(op);
    });
    merged.clear();
  }

  SmallVector<std::pair<int64_t, std::optional<int64_t>>> merged;
  const WholeNodes *whole = nullptr;
  /// How many operations each source node has.
  llvm::DenseMap<int64_t, unsigned> groupSizes;
};

} // namespace

std::unique_ptr<Pass>
createEliminateCommonSubexpressions(std::shared_ptr<PatternRun> run) {
  return std::make_unique<EliminateCommonSubexpressions>(std::move(run));
}

} // namespace sinter
