#include "formats/onnx/write/Quantized.h"

#include "formats/import/QdqForm.h"
#include "formats/onnx/write/QuantizedProducts.h"
#include "formats/onnx/write/WriterRules.h"
#include "graph/Constants.h"
#include "graph/Quantization.h"
#include "graph/QuantizedProducts.h"
#include "graph/UnitDimensions.h"
#include "graph/nn/NnOps.h"
#include "graph/stablehlo/StablehloOps.h"
#include "mlir/Dialect/Quant/QuantTypes.h"
#include "mlir/IR/IRMapping.h"
#include <cmath>

using namespace mlir;

namespace sinter::onnx {

/// Dequantises a vector before it is reshaped to more dimensions: a node's bias
/// must be a vector.
static void dequantizeAsVector(stablehlo::UniformDequantizeOp op) {
  auto reshape = op.getOperand().getDefiningOp<stablehlo::ReshapeOp>();
  auto vector =
      reshape ? reshape.getOperand().getDefiningOp<stablehlo::ConstantOp>()
              : stablehlo::ConstantOp();
  if (!vector || tensorOf(vector).getRank() != 1 || !movedDimensions(reshape))
    return;
  OpBuilder builder(op);
  Value numbers = builder.create<stablehlo::UniformDequantizeOp>(
      op.getLoc(), tensorOf(vector).clone(elementOf(op.getResult())), vector);
  op.replaceAllUsesWith(
      builder.create<stablehlo::ReshapeOp>(op.getLoc(), op.getType(), numbers)
          .getResult());
  op.erase();
}

/// Whether \p op is a Clip of 8-bit storage elements, which runtimes support:
/// quantisation preserves their order.
static bool clipsBytes(Operation *op) {
  auto clamp = dyn_cast<stablehlo::ClampOp>(op);
  auto type =
      clamp
          ? dyn_cast<quant::UniformQuantizedType>(elementOf(clamp.getResult()))
          : quant::UniformQuantizedType();
  return type && type.getStorageTypeIntegralWidth() == 8 && survives(type) &&
         tensorOf(clamp.getMin()).getRank() == 0 &&
         tensorOf(clamp.getMax()).getRank() == 0 &&
         llvm::all_of(op->getOperands(),
                      [&](Value each) { return elementOf(each) == type; });
}

void convertToQdqForm(func::FuncOp function,
                      std::map<std::string, int64_t> &unsupported) {
  function.walk(dequantizeAsVector);
  formats::dropShifts(function);
  keepProductForms(function);
  formats::convertToQdqForm(
      function,
      [](Operation *op) { return keepsProductForm(op) || clipsBytes(op); },
      unsupported);
  // The nodes do not support f64.
  formats::expandQuantization(function, [](Operation *op) {
    return isa<Float64Type>(getElementTypeOrSelf(
        isa<stablehlo::UniformDequantizeOp>(op) ? op->getResult(0)
                                                : op->getOperand(0)));
  });
}

//===----------------------------------------------------------------------===//
// QuantizeLinear and DequantizeLinear
//===----------------------------------------------------------------------===//

namespace {

/// The scale and zero point of a quantised type as inputs of the two nodes.
class Linear {
public:
  /// Nothing if ONNX has no such type; reports why to \p e.
  static std::optional<Linear> of(NodeWriter &e, Type quantized);

  Name scale() const { return list(expressed, parameters.scales, "scale"); }
  Name zeroPoint() const {
    return list(storage(), toDoubles(parameters.zeroPoints), "zero_point");
  }
  NodeAttributes attributes() const {
    NodeAttributes all;
    if (parameters.axis >= 0)
      all.push_back({"axis", parameters.axis});
    return all;
  }
  bool isWide() const { return width == 32; }
  bool isSymmetric() const { return parameters.isSymmetric(); }
  Type storage() const { return storageOf(type); }
  /// \p x clamped to the range of the type, if that is smaller than its storage
  /// type's.
  Name withinRange(const Name &x, int64_t rank) const;
  /// round(x / scale) + zero point, in 32 bits.
  Name wideQuantized(const Name &x, int64_t rank) const;
  /// \p x minus the zero point, in 32 bits.
  Name centred(const Name &x, int64_t rank) const;

private:
  Linear(NodeWriter &e, quant::QuantizedType type,
         QuantizationParameters parameters)
      : e(e), type(type), expressed(type.getExpressedType()),
        parameters(std::move(parameters)),
        width(type.getStorageTypeIntegralWidth()) {}

  static SmallVector<double> toDoubles(ArrayRef<int64_t> integers) {
    return SmallVector<double>(integers.begin(), integers.end());
  }
  Name list(Type element, ArrayRef<double> numbers, StringRef name,
            int64_t trailing = 0) const;
  /// The number of dimensions after that of the scales.
  int64_t behind(int64_t rank) const {
    return parameters.axis < 0 ? 0 : rank - 1 - parameters.axis;
  }

