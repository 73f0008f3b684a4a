// Products of two matrices that are both computed, of dynamic sizes, by the
// instructions of matrix units, which are emulated: one program for all sizes,
// against the oracle, with the same bits in any company and from programs of
// known sizes.
//
// Covers: backend/cpu/kernels/amx TileMatrices TileMatrixBlocks

#include "Sweep.h"
#include "backend/cpu/DynamicCase.h"
#include "backend/cpu/ProgramText.h"
#include "backend/cpu/TileTests.h"
#include "backend/cpu/cost/Estimates.h"
#include "backend/cpu/kernels/amx/TileMatrices.h"

#include "runtime/MappedFile.h"

#include <cmath>
#include <filesystem>
#include <limits>

using namespace sinter;
using namespace sinter::test;

namespace {

/// The machine that we run on with matrix units, as fast as a Sapphire Rapids;
/// its cache holds a few rows.
cpu::CpuOptions estimatedFor(Precision precision) {
  cpu::CpuOptions options;
  options.target = cpu::hostWithTiles();
  options.target->l2Bytes = 48 << 10;
  options.precision = precision;
  options.onCode = cpu::emulateTiles;
  return options;
}

/// The same, where tiles are chosen wherever they can be.
cpu::CpuOptions preferredFor(Precision precision) {
  cpu::CpuOptions options = estimatedFor(precision);
  cpu::preferTiles(*options.target);
  options.target->l2Bytes = 48 << 10;
  return options;
}

std::string listOf(const std::vector<int64_t> &numbers) {
  std::string text;
  for (int64_t each : numbers)
    text += (text.empty() ? "" : ", ") + std::to_string(each);
  return "[" + text + "]";
}

/// Matrices, whose first dimension is the batch if there is one, and which of
/// their other dimensions is summed up.
struct Factors {
  std::string name;
  std::vector<int64_t> a, b;
  int64_t aDepth, bDepth;
  int64_t batches = 1;

  /// Batch, rows, columns.
  std::vector<int64_t> result() const {
    std::vector<int64_t> sizes(a.begin(), a.begin() + batches);
    for (const auto &[shape, depth] : {std::pair{a, aDepth}, {b, bDepth}})
      for (int64_t i = batches; i < int64_t(shape.size()); ++i)
        if (i != depth)
          sizes.push_back(shape[size_t(i)]);
    return sizes;
  }

