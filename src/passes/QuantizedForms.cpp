#include "passes/QuantizedForms.h"

#include "graph/Broadcast.h"
#include "graph/Constants.h"
#include "graph/ExactSums.h"
#include "graph/FirstError.h"
#include "graph/Model.h"
#include "graph/PermutedType.h"
#include "graph/Repetition.h"
#include "graph/interfaces/Axes.h"
#include "graph/nn/NnOps.h"
#include "mlir/IR/Verifier.h"
#include "passes/Groups.h"
#include "passes/Matching.h"

#include <cmath>

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter {

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

/// Constants with more elements than this are not taken for quantisation
/// parameters.
static constexpr int64_t mostParameters = int64_t(1) << 20;

std::optional<Spread> Spread::of(Value value) {
  if (std::optional<double> same = splatValue(value))
    return Spread{{*same}, -1};
  const auto [source, dimensions] = Repetition::of(value);
  RankedTensorType type = tensorOf(source);
  if (!type.hasStaticShape() || type.getNumElements() > mostParameters)
    return std::nullopt;
  Spread spread;
  for (auto [size, dimension] : llvm::zip_equal(type.getShape(), dimensions)) {
    if (size == 1)
      continue;
    if (spread.axis >= 0 || dimension < 0)
      return std::nullopt;
    spread.axis = dimension;
  }
  std::optional<Tensor> tensor = constantValue(source);
  if (!tensor || tensor->size() == 0 || isComplex(tensor->type()))
    return std::nullopt;
  for (int64_t i = 0; i < tensor->size(); ++i)
    spread.numbers.push_back(tensor->toDouble(i));
  return spread;
}

std::optional<QuantizationParameters> together(const Spread &scales,
                                               const Spread &zeroPoints) {
  if (!scales.isScalar() && !zeroPoints.isScalar() &&
      (scales.axis != zeroPoints.axis ||
       scales.numbers.size() != zeroPoints.numbers.size()))
    return std::nullopt;
  const size_t count =
      std::max(scales.numbers.size(), zeroPoints.numbers.size());
  QuantizationParameters both;
  both.axis = std::max(scales.axis, zeroPoints.axis);
  for (size_t i = 0; i < count; ++i) {
    const double zero = zeroPoints.numbers[zeroPoints.isScalar() ? 0 : i];
    if (std::nearbyint(zero) != zero || std::abs(zero) > 0x1p32)
      return std::nullopt;
    both.scales.push_back(scales.numbers[scales.isScalar() ? 0 : i]);
    both.zeroPoints.push_back(static_cast<int64_t>(zero));
  }
  return both;
}

//===----------------------------------------------------------------------===//
// Forms
//===----------------------------------------------------------------------===//

/// Whether \p type is a storage type of quantised elements.
static bool isStorage(Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  return integer && llvm::is_contained({4, 8, 16}, integer.getWidth());
}

/// The operand of the clamp \p value, if the clamp keeps all values that lie
/// within \p bounds once any of \p zeroPoints is added; else \p value.
static Value withoutClamp(Value value, IntegerBounds bounds,
                          const std::optional<Spread> &zeroPoints) {
  auto clamp = value.getDefiningOp<ClampOp>();
  if (!clamp || !zeroPoints)
    return value;
  std::optional<double> least = splatValue(clamp.getMin()),
                        greatest = splatValue(clamp.getMax());
  const bool isWide =
      least && greatest && llvm::all_of(zeroPoints->numbers, [&](double zero) {
        return *least <= static_cast<double>(bounds.least) - zero &&
               *greatest >= static_cast<double>(bounds.greatest) - zero;
      });
  return isWide ? clamp.getOperand() : value;
}

std::optional<RoundedNumber> RoundedNumber::match(Operation *convert) {
  RoundedNumber rounded;
  Type element = getElementTypeOrSelf(convert->getResult(0));
  auto clamp = convert->getOperand(0).getDefiningOp<ClampOp>();
  if (!isStorage(element) || !clamp || !isFloatTensor(clamp))
    return std::nullopt;
  rounded.storage = cast<IntegerType>(element);
  rounded.compute = cast<FloatType>(getElementTypeOrSelf(clamp.getType()));
  const IntegerBounds bounds = boundsOf(rounded.storage);
  auto isBound = [&](Value value, int64_t bound) {
    std::optional<double> number = splatValue(value);
    return number && *number == FloatAttr::get(rounded.compute,
                                               static_cast<double>(bound))
                                    .getValueAsDouble();
  };
  if (!isBound(clamp.getMin(), bounds.least) ||
      !isBound(clamp.getMax(), bounds.greatest))
    return std::nullopt;
  auto round = withoutClamp(clamp.getOperand(), bounds, Spread::zero())
                   .getDefiningOp<RoundNearestEvenOp>();
  rounded.zeroPoints = Spread::zero();
  if (auto sum = clamp.getOperand().getDefiningOp<AddOp>())
    for (unsigned side : {0u, 1u}) {
      Value other = sum->getOperand(1 - side);
      auto first =
          withoutClamp(sum->getOperand(side), bounds, Spread::of(other))
              .getDefiningOp<RoundNearestEvenOp>();
      auto zero = first ? Spread::of(other) : std::nullopt;
      if (!zero)
        continue;
      round = first;
      rounded.zeroPoints = *zero;
      break;
    }
  if (!round)
    return std::nullopt;
  rounded.number = round.getOperand();
  return rounded;
}

/// convert(elements) - zero point, in any type; the negative zero point may be
/// added.
static std::optional<CentredInteger> centredElements(Value value) {
  Spread zeroPoints = Spread::zero();
  if (auto sum = value.getDefiningOp<AddOp>()) {
    auto negative = Spread::of(sum.getRhs());
    if (!negative)
      return std::nullopt;
    zeroPoints = *negative;
    for (double &number : zeroPoints.numbers)
      number = 0 - number;
    value = sum.getLhs();
  }
  if (auto difference = value.getDefiningOp<SubtractOp>()) {
    auto zero = Spread::of(difference.getRhs());
    if (!zero)
      return std::nullopt;
    zeroPoints = *zero;
    value = difference.getLhs();
  }
  auto convert = value.getDefiningOp<ConvertOp>();
  return convert
             ? std::optional(CentredInteger{convert.getOperand(), zeroPoints})
             : std::nullopt;
}

/// Whether \p compute represents all differences of elements and zero points
/// exactly, or those of the constant \p elements.
static bool areExact(Value elements, quant::QuantizedType type,
                     FloatType compute) {
  if (holds(compute, centredRange(type)))
    return true;
  auto parameters = *parametersOf(type);
  std::optional<Tensor> tensor = constantTensor(elements);
  if (!tensor || !parameters.isSymmetric())
    return false;
  for (int64_t i = 0; i < tensor->size(); ++i)
    if (std::abs(tensor->toDouble(i)) > exactMagnitude(compute))
      return false;
  return true;
}

std::optional<LinearNumber> LinearNumber::match(Operation *multiply) {
  auto compute =
      dyn_cast<FloatType>(getElementTypeOrSelf(multiply->getResult(0)));
  if (!compute)
    return std::nullopt;
  for (unsigned side : {0u, 1u}) {
    auto centred = centredElements(multiply->getOperand(side));
    auto storage =
        centred ? dyn_cast<IntegerType>(getElementTypeOrSelf(centred->elements))
                : IntegerType();
    if (!storage || !(isStorage(storage) || storage.isSignlessInteger(32)))
      continue;
    auto scales = Spread::of(multiply->getOperand(1 - side));
    auto parameters =
        scales ? together(*scales, centred->zeroPoints) : std::nullopt;
    auto type = parameters ? quantizedElement(storage, compute, *parameters)
                           : quant::QuantizedType();
    if (type && areExact(centred->elements, type, compute))
      return LinearNumber{centred->elements, type};
  }
  return std::nullopt;
}

std::optional<CentredInteger> CentredInteger::match(Value value) {
  auto centred = centredElements(value);
  return centred && isStorage(getElementTypeOrSelf(centred->elements))
             ? centred
             : std::nullopt;
}

std::optional<ScaleQuotient> ScaleQuotient::match(Value value) {
  // The whole value, with its broadcast, has the dimension of the factor.
  std::optional<Spread> whole = Spread::of(value);
  auto quotient = Repetition::of(value).source.getDefiningOp<DivOp>();
  auto product = quotient ? quotient.getLhs().getDefiningOp<MulOp>() : MulOp();
  if (!whole || !product)
    return std::nullopt;
  auto lhs = Spread::of(product.getLhs()), rhs = Spread::of(product.getRhs()),
       result = Spread::of(quotient.getRhs());
  if (!lhs || !rhs || !result || !lhs->isScalar() || !result->isScalar())
    return std::nullopt;
  if (!rhs->isScalar() &&
      (whole->isScalar() || whole->numbers.size() != rhs->numbers.size()))
    return std::nullopt;
  rhs->axis = rhs->isScalar() ? -1 : whole->axis;
  return ScaleQuotient{lhs->numbers.front(), result->numbers.front(), *rhs};
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

void PendingOperations::insert(OpBuilder &to) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    op.remove();
    to.insert(&op);
  }
}

