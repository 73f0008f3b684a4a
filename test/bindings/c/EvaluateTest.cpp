//===- EvaluateTest.cpp - evaluating models as programs do ----------------===//
//
// Covers: bindings/c Evaluate Inputs
//
//===----------------------------------------------------------------------===//

#include "bindings/c/InterfaceFixture.h"

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

namespace {

using sinter::test::InterfaceFixture;
using sinter::test::tensor;

/// Scores of three classes, times a factor.
std::string scaledScores(const std::string &factor) {
  return R"(
func.func @main(%x: tensor<?x3xf32> {sinter.name = "x"}) -> (tensor<?x3xf32> {sinter.name = "y"}) {
  %f = stablehlo.constant dense<)" +
         factor + R"(> : tensor<3xf32>
  %0 = chlo.broadcast_multiply %x, %f : (tensor<?x3xf32>, tensor<3xf32>) -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}
)";
}

/// Five samples: the right class has the greatest score in all but the last.
struct Scores {
  static constexpr size_t count = 5;

  std::vector<int64_t> shape = {1, 3}, row = {1};
  std::vector<float> scores;
  int64_t label = 0;
  /// How many calls there were, and which one fails.
  size_t calls = 0, failing = count;
  bool inOrder = true;

  static int32_t give(void *user, size_t index, sinter_tensor *inputs,
                      size_t inputCount, sinter_tensor *target) {
    auto &self = *static_cast<Scores *>(user);
    self.inOrder &= index == self.calls++;
    if (index == self.failing || inputCount != 1)
      return 1;
    self.label = static_cast<int64_t>(index % 3);
    self.scores.assign(3, 0);
    self.scores[index + 1 == count ? (index + 1) % 3 : index % 3] = 2;
    inputs[0] = tensor(self.scores, self.shape);
    target->type = SINTER_I64;
    target->rank = 1;
    target->shape = self.row.data();
    target->data = &self.label;
    return 0;
  }
};

class CEvaluate : public InterfaceFixture {
protected:
  void TearDown() override {
    EXPECT_EQ(sinter_model_free(other, nullptr), SINTER_OK);
    InterfaceFixture::TearDown();
  }

  void set(const char *name, const char *value) {
    ASSERT_EQ(sinter_options_set(options, name, value, nullptr), SINTER_OK);
  }

  sinter_status evaluate(sinter_error **error) {
    char *text = nullptr;
    const sinter_status status =
        sinter_model_evaluate(model, other, options, Scores::give, &samples,
                              Scores::count, &text, error);
    report = text ? nlohmann::json::parse(text) : nlohmann::json();
    sinter_string_free(text);
    return status;
  }

  double metric(const std::string &name, const nlohmann::json &side) const {
    for (const nlohmann::json &each : side["metrics"])
      if (each["metric"] == name)
        return each["value"];
    ADD_FAILURE() << name << " is not in " << side.dump();
    return -1;
  }

  sinter_model *other = nullptr;
  Scores samples;
  nlohmann::json report;
};

TEST_F(CEvaluate, MetricsOfSamplesInMemory) {
  open(scaledScores("[1.0, 1.0, 1.0]"));
  SINTER_ASSERT_OK(evaluate(&error));
  EXPECT_EQ(report["samples"], Scores::count);
  EXPECT_EQ(report["runs"], 1);
  EXPECT_EQ(report["model"], "model.mlir");
  EXPECT_EQ(report["backend"], "cpu");
  EXPECT_TRUE(samples.inOrder);
  EXPECT_DOUBLE_EQ(metric("top1", report), 0.8);
  // Scores of 2, 0, 0.
  const double right = std::log(std::exp(2.0) + 2) - 2;
  EXPECT_NEAR(metric("cross-entropy", report), right + 2.0 / 5, 1e-6);
}

TEST_F(CEvaluate, OtherBatchesAndTheInterpreterGiveTheSame) {
  open(scaledScores("[1.0, 1.0, 1.0]"));
  set("batch", "2");
  set("backend", "interpreter");
  set("metric", "top2");
  SINTER_ASSERT_OK(evaluate(&error));
  EXPECT_EQ(report["runs"], 3);
  EXPECT_EQ(report["backend"], "interpreter");
  EXPECT_EQ(report["metrics"].size(), 1U);
  // Of equal scores the first classes count.
  EXPECT_DOUBLE_EQ(metric("top2", report), 0.8);
}

