// The generators with operands and sums of different types, and with groups of
// products in a step, against the definition.
//
// Covers: backend/cpu/kernels/common Arithmetic
// Covers: backend/cpu/kernels/conv ZeroPoint
// Covers: backend/cpu/kernels/gemm MatMulInt8 RowPairs

#include "Sweep.h"
#include "backend/cpu/ForeignRunner.h"
#include "backend/cpu/KernelRunner.h"
#include "backend/cpu/kernels/conv/Channelwise.h"
#include "backend/cpu/kernels/conv/Convolution.h"
#include "backend/cpu/kernels/gemm/MatMul.h"
#include "graph/Types.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "runtime/CpuFeatures.h"
#include "runtime/Random.h"
#include "runtime/Tensor.h"
#include "llvm/ADT/StringMap.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;
using sinter::test::Sweep;

namespace {

using enum ElementType;

/// Those that every machine has, on the host, and the best that \p target has
/// for bytes.
std::vector<Arithmetic> arithmeticsOf(const Target &target) {
  std::vector<Arithmetic> all;
  if (target.triple != Target::host()->triple)
    all = {{F32, F32, F32},   {F64, F64, F64}, {F16, F16, F32},
           {BF16, BF16, F32}, {UI8, F32, F32}, {F32, F16, F32}};
  if (target.features == Target::host()->features)
    all = {{F32, F32, F32},   {F64, F64, F64},    {F16, F16, F32},
           {BF16, BF16, F32}, {F32, F32, F64},    {I8, I8, I32},
           {I8, I8, I32, 4},  {UI8, UI8, I32, 4}, {I16, I16, I32, 2},
           {I32, I32, I64},   {UI8, F32, F32},    {I8, F32, F32},
           {F32, F16, F32},   {BF16, F32, F32}};
  for (ElementType lhs : {UI8, I8})
    for (ElementType rhs : {I8, UI8})
      all.push_back(Arithmetic::ofBytes(lhs, rhs, target));
  if (Arithmetic::multipliesBFloat16(target))
    all.push_back(Arithmetic::ofBFloat16(target));
  return all;
}

std::string nameOf(const Arithmetic &arithmetic) {
  return std::string(name(arithmetic.lhs)) + " by " +
         std::string(name(arithmetic.rhs)) + " to " +
         std::string(name(arithmetic.accumulator)) + ", groups of " +
         std::to_string(arithmetic.kGroup) + ", instruction " +
         std::to_string(int(arithmetic.instruction));
}

Target armOf(const char *cpu, const char *features = "") {
  return *Target::named("aarch64-unknown-linux-gnu", cpu, features);
}

Target armWithMatrices() { return armOf("", "+dotprod,+i8mm,+bf16"); }

std::vector<Target> arithmeticTargets() {
  std::vector<Target> list = {*Target::host()};
  // What is less than the host runs here, too: without 8-bit dot products,
  // narrower ones, and narrower.
  if (list[0].f32Lanes > 8) {
    list.push_back(*Target::named("", "x86-64-v4", ""));
    list.push_back(*Target::named("", "x86-64-v3", ""));
    list.push_back(*Target::named("", "x86-64-v2", ""));
    if (llvm::is_contained(hostCpuFeatures(), "avxvnni"))
      list.push_back(*Target::named("", "x86-64-v3", "+avxvnni"));
  }
  // With 8-bit dot products and without, and with products of matrices.
  if (const std::string missing = missingForForeign(); missing.empty())
    for (const Target &target :
         {armOf("neoverse-n1"), armOf("cortex-a57"), armWithMatrices()})
      list.push_back(target);
  else
    std::fprintf(stderr, "64-bit Arm is left out: no %s here\n",
                 missing.c_str());
  return list;
}

Tensor random(ElementType type, int64_t size, uint64_t seed) {
  Tensor tensor(type, {size});
  fillRandom(tensor, seed);
  return tensor;
}

KernelBuffer bufferOf(const Tensor &tensor, MLIRContext *context,
                      bool isWritten = false) {
  return {MemRefType::get({tensor.size()}, storedType(tensor.type(), context)),
          isWritten};
}

/// Runs \p emit as a kernel of \p tasks tasks on the tensors, of which the last
/// is written, as is \p scratch.
void run(
    const Target &target, llvm::ArrayRef<Tensor *> tensors, int64_t tasks,
    llvm::function_ref<void(OpBuilder &, Location, Value, ValueRange)> emit,
    const Tensor *scratch = nullptr) {
  KernelRunner runner(target);
  llvm::SmallVector<KernelBuffer> buffers;
  std::vector<void *> arguments;
  for (Tensor *tensor : tensors) {
    buffers.push_back(bufferOf(*tensor, &runner.context(),
                               tensor == tensors.back() || tensor == scratch));
    arguments.push_back(tensor->mutableBytes());
  }
  KernelContract contract =
      createKernel(runner.module(), UnknownLoc::get(&runner.context()),
                   "kernel", buffers, emit);
  contract.tasks = tasks;
  runner.compile();
  runner.run(contract, arguments);
}

/// Integers agree to the bit, floats as far as the order of sums lets them.
void expectNear(const Tensor &got, int64_t at, double sum, double magnitude) {
  if (isInteger(got.type()))
    ASSERT_EQ(got.toDouble(at), sum) << at;
  else
    ASSERT_NEAR(got.toDouble(at), sum,
                (got.type() == F64 ? 1e-13 : 1e-5) * (1 + magnitude))
        << at;
}

/// Emulation takes some tenths of a second each.
bool isTaken(const Target &target) {
  static Sweep emulated(5);
  return target.triple == Target::host()->triple || emulated.takesNext();
}

Tensor scratchOf(const MatMul &matmul) {
  return Tensor(matmul.scratchType(),
                {std::max<int64_t>(1, matmul.scratchElements())});
}

/// \p a by \p b, [k, n], as \p matmul has them.
Tensor productOf(const MatMul &matmul, const Arithmetic &arithmetic,
                 const Target &target, Tensor &a, const Tensor &b, int64_t m,
                 int64_t n) {
  Tensor packed(arithmetic.rhs, {matmul.packedElements()});
  matmul.pack(b.data(), n, 1, packed.mutableBytes());
  Tensor c(arithmetic.accumulator, {m * n});
  Tensor scratch = scratchOf(matmul);
  run(
      target, {&a, &packed, &scratch, &c}, matmul.tasks(),
      [&](OpBuilder &builder, Location loc, Value task, ValueRange memory) {
        matmul.build(builder, loc, task,
                     {memory[0], memory[1], memory[3], memory[2]});
      },
      &scratch);
  return c;
}

void checkMatMul(const Arithmetic &arithmetic, const Target &target, int64_t m,
                 int64_t n, int64_t k) {
  SCOPED_TRACE(nameOf(arithmetic) + ": " + std::to_string(m) + "x" +
               std::to_string(n) + "x" + std::to_string(k));
  MatMul matmul(MatMulShape::dense(m, n, k), target, arithmetic);
  ASSERT_EQ(matmul.stages(), 1);
  Tensor a = random(arithmetic.lhs, m * k, 1);
  Tensor b = random(arithmetic.rhs, k * n, 2);
  const Tensor c = productOf(matmul, arithmetic, target, a, b, m, n);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0, magnitude = 0;
      for (int64_t d = 0; d < k; ++d) {
        const double product = a.toDouble(i * k + d) * b.toDouble(d * n + j);
        sum += product;
        magnitude += std::abs(product);
      }
      expectNear(c, i * n + j, sum, magnitude);
    }
}

