//===- OpenImagesTest.cpp - convolutional programs of any image count -----===//
//
// Convolutions, pools and what stands between them, with images of a number
// (and of sizes) that is known when the program runs, against the oracle; the
// same bits on any number of threads, in any company, and in a program for just
// these sizes.
//
//===----------------------------------------------------------------------===//

#include "backend/cpu/CompareWithInterpreter.h"
#include "interpreter/Interpreter.h"
#include "runtime/OpenProgram.h"
#include "runtime/ProgramExecutor.h"
#include "runtime/Random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <set>

using namespace sinter;
using namespace sinter::test;

namespace {

/// What is computed of images, [N, C, H, W], as a text: each function adds
/// operations, and gives the value's name.
class ImageText {
public:
  struct Image {
    std::string name;
    int64_t channels, height, width;
  };

  ImageText(bool opensBatch, bool opensArea, int64_t batch)
      : opensBatch(opensBatch), opensArea(opensArea), batch(batch) {}

  Image input(int64_t channels, int64_t height, int64_t width) {
    Image x = {"%x", channels, height, width};
    head = "(%x: " + type(x) + " {sinter.dims = [\"" + (opensBatch ? "N" : "") +
           "\", \"\", \"" + (opensArea ? "H" : "") + "\", \"" +
           (opensArea ? "W" : "") + "\"]})";
    return x;
  }
  std::string finish(const Image &result) {
    return head + " -> " + type(result) + " {\n" + body + "  return " +
           result.name + " : " + type(result) + "\n}";
  }
  std::string finishRows(const std::string &name, int64_t columns) {
    const std::string type =
        "tensor<" + count() + "x" + std::to_string(columns) + "xf32>";
    return head + " -> " + type + " {\n" + body + "  return " + name + " : " +
           type + "\n}";
  }

