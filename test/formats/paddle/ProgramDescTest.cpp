//===- ProgramDescTest.cpp - programs as protobuf, there and back ---------===//
//
// Covers: formats WireReader
// Covers: formats/paddle/file AttributeKinds DecodeOperator DecodeProgramDesc
// Covers: formats/paddle/file EncodeOperator EncodeProgramDesc Program
// Covers: formats/paddle/file ProgramSkeleton

#include "formats/paddle/file/ProgramDesc.h"
#include "formats/WireReader.h"
#include "formats/paddle/PaddleMessages.h"

#include <gtest/gtest.h>

using namespace sinter;
using namespace sinter::paddle;
using namespace sinter::test;

namespace {

/// A program with one operator of attributes \p attributes.
std::string withAttributes(const std::string &attributes) {
  return programOf({blockOf(
      0, -1,
      {operatorOf("feed", {{"X", {"feed"}}}, {{"Out", {"x"}}}, intOf("col", 0)),
       operatorOf("op", {{"X", {"x"}}}, {{"Out", {"y"}}}, attributes),
       operatorOf("fetch", {{"X", {"y"}}}, {{"Out", {"fetch"}}},
                  intOf("col", 0))})});
}

const Operator &onlyOperator(const Program &program) {
  return program.blocks.at(0).operators.at(0);
}

std::string errorOf(const std::string &bytes) {
  Result<Program> program = decodeProgramDesc(bytes);
  return program ? "" : program.error().message();
}

} // namespace

TEST(ProgramDesc, GivesTheSameBytesBack) {
  const std::string bytes =
      programOf({blockOf(
          0, -1,
          {operatorOf("feed", {{"X", {"feed"}}}, {{"Out", {"b"}}},
                      intOf("col", 1)),
           operatorOf("feed", {{"X", {"feed"}}}, {{"Out", {"a"}}},
                      intOf("col", 0)),
           operatorOf("add", {{"Y", {"b"}}, {"X", {"a"}}}, {{"Out", {"c"}}},
                      fieldOf(90, "unknown") + intOf("axis", -1)),
           operatorOf("fetch", {{"X", {"c"}}}, {{"Out", {"fetch"}}},
                      intOf("col", 0)),
           operatorOf("print", {{"X", {"c"}}}, {}, "")},
          variableOf("a", 7, 5, {-1, 3}) + variableOf("b", 7, 5, {3}) +
              variableOf("odd", 25, 25, {}) + fieldOf(100, "of the future"))}) +
      // Both layouts of version maps, a version, and something unknown.
      fieldOf(3, "old map") + fieldOf(4, numberOf(1, 2002002)) +
      fieldOf(5, "new map") + fieldOf(77, "later");
  Result<Program> program = decodeProgramDesc(bytes);
  ASSERT_TRUE(program) << program.error().message();
  EXPECT_EQ(program->version, 2002002);
  ASSERT_EQ(program->inputs.size(), 2u);
  EXPECT_EQ(program->inputs[0].variable, "a");
  EXPECT_EQ(program->inputs[1].variable, "b");
  EXPECT_EQ(program->outputs.at(0).name, "c");
  ASSERT_EQ(program->blocks[0].operators.size(), 2u);
  EXPECT_EQ(program->blocks[0].variables[0].dims,
            (std::vector<int64_t>{-1, 3}));
  EXPECT_EQ(program->blocks[0].variables[2].kind, VariableKind::Other);
  EXPECT_EQ(program->blocks[0].variables[2].kindName, "STRING");
  Result<std::string> again = encodeProgramDesc(*program);
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_EQ(*again, bytes);
}

TEST(ProgramDesc, LeavesCallStacksOutAndNothingElse) {
  const std::string stack =
      attributeOf("op_callstack", 5, fieldOf(8, "  File \"train.py\""));
  const std::string role = intOf("op_role", 0);
  Result<Program> program =
      decodeProgramDesc(withAttributes(role + stack + intOf("axis", 1)));
  ASSERT_TRUE(program);
  ASSERT_EQ(onlyOperator(*program).attributes.size(), 1u);
  Result<std::string> again = encodeProgramDesc(*program);
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, withAttributes(role + intOf("axis", 1)));
}