TEST(Arithmetic, Products) {
  Sweep sweep;
  for (const Target &target : arithmeticTargets())
    for (const Arithmetic &arithmetic : arithmeticsOf(target))
      for (auto [m, n, k] : {std::tuple{1, 1, 1},
                             {1, 40, 37},
                             {5, 33, 6},
                             {13, 16, 4},
                             {14, 70, 65},
                             {3, 16, 130}})
        if (sweep.takesNext() && isTaken(target))
          checkMatMul(arithmetic, target, m, n, k);
}

/// Even and odd numbers of rows, of columns that fill no pair, of depths that
/// fill no group.
TEST(Arithmetic, RowsInPairs) {
  if (!missingForForeign().empty())
    GTEST_SKIP() << "64-bit Arm cannot be run";
  const Target target = armWithMatrices();
  for (const Arithmetic &arithmetic :
       {Arithmetic::ofBytes(I8, I8, target), Arithmetic::ofBFloat16(target)}) {
    EXPECT_TRUE(arithmetic.ofPackedColumns(target).takesRowPairs());
    for (auto [m, n, k] : {std::tuple{1, 5, 16},
                           {2, 4, 8},
                           {3, 1, 9},
                           {6, 23, 33},
                           {7, 16, 64},
                           {23, 33, 100}})
      checkMatMul(arithmetic, target, m, n, k);
  }
}

/// Of the product of that \p shape, by default of one tile.
std::string assemblyOf(const Arithmetic &arithmetic, const Target &target,
                       const MatMulShape &shape = MatMulShape::dense(8, 8, 64),
                       const MatMulEpilogue &epilogue = {}) {
  const MatMul matmul(shape, target, arithmetic);
  KernelRunner runner(target);
  const Tensor scratch = scratchOf(matmul);
  llvm::SmallVector<KernelBuffer> buffers;
  auto add = [&](ElementType type, int64_t size, bool isWritten) {
    buffers.push_back(
        bufferOf(Tensor(type, {size}), &runner.context(), isWritten));
  };
  add(arithmetic.lhs, shape.m * shape.k, false);
  add(arithmetic.rhs, matmul.packedElements(), false);
  add(scratch.type(), scratch.size(), true);
  add(arithmetic.accumulator, shape.m * shape.n, true);
  createKernel(
      runner.module(), UnknownLoc::get(&runner.context()), "kernel", buffers,
      [&](OpBuilder &builder, Location loc, Value task, ValueRange memory) {
        matmul.build(builder, loc, task,
                     {memory[0], memory[1], memory[3], memory[2], epilogue});
      });
  std::string assembly;
  CodegenDumps dumps;
  dumps.assembly = &assembly;
  Result<ObjectFile> object = cpu::compile(runner.module(), target, dumps);
  EXPECT_TRUE(object) << object.error().message();
  return assembly;
}