  /// tanh(a * b), or a * b.
  std::string body(bool hasEpilogue = true) const {
    std::vector<int64_t> both;
    for (int64_t i = 0; i < batches; ++i)
      both.push_back(i);
    const std::string y = typeOf(result());
    std::string text =
        "(" + argument("%a", a) + ", " + argument("%b", b) + ") -> " + y +
        " {\n %y = stablehlo.dot_general %a, %b, batching_dims = " +
        listOf(both) + " x " + listOf(both) +
        ", contracting_dims = " + listOf({aDepth}) + " x " + listOf({bDepth}) +
        " : (" + typeOf(a) + ", " + typeOf(b) + ") -> " + y + "\n";
    if (!hasEpilogue)
      return text + " return %y : " + y + "\n}";
    return text + " %t = stablehlo.tanh %y : " + y + "\n return %t : " + y +
           "\n}";
  }
};

const Factors factors[] = {
    {"rows", {batch, length, 40}, {batch, 40, 37}, 2, 1},
    {"columns", {batch, 20, 64}, {batch, 64, length}, 2, 1},
    {"depth", {batch, 20, length}, {batch, length, 50}, 2, 1},
    {"depth, which lies apart in A",
     {batch, length, 20},
     {batch, length, 50},
     1,
     1},
    {"rows and columns, B transposed",
     {batch, length, 35},
     {batch, length, 35},
     2,
     2},
    {"rows and depth", {batch, length, length}, {batch, length, 16}, 2, 1},
    {"rows, columns and depth",
     {batch, length, length},
     {batch, length, length},
     1,
     1},
    {"rows that lie side by side", {batch, 70, length}, {batch, 70, 12}, 1, 1},
    {"batch", {batch, 33, 70}, {batch, 70, 9}, 2, 1}};

struct FactorsCase {
  Precision precision;
  std::string kernel;
  double error;
};
const FactorsCase factorsCases[] = {{Precision::Default, "tiles-split3", 1e-3},
                                    {Precision::Exact, "tiles-split6", 3e-5},
                                    {Precision::BFloat16, "tiles-bf16", 2e-1}};

TEST(TileMatrixBlocks, AgreeWithClosedPrograms) {
  NEEDS_TILES();
  Sweep sweep(2);
  for (const FactorsCase &each : factorsCases)
    for (const Factors &product : factors) {
      if (!sweep.takesNext())
        continue;
      SCOPED_TRACE(each.kernel + " of open " + product.name);
      const cpu::CpuOptions options = preferredFor(each.precision);
      const std::string body = product.body();
      EXPECT_EQ(productsOf(body, options), each.kernel);
      // A single row or column is a reduction in a static program.
      DynamicCase test{"product",      body, {product.a, product.b},
                       {1, 5, 33, 70}, true, each.error,
                       each.error};
      test.closedFrom = 2;
      checkProgram(test, options);
    }
}

//===----------------------------------------------------------------------===//
// Against static programs
//===----------------------------------------------------------------------===//

struct SizesOfRun {
  int64_t n, s;
};
struct InputOfRun {
  std::vector<int64_t> shape;
  ElementType type = ElementType::F32;
};
using ChangeInputs = std::function<void(std::vector<Tensor> &)>;

/// A program for all sizes has the bits of programs of each, on one thread and
/// on two. With \p error, the oracle's numbers but for that part of the
/// greatest.
void expectClosedBits(const std::string &body,
                      const std::vector<InputOfRun> &of,
                      const std::vector<SizesOfRun> &sizes,
                      const cpu::CpuOptions &options,
                      std::optional<double> error = {},
                      const ChangeInputs &change = {}) {
  Model model = parseModel(body);
  auto program = compileRaised(body, options);
  ASSERT_TRUE(program) << program.error().message();
  ASSERT_TRUE(program->dynamic);
  auto shared = std::make_shared<const Program>(std::move(*program));
  for (const SizesOfRun &size : sizes) {
    SCOPED_TRACE("N = " + std::to_string(size.n) +
                 ", S = " + std::to_string(size.s));
    std::vector<Tensor> inputs;
    for (const InputOfRun &each : of) {
      Shape shape;
      for (int64_t known : each.shape)
        shape.push_back(known == batch    ? size.n
                        : known == length ? size.s
                                          : known);
      inputs.emplace_back(each.type, shape);
      fillRandom(inputs.back(), inputs.size());
    }
    if (change)
      change(inputs);
    auto closed = runClosed(body, inputs, options);
    ASSERT_TRUE(closed) << closed.error().message();
    for (unsigned threads : {1, 2}) {
      auto executor = ProgramExecutor::create(
          shared, std::make_shared<ThreadPool>(threads));
      ASSERT_TRUE(executor) << executor.error().message();
      auto got = (*executor)->run(inputs);
      ASSERT_TRUE(got) << got.error().message();
      EXPECT_TRUE(isSame((*got)[0], (*closed)[0])) << threads << " threads";
    }
    if (!error)
      continue;
    auto expected = interpret(model.entry(), inputs);
    ASSERT_TRUE(expected) << expected.error().message();
    double greatest = 0;
    for (int64_t i = 0; i < (*expected)[0].size(); ++i)
      greatest = std::max(greatest, std::abs((*expected)[0].toDouble(i)));
    for (int64_t i = 0; i < (*expected)[0].size(); ++i)
      ASSERT_NEAR((*closed)[0].toDouble(i), (*expected)[0].toDouble(i),
                  *error * greatest)
          << "element " << i;
  }
}

void expectClosedBits(const Factors &product,
                      const std::vector<SizesOfRun> &sizes,
                      const cpu::CpuOptions &options,
                      std::optional<double> error = {},
                      const ChangeInputs &change = {}) {
  SCOPED_TRACE("open " + product.name);
  expectClosedBits(product.body(/*hasEpilogue=*/false),
                   {{product.a}, {product.b}}, sizes, options, error, change);
}

/// More than one piece of the depth, more than one task of rows and of columns.
TEST(TileMatrixBlocks, ManyPiecesRowsAndColumns) {
  NEEDS_TILES();
  const cpu::CpuOptions options = preferredFor(Precision::Default);
  const Factors deep[] = {
      {"depth", {batch, 17, length}, {batch, length, 20}, 2, 1},
      {"depth, which lies apart in A",
       {length, batch},
       {length, 35},
       0,
       0,
       /*batches=*/0},
      {"rows of many", {batch, length, 520}, {batch, 520, 16}, 2, 1},
      {"rows and columns of many, B transposed",
       {batch, 1100},
       {length, 1100},
       1,
       1,
       /*batches=*/0}};
  for (const Factors &product : deep)
    expectClosedBits(product, {{2, 513}, {3, 1100}}, options, 1e-4);
  const Factors wide[] = {
      {"rows and columns", {batch, 20}, {20, length}, 1, 0, /*batches=*/0},
      {"rows", {batch, length, 24}, {batch, 24, 300}, 2, 1},
      {"rows, which lie side by side",
       {33, batch},
       {33, length},
       0,
       0,
       /*batches=*/0}};
  for (const Factors &product : wide)
    expectClosedBits(product,
                     {{64, 256}, {65, 257}, {200, 2}, {3, 530}, {0, 5}, {9, 0}},
                     options, 1e-4);
}

/// So many tasks that some take their neighbours' rows and columns.
TEST(TileMatrixBlocks, TasksOfSeveralBlocks) {
  NEEDS_TILES();
  cpu::CpuOptions options = preferredFor(Precision::BFloat16);
  options.target->l2Bytes = 2 << 20;
  const Factors rowsAndColumns{
      "rows and columns", {batch, 20}, {20, length}, 1, 0, /*batches=*/0},
      matrices{"columns", {batch, 40, 520}, {batch, 520, length}, 2, 1},
      depths{"depth", {batch, 100, length}, {batch, length, 40}, 2, 1};
  expectClosedBits(rowsAndColumns, {{1000, 600}, {500, 1100}, {2100, 17}},
                   options, 1e-1);
  expectClosedBits(matrices, {{8, 270}}, options, 1e-1);
  expectClosedBits(depths, {{8, 520}, {3, 1040}}, options, 1e-1);
}

/// Nothing to sum up gives zeros, and what follows of them.
TEST(TileMatrixBlocks, NoDepth) {
  NEEDS_TILES();
  const Factors product{
      "depth", {batch, 20, length}, {batch, length, 50}, 2, 1};
  expectClosedBits(product, {{2, 0}, {1, 3}}, preferredFor(Precision::Default),
                   1e-4);
}

/// Random sizes of all combinations.
TEST(TileMatrixBlocks, RandomSizes) {
  NEEDS_TILES();
  const cpu::CpuOptions options = preferredFor(Precision::Exact);
  uint64_t state = 7;
  auto upTo = [&](uint64_t most) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return int64_t((state >> 33) % most) + 2;
  };
  for (const Factors &product : factors)
    expectClosedBits(
        product,
        {{upTo(4), upTo(100)}, {upTo(4), upTo(100)}, {upTo(2), upTo(300)}},
        options, 1e-5);
}

