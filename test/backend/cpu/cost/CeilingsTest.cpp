//===- CeilingsTest.cpp - kernels that keep a machine busy ----------------===//
//
// A measurement counts operations that nobody sees: that the kernels do them
// shows in what they give.
//
//===----------------------------------------------------------------------===//
//
// Covers: backend/cpu/cost MeasureMachine
// Covers: backend/cpu/cost Ceilings

#include "backend/cpu/cost/Ceilings.h"
#include "backend/cpu/KernelRunner.h"
#include "backend/cpu/TileEmulator.h"
#include "backend/cpu/cost/MeasureMachine.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <numeric>
#include <vector>

using namespace sinter;
using namespace sinter::cpu;

namespace {

template <typename T> struct alignas(64) Aligned {
  T values[1024] = {};
};

template <typename T> void checkMultiplyAdds(unsigned bits) {
  KernelRunner runner;
  const ChainKernel made =
      emitMultiplyAdds(runner.module(), "chains", runner.target(), bits);
  ASSERT_LE(made.inputSize(), 1024);
  EXPECT_EQ(made.operationsPerTask,
            2.0 * made.chains * made.lanes * chainSteps);
  runner.compile();
  Aligned<T> input, output;
  for (int64_t i = 0; i < made.inputSize(); ++i)
    input.values[i] = static_cast<T>(i % 7 - 3) / 4;
  for (int64_t lane = 0; lane < made.lanes; ++lane)
    input.values[made.chains * made.lanes + lane] = T(0.998);
  void *buffers[] = {&input, &output};
  runner.kernel("chains")(buffers, 0, 3);
  for (int64_t lane = 0; lane < made.lanes; ++lane) {
    double sum = 0;
    for (int64_t chain = 0; chain < made.chains; ++chain) {
      double x = input.values[chain * made.lanes + lane];
      for (int64_t step = 0; step < chainSteps; ++step)
        x = x * T(0.998) + input.values[(made.chains + 1) * made.lanes + lane];
      sum += x;
    }
    EXPECT_NEAR(output.values[lane], sum, 1e-3 * std::abs(sum) + 1e-3);
  }
}

TEST(Ceilings, MultipliesAndAddsF32) { checkMultiplyAdds<float>(32); }
TEST(Ceilings, MultipliesAndAddsF64) { checkMultiplyAdds<double>(64); }

/// Sums modulo 2^32 by their definition.
uint32_t dotOfBytes(uint32_t x, uint32_t a, uint32_t b) {
  for (unsigned i = 0; i < 32; i += 8)
    x += uint32_t(a >> i & 255) * uint32_t(int32_t(int8_t(b >> i & 255)));
  return x;
}
uint32_t dotOfPairs(uint32_t x, uint32_t b) {
  uint32_t sum = x;
  for (unsigned i = 0; i < 32; i += 16)
    sum += uint32_t(int32_t(int16_t(x >> i)) * int32_t(int16_t(b >> i)));
  return sum;
}

void checkIntegerDots(const Target &target) {
  KernelRunner runner(target);
  const std::optional<ChainKernel> made =
      emitIntegerDots(runner.module(), "chains", target);
  if (!made)
    GTEST_SKIP() << "no integer products are known for this architecture";
  runner.compile();
  Aligned<uint32_t> input, output;
  for (int64_t i = 0; i < made->inputSize(); ++i)
    input.values[i] = uint32_t(i + 1) * 2654435761u;
  void *buffers[] = {&input, &output};
  runner.kernel("chains")(buffers, 0, 2);
  const bool ofBytes = made->instruction == "dot product of 8 bits";
  for (int64_t lane = 0; lane < made->lanes; ++lane) {
    const uint32_t a = input.values[made->chains * made->lanes + lane];
    const uint32_t b = input.values[(made->chains + 1) * made->lanes + lane];
    uint32_t sum = 0;
    for (int64_t chain = 0; chain < made->chains; ++chain) {
      uint32_t x = input.values[chain * made->lanes + lane];
      for (int64_t step = 0; step < chainSteps; ++step)
        x = ofBytes ? dotOfBytes(x, a, b) : dotOfPairs(x, b);
      sum += x;
    }
    EXPECT_EQ(output.values[lane], sum) << "lane " << lane;
  }
}

TEST(Ceilings, AddsIntegerProducts) { checkIntegerDots(*Target::host()); }

TEST(Ceilings, AddsIntegerProductsOfPairs) {
  Target target = *Target::host();
  std::erase(target.instructionSets, "avx512vnni");
  std::erase(target.instructionSets, "avxvnni");
  checkIntegerDots(target);
}

TEST(Ceilings, AddsIntegerProductsOfOldMachines) {
  Target target = *Target::host();
  target.instructionSets.clear();
  target.f32Lanes = 4;
  target.vectorRegisters = 16;
  checkIntegerDots(target);
}

TEST(Ceilings, ReadsAllThereIs) {
  KernelRunner runner;
  const int64_t grain = readGrain(runner.target());
  ASSERT_LE(3 * grain, 1024);
  emitReads(runner.module(), "read", runner.target(), 1024);
  runner.compile();
  Aligned<int32_t> input, output;
  Aligned<int64_t> size;
  std::iota(std::begin(input.values), std::end(input.values), 1);
  for (int64_t count : {grain, 2 * grain, 3 * grain}) {
    size.values[0] = count;
    void *buffers[] = {&input, &size, &output};
    runner.kernel("read")(buffers, 0, 2);
    EXPECT_EQ(std::accumulate(std::begin(output.values),
                              std::end(output.values), int64_t(0)),
              count * (count + 1) / 2);
  }
}

/// With emulated instructions: sums of all products, and as many of them as are
/// counted.
void checkTiles(ElementType part, int64_t bytes) {
  std::optional<Target> target = hostWithTiles();
  if (!target)
    GTEST_SKIP() << "needs AVX-512";
  KernelRunner runner(*target);
  const TileChainKernel made =
      emitTileProducts(runner.module(), "tiles", *target, part, bytes);
  emulateTiles(runner.module());
  runner.compile();
  const bool isOfBytes = part == ElementType::UI8;
  std::vector<Aligned<uint16_t>> input(made.inputBytes / 2048 + 1), output(2);
  auto *numbers = reinterpret_cast<uint8_t *>(input.data());
  // Bytes of 1, or pairs of bf16 that are 1.
  for (int64_t i = 0; i < made.inputBytes; ++i)
    numbers[i] = isOfBytes ? 1 : i % 2 == 0 ? 0x80 : 0x3f;
  void *buffers[] = {input.data(), output.data()};
  takeTileCounts();
  runner.kernel("tiles")(buffers, 0, 1);
  const TileCounts counts = takeTileCounts();
  EXPECT_EQ(counts.products, 4 * made.steps);
  EXPECT_EQ(counts.loads, 4 + (bytes == 0 ? 0 : 4 * made.steps));
  EXPECT_EQ(made.bytesPerTask, (counts.loads - 4) * 1024);
  const int64_t depth = isOfBytes ? 64 : 32;
  EXPECT_EQ(made.operationsPerTask,
            2.0 * 16 * 16 * double(depth) * double(counts.products));
  const double expected = double(depth) * double(made.steps);
  for (int64_t i = 0; i < 4 * 256; ++i) {
    const auto *at = reinterpret_cast<const char *>(output.data()) + 4 * i;
    float asFloat = 0;
    int32_t asInteger = 0;
    std::memcpy(&asFloat, at, 4);
    std::memcpy(&asInteger, at, 4);
    ASSERT_EQ(isOfBytes ? double(asInteger) : double(asFloat), expected) << i;
  }
}

TEST(Ceilings, MultipliesTiles) {
  for (ElementType part : {ElementType::BF16, ElementType::UI8})
    for (int64_t bytes : {0, 16 << 10, 5000})
      checkTiles(part, bytes);
}

/// What is measured of matrix units is what kernels are estimated by.
TEST(Ceilings, OfTilesAreMeasured) {
  std::optional<Target> target = hostWithTiles();
  if (!target)
    GTEST_SKIP() << "needs AVX-512";
  target->l2Bytes = 64 << 10;
  Result<MachineCeilings> found = measureMachine(0.2, *target, emulateTiles);
  ASSERT_TRUE(found) << found.error().message();
  const auto named = [&](const char *name) {
    return llvm::find_if(found->arithmetic,
                         [&](const auto &each) { return each.name == name; });
  };
  ASSERT_NE(named("tiles-bf16"), found->arithmetic.end());
  ASSERT_NE(named("tiles-i8"), found->arithmetic.end());
  ASSERT_EQ(found->bandwidth.back().level, "tiles");
  EXPECT_EQ(found->bandwidth.back().bytes, 32 << 10);
  Target same = *target, without = *Target::host("-amx-tile");
  same.setRates(*found);
  EXPECT_DOUBLE_EQ(same.rates.tiles, named("tiles-bf16")->gops * 1e9);
  EXPECT_DOUBLE_EQ(same.rates.tileLoads,
                   found->bandwidth.back().gbPerSecond * 1e9);
  without.setRates(*found);
  EXPECT_EQ(without.rates.tiles, 0);
}

TEST(Ceilings, AreMeasured) {
  Result<MachineCeilings> found = measureMachine(0.2);
  ASSERT_TRUE(found) << found.error().message();
  ASSERT_GE(found->arithmetic.size(), 2u);
  for (const ArithmeticCeiling &each : found->arithmetic)
    EXPECT_GT(each.gops, 0) << each.name;
  ASSERT_GE(found->bandwidth.size(), 3u);
  for (size_t i = 1; i < found->bandwidth.size(); ++i)
    if (found->bandwidth[i].level != "tiles")
      EXPECT_GT(found->bandwidth[i].bytes, found->bandwidth[i - 1].bytes);
  for (const BandwidthCeiling &each : found->bandwidth)
    EXPECT_GT(each.gbPerSecond, 0) << each.level;
}

} // namespace
