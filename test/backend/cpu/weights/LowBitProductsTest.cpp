//===- LowBitProductsTest.cpp - narrow weights against the oracle ---------===//
//
// Whatever types, scales, zero points, blocks and forms there are: the sums are
// those of what the weights stand for, and the program has them as narrow as
// they were. What is no such product is computed in another way.
//
//===----------------------------------------------------------------------===//
//
// Covers: backend/cpu/weights LowBitProducts LowBitTables RepeatedConstant
// Covers: passes WidenedWeights

#include "Sweep.h"
#include "backend/cpu/CompareWithInterpreter.h"
#include "backend/cpu/ConstantText.h"
#include "backend/cpu/ProgramText.h"
#include "passes/Pipelines.h"
#include "runtime/Program.h"

#include <gtest/gtest.h>

namespace sinter::test::narrow {
namespace {

/// Sums of some hundred products with weights of a size near 1.
constexpr Tolerance ofSums = {2e-5, 2e-4};
/// The same with weights that have no scale.
constexpr Tolerance ofIntegers = {2e-5, 2e-2};

/// Lines of a function, each value by a name.
class Text {
public:
  std::string add(const std::string &operation) {
    const std::string name = "%v" + std::to_string(next++);
    lines += name + " = stablehlo." + operation + "\n";
    return name;
  }
  std::string cast(const std::string &value, const std::string &from,
                   const std::string &to) {
    return from == to ? value
                      : add("convert " + value + " : (" + from + ") -> " + to);
  }
  std::string reshape(const std::string &value, const std::string &from,
                      const std::string &to) {
    return from == to ? value
                      : add("reshape " + value + " : (" + from + ") -> " + to);
  }
  /// Numbers low, ..., low + count - 1 in turn, scrambled, times \p step.
  std::string numbers(const std::vector<int64_t> &shape,
                      const std::string &element, int64_t low, int64_t count,
                      double step = 1) {
    int64_t size = 1;
    for (int64_t each : shape)
      size *= each;
    const std::string flat = typeOf({size}, "i32");
    auto splat = [&](int64_t number) {
      return add("constant dense<" + std::to_string(number) + "> : " + flat);
    };
    std::string value = add("iota dim = 0 : " + flat);
    value = add("multiply " + value + ", " + splat(7919) + " : " + flat);
    value = add("remainder " + value + ", " + splat(count) + " : " + flat);
    value = add("add " + value + ", " + splat(low) + " : " + flat);
    value = reshape(value, flat, typeOf(shape, "i32"));
    if (step == 1)
      return cast(value, typeOf(shape, "i32"), typeOf(shape, element));
    const std::string real = typeOf(shape, "f32");
    value = cast(value, typeOf(shape, "i32"), real);
    value = add("multiply " + value + ", " +
                add("constant dense<" + std::to_string(step) + "> : " + real) +
                " : " + real);
    return cast(value, real, typeOf(shape, element));
  }

