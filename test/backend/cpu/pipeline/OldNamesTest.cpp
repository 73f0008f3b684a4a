//===- OldNamesTest.cpp - names that users may have written ---------------===//
//
// Covers: passes OldNames

#include "passes/OldNames.h"
#include "backend/cpu/pipeline/Passes.h"
#include "passes/PatternLabels.h"

#include "gtest/gtest.h"

using namespace sinter;

TEST(OldNames, AreTakenForThoseOfToday) {
  cpu::registerPatternLabels();
  for (const char *old : {"cut-once", "fuse-extremes", "keep-parts",
                          "narrow-product", "narrow-table", "pair-extremes",
                          "split-joint", "tabulate-bytes", "widen-bytes"}) {
    auto byOld = PatternRun::create({old}, {});
    ASSERT_TRUE(bool(byOld)) << old;
    EXPECT_NE(currentName(old), old);
    EXPECT_FALSE((*byOld)->isEnabled(currentName(old))) << old;
  }
  EXPECT_EQ(currentName("fold-batch-norm"), "fold-batch-norm");
  EXPECT_FALSE(bool(PatternRun::create({"no-such-label"}, {})));
}

TEST(OldNames, OfPassesNameOne) {
  auto run = std::make_shared<PatternRun>();
  auto setting = std::make_shared<cpu::PassSetting>();
  setting->unknown = cpu::PassSetting::UnknownSizes::Computed;
  llvm::StringSet<> names;
  for (auto &pass : cpu::createPasses(run, setting))
    names.insert(pass->getArgument());
  for (const char *old :
       {"cpu-split-joints", "cpu-pair-extremes", "cpu-fuse-extremes",
        "cpu-tabulate-bytes", "cpu-widen-bytes", "cpu-keep-parts",
        "cpu-narrow-products", "cpu-narrow-tables", "cpu-spread-batch-norms",
        "cpu-part-open", "cpu-join-open", "cpu-name-sizes",
        "cpu-estimate-areas", "cpu-form-sized-calls", "cpu-remove-unused"})
    EXPECT_TRUE(names.contains(currentName(old))) << old;
}