TEST(ProgramDesc, ReadsAttributesOfEveryKind) {
  const auto scalar = [](int type, const std::string &content) {
    return numberOf(1, type) + content;
  };
  const std::string all =
      intOf("i", -7) + attributeOf("f", 1, floatOf(4, 0.5f)) +
      attributeOf("s", 2, fieldOf(5, "text")) +
      attributeOf("ints", 3, numberOf(6, 1) + numberOf(6, -2)) +
      attributeOf("packed", 3, fieldOf(6, std::string("\x01\x02", 2))) +
      attributeOf("floats", 4, floatOf(7, 1.5f) + floatOf(7, -2)) +
      attributeOf("strings", 5, fieldOf(8, "a") + fieldOf(8, "")) +
      attributeOf("b", 6, numberOf(10, 1)) +
      attributeOf("bools", 7, numberOf(11, 0) + numberOf(11, 1)) +
      attributeOf("l", 9, numberOf(13, int64_t(1) << 40)) +
      attributeOf("longs", 11, numberOf(15, int64_t(-1) << 40)) +
      attributeOf("float64s", 12, doubleOf(16, 0.1)) +
      attributeOf("var", 13, fieldOf(17, "x")) +
      attributeOf("vars", 14, fieldOf(18, "x") + fieldOf(18, "y")) +
      attributeOf("float64", 15, doubleOf(19, 0.1)) +
      attributeOf("truth", 16, fieldOf(20, scalar(1, numberOf(2, 1)))) +
      attributeOf("whole", 16, fieldOf(20, scalar(2, numberOf(3, 9)))) +
      attributeOf("real", 16, fieldOf(20, scalar(3, doubleOf(4, 0.25)))) +
      attributeOf("complex", 16,
                  fieldOf(20, scalar(4, fieldOf(5, doubleOf(1, 2))))) +
      attributeOf("scalars", 17,
                  fieldOf(21, scalar(2, numberOf(3, 1))) +
                      fieldOf(21, scalar(3, doubleOf(4, 0.5)))) +
      attributeOf("later", 99, "");
  const std::string bytes = withAttributes(all);
  Result<Program> program = decodeProgramDesc(bytes);
  ASSERT_TRUE(program) << program.error().message();
  const Operator &op = onlyOperator(*program);
  const auto expect = [&](const char *name, const AttributeValue &value) {
    const AttributeValue *found = op.attribute(name);
    ASSERT_TRUE(found) << name;
    EXPECT_TRUE(*found == value) << name;
  };
  expect("i", int64_t(-7));
  expect("f", 0.5);
  expect("s", std::string("text"));
  expect("ints", std::vector<int64_t>{1, -2});
  expect("packed", std::vector<int64_t>{1, 2});
  expect("floats", std::vector<double>{1.5, -2});
  expect("strings", std::vector<std::string>{"a", ""});
  expect("b", true);
  expect("bools", std::vector<bool>{false, true});
  expect("l", int64_t(1) << 40);
  expect("longs", std::vector<int64_t>{int64_t(-1) << 40});
  expect("float64s", std::vector<double>{0.1});
  expect("var", VariableNames{{"x"}});
  expect("vars", VariableNames{{"x", "y"}});
  expect("float64", 0.1);
  expect("truth", true);
  expect("whole", int64_t(9));
  expect("real", 0.25);
  expect("complex", std::monostate());
  expect("scalars", std::vector<double>{1, 0.5});
  expect("later", std::monostate());
  Result<std::string> again = encodeProgramDesc(*program);
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, bytes);
}

TEST(ProgramDesc, KnowsBlocksInside) {
  const auto block = [](const char *name, int64_t index) {
    return attributeOf(name, 8, numberOf(12, index));
  };
  const std::string bytes = programOf(
      {blockOf(0, -1, {operatorOf("while", {}, {}, block("sub_block", 1))}),
       blockOf(1, 0,
               {operatorOf("switch", {}, {},
                           attributeOf("blocks", 10,
                                       numberOf(14, 2) + numberOf(14, 3)))}),
       blockOf(2, 1, {}), blockOf(3, 1, {})});
  Result<Program> program = decodeProgramDesc(bytes);
  ASSERT_TRUE(program) << program.error().message();
  EXPECT_EQ(program->blocks[3].parent, 1);
  EXPECT_TRUE(*onlyOperator(*program).attribute("sub_block") ==
              AttributeValue(BlockIndex{1}));
  EXPECT_EQ(*encodeProgramDesc(*program), bytes);
}

