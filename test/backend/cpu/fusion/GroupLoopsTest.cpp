//===- GroupLoopsTest.cpp - independent loops, at once --------------------===//
//
// On one thread and two, of static and of dynamic sizes, the results are the
// interpreter's: what loops use of the program's memory does not meet.
//
//===----------------------------------------------------------------------===//
//
// Covers: backend/cpu/fusion UsersBefore

#include "backend/cpu/fusion/GroupLoops.h"

#include "backend/cpu/DynamicCase.h"

using namespace sinter;
using namespace sinter::test;

namespace {

/// A loop: `rounds` times the state becomes tanh(state * weights + input). With
/// the batch `N` sizes are dynamic.
std::string loop(const std::string &result, const std::string &input,
                 const std::string &weights, int rounds,
                 const std::string &rows = "3") {
  std::string text = R"(
    %R_n = stablehlo.constant dense<ROUNDS> : tensor<i32>
    %R_z = stablehlo.constant dense<0> : tensor<i32>
    %R_w:2 = "stablehlo.while"(%R_z, %INPUT) ({
    ^bb0(%R_i: tensor<i32>, %R_x: TYPE):
      %R_c = stablehlo.compare LT, %R_i, %R_n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%R_c) : (tensor<i1>) -> ()
    }, {
    ^bb0(%R_i: tensor<i32>, %R_x: TYPE):
      %R_1 = stablehlo.constant dense<1> : tensor<i32>
      %R_j = stablehlo.add %R_i, %R_1 : tensor<i32>
      %R_p = stablehlo.dot_general %R_x, %WEIGHTS, contracting_dims = [1] x [0] : (TYPE, tensor<8x8xf32>) -> TYPE
      %R_s = stablehlo.add %R_p, %INPUT : TYPE
      %R_t = stablehlo.tanh %R_s : TYPE
      "stablehlo.return"(%R_j, %R_t) : (tensor<i32>, TYPE) -> ()
    }) : (tensor<i32>, TYPE) -> (tensor<i32>, TYPE)
    %R = stablehlo.negate %R_w#1 : TYPE
)";
  const std::pair<std::string, std::string> words[] = {
      {"ROUNDS", std::to_string(rounds)},
      {"INPUT", input},
      {"WEIGHTS", weights},
      {"TYPE", "tensor<" + rows + "x8xf32>"},
      {"%R", "%" + result}};
  for (const auto &[word, by] : words)
    for (size_t at; (at = text.find(word)) != std::string::npos;)
      text.replace(at, word.size(), by);
  return text;
}

/// How many loops each concurrent step of \p steps has, those in bodies too.
std::vector<size_t> groupsOf(std::span<const Step> steps) {
  std::vector<size_t> all;
  for (const Step &step : steps) {
    if (step.kind == StepKind::Concurrent)
      all.push_back(step.bodies.size());
    for (const std::vector<Step> &body : step.bodies)
      llvm::append_range(all, groupsOf(body));
  }
  return all;
}

std::string staticFunction(const std::string &body) {
  return "(%x: tensor<3x8xf32>, %y: tensor<3x8xf32>, %v: tensor<8x8xf32>, "
         "%w: tensor<8x8xf32>) -> (tensor<3x8xf32>, tensor<3x8xf32>) {\n" +
         body + "return %a, %b : tensor<3x8xf32>, tensor<3x8xf32>\n}";
}

std::vector<size_t> groupsOf(const std::string &body) {
  std::shared_ptr<Program> program;
  EXPECT_EQ(differs(body, {}, &program), "");
  return program ? groupsOf(program->steps) : std::vector<size_t>();
}

using Groups = std::vector<size_t>;

} // namespace

TEST(GroupLoops, TwoDirections) {
  EXPECT_EQ(groupsOf(staticFunction(
                loop("a", "x", "v", 5) +
                "%r = stablehlo.reverse %y, dims = [0] : tensor<3x8xf32>\n" +
                loop("b", "r", "w", 7))),
            Groups{2});
}

TEST(GroupLoops, TheSameInput) {
  EXPECT_EQ(
      groupsOf(staticFunction(loop("a", "x", "v", 5) + loop("b", "x", "v", 2))),
      Groups{2});
}