/// How often the innermost loops of \p assembly that multiply have vectors on
/// the stack; -1 where none multiplies.
int64_t vectorsOnStack(llvm::StringRef assembly) {
  llvm::SmallVector<llvm::StringRef> lines;
  assembly.split(lines, '\n');
  auto contains = [](llvm::StringRef line,
                     std::initializer_list<llvm::StringRef> any) {
    return llvm::any_of(
        any, [&](llvm::StringRef each) { return line.contains(each); });
  };
  llvm::StringMap<size_t> labels;
  int64_t found = -1;
  size_t innermost = 0;
  for (size_t at = 0; at < lines.size(); ++at) {
    const llvm::StringRef line = lines[at];
    if (line.starts_with(".L") && line.contains(':')) {
      labels[line.split(':').first] = at;
      continue;
    }
    const llvm::StringRef target = line.rsplit('\t').second;
    const auto label = labels.find(target);
    if (label == labels.end() || label->second < innermost)
      continue;
    innermost = at;
    const auto body =
        llvm::ArrayRef(lines).slice(label->second, at - label->second);
    if (llvm::none_of(body, [&](llvm::StringRef each) {
          return contains(
              each, {"\tvfmadd", "\tvpdpbusd", "\tvpmaddwd", "\tvdpbf16ps"});
        }))
      continue;
    found =
        std::max<int64_t>(found, 0) +
        llvm::count_if(body, [&](llvm::StringRef each) {
          return contains(each, {"(%rsp)", "(%rbp)"}) && each.contains("%zmm");
        });
  }
  return found;
}

/// With 32 registers tiles leave some to what LLVM loads ahead, in the order
/// that it has for each machine.
TEST(Arithmetic, SumsStayInRegisters) {
  for (const char *cpu : {"znver4", "skylake-avx512", "icelake-server"}) {
    const Target target = *Target::named("x86_64-unknown-linux-gnu", cpu, "");
    for (const Arithmetic &arithmetic :
         {Arithmetic(), Arithmetic::ofBytes(UI8, I8, target),
          Arithmetic::ofBFloat16(target)}) {
      if (!target.hasBF16Dot && arithmetic.lhs == BF16)
        continue;
      for (auto [m, n, k] : {std::tuple{64, 256, 256},
                             {65, 256, 256},
                             {60, 96, 256},
                             {64, 512, 256},
                             {27, 32, 768}})
        EXPECT_EQ(vectorsOnStack(assemblyOf(arithmetic, target,
                                            MatMulShape::dense(m, n, k))),
                  0)
            << cpu << ", " << nameOf(arithmetic) << ": " << m << "x" << n << "x"
            << k;
    }
  }
}

/// What is rounded behind products by weights that are widened stands once for
/// all rows, so that it takes no registers from the sums: twice a vector.
TEST(Arithmetic, RoundsInALoopBesideWidening) {
  const Target target =
      *Target::named("x86_64-unknown-linux-gnu", "znver4", "");
  const MatMulEpilogue rounded = [](OpBuilder &builder, Location loc,
                                    Value sums, const MatMulPosition &) {
    auto type = cast<VectorType>(sums.getType());
    for (int i = 0; i < 2; ++i) {
      sums = builder.create<arith::AddFOp>(loc, sums, sums);
      Value half = builder.create<arith::TruncFOp>(
          loc, type.clone(builder.getF16Type()), sums);
      sums = builder.create<arith::ExtFOp>(loc, type, half);
    }
    return sums;
  };
  auto roundings = [&](ElementType weights) {
    return llvm::StringRef(assemblyOf({F32, weights, F32}, target,
                                      MatMulShape::dense(66, 256, 256),
                                      rounded))
        .count("\tvcvtps2ph");
  };
  constexpr size_t vectors = 4, rows = 6;
  for (ElementType weights : {F16, I8})
    EXPECT_EQ(roundings(weights), 2 * vectors) << name(weights);
  EXPECT_GE(roundings(F32), 2 * vectors * rows);
}

/// A pair is two multiply-adds, the second number's first: the same bits.
TEST(Arithmetic, PairsOfBFloat16RoundTwice) {
  const Target host = *Target::host();
  if (!host.hasBF16Dot)
    GTEST_SKIP() << "no dot products of bf16";
  constexpr int64_t m = 5, n = 33, k = 7;
  const MatMul matmul(MatMulShape::dense(m, n, k), host,
                      Arithmetic::ofBFloat16(host));
  Tensor a = random(BF16, m * k, 1), b = random(BF16, k * n, 2);
  const Tensor c =
      productOf(matmul, Arithmetic::ofBFloat16(host), host, a, b, m, n);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      float sum = 0;
      auto add = [&](int64_t d) {
        if (d < k)
          sum = std::fma(float(a.toDouble(i * k + d)),
                         float(b.toDouble(d * n + j)), sum);
      };
      for (int64_t pair = 0; pair < k; pair += 2) {
        add(pair + 1);
        add(pair);
      }
      ASSERT_EQ(c.at<float>(i * n + j), sum) << i << " " << j;
    }
}

