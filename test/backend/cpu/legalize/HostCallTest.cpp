//===- HostCallTest.cpp - what functions of the process compute -----------===//
//
// Covers: backend/cpu/legalize CombineByLoops ZeroResults

#include "backend/cpu/CompareWithInterpreter.h"
#include "runtime/HostFunctions.h"
#include "runtime/Program.h"
#include "runtime/ProgramExecutor.h"

#include <gtest/gtest.h>

using namespace sinter;
using namespace sinter::test;

TEST(HostCall, FourierTransforms) {
  for (auto [type, from, to, length] :
       {std::tuple{"FFT", "3x7xcomplex<f32>", "3x7xcomplex<f32>", "[7]"},
        {"IFFT", "3x8xcomplex<f64>", "3x8xcomplex<f64>", "[3, 8]"},
        {"RFFT", "2x5x6xf32", "2x5x4xcomplex<f32>", "[5, 6]"},
        {"IRFFT", "2x5x4xcomplex<f32>", "2x5x7xf32", "[7]"}}) {
    std::string a = std::string("tensor<") + from + ">",
                b = std::string("tensor<") + to + ">";
    EXPECT_EQ(differs("(%a: " + a + ") -> " + b +
                      " {\n  %0 = stablehlo.fft %a, type = " + type +
                      ", length = " + length + " : (" + a + ") -> " + b +
                      "\n  return %0 : " + b + "\n}"),
              "")
        << type;
  }
}

TEST(HostCall, Factorizations) {
  for (const char *lower : {"true", "false"})
    EXPECT_EQ(differs(std::string(R"((%a: tensor<2x4x4xf32>)
        -> tensor<2x4x4xf32> {
      %t = stablehlo.transpose %a, dims = [0, 2, 1]
          : (tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
      %p = stablehlo.dot_general %a, %t, batching_dims = [0] x [0],
          contracting_dims = [2] x [1]
          : (tensor<2x4x4xf32>, tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
      %0 = stablehlo.cholesky %p, lower = )") +
                          lower + R"( : tensor<2x4x4xf32>
      return %0 : tensor<2x4x4xf32>
    })",
                      {1e-3, 1e-3}),
              "");
  for (const char *transpose : {"NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"})
    EXPECT_EQ(differs(std::string(R"((%a: tensor<2x4x4xcomplex<f32>>,
        %b: tensor<2x3x4xcomplex<f32>>) -> tensor<2x3x4xcomplex<f32>> {
      %0 = "stablehlo.triangular_solve"(%a, %b) {left_side = false,
          lower = true, unit_diagonal = true,
          transpose_a = #stablehlo<transpose )") +
                          transpose +
                          R"(>} : (tensor<2x4x4xcomplex<f32>>,
          tensor<2x3x4xcomplex<f32>>) -> tensor<2x3x4xcomplex<f32>>
      return %0 : tensor<2x3x4xcomplex<f32>>
    })",
                      {1e-3, 1e-3}),
              "");
}

TEST(HostCall, CustomCallsByName) {
  registerHostFunction("test.twice", [](const HostCall &call) -> Result<void> {
    EXPECT_EQ(call.configuration, "how");
    for (int64_t i = 0; i < call.inputs[0].size(); ++i) {
      call.outputs[0].set<float>(i, 2 * call.inputs[0].at<float>(i));
      call.outputs[1].set<int32_t>(i, 7);
    }
    return {};
  });
  Model model = parseModel(R"((%a: tensor<3xf32>) -> (tensor<3xf32>,
      tensor<3xi32>) {
    %0 = stablehlo.add %a, %a : tensor<3xf32>
    %1 = stablehlo.custom_call @test.twice(%0) {backend_config = "how"}
        : (tensor<3xf32>) -> tuple<tensor<3xf32>, tensor<3xi32>>
    %2 = stablehlo.get_tuple_element %1[0]
        : (tuple<tensor<3xf32>, tensor<3xi32>>) -> tensor<3xf32>
    %3 = stablehlo.get_tuple_element %1[1]
        : (tuple<tensor<3xf32>, tensor<3xi32>>) -> tensor<3xi32>
    %4 = stablehlo.negate %2 : tensor<3xf32>
    return %4, %3 : tensor<3xf32>, tensor<3xi32>
  })");
  Result<Program> program = cpu::compileForCpu(model, {});
  ASSERT_TRUE(bool(program)) << program.error().message();
  auto executor =
      ProgramExecutor::create(std::make_shared<Program>(std::move(*program)),
                              std::make_shared<ThreadPool>(1));
  ASSERT_TRUE(bool(executor));
  std::vector<Tensor> inputs = {
      Tensor::of<float>(ElementType::F32, {3}, std::vector<float>{1, 2, 3})};
  auto results = (*executor)->run(inputs);
  ASSERT_TRUE(bool(results));
  EXPECT_EQ((*results)[0].at<float>(2), -12);
  EXPECT_EQ((*results)[1].at<int32_t>(1), 7);
}

TEST(HostCall, TokensAndBarriersLeaveNothing) {
  EXPECT_EQ(differs(R"((%a: tensor<3xf32>) -> tensor<3xf32> {
    %t = stablehlo.after_all : !stablehlo.token
    %b:2 = stablehlo.optimization_barrier %a, %t
        : tensor<3xf32>, !stablehlo.token
    %w:2 = "stablehlo.while"(%b#0, %b#1) ({
    ^bb0(%x: tensor<3xf32>, %u: !stablehlo.token):
      %no = stablehlo.constant dense<false> : tensor<i1>
      stablehlo.return %no : tensor<i1>
    }, {
    ^bb0(%x: tensor<3xf32>, %u: !stablehlo.token):
      %n = stablehlo.after_all %u : !stablehlo.token
      stablehlo.return %x, %n : tensor<3xf32>, !stablehlo.token
    }) : (tensor<3xf32>, !stablehlo.token)
        -> (tensor<3xf32>, !stablehlo.token)
    return %w#0 : tensor<3xf32>
  })"),
            "");
}
