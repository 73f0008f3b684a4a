#include "backend/cpu/layout/WidenOnce.h"

#include "backend/cpu/OperationKind.h"
#include "backend/cpu/emit/ExactWidening.h"
#include "backend/cpu/ir/CpuOps.h"
#include "graph/NamedSizes.h"
#include "graph/nn/TensorBuilder.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using sinter::nn::TensorBuilder;
using sinter::stablehlo::ConcatenateOp;
using sinter::stablehlo::ConvertOp;
using sinter::stablehlo::ReshapeOp;
using sinter::stablehlo::TransposeOp;

namespace sinter::cpu {

static constexpr llvm::StringLiteral widenOnceLabel = "widen-once";

ArrayRef<PatternInfo> widenOncePatterns() {
  static const PatternInfo infos[] = {
      {widenOnceLabel,
       "convolution(convert<f32>(x)), add(x, y) : f16 -> w = convert<f32>(x), "
       "convolution(w), add(convert<f16>(w), y)",
       "cpu-widen-once"}};
  return infos;
}

/// From f16 or bf16 to f32, or from bytes to words.
static bool isWidening(ConvertOp op) {
  Type from = tensorOf(op.getOperand()).getElementType(),
       to = tensorOf(op.getResult()).getElementType();
  return ((from.isF16() || from.isBF16()) && to.isF32()) ||
         (from.isInteger(8) && to.isSignlessInteger(16));
}

/// Whether somebody reads \p value, in whatever shape, from memory: a product,
/// or who is returned it.
static bool isReadWhole(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) {
    switch (kindOf(user)) {
    case Kind::Elementwise:
    case Kind::Reduction:
    case Kind::Window:
    case Kind::Movement:
      return false;
    case Kind::Alias:
      return isReadWhole(user->getResult(0));
    default:
      return true;
    }
  });
}

static bool isReadByElements(Value value);

/// Whether each window of \p pool holds an element of its input.
static bool hasNoEmptyWindow(PoolOp pool) {
  auto input = tensorOf(pool.getInput()), result = tensorOf(pool.getResult());
  for (size_t i = 0; i < 2; ++i) {
    const int64_t window = pool.getWindow()[i],
                  in = input.getDimSize(int64_t(i) + 2),
                  out = result.getDimSize(int64_t(i) + 2);
    const auto high = pool.getPaddingHigh();
    const int64_t behind = high ? (*high)[i]
                                : (out - 1) * pool.getStrides()[i] + window -
                                      pool.getPaddingLow()[i] - in;
    if (pool.getDilations()[i] != 1 || pool.getPaddingLow()[i] >= window ||
        behind >= window || (!high && (isNamed(in) || isNamed(out))))
      return false;
  }
  return true;
}

/// Whether \p user computes with elements, so that where they come from is up
/// to its kernel. Pools of bytes read words as well; of no bytes, they would
/// give another least number.
static bool takesElements(Operation *user) {
  if (auto pool = dyn_cast<PoolOp>(user))
    return tensorOf(pool.getInput()).getElementType().isInteger(8) &&
           hasNoEmptyWindow(pool);
  switch (kindOf(user)) {
  case Kind::Elementwise:
  case Kind::Reduction:
  case Kind::Window:
    return true;
  case Kind::Movement:
    return !isa<stablehlo::DynamicUpdateSliceOp>(user);
  case Kind::Alias:
    return isa<ReshapeOp>(user) && isReadByElements(user->getResult(0));
  default:
    return false;
  }
}

/// Whether all that reads \p value does.
static bool isReadByElements(Value value) {
  return llvm::all_of(value.getUsers(), takesElements);
}

/// Whether a kernel of \p block computes \p value, and is to write it.
static bool isComputedIn(Block &block, Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != &block)
    return false;
  switch (kindOf(op)) {
  case Kind::Elementwise:
  case Kind::Movement:
  case Kind::Reduction:
  case Kind::Window:
    return op->getNumResults() == 1;
  default:
    return false;
  }
}

namespace {

class Widener {
public:
  Widener(Block &block, PatternRun &run) : block(block), patterns(run) {}

  void run() {
    SmallVector<ConvertOp> all;
    for (auto convert : block.getOps<ConvertOp>())
      if (isWidening(convert))
        all.push_back(convert);
    while (!all.empty())
      moveBack(all.pop_back_val(), all);
    llvm::MapVector<Value, SmallVector<ConvertOp>> found;
    for (auto convert : block.getOps<ConvertOp>())
      if (isWidening(convert))
        found[convert.getOperand()].push_back(convert);
    for (auto &[value, converts] : found)
      widen(value, converts);
    takeWide();
  }

private:
  /// Lets what moves elements move those of \p convert. What it moves may then
  /// be written so where it is computed, a part of a joint in its place. Adds
  /// the conversions of its operands to \p left.
  void moveBack(ConvertOp convert, SmallVectorImpl<ConvertOp> &left) {
    Operation *mover = convert.getOperand().getDefiningOp();
    if (!mover || mover->getBlock() != &block || !movesAll(mover, convert))
      return;
    OpBuilder builder(convert);
    TensorBuilder emit(builder, convert.getLoc());
    auto type = tensorOf(convert.getResult());
    IRMapping wide;
    for (Value operand : mover->getOperands()) {
      wide.map(operand, emit.convert(operand, type.getElementType()));
      left.push_back(wide.lookup(operand).getDefiningOp<ConvertOp>());
    }
    Operation *moved = builder.clone(*mover, wide);
    moved->getResult(0).setType(type);
    patterns.replace(widenOnceLabel, convert, moved->getResult(0));
    convert.erase();
    if (mover->use_empty())
      mover->erase();
    patterns.graphIsWhole(widenOnceLabel);
  }

