// Every cell of {product} x {form of the weight} x {scales} x {signs} x
// {chain}: the values before and after agree, the chain is gone, and the weight
// is integers still.

#include "passes/QuantizedProduct.h"

#include "graph/Quantization.h"
#include "graph/QuantizedProducts.h"
#include "graph/Source.h"
#include "graph/stablehlo/StablehloOps.h"
#include "mlir/IR/Verifier.h"
#include "passes/FoldBatchNorm.h"
#include "passes/FoldCells.h"

#include "llvm/ADT/Twine.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::test;

namespace {

enum class WeightForm {
  /// uniform_dequantize of a constant, in a file that is written again.
  Dequantized,
  /// (convert(q) - z) * s, as a node of the file.
  Arithmetic,
  /// A product of floats and a quantised constant.
  Hybrid,
  /// A product of quantised tensors, in exact sums.
  Sums,
  /// The same and constants that are added to the sums.
  BiasedSums,
  /// A product of quantised tensors, rounded to a byte.
  Bytes
};
const std::pair<const char *, WeightForm> forms[] = {
    {"dequantized", WeightForm::Dequantized},
    {"arithmetic", WeightForm::Arithmetic},
    {"hybrid", WeightForm::Hybrid},
    {"sums", WeightForm::Sums},
    {"biased", WeightForm::BiasedSums},
    {"bytes", WeightForm::Bytes}};

enum class Signs { Positive, Mixed, Negative };
const std::pair<const char *, Signs> allSigns[] = {
    {"positive", Signs::Positive},
    {"mixed", Signs::Mixed},
    {"negative", Signs::Negative}};

bool isArithmetic(WeightForm form) { return form == WeightForm::Arithmetic; }

/// The product and its weight, in place of floats that it was of.
class Quantizer {
public:
  /// The channels are dimension \p channelDim of the result.
  Quantizer(const Model &model, WeightForm form, bool isPerChannel,
            int64_t channelDim)
      : form(form), isPerChannel(isPerChannel), channelDim(channelDim),
        module(model.module()), builder(model.context()) {
    module.walk([&](ChannelwiseAffineOpInterface op) { product = op; });
    for (unsigned i = 0; i < 2; ++i)
      if (auto constant = rootOf(product->getOperand(i)))
        weight = i;
  }

  void run() {
    module->setAttr(wholeSourcesAttribute,
                    builder.getArrayAttr({builder.getDenseI64ArrayAttr(7)}));
    module->setAttr(lastingSourcesAttribute, builder.getDenseI64ArrayAttr(7));
    stablehlo::ConstantOp root = rootOf(product->getOperand(weight));
    builder.setInsertionPointAfter(root);
    const QuantizationParameters parameters = chooseParameters(root);
    const Tensor integers = quantize(root, parameters);
    Value read = isArithmetic(form) ? arithmetic(root, integers, parameters)
                                    : typed(root, integers, parameters);
    root->getResult(0).replaceAllUsesWith(read);
    root->erase();
    if (form == WeightForm::Sums || form == WeightForm::BiasedSums ||
        form == WeightForm::Bytes)
      quantizeProduct();
  }

  static stablehlo::ConstantOp rootOf(Value value) {
    while (Operation *op = value.getDefiningOp()) {
      if (auto constant = dyn_cast<stablehlo::ConstantOp>(op))
        return constant;
      if (!isa<stablehlo::ReshapeOp, stablehlo::TransposeOp,
               stablehlo::ReverseOp>(op))
        break;
      value = op->getOperand(0);
    }
    return {};
  }

private:
  /// Along the dimension that the result's channels are, if any.
  QuantizationParameters chooseParameters(stablehlo::ConstantOp root) {
    const bool isDirect = product->getOperand(weight) == root->getResult(0);
    QuantizationParameters parameters{{0.01}, {zeroOf(0)}, -1};
    if (!isPerChannel || !isDirect)
      return parameters;
    const auto folds =
        resultFolds(cast<ChannelwiseAffineOpInterface>(product), weight);
    const int64_t axis = llvm::find_if(folds, [&](const ChannelFold &fold) {
                           return fold.activationDim == channelDim;
                         })->weightDim;
    const int64_t size =
        cast<RankedTensorType>(root.getType()).getDimSize(axis);
    parameters = {{}, {}, axis};
    for (int64_t i = 0; i < size; ++i) {
      parameters.scales.push_back(0.008 + 0.002 * i);
      parameters.zeroPoints.push_back(zeroOf(i));
    }
    return parameters;
  }
  /// Products of quantised tensors have weights without zero points.
  int64_t zeroOf(int64_t i) const {
    return form == WeightForm::Dequantized || form == WeightForm::Arithmetic
               ? i % 3 - 1
               : 0;
  }

