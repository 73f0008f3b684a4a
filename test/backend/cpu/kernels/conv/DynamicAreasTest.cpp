//===- DynamicAreasTest.cpp - convolutional programs of any image size ----===//
//
// Convolutions, pools and what stands between them, with images of a height and
// a width that are known when the program runs, against the oracle; the same
// bits on any number of threads, in any company, and in a program for just
// these sizes that computes by the same methods.
//
//===----------------------------------------------------------------------===//
//
// Covers: backend/cpu/kernels/conv Convolution ConvolutionReduction
// Covers: backend/cpu/kernels/conv ConvolutionWeights Winograd Window

#include "backend/cpu/DynamicImages.h"
#include "backend/cpu/kernels/conv/Winograd.h"

#include <vector>

using namespace sinter;
using namespace sinter::test;

namespace {

/// What computes the convolutions, in order.
std::vector<std::string> methodsOf(const Program &program) {
  std::vector<std::string> layers;
  for (const Step &step : program.steps)
    if (step.kernelName == "direct" || cpu::Winograd::formOf(step.kernelName))
      layers.push_back(step.kernelName);
  return layers;
}

std::string textOfArea(const ImagesCase &test, bool isDynamic, int64_t batch,
                       int64_t height, int64_t width) {
  ImageText text(isDynamic, isDynamic, batch);
  return test.compute(text, text.input(test.channels, height, width));
}

/// Programs of a precision: one for all areas, whose results are near those of
/// the oracle. Those for an area have the same bits where they compute the same
/// layers by the same method, which is their number that is returned.
int checkAreas(const ImagesCase &test, const cpu::Target &target,
               Precision precision) {
  const std::string text = textOfArea(test, true, 0, test.height, test.width);
  Model model = parseModel(text);
  EXPECT_TRUE(model.entry()) << text;
  auto program = compiled(text, target, precision);
  if (!program || !program->dynamic || !model.entry()) {
    ADD_FAILURE() << "no open program of " << text;
    return 0;
  }
  auto one = executorOf(program, 1), two = executorOf(program, 2);
  int alike = 0;
  const std::pair<int64_t, int64_t> areas[] = {
      {test.height, test.width}, {9, 7}, {8, 70}, {23, 41}, {12, 56}, {4, 5}};
  for (auto [height, width] : areas) {
    SCOPED_TRACE(std::to_string(height) + "x" + std::to_string(width));
    const Tensor images = imagesOf(test, 3, height, width);
    const Tensor got = resultOf(*two, images);
    auto expected = interpret(model.entry(), {images});
    EXPECT_TRUE(expected) << expected.error().message();
    if (expected)
      expectNear(got, (*expected)[0]);
    EXPECT_TRUE(
        haveSameBits(resultOf(*one, partOf(images, 1, 2)), partOf(got, 1, 2)))
        << "alone";
    if (test.isByLoops)
      continue;
    auto known =
        compiled(textOfArea(test, false, 3, height, width), target, precision);
    if (!known || known->dynamic) {
      ADD_FAILURE() << "no program for these sizes";
      continue;
    }
    if (methodsOf(*known) != methodsOf(*program))
      continue;
    ++alike;
    EXPECT_TRUE(haveSameBits(got, resultOf(*executorOf(known, 1), images)))
        << "of a program for these sizes";
  }
  // None, but for what is made of the mean of all pixels.
  EXPECT_EQ(
      resultOf(*two, imagesOf(test, 0, test.height, test.width)).shape()[0], 0);
  return alike;
}

class DynamicAreas : public ::testing::TestWithParam<ImagesCase> {};

} // namespace

TEST_P(DynamicAreas, OfAnySize) {
  const cpu::Target target = *cpu::Target::host();
  // Without Winograd's method all areas are computed alike.
  if (const int alike = checkAreas(GetParam(), target, Precision::Exact);
      !GetParam().isByLoops)
    EXPECT_EQ(alike, 6);
  checkAreas(GetParam(), target, Precision::Default);
}

TEST_P(DynamicAreas, ByNarrowerVectors) {
  checkAreas(GetParam(), lesserTargets().back(), Precision::Default);
}

INSTANTIATE_TEST_SUITE_P(Networks, DynamicAreas,
                         ::testing::ValuesIn(imageCases), [](const auto &info) {
                           std::string name;
                           for (char c : info.param.name)
                             name += std::isalnum(c) ? c : '_';
                           return name;
                         });

