//===- ViewTest.cpp - the page of a model as programs get it --------------===//
//
// Covers: bindings/c View
//
//===----------------------------------------------------------------------===//

#include "sinter.h"

#include <gtest/gtest.h>

#include <string>

namespace {

class CView : public testing::Test {
protected:
  void SetUp() override {
    const std::string text = R"(
func.func @main(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %y = stablehlo.tanh %x : tensor<?x3xf32>
  return %y : tensor<?x3xf32>
})";
    ASSERT_EQ(sinter_options_new(&options, nullptr), SINTER_OK);
    ASSERT_EQ(sinter_model_open_memory(text.data(), text.size(), "tanh.mlir",
                                       nullptr, nullptr, &model, nullptr),
              SINTER_OK);
  }

  void TearDown() override {
    sinter_string_free(page);
    sinter_error_free(error);
    EXPECT_EQ(sinter_model_free(model, nullptr), SINTER_OK);
    EXPECT_EQ(sinter_options_free(options, nullptr), SINTER_OK);
  }

  void set(const char *name, const char *value) {
    ASSERT_EQ(sinter_options_set(options, name, value, nullptr), SINTER_OK);
  }

  sinter_model *model = nullptr;
  sinter_options *options = nullptr;
  char *page = nullptr;
  sinter_error *error = nullptr;
};

} // namespace

TEST_F(CView, IsOnePage) {
  ASSERT_EQ(sinter_model_view(model, nullptr, &page, &error), SINTER_OK)
      << sinter_error_message(error);
  const std::string text = page;
  EXPECT_TRUE(text.starts_with("<!doctype html>"));
  // Called as it was opened, wherever it is kept.
  EXPECT_NE(text.find("\"model\":\"tanh.mlir\""), std::string::npos);
  EXPECT_NE(text.find("\"measured\":false"), std::string::npos);
}

TEST_F(CView, TakesOptions) {
  set("measure", "true");
  set("shape", "arg0:2x3");
  set("no-cache", "true");
  ASSERT_EQ(sinter_model_view(model, options, &page, &error), SINTER_OK)
      << sinter_error_message(error);
  EXPECT_NE(std::string(page).find("\"measured\":true"), std::string::npos);
  EXPECT_NE(std::string(page).find("f32 [2, 3]"), std::string::npos);
}

TEST_F(CView, Mistakes) {
  EXPECT_EQ(sinter_model_view(nullptr, nullptr, &page, nullptr), SINTER_USAGE);
  EXPECT_EQ(sinter_model_view(model, nullptr, nullptr, nullptr), SINTER_USAGE);
  set("loss", "mse");
  EXPECT_EQ(sinter_model_view(model, options, &page, &error), SINTER_USAGE);
  EXPECT_EQ(page, nullptr);
  EXPECT_NE(std::string(sinter_error_message(error)).find("'loss'"),
            std::string::npos);
}
