//===- ModelComparisonTest.cpp - comparing models as a library does -------===//
//
// Covers: compare CompareReport CompareSide
// Covers: data Inputs

#include "compare/ModelComparison.h"
#include "TemporaryFolder.h"

#include <gtest/gtest.h>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace sinter {
namespace {

using test::TemporaryFolder;

/// y = tanh(x w) + offset.
std::string networkWith(const std::string &weight, const std::string &offset) {
  return R"(
func.func @main(%x: tensor<?x2xf32> {sinter.name = "x"}) -> (tensor<?x2xf32> {sinter.name = "y"}) {
  %w = stablehlo.constant dense<[[-0.5, 0.25], [0.125, )" +
         weight + R"(]]> : tensor<2x2xf32>
  %b = stablehlo.constant dense<)" +
         offset + R"(> : tensor<2x2xf32>
  %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<?x2xf32>, tensor<2x2xf32>) -> tensor<?x2xf32>
  %t = stablehlo.tanh %p : tensor<?x2xf32>
  %y = stablehlo.dot_general %t, %b, contracting_dims = [1] x [0] : (tensor<?x2xf32>, tensor<2x2xf32>) -> tensor<?x2xf32>
  return %y : tensor<?x2xf32>
}
)";
}

class ModelComparisonTest : public testing::Test {
protected:
  ModelComparisonTest() {
    folder.write("one.mlir", networkWith("-0.75", "2.0"));
    folder.write("same.mlir", networkWith("-0.75", "2.0"));
    folder.write("other.mlir", networkWith("-0.5", "2.0"));
  }

  CompareSide open(const std::string &name, Backend backend) {
    SessionOptions options;
    options.backend = backend;
    options.threads = 2;
    options.dynamicSizes = DynamicSizes::Wanted;
    Result<CompareSide> side = CompareSide::open(
        folder.file(name),
        name + " (" + std::string(sinter::name(backend)) + ")",
        std::move(options), {});
    if (!side)
      throw std::runtime_error(side.error().message());
    return std::move(*side);
  }

  /// Random inputs of the sizes.
  static Result<std::vector<Tensor>> inputsOf(CompareSide &side,
                                              const SampleSizes &of) {
    NamedShapes shapes;
    if (!of.chosen.empty()) {
      shapes["x"] = of.shapes.front();
      side.session->setShapes(shapes);
    }
    return loadInputs(*side.session, side.path, {}, shapes,
                      /*fillRandom=*/true);
  }

  /// Compares at all sizes that both take, and what is on the way.
  static void compare(ModelComparison &comparison) {
    CompareSide &first = *comparison.sides()[0],
                &second = *comparison.sides()[1];
    auto sizes = sizesToCheck(*first.session, first.path, {}, {},
                              [&](const std::vector<Shape> &shapes) {
                                return accepts(first, second, shapes);
                              });
    ASSERT_TRUE(sizes) << sizes.error().message();
    ASSERT_GT(sizes->size(), 1U);
    Result<void> outputs = comparison.compareOutputsAt(
        *sizes, inputsOf, [](const std::string &note) {
          ADD_FAILURE() << "an unexpected note: " << note;
        });
    ASSERT_TRUE(outputs) << outputs.error().message();
    Result<void> tensors = comparison.compareTensors();
    ASSERT_TRUE(tensors) << tensors.error().message();
  }

  TemporaryFolder folder;
};

TEST_F(ModelComparisonTest, TwoBackendsAgree) {
  ModelComparison comparison(open("one.mlir", Backend::Interpreter),
                             open("one.mlir", Backend::Cpu), {},
                             Tolerance{1e-3, 1e-7, 1e-4});
  compare(comparison);
  const CompareReport &report = comparison.report;
  EXPECT_TRUE(report.agrees());
  EXPECT_EQ(report.firstDiffering(), nullptr);
  EXPECT_EQ(report.sizes.size(), 3U);
  for (const ComparedSizes &each : report.sizes)
    EXPECT_TRUE(each.agree) << sizesText(each);
  ASSERT_EQ(report.outputs.size(), 1U);
  EXPECT_TRUE(report.outputs[0].isCompared);
  EXPECT_EQ(report.outputs[0].difference.wrong, 0);
  EXPECT_FALSE(report.tensors.empty());
  const nlohmann::json json = reportJson(report);
  EXPECT_TRUE(json["agrees"].get<bool>());
  EXPECT_TRUE(json["first_parting"].is_null());
}

TEST_F(ModelComparisonTest, EqualModelsAgreeExactly) {
  ModelComparison comparison(open("one.mlir", Backend::Interpreter),
                             open("same.mlir", Backend::Interpreter), {},
                             Tolerance{0, 0, 0});
  compare(comparison);
  EXPECT_TRUE(comparison.report.agrees());
  EXPECT_EQ(comparison.report.outputs.at(0).difference.largest, 0);
}

