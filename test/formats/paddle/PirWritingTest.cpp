//===- PirWritingTest.cpp - programs written as PIR's JSON ----------------===//
//
// Covers: formats/paddle/file EncodePir EncodePirNames EncodePirOperators
// Covers: formats/paddle/file EncodePirRead EncodePirValues PirNames
// Covers: formats/paddle/file PirSkeleton PirTable

#include "formats/paddle/PirText.h"
#include "formats/paddle/file/PirNames.h"
#include "formats/paddle/file/PirProgram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

using namespace sinter;
using namespace sinter::paddle;
using namespace sinter::test;

namespace {

std::string rewritten(const std::string &text) {
  Result<Program> program = decodePir(text);
  EXPECT_TRUE(program) << program.error().message();
  if (!program)
    return "";
  Result<std::string> again = encodePir(*program);
  EXPECT_TRUE(again) << again.error().message();
  return again ? *again : "";
}

/// \p program, read again from what it is written as.
Program readAgain(const Program &program) {
  Result<std::string> text = encodePir(program);
  EXPECT_TRUE(text) << text.error().message();
  if (!text)
    return {};
  Result<Program> again = decodePir(*text);
  EXPECT_TRUE(again) << again.error().message();
  return again ? std::move(*again) : Program();
}

Variable variableOf(std::string name, std::vector<int64_t> dims = {2, 3},
                    ElementType type = ElementType::F32) {
  Variable variable;
  variable.name = std::move(name);
  variable.type = type;
  variable.dims = std::move(dims);
  return variable;
}

/// A new program of the operators \p operators, whose first results are its
/// outputs and what is not written its inputs. All are tensors of 2x3.
Program programOfNew(std::vector<Operator> operators) {
  Program program;
  program.era = Era::Pir;
  Block &block = program.blocks.emplace_back();
  std::vector<std::string> known;
  const auto declare = [&](const std::string &name) {
    if (std::ranges::count(known, name) > 0)
      return false;
    known.push_back(name);
    block.variables.push_back(variableOf(name));
    return true;
  };
  for (const Operator &op : operators) {
    const auto read = [&](const std::vector<std::string> &names) {
      for (const std::string &name : names)
        if (declare(name))
          program.inputs.push_back({name, name});
    };
    for (const Slot &slot : op.inputs)
      read(slot.arguments);
    for (const Attribute &attribute : op.attributes)
      if (const auto *names = std::get_if<VariableNames>(&attribute.value))
        read(names->names);
    for (const Slot &slot : op.outputs)
      for (const std::string &name : slot.arguments)
        declare(name);
  }
  const std::string &last = operators.back().outputs.at(0).arguments.at(0);
  program.outputs = {{last, "result"}};
  block.operators = std::move(operators);
  return program;
}

Operator operatorNamed(std::string type, std::vector<Slot> inputs,
                       std::vector<Slot> outputs,
                       std::vector<Attribute> attributes = {}) {
  Operator op;
  op.type = std::move(type);
  op.inputs = std::move(inputs);
  op.outputs = std::move(outputs);
  op.attributes = std::move(attributes);
  return op;
}

const Operator *lastOperator(const Program &program, const std::string &type) {
  const Operator *found = nullptr;
  for (const Block &block : program.blocks)
    for (const Operator &op : block.operators)
      if (op.type == type)
        found = &op;
  return found;
}

} // namespace

//===----------------------------------------------------------------------===//
// What was read
//===----------------------------------------------------------------------===//

