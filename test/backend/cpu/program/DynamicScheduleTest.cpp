//===- DynamicScheduleTest.cpp - steps that follow from sizes -------------===//
//
// Covers: backend/cpu/program BufferAssignment ProgramConstants

#include "backend/cpu/program/DynamicSchedule.h"
#include "backend/cpu/DynamicCase.h"
#include "backend/cpu/kernels/conv/Winograd.h"

using namespace sinter;
using namespace sinter::test;

/// A 3x3 convolution of 32 channels in the branch that is taken if the input
/// %s, one element, is larger than \p limit.
static std::string convolutionInBranch(const std::string &limit) {
  return "(" + argument("%s", {1}) + ", " +
         argument("%x", {batch, 32, length, length}) +
         ") -> tensor<?x32x?x?xf32> {\n"
         "  %w = stablehlo.constant dense<0.01> : tensor<32x32x3x3xf32>\n"
         "  %l = stablehlo.constant dense<" +
         limit +
         "> : tensor<1xf32>\n"
         "  %c = stablehlo.compare GT, %s, %l : (tensor<1xf32>, "
         "tensor<1xf32>) -> tensor<1xi1>\n"
         "  %p = stablehlo.reshape %c : (tensor<1xi1>) -> tensor<i1>\n"
         "  %y = \"stablehlo.if\"(%p) ({\n"
         "    %a = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, "
         "1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[1, 1], [1, 1]]} "
         "{batch_group_count = 1 : i64, feature_group_count = 1 : i64} : "
         "(tensor<?x32x?x?xf32>, tensor<32x32x3x3xf32>) -> "
         "tensor<?x32x?x?xf32>\n"
         "    stablehlo.return %a : tensor<?x32x?x?xf32>\n"
         "  }, {\n"
         "    stablehlo.return %x : tensor<?x32x?x?xf32>\n"
         "  }) : (tensor<i1>) -> tensor<?x32x?x?xf32>\n"
         "  return %y : tensor<?x32x?x?xf32>\n}";
}

/// Steps of \p steps, in bodies, too, that begin stages in rounds.
static int roundsIn(const std::vector<DynamicStep> &steps) {
  int count = 0;
  for (const DynamicStep &step : steps) {
    count += step.inTurns != 0;
    for (const std::vector<DynamicStep> &body : step.bodies)
      count += roundsIn(body);
  }
  return count;
}

/// The kernels of \p steps, those of bodies in brackets.
static std::string kernelsOf(const std::vector<Step> &steps) {
  std::string names;
  for (const Step &step : steps) {
    names += " " + step.kernelName;
    for (const std::vector<Step> &body : step.bodies)
      names += " [" + kernelsOf(body) + " ]";
  }
  return names;
}

TEST(DynamicSchedule, RoundsInABranchBelongToIt) {
  for (const char *limit : {"-1000.0", "1000.0"}) {
    const std::string text = convolutionInBranch(limit);
    cpu::CpuOptions options;
    options.target = *cpu::Target::host();
    options.target->l2Bytes = 16 << 10;
    auto program = compileRaised(text, options);
    ASSERT_TRUE(program) << program.error().message();
    ASSERT_TRUE(program->dynamic);
    EXPECT_EQ(program->steps.size(), program->dynamic->steps.size());
    ASSERT_EQ(roundsIn(program->dynamic->steps), 1)
        << kernelsOf(program->steps);
    auto executor = ProgramExecutor::create(
        std::make_shared<const Program>(std::move(*program)),
        std::make_shared<ThreadPool>(2));
    ASSERT_TRUE(executor);
    Model model = parseModel(text);
    DynamicCase test{"", text, {{1}, {batch, 32, length, length}}, {}};
    for (auto [n, s] : {std::pair(1, 8), std::pair(2, 61), std::pair(3, 30)}) {
      const std::vector<Tensor> inputs = inputsOf(test, n, s);
      auto expected = interpret(model.entry(), inputs);
      ASSERT_TRUE(expected) << expected.error().message();
      auto got = (*executor)->run(inputs);
      ASSERT_TRUE(got) << got.error().message();
      expectClose((*got)[0], (*expected)[0], 2e-4, 1e-4);
    }
  }
}
