//===- MatMulTest.cpp -----------------------------------------------------===//
//
// Covers: backend/cpu/emit MatMulForm MatMulKernel ProductKernel
// Covers: backend/cpu/kernels/gemm MatMul MatMulColumns MatMulPlan
// Covers: backend/cpu/kernels/gemm MatMulSums MatMulTask MatMulTiles Tiling
// Covers: backend/cpu/kernels/common VectorBuilder

#include "backend/cpu/kernels/gemm/MatMul.h"
#include "backend/cpu/KernelBuffers.h"
#include "backend/cpu/KernelRunner.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

namespace {

using BLayout = MatMulShape::BLayout;

/// Elements that the matrices of one operand span.
int64_t span(int64_t last, llvm::ArrayRef<int64_t> strides,
             const MatMulShape &shape) {
  int64_t size = last + 1;
  for (size_t d = 0; d < shape.batch.size(); ++d)
    size += (shape.batch[d].size.value() - 1) * strides[d];
  return size;
}

struct ProductCase {
  std::string name;
  MatMulShape shape;
};

/// Compiles the product with an epilogue that adds a bias by column, runs it in
/// two halves, and compares it with the definition.
void check(const ProductCase &test, const Target &target) {
  const MatMulShape &s = test.shape;
  SCOPED_TRACE(test.name);
  KernelRunner runner(target);
  Type f32 = Float32Type::get(&runner.context());
  MatMul matmul(s, target, Arithmetic());
  EXPECT_EQ(matmul.stages() > 1, s.holdsSums);

  llvm::SmallVector<int64_t> aStrides, bStrides, cStrides;
  int64_t batches = 1;
  for (const auto &dim : s.batch) {
    aStrides.push_back(dim.aStride.number);
    bStrides.push_back(dim.bStride.number);
    cStrides.push_back(dim.cStride.number);
    batches *= dim.size.value();
  }
  auto bAt = [&](int64_t k, int64_t n) {
    return s.bLayout == BLayout::Transposed ? n * s.bStride.value() + k
                                            : k * s.bStride.value() + n;
  };
  std::mt19937 generator(7);
  Floats a(span((s.m - 1) * s.aRowStride.value() +
                    (s.k - 1) * s.aColumnStride.value(),
                aStrides, s));
  Floats b(span(bAt(s.k - 1, s.n - 1), bStrides, s));
  Floats c(span((s.m - 1) * s.cRowStride.value() + s.n - 1, cStrides, s), -5);
  Floats bias(s.n);
  for (Floats *operand : {&a, &b, &bias})
    operand->randomize(generator);
  Floats packed(matmul.packedElements());
  if (s.bLayout == BLayout::Packed)
    matmul.pack(b.data(), s.bStride.value(), 1, packed.data());
  Floats &bUsed = s.bLayout == BLayout::Packed ? packed : b;
  Floats scratch(std::max<int64_t>(matmul.scratchElements(), 1));

  auto type = [&](const Floats &floats) {
    return MemRefType::get({floats.size()}, f32);
  };
  KernelBuffer buffers[] = {{type(a)},
                            {type(bUsed)},
                            {type(c), true},
                            {type(scratch), true},
                            {type(bias)}};
  for (int64_t stage = 0; stage < matmul.stages(); ++stage)
    createKernel(
        runner.module(), UnknownLoc::get(&runner.context()),
        "matmul" + std::to_string(stage), buffers,
        [&](OpBuilder &builder, Location loc, Value task, ValueRange memrefs) {
          MatMulRequest request{memrefs[0], memrefs[1], memrefs[2], memrefs[3]};
          request.stage = stage;
          request.epilogue = [&](OpBuilder &builder, Location loc, Value vector,
                                 const MatMulPosition &at) {
            Value addend = builder.create<vector::LoadOp>(
                loc, cast<VectorType>(vector.getType()), memrefs[4], at.column);
            return builder.create<arith::AddFOp>(loc, vector, addend);
          };
          matmul.build(builder, loc, task, request);
        });
  runner.compile();
  void *arguments[] = {a.data(), bUsed.data(), c.data(), scratch.data(),
                       bias.data()};
  int64_t half = matmul.tasks() / 2;
  for (int64_t stage = 0; stage < matmul.stages(); ++stage) {
    KernelFunction *kernel = runner.kernel("matmul" + std::to_string(stage));
    kernel(arguments, half, matmul.tasks());
    kernel(arguments, 0, half);
  }

  EXPECT_TRUE(c.guardsAreIntact());
  EXPECT_TRUE(scratch.guardsAreIntact());
  for (int64_t batch = 0; batch < batches; ++batch) {
    int64_t aBase = 0, bBase = 0, cBase = 0, rest = batch;
    for (size_t d = s.batch.size(); d-- > 0;) {
      int64_t i = rest % s.batch[d].size.value();
      rest /= s.batch[d].size.value();
      aBase += i * aStrides[d];
      bBase += i * bStrides[d];
      cBase += i * cStrides[d];
    }
    for (int64_t m = 0; m < s.m; ++m)
      for (int64_t n = 0; n < s.n; ++n) {
        double sum = bias[n];
        for (int64_t k = 0; k < s.k; ++k)
          sum += double(a[aBase + m * s.aRowStride.value() +
                          k * s.aColumnStride.value()]) *
                 b[bBase + bAt(k, n)];
        ASSERT_NEAR(c[cBase + m * s.cRowStride.value() + n], sum,
                    1e-6 * (4 + std::sqrt(s.k) * 4))
            << "batch " << batch << ", row " << m << ", column " << n;
      }
  }
}

ProductCase dense(int64_t m, int64_t n, int64_t k,
                  BLayout layout = BLayout::Packed) {
  MatMulShape shape = MatMulShape::dense(m, n, k);
  shape.bLayout = layout;
  if (layout == BLayout::Transposed)
    shape.bStride = k;
  return {std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k),
          shape};
}

