//===- ShareCodeTest.cpp - one code for kernels that differ in sizes ------===//
//
// Which numbers of what kernels become places of a table; layers that differ
// in channels, heights and places in the program have one code, and each
// computes what the oracle does.
//
//===----------------------------------------------------------------------===//
//
// Covers: backend/cpu/codegen CodeForm Subroutine
// Covers: backend/cpu/program KernelCompilation KernelPlanning
// Covers: backend/cpu/kernels/gemm MatMulTiles

#include "backend/cpu/program/ShareCode.h"
#include "backend/cpu/WithoutMatrixUnits.h"

#include "backend/cpu/DynamicImages.h"
#include "backend/cpu/program/Compiler.h"
#include "backend/cpu/target/Target.h"
#include "graph/Dim.h"

#include <cmath>
#include <set>

using namespace sinter;
using namespace sinter::test;

namespace {

using Places = std::vector<std::optional<uint32_t>>;
using Numbers = std::vector<cpu::FormNumber>;

/// Runs \p compiled on two threads; null where that is an error, which the test
/// has then.
std::unique_ptr<ProgramExecutor> linked(cpu::Compiled compiled) {
  Result<Program> program = cpu::linkProgram(std::move(compiled));
  if (!program) {
    ADD_FAILURE() << program.error().message();
    return nullptr;
  }
  return executorOf(std::make_shared<const Program>(std::move(*program)), 2);
}

struct SharedLayers {
  const char *name;
  int64_t channels, height, width;
  std::function<std::string(ImageText &, ImageText::Image)> compute;
  /// How many codes its kernels with a convolution have where a vector holds 16
  /// floats, and where it holds 8; the last one's, whose result leaves the
  /// blocks, is one.
  size_t codesOf16, codesOf8;
  /// Of the greatest result.
  float bound = 2e-5f;
};

ImageText::Image layer(ImageText &text, const ImageText::Image &x,
                       int64_t outputs, ImageText::Window window) {
  return text.relu(text.bias(text.convolution(x, outputs, window)));
}

std::string pointwise(ImageText &text, ImageText::Image x) {
  for (int64_t outputs : {64, 96, 32, 160})
    x = layer(text, x, outputs, {1, 1, 0});
  return text.finish(x);
}

/// Of channels that fill no blocks, or less than one.
std::string pointwiseOfTerms(ImageText &text, ImageText::Image x) {
  for (int64_t outputs : {72, 40, 104, 24})
    x = layer(text, x, outputs, {1, 1, 0});
  return text.finish(x);
}

std::string strided(ImageText &text, ImageText::Image x) {
  for (int64_t outputs : {32, 64, 96})
    x = layer(text, x, outputs, {3, 2, 1});
  return text.finish(x);
}

std::string depthwise(ImageText &text, ImageText::Image x) {
  for (int64_t outputs : {16, 48, 80}) {
    x = layer(text, x, outputs, {1, 1, 0});
    x = layer(text, x, outputs, {5, 2, 2, 1, outputs});
  }
  return text.finish(x);
}

/// Where the second piece begins is taken off places in the whole: numbers
/// below 0.
std::string concatenates(ImageText &text, ImageText::Image x) {
  for (int64_t outputs : {32, 64, 96}) {
    const ImageText::Image a = layer(text, x, outputs, {1, 1, 0}),
                           b = layer(text, x, outputs, {1, 1, 0});
    x = text.pool(text.join({a, b}), "max", {3, 1, 1});
  }
  return text.finish(x);
}

std::string threeStages(ImageText &text, ImageText::Image x) {
  for (int64_t outputs : {128, 192, 256})
    x = layer(text, x, outputs, {3, 1, 1});
  return text.finish(x);
}

const SharedLayers layersCases[] = {
    {"Pointwise", 32, 9, 11, pointwise, 2, 2},
    // The first one reads an image as it is, or is a panel by itself.
    {"PointwiseOfTerms", 8, 9, 11, pointwiseOfTerms, 3, 4},
    {"Strided", 16, 37, 41, strided, 2, 2},
    // One block of channels is a panel by itself.
    {"Depthwise", 16, 35, 33, depthwise, 5, 3},
    {"Concatenates", 32, 13, 9, concatenates, 2, 2},
    // Three layers have one transform of their input; products differ where
    // one panel has all outputs, and the last layer in what becomes of them.
    // Sums of weights that nearly cancel each other.
    {"ThreeStages", 128, 14, 14, threeStages, 5, 5, 1e-4f},
};

void expectWithin(float bound, const Tensor &got, const Tensor &expected) {
  ASSERT_EQ(got.shape(), expected.shape());
  float greatest = 0, difference = 0;
  for (int64_t i = 0; i < got.size(); ++i) {
    greatest = std::max(greatest, std::abs(expected.at<float>(i)));
    difference = std::max(difference,
                          std::abs(got.at<float>(i) - expected.at<float>(i)));
  }
  EXPECT_LE(difference, 1e-6f + bound * greatest);
}

class LayersOfOneCode : public ::testing::TestWithParam<SharedLayers> {};

} // namespace

