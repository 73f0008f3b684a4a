//===- Numbers.h - elements as doubles and as 64-bit integers -------------===//
//
// For evaluators that work on any numeric type: converts ranges of elements to
// arrays of one C++ type and back.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_INTERPRETER_NUMBERS_H
#define SINTER_INTERPRETER_NUMBERS_H

#include "runtime/Tensor.h"

#include <algorithm>
#include <complex>
#include <span>
#include <vector>

namespace sinter::interpreter {

/// Real elements of a type as doubles (64-bit integers rounded).
void loadReals(ElementType type, const std::byte *from, std::span<double> out);
/// Rounds to the type; to integers toward zero, clamped to the range and NaN as
/// 0; to i1 whether it is not zero.
void storeReals(ElementType type, std::byte *to,
                std::span<const double> values);

/// Integer elements, sign- or zero-extended.
void loadIntegers(ElementType type, const std::byte *from,
                  std::span<int64_t> out);
/// To integers modulo their range, to i1 whether it is not zero, to floats
/// rounded once. The values count as uint64_t if \p isUnsigned.
void storeIntegers(ElementType type, std::byte *to,
                   std::span<const int64_t> values, bool isUnsigned = false);

void loadComplex(ElementType type, const std::byte *from,
                 std::span<std::complex<double>> out);
void storeComplex(ElementType type, std::byte *to,
                  std::span<const std::complex<double>> values);

/// The same for the elements of a tensor from \p begin on.
inline const std::byte *elementsFrom(const Tensor &tensor, int64_t begin) {
  return tensor.data() + begin * byteSize(tensor.type());
}
inline std::byte *elementsFrom(Tensor &tensor, int64_t begin) {
  return tensor.mutableBytes() + begin * byteSize(tensor.type());
}
inline void loadReals(const Tensor &tensor, int64_t begin,
                      std::span<double> out) {
  loadReals(tensor.type(), elementsFrom(tensor, begin), out);
}
inline void storeReals(Tensor &tensor, int64_t begin,
                       std::span<const double> values) {
  storeReals(tensor.type(), elementsFrom(tensor, begin), values);
}
inline void loadIntegers(const Tensor &tensor, int64_t begin,
                         std::span<int64_t> out) {
  loadIntegers(tensor.type(), elementsFrom(tensor, begin), out);
}
inline void storeIntegers(Tensor &tensor, int64_t begin,
                          std::span<const int64_t> values,
                          bool isUnsigned = false) {
  storeIntegers(tensor.type(), elementsFrom(tensor, begin), values, isUnsigned);
}
inline void loadComplex(const Tensor &tensor, int64_t begin,
                        std::span<std::complex<double>> out) {
  loadComplex(tensor.type(), elementsFrom(tensor, begin), out);
}
inline void storeComplex(Tensor &tensor, int64_t begin,
                         std::span<const std::complex<double>> values) {
  storeComplex(tensor.type(), elementsFrom(tensor, begin), values);
}

/// All elements.
std::vector<double> reals(const Tensor &tensor);
std::vector<int64_t> integers(const Tensor &tensor);
/// A tensor of the values, rounded to \p type.
Tensor realTensor(ElementType type, Shape shape,
                  std::span<const double> values);
Tensor integerTensor(ElementType type, Shape shape,
                     std::span<const int64_t> values);

/// Calls `body(begin, count)` for chunks of [0, size) that fit into the cache.
template <typename Body> void inChunks(int64_t size, Body &&body) {
  constexpr int64_t chunk = 1024;
  for (int64_t begin = 0; begin < size; begin += chunk)
    body(begin, std::min(chunk, size - begin));
}
inline constexpr int64_t chunkSize = 1024;

/// Normalises the bytes of a type of fewer than 8 bits as the runtime expects:
/// i1 0 or 1, the others extended from their low bits.
void normalizeSubByte(ElementType type, std::byte *elements, int64_t count);
inline void normalizeSubByte(Tensor &tensor) {
  normalizeSubByte(tensor.type(), tensor.mutableBytes(), tensor.size());
}

} // namespace sinter::interpreter

#endif // SINTER_INTERPRETER_NUMBERS_H
