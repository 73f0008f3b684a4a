#include "backend/cpu/layout/AssignLayouts.h"

#include "backend/cpu/ir/CpuOps.h"
#include "backend/cpu/ir/OperationKind.h"
#include "backend/cpu/layout/LayoutAssigner.h"
#include "backend/cpu/layout/NormInBlocks.h"
#include "backend/cpu/layout/RowsAsImages.h"
#include "backend/cpu/quantized/PairMinMax.h"
#include "graph/Constants.h"

#include <numeric>

using namespace mlir;
using sinter::nn::TensorBuilder;

namespace sinter::cpu {

ArrayRef<PatternInfo> assignLayoutsPatterns() {
  static const PatternInfo infos[] = {
      {blockChannelsLabel,
       "convolution(x, w) -> cpu.unpack(cpu.convolution(cpu.pack(x), w))",
       "cpu-assign-layouts"}};
  return infos;
}

RankedTensorType LayoutAssigner::blockedType(RankedTensorType plain) const {
  const RankedTensorType image = imageType(plain);
  ArrayRef<int64_t> shape = image.getShape();
  int64_t blocks = llvm::divideCeil(shape[1], lanes);
  return RankedTensorType::get({shape[0], blocks, shape[2], shape[3], lanes},
                               plain.getElementType());
}

/// The elements of \p value, all the same, in another \p type; null where they
/// are not known to be.
static Value resizedSplat(TensorBuilder &emit, Value value,
                          RankedTensorType type) {
  auto constant = value.getDefiningOp<stablehlo::ConstantOp>();
  auto splat =
      constant ? dyn_cast<SplatElementsAttr>(constant.getValue()) : nullptr;
  return splat ? emit.make<stablehlo::ConstantOp>(splat.resizeSplat(type))
               : Value();
}

Value LayoutAssigner::pack(TensorBuilder &emit, Value plain) {
  Value &blocked = blockedOf[plain];
  if (blocked)
    return blocked;
  // One number stays one, beyond the last channel, too.
  auto type = blockedType(tensorOf(plain));
  blocked = resizedSplat(emit, plain, type);
  if (!blocked)
    blocked = emit.make<PackOp>(type, asImage(emit, plain));
  return blocked;
}

//===----------------------------------------------------------------------===//
// Channel by channel
//===----------------------------------------------------------------------===//

/// Broadcasts along channels from a vector that is cut into blocks; along other
/// dimensions as it was.
Value LayoutAssigner::blockedBroadcast(TensorBuilder &emit,
                                       stablehlo::BroadcastInDimOp op) {
  auto from = tensorOf(op.getOperand());
  RankedTensorType to = blockedType(tensorOf(op.getResult()));
  SmallVector<int64_t> dims;
  SmallVector<int64_t> shape;
  Value x = op.getOperand();
  int64_t channelPlace = -1;
  for (auto [index, dim] : llvm::enumerate(op.getBroadcastDimensions())) {
    if (from.getDimSize(index) == 1)
      continue;
    if (dim == 1)
      channelPlace = dims.size();
    dims.push_back(imageDimOf(tensorOf(op.getResult()).getRank(), dim));
    shape.push_back(from.getDimSize(index));
  }
  // Dimension numbers must rise for the reshape to only drop ones.
  if (!llvm::is_sorted(dims))
    return {};
  if (channelPlace < 0)
    return emit.broadcast(emit.reshape(x, shape), dims, to.getShape());
  if (dims.size() != 1)
    return {};
  // What only has another shape is seen through, lest a kernel read what was
  // computed for each channel from memory for it.
  while (auto reshape = x.getDefiningOp<stablehlo::ReshapeOp>())
    x = reshape.getOperand();
  if (const int64_t missing = to.getDimSize(1) * lanes - shape[0])
    x = emit.padEnd(emit.reshape(x, shape), 0, missing);
  x = emit.reshape(x, {to.getDimSize(1), lanes});
  return emit.broadcast(x, {1, 4}, to.getShape());
}

/// What a broadcast to sizes that are not known repeats, and which of the
/// result's dimensions its own are.
static std::pair<Value, SmallVector<int64_t>> dynamicBroadcast(Value result) {
  SmallVector<int64_t> places;
  if (auto like = result.getDefiningOp<nn::BroadcastLikeOp>()) {
    const int64_t own = tensorOf(like.getOperand()).getRank(),
                  all = tensorOf(result).getRank();
    llvm::append_range(places, llvm::seq<int64_t>(all - own, all));
    return {like.getOperand(), places};
  }
  if (auto dynamic = result.getDefiningOp<stablehlo::DynamicBroadcastInDimOp>())
    return {dynamic.getOperand(),
            SmallVector<int64_t>(dynamic.getBroadcastDimensions())};
  return {};
}

/// The same of a broadcast to sizes that are not known, but are those of
/// \p like.
Value LayoutAssigner::blockedDynamicBroadcast(TensorBuilder &emit, Value result,
                                              Value like) {
  auto [operand, places] = dynamicBroadcast(result);
  Value x = operand;
  if (!x || !like || !llvm::is_sorted(places))
    return {};
  auto repeat = [&](Value blocked) -> Value {
    return emit.make<nn::BroadcastLikeOp>(
        tensorOf(like).clone(tensorOf(x).getElementType()), blocked, like);
  };
  auto from = tensorOf(x);
  const nn::Sizes own = emit.sizes(x);
  // Of one image with one pixel and one channel, as far as it has no others.
  SmallVector<nn::Size> sizes(4, nn::Size(1));
  const int64_t rank = tensorOf(result).getRank();
  for (auto [index, dim] : llvm::enumerate(places))
    sizes[imageDimOf(rank, dim)] = own[index];
  auto isOne = [&](int64_t dim) { return sizes[dim] == nn::Size(1); };
  if (isOne(1)) {
    sizes.push_back(1);
    return repeat(emit.reshape(x, nn::Sizes(ArrayRef(sizes))));
  }
  if (!isOne(0) || !isOne(2) || !isOne(3)) {
    if (from.getRank() != rank)
      return {};
    Value blocked = blockedOf.lookup(x);
    return repeat(blocked ? blocked : pack(emit, x));
  }
  const int64_t channels = tensorOf(result).getDimSize(1),
                filled = tensorOf(like).getDimSize(1) * lanes;
  if (from.getNumElements() != channels)
    return {};
  x = emit.padEnd(emit.reshape(x, ArrayRef<int64_t>{channels}), 0,
                  filled - channels);
  return repeat(emit.reshape(x, {1, filled / lanes, 1, 1, lanes}));
}

Value LayoutAssigner::blockedOperand(TensorBuilder &emit, Value operand,
                                     Value like) {
  if (Value blocked = blockedOf.lookup(operand))
    return blocked;
  auto broadcast = operand.getDefiningOp<stablehlo::BroadcastInDimOp>();
  if (!broadcast)
    return blockedDynamicBroadcast(emit, operand, like);
  auto [entry, isNew] = broadcastOf.try_emplace(operand);
  if (isNew)
    entry->second = blockedBroadcast(emit, broadcast);
  return entry->second;
}

bool LayoutAssigner::rewriteConcatenate(stablehlo::ConcatenateOp op) {
  SmallVector<Value> operands;
  for (Value operand : op.getInputs())
    operands.push_back(blockedOf.lookup(operand));
  // To bring one into blocks takes longer than to unpack the others: a
  // concatenate does nothing else that blocks would make faster.
  if (llvm::is_contained(operands, Value()))
    return false;
  if (op.getDimension() != 1)
    return rewriteByChannel(op);
  if (!joinsWholeBlocks(op))
    return false;
  OpBuilder builder(op);
  TensorBuilder emit(builder, op.getLoc());
  remember(op.getResult(), emit.concatenate(operands, 1));
  return true;
}

bool LayoutAssigner::joinsWholeBlocks(stablehlo::ConcatenateOp op) const {
  return llvm::all_of(op.getInputs().drop_back(), [&](Value operand) {
    return tensorOf(operand).getDimSize(1) % lanes == 0;
  });
}

bool LayoutAssigner::rewriteRepeated(nn::BroadcastLikeOp op) {
  SmallVector<Value> blocked;
  const ArrayRef<int64_t> own = tensorOf(op.getOperand()).getShape();
  for (Value each : op->getOperands()) {
    blocked.push_back(blockedOf.lookup(each));
    // What has one pixel is repeated where it is read.
    if (!blocked.back() ||
        tensorOf(each).getDimSize(1) != tensorOf(op.getResult()).getDimSize(1))
      return false;
  }
  if (llvm::all_of(own.drop_front(2), [](int64_t size) { return size == 1; }))
    return false;
  OpBuilder builder(op);
  TensorBuilder emit(builder, op.getLoc());
  remember(op.getResult(),
           emit.make<nn::BroadcastLikeOp>(blockedType(tensorOf(op.getResult())),
                                          blocked.front(),
                                          ArrayRef(blocked).drop_front()));
  return true;
}

/// Where all that reads a larger image would unpack it, the smaller one is.
bool LayoutAssigner::rewriteResize(nn::ResizeOp op) {
  const bool isUnpacked = llvm::all_of(op->getUsers(), [&](Operation *user) {
    auto concatenate = dyn_cast<stablehlo::ConcatenateOp>(user);
    return concatenate && concatenate.getDimension() == 1 &&
           !joinsWholeBlocks(concatenate);
  });
  return !isUnpacked && rewriteByChannel(op);
}

bool LayoutAssigner::rewriteNorm(nn::GroupNormOp op) {
  Value blocked = blockedOf.lookup(op.getOperand());
  if (!blocked || !tensorOf(blocked).getElementType().isF32())
    return false;
  OpBuilder builder(op);
  TensorBuilder emit(builder, op.getLoc());
  remember(op.getResult(), normInBlocks(emit, op, blocked));
  return true;
}

/// Whether the channels stay apart, and only the operands that are like the
/// leading one have them.
static bool keepsChannels(const Axes &axes) {
  const AxisList &channels = axes.operands[axes.leading()][1];
  auto hasChannels = [&](const TensorAxes &each) {
    return llvm::any_of(each, [&](const AxisList &list) {
      return llvm::is_contained(list, channels.front());
    });
  };
  return channels.size() == 1 && axes.areAll(channels, AxisKind::Kept) &&
         llvm::all_of(llvm::seq(axes.operands.size()), [&](size_t i) {
           return axes.isLeading(i) || !hasChannels(axes.operands[i]);
         });
}

/// Whether \p op adds the elements of one tensor, and nothing else.
static bool isSumFromZero(stablehlo::ReduceOp op) {
  auto initial = op.getInitValues().size() == 1
                     ? constantTensor(op.getInitValues()[0])
                     : std::nullopt;
  return initial && initial->toDouble(0) == 0 &&
         stablehlo::soleOperation(op.getBody()) ==
             stablehlo::AddOp::getOperationName();
}

bool LayoutAssigner::rewriteByChannel(Operation *op) {
  auto interface = dyn_cast<AxesOpInterface>(op);
  if (!interface || op->getNumResults() != 1 ||
      llvm::none_of(op->getOperands(),
                    [&](Value each) { return blockedOf.count(each); }))
    return false;
  const Axes axes = interface.getAxes();
  const TensorAxes &leading = axes.operands[axes.leading()];
  const bool isRow = leading.size() == 3;
  if (!isImageRank(leading.size()) || !keepsChannels(axes))
    return false;
  const ArrayRef<AxisList> result = axes.results[0];
  const bool isBlocked = result == ArrayRef(leading),
             isOfAllPixels = result == ArrayRef(leading).take_front(2);
  auto plain = tensorOf(op->getResult(0));
  OpBuilder builder(op);
  TensorBuilder emit(builder, op->getLoc());
  if (!isRow && result == ArrayRef(leading).slice(1, 1)) {
    Value all = ofAllImages(op, axes);
    if (!all)
      return false;
    Value flat =
        emit.slice(emit.reshape(all, {sizeOf(all)}), 0, 0, plain.getDimSize(0));
    patterns.replaced(blockChannelsLabel, op->getResult(0), flat);
    op->getResult(0).replaceAllUsesWith(flat);
    return true;
  }
  Operation *copy = isBlocked || isOfAllPixels ? onBlocks(op, axes) : nullptr;
  if (!copy)
    return false;
  Value computed = copy->getResult(0);
  if (isBlocked) {
    computed.setType(blockedType(plain));
    remember(op->getResult(0), computed);
    patterns.changed(copy);
    return true;
  }
  const int64_t blocks = llvm::divideCeil(plain.getDimSize(1), lanes);
  SmallVector<int64_t> sizes = {plain.getDimSize(0), blocks, lanes};
  if (isRow)
    sizes.insert(sizes.begin() + 2, 1);
  computed.setType(RankedTensorType::get(sizes, plain.getElementType()));
  patterns.changed(copy);
  Value flat = channelsOf(emit, computed, plain.getDimSize(1));
  patterns.replaced(blockChannelsLabel, op->getResult(0), flat);
  op->getResult(0).replaceAllUsesWith(flat);
  return true;
}

Value LayoutAssigner::ofAllImages(Operation *op, const Axes &axes) {
  Operation *copy = onBlocks(op, axes);
  if (!copy)
    return {};
  patterns.changed(copy);
  Value computed = copy->getResult(0);
  auto plain = tensorOf(op->getResult(0));
  const int64_t blocks = llvm::divideCeil(plain.getDimSize(0), lanes);
  computed.setType(
      RankedTensorType::get({blocks, lanes}, plain.getElementType()));
  auto sum = dyn_cast<stablehlo::ReduceOp>(copy);
  ArrayRef<int64_t> shape = tensorOf(copy->getOperand(0)).getShape();
  if (!sum || shape[0] == 1 || !plain.getElementType().isF32() ||
      !isSumFromZero(sum))
    return computed;
  // Sums of images are added: there are more tasks for threads, and shorter
  // sums lose less.
  OpBuilder builder(op);
  TensorBuilder emit(builder, op->getLoc());
  Value images = emit.sum(sum.getInputs()[0], {2, 3});
  Value all = emit.sum(images, {0});
  copy->erase();
  return all;
}

/// A few rows of \p min and max of \p blocked, whose channels are whole blocks:
/// of as many tensors as can be in the same form.
static ValueRange minMaxOfRows(TensorBuilder &emit, const MinMaxOfAll &minMax,
                               Value blocked) {
  constexpr int64_t mostTasks = 16;
  auto type = tensorOf(blocked);
  const int64_t lanes = type.getShape().back();
  Value flat;
  if (type.hasStaticShape()) {
    const int64_t rows = sizeOf(blocked) / lanes,
                  tasks = std::gcd(rows, mostTasks);
    flat = emit.reshape(blocked, {tasks, rows / tasks, lanes});
  } else {
    const nn::Sizes sizes = emit.sizes(blocked);
    flat =
        emit.reshape(blocked, {sizes[0], emit.count(sizes, {1, 2, 3}), lanes});
  }
  return minMax.emit(emit, SmallVector<Value>(minMax.initial.size(), flat),
                     {1});
}

bool LayoutAssigner::rewriteReduction(stablehlo::ReduceOp op) {
  Value blocked =
      op.getInputs().empty() ? Value() : blockedOf.lookup(op.getInputs()[0]);
  const auto minMax =
      blocked ? MinMaxOfAll::match(op) : std::optional<MinMaxOfAll>();
  if (!minMax)
    return rewriteByChannel(op);
  OpBuilder builder(op);
  TensorBuilder emit(builder, op.getLoc());
  SmallVector<Value> parts;
  if (tensorOf(minMax->tensor).getDimSize(1) % lanes == 0) {
    llvm::append_range(parts, minMaxOfRows(emit, *minMax, blocked));
  } else {
    ValueRange ofChannels = minMax->emit(
        emit, SmallVector<Value>(op.getInputs().size(), blocked), {2, 3});
    for (Value each : ofChannels)
      parts.push_back(
          channelsOf(emit, each, tensorOf(minMax->tensor).getDimSize(1)));
  }
  ValueRange ofAll = minMax->emit(emit, parts, {0, 1});
  for (auto [was, is] : llvm::zip(op.getResults(), ofAll)) {
    patterns.replaced(blockChannelsLabel, was, is);
    was.replaceAllUsesWith(is);
  }
  return true;
}

Operation *LayoutAssigner::onBlocks(Operation *op, const Axes &axes) {
  OpBuilder builder(op);
  TensorBuilder emit(builder, op->getLoc());
  Operation *copy = builder.clone(*op);
  auto plain = tensorOf(op->getOperand(axes.leading()));
  if (!cast<AxesOpInterface>(copy).reorder(blockedOrder(plain.getRank()),
                                           blockedType(plain).getShape())) {
    copy->erase();
    return nullptr;
  }
  builder.setInsertionPoint(copy);
  Value like;
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    if (axes.isLeading(i) && !like)
      like = blockedOf.lookup(operand);
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    if (!axes.isLeading(i))
      continue;
    Value blocked = blockedOperand(emit, operand, like);
    copy->setOperand(i, blocked ? blocked : pack(emit, operand));
  }
  return copy;
}

