//===- ResultSizes.cpp - how large results are ----------------------------===//

#include "backend/cpu/shapes/ResultSizes.h"

#include "backend/cpu/ir/TreeOps.h"
#include "graph/SizeSources.h"
#include "graph/Types.h"
#include "graph/interfaces/Axes.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

static SmallVector<Known> asKnown(ArrayRef<SizeExpression> sizes) {
  return SmallVector<Known>(sizes.begin(), sizes.end());
}

SmallVector<Known> ResultSizes::of(OpResult result) {
  using namespace stablehlo;
  Operation *op = result.getOwner();
  auto type = tensorOf(result);
  auto fromElements = [&](Value shape) {
    return computed.sizesFrom(shape, result);
  };
  if (isa<HostCallOp>(op))
    return ofCall(result);
  if (auto broadcast = dyn_cast<DynamicBroadcastInDimOp>(op))
    return fromElements(broadcast.getOutputDimensions());
  if (auto reshape = dyn_cast<DynamicReshapeOp>(op))
    return fromElements(reshape.getOutputShape());
  if (auto iota = dyn_cast<DynamicIotaOp>(op))
    return fromElements(iota.getOutputShape());
  if (auto reshape = dyn_cast<ReshapeOp>(op))
    return ofReshape(reshape.getOperand(), type);
  if (auto like = dyn_cast<nn::BroadcastLikeOp>(op))
    return ofBroadcast(like);
  if (auto slice = dyn_cast<RealDynamicSliceOp>(op))
    return ofSlice(slice);
  if (auto gather = dyn_cast<DynamicGatherOp>(op))
    return ofGather(gather);
  if (isa<Int8ProductOp, LowBitProductOp, TreeEnsembleOp>(op))
    return ofProduct(op);
  if (auto product = dyn_cast<ZeroPointProductOp>(op))
    return ofProduct(product);
  if (auto attention = dyn_cast<AttentionOp>(op))
    return ofAttention(attention);
  if (isa<cpu::ConvolutionOp, PoolOp, DepthwiseGradientOp>(op))
    return ofBlocked(op);
  if (auto concat = dyn_cast<ConcatenateOp>(op))
    return ofConcatenate(concat);
  if (auto pad = dyn_cast<PadOp>(op))
    return ofPad(pad);
  if (auto pad = dyn_cast<nn::PadModeOp>(op))
    return ofPad(pad);
  if (auto windows = dyn_cast<ReduceWindowOp>(op))
    return ofReduceWindow(windows);
  if (isa<stablehlo::ConvolutionOp, nn::MaxPoolOp, nn::AveragePoolOp>(op) &&
      axesOf(op))
    return ofWindows(result);
  return byAxes(result);
}

SmallVector<Known> ResultSizes::byAxes(OpResult result) {
  Operation *op = result.getOwner();
  std::optional<Axes> axes = axesOf(op);
  if (!axes)
    return {};
  // The size of each axis that some operand's dimension decides.
  std::vector<Known> sizes(axes->axes.size());
  for (auto [i, axis] : llvm::enumerate(axes->axes))
    if (const Dim size = axis.size; size.isStatic())
      sizes[i] = size.value();
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    for (auto [dimension, list] : llvm::enumerate(axes->operands[i])) {
      std::optional<unsigned> missing;
      Known rest = values.dimsOf(op->getOperand(i))[dimension];
      for (unsigned axis : list) {
        if (!sizes[axis] && !missing)
          missing = axis;
        else if (rest)
          rest = sizes[axis] ? SizeExpression::quotientOf(*rest, *sizes[axis])
                             : std::nullopt;
      }
      if (missing && axes->axes[*missing].kind != AxisKind::Resized)
        sizes[*missing] = rest;
    }
  SmallVector<Known> all;
  for (const AxisList &list : axes->results[result.getResultNumber()]) {
    Known &size = all.emplace_back(1);
    for (unsigned axis : list)
      if (size)
        size = sizes[axis] ? SizeExpression::productOf(*size, *sizes[axis])
                           : std::nullopt;
  }
  for (auto [i, size] : llvm::enumerate(tensorOf(result).getShape()))
    if (!ShapedType::isDynamic(size))
      all[i] = size;
  return all;
}

