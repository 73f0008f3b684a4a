// Covers: formats/import EntryFunction IndexedWindows MatMul NodeGroups
// Covers: formats/import Building Einsum Filling GraphHelpers Indexing
// Covers: formats/import Reshaping Sampling Slices Suppression Unique Windows
// Covers: formats/import Convolutions Products Regions Unsupported WriterRule
// Covers: formats/import KnownValues
// Covers: formats/onnx ImportHeader ImportRecords ImportSignature Importer
// Covers: formats/onnx KnownForms LoopSize NodeContext NodeGroups OnnxFormat
// Covers: formats/onnx DynamicTypes Operators
// Covers: formats/onnx/ops Activations Bodies Casts Constants ControlFlow
// Covers: formats/onnx/ops Convolutions Detection Determinant Einsum
// Covers: formats/onnx/ops Elementwise Fourier GatherScatter Inputs Losses
// Covers: formats/onnx/ops NGrams Normalization Optimizers Pooling Products
// Covers: formats/onnx/ops Quantization RandomNumbers Rearranging Recurrent
// Covers: formats/onnx/ops Reductions Resizing Sampling ScanLoop Sequences
// Covers: formats/onnx/ops Shapes Slicing Unique Unpooling Window Windows

#include <gtest/gtest.h>

#include "formats/onnx/NodeGroups.h"
#include "formats/onnx/OnnxReader.h"
#include "formats/onnx/TestModel.h"
#include "formats/onnx/WriteOnnx.h"
#include "formats/onnx/file/OnnxWriter.h"
#include "graph/Constants.h"
#include "graph/nn/NnDeferred.h"
#include "graph/stablehlo/StablehloOps.h"
#include "interpreter/Interpreter.h"
#include <cmath>
#include <cstring>
#include <limits>

namespace sinter {
namespace {

using namespace onnx;
using namespace onnx::test;

/// The model is that of a function `main` with one block.
class OnnxReader : public ::testing::Test {
protected:
  OnnxReader() : model(emptyModel()), graph(*model.mutable_graph()) {}

  /// A float input; a negative size stands for the symbol of its place.
  void addInput(const std::string &name, std::vector<int64_t> sizes,
                std::vector<std::string> symbols = {},
                int32_t type = TensorProto::FLOAT) {
    ValueInfoProto &input = *graph.add_input();
    input.set_name(name);
    auto &tensor = *input.mutable_type()->mutable_tensor_type();
    tensor.set_elem_type(type);
    tensor.mutable_shape();
    for (size_t i = 0; i < sizes.size(); ++i) {
      auto &dim = *tensor.mutable_shape()->add_dim();
      if (sizes[i] >= 0)
        dim.set_dim_value(sizes[i]);
      else
        dim.set_dim_param(symbols[i]);
    }
  }
  void addIntegers(const std::string &name, const std::vector<int64_t> &values,
                   bool scalar = false) {
    TensorProto &tensor = *graph.add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(TensorProto::INT64);
    if (!scalar)
      tensor.add_dims(values.size());
    for (int64_t value : values)
      tensor.add_int64_data(value);
  }
  void addOutput(const std::string &name) {
    graph.add_output()->set_name(name);
  }
  static void setInt(NodeProto &node, const std::string &name, int64_t value) {
    AttributeProto &attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_type(AttributeProto::INT);
    attribute.set_i(value);
  }
  static void setInts(NodeProto &node, const std::string &name,
                      const std::vector<int64_t> &values) {
    AttributeProto &attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_type(AttributeProto::INTS);
    for (int64_t value : values)
      attribute.add_ints(value);
  }
  static void setText(NodeProto &node, const std::string &name,
                      const std::string &value) {
    AttributeProto &attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_type(AttributeProto::STRING);
    attribute.set_s(value);
  }

  Result<Model> read(const ReadOptions &options = {}) {
    auto file = load(model);
    if (!file)
      return file.takeError();
    return readOnnx(*file, options);
  }
  std::string resultType(const Model &read, unsigned number = 0) {
    std::string text;
    llvm::raw_string_ostream os(text);
    os << read.entry().getFunctionType().getResult(number);
    return os.str();
  }

  template <typename Op> static int countOf(const Model &read) {
    int count = 0;
    read.module().walk([&](Op) { ++count; });
    return count;
  }

