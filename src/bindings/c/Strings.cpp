//===- Strings.cpp - strings that the library gives to a caller -----------===//

#include "bindings/c/Strings.h"

#include "sinter.h"

#include <cstdlib>
#include <cstring>
#include <new>

namespace sinter::c {

Result<void> giveString(const std::string &text, char **to) {
  if (!to)
    return {};
  *to = static_cast<char *>(std::malloc(text.size() + 1));
  if (!*to)
    throw std::bad_alloc();
  std::memcpy(*to, text.c_str(), text.size() + 1);
  return {};
}

} // namespace sinter::c

extern "C" {

void sinter_string_free(char *string) { std::free(string); }

} // extern "C"
