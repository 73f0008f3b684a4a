//===- Insert.cpp - quantising and dequantising around layers -------------===//

#include "quantize/Insert.h"

#include "graph/Constants.h"
#include "graph/Types.h"
#include "graph/nn/NnOps.h"
#include "graph/stablehlo/StablehloOps.h"
#include "quantize/WeightChannels.h"
#include "quantize/WeightCodes.h"
#include "llvm/ADT/Sequence.h"

#include <cmath>

using namespace mlir;

namespace sinter::quantize {

namespace {

class Inserter {
public:
  Inserter(Units &units, Plan &plan, ProfileOf profileOf,
           const QuantizeOptions &options, QuantizedRounding rounding)
      : units(units), plan(plan), profileOf(profileOf), options(options),
        rounding(rounding) {}
  void run();

private:
  bool quantizeWeights(Unit &unit, LayerPlan &layer);
  bool quantizeBlocks(Unit &unit, const Tensor &weights);
  void quantizeBias(Unit &unit, const WeightCode &code, double inputScale,
                    const Tensor &bias);
  Tensor correctedBias(const Unit &unit, const Tensor &weights,
                       const WeightCode &code, const Tensor &bias) const;
  void quantizeConstants(Unit &unit);
  void quantizeValue(Value value, const LinearCode &code);
  void setConstant(OpOperand &operand, const Tensor &elements,
                   const QuantizationParameters &parameters);
  std::string nameOf(Value value) const;

