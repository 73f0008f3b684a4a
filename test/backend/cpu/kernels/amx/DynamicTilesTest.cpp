// Products of dynamic sizes by the instructions of matrix units, which are
// emulated: one program for all sizes, against the oracle, with the same bits
// in any company and from programs of known sizes.
//
// Covers: backend/cpu/kernels/amx TermSplitter DynamicTileTasks TileMatMul
// Covers: backend/cpu/kernels/gemm PanelChunks

#include "backend/cpu/DynamicCase.h"
#include "backend/cpu/TileTests.h"

using namespace sinter;
using namespace sinter::test;

namespace {

/// The machine that we run on with matrix units, which are chosen; its cache
/// holds a few tiles of rows, and panels are worth a task each.
cpu::CpuOptions optionsFor(Precision precision) {
  cpu::CpuOptions options;
  options.target = cpu::hostWithTiles();
  cpu::preferTiles(*options.target);
  options.target->l2Bytes = 48 << 10;
  options.target->rates.memory = 1e8;
  options.precision = precision;
  options.onCode = cpu::emulateTiles;
  return options;
}

/// relu(x * w + b) of rows of \p depth numbers, by \p columns.
std::string productOf(int64_t depth, int64_t columns) {
  const std::string k = std::to_string(depth), n = std::to_string(columns);
  return "(" + argument("%x", {batch, length, depth}) + ") -> tensor<?x?x" + n +
         "xf32> {\n %i = stablehlo.iota dim = 0 : tensor<" +
         std::to_string(depth * columns) +
         "xf32>\n %s = stablehlo.sine %i : tensor<" +
         std::to_string(depth * columns) +
         "xf32>\n %w = stablehlo.reshape %s : (tensor<" +
         std::to_string(depth * columns) + "xf32>) -> tensor<" + k + "x" + n +
         "xf32>\n %y = stablehlo.dot_general %x, %w, contracting_dims = [2] x "
         "[0] : (tensor<?x?x" +
         k + "xf32>, tensor<" + k + "x" + n + "xf32>) -> tensor<?x?x" + n +
         "xf32>\n %b = stablehlo.iota dim = 0 : tensor<" + n +
         "xf32>\n %bb = nn.broadcast_like %b, %y : (tensor<" + n +
         "xf32>, tensor<?x?x" + n + "xf32>) -> tensor<?x?x" + n +
         "xf32>\n %z = stablehlo.add %y, %bb : tensor<?x?x" + n +
         "xf32>\n %t = stablehlo.tanh %z : tensor<?x?x" + n +
         "xf32>\n return %t : tensor<?x?x" + n + "xf32>\n}";
}

struct DynamicTilesCase {
  Precision precision;
  std::string kernel;
  double error;
};
const DynamicTilesCase ofPrecisions[] = {
    {Precision::Default, "tiles-split3", 3e-4},
    {Precision::Exact, "tiles-split6", 3e-5},
    {Precision::BFloat16, "tiles-bf16", 1e-1}};

TEST(DynamicTiles, ProductsByWeights) {
  NEEDS_TILES();
  for (const DynamicTilesCase &each : ofPrecisions)
    for (auto [depth, columns] : {std::pair{37, 150}, {64, 10}}) {
      const cpu::CpuOptions options = optionsFor(each.precision);
      const std::string body = productOf(depth, columns);
      SCOPED_TRACE(each.kernel + " of " + std::to_string(depth) + " by " +
                   std::to_string(columns));
      EXPECT_EQ(productsOf(body, options), each.kernel);
      DynamicCase test{"product",         body, {{batch, length, depth}},
                       {1, 5, 8, 11, 33}, true, each.error,
                       each.error};
      checkProgram(test, options);
    }
}

/// x * w * v * u, of which u has less than a fiftieth of the weights.
std::string threeProducts() {
  auto weights = [](const char *name, int64_t rows, int64_t columns) {
    const std::string flat =
                          "tensor<" + std::to_string(rows * columns) + "xf32>",
                      type = "tensor<" + std::to_string(rows) + "x" +
                             std::to_string(columns) + "xf32>",
                      n = std::string("%") + name;
    return n + "0 = stablehlo.iota dim = 0 : " + flat + "\n" + n +
           "1 = stablehlo.constant dense<0.734> : " + flat + "\n" + n +
           "2 = stablehlo.multiply " + n + "0, " + n + "1 : " + flat + "\n" +
           n + "3 = stablehlo.sine " + n + "2 : " + flat + "\n" + n +
           "4 = stablehlo.constant dense<0.1> : " + flat + "\n" + n +
           "5 = stablehlo.multiply " + n + "3, " + n + "4 : " + flat + "\n" +
           n + " = stablehlo.reshape " + n + "5 : (" + flat + ") -> " + type +
           "\n";
  };
  return "(" + argument("%x", {batch, length, 40}) +
         ") -> tensor<?x?x20xf32> {\n" + weights("w", 40, 520) +
         weights("v", 520, 40) + weights("u", 40, 20) +
         R"(%a = stablehlo.dot_general %x, %w, contracting_dims = [2] x [0]
             : (tensor<?x?x40xf32>, tensor<40x520xf32>) -> tensor<?x?x520xf32>
         %b = stablehlo.dot_general %a, %v, contracting_dims = [2] x [0]
             : (tensor<?x?x520xf32>, tensor<520x40xf32>) -> tensor<?x?x40xf32>
         %c = stablehlo.tanh %b : tensor<?x?x40xf32>
         %d = stablehlo.dot_general %c, %u, contracting_dims = [2] x [0]
             : (tensor<?x?x40xf32>, tensor<40x20xf32>) -> tensor<?x?x20xf32>
         return %d : tensor<?x?x20xf32>
       })";
}

