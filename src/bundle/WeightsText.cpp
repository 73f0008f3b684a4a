#include "bundle/WeightsText.h"

#include "bundle/Identifiers.h"

#include <array>
#include <cstring>

namespace sinter {

/// Appends the word of four bytes at \p bytes, little-endian as targets are.
static void appendWord(std::string &text, const char *bytes) {
  static constexpr std::string_view digits = "0123456789abcdef";
  std::array<unsigned char, 4> word;
  std::memcpy(word.data(), bytes, word.size());
  text += "0x";
  // Leading zeros take space, too.
  bool hasBegun = false;
  for (size_t i = word.size(); i-- > 0;)
    for (const unsigned shift : {4u, 0u}) {
      const unsigned digit = (word[i] >> shift) & 15u;
      hasBegun = hasBegun || digit != 0 || (i == 0 && shift == 0);
      if (hasBegun)
        text += digits[digit];
    }
  text += ',';
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
