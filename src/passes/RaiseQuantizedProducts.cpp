#include "passes/RaiseQuantizedProducts.h"

#include "graph/Broadcast.h"
#include "graph/Constants.h"
#include "graph/ExactSums.h"
#include "graph/Model.h"
#include "graph/PermutedType.h"
#include "graph/QuantizedProducts.h"
#include "graph/Repetition.h"
#include "graph/interfaces/Axes.h"
#include "passes/QuantizedForms.h"

#include <cmath>

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter {

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// The product \p op of elements \p lhs and \p rhs of one storage type, with
/// 32-bit accumulators as result; null where that is not valid or accumulators
/// might overflow.
static Operation *productOfAlike(PendingOperations &pending, Operation *op,
                                 Value lhs, Value rhs) {
  quant::QuantizedType left = quantizedOf(lhs.getType()),
                       right = quantizedOf(rhs.getType());
  auto scales = productScales(op, {left, right});
  std::optional<double> count = productsPerSum(op);
  auto expressed = cast<FloatType>(left.getExpressedType());
  if (!scales || !count || right.getExpressedType() != expressed ||
      (op->getOperand(0) == op->getOperand(1) && lhs != rhs))
    return nullptr;
  const IntegerRange sums =
      IntegerRange::ofSums(centredRange(left), centredRange(right), *count);
  // Rescales compute in the expressed type, where narrower floats overflow.
  if (!holds(pending.builder.getI32Type(), sums) ||
      (expressed.getWidth() < 32 && !holds(expressed, sums)))
    return nullptr;
  QuantizationParameters parameters;
  parameters.scales = scales->factors;
  parameters.zeroPoints.assign(scales->factors.size(), 0);
  parameters.axis = scales->axis;
  auto type =
      quantizedElement(pending.builder.getI32Type(), expressed, parameters);
  if (!type)
    return nullptr;
  IRMapping mapping;
  mapping.map(op->getOperand(0), lhs);
  mapping.map(op->getOperand(1), rhs);
  return copyWith(pending.builder, op, mapping, type);
}

/// The pairs of types in which a product of elements of \p left and \p right is
/// tried: in the storage type of one of them, or else in a signed one, where
/// weights have a zero point of 0. StableHLO's dot_general requires that of the
/// right operand: where the zero point is not the middle, a weight whose
/// centred elements fit keeps its width, any other takes twice as many bits.
static SmallVector<std::pair<quant::QuantizedType, quant::QuantizedType>>
productTypes(OpBuilder &builder, quant::QuantizedType left,
             quant::QuantizedType right) {
  const unsigned width =
      std::max(storageOf(left).getWidth(), storageOf(right).getWidth());
  const IntegerType same = builder.getIntegerType(width),
                    twice = builder.getIntegerType(2 * width);
  auto withAll = [](quant::QuantizedType type, IntegerType storage) {
    return storageOf(type) == storage ? type : withStorage(type, storage);
  };
  SmallVector<std::pair<quant::QuantizedType, quant::QuantizedType>> pairs;
  for (IntegerType storage : {storageOf(left), storageOf(right), same})
    pairs.push_back({withAll(left, storage), withAll(right, storage)});
  QuantizationParameters centred = *parametersOf(right);
  if (width > 8 || !llvm::all_equal(centred.zeroPoints))
    return pairs;
  const int64_t zero = centred.zeroPoints.front();
  centred.zeroPoints.assign(centred.zeroPoints.size(), 0);
  pairs.push_back(
      {withAll(left, same),
       quantizedElement(same, cast<FloatType>(right.getExpressedType()),
                        centred)});
  pairs.push_back({movedBy(left, twice, 0), movedBy(right, twice, -zero)});
  return pairs;
}

/// The product \p op of elements \p lhs and \p rhs of any storage types.
static Operation *productOf(PendingOperations &pending, Operation *op,
                            Value lhs, Value rhs) {
  for (auto [left, right] :
       productTypes(pending.builder, quantizedOf(lhs.getType()),
                    quantizedOf(rhs.getType()))) {
    PendingOperations attempt(op->getContext());
    Value a = inType(attempt.builder, lhs, left),
          b = inType(attempt.builder, rhs, right);
    Operation *product = a && b ? productOfAlike(attempt, op, a, b) : nullptr;
    if (!product)
      continue;
    attempt.insert(pending.builder);
    return product;
  }
  return nullptr;
}

template <typename Op> static Value raiseProduct(Op op, OpBuilder &builder) {
  Value lhs = dequantizedElements(op.getLhs()),
        rhs = dequantizedElements(op.getRhs());
  if (!lhs || !rhs ||
      getElementTypeOrSelf(op.getType()) != getElementTypeOrSelf(op.getLhs()))
    return {};
  PendingOperations pending(op->getContext());
  Operation *product = productOf(pending, op, lhs, rhs);
  if (!product)
    return {};
  Value result =
      emitDequantize(pending.builder, op->getLoc(), product->getResult(0));
  pending.insert(builder);
  return result;
}

/// Elements with a scale of 1.
static Value plainElements(PendingOperations &pending,
                           const CentredInteger &integer) {
  auto parameters = together(Spread{{1}, -1}, integer.zeroPoints);
  auto type =
      parameters ? quantizedElement(cast<IntegerType>(
                                        getElementTypeOrSelf(integer.elements)),
                                    pending.builder.getF32Type(), *parameters)
                 : quant::QuantizedType();
  if (!type || !hasScalesFor(type, tensorOf(integer.elements)))
    return {};
  return asQuantized(pending.builder, integer.elements, type);
}

template <typename Op>
static Value raiseIntegerProduct(Op op, OpBuilder &builder) {
  if (!getElementTypeOrSelf(op.getType()).isSignlessInteger(32))
    return {};
  auto lhs = CentredInteger::match(op.getLhs()),
       rhs = CentredInteger::match(op.getRhs());
  if (!lhs || !rhs)
    return {};
  PendingOperations pending(op->getContext());
  Value left = plainElements(pending, *lhs),
        right = plainElements(pending, *rhs);
  Operation *product =
      left && right ? productOf(pending, op, left, right) : nullptr;
  if (!product)
    return {};
  setProductForm(product, ProductForm::Sums);
  Value result = pending.builder.create<BitcastConvertOp>(
      op->getLoc(), op.getType(), product->getResult(0));
  pending.insert(builder);
  return result;
}

/// The integers that \p value holds as floats, with a scale of 1: converted
/// from an integer type, or a constant that fits int8.
static Value wholeElements(PendingOperations &pending, Value value) {
  if (auto integer = CentredInteger::match(value))
    return plainElements(pending, *integer);
  auto byte = quantizedElement(pending.builder.getIntegerType(8),
                               pending.builder.getF32Type(), {{1}, {0}, -1});
  return exactConstant(pending.builder, value, byte);
}

/// The form of programs that quantise in front of a product and dequantise
/// behind it.
template <typename Op>
static Value raiseWholeProduct(Op op, OpBuilder &builder) {
  if (!getElementTypeOrSelf(op.getType()).isF32() ||
      !getElementTypeOrSelf(op.getLhs()).isF32() ||
      !CentredInteger::match(op.getLhs()))
    return {};
  PendingOperations pending(op->getContext());
  Value left = wholeElements(pending, op.getLhs()),
        right = wholeElements(pending, op.getRhs());
  Operation *product =
      left && right ? productOf(pending, op, left, right) : nullptr;
  if (!product)
    return {};
  Value result =
      emitDequantize(pending.builder, op->getLoc(), product->getResult(0));
  pending.insert(builder);
  return result;
}

//===----------------------------------------------------------------------===//
// Biases
//===----------------------------------------------------------------------===//

/// The integers of a bias, one for all or one for each index of a dimension.
static std::optional<Spread> integersOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.getElementType().isSignlessInteger(32))
    return std::nullopt;
  return Spread::of(value);
}