  NodeWriter &e;
  quant::QuantizedType type;
  Type expressed;
  QuantizationParameters parameters;
  unsigned width;
};

} // namespace

Name Linear::list(Type element, ArrayRef<double> numbers, StringRef name,
                  int64_t trailing) const {
  Shape shape;
  if (parameters.axis >= 0) {
    shape = {static_cast<int64_t>(numbers.size())};
    shape.insert(shape.end(), trailing, 1);
  }
  return e.constant(
      tensorOfDoubles(*sinter::elementTypeOf(element), shape, numbers), name);
}

std::optional<Linear> Linear::of(NodeWriter &e, Type quantized) {
  auto type = dyn_cast<quant::QuantizedType>(quantized);
  auto parameters = type ? parametersOf(type) : std::nullopt;
  const unsigned width = type ? type.getStorageTypeIntegralWidth() : 0;
  Type expressed = type ? type.getExpressedType() : Type();
  const bool isKnown = (width == 4 || width == 8 || width == 16 || width == 32);
  if (!parameters || !isKnown || (width == 32 && !type.isSigned())) {
    (void)e.unsupported("of this quantised type");
    return std::nullopt;
  }
  if (!expressed.isF32() && !expressed.isF16() && !expressed.isBF16()) {
    (void)e.unsupported("of this quantised type");
    return std::nullopt;
  }
  if (!expressed.isF32())
    e.need(19);
  if (width == 4 || width == 16)
    e.need(21);
  return Linear(e, type, std::move(*parameters));
}

Name Linear::withinRange(const Name &x, int64_t rank) const {
  const IntegerBounds all = boundsOf(storageOf(type)), some = boundsOf(type);
  Name result = x;
  auto bound = [&](StringRef opType, int64_t limit) {
    SmallVector<double> numbers;
    for (auto [scale, zero] :
         llvm::zip_equal(parameters.scales, parameters.zeroPoints))
      numbers.push_back(static_cast<double>(limit - zero) * scale);
    result = e.make(opType,
                    {result, list(expressed, numbers, "limit", behind(rank))});
  };
  if (some.least > all.least)
    bound("Max", some.least);
  if (some.greatest < all.greatest)
    bound("Min", some.greatest);
  return result;
}

Name Linear::wideQuantized(const Name &x, int64_t rank) const {
  Type f64 = Float64Type::get(type.getContext());
  Name value = e.cast(x, expressed, f64);
  value =
      e.make("Round", {e.make("Div", {value, list(f64, parameters.scales,
                                                  "scale", behind(rank))})});
  if (!isSymmetric())
    value = e.make("Add", {value, list(f64, toDoubles(parameters.zeroPoints),
                                       "zero_point", behind(rank))});
  value = e.make(
      "Clip",
      {value, e.scalar(f64, static_cast<double>(type.getStorageTypeMin())),
       e.scalar(f64, static_cast<double>(type.getStorageTypeMax()))});
  return e.cast(value, f64, storage());
}

Name Linear::centred(const Name &x, int64_t rank) const {
  return isSymmetric()
             ? x
             : e.make("Sub",
                      {x, list(storage(), toDoubles(parameters.zeroPoints),
                               "zero_point", behind(rank))});
}

template <typename Op>
static LogicalResult writeQuantize(NodeWriter &e, Op op) {
  std::optional<Linear> linear = Linear::of(e, elementOf(op));
  if (!linear)
    return failure();
  const int64_t rank = tensorOf(op).getRank();
  Name x = e.operand(op.getOperand());
  if (linear->isWide())
    return e.alias(linear->wideQuantized(x, rank));
  return e.result(
      "QuantizeLinear",
      {linear->withinRange(x, rank), linear->scale(), linear->zeroPoint()},
      linear->attributes());
}

static LogicalResult writeDequantize(NodeWriter &e,
                                     stablehlo::UniformDequantizeOp op) {
  std::optional<Linear> linear = Linear::of(e, elementOf(op.getOperand()));
  if (!linear)
    return failure();
  Name x = e.operand(op.getOperand());
  if (linear->isWide())
    return e.result(
        "DequantizeLinear",
        {linear->centred(x, tensorOf(op).getRank()), linear->scale()},
        linear->attributes());
  return e.result("DequantizeLinear", {x, linear->scale(), linear->zeroPoint()},
                  linear->attributes());
}

std::optional<LinearNames> linearNames(NodeWriter &e, Type quantized) {
  std::optional<Linear> linear = Linear::of(e, quantized);
  if (!linear)
    return std::nullopt;
  return LinearNames{linear->scale(), linear->zeroPoint()};
}

/// bitcast_convert between quantised and storage elements: no node, since
/// storage elements are written.
static LogicalResult writeBitcast(NodeWriter &e,
                                  stablehlo::BitcastConvertOp op) {
  auto stored = [](Type type) -> Type {
    auto quantized = dyn_cast<quant::QuantizedType>(type);
    return quantized ? Type(storageOf(quantized)) : type;
  };
  if (stored(elementOf(op.getOperand())) != stored(elementOf(op.getResult())))
    return e.unsupported("to another type");
  return e.alias(e.operand(op.getOperand()));
}

WriterRules quantizedRules() {
  static const WriterRule rules[] = {
      writerRule<writeQuantize<stablehlo::UniformQuantizeOp>>(),
      writerRule<writeQuantize<nn::QuantizeOp>>(),
      writerRule<writeDequantize>(), writerRule<writeBitcast>()};
  return rules;
}

} // namespace sinter::onnx