/// The one unknown size of \p type is what is left of the number of elements.
SmallVector<Known> ResultSizes::ofReshape(Value operand,
                                          RankedTensorType type) {
  SmallVector<Known> sizes;
  Known rest = facts.countOf(values.dimsOf(operand));
  for (int64_t size : type.getShape()) {
    sizes.push_back(ShapedType::isDynamic(size) ? Known() : Known(size));
    if (rest && !ShapedType::isDynamic(size))
      rest = size == 0 ? std::nullopt : SizeExpression::quotientOf(*rest, size);
  }
  if (hasOneUnknown(type)) {
    for (Known &size : sizes)
      if (!size)
        size = rest;
    return sizes;
  }
  // Only dimensions of size 1 come and go, or sizes come in the same order.
  Dims proper;
  for (const SizeExpression &size : values.dimsOf(operand))
    if (size != SizeExpression(1))
      proper.push_back(size);
  size_t next = 0;
  for (Known &size : sizes) {
    if (size == SizeExpression(1))
      continue;
    if (next == proper.size() || (size && *size != proper[next]))
      return {};
    size = proper[next++];
  }
  return next == proper.size() ? sizes : SmallVector<Known>();
}

SmallVector<Known> ResultSizes::ofConcatenate(stablehlo::ConcatenateOp op) {
  SmallVector<Known> sizes = asKnown(values.dimsOf(op.getInputs()[0]));
  Known &all = sizes[op.getDimension()];
  for (Value input : op.getInputs().drop_front()) {
    // A sum of many terms is a size by itself: it is no less than none.
    constexpr size_t many = 8;
    if (all && all->terms().size() >= many)
      all = facts.table.followingOf(FollowingKind::Greatest, *all, 0);
    if (all)
      all =
          SizeExpression::sumOf(*all, values.dimsOf(input)[op.getDimension()]);
  }
  return sizes;
}

SmallVector<Known> ResultSizes::ofReduceWindow(stablehlo::ReduceWindowOp op) {
  SmallVector<Known> sizes;
  for (auto [size, window] :
       llvm::zip_equal(values.dimsOf(op.getInputs()[0]), op.getWindow()))
    sizes.push_back(windowedSize(size, window));
  return sizes;
}

/// The dimensions of the left-hand side come first; weights are of known sizes.
SmallVector<Known> ResultSizes::ofProduct(Operation *op) {
  const Dims &lhs = values.dimsOf(op->getOperand(0));
  SmallVector<Known> sizes;
  for (auto [i, size] : llvm::enumerate(tensorOf(op->getResult(0)).getShape()))
    sizes.push_back(ShapedType::isDynamic(size) ? Known(lhs[i]) : Known(size));
  return sizes;
}

SmallVector<Known> ResultSizes::ofProduct(ZeroPointProductOp op) {
  const Dims &lhs = values.dimsOf(op.getLhs()),
             &rhs = values.dimsOf(op.getRhs());
  SmallVector<Known> sizes;
  for (int64_t dim : op.getLhsBatching())
    sizes.push_back(lhs[dim]);
  for (int64_t dim : op.getSide(0).free())
    sizes.push_back(lhs[dim]);
  for (int64_t dim : op.getSide(1).free())
    sizes.push_back(rhs[dim]);
  return sizes;
}

SmallVector<Known> ResultSizes::ofAttention(AttentionOp op) {
  const Dims &query = values.dimsOf(op.getQuery()),
             &value = values.dimsOf(op.getValue());
  SmallVector<Known> sizes(op.getResultDims().size());
  for (auto [i, dim] : llvm::enumerate(op.getResultDims()))
    sizes[dim] = i + 1 < sizes.size() ? query[op.getQueryDims()[i]]
                                      : value[op.getValueDims()[i]];
  return sizes;
}

Known ResultSizes::windowedSize(const SizeExpression &size,
                                const stablehlo::WindowDimension &window) {
  if (ShapedType::isDynamic(window.size))
    return std::nullopt;
  if (const std::optional<int64_t> known = size.number()) {
    const auto places = stablehlo::windowedSize(*known, window);
    return places ? Known(*places) : Known();
  }
  // Nothing is put between no elements.
  if (window.baseDilation != 1)
    facts.guards.requireAtMost(1, size);
  // ((size - 1) * base + 1 + padding - reach) / stride + 1
  const int64_t rest = window.paddingLow + window.paddingHigh -
                       (window.size - 1) * window.windowDilation -
                       window.baseDilation;
  Known all = SizeExpression::productOf(size, window.baseDilation);
  if (all)
    all = SizeExpression::sumOf(*all, rest);
  if (all)
    all = facts.table.quotientOf(*all, window.stride);
  return all ? SizeExpression::sumOf(*all, 1) : std::nullopt;
}

