// Covers: graph FirstError Model PermutedType Types
// Covers: passes EliminateCommonSubexpressions EliminateDeadCode Groups
// Covers: passes InlineCalls MoveTransposes Matching

#include "passes/Pipelines.h"

#include "graph/Verification.h"
#include "mlir/Pass/Pass.h"
#include "passes/GraphHarness.h"

using namespace sinter;
using namespace sinter::test;

namespace {

Model exampleModel() {
  Model model = parseModel(R"(
func.func @main(%x: tensor<2x3x5x5xf32>, %k: tensor<4x3x3x3xf32>, %a: tensor<4xf32>,
                %b: tensor<4xf32>, %m: tensor<4xf32>, %v: tensor<4xf32>) -> tensor<2x4x3x3xf32> {
  %one = stablehlo.constant dense<1.0> : tensor<2x3x5x5xf32>
  %u = stablehlo.multiply %x, %one : tensor<2x3x5x5xf32>
  %p = stablehlo.convolution(%u, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
      window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
      : (tensor<2x3x5x5xf32>, tensor<4x3x3x3xf32>) -> tensor<2x4x3x3xf32>
  %n = "stablehlo.batch_norm_inference"(%p, %a, %b, %m, %v) {epsilon = 0.001 : f32, feature_index = 1 : i64}
      : (tensor<2x4x3x3xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4x3x3xf32>
  %r = nn.relu %n : tensor<2x4x3x3xf32>
  return %r : tensor<2x4x3x3xf32>
})");
  freezeWeights(model, {5});
  return model;
}

TEST(Simplify, ReportsAndKeepsTheOriginal) {
  Model original = exampleModel();
  std::vector<Tensor> before = run(original);
  Model model = original.clone();
  SimplifyOptions options;
  options.verifyNumerics = true;
  auto report = simplify(model, options);
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_EQ(report->patterns["fold-batch-norm-after"], 1u);
  EXPECT_EQ(report->patterns["multiply-one"], 1u);
  EXPECT_EQ(report->operationsBefore["stablehlo.batch_norm_inference"], 1u);
  EXPECT_EQ(report->operationsAfter.count("stablehlo.batch_norm_inference"),
            0u);
  EXPECT_FALSE(report->passTimes.empty());
  expectClose(before, run(model), 1e-5);
  EXPECT_TRUE(sameBits(before, run(original)));
}

/// Says that results of the function are of another type than they are.
struct BreakGraph
    : mlir::PassWrapper<BreakGraph, mlir::OperationPass<mlir::ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(BreakGraph)
  mlir::StringRef getArgument() const override { return "break-graph"; }
  void runOnOperation() override {
    for (auto function : getOperation().getOps<mlir::func::FuncOp>())
      for (mlir::Operation &op :
           function.getBody().front().without_terminator())
        op.getResult(0).setType(mlir::RankedTensorType::get(
            {7}, mlir::Float32Type::get(&getContext())));
  }
};

TEST(RunPasses, VerifyWhatTheyMade) {
  for (bool each : {false, true}) {
    Model model = parseModel(R"(
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %s = stablehlo.add %x, %x : tensor<3xf32>
  return %s : tensor<3xf32>
})");
    SimplifyOptions options;
    // Nothing is printed, but each pass is looked at.
    if (each)
      options.printIrAfter = {"simplify-algebra"};
    SimplifyReport report;
    Result<void> done = runPasses(
        model.module(), options,
        [](const std::shared_ptr<PatternRun> &) {
          Passes passes;
          passes.push_back(std::make_unique<BreakGraph>());
          return passes;
        },
        report);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().kind, ErrorKind::InvalidModel);
    const std::string wanted = each || verifiesEachStage()
                                   ? "pass break-graph failed: "
                                   : "the graph is not sound after passes";
    EXPECT_NE(done.error().message().find(wanted), std::string::npos)
        << done.error().message();
  }
}

TEST(Simplify, Labels) {
  Model model = exampleModel();
  SimplifyOptions options;
  options.disabledPatterns = {"fold-batch-norm-after"};
  ASSERT_TRUE(simplify(model, options));
  EXPECT_EQ(countOps(model, "stablehlo.batch_norm_inference"), 1);
  options.disabledPatterns = {"all"};
  options.enabledPatterns = {"fold-batch-norm-after"};
  model = exampleModel();
  ASSERT_TRUE(simplify(model, options));
  EXPECT_EQ(countOps(model, "stablehlo.batch_norm_inference"), 0);
  EXPECT_EQ(countOps(model, "stablehlo.multiply"), 1);
  options.disabledPatterns = {"no-such-pattern"};
  auto failed = simplify(model, options);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().kind, ErrorKind::Usage);
}

TEST(Simplify, MovesNothingToWhatDoesNotFold) {
  // The norm goes across the relu into the product before it, if that may
  // absorb it.
  const std::string text = R"(func.func @main(%x: tensor<2x3xf32>)
      -> tensor<2x4xf32> {
    %k = stablehlo.constant dense<[[1.0, 2.0, 3.0, 4.0], [0.5, 1.5, 2.5, 3.5],
        [-1.0, 1.0, -2.0, 2.0]]> : tensor<3x4xf32>
    %p = stablehlo.dot_general %x, %k, contracting_dims = [1] x [0] :
        (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
    %r = nn.relu %p : tensor<2x4xf32>
    %s = stablehlo.constant dense<[2.0, 0.5, 3.0, 1.5]> : tensor<4xf32>
    %o = stablehlo.constant dense<[1.0, -1.0, 2.0, 0.5]> : tensor<4xf32>
    %y = "stablehlo.batch_norm_inference"(%r, %s, %o, %o, %s) <{
        epsilon = 0.0 : f32, feature_index = 1 : i64}> :
        (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>,
         tensor<4xf32>) -> tensor<2x4xf32>
    return %y : tensor<2x4xf32>
  })";
  for (bool isOff : {false, true}) {
    Model model = parseModel(text);
    SimplifyOptions options;
    if (isOff)
      options.disabledPatterns = {"fold-batch-norm-after"};
    ASSERT_TRUE(simplify(model, options));
    EXPECT_EQ(countOps(model, "stablehlo.batch_norm_inference"), int(isOff));
    EXPECT_EQ(countOps(model, "nn.relu"), int(isOff)) << textOf(model);
  }
}

TEST(Simplify, PrintsAfterPasses) {
  Model model = exampleModel();
  std::string text;
  SimplifyOptions options;
  options.printIrAfter = {"fold-batch-norm"};
  options.printIr = [&](llvm::StringRef printed) { text += printed; };
  ASSERT_TRUE(simplify(model, options));
  EXPECT_NE(text.find("// after fold-batch-norm"), std::string::npos);
  options.printIrAfter = {"no-such-pass"};
  EXPECT_FALSE(simplify(model, options));
}

TEST(PatternLabels, AreUniqueAndPictured) {
  std::string previous;
  for (const PatternInfo &info : allPatterns()) {
    EXPECT_LT(previous, info.label.str());
    EXPECT_FALSE(info.picture.empty());
    EXPECT_TRUE(llvm::all_of(info.label, [](char c) {
      return std::islower(c) || c == '-';
    })) << info.label.str();
    previous = info.label.str();
  }
}

} // namespace
