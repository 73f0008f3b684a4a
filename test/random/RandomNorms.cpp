#include "random/RandomNorms.h"

#include "random/Dice.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace sinter {
namespace {

/// A batch of images, or of vectors, where it has no places.
struct Images {
  std::string name;
  int64_t channels = 0, height = 0, width = 0;
  /// Whether height and width are dynamic.
  bool isDynamic = false;
  /// How they follow from those of the input.
  std::string places = {};

  bool isFlat() const { return height == 0; }
  bool hasPlacesOf(const Images &other) const {
    return height == other.height && width == other.width &&
           places == other.places;
  }
};

class NormsDrawing {
public:
  NormsDrawing(uint64_t seed, const RandomNormsOptions &options)
      : dice(seed), options(options) {}
  RandomFolding draw();

private:
  std::string fresh() { return "%v" + std::to_string(next++); }
  template <typename... Args> void line(const char *format, Args &&...args) {
    body += "  " + formatv(format, std::forward<Args>(args)...).str() + "\n";
  }
  std::string typeOf(const Images &images) const;
  std::string tensorOf(StringRef sizes) const {
    return "tensor<" + sizes.str() + element + ">";
  }
  /// A number of [-1, 1], or a multiple of 1/4.
  double number();
  std::string numbers(int64_t count, llvm::function_ref<double()> next);
  std::string constant(int64_t count, StringRef shape,
                       llvm::function_ref<double()> next);
  std::string scalar(double value);

  std::optional<Images> convolution(const Images &x);
  std::optional<Images> norm(const Images &x);
  std::optional<Images> clip(const Images &x);
  std::optional<Images> pool(const Images &x);
  std::optional<Images> joined(const Images &x);
  std::optional<Images> stacked(const Images &x);
  std::optional<Images> arithmetic(const Images &x);
  std::optional<Images> bounded(const Images &x);
  std::optional<Images> combined(const Images &x);
  std::optional<Images> split(const Images &x);
  std::optional<Images> shuffled(const Images &x);
  std::optional<Images> resized(const Images &x);
  std::optional<Images> flat(const Images &x);
  std::optional<Images> product(const Images &x);
  std::optional<Images> recurrent(const Images &x);

  Dice dice;
  RandomNormsOptions options;
  std::string element, body;
  unsigned next = 0;
  bool isLast = false, isDynamicBatch = false;
  std::vector<Images> values;
};

} // namespace

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

std::string NormsDrawing::typeOf(const Images &images) const {
  const std::string batch = isDynamicBatch ? "?x" : "2x",
                    channels = std::to_string(images.channels) + "x";
  if (images.isFlat())
    return tensorOf(batch + channels);
  const std::string places =
      images.isDynamic ? "?x?x"
                       : formatv("{0}x{1}x", images.height, images.width).str();
  return tensorOf(isLast ? batch + places + channels
                         : batch + channels + places);
}

double NormsDrawing::number() {
  return options.isExact ? static_cast<double>(dice.between(-4, 4)) / 4
                         : static_cast<double>(dice.between(-500, 500)) / 500;
}

std::string NormsDrawing::numbers(int64_t count,
                                  llvm::function_ref<double()> next) {
  std::string text;
  for (int64_t i = 0; i < count; ++i)
    text += (i ? ", " : "") + formatv("{0:e6}", next()).str();
  return text;
}

std::string NormsDrawing::constant(int64_t count, StringRef shape,
                                   llvm::function_ref<double()> next) {
  const std::string list = fresh(), name = fresh();
  line("{0} = stablehlo.constant dense<[{1}]> : {2}", list,
       numbers(count, next), tensorOf(std::to_string(count) + "x"));
  line("{0} = stablehlo.reshape {1} : ({2}) -> {3}", name, list,
       tensorOf(std::to_string(count) + "x"), tensorOf(shape));
  return name;
}

std::string NormsDrawing::scalar(double value) {
  const std::string name = fresh();
  line("{0} = stablehlo.constant dense<{1:e6}> : {2}", name, value,
       tensorOf(""));
  return name;
}

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