  Tensor quantize(stablehlo::ConstantOp root,
                  const QuantizationParameters &parameters) {
    const Tensor numbers = *constantTensor(root);
    int64_t stride = 1;
    for (int64_t i = numbers.rank() - 1; i > parameters.axis; --i)
      stride *= parameters.axis < 0 ? 1 : numbers.dim(i);
    Tensor integers(ElementType::I8, numbers.shape());
    for (int64_t i = 0; i < numbers.size(); ++i) {
      const size_t place = i / stride % parameters.scales.size();
      integers.set<int8_t>(
          i, static_cast<int8_t>(std::clamp(
                 std::nearbyint(numbers.toDouble(i) / parameters.scales[place]),
                 -100.0, 100.0)));
    }
    return integers;
  }

  quant::QuantizedType element(unsigned bits,
                               const QuantizationParameters &parameters) {
    return quantizedElement(builder.getIntegerType(bits), builder.getF32Type(),
                            parameters);
  }

  Value typed(stablehlo::ConstantOp root, const Tensor &integers,
              const QuantizationParameters &parameters) {
    Value constant = builder.create<stablehlo::ConstantOp>(
        root.getLoc(),
        RankedTensorType::get(integers.shape(), element(8, parameters)),
        toAttribute(integers, "k", builder.getContext()));
    if (form != WeightForm::Dequantized)
      return constant;
    return builder.create<stablehlo::UniformDequantizeOp>(
        root.getLoc(), root.getType(), constant);
  }

  Value arithmetic(stablehlo::ConstantOp root, const Tensor &integers,
                   const QuantizationParameters &parameters) {
    auto type = cast<RankedTensorType>(root.getType());
    const auto node = [&](Operation *op) {
      setSource(op, 7);
      return op->getResult(0);
    };
    const int64_t count = parameters.scales.size();
    const Shape shape = parameters.axis < 0 ? Shape{} : Shape{count};
    SmallVector<double> zeros(parameters.zeroPoints.begin(),
                              parameters.zeroPoints.end());
    const auto spread = [&](ArrayRef<double> numbers) {
      Value constant = makeConstant(
          builder, root.getLoc(),
          tensorOfDoubles(ElementType::F32, shape, numbers), "spread");
      SmallVector<int64_t> dimensions;
      if (parameters.axis >= 0)
        dimensions.push_back(parameters.axis);
      return node(builder.create<stablehlo::BroadcastInDimOp>(
          root.getLoc(), type, constant,
          builder.getDenseI64ArrayAttr(dimensions)));
    };
    Value stored = makeConstant(builder, root.getLoc(), integers, "k");
    Value wide =
        node(builder.create<stablehlo::ConvertOp>(root.getLoc(), type, stored));
    Value centred = node(builder.create<stablehlo::SubtractOp>(
        root.getLoc(), type, wide, spread(zeros)));
    return node(builder.create<stablehlo::MulOp>(root.getLoc(), type, centred,
                                                 spread(parameters.scales)));
  }

  void quantizeProduct() {
    builder.setInsertionPoint(product);
    const Location location = product->getLoc();
    Value x = product->getOperand(1 - weight);
    Value xq = builder.create<stablehlo::UniformQuantizeOp>(
        location,
        cast<RankedTensorType>(x.getType())
            .clone(element(8, {{0.02}, {weight == 0 ? 0 : 3}, -1})),
        x);
    product->setOperand(1 - weight, xq);
    Value result = product->getResult(0);
    auto type = cast<RankedTensorType>(result.getType());
    const ProductScales sums = *productScales(
        product, llvm::map_to_vector(product->getOperandTypes(), quantizedOf));
    const bool isBytes = form == WeightForm::Bytes;
    const QuantizationParameters parameters =
        isBytes ? QuantizationParameters{{0.05}, {-5}, -1}
                : QuantizationParameters{
                      sums.factors,
                      SmallVector<int64_t>(sums.factors.size(), 0), sums.axis};
    auto quantized = type.clone(element(isBytes ? 8 : 32, parameters));
    result.setType(quantized);
    builder.setInsertionPointAfter(product);
    Value last = result;
    if (form == WeightForm::BiasedSums)
      last = builder.create<stablehlo::AddOp>(location, quantized, result,
                                              bias(quantized, parameters));
    Value floats =
        builder.create<stablehlo::UniformDequantizeOp>(location, type, last);
    result.replaceUsesWithIf(floats, [&](OpOperand &use) {
      return use.getOwner() != floats.getDefiningOp() &&
             use.getOwner() != last.getDefiningOp();
    });
  }

