#include "passes/ChannelFactors.h"

#include "runtime/ElementDispatch.h"
#include <cmath>

using namespace mlir;

namespace sinter {

std::optional<ChannelFactors> ChannelFactors::of(const ChannelFold &fold,
                                                 ArrayRef<int64_t> shape,
                                                 ArrayRef<double> scale) {
  if (scale.empty())
    return std::nullopt;
  if (llvm::all_equal(scale))
    return ChannelFactors{-1, {scale.front()}};
  if (!fold.groupDim || fold.groups == 1)
    return ChannelFactors{fold.weightDim, scale.vec()};
  // Channel i of group g is channel g * size + i.
  const int64_t size = shape[fold.weightDim],
                inGroup = shape[*fold.groupDim] / fold.groups;
  ChannelFactors grouped{*fold.groupDim, {}};
  for (int64_t group = 0; group < fold.groups; ++group) {
    const ArrayRef<double> own = scale.slice(group * size, size);
    if (!llvm::all_equal(own))
      return std::nullopt;
    grouped.factors.insert(grouped.factors.end(), inGroup, own.front());
  }
  return grouped;
}

bool ChannelFactors::changesIntegers() const {
  return llvm::any_of(factors, [](double each) { return each <= 0; });
}

/// Whether \p scale is a normal number of \p type, once it is rounded to it.
static bool isNormal(double scale, FloatType type) {
  bool loses = false;
  llvm::APFloat number(scale);
  number.convert(type.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven,
                 &loses);
  return number.isNormal() && !number.isNegative();
}

std::optional<QuantizationParameters>
ChannelFactors::scaled(const QuantizationParameters &parameters,
                       FloatType expressed) const {
  QuantizationParameters after = parameters;
  if (dimension >= 0 && parameters.axis < 0) {
    if (parameters.scales.size() != 1 || parameters.zeroPoints.size() != 1)
      return std::nullopt;
    after.axis = dimension;
    after.scales.assign(factors.size(), parameters.scales.front());
    after.zeroPoints.assign(factors.size(), parameters.zeroPoints.front());
  } else if (dimension >= 0 && (dimension != parameters.axis ||
                                factors.size() != parameters.scales.size())) {
    return std::nullopt;
  }
  for (auto [i, scale] : llvm::enumerate(after.scales)) {
    const double factor = std::abs(factors[dimension < 0 ? 0 : i]);
    if (factor != 0)
      scale *= factor;
    if (!std::isfinite(scale) || !isNormal(scale, expressed))
      return std::nullopt;
  }
  return after;
}

/// A function from the flat index of an element of \p shape to its index along
/// \p dimension; always 0 where \p dimension is -1.
static auto placeIn(ArrayRef<int64_t> shape, int64_t dimension) {
  int64_t stride = 1;
  for (int64_t i = static_cast<int64_t>(shape.size()) - 1;
       dimension >= 0 && i > dimension; --i)
    stride *= shape[i];
  const int64_t size = dimension >= 0 ? shape[dimension] : 1;
  return [=](int64_t index) { return index / stride % size; };
}

std::optional<Tensor>
ChannelFactors::turned(const Tensor &integers,
                       const QuantizationParameters &parameters,
                       IntegerBounds bounds) const {
  if (dimension >= 0 &&
      integers.shape()[dimension] != static_cast<int64_t>(factors.size()))
    return std::nullopt;
  const auto channelOf = placeIn(integers.shape(), dimension),
             zeroOf = placeIn(integers.shape(), parameters.axis);
  Tensor after(integers.type(), integers.shape());
  for (int64_t i = 0; i < integers.size(); ++i) {
    const double factor = factors[channelOf(i)];
    const int64_t zero = parameters.zeroPoints[zeroOf(i)];
    int64_t number = integers.toInteger(i);
    if (factor < 0)
      number = 2 * zero - number;
    else if (factor == 0)
      number = zero;
    if (!bounds.contains(number))
      return std::nullopt;
    dispatch(after.type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (!isStdComplex<T>)
        after.set<T>(i, static_cast<T>(number));
    });
  }
  return after;
}

} // namespace sinter
