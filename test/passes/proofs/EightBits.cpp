#include "passes/proofs/EightBits.h"

#include "llvm/ADT/STLExtras.h"
#include <array>
#include <map>
#include <stdexcept>

using sinter::stablehlo::ComparisonDirection;

namespace sinter::test {
namespace {

/// A value for each of the 256 values of the first letter.
using Lane = std::array<int, 256>;
/// On numbers that may be negative if they are signed; the result is wrapped.
using Function = int (*)(int a, int b);

int divide(int a, int b) { return b == 0 ? -1 : a / b; }
int remainder(int a, int b) { return b == 0 ? a : a % b; }
int power(int a, int b) {
  unsigned result = 1;
  for (int i = 0; i < b; ++i)
    result *= static_cast<unsigned>(a);
  return static_cast<int>(result);
}
int shiftLeft(int a, int b) {
  unsigned by = static_cast<uint8_t>(b);
  return by > 7 ? 0 : static_cast<int>(static_cast<unsigned>(a) << by);
}
int shiftRightLogical(int a, int b) {
  unsigned by = static_cast<uint8_t>(b);
  return by > 7 ? 0 : static_cast<uint8_t>(a) >> by;
}
int shiftRightArithmetic(int a, int b) {
  return static_cast<int8_t>(a) >>
         std::min<unsigned>(static_cast<uint8_t>(b), 7);
}

/// The function of an operation; null where integers have no such operation.
Function functionOf(llvm::StringRef name, bool isSigned) {
  static const std::map<std::string, Function> all = {
      {"add", [](int a, int b) { return a + b; }},
      {"subtract", [](int a, int b) { return a - b; }},
      {"multiply", [](int a, int b) { return a * b; }},
      {"negate", [](int a, int) { return -a; }},
      {"divide", divide},
      {"remainder", remainder},
      {"power", power},
      {"maximum", [](int a, int b) { return std::max(a, b); }},
      {"minimum", [](int a, int b) { return std::min(a, b); }},
      {"and", [](int a, int b) { return a & b; }},
      {"or", [](int a, int b) { return a | b; }},
      {"xor", [](int a, int b) { return a ^ b; }},
      {"not", [](int a, int) { return ~a; }},
      {"shift_left", shiftLeft},
      {"shift_right_logical", shiftRightLogical},
      {"shift_right_arithmetic", shiftRightArithmetic}};
  static const std::map<std::string, Function> ofSigned = {
      {"abs", [](int a, int) { return std::abs(a); }},
      {"sign", [](int a, int) { return (a > 0) - (a < 0); }}};
  if (auto found = all.find(name.str()); found != all.end())
    return found->second;
  auto found = ofSigned.find(name.str());
  return isSigned && found != ofSigned.end() ? found->second : nullptr;
}

/// Computes terms on plain integers, by the specification's words.
class Evaluator {
public:
  explicit Evaluator(bool isSigned) : isSigned(isSigned) {}

  std::map<char, Lane> letters;

  /// \p isTruth: the term is a predicate.
  Lane evaluate(const Term &term, bool isTruth) const;

private:
  int wrap(int value) const {
    return isSigned ? static_cast<int8_t>(value) : static_cast<uint8_t>(value);
  }
  int numberOf(llvm::StringRef word, bool isTruth) const;
  Lane operation(const Term &term, const std::vector<Lane> &x,
                 bool isTruth) const;

