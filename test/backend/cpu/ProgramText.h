//===- ProgramText.h - programs of tests as text --------------------------===//

#ifndef SINTER_TEST_BACKEND_CPU_PROGRAMTEXT_H
#define SINTER_TEST_BACKEND_CPU_PROGRAMTEXT_H

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <string>

namespace sinter::test {

/// The type of a tensor; dimensions of negative size are dynamic.
inline std::string typeOf(llvm::ArrayRef<int64_t> shape,
                          const std::string &element = "f32") {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += (size < 0 ? "?" : std::to_string(size)) + "x";
  return text + element + ">";
}

/// A function that is `stablehlo.OP` of so many \p operands, all of them and
/// the result of \p type.
inline std::string functionOf(const std::string &op, const std::string &type,
                              int operands) {
  std::string parameters, names;
  for (int i = 0; i < operands; ++i) {
    const std::string comma = i ? ", " : "", name = "%a" + std::to_string(i);
    parameters += comma + name + ": " + type;
    names += comma + name;
  }
  return "(" + parameters + ") -> " + type + " {\n  %0 = stablehlo." + op +
         " " + names + " : " + type + "\n  return %0 : " + type + "\n}";
}

} // namespace sinter::test

#endif // SINTER_TEST_BACKEND_CPU_PROGRAMTEXT_H
