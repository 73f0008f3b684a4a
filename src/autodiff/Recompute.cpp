//===- Recompute.cpp - what the backward pass computes again --------------===//

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

/// Whether computing \p op costs more than reading what it gives: it sums up
/// many products, or does what is not known.
static bool isProduct(Operation *op) {
  return op->getNumRegions() != 0
             ? !isa<stablehlo::ReduceOp, stablehlo::ReduceWindowOp>(op)
             : arithmeticCount(*op) > 64 * bytesOf(op->getResult(0));
}

namespace {

/// One plan, carried out on a function.
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
    /// Whether products are, too.
    bool withProducts = false;
    bool isComputedAgain = false;
    SmallVector<Operation *> members;
    /// What is computed again, and what it is computed from.
    llvm::SetVector<Operation *> again;
    llvm::SetVector<Value> inputs;
  };

  /// The place of each operation of the block, and of the boundary.
  void number() {
    for (Operation &op : block) {
      const size_t place = placeOf.size();
      placeOf[&op] = place;
    }
    end = placeOf[boundary];
  }

  size_t placeOfUser(Operation *user) const {
    return placeOf.lookup(block.findAncestorOpInBlock(*user));
  }

  /// The first place on the way back where \p value is read; nothing if it is
  /// not.
  std::optional<size_t> firstReadBehind(Value value) const {
    std::optional<size_t> first;
    for (Operation *user : value.getUsers())
      if (const size_t place = placeOfUser(user);
          place > end && (!first || place < *first))
        first = place;
    return first;
  }

  double keptBytes(Operation *op) const {
    double bytes = 0;
    if (isConstant(op))
      return bytes;
    for (Value result : op->getResults())
      if (firstReadBehind(result))
        bytes += bytesOf(result);
    return bytes;
  }

  void cut() {
    double total = 0, passed = 0, inside = 0;
    for (Operation &op : block) {
      if (placeOf[&op] > end)
        break;
      total += keptBytes(&op);
    }
    segments.emplace_back();
    for (Operation &op : block) {
      if (placeOf[&op] > end)
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
    // The way back begins with the last one.
    segments.back().isComputedAgain = false;
  }

  bool mayRepeat(Operation *op, const Segment &segment) const {
    return isMemoryEffectFree(op) && !isConstant(op) &&
           (segment.withProducts || !isProduct(op)) &&
           llvm::any_of(op->getResults(),
                        [](Value each) { return bytesOf(each) > smallBytes; });
  }

  /// What is read on the way back, and all it takes in this segment.
  void choose(Segment &segment) {
    // The last first, so that users come before what they read.
    for (Operation *op : llvm::reverse(segment.members)) {
      if (!mayRepeat(op, segment))
        continue;
      const auto isWanted = [&](Value each) {
        return !kept.contains(each) &&
               (firstReadBehind(each) ||
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

  /// Copies behind a barrier, in front of the first that reads them.
  void computeAgain(Segment &segment) {
    std::optional<size_t> first;
    for (Operation *op : segment.again)
      for (Value result : op->getResults())
        if (!kept.contains(result))
          if (auto place = firstReadBehind(result))
            first = std::min(first.value_or(*place), *place);
    if (!first)
      return;
    Operation *reader = nullptr;
    for (Operation *op : segment.again)
      for (Operation *user : op->getUsers())
        if (Operation *each = block.findAncestorOpInBlock(*user);
            placeOf.lookup(each) == *first && placeOf.contains(each))
          reader = each;
    OpBuilder builder(reader);
    IRMapping mapping;
    bar(builder, segment, reader, mapping);
    for (Operation *op : llvm::reverse(segment.again)) {
      operations += arithmeticCount(*op);
      Operation *copy = builder.clone(*op, mapping);
      for (auto [old, again] :
           llvm::zip_equal(op->getResults(), copy->getResults()))
        if (!kept.contains(old))
          old.replaceUsesWithIf(again, [&](OpOperand &use) {
            Operation *user = block.findAncestorOpInBlock(*use.getOwner());
            return placeOf.contains(user) && placeOf.lookup(user) > end;
          });
    }
  }

  /// What the copies read, as known only where the way back has come.
  void bar(OpBuilder &builder, const Segment &segment, Operation *reader,
           IRMapping &mapping) {
    SmallVector<Value> operands(segment.inputs.begin(), segment.inputs.end());
    Value token;
    for (Value operand : reader->getOperands())
      if (Operation *from = operand.getDefiningOp();
          from && placeOf.contains(from) && placeOf.lookup(from) > end &&
          !isConstant(from))
        token = operand;
    if (token)
      operands.push_back(token);
    if (operands.empty())
      return;
    auto barrier = builder.create<stablehlo::OptimizationBarrierOp>(
        reader->getLoc(), ValueRange(operands).getTypes(), operands);
    for (auto [operand, result] :
         llvm::zip_equal(operands, barrier->getResults()))
      if (operand == token)
        reader->replaceUsesOfWith(token, result);
      else
        mapping.map(operand, result);
  }

  Block &block;
  Operation *boundary;
  const RecomputePlan &plan;
  llvm::DenseMap<Operation *, size_t> placeOf;
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
    // A barrier only hands on.
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

/// The operation of \p copy's block at the place that \p op has in its own.
static Operation *counterpart(Operation *op, func::FuncOp copy) {
  auto place = std::distance(op->getBlock()->begin(), Block::iterator(op));
  return &*std::next(copy.front().begin(), place);
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