  ModelProto model;
  GraphProto &graph;
};

TEST_F(OnnxReader, FollowsShapesElementByElement) {
  addInput("x", {-1, 512, 1, 1}, {"N", "", "", ""});
  addIntegers("zero", {0}, true);
  addIntegers("axes", {0});
  addIntegers("rest", {-1});
  addNode(graph, "Shape", {"x"}, {"shape"});
  addNode(graph, "Gather", {"shape", "zero"}, {"n"});
  addNode(graph, "Unsqueeze", {"n", "axes"}, {"batch"});
  setInt(addNode(graph, "Concat", {"batch", "rest"}, {"target"}), "axis", 0);
  addNode(graph, "Reshape", {"x", "target"}, {"y"});
  addOutput("y");
  auto done = read();
  ASSERT_TRUE(done) << done.error().message();
  EXPECT_EQ(resultType(*done), "tensor<?x512xf32>");
  auto dims =
      done->entry().getResultAttrOfType<mlir::ArrayAttr>(0, dimsAttribute);
  ASSERT_TRUE(dims);
  EXPECT_EQ(mlir::cast<mlir::StringAttr>(dims[0]).getValue(), "N");
}

TEST_F(OnnxReader, BindsASymbolWhereverItOccurs) {
  addInput("x", {-1, 4}, {"N", ""});
  addInput("y", {-1, 4}, {"N", ""});
  addNode(graph, "Add", {"x", "y"}, {"z"});
  addOutput("z");
  ReadOptions options;
  options.shapes["x"] = {3, 4};
  auto done = read(options);
  ASSERT_TRUE(done) << done.error().message();
  EXPECT_EQ(resultType(*done), "tensor<3x4xf32>");
  options.shapes["y"] = {5, 4};
  EXPECT_CONTAINS(errorOf(read(options)), "binds 'N' to both 3 and 5");
  EXPECT_EQ(read(options).error().kind, ErrorKind::Usage);
}

TEST_F(OnnxReader, LeavesWeightsInTheFile) {
  TemporaryFolder folder;
  std::string path = folder / "large.onnx";
  constexpr int64_t side = 1024, layers = 24;
  addInput("x", {1, side});
  std::string last = "x";
  OnnxWriter writer;
  Tensor weights(ElementType::F32, {side, side});
  for (int64_t i = 0; i < layers; ++i) {
    std::string name = "w" + std::to_string(i), next = "y" + std::to_string(i);
    TensorProto &tensor = *graph.add_initializer();
    tensor.set_name(name);
    weights.set<float>(i, 1);
    ASSERT_EQ(errorOf(writer.setData(tensor, weights)), "");
    addNode(graph, i % 2 ? "MatMul" : "Gemm", {last.c_str(), name.c_str()},
            {next.c_str()});
    last = next;
  }
  addOutput(last);
  ASSERT_EQ(errorOf(writer.write(model, path)), "");
  long before = anonymousMemory();
  auto file = OnnxFile::open(path);
  ASSERT_EQ(errorOf(file), "");
  auto done = readOnnx(*file, {});
  ASSERT_TRUE(done) << done.error().message();
  EXPECT_LT(anonymousMemory() - before, layers * side * side * 4 / 1024 / 10);
}

TEST_F(OnnxReader, ListsAllThatIsUnsupportedAtOnce) {
  addInput("x", {4});
  addNode(graph, "Frobnicate", {"x"}, {"a"});
  addNode(graph, "Frobnicate", {"a"}, {"b"});
  addNode(graph, "Twist", {"b"}, {"y"});
  addOutput("y");
  auto done = read();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, ErrorKind::Unsupported);
  EXPECT_CONTAINS(errorOf(done), "2 x Frobnicate (ai.onnx 17)");
  EXPECT_CONTAINS(errorOf(done), "1 x Twist (ai.onnx 17)");
}

TEST_F(OnnxReader, NamesTheNodeThatIsWrong) {
  addInput("x", {4, 3});
  NodeProto &node = addNode(graph, "Flatten", {"x"}, {"y"});
  node.set_name("flat");
  setInt(node, "axis", 7);
  addOutput("y");
  auto done = read();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, ErrorKind::InvalidModel);
  EXPECT_CONTAINS(errorOf(done), "test.onnx: node 'flat' (Flatten): axis 7");
}

TEST_F(OnnxReader, RefusesAnAttributeOfAnotherType) {
  addInput("x", {4, 3});
  NodeProto &node = addNode(graph, "Softmax", {"x"}, {"y"});
  AttributeProto &attribute = *node.add_attribute();
  attribute.set_name("axis");
  attribute.set_type(AttributeProto::FLOAT);
  attribute.set_f(1);
  addOutput("y");
  EXPECT_CONTAINS(errorOf(read()), "attribute 'axis' is not an integer");
}

TEST_F(OnnxReader, RefusesZeroPointsOfTypesThatNothingIsQuantisedTo) {
  addInput("x", {2});
  addInput("scale", {});
  addIntegers("zero", {0});
  addNode(graph, "QuantizeLinear", {"x", "scale", "zero"}, {"y"}).set_name("q");
  addOutput("y");
  auto done = read();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, ErrorKind::InvalidModel);
  EXPECT_CONTAINS(errorOf(done), "node 'q' (QuantizeLinear): a quantised "
                                 "element has 2 to 32 bits");
}

