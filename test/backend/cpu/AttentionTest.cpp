//===- AttentionTest.cpp - fused attention against the oracle -------------===//

#include "Sweep.h"
#include "backend/cpu/CompareWithInterpreter.h"
#include "graph/nn/NnOps.h"

#include <gtest/gtest.h>

using namespace sinter;
using namespace sinter::test;

namespace {

std::string typeOf(llvm::ArrayRef<int64_t> shape) {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + "f32>";
}

void replaceAll(std::string &text, llvm::StringRef from,
                const std::string &to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos;
       at += to.size())
    text.replace(at, from.size(), to);
}

struct AttentionCase {
  std::string name;
  llvm::SmallVector<int64_t> query, key, value, mask;
  std::string attributes = "scale = 0.3";
};

/// The operation on operands whose heads stand in front or, with \p between,
/// (rank 4) behind the rows.
std::string bodyOf(const AttentionCase &test, bool between) {
  std::string arguments, moves, names, types;
  auto add = [&](const char *name, llvm::SmallVector<int64_t> shape,
                 bool moved) {
    std::string value = std::string("%") + name;
    std::string type = typeOf(shape);
    if (moved) {
      std::swap(shape[1], shape[2]);
      moves += value + "t = stablehlo.transpose " + value +
               ", dims = [0, 2, 1, 3] : (" + typeOf(shape) + ") -> " + type +
               "\n";
    }
    arguments += (arguments.empty() ? "" : ", ") + value + ": " + typeOf(shape);
    names += (names.empty() ? "" : ", ") + value + (moved ? "t" : "");
    types += (types.empty() ? "" : ", ") + type;
  };
  add("q", test.query, between);
  add("k", test.key, between);
  add("v", test.value, between);
  if (!test.mask.empty())
    add("m", test.mask, false);
  llvm::SmallVector<int64_t> shape = test.query;
  shape.back() = test.value.back();
  std::string result = typeOf(shape), text = moves;
  text += "%o = nn.attention " + names + " " + test.attributes + " : (" +
          types + ") -> " + result + "\n";
  std::string last = "%o";
  if (between) {
    std::string inner = result;
    std::swap(shape[1], shape[2]);
    result = typeOf(shape);
    text += "%r = stablehlo.transpose %o, dims = [0, 2, 1, 3] : (" + inner +
            ") -> " + result + "\n";
    last = "%r";
  }
  return "(" + arguments + ") -> " + result + " {\n" + text + "return " + last +
         " : " + result + "\n}";
}

const AttentionCase attentionCases[] = {
    {"plain", {2, 3, 40, 16}, {2, 3, 48, 16}, {2, 3, 48, 32}, {}},
    {"odd sizes", {1, 2, 37, 19}, {1, 2, 53, 19}, {1, 2, 53, 21}, {}},
    {"mask of keys",
     {2, 3, 40, 16},
     {2, 3, 48, 16},
     {2, 3, 48, 16},
     {2, 1, 1, 48}},
    {"full mask",
     {2, 3, 33, 16},
     {2, 3, 31, 16},
     {2, 3, 31, 16},
     {2, 3, 33, 31}},
    {"shared heads",
     {2, 6, 24, 16},
     {2, 2, 32, 16},
     {2, 2, 32, 16},
     {1, 6, 1, 32}},
    {"causal",
     {1, 2, 70, 16},
     {1, 2, 70, 16},
     {1, 2, 70, 16},
     {},
     "scale = 0.3 causal"},
    {"blocks of keys", {1, 1, 70, 16}, {1, 1, 1030, 16}, {1, 1, 1030, 24}, {}},
    {"blocks and mask",
     {1, 2, 20, 8},
     {1, 2, 600, 8},
     {1, 2, 600, 8},
     {1, 1, 20, 600}},
    {"causal blocks",
     {1, 1, 700, 16},
     {1, 1, 700, 16},
     {1, 1, 700, 16},
     {},
     "scale = 0.3 causal"},
    {"one row", {1, 2, 1, 16}, {1, 2, 48, 16}, {1, 2, 48, 16}, {}},
    {"few rows, causal",
     {1, 2, 3, 16},
     {1, 2, 3, 16},
     {1, 2, 3, 16},
     {},
     "scale = 0.3 causal"},
    {"few of everything", {2, 2, 2, 3}, {2, 2, 5, 3}, {2, 2, 5, 2}, {}},
    {"few elements and a mask",
     {1, 3, 9, 1},
     {1, 3, 17, 1},
     {1, 3, 17, 1},
     {1, 3, 9, 17}},
    // Faster by products: decomposed.
    {"one key", {2, 3, 4, 16}, {2, 3, 1, 16}, {2, 3, 1, 16}, {}},
};

