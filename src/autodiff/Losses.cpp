//===- Losses.cpp - losses of a model's output ----------------------------===//

#include "autodiff/Losses.h"

#include "graph/Types.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace sinter::autodiff {

using stablehlo::ComparisonDirection;

using nn::TensorBuilder;

static bool holdsLabels(RankedTensorType target) {
  return isa<IntegerType>(target.getElementType());
}

/// The dimension of classes: the one that labels lack. If several fit, it is
/// \p modelDimension, or the second; -1 if there is none.
static int64_t classDimension(ArrayRef<int64_t> output,
                              ArrayRef<int64_t> labels,
                              ClassDimension modelDimension) {
  const auto rank = static_cast<int64_t>(output.size());
  for (int64_t dimension : {modelDimension.value_or(1), int64_t(1), rank - 1}) {
    if (dimension < 0 || dimension >= rank)
      continue;
    SmallVector<int64_t> rest(output);
    rest.erase(rest.begin() + dimension);
    if (ArrayRef<int64_t>(rest) == labels)
      return dimension;
  }
  return -1;
}

static std::string textOf(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

Result<void> checkTarget(RankedTensorType output, RankedTensorType target,
                         const LossOptions &options, StringRef name,
                         ClassDimension modelDimension) {
  const std::string which =
      "the target" + (name == "target" ? "" : " '" + name.str() + "'");
  if (!isa<FloatType>(output.getElementType()))
    return usageError("the loss: the model's output " +
                      std::to_string(options.output) + " is a " +
                      textOf(output) + ", not floating-point numbers");
  if (holdsLabels(target)) {
    if (options.kind != Loss::CrossEntropy)
      return usageError(which + " is a " + textOf(target) +
                        ": only cross-entropy takes labels; the other losses "
                        "take numbers of the output's shape");
    if (classDimension(output.getShape(), target.getShape(), modelDimension) <
        0)
      return usageError(which + " is a " + textOf(target) +
                        ", which are no labels for an output " +
                        textOf(output) +
                        ": its shape without the second or the last dimension "
                        "is expected");
    return {};
  }
  if (!isa<FloatType>(target.getElementType()) ||
      target.getShape() != output.getShape())
    return usageError(which + " is a " + textOf(target) +
                      ": numbers of the shape of the output " + textOf(output) +
                      (options.kind == Loss::CrossEntropy ? " or labels" : "") +
                      " are expected");
  return {};
}

/// The source of \p value behind conversions between floats.
static Value behindConversions(Value value) {
  while (auto conversion = value.getDefiningOp<stablehlo::ConvertOp>()) {
    if (!isa<FloatType>(tensorOf(conversion.getOperand()).getElementType()) ||
        !isa<FloatType>(tensorOf(value).getElementType()))
      break;
    value = conversion.getOperand();
  }
  return value;
}

Value comparedValue(Value output, const LossOptions &options) {
  if (options.isLogits == true)
    return output;
  Value source = behindConversions(output);
  if (options.kind == Loss::CrossEntropy)
    if (auto softmax = source.getDefiningOp<nn::SoftmaxOp>())
      return softmax.getOperand();
  if (options.kind == Loss::BinaryCrossEntropy)
    if (auto sigmoid = source.getDefiningOp<stablehlo::LogisticOp>())
      return sigmoid.getOperand();
  return output;
}

/// Whether \p output holds probabilities whose logits are not known.
static bool areProbabilities(Value output, const LossOptions &options) {
  return options.isLogits == false && comparedValue(output, options) == output;
}

static Value zerosLike(TensorBuilder &emit, Value value) {
  return emit.splat(0, tensorOf(value));
}

/// The logarithms of probabilities.
static Value logProbabilities(TensorBuilder &emit, Value output,
                              int64_t classes, const LossOptions &options) {
  Value x =
      emit.convert(comparedValue(output, options), emit.builder.getF32Type());
  if (areProbabilities(output, options))
    return emit.log(emit.max(x, 1e-12));
  // The result of log_softmax is normalised already, and does not change.
  return emit.make<nn::LogSoftmaxOp>(
      x.getType(), x, emit.builder.getDenseI64ArrayAttr({classes}));
}

/// Labels, broadcast over the classes; and a mask of the label's class.
struct SpreadLabels {
  Value labels, isLabel, classes;
};

static SpreadLabels spreadLabels(TensorBuilder &emit, Value target, Value like,
                                 int64_t dimension) {
  ArrayRef<int64_t> shape = tensorOf(like).getShape();
  Value wide = emit.convert(target, emit.integerType(64));
  Value labels = emit.restore(wide, {dimension}, shape);
  Value classes = emit.iota(shape, dimension, emit.integerType(64));
  return {labels, emit.compare(ComparisonDirection::EQ, labels, classes),
          classes};
}

/// How many labels are the index of the first greatest element of \p scores.
static Value countRight(TensorBuilder &emit, Value scores,
                        const SpreadLabels &spread, Value isCounted,
                        int64_t dimension) {
  Value ofLabel =
      emit.sumKeep(emit.select(spread.isLabel, scores, zerosLike(emit, scores)),
                   {dimension});
  Value higher = emit.compare(ComparisonDirection::GT, scores, ofLabel);
  Value equal = emit.compare(ComparisonDirection::EQ, scores, ofLabel);
  Value before =
      emit.compare(ComparisonDirection::LT, spread.classes, spread.labels);
  Value beats = emit.make<stablehlo::OrOp>(
      higher, emit.make<stablehlo::AndOp>(equal, before));
  Value beaten =
      emit.sum(emit.convert(beats, emit.builder.getF32Type()), {dimension});
  Value right = emit.convert(emit.compare(ComparisonDirection::EQ, beaten, 0.0),
                             emit.builder.getF32Type());
  return emit.sumAll(emit.mul(right, isCounted));
}

/// -sum of p log q over the classes, the mean over all labels that count.
static LossValues crossEntropyOfLabels(TensorBuilder &emit, Value output,
                                       Value target, const LossOptions &options,
                                       ClassDimension modelDimension) {
  const int64_t dimension = classDimension(
      tensorOf(output).getShape(), tensorOf(target).getShape(), modelDimension);
  const auto classes =
      static_cast<double>(tensorOf(output).getDimSize(dimension));
  Value logs = logProbabilities(emit, output, dimension, options);
  SpreadLabels spread = spreadLabels(emit, target, logs, dimension);
  Type f32 = emit.builder.getF32Type();
  Value wide = emit.convert(target, emit.integerType(64));
  auto wideType = tensorOf(wide);
  Value ignored = emit.make<stablehlo::ConstantOp>(DenseElementsAttr::get(
      wideType,
      emit.builder.getI64IntegerAttr(options.ignoredLabel).getValue()));
  Value isCounted =
      emit.convert(emit.compare(ComparisonDirection::NE, wide, ignored), f32);
  Value picked = emit.sum(
      emit.select(spread.isLabel, logs, zerosLike(emit, logs)), {dimension});
  Value each = emit.mul(picked, 1 - options.smoothing);
  if (options.smoothing != 0)
    each = emit.add(each, emit.mul(emit.sum(logs, {dimension}),
                                   options.smoothing / classes));
  Value count = emit.sumAll(isCounted);
  Value sum = emit.sumAll(emit.mul(each, isCounted));
  Value loss = emit.neg(emit.div(sum, emit.max(count, 1.0)));
  return {loss, countRight(emit, logs, spread, isCounted, dimension), count,
          tensorOf(output).getDimSize(dimension)};
}

/// The same for probabilities of each class, along the dimension \p
/// modelDimension or the second.
static LossValues crossEntropyOfDistributions(TensorBuilder &emit, Value output,
                                              Value target,
                                              const LossOptions &options,
                                              ClassDimension modelDimension) {
  const int64_t dimension =
      modelDimension.value_or(tensorOf(output).getRank() > 1 ? 1 : 0);
  const auto classes =
      static_cast<double>(tensorOf(output).getDimSize(dimension));
  Value logs = logProbabilities(emit, output, dimension, options);
  Value wanted = emit.convert(target, emit.builder.getF32Type());
  if (options.smoothing != 0)
    wanted = emit.add(emit.mul(wanted, 1 - options.smoothing),
                      options.smoothing / classes);
  const double count = static_cast<double>(tensorOf(logs).getNumElements()) /
                       std::max(classes, 1.0);
  Value sum = emit.sumAll(emit.mul(logs, wanted));
  return {emit.neg(emit.div(sum, count)), Value(),
          emit.scalar(count, emit.builder.getF32Type()), std::nullopt};
}

static Value binaryCrossEntropy(TensorBuilder &emit, Value output, Value wanted,
                                const LossOptions &options) {
  Type f32 = emit.builder.getF32Type();
  if (areProbabilities(output, options)) {
    Value p = emit.convert(output, f32);
    auto logOf = [&](Value value) { return emit.log(emit.max(value, 1e-12)); };
    Value no = emit.sub(emit.splatLike(1, wanted), wanted);
    return emit.neg(
        emit.add(emit.mul(wanted, logOf(p)),
                 emit.mul(no, logOf(emit.sub(emit.splatLike(1, p), p)))));
  }
  // max(x, 0) - x t + log(1 + exp(-|x|)): nothing overflows.
  Value x = emit.convert(comparedValue(output, options), f32);
  Value rest = emit.make<stablehlo::Log1pOp>(emit.exp(emit.neg(emit.abs(x))));
  return emit.add(emit.sub(emit.max(x, 0.0), emit.mul(x, wanted)), rest);
}

static Value huber(TensorBuilder &emit, Value difference, double delta) {
  Value size = emit.abs(difference);
  Value square = emit.mul(emit.mul(difference, difference), 0.5);
  Value line = emit.mul(emit.sub(size, 0.5 * delta), delta);
  return emit.select(emit.compare(ComparisonDirection::LE, size, delta), square,
                     line);
}

LossValues buildLoss(TensorBuilder &emit, Value output, Value target,
                     const LossOptions &options,
                     ClassDimension modelDimension) {
  if (options.kind == Loss::CrossEntropy)
    return holdsLabels(tensorOf(target))
               ? crossEntropyOfLabels(emit, output, target, options,
                                      modelDimension)
               : crossEntropyOfDistributions(emit, output, target, options,
                                             modelDimension);
  Type f32 = emit.builder.getF32Type();
  Value wanted = emit.convert(target, f32), each;
  if (options.kind == Loss::BinaryCrossEntropy) {
    each = binaryCrossEntropy(emit, output, wanted, options);
  } else {
    Value difference = emit.sub(emit.convert(output, f32), wanted);
    each = options.kind == Loss::MeanSquared ? emit.mul(difference, difference)
           : options.kind == Loss::MeanAbsolute
               ? emit.abs(difference)
               : huber(emit, difference, options.delta);
  }
  const auto count = static_cast<double>(tensorOf(each).getNumElements());
  return {emit.div(emit.sumAll(each), std::max(count, 1.0)), Value(),
          emit.scalar(count, f32), std::nullopt};
}

} // namespace sinter::autodiff
