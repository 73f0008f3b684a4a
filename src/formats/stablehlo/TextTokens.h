//===- TextTokens.h - the tokens of MLIR text -----------------------------===//

#ifndef SINTER_FORMATS_STABLEHLO_TEXTTOKENS_H
#define SINTER_FORMATS_STABLEHLO_TEXTTOKENS_H

#include <cstddef>
#include <string_view>

namespace sinter {

/// A token of MLIR text, as in MLIR's lexer. White space (including zero bytes)
/// and comments separate tokens.
struct TextToken {
  enum class Kind {
    End,
    /// "...", its quotes included.
    String,
    /// Letters, digits, `_`, `$` and `.`; starts with a letter or `_`, or with
    /// one of `#!@%^`. After any of these but `@` come only digits, or a name
    /// that may have `-`, too.
    Word,
    /// Decimal digits.
    Number,
    /// Any other character.
    Mark,
  };
  Kind kind = Kind::End;
  std::string_view text;
  /// Its start and end offset.
  size_t begin = 0, end = 0;

  bool is(char mark) const { return kind == Kind::Mark && text[0] == mark; }
  bool is(std::string_view word) const {
    return kind == Kind::Word && text == word;
  }
};

/// The token of \p text that starts at or after \p position.
TextToken tokenAt(std::string_view text, size_t position);

} // namespace sinter

#endif // SINTER_FORMATS_STABLEHLO_TEXTTOKENS_H
