//===- PirProgramTest.cpp - programs of PIR, read and refused -------------===//
//
// Covers: formats/paddle/file DecodePir DecodePirControlFlow DecodePirOperators
// Covers: formats/paddle/file DecodePirPorts DecodePirValues JsonReader
// Covers: formats/paddle/file PirControlFlow PirOperator

#include "formats/paddle/file/PirProgram.h"
#include "formats/paddle/PirText.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

using namespace sinter;
using namespace sinter::paddle;
using namespace sinter::test;

namespace {

const std::string scalar = pirTensor(""), vector3 = pirTensor("3");

/// The text of a shared model; empty where it is not there.
std::string sharedProgram(const std::string &folder) {
  const std::filesystem::path path =
      std::filesystem::path(SINTER_SOURCE_DIR).parent_path() /
      "shared/data/paddle" / folder / "inference.json";
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string refusalOf(const std::string &text) {
  Result<Program> program = decodePir(text);
  return program ? "" : program.error().message();
}

ErrorKind refusalKindOf(const std::string &text) {
  Result<Program> program = decodePir(text);
  EXPECT_FALSE(program);
  return program ? ErrorKind::WrongResult : program.error().kind;
}

/// x -> \p operators -> the last value %9.
Program decoded(std::vector<std::string> operators) {
  operators.insert(operators.begin(), pirInput(1, "x", vector3));
  operators.push_back(pirOutput(90, 9, 0, vector3));
  Result<Program> program = decodePir(pirProgram(operators));
  EXPECT_TRUE(program) << program.error().message();
  return program ? std::move(*program) : Program();
}

using Names = std::vector<std::string>;

Names inputOf(const Operator &op, const char *slot) {
  const auto *found = op.input(slot);
  return found ? *found : Names{"(none)"};
}

Names outputOf(const Operator &op, const char *slot) {
  const auto *found = op.output(slot);
  return found ? *found : Names{"(none)"};
}

} // namespace

//===----------------------------------------------------------------------===//
// Real programs
//===----------------------------------------------------------------------===//

struct SharedModel {
  std::string folder;
  size_t parameters, elements;
  std::map<std::string, int> operators;
};

class SharedPirModels : public testing::TestWithParam<SharedModel> {};

TEST_P(SharedPirModels, AreReadWhole) {
  const std::string text = sharedProgram(GetParam().folder);
  if (text.empty())
    GTEST_SKIP() << "no ../shared/data/paddle";
  Result<Program> program = decodePir(text);
  ASSERT_TRUE(program) << program.error().message();
  EXPECT_EQ(program->era, Era::Pir);
  EXPECT_EQ(program->parameters().size(), GetParam().parameters);
  size_t elements = 0;
  for (const Variable *each : program->parameters()) {
    size_t count = 1;
    for (const int64_t size : each->dims)
      count *= size;
    elements += count;
  }
  EXPECT_EQ(elements, GetParam().elements);
  std::map<std::string, int> counts;
  for (const Operator &op : program->blocks.at(0).operators)
    ++counts[op.type];
  EXPECT_EQ(counts, GetParam().operators);
  ASSERT_EQ(program->inputs.size(), 1u);
  EXPECT_EQ(program->inputs[0].name, "x");
  ASSERT_EQ(program->outputs.size(), 1u);
  EXPECT_EQ(program->outputs[0].name, "fetch_name_0");
}

INSTANTIATE_TEST_SUITE_P(Paddle, SharedPirModels,
                         testing::Values(SharedModel{"pir_ppocr_v5_mobile_det",
                                                     234,
                                                     1171721,
                                                     {{"assign_value", 66},
                                                      {"batch_norm", 3},
                                                      {"concat", 1},
                                                      {"conv2d", 48},
                                                      {"conv2d_transpose", 2},
                                                      {"depthwise_conv2d", 14},
                                                      {"elementwise_add", 117},
                                                      {"elementwise_mul", 62},
                                                      {"fill_constant", 1},
                                                      {"hard_sigmoid", 10},
                                                      {"hard_swish", 24},
                                                      {"nearest_interp_v2", 6},
                                                      {"pool2d", 10},
                                                      {"relu", 12},
                                                      {"reshape2", 54},
                                                      {"sigmoid", 1}}},
                                         SharedModel{
                                             "pir_ppocr_v5_mobile_rec",
                                             234,
                                             4113181,
                                             {{"assign", 1},
                                              {"assign_value", 54},
                                              {"batch_norm", 6},
                                              {"concat", 1},
                                              {"conv2d", 24},
                                              {"depthwise_conv2d", 14},
                                              {"dropout", 8},
                                              {"elementwise_add", 101},
                                              {"elementwise_mul", 58},
                                              {"fill_constant", 14},
                                              {"flatten_contiguous_range", 1},
                                              {"hard_sigmoid", 2},
                                              {"hard_swish", 28},
                                              {"layer_norm", 5},
                                              {"matmul_v2", 13},
                                              {"pool2d", 3},
                                              {"relu", 2},
                                              {"reshape2", 37},
                                              {"scale", 2},
                                              {"shape64", 1},
                                              {"slice", 7},
                                              {"softmax", 3},
                                              {"squeeze2", 1},
                                              {"stack", 1},
                                              {"swish", 7},
                                              {"transpose2", 9}}}),
                         [](const auto &info) { return info.param.folder; });

//===----------------------------------------------------------------------===//
// Operators in older words
//===----------------------------------------------------------------------===//

TEST(PirProgram, OperandsThatWereAttributesStandInTheirSlots) {
  const Program program = decoded({
      pirOperator("1.full_int_array", {}, {pirResult(2, pirTensor("2", "i64"))},
                  {pirInts("value", "i64", {1, -1}),
                   pirAttribute("dtype", "1.a_dtype", "\"int64\"")}),
      pirOperator("1.reshape", {1, 2}, {pirResult(9, pirTensor("1,3"))}),
  });
  const std::vector<Operator> &operators = program.blocks.at(0).operators;
  ASSERT_EQ(operators.size(), 2u);
  EXPECT_EQ(operators[0].type, "assign_value");
  ASSERT_NE(operators[0].attribute("int64_values"), nullptr);
  EXPECT_EQ(*operators[0].attribute("int64_values"),
            AttributeValue(std::vector<int64_t>{1, -1}));
  EXPECT_EQ(*operators[0].attribute("dtype"), AttributeValue(int64_t(3)));
  EXPECT_EQ(operators[1].type, "reshape2");
  EXPECT_EQ(inputOf(operators[1], "X"), Names{"x"});
  EXPECT_EQ(inputOf(operators[1], "Shape"), Names{"%2"});
  EXPECT_EQ(outputOf(operators[1], "Out"), Names{"%9"});
}

TEST(PirProgram, ConstantOperandsWithoutASlotAreAttributes) {
  const Program program = decoded({
      pirOperator("1.full", {}, {pirResult(2, scalar)},
                  {pirAttribute("shape", "1.a_intarray", "[1]"),
                   pirAttribute("value", "0.a_f64", "0.25"),
                   pirAttribute("dtype", "1.a_dtype", "\"float32\"")}),
      pirOperator("1.dropout", {1, 0, 2},
                  {pirResult(9, vector3), pirResult(10, vector3)},
                  {pirAttribute("mode", "0.a_str", "\"downgrade_in_infer\"")}),
  });
  const Operator &op = program.blocks.at(0).operators.at(1);
  ASSERT_NE(op.attribute("dropout_prob"), nullptr);
  EXPECT_EQ(*op.attribute("dropout_prob"), AttributeValue(0.25));
  EXPECT_EQ(*op.attribute("dropout_implementation"),
            AttributeValue(std::string("downgrade_in_infer")));
  EXPECT_EQ(op.input("Seed"), nullptr);
}

TEST(PirProgram, ComputedOperandsWithoutASlotAreVariablesOfAttributes) {
  const Program program = decoded({
      pirOperator("1.shape", {1}, {pirResult(2, pirTensor("1", "i32"))}),
      pirOperator("1.sum", {1, 2}, {pirResult(9, vector3)}),
  });
  const Operator &op = program.blocks.at(0).operators.at(1);
  ASSERT_NE(op.attribute("dim"), nullptr);
  EXPECT_EQ(*op.attribute("dim"), AttributeValue(VariableNames{{"%2"}}));
}

TEST(PirProgram, ListsStandInSlots) {
  const std::string list =
      R"({"#":"0.t_vec","D":[)" + vector3 + "," + vector3 + "]}";
  const Program program = decoded({
      pirOperator("1.split_with_num", {1}, {pirResult(2, list)},
                  {pirAttribute("num", "0.a_i32", "2")}),
      pirOperator("0.split", {2},
                  {pirResult(3, vector3), pirResult(4, vector3)}),
      pirOperator("1.relu_", {4}, {pirResult(5, vector3)}),
      pirOperator("0.combine", {3, 5}, {pirResult(6, list)}),
      pirOperator("1.concat", {6}, {pirResult(9, vector3)}),
  });
  const std::vector<Operator> &operators = program.blocks.at(0).operators;
  ASSERT_EQ(operators.size(), 3u);
  EXPECT_EQ(operators[0].type, "split");
  EXPECT_EQ(outputOf(operators[0], "Out"), (Names{"%2.0", "%2.1"}));
  EXPECT_EQ(operators[1].type, "relu");
  EXPECT_EQ(inputOf(operators[1], "X"), Names{"%2.1"});
  EXPECT_EQ(inputOf(operators[2], "X"), (Names{"%2.0", "%5"}));
}

TEST(PirProgram, UnknownOperatorsKeepTheirNameAndPlaces) {
  const Program program = decoded({
      pirOperator("3.custom_gap", {1, 0, 1}, {pirResult(9, vector3)},
                  {pirAttribute("alpha", "0.a_f32", "0.5")}),
  });
  const Operator &op = program.blocks.at(0).operators.at(0);
  EXPECT_EQ(op.type, "custom_op.custom_gap");
  EXPECT_EQ(inputOf(op, "#0"), Names{"x"});
  EXPECT_EQ(inputOf(op, "#2"), Names{"x"});
  EXPECT_EQ(outputOf(op, "#0"), Names{"%9"});
  EXPECT_EQ(*op.attribute("alpha"), AttributeValue(0.5));
}

TEST(PirProgram, KindsOfNumbersAreNotToldApart) {
  for (const auto &[kind, data] :
       {std::pair{"0.a_f32", "1.5"}, {"0.a_f64", "1.5"}}) {
    const Program program =
        decoded({pirOperator("1.leaky_relu", {1}, {pirResult(9, vector3)},
                             {pirAttribute("negative_slope", kind, data)})});
    EXPECT_EQ(*program.blocks.at(0).operators.at(0).attribute("alpha"),
              AttributeValue(1.5));
  }
  const Program program = decoded(
      {R"({"#":"1.clip","A":[{"AT":{"#":"0.a_f32","VD":"-INF"},"N":"min"}],)"
       R"("I":[{"%":1}],"O":[)" +
       pirResult(9, vector3) + "]}"});
  EXPECT_EQ(*program.blocks.at(0).operators.at(0).attribute("min"),
            AttributeValue(-std::numeric_limits<double>::infinity()));
}

TEST(PirProgram, OutputsAreInTheOrderOfTheirColumns) {
  Result<Program> program = decodePir(pirProgram({
      pirInput(1, "x", vector3),
      pirInput(2, "y", vector3),
      pirOutput(3, 2, 1, vector3),
      pirOutput(4, 1, 0, vector3),
  }));
  ASSERT_TRUE(program) << program.error().message();
  ASSERT_EQ(program->outputs.size(), 2u);
  EXPECT_EQ(program->outputs[0].variable, "x");
  EXPECT_EQ(program->outputs[1].name, "out_1");
}

//===----------------------------------------------------------------------===//
// Branches and loops
//===----------------------------------------------------------------------===//

TEST(PirProgram, ABranchIsTwoBlocksAndAChoice) {
  const std::string flag = pirTensor("", "bool");
  const Program program = decoded({
      pirOperator("1.isnan", {1}, {pirResult(2, flag)}),
      pirOperator(
          "1.if", {2}, {pirResult(9, vector3)}, {},
          {pirRegion({pirOperator("1.relu", {1}, {pirResult(3, vector3)}),
                      pirOperator("2.yield", {3}, {})}),
           pirRegion({pirOperator("2.yield", {1}, {})})}),
  });
  ASSERT_EQ(program.blocks.size(), 3u);
  EXPECT_EQ(program.blocks[1].parent, 0);
  std::vector<std::string> types;
  for (const Operator &op : program.blocks[0].operators)
    types.push_back(op.type);
  EXPECT_EQ(types, (Names{"isnan_v2", "conditional_block", "logical_not",
                          "conditional_block", "cast", "select_input"}));
  const Operator &last = program.blocks[0].operators.back();
  EXPECT_EQ(inputOf(last, "X"), (Names{"%9.false", "%9.true"}));
  EXPECT_EQ(outputOf(last, "Out"), Names{"%9"});
  ASSERT_EQ(program.blocks[1].operators.size(), 2u);
  EXPECT_EQ(program.blocks[1].operators[1].type, "assign");
  EXPECT_EQ(inputOf(program.blocks[1].operators[1], "X"), Names{"%3"});
  ASSERT_EQ(program.blocks[2].operators.size(), 1u);
  EXPECT_EQ(inputOf(program.blocks[2].operators[0], "X"), Names{"x"});
}

TEST(PirProgram, ALoopCarriesVariables) {
  const std::string flag = pirTensor("", "bool");
  // The two that are carried change places each round.
  const Program program = decoded({
      pirOperator("1.isnan", {1}, {pirResult(2, flag)}),
      pirOperator("1.relu", {1}, {pirResult(3, vector3)}),
      pirOperator(
          "1.while", {2, 1, 3}, {pirResult(9, vector3), pirResult(10, vector3)},
          {},
          {pirRegion({pirOperator("1.isnan", {-2}, {pirResult(4, flag)}),
                      pirOperator("2.yield", {4, -2, -1}, {})},
                     {pirArgument(-1, vector3), pirArgument(-2, vector3)})}),
  });
  ASSERT_EQ(program.blocks.size(), 2u);
  EXPECT_EQ(program.blocks[1].arguments, (Names{"%9", "%10"}));
  const std::vector<Operator> &main = program.blocks[0].operators;
  ASSERT_EQ(main.size(), 6u);
  EXPECT_EQ(main[5].type, "while");
  EXPECT_EQ(inputOf(main[5], "X"), (Names{"%9", "%10"}));
  EXPECT_EQ(inputOf(main[3], "X"), Names{"x"});
  EXPECT_EQ(outputOf(main[3], "Out"), Names{"%9"});
  std::vector<std::string> body;
  for (const Operator &op : program.blocks[1].operators)
    body.push_back(op.inputs.at(0).arguments.at(0) + " to " +
                   op.outputs.at(0).arguments.at(0));
  EXPECT_EQ(body, (Names{"%10 to %4", "%10 to %9.next", "%9 to %10.next",
                         "%4 to %block1.condition", "%9.next to %9",
                         "%10.next to %10"}));
}

//===----------------------------------------------------------------------===//
// What is refused
//===----------------------------------------------------------------------===//

TEST(PirProgram, RefusesBrokenJson) {
  const std::string good =
      pirProgram({pirInput(1, "x", vector3), pirOutput(2, 1, 0, vector3)});
  ASSERT_EQ(refusalOf(good), "");
  for (size_t length = 0; length < good.size(); ++length) {
    const std::string message = refusalOf(good.substr(0, length));
    EXPECT_NE(message, "") << length;
    EXPECT_EQ(message.find('\n'), message.npos);
  }
  EXPECT_NE(refusalOf(good + "x"), "");
  for (const char *text :
       {"{\"a\":01}", "{\"a\":1.}", "{\"a\":+1}", "{\"a\":1e}", "{\"a\":nul}",
        "{\"a\":[1,]}", "{\"a\":1,}", "{\"a\" 1}", "{a:1}", "{\"a\":\"\\x\"}",
        "{\"a\":\"\\u12\"}", "{\"a\":\"\\ud800\"}", "{\"a\":\"\n\"}",
        "{\"a\":1e999}", "{\"a\":[1}", "{\"a\":tru}"})
    EXPECT_NE(refusalOf(text).find("at byte"), std::string::npos)
        << text << ": " << refusalOf(text);
}

TEST(PirProgram, RefusesDeepNesting) {
  for (const std::string &opening :
       {std::string("["), std::string("{\"a\":")}) {
    std::string text = "{\"a\":";
    for (int i = 0; i < 10000; ++i)
      text += opening;
    EXPECT_NE(refusalOf(text).find("nested more than 512 deep"),
              std::string::npos)
        << refusalOf(text);
  }
  std::string regions = pirOperator("2.yield", {}, {});
  for (int i = 0; i < 70; ++i)
    regions = pirOperator(
        "1.if", {1}, {}, {},
        {pirRegion({regions}), pirRegion({pirOperator("2.yield", {}, {})})});
  const std::string text =
      pirProgram({pirInput(1, "x", pirTensor("", "bool")), regions});
  EXPECT_NE(refusalOf(text).find("nested"), std::string::npos)
      << refusalOf(text);
}

TEST(PirProgram, RefusesWhatIsNoProgram) {
  EXPECT_EQ(refusalKindOf("{}"), ErrorKind::InvalidModel);
  EXPECT_EQ(refusalKindOf("[]"), ErrorKind::InvalidModel);
  EXPECT_EQ(refusalKindOf(
                R"({"base_code":{"magic":"rip","version":1},"program":{}})"),
            ErrorKind::InvalidModel);
  EXPECT_EQ(refusalKindOf(pirProgram({}, 5)), ErrorKind::Unsupported);
  EXPECT_EQ(refusalOf(pirProgram({}, 4)), "");
  const std::string older =
      R"({"base_code":{"magic":"pir","version":1},"program":{"regions":[)"
      R"({"id":"region_0","blocks":[{"id":"block_0","args":[],"ops":[]}]}]}})";
  EXPECT_EQ(refusalKindOf(older), ErrorKind::Unsupported);
  EXPECT_NE(refusalOf(older).find("never released"), std::string::npos);
}

TEST(PirProgram, RefusesWrongValues) {
  const std::string input = pirInput(1, "x", vector3);
  const auto refuses = [&](const std::vector<std::string> &operators,
                           const std::string &why) {
    std::vector<std::string> all = {input};
    all.insert(all.end(), operators.begin(), operators.end());
    EXPECT_NE(refusalOf(pirProgram(all)).find(why), std::string::npos)
        << refusalOf(pirProgram(all));
    EXPECT_EQ(refusalKindOf(pirProgram(all)), ErrorKind::InvalidModel);
  };
  refuses({pirOperator("1.relu", {1}, {pirResult(1, vector3)})},
          "%1 is defined twice");
  refuses({pirOperator("1.relu", {5}, {pirResult(2, vector3)})},
          "%5 is used before it is defined");
  refuses({pirOperator("1.relu", {1, 1}, {pirResult(2, vector3)})},
          "2 operands");
  refuses({pirParameter(2, "w", "3"), pirParameter(3, "w", "3")},
          "'w' is that of another value");
  refuses({pirParameter(2, "%1", "3")}, "'%1' is that of another value");
  refuses({pirOperator("0.split", {1}, {pirResult(2, vector3)})}, "no list");
  refuses({pirOperator("1.if", {1}, {pirResult(2, vector3)})}, "");
  refuses({pirOperator("1.if", {1}, {pirResult(2, vector3)}, {},
                       {pirRegion({pirOperator("2.yield", {1}, {})}),
                        pirRegion({pirOperator("2.yield", {}, {})})})},
          "ends with 0 values where 1 are expected");
  // A value of a region is not known outside.
  refuses({pirOperator(
               "1.if", {1}, {}, {},
               {pirRegion({pirOperator("1.relu", {1}, {pirResult(3, vector3)}),
                           pirOperator("2.yield", {}, {})}),
                pirRegion({pirOperator("2.yield", {}, {})})}),
           pirOperator("1.relu", {3}, {pirResult(4, vector3)})},
          "%3 is used before it is defined");
}

TEST(PirProgram, ReadsInLinearTime) {
  std::vector<std::string> operators = {pirInput(1, "x", vector3)};
  constexpr int count = 100000;
  for (int i = 1; i <= count; ++i)
    operators.push_back(
        pirOperator("1.relu", {i}, {pirResult(i + 1, vector3)}));
  const std::string text = pirProgram(operators);
  const auto start = std::chrono::steady_clock::now();
  Result<Program> program = decodePir(text);
  const std::chrono::duration<double> taken =
      std::chrono::steady_clock::now() - start;
  ASSERT_TRUE(program) << program.error().message();
  EXPECT_EQ(program->blocks.at(0).operators.size(), size_t(count));
  // A tenth of what a million may take, on a busy machine.
  EXPECT_LT(taken.count(), 5);
}
