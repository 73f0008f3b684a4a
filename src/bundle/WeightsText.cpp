#include "bundle/WeightsText.h"

#include "bundle/Identifiers.h"

#include <array>
#include <charconv>
#include <cstdint>

namespace sinter {

/// Appends the word of four bytes at \p bytes, little-endian as targets are.
/// Leading zeros take space, too.
static void appendWord(std::string &text, const char *bytes) {
  uint32_t word = 0;
  for (unsigned i = 0; i < 4; ++i)
    word |= uint32_t(static_cast<unsigned char>(bytes[i])) << 8 * i;
  std::array<char, 8> digits;
  const auto end =
      std::to_chars(digits.data(), digits.data() + digits.size(), word, 16);
  text.append("0x").append(digits.data(), end.ptr) += ',';
}

std::string weightsText(const Bundle &bundle) {
  const std::string prefix = capitals(bundle.name);
  std::string text = "/* The weights of " + bundle.name + ", made by sinter " +
                     bundle.version +
                     "; do not edit. They are the same bytes on any "
                     "little-endian machine. */\n"
                     "#include \"" +
                     bundle.name + ".h\"\n\n" + prefix +
                     "_ALIGNED const uint32_t " + bundle.name + "_weights[" +
                     prefix + "_WEIGHTS_SIZE / 4] = {\n";
  constexpr size_t ofLine = 10;
  text.reserve(text.size() + bundle.weights.size() / 4 * 12);
  // The size is a multiple of bundleAlignment.
  for (size_t at = 0; at + 4 <= bundle.weights.size(); at += 4) {
    appendWord(text, bundle.weights.data() + at);
    if (at / 4 % ofLine == ofLine - 1)
      text += '\n';
  }
  return text + "\n};\n";
}

} // namespace sinter