  std::string lines;

private:
  int next = 0;
};

/// One for all, for a column, a block along the depth, a row, or a block of
/// columns of a row.
enum class Numbers { None, Tensor, Columns, Blocks, Rows, BlocksOfRows };

struct Case {
  int64_t m, n, k;
  std::string weights = "i8";
  Numbers scales = Numbers::Columns, zeros = Numbers::None;
  int64_t block = 32;
  bool isTransposed = false;
  std::string expressed = "f32", activations = "f32";
};

int64_t leastOf(const std::string &type) {
  return type == "i8" ? -128 : type == "i4" ? -8 : type == "i2" ? -2 : 0;
}
int64_t countOf(const std::string &type) {
  return type.ends_with("i8")   ? 256
         : type.ends_with("i4") ? 16
         : type.ends_with("i2") ? 4
                                : 15;
}

/// \p kind of numbers for a matrix [k, n], or [n, k], spread over it.
std::string spread(Text &text, const Case &c, Numbers kind, int64_t low,
                   int64_t count, double step) {
  const std::vector<int64_t> matrix = c.isTransposed
                                          ? std::vector<int64_t>{c.n, c.k}
                                          : std::vector<int64_t>{c.k, c.n};
  const std::string type = typeOf(matrix, c.expressed);
  auto broadcast = [&](const std::string &value,
                       const std::vector<int64_t> &shape,
                       const std::string &dims, const std::string &to) {
    return text.add("broadcast_in_dim " + value + ", dims = [" + dims +
                    "] : (" + typeOf(shape, c.expressed) + ") -> " + to);
  };
  if (kind == Numbers::Tensor)
    return broadcast(text.numbers({}, c.expressed, low + 2, count, step), {},
                     "", type);
  if (kind == Numbers::Columns)
    return broadcast(text.numbers({c.n}, c.expressed, low, count, step), {c.n},
                     c.isTransposed ? "0" : "1", type);
  if (kind == Numbers::Rows)
    return broadcast(text.numbers({c.k}, c.expressed, low, count, step), {c.k},
                     c.isTransposed ? "1" : "0", type);
  // Along the dimension of blocks, before and behind the other.
  const bool isFirst = (kind == Numbers::Blocks) != c.isTransposed;
  const int64_t size = kind == Numbers::Blocks ? c.k : c.n,
                other = kind == Numbers::Blocks ? c.n : c.k;
  const int64_t blocks = (size + c.block - 1) / c.block;
  auto ordered = [&](std::vector<int64_t> along) {
    along.insert(isFirst ? along.end() : along.begin(), other);
    return along;
  };
  const std::vector<int64_t> small = ordered({blocks}),
                             cut = ordered({blocks, c.block}),
                             whole = ordered({blocks * c.block});
  std::string value =
      broadcast(text.numbers(small, c.expressed, low, count, step), small,
                isFirst ? "0, 2" : "0, 1", typeOf(cut, c.expressed));
  value =
      text.reshape(value, typeOf(cut, c.expressed), typeOf(whole, c.expressed));
  return text.add("slice " + value + " [0:" + std::to_string(matrix[0]) +
                  ", 0:" + std::to_string(matrix[1]) + "] : (" +
                  typeOf(whole, c.expressed) + ") -> " + type);
}

std::string product(const Case &c) {
  Text text;
  const std::vector<int64_t> matrix = c.isTransposed
                                          ? std::vector<int64_t>{c.n, c.k}
                                          : std::vector<int64_t>{c.k, c.n};
  const std::string type = typeOf(matrix, c.expressed);
  const bool isFloat = c.weights.find('f') != std::string::npos;
  std::string w =
      text.numbers(matrix, c.weights, isFloat ? -7 : leastOf(c.weights),
                   countOf(c.weights), isFloat ? 0.25 : 1);
  w = text.cast(w, typeOf(matrix, c.weights), type);
  if (c.zeros != Numbers::None)
    w = text.add("subtract " + w + ", " +
                 spread(text, c, c.zeros, leastOf(c.weights) + 3,
                        countOf(c.weights) - 4, 1) +
                 " : " + type);
  if (c.scales != Numbers::None)
    w = text.add("multiply " + w + ", " +
                 spread(text, c, c.scales, 1, 29, 0.0078125) + " : " + type);
  const std::string x = typeOf({c.m, c.k}, c.activations),
                    y = typeOf({c.m, c.n}, c.activations);
  w = text.cast(w, type, typeOf(matrix, c.activations));
  const std::string r =
      text.add("dot_general %x, " + w + ", contracting_dims = [1] x [" +
               (c.isTransposed ? "1" : "0") + "] : (" + x + ", " +
               typeOf(matrix, c.activations) + ") -> " + y);
  return "(%x: " + x + ") -> " + y + " {\n" + text.lines + "return " + r +
         " : " + y + "\n}";
}

std::string nameOf(const Case &c) {
  auto kind = [](Numbers numbers) {
    return std::to_string(static_cast<int>(numbers));
  };
  return c.weights + " " + std::to_string(c.m) + "x" + std::to_string(c.n) +
         "x" + std::to_string(c.k) + ", scales " + kind(c.scales) + ", zeros " +
         kind(c.zeros) + ", blocks of " + std::to_string(c.block) +
         (c.isTransposed ? ", transposed" : "") + ", as " + c.expressed +
         " by " + c.activations;
}

/// Whether the program has a step that multiplies by narrow weights.
bool hasNarrow(const Program &program) {
  for (const Step &step : program.steps)
    if (step.op.find("low_bit_product") != std::string::npos)
      return true;
  return false;
}

uint64_t constantBytes(const Program &program) {
  uint64_t bytes = 0;
  for (const auto &constant : program.constants)
    bytes += constant.bytes.size();
  return bytes;
}

void expectNarrow(const Case &c, bool isNarrow = true,
                  Tolerance tolerance = ofSums) {
  std::shared_ptr<Program> program;
  EXPECT_EQ(differs(product(c), tolerance, &program), "") << nameOf(c);
  ASSERT_TRUE(program);
  // Without many registers and a table, widening for several rows may take
  // longer than reading floats: which is faster is estimated.
  const bool isEstimated = !cpu::Target::host()->hasTableOf16 && c.m > 1;
  EXPECT_TRUE(hasNarrow(*program) == isNarrow || isEstimated) << nameOf(c);
}

constexpr int64_t noBlock = 32;

} // namespace

TEST(LowBitProducts, OfAllTypes) {
  Sweep sweep;
  for (const char *type : {"i8", "ui8", "i4", "ui4", "i2", "ui2", "f8E4M3FN",
                           "f8E5M2", "bf16", "f16"})
    for (auto [m, n, k] : {std::tuple{1, 100, 70},
                           {1, 64, 256},
                           {3, 130, 96},
                           {19, 48, 131},
                           {150, 70, 64}})
      for (bool isTransposed : {false, true})
        if (sweep.takesNext())
          expectNarrow({m, n, k, type, Numbers::Columns, Numbers::None, noBlock,
                        isTransposed});
}

TEST(LowBitProducts, WithScalesAndZeroPoints) {
  Sweep sweep;
  for (const char *type : {"i8", "ui8", "i4", "ui4"})
    for (Numbers scales :
         {Numbers::None, Numbers::Tensor, Numbers::Columns, Numbers::Blocks})
      for (Numbers zeros :
           {Numbers::None, Numbers::Tensor, Numbers::Columns, Numbers::Blocks})
        for (auto [m, n, k, block] :
             {std::tuple{1, 100, 70, 32}, {1, 64, 128, 16}, {7, 40, 131, 48}})
          for (bool isTransposed : {false, true}) {
            if (sweep.takesNext())
              expectNarrow({m, n, k, type, scales, zeros, block, isTransposed},
                           true, scales == Numbers::None ? ofIntegers : ofSums);
          }
}

/// A scale and a zero point for each row, or for some columns of it.
TEST(LowBitProducts, WithNumbersOfRows) {
  Sweep sweep(2);
  for (const char *type : {"i8", "ui8", "i4", "ui4", "i2", "f8E4M3FN"})
    for (Numbers scales :
         {Numbers::Tensor, Numbers::Rows, Numbers::BlocksOfRows})
      for (Numbers zeros : {Numbers::None, Numbers::Tensor, Numbers::Rows,
                            Numbers::BlocksOfRows})
        for (auto [m, n, k, block] : {std::tuple{1, 100, 70, 32},
                                      {1, 128, 131, 16},
                                      {7, 40, 131, 48},
                                      {150, 90, 67, 32}})
          for (bool isTransposed : {false, true}) {
            const std::string name = type;
            const bool takesZeros =
                name.ends_with("i8") || name.ends_with("i4");
            if (sweep.takesNext() && (takesZeros || zeros == Numbers::None))
              expectNarrow({m, n, k, type, scales, zeros, block, isTransposed});
          }
  // Beside numbers of columns or of blocks along the depth there is no kernel
  // for them.
  for (auto [scales, zeros] : {std::pair{Numbers::Columns, Numbers::Rows},
                               {Numbers::BlocksOfRows, Numbers::Columns},
                               {Numbers::Rows, Numbers::Blocks}})
    expectNarrow({2, 96, 64, "i8", scales, zeros}, false);
  // Nor for blocks of no whole vectors.
  for (int64_t block : {8, 24})
    expectNarrow({2, 96, 64, "i8", Numbers::BlocksOfRows, Numbers::None, block},
                 false);
}

/// Blocks that no word of 32 bits divides take a byte an element.
TEST(LowBitProducts, OfOddBlocks) {
  for (const char *type : {"i4", "ui4", "i8"})
    for (int64_t block : {17, 20, 36})
      expectNarrow({2, 70, 100, type, Numbers::Blocks, Numbers::Blocks, block});
}

/// Beside activations of half precision, and dequantised to it without a scale.
TEST(LowBitProducts, OfHalfPrecision) {
  for (const auto &[type, near] :
       {std::pair{"f16", Tolerance{1e-3, 1e-3}}, {"bf16", {8e-3, 1e-3}}})
    for (const char *weights : {"i8", "ui4"}) {
      for (Numbers scales : {Numbers::Columns, Numbers::Blocks}) {
        Case c{4, 96, 64, weights, scales, Numbers::Blocks};
        // A scale that rounds the weights is no scale of narrow ones.
        c.expressed = c.activations = type;
        expectNarrow(c, false, near);
        c.activations = "f32";
        expectNarrow(c, false, ofSums);
      }
      Case c{4, 96, 64, weights, Numbers::None, Numbers::Blocks};
      c.expressed = c.activations = type;
      expectNarrow(c, true, near);
    }
}

TEST(LowBitProducts, OnEveryMachine) {
  Sweep sweep;
  for (const cpu::Target &target : lesserTargets())
    for (const char *type :
         {"i8", "ui8", "i4", "ui4", "i2", "f8E4M3FN", "f8E5M2", "bf16", "f16"})
      for (Numbers scales :
           {Numbers::Columns, Numbers::Blocks, Numbers::BlocksOfRows})
        for (int64_t m : {1, 9})
          if (sweep.takesNext()) {
            const Case c{m, 70, 90, type, scales};
            EXPECT_EQ(differs(product(c), ofSums, nullptr, target), "")
                << target.cpu << ": " << nameOf(c);
          }
}

/// Four bits are two elements a byte, and a scale for 32 of them.
TEST(LowBitProducts, TakeTheirOwnWidth) {
  for (auto [type, bits] :
       {std::pair{"i8", 8}, {"i4", 4}, {"ui2", 2}, {"bf16", 16}}) {
    const uint64_t weights = 256 * 512 * bits / 8, scales = 256 * 512 / 32 * 4;
    for (Numbers numbers : {Numbers::Blocks, Numbers::BlocksOfRows}) {
      std::shared_ptr<Program> program;
      const Case c{1, 256, 512, type, numbers};
      EXPECT_EQ(differs(product(c), ofSums, &program), "");
      EXPECT_LE(constantBytes(*program), weights + scales + 1024) << type;
    }
  }
}

/// Neither folding nor a norm's scale before the product makes them wider on
/// the way.
TEST(LowBitProducts, StayNarrowOnTheWay) {
  Case c{1, 256, 128, "i4", Numbers::Blocks, Numbers::Blocks};
  std::string body = product(c);
  const std::string x = typeOf({1, 128}, "f32");
  const size_t begin = body.find("{\n") + 2;
  body.insert(
      begin, "%g = stablehlo.constant dense<[" +
                 [] {
                   std::string list;
                   for (int i = 0; i < 128; ++i)
                     list += (i ? ", " : "") + std::to_string(i) + ".0";
                   return "[" + list + "]";
                 }() +
                 "]> : " + x + "\n%y = stablehlo.multiply %x, %g : " + x +
                 "\n");
  const size_t dot = body.find("dot_general %x");
  body.replace(dot, std::string("dot_general %x").size(), "dot_general %y");
  for (bool keeps : {true, false}) {
    Model model = parseModel(body);
    SimplifyOptions options;
    options.keepsQuantizedConstants = keeps;
    ASSERT_TRUE(simplify(model, options));
    ASSERT_TRUE(raiseForKernels(model, options));
    Result<Program> program = cpu::compileForCpu(model);
    ASSERT_TRUE(program);
    EXPECT_EQ(hasNarrow(*program), keeps);
    const uint64_t narrow = 256 * 128 / 2, numbers = 256 * 128 / 32 * 5;
    EXPECT_EQ(constantBytes(*program) <= narrow + numbers + 2048, keeps);
  }
}

/// Passes are compared where a quantised weight becomes its storage.
TEST(LowBitProducts, OfQuantisedTypesAreVerified) {
  Model model = parseModel(R"((%x: tensor<2x64xf32>) -> tensor<2x128xf32> {
%i = stablehlo.constant dense<3> : tensor<64x128xi8>
%q = stablehlo.bitcast_convert %i : (tensor<64x128xi8>)
  -> tensor<64x128x!quant.uniform<i8:f32, 0.5:1>>
%w = stablehlo.uniform_dequantize %q
  : (tensor<64x128x!quant.uniform<i8:f32, 0.5:1>>) -> tensor<64x128xf32>
%r = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
  : (tensor<2x64xf32>, tensor<64x128xf32>) -> tensor<2x128xf32>
return %r : tensor<2x128xf32> })");
  ASSERT_TRUE(model.entry());
  cpu::CpuOptions options;
  options.passes.verifyNumerics = true;
  Result<Program> program = cpu::compileForCpu(model, options);
  ASSERT_TRUE(program) << program.error().message();
  EXPECT_TRUE(hasNarrow(*program));
}

