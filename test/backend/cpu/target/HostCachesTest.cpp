// Covers: backend/cpu/target NamedTarget KnownCpus

#include "backend/cpu/WithoutMatrixUnits.h"
#include "backend/cpu/target/KnownCpus.h"
#include "backend/cpu/target/Target.h"

#include "llvm/TargetParser/Triple.h"
#include <gtest/gtest.h>
#include <unistd.h>

using namespace sinter::cpu;

namespace {

#ifdef _SC_LEVEL1_DCACHE_SIZE
TEST(HostCaches, AreThoseOfTheSystem) {
  const Target host = *Target::host();
  const long l1 = sysconf(_SC_LEVEL1_DCACHE_SIZE),
             l2 = sysconf(_SC_LEVEL2_CACHE_SIZE);
  if (l1 > 0)
    EXPECT_EQ(host.l1Bytes, l1);
  if (l2 > 0)
    EXPECT_EQ(host.l2Bytes, l2);
}
#endif

TEST(HostCaches, OfNamedCpusAreThoseOfTheTable) {
  for (const KnownCpu &row : knownCpus()) {
    auto target = Target::named(row.triple, row.cpu, "");
    ASSERT_TRUE(target) << row.triple << " " << row.cpu;
    EXPECT_EQ(target->l1Bytes, row.l1Bytes) << row.cpu;
    EXPECT_EQ(target->l2Bytes, row.l2Bytes) << row.cpu;
  }
}

TEST(HostWithoutMatrixUnits, IsTheHostOtherwise) {
  const Target host = *Target::host(),
               plain = sinter::test::hostWithoutMatrixUnits();
  EXPECT_FALSE(plain.hasMatrixUnits);
  EXPECT_EQ(plain.cpu, host.cpu);
  EXPECT_EQ(plain.f32Lanes, host.f32Lanes);
  EXPECT_EQ(plain.hasVnni, host.hasVnni);
}

} // namespace
