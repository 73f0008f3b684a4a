// Covers: passes ValueNumbers WidenFloats

#include "passes/VerifyNumerics.h"

#include "graph/nn/NnOps.h"
#include "graph/stablehlo/StablehloOps.h"
#include "passes/ChannelsFirst.h"
#include "passes/EliminateCommonSubexpressions.h"
#include "passes/GraphHarness.h"
#include "passes/Groups.h"
#include "passes/RaiseIdioms.h"
#include "passes/RewriteRule.h"

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

/// Here the output shows it, and other rules apply before and behind.
constexpr const char *visible = R"(
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %a = stablehlo.tanh %x : tensor<8xf32> loc("before")
  %b = nn.relu %a : tensor<8xf32> loc("act")
  %c = stablehlo.tanh %b : tensor<8xf32> loc("behind")
  return %c : tensor<8xf32>
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

const RewriteRule wrong[] = {
    rule<nn::ReluOp, dropRelu>("wrong-relu", "relu(x) -> x"),
};
const RewriteRule right[] = {
    rule<stablehlo::TanhOp, negateTwice>("negate-tanh", "tanh(x) -> -tanh(-x)"),
};

std::unique_ptr<VerifyNumerics> begin(const Model &model, PatternRun &run) {
  auto check = VerifyNumerics::begin(model.module(), run, {}, 1e-4);
  EXPECT_TRUE(check) << (check ? "" : check.error().message());
  return check ? std::move(*check) : nullptr;
}

TEST(VerifyNumerics, FindsWhatNoOutputShows) {
  Model model = parseModel(hidden);
  PatternRun run;
  auto check = begin(model, run);
  std::vector<Tensor> before = test::run(model);
  EXPECT_TRUE(succeeded(applyRules(model.module(), {wrong}, run)));
  EXPECT_TRUE(sameBits(before, test::run(model)));
  auto done = check->after("break-things");
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, ErrorKind::WrongResult);
  const std::string &text = done.error().message();
  EXPECT_NE(text.find("pass break-things (patterns: wrong-relu) changed 'act' "
                      "(nn.relu): "),
            std::string::npos)
      << text;
}

TEST(VerifyNumerics, FollowsWhatWasReplaced) {
  Model model = parseModel(hidden);
  PatternRun run;
  auto check = begin(model, run);
  EXPECT_TRUE(succeeded(applyRules(model.module(), {right}, run)));
  EXPECT_EQ(countOps(model, "stablehlo.negate"), 2);
  auto done = check->after("negate");
  ASSERT_TRUE(done) << done.error().message();
  // What a pass made is followed through the next.
  EXPECT_TRUE(succeeded(applyRules(model.module(), {wrong}, run)));
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
  EXPECT_NE(
      done.error().message().find("changed output 'y': 8 of 8 values, most "
                                  "at ["),
      std::string::npos)
      << done.error().message();
  EXPECT_NE(done.error().message().find("]: was -5, is "), std::string::npos)
      << done.error().message();
}

TEST(VerifyNumerics, EachStepCanBeTheLast) {
  // Rewriting with a wrong rule among others, with fewer and fewer steps.
  const std::vector<Tensor> before = test::run(parseModel(visible));
  auto rewritten = [&](uint64_t most, PatternRun &run) {
    Model model = parseModel(visible);
    run.mostSteps = most;
    EXPECT_TRUE(succeeded(applyRules(model.module(), {wrong, right}, run)));
    return test::run(model);
  };
  PatternRun all;
  EXPECT_FALSE(sameBits(before, rewritten(100, all)));
  ASSERT_EQ(all.steps(), 2u);
  EXPECT_TRUE(all.lastStep().label.empty());
  uint64_t first = 0;
  for (uint64_t most = 0; most <= all.steps(); ++most) {
    PatternRun run;
    const bool parts = !sameBits(before, rewritten(most, run));
    EXPECT_EQ(run.steps(), most);
    if (!parts || first)
      continue;
    first = most;
    EXPECT_EQ(run.lastStep().label, "wrong-relu");
    EXPECT_EQ(run.lastStep().op, "nn.relu");
    EXPECT_EQ(run.lastStep().location, "act");
  }
  EXPECT_GT(first, 0u);
}

