// Products of two matrices that are both known only when a program runs, by the
// instructions of matrix units, which are emulated, against the definition.
//
// Covers: backend/cpu/kernels/amx TileMatrices TileOperands

#include "backend/cpu/kernels/amx/TileMatrices.h"
#include "Sweep.h"
#include "backend/cpu/TileTests.h"
#include "backend/cpu/kernels/amx/TileMatMul.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;
using sinter::test::Sweep;

namespace {

using enum ElementType;

/// How matrices lie: numbers of a row of A or of a column of B side by side, or
/// numbers of a column of A, of a row of B.
struct Layout {
  bool isTransposedA, isTransposedB;
};
constexpr Layout layouts[] = {
    {false, false}, {false, true}, {true, false}, {true, true}};

struct MatrixSizes {
  int64_t batch, m, n, k;
};

std::string textOf(const MatrixSizes &size, const Layout &layout) {
  auto text = [](int64_t number) { return std::to_string(number); };
  return text(size.batch) + " of " + text(size.m) + "x" + text(size.n) + "x" +
         text(size.k) + (layout.isTransposedA ? ", A transposed" : "") +
         (layout.isTransposedB ? ", B transposed" : "");
}

MatMulShape shapeOf(const MatrixSizes &size, const Layout &layout) {
  MatMulShape shape;
  shape.m = size.m;
  shape.n = size.n;
  shape.k = size.k;
  shape.aRowStride = layout.isTransposedA ? 1 : size.k;
  shape.aColumnStride = layout.isTransposedA ? size.m : 1;
  shape.bLayout = layout.isTransposedB ? MatMulShape::BLayout::Transposed
                                       : MatMulShape::BLayout::Rows;
  shape.bStride = layout.isTransposedB ? size.k : size.n;
  shape.cRowStride = size.n;
  if (size.batch > 1)
    shape.batch = {
        {size.batch, size.m * size.k, size.k * size.n, size.m * size.n}};
  return shape;
}

void buildIn(OpBuilder &builder, Location location, const TileMatrices &product,
             Value task, const MatMulRequest &request) {
  VectorBuilder code(builder, location);
  TileRegisters registers = product.registersIn(code);
  product.build(code, registers, task, request);
}

/// c = a * b of one size, compiled once.
class Matrices {
public:
  Matrices(const TileArithmetic &arithmetic, const Target &target,
           const MatrixSizes &size, const Layout &layout)
      : arithmetic(arithmetic), size(size), layout(layout),
        product(shapeOf(size, layout), target, arithmetic),
        a(F32, {size.batch * size.m * size.k}),
        b(F32, {size.batch * size.k * size.n}),
        c(F32, {size.batch * size.m * size.n}),
        scratch(F32, {product.scratchBytes() / 4}),
        kernel(target, {&a, &b, &scratch, &c},
               {product.tasks(),
                [&](OpBuilder &builder, Location loc, Value task,
                    ValueRange memory) {
                  buildIn(builder, loc, product, task,
                          {memory[0], memory[1], memory[3], memory[2]});
                }},
               {}) {}

  void fill() {
    fillRandom(a, 1);
    fillRandom(b, 2);
  }
  float &atA(int64_t matrix, int64_t row, int64_t k) {
    return a.mutableValues<float>()[matrix * size.m * size.k +
                                    (layout.isTransposedA ? k * size.m + row
                                                          : row * size.k + k)];
  }
  float &atB(int64_t matrix, int64_t k, int64_t column) {
    return b
        .mutableValues<float>()[matrix * size.k * size.n +
                                (layout.isTransposedB ? column * size.k + k
                                                      : k * size.n + column)];
  }
  float at(int64_t matrix, int64_t row, int64_t column) const {
    return c.at<float>((matrix * size.m + row) * size.n + column);
  }

  TileCounts run() { return kernel.run({&a, &b, &scratch, &c}); }
  int64_t tasks() const { return product.tasks(); }

