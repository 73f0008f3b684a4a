// Covers: formats/import Unsupported WriterRule
// Covers: formats/onnx/write Activations ControlFlow Elementwise NodeWriter
// Covers: formats/onnx/write GraphWriter Initializers Movement Normalization
// Covers: formats/onnx/write Plan Pooling Products Recurrence Reductions
// Covers: formats/onnx/write Signature WriterRules

#include "formats/onnx/WriteOnnx.h"
#include "formats/onnx/NodeGroups.h"

#include "formats/onnx/OnnxReader.h"
#include "formats/onnx/file/OnnxFile.h"
#include "graph/Constants.h"
#include "graph/nn/NnOps.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

#include "formats/onnx/TestModel.h"

using namespace sinter;
using namespace sinter::onnx;
using namespace sinter::onnx::test;

namespace {

Model parse(const std::string &text) {
  auto context = makeContext();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, context.get());
  EXPECT_TRUE(module);
  return Model(context, std::move(module));
}

/// The model as the file has it, checked when it was opened.
ModelProto written(const Model &model) {
  TemporaryFolder folder;
  Result<void> done = writeOnnx(model, folder / "model.onnx");
  EXPECT_EQ(errorOf(done), "");
  if (!done)
    return {};
  Result<OnnxFile> file = OnnxFile::open(folder / "model.onnx");
  EXPECT_EQ(errorOf(file), "");
  return file ? file->model() : ModelProto();
}

/// "Conv Relu": the types of the graph's nodes.
std::string opTypes(const GraphProto &graph) {
  std::string text;
  for (const NodeProto &node : graph.node())
    text += (text.empty() ? "" : " ") + node.op_type();
  return text;
}
std::string opTypes(const std::string &text) {
  return opTypes(written(parse(text)).graph());
}

void setType(ValueInfoProto &info, const std::string &name,
             std::initializer_list<int64_t> shape) {
  info.set_name(name);
  auto &type = *info.mutable_type()->mutable_tensor_type();
  type.set_elem_type(TensorProto::FLOAT);
  for (int64_t size : shape) {
    auto &dim = *type.mutable_shape()->add_dim();
    if (size < 0)
      dim.set_dim_param("N");
    else
      dim.set_dim_value(size);
  }
}

/// y = HardSwish(Add(x, w)) for x of [N, 4].
ModelProto hardSwishModel(int64_t opset = 17) {
  ModelProto model = emptyModel();
  model.mutable_opset_import(0)->set_version(opset);
  GraphProto &graph = *model.mutable_graph();
  setType(*graph.add_input(), "x", {-1, 4});
  setType(*graph.add_output(), "y", {-1, 4});
  *graph.add_initializer() = floatTensor("w", 4);
  addNode(graph, "Add", {"x", "w"}, {"sum"}).set_name("add");
  addNode(graph, "HardSwish", {"sum"}, {"y"}).set_name("act");
  return model;
}

Result<Model> readBack(const ModelProto &proto) {
  Result<OnnxFile> file = load(proto);
  EXPECT_EQ(errorOf(file), "");
  return readOnnx(*file);
}

TEST(WriteOnnx, GivesUntouchedNodesBack) {
  Result<Model> model = readBack(hardSwishModel());
  ASSERT_EQ(errorOf(model), "");
  ModelProto proto = written(*model);
  const GraphProto &graph = proto.graph();
  EXPECT_EQ(opTypes(graph), "Add HardSwish");
  EXPECT_EQ(graph.node(0).name(), "add");
  EXPECT_EQ(graph.node(0).input(0), "x");
  EXPECT_EQ(graph.node(0).input(1), "w");
  EXPECT_EQ(graph.node(0).output(0), "sum");
  EXPECT_EQ(graph.node(1).name(), "act");
  EXPECT_EQ(graph.node(1).output(0), "y");
  EXPECT_EQ(graph.name(), "g");
  EXPECT_EQ(proto.opset_import(0).version(), 17);
  EXPECT_EQ(graph.initializer(0).name(), "w");
}

