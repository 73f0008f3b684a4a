// Batch, instance, group, layer normalisation and similar; softmax.

#include "formats/import/Building.h"
#include "formats/onnx/NodeContext.h"
#include "formats/onnx/Operators.h"
#include "graph/Momentum.h"
#include "graph/nn/TensorBuilder.h"

using namespace mlir;

namespace sinter::onnx {

/// Computes in the statistics' type if it differs from the input's. Before
/// version 14 a node is in training mode if it has more outputs than one: the
/// running statistics, then those of the batch.
static LogicalResult importBatchNormalization(NodeContext &node) {
  Value data = node.operand(0), scale = node.operand(1), bias = node.operand(2),
        mean = node.operand(3), variance = node.operand(4);
  if (node.rank(data) < 2)
    return node.fail("the input is not [N, C, ...]");
  if (node.version() < 9 && !node.getBool("spatial", true))
    return node.unsupported("statistics for each element (spatial = 0)");
  Type given = node.element(data), wide = node.element(mean);
  data = node.cast(data, wide);
  scale = node.cast(scale, wide);
  bias = node.cast(bias, wide);
  variance = node.cast(variance, wide);
  bool training = node.version() >= 14 ? node.getBool("training_mode", false)
                                       : node.wants(1);
  Value newMean, newVariance, batchMean, batchVariance;
  if (training) {
    Operation *statistics = node.inferred<nn::MeanVarNormOp>(
        data, mean, variance, uint64_t(1),
        APFloat(node.getFloat("momentum", 0.9f)), /*unbiased=*/false);
    if (!statistics)
      return failure();
    mean = statistics->getResult(0);
    variance = statistics->getResult(1);
    newMean = statistics->getResult(2);
    newVariance = statistics->getResult(3);
    batchMean = mean;
    batchVariance = variance;
  }
  APFloat epsilon(static_cast<float>(node.getFloat("epsilon", 1e-5f)));
  Value result = node.op<stablehlo::BatchNormInferenceOp>(
      data, scale, bias, mean, variance, epsilon, uint64_t(1));
  if (!training)
    setMomentum(result, node.getFloat("momentum", 0.9f));
  return node.version() < 14
             ? node.results({node.cast(result, given), newMean, newVariance,
                             batchMean, batchVariance})
             : node.results({node.cast(result, given), newMean, newVariance});
}

/// One group per channel, for a dynamic number of channels.
static LogicalResult normalizeDynamic(NodeContext &node, Value data) {
  nn::TensorBuilder emit(node.builder(), node.location());
  Value x = widened(node, data);
  Ints axes = llvm::to_vector(llvm::seq<int64_t>(2, node.rank(data)));
  Value centred = emit.sub(x, emit.meanKeep(x, axes));
  Value variance = emit.meanKeep(emit.mul(centred, centred), axes);
  Value inverse = emit.make<stablehlo::RsqrtOp>(
      emit.add(variance, node.getFloat("epsilon", 1e-5f)));
  auto channels = [&](int64_t input) {
    node.require(node.compare(
        sizeScalar(node, node.dim(node.operand(input), 0), node.i64()),
        sizeScalar(node, node.dim(data, 1), node.i64()),
        stablehlo::ComparisonDirection::EQ));
    return emit.broadcast(emit.convert(node.operand(input), node.element(x)),
                          {1}, emit.sizes(x));
  };
  Value scaled = emit.mul(emit.mul(centred, inverse), channels(1));
  return node.result(
      emit.convert(emit.add(scaled, channels(2)), node.element(data)));
}

static LogicalResult importInstanceNormalization(NodeContext &node) {
  Value data = node.operand(0);
  if (node.rank(data) < 3)
    return node.fail("the input is not [N, C, spatial...]");
  if (ShapedType::isDynamic(node.size(data, 1)))
    return node.expandsUnknown()
               ? normalizeDynamic(node, data)
               : node.unknown("the number of channels is unknown");
  return node.result(
      node.op<nn::GroupNormOp>(data, node.operand(1), node.operand(2),
                               static_cast<uint64_t>(node.size(data, 1)),
                               APFloat(node.getFloat("epsilon", 1e-5f))));
}

/// Before version 21 scale and bias have one element per group.
static LogicalResult importGroupNormalization(NodeContext &node) {
  Value data = node.operand(0), scale = node.operand(1), bias = node.operand(2);
  int64_t groups = node.getInt("num_groups", 0);
  if (node.rank(data) < 2 || groups < 1)
    return node.fail("the channels are no multiple of num_groups");
  if (ShapedType::isDynamic(node.size(data, 1)))
    return node.unknown("the number of channels is unknown");
  if (node.size(data, 1) % groups != 0)
    return node.fail("the channels are no multiple of num_groups");
  int64_t channels = node.size(data, 1);
  auto perChannel = [&](Value value) {
    if (node.version() >= 21 || node.rank(value) != 1 ||
        node.size(value, 0) != groups)
      return value;
    return node.reshape(
        node.broadcastInDim(value, Dims{groups, channels / groups}, {0}),
        ArrayRef<int64_t>{channels});
  };
  return node.result(node.op<nn::GroupNormOp>(
      data, perChannel(scale), perChannel(bias), static_cast<uint64_t>(groups),
      APFloat(node.getFloat("epsilon", 1e-5f))));
}

/// The type given by attribute stash_type.
static Type stashType(NodeContext &node) {
  return node.elementType(node.getInt("stash_type", TensorProto::FLOAT));
}

static LogicalResult importLayerNormalization(NodeContext &node) {
  Value data = node.operand(0);
  auto axis = node.axis(node.getInt("axis", -1), node.rank(data));
  Type type = stashType(node);
  if (!axis || !type)
    return failure();
  Operation *op = node.inferred<nn::LayerNormOp>(
      data, node.operand(1), MaybeValue{node.operand(2)},
      static_cast<uint64_t>(*axis), APFloat(node.getFloat("epsilon", 1e-5f)),
      type);
  if (!op)
    return failure();
  return node.results({op->getResult(0), op->getResult(1), op->getResult(2)});
}

static LogicalResult importRmsNormalization(NodeContext &node) {
  Value data = node.operand(0);
  auto axis = node.axis(node.getInt("axis", -1), node.rank(data));
  Type type = stashType(node);
  if (!axis || !type)
    return failure();
  return node.result(node.op<nn::RmsNormOp>(
      data, node.operand(1), static_cast<uint64_t>(*axis),
      APFloat(node.getFloat("epsilon", 1e-5f)), type));
}

static LogicalResult importLpNormalization(NodeContext &node) {
  Value data = node.operand(0);
  auto axis = node.axis(node.getInt("axis", -1), node.rank(data));
  if (!axis)
    return failure();
  return node.result(
      node.op<nn::LpNormalizeOp>(data, static_cast<uint64_t>(*axis),
                                 static_cast<uint64_t>(node.getInt("p", 2))));
}

/// (x - mean) / (sqrt(mean of x^2 - mean^2) + 1e-9), as ONNX defines it. Before
/// version 9, for which only ONNX Runtime does, channels may take part, and the
/// division may be left out.
static LogicalResult importMeanVarianceNormalization(NodeContext &node) {
  Value data = node.operand(0);
  // Batch and spatial dimensions; the default includes a dimension that an
  // input of rank 3 lacks.
  Ints defaultAxes = {0, 2, 3};
  if (node.rank(data) == 3)
    defaultAxes.pop_back();
  if (node.version() < 9 && node.getBool("across_channels", false))
    defaultAxes = llvm::to_vector(llvm::seq<int64_t>(0, node.rank(data)));
  auto axes = node.axes(node.getInts("axes", defaultAxes), node.rank(data));
  if (!axes)
    return failure();
  Type given = node.element(data);
  data = widened(node, data);
  Type element = node.element(data);
  Value count = node.countAlong(data, *axes, element);
  auto meanOf = [&](Value value) {
    return node.binary<stablehlo::DivOp>(
        node.reduce<stablehlo::AddOp>(value, *axes, 0, true), count);
  };
  auto square = [&](Value value) {
    return node.binary<stablehlo::MulOp>(value, value);
  };
  Value mean = meanOf(data);
  Value variance =
      node.binary<stablehlo::SubtractOp>(meanOf(square(data)), square(mean));
  Value deviation = node.binary<stablehlo::AddOp>(
      node.unary<stablehlo::SqrtOp>(variance), node.scalar(element, 1e-9));
  Value centred = node.binary<stablehlo::SubtractOp>(data, mean);
  const bool isCentred =
      node.version() < 9 && !node.getBool("normalize_variance", true);
  return node.result(node.cast(
      isCentred ? centred : node.binary<stablehlo::DivOp>(centred, deviation),
      given));
}

static LogicalResult importLrn(NodeContext &node) {
  int64_t size = node.getInt("size", 0);
  if (size < 1 || node.rank(node.operand(0)) < 2)
    return node.fail("size is not positive or the input has no channels");
  return node.result(node.op<nn::LrnOp>(
      node.operand(0), static_cast<uint64_t>(size),
      APFloat(node.getFloat("alpha", 1e-4f)),
      APFloat(node.getFloat("beta", 0.75)), APFloat(node.getFloat("bias", 1))));
}

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

/// One axis; before version 13 that axis and all after it.
static std::optional<Ints> softmaxAxes(NodeContext &node, Value data) {
  bool old = node.version() < 13;
  auto axis = node.axis(node.getInt("axis", old ? 1 : -1),
                        std::max<int64_t>(node.rank(data), 1));
  if (!axis)
    return std::nullopt;
  int64_t end = old ? node.rank(data) : *axis + 1;
  return Ints(llvm::to_vector(llvm::seq<int64_t>(*axis, end)));
}

template <typename Op> static LogicalResult importSoftmax(NodeContext &node) {
  Value data = node.operand(0);
  auto axes = softmaxAxes(node, data);
  if (!axes)
    return failure();
  return node.result(node.op<Op>(data, ArrayRef<int64_t>(*axes)));
}

static LogicalResult importHardmax(NodeContext &node) {
  Value data = node.operand(0);
  auto axes = softmaxAxes(node, data);
  if (!axes || axes->empty())
    return failure();
  if (axes->size() == 1)
    return node.result(
        node.op<nn::HardmaxOp>(data, static_cast<uint64_t>(axes->front())));
  Dims sizes = node.dims(data);
  ArrayRef<Dim> all(sizes);
  Value flat =
      node.reshape(data, Dims{node.product(all.take_front(axes->front())),
                              node.product(all.drop_front(axes->front()))});
  return node.result(
      node.reshape(node.op<nn::HardmaxOp>(flat, uint64_t(1)), sizes));
}

llvm::ArrayRef<Operator> normalizationOperators() {
  static const Operator table[] = {
      {"BatchNormalization", "", 1, importBatchNormalization, 5, 5},
      {"GroupNormalization", "", 18, importGroupNormalization, 3, 3},
      {"Hardmax", "", 1, importHardmax, 1, 1},
      {"InstanceNormalization", "", 1, importInstanceNormalization, 3, 3},
      {"LRN", "", 1, importLrn, 1, 1},
      {"LayerNormalization", "", 1, importLayerNormalization, 2, 3},
      {"LogSoftmax", "", 1, importSoftmax<nn::LogSoftmaxOp>, 1, 1},
      {"LpNormalization", "", 1, importLpNormalization, 1, 1},
      {"MeanVarianceNormalization", "", 1, importMeanVarianceNormalization, 1,
       1},
      {"RMSNormalization", "", 23, importRmsNormalization, 2, 2},
      {"Softmax", "", 1, importSoftmax<nn::SoftmaxOp>, 1, 1},
  };
  return table;
}

} // namespace sinter::onnx