/// Elements of pairs have registers of their own, beside which no more than 24
/// sums stay in theirs: in tiles of any width, of known rows and open ones.
TEST(Arithmetic, TilesOfBFloat16LeaveRegisters) {
  const Target target =
      *Target::named("x86_64-unknown-linux-gnu", "znver4", "");
  for (int64_t columns : {16, 32, 48, 64, 96, 768, 3072})
    for (bool isDynamic : {false, true}) {
      MatMulShape shape = MatMulShape::dense(1008, columns, 768);
      if (isDynamic)
        shape.dynamicRows = {1008};
      const MatMul plan(shape, target, Arithmetic::ofBFloat16(target));
      EXPECT_LE(plan.taskRows() * plan.panelColumns() / target.f32Lanes, 24)
          << columns << (isDynamic ? " of open rows" : "");
    }
}

/// One instruction a vector and pair, and none that widens.
TEST(Arithmetic, InstructionsOfBFloat16) {
  const Target target =
      *Target::named("x86_64-unknown-linux-gnu", "znver4", "");
  const std::string assembly =
      assemblyOf(Arithmetic::ofBFloat16(target), target);
  EXPECT_NE(assembly.find("\tvdpbf16ps"), std::string::npos) << assembly;
  for (const char *other : {"\tvfmadd", "\tvpslld", "\tvpmovzxwd"})
    EXPECT_EQ(assembly.find(other), std::string::npos) << assembly;
}

/// What 64-bit Arm multiplies bytes and 16 bits with, and not lane by lane.
TEST(Arithmetic, InstructionsOfArm) {
  const Target dots = armOf("neoverse-n1"), older = armOf("cortex-a57"),
               matrices = armWithMatrices();
  EXPECT_EQ(older.features, "");
  struct Case {
    Arithmetic arithmetic;
    const Target &target;
    std::vector<const char *> has;
  };
  const Case cases[] = {
      {Arithmetic::ofBytes(I8, I8, dots), dots, {"\tsdot\t"}},
      {Arithmetic::ofBytes(I8, I8, older), older, {"\tsmull\t", "\tsadalp\t"}},
      {Arithmetic::ofBytes(UI8, UI8, older),
       older,
       {"\tumull\t", "\tuadalp\t"}},
      {Arithmetic::ofPairs(older), older, {"\tsmlal\t"}},
      {Arithmetic::ofBytes(I8, I8, matrices), matrices, {"\tsmmla\t"}},
      {Arithmetic::ofBFloat16(matrices), matrices, {"\tbfmmla\t"}}};
  for (const Case &each : cases) {
    const std::string assembly = assemblyOf(each.arithmetic, each.target);
    for (const char *instruction : each.has)
      EXPECT_NE(assembly.find(instruction), std::string::npos)
          << instruction << "in\n"
          << assembly;
    EXPECT_EQ(assembly.find("\tmla\tv"), std::string::npos) << assembly;
    EXPECT_EQ(assembly.find("\tmul\tv"), std::string::npos) << assembly;
  }
}

std::vector<ElementType> narrowTypes(const Target &target) {
  std::vector<ElementType> types = {
      I2, UI2, I4, UI4, I8, UI8, F8E4M3FN, F8E5M2, BF16, F8E4M3, F8E4M3FNUZ};
  if (target.convertsF16)
    types.push_back(F16);
  return types;
}

TEST(Arithmetic, ProductsByNarrowColumns) {
  Sweep sweep(2);
  for (const Target &target : arithmeticTargets())
    for (ElementType type : narrowTypes(target))
      for (auto [m, n, k] : {std::tuple{1, 1, 1},
                             {1, 40, 37},
                             {1, 130, 128},
                             {5, 33, 6},
                             {14, 70, 65},
                             {140, 40, 19}})
        if (sweep.takesNext())
          checkMatMul(Arithmetic::ofNarrow(F32, type, F32, target), target, m,
                      n, k);
}

/// Both of bytes that are no constant, two matrices, as distances from zero
/// points.
void checkComputedBytes(ElementType lhs, ElementType rhs, const Target &target,
                        MatMulShape shape, std::optional<int32_t> lhsZero,
                        std::optional<int32_t> rhsZero) {
  const Arithmetic arithmetic = Arithmetic::ofBytes(lhs, rhs, target);
  const auto [m, n, k] = std::tuple{shape.m, shape.n, shape.k};
  const bool isTransposed = shape.bLayout == MatMulShape::BLayout::Transposed;
  SCOPED_TRACE(nameOf(arithmetic) + ": " + std::to_string(m) + "x" +
               std::to_string(n) + "x" + std::to_string(k) +
               (isTransposed ? " transposed" : "") +
               (shape.turnsB ? " turned" : "") +
               (lhsZero ? " from " + std::to_string(*lhsZero) : "") +
               (rhsZero ? " by " + std::to_string(*rhsZero) : ""));
  // Other numbers lie between the rows and around the matrices.
  constexpr int64_t count = 2, apart = 3;
  shape.aRowStride = k + apart;
  shape.bStride = (isTransposed ? k : n) + apart;
  const int64_t aSize = m * shape.aRowStride.value(),
                bSize = (isTransposed ? n : k) * shape.bStride.value();
  shape.batch = {{count, aSize, bSize, m * n}};
  const MatMul matmul(shape, target, arithmetic);
  const ElementType inMemory = !shape.turnsB ? rhs : rhs == I8 ? UI8 : I8;
  Tensor a = random(lhs, count * aSize, 1),
         b = random(inMemory, count * bSize, 2);
  Tensor c(I32, {count * m * n});
  Tensor scratch = scratchOf(matmul);
  run(
      target, {&a, &b, &scratch, &c}, matmul.tasks(),
      [&](OpBuilder &builder, Location loc, Value task, ValueRange memory) {
        auto number = [&](std::optional<int32_t> zero) {
          return zero ? Value(builder.create<arith::ConstantOp>(
                            loc, builder.getI32IntegerAttr(*zero)))
                      : Value();
        };
        matmul.build(builder, loc, task,
                     {memory[0],
                      memory[1],
                      memory[3],
                      memory[2],
                      {},
                      {number(lhsZero), number(rhsZero)}});
      },
      &scratch);
  const double turn = !shape.turnsB ? 0 : rhs == I8 ? 128 : -128;
  for (int64_t matrix = 0; matrix < count; ++matrix)
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (int64_t d = 0; d < k; ++d) {
          const int64_t at = isTransposed ? j * shape.bStride.value() + d
                                          : d * shape.bStride.value() + j;
          sum +=
              (a.toDouble(matrix * aSize + i * shape.aRowStride.value() + d) -
               lhsZero.value_or(0)) *
              (b.toDouble(matrix * bSize + at) - turn - rhsZero.value_or(0));
        }
        expectNear(c, (matrix * m + i) * n + j, sum, 0);
      }
}

