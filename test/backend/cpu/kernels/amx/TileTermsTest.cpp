// Numbers that lie in memory in parts, as products on emulated matrix units
// read them: against products of the numbers themselves.
//
// Covers: backend/cpu/kernels/amx TileTerms TileVectors

#include "backend/cpu/TileTests.h"
#include "backend/cpu/kernels/amx/TileMatMul.h"

#include <bit>
#include <cmath>
#include <limits>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

namespace {

using enum ElementType;

constexpr float endless = std::numeric_limits<float>::infinity(),
                mostOfAll = std::numeric_limits<float>::max();

/// A product of rows by weights, of which the rows are stored in tiles of so
/// many of every unit.
struct RowsInTiles {
  int64_t m, n, k, tileRows, unitRows;
};

TileArithmetic threeProductsOfTerms() {
  return *TileArithmetic::of(F32, F32, F32, Precision::Default);
}

TileTerms partsOfRows(const RowsInTiles &sizes) {
  TileTerms parts;
  parts.width = parts.rows = sizes.m;
  parts.columns = sizes.k;
  parts.tileRows = sizes.tileRows;
  parts.unitRows = sizes.unitRows;
  // Of the reader.
  const int64_t height = tileRowsFor(sizes.m);
  parts.beyond = (sizes.m + height - 1) / height * height - sizes.m;
  return parts;
}

/// c = a * b, by two kernels, of which the first stores a in parts.
class TermsMultiplier {
public:
  TermsMultiplier(const Target &target, const RowsInTiles &sizes)
      : sizes(sizes), parts(partsOfRows(sizes)),
        product(MatMulShape::dense(sizes.m, sizes.n, sizes.k), target,
                threeProductsOfTerms(), {parts, {}}),
        a(F32, {sizes.m * sizes.k}), stored(I8, {parts.bytes()}),
        packed(bufferOfBytes(F32, product.packedBytes())),
        c(F32, {sizes.m * sizes.n}),
        store(
            target, {&a, &stored},
            {tiles() * parts.blocks(),
             [&](OpBuilder &builder, Location loc, Value task,
                 ValueRange memory) { storeTile(builder, loc, task, memory); }},
            {}),
        multiply(target, {&stored, &packed, &c},
                 {product.tasks(),
                  [&](OpBuilder &builder, Location loc, Value task,
                      ValueRange memory) {
                    product.build(builder, loc, task,
                                  {memory[0], memory[1], memory[2]});
                  }},
                 {}) {
    EXPECT_EQ(product.scratchBytes(), 0);
    EXPECT_EQ(product.cutTasks(), 0);
  }

  /// Returns what was executed.
  TileCounts run(Tensor &a, const Tensor &b, Tensor &c) {
    // What nobody stores is anything.
    for (int64_t i = 0; i < stored.size(); ++i)
      stored.set<int8_t>(i, -1);
    store.run({&a, &stored});
    product.pack(b.data(), sizes.n, 1, packed.mutableBytes());
    return multiply.run({&stored, &packed, &c});
  }

  const RowsInTiles sizes;

private:
  int64_t unitTiles() const {
    return (sizes.unitRows + sizes.tileRows - 1) / sizes.tileRows;
  }
  int64_t tiles() const {
    return (sizes.m + sizes.unitRows - 1) / sizes.unitRows * unitTiles();
  }

  void storeTile(OpBuilder &builder, Location loc, Value task,
                 ValueRange memory) const {
    VectorBuilder code(builder, loc);
    Value rows = code.flatten(memory[0]);
    Value tile = code.div(task, parts.blocks()),
          block = code.rem(task, parts.blocks());
    Value unit = code.div(tile, unitTiles()),
          inUnit = code.mul(code.rem(tile, unitTiles()), sizes.tileRows);
    Value first = code.add(code.mul(unit, sizes.unitRows), inUnit);
    Value count =
        code.min(code.min(code.index(sizes.tileRows),
                          code.sub(code.index(sizes.unitRows), inUnit)),
                 code.sub(code.index(sizes.m), first));
    auto floats = VectorType::get({16}, builder.getF32Type());
    parts.store(code, parts.imageIn(code, memory[1], code.index(0)), block,
                first, count, /*areInARow=*/false, [&](Value i) {
                  std::array<Value, 2> both;
                  for (int64_t half : {0, 1}) {
                    Value column = code.add(code.mul(block, 32), half * 16);
                    Value at =
                        code.add(code.mul(code.add(first, i), sizes.k), column);
                    both[size_t(half)] =
                        code.loadSome(rows, at, floats,
                                      code.sub(code.index(sizes.k), column));
                  }
                  return both;
                });
  }

