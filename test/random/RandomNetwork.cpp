//===- RandomNetwork.cpp - layers over dynamic dimensions from a seed -----===//

#include "random/RandomNetwork.h"

#include "mlir/Parser/Parser.h"
#include "random/Dice.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace sinter {

namespace {

/// A dimension: its size with the first choice of sizes, and how it follows
/// from those of the inputs; static ones have an empty text.
struct Dimension {
  int64_t size = 0;
  std::string text = {};

  bool isDynamic() const { return !text.empty(); }
  bool operator==(const Dimension &) const = default;
};

/// A value, its channels second.
struct Map {
  std::string name;
  std::vector<Dimension> dims;
  std::string element = "f32";
  /// Whether implementations may differ in its last bits.
  bool isRounded = false;

  bool isQuantized() const { return element != "f32"; }
  int64_t channels() const { return dims[1].size; }
  size_t spatial() const { return dims.size() - 2; }
};

std::string listOf(ArrayRef<int64_t> numbers) {
  return "[" +
         llvm::join(llvm::map_range(
                        numbers, [](int64_t n) { return std::to_string(n); }),
                    ", ") +
         "]";
}

class Drawer {
public:
  Drawer(uint64_t seed, const RandomNetworkOptions &options)
      : dice(seed), options(options) {}

  RandomNetwork draw();

private:
  static std::string typeOf(ArrayRef<Dimension> dims,
                            const std::string &element);
  static std::string typeOf(const Map &map) {
    return typeOf(map.dims, map.element);
  }
  /// Adds a line with a new value; the text after the equals sign has its type.
  Map add(const std::string &text, std::vector<Dimension> dims,
          std::string element, bool isRounded);
  Map call(const std::string &op, ArrayRef<Map> operands,
           const std::string &attributes, std::vector<Dimension> dims,
           std::string element, bool isRounded);
  Map argument(int number);
  /// A static constant of f32 with few bits.
  Map constant(ArrayRef<int64_t> shape);
  std::string quantizedElement(bool isWeight, int64_t channels);
  Map quantized(const Map &map);
  Map dequantized(const Map &map);

  Map layer(const Map &map);
  std::optional<Map> convolution(const Map &map);
  std::optional<Map> pool(const Map &map);
  std::optional<Map> product(const Map &map);
  std::optional<Map> selfProduct(const Map &map);
  std::optional<Map> joined(const Map &map);
  std::optional<Map> padded(const Map &map);
  std::optional<Map> elementwise(const Map &map);
  std::optional<Map> moved(const Map &map);
  std::optional<Map> reduced(const Map &map);

  /// Windows over the spatial dimensions; nothing where none fits.
  struct Windows {
    std::vector<int64_t> sizes, strides, low, high, dilations;
    std::vector<Dimension> results;
  };
  std::optional<Windows> windows(const Map &map);