/// What is left to other kernels, and still right.
TEST(LowBitProducts, OfOtherForms) {
  // Too small to pay, of one column, scales for less than 16 neighbours.
  expectNarrow({1, 8, 16, "i8"}, false);
  expectNarrow({300, 1, 8192, "i8"}, false);
  expectNarrow({2, 70, 96, "i8", Numbers::Blocks, Numbers::None, 8}, false);
}

namespace {

/// A constant of \p shape, of some bytes.
std::string bytesConstant(const std::string &type, size_t bytes, int step) {
  Tensor tensor(ElementType::UI8, {int64_t(bytes)});
  for (size_t i = 0; i < bytes; ++i)
    tensor.set<uint8_t>(int64_t(i), uint8_t(i * size_t(step) + i / 64));
  return constantText(tensor, type);
}

/// Rows of a table of 300 x 64 bytes of \p element, times \p scales.
std::string lookup(const std::string &element, const std::string &scales,
                   const std::string &indices = "2x3",
                   const std::string &gather =
                       "offset_dims = [2], collapsed_slice_dims = [0], "
                       "start_index_map = [0], index_vector_dim = 2",
                   const std::string &sizes = "1, 64",
                   const std::string &result = "2x3x64") {
  const std::string table = "tensor<300x64x" + element + ">",
                    wide = "tensor<300x64xf32>";
  return "(%i: tensor<" + indices + "xi32>) -> tensor<" + result +
         "xf32> {\n%w = " + bytesConstant(table, 300 * 64, 7) +
         "%f = stablehlo.convert %w : (" + table + ") -> " + wide + "\n" +
         scales + "%t = stablehlo.multiply %f, %s : " + wide +
         "\n%r = \"stablehlo.gather\"(%t, %i) <{dimension_numbers = "
         "#stablehlo.gather<" +
         gather + ">, slice_sizes = array<i64: " + sizes + ">}> : (" + wide +
         ", tensor<" + indices + "xi32>) -> tensor<" + result +
         "xf32>\nreturn %r : tensor<" + result + "xf32>\n}";
}

std::string rowScales() {
  std::string text = "%v = stablehlo.constant dense<[";
  for (int row = 0; row < 300; ++row)
    text += (row ? ", " : "") + std::to_string(row) + ".5";
  return text + "]> : tensor<300xf32>\n"
                "%s = stablehlo.broadcast_in_dim %v, dims = [0] : "
                "(tensor<300xf32>) -> tensor<300x64xf32>\n";
}
const std::string columnScales =
    "%v = stablehlo.constant dense<0.5> : tensor<64xf32>\n"
    "%s = stablehlo.broadcast_in_dim %v, dims = [1] : (tensor<64xf32>) -> "
    "tensor<300x64xf32>\n";

/// A scale for 16 neighbours, written out in full.
std::string blockScales() {
  std::string text = "%s = stablehlo.constant dense<[";
  for (int row = 0; row < 300; ++row) {
    text += row ? ", [" : "[";
    for (int i = 0; i < 64; ++i)
      text += (i ? ", " : "") + std::to_string(row + i / 16) + ".5";
    text += "]";
  }
  return text + "]> : tensor<300x64xf32>\n";
}

} // namespace

