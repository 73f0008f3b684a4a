// Batch, layer, group and instance normalisation and similar; softmax.

#include "formats/import/Building.h"
#include "formats/paddle/Operators.h"
#include "formats/paddle/ops/Windows.h"
#include "graph/Momentum.h"
#include "graph/nn/TensorBuilder.h"

using namespace mlir;

namespace sinter::paddle {

static APFloat readEpsilon(OperatorContext &op, double otherwise = 1e-5) {
  return APFloat(static_cast<float>(op.getFloat("epsilon", otherwise)));
}

/// Whether channels come last, by data_layout or data_format.
static bool isChannelsLast(OperatorContext &op) {
  return hasChannelsLast(op, op.hasAttribute("data_layout") ? "data_layout"
                                                            : "data_format");
}

/// With running statistics. Fails for batch statistics, which are only for
/// training: they are used unless use_global_stats, or is_test without
/// trainable_statistics, is set.
static LogicalResult importBatchNorm(OperatorContext &op) {
  Value x = op.operand("X"), mean = op.operand("Mean"),
        variance = op.operand("Variance");
  if (!x || !mean || !variance)
    return failure();
  const bool usesRunning = op.getBool("use_global_stats", false) ||
                           (op.getBool("is_test", false) &&
                            !op.getBool("trainable_statistics", false));
  if (!usesRunning)
    return op.unsupported("it normalises by the statistics of the batch, as in "
                          "training; export the program for inference");
  if (op.rank(x) < 2)
    return op.fail("X is not [N, C, ...]");
  const uint64_t feature = isChannelsLast(op) ? op.rank(x) - 1 : 1;
  Type given = op.element(x), wide = op.element(mean);
  auto parameter = [&](StringRef slot, double otherwise) {
    return op.has(slot) ? op.cast(op.operand(slot), wide)
                        : op.splat(wide, otherwise, op.shape(mean));
  };
  Value result = op.op<stablehlo::BatchNormInferenceOp>(
      op.cast(x, wide), parameter("Scale", 1), parameter("Bias", 0), mean,
      op.cast(variance, wide), readEpsilon(op), feature);
  setMomentum(result, op.getFloat("momentum", 0.9));
  result = result ? op.cast(result, given) : Value();
  if (result && op.getBool("fuse_with_relu", false))
    result = op.op<nn::ReluOp>(result);
  return op.result("Y", result);
}

/// x * Scale + Bias per channel.
static LogicalResult importAffineChannel(OperatorContext &op) {
  Value x = op.operand("X");
  if (!x)
    return failure();
  if (op.rank(x) < 2)
    return op.fail("X is not [N, C, ...]");
  const int64_t feature = isChannelsLast(op) ? op.rank(x) - 1 : 1;
  auto parameter = [&](StringRef slot) {
    return op.alongDimension(op.operand(slot), x, feature);
  };
  return op.result("Out", op.op<stablehlo::AddOp>(
                              op.op<stablehlo::MulOp>(x, parameter("Scale")),
                              parameter("Bias")));
}

/// Over all dimensions from begin_norm_axis on; scale and bias are vectors with
/// one element for each of their elements.
static LogicalResult importLayerNorm(OperatorContext &op) {
  Value x = op.operand("X");
  if (!x)
    return failure();
  auto axis = op.axis(op.getInt("begin_norm_axis", 1), op.rank(x));
  if (!axis)
    return failure();
  Dims all = op.dims(x);
  ArrayRef<Dim> tail = ArrayRef<Dim>(all).drop_front(*axis);
  Value scale = op.optional("Scale"), bias = op.optional("Bias");
  Type wide = op.element(scale ? scale : bias ? bias : x);
  if (!scale) {
    // The operation needs a scale; a single 1 broadcasts.
    scale = op.splat(wide, 1, Ints(tail.size(), 1));
  } else if (op.rank(scale) != static_cast<int64_t>(tail.size())) {
    scale = op.reshape(scale, tail);
  }
  if (bias && op.rank(bias) != static_cast<int64_t>(tail.size()))
    bias = op.reshape(bias, tail);
  Type compute =
      op.element(x).isF64() ? op.element(x) : op.builder().getF32Type();
  mlir::Operation *norm = op.inferred<nn::LayerNormOp>(
      x, op.cast(scale, op.element(x)),
      MaybeValue{bias ? op.cast(bias, op.element(x)) : Value()},
      static_cast<uint64_t>(*axis), readEpsilon(op), compute);
  if (!norm)
    return failure();
  // One mean and one variance for each index of the dimensions before the axis,
  // flattened.
  auto statistic = [&](Value value) {
    Dim rows = op.product(ArrayRef<Dim>(all).take_front(*axis));
    return op.reshape(value, ArrayRef<Dim>(rows));
  };
  if (op.wants("Mean") &&
      mlir::failed(op.result("Mean", statistic(norm->getResult(1)))))
    return failure();
  return op.result("Y", norm->getResult(0));
}

/// Each channel's scale or bias; \p otherwise if the slot is absent.
static Value perChannel(OperatorContext &op, StringRef slot, Value x,
                        double otherwise) {
  if (op.has(slot))
    return op.cast(op.operand(slot), op.element(x));
  return op.splat(op.element(x), otherwise, op.size(x, 1));
}

static LogicalResult normalizeGroups(OperatorContext &op, Value x,
                                     int64_t groups, bool isLast) {
  if (!x || op.failed())
    return failure();
  if (isLast)
    x = channelsFirst(op, x);
  if (op.rank(x) < 2)
    return op.fail("X is not [N, C, ...]");
  const int64_t channels = op.size(x, 1);
  if (ShapedType::isDynamic(channels))
    return op.unknown("the number of channels is unknown");
  if (groups == 0)
    groups = channels;
  if (groups < 1 || channels % groups != 0)
    return op.fail("the channels are no multiple of groups");
  Value result = op.op<nn::GroupNormOp>(
      x, perChannel(op, "Scale", x, 1), perChannel(op, "Bias", x, 0),
      static_cast<uint64_t>(groups), readEpsilon(op));
  if (result && isLast)
    result = channelsLast(op, result);
  return op.result("Y", result);
}
static LogicalResult importGroupNorm(OperatorContext &op) {
  const int64_t groups = op.getInt("groups", 1);
  if (groups < 1)
    return op.fail("groups is not positive");
  return normalizeGroups(op, op.operand("X"), groups, isChannelsLast(op));
}
static LogicalResult importInstanceNorm(OperatorContext &op) {
  return normalizeGroups(op, op.operand("X"), 0, false);
}

/// x / (k + alpha * sum of x^2 over n neighbouring channels)^beta; alpha is not
/// divided by n.
static LogicalResult importLrn(OperatorContext &op) {
  Value x = op.operand("X");
  const int64_t size = op.getInt("n", 5);
  if (!x || op.failed())
    return failure();
  const bool isLast = hasChannelsLast(op);
  if (op.rank(x) < 2 || size < 1 || size > (1 << 20))
    return op.fail("X has no channels, or n is out of range");
  if (isLast)
    x = channelsFirst(op, x);
  Value result = op.op<nn::LrnOp>(
      x, static_cast<uint64_t>(size),
      APFloat(op.getFloat("alpha", 1e-4) * static_cast<double>(size)),
      APFloat(op.getFloat("beta", 0.75)), APFloat(op.getFloat("k", 2)));
  if (result && isLast)
    result = channelsLast(op, result);
  return op.result("Out", result);
}

/// x / sqrt(sum of x^2 along the axis + epsilon).
static LogicalResult importNorm(OperatorContext &op) {
  Value given = op.operand("X"), x = formats::widened(op, given);
  if (!x)
    return failure();
  auto axis = op.axis(op.getInt("axis", -1), op.rank(x));
  if (!axis)
    return failure();
  Value sum = op.reduce<stablehlo::AddOp>(op.op<stablehlo::MulOp>(x, x),
                                          {*axis}, 0, true);
  Value norm = op.op<stablehlo::SqrtOp>(op.binary<stablehlo::AddOp>(
      sum, op.one(x, op.getFloat("epsilon", 1e-10))));
  Value result = op.binary<stablehlo::DivOp>(x, norm);
  if (!result)
    return failure();
  if (op.wants("Norm") &&
      mlir::failed(op.result("Norm", op.cast(norm, op.element(given)))))
    return failure();
  return op.result("Out", op.cast(result, op.element(given)));
}

template <typename Op> static LogicalResult importSoftmax(OperatorContext &op) {
  Value x = op.operand("X");
  if (!x)
    return failure();
  auto axis = op.axis(op.getInt("axis", -1), std::max<int64_t>(op.rank(x), 1));
  if (!axis)
    return failure();
  Ints axes;
  if (op.rank(x) > 0)
    axes.push_back(*axis);
  return op.result("Out", op.op<Op>(x, ArrayRef<int64_t>(axes)));
}

OperatorReaders normalizationReaders() {
  static const OperatorReader table[] = {
      {"affine_channel", importAffineChannel},
      {"batch_norm", importBatchNorm},
      {"group_norm", importGroupNorm},
      {"instance_norm", importInstanceNorm},
      {"layer_norm", importLayerNorm},
      {"log_softmax", importSoftmax<nn::LogSoftmaxOp>},
      {"lrn", importLrn},
      {"norm", importNorm},
      {"softmax", importSoftmax<nn::SoftmaxOp>},
      {"sync_batch_norm", importBatchNorm},
  };
  return table;
}

} // namespace sinter::paddle
