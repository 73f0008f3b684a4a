//===- MalformedTest.cpp - files of Paddle's that are not what they say ---===//
//
// Programs and parameters cut off, with bits flipped and bytes put in: each is
// read, or refused in one line.
//
//===----------------------------------------------------------------------===//

#include "formats/paddle/PaddleMessages.h"
#include "formats/paddle/file/PaddleFile.h"
#include "formats/paddle/file/ProgramDesc.h"

#include <gtest/gtest.h>
#include <malloc.h>

using namespace sinter;
using namespace sinter::paddle;
using namespace sinter::test;

namespace {

const std::string smallWeights = savedTensor(
    5, {2, 2}, rawOf(1.0f) + rawOf(2.0f) + rawOf(3.0f) + rawOf(4.0f));

/// A product, and a loop around an operator.
std::string smallProgram() {
  return programOf(
             {blockOf(
                  0, -1,
                  {operatorOf("feed", {{"X", {"feed"}}}, {{"Out", {"x"}}},
                              intOf("col", 0)),
                   operatorOf("mul", {{"X", {"x"}}, {"Y", {"w"}}},
                              {{"Out", {"y"}}},
                              attributeOf("scale", 16,
                                          fieldOf(20, numberOf(1, 3) +
                                                          doubleOf(4, 2)))),
                   operatorOf("while", {{"Condition", {"y"}}}, {{"Out", {"y"}}},
                              attributeOf("sub_block", 8, numberOf(12, 1))),
                   operatorOf("fetch", {{"X", {"y"}}}, {{"Out", {"fetch"}}},
                              intOf("col", 0))},
                  variableOf("w", 7, 5, {2, 2}, true) +
                      variableOf("x", 7, 5, {-1, 2})),
              blockOf(1, 0,
                      {operatorOf("relu", {{"X", {"y"}}}, {{"Out", {"y"}}},
                                  "")})}) +
         fieldOf(4, numberOf(1, 2002002));
}

/// A small program of PIR.
const std::string smallPirProgram =
    R"({"base_code":{"magic":"pir","trainable":false,"version":1},"program":{)"
    R"("regions":[{"#":"region_0","blocks":[{"#":"block_0","args":[],"ops":[)"
    R"({"#":"p","A":[0,1,1,"w"],"DA":[],"QA":[],"O":{"%":1,"TT":{"#":)"
    R"("0.t_dtensor","D":[{"#":"0.t_f32"},[2,2],"NCHW",[],0]}},"OA":[1,0,1]},)"
    R"({"#":"1.data","I":[],"O":[{"%":2,"TT":{"#":"0.t_dtensor","D":[{"#":)"
    R"("0.t_f32"},[-1,2],"NCHW",[],0]}}],"A":[{"N":"name","AT":{"#":)"
    R"("0.a_str","D":"x"}}]},{"#":"1.matmul","I":[{"%":2},{"%":1}],"O":[{)"
    R"("%":3,"TT":{"#":"0.t_dtensor","D":[{"#":"0.t_f32"},[-1,2],"NCHW",[],)"
    R"(0]}}],"A":[{"N":"transpose_x","AT":{"#":"0.a_bool","D":false}},{"N":)"
    R"("transpose_y","AT":{"#":"0.a_bool","D":false}}]},{"#":"1.fetch","I":)"
    R"([{"%":3}],"O":[{"%":4,"TT":{"#":"0.t_dtensor","D":[{"#":"0.t_f32"},)"
    R"([-1,2],"NCHW",[],0]}}],"A":[{"N":"name","AT":{"#":"0.a_str","D":"y"}},)"
    R"({"N":"col","AT":{"#":"0.a_i32","D":0}}]}]}]}]}})";

/// Opens both and asks for each parameter; how many were refused is counted.
struct Reader {
  void read(const std::string &program, const std::string &parameters) {
    Result<PaddleFile> file = PaddleFile::fromMemory(program, parameters, "m");
    ++tried;
    if (!file)
      return refuse(file.error());
    for (const Variable *each : file->program().parameters())
      if (Result<Tensor> tensor = file->parameter(each->name); !tensor)
        return refuse(tensor.error());
  }

  void refuse(const Error &error) {
    ++refused;
    EXPECT_TRUE(error.kind == ErrorKind::InvalidModel ||
                error.kind == ErrorKind::Unsupported)
        << error.message();
    EXPECT_TRUE(error.message().starts_with("m: ")) << error.message();
    EXPECT_EQ(error.message().find('\n'), std::string::npos);
  }

  int64_t tried = 0, refused = 0;
};

} // namespace