TEST_F(OnnxReader, ReportsWhatAVerifierRefuses) {
  addInput("x", {1, 4, 8, 8});
  addInput("w", {4, 3, 3, 3});
  addNode(graph, "Conv", {"x", "w"}, {"y"}).set_name("conv");
  addOutput("y");
  auto done = read();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, ErrorKind::InvalidModel);
  EXPECT_CONTAINS(errorOf(done), "node 'conv' (Conv)");
}

TEST_F(OnnxReader, WritesLocalFunctionsOut) {
  OperatorSetIdProto &opset = *model.add_opset_import();
  opset.set_domain("mine");
  opset.set_version(1);
  FunctionProto &function = *model.add_functions();
  function.set_domain("mine");
  function.set_name("Rows");
  function.add_input("a");
  function.add_output("b");
  *function.add_opset_import() = model.opset_import(0);
  AttributeProto &otherwise = *function.add_attribute_proto();
  otherwise.set_name("axis");
  otherwise.set_type(AttributeProto::INT);
  otherwise.set_i(1);
  AttributeProto &reference =
      *addNode(function, "Flatten", {"a"}, {"b"}).add_attribute();
  reference.set_name("axis");
  reference.set_type(AttributeProto::INT);
  reference.set_ref_attr_name("axis");
  addInput("x", {2, 3, 4});
  addNode(graph, "Rows", {"x"}, {"y"}).set_domain("mine");
  NodeProto &given = addNode(graph, "Rows", {"x"}, {"z"});
  given.set_domain("mine");
  setInt(given, "axis", 2);
  addOutput("y");
  addOutput("z");
  auto done = read();
  ASSERT_TRUE(done) << done.error().message();
  EXPECT_EQ(resultType(*done, 0), "tensor<2x12xf32>");
  EXPECT_EQ(resultType(*done, 1), "tensor<6x4xf32>");
}

TEST_F(OnnxReader, WritesALoopWithAKnownCountOut) {
  addInput("x", {4});
  addIntegers("count", {3}, true);
  NodeProto &loop = addNode(graph, "Loop", {"count", "", "x"}, {"y", "all"});
  AttributeProto &attribute = *loop.add_attribute();
  attribute.set_name("body");
  attribute.set_type(AttributeProto::GRAPH);
  GraphProto &body = *attribute.mutable_g();
  for (const char *input : {"i", "go", "v"})
    body.add_input()->set_name(input);
  addNode(body, "Identity", {"go"}, {"on"});
  addNode(body, "Neg", {"v"}, {"w"});
  for (const char *output : {"on", "w", "w"})
    body.add_output()->set_name(output);
  addOutput("y");
  addOutput("all");
  auto done = read();
  ASSERT_TRUE(done) << done.error().message();
  EXPECT_EQ(resultType(*done, 0), "tensor<4xf32>");
  EXPECT_EQ(resultType(*done, 1), "tensor<3x4xf32>");
}

TEST_F(OnnxReader, KeepsANodeThatWaitsForSizes) {
  addInput("x", {-1, 3, -1, -1}, {"N", "", "H", "W"});
  addIntegers("sizes", {2, 3, 16, 16});
  addNode(graph, "Resize", {"x", "", "", "sizes"}, {"y"});
  addOutput("y");
  EXPECT_CONTAINS(errorOf(read()), "1 x Resize (ai.onnx 17): the size of");
  EXPECT_EQ(read().error().kind, ErrorKind::Unsupported);
  ReadOptions options;
  options.keepsUnknown = true;
  auto kept = read(options);
  ASSERT_TRUE(kept) << kept.error().message();
  EXPECT_EQ(resultType(*kept), "tensor<2x3x16x16xf32>");
  EXPECT_EQ(countOf<nn::DeferredOp>(*kept), 1);
  options.shapes["x"] = {2, 3, 8, 8};
  auto whole = read(options);
  ASSERT_TRUE(whole) << whole.error().message();
  EXPECT_EQ(countOf<nn::DeferredOp>(*whole), 0);
  EXPECT_EQ(countOf<nn::ResizeOp>(*whole), 1);
}

TEST_F(OnnxReader, KeepsANodeOfDeclaredRank) {
  addInput("x", {-1, -1}, {"N", "M"});
  addNode(graph, "Squeeze", {"x"}, {"y"});
  addOutput("y");
  ReadOptions options;
  options.keepsUnknown = true;
  EXPECT_CONTAINS(errorOf(read(options)), "squeezing every dimension");
  auto &type = *graph.mutable_output(0)->mutable_type()->mutable_tensor_type();
  type.set_elem_type(TensorProto::FLOAT);
  type.mutable_shape()->add_dim()->set_dim_param("M");
  auto kept = read(options);
  ASSERT_TRUE(kept) << kept.error().message();
  EXPECT_EQ(resultType(*kept), "tensor<?xf32>");
}

