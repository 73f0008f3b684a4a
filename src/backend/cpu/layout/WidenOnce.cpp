#include "backend/cpu/layout/WidenOnce.h"

#include "backend/cpu/OperationKind.h"
#include "backend/cpu/emit/ExactWidening.h"
#include "backend/cpu/ir/CpuOps.h"
#include "graph/nn/TensorBuilder.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using sinter::nn::TensorBuilder;
using sinter::stablehlo::ConvertOp;
using sinter::stablehlo::ReshapeOp;

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

/// From f16 or bf16 to f32.
static bool isWidening(ConvertOp op) {
  Type from = tensorOf(op.getOperand()).getElementType();
  return (from.isF16() || from.isBF16()) &&
         tensorOf(op.getResult()).getElementType().isF32();
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

/// Whether \p user computes with elements, so that where they come from is up
/// to its kernel.
static bool takesElements(Operation *user) {
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
    for (Operation &op : llvm::make_early_inc_range(block))
      if (auto convert = dyn_cast<ConvertOp>(&op);
          convert && isWidening(convert))
        moveBeforeReshapes(convert);
    llvm::MapVector<Value, SmallVector<ConvertOp>> found;
    for (auto convert : block.getOps<ConvertOp>())
      if (isWidening(convert))
        found[convert.getOperand()].push_back(convert);
    for (auto &[value, converts] : found)
      widen(value, converts);
  }

private:
  /// Reshapes cost nothing, so what stands before them may take the conversion.
  void moveBeforeReshapes(ConvertOp convert) {
    while (auto reshape = convert.getOperand().getDefiningOp<ReshapeOp>()) {
      OpBuilder builder(convert);
      TensorBuilder emit(builder, convert.getLoc());
      auto type = tensorOf(convert.getResult());
      Value wide = emit.convert(reshape.getOperand(), type.getElementType());
      Value shaped = builder.create<ReshapeOp>(convert.getLoc(), type, wide);
      patterns.replace(widenOnceLabel, convert, shaped);
      convert.erase();
      patterns.graphIsWhole(widenOnceLabel);
      convert = wide.getDefiningOp<ConvertOp>();
    }
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
      Value narrow = emit.convert(wide, tensorOf(value).getElementType());
      narrow.getDefiningOp()->setAttr(roundsNothingAttribute,
                                      builder.getUnitAttr());
      user->replaceUsesOfWith(value, narrow);
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
