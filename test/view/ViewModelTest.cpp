// Covers: engine/compiler LinkedRewriting NodeTags NodeTraces StepViews
// Covers: engine/compiler SymbolicTypes View ViewGraph
#include "view/ViewModel.h"

#include "TemporaryFolder.h"
#include "engine/CompilerLibrary.h"
#include "engine/ModelView.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace sinter;
using nlohmann::json;

namespace {

/// The view of a model as text.
class ViewModelTest : public testing::Test {
protected:
  Result<ModelView> view(const std::string &text) {
    folder.write("model.mlir", text);
    auto compiler = loadCompiler();
    if (!compiler)
      return compiler.takeError();
    ModelRequest request;
    request.path = folder.file("model.mlir");
    auto model = (*compiler)->open(request);
    if (!model)
      return model.takeError();
    const ModelDescription &description = (*model)->description();
    CompileRequest compiled;
    compiled.values.resize(description.inputs.size());
    bool isDynamic = false;
    for (const ModelInput &input : description.inputs) {
      compiled.dynamic.push_back(input.spec.shape);
      Shape &bound = compiled.shapes.emplace_back(input.spec.shape);
      for (int64_t &size : bound)
        if (size < 0) {
          isDynamic = true;
          size = 2;
        }
    }
    if (!isDynamic)
      compiled.dynamic.clear();
    return (*model)->view(compiled);
  }

  test::TemporaryFolder folder;
};

const ViewedNode *nodeOf(const GraphView &graph, std::string_view op) {
  for (const ViewedNode &node : graph.nodes)
    if (node.op == op)
      return &node;
  return nullptr;
}

std::vector<std::string> namesOf(const GraphView &graph,
                                 const std::vector<uint32_t> &tensors) {
  std::vector<std::string> names;
  for (const uint32_t tensor : tensors)
    names.push_back(graph.tensors[tensor].name);
  return names;
}

} // namespace

TEST_F(ViewModelTest, NodesAndTensorsAsRead) {
  auto found = view(R"(
func.func @main(%x: tensor<2x3xf32> {sinter.name = "x"}) -> (tensor<2x3xf32> {sinter.name = "y"}) {
  %c = stablehlo.constant dense<[1.0, 2.0, 6.0]> : tensor<3xf32>
  %b = stablehlo.broadcast_in_dim %c, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
  %s = stablehlo.add %x, %b : tensor<2x3xf32>
  %y = stablehlo.tanh %s : tensor<2x3xf32>
  return %y : tensor<2x3xf32>
})");
  ASSERT_TRUE(found) << found.error().message();
  const GraphView &graph = found->before;
  ASSERT_EQ(graph.nodes.size(), 2U);
  const ViewedNode &add = graph.nodes[0];
  EXPECT_EQ(add.op, "add");
  EXPECT_EQ(add.name, "%s");
  EXPECT_EQ(add.operations[0].name, "stablehlo.add");
  // A repeated constant is the constant.
  EXPECT_EQ(namesOf(graph, add.inputs), (std::vector<std::string>{"x", "%c"}));
  EXPECT_EQ(namesOf(graph, graph.inputs), std::vector<std::string>{"x"});
  EXPECT_EQ(namesOf(graph, graph.outputs), std::vector<std::string>{"y"});
  const ViewedTensor &constant = graph.tensors[add.inputs[1]];
  EXPECT_EQ(constant.type, "f32 [3]");
  EXPECT_EQ(constant.role, Role::Constant);
  EXPECT_EQ(constant.bytes, 12);
  ASSERT_TRUE(constant.constant);
  EXPECT_EQ(constant.constant->min, 1);
  EXPECT_EQ(constant.constant->max, 6);
  EXPECT_EQ(constant.constant->mean, 3);
  EXPECT_EQ(constant.constant->first,
            (std::vector<std::string>{"1", "2", "6"}));
}

TEST_F(ViewModelTest, LinksRewritesAndKernels) {
  auto found = view(R"(
func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<64xf32>
  %a = stablehlo.negate %x : tensor<64xf32>
  %b = stablehlo.negate %a : tensor<64xf32>
  %c = stablehlo.sine %b : tensor<64xf32>
  %d = stablehlo.abs %c : tensor<64xf32>
  return %d : tensor<64xf32>
})");
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_TRUE(found->notes.empty());
  ASSERT_TRUE(found->after);
  EXPECT_EQ(nodeOf(*found->after, "negate"), nullptr);
  const ViewedNode *before = nodeOf(found->before, "sine"),
                   *after = nodeOf(*found->after, "sine");
  ASSERT_TRUE(before && after);
  ASSERT_EQ(before->counterparts.size(), 1U);
  EXPECT_EQ(&found->after->nodes[before->counterparts[0]], after);
  ASSERT_EQ(after->counterparts.size(), 1U);
  EXPECT_EQ(&found->before.nodes[after->counterparts[0]], before);
  const ViewedNode &removed = found->before.nodes[1];
  ASSERT_EQ(removed.op, "negate");
  ASSERT_EQ(removed.rewrites.size(), 1U);
  const bool hasPicture =
      std::ranges::any_of(found->pictures, [&](const auto &each) {
        return each.first == removed.rewrites[0];
      });
  EXPECT_TRUE(hasPicture);
  // One kernel computes what is left.
  ASSERT_EQ(found->steps.size(), 1U);
  EXPECT_EQ(found->steps[0].number, 0U);
  EXPECT_EQ(found->steps[0].stages, 1U);
  EXPECT_EQ(found->steps[0].nodes.size(), found->after->nodes.size());
  ASSERT_TRUE(found->steps[0].seconds);
  EXPECT_GT(*found->steps[0].seconds, 0);
}