TEST_F(OnnxReader, ComputesAxesFromTheRank) {
  addInput("x", {-1, 3, 4}, {"N", "", ""});
  addIntegers("one", {1}, true);
  model.mutable_opset_import(0)->set_version(18);
  addNode(graph, "Shape", {"x"}, {"shape"});
  addNode(graph, "Size", {"shape"}, {"rank"});
  addNode(graph, "Range", {"one", "rank", "one"}, {"axes"});
  addNode(graph, "ReduceMean", {"x", "axes"}, {"y"});
  addOutput("y");
  auto done = read();
  ASSERT_TRUE(done) << done.error().message();
  EXPECT_EQ(resultType(*done), "tensor<?x1x1xf32>");
}

TEST_F(OnnxReader, FollowsLongChains) {
  addInput("x", {3, 4});
  addIntegers("one", {1});
  addNode(graph, "Shape", {"x"}, {"s0"});
  constexpr int links = 2000;
  for (int i = 0; i < links; ++i)
    addNode(graph, "Add", {("s" + std::to_string(i)).c_str(), "one"},
            {("s" + std::to_string(i + 1)).c_str()});
  addNode(graph, "ConstantOfShape", {("s" + std::to_string(links)).c_str()},
          {"y"});
  addOutput("y");
  auto done = read();
  ASSERT_TRUE(done) << done.error().message();
  EXPECT_EQ(resultType(*done), "tensor<2003x2004xf32>");
}

TEST_F(OnnxReader, SplitsAndTurnsWhatIsDynamic) {
  addInput("x", {-1, 4}, {"N", ""});
  addIntegers("from", {-1});
  addIntegers("to", {std::numeric_limits<int64_t>::min()});
  addIntegers("axis", {0});
  addIntegers("back", {-1});
  setInt(addNode(graph, "Split", {"x"}, {"a", "b"}), "axis", 0);
  addNode(graph, "Slice", {"x", "from", "to", "axis", "back"}, {"c"});
  for (const char *name : {"a", "b", "c"})
    addOutput(name);
  auto done = read();
  ASSERT_TRUE(done) << done.error().message();
  for (unsigned i = 0; i < 3; ++i)
    EXPECT_EQ(resultType(*done, i), "tensor<?x4xf32>");
}

// Pads may be negative: then more than the full result is kept.
TEST_F(OnnxReader, RefusesTransposedSizesThatOverflow) {
  constexpr int64_t least = std::numeric_limits<int64_t>::min(),
                    most = std::numeric_limits<int64_t>::max();
  const std::pair<const char *, std::vector<int64_t>> broken[] = {
      {"pads", {0, least, 0, 0}},  {"pads", {0, 0, 0, least}},
      {"pads", {most, 0, 0, 0}},   {"output_padding", {0, most}},
      {"output_padding", {-1, 0}}, {"output_shape", {5, least}},
      {"output_shape", {most, 5}}, {"output_shape", {1, 1, most, 5}}};
  for (int64_t width : {4, -1})
    for (const auto &[name, values] : broken) {
      graph.Clear();
      graph.set_name("g");
      addInput("x", {1, 2, 4, width}, {"", "", "", width < 0 ? "W" : ""});
      addInput("w", {2, 1, 3, 3});
      setInts(addNode(graph, "ConvTranspose", {"x", "w"}, {"y"}), name, values);
      addOutput("y");
      EXPECT_CONTAINS(errorOf(read()),
                      "pads, output_padding or output_shape is "
                      "negative or too large")
          << name << ", width " << width;
    }
}

TEST_F(OnnxReader, RefusesIndicesThatAreOutside) {
  const std::vector<int64_t> outside = {0, 3};
  addInput("x", {3, 3}, {});
  addIntegers("indices", outside);
  addIntegers("rows", {2, -4});
  auto errorOfNode = [&](const char *op, const char *indices) {
    graph.clear_node();
    graph.clear_output();
    addNode(graph, op, {"x", indices}, {"y"}).set_name("pick");
    addOutput("y");
    EXPECT_EQ(read().error().kind, ErrorKind::InvalidModel);
    return errorOf(read());
  };
  std::string text = errorOfNode("Gather", "indices");
  EXPECT_CONTAINS(text, "test.onnx: ");
  EXPECT_CONTAINS(text, "'pick'");
  EXPECT_CONTAINS(text, "index 3 (element 1 of the indices) is not in [-3, 3), "
                        "the bounds of dimension 0");
  EXPECT_CONTAINS(errorOfNode("GatherND", "rows"), "index -4 (element 1");
}

/// A graph that is a branch or a body.
static GraphProto &addGraph(NodeProto &node, const char *name) {
  AttributeProto &attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(AttributeProto::GRAPH);
  attribute.mutable_g()->set_name(name);
  return *attribute.mutable_g();
}

