// Covers: formats/onnx/ops RuntimeFused

#include <gtest/gtest.h>

#include "formats/onnx/OnnxReader.h"
#include "formats/onnx/TestModel.h"
#include "graph/Constants.h"
#include "interpreter/Interpreter.h"
#include <cmath>

namespace sinter {
namespace {

using namespace onnx;
using namespace onnx::test;
using Doubles = std::vector<double>;

/// A model of one node of ONNX Runtime's domain (or ONNX's), on float inputs.
class RuntimeFused : public ::testing::Test {
protected:
  RuntimeFused() : model(emptyModel()), graph(*model.mutable_graph()) {
    OperatorSetIdProto &opset = *model.add_opset_import();
    opset.set_domain("com.microsoft");
    opset.set_version(1);
  }

  NodeProto &node(const std::string &op,
                  std::initializer_list<const char *> inputs,
                  std::initializer_list<const char *> outputs = {"y"},
                  const char *domain = "com.microsoft") {
    NodeProto &node = addNode(graph, op, inputs, outputs);
    node.set_domain(domain);
    for (const char *output : outputs)
      if (*output)
        graph.add_output()->set_name(output);
    return node;
  }
  void input(const std::string &name, const Shape &shape,
             const Doubles &values = {}) {
    ValueInfoProto &input = *graph.add_input();
    input.set_name(name);
    auto &tensor = *input.mutable_type()->mutable_tensor_type();
    tensor.set_elem_type(isHalf ? TensorProto::FLOAT16 : TensorProto::FLOAT);
    for (int64_t size : shape)
      tensor.mutable_shape()->add_dim()->set_dim_value(size);
    tensors.push_back(tensorOfDoubles(
        isHalf ? ElementType::F16 : ElementType::F32, shape, values));
  }
  static void set(NodeProto &node, const std::string &name, float value) {
    AttributeProto &attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_type(AttributeProto::FLOAT);
    attribute.set_f(value);
  }
  static void set(NodeProto &node, const std::string &name, int value) {
    AttributeProto &attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_type(AttributeProto::INT);
    attribute.set_i(value);
  }

  Result<Model> read() {
    auto file = load(model);
    if (!file)
      return file.takeError();
    return readOnnx(*file, {});
  }
  void expect(const std::vector<Doubles> &expected, double tolerance = 1e-6) {
    auto done = read();
    ASSERT_TRUE(done) << done.error().message();
    auto outputs = interpret(done->entry(), tensors);
    ASSERT_TRUE(outputs) << outputs.error().message();
    ASSERT_EQ(outputs->size(), expected.size());
    for (size_t k = 0; k < expected.size(); ++k) {
      const Tensor &got = (*outputs)[k];
      ASSERT_EQ(size_t(got.size()), expected[k].size()) << "output " << k;
      for (int64_t i = 0; i < got.size(); ++i)
        EXPECT_NEAR(got.toDouble(i), expected[k][i], tolerance)
            << "output " << k << ", element " << i;
    }
  }

