//===- RepeatedSizesTest.cpp - sizes that follow from each other ----------===//
//
// What is repeated where its size is 1, the smaller and the larger one of
// sizes, and sizes times a scale: one program, against the oracle, over sizes
// that decide it either way.
//
//===----------------------------------------------------------------------===//
//
// Covers: backend/cpu/shapes ComputedSizes DynamicOperations EnteredRegions
// Covers: backend/cpu/shapes OperationGuards ResultSizes ShapeGuards
// Covers: backend/cpu/shapes ShapeValues SizeFacts SizeTable

#include "backend/cpu/CompareWithInterpreter.h"
#include "interpreter/Interpreter.h"
#include "runtime/DynamicProgram.h"
#include "runtime/ProgramExecutor.h"
#include "runtime/Random.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace sinter;
using namespace sinter::test;

namespace {

struct FollowingCase {
  std::string name;
  /// Arguments, each of f32 with sizes that are numbers or symbols.
  std::vector<std::vector<std::string>> arguments;
  /// The result's type and the body.
  std::string type, body;
  /// Sizes of A, B and C for which the program is, and others.
  std::vector<std::array<int64_t, 3>> sizes, beyond;
  /// Whether some size is computed by a step.
  bool computes = false;
};

bool isSymbol(const std::string &size) { return !std::isdigit(size[0]); }

std::string textOf(const FollowingCase &test) {
  std::string text = "(";
  for (auto [i, argument] : llvm::enumerate(test.arguments)) {
    std::string type, symbols;
    for (const std::string &size : argument) {
      type += (isSymbol(size) ? "?" : size) + "x";
      symbols += (symbols.empty() ? "\"" : ", \"") +
                 (isSymbol(size) ? size : std::string()) + "\"";
    }
    text += (i ? ", %x" : "%x") + std::to_string(i) + ": tensor<" + type +
            "f32> {sinter.dims = [" + symbols + "]}";
  }
  return text + ") -> " + test.type + " {\n" + test.body + "}";
}

std::vector<Tensor> inputsOf(const FollowingCase &test,
                             const std::array<int64_t, 3> &sizes) {
  std::vector<Tensor> inputs;
  for (const auto &argument : test.arguments) {
    Shape shape;
    for (const std::string &size : argument)
      shape.push_back(isSymbol(size) ? sizes[size[0] - 'A'] : std::stoi(size));
    inputs.emplace_back(ElementType::F32, shape);
    fillRandom(inputs.back(), inputs.size());
  }
  return inputs;
}

/// %v : the sizes of %x0 as tensor<1xi64>s %n0, %n1, ...
std::string sizesOfFirst(int rank) {
  std::string text, vector = std::to_string(rank);
  std::string type;
  for (int i = 0; i < rank; ++i)
    type += "?x";
  text += "%v = nn.shape %x0 : (tensor<" + type + "f32>) -> tensor<" + vector +
          "xi64>\n";
  for (int i = 0; i < rank; ++i) {
    const std::string at = std::to_string(i);
    text += "%n" + at + " = stablehlo.slice %v [" + at + ":" +
            std::to_string(i + 1) + "] : (tensor<" + vector +
            "xi64>) -> tensor<1xi64>\n";
  }
  return text;
}

/// As many times %x0's elements as \p scale says, rounded by \p rounding.
std::string scaledBody(const std::string &scale, const std::string &rounding) {
  return sizesOfFirst(1) + R"(
      %f = stablehlo.convert %n0 : (tensor<1xi64>) -> tensor<1xf32>
      %s = stablehlo.constant dense<)" +
         scale + R"(> : tensor<1xf32>
      %m = stablehlo.multiply %f, %s : tensor<1xf32>
      )" +
         rounding +
         R"(
      %k = stablehlo.convert %r : (tensor<1xf32>) -> tensor<1xi32>
      %i = stablehlo.dynamic_iota %k, dim = 0 : (tensor<1xi32>) -> tensor<?xf32>
      return %i : tensor<?xf32>
)";
}
constexpr const char
    *down = "%r = stablehlo.floor %m : tensor<1xf32>",
    *up = "%r = stablehlo.ceil %m : tensor<1xf32>",
    *asItIs = "%r = stablehlo.reshape %m : (tensor<1xf32>) -> tensor<1xf32>";

constexpr const char *addedBoth = R"(
      %a = nn.broadcast_like %x0, %x1 : (TT, TT) -> TT
      %b = nn.broadcast_like %x1, %x0 : (TT, TT) -> TT
      %c = stablehlo.add %a, %b : TT
      return %c : TT
)";

FollowingCase together(std::string name,
                       std::vector<std::vector<std::string>> arguments,
                       const std::string &type) {
  std::string body = addedBoth;
  for (size_t at; (at = body.find("TT")) != std::string::npos;)
    body.replace(at, 2, type);
  return {std::move(name),
          std::move(arguments),
          type,
          body,
          {{4, 4, 0},
           {1, 5, 0},
           {5, 1, 0},
           {1, 1, 0},
           {0, 1, 0},
           {1, 0, 0},
           {0, 0, 0},
           {33, 33, 0},
           {1, 33, 0},
           {33, 1, 0}},
          {{2, 3, 0}, {0, 2, 0}, {5, 4, 0}}};
}