std::optional<Images> NormsDrawing::convolution(const Images &x) {
  if (x.isFlat())
    return product(x);
  const int64_t window = dice.oneIn(2) ? 1 : 3,
                padding = window == 3 && dice.oneIn(2) ? 1 : 0,
                groups = x.channels % 2 == 0 && dice.oneIn(4) ? 2 : 1;
  if (x.height + 2 * padding < window || x.width + 2 * padding < window)
    return std::nullopt;
  Images y = x;
  y.channels = 2 * dice.between(1, 3);
  y.height += 2 * padding - window + 1;
  y.width += 2 * padding - window + 1;
  if (2 * padding != window - 1)
    y.places += "-2";
  const std::string shape =
      formatv("{0}x{1}x{2}x{2}x", y.channels, x.channels / groups, window)
          .str();
  const std::string kernel =
      constant(y.channels * x.channels / groups * window * window, shape,
               [&] { return number(); });
  y.name = fresh();
  const StringRef places = isLast ? "[b, 0, 1, f]" : "[b, f, 0, 1]";
  line("{0} = stablehlo.convolution({1}, {2}) dim_numbers = {3}x[o, i, 0, "
       "1]->{3}, window = {{stride = [1, 1], pad = [[{4}, {4}], [{4}, {4}]]} "
       "{{batch_group_count = 1 : i64, feature_group_count = {5} : i64} : "
       "({6}, {7}) -> {8}",
       y.name, x.name, kernel, places, padding, groups, typeOf(x),
       tensorOf(shape), typeOf(y));
  return y;
}

std::optional<Images> NormsDrawing::product(const Images &x) {
  Images y = x;
  y.channels = dice.between(2, 5);
  const std::string shape = formatv("{0}x{1}x", x.channels, y.channels).str();
  const std::string weight =
      constant(x.channels * y.channels, shape, [&] { return number(); });
  y.name = fresh();
  line("{0} = stablehlo.dot_general {1}, {2}, contracting_dims = [1] x [0] : "
       "({3}, {4}) -> {5}",
       y.name, x.name, weight, typeOf(x), tensorOf(shape), typeOf(y));
  return y;
}

std::optional<Images> NormsDrawing::norm(const Images &x) {
  const std::string shape = std::to_string(x.channels) + "x";
  // Most scales are positive, as training leaves them.
  const bool isPositive = !dice.oneIn(4);
  // Halves of the channels may be alike: slices of them are scaled by one
  // number.
  const bool isInHalves = dice.oneIn(4);
  int64_t drawn = 0;
  double before = 0;
  auto inHalves = [&](double next) {
    if (!isInHalves || drawn++ % ((x.channels + 1) / 2) == 0)
      before = next;
    return before;
  };
  auto scale = [&] {
    static constexpr double exact[] = {0.5, 1, 2};
    const double size =
        options.isExact ? dice.among(exact) : 0.5 + std::abs(number());
    return inHalves(!isPositive && dice.oneIn(2) ? -size : size);
  };
  auto variance = [&] {
    static constexpr double exact[] = {0.25, 1, 4};
    return inHalves(options.isExact ? dice.among(exact)
                                    : 0.5 + std::abs(number()));
  };
  std::string parameters[4];
  for (auto [i, parameter] : llvm::enumerate(parameters)) {
    drawn = 0;
    parameter = i == 0   ? constant(x.channels, shape, scale)
                : i == 3 ? constant(x.channels, shape, variance)
                         : constant(x.channels, shape,
                                    [&] { return inHalves(number()); });
  }
  Images y = x;
  y.name = fresh();
  const std::string type = tensorOf(shape);
  line("{0} = \"stablehlo.batch_norm_inference\"({1}, {2}, {3}, {4}, {5}) "
       "{{epsilon = {6:e6} : f32, feature_index = {7} : i64} : ({8}, {9}, "
       "{9}, {9}, {9}) -> {8}",
       y.name, x.name, parameters[0], parameters[1], parameters[2],
       parameters[3], options.isExact ? 0.0 : 0.001,
       isLast && !x.isFlat() ? 3 : 1, typeOf(x), type);
  return y;
}

