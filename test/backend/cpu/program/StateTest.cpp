//===- StateTest.cpp - what outlives a run --------------------------------===//

#include "backend/cpu/CompareWithInterpreter.h"

#include "interpreter/InterpreterExecutor.h"
#include "runtime/ProgramExecutor.h"
#include "runtime/Random.h"
#include "runtime/Role.h"

#include <gtest/gtest.h>

using namespace sinter;
using namespace sinter::test;

namespace {

void expectSame(const Tensor &got, const Tensor &want, const std::string &who) {
  ASSERT_EQ(got.type(), want.type()) << who;
  ASSERT_EQ(got.shape(), want.shape()) << who;
  for (int64_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(got.toDouble(i), want.toDouble(i), 1e-5) << who << " " << i;
}

/// Runs \p body several times by both backends, each time on other inputs, and
/// compares outputs and states after every run. Returns the program.
std::shared_ptr<const Program> compareRuns(const std::string &body) {
  auto model = std::make_shared<const Model>(parseModel(body));
  auto oracle = InterpreterExecutor::create(model);
  EXPECT_TRUE(oracle) << oracle.error().message();
  auto compiled = cpu::compileForCpu(*model, {});
  EXPECT_TRUE(compiled) << compiled.error().message();
  if (!oracle || !compiled)
    return nullptr;
  auto program = std::make_shared<const Program>(std::move(*compiled));
  auto native =
      ProgramExecutor::create(program, std::make_shared<ThreadPool>(1));
  EXPECT_TRUE(native) << native.error().message();
  if (!native)
    return nullptr;
  auto compareStates = [&](const std::string &when) {
    ASSERT_EQ((*native)->states().size(), (*oracle)->states().size());
    for (size_t i = 0; i < (*native)->states().size(); ++i) {
      EXPECT_EQ((*native)->states()[i], (*oracle)->states()[i]);
      expectSame((*native)->state(i), (*oracle)->state(i),
                 when + (*native)->states()[i].name);
    }
  };
  compareStates("at first ");
  for (uint64_t run = 0; run < 4; ++run) {
    std::vector<Tensor> inputs;
    for (const TensorSpec &spec : (*native)->inputs()) {
      inputs.emplace_back(spec.type, spec.shape);
      fillRandom(inputs.back(), 100 * run + inputs.size(), {-1, 1, 3});
    }
    auto got = (*native)->run(inputs), want = (*oracle)->run(inputs);
    EXPECT_TRUE(got && want);
    if (!got || !want || got->size() != want->size())
      return nullptr;
    for (size_t i = 0; i < got->size(); ++i)
      expectSame((*got)[i], (*want)[i], "output " + std::to_string(i));
    compareStates("after run " + std::to_string(run) + " ");
  }
  (*native)->resetStates();
  (*oracle)->resetStates();
  compareStates("after reset ");
  for (size_t i = 0; i < (*native)->states().size(); ++i) {
    const TensorSpec &spec = (*native)->states()[i];
    Tensor other(spec.type, spec.shape);
    fillRandom(other, 5);
    EXPECT_TRUE((*native)->setState(i, other));
    EXPECT_TRUE((*oracle)->setState(i, other));
    expectSame((*native)->state(i), other, "set " + spec.name);
  }
  compareStates("after setting ");
  return program;
}

/// The copies at the end of the program, and the steps in all.
size_t copiesIn(const Program &program) {
  size_t count = 0;
  for (const Step &step : program.steps)
    count += step.kind == StepKind::Copy;
  return count;
}

} // namespace

TEST(State, Counts) {
  auto program = compareRuns(R"((%x: tensor<4xf32>,
      %n: tensor<i64> {sinter.state = "count", sinter.initial = dense<41> : tensor<i64>})
      -> (tensor<4xf32>, tensor<i64> {sinter.state = "count"}, tensor<i64>) {
    %one = stablehlo.constant dense<1> : tensor<i64>
    %m = stablehlo.add %n, %one : tensor<i64>
    %y = stablehlo.negate %x : tensor<4xf32>
    return %y, %m, %n : tensor<4xf32>, tensor<i64>, tensor<i64>
  })");
  ASSERT_TRUE(program);
  EXPECT_EQ(program->inputs.size(), 1u);
  EXPECT_EQ(program->outputs.size(), 2u);
  ASSERT_EQ(program->states.size(), 1u);
  EXPECT_EQ(program->states[0].spec.name, "count");
}