TEST(Arithmetic, ProductsOfComputedBytes) {
  Sweep sweep(12);
  for (const Target &target : arithmeticTargets())
    for (ElementType lhs : {UI8, I8})
      for (ElementType rhs : {I8, UI8})
        for (bool isTurned : {false, true})
          for (auto layout :
               {MatMulShape::BLayout::Rows, MatMulShape::BLayout::Transposed})
            for (auto [lhsZero, rhsZero] :
                 {std::pair<std::optional<int32_t>, std::optional<int32_t>>{},
                  {3, {}},
                  {{}, -5},
                  {255, 128}})
              for (auto [m, n, k] : {std::tuple{1, 1, 1},
                                     {1, 40, 37},
                                     {5, 33, 6},
                                     {13, 16, 4},
                                     {14, 170, 65},
                                     {3, 16, 131},
                                     {70, 64, 128}})
                if (sweep.takesNext() && isTaken(target)) {
                  MatMulShape shape = MatMulShape::dense(m, n, k);
                  shape.bLayout = layout;
                  shape.turnsB = isTurned;
                  checkComputedBytes(lhs, rhs, target, shape, lhsZero, rhsZero);
                }
}

/// The numbers that blocks of weights stand for.
void checkBlocks(ElementType type, const Target &target,
                 const MatMulShape &shape) {
  const Arithmetic arithmetic = Arithmetic::ofNarrow(F32, type, F32, target);
  const auto [m, n, k] = std::tuple{shape.m, shape.n, shape.k};
  const MatMulShape::Blocks &blocks = shape.blocks;
  SCOPED_TRACE(nameOf(arithmetic) + ": " + std::to_string(m) + "x" +
               std::to_string(n) + "x" + std::to_string(k) + " by " +
               std::to_string(blocks.size) + ", of " +
               std::to_string(blocks.columns) + " columns");
  MatMul matmul(shape, target, arithmetic);
  Tensor a = random(F32, m * k, 1), b = random(type, k * n, 2);
  Tensor packed(type, {matmul.packedElements()});
  matmul.pack(b.data(), n, 1, packed.mutableBytes());
  const int64_t count = shape.blockCount() * shape.blockColumns();
  Tensor scales = random(blocks.scale.value_or(F32), count, 3);
  Tensor zeros = random(blocks.zero.value_or(F32), count, 4);
  auto packNumbers = [&](const Tensor &numbers) {
    Tensor result(numbers.type(), {matmul.packedNumbers()});
    matmul.packNumbers(numbers.data(), int64_t(byteSize(numbers.type())),
                       result.mutableBytes());
    return result;
  };
  Tensor packedScales = packNumbers(scales), packedZeros = packNumbers(zeros);
  Tensor c(F32, {m * n});
  Tensor scratch = scratchOf(matmul);
  EXPECT_EQ(matmul.stages() > 1, shape.holdsSums);
  for (int64_t stage = 0; stage < matmul.stages(); ++stage)
    run(
        target, {&a, &packed, &packedScales, &packedZeros, &scratch, &c},
        matmul.tasks(),
        [&](OpBuilder &builder, Location loc, Value task, ValueRange memory) {
          MatMulRequest request{memory[0], memory[1], memory[5], memory[4]};
          if (blocks.scale)
            request.numbers.scales = memory[2];
          if (blocks.zero)
            request.numbers.zeros = memory[3];
          request.stage = stage;
          matmul.build(builder, loc, task, request);
        },
        &scratch);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0, magnitude = 0;
      for (int64_t d = 0; d < k; ++d) {
        const int64_t at = d / blocks.size * shape.blockColumns() +
                           j / std::max<int64_t>(1, blocks.columns);
        const double scale = blocks.scale ? scales.toDouble(at) : 1;
        const double zero = blocks.zero ? zeros.toDouble(at) : 0;
        const double weight = b.toDouble(d * n + j);
        sum += a.toDouble(i * k + d) * (weight - zero) * scale;
        magnitude += std::abs(a.toDouble(i * k + d) * scale) *
                     (std::abs(weight) + std::abs(zero));
      }
      expectNear(c, i * n + j, sum, magnitude);
    }
}

