//===- WinogradWeights.cpp - transformed weights, packed and read ---------===//
//
// As they lie: [element of the tile][panel of outputs][step over inputs][output
// of the panel][input of the step]; behind all, where images have a zero point,
// what each output starts from for one of 1.
//
//===----------------------------------------------------------------------===//

#include "backend/cpu/kernels/Winograd.h"

#include "backend/cpu/kernels/ZeroPoint.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <array>
#include <cstring>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

int64_t Winograd::vectorWeights() const {
  const Arithmetic &products = arithmetic.products;
  return lanes * products.kGroup * products.rhsBytes() /
         arithmetic.given.rhsBytes();
}

int64_t Winograd::weightPlane() const {
  return outputBlocks * arithmetic.products.steps(shape.inputChannels) *
         vectorWeights();
}

int64_t Winograd::initialSumsAt() const {
  return llvm::alignTo(elements * weightPlane() * arithmetic.given.rhsBytes(),
                       64);
}

int64_t Winograd::packedElements() const {
  if (!shape.countsDistances())
    return elements * weightPlane();
  return (initialSumsAt() +
          outputBlocks * lanes * arithmetic.given.sumBytes()) /
         arithmetic.given.rhsBytes();
}

namespace {
/// The nine taps of weights between two channels.
std::array<double, 9> tapsAt(const std::byte *weights, int64_t row,
                             ElementType type) {
  std::array<double, 9> taps;
  for (size_t i = 0; i < 9; ++i) {
    auto read = [&]<typename T>(T value) {
      std::memcpy(&value, weights + (row * 9 + int64_t(i)) * sizeof(T),
                  sizeof(T));
      taps[i] = double(value);
    };
    if (type == ElementType::F32)
      read(float());
    else if (type == ElementType::I8)
      read(int8_t());
    else
      read(uint8_t());
  }
  return taps;
}
} // namespace

/// What a zero point of 1 would add to each output, taken off.
void Winograd::packInitialSums(const std::byte *weights, int32_t *to) const {
  for (int64_t k = 0; k < outputBlocks * lanes; ++k) {
    double sum = 0;
    for (int64_t c = 0; k < shape.outputChannels && c < shape.inputChannels;
         ++c)
      for (double tap :
           tapsAt(weights, k * shape.inputChannels + c, arithmetic.given.rhs))
        sum += tap;
    to[k] = static_cast<int32_t>(-sum);
  }
}

void Winograd::pack(const void *weights, void *packed) const {
  const auto *from = static_cast<const std::byte *>(weights);
  auto *bytes = static_cast<std::byte *>(packed);
  const Arithmetic &products = arithmetic.products;
  const int64_t group = products.kGroup, width = panelVectors * lanes;
  const int64_t steps = products.steps(shape.inputChannels);
  // Of one element, in elements as they are multiplied.
  const int64_t plane = outputBlocks * lanes * steps * group;
  for (int64_t k = 0; k < outputBlocks * lanes; ++k)
    for (int64_t c = 0; c < steps * group; ++c) {
      std::array<double, 9> taps = {};
      if (k < shape.outputChannels && c < shape.inputChannels)
        taps = tapsAt(from, k * shape.inputChannels + c, arithmetic.given.rhs);
      const auto transformed = arithmetic.transformWeights(taps);
      // Where (c, k) is in the plane of an element.
      const int64_t first = k / width * width;
      const int64_t filled = std::min(width, outputBlocks * lanes - first);
      const int64_t at =
          (first * steps + c / group * filled + (k - first)) * group +
          c % group;
      for (int64_t i = 0; i < elements; ++i) {
        const double number =
            transformed[size_t(i / inputTile)][size_t(i % inputTile)];
        auto write = [&]<typename T>(T value) {
          std::memcpy(bytes + (i * plane + at) * int64_t(sizeof(T)), &value,
                      sizeof(T));
        };
        if (arithmetic.isOfFloats())
          write(static_cast<float>(number));
        else
          write(static_cast<int16_t>(number));
      }
    }
  if (!shape.countsDistances())
    return;
  const int64_t end = elements * weightPlane() * arithmetic.given.rhsBytes();
  std::memset(bytes + end, 0, size_t(initialSumsAt() - end));
  packInitialSums(from, reinterpret_cast<int32_t *>(bytes + initialSumsAt()));
}
Value Winograd::loadWeights(VectorBuilder &code, const Work &work,
                            Value offset) const {
  MLIRContext *context = code.builder.getContext();
  auto stored = VectorType::get({vectorWeights()},
                                storedType(arithmetic.given.rhs, context));
  return code.bitsAs(code.load(work.buffers.weights, offset, stored),
                     arithmetic.products.rhsType(context, lanes));
}

Value Winograd::initialSums(VectorBuilder &code, const Work &work,
                            Value block) const {
  if (!shape.countsDistances())
    return {};
  const int64_t bytes = lanes * arithmetic.given.sumBytes();
  Value at = code.add(code.mul(block, bytes), initialSumsAt());
  Value ofOne = code.load(work.buffers.weights, at,
                          VectorType::get({bytes}, code.builder.getI8Type()));
  const ZeroPoint number(code, arithmetic.given.lhs, shape, work.buffers.zero);
  return code.builder.create<arith::MulIOp>(
      code.loc, code.bitsAs(ofOne, sumType(code)),
      number.as(arithmetic.given.accumulator, lanes));
}
