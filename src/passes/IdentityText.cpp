#include "passes/IdentityText.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter {
namespace {

/// Reads "add(x, negate(y)) -> subtract(x, y)".
class TermParser {
public:
  explicit TermParser(StringRef text) : text(text) {}
  std::pair<Term, Term> parse() {
    Term left = term();
    if (!eat("->"))
      fail();
    Term right = term();
    if (!text.empty())
      fail();
    return {left, right};
  }

private:
  [[noreturn]] void fail() {
    llvm::report_fatal_error("an identity cannot be parsed at: " + text);
  }
  bool eat(StringRef token) {
    text = text.ltrim();
    return text.consume_front(token);
  }
  Term term() {
    text = text.ltrim();
    StringRef word = text.take_while([](char letter) {
      return llvm::isAlnum(letter) || StringRef("_-.").contains(letter);
    });
    // An arrow does not belong to a word.
    word = word.take_front(word.find("->"));
    text = text.drop_front(word.size());
    bool onlyReader = text.consume_front("!");
    if (eat("("))
      return operation(word, onlyReader);
    if (word.size() == 1 && llvm::isAlpha(word[0]))
      return {word == "c" || word == "d" ? Term::Constant : Term::Variable,
              word.str(),
              false,
              {},
              {}};
    if (word.empty())
      fail();
    return {Term::Number, word.str(), false, {}, {}};
  }
  Term operation(StringRef word, bool onlyReader) {
    Term result{Term::Operation, "", onlyReader, {}, {}};
    if (word.consume_front("compare_")) {
      result.direction = symbolizeComparisonDirection(word);
      if (!result.direction)
        fail();
      word = "compare";
    }
    result.name = ("stablehlo." + word).str();
    do
      result.operands.push_back(term());
    while (eat(","));
    if (!eat(")"))
      fail();
    return result;
  }

  StringRef text;
};

} // namespace

std::pair<Term, Term> parseIdentity(StringRef text) {
  return TermParser(text).parse();
}

} // namespace sinter
