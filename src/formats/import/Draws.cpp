#include "formats/import/Draws.h"

#include <cmath>

using namespace mlir;

namespace sinter::formats {

/// Random tensors are constants of the model, so their size is bounded.
static constexpr int64_t mostDrawn = int64_t(1) << 27;

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

Draws::Draws(GraphBuilder &builder, std::optional<int64_t> seed)
    : generator(0) {
  auto name = dyn_cast<NameLoc>(builder.location());
  generator.seed(seed ? static_cast<uint32_t>(*seed)
                      : seedFrom(name ? name.getName().getValue() : ""));
}

/// A tensor whose elements come from \p draw, in row-major order.
static std::optional<Tensor> drawn(GraphBuilder &builder,
                                   ArrayRef<int64_t> shape,
                                   function_ref<double()> draw) {
  int64_t count = 1;
  for (int64_t size : shape) {
    if (ShapedType::isDynamic(size))
      return builder.unknown("the size of a random tensor is unknown");
    if (size < 0)
      return builder.fail("a size is negative");
    if (__builtin_mul_overflow(count, size, &count) || count > mostDrawn)
      return builder.unsupported("a random tensor of more than " +
                                 Twine(mostDrawn) + " elements");
  }
  Tensor tensor(ElementType::F64, Shape(shape.begin(), shape.end()));
  for (int64_t i = 0; i < count; ++i)
    tensor.set<double>(i, draw());
  return tensor;
}

std::optional<Tensor> Draws::uniformTensor(GraphBuilder &builder,
                                           ArrayRef<int64_t> shape) {
  return drawn(builder, shape, [&] { return uniform(); });
}

std::optional<Tensor> Draws::normalTensor(GraphBuilder &builder,
                                          ArrayRef<int64_t> shape) {
  return drawn(builder, shape, [&] { return normal(); });
}

Value spreadDraws(GraphBuilder &builder, std::optional<Tensor> draws,
                  double shift, double scale, Type element) {
  if (!draws || !element)
    return {};
  if (!isa<FloatType>(element))
    return builder.fail("random numbers of a type that is not floating-point");
  for (int64_t i = 0; i < draws->size(); ++i)
    draws->set<double>(i, shift + scale * draws->toDouble(i));
  return builder.cast(builder.constant(*draws), element);
}

} // namespace sinter::formats