TEST(Arithmetic, ProductsByBlocks) {
  using Blocks = MatMulShape::Blocks;
  Sweep sweep(4);
  for (const Target &target : arithmeticTargets())
    for (ElementType type : {I2, I4, UI4, I8, UI8, F8E4M3FN})
      for (const Blocks &blocks :
           {Blocks{32, F32, {}}, Blocks{16, F32, UI8}, Blocks{32, BF16, I8},
            Blocks{64, {}, UI8}, Blocks{32, {}, F32}})
        for (auto [m, n, k] : {std::tuple{1, 40, 37},
                               {1, 130, 128},
                               {3, 33, 6},
                               {14, 70, 65},
                               {140, 40, 80}})
          if (sweep.takesNext()) {
            MatMulShape shape = MatMulShape::dense(m, n, k);
            shape.blocks = blocks;
            checkBlocks(type, target, shape);
          }
}

/// Along the columns of each row: whole vectors, the last ones in part, or all.
TEST(Arithmetic, ProductsByBlocksOfColumns) {
  using Blocks = MatMulShape::Blocks;
  Sweep sweep(6);
  for (const Target &target : arithmeticTargets())
    for (ElementType type : {I2, I4, UI4, I8, UI8, F8E4M3FN})
      for (const Blocks &blocks :
           {Blocks{1, F32, {}, 32}, Blocks{1, F32, UI8, 16},
            Blocks{1, BF16, I8, 64}, Blocks{1, {}, UI8, 48},
            Blocks{1, F32, F32, 1000}})
        for (auto [m, n, k] : {std::tuple{1, 40, 37},
                               {1, 130, 128},
                               {3, 33, 6},
                               {14, 70, 65},
                               {140, 40, 83}})
          if (sweep.takesNext()) {
            MatMulShape shape = MatMulShape::dense(m, n, k);
            shape.blocks = blocks;
            checkBlocks(type, target, shape);
          }
}

/// Rows and a widened panel that do not fit a small cache together.
TEST(Arithmetic, StagesOfProductsByBlocks) {
  Target target = *Target::host();
  // Less than rows and a panel together.
  target.l2Bytes = int64_t(target.f32Lanes) << 15;
  for (ElementType type : {I4, UI4, I8, F8E4M3FN})
    for (int64_t block : {32, 96})
      for (auto [m, n, k] : {std::tuple{64, 192, 1024}, {61, 197, 1030}}) {
        MatMulShape shape = MatMulShape::dense(m, n, k);
        shape.blocks = {block, F32, UI8};
        shape.holdsSums = true;
        checkBlocks(type, target, shape);
        shape.blocks = {1, F32, UI8, block};
        checkBlocks(type, target, shape);
      }
}

/// A zero point as kernels are given it: in their code, or in memory.
Tensor setZeroPoint(WindowShape &shape, ElementType element, int64_t zeroPoint,
                    bool isInMemory) {
  shape.zeroPoint = isInMemory ? 0 : zeroPoint;
  shape.hasZeroInMemory = isInMemory;
  Tensor zero(element, {1});
  std::memset(zero.mutableBytes(), isInMemory ? int(zeroPoint) : 0x55,
              zero.bytes());
  return zero;
}

/// A sum of products, and of their magnitudes.
struct WindowSums {
  double sum = 0, magnitude = 0;

  /// The nine taps of a 3x3 window around \p pixel of an image of \p size
  /// squared; \p x gives the number at a pixel, \p w that of a tap.
  void addTaps(int64_t pixel, int64_t size,
               llvm::function_ref<double(int64_t)> x,
               llvm::function_ref<double(int64_t)> w) {
    for (int64_t tap = 0; tap < 9; ++tap) {
      const int64_t row = pixel / size + tap / 3 - 1;
      const int64_t column = pixel % size + tap % 3 - 1;
      if (row < 0 || column < 0 || row >= size || column >= size)
        continue;
      const double product = x(row * size + column) * w(tap);
      sum += product;
      magnitude += std::abs(product);
    }
  }
};