  /// One number a channel, repeated.
  Value bias(RankedTensorType type, QuantizationParameters parameters) {
    const int64_t size = type.getDimSize(channelDim);
    Tensor integers(ElementType::I32, {size});
    for (int64_t i = 0; i < size; ++i)
      integers.set<int32_t>(i, static_cast<int32_t>(700 * (i % 5) - 1300));
    if (parameters.axis >= 0)
      parameters.axis = 0;
    Value constant = builder.create<stablehlo::ConstantOp>(
        product->getLoc(),
        RankedTensorType::get({size}, element(32, parameters)),
        toAttribute(integers, "b", builder.getContext()));
    return builder.create<stablehlo::BroadcastInDimOp>(
        product->getLoc(), type, constant,
        builder.getDenseI64ArrayAttr({channelDim}));
  }

  WeightForm form;
  bool isPerChannel;
  int64_t channelDim;
  ModuleOp module;
  OpBuilder builder;
  Operation *product = nullptr;
  unsigned weight = 0;
};

/// Gives the numbers %a, which all chains but two scale by, other signs.
void setSigns(const Model &model, Signs signs) {
  model.module().walk([&](stablehlo::ConstantOp op) {
    auto name = op->getAttrOfType<StringAttr>(nameAttribute);
    if (!name || name.getValue() != "w2")
      return;
    Tensor numbers = *constantTensor(op);
    Tensor changed(numbers.type(), numbers.shape());
    for (int64_t i = 0; i < numbers.size(); ++i) {
      const double number = 0.25 + std::abs(numbers.toDouble(i));
      const bool isNegative =
          signs == Signs::Negative || (signs == Signs::Mixed && i % 2);
      changed.set<float>(i, static_cast<float>(isNegative ? -number : number));
    }
    OpBuilder builder(op);
    op->getResult(0).replaceAllUsesWith(
        makeConstant(builder, op.getLoc(), changed, "w2"));
    op.erase();
  });
}

bool hasFloatWeight(const Model &model) {
  bool has = false;
  model.module().walk([&](ChannelwiseAffineOpInterface op) {
    for (Value operand : op->getOperands())
      if (auto constant = Quantizer::rootOf(operand))
        has |= isa<FloatType>(
            cast<RankedTensorType>(constant.getType()).getElementType());
  });
  return has;
}

/// Few elements differ, and those by one step at most.
void expectWithin(const Tensor &before, const Tensor &after, double step) {
  int64_t others = 0;
  for (int64_t i = 0; i < before.size(); ++i) {
    const double off = std::abs(before.toDouble(i) - after.toDouble(i));
    EXPECT_LE(off, step) << i;
    others += off > 1e-5 * (1 + std::abs(before.toDouble(i)));
  }
  EXPECT_LE(others, 1 + before.size() / 10);
}

using ProductCell = std::tuple<ProductCase, std::pair<const char *, WeightForm>,
                               bool, std::pair<const char *, Signs>, ChainCase>;
class QuantizedProductMatrix : public testing::TestWithParam<ProductCell> {};

TEST_P(QuantizedProductMatrix, AgreesAndIsFolded) {
  const auto &[product, form, isPerChannel, signs, chain] = GetParam();
  const std::string name = product.name;
  const bool isTyped = form.second != WeightForm::Dequantized &&
                       form.second != WeightForm::Arithmetic;
  // Quantised constants are not rearranged between, and StableHLO has scales
  // for each channel, and floats beside, on the right only.
  if ((name == "grouped_transposed" && isTyped) ||
      (name == "matmul_weight_left" && isTyped &&
       (isPerChannel || form.second == WeightForm::Hybrid)))
    return;
  const Model model = afterModel(product, chain, "f32");
  setSigns(model, signs.second);
  Quantizer(model, form.second, isPerChannel, product.outDim).run();
  ASSERT_TRUE(succeeded(verify(model.module()))) << textOf(model);
  const Model folded = model.clone();
  applyPass(folded,
            createFoldBatchNorm(*PatternRun::create({}, {}, {"requantize"})));
  ASSERT_TRUE(succeeded(verify(folded.module()))) << textOf(folded);
  const std::vector<Tensor> before = run(model), after = run(folded);
  if (form.second == WeightForm::Bytes)
    expectWithin(before.front(), after.front(), 0.05 * 2);
  else
    expectClose(before, after, 1e-5);
  EXPECT_FALSE(hasFloatWeight(folded)) << textOf(folded);
  const bool differs = std::string(chain.name) != "negate_splat";
  const bool hasAxisOnLeft = isTyped && name == "matmul_weight_left";
  if (name == "grouped_transposed" || (hasAxisOnLeft && differs))
    return;
  EXPECT_EQ(countOps(folded, "stablehlo.batch_norm_inference"), 0)
      << textOf(folded);
  int own = 0;
  folded.module().walk([&](Operation *op) {
    if (!sourceOf(op))
      own += isa<stablehlo::MulOp, stablehlo::DivOp, stablehlo::NegOp,
                 stablehlo::SubtractOp>(op);
  });
  EXPECT_EQ(own, 0) << textOf(folded);
}

/// In front of the product: one factor for all goes into any scales, those of
/// channels into one scale of all or into those of a depthwise product.
TEST_P(QuantizedProductMatrix, AgreesInFront) {
  const auto &[product, form, isPerChannel, signs, chain] = GetParam();
  const std::string name = product.name, what = chain.name;
  if ((form.second != WeightForm::Dequantized &&
       form.second != WeightForm::Arithmetic &&
       form.second != WeightForm::Hybrid) ||
      (form.second == WeightForm::Hybrid &&
       (name == "grouped_transposed" || name == "matmul_weight_left")))
    return;
  const Model model = beforeModel(product, chain, "f32");
  setSigns(model, signs.second);
  Quantizer(model, form.second, isPerChannel, product.outDim).run();
  ASSERT_TRUE(succeeded(verify(model.module()))) << textOf(model);
  const Model folded = model.clone();
  applyPass(folded, createFoldBatchNorm());
  ASSERT_TRUE(succeeded(verify(folded.module()))) << textOf(folded);
  expectClose(run(model), run(folded), 1e-5);
  EXPECT_FALSE(hasFloatWeight(folded)) << textOf(folded);
  const bool isOfTheScales =
      what == "negate_splat" || (what == "scale" && name == "depthwise");
  if (!isOfTheScales || name == "grouped_transposed")
    return;
  int own = 0;
  folded.module().walk([&](Operation *op) {
    if (!sourceOf(op))
      own += isa<stablehlo::MulOp, stablehlo::NegOp>(op);
  });
  EXPECT_EQ(own, 0) << textOf(folded);
}

/// A byte may become another where a factor moves its middle.
TEST(QuantizedProduct, BytesStayUnlessAllowed) {
  const Model model = afterModel(products[0], chains[0], "f32");
  Quantizer(model, WeightForm::Bytes, true, products[0].outDim).run();
  const std::string before = textOf(model);
  applyPass(model, createFoldBatchNorm());
  EXPECT_EQ(before, textOf(model));
}

std::string productCellName(const testing::TestParamInfo<ProductCell> &info) {
  const auto &[product, form, isPerChannel, signs, chain] = info.param;
  return std::string(product.name) + "_" + form.first +
         (isPerChannel ? "_channels_" : "_tensor_") + signs.first + "_" +
         chain.name;
}

/// A batch norm, one factor for all that is negative, and one a channel.
std::vector<ChainCase> someChains() {
  std::vector<ChainCase> some;
  for (const ChainCase &chain : chains)
    if (llvm::is_contained({"batch_norm", "scale", "negate_splat"},
                           llvm::StringRef(chain.name)))
      some.push_back(chain);
  return some;
}

/// One of each kind: strides and orders make no difference to scales.
std::vector<ProductCase> someProducts() {
  std::vector<ProductCase> some;
  for (const ProductCase &product : products)
    if (!llvm::is_contained({"nchw_valid", "square", "mixed_order", "strided",
                             "dilated", "conv1d", "conv3d", "matmul_3d"},
                            llvm::StringRef(product.name)))
      some.push_back(product);
  return some;
}

INSTANTIATE_TEST_SUITE_P(Cells, QuantizedProductMatrix,
                         testing::Combine(testing::ValuesIn(someProducts()),
                                          testing::ValuesIn(forms),
                                          testing::Bool(),
                                          testing::ValuesIn(allSigns),
                                          testing::ValuesIn(someChains())),
                         productCellName);

} // namespace