  /// Whether \p mover may move the elements that \p convert gives: reshapes
  /// cost nothing, others do it once.
  bool movesAll(Operation *mover, ConvertOp convert) {
    if (isa<ReshapeOp>(mover))
      return true;
    if (!mover->getResult(0).hasOneUse())
      return false;
    return isa<TransposeOp>(mover) ||
           (isa<ConcatenateOp>(mover) &&
            llvm::all_of(mover->getOperands(), [&](Value operand) {
              return operand.hasOneUse() && isComputedIn(block, operand);
            }));
  }

  /// Lets \p converts of \p value be one, as far as they are read from memory.
  void widen(Value value, ArrayRef<ConvertOp> converts) {
    SmallVector<ConvertOp> inMemory;
    llvm::copy_if(converts, std::back_inserter(inMemory),
                  [](ConvertOp each) { return isReadWhole(each.getResult()); });
    if (inMemory.empty() || readInPools(value, inMemory))
      return;
    const bool isStored = isComputedIn(block, value) && isReadByElements(value);
    ArrayRef<ConvertOp> shared = isStored ? converts : inMemory;
    // As they stand in the block.
    ConvertOp first = shared.front();
    for (ConvertOp other : shared.drop_front()) {
      patterns.replace(widenOnceLabel, other, first.getResult());
      other.erase();
    }
    if (isStored) {
      // It is the value in another form, for those who read profiles, too.
      first->setLoc(value.getLoc());
      first->moveAfter(value.getDefiningOp());
      narrowUses(value, first.getResult(), first);
    }
    if (shared.size() > 1 || isStored)
      patterns.graphIsWhole(widenOnceLabel);
  }

  /// Pools widen what they read by themselves, each pixel once: where nobody
  /// else wants \p value in f32, it stays as it is.
  bool readInPools(Value value, ArrayRef<ConvertOp> converts) {
    SmallVector<PoolOp> pools;
    for (ConvertOp convert : converts)
      for (Operation *user : convert->getUsers()) {
        if (auto pool = dyn_cast<PoolOp>(user))
          pools.push_back(pool);
        else if (!takesElements(user))
          return false;
      }
    for (PoolOp pool : pools) {
      pool.getInputMutable().assign(value);
      patterns.count(widenOnceLabel);
    }
    patterns.graphIsWhole(widenOnceLabel);
    return true;
  }

  /// Lets who reads \p value read \p wide instead, each by itself: a conversion
  /// that several kernels share would be a kernel of its own.
  void narrowUses(Value value, Value wide, Operation *except) {
    SmallVector<Operation *> users;
    for (Operation *user : value.getUsers())
      if (user != except && !llvm::is_contained(users, user))
        users.push_back(user);
    for (Operation *user : users) {
      OpBuilder builder(user);
      TensorBuilder emit(builder, user->getLoc());
      if (auto reshape = dyn_cast<ReshapeOp>(user)) {
        auto type = tensorOf(reshape.getResult());
        Value shaped = builder.create<ReshapeOp>(
            user->getLoc(), type.clone(tensorOf(wide).getElementType()), wide);
        narrowUses(reshape.getResult(), shaped, nullptr);
        continue;
      }
      patterns.count(widenOnceLabel);
      if (auto pool = dyn_cast<PoolOp>(user)) {
        poolWords(pool, wide);
        continue;
      }
      user->replaceUsesOfWith(
          value, narrowed(emit, wide, tensorOf(value).getElementType()));
    }
  }

  /// \p wide in the narrower type \p element, which holds its numbers.
  static Value narrowed(TensorBuilder &emit, Value wide, Type element) {
    Value narrow = emit.convert(wide, element);
    narrow.getDefiningOp()->setAttr(roundsNothingAttribute,
                                    emit.builder.getUnitAttr());
    return narrow;
  }

  /// Lets \p pool, of bytes, read \p words instead. The greatest of them are
  /// words, too.
  void poolWords(PoolOp pool, Value words) {
    pool.getInputMutable().assign(words);
    Value result = pool.getResult();
    auto type = tensorOf(result);
    if (!type.getElementType().isInteger(8))
      return;
    result.setType(type.clone(tensorOf(words).getElementType()));
    OpBuilder builder(pool->getContext());
    builder.setInsertionPointAfter(pool);
    TensorBuilder emit(builder, pool.getLoc());
    Value bytes = narrowed(emit, result, type.getElementType());
    result.replaceAllUsesExcept(bytes, bytes.getDefiningOp());
  }

  /// Lets who would widen what was wide before read that.
  void takeWide() {
    for (Operation &op : llvm::make_early_inc_range(block)) {
      auto convert = dyn_cast<ConvertOp>(&op);
      auto narrow = convert && isWidening(convert)
                        ? convert.getOperand().getDefiningOp<ConvertOp>()
                        : ConvertOp();
      if (!narrow || !narrow->hasAttr(roundsNothingAttribute) ||
          narrow.getOperand().getType() != convert.getType())
        continue;
      patterns.replace(widenOnceLabel, convert, narrow.getOperand());
      convert.erase();
      if (narrow->use_empty())
        narrow.erase();
    }
  }

  Block &block;
  PatternRun &patterns;
};

} // namespace

static void widenIn(Block &block, PatternRun &run) {
  Widener(block, run).run();
  for (Operation &op : block)
    if (isControlFlow(&op))
      for (Region &region : op.getRegions())
        widenIn(region.front(), run);
}

void widenOnce(func::FuncOp function, PatternRun &run) {
  if (run.isEnabled(widenOnceLabel))
    widenIn(function.getBody().front(), run);
}

} // namespace sinter::cpu