//===----------------------------------------------------------------------===//
// The walk
//===----------------------------------------------------------------------===//

bool LayoutAssigner::rewrite(Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](stablehlo::ConvolutionOp op) { return rewriteConvolution(op); })
      .Case<nn::MaxPoolOp, nn::AveragePoolOp>(
          [&](auto op) { return rewritePool(op); })
      .Case([&](stablehlo::ConcatenateOp op) { return rewriteConcatenate(op); })
      .Case([&](nn::ResizeOp op) { return rewriteResize(op); })
      .Case([&](nn::GroupNormOp op) { return rewriteNorm(op); })
      .Case([&](nn::BroadcastLikeOp op) { return rewriteRepeated(op); })
      .Case([&](stablehlo::ReduceOp op) { return rewriteReduction(op); })
      .Default([&](Operation *op) { return rewriteByChannel(op); });
}

void LayoutAssigner::unpackWhereRead(Operation *op) {
  for (Value result : op->getResults()) {
    Value blocked = blockedOf.lookup(result);
    if (!blocked || result.use_empty())
      continue;
    OpBuilder builder(op);
    builder.setInsertionPointAfterValue(blocked);
    TensorBuilder emit(builder, op->getLoc());
    auto type = tensorOf(result);
    Value plain = fromImage(emit, emit.make<UnpackOp>(imageType(type), blocked),
                            type.getRank());
    patterns.replaced(blockChannelsLabel, result, plain);
    result.replaceAllUsesWith(plain);
  }
}

void LayoutAssigner::run() {
  // Early-increment: new ops stand before the one they replace.
  for (Operation &op : llvm::make_early_inc_range(block.without_terminator()))
    if (rewrite(&op))
      replaced.push_back(&op);
  // From the last to the first, so that a reader that is itself replaced is
  // gone before its operands are looked at.
  for (Operation *op : llvm::reverse(replaced)) {
    unpackWhereRead(op);
    patterns.count(blockChannelsLabel);
    op->erase();
  }
}

/// What stands in branches and loops has layouts of its own.
static void assignIn(Block &block, const PassSetting &setting,
                     PatternRun &run) {
  LayoutAssigner(block, setting, run).run();
  for (Operation &op : block)
    if (isControlFlow(&op))
      for (Region &region : op.getRegions())
        assignIn(region.front(), setting, run);
}

void assignLayouts(func::FuncOp function, const PassSetting &setting,
                   PatternRun &run) {
  if (run.isEnabled(blockChannelsLabel))
    assignIn(function.getBody().front(), setting, run);
}

} // namespace sinter::cpu
