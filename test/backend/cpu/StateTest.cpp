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
  EXPECT_TRUE(oracle) << oracle.error().message;
  auto compiled = cpu::compileForCpu(*model, {});
  EXPECT_TRUE(compiled) << compiled.error().message;
  if (!oracle || !compiled)
    return nullptr;
  auto program = std::make_shared<const Program>(std::move(*compiled));
  auto native =
      ProgramExecutor::create(program, std::make_shared<ThreadPool>(1));
  EXPECT_TRUE(native) << native.error().message;
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
