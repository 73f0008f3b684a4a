#include "formats/stablehlo/ForeignText.h"

#include "formats/stablehlo/AliasWeights.h"
#include "formats/stablehlo/TextTokens.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace sinter {

namespace {

constexpr std::string_view missingTypes[] = {"f8E3M4", "f8E8M0FNU", "f6E2M3FN",
                                             "f6E3M2FN", "f4E2M1FN"};

/// Copies a text token by token and replaces pieces on the way.
class Rewriter {
public:
  explicit Rewriter(std::string_view text) : text(text) {
    output.reserve(text.size());
  }

  Result<std::string> run() {
    AliasWeights aliases(text);
    for (TextToken token = next(0), after; token.kind != TextToken::Kind::End;
         token = after) {
      after = next(token.end);
      if (!aliases.see(token, after))
        return invalidModel("line " + std::to_string(lineOf(token.begin)) +
                            ": an alias has too many elements");
      if (token.kind == TextToken::Kind::String)
        dropLocationEnd(token);
      else if (token.kind == TextToken::Kind::Word)
        if (Result<void> good = word(token); !good)
          return good.takeError();
    }
    copyUntil(text.size());
    return std::move(output);
  }

private:
  using Kind = TextToken::Kind;

  TextToken next(size_t position) const { return tokenAt(text, position); }

  /// The tokens that follow \p position, if they are of these kinds.
  template <size_t count>
  bool follow(size_t position, const Kind (&kinds)[count],
              TextToken (&tokens)[count]) const {
    for (size_t i = 0; i < count; ++i) {
      tokens[i] = next(position);
      if (tokens[i].kind != kinds[i])
        return false;
      position = tokens[i].end;
    }
    return true;
  }

  void copyUntil(size_t position) {
    output += text.substr(copied, position - copied);
    copied = position;
  }
  void replace(size_t begin, size_t end, std::string_view with) {
    if (begin < copied)
      return;
    copyUntil(begin);
    output += with;
    copied = end;
  }
  void insert(size_t position, std::string_view what) {
    replace(position, position, what);
  }

  /// "file":1:2 to 3:4, or "file":1:2 to :4.
  void dropLocationEnd(const TextToken &file) {
    TextToken start[5];
    if (!follow(
            file.end,
            {Kind::Mark, Kind::Number, Kind::Mark, Kind::Number, Kind::Word},
            start) ||
        !start[0].is(':') || !start[2].is(':') || !start[4].is("to"))
      return;
    TextToken colon = next(start[4].end);
    if (colon.kind == Kind::Number)
      colon = next(colon.end);
    const TextToken column = next(colon.end);
    if (colon.is(':') && column.kind == Kind::Number)
      replace(start[3].end, column.end, "");
  }

  Result<void> word(const TextToken &token) {
    if (token.is("dense")) {
      packBooleans(token);
    } else if (token.text.starts_with("sdy.")) {
      nameAttribute(token);
    } else if (token.is("in_shardings") || token.is("out_shardings")) {
      nameShardings(token);
    } else {
      for (std::string_view type : missingTypes)
        if (names(token.text, type))
          return unsupported("line " + std::to_string(lineOf(token.begin)) +
                             ": uses the element type " + std::string(type) +
                             ", which MLIR 19 lacks");
    }
    return {};
  }

  /// Whether the word is the type, or the end of a shape with it: the `xf8E3M4`
  /// of `4xf8E3M4`.
  static bool names(std::string_view word, std::string_view type) {
    return word.ends_with(type) &&
           (word.size() == type.size() ||
            (word[0] == 'x' && word[word.size() - type.size() - 1] == 'x'));
  }

  size_t lineOf(size_t position) const {
    return 1 + std::count(text.begin(), text.begin() + position, '\n');
  }

  /// dense<"0x..."> : tensor<..xi1> with one byte per element.
  void packBooleans(const TextToken &dense) {
    TextToken tokens[6];
    if (!follow(dense.end,
                {Kind::Mark, Kind::String, Kind::Mark, Kind::Mark, Kind::Word,
                 Kind::Mark},
                tokens) ||
        !tokens[0].is('<') || !tokens[1].text.starts_with("\"0x") ||
        !tokens[2].is('>') || !tokens[3].is(':') || !tokens[4].is("tensor") ||
        !tokens[5].is('<'))
      return;
    const size_t end = text.find('>', tokens[5].end);
    if (end == std::string_view::npos)
      return;
    const std::optional<size_t> count =
        booleanCount(text.substr(tokens[5].end, end - tokens[5].end));
    std::string_view digits = tokens[1].text.substr(3);
    digits.remove_suffix(digits.ends_with('"'));
    if (count && *count > 1 && digits.size() == 2 * *count)
      replace(tokens[1].begin, tokens[1].end, packed(digits));
  }