TEST_F(OnnxReader, JoinsTheTypesOfBranches) {
  addInput("x", {-1, 2}, {"N", ""});
  addInput("c", {3, 2});
  addInput("on", {}, {}, TensorProto::BOOL);
  NodeProto &node = addNode(graph, "If", {"on"}, {"y"});
  GraphProto &yes = addGraph(node, "then_branch");
  addNode(yes, "Tanh", {"x"}, {"a"});
  yes.add_output()->set_name("a");
  GraphProto &no = addGraph(node, "else_branch");
  addNode(no, "Tanh", {"c"}, {"b"});
  no.add_output()->set_name("b");
  addOutput("y");
  auto done = read();
  ASSERT_TRUE(done) << done.error().message();
  EXPECT_EQ(resultType(*done), "tensor<?x2xf32>");
  no.mutable_node(0)->set_op_type("Flatten");
  setInt(*no.mutable_node(0), "axis", 1);
  ASSERT_TRUE(read());
  no.mutable_node(0)->set_op_type("Shape");
  no.mutable_node(0)->clear_attribute();
  EXPECT_CONTAINS(errorOf(read()), "output 0 has another rank or element type");
}

TEST_F(OnnxReader, OpensTheSizesThatALoopChanges) {
  addInput("x", {-1, 2}, {"N", ""});
  addInput("count", {}, {}, TensorProto::INT64);
  NodeProto &node = addNode(graph, "Loop", {"count", "", "x", "x"}, {"y", "z"});
  GraphProto &body = addGraph(node, "body");
  for (const char *name : {"i", "on", "grown", "kept"})
    body.add_input()->set_name(name);
  setInt(addNode(body, "Concat", {"grown", "kept"}, {"longer"}), "axis", 0);
  addNode(body, "Tanh", {"kept"}, {"same"});
  for (const char *name : {"on", "longer", "same"})
    body.add_output()->set_name(name);
  addNode(graph, "Add", {"z", "x"}, {"sum"});
  addOutput("y");
  addOutput("sum");
  auto done = read();
  ASSERT_TRUE(done) << done.error().message();
  EXPECT_EQ(resultType(*done, 0), "tensor<?x2xf32>");
  EXPECT_EQ(resultType(*done, 1), "tensor<?x2xf32>");
  // What keeps its size is known to: the sum needs no broadcast.
  EXPECT_EQ(countOf<nn::BroadcastLikeOp>(*done), 0);
}

TEST_F(OnnxReader, ErasesALoopThatNobodyNeeds) {
  addInput("x", {2}, {});
  addInput("count", {}, {}, TensorProto::INT64);
  NodeProto &node = addNode(graph, "Loop", {"count", "", "x"}, {""});
  GraphProto &body = addGraph(node, "body");
  for (const char *name : {"i", "on", "kept"})
    body.add_input()->set_name(name);
  addNode(body, "Tanh", {"kept"}, {"same"});
  for (const char *name : {"on", "same"})
    body.add_output()->set_name(name);
  addNode(graph, "Tanh", {"x"}, {"y"});
  addOutput("y");
  auto done = read();
  ASSERT_TRUE(done) << done.error().message();
  EXPECT_EQ(countOf<stablehlo::WhileOp>(*done), 0);
}

TEST_F(OnnxReader, KeepsALoopOfUnknownLength) {
  addInput("x", {-1, 2}, {"N", ""});
  addIntegers("zero", {0}, true);
  addNode(graph, "Shape", {"x"}, {"shape"});
  addNode(graph, "Gather", {"shape", "zero"}, {"count"});
  NodeProto &node = addNode(graph, "Loop", {"count", "", "x"}, {"y", "all"});
  GraphProto &body = addGraph(node, "body");
  for (const char *name : {"i", "on", "v"})
    body.add_input()->set_name(name);
  addNode(body, "Tanh", {"v"}, {"next"});
  addNode(body, "Mul", {"next", "x"}, {"piece"});
  for (const char *name : {"on", "next", "piece"})
    body.add_output()->set_name(name);
  addOutput("y");
  addOutput("all");
  EXPECT_CONTAINS(errorOf(read()),
                  "1 x Loop (ai.onnx 17): a loop that gathers");
  ReadOptions options;
  options.keepsUnknown = true;
  auto kept = read(options);
  ASSERT_TRUE(kept) << kept.error().message();
  EXPECT_EQ(resultType(*kept, 0), "tensor<?x2xf32>");
  EXPECT_EQ(resultType(*kept, 1), "tensor<?x?x2xf32>");
  EXPECT_EQ(countOf<nn::DeferredOp>(*kept), 1);
  // The body knows that what it is given keeps its size.
  EXPECT_EQ(countOf<nn::BroadcastLikeOp>(*kept), 0);
  TemporaryFolder folder;
  Result<void> done = writeOnnx(*kept, folder / "again.onnx");
  ASSERT_TRUE(done) << done.error().message();
  auto again = OnnxFile::open(folder / "again.onnx");
  ASSERT_TRUE(again) << again.error().message();
  const NodeProto &loop = *again->model().graph().node().rbegin();
  EXPECT_EQ(loop.op_type(), "Loop");
  EXPECT_EQ(loop.input_size(), 3);
  EXPECT_EQ(loop.input(1), "");
  ASSERT_EQ(loop.attribute_size(), 1);
  EXPECT_EQ(loop.attribute(0).g().input_size(), 3);
  EXPECT_EQ(loop.attribute(0).g().output_size(), 3);
}