/// By estimates, which kernel it is follows from the depth alone, also where
/// only the program that runs knows it.
TEST(TileMatrixBlocks, TheDepthDecides) {
  NEEDS_TILES();
  const cpu::CpuOptions options = estimatedFor(Precision::Default);
  const Factors product{
      "depth", {batch, 18, length}, {batch, length, 20}, 2, 1};
  std::vector<std::string> kernels;
  for (int64_t depth : {1, 8, 20, 40, 100, 600, 2000}) {
    Factors known = product;
    known.a[2] = known.b[1] = depth;
    kernels.push_back(productsOf(known.body(), options));
    expectClosedBits(product, {{2, depth}}, options, 1e-4);
  }
  EXPECT_EQ(kernels.front(), "matmul");
  EXPECT_EQ(kernels.back(), "tiles-split3");
  EXPECT_NE(llvm::find(kernels, "tiles-split6"), kernels.end());
}

/// One number that parts do not hold, in either factor, in any piece.
TEST(TileMatrixBlocks, HardNumbers) {
  NEEDS_TILES();
  const cpu::CpuOptions options = preferredFor(Precision::Default);
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const Factors products[] = {{"depth, which lies apart in A",
                               {length, 20},
                               {length, 40},
                               0,
                               0,
                               /*batches=*/0},
                              {"depth",
                               {20, length},
                               {length, 40},
                               1,
                               0,
                               /*batches=*/0},
                              {"rows and columns, B transposed",
                               {batch, 530},
                               {length, 530},
                               1,
                               1,
                               /*batches=*/0}};
  Sweep sweep(6);
  for (const Factors &product : products)
    for (float number : {infinity, std::nanf(""), -3e38f, 4e-39f})
      for (size_t factor : {0, 1})
        for (double place : {0.0, 0.3, 0.999}) {
          if (!sweep.takesNext())
            continue;
          SCOPED_TRACE(std::to_string(number) + " in factor " +
                       std::to_string(factor) + " at " + std::to_string(place));
          expectClosedBits(product, {{18, product.a[1] == 530 ? 37 : 530}},
                           options, {}, [&](std::vector<Tensor> &inputs) {
                             Tensor &tensor = inputs[factor];
                             tensor.mutableValues<float>()[size_t(
                                 place * double(tensor.size()))] = number;
                           });
        }
}

