// Covers: view ModelPage
#include "view/ModelPage.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace sinter;
using nlohmann::json;

static ViewedTensor tensor(const std::string &name, const std::string &type,
                           Role role) {
  ViewedTensor made;
  made.name = name;
  made.type = type;
  made.role = role;
  return made;
}

static ViewedNode node(const std::string &op, const std::string &name,
                       std::vector<uint32_t> inputs, uint32_t output) {
  ViewedNode made;
  made.op = op;
  made.name = name;
  made.inputs = std::move(inputs);
  made.outputs = {output};
  return made;
}

/// x -> Conv -> Relu -> y, compiled to one kernel, and a loop.
static ModelView smallView() {
  ModelView view;
  GraphView &graph = view.before;
  graph.tensors = {tensor("x", "f32 [N, 3]", Role::Input),
                   tensor("w", "f32 [3]", Role::Constant),
                   tensor("h", "f32 [N, 3]", Role::Temporary),
                   tensor("y", "f32 [N, 3]", Role::Output)};
  graph.tensors[1].bytes = 12;
  graph.tensors[1].constant =
      ConstantFacts{-1, 2, 0.5, 3, 3, {"-1", "0.5", "2"}};
  graph.nodes = {node("Conv", "conv1", {0, 1}, 2),
                 node("Relu", "relu1", {2}, 3)};
  graph.nodes[0].operations = {
      {"stablehlo.convolution", {{"strides", "1, 1"}}}};
  graph.nodes[0].counterparts = {0};
  graph.nodes[1].rewrites = {"add-zero"};
  graph.inputs = {0};
  graph.outputs = {3};
  view.after = graph;
  view.steps.resize(2);
  ViewedStep &step = view.steps[0];
  step.layer = "relu1";
  step.op = "convolution+relu";
  step.kernel = "direct";
  step.flops = 6;
  step.seconds = 0.002;
  step.nodes = {0, 1};
  view.steps[1].op = "while";
  view.pictures = {{"add-zero", "x + 0 -> x"}};
  view.notes = {"a note"};
  return view;
}

TEST(ModelPageTest, GraphsAsJson) {
  const json page = modelViewJson("net.onnx", smallView());
  EXPECT_EQ(page["model"], "net.onnx");
  EXPECT_EQ(page["notes"], json::array({"a note"}));
  EXPECT_EQ(page["rewrites"]["add-zero"], "x + 0 -> x");
  ASSERT_EQ(page["graphs"].size(), 2u);
  const json &graph = page["graphs"][0];
  EXPECT_EQ(graph["inputs"], json::array({0}));
  EXPECT_EQ(graph["outputs"], json::array({3}));
  const json &conv = graph["nodes"][0];
  EXPECT_EQ(conv["op"], "Conv");
  EXPECT_EQ(conv["in"], json::array({0, 1}));
  EXPECT_EQ(conv["other"], json::array({0}));
  EXPECT_EQ(conv["operations"][0]["attributes"][0],
            json::array({"strides", "1, 1"}));
  // What is empty is left out.
  EXPECT_FALSE(conv.contains("rewrites"));
  EXPECT_FALSE(conv.contains("owner"));
  EXPECT_EQ(graph["nodes"][1]["rewrites"], json::array({"add-zero"}));
  EXPECT_EQ(graph["tensors"][0]["role"], "input");
  EXPECT_FALSE(graph["tensors"][0].contains("bytes"));
  const json &weights = graph["tensors"][1];
  EXPECT_EQ(weights["bytes"], 12);
  EXPECT_EQ(weights["constant"]["mean"], 0.5);
  EXPECT_EQ(weights["constant"]["first"][2], "2");
}

TEST(ModelPageTest, StepsAsJson) {
  const json page = modelViewJson("net.onnx", smallView());
  EXPECT_EQ(page["measured"], false);
  const json &step = page["steps"][0];
  EXPECT_EQ(step["kernel"], "direct");
  EXPECT_EQ(step["nodes"], json::array({0, 1}));
  EXPECT_DOUBLE_EQ(step["ms"], 2);
  EXPECT_FALSE(page["steps"][1].contains("ms"));
}

TEST(ModelPageTest, WithoutASecondGraph) {
  ModelView view = smallView();
  view.after.reset();
  view.steps.clear();
  EXPECT_EQ(modelViewJson("net.onnx", view)["graphs"].size(), 1u);
}

