//===- MovementRecipes.cpp - drawing operations that move elements --------===//

#include "differential/Draft.h"

using namespace mlir;

namespace sinter {

namespace {

/// A value of the program with its type taken apart.
struct Picked {
  Value value;
  RankedTensorType type;
  explicit operator bool() const { return static_cast<bool>(value); }
  int64_t rank() const { return type.getRank(); }
  int64_t size(int64_t dimension) const { return type.getDimSize(dimension); }
};

Picked pickRanked(Draft &draft, int64_t lowestRank) {
  Value value = draft.pick(
      [&](RankedTensorType type) { return type.getRank() >= lowestRank; });
  return {value,
          value ? cast<RankedTensorType>(value.getType()) : RankedTensorType()};
}

/// 0, 1, ..., count - 1 in a random order.
SmallVector<int64_t> shuffled(Draft &draft, int64_t count) {
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, count));
  for (int64_t i = count - 1; i > 0; --i)
    std::swap(order[i], order[draft.dice.between(0, i)]);
  return order;
}

SmallVector<int64_t> eachOf(int64_t count,
                            llvm::function_ref<int64_t(int64_t)> value) {
  SmallVector<int64_t> values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(value(i));
  return values;
}

Type indexType(Draft &draft) {
  return draft.dice.oneIn(2) ? draft.builder.getI64Type()
                             : draft.builder.getI32Type();
}

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

/// After an operation the one that takes its attributes as operands, if it is
/// asked for.
bool addTwin(Draft &draft, Operation *op, StringRef twin, ValueRange operands,
             ArrayRef<NamedAttribute> attributes) {
  if (!op || twin.empty())
    return op;
  return draft.add(twin, operands, attributes,
                   llvm::to_vector(op->getResultTypes()), Rounding::Exact);
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

/// What gather and scatter have in common: an operand, of whose dimensions some
/// are indexed and some collapsed, and a batch of index vectors, which stand in
/// the last dimension of the indices.
struct Indexing {
  Value indices;
  SmallVector<int64_t> indexed, collapsed, windowSizes, batchSizes;
};

Indexing drawIndexing(Draft &draft, const Picked &x) {
  Indexing result;
  result.indexed = shuffled(draft, x.rank());
  result.indexed.truncate(draft.dice.between(1, x.rank()));
  result.windowSizes = eachOf(x.rank(), [&](int64_t i) {
    return draft.dice.between(std::min<int64_t>(1, x.size(i)), x.size(i));
  });
  for (int64_t i = 0; i < x.rank(); ++i)
    if (llvm::is_contained(result.indexed, i) && x.size(i) > 0 &&
        draft.dice.oneIn(2)) {
      result.collapsed.push_back(i);
      result.windowSizes[i] = 1;
    }
  for (int64_t i = draft.dice.between(0, 2); i > 0; --i)
    result.batchSizes.push_back(draft.dice.between(1, 3));
  SmallVector<int64_t> shape(result.batchSizes);
  shape.push_back(result.indexed.size());
  auto type = RankedTensorType::get(shape, indexType(draft));
  SmallVector<int64_t> elements(type.getNumElements());
  for (int64_t &element : elements)
    element = draft.dice.between(-1, 5);
  result.indices = draft.constant(type, elements);
  return result;
}

bool drawGather(Draft &draft, StringRef twin) {
  Picked x = pickRanked(draft, 1);
  if (!x)
    return false;
  Indexing indexing = drawIndexing(draft, x);
  const int64_t batch = indexing.batchSizes.size();
  auto offsets = eachOf(x.rank() - indexing.collapsed.size(),
                        [&](int64_t i) { return batch + i; });
  auto numbers = stablehlo::GatherDimensionNumbersAttr::get(
      draft.builder.getContext(), offsets, indexing.collapsed, {}, {},
      indexing.indexed, batch);
  NamedAttribute dimensions = draft.attribute("dimension_numbers", numbers);
  Operation *gather =
      draft.add("stablehlo.gather", {x.value, indexing.indices},
                {dimensions, draft.list("slice_sizes", indexing.windowSizes)},
                std::nullopt, Rounding::Exact);
  return addTwin(draft, gather, twin,
                 {x.value, indexing.indices, draft.sizes(indexing.windowSizes)},
                 dimensions);
}

bool drawScatter(Draft &draft) {
  Picked x = pickRanked(draft, 1);
  if (!x)
    return false;
  Indexing indexing = drawIndexing(draft, x);
  const int64_t batch = indexing.batchSizes.size();
  SmallVector<int64_t> shape(indexing.batchSizes), windowDims;
  for (int64_t i = 0; i < x.rank(); ++i)
    if (!llvm::is_contained(indexing.collapsed, i)) {
      windowDims.push_back(shape.size());
      shape.push_back(indexing.windowSizes[i]);
    }
  auto numbers = stablehlo::ScatterDimensionNumbersAttr::get(
      draft.builder.getContext(), windowDims, indexing.collapsed, {}, {},
      indexing.indexed, batch);
  Value updates = draft.valueOf(x.type.clone(shape));
  // Replacing would depend on the order, which is not specified.
  return draft.add(
      "stablehlo.scatter", {x.value, indexing.indices, updates},
      {draft.attribute("scatter_dimension_numbers", numbers)},
      SmallVector<Type>{x.type},
      isa<FloatType, ComplexType>(x.type.getElementType()) ? Rounding::Rounds
                                                           : Rounding::Exact,
      1, [&](Operation *op) {
        draft.scalarBlock(
            op->getRegion(0), {x.type, x.type},
            [&](ValueRange arguments) -> SmallVector<Value> {
              return {draft.builder
                          .create<stablehlo::AddOp>(draft.location,
                                                    arguments[0], arguments[1])
                          .getResult()};
            });
      });
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
  const bool ascending = draft.dice.oneIn(2);
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
              return {draft.compared(arguments[0], arguments[1],
                                     ascending
                                         ? stablehlo::ComparisonDirection::LT
                                         : stablehlo::ComparisonDirection::GT)};
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
      {"stablehlo.scatter", drawScatter},
      {"stablehlo.sort", drawSort},
  };
  struct Twins {
    const char *name, *twin;
    bool (*draw)(Draft &, StringRef twin);
  };
  for (Twins twins :
       {Twins{"stablehlo.slice", "stablehlo.real_dynamic_slice", drawSlice},
        Twins{"stablehlo.pad", "stablehlo.dynamic_pad", drawPad},
        Twins{"stablehlo.gather", "stablehlo.dynamic_gather", drawGather}}) {
    recipes.push_back(
        {twins.name, [twins](Draft &draft) { return twins.draw(draft, ""); }});
    recipes.push_back({twins.twin, [twins](Draft &draft) {
                         return twins.draw(draft, twins.twin);
                       }});
  }
  return recipes;
}

} // namespace sinter