TEST(ShareCode, NumbersThatDifferHavePlaces) {
  const auto height = cpu::FormNumber::entry(3),
             other = cpu::FormNumber::entry(5);
  const std::vector<cpu::SharedCode> codes =
      cpu::shareCode({{"a", {1, 8, height, 128, 8, 1}},
                      {"b", {1, 8}},
                      {"a", {1, 16, other, 256, 16, 1}}});
  ASSERT_EQ(codes.size(), 2u);
  EXPECT_EQ(codes[0].kernels, (std::vector<size_t>{0, 2}));
  EXPECT_EQ(codes[0].places, (Places{std::nullopt, 0, 1, 2, 0, std::nullopt}));
  ASSERT_EQ(codes[0].tables.size(), 2u);
  EXPECT_EQ(codes[0].tables[0], (Numbers{8, height, 128}));
  EXPECT_EQ(codes[0].tables[1], (Numbers{16, other, 256}));
  EXPECT_EQ(codes[1].places, (Places{std::nullopt, std::nullopt}));
  EXPECT_EQ(codes[1].tables, std::vector<Numbers>(1));
}

TEST(ShareCode, EntriesHavePlacesThoughTheyAreTheSame) {
  const auto entry = cpu::FormNumber::entry(1);
  const std::vector<cpu::SharedCode> codes =
      cpu::shareCode({{"a", {entry, 4, entry}}});
  ASSERT_EQ(codes.size(), 1u);
  EXPECT_EQ(codes[0].places, (Places{0, std::nullopt, 0}));
  EXPECT_EQ(codes[0].tables[0], (Numbers{entry}));
}

TEST(ShareCode, TextsTellWhatStays) {
  const cpu::CodeForm form{"a", {1, 8}}, other{"a", {1, 9}};
  const cpu::SharedCode one = cpu::shareCode({form})[0],
                        another = cpu::shareCode({other})[0],
                        both = cpu::shareCode({form, other})[0];
  EXPECT_NE(one.textOf(form), another.textOf(other));
  EXPECT_NE(one.textOf(form), both.textOf(form));
  EXPECT_EQ(both.textOf(form), both.textOf(other));
}

