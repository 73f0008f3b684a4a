//===- ModelSourceTest.cpp - how often a file is translated ---------------===//
//
// ONNX files, opened by a row of the table of formats that counts.
//
//===----------------------------------------------------------------------===//
// Covers: engine/compiler BranchSearch DescribeModel

#include "engine/compiler/MlirCompiler.h"
#include "formats/onnx/OnnxFormat.h"
#include "formats/onnx/TestModel.h"

#include <gtest/gtest.h>

namespace sinter::onnx::test {
namespace {

unsigned openings = 0, readings = 0;

class CountedFile : public ModelFile {
public:
  explicit CountedFile(std::unique_ptr<ModelFile> file)
      : file(std::move(file)) {}

  Result<Model> read(const ReadOptions &options) override {
    ++readings;
    return file->read(options);
  }
  std::optional<Signature>
  signature(const ReadOptions &options) const override {
    return file->signature(options);
  }
  Result<FileCounts> counts() override { return file->counts(); }

private:
  std::unique_ptr<ModelFile> file;
};

Likeness recognises(const std::string &path, std::span<const std::byte>) {
  return path.ends_with(".counted") ? Likeness::Yes : Likeness::No;
}

Result<std::unique_ptr<ModelFile>> open(const std::string &path,
                                        const OpenOptions &options) {
  ++openings;
  auto file = openModelFile(onnxFormat, path, options);
  if (!file)
    return file;
  return std::unique_ptr<ModelFile>(
      std::make_unique<CountedFile>(std::move(*file)));
}

const Format &countedFormat() {
  static constexpr Extension extensions[] = {{".counted"}};
  static const Format format = [] {
    Format row = onnxFormat;
    row.name = "counted";
    row.extensions = extensions;
    row.recognises = recognises;
    row.open = open;
    return row;
  }();
  return format;
}

class ModelSourceTest : public testing::Test {
protected:
  ModelSourceTest() {
    addFormat(countedFormat());
    openings = readings = 0;
    // Those that compile() reports.
    request.onStatic = [this](const std::string &) { isRefused = true; };
    request.perValues = [this](const std::string &) { isForValues = true; };
  }

  void addTensor(ValueInfoProto &tensor, const char *name,
                 std::initializer_list<int64_t> shape,
                 TensorProto::DataType type) {
    tensor.set_name(name);
    auto &info = *tensor.mutable_type()->mutable_tensor_type();
    info.set_elem_type(type);
    for (int64_t size : shape)
      if (auto &dim = *info.mutable_shape()->add_dim(); size >= 0)
        dim.set_dim_value(size);
      else
        dim.set_dim_param(name + std::to_string(info.shape().dim_size()));
  }
  void addInput(const char *name, std::initializer_list<int64_t> shape,
                TensorProto::DataType type = TensorProto::FLOAT) {
    addTensor(*graph.add_input(), name, shape, type);
  }
  void addOutput(std::initializer_list<int64_t> shape, const char *name = "y") {
    addTensor(*graph.add_output(), name, shape, TensorProto::FLOAT);
  }
  void addInteger(const char *name, int64_t value) {
    TensorProto &tensor = *graph.add_initializer();
    tensor.set_name(name);
    tensor.add_dims(1);
    tensor.set_data_type(TensorProto::INT64);
    tensor.add_int64_data(value);
  }
  /// A Fourier transform along dimension 1 of a tensor without a known size
  /// there is not compiled.
  void addTransform(const char *input) {
    NodeProto &node = addNode(graph, "DFT", {input}, {"y"});
    AttributeProto &axis = *node.add_attribute();
    axis.set_name("axis");
    axis.set_type(AttributeProto::INT);
    axis.set_i(1);
  }

