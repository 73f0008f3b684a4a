#include "formats/onnx/write/QuantizedProducts.h"

#include "formats/import/MatMul.h"
#include "formats/onnx/write/Quantized.h"
#include "graph/Constants.h"
#include "graph/ElementUses.h"
#include "graph/Quantization.h"
#include "graph/QuantizedProducts.h"
#include "graph/Repetition.h"
#include "graph/nn/NnOps.h"
#include "graph/stablehlo/StablehloOps.h"

using namespace mlir;

namespace sinter::onnx {

/// The attributes from here to the rule that writes a matmul or convolution:
/// the form, and the integer bias with its name. Any in the input are removed.
static constexpr StringLiteral formAttribute = "onnx.product_form",
                               biasAttribute = "onnx.bias",
                               biasNameAttribute = "onnx.bias_name";

//===----------------------------------------------------------------------===//
// Inputs of a node
//===----------------------------------------------------------------------===//

static bool isByte(quant::QuantizedType type) {
  return type && type.getStorageTypeIntegralWidth() == 8 &&
         type.getExpressedType().isF32() &&
         boundsOf(type) == boundsOf(storageOf(type));
}

static bool isBytePerTensor(quant::QuantizedType type) {
  return isa_and_nonnull<quant::UniformQuantizedType>(type) && isByte(type);
}

/// The dimension of the right operand with the features of the result, in the
/// node's layout; nothing if the node cannot express the op.
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

/// The constant whose broadcast \p value is, with one element for each of the
/// \p count features along dimension \p features, or one for all.
static stablehlo::ConstantOp biasOf(Value value, int64_t features,
                                    int64_t count) {
  const auto [source, dims] = Repetition::of(value);
  auto constant = source.getDefiningOp<stablehlo::ConstantOp>();
  if (!constant || !tensorOf(source).hasStaticShape())
    return {};
  for (auto [size, place] : llvm::zip_equal(tensorOf(source).getShape(), dims))
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

/// The only operation that uses elements of \p op, if it is in the same block.
static Operation *soleUser(Operation *op) {
  OpOperand *reading = soleElementUse(op->getResult(0));
  Operation *reader = reading ? reading->getOwner() : nullptr;
  return reader && reader->getBlock() == op->getBlock() ? reader : nullptr;
}

/// Whether only \p users use \p op, for its elements or its shape.
static bool isUsedOnlyBy(Operation *op, ArrayRef<Operation *> users) {
  return llvm::all_of(op->getUsers(), [&](Operation *user) {
    return llvm::is_contained(users, user);
  });
}

/// Merges \p product, a bias and the rescale after it to one operation with the
/// rescale's result, if possible.
static void fuseRescale(Operation *product) {
  // In the order in which they are erased.
  SmallVector<Operation *> behind = {soleUser(product)};
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
    // The bias may be broadcast to the shape of the product.
    if (other.hasOneUse() && other.getDefiningOp<nn::BroadcastLikeOp>())
      behind.push_back(other.getDefiningOp());
    behind.insert(behind.begin(), soleUser(sum));
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

/// Restores a weight's original storage type.
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
      fuseRescale(op);
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
