#include "passes/Identities.h"

#include "graph/Broadcast.h"
#include "graph/ElementUses.h"
#include "graph/stablehlo/ElementOrder.h"
#include "graph/stablehlo/StablehloOps.h"
#include "passes/Groups.h"
#include "passes/IdentityText.h"
#include "passes/Matching.h"
#include <cmath>

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter {
namespace {

using Bindings = llvm::SmallDenseMap<char, Value, 4>;

/// An identity, parsed.
struct Parsed {
  Identity identity;
  Term left, right;

  Values apply(mlir::Operation *op, OpBuilder &builder) const;
};

} // namespace

static bool commutes(StringRef name) {
  return llvm::is_contained(
      {AddOp::getOperationName(), MulOp::getOperationName(),
       AndOp::getOperationName(), OrOp::getOperationName(),
       XorOp::getOperationName(), MaxOp::getOperationName(),
       MinOp::getOperationName()},
      name);
}

/// The least or greatest integer of a type.
static APInt minOrMaxOf(IntegerType type, bool greatest) {
  unsigned width = type.getWidth();
  if (type.isUnsigned() || width == 1)
    return greatest ? APInt::getMaxValue(width) : APInt::getMinValue(width);
  return greatest ? APInt::getSignedMaxValue(width)
                  : APInt::getSignedMinValue(width);
}

/// The value of a word like "least" in an integer type.
static std::optional<APInt> namedInteger(StringRef word, IntegerType type) {
  if (word == "ones")
    return APInt::getAllOnes(type.getWidth());
  if (word == "least" || word == "greatest")
    return minOrMaxOf(type, word == "greatest");
  return std::nullopt;
}

static double numberOf(StringRef word) {
  double number = 0;
  if (word.getAsDouble(number))
    llvm::report_fatal_error("an identity has the unknown word " + word);
  return number;
}

static bool isNumber(Value value, StringRef word) {
  Type element = tensorOf(value).getElementType();
  if (auto integer = dyn_cast<IntegerType>(element))
    if (std::optional<APInt> named = namedInteger(word, integer))
      return integerSplat(value) == named;
  if (word == "ones" || word == "least" || word == "greatest")
    return false;
  std::optional<double> splat = splatValue(value);
  double number = numberOf(word);
  return splat && *splat == number &&
         std::signbit(*splat) == std::signbit(number);
}

/// A constant, seen through one broadcast.
static bool isConstantLike(Value value) {
  if (auto broadcast = Broadcast::of(value))
    value = broadcast->operand;
  return value.getDefiningOp<ConstantOp>() != nullptr;
}

namespace {
/// Terms and the values that they must still match.
using Open = SmallVector<std::pair<const Term *, Value>, 8>;
} // namespace

static bool matchAll(Open open, Bindings &bindings);

/// Matches the operands of \p op in one order that \p term allows, and then all
/// that is \p open.
static bool matchOperands(const Term &term, mlir::Operation *op,
                          const Open &open, Bindings &bindings,
                          bool inAnyOrder = true) {
  size_t count = term.operands.size();
  if (op->getNumOperands() != count)
    return false;
  if (auto compare = dyn_cast<CompareOp>(op))
    if (compare.getComparisonDirection() != term.direction)
      return false;
  bool turns = inAnyOrder && commutes(term.name);
  for (size_t first = 0; first < (turns ? 2 : 1); ++first) {
    Open attempt = open;
    // The last is taken first.
    for (size_t i = count; i-- > 0;)
      attempt.push_back(
          {&term.operands[i], op->getOperand((first + i) % count)});
    Bindings found = bindings;
    if (matchAll(std::move(attempt), found)) {
      bindings = std::move(found);
      return true;
    }
  }
  return false;
}

/// Whether all terms match together, with \p bindings extended.
static bool matchAll(Open open, Bindings &bindings) {
  while (!open.empty()) {
    auto [term, value] = open.pop_back_val();
    if (!isa<RankedTensorType>(value.getType()))
      return false;
    if (term->kind == Term::Operation) {
      mlir::Operation *op = value.getDefiningOp();
      return op && op->getName().getStringRef() == term->name &&
             (!term->onlyReader || hasOneElementUse(value)) &&
             matchOperands(*term, op, open, bindings);
    }
    if (term->kind == Term::Number) {
      if (!isNumber(value, term->name))
        return false;
      continue;
    }
    bool mustBeConstant = term->kind == Term::Constant;
    bool mustNotBe = term->name == "v";
    if ((mustBeConstant || mustNotBe) &&
        isConstantLike(value) != mustBeConstant)
      return false;
    if (bindings.try_emplace(term->name[0], value).first->second != value)
      return false;
  }
  return true;
}

/// Whether the right side can be built with values of \p type: every operand
/// but a predicate must have this type.
static bool fits(const Term &term, const Bindings &bindings, Type type) {
  if (term.kind == Term::Variable || term.kind == Term::Constant)
    return bindings.lookup(term.name[0]).getType() == type;
  if (term.direction) {
    // Its operands agree with each other, as they did on the left side.
    return llvm::all_of(term.operands, [&](const Term &each) {
      return each.kind == Term::Variable || each.kind == Term::Constant;
    });
  }
  bool isSelect = term.name == SelectOp::getOperationName();
  for (auto [index, operand] : llvm::enumerate(term.operands))
    if (!(isSelect && index == 0) && !fits(operand, bindings, type))
      return false;
  return true;
}

namespace {
/// Bounds of the magnitudes of elements, zeros left out.
struct Magnitudes {
  double least = std::numeric_limits<double>::infinity(), most = 0;
};
} // namespace

/// Bounds of the value of \p term, which has constants only; nothing for other
/// terms and for operations without known bounds.
static std::optional<Magnitudes> magnitudesOf(const Term &term,
                                              const Bindings &bindings) {
  if (term.kind == Term::Number) {
    double number = std::abs(numberOf(term.name));
    return Magnitudes{number, number};
  }
  if (term.kind == Term::Variable)
    return std::nullopt;
  if (term.kind == Term::Constant) {
    Value value = bindings.lookup(term.name[0]);
    if (auto broadcast = Broadcast::of(value))
      value = broadcast->operand;
    std::optional<Tensor> tensor = constantValue(value);
    if (!tensor)
      return std::nullopt;
    Magnitudes all;
    for (int64_t i = 0; i < tensor->size(); ++i)
      if (double number = std::abs(tensor->toDouble(i)); number != 0) {
        all.least = std::min(all.least, number);
        all.most = std::max(all.most, number);
      }
    return all;
  }
  if (term.operands.size() != 2)
    return std::nullopt;
  auto a = magnitudesOf(term.operands[0], bindings);
  auto b = magnitudesOf(term.operands[1], bindings);
  if (!a || !b)
    return std::nullopt;
  if (term.name == MulOp::getOperationName())
    return Magnitudes{a->least * b->least, a->most * b->most};
  if (term.name == DivOp::getOperationName())
    return Magnitudes{a->least / b->most, a->most / b->least};
  // Additions are exact below the normal numbers.
  if (term.name == AddOp::getOperationName() ||
      term.name == SubtractOp::getOperationName())
    return Magnitudes{std::numeric_limits<double>::infinity(),
                      a->most + b->most};
  return std::nullopt;
}

/// Whether floats computed from constants on the right side are normal numbers
/// of \p element: the constants one by one may have been harmless.
static bool staysInRange(const Term &term, const Bindings &bindings,
                         FloatType element) {
  if (term.kind != Term::Operation)
    return true;
  const llvm::fltSemantics &semantics = element.getFloatSemantics();
  if (auto bounds = magnitudesOf(term, bindings)) {
    double most = APFloat::getLargest(semantics).convertToDouble();
    double least = APFloat::getSmallestNormalized(semantics).convertToDouble();
    return bounds->most <= most && bounds->least >= least;
  }
  return llvm::all_of(term.operands, [&](const Term &each) {
    return staysInRange(each, bindings, element);
  });
}

/// A splat of the number \p word in the shape of what \p root computes.
static Value buildNumber(StringRef word, RankedTensorType type,
                         mlir::Operation *root, OpBuilder &builder) {
  Location location = root->getLoc();
  auto made = type.hasStaticShape() ? type : type.clone(ArrayRef<int64_t>());
  std::optional<APInt> named;
  if (auto integer = dyn_cast<IntegerType>(type.getElementType()))
    named = namedInteger(word, integer);
  Value number = named ? builder.create<ConstantOp>(
                             location, made,
                             DenseElementsAttr::get(
                                 made, Attribute(IntegerAttr::get(
                                           type.getElementType(), *named))))
                       : makeSplat(builder, location, made, numberOf(word));
  return type.hasStaticShape() ? number
                               : broadcastTo(builder, location, type, number,
                                             {}, operandOfSameShape(root));
}

static void collectConstants(const Term &term, const Bindings &bindings,
                             SmallVectorImpl<Value> &constants, bool &others) {
  if (term.kind == Term::Constant)
    constants.push_back(bindings.lookup(term.name[0]));
  others |= term.kind == Term::Variable;
  for (const Term &operand : term.operands)
    collectConstants(operand, bindings, constants, others);
}

/// The broadcast that makes all constants of a term of constants only, where it
/// is the same for all; null else.
static std::optional<Broadcast> commonBroadcast(const Term &term,
                                                const Bindings &bindings) {
  SmallVector<Value> constants;
  bool others = false;
  collectConstants(term, bindings, constants, others);
  if (others || constants.empty())
    return std::nullopt;
  std::optional<Broadcast> first = Broadcast::of(constants[0]);
  if (!first)
    return std::nullopt;
  for (Value value : constants) {
    std::optional<Broadcast> broadcast = Broadcast::of(value);
    // All are operands of one computation: they have the same shape.
    if (!broadcast || broadcast->type() != first->type() ||
        broadcast->operand.getType() != first->operand.getType() ||
        broadcast->dimensions != first->dimensions)
      return std::nullopt;
  }
  return first;
}

static Value build(const Term &term, const Bindings &bindings,
                   RankedTensorType type, mlir::Operation *root,
                   OpBuilder &builder) {
  Location location = root->getLoc();
  if (term.kind == Term::Variable || term.kind == Term::Constant)
    return bindings.lookup(term.name[0]);
  if (term.kind == Term::Number)
    return buildNumber(term.name, type, root, builder);
  // op(broadcast(c), broadcast(d)) as broadcast(op(c, d)): nothing large is
  // computed.
  if (std::optional<Broadcast> broadcast = commonBroadcast(term, bindings)) {
    Bindings sources;
    for (auto [letter, value] : bindings)
      if (auto each = Broadcast::of(value))
        sources[letter] = each->operand;
    Value small =
        build(term, sources, tensorOf(broadcast->operand), root, builder);
    return broadcast->rebuild(builder, location, small);
  }
  SmallVector<Value> operands;
  for (const Term &operand : term.operands)
    operands.push_back(build(operand, bindings, type, root, builder));
  if (term.direction) {
    auto compare = dyn_cast<CompareOp>(root);
    if (!compare)
      compare = root->getOperand(0).getDefiningOp<CompareOp>();
    return builder.create<CompareOp>(location, type, operands[0], operands[1],
                                     *term.direction,
                                     compare.getCompareTypeAttr());
  }
  OperationState state(location, term.name, operands, TypeRange(type));
  return builder.create(state)->getResult(0);
}

static bool holdsFor(For types, Type element) {
  auto integer = dyn_cast<IntegerType>(element);
  switch (types) {
  case For::Any:
    return integer || isa<FloatType, ComplexType>(element);
  case For::Integers:
    return !!integer;
  case For::Signed:
    return integer && !integer.isUnsigned() && integer.getWidth() > 1;
  case For::SignedOrFloats:
    return holdsFor(For::Signed, element) || holdsFor(For::Floats, element);
  case For::Unsigned:
    return integer && integer.isUnsigned();
  case For::Booleans:
    return integer && integer.getWidth() == 1;
  case For::Floats:
    return isa<FloatType>(element);
  case For::Numbers:
    return isa<FloatType>(element) || (integer && integer.getWidth() > 1);
  }
  return false;
}

/// The comparison that \p left, which \p op may match, begins with or takes
/// first, if any.
static CompareOp comparisonOf(const Term &left, mlir::Operation *op) {
  if (left.direction)
    return dyn_cast<CompareOp>(op);
  const bool comparesFirst =
      !left.operands.empty() && left.operands.front().direction;
  return comparesFirst ? op->getOperand(0).getDefiningOp<CompareOp>()
                       : CompareOp();
}

/// Whether the identity holds for the element type: of the comparison's
/// operands or, without a comparison, of the result.
static bool fitsTypes(const Identity &identity, const Term &left,
                      const Term &right, mlir::Operation *op) {
  CompareOp compare = comparisonOf(left, op);
  Type element = tensorOf(compare ? Value(compare.getLhs()) : op->getResult(0))
                     .getElementType();
  if (!compare)
    return holdsFor(identity.types, element);
  // Other operations go by the type, not by the comparison's.
  const bool goesByType =
      right.kind == Term::Operation && !right.direction && !left.direction;
  return holdsFor(identity.types, comparedType(compare)) &&
         (!goesByType || !comparesOtherwise(compare));
}

Values Parsed::apply(mlir::Operation *op, OpBuilder &builder) const {
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!type)
    return {};
  Bindings bindings;
  if (!fitsTypes(identity, left, right, op) ||
      !matchOperands(left, op, {}, bindings,
                     /*inAnyOrder=*/!identity.isForm))
    return {};
  if ((right.hasNumber() && !type.hasStaticShape() &&
       !operandOfSameShape(op)) ||
      !fits(right, bindings, type))
    return {};
  auto element = dyn_cast<FloatType>(type.getElementType());
  if (element && !staysInRange(right, bindings, element))
    return {};
  return {build(right, bindings, type, op, builder)};
}

std::vector<RewriteRule> rulesOf(ArrayRef<Identity> identities) {
  std::vector<RewriteRule> rules;
  for (const Identity &identity : identities) {
    auto [left, right] = parseIdentity(identity.text);
    auto parsed = std::make_shared<Parsed>(Parsed{identity, left, right});
    rules.push_back({identity.label, identity.text, parsed->left.name,
                     [parsed](mlir::Operation *op, OpBuilder &builder) {
                       return parsed->apply(op, builder);
                     },
                     identity.needs, identity.isForm, &identity});
  }
  return rules;
}

} // namespace sinter