const FollowingCase followingCases[] = {
    together("one of two batches may be repeated", {{"A", "3"}, {"B", "3"}},
             "tensor<?x3xf32>"),
    together("one of two rows may be repeated", {{"2", "A"}, {"2", "B"}},
             "tensor<2x?xf32>"),
    together("in the middle", {{"C", "A", "5"}, {"C", "B", "5"}},
             "tensor<?x?x5xf32>"),
    {"one of three may be repeated",
     {{"A", "2"}, {"B", "2"}, {"C", "2"}},
     "tensor<?x2xf32>",
     R"(
      %a = nn.broadcast_like %x0, %x1, %x2 :
          (tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
      %b = nn.broadcast_like %x1, %x0, %x2 :
          (tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
      %c = nn.broadcast_like %x2, %x0, %x1 :
          (tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
      %d = stablehlo.add %a, %b : tensor<?x2xf32>
      %e = stablehlo.multiply %c, %d : tensor<?x2xf32>
      return %e : tensor<?x2xf32>
)",
     {{3, 3, 3},
      {1, 4, 1},
      {4, 1, 1},
      {1, 1, 4},
      {4, 4, 1},
      {1, 4, 4},
      {4, 1, 4},
      {1, 1, 1},
      {0, 1, 0}},
     {{2, 3, 1}, {2, 1, 3}, {1, 2, 3}}},
    {"beside a number",
     {{"A", "2"}, {"4", "2"}},
     "tensor<4x2xf32>",
     R"(
      %a = nn.broadcast_like %x0, %x1 :
          (tensor<?x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
      %c = stablehlo.add %a, %x1 : tensor<4x2xf32>
      return %c : tensor<4x2xf32>
)",
     {{4, 0, 0}, {1, 0, 0}},
     {{3, 0, 0}, {0, 0, 0}}},
    {"behind windows, sizes are taken to be the same",
     {{"A", "3", "B", "8"}},
     "tensor<?x3x?x8xf32>",
     R"(
      %p = nn.max_pool %x0, window = [2, 1] strides = [2, 1] {
          dilations = array<i64: 1, 1>, padding_low = array<i64: 0, 0>,
          padding_high = array<i64: 0, 0>} :
          (tensor<?x3x?x8xf32>) -> tensor<?x3x?x8xf32>
      %q = stablehlo.concatenate %p, %p, dim = 2 :
          (tensor<?x3x?x8xf32>, tensor<?x3x?x8xf32>) -> tensor<?x3x?x8xf32>
      %a = nn.broadcast_like %x0, %q :
          (tensor<?x3x?x8xf32>, tensor<?x3x?x8xf32>) -> tensor<?x3x?x8xf32>
      %b = nn.broadcast_like %q, %x0 :
          (tensor<?x3x?x8xf32>, tensor<?x3x?x8xf32>) -> tensor<?x3x?x8xf32>
      %c = stablehlo.multiply %a, %b : tensor<?x3x?x8xf32>
      return %c : tensor<?x3x?x8xf32>
)",
     {{2, 4, 0}, {1, 2, 0}, {3, 20, 0}, {2, 0, 0}},
     {{2, 5, 0}, {1, 1, 0}}},
    {"the smaller one of a size and a number",
     {{"A"}, {"12"}},
     "tensor<?xf32>",
     sizesOfFirst(1) + R"(
      %most = stablehlo.constant dense<12> : tensor<1xi64>
      %z = stablehlo.constant dense<0> : tensor<1xi64>
      %one = stablehlo.constant dense<1> : tensor<1xi64>
      %end = stablehlo.minimum %n0, %most : tensor<1xi64>
      %y = stablehlo.real_dynamic_slice %x1, %z, %end, %one :
          (tensor<12xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>)
          -> tensor<?xf32>
      %c = stablehlo.negate %y : tensor<?xf32>
      return %c : tensor<?xf32>
)",
     {{0, 0, 0}, {3, 0, 0}, {12, 0, 0}, {13, 0, 0}, {500, 0, 0}},
     {}},
    {"the smaller and the larger one of two sizes, of halves and of none",
     {{"A", "B"}},
     "tensor<?xf32>",
     sizesOfFirst(2) + R"(
      %two = stablehlo.constant dense<2> : tensor<1xi64>
      %z = stablehlo.constant dense<0> : tensor<1xi64>
      %a = stablehlo.minimum %n0, %n1 : tensor<1xi64>
      %b = stablehlo.maximum %n0, %n1 : tensor<1xi64>
      %h = stablehlo.divide %b, %two : tensor<1xi64>
      %m = stablehlo.minimum %a, %z : tensor<1xi64>
      %k = stablehlo.add %a, %h : tensor<1xi64>
      %l = stablehlo.add %k, %m : tensor<1xi64>
      %i = stablehlo.dynamic_iota %l, dim = 0 : (tensor<1xi64>) -> tensor<?xf32>
      return %i : tensor<?xf32>
)",
     {{0, 0, 0}, {3, 5, 0}, {5, 3, 0}, {7, 7, 0}, {1, 2, 0}},
     {}},
    {"what is missing to as many as there should be",
     {{"A"}},
     "tensor<?xf32>",
     sizesOfFirst(1) + R"(
      %five = stablehlo.constant dense<5> : tensor<1xi64>
      %z = stablehlo.constant dense<0> : tensor<1xi64>
      %d = stablehlo.subtract %five, %n0 : tensor<1xi64>
      %l = stablehlo.maximum %d, %z : tensor<1xi64>
      %i = stablehlo.dynamic_iota %l, dim = 0 : (tensor<1xi64>) -> tensor<?xf32>
      return %i : tensor<?xf32>
)",
     {{0, 0, 0}, {3, 0, 0}, {5, 0, 0}, {6, 0, 0}, {50, 0, 0}},
     {}},
    {"twice as many",
     {{"A"}},
     "tensor<?xf32>",
     scaledBody("2.0", down),
     {{0, 0, 0}, {1, 0, 0}, {7, 0, 0}},
     {}},
    {"half as many, rounded down",
     {{"A"}},
     "tensor<?xf32>",
     scaledBody("0.5", down),
     {{0, 0, 0}, {1, 0, 0}, {7, 0, 0}, {8, 0, 0}},
     {}},
    {"a quarter, rounded up",
     {{"A"}},
     "tensor<?xf32>",
     scaledBody("0.25", up),
     {{0, 0, 0}, {1, 0, 0}, {7, 0, 0}, {8, 0, 0}, {9, 0, 0}},
     {}},
    {"half as many again, towards zero",
     {{"A"}},
     "tensor<?xf32>",
     scaledBody("1.5", asItIs),
     {{0, 0, 0}, {1, 0, 0}, {7, 0, 0}, {8, 0, 0}},
     {}},
    {"a third, which floats do not hold",
     {{"A"}},
     "tensor<?xf32>",
     scaledBody("0.333", down),
     {{0, 0, 0}, {1, 0, 0}, {7, 0, 0}, {9, 0, 0}},
     {},
     /*computes=*/true},
    {"beside as many as are not zero",
     {{"A"}, {"B"}},
     "tensor<?xf32>",
     R"(
      %z = nn.non_zero %x0 : (tensor<?xf32>) -> tensor<1x?xi64>
      %s = stablehlo.get_dimension_size %z, dim = 1 :
          (tensor<1x?xi64>) -> tensor<i32>
      %v = stablehlo.reshape %s : (tensor<i32>) -> tensor<1xi32>
      %i = stablehlo.dynamic_iota %v, dim = 0 : (tensor<1xi32>) -> tensor<?xf32>
      %a = nn.broadcast_like %i, %x1 :
          (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
      %b = nn.broadcast_like %x1, %i :
          (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
      %c = stablehlo.add %a, %b : tensor<?xf32>
      return %c : tensor<?xf32>
)",
     {{4, 4, 0}, {1, 5, 0}, {5, 1, 0}, {0, 1, 0}, {0, 0, 0}, {40, 40, 0}},
     {{2, 3, 0}},
     /*computes=*/true},
};

