//===- CxxLayerTest.cpp - the C++ layer over the C interface --------------===//

#include "sinter.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>

namespace {

const std::string doubled = R"(
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = stablehlo.add %x, %x : tensor<?xf32>
  return %0 : tensor<?xf32>
}
)";

sinter::Result<sinter::Model> openDoubled() {
  return sinter::Model::openMemory(std::as_bytes(std::span(doubled)),
                                   "doubled.mlir", "", {{"no-cache", "true"}});
}

TEST(CxxLayer, RunsOnMemoryOfTheCallerAndOfTheLibrary) {
  auto model = openDoubled();
  ASSERT_TRUE(model) << model.error().message();
  auto session = model->compile({{"threads", "1"}});
  ASSERT_TRUE(session) << session.error().message();
  std::array<float, 3> x = {1, 2, 3}, y = {};
  auto done = session->run({sinter::view(x, {3})}, {sinter::view(y, {3})});
  ASSERT_TRUE(done) << done.error().message();
  EXPECT_EQ(y, (std::array<float, 3>{2, 4, 6}));
  auto results = session->run({sinter::view(x, {3})});
  ASSERT_TRUE(results) << results.error().message();
  ASSERT_EQ(results->size(), 1U);
  EXPECT_TRUE(std::ranges::equal((*results)[0].values<float>(), y));
  EXPECT_TRUE((*results)[0].values<double>().empty());
}

TEST(CxxLayer, BindingsRunOften) {
  auto model = openDoubled();
  ASSERT_TRUE(model) << model.error().message();
  auto session = model->compile();
  ASSERT_TRUE(session) << session.error().message();
  auto binding = session->bind();
  ASSERT_TRUE(binding) << binding.error().message();
  std::array<float, 2> x = {}, y = {};
  ASSERT_TRUE(binding->setInput(0, sinter::view(x, {2})));
  ASSERT_TRUE(binding->setOutput(0, sinter::view(y, {2})));
  for (float value : {1.0F, 5.0F}) {
    x.fill(value);
    ASSERT_TRUE(binding->run());
    EXPECT_EQ(y[1], 2 * value);
  }
}

TEST(CxxLayer, ErrorsHaveTheirFields) {
  auto model = sinter::Model::open("/nonexistent/m.onnx");
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().status(), SINTER_SYSTEM);
  EXPECT_STREQ(model.error().file(), "/nonexistent/m.onnx");
}

} // namespace
