//===- ControlFlowTest.cpp - branches and loops ---------------------------===//
//
// Covers: backend/cpu/emit ElementalControl

#include "backend/cpu/CompareWithInterpreter.h"
#include "runtime/Program.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace sinter::test;

TEST(ControlFlow, LoopsWithSwappedValues) {
  EXPECT_EQ(differs(R"((%a: tensor<4xf32>, %b: tensor<4xf32>)
      -> (tensor<i32>, tensor<4xf32>, tensor<4xf32>) {
    %z = stablehlo.constant dense<0> : tensor<i32>
    %0:3 = "stablehlo.while"(%z, %a, %b) ({
    ^bb0(%i: tensor<i32>, %x: tensor<4xf32>, %y: tensor<4xf32>):
      %n = stablehlo.constant dense<5> : tensor<i32>
      %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%c) : (tensor<i1>) -> ()
    }, {
    ^bb0(%i: tensor<i32>, %x: tensor<4xf32>, %y: tensor<4xf32>):
      %one = stablehlo.constant dense<1> : tensor<i32>
      %j = stablehlo.add %i, %one : tensor<i32>
      %s = stablehlo.add %x, %a : tensor<4xf32>
      "stablehlo.return"(%j, %y, %s) : (tensor<i32>, tensor<4xf32>, tensor<4xf32>) -> ()
    }) : (tensor<i32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>, tensor<4xf32>)
    return %0#0, %0#1, %0#2 : tensor<i32>, tensor<4xf32>, tensor<4xf32>
  })"),
            "");
}

TEST(ControlFlow, ChoosesABranch) {
  EXPECT_EQ(differs(R"((%p: tensor<i1>, %i: tensor<i32>, %a: tensor<4xf32>)
      -> (tensor<4xf32>, tensor<4xf32>) {
    %0 = "stablehlo.if"(%p) ({
      %n = stablehlo.negate %a : tensor<4xf32>
      "stablehlo.return"(%n) : (tensor<4xf32>) -> ()
    }, {
      "stablehlo.return"(%a) : (tensor<4xf32>) -> ()
    }) : (tensor<i1>) -> tensor<4xf32>
    %1 = "stablehlo.case"(%i) ({
      %n = stablehlo.negate %a : tensor<4xf32>
      "stablehlo.return"(%n) : (tensor<4xf32>) -> ()
    }, {
      %e = stablehlo.exponential %0 : tensor<4xf32>
      "stablehlo.return"(%e) : (tensor<4xf32>) -> ()
    }) : (tensor<i32>) -> tensor<4xf32>
    return %0, %1 : tensor<4xf32>, tensor<4xf32>
  })"),
            "");
}

TEST(ControlFlow, UpdatesACarriedTensorInPlace) {
  EXPECT_EQ(differs(R"((%a: tensor<5x4xf32>, %b: tensor<1x4xf32>)
      -> (tensor<5x4xf32>, tensor<1x4xf32>) {
    %z = stablehlo.constant dense<0> : tensor<i32>
    %0:3 = "stablehlo.while"(%z, %a, %b) ({
    ^bb0(%i: tensor<i32>, %y: tensor<5x4xf32>, %h: tensor<1x4xf32>):
      %n = stablehlo.constant dense<5> : tensor<i32>
      %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%c) : (tensor<i1>) -> ()
    }, {
    ^bb0(%i: tensor<i32>, %y: tensor<5x4xf32>, %h: tensor<1x4xf32>):
      %one = stablehlo.constant dense<1> : tensor<i32>
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %j = stablehlo.add %i, %one : tensor<i32>
      %x = stablehlo.dynamic_slice %a, %i, %zero, sizes = [1, 4]
          : (tensor<5x4xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>
      %s = stablehlo.add %x, %h : tensor<1x4xf32>
      %t = stablehlo.tanh %s : tensor<1x4xf32>
      %u = stablehlo.dynamic_update_slice %y, %t, %i, %zero
          : (tensor<5x4xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<5x4xf32>
      "stablehlo.return"(%j, %u, %t) : (tensor<i32>, tensor<5x4xf32>, tensor<1x4xf32>) -> ()
    }) : (tensor<i32>, tensor<5x4xf32>, tensor<1x4xf32>) -> (tensor<i32>, tensor<5x4xf32>, tensor<1x4xf32>)
    return %0#1, %0#2 : tensor<5x4xf32>, tensor<1x4xf32>
  })"),
            "");
}

namespace {
/// The copies in the body of the program's one loop.
int copiesInLoop(const std::string &text) {
  sinter::Result<sinter::Program> program =
      sinter::cpu::compileForCpu(parseModel(text), {});
  EXPECT_TRUE(bool(program));
  for (const sinter::Step &step : program->steps)
    if (step.kind == sinter::StepKind::While)
      return llvm::count_if(step.bodies[1], [](const sinter::Step &inner) {
        return inner.kind == sinter::StepKind::Copy;
      });
  return -1;
}
} // namespace

TEST(ControlFlow, LoopsUpdateTheirStateInPlace) {
  EXPECT_EQ(copiesInLoop(R"((%a: tensor<8x100xf32>) -> tensor<8x100xf32> {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %w:2 = "stablehlo.while"(%zero, %a) ({
    ^bb0(%i: tensor<i32>, %x: tensor<8x100xf32>):
      %n = stablehlo.constant dense<8> : tensor<i32>
      %c = stablehlo.compare LT, %i, %n
          : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    }, {
    ^bb0(%i: tensor<i32>, %x: tensor<8x100xf32>):
      %one = stablehlo.constant dense<1> : tensor<i32>
      %zero2 = stablehlo.constant dense<0> : tensor<i32>
      %row = stablehlo.dynamic_slice %x, %i, %zero2, sizes = [1, 100]
          : (tensor<8x100xf32>, tensor<i32>, tensor<i32>) -> tensor<1x100xf32>
      %sine = stablehlo.sine %row : tensor<1x100xf32>
      %next = stablehlo.dynamic_update_slice %x, %sine, %i, %zero2
          : (tensor<8x100xf32>, tensor<1x100xf32>, tensor<i32>, tensor<i32>)
          -> tensor<8x100xf32>
      %j = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %j, %next : tensor<i32>, tensor<8x100xf32>
    }) : (tensor<i32>, tensor<8x100xf32>)
        -> (tensor<i32>, tensor<8x100xf32>)
    return %w#1 : tensor<8x100xf32>
  })"),
            0); // Nor is the counter.
}

