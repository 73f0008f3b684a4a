// Attention by the instructions of matrix units, which are emulated: the
// generator against the definition, and in graphs against the oracle.
//
// Covers: backend/cpu/kernels/amx TileOperands
// Covers: backend/cpu/kernels/attention TileAttention

#include "backend/cpu/kernels/attention/TileAttention.h"
#include "Sweep.h"
#include "backend/cpu/DynamicCase.h"
#include "backend/cpu/TileTests.h"
#include "backend/cpu/emit/Math.h"
#include "backend/cpu/kernels/attention/AttentionCases.h"
#include "backend/cpu/kernels/common/KernelBuilder.h"

#include <cmath>
#include <limits>
#include <utility>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;
using namespace sinter::test;

namespace {

using enum ElementType;

struct HeadsCase {
  int64_t heads, rows, keys, depth, width;
  bool isCausal = false;
  AttentionShape::Mask mask = AttentionShape::Mask::None;
  bool areKeysTransposed = false;
  int64_t shared = 1;
};

std::string textOf(const HeadsCase &test) {
  std::string text;
  for (int64_t size :
       {test.heads, test.rows, test.keys, test.depth, test.width})
    text += std::to_string(size) + " ";
  return text + (test.isCausal ? "causal " : "") +
         (test.areKeysTransposed ? "keys transposed" : "");
}

AttentionShape shapeOf(const HeadsCase &test) {
  AttentionShape shape;
  shape.rows = test.rows;
  shape.keys = test.keys;
  shape.depth = test.depth;
  shape.width = test.width;
  shape.queryRow = test.depth;
  shape.keyRow = test.areKeysTransposed ? 1 : test.depth;
  shape.keyColumn = test.areKeysTransposed ? test.keys : 1;
  shape.valueRow = shape.resultRow = test.width;
  shape.isCausal = test.isCausal;
  shape.scale = 0.3;
  shape.mask = test.mask;
  shape.maskRow = test.keys;
  if (test.heads > 1)
    shape.heads = {{test.heads, test.shared, test.rows * test.depth,
                    test.keys * test.depth, test.keys * test.width, 0,
                    test.rows * test.width}};
  return shape;
}

/// One size, compiled once.
class TileAttentionRun {
public:
  TileAttentionRun(const AttentionTiles &tiles, const Target &target,
                   const HeadsCase &test)
      : tiles(tiles), test(test), attention(shapeOf(test), target, tiles),
        query(F32, {test.heads * test.rows * test.depth}),
        key(F32, {test.heads / test.shared * test.keys * test.depth}),
        value(F32, {test.heads / test.shared * test.keys * test.width}),
        mask(F32, {test.rows * test.keys}),
        scratch(F32, {attention.scratchElements()}),
        result(F32, {test.heads * test.rows * test.width}),
        kernel(target, {&query, &key, &value, &mask, &scratch, &result},
               {attention.tasks(),
                [&](OpBuilder &builder, Location loc, Value task,
                    ValueRange memory) {
                  const bool isMasked = test.mask != AttentionShape::Mask::None;
                  attention.build(builder, loc, task,
                                  {memory[0], memory[1], memory[2],
                                   isMasked ? memory[3] : Value(), memory[5],
                                   memory[4]},
                                  [](OpBuilder &b, Location l, Value x) {
                                    KernelBuilder code(b, l);
                                    return emitExp(code, x);
                                  });
                }},
               {}) {
    fillRandom(query, 1);
    fillRandom(key, 2);
    fillRandom(value, 3);
    fillRandom(mask, 4);
    // What is chosen stands where the mask is not 0.
    if (test.mask == AttentionShape::Mask::Chosen)
      for (int64_t i = 0; i < mask.size(); ++i)
        mask.mutableValues<float>()[i] = i % 3 == 0 ? -2.0f : 0;
  }

  TileCounts run() {
    return kernel.run({&query, &key, &value, &mask, &scratch, &result});
  }

  float &queryAt(int64_t head, int64_t row, int64_t i) {
    return query
        .mutableValues<float>()[(head * test.rows + row) * test.depth + i];
  }
  float &keyAt(int64_t head, int64_t row, int64_t i) {
    const int64_t of = head / test.shared * test.keys * test.depth;
    return key.mutableValues<float>()[of + (test.areKeysTransposed
                                                ? i * test.keys + row
                                                : row * test.depth + i)];
  }
  float &valueAt(int64_t head, int64_t row, int64_t i) {
    return value.mutableValues<
        float>()[(head / test.shared * test.keys + row) * test.width + i];
  }
  float at(int64_t head, int64_t row, int64_t i) const {
    return result.at<float>((head * test.rows + row) * test.width + i);
  }