TEST_P(LayersOfOneCode, ComputeWhatTheOracleDoes) {
  const SharedLayers &test = GetParam();
  ImageText written(/*opensBatch=*/true, /*opensArea=*/true, 0);
  const std::string text = test.compute(
      written, written.input(test.channels, test.height, test.width));
  Model model = parseModel(text);
  ASSERT_TRUE(model.entry()) << text;
  const cpu::CpuOptions options = optionsWithoutMatrixUnits();
  Result<cpu::Compiled> compiled = cpu::compileToObjects(model, options);
  ASSERT_TRUE(compiled) << compiled.error().message();
  // Stages of a kernel may have names of one object.
  std::set<std::string> codes, kernels;
  for (const Step &step : compiled->program.steps)
    if (step.kind == StepKind::Kernel && step.kernelName != "loops") {
      codes.insert(compiled->names[step.kernel].substr(0, 39));
      kernels.insert(compiled->names[step.kernel] + "," +
                     std::to_string(step.kernel));
    }
  const int64_t lanes = options.target->f32Lanes;
  if (lanes == 16 || lanes == 8)
    EXPECT_EQ(codes.size(), lanes == 16 ? test.codesOf16 : test.codesOf8);
  // What fills no block of 16 are blocks of 8, and panels of a width each.
  if (lanes == 16)
    EXPECT_GT(kernels.size(), codes.size());
  auto executor = linked(std::move(*compiled));
  ASSERT_TRUE(executor);
  for (auto [height, width] :
       {std::pair<int64_t, int64_t>{test.height, test.width},
        {test.height + 9, test.width - 3}}) {
    Tensor images(ElementType::F32, {2, test.channels, height, width});
    fillRandom(images, 3);
    auto expected = interpret(model.entry(), {images});
    ASSERT_TRUE(expected) << expected.error().message();
    expectWithin(test.bound, resultOf(*executor, images), (*expected)[0]);
  }
}

INSTANTIATE_TEST_SUITE_P(Networks, LayersOfOneCode,
                         ::testing::ValuesIn(layersCases),
                         [](const auto &info) { return info.param.name; });

/// Runs what was \p compiled of \p model on an open number of rows of so many
/// \p columns, and compares it with the oracle.
static void checkRows(const Model &model, cpu::Compiled compiled,
                      int64_t columns) {
  auto executor = linked(std::move(compiled));
  ASSERT_TRUE(executor);
  for (int64_t rows : {1, 2, 3, 4, 5, 6, 7, 33}) {
    Tensor values(ElementType::F32, {rows, columns});
    fillRandom(values, 3);
    auto expected = interpret(model.entry(), {values});
    ASSERT_TRUE(expected) << expected.error().message();
    expectWithin(1e-5f, resultOf(*executor, values), (*expected)[0]);
  }
}

/// Compiles the products of \p text, of an open number of rows of 64, which
/// are of so many \p objects on vectors, and compares them with the oracle.
static void checkProducts(const std::string &text, size_t objects,
                          unsigned threads) {
  Model model = parseModel(text);
  ASSERT_TRUE(model.entry()) << text;
  const auto target = cpu::Target::host();
  ASSERT_TRUE(target);
  cpu::CpuOptions options;
  options.threads = threads;
  Result<cpu::Compiled> compiled = cpu::compileToObjects(model, options);
  ASSERT_TRUE(compiled) << compiled.error().message();
  if (!target->hasMatrixUnits)
    EXPECT_EQ(compiled->objects.size(), objects);
  checkRows(model, std::move(*compiled), 64);
}

/// Products of other depths and widths, each with something else behind it,
/// have their sums from one subroutine where tiles are small.
TEST(ShareCode, ProductsHaveTheirSumsFromASubroutine) {
  const std::string text = R"mlir((%x: tensor<?x64xf32>) -> tensor<?x64xf32> {
    %i = stablehlo.iota dim = 0 : tensor<64x128xf32>
    %j = stablehlo.iota dim = 1 : tensor<64x128xf32>
    %s = stablehlo.multiply %i, %j : tensor<64x128xf32>
    %w = stablehlo.sine %s : tensor<64x128xf32>
    %v = stablehlo.transpose %w, dims = [1, 0] : (tensor<64x128xf32>) -> tensor<128x64xf32>
    %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<?x64xf32>, tensor<64x128xf32>) -> tensor<?x128xf32>
    %q = stablehlo.tanh %p : tensor<?x128xf32>
    %r = stablehlo.dot_general %q, %v, contracting_dims = [1] x [0] : (tensor<?x128xf32>, tensor<128x64xf32>) -> tensor<?x64xf32>
    %y = stablehlo.add %r, %x : tensor<?x64xf32>
    return %y : tensor<?x64xf32>
  })mlir";
  // Two kernels and one subroutine.
  for (unsigned threads : {1u, 2u})
    checkProducts(text, 3, threads);
}