TEST(CpuAttention, AgreesWithTheOracle) {
  Sweep sweep;
  for (const AttentionCase &test : attentionCases)
    for (bool between : {false, true})
      if (sweep.takesNext())
        EXPECT_EQ(differs(bodyOf(test, between)), "")
            << test.name << (between ? ", heads between" : "");
}

/// Operands of floats narrower than f32 are converted, and so is the result,
/// whose last digit may be another one.
TEST(CpuAttention, TakesNarrowFloats) {
  Sweep sweep;
  for (const auto &[element, tolerance] :
       {std::pair("f16", 1e-3), std::pair("bf16", 8e-3)})
    for (const AttentionCase &test : attentionCases)
      for (bool between : {false, true}) {
        if (!sweep.takesNext())
          continue;
        std::string text = bodyOf(test, between);
        replaceAll(text, "f32", element);
        std::shared_ptr<Program> program;
        EXPECT_EQ(differs(text, {tolerance, tolerance}, &program), "")
            << test.name << (between ? ", heads between, " : ", ") << element;
        ASSERT_TRUE(program);
        const bool isWhole = test.key[2] > 1;
        EXPECT_EQ(llvm::count_if(program->steps,
                                 [](const Step &step) {
                                   return llvm::StringRef(step.op).starts_with(
                                       "attention");
                                 }),
                  isWhole ? 1 : 0)
            << test.name << ", " << element;
      }
}

TEST(CpuAttention, TakesTransposedKeys) {
  EXPECT_EQ(
      differs(
          R"((%q: tensor<2x32x16xf32>, %k: tensor<2x16x40xf32>, %v: tensor<2x40x16xf32>) -> tensor<2x32x16xf32> {
    %t = stablehlo.transpose %k, dims = [0, 2, 1] : (tensor<2x16x40xf32>) -> tensor<2x40x16xf32>
    %r = nn.attention %q, %t, %v scale = 0.25 : (tensor<2x32x16xf32>, tensor<2x40x16xf32>, tensor<2x40x16xf32>) -> tensor<2x32x16xf32>
    return %r : tensor<2x32x16xf32>
  })"),
      "");
}

TEST(CpuAttention, OtherTypesAreDecomposed) {
  EXPECT_EQ(
      differs(
          R"((%q: tensor<32x16xf64>, %k: tensor<40x16xf64>, %v: tensor<40x16xf64>) -> tensor<32x16xf64> {
    %r = nn.attention %q, %k, %v scale = 0.25 causal : (tensor<32x16xf64>, tensor<40x16xf64>, tensor<40x16xf64>) -> tensor<32x16xf64>
    return %r : tensor<32x16xf64>
  })"),
      "");
}