/// Those of blocks, which pools of channels before pixels have as well.
template <typename Op>
static stablehlo::WindowDimension windowOf(Op op, ArrayRef<int64_t> sizes,
                                           ArrayRef<int64_t> high, size_t i) {
  stablehlo::WindowDimension window;
  window.size = sizes[i];
  window.stride = op.getStrides()[i];
  window.windowDilation = op.getDilations()[i];
  window.paddingLow = op.getPaddingLow()[i];
  window.paddingHigh = high[i];
  return window;
}

/// What is put between elements is as many times fewer than they are, unless
/// there are none; so nothing is put between open ones.
SmallVector<Known> ResultSizes::ofPad(stablehlo::PadOp op) {
  SmallVector<Known> sizes;
  for (auto [i, inType, size] :
       llvm::enumerate(tensorOf(op.getResult()).getShape(),
                       values.dimsOf(op.getOperand()))) {
    Known &all = sizes.emplace_back();
    if (!ShapedType::isDynamic(inType))
      all = inType;
    else if (op.getInteriorPadding()[i] == 0)
      all = SizeExpression::sumOf(size, op.getEdgePaddingLow()[i] +
                                            op.getEdgePaddingHigh()[i]);
    if (all)
      facts.guards.requireNonNegative(*all);
  }
  return sizes;
}

SmallVector<Known> ResultSizes::ofPad(nn::PadModeOp op) {
  SmallVector<Known> sizes;
  for (auto [size, low, high] : llvm::zip_equal(values.dimsOf(op.getOperand()),
                                                op.getLow(), op.getHigh())) {
    Known &all = sizes.emplace_back(SizeExpression::sumOf(size, low));
    if (all)
      all = SizeExpression::sumOf(*all, high);
    if (all)
      facts.guards.requireNonNegative(*all);
  }
  return sizes;
}

/// As many images as the operand has, whose pixels have windows.
SmallVector<Known> ResultSizes::ofBlocked(Operation *op) {
  const Dims &from = values.dimsOf(op->getOperand(0));
  auto type = tensorOf(op->getResult(0));
  SmallVector<Known> sizes;
  for (auto [i, size] : llvm::enumerate(type.getShape())) {
    sizes.push_back(ShapedType::isDynamic(size) ? Known() : Known(size));
    if (sizes.back())
      continue;
    if (i == 0)
      sizes[0] = from[0];
    else if (auto pool = dyn_cast<PoolOp>(op); pool && pool.getPaddingHigh())
      sizes[i] = windowedSize(from[i], windowOf(pool, pool.getWindow(),
                                                *pool.getPaddingHigh(), i - 2));
    else if (auto product = dyn_cast<cpu::ConvolutionOp>(op);
             product && product.getPaddingHigh())
      sizes[i] = windowedSize(
          from[i], windowOf(product, product.kernelShape().drop_front(2),
                            *product.getPaddingHigh(), i - 2));
  }
  return sizes;
}

SmallVector<Known> ResultSizes::ofWindows(OpResult result) {
  Operation *op = result.getOwner();
  SmallVector<Known> sizes = byAxes(result);
  const Dims &from = values.dimsOf(op->getOperand(0));
  if (auto product = dyn_cast<stablehlo::ConvolutionOp>(op)) {
    auto numbers = product.getDimensionNumbers();
    for (auto [i, window] : llvm::enumerate(product.getWindow()))
      if (Known &size = sizes[numbers.getOutputSpatialDimensions()[i]]; !size)
        size =
            windowedSize(from[numbers.getInputSpatialDimensions()[i]], window);
  }
  auto ofPool = [&](auto pool) {
    for (size_t i = 0; i < pool.getWindow().size(); ++i)
      if (Known &size = sizes[i + 2]; !size)
        size = windowedSize(from[i + 2], windowOf(pool, pool.getWindow(),
                                                  pool.getPaddingHigh(), i));
  };
  if (auto pool = dyn_cast<nn::MaxPoolOp>(op))
    ofPool(pool);
  if (auto pool = dyn_cast<nn::AveragePoolOp>(op))
    ofPool(pool);
  return sizes;
}

