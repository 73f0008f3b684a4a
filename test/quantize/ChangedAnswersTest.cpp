// The bounds against the binomial distribution and draws of it.

#include "quantize/ChangedAnswers.h"

#include <gtest/gtest.h>
#include <random>

namespace sinter::quantize {
namespace {

ChangedAnswers answers(int same, int lost, int gained) {
  ChangedAnswers all;
  for (int i = 0; i < same; ++i)
    all.add(i % 2 == 0, i % 2 == 0);
  for (int i = 0; i < lost; ++i)
    all.add(true, false);
  for (int i = 0; i < gained; ++i)
    all.add(false, true);
  return all;
}

TEST(ChangedAnswersTest, CountsWhatChanged) {
  const ChangedAnswers all = answers(10, 2, 3);
  EXPECT_EQ(all.samples(), 15u);
  EXPECT_EQ(all.lost(), 2u);
  EXPECT_EQ(all.gained(), 3u);
}

TEST(ChangedAnswersTest, WithoutSamplesThereIsNothingToTell) {
  EXPECT_FALSE(ChangedAnswers().lossOfOthers());
}

TEST(ChangedAnswersTest, FewSamplesTellLittle) {
  EXPECT_GT(*answers(7, 0, 0).lossOfOthers(), 0.25);
  EXPECT_GT(*answers(100, 0, 0).lossOfOthers(), 0.02);
  EXPECT_LT(*answers(1000, 0, 0).lossOfOthers(), 0.003);
  // What is gained makes up for what is lost.
  EXPECT_LT(*answers(1000, 20, 40).lossOfOthers(), 0.011);
}

TEST(ChangedAnswersTest, HowManySamplesCanTell) {
  for (double part : {0.5, 0.1, 0.01, 0.003}) {
    const auto enough = static_cast<int>(ChangedAnswers::samplesFor(part));
    EXPECT_LE(*answers(enough, 0, 0).lossOfOthers(), part + 1e-12) << part;
    EXPECT_GT(*answers(enough - 1, 0, 0).lossOfOthers(), part) << part;
  }
  EXPECT_EQ(ChangedAnswers::samplesFor(0.01), 240u);
  EXPECT_EQ(ChangedAnswers::samplesFor(1), 1u);
  EXPECT_EQ(ChangedAnswers::samplesFor(3), 1u);
  EXPECT_GT(ChangedAnswers::samplesFor(0), uint64_t(1) << 62);
}

// Where answers change with known probabilities, one bound in ten is missed at
// most.
TEST(ChangedAnswersTest, HoldsInNineOfTenDraws) {
  struct Kind {
    int count;
    double lost, gained;
  };
  std::mt19937 random(3);
  for (const Kind &kind :
       {Kind{30, 0.1, 0}, Kind{240, 0.01, 0.01}, Kind{1000, 0.02, 0.005},
        Kind{1000, 0.03, 0.03}, Kind{60, 0.2, 0.3}}) {
    constexpr int draws = 400;
    int missed = 0;
    for (int draw = 0; draw < draws; ++draw) {
      ChangedAnswers all;
      std::uniform_real_distribution<double> chance;
      for (int i = 0; i < kind.count; ++i) {
        const double drawn = chance(random);
        const bool isLost = drawn < kind.lost,
                   isGained = !isLost && drawn < kind.lost + kind.gained;
        all.add(!isGained, !isLost);
      }
      missed += *all.lossOfOthers() < kind.lost - kind.gained;
    }
    EXPECT_LT(missed, draws / 10) << kind.count << " " << kind.lost;
  }
}

} // namespace
} // namespace sinter::quantize
