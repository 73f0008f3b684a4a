//===- ConstantText.h - constants in programs of tests --------------------===//

#ifndef SINTER_TEST_BACKEND_CPU_CONSTANTTEXT_H
#define SINTER_TEST_BACKEND_CPU_CONSTANTTEXT_H

#include "runtime/Random.h"
#include "runtime/Tensor.h"

#include <string>

namespace sinter::test {

/// A constant's operation, without its name.
inline std::string constantText(const Tensor &tensor, const std::string &type) {
  std::string text = "stablehlo.constant dense<\"0x";
  for (size_t i = 0; i < tensor.bytes(); ++i) {
    constexpr char digits[] = "0123456789ABCDEF";
    auto byte = std::to_integer<unsigned>(tensor.data()[i]);
    text += {digits[byte >> 4], digits[byte & 15]};
  }
  return text + "\"> : " + type + "\n";
}

/// The same of random numbers of f16, bf16 or f32.
inline std::string weights(const Shape &shape, const std::string &element,
                           uint64_t seed) {
  ElementType type = element == "f16"    ? ElementType::F16
                     : element == "bf16" ? ElementType::BF16
                                         : ElementType::F32;
  Tensor tensor(type, shape);
  fillRandom(tensor, seed);
  return constantText(tensor, "tensor<" + toString(type, shape) + ">");
}

} // namespace sinter::test

#endif // SINTER_TEST_BACKEND_CPU_CONSTANTTEXT_H
