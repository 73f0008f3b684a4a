// Matrix products by the instructions of matrix units, which are emulated, by
// every arithmetic against the definition.
//
// Covers: backend/cpu/kernels/amx PackTiles StageTiles TileArithmetic
// Covers: backend/cpu/kernels/amx TileInstructions TileProduct TileRegisters
// Covers: backend/cpu/kernels/amx TileVectors TileMatMul

#include "Sweep.h"
#include "backend/cpu/TileTests.h"
#include "backend/cpu/kernels/amx/TileMatMul.h"

#include <cmath>
#include <limits>
#include <random>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;
using sinter::test::Sweep;

namespace {

using enum ElementType;

constexpr float infinity = std::numeric_limits<float>::infinity(),
                largest = std::numeric_limits<float>::max();

struct Product {
  int64_t m, n, k;
};

/// c = a * b of one size, compiled once.
class Multiplier {
public:
  Multiplier(const TileArithmetic &arithmetic, const Target &target,
             const Product &size)
      : arithmetic(arithmetic), size(size),
        product(MatMulShape::dense(size.m, size.n, size.k), target, arithmetic),
        a(arithmetic.lhs, {size.m * size.k}),
        packed(bufferOfBytes(arithmetic.rhs, product.packedBytes())),
        scratch(ElementType::I8, {product.scratchBytes()}),
        c(arithmetic.accumulator(), {size.m * size.n}),
        kernel(target, {&a, &packed, &scratch, &c},
               {product.tasks(),
                [&](OpBuilder &builder, Location loc, Value task,
                    ValueRange memory) {
                  product.build(builder, loc, task,
                                {memory[0], memory[1], memory[3], memory[2]});
                }},
               {product.cutTasks(), [&](OpBuilder &builder, Location loc,
                                        Value task, ValueRange memory) {
                  product.buildCut(builder, loc, task, memory[0], memory[2]);
                }}) {}

  /// Whether rows are brought together before.
  bool isShared() const { return product.cutTasks() > 0; }

