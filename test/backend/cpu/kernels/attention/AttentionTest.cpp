//===- AttentionTest.cpp - fused attention against the oracle -------------===//
//
// Covers: backend/cpu/emit AttentionKernel
// Covers: backend/cpu/cost GraphShapes
// Covers: backend/cpu/kernels/attention Attention AttentionPlace AttentionShape
// Covers: backend/cpu/layout FormAttention
// Covers: passes RaiseAttention

#include "Sweep.h"
#include "backend/cpu/CompareWithInterpreter.h"
#include "backend/cpu/kernels/attention/AttentionCases.h"
#include "graph/nn/NnOps.h"

#include <gtest/gtest.h>

using namespace sinter;
using namespace sinter::test;

namespace {

TEST(CpuAttention, AgreesWithTheOracle) {
  Sweep sweep;
  for (const AttentionCase &test : attentionCases)
    for (bool between : {false, true})
      if (sweep.takesNext())
        EXPECT_EQ(differs(bodyOf(test, between)), "")
            << test.name << (between ? ", heads between" : "");
}

/// Operands of floats narrower than f32 are converted, and so is the result,
/// whose last digit may be another one.
TEST(CpuAttention, TakesNarrowFloats) {
  Sweep sweep;
  for (const auto &[element, tolerance] :
       {std::pair("f16", 1e-3), std::pair("bf16", 8e-3)})
    for (const AttentionCase &test : attentionCases)
      for (bool between : {false, true}) {
        if (!sweep.takesNext())
          continue;
        std::string text = bodyOf(test, between);
        replaceAll(text, "f32", element);
        std::shared_ptr<Program> program;
        EXPECT_EQ(differs(text, {tolerance, tolerance}, &program), "")
            << test.name << (between ? ", heads between, " : ", ") << element;
        ASSERT_TRUE(program);
        const bool isWhole = test.key[2] > 1;
        EXPECT_EQ(llvm::count_if(program->steps,
                                 [](const Step &step) {
                                   return llvm::StringRef(step.op).starts_with(
                                       "attention");
                                 }),
                  isWhole ? 1 : 0)
            << test.name << ", " << element;
      }
}

TEST(CpuAttention, TakesTransposedKeys) {
  EXPECT_EQ(
      differs(
          R"((%q: tensor<2x32x16xf32>, %k: tensor<2x16x40xf32>, %v: tensor<2x40x16xf32>) -> tensor<2x32x16xf32> {
    %t = stablehlo.transpose %k, dims = [0, 2, 1] : (tensor<2x16x40xf32>) -> tensor<2x40x16xf32>
    %r = nn.attention %q, %t, %v scale = 0.25 : (tensor<2x32x16xf32>, tensor<2x40x16xf32>, tensor<2x40x16xf32>) -> tensor<2x32x16xf32>
    return %r : tensor<2x32x16xf32>
  })"),
      "");
}

TEST(CpuAttention, OtherTypesAreDecomposed) {
  EXPECT_EQ(
      differs(
          R"((%q: tensor<32x16xf64>, %k: tensor<40x16xf64>, %v: tensor<40x16xf64>) -> tensor<32x16xf64> {
    %r = nn.attention %q, %k, %v scale = 0.25 causal : (tensor<32x16xf64>, tensor<40x16xf64>, tensor<40x16xf64>) -> tensor<32x16xf64>
    return %r : tensor<32x16xf64>
  })"),
      "");
}

/// One block of keys and several give what the parts would have given.
TEST(CpuAttention, HidesAsSpeltOut) {
  Sweep sweep;
  for (const Hidden &test : hidden)
    for (int64_t keys : {50, 1030}) {
      if (!sweep.takesNext())
        continue;
      const std::string text = bodyOf(test, keys);
      std::shared_ptr<Program> program;
      EXPECT_EQ(differsRaised(text, {}, &program), "")
          << test.name << ", " << keys << " keys";
      ASSERT_TRUE(program);
      EXPECT_EQ(llvm::count_if(
                    program->steps,
                    [](const Step &step) { return step.op == "attention"; }),
                1)
          << test.name;
    }
}