TEST(State, Swaps) {
  compareRuns(R"((
      %a: tensor<3xf32> {sinter.state = "a", sinter.initial = dense<[1.0, 2.0, 3.0]> : tensor<3xf32>},
      %b: tensor<3xf32> {sinter.state = "b", sinter.initial = dense<[4.0, 5.0, 6.0]> : tensor<3xf32>})
      -> (tensor<3xf32> {sinter.state = "b"}, tensor<3xf32> {sinter.state = "a"}, tensor<3xf32>) {
    %s = stablehlo.subtract %a, %b : tensor<3xf32>
    return %a, %b, %s : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
  })");
}

TEST(State, RunningMeanIsOutputToo) {
  compareRuns(R"((%x: tensor<8x4xf32>,
      %mean: tensor<4xf32> {sinter.state = "mean", sinter.initial = dense<0.5> : tensor<4xf32>})
      -> (tensor<4xf32> {sinter.state = "mean"}, tensor<4xf32>) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %tenth = stablehlo.constant dense<0.1> : tensor<4xf32>
    %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0]
        : (tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32>
    %new = stablehlo.multiply %sum, %tenth : tensor<4xf32>
    %both = stablehlo.add %mean, %new : tensor<4xf32>
    return %both, %both : tensor<4xf32>, tensor<4xf32>
  })");
}

/// A cache of rows, of which a run writes one: its buffer is written in place.
TEST(State, UpdatesInPlace) {
  auto program = compareRuns(R"((%row: tensor<1x8xf32>,
      %at: tensor<i32> {sinter.state = "at", sinter.initial = dense<0> : tensor<i32>},
      %cache: tensor<64x8xf32> {sinter.state = "cache", sinter.initial = dense<0.0> : tensor<64x8xf32>})
      -> (tensor<64x8xf32> {sinter.state = "cache"}, tensor<i32> {sinter.state = "at"}) {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %new = stablehlo.dynamic_update_slice %cache, %row, %at, %zero
        : (tensor<64x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<64x8xf32>
    %next = stablehlo.add %at, %one : tensor<i32>
    return %new, %next : tensor<64x8xf32>, tensor<i32>
  })");
  ASSERT_TRUE(program);
  bool inPlace = false;
  for (const Step &step : program->steps)
    for (const BufferReference &buffer : step.buffers) {
      EXPECT_FALSE(step.kind == StepKind::Copy && buffer.bytes == 64 * 8 * 4);
      inPlace |= step.kind == StepKind::Kernel &&
                 buffer.space == BufferSpace::State &&
                 buffer.access == BufferAccess::InOut;
    }
  EXPECT_TRUE(inPlace);
}

/// What a run saves without reading is written where it stays.
TEST(State, IsWrittenWithoutACopy) {
  auto program = compareRuns(R"((%x: tensor<64xf32>,
      %last: tensor<64xf32> {sinter.state = "last", sinter.initial = dense<0.0> : tensor<64xf32>})
      -> (tensor<64xf32>, tensor<64xf32> {sinter.state = "last"}) {
    %d = stablehlo.subtract %x, %last : tensor<64xf32>
    %t = stablehlo.tanh %d : tensor<64xf32>
    %dims = stablehlo.reshape %t : (tensor<64xf32>) -> tensor<8x8xf32>
    %p = stablehlo.dot_general %dims, %dims, contracting_dims = [1] x [0]
        : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    %y = stablehlo.reshape %p : (tensor<8x8xf32>) -> tensor<64xf32>
    return %t, %y : tensor<64xf32>, tensor<64xf32>
  })");
  ASSERT_TRUE(program);
  EXPECT_EQ(copiesIn(*program), 0u);
  EXPECT_FALSE(isPartlyWritten(*program, 0));
}