/// Of 3x3 with padding, in blocks of channels.
void checkConvolution(const Arithmetic &arithmetic, const Target &target,
                      int64_t inputs, int64_t outputs, int64_t size,
                      int64_t zeroPoint = 0, bool isInMemory = false) {
  SCOPED_TRACE(nameOf(arithmetic) + ": " + std::to_string(inputs) + " to " +
               std::to_string(outputs) + " from " + std::to_string(zeroPoint) +
               (isInMemory ? " in memory" : ""));
  ConvolutionShape shape;
  Tensor zero = setZeroPoint(shape, arithmetic.lhs, zeroPoint, isInMemory);
  shape.inputChannels = inputs;
  shape.outputChannels = outputs;
  shape.inputHeight = shape.inputWidth = size;
  shape.kernelHeight = shape.kernelWidth = 3;
  shape.setPadding(1, 1);
  Convolution convolution(shape, target, arithmetic);
  const int64_t lanes = arithmetic.lanes(target), pixels = size * size;
  auto blocks = [&](int64_t channels) {
    return (channels + lanes - 1) / lanes;
  };
  auto at = [&](int64_t c, int64_t pixel) {
    return (c / lanes * pixels + pixel) * lanes + c % lanes;
  };
  // Lanes beyond the last channel hold anything.
  Tensor x = random(arithmetic.lhs, blocks(inputs) * pixels * lanes, 3);
  Tensor w = random(arithmetic.rhs, outputs * inputs * 9, 4);
  Tensor packed(arithmetic.rhs, {convolution.packedElements()});
  convolution.pack(w.data(), packed.mutableBytes());
  Tensor y(arithmetic.accumulator, {blocks(outputs) * pixels * lanes});
  run(target, {&x, &packed, &zero, &y}, convolution.tasks(),
      [&](OpBuilder &builder, Location loc, Value task, ValueRange memory) {
        convolution.build(builder, loc, task, memory[0], memory[1], memory[3],
                          {}, memory[2]);
      });
  for (int64_t o = 0; o < outputs; ++o)
    for (int64_t pixel = 0; pixel < pixels; ++pixel) {
      WindowSums sums;
      for (int64_t c = 0; c < inputs; ++c)
        sums.addTaps(
            pixel, size,
            [&](int64_t p) { return x.toDouble(at(c, p)) - double(zeroPoint); },
            [&](int64_t tap) {
              return w.toDouble((o * inputs + c) * 9 + tap);
            });
      expectNear(y, at(o, pixel), sums.sum, sums.magnitude);
    }
}

TEST(Arithmetic, Convolutions) {
  Sweep sweep;
  for (const Target &target : arithmeticTargets())
    for (const Arithmetic &arithmetic : arithmeticsOf(target))
      for (auto [inputs, outputs, size] :
           {std::tuple{16, 16, 5}, {5, 40, 4}, {37, 20, 6}})
        if (sweep.takesNext() && isTaken(target))
          checkConvolution(arithmetic, target, inputs, outputs, size);
}

/// Eight channels to a word, of one block or of two.
TEST(Arithmetic, ConvolutionsByFourBits) {
  for (const Target &target : arithmeticTargets())
    for (ElementType type : {I4, UI4}) {
      const Arithmetic arithmetic =
          Arithmetic::ofNarrow(F32, type, F32, target);
      for (auto [inputs, outputs, size] :
           {std::tuple{8, 16, 1}, {40, 20, 6}, {32, 70, 19}}) {
        ConvolutionShape shape;
        shape.inputChannels = inputs;
        if (Convolution::takesGroups(shape, arithmetic.lanes(target),
                                     arithmetic.kGroup))
          checkConvolution(arithmetic, target, inputs, outputs, size);
      }
    }
  ConvolutionShape shape;
  shape.inputChannels = 24;
  EXPECT_TRUE(Convolution::takesGroups(shape, 16, 8));
  EXPECT_TRUE(Convolution::takesGroups(shape, 4, 8));
  EXPECT_FALSE(Convolution::takesGroups(shape, 4, 6));
  shape.groups = 2;
  EXPECT_FALSE(Convolution::takesGroups(shape, 16, 8));
  shape.groups = 1;
  shape.hasPlanarInput = true;
  EXPECT_FALSE(Convolution::takesGroups(shape, 16, 8));
}

/// Padding is as far from a zero point as the zero point itself.
TEST(Arithmetic, ConvolutionsOfBytesWithZeroPoints) {
  for (const Target &target : arithmeticTargets())
    for (ElementType lhs : {UI8, I8})
      for (ElementType rhs : {I8, UI8})
        for (int64_t zeroPoint : {-128, 3, 255}) {
          const bool isElement = lhs == I8 ? zeroPoint < 128 : zeroPoint >= 0;
          if (!isElement)
            continue;
          const Arithmetic arithmetic = Arithmetic::ofBytes(lhs, rhs, target);
          for (auto [inputs, outputs, size] :
               {std::tuple{5, 40, 1}, {37, 20, 6}, {50, 70, 19}})
            for (bool isInMemory : {false, true})
              if (isInMemory == (size == 6) && isTaken(target))
                checkConvolution(arithmetic, target, inputs, outputs, size,
                                 zeroPoint, isInMemory);
        }
}