TEST_F(ModelComparisonTest, DifferenceIsFound) {
  ModelComparison comparison(open("one.mlir", Backend::Cpu),
                             open("other.mlir", Backend::Cpu), {},
                             Tolerance{1e-3, 1e-7, 1e-4});
  compare(comparison);
  const CompareReport &report = comparison.report;
  EXPECT_FALSE(report.agrees());
  // The sizes at which they differ are the last.
  ASSERT_EQ(report.sizes.size(), 1U);
  EXPECT_FALSE(report.sizes[0].agree);
  ASSERT_EQ(report.outputs.size(), 1U);
  EXPECT_GT(report.outputs[0].difference.wrong, 0);
  EXPECT_FALSE(report.outputs[0].furthest.empty());
  const nlohmann::json json = reportJson(report);
  EXPECT_FALSE(json["agrees"].get<bool>());
  EXPECT_TRUE(json["first_parting"]["parts"].get<bool>());
  // The weight to blame.
  ASSERT_EQ(report.weights.size(), 1U);
  EXPECT_EQ(report.weights[0].values.name, "constant.0");
  EXPECT_EQ(json["weights"][0]["difference"], 0.25);
  EXPECT_EQ(json["outputs"][0]["name"], "y");
}

TEST_F(ModelComparisonTest, ToleranceDecides) {
  ModelComparison comparison(open("one.mlir", Backend::Interpreter),
                             open("other.mlir", Backend::Interpreter), {},
                             Tolerance{0, 100, 0});
  compare(comparison);
  EXPECT_TRUE(comparison.report.agrees());
  EXPECT_GT(comparison.report.outputs.at(0).difference.largest, 0);
}

TEST_F(ModelComparisonTest, TensorsOfAnotherTool) {
  CompareSide side = open("one.mlir", Backend::Cpu);
  const std::vector<float> numbers = {1, 0};
  side.inputs = {Tensor::of<float>(ElementType::F32, {1, 2}, numbers)};
  NamedTensors expected = {
      {"y", Tensor::of<float>(ElementType::F32, {1, 2},
                              std::vector<float>{-0.434397F, -0.434397F})},
      {"strange", Tensor(ElementType::F32, {1})}};
  ModelComparison comparison(std::move(expected), "a tool", std::move(side), {},
                             Tolerance{1e-3, 0, 0});
  Result<void> done = comparison.compareOutputs();
  ASSERT_TRUE(done) << done.error().message();
  EXPECT_TRUE(comparison.report.agrees());
  EXPECT_EQ(comparison.report.onlyFirst, 1U);
  ASSERT_EQ(comparison.report.notes.size(), 1U);
  EXPECT_NE(comparison.report.notes[0].find("(backend interpreter keeps all)"),
            std::string::npos)
      << comparison.report.notes[0];
}

TEST_F(ModelComparisonTest, NothingIsRewrittenForTheInterpreter) {
  ModelComparison comparison(open("one.mlir", Backend::Interpreter),
                             open("other.mlir", Backend::Interpreter), {},
                             Tolerance{1e-3, 1e-7, 1e-4});
  compare(comparison);
  ASSERT_FALSE(comparison.report.agrees());
  Result<void> found = comparison.findStep();
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().kind, ErrorKind::Usage);
  EXPECT_EQ(found.error().message().find("--"), std::string::npos)
      << found.error().message();
}

TEST_F(ModelComparisonTest, InputsThatDoNotFit) {
  folder.write("wide.mlir", R"(
func.func @main(%x: tensor<?x3xf32> {sinter.name = "x"}) -> tensor<?x3xf32> {
  %y = stablehlo.tanh %x : tensor<?x3xf32>
  return %y : tensor<?x3xf32>
}
)");
  CompareSide first = open("one.mlir", Backend::Interpreter),
              second = open("wide.mlir", Backend::Interpreter);
  first.inputs = {Tensor(ElementType::F32, {1, 2})};
  Result<void> shared = shareInputs(first, second, [](const std::string &) {});
  ASSERT_FALSE(shared);
  EXPECT_EQ(shared.error().kind, ErrorKind::Usage);
  EXPECT_NE(
      shared.error().message().find("; shapes sets the unknown dimensions"),
      std::string::npos)
      << shared.error().message();
  EXPECT_FALSE(accepts(first, second, {{1, 2}}));
}

TEST(CompareReport, ShapesThatDiffer) {
  ComparedTensor tensor;
  compareInto(tensor, Tensor(ElementType::F32, {2}),
              Tensor(ElementType::F32, {3}), CompareCriteria());
  EXPECT_TRUE(tensor.differs());
  EXPECT_EQ(tensor.problem, "2xf32 in one, 3xf32 in the other");
}

