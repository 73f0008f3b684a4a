// Which kernel should be the fastest, and what that follows from.

#include "backend/cpu/kernels/Estimates.h"

#include <gtest/gtest.h>

using namespace sinter;
using namespace sinter::cpu;

namespace {

ConvolutionShape convolution(int64_t channels, int64_t size, int64_t window) {
  ConvolutionShape shape;
  shape.inputChannels = shape.outputChannels = channels;
  shape.inputHeight = shape.inputWidth = size;
  shape.kernelHeight = shape.kernelWidth = window;
  shape.setPadding(window / 2, window / 2);
  return shape;
}

Target server() { return *Target::named("", "x86-64-v4", ""); }

bool offers(const Alternatives &all, llvm::StringRef kernel) {
  return llvm::any_of(
      all, [&](const Alternative &each) { return each.kernel == kernel; });
}

} // namespace

TEST(Estimates, TheFastestStandsFirst) {
  const Target target = server();
  for (int64_t channels : {16, 64, 256, 512})
    for (int64_t size : {7, 14, 56}) {
      const Alternatives all =
          alternativesFor(convolution(channels, size, 3), {}, target, true);
      ASSERT_EQ(all.size(), 2u);
      EXPECT_LE(all[0].seconds, all[1].seconds);
      EXPECT_GT(all[0].seconds, 0);
    }
}

TEST(Estimates, FastConvolutionIsOfferedWhereThereIsOne) {
  const Target target = server();
  const ConvolutionShape shape = convolution(64, 56, 3);
  EXPECT_TRUE(offers(alternativesFor(shape, {}, target, true), "winograd"));
  EXPECT_FALSE(offers(alternativesFor(shape, {}, target, false), "winograd"));
  EXPECT_FALSE(offers(
      alternativesFor(
          shape, Arithmetic::ofBytes(ElementType::UI8, ElementType::I8, target),
          target, true),
      "winograd"));
  EXPECT_FALSE(offers(alternativesFor(convolution(64, 56, 5), {}, target, true),
                      "winograd"));
  ConvolutionShape strided = shape;
  strided.strideHeight = 2;
  EXPECT_FALSE(offers(alternativesFor(strided, {}, target, true), "winograd"));
}

TEST(Estimates, WhatWasMeasuredDecides) {
  Target target = server();
  const ConvolutionShape shape = convolution(64, 56, 3);
  EXPECT_EQ(alternativesFor(shape, {}, target, true).front().kernel,
            "winograd");
  MachineCeilings ceilings;
  ceilings.arithmetic = {{"f32", "", 1e6}};
  target.setRates(ceilings);
  EXPECT_EQ(alternativesFor(shape, {}, target, true).front().kernel, "direct");
}

TEST(Estimates, WhatWasNotMeasuredStays) {
  Target target = server();
  const Rates before = target.rates;
  target.setRates({});
  EXPECT_EQ(target.rates, before);
  MachineCeilings ceilings;
  ceilings.arithmetic = {{"f32", "", 0}, {"something", "", 5}};
  ceilings.bandwidth = {{"L1", 1, 100}, {"DRAM", 1, 100}};
  target.setRates(ceilings);
  EXPECT_EQ(target.rates.f32, before.f32);
  EXPECT_EQ(target.rates.cache, before.cache);
  EXPECT_NE(target.rates.memory, before.memory);
}

TEST(Estimates, RatesFollowFromTheInstructions) {
  const Target v4 = server(), v3 = *Target::named("", "x86-64-v3", ""),
               vnni = *Target::named("", "x86-64-v4", "+avx512vnni"),
               arm = *Target::named("aarch64-unknown-linux-gnu", "neoverse-n1",
                                    "");
  EXPECT_EQ(v4.rates.f32, 2 * v3.rates.f32);
  EXPECT_EQ(v4.rates.f32, 2 * v4.rates.f64);
  EXPECT_EQ(vnni.rates.i8, 4 * vnni.rates.f32);
  EXPECT_EQ(v4.rates.i8, 2 * v4.rates.f32);
  EXPECT_EQ(arm.rates.i8, 4 * arm.rates.f32);
}

TEST(Estimates, OneRowTakesAsLongAsReadingItsWeights) {
  const Target target = server();
  const MatMulShape row = MatMulShape::dense(1, 4096, 4096);
  const double flops = 2.0 * 4096 * 4096;
  const Arithmetic f32;
  EXPECT_DOUBLE_EQ(
      alternativesFor("matmul", row, flops, f32, target)[0].seconds,
      4096.0 * 4096 * 4 / target.rates.memory);
  EXPECT_DOUBLE_EQ(
      alternativesFor("matmul", row, 1000 * flops, f32, target)[0].seconds,
      1000 * flops / target.rates.f32);
}

TEST(Estimates, ByChannelGroupsAreNotMerged) {
  for (const char *cpu : {"x86-64-v3", "x86-64-v4"}) {
    const Target target = *Target::named("", cpu, "");
    ConvolutionShape shape = convolution(96, 56, 3);
    shape.groups = 96;
    const Alternatives all = alternativesFor(shape, {}, target, true);
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0].kernel, "depthwise") << cpu;
    EXPECT_TRUE(offers(all, "direct"));
    EXPECT_GT(all[1].seconds, 2 * all[0].seconds);
  }
}

