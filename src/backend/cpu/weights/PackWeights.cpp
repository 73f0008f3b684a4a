#include "backend/cpu/weights/PackWeights.h"

#include "backend/cpu/emit/ConvolutionKernel.h"
#include "backend/cpu/target/Target.h"
#include "graph/nn/TensorBuilder.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using sinter::nn::TensorBuilder;

namespace sinter::cpu {

/// Packs [C, 1, R, S] as [block of channels][tap][channel].
static Value packDepthwise(TensorBuilder &emit, Value weights, int64_t lanes) {
  ArrayRef<int64_t> shape = tensorOf(weights).getShape();
  const int64_t channels = shape[0], taps = shape[2] * shape[3];
  const int64_t filled = llvm::alignTo(channels, lanes);
  Value x = emit.padEnd(emit.reshape(weights, {channels, taps}), 0,
                        filled - channels);
  x = emit.reshape(x, {filled / lanes, lanes, taps});
  return emit.reshape(emit.transpose(x, {0, 2, 1}), {filled * taps});
}

/// Expands [groups, outputs, inputs, taps] to merged groups, with zeros between
/// channels of different original groups.
static Value mergeGroups(TensorBuilder &emit, Value weights,
                         const Convolution::WeightOrder &order) {
  const int64_t merged = order.merged, inputs = order.inputs / merged;
  if (merged == 1)
    return emit.reshape(weights,
                        {order.groups, order.outputs, inputs, order.taps});
  const SmallVector<int64_t> all = {
      order.groups, merged, order.outputs / merged, merged, inputs, order.taps};
  Value x = emit.reshape(weights, {all[0], all[1], all[2], all[4], all[5]});
  x = emit.broadcast(x, {0, 1, 2, 4, 5}, all);
  Type number = emit.integerType(32);
  Value isOwn =
      emit.compare(stablehlo::ComparisonDirection::EQ,
                   emit.iota(all, 1, number), emit.iota(all, 3, number));
  x = emit.select(isOwn, x, emit.splat(0, tensorOf(x)));
  return emit.reshape(x,
                      {order.groups, order.outputs, order.inputs, order.taps});
}

/// Calls \p piece with the range of whole blocks and with that of the rest.
static Value
concatenateParts(TensorBuilder &emit, int64_t size, int64_t part, int64_t dim,
                 llvm::function_ref<Value(int64_t, int64_t, int64_t)> piece) {
  const int64_t whole = size / part * part;
  SmallVector<Value> pieces;
  if (whole > 0)
    pieces.push_back(piece(0, whole, part));
  if (whole < size)
    pieces.push_back(piece(whole, size, size - whole));
  return pieces.size() == 1 ? pieces[0] : emit.concatenate(pieces, dim);
}

static Value packPanels(TensorBuilder &emit, Value weights,
                        const Convolution::WeightOrder &order) {
  Value x = mergeGroups(emit, weights, order);
  x = emit.padEnd(x, 1, order.filledOutputs - order.outputs);
  Value packed = concatenateParts(
      emit, order.filledOutputs, order.panel, 1,
      [&](int64_t begin, int64_t end, int64_t panel) {
        const int64_t panels = (end - begin) / panel;
        Value outputs = emit.reshape(
            emit.slice(x, 1, begin, end),
            {order.groups, panels, panel, order.inputs, order.taps});
        Value blocks = concatenateParts(
            emit, order.inputs, order.block, 2,
            [&](int64_t begin, int64_t end, int64_t block) {
              const int64_t count = (end - begin) / block;
              Value inputs = emit.reshape(
                  emit.slice(outputs, 3, begin, end),
                  {order.groups, panels, panel, count, block, order.taps});
              return emit.reshape(
                  emit.transpose(inputs, {0, 1, 3, 5, 4, 2}),
                  {order.groups, panels, (end - begin) * order.taps * panel});
            });
        return emit.reshape(
            blocks, {order.groups, (end - begin) * order.inputs * order.taps});
      });
  return emit.reshape(
      packed, {order.groups * order.filledOutputs * order.inputs * order.taps});
}

void packWeights(func::FuncOp function, const Target &target) {
  function.walk([&](ConvolutionOp op) {
    if (op.getPackedFrom() ||
        op.getWeights().getDefiningOp<stablehlo::ConstantOp>())
      return;
    OpBuilder builder(op);
    TensorBuilder emit(builder, op.getLoc());
    SmallVector<int64_t> shape(op.kernelShape());
    // The Winograd kernel multiplies by transformed weights.
    op.setFast(false);
    Value packed =
        kernelOf(op, target) == "depthwise"
            ? packDepthwise(emit, op.getWeights(), target.f32Lanes)
            : packPanels(
                  emit, op.getWeights(),
                  Convolution(convolutionShape(op), target).weightOrder());
    op.getWeightsMutable().assign(packed);
    op.setPackedFrom(shape);
  });
}

} // namespace sinter::cpu