TEST(VerifyNumerics, SeesTheImaginaryPart) {
  Model model = parseModel(R"(
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>)
    -> tensor<4xcomplex<f32>> {
  %z = stablehlo.complex %x, %y : tensor<4xcomplex<f32>>
  return %z : tensor<4xcomplex<f32>>
})");
  PatternRun run;
  auto check = begin(model, run);
  mlir::Operation *made = &model.entry().front().front();
  made->setOperand(1, model.entry().getArgument(0));
  EXPECT_FALSE(check->after("break-things"));
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
    ASSERT_TRUE(done) << done.error().message();
  }
  EXPECT_EQ(textOf(model).find("sinter.trace"), std::string::npos);
}

/// A wrong rule applied to the operation called 'act', in some region, of which
/// no output shows anything.
struct Place {
  const char *name;
  const char *text;
  /// What the message names.
  const char *at = "'act' (nn.relu)";
};

void PrintTo(const Place &place, std::ostream *os) { *os << place.name; }

class VerifyNumericsIn : public testing::TestWithParam<Place> {};

TEST_P(VerifyNumericsIn, FindsTheWrongRule) {
  for (bool each : {false, true}) {
    Model model = parseModel(GetParam().text);
    PatternRun run;
    auto check = begin(model, run);
    ASSERT_TRUE(check);
    std::optional<Error> wrongAt;
    if (each)
      run.afterEach = [&](llvm::StringRef label) {
        if (auto same = check->afterApplication(label); !same && !wrongAt)
          wrongAt = same.takeError();
      };
    std::vector<Tensor> before = test::run(model);
    EXPECT_TRUE(succeeded(applyRules(model.module(), {wrong}, run)));
    EXPECT_EQ(run.counts().at("wrong-relu"), 1u);
    EXPECT_TRUE(sameBits(before, test::run(model)));
    if (auto done = check->after("break-things"); !each && !done)
      wrongAt = done.takeError();
    ASSERT_TRUE(wrongAt.has_value());
    EXPECT_NE(wrongAt->message().find(GetParam().at), std::string::npos)
        << wrongAt->message();
    EXPECT_NE(wrongAt->message().find("wrong-relu"), std::string::npos)
        << wrongAt->message();
  }
}

TEST_P(VerifyNumericsIn, LetsTheRightOnePass) {
  Model model = parseModel(GetParam().text);
  PatternRun run;
  auto check = begin(model, run);
  ASSERT_TRUE(check);
  EXPECT_TRUE(succeeded(applyRules(model.module(), {right}, run)));
  EXPECT_EQ(run.counts().at("negate-tanh"), 1u);
  auto done = check->after("negate");
  EXPECT_TRUE(done) << done.error().message();
}

