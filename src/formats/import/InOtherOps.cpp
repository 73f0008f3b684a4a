#include "formats/import/InOtherOps.h"

#include "graph/Types.h"
#include "graph/stablehlo/StablehloOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace sinter::formats {

/// Maximum number of operations of a decomposition.
static constexpr int64_t mostOperations = 16384;

static bool canSlice(stablehlo::ReduceWindowOp op) {
  int64_t offsets = 1, count = 0;
  for (const stablehlo::WindowDimension &each : op.getWindow()) {
    if (each.baseDilation != 1 || each.size > mostOperations)
      return false;
    offsets *= each.size;
    if (offsets > mostOperations)
      return false;
  }
  auto isStatic = [](Value value) { return tensorOf(value).hasStaticShape(); };
  if (!llvm::all_of(op->getOperands(), isStatic) ||
      !llvm::all_of(op->getResults(), isStatic))
    return false;
  Block &body = op.getBody().front();
  for (Operation &each : body.without_terminator()) {
    ++count;
    const bool isPlain = isa<stablehlo::ConstantOp, stablehlo::SelectOp>(each);
    if (!isPlain && !each.hasTrait<OpTrait::Elementwise>())
      return false;
    for (Value operand : each.getOperands())
      if (operand.getParentBlock() != &body)
        return false;
  }
  for (Value value : body.getTerminator()->getOperands())
    if (value.getParentBlock() != &body)
      return false;
  return offsets * (count + 2 * op.getInputs().size()) <= mostOperations;
}

/// The scalar \p value broadcast to the shape of \p type.
static Value spread(OpBuilder &builder, Location location, Value value,
                    RankedTensorType type) {
  return builder.create<stablehlo::BroadcastInDimOp>(
      location, type.clone(tensorOf(value).getElementType()), value,
      builder.getDenseI64ArrayAttr({}));
}

/// Clones \p body with tensors of the shape of \p type for its scalars, and
/// returns its results.
static SmallVector<Value> combine(OpBuilder &builder, Block &body,
                                  ValueRange arguments, RankedTensorType type) {
  IRMapping map;
  map.map(body.getArguments(), arguments);
  for (Operation &op : body.without_terminator()) {
    Operation *made = builder.clone(op, map);
    Value result = made->getResult(0);
    if (isa<stablehlo::ConstantOp>(op))
      map.map(op.getResult(0), spread(builder, op.getLoc(), result, type));
    else
      result.setType(type.clone(tensorOf(result).getElementType()));
  }
  SmallVector<Value> results;
  for (Value value : body.getTerminator()->getOperands())
    results.push_back(map.lookup(value));
  return results;
}

/// The elements of \p x at offset \p place of every window.
static Value elementsAt(OpBuilder &builder, Location location, Value x,
                        ArrayRef<stablehlo::WindowDimension> window,
                        ArrayRef<int64_t> place, RankedTensorType type) {
  SmallVector<int64_t> starts, limits, strides;
  for (auto [i, each] : llvm::enumerate(window)) {
    starts.push_back(place[i] * each.windowDilation);
    limits.push_back(starts.back() + (type.getDimSize(i) - 1) * each.stride +
                     1);
    strides.push_back(each.stride);
  }
  return builder.create<stablehlo::SliceOp>(
      location, type.clone(tensorOf(x).getElementType()), x,
      builder.getDenseI64ArrayAttr(starts),
      builder.getDenseI64ArrayAttr(limits),
      builder.getDenseI64ArrayAttr(strides));
}

std::optional<SmallVector<Value>> sliceWindows(OpBuilder &builder,
                                               stablehlo::ReduceWindowOp op) {
  auto type = tensorOf(op.getResult(0));
  if (!canSlice(op) || type.getNumElements() == 0)
    return std::nullopt;
  const Location location = op.getLoc();
  const auto window = op.getWindow();
  SmallVector<int64_t> low, high, none(window.size(), 0), place(none);
  bool isPadded = false;
  for (const stablehlo::WindowDimension &each : window) {
    low.push_back(each.paddingLow);
    high.push_back(each.paddingHigh);
    isPadded |= each.paddingLow != 0 || each.paddingHigh != 0;
  }
  SmallVector<Value> inputs, sums;
  for (auto [input, initial] :
       llvm::zip_equal(op.getInputs(), op.getInitValues())) {
    Value x = input;
    if (isPadded) {
      SmallVector<int64_t> shape(tensorOf(input).getShape());
      for (size_t i = 0; i < shape.size(); ++i)
        shape[i] += low[i] + high[i];
      x = builder.create<stablehlo::PadOp>(
          location, tensorOf(input).clone(shape), input, initial,
          builder.getDenseI64ArrayAttr(low), builder.getDenseI64ArrayAttr(high),
          builder.getDenseI64ArrayAttr(none));
    }
    inputs.push_back(x);
    sums.push_back(spread(builder, location, initial, type));
  }
  for (bool isDone = false; !isDone;) {
    SmallVector<Value> arguments(sums);
    for (Value x : inputs)
      arguments.push_back(
          elementsAt(builder, location, x, window, place, type));
    sums = combine(builder, op.getBody().front(), arguments, type);
    // The last dimension first.
    isDone = true;
    for (size_t i = window.size(); i-- > 0 && isDone;) {
      isDone = ++place[i] == window[i].size;
      if (isDone)
        place[i] = 0;
    }
  }
  return sums;
}

namespace {

/// Records the ops that a decomposition makes.
class Listener : public OpBuilder::Listener {
public:
  void notifyOperationInserted(Operation *op,
                               OpBuilder::InsertPoint previous) override {
    if (!previous.isSet())
      inserted.insert(op);
  }
  llvm::DenseSet<Operation *> inserted;
};

/// Lists the ops that were made for an operation. Most of them are in front of
/// it, but sizes are computed next to their tensor, which may be in an
/// enclosing block.
class MadeOps {
public:
  MadeOps(Operation *op, const Listener &listener)
      : op(op), listener(listener) {}

  std::vector<Operation *> list(Operation *before, ValueRange values) {
    for (Operation *each = before ? before->getNextNode()
                                  : &op->getBlock()->front();
         each != op; each = each->getNextNode())
      add(each);
    for (Value value : values)
      if (Operation *definition = value.getDefiningOp())
        addIfMade(definition);
    return std::move(made);
  }

private:
  void add(Operation *each) {
    if (!seen.insert(each).second)
      return;
    each->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (Operation *definition = operand.getDefiningOp();
            definition && !each->isProperAncestor(definition))
          addIfMade(definition);
    });
    made.push_back(each);
  }

  void addIfMade(Operation *each) {
    if (listener.inserted.contains(each))
      add(each);
  }

  Operation *op;
  const Listener &listener;
  llvm::DenseSet<Operation *> seen;
  std::vector<Operation *> made;
};

} // namespace

std::optional<OtherOps> inOtherOps(Operation *op) {
  Listener listener;
  OpBuilder builder(op, &listener);
  Operation *before = op->getPrevNode();
  std::optional<SmallVector<Value>> values;
  if (auto window = dyn_cast<stablehlo::ReduceWindowOp>(op)) {
    values = sliceWindows(builder, window);
  } else if (auto decomposable = dyn_cast<DecomposableOpInterface>(op)) {
    auto given = decomposable.decompose(builder);
    if (succeeded(given) && given->size() == op->getNumResults())
      values = SmallVector<Value>(*given);
  }
  if (!values)
    return std::nullopt;
  return OtherOps{*values, MadeOps(op, listener).list(before, *values)};
}

} // namespace sinter::formats