  void expectAttention() {
    for (int64_t head = 0; head < test.heads; ++head)
      for (int64_t row = 0; row < test.rows; ++row)
        ASSERT_NO_FATAL_FAILURE(expectRow(head, row))
            << "head " << head << ", row " << row;
  }

  /// Scores are wrong by a part of the sum of magnitudes that they are of, and
  /// so are weights, relatively; the second product adds its own.
  void expectRow(int64_t head, int64_t row) {
    std::vector<double> scores;
    double error = 0, greatest = -std::numeric_limits<double>::infinity();
    for (int64_t k = 0; k < test.keys; ++k) {
      double sum = 0, magnitude = 0;
      for (int64_t i = 0; i < test.depth; ++i) {
        const double product =
            double(queryAt(head, row, i)) * double(keyAt(head, k, i));
        sum += product;
        magnitude += std::abs(product);
      }
      error = std::max(error,
                       0.3 * magnitude * tileError(tiles.scores, test.depth));
      scores.push_back(seen(row, k, 0.3 * sum));
      greatest = std::max(greatest, scores.back());
    }
    double total = 0;
    for (double &score : scores)
      total += score = std::exp(score - greatest);
    for (int64_t i = 0; i < test.width; ++i) {
      double sum = 0, magnitude = 0;
      for (int64_t k = 0; k < test.keys; ++k) {
        const double product = scores[size_t(k)] / total * valueAt(head, k, i);
        sum += product;
        magnitude += std::abs(product);
      }
      const double got = at(head, row, i);
      if (!std::isfinite(sum))
        ASSERT_FALSE(std::isfinite(got)) << "column " << i;
      else
        ASSERT_NEAR(got, sum,
                    (2 * error + tileError(tiles.sums, test.keys) + 0x1p-20) *
                        magnitude)
            << "column " << i;
    }
  }

private:
  double seen(int64_t row, int64_t k, double score) const {
    if (test.isCausal && k > row)
      return -std::numeric_limits<double>::infinity();
    const double ofMask = mask.toDouble(row * test.keys + k);
    if (test.mask == AttentionShape::Mask::Added)
      return score + ofMask;
    if (test.mask == AttentionShape::Mask::Chosen && ofMask != 0)
      return ofMask;
    return score;
  }

