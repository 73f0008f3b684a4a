//===- DynamicImages.h - convolutional programs of images that are not known
//---===//
//
// Small networks as texts whose images have a number, or a height and a width,
// that is known when the program runs, and what tests of them have in common.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_TEST_BACKEND_CPU_DYNAMICIMAGES_H
#define SINTER_TEST_BACKEND_CPU_DYNAMICIMAGES_H

#include "backend/cpu/CompareWithInterpreter.h"
#include "interpreter/Interpreter.h"
#include "runtime/DynamicProgram.h"
#include "runtime/ProgramExecutor.h"
#include "runtime/Random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>

namespace sinter::test {

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
  /// At \p scale times the height and the width; \p sampling is the mode, the
  /// coordinates and the rounding of nn.resize.
  Image resize(const Image &x, double scale, const std::string &sampling) {
    auto scaled = [&](int64_t size) {
      return static_cast<int64_t>(
          std::floor(static_cast<double>(size) * scale));
    };
    Image y = {next(), x.channels, scaled(x.height), scaled(x.width)};
    const std::string each = std::to_string(scale);
    line(y.name + " = nn.resize " + x.name + ", scales = [1.0, 1.0, " + each +
         ", " + each + "], " + sampling +
         " {exclude_outside = false, antialias = false} : (" + type(x) +
         ") -> " + type(y));
    return y;
  }
  /// The sum, each broadcast to the other as far as its sizes are smaller.
  Image addRepeated(const Image &a, const Image &b) {
    Image left = a, right = b;
    left.name = like(a.name, type(a), b);
    right.name = like(b.name, type(b), a);
    return add(left, right);
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

inline const ImagesCase imageCases[] = {
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
    {"concatenates of channels", 32, 8, 11,
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
    {"twice the pixels, joined with whole blocks", 20, 12, 9,
     [](ImageText &t, ImageText::Image x) {
       x = t.relu(t.bias(t.convolution(x, 32, {})));
       ImageText::Image y =
           t.resize(t.convolution(x, 16, {}), 2,
                    R"("nearest", "half_pixel", "round_prefer_floor")");
       return t.finish(t.convolution(
           t.join({y, t.resize(x, 2, R"("nearest", "asymmetric", "floor")")}),
           20, {}));
     }},
    {"three times the pixels, joined with parts of blocks", 20, 6, 7,
     [](ImageText &t, ImageText::Image x) {
       x = t.relu(t.bias(t.convolution(x, 24, {})));
       ImageText::Image y =
           t.resize(x, 3, R"("nearest", "asymmetric", "floor")");
       return t.finish(
           t.convolution(t.join({y, t.relu(y)}), 20, {.stride = 3}));
     }},
    {"twice the pixels, added to what has as many", 32, 9, 8,
     [](ImageText &t, const ImageText::Image &x) {
       ImageText::Image y = t.relu(t.bias(t.convolution(x, 40, {})));
       y = t.resize(y, 2, R"("nearest", "asymmetric", "floor")");
       ImageText::Image z = t.spread(x, 40);
       return t.finish(t.convolution(t.relu(t.addRepeated(z, y)), 10, {}));
     }},
    {"one and a half times the pixels", 16, 10, 8,
     [](ImageText &t, ImageText::Image x) {
       x = t.relu(t.bias(t.convolution(x, 36, {})));
       x = t.resize(x, 1.5, R"("nearest", "half_pixel", "round_prefer_ceil")");
       return t.finish(t.convolution(x, 10, {.size = 1, .padding = 0}));
     }},
    {"pixels between others", 16, 10, 8,
     [](ImageText &t, ImageText::Image x) {
       x = t.relu(t.bias(t.convolution(x, 36, {})));
       x = t.resize(x, 2, R"("linear", "half_pixel", "floor")");
       return t.finish(t.convolution(x, 10, {.size = 1, .padding = 0}));
     }},
    {"few products", 2, 5, 5,
     [](ImageText &t, const ImageText::Image &x) {
       return t.finish(t.relu(t.bias(t.convolution(x, 2, {}))));
     },
     0,
     /*isByLoops=*/true},
};

inline Tensor imagesOf(const ImagesCase &test, int64_t batch, int64_t height,
                       int64_t width) {
  Tensor images(ElementType::F32, {batch, test.channels, height, width});
  fillRandom(images, 3);
  return images;
}

/// Images [first, end).
inline Tensor partOf(const Tensor &images, int64_t first, int64_t end) {
  Shape shape = images.shape();
  const size_t bytes = images.bytes() / shape[0];
  shape[0] = end - first;
  Tensor part(images.type(), shape);
  std::memcpy(part.mutableBytes(), images.data() + first * bytes, part.bytes());
  return part;
}

inline bool haveSameBits(const Tensor &a, const Tensor &b) {
  return a.shape() == b.shape() &&
         (a.bytes() == 0 || std::memcmp(a.data(), b.data(), a.bytes()) == 0);
}

inline std::unique_ptr<ProgramExecutor>
executorOf(std::shared_ptr<const Program> of, unsigned threads) {
  auto made = ProgramExecutor::create(std::move(of),
                                      std::make_shared<ThreadPool>(threads));
  return made ? std::move(*made) : nullptr;
}

inline std::shared_ptr<const Program>
compiled(const std::string &text, const cpu::Target &target,
         Precision precision = Precision::Default) {
  cpu::CpuOptions options;
  options.target = target;
  options.precision = precision;
  auto program = compileRaised(text, options);
  EXPECT_TRUE(program) << program.error().message() << "\n" << text;
  return program ? std::make_shared<const Program>(std::move(*program))
                 : nullptr;
}

inline Tensor resultOf(ProgramExecutor &executor, const Tensor &images) {
  auto results = executor.run(std::vector<Tensor>{images});
  EXPECT_TRUE(results) << results.error().message();
  return results ? (*results)[0] : Tensor();
}

inline void expectNear(const Tensor &got, const Tensor &expected) {
  ASSERT_EQ(got.shape(), expected.shape());
  double greatest = 0;
  for (int64_t i = 0; i < expected.size(); ++i)
    greatest = std::max(greatest, std::abs(double(expected.at<float>(i))));
  for (int64_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(got.at<float>(i), expected.at<float>(i), 1e-6 + 2e-5 * greatest)
        << "element " << i;
}

} // namespace sinter::test

#endif // SINTER_TEST_BACKEND_CPU_DYNAMICIMAGES_H