class FollowingSizes : public ::testing::TestWithParam<FollowingCase> {};

} // namespace

TEST_P(FollowingSizes, AreRunByOneProgram) {
  const FollowingCase &test = GetParam();
  const std::string text = textOf(test);
  Model model = parseModel(text);
  ASSERT_TRUE(model.entry()) << text;
  auto program = compileRaised(text);
  ASSERT_TRUE(program) << program.error().message();
  ASSERT_TRUE(program->dynamic);
  EXPECT_EQ(llvm::any_of(
                program->steps,
                [](const Step &step) { return step.kind == StepKind::Size; }),
            test.computes);
  auto executor = ProgramExecutor::create(
      std::make_shared<const Program>(std::move(*program)),
      std::make_shared<ThreadPool>(2));
  ASSERT_TRUE(executor);
  for (const auto &sizes : test.sizes) {
    SCOPED_TRACE(::testing::PrintToString(sizes));
    const std::vector<Tensor> inputs = inputsOf(test, sizes);
    auto expected = interpret(model.entry(), inputs);
    ASSERT_TRUE(expected) << expected.error().message();
    auto got = (*executor)->run(inputs);
    ASSERT_TRUE(got) << got.error().message();
    ASSERT_EQ((*got)[0].shape(), (*expected)[0].shape());
    for (int64_t i = 0; i < (*got)[0].size(); ++i)
      ASSERT_NEAR((*got)[0].at<float>(i), (*expected)[0].at<float>(i), 1e-6);
  }
  for (const auto &sizes : test.beyond) {
    SCOPED_TRACE(::testing::PrintToString(sizes));
    const std::vector<Tensor> inputs = inputsOf(test, sizes);
    auto got = (*executor)->run(inputs);
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().kind, ErrorKind::InvalidModel)
        << got.error().message();
  }
}

INSTANTIATE_TEST_SUITE_P(Following, FollowingSizes,
                         ::testing::ValuesIn(followingCases));
