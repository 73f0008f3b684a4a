//===- ValueLimitsTest.cpp - values that a program is not for -------------===//
//
// What a run leaves behind that found out sizes which its program is not for.
//
//===----------------------------------------------------------------------===//

#include "backend/cpu/CompareWithInterpreter.h"
#include "runtime/DynamicProgram.h"
#include "runtime/ProgramExecutor.h"

#include <gtest/gtest.h>

using namespace sinter;
using namespace sinter::test;

namespace {

/// The state keeps the last two of %k, replaced one by one where it lies. The
/// program is for as many elements of nine as the two say together.
constexpr const char *keepingBody =
    R"((%x: tensor<9xf32>, %k: tensor<1xi64>, %at: tensor<i64>,
        %t: tensor<2xi64> {sinter.state = "kept",
                           sinter.initial = dense<0> : tensor<2xi64>})
        -> (tensor<?xf32>, tensor<2xi64> {sinter.state = "kept"}) {
      %z = stablehlo.constant dense<0> : tensor<1xi64>
      %one = stablehlo.constant dense<1> : tensor<1xi64>
      %zero = stablehlo.constant dense<0> : tensor<i64>
      %u = stablehlo.dynamic_update_slice %t, %k, %at :
          (tensor<2xi64>, tensor<1xi64>, tensor<i64>) -> tensor<2xi64>
      %c = stablehlo.reduce(%u init: %zero) applies stablehlo.add
          across dimensions = [0] : (tensor<2xi64>, tensor<i64>) -> tensor<i64>
      %n = stablehlo.reshape %c : (tensor<i64>) -> tensor<1xi64>
      %y = stablehlo.real_dynamic_slice %x, %z, %n, %one :
          (tensor<9xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>)
          -> tensor<?xf32>
      return %y, %u : tensor<?xf32>, tensor<2xi64>
    })";

class ValueLimits : public ::testing::Test {
protected:
  void SetUp() override {
    auto program = compileRaised(keepingBody);
    ASSERT_TRUE(program) << program.error().message();
    auto made = ProgramExecutor::create(
        std::make_shared<const Program>(std::move(*program)),
        std::make_shared<ThreadPool>(1));
    ASSERT_TRUE(made);
    executor = std::move(*made);
  }

  Result<std::vector<Tensor>> run(int64_t k, int64_t at) {
    std::vector<Tensor> inputs = {Tensor(ElementType::F32, {9}),
                                  Tensor(ElementType::I64, {1}),
                                  Tensor(ElementType::I64, {})};
    inputs[1].mutableValues<int64_t>()[0] = k;
    inputs[2].mutableValues<int64_t>()[0] = at;
    return executor->run(inputs);
  }

  std::vector<int64_t> kept() const {
    const Tensor state = executor->state(0);
    return {state.at<int64_t>(0), state.at<int64_t>(1)};
  }

  std::unique_ptr<ProgramExecutor> executor;
};

} // namespace

TEST_F(ValueLimits, StatesAreAsBefore) {
  auto done = run(5, 1);
  ASSERT_TRUE(done) << done.error().message();
  EXPECT_FALSE(executor->wasBeyondLimits());
  EXPECT_EQ(kept(), std::vector<int64_t>({0, 5}));
  for (int64_t beyond : {5, -6}) {
    done = run(beyond, 0);
    EXPECT_FALSE(done);
    EXPECT_TRUE(executor->wasBeyondLimits());
    EXPECT_EQ(kept(), std::vector<int64_t>({0, 5}));
  }
  done = run(4, 0);
  ASSERT_TRUE(done) << done.error().message();
  EXPECT_EQ((*done)[0].shape(), Shape({9}));
  EXPECT_FALSE(executor->wasBeyondLimits());
  EXPECT_EQ(kept(), std::vector<int64_t>({4, 5}));
}

/// What is wrong with the inputs is no matter of limits.
TEST_F(ValueLimits, OtherErrorsAreNotOfLimits) {
  std::vector<Tensor> inputs = {Tensor(ElementType::F32, {8}),
                                Tensor(ElementType::I64, {1}),
                                Tensor(ElementType::I64, {})};
  EXPECT_FALSE(executor->run(inputs));
  EXPECT_FALSE(executor->wasBeyondLimits());
}