TEST(PirWriting, GivesRealProgramsBack) {
  const std::filesystem::path folder =
      std::filesystem::path(SINTER_SOURCE_DIR).parent_path() /
      "shared/data/paddle";
  int count = 0;
  for (const char *name :
       {"pir_ppocr_v5_mobile_det", "pir_ppocr_v5_mobile_rec"}) {
    std::ifstream file(folder / name / "inference.json", std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    if (text.str().empty())
      continue;
    ++count;
    EXPECT_TRUE(rewritten(text.str()) == text.str()) << name;
  }
  if (count == 0)
    GTEST_SKIP() << "no ../shared/data/paddle";
}

/// Lists, a shared batch norm, an array that is written, a branch in a loop,
/// and values that nobody reads.
static std::string variedProgram() {
  const std::string tensor = pirTensor("3"), flag = pirTensor("", "bool");
  const std::string list =
      R"({"#":"0.t_vec","D":[)" + tensor + "," + tensor + "]}";
  const std::string array =
      R"({"#":"1.t_dense_tensor_array","D":[{"#":"0.t_f32"},[3],"NCHW"]})";
  std::vector<std::string> operators = {
      pirParameter(1, "mean", "3"), pirParameter(2, "variance", "3"),
      pirInput(3, "x", tensor), pirInput(4, "y", tensor)};
  for (const int i : {10, 20})
    operators.push_back(pirOperator(
        "1.batch_norm_", {3, 1, 2, 0, 0},
        {pirResult(i, tensor), pirResult(i + 1, tensor),
         pirResult(i + 2, tensor), pirResult(i + 3, tensor),
         pirResult(i + 4, tensor), pirResult(i + 5, tensor)},
        {pirAttribute("epsilon", "0.a_f32", "9.999999747378752e-06")}));
  operators.push_back(pirOperator("1.split_with_num", {10, 0},
                                  {pirResult(30, list)},
                                  {pirAttribute("num", "0.a_i32", "2")}));
  operators.push_back(pirOperator(
      "0.split", {30}, {pirResult(31, tensor), pirResult(32, tensor)}));
  operators.push_back(
      pirOperator("0.combine", {31, 20}, {pirResult(33, list)}));
  operators.push_back(
      pirOperator("1.full", {}, {pirResult(34, pirTensor("1", "i32"))},
                  {pirAttribute("shape", "1.a_intarray", "[1]"),
                   pirAttribute("value", "0.a_f64", "1.0"),
                   pirAttribute("dtype", "1.a_dtype", "\"int32\"")}));
  operators.push_back(
      pirOperator("1.concat", {33, 34}, {pirResult(35, tensor)}));
  operators.push_back(pirOperator("1.isnan", {35}, {pirResult(36, flag)}));
  operators.push_back(
      pirOperator("1.create_array", {}, {pirResult(37, array)}));
  operators.push_back(
      pirOperator("1.array_write_", {37, 35, 34}, {pirResult(38, array)}));
  const std::string branch = pirOperator(
      "1.if", {50}, {pirResult(52, tensor)}, {},
      {pirRegion({pirOperator("1.relu_", {-1}, {pirResult(51, tensor)}),
                  pirOperator("2.yield", {51}, {})}),
       pirRegion({pirOperator("2.yield", {3}, {})})});
  operators.push_back(pirOperator(
      "1.while", {36, 35, 38}, {pirResult(60, tensor), pirResult(61, array)},
      {},
      {pirRegion({pirOperator("1.isnan", {-1}, {pirResult(50, flag)}), branch,
                  pirOperator("2.yield", {50, 52, -2}, {})},
                 {pirArgument(-1, tensor), pirArgument(-2, array)})}));
  operators.push_back(
      pirOperator("3.unknown", {60, 0, 4}, {pirResult(70, tensor)}));
  operators.push_back(
      pirOperator("1.array_read", {61, 34}, {pirResult(71, tensor)}));
  operators.push_back(pirOutput(80, 70, 1, tensor));
  operators.push_back(pirOutput(81, 71, 0, tensor));
  return pirProgram(operators);
}

TEST(PirWriting, GivesWhatWasReadBackByteForByte) {
  const std::string text = variedProgram();
  EXPECT_EQ(rewritten(text), text);
}

TEST(PirWriting, ChangesOnlyWhatIsChanged) {
  Result<Program> program = decodePir(variedProgram());
  ASSERT_TRUE(program) << program.error().message();
  // The first batch norm goes; what read it reads a new relu of a parameter.
  Block &main = program->blocks[0];
  main.operators.erase(main.operators.begin());
  main.variables.push_back(variableOf("w_fuse_bn", {3}));
  main.variables.back().isPersistable = true;
  main.operators.insert(
      main.operators.begin(),
      operatorNamed("relu", {{"X", {"w_fuse_bn"}}}, {{"Out", {"%10"}}}));
  const std::string before = variedProgram();
  Result<std::string> after = encodePir(*program);
  ASSERT_TRUE(after) << after.error().message();
  const size_t untouched =
      before.find("{\"#\":\"1.batch_norm_\"", before.find("1.batch_norm_") + 1);
  EXPECT_NE(after->find(before.substr(untouched)), std::string::npos);
  const Program again = readAgain(*program);
  EXPECT_EQ(again.parameters().size(), 3u);
  EXPECT_EQ(again.parameters().back()->name, "w_fuse_bn");
  EXPECT_EQ(again.blocks[0].operators[0].type, "relu");
  EXPECT_EQ(*again.blocks[0].operators[0].input("X"),
            std::vector<std::string>{"w_fuse_bn"});
}

TEST(PirWriting, ArgumentsAreThoseOfTheSlots) {
  Result<Program> program = decodePir(variedProgram());
  ASSERT_TRUE(program) << program.error().message();
  for (Operator &op : program->blocks[0].operators)
    if (op.type == "concat")
      op.inputs[0].arguments = {"y", "%30.1", "x"};
  const Program again = readAgain(*program);
  const Operator *concat = lastOperator(again, "concat");
  ASSERT_NE(concat, nullptr);
  EXPECT_EQ(*concat->input("X"), (std::vector<std::string>{"y", "%30.1", "x"}));
  EXPECT_EQ(*concat->input("AxisTensor"), std::vector<std::string>{"%34"});
}

TEST(PirWriting, NewOperatorsStandBehindWhatTheyRead) {
  Result<Program> program = decodePir(variedProgram());
  ASSERT_TRUE(program) << program.error().message();
  Block &main = program->blocks[0];
  const auto split =
      std::ranges::find(main.operators, "split", &Operator::type);
  ASSERT_NE(split, main.operators.end());
  main.variables.push_back(variableOf("new", {3}));
  main.operators.insert(
      split + 1, operatorNamed("tanh", {{"X", {"%30.1"}}}, {{"Out", {"new"}}}));
  for (Operator &op : main.operators)
    if (op.type == "concat")
      op.inputs[0].arguments = {"new", "%20"};
  const Program again = readAgain(*program);
  const Operator *tanh = lastOperator(again, "tanh");
  ASSERT_NE(tanh, nullptr);
  EXPECT_EQ(*tanh->input("X"), std::vector<std::string>{"%30.1"});
}

TEST(PirWriting, RefusesAChangedLoop) {
  Result<Program> program = decodePir(variedProgram());
  ASSERT_TRUE(program) << program.error().message();
  for (Operator &op : program->blocks[0].operators)
    if (op.type == "while")
      op.outputs[0].arguments.pop_back();
  Result<std::string> text = encodePir(*program);
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().kind, ErrorKind::Unsupported);
}

