// Attention that stores its result in the parts that a product on matrix units,
// which are emulated, reads: against the oracle, and the bits of the program
// whose product cuts for itself.
//
// Covers: backend/cpu/emit AttentionKernel
// Covers: backend/cpu/kernels/attention Attention AttentionPlace AttentionShape

#include "backend/cpu/DynamicCase.h"
#include "backend/cpu/DynamicImages.h"
#include "backend/cpu/ProgramText.h"
#include "backend/cpu/TileTests.h"

using namespace sinter;
using namespace sinter::test;

namespace {

/// The machine that we run on, as if it had the units of a Sapphire Rapids:
/// attention is faster on vectors there.
cpu::CpuOptions onUnits() {
  cpu::CpuOptions options;
  options.target = *cpu::hostWithTiles();
  options.onCode = cpu::emulateTiles;
  return options;
}

struct AttentionTermsCase {
  std::string name;
  int64_t heads, width, keys, rows;
  /// What stands behind the scale.
  std::string rest = "";
};

/// `%sizes`: the first two of `%q`, and so many columns.
std::string sizesOf(int64_t columns, const std::string &type) {
  std::string text;
  for (const char *dim : {"0", "1"}) {
    const std::string d = dim;
    text += "%d" + d + " = stablehlo.get_dimension_size %q, dim = " + d +
            " : (" + type + ") -> tensor<i32>\n%e" + d +
            " = stablehlo.reshape %d" + d +
            " : (tensor<i32>) -> tensor<1xi32>\n";
  }
  return text + "%e2 = stablehlo.constant dense<" + std::to_string(columns) +
         "> : tensor<1xi32>\n%sizes = stablehlo.concatenate %e0, %e1, %e2, dim "
         "= 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> "
         "tensor<3xi32>\n";
}

/// Attention of 2 x rows, with its heads beside each other, times 256 columns
/// of weights.
std::string textOf(const AttentionTermsCase &of, bool isDynamic) {
  const int64_t images = isDynamic ? batch : 2,
                rows = isDynamic ? length : of.rows,
                keys = isDynamic ? length : of.keys,
                columns = of.heads * of.width;
  const std::string q = typeOf({images, rows, of.heads, of.width}),
                    k = typeOf({images, keys, of.heads, of.width}),
                    qt = typeOf({images, of.heads, rows, of.width}),
                    kt = typeOf({images, of.heads, keys, of.width}),
                    joined = typeOf({images, rows, columns}),
                    w = typeOf({columns, 256}), y = typeOf({images, rows, 256});
  const std::string head =
      isDynamic ? argument("%q", {batch, length, of.heads, of.width}) + ", " +
                      argument("%k", {batch, length, of.heads, of.width})
                : "%q: " + q + ", %k: " + k;
  auto moved = [](const std::string &to, const std::string &from,
                  const std::string &old, const std::string &type) {
    return to + " = stablehlo.transpose " + from + ", dims = [0, 2, 1, 3] : (" +
           old + ") -> " + type + "\n";
  };
  return "(" + head + ") -> " + y + " {\n" + moved("%a", "%q", q, qt) +
         moved("%b", "%k", k, kt) + "%o = nn.attention %a, %b, %b scale = 0.3" +
         of.rest + " : (" + qt + ", " + kt + ", " + kt + ") -> " + qt + "\n" +
         moved("%c", "%o", qt, q) + "%i = stablehlo.iota dim = 0 : " + w +
         "\n%j = stablehlo.iota dim = 1 : " + w +
         "\n%p = stablehlo.multiply %i, %j : " + w +
         "\n%w = stablehlo.sine %p : " + w + "\n" +
         (isDynamic ? sizesOf(columns, q) +
                          "%r = stablehlo.dynamic_reshape %c, %sizes : (" + q +
                          ", tensor<3xi32>) -> " + joined
                    : "%r = stablehlo.reshape %c : (" + q + ") -> " + joined) +
         "\n%y = stablehlo.dot_general %r, %w, contracting_dims = [2] x [0] "
         ": (" +
         joined + ", " + w + ") -> " + y + "\nreturn %y : " + y + "\n}";
}

/// How many steps of \p program are attention that stores parts.
int64_t storingIn(const Program &program) {
  int64_t count = 0;
  for (const Step &step : program.steps)
    count += step.kernelName == "attention" &&
             llvm::StringRef(step.op).contains("split_terms");
  return count;
}

const AttentionTermsCase attentionTermsCases[] = {
    {"one block of keys", 4, 64, 40, 33},
    {"two rows", 4, 64, 40, 2},
    {"several blocks of keys", 4, 64, 700, 33},
    {"causal", 4, 64, 600, 600, " causal"},
    {"wide heads", 2, 96, 30, 140},
};

/// The result of \p text on random numbers, where the labels \p off are not.
Tensor resultWithout(const std::string &text, std::vector<std::string> off) {
  cpu::CpuOptions options = onUnits();
  options.passes.disabledPatterns = std::move(off);
  const Model model = parseModel(text);
  Result<Program> program = cpu::compileForCpu(model, options);
  EXPECT_TRUE(program) << program.error().message();
  if (!program)
    return {};
  std::vector<Tensor> inputs;
  for (const TensorSpec &spec : model.inputs()) {
    inputs.emplace_back(spec.type, spec.shape);
    fillRandom(inputs.back(), inputs.size());
  }
  auto results =
      executorOf(std::make_shared<const Program>(std::move(*program)), 2)
          ->run(inputs);
  EXPECT_TRUE(results) << results.error().message();
  return results ? (*results)[0] : Tensor();
}

TEST(AttentionTerms, OfKnownSizes) {
  NEEDS_TILES();
  for (const AttentionTermsCase &each : attentionTermsCases) {
    SCOPED_TRACE(each.name);
    const std::string text = textOf(each, /*isDynamic=*/false);
    std::shared_ptr<Program> program;
    EXPECT_EQ(differsWith(text, {2e-3, 2e-3}, onUnits(), &program), "");
    ASSERT_TRUE(program);
    EXPECT_EQ(storingIn(*program), 1);
    EXPECT_TRUE(haveSameBits(resultWithout(text, {}),
                             resultWithout(text, {"keep-split-operands"})));
  }
}

/// Of any number of samples and of any length.
TEST(AttentionTerms, OfDynamicSizes) {
  NEEDS_TILES();
  for (const char *rest : {"", " causal"}) {
    const AttentionTermsCase of{"", 4, 64, 0, 0, rest};
    const std::string text = textOf(of, /*isDynamic=*/true);
    Result<Program> program = compileRaised(text, onUnits());
    ASSERT_TRUE(program) << program.error().message();
    EXPECT_EQ(storingIn(*program), 1);
    const std::vector<int64_t> shape = {batch, length, 4, 64};
    DynamicCase test{"attention", text, {shape, shape}, {1, 33, 300}, true,
                     2e-3,        2e-3};
    checkProgram(test, onUnits());
  }
}

/// Heads whose columns begin within a block, an epilogue, and others who read
/// the result.
TEST(AttentionTerms, NotWhereBlocksAreShared) {
  NEEDS_TILES();
  std::shared_ptr<Program> program;
  EXPECT_EQ(differsWith(textOf({"", 4, 48, 20, 20}, false), {2e-3, 2e-3},
                        onUnits(), &program),
            "");
  ASSERT_TRUE(program);
  EXPECT_EQ(storingIn(*program), 0);
}

} // namespace
