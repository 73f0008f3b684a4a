// Covers: evaluate EvaluationText ModelMetrics

#include "evaluate/EvaluationText.h"
#include "evaluate/ModelMetrics.h"

#include <cmath>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace sinter {
namespace {

TEST(ParseMetric, Names) {
  for (const char *name :
       {"top1", "top5", "cross-entropy", "mse", "mae", "iou", "map"}) {
    const Result<MetricName> parsed = parseMetric(name);
    ASSERT_TRUE(parsed) << name;
    EXPECT_EQ(parsed->text(), name);
  }
  for (const char *wrong :
       {"", "top", "top0", "top-1", "top1x", "TOP1", "top99999999999999999999"})
    EXPECT_FALSE(parseMetric(wrong)) << wrong;
  EXPECT_TRUE(parseMetric("mse")->isLoss());
  EXPECT_FALSE(parseMetric("iou")->isLoss());
}

TEST(ParseBound, NumbersAndPercent) {
  EXPECT_NEAR(parseBound("top1=75%")->value, 0.75, 1e-12);
  EXPECT_EQ(parseBound("top5=0.5")->name.most, 5);
  EXPECT_EQ(parseBound("mse=12.5")->value, 12.5);
  for (const char *wrong : {"top1", "top1=", "top1=1.5", "top1=-1", "top1=nan",
                            "mse=5%", "x=1", "iou=101%"})
    EXPECT_FALSE(parseBound(wrong)) << wrong;
}

EvaluationReport reportOf(double top, double loss) {
  EvaluationReport report;
  report.samples = 4;
  report.seconds = 2;
  report.model.model = "a.onnx";
  report.model.metrics = {
      {*parseMetric("top1"), "y", {top, Interval{0.1, 0.9}, "Wilson"}},
      {*parseMetric("cross-entropy"), "y", {loss, {}}}};
  return report;
}

TEST(CheckBounds, NamesTheFirstThatIsBroken) {
  EvaluationBounds bounds;
  bounds.least = {*parseBound("top1=0.5")};
  bounds.most = {*parseBound("cross-entropy=1")};
  EXPECT_TRUE(checkBounds(reportOf(0.5, 1), bounds));
  const Result<void> low = checkBounds(reportOf(0.4, 1), bounds);
  ASSERT_FALSE(low);
  EXPECT_EQ(low.error().kind, ErrorKind::WrongResult);
  EXPECT_EQ(low.error().message(),
            "a.onnx: top1 is 40.00 %, not at least 50.00 % (least top1=0.5)");
  EXPECT_FALSE(checkBounds(reportOf(NAN, 1), bounds));
  EXPECT_FALSE(checkBounds(reportOf(1, INFINITY), bounds));
  bounds.least.push_back(*parseBound("iou=0.5"));
  EXPECT_EQ(checkBounds(reportOf(1, 0), bounds).error().kind, ErrorKind::Usage);
}

TEST(CheckBounds, LossAgainstAnother) {
  EvaluationReport report = reportOf(0.5, 1);
  report.against = reportOf(0.52, 1).model;
  report.against->model = "b.onnx";
  report.differences.resize(2);
  report.differences[0].value = -0.02;
  EvaluationBounds bounds;
  bounds.mostLoss = 2.5;
  EXPECT_TRUE(checkBounds(report, bounds));
  bounds.mostLoss = 1;
  const Result<void> broken = checkBounds(report, bounds);
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().message(), "a.onnx: top1 is 2.00 points below that "
                                      "of 'b.onnx' (mostLoss 1)");
}

TEST(EvaluationReport, AsTextAndJson) {
  const EvaluationReport report = reportOf(0.5, INFINITY);
  const std::string text = evaluationText(report, false);
  EXPECT_NE(text.find("top1             50.00 %  (95 %: 10.00 .. 90.00, "
                      "Wilson)\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("cross-entropy    inf\n"), std::string::npos) << text;
  const nlohmann::json json = evaluationJson(report);
  EXPECT_EQ(json["metrics"][0]["value"], 0.5);
  EXPECT_TRUE(json["metrics"][1]["value"].is_null());
  EXPECT_TRUE(json["metrics"][1]["interval"].is_null());
  EXPECT_EQ(json["samples_per_s"], 2);
}

Tensor scores(Shape shape, std::vector<float> values) {
  return Tensor::of<float>(ElementType::F32, std::move(shape), values);
}

SampleTruth truthOf(Shape shape, std::vector<int64_t> values) {
  return {
      Tensor::of<int64_t>(ElementType::I64, std::move(shape), values), {}, {}};
}

TEST(ModelMetrics, TheFirstOutputThatFits) {
  const std::vector<Tensor> outputs = {
      scores({1, 4, 2}, {1, 2, 3, 4, 5, 6, 7, 8}), scores({1, 3}, {1, 3, 2})};
  Result<ModelMetrics> metrics =
      ModelMetrics::of({}, {"a", "b"}, outputs, truthOf({1}, {2}), {});
  ASSERT_TRUE(metrics);
  ASSERT_EQ(metrics->entries().size(), 2U);
  EXPECT_EQ(metrics->entries()[0].output, 1U);
  ASSERT_TRUE(metrics->add(outputs, truthOf({1}, {1})));
  EXPECT_EQ(metrics->entries()[0].metric->value(), 1);
  EXPECT_FALSE(metrics->add(outputs, truthOf({1}, {3})));
  EXPECT_FALSE(metrics->add(outputs, truthOf({2}, {0, 1})));
  EXPECT_EQ(metrics->answers(outputs, truthOf({1}, {0})),
            (std::vector<int64_t>{1}));
}

TEST(ModelMetrics, WhatFitsNoOutput) {
  const std::vector<Tensor> outputs = {scores({1, 3}, {1, 3, 2})};
  for (const char *name : {"mse", "iou", "map"})
    EXPECT_FALSE(ModelMetrics::of({*parseMetric(name)}, {"y"}, outputs,
                                  truthOf({1}, {0}), {}))
        << name;
  EXPECT_FALSE(ModelMetrics::of({}, {"y"}, outputs,
                                truthOf({1, 7}, {0, 0, 0, 0, 0, 0, 0}), {}));
  MetricRules boxes;
  boxes.areBoxes = true;
  EXPECT_TRUE(ModelMetrics::of({}, {"y"}, outputs, {}, boxes));
  EXPECT_FALSE(
      ModelMetrics::of({*parseMetric("top1")}, {"y"}, outputs, {}, boxes));
}

} // namespace
} // namespace sinter
