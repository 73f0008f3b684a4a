//===- Recompute.cpp - recomputation in the backward pass -----------------===//

#include "autodiff/Recompute.h"

#include "graph/ArithmeticCount.h"
#include "graph/Types.h"
#include "graph/stablehlo/StablehloOps.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace sinter::autodiff {

/// Values up to this size are kept: there is little to gain.
static constexpr double smallBytes = 4096;

static double bytesOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape() || !type.getElementType().isIntOrFloat())
    return 0;
  return static_cast<double>(type.getNumElements()) *
         ((type.getElementTypeBitWidth() + 7) / 8);
}

static bool isConstant(Operation *op) {
  return op->hasTrait<OpTrait::ConstantLike>();
}

/// Whether computing \p op costs more than reading its result: it is a matmul
/// or convolution, or of unknown cost.
static bool isProduct(Operation *op) {
  return op->getNumRegions() != 0
             ? !isa<stablehlo::ReduceOp, stablehlo::ReduceWindowOp>(op)
             : arithmeticCount(*op) > 64 * bytesOf(op->getResult(0));
}

namespace {

/// Applies one plan to a function.
class Recomputation {
public:
  Recomputation(func::FuncOp function, Operation *boundary,
                const RecomputePlan &plan)
      : block(function.front()), boundary(boundary), plan(plan) {
    number();
  }

  double run() {
    cut();
    for (size_t segment = segments.size(); segment-- > 0;)
      if (segments[segment].isComputedAgain)
        choose(segments[segment]);
    for (Segment &segment : segments)
      computeAgain(segment);
    return operations;
  }

private:
  struct Segment {
    /// Whether matmuls and convolutions are recomputed, too.
    bool withProducts = false;
    bool isComputedAgain = false;
    SmallVector<Operation *> members;
    /// The operations that are recomputed, and their inputs.
    llvm::SetVector<Operation *> again;
    llvm::SetVector<Value> inputs;
  };

  /// Numbers the operations of the block, and finds the boundary's index.
  void number() {
    for (Operation &op : block) {
      const size_t index = indexOf.size();
      indexOf[&op] = index;
    }
    end = indexOf[boundary];
  }

  size_t indexOfUser(Operation *user) const {
    return indexOf.lookup(block.findAncestorOpInBlock(*user));
  }

  /// The index of the first user of \p value in the backward pass; nothing if
  /// there is none.
  std::optional<size_t> firstBackwardUse(Value value) const {
    std::optional<size_t> first;
    for (Operation *user : value.getUsers())
      if (const size_t index = indexOfUser(user);
          index > end && (!first || index < *first))
        first = index;
    return first;
  }

  double keptBytes(Operation *op) const {
    double bytes = 0;
    if (isConstant(op))
      return bytes;
    for (Value result : op->getResults())
      if (firstBackwardUse(result))
        bytes += bytesOf(result);
    return bytes;
  }

  void cut() {
    double total = 0, passed = 0, inside = 0;
    for (Operation &op : block) {
      if (indexOf[&op] > end)
        break;
      total += keptBytes(&op);
    }
    segments.emplace_back();
    for (Operation &op : block) {
      if (indexOf[&op] > end)
        break;
      const bool withProducts = passed < plan.share * total;
      const bool isFull = plan.segmentBytes > 0 && withProducts
                              ? inside >= plan.segmentBytes
                              : isProduct(&op);
      if (isFull || segments.back().withProducts != withProducts) {
        segments.emplace_back();
        inside = 0;
      }
      segments.back().withProducts = withProducts;
      segments.back().isComputedAgain = true;
      segments.back().members.push_back(&op);
      const double bytes = keptBytes(&op);
      passed += bytes;
      inside += bytes;
    }
    // The backward pass begins with the last one.
    segments.back().isComputedAgain = false;
  }

  bool mayRepeat(Operation *op, const Segment &segment) const {
    return isMemoryEffectFree(op) && !isConstant(op) &&
           (segment.withProducts || !isProduct(op)) &&
           llvm::any_of(op->getResults(),
                        [](Value each) { return bytesOf(each) > smallBytes; });
  }

  /// Chooses the operations whose results the backward pass uses, and those of
  /// this segment that they need.
  void choose(Segment &segment) {
    // In reverse order, so that users come before their operands.
    for (Operation *op : llvm::reverse(segment.members)) {
      if (!mayRepeat(op, segment))
        continue;
      const auto isWanted = [&](Value each) {
        return !kept.contains(each) &&
               (firstBackwardUse(each) ||
                llvm::any_of(each.getUsers(), [&](Operation *user) {
                  return segment.again.contains(
                      block.findAncestorOpInBlock(*user));
                }));
      };
      if (llvm::any_of(op->getResults(), isWanted))
        segment.again.insert(op);
    }
    for (Operation *op : segment.again)
      op->walk([&](Operation *inner) {
        for (Value operand : inner->getOperands()) {
          Operation *from = operand.getDefiningOp();
          if (from && from->getBlock() != &block)
            continue;
          if (auto argument = dyn_cast<BlockArgument>(operand);
              argument && argument.getOwner() != &block)
            continue;
          if (from && (segment.again.contains(from) || isConstant(from)))
            continue;
          segment.inputs.insert(operand);
          kept.insert(operand);
        }
      });
  }