Value asQuantized(OpBuilder &builder, Value elements,
                  quant::QuantizedType type) {
  RankedTensorType as = tensorOf(elements).clone(type);
  if (auto cast = elements.getDefiningOp<BitcastConvertOp>();
      cast && cast.getOperand().getType() == as)
    return cast.getOperand();
  if (auto constant = elements.getDefiningOp<ConstantOp>()) {
    auto made =
        builder.create<ConstantOp>(constant.getLoc(), as, constant.getValue());
    made->setDiscardableAttrs(constant->getDiscardableAttrDictionary());
    made->removeDiscardableAttr(traceAttribute);
    return made;
  }
  return builder.create<BitcastConvertOp>(elements.getLoc(), as, elements);
}

/// The dimension of \p op's result for dimension \p axis of operand \p index.
static std::optional<int64_t> movedAxis(Operation *op, unsigned index,
                                        int64_t axis) {
  if (auto axes = axesOf(op))
    return axes->resultOf(index, axis);
  if (auto repeated = Broadcast::of(op->getResult(0)))
    return repeated->dimensions[axis];
  return std::nullopt;
}

Operation *copyWith(OpBuilder &builder, Operation *op,
                    const IRMapping &operands, Type element) {
  if (auto perAxis = dyn_cast<quant::UniformQuantizedPerAxisType>(element);
      perAxis && op->hasTrait<traits::MovesElements>()) {
    std::optional<int64_t> axis =
        movedAxis(op, 0, perAxis.getQuantizedDimension());
    if (!axis)
      return nullptr;
    element = alongAxis(element, *axis);
  }
  Operation *copy = cloneApart(builder, op, operands);
  copy->getResult(0).setType(tensorOf(copy->getResult(0)).clone(element));
  FirstError silent(op->getContext());
  if (succeeded(verify(copy)))
    return copy;
  copy->erase();
  return nullptr;
}

