//===- IndexingRecipes.cpp - drawing gathers and scatters -----------------===//

#include "random/Picked.h"

using namespace mlir;

namespace sinter {

Picked pickRanked(Draft &draft, int64_t lowestRank) {
  Value value = draft.pick(
      [&](RankedTensorType type) { return type.getRank() >= lowestRank; });
  return {value,
          value ? cast<RankedTensorType>(value.getType()) : RankedTensorType()};
}

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
  Builder &builder = draft.builder;
  switch (draft.dice.between(0, 7)) {
  case 0:
    return builder.getIntegerType(8);
  case 1:
    return builder.getIntegerType(32, /*isSigned=*/false);
  case 2:
    return builder.getIntegerType(16);
  case 3:
  case 4:
    return builder.getI64Type();
  default:
    return builder.getI32Type();
  }
}

bool addTwin(Draft &draft, Operation *op, StringRef twin, ValueRange operands,
             ArrayRef<NamedAttribute> attributes) {
  if (!op || twin.empty())
    return op;
  return draft.add(twin, operands, attributes,
                   llvm::to_vector(op->getResultTypes()), Rounding::Exact);
}

namespace {

/// What gather and scatter have in common: an operand, of whose dimensions some
/// are indexed, some collapsed and some batches, and index vectors.
struct Indexing {
  Value indices;
  SmallVector<int64_t> indexed, collapsed, windowSizes, batchSizes;
  SmallVector<int64_t> batching, indexBatching;
  int64_t vectorDimension = 0;
  /// Where the batch dimensions of the result (or updates) lie, and the others.
  SmallVector<int64_t> offsets;
  SmallVector<int64_t> resultShape;
};

Indexing drawIndexing(Draft &draft, const Picked &x) {
  Indexing result;
  for (int64_t dim : shuffled(draft, x.rank())) {
    if (!draft.dice.oneIn(8) || int64_t(result.batching.size()) == x.rank() - 1)
      result.indexed.push_back(dim);
    else
      result.batching.push_back(dim);
  }
  llvm::sort(result.batching);
  result.indexed.truncate(draft.dice.between(1, result.indexed.size()));
  result.windowSizes = eachOf(x.rank(), [&](int64_t i) {
    return draft.dice.between(std::min<int64_t>(1, x.size(i)), x.size(i));
  });
  SmallVector<int64_t> windowDims;
  for (int64_t i = 0; i < x.rank(); ++i) {
    const bool isBatch = llvm::is_contained(result.batching, i);
    if (isBatch)
      result.windowSizes[i] = std::min<int64_t>(x.size(i), 1);
    else if (llvm::is_contained(result.indexed, i) && x.size(i) > 0 &&
             draft.dice.oneIn(2)) {
      result.collapsed.push_back(i);
      result.windowSizes[i] = 1;
    } else
      windowDims.push_back(i);
  }
  // The batch dimensions of the operand stand among those of the indices.
  for (int64_t dim : result.batching) {
    result.indexBatching.push_back(result.batchSizes.size());
    result.batchSizes.push_back(x.size(dim));
  }
  for (int64_t i = draft.dice.between(0, 2); i > 0; --i)
    result.batchSizes.push_back(draft.size(3, 12));
  SmallVector<int64_t> shape(result.batchSizes);
  result.vectorDimension = draft.dice.oneIn(3)
                               ? draft.dice.between(0, shape.size())
                               : int64_t(shape.size());
  for (int64_t &dim : result.indexBatching)
    dim += dim >= result.vectorDimension;
  if (result.indexed.size() > 1 || !draft.dice.oneIn(3) ||
      result.vectorDimension != int64_t(shape.size()))
    shape.insert(shape.begin() + result.vectorDimension, result.indexed.size());
  auto type = RankedTensorType::get(shape, indexType(draft));
  SmallVector<int64_t> elements(type.getNumElements());
  const int64_t lowest =
      getElementTypeOrSelf(type).isUnsignedInteger() ? 0 : -1;
  for (int64_t &element : elements)
    element = draft.dice.between(lowest, 5);
  result.indices = draft.constant(type, elements);

  const int64_t rank = windowDims.size() + result.batchSizes.size();
  result.offsets =
      draft.dice.oneIn(3)
          ? shuffled(draft, rank)
          : eachOf(rank, [&](int64_t i) {
              return (i + int64_t(result.batchSizes.size())) % rank;
            });
  result.offsets.truncate(windowDims.size());
  llvm::sort(result.offsets);
  size_t nextWindow = 0, nextBatch = 0;
  for (int64_t i = 0; i < rank; ++i)
    result.resultShape.push_back(
        llvm::is_contained(result.offsets, i)
            ? result.windowSizes[windowDims[nextWindow++]]
            : result.batchSizes[nextBatch++]);
  return result;
}

bool drawGather(Draft &draft, StringRef twin) {
  Picked x = pickRanked(draft, 1);
  if (!x)
    return false;
  Indexing indexing = drawIndexing(draft, x);
  auto numbers = stablehlo::GatherDimensionNumbersAttr::get(
      draft.builder.getContext(), indexing.offsets, indexing.collapsed,
      indexing.batching, indexing.indexBatching, indexing.indexed,
      indexing.vectorDimension);
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
  if (!x || !isPlain(x.type))
    return false;
  Indexing indexing = drawIndexing(draft, x);
  auto numbers = stablehlo::ScatterDimensionNumbersAttr::get(
      draft.builder.getContext(), indexing.offsets, indexing.collapsed,
      indexing.batching, indexing.indexBatching, indexing.indexed,
      indexing.vectorDimension);
  SmallVector<Value> inputs{x.value};
  if (draft.dice.oneIn(4))
    inputs.push_back(draft.valueOf(x.type.clone(draft.elementType())));
  SmallVector<Value> operands(inputs);
  operands.push_back(indexing.indices);
  SmallVector<Type> types, arguments;
  bool isFloat = false;
  for (Value input : inputs) {
    auto type = cast<RankedTensorType>(input.getType());
    types.push_back(type);
    isFloat |= !isa<IntegerType>(type.getElementType());
    operands.push_back(draft.valueOf(type.clone(indexing.resultShape)));
  }
  arguments = types;
  llvm::append_range(arguments, types);
  // Both backends take windows in their order, and each from its first element
  // to its last; where these are not the updates' order, they differ.
  const int64_t rank = indexing.resultShape.size();
  const bool isInOrder =
      indexing.offsets.empty() ||
      indexing.offsets.front() + int64_t(indexing.offsets.size()) == rank;
  const bool isSum = !isInOrder || draft.dice.oneIn(2);
  return draft.add(
      "stablehlo.scatter", operands,
      {draft.attribute("scatter_dimension_numbers", numbers)}, types,
      !isSum    ? Rounding::Magnifies
      : isFloat ? Rounding::Rounds
                : Rounding::Exact,
      1, [&](Operation *op) {
        if (!isSum)
          return draft.expressionBlock(op->getRegion(0), arguments, types);
        draft.scalarBlock(op->getRegion(0), arguments, [&](ValueRange scalars) {
          SmallVector<Value> sums;
          for (size_t i = 0; i < types.size(); ++i)
            sums.push_back(draft.builder.create<stablehlo::AddOp>(
                draft.location, scalars[i], scalars[i + types.size()]));
          return sums;
        });
      });
}

} // namespace

std::vector<Recipe> indexingRecipes() {
  return {
      {"stablehlo.gather", [](Draft &draft) { return drawGather(draft, ""); }},
      {"stablehlo.dynamic_gather",
       [](Draft &draft) {
         return drawGather(draft, "stablehlo.dynamic_gather");
       }},
      {"stablehlo.scatter", drawScatter}};
}

} // namespace sinter
