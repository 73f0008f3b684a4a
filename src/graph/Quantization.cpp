#include "graph/Quantization.h"

#include "graph/Constants.h"
#include "graph/ExactSums.h"
#include "graph/Types.h"
#include "graph/nn/TensorBuilder.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "runtime/ElementDispatch.h"

#include <algorithm>
#include <cmath>

using namespace mlir;

namespace sinter {

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

quant::QuantizedType quantizedOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? dyn_cast<quant::QuantizedType>(tensor.getElementType())
                : quant::QuantizedType();
}

bool hasQuantizedType(Operation *op) {
  return llvm::any_of(op->getOperandTypes(), quantizedOf) ||
         llvm::any_of(op->getResultTypes(), quantizedOf);
}

IntegerType storageOf(quant::QuantizedType type) {
  return IntegerType::get(type.getContext(), type.getStorageTypeIntegralWidth(),
                          type.isSigned() ? IntegerType::Signless
                                          : IntegerType::Unsigned);
}

RankedTensorType storageOf(RankedTensorType type) {
  return type.clone(
      storageOf(cast<quant::QuantizedType>(type.getElementType())));
}

IntegerBounds boundsOf(IntegerType type) {
  const unsigned width = type.getWidth();
  if (type.isUnsigned())
    return {0, (int64_t(1) << width) - 1};
  const int64_t half = int64_t(1) << (width - 1);
  return {-half, half - 1};
}

IntegerBounds boundsOf(quant::QuantizedType type) {
  return {type.getStorageTypeMin(), type.getStorageTypeMax()};
}

bool QuantizationParameters::isSymmetric() const {
  return llvm::all_of(zeroPoints, [](int64_t zero) { return zero == 0; });
}

std::optional<QuantizationParameters> parametersOf(quant::QuantizedType type) {
  if (auto uniform = dyn_cast<quant::UniformQuantizedType>(type))
    return QuantizationParameters{
        {uniform.getScale()}, {uniform.getZeroPoint()}, -1};
  auto perAxis = dyn_cast<quant::UniformQuantizedPerAxisType>(type);
  if (!perAxis)
    return std::nullopt;
  return QuantizationParameters{llvm::to_vector(perAxis.getScales()),
                                llvm::to_vector(perAxis.getZeroPoints()),
                                perAxis.getQuantizedDimension()};
}

/// \p number rounded to \p type.
static double rounded(FloatType type, double number) {
  if (type.isF64())
    return number;
  if (type.isF32())
    return static_cast<float>(number);
  return FloatAttr::get(type, number).getValueAsDouble();
}

std::optional<QuantizationParameters>
roundedParametersOf(quant::QuantizedType type) {
  std::optional<QuantizationParameters> parameters = parametersOf(type);
  if (parameters)
    for (double &scale : parameters->scales)
      scale = rounded(cast<FloatType>(type.getExpressedType()), scale);
  return parameters;
}

quant::QuantizedType quantizedElement(IntegerType storage, FloatType expressed,
                                      const QuantizationParameters &parameters,
                                      std::optional<IntegerBounds> within) {
  if (!llvm::is_contained({2, 4, 8, 16, 32}, storage.getWidth()) ||
      parameters.scales.size() != parameters.zeroPoints.size() ||
      parameters.scales.empty() ||
      (parameters.axis < 0 && parameters.scales.size() != 1))
    return {};
  const llvm::fltSemantics &semantics = expressed.getFloatSemantics();
  const double smallest = APFloat::getSmallest(semantics).convertToDouble(),
               largest = APFloat::getLargest(semantics).convertToDouble();
  const IntegerBounds all = boundsOf(storage), bounds = within.value_or(all);
  if (!all.contains(bounds.least) || !all.contains(bounds.greatest))
    return {};
  for (auto [scale, zeroPoint] :
       llvm::zip_equal(parameters.scales, parameters.zeroPoints))
    if (!(scale >= smallest && scale <= largest) || !bounds.contains(zeroPoint))
      return {};
  const unsigned flags =
      storage.isUnsigned() ? 0 : quant::QuantizationFlags::Signed;
  auto stored = IntegerType::get(storage.getContext(), storage.getWidth());
  if (parameters.axis < 0)
    return quant::UniformQuantizedType::get(
        flags, stored, expressed, parameters.scales.front(),
        parameters.zeroPoints.front(), bounds.least, bounds.greatest);
  return quant::UniformQuantizedPerAxisType::get(
      flags, stored, expressed, parameters.scales, parameters.zeroPoints,
      static_cast<int32_t>(parameters.axis), bounds.least, bounds.greatest);
}