std::optional<Images> NormsDrawing::clip(const Images &x) {
  Images y = x;
  switch (dice.between(0, 3)) {
  case 0: {
    const std::string low = scalar(-0.5), high = scalar(1);
    y.name = fresh();
    line("{0} = stablehlo.clamp {1}, {2}, {3} : ({4}, {5}, {4}) -> {5}", y.name,
         low, x.name, high, tensorOf(""), typeOf(x));
    return y;
  }
  case 1:
    y.name = fresh();
    line("{0} = nn.leaky_relu {1} {{alpha = 0.25 : f64} : {2}", y.name, x.name,
         typeOf(x));
    return y;
  default:
    y.name = fresh();
    line("{0} = nn.relu {1} : {2}", y.name, x.name, typeOf(x));
    return y;
  }
}

/// Windows of two by two: their counts divide exactly.
std::optional<Images> NormsDrawing::pool(const Images &x) {
  const int64_t stride = dice.between(1, 2), padding = dice.oneIn(3) ? 1 : 0;
  if (x.isFlat() || isLast || x.height < 2 || x.width < 2)
    return std::nullopt;
  Images y = x;
  y.height = (x.height + padding - 2) / stride + 1;
  y.width = (x.width + padding - 2) / stride + 1;
  y.places += formatv("({0}/{1})", padding - 2, stride);
  const std::string windows =
      formatv("window = [2, 2] strides = [{0}, {0}] {{dilations = array<i64: "
              "1, 1>, padding_low = array<i64: {1}, {1}>, padding_high = "
              "array<i64: 0, 0>",
              stride, padding)
          .str();
  y.name = fresh();
  if (dice.oneIn(2))
    line("{0} = nn.max_pool {1}, {2}} : ({3}) -> {4}", y.name, x.name, windows,
         typeOf(x), typeOf(y));
  else
    line("{0} = nn.average_pool {1}, {2}, count_padding = {3}} : ({4}) -> {5}",
         y.name, x.name, windows, dice.oneIn(2) ? "true" : "false", typeOf(x),
         typeOf(y));
  return y;
}

/// Another value of as many places.
std::optional<Images> NormsDrawing::joined(const Images &x) {
  std::vector<Images> others;
  for (const Images &each : values)
    if (each.hasPlacesOf(x) && each.channels + x.channels <= 16)
      others.push_back(each);
  if (others.empty())
    return std::nullopt;
  const Images other = dice.among(others);
  Images y = x;
  y.channels += other.channels;
  y.name = fresh();
  line("{0} = stablehlo.concatenate {1}, {2}, dim = {3} : ({4}, {5}) -> {6}",
       y.name, x.name, other.name, isLast && !x.isFlat() ? 3 : 1, typeOf(x),
       typeOf(other), typeOf(y));
  return y;
}

/// Another value of as many channels, below.
std::optional<Images> NormsDrawing::stacked(const Images &x) {
  std::vector<Images> others;
  for (const Images &each : values)
    if (each.hasPlacesOf(x) && each.channels == x.channels &&
        each.height + x.height <= 16)
      others.push_back(each);
  if (others.empty() || x.isFlat())
    return std::nullopt;
  const Images other = dice.among(others);
  Images y = x;
  y.height += other.height;
  y.places += "&";
  y.name = fresh();
  line("{0} = stablehlo.concatenate {1}, {2}, dim = {3} : ({4}, {5}) -> {6}",
       y.name, x.name, other.name, isLast ? 1 : 2, typeOf(x), typeOf(other),
       typeOf(y));
  return y;
}

