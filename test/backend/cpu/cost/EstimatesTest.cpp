// Which kernel should be the fastest, and what that follows from.
//
// Covers: backend/cpu/cost AttentionEstimates BFloat16Estimates
// Covers: backend/cpu/cost ConvolutionEstimates Int8Estimates MatMulEstimates
// Covers: backend/cpu/cost ProductTimes WeightEstimates

#include "backend/cpu/cost/Estimates.h"
#include "backend/cpu/kernels/amx/TileConvolution.h"
#include "backend/cpu/kernels/amx/TileMatMul.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

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
      ASSERT_EQ(all.size(), 3u);
      EXPECT_LE(all[0].seconds, all[1].seconds);
      EXPECT_GT(all[0].seconds, 0);
    }
}

TEST(Estimates, FastConvolutionIsOfferedWhereThereIsOne) {
  const Target target = server();
  const ConvolutionShape shape = convolution(64, 56, 3);
  EXPECT_TRUE(offers(alternativesFor(shape, {}, target, true), "winograd"));
  EXPECT_FALSE(offers(alternativesFor(shape, {}, target, false), "winograd"));
  // Of bytes where machines multiply pairs of 16 bits as fast, or half as fast,
  // as bytes.
  const Target dots = *Target::named("aarch64-unknown-linux-gnu", "neoverse-n1",
                                     ""),
               older = *Target::named("aarch64-unknown-linux-gnu", "cortex-a57",
                                      "");
  for (const Target &machine : {target, dots, older})
    EXPECT_EQ(
        offers(alternativesFor(shape,
                               Arithmetic::ofBytes(ElementType::UI8,
                                                   ElementType::I8, machine),
                               machine, true),
               "winograd"),
        !machine.hasSignedDotProduct);
  EXPECT_FALSE(offers(
      alternativesFor(shape,
                      {ElementType::I32, ElementType::I32, ElementType::I32},
                      target, true),
      "winograd"));
  EXPECT_FALSE(offers(alternativesFor(convolution(64, 56, 5), {}, target, true),
                      "winograd"));
  ConvolutionShape strided = shape;
  strided.strideHeight = 2;
  EXPECT_FALSE(offers(alternativesFor(strided, {}, target, true), "winograd"));
}

