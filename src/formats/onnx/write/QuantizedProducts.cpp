#include "formats/onnx/write/QuantizedProducts.h"

#include "formats/import/MatMul.h"
#include "formats/onnx/write/Quantized.h"
#include "graph/Constants.h"
#include "graph/Quantization.h"
#include "graph/QuantizedProducts.h"
#include "graph/Readers.h"
#include "graph/Repetition.h"
#include "graph/nn/NnOps.h"
#include "graph/stablehlo/StablehloOps.h"

using namespace mlir;

namespace sinter::onnx {

/// Which node a product is written as, with the integers of its bias and their
/// name, from here to where it is. A text that has these loses them.
static constexpr StringLiteral formAttribute = "onnx.product_form",
                               biasAttribute = "onnx.bias",
                               biasNameAttribute = "onnx.bias_name";

//===----------------------------------------------------------------------===//
// What a node takes
//===----------------------------------------------------------------------===//

static bool isByte(quant::QuantizedType type) {
  return type && type.getStorageTypeIntegralWidth() == 8 &&
         type.getExpressedType().isF32() &&
         boundsOf(type) == boundsOf(storageOf(type));
}

static bool isBytePerTensor(quant::QuantizedType type) {
  return isa_and_nonnull<quant::UniformQuantizedType>(type) && isByte(type);
}

/// The dimension of the right operand that are features of the result, as the
/// node has them; nothing where it is no such product.
static std::optional<int64_t> weightFeatures(Operation *product) {
  if (auto dot = dyn_cast<stablehlo::DotGeneralOp>(product))
    return formats::isMatMul(dot)
               ? std::optional(tensorOf(dot.getRhs()).getRank() - 1)
               : std::nullopt;
  auto convolution = dyn_cast<stablehlo::ConvolutionOp>(product);
  if (!convolution || convolution.getBatchGroupCount() != 1 ||
      convolution.getWindow().empty() ||
      !tensorOf(convolution.getRhs()).hasStaticShape())
    return std::nullopt;
  return convolution.getDimensionNumbers().getKernelOutputFeatureDimension();
}

static bool hasNodeOperands(Operation *product) {
  auto weight = quantizedOf(product->getOperand(1).getType());
  std::optional<int64_t> features = weightFeatures(product);
  auto perAxis = dyn_cast_or_null<quant::UniformQuantizedPerAxisType>(weight);
  return features && isByte(weight) &&
         isBytePerTensor(quantizedOf(product->getOperand(0).getType())) &&
         (!perAxis || perAxis.getQuantizedDimension() == *features);
}

/// The constant that \p value repeats, which has one number for each of
/// \p count elements of dimension \p features, or one for all.
static stablehlo::ConstantOp biasOf(Value value, int64_t features,
                                    int64_t count) {
  const auto [source, places] = Repetition::of(value);
  auto constant = source.getDefiningOp<stablehlo::ConstantOp>();
  if (!constant || !tensorOf(source).hasStaticShape())
    return {};
  for (auto [size, place] :
       llvm::zip_equal(tensorOf(source).getShape(), places))
    if (size != 1 && (place != features || size != count))
      return {};
  return constant;
}

static ElementsAttr integersOf(stablehlo::ConstantOp bias, int64_t count) {
  std::optional<Tensor> tensor = toTensor(bias.getValue());
  if (!tensor || tensor->size() == 0)
    return {};
  SmallVector<int32_t> numbers;
  for (int64_t i = 0; i < count; ++i)
    numbers.push_back(
        static_cast<int32_t>(tensor->toInteger(tensor->size() == 1 ? 0 : i)));
  return DenseElementsAttr::get(
      RankedTensorType::get({count}, IntegerType::get(bias.getContext(), 32)),
      ArrayRef<int32_t>(numbers));
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

/// The only operation that reads elements of \p op, if it is in the same block.
static Operation *soleReader(Operation *op) {
  OpOperand *reading = soleReading(op->getResult(0));
  Operation *reader = reading ? reading->getOwner() : nullptr;
  return reader && reader->getBlock() == op->getBlock() ? reader : nullptr;
}

/// Whether only \p readers use \p op, be it for its shape.
static bool isUsedOnlyBy(Operation *op, ArrayRef<Operation *> readers) {
  return llvm::all_of(op->getUsers(), [&](Operation *user) {
    return llvm::is_contained(readers, user);
  });
}

/// Makes \p product, a bias and the rescale behind it one operation, which
/// gives what the rescale does, where that can be.
static void takeRescale(Operation *product) {
  // In the order in which they go.
  SmallVector<Operation *> behind = {soleReader(product)};
  stablehlo::ConstantOp bias;
  ElementsAttr integers;
  auto convolution = dyn_cast<stablehlo::ConvolutionOp>(product);
  if (auto sum = dyn_cast_or_null<stablehlo::AddOp>(behind.front());
      sum && convolution) {
    const int64_t features =
        convolution.getDimensionNumbers().getOutputFeatureDimension();
    const int64_t count = tensorOf(sum).getDimSize(features);
    Value other =
        sum.getLhs() == product->getResult(0) ? sum.getRhs() : sum.getLhs();
    if (other.getType() != product->getResult(0).getType() ||
        other.getType() != sum.getType() || ShapedType::isDynamic(count))
      return;
    bias = biasOf(other, features, count);
    integers = bias ? integersOf(bias, count) : ElementsAttr();
    if (!integers)
      return;
    // The bias may be repeated in the shape of the product.
    if (other.hasOneUse() && other.getDefiningOp<nn::BroadcastLikeOp>())
      behind.push_back(other.getDefiningOp());
    behind.insert(behind.begin(), soleReader(sum));
  }
  Operation *last = behind.front();
  if (!isa_and_nonnull<stablehlo::UniformQuantizeOp, nn::QuantizeOp>(last) ||
      !isBytePerTensor(quantizedOf(last->getResult(0).getType())) ||
      !isUsedOnlyBy(product, behind) ||
      (bias && !isUsedOnlyBy(behind[1], behind)))
    return;
  OpBuilder builder(last);
  Operation *whole = builder.clone(*product);
  whole->getResult(0).setType(last->getResult(0).getType());
  whole->setLoc(last->getLoc());
  whole->setDiscardableAttr(formAttribute, builder.getUnitAttr());
  if (integers)
    whole->setDiscardableAttr(biasAttribute, integers);
  if (StringRef name = bias ? constantName(bias) : ""; !name.empty())
    whole->setDiscardableAttr(biasNameAttribute, builder.getStringAttr(name));
  last->getResult(0).replaceAllUsesWith(whole->getResult(0));
  for (Operation *op : behind)
    op->erase();
  product->erase();
}

/// Gives a weight the storage type that it came in.
static void keepStorage(stablehlo::ConstantOp op) {
  quant::QuantizedType before = storedAs(op);
  op->removeDiscardableAttr(storedAsAttribute);
  const bool isRead = llvm::all_of(op->getUsers(), [](Operation *user) {
    return isa<stablehlo::UniformDequantizeOp, stablehlo::ConvolutionOp,
               stablehlo::DotGeneralOp>(user);
  });
  if (!before || !isRead)
    return;
  const std::optional<Tensor> tensor = toTensor(op.getValue());
  if (!tensor)
    return;
  const int64_t shift =
      parametersOf(before)->zeroPoints.front() -
      parametersOf(quantizedOf(op.getType()))->zeroPoints.front();
  op.setValueAttr(toAttribute(shifted(*tensor, storageOf(before), shift),
                              constantName(op), op.getContext()));
  op.getResult().setType(tensorOf(op.getResult()).clone(before));
}

void keepProductForms(func::FuncOp function) {
  SmallVector<std::pair<Operation *, ProductForm>> products;
  SmallVector<stablehlo::ConstantOp> constants;
  function.walk([&](Operation *op) {
    for (StringRef name : {formAttribute, biasAttribute, biasNameAttribute})
      op->removeDiscardableAttr(name);
    if (auto form = productFormOf(op))
      products.push_back({op, *form});
    if (auto constant = dyn_cast<stablehlo::ConstantOp>(op);
        constant && op->hasAttr(storedAsAttribute))
      constants.push_back(constant);
  });
  llvm::for_each(constants, keepStorage);
  for (auto [op, form] : products) {
    if (!hasNodeOperands(op))
      continue;
    if (form == ProductForm::Rescaled)
      takeRescale(op);
    else
      op->setDiscardableAttr(formAttribute, UnitAttr::get(op->getContext()));
  }
}

bool keepsProductForm(Operation *op) {
  return op->getDiscardableAttr(formAttribute) != nullptr;
}

std::optional<QuantizedInputs> quantizedInputs(NodeWriter &e, Operation *op) {
  if (!keepsProductForm(op))
    return std::nullopt;
  quant::QuantizedType result = quantizedOf(op->getResult(0).getType());
  auto lhs = linearNames(e, elementOf(op->getOperand(0))),
       rhs = linearNames(e, elementOf(op->getOperand(1)));
  if (!lhs || !rhs)
    return std::nullopt;
  QuantizedInputs inputs;
  inputs.zero = lhs->zeroPoint;
  inputs.element = storageOf(result);
  if (result.getStorageTypeIntegralWidth() == 32) {
    inputs.others = {inputs.zero, rhs->zeroPoint};
    return inputs;
  }
  auto given = linearNames(e, result);
  if (!given)
    return std::nullopt;
  inputs.hasScales = true;
  inputs.between = {lhs->scale, inputs.zero};
  inputs.others = {rhs->scale, rhs->zeroPoint, given->scale, given->zeroPoint};
  if (auto bias = dyn_cast_or_null<ElementsAttr>(
          op->getDiscardableAttr(biasAttribute))) {
    auto name = op->getAttrOfType<StringAttr>(biasNameAttribute);
    inputs.others.push_back(
        e.constant(*toTensor(bias), name ? name.getValue() : "bias"));
  }
  return inputs;
}

} // namespace sinter::onnx