/// jax.nn.dot_product_attention, is_causal=True, inlined: the heads of the
/// query in groups of one, which vmap brings in front.
TEST(CpuAttention, OfJaxIsOneStep) {
  const char *text =
      R"((%q: tensor<2x64x4x32xf32>, %k: tensor<2x64x4x32xf32>, %v: tensor<2x64x4x32xf32>) -> tensor<2x64x4x32xf32> {
  %0 = stablehlo.reshape %q : (tensor<2x64x4x32xf32>) -> tensor<2x64x4x1x32xf32>
  %1 = stablehlo.dot_general %0, %k, batching_dims = [0, 2] x [0, 2], contracting_dims = [4] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x64x4x1x32xf32>, tensor<2x64x4x32xf32>) -> tensor<2x4x64x1x64xf32>
  %scale = stablehlo.constant dense<0.176776692> : tensor<f32>
  %3 = stablehlo.broadcast_in_dim %scale, dims = [] : (tensor<f32>) -> tensor<2x4x64x1x64xf32>
  %4 = stablehlo.multiply %1, %3 : tensor<2x4x64x1x64xf32>
  %c = stablehlo.constant dense<true> : tensor<i1>
  %5 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i1>) -> tensor<2x4x64x64xi1>
  %6 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i1>) -> tensor<64x64xi1>
  %i = stablehlo.iota dim = 0 : tensor<64x64xi32>
  %j = stablehlo.iota dim = 1 : tensor<64x64xi32>
  %g = stablehlo.compare GE, %i, %j, SIGNED : (tensor<64x64xi32>, tensor<64x64xi32>) -> tensor<64x64xi1>
  %no = stablehlo.constant dense<false> : tensor<64x64xi1>
  %7 = stablehlo.select %g, %6, %no : tensor<64x64xi1>, tensor<64x64xi1>
  %8 = stablehlo.broadcast_in_dim %7, dims = [2, 3] : (tensor<64x64xi1>) -> tensor<1x1x64x64xi1>
  %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2, 3] : (tensor<1x1x64x64xi1>) -> tensor<2x4x64x64xi1>
  %10 = stablehlo.and %5, %9 : tensor<2x4x64x64xi1>
  %lowest = stablehlo.constant dense<-2.38197633E+38> : tensor<f32>
  %w0 = stablehlo.broadcast_in_dim %10, dims = [1, 2, 3, 4] : (tensor<2x4x64x64xi1>) -> tensor<1x2x4x64x64xi1>
  %w1 = stablehlo.transpose %4, dims = [3, 0, 1, 2, 4] : (tensor<2x4x64x1x64xf32>) -> tensor<1x2x4x64x64xf32>
  %w2 = stablehlo.broadcast_in_dim %lowest, dims = [] : (tensor<f32>) -> tensor<1x2x4x64x64xf32>
  %11 = stablehlo.select %w0, %w1, %w2 : tensor<1x2x4x64x64xi1>, tensor<1x2x4x64x64xf32>
  %nothing = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %12 = stablehlo.reduce(%11 init: %nothing) applies stablehlo.maximum across dimensions = [4] : (tensor<1x2x4x64x64xf32>, tensor<f32>) -> tensor<1x2x4x64xf32>
  %13 = stablehlo.broadcast_in_dim %nothing, dims = [] : (tensor<f32>) -> tensor<1x2x4x64xf32>
  %14 = stablehlo.maximum %13, %12 : tensor<1x2x4x64xf32>
  %15 = stablehlo.broadcast_in_dim %14, dims = [0, 1, 2, 3] : (tensor<1x2x4x64xf32>) -> tensor<1x2x4x64x1xf32>
  %16 = stablehlo.broadcast_in_dim %15, dims = [0, 1, 2, 3, 4] : (tensor<1x2x4x64x1xf32>) -> tensor<1x2x4x64x64xf32>
  %17 = stablehlo.subtract %11, %16 : tensor<1x2x4x64x64xf32>
  %18 = stablehlo.exponential %17 : tensor<1x2x4x64x64xf32>
  %zero = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %19 = stablehlo.reduce(%18 init: %zero) applies stablehlo.add across dimensions = [4] : (tensor<1x2x4x64x64xf32>, tensor<f32>) -> tensor<1x2x4x64xf32>
  %20 = stablehlo.broadcast_in_dim %19, dims = [0, 1, 2, 3] : (tensor<1x2x4x64xf32>) -> tensor<1x2x4x64x1xf32>
  %21 = stablehlo.broadcast_in_dim %20, dims = [0, 1, 2, 3, 4] : (tensor<1x2x4x64x1xf32>) -> tensor<1x2x4x64x64xf32>
  %22 = stablehlo.divide %18, %21 : tensor<1x2x4x64x64xf32>
  %23 = stablehlo.dot_general %v, %22, batching_dims = [0, 2] x [1, 2], contracting_dims = [1] x [4], precision = [DEFAULT, DEFAULT] : (tensor<2x64x4x32xf32>, tensor<1x2x4x64x64xf32>) -> tensor<2x4x32x1x64xf32>
  %24 = stablehlo.transpose %23, dims = [0, 4, 1, 3, 2] : (tensor<2x4x32x1x64xf32>) -> tensor<2x64x4x1x32xf32>
  %25 = stablehlo.reshape %24 : (tensor<2x64x4x1x32xf32>) -> tensor<2x64x4x32xf32>
  return %25 : tensor<2x64x4x32xf32>
})";
  EXPECT_EQ(differsRaised(text), "");
  Result<Program> program = compileRaised(text);
  ASSERT_TRUE(program) << program.error().message();
  EXPECT_EQ(program->steps.size(), 1u);
}

/// One step, and an arena that has no place for the scores.
TEST(CpuAttention, NeedsNoMemoryForScores) {
  AttentionCase test{
      "long", {1, 2, 1024, 16}, {1, 2, 1024, 16}, {1, 2, 1024, 16}, {}};
  Result<Program> program =
      cpu::compileForCpu(parseModel(bodyOf(test, /*between=*/true)), {});
  ASSERT_TRUE(program) << program.error().message();
  EXPECT_EQ(program->steps.size(), 1u);
  EXPECT_LT(program->arenaBytes, uint64_t(1) << 20);
}

} // namespace
