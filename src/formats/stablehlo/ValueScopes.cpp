#include "formats/stablehlo/ValueScopes.h"

#include "formats/stablehlo/TextTokens.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <charconv>

using llvm::StringRef;

namespace sinter {
namespace {

class ScopeCheck {
public:
  explicit ScopeCheck(std::string_view text) : text(text) {
    open.push_back({'{'}); // The file itself is a body.
  }

  Result<void> run() {
    while (token.kind != Token::Kind::End)
      if (Result<void> good = step(); !good)
        return good;
    return {};
  }

private:
  using Token = TextToken;

  /// An open bracket. `{` may start a region.
  struct Bracket {
    char kind;
    /// Whether it holds the arguments of a block.
    bool holdsArguments = false;
    /// The values that its operations and blocks define.
    llvm::SmallVector<StringRef> values = {};
    /// The arguments that the current operation defines for its regions.
    llvm::SmallVector<StringRef> arguments = {};
  };

  /// A value in the text: `%a`, `%a:2` or `%a#1`.
  struct Mention {
    Token value, number;
    size_t results = 1;
  };

  Token next(const Token &of) const { return tokenAt(text, of.end); }
  void advance(const Token &to) {
    last = token;
    token = to;
  }

  static bool isValue(const Token &token) {
    return token.kind == Token::Kind::Word && token.text[0] == '%';
  }
  static bool isBlock(const Token &token) {
    return token.kind == Token::Kind::Word && token.text[0] == '^';
  }
  /// `#1`.
  static bool isNumber(const Token &token) {
    return token.kind == Token::Kind::Word && token.text[0] == '#' &&
           token.text.size() > 1 && llvm::isDigit(token.text[1]);
  }

  /// "3:7".
  std::string positionOf(const Token &at) const {
    const std::string_view before = text.substr(0, at.begin);
    const size_t line = 1 + std::count(before.begin(), before.end(), '\n');
    const size_t column = at.begin - (before.rfind('\n') + 1) + 1;
    return std::to_string(line) + ":" + std::to_string(column);
  }
  Error invalid(const Token &at, const std::string &what) const {
    Error error = invalidModel(what);
    error.position = positionOf(at);
    return error;
  }

  Bracket &body() {
    return *llvm::find_if(llvm::reverse(open), [](const Bracket &bracket) {
      return bracket.kind == '{';
    });
  }

  Result<void> step();
  Result<void> enter();
  Result<void> leave();
  void endOperation();
  Result<void> values();
  Result<void> mention(Mention &mention, bool mayBegin);
  Result<void> define(const Mention &mention);
  Result<void> use(const Mention &mention, const Token &after);
  void forget(llvm::SmallVector<StringRef> &names);

  std::string_view text;
  Token last, token = tokenAt(text, 0);
  llvm::SmallVector<Bracket> open;
  /// The number of `{` among them.
  size_t bodies = 0;
  /// The visible values, and the number of results of each.
  llvm::DenseMap<StringRef, size_t> known;
};

Result<void> ScopeCheck::step() {
  if (isValue(token))
    return values();
  if (token.is('(') || token.is('[') || token.is('{'))
    return enter();
  if (token.is(')') || token.is(']') || token.is('}'))
    return leave();
  if (token.is("func.func") && open.back().kind == '{')
    endOperation(); // The previous one may have been a declaration.
  advance(next(token));
  return {};
}

Result<void> ScopeCheck::enter() {
  // MLIR's time grows with the square of the depth.
  constexpr size_t deepest = 600;
  open.push_back({token.text[0], token.is('(') && isBlock(last)});
  bodies += token.is('{');
  if (bodies > deepest) {
    Error error = unsupported("operations nest more than " +
                              std::to_string(deepest) + " deep");
    error.position = positionOf(token);
    return error;
  }
  advance(next(token));
  return {};
}

Result<void> ScopeCheck::leave() {
  const char kind = token.is(')') ? '(' : token.is(']') ? '[' : '{';
  if (open.size() == 1 || open.back().kind != kind)
    return invalid(token,
                   "'" + std::string(token.text) + "' closes no open bracket");
  forget(open.back().values);
  forget(open.back().arguments);
  open.pop_back();
  bodies -= kind == '{';
  const bool closedBody = kind == '{' && open.back().kind == '{';
  advance(next(token));
  const bool goesOn = token.kind == Token::Kind::Mark || token.is("cond") ||
                      token.is("do") || token.is("attributes");
  if (closedBody && !goesOn)
    endOperation();
  return {};
}

/// Arguments that an operation defines are visible only in its regions.
void ScopeCheck::endOperation() { forget(open.back().arguments); }

void ScopeCheck::forget(llvm::SmallVector<StringRef> &names) {
  for (StringRef name : names)
    known.erase(name);
  names.clear();
}

/// Reads a value with its result number or count; then the next token is the
/// one after it.
Result<void> ScopeCheck::mention(Mention &mention, bool mayBegin) {
  constexpr size_t most = 1 << 20;
  mention.value = token;
  advance(next(token));
  if (isNumber(token)) {
    mention.number = token;
    advance(next(token));
    return {};
  }
  const Token count = token.is(':') ? next(token) : Token();
  if (!mayBegin || count.kind != Token::Kind::Number)
    return {};
  const std::string_view digits = count.text;
  const auto [end, error] = std::from_chars(
      digits.data(), digits.data() + digits.size(), mention.results);
  // The parser would read `0x...` as a hexadecimal number.
  const bool ends = count.end == text.size() || text[count.end] != 'x';
  if (error != std::errc() || mention.results > most || !ends)
    return invalid(count, "no operation has so many results");
  advance(count);
  advance(next(count));
  return {};
}

/// Values separated by commas. They are definitions if an operation may begin
/// here and `=` follows.
Result<void> ScopeCheck::values() {
  const bool mayBegin = open.back().kind == '{';
  llvm::SmallVector<Mention> mentions;
  while (true) {
    if (Result<void> good = mention(mentions.emplace_back(), mayBegin); !good)
      return good;
    const Token another = token.is(',') ? next(token) : Token();
    if (!mayBegin || !isValue(another))
      break;
    advance(another);
  }
  const bool defines =
      open.back().holdsArguments || (mayBegin && token.is('='));
  for (const Mention &mention : mentions)
    if (Result<void> good = defines ? define(mention) : use(mention, token);
        !good)
      return good;
  return {};
}

Result<void> ScopeCheck::define(const Mention &mention) {
  const StringRef name = mention.value.text;
  if (!known.try_emplace(name, mention.results).second)
    return invalid(mention.value, "redefinition of value '" + name.str() + "'");
  body().values.push_back(name);
  return {};
}

Result<void> ScopeCheck::use(const Mention &mention, const Token &after) {
  const StringRef name = mention.value.text;
  const auto found = known.find(name);
  const StringRef number = mention.number.text;
  if (found != known.end()) {
    size_t index = 0;
    const bool isResult =
        number.empty() ||
        (!number.drop_front().getAsInteger(10, index) && index < found->second);
    if (!isResult)
      return invalid(mention.number, "value '" + name.str() + "' has " +
                                         std::to_string(found->second) +
                                         " results, and no " + number.str());
    return {};
  }
  const bool isArgument = open.back().kind == '(' && number.empty() &&
                          (after.is(':') || after.is('='));
  if (!isArgument)
    return invalid(mention.value,
                   "use of undeclared value '" + name.str() + "'");
  known[name] = 1;
  body().arguments.push_back(name);
  return {};
}

} // namespace

Result<void> checkValueScopes(std::string_view text) {
  return ScopeCheck(text).run();
}

} // namespace sinter