bool keepsParameters(Operation *op,
                     llvm::function_ref<std::optional<QuantizationParameters>(
                         quant::QuantizedType)>
                         parameters) {
  quant::QuantizedType result = quantizedOf(op->getResult(0).getType());
  return llvm::all_of(op->getOperandTypes(), [&](Type type) {
    quant::QuantizedType operand = quantizedOf(type);
    if (!operand || !result)
      return true;
    auto a = parameters(operand), b = parameters(result);
    return a && b && a->scales == b->scales && a->zeroPoints == b->zeroPoints;
  });
}

bool takesStorage(Operation *op) {
  return op->hasTrait<traits::MovesElements>() ||
         op->hasTrait<traits::HandsTensorsOn>() ||
         op->hasTrait<OpTrait::IsTerminator>() || op->getNumRegions() != 0 ||
         isa<CallOpInterface>(op);
}

IntegerRange centredRange(quant::QuantizedType type) {
  const QuantizationParameters parameters = *parametersOf(type);
  const auto [least, greatest] = std::minmax_element(
      parameters.zeroPoints.begin(), parameters.zeroPoints.end());
  const IntegerBounds bounds = boundsOf(type);
  return {static_cast<double>(bounds.least) - static_cast<double>(*greatest),
          static_cast<double>(bounds.greatest) - static_cast<double>(*least)};
}

bool survives(quant::QuantizedType type) {
  // Twice half a unit in the last place of values from 1 to 2.
  const double error =
      2 / exactMagnitude(cast<FloatType>(type.getExpressedType()));
  return centredRange(type).reach() * error < 0.499;
}

quant::QuantizedType withStorage(quant::QuantizedType type,
                                 IntegerType storage) {
  const IntegerBounds from = boundsOf(storageOf(type)), to = boundsOf(storage);
  std::optional<QuantizationParameters> parameters = parametersOf(type);
  const bool isInside = to.contains(from.least) && to.contains(from.greatest);
  const int64_t shift = isInside ? 0 : to.least - from.least;
  if (!parameters || boundsOf(type) != from ||
      !to.contains(from.greatest + shift))
    return {};
  for (int64_t &zero : parameters->zeroPoints)
    zero += shift;
  return quantizedElement(storage, cast<FloatType>(type.getExpressedType()),
                          *parameters);
}

quant::QuantizedType movedBy(quant::QuantizedType type, IntegerType storage,
                             int64_t shift) {
  std::optional<QuantizationParameters> parameters = parametersOf(type);
  if (!parameters)
    return {};
  IntegerBounds bounds = boundsOf(type);
  bounds.least += shift;
  bounds.greatest += shift;
  for (int64_t &zero : parameters->zeroPoints)
    zero += shift;
  return quantizedElement(storage, cast<FloatType>(type.getExpressedType()),
                          *parameters, bounds);
}

std::optional<int64_t> shiftBetween(quant::QuantizedType from,
                                    quant::QuantizedType to) {
  auto before = parametersOf(from), after = parametersOf(to);
  if (!before || !after || before->scales != after->scales ||
      before->axis != after->axis ||
      from.getExpressedType() != to.getExpressedType())
    return std::nullopt;
  const int64_t shift = after->zeroPoints.front() - before->zeroPoints.front();
  for (auto [a, b] : llvm::zip_equal(before->zeroPoints, after->zeroPoints))
    if (b - a != shift)
      return std::nullopt;
  return shift;
}