TEST_F(OnnxReader, KeepsAScanOfUnknownLength) {
  addInput("x", {-1, 2}, {"N", ""});
  addInput("start", {2});
  NodeProto &node = addNode(graph, "Scan", {"start", "x"}, {"last", "all"});
  setInt(node, "num_scan_inputs", 1);
  GraphProto &body = addGraph(node, "body");
  for (const char *name : {"state", "row"})
    body.add_input()->set_name(name);
  addNode(body, "Add", {"state", "row"}, {"next"});
  addNode(body, "Tanh", {"next"}, {"piece"});
  for (const char *name : {"next", "piece"})
    body.add_output()->set_name(name);
  addOutput("last");
  addOutput("all");
  EXPECT_CONTAINS(errorOf(read()),
                  "the number of steps is known only at run time");
  ReadOptions options;
  options.keepsUnknown = true;
  auto kept = read(options);
  ASSERT_TRUE(kept) << kept.error().message();
  EXPECT_EQ(resultType(*kept, 0), "tensor<2xf32>");
  EXPECT_EQ(resultType(*kept, 1), "tensor<?x2xf32>");
}

/// Nothing declares what is gathered: the body says it.
TEST_F(OnnxReader, GathersNothingOfTheBodysTypes) {
  addInput("x", {0, 2});
  addInput("start", {2});
  addIntegers("none", {0}, true);
  NodeProto &scan = addNode(graph, "Scan", {"start", "x"}, {"last", "all"});
  setInt(scan, "num_scan_inputs", 1);
  GraphProto &row = addGraph(scan, "body");
  for (const char *name : {"state", "row"})
    row.add_input()->set_name(name);
  addNode(row, "Add", {"state", "row"}, {"next"});
  addNode(row, "Concat", {"next", "row"}, {"piece"});
  setInt(*row.mutable_node(1), "axis", 0);
  for (const char *name : {"next", "piece"})
    row.add_output()->set_name(name);
  NodeProto &loop = addNode(graph, "Loop", {"none", "", "start"}, {"y", "z"});
  GraphProto &body = addGraph(loop, "body");
  for (const char *name : {"i", "on", "v"})
    body.add_input()->set_name(name);
  addNode(body, "Tanh", {"v"}, {"w"});
  addNode(body, "Cast", {"w"}, {"gathered"});
  setInt(*body.mutable_node(1), "to", TensorProto::INT64);
  for (const char *name : {"on", "w", "gathered"})
    body.add_output()->set_name(name);
  for (const char *name : {"last", "all", "y", "z"})
    addOutput(name);
  auto done = read();
  ASSERT_TRUE(done) << done.error().message();
  EXPECT_EQ(resultType(*done, 0), "tensor<2xf32>");
  EXPECT_EQ(resultType(*done, 1), "tensor<0x4xf32>");
  EXPECT_EQ(resultType(*done, 2), "tensor<2xf32>");
  EXPECT_EQ(resultType(*done, 3), "tensor<0x2xi64>");
}

TEST_F(OnnxReader, KnowsOperatorSetsUpToTheNewest) {
  addInput("x", {3});
  addNode(graph, "Celu", {"x"}, {"y"});
  addOutput("y");
  for (int64_t version : {26, 27, 28}) {
    model.mutable_opset_import(0)->set_version(version);
    EXPECT_EQ(errorOf(read()), "");
  }
  model.mutable_opset_import(0)->set_version(29);
  EXPECT_CONTAINS(errorOf(read()), "operator set 29 is newer");
  EXPECT_EQ(read().error().kind, ErrorKind::Unsupported);
}