/// Where small code is wanted, what keeps fewer bytes stands first unless it
/// takes much longer.
TEST(Estimates, SmallCodeHasFewBytes) {
  Target target = server();
  const ConvolutionShape shape = convolution(64, 56, 3);
  const Arithmetic bytes = Arithmetic::ofBytes(target);
  EXPECT_EQ(alternativesFor(shape, {}, target, true).front().kernel,
            "winograd");
  target.isSmall = true;
  for (const Arithmetic &arithmetic : {Arithmetic(), bytes}) {
    const Alternatives all = alternativesFor(shape, arithmetic, target, true);
    EXPECT_EQ(all.front().kernel, "direct");
    EXPECT_TRUE(offers(all, "winograd"));
  }
  // Bytes rather than floats.
  ConvolutionShape first = convolution(64, 56, 3);
  first.inputChannels = 2;
  EXPECT_EQ(alternativesForBytes(first, bytes, target).front().kernel, "bytes");
  target.rates.i8 = target.rates.f32 / 100;
  EXPECT_EQ(alternativesForBytes(first, bytes, target).front().kernel, "f32");
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

/// Small images wait for the weights of large tiles.
TEST(Estimates, LowTilesAreForSmallImagesOfManyChannels) {
  const Target halves = *Target::named("", "znver4", ""),
               whole = *Target::named("", "znver5", "");
  EXPECT_EQ(2 * halves.rates.f32, whole.rates.f32);
  auto fastest = [&](int64_t channels, int64_t size) {
    return alternativesFor(convolution(channels, size, 3), {}, halves, true)
        .front()
        .kernel.str();
  };
  EXPECT_EQ(fastest(512, 7), "winograd-2x4");
  EXPECT_EQ(fastest(512, 28), "winograd");
  EXPECT_EQ(fastest(64, 56), "winograd");
  // Two rows are half of a tile of four.
  ConvolutionShape low = convolution(64, 2, 3);
  low.inputWidth = low.outputWidth = 200;
  EXPECT_EQ(alternativesFor(low, {}, halves, true).front().kernel,
            "winograd-2x4");
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
  // Many take as long as their products.
  EXPECT_NEAR(alternativesFor("matmul", MatMulShape::dense(1008, 4096, 4096),
                              1008 * flops, f32, target)[0]
                  .seconds,
              1008 * flops / target.rates.f32,
              0.02 * 1008 * flops / target.rates.f32);
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

namespace {
AttentionShape attention(int64_t heads, int64_t rows, int64_t keys,
                         int64_t depth) {
  AttentionShape shape;
  shape.rows = rows;
  shape.keys = keys;
  shape.depth = shape.width = depth;
  shape.heads.push_back({heads, 1, 0, 0, 0, 0, 0});
  return shape;
}
} // namespace

TEST(Estimates, AttentionIsFasterThanItsProducts) {
  for (const char *cpu : {"x86-64-v3", "x86-64-v4"}) {
    const Target target = *Target::named("", cpu, "");
    for (int64_t rows : {2, 5, 16, 128})
      for (int64_t keys : {48, 77, 128, 600}) {
        const Alternatives all =
            alternativesFor(attention(12, rows, keys, 64), target);
        ASSERT_EQ(all.size(), 2u);
        EXPECT_EQ(all[0].kernel, "attention") << cpu << rows << " x " << keys;
        EXPECT_LE(all[0].seconds, all[1].seconds);
      }
  }
}

/// Keys would be packed for one row, and are read in the order of memory
/// otherwise.
TEST(Estimates, OneRowOfAttentionIsReductions) {
  const Target target = server();
  for (int64_t keys : {512, 2048})
    EXPECT_EQ(
        alternativesFor(attention(12, 1, keys, 64), target).front().kernel,
        "products")
        << keys;
  EXPECT_EQ(alternativesFor(attention(64, 8, 1, 64), target).front().kernel,
            "products");
  // Keys of few elements are summed up one by one.
  EXPECT_EQ(alternativesFor(attention(12, 1, 512, 8), target).front().kernel,
            "attention");
}

TEST(Estimates, RowsOfAttentionSeeHalfOfTheKeys) {
  const Target target = server();
  AttentionShape shape = attention(12, 1024, 1024, 64);
  const double whole = alternativesFor(shape, target)[0].seconds;
  EXPECT_GT(whole, 0.5 * 4.0 * 12 * 1024 * 1024 * 64 / target.rates.f32);
  shape.isCausal = true;
  EXPECT_LT(alternativesFor(shape, target)[0].seconds, 0.6 * whole);
  // Those of one block are all computed.
  AttentionShape small = attention(12, 128, 128, 64);
  const double all = alternativesFor(small, target)[0].seconds;
  small.isCausal = true;
  EXPECT_EQ(alternativesFor(small, target)[0].seconds, all);
}

namespace {
Alternatives ofWeights(int64_t rows, int64_t size, ElementType type,
                       const Target &target, int64_t block = 0) {
  MatMulShape shape = MatMulShape::dense(rows, size, size);
  shape.blocks.size = block;
  if (block)
    shape.blocks.scale = ElementType::F32;
  return alternativesForWeights(
      shape,
      Arithmetic::ofNarrow(ElementType::F32, type, ElementType::F32, target),
      target);
}
} // namespace

TEST(Estimates, WeightsOfAProductStayNarrow) {
  for (const char *cpu : {"x86-64-v3", "x86-64-v4"}) {
    const Target target = *Target::named("", cpu, "");
    for (ElementType type : {ElementType::I8, ElementType::I4,
                             ElementType::BF16, ElementType::F16})
      for (int64_t rows : {1, 4, 16, 32, 512}) {
        const Alternatives all = ofWeights(rows, 768, type, target);
        ASSERT_EQ(all.size(), 2u);
        EXPECT_EQ(all[0].kernel, "narrow-weights") << cpu << " " << rows;
      }
    // One row is about as fast as its weights are read.
    const Alternatives row = ofWeights(1, 4096, ElementType::I8, target);
    EXPECT_GT(row[1].seconds, 2.5 * row[0].seconds) << cpu;
  }
}

/// What stays in the first-level cache anyway is not read faster.
TEST(Estimates, FewWeightsOfFewRowsAreWidened) {
  const Target target = server();
  EXPECT_EQ(ofWeights(1, 32, ElementType::I8, target).front().kernel,
            "wide-weights");
  EXPECT_EQ(ofWeights(1, 256, ElementType::I8, target).front().kernel,
            "narrow-weights");
}

TEST(Estimates, ScalesOfBlocksCost) {
  const Target target = server();
  EXPECT_GT(ofWeights(16, 768, ElementType::I4, target, 32)[0].seconds,
            ofWeights(16, 768, ElementType::I4, target)[0].seconds);
  EXPECT_GT(ofWeights(16, 768, ElementType::I4, target)[0].seconds,
            ofWeights(16, 768, ElementType::I8, target)[0].seconds);
}

TEST(Estimates, WeightsOfConvolutions) {
  const ElementType f32 = ElementType::F32, bf16 = ElementType::BF16,
                    i8 = ElementType::I8;
  auto chosen = [&](const Target &target, int64_t channels, int64_t size,
                    llvm::ArrayRef<ElementType> types,
                    llvm::StringRef kernel = "direct") {
    const Alternatives all = alternativesForWeights(
        convolution(channels, size, 1), types, kernel, target);
    EXPECT_EQ(all.size(), types.size());
    return all.front().kernel;
  };
  const Target wide = server(), few = *Target::named("", "x86-64-v3", "");
  // Large tiles hide what widening halves takes; what is large is stored in as
  // few bits as it has.
  EXPECT_EQ(chosen(wide, 128, 28, {f32, bf16}), "weights-bf16");
  EXPECT_EQ(chosen(wide, 128, 28, {f32, bf16, i8}), "weights-bf16");
  EXPECT_EQ(chosen(wide, 1024, 14, {f32, bf16, i8}), "weights-i8");
  // Where vectors have few registers, tiles have few rows.
  EXPECT_EQ(chosen(few, 128, 28, {f32, bf16}), "weights-f32");
  EXPECT_EQ(chosen(few, 1024, 14, {f32, bf16}), "weights-bf16");
  // Tiles take as few parts as numbers have, however many pixels there are.
  for (int64_t size : {1, 14})
    for (const Target &target : {wide, few}) {
      EXPECT_EQ(chosen(target, 64, size, {f32, bf16, i8}, "tiles-split3"),
                "weights-i8");
      EXPECT_EQ(chosen(target, 64, size, {f32, bf16}, "tiles-split3"),
                "weights-bf16");
    }
}

TEST(Estimates, BytesAreMultipliedAsSuch) {
  for (const char *features : {"", "+avx512vnni"}) {
    const Target target = *Target::named("", "x86-64-v4", features);
    const Arithmetic bytes =
        Arithmetic::ofBytes(ElementType::UI8, ElementType::I8, target);
    for (int64_t rows : {1, 16, 196}) {
      const Alternatives all = alternativesForBytes(
          MatMulShape::dense(rows, 256, 256), bytes, target);
      ASSERT_EQ(all.size(), 2u);
      EXPECT_EQ(all[0].kernel, "bytes");
      EXPECT_GT(all[1].seconds, 1.3 * all[0].seconds) << rows;
    }
    EXPECT_EQ(alternativesForBytes(convolution(64, 28, 3), bytes, target)
                  .front()
                  .kernel,
              "bytes");
  }
  // Both computed: little depth does not pay for packing columns in words.
  const Target dots = *Target::named("", "x86-64-v4", "+avx512vnni");
  const Arithmetic computed =
      Arithmetic::ofBytes(ElementType::UI8, ElementType::I8, dots);
  auto choice = [&](int64_t rows, int64_t depth) {
    MatMulShape shape = MatMulShape::dense(rows, 128, depth);
    shape.bLayout = MatMulShape::BLayout::Rows;
    return alternativesForBytes(shape, computed, dots).front().kernel;
  };
  EXPECT_EQ(choice(128, 64), "bytes");
  EXPECT_EQ(choice(2, 5), "f32");
  // Groups of four of which three are zeros are no faster than one.
  Target slow = *Target::named("", "x86-64-v4", "+avx512vnni");
  slow.rates.i8 = slow.rates.f32;
  const Arithmetic bytes =
      Arithmetic::ofBytes(ElementType::UI8, ElementType::I8, slow);
  EXPECT_EQ(alternativesForBytes(MatMulShape::dense(196, 256, 1), bytes, slow)
                .front()
                .kernel,
            "f32");
}

TEST(Estimates, WhatDoesNotFillATileTakesLonger) {
  Target target = server();
  target.rates.memory = 1e15;
  auto ofElement = [&](int64_t rows, int64_t columns) {
    const double flops = 2.0 * double(rows) * double(columns) * 64;
    return alternativesFor("matmul", MatMulShape::dense(rows, columns, 64),
                           flops, Arithmetic(), target)[0]
               .seconds /
           flops;
  };
  EXPECT_GT(ofElement(1, 64), 1.2 * ofElement(128, 64));
  EXPECT_DOUBLE_EQ(17 * ofElement(128, 17), 32 * ofElement(128, 32));
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
    const ConvolutionShape shape = convolution(512, 14, 3);
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
    // A row is multiplied as fast as its weights are read. What computes it is
    // what computes many rows, unless tiles have more bytes to read for it.
    const MatMulShape row = MatMulShape::dense(1, 768, 768);
    EXPECT_EQ(
        alternativesFor("matmul-packed", row, flops / 512, {}, with, tiles)
            .front()
            .kernel,
        precision == Precision::Exact ? "matmul-packed" : name);
    MatMulShape open = MatMulShape::dense(rowsOfChoice, 768, 768);
    open.dynamicRows = {-1};
    EXPECT_EQ(alternativesFor("matmul-packed", open, 2 * flops, {}, with, tiles)
                  .front()
                  .kernel,
              name);
  }
  // Three products of 1,030 GFLOP/s at most, and no less than half of that.
  const Alternatives large = alternativesFor(
      "matmul-packed", MatMulShape::dense(1024, 1024, 1024), 0x1p31, {}, with,
      TileArithmetic::allOf(f32, f32, f32, Precision::Default));
  EXPECT_GT(large.front().seconds, 0x1p31 / 1030e9);
  EXPECT_LT(large.front().seconds, 0x1p31 / 515e9);
}

/// What computes rows by weights is the same for any number of them, also of
/// those that are open.
TEST(Estimates, RowsByWeightsHaveOneKernel) {
  const Target target = *Target::named("", "sapphirerapids", "");
  const ElementType f32 = ElementType::F32;
  for (auto [n, k] : {std::pair<int64_t, int64_t>{10, 64},
                      {128, 784},
                      {256, 256},
                      {1000, 2048},
                      {768, 3072}})
    for (ElementType weights : {f32, ElementType::BF16}) {
      const auto tiles =
          TileArithmetic::allOf(f32, weights, f32, Precision::Default);
      const Arithmetic arithmetic{.rhs = weights};
      auto kernelOf = [&](const MatMulShape &shape) {
        const double flops = 2.0 * double(shape.m * shape.n * shape.k);
        return alternativesFor("matmul-packed", shape, flops, arithmetic,
                               target, tiles)
            .front()
            .kernel;
      };
      MatMulShape open = MatMulShape::dense(rowsOfChoice, n, k);
      open.dynamicRows = {-1};
      for (int64_t m : {1, 7, 64, 500, 5000})
        EXPECT_EQ(kernelOf(MatMulShape::dense(m, n, k)), kernelOf(open))
            << m << "x" << n << "x" << k;
    }
  // Few rows would wait for twice as many bytes.
  MatMulShape open = MatMulShape::dense(rowsOfChoice, 768, 3072);
  open.dynamicRows = {-1};
  const Alternatives narrow = alternativesFor(
      "matmul-packed", open, 1e9, {.rhs = ElementType::I8}, target,
      TileArithmetic::allOf(f32, ElementType::I8, f32, Precision::Default));
  EXPECT_EQ(narrow.size(), 1u);
}

/// Rows that several tasks take are brought together once, if that is worth a
/// step before.
TEST(Estimates, SharedRowsOfMatrixUnits) {
  const Target target = *Target::named("", "sapphirerapids", "");
  const ElementType f32 = ElementType::F32;
  const auto tiles = *TileArithmetic::of(f32, f32, f32, Precision::Default);
  auto isShared = [&](int64_t m, int64_t n, int64_t k) {
    return TileMatMul(MatMulShape::dense(m, n, k), target, tiles).cutTasks() >
           0;
  };
  EXPECT_TRUE(isShared(128, 768, 768));
  // Each task has rows of its own; and little is brought together.
  EXPECT_FALSE(isShared(4096, 64, 64));
  EXPECT_FALSE(isShared(1, 768, 768));
  EXPECT_GT(TileConvolution(convolution(256, 14, 3), target, tiles).cutTasks(),
            0);
  EXPECT_EQ(TileConvolution(convolution(64, 56, 3), target, tiles).cutTasks(),
            0);
}

TEST(Estimates, AttentionOnMatrixUnits) {
  const Target target = *Target::named("", "sapphirerapids", ""),
               without = *Target::named("", "sapphirerapids", "-amx-tile");
  auto kernelOf = [](const AttentionShape &shape, const Target &machine,
                     Precision precision,
                     const AttentionTiles::Numbers &numbers = {}) {
    return alternativesFor(shape, machine,
                           AttentionTiles::allOf(precision, numbers))
        .front()
        .kernel;
  };
  using enum Precision;
  // Three products save less than a quarter, unless vectors are slower.
  Target slow = target;
  slow.rates.f32 *= 0.6;
  for (int64_t depth : {64, 128}) {
    AttentionShape shape = attention(12, 128, 128, depth);
    shape.queryRow = shape.keyRow = depth;
    EXPECT_EQ(kernelOf(shape, target, Default), "attention");
    EXPECT_EQ(kernelOf(shape, slow, Default), "tiles-attention-split3");
    EXPECT_EQ(kernelOf(shape, target, BFloat16), "tiles-attention-bf16");
    // Six products take longer than those of vectors.
    EXPECT_EQ(kernelOf(shape, target, Exact), "attention");
    EXPECT_EQ(kernelOf(shape, without, Default), "attention");
    // Numbers of bf16 are multiplied exactly by weights in three parts.
    const auto half = ElementType::BF16;
    EXPECT_EQ(kernelOf(shape, target, Default, {half, half, half}),
              "tiles-attention-split3");
    // Whatever the number of rows and keys.
    shape.rows = 7;
    shape.keys = 300;
    EXPECT_EQ(kernelOf(shape, slow, Default), "tiles-attention-split3");
    // Rows that do not lie in lines are left to vectors.
    shape.queryRow = 3;
    shape.queryColumn = 2;
    EXPECT_EQ(kernelOf(shape, slow, Default), "attention");
  }
}

/// What sums floats does not follow from the sizes of images; what sums bytes
/// may.
TEST(Estimates, ImagesOfAnySizeHaveTheSameKernel) {
  const Target target = *Target::named("", "sapphirerapids", "");
  using enum ElementType;
  for (Precision precision :
       {Precision::Default, Precision::Exact, Precision::BFloat16})
    for (ElementType weights : {F32, BF16, F16, I8}) {
      const auto tiles = TileArithmetic::allOf(F32, weights, F32, precision);
      const Arithmetic arithmetic{F32, weights, F32};
      for (int64_t channels : {32, 48, 64, 128, 240, 256, 512})
        for (int64_t window : {1, 3}) {
          std::set<std::string> kernels;
          for (int64_t size : {4, 7, 14, 28, 56, 112, 224}) {
            const auto all =
                alternativesFor(convolution(channels, size, window), arithmetic,
                                target, weights == F32, tiles);
            kernels.insert(all.front().kernel.str());
          }
          EXPECT_EQ(kernels.size(), 1u)
              << channels << " channels, window of " << window;
        }
    }
  const auto ofBytes = TileArithmetic::allOf(UI8, I8, I32, Precision::Default);
  const Alternatives bytes = alternativesFor(
      convolution(256, 28, 3), Arithmetic::ofBytes(UI8, I8, target), target,
      false, ofBytes);
  EXPECT_EQ(bytes.front().kernel, "tiles-i8");
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
  // Winograd's method is nearer, and nearly as fast; where that is not allowed,
  // or takes much longer, it does not count.
  const ConvolutionShape large = convolution(240, 28, 3);
  EXPECT_EQ(alternativesFor(large, {}, target, true, tiles).front().kernel,
            "winograd");
  EXPECT_EQ(alternativesFor(large, {}, target, false, tiles).front().kernel,
            "tiles-split3");
  EXPECT_EQ(alternativesFor(convolution(512, 14, 3), {}, target, true, tiles)
                .front()
                .kernel,
            "tiles-split3");
}
