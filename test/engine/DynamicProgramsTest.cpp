#include "engine/DynamicPrograms.h"

#include "runtime/DynamicProgram.h"

#include <gtest/gtest.h>

namespace sinter {
namespace {

/// For x [N] with \p least <= N <= \p most.
std::shared_ptr<const Program> forSizes(int64_t least, int64_t most) {
  auto dynamic = std::make_shared<DynamicProgram>();
  const SizeExpression n = SizeExpression::parameter(0);
  dynamic->parameters = {"N"};
  dynamic->inputs = {{n}};
  dynamic->guards.resize(2);
  dynamic->guards[0].left = least;
  dynamic->guards[0].right = dynamic->guards[1].left = n;
  dynamic->guards[1].right = most;
  auto program = std::make_shared<Program>();
  program->inputs = {{"x", ElementType::F32, {-1}}};
  program->dynamic = std::move(dynamic);
  return program;
}

/// For all values of x [2].
std::shared_ptr<const Program> forValues() {
  auto dynamic = std::make_shared<DynamicProgram>();
  dynamic->inputs = {{2}};
  auto program = std::make_shared<Program>();
  program->inputs = {{"x", ElementType::F32, {2}}};
  program->dynamic = std::move(dynamic);
  return program;
}

CompileRequest requestOf(Shape shape, Shape dynamic = {}) {
  CompileRequest request;
  request.shapes = {std::move(shape)};
  if (!dynamic.empty())
    request.dynamic = {std::move(dynamic)};
  return request;
}

std::vector<Tensor> inputOf(int64_t size) {
  return {Tensor(ElementType::F32, {size})};
}

TEST(DynamicPrograms, TheOneThatServesIsFound) {
  const auto few = forSizes(1, 4), many = forSizes(5, 9);
  const CompileRequest request = requestOf({2}, {-1});
  DynamicPrograms programs;
  EXPECT_FALSE(programs.areFor(request));
  EXPECT_EQ(programs.countFor(request), 0u);
  EXPECT_TRUE(programs.add(few, request));
  EXPECT_TRUE(programs.areFor(request));
  EXPECT_EQ(programs.find(inputOf(3)), few);
  EXPECT_EQ(programs.find(inputOf(7)), nullptr);
  EXPECT_TRUE(programs.add(many, request));
  EXPECT_EQ(programs.countFor(request), 2u);
  EXPECT_EQ(programs.find(inputOf(3)), few);
  EXPECT_EQ(programs.find(inputOf(7)), many);
  EXPECT_EQ(programs.find(inputOf(10)), nullptr);
  const Result<void> served = serves(programs.last(), inputOf(10));
  ASSERT_FALSE(served);
  EXPECT_EQ(served.error().kind, ErrorKind::InvalidModel);
}

TEST(DynamicPrograms, OthersTakeThePlaceOfThoseForOtherDimensions) {
  DynamicPrograms programs;
  EXPECT_FALSE(isForAllSizes(*forValues()));
  EXPECT_TRUE(programs.add(forValues(), requestOf({2})));
  EXPECT_TRUE(programs.areFor(requestOf({2})));
  EXPECT_FALSE(programs.areFor(requestOf({3})));
  EXPECT_TRUE(isForAllSizes(*forSizes(1, 4)));
  EXPECT_TRUE(programs.add(forSizes(1, 4), requestOf({2}, {-1})));
  EXPECT_EQ(programs.count(), 1u);
  EXPECT_FALSE(programs.areFor(requestOf({2})));
  // One for the values of some sizes is no reason to forget it.
  EXPECT_FALSE(programs.add(forValues(), requestOf({2})));
  EXPECT_TRUE(programs.areFor(requestOf({2}, {-1})));
  programs.clear();
  EXPECT_FALSE(programs.areFor(requestOf({2}, {-1})));
}

} // namespace
} // namespace sinter
