// What keep-split-operands leaves between products and convolutions on matrix
// units, which are emulated, against the oracle.
//
// Covers: backend/cpu/kernels/amx TermSplitter
// Covers: backend/cpu/emit SplitTermsKernel

#include "backend/cpu/DynamicImages.h"
#include "backend/cpu/ProgramText.h"
#include "backend/cpu/TileTests.h"

#include "runtime/Program.h"
#include "llvm/ADT/StringExtras.h"
#include <gtest/gtest.h>

using namespace sinter;
using namespace sinter::test;

namespace {

/// Where products are on matrix units whatever they take.
cpu::CpuOptions onTiles(cpu::CpuOptions options = {}) {
  if (!options.target) {
    options.target = *cpu::hostWithTiles();
    cpu::preferTiles(*options.target);
  }
  options.onCode = cpu::emulateTiles;
  return options;
}

/// And where it pays to cut what two of them read in a step of its own.
cpu::CpuOptions onTilesBesideSlowCaches() {
  cpu::CpuOptions options = onTiles();
  options.target = cpu::withSlowCache(*options.target);
  return options;
}

/// What is wrong with \p body, of whose steps so many store or read parts.
std::string partsWrong(const std::string &body, int64_t storing,
                       int64_t reading, const cpu::CpuOptions &given = {},
                       Tolerance tolerance = {4e-4, 4e-4}) {
  const cpu::CpuOptions options = onTiles(given);
  std::shared_ptr<Program> program;
  if (std::string what = differsWith(body, tolerance, options, &program);
      !what.empty())
    return what;
  int64_t stored = 0, read = 0;
  std::string text;
  for (const Step &step : program->steps) {
    stored += llvm::StringRef(step.op).contains("split_terms");
    read += llvm::StringRef(step.op).contains("recombine_terms");
    text += " " + step.op + " by " + step.kernelName;
  }
  return stored == storing && read == reading ? "" : "computed by" + text;
}

/// `%NAME`, a constant of numbers between -1 and 1.
std::string weights(const std::string &name,
                    std::initializer_list<int64_t> shape) {
  int64_t size = 1;
  for (int64_t each : shape)
    size *= each;
  const std::string flat = typeOf({size}), n = "%" + name;
  return n + "0 = stablehlo.iota dim = 0 : " + flat + "\n" + n +
         "1 = stablehlo.constant dense<0.734> : " + flat + "\n" + n +
         "2 = stablehlo.multiply " + n + "0, " + n + "1 : " + flat + "\n" + n +
         "3 = stablehlo.sine " + n + "2 : " + flat + "\n" + n +
         " = stablehlo.reshape " + n + "3 : (" + flat + ") -> " +
         typeOf(shape) + "\n";
}

std::string productOf(const std::string &result, const std::string &lhs,
                      const std::string &rhs, int64_t m, int64_t n, int64_t k) {
  return "%" + result + " = stablehlo.dot %" + lhs + ", %" + rhs + " : (" +
         typeOf({m, k}) + ", " + typeOf({k, n}) + ") -> " + typeOf({m, n}) +
         "\n";
}

/// tanh(x * w) * v.
std::string twoLayers(int64_t m, int64_t k, int64_t n, int64_t last) {
  return "(%x: " + typeOf({m, k}) + ") -> " + typeOf({m, last}) + " {\n" +
         weights("w", {k, n}) + weights("v", {n, last}) +
         productOf("a", "x", "w", m, n, k) +
         "%b = stablehlo.tanh %a : " + typeOf({m, n}) + "\n" +
         productOf("c", "b", "v", m, last, n) +
         "return %c : " + typeOf({m, last}) + "\n}";
}

TEST(KeepSplitOperands, BetweenProducts) {
  NEEDS_TILES();
  for (auto [m, k, n, last] :
       {std::tuple{1, 20, 17, 5}, {33, 40, 70, 33}, {50, 33, 128, 40}})
    EXPECT_EQ(partsWrong(twoLayers(m, k, n, last), 1, 1), "")
        << m << "x" << k << "x" << n;
}

std::string convolutionOf(const std::string &result, const std::string &input,
                          const std::string &kernel,
                          std::array<int64_t, 4> from,
                          std::array<int64_t, 4> weights, int64_t padding) {
  const int64_t height = from[2] + 2 * padding - weights[2] + 1,
                width = from[3] + 2 * padding - weights[3] + 1;
  const std::string pad = std::to_string(padding);
  return "%" + result + " = stablehlo.convolution(%" + input + ", %" + kernel +
         ") dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = "
         "{pad = [[" +
         pad + ", " + pad + "], [" + pad + ", " + pad +
         "]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : "
         "(" +
         typeOf({from[0], from[1], from[2], from[3]}) + ", " +
         typeOf({weights[0], weights[1], weights[2], weights[3]}) + ") -> " +
         typeOf({from[0], weights[0], height, width}) + "\n";
}

/// A window of \p size, tanh, and a second convolution by a window of \p last.
std::string twoConvolutions(int64_t channels, int64_t middle, int64_t height,
                            int64_t width, int64_t size, int64_t last) {
  const int64_t padding = size / 2, images = 2, outputs = 33;
  const std::string between = typeOf({images, middle, height, width}),
                    results = typeOf({images, outputs, height, width});
  return "(%x: " + typeOf({images, channels, height, width}) + ") -> " +
         results + " {\n" + weights("w", {middle, channels, size, size}) +
         weights("v", {outputs, middle, last, last}) +
         convolutionOf("a", "x", "w", {images, channels, height, width},
                       {middle, channels, size, size}, padding) +
         "%b = stablehlo.tanh %a : " + between + "\n" +
         convolutionOf("c", "b", "v", {images, middle, height, width},
                       {outputs, middle, last, last}, last / 2) +
         "return %c : " + results + "\n}";
}

/// Behind a window, whose tiles are of each row of an image, and behind one
/// pixel; also where the last block has no channels for some of its lanes.
TEST(KeepSplitOperands, BetweenConvolutions) {
  NEEDS_TILES();
  for (auto [channels, middle, height, width, size] :
       {std::tuple{32, 48, 5, 19, 3}, {32, 40, 7, 7, 1}, {16, 64, 6, 9, 3}})
    EXPECT_EQ(
        partsWrong(twoConvolutions(channels, middle, height, width, size, 1), 1,
                   1),
        "")
        << middle << "x" << height << "x" << width << " by " << size;
}

/// The same with every product cutting what it reads: whether that gives other
/// bits.
bool givesOtherBits(const std::string &body,
                    const cpu::CpuOptions &given = {}) {
  Tensor images;
  std::optional<Tensor> first;
  for (bool keeps : {true, false}) {
    cpu::CpuOptions options = onTiles(given);
    if (!keeps)
      options.passes.disabledPatterns = {"keep-split-operands", "split-once"};
    const Model model = parseModel(body);
    const TensorSpec spec = model.inputs()[0];
    images = Tensor(spec.type, spec.shape);
    fillRandom(images, 7);
    Result<Program> program = cpu::compileForCpu(model, options);
    EXPECT_TRUE(program) << program.error().message();
    if (!program)
      return true;
    auto executor =
        executorOf(std::make_shared<const Program>(std::move(*program)), 2);
    Tensor result = sinter::test::resultOf(*executor, images);
    if (first)
      return !haveSameBits(*first, result);
    first = std::move(result);
  }
  return true;
}

struct KeptLayers {
  const char *name;
  int64_t channels, middle, height, width;
  ImageText::Window first, second;
  int64_t outputs = 33, images = 2;
};

std::string layersOf(const KeptLayers &of) {
  ImageText text(false, false, of.images);
  const ImageText::Image x = text.input(of.channels, of.height, of.width);
  return text.finish(
      text.convolution(text.relu(text.convolution(x, of.middle, of.first)),
                       of.outputs, of.second));
}

const ImageText::Window pixel = {.size = 1, .padding = 0};

/// Zeros stand around the pixels, wherever windows begin and end, for tiles of
/// a row and for those that go over several.
TEST(KeepSplitOperands, BeforeWindows) {
  NEEDS_TILES();
  for (const KeptLayers &each :
       {KeptLayers{"pixels", 16, 40, 6, 7, pixel, {}},
        {"rows", 16, 33, 5, 19, {}, {}},
        {"one row", 16, 32, 1, 5, pixel, {}},
        {"wide", 16, 32, 3, 34, pixel, {}, 64, 1},
        {"nothing around", 16, 48, 6, 7, {}, {.padding = 0}},
        {"strides", 16, 32, 9, 8, pixel, {.stride = 2}},
        {"strides without border",
         16,
         32,
         8,
         6,
         {},
         {.size = 2, .stride = 2, .padding = 0}},
        {"rows that nobody reads",
         16,
         32,
         8,
         8,
         pixel,
         {.size = 2, .stride = 3, .padding = 0}},
        {"large", 16, 32, 6, 5, pixel, {.size = 5, .padding = 2}},
        {"more around than there is",
         16,
         32,
         2,
         3,
         pixel,
         {.size = 5, .padding = 4}},
        {"dilation", 16, 32, 7, 9, {}, {.padding = 2, .dilation = 2}},
        {"groups", 16, 64, 5, 6, pixel, {.groups = 4}, 64},
        {"large groups", 16, 128, 4, 5, pixel, {.groups = 2}, 128},
        {"a pixel that is padded",
         16,
         32,
         4,
         5,
         pixel,
         {.size = 1, .padding = 1}}}) {
    SCOPED_TRACE(each.name);
    EXPECT_EQ(partsWrong(layersOf(each), 1, 1), "");
    EXPECT_FALSE(givesOtherBits(layersOf(each)));
  }
}

/// One behind the other, in memory that others have left.
TEST(KeepSplitOperands, BetweenManyWindows) {
  NEEDS_TILES();
  ImageText text(false, false, 2);
  ImageText::Image x = text.input(16, 6, 9);
  for (auto [channels, window] : {std::pair{96, pixel},
                                  {33, ImageText::Window()},
                                  {80, pixel},
                                  {64, {.size = 5, .padding = 2}},
                                  {48, {}}})
    x = text.relu(text.convolution(x, channels, window));
  const std::string body = text.finish(x);
  EXPECT_EQ(partsWrong(body, 4, 4), "");
  EXPECT_FALSE(givesOtherBits(body));
}

/// Pixels that are read with strides are read from where they are, by rows.
TEST(KeepSplitOperands, BeforeStrides) {
  NEEDS_TILES();
  for (const KeptLayers &each :
       {KeptLayers{"pixels",
                   16,
                   40,
                   8,
                   10,
                   pixel,
                   {.size = 1, .stride = 2, .padding = 0}},
        {"rows", 16, 32, 7, 13, {}, {.size = 1, .stride = 3, .padding = 0}}}) {
    SCOPED_TRACE(each.name);
    EXPECT_EQ(partsWrong(layersOf(each), 1, 1), "");
    EXPECT_FALSE(givesOtherBits(layersOf(each)));
  }
}

/// Who reads windows has zeros between rows, and others read over them.
std::string severalReaders(ImageText::Window window) {
  ImageText text(false, false, 2);
  const ImageText::Image
      x = text.input(16, 8, 7),
      y = text.relu(text.convolution(x, 48, pixel)),
      a = text.convolution(y, 32, window),
      b = text.convolution(y, 32,
                           {.size = 1, .stride = window.stride, .padding = 0}),
      c = text.convolution(text.convolution(y, 32, pixel), 32,
                           {.size = 1, .stride = window.stride, .padding = 0});
  return text.finish(text.add(text.add(a, b), c));
}

TEST(KeepSplitOperands, ReadersOfSeveralShapes) {
  NEEDS_TILES();
  for (const ImageText::Window &window :
       {ImageText::Window(), {.stride = 2}, {.size = 5, .padding = 2}}) {
    SCOPED_TRACE(window.stride);
    // One of the readers is read itself.
    EXPECT_EQ(partsWrong(severalReaders(window), 2, 4), "");
    EXPECT_FALSE(givesOtherBits(severalReaders(window)));
  }
}

/// A row of 17 results in two tiles of 9 takes more than pixels that are
/// brought together in tiles of 16.
TEST(KeepSplitOperands, NotWhereTilesOfRowsTakeLonger) {
  NEEDS_TILES();
  const KeptLayers strides = {
      "strides", 16, 32, 66, 34, pixel, {.size = 1, .stride = 2, .padding = 0}};
  EXPECT_EQ(partsWrong(layersOf(strides), 0, 0), "");
}

/// What is too large to be cut is stored as it is by the tile that it is in,
/// and multiplied in f32, with others of its row that are put together again.
TEST(KeepSplitOperands, UnusualNumbers) {
  NEEDS_TILES();
  const int64_t m = 20, k = 32, n = 70, last = 17;
  const std::string y = typeOf({m, n});
  for (const char *large : {"0x7149F2CA", "0xDD5E0B6B"}) // 1e30, -1e18
    EXPECT_EQ(
        partsWrong(
            "(%x: " + typeOf({m, k}) + ") -> " + typeOf({m, last}) + " {\n" +
                weights("w", {k, n}) + weights("v", {n, last}) +
                productOf("a", "x", "w", m, n, k) +
                "%i = stablehlo.iota dim = 1 : " + y +
                "\n%j = stablehlo.constant dense<37.0> : " + y +
                "\n%l = stablehlo.constant dense<" + large + "> : " + y +
                "\n%e = stablehlo.compare EQ, %i, %j : (" + y + ", " + y +
                ") -> tensor<20x70xi1>" +
                "\n%b = stablehlo.select %e, %l, %a : tensor<20x70xi1>, " + y +
                "\n" + productOf("c", "b", "v", m, last, n) +
                "return %c : " + typeOf({m, last}) + "\n}",
            1, 1),
        "")
        << large;
}

/// In front of a window, too: one such number of all of an image.
TEST(KeepSplitOperands, UnusualNumbersUnderWindows) {
  NEEDS_TILES();
  const std::string y = typeOf({1, 32, 4, 5}), flat = typeOf({640});
  for (const char *large : {"0x7149F2CA", "0xDD5E0B6B"}) // 1e30, -1e18
    for (int64_t last : {3, 1}) {
      const std::string body =
          "(%x: " + y + ") -> " + typeOf({1, 33, 4, 5}) + " {\n" +
          weights("w", {32, 32, 1, 1}) + weights("v", {33, 32, last, last}) +
          convolutionOf("a", "x", "w", {1, 32, 4, 5}, {32, 32, 1, 1}, 0) +
          "%i = stablehlo.iota dim = 0 : " + flat +
          "\n%h = stablehlo.reshape %i : (" + flat + ") -> " + y +
          "\n%j = stablehlo.constant dense<149.0> : " + y +
          "\n%l = stablehlo.constant dense<" + large + "> : " + y +
          "\n%e = stablehlo.compare EQ, %h, %j : (" + y + ", " + y +
          ") -> tensor<1x32x4x5xi1>" +
          "\n%b = stablehlo.select %e, %l, %a : tensor<1x32x4x5xi1>, " + y +
          "\n" +
          convolutionOf("c", "b", "v", {1, 32, 4, 5}, {33, 32, last, last},
                        last / 2) +
          "return %c : " + typeOf({1, 33, 4, 5}) + "\n}";
      EXPECT_EQ(partsWrong(body, 1, 1), "") << large << " under " << last;
    }
}

/// tanh(x), and t + (t * w times t * v) * w of that, of m x k numbers.
std::string twoReaders(int64_t m, int64_t k) {
  const std::string x = typeOf({m, k});
  return "(%x: " + x + ") -> " + x + " {\n" + weights("w", {k, k}) +
         weights("v", {k, k}) + "%t = stablehlo.tanh %x : " + x + "\n" +
         productOf("a", "t", "w", m, k, k) + productOf("b", "t", "v", m, k, k) +
         "%c = stablehlo.multiply %a, %b : " + x + "\n" +
         productOf("d", "c", "w", m, k, k) +
         "%e = stablehlo.add %d, %t : " + x + "\nreturn %e : " + x + "\n}";
}

/// What several products read is cut by nobody's epilogue: once, while others
/// read the numbers.
TEST(KeepSplitOperands, CutOnceForSeveralProducts) {
  NEEDS_TILES();
  const cpu::CpuOptions options = onTilesBesideSlowCaches();
  for (auto [m, k] : {std::pair{1, 20}, {16, 32}, {33, 70}, {150, 33}}) {
    SCOPED_TRACE(std::to_string(m) + "x" + std::to_string(k));
    EXPECT_EQ(partsWrong(twoReaders(m, k), 2, 3, options, {2e-3, 2e-3}), "");
    EXPECT_FALSE(givesOtherBits(twoReaders(m, k), options));
  }
}

/// Pixels, with the zeros that the widest window reads; of a last block of
/// channels that has none for some of its lanes, or is half a block.
TEST(KeepSplitOperands, CutOnceForSeveralConvolutions) {
  NEEDS_TILES();
  const cpu::CpuOptions options = onTilesBesideSlowCaches();
  for (int64_t channels : {33, 40, 48, 64})
    for (const ImageText::Window &window : {pixel,
                                            ImageText::Window(),
                                            {.stride = 2},
                                            {.size = 2, .padding = 1}}) {
      SCOPED_TRACE(std::to_string(channels) + " by " +
                   std::to_string(window.size));
      // With the same results, but for windows of an even size.
      const ImageText::Window large =
          window.size % 2 == 0 ? window
                               : ImageText::Window{.size = 5,
                                                   .stride = window.stride,
                                                   .padding = 2};
      ImageText text(false, false, 2);
      const ImageText::Image x = text.relu(text.input(channels, 9, 20)),
                             a = text.convolution(x, 32, window),
                             b = text.convolution(x, 32, window),
                             c = text.convolution(x, 32, large);
      const std::string body = text.finish(text.add(text.add(a, b), c));
      EXPECT_EQ(partsWrong(body, 1, 3, options), "");
      EXPECT_FALSE(givesOtherBits(body, options));
    }
}

/// Infinities, and what is too large to be cut, in f32 for all who read it.
TEST(KeepSplitOperands, UnusualNumbersCutOnce) {
  NEEDS_TILES();
  const int64_t m = 40, k = 70;
  const std::string x = typeOf({m, k});
  for (const char *large : {"0x7149F2CA", "0xDD5E0B6B"}) // 1e30, -1e18
    EXPECT_EQ(
        partsWrong("(%x: " + x + ") -> " + x + " {\n" + weights("w", {k, k}) +
                       weights("v", {k, k}) + "%i = stablehlo.iota dim = 1 : " +
                       x + "\n%j = stablehlo.constant dense<37.0> : " + x +
                       "\n%l = stablehlo.constant dense<" + large + "> : " + x +
                       "\n%e = stablehlo.compare EQ, %i, %j : (" + x + ", " +
                       x + ") -> tensor<40x70xi1>" +
                       "\n%b = stablehlo.select %e, %l, %x : "
                       "tensor<40x70xi1>, " +
                       x + "\n" + productOf("a", "b", "w", m, k, k) +
                       productOf("c", "b", "v", m, k, k) +
                       "%d = stablehlo.add %a, %c : " + x +
                       "\nreturn %d : " + x + "\n}",
                   1, 2, onTilesBesideSlowCaches()),
        "")
        << large;
}

/// Rows of a tensor whose rank is that of images in blocks.
TEST(KeepSplitOperands, RowsOfRankFive) {
  NEEDS_TILES();
  const std::string x = typeOf({2, 3, 2, 5, 16}), y = typeOf({2, 3, 2, 5, 32});
  auto product = [&](const std::string &result, const std::string &w) {
    return "%" + result + " = stablehlo.dot_general %x, %" + w +
           ", contracting_dims = [4] x [0] : (" + x + ", " + typeOf({16, 32}) +
           ") -> " + y + "\n";
  };
  EXPECT_EQ(partsWrong("(%x: " + x + ") -> " + y + " {\n" +
                           weights("w", {16, 32}) + weights("v", {16, 32}) +
                           product("a", "w") + product("b", "v") +
                           "%c = stablehlo.add %a, %b : " + y +
                           "\nreturn %c : " + y + "\n}",
                       0, 0, onTilesBesideSlowCaches()),
            "");
}

/// The oracle knows parts as bytes that hold the numbers' bits.
TEST(KeepSplitOperands, TheOracleAgreesBehindIt) {
  NEEDS_TILES();
  cpu::CpuOptions options = onTilesBesideSlowCaches();
  options.passes.verifyNumerics = true;
  EXPECT_EQ(partsWrong(twoReaders(33, 70), 2, 3, options, {2e-3, 2e-3}), "");
}

TEST(KeepSplitOperands, CanBeLeftOut) {
  NEEDS_TILES();
  cpu::CpuOptions options;
  options.passes.disabledPatterns = {"keep-split-operands"};
  EXPECT_EQ(partsWrong(twoLayers(33, 40, 70, 33), 0, 0, options), "");
}

TEST(KeepSplitOperands, CuttingOnceCanBeLeftOut) {
  NEEDS_TILES();
  cpu::CpuOptions options = onTilesBesideSlowCaches();
  options.passes.disabledPatterns = {"keep-split-operands"};
  EXPECT_EQ(partsWrong(twoReaders(33, 40), 1, 2, options), "");
  options.passes.disabledPatterns = {"keep-split-operands", "split-once"};
  EXPECT_EQ(partsWrong(twoReaders(33, 40), 0, 0, options), "");
}

/// A step takes longer than to cut a few rows twice.
TEST(KeepSplitOperands, FewNumbersAreCutByEachReader) {
  NEEDS_TILES();
  EXPECT_EQ(partsWrong(twoReaders(33, 40), 1, 1), "");
}

/// Three parts take half as much memory again as f32, and one has none of the
/// bits that an unusual number would need.
TEST(KeepSplitOperands, OnlyTwo) {
  NEEDS_TILES();
  for (auto [precision, tolerance] :
       {std::pair{Precision::Exact, 4e-5}, {Precision::BFloat16, 3e-1}}) {
    cpu::CpuOptions options;
    options.precision = precision;
    EXPECT_EQ(partsWrong(twoLayers(20, 40, 70, 33), 0, 0, options,
                         {tolerance, tolerance}),
              "");
  }
}

} // namespace