TEST(State, MayStayAsItIs) {
  compareRuns(R"((%x: tensor<4xf32>,
      %w: tensor<4xf32> {sinter.state = "w", sinter.initial = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>},
      %c: tensor<4xf32> {sinter.state = "c", sinter.initial = dense<9.0> : tensor<4xf32>})
      -> (tensor<4xf32>, tensor<4xf32> {sinter.state = "w"}, tensor<4xf32> {sinter.state = "c"}) {
    %y = stablehlo.multiply %x, %w : tensor<4xf32>
    return %y, %w, %x : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  })");
}

//===----------------------------------------------------------------------===//
// States that are written in place
//===----------------------------------------------------------------------===//

namespace {

/// A state of f32 that is \p next of %x and %s, both of \p type, and what else
/// is returned.
std::string updating(const std::string &type, const std::string &next,
                     const std::string &output = "%x") {
  return "(%x: " + type + ", %s: " + type +
         " {sinter.state = \"s\", sinter.initial = dense<0.5> : " + type +
         "}) -> (" + type + " {sinter.state = \"s\"}, " + type + ") {\n" +
         next + "\n return %n, " + output + " : " + type + ", " + type + "\n}";
}

} // namespace

TEST(State, ElementwiseUpdatesAreInPlace) {
  for (const char *type : {"tensor<7xf32>", "tensor<5x33xf32>",
                           "tensor<2x3x4x5xf32>", "tensor<f32>"}) {
    const std::string t = type;
    auto program =
        compareRuns(updating(t, " %a = stablehlo.multiply %s, %x : " + t +
                                    "\n %b = stablehlo.add %a, %s : " + t +
                                    "\n %n = stablehlo.tanh %b : " + t));
    ASSERT_TRUE(program);
    // The other output is a copy of the input.
    EXPECT_EQ(copiesIn(*program), 1u) << type;
  }
}

TEST(State, UpdatesStandBehindReaders) {
  const std::string t = "tensor<6x6xf32>";
  auto program = compareRuns(updating(
      t,
      " %a = stablehlo.add %s, %x : " + t +
          "\n %n = stablehlo.optimization_barrier %a : " + t +
          "\n %y = stablehlo.dot_general %x, %s, contracting_dims = [1] x [0] "
          ": (" +
          t + ", " + t + ") -> " + t,
      "%y"));
  ASSERT_TRUE(program);
  EXPECT_EQ(copiesIn(*program), 0u);
}

TEST(State, WhatReadsOtherPlacesIsCopied) {
  const std::string t = "tensor<6x6xf32>";
  for (const std::string &next :
       {" %r = stablehlo.transpose %s, dims = [1, 0] : (" + t + ") -> " + t +
            "\n %n = stablehlo.add %r, %s : " + t,
        " %r = stablehlo.reverse %s, dims = [1] : " + t +
            "\n %n = stablehlo.add %r, %x : " + t,
        " %r = stablehlo.broadcast_in_dim %s, dims = [1, 0] : (" + t + ") -> " +
            t + "\n %n = stablehlo.add %r, %x : " + t,
        " %n = stablehlo.dot_general %s, %x, contracting_dims = [1] x [0] : (" +
            t + ", " + t + ") -> " + t}) {
    auto program = compareRuns(updating(t, next));
    ASSERT_TRUE(program);
    EXPECT_EQ(copiesIn(*program), 2u) << next;
  }
}