/// How many steps of \p body's program store parts of numbers, and read them.
std::pair<int64_t, int64_t> partsIn(const std::string &body,
                                    const cpu::CpuOptions &options) {
  std::pair<int64_t, int64_t> count;
  if (Result<Program> program = compileRaised(body, options))
    for (const Step &step : program->steps) {
      count.first += llvm::StringRef(step.op).contains("split_terms");
      count.second += llvm::StringRef(step.op).contains("recombine_terms");
    }
  return count;
}

/// In six products, also where a row or two are known and vectors would be
/// faster. What goes from the first to the second lies in memory in parts,
/// however many rows there are; not so what three parts are read of.
TEST(DynamicTiles, LastProducts) {
  NEEDS_TILES();
  const cpu::CpuOptions options = optionsFor(Precision::Default);
  EXPECT_EQ(productsOf(threeProducts(), options),
            "tiles-split3 tiles-split3 tiles-split6");
  EXPECT_EQ(partsIn(threeProducts(), options),
            std::pair(int64_t(1), int64_t(1)));
  EXPECT_EQ(partsIn(threeProducts(), optionsFor(Precision::Exact)),
            std::pair(int64_t(0), int64_t(0)));
  DynamicCase test{"last product",
                   threeProducts(),
                   {{batch, length, 40}},
                   {1, 2, 5, 33},
                   true,
                   3e-4,
                   3e-4};
  checkProgram(test, options);
}

/// Two products of x and their sum: x is cut once.
TEST(DynamicTiles, CutOnce) {
  NEEDS_TILES();
  cpu::CpuOptions options = optionsFor(Precision::Default);
  options.target = cpu::withSlowCache(*options.target);
  for (int64_t depth : {40, 64}) {
    const std::string k = std::to_string(depth), w = "tensor<" + k + "x70xf32>",
                      y = "tensor<?x?x70xf32>";
    const std::string body =
        "(" + argument("%x", {batch, length, depth}) + ") -> " + y +
        " {\n%i = stablehlo.iota dim = 0 : " + w +
        "\n%j = stablehlo.iota dim = 1 : " + w +
        "\n%p = stablehlo.multiply %i, %j : " + w +
        "\n%v = stablehlo.sine %p : " + w +
        "\n%u = stablehlo.cosine %p : " + w +
        "\n%a = stablehlo.dot_general %x, %v, contracting_dims = [2] x [0] : "
        "(tensor<?x?x" +
        k + "xf32>, " + w + ") -> " + y +
        "\n%b = stablehlo.dot_general %x, %u, contracting_dims = [2] x [0] : "
        "(tensor<?x?x" +
        k + "xf32>, " + w + ") -> " + y + "\n%c = stablehlo.add %a, %b : " + y +
        "\nreturn %c : " + y + "\n}";
    EXPECT_EQ(partsIn(body, options), std::pair(int64_t(1), int64_t(2)));
    DynamicCase test{"cut once",    body, {{batch, length, depth}},
                     {1, 2, 5, 33}, true, 3e-4,
                     3e-4};
    checkProgram(test, options);
  }
}

} // namespace