  AttentionTiles tiles;
  HeadsCase test;
  TileAttention attention;
  Tensor query, key, value, mask, scratch, result;
  TileKernel kernel;
};

AttentionTiles tilesOf(Precision precision) {
  return AttentionTiles::allOf(precision).front();
}

using Mask = AttentionShape::Mask;

TEST(TileAttention, Sizes) {
  WITH_TILES(target);
  Sweep sweep(3);
  for (Precision precision :
       {Precision::Default, Precision::Exact, Precision::BFloat16})
    for (const HeadsCase &test :
         {HeadsCase{3, 40, 48, 16, 32}, HeadsCase{2, 37, 53, 19, 21},
          HeadsCase{1, 1, 2, 1, 1}, HeadsCase{1, 17, 16, 32, 16},
          HeadsCase{2, 49, 33, 64, 48}, HeadsCase{1, 70, 300, 33, 40},
          HeadsCase{1, 130, 520, 16, 64}, HeadsCase{2, 70, 70, 16, 16, true},
          HeadsCase{1, 200, 200, 24, 17, true},
          HeadsCase{1, 33, 31, 16, 16, false, Mask::Added},
          HeadsCase{1, 20, 300, 8, 8, false, Mask::Added},
          HeadsCase{1, 30, 47, 16, 16, false, Mask::Chosen},
          HeadsCase{2, 33, 45, 40, 16, false, Mask::None, true},
          HeadsCase{6, 24, 32, 16, 16, false, Mask::None, false, 3}}) {
      if (!sweep.takesNext())
        continue;
      SCOPED_TRACE(textOf(test) + std::string(name(precision)));
      TileAttentionRun run(tilesOf(precision), target, test);
      const TileCounts counts = run.run();
      run.expectAttention();
      EXPECT_EQ(counts.configurations, 1);
      EXPECT_EQ(counts.releases, 1);
      EXPECT_GT(counts.products, 0);
    }
}

/// Queries, keys and values that are f16 or bf16 numbers have as many parts.
TEST(TileAttention, NumbersOfFewerBits) {
  for (Precision precision : {Precision::Default, Precision::Exact}) {
    const bool isExact = precision == Precision::Exact;
    for (auto [numbers, scores, sums] :
         {std::tuple{F16, 4, isExact ? 5 : 3}, {BF16, 1, isExact ? 3 : 2}}) {
      const AttentionTiles tiles =
          AttentionTiles::allOf(precision, {numbers, numbers, numbers}).front();
      EXPECT_EQ(tiles.scores.products().size(), size_t(scores));
      EXPECT_EQ(tiles.sums.products().size(), size_t(sums));
    }
  }
}

/// Numbers that parts do not add up to give what f32 gives, in their rows or,
/// of keys and values, in all rows of their head; what is beside them stays.
TEST(TileAttention, HardNumbers) {
  WITH_TILES(target);
  constexpr float infinity = std::numeric_limits<float>::infinity(),
                  largest = std::numeric_limits<float>::max();
  const float nan = std::nanf("");
  for (const HeadsCase &test :
       {HeadsCase{2, 37, 40, 19, 21}, HeadsCase{2, 33, 300, 32, 16}}) {
    SCOPED_TRACE(textOf(test));
    TileAttentionRun run(tilesOf(Precision::Default), target, test);
    run.run();
    std::vector<float> ordinary;
    for (int64_t head : {0, 1})
      for (int64_t row = 0; row < test.rows; ++row)
        ordinary.push_back(run.at(head, row, 2));
    // Whether all but some rows of the second head are as they were.
    auto expectOthers = [&](auto isConcerned) {
      for (int64_t head : {0, 1})
        for (int64_t row = 0; row < test.rows; ++row)
          if (head == 0 || !isConcerned(row))
            ASSERT_EQ(run.at(head, row, 2),
                      ordinary[size_t(head * test.rows + row)])
                << "head " << head << ", row " << row;
    };
    for (float x : {infinity, -infinity, nan, largest, 1e31f, 1e-39f}) {
      SCOPED_TRACE(std::to_string(x));
      const float before = std::exchange(run.queryAt(1, 5, 3), x);
      run.run();
      run.expectRow(1, 5);
      expectOthers([](int64_t row) { return row == 5; });
      run.queryAt(1, 5, 3) = before;
    }
    auto isAny = [](int64_t) { return true; };
    for (float x : {infinity, nan, largest / 4, 1e-39f}) {
      SCOPED_TRACE(std::to_string(x) + " among values");
      const float before = std::exchange(run.valueAt(1, 7, 3), x);
      run.run();
      run.expectAttention();
      expectOthers(isAny);
      run.valueAt(1, 7, 3) = before;
    }
    for (float x : {nan, 1e-39f, 1e31f}) {
      SCOPED_TRACE(std::to_string(x) + " among keys");
      const float before = std::exchange(run.keyAt(1, 7, 3), x);
      run.run();
      run.expectAttention();
      expectOthers(isAny);
      run.keyAt(1, 7, 3) = before;
    }
  }
}

//===----------------------------------------------------------------------===//
// In graphs
//===----------------------------------------------------------------------===//

CpuOptions optionsWithTiles(const Target &target, Precision precision) {
  CpuOptions options;
  options.target = target;
  preferTiles(*options.target);
  options.precision = precision;
  options.onCode = emulateTiles;
  return options;
}

bool hasTiles(const Program &program) {
  return llvm::any_of(program.steps, [](const Step &step) {
    return llvm::StringRef(step.kernelName).starts_with("tiles-attention");
  });
}

TEST(TileAttention, AgreesWithTheOracle) {
  WITH_TILES(target);
  Sweep sweep(4);
  for (auto [precision, element, tolerance] :
       {std::tuple{Precision::Default, "f32", 1e-4},
        {Precision::Exact, "f32", 2e-5},
        {Precision::BFloat16, "f32", 2e-2},
        {Precision::Default, "f16", 1e-3},
        {Precision::Default, "bf16", 8e-3}})
    for (const AttentionCase &test : attentionCases) {
      if (!sweep.takesNext())
        continue;
      std::string text = bodyOf(test, /*between=*/true);
      replaceAll(text, "f32", element);
      std::shared_ptr<Program> program;
      EXPECT_EQ(differsWith(text, {tolerance, tolerance},
                            optionsWithTiles(target, precision), &program),
                "")
          << test.name << ", " << element;
      ASSERT_TRUE(program);
      // Where there is little to multiply, tiles may save nothing.
      if (test.key[3] > 3) {
        EXPECT_EQ(hasTiles(*program), test.key[2] > 1) << test.name;
      }
    }
}

TEST(TileAttention, HidesAsSpeltOut) {
  WITH_TILES(target);
  Sweep sweep(2);
  for (const Hidden &test : hidden)
    for (int64_t keys : {50, 1030}) {
      if (!sweep.takesNext())
        continue;
      std::shared_ptr<Program> program;
      EXPECT_EQ(differsRaised(bodyOf(test, keys), {1e-4, 1e-4}, &program,
                              optionsWithTiles(target, Precision::Default)),
                "")
          << test.name << ", " << keys << " keys";
      ASSERT_TRUE(program);
      EXPECT_TRUE(hasTiles(*program)) << test.name;
    }
}

/// What is computed behind it, of another type, gets the same results.
TEST(TileAttention, Epilogues) {
  WITH_TILES(target);
  for (int64_t keys : {50, 300}) {
    std::string text =
        R"((%q: tensor<2x40x16xf32>, %k: tensor<2xNx16xf32>, %v: tensor<2xNx20xf32>, %r: tensor<2x40x20xf32>) -> tensor<2x40x20xf16> {
    %o = nn.attention %q, %k, %v scale = 0.25 : (tensor<2x40x16xf32>, tensor<2xNx16xf32>, tensor<2xNx20xf32>) -> tensor<2x40x20xf32>
    %s = stablehlo.add %o, %r : tensor<2x40x20xf32>
    %h = stablehlo.convert %s : (tensor<2x40x20xf32>) -> tensor<2x40x20xf16>
    return %h : tensor<2x40x20xf16>
  })";
    replaceAll(text, "Nx", std::to_string(keys) + "x");
    std::shared_ptr<Program> program;
    EXPECT_EQ(differsWith(text, {1e-3, 1e-3},
                          optionsWithTiles(target, Precision::Default),
                          &program),
              "");
    ASSERT_TRUE(program);
    EXPECT_EQ(program->steps.size(), 1u);
    EXPECT_TRUE(hasTiles(*program));
  }
}