TEST(ProgramDesc, RefusesWhatNestsInItself) {
  const auto withBlock = [](int64_t index) {
    return operatorOf("while", {}, {},
                      attributeOf("sub_block", 8, numberOf(12, index)));
  };
  const std::string good = blockOf(1, 0, {});
  EXPECT_EQ(errorOf(programOf({blockOf(0, -1, {withBlock(0)}), good})),
            "operator 'while' in block 0: block 0 is not inside of it");
  EXPECT_EQ(errorOf(programOf({blockOf(0, -1, {withBlock(2)}), good})),
            "operator 'while' in block 0: block 2 is not inside of it");
  EXPECT_EQ(errorOf(programOf({blockOf(0, -1, {withBlock(-1)}), good})),
            "operator 'while' in block 0: block -1 is not inside of it");
  EXPECT_EQ(
      errorOf(programOf({blockOf(0, -1, {}), blockOf(1, 0, {withBlock(1)})})),
      "operator 'while' in block 1: block 1 is not inside of it");
  EXPECT_EQ(errorOf(programOf(
                {blockOf(0, -1, {}), blockOf(1, 2, {}), blockOf(2, 1, {})})),
            "block 1: block 2 cannot be its parent");
  EXPECT_EQ(errorOf(programOf({blockOf(0, 0, {})})),
            "block 0: block 0 cannot be its parent");
  EXPECT_EQ(errorOf(programOf({blockOf(0, -1, {}), blockOf(1, -1, {})})),
            "block 1: block -1 cannot be its parent");
  EXPECT_EQ(errorOf(programOf({blockOf(1, -1, {})})),
            "block 0: it says that it is block 1");
}

TEST(ProgramDesc, SaysWhatIsAbsentOrTwice) {
  const auto inBlock = [](const std::string &content) {
    return programOf({numberOf(1, 0) + numberOf(2, -1) + content});
  };
  EXPECT_EQ(errorOf(""), "there is no block in it");
  EXPECT_EQ(errorOf(programOf({numberOf(2, -1)})), "block 0: it has no index");
  EXPECT_EQ(errorOf(programOf({numberOf(1, 0)})),
            "block 0: it does not name its parent");
  EXPECT_EQ(errorOf(inBlock(fieldOf(3, ""))),
            "block 0: a variable has no name");
  EXPECT_EQ(errorOf(inBlock(fieldOf(3, fieldOf(1, "v")))),
            "block 0: variable 'v' has no type");
  EXPECT_EQ(
      errorOf(inBlock(variableOf("v", 7, 5, {}) + variableOf("v", 7, 5, {}))),
      "block 0: variable 'v' is declared twice");
  EXPECT_EQ(errorOf(inBlock(fieldOf(4, ""))),
            "block 0: an operator has no type");
  EXPECT_EQ(errorOf(inBlock(numberOf(4, 1))),
            "block 0: an operator is no message");
  EXPECT_EQ(errorOf(withAttributes(fieldOf(4, numberOf(2, 0)))),
            "block 0: operator 'op': an attribute has no name");
  EXPECT_EQ(errorOf(withAttributes(fieldOf(4, fieldOf(1, "a")))),
            "block 0: operator 'op': attribute 'a' has no type");
  EXPECT_EQ(errorOf(withAttributes(fieldOf(1, ""))),
            "block 0: operator 'op': a slot has no name");
  const std::string feed =
      operatorOf("feed", {}, {{"Out", {"x"}}}, intOf("col", 3));
  EXPECT_EQ(errorOf(programOf({blockOf(0, -1, {feed, feed})})),
            "block 0: operators 'feed' of 'x' and 'x' have the same column");
  EXPECT_EQ(errorOf(programOf({blockOf(
                0, -1, {operatorOf("fetch", {}, {}, intOf("col", 0))})})),
            "block 0: operator 'fetch' does not name its one variable");
}

TEST(ProgramDesc, EndsWithAnErrorWhereverItIsCutOff) {
  const std::string bytes = withAttributes(intOf("axis", 1));
  for (size_t size = 1; size < bytes.size(); ++size)
    EXPECT_NE(errorOf(bytes.substr(0, size)), "") << size;
}

