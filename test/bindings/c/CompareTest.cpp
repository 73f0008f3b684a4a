//===- CompareTest.cpp - comparing models as programs do ------------------===//
//
// Covers: bindings/c Compare Strings
//
//===----------------------------------------------------------------------===//

#include "sinter.h"

#include <gtest/gtest.h>

#include <string>

namespace {

/// An error that a call of this file gave.
struct Given {
  ~Given() { sinter_error_free(error); }
  sinter_error **operator&() { return &error; }
  std::string message() const { return sinter_error_message(error); }

  sinter_error *error = nullptr;
};

/// y = x * factor + x, of any number of elements.
std::string scaled(const std::string &factor) {
  return R"(
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %f = stablehlo.constant dense<)" +
         factor + R"(> : tensor<f32>
  %0 = chlo.broadcast_multiply %x, %f : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
  %1 = stablehlo.add %0, %x : tensor<?xf32>
  return %1 : tensor<?xf32>
}
)";
}

class CCompare : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_EQ(sinter_options_new(&options, nullptr), SINTER_OK);
    models[0] = open(scaled("2.0"));
    models[1] = open(scaled("2.5"));
  }

  void TearDown() override {
    for (sinter_model *model : models)
      EXPECT_EQ(sinter_model_free(model, nullptr), SINTER_OK);
    EXPECT_EQ(sinter_options_free(options, nullptr), SINTER_OK);
  }

  static sinter_model *open(const std::string &text) {
    sinter_model *model = nullptr;
    EXPECT_EQ(sinter_model_open_memory(text.data(), text.size(), "scaled.mlir",
                                       nullptr, nullptr, &model, nullptr),
              SINTER_OK);
    return model;
  }

  /// The status of the comparison, whose report is `report` then.
  sinter_status compare(const sinter_model *model, sinter_error **error,
                        const sinter_tensor *inputs = nullptr,
                        size_t count = 0) {
    char *text = nullptr;
    const sinter_status status = sinter_model_compare(
        models[0], model, inputs, count, options, &text, error);
    report = text ? text : "";
    sinter_string_free(text);
    return status;
  }

  sinter_options *options = nullptr;
  sinter_model *models[2] = {};
  std::string report;
};

TEST_F(CCompare, ModelsThatAgreeAreComparedAtSeveralSizes) {
  sinter_model *same = open(scaled("2.0"));
  Given error;
  EXPECT_EQ(compare(same, &error), SINTER_OK) << error.message();
  EXPECT_NE(report.find("\"agrees\":true"), std::string::npos) << report;
  EXPECT_EQ(report.find("\"sizes\":[]"), std::string::npos) << report;
  EXPECT_NE(report.find("\"first\":\"scaled.mlir (cpu)\""), std::string::npos)
      << report;
  EXPECT_EQ(sinter_model_free(same, nullptr), SINTER_OK);
}

TEST_F(CCompare, ADifferenceIsAStatusAndAReport) {
  Given error;
  EXPECT_EQ(compare(models[1], &error), SINTER_WRONG_RESULT);
  EXPECT_NE(error.message().find("differ: first in "), std::string::npos)
      << error.message();
  EXPECT_NE(report.find("\"agrees\":false"), std::string::npos) << report;
  // 3 x and 3.5 x differ by less than a fifth.
  ASSERT_EQ(sinter_options_set(options, "rtol", "0.2", nullptr), SINTER_OK);
  ASSERT_EQ(sinter_options_set(options, "outputs-only", "true", nullptr),
            SINTER_OK);
  EXPECT_EQ(compare(models[1], nullptr), SINTER_OK);
  EXPECT_NE(report.find("\"tensors\":[]"), std::string::npos) << report;
}

TEST_F(CCompare, AnotherMeasureDecides) {
  // 3.5 x has a noise of 0.5 x: 10 log10(36) = 15.6 dB.
  ASSERT_EQ(sinter_options_set(options, "min-snr", "15", nullptr), SINTER_OK);
  EXPECT_EQ(compare(models[1], nullptr), SINTER_OK);
  EXPECT_NE(report.find("\"verdict\":\"ok: "), std::string::npos) << report;
}

TEST_F(CCompare, AnotherMeasureMayBeTooLow) {
  ASSERT_EQ(sinter_options_set(options, "min-snr", "16", nullptr), SINTER_OK);
  EXPECT_EQ(compare(models[1], nullptr), SINTER_WRONG_RESULT);
  EXPECT_NE(report.find("\"min_snr\":16.0"), std::string::npos) << report;
}

TEST_F(CCompare, GivenInputsDecide) {
  const int64_t shape[] = {3};
  float zeros[3] = {}, ones[3] = {1, 1, 1};
  sinter_tensor input = {sizeof(input), SINTER_F32, 1, shape, nullptr, zeros};
  Given none, wrong;
  EXPECT_EQ(compare(models[1], &none, &input, 1), SINTER_OK) << none.message();
  input.data = ones;
  EXPECT_EQ(compare(models[1], nullptr, &input, 1), SINTER_WRONG_RESULT);
  EXPECT_EQ(compare(models[1], &wrong, &input, 2), SINTER_USAGE);
  EXPECT_NE(wrong.message().find("expected 1 inputs, given 2"),
            std::string::npos)
      << wrong.message();
}

TEST_F(CCompare, BackendsAreCompared) {
  ASSERT_EQ(sinter_options_set(options, "backend", "interpreter,cpu", nullptr),
            SINTER_OK);
  Given error;
  EXPECT_EQ(compare(models[0], &error), SINTER_OK) << error.message();
  EXPECT_NE(report.find("(interpreter)"), std::string::npos) << report;
  EXPECT_NE(report.find("(cpu)"), std::string::npos) << report;
}

TEST_F(CCompare, WrongCallsAreErrors) {
  EXPECT_EQ(compare(nullptr, nullptr), SINTER_USAGE);
  EXPECT_EQ(sinter_model_compare(nullptr, models[0], nullptr, 0, nullptr,
                                 nullptr, nullptr),
            SINTER_USAGE);
  ASSERT_EQ(sinter_options_set(options, "passes", "true", nullptr), SINTER_OK);
  Given error;
  EXPECT_EQ(compare(models[1], &error), SINTER_USAGE);
  EXPECT_NE(error.message().find("there is no option 'passes' here"),
            std::string::npos)
      << error.message();
}

} // namespace