constexpr Place places[] = {
    {"argument", R"(
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %low = stablehlo.constant dense<-5.0> : tensor<8xf32>
  %a = nn.relu %x : tensor<8xf32> loc("act")
  %b = stablehlo.tanh %a : tensor<8xf32>
  %c = stablehlo.minimum %b, %low : tensor<8xf32>
  return %c : tensor<8xf32>
})"},
    {"body", R"(
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i32>, tensor<8xf32>
    cond {
      %n = stablehlo.constant dense<3> : tensor<i32>
      %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %low = stablehlo.constant dense<-5.0> : tensor<8xf32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %a = nn.relu %v : tensor<8xf32> loc("act")
      %b = stablehlo.tanh %a : tensor<8xf32>
      %d = stablehlo.minimum %b, %low : tensor<8xf32>
      %j = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %j, %d : tensor<i32>, tensor<8xf32>
    }
  return %r#1 : tensor<8xf32>
})"},
    {"condition", R"(
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %low = stablehlo.constant dense<-5.0> : tensor<f32>
  %n = stablehlo.constant dense<3> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i32>, tensor<8xf32>
    cond {
      %a = nn.relu %v : tensor<8xf32> loc("act")
      %b = stablehlo.tanh %a : tensor<8xf32>
      %s = stablehlo.reduce(%b init: %none) applies stablehlo.add across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
      %m = stablehlo.minimum %s, %low : tensor<f32>
      %o = stablehlo.convert %m : (tensor<f32>) -> tensor<i32>
      %p = stablehlo.multiply %o, %zero : tensor<i32>
      %q = stablehlo.add %p, %i : tensor<i32>
      %c = stablehlo.compare LT, %q, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %j = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %j, %v : tensor<i32>, tensor<8xf32>
    }
  return %r#1 : tensor<8xf32>
})"},
    {"branch", R"(
func.func @main(%p: tensor<i1>, %x: tensor<8xf32>) -> tensor<8xf32> {
  %low = stablehlo.constant dense<-5.0> : tensor<8xf32>
  %r = "stablehlo.if"(%p) ({
    %a = nn.relu %x : tensor<8xf32> loc("act")
    %b = stablehlo.tanh %a : tensor<8xf32>
    %c = stablehlo.minimum %b, %low : tensor<8xf32>
    stablehlo.return %c : tensor<8xf32>
  }, {
    stablehlo.return %low : tensor<8xf32>
  }) : (tensor<i1>) -> tensor<8xf32>
  return %r : tensor<8xf32>
})"},
    {"other_branch", R"(
func.func @main(%p: tensor<i1>, %x: tensor<8xf32>) -> tensor<8xf32> {
  %low = stablehlo.constant dense<-5.0> : tensor<8xf32>
  %r = "stablehlo.if"(%p) ({
    stablehlo.return %low : tensor<8xf32>
  }, {
    %a = nn.relu %x : tensor<8xf32> loc("act")
    %b = stablehlo.tanh %a : tensor<8xf32>
    %c = stablehlo.minimum %b, %low : tensor<8xf32>
    stablehlo.return %c : tensor<8xf32>
  }) : (tensor<i1>) -> tensor<8xf32>
  return %r : tensor<8xf32>
})"},
    {"case_in_body", R"(
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %n = stablehlo.constant dense<3> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %low = stablehlo.constant dense<-5.0> : tensor<8xf32>
  %r:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i32>, tensor<8xf32>
    cond {
      %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %j = stablehlo.add %i, %one : tensor<i32>
      %w = stablehlo.negate %v : tensor<8xf32>
      %d = "stablehlo.case"(%i) ({
        stablehlo.return %v : tensor<8xf32>
      }, {
        %a = nn.relu %w : tensor<8xf32> loc("act")
        %b = stablehlo.tanh %a : tensor<8xf32>
        %m = stablehlo.minimum %b, %low : tensor<8xf32>
        stablehlo.return %m : tensor<8xf32>
      }, {
        stablehlo.return %low : tensor<8xf32>
      }) : (tensor<i32>) -> tensor<8xf32>
      stablehlo.return %j, %d : tensor<i32>, tensor<8xf32>
    }
  return %r#1 : tensor<8xf32>
})",
     // Its operand is computed at other times: what reads it is compared.
     "(stablehlo.tanh)"},
    // What is wrong in a reduction shows in its result.
    {"reduction", R"(
func.func @main(%x: tensor<8xf32>) -> tensor<f32> {
  %low = stablehlo.constant dense<-5.0> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.reduce(%x init: %zero) across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
    reducer(%p: tensor<f32>, %q: tensor<f32>) {
      %a = nn.relu %q : tensor<f32>
      %b = stablehlo.tanh %a : tensor<f32>
      %c = stablehlo.add %p, %b : tensor<f32>
      stablehlo.return %c : tensor<f32>
    } loc("sum")
  %m = stablehlo.minimum %s, %low : tensor<f32>
  return %m : tensor<f32>
})",
     "'sum' (stablehlo.reduce)"},
    {"called_function", R"(
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %low = stablehlo.constant dense<-5.0> : tensor<8xf32>
  %a = call @f(%x) : (tensor<8xf32>) -> tensor<8xf32> loc("call")
  %m = stablehlo.minimum %a, %low : tensor<8xf32>
  return %m : tensor<8xf32>
}
func.func private @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  %a = nn.relu %x : tensor<8xf32> loc("act")
  %b = stablehlo.tanh %a : tensor<8xf32>
  return %b : tensor<8xf32>
})",
     "'call' (func.call)"},
};

INSTANTIATE_TEST_SUITE_P(Regions, VerifyNumericsIn, testing::ValuesIn(places),
                         [](const auto &info) {
                           return std::string(info.param.name);
                         });

/// An operation of a branch that is computed before as well, at other times.
TEST(VerifyNumerics, EqualOperationsMergeAcrossRegions) {
  Model model = parseModel(R"(
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %n = stablehlo.constant dense<3> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i32>, tensor<8xf32>
    cond {
      %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %j = stablehlo.add %i, %one : tensor<i32>
      %w = stablehlo.sine %v : tensor<8xf32>
      %d = "stablehlo.case"(%i) ({
        stablehlo.return %w : tensor<8xf32>
      }, {
        %a = stablehlo.sine %v : tensor<8xf32>
        stablehlo.return %a : tensor<8xf32>
      }) : (tensor<i32>) -> tensor<8xf32>
      stablehlo.return %j, %d : tensor<i32>, tensor<8xf32>
    }
  return %r#1 : tensor<8xf32>
})");
  auto run = std::make_shared<PatternRun>();
  auto check = begin(model, *run);
  applyPass(model, createEliminateCommonSubexpressions(run));
  EXPECT_EQ(countOps(model, "stablehlo.sine"), 1);
  auto done = check->after("eliminate-common-subexpressions");
  EXPECT_TRUE(done) << done.error().message();
}