  /// Returns what was executed.
  TileCounts run(Tensor &a, const Tensor &b, Tensor &c) {
    product.pack(b.data(), size.n, 1, packed.mutableBytes());
    return kernel.run({&a, &packed, &scratch, &c});
  }

private:
  TileArithmetic arithmetic;
  Product size;
  TileMatMul product;
  Tensor a, packed, scratch, c;
  TileKernel kernel;
};

TileCounts multiply(const TileArithmetic &arithmetic, const Target &target,
                    const Product &size, Tensor &a, Tensor &b, Tensor &c) {
  return Multiplier(arithmetic, target, size).run(a, b, c);
}

void expectProduct(const TileArithmetic &arithmetic, const Product &size,
                   const Tensor &a, const Tensor &b, const Tensor &c) {
  for (int64_t i = 0; i < size.m; ++i)
    for (int64_t j = 0; j < size.n; ++j) {
      double sum = 0, magnitude = 0;
      for (int64_t d = 0; d < size.k; ++d) {
        const double product =
            a.toDouble(i * size.k + d) * b.toDouble(d * size.n + j);
        sum += product;
        magnitude += std::abs(product);
      }
      ASSERT_NEAR(c.toDouble(i * size.n + j), sum,
                  tileError(arithmetic, size.k) * magnitude)
          << "row " << i << ", column " << j;
    }
}

std::string textOf(const TileArithmetic &arithmetic, const Product &size) {
  return arithmetic.name().str() + " of " + std::string(name(arithmetic.lhs)) +
         " by " + std::string(name(arithmetic.rhs)) + ": " +
         std::to_string(size.m) + "x" + std::to_string(size.n) + "x" +
         std::to_string(size.k);
}

void check(const TileArithmetic &arithmetic, const Target &target,
           const Product &size) {
  SCOPED_TRACE(textOf(arithmetic, size));
  Tensor a = randomTensor(arithmetic.lhs, size.m * size.k, 1);
  Tensor b = randomTensor(arithmetic.rhs, size.k * size.n, 2);
  Tensor c(arithmetic.accumulator(), {size.m * size.n});
  const TileCounts counts = multiply(arithmetic, target, size, a, b, c);
  expectProduct(arithmetic, size, a, b, c);
  EXPECT_EQ(counts.configurations, 1);
  EXPECT_EQ(counts.releases, 1);
  const int64_t blocks = arithmetic.blockElements(), tiles = (size.m + 15) / 16;
  EXPECT_EQ(counts.products, tiles * ((size.n + 15) / 16) *
                                 ((size.k + blocks - 1) / blocks) *
                                 int64_t(arithmetic.products().size()));
}

TEST(TileProduct, Products) {
  WITH_TILES(target);
  Sweep sweep(2);
  for (const TileArithmetic &arithmetic : tileArithmetics())
    for (const Product &size : {Product{1, 1, 1},
                                {1, 40, 37},
                                {5, 33, 6},
                                {16, 16, 32},
                                {17, 70, 65},
                                {33, 32, 130},
                                {49, 31, 64}})
      if (sweep.takesNext())
        check(arithmetic, target, size);
}

/// Several tasks of rows and of columns.
TEST(TileProduct, TasksOfRowsAndColumns) {
  WITH_TILES(target);
  Target small = target;
  small.l2Bytes = 64 << 10;
  for (const Target &each : {small, target})
    for (const Product &size : {Product{200, 40, 96}, {20, 300, 1000}}) {
      check(*TileArithmetic::of(F32, F32, F32, Precision::Default), each, size);
      check(*TileArithmetic::of(UI8, I8, I32, Precision::Default), each, size);
    }
  const TileMatMul product(
      MatMulShape::dense(200, 40, 96), small,
      *TileArithmetic::of(F32, F32, F32, Precision::Default));
  EXPECT_GT(product.tasks(), 1);
}

/// Rows that several tasks take are brought together once.
TEST(TileProduct, RowsThatAreSharedByTasks) {
  WITH_TILES(target);
  const Target slow = withSlowCache(target);
  Sweep sweep(2);
  for (const TileArithmetic &arithmetic : tileArithmetics())
    for (const Product &size :
         {Product{1, 300, 70}, {37, 140, 33}, {49, 520, 64}, {150, 90, 130}})
      if (sweep.takesNext()) {
        EXPECT_TRUE(Multiplier(arithmetic, slow, size).isShared());
        check(arithmetic, slow, size);
      }
}

/// One number slows those tasks down that read rows near it.
TEST(TileProduct, UnusualRowsAmongSharedOnes) {
  WITH_TILES(target);
  Target slow = withSlowCache(target);
  slow.l2Bytes = 64 << 10;
  for (Precision precision :
       {Precision::Default, Precision::Exact, Precision::BFloat16}) {
    const TileArithmetic arithmetic =
        *TileArithmetic::of(F32, F32, F32, precision);
    const Product size{200, 150, 70};
    SCOPED_TRACE(textOf(arithmetic, size));
    Multiplier multiplier(arithmetic, slow, size);
    ASSERT_TRUE(multiplier.isShared());
    Tensor a = randomTensor(F32, size.m * size.k, 1),
           b = randomTensor(F32, size.k * size.n, 2), c(F32, {size.m * size.n});
    const int64_t products = multiplier.run(a, b, c).products;
    a.set<float>(150 * size.k + 37, 0x1p100f);
    a.set<float>(150 * size.k + 8, -0x1p31f);
    const TileCounts counts = multiplier.run(a, b, c);
    EXPECT_GT(counts.products, 0);
    EXPECT_LT(counts.products, products);
    expectProduct(arithmetic, size, a, b, c);
    // And with weights that cannot be cut: whole rows on vectors.
    b.set<float>(5, 0x1p40f);
    EXPECT_EQ(multiplier.run(a, b, c).products, 0);
    expectProduct(arithmetic, size, a, b, c);
    a.set<float>(0, infinity);
    multiplier.run(a, b, c);
    EXPECT_EQ(std::abs(c.at<float>(0)), infinity);
    EXPECT_TRUE(std::isfinite(c.at<float>(size.n)));
  }
}

TEST(TileProduct, RandomShapes) {
  WITH_TILES(target);
  std::mt19937 generator(11);
  const std::vector<TileArithmetic> all = tileArithmetics();
  auto upTo = [&](int limit) { return int64_t(generator() % limit + 1); };
  for (int i = 0; i < 12; ++i) {
    const TileArithmetic &arithmetic = all[generator() % all.size()];
    check(arithmetic, target, {upTo(70), upTo(100), upTo(150)});
  }
}

/// Bytes are exact to the bit, also where sums wrap.
TEST(TileProduct, SumsOfBytesWrap) {
  WITH_TILES(target);
  const TileArithmetic arithmetic =
      *TileArithmetic::of(UI8, I8, I32, Precision::Default);
  const Product size{1, 1, 70000};
  Tensor a(UI8, {size.k}), b(I8, {size.k}), c(I32, {1});
  for (int64_t i = 0; i < size.k; ++i) {
    a.set<uint8_t>(i, 255);
    b.set<int8_t>(i, -128);
  }
  multiply(arithmetic, target, size, a, b, c);
  EXPECT_EQ(c.at<int32_t>(0), int32_t(uint32_t(int64_t(-255) * 128 * size.k)));
}

/// Numbers of f16 are two parts, and four products of them are exact.
TEST(TileProduct, HalfWeightsAreExact) {
  WITH_TILES(target);
  const TileArithmetic arithmetic =
      *TileArithmetic::of(F32, F16, F32, Precision::Exact);
  const Product size{4, 20, 1};
  Tensor half = randomTensor(F16, size.m * size.k, 1), a(F32, {size.m}),
         b = randomTensor(F16, size.n, 2), c(F32, {size.m * size.n});
  for (int64_t i = 0; i < size.m; ++i)
    a.set<float>(i, float(half.toDouble(i)));
  multiply(arithmetic, target, size, a, b, c);
  for (int64_t i = 0; i < size.m; ++i)
    for (int64_t j = 0; j < size.n; ++j)
      EXPECT_EQ(c.toDouble(i * size.n + j),
                double(float(a.toDouble(i) * b.toDouble(j))));
}

/// What f32 arithmetic makes of one product, which tiles alone would not.
class SpecialProduct {
public:
  SpecialProduct(Precision precision, const Target &target)
      : arithmetic(*TileArithmetic::of(F32, F32, F32, precision)),
        multipliers{Multiplier(arithmetic, target, size),
                    Multiplier(arithmetic, withSlowCache(target), size)} {
    EXPECT_FALSE(multipliers[0].isShared());
    EXPECT_TRUE(multipliers[1].isShared());
  }