  struct Window {
    int64_t size = 3, stride = 1, padding = 1, dilation = 1, groups = 1;
  };
  Image convolution(const Image &x, int64_t outputs, Window w) {
    const int64_t inputs = x.channels / w.groups;
    const std::string kernel = constant({outputs, inputs, w.size, w.size});
    Image y = {next(), outputs, sizeOf(x.height, w), sizeOf(x.width, w)};
    auto twice = [](int64_t n) {
      return std::to_string(n) + ", " + std::to_string(n);
    };
    line(y.name + " = stablehlo.convolution(" + x.name + ", " + kernel +
         ") dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = "
         "{stride = [" +
         twice(w.stride) + "], pad = [[" + twice(w.padding) + "], [" +
         twice(w.padding) + "]], rhs_dilate = [" + twice(w.dilation) +
         "]} {batch_group_count = 1 : i64, feature_group_count = " +
         std::to_string(w.groups) + " : i64} : (" + type(x) + ", " +
         shaped({outputs, inputs, w.size, w.size}) + ") -> " + type(y));
    return y;
  }
  /// A window of pixels for each pixel, 2x2.
  Image spread(const Image &x, int64_t outputs) {
    const std::string kernel = constant({x.channels, outputs, 2, 2});
    Image y = {next(), outputs, 2 * x.height, 2 * x.width};
    line(y.name + " = stablehlo.convolution(" + x.name + ", " + kernel +
         ") dim_numbers = [b, f, 0, 1]x[i, o, 0, 1]->[b, f, 0, 1], window = "
         "{pad = [[1, 1], [1, 1]], lhs_dilate = [2, 2]} {batch_group_count = 1 "
         ": i64, feature_group_count = 1 : i64} : (" +
         type(x) + ", " + shaped({x.channels, outputs, 2, 2}) + ") -> " +
         type(y));
    return y;
  }
  Image bias(const Image &x) {
    const std::string b = constant({x.channels, 1, 1});
    return binary(
        "add", x,
        like(b, "tensor<" + std::to_string(x.channels) + "x1x1xf32>", x));
  }
  Image relu(const Image &x) {
    Image y = x;
    y.name = next();
    line(y.name + " = nn.relu " + x.name + " : " + type(x));
    return y;
  }
  Image swish(const Image &x) {
    Image y = x;
    y.name = next();
    line(y.name + " = stablehlo.logistic " + x.name + " : " + type(x));
    return binary("multiply", x, y.name);
  }
  Image add(const Image &a, const Image &b) { return binary("add", a, b.name); }
  /// A number for each channel of each image, by which that is multiplied.
  Image gate(const Image &x, const Image &numbers) {
    return binary("multiply", x, like(numbers.name, type(numbers), x));
  }
  Image pool(const Image &x, const std::string &kind, Window w) {
    Image y = {next(), x.channels, sizeOf(x.height, w), sizeOf(x.width, w)};
    auto twice = [](int64_t n) {
      return std::to_string(n) + ", " + std::to_string(n);
    };
    const bool isMax = kind == "max";
    line(y.name + " = nn." + (isMax ? "max_pool " : "average_pool ") + x.name +
         ", window = [" + twice(w.size) + "] strides = [" + twice(w.stride) +
         "] {dilations = array<i64: 1, 1>, padding_low = array<i64: " +
         twice(w.padding) + ">, padding_high = array<i64: " + twice(w.padding) +
         ">" +
         (isMax ? ""
                : ", count_padding = " +
                      std::string(kind == "counted" ? "true" : "false")) +
         "} : (" + type(x) + ") -> " + type(y));
    return y;
  }
  Image join(const std::vector<Image> &all) {
    Image y = {next(), 0, all[0].height, all[0].width};
    std::string names, types;
    for (const Image &each : all) {
      y.channels += each.channels;
      names += (names.empty() ? "" : ", ") + each.name;
      types += (types.empty() ? "" : ", ") + type(each);
    }
    line(y.name + " = stablehlo.concatenate " + names + ", dim = 1 : (" +
         types + ") -> " + type(y));
    return y;
  }
  /// The mean of each channel; [N, C].
  std::string mean(const Image &x) {
    const std::string zero = next(), sum = next(), result = next();
    line(zero + " = stablehlo.constant dense<0.0> : tensor<f32>");
    line(sum + " = stablehlo.reduce(" + x.name + " init: " + zero +
         ") applies stablehlo.add across dimensions = [2, 3] : (" + type(x) +
         ", tensor<f32>) -> " + rows(x.channels));
    const std::string count = next(), all = next();
    line(count + " = stablehlo.constant dense<0.02> : tensor<f32>");
    line(all + " = nn.broadcast_like " + count + ", " + sum +
         " : (tensor<f32>, " + rows(x.channels) + ") -> " + rows(x.channels));
    line(result + " = stablehlo.multiply " + sum + ", " + all + " : " +
         rows(x.channels));
    return result;
  }
  std::string product(const std::string &x, int64_t inputs, int64_t outputs) {
    const std::string weights = constant({inputs, outputs}), y = next();
    line(y + " = stablehlo.dot_general " + x + ", " + weights +
         ", contracting_dims = [1] x [0] : (" + rows(inputs) + ", " +
         shaped({inputs, outputs}) + ") -> " + rows(outputs));
    return y;
  }
  std::string softmax(const std::string &x, int64_t columns) {
    const std::string y = next();
    line(y + " = nn.softmax " + x + ", axes = [1] : " + rows(columns));
    return y;
  }
  /// [N, C] as images of one pixel.
  Image asImages(const std::string &x, int64_t channels) {
    Image y = {next(), channels, 1, 1};
    const std::string count = next(), first = next(), rest = next(),
                      shape = next();
    line(count + " = stablehlo.get_dimension_size " + x + ", dim = 0 : (" +
         rows(channels) + ") -> tensor<i32>");
    line(first + " = stablehlo.reshape " + count +
         " : (tensor<i32>) -> tensor<1xi32>");
    line(rest + " = stablehlo.constant dense<[" + std::to_string(channels) +
         ", 1, 1]> : tensor<3xi32>");
    line(shape + " = stablehlo.concatenate " + first + ", " + rest +
         ", dim = 0 : (tensor<1xi32>, tensor<3xi32>) -> tensor<4xi32>");
    line(y.name + " = stablehlo.dynamic_reshape " + x + ", " + shape + " : (" +
         rows(channels) + ", tensor<4xi32>) -> " + pixels(channels));
    return y;
  }
  std::string type(const Image &x) const {
    if (isPixel(x))
      return pixels(x.channels);
    auto area = [&](int64_t size) {
      return opensArea ? "?" : std::to_string(size);
    };
    return "tensor<" + count() + "x" + std::to_string(x.channels) + "x" +
           area(x.height) + "x" + area(x.width) + "xf32>";
  }

private:
  static int64_t sizeOf(int64_t size, Window w) {
    return (size + 2 * w.padding - (w.size - 1) * w.dilation - 1) / w.stride +
           1;
  }
  static bool isPixel(const Image &x) { return x.height == 1 && x.width == 1; }
  std::string count() const { return opensBatch ? "?" : std::to_string(batch); }
  std::string pixels(int64_t channels) const {
    return "tensor<" + count() + "x" + std::to_string(channels) + "x1x1xf32>";
  }
  std::string rows(int64_t columns) const {
    return "tensor<" + count() + "x" + std::to_string(columns) + "xf32>";
  }
  static std::string shaped(const std::vector<int64_t> &shape) {
    std::string text = "tensor<";
    for (int64_t size : shape)
      text += std::to_string(size) + "x";
    return text + "f32>";
  }
  std::string next() { return "%v" + std::to_string(values++); }
  void line(const std::string &text) { body += "  " + text + "\n"; }
  std::string like(const std::string &x, const std::string &type,
                   const Image &other) {
    const std::string y = next();
    line(y + " = nn.broadcast_like " + x + ", " + other.name + " : (" + type +
         ", " + this->type(other) + ") -> " + this->type(other));
    return y;
  }
  Image binary(const std::string &op, const Image &a, const std::string &b) {
    Image y = a;
    y.name = next();
    line(y.name + " = stablehlo." + op + " " + a.name + ", " + b + " : " +
         type(a));
    return y;
  }
  /// Numbers between -0.1 and 0.1.
  std::string constant(const std::vector<int64_t> &shape) {
    int64_t size = 1;
    for (int64_t each : shape)
      size *= each;
    const std::string flat = shaped({size});
    const std::string count = next(), wave = next(), scale = next(),
                      scaled = next(), result = next();
    line(count + " = stablehlo.iota dim = 0 : " + flat);
    line(wave + " = stablehlo.sine " + count + " : " + flat);
    line(scale + " = stablehlo.constant dense<0.1> : " + flat);
    line(scaled + " = stablehlo.multiply " + wave + ", " + scale + " : " +
         flat);
    line(result + " = stablehlo.reshape " + scaled + " : (" + flat + ") -> " +
         shaped(shape));
    return result;
  }