TEST(LowBitTables, StayAsTheyAre) {
  for (const std::string element : {"i8", "ui8", "f8E4M3FN"})
    for (const std::string &scales :
         {rowScales(), columnScales, blockScales()}) {
      std::shared_ptr<Program> program;
      EXPECT_EQ(differs(lookup(element, scales), {0, 0}, &program), "")
          << element << scales.substr(0, 60);
      EXPECT_LE(constantBytes(*program), 300 * 64u + 300 * 4 * 4 + 1024)
          << element << scales.substr(0, 60);
    }
}

/// What is not whole rows, one index each, behind all others.
TEST(LowBitTables, OfOtherForms) {
  const std::string columns =
      lookup("i8", columnScales, "5",
             "offset_dims = [0], collapsed_slice_dims = [1], "
             "start_index_map = [1], index_vector_dim = 1",
             "300, 1", "300x5");
  const std::string partOfRows =
      lookup("i8", columnScales, "5",
             "offset_dims = [1], collapsed_slice_dims = [0], "
             "start_index_map = [0], index_vector_dim = 1",
             "1, 60", "5x60");
  const std::string rowsInFront =
      lookup("i8", columnScales, "5",
             "offset_dims = [0], collapsed_slice_dims = [0], "
             "start_index_map = [0], index_vector_dim = 1",
             "1, 64", "64x5");
  for (const std::string &body : {columns, partOfRows, rowsInFront}) {
    std::shared_ptr<Program> program;
    EXPECT_EQ(differs(body, {0, 0}, &program), "") << body.substr(0, 60);
    EXPECT_GE(constantBytes(*program), 300 * 64 * 4u);
  }
}

} // namespace sinter::test::narrow