/// With constants a channel, as what is no batch norm has them.
std::optional<Images> NormsDrawing::arithmetic(const Images &x) {
  if (x.isDynamic || isDynamicBatch)
    return std::nullopt;
  static constexpr double exact[] = {-2, -1, -0.5, 0, 0.5, 1, 2};
  const std::string shape = std::to_string(x.channels) + "x",
                    list = constant(x.channels, shape,
                                    [&] {
                                      return options.isExact ? dice.among(exact)
                                                             : number();
                                    }),
                    spread = fresh();
  line("{0} = stablehlo.broadcast_in_dim {1}, dims = [{2}] : ({3}) -> {4}",
       spread, list, isLast && !x.isFlat() ? 3 : 1, tensorOf(shape), typeOf(x));
  static constexpr StringRef names[] = {"multiply", "add", "subtract",
                                        "maximum", "minimum"};
  Images y = x;
  y.name = fresh();
  const bool isFirst = dice.oneIn(2);
  line("{0} = stablehlo.{1} {2}, {3} : {4}", y.name, dice.among(names),
       isFirst ? x.name : spread, isFirst ? spread : x.name, typeOf(x));
  return y;
}

/// Bounds that may be crossed.
std::optional<Images> NormsDrawing::bounded(const Images &x) {
  static constexpr double bounds[] = {-1, -0.5, 0, 0.5, 1};
  const std::string low = scalar(dice.among(bounds)),
                    high = scalar(dice.among(bounds));
  Images y = x;
  y.name = fresh();
  line("{0} = stablehlo.clamp {1}, {2}, {3} : ({4}, {5}, {4}) -> {5}", y.name,
       low, x.name, high, tensorOf(""), typeOf(x));
  return y;
}

std::optional<Images> NormsDrawing::combined(const Images &x) {
  std::vector<Images> others;
  for (const Images &each : values)
    if (each.hasPlacesOf(x) && each.channels == x.channels)
      others.push_back(each);
  if (others.empty())
    return std::nullopt;
  static constexpr StringRef names[] = {"add", "add", "subtract", "multiply",
                                        "maximum"};
  const Images other = dice.among(others);
  Images y = x;
  y.name = fresh();
  line("{0} = stablehlo.{1} {2}, {3} : {4}", y.name, dice.among(names), x.name,
       other.name, typeOf(x));
  return y;
}

/// Both parts; the second is returned.
std::optional<Images> NormsDrawing::split(const Images &x) {
  if (x.isFlat() || x.isDynamic || isDynamicBatch || x.channels < 2)
    return std::nullopt;
  const int64_t cut = dice.between(1, x.channels - 1);
  auto part = [&](int64_t from, int64_t to) {
    Images y = x;
    y.channels = to - from;
    y.name = fresh();
    const std::string channels = formatv("{0}:{1}", from, to).str(),
                      places = formatv("0:{0}, 0:{1}", x.height, x.width).str();
    line("{0} = stablehlo.slice {1} [0:2, {2}, {3}] : ({4}) -> {5}", y.name,
         x.name, isLast ? places : channels, isLast ? channels : places,
         typeOf(x), typeOf(y));
    return y;
  };
  values.push_back(part(0, cut));
  return part(cut, x.channels);
}

std::optional<Images> NormsDrawing::shuffled(const Images &x) {
  if (x.isFlat() || x.isDynamic || isDynamicBatch || isLast ||
      x.channels % 2 != 0)
    return std::nullopt;
  const std::string groups = fresh(), turned = fresh();
  const int64_t half = x.channels / 2;
  auto typeOfGroups = [&](int64_t first, int64_t second) {
    return tensorOf(
        formatv("2x{0}x{1}x{2}x{3}x", first, second, x.height, x.width).str());
  };
  line("{0} = stablehlo.reshape {1} : ({2}) -> {3}", groups, x.name, typeOf(x),
       typeOfGroups(2, half));
  line("{0} = stablehlo.transpose {1}, dims = [0, 2, 1, 3, 4] : ({2}) -> {3}",
       turned, groups, typeOfGroups(2, half), typeOfGroups(half, 2));
  Images y = x;
  y.name = fresh();
  line("{0} = stablehlo.reshape {1} : ({2}) -> {3}", y.name, turned,
       typeOfGroups(half, 2), typeOf(y));
  return y;
}