TEST(ProgramDesc, WritesWhatChanged) {
  Result<Program> program = decodeProgramDesc(programOf({blockOf(
      0, -1,
      {operatorOf("feed", {{"X", {"feed"}}}, {{"Out", {"x"}}}, intOf("col", 0)),
       operatorOf("conv2d", {{"Filter", {"w"}}, {"Input", {"x"}}},
                  {{"Output", {"c"}}}, fieldOf(90, "unknown")),
       operatorOf("batch_norm", {{"X", {"c"}}}, {{"Y", {"y"}}}, ""),
       operatorOf("fetch", {{"X", {"y"}}}, {{"Out", {"fetch"}}},
                  intOf("col", 0))},
      variableOf("w", 7, 5, {4, 3, 1, 1}) + variableOf("x", 7, 5, {-1}))}));
  ASSERT_TRUE(program) << program.error().message();
  Block &block = program->blocks[0];
  block.operators.pop_back();
  block.operators[0].inputs[0].arguments = {"w_fuse_bn"};
  Operator add;
  add.type = "elementwise_add";
  add.inputs = {{"X", {"c"}}, {"Y", {"b"}}};
  add.outputs = {{"Out", {"z"}}};
  add.attributes = {{"axis", int64_t(1)},
                    {"alpha", int64_t(2)},
                    {"l", int64_t(1) << 40},
                    {"ints", std::vector<int64_t>{1}},
                    {"is", true},
                    {"r", 0.5}};
  block.operators.push_back(add);
  block.operators.push_back(add);
  program->outputs[0].variable = "z";
  block.variables.erase(block.variables.begin());
  Variable bias;
  bias.name = "w_fuse_bn";
  bias.type = ElementType::F32;
  bias.dims = {4, 3, 1, 1};
  bias.isPersistable = true;
  block.variables.push_back(bias);
  Result<std::string> bytes = encodeProgramDesc(*program);
  ASSERT_TRUE(bytes) << bytes.error().message();
  EXPECT_NE(bytes->find("unknown"), std::string::npos);
  Result<Program> again = decodeProgramDesc(*bytes);
  ASSERT_TRUE(again) << again.error().message();
  const Block &written = again->blocks[0];
  ASSERT_EQ(written.operators.size(), 3u);
  EXPECT_EQ(*written.operators[0].input("Filter"),
            std::vector<std::string>{"w_fuse_bn"});
  const Operator &last = written.operators[2];
  EXPECT_EQ(last.type, "elementwise_add");
  EXPECT_TRUE(*last.attribute("axis") == AttributeValue(int64_t(1)));
  // Declared as a FLOAT, whatever it is given as.
  EXPECT_TRUE(*last.attribute("alpha") == AttributeValue(2.0));
  EXPECT_TRUE(*last.attribute("l") == AttributeValue(int64_t(1) << 40));
  EXPECT_TRUE(*last.attribute("ints") ==
              AttributeValue(std::vector<int64_t>{1}));
  EXPECT_TRUE(*last.attribute("is") == AttributeValue(true));
  EXPECT_EQ(again->outputs[0].variable, "z");
  std::vector<std::string> names;
  for (const Variable &each : written.variables)
    names.push_back(each.name);
  EXPECT_EQ(names, (std::vector<std::string>{"x", "w_fuse_bn"}));
  ASSERT_EQ(again->parameters().size(), 1u);
  EXPECT_EQ(again->parameters()[0]->dims, bias.dims);
  // What was written is written the same again.
  EXPECT_EQ(*encodeProgramDesc(*again), *bytes);
}

TEST(ProgramDesc, WritesProgramsThatAreNew) {
  Program program;
  Variable x;
  x.name = "x";
  x.type = ElementType::F32;
  x.dims = {-1, 3};
  Variable w = x;
  w.name = "w";
  w.dims = {3, 2};
  w.isPersistable = true;
  Operator mul;
  mul.type = "mul";
  mul.inputs = {{"X", {"x"}}, {"Y", {"w"}}};
  mul.outputs = {{"Out", {"y"}}};
  program.blocks.resize(1);
  program.blocks[0].variables = {x, w};
  program.blocks[0].operators = {mul};
  program.inputs = {{"x", "x"}};
  program.outputs = {{"y", "y"}};
  Result<std::string> bytes = encodeProgramDesc(program);
  ASSERT_TRUE(bytes) << bytes.error().message();
  Result<Program> again = decodeProgramDesc(*bytes);
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_EQ(again->inputs.at(0).variable, "x");
  EXPECT_EQ(again->outputs.at(0).variable, "y");
  EXPECT_EQ(again->blocks[0].operators.size(), 1u);
  EXPECT_EQ(again->parameters().at(0)->name, "w");
  EXPECT_EQ(again->version, 2004002);
  EXPECT_EQ(*encodeProgramDesc(*again), *bytes);
  // A type without an element is no tensor of Paddle's.
  program.blocks[0].variables[0].type = ElementType::UI16;
  Result<std::string> refused = encodeProgramDesc(program);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::Unsupported);
  program.blocks[0].operators[0].type = "pd_op.new";
  program.blocks[0].operators[0].encodedEra = Era::Pir;
  refused = encodeProgramDesc(program);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message(),
            "operators that a program in protobuf has no name for: 1 x "
            "pd_op.new");
}