/// What indices are there for, and the slices' dimensions between.
SmallVector<Known> ResultSizes::ofGather(stablehlo::DynamicGatherOp op) {
  auto numbers = op.getDimensionNumbers();
  SmallVector<Known> ofSlices, ofIndices;
  for (auto [dim, size] :
       llvm::enumerate(values.elementsOf(op.getSliceSizes())))
    if (const auto at = static_cast<int64_t>(dim);
        !llvm::is_contained(numbers.getCollapsedSliceDims(), at) &&
        !llvm::is_contained(numbers.getOperandBatchingDims(), at))
      ofSlices.push_back(size);
  for (auto [dim, size] : llvm::enumerate(values.dimsOf(op.getStartIndices())))
    if (static_cast<int64_t>(dim) != numbers.getIndexVectorDim())
      ofIndices.push_back(size);
  SmallVector<Known> sizes;
  size_t nextSlice = 0, nextIndex = 0;
  for (int64_t i = 0; i < tensorOf(op.getResult()).getRank(); ++i) {
    const bool isOfSlice = llvm::is_contained(numbers.getOffsetDims(), i);
    const SmallVector<Known> &from = isOfSlice ? ofSlices : ofIndices;
    size_t &next = isOfSlice ? nextSlice : nextIndex;
    if (next == from.size())
      return {};
    sizes.push_back(from[next++]);
  }
  return sizes;
}

/// Slices begin at numbers, end at sizes and take every n-th element, or are as
/// large as their type says.
SmallVector<Known> ResultSizes::ofSlice(stablehlo::RealDynamicSliceOp op) {
  const std::vector<Known> starts = values.elementsOf(op.getStartIndices()),
                           strides = values.elementsOf(op.getStrides());
  SmallVector<Known> sizes;
  for (auto [i, start, stride] : llvm::enumerate(starts, strides)) {
    Known &size = sizes.emplace_back();
    const auto first = start ? start->number() : std::nullopt;
    const auto step = stride ? stride->number() : std::nullopt;
    if (!first && !tensorOf(op).isDynamicDim(i))
      size = tensorOf(op).getDimSize(i);
    if (!first || !step || *step < 1)
      continue;
    if (const Known limit = computed.sizeFrom(op.getLimitIndices(), i, op))
      size = SizeExpression::sumOf(*limit, -*first);
    // ceil(n / step) = floor((n - 1) / step) + 1
    if (size && *step != 1) {
      facts.guards.requireNonNegative(*size);
      size = SizeExpression::sumOf(*size, -1);
      size = size ? facts.table.quotientOf(*size, *step) : std::nullopt;
      size = size ? SizeExpression::sumOf(*size, 1) : std::nullopt;
    }
  }
  return sizes;
}

/// What is broadcast together is of one size, or of size 1.
SmallVector<Known> ResultSizes::ofBroadcast(nn::BroadcastLikeOp op) {
  SmallVector<Known> sizes(tensorOf(op.getResult()).getRank(),
                           SizeExpression(1));
  for (Value operand : op->getOperands()) {
    const Dims &own = values.dimsOf(operand);
    const size_t first = sizes.size() - own.size();
    for (auto [i, size] : llvm::enumerate(own)) {
      Known &all = sizes[first + i];
      if (all)
        all = facts.broadcastOf(*all, size);
    }
  }
  return sizes;
}

/// The last operands are the sizes, in order.
SmallVector<Known> ResultSizes::ofCall(OpResult result) {
  auto call = cast<HostCallOp>(result.getOwner());
  size_t next = call.getInputs().size() - call.getSized();
  for (OpResult before :
       call->getResults().take_front(result.getResultNumber()))
    next += tensorOf(before).getNumDynamicDims();
  SmallVector<Known> sizes;
  for (int64_t size : tensorOf(result).getShape()) {
    if (!ShapedType::isDynamic(size)) {
      sizes.push_back(size);
      continue;
    }
    if (next == call.getInputs().size())
      return {};
    sizes.push_back(computed.sizeFrom(call.getInputs()[next++], 0, call));
  }
  return sizes;
}