  /// \p output = \p isTaken ? Op(\p data, last axis) : Identity(\p data), of
  /// different ranks.
  void addChoice(const char *isTaken, const char *op, const char *data,
                 const char *output) {
    NodeProto &node = addNode(graph, "If", {isTaken}, {output});
    for (bool isFirst : {true, false}) {
      AttributeProto &branch = *node.add_attribute();
      branch.set_name(isFirst ? "then_branch" : "else_branch");
      branch.set_type(AttributeProto::GRAPH);
      branch.mutable_g()->set_name("branch");
      branch.mutable_g()->add_output()->set_name("given");
      if (isFirst)
        addNode(*branch.mutable_g(), op, {data, "last"}, {"given"});
      else
        addNode(*branch.mutable_g(), "Identity", {data}, {"given"});
    }
  }
  /// Three nodes whose condition is a value that is not known, for an input
  /// [-1, 2, -1]: nodes that need a decision.
  void addChoices(const char *op) {
    addInput("x", {-1, 2, -1});
    addInput("k", {1}, TensorProto::INT64);
    addInteger("last", 2);
    addInteger("one", 1);
    addNode(graph, "Equal", {"k", "one"}, {"isOne"});
    for (const char *name : {"a", "b", "c"}) {
      addChoice("isOne", op, "x", name);
      addNode(graph, "Flatten", {name}, {(std::string("f") + name).c_str()});
    }
    addNode(graph, "Sum", {"fa", "fb", "fc"}, {"y"});
    addOutput({-1, -1});
    request.dynamic = {{-1, 2, -1}, {1}};
  }
  /// Sets the value of input 1.
  void setInteger(int64_t value) {
    request.values = {std::nullopt, Tensor(ElementType::I64, {1})};
    request.values[1]->set<int64_t>(0, value);
  }

  Result<std::unique_ptr<CompilerModel>> open() {
    writeText(folder / "model.counted", model.SerializeAsString());
    file.path = folder / "model.counted";
    return MlirCompiler().open(file);
  }
  /// Opens the model and compiles what the request says.
  void compile() {
    auto opened = open();
    ASSERT_TRUE(opened) << opened.error().message();
    request.threads = 1;
    request.values.resize(request.shapes.size());
    auto program = (*opened)->compile(request);
    ASSERT_TRUE(program) << program.error().message();
    EXPECT_EQ(openings, 1u);
  }

