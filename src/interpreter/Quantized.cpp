//===- Quantized.cpp - quantised elements ---------------------------------===//

#include "interpreter/Quantized.h"
#include "graph/QuantizedProducts.h"
#include "graph/nn/NnOps.h"
#include "graph/stablehlo/StablehloOps.h"
#include "interpreter/Evaluation.h"
#include "interpreter/Numbers.h"
#include "interpreter/Strided.h"
#include "runtime/ElementDispatch.h"

#include <algorithm>
#include <cmath>

using namespace mlir;

namespace sinter::interpreter {

namespace {
/// The parameters of a quantised type, per tensor or per axis.
struct Parameters {
  ElementType storage, expressed;
  std::vector<double> scales;
  std::vector<int64_t> zeroPoints;
  int64_t axis = 0; ///< Of the scales, if there is more than one.
  double least = 0, most = 0;
};
} // namespace

bool isQuantized(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && isa<quant::QuantizedType>(tensor.getElementType());
}

static Result<Parameters> parametersOf(Type type, const Shape &shape) {
  auto element =
      cast<quant::QuantizedType>(cast<RankedTensorType>(type).getElementType());
  auto storage = elementTypeOf(element);
  auto expressed = elementTypeOf(element.getExpressedType());
  if (!storage || !expressed)
    return unsupported("a quantised type has an unusual storage or expressed "
                       "type");
  Parameters result;
  result.storage = *storage;
  result.expressed = *expressed;
  result.least = static_cast<double>(element.getStorageTypeMin());
  result.most = static_cast<double>(element.getStorageTypeMax());
  // The specification's compute_scales: scales have the expressed type.
  auto round = [&](double scale) {
    Tensor rounded(*expressed, {});
    storeReals(rounded, 0, std::span(&scale, 1));
    return rounded.toDouble(0);
  };
  if (auto uniform = dyn_cast<quant::UniformQuantizedType>(element)) {
    result.scales = {round(uniform.getScale())};
    result.zeroPoints = {uniform.getZeroPoint()};
    return result;
  }
  auto perAxis = dyn_cast<quant::UniformQuantizedPerAxisType>(element);
  if (!perAxis)
    return unsupported("a quantised type is not uniform");
  for (double scale : perAxis.getScales())
    result.scales.push_back(round(scale));
  result.zeroPoints.assign(perAxis.getZeroPoints().begin(),
                           perAxis.getZeroPoints().end());
  result.axis = perAxis.getQuantizedDimension();
  if (result.axis < 0 || result.axis >= static_cast<int64_t>(shape.size()) ||
      shape[result.axis] != static_cast<int64_t>(result.scales.size()))
    return invalidModel("a quantised type has not one scale an element of its "
                        "dimension");
  return result;
}

/// Calls `body(begin, count, scale, zeroPoint)` for runs of elements that have
/// the same parameters.
template <typename Body>
static void forEachRun(const Parameters &parameters, const Shape &shape,
                       int64_t size, Body body) {
  if (parameters.scales.size() == 1)
    return inChunks(size, [&](int64_t begin, int64_t count) {
      body(begin, count, parameters.scales[0], parameters.zeroPoints[0]);
    });
  const AxisView view(shape, parameters.axis);
  for (int64_t i = 0; i < view.outer * view.size && size != 0; ++i)
    body(i * view.inner, view.inner, parameters.scales[i % view.size],
         parameters.zeroPoints[i % view.size]);
}

Result<Tensor> dequantized(const Tensor &storage, Type type) {
  Result<Parameters> parameters = parametersOf(type, storage.shape());
  if (!parameters)
    return parameters.takeError();
  if (Result<void> ok = checkSize(parameters->expressed, storage.shape()); !ok)
    return ok.takeError();
  Tensor result(parameters->expressed, storage.shape());
  std::vector<double> values;
  forEachRun(*parameters, storage.shape(), storage.size(),
             [&](int64_t begin, int64_t count, double scale, int64_t zero) {
               values.resize(count);
               loadReals(storage, begin, values);
               for (double &value : values)
                 value = (value - static_cast<double>(zero)) * scale;
               storeReals(result, begin, values);
             });
  return result;
}

/// Quantises one value, every step rounded to \p Float: the specification's
/// `quantize`, or ONNX's, which rounds before it adds the zero point. NaN
/// becomes zero, as in `convert`.
template <typename Float>
static double quantize(Float x, Float scale, Float zeroPoint, Float least,
                       Float most, bool roundsFirst) {
  auto round = [](Float number) {
    return static_cast<Float>(std::nearbyint(static_cast<double>(number)));
  };
  const Float scaled = static_cast<Float>(x / scale);
  const Float moved =
      static_cast<Float>((roundsFirst ? round(scaled) : scaled) + zeroPoint);
  return static_cast<double>(round(moved < least  ? least
                                   : moved > most ? most
                                                  : moved));
}

Result<Tensor> quantized(const Tensor &numbers, Type type, bool roundsFirst) {
  Result<Parameters> parameters = parametersOf(type, numbers.shape());
  if (!parameters)
    return parameters.takeError();
  if (!isFloat(numbers.type()))
    return invalidModel("only floats can be quantised");
  Tensor result(parameters->storage, numbers.shape());
  std::vector<double> values;
  dispatch(numbers.type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (!std::is_integral_v<T> && !isStdComplex<T>)
      forEachRun(*parameters, numbers.shape(), numbers.size(),
                 [&](int64_t begin, int64_t count, double scale, int64_t zero) {
                   values.resize(count);
                   for (int64_t i = 0; i < count; ++i)
                     values[i] = quantize(numbers.at<T>(begin + i), T(scale),
                                          T(zero), T(parameters->least),
                                          T(parameters->most), roundsFirst);
                   storeReals(result, begin, values);
                 });
  });
  return result;
}