/// Each reads the other's old value.
TEST(State, UpdatesOfEachOther) {
  auto program = compareRuns(R"((%x: tensor<9xf32>,
      %a: tensor<9xf32> {sinter.state = "a", sinter.initial = dense<1.0> : tensor<9xf32>},
      %b: tensor<9xf32> {sinter.state = "b", sinter.initial = dense<2.0> : tensor<9xf32>})
      -> (tensor<9xf32> {sinter.state = "a"}, tensor<9xf32> {sinter.state = "b"}) {
    %c = stablehlo.multiply %a, %b : tensor<9xf32>
    %d = stablehlo.subtract %b, %a : tensor<9xf32>
    %e = stablehlo.add %d, %x : tensor<9xf32>
    return %c, %e : tensor<9xf32>, tensor<9xf32>
  })");
  ASSERT_TRUE(program);
  EXPECT_EQ(copiesIn(*program), 1u);
}

/// As Adam does: moments and what is computed of them.
TEST(State, MomentsAndWeights) {
  auto program = compareRuns(R"((%g: tensor<8x5xf32>,
      %w: tensor<8x5xf32> {sinter.state = "w", sinter.initial = dense<1.0> : tensor<8x5xf32>},
      %m: tensor<8x5xf32> {sinter.state = "m", sinter.initial = dense<0.0> : tensor<8x5xf32>},
      %v: tensor<8x5xf32> {sinter.state = "v", sinter.initial = dense<0.0> : tensor<8x5xf32>})
      -> (tensor<8x5xf32> {sinter.state = "w"}, tensor<8x5xf32> {sinter.state = "m"},
          tensor<8x5xf32> {sinter.state = "v"}, tensor<8x8xf32>) {
    %tenth = stablehlo.constant dense<0.1> : tensor<8x5xf32>
    %most = stablehlo.constant dense<0.9> : tensor<8x5xf32>
    %m0 = stablehlo.multiply %m, %most : tensor<8x5xf32>
    %m1 = stablehlo.multiply %g, %tenth : tensor<8x5xf32>
    %m2 = stablehlo.add %m0, %m1 : tensor<8x5xf32>
    %gg = stablehlo.multiply %g, %g : tensor<8x5xf32>
    %v0 = stablehlo.multiply %v, %most : tensor<8x5xf32>
    %v1 = stablehlo.multiply %gg, %tenth : tensor<8x5xf32>
    %v2 = stablehlo.add %v0, %v1 : tensor<8x5xf32>
    %r = stablehlo.sqrt %v2 : tensor<8x5xf32>
    %d = stablehlo.add %r, %tenth : tensor<8x5xf32>
    %u = stablehlo.divide %m2, %d : tensor<8x5xf32>
    %w2 = stablehlo.subtract %w, %u : tensor<8x5xf32>
    %y = stablehlo.dot_general %w, %g, contracting_dims = [1] x [1] : (tensor<8x5xf32>, tensor<8x5xf32>) -> tensor<8x8xf32>
    return %w2, %m2, %v2, %y : tensor<8x5xf32>, tensor<8x5xf32>, tensor<8x5xf32>, tensor<8x8xf32>
  })");
  ASSERT_TRUE(program);
  EXPECT_EQ(copiesIn(*program), 0u);
}

/// What a loop carries, elementwise and by a product.
TEST(State, LoopsCarryInPlace) {
  compareRuns(R"((%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %r:3 = stablehlo.while(%i = %zero, %a = %x, %b = %x) : tensor<i32>, tensor<4x4xf32>, tensor<4x4xf32>
     cond {
      %n = stablehlo.constant dense<5> : tensor<i32>
      %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %half = stablehlo.constant dense<0.5> : tensor<4x4xf32>
      %j = stablehlo.add %i, %one : tensor<i32>
      %h = stablehlo.multiply %a, %half : tensor<4x4xf32>
      %d = stablehlo.add %h, %b : tensor<4x4xf32>
      %p = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      %e = stablehlo.tanh %p : tensor<4x4xf32>
      stablehlo.return %j, %d, %e : tensor<i32>, tensor<4x4xf32>, tensor<4x4xf32>
    }
    return %r#1, %r#2 : tensor<4x4xf32>, tensor<4x4xf32>
  })");
}
