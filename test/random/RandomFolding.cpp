#include "random/RandomFolding.h"

#include "random/Dice.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace sinter {
namespace {

/// A size that is not known.
constexpr int64_t open = -1;

using Dims = SmallVector<int64_t>;

/// A value of the program.
struct DrawnValue {
  std::string name;
  Dims shape;
  std::string element;
  /// The dimension of the channels.
  int64_t channel = 0;

  int64_t rank() const { return shape.size(); }
  int64_t channels() const { return shape[channel]; }
  bool isDynamic() const { return is_contained(shape, open); }
};

std::string join(ArrayRef<int64_t> numbers, StringRef between = ", ") {
  std::string text;
  for (auto [i, number] : enumerate(numbers))
    text += (i ? between.str() : "") + std::to_string(number);
  return text;
}

std::string typeOf(ArrayRef<int64_t> shape, StringRef element) {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += (size == open ? "?" : std::to_string(size)) + "x";
  return text + element.str() + ">";
}
std::string typeOf(const DrawnValue &value) {
  return typeOf(value.shape, value.element);
}

class Drawing {
public:
  explicit Drawing(uint64_t seed) : dice(seed) {}
  RandomFolding draw();

private:
  //===--- Text -----------------------------------------------------------===//

  std::string fresh() { return "%v" + std::to_string(next++); }
  template <typename... Args> void line(const char *format, Args &&...args) {
    body += "  " + formatv(format, std::forward<Args>(args)...).str() + "\n";
  }
  /// A constant of numbers in [low, high).
  std::string constant(ArrayRef<int64_t> shape, StringRef element,
                       double low = -1, double high = 1);
  std::string number(double value, StringRef element);
  /// The sizes of \p value as a vector.
  std::string sizesOf(const DrawnValue &value);
  std::string sizeOf(const DrawnValue &value, int64_t dimension);
  std::string joined(ArrayRef<std::string> sizes);
  /// \p constant along the channels of \p like, or everywhere.
  std::string repeated(const std::string &constant, const DrawnValue &like,
                       bool isScalar);
  void result(DrawnValue &value, std::string text);

  //===--- Operations -----------------------------------------------------===//

  DrawnValue convolution(DrawnValue x);
  DrawnValue dot(DrawnValue x);
  void arithmetic(DrawnValue &value);
  void norm(DrawnValue &value);
  void transpose(DrawnValue &value);
  void reshape(DrawnValue &value);
  void slice(DrawnValue &value);
  void pad(DrawnValue &value);
  void reverse(DrawnValue &value);
  void convert(DrawnValue &value);
  void rectify(DrawnValue &value);
  void step(DrawnValue &value);
  void chain(DrawnValue &value);

  Dice dice;
  std::string body;
  unsigned next = 0;
  std::vector<DrawnValue> results;
  std::string leastPrecise;
};

} // namespace

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

std::string Drawing::constant(ArrayRef<int64_t> shape, StringRef element,
                              double low, double high) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  std::vector<double> numbers;
  for (int64_t i = 0; i < count; ++i)
    numbers.push_back(low + (high - low) * dice.between(0, 999) / 1000);
  // Brackets around the slices of each dimension.
  std::string text;
  for (int64_t i = 0; i < count; ++i) {
    int64_t slice = 1;
    std::string opening, closing;
    for (int64_t size : llvm::reverse(shape)) {
      slice *= size;
      opening += i % slice == 0 ? "[" : "";
      closing += (i + 1) % slice == 0 ? "]" : "";
    }
    text += (i ? ", " : "") + opening + formatv("{0:e6}", numbers[i]).str() +
            closing;
  }
  std::string name = fresh();
  line("{0} = stablehlo.constant dense<{1}> : {2}", name, text,
       typeOf(shape, element));
  return name;
}

std::string Drawing::number(double value, StringRef element) {
  std::string name = fresh();
  line("{0} = stablehlo.constant dense<{1:e6}> : tensor<{2}>", name, value,
       element);
  return name;
}

std::string Drawing::sizeOf(const DrawnValue &value, int64_t dimension) {
  std::string size = fresh();
  if (value.shape[dimension] != open) {
    line("{0} = stablehlo.constant dense<{1}> : tensor<1xi32>", size,
         value.shape[dimension]);
    return size;
  }
  std::string scalar = fresh();
  line("{0} = stablehlo.get_dimension_size {1}, dim = {2} : ({3}) -> "
       "tensor<i32>",
       scalar, value.name, dimension, typeOf(value));
  line("{0} = stablehlo.reshape {1} : (tensor<i32>) -> tensor<1xi32>", size,
       scalar);
  return size;
}