TEST_F(OnnxReader, TurnsHalfASpectrumIntoARealSignal) {
  addInput("x", {1, 6, 2});
  addIntegers("axis", {1}, true);
  model.mutable_opset_import(0)->set_version(20);
  NodeProto &node = addNode(graph, "DFT", {"x", "", "axis"}, {"y"});
  setInt(node, "inverse", 1);
  setInt(node, "onesided", 1);
  addOutput("y");
  auto done = read();
  ASSERT_TRUE(done) << done.error().message();
  EXPECT_EQ(resultType(*done), "tensor<1x10x1xf32>");
  // What a constant signal of ones has: 10 at no frequency, else nothing.
  Tensor x(ElementType::F32, {1, 6, 2});
  std::memset(x.mutableBytes(), 0, x.bytes());
  x.set<float>(0, 10);
  auto outputs = interpret(done->entry(), {x});
  ASSERT_TRUE(outputs) << outputs.error().message();
  for (int64_t i = 0; i < 10; ++i)
    EXPECT_NEAR((*outputs)[0].toDouble(i), 1, 1e-6);
  // A cosine of one round: both its mirror images stand in bin 1.
  x.set<float>(0, 0);
  x.set<float>(2, 5);
  outputs = interpret(done->entry(), {x});
  ASSERT_TRUE(outputs) << outputs.error().message();
  for (int64_t i = 0; i < 10; ++i)
    EXPECT_NEAR((*outputs)[0].toDouble(i), std::cos(2 * M_PI * i / 10), 1e-5);
}

// Regions of 4 x 2 and 1 x 1 pixels, as one bin each: 2 x 4 samples and one. A
// pixel is four times its row plus its column, so that is the mean.
TEST_F(OnnxReader, TakesAsManySamplesOfARegionAsItHasPixels) {
  addInput("x", {1, 1, 4, 4});
  addInput("regions", {2, 4});
  addIntegers("images", {0, 0});
  model.mutable_opset_import(0)->set_version(10);
  addNode(graph, "RoiAlign", {"x", "regions", "images"}, {"y"});
  addOutput("y");
  auto done = read();
  ASSERT_TRUE(done) << done.error().message();
  EXPECT_EQ(resultType(*done), "tensor<2x1x1x1xf32>");
  Tensor x(ElementType::F32, {1, 1, 4, 4}), regions(ElementType::F32, {2, 4});
  for (int64_t i = 0; i < 16; ++i)
    x.set<float>(i, static_cast<float>(i));
  const float corners[] = {0, 0, 4, 2, 1, 1, 2, 2};
  std::memcpy(regions.mutableBytes(), corners, sizeof corners);
  auto outputs = interpret(done->entry(), {x, regions});
  ASSERT_TRUE(outputs) << outputs.error().message();
  // Behind the last column there is nothing more: 0.5, 1.5, 2.5 and 3.
  EXPECT_NEAR((*outputs)[0].toDouble(0), 4 * 1 + 7.5 / 4, 1e-6);
  EXPECT_NEAR((*outputs)[0].toDouble(1), 4 * 1.5 + 1.5, 1e-6);
}

// A vocabulary of neighbours that no double tells apart, and of the largest
// number there is.
TEST_F(OnnxReader, TellsLongWordsOfAVocabularyApart) {
  constexpr int64_t exact = int64_t(1) << 53,
                    largest = std::numeric_limits<int64_t>::max();
  const std::vector<int64_t> words = {exact + 1, exact + 1, largest};
  addInput("x", {3}, {}, TensorProto::INT64);
  NodeProto &node = addNode(graph, "TfIdfVectorizer", {"x"}, {"y"});
  setText(node, "mode", "TF");
  setInt(node, "min_gram_length", 1);
  setInt(node, "max_gram_length", 1);
  setInt(node, "max_skip_count", 0);
  setInts(node, "pool_int64s", {exact, exact + 1, largest});
  setInts(node, "ngram_counts", {0});
  setInts(node, "ngram_indexes", {0, 1, 2});
  addOutput("y");
  auto done = read();
  ASSERT_TRUE(done) << done.error().message();
  auto outputs = interpret(done->entry(),
                           {Tensor::of<int64_t>(ElementType::I64, {3}, words)});
  ASSERT_TRUE(outputs) << outputs.error().message();
  const double counts[] = {0, 2, 1};
  for (int64_t i = 0; i < 3; ++i)
    EXPECT_EQ((*outputs)[0].toDouble(i), counts[i]);
}

// 2^32 frames of 2^32 samples.
TEST_F(OnnxReader, RefusesFramesWhoseNumberOfSamplesOverflows) {
  addInput("x", {1, (int64_t(1) << 33) - 1, 1});
  addIntegers("step", {1}, true);
  addIntegers("length", {int64_t(1) << 32}, true);
  addNode(graph, "STFT", {"x", "step", "", "length"}, {"y"});
  addOutput("y");
  EXPECT_CONTAINS(errorOf(read()), "this many frames");
}

