#include "passes/VerifyNumerics.h"

#include "graph/nn/NnOps.h"
#include "graph/stablehlo/StablehloOps.h"
#include "passes/EliminateCommonSubexpressions.h"
#include "passes/GraphHarness.h"
#include "passes/Groups.h"
#include "passes/Rules.h"

using namespace sinter;
using namespace sinter::test;

namespace {

/// What stands behind 'act' hides it from the output.
constexpr const char *hidden = R"(
func.func @main(%x: tensor<8xf32>) -> (tensor<8xf32> {sinter.name = "y"}) {
  %low = stablehlo.constant dense<-5.0> : tensor<8xf32>
  %a = stablehlo.add %x, %x : tensor<8xf32> loc("sum")
  %b = nn.relu %a : tensor<8xf32> loc("act")
  %c = stablehlo.tanh %b : tensor<8xf32> loc("squash")
  %d = stablehlo.minimum %c, %low : tensor<8xf32> loc("cut")
  return %d : tensor<8xf32>
})";

mlir::Value dropRelu(nn::ReluOp op, mlir::OpBuilder &) {
  return op.getOperand();
}
mlir::Value negateTwice(stablehlo::TanhOp op, mlir::OpBuilder &builder) {
  if (op.getOperand().getDefiningOp<stablehlo::NegOp>())
    return {};
  // tanh(x) = -tanh(-x); the copy's value is another one.
  mlir::Value negative =
      builder.create<stablehlo::NegOp>(op.getLoc(), op.getOperand());
  mlir::IRMapping mapping;
  mapping.map(op.getOperand(), negative);
  mlir::Operation *copy = builder.clone(*op, mapping);
  return builder.create<stablehlo::NegOp>(op.getLoc(), copy->getResult(0));
}

const Rule wrong[] = {
    rule<nn::ReluOp, dropRelu>("wrong-relu", "relu(x) -> x"),
};
const Rule right[] = {
    rule<stablehlo::TanhOp, negateTwice>("negate-tanh", "tanh(x) -> -tanh(-x)"),
};

std::unique_ptr<VerifyNumerics> begin(const Model &model, PatternRun &run) {
  auto check = VerifyNumerics::begin(model.module(), run, 2, 1e-4);
  EXPECT_TRUE(check) << (check ? "" : check.error().message);
  return check ? std::move(*check) : nullptr;
}

TEST(VerifyNumerics, FindsWhatNoOutputShows) {
  Model model = parseModel(hidden);
  PatternRun run;
  auto check = begin(model, run);
  std::vector<Tensor> before = test::run(model);
  applyRules(model.module(), {wrong}, run);
  EXPECT_TRUE(sameBits(before, test::run(model)));
  auto done = check->after("break-things");
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, ErrorKind::WrongResult);
  const std::string &text = done.error().message;
  EXPECT_NE(text.find("pass break-things (patterns: wrong-relu) changed 'act' "
                      "(nn.relu): element "),
            std::string::npos)
      << text;
}

TEST(VerifyNumerics, FollowsWhatWasReplaced) {
  Model model = parseModel(hidden);
  PatternRun run;
  auto check = begin(model, run);
  applyRules(model.module(), {right}, run);
  EXPECT_EQ(countOps(model, "stablehlo.negate"), 2);
  auto done = check->after("negate");
  ASSERT_TRUE(done) << done.error().message;
  // What a pass made is followed through the next.
  applyRules(model.module(), {wrong}, run);
  EXPECT_FALSE(check->after("break-things"));
}

TEST(VerifyNumerics, NamesAnOutput) {
  Model model = parseModel(hidden);
  PatternRun run;
  auto check = begin(model, run);
  // Without a word to the watcher, only the outputs are left to compare.
  mlir::Operation *end = model.entry().front().getTerminator();
  end->setOperand(0, model.entry().getArgument(0));
  auto done = check->after("break-things");
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().message.find("changed output 'y': element 0 was -5"),
            std::string::npos)
      << done.error().message;
}

TEST(VerifyNumerics, EqualOperationsStillMerge) {
  Model model = parseModel(R"(
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %a = stablehlo.tanh %x : tensor<8xf32> loc("a")
  %b = stablehlo.tanh %x : tensor<8xf32> loc("b")
  %c = stablehlo.add %a, %b : tensor<8xf32> loc("c")
  return %c : tensor<8xf32>
})");
  auto run = std::make_shared<PatternRun>();
  {
    auto check = begin(model, *run);
    EXPECT_TRUE(model.entry().front().front().hasAttr(traceAttribute));
    applyPass(model, createEliminateCommonSubexpressions(run));
    EXPECT_EQ(countOps(model, "stablehlo.tanh"), 1);
    auto done = check->after("eliminate-common-subexpressions");
    ASSERT_TRUE(done) << done.error().message;
  }
  EXPECT_EQ(textOf(model).find("sinter.trace"), std::string::npos);
}

} // namespace