  const bool opensBatch, opensArea;
  const int64_t batch;
  std::string head, body;
  int values = 0;
};

struct ImagesCase {
  std::string name;
  /// Channels, height and width of the input.
  int64_t channels, height, width;
  std::function<std::string(ImageText &, ImageText::Image)> compute;
  /// Of the second-level cache, where the machine's is too large for the case.
  int64_t cacheBytes = 0;
  /// Loops compute images of known size, whose sums have an order of their own.
  bool isByLoops = false;
};

const ImagesCase imageCases[] = {
    {"a planar input, a bias, and the greatest of windows", 3, 23, 30,
     [](ImageText &t, ImageText::Image x) {
       x = t.relu(t.bias(
           t.convolution(x, 24, {.size = 7, .stride = 2, .padding = 3})));
       return t.finish(t.pool(x, "max", {.stride = 2}));
     }},
    {"a residual", 32, 9, 13,
     [](ImageText &t, const ImageText::Image &x) {
       ImageText::Image y = t.relu(t.bias(t.convolution(x, 48, {})));
       y = t.bias(t.convolution(y, 48, {}));
       ImageText::Image z =
           t.bias(t.convolution(x, 48, {.size = 1, .padding = 0}));
       return t.finish(t.relu(t.add(y, z)));
     }},
    {"by Winograd's method, in one stage", 40, 30, 27,
     [](ImageText &t, const ImageText::Image &x) {
       return t.finish(t.relu(t.bias(t.convolution(x, 40, {}))));
     },
     300 << 10},
    {"by Winograd's method, in three stages", 64, 18, 14,
     [](ImageText &t, ImageText::Image x) {
       x = t.relu(t.bias(t.convolution(x, 100, {})));
       return t.finish(t.add(t.convolution(x, 100, {}), x));
     },
     // Of two or three images a round.
     128 << 10},
    {"by Winograd's method, in bands of an image", 64, 50, 33,
     [](ImageText &t, const ImageText::Image &x) {
       return t.finish(t.bias(t.convolution(x, 70, {})));
     },
     64 << 10},
    {"a long epilogue", 20, 11, 11,
     [](ImageText &t, const ImageText::Image &x) {
       return t.finish(t.swish(t.bias(t.convolution(x, 36, {}))));
     }},
    {"one pixel at a time, with and without strides", 40, 10, 12,
     [](ImageText &t, ImageText::Image x) {
       x = t.relu(t.bias(t.convolution(x, 64, {.size = 1, .padding = 0})));
       return t.finish(
           t.convolution(x, 20, {.size = 1, .stride = 2, .padding = 0}));
     }},
    {"dilated", 16, 14, 17,
     [](ImageText &t, const ImageText::Image &x) {
       return t.finish(
           t.bias(t.convolution(x, 16, {.padding = 2, .dilation = 2})));
     }},
    {"groups", 64, 9, 9,
     [](ImageText &t, const ImageText::Image &x) {
       return t.finish(t.relu(t.bias(t.convolution(x, 64, {.groups = 4}))));
     }},
    {"each channel by itself", 48, 15, 18,
     [](ImageText &t, ImageText::Image x) {
       x = t.relu(t.bias(t.convolution(x, 48, {.groups = 48})));
       x = t.bias(t.convolution(
           x, 48, {.size = 5, .stride = 2, .padding = 2, .groups = 48}));
       return t.finish(t.bias(t.convolution(x, 24, {.size = 1, .padding = 0})));
     }},
    {"means of windows", 20, 13, 12,
     [](ImageText &t, ImageText::Image x) {
       x = t.convolution(x, 20, {.size = 1, .padding = 0});
       ImageText::Image a = t.pool(x, "counted", {}),
                        b = t.pool(x, "present", {}),
                        c = t.pool(x, "counted",
                                   {.size = 2, .stride = 1, .padding = 0});
       return t.finish(t.add(t.convolution(c, 20, {.size = 2}), t.add(a, b)));
     }},
    {"joints of channels", 32, 8, 11,
     [](ImageText &t, ImageText::Image x) {
       ImageText::Image a = t.relu(t.convolution(x, 32, {})),
                        b = t.convolution(x, 16, {.size = 1, .padding = 0}),
                        c = t.pool(a, "max", {});
       x = t.join({a, b, c});
       return t.finish(t.convolution(x, 40, {.size = 1, .padding = 0}));
     }},
    {"a classifier", 32, 7, 7,
     [](ImageText &t, ImageText::Image x) {
       x = t.relu(t.bias(t.convolution(x, 72, {})));
       return t.finishRows(t.softmax(t.product(t.mean(x), 72, 90), 90), 90);
     }},
    {"a gate of channels", 32, 9, 8,
     [](ImageText &t, ImageText::Image x) {
       x = t.relu(t.bias(t.convolution(x, 32, {})));
       ImageText::Image g = t.asImages(t.mean(x), 32);
       g = t.relu(t.bias(t.convolution(g, 16, {.size = 1, .padding = 0})));
       g = t.bias(t.convolution(g, 32, {.size = 1, .padding = 0}));
       return t.finish(t.bias(t.gate(x, g)));
     }},
    {"pixels that become windows", 32, 6, 7,
     [](ImageText &t, const ImageText::Image &x) {
       ImageText::Image y = t.relu(t.bias(t.spread(x, 24)));
       return t.finish(t.bias(t.convolution(y, 10, {})));
     }},
    {"few products", 2, 5, 5,
     [](ImageText &t, const ImageText::Image &x) {
       return t.finish(t.relu(t.bias(t.convolution(x, 2, {}))));
     },
     0,
     /*isByLoops=*/true},
};

/// Of images of the case's size, of which there are so many if that is known.
std::string textOf(const ImagesCase &test, bool opensBatch, int64_t batch) {
  ImageText text(opensBatch, /*opensArea=*/false, batch);
  return test.compute(text, text.input(test.channels, test.height, test.width));
}

Tensor imagesOf(const ImagesCase &test, int64_t batch, int64_t height,
                int64_t width) {
  Tensor images(ElementType::F32, {batch, test.channels, height, width});
  fillRandom(images, 3);
  return images;
}

/// Images [first, end).
Tensor partOf(const Tensor &images, int64_t first, int64_t end) {
  Shape shape = images.shape();
  const size_t bytes = images.bytes() / shape[0];
  shape[0] = end - first;
  Tensor part(images.type(), shape);
  std::memcpy(part.mutableBytes(), images.data() + first * bytes, part.bytes());
  return part;
}

bool haveSameBits(const Tensor &a, const Tensor &b) {
  return a.shape() == b.shape() &&
         (a.bytes() == 0 || std::memcmp(a.data(), b.data(), a.bytes()) == 0);
}

std::unique_ptr<ProgramExecutor> executorOf(std::shared_ptr<const Program> of,
                                            unsigned threads) {
  auto made = ProgramExecutor::create(std::move(of),
                                      std::make_shared<ThreadPool>(threads));
  return made ? std::move(*made) : nullptr;
}

std::shared_ptr<const Program>
compiled(const std::string &text, const cpu::Target &target,
         Precision precision = Precision::Default) {
  cpu::CpuOptions options;
  options.target = target;
  options.precision = precision;
  auto program = compileRaised(text, options);
  EXPECT_TRUE(program) << program.error().message << "\n" << text;
  return program ? std::make_shared<const Program>(std::move(*program))
                 : nullptr;
}

Tensor resultOf(ProgramExecutor &executor, const Tensor &images) {
  auto results = executor.run(std::vector<Tensor>{images});
  EXPECT_TRUE(results) << results.error().message;
  return results ? (*results)[0] : Tensor();
}

void expectNear(const Tensor &got, const Tensor &expected) {
  ASSERT_EQ(got.shape(), expected.shape());
  double greatest = 0;
  for (int64_t i = 0; i < expected.size(); ++i)
    greatest = std::max(greatest, std::abs(double(expected.at<float>(i))));
  for (int64_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(got.at<float>(i), expected.at<float>(i), 1e-6 + 2e-5 * greatest)
        << "element " << i;
}

void checkImages(const ImagesCase &test, cpu::Target target) {
  if (test.cacheBytes != 0)
    target.l2Bytes = test.cacheBytes;
  const std::string text = textOf(test, /*opensBatch=*/true, 0);
  Model model = parseModel(text);
  ASSERT_TRUE(model.entry()) << text;
  auto program = compiled(text, target);
  ASSERT_TRUE(program && program->open);
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
      ASSERT_TRUE(expected) << expected.error().message;
      expectNear(got, (*expected)[0]);
    }
    auto known = compiled(textOf(test, /*opensBatch=*/false, batch), target);
    ASSERT_TRUE(known && !known->open);
    EXPECT_TRUE(haveSameBits(got, resultOf(*executorOf(known, 1), some)))
        << "of a program for these sizes";
  }
  EXPECT_TRUE(
      haveSameBits(resultOf(*two, partOf(images, 5, 6)), partOf(all, 5, 6)));
}