/// Numbers of f16 and bf16, whose products are exact.
TEST(TileMatrixBlocks, NumbersOfFewerBits) {
  NEEDS_TILES();
  const cpu::CpuOptions options = preferredFor(Precision::Default);
  for (const auto &[element, type, kernel] :
       {std::tuple{"f16", ElementType::F16, "tiles-split4"},
        {"bf16", ElementType::BF16, "tiles-bf16"}})
    for (const Factors &product : {factors[2], factors[4], factors[6]}) {
      SCOPED_TRACE(std::string(element) + " of open " + product.name);
      const std::string a = typeOf(product.a, element),
                        b = typeOf(product.b, element),
                        y = typeOf(product.result(), element);
      const std::string body =
          "(" + argument("%a", product.a, element) + ", " +
          argument("%b", product.b, element) + ") -> " + y +
          " {\n %y = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], "
          "contracting_dims = " +
          listOf({product.aDepth}) + " x " + listOf({product.bDepth}) + " : (" +
          a + ", " + b + ") -> " + y + "\n return %y : " + y + "\n}";
      EXPECT_EQ(productsOf(body, options), kernel);
      expectClosedBits(body, {{product.a, type}, {product.b, type}},
                       {{2, 33}, {1, 70}}, options, 1e-2);
    }
}

/// Bytes of either sign, less zero points.
TEST(TileMatrixBlocks, Bytes) {
  NEEDS_TILES();
  const cpu::CpuOptions options = preferredFor(Precision::Default);
  Sweep sweep(5);
  for (const auto &[a, typeOfA] :
       {std::pair{"ui8", ElementType::UI8}, {"i8", ElementType::I8}})
    for (const auto &[b, typeOfB] :
         {std::pair{"ui8", ElementType::UI8}, {"i8", ElementType::I8}})
      for (auto [zeroOfA, zeroOfB] :
           {std::pair{0, 0}, {100, 0}, {0, -7}, {3, 100}})
        for (const Factors &product :
             {factors[0], factors[2], factors[4], factors[5]}) {
          if (!sweep.takesNext())
            continue;
          SCOPED_TRACE(std::string(a) + " by " + b + " from " +
                       std::to_string(zeroOfA) + " and " +
                       std::to_string(zeroOfB) + " of open " + product.name);
          const std::string wideA = typeOf(product.a, "i32"),
                            wideB = typeOf(product.b, "i32"),
                            y = typeOf(product.result(), "i32");
          auto distance = [](const std::string &name, const std::string &from,
                             const std::string &wide, int zero) {
            return " %" + name + "i = stablehlo.convert %" + name + " : (" +
                   from + ") -> " + wide + "\n %" + name +
                   "s = stablehlo.constant dense<" + std::to_string(zero) +
                   "> : tensor<i32>\n %" + name + "z = nn.broadcast_like %" +
                   name + "s, %" + name + "i : (tensor<i32>, " + wide +
                   ") -> " + wide + "\n %" + name + "d = stablehlo.subtract %" +
                   name + "i, %" + name + "z : " + wide + "\n";
          };
          const std::string body =
              "(" + argument("%a", product.a, a) + ", " +
              argument("%b", product.b, b) + ") -> " + y + " {\n" +
              distance("a", typeOf(product.a, a), wideA, zeroOfA) +
              distance("b", typeOf(product.b, b), wideB, zeroOfB) +
              " %y = stablehlo.dot_general %ad, %bd, batching_dims = [0] x "
              "[0], contracting_dims = " +
              listOf({product.aDepth}) + " x " + listOf({product.bDepth}) +
              " : (" + wideA + ", " + wideB + ") -> " + y +
              "\n return %y : " + y + "\n}";
          EXPECT_EQ(productsOf(body, options), "tiles-i8");
          expectClosedBits(body, {{product.a, typeOfA}, {product.b, typeOfB}},
                           {{2, 33}, {1, 1}, {1, 1100}, {2, 0}}, options, 0.0);
        }
}

