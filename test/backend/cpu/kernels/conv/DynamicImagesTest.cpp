//===- DynamicImagesTest.cpp - convolutional programs of any image count
//---===//
//
// Convolutions, pools and what stands between them, with images of a number
// that is known when the program runs, against the oracle; the same bits on any
// number of threads, in any company, and in a program for just that number.
//
//===----------------------------------------------------------------------===//
//
// Covers: backend/cpu/kernels/conv Convolution ConvolutionReduction
// Covers: backend/cpu/kernels/conv ConvolutionWeights Winograd Window

#include "backend/cpu/DynamicImages.h"
#include "backend/cpu/kernels/conv/Winograd.h"

using namespace sinter;
using namespace sinter::test;

namespace {

/// Of images of the case's size, of which there are so many if that is known.
std::string textOf(const ImagesCase &test, bool opensBatch, int64_t batch) {
  ImageText text(opensBatch, /*opensArea=*/false, batch);
  return test.compute(text, text.input(test.channels, test.height, test.width));
}

void checkImages(const ImagesCase &test, cpu::Target target) {
  if (test.cacheBytes != 0)
    target.l2Bytes = test.cacheBytes;
  const std::string text = textOf(test, /*opensBatch=*/true, 0);
  Model model = parseModel(text);
  ASSERT_TRUE(model.entry()) << text;
  auto program = compiled(text, target);
  ASSERT_TRUE(program && program->dynamic);
  auto one = executorOf(program, 1), two = executorOf(program, 2);
  ASSERT_TRUE(one && two);
  const Tensor images = imagesOf(test, 16, test.height, test.width);
  const Tensor all = resultOf(*one, images);
  // Numbers of images go up and down, so that memory is used again.
  for (int64_t batch : {1, 16, 2, 0, 7, 3}) {
    SCOPED_TRACE("N = " + std::to_string(batch));
    const Tensor some = partOf(images, 0, batch);
    const Tensor got = resultOf(*two, some);
    EXPECT_TRUE(batch == 0 || haveSameBits(got, partOf(all, 0, batch)))
        << "in other company";
    if (batch == 0) {
      EXPECT_EQ(got.shape()[0], 0);
      continue;
    }
    if (batch < 4) {
      auto expected = interpret(model.entry(), {some});
      ASSERT_TRUE(expected) << expected.error().message();
      expectNear(got, (*expected)[0]);
    }
    auto known = compiled(textOf(test, /*opensBatch=*/false, batch), target);
    ASSERT_TRUE(known && !known->dynamic);
    EXPECT_TRUE(haveSameBits(got, resultOf(*executorOf(known, 1), some)))
        << "of a program for these sizes";
  }
  EXPECT_TRUE(
      haveSameBits(resultOf(*two, partOf(images, 5, 6)), partOf(all, 5, 6)));
}

class DynamicImages : public ::testing::TestWithParam<ImagesCase> {};

} // namespace

TEST_P(DynamicImages, OfAnyNumber) {
  checkImages(GetParam(), *cpu::Target::host());
}

TEST_P(DynamicImages, OfAnyNumberByNarrowerVectors) {
  checkImages(GetParam(), lesserTargets().back());
}

INSTANTIATE_TEST_SUITE_P(Networks, DynamicImages,
                         ::testing::ValuesIn(imageCases), [](const auto &info) {
                           std::string name;
                           for (char c : info.param.name)
                             name += std::isalnum(c) ? c : '_';
                           return name;
                         });

/// A case of the test above is what its name says.
TEST(DynamicImages, TakeTheStagesThatTheyAreFor) {
  for (const ImagesCase &test : imageCases) {
    if (test.cacheBytes == 0)
      continue;
    cpu::Target target = *cpu::Target::host();
    target.l2Bytes = test.cacheBytes;
    auto program = compiled(textOf(test, true, 0), target);
    ASSERT_TRUE(program && program->dynamic);
    size_t byWinograd = 0, inTurns = 0, inRounds = 0;
    for (size_t i = 0; i < program->steps.size(); ++i) {
      byWinograd +=
          cpu::Winograd::formOf(program->steps[i].kernelName) != nullptr;
      inTurns += program->dynamic->steps[i].inTurns;
      inRounds += program->dynamic->steps[i].inTurns != 0 &&
                  program->dynamic->steps[i].round.block < 16;
    }
    EXPECT_GT(byWinograd, 0U) << test.name;
    EXPECT_EQ(inTurns,
              test.name.find("one stage") == std::string::npos ? byWinograd : 0)
        << test.name;
    EXPECT_EQ(inRounds, inTurns / 3) << test.name;
  }
}

/// No loops take the place of a kernel: what has none is compiled for the sizes
/// at hand.
// A window as large as an image is, over pixels with zeros between them.
TEST(DynamicImages, AreRefusedWhereNoKernelComputesThem) {
  auto program = compileRaised(R"((%x: tensor<4x8x?x9xf32>
      {sinter.dims = ["", "", "H", ""]}) -> tensor<8x8x1x1xf32> {
    %y = stablehlo.convolution(%x, %x) dim_numbers =
        [f, b, 0, 1]x[i, o, 0, 1]->[f, b, 0, 1],
        window = {lhs_dilate = [2, 1], rhs_dilate = [2, 1]}
        {batch_group_count = 1 : i64, feature_group_count = 1 : i64} :
        (tensor<4x8x?x9xf32>, tensor<4x8x?x9xf32>) -> tensor<8x8x1x1xf32>
    return %y : tensor<8x8x1x1xf32>
  })");
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().message(),
            "stablehlo.convolution has no kernel for dynamic shapes");
}
