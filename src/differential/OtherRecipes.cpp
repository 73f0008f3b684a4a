//===- OtherRecipes.cpp - drawing quantised, deprecated and rare ones -----===//

#include "differential/Draft.h"
#include "mlir/Dialect/Quant/QuantTypes.h"

using namespace mlir;

namespace sinter {

namespace {

Value pickAny(Draft &draft) {
  return draft.pick([](RankedTensorType) { return true; });
}

quant::UniformQuantizedType quantizedType(Draft &draft) {
  Builder &builder = draft.builder;
  const double scale = 0.0625 * draft.dice.between(1, 8);
  constexpr unsigned widths[] = {4, 8, 8, 16, 32};
  const unsigned width = draft.dice.among(widths);
  const bool isSigned = width == 32 || draft.dice.oneIn(2);
  const int64_t lowest = isSigned ? -(int64_t(1) << (width - 1)) : 0;
  const int64_t zeroPoint =
      isSigned ? draft.dice.between(-4, 4) : draft.dice.between(0, 6);
  return quant::UniformQuantizedType::get(
      isSigned ? quant::QuantizationFlags::Signed : 0,
      builder.getIntegerType(width), builder.getF32Type(), scale, zeroPoint,
      lowest, lowest + ((int64_t(1) << width) - 1));
}

/// \p value in a quantised type, or null. Values of such types stay between
/// quantising and dequantising, so that no other recipe meets them but
/// movement.
Value quantized(Draft &draft, Value value, Type element) {
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

Value pickToQuantize(Draft &draft, int64_t lowestRank) {
  return draft.pick([=](RankedTensorType type) {
    return type.getElementType().isF32() && type.getNumElements() > 0 &&
           type.getRank() >= lowestRank;
  });
}

/// Quantised, perhaps once more in another type.
bool drawQuantize(Draft &draft) {
  Value value = pickToQuantize(draft, 0);
  if (!value)
    return false;
  Value first = quantized(draft, value, quantizedType(draft));
  if (first && draft.dice.oneIn(3))
    first = quantized(draft, first, quantizedType(draft));
  return dequantizes(draft, first);
}

/// An operation on two quantised tensors.
bool drawQuantizedOperation(Draft &draft) {
  Value lhs = pickToQuantize(draft, 0);
  if (!lhs)
    return false;
  static constexpr StringRef names[] = {
      "stablehlo.add",     "stablehlo.subtract", "stablehlo.multiply",
      "stablehlo.maximum", "stablehlo.minimum",  "stablehlo.divide"};
  Value rhs = draft.valueOf(tensorOf(lhs));
  quant::UniformQuantizedType type = quantizedType(draft);
  auto another = [&] {
    return draft.dice.oneIn(2) ? type : quantizedType(draft);
  };
  Value a = quantized(draft, lhs, type), b = quantized(draft, rhs, another());
  if (!a || !b)
    return false;
  Operation *op = draft.add(draft.dice.among(names), {a, b}, {},
                            SmallVector<Type>{tensorOf(a).clone(another())},
                            Rounding::Magnifies);
  return op && dequantizes(draft, op->getResult(0));
}

/// The last dimension of one by the first of the other, whose scales may be one
/// for each of its columns.
bool drawQuantizedProduct(Draft &draft) {
  Value lhs = pickToQuantize(draft, 1);
  if (!lhs)
    return false;
  RankedTensorType type = tensorOf(lhs);
  const int64_t columns = draft.size(4, 40);
  Value rhs = draft.valueOf(type.clone({type.getShape().back(), columns}));
  Builder &builder = draft.builder;
  auto signedType = [&](unsigned width, int64_t zeroPoint) {
    return quant::UniformQuantizedType::get(
        quant::QuantizationFlags::Signed, builder.getIntegerType(width),
        builder.getF32Type(), 0.0625 * draft.dice.between(1, 8), zeroPoint,
        -(int64_t(1) << (width - 1)), (int64_t(1) << (width - 1)) - 1);
  };
  Type weights = signedType(8, draft.dice.oneIn(2) ? 0 : 3);
  if (draft.dice.oneIn(2)) {
    SmallVector<double> scales;
    for (int64_t i = 0; i < columns; ++i)
      scales.push_back(0.03125 * draft.dice.between(1, 8));
    weights = quant::UniformQuantizedPerAxisType::get(
        quant::QuantizationFlags::Signed, builder.getIntegerType(8),
        builder.getF32Type(), scales, SmallVector<int64_t>(columns, 0), 1, -128,
        127);
  }
  SmallVector<int64_t> shape(type.getShape());
  shape.back() = columns;
  Value a = quantized(draft, lhs, signedType(8, draft.dice.between(-4, 4)));
  Value b = quantized(draft, rhs, weights);
  if (!a || !b)
    return false;
  auto numbers = stablehlo::DotDimensionNumbersAttr::get(
      builder.getContext(), {}, {}, type.getRank() - 1, 0);
  Operation *op =
      draft.add("stablehlo.dot_general", {a, b},
                {draft.attribute("dot_dimension_numbers", numbers)},
                SmallVector<Type>{RankedTensorType::get(
                    shape, signedType(draft.dice.oneIn(2) ? 8 : 32, 0))},
                Rounding::Magnifies);
  return op && dequantizes(draft, op->getResult(0));
}

bool drawGetDimensionSize(Draft &draft) {
  Value value =
      draft.pick([](RankedTensorType type) { return type.getRank() > 0; });
  if (!value)
    return false;
  const int64_t dimension =
      draft.dice.between(0, tensorOf(value).getRank() - 1);
  return draft.add("stablehlo.get_dimension_size", value,
                   draft.number("dimension", dimension), std::nullopt,
                   Rounding::Exact);
}

bool drawBroadcast(Draft &draft) {
  Value value = pickAny(draft);
  if (!value)
    return false;
  SmallVector<int64_t> sizes{draft.dice.between(1, 3)};
  SmallVector<int64_t> shape(sizes);
  llvm::append_range(shape, tensorOf(value).getShape());
  return draft.add(
      "stablehlo.broadcast", value, draft.list("broadcast_sizes", sizes),
      SmallVector<Type>{tensorOf(value).clone(shape)}, Rounding::Exact);
}

/// Products of matrices, as `dot` or as an `einsum`.
bool drawMatrixProduct(Draft &draft, StringRef name) {
  Value lhs = draft.pick([](RankedTensorType type) {
    return type.getRank() == 2 && isPlain(type);
  });
  if (!lhs)
    return false;
  RankedTensorType type = tensorOf(lhs);
  const int64_t columns = draft.dice.between(1, 4);
  Value rhs = draft.valueOf(type.clone({type.getDimSize(1), columns}));
  SmallVector<NamedAttribute> attributes;
  if (name == "stablehlo.einsum")
    attributes.push_back(draft.attribute(
        "einsum_config", draft.builder.getStringAttr("ij,jk->ik")));
  return draft.add(name, {lhs, rhs}, attributes,
                   SmallVector<Type>{type.clone({type.getDimSize(0), columns})},
                   Rounding::Rounds);
}

bool drawUnaryEinsum(Draft &draft) {
  Value value =
      draft.pick([](RankedTensorType type) { return type.getRank() == 2; });
  if (!value)
    return false;
  const bool sums = draft.dice.oneIn(2);
  RankedTensorType type = tensorOf(value);
  SmallVector<int64_t> shape{type.getDimSize(1)};
  if (!sums)
    shape.push_back(type.getDimSize(0));
  return draft.add(
      "stablehlo.unary_einsum", value,
      draft.attribute("einsum_config",
                      draft.builder.getStringAttr(sums ? "ij->j" : "ij->ji")),
      SmallVector<Type>{type.clone(shape)}, Rounding::Rounds);
}

bool drawTorchIndexSelect(Draft &draft) {
  Value value = draft.pick([](RankedTensorType type) {
    return type.getRank() > 0 && type.getNumElements() > 0;
  });
  if (!value)
    return false;
  RankedTensorType type = tensorOf(value);
  const int64_t dimension = draft.dice.between(0, type.getRank() - 1);
  SmallVector<int64_t> places(draft.dice.between(1, 3));
  for (int64_t &place : places)
    place = draft.dice.between(0, type.getDimSize(dimension) - 1);
  SmallVector<int64_t> shape(type.getShape());
  shape[dimension] = places.size();
  Value index = draft.sizes(places);
  return draft.add(
      "stablehlo.torch_index_select", {value, index},
      {draft.number("dim", dimension), draft.number("batch_dims", 0)},
      SmallVector<Type>{type.clone(shape)}, Rounding::Exact);
}

/// Of a symmetric matrix with a large diagonal.
bool drawCholesky(Draft &draft) {
  const int64_t size = draft.dice.between(1, 4);
  SmallVector<int64_t> elements(size * size);
  for (int64_t i = 0; i < size; ++i)
    for (int64_t j = 0; j <= i; ++j)
      elements[i * size + j] = elements[j * size + i] =
          i == j ? 16 : draft.dice.between(-2, 2);
  Type element = draft.dice.oneIn(2) ? Type(draft.builder.getF32Type())
                                     : Type(draft.builder.getF64Type());
  Value a =
      draft.constant(RankedTensorType::get({size, size}, element), elements);
  return draft.add("stablehlo.cholesky", a, draft.flag("lower", true),
                   std::nullopt, Rounding::Rounds);
}

} // namespace

std::vector<Recipe> otherRecipes() {
  return {
      {"stablehlo.uniform_quantize", drawQuantize},
      {"stablehlo.uniform_dequantize", drawQuantize},
      {"stablehlo.uniform_quantize", drawQuantizedOperation},
      {"stablehlo.uniform_quantize", drawQuantizedProduct},
      {"stablehlo.get_dimension_size", drawGetDimensionSize},
      {"stablehlo.broadcast", drawBroadcast},
      {"stablehlo.dot",
       [](Draft &draft) { return drawMatrixProduct(draft, "stablehlo.dot"); }},
      {"stablehlo.einsum",
       [](Draft &draft) {
         return drawMatrixProduct(draft, "stablehlo.einsum");
       }},
      {"stablehlo.unary_einsum", drawUnaryEinsum},
      {"stablehlo.torch_index_select", drawTorchIndexSelect},
      {"stablehlo.cholesky", drawCholesky},
  };
}

} // namespace sinter
