#include "backend/cpu/precision/WidenOnce.h"

#include "backend/cpu/ir/CpuOps.h"
#include "backend/cpu/ir/OperationKind.h"
#include "backend/cpu/precision/ExactWidening.h"
#include "graph/Dim.h"
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

/// Whether \p op converts f16 or bf16 to f32, or i8 to i16.
static bool isWidening(ConvertOp op) {
  Type from = tensorOf(op.getOperand()).getElementType(),
       to = tensorOf(op.getResult()).getElementType();
  return ((from.isF16() || from.isBF16()) && to.isF32()) ||
         (from.isInteger(8) && to.isSignlessInteger(16));
}

/// Whether an operation reads \p value, possibly reshaped, from memory: a
/// product, or a return.
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
  const ArrayRef<Dim> input = dimsOf(pool.getInput()),
                      result = dimsOf(pool.getResult());
  for (size_t i = 0; i < 2; ++i) {
    const int64_t window = pool.getWindow()[i];
    const auto high = pool.getPaddingHigh();
    const Dim behind = high ? Dim((*high)[i])
                            : (result[i + 2] - 1) * pool.getStrides()[i] +
                                  window - pool.getPaddingLow()[i] -
                                  input[i + 2];
    if (pool.getDilations()[i] != 1 || pool.getPaddingLow()[i] >= window ||
        behind >= window)
      return false;
  }
  return true;
}

/// Whether \p user reads element by element, so that its kernel can convert
/// them. Pools of i8 also read i16, unless a window is empty: its result would
/// be another least value.
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

/// Whether all users of \p value do so.
static bool isReadByElements(Value value) {
  return llvm::all_of(value.getUsers(), takesElements);
}

/// Whether a kernel of \p block computes and stores \p value.
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
  /// Moves \p convert before the data movement that produces its operand. The
  /// producers of the movement's operands may then store the wide type,
  /// directly into the concatenate's buffer. Adds the new conversions to
  /// \p left.
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

  /// Whether \p mover may move the result of \p convert: reshapes are free,
  /// others run once.
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

  /// Merges those of \p converts, all of \p value, that are read from memory.
  void widen(Value value, ArrayRef<ConvertOp> converts) {
    SmallVector<ConvertOp> inMemory;
    llvm::copy_if(converts, std::back_inserter(inMemory),
                  [](ConvertOp each) { return isReadWhole(each.getResult()); });
    if (inMemory.empty() || readInPools(value, inMemory))
      return;
    const bool isStored = isComputedIn(block, value) && isReadByElements(value);
    ArrayRef<ConvertOp> shared = isStored ? converts : inMemory;
    // In the order of the block.
    ConvertOp first = shared.front();
    for (ConvertOp other : shared.drop_front()) {
      patterns.replace(widenOnceLabel, other, first.getResult());
      other.erase();
    }
    if (isStored) {
      // It stands for the value, in profiles, too.
      first->setLoc(value.getLoc());
      first->moveAfter(value.getDefiningOp());
      narrowUses(value, first.getResult(), first);
    }
    if (shared.size() > 1 || isStored)
      patterns.graphIsWhole(widenOnceLabel);
  }

  /// Pools widen their input themselves, each pixel once: if there are no other
  /// f32 users, \p value stays narrow.
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

  /// Replaces \p value by \p wide in its users, each with a narrowing of its
  /// own: a shared conversion would become a separate kernel.
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
        poolWide(pool, wide);
        continue;
      }
      user->replaceUsesOfWith(
          value, narrowed(emit, wide, tensorOf(value).getElementType()));
    }
  }

  /// \p wide converted to the narrower type \p element, which represents it
  /// exactly.
  static Value narrowed(TensorBuilder &emit, Value wide, Type element) {
    Value narrow = emit.convert(wide, element);
    narrow.getDefiningOp()->setAttr(roundsNothingAttribute,
                                    emit.builder.getUnitAttr());
    return narrow;
  }

  /// Makes \p pool, of i8, read \p words, of i16, instead. Its result is then
  /// i16, too.
  void poolWide(PoolOp pool, Value words) {
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

  /// Replaces conversions that widen a narrowed value by the wide value.
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