TEST_F(OnnxReader, RefusesAnImageWhoseNumberOfPixelsOverflows) {
  addInput("x", {1, 1, 1});
  addIntegers("image", {1 << 20, 1 << 20, 1 << 20, 1 << 20});
  addIntegers("block", {1, 1, 1, 1});
  model.mutable_opset_import(0)->set_version(18);
  NodeProto &node = addNode(graph, "Col2Im", {"x", "image", "block"}, {"y"});
  setInts(node, "strides", {1 << 20, 1 << 20, 1 << 20, 1 << 20});
  addOutput("y");
  EXPECT_CONTAINS(errorOf(read()), "the image is too large");
}

TEST_F(OnnxReader, KeepsTheLowestBitsOfWhatIsCastToFew) {
  addInput("x", {4});
  setInt(addNode(graph, "Cast", {"x"}, {"y"}), "to", 26); // INT2
  addOutput("y");
  auto done = read();
  ASSERT_TRUE(done) << done.error().message();
  Tensor x(ElementType::F32, {4});
  const float values[] = {-3, -2, 1.7f, 2};
  std::memcpy(x.mutableBytes(), values, sizeof values);
  auto outputs = interpret(done->entry(), {x});
  ASSERT_TRUE(outputs) << outputs.error().message();
  const int64_t expected[] = {1, -2, 1, -2};
  for (int64_t i = 0; i < 4; ++i)
    EXPECT_EQ((*outputs)[0].toInteger(i), expected[i]);
}

// 2 + d lies in the middle of 2 and the next number of the type, 2 + 2 d:
// rounded before the bias of d, 2 would be left, and 2 again.
TEST_F(OnnxReader, AddsABiasBeforeItRounds) {
  struct Case {
    const char *op;
    std::vector<int64_t> x, w;
  };
  const Case cases[] = {{"Conv", {1, 2, 1, 1}, {1, 2, 1, 1}},
                        {"ConvTranspose", {1, 2, 1, 1}, {2, 1, 1, 1}},
                        {"Gemm", {1, 2}, {2, 1}}};
  for (auto [type, element, d] :
       {std::tuple(TensorProto::FLOAT16, ElementType::F16, 0x1p-10),
        {TensorProto::BFLOAT16, ElementType::BF16, 0x1p-7}})
    for (const Case &test : cases) {
      graph.Clear();
      graph.set_name("g");
      model.mutable_opset_import(0)->set_version(22);
      addInput("x", test.x, {}, type);
      addInput("w", test.w, {}, type);
      addInput("b", {1}, {}, type);
      addNode(graph, test.op, {"x", "w", "b"}, {"y"});
      addOutput("y");
      auto done = read();
      ASSERT_TRUE(done) << done.error().message();
      auto numbers = [&](const std::vector<int64_t> &shape,
                         const std::vector<double> &values) {
        return tensorOfDoubles(element, Shape(shape.begin(), shape.end()),
                               values);
      };
      auto outputs = interpret(done->entry(),
                               {numbers(test.x, {1, 1}),
                                numbers(test.w, {2, d}), numbers({1}, {d})});
      ASSERT_TRUE(outputs) << outputs.error().message();
      EXPECT_EQ((*outputs)[0].type(), element);
      EXPECT_EQ((*outputs)[0].toDouble(0), 2 + 2 * d) << test.op;
    }
}

TEST_F(OnnxReader, KnowsAGroupThatNobodyTouched) {
  addInput("x", {1, 2, 5, 5});
  TensorProto weight = floatTensor("w", 2 * 2 * 3 * 3);
  weight.clear_dims();
  for (int64_t size : {2, 2, 3, 3})
    weight.add_dims(size);
  *graph.add_initializer() = weight;
  *graph.add_initializer() = floatTensor("b", 2);
  addNode(graph, "Conv", {"x", "w", "b"}, {"y"}).set_name("conv");
  addOutput("y");
  auto done = read();
  ASSERT_TRUE(done) << done.error().message();
  auto nodes =
      done->module()->getAttrOfType<mlir::ArrayAttr>(sourceRecordsAttribute);
  ASSERT_TRUE(nodes && nodes.size() == 1);
  auto record = mlir::cast<mlir::DictionaryAttr>(nodes[0]);
  std::vector<mlir::Operation *> ops;
  for (mlir::Operation &op : done->entry().getBody().front())
    if (sourceOf(&op))
      ops.push_back(&op);
  auto node = untouchedNode(record, ops);
  ASSERT_TRUE(node);
  NodeProto proto;
  ASSERT_TRUE(proto.ParseFromString(node->node.str()));
  EXPECT_EQ(proto.name(), "conv");
  ASSERT_EQ(node->inputs.size(), 3u);
  EXPECT_EQ(node->inputs[0].value, done->entry().getArgument(0));
  ASSERT_EQ(node->outputs.size(), 1u);
  EXPECT_EQ(node->outputs[0], ops.back()->getResult(0));
  // Without its last op it is another group.
  EXPECT_FALSE(untouchedNode(record, llvm::ArrayRef(ops).drop_back()));
}

} // namespace
} // namespace sinter