/// What the model asks of both products is what attention has.
TEST(TileAttention, ModelsAskForPrecision) {
  WITH_TILES(target);
  for (auto [scores, sums, kernel] :
       {std::tuple{"DEFAULT", "DEFAULT", "tiles-attention-bf16"},
        {"HIGH", "HIGH", "tiles-attention-split3"},
        {"HIGH", "HIGHEST", "tiles-attention-split6"},
        {"DEFAULT", "HIGHEST", "tiles-attention-split6"},
        {"DEFAULT", "HIGH", ""}}) {
    std::string text =
        R"((%q: tensor<40x64xf32>, %k: tensor<50x64xf32>, %v: tensor<50x64xf32>) -> tensor<40x64xf32> {
  %s = stablehlo.dot_general %q, %k, contracting_dims = [1] x [1], precision = [$a, $a] : (tensor<40x64xf32>, tensor<50x64xf32>) -> tensor<40x50xf32>
  %e = nn.softmax %s, axes = [1] : tensor<40x50xf32>
  %r = stablehlo.dot_general %e, %v, contracting_dims = [1] x [0], precision = [$b, $b] : (tensor<40x50xf32>, tensor<50x64xf32>) -> tensor<40x64xf32>
  return %r : tensor<40x64xf32>
})";
    replaceAll(text, "$a", scores);
    replaceAll(text, "$b", sums);
    std::shared_ptr<Program> program;
    CpuOptions options = optionsWithTiles(target, Precision::BFloat16);
    // Softmax, which goes over vectors, does not take longer than products.
    options.target->rates.f32 = 5e4;
    EXPECT_EQ(differsRaised(text, {5e-2, 5e-2}, &program, options), "");
    ASSERT_TRUE(program);
    std::string found;
    for (const Step &step : program->steps)
      if (llvm::StringRef(step.kernelName).starts_with("tiles-attention"))
        found = step.kernelName;
    EXPECT_EQ(found, kernel) << scores << " and " << sums;
  }
}

/// A sample has the same bits in any batch, and from a program of all lengths
/// or of its own.
TEST(TileAttention, DynamicSizes) {
  WITH_TILES(target);
  const std::string q = argument("%q", {batch, 2, length, 16}),
                    type = "tensor<?x2x?x16xf32>";
  const std::string of =
      "(" + type + ", " + type + ", " + type + ") -> " + type;
  for (const char *attributes : {"scale = 0.5", "scale = 0.5 causal"}) {
    SCOPED_TRACE(attributes);
    const DynamicCase test{
        "attention",
        "(" + q + ") -> " + type + " {\n%o = nn.attention %q, %q, %q " +
            attributes + " : " + of + "\nreturn %o : " + type + "\n}",
        {{batch, 2, length, 16}},
        {2, 17, 90, 128, 300},
        /*isAsClosed=*/true,
        /*relative=*/2e-4,
        /*absolute=*/2e-4};
    const CpuOptions options = optionsWithTiles(target, Precision::Default);
    auto program = compileRaised(test.body, options);
    ASSERT_TRUE(program) << program.error().message();
    EXPECT_TRUE(hasTiles(*program));
    checkProgram(test, options);
  }
}

} // namespace
