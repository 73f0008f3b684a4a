//===- PaddleMessages.h - Paddle's messages made field by field -----------===//

#ifndef SINTER_TEST_FORMATS_PADDLE_PADDLEMESSAGES_H
#define SINTER_TEST_FORMATS_PADDLE_PADDLEMESSAGES_H

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace sinter::test {

inline std::string varintOf(uint64_t value) {
  std::string text;
  for (; value >= 128; value >>= 7)
    text += static_cast<char>(value | 128);
  return text + static_cast<char>(value);
}

inline std::string numberOf(int field, int64_t value) {
  return varintOf(field * 8) + varintOf(static_cast<uint64_t>(value));
}

inline std::string fieldOf(int field, const std::string &content) {
  return varintOf(field * 8 + 2) + varintOf(content.size()) + content;
}

template <typename T> std::string rawOf(T value) {
  std::string text(sizeof(T), '\0');
  std::memcpy(text.data(), &value, sizeof(T));
  return text;
}

inline std::string floatOf(int field, float value) {
  return varintOf(field * 8 + 5) + rawOf(value);
}

inline std::string doubleOf(int field, double value) {
  return varintOf(field * 8 + 1) + rawOf(value);
}

/// An OpDesc's field with an Attr of kind \p kind.
inline std::string attributeOf(const std::string &name, int kind,
                               const std::string &content) {
  return fieldOf(4, fieldOf(1, name) + numberOf(2, kind) + content);
}

inline std::string intOf(const std::string &name, int64_t value) {
  return attributeOf(name, 0, numberOf(3, value));
}

using Slots = std::vector<std::pair<std::string, std::vector<std::string>>>;

inline std::string slotsOf(int field, const Slots &slots) {
  std::string text;
  for (const auto &[name, arguments] : slots) {
    std::string slot = fieldOf(1, name);
    for (const std::string &each : arguments)
      slot += fieldOf(2, each);
    text += fieldOf(field, slot);
  }
  return text;
}

/// An OpDesc; \p attributes are its fields after the type.
inline std::string operatorOf(const std::string &type, const Slots &inputs,
                              const Slots &outputs,
                              const std::string &attributes) {
  return slotsOf(1, inputs) + slotsOf(2, outputs) + fieldOf(3, type) +
         attributes;
}

/// A TensorDesc.
inline std::string tensorOf(int type, const std::vector<int64_t> &dims) {
  std::string text = numberOf(1, type);
  for (int64_t each : dims)
    text += numberOf(2, each);
  return text;
}

/// A BlockDesc's field with a VarDesc.
inline std::string variableOf(const std::string &name, int kind, int type,
                              const std::vector<int64_t> &dims,
                              bool isPersistable = false) {
  return fieldOf(
      3, fieldOf(1, name) +
             fieldOf(2, numberOf(1, kind) +
                            fieldOf(3, fieldOf(1, tensorOf(type, dims)) +
                                           numberOf(2, 0))) +
             numberOf(3, isPersistable));
}

/// A BlockDesc.
inline std::string blockOf(int64_t index, int64_t parent,
                           const std::vector<std::string> &operators,
                           const std::string &variables = "") {
  std::string text = numberOf(1, index) + numberOf(2, parent) + variables;
  for (const std::string &each : operators)
    text += fieldOf(4, each);
  return text;
}

/// A ProgramDesc.
inline std::string programOf(const std::vector<std::string> &blocks) {
  std::string text;
  for (const std::string &each : blocks)
    text += fieldOf(1, each);
  return text;
}

/// A tensor as it stands in a file of parameters.
inline std::string savedTensor(int type, const std::vector<int64_t> &dims,
                               const std::string &elements) {
  const std::string described = tensorOf(type, dims);
  return std::string(16, '\0') + rawOf(static_cast<int32_t>(described.size())) +
         described + elements;
}

} // namespace sinter::test

#endif // SINTER_TEST_FORMATS_PADDLE_PADDLEMESSAGES_H