/// The layers that Winograd's method computes.
std::set<std::string> byWinograd(const Program &program) {
  std::set<std::string> layers;
  for (const Step &step : program.steps)
    if (step.kernelName == "winograd")
      layers.insert(step.layer);
  return layers;
}

std::string textOfArea(const ImagesCase &test, bool isOpen, int64_t batch,
                       int64_t height, int64_t width) {
  ImageText text(isOpen, isOpen, batch);
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
  if (!program || !program->open || !model.entry()) {
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
    EXPECT_TRUE(expected) << expected.error().message;
    if (expected)
      expectNear(got, (*expected)[0]);
    EXPECT_TRUE(
        haveSameBits(resultOf(*one, partOf(images, 1, 2)), partOf(got, 1, 2)))
        << "alone";
    if (test.isByLoops)
      continue;
    auto known =
        compiled(textOfArea(test, false, 3, height, width), target, precision);
    if (!known || known->open) {
      ADD_FAILURE() << "no program for these sizes";
      continue;
    }
    if (byWinograd(*known) != byWinograd(*program))
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

class OpenImages : public ::testing::TestWithParam<ImagesCase> {};

} // namespace

TEST_P(OpenImages, OfAnyNumber) {
  SKIP_IF_SIZES_MAY_WRAP();
  checkImages(GetParam(), *cpu::Target::host());
}

TEST_P(OpenImages, OfAnyNumberByNarrowerVectors) {
  SKIP_IF_SIZES_MAY_WRAP();
  checkImages(GetParam(), lesserTargets().back());
}

TEST_P(OpenImages, OfAnyArea) {
  SKIP_IF_SIZES_MAY_WRAP();
  const cpu::Target target = *cpu::Target::host();
  // Without Winograd's method all areas are computed alike.
  if (const int alike = checkAreas(GetParam(), target, Precision::Exact);
      !GetParam().isByLoops)
    EXPECT_EQ(alike, 6);
  checkAreas(GetParam(), target, Precision::Default);
}

TEST_P(OpenImages, OfAnyAreaByNarrowerVectors) {
  SKIP_IF_SIZES_MAY_WRAP();
  checkAreas(GetParam(), lesserTargets().back(), Precision::Default);
}

INSTANTIATE_TEST_SUITE_P(Networks, OpenImages, ::testing::ValuesIn(imageCases),
                         [](const auto &info) {
                           std::string name;
                           for (char c : info.param.name)
                             name += std::isalnum(c) ? c : '_';
                           return name;
                         });

/// A case of the test above is what its name says.
TEST(OpenImages, TakeTheStagesThatTheyAreFor) {
  SKIP_IF_SIZES_MAY_WRAP();
  for (const ImagesCase &test : imageCases) {
    if (test.cacheBytes == 0)
      continue;
    cpu::Target target = *cpu::Target::host();
    target.l2Bytes = test.cacheBytes;
    auto program = compiled(textOf(test, true, 0), target);
    ASSERT_TRUE(program && program->open);
    size_t byWinograd = 0, inTurns = 0, inRounds = 0;
    for (size_t i = 0; i < program->steps.size(); ++i) {
      byWinograd += program->steps[i].kernelName == "winograd";
      inTurns += program->open->steps[i].inTurns;
      inRounds += program->open->steps[i].inTurns != 0 &&
                  program->open->steps[i].round.block < 16;
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
TEST(OpenImages, AreRefusedWhereNoKernelComputesThem) {
  SKIP_IF_SIZES_MAY_WRAP();
  auto program = compileRaised(R"((%x: tensor<?x8x9x9x9xf32>
      {sinter.dims = ["N", "", "", "", ""]}) -> tensor<?x8x7x7x7xf32> {
    %w = stablehlo.constant dense<0.1> : tensor<8x8x3x3x3xf32>
    %y = stablehlo.convolution(%x, %w) dim_numbers =
        [b, f, 0, 1, 2]x[o, i, 0, 1, 2]->[b, f, 0, 1, 2], window = {}
        {batch_group_count = 1 : i64, feature_group_count = 1 : i64} :
        (tensor<?x8x9x9x9xf32>, tensor<8x8x3x3x3xf32>) -> tensor<?x8x7x7x7xf32>
    return %y : tensor<?x8x7x7x7xf32>
  })");
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().message,
            "stablehlo.convolution keeps no open sizes");
}

/// Half as many pixels, and as many again beside those that were there: sizes
/// are the same where they are even.
TEST(OpenImages, GoDownAndUp) {
  SKIP_IF_SIZES_MAY_WRAP();
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
  ASSERT_TRUE(program && program->open);
  // Halves, and tiles of Winograd's method.
  EXPECT_GE(program->open->quotients.size(), 2U);
  auto executor = executorOf(program, 2);
  ASSERT_TRUE(executor);
  for (auto [height, width] : {std::pair(20, 24), std::pair(8, 38),
                               std::pair(2, 4), std::pair(30, 66)}) {
    SCOPED_TRACE(std::to_string(height) + "x" + std::to_string(width));
    Tensor images(ElementType::F32, {2, 16, height, width});
    fillRandom(images, 3);
    auto expected = interpret(model.entry(), {images});
    ASSERT_TRUE(expected) << expected.error().message;
    expectNear(resultOf(*executor, images), (*expected)[0]);
  }
  auto odd = executor->run(
      std::vector<Tensor>{Tensor(ElementType::F32, {1, 16, 9, 8})});
  ASSERT_FALSE(odd);
  EXPECT_NE(odd.error().message.find("is negative"), std::string::npos)
      << odd.error().message;
}