/// Attention that is spelt out, whose scores are $scores of %s, on keys $keys
/// of %k and values $values of %v.
constexpr const char *spelled =
    R"((%q: tensor<40x16xf32>, %k: tensor<Nx16xf32>, %v: tensor<Nx16xf32>) -> tensor<40x16xf32> {
  %nan = stablehlo.constant dense<0x7FC00000> : tensor<Nx16xf32>
  %inf = stablehlo.constant dense<0x7F800000> : tensor<Nx16xf32>
  %nothing = stablehlo.constant dense<0xFF800000> : tensor<40xNxf32>
  %little = stablehlo.constant dense<-1.0e30> : tensor<40xNxf32>
  %half = stablehlo.constant dense<0.5> : tensor<40xNxf32>
  %zero = stablehlo.constant dense<0.0> : tensor<40xNxf32>
  %row = stablehlo.iota dim = 0 : tensor<40xNxi32>
  %column = stablehlo.iota dim = 1 : tensor<40xNxi32>
  %three = stablehlo.constant dense<3> : tensor<40xNxi32>
  %late = stablehlo.constant dense<LATE> : tensor<40xNxi32>
  %in_row = stablehlo.compare EQ, %row, %three : (tensor<40xNxi32>, tensor<40xNxi32>) -> tensor<40xNxi1>
  %in_column = stablehlo.compare EQ, %column, %three : (tensor<40xNxi32>, tensor<40xNxi32>) -> tensor<40xNxi1>
  %early = stablehlo.compare LT, %column, %late : (tensor<40xNxi32>, tensor<40xNxi32>) -> tensor<40xNxi1>
  %past = stablehlo.compare LE, %column, %row : (tensor<40xNxi32>, tensor<40xNxi32>) -> tensor<40xNxi1>
  %number = stablehlo.iota dim = 0 : tensor<Nx16xi32>
  %wide = stablehlo.constant dense<3> : tensor<Nx16xi32>
  %third = stablehlo.compare EQ, %number, %wide : (tensor<Nx16xi32>, tensor<Nx16xi32>) -> tensor<Nx16xi1>
  %no_key = stablehlo.select %third, %nan, %k : tensor<Nx16xi1>, tensor<Nx16xf32>
  %big_key = stablehlo.select %third, %inf, %k : tensor<Nx16xi1>, tensor<Nx16xf32>
  %no_value = stablehlo.select %third, %nan, %v : tensor<Nx16xi1>, tensor<Nx16xf32>
  %big_value = stablehlo.select %third, %inf, %v : tensor<Nx16xi1>, tensor<Nx16xf32>
  %s = stablehlo.dot_general %q, $keys, contracting_dims = [1] x [1] : (tensor<40x16xf32>, tensor<Nx16xf32>) -> tensor<40xNxf32>
  %m = stablehlo.select $scores : tensor<40xNxi1>, tensor<40xNxf32>
  $add
  %e = nn.softmax $sum, axes = [1] : tensor<40xNxf32>
  %r = stablehlo.dot_general %e, $values, contracting_dims = [1] x [0] : (tensor<40xNxf32>, tensor<Nx16xf32>) -> tensor<40x16xf32>
  return %r : tensor<40x16xf32>
})";

/// What hides scores, and what is not finite.
struct Hidden {
  const char *name;
  const char *scores; ///< Operands of the choice.
  bool isAdded;       ///< What is chosen is added to the scores.
  const char *keys = "%k", *values = "%v";
};

const Hidden hidden[] = {
    {"a row, by infinity", "%in_row, %nothing, %zero", true},
    {"a row, by choice of infinity", "%in_row, %nothing, %s", false},
    {"a row, by choice of a number", "%in_row, %little, %s", false},
    {"a row, by choice of a small number", "%in_row, %half, %s", false},
    {"the first blocks, by infinity", "%early, %nothing, %zero", true},
    {"the first blocks, by choice", "%early, %nothing, %s", false},
    {"the first blocks, by choice of a number", "%early, %little, %s", false},
    {"what comes later, by choice", "%past, %s, %nothing", false},
    {"what comes later, by infinity", "%past, %zero, %nothing", true},
    {"what comes later, by a number", "%past, %s, %little", false},
    {"a key that is not a number, by infinity", "%in_column, %nothing, %zero",
     true, "%no_key"},
    {"a key that is not a number, by choice", "%in_column, %nothing, %s", false,
     "%no_key"},
    {"a key that is not a number, by choice of a number",
     "%in_column, %little, %s", false, "%no_key"},
    {"a row; a key is not a number", "%in_row, %little, %s", false, "%no_key"},
    {"a row; a key is infinite", "%in_row, %little, %s", false, "%big_key"},
    {"a row; a value is not a number", "%in_row, %little, %s", false, "%k",
     "%no_value"},
    {"a row; a value is infinite", "%in_row, %little, %s", false, "%k",
     "%big_value"},
};

