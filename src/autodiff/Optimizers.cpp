//===- Optimizers.cpp - from gradients to new weights ---------------------===//

#include "autodiff/Optimizers.h"

#include "graph/Types.h"

#include <cmath>

using namespace mlir;

namespace sinter::autodiff {

using stablehlo::ComparisonDirection;

using nn::TensorBuilder;

static double epsilonOf(const OptimizerOptions &options) {
  switch (options.kind) {
  case Optimizer::Adagrad:
    return options.epsilon.value_or(1e-10);
  case Optimizer::Lamb:
    return options.epsilon.value_or(1e-6);
  default:
    return options.epsilon.value_or(1e-8);
  }
}

SmallVector<StringRef> keptTensors(const OptimizerOptions &options) {
  switch (options.kind) {
  case Optimizer::Sgd:
    if (options.momentum == 0)
      return {};
    return {"momentum"};
  case Optimizer::RmsProp:
    if (options.momentum == 0)
      return {"mean_square"};
    return {"mean_square", "momentum"};
  case Optimizer::Adagrad:
    return {"sum_of_squares"};
  case Optimizer::Adam:
  case Optimizer::AdamW:
  case Optimizer::Lamb:
    return {"first_moment", "second_moment"};
  }
  llvm_unreachable("an optimiser without a case");
}

bool countsSteps(const OptimizerOptions &options) {
  return options.kind == Optimizer::Adam || options.kind == Optimizer::AdamW ||
         options.kind == Optimizer::Lamb;
}

/// The sum of the squares of all elements, in f32.
static Value sumOfSquares(TensorBuilder &emit, Value value) {
  Value wide = emit.convert(value, emit.builder.getF32Type());
  return emit.sumAll(emit.mul(wide, wide));
}

/// A scalar, converted and broadcast to the type of \p like.
static Value spread(TensorBuilder &emit, Value scalar, Value like) {
  return emit.spreadLike(emit.convert(scalar, tensorOf(like).getElementType()),
                         like);
}

void clipGradients(TensorBuilder &emit, MutableArrayRef<Value> gradients,
                   const OptimizerOptions &options) {
  if (options.clipValue != 0)
    for (Value &gradient : gradients)
      gradient =
          emit.max(emit.min(gradient, options.clipValue), -options.clipValue);
  if (options.clipNorm == 0 || gradients.empty())
    return;
  Value sum;
  for (Value gradient : gradients) {
    Value square = sumOfSquares(emit, gradient);
    sum = sum ? emit.add(sum, square) : square;
  }
  Value norm = emit.add(emit.sqrt(sum), 1e-6);
  Value factor =
      emit.min(emit.div(emit.splatLike(options.clipNorm, norm), norm), 1.0);
  for (Value &gradient : gradients)
    gradient = emit.mul(gradient, spread(emit, factor, gradient));
}

/// old * keep + value * (1 - keep).
static Value moved(TensorBuilder &emit, Value old, Value value, double keep) {
  return emit.add(emit.mul(old, keep), emit.mul(value, 1 - keep));
}

/// 1 - beta^step, in f64, since beta is close to 1.
static Value biasCorrection(TensorBuilder &emit, Value step, double beta) {
  if (beta == 0)
    return emit.splat(1, tensorOf(step));
  Value power = emit.mul(step, std::log(beta));
  return emit.neg(emit.make<stablehlo::Expm1Op>(power));
}

static Value sgd(TensorBuilder &emit, WeightUpdate &update,
                 const OptimizerOptions &options) {
  Value direction = update.gradient;
  if (options.momentum != 0) {
    Value velocity =
        emit.add(emit.mul(update.kept[0], options.momentum), update.gradient);
    update.kept[0] = velocity;
    direction =
        options.nesterov
            ? emit.add(update.gradient, emit.mul(velocity, options.momentum))
            : velocity;
  }
  return direction;
}

/// The mean of gradients divided by the root of the mean of their squares.
static Value adam(TensorBuilder &emit, WeightUpdate &update,
                  const OptimizerOptions &options) {
  Value gradient = update.gradient;
  Value first = moved(emit, update.kept[0], gradient, options.beta1);
  Value second =
      moved(emit, update.kept[1], emit.mul(gradient, gradient), options.beta2);
  update.kept = {first, second};
  Value mean = emit.div(
      first,
      spread(emit, biasCorrection(emit, update.step, options.beta1), first));
  Value square = emit.div(
      second,
      spread(emit, biasCorrection(emit, update.step, options.beta2), second));
  return emit.div(mean, emit.add(emit.sqrt(square), epsilonOf(options)));
}

static Value rmsProp(TensorBuilder &emit, WeightUpdate &update,
                     const OptimizerOptions &options) {
  Value gradient = update.gradient;
  Value square =
      moved(emit, update.kept[0], emit.mul(gradient, gradient), options.decay);
  update.kept[0] = square;
  Value direction =
      emit.div(gradient, emit.add(emit.sqrt(square), epsilonOf(options)));
  if (options.momentum == 0)
    return direction;
  direction = emit.add(emit.mul(update.kept[1], options.momentum), direction);
  update.kept[1] = direction;
  return direction;
}

static Value adagrad(TensorBuilder &emit, WeightUpdate &update,
                     const OptimizerOptions &options) {
  Value gradient = update.gradient;
  Value sum = emit.add(update.kept[0], emit.mul(gradient, gradient));
  update.kept[0] = sum;
  return emit.div(gradient, emit.add(emit.sqrt(sum), epsilonOf(options)));
}

/// |weight| / |direction|, 1 where either is 0.
static Value trustRatio(TensorBuilder &emit, Value weight, Value direction) {
  Value of = emit.sqrt(sumOfSquares(emit, weight));
  Value by = emit.sqrt(sumOfSquares(emit, direction));
  Value least = emit.min(of, by);
  Value one = emit.splatLike(1, of);
  return emit.select(emit.compare(ComparisonDirection::GT, least, 0.0),
                     emit.div(of, by), one);
}

Value updateWeight(TensorBuilder &emit, WeightUpdate &update,
                   const OptimizerOptions &options) {
  Value weight = update.weight;
  const bool decays =
      options.weightDecay != 0 && (options.decaysAll || update.isDecayed);
  auto decay = [&] { return emit.mul(weight, options.weightDecay); };
  const bool isDecoupled =
      options.kind == Optimizer::AdamW || options.kind == Optimizer::Lamb;
  if (decays && !isDecoupled)
    update.gradient = emit.add(update.gradient, decay());
  Value direction;
  switch (options.kind) {
  case Optimizer::Sgd:
    direction = sgd(emit, update, options);
    break;
  case Optimizer::RmsProp:
    direction = rmsProp(emit, update, options);
    break;
  case Optimizer::Adagrad:
    direction = adagrad(emit, update, options);
    break;
  case Optimizer::Adam:
  case Optimizer::AdamW:
  case Optimizer::Lamb:
    direction = adam(emit, update, options);
    break;
  }
  if (decays && isDecoupled)
    direction = emit.add(direction, decay());
  Value rate = update.rate;
  if (options.kind == Optimizer::Lamb)
    rate = emit.mul(rate, trustRatio(emit, weight, direction));
  return emit.sub(weight, emit.mul(direction, spread(emit, rate, direction)));
}

} // namespace sinter::autodiff
