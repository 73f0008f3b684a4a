// Random chains around products, with sizes known and unknown: simplified, then
// bound to two sizes, compiled, and written to each format, they compute what
// they did. SINTER_RANDOM_SEED chooses which, SINTER_RANDOM_PROGRAMS how many,
// or SINTER_RANDOM_SECONDS for how long.
//
// Covers: passes AffineMover
// Covers: graph/interfaces AffineFlow
// Covers: passes AffinePlan ChannelAbsorption ClipForm PlacedAffine

#include "random/RandomFolding.h"

#include "TemporaryFolder.h"
#include "formats/onnx/OnnxReader.h"
#include "formats/onnx/WriteOnnx.h"
#include "formats/stablehlo/StablehloReader.h"
#include "formats/stablehlo/StablehloWriter.h"
#include "graph/stablehlo/StablehloOps.h"
#include "interpreter/Interpreter.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "passes/Groups.h"
#include "passes/Pipelines.h"
#include "passes/Specialize.h"
#include "random/Judging.h"
#include "random/RandomNorms.h"
#include "runtime/Random.h"

#include <chrono>
#include <gtest/gtest.h>
#include <iostream>

using namespace mlir;

namespace sinter {
namespace {

using namespace sinter::test;

/// Weights are rounded when a chain goes into them, and the chain's own
/// roundings are not: both count in the least precise type.
double toleranceOf(StringRef element) {
  return element == "f64"   ? 1e-10
         : element == "f32" ? 2e-4
         : element == "f16" ? 6e-2
                            : 4e-1;
}

class FoldingTrial {
public:
  FoldingTrial(const RandomFolding &drawn, const Model &model)
      : drawn(drawn), model(model) {}

  Judgement run();

private:
  using RunOutputs = std::vector<std::vector<Tensor>>;

  /// What a program gives for both shapes.
  Judgement check(const Model &judged, const std::string &what);
  Judgement checkCompiled(const Model &judged, const std::string &what);
  Judgement checkFiles(const Model &judged, const std::string &what);
  Judgement compare(const std::vector<Tensor> &got, size_t which,
                    const std::string &what);