/// One layer, by all the tiles that rows have, and of all that may be outside.
TEST(DynamicAreas, OfSweptSizes) {
  struct Layer {
    const char *kind;
    int64_t inputs, outputs;
    ImageText::Window window;
  };
  const Layer layers[] = {
      {"convolution", 3, 20, {.size = 7, .stride = 2, .padding = 3}},
      {"convolution", 20, 36, {.size = 3, .stride = 2, .padding = 1}},
      {"convolution", 20, 36, {.size = 5, .stride = 1, .padding = 2}},
      {"convolution", 16, 20, {.size = 3, .padding = 3, .dilation = 3}},
      {"convolution", 40, 36, {.size = 3, .padding = 12, .dilation = 12}},
      {"convolution", 20, 40, {.size = 3, .padding = 30, .dilation = 30}},
      {"convolution",
       20,
       36,
       {.size = 5, .stride = 2, .padding = 14, .dilation = 7}},
      {"convolution", 20, 70, {.size = 1, .padding = 0}},
      {"convolution", 20, 36, {.size = 1, .stride = 2, .padding = 0}},
      {"convolution", 40, 40, {.size = 3, .padding = 1}},
      {"convolution", 32, 32, {.size = 3, .stride = 3, .padding = 1}},
      {"convolution", 20, 20, {.size = 3, .padding = 1, .groups = 20}},
      {"convolution",
       20,
       20,
       {.size = 5, .stride = 2, .padding = 2, .groups = 20}},
      {"max", 20, 20, {.size = 3, .stride = 2, .padding = 1}},
      {"present", 20, 20, {.size = 3, .stride = 1, .padding = 1}}};
  const std::pair<int64_t, int64_t> areas[] = {
      {1, 1},   {1, 50},  {40, 1},  {2, 3},   {3, 2},  {4, 4},  {5, 6},
      {6, 5},   {7, 8},   {3, 9},   {9, 10},  {4, 11}, {2, 13}, {3, 14},
      {14, 15}, {20, 27}, {28, 29}, {17, 33}, {40, 50}};
  for (const Layer &layer : layers) {
    ImageText t(/*opensBatch=*/true, /*opensArea=*/true, 0);
    // Sizes by which no image is a pixel.
    const ImageText::Image x = t.input(layer.inputs, 20, 20);
    // A convolution, so that images lie in blocks.
    const std::string kind = layer.kind;
    const std::string text = t.finish(
        kind == "convolution"
            ? t.bias(t.convolution(x, layer.outputs, layer.window))
            : t.pool(t.convolution(x, layer.outputs, {}), kind, layer.window));
    Model model = parseModel(text);
    ASSERT_TRUE(model.entry()) << text;
    for (const cpu::Target &target :
         {*cpu::Target::host(), lesserTargets().back()}) {
      auto program = compiled(text, target);
      ASSERT_TRUE(program && program->dynamic) << text;
      auto executor = executorOf(program, 2);
      ASSERT_TRUE(executor);
      int64_t batch = 0;
      for (auto [height, width] : areas) {
        SCOPED_TRACE(text + std::to_string(height) + "x" +
                     std::to_string(width));
        Tensor images(ElementType::F32, {batch, layer.inputs, height, width});
        fillRandom(images, 3);
        auto expected = interpret(model.entry(), {images});
        ASSERT_TRUE(expected) << expected.error().message();
        expectNear(resultOf(*executor, images), (*expected)[0]);
        batch = batch == 0 ? 1 : batch == 1 ? 3 : batch == 3 ? 2 : 1;
      }
    }
  }
}

/// Half as many pixels, and as many again beside those that were there: sizes
/// are the same where they are even.
TEST(DynamicAreas, GoDownAndUp) {
  ImageText t(/*opensBatch=*/true, /*opensArea=*/true, 0);
  const ImageText::Image x = t.input(16, 20, 24);
  const ImageText::Image whole = t.relu(t.bias(t.convolution(x, 32, {})));
  ImageText::Image half =
      t.pool(whole, "max", {.size = 2, .stride = 2, .padding = 0});
  half = t.relu(t.convolution(half, 48, {}));
  const ImageText::Image both = t.join({t.spread(half, 32), whole});
  const std::string text =
      t.finish(t.bias(t.convolution(both, 8, {.size = 1, .padding = 0})));
  Model model = parseModel(text);
  ASSERT_TRUE(model.entry()) << text;
  auto program = compiled(text, *cpu::Target::host());
  ASSERT_TRUE(program && program->dynamic);
  // Halves, and tiles of Winograd's method.
  EXPECT_GE(program->dynamic->following.size(), 2U);
  auto executor = executorOf(program, 2);
  ASSERT_TRUE(executor);
  for (auto [height, width] : {std::pair(20, 24), std::pair(8, 38),
                               std::pair(2, 4), std::pair(30, 66)}) {
    SCOPED_TRACE(std::to_string(height) + "x" + std::to_string(width));
    Tensor images(ElementType::F32, {2, 16, height, width});
    fillRandom(images, 3);
    auto expected = interpret(model.entry(), {images});
    ASSERT_TRUE(expected) << expected.error().message();
    expectNear(resultOf(*executor, images), (*expected)[0]);
  }
  auto odd = executor->run(
      std::vector<Tensor>{Tensor(ElementType::F32, {1, 16, 9, 8})});
  ASSERT_FALSE(odd);
  EXPECT_NE(odd.error().message().find("must equal dimension 2 of operand 0"),
            std::string::npos)
      << odd.error().message();
  // It names the sizes that matter, and no others.
  EXPECT_NE(odd.error().message().find("(H = 9)"), std::string::npos)
      << odd.error().message();
}