/// JAX's way of dynamic shapes: the size is an argument.
TEST(VerifyNumerics, TakesIntegersForSizes) {
  Model model = parseModel(R"(
func.func @main(%n: tensor<i64>, %x: tensor<?xf32>) -> tensor<?xf32> {
  %s = stablehlo.reshape %n : (tensor<i64>) -> tensor<1xi64>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %y = stablehlo.dynamic_broadcast_in_dim %one, %s, dims = [] : (tensor<f32>, tensor<1xi64>) -> tensor<?xf32>
  %z = stablehlo.add %x, %y : tensor<?xf32>
  return %z : tensor<?xf32>
})");
  PatternRun run;
  EXPECT_TRUE(begin(model, run));
}

/// What channels-first does is compared, whether or not anyone reads it.
TEST(VerifyNumerics, ComparesWhatWasReordered) {
  const char *text = R"(
func.func @main(%x: tensor<1x4x4x2xf32>, %k: tensor<3x3x2x5xf32>) -> tensor<1x4x4x5xf32> {
  %low = stablehlo.constant dense<-50.0> : tensor<1x4x4x5xf32>
  %a = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
      window = {pad = [[1, 1], [0, 2]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
      : (tensor<1x4x4x2xf32>, tensor<3x3x2x5xf32>) -> tensor<1x4x4x5xf32> loc("conv")
  %b = nn.relu %a : tensor<1x4x4x5xf32> loc("act")
  %c = stablehlo.minimum %b, %low : tensor<1x4x4x5xf32>
  return %c : tensor<1x4x4x5xf32>
})";
  for (bool isWrong : {false, true}) {
    Model model = parseModel(text);
    auto run = std::make_shared<PatternRun>();
    auto check = begin(model, *run);
    applyPass(model, createChannelsFirst(run));
    EXPECT_EQ(run->counts().at("channels-first"), 1u);
    // As if the pass had mixed up the two dimensions.
    if (isWrong)
      model.module().walk([](stablehlo::ConvolutionOp op) {
        auto sides = mlir::RankedTensorType::get(
            {2, 2}, mlir::IntegerType::get(op.getContext(), 64));
        op.setPaddingAttr(mlir::DenseIntElementsAttr::get(
            sides, llvm::ArrayRef<int64_t>{0, 2, 1, 1}));
      });
    auto done = check->after("channels-first");
    EXPECT_EQ(static_cast<bool>(done), !isWrong);
    if (!done) {
      EXPECT_NE(done.error().message().find("(patterns: channels-first)"),
                std::string::npos)
          << done.error().message();
      EXPECT_NE(done.error().message().find("'conv' (stablehlo.convolution)"),
                std::string::npos)
          << done.error().message();
    }
  }
}

/// exp(x - max(x)) / sum(...) along one dimension, taken for another's.
mlir::Value wrongSoftmax(stablehlo::DivOp op, mlir::OpBuilder &builder) {
  return builder.create<nn::SoftmaxOp>(op.getLoc(), op.getType(), op.getLhs(),
                                       0);
}

TEST(VerifyNumerics, ComparesWhatWasRaised) {
  Model model = parseModel(R"(
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %low = stablehlo.constant dense<-5.0> : tensor<2x3xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %m = stablehlo.reduce(%x init: %least) applies stablehlo.maximum across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  %n = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<2xf32>) -> tensor<2x3xf32>
  %d = stablehlo.subtract %x, %n : tensor<2x3xf32>
  %e = stablehlo.exponential %d : tensor<2x3xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  %t = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<2xf32>) -> tensor<2x3xf32>
  %r = stablehlo.divide %e, %t : tensor<2x3xf32> loc("weights")
  %c = stablehlo.minimum %r, %low : tensor<2x3xf32>
  return %c : tensor<2x3xf32>
})");
  const RewriteRule raising[] = {rule<stablehlo::DivOp, wrongSoftmax>(
      "raise-softmax", "e / sum(e) -> softmax(x)")};
  for (bool isWrong : {false, true}) {
    Model copy = model.clone();
    auto run = std::make_shared<PatternRun>();
    auto check = begin(copy, *run);
    if (isWrong)
      EXPECT_TRUE(succeeded(applyRules(copy.module(), {raising}, *run)));
    else
      applyPass(copy, createRaiseIdioms(run));
    EXPECT_EQ(run->counts().at("raise-softmax"), 1u);
    auto done = check->after("raise-idioms");
    EXPECT_EQ(static_cast<bool>(done), !isWrong);
    if (!done) {
      EXPECT_NE(done.error().message().find("'weights' (stablehlo.divide)"),
                std::string::npos)
          << done.error().message();
    }
  }
}

