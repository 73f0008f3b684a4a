#include "formats/paddle/write/Quantized.h"

#include "formats/import/QdqForm.h"
#include "formats/paddle/write/WriterRules.h"
#include "graph/Constants.h"
#include "graph/ExactSums.h"
#include "graph/Quantization.h"
#include "graph/Types.h"
#include "graph/nn/TensorBuilder.h"
#include "graph/stablehlo/StablehloOps.h"
#include "mlir/Dialect/Quant/QuantTypes.h"
#include <cmath>

using namespace mlir;

namespace sinter::paddle {

//===----------------------------------------------------------------------===//
// Supported types
//===----------------------------------------------------------------------===//

/// The bounds of signed integers of \p bits bits.
static IntegerBounds boundsOfBits(int64_t bits) {
  const int64_t half = int64_t(1) << (bits - 1);
  return {-half, half - 1};
}

/// The bit width with which quantize_linear covers the range \p numbers, at
/// least \p least; nothing if it has too few bits.
static std::optional<int64_t> bitsFor(IntegerBounds numbers, int64_t least) {
  for (int64_t bits = least; bits <= 16; ++bits)
    if (boundsOfBits(bits).contains(numbers.least) &&
        boundsOfBits(bits).contains(numbers.greatest))
      return bits;
  return std::nullopt;
}

/// The parameters of \p type if they are per tensor or along one of the first
/// two dimensions, which the two operators support.
static std::optional<QuantizationParameters>
operatorParameters(quant::QuantizedType type) {
  auto parameters = parametersOf(type);
  return parameters && parameters->axis < 2 &&
                 isa<FloatType>(type.getExpressedType())
             ? parameters
             : std::nullopt;
}

/// The bit width with which quantize_linear alone quantises to \p type: zero
/// points are 0, and its range is exactly that of the bit width. Nothing for
/// others.
static std::optional<int64_t> linearBits(quant::QuantizedType type) {
  auto parameters = operatorParameters(type);
  if (!parameters || !parameters->isSymmetric())
    return std::nullopt;
  auto bits = bitsFor(boundsOf(type), 2);
  return bits && boundsOfBits(*bits) == boundsOf(type) ? bits : std::nullopt;
}

/// The bit width with which quantize_linear rounds so that adding zero points
/// gives values of \p type.
static std::optional<int64_t> roundingBits(quant::QuantizedType type) {
  auto parameters = operatorParameters(type);
  if (!parameters)
    return std::nullopt;
  const auto [least, greatest] = std::minmax_element(
      parameters->zeroPoints.begin(), parameters->zeroPoints.end());
  const IntegerBounds bounds = boundsOf(type);
  return bitsFor({bounds.least - *greatest, bounds.greatest - *least}, 8);
}

static bool hasQuantize(quant::QuantizedType type) {
  return linearBits(type) || roundingBits(type);
}

/// Whether differences of elements and zero points are exact in the expressed
/// type.
static bool hasDequantize(quant::QuantizedType type) {
  return holds(cast<FloatType>(type.getExpressedType()), centredRange(type));
}

std::optional<ElementType> heldType(RankedTensorType type) {
  quant::QuantizedType quantized = quantizedOf(type);
  return sinter::elementTypeOf(quantized && linearBits(quantized)
                                   ? quantized.getExpressedType()
                                   : type.getElementType());
}

//===----------------------------------------------------------------------===//
// Storage elements
//===----------------------------------------------------------------------===//

/// \p type with a storage type that Paddle has: 8 bits in place of fewer, and
/// 32 bits in place of unsigned 16. \p type itself if Paddle has it.
static quant::QuantizedType stored(quant::QuantizedType type) {
  IntegerType storage = storageOf(type);
  const bool isUnsigned = storage.isUnsigned();
  const unsigned width = storage.getWidth() < 8 ? 8
                         : isUnsigned && storage.getWidth() == 16
                             ? 32
                             : storage.getWidth();
  if (width == storage.getWidth())
    return type;
  auto signedness =
      isUnsigned && width == 8 ? IntegerType::Unsigned : IntegerType::Signless;
  return movedBy(type, IntegerType::get(type.getContext(), width, signedness),
                 0);
}

/// Changes the types of all values of \p function by \p change.
static void retype(func::FuncOp function,
                   llvm::function_ref<Type(Value)> change) {
  function.walk([&](mlir::Operation *op) {
    for (Value result : op->getResults())
      result.setType(change(result));
    for (Region &region : op->getRegions())
      for (mlir::Block &block : region)
        for (Value argument : block.getArguments())
          argument.setType(change(argument));
  });
  mlir::Block &entry = function.getBody().front();
  function.setFunctionType(FunctionType::get(
      function.getContext(), entry.getArgumentTypes(),
      TypeRange(ValueRange(entry.getTerminator()->getOperands()))));
}

static void changeStorage(func::FuncOp function) {
  function.walk([](stablehlo::ConstantOp op) {
    quant::QuantizedType type = quantizedOf(op.getType());
    std::optional<Tensor> tensor =
        type && stored(type) != type ? toTensor(op.getValue()) : std::nullopt;
    if (tensor)
      op.setValueAttr(toAttribute(shifted(*tensor, storageOf(stored(type)), 0),
                                  constantName(op), op.getContext()));
  });
  retype(function, [](Value value) -> Type {
    quant::QuantizedType type = quantizedOf(value.getType());
    return type ? Type(tensorOf(value).clone(stored(type))) : value.getType();
  });
}

static Value bitcast(OpBuilder &builder, Value value, Type element) {
  return builder.create<stablehlo::BitcastConvertOp>(
      value.getLoc(), tensorOf(value).clone(element), value);
}

//===----------------------------------------------------------------------===//
// All of a function
//===----------------------------------------------------------------------===//

/// Makes ops that move quantised elements move storage elements.
static void moveStorage(func::FuncOp function) {
  SmallVector<mlir::Operation *> kept;
  function.walk([&](mlir::Operation *op) {
    if (isa<stablehlo::UniformQuantizeOp, nn::QuantizeOp,
            stablehlo::UniformDequantizeOp>(op))
      kept.push_back(op);
  });
  llvm::DenseSet<Value> quantized;
  OpBuilder builder(function.getContext());
  for (mlir::Operation *op : kept) {
    if (isa<stablehlo::UniformDequantizeOp>(op)) {
      Value operand = op->getOperand(0);
      mlir::Operation *before = operand.getDefiningOp();
      if (isa_and_nonnull<stablehlo::UniformQuantizeOp, nn::QuantizeOp>(before))
        continue;
      builder.setInsertionPoint(op);
      Value read = bitcast(builder, operand, quantizedOf(operand.getType()));
      quantized.insert(read);
      op->setOperand(0, read);
      continue;
    }
    Value result = op->getResult(0);
    quantized.insert(result);
    builder.setInsertionPointAfter(op);
    Value elements =
        bitcast(builder, result, storageOf(quantizedOf(result.getType())));
    result.replaceUsesWithIf(elements, [&](OpOperand &use) {
      return use.getOwner() != elements.getDefiningOp() &&
             !isa<stablehlo::UniformDequantizeOp>(use.getOwner());
    });
  }
  retype(function, [&](Value value) -> Type {
    quant::QuantizedType type = quantizedOf(value.getType());
    return type && !quantized.contains(value)
               ? Type(tensorOf(value).clone(storageOf(type)))
               : value.getType();
  });
}

void computeWithOperators(func::FuncOp function,
                          std::map<std::string, int64_t> &unsupported) {
  bool isQuantized = false;
  function.walk([&](mlir::Operation *op) {
    isQuantized |= hasQuantizedType(op);
    for (Type each : op->getResultTypes())
      if (quant::QuantizedType type = quantizedOf(each);
          type &&
          (!parametersOf(type) || !isa<FloatType>(type.getExpressedType())))
        ++unsupported[op->getName().getStringRef().str() +
                      " (of this quantised type)"];
  });
  if (!isQuantized || !unsupported.empty())
    return;
  formats::dropShifts(function);
  formats::convertToQdqForm(
      function, [](mlir::Operation *) { return false; }, unsupported);
  if (!unsupported.empty())
    return;
  changeStorage(function);
  formats::expandQuantization(function, [](mlir::Operation *op) {
    if (isa<stablehlo::UniformDequantizeOp>(op))
      return !hasDequantize(quantizedOf(op->getOperand(0).getType()));
    return !hasQuantize(quantizedOf(op->getResult(0).getType()));
  });
  moveStorage(function);
}

//===----------------------------------------------------------------------===//
// quantize_linear and dequantize_linear
//===----------------------------------------------------------------------===//

/// The scale in type \p element whose quotient by \p greatest is \p step, or
/// nearest to it: not all steps have an exact one.
static double scaleOf(double step, double greatest, FloatType element) {
  auto rounded = [&](double number) {
    return FloatAttr::get(element, number).getValueAsDouble();
  };
  auto beside = [&](double number, bool isBelow) {
    APFloat next = FloatAttr::get(element, number).getValue();
    next.next(isBelow);
    return FloatAttr::get(element, next).getValueAsDouble();
  };
  const double wanted = rounded(step), near = rounded(wanted * greatest);
  for (double each : {near, beside(near, false), beside(near, true)})
    if (rounded(each / greatest) == wanted)
      return each;
  return near;
}

/// An operator with a scale for \p x per tensor, or per index along an axis,
/// and zero points of 0, for \p bits bits.
static Var linear(OperatorWriter &e, StringRef operatorType, const Var &x,
                  quant::QuantizedType type, int64_t bits, StringRef name,
                  RankedTensorType result) {
  const QuantizationParameters parameters = *parametersOf(type);
  auto expressed = cast<FloatType>(type.getExpressedType());
  const auto greatest = static_cast<double>(boundsOfBits(bits).greatest);
  SmallVector<double> scales;
  for (double step : parameters.scales)
    scales.push_back(scaleOf(step, greatest, expressed));
  const auto element = *sinter::elementTypeOf(expressed);
  const Shape shape = {static_cast<int64_t>(scales.size())};
  const SmallVector<double> zeros(scales.size(), 0.0);
  Var scale = e.shared(tensorOfDoubles(element, shape, scales),
                       (name + "@scale").str());
  Var zeroPoint = e.shared(tensorOfDoubles(element, shape, zeros),
                           (name + "@zero_point").str());
  return e.make(operatorType,
                {{"X", x}, {"Scale", scale}, {"ZeroPoint", zeroPoint}},
                {{"quant_axis", parameters.axis},
                 {"bit_length", bits},
                 {"round_type", 0}},
                result, "Y");
}

/// \p x combined with constants per tensor or per index along \p axis.
static Var combined(OperatorWriter &e, StringRef operatorType, const Var &x,
                    ArrayRef<double> numbers, int64_t axis, StringRef name) {
  const Shape shape = {static_cast<int64_t>(numbers.size())};
  Var other = e.shared(
      tensorOfDoubles(*sinter::elementTypeOf(x.element()), shape, numbers),
      name);
  return e.make(operatorType, {{"X", x}, {"Y", other}}, {{"axis", axis}},
                x.type);
}

static SmallVector<double> toDoubles(ArrayRef<int64_t> integers) {
  return SmallVector<double>(integers.begin(), integers.end());
}

/// The variable that holds a quantised tensor.
static Var held(OperatorWriter &e, Value value) {
  Var var = e.operand(value);
  quant::QuantizedType type = quantizedOf(value.getType());
  var.type = var.type.clone(linearBits(type) ? type.getExpressedType()
                                             : Type(storageOf(type)));
  return var;
}

/// The prefix of names of scales: the variable that is quantised.
static std::string scaleName(OperatorWriter &e, Value quantized) {
  mlir::Operation *before = quantized.getDefiningOp();
  return e.operand(before ? before->getOperand(0) : quantized).name;
}

template <typename Op>
static LogicalResult writeQuantize(OperatorWriter &e, Op op) {
  quant::QuantizedType type = quantizedOf(op.getType());
  if (!type || !hasQuantize(type))
    return e.unsupported("of this quantised type");
  Var x = e.operand(op.getOperand());
  const std::string name = scaleName(e, op);
  if (auto bits = linearBits(type))
    return e.alias(linear(e, "quantize_linear", x, type, *bits, name, x.type));
  const QuantizationParameters parameters = *parametersOf(type);
  const IntegerBounds bounds = boundsOf(type);
  Var whole =
      linear(e, "quantize_linear", x, type, *roundingBits(type), name, x.type);
  if (!parameters.isSymmetric())
    whole =
        combined(e, "elementwise_add", whole, toDoubles(parameters.zeroPoints),
                 parameters.axis, name + "@shift");
  whole = e.unary("clip", whole,
                  {{"min", static_cast<double>(bounds.least)},
                   {"max", static_cast<double>(bounds.greatest)}});
  return e.alias(e.cast(whole, storageOf(type)));
}

static LogicalResult writeDequantize(OperatorWriter &e,
                                     stablehlo::UniformDequantizeOp op) {
  Value operand = op.getOperand();
  quant::QuantizedType type = quantizedOf(operand.getType());
  if (!type || !hasDequantize(type))
    return e.unsupported("of this quantised type");
  auto stored = operand.getDefiningOp<stablehlo::BitcastConvertOp>();
  Var x = stored ? e.operand(stored.getOperand()) : held(e, operand);
  const std::string name = scaleName(e, operand);
  // Takes either integral floats or s8.
  auto bits = linearBits(type);
  if (bits && (isa<FloatType>(x.element()) || x.element().isSignlessInteger(8)))
    return e.alias(linear(e, "dequantize_linear", x, type, *bits, name,
                          tensorOf(op.getResult())));
  const QuantizationParameters parameters = *parametersOf(type);
  Var number = e.cast(x, type.getExpressedType());
  if (!parameters.isSymmetric())
    number =
        combined(e, "elementwise_sub", number, toDoubles(parameters.zeroPoints),
                 parameters.axis, name + "@shift");
  return e.alias(combined(e, "elementwise_mul", number, parameters.scales,
                          parameters.axis, name + "@step"));
}

static LogicalResult writeBitcast(OperatorWriter &e,
                                  stablehlo::BitcastConvertOp op) {
  // Dequantising operators use the elements themselves.
  if (quantizedOf(op.getType()))
    return success();
  if (quantizedOf(op.getOperand().getType()))
    return e.alias(e.cast(held(e, op.getOperand()), elementOf(op.getResult())));
  return op.getType() == op.getOperand().getType()
             ? e.alias(e.operand(op.getOperand()))
             : e.unsupported("to another type");
}

WriterRules quantizedRules() {
  static const WriterRule rules[] = {
      writerRule<writeQuantize<stablehlo::UniformQuantizeOp>>(),
      writerRule<writeQuantize<nn::QuantizeOp>>(),
      writerRule<writeDequantize>(), writerRule<writeBitcast>()};
  return rules;
}

} // namespace sinter::paddle
