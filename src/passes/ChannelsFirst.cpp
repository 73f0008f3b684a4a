#include "passes/ChannelsFirst.h"

#include "graph/Model.h"
#include "graph/PermutedType.h"
#include "graph/stablehlo/StablehloOps.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Groups.h"
#include "passes/Matching.h"
#include "passes/Pass.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter {

static constexpr StringLiteral passName = "channels-first";

ArrayRef<PatternInfo> channelsFirstPatterns() {
  static const PatternInfo infos[] = {
      {passName,
       "convolution(x) : NHWC -> transpose(convolution(transpose(x)) : NCHW)",
       passName}};
  return infos;
}

namespace {

/// Dimension i of the new value is dimension `order[i]` of the old one.
using Order = SmallVector<int64_t>;

/// A value in another order of dimensions.
struct Reordered {
  Value value;
  Order order;
};

class Walk {
public:
  Walk(func::FuncOp function, PatternRun &run) : function(function), run(run) {}
  /// How many convolutions were changed.
  unsigned rewriteAll();

private:
  bool rewrite(Operation *op);
  bool rewriteConvolution(ConvolutionOp op);
  bool rewriteElementwise(Operation *op);
  bool rewriteBatchNorm(BatchNormInferenceOp op);
  bool rewriteWindow(ReduceWindowOp op);
  bool rewriteReduce(ReduceOp op);
  bool rewriteConcatenate(ConcatenateOp op);
  template <typename Op> bool rewriteInPlace(Op op);

  Value inOrder(Value value, const Order &order, OpBuilder &builder);
  const Reordered *find(Value value) const {
    auto found = known.find(value);
    return found == known.end() ? nullptr : &found->second;
  }
  /// A copy of \p op in another order, of the same results but for theirs.
  Operation *copyOf(Operation *op, ValueRange operands, const Order &order,
                    OpBuilder &builder);

  func::FuncOp function;
  PatternRun &run;
  llvm::DenseMap<Value, Reordered> known;
  /// Values that the walk did not take along, in an order that was wanted.
  llvm::DenseMap<Value, Reordered> turned;
  SmallVector<Operation *> replaced;
  unsigned convolutions = 0;
};

} // namespace

static Order inverse(const Order &order) {
  Order result(order.size());
  for (auto [index, place] : llvm::enumerate(order))
    result[place] = index;
  return result;
}
template <typename T>
static SmallVector<T> permuted(ArrayRef<T> list, const Order &order) {
  SmallVector<T> result;
  for (int64_t place : order)
    result.push_back(list[place]);
  return result;
}

Value Walk::inOrder(Value value, const Order &order, OpBuilder &builder) {
  if (const Reordered *other = find(value))
    if (other->order == order)
      return other->value;
  auto type = tensorOf(value);
  if (isIota(order))
    return value;
  auto broadcast = value.getDefiningOp<BroadcastInDimOp>();
  if (!broadcast) {
    Reordered &copy = turned[value];
    if (copy.order != order)
      copy = {builder.create<TransposeOp>(
                  value.getLoc(), permutedType(type, order), value, order),
              order};
    return copy.value;
  }
  Order places = inverse(order);
  SmallVector<int64_t> dimensions;
  for (int64_t dimension : broadcast.getBroadcastDimensions())
    dimensions.push_back(places[dimension]);
  return builder.create<BroadcastInDimOp>(value.getLoc(),
                                          permutedType(type, order),
                                          broadcast.getOperand(), dimensions);
}

Operation *Walk::copyOf(Operation *op, ValueRange operands, const Order &order,
                        OpBuilder &builder) {
  Operation *copy = cloneApart(builder, op);
  copy->setOperands(operands);
  for (auto [from, to] :
       llvm::zip_equal(op->getResults(), copy->getResults())) {
    to.setType(permutedType(tensorOf(from), order));
    known[from] = {to, order};
  }
  return copy;
}

//===----------------------------------------------------------------------===//
// One operation each
//===----------------------------------------------------------------------===//