/// The integers that represent the constant behind \p value with the scales of
/// \p sum; nothing where there are none.
static std::optional<Spread> biasOf(Value value,
                                    const QuantizationParameters &sum) {
  std::optional<Spread> bias = Spread::of(value);
  if (!bias || (!bias->isScalar() && sum.axis >= 0 && bias->axis != sum.axis))
    return std::nullopt;
  if (bias->isScalar() && sum.axis >= 0) {
    bias->axis = sum.axis;
    bias->numbers.assign(sum.scales.size(), bias->numbers.front());
  }
  if (sum.axis >= 0 && bias->numbers.size() != sum.scales.size())
    return std::nullopt;
  for (auto [i, number] : llvm::enumerate(bias->numbers)) {
    const double quotient = number / sum.scales[sum.axis >= 0 ? i : 0];
    const double integer = std::nearbyint(quotient);
    // The product of scales was rounded, and so was the constant.
    if (std::abs(quotient - integer) >
            0x1p-22 * std::max(1.0, std::abs(integer)) ||
        std::abs(integer) > 0x1p31 - 1)
      return std::nullopt;
    number = integer;
  }
  return bias;
}

/// \p integers as elements like those of \p sum, in its shape.
static Value biasLike(OpBuilder &builder, Location location, Value sum,
                      const Spread &integers, StringRef name) {
  RankedTensorType type = tensorOf(sum);
  quant::QuantizedType element = quantizedOf(type);
  const bool isPerAxis = isa<quant::UniformQuantizedPerAxisType>(element);
  SmallVector<int64_t> shape, dimensions;
  SmallVector<int32_t> numbers;
  for (double number : integers.numbers)
    numbers.push_back(static_cast<int32_t>(number));
  if (isPerAxis && integers.isScalar())
    numbers.assign(parametersOf(element)->scales.size(), numbers.front());
  const int64_t axis = isPerAxis ? parametersOf(element)->axis : integers.axis;
  if (axis >= 0) {
    shape = {static_cast<int64_t>(numbers.size())};
    dimensions = {axis};
    if (!type.isDynamicDim(axis) && type.getDimSize(axis) != shape.front())
      return {};
  }
  auto stored = RankedTensorType::get(shape, builder.getI32Type());
  auto constant = builder.create<ConstantOp>(
      location, RankedTensorType::get(shape, alongAxis(element, 0)),
      DenseElementsAttr::get(stored, ArrayRef<int32_t>(numbers)));
  if (!name.empty())
    constant->setAttr(nameAttribute, builder.getStringAttr(name));
  return broadcastTo(builder, location, type, constant, dimensions, sum);
}