TEST(WriteOnnx, KeepsABroadcastThatNoOtherOperandStandsFor) {
  // The second operand has its shape from the first, which has it from %f: both
  // sources alone would give a result of one dimension less.
  const std::string text = R"(
func.func @main(%x: tensor<?x4xf32>, %f: tensor<2x?x4xf32>) -> tensor<2x?x4xf32> {
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %a = nn.broadcast_like %x, %f : (tensor<?x4xf32>, tensor<2x?x4xf32>) -> tensor<2x?x4xf32>
  %b = nn.broadcast_like %one, %a : (tensor<f32>, tensor<2x?x4xf32>) -> tensor<2x?x4xf32>
  %y = stablehlo.add %a, %b : tensor<2x?x4xf32>
  return %y : tensor<2x?x4xf32>
})";
  EXPECT_NE(opTypes(text), "Add");
}

TEST(WriteOnnx, KeepsSymbols) {
  Result<Model> model = readBack(hardSwishModel());
  ASSERT_EQ(errorOf(model), "");
  ModelProto proto = written(*model);
  for (const ValueInfoProto *info :
       {&proto.graph().input(0), &proto.graph().output(0)}) {
    const auto &shape = info->type().tensor_type().shape();
    ASSERT_EQ(shape.dim_size(), 2);
    EXPECT_EQ(shape.dim(0).dim_param(), "N");
    EXPECT_EQ(shape.dim(1).dim_value(), 4);
  }
}

TEST(WriteOnnx, RoundTripGivesTheSameGraph) {
  Result<Model> first = readBack(hardSwishModel());
  ASSERT_EQ(errorOf(first), "");
  Result<Model> second = readBack(written(*first));
  ASSERT_EQ(errorOf(second), "");
  auto text = [](Model &model) {
    std::string result;
    llvm::raw_string_ostream os(result);
    model.module().print(os);
    return os.str();
  };
  EXPECT_EQ(text(*first), text(*second));
}

TEST(WriteOnnx, WritesByRulesWhatWasChanged) {
  Result<Model> model = readBack(hardSwishModel());
  ASSERT_EQ(errorOf(model), "");
  // The activation becomes another one.
  model->entry().walk([](nn::HardSwishOp op) {
    mlir::OpBuilder builder(op);
    auto relu =
        builder.create<nn::ReluOp>(op.getLoc(), op.getType(), op.getOperand());
    op.replaceAllUsesWith(relu.getResult());
    op.erase();
  });
  ModelProto proto = written(*model);
  EXPECT_EQ(opTypes(proto.graph()), "Add Relu");
  EXPECT_EQ(proto.graph().node(1).name(), "act");
  EXPECT_EQ(proto.graph().node(1).output(0), "y");
}

TEST(WriteOnnx, RaisesTheOpsetOnlyWhereNeeded) {
  const char *logic = R"(
    module attributes {sinter.source.format = "onnx", sinter.source.opsets = {ai.onnx = 13 : i64}} {
      func.func @main(%a: tensor<4xELEMENT>, %b: tensor<4xELEMENT>)
          -> tensor<4xELEMENT> {
        %0 = stablehlo.xor %a, %b : tensor<4xELEMENT>
        return %0 : tensor<4xELEMENT>
      }
    })";
  auto withElement = [&](const std::string &element) {
    std::string text = logic;
    for (size_t at; (at = text.find("ELEMENT")) != std::string::npos;)
      text.replace(at, 7, element);
    return written(parse(text));
  };
  ModelProto booleans = withElement("i1"), integers = withElement("i32");
  EXPECT_EQ(opTypes(booleans.graph()), "Xor");
  EXPECT_EQ(booleans.opset_import(0).version(), 13);
  EXPECT_EQ(opTypes(integers.graph()), "BitwiseXor");
  EXPECT_EQ(integers.opset_import(0).version(), 18);
}