std::optional<Images> NormsDrawing::resized(const Images &x) {
  if (x.isFlat() || isLast || x.height > 8 || x.width > 8)
    return std::nullopt;
  Images y = x;
  y.height *= 2;
  y.width *= 2;
  y.places += "*2";
  y.name = fresh();
  line("{0} = nn.resize {1}, scales = [1.0, 1.0, 2.0, 2.0], \"nearest\", "
       "\"asymmetric\", \"floor\" {{exclude_outside = false, antialias = "
       "false} : ({2}) -> {3}",
       y.name, x.name, typeOf(x), typeOf(y));
  return y;
}

/// All places of a channel as features, or their sums.
std::optional<Images> NormsDrawing::flat(const Images &x) {
  if (x.isFlat())
    return std::nullopt;
  Images y = x;
  y.height = y.width = 0;
  y.places = {};
  y.isDynamic = false;
  // A shift is divided by the number of places.
  const bool dividesExactly = isPowerOf2_64(x.height * x.width);
  if (dice.oneIn(2)) {
    if (options.isExact && !dividesExactly)
      return std::nullopt;
    const std::string zero = scalar(0);
    y.name = fresh();
    line("{0} = stablehlo.reduce({1} init: {2}) applies stablehlo.add across "
         "dimensions = [{3}] : ({4}, {5}) -> {6}",
         y.name, x.name, zero, isLast ? "1, 2" : "2, 3", typeOf(x),
         tensorOf(""), typeOf(y));
    return y;
  }
  if (x.isDynamic || isDynamicBatch || x.channels * x.height * x.width > 200)
    return std::nullopt;
  y.channels = x.channels * x.height * x.width;
  y.name = fresh();
  line("{0} = stablehlo.reshape {1} : ({2}) -> {3}", y.name, x.name, typeOf(x),
       typeOf(y));
  return product(y);
}

/// Rows of an image are the steps of a sequence, whose features are sums over
/// them; the last state is what follows.
std::optional<Images> NormsDrawing::recurrent(const Images &x) {
  if (x.isFlat())
    return std::nullopt;
  struct Layer {
    StringRef name, activations, attributes, segments;
    int gates, results;
  };
  static constexpr Layer layers[] = {
      {"rnn", "\"Relu\"", "", "0, 0", 1, 2},
      {"gru", "\"Sigmoid\", \"Tanh\"", ", linear_before_reset = true", "0, 0",
       3, 2},
      {"lstm", "\"Sigmoid\", \"Tanh\", \"Tanh\"", ", input_forget = false",
       "0, 0, 0, 0", 4, 3}};
  const Layer &layer = options.isExact ? layers[0] : dice.among(layers);
  const std::string batch = isDynamicBatch ? "?x" : "2x",
                    steps =
                        x.isDynamic ? "?x" : formatv("{0}x", x.height).str(),
                    features = formatv("{0}x", x.channels).str(),
                    zero = scalar(0), rows = fresh(), sequence = fresh();
  const std::string rowsType = tensorOf(isLast ? batch + steps + features
                                               : batch + features + steps),
                    sequenceType = tensorOf(steps + batch + features);
  line("{0} = stablehlo.reduce({1} init: {2}) applies stablehlo.add across "
       "dimensions = [{3}] : ({4}, {5}) -> {6}",
       rows, x.name, zero, isLast ? 2 : 3, typeOf(x), tensorOf(""), rowsType);
  line("{0} = stablehlo.transpose {1}, dims = [{2}] : ({3}) -> {4}", sequence,
       rows, isLast ? "1, 0, 2" : "2, 0, 1", rowsType, sequenceType);
  Images y = x;
  y.channels = dice.between(2, 4);
  y.height = y.width = 0;
  y.places = {};
  y.isDynamic = false;
  const int64_t gates = layer.gates * y.channels;
  const bool hasBias = dice.oneIn(2);
  auto weight = [&](int64_t count, const std::string &shape) {
    return constant(count, shape, [&] { return number(); });
  };
  const std::string hidden = formatv("{0}x", y.channels).str(),
                    w = formatv("1x{0}x{1}", gates, features).str(),
                    r = formatv("1x{0}x{1}", gates, hidden).str(),
                    b = formatv("1x{0}x", 2 * gates).str();
  const std::string weights = weight(gates * x.channels, w),
                    recurrence = weight(gates * y.channels, r),
                    bias = hasBias ? weight(2 * gates, b) : "";
  const std::string all = fresh(), stateType = tensorOf("1x" + batch + hidden),
                    operands = hasBias ? ", " + bias : "",
                    types = hasBias ? ", " + tensorOf(b) : "",
                    last = layer.results == 3 ? ", " + stateType : "";
  line("{0}:{1} = \"nn.{2}\"({3}, {4}, {5}{6}) <{{direction = \"forward\", "
       "activations = [{7}]{8}, operandSegmentSizes = array<i32: 1, 1, 1, {9}, "
       "{10}>}> : ({11}, {12}, {13}{14}) -> ({15}, {16}{17})",
       all, layer.results, layer.name, sequence, weights, recurrence, operands,
       layer.activations, layer.attributes, hasBias ? 1 : 0, layer.segments,
       sequenceType, tensorOf(w), tensorOf(r), types,
       tensorOf(steps + "1x" + batch + hidden), stateType, last);
  y.name = fresh();
  line("{0} = stablehlo.reduce({1}#1 init: {2}) applies stablehlo.add across "
       "dimensions = [0] : ({3}, {4}) -> {5}",
       y.name, all, zero, stateType, tensorOf(""), typeOf(y));
  return y;
}

