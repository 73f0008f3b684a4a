// Axes of operations that move elements by a fixed pattern.

#include "graph/axes/Axes.h"

#include "graph/SizeSources.h"
#include "graph/nn/NnOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter::axes {

//===----------------------------------------------------------------------===//
// Transposes and broadcasts
//===----------------------------------------------------------------------===//

static Axes transposed(TransposeOp op) {
  Builder builder(op);
  for (auto [place, from] : llvm::enumerate(op.getPermutation()))
    builder.keep({operand(0, from), result(place)});
  return builder.take();
}

/// Dimension i of the operand is, or is broadcast to, `places[i]` of the
/// result; \p isSame is whether a dynamic size is the result's.
static Axes spread(Operation *op, ArrayRef<int64_t> places,
                   function_ref<bool(int64_t)> isSame) {
  Builder builder(op);
  SmallVector<bool> isSet(builder.resultRank(), false);
  for (auto [i, place] : llvm::enumerate(places)) {
    int64_t from = builder.sizeAt(operand(0, i)),
            to = builder.sizeAt(result(place));
    isSet[place] = true;
    bool isDynamic = ShapedType::isDynamic(from);
    if (isDynamic ? isSame(i) : from != 1 || to == 1)
      builder.keep({operand(0, i), result(place)});
    else if (!isDynamic)
      builder.repeat({result(place)});
  }
  for (int64_t i = 0; i < builder.resultRank(); ++i)
    if (!isSet[i])
      builder.repeat({result(i)});
  return builder.take();
}

static Axes broadcast(BroadcastInDimOp op) {
  ArrayRef<int64_t> places = op.getBroadcastDimensions();
  return spread(op, places, [&](int64_t i) {
    return tensorOf(op.getResult()).isDynamicDim(places[i]);
  });
}

static Axes dynamicallyBroadcast(DynamicBroadcastInDimOp op) {
  ArrayRef<int64_t> places = op.getBroadcastDimensions();
  SmallVector<SizeSource> sizes = sourcesOfSizes(op.getOutputDimensions());
  Value source = shapeSource(op.getOperand());
  auto kept = op.getKnownNonexpandingDimensions();
  return spread(op, places, [&](int64_t i) {
    if (kept && llvm::is_contained(*kept, i))
      return true;
    return places[i] < static_cast<int64_t>(sizes.size()) &&
           sizes[places[i]].of == source && sizes[places[i]].dimension == i;
  });
}

static Axes prefixed(BroadcastOp op) {
  int64_t leading = op.getBroadcastSizes().size();
  auto rank = tensorOf(op.getOperand()).getRank();
  return spread(op, llvm::to_vector(llvm::seq(leading, leading + rank)),
                [](int64_t) { return true; });
}

//===----------------------------------------------------------------------===//
// Slices and padding
//===----------------------------------------------------------------------===//

/// The first operand's dimension i becomes the result's: kept where \p isWhole,
/// else resized.
static Axes partly(Operation *op, function_ref<bool(int64_t)> isWhole) {
  Builder builder(op);
  for (int64_t i = 0; i < builder.resultRank(); ++i)
    builder.add(isWhole(i) ? AxisKind::Kept : AxisKind::Resized,
                {operand(0, i), result(i)},
                builder.sizeAt(isWhole(i) ? operand(0, i) : result(i)));
  return builder.take();
}

/// A slice of the operand's size is the whole operand.
static Axes slicedBySize(Operation *op) {
  ArrayRef<Dim> from = dimsOf(op->getOperand(0)), to = dimsOf(op->getResult(0));
  return partly(
      op, [&](int64_t i) { return from[i] == to[i] && !to[i].isUnknown(); });
}
static Axes sliced(SliceOp op) { return slicedBySize(op); }
static Axes dynamicallySliced(DynamicSliceOp op) { return slicedBySize(op); }
static Axes boundedSlice(RealDynamicSliceOp op) { return slicedBySize(op); }

static Axes padded(PadOp op) {
  return partly(op, [&](int64_t i) {
    return op.getEdgePaddingLow()[i] == 0 && op.getEdgePaddingHigh()[i] == 0 &&
           op.getInteriorPadding()[i] == 0;
  });
}
/// low + (size, with gaps) + high, where the padding is constant.
static Axes dynamicallyPadded(DynamicPadOp op) {
  Builder builder(op);
  const auto rank = static_cast<size_t>(builder.resultRank());
  auto low = constantIntegers(op.getEdgePaddingLow()),
       high = constantIntegers(op.getEdgePaddingHigh()),
       interior = constantIntegers(op.getInteriorPadding());
  const bool isKnown = low && high && interior && low->size() == rank &&
                       high->size() == rank && interior->size() == rank;
  for (size_t i = 0; i < rank; ++i) {
    SmallVector<Place, 2> places = {operand(0, i), result(i)};
    WindowDimension window;
    if (!isKnown || (*interior)[i] < 0 ||
        llvm::AddOverflow((*interior)[i], int64_t(1), window.baseDilation)) {
      builder.resize(places);
      continue;
    }
    window.paddingLow = (*low)[i];
    window.paddingHigh = (*high)[i];
    const bool isWhole = window.paddingLow == 0 && window.paddingHigh == 0 &&
                         window.baseDilation == 1;
    builder.add(isWhole ? AxisKind::Kept : AxisKind::Resized, places,
                windowedSize(builder.sizeAt(places[0]), window)
                    .value_or(ShapedType::kDynamic));
  }
  return builder.take();
}
static Axes paddedByMode(nn::PadModeOp op) {
  return partly(op, [&](int64_t i) {
    return op.getLow()[i] == 0 && op.getHigh()[i] == 0;
  });
}

