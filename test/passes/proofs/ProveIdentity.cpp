#include "passes/proofs/ProveIdentity.h"

#include "passes/IdentityText.h"
#include "passes/proofs/Arithmetic.h"
#include "passes/proofs/EightBits.h"
#include "llvm/ADT/STLExtras.h"
#include <sstream>

using z3::expr;

namespace sinter::test {
namespace {

/// An operation that the type does not have.
struct NotOfType {};
/// One that only the right side has: the rule would build what is not valid.
struct NotBuildable {};
/// An operation or number that has no theory.
struct NoTheory {
  std::string what;
};

/// Turns terms into formulas.
class Encoder {
public:
  Encoder(z3::context &context, const Arithmetic &deciding)
      : context(context), deciding(deciding), truths(truthValues(context)) {}

  /// What was computed on the way, and by what was divided.
  std::vector<expr> values, divisors;

  /// \p isTruth: the term is a predicate, whatever the deciding type is.
  expr encode(const Term &term, bool isTruth);

private:
  expr letter(char name, const z3::sort &sort);
  expr operation(const Term &term, bool isTruth);

  z3::context &context;
  const Arithmetic &deciding;
  Arithmetic truths;
  std::map<char, expr> letters;
};

expr Encoder::letter(char name, const z3::sort &sort) {
  auto found = letters.find(name);
  if (found == letters.end())
    found =
        letters
            .emplace(name, context.constant(std::string(1, name).c_str(), sort))
            .first;
  return found->second;
}

expr Encoder::operation(const Term &term, bool isTruth) {
  llvm::StringRef name = llvm::StringRef(term.name).substr(10);
  Arithmetic::Operands x;
  for (auto [index, operand] : llvm::enumerate(term.operands))
    x.push_back(encode(operand, name == "select" ? isTruth || index == 0
                                : term.direction ? false
                                                 : isTruth));
  if (name == "select")
    return ite(holds(x[0]), x[1], x[2]);
  if (term.direction)
    return deciding.compare(*term.direction, x[0], x[1]);
  if (name == "divide")
    divisors.push_back(x[1]);
  const Arithmetic &arithmetic = isTruth ? truths : deciding;
  auto found = arithmetic.operations.find(name.str());
  if (found != arithmetic.operations.end())
    return found->second(x);
  if (llvm::is_contained(arithmetic.beyondTheory, name))
    throw NoTheory{name.str()};
  throw NotOfType{};
}

expr Encoder::encode(const Term &term, bool isTruth) {
  const Arithmetic &arithmetic = isTruth ? truths : deciding;
  if (term.kind == Term::Number) {
    std::optional<expr> number = arithmetic.number(term.name);
    if (!number)
      throw NotOfType{};
    return *number;
  }
  expr value = term.kind == Term::Operation
                   ? operation(term, isTruth)
                   : letter(term.name[0], arithmetic.sort);
  if (!isTruth)
    values.push_back(value);
  return value;
}

/// The formula that some values make the sides differ.
expr difference(z3::context &context, const Identity &identity,
                const Arithmetic &arithmetic) {
  auto [left, right] = parseIdentity(identity.text);
  Encoder encoder(context, arithmetic);
  bool isTruth = left.givesTruth();
  expr before = encoder.encode(left, isTruth);
  // What is taken for granted is said of the left side.
  std::vector<expr> values = encoder.values;
  expr after = [&] {
    try {
      return encoder.encode(right, isTruth);
    } catch (const NotOfType &) {
      throw NotBuildable();
    }
  }();
  bool isFloat = arithmetic.sort.is_fpa(), isReal = arithmetic.sort.is_real();
  expr same = before == after;
  if ((identity.needs & noSignedZero) && isFloat && !isTruth)
    same = same || (isZero(before) && isZero(after));
  expr result = !same;
  for (const expr &value : values) {
    if (isFloat && (identity.needs & noNan))
      result = result && !isNan(value);
    if (isFloat && (identity.needs & noInfinity))
      result = result && !isInfinite(value);
  }
  if (isReal)
    for (const expr &divisor : encoder.divisors)
      result = result && divisor != 0;
  return result;
}

z3::tactic tacticFor(z3::context &context, const Arithmetic &arithmetic) {
  z3::params polynomials(context);
  polynomials.set("som", true);
  polynomials.set("flat", true);
  z3::tactic simplify = with(z3::tactic(context, "simplify"), polynomials);
  const char *rest = arithmetic.sort.is_bv()    ? "qfbv"
                     : arithmetic.sort.is_fpa() ? "qffp"
                                                : "smt";
  return simplify & z3::tactic(context, rest);
}

Verdict solve(const Identity &identity, z3::context &context,
              const Arithmetic &arithmetic, unsigned seconds) {
  z3::solver solver = tacticFor(context, arithmetic).mk_solver();
  solver.set("timeout", seconds * 1000);
  solver.add(difference(context, identity, arithmetic));
  switch (solver.check()) {
  case z3::unsat:
    return {Verdict::Proved, arithmetic.name, ""};
  case z3::sat: {
    std::ostringstream values;
    values << solver.get_model();
    return {Verdict::Refuted, arithmetic.name, values.str()};
  }
  case z3::unknown:
    break;
  }
  return {Verdict::Undecided, arithmetic.name, solver.reason_unknown()};
}

/// The types of an identity: floats as the real numbers where it needs more
/// than a word about special values.
std::vector<Arithmetic> typesOf(const Identity &identity,
                                z3::context &context) {
  auto is = [&](std::initializer_list<For> sets) {
    return llvm::is_contained(sets, identity.types);
  };
  std::vector<Arithmetic> types;
  if (is({For::Any, For::Integers, For::Booleans}))
    types.push_back(truthValues(context));
  for (bool isSigned : {true, false})
    if (is({For::Any, For::Integers, For::Numbers,
            isSigned ? For::Signed : For::Unsigned}) ||
        (isSigned && is({For::SignedOrFloats})))
      for (unsigned width : {32, 64})
        types.push_back(integers(context, width, isSigned));
  if (!is({For::Any, For::Floats, For::Numbers, For::SignedOrFloats}))
    return types;
  if (identity.needs & (reassociate | contract | reciprocal)) {
    types.push_back(reals(context));
    return types;
  }
  types.push_back(floats(context, "f16", 5, 10));
  types.push_back(floats(context, "f32", 8, 23));
  return types;
}

void proveInEightBits(const Identity &identity, bool isSigned,
                      std::vector<Verdict> &verdicts) {
  auto [left, right] = parseIdentity(identity.text);
  std::string type = isSigned ? "i8" : "ui8";
  try {
    auto values = counterexampleInEightBits(left, right, isSigned);
    verdicts.push_back({values ? Verdict::Refuted : Verdict::Proved, type,
                        values.value_or("")});
  } catch (const std::invalid_argument &) {
    // The type has no such operation.
  }
}

} // namespace

std::vector<Verdict> prove(const Identity &identity, unsigned seconds,
                           const std::set<std::string> &hopeless) {
  std::vector<Verdict> verdicts;
  z3::context context;
  for (const Arithmetic &arithmetic : typesOf(identity, context)) {
    if (arithmetic.name == "i32" || arithmetic.name == "ui32")
      proveInEightBits(identity, arithmetic.name == "i32", verdicts);
    if (hopeless.count(arithmetic.name)) {
      verdicts.push_back({Verdict::Undecided, arithmetic.name, "not tried"});
      continue;
    }
    try {
      verdicts.push_back(solve(identity, context, arithmetic, seconds));
    } catch (const NotOfType &) {
      // The rule never meets the type.
    } catch (const NotBuildable &) {
      verdicts.push_back({Verdict::Refuted, arithmetic.name, notBuildable});
    } catch (const NoTheory &missing) {
      verdicts.push_back({Verdict::NoTheory, arithmetic.name, missing.what});
    } catch (const z3::exception &error) {
      verdicts.push_back({Verdict::NoTheory, arithmetic.name, error.msg()});
    }
  }
  if (verdicts.empty())
    verdicts.push_back({Verdict::NoTheory, "complex", "complex numbers"});
  return verdicts;
}

std::string summary(const std::vector<Verdict> &verdicts) {
  std::string proved, rest;
  std::set<std::string> missing;
  for (const Verdict &verdict : verdicts) {
    switch (verdict.kind) {
    case Verdict::Proved:
      proved += (proved.empty() ? "" : " ") + verdict.type;
      break;
    case Verdict::Refuted:
      rest += "; WRONG on " + verdict.type;
      break;
    case Verdict::Undecided:
      rest += "; " + verdict.type + " undecided";
      break;
    case Verdict::NoTheory:
      if (missing.insert(verdict.why).second)
        rest += "; no theory of " + verdict.why;
      break;
    }
  }
  std::string text = proved.empty() ? "tested only" : "proved: " + proved;
  return text + rest;
}

} // namespace sinter::test