/// Branches around branches around a negation.
/// Weights beyond the size of a core's cache are read to and fro.
TEST(ControlFlow, RepeatsAProductWithManyWeights) {
  const std::string body = R"((%a: tensor<1x1200xf32>) -> tensor<1x1200xf32> {
    %k = stablehlo.iota dim = 0 : tensor<1440000xi32>
    %m = stablehlo.constant dense<4> : tensor<1440000xi32>
    %q = stablehlo.constant dense<37> : tensor<1440000xi32>
    %p = stablehlo.multiply %k, %m : tensor<1440000xi32>
    %g = stablehlo.remainder %p, %q : tensor<1440000xi32>
    %h = stablehlo.convert %g : (tensor<1440000xi32>) -> tensor<1440000xf32>
    %d = stablehlo.constant dense<1.0e-4> : tensor<1440000xf32>
    %e = stablehlo.multiply %h, %d : tensor<1440000xf32>
    %w = stablehlo.reshape %e : (tensor<1440000xf32>) -> tensor<1200x1200xf32>
    %z = stablehlo.constant dense<0> : tensor<i32>
    %0:2 = "stablehlo.while"(%z, %a) ({
    ^bb0(%i: tensor<i32>, %x: tensor<1x1200xf32>):
      %n = stablehlo.constant dense<5> : tensor<i32>
      %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%c) : (tensor<i1>) -> ()
    }, {
    ^bb0(%i: tensor<i32>, %x: tensor<1x1200xf32>):
      %one = stablehlo.constant dense<1> : tensor<i32>
      %j = stablehlo.add %i, %one : tensor<i32>
      %y = stablehlo.dot %x, %w : (tensor<1x1200xf32>, tensor<1200x1200xf32>) -> tensor<1x1200xf32>
      %t = stablehlo.tanh %y : tensor<1x1200xf32>
      %u = stablehlo.add %t, %a : tensor<1x1200xf32>
      "stablehlo.return"(%j, %u) : (tensor<i32>, tensor<1x1200xf32>) -> ()
    }) : (tensor<i32>, tensor<1x1200xf32>) -> (tensor<i32>, tensor<1x1200xf32>)
    return %0#1 : tensor<1x1200xf32>
  })";
  EXPECT_EQ(differs(body), "");
  sinter::Result<sinter::Program> program =
      sinter::cpu::compileForCpu(parseModel(body), {});
  ASSERT_TRUE(bool(program));
  // The weights are a constant, as large as meant.
  EXPECT_TRUE(std::ranges::any_of(program->constants, [](const auto &constant) {
    return constant.bytes.size() >= 1440000 * sizeof(float);
  }));
}

static std::string nestedBranches(int depth) {
  std::string text = "(%p: tensor<i1>, %a: tensor<4xf32>) -> tensor<4xf32> {\n";
  for (int i = 0; i < depth; ++i)
    text += "%v" + std::to_string(i) + " = \"stablehlo.if\"(%p) ({\n";
  text += "%n = stablehlo.negate %a : tensor<4xf32>\n";
  for (int i = depth - 1; i >= 0; --i)
    text += "\"stablehlo.return\"(%" +
            (i == depth - 1 ? "n" : "v" + std::to_string(i + 1)) +
            ") : (tensor<4xf32>) -> ()\n}, {\n"
            "\"stablehlo.return\"(%a) : (tensor<4xf32>) -> ()\n"
            "}) : (tensor<i1>) -> tensor<4xf32>\n";
  return text + "return %v0 : tensor<4xf32>\n}";
}

TEST(ControlFlow, NestsDeeplyButNotWithoutBound) {
  EXPECT_EQ(differs(nestedBranches(100)), "");
  EXPECT_NE(differs(nestedBranches(600))
                .find("control flow nests more than 512 deep"),
            std::string::npos);
}