/// (x + c) - c, of which f32 keeps little where c is large.
std::string cancelling(const std::string &besides) {
  return R"(
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %c = stablehlo.constant dense<1.0e6> : tensor<8xf32>
  %a = stablehlo.add %x, %c : tensor<8xf32> loc("shifted")
)" + besides +
         R"(
  %b = stablehlo.subtract %a, %c : tensor<8xf32> loc("back")
  return %b : tensor<8xf32>
})";
}

mlir::Value shiftNothing(stablehlo::SubtractOp op, mlir::OpBuilder &) {
  auto sum = op.getLhs().getDefiningOp<stablehlo::AddOp>();
  return sum && sum.getRhs() == op.getRhs() ? sum.getLhs() : mlir::Value();
}
mlir::Value scaleWhatWasShifted(stablehlo::SubtractOp op,
                                mlir::OpBuilder &builder) {
  mlir::Value x = shiftNothing(op, builder);
  return x ? builder.create<stablehlo::AddOp>(op.getLoc(), x, x)
           : mlir::Value();
}
const RewriteRule nearer[] = {
    rule<stablehlo::SubtractOp, shiftNothing>("cancel", "(x + c) - c -> x"),
};
const RewriteRule farther[] = {
    rule<stablehlo::SubtractOp, scaleWhatWasShifted>("cancel-wrongly",
                                                     "(x + c) - c -> 2 x"),
};

TEST(VerifyNumerics, TakesNoRoundingForAMistake) {
  Model model = parseModel(cancelling(""));
  PatternRun run;
  auto check = begin(model, run);
  EXPECT_TRUE(succeeded(applyRules(model.module(), {nearer}, run)));
  auto done = check->after("cancel");
  ASSERT_TRUE(done) << done.error().message();
  // The tensor, and the output that it is.
  EXPECT_EQ(check->facts().rounded, 2U);
}

TEST(VerifyNumerics, FindsAMistakeBesideRounding) {
  Model model = parseModel(cancelling(""));
  PatternRun run;
  auto check = begin(model, run);
  EXPECT_TRUE(succeeded(applyRules(model.module(), {farther}, run)));
  auto done = check->after("cancel");
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().message().find("changed 'back'"), std::string::npos)
      << done.error().message();
  EXPECT_EQ(check->facts().rounded, 0U);
}

/// What looks at bits of f32 has no meaning in f64.
TEST(VerifyNumerics, WidensNoBits) {
  Model model = parseModel(cancelling(
      "  %i = stablehlo.bitcast_convert %a : (tensor<8xf32>) -> tensor<8xi32>\n"
      "  %f = stablehlo.bitcast_convert %i : (tensor<8xi32>) -> "
      "tensor<8xf32>"));
  PatternRun run;
  auto check = begin(model, run);
  EXPECT_TRUE(succeeded(applyRules(model.module(), {nearer}, run)));
  EXPECT_FALSE(check->after("cancel"));
}

/// What stands in branches and loops is widened, too, and keeps its place.
TEST(VerifyNumerics, WidensLoops) {
  Model model = parseModel(R"(
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %c = stablehlo.constant dense<1.0e6> : tensor<8xf32>
  %n = stablehlo.constant dense<3> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %s = %x) : tensor<i32>, tensor<8xf32>
  cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %a = stablehlo.add %s, %c : tensor<8xf32>
    %b = stablehlo.subtract %a, %c : tensor<8xf32> loc("back")
    %next = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %next, %b : tensor<i32>, tensor<8xf32>
  }
  return %r#1 : tensor<8xf32>
})");
  PatternRun run;
  auto check = begin(model, run);
  EXPECT_TRUE(succeeded(applyRules(model.module(), {nearer}, run)));
  auto done = check->after("cancel");
  EXPECT_TRUE(done) << done.error().message();
  EXPECT_GT(check->facts().rounded, 0U);
}

} // namespace
