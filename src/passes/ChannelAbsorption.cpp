#include "passes/ChannelAbsorption.h"

#include "graph/ElementUses.h"
#include "graph/stablehlo/StablehloOps.h"
#include "graph/stablehlo/Sums.h"
#include "passes/Matching.h"
#include "passes/ScaledNumbers.h"
#include "runtime/ElementDispatch.h"
#include "runtime/MappedPages.h"
#include <cmath>
#include <numeric>

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter {

Type typeOfSoleConversion(Value value) {
  OpOperand *sole = soleElementUse(value);
  auto convert = sole ? dyn_cast<ConvertOp>(sole->getOwner()) : ConvertOp();
  return convert && isNarrowFloat(elementOf(convert)) ? elementOf(convert)
                                                      : Type();
}

/// Whether the weight's floats, each times a factor of \p scale, are rounded to
/// fewer digits than all of \p values have: values computed from the products,
/// or that these are computed from.
static bool losesDigits(const WeightedProduct &product, ArrayRef<double> scale,
                        ArrayRef<Value> values, Type converted = {}) {
  auto isPowerOfTwo = [](double factor) {
    int exponent;
    return std::abs(std::frexp(factor, &exponent)) == 0.5;
  };
  auto digitsOf = [](Type type) {
    return APFloat::semanticsPrecision(
        cast<FloatType>(type).getFloatSemantics());
  };
  if (product.keepsIntegers() || llvm::all_of(scale, isPowerOfTwo))
    return false;
  const unsigned digits =
      digitsOf(elementOf(product.op->getOperand(product.weightOperand)));
  return (!converted || digitsOf(converted) > digits) &&
         llvm::all_of(values, [&](Value value) {
           return digitsOf(elementOf(value)) > digits;
         });
}

/// The product's result, the results of \p chain, and the conversion behind it
/// if that is the only user.
static SmallVector<Value> valuesAfter(const WeightedProduct &product,
                                      ArrayRef<ChannelStep> chain) {
  SmallVector<Value> values = {product.result()};
  for (const ChannelStep &step : chain)
    values.push_back(step.op->getResult(0));
  if (!chain.empty() && typeOfSoleConversion(values.back()))
    values.push_back(soleElementUse(values.back())->getOwner()->getResult(0));
  return values;
}

std::optional<Tensor> absorbedByResult(const WeightedProduct &product,
                                       const ChannelFold &fold,
                                       const ChannelAffine &affine,
                                       ArrayRef<ChannelStep> chain,
                                       Type converted) {
  const Value last =
      chain.empty() ? product.result() : chain.back().op->getResult(0);
  auto values = scaledValues(
      product.weight, ChannelOf(fold, product.weight.shape()), affine.scale);
  if (!values || !product.takesUp(fold, affine.scale) ||
      losesDigits(product, affine.scale, valuesAfter(product, chain),
                  converted) ||
      !keepsRange(product.result(), chain, affine.scale) ||
      !roundsFinitely(*elementTypeOf(elementOf(last)), affine.shift))
    return std::nullopt;
  return values;
}

/// Adds each of \p weights times the shift of its channel to the one of
/// \p sums whose indices \p sumIndices has.
template <typename T>
static void addShifted(const Weight &weight, const Tensor &weights,
                       ArrayRef<ChannelOf> sumIndices,
                       const ChannelOf &channelOf, ArrayRef<double> shift,
                       std::vector<double> &sums) {
  // Elements whose indices are all alike or consecutive.
  int64_t length = channelOf.runLength();
  for (const ChannelOf &each : sumIndices)
    length = std::gcd(length, each.runLength());
  const int64_t channelStep = channelOf.isInTurn() ? 1 : 0;
  weight.withSourceIndex([&](auto sourceIndex) {
    for (int64_t begin = 0; begin < weights.size(); begin += length) {
      int64_t position = 0, step = 0;
      for (const ChannelOf &each : sumIndices) {
        position = position * each.count() + each(begin);
        step = step * each.count() + (each.isInTurn() ? 1 : 0);
      }
      const auto number = [&](int64_t i) {
        return static_cast<double>(weights.at<T>(sourceIndex(begin + i)));
      };
      const double *by = shift.data() + channelOf(begin);
      double *sum = sums.data() + position;
      if (step == 1 && channelStep == 0)
        for (int64_t i = 0; i < length; ++i)
          sum[i] += number(i) * *by;
      else
        for (int64_t i = 0; i < length; ++i)
          sum[i * step] += number(i) * by[i * channelStep];
    }
  });
}

/// The value that a shift of the operand adds to each element of the result:
/// the sum of the weights that multiply it; nothing if these cannot be
/// computed.
static std::optional<Bias> shiftedSum(const WeightedProduct &product,
                                      ArrayRef<ChannelFold> folds,
                                      const ChannelOf &channelOf,
                                      ArrayRef<double> shift) {
  const std::optional<Tensor> known = product.weight.values();
  if (!known)
    return std::nullopt;
  const Tensor &weights = *known;
  Bias bias;
  SmallVector<ChannelOf> channelIndices;
  int64_t count = 1;
  for (const ChannelFold &fold : folds) {
    channelIndices.emplace_back(fold, product.weight.shape());
    bias.shape.push_back(channelIndices.back().count());
    bias.place.push_back(fold.activationDim);
    count *= channelIndices.back().count();
  }
  bias.numbers.assign(count, 0);
  dispatch(weights.type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (!isStdComplex<T>)
      addShifted<T>(product.weight, weights, channelIndices, channelOf, shift,
                    bias.numbers);
  });
  releasePages({weights.data(), weights.bytes()});
  return bias;
}