/// Numbers that lie apart along either side, since the batch is the last
/// dimension, known or not.
TEST(TileMatrixBlocks, NumbersThatLieApart) {
  NEEDS_TILES();
  const cpu::CpuOptions options = preferredFor(Precision::Default);
  for (int64_t matrices : {batch, int64_t(3)})
    for (int64_t depth : {length, int64_t(40)}) {
      const std::vector<int64_t> a = {length, depth, matrices},
                                 b = {matrices, depth, 30};
      const std::string y = typeOf({matrices, length, 30});
      const std::string body =
          "(" + argument("%a", a) + ", " + argument("%b", b) + ") -> " + y +
          " {\n %y = stablehlo.dot_general %a, %b, batching_dims = [2] x [0], "
          "contracting_dims = [1] x [1] : (" +
          typeOf(a) + ", " + typeOf(b) + ") -> " + y + "\n return %y : " + y +
          "\n}";
      SCOPED_TRACE(body);
      expectClosedBits(body, {{a}, {b}}, {{3, 20}, {3, 40}}, options, 1e-4);
      EXPECT_NE(productsOf(body, options).find("tiles-split3"),
                std::string::npos);
    }
}

TEST(TileMatrixBlocks, AreForMatrixUnitsOnly) {
  cpu::MatMulShape shape;
  shape.bLayout = cpu::MatMulShape::BLayout::Rows;
  shape.dynamic.emplace();
  constexpr const char *machine = "x86_64-unknown-linux-gnu";
  for (auto [features, areTaken] : {std::pair{"", true}, {"-amx-tile", false}})
    EXPECT_EQ(
        cpu::TileMatrices::supports(
            shape, *cpu::Target::named(machine, "sapphirerapids", features)),
        areTaken);
}

/// Code for a machine that has matrix units: registers are configured once,
/// and each way to multiply is there once for two tiles of rows and once for
/// one.
TEST(TileMatrixBlocks, Code) {
  TemporaryFolder folder;
  cpu::CpuOptions options;
  options.target =
      *cpu::Target::named("x86_64-unknown-linux-gnu", "sapphirerapids", "");
  options.dumpFolder = folder.file("code");
  std::filesystem::create_directory(options.dumpFolder);
  // Six products and three, and vectors for short ones.
  const Factors product{"depth", {length, 768}, {length, 300}, 0,
                        0,       /*batches=*/0};
  auto program = compileRaised(product.body(/*hasEpilogue=*/false), options);
  ASSERT_TRUE(program) << program.error().message();
  for (const char *feature : {"amx-bf16", "amx-tile"})
    EXPECT_TRUE(llvm::is_contained(program->features, feature));
  std::string assembly;
  for (const auto &entry : std::filesystem::directory_iterator(
           std::filesystem::path(options.dumpFolder)))
    if (entry.path().extension() == ".s")
      assembly += *readFile(entry.path().string());
  auto count = [&](const std::string &instruction) {
    int64_t number = 0;
    for (size_t at = 0;
         (at = assembly.find(instruction, at)) != std::string::npos; ++at)
      ++number;
    return number;
  };
  EXPECT_EQ(count("ldtilecfg"), 1);
  EXPECT_EQ(count("tdpbf16ps"), (6 + 3) * (4 + 2));
  // Sums that wait come back.
  EXPECT_GE(count("tileloadd"), 2 * (4 + 2));
  EXPECT_GE(count("vfmadd"), 1);
}

} // namespace