  const RandomFolding &drawn;
  const Model &model;
  std::vector<std::vector<Tensor>> inputs;
  RunOutputs expected;
};

Judgement FoldingTrial::compare(const std::vector<Tensor> &got, size_t which,
                                const std::string &what) {
  const double tolerance = toleranceOf(drawn.element);
  for (size_t i = 0; i < got.size(); ++i)
    if (!agree(got[i], expected[which][i], tolerance))
      return {Verdict::Differs, "result " + std::to_string(i) + " differs " +
                                    what + ", shape " + std::to_string(which)};
  return {};
}

Judgement FoldingTrial::check(const Model &judged, const std::string &what) {
  for (size_t which = 0; which < inputs.size(); ++which) {
    auto got = interpret(judged.entry(), inputs[which]);
    if (!got)
      return {Verdict::OracleFails, what + ": " + got.error().message()};
    if (Judgement found = compare(*got, which, what);
        found.verdict != Verdict::Agrees)
      return found;
  }
  return {};
}

Judgement FoldingTrial::checkCompiled(const Model &judged,
                                      const std::string &what) {
  for (size_t which = 0; which < inputs.size(); ++which) {
    Model bound = judged.clone();
    // Nothing is written back.
    bound.module()->removeAttr(wholeSourcesAttribute);
    bound.module()->removeAttr(lastingSourcesAttribute);
    SpecializeOptions sizes;
    sizes.shapes[bound.inputs().front().name] = drawn.shapes[which];
    if (auto done = specialize(bound, sizes); !done)
      return {Verdict::CompilerFails,
              what + ", bound: " + done.error().message()};
    if (auto done = simplify(bound); !done)
      return {Verdict::CompilerFails,
              what + ", simplified again: " + done.error().message()};
    if (auto done = raiseForKernels(bound); !done)
      return {Verdict::CompilerFails,
              what + ", raised: " + done.error().message()};
    auto got = compiledResults(bound, inputs[which]);
    if (!got)
      return {Verdict::CompilerFails,
              what + ", compiled: " + got.error().message()};
    if (Judgement found = compare(*got, which, what + ", compiled");
        found.verdict != Verdict::Agrees)
      return found;
  }
  return {};
}

/// Written to each format and read again.
Judgement FoldingTrial::checkFiles(const Model &judged,
                                   const std::string &what) {
  auto text = stablehloBytes(judged, StablehloForm::Text);
  if (!text)
    return {Verdict::CompilerFails,
            what + ", as StableHLO: " + text.error().message()};
  auto fromText = parseStablehlo(*text, "written.mlir");
  if (!fromText)
    return {Verdict::CompilerFails,
            what + ", from StableHLO: " + fromText.error().message()};
  if (Judgement found = check(*fromText, what + ", from StableHLO");
      found.verdict != Verdict::Agrees)
    return found;
  TemporaryFolder folder;
  if (auto done = writeOnnx(judged, folder.file("written.onnx")); !done)
    return {Verdict::CompilerFails,
            what + ", as ONNX: " + done.error().message()};
  auto fromOnnx = readOnnx(folder.file("written.onnx"));
  if (!fromOnnx)
    return {Verdict::CompilerFails,
            what + ", from ONNX: " + fromOnnx.error().message()};
  return check(*fromOnnx, what + ", from ONNX");
}

Judgement FoldingTrial::run() {
  const ElementType element = model.inputs().front().type;
  for (const Shape &shape : drawn.shapes) {
    inputs.push_back({Tensor(element, shape)});
    fillRandom(inputs.back().front(), inputs.size(), {-1, 1, 16});
    auto values = interpret(model.entry(), inputs.back());
    if (!values)
      return {Verdict::OracleFails, values.error().message()};
    expected.push_back(std::move(*values));
  }
  // As it is, and what ONNX makes of it: nodes that know where they came from.
  TemporaryFolder folder;
  const std::string path = folder.file("given.onnx");
  if (auto done = writeOnnx(model, path); !done)
    return {Verdict::CompilerFails, "as ONNX: " + done.error().message()};
  auto nodes = readOnnx(path);
  if (!nodes)
    return {Verdict::CompilerFails, "from ONNX: " + nodes.error().message()};
  std::pair<Model, std::string> starts[] = {
      {model.clone(), "given in StableHLO"},
      {std::move(*nodes), "given in ONNX"}};
  for (auto &[start, what] : starts) {
    if (auto done = simplify(start); !done)
      return {Verdict::CompilerFails,
              what + ", simplified: " + done.error().message()};
    for (auto part : {&FoldingTrial::check, &FoldingTrial::checkCompiled,
                      &FoldingTrial::checkFiles})
      if (Judgement found = (this->*part)(start, what);
          found.verdict != Verdict::Agrees)
        return found;
  }
  return {};
}

TEST(RandomFoldingTest, SimplifiedAsBefore) {
  const uint64_t first = fromEnvironment("SINTER_RANDOM_SEED", 1);
  const uint64_t seconds = fromEnvironment("SINTER_RANDOM_SECONDS", 0);
  const uint64_t count = fromEnvironment("SINTER_RANDOM_PROGRAMS",
                                         seconds ? UINT64_MAX - first : 40);
  using Clock = std::chrono::steady_clock;
  const Clock::time_point end = Clock::now() + std::chrono::seconds(seconds);
  uint64_t seed = first;
  for (; seed < first + count && !(seconds && Clock::now() >= end); ++seed) {
    const RandomFolding drawn = randomFolding(seed);
    std::shared_ptr<MLIRContext> context = makeContext();
    auto module = parseSourceString<ModuleOp>(drawn.text, context.get());
    ASSERT_TRUE(module) << "seed " << seed << "\n" << drawn.text;
    const Model model(context, std::move(module));
    const Judgement judgement = FoldingTrial(drawn, model).run();
    EXPECT_EQ(judgement.verdict, Verdict::Agrees)
        << "seed " << seed << ": " << judgement.message << "\n"
        << drawn.text;
  }
  std::cout << "programs " << first << " to " << seed - 1 << "\n";
}

/// The batch norms of \p model.
int64_t normsIn(const Model &model) {
  int64_t count = 0;
  model.module().walk([&](stablehlo::BatchNormInferenceOp) { ++count; });
  return count;
}

Model parsed(const RandomFolding &drawn) {
  std::shared_ptr<MLIRContext> context = makeContext();
  return Model(context, parseSourceString<ModuleOp>(drawn.text, context.get()));
}

TEST(RandomNormsTest, SimplifiedAsBefore) {
  const uint64_t first = fromEnvironment("SINTER_RANDOM_SEED", 1),
                 count = fromEnvironment("SINTER_RANDOM_PROGRAMS", 60);
  int64_t before = 0, after = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const RandomFolding drawn = randomNorms(seed);
    Model model = parsed(drawn);
    ASSERT_TRUE(model.module()) << "seed " << seed << "\n" << drawn.text;
    before += normsIn(model);
    const Judgement judgement = FoldingTrial(drawn, model).run();
    EXPECT_EQ(judgement.verdict, Verdict::Agrees)
        << "seed " << seed << ": " << judgement.message << "\n"
        << drawn.text;
    ASSERT_TRUE(simplify(model));
    after += normsIn(model);
  }
  std::cout << "norms " << before << " before, " << after << " after\n";
  EXPECT_LT(after, before / 2);
}

/// Where nothing is rounded, nothing changes.
TEST(RandomNormsTest, ExactNumbersStay) {
  const uint64_t first = fromEnvironment("SINTER_RANDOM_SEED", 1),
                 count = fromEnvironment("SINTER_RANDOM_PROGRAMS", 400);
  RandomNormsOptions options;
  options.isExact = true;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const RandomFolding drawn = randomNorms(seed, options);
    Model model = parsed(drawn);
    ASSERT_TRUE(model.module()) << "seed " << seed << "\n" << drawn.text;
    Model simplified = model.clone();
    ASSERT_TRUE(simplify(simplified)) << "seed " << seed;
    for (const Shape &shape : drawn.shapes) {
      std::vector<Tensor> inputs = {Tensor(ElementType::F64, shape)};
      for (int64_t i = 0; i < inputs.front().size(); ++i)
        inputs.front().set<double>(
            i, (static_cast<double>(splitMix(seed, i) % 33) - 16) / 8);
      auto expected = interpret(model.entry(), inputs),
           got = interpret(simplified.entry(), inputs);
      ASSERT_TRUE(expected) << expected.error().message() << "\n" << drawn.text;
      ASSERT_TRUE(got) << got.error().message();
      for (int64_t i = 0; i < (*expected)[0].size(); ++i)
        ASSERT_EQ((*got)[0].toDouble(i), (*expected)[0].toDouble(i))
            << "seed " << seed << ", element " << i << "\n"
            << drawn.text;
    }
  }
}

/// The same seed gives the same program; some fold in a good part of them.
TEST(RandomFoldingTest, DrawsChainsThatFold) {
  EXPECT_EQ(randomFolding(3).text, randomFolding(3).text);
  EXPECT_NE(randomFolding(3).text, randomFolding(4).text);
  int folded = 0, open = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    const RandomFolding drawn = randomFolding(seed);
    std::shared_ptr<MLIRContext> context = makeContext();
    Model model(context,
                parseSourceString<ModuleOp>(drawn.text, context.get()));
    auto report = simplify(model);
    ASSERT_TRUE(report);
    folded += llvm::any_of(report->patterns, [](const auto &each) {
      return StringRef(each.first).starts_with("fold-") &&
             each.first != "fold-constant";
    });
    open += drawn.text.find("?x") != std::string::npos;
  }
  EXPECT_GT(folded, 20);
  EXPECT_GT(open, 15);
}

} // namespace
} // namespace sinter