static quant::QuantizedType quantizedElement(Value value) {
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  return tensor ? dyn_cast<quant::QuantizedType>(tensor.getElementType())
                : quant::QuantizedType();
}

static std::optional<ProductScales> scalesOf(Operation *op) {
  if (op->getNumOperands() == 0)
    return std::nullopt;
  return productScales(
      op, llvm::map_to_vector(op->getOperands(), quantizedElement));
}

bool isQuantizedProduct(Operation *op) { return scalesOf(op).has_value(); }

/// The storage elements minus their zero points, in f64.
static Result<Tensor> centered(const Tensor &storage, Type type) {
  Result<Parameters> parameters = parametersOf(type, storage.shape());
  if (!parameters)
    return parameters.takeError();
  if (Result<void> ok = checkSize(ElementType::F64, storage.shape()); !ok)
    return ok.takeError();
  Tensor result(ElementType::F64, storage.shape());
  std::vector<double> values;
  forEachRun(*parameters, storage.shape(), storage.size(),
             [&](int64_t begin, int64_t count, double, int64_t zero) {
               values.resize(count);
               loadReals(storage, begin, values);
               for (double &value : values)
                 value -= static_cast<double>(zero);
               storeReals(result, begin, values);
             });
  return result;
}

/// Sums of integers in f64 are exact up to 2^53.
Result<Tensors> evaluateQuantizedProduct(Evaluator evaluator,
                                         const Call &call) {
  Tensors operands;
  for (auto [storage, type] :
       llvm::zip_equal(call.operands, call.op->getOperandTypes())) {
    Result<Tensor> numbers = centered(storage, type);
    if (!numbers)
      return numbers.takeError();
    operands.push_back(std::move(*numbers));
  }
  Result<Tensors> sums =
      evaluator(Call{call.op, operands, call.scope, ElementType::F64});
  if (!sums)
    return sums;
  Tensor &result = sums->front();
  const ProductScales scales = *scalesOf(call.op);
  Parameters factors;
  factors.scales.assign(scales.factors.begin(), scales.factors.end());
  factors.zeroPoints.assign(factors.scales.size(), 0);
  factors.axis = scales.axis;
  forEachRun(factors, result.shape(), result.size(),
             [&](int64_t begin, int64_t count, double factor, int64_t) {
               for (double &value :
                    result.mutableValues<double>().subspan(begin, count))
                 value *= factor;
             });
  if (isQuantized(call.resultType())) {
    Result<Tensor> storage = quantized(result, call.resultType());
    if (!storage)
      return storage.takeError();
    return single(std::move(*storage));
  }
  return produce(call.resultElement(), result.shape(), [&](Tensor &rounded) {
    storeReals(rounded, 0, reals(result));
  });
}

/// Quantises floats, or rescales quantised elements with other parameters.
template <bool roundsFirst>
static Result<Tensors> evaluateQuantize(const Call &call) {
  Tensor numbers = call[0];
  Type from = call.op->getOperand(0).getType();
  if (isQuantized(from)) {
    Result<Tensor> reals = dequantized(numbers, from);
    if (!reals)
      return reals.takeError();
    numbers = *reals;
  }
  Result<Tensor> result = quantized(numbers, call.resultType(), roundsFirst);
  if (!result)
    return result.takeError();
  return single(std::move(*result));
}

static Result<Tensors> evaluateUniformDequantize(const Call &call) {
  Result<Tensor> numbers =
      dequantized(call[0], call.op->getOperand(0).getType());
  if (!numbers)
    return numbers.takeError();
  // The result may be of another float type than the expressed one.
  return produce(call.resultElement(), call[0].shape(), [&](Tensor &result) {
    storeReals(result, 0, reals(*numbers));
  });
}

void registerQuantized(Registry &registry) {
  registry.addStored<stablehlo::UniformQuantizeOp>(evaluateQuantize<false>);
  registry.addStored<nn::QuantizeOp>(evaluateQuantize<true>);
  registry.addStored<stablehlo::UniformDequantizeOp>(evaluateUniformDequantize);
}

} // namespace sinter::interpreter