  Units &units;
  Plan &plan;
  ProfileOf profileOf;
  const QuantizeOptions &options;
  QuantizedRounding rounding;
};

} // namespace

static quant::QuantizedType
elementOf(Value value, ElementType storage,
          const QuantizationParameters &parameters) {
  return quantizedElement(
      cast<IntegerType>(mlirTypeOf(storage, value.getContext())),
      cast<FloatType>(tensorOf(value).getElementType()), parameters);
}

std::string Inserter::nameOf(Value value) const {
  const TensorProfile *profile = profileOf(value);
  return profile ? profile->name : std::string();
}

/// Replaces the constant that \p operand uses by \p elements, dequantised. The
/// shape is that of the elements.
void Inserter::setConstant(OpOperand &operand, const Tensor &elements,
                           const QuantizationParameters &parameters) {
  Value old = operand.get();
  OpBuilder builder(operand.getOwner());
  const quant::QuantizedType element =
      elementOf(old, elements.type(), parameters);
  const std::string name = constantName(old).str();
  auto constant = builder.create<stablehlo::ConstantOp>(
      old.getLoc(), RankedTensorType::get(elements.shape(), element),
      toAttribute(elements, name + "_quantized", builder.getContext()));
  if (!name.empty())
    constant->setAttr(nameAttribute,
                      builder.getStringAttr(name + "_quantized"));
  operand.set(builder.create<stablehlo::UniformDequantizeOp>(
      NameLoc::get(builder.getStringAttr(name + "_DequantizeLinear")),
      RankedTensorType::get(elements.shape(), tensorOf(old).getElementType()),
      constant));
}

static QuantizationParameters symmetric(const std::vector<double> &scales,
                                        std::optional<int64_t> axis) {
  QuantizationParameters parameters;
  parameters.scales.assign(scales.begin(), scales.end());
  parameters.zeroPoints.assign(scales.size(), 0);
  parameters.axis = axis.value_or(-1);
  return parameters;
}

/// The bias minus the mean error of each channel: the errors of weights times
/// the means of the activations (M. Nagel et al., "Data-Free Quantization
/// Through Weight Equalization and Bias Correction", 2019, with measured
/// means), and the mean errors of the activation, where they were measured for
/// its code, times the weights.
Tensor Inserter::correctedBias(const Unit &unit, const Tensor &weights,
                               const WeightCode &code,
                               const Tensor &bias) const {
  const TensorProfile *input = profileOf(unit.data.front()->get());
  if (!options.correctBias || !input || input->channels.axis < 0 ||
      input->channels.axis != unit.weights.activationAxis)
    return bias;
  const std::vector<double> &means = input->channels.mean;
  const std::optional<WeightChannels> channels = WeightChannels::of(
      unit.weights, weights, static_cast<int64_t>(means.size()));
  if (!channels || bias.size() != channels->outputs())
    return bias;
  auto chosen = plan.values.find(unit.data.front()->get());
  const ChannelErrors &errors = input->channels.errors;
  const bool areKnown = chosen != plan.values.end() &&
                        errors.mean.size() == means.size() &&
                        errors.isOfSameNumbers(chosen->second.code.numbers());
  std::vector<double> shift(channels->outputs());
  for (int64_t i = 0; i < weights.size(); ++i)
    shift[channels->outputOf(i)] +=
        (code.number(i) - weights.toDouble(i)) * means[channels->inputOf(i)] +
        (areKnown ? code.number(i) * errors.mean[channels->inputOf(i)] : 0);
  Tensor corrected(ElementType::F64, bias.shape());
  for (int64_t i = 0; i < channels->outputs(); ++i)
    corrected.set(i, bias.toDouble(i) - shift[i]);
  return corrected;
}

void Inserter::quantizeBias(Unit &unit, const WeightCode &code,
                            double inputScale, const Tensor &bias) {
  // Groups may share the scales of their outputs.
  std::vector<double> scales;
  const size_t count = code.scales.size();
  for (size_t i = 0; i < (count == 1 ? 1 : bias.size()); ++i)
    scales.push_back(static_cast<float>(code.scales[i % count]) * inputScale);
  // As a vector, since that can be an operand of the product's node.
  const Tensor vector = bias.reshaped({bias.size()});
  Value old = unit.bias->get();
  setConstant(*unit.bias, encodeBias(vector, scales),
              symmetric(scales, scales.size() == 1
                                    ? std::nullopt
                                    : std::optional<int64_t>(0)));
  if (bias.rank() == 1)
    return;
  OpBuilder builder(unit.bias->getOwner());
  unit.bias->set(builder.create<stablehlo::ReshapeOp>(
      old.getLoc(), old.getType(), unit.bias->get()));
}

/// As arithmetic: no type has a scale for each block.
bool Inserter::quantizeBlocks(Unit &unit, const Tensor &weights) {
  const int64_t axis = *unit.weights.depthAxis;
  std::optional<BlockCode> code = encodeBlocks(weights, axis, options);
  if (!code)
    return false;
  OpOperand &operand = *unit.weights.operand;
  Value old = operand.get();
  OpBuilder builder(operand.getOwner());
  const std::string name = constantName(old).str();
  const Location location =
      NameLoc::get(builder.getStringAttr(name + "_DequantizeLinear"));
  const auto type = tensorOf(old);
  Tensor scales = tensorOfDoubles(
      *elementTypeOf(type.getElementType()), code->scales.shape(),
      llvm::map_to_vector(llvm::seq<int64_t>(0, code->scales.size()),
                          [&](int64_t i) { return code->scales.toDouble(i); }));
  Value integers = makeConstant(builder, old.getLoc(), code->elements,
                                name + "_quantized"),
        factors = makeConstant(builder, old.getLoc(), scales, name + "_scale");
  SmallVector<int64_t> repeated, dimensions;
  for (int64_t i = 0; i < type.getRank(); ++i) {
    dimensions.push_back(static_cast<int64_t>(repeated.size()));
    repeated.push_back(code->scales.dim(i));
    if (i == axis)
      repeated.push_back(options.block);
  }
  Value spread = builder.create<stablehlo::BroadcastInDimOp>(
      location, type.clone(repeated), factors, dimensions);
  operand.set(builder.create<stablehlo::MulOp>(
      location, builder.create<stablehlo::ConvertOp>(location, type, integers),
      builder.create<stablehlo::ReshapeOp>(location, type, spread)));
  return true;
}

/// Whether the greatest weight is below the range of the least scale.
static bool isTooSmall(const Tensor &weights, double leastScale,
                       const QuantizeOptions &options) {
  const double most = options.weights == ElementType::I4 ? 7 : 127;
  double greatest = 0;
  for (int64_t i = 0; i < weights.size(); ++i)
    greatest = std::max(greatest, std::abs(weights.toDouble(i)));
  return greatest > 0 && greatest / most < leastScale;
}

/// The squared errors of the quantised \p weights relative to the squares of
/// the weights.
static double noiseOf(const WeightCode &code, const Tensor &weights) {
  double noise = 0, signal = 0;
  for (int64_t i = 0; i < weights.size(); ++i) {
    const double number = weights.toDouble(i), off = code.number(i) - number;
    noise += off * off;
    signal += number * number;
  }
  return signal > 0 ? noise / signal : 0;
}

bool Inserter::quantizeWeights(Unit &unit, LayerPlan &layer) {
  OpOperand &operand = *unit.weights.operand;
  std::optional<Tensor> weights = constantTensor(operand.get());
  if (!weights)
    return false;
  // Blocks lie along the contracting dimension of matmuls; other weights, and
  // those not divided evenly into blocks, have per-channel scales.
  if (options.block > 0 && weights->rank() == 2 && unit.weights.depthAxis &&
      unit.weights.side == 1 && quantizeBlocks(unit, *weights)) {
    layer.weightScales = WeightScales::Blocks;
    return true;
  }
  // Per-channel scales are for the right operand of a product.
  const std::optional<int64_t> axis =
      options.perChannel && unit.weights.side == 1 ? unit.weights.channelAxis
                                                   : std::nullopt;
  layer.weightScales =
      axis ? WeightScales::PerChannel : WeightScales::PerTensor;
  const auto input = plan.values.find(unit.data.front()->get());
  const double inputScale =
      input == plan.values.end() ? 0 : input->second.code.scale;
  std::optional<Tensor> bias =
      unit.bias ? constantTensor(unit.bias->get()) : std::nullopt;
  const int64_t scaleCount = axis ? weights->dim(*axis) : 1;
  // Runtimes fuse a matmul with its bias to an integer one only where the bias
  // is an integer, whatever its result becomes; a convolution only where its
  // result is quantised, too.
  const bool takesBias = isa<stablehlo::DotGeneralOp>(unit.core) ||
                         (unit.biasIsOwn && plan.values.contains(unit.result));
  // Scales of accumulators are far below the precision of f16 and bf16.
  const bool biasFits =
      bias && bias->type() == ElementType::F32 && inputScale > 0 && takesBias &&
      (bias->size() == scaleCount * unit.weights.depthGroups ||
       scaleCount == 1) &&
      bias->rank() > 0;
  // Scales have the weights' type. Where that is as narrow as f16, its least
  // normal number is too coarse for weights that are all tiny.
  const double leastScale = leastScaleOf(operand.get());
  if (isTooSmall(*weights, leastScale, options))
    return false;
  // A bias must fit 32 bits, with room for the accumulators that are added to
  // it.
  std::vector<double> least(scaleCount, leastScale);
  for (int64_t i = 0; biasFits && i < bias->size(); ++i) {
    double &each = least[i % scaleCount];
    each = std::max(each, std::abs(bias->toDouble(i)) / inputScale / 0x1p30);
  }
  std::optional<WeightCode> code =
      encodeWeights(*weights, axis, options, least);
  if (!code)
    return false;
  layer.weightNoise = noiseOf(*code, *weights);
  const double leastOfBias =
      *std::min_element(code->scales.begin(), code->scales.end()) * inputScale;
  if (bias) {
    const Tensor corrected = correctedBias(unit, *weights, *code, *bias);
    if (biasFits && leastOfBias >= leastScale) {
      quantizeBias(unit, *code, inputScale, corrected);
    } else if (corrected.type() != bias->type()) {
      std::vector<double> numbers;
      for (int64_t i = 0; i < corrected.size(); ++i)
        numbers.push_back(corrected.toDouble(i));
      OpBuilder builder(unit.bias->getOwner());
      unit.bias->set(
          makeConstant(builder, unit.bias->get().getLoc(),
                       tensorOfDoubles(bias->type(), bias->shape(), numbers),
                       (constantName(unit.bias->get()) + "_corrected").str()));
    }
  }
  setConstant(operand, code->elements, symmetric(code->scales, axis));
  return true;
}

/// Constants beside an activation are quantised like it.
void Inserter::quantizeConstants(Unit &unit) {
  ElementType storage = options.activations;
  for (OpOperand *operand : unit.data)
    if (auto read = plan.values.find(operand->get());
        read != plan.values.end() &&
        read->second.code.storage == ElementType::I16)
      storage = ElementType::I16;
  for (OpOperand *operand : unit.constants) {
    std::optional<Tensor> tensor = constantTensor(operand->get());
    if (!tensor || tensor->size() == 0)
      continue;
    TensorProfile profile;
    profile.measure(*tensor);
    if (profile.notFinite)
      continue;
    const Range range = {profile.least, profile.greatest};
    const LinearCode code =
        withLeastScale(codeOf(range, storage, options.scheme), range,
                       options.scheme, leastScaleOf(operand->get()));
    Tensor elements(code.storage, tensor->shape());
    for (int64_t i = 0; i < tensor->size(); ++i) {
      const auto element = static_cast<int64_t>(
          std::nearbyint(code.nearest(tensor->toDouble(i)) / code.scale) +
          static_cast<double>(code.zeroPoint));
      if (code.storage == ElementType::I16)
        elements.set(i, static_cast<int16_t>(element));
      else
        elements.set(i, static_cast<uint8_t>(element));
    }
    setConstant(*operand, elements, {{code.scale}, {code.zeroPoint}, -1});
  }
}

/// Makes all other users use \p value quantised and dequantised.
void Inserter::quantizeValue(Value value, const LinearCode &code) {
  OpBuilder builder(value.getContext());
  builder.setInsertionPointAfterValue(value);
  const quant::QuantizedType element =
      elementOf(value, code.storage, {{code.scale}, {code.zeroPoint}, -1});
  const std::string name = nameOf(value);
  const auto location = [&](const char *what) {
    return NameLoc::get(builder.getStringAttr(name + what));
  };
  Type type = tensorOf(value).clone(element);
  const bool isPlain =
      code.zeroPoint == 0 || rounding == QuantizedRounding::AfterZeroPoint;
  Operation *quantized =
      isPlain ? builder
                    .create<stablehlo::UniformQuantizeOp>(
                        location("_QuantizeLinear"), type, value)
                    .getOperation()
              : builder
                    .create<nn::QuantizeOp>(location("_QuantizeLinear"), type,
                                            value)
                    .getOperation();
  Value back = builder.create<stablehlo::UniformDequantizeOp>(
      location("_DequantizeLinear"), value.getType(), quantized->getResult(0));
  // The caller gets the computed float.
  value.replaceUsesWithIf(back, [&](OpOperand &use) {
    return use.getOwner() != quantized &&
           !use.getOwner()->hasTrait<OpTrait::ReturnLike>();
  });
}

void Inserter::run() {
  for (unsigned i = 0; i < units.units.size(); ++i) {
    Unit &unit = units.units[i];
    if (!plan.layers[i].isQuantized)
      continue;
    if (unit.kind == UnitKind::Product &&
        !quantizeWeights(unit, plan.layers[i]))
      plan.layers[i] = {.why = WhyFloat(FloatReason::UnfitWeights)};
    else if (unit.kind == UnitKind::Computes)
      quantizeConstants(unit);
  }
  for (auto &[value, chosen] : plan.values)
    quantizeValue(value, chosen.code);
}

void insertQuantization(Units &units, Plan &plan, ProfileOf profileOf,
                        const QuantizeOptions &options,
                        QuantizedRounding rounding) {
  Inserter(units, plan, profileOf, options, rounding).run();
}

} // namespace sinter::quantize