/// One block of keys and several give what the parts would have given.
TEST(CpuAttention, HidesAsSpeltOut) {
  Sweep sweep;
  for (const Hidden &test : hidden)
    for (int64_t keys : {50, 1030}) {
      if (!sweep.takesNext())
        continue;
      std::string text = spelled;
      replaceAll(text, "$scores", test.scores);
      replaceAll(text, "$keys", test.keys);
      replaceAll(text, "$values", test.values);
      replaceAll(text, "$add",
                 test.isAdded ? "%t = stablehlo.add %s, %m : tensor<40xNxf32>"
                              : "");
      replaceAll(text, "$sum", test.isAdded ? "%t" : "%m");
      replaceAll(text, "LATE", std::to_string(keys - 10));
      replaceAll(text, "Nx", std::to_string(keys) + "x");
      std::shared_ptr<Program> program;
      EXPECT_EQ(differsRaised(text, {}, &program), "")
          << test.name << ", " << keys << " keys";
      ASSERT_TRUE(program);
      EXPECT_EQ(llvm::count_if(
                    program->steps,
                    [](const Step &step) { return step.op == "attention"; }),
                1)
          << test.name;
    }
}

/// jax.nn.dot_product_attention, is_causal=True, inlined: the heads of the
/// query in groups of one, which vmap brings in front.
TEST(CpuAttention, OfJaxIsOneStep) {
  const char *text =
      R"((%q: tensor<2x64x4x32xf32>, %k: tensor<2x64x4x32xf32>, %v: tensor<2x64x4x32xf32>) -> tensor<2x64x4x32xf32> {
  %0 = stablehlo.reshape %q : (tensor<2x64x4x32xf32>) -> tensor<2x64x4x1x32xf32>
  %1 = stablehlo.dot_general %0, %k, batching_dims = [0, 2] x [0, 2], contracting_dims = [4] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x64x4x1x32xf32>, tensor<2x64x4x32xf32>) -> tensor<2x4x64x1x64xf32>
  %scale = stablehlo.constant dense<0.176776692> : tensor<f32>
  %3 = stablehlo.broadcast_in_dim %scale, dims = [] : (tensor<f32>) -> tensor<2x4x64x1x64xf32>
  %4 = stablehlo.multiply %1, %3 : tensor<2x4x64x1x64xf32>
  %c = stablehlo.constant dense<true> : tensor<i1>
  %5 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i1>) -> tensor<2x4x64x64xi1>
  %6 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i1>) -> tensor<64x64xi1>
  %i = stablehlo.iota dim = 0 : tensor<64x64xi32>
  %j = stablehlo.iota dim = 1 : tensor<64x64xi32>
  %g = stablehlo.compare GE, %i, %j, SIGNED : (tensor<64x64xi32>, tensor<64x64xi32>) -> tensor<64x64xi1>
  %no = stablehlo.constant dense<false> : tensor<64x64xi1>
  %7 = stablehlo.select %g, %6, %no : tensor<64x64xi1>, tensor<64x64xi1>
  %8 = stablehlo.broadcast_in_dim %7, dims = [2, 3] : (tensor<64x64xi1>) -> tensor<1x1x64x64xi1>
  %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2, 3] : (tensor<1x1x64x64xi1>) -> tensor<2x4x64x64xi1>
  %10 = stablehlo.and %5, %9 : tensor<2x4x64x64xi1>
  %lowest = stablehlo.constant dense<-2.38197633E+38> : tensor<f32>
  %w0 = stablehlo.broadcast_in_dim %10, dims = [1, 2, 3, 4] : (tensor<2x4x64x64xi1>) -> tensor<1x2x4x64x64xi1>
  %w1 = stablehlo.transpose %4, dims = [3, 0, 1, 2, 4] : (tensor<2x4x64x1x64xf32>) -> tensor<1x2x4x64x64xf32>
  %w2 = stablehlo.broadcast_in_dim %lowest, dims = [] : (tensor<f32>) -> tensor<1x2x4x64x64xf32>
  %11 = stablehlo.select %w0, %w1, %w2 : tensor<1x2x4x64x64xi1>, tensor<1x2x4x64x64xf32>
  %nothing = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %12 = stablehlo.reduce(%11 init: %nothing) applies stablehlo.maximum across dimensions = [4] : (tensor<1x2x4x64x64xf32>, tensor<f32>) -> tensor<1x2x4x64xf32>
  %13 = stablehlo.broadcast_in_dim %nothing, dims = [] : (tensor<f32>) -> tensor<1x2x4x64xf32>
  %14 = stablehlo.maximum %13, %12 : tensor<1x2x4x64xf32>
  %15 = stablehlo.broadcast_in_dim %14, dims = [0, 1, 2, 3] : (tensor<1x2x4x64xf32>) -> tensor<1x2x4x64x1xf32>
  %16 = stablehlo.broadcast_in_dim %15, dims = [0, 1, 2, 3, 4] : (tensor<1x2x4x64x1xf32>) -> tensor<1x2x4x64x64xf32>
  %17 = stablehlo.subtract %11, %16 : tensor<1x2x4x64x64xf32>
  %18 = stablehlo.exponential %17 : tensor<1x2x4x64x64xf32>
  %zero = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %19 = stablehlo.reduce(%18 init: %zero) applies stablehlo.add across dimensions = [4] : (tensor<1x2x4x64x64xf32>, tensor<f32>) -> tensor<1x2x4x64xf32>
  %20 = stablehlo.broadcast_in_dim %19, dims = [0, 1, 2, 3] : (tensor<1x2x4x64xf32>) -> tensor<1x2x4x64x1xf32>
  %21 = stablehlo.broadcast_in_dim %20, dims = [0, 1, 2, 3, 4] : (tensor<1x2x4x64x1xf32>) -> tensor<1x2x4x64x64xf32>
  %22 = stablehlo.divide %18, %21 : tensor<1x2x4x64x64xf32>
  %23 = stablehlo.dot_general %v, %22, batching_dims = [0, 2] x [1, 2], contracting_dims = [1] x [4], precision = [DEFAULT, DEFAULT] : (tensor<2x64x4x32xf32>, tensor<1x2x4x64x64xf32>) -> tensor<2x4x32x1x64xf32>
  %24 = stablehlo.transpose %23, dims = [0, 4, 1, 3, 2] : (tensor<2x4x32x1x64xf32>) -> tensor<2x64x4x1x32xf32>
  %25 = stablehlo.reshape %24 : (tensor<2x64x4x1x32xf32>) -> tensor<2x64x4x32xf32>
  return %25 : tensor<2x64x4x32xf32>
})";
  EXPECT_EQ(differsRaised(text), "");
  Result<Program> program = compileRaised(text);
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_EQ(program->steps.size(), 1u);
}

/// One step, and an arena that has no place for the scores.
TEST(CpuAttention, NeedsNoMemoryForScores) {
  AttentionCase test{
      "long", {1, 2, 1024, 16}, {1, 2, 1024, 16}, {1, 2, 1024, 16}, {}};
  Result<Program> program =
      cpu::compileForCpu(parseModel(bodyOf(test, /*between=*/true)), {});
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_EQ(program->steps.size(), 1u);
  EXPECT_LT(program->arenaBytes, uint64_t(1) << 20);
}

} // namespace
