// Every cell of {product} x {chain} x {after, before} x {element type} again
// with sizes of the operand unknown (the first, all but the first, or all,
// without the channels): as much is folded as with static sizes, and the graph
// can be written to each format and computes the same, whatever the sizes are.
//
// Covers: graph Broadcast SizeSources UnitDimensions
// Covers: passes ChannelAffine FoldedNames ScaledNumbers WeightedProduct

#include "Sweep.h"
#include "TemporaryFolder.h"
#include "formats/onnx/OnnxReader.h"
#include "formats/onnx/WriteOnnx.h"
#include "formats/onnx/file/OnnxFile.h"
#include "formats/onnx/file/onnx.pb.h"
#include "formats/stablehlo/StablehloReader.h"
#include "formats/stablehlo/StablehloWriter.h"
#include "graph/Broadcast.h"
#include "graph/nn/NnOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "passes/FoldCells.h"
#include "passes/Pipelines.h"
#include <set>

using namespace mlir;
using namespace sinter;
using namespace sinter::test;

namespace {

/// How what is repeated finds its shape.
enum class Repeated {
  Beside, ///< nn.broadcast_like, as a reader of ONNX makes it.
  BySizes ///< dynamic_broadcast_in_dim, as exporters of StableHLO make it.
};

/// The sizes of \p value, as an operand of dynamic_broadcast_in_dim.
Value sizesOf(Value value, OpBuilder &builder) {
  Location location = value.getLoc();
  SmallVector<Value> sizes;
  auto one = RankedTensorType::get({1}, builder.getI32Type());
  for (auto [i, size] : llvm::enumerate(tensorOf(value).getShape()))
    if (ShapedType::isDynamic(size)) {
      Value scalar = builder.create<stablehlo::GetDimensionSizeOp>(
          location, value, static_cast<uint64_t>(i));
      sizes.push_back(
          builder.create<stablehlo::ReshapeOp>(location, one, scalar));
    } else {
      Tensor known(ElementType::I32, {1});
      known.set<int32_t>(0, static_cast<int32_t>(size));
      sizes.push_back(makeConstant(builder, location, known));
    }
  return builder.create<stablehlo::ConcatenateOp>(location, sizes, 0);
}

/// What \p op repeats to known sizes, to those of \p like.
Value repeated(Operation *op, Value like, Repeated how, OpBuilder &builder) {
  auto type = tensorOf(like).clone(tensorOf(op->getResult(0)).getElementType());
  Value operand = op->getResult(0);
  SmallVector<int64_t> dimensions;
  if (auto broadcast = dyn_cast<stablehlo::BroadcastInDimOp>(op)) {
    operand = broadcast.getOperand();
    dimensions = llvm::to_vector(broadcast.getBroadcastDimensions());
  } else {
    auto constant = cast<stablehlo::ConstantOp>(op);
    operand = builder.create<stablehlo::ConstantOp>(
        op->getLoc(), cast<DenseElementsAttr>(constant.getValue())
                          .resizeSplat(type.clone(ArrayRef<int64_t>())));
  }
  if (how == Repeated::Beside)
    return broadcastTo(builder, op->getLoc(), type, operand, dimensions, like);
  return builder.create<stablehlo::DynamicBroadcastInDimOp>(
      op->getLoc(), type, operand, sizesOf(like, builder),
      builder.getDenseI64ArrayAttr(dimensions), DenseI64ArrayAttr(),
      DenseI64ArrayAttr());
}

bool isDynamic(Value value) { return !tensorOf(value).hasStaticShape(); }

/// The type of a result of \p op that follows from its operands'; of what is
/// not inferred, the channels are known.
Type dynamicType(Operation *op, int outDim) {
  auto type = tensorOf(op->getResult(0));
  SmallVector<Type> types;
  if (auto inferring = dyn_cast<InferTypeOpInterface>(op)) {
    EXPECT_TRUE(succeeded(inferring.inferReturnTypes(
        op->getContext(), op->getLoc(), op->getOperands(),
        op->getRawDictionaryAttrs(), op->getPropertiesStorage(),
        op->getRegions(), types)));
    return types.front();
  }
  SmallVector<int64_t> shape(type.getRank(), ShapedType::kDynamic);
  shape[outDim] = type.getDimSize(outDim);
  return type.clone(shape);
}

/// Which sizes of the argument are unknown.
enum class Unknown { First, Others, All };

/// Whether dimension \p dimension of the argument is one of those.
bool isUnknown(Unknown which, int64_t dimension) {
  return which == Unknown::All || (dimension == 0) == (which == Unknown::First);
}

/// Makes sizes of the argument unknown, except that of \p channelDim.
void open(const Model &model, int channelDim, int outDim, Repeated how,
          Unknown which) {
  func::FuncOp function = model.entry();
  Block &block = function.front();
  BlockArgument x = block.getArgument(0);
  SmallVector<int64_t> shape(tensorOf(x).getShape());
  for (auto [i, size] : llvm::enumerate(shape))
    if (static_cast<int>(i) != channelDim && isUnknown(which, i))
      size = ShapedType::kDynamic;
  x.setType(tensorOf(x).clone(shape));
  for (Operation &op : llvm::make_early_inc_range(block.without_terminator())) {
    auto like = llvm::find_if(op.getOperands(), isDynamic);
    if (like == op.getOperands().end())
      continue;
    OpBuilder builder(&op);
    if (op.hasTrait<OpTrait::Elementwise>())
      for (OpOperand &operand : op.getOpOperands())
        if (!isDynamic(operand.get()))
          operand.set(
              repeated(operand.get().getDefiningOp(), *like, how, builder));
    op.getResult(0).setType(dynamicType(&op, outDim));
  }
  function.setFunctionType(
      FunctionType::get(model.context(), block.getArgumentTypes(),
                        block.getTerminator()->getOperandTypes()));
  ASSERT_TRUE(succeeded(mlir::verify(model.module()))) << textOf(model);
}

/// Operations that compute floats, but for constants: what finds out sizes does
/// not count.
int countFloatComputations(const Model &model) {
  int count = 0;
  for (Operation &op : model.entry().front().without_terminator())
    count += !isa<stablehlo::ConstantOp>(op) &&
             isa<FloatType>(tensorOf(op.getResult(0)).getElementType());
  return count;
}

std::vector<Tensor> runWith(const Model &model, const Tensor &x) {
  auto outputs = interpret(model.entry(), {x});
  EXPECT_TRUE(outputs) << (outputs ? "" : outputs.error().message());
  return outputs ? std::move(*outputs) : std::vector<Tensor>();
}

/// The number of nodes in the ONNX file at \p path, but for those that find out
/// sizes.
int nodesIn(const std::string &path) {
  auto file = onnx::OnnxFile::open(path);
  EXPECT_TRUE(file) << (file ? "" : file.error().message());
  if (!file)
    return 0;
  const auto &graph = file->model().graph();
  std::set<std::string> sizes, constants;
  for (const auto &each : graph.initializer())
    constants.insert(each.name());
  int count = 0;
  for (const auto &node : graph.node()) {
    bool isOfSizes = node.op_type() == "Shape";
    if (!isOfSizes) {
      isOfSizes = llvm::any_of(node.input(), [&](const std::string &input) {
        return sizes.count(input) != 0;
      });
      isOfSizes &= llvm::all_of(node.input(), [&](const std::string &input) {
        return sizes.count(input) || constants.count(input);
      });
    }
    if (isOfSizes)
      sizes.insert(node.output().begin(), node.output().end());
    count += !isOfSizes;
  }
  return count;
}

/// A cell with static sizes and the same one with unknown ones, simplified.
struct Pair {
  Model fixed, open;
  /// Inputs of two sizes, and what the open graph gave before.
  std::vector<Tensor> inputs;
  std::vector<std::vector<Tensor>> expected;
};

Pair pairOf(Model model, int channelDim, int outDim, Repeated how,
            Unknown which, int batching) {
  Pair pair;
  auto type = cast<RankedTensorType>(model.entry().getArgumentTypes()[0]);
  pair.open = model.clone();
  open(pair.open, channelDim, outDim, how, which);
  SmallVector<int64_t> larger(type.getShape());
  for (auto [i, size] : llvm::enumerate(larger))
    if (static_cast<int>(i) != channelDim && static_cast<int>(i) >= batching &&
        isUnknown(which, i))
      size *= 2;
  for (RankedTensorType each : {type, type.clone(larger)}) {
    pair.inputs.push_back(randomTensor(each, 1));
    pair.expected.push_back(runWith(pair.open, pair.inputs.back()));
  }
  EXPECT_TRUE(simplify(model));
  EXPECT_TRUE(simplify(pair.open));
  pair.fixed = std::move(model);
  return pair;
}

void expectSameResults(const Pair &pair, const Model &model, double tolerance) {
  for (auto [input, expected] : llvm::zip_equal(pair.inputs, pair.expected))
    expectClose(expected, runWith(model, input), tolerance);
}

void expectWritten(const Pair &pair, double tolerance) {
  TemporaryFolder folder;
  ASSERT_TRUE(writeOnnx(pair.fixed, folder.file("fixed.onnx")));
  auto done = writeOnnx(pair.open, folder.file("open.onnx"));
  ASSERT_TRUE(done) << done.error().message() << textOf(pair.open);
  EXPECT_LE(nodesIn(folder.file("open.onnx")),
            nodesIn(folder.file("fixed.onnx")))
      << textOf(pair.open);
  auto fromOnnx = readOnnx(folder.file("open.onnx"));
  ASSERT_TRUE(fromOnnx) << fromOnnx.error().message();
  expectSameResults(pair, *fromOnnx, tolerance);

  auto text = stablehloBytes(pair.open, StablehloForm::Text);
  ASSERT_TRUE(text) << text.error().message();
  EXPECT_EQ(text->find("nn."), std::string::npos) << *text;
  auto fromText = parseStablehlo(*text, "open.mlir");
  ASSERT_TRUE(fromText) << fromText.error().message() << *text;
  EXPECT_LE(countFloatComputations(*fromText),
            countFloatComputations(pair.fixed))
      << *text;
  expectSameResults(pair, *fromText, tolerance);
}

void check(Model model, int channelDim, int outDim, Repeated how, Unknown which,
           int batching, double tolerance) {
  Pair pair =
      pairOf(std::move(model), channelDim, outDim, how, which, batching);
  EXPECT_EQ(countFloatComputations(pair.open),
            countFloatComputations(pair.fixed))
      << textOf(pair.fixed) << textOf(pair.open);
  expectSameResults(pair, pair.open, tolerance);
  expectWritten(pair, tolerance);
}

struct DynamicType {
  const char *name;
  double tolerance;
};

using DynamicCell =
    std::tuple<ProductCase, ChainCase, Repeated, Unknown, DynamicType>;
class FoldDynamicSizes : public testing::TestWithParam<DynamicCell> {};

TEST_P(FoldDynamicSizes, After) {
  static Sweep sweep;
  if (!sweep.takesNext())
    return;
  auto [product, chain, how, which, type] = GetParam();
  check(afterModel(product, chain, type.name), product.inDim, product.outDim,
        how, which, product.batching, type.tolerance);
}

TEST_P(FoldDynamicSizes, Before) {
  static Sweep sweep;
  if (!sweep.takesNext())
    return;
  auto [product, chain, how, which, type] = GetParam();
  check(beforeModel(product, chain, type.name), product.inDim, product.outDim,
        how, which, product.batching, type.tolerance);
}

std::string dynamicCellName(const testing::TestParamInfo<DynamicCell> &info) {
  static constexpr const char *sizes[] = {"_first_", "_others_", "_all_"};
  const auto &[product, chain, how, which, type] = info.param;
  return std::string(product.name) + "_" + chain.name +
         (how == Repeated::Beside ? "_beside" : "_bysizes") +
         sizes[static_cast<int>(which)] + type.name;
}

constexpr DynamicType dynamicTypes[] = {
    {"f32", 2e-5}, {"f64", 1e-12}, {"f16", 2e-2}, {"bf16", 1e-1}};

INSTANTIATE_TEST_SUITE_P(
    Cells, FoldDynamicSizes,
    testing::Combine(testing::ValuesIn(products), testing::ValuesIn(chains),
                     testing::Values(Repeated::Beside, Repeated::BySizes),
                     testing::Values(Unknown::All),
                     testing::ValuesIn(dynamicTypes)),
    dynamicCellName);

INSTANTIATE_TEST_SUITE_P(
    Sizes, FoldDynamicSizes,
    testing::Combine(testing::ValuesIn(products), testing::ValuesIn(chains),
                     testing::Values(Repeated::Beside, Repeated::BySizes),
                     testing::Values(Unknown::First, Unknown::Others),
                     testing::Values(dynamicTypes[0])),
    dynamicCellName);

} // namespace