  /// Copies the operations behind a barrier, in front of their first user.
  void computeAgain(Segment &segment) {
    std::optional<size_t> first;
    for (Operation *op : segment.again)
      for (Value result : op->getResults())
        if (!kept.contains(result))
          if (auto index = firstBackwardUse(result))
            first = std::min(first.value_or(*index), *index);
    if (!first)
      return;
    Operation *firstUser = nullptr;
    for (Operation *op : segment.again)
      for (Operation *user : op->getUsers())
        if (Operation *each = block.findAncestorOpInBlock(*user);
            indexOf.lookup(each) == *first && indexOf.contains(each))
          firstUser = each;
    OpBuilder builder(firstUser);
    IRMapping mapping;
    insertBarrier(builder, segment, firstUser, mapping);
    for (Operation *op : llvm::reverse(segment.again)) {
      operations += arithmeticCount(*op);
      Operation *copy = builder.clone(*op, mapping);
      for (auto [old, again] :
           llvm::zip_equal(op->getResults(), copy->getResults()))
        if (!kept.contains(old))
          old.replaceUsesWithIf(again, [&](OpOperand &use) {
            Operation *user = block.findAncestorOpInBlock(*use.getOwner());
            return indexOf.contains(user) && indexOf.lookup(user) > end;
          });
    }
  }

  /// Passes the copies' inputs through a barrier, together with a value of the
  /// backward pass that they then depend on.
  void insertBarrier(OpBuilder &builder, const Segment &segment,
                     Operation *firstUser, IRMapping &mapping) {
    SmallVector<Value> operands(segment.inputs.begin(), segment.inputs.end());
    Value token;
    for (Value operand : firstUser->getOperands())
      if (Operation *from = operand.getDefiningOp();
          from && indexOf.contains(from) && indexOf.lookup(from) > end &&
          !isConstant(from))
        token = operand;
    if (token)
      operands.push_back(token);
    if (operands.empty())
      return;
    auto barrier = builder.create<stablehlo::OptimizationBarrierOp>(
        firstUser->getLoc(), ValueRange(operands).getTypes(), operands);
    for (auto [operand, result] :
         llvm::zip_equal(operands, barrier->getResults()))
      if (operand == token)
        firstUser->replaceUsesOfWith(token, result);
      else
        mapping.map(operand, result);
  }

  Block &block;
  Operation *boundary;
  const RecomputePlan &plan;
  llvm::DenseMap<Operation *, size_t> indexOf;
  size_t end = 0;
  std::vector<Segment> segments;
  llvm::DenseSet<Value> kept;
  double operations = 0;
};

} // namespace

double recompute(func::FuncOp function, Operation *boundary,
                 const RecomputePlan &plan) {
  return plan.share < 0 ? 0 : Recomputation(function, boundary, plan).run();
}

double peakBytes(func::FuncOp function) {
  Block &block = function.front();
  llvm::DenseMap<Operation *, SmallVector<Value>> endsAt;
  double now = 0, most = 0;
  for (BlockArgument argument : block.getArguments())
    now += bytesOf(argument);
  for (Operation &op : block)
    if (!isConstant(&op))
      for (Value result : op.getResults()) {
        Operation *last = &op;
        for (Operation *user : result.getUsers()) {
          Operation *each = block.findAncestorOpInBlock(*user);
          if (last->isBeforeInBlock(each))
            last = each;
        }
        endsAt[last].push_back(result);
      }
  for (Operation &op : block) {
    if (isConstant(&op))
      continue;
    // A barrier only returns its operands.
    const bool isAlias = isa<stablehlo::OptimizationBarrierOp>(op);
    if (!isAlias)
      for (Value result : op.getResults())
        now += bytesOf(result);
    most = std::max(most, now);
    for (Value value : endsAt.lookup(&op))
      if (!value.getDefiningOp<stablehlo::OptimizationBarrierOp>())
        now -= bytesOf(value);
  }
  return most;
}

/// The operation of \p copy's block at the index that \p op has in its own.
static Operation *counterpart(Operation *op, func::FuncOp copy) {
  auto index = std::distance(op->getBlock()->begin(), Block::iterator(op));
  return &*std::next(copy.front().begin(), index);
}

std::vector<RecomputeEstimate> recomputePlans(func::FuncOp function,
                                              Operation *boundary) {
  std::vector<RecomputeEstimate> all;
  auto add = [&](const RecomputePlan &plan) {
    OwningOpRef<func::FuncOp> copy = function.clone();
    const double operations =
        recompute(*copy, counterpart(boundary, *copy), plan);
    all.push_back({plan, operations, peakBytes(*copy)});
  };
  const double whole = peakBytes(function);
  all.push_back({RecomputePlan::nothing(), 0, whole});
  add({});
  for (double parts : {2, 4, 8, 16, 32, 64})
    for (double share : {0.25, 0.5, 0.75, 1.0})
      add({whole / parts, share});
  llvm::stable_sort(all, [](const auto &a, const auto &b) {
    return a.operations < b.operations;
  });
  std::vector<RecomputeEstimate> useful;
  for (const RecomputeEstimate &each : all)
    if (useful.empty() || each.peakBytes < useful.back().peakBytes)
      useful.push_back(each);
  return useful;
}

} // namespace sinter::autodiff