TEST(Malformed, ProgramsCutOff) {
  for (const std::string &program : {smallProgram(), smallPirProgram}) {
    Reader reader;
    reader.read(program, smallWeights);
    ASSERT_EQ(reader.refused, 0);
    for (size_t size = 0; size < program.size(); ++size)
      reader.read(program.substr(0, size), smallWeights);
    // Cut off before its version, it is a program without one.
    EXPECT_GE(reader.refused, reader.tried - 2);
  }
}

TEST(Malformed, ProgramsWithFlippedBits) {
  for (const std::string &program : {smallProgram(), smallPirProgram}) {
    Reader reader;
    for (size_t bit = 0; bit < program.size() * 8; ++bit) {
      std::string other = program;
      other[bit / 8] = static_cast<char>(other[bit / 8] ^ (1 << bit % 8));
      reader.read(other, smallWeights);
    }
    EXPECT_GT(reader.refused, reader.tried / 10);
  }
}

TEST(Malformed, ProgramsWithBytesPutInAndTakenOut) {
  for (const std::string &program : {smallProgram(), smallPirProgram}) {
    Reader reader;
    for (size_t at = 0; at < program.size(); ++at) {
      for (const char byte : {'\0', '\x7f', '\xff', '{'})
        reader.read(program.substr(0, at) + byte + program.substr(at),
                    smallWeights);
      reader.read(program.substr(0, at) + program.substr(at + 1), smallWeights);
    }
    EXPECT_GT(reader.refused, reader.tried / 2);
  }
}

TEST(Malformed, Parameters) {
  Reader reader;
  for (size_t bit = 0; bit < smallWeights.size() * 8; ++bit) {
    std::string other = smallWeights;
    other[bit / 8] = static_cast<char>(other[bit / 8] ^ (1 << bit % 8));
    reader.read(smallProgram(), other);
  }
  // Other elements are other numbers and no error.
  EXPECT_GE(reader.refused, int64_t((smallWeights.size() - 16) * 8 - 16));
  for (size_t size = 1; size < smallWeights.size(); ++size)
    EXPECT_FALSE(PaddleFile::fromMemory(smallProgram(),
                                        smallWeights.substr(0, size), "m"));
  EXPECT_FALSE(PaddleFile::fromMemory(smallProgram(), smallWeights + "x", "m"));
}

TEST(Malformed, TextThatNestsDeeply) {
  Reader reader;
  for (const size_t depth : {size_t(10'000), size_t(1'000'000)}) {
    for (const std::string &open : {std::string("["), std::string("{\"a\":")})
      reader.read(
          R"({"base_code":{"magic":"pir","version":1},"program":)" +
              [&] {
                std::string text;
                for (size_t i = 0; i < depth; ++i)
                  text += open;
                return text;
              }(),
          "");
    reader.read(R"({"base_code":{"magic":"pir","version":1},"program":)" +
                    std::string(depth, '[') + std::string(depth, ']') + "}",
                "");
  }
  EXPECT_EQ(reader.refused, reader.tried);
}

/// A chain of \p count operators.
static std::string chainOf(int64_t count) {
  std::vector<std::string> operators = {operatorOf(
      "feed", {{"X", {"feed"}}}, {{"Out", {"v0"}}}, intOf("col", 0))};
  std::string variables = variableOf("v0", 7, 5, {-1, 3});
  for (int64_t i = 0; i < count; ++i) {
    const std::string from = "v" + std::to_string(i);
    const std::string to = "v" + std::to_string(i + 1);
    operators.push_back(operatorOf("relu", {{"X", {from}}}, {{"Out", {to}}},
                                   intOf("use_cudnn", 0)));
    variables += variableOf(to, 7, 5, {-1, 3});
  }
  operators.push_back(operatorOf("fetch",
                                 {{"X", {"v" + std::to_string(count)}}},
                                 {{"Out", {"fetch"}}}, intOf("col", 0)));
  return programOf({blockOf(0, -1, operators, variables)});
}

/// Bytes that the program takes once it is read.
static size_t memoryFor(int64_t operators) {
  const std::string bytes = chainOf(operators);
  const size_t before = ::mallinfo2().uordblks + ::mallinfo2().hblkhd;
  const Result<Program> program = decodeProgramDesc(bytes);
  const size_t after = ::mallinfo2().uordblks + ::mallinfo2().hblkhd;
  EXPECT_TRUE(program);
  return after - before;
}

TEST(Malformed, MemoryGrowsWithTheProgramAndNoFaster) {
  const size_t few = memoryFor(5'000), many = memoryFor(40'000);
  if (few == 0)
    GTEST_SKIP() << "the allocator tells nothing";
  EXPECT_LT(many, few * 10);
  EXPECT_LT(many, size_t(40'000) * 2'000);
}
