#include "bundle/Identifiers.h"

#include <algorithm>
#include <set>

namespace sinter {

static constexpr size_t mostCharacters = 100;

static bool isLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool isLetterOrDigit(char c) {
  return isLetter(c) || (c >= '0' && c <= '9');
}

/// \p text with an underscore for what an identifier cannot have, and no two
/// of them side by side: C++ reserves such names.
static std::string identifierFrom(std::string_view text) {
  std::string name;
  for (const char c : text.substr(0, mostCharacters))
    if (isLetterOrDigit(c))
      name += c;
    else if (!name.empty() && name.back() != '_')
      name += '_';
  while (name.ends_with('_'))
    name.pop_back();
  return name;
}

bool isBundleName(std::string_view name) {
  return !name.empty() && name.size() <= mostCharacters &&
         isLetter(name.front()) && std::ranges::all_of(name, [](char c) {
           return isLetterOrDigit(c) || c == '_';
         });
}

std::string bundleNameFrom(std::string_view text) {
  std::string name = identifierFrom(text);
  if (!isBundleName(name))
    name = name.empty() ? "model" : "model_" + name.substr(0, 90);
  return name;
}

/// Words of C up to C23 and of C++ up to C++20, and what headers or compilers
/// define as macros in lower case; all in lower case.
static const std::set<std::string_view> &takenNames() {
  // clang-format off
  static const std::set<std::string_view> names = {
    "alignas", "alignof", "and", "and_eq", "asm", "assert", "auto", "bitand",
    "bitor", "bool", "break", "case", "catch", "char", "char16_t", "char32_t",
    "char8_t", "class", "co_await", "co_return", "co_yield", "compl", "complex",
    "concept", "const", "const_cast", "consteval", "constexpr", "constinit",
    "continue", "decltype", "default", "delete", "do", "double", "dynamic_cast",
    "else", "enum", "eof", "errno", "explicit", "export", "extern", "false",
    "far", "float", "for", "friend", "goto", "huge_val", "i", "i386", "if",
    "imaginary", "infinity", "inline", "int", "interface", "linux", "long",
    "mutable", "nan", "namespace", "near", "new", "noexcept", "not", "not_eq",
    "null", "nullptr", "operator", "or", "or_eq", "pascal", "private",
    "protected", "public", "register", "reinterpret_cast", "requires",
    "restrict", "return", "short", "signed", "sizeof", "small", "static",
    "static_assert", "static_cast", "stderr", "stdin", "stdout", "struct",
    "switch", "template", "this", "thread_local", "throw", "true", "try",
    "typedef", "typeid", "typename", "typeof", "typeof_unqual", "union", "unix",
    "unsigned", "using", "virtual", "void", "volatile", "wchar_t", "while",
    "win32", "xor", "xor_eq"};
  // clang-format on
  return names;
}

std::string capitals(std::string_view name) {
  std::string result(name);
  for (char &c : result)
    if (c >= 'a' && c <= 'z')
      c = static_cast<char>(c - 'a' + 'A');
  return result;
}

/// A field for each of \p things, whose name is \p nameOf it. It begins with \p
/// word if that is no identifier.
template <typename Thing, typename NameOf>
static std::vector<std::string> fieldsFor(std::span<const Thing> things,
                                          const std::string &word,
                                          NameOf nameOf) {
  std::vector<std::string> names;
  std::set<std::string> used;
  for (const std::string_view name : takenNames())
    used.insert(capitals(name));
  for (const Thing &thing : things) {
    std::string field = identifierFrom(nameOf(thing));
    if (field.empty() || !isLetter(field.front()))
      field = word + (field.empty() ? "" : "_" + field);
    std::string unique = field;
    for (int number = 1; !used.insert(capitals(unique)).second; ++number)
      unique = field + "_" + std::to_string(number);
    names.push_back(std::move(unique));
  }
  return names;
}

std::vector<std::string> fieldNames(std::span<const BundleTensor> tensors) {
  return fieldsFor(tensors, "tensor",
                   [](const BundleTensor &tensor) -> const auto & {
                     return tensor.spec.name;
                   });
}

std::vector<std::string> fieldNames(std::span<const BundleSize> sizes) {
  return fieldsFor(sizes, "size", [](const BundleSize &size) -> const auto & {
    return size.name;
  });
}

} // namespace sinter