Value beforeShift(Value value) {
  auto op = value.getDefiningOp<stablehlo::UniformQuantizeOp>();
  quant::QuantizedType from =
      op ? quantizedOf(op.getOperand().getType()) : quant::QuantizedType();
  quant::QuantizedType to = quantizedOf(value.getType());
  auto shift = from && to ? shiftBetween(from, to) : std::nullopt;
  return shift && (withStorage(from, storageOf(to)) == to ||
                   movedBy(from, storageOf(to), *shift) == to)
             ? op.getOperand()
             : value;
}

quant::QuantizedType storedAs(Value value) {
  auto constant = value.getDefiningOp<stablehlo::ConstantOp>();
  auto attribute = constant
                       ? constant->getAttrOfType<TypeAttr>(storedAsAttribute)
                       : TypeAttr();
  auto before = attribute ? dyn_cast<quant::QuantizedType>(attribute.getValue())
                          : quant::QuantizedType();
  quant::QuantizedType now = quantizedOf(value.getType());
  const std::optional<int64_t> shift =
      before && now ? shiftBetween(now, before) : std::nullopt;
  if (!shift ||
      !llvm::is_contained({4, 8, 16}, before.getStorageTypeIntegralWidth()) ||
      boundsOf(before) != boundsOf(storageOf(before)))
    return {};
  std::optional<Tensor> tensor = toTensor(constant.getValue());
  if (!tensor)
    return {};
  const IntegerBounds bounds = boundsOf(before),
                      held = boundsOfElements(*tensor);
  return bounds.contains(held.least + *shift) &&
                 bounds.contains(held.greatest + *shift)
             ? before
             : quant::QuantizedType();
}

IntegerBounds boundsOfElements(const Tensor &elements) {
  IntegerBounds bounds{0, 0};
  if (elements.size() == 0)
    return bounds;
  dispatch(elements.type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_integral_v<T>) {
      T least = elements.at<T>(0), greatest = least;
      for (int64_t i = 1; i < elements.size(); ++i) {
        least = std::min(least, elements.at<T>(i));
        greatest = std::max(greatest, elements.at<T>(i));
      }
      bounds = {static_cast<int64_t>(least), static_cast<int64_t>(greatest)};
    }
  });
  return bounds;
}

/// shifted() for int8: 8-bit addition gives the low bits of a wider one.
template <typename T>
static void shiftBytes(const Tensor &elements, int64_t shift, T *stored) {
  dispatch(elements.type(), [&](auto tag) {
    using From = typename decltype(tag)::type;
    if constexpr (std::is_integral_v<From>) {
      const std::byte *from = elements.data();
      for (int64_t i = 0, count = elements.size(); i < count; ++i) {
        From each;
        std::memcpy(&each, from + i * sizeof(From), sizeof(From));
        stored[i] = static_cast<T>(static_cast<uint8_t>(each) +
                                   static_cast<uint8_t>(shift));
      }
    }
  });
}

Tensor shifted(const Tensor &elements, IntegerType storage, int64_t shift) {
  Tensor result(*elementTypeOf(storage), elements.shape());
  // A fast path for int8 weights, which are large.
  if (result.type() == ElementType::I8)
    shiftBytes(elements, shift, result.mutableValues<int8_t>().data());
  else if (result.type() == ElementType::UI8)
    shiftBytes(elements, shift, result.mutableValues<uint8_t>().data());
  else
    dispatch(result.type(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (!isStdComplex<T>)
        for (int64_t i = 0; i < elements.size(); ++i)
          result.set<T>(i, static_cast<T>(elements.toInteger(i) + shift));
    });
  return result;
}

//===----------------------------------------------------------------------===//
// On host values
//===----------------------------------------------------------------------===//

// A quotient or sum of two floats of at most 24 bits that is rounded to 53 bits
// and then to theirs is rounded as if once.

