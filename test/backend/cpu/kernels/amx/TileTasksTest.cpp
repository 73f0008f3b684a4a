//===- TileTasksTest.cpp - tasks of AMX matmuls and convolutions ----------===//

#include "backend/cpu/kernels/amx/TileTasks.h"

#include <gtest/gtest.h>

using namespace sinter::cpu;

namespace {

TileTasks::Costs costs() {
  TileTasks::Costs costs;
  costs.stage = [](int64_t units) { return 1e-6 * double(units); };
  costs.weights = 1e-6;
  costs.products = 200e-6;
  costs.mostUnits = 4;
  return costs;
}

// A matmul of two activations has no staging tasks and says nothing of them.
TEST(TileTasks, StageInTasksUnlessStagingTasksAreCheaper) {
  TileTasks::Costs given = costs();
  EXPECT_FALSE(TileTasks::choose(1, 16, 8, given).isShared);
  given.shared = 1e-6;
  const TileTasks shared = TileTasks::choose(1, 16, 8, given);
  EXPECT_TRUE(shared.isShared);
  EXPECT_EQ(shared.stageSeconds, 1e-6);
  given.shared = 1;
  EXPECT_FALSE(TileTasks::choose(1, 16, 8, given).isShared);
}

TEST(TileTasks, KeepRowsInTheSecondLevelCache) {
  const TileTasks cut = TileTasks::choose(1, 16, 8, costs());
  EXPECT_LE(cut.units.sizeOf(0), 4);
  EXPECT_GE(cut.units.count * cut.panels.count, 8);
}

} // namespace
