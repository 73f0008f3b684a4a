// Covers: runtime ImageDecode ImageGeometry ImageResize

#include "runtime/Image.h"
#include "TemporaryFolder.h"
#include "runtime/ByteStream.h"
#include "runtime/MappedFile.h"

#include <gtest/gtest.h>

#include <csetjmp>
#include <cstdio>
#include <cstdlib>

#include <jpeglib.h>
#include <png.h>

using namespace sinter;
using sinter::test::TemporaryFolder;

namespace {

Tensor pixels(int64_t height, int64_t width, int64_t channels,
              std::vector<uint8_t> values) {
  return Tensor::of<uint8_t>(ElementType::UI8, {height, width, channels},
                             values);
}

std::string pngOf(uint32_t width, uint32_t height, uint32_t format,
                  const std::vector<uint8_t> &values) {
  png_image png = {};
  png.version = PNG_IMAGE_VERSION;
  png.width = width;
  png.height = height;
  png.format = format;
  std::string file(10000, '\0');
  png_alloc_size_t size = file.size();
  EXPECT_TRUE(png_image_write_to_memory(&png, file.data(), &size, 0,
                                        values.data(), 0, nullptr));
  file.resize(size);
  return file;
}

std::string jpegOf(unsigned width, unsigned height, int channels,
                   std::vector<uint8_t> values) {
  jpeg_compress_struct info = {};
  jpeg_error_mgr errors;
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char *memory = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &memory, &size);
  info.image_width = width;
  info.image_height = height;
  info.input_components = channels;
  info.in_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, 100, TRUE);
  jpeg_start_compress(&info, TRUE);
  for (unsigned row = 0; row < height; ++row) {
    JSAMPROW line = values.data() + size_t(row) * width * channels;
    jpeg_write_scanlines(&info, &line, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  std::string file(reinterpret_cast<char *>(memory), size);
  std::free(memory);
  return file;
}

TEST(ImageTest, TextsAreNoPnm) {
  EXPECT_TRUE(isImage(bytesOf("P6 1 1 255\nabc")));
  EXPECT_TRUE(isImage(bytesOf("P2#a comment")));
  for (const char *text : {"P5x", "P1", "P7 1 1", "P", "PS here"})
    EXPECT_FALSE(isImage(bytesOf(text))) << text;
}

TEST(ImageTest, DecodesPng) {
  std::string file = pngOf(2, 1, PNG_FORMAT_RGB, {1, 2, 3, 250, 251, 252});
  EXPECT_TRUE(isImage(bytesOf(file)));
  auto image = decodeImage(bytesOf(file), "x");
  ASSERT_TRUE(image) << image.error().message();
  EXPECT_EQ(image->shape(), (Shape{1, 2, 3}));
  EXPECT_EQ(image->at<uint8_t>(2), 3);
  EXPECT_EQ(image->at<uint8_t>(5), 252);
  auto grey = decodeImage(bytesOf(pngOf(2, 1, PNG_FORMAT_GRAY, {7, 200})), "x");
  ASSERT_TRUE(grey);
  EXPECT_EQ(grey->shape(), (Shape{1, 2, 1}));
  EXPECT_EQ(grey->at<uint8_t>(1), 200);
}

TEST(ImageTest, DropsTransparency) {
  auto image = decodeImage(
      bytesOf(pngOf(1, 1, PNG_FORMAT_RGBA, {10, 20, 30, 128})), "x");
  ASSERT_TRUE(image);
  EXPECT_EQ(image->shape(), (Shape{1, 1, 3}));
  EXPECT_EQ(image->at<uint8_t>(1), 20);
}

TEST(ImageTest, DecodesJpeg) {
  for (int channels : {1, 3}) {
    std::string file =
        jpegOf(16, 8, channels, std::vector<uint8_t>(16 * 8 * channels, 90));
    auto image = decodeImage(bytesOf(file), "x");
    ASSERT_TRUE(image) << image.error().message();
    EXPECT_EQ(image->shape(), (Shape{8, 16, channels}));
    EXPECT_NEAR(image->at<uint8_t>(50), 90, 2);
  }
}

TEST(ImageTest, DamagedFilesAreErrors) {
  const std::vector<uint8_t> noise = [] {
    std::vector<uint8_t> values(64 * 32 * 3);
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<uint8_t>(i * 7919 >> 3);
    return values;
  }();
  for (const std::string &file :
       {pngOf(32, 32, PNG_FORMAT_RGB, noise), jpegOf(64, 32, 3, noise)}) {
    for (size_t size = 8; size + 20 < file.size(); size += 61)
      EXPECT_FALSE(decodeImage(bytesOf(file.substr(0, size)), "x")) << size;
    // Some damage goes unnoticed; none may crash.
    for (size_t i = 8; i < file.size(); i += 3) {
      std::string bad = file;
      bad[i] = static_cast<char>(~bad[i]);
      (void)decodeImage(bytesOf(bad), "x");
    }
  }
  EXPECT_EQ(decodeImage(bytesOf("GIF88a"), "x").error().message(),
            "'x': no PNG, JPEG, WebP, BMP, GIF, PNM or TIFF file");
}

TEST(ImageTest, HugePicturesAreRefused) {
  std::string file = jpegOf(16, 16, 1, std::vector<uint8_t>(256));
  const size_t frame = file.find("\xff\xc0");
  ASSERT_NE(frame, std::string::npos);
  file.replace(frame + 5, 4, "\xf0\xf0\xf0\xf0");
  auto image = decodeImage(bytesOf(file), "x");
  ASSERT_FALSE(image);
  EXPECT_NE(image.error().message().find("too large"), std::string::npos);
}

TEST(ImageTest, NormalisesInBothLayouts) {
  Tensor image = pixels(1, 2, 3, {0, 51, 102, 153, 204, 255});
  ImageOptions options;
  options.mean = {0.2, 0.2, 0.4};
  options.std = {0.5};
  auto nchw =
      imageToInput(image, {"x", ElementType::F32, {-1, 3, -1, -1}}, options);
  ASSERT_TRUE(nchw) << nchw.error().message();
  EXPECT_EQ(nchw->shape(), (Shape{1, 3, 1, 2}));
  EXPECT_NEAR(nchw->at<float>(0), -0.4, 1e-6);
  EXPECT_NEAR(nchw->at<float>(1), 0.8, 1e-6);
  EXPECT_NEAR(nchw->at<float>(5), 1.2, 1e-6);
  options.layout = ImageLayout::Nhwc;
  auto nhwc = imageToInput(image, {"x", ElementType::F16, {1, 2, 3}}, options);
  ASSERT_TRUE(nhwc);
  EXPECT_EQ(nhwc->shape(), (Shape{1, 2, 3}));
  EXPECT_NEAR(nhwc->toDouble(1), 0, 1e-3);
}

TEST(ImageTest, ConvertsChannelsAndKeepsPlainPixels) {
  Tensor colour = pixels(1, 1, 3, {255, 0, 0});
  auto grey = imageToInput(colour, {"x", ElementType::UI8, {1, 1, 1, 1}}, {});
  ASSERT_TRUE(grey);
  EXPECT_EQ(grey->at<uint8_t>(0), 76);
  auto back = imageToInput(pixels(1, 1, 1, {9}),
                           {"x", ElementType::UI8, {1, 3, 1, 1}}, {});
  ASSERT_TRUE(back);
  EXPECT_EQ(back->at<uint8_t>(2), 9);
}

TEST(ImageTest, ResizesBilinearly) {
  ImageOptions plain;
  plain.scale = 1;
  Tensor image = pixels(1, 2, 1, {0, 100});
  auto wide = imageToInput(image, {"x", ElementType::F32, {1, 1, 1, 4}}, plain);
  ASSERT_TRUE(wide);
  const float expected[] = {0, 25, 75, 100};
  for (int i = 0; i < 4; ++i)
    EXPECT_NEAR(wide->at<float>(i), expected[i], 1e-4);
  // Shrinking looks at every pixel.
  Tensor dots = pixels(4, 4, 1,
                       {0, 0, 0, 0, 0, 160, 0, 0, //
                        0, 0, 0, 0, 0, 0, 0, 0});
  auto small = imageToInput(dots, {"x", ElementType::F32, {1, 1, 1, 1}}, plain);
  ASSERT_TRUE(small);
  EXPECT_GT(small->at<float>(0), 10);
  // A constant picture stays constant at any size.
  Tensor flat = pixels(3, 5, 1, std::vector<uint8_t>(15, 50));
  auto other = imageToInput(flat, {"x", ElementType::F32, {1, 1, 7, 2}}, plain);
  ASSERT_TRUE(other);
  for (int i = 0; i < 14; ++i)
    EXPECT_NEAR(other->at<float>(i), 50, 1e-4);
}

TEST(ImageTest, RefusesWhatIsNoPicture) {
  Tensor image = pixels(1, 1, 3, {1, 2, 3});
  ImageOptions two, zero;
  two.mean = {1, 2};
  zero.std = {0};
  using enum ElementType;
  EXPECT_FALSE(imageToInput(image, {"x", F32, {1, 4, 2, 2}}, {}));
  EXPECT_FALSE(imageToInput(image, {"x", F32, {2, 3, 2, 2}}, {}));
  EXPECT_FALSE(imageToInput(image, {"x", F32, {3, 2}}, {}));
  EXPECT_FALSE(imageToInput(image, {"x", I64, {1, 3, 2, 2}}, {}));
  EXPECT_FALSE(imageToInput(image, {"x", F32, {1, 3, 0, 2}}, {}));
  EXPECT_FALSE(imageToInput(image, {"x", F32, {1, 3, 2, INT64_MAX}}, {}));
  EXPECT_FALSE(imageToInput(image, {"x", F32, {1, 3, 2, 2}}, two));
  EXPECT_FALSE(imageToInput(image, {"x", F32, {1, 3, 2, 2}}, zero));
}

/// The values of a float input, by channel, row and column.
std::vector<float> floatsOf(const Result<Tensor> &input) {
  EXPECT_TRUE(input) << input.error().message();
  if (!input)
    return {};
  std::vector<float> values;
  for (int64_t i = 0; i < input->size(); ++i)
    values.push_back(static_cast<float>(input->toDouble(i)));
  return values;
}

TEST(ImageTest, CentresAsTorchvisionRounds) {
  // int(round((whole - size) / 2)) of Python.
  EXPECT_EQ(centredStart(8, 5), 2);
  EXPECT_EQ(centredStart(8, 7), 0);
  EXPECT_EQ(centredStart(8, 3), 2);
  EXPECT_EQ(centredStart(8, 1), 4);
  EXPECT_EQ(centredStart(5, 8), -2);
  EXPECT_EQ(centredStart(7, 8), 0);
  EXPECT_EQ(centredStart(6, 4), 1);
}

TEST(ImageTest, PadsToFit) {
  ImageOptions options;
  options.scale = 1;
  options.fit = ImageFit::Pad;
  options.padValue = {7};
  const Tensor image = pixels(1, 2, 1, {10, 20});
  EXPECT_EQ(floatsOf(imageToInput(image, {"x", ElementType::F32, {1, 1, 3, 2}},
                                  options)),
            (std::vector<float>{7, 7, 10, 20, 7, 7}));
  // The colours of the channels, as the input has them.
  options.padValue = {1, 2, 3};
  options.channels = ImageChannels::Bgr;
  EXPECT_EQ(
      floatsOf(imageToInput(pixels(1, 1, 3, {10, 20, 30}),
                            {"x", ElementType::F32, {1, 3, 3, 1}}, options)),
      (std::vector<float>{1, 30, 1, 2, 20, 2, 3, 10, 3}));
}

TEST(ImageTest, CoversAndCrops) {
  ImageOptions options;
  options.scale = 1;
  const Tensor image = pixels(2, 6, 1, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  options.fit = ImageFit::Cover;
  EXPECT_EQ(floatsOf(imageToInput(image, {"x", ElementType::F32, {1, 1, 2, 2}},
                                  options)),
            (std::vector<float>{2, 3, 8, 9}));
  options.fit = ImageFit::Stretch;
  options.crop = PictureSize{1, 2};
  EXPECT_EQ(floatsOf(imageToInput(
                image, {"x", ElementType::F32, {1, 1, -1, -1}}, options)),
            (std::vector<float>{2, 3}));
  // A resized image is larger than the input: its centre.
  options.crop.reset();
  options.resize = PictureSize{2, 6};
  EXPECT_EQ(floatsOf(imageToInput(image, {"x", ElementType::F32, {1, 1, 2, 2}},
                                  options)),
            (std::vector<float>{2, 3, 8, 9}));
}

TEST(ImageTest, PadsToMultiples) {
  ImageOptions options;
  options.scale = 1;
  options.padMultiple = 2;
  auto input = imageToInput(pixels(1, 3, 1, {1, 2, 3}),
                            {"x", ElementType::F32, {1, 1, -1, -1}}, options);
  ASSERT_TRUE(input);
  EXPECT_EQ(input->shape(), (Shape{1, 1, 2, 4}));
  EXPECT_EQ(floatsOf(input), (std::vector<float>{1, 2, 3, 0, 0, 0, 0, 0}));
}

TEST(ImageTest, DynamicSizesFollowTheAspectRatio) {
  ImageOptions options;
  const Tensor image = pixels(2, 6, 3, std::vector<uint8_t>(36));
  const TensorSpec line{"x", ElementType::F32, {1, 3, 4, -1}};
  EXPECT_EQ(imageToInput(image, line, options)->shape(), (Shape{1, 3, 4, 6}));
  options.fit = ImageFit::Pad;
  EXPECT_EQ(imageToInput(image, line, options)->shape(), (Shape{1, 3, 4, 12}));
  // A dynamic number of channels is that of the colours.
  const TensorSpec any{"x", ElementType::F32, {1, -1, 2, 2}};
  EXPECT_EQ(imageToInput(image, any, options)->shape(), (Shape{1, 3, 2, 2}));
  options.channels = ImageChannels::Gray;
  EXPECT_EQ(imageToInput(image, any, options)->shape(), (Shape{1, 1, 2, 2}));
}

TEST(ImageTest, SizesThatDoNotFit) {
  const Tensor image = pixels(4, 4, 3, std::vector<uint8_t>(48));
  const TensorSpec spec{"x", ElementType::F32, {1, 3, 4, 4}};
  const auto why = [&](const ImageOptions &options) {
    auto input = imageToInput(image, spec, options);
    EXPECT_FALSE(input);
    return input ? "" : input.error().message();
  };
  ImageOptions options;
  options.crop = PictureSize{5, 5};
  EXPECT_NE(why(options).find("crop 5x5 of an image of 4x4"),
            std::string::npos);
  options.crop = PictureSize{2, 2};
  EXPECT_NE(why(options).find("the image is 2x2"), std::string::npos);
  options = {};
  options.padMultiple = 3;
  EXPECT_NE(why(options).find("the image is 6x6"), std::string::npos);
  options = {};
  options.padValue = {1, 2};
  EXPECT_NE(why(options).find("pad-value takes 1 or 3"), std::string::npos);
  options = {};
  options.channels = ImageChannels::Bgr;
  EXPECT_FALSE(
      imageToInput(image, {"x", ElementType::F32, {1, 1, 4, 4}}, options));
}

TEST(ImageTest, ACubicFilterStaysInRange) {
  ImageOptions options;
  options.scale = 1;
  options.interpolation = Interpolation::Bicubic;
  std::vector<uint8_t> edge(16, 0);
  for (size_t i = 2; i < edge.size(); i += 4)
    edge[i] = edge[i + 1] = 255;
  for (float value :
       floatsOf(imageToInput(pixels(4, 4, 1, edge),
                             {"x", ElementType::F32, {1, 1, 9, 9}}, options))) {
    EXPECT_GE(value, 0);
    EXPECT_LE(value, 255);
  }
}

} // namespace
