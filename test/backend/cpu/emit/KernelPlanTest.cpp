// What a kernel's plan says of its functions, however its work is divided.

#include "backend/cpu/emit/KernelPlan.h"

#include <gtest/gtest.h>

using namespace sinter;
using namespace sinter::cpu;

namespace {

struct Case {
  const char *name;
  KernelWork work;
  bool isDynamic, hasSeparateStages;
  std::vector<int64_t> tasks; ///< Of each function.
  uint64_t workspaceBytes;
};

const Workspace workspace{96, ElementType::F32};

std::vector<Case> cases() {
  return {
      {"nothing", {}, false, false, {1}, 0},
      {"tasks", TaskLoop{7, 1e6}, false, false, {7}, 0},
      {"dynamic tasks", DynamicTaskLoop{{{{7}, 1}}}, true, false, {1}, 0},
      {"stages", Stages{{{3}, {5}}}, false, false, {3, 5}, 0},
      {"rounds", Stages{{{3}, {5}}, 4, workspace}, false, false, {12, 20}, 96},
      {"units",
       DynamicStages{
           {{3, 0, {0, 2}}, {5, 0, {1, 2}}}, {{{7}, 1}}, 4, workspace},
       true,
       true,
       {3, 5},
       96},
  };
}

} // namespace

TEST(KernelPlan, EachDivisionHasItsFunctions) {
  for (const Case &each : cases()) {
    SCOPED_TRACE(each.name);
    KernelPlan plan;
    plan.work = each.work;
    EXPECT_EQ(plan.isDynamic(), each.isDynamic);
    EXPECT_EQ(plan.hasSeparateStages(), each.hasSeparateStages);
    ASSERT_EQ(plan.functions(), each.tasks.size());
    for (size_t i = 0; i < plan.functions(); ++i)
      EXPECT_EQ(plan.tasksOf(i), each.tasks[i]) << i;
    EXPECT_EQ(plan.workspace().bytes, each.workspaceBytes);
  }
}

TEST(KernelPlan, ATableIsOfDynamicSizesOrOfSharedNumbers) {
  for (const Case &each : cases())
    for (CodeSharing sharing :
         {CodeSharing::None, CodeSharing::Subroutines, CodeSharing::SameNumbers,
          CodeSharing::AnyNumbers}) {
      KernelPlan plan;
      plan.work = each.work;
      plan.sharing = sharing;
      EXPECT_EQ(plan.readsTable(),
                each.isDynamic || sharing == CodeSharing::AnyNumbers)
          << each.name;
    }
}

TEST(KernelPlan, ScratchIsDynamicByWhatEachTakes) {
  EXPECT_TRUE(Scratch().isNone());
  EXPECT_FALSE((Scratch{8}).isNone());
  EXPECT_FALSE((Scratch{8}).isDynamic());
  const Scratch dynamic{0, ElementType::I8, 5, 16};
  EXPECT_FALSE(dynamic.isNone());
  EXPECT_TRUE(dynamic.isDynamic());
}

TEST(KernelPlan, LaterStagesHaveTheKernelsNameAndANumber) {
  EXPECT_EQ(stageName("kernel", 0), "kernel");
  EXPECT_EQ(stageName("kernel", 2), "kernel.2");
}