  Dice dice;
  const RandomNetworkOptions &options;
  std::string body, signature;
  int next = 0;
  std::vector<Map> arguments, maps;
};

std::string Drawer::typeOf(ArrayRef<Dimension> dims,
                           const std::string &element) {
  std::string text = "tensor<";
  for (const Dimension &dim : dims)
    text += (dim.isDynamic() ? "?" : std::to_string(dim.size)) + "x";
  return text + element + ">";
}

Map Drawer::add(const std::string &text, std::vector<Dimension> dims,
                std::string element, bool isRounded) {
  Map map{"%" + std::to_string(next++), std::move(dims), std::move(element),
          isRounded};
  body += "    " + map.name + " = " + text + "\n";
  return map;
}

Map Drawer::call(const std::string &op, ArrayRef<Map> operands,
                 const std::string &attributes, std::vector<Dimension> dims,
                 std::string element, bool isRounded) {
  std::string names, types;
  for (const Map &operand : operands) {
    names += (names.empty() ? "" : ", ") + operand.name;
    types += (types.empty() ? "" : ", ") + typeOf(operand);
  }
  const std::string result = typeOf(dims, element);
  return add("\"stablehlo." + op + "\"(" + names + ")" + attributes + " : (" +
                 types + ") -> " + result,
             std::move(dims), std::move(element), isRounded);
}

Map Drawer::argument(int number) {
  Map map;
  map.name = "%arg" + std::to_string(number);
  if (number > 0) {
    // Of the same sizes, which nothing says.
    map.dims = arguments[0].dims;
    return map;
  }
  static constexpr int64_t channels[] = {1, 2, 3, 4, 5, 8, 8, 16, 17, 32};
  map.dims.push_back({dice.between(1, 3), "N"});
  map.dims.push_back({dice.among(channels)});
  static constexpr const char *names[] = {"H", "W"};
  const bool isImage = !dice.oneIn(3);
  for (int i = isImage ? 0 : 1; i < 2; ++i) {
    const bool isInner = i == 1;
    map.dims.push_back(
        {dice.between(7, 13), isInner || dice.oneIn(2) ? names[i] : ""});
  }
  return map;
}

Map Drawer::constant(ArrayRef<int64_t> shape) {
  std::vector<Dimension> dims;
  int64_t count = 1;
  for (int64_t size : shape) {
    dims.push_back({size});
    count *= size;
  }
  std::string numbers;
  for (int64_t i = 0; i < count; ++i)
    numbers += (i == 0 ? "" : ", ") +
               llvm::formatv("{0:f3}", dice.between(-8, 8) / 8.0).str();
  // Nested lists are only needed where there are several dimensions.
  std::string flat =
      llvm::formatv("dense<[{0}]> : tensor<{1}xf32>", numbers, count).str();
  Map list = add("stablehlo.constant " + flat, {{count}}, "f32", false);
  return call("reshape", list, "", std::move(dims), "f32", false);
}

/// Of 8 bits; weights are symmetric, perhaps with a scale for each of their
/// first dimension.
std::string Drawer::quantizedElement(bool isWeight, int64_t channels) {
  const auto scale = [&] {
    return llvm::formatv("{0:f4}", 0.0625 * dice.between(1, 4)).str();
  };
  if (isWeight && dice.oneIn(2)) {
    std::string scales;
    for (int64_t i = 0; i < channels; ++i)
      scales += (i == 0 ? "" : ", ") + scale();
    return "!quant.uniform<i8:f32:0, {" + scales + "}>";
  }
  if (isWeight)
    return "!quant.uniform<i8:f32, " + scale() + ">";
  return dice.oneIn(2) ? llvm::formatv("!quant.uniform<i8:f32, {0}:{1}>",
                                       scale(), dice.between(-9, 9))
                             .str()
                       : llvm::formatv("!quant.uniform<u8:f32, {0}:{1}>",
                                       scale(), dice.between(90, 150))
                             .str();
}

/// Signed, as weights are: both have one storage type.
Map Drawer::quantized(const Map &map) {
  const std::string element =
      llvm::formatv("!quant.uniform<i8:f32, {0:f4}:{1}>",
                    0.0625 * dice.between(1, 4), dice.between(-90, 90))
          .str();
  return call("uniform_quantize", map, "", map.dims, element, map.isRounded);
}

Map Drawer::dequantized(const Map &map) {
  return map.isQuantized() ? call("uniform_dequantize", map, "", map.dims,
                                  "f32", map.isRounded)
                           : map;
}

std::optional<Drawer::Windows> Drawer::windows(const Map &map) {
  Windows all;
  for (size_t i = 0; i < map.spatial(); ++i) {
    const Dimension &dim = map.dims[2 + i];
    const int64_t size = dice.between(1, 4), stride = dice.oneIn(3) ? 2 : 1,
                  dilation = dice.oneIn(5) ? 2 : 1,
                  low = dice.between(0, size - 1),
                  high = dice.between(0, size - 1),
                  covered = (size - 1) * dilation + 1,
                  left = dim.size + low + high - covered;
    if (left < 0)
      return std::nullopt;
    all.sizes.push_back(size);
    all.strides.push_back(stride);
    all.low.push_back(low);
    all.high.push_back(high);
    all.dilations.push_back(dilation);
    Dimension result{left / stride + 1};
    if (dim.isDynamic())
      result.text = low + high - covered + 1 == 0 && stride == 1
                        ? dim.text
                        : llvm::formatv("({0}+{1})/{2}", dim.text,
                                        low + high - covered, stride)
                              .str();
    all.results.push_back(std::move(result));
  }
  return all;
}

static std::string padText(ArrayRef<int64_t> low, ArrayRef<int64_t> high) {
  std::string text = "[";
  for (size_t i = 0; i < low.size(); ++i)
    text += (i == 0 ? "" : ", ") + listOf({low[i], high[i]});
  return text + "]";
}

std::optional<Map> Drawer::convolution(const Map &given) {
  const bool isQuantized = !given.isRounded && dice.oneIn(2);
  std::optional<Windows> over = windows(given);
  if (!over)
    return std::nullopt;
  static constexpr int64_t features[] = {1, 2, 4, 8, 8, 16, 16, 17, 32};
  int64_t groups = 1, channels = given.channels(),
          outputs = dice.among(features);
  if (dice.oneIn(3)) {
    groups = dice.oneIn(2) || channels % 2 != 0 ? channels : 2;
    outputs = groups * dice.between(1, 2);
  }
  std::vector<int64_t> shape = {outputs, channels / groups};
  llvm::append_range(shape, over->sizes);
  Map input = isQuantized ? quantized(given) : given, kernel = constant(shape);
  if (isQuantized)
    kernel = call("uniform_quantize", kernel, "", kernel.dims,
                  quantizedElement(/*isWeight=*/true, outputs), false);
  const std::string places = given.spatial() == 2 ? "0, 1" : "0";
  const std::string attributes =
      llvm::formatv(
          " dim_numbers = [b, f, {0}]x[o, i, {0}]->[b, f, {0}], window = {{"
          "stride = {1}, pad = {2}, rhs_dilate = {3}} {{batch_group_count = 1 "
          ": i64, feature_group_count = {4} : i64}",
          places, listOf(over->strides), padText(over->low, over->high),
          listOf(over->dilations), groups)
          .str();
  std::vector<Dimension> dims = {given.dims[0], {outputs}};
  llvm::append_range(dims, over->results);
  const std::string element =
      isQuantized ? quantizedElement(/*isWeight=*/false, 0) : "f32";
  Map result = add("stablehlo.convolution(" + input.name + ", " + kernel.name +
                       ")" + attributes + " : (" + typeOf(input) + ", " +
                       typeOf(kernel) + ") -> " + typeOf(dims, element),
                   dims, element, given.isRounded || !isQuantized);
  return dequantized(result);
}

std::optional<Map> Drawer::pool(const Map &map) {
  std::optional<Windows> over = windows(map);
  if (!over)
    return std::nullopt;
  for (std::vector<int64_t> *each :
       {&over->sizes, &over->strides, &over->dilations})
    each->insert(each->begin(), 2, 1);
  for (std::vector<int64_t> *each : {&over->low, &over->high})
    each->insert(each->begin(), 2, 0);
  std::vector<Dimension> dims = {map.dims[0], map.dims[1]};
  llvm::append_range(dims, over->results);
  const bool isSum = dice.oneIn(2);
  const Map first = add(std::string("stablehlo.constant dense<") +
                            (isSum ? "0.0" : "0xFF800000") + "> : tensor<f32>",
                        {}, "f32", false);
  const auto array = [](ArrayRef<int64_t> numbers) {
    return "array<i64: " +
           StringRef(listOf(numbers)).drop_front().drop_back().str() + ">";
  };
  const std::string name = std::to_string(next);
  return add(
      llvm::formatv(
          "\"stablehlo.reduce_window\"({0}, {1}) <{{window_dimensions = {2}, "
          "window_strides = {3}, window_dilations = {4}, padding = dense<{5}> "
          ": tensor<{6}x2xi64>}> ({{\n"
          "    ^bb0(%a{7}: tensor<f32>, %b{7}: tensor<f32>):\n"
          "      %c{7} = stablehlo.{8} %a{7}, %b{7} : tensor<f32>\n"
          "      stablehlo.return %c{7} : tensor<f32>\n"
          "    }) : ({9}, tensor<f32>) -> {10}",
          map.name, first.name, array(over->sizes), array(over->strides),
          array(over->dilations), padText(over->low, over->high),
          map.dims.size(), name, isSum ? "add" : "maximum", typeOf(map),
          typeOf(dims, "f32"))
          .str(),
      dims, "f32", map.isRounded || isSum);
}

/// Channels by a matrix.
std::optional<Map> Drawer::product(const Map &given) {
  static constexpr int64_t features[] = {1, 3, 8, 16, 19, 40};
  const int64_t outputs = dice.among(features);
  const bool isQuantized = !given.isRounded && dice.oneIn(2);
  Map input = isQuantized ? quantized(given) : given,
      matrix = constant({given.channels(), outputs});
  std::string element = "f32";
  if (isQuantized) {
    matrix = call("uniform_quantize", matrix, "", matrix.dims,
                  "!quant.uniform<i8:f32, 0.125>", false);
    element = quantizedElement(/*isWeight=*/false, 0);
  }
  std::vector<Dimension> dims = {given.dims[0]};
  std::vector<int64_t> order = {0};
  dims.insert(dims.end(), given.dims.begin() + 2, given.dims.end());
  order.push_back(static_cast<int64_t>(dims.size()));
  for (int64_t i = 1; i < order[1]; ++i)
    order.push_back(i);
  dims.push_back({outputs});
  Map result = call("dot_general", {input, matrix},
                    " {dot_dimension_numbers = #stablehlo.dot<"
                    "lhs_contracting_dimensions = [1], "
                    "rhs_contracting_dimensions = [0]>}",
                    dims, element, given.isRounded || !isQuantized);
  result = dequantized(result);
  std::vector<Dimension> moved;
  for (int64_t from : order)
    moved.push_back(dims[from]);
  return call("transpose", result,
              " {permutation = array<i64: " +
                  StringRef(listOf(order)).drop_front().drop_back().str() +
                  ">}",
              moved, "f32", result.isRounded);
}

/// Every sample by itself or by another map, over the innermost dimension or
/// the channels.
std::optional<Map> Drawer::selfProduct(const Map &map) {
  if (map.spatial() != 1)
    return std::nullopt;
  const Map *other = &map;
  for (const Map &each : maps)
    if (each.dims == map.dims && dice.oneIn(2))
      other = &each;
  const auto product = [&](const Map &lhs, const Map &rhs, int over,
                           const Dimension &rows, const Dimension &columns) {
    return call("dot_general", {lhs, rhs},
                llvm::formatv(" {{dot_dimension_numbers = #stablehlo.dot<"
                              "lhs_batching_dimensions = [0], "
                              "rhs_batching_dimensions = [0], "
                              "lhs_contracting_dimensions = [{0}], "
                              "rhs_contracting_dimensions = [{0}]>}",
                              over)
                    .str(),
                {map.dims[0], rows, columns}, "f32", true);
  };
  if (dice.oneIn(2))
    return product(map, *other, 2, map.dims[1], map.dims[1]);
  // As attention does: places by places, and by channels.
  const Map scores = product(map, *other, 1, map.dims[2], map.dims[2]);
  return product(map, scores, 2, map.dims[1], map.dims[2]);
}

std::optional<Map> Drawer::joined(const Map &map) {
  std::vector<Map> others;
  for (const Map &each : maps)
    if (each.dims.size() == map.dims.size() && each.dims[0] == map.dims[0] &&
        std::equal(each.dims.begin() + 2, each.dims.end(),
                   map.dims.begin() + 2))
      others.push_back(each);
  if (others.empty())
    return std::nullopt;
  const Map other = dice.among(others);
  const bool isRounded = map.isRounded || other.isRounded;
  if (other.dims == map.dims && dice.oneIn(2)) {
    static constexpr const char *ops[] = {"add", "multiply", "maximum"};
    const bool isExact = dice.oneIn(2);
    return call(isExact ? "maximum" : dice.among(ops), {map, other}, "",
                map.dims, "f32", isRounded);
  }
  if (map.channels() + other.channels() > 64)
    return std::nullopt;
  std::vector<Dimension> dims = map.dims;
  dims[1].size += other.channels();
  return call("concatenate", {map, other}, " {dimension = 1 : i64}", dims,
              "f32", isRounded);
}

std::optional<Map> Drawer::padded(const Map &map) {
  std::vector<int64_t> low(2, 0), high(2, 0);
  std::vector<Dimension> dims = {map.dims[0], map.dims[1]};
  for (size_t i = 2; i < map.dims.size(); ++i) {
    low.push_back(dice.between(-1, 2));
    high.push_back(dice.between(0, 2));
    Dimension dim = map.dims[i];
    dim.size += low.back() + high.back();
    if (dim.size < 1)
      return std::nullopt;
    if (dim.isDynamic() && low.back() + high.back() != 0)
      dim.text = llvm::formatv("({0}+{1})", dim.text, low.back() + high.back());
    dims.push_back(std::move(dim));
  }
  const Map value =
      add("stablehlo.constant dense<0.5> : tensor<f32>", {}, "f32", false);
  const auto array = [](ArrayRef<int64_t> numbers) {
    return "array<i64: " +
           StringRef(listOf(numbers)).drop_front().drop_back().str() + ">";
  };
  return call("pad", {map, value},
              " {edge_padding_low = " + array(low) + ", edge_padding_high = " +
                  array(high) + ", interior_padding = " +
                  array(std::vector<int64_t>(low.size(), 0)) + "}",
              dims, "f32", map.isRounded);
}

std::optional<Map> Drawer::elementwise(const Map &map) {
  if (dice.oneIn(3))
    return call(dice.oneIn(2) ? "tanh" : "logistic", map, "", map.dims, "f32",
                true);
  const Map least = add("stablehlo.constant dense<0.0> : tensor<f32>", {},
                        "f32", false),
            greatest = add("stablehlo.constant dense<6.0> : tensor<f32>", {},
                           "f32", false);
  return call("clamp", {least, map, greatest}, "", map.dims, "f32",
              map.isRounded);
}

/// Height and width in turn, or from behind.
std::optional<Map> Drawer::moved(const Map &map) {
  if (map.spatial() == 2 && dice.oneIn(2)) {
    std::vector<Dimension> dims = map.dims;
    std::swap(dims[2], dims[3]);
    return call("transpose", map, " {permutation = array<i64: 0, 1, 3, 2>}",
                dims, "f32", map.isRounded);
  }
  return call(
      "reverse", map,
      " {dimensions = array<i64: " + std::to_string(map.dims.size() - 1) + ">}",
      map.dims, "f32", map.isRounded);
}

/// The innermost dimension away, where another spatial one is left.
std::optional<Map> Drawer::reduced(const Map &map) {
  if (map.spatial() != 2)
    return std::nullopt;
  const bool isSum = dice.oneIn(2);
  const Map first = add(std::string("stablehlo.constant dense<") +
                            (isSum ? "0.0" : "0xFF800000") + "> : tensor<f32>",
                        {}, "f32", false);
  std::vector<Dimension> dims = map.dims;
  const size_t gone = dice.oneIn(2) ? 3 : 2;
  dims.erase(dims.begin() + gone);
  return add(llvm::formatv("stablehlo.reduce({0} init: {1}) applies "
                           "stablehlo.{2} across dimensions = [{3}] : ({4}, "
                           "tensor<f32>) -> {5}",
                           map.name, first.name, isSum ? "add" : "maximum",
                           gone, typeOf(map), typeOf(dims, "f32"))
                 .str(),
             dims, "f32", map.isRounded || isSum);
}

Map Drawer::layer(const Map &map) {
  using Draw = std::optional<Map> (Drawer::*)(const Map &);
  static constexpr Draw draws[] = {
      &Drawer::convolution, &Drawer::convolution, &Drawer::convolution,
      &Drawer::pool,        &Drawer::product,     &Drawer::selfProduct,
      &Drawer::joined,      &Drawer::joined,      &Drawer::padded,
      &Drawer::elementwise, &Drawer::moved,       &Drawer::reduced};
  constexpr int mostAttempts = 20;
  for (int i = 0; i < mostAttempts; ++i)
    if (std::optional<Map> made = (this->*dice.among(draws))(map))
      return *made;
  return *elementwise(map);
}

RandomNetwork Drawer::draw() {
  const int inputs = dice.oneIn(2) ? 2 : 1;
  for (int i = 0; i < inputs; ++i) {
    arguments.push_back(argument(i));
    signature +=
        (i == 0 ? "" : ", ") + arguments[i].name + ": " + typeOf(arguments[i]);
  }
  maps = arguments;
  for (int i = 0; i < options.layers; ++i) {
    // Mostly the last one, so that there are chains.
    const Map of = dice.oneIn(4) ? dice.among(maps) : maps.back();
    maps.push_back(layer(of));
  }
  const Map last = maps.back(), &other = maps[maps.size() - 2];
  const std::string text = llvm::formatv(
      "module {{\n  func.func @main({0}) -> ({1}, {2}) {{\n{3}    return {4}, "
      "{5} : {1}, {2}\n  }\n}\n",
      signature, typeOf(last), typeOf(other), body, last.name, other.name);
  auto context = makeContext();
  RandomNetwork network{
      Model(context, parseSourceString<ModuleOp>(text, context.get())), {}};
  assert(network.model.module() && "a layer is not well-typed");
  static constexpr int64_t pool[] = {0,  1,  1,  2,  3,  4,  5,  7,  8,  9,
                                     15, 16, 17, 23, 31, 32, 33, 47, 64, 65};
  for (int i = 0; i < options.sizes; ++i) {
    std::map<std::string, int64_t> sizes;
    for (const char *name : {"N", "H", "W"})
      sizes[name] = *name == 'N' ? dice.between(0, 4) : dice.among(pool);
    std::vector<Shape> &shapes = network.sizes.emplace_back();
    for (const Map &each : arguments) {
      Shape shape;
      const bool isOdd = i > 0 && &each != &arguments[0] && dice.oneIn(10);
      for (const Dimension &dim : each.dims)
        shape.push_back(!dim.isDynamic() || i == 0 ? dim.size
                        : isOdd && dice.oneIn(2)   ? dice.among(pool)
                                                   : sizes[dim.text]);
      shapes.push_back(std::move(shape));
    }
  }
  return network;
}

} // namespace

RandomNetwork randomNetwork(uint64_t seed,
                            const RandomNetworkOptions &options) {
  return Drawer(seed, options).draw();
}

} // namespace sinter