  TileTerms parts;
  TileMatMul product;
  Tensor a, stored, packed, c;
  TileKernel store, multiply;
};

void expectProductOfTerms(const RowsInTiles &size, const Tensor &a,
                          const Tensor &b, const Tensor &c) {
  for (int64_t i = 0; i < size.m; ++i)
    for (int64_t j = 0; j < size.n; ++j) {
      double sum = 0, magnitude = 0;
      for (int64_t d = 0; d < size.k; ++d) {
        const double product = double(a.at<float>(i * size.k + d)) *
                               double(b.at<float>(d * size.n + j));
        sum += product;
        magnitude += std::abs(product);
      }
      ASSERT_NEAR(c.at<float>(i * size.n + j), sum,
                  tileError(threeProductsOfTerms(), size.k) * magnitude)
          << "row " << i << ", column " << j;
    }
}

TEST(TileTerms, Products) {
  WITH_TILES(target);
  for (const RowsInTiles &sizes : {RowsInTiles{1, 1, 1, 1, 1},
                                   {17, 40, 70, 9, 9},
                                   {50, 33, 96, 5, 12},
                                   {40, 80, 37, 16, 40}}) {
    SCOPED_TRACE(std::to_string(sizes.m) + "x" + std::to_string(sizes.k));
    TermsMultiplier multiplier(target, sizes);
    Tensor a = randomTensor(F32, sizes.m * sizes.k, 1),
           b = randomTensor(F32, sizes.k * sizes.n, 2),
           c(F32, {sizes.m * sizes.n});
    EXPECT_GT(multiplier.run(a, b, c).products, 0);
    expectProductOfTerms(sizes, a, b, c);
  }
}

/// Parts are those that a product makes of what it reads, in the same order.
TEST(TileTerms, GiveTheBitsOfNumbersThatAreCut) {
  WITH_TILES(target);
  const RowsInTiles sizes{21, 40, 70, 11, 11};
  Tensor a = randomTensor(F32, sizes.m * sizes.k, 1),
         b = randomTensor(F32, sizes.k * sizes.n, 2),
         c(F32, {sizes.m * sizes.n}), d(F32, {sizes.m * sizes.n});
  TermsMultiplier(target, sizes).run(a, b, c);
  const TileMatMul product(MatMulShape::dense(sizes.m, sizes.n, sizes.k),
                           target, threeProductsOfTerms());
  Tensor packed(I8, {product.packedBytes()}),
      scratch(I8, {product.scratchBytes()});
  product.pack(b.data(), sizes.n, 1, packed.mutableBytes());
  ASSERT_EQ(product.cutTasks(), 0);
  TileKernel kernel(
      target, {&a, &packed, &scratch, &d},
      {product.tasks(),
       [&](OpBuilder &builder, Location loc, Value task, ValueRange memory) {
         product.build(builder, loc, task,
                       {memory[0], memory[1], memory[3], memory[2]});
       }},
      {});
  kernel.run({&a, &packed, &scratch, &d});
  for (int64_t i = 0; i < c.size(); ++i)
    ASSERT_EQ(c.at<float>(i), d.at<float>(i)) << i;
}

/// What f32 arithmetic makes of one product, which parts alone would not.
TEST(TileTerms, UnusualNumbers) {
  WITH_TILES(target);
  const RowsInTiles sizes{20, 20, 40, 4, 8};
  TermsMultiplier multiplier(target, sizes);
  const float numbers[] = {
      endless,   -endless,   std::nanf(""), std::bit_cast<float>(0x7f800001u),
      mostOfAll, -mostOfAll, 0x1p30f,       0x1.000002p30f,
      1e-39f,    -3e-45f,    1.3e-38f,      0.0f};
  for (float x : numbers)
    for (float weight : {1.0f, -0.37f, 1e-30f, 1e30f}) {
      SCOPED_TRACE(std::to_string(x) + " by " + std::to_string(weight));
      Tensor a(F32, {sizes.m * sizes.k}), b(F32, {sizes.k * sizes.n}),
          c(F32, {sizes.m * sizes.n});
      // Beside a row of ordinary numbers of its tile, and one of another.
      a.set<float>(8 * sizes.k + 33, x);
      for (int64_t i = 0; i < sizes.k; ++i) {
        a.set<float>(9 * sizes.k + i, 1);
        a.set<float>(19 * sizes.k + i, -1);
      }
      b.set<float>(33 * sizes.n + 17, weight);
      multiplier.run(a, b, c);
      const float got = c.at<float>(8 * sizes.n + 17), expected = x * weight;
      if (std::isnan(expected))
        EXPECT_TRUE(std::isnan(got)) << got;
      else if (std::isinf(expected))
        EXPECT_EQ(got, expected);
      else
        EXPECT_NEAR(got, expected,
                    tileError(threeProductsOfTerms(), 1) *
                            std::abs(double(expected)) +
                        0x1p-149);
      const double error =
          tileError(threeProductsOfTerms(), 40) * std::abs(weight);
      EXPECT_NEAR(c.at<float>(9 * sizes.n + 17), weight, error);
      EXPECT_NEAR(c.at<float>(19 * sizes.n + 17), -weight, error);
    }
}

/// They slow those tasks down that read rows near them, which join parts and
/// halves of numbers again.
TEST(TileTerms, UnusualNumbersAmongOthers) {
  WITH_TILES(target);
  Target small = target;
  small.l2Bytes = 64 << 10;
  const RowsInTiles sizes{200, 40, 70, 7, 25};
  TermsMultiplier multiplier(small, sizes);
  Tensor a = randomTensor(F32, sizes.m * sizes.k, 1),
         b = randomTensor(F32, sizes.k * sizes.n, 2),
         c(F32, {sizes.m * sizes.n});
  const int64_t products = multiplier.run(a, b, c).products;
  a.set<float>(150 * sizes.k + 37, 0x1p100f);
  a.set<float>(151 * sizes.k + 8, -0x1p31f);
  const TileCounts counts = multiplier.run(a, b, c);
  EXPECT_GT(counts.products, 0);
  EXPECT_LT(counts.products, products);
  expectProductOfTerms(sizes, a, b, c);
  // And with weights that cannot be cut: all rows on vectors.
  b.set<float>(5, 0x1p40f);
  EXPECT_EQ(multiplier.run(a, b, c).products, 0);
  expectProductOfTerms(sizes, a, b, c);
}

/// Whatever reads rows of 32 columns finds them in lines of 64 bytes.
TEST(TileTerms, Sizes) {
  const TileTerms parts = partsOfRows({196, 0, 70, 14, 14});
  EXPECT_EQ(parts.blocks(), 3);
  EXPECT_EQ(parts.positions(), 196);
  // 14 tiles by 3 blocks of words.
  EXPECT_EQ(parts.imageBytes(), 2 * 3 * 196 * 64 + 192);
  TileTerms images = partsOfRows({49, 0, 32, 7, 7});
  images.images = 3;
  EXPECT_EQ(images.beyond, 3);
  EXPECT_EQ(images.positions(), 49);
  EXPECT_EQ(images.bytes(), 3 * (2 * 49 * 64 + 64) + 3 * 64);
}

/// Zeros behind a row are those before the next.
TEST(TileTerms, Borders) {
  TileTerms parts = partsOfRows({49, 0, 32, 7, 7});
  parts.width = 7;
  EXPECT_FALSE(parts.hasBorder());
  TileTerms reader = parts;
  reader.border = {1, 1, 1, 1};
  reader.beyond = 4;
  parts.makeRoomFor(reader);
  EXPECT_EQ(parts.positions(), 9 + 7 * 8 - 1 + 9);
  EXPECT_EQ(parts.beyond, 4);
  reader.border = {0, 3, 0, 0};
  parts.makeRoomFor(reader);
  EXPECT_EQ(parts.border, (TileBorder{1, 3, 1, 1}));
  EXPECT_EQ(parts.positions(), 13 + 7 * 10 - 3 + 11);
}

} // namespace