static Axes resizedAlong(SetDimensionSizeOp op) {
  return partly(op, [&](int64_t i) {
    return i != static_cast<int64_t>(op.getDimension());
  });
}

static Axes reversed(ReverseOp op) {
  Builder builder(op);
  builder.alike(builder.resultRank(), AxisKind::Mixed, [&](int64_t i) {
    return llvm::is_contained(op.getDimensions(), i);
  });
  return builder.take();
}

static Axes joined(ConcatenateOp op) {
  Builder builder(op);
  const int64_t rank = builder.resultRank();
  for (int64_t i = 0; i < rank; ++i)
    if (i == static_cast<int64_t>(op.getDimension()))
      builder.add(AxisKind::Resized, builder.everywhere(i, rank),
                  builder.sizeAt(result(i)));
    else
      builder.keep(builder.everywhere(i, rank));
  return builder.take();
}

static Axes updated(DynamicUpdateSliceOp op) {
  Builder builder(op);
  for (int64_t i = 0; i < builder.resultRank(); ++i) {
    int64_t size = builder.sizeAt(operand(0, i));
    bool isWhole =
        size == builder.sizeAt(operand(1, i)) && !ShapedType::isDynamic(size);
    if (isWhole)
      builder.keep({operand(0, i), operand(1, i), result(i)});
    else
      builder.mix({operand(0, i), result(i)});
  }
  return builder.take();
}

template <typename Op> static Axes counted(Op op) {
  Builder builder(op);
  for (int64_t i = 0; i < builder.resultRank(); ++i)
    if (i != static_cast<int64_t>(op.getIotaDimension()))
      builder.repeat({result(i)});
  return builder.take();
}

//===----------------------------------------------------------------------===//
// Other orders of dimensions
//===----------------------------------------------------------------------===//

static SmallVector<int64_t> placesOf(ArrayRef<int64_t> dimensions,
                                     ArrayRef<int64_t> order) {
  return llvm::map_to_vector(
      dimensions, [&](int64_t each) { return placeIn(order, each); });
}

static NewOrder reorderPad(PadOp op, ArrayRef<int64_t> order) {
  op.setEdgePaddingLow(inOrder<int64_t>(op.getEdgePaddingLow(), order, 0));
  op.setEdgePaddingHigh(inOrder<int64_t>(op.getEdgePaddingHigh(), order, 0));
  op.setInteriorPadding(inOrder<int64_t>(op.getInteriorPadding(), order, 0));
  return llvm::to_vector(order);
}
static NewOrder reorderPadMode(nn::PadModeOp op, ArrayRef<int64_t> order) {
  op.setLow(inOrder<int64_t>(op.getLow(), order, 0));
  op.setHigh(inOrder<int64_t>(op.getHigh(), order, 0));
  return llvm::to_vector(order);
}
/// Dimensions that were taken whole stay whole.
static NewOrder reorderSlice(SliceOp op, ArrayRef<int64_t> order,
                             ArrayRef<int64_t> sizes) {
  SmallVector<int64_t> ends = inOrder<int64_t>(op.getLimitIndices(), order, 0);
  const Axes axes = sliced(op);
  for (auto [place, from] : llvm::enumerate(order))
    if (from < 0 || axes.resultOf(0, from))
      ends[place] = sizes[place];
  op.setStartIndices(inOrder<int64_t>(op.getStartIndices(), order, 0));
  op.setLimitIndices(ends);
  op.setStrides(inOrder<int64_t>(op.getStrides(), order, 1));
  return llvm::to_vector(order);
}
static NewOrder reorderReverse(ReverseOp op, ArrayRef<int64_t> order) {
  op.setDimensions(placesOf(op.getDimensions(), order));
  return llvm::to_vector(order);
}
static NewOrder reorderConcatenate(ConcatenateOp op, ArrayRef<int64_t> order) {
  op.setDimension(placeIn(order, op.getDimension()));
  return llvm::to_vector(order);
}

void attachMovement(MLIRContext *c) {
  attach<TransposeOp, transposed>(c);
  attach<BroadcastInDimOp, broadcast>(c);
  attach<DynamicBroadcastInDimOp, dynamicallyBroadcast>(c);
  attach<BroadcastOp, prefixed>(c);
  attach<SliceOp, sliced, reorderSlice>(c);
  attach<DynamicSliceOp, dynamicallySliced>(c);
  attach<RealDynamicSliceOp, boundedSlice>(c);
  attach<PadOp, padded, reorderPad>(c);
  attach<DynamicPadOp, dynamicallyPadded>(c);
  attach<nn::PadModeOp, paddedByMode, reorderPadMode>(c);
  attach<SetDimensionSizeOp, resizedAlong>(c);
  attach<ReverseOp, reversed, reorderReverse>(c);
  attach<ConcatenateOp, joined, reorderConcatenate>(c);
  attach<DynamicUpdateSliceOp, updated>(c);
  attach<IotaOp, counted<IotaOp>>(c);
  attach<DynamicIotaOp, counted<DynamicIotaOp>>(c);
}

} // namespace sinter::axes
