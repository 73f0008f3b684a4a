// Axes of norms, recurrent operations, resampling, transforms and solvers.

#include "graph/axes/Axes.h"

#include "graph/nn/NnOps.h"
#include "graph/stablehlo/StablehloOps.h"
#include <cmath>

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter::axes {

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

/// Along the mixed dimensions each element depends on all elements.
static Axes mixedAlong(Operation *op, function_ref<bool(int64_t)> isMixed) {
  Builder builder(op);
  for (int64_t i = 0; i < builder.resultRank(); ++i)
    builder.add(isMixed(i) ? AxisKind::Mixed : AxisKind::Kept,
                {operand(0, i), result(i)});
  return builder.take();
}
template <typename Op> static Axes alongAxes(Op op) {
  return mixedAlong(
      op, [&](int64_t i) { return llvm::is_contained(op.getAxes(), i); });
}
template <typename Op> static Axes alongAxis(Op op) {
  return mixedAlong(
      op, [&](int64_t i) { return i == static_cast<int64_t>(op.getAxis()); });
}
static Axes alongChannels(nn::LrnOp op) {
  return mixedAlong(op, [](int64_t i) { return i == 1; });
}

/// Mixed from `axis` on; scale and bias have the normalised dimensions.
template <typename Op> static Axes fromAxis(Op op) {
  Builder builder(op);
  for (int64_t i = 0; i < builder.resultRank(); ++i) {
    const bool isMixed = i >= static_cast<int64_t>(op.getAxis());
    SmallVector<Place> places = {operand(0, i)};
    for (unsigned each = 0; each < op->getNumResults(); ++each)
      if (each == 0 || !isMixed)
        places.push_back(result(each, i));
    builder.add(isMixed ? AxisKind::Mixed : AxisKind::Kept, places);
  }
  return builder.take();
}

/// Groups are independent, each with its slice of scale and bias.
static Axes inGroups(nn::GroupNormOp op) {
  Builder builder(op);
  builder.keep({operand(0, 0), result(0)});
  const int64_t channels = builder.sizeAt(operand(0, 1)),
                groups = op.getGroups();
  Place all[] = {operand(0, 1), operand(1, 0), operand(2, 0), result(1)};
  builder.add(AxisKind::Kept, all, groups);
  if (channels != groups)
    builder.add(AxisKind::Mixed, all,
                ShapedType::isDynamic(channels) ? channels : channels / groups);
  for (int64_t i = 2; i < builder.resultRank(); ++i)
    builder.mix({operand(0, i), result(i)});
  return builder.take();
}

//===----------------------------------------------------------------------===//
// Recurrence
//===----------------------------------------------------------------------===//

namespace {
/// The operands of a recurrent operation: all have X, W, R, bias, lengths and
/// the initial state; LSTM also has the initial cell state and peepholes.
enum Recurrent : unsigned { X, W, R, Bias, Lengths, State, Cells, Peephole };
} // namespace

/// X [T, N, I], W [D, gates H, I], R [D, gates H, H], bias [D, 2 gates H],
/// lengths [N], states [D, N, H], peepholes [D, 3 H]; Y [T, D, N, H], last
/// states [D, N, H].
template <typename Op> static Axes recurrent(Op op) {
  Builder builder(op);
  constexpr unsigned parts = std::is_same_v<Op, nn::LstmOp> ? 8 : 6;
  SmallVector<Place> steps = {result(0)}, directions = {result(1)},
                     batches = {result(2)}, hidden = {result(3)}, inputs;
  auto dimensionsOf = [&](unsigned part, auto add) {
    auto [index, count] = op.getODSOperandIndexAndLength(part);
    if (part < parts && count)
      add([index = index](int64_t i) { return operand(index, i); });
  };
  dimensionsOf(X, [&](auto at) {
    steps.push_back(at(0));
    batches.push_back(at(1));
    inputs.push_back(at(2));
  });
  dimensionsOf(W, [&](auto at) {
    directions.push_back(at(0));
    inputs.push_back(at(2));
  });
  dimensionsOf(R, [&](auto at) {
    directions.push_back(at(0));
    hidden.push_back(at(2));
  });
  for (unsigned vectors : {Bias, Peephole})
    if (vectors < parts)
      dimensionsOf(vectors, [&](auto at) { directions.push_back(at(0)); });
  dimensionsOf(Lengths, [&](auto at) { batches.push_back(at(0)); });
  for (unsigned states : {State, Cells})
    if (states < parts)
      dimensionsOf(states, [&](auto at) {
        directions.push_back(at(0));
        batches.push_back(at(1));
        hidden.push_back(at(2));
      });
  for (unsigned i = 1; i < op->getNumResults(); ++i) {
    directions.push_back(result(i, 0));
    batches.push_back(result(i, 1));
    hidden.push_back(result(i, 2));
  }
  builder.mix(steps);
  builder.mix(directions);
  builder.keep(batches);
  builder.mix(hidden);
  builder.reduce(inputs);
  return builder.take();
}

//===----------------------------------------------------------------------===//
// Resampling, transforms, solvers
//===----------------------------------------------------------------------===//

/// The region of a dimension that is resampled: its start and end.
static std::pair<double, double> partOf(nn::ResizeOp op, int64_t dimension) {
  const int64_t rank = op.getScales().size();
  ArrayRef<double> roi = op.getRoi();
  const bool isCut = op.getCoordinates() == "tf_crop_and_resize" &&
                     static_cast<int64_t>(roi.size()) == 2 * rank;
  return isCut ? std::pair(roi[dimension], roi[rank + dimension])
               : std::pair(0.0, 1.0);
}

/// ONNX: floor(size * scale), of a cropped region floor(size * (end - start) *
/// scale). The product is rounded to f32, as ONNX computes it, so that a scale
/// that was computed from a size gives that size.
static int64_t resampledSize(nn::ResizeOp op, int64_t dimension, int64_t size) {
  const auto [start, end] = partOf(op, dimension);
  const double scaled = std::floor(static_cast<float>(
      static_cast<double>(size) * (end - start) * op.getScales()[dimension]));
  return !ShapedType::isDynamic(size) && scaled >= 0 && scaled < 0x1p53
             ? static_cast<int64_t>(scaled)
             : ShapedType::kDynamic;
}

/// Keeps dimensions with scale 1 that are not cropped. An explicit size may
/// have been rounded otherwise.
static Axes resampled(nn::ResizeOp op) {
  Builder builder(op);
  for (int64_t i = 0; i < builder.resultRank(); ++i) {
    Place from = operand(0, i), to = result(i);
    const int64_t size = builder.sizeAt(from), given = builder.sizeAt(to);
    const bool isSame = op.getScales()[i] == 1.0 &&
                        partOf(op, i) == std::pair(0.0, 1.0) &&
                        (size == given || ShapedType::isDynamic(size) ||
                         ShapedType::isDynamic(given));
    if (isSame)
      builder.keep({from, to});
    else
      builder.add(AxisKind::Resized, {from, to},
                  ShapedType::isDynamic(given) ? resampledSize(op, i, size)
                                               : given);
  }
  return builder.take();
}

/// New dimensions are not resampled.
static NewOrder reorderResize(nn::ResizeOp op, ArrayRef<int64_t> order) {
  const size_t rank = op.getScales().size();
  ArrayRef<double> roi = op.getRoi();
  if (roi.size() == 2 * rank) {
    SmallVector<double> part = inOrder<double>(roi.take_front(rank), order, 0);
    part.append(inOrder<double>(roi.drop_front(rank), order, 1));
    op.setRoi(part);
  }
  op.setScales(inOrder<double>(op.getScales(), order, 1));
  return llvm::to_vector(order);
}

/// Transforms the last dimensions; real transforms keep half of the
/// frequencies.
static Axes transformed(FftOp op) {
  Builder builder(op);
  const int64_t rank = builder.resultRank(),
                first = rank - static_cast<int64_t>(op.getFftLength().size());
  const bool isReal =
      op.getFftType() == FftType::RFFT || op.getFftType() == FftType::IRFFT;
  for (int64_t i = 0; i < rank; ++i) {
    AxisKind kind = i < first                 ? AxisKind::Kept
                    : isReal && i + 1 == rank ? AxisKind::Resized
                                              : AxisKind::Mixed;
    builder.add(
        kind, {operand(0, i), result(i)},
        builder.sizeAt(kind == AxisKind::Resized ? result(i) : operand(0, i)));
  }
  return builder.take();
}

static Axes factorized(CholeskyOp op) {
  const int64_t rank = tensorOf(op.getResult()).getRank();
  return mixedAlong(op, [&](int64_t i) { return i >= rank - 2; });
}

static Axes solved(TriangularSolveOp op) {
  Builder builder(op);
  const int64_t rank = builder.resultRank(),
                other = rank - (op.getLeftSide() ? 1 : 2);
  for (int64_t i = 0; i < rank; ++i)
    if (i < rank - 2)
      builder.keep({operand(0, i), operand(1, i), result(i)});
    else if (i == other)
      builder.keep({operand(1, i), result(i)});
    else
      builder.mix({operand(0, rank - 2), operand(0, rank - 1), operand(1, i),
                   result(i)});
  return builder.take();
}

void attachStructured(MLIRContext *c) {
  attach<nn::SoftmaxOp, alongAxes<nn::SoftmaxOp>>(c);
  attach<nn::LogSoftmaxOp, alongAxes<nn::LogSoftmaxOp>>(c);
  attach<nn::HardmaxOp, alongAxis<nn::HardmaxOp>>(c);
  attach<nn::LpNormalizeOp, alongAxis<nn::LpNormalizeOp>>(c);
  attach<nn::CumulativeSumOp, alongAxis<nn::CumulativeSumOp>>(c);
  attach<nn::LrnOp, alongChannels>(c);
  attach<nn::LayerNormOp, fromAxis<nn::LayerNormOp>>(c);
  attach<nn::RmsNormOp, fromAxis<nn::RmsNormOp>>(c);
  attach<nn::GroupNormOp, inGroups>(c);
  attach<nn::LstmOp, recurrent<nn::LstmOp>>(c);
  attach<nn::GruOp, recurrent<nn::GruOp>>(c);
  attach<nn::RnnOp, recurrent<nn::RnnOp>>(c);
  attach<nn::ResizeOp, resampled, reorderResize>(c);
  attach<FftOp, transformed>(c);
  attach<CholeskyOp, factorized>(c);
  attach<TriangularSolveOp, solved>(c);
}

} // namespace sinter::axes
