#include "runtime/Executor.h"

#include <gtest/gtest.h>

using namespace sinter;

namespace {

TEST(ExecutorTest, UnknownDimensionsTakeAnything) {
  std::vector<TensorSpec> specs = {{"x", ElementType::F32, {-1, 3}}};
  std::vector<Tensor> tensors = {Tensor(ElementType::F32, {5, 3})};
  EXPECT_TRUE(checkInputs(specs, tensors));
}

TEST(ExecutorTest, ErrorsSayWhatIsExpected) {
  std::vector<TensorSpec> specs = {{"x", ElementType::F32, {-1, 3}}};
  std::vector<Tensor> wrong = {Tensor(ElementType::F16, {5, 3})};
  auto result = checkInputs(specs, wrong);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::Usage);
  EXPECT_EQ(result.error().message(),
            "input 'x': expected ?x3xf32, given 5x3xf16");
  EXPECT_EQ(checkInputs(specs, {}).error().message(),
            "the model has 1 input, 0 given");
  wrong = {Tensor(ElementType::F32, {3})};
  EXPECT_FALSE(checkInputs(specs, wrong));
}

} // namespace