/// The dimensions of the bias of a product whose operand is shifted along
/// \p fold: those of its result that are dimensions of the weight, or, where
/// the product is inside of the operation, all others of the weight. None where
/// nothing can be added.
static SmallVector<ChannelFold> biasFolds(const WeightedProduct &product,
                                          const ChannelFold &fold) {
  auto inner = product.innerBias();
  if (!inner)
    return product.resultFolds();
  if (!inner->empty() && !constantValue((*inner)[0].get()))
    return {};
  SmallVector<ChannelFold> folds;
  const auto rank = static_cast<int64_t>(product.weight.shape().size());
  for (int64_t dim = 0; dim < rank; ++dim)
    if (dim != fold.weightDim)
      folds.push_back({dim, dim});
  return folds;
}

/// Adds the existing bias \p inner, if there is one, to \p bias.
static void addFirstHalf(const MutableOperandRange &inner, Bias &bias) {
  if (inner.empty())
    return;
  const std::optional<Tensor> all = constantValue(inner[0].get());
  const int64_t count = bias.shape.back();
  for (auto [i, number] : llvm::enumerate(bias.numbers)) {
    const auto index = static_cast<int64_t>(i);
    number += all->toDouble(index / count * 2 * count + index % count);
  }
}

std::optional<AbsorbedAffine> absorbedByOperand(const WeightedProduct &product,
                                                const ChannelFold &fold,
                                                const ChannelAffine &affine) {
  const ChannelOf channelOf(fold, product.weight.shape());
  auto values = scaledValues(product.weight, channelOf, affine.scale);
  if (!values || !product.takesUp(fold, affine.scale) ||
      losesDigits(product, affine.scale,
                  product.op->getOperand(1 - product.weightOperand)))
    return std::nullopt;
  AbsorbedAffine absorbed{std::move(*values), std::nullopt};
  if (!affine.shifts())
    return absorbed;
  const auto results = biasFolds(product, fold);
  const bool isLarge = llvm::any_of(
      affine.shift, [](double each) { return std::abs(each) > mostShift; });
  if (fold.padded || results.empty() ||
      (isLarge && isRoundedCoarsely(product.result())))
    return std::nullopt;
  absorbed.bias = shiftedSum(product, results, channelOf, affine.shift);
  if (auto inner = product.innerBias(); absorbed.bias && inner)
    addFirstHalf(*inner, *absorbed.bias);
  if (!absorbed.bias ||
      !roundsFinitely(*elementTypeOf(elementOf(product.result())),
                      absorbed.bias->numbers))
    return std::nullopt;
  return absorbed;
}

} // namespace sinter