bool Walk::rewriteConvolution(ConvolutionOp op) {
  auto numbers = op.getDimensionNumbers();
  if (!tensorOf(op).hasStaticShape() || !tensorOf(op.getLhs()).hasStaticShape())
    return false;
  Order input = {numbers.getInputBatchDimension(),
                 numbers.getInputFeatureDimension()};
  llvm::append_range(input, numbers.getInputSpatialDimensions());
  Order output = {numbers.getOutputBatchDimension(),
                  numbers.getOutputFeatureDimension()};
  llvm::append_range(output, numbers.getOutputSpatialDimensions());
  if (isIota(input) && isIota(output))
    return false;
  OpBuilder builder(op);
  Value lhs = inOrder(op.getLhs(), input, builder);
  auto copy =
      cast<ConvolutionOp>(copyOf(op, {lhs, op.getRhs()}, output, builder));
  auto spatial =
      llvm::to_vector(llvm::seq<int64_t>(2, 2 + op.getSpatialRank()));
  copy.setDimensionNumbersAttr(ConvDimensionNumbersAttr::get(
      op.getContext(), 0, 1, spatial, numbers.getKernelInputFeatureDimension(),
      numbers.getKernelOutputFeatureDimension(),
      numbers.getKernelSpatialDimensions(), 0, 1, spatial));
  ++convolutions;
  return true;
}

bool Walk::rewriteElementwise(Operation *op) {
  bool isElementwise =
      op->hasTrait<OpTrait::Elementwise>() || isa<SelectOp, ClampOp>(op);
  if (!isElementwise || op->getNumResults() != 1 || op->getNumRegions() ||
      !isPure(op))
    return false;
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  const Reordered *leading = nullptr;
  for (Value operand : op->getOperands()) {
    auto each = dyn_cast<RankedTensorType>(operand.getType());
    if (!each || !type ||
        (each.getRank() != 0 && each.getShape() != type.getShape()))
      return false;
    if (!leading)
      leading = find(operand);
  }
  if (!leading)
    return false;
  const Order order = leading->order;
  OpBuilder builder(op);
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(tensorOf(operand).getRank() == 0
                           ? operand
                           : inOrder(operand, order, builder));
  copyOf(op, operands, order, builder);
  return true;
}

bool Walk::rewriteBatchNorm(BatchNormInferenceOp op) {
  const Reordered *x = find(op.getOperand());
  if (!x)
    return false;
  const Order order = x->order;
  OpBuilder builder(op);
  SmallVector<Value> operands(op->getOperands());
  operands[0] = x->value;
  auto copy = cast<BatchNormInferenceOp>(copyOf(op, operands, order, builder));
  copy.setFeatureIndex(inverse(order)[op.getFeatureIndex()]);
  return true;
}

bool Walk::rewriteWindow(ReduceWindowOp op) {
  const Reordered *x =
      op.getInputs().size() == 1 ? find(op.getInputs()[0]) : nullptr;
  if (!x)
    return false;
  const Order order = x->order;
  OpBuilder builder(op);
  auto copy = cast<ReduceWindowOp>(
      copyOf(op, {x->value, op.getInitValues()[0]}, order, builder));
  copy.setWindowDimensions(permuted(op.getWindowDimensions(), order));
  if (auto list = op.getWindowStrides())
    copy.setWindowStrides(permuted(*list, order));
  if (auto list = op.getBaseDilations())
    copy.setBaseDilations(permuted(*list, order));
  if (auto list = op.getWindowDilations())
    copy.setWindowDilations(permuted(*list, order));
  if (auto padding = op.getPadding()) {
    auto numbers = llvm::to_vector(padding->getValues<int64_t>());
    SmallVector<int64_t> moved;
    for (int64_t place : order)
      moved.append({numbers[2 * place], numbers[2 * place + 1]});
    copy.setPaddingAttr(DenseIntElementsAttr::get(
        cast<ShapedType>(padding->getType()), ArrayRef<int64_t>(moved)));
  }
  return true;
}

bool Walk::rewriteReduce(ReduceOp op) {
  const Reordered *x =
      op.getInputs().size() == 1 ? find(op.getInputs()[0]) : nullptr;
  if (!x)
    return false;
  Order places = inverse(x->order);
  SmallVector<int64_t> dimensions;
  for (int64_t dimension : op.getDimensions())
    dimensions.push_back(places[dimension]);
  llvm::sort(dimensions);
  // The order of the dimensions that stay, counted among themselves.
  SmallVector<int64_t> kept;
  for (int64_t dimension : x->order)
    if (!llvm::is_contained(op.getDimensions(), dimension))
      kept.push_back(dimension);
  SmallVector<int64_t> sorted = kept;
  llvm::sort(sorted);
  Order order;
  for (int64_t dimension : kept)
    order.push_back(llvm::find(sorted, dimension) - sorted.begin());
  OpBuilder builder(op);
  auto copy = cast<ReduceOp>(
      copyOf(op, {x->value, op.getInitValues()[0]}, order, builder));
  copy.setDimensions(dimensions);
  if (isIota(order)) {
    known.erase(op->getResult(0));
    run.replaced(passName, op->getResult(0), copy->getResult(0));
    op->getResult(0).replaceAllUsesWith(copy->getResult(0));
  }
  return true;
}

