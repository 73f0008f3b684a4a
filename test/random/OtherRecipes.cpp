//===- OtherRecipes.cpp - drawing deprecated and rare ones ----------------===//

#include "random/Draft.h"

using namespace mlir;

namespace sinter {

namespace {

Value pickAny(Draft &draft) {
  return draft.pick([](RankedTensorType) { return true; });
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