//===----------------------------------------------------------------------===//
// What is new
//===----------------------------------------------------------------------===//

/// Some value that is not the default.
static AttributeValue sampleOf(PirKind kind) {
  switch (kind) {
  case PirKind::Bool:
    return true;
  case PirKind::Int32:
  case PirKind::Int64:
    return int64_t(7);
  case PirKind::Float32:
  case PirKind::Float64:
    return 0.625;
  case PirKind::String:
    return std::string("a \"text\"");
  case PirKind::Int32s:
  case PirKind::Int64s:
  case PirKind::Integers:
    return std::vector<int64_t>{3, -1, 4};
  case PirKind::Float32s:
    return std::vector<double>{0.5, 2};
  case PirKind::DataType:
    return int64_t(5);
  case PirKind::Place:
  case PirKind::Scalars:
    break;
  }
  return std::monostate();
}

/// An older operator with all that the row knows. \p takesTensors: what may be
/// an attribute or a tensor is a tensor.
static Operator sampleOperator(const PirOperator &row, bool takesTensors) {
  Operator op;
  op.type = row.legacy;
  int count = 0;
  const auto fresh = [&] { return "in" + std::to_string(count++); };
  for (const PirOperand &each : row.operands) {
    if (each.form == PirOperand::Tensor)
      op.inputs.push_back({std::string(each.slot), {fresh()}});
    if (each.form == PirOperand::List)
      op.inputs.push_back({std::string(each.slot), {fresh(), fresh()}});
    if (each.form != PirOperand::Attribute)
      continue;
    if (takesTensors && !each.slot.empty())
      op.inputs.push_back({std::string(each.slot), {fresh()}});
    else if (takesTensors && !each.listSlot.empty())
      op.inputs.push_back({std::string(each.listSlot), {fresh(), fresh()}});
    else
      op.attributes.push_back({std::string(each.legacy), sampleOf(each.kind)});
  }
  for (const PirAttribute &each : row.attributes)
    if (each.kind != PirKind::Place && each.kind != PirKind::Scalars)
      // Then there would be no dimensions.
      op.attributes.push_back(
          {std::string(each.legacy), each.name == "reduce_all"
                                         ? AttributeValue(false)
                                         : sampleOf(each.kind)});
  for (const FixedAttribute &each : row.fixed)
    if (each.selects)
      op.attributes.push_back({std::string(each.name), each.value == "true"});
  for (const PirResult &each : row.results) {
    std::vector<std::string> names = {"out" + std::to_string(count++)};
    if (each.isList)
      names.push_back("out" + std::to_string(count++));
    if (!each.sameAs.empty())
      names = *op.input(each.sameAs);
    op.outputs.push_back({std::string(each.slot), names});
  }
  // The table has no column for numbers that stand by their type.
  if (row.name == "full_int_array")
    op.attributes = {{"shape", std::vector<int64_t>{2}},
                     {"dtype", int64_t(3)},
                     {"int64_values", std::vector<int64_t>{5, -1}}};
  if (row.name == "assign_value")
    op.attributes = {{"shape", std::vector<int64_t>{1, 2}},
                     {"dtype", int64_t(5)},
                     {"fp32_values", std::vector<double>{0.5, 2}}};
  return op;
}

