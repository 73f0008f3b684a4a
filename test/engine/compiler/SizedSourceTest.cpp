//===- SizedSourceTest.cpp - how often a file is translated ---------------===//
//
// ONNX files, opened by a row of the table of formats that counts.
//
//===----------------------------------------------------------------------===//

#include "engine/compiler/MlirCompiler.h"
#include "formats/onnx/OnnxFormat.h"
#include "formats/onnx/TestModel.h"

#include <gtest/gtest.h>

using namespace sinter;
using namespace sinter::onnx;
using namespace sinter::onnx::test;

namespace {

unsigned readings = 0;

class CountedFile : public ModelFile {
public:
  explicit CountedFile(std::unique_ptr<ModelFile> file)
      : file(std::move(file)) {}

  Result<Model> read(const ReadOptions &options) override {
    ++readings;
    return file->read(options);
  }
  bool dependsOnSizes() const override { return file->dependsOnSizes(); }
  std::vector<DeclaredTensor>
  inputs(const std::map<std::string, std::vector<int64_t>> &shapes)
      const override {
    return file->inputs(shapes);
  }
  std::vector<DeclaredTensor> outputs() const override {
    return file->outputs();
  }

private:
  std::unique_ptr<ModelFile> file;
};

Likeness recognises(const std::string &path, std::span<const std::byte>) {
  return path.ends_with(".counted") ? Likeness::Yes : Likeness::No;
}

Result<std::unique_ptr<ModelFile>> open(const std::string &path,
                                        const OpenOptions &options) {
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

class SizedSourceTest : public testing::Test {
protected:
  SizedSourceTest() {
    addFormat(countedFormat());
    readings = 0;
    // Those that compile() reports.
    request.closed = [this](const std::string &) { isRefused = true; };
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
  void addOutput(std::initializer_list<int64_t> shape) {
    addTensor(*graph.add_output(), "y", shape, TensorProto::FLOAT);
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

  /// Opens the model and compiles what the request says.
  void compile() {
    writeText(folder / "model.counted", model.SerializeAsString());
    MlirCompiler compiler;
    ModelRequest file;
    file.path = folder / "model.counted";
    auto opened = compiler.open(file);
    ASSERT_TRUE(opened) << opened.error().message();
    request.threads = 1;
    request.values.resize(request.shapes.size());
    auto program = (*opened)->compile(request);
    ASSERT_TRUE(program) << program.error().message();
  }

  TemporaryFolder folder;
  ModelProto model = emptyModel();
  GraphProto &graph = *model.mutable_graph();
  CompileRequest request;
  bool isRefused = false, isForValues = false;
};

TEST_F(SizedSourceTest, StaticModelsAreTranslatedOnce) {
  addInput("x", {2, 3});
  addNode(graph, "Exp", {"x"}, {"y"});
  addOutput({2, 3});
  request.shapes = {{2, 3}};
  compile();
  EXPECT_EQ(readings, 1u);
}

TEST_F(SizedSourceTest, DynamicModelsAreTranslatedOnce) {
  addInput("x", {-1, 3});
  addNode(graph, "Exp", {"x"}, {"y"});
  addOutput({-1, 3});
  request.shapes = {{2, 3}};
  request.dynamic = {{-1, 3}};
  compile();
  EXPECT_FALSE(isRefused);
  EXPECT_EQ(readings, 1u);
}

TEST_F(SizedSourceTest, ARefusedDynamicProgramCostsOneTranslation) {
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

TEST_F(SizedSourceTest, EachKindOfProgramCostsOneTranslation) {
  addInput("x", {1, 8, 1});
  addInput("n", {1}, TensorProto::INT64);
  addInteger("zero", 0);
  addInteger("one", 1);
  addNode(graph, "Slice", {"x", "zero", "n", "one"}, {"part"});
  addTransform("part");
  addOutput({1, -1, 2});
  request.shapes = {{1, 8, 1}, {1}};
  request.values = {std::nullopt, Tensor(ElementType::I64, {1})};
  request.values[1]->set<int64_t>(0, 3);
  compile();
  EXPECT_TRUE(isForValues);
  // The description, the sizes alone, a program for all values, one for these.
  EXPECT_EQ(readings, 4u);
}

} // namespace