/// The name of the constant that \p value broadcasts or dequantises.
static StringRef nameOf(Value value) {
  Value source = Repetition::of(value).source;
  Value elements = dequantizedElements(source);
  return constantName(elements ? elements : source);
}

/// dequantize(sum) + bias.
static Value raiseBias(AddOp op, OpBuilder &builder) {
  for (unsigned side : {0u, 1u}) {
    Value sum = dequantizedElements(op->getOperand(side)),
          bias = op->getOperand(1 - side);
    quant::QuantizedType type = sum ? quantizedOf(sum.getType()) : nullptr;
    if (!type || type.getStorageTypeIntegralWidth() != 32)
      continue;
    // A float bias was not rounded to the scale of the accumulators.
    auto integers =
        Repetition::of(bias).source.getDefiningOp<UniformDequantizeOp>()
            ? biasOf(bias, *parametersOf(type))
            : std::nullopt;
    if (!integers)
      continue;
    PendingOperations pending(op->getContext());
    Value like =
        biasLike(pending.builder, op.getLoc(), sum, *integers, nameOf(bias));
    if (!like)
      continue;
    Value raised =
        pending.builder.create<AddOp>(op.getLoc(), sum.getType(), sum, like);
    Value result = emitDequantize(pending.builder, op.getLoc(), raised);
    pending.insert(builder);
    return result;
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Requantised integer products
//===----------------------------------------------------------------------===//

/// The quantised value \p value with \p scales instead of 1.
static Value rescaled(PendingOperations &pending, Value value,
                      const Spread &scales) {
  quant::QuantizedType type = quantizedOf(value.getType());
  auto before = *parametersOf(type);
  Spread zeroPoints{
      SmallVector<double>(before.zeroPoints.begin(), before.zeroPoints.end()),
      before.axis};
  auto parameters = together(scales, zeroPoints);
  auto made = parameters
                  ? quantizedElement(storageOf(type),
                                     cast<FloatType>(type.getExpressedType()),
                                     *parameters, boundsOf(type))
                  : quant::QuantizedType();
  if (!made || !hasScalesFor(made, tensorOf(value)))
    return {};
  if (auto cast = value.getDefiningOp<BitcastConvertOp>();
      cast && getElementTypeOrSelf(cast.getOperand()) == storageOf(type))
    return asQuantized(pending.builder, cast.getOperand(), made);
  Value result = asQuantized(pending.builder, value, made);
  if (quant::QuantizedType stored = storedAs(value)) {
    QuantizationParameters moved = *parametersOf(made);
    const int64_t shift =
        before.zeroPoints.front() - parametersOf(stored)->zeroPoints.front();
    for (int64_t &zero : moved.zeroPoints)
      zero -= shift;
    result.getDefiningOp()->setDiscardableAttr(
        storedAsAttribute,
        TypeAttr::get(quantizedElement(
            storageOf(stored), cast<FloatType>(stored.getExpressedType()),
            moved)));
  }
  return result;
}

static bool isPlain(Value value) {
  return llvm::all_of(parametersOf(quantizedOf(value.getType()))->scales,
                      [](double scale) { return scale == 1; });
}

/// The integer product that \p value is, and the \p bias added to it.
static Operation *integerProduct(Value value, std::optional<Spread> &bias,
                                 StringRef &name) {
  auto productIn = [](Value value) -> Operation * {
    auto cast = value.getDefiningOp<BitcastConvertOp>();
    Operation *op = cast ? cast.getOperand().getDefiningOp() : nullptr;
    return op && productFormOf(op) == ProductForm::Sums &&
                   llvm::all_of(op->getOperands(), isPlain)
               ? op
               : nullptr;
  };
  if (Operation *product = productIn(value))
    return product;
  auto sum = value.getDefiningOp<AddOp>();
  for (unsigned side : {0u, 1u}) {
    Operation *product = sum ? productIn(sum->getOperand(side)) : nullptr;
    bias = product ? integersOf(sum->getOperand(1 - side)) : std::nullopt;
    if (!bias)
      continue;
    name = nameOf(sum->getOperand(1 - side));
    return product;
  }
  return nullptr;
}

static Value raiseQLinear(ConvertOp op, OpBuilder &builder) {
  auto rounded = RoundedNumber::match(op);
  auto scaled = rounded ? rounded->number.getDefiningOp<MulOp>() : MulOp();
  auto sum = scaled ? scaled.getLhs().getDefiningOp<ConvertOp>() : ConvertOp();
  auto factor = sum ? ScaleQuotient::match(scaled.getRhs()) : std::nullopt;
  if (!factor)
    return {};
  std::optional<Spread> bias;
  StringRef name;
  Operation *product = integerProduct(sum.getOperand(), bias, name);
  auto type = product
                  ? together(Spread{{factor->result}, -1}, rounded->zeroPoints)
                  : std::nullopt;
  auto result =
      type ? quantizedElement(rounded->storage, rounded->compute, *type)
           : quant::QuantizedType();
  // The product was raised for f32.
  if (!result || !rounded->compute.isF32())
    return {};
  Spread weights = factor->rhs;
  if (!weights.isScalar()) {
    auto dim = axesOf(product)->operandOf(1, weights.axis);
    if (!dim)
      return {};
    weights.axis = *dim;
  }
  PendingOperations pending(op->getContext());
  Value lhs = rescaled(pending, beforeShift(product->getOperand(0)),
                       Spread{{factor->lhs}, -1}),
        rhs = rescaled(pending, beforeShift(product->getOperand(1)), weights);
  Operation *raised =
      lhs && rhs ? productOf(pending, product, lhs, rhs) : nullptr;
  if (!raised)
    return {};
  setProductForm(raised, ProductForm::Rescaled);
  Value total = raised->getResult(0);
  if (bias) {
    Value like = biasLike(pending.builder, op.getLoc(), total, *bias, name);
    if (!like)
      return {};
    total = pending.builder.create<AddOp>(op.getLoc(), total.getType(), total,
                                          like);
  }
  Value elements = emitQuantize(pending.builder, op.getLoc(), total, result);
  Value integers = pending.builder.create<BitcastConvertOp>(
      op.getLoc(), op.getType(), elements);
  pending.insert(builder);
  return integers;
}

std::vector<RewriteRule> raiseQuantizedProductRules() {
  return {rule<ConvolutionOp, raiseProduct<ConvolutionOp>>(
              "raise-quantized-product",
              "conv(dequantize(a), dequantize(b)) -> dequantize(conv(a, b))"),
          rule<DotGeneralOp, raiseProduct<DotGeneralOp>>(
              "raise-quantized-product",
              "conv(dequantize(a), dequantize(b)) -> dequantize(conv(a, b))"),
          rule<AddOp, raiseBias>(
              "raise-quantized-bias",
              "dequantize(sum) + dequantize(bias) -> dequantize(sum + bias)"),
          rule<ConvolutionOp, raiseIntegerProduct<ConvolutionOp>>(
              "raise-integer-product",
              "conv(convert<i32>(a) - za, convert<i32>(b) - zb) -> conv(a, b)"),
          rule<DotGeneralOp, raiseIntegerProduct<DotGeneralOp>>(
              "raise-integer-product",
              "conv(convert<i32>(a) - za, convert<i32>(b) - zb) -> conv(a, b)"),
          rule<ConvolutionOp, raiseWholeProduct<ConvolutionOp>>(
              "raise-whole-product",
              "conv(convert<f32>(a) - za, convert<f32>(b) - zb) -> "
              "dequantize(conv(a, b))"),
          rule<DotGeneralOp, raiseWholeProduct<DotGeneralOp>>(
              "raise-whole-product",
              "conv(convert<f32>(a) - za, convert<f32>(b) - zb) -> "
              "dequantize(conv(a, b))"),
          rule<ConvertOp, raiseQLinear>(
              "raise-qlinear",
              "clamp(round((conv(a, b) + c) * (sa * sb / s)) + "
              "z) -> quantize(conv(a, b) + c)")};
}

} // namespace sinter