/// The value that \p name has in \p program, if an operator says it.
static AttributeValue constantNamed(const Program &program,
                                    const std::string &name) {
  for (const Operator &op : program.blocks.at(0).operators)
    for (const Slot &slot : op.outputs)
      if (slot.arguments == std::vector<std::string>{name})
        for (const char *each : {"int64_values", "value"})
          if (const AttributeValue *found = op.attribute(each))
            return *found;
  return {};
}

class PirRows : public testing::TestWithParam<size_t> {};

TEST_P(PirRows, AreTheSameThereAndBack) {
  const PirOperator &row = pirOperators()[GetParam()];
  for (const PirOperand &each : row.operands)
    if (each.form == PirOperand::Overwritten)
      GTEST_SKIP() << "what it writes over is no input of a program";
  for (const bool takesTensors : {false, true}) {
    const Operator op = sampleOperator(row, takesTensors);
    const PirOperator *found = findLegacyOperator(op);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->name, row.name);
    const Program again = readAgain(programOfNew({op}));
    const Operator *back = lastOperator(again, op.type);
    ASSERT_NE(back, nullptr) << row.name;
    for (const Slot &slot : op.inputs) {
      ASSERT_NE(back->input(slot.name), nullptr) << slot.name;
      EXPECT_EQ(*back->input(slot.name), slot.arguments) << slot.name;
    }
    for (const Slot &slot : op.outputs) {
      ASSERT_NE(back->output(slot.name), nullptr) << slot.name;
      EXPECT_EQ(back->output(slot.name)->size(), slot.arguments.size());
    }
    for (const Attribute &each : op.attributes) {
      const AttributeValue *value = back->attribute(each.name);
      AttributeValue constant;
      for (const PirOperand &operand : row.operands)
        if (!value && operand.legacy == each.name && !operand.slot.empty()) {
          ASSERT_NE(back->input(operand.slot), nullptr);
          constant = constantNamed(again, back->input(operand.slot)->front());
          value = &constant;
        }
      ASSERT_NE(value, nullptr) << each.name;
      // A constant tensor holds its number as a real one.
      if (const auto *real = std::get_if<double>(value);
          real && std::holds_alternative<int64_t>(each.value))
        EXPECT_EQ(*real, std::get<int64_t>(each.value)) << each.name;
      else
        EXPECT_EQ(*value, each.value) << each.name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Table, PirRows,
                         testing::Range<size_t>(0, pirOperators().size()),
                         [](const auto &info) {
                           return std::string(pirOperators()[info.param].name) +
                                  "_" + std::to_string(info.param);
                         });

TEST(PirWriting, VariablesThatAreWrittenAgainAreNewValues) {
  // relu writes what it reads; the second one reads the first one's result.
  const Program again = readAgain(programOfNew({
      operatorNamed("relu", {{"X", {"x"}}}, {{"Out", {"x"}}}),
      operatorNamed("tanh", {{"X", {"x"}}}, {{"Out", {"y"}}}),
  }));
  const std::vector<Operator> &operators = again.blocks.at(0).operators;
  ASSERT_EQ(operators.size(), 2u);
  EXPECT_EQ(*operators[0].input("X"), std::vector<std::string>{"x"});
  EXPECT_NE(*operators[0].output("Out"), std::vector<std::string>{"x"});
  EXPECT_EQ(*operators[1].input("X"), *operators[0].output("Out"));
}

TEST(PirWriting, AnAxisOfElementwiseOperatorsIsAReshape) {
  Program program = programOfNew(
      {operatorNamed("elementwise_add", {{"X", {"x"}}, {"Y", {"b"}}},
                     {{"Out", {"y"}}}, {{"axis", int64_t(1)}})});
  for (Variable &each : program.blocks[0].variables)
    each.dims = each.name == "b" ? std::vector<int64_t>{5}
                                 : std::vector<int64_t>{-1, 5, -1, -1};
  const Program again = readAgain(program);
  const Operator *reshape = lastOperator(again, "reshape2");
  ASSERT_NE(reshape, nullptr);
  EXPECT_EQ(constantNamed(again, reshape->input("Shape")->front()),
            AttributeValue(std::vector<int64_t>{5, 1, 1}));
  const Operator *add = lastOperator(again, "elementwise_add");
  ASSERT_NE(add, nullptr);
  EXPECT_EQ(*add->input("Y"), *reshape->output("Out"));
}

TEST(PirWriting, ReducingAllIsAnEmptyList) {
  const Program again = readAgain(programOfNew({operatorNamed(
      "reduce_max", {{"X", {"x"}}}, {{"Out", {"y"}}},
      {{"dim", std::vector<int64_t>{0}}, {"reduce_all", true}})}));
  const Operator *op = lastOperator(again, "reduce_max");
  ASSERT_NE(op, nullptr);
  EXPECT_EQ(*op->attribute("dim"), AttributeValue(std::vector<int64_t>()));
  EXPECT_EQ(*op->attribute("reduce_all"), AttributeValue(true));
}

TEST(PirWriting, NumbersAndTextsAreWrittenAsPaddleDoes) {
  Operator op = operatorNamed(
      "hard_sigmoid", {{"X", {"x"}}}, {{"Out", {"y"}}},
      {{"slope", 1e-5}, {"offset", std::numeric_limits<double>::infinity()}});
  op.scope = "/a\t\"b\"\x01/";
  Result<std::string> text = encodePir(programOfNew({op}));
  ASSERT_TRUE(text) << text.error().message();
  EXPECT_NE(text->find(R"({"#":"0.a_f32","D":9.999999747378752e-06})"),
            std::string::npos)
      << *text;
  EXPECT_NE(text->find(R"({"#":"0.a_f32","VD":"INF"})"), std::string::npos);
  EXPECT_NE(text->find(R"("D":"/a\t\"b\"\u0001/")"), std::string::npos);
  EXPECT_EQ(lastOperator(*decodePir(*text), "hard_sigmoid")->scope, op.scope);
  EXPECT_EQ(rewritten(*text), *text);
}

TEST(PirWriting, RefusesWhatPirHasNoNameFor) {
  Result<std::string> text = encodePir(programOfNew({
      operatorNamed("gap", {{"X", {"x"}}}, {{"Out", {"a"}}}),
      operatorNamed("gap", {{"X", {"a"}}}, {{"Out", {"b"}}}),
      operatorNamed("swish", {{"X", {"b"}}}, {{"Out", {"c"}}}, {{"beta", 2.0}}),
      operatorNamed("swish", {{"X", {"c"}}}, {{"Out", {"d"}}}, {{"beta", 1.0}}),
  }));
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().kind, ErrorKind::Unsupported);
  EXPECT_NE(text.error().message().find("2 x gap"), std::string::npos);
  EXPECT_NE(text.error().message().find("1 x swish (attribute beta)"),
            std::string::npos)
      << text.error().message();
}

TEST(PirWriting, RefusesAnAttributeThatWouldBeLost) {
  Result<std::string> text = encodePir(programOfNew(
      {operatorNamed("relu", {{"X", {"x"}}}, {{"Out", {"a"}}},
                     {{"op_role", int64_t(0)}, {"use_cudnn", true}}),
       operatorNamed("relu", {{"X", {"a"}}}, {{"Out", {"b"}}},
                     {{"slope", 0.5}})}));
  ASSERT_FALSE(text);
  EXPECT_NE(text.error().message().find("1 x relu (attribute slope)"),
            std::string::npos)
      << text.error().message();
}

TEST(PirWriting, TheStepOfAnIncrementIsItsValue) {
  const Program again = readAgain(programOfNew({operatorNamed(
      "increment", {{"X", {"x"}}}, {{"Out", {"y"}}}, {{"step", 2.0}})}));
  const Operator &op = again.blocks.at(0).operators.at(0);
  ASSERT_EQ(op.type, "increment");
  ASSERT_NE(op.attribute("step"), nullptr);
  EXPECT_EQ(*op.attribute("step"), AttributeValue(2.0));
}

TEST(PirWriting, RefusesWhatIsReadBeforeItIsWritten) {
  Program program =
      programOfNew({operatorNamed("relu", {{"X", {"x"}}}, {{"Out", {"y"}}})});
  program.inputs.clear();
  Result<std::string> text = encodePir(program);
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().kind, ErrorKind::InvalidModel);
}