TEST(WriteOnnx, ConvolutionAndBiasAreOneNode) {
  ModelProto proto = written(parse(R"(
    func.func @main(%x: tensor<1x2x5x5xf32>) -> tensor<1x3x5x5xf32> {
      %k = stablehlo.constant {sinter.name = "k"} dense<0.5> : tensor<3x2x3x3xf32>
      %b = stablehlo.constant {sinter.name = "b"} dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
      %c = stablehlo.convolution(%x, %k)
        dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
        window = {pad = [[1, 1], [1, 1]]}
        {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
        : (tensor<1x2x5x5xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x5x5xf32>
      %w = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<3xf32>) -> tensor<1x3x5x5xf32>
      %r = stablehlo.add %w, %c : tensor<1x3x5x5xf32>
      return %r : tensor<1x3x5x5xf32>
    })"));
  ASSERT_EQ(opTypes(proto.graph()), "Conv");
  const NodeProto &node = proto.graph().node(0);
  ASSERT_EQ(node.input_size(), 3);
  EXPECT_EQ(node.input(0), "arg0");
  EXPECT_EQ(node.input(1), "k");
  EXPECT_EQ(node.input(2), "b");
  EXPECT_EQ(node.output(0), "result0");
}

/// A convolution of f16 that is summed up in f32, the text of a bias %v of f32,
/// and that of what is made of the sum %r.
static std::string wideConvolution(const std::string &bias,
                                   const std::string &rest,
                                   const std::string &result = "f16") {
  return "func.func @main(%x: tensor<1x2x5x5xf16>, %b: tensor<3xf16>) -> "
         "tensor<1x3x5x5x" +
         result + R"(> {
      %k = stablehlo.constant {sinter.name = "k"} dense<0.5> : tensor<3x2x3x3xf16>
      %c = stablehlo.convolution(%x, %k)
        dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
        window = {pad = [[1, 1], [1, 1]]}
        {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
        : (tensor<1x2x5x5xf16>, tensor<3x2x3x3xf16>) -> tensor<1x3x5x5xf32>
      )" +
         bias +
         R"(
      %w = stablehlo.broadcast_in_dim %v, dims = [1] : (tensor<3xf32>) -> tensor<1x3x5x5xf32>
      %r = stablehlo.add %w, %c : tensor<1x3x5x5xf32>
      )" +
         rest + "}";
}

// A Conv of f16 adds its bias before it rounds.
TEST(WriteOnnx, ABiasOfWiderSumsIsTheConvolutions) {
  const std::string
      rounded = "%y = stablehlo.convert %r : (tensor<1x3x5x5xf32>) -> "
                "tensor<1x3x5x5xf16> return %y : tensor<1x3x5x5xf16>",
      widened = "%v = stablehlo.convert %b : (tensor<3xf16>) -> tensor<3xf32>",
      constant = "%v = stablehlo.constant {sinter.name = \"v\"} "
                 "dense<[1.0, 2.0, 3.0]> : tensor<3xf32>";
  ModelProto proto = written(parse(wideConvolution(widened, rounded)));
  ASSERT_EQ(opTypes(proto.graph()), "Conv");
  ASSERT_EQ(proto.graph().node(0).input_size(), 3);
  EXPECT_EQ(proto.graph().node(0).input(2), "arg1");
  proto = written(parse(wideConvolution(constant, rounded)));
  ASSERT_EQ(opTypes(proto.graph()), "Conv");
  EXPECT_EQ(proto.graph().initializer_size(), 2);
  for (const TensorProto &each : proto.graph().initializer())
    EXPECT_EQ(each.data_type(), TensorProto::FLOAT16) << each.name();
  // Numbers that f16 does not hold, and sums that somebody wants in f32.
  EXPECT_EQ(opTypes(wideConvolution(
                "%v = stablehlo.constant dense<0.1> : tensor<3xf32>", rounded)),
            "Cast Cast Conv Cast");
  EXPECT_EQ(opTypes(wideConvolution(constant, "return %r : tensor<1x3x5x5xf32>",
                                    "f32")),
            "Cast Cast Conv");
}

TEST(WriteOnnx, ChannelsLastConvolutionIsTransposed) {
  EXPECT_EQ(opTypes(R"(
    func.func @main(%x: tensor<1x5x5x2xf32>, %k: tensor<3x3x2x3xf32>) -> tensor<1x3x3x3xf32> {
      %c = stablehlo.convolution(%x, %k)
        dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {}
        {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
        : (tensor<1x5x5x2xf32>, tensor<3x3x2x3xf32>) -> tensor<1x3x3x3xf32>
      return %c : tensor<1x3x3x3xf32>
    })"),
            "Transpose Transpose Conv Transpose");
}

/// A convolution of integers, and what its text has for element types.
static std::string integerConvolution(const std::string &from,
                                      const std::string &to) {
  const std::string x = "tensor<1x2x5x5x" + from + ">",
                    k = "tensor<3x2x3x3x" + from + ">",
                    y = "tensor<1x3x5x5x" + to + ">";
  return "func.func @main(%x: " + x + ", %k: " + k + ") -> " + y + R"( {
      %c = stablehlo.convolution(%x, %k)
        dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
        window = {pad = [[1, 1], [1, 1]]}
        {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
        : ()" +
         x + ", " + k + ") -> " + y + " return %c : " + y + " }";
}

TEST(WriteOnnx, IntegerConvolutions) {
  EXPECT_EQ(opTypes(integerConvolution("ui8", "i32")), "ConvInteger");
  EXPECT_EQ(opTypes(integerConvolution("i8", "i32")),
            "Cast Add Cast Cast Add Cast ConvInteger");
  EXPECT_EQ(opTypes(integerConvolution("i8", "i8")),
            "Cast Add Cast Cast Add Cast ConvInteger Cast");
  auto refused = writeOnnx(parse(integerConvolution("i32", "i32")), {});
  ASSERT_FALSE(bool(refused));
  EXPECT_NE(refused.error().message().find("not of 8 bits"), std::string::npos)
      << refused.error().message();
}

TEST(WriteOnnx, ElementwiseNodesBroadcastThemselves) {
  EXPECT_EQ(opTypes(R"(
    func.func @main(%x: tensor<2x3x4xf32>, %b: tensor<3xf32>, %s: tensor<4xf32>)
        -> tensor<2x3x4xf32> {
      %0 = stablehlo.broadcast_in_dim %s, dims = [2] : (tensor<4xf32>) -> tensor<2x3x4xf32>
      %1 = stablehlo.multiply %x, %0 : tensor<2x3x4xf32>
      %2 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<3xf32>) -> tensor<2x3x4xf32>
      %3 = stablehlo.add %1, %2 : tensor<2x3x4xf32>
      return %3 : tensor<2x3x4xf32>
    })"),
            "Mul Unsqueeze Add");
}

TEST(WriteOnnx, ComparesAsUnsignedNumbersWhatSaysSo) {
  auto comparison = [](const std::string &element, const std::string &type) {
    const std::string tensor = "tensor<2x" + element + ">";
    return opTypes("func.func @main(%x: " + tensor + ", %y: " + tensor +
                   ") -> tensor<2xi1> {\n%r = stablehlo.compare LT, %x, %y, " +
                   type + " : (" + tensor + ", " + tensor +
                   ") -> tensor<2xi1>\nreturn %r : tensor<2xi1>\n}");
  };
  EXPECT_EQ(comparison("i32", "SIGNED"), "Less");
  EXPECT_EQ(comparison("i32", "UNSIGNED"), "Cast Cast Less");
  EXPECT_EQ(comparison("ui32", "UNSIGNED"), "Less");
  EXPECT_EQ(comparison("i1", "UNSIGNED"), "Cast Cast Less");
}

TEST(WriteOnnx, BroadcastsThatNothingElseGivesAreWritten) {
  EXPECT_EQ(opTypes(R"(
    func.func @main(%a: tensor<3xf32>, %b: tensor<3xf32>) -> tensor<2x3xf32> {
      %0 = stablehlo.broadcast_in_dim %a, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
      %1 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
      %2 = stablehlo.add %0, %1 : tensor<2x3xf32>
      return %2 : tensor<2x3xf32>
    })"),
            "Unsqueeze Expand Add");
}

TEST(WriteOnnx, InputsAndConstantsAsOutputsAreCopied) {
  ModelProto proto = written(parse(R"(
    func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
      %c = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
      return %x, %c : tensor<2xf32>, tensor<2xf32>
    })"));
  EXPECT_EQ(opTypes(proto.graph()), "Identity Identity");
  EXPECT_EQ(proto.graph().output(0).name(), "result0");
  EXPECT_EQ(proto.graph().output(1).name(), "result1");
}

TEST(WriteOnnx, AnInputThatIsAnOutputKeepsItsName) {
  ModelProto proto = written(parse(R"(
    func.func @main(%x: tensor<2xf32> {sinter.name = "x"})
        -> (tensor<2xf32> {sinter.name = "x"}, tensor<2xf32> {sinter.name = "y"}) {
      return %x, %x : tensor<2xf32>, tensor<2xf32>
    })"));
  EXPECT_EQ(opTypes(proto.graph()), "Identity");
  EXPECT_EQ(proto.graph().output(0).name(), "x");
  EXPECT_EQ(proto.graph().output(1).name(), "y");
}

TEST(WriteOnnx, LoopsComputeTheirConditionTwice) {
  ModelProto proto = written(parse(R"(
    func.func @main(%n: tensor<i32>) -> tensor<i32> {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %r = stablehlo.while(%i = %zero) : tensor<i32>
        cond {
          %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %c : tensor<i1>
        } do {
          %next = stablehlo.add %i, %one : tensor<i32>
          stablehlo.return %next : tensor<i32>
        }
      return %r : tensor<i32>
    })"));
  ASSERT_EQ(opTypes(proto.graph()), "Less Loop");
  EXPECT_EQ(opTypes(proto.graph().node(1).attribute(0).g()), "Add Less");
}

TEST(WriteOnnx, BranchesBecomeGraphs) {
  ModelProto proto = written(parse(R"(
    func.func @main(%p: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
      %r = "stablehlo.if"(%p) ({
        %0 = stablehlo.negate %x : tensor<2xf32>
        stablehlo.return %0 : tensor<2xf32>
      }, {
        stablehlo.return %x : tensor<2xf32>
      }) : (tensor<i1>) -> tensor<2xf32>
      return %r : tensor<2xf32>
    })"));
  ASSERT_EQ(opTypes(proto.graph()), "If");
  EXPECT_EQ(opTypes(proto.graph().node(0).attribute(0).g()), "Neg");
  EXPECT_EQ(opTypes(proto.graph().node(0).attribute(1).g()), "Identity");
}

TEST(WriteOnnx, ListsAllThatOnnxCannotSay) {
  Model model = parse(R"(
    func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
      %0 = stablehlo.complex %x, %x : tensor<2xcomplex<f32>>
      %1 = stablehlo.real %0 : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
      %2 = stablehlo.real %0 : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
      %3 = stablehlo.add %1, %2 : tensor<2xf32>
      return %3 : tensor<2xf32>
    })");
  TemporaryFolder folder;
  Result<void> done = writeOnnx(model, folder / "model.onnx");
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, ErrorKind::Unsupported);
  EXPECT_CONTAINS(errorOf(done), "1 x stablehlo.complex");
  EXPECT_CONTAINS(errorOf(done), "2 x stablehlo.real");
  EXPECT_FALSE(std::filesystem::exists(folder / "model.onnx"));
}

TEST(WriteOnnx, AnOldModelIsRaisedWithItsNodes) {
  // Before 13 Softmax joined all dimensions from its axis on.
  ModelProto old = emptyModel();
  old.mutable_opset_import(0)->set_version(11);
  GraphProto &graph = *old.mutable_graph();
  setType(*graph.add_input(), "x", {2, 3, 4});
  setType(*graph.add_output(), "y", {2, 3, 4});
  addNode(graph, "Relu", {"x"}, {"positive"});
  addNode(graph, "Softmax", {"positive"}, {"y"});
  Result<Model> model = readBack(old);
  ASSERT_EQ(errorOf(model), "");
  EXPECT_EQ(written(*model).opset_import(0).version(), 11);
  model->entry().walk([](nn::ReluOp op) { removeSource(op); });
  ModelProto proto = written(*model);
  EXPECT_EQ(proto.opset_import(0).version(), 13);
  EXPECT_EQ(opTypes(proto.graph()).find("Softmax"), std::string::npos);
}

} // namespace
