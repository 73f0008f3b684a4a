// Products and convolutions of a graph on matrix units, which are emulated:
// with epilogues, in all precisions and element types, against the oracle.

#include "backend/cpu/CompareWithInterpreter.h"
#include "backend/cpu/TileTests.h"
#include "backend/cpu/cost/Estimates.h"

#include "runtime/Program.h"
#include "llvm/Support/FormatVariadic.h"
#include <gtest/gtest.h>

using namespace sinter;
using namespace sinter::test;

namespace {

/// The machine that we run on with matrix units, which are chosen.
std::optional<cpu::Target> withTiles() {
  std::optional<cpu::Target> target = cpu::hostWithTiles();
  if (target)
    cpu::preferTiles(*target);
  return target;
}

/// What is wrong with \p body, whose kernels are those of \p names.
std::string wrong(const std::string &body,
                  const std::vector<std::string> &names, Tolerance tolerance,
                  Precision precision = Precision::Default,
                  std::optional<cpu::Target> target = withTiles()) {
  cpu::CpuOptions options;
  options.target = std::move(target);
  options.precision = precision;
  options.onCode = cpu::emulateTiles;
  std::shared_ptr<Program> program;
  if (std::string what = differsWith(body, tolerance, options, &program);
      !what.empty())
    return what;
  std::vector<std::string> found;
  for (const Step &step : program->steps)
    if (step.kernelName != "loops")
      found.push_back(step.kernelName);
  std::string text;
  for (const std::string &each : found)
    text += " " + each;
  return found == names ? "" : "computed by" + text;
}

std::string type(std::initializer_list<int64_t> shape,
                 const std::string &element) {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + element + ">";
}

/// `%NAME`, a constant of numbers between -1 and 1, or of bytes.
std::string constant(const std::string &name,
                     std::initializer_list<int64_t> shape,
                     const std::string &element) {
  int64_t size = 1;
  for (int64_t each : shape)
    size *= each;
  const bool isInteger = element[0] == 'i' || element[0] == 'u';
  const std::string flat = type({size}, "f32");
  const auto text = [&](const char *format, auto &&...arguments) {
    return llvm::formatv(format, arguments...).str() + "\n";
  };
  std::string all =
      text("%{0}0 = stablehlo.iota dim = 0 : {1}", name, flat) +
      text("%{0}1 = stablehlo.constant dense<0.734> : {1}", name, flat) +
      text("%{0}2 = stablehlo.multiply %{0}0, %{0}1 : {1}", name, flat) +
      text("%{0}3 = stablehlo.sine %{0}2 : {1}", name, flat);
  std::string last = "3";
  if (isInteger) {
    all += text("%{0}4 = stablehlo.constant dense<120.0> : {1}", name, flat) +
           text("%{0}5 = stablehlo.multiply %{0}3, %{0}4 : {1}", name, flat);
    last = "5";
  }
  if (element != "f32") {
    all += text("%{0}6 = stablehlo.convert %{0}{1} : ({2}) -> {3}", name, last,
                flat, type({size}, element));
    last = "6";
  }
  return all + text("%{0} = stablehlo.reshape %{0}{1} : ({2}) -> {3}", name,
                    last, type({size}, element), type(shape, element));
}

/// relu(x * w + bias) + residual.
std::string product(int64_t m, int64_t n, int64_t k,
                    const std::string &element) {
  const std::string x = type({m, k}, element), w = type({k, n}, element),
                    y = type({m, n}, element), row = type({n}, element);
  return "(%x: " + x + ", %r: " + y + ") -> " + y + " {\n" +
         constant("w", {k, n}, element) + constant("b", {n}, element) +
         "%d = stablehlo.dot %x, %w : (" + x + ", " + w + ") -> " + y +
         "\n%c = stablehlo.broadcast_in_dim %b, dims = [1] : (" + row +
         ") -> " + y + "\n%s = stablehlo.add %d, %c : " + y +
         "\n%z = stablehlo.constant dense<0.0> : " + y +
         "\n%u = stablehlo.maximum %s, %z : " + y +
         "\n%o = stablehlo.add %u, %r : " + y + "\nreturn %o : " + y + "\n}";
}

std::string convolution(int64_t c, int64_t k, int64_t size, int64_t window,
                        int64_t padding, int64_t stride,
                        const std::string &element, int64_t groups = 1) {
  const int64_t out = (size + 2 * padding - window) / stride + 1;
  const std::string x = type({2, c, size, size}, element),
                    w = type({k, c / groups, window, window}, element),
                    y = type({2, k, out, out}, element),
                    row = type({k}, element);
  return "(%x: " + x + ", %r: " + y + ") -> " + y + " {\n" +
         constant("w", {k, c / groups, window, window}, element) +
         constant("b", {k}, element) +
         "%d = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x"
         "[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [" +
         std::to_string(stride) + ", " + std::to_string(stride) +
         "], pad = [[" + std::to_string(padding) + ", " +
         std::to_string(padding) + "], [" + std::to_string(padding) + ", " +
         std::to_string(padding) +
         "]]} {batch_group_count = 1 : i64, feature_group_count = " +
         std::to_string(groups) + " : i64} : (" + x + ", " + w + ") -> " + y +
         "\n%c = stablehlo.broadcast_in_dim %b, dims = [1] : (" + row +
         ") -> " + y + "\n%s = stablehlo.add %d, %c : " + y +
         "\n%z = stablehlo.constant dense<0.0> : " + y +
         "\n%u = stablehlo.maximum %s, %z : " + y +
         "\n%o = stablehlo.add %u, %r : " + y + "\nreturn %o : " + y + "\n}";
}

TEST(TileKernels, Products) {
  NEEDS_TILES();
  for (auto [m, n, k] : {std::tuple{1, 10, 37}, {49, 70, 100}, {130, 40, 64}})
    for (auto [precision, name, tolerance] :
         {std::tuple{Precision::Default, "tiles-split3", 2e-4},
          {Precision::Exact, "tiles-split6", 2e-5},
          {Precision::BFloat16, "tiles-bf16", 1e-1}})
      EXPECT_EQ(wrong(product(m, n, k, "f32"), {name}, {tolerance, tolerance},
                      precision),
                "")
          << m << "x" << n << "x" << k << " " << name;
}

/// Rows that several tasks take are brought together by a step before.
TEST(TileKernels, RowsThatAreSharedByTasks) {
  NEEDS_TILES();
  cpu::Target slow = *withTiles();
  slow.rates.cache = 1e8;
  for (auto [m, n, k] : {std::tuple{1, 140, 37}, {130, 340, 64}})
    EXPECT_EQ(wrong(product(m, n, k, "f32"), {"tiles-split3", "tiles-split3"},
                    {2e-4, 2e-4}, Precision::Default, slow),
              "")
        << m << "x" << n << "x" << k;
  EXPECT_EQ(wrong(convolution(32, 130, 9, 3, 1, 1, "f32"),
                  {"tiles-split3", "tiles-split3"}, {4e-4, 4e-4},
                  Precision::Default, slow),
            "");
}

/// Groups are merged until they fill what tiles multiply.
TEST(TileKernels, Groups) {
  NEEDS_TILES();
  for (int64_t groups : {2, 8, 16})
    for (auto [element, name, tolerance] :
         {std::tuple{"f32", "tiles-split3", 4e-4},
          {"bf16", "tiles-bf16", 3e-2}})
      EXPECT_EQ(wrong(convolution(64, 64, 9, 3, 1, 1, element, groups), {name},
                      {tolerance, tolerance}),
                "")
          << groups << " groups, " << element;
}

/// Activations that are numbers of f16 or bf16 say so.
TEST(TileKernels, HalfPrecision) {
  NEEDS_TILES();
  for (auto [element, name, tolerance] :
       {std::tuple{"f16", "tiles-split4", 2e-2}, {"bf16", "tiles-bf16", 2e-1}})
    EXPECT_EQ(
        wrong(product(20, 70, 130, element), {name}, {tolerance, tolerance}),
        "")
        << element;
}

/// An epilogue of many instructions.
TEST(TileKernels, LongEpilogues) {
  NEEDS_TILES();
  const std::string x = type({33, 64}, "f32"), w = type({64, 45}, "f32"),
                    y = type({33, 45}, "f32");
  EXPECT_EQ(wrong("(%x: " + x + ") -> " + y + " {\n" +
                      constant("w", {64, 45}, "f32") +
                      "%d = stablehlo.dot %x, %w : (" + x + ", " + w + ") -> " +
                      y + "\n%t = stablehlo.tanh %d : " + y +
                      "\n%e = stablehlo.exponential %t : " + y +
                      "\nreturn %e : " + y + "\n}",
                  {"tiles-split3"}, {2e-4, 2e-4}),
            "");
}

/// Bytes less a zero point by bytes, to the bit.
TEST(TileKernels, ProductsOfBytes) {
  NEEDS_TILES();
  const std::string x = type({35, 100}, "ui8"), wide = type({35, 100}, "i32"),
                    w = type({100, 40}, "i8"), v = type({100, 40}, "i32"),
                    y = type({35, 40}, "i32");
  EXPECT_EQ(wrong("(%x: " + x + ") -> " + y + " {\n" +
                      constant("w", {100, 40}, "i8") +
                      "%a = stablehlo.convert %x : (" + x + ") -> " + wide +
                      "\n%v = stablehlo.convert %w : (" + w + ") -> " + v +
                      "\n%d = stablehlo.dot %a, %v : (" + wide + ", " + v +
                      ") -> " + y + "\nreturn %d : " + y + "\n}",
                  {"tiles-i8"}, {0, 0}),
            "");
}

TEST(TileKernels, Convolutions) {
  NEEDS_TILES();
  for (auto [c, k, size, window, padding, stride] :
       {std::tuple{32, 40, 9, 3, 1, 1},
        {32, 33, 7, 1, 0, 1},
        {48, 32, 10, 1, 0, 2},
        {33, 48, 11, 3, 1, 2}})
    for (auto [precision, name, tolerance] :
         {std::tuple{Precision::Default, "tiles-split3", 4e-4},
          {Precision::Exact, "tiles-split6", 2e-5}})
      EXPECT_EQ(wrong(convolution(c, k, size, window, padding, stride, "f32"),
                      {name}, {tolerance, tolerance}, precision),
                "")
          << window << "x" << window << " " << name;
}

TEST(TileKernels, ConvolutionsInHalfPrecision) {
  NEEDS_TILES();
  for (auto [element, name, tolerance] :
       {std::tuple{"f16", "tiles-split4", 5e-2}, {"bf16", "tiles-bf16", 3e-1}})
    EXPECT_EQ(wrong(convolution(32, 40, 9, 3, 1, 1, element), {name},
                    {tolerance, tolerance}),
              "")
        << element;
}

/// The first convolutions of a deep network are computed as near as in f32.
TEST(TileKernels, FirstConvolutionsOfDeepNetworks) {
  NEEDS_TILES();
  constexpr int64_t deep = 12, first = 4;
  const std::string x = type({1, 32, 7, 7}, "f32"),
                    w = type({32, 32, 1, 1}, "f32");
  std::string body = "(%x0: " + x + ") -> " + x + " {\n" +
                     constant("w", {32, 32, 1, 1}, "f32") +
                     "%h = stablehlo.constant dense<0.2> : " + w +
                     "\n%v = stablehlo.multiply %w, %h : " + w + "\n";
  for (int64_t i = 1; i <= deep; ++i)
    body += llvm::formatv(
                "%x{0} = stablehlo.convolution(%x{1}, %v) dim_numbers = "
                "[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {{} "
                "{{batch_group_count = 1 : i64, feature_group_count = 1 : i64} "
                ": ({2}, {3}) -> {2}\n",
                i, i - 1, x, w)
                .str();
  body += "return %x" + std::to_string(deep) + " : " + x + "\n}";
  std::vector<std::string> names(first, "tiles-split6");
  names.resize(deep, "tiles-split3");
  EXPECT_EQ(wrong(body, names, {1e-4, 1e-4}), "");
}

/// What a model asks of one product wins.
TEST(TileKernels, ModelsAskForPrecision) {
  NEEDS_TILES();
  const std::string x = type({20, 40}, "f32"), w = type({40, 30}, "f32"),
                    y = type({20, 30}, "f32");
  for (auto [asked, name] : {std::pair{"DEFAULT", "tiles-bf16"},
                             {"HIGH", "tiles-split3"},
                             {"HIGHEST", "tiles-split6"}})
    EXPECT_EQ(
        wrong("(%x: " + x + ") -> " + y + " {\n" +
                  constant("w", {40, 30}, "f32") +
                  "%d = stablehlo.dot_general %x, %w, contracting_dims = [1] "
                  "x [0], precision = [" +
                  asked + ", " + asked + "] : (" + x + ", " + w + ") -> " + y +
                  "\nreturn %d : " + y + "\n}",
              {name}, {0.1, 0.1}, Precision::BFloat16),
        "")
        << asked;
}

/// Of two activations, of a batch and with an epilogue.
std::string productOfTwo(const std::string &precision,
                         const std::string &element) {
  const std::string x = type({2, 20, 40}, element),
                    w = type({2, 30, 40}, element),
                    y = type({2, 20, 30}, element);
  return "(%x: " + x + ", %w: " + w + ", %r: " + y + ") -> " + y + " {\n" +
         "%d = stablehlo.dot_general %x, %w, batching_dims = [0] x [0], "
         "contracting_dims = [2] x [2]" +
         precision + " : (" + x + ", " + w + ") -> " + y +
         "\n%o = stablehlo.add %d, %r : " + y + "\nreturn %o : " + y + "\n}";
}

TEST(TileKernels, ProductsOfTwoActivations) {
  NEEDS_TILES();
  for (auto [precision, name, tolerance] :
       {std::tuple{Precision::Default, "tiles-split3", 2e-4},
        {Precision::Exact, "tiles-split6", 2e-5},
        {Precision::BFloat16, "tiles-bf16", 1e-1}})
    EXPECT_EQ(wrong(productOfTwo("", "f32"), {name}, {tolerance, tolerance},
                    precision),
              "")
        << name;
  for (auto [element, name, tolerance] :
       {std::tuple{"f16", "tiles-split4", 2e-2}, {"bf16", "tiles-bf16", 2e-1}})
    EXPECT_EQ(wrong(productOfTwo("", element), {name}, {tolerance, tolerance}),
              "")
        << element;
  for (auto [asked, name] :
       {std::pair{", precision = [HIGH, DEFAULT]", "tiles-split3"},
        {", precision = [HIGH, HIGHEST]", "tiles-split6"}})
    EXPECT_EQ(wrong(productOfTwo(asked, "f32"), {name}, {1e-1, 1e-1},
                    Precision::BFloat16),
              "")
        << asked;
}

/// The gradient of a weight, whose rows lie along those of the results.
TEST(TileKernels, GradientsOfWeights) {
  NEEDS_TILES();
  const std::string x = type({50, 33}, "f32"), g = type({50, 21}, "f32"),
                    y = type({33, 21}, "f32");
  EXPECT_EQ(wrong("(%x: " + x + ", %g: " + g + ") -> " + y + " {\n" +
                      "%d = stablehlo.dot_general %x, %g, contracting_dims = "
                      "[0] x [0] : (" +
                      x + ", " + g + ") -> " + y + "\nreturn %d : " + y + "\n}",
                  {"tiles-split3"}, {2e-4, 2e-4}),
            "");
}

/// Bytes of either sign, less zero points, without and with what follows.
TEST(TileKernels, BytesOfTwoActivations) {
  NEEDS_TILES();
  for (const std::string a : {"ui8", "i8"})
    for (const std::string b : {"ui8", "i8"})
      for (const char *zero : {"0", "100"})
        for (bool isRescaled : {false, true}) {
          const std::string x = type({2, 20, 200}, a),
                            w = type({2, 200, 30}, b),
                            wideX = type({2, 20, 200}, "i32"),
                            wideW = type({2, 200, 30}, "i32"),
                            y = type({2, 20, 30}, "i32"),
                            f = type({2, 20, 30}, "f32");
          std::string text =
              "(%x: " + x + ", %w: " + w + ") -> " + (isRescaled ? f : y) +
              " {\n%a = stablehlo.convert %x : (" + x + ") -> " + wideX +
              "\n%b = stablehlo.convert %w : (" + w + ") -> " + wideW +
              "\n%xz = stablehlo.constant dense<" + zero + "> : " + wideX +
              "\n%wz = stablehlo.constant dense<" + zero + "> : " + wideW +
              "\n%xd = stablehlo.subtract %a, %xz : " + wideX +
              "\n%wd = stablehlo.subtract %b, %wz : " + wideW +
              "\n%d = stablehlo.dot_general %xd, %wd, batching_dims = [0] x "
              "[0], contracting_dims = [2] x [1] : (" +
              wideX + ", " + wideW + ") -> " + y;
          text += isRescaled
                      ? "\n%c = stablehlo.convert %d : (" + y + ") -> " + f +
                            "\n%s = stablehlo.constant dense<0.3> : " + f +
                            "\n%m = stablehlo.multiply %c, %s : " + f +
                            "\nreturn %m : " + f + "\n}"
                      : "\nreturn %d : " + y + "\n}";
          EXPECT_EQ(wrong(text, {"tiles-i8"}, {0, 0}), "")
              << a << " by " << b << " from " << zero;
        }
}

/// Machines without matrix units have the kernels that they had.
TEST(TileKernels, AreForMatrixUnitsOnly) {
  std::shared_ptr<Program> program;
  EXPECT_EQ(differs(product(49, 70, 100, "f32"), {2e-4, 2e-4}, &program,
                    *cpu::Target::host("-amx-tile")),
            "");
  for (const Step &step : program->steps)
    EXPECT_NE(step.kernelName.substr(0, 6), "tiles-");
}

/// A program says what it needs, and only where it does.
TEST(TileKernels, ProgramsSayWhatTheyNeed) {
  cpu::CpuOptions options;
  options.target =
      *cpu::Target::named("x86_64-unknown-linux-gnu", "sapphirerapids", "");
  // Few rows do not wait for the weights of six products.
  for (auto [rows, precision, needs] :
       {std::tuple{256, Precision::Default, true},
        {1, Precision::Default, true},
        {1, Precision::Exact, false}}) {
    options.precision = precision;
    Result<Program> program =
        cpu::compileForCpu(parseModel(product(rows, 640, 640, "f32")), options);
    ASSERT_TRUE(program) << program.error().message();
    EXPECT_EQ(llvm::is_contained(program->features, "amx-bf16"), needs) << rows;
  }
}

/// Products of dynamic sizes have tiles: by weights, and of two activations.
TEST(TileKernels, DynamicSizesHaveTiles) {
  const std::string x = "tensor<?x256xf32>", y = "tensor<?x64xf32>",
                    products[] = {
                        "(%x: " + x + ") -> " + y + " {\n" +
                            constant("w", {256, 64}, "f32") +
                            "%d = stablehlo.dot %x, %w : (" + x + ", " +
                            type({256, 64}, "f32") + ") -> " + y +
                            "\nreturn %d : " + y + "\n}",
                        "(%x: " + x + ", %y: " + y + ") -> " +
                            type({256, 64}, "f32") + " {\n" +
                            "%d = stablehlo.dot_general %x, %y, "
                            "contracting_dims = [0] x [0] : (" +
                            x + ", " + y + ") -> " + type({256, 64}, "f32") +
                            "\nreturn %d : " + type({256, 64}, "f32") + "\n}"};
  for (const std::string &body : products)
    for (auto [features, haveTiles] :
         {std::pair{"", true}, {"-amx-tile", false}}) {
      cpu::CpuOptions options;
      options.target = *cpu::Target::named("x86_64-unknown-linux-gnu",
                                           "sapphirerapids", features);
      Result<Program> program = cpu::planForCpu(parseModel(body), options);
      ASSERT_TRUE(program) << program.error().message();
      EXPECT_EQ(llvm::any_of(program->steps,
                             [](const Step &step) {
                               return cpu::usesTiles(step.kernelName);
                             }),
                haveTiles)
          << body;
    }
}

} // namespace