TEST_F(CEvaluate, AnotherModelOnTheSameSamples) {
  open(scaledScores("[1.0, 1.0, 1.0]"));
  const std::string text = scaledScores("[-1.0, 1.0, 1.0]");
  SINTER_ASSERT_OK(sinter_model_open_memory(text.data(), text.size(),
                                            "other.mlir", nullptr, nullptr,
                                            &other, &error));
  SINTER_ASSERT_OK(evaluate(&error));
  EXPECT_EQ(samples.calls, Scores::count);
  EXPECT_EQ(report["against"]["model"], "other.mlir");
  // Two of the right answers are class 0.
  EXPECT_DOUBLE_EQ(metric("top1", report["against"]), 0.4);
  EXPECT_DOUBLE_EQ(report["differences"][0]["value"], 0.4);
  EXPECT_EQ(report["differences"][0]["only_model_right"], 2);
  set("max-loss", "1");
  SINTER_ASSERT_OK(evaluate(&error));
}

TEST_F(CEvaluate, BoundsGiveAReport) {
  open(scaledScores("[1.0, 1.0, 1.0]"));
  set("at-least", "top1=0.9");
  SINTER_EXPECT_REFUSED(SINTER_WRONG_RESULT, "top1 is 80.00 %",
                        evaluate(&error));
  EXPECT_EQ(report["samples"], Scores::count);
}

TEST_F(CEvaluate, NamesThatAreNoText) {
  std::string text = scaledScores("[1.0, 1.0, 1.0]");
  text.insert(text.find("\"y\"") + 2, "\\FF");
  open(text);
  SINTER_ASSERT_OK(evaluate(&error));
  EXPECT_EQ(report["metrics"][0]["output"], "y\ufffd");
}

TEST_F(CEvaluate, WhatMakesNoSenseIsRefused) {
  open(scaledScores("[1.0, 1.0, 1.0]"));
  SINTER_EXPECT_REFUSED(SINTER_USAGE, "give samples, or the option data",
                        sinter_model_evaluate(model, nullptr, options, nullptr,
                                              nullptr, 0, nullptr, &error));
  SINTER_EXPECT_REFUSED(SINTER_USAGE, "sample",
                        sinter_model_evaluate(model, nullptr, options, nullptr,
                                              nullptr, 3, nullptr, &error));
  samples.failing = 3;
  SINTER_EXPECT_REFUSED(SINTER_CANCELLED, "sample 3 could not be had",
                        evaluate(&error));
  EXPECT_TRUE(report.is_null());
  samples = {};
  samples.shape = {3};
  SINTER_EXPECT_REFUSED(SINTER_USAGE, "sample 0", evaluate(&error));
  samples = {};
  set("max-loss", "1");
  SINTER_EXPECT_REFUSED(SINTER_USAGE, "max-loss needs against",
                        evaluate(&error));
  for (const auto &[name, value, words] :
       std::vector<std::array<const char *, 3>>{
           {"data", "nowhere", "data"},
           {"against", "x.onnx", "no option 'against'"},
           {"metric", "top1x", "top1x"}}) {
    sinter_options *one = nullptr;
    SINTER_ASSERT_OK(sinter_options_new(&one, &error));
    SINTER_ASSERT_OK(sinter_options_set(one, name, value, &error));
    SINTER_EXPECT_REFUSED(
        SINTER_USAGE, words,
        sinter_model_evaluate(model, nullptr, one, Scores::give, &samples,
                              Scores::count, nullptr, &error));
    EXPECT_EQ(sinter_options_free(one, nullptr), SINTER_OK);
  }
}

TEST_F(CEvaluate, CanBeCancelled) {
  open(scaledScores("[1.0, 1.0, 1.0]"));
  sinter_cancellation *cancellation = nullptr;
  SINTER_ASSERT_OK(sinter_cancellation_new(&cancellation, &error));
  SINTER_ASSERT_OK(
      sinter_options_set_cancellation(options, cancellation, &error));
  sinter_cancellation_cancel(cancellation);
  SINTER_EXPECT_REFUSED(SINTER_CANCELLED, "cancelled", evaluate(&error));
  sinter_cancellation_reset(cancellation);
  SINTER_ASSERT_OK(evaluate(&error));
  sinter_cancellation_free(cancellation);
}

} // namespace
