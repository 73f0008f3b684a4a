//===- MovementRecipes.cpp - drawing operations that move elements --------===//

#include "random/Picked.h"

using namespace mlir;

namespace sinter {

namespace {

bool drawTranspose(Draft &draft) {
  Picked x = pickRanked(draft, 0);
  return x && draft.add("stablehlo.transpose", x.value,
                        {draft.list("permutation", shuffled(draft, x.rank()))},
                        std::nullopt, Rounding::Exact);
}

/// The same number of elements in other dimensions: neighbours joined, others
/// split by a divisor, ones strewn in.
bool drawReshape(Draft &draft) {
  Picked x = pickRanked(draft, 0);
  if (!x)
    return false;
  SmallVector<int64_t> sizes;
  for (int64_t size : x.type.getShape()) {
    if (!sizes.empty() && draft.dice.oneIn(2)) {
      sizes.back() *= size;
      continue;
    }
    if (draft.dice.oneIn(4))
      sizes.push_back(1);
    const int64_t divisor = draft.dice.between(2, 3);
    if (size % divisor == 0 && size > 0 && draft.dice.oneIn(2)) {
      sizes.push_back(divisor);
      size /= divisor;
    }
    sizes.push_back(size);
  }
  return draft.add("stablehlo.reshape", x.value, {},
                   SmallVector<Type>{x.type.clone(sizes)}, Rounding::Exact);
}

bool drawBroadcastInDim(Draft &draft) {
  Picked x = pickRanked(draft, 0);
  if (!x)
    return false;
  SmallVector<int64_t> sizes(x.rank() + draft.dice.between(0, 2));
  for (int64_t &size : sizes)
    size = draft.dice.between(1, 3);
  SmallVector<int64_t> places = shuffled(draft, sizes.size());
  places.truncate(x.rank());
  for (auto [i, place] : llvm::enumerate(places))
    if (x.size(i) != 1)
      sizes[place] = x.size(i);
  return draft.add("stablehlo.broadcast_in_dim", x.value,
                   {draft.list("broadcast_dimensions", places)},
                   SmallVector<Type>{x.type.clone(sizes)}, Rounding::Exact);
}

bool drawSlice(Draft &draft, StringRef twin) {
  Picked x = pickRanked(draft, 1);
  if (!x)
    return false;
  SmallVector<int64_t> starts, limits, strides;
  for (int64_t size : x.type.getShape()) {
    starts.push_back(draft.dice.between(0, size));
    limits.push_back(draft.dice.between(starts.back(), size));
    strides.push_back(draft.dice.between(1, 3));
  }
  Operation *slice = draft.add("stablehlo.slice", x.value,
                               {draft.list("start_indices", starts),
                                draft.list("limit_indices", limits),
                                draft.list("strides", strides)},
                               std::nullopt, Rounding::Exact);
  return addTwin(
      draft, slice, twin,
      {x.value, draft.sizes(starts), draft.sizes(limits), draft.sizes(strides)},
      {});
}

bool drawPad(Draft &draft, StringRef twin) {
  Picked x = pickRanked(draft, 0);
  if (!x)
    return false;
  auto amounts = [&](int64_t lowest) {
    return eachOf(x.rank(),
                  [&](int64_t) { return draft.dice.between(lowest, 2); });
  };
  SmallVector<int64_t> low = amounts(-1), high = amounts(-1),
                       interior = amounts(0);
  Value filler =
      draft.valueOf(RankedTensorType::get({}, x.type.getElementType()));
  Operation *pad = draft.add("stablehlo.pad", {x.value, filler},
                             {draft.list("edge_padding_low", low),
                              draft.list("edge_padding_high", high),
                              draft.list("interior_padding", interior)},
                             std::nullopt, Rounding::Exact);
  return addTwin(draft, pad, twin,
                 {x.value, filler, draft.sizes(low), draft.sizes(high),
                  draft.sizes(interior)},
                 {});
}

bool drawReverse(Draft &draft) {
  Picked x = pickRanked(draft, 1);
  if (!x)
    return false;
  SmallVector<int64_t> dimensions = shuffled(draft, x.rank());
  dimensions.truncate(draft.dice.between(1, x.rank()));
  return draft.add("stablehlo.reverse", x.value,
                   {draft.list("dimensions", dimensions)}, std::nullopt,
                   Rounding::Exact);
}

bool drawConcatenate(Draft &draft) {
  Picked x = pickRanked(draft, 1);
  if (!x)
    return false;
  const int64_t dimension = draft.dice.between(0, x.rank() - 1);
  SmallVector<Value> inputs{x.value};
  for (int64_t i = draft.dice.between(0, 2); i > 0; --i) {
    SmallVector<int64_t> sizes(x.type.getShape());
    sizes[dimension] = draft.dice.between(0, 3);
    inputs.push_back(draft.valueOf(x.type.clone(sizes)));
  }
  return draft.add("stablehlo.concatenate", inputs,
                   {draft.number("dimension", dimension)}, std::nullopt,
                   Rounding::Exact);
}

/// Scalars that lie near the tensor, some outside.
SmallVector<Value> startIndices(Draft &draft, int64_t rank) {
  auto type = RankedTensorType::get({}, indexType(draft));
  SmallVector<Value> starts;
  for (int64_t i = 0; i < rank; ++i)
    starts.push_back(draft.constant(type, draft.dice.between(-1, 4)));
  return starts;
}

bool drawDynamicSlice(Draft &draft) {
  Picked x = pickRanked(draft, 1);
  if (!x)
    return false;
  SmallVector<Value> operands{x.value};
  operands.append(startIndices(draft, x.rank()));
  auto sizes = eachOf(x.rank(), [&](int64_t i) {
    return draft.dice.between(std::min<int64_t>(1, x.size(i)), x.size(i));
  });
  return draft.add("stablehlo.dynamic_slice", operands,
                   {draft.list("slice_sizes", sizes)}, std::nullopt,
                   Rounding::Exact);
}

bool drawDynamicUpdateSlice(Draft &draft) {
  Picked x = pickRanked(draft, 1);
  if (!x)
    return false;
  auto sizes = eachOf(x.rank(), [&](int64_t i) {
    return draft.dice.between(std::min<int64_t>(1, x.size(i)), x.size(i));
  });
  SmallVector<Value> operands{x.value, draft.valueOf(x.type.clone(sizes))};
  operands.append(startIndices(draft, x.rank()));
  return draft.add("stablehlo.dynamic_update_slice", operands, {}, std::nullopt,
                   Rounding::Exact);
}

bool drawIota(Draft &draft) {
  SmallVector<int64_t> sizes = draft.shape(1);
  auto type = RankedTensorType::get(sizes, draft.elementType());
  return draft.add(
      "stablehlo.iota", {},
      {draft.number("iota_dimension", draft.dice.between(0, sizes.size() - 1))},
      SmallVector<Type>{type}, Rounding::Exact);
}

bool drawSort(Draft &draft) {
  Value first = draft.pick([](RankedTensorType type) {
    return type.getRank() >= 1 && type.getElementType().isIntOrFloat();
  });
  if (!first)
    return false;
  auto type = cast<RankedTensorType>(first.getType());
  SmallVector<Value> inputs{first};
  if (draft.dice.oneIn(2))
    inputs.push_back(draft.valueOf(type.clone(draft.elementType())));
  if (draft.dice.oneIn(6))
    inputs.push_back(draft.valueOf(type));
  // By the first key, or by what is computed of all.
  const bool computed = draft.dice.oneIn(3);
  using stablehlo::ComparisonDirection;
  const ComparisonDirection direction =
      draft.dice.oneIn(2) ? ComparisonDirection::LT : ComparisonDirection::GT;
  return draft.add(
      "stablehlo.sort", inputs,
      {draft.number("dimension", draft.dice.between(0, type.getRank() - 1)),
       draft.flag("is_stable", true)},
      llvm::to_vector(ValueRange(inputs).getTypes()), Rounding::Magnifies, 1,
      [&](Operation *op) {
        SmallVector<Type> pairs;
        for (Value input : inputs)
          pairs.append(2, input.getType());
        draft.scalarBlock(
            op->getRegion(0), pairs,
            [&](ValueRange arguments) -> SmallVector<Value> {
              if (!computed)
                return {draft.compared(arguments[0], arguments[1], direction)};
              Type key = getElementTypeOrSelf(arguments[0].getType());
              SmallVector<Value> left, right;
              for (size_t i = 0; i < arguments.size(); i += 2) {
                left.push_back(arguments[i]);
                right.push_back(arguments[i + 1]);
              }
              const Dice before = draft.dice;
              Value a = draft.expression(left, key);
              const Dice after = std::exchange(draft.dice, before);
              Value b = draft.expression(right, key);
              draft.dice = after;
              return {draft.compared(a, b, direction)};
            });
      });
}

} // namespace

std::vector<Recipe> movementRecipes() {
  std::vector<Recipe> recipes = {
      {"stablehlo.transpose", drawTranspose},
      {"stablehlo.reshape", drawReshape},
      {"stablehlo.broadcast_in_dim", drawBroadcastInDim},
      {"stablehlo.reverse", drawReverse},
      {"stablehlo.concatenate", drawConcatenate},
      {"stablehlo.dynamic_slice", drawDynamicSlice},
      {"stablehlo.dynamic_update_slice", drawDynamicUpdateSlice},
      {"stablehlo.iota", drawIota},
      {"stablehlo.sort", drawSort},
  };
  struct Twins {
    const char *name, *twin;
    bool (*draw)(Draft &, StringRef twin);
  };
  for (Twins twins :
       {Twins{"stablehlo.slice", "stablehlo.real_dynamic_slice", drawSlice},
        Twins{"stablehlo.pad", "stablehlo.dynamic_pad", drawPad}}) {
    recipes.push_back(
        {twins.name, [twins](Draft &draft) { return twins.draw(draft, ""); }});
    recipes.push_back({twins.twin, [twins](Draft &draft) {
                         return twins.draw(draft, twins.twin);
                       }});
  }
  return recipes;
}

} // namespace sinter