std::string Drawing::joined(ArrayRef<std::string> sizes) {
  std::string name = fresh(), operands, types;
  for (auto [i, size] : enumerate(sizes)) {
    operands += (i ? ", " : "") + size;
    types += std::string(i ? ", " : "") + "tensor<1xi32>";
  }
  line("{0} = stablehlo.concatenate {1}, dim = 0 : ({2}) -> tensor<{3}xi32>",
       name, operands, types, sizes.size());
  return name;
}

std::string Drawing::sizesOf(const DrawnValue &value) {
  std::vector<std::string> sizes;
  for (int64_t i = 0; i < value.rank(); ++i)
    sizes.push_back(sizeOf(value, i));
  return joined(sizes);
}

std::string Drawing::repeated(const std::string &constant,
                              const DrawnValue &like, bool isScalar) {
  Dims own;
  if (!isScalar)
    own.push_back(like.channels());
  const std::string dims = isScalar ? "" : std::to_string(like.channel);
  std::string wide = fresh();
  if (!like.isDynamic()) {
    line("{0} = stablehlo.broadcast_in_dim {1}, dims = [{2}] : ({3}) -> {4}",
         wide, constant, dims, typeOf(own, like.element), typeOf(like));
  } else if (dice.oneIn(2)) {
    const std::string sizes = sizesOf(like);
    line("{0} = stablehlo.dynamic_broadcast_in_dim {1}, {2}, dims = [{3}] : "
         "({4}, tensor<{5}xi32>) -> {6}",
         wide, constant, sizes, dims, typeOf(own, like.element), like.rank(),
         typeOf(like));
  } else {
    std::string narrow = constant;
    if (!isScalar && like.channel + 1 < like.rank()) {
      Dims shape = {like.channels()};
      shape.append(like.rank() - like.channel - 1, 1);
      narrow = fresh();
      line("{0} = stablehlo.reshape {1} : ({2}) -> {3}", narrow, constant,
           typeOf(own, like.element), typeOf(shape, like.element));
      own = shape;
    }
    line("{0} = nn.broadcast_like {1}, {2} : ({3}, {4}) -> {4}", wide, narrow,
         like.name, typeOf(own, like.element), typeOf(like));
  }
  return wide;
}