/// A subroutine that one kernel has is in its code.
TEST(ShareCode, ASubroutineOfOneKernelStays) {
  const std::string text = R"mlir((%x: tensor<?x64xf32>) -> tensor<?x128xf32> {
    %i = stablehlo.iota dim = 0 : tensor<64x128xf32>
    %j = stablehlo.iota dim = 1 : tensor<64x128xf32>
    %s = stablehlo.multiply %i, %j : tensor<64x128xf32>
    %w = stablehlo.sine %s : tensor<64x128xf32>
    %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<?x64xf32>, tensor<64x128xf32>) -> tensor<?x128xf32>
    %y = stablehlo.tanh %p : tensor<?x128xf32>
    return %y : tensor<?x128xf32>
  })mlir";
  for (unsigned threads : {1u, 2u})
    checkProducts(text, 1, threads);
}

/// Layers of other depths and widths, each with code for any number of rows.
TEST(ShareCode, ProductsWhereFewRowsMakeATile) {
  std::string text = "(%x0: tensor<?x48xf32>) -> tensor<?x128xf32> {";
  const int64_t widths[] = {48, 64, 64, 128};
  for (int64_t i = 0; i < 3; ++i) {
    auto named = [&](char name, int64_t of) {
      return "%" + std::string(1, name) + std::to_string(of);
    };
    const std::string depth = std::to_string(widths[i]),
                      width = std::to_string(widths[i + 1]);
    const std::string x = "tensor<?x" + depth + "xf32>",
                      w = "tensor<" + depth + "x" + width + "xf32>",
                      y = "tensor<?x" + width + "xf32>";
    text += named('i', i) + " = stablehlo.iota dim = 0 : " + w + "\n" +
            named('j', i) + " = stablehlo.iota dim = 1 : " + w + "\n" +
            named('s', i) + " = stablehlo.add " + named('i', i) + ", " +
            named('j', i) + " : " + w + "\n" + named('w', i) +
            " = stablehlo.sine " + named('s', i) + " : " + w + "\n" +
            named('p', i) + " = stablehlo.dot_general " + named('x', i) + ", " +
            named('w', i) + ", contracting_dims = [1] x [0] : (" + x + ", " +
            w + ") -> " + y + "\n" + named('x', i + 1) +
            " = stablehlo.negate " + named('p', i) + " : " + y + "\n";
  }
  text += "return %x3 : tensor<?x128xf32>\n}";
  Model model = parseModel(text);
  ASSERT_TRUE(model.entry()) << text;
  const cpu::CpuOptions options = optionsWithoutMatrixUnits();
  Result<cpu::Compiled> compiled = cpu::compileToObjects(model, options);
  ASSERT_TRUE(compiled) << compiled.error().message();
  std::set<std::string> codes;
  for (const Step &step : compiled->program.steps)
    if (step.kind == StepKind::Kernel)
      codes.insert(compiled->names[step.kernel].substr(0, 39));
  const auto target = cpu::Target::host();
  ASSERT_TRUE(target);
  if (!target->hasMatrixUnits)
    // 64 columns are a broad panel of 32 registers, 128 are two.
    EXPECT_EQ(codes.size(), target->vectorRegisters <= 16 ? 1u : 2u);
  checkRows(model, std::move(*compiled), 48);
}

