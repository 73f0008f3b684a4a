//===- WinogradWeights.cpp - transform and pack Winograd weights ----------===//
//
// Layout: [element of the tile][panel of outputs][step over inputs][output of
// the panel][input of the step]; if images have a zero point, followed by each
// output's initial accumulator for a zero point of 1.
//
//===----------------------------------------------------------------------===//

#include "backend/cpu/kernels/conv/Winograd.h"

#include "backend/cpu/kernels/conv/ZeroPoint.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "runtime/Float.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

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
  return llvm::alignTo(
      arithmetic.elements() * weightPlane() * arithmetic.given.rhsBytes(), 64);
}

int64_t Winograd::packedElements() const {
  if (!shape.countsDistances())
    return arithmetic.elements() * weightPlane();
  return (initialSumsAt() +
          outputBlocks * lanes * arithmetic.given.sumBytes()) /
         arithmetic.given.rhsBytes();
}

/// Reads the nine taps of weights between two channels, \p stride elements
/// apart.
template <typename T>
static void readTaps(const std::byte *weights, int64_t row, double *taps,
                     int64_t stride) {
  std::array<T, 9> read;
  std::memcpy(read.data(), weights + row * int64_t(sizeof(read)), sizeof(read));
  for (size_t i = 0; i < 9; ++i)
    taps[int64_t(i) * stride] = double(float(read[i]));
}

/// The same for any type of weights.
static void readTaps(const std::byte *weights, int64_t row, ElementType type,
                     double *taps, int64_t stride) {
  if (type == ElementType::F32)
    readTaps<float>(weights, row, taps, stride);
  else if (type == ElementType::BF16)
    readTaps<BFloat16>(weights, row, taps, stride);
  else if (type == ElementType::I8)
    readTaps<int8_t>(weights, row, taps, stride);
  else
    readTaps<uint8_t>(weights, row, taps, stride);
}

/// Writes minus the contribution of a zero point of 1 to each output.
void Winograd::packInitialSums(const std::byte *weights, int32_t *to) const {
  for (int64_t k = 0; k < outputBlocks * lanes; ++k) {
    double sum = 0;
    for (int64_t c = 0; k < shape.outputChannels && c < shape.inputChannels;
         ++c) {
      std::array<double, 9> taps;
      readTaps(weights, k * shape.inputChannels + c, arithmetic.given.rhs,
               taps.data(), 1);
      for (double tap : taps)
        sum += tap;
    }
    to[k] = static_cast<int32_t>(-sum);
  }
}

/// Writes \p numbers contiguously, as elements of \p T.
template <typename T>
static void writeAs(llvm::ArrayRef<double> numbers, std::byte *to) {
  for (double number : numbers) {
    const T value = static_cast<T>(number);
    std::memcpy(to, &value, sizeof(T));
    to += sizeof(T);
  }
}

void Winograd::pack(const void *weights, void *packed) const {
  const auto *from = static_cast<const std::byte *>(weights);
  auto *bytes = static_cast<std::byte *>(packed);
  const Arithmetic &products = arithmetic.products;
  const int64_t elements = arithmetic.elements();
  const int64_t group = products.kGroup, width = panelVectors * lanes;
  const int64_t steps = products.steps(shape.inputChannels);
  // The plane of one element of the tile, in elements of the multiplied type.
  const int64_t plane = outputBlocks * lanes * steps * group;
  const int64_t elementBytes = products.rhsBytes();
  // A step of a panel is contiguous in each plane.
  std::vector<double> taps(size_t(9 * width * group)),
      transformed(size_t(elements * width * group));
  for (int64_t first = 0; first < outputBlocks * lanes; first += width) {
    const int64_t filled = std::min(width, outputBlocks * lanes - first);
    const int64_t count = filled * group;
    for (int64_t step = 0; step < steps; ++step) {
      std::ranges::fill(taps, 0.0);
      for (int64_t i = 0; i < count; ++i) {
        const int64_t k = first + i / group, c = step * group + i % group;
        if (k < shape.outputChannels && c < shape.inputChannels)
          readTaps(from, k * shape.inputChannels + c, arithmetic.given.rhs,
                   taps.data() + i, count);
      }
      arithmetic.transformWeights(taps.data(), count, transformed.data());
      const int64_t at = (first * steps + step * filled) * group;
      for (int64_t i = 0; i < elements; ++i) {
        const llvm::ArrayRef<double> numbers(transformed.data() + i * count,
                                             size_t(count));
        std::byte *to = bytes + (i * plane + at) * elementBytes;
        if (arithmetic.isOfFloats())
          writeAs<float>(numbers, to);
        else
          writeAs<int16_t>(numbers, to);
      }
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
