// Products of open sizes by the instructions of matrix units, which are
// emulated: one program for all sizes, against the oracle, with the same bits
// in any company and from programs of known sizes.

#include "backend/cpu/OpenCase.h"
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

/// Kernels of products that \p body's program has.
std::string productsOf(const std::string &body,
                       const cpu::CpuOptions &options) {
  Result<Program> program = compileRaised(body, options);
  if (!program)
    return program.error().message;
  std::string names;
  for (const Step &step : program->steps)
    if (step.kernelName != "loops")
      names += (names.empty() ? "" : " ") + step.kernelName;
  return names;
}

struct OpenTilesCase {
  Precision precision;
  std::string kernel;
  double error;
};
const OpenTilesCase ofPrecisions[] = {
    {Precision::Default, "tiles-split3", 3e-4},
    {Precision::Exact, "tiles-split6", 3e-5},
    {Precision::BFloat16, "tiles-bf16", 1e-1}};

TEST(OpenTiles, ProductsByWeights) {
  NEEDS_TILES();
  SKIP_IF_SIZES_MAY_WRAP();
  for (const OpenTilesCase &each : ofPrecisions)
    for (auto [depth, columns] : {std::pair{37, 150}, {64, 10}}) {
      const cpu::CpuOptions options = optionsFor(each.precision);
      const std::string body = productOf(depth, columns);
      SCOPED_TRACE(each.kernel + " of " + std::to_string(depth) + " by " +
                   std::to_string(columns));
      EXPECT_EQ(productsOf(body, options), each.kernel);
      OpenCase test{"product",         body, {{batch, length, depth}},
                    {1, 5, 8, 11, 33}, true, each.error,
                    each.error};
      checkProgram(test, options);
    }
}

} // namespace
