//===- OlderFormTest.cpp - programs from one era to the other -------------===//
//
// Covers: formats/paddle/file OlderForm

#include "formats/paddle/file/OlderForm.h"
#include "formats/paddle/PirText.h"
#include "formats/paddle/file/PirProgram.h"
#include "formats/paddle/file/ProgramDesc.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

using namespace sinter;
using namespace sinter::paddle;
using namespace sinter::test;

namespace {

std::string sharedFile(const char *folder, const char *name) {
  std::ifstream file(std::filesystem::path(SINTER_SOURCE_DIR).parent_path() /
                         "shared/data/paddle" / folder / name,
                     std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::map<std::string, int> countsOf(const Program &program) {
  std::map<std::string, int> counts;
  for (const Operator &op : program.blocks.at(0).operators)
    ++counts[op.type];
  return counts;
}

/// \p program through protobuf.
Program throughProtobuf(Program program) {
  program.era = Era::Protobuf;
  Result<std::string> bytes = encodeProgramDesc(program);
  EXPECT_TRUE(bytes) << bytes.error().message();
  if (!bytes)
    return {};
  Result<Program> again = decodeProgramDesc(*bytes);
  EXPECT_TRUE(again) << again.error().message();
  return again ? std::move(*again) : Program();
}

} // namespace

TEST(OlderForm, ConstantsBecomeAttributes) {
  const std::string tensor = pirTensor("2,3");
  Result<Program> program = decodePir(pirProgram({
      pirInput(1, "x", tensor),
      pirOperator("1.full_int_array", {}, {pirResult(2, pirTensor("2", "i64"))},
                  {pirInts("value", "i64", {3, -1}),
                   pirAttribute("dtype", "1.a_dtype", "\"int64\"")}),
      pirOperator("1.reshape", {1, 2}, {pirResult(3, tensor)}),
      pirOperator("1.full", {}, {pirResult(4, pirTensor("1"))},
                  {pirAttribute("shape", "1.a_intarray", "[1]"),
                   pirAttribute("value", "0.a_f64", "0.5"),
                   pirAttribute("dtype", "1.a_dtype", "\"float32\"")}),
      pirOperator("1.scale", {3, 4}, {pirResult(5, tensor)}),
      // This one is read as a tensor too.
      pirOperator("1.add", {5, 4}, {pirResult(6, tensor)}),
      pirOperator("1.shape64", {6}, {pirResult(7, pirTensor("2", "i64"))}),
      pirOutput(8, 7, 0, pirTensor("2", "i64")),
  }));
  ASSERT_TRUE(program) << program.error().message();
  EXPECT_TRUE(isFromPir(*program));
  const Program older = throughProtobuf(*program);
  const std::vector<Operator> &operators = older.blocks.at(0).operators;
  std::string types;
  for (const Operator &op : operators)
    types += op.type + " ";
  EXPECT_EQ(types, "reshape2 fill_constant scale elementwise_add shape cast ");
  EXPECT_EQ(operators.at(0).input("Shape"), nullptr);
  EXPECT_EQ(*operators.at(0).attribute("shape"),
            AttributeValue(std::vector<int64_t>{3, -1}));
  EXPECT_EQ(*operators.at(2).attribute("scale"), AttributeValue(0.5));
  EXPECT_EQ(*operators.at(5).attribute("out_dtype"),
            AttributeValue(int64_t(3)));
  EXPECT_FALSE(isFromPir(older));
}

TEST(OlderForm, RealProgramsGoThereAndBack) {
  for (const char *folder : {"ppocr_v3_det", "ppocr_v2_rec_es"}) {
    const std::string bytes = sharedFile(folder, "inference.pdmodel");
    if (bytes.empty())
      GTEST_SKIP() << "no ../shared/data/paddle";
    Result<Program> program = decodeProgramDesc(bytes);
    ASSERT_TRUE(program) << program.error().message();
    Program newer = *program;
    newer.era = Era::Pir;
    Result<std::string> text = encodePir(newer);
    ASSERT_TRUE(text) << text.error().message();
    Result<Program> read = decodePir(*text);
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_EQ(read->parameters().size(), program->parameters().size());
    // What an axis needs is written out; all else is as it was.
    std::map<std::string, int> counts = countsOf(throughProtobuf(*read));
    counts.erase("reshape2");
    EXPECT_EQ(counts, countsOf(*program)) << folder;
  }
}

TEST(OlderForm, RealProgramsOfPirBecomeOlderOnes) {
  for (const char *folder :
       {"pir_ppocr_v5_mobile_det", "pir_ppocr_v5_mobile_rec"}) {
    const std::string text = sharedFile(folder, "inference.json");
    if (text.empty())
      GTEST_SKIP() << "no ../shared/data/paddle";
    Result<Program> program = decodePir(text);
    ASSERT_TRUE(program) << program.error().message();
    std::map<std::string, int> expected = countsOf(*program);
    std::map<std::string, int> counts = countsOf(throughProtobuf(*program));
    // Constants are attributes, but where tensors are computed of them.
    EXPECT_LE(counts["assign_value"], 2);
    EXPECT_LE(counts["fill_constant"], 3);
    for (const char *each :
         {"assign_value", "fill_constant", "shape", "shape64", "cast"}) {
      counts.erase(each);
      expected.erase(each);
    }
    EXPECT_EQ(counts, expected) << folder;
  }
}