/// \p value becomes the result of the operation \p text.
void Drawing::result(DrawnValue &value, std::string text) {
  value.name = fresh();
  line("{0} = {1}", value.name, text);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// [batch, features, spatial...] in a random order of dimensions.
DrawnValue Drawing::convolution(DrawnValue x) {
  const int64_t spatial = x.rank() - 2;
  SmallVector<int64_t> others;
  for (int64_t i = 0; i < x.rank(); ++i)
    if (i != x.channel)
      others.push_back(i);
  const int64_t batch = others.front();
  const bool isTransposed = dice.oneIn(4);
  const bool pads = dice.oneIn(2);
  SmallVector<int64_t> groupings = {1};
  for (int64_t each : {2, 3, 4})
    if (x.channels() % each == 0)
      groupings.push_back(each);
  const int64_t groups = dice.oneIn(2) ? 1 : dice.among(groupings);
  const int64_t features = groups * dice.between(1, 3);

  // The kernel is [o, i, spatial...] in a random order.
  Dims kernelOrder, kernelShape(x.rank());
  for (int64_t i = 0; i < x.rank(); ++i)
    kernelOrder.push_back(i);
  std::swap(kernelOrder[0], dice.among(kernelOrder));
  kernelShape[kernelOrder[0]] = features;
  kernelShape[kernelOrder[1]] = x.channels() / groups;

  DrawnValue y = x;
  y.shape[x.channel] = features;
  Dims strides, dilations, bases;
  std::string padding, reversed;
  for (int64_t i = 0; i < spatial; ++i) {
    const int64_t place = others[i + 1];
    const int64_t size = dice.between(1, 3);
    const int64_t dilation = dice.oneIn(3) ? 2 : 1;
    const int64_t base = isTransposed ? 2 : 1;
    const int64_t stride = !isTransposed && dice.oneIn(3) ? 2 : 1;
    const int64_t low = pads ? dice.between(0, 2) : 0,
                  high = pads ? dice.between(0, 2) : 0;
    kernelShape[kernelOrder[i + 2]] = size;
    strides.push_back(stride);
    dilations.push_back(dilation);
    bases.push_back(base);
    padding += formatv("{0}[{1}, {2}]", i ? ", " : "", low, high).str();
    reversed += std::string(i ? ", " : "") + (dice.oneIn(3) ? "true" : "false");
    if (x.shape[place] != open)
      y.shape[place] = ((x.shape[place] - 1) * base + 1 + low + high -
                        ((size - 1) * dilation + 1)) /
                           stride +
                       1;
  }
  auto order = [&](auto letterOf) {
    std::string text = "[";
    for (int64_t i = 0; i < x.rank(); ++i)
      text += (i ? ", " : "") + letterOf(i);
    return text + "]";
  };
  auto ofInput = [&](int64_t i) -> std::string {
    return i == x.channel ? "f"
           : i == batch   ? "b"
                        : std::to_string(find(others, i) - others.begin() - 1);
  };
  auto ofKernel = [&](int64_t i) -> std::string {
    const int64_t place = find(kernelOrder, i) - kernelOrder.begin();
    return place == 0 ? "o" : place == 1 ? "i" : std::to_string(place - 2);
  };
  const std::string kernel = constant(kernelShape, x.element);
  result(y,
         formatv("stablehlo.convolution({0}, {1}) dim_numbers = "
                 "{2}x{3}->{2}, window = {{stride = [{4}], pad = [{5}], "
                 "lhs_dilate = [{6}], rhs_dilate = [{7}], reverse = [{8}]} "
                 "{{batch_group_count = 1 : i64, feature_group_count = {9} "
                 ": i64} : ({10}, {11}) -> {12}",
                 x.name, kernel, order(ofInput), order(ofKernel), join(strides),
                 padding, join(bases), join(dilations), reversed, groups,
                 typeOf(x), typeOf(kernelShape, x.element), typeOf(y))
             .str());
  return y;
}

/// Contracts the channels; the new ones stand last or first, as the weight
/// stands right or left.
DrawnValue Drawing::dot(DrawnValue x) {
  const int64_t features = dice.between(2, 5);
  const bool isLeft = dice.oneIn(3), isTurned = dice.oneIn(2);
  const Dims weightShape =
      isTurned ? Dims{features, x.channels()} : Dims{x.channels(), features};
  const std::string weight = constant(weightShape, x.element);
  DrawnValue y = x;
  y.shape.erase(y.shape.begin() + x.channel);
  y.channel = isLeft ? 0 : y.rank();
  y.shape.insert(y.shape.begin() + y.channel, features);
  const int64_t inner = isTurned ? 1 : 0;
  if (isLeft)
    result(y, formatv("stablehlo.dot_general {0}, {1}, contracting_dims = "
                      "[{2}] x [{3}] : ({4}, {5}) -> {6}",
                      weight, x.name, inner, x.channel,
                      typeOf(weightShape, x.element), typeOf(x), typeOf(y))
                  .str());
  else
    result(y, formatv("stablehlo.dot_general {0}, {1}, contracting_dims = "
                      "[{2}] x [{3}] : ({4}, {5}) -> {6}",
                      x.name, weight, x.channel, inner, typeOf(x),
                      typeOf(weightShape, x.element), typeOf(y))
                  .str());
  return y;
}

//===----------------------------------------------------------------------===//
// Chains
//===----------------------------------------------------------------------===//

void Drawing::arithmetic(DrawnValue &value) {
  static constexpr StringRef names[] = {"add", "subtract", "multiply",
                                        "divide"};
  const StringRef name = dice.among(names);
  const bool isScalar = dice.oneIn(4);
  const Dims shape = isScalar ? Dims{} : Dims{value.channels()};
  const bool isDivisor = name == "divide";
  const std::string wide =
      repeated(isScalar ? number(dice.between(5, 15) / 10.0, value.element)
                        : constant(shape, value.element,
                                   isDivisor || dice.oneIn(2) ? 0.5 : -1, 1.5),
               value, isScalar);
  const bool isFirst = isDivisor || dice.oneIn(2);
  result(value, formatv("stablehlo.{0} {1}, {2} : {3}", name,
                        isFirst ? value.name : wide,
                        isFirst ? wide : value.name, typeOf(value))
                    .str());
}

void Drawing::norm(DrawnValue &value) {
  const Dims shape = {value.channels()};
  std::string operands = value.name, types = typeOf(value);
  for (int i = 0; i < 4; ++i) {
    operands += ", " + constant(shape, value.element, i == 3 ? 0.5 : -1, 1.5);
    types += ", " + typeOf(shape, value.element);
  }
  result(value, formatv("\"stablehlo.batch_norm_inference\"({0}) {{epsilon = "
                        "0.01 : f32, feature_index = {1} : i64} : ({2}) -> {3}",
                        operands, value.channel, types, typeOf(value))
                    .str());
}

void Drawing::transpose(DrawnValue &value) {
  Dims order;
  for (int64_t i = 0; i < value.rank(); ++i)
    order.push_back(i);
  for (int64_t &each : order)
    std::swap(each, dice.among(order));
  DrawnValue before = value;
  for (auto [i, from] : enumerate(order))
    value.shape[i] = before.shape[from];
  value.channel = find(order, before.channel) - order.begin();
  result(value, formatv("stablehlo.transpose {0}, dims = [{1}] : ({2}) -> {3}",
                        before.name, join(order), typeOf(before), typeOf(value))
                    .str());
}

/// A dimension of size 1 more, or two neighbours (without the channels) as one.
void Drawing::reshape(DrawnValue &value) {
  DrawnValue before = value;
  std::vector<std::string> sizes;
  int64_t merged = -1;
  for (int64_t i = 0; i + 1 < value.rank() && value.rank() > 2; ++i)
    if (i != value.channel && i + 1 != value.channel && dice.oneIn(2))
      merged = i;
  if (merged < 0 && value.rank() > 4)
    return;
  const int64_t added = dice.between(0, value.rank());
  for (int64_t i = 0; i <= before.rank(); ++i) {
    if (merged < 0 && i == added)
      sizes.push_back("");
    if (i == before.rank())
      break;
    sizes.push_back(before.isDynamic() ? sizeOf(before, i) : "");
    if (i != merged)
      continue;
    ++i;
    if (!before.isDynamic())
      continue;
    const std::string other = sizeOf(before, i), both = fresh();
    line("{0} = stablehlo.multiply {1}, {2} : tensor<1xi32>", both,
         sizes.back(), other);
    sizes.back() = both;
  }
  if (merged >= 0) {
    int64_t &size = value.shape[merged];
    size = size == open || value.shape[merged + 1] == open
               ? open
               : size * value.shape[merged + 1];
    value.shape.erase(value.shape.begin() + merged + 1);
    value.channel -= value.channel > merged;
  } else {
    value.shape.insert(value.shape.begin() + added, 1);
    value.channel += added <= value.channel;
  }
  if (!before.isDynamic())
    return result(value, formatv("stablehlo.reshape {0} : ({1}) -> {2}",
                                 before.name, typeOf(before), typeOf(value))
                             .str());
  for (auto [i, size] : enumerate(sizes))
    if (size.empty()) {
      size = fresh();
      line("{0} = stablehlo.constant dense<1> : tensor<1xi32>", size);
    }
  const std::string shape = joined(sizes);
  result(value, formatv("stablehlo.dynamic_reshape {0}, {1} : ({2}, "
                        "tensor<{3}xi32>) -> {4}",
                        before.name, shape, typeOf(before), value.rank(),
                        typeOf(value))
                    .str());
}

/// Along a dimension whose size is known, perhaps the channels.
void Drawing::slice(DrawnValue &value) {
  SmallVector<int64_t> known;
  for (auto [i, size] : enumerate(value.shape))
    if (size > 1)
      known.push_back(i);
  if (known.empty() || value.isDynamic())
    return;
  const int64_t dimension = dice.among(known);
  std::string ranges;
  DrawnValue before = value;
  for (auto [i, size] : enumerate(before.shape)) {
    const bool isCut = static_cast<int64_t>(i) == dimension;
    const int64_t start = isCut ? dice.between(0, 1) : 0;
    value.shape[i] = size - start;
    ranges += formatv("{0}{1}:{2}", i ? ", " : "", start, size).str();
  }
  result(value, formatv("stablehlo.slice {0} [{1}] : ({2}) -> {3}", before.name,
                        ranges, typeOf(before), typeOf(value))
                    .str());
}

void Drawing::pad(DrawnValue &value) {
  const std::string zero = number(dice.oneIn(4) ? 1 : 0, value.element);
  DrawnValue before = value;
  Dims low(value.rank(), 0), high(low), inside(low);
  const int64_t dimension = dice.between(0, value.rank() - 1);
  low[dimension] = dice.between(0, 1);
  high[dimension] = 1;
  if (value.shape[dimension] != open)
    value.shape[dimension] += low[dimension] + 1;
  result(value, formatv("stablehlo.pad {0}, {1}, low = [{2}], high = [{3}], "
                        "interior = [{4}] : ({5}, tensor<{6}>) -> {7}",
                        before.name, zero, join(low), join(high), join(inside),
                        typeOf(before), value.element, typeOf(value))
                    .str());
}

void Drawing::reverse(DrawnValue &value) {
  result(value, formatv("stablehlo.reverse {0}, dims = [{1}] : {2}", value.name,
                        dice.between(0, value.rank() - 1), typeOf(value))
                    .str());
}

void Drawing::convert(DrawnValue &value) {
  static constexpr StringRef elements[] = {"f32", "f64"};
  DrawnValue before = value;
  value.element = dice.among(elements).str();
  if (value.element == before.element)
    return;
  if (value.element == "f32" && leastPrecise == "f64")
    leastPrecise = value.element;
  result(value, formatv("stablehlo.convert {0} : ({1}) -> {2}", before.name,
                        typeOf(before), typeOf(value))
                    .str());
}

void Drawing::rectify(DrawnValue &value) {
  result(value, formatv("nn.relu {0} : {1}", value.name, typeOf(value)).str());
}

void Drawing::step(DrawnValue &value) {
  using Step = void (Drawing::*)(DrawnValue &);
  static constexpr Step steps[] = {
      &Drawing::arithmetic, &Drawing::arithmetic, &Drawing::arithmetic,
      &Drawing::norm,       &Drawing::norm,       &Drawing::transpose,
      &Drawing::reshape,    &Drawing::slice,      &Drawing::pad,
      &Drawing::reverse,    &Drawing::convert,    &Drawing::rectify};
  (this->*dice.among(steps))(value);
}

void Drawing::chain(DrawnValue &value) {
  for (int64_t i = dice.between(0, 6); i > 0; --i)
    step(value);
  if (dice.oneIn(6))
    results.push_back(value);
}

RandomFolding Drawing::draw() {
  static constexpr StringRef elements[] = {"f32", "f32", "f64", "f16", "bf16"};
  RandomFolding drawn;
  leastPrecise = dice.among(elements).str();
  DrawnValue x{"%x", {}, leastPrecise, 0};
  const int64_t rank = dice.between(2, 4);
  x.channel = dice.between(0, rank - 1);
  const bool hasDynamic = !dice.oneIn(4);
  Shape some, others;
  for (int64_t i = 0; i < rank; ++i) {
    const bool isChannels = i == x.channel;
    const int64_t size = isChannels ? dice.between(2, 6) : dice.between(5, 7);
    const bool isDynamic = hasDynamic && !isChannels && dice.oneIn(2);
    x.shape.push_back(isDynamic ? open : size);
    some.push_back(size);
    others.push_back(isDynamic ? dice.between(5, 9) : size);
  }
  drawn.shapes = {some, others};

  DrawnValue value = x;
  chain(value);
  bool hasWindow = false;
  for (int64_t products = dice.between(1, 2); products > 0; --products) {
    // A window of up to 5 places fits where sizes are what they were, or
    // larger.
    bool fits = value.rank() > 2 && !hasWindow;
    for (auto [i, size] : enumerate(value.shape))
      fits &=
          static_cast<int64_t>(i) == value.channel || size == open || size >= 5;
    const bool isWindow = fits && !dice.oneIn(3);
    hasWindow |= isWindow;
    value = isWindow ? convolution(value) : dot(value);
    chain(value);
  }
  results.push_back(value);

  drawn.element = leastPrecise;
  std::string names, types;
  for (auto [i, each] : enumerate(results)) {
    names += (i ? ", " : "") + each.name;
    types += (i ? ", " : "") + typeOf(each);
  }
  drawn.text =
      formatv("func.func @main(%x: {0}) -> ({1}) {{\n{2}  return {3} : "
              "{1}\n}\n",
              typeOf(x), types, body, names)
          .str();
  return drawn;
}

RandomFolding randomFolding(uint64_t seed) { return Drawing(seed).draw(); }

} // namespace sinter