/// The storage elements \p elements as a constant of \p type.
static Value quantizedConstant(OpBuilder &builder, Location location,
                               RankedTensorType type, const Tensor &elements,
                               StringRef name) {
  auto constant = builder.create<ConstantOp>(
      location, type, toAttribute(elements, name, builder.getContext()));
  if (!name.empty())
    constant->setAttr(nameAttribute, builder.getStringAttr(name));
  return constant;
}

/// The storage elements of \p type that represent the constant \p value
/// exactly; nothing if there are none. \p type must be per-tensor.
static std::optional<Tensor> exactElements(Value value,
                                           quant::QuantizedType type) {
  auto compute = cast<FloatType>(type.getExpressedType());
  RankedTensorType shape = tensorOf(value);
  if (!shape.hasStaticShape() || shape.getElementType() != compute ||
      shape.getNumElements() > mostParameters)
    return std::nullopt;
  const std::optional<Tensor> tensor = constantValue(value);
  if (!tensor)
    return std::nullopt;
  const QuantizationParameters parameters = *roundedParametersOf(type);
  const double scale = parameters.scales.front();
  const int64_t zero = parameters.zeroPoints.front();
  const IntegerBounds bounds = boundsOf(type);
  SmallVector<double> elements;
  for (int64_t i = 0; i < tensor->size(); ++i) {
    const double number = tensor->toDouble(i);
    const int64_t element =
        quantizedNumber(number, scale, zero, bounds, compute,
                        QuantizedRounding::BeforeZeroPoint);
    if (dequantizedNumber(element, scale, zero, compute) != number)
      return std::nullopt;
    elements.push_back(static_cast<double>(element));
  }
  return tensorOfDoubles(*elementTypeOf(storageOf(type)), tensor->shape(),
                         elements);
}