int64_t quantizedNumber(double x, double scale, int64_t zeroPoint,
                        IntegerBounds bounds, FloatType compute,
                        QuantizedRounding rounding) {
  const double zero = rounded(compute, static_cast<double>(zeroPoint)),
               least = rounded(compute, static_cast<double>(bounds.least)),
               greatest =
                   rounded(compute, static_cast<double>(bounds.greatest));
  double number =
      rounded(compute, rounded(compute, x) / rounded(compute, scale));
  const bool roundsFirst = rounding == QuantizedRounding::BeforeZeroPoint;
  if (roundsFirst)
    number = std::nearbyint(number);
  number = rounded(compute, number + zero);
  if (std::isnan(number))
    return 0;
  number = std::min(std::max(number, least), greatest);
  if (!roundsFirst)
    number = std::nearbyint(number);
  // A bound may have been rounded past the storage type.
  return static_cast<int64_t>(
      std::min(std::max(number, static_cast<double>(bounds.least)),
               static_cast<double>(bounds.greatest)));
}

double dequantizedNumber(int64_t element, double scale, int64_t zeroPoint,
                         FloatType expressed) {
  return rounded(expressed, static_cast<double>(element - zeroPoint) *
                                rounded(expressed, scale));
}

//===----------------------------------------------------------------------===//
// As emitted operations
//===----------------------------------------------------------------------===//

Value emitSpread(nn::TensorBuilder &emit, ArrayRef<double> numbers,
                 int64_t axis, Value like) {
  RankedTensorType type = tensorOf(like);
  Type element = type.getElementType();
  if (axis >= 0)
    return emit.broadcast(emit.floats(numbers, element), {axis},
                          emit.sizes(like));
  if (!type.hasStaticShape())
    return emit.splatLike(numbers.front(), like);
  Attribute number =
      isa<FloatType>(element)
          ? Attribute(emit.builder.getFloatAttr(element, numbers.front()))
          : Attribute(emit.builder.getIntegerAttr(
                element, static_cast<int64_t>(numbers.front())));
  return emit.make<stablehlo::ConstantOp>(DenseElementsAttr::get(type, number));
}

static SmallVector<double> zerosOf(const QuantizationParameters &parameters) {
  return SmallVector<double>(parameters.zeroPoints.begin(),
                             parameters.zeroPoints.end());
}

Value emitCentred(nn::TensorBuilder &emit, Value value,
                  const QuantizationParameters &parameters) {
  if (parameters.isSymmetric())
    return value;
  return emit.sub(
      value, emitSpread(emit, zerosOf(parameters), parameters.axis, value));
}

Value emitQuantized(nn::TensorBuilder &emit, Value reals,
                    quant::QuantizedType type, QuantizedRounding rounding) {
  const QuantizationParameters parameters = *roundedParametersOf(type);
  Value quotients = emit.div(
      reals, emitSpread(emit, parameters.scales, parameters.axis, reals));
  return emitRounded(emit, quotients, type, rounding);
}

Value emitRounded(nn::TensorBuilder &emit, Value value,
                  quant::QuantizedType type, QuantizedRounding rounding) {
  const QuantizationParameters parameters = *roundedParametersOf(type);
  auto round = [&](Value value) {
    return emit.make<stablehlo::RoundNearestEvenOp>(value);
  };
  const bool roundsFirst = rounding == QuantizedRounding::BeforeZeroPoint;
  if (roundsFirst)
    value = round(value);
  if (!parameters.isSymmetric())
    value = emit.add(
        value, emitSpread(emit, zerosOf(parameters), parameters.axis, value));
  auto bound = [&](int64_t limit) {
    return emit.scalar(static_cast<double>(limit), getElementTypeOrSelf(value));
  };
  const IntegerBounds bounds = boundsOf(type);
  value = emit.make<stablehlo::ClampOp>(bound(bounds.least), value,
                                        bound(bounds.greatest));
  if (!roundsFirst)
    value = round(value);
  return emit.convert(value, storageOf(type));
}

Value emitDequantized(nn::TensorBuilder &emit, Value storage,
                      quant::QuantizedType type, Type compute) {
  const QuantizationParameters parameters = *roundedParametersOf(type);
  Value value = emitCentred(emit, emit.convert(storage, compute), parameters);
  return emit.mul(value,
                  emitSpread(emit, parameters.scales, parameters.axis, value));
}

} // namespace sinter