  void expectAsF32(float x, float weight) {
    SCOPED_TRACE(std::to_string(x) + " by " + std::to_string(weight));
    // A row of its own, beside one of ordinary numbers.
    Tensor a(F32, {size.m * size.k}), b(F32, {size.k * size.n}),
        c(F32, {size.m * size.n});
    a.set<float>(3, x);
    for (int64_t i = 0; i < size.k; ++i)
      a.set<float>(size.k + i, 1);
    b.set<float>(3 * size.n + 2, weight);
    for (Multiplier &multiplier : multipliers) {
      multiplier.run(a, b, c);
      expectNear(c.at<float>(2), x * weight);
    }
  }

private:
  void expectNear(float got, float expected) {
    // And what rounding to a denormal number takes.
    const double error =
        tileError(arithmetic, 1) * std::abs(double(expected)) + 0x1p-149;
    if (std::isnan(expected))
      EXPECT_TRUE(std::isnan(got)) << got;
    else if (std::isinf(expected))
      EXPECT_EQ(got, expected);
    else
      EXPECT_NEAR(got, expected, error);
  }

  static constexpr Product size{2, 50, 40};
  TileArithmetic arithmetic;
  Multiplier multipliers[2]; ///< Each task brings rows together, and none does.
};

TEST(TileProduct, Infinities) {
  WITH_TILES(target);
  for (Precision precision : {Precision::Default, Precision::Exact}) {
    SpecialProduct product(precision, target);
    for (float weight : {1.0f, -0.37f, 1e30f}) {
      product.expectAsF32(infinity, weight);
      product.expectAsF32(-infinity, weight);
      product.expectAsF32(weight, infinity);
      product.expectAsF32(weight, -infinity);
    }
  }
}

TEST(TileProduct, NotANumber) {
  WITH_TILES(target);
  for (Precision precision : {Precision::Default, Precision::Exact}) {
    SpecialProduct product(precision, target);
    // One whose upper half alone would be an infinity.
    for (float nan : {std::nanf(""), std::bit_cast<float>(0x7f800001u)}) {
      product.expectAsF32(nan, 0.5f);
      product.expectAsF32(0.5f, nan);
    }
  }
}

TEST(TileProduct, LargestNumbers) {
  WITH_TILES(target);
  for (Precision precision : {Precision::Default, Precision::Exact}) {
    SpecialProduct product(precision, target);
    for (float other : {1.0f, -0.75f, 1e-30f, 2.0f}) {
      product.expectAsF32(largest, other);
      product.expectAsF32(other, -largest);
    }
  }
}

TEST(TileProduct, DenormalNumbers) {
  WITH_TILES(target);
  for (Precision precision : {Precision::Default, Precision::Exact}) {
    SpecialProduct product(precision, target);
    for (float tiny : {1e-39f, -3e-45f, 1.3e-38f, 4e-30f})
      for (float other : {1e30f, -7e37f, 1.1f, 1e9f}) {
        // A denormal number by a large one is an ordinary one.
        product.expectAsF32(tiny, other);
        product.expectAsF32(other, tiny);
      }
  }
}

/// Rounding to the only part does not make infinities of the largest numbers.
TEST(TileProduct, LargestNumbersInOnePart) {
  WITH_TILES(target);
  SpecialProduct product(Precision::BFloat16, target);
  product.expectAsF32(largest, 0.5f);
  product.expectAsF32(0.5f, largest);
}

/// Small numbers beside others keep their digits.
TEST(TileProduct, SmallNumbersBesideOthers) {
  WITH_TILES(target);
  const TileArithmetic arithmetic =
      *TileArithmetic::of(F32, F32, F32, Precision::Default);
  const Product size{2, 16, 64};
  Tensor a = randomTensor(F32, size.m * size.k, 1),
         b = randomTensor(F32, size.k * size.n, 2), c(F32, {size.m * size.n});
  for (int64_t i = 0; i < size.k; ++i)
    a.mutableValues<float>()[i] *= 1e-37f;
  const TileCounts counts = multiply(arithmetic, target, size, a, b, c);
  EXPECT_GT(counts.products, 0);
  expectProduct(arithmetic, size, a, b, c);
}

/// What is not usual leaves the tiles alone.
TEST(TileProduct, UnusualNumbersAreMultipliedOnVectors) {
  WITH_TILES(target);
  const TileArithmetic arithmetic =
      *TileArithmetic::of(F32, F32, F32, Precision::Default);
  const Product size{33, 40, 70};
  for (float scale : {1e10f, 1e20f}) {
    for (bool isOfWeights : {false, true}) {
      Tensor a = randomTensor(F32, size.m * size.k, 1),
             b = randomTensor(F32, size.k * size.n, 2),
             c(F32, {size.m * size.n});
      Tensor &scaled = isOfWeights ? b : a;
      for (int64_t i = 0; i < scaled.size(); ++i)
        scaled.mutableValues<float>()[i] *= scale;
      EXPECT_EQ(multiply(arithmetic, target, size, a, b, c).products, 0);
      expectProduct(arithmetic, size, a, b, c);
    }
  }
}

TEST(TileProduct, AllZeros) {
  WITH_TILES(target);
  const TileArithmetic arithmetic =
      *TileArithmetic::of(F32, F32, F32, Precision::Default);
  const Product size{3, 5, 7};
  Tensor a(F32, {21}), b = randomTensor(F32, 35, 2), c(F32, {15});
  EXPECT_GT(multiply(arithmetic, target, size, a, b, c).products, 0);
  for (int64_t i = 0; i < 15; ++i)
    EXPECT_EQ(c.at<float>(i), 0);
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

size_t occurrences(const std::string &text, const std::string &what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + 1))
    ++count;
  return count;
}

