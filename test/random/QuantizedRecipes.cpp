//===- QuantizedRecipes.cpp - drawing operations on quantised tensors -----===//

#include "graph/PermutedType.h"
#include "mlir/Dialect/Quant/QuantTypes.h"
#include "random/QuantizedDraw.h"

using namespace mlir;

namespace sinter {

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

static double drawScale(Draft &draft) {
  return 0.0625 * draft.dice.between(1, 8);
}

Type drawQuantizedElement(Draft &draft) {
  constexpr unsigned widths[] = {4, 8, 8, 16, 32};
  const unsigned width = draft.dice.among(widths);
  if (width == 32 || draft.dice.oneIn(2))
    return drawQuantizedElement(draft, width, true);
  return quant::UniformQuantizedType::get(
      0, draft.builder.getIntegerType(width), draft.builder.getF32Type(),
      drawScale(draft), draft.dice.between(0, 6), 0, (int64_t(1) << width) - 1);
}

Type drawQuantizedElement(Draft &draft, unsigned width, bool hasZeroPoint) {
  const int64_t half = int64_t(1) << (width - 1);
  return quant::UniformQuantizedType::get(
      quant::QuantizationFlags::Signed, draft.builder.getIntegerType(width),
      draft.builder.getF32Type(), drawScale(draft),
      hasZeroPoint ? draft.dice.between(-4, 4) : 0, -half, half - 1);
}

Type drawElementPerAxis(Draft &draft, unsigned width, bool hasZeroPoints,
                        int64_t size, int64_t axis) {
  const int64_t half = int64_t(1) << (width - 1);
  SmallVector<double> scales;
  SmallVector<int64_t> zeroPoints;
  for (int64_t i = 0; i < size; ++i) {
    scales.push_back(drawScale(draft));
    zeroPoints.push_back(hasZeroPoints ? draft.dice.between(-4, 4) : 0);
  }
  return quant::UniformQuantizedPerAxisType::get(
      quant::QuantizationFlags::Signed, draft.builder.getIntegerType(width),
      draft.builder.getF32Type(), scales, zeroPoints, axis, -half, half - 1);
}

/// An element type for tensors of the shape of \p type, sometimes per axis.
static Type drawElementFor(Draft &draft, RankedTensorType type) {
  if (type.getRank() == 0 || !draft.dice.oneIn(3))
    return drawQuantizedElement(draft);
  const int64_t axis = draft.dice.between(0, type.getRank() - 1);
  return drawElementPerAxis(draft, 8, draft.dice.oneIn(2),
                            type.getDimSize(axis), axis);
}

//===----------------------------------------------------------------------===//
// Quantising and back
//===----------------------------------------------------------------------===//

/// \p value in a quantised type, or null.
static Value quantized(Draft &draft, Value value, Type element) {
  Operation *op = draft.add("stablehlo.uniform_quantize", value, {},
                            SmallVector<Type>{tensorOf(value).clone(element)},
                            Rounding::Magnifies);
  return op ? op->getResult(0) : Value();
}

bool dequantizes(Draft &draft, Value value) {
  return value && draft.add("stablehlo.uniform_dequantize", value, {},
                            SmallVector<Type>{tensorOf(value).clone(
                                draft.builder.getF32Type())},
                            Rounding::Exact);
}

static Value pickToQuantize(Draft &draft, int64_t lowestRank,
                            int64_t highestRank = 8) {
  return draft.pick([=](RankedTensorType type) {
    return type.getElementType().isF32() && type.getNumElements() > 0 &&
           type.getRank() >= lowestRank && type.getRank() <= highestRank;
  });
}

/// In another order, from behind, or as it is. Null for null.
static Value moved(Draft &draft, Value value) {
  if (!value || tensorOf(value).getRank() == 0 || !draft.dice.oneIn(3))
    return value;
  RankedTensorType type = tensorOf(value);
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  std::swap(draft.dice.among(order), draft.dice.among(order));
  Operation *op =
      draft.dice.oneIn(3) && !isQuantizedPerAxis(type)
          ? draft.add("stablehlo.reverse", value,
                      draft.list("dimensions",
                                 draft.dice.between(0, type.getRank() - 1)),
                      SmallVector<Type>{type}, Rounding::Exact)
          : draft.add(
                "stablehlo.transpose", value, draft.list("permutation", order),
                SmallVector<Type>{permutedType(type, order)}, Rounding::Exact);
  return op ? op->getResult(0) : Value();
}

/// Quantised, perhaps once more in another type.
static bool drawQuantize(Draft &draft) {
  Value value = pickToQuantize(draft, 0);
  if (!value)
    return false;
  Value first = moved(
      draft, quantized(draft, value, drawElementFor(draft, tensorOf(value))));
  if (first && draft.dice.oneIn(3))
    first = moved(
        draft, quantized(draft, first, drawElementFor(draft, tensorOf(first))));
  return dequantizes(draft, first);
}

/// An operation on two quantised tensors.
static bool drawOperation(Draft &draft) {
  Value lhs = pickToQuantize(draft, 0);
  if (!lhs)
    return false;
  static constexpr StringRef names[] = {
      "stablehlo.add",     "stablehlo.subtract", "stablehlo.multiply",
      "stablehlo.maximum", "stablehlo.minimum",  "stablehlo.divide"};
  Value rhs = draft.valueOf(tensorOf(lhs));
  const Type type = drawQuantizedElement(draft);
  auto another = [&] {
    return draft.dice.oneIn(2) ? type : drawQuantizedElement(draft);
  };
  Value a = quantized(draft, lhs, type), b = quantized(draft, rhs, another());
  if (!a || !b)
    return false;
  Operation *op = draft.add(draft.dice.among(names), {a, b}, {},
                            SmallVector<Type>{tensorOf(a).clone(another())},
                            Rounding::Magnifies);
  return op && dequantizes(draft, op->getResult(0));
}

/// Additions, and what moves elements, take types per axis.
static bool drawPerAxis(Draft &draft) {
  Value lhs = pickToQuantize(draft, 1);
  if (!lhs)
    return false;
  const RankedTensorType type = tensorOf(lhs);
  const int64_t axis = draft.dice.between(0, type.getRank() - 1);
  const Type element = drawElementPerAxis(draft, 8, draft.dice.oneIn(2),
                                          type.getDimSize(axis), axis);
  Value a = quantized(draft, lhs, element),
        b = quantized(draft, draft.valueOf(type), element);
  if (!a || !b)
    return false;
  Operation *op =
      draft.add("stablehlo.add", {a, b}, {}, SmallVector<Type>{tensorOf(a)},
                Rounding::Magnifies);
  return op && dequantizes(draft, moved(draft, op->getResult(0)));
}

/// A chain of rescales, what moves elements, and what joins two tensors of one
/// scale.
static bool drawRescales(Draft &draft) {
  Value value = pickToQuantize(draft, 1, 4);
  if (!value)
    return false;
  constexpr unsigned widths[] = {8, 8, 16};
  auto element = [&] {
    return drawQuantizedElement(draft, draft.dice.among(widths), true);
  };
  Value x = quantized(draft, value, element());
  for (int64_t steps = draft.dice.between(2, 6); x && steps > 0; --steps) {
    const RankedTensorType type = tensorOf(x);
    if (draft.dice.oneIn(3)) {
      x = moved(draft, x);
      continue;
    }
    if (draft.dice.oneIn(2)) {
      x = quantized(draft, x, element());
      continue;
    }
    Value beside = draft.valueOf(
        RankedTensorType::get(type.getShape(), draft.builder.getF32Type()));
    beside = beside ? quantized(draft, beside, element()) : Value();
    if (beside && tensorOf(beside) != type)
      beside = quantized(draft, beside, type.getElementType());
    if (!beside)
      return false;
    static constexpr StringRef names[] = {"stablehlo.maximum",
                                          "stablehlo.minimum", "stablehlo.add"};
    Operation *op = draft.add(draft.dice.among(names), {x, beside}, {},
                              SmallVector<Type>{type}, Rounding::Magnifies);
    x = op ? op->getResult(0) : Value();
  }
  return dequantizes(draft, x);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// The type of a product's second operand, with a scale for each of its columns
/// or one for all.
static Type drawWeights(Draft &draft, bool hasZeroPoints, int64_t columns,
                        int64_t axis) {
  return draft.dice.oneIn(2)
             ? drawElementPerAxis(draft, 8, hasZeroPoints, columns, axis)
             : drawQuantizedElement(draft, 8, hasZeroPoints);
}

/// The last dimension of one by the first of the other.
static bool drawQuantizedDotGeneral(Draft &draft) {
  Value lhs = pickToQuantize(draft, 1);
  if (!lhs)
    return false;
  const RankedTensorType type = tensorOf(lhs);
  const int64_t columns = draft.size(4, 40);
  Value rhs = draft.valueOf(type.clone({type.getShape().back(), columns}));
  SmallVector<int64_t> shape(type.getShape());
  shape.back() = columns;
  Value a = quantized(draft, lhs, drawQuantizedElement(draft, 8, true));
  Value b = quantized(draft, rhs, drawWeights(draft, false, columns, 1));
  if (!a || !b)
    return false;
  auto numbers = stablehlo::DotDimensionNumbersAttr::get(
      draft.builder.getContext(), {}, {}, type.getRank() - 1, 0);
  const unsigned width = draft.dice.oneIn(2) ? 8 : 32;
  Operation *op =
      draft.add("stablehlo.dot_general", {a, b},
                {draft.attribute("dot_dimension_numbers", numbers)},
                SmallVector<Type>{RankedTensorType::get(
                    shape, drawQuantizedElement(draft, width, false))},
                Rounding::Magnifies);
  return op && dequantizes(draft, op->getResult(0));
}

/// Matrices, by `dot` or an einsum; both sides may have zero points.
static bool drawMatrices(Draft &draft) {
  Value lhs = pickToQuantize(draft, 2, 2);
  if (!lhs)
    return false;
  const RankedTensorType type = tensorOf(lhs);
  const int64_t columns = draft.size(4, 40);
  Value rhs = draft.valueOf(type.clone({type.getDimSize(1), columns}));
  Value a = quantized(draft, lhs, drawQuantizedElement(draft, 8, true));
  static constexpr StringRef configs[] = {"", "", "ij,jk->ik", "ij,jk->ki",
                                          "ij,jk->k"};
  const StringRef config = draft.dice.among(configs);
  Value b = quantized(draft, rhs,
                      config.empty() ? drawWeights(draft, true, columns, 1)
                                     : drawQuantizedElement(draft, 8, true));
  if (!a || !b)
    return false;
  SmallVector<int64_t> shape{type.getDimSize(0), columns};
  if (config.ends_with("ki"))
    std::swap(shape[0], shape[1]);
  else if (config.ends_with(">k"))
    shape.erase(shape.begin());
  SmallVector<NamedAttribute> attributes;
  if (!config.empty())
    attributes.push_back(
        draft.attribute("einsum_config", draft.builder.getStringAttr(config)));
  const unsigned width = draft.dice.oneIn(2) ? 8 : 32;
  Operation *op = draft.add(
      config.empty() ? "stablehlo.dot" : "stablehlo.einsum", {a, b}, attributes,
      SmallVector<Type>{RankedTensorType::get(
          shape, drawQuantizedElement(draft, width, true))},
      Rounding::Magnifies);
  return op && dequantizes(draft, op->getResult(0));
}

static bool drawQuantizedUnaryEinsum(Draft &draft) {
  Value value = pickToQuantize(draft, 2, 2);
  if (!value)
    return false;
  const RankedTensorType type = tensorOf(value);
  Value a = quantized(draft, value, drawQuantizedElement(draft));
  static constexpr StringRef configs[] = {"ij->j", "ij->i", "ij->", "ij->ji"};
  const StringRef config = draft.dice.among(configs);
  SmallVector<int64_t> shape;
  for (char letter : config.drop_front(4))
    shape.push_back(type.getDimSize(letter - 'i'));
  if (!a)
    return false;
  Operation *op = draft.add(
      "stablehlo.unary_einsum", a,
      draft.attribute("einsum_config", draft.builder.getStringAttr(config)),
      SmallVector<Type>{
          RankedTensorType::get(shape, drawQuantizedElement(draft))},
      Rounding::Magnifies);
  return op && dequantizes(draft, op->getResult(0));
}

std::vector<Recipe> quantizedRecipes() {
  return {
      {"stablehlo.uniform_quantize", drawQuantize},
      {"stablehlo.uniform_dequantize", drawQuantize},
      {"stablehlo.uniform_quantize", drawOperation},
      {"stablehlo.uniform_quantize", drawPerAxis},
      {"stablehlo.uniform_quantize", drawRescales},
      {"stablehlo.uniform_quantize", drawQuantizedDotGeneral},
      {"stablehlo.uniform_quantize", drawMatrices},
      {"stablehlo.uniform_quantize", drawQuantizedUnaryEinsum},
  };
}

} // namespace sinter