TEST(ModelPageTest, MeasuredTimesReplaceEstimates) {
  const ModelView view = smallView();
  const MeasuredStep measured[] = {
      {"relu1", "convolution+relu", "direct", 0.004}};
  const json page = modelViewJson("net.onnx", view, measured);
  EXPECT_EQ(page["measured"], true);
  EXPECT_DOUBLE_EQ(page["steps"][0]["ms"], 4);
  EXPECT_FALSE(page["steps"][1].contains("ms"));
}

TEST(ModelPageTest, StepsOfOneNameAreMeasuredInOrder) {
  ModelView view = smallView();
  view.steps = {view.steps[0], view.steps[0]};
  const MeasuredStep one{"relu1", "convolution+relu", "direct", 0.001},
      two{"relu1", "convolution+relu", "direct", 0.002};
  const MeasuredStep twice[] = {one, two};
  json page = modelViewJson("net.onnx", view, twice);
  EXPECT_DOUBLE_EQ(page["steps"][0]["ms"], 1);
  EXPECT_DOUBLE_EQ(page["steps"][1]["ms"], 2);
  // In a loop they are executed more often.
  const MeasuredStep often[] = {one, two, one, two};
  page = modelViewJson("net.onnx", view, often);
  EXPECT_DOUBLE_EQ(page["steps"][0]["ms"], 3);
  EXPECT_DOUBLE_EQ(page["steps"][1]["ms"], 3);
}

TEST(ModelPageTest, StagesAreMeasuredTogether) {
  ModelView view = smallView();
  view.steps = {view.steps[0], view.steps[0]};
  view.steps[0].stages = 2;
  view.steps[1].number = 2;
  const MeasuredStep one{"relu1", "convolution+relu", "direct", 0.001},
      two{"relu1", "convolution+relu", "direct", 0.002};
  const MeasuredStep run[] = {one, two, one};
  const json page = modelViewJson("net.onnx", view, run);
  EXPECT_EQ(page["steps"][0]["stages"], 2);
  EXPECT_EQ(page["steps"][1]["step"], 2);
  EXPECT_DOUBLE_EQ(page["steps"][0]["ms"], 3);
  EXPECT_DOUBLE_EQ(page["steps"][1]["ms"], 1);
}

/// The data of a page, as a browser finds it.
static std::string dataOf(const std::string &page) {
  const std::string begin = "id=\"data\">";
  const size_t at = page.find(begin) + begin.size();
  return page.substr(at, page.find("</script>", at) - at);
}

TEST(ModelPageTest, OneFileWithAllInIt) {
  const std::string page = modelPage("net.onnx", smallView());
  EXPECT_TRUE(page.starts_with("<!doctype html>"));
  EXPECT_TRUE(page.ends_with("</html>\n"));
  EXPECT_EQ(page.find("src="), std::string::npos);
  EXPECT_EQ(page.find("<link"), std::string::npos);
  EXPECT_EQ(page.find("@import"), std::string::npos);
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
  for (const char *mark : {"/*style*/", "/*layout*/", "/*drawing*/",
                           "/*details*/", "/*page*/", "/*data*/"})
    EXPECT_EQ(page.find(mark), std::string::npos) << mark;
  EXPECT_EQ(json::parse(dataOf(page)), modelViewJson("net.onnx", smallView()));
}

TEST(ModelPageTest, NamesEndNoElement) {
  const std::string evil = "</script><img src=x onerror=alert(1)><!--<script>";
  ModelView view = smallView();
  view.before.nodes[0].name = evil;
  view.before.tensors[0].name = evil;
  view.before.nodes[0].operations[0].attributes = {{evil, evil}};
  view.steps[0].layer = evil;
  view.notes = {evil};
  const std::string page = modelPage(evil, view),
                    plain = modelPage("net.onnx", smallView());
  EXPECT_EQ(page.find(evil), std::string::npos);
  EXPECT_EQ(page.find("<img"), std::string::npos);
  EXPECT_EQ(std::ranges::count(page, '<'), std::ranges::count(plain, '<'));
  EXPECT_EQ(json::parse(dataOf(page))["graphs"][0]["nodes"][0]["name"], evil);
}

TEST(ModelPageTest, TextsAreAscii) {
  ModelView view = smallView();
  view.before.nodes[0].name = "gr\xc3\xbc\xc3\x9f \xff \xe2\x80\xa8";
  const std::string data = dataOf(modelPage("net.onnx", view));
  EXPECT_TRUE(std::ranges::all_of(
      data, [](unsigned char each) { return each >= ' ' && each < 127; }));
  EXPECT_EQ(json::parse(data)["graphs"][0]["nodes"][0]["name"],
            "gr\xc3\xbc\xc3\x9f \xef\xbf\xbd \xe2\x80\xa8");
}
