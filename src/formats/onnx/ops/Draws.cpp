#include "formats/onnx/ops/Draws.h"

#include <cmath>

using namespace mlir;

namespace sinter::onnx {

/// Random tensors are constants of the model, so their size is bounded.
static constexpr int64_t mostElements = int64_t(1) << 27;

double Draws::uniform() {
  const uint32_t high = generator() >> 5, low = generator() >> 6;
  return (high * 0x1p26 + low) * 0x1p-53;
}

double Draws::normal() {
  if (spare) {
    const double value = *spare;
    spare.reset();
    return value;
  }
  double x, y, square;
  do {
    x = 2 * uniform() - 1;
    y = 2 * uniform() - 1;
    square = x * x + y * y;
  } while (square >= 1 || square == 0);
  const double factor = std::sqrt(-2 * std::log(square) / square);
  spare = factor * x;
  return factor * y;
}

/// FNV-1a of a name.
static uint32_t seedFrom(StringRef name) {
  uint32_t hash = 2166136261u;
  for (unsigned char each : name)
    hash = (hash ^ each) * 16777619u;
  return hash;
}

Draws drawsOf(NodeContext &node) {
  node.noteDraw();
  // Dropout's seed is an integer, all others' are floating-point numbers.
  if (const AttributeProto *seed = node.attribute("seed")) {
    const bool isInteger = seed->type() == AttributeProto::INT;
    const double number = isInteger
                              ? static_cast<double>(node.getInt("seed", 0))
                              : node.getFloat("seed", 0);
    if (std::abs(number) < 0x1p53)
      return Draws(static_cast<uint32_t>(static_cast<int64_t>(number)));
  }
  auto name = dyn_cast<NameLoc>(node.location());
  return Draws(seedFrom(name ? name.getName().getValue() : ""));
}

template <typename Draw>
static std::optional<Tensor> drawn(NodeContext &node, ArrayRef<int64_t> shape,
                                   Draw draw) {
  int64_t count = 1;
  for (int64_t size : shape) {
    if (ShapedType::isDynamic(size))
      return node.unknown("the size of a random tensor is unknown");
    if (size < 0)
      return node.fail("a size is negative");
    if (__builtin_mul_overflow(count, size, &count) || count > mostElements)
      return node.unsupported("a random tensor of more than " +
                              Twine(mostElements) + " elements");
  }
  Draws draws = drawsOf(node);
  Tensor tensor(ElementType::F64, Shape(shape.begin(), shape.end()));
  for (int64_t i = 0; i < count; ++i)
    tensor.set<double>(i, draw(draws));
  return tensor;
}

std::optional<Tensor> uniformDraws(NodeContext &node, ArrayRef<int64_t> shape) {
  return drawn(node, shape, [](Draws &draws) { return draws.uniform(); });
}

std::optional<Tensor> normalDraws(NodeContext &node, ArrayRef<int64_t> shape) {
  return drawn(node, shape, [](Draws &draws) { return draws.normal(); });
}

} // namespace sinter::onnx