TEST(Estimates, ByChannelWholeBlocksAreComputed) {
  const Target target = server();
  auto timeOf = [&](int64_t channels, llvm::StringRef kernel) {
    ConvolutionShape shape = convolution(channels, 56, 3);
    shape.groups = channels;
    for (const Alternative &each : alternativesFor(shape, {}, target, true))
      if (each.kernel == kernel)
        return each.seconds;
    return 0.0;
  };
  EXPECT_DOUBLE_EQ(timeOf(3, "depthwise"), timeOf(16, "depthwise"));
  EXPECT_GT(timeOf(17, "depthwise"), timeOf(16, "depthwise"));
  // No fewer than all of 24 groups are whole blocks of 16.
  EXPECT_GT(timeOf(24, "direct"), timeOf(32, "direct"));
}

TEST(Estimates, OnlyKernelsThatCanAreOffered) {
  const Target target = server();
  ConvolutionShape shape = convolution(96, 56, 3);
  shape.groups = 96;
  // Bytes that are widened where they are read.
  const Arithmetic widened{ElementType::UI8, ElementType::F32,
                           ElementType::F32};
  const Alternatives byChannel = alternativesFor(shape, widened, target, true);
  ASSERT_EQ(byChannel.size(), 1u);
  EXPECT_EQ(byChannel[0].kernel, "depthwise");
  shape.hasPlanarInput = true;
  const Alternatives planar = alternativesFor(shape, {}, target, true);
  ASSERT_EQ(planar.size(), 1u);
  EXPECT_EQ(planar[0].kernel, "direct");
}

TEST(Estimates, AttentionIsFasterThanItsProducts) {
  const Target target = server();
  AttentionShape shape;
  shape.rows = shape.keys = 128;
  shape.depth = shape.width = 64;
  shape.heads.push_back({12, 1, 0, 0, 0, 0, 0});
  const double flops = 4.0 * 12 * 128 * 128 * 64;
  const Alternatives all = alternativesFor(shape, flops, target);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].kernel, "attention");
  EXPECT_GT(all[0].seconds, flops / target.rates.f32);
  // Rows see half of the keys, and what is before and behind is less, too.
  shape.isCausal = true;
  EXPECT_LT(alternativesFor(shape, flops / 2, target)[0].seconds,
            all[0].seconds);
}

/// Matrix units are one of the ways, as exact as is asked for.
TEST(Estimates, MatrixUnits) {
  const Target with = *Target::named("", "sapphirerapids", ""),
               without = *Target::named("", "sapphirerapids", "-amx-tile");
  const ElementType f32 = ElementType::F32;
  double last = 0;
  for (auto [precision, name] : {std::pair{Precision::BFloat16, "tiles-bf16"},
                                 {Precision::Default, "tiles-split3"},
                                 {Precision::Exact, "tiles-split6"}}) {
    const auto tiles = TileArithmetic::allOf(f32, f32, f32, precision);
    const ConvolutionShape shape = convolution(256, 28, 3);
    const bool allowsFast = precision != Precision::Exact;
    const Alternatives all =
        alternativesFor(shape, {}, with, allowsFast, tiles);
    EXPECT_EQ(all.front().kernel, name);
    EXPECT_TRUE(offers(all, "direct"));
    EXPECT_EQ(offers(all, "winograd"), allowsFast);
    EXPECT_GT(all.front().seconds, last);
    last = all.front().seconds;
    EXPECT_FALSE(
        offers(alternativesFor(shape, {}, without, true, tiles), name));
    const MatMulShape product = MatMulShape::dense(512, 768, 768);
    const double flops = 2.0 * 512 * 768 * 768;
    EXPECT_EQ(alternativesFor("matmul-packed", product, flops, {}, with, tiles)
                  .front()
                  .kernel,
              name);
    // A row is multiplied as fast as its weights are read, which are half as
    // many bytes in one part.
    const MatMulShape row = MatMulShape::dense(1, 768, 768);
    EXPECT_EQ(
        alternativesFor("matmul-packed", row, flops / 512, {}, with, tiles)
            .front()
            .kernel,
        precision == Precision::BFloat16 ? name : "matmul-packed");
  }
  // Three products of 1,030 GFLOP/s at most, and no less than half of that.
  const Alternatives large = alternativesFor(
      "matmul-packed", MatMulShape::dense(1024, 1024, 1024), 0x1p31, {}, with,
      TileArithmetic::allOf(f32, f32, f32, Precision::Default));
  EXPECT_GT(large.front().seconds, 0x1p31 / 1030e9);
  EXPECT_LT(large.front().seconds, 0x1p31 / 515e9);
}

/// Three products where they save enough to be worth their error.
TEST(Estimates, LessExactOnlyWhereItIsWorthIt) {
  const Target target = *Target::named("", "sapphirerapids", "");
  const ElementType f32 = ElementType::F32;
  const auto tiles = TileArithmetic::allOf(f32, f32, f32, Precision::Default);
  // Few channels take as long to be brought together as to be multiplied.
  ConvolutionShape narrow = convolution(96, 56, 1);
  narrow.outputChannels = 24;
  EXPECT_FALSE(
      offers(alternativesFor(narrow, {}, target, true, tiles), "tiles-split3"));
  // And little is saved of little.
  EXPECT_FALSE(
      offers(alternativesFor(convolution(64, 14, 1), {}, target, true, tiles),
             "tiles-split3"));
  EXPECT_EQ(alternativesFor(convolution(512, 28, 1), {}, target, true, tiles)
                .front()
                .kernel,
            "tiles-split3");
}