  bool isHalf = false;
  ModelProto model;
  GraphProto &graph;
  std::vector<Tensor> tensors;
};

double gelu(double x) { return x / 2 * (1 + std::erf(x / std::sqrt(2))); }
double fastGelu(double x) {
  return x / 2 *
         (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}

TEST_F(RuntimeFused, Gelu) {
  input("x", {2}, {-1, 2});
  node("Gelu", {"x"});
  expect({{gelu(-1), gelu(2)}});
}

TEST_F(RuntimeFused, BiasGelu) {
  input("x", {2, 2}, {-1, 2, 0, 1});
  input("b", {2}, {0.5, -1});
  node("BiasGelu", {"x", "b"});
  expect({{gelu(-0.5), gelu(1), gelu(0.5), gelu(0)}});
}

TEST_F(RuntimeFused, FastGelu) {
  input("x", {2, 2}, {-1, 2, 0, 1});
  node("FastGelu", {"x"});
  expect({{fastGelu(-1), fastGelu(2), fastGelu(0), fastGelu(1)}});
}

TEST_F(RuntimeFused, FastGeluWithABias) {
  input("x", {2, 2}, {-1, 2, 0, 1});
  input("b", {2}, {0.5, -1});
  node("FastGelu", {"x", "b"});
  expect({{fastGelu(-0.5), fastGelu(1), fastGelu(0.5), fastGelu(0)}});
}

/// In f16 1 + 2^-11 is 1.
TEST_F(RuntimeFused, AddsABiasInF32) {
  isHalf = true;
  input("x", {1}, {1});
  input("s", {1}, {0x1p-11});
  input("g", {1}, {1});
  input("b", {1}, {-1});
  node("SkipSimplifiedLayerNormalization", {"x", "s", "g", "b"},
       {"", "", "", "sum"});
  expect({{0x1p-11}}, 0);
}

TEST_F(RuntimeFused, QuickGelu) {
  input("x", {2}, {-1, 2});
  node("QuickGelu", {"x"});
  expect({{-1 / (1 + std::exp(1.702)), 2 / (1 + std::exp(-3.404))}});
}

TEST_F(RuntimeFused, FusedMatMulTransposesAndScales) {
  // a' = [1 3; 2 4], b' = [5 7; 6 8]
  input("a", {2, 2}, {1, 2, 3, 4});
  input("b", {2, 2}, {5, 6, 7, 8});
  NodeProto &product = node("FusedMatMul", {"a", "b"});
  set(product, "transA", 1);
  set(product, "transB", 1);
  set(product, "alpha", 0.5f);
  expect({{11.5, 15.5, 17, 23}});
}

/// A vector stays as it is.
TEST_F(RuntimeFused, FusedMatMulOfBatches) {
  input("a", {2}, {1, 2});
  input("b", {2, 1, 2}, {3, 4, 5, 6});
  NodeProto &product = node("FusedMatMul", {"a", "b"});
  set(product, "transA", 1);
  set(product, "transB", 1);
  expect({{11, 17}});
}

TEST_F(RuntimeFused, SimplifiedLayerNormalization) {
  input("x", {1, 2}, {3, 4});
  input("g", {2}, {1, 2});
  set(node("SimplifiedLayerNormalization", {"x", "g"}, {"y"}, ""), "epsilon",
      0.5f);
  const double deviation = std::sqrt(12.5 + 0.5);
  expect({{3 / deviation, 8 / deviation}});
}

/// Without a beta, with a bias and a skip that broadcasts.
TEST_F(RuntimeFused, SkipLayerNormalization) {
  input("x", {2, 1, 2}, {1, 2, 3, 5});
  input("s", {1, 2}, {2, 4});
  input("g", {2}, {1, 3});
  input("b", {2}, {1, -1});
  set(node("SkipLayerNormalization", {"x", "s", "g", "", "b"},
           {"y", "mean", "inverse", "sum"}),
      "epsilon", 0.75f);
  const double first = 1 / std::sqrt(0.25 + 0.75),
               second = 1 / std::sqrt(1 + 0.75);
  expect({{-0.5 * first, 1.5 * first, -second, 3 * second},
          {4.5, 7},
          {first, second},
          {4, 5, 6, 8}});
}

TEST_F(RuntimeFused, SkipLayerNormalizationWithABeta) {
  input("x", {1, 2}, {1, 2});
  input("s", {1, 2}, {3, 4});
  input("g", {2}, {1, 3});
  input("b", {2}, {10, 20});
  set(node("SkipLayerNormalization", {"x", "s", "g", "b"}), "epsilon", 0.0f);
  expect({{9, 23}});
}

TEST_F(RuntimeFused, RefusesABiasOfAnotherSize) {
  input("x", {2, 3});
  input("b", {2});
  node("BiasGelu", {"x", "b"});
  EXPECT_CONTAINS(errorOf(read()),
                  "has not one element for each index of the last dimension");
}

TEST_F(RuntimeFused, ListsOutputsThatItDoesNotCompute) {
  input("x", {1, 2});
  input("g", {2});
  node("SkipSimplifiedLayerNormalization", {"x", "x", "g"}, {"y", "mean"});
  set(node("GroupNorm", {"x", "g", "g"}, {"z"}), "activation", 3);
  const std::string message = read().error().message();
  EXPECT_CONTAINS(message, "output 1, the mean");
  EXPECT_CONTAINS(message, "activation 3");
}

} // namespace
} // namespace sinter