TEST_F(ViewModelTest, NamesOfDynamicSizes) {
  auto found = view(R"(
func.func @main(%x: tensor<?x3xf32> {sinter.name = "x", sinter.dims = ["N", ""]}) -> tensor<?x6xf32> {
  %c = stablehlo.concatenate %x, %x, dim = 1 : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x6xf32>
  %y = stablehlo.tanh %c : tensor<?x6xf32>
  return %y : tensor<?x6xf32>
})");
  ASSERT_TRUE(found) << found.error().message();
  for (const GraphView *graph : {&found->before, &*found->after}) {
    const ViewedNode *tanh = nodeOf(*graph, "tanh");
    ASSERT_TRUE(tanh);
    EXPECT_EQ(graph->tensors[tanh->outputs[0]].type, "f32 [N, 6]");
    EXPECT_FALSE(graph->tensors[tanh->outputs[0]].bytes);
    EXPECT_EQ(graph->tensors[graph->inputs[0]].type, "f32 [N, 3]");
  }
  ASSERT_FALSE(found->steps.empty());
  EXPECT_FALSE(found->steps[0].seconds);
}

TEST_F(ViewModelTest, NodesInLoopsHaveAnOwner) {
  auto found = view(R"(
func.func @main(%n: tensor<i32>, %x: tensor<4xf32> {sinter.name = "x"}) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %i, %y = stablehlo.while(%at = %zero, %value = %x) : tensor<i32>, tensor<4xf32>
  cond {
    %more = stablehlo.compare LT, %at, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %next = stablehlo.add %at, %one : tensor<i32>
    %wave = stablehlo.cosine %value : tensor<4xf32>
    stablehlo.return %next, %wave : tensor<i32>, tensor<4xf32>
  }
  return %y : tensor<4xf32>
})");
  ASSERT_TRUE(found) << found.error().message();
  const ViewedNode *wave = nodeOf(found->before, "cosine"),
                   *loop = nodeOf(found->before, "while");
  ASSERT_TRUE(wave && loop);
  ASSERT_TRUE(wave->owner);
  EXPECT_EQ(&found->before.nodes[*wave->owner], loop);
  EXPECT_EQ(namesOf(found->before, wave->inputs),
            std::vector<std::string>{"x"});
  EXPECT_TRUE(std::ranges::count(loop->inputs, wave->outputs[0]));
  EXPECT_TRUE(std::ranges::any_of(found->steps, [](const ViewedStep &step) {
    return step.depth == 1 && step.op == "cosine";
  }));
}

TEST_F(ViewModelTest, WhatCannotBeCompiledIsANote) {
  auto found = view(R"(
func.func @main(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %y = stablehlo.custom_call @nobody_knows_it(%x) : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %z = stablehlo.tanh %y : tensor<?x?xf32>
  return %z : tensor<?x?xf32>
})");
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_EQ(found->before.nodes.size(), 2U);
  EXPECT_TRUE(found->steps.empty());
  ASSERT_EQ(found->notes.size(), 1U);
  // Messages have the names of the file.
  EXPECT_NE(found->notes[0].find("'%y'"), std::string::npos) << found->notes[0];
}

TEST_F(ViewModelTest, WhatCannotBePreparedIsShownAsRead) {
  auto found = view(R"(
sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %t = stablehlo.tanh %x : tensor<4xf32>
  %y = sdy.manual_computation(%t) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%part: tensor<2xf32>) {
    sdy.return %part : tensor<2xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
})");
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_TRUE(nodeOf(found->before, "tanh"));
  EXPECT_TRUE(nodeOf(found->before, "manual_computation"));
  EXPECT_FALSE(found->after);
  ASSERT_EQ(found->notes.size(), 1U);
  EXPECT_NE(found->notes[0].find("sdy.manual_computation"), std::string::npos);
}

TEST_F(ViewModelTest, PageWithMeasuredTimes) {
  folder.write("model.mlir", R"(
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = stablehlo.tanh %x : tensor<8xf32>
  return %y : tensor<8xf32>
})");
  const std::string path = folder.file("model.mlir");
  auto page = viewModel(path, "model.mlir", {}, /*isMeasured=*/true);
  ASSERT_TRUE(page) << page.error().message();
  EXPECT_NE(page->find("\"measured\":true"), std::string::npos);
  // Also of steps without a name in the file.
  EXPECT_NE(page->find("\"ms\":"), std::string::npos);
  page = viewModel(path, "model.mlir", {}, /*isMeasured=*/false);
  ASSERT_TRUE(page) << page.error().message();
  EXPECT_NE(page->find("\"measured\":false"), std::string::npos);
  auto missing = viewModel(folder.file("none.mlir"), "none.mlir", {}, false);
  EXPECT_FALSE(missing);
}
