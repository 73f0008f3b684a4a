#include "passes/ChannelsFirst.h"

#include "graph/Model.h"
#include "graph/PermutedType.h"
#include "graph/interfaces/Axes.h"
#include "graph/stablehlo/StablehloOps.h"
#include "passes/Groups.h"
#include "passes/Matching.h"
#include "passes/Pass.h"

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter {

static constexpr StringLiteral channelsFirstPass = "channels-first";

ArrayRef<PatternInfo> channelsFirstPatterns() {
  static const PatternInfo infos[] = {
      {channelsFirstPass,
       "convolution(x) : NHWC -> transpose(convolution(transpose(x)) : NCHW)",
       channelsFirstPass}};
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

class ChannelsFirstRewriter {
public:
  ChannelsFirstRewriter(func::FuncOp function, PatternRun &run)
      : function(function), run(run) {}
  /// How many convolutions were changed.
  unsigned rewriteAll();

private:
  bool rewrite(Operation *op);
  bool rewriteConvolution(ConvolutionOp op);
  bool rewriteReordered(Operation *op);

  Value inOrder(Value value, const Order &order, OpBuilder &builder);
  const Reordered *find(Value value) const {
    auto found = known.find(value);
    return found == known.end() ? nullptr : &found->second;
  }
  /// A copy of \p op, whose attributes and operands are to be changed.
  Operation *copyOf(Operation *op, OpBuilder &builder);
  /// Records that \p copy computes the result of \p op in another order.
  void remember(Operation *op, Operation *copy, const Order &order);

  func::FuncOp function;
  PatternRun &run;
  llvm::DenseMap<Value, Reordered> known;
  /// Values that were not rewritten along, in an order that was wanted.
  llvm::DenseMap<Value, Reordered> reordered;
  SmallVector<Operation *> replaced;
  unsigned convolutions = 0;
};

} // namespace

static Order inverse(const Order &order) {
  Order result(order.size());
  for (auto [index, dimension] : llvm::enumerate(order))
    result[dimension] = index;
  return result;
}

Value ChannelsFirstRewriter::inOrder(Value value, const Order &order,
                                     OpBuilder &builder) {
  if (const Reordered *other = find(value))
    if (other->order == order)
      return other->value;
  auto type = tensorOf(value);
  if (isIota(order))
    return value;
  auto broadcast = value.getDefiningOp<BroadcastInDimOp>();
  if (!broadcast) {
    Reordered &copy = reordered[value];
    if (copy.order != order)
      copy = {builder.create<TransposeOp>(
                  value.getLoc(), permutedType(type, order), value, order),
              order};
    return copy.value;
  }
  Order newDimensions = inverse(order);
  SmallVector<int64_t> dimensions;
  for (int64_t dimension : broadcast.getBroadcastDimensions())
    dimensions.push_back(newDimensions[dimension]);
  return builder.create<BroadcastInDimOp>(value.getLoc(),
                                          permutedType(type, order),
                                          broadcast.getOperand(), dimensions);
}

Operation *ChannelsFirstRewriter::copyOf(Operation *op, OpBuilder &builder) {
  Operation *copy = cloneApart(builder, op);
  builder.setInsertionPoint(copy);
  return copy;
}

void ChannelsFirstRewriter::remember(Operation *op, Operation *copy,
                                     const Order &order) {
  for (auto [from, to] :
       llvm::zip_equal(op->getResults(), copy->getResults())) {
    to.setType(permutedType(tensorOf(from), order));
    known[from] = {to, order};
  }
}

//===----------------------------------------------------------------------===//
// One operation each
//===----------------------------------------------------------------------===//

bool ChannelsFirstRewriter::rewriteConvolution(ConvolutionOp op) {
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
  auto copy = cast<ConvolutionOp>(copyOf(op, builder));
  copy.getLhsMutable().assign(inOrder(op.getLhs(), input, builder));
  remember(op, copy, output);
  auto spatial =
      llvm::to_vector(llvm::seq<int64_t>(2, 2 + op.getSpatialRank()));
  copy.setDimensionNumbersAttr(ConvDimensionNumbersAttr::get(
      op.getContext(), 0, 1, spatial, numbers.getKernelInputFeatureDimension(),
      numbers.getKernelOutputFeatureDimension(),
      numbers.getKernelSpatialDimensions(), 0, 1, spatial));
  ++convolutions;
  return true;
}

/// Computes \p op in another order of dimensions, where that is possible and
/// one of its operands is available in that order.
bool ChannelsFirstRewriter::rewriteReordered(Operation *op) {
  auto interface = dyn_cast<AxesOpInterface>(op);
  if (!interface || op->getNumResults() != 1 || !isMemoryEffectFree(op))
    return false;
  const Axes axes = interface.getAxes();
  SmallVector<OpOperand *> leading;
  for (OpOperand &operand : op->getOpOperands())
    if (axes.isLeading(operand.getOperandNumber()))
      leading.push_back(&operand);
  const Reordered *first = nullptr;
  for (OpOperand *operand : leading)
    if (!first)
      first = find(operand->get());
  if (!first)
    return false;
  const Order order = first->order;
  OpBuilder builder(op);
  Operation *copy = copyOf(op, builder);
  std::optional<Order> result = cast<AxesOpInterface>(copy).reorder(
      order, tensorOf(first->value).getShape());
  if (!result) {
    copy->erase();
    return false;
  }
  for (OpOperand *operand : leading)
    copy->setOperand(operand->getOperandNumber(),
                     inOrder(operand->get(), order, builder));
  remember(op, copy, *result);
  if (isIota(*result)) {
    known.erase(op->getResult(0));
    run.replaced(channelsFirstPass, op->getResult(0), copy->getResult(0));
    op->getResult(0).replaceAllUsesWith(copy->getResult(0));
  }
  return true;
}

//===----------------------------------------------------------------------===//
// The walk
//===----------------------------------------------------------------------===//

bool ChannelsFirstRewriter::rewrite(Operation *op) {
  if (auto convolution = dyn_cast<ConvolutionOp>(op))
    return rewriteConvolution(convolution);
  return rewriteReordered(op);
}

unsigned ChannelsFirstRewriter::rewriteAll() {
  for (Operation &op : llvm::make_early_inc_range(
           function.getBody().front().without_terminator()))
    if (rewrite(&op))
      replaced.push_back(&op);
  // Users are erased before their operands.
  for (Operation *op : llvm::reverse(replaced)) {
    for (Value result : op->getResults()) {
      const Reordered *other = find(result);
      // A watcher compares every value, also dead ones.
      if (!other || (result.use_empty() && !run.watcher))
        continue;
      OpBuilder builder(op->getContext());
      builder.setInsertionPointAfterValue(other->value);
      Value by = builder.create<TransposeOp>(
          op->getLoc(), result.getType(), other->value, inverse(other->order));
      run.replaced(channelsFirstPass, result, by);
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
  StringRef getArgument() const final { return channelsFirstPass; }
  StringRef getDescription() const final {
    return "Rewrite convolutions to channels-first layout";
  }
  void runOnOperation() final {
    if (!patternRun().mayStep() || !patternRun().isEnabled(channelsFirstPass))
      return;
    unsigned count = 0;
    for (func::FuncOp function : rootsOf(getOperation()))
      count += ChannelsFirstRewriter(function, patternRun()).rewriteAll();
    for (unsigned i = 0; i < count; ++i)
      patternRun().count(channelsFirstPass);
    if (count)
      patternRun().graphIsWhole(channelsFirstPass);
  }
};
} // namespace

std::unique_ptr<Pass> createChannelsFirst(std::shared_ptr<PatternRun> run) {
  return std::make_unique<ChannelsFirst>(std::move(run));
}

} // namespace sinter