RandomFolding NormsDrawing::draw() {
  element = options.isExact ? "f64" : "f32";
  isLast = dice.oneIn(3);
  isDynamicBatch = dice.oneIn(3);
  Images x{"%x", 2 * dice.between(1, 3), dice.between(4, 7), dice.between(4, 7),
           dice.oneIn(3)};
  const std::string signature = typeOf(x);
  values = {x};
  using Layer = std::optional<Images> (NormsDrawing::*)(const Images &);
  static constexpr Layer layers[] = {
      &NormsDrawing::convolution, &NormsDrawing::convolution,
      &NormsDrawing::convolution, &NormsDrawing::norm,
      &NormsDrawing::norm,        &NormsDrawing::norm,
      &NormsDrawing::clip,        &NormsDrawing::clip,
      &NormsDrawing::pool,        &NormsDrawing::joined,
      &NormsDrawing::stacked,     &NormsDrawing::arithmetic,
      &NormsDrawing::bounded,     &NormsDrawing::combined,
      &NormsDrawing::split,       &NormsDrawing::shuffled,
      &NormsDrawing::resized,     &NormsDrawing::flat,
      &NormsDrawing::recurrent};
  for (int made = 0, tried = 0; made < options.layers && tried < 100; ++tried) {
    const Images from = dice.oneIn(4) ? dice.among(values) : values.back();
    if (std::optional<Images> y = (this->*dice.among(layers))(from)) {
      values.push_back(*y);
      ++made;
    }
  }
  const Images last = values.back();
  RandomFolding folding;
  folding.element = element;
  folding.text = formatv("func.func @main(%x: {0}) -> {1} {{\n{2}  return {3} "
                         ": {1}\n}\n",
                         signature, typeOf(last), body, last.name)
                     .str();
  for (int64_t more : {0, 1}) {
    Shape shape = {isDynamicBatch ? 2 + more : 2};
    const int64_t height = x.height + (x.isDynamic ? 2 * more : 0),
                  width = x.width + (x.isDynamic ? more : 0);
    if (isLast)
      shape.insert(shape.end(), {height, width, x.channels});
    else
      shape.insert(shape.end(), {x.channels, height, width});
    folding.shapes.push_back(std::move(shape));
  }
  return folding;
}

RandomFolding randomNorms(uint64_t seed, const RandomNormsOptions &options) {
  return NormsDrawing(seed, options).draw();
}

} // namespace sinter