TEST(MatMul, Packed) {
  for (auto [m, n, k] : {std::tuple{1, 1, 1},
                         {1, 10, 37},
                         {1, 100, 256},
                         {2, 33, 5},
                         {5, 64, 40},
                         {13, 17, 29},
                         {14, 32, 64},
                         {15, 48, 16},
                         {30, 129, 31},
                         {128, 96, 70},
                         {57, 80, 1024},
                         {29, 20, 1030}})
    check(dense(m, n, k), *Target::host());
}

TEST(MatMul, RowsAndTransposed) {
  for (BLayout layout :
       {BLayout::Rows, BLayout::CopiedRows, BLayout::Transposed})
    for (auto [m, n, k] : {std::tuple{1, 7, 3},
                           {3, 40, 64},
                           {29, 37, 19},
                           {20, 64, 1024},
                           {300, 40, 3000}, // Several blocks of rows.
                           {50, 16, 33}})
      check(dense(m, n, k, layout), *Target::host());
}

TEST(MatMul, TransposedA) {
  ProductCase test = dense(23, 50, 41);
  test.shape.aRowStride = 1;
  test.shape.aColumnStride = 23;
  check(test, *Target::host());
}

/// Heads interleaved as attention has them, and a broadcast operand.
TEST(MatMul, Batched) {
  const int64_t heads = 3, size = 20, seq = 19;
  ProductCase scores{"scores", {}};
  scores.shape.m = seq;
  scores.shape.n = seq;
  scores.shape.k = size;
  scores.shape.aRowStride = scores.shape.bStride = heads * size;
  scores.shape.bLayout = BLayout::Transposed;
  scores.shape.cRowStride = seq;
  scores.shape.batch = {
      {2, seq * heads * size, seq * heads * size, heads * seq * seq},
      {heads, size, size, seq * seq}};
  check(scores, *Target::host());

  ProductCase values{"values", {}};
  values.shape.m = seq;
  values.shape.n = size;
  values.shape.k = seq;
  values.shape.aRowStride = seq;
  values.shape.bStride = values.shape.cRowStride = heads * size;
  values.shape.bLayout = BLayout::Rows;
  values.shape.batch = {{2, heads * seq * seq, 0, seq * heads * size},
                        {heads, seq * seq, size, size}};
  check(values, *Target::host());
}

TEST(MatMul, RandomShapes) {
  std::mt19937 generator(11);
  auto upTo = [&](int limit) { return int64_t(generator() % limit + 1); };
  for (int i = 0; i < 12; ++i)
    check(dense(upTo(70), upTo(130), upTo(90), BLayout(generator() % 4)),
          *Target::host());
}

/// Rows and a panel of weights that do not fit a small cache together.
TEST(MatMul, StagesOfTheReduction) {
  Target target = *Target::host();
  // Less than rows and a panel together.
  target.l2Bytes = int64_t(target.f32Lanes) << 15;
  for (auto [m, n, k] :
       {std::tuple{64, 192, 1024}, {61, 197, 1030}, {64, 256, 2001}}) {
    ProductCase test = dense(m, n, k);
    test.shape.holdsSums = true;
    check(test, target);
    test.shape.holdsSums = false;
    check(test, target);
  }
}

/// The same generator for narrower registers, which any x86 here can run.
TEST(MatMul, NarrowerMachines) {
  Result<Target> avx2 = Target::named("", "haswell", "");
  Result<Target> sse = Target::named("", "x86-64", "");
  ASSERT_TRUE(avx2 && sse);
  if (Target::host()->f32Lanes < 8)
    GTEST_SKIP() << "needs AVX2";
  for (const Target &target : {*avx2, *sse})
    for (BLayout layout : {BLayout::Packed, BLayout::Rows, BLayout::CopiedRows,
                           BLayout::Transposed})
      check(dense(21, 45, 35, layout), target);
}

} // namespace