/// Of tensors of known sizes, which the same parts divide. The last one is no
/// multiple of any.
TEST(ShareCode, LoopsOverElements) {
  const int64_t sizes[] = {401408, 75264, 50176, 200705};
  std::string inputs = "(%s: tensor<f32>", results, values, text;
  std::vector<Tensor> tensors(1, Tensor(ElementType::F32, {}));
  tensors[0].mutableValues<float>()[0] = 37.3f;
  for (auto [i, size] : llvm::enumerate(sizes)) {
    const std::string n = std::to_string(i),
                      shape = "tensor<" + std::to_string(size) + "x",
                      f32 = shape + "f32>";
    inputs += ", %x" + n + ": " + f32;
    results += (i ? ", " : "") + shape + "i8>";
    values += (i ? ", %r" : "%r") + n;
    text += "%s" + n +
            " = stablehlo.broadcast_in_dim %s, dims = [] : "
            "(tensor<f32>) -> " +
            f32 + "\n%m" + n + " = stablehlo.multiply %x" + n + ", %s" + n +
            " : " + f32 + "\n%t" + n + " = stablehlo.round_nearest_even %m" +
            n + " : " + f32 + "\n%r" + n + " = stablehlo.convert %t" + n +
            " : (" + f32 + ") -> " + shape + "i8>\n";
    tensors.emplace_back(ElementType::F32, Shape{size});
    fillRandom(tensors.back(), i);
  }
  text = inputs + ") -> (" + results + ") {" + text + "return " + values +
         " : " + results + "\n}";
  Model model = parseModel(text);
  ASSERT_TRUE(model.entry()) << text;
  const cpu::CpuOptions options = optionsWithoutMatrixUnits();
  Result<cpu::Compiled> compiled = cpu::compileToObjects(model, options);
  ASSERT_TRUE(compiled) << compiled.error().message();
  std::set<std::string> codes;
  for (const Step &step : compiled->program.steps)
    codes.insert(compiled->names[step.kernel]);
  EXPECT_EQ(compiled->program.steps.size(), 4u);
  EXPECT_EQ(codes.size(), 2u);
  auto executor = linked(std::move(*compiled));
  ASSERT_TRUE(executor);
  auto got = executor->run(tensors),
       expected = interpret(model.entry(), tensors);
  ASSERT_TRUE(got) << got.error().message();
  ASSERT_TRUE(expected) << expected.error().message();
  for (size_t i = 0; i < std::size(sizes); ++i)
    for (int64_t at = 0; at < sizes[i]; ++at)
      ASSERT_EQ((*got)[i].at<int8_t>(at), (*expected)[i].at<int8_t>(at))
          << i << ", " << at;
}

/// Products of bytes of several depths, with the same long epilogue, have one
/// code where tiles are small.
TEST(ShareCode, ProductsOfBytes) {
  const int64_t depths[] = {128, 96, 512};
  std::string inputs, results, values, text;
  std::vector<Tensor> tensors;
  for (auto [i, depth] : llvm::enumerate(depths)) {
    const std::string n = std::to_string(i), k = std::to_string(depth),
                      f = "tensor<20x48xf32>", x = "tensor<20x" + k + "xi8>",
                      w = "tensor<" + k + "x48x", c = w + "i32>";
    inputs += (i ? ", %x" : "(%x") + n + ": " + x;
    results += (i ? ", " : "") + f;
    values += (i ? ", %r" : "%r") + n;
    auto line = [&](const std::string &name, const std::string &made) {
      text += "%" + name + n + " = stablehlo." + made + "\n";
    };
    auto of = [&](const std::string &name) { return "%" + name + n; };
    line("i", "iota dim = 0 : " + c);
    line("j", "iota dim = 1 : " + c);
    line("m", "multiply " + of("i") + ", " + of("j") + " : " + c);
    line("w", "convert " + of("m") + " : (" + c + ") -> " + w + "i8>");
    line("p", "dot_general " + of("x") + ", " + of("w") +
                  ", contracting_dims = [1] x [0] : (" + x + ", " + w +
                  "i8>) -> tensor<20x48xi32>");
    line("f", "convert " + of("p") + " : (tensor<20x48xi32>) -> " + f);
    line("s", "constant dense<0.001> : " + f);
    std::string last = "f";
    for (int step = 0; step < 5; ++step) {
      const std::string before = last, a = "a" + std::to_string(step) + "_",
                        b = "b" + std::to_string(step) + "_";
      line(a, "multiply " + of(before) + ", " + of("s") + " : " + f);
      line(b, "round_nearest_even " + of(a) + " : " + f);
      last = "c" + std::to_string(step) + "_";
      line(last, "subtract " + of(before) + ", " + of(b) + " : " + f);
    }
    line("r", "maximum " + of(last) + ", " + of("s") + " : " + f);
    tensors.emplace_back(ElementType::I8, Shape{20, depth});
    for (int64_t at = 0; at < tensors.back().size(); ++at)
      tensors.back().mutableValues<int8_t>()[at] =
          static_cast<int8_t>(at * at % 251);
  }
  text = inputs + ") -> (" + results + ") {" + text + "return " + values +
         " : " + results + "\n}";
  Model model = parseModel(text);
  ASSERT_TRUE(model.entry()) << text;
  const cpu::CpuOptions options = optionsWithoutMatrixUnits();
  Result<cpu::Compiled> compiled = cpu::compileToObjects(model, options);
  ASSERT_TRUE(compiled) << compiled.error().message();
  const auto target = cpu::Target::host();
  ASSERT_TRUE(target);
  std::set<std::string> codes;
  size_t products = 0;
  for (const Step &step : compiled->program.steps)
    if (step.kernelName != "loops") {
      codes.insert(compiled->names[step.kernel]);
      ++products;
    }
  EXPECT_EQ(products, std::size(depths));
  if (target->vectorRegisters <= 16)
    EXPECT_EQ(codes.size(), 1u);
  auto executor = linked(std::move(*compiled));
  ASSERT_TRUE(executor);
  auto got = executor->run(tensors),
       expected = interpret(model.entry(), tensors);
  ASSERT_TRUE(got) << got.error().message();
  ASSERT_TRUE(expected) << expected.error().message();
  for (size_t i = 0; i < std::size(depths); ++i)
    expectNear((*got)[i], (*expected)[i]);
}