Value exactConstant(OpBuilder &builder, Value value,
                    quant::QuantizedType type) {
  const std::optional<Broadcast> repeated = Broadcast::of(value);
  if (repeated && !tensorOf(value).hasStaticShape()) {
    Value same = exactConstant(builder, repeated->operand, type);
    return same ? repeated->rebuild(builder, value.getLoc(), same) : Value();
  }
  if (isa<quant::UniformQuantizedPerAxisType>(type) ||
      tensorOf(value).getElementType() != type.getExpressedType())
    return {};
  // The broadcast operand has fewer elements to check.
  if (repeated && !exactElements(repeated->operand, type))
    return {};
  const std::optional<Tensor> elements = exactElements(value, type);
  return elements
             ? quantizedConstant(builder, value.getLoc(),
                                 tensorOf(value).clone(type), *elements, "")
             : Value();
}

Value inType(OpBuilder &builder, Value value, quant::QuantizedType moved) {
  quant::QuantizedType type = quantizedOf(value.getType());
  if (type == moved || !moved)
    return moved ? value : Value();
  RankedTensorType result = tensorOf(value).clone(moved);
  const std::optional<Tensor> tensor = constantTensor(value);
  const int64_t shift = parametersOf(moved)->zeroPoints.front() -
                        parametersOf(type)->zeroPoints.front();
  const IntegerBounds from = boundsOf(type), bounds = boundsOf(moved);
  if (!tensor)
    return survives(type) && bounds.contains(from.least + shift) &&
                   bounds.contains(from.greatest + shift)
               ? builder.create<UniformQuantizeOp>(value.getLoc(), result,
                                                   value)
               : Value();
  const IntegerBounds held = boundsOfElements(*tensor);
  if (!bounds.contains(held.least + shift) ||
      !bounds.contains(held.greatest + shift))
    return {};
  Value made = quantizedConstant(builder, value.getLoc(), result,
                                 shifted(*tensor, storageOf(moved), shift),
                                 constantName(value));
  quant::QuantizedType first = storedAs(value);
  made.getDefiningOp()->setDiscardableAttr(storedAsAttribute,
                                           TypeAttr::get(first ? first : type));
  return made;
}

Value emitQuantize(OpBuilder &builder, Location location, Value numbers,
                   quant::QuantizedType type) {
  Type result = tensorOf(numbers).clone(type);
  if (parametersOf(type)->isSymmetric())
    return builder.create<UniformQuantizeOp>(location, result, numbers);
  return builder.create<nn::QuantizeOp>(location, result, numbers);
}

Value emitDequantize(OpBuilder &builder, Location location, Value elements) {
  quant::QuantizedType type = quantizedOf(elements.getType());
  return builder.create<UniformDequantizeOp>(
      location, tensorOf(elements).clone(type.getExpressedType()), elements);
}

Value dequantizedElements(Value value) {
  auto op = value.getDefiningOp<UniformDequantizeOp>();
  if (!op || quantizedOf(op.getOperand().getType()).getExpressedType() !=
                 getElementTypeOrSelf(value))
    return {};
  return op.getOperand();
}

bool hasScalesFor(quant::QuantizedType element, RankedTensorType type) {
  return hasScalePerSlice(type.clone(element));
}

} // namespace sinter