  /// Whether every sum is as near as the arithmetic has it; where the
  /// definition gives none, there is none.
  void expectProduct() {
    for (int64_t matrix = 0; matrix < size.batch; ++matrix)
      for (int64_t i = 0; i < size.m; ++i)
        for (int64_t j = 0; j < size.n; ++j) {
          double sum = 0, magnitude = 0;
          for (int64_t k = 0; k < size.k; ++k) {
            const double product =
                double(atA(matrix, i, k)) * double(atB(matrix, k, j));
            sum += product;
            magnitude += std::abs(product);
          }
          const double got = at(matrix, i, j);
          if (!std::isfinite(float(sum)))
            ASSERT_TRUE(std::isnan(sum) ? std::isnan(got)
                                        : got == double(float(sum)))
                << got << " for " << sum << ", row " << i << ", column " << j;
          else
            ASSERT_NEAR(got, sum,
                        tileError(arithmetic, size.k) * magnitude + 0x1p-149)
                << "matrix " << matrix << ", row " << i << ", column " << j;
        }
  }

private:
  TileArithmetic arithmetic;
  MatrixSizes size;
  Layout layout;
  TileMatrices product;
  Tensor a, b, c, scratch;
  TileKernel kernel;
};

const Precision precisions[] = {Precision::Default, Precision::Exact,
                                Precision::BFloat16};

TileArithmetic ofFloats(Precision precision) {
  return *TileArithmetic::of(F32, F32, F32, precision);
}

TEST(TileMatrices, Products) {
  WITH_TILES(target);
  Sweep sweep(3);
  for (Precision precision : precisions)
    for (const Layout &layout : layouts)
      for (const MatrixSizes &size : {MatrixSizes{1, 1, 1, 1},
                                      {2, 1, 40, 37},
                                      {1, 5, 33, 6},
                                      {3, 16, 16, 32},
                                      {2, 17, 70, 65},
                                      {1, 33, 32, 130},
                                      {2, 49, 31, 64},
                                      {1, 47, 113, 33}}) {
        if (!sweep.takesNext())
          continue;
        SCOPED_TRACE(textOf(size, layout));
        const TileArithmetic arithmetic = ofFloats(precision);
        Matrices product(arithmetic, target, size, layout);
        product.fill();
        const TileCounts counts = product.run();
        product.expectProduct();
        EXPECT_EQ(counts.configurations, 1);
        EXPECT_EQ(counts.releases, 1);
        const int64_t height = tileRowsFor(size.m);
        EXPECT_EQ(counts.products,
                  size.batch * ((size.m + height - 1) / height) *
                      ((size.n + 15) / 16) * ((size.k + 31) / 32) *
                      int64_t(arithmetic.products().size()));
      }
}

/// Several tasks of rows and of columns.
TEST(TileMatrices, TasksOfRowsAndColumns) {
  WITH_TILES(target);
  Target small = target;
  small.l2Bytes = 64 << 10;
  for (const Layout &layout : layouts)
    for (const MatrixSizes &size :
         {MatrixSizes{1, 200, 40, 96}, {2, 200, 100, 64}}) {
      SCOPED_TRACE(textOf(size, layout));
      Matrices product(ofFloats(Precision::Default), small, size, layout);
      product.fill();
      product.run();
      product.expectProduct();
      EXPECT_GT(product.tasks(), size.batch);
    }
}

/// Numbers of f16 are two parts each, whose products are exact; bytes are one.
TEST(TileMatrices, NumbersOfFewerBits) {
  WITH_TILES(target);
  for (const auto &[numbers, products] :
       {std::pair{F16, 4}, {BF16, 1}, {I8, 1}, {UI8, 1}}) {
    const TileArithmetic arithmetic = *TileArithmetic::of(
        F32, F32, F32, Precision::Default, {numbers, numbers});
    EXPECT_EQ(arithmetic.products().size(), size_t(products));
    const MatrixSizes size{2, 20, 40, 1};
    Matrices product(arithmetic, target, size, {false, true});
    const Tensor ofA = randomTensor(numbers, size.batch * size.m, 1),
                 ofB = randomTensor(numbers, size.batch * size.n, 2);
    for (int64_t i = 0; i < ofA.size(); ++i)
      product.atA(i / size.m, i % size.m, 0) = float(ofA.toDouble(i));
    for (int64_t i = 0; i < ofB.size(); ++i)
      product.atB(i / size.n, 0, i % size.n) = float(ofB.toDouble(i));
    product.run();
    for (int64_t matrix = 0; matrix < size.batch; ++matrix)
      for (int64_t i = 0; i < size.m; ++i)
        for (int64_t j = 0; j < size.n; ++j)
          ASSERT_EQ(product.at(matrix, i, j),
                    product.atA(matrix, i, 0) * product.atB(matrix, 0, j));
  }
}

/// Distances of bytes of any signs from zero points.
void checkBytes(ElementType lhs, ElementType rhs, const Target &target,
                const MatrixSizes &size, const Layout &layout,
                std::optional<int32_t> lhsZero,
                std::optional<int32_t> rhsZero) {
  SCOPED_TRACE(textOf(size, layout) + ", " + std::string(name(lhs)) + " by " +
               std::string(name(rhs)));
  const TileArithmetic arithmetic =
      *TileArithmetic::of(lhs, rhs, I32, Precision::Default);
  const TileMatrices product(shapeOf(size, layout), target, arithmetic);
  Tensor a = randomTensor(lhs, size.batch * size.m * size.k, 1),
         b = randomTensor(rhs, size.batch * size.k * size.n, 2),
         c(I32, {size.batch * size.m * size.n}),
         scratch(F32, {product.scratchBytes() / 4});
  TileKernel kernel(
      target, {&a, &b, &scratch, &c},
      {product.tasks(),
       [&](OpBuilder &builder, Location loc, Value task, ValueRange memory) {
         auto number = [&](std::optional<int32_t> zero) {
           return zero ? Value(builder.create<arith::ConstantOp>(
                             loc, builder.getI32IntegerAttr(*zero)))
                       : Value();
         };
         buildIn(builder, loc, product, task,
                 {memory[0],
                  memory[1],
                  memory[3],
                  memory[2],
                  {},
                  {number(lhsZero), number(rhsZero)}});
       }},
      {});
  const TileCounts counts = kernel.run({&a, &b, &scratch, &c});
  const int64_t height = tileRowsFor(size.m);
  EXPECT_EQ(counts.products, size.batch * ((size.m + height - 1) / height) *
                                 ((size.n + 15) / 16) * ((size.k + 63) / 64));
  for (int64_t matrix = 0; matrix < size.batch; ++matrix)
    for (int64_t i = 0; i < size.m; ++i)
      for (int64_t j = 0; j < size.n; ++j) {
        int64_t sum = 0;
        for (int64_t k = 0; k < size.k; ++k) {
          const double x = a.toDouble(
              matrix * size.m * size.k +
              (layout.isTransposedA ? k * size.m + i : i * size.k + k));
          const double y = b.toDouble(
              matrix * size.k * size.n +
              (layout.isTransposedB ? j * size.k + k : k * size.n + j));
          sum += (int64_t(x) - lhsZero.value_or(0)) *
                 (int64_t(y) - rhsZero.value_or(0));
        }
        ASSERT_EQ(c.at<int32_t>((matrix * size.m + i) * size.n + j), sum)
            << "matrix " << matrix << ", row " << i << ", column " << j;
      }
}

TEST(TileMatrices, Bytes) {
  WITH_TILES(target);
  Sweep sweep(5);
  for (ElementType lhs : {UI8, I8})
    for (ElementType rhs : {I8, UI8})
      for (const Layout &layout : layouts)
        for (auto [lhsZero, rhsZero] :
             {std::pair<std::optional<int32_t>, std::optional<int32_t>>{},
              {3, {}},
              {{}, -5},
              {255, 128}})
          for (const MatrixSizes &size : {MatrixSizes{1, 1, 1, 1},
                                          {2, 1, 40, 37},
                                          {1, 5, 33, 6},
                                          {2, 17, 70, 65},
                                          {1, 33, 32, 130},
                                          {2, 49, 31, 64},
                                          {1, 47, 113, 128}})
            if (sweep.takesNext())
              checkBytes(lhs, rhs, target, size, layout, lhsZero, rhsZero);
  Target small = target;
  small.l2Bytes = 16 << 10;
  for (const Layout &layout : layouts)
    checkBytes(UI8, UI8, small, {2, 200, 100, 96}, layout, 7, 100);
}

/// One number among ordinary ones, by one among ordinary ones: what f32 makes
/// of it, and what tiles make of all rows and columns beside it.
TEST(TileMatrices, HardNumbers) {
  WITH_TILES(target);
  constexpr float infinity = std::numeric_limits<float>::infinity(),
                  largest = std::numeric_limits<float>::max();
  const float nan = std::nanf(""), hidden = std::bit_cast<float>(0x7f800001u);
  Sweep sweep(2);
  for (Precision precision : precisions)
    for (const Layout &layout : layouts) {
      const MatrixSizes size{2, 19, 37, 35};
      Matrices product(ofFloats(precision), target, size, layout);
      product.fill();
      product.run();
      std::vector<float> ordinary;
      for (int64_t i = 0; i < size.m; ++i)
        ordinary.push_back(product.at(1, i, 36));
      for (auto [x, y] : {std::pair{infinity, 1.0f},
                          {-infinity, -0.37f},
                          {1e30f, infinity},
                          {nan, 0.5f},
                          {0.5f, nan},
                          {hidden, 1.0f},
                          {1.0f, hidden},
                          {largest, 0.75f},
                          {-0.75f, largest},
                          {largest, 2.0f},
                          {1e-39f, 1e30f},
                          {-3e-45f, 1e9f},
                          {1e30f, 1.3e-38f},
                          {4e-30f, -7e37f}}) {
        if (!sweep.takesNext())
          continue;
        SCOPED_TRACE(std::to_string(x) + " by " + std::to_string(y) + ", " +
                     textOf(size, layout));
        product.fill();
        for (int64_t k = 0; k < size.k; ++k) {
          product.atA(1, 18, k) = 0;
          product.atB(1, k, 3) = 0;
        }
        product.atA(1, 18, 34) = x;
        product.atB(1, 34, 3) = y;
        product.run();
        product.expectProduct();
        // The other matrix and, but for what is in its own panel, all rows
        // beside it are as they were.
        for (int64_t i = 0; i < 18; ++i)
          ASSERT_EQ(product.at(1, i, 36), ordinary[size_t(i)]) << "row " << i;
      }
    }
}

/// Sums may be denormal or smaller than any number where those of tiles are
/// ordinary, and rows of tiny numbers keep their digits.
TEST(TileMatrices, TinyNumbers) {
  WITH_TILES(target);
  const MatrixSizes size{1, 18, 20, 64};
  for (const Layout &layout : layouts) {
    Matrices product(ofFloats(Precision::Default), target, size, layout);
    product.fill();
    for (int64_t k = 0; k < size.k; ++k)
      product.atA(0, 1, k) *= 1e-37f;
    EXPECT_GT(product.run().products, 0);
    product.expectProduct();
  }
}

} // namespace
