#include "engine/ModelDescription.h"

#include <gtest/gtest.h>

namespace sinter {
namespace {

TEST(ModelDescription, SurvivesJson) {
  ModelDescription model;
  ModelInput input;
  input.spec = {"x\n\"", ElementType::BF16, {-1, 3}};
  input.symbols = {"N", ""};
  input.feedsShapes = true;
  input.sizesAreHints = true;
  input.otherNames = {"weights"};
  model.inputs = {input};
  model.inputs.emplace_back().ranked = false;
  model.outputs = {ModelOutput({"y", ElementType::I1, {}}),
                   ModelOutput({"z", ElementType::F32, {}}, /*ranked=*/false)};
  model.outputs[0].symbols = {"N"};
  model.states = {{"sum", ElementType::I64, {2, 3}}};
  model.metadata = {.format = "onnx",
                    .formatVersion = "8",
                    .producer = "maker",
                    .producerVersion = "1.2",
                    .domain = "org.example",
                    .graph = "net",
                    .description = "\"a\"\n",
                    .version = 7,
                    .operatorSets = {{"", 17}, {"com.microsoft", 1}},
                    .entries = {{"b", "1"}, {"a", ""}}};
  model.dataFiles = {"weights/a.bin"};
  const std::optional<ModelDescription> back =
      descriptionFromJson(toJson(model));
  ASSERT_TRUE(back);
  EXPECT_EQ(toJson(*back), toJson(model));
  EXPECT_EQ(back->inputs[0].spec, input.spec);
  EXPECT_EQ(back->inputs[0].symbols, input.symbols);
  EXPECT_TRUE(back->inputs[0].feedsShapes);
  EXPECT_EQ(back->inputs[0].otherNames, input.otherNames);
  EXPECT_EQ(back->outputs[0].symbols, model.outputs[0].symbols);
  EXPECT_EQ(back->states, model.states);
  EXPECT_EQ(back->metadata, model.metadata);
  EXPECT_FALSE(back->inputs[1].ranked);
  EXPECT_TRUE(back->inputs[0].sizesAreHints);
  EXPECT_FALSE(back->inputs[1].sizesAreHints);
  EXPECT_EQ(back->outputs[0].text(), "i1 []");
  EXPECT_EQ(back->outputs[1].text(), "f32 of any shape");
  EXPECT_EQ(back->dataFiles, model.dataFiles);
}

TEST(ModelDescription, Names) {
  ModelDescription model;
  model.inputs.resize(3);
  model.inputs[0].spec.name = "arg0";
  model.inputs[0].otherNames = {"weights", "both"};
  model.inputs[1].spec.name = "weights2";
  model.inputs[1].otherNames = {"both", "arg0"};
  model.inputs[2].spec.name = "%odd";
  EXPECT_EQ(model.inputNamed("arg0"), 0u);
  EXPECT_EQ(model.inputNamed("weights"), 0u);
  EXPECT_EQ(model.inputNamed("%weights"), 0u);
  EXPECT_EQ(model.inputNamed("%weights2"), 1u);
  EXPECT_EQ(model.inputNamed("%odd"), 2u);
  EXPECT_EQ(model.inputNamed("both"), std::nullopt);
  EXPECT_EQ(model.inputNamed("none"), std::nullopt);
}

TEST(ModelDescription, RefusesOtherText) {
  for (const char *text :
       {"", "{", "[]", "{}", "{\"inputs\": 3}",
        R"({"inputs":[],"outputs":[{"name":"y","type":"f31","shape":[]}],)"
        R"("data_files":[]})"})
    EXPECT_FALSE(descriptionFromJson(text)) << text;
}

TEST(ModelDescription, Text) {
  ModelInput input;
  input.spec = {"x", ElementType::F32, {-1, 3, -1}};
  input.symbols = {"N", "", ""};
  EXPECT_EQ(input.text(), "f32 [N, 3, ?]");
  EXPECT_TRUE(mayFeedShapes({"s", ElementType::I64, {4}}));
  EXPECT_TRUE(mayFeedShapes({"s", ElementType::I64, {}}));
  EXPECT_FALSE(mayFeedShapes({"s", ElementType::I64, {1, 4}}));
  EXPECT_TRUE(mayFeedShapes({"s", ElementType::F32, {4}}));
  EXPECT_FALSE(mayFeedShapes({"s", ElementType::F32, {400}}));
}

} // namespace
} // namespace sinter
