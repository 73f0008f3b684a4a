//===- ElementwiseRecipes.cpp - drawing elementwise operations ------------===//
//
// Operations with one and with two operands of the result's type are found in
// the dialect itself; the table below says only what rounding they have.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Quant/QuantTypes.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "random/Draft.h"

using namespace mlir;

namespace sinter {

/// Operations that are not listed magnify.
static Rounding roundingOf(StringRef name) {
  static const llvm::StringSet<> exact = {"abs",
                                          "add",
                                          "and",
                                          "count_leading_zeros",
                                          "maximum",
                                          "minimum",
                                          "multiply",
                                          "negate",
                                          "not",
                                          "or",
                                          "popcnt",
                                          "shift_left",
                                          "shift_right_arithmetic",
                                          "shift_right_logical",
                                          "subtract",
                                          "xor"};
  static const llvm::StringSet<> rounds = {
      "cosine",   "exponential", "exponential_minus_one",
      "logistic", "sine",        "tanh"};
  if (exact.contains(name))
    return Rounding::Exact;
  return rounds.contains(name) ? Rounding::Rounds : Rounding::Magnifies;
}

/// Products and magnitudes of complex numbers are sums of rounded terms;
/// functions of them have poles, or grow as the exponential function does.
static Rounding roundingOf(StringRef name, Type element) {
  Rounding rounding = roundingOf(name);
  static const llvm::StringSet<> alsoComplex = {"add", "negate", "subtract"};
  if (!isa<ComplexType>(element) || alsoComplex.contains(name))
    return rounding;
  return rounding == Rounding::Exact ? Rounding::Rounds : Rounding::Magnifies;
}

static bool drawSameTypes(Draft &draft, StringRef fullName, int operands) {
  StringRef name = fullName.drop_front(StringRef("stablehlo.").size());
  // What atan2 makes of complex operands takes a logarithm of their quotient,
  // which is on its branch cut for operands of one direction (0, say): any
  // rounding decides on which side.
  const bool hasCut = name == "atan2";
  Value first = draft.pick([&](RankedTensorType type) {
    return !hasCut || !isa<ComplexType>(type.getElementType());
  });
  RankedTensorType type = draft.type();
  // 32 bits show whether f32 or f64 was computed in.
  if (first)
    if (auto quantized = dyn_cast<quant::QuantizedType>(
            getElementTypeOrSelf(first.getType()));
        quantized && quantized.getStorageTypeIntegralWidth() == 32)
      return false;
  if (first)
    type = cast<RankedTensorType>(first.getType());
  else
    first = draft.fresh(type);
  SmallVector<Value> values{first};
  for (int i = 1; i < operands; ++i)
    values.push_back(hasCut && isa<ComplexType>(type.getElementType())
                         ? draft.fresh(type)
                         : draft.valueOf(type));
  return draft.add(fullName, values, {}, std::nullopt,
                   roundingOf(name, type.getElementType()));
}

void addRegisteredRecipes(std::vector<Recipe> &recipes) {
  // Names of registered operations live as long as a context that has them.
  static const std::shared_ptr<MLIRContext> context = makeContext();
  for (RegisteredOperationName op : context->getRegisteredOperations()) {
    if (op.getDialectNamespace() != "stablehlo" ||
        !op.hasTrait<OpTrait::Elementwise>() ||
        !op.hasInterface<InferTypeOpInterface>())
      continue;
    const int operands = op.hasTrait<OpTrait::OneOperand>()           ? 1
                         : op.hasTrait<OpTrait::NOperands<2>::Impl>() ? 2
                                                                      : 0;
    const bool isKnown = llvm::any_of(recipes, [&](const Recipe &recipe) {
      return recipe.name == op.getStringRef();
    });
    if (operands == 0 || isKnown)
      continue;
    recipes.push_back({op.getStringRef().str(), [=](Draft &draft) {
                         return drawSameTypes(draft, op.getStringRef(),
                                              operands);
                       }});
  }
}

//===----------------------------------------------------------------------===//
// Other types of result
//===----------------------------------------------------------------------===//

static RankedTensorType withElement(Value value, Type element) {
  return cast<RankedTensorType>(value.getType()).clone(element);
}
static bool isComplexTensor(RankedTensorType type) {
  return isa<ComplexType>(type.getElementType());
}
static bool isRealTensor(RankedTensorType type) {
  return type.getElementType().isIntOrFloat();
}

static bool drawConvert(Draft &draft) {
  Value value = draft.pick([](RankedTensorType) { return true; });
  if (!value)
    return false;
  Type to = draft.elementType();
  // What was rounded in a narrow type would be compared as a wide one.
  bool magnifies =
      !isa<FloatType, ComplexType>(to) ||
      to != cast<RankedTensorType>(value.getType()).getElementType();
  return draft.add("stablehlo.convert", value, {},
                   SmallVector<Type>{withElement(value, to)},
                   magnifies ? Rounding::Magnifies : Rounding::Exact);
}

static bool drawCompare(Draft &draft) {
  Value lhs = draft.pick([](RankedTensorType) { return true; });
  if (!lhs)
    return false;
  auto type = cast<RankedTensorType>(lhs.getType());
  using stablehlo::ComparisonDirection;
  static constexpr ComparisonDirection directions[] = {
      ComparisonDirection::EQ, ComparisonDirection::NE,
      ComparisonDirection::GE, ComparisonDirection::GT,
      ComparisonDirection::LE, ComparisonDirection::LT};
  MLIRContext *context = draft.builder.getContext();
  SmallVector<NamedAttribute> attributes{draft.attribute(
      "comparison_direction", stablehlo::ComparisonDirectionAttr::get(
                                  context, draft.dice.among(directions)))};
  if (isa<FloatType>(type.getElementType()) && draft.dice.oneIn(3))
    attributes.push_back(draft.attribute(
        "compare_type", stablehlo::ComparisonTypeAttr::get(
                            context, stablehlo::ComparisonType::TOTALORDER)));
  if (type.getElementType().isSignlessInteger() && draft.dice.oneIn(3))
    attributes.push_back(draft.attribute(
        "compare_type", stablehlo::ComparisonTypeAttr::get(
                            context, stablehlo::ComparisonType::UNSIGNED)));
  Value rhs = draft.valueOf(type);
  return draft.add("stablehlo.compare", {lhs, rhs}, attributes,
                   SmallVector<Type>{type.clone(draft.builder.getI1Type())},
                   Rounding::Magnifies);
}

static bool drawSelect(Draft &draft) {
  Value chosen = draft.pick([](RankedTensorType) { return true; });
  if (!chosen)
    return false;
  auto type = cast<RankedTensorType>(chosen.getType());
  auto flags = RankedTensorType::get(draft.dice.oneIn(3) ? ArrayRef<int64_t>()
                                                         : type.getShape(),
                                     draft.builder.getI1Type());
  Value pred = draft.valueOf(flags), other = draft.valueOf(type);
  return draft.add("stablehlo.select", {pred, chosen, other}, {},
                   SmallVector<Type>{type}, Rounding::Exact);
}

static bool drawClamp(Draft &draft) {
  Value value = draft.pick(isRealTensor);
  if (!value)
    return false;
  auto type = cast<RankedTensorType>(value.getType());
  auto limit = [&] {
    return draft.valueOf(draft.dice.oneIn(2)
                             ? RankedTensorType::get({}, type.getElementType())
                             : type);
  };
  Value low = limit(), high = limit();
  return draft.add("stablehlo.clamp", {low, value, high}, {},
                   SmallVector<Type>{type}, Rounding::Exact);
}

static bool drawComplex(Draft &draft) {
  Value real = draft.pick([](RankedTensorType type) {
    return type.getElementType().isF32() || type.getElementType().isF64();
  });
  if (!real)
    return false;
  auto type = cast<RankedTensorType>(real.getType());
  Value imaginary = draft.valueOf(type);
  return draft.add("stablehlo.complex", {real, imaginary}, {},
                   SmallVector<Type>{withElement(
                       real, ComplexType::get(type.getElementType()))},
                   Rounding::Exact);
}

static bool drawPart(Draft &draft, StringRef name) {
  Value value = draft.pick(isComplexTensor);
  if (!value)
    return false;
  auto element = cast<ComplexType>(
      cast<RankedTensorType>(value.getType()).getElementType());
  return draft.add(
      name, value, {},
      SmallVector<Type>{withElement(value, element.getElementType())},
      Rounding::Exact);
}

static bool drawIsFinite(Draft &draft) {
  Value value = draft.pick([](RankedTensorType type) {
    return isa<FloatType>(type.getElementType());
  });
  return value && draft.add("stablehlo.is_finite", value, {},
                            SmallVector<Type>{
                                withElement(value, draft.builder.getI1Type())},
                            Rounding::Magnifies);
}

static bool drawBitcast(Draft &draft) {
  Value value = draft.pick([](RankedTensorType type) {
    return type.getElementType().isIntOrFloat() &&
           type.getElementTypeBitWidth() >= 8;
  });
  if (!value)
    return false;
  // The bits of a rounded number are no number to compare with a tolerance.
  Type to = draft.integerType();
  return draft.add("stablehlo.bitcast_convert", value, {},
                   SmallVector<Type>{withElement(value, to)},
                   Rounding::Magnifies);
}

static bool drawReducePrecision(Draft &draft) {
  Value value = draft.pick([](RankedTensorType type) {
    return isa<FloatType>(type.getElementType());
  });
  if (!value)
    return false;
  auto bits = [&](StringRef name, int64_t low, int64_t high) {
    return draft.attribute(
        name, draft.builder.getI32IntegerAttr(draft.dice.between(low, high)));
  };
  return draft.add("stablehlo.reduce_precision", value,
                   {bits("exponent_bits", 2, 11), bits("mantissa_bits", 1, 30)},
                   std::nullopt, Rounding::Magnifies);
}

static bool drawMap(Draft &draft) {
  Value first = draft.pick(isPlain);
  if (!first)
    return false;
  auto type = cast<RankedTensorType>(first.getType());
  SmallVector<Value> operands{first};
  while (operands.size() < 3 && draft.dice.oneIn(2))
    operands.push_back(draft.valueOf(
        draft.dice.oneIn(2) ? type : type.clone(draft.elementType())));
  SmallVector<int64_t> dimensions =
      llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  RankedTensorType result = type.clone(
      draft.dice.oneIn(3) ? draft.elementType() : type.getElementType());
  return draft.add(
      "stablehlo.map", operands, {draft.list("dimensions", dimensions)},
      SmallVector<Type>{result}, Rounding::Magnifies, 1, [&](Operation *op) {
        draft.expressionBlock(op->getRegion(0), ValueRange(operands).getTypes(),
                              {result});
      });
}

std::vector<Recipe> elementwiseRecipes() {
  return {
      {"stablehlo.convert", drawConvert},
      {"stablehlo.compare", drawCompare},
      {"stablehlo.select", drawSelect},
      {"stablehlo.clamp", drawClamp},
      {"stablehlo.complex", drawComplex},
      {"stablehlo.real",
       [](Draft &draft) { return drawPart(draft, "stablehlo.real"); }},
      {"stablehlo.imag",
       [](Draft &draft) { return drawPart(draft, "stablehlo.imag"); }},
      {"stablehlo.is_finite", drawIsFinite},
      {"stablehlo.bitcast_convert", drawBitcast},
      {"stablehlo.reduce_precision", drawReducePrecision},
      {"stablehlo.map", drawMap},
  };
}

} // namespace sinter
