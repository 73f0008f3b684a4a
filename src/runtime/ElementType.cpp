//===- ElementType.cpp - what a tensor's elements are ---------------------===//

#include "runtime/ElementType.h"

#include <array>

namespace sinter {

namespace {

struct Description {
  std::string_view text;
  size_t bytes;
  unsigned bits;
  ElementClass elementClass;
};

constexpr std::array descriptions = {
#define X(name, text, bytes, bits, kind)                                       \
  Description{text, bytes, bits, ElementClass::kind},
    SINTER_ELEMENT_TYPES(X)
#undef X
};

const Description &describe(ElementType type) {
  return descriptions[static_cast<size_t>(type)];
}

} // namespace

std::string_view name(ElementType type) { return describe(type).text; }

std::optional<ElementType> parseElementType(std::string_view text) {
  for (size_t i = 0; i < descriptions.size(); ++i)
    if (descriptions[i].text == text)
      return static_cast<ElementType>(i);
  return std::nullopt;
}

size_t byteSize(ElementType type) { return describe(type).bytes; }

unsigned bitWidth(ElementType type) { return describe(type).bits; }

ElementClass classOf(ElementType type) { return describe(type).elementClass; }

} // namespace sinter