/// A tensor of four elements that should be 1, 2, 3, 4.
ComparedTensor comparedWith(const std::vector<float> &got,
                            const CompareCriteria &criteria) {
  ComparedTensor tensor;
  tensor.name = "y";
  const std::vector<float> expected = {1, 2, 3, 4};
  compareInto(tensor, Tensor::of<float>(ElementType::F32, {4}, expected),
              Tensor::of<float>(ElementType::F32, {4}, got), criteria);
  return tensor;
}

TEST(CompareReport, CriteriaDecide) {
  const float inf = std::numeric_limits<float>::infinity();
  CompareCriteria snr, cosine, both;
  snr.minDecibels = 20;
  cosine.minCosine = 0.99;
  both = Tolerance{0, 0.2, 0};
  both.minDecibels = 20;
  const struct {
    const char *what;
    std::vector<float> got;
    CompareCriteria criteria;
    bool differs;
  } rows[] = {
      {"equal", {1, 2, 3, 4}, {}, false},
      {"within the tolerance", {1, 2, 3, 4.1F}, Tolerance{0, 0.2, 0}, false},
      {"beyond the tolerance", {1, 2, 3, 4.3F}, Tolerance{0, 0.2, 0}, true},
      // 10 log10(30 / 0.25) = 20.8, 10 log10(30 / 0.36) = 19.2
      {"a low noise", {1, 2, 3, 4.5F}, snr, false},
      {"a high noise", {1, 2, 3, 4.6F}, snr, true},
      // A factor does not change the direction.
      {"scaled", {2, 4, 6, 8}, cosine, false},
      {"scaled, by the noise", {2, 4, 6, 8}, snr, true},
      {"another direction", {4, 3, 2, 1}, cosine, true},
      {"a low noise beyond the tolerance", {1, 2, 3, 4.5F}, both, true},
      {"not finite", {1, 2, 3, inf}, snr, true},
      {"not finite, by the direction", {1, 2, inf, 4}, cosine, true}};
  for (const auto &row : rows) {
    CompareReport report;
    report.criteria = row.criteria;
    report.outputs = {comparedWith(row.got, row.criteria)};
    EXPECT_EQ(report.outputs[0].differs(), row.differs) << row.what;
    EXPECT_EQ(report.agrees(), !row.differs) << row.what;
    // The last line says what the exit code does.
    EXPECT_EQ(report.verdict().starts_with(row.differs ? "DIFFER: " : "ok: "),
              true)
        << row.what << ": " << report.verdict();
  }
}

TEST(CompareReport, RepeatedTensorsAddUp) {
  CompareCriteria criteria = Tolerance{0, 0.2, 0};
  ComparedTensor tensor = comparedWith({1, 2, 3, 4.3F}, criteria);
  const std::vector<float> all = {100, 100};
  const Tensor same = Tensor::of<float>(ElementType::F32, {2}, all);
  compareInto(tensor, same, same, criteria);
  EXPECT_TRUE(tensor.differs());
  EXPECT_EQ(tensor.difference.wrong, 1);
  EXPECT_NEAR(tensor.similarity.signal, 20030, 1e-6);
}

ComparedTensor parting(const char *name, MatchedBy by) {
  ComparedTensor tensor;
  tensor.name = name;
  tensor.by = by;
  tensor.problem = "differs";
  return tensor;
}

TEST(CompareReport, FirstOfTensorsThatCount) {
  CompareReport report;
  // Of two models, outputs decide.
  report.tensors = {parting("likely", MatchedBy::Flow),
                    parting("named", MatchedBy::Name)};
  report.outputs = {comparedWith({1, 2, 3, 4}, {})};
  EXPECT_TRUE(report.agrees());
  EXPECT_NE(report.verdict().find("2 intermediate tensors differ"),
            std::string::npos)
      << report.verdict();
  report.tensors.push_back(parting("sure", MatchedBy::Model));
  ASSERT_TRUE(report.firstDiffering());
  EXPECT_EQ(report.firstDiffering()->name, "sure");
  EXPECT_NE(report.verdict().find("tensor 'sure'"), std::string::npos)
      << report.verdict();
  report.outputs = {parting("output", MatchedBy::Output)};
  EXPECT_EQ(report.firstDiffering()->name, "likely");
  EXPECT_TRUE(report.verdict().starts_with("DIFFER: output 'output'"))
      << report.verdict();
}

TEST(CompareReport, WeightsComeFirst) {
  CompareReport report;
  report.outputs = {parting("y", MatchedBy::Output)};
  ComparedWeight weight;
  weight.values = parting("w", MatchedBy::Name);
  weight.layer = "dense";
  report.weights = {weight};
  EXPECT_TRUE(report.verdict().starts_with(
      "DIFFER: weight 'w' of layer 'dense' differs (differs); output 'y'"))
      << report.verdict();
}

} // namespace
} // namespace sinter