TEST(TileProduct, Assembly) {
  const Target target =
      *Target::named("x86_64-unknown-linux-gnu", "sapphirerapids", "");
  for (const TileArithmetic &arithmetic : tileArithmetics()) {
    const Product size{49, 70, 100};
    SCOPED_TRACE(textOf(arithmetic, size));
    const TileMatMul product(MatMulShape::dense(size.m, size.n, size.k), target,
                             arithmetic);
    KernelRunner runner(target);
    MLIRContext *context = &runner.context();
    auto buffer = [&](ElementType type, int64_t elements, bool isWritten) {
      return KernelBuffer{
          MemRefType::get({elements}, storedType(type, context)), isWritten};
    };
    KernelBuffer buffers[] = {
        buffer(arithmetic.lhs, size.m * size.k, false),
        buffer(arithmetic.rhs,
               product.packedBytes() / int64_t(byteSize(arithmetic.rhs)),
               false),
        buffer(I8, product.scratchBytes(), true),
        buffer(arithmetic.accumulator(), size.m * size.n, true)};
    createKernel(
        runner.module(), UnknownLoc::get(context), "kernel", buffers,
        [&](OpBuilder &builder, Location loc, Value task, ValueRange memory) {
          product.build(builder, loc, task,
                        {memory[0], memory[1], memory[3], memory[2]});
        });
    std::string assembly;
    CodegenDumps dumps;
    dumps.assembly = &assembly;
    std::vector<std::string> features;
    Result<ObjectFile> object =
        cpu::compile(runner.module(), target, dumps, &features);
    ASSERT_TRUE(object) << object.error().message();
    EXPECT_EQ(features, (std::vector<std::string>{
                            arithmetic.isOfBytes() ? "amx-int8" : "amx-bf16",
                            "amx-tile"}));
    const std::string sign[] = {arithmetic.lhs == UI8 ? "u" : "s",
                                arithmetic.rhs == UI8 ? "u" : "s"};
    const std::string instruction =
        arithmetic.isOfBytes() ? "tdpb" + sign[0] + sign[1] + "d" : "tdpbf16ps";
    // Two by two tiles; one by two for the last rows, and the same for the
    // last panel, of one.
    EXPECT_GE(occurrences(assembly, instruction),
              arithmetic.products().size() * 4);
    EXPECT_EQ(occurrences(assembly, "ldtilecfg"), 1u);
    EXPECT_EQ(occurrences(assembly, "tilerelease"), 1u);
    // Registers are not saved to the stack and brought back.
    EXPECT_EQ(occurrences(assembly, "tilestored"),
              occurrences(assembly, "tilezero"));
  }
}