void checkDepthwise(const Arithmetic &arithmetic, const Target &target,
                    int64_t zeroPoint = 0, bool isInMemory = false) {
  SCOPED_TRACE(nameOf(arithmetic) + " from " + std::to_string(zeroPoint) +
               (isInMemory ? " in memory" : ""));
  constexpr int64_t channels = 21, size = 6, pixels = size * size;
  ChannelwiseShape shape;
  Tensor zero = setZeroPoint(shape, arithmetic.lhs, zeroPoint, isInMemory);
  shape.channels = channels;
  shape.inputHeight = shape.inputWidth = size;
  shape.kernelHeight = shape.kernelWidth = 3;
  shape.setPadding(1, 1);
  Depthwise depthwise(shape, target, arithmetic);
  const int64_t lanes = arithmetic.lanes(target);
  const int64_t blocks = (channels + lanes - 1) / lanes;
  auto at = [&](int64_t c, int64_t pixel) {
    return (c / lanes * pixels + pixel) * lanes + c % lanes;
  };
  Tensor x = random(arithmetic.lhs, blocks * pixels * lanes, 5);
  Tensor w = random(arithmetic.rhs, channels * 9, 6);
  Tensor packed(arithmetic.rhs, {depthwise.packedElements()});
  depthwise.pack(w.data(), packed.mutableBytes());
  Tensor y(arithmetic.accumulator, {blocks * pixels * lanes});
  run(target, {&x, &packed, &zero, &y}, depthwise.tasks(),
      [&](OpBuilder &builder, Location loc, Value task, ValueRange memory) {
        depthwise.build(builder, loc, task, memory[0], memory[1], memory[3], {},
                        memory[2]);
      });
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t pixel = 0; pixel < pixels; ++pixel) {
      WindowSums sums;
      sums.addTaps(
          pixel, size,
          [&](int64_t p) { return x.toDouble(at(c, p)) - double(zeroPoint); },
          [&](int64_t tap) { return w.toDouble(c * 9 + tap); });
      expectNear(y, at(c, pixel), sums.sum, sums.magnitude);
    }
}

TEST(Arithmetic, DepthwiseConvolutions) {
  for (const Target &target : arithmeticTargets())
    for (const Arithmetic &arithmetic : arithmeticsOf(target))
      if (arithmetic.kGroup == 1)
        checkDepthwise(arithmetic, target);
}

TEST(Arithmetic, DepthwiseConvolutionsOfBytesWithZeroPoints) {
  for (const Target &target : arithmeticTargets())
    for (auto [element, zeroPoint] :
         {std::pair<ElementType, int64_t>{UI8, 3}, {UI8, 255}, {I8, -128}})
      for (bool isInMemory : {false, true})
        checkDepthwise({element, F32, F32}, target, zeroPoint, isInMemory);
}

/// The greatest of bytes is one of them; means are of distances, in f32.
void checkPool(ElementType element, Pooling::Kind kind, const Target &target,
               int64_t zeroPoint, int64_t window, int64_t stride) {
  SCOPED_TRACE(std::string(name(element)) + " from " +
               std::to_string(zeroPoint) + ", " + std::to_string(window) + "/" +
               std::to_string(stride) + ", kind " + std::to_string(int(kind)));
  constexpr int64_t channels = 21, size = 9;
  ChannelwiseShape shape;
  shape.channels = channels;
  shape.inputHeight = shape.inputWidth = size;
  shape.kernelHeight = shape.kernelWidth = window;
  shape.strideHeight = shape.strideWidth = stride;
  shape.zeroPoint = zeroPoint;
  shape.setPadding(window / 2, window / 2);
  Pooling pooling(kind, shape, target, element);
  const int64_t lanes = target.f32Lanes,
                blocks = (channels + lanes - 1) / lanes;
  auto at = [&](int64_t c, int64_t pixel, int64_t pixels) {
    return (c / lanes * pixels + pixel) * lanes + c % lanes;
  };
  const bool isMaximum = kind == Pooling::Kind::Maximum;
  Tensor x = random(element, blocks * shape.inputPixels().value() * lanes, 7);
  Tensor y(isMaximum ? element : F32,
           {blocks * shape.outputPixels().value() * lanes});
  run(target, {&x, &y}, pooling.tasks(),
      [&](OpBuilder &builder, Location loc, Value task, ValueRange memory) {
        pooling.build(builder, loc, task, memory[0], memory[1], {});
      });
  for (int64_t c = 0; c < channels; ++c)
    for (int64_t pixel = 0; pixel < shape.outputPixels().value(); ++pixel) {
      double sum = 0, greatest = -1000, present = 0;
      for (int64_t tap = 0; tap < shape.taps(); ++tap) {
        const int64_t row = pixel / shape.outputWidth.value() * stride +
                            tap / window - window / 2;
        const int64_t column = pixel % shape.outputWidth.value() * stride +
                               tap % window - window / 2;
        if (row < 0 || column < 0 || row >= size || column >= size)
          continue;
        const double number =
            x.toDouble(at(c, row * size + column, shape.inputPixels().value()));
        greatest = std::max(greatest, number);
        sum += number - double(zeroPoint);
        ++present;
      }
      const double divisor = kind == Pooling::Kind::AverageOfWindow
                                 ? double(shape.taps())
                                 : present;
      const double expected =
          isMaximum ? greatest : double(float(sum / divisor));
      ASSERT_EQ(y.toDouble(at(c, pixel, shape.outputPixels().value())),
                expected);
    }
}

TEST(Arithmetic, PoolsOfBytes) {
  Sweep sweep;
  for (const Target &target : arithmeticTargets())
    for (ElementType element : {UI8, I8})
      for (auto [window, stride] : {std::pair{3, 1}, {3, 2}, {2, 2}, {9, 9}})
        for (Pooling::Kind kind :
             {Pooling::Kind::Maximum, Pooling::Kind::AverageOfWindow,
              Pooling::Kind::AverageOfPresent})
          for (int64_t zeroPoint : {0, 3, element == UI8 ? 255 : -128})
            if ((kind != Pooling::Kind::Maximum || zeroPoint == 0) &&
                sweep.takesNext())
              checkPool(element, kind, target, zeroPoint, window, stride);
}

} // namespace