  TemporaryFolder folder;
  ModelRequest file;
  ModelProto model = emptyModel();
  GraphProto &graph = *model.mutable_graph();
  CompileRequest request;
  bool isRefused = false, isForValues = false;
};

TEST_F(ModelSourceTest, StaticModelsAreTranslatedOnce) {
  addInput("x", {2, 3});
  addNode(graph, "Exp", {"x"}, {"y"});
  addOutput({2, 3});
  request.shapes = {{2, 3}};
  compile();
  EXPECT_EQ(readings, 1u);
}

TEST_F(ModelSourceTest, DynamicModelsAreTranslatedOnce) {
  addInput("x", {-1, 3});
  addNode(graph, "Exp", {"x"}, {"y"});
  addOutput({-1, 3});
  request.shapes = {{2, 3}};
  request.dynamic = {{-1, 3}};
  compile();
  EXPECT_FALSE(isRefused);
  EXPECT_EQ(readings, 1u);
}

TEST_F(ModelSourceTest, ARefusedDynamicProgramCostsOneTranslation) {
  addInput("x", {1, -1, 1});
  addTransform("x");
  addOutput({1, -1, 2});
  request.shapes = {{1, 4, 1}};
  request.dynamic = {{1, -1, 1}};
  compile();
  EXPECT_TRUE(isRefused);
  // The description, the dynamic program, the static one.
  EXPECT_EQ(readings, 3u);
}

TEST_F(ModelSourceTest, EachKindOfProgramCostsOneTranslation) {
  addInput("x", {1, 8, 1});
  addInput("n", {1}, TensorProto::INT64);
  addInteger("zero", 0);
  addInteger("one", 1);
  addNode(graph, "Slice", {"x", "zero", "n", "one"}, {"part"});
  addTransform("part");
  addOutput({1, -1, 2});
  request.shapes = {{1, 8, 1}, {1}};
  setInteger(3);
  compile();
  EXPECT_TRUE(isForValues);
  // The description, the sizes alone, a program for all values, one for these.
  EXPECT_EQ(readings, 4u);
}

TEST_F(ModelSourceTest, AllBranchesThatValuesDecideCostOneTranslation) {
  addChoices("Squeeze");
  request.shapes = {{3, 2, 1}, {1}};
  setInteger(1);
  compile();
  EXPECT_FALSE(isRefused);
  // The description, the dynamic program, the branches that the values take.
  EXPECT_EQ(readings, 3u);
}

TEST_F(ModelSourceTest, BranchesThatNothingDecidesCostNoTranslation) {
  addChoices("Squeeze");
  compile();
  EXPECT_FALSE(isRefused);
  EXPECT_EQ(readings, 2u);
}

TEST_F(ModelSourceTest, EachInvalidBranchCostsOneTranslation) {
  // No tensor has a size of -2, so the other branches are taken.
  addChoices("Reshape");
  graph.mutable_initializer(0)->set_int64_data(0, -2);
  compile();
  EXPECT_FALSE(isRefused);
  EXPECT_EQ(readings, 5u);
}

TEST_F(ModelSourceTest, WithoutAnyBranchTheErrorIsOfTheUndecidedNode) {
  addInput("x", {-1, 2, -1});
  addInput("k", {1}, TensorProto::INT64);
  addInteger("last", -2);
  addInteger("one", 1);
  addNode(graph, "Equal", {"k", "one"}, {"isOne"});
  addChoice("isOne", "Reshape", "x", "chosen");
  // Neither branch gives so many dimensions.
  addInteger("ninth", 9);
  addNode(graph, "Squeeze", {"chosen", "ninth"}, {"y"});
  addOutput({-1, -1});
  request.dynamic = {{-1, 2, -1}, {1}};
  auto opened = open();
  ASSERT_TRUE(opened) << opened.error().message();
  auto program = (*opened)->compile(request);
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().kind, ErrorKind::Unsupported);
  EXPECT_CONTAINS(program.error().message(), "1 x If");
  // The description, both branches, none.
  EXPECT_EQ(readings, 4u);
}

TEST_F(ModelSourceTest, TheTranslationForBranchesIsTheStaticOne) {
  addInput("x", {1, -1, -1});
  addInteger("last", 2);
  addInteger("one", 1);
  addNode(graph, "Shape", {"x"}, {"shape"});
  addNode(graph, "Gather", {"shape", "last"}, {"size"});
  addNode(graph, "Equal", {"size", "one"}, {"isOne"});
  addChoice("isOne", "Squeeze", "x", "chosen");
  addNode(graph, "Flatten", {"chosen"}, {"z"});
  addOutput({1, -1}, "z");
  addInput("w", {1, -1, 1});
  addTransform("w");
  addOutput({1, -1, 2});
  request.shapes = {{1, 4, 1}, {1, 4, 1}};
  request.dynamic = {{1, -1, -1}, {1, -1, 1}};
  compile();
  EXPECT_TRUE(isRefused);
  EXPECT_EQ(readings, 3u);
}

TEST_F(ModelSourceTest, BoundInputsCostNoTranslation) {
  addInput("x", {-1, 3});
  addInput("w", {-1, 3});
  addNode(graph, "Add", {"x", "w"}, {"y"});
  addOutput({-1, 3});
  file.bound = {{"w", Tensor(ElementType::F32, {1, 3})}};
  auto opened = open();
  ASSERT_TRUE(opened) << opened.error().message();
  EXPECT_EQ((*opened)->description().inputNames(),
            std::vector<std::string>{"x"});
  EXPECT_TRUE((*opened)->facts());
  EXPECT_EQ(readings, 1u);
}

TEST_F(ModelSourceTest, WhatIsWrittenIsTranslatedOnce) {
  addInput("x", {-1, 3});
  addNode(graph, "Exp", {"x"}, {"y"});
  addOutput({-1, 3});
  writeText(folder / "model.counted", model.SerializeAsString());
  OptimizeRequest optimize;
  optimize.input.path = folder / "model.counted";
  optimize.output = folder / "optimized.counted";
  auto report = MlirCompiler().optimize(optimize);
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_EQ(openings, 1u);
  EXPECT_EQ(readings, 1u);
}

} // namespace
} // namespace sinter::onnx::test