/// As near as f32 are three parts of numbers that have as many, and whatever
/// numbers have no more parts than are multiplied.
TEST(TileArithmetic, SaysWhatIsExact) {
  using Numbers = std::optional<ElementType>;
  auto isExact = [](Numbers lhs, Numbers rhs, Precision precision,
                    ElementType weights = F32) {
    return TileArithmetic::of(F32, weights, F32, precision, {lhs, rhs})
        ->isExact();
  };
  for (ElementType weights : {F32, F16, BF16, I8}) {
    EXPECT_TRUE(isExact({}, {}, Precision::Exact, weights));
    EXPECT_FALSE(isExact({}, {}, Precision::Default, weights));
    EXPECT_FALSE(isExact({}, {}, Precision::BFloat16, weights));
    EXPECT_EQ(isExact(F16, {}, Precision::Default, weights), weights != F32);
  }
  EXPECT_FALSE(isExact(BF16, {}, Precision::Default));
  for (Precision precision :
       {Precision::Default, Precision::Exact, Precision::BFloat16}) {
    EXPECT_TRUE(isExact(F16, F16, precision));
    EXPECT_TRUE(isExact(BF16, I8, precision));
    EXPECT_TRUE(TileArithmetic::of(UI8, I8, I32, precision)->isExact());
  }
}

/// Rows are cut into tiles of one height.
TEST(TileProduct, TilesAreOfOneHeight) {
  for (auto [rows, height] : {std::pair<int64_t, int64_t>{1, 1},
                              {15, 15},
                              {16, 16},
                              {17, 9},
                              {33, 11},
                              {48, 12},
                              {49, 13},
                              {196, 14},
                              {197, 16},
                              {3136, 16}})
    EXPECT_EQ(tileRowsFor(rows), height) << rows;
}

TEST(TileEmulator, SumsPairsApart) {
  auto half = [](float x) {
    return uint16_t(std::bit_cast<uint32_t>(x) >> 16);
  };
  // 2^24 + 1 would be rounded to 2^24 if all were added in one chain; with
  // even and odd numbers apart, both ones are in a sum of their own.
  const uint16_t a[] = {half(0x1p24f), half(1), half(1), half(1)},
                 ones[] = {half(1), half(1), half(1), half(1)};
  EXPECT_EQ(dotOfPairs(a, ones, 2, 2, 0), 0x1p24f + 2);
  // Denormal operands, results and sums are zeros.
  const uint16_t tiny[] = {0x0001, 0x8001}, small[] = {half(0x1p-100f), 0};
  EXPECT_EQ(dotOfPairs(tiny, ones, 2, 1, 0), 0);
  EXPECT_EQ(dotOfPairs(small, small, 2, 1, 0), 0);
  EXPECT_EQ(dotOfPairs(ones, ones, 2, 1, 1e-40f), 2);
}

} // namespace