/// Layers one after the other, of two directions each.
TEST(GroupLoops, TwoLayers) {
  EXPECT_EQ(
      groupsOf(staticFunction(loop("c", "x", "v", 5) + loop("d", "y", "w", 4) +
                              "%e = stablehlo.add %c, %d : tensor<3x8xf32>\n" +
                              loop("a", "e", "w", 3) + loop("b", "e", "v", 6))),
      (Groups{2, 2}));
}

TEST(GroupLoops, FiveAtOnce) {
  EXPECT_EQ(groupsOf(staticFunction(
                loop("c", "x", "v", 1) + loop("d", "x", "w", 2) +
                loop("e", "y", "v", 3) + loop("f", "y", "w", 4) +
                loop("g", "x", "w", 0) +
                "%h = stablehlo.add %c, %d : tensor<3x8xf32>\n"
                "%k = stablehlo.multiply %e, %f : tensor<3x8xf32>\n"
                "%a = stablehlo.add %h, %k : tensor<3x8xf32>\n"
                "%b = stablehlo.add %a, %g : tensor<3x8xf32>\n")),
            Groups{5});
}

/// The second one reads the first one's result: directly, by way of kernels, or
/// in its body.
TEST(GroupLoops, NoneThatDependsOnAnother) {
  EXPECT_EQ(
      groupsOf(staticFunction(loop("a", "x", "v", 5) + loop("b", "a", "w", 7))),
      Groups());
  EXPECT_EQ(
      groupsOf(staticFunction(
          loop("a", "x", "v", 5) +
          "%r = stablehlo.dot_general %a, %v, contracting_dims = [1] x "
          "[0] : (tensor<3x8xf32>, tensor<8x8xf32>) -> tensor<3x8xf32>\n" +
          loop("b", "r", "w", 7))),
      Groups());
  EXPECT_EQ(
      groupsOf(staticFunction(
          loop("a", "x", "v", 5) +
          "%q = stablehlo.transpose %a, dims = [1, 0] : (tensor<3x8xf32>) -> "
          "tensor<8x3xf32>\n"
          "%u = stablehlo.dot_general %q, %x, contracting_dims = [1] x [0] : "
          "(tensor<8x3xf32>, tensor<3x8xf32>) -> tensor<8x8xf32>\n" +
          loop("b", "y", "u", 7))),
      Groups());
}

/// Of a dynamic batch, with temporaries before and in between.
TEST(GroupLoops, DynamicSizes) {
  DynamicCase test;
  test.name = "loops";
  test.inputs = {{batch, 8}, {batch, 8}};
  test.lengths = {1};
  test.body = "(" + argument("%x", {batch, 8}) + ", " +
              argument("%y", {batch, 8}) + R"() -> tensor<?x8xf32> {
    %v = stablehlo.constant dense<0.25> : tensor<8x8xf32>
    %w = stablehlo.constant dense<-0.125> : tensor<8x8xf32>
    %r = stablehlo.exponential %y : tensor<?x8xf32>)" +
              loop("a", "x", "v", 5, "?") +
              "%s = stablehlo.tanh %r : tensor<?x8xf32>\n" +
              loop("b", "s", "w", 3, "?") +
              "%o = stablehlo.add %a, %b : tensor<?x8xf32>\n"
              "return %o : tensor<?x8xf32>\n}";
  checkProgram(test, {});
  Result<Program> program = compileRaised(test.body);
  ASSERT_TRUE(program) << program.error().message();
  EXPECT_EQ(groupsOf(program->steps), Groups{2});
}

/// What a program of a file may not hold.
TEST(GroupLoops, VerifyRefusesHostCallsInThem) {
  std::shared_ptr<Program> program;
  ASSERT_EQ(
      differs(staticFunction(loop("a", "x", "v", 5) + loop("b", "x", "v", 2)),
              {}, &program),
      "");
  const auto concurrent = llvm::find_if(program->steps, [](const Step &step) {
    return step.kind == StepKind::Concurrent;
  });
  ASSERT_NE(concurrent, program->steps.end());
  EXPECT_TRUE(verify(*program));
  Program damaged = *program;
  Step &step = damaged.steps[concurrent - program->steps.begin()];
  Step call;
  call.kind = StepKind::HostCall;
  call.hostFunction = "sinter.test";
  step.bodies[1].push_back(call);
  EXPECT_FALSE(verify(damaged));
  step.bodies.clear();
  EXPECT_FALSE(verify(damaged));
}