/// Of tensors of known sizes, in a program of known sizes and in one that has
/// an open one besides.
TEST(ShareCode, MinMaxOfRows) {
  const int64_t sizes[] = {3, 50, 200, 7, 1024, 2000};
  for (bool isDynamic : {false, true}) {
    std::string inputs, results, values, text;
    std::vector<Tensor> tensors;
    for (auto [i, size] : llvm::enumerate(sizes)) {
      const std::string n = std::to_string(i), r = "tensor<4x8xf32>",
                        x = "tensor<4x" + std::to_string(size) + "x8xf32>";
      inputs += (i ? ", %x" : "(%x") + n + ": " + x;
      results += (i ? ", " : "") + r;
      values += (i ? ", %r" : "%r") + n;
      text += "%i" + n +
              " = stablehlo.constant dense<0xFF800000> : tensor<f32>\n%r" + n +
              " = stablehlo.reduce(%x" + n + " init: %i" + n +
              ") applies stablehlo.maximum across dimensions = [1] : (" + x +
              ", tensor<f32>) -> " + r + "\n";
      tensors.emplace_back(ElementType::F32, Shape{4, size, 8});
      fillRandom(tensors.back(), i);
    }
    tensors[1].mutableValues<float>()[77] = std::nanf("");
    if (isDynamic) {
      inputs += ", %y: tensor<?xf32>";
      results += ", tensor<?xf32>";
      values += ", %z";
      text += "%z = stablehlo.negate %y : tensor<?xf32>\n";
      tensors.emplace_back(ElementType::F32, Shape{5});
    }
    text = inputs + ") -> (" + results + ") {" + text + "return " + values +
           " : " + results + "\n}";
    Model model = parseModel(text);
    ASSERT_TRUE(model.entry()) << text;
    const cpu::CpuOptions options = optionsWithoutMatrixUnits();
    Result<cpu::Compiled> compiled = cpu::compileToObjects(model, options);
    ASSERT_TRUE(compiled) << compiled.error().message();
    // Small ones are a task, and large ones a task a row.
    EXPECT_EQ(compiled->objects.size(), isDynamic ? 3u : 2u);
    auto executor = linked(std::move(*compiled));
    ASSERT_TRUE(executor);
    auto got = executor->run(tensors),
         expected = interpret(model.entry(), tensors);
    ASSERT_TRUE(got) << got.error().message();
    ASSERT_TRUE(expected) << expected.error().message();
    for (size_t i = 0; i < std::size(sizes); ++i)
      for (int64_t at = 0; at < 32; ++at) {
        const float is = (*got)[i].at<float>(at),
                    wanted = (*expected)[i].at<float>(at);
        ASSERT_TRUE(is == wanted || (std::isnan(is) && std::isnan(wanted)))
            << i << ", " << at << ": " << is << " for " << wanted;
      }
  }
}
