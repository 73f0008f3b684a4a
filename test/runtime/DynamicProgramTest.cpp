//===- DynamicProgramTest.cpp - programs for given sizes ------------------===//
//
// Programs made by hand, of copies alone. What the CPU backend makes is run in
// backend/cpu/DynamicSizesTest.cpp.
//
//===----------------------------------------------------------------------===//
//
// Covers: runtime DynamicInstance ShapeGuard

#include "runtime/DynamicInstance.h"

#include <chrono>
#include <gtest/gtest.h>
#include <limits>

namespace sinter {
namespace {

SizeExpression times(const SizeExpression &a, const SizeExpression &b) {
  return SizeExpression::productOf(a, b).value();
}

/// x : [N, S] goes through \p steps temporaries, of 4*N*S bytes each.
Program chain(int64_t steps) {
  Program program;
  auto open = std::make_shared<DynamicProgram>();
  open->parameters = {"N", "S"};
  const SizeExpression n = SizeExpression::parameter(0),
                       s = SizeExpression::parameter(1);
  const SizeExpression bytes = times(times(n, s), 4);
  open->sizes = {n, s};
  open->inputs = open->outputs = {{n, s}};
  program.inputs = {{"x", ElementType::F32, {-1, -1}}};
  program.outputs = {{"y", ElementType::F32, {-1, -1}}};
  open->slots.push_back({BufferSpace::Input, 0, bytes});
  open->slots.push_back({BufferSpace::Output, 0, bytes});
  for (int64_t i = 0; i < steps; ++i) {
    const bool isLast = i + 1 == steps;
    const uint64_t from = i == 0 ? 0 : i + 1, to = isLast ? 1 : i + 2;
    if (!isLast)
      open->slots.push_back({BufferSpace::Arena, 0, bytes, i, i + 1});
    Step step;
    step.kind = StepKind::Copy;
    step.op = "copy";
    step.buffers = {{BufferSpace::Arena, BufferAccess::In, 0, from, 0},
                    {BufferSpace::Arena, BufferAccess::Out, 0, to, 0}};
    program.steps.push_back(step);
    open->steps.emplace_back().tasks = {{1, 1}};
  }
  program.dynamic = open;
  return program;
}

/// The program for \p sizes and its steps, which are in one part.
struct Made {
  std::unique_ptr<DynamicInstance> instance;
  std::span<const Step> steps;
  const Program *operator->() const { return instance->program().get(); }
};

Result<Made> programFor(const Program &program, std::vector<int64_t> sizes,
                        const SlotPlan *largest = nullptr) {
  auto instance = DynamicInstance::create(
      std::make_shared<const Program>(program), std::move(sizes), largest);
  if (!instance)
    return instance.takeError();
  Result<DynamicInstance::Section> section = (*instance)->section(0);
  if (!section)
    return section.takeError();
  return Made{std::move(*instance), section->steps};
}

Result<SlotPlan> planSlots(const Program &program, std::vector<int64_t> sizes) {
  return DynamicInstance::planOf(std::make_shared<const Program>(program),
                                 std::move(sizes));
}

TEST(DynamicProgram, PlacesEverySizeByItself) {
  const Program program = chain(5);
  for (int64_t n : {0, 1, 7}) {
    auto made = programFor(program, std::vector<int64_t>{n, 16});
    ASSERT_TRUE(made) << made.error().message();
    EXPECT_EQ((*made)->inputs[0].shape, (Shape{n, 16}));
    EXPECT_EQ((*made)->arenaBytes, static_cast<uint64_t>(n) * 64 * 2);
    EXPECT_EQ(made->steps[1].buffers[0].bytes, static_cast<uint64_t>(n) * 64);
  }
}

TEST(DynamicProgram, LiesWhereTheLargestSizesLie) {
  const Program program = chain(5);
  auto plan = planSlots(program, std::vector<int64_t>{8, 16});
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->arenaBytes, 8u * 64 * 2);
  for (int64_t n : {0, 3, 8}) {
    auto made = programFor(program, std::vector<int64_t>{n, 16}, &*plan);
    ASSERT_TRUE(made);
    EXPECT_EQ((*made)->arenaBytes, plan->arenaBytes);
    EXPECT_EQ(made->steps[1].buffers[1].offset, plan->offsets[3]);
  }
  // What is larger has a place of its own.
  auto made = programFor(program, std::vector<int64_t>{9, 16}, &*plan);
  ASSERT_TRUE(made);
  EXPECT_EQ((*made)->arenaBytes, 9u * 64 * 2);
}

TEST(DynamicProgram, KeepsTheFirstTaskOfARoundOfKnownSize) {
  Program program = chain(1);
  Step &step = program.steps[0];
  step.kind = StepKind::Kernel;
  step.tasks = 6;
  step.firstTask = 12;
  program.kernels = {{18, {{0, 64, false}, {0, 64, true}}}};
  auto open = std::make_shared<DynamicProgram>(*program.dynamic);
  open->steps[0].tasks = {{6, 1}};
  program.dynamic = open;
  auto made = programFor(program, std::vector<int64_t>{3, 16});
  ASSERT_TRUE(made) << made.error().message();
  ASSERT_EQ(made->steps.size(), 1u);
  EXPECT_EQ(made->steps[0].firstTask, 12);
  EXPECT_EQ(made->steps[0].tasks, 6);
}

TEST(DynamicProgram, RefusesSizesThatCannotBeCounted) {
  const Program program = chain(3);
  constexpr int64_t most = std::numeric_limits<int64_t>::max();
  for (const std::vector<int64_t> &sizes :
       {std::vector<int64_t>{most, 1},
        {1, most},
        {most, most},
        {int64_t(1) << 31, int64_t(1) << 31},
        {most, 0}}) {
    auto made = programFor(program, sizes);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().kind, ErrorKind::Usage);
    EXPECT_FALSE(planSlots(program, sizes) && sizes[1] != 0);
  }
}

TEST(DynamicProgram, TakesTimeInProportionToItsSteps) {
  const Program program = chain(20000);
  const auto start = std::chrono::steady_clock::now();
  auto made = programFor(program, std::vector<int64_t>{3, 16});
  const std::chrono::duration<double> took =
      std::chrono::steady_clock::now() - start;
  ASSERT_TRUE(made);
  EXPECT_EQ((*made)->arenaBytes, 3u * 64 * 2);
  // Some hundredths; what is quadratic takes seconds.
  EXPECT_LT(took.count(), 1);
  std::printf("20000 steps: %.1f ms\n", took.count() * 1e3);
}

} // namespace
} // namespace sinter
