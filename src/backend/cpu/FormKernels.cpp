//===- FormKernels.cpp - which operations are computed together -----------===//

#include "backend/cpu/FormKernels.h"

#include "backend/cpu/Amplified.h"
#include "backend/cpu/BFloat16Roundings.h"
#include "backend/cpu/CollapseDimensions.h"
#include "backend/cpu/FusionGroup.h"
#include "backend/cpu/OperationKind.h"
#include "backend/cpu/SetPrecisions.h"
#include "backend/cpu/emit/Anchors.h"
#include "backend/cpu/emit/Elemental.h"
#include "backend/cpu/emit/ExactWidening.h"
#include "backend/cpu/ir/CpuOps.h"
#include "backend/cpu/regions/RegionForm.h"
#include "graph/ProductPrecision.h"
#include "graph/nn/NnOps.h"

#include <map>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

namespace {

constexpr llvm::StringLiteral joinLabel = "join-producer",
                              collapseLabel = "collapse-dimensions",
                              passName = "cpu-form-kernels";

/// More operations in one kernel only cost compile time.
constexpr size_t maxKernelOps = 96;

/// Whether one element of \p user reads at most one element of operand \p
/// operand, and no element of it is read by more than one.
bool readsOnce(Operation *user, OpOperand &operand) {
  using namespace stablehlo;
  switch (kindOf(user)) {
  case Kind::Elementwise:
  case Kind::Reduction:
  case Kind::Alias:
    return sizeOf(operand.get()) > 1 || sizeOf(user->getResult(0)) == 1;
  case Kind::Movement:
    if (isa<GatherOp, DynamicSliceOp, DynamicUpdateSliceOp>(user) &&
        operand.getOperandNumber() > 0)
      return false;
    return !isa<GatherOp>(user) &&
           sizeOf(operand.get()) >= sizeOf(user->getResult(0));
  default:
    return false;
  }
}

class FusionPlanner {
public:
  FusionPlanner(Block &block, PatternRun &run)
      : block(block), patterns(run), joins(run.isEnabled(joinLabel)),
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
  /// Whether somebody reads \p op's result from memory.
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
      // An alias that is computed in one kernel may be read by another, which
      // computes a broadcast of it anew.
      if (isAlias(user) && isNeeded(user))
        return true;
    }
    return false;
  }
  /// An alias without users reads nothing.
  bool isLive(Operation *user) { return !isAlias(user) || isNeeded(user); }

  void grow(FusionGroup &group, Operation *root) {
    groupsOf[root].push_back(&group);
    if (!joins)
      return;
    for (bool changed = true; changed && group.ops.size() < maxKernelOps;) {
      changed = false;
      for (size_t i = 0; i < group.ops.size(); ++i)
        for (OpOperand &operand : group.ops[i]->getOpOperands())
          changed |= tryJoin(group, operand);
    }
  }

  bool tryJoin(FusionGroup &group, OpOperand &operand) {
    Operation *producer = operand.get().getDefiningOp();
    if (!producer || producer->getBlock() != &block ||
        group.contains(producer) || group.ops.size() >= maxKernelOps)
      return false;
    Operation *user = operand.getOwner();
    // What is updated lies in memory, where the update is written over it.
    bool isUpdated = isa<stablehlo::DynamicUpdateSliceOp>(user) &&
                     user == group.root && operand.getOperandNumber() == 0;
    if (!acceptsAll(user) || isUpdated)
      return false;
    std::optional<Place> place = group.placeFor(producer);
    // A reshape is worth joining only for what stands before it.
    if (kindOf(producer) == Kind::Alias) {
      Operation *source = producer->getOperand(0).getDefiningOp();
      if (!isa<stablehlo::ReshapeOp>(producer) || !place ||
          !usedOnlyIn(group, producer) || !source ||
          source->getBlock() != &block || !source->hasOneUse() ||
          !keepsNamedSizes(producer))
        return false;
      join(group, producer, *place);
      if (mayJoin(group, source, producer->getOpOperand(0))) {
        join(group, source, *group.placeFor(source));
        return true;
      }
      group.ops.pop_back();
      group.places.erase(producer);
      groupsOf[producer].pop_back();
      if (groupsOf[producer].empty())
        groupsOf.erase(producer);
      return false;
    }
    if (!mayJoin(group, producer, operand))
      return false;
    if (!isFree(group, producer) &&
        (!usedOnlyIn(group, producer) || feedsRepeated(group, producer)))
      group.repeated.insert(producer);
    join(group, producer, place ? *place : Place{false, {group.nextPlace++}});
    return true;
  }

  void join(FusionGroup &group, Operation *op, Place place) {
    if (auto reduce = dyn_cast<stablehlo::ReduceOp>(op))
      group.admit(reduce, place);
    group.add(op, std::move(place));
    groupsOf[op].push_back(&group);
  }

  /// Whether code finds the element of what \p op reshapes: where sizes are
  /// named, it does not compute with them.
  static bool keepsNamedSizes(Operation *op) {
    return !hasNamedSizes(op) ||
           keepsNamedDimensions(shapeOf(op->getOperand(0)),
                                shapeOf(op->getResult(0)));
  }

  static bool usedOnlyIn(FusionGroup &group, Operation *op) {
    return llvm::all_of(op->getUsers(),
                        [&](Operation *user) { return group.contains(user); });
  }

  /// Operations that compute from elements, not from whole tensors.
  static bool acceptsAll(Operation *user) {
    Kind kind = kindOf(user);
    return kind != Kind::Product && kind != Kind::Whole;
  }

  /// Bytes are looked up many at a time where everything else is computed
  /// element by element beside that; among rows or what moves elements they
  /// would be one by one.
  static bool suitsLookups(FusionGroup &group, Operation *producer) {
    auto isBeside = [](Operation *op) {
      return kindOf(op) == Kind::Elementwise || kindOf(op) == Kind::Product ||
             isa<stablehlo::BroadcastInDimOp>(op);
    };
    if (isa<LookupOp>(producer))
      return !group.hasRows && llvm::all_of(group.ops, isBeside);
    return isBeside(producer) || llvm::none_of(group.ops, [](Operation *op) {
             return isa<LookupOp>(op);
           });
  }

  /// Whether \p producer makes one number, of numbers, for a kernel that makes
  /// one, too: that takes less than a kernel of its own.
  static bool isCheapNumber(FusionGroup &group, Operation *producer) {
    auto isNumber = [](Value value) { return sizeOf(value) == 1; };
    return isCheap(producer) && kindOf(producer) == Kind::Elementwise &&
           isNumber(group.root->getResult(0)) &&
           llvm::all_of(producer->getOperands(), isNumber);
  }

  /// Whether \p producer costs nothing: it is computed anew by everybody who
  /// wants it.
  static bool isFree(FusionGroup &group, Operation *producer) {
    return isa<stablehlo::IotaOp, stablehlo::BroadcastInDimOp>(producer) ||
           isCheapNumber(group, producer);
  }

  /// Whether everybody who reads \p producer's result may as well compute it,
  /// so that nobody writes it: \p most cheap operations one after the other,
  /// on a tensor of the same size that lies in memory for other readers anyway,
  /// and on what is repeated along it. A norm's distances from the mean are
  /// such, and what a rectifier and its gradient read.
  bool isReadAsCheaply(Operation *producer, unsigned most = 3) {
    constexpr int64_t fewestElements = 1024;
    constexpr unsigned mostReaders = 4;
    if (kindOf(producer) != Kind::Elementwise || !isCheap(producer) ||
        producer->getNumResults() != 1 || producer->getNumRegions() != 0 ||
        hasComplexNumbers(producer))
      return false;
    Value result = producer->getResult(0), source;
    if (sizeOf(result) < fewestElements)
      return false;
    for (Value operand : producer->getOperands()) {
      if (operand == source || isRepeated(operand))
        continue;
      if (source)
        return false;
      source = operand;
    }
    if (!source || sizeOf(source) != sizeOf(result) ||
        bitsOf(source) > bitsOf(result))
      return false;
    Operation *before = source.getDefiningOp();
    if (before && kindOf(before) != Kind::Elementwise &&
        kindOf(before) != Kind::Product)
      return false;
    if (before && before->hasOneUse() &&
        (most == 1 || !isReadAsCheaply(before, most - 1)))
      return false;
    unsigned readers = 0;
    return llvm::all_of(result.getUsers(), [&](Operation *user) {
      const Kind kind = kindOf(user);
      return user->getBlock() == &block && ++readers <= mostReaders &&
             (kind == Kind::Elementwise || kind == Kind::Reduction);
    });
  }
  /// Whether other kernels read \p producer's result, too, since they compute
  /// again what \p group makes of it.
  static bool feedsRepeated(FusionGroup &group, Operation *producer) {
    return llvm::any_of(producer->getUsers(), [&](Operation *user) {
      return group.repeated.contains(user);
    });
  }
  /// Whether \p value is few numbers that are repeated, or one.
  static bool isRepeated(Value value) {
    return sizeOf(value) == 1 || isSplatConstant(value) ||
           value.getDefiningOp<stablehlo::BroadcastInDimOp>();
  }

  bool mayJoin(FusionGroup &group, Operation *producer, OpOperand &operand) {
    if (!suitsLookups(group, producer))
      return false;
    switch (kindOf(producer)) {
    case Kind::Elementwise:
    case Kind::Movement:
      break;
    case Kind::Reduction:
      if (group.hasProduct())
        return false;
      break;
    case Kind::Product:
      return !feedsRepeated(group, producer) &&
             mayJoinProduct(group, producer, operand.getOwner());
    default:
      return false;
    }
    if (group.hasProduct() && !isComputedInVectors(producer))
      return false;
    if (isFree(group, producer))
      return true;
    if (!isReadAsCheaply(producer) &&
        (!usedOnlyIn(group, producer) || feedsRepeated(group, producer)))
      return false;
    std::optional<Place> place = group.placeFor(producer);
    if (!place)
      return false;
    if (auto reduce = dyn_cast<stablehlo::ReduceOp>(producer))
      return group.mayAdmit(reduce, *place);
    // Only loops over the root's own elements are cut where another piece
    // begins; a reduction would decide at every element which one it reads.
    if (isa<stablehlo::ConcatenateOp>(producer) &&
        (group.hasRows || isa<stablehlo::ReduceOp>(operand.getOwner())))
      return false;
    // Along rows, or along the numbers of rows, each is computed once a pass.
    const bool isAlongRows =
        group.hasRows && place->isSimple &&
        ArrayRef(place->dims).take_front(group.rowDims.size()) ==
            ArrayRef(group.rowDims);
    return (isAlongRows || readsOnce(operand.getOwner(), operand) ||
            (isCheap(producer) && !isRepeatedForLong(producer, operand)) ||
            (!group.hasRows && leadsToRows(group, producer, *place))) &&
           !isLeftToProduct(group, producer);
  }

  /// Whether \p producer ends a chain of several operations on few elements,
  /// of which \p operand's owner makes so many that these take longer to be
  /// computed for each than by a kernel of their own: a mask, say, that is
  /// quantised and dequantised, and added to all scores.
  static bool isRepeatedForLong(Operation *producer, OpOperand &operand) {
    constexpr int64_t leastElements = 1 << 16, leastTimes = 16;
    constexpr unsigned leastSteps = 4;
    auto repeats = dyn_cast<stablehlo::BroadcastInDimOp>(operand.getOwner());
    if (!repeats || hasNamedSizes(repeats))
      return false;
    const int64_t few = sizeOf(operand.get()),
                  many = sizeOf(repeats.getResult());
    if (few <= 1 || many < leastElements || many / few < leastTimes)
      return false;
    SetVector<Operation *> chain;
    chain.insert(producer);
    for (unsigned i = 0; i < chain.size() && chain.size() < leastSteps; ++i)
      for (Value before : chain[i]->getOperands())
        if (Operation *op = before.getDefiningOp();
            op && kindOf(op) == Kind::Elementwise && sizeOf(before) == few)
          chain.insert(op);
    return chain.size() >= leastSteps;
  }

  /// The product from whose results \p op is computed element by element, by
  /// operations that nobody else reads, if its kernel takes all of that and
  /// writes narrower elements then than its sums are; null else.
  static Operation *productBehind(Operation *op) {
    SetVector<Operation *> chain;
    chain.insert(op);
    for (unsigned i = 0; i < chain.size() && i < maxKernelOps; ++i) {
      Operation *each = chain[i];
      if (kindOf(each) != Kind::Elementwise || each->getNumResults() != 1 ||
          (each != op && !each->hasOneUse()))
        continue;
      for (Value operand : each->getOperands()) {
        Operation *producer = operand.getDefiningOp();
        if (!producer)
          continue;
        if (kindOf(producer) != Kind::Product)
          chain.insert(producer);
        else if (epilogueOf(producer) != Epilogue::None &&
                 producer->hasOneUse() && mayTakeResultsOf(op, producer) &&
                 bitsOf(op->getResult(0)) < bitsOf(producer->getResult(0)))
          return producer;
      }
    }
    return nullptr;
  }
  static unsigned bitsOf(Value value) {
    return bitWidth(*elementTypeOf(getElementTypeOrSelf(value)));
  }

  /// Whether \p producer belongs to the kernel of a product that \p group does
  /// not become: it is better read as that kernel wrote it.
  static bool isLeftToProduct(FusionGroup &group, Operation *producer) {
    Operation *product = kindOf(producer) == Kind::Elementwise
                             ? productBehind(producer)
                             : nullptr;
    if (!product)
      return false;
    const Place &root = group.places.find(group.root)->second;
    const bool mayTakeIt =
        !group.hasRows && !group.hasProduct() &&
        (!group.awaited || group.awaited == product) &&
        llvm::all_of(group.ops, [&](Operation *op) {
          return kindOf(op) == Kind::Elementwise
                     ? group.places.find(op)->second == root
                     : isa<stablehlo::BroadcastInDimOp, stablehlo::IotaOp>(op);
        });
    if (mayTakeIt)
      group.awaited = product;
    return !mayTakeIt;
  }

  /// Whether \p op is computed element by element from a reduction that makes
  /// \p group one of rows, all by operations that nobody else reads: what
  /// (x - mean) / sqrt(variance) has behind the division is computed once a
  /// row.
  static bool leadsToRows(FusionGroup &group, Operation *op,
                          const Place &place) {
    constexpr unsigned mostOps = 16;
    SetVector<Operation *> chain;
    chain.insert(op);
    bool hasReduction = false;
    for (unsigned i = 0; i < chain.size(); ++i) {
      Operation *each = chain[i];
      if (auto reduce = dyn_cast<stablehlo::ReduceOp>(each)) {
        hasReduction |= group.mayAdmit(reduce, place);
        continue;
      }
      for (Value operand : each->getOperands())
        if (Operation *producer = operand.getDefiningOp();
            producer && kindOf(producer) != Kind::Constant &&
            !isa<stablehlo::IotaOp, stablehlo::BroadcastInDimOp>(producer) &&
            sizeOf(operand) == sizeOf(each->getResult(0)))
          chain.insert(producer);
      bool isBeside = kindOf(each) == Kind::Elementwise ||
                      (isa<stablehlo::ReshapeOp>(each) &&
                       properSizes(shapeOf(each->getOperand(0))) ==
                           properSizes(shapeOf(each->getResult(0))));
      if (!isBeside || chain.size() > mostOps)
        return false;
    }
    return hasReduction && !group.hasProduct() &&
           llvm::all_of(chain, [&](Operation *each) {
             return llvm::all_of(each->getUsers(), [&](Operation *user) {
               return group.contains(user) || chain.contains(user);
             });
           });
  }

  /// Whether \p op has vectors for several neighbours at once. Complex numbers
  /// have none, nor has a map whose region was not inlined: that has control
  /// flow.
  static bool isComputedInVectors(Operation *op) {
    return !isa<stablehlo::MapOp>(op) && !hasComplexNumbers(op);
  }

  /// Whether each vector of \p producer's results becomes one of \p root's.
  static bool mayTakeResultsOf(Operation *root, Operation *producer) {
    if (root->getNumResults() != 1 ||
        shapeOf(root->getResult(0)) != shapeOf(producer->getResult(0)))
      return false;
    Type type = tensorOf(root->getResult(0)).getElementType();
    switch (epilogueOf(producer)) {
    case Epilogue::None:
      return false;
    case Epilogue::AnyFloat:
      return type.isF16() || type.isBF16() ||
             type == tensorOf(producer->getResult(0)).getElementType();
    case Epilogue::AnyType:
      return true;
    }
    llvm_unreachable("not an epilogue");
  }

  /// What follows a product elementwise is computed on its results while they
  /// are in registers.
  static bool mayJoinProduct(FusionGroup &group, Operation *producer,
                             Operation *user) {
    auto isBesideRoot = [&](Operation *op) {
      return kindOf(op) == Kind::Elementwise &&
             group.places.find(op)->second ==
                 group.places.find(group.root)->second;
    };
    return epilogueOf(producer) != Epilogue::None && producer->hasOneUse() &&
           !group.hasRows && !group.hasProduct() && isBesideRoot(group.root) &&
           isBesideRoot(user) && llvm::all_of(group.ops, isComputedInVectors) &&
           mayTakeResultsOf(group.root, producer);
  }

  /// Whether the value is known at compile time, so that an anchor may pack it.
  static bool isPackable(Value value) {
    Operation *definition = value.getDefiningOp();
    while (definition && isAlias(definition))
      definition = definition->getOperand(0).getDefiningOp();
    return definition && kindOf(definition) == Kind::Constant;
  }

  /// Says which inputs may be packed at compile time.
  static void markConstants(KernelOp kernel) {
    SmallVector<int64_t> indices;
    for (auto [i, input] : llvm::enumerate(kernel.getInputs()))
      if (isPackable(input))
        indices.push_back(i);
    kernel.setConstantInputs(indices);
  }

  /// Leaves of \p op and what is inside of it the code alone: the same
  /// computation of other nodes is the same kernel.
  static void forgetOrigins(Operation *op) {
    op->walk([](Operation *each) {
      constexpr StringLiteral ofCode[] = {
          roundsNothingAttribute, ofBFloat16Attribute, precisionAttribute,
          numbersAttribute,       amplifiedAttribute,  lastAttribute};
      NamedAttrList kept;
      for (NamedAttribute attribute : each->getDiscardableAttrs())
        if (llvm::is_contained(ofCode, attribute.getName().getValue()))
          kept.append(attribute);
      each->setDiscardableAttrs(kept.getDictionary(each->getContext()));
    });
  }

  /// The operations of \p group, producers before their users, in an order that
  /// follows from what they compute and not from where they stood: kernels that
  /// compute the same have the same text.
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
    // What an anchor may pack is an input that nothing else reads: packed, it
    // lies in an order that only the anchor knows.
    SmallVector<OpOperand *> ofAnchor;
    for (Operation *op : ordered)
      for (OpOperand &operand : op->getOpOperands()) {
        Value value = operand.get();
        Operation *definition = value.getDefiningOp();
        if (definition && group.contains(definition))
          continue;
        bool isInside = isSplatConstant(value) && kindOf(op) != Kind::Product;
        if (!isInside && isAnchor(op) && isPackable(value))
          ofAnchor.push_back(&operand);
        else
          (isInside ? constants : inputs).insert(value);
      }
    SmallVector<Value> all = inputs.takeVector();
    const size_t shared = all.size();
    for (OpOperand *operand : ofAnchor)
      all.push_back(operand->get());
    // Regions of reductions and the like use nothing from outside;
    // ExpandRegions has seen to it.
    OpBuilder builder(group.root);
    auto kernel = builder.create<KernelOp>(group.root->getLoc(),
                                           group.root->getResultTypes(), all);
    Block *body = builder.createBlock(&kernel.getBody());
    if (llvm::any_of(group.ops, isAnchor))
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
      for (auto [i, operand] : llvm::enumerate(ofAnchor))
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

  /// What \p op returns with a part of it replaced; null if it does not.
  static Value updatedBy(Operation *op) {
    if (auto update = dyn_cast_or_null<stablehlo::DynamicUpdateSliceOp>(op))
      return update.getOperand();
    auto scatter = dyn_cast_or_null<stablehlo::ScatterOp>(op);
    return scatter && scatter.getInputs().size() == 1 ? scatter.getInputs()[0]
                                                      : Value();
  }

  /// A kernel that replaces a part of an input that it does not read.
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
        patterns.replaced(passName, result, value);
        result.replaceAllUsesWith(value);
      }
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (op.use_empty() && !isa<KernelOp, HostCallOp, DefineSizesOp>(op) &&
          !op.hasTrait<OpTrait::IsTerminator>() && !isControlFlow(&op))
        op.erase();
  }

  Block &block;
  PatternRun &patterns;
  const bool joins, collapses;
  std::vector<std::unique_ptr<FusionGroup>> groups;
  DenseMap<Operation *, SmallVector<FusionGroup *, 1>> groupsOf;
  SmallVector<std::pair<Operation *, KernelOp>> replacements;
};

/// Names what no kernel can compute, with counts.
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
      {joinLabel, "f(g(x)) -> cpu.kernel(x) { f(g) }", passName},
      {collapseLabel,
       "cpu.kernel(8x64x56x56: x + bias) -> cpu.kernel(8x64x3136: x + bias)",
       passName}};
  return infos;
}

Result<void> cpu::formKernels(func::FuncOp function, PatternRun &run) {
  if (Result<void> supported = checkSupported(function); !supported)
    return supported;
  formIn(function.getBody().front(), run);
  return {};
}