  bool isSigned;
};

int Evaluator::numberOf(llvm::StringRef word, bool isTruth) const {
  if (word == "ones")
    return isTruth ? 1 : wrap(-1);
  if (word == "least")
    return isSigned ? -128 : 0;
  if (word == "greatest")
    return isSigned ? 127 : 255;
  int number = 0;
  if (word.getAsInteger(10, number) || wrap(number) != number)
    throw std::invalid_argument(word.str());
  return number;
}

bool compares(ComparisonDirection direction, int a, int b) {
  switch (direction) {
  case ComparisonDirection::EQ:
    return a == b;
  case ComparisonDirection::NE:
    return a != b;
  case ComparisonDirection::LT:
    return a < b;
  case ComparisonDirection::LE:
    return a <= b;
  case ComparisonDirection::GT:
    return a > b;
  case ComparisonDirection::GE:
    return a >= b;
  }
  llvm_unreachable("a comparison has six directions");
}

/// Whether operand \p index of a term is a predicate.
bool operandIsTruth(const Term &term, size_t index, bool isTruth) {
  if (term.name == "stablehlo.select")
    return isTruth || index == 0;
  return isTruth && !term.direction;
}

Lane Evaluator::operation(const Term &term, const std::vector<Lane> &x,
                          bool isTruth) const {
  llvm::StringRef name = llvm::StringRef(term.name).substr(10);
  Lane result;
  auto each = [&result](auto value) {
    for (size_t i = 0; i < result.size(); ++i)
      result[i] = value(i);
    return result;
  };
  if (term.direction)
    return each(
        [&](size_t i) { return compares(*term.direction, x[0][i], x[1][i]); });
  if (name == "select")
    return each([&](size_t i) { return x[0][i] ? x[1][i] : x[2][i]; });
  if (name == "clamp")
    return each([&](size_t i) {
      return std::min(std::max(x[1][i], x[0][i]), x[2][i]);
    });
  if (name == "not" && isTruth)
    return each([&](size_t i) { return !x[0][i]; });
  Function function = functionOf(name, isSigned);
  if (!function)
    throw std::invalid_argument(name.str());
  const Lane &right = x.size() > 1 ? x[1] : x[0];
  return each([&](size_t i) { return wrap(function(x[0][i], right[i])); });
}

Lane Evaluator::evaluate(const Term &term, bool isTruth) const {
  if (term.kind == Term::Number) {
    Lane result;
    result.fill(numberOf(term.name, isTruth));
    return result;
  }
  if (term.kind != Term::Operation)
    return letters.at(term.name[0]);
  std::vector<Lane> x;
  for (auto [index, operand] : llvm::enumerate(term.operands))
    x.push_back(evaluate(operand, operandIsTruth(term, index, isTruth)));
  return operation(term, x, isTruth);
}

/// The letters of a term, with whether each is a truth value.
void collect(const Term &term, bool isTruth, std::map<char, bool> &letters) {
  if (term.kind == Term::Variable || term.kind == Term::Constant)
    letters[term.name[0]] = isTruth;
  for (auto [index, operand] : llvm::enumerate(term.operands))
    collect(operand, operandIsTruth(term, index, isTruth), letters);
}

} // namespace

std::optional<std::string>
counterexampleInEightBits(const Term &left, const Term &right, bool isSigned) {
  const bool isTruth = left.givesTruth();
  std::map<char, bool> letters;
  collect(left, isTruth, letters);
  std::vector<std::pair<char, bool>> order(letters.begin(), letters.end());
  // The first letter takes all its values at once, the others in turn: it is
  // no predicate, which would have two only.
  llvm::stable_sort(
      order, [](const auto &a, const auto &b) { return a.second < b.second; });
  Evaluator evaluator(isSigned);
  int64_t turns = 1;
  for (size_t k = 1; k < order.size(); ++k)
    turns *= order[k].second ? 2 : 256;
  const int least = isSigned ? -128 : 0;
  for (int64_t turn = 0; turn < turns; ++turn) {
    int64_t rest = turn;
    for (auto [k, each] : llvm::enumerate(order)) {
      Lane &lane = evaluator.letters[each.first];
      int count = each.second ? 2 : 256, first = each.second ? 0 : least;
      if (k > 0)
        lane.fill(first + static_cast<int>(rest % count));
      else
        for (int i = 0; i < 256; ++i)
          lane[i] = first + i % count;
      rest = k > 0 ? rest / count : rest;
    }
    Lane a = evaluator.evaluate(left, isTruth);
    Lane b;
    try {
      b = evaluator.evaluate(right, isTruth);
    } catch (const std::invalid_argument &) {
      return notBuildable;
    }
    for (size_t i = 0; i < a.size(); ++i)
      if (a[i] != b[i]) {
        std::string values;
        for (const auto &each : order)
          values += (values.empty() ? "" : ", ") + std::string(1, each.first) +
                    " = " + std::to_string(evaluator.letters[each.first][i]);
        return values;
      }
  }
  return std::nullopt;
}

} // namespace sinter::test