  /// The elements of a shape `2x3xi1`; nothing for other types.
  static std::optional<size_t> booleanCount(std::string_view shape) {
    size_t count = 1;
    while (shape != "i1") {
      size_t size = 0;
      const auto [rest, error] =
          std::from_chars(shape.data(), shape.data() + shape.size(), size);
      if (error != std::errc() || rest == shape.data() + shape.size() ||
          *rest != 'x' || __builtin_mul_overflow(count, size, &count))
        return std::nullopt;
      shape.remove_prefix(rest + 1 - shape.data());
    }
    return count;
  }

  /// Packs two hexadecimal digits per element to one bit per element, the first
  /// in the lowest bit.
  static std::string packed(std::string_view digits) {
    const size_t count = digits.size() / 2;
    std::string bits((count + 7) / 8, '\0');
    for (size_t i = 0; i < count; ++i)
      if (digits.substr(2 * i, 2) != "00")
        bits[i / 8] = static_cast<char>(bits[i / 8] | (1 << (i % 8)));
    std::string result = "\"0x";
    for (const char byte : bits)
      for (const int shift : {4, 0})
        result +=
            "0123456789ABCDEF"[(static_cast<unsigned char>(byte) >> shift) &
                               15];
    return result + "\"";
  }

  /// Adds the name to the attribute of an operation of `sdy` that prints it as
  /// a bare `<...>`.
  void nameAttribute(const TextToken &operation) {
    // An ordinary constant; only Shardy's passes distinguish it.
    if (operation.is("sdy.constant")) {
      replace(operation.begin, operation.end, "stablehlo.constant");
    } else if (operation.is("sdy.mesh")) {
      TextToken tokens[3];
      if (follow(operation.end, {Kind::Word, Kind::Mark, Kind::Mark}, tokens) &&
          tokens[1].is('=') && tokens[2].is('<'))
        insert(tokens[2].begin, "#sdy.mesh");
    } else if (operation.is("sdy.sharding_constraint") ||
               operation.is("sdy.reshard")) {
      TextToken tokens[2];
      if (follow(operation.end, {Kind::Word, Kind::Mark}, tokens) &&
          tokens[1].is('<'))
        bracketAttribute(tokens[0], tokens[1]);
    }
  }

  /// %0 <...> : type   ->   %0, [#sdy.sharding<...>] : type
  /// Without the comma, `%0 #` would start a result number, and without the
  /// brackets the attribute would take the type.
  void bracketAttribute(const TextToken &operand, const TextToken &open) {
    size_t depth = 1;
    for (TextToken token = next(open.end); token.kind != Kind::End;
         token = next(token.end)) {
      if (token.is('<'))
        ++depth;
      if (!token.is('>') || --depth != 0)
        continue;
      replace(operand.end, open.begin, ", [#sdy.sharding");
      insert(token.end, "]");
      return;
    }
  }

  /// in_shardings=[<...>, <...>] of sdy.manual_computation.
  void nameShardings(const TextToken &key) {
    TextToken tokens[2];
    if (!follow(key.end, {Kind::Mark, Kind::Mark}, tokens) ||
        !tokens[0].is('=') || !tokens[1].is('['))
      return;
    size_t depth = 1;
    for (TextToken token = next(tokens[1].end); token.kind != Kind::End;
         token = next(token.end)) {
      if (token.is('['))
        ++depth;
      if (!token.is(']') || --depth != 0)
        continue;
      insert(tokens[1].begin, "#sdy.sharding_per_value<");
      insert(token.end, ">");
      return;
    }
  }

  std::string_view text;
  std::string output;
  /// How much of the text has been copied to the output.
  size_t copied = 0;
};

} // namespace

Result<std::string> inOurTerms(std::string_view text) {
  return Rewriter(text).run();
}

} // namespace sinter