bool Walk::rewriteConcatenate(ConcatenateOp op) {
  const Reordered *leading = nullptr;
  for (Value input : op.getInputs())
    if (!leading)
      leading = find(input);
  if (!leading)
    return false;
  const Order order = leading->order;
  OpBuilder builder(op);
  SmallVector<Value> operands;
  for (Value input : op.getInputs())
    operands.push_back(inOrder(input, order, builder));
  auto copy = cast<ConcatenateOp>(copyOf(op, operands, order, builder));
  copy.setDimension(inverse(order)[op.getDimension()]);
  return true;
}

static void reorder(PadOp from, PadOp to, const Order &order) {
  to.setEdgePaddingLow(permuted(from.getEdgePaddingLow(), order));
  to.setEdgePaddingHigh(permuted(from.getEdgePaddingHigh(), order));
  to.setInteriorPadding(permuted(from.getInteriorPadding(), order));
}
static void reorder(SliceOp from, SliceOp to, const Order &order) {
  to.setStartIndices(permuted(from.getStartIndices(), order));
  to.setLimitIndices(permuted(from.getLimitIndices(), order));
  to.setStrides(permuted(from.getStrides(), order));
}
static void reorder(ReverseOp from, ReverseOp to, const Order &order) {
  Order places = inverse(order);
  SmallVector<int64_t> dimensions;
  for (int64_t dimension : from.getDimensions())
    dimensions.push_back(places[dimension]);
  to.setDimensions(dimensions);
}

template <typename Op> bool Walk::rewriteInPlace(Op op) {
  const Reordered *x = find(op.getOperand());
  if (!x)
    return false;
  const Order order = x->order;
  OpBuilder builder(op);
  SmallVector<Value> operands(op->getOperands());
  operands[0] = x->value;
  reorder(op, cast<Op>(copyOf(op, operands, order, builder)), order);
  return true;
}

//===----------------------------------------------------------------------===//
// The walk
//===----------------------------------------------------------------------===//

bool Walk::rewrite(Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](ConvolutionOp op) { return rewriteConvolution(op); })
      .Case([&](BatchNormInferenceOp op) { return rewriteBatchNorm(op); })
      .Case([&](ReduceWindowOp op) { return rewriteWindow(op); })
      .Case([&](ReduceOp op) { return rewriteReduce(op); })
      .Case([&](ConcatenateOp op) { return rewriteConcatenate(op); })
      .Case<PadOp, SliceOp, ReverseOp>(
          [&](auto op) { return rewriteInPlace(op); })
      .Default([&](Operation *op) { return rewriteElementwise(op); });
}

unsigned Walk::rewriteAll() {
  for (Operation &op : llvm::make_early_inc_range(
           function.getBody().front().without_terminator()))
    if (rewrite(&op))
      replaced.push_back(&op);
  // Readers go before what they read.
  for (Operation *op : llvm::reverse(replaced)) {
    for (Value result : op->getResults()) {
      const Reordered *other = find(result);
      // Who watches compares every value, also those that nobody reads now.
      if (!other || (result.use_empty() && !run.watcher))
        continue;
      OpBuilder builder(op->getContext());
      builder.setInsertionPointAfterValue(other->value);
      Value by = builder.create<TransposeOp>(
          op->getLoc(), result.getType(), other->value, inverse(other->order));
      run.replaced(passName, result, by);
      result.replaceAllUsesWith(by);
    }
    op->erase();
  }
  return convolutions;
}

namespace {
struct ChannelsFirst : LabelledPass<ChannelsFirst> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ChannelsFirst)
  using LabelledPass::LabelledPass;
  StringRef getArgument() const final { return passName; }
  StringRef getDescription() const final {
    return "Put the channels of convolutions first";
  }
  void runOnOperation() final {
    if (!patternRun().mayStep() || !patternRun().isEnabled(passName))
      return;
    unsigned count = 0;
    for (func::FuncOp function : rootsOf(getOperation()))
      count += Walk(function, patternRun()).rewriteAll();
    for (unsigned i = 0; i < count; ++i)
      patternRun().count(passName);
    if (count)
      patternRun().graphIsWhole(passName);
  }
};
} // namespace

std::unique_ptr<Pass> createChannelsFirst(std::shared_ptr<PatternRun> run) {
  return std::make_unique<ChannelsFirst>(std::move(run));
}

} // namespace sinter
