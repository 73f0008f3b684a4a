// Gather, scatter, dynamic slices, sort.

#include "formats/import/IndexedWindows.h"
#include "formats/onnx/write/WriterRules.h"
#include "graph/Constants.h"
#include "graph/nn/NnOps.h"
#include "graph/stablehlo/Comparators.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using sinter::formats::IndexedWindows;

namespace sinter::onnx {

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

/// The size of a dimension of \p value, as a vector of one element.
static Name sizeOf(NodeWriter &e, Value value, int64_t dim) {
  int64_t size = tensorOf(value).getDimSize(dim);
  if (!ShapedType::isDynamic(size))
    return e.integers({size});
  return e.slice(e.make("Shape", {e.operand(value)}), {0}, {dim}, {dim + 1},
                 {1});
}

/// Concatenates sizes, each of a dimension of a tensor.
static Name sizesOf(NodeWriter &e, ArrayRef<std::pair<Value, int64_t>> dims) {
  Ints known;
  for (auto [value, dim] : dims)
    known.push_back(tensorOf(value).getDimSize(dim));
  if (llvm::none_of(known, ShapedType::isDynamic))
    return e.integers(known);
  Names parts;
  for (auto [value, dim] : dims)
    parts.push_back(sizeOf(e, value, dim));
  return parts.size() == 1 ? parts.front()
                           : e.make("Concat", parts, {{"axis", 0}});
}

/// An iota along dimension \p dim, with size 1 in all others; its length is a
/// dimension of \p value.
static Name countOf(NodeWriter &e, Value value, int64_t of, int64_t dim,
                    int64_t rank) {
  int64_t size = tensorOf(value).getDimSize(of);
  if (!ShapedType::isDynamic(size))
    return e.count(size, dim, rank);
  Type i64 = IntegerType::get(value.getContext(), 64);
  Name numbers =
      e.make("Range", {e.scalar(i64, 0), e.squeeze(sizeOf(e, value, of), {0}),
                       e.scalar(i64, 1)});
  Ints axes = identity(rank);
  axes.erase(axes.begin() + dim);
  return e.unsqueeze(numbers, axes);
}

/// Column k of the index vectors, as [batch...].
static Name column(NodeWriter &e, const IndexedWindows &w, const Name &indices,
                   int64_t k) {
  auto type = tensorOf(w.indices);
  if (w.vectorDim == type.getRank())
    return indices;
  Name one = e.slice(indices, {w.vectorDim}, {k}, {k + 1}, {1});
  return e.squeeze(one, {w.vectorDim});
}

/// The start of the last window in a dimension, as a scalar.
static Name lastStart(NodeWriter &e, const IndexedWindows &w, int64_t dim) {
  Type i64 = IntegerType::get(w.indices.getContext(), 64);
  if (!ShapedType::isDynamic(w.shape[dim]))
    return e.scalar(i64, static_cast<double>(w.shape[dim] - w.sizes[dim]));
  Name last =
      e.make("Sub", {sizeOf(e, w.tensor, dim), e.integers({w.sizes[dim]})});
  return e.squeeze(last, {0});
}

/// A row of indices for each element of each window: a tensor [batch..., window
/// along the listed dimensions..., listed dimensions] of i64.
static Name rowsOf(NodeWriter &e, const IndexedWindows &w) {
  Type i64 = IntegerType::get(w.indices.getContext(), 64);
  Name indices = e.cast(e.operand(w.indices), elementOf(w.indices), i64);
  const Ints listed = w.listed(), batch = w.batchDims();
  const int64_t rank = batch.size() + listed.size();
  auto isDynamic = [&](int64_t dim) {
    return ShapedType::isDynamic(w.sizes[dim]);
  };
  Names sizes;
  for (int64_t dim : batch)
    sizes.push_back(sizeOf(e, w.indices, dim));
  for (int64_t dim : listed)
    sizes.push_back(isDynamic(dim) ? sizeOf(e, w.window, w.windowDims[dim])
                                   : e.integers({w.sizes[dim]}));
  Name wholeShape = sizes.size() == 1 ? sizes.front()
                                      : e.make("Concat", sizes, {{"axis", 0}});
  Names columns;
  for (auto [i, dim] : llvm::enumerate(listed)) {
    Name first;
    auto batching = llvm::find(w.batching, dim);
    if (i < w.mapped.size()) {
      first = column(e, w, indices, i);
      if (w.clamps)
        first = e.make("Clip", {first, e.scalar(i64, 0), lastStart(e, w, dim)});
      Ints axes;
      for (size_t k = 0; k < listed.size(); ++k)
        axes.push_back(batch.size() + k);
      first = e.unsqueeze(first, axes);
    } else if (batching != w.batching.end()) {
      int64_t along = w.indicesBatching[batching - w.batching.begin()];
      first = countOf(e, w.indices, along, along - (along > w.vectorDim), rank);
    }
    if (w.sizes[dim] > 1 || isDynamic(dim)) {
      const int64_t place = batch.size() + i;
      Name within = isDynamic(dim)
                        ? countOf(e, w.window, w.windowDims[dim], place, rank)
                        : e.count(w.sizes[dim], place, rank);
      first = first.empty() ? within : e.make("Add", {first, within});
    } else if (first.empty()) {
      first = e.integers({0}, Ints(rank, 1));
    }
    Name whole = e.make("Expand", {first, wholeShape});
    columns.push_back(e.unsqueeze(whole, {rank}));
  }
  return columns.size() == 1 ? columns.front()
                             : e.make("Concat", columns, {{"axis", rank}});
}

//===----------------------------------------------------------------------===//
// Gather
//===----------------------------------------------------------------------===//

/// A gather with the dimension numbers \p numbers.
static LogicalResult gather(NodeWriter &e, Value operand,
                            stablehlo::GatherDimensionNumbersAttr numbers,
                            const IndexedWindows &w) {
  if (w.listed().empty())
    return e.unsupported("without indices");
  Name rows = rowsOf(e, w);
  const Ints order = w.order();
  Name x = e.transpose(e.operand(operand), order);
  // [batch..., listed windows..., other windows...] to the result's order.
  const auto [dropped, permutation] = formats::toResult(
      numbers, w, order, tensorOf(e.op->getResult(0)).getRank());
  Name gathered = e.squeeze(e.make("GatherND", {x, rows}), dropped);
  return e.alias(e.transpose(gathered, permutation));
}

static LogicalResult writeGather(NodeWriter &e, stablehlo::GatherOp op) {
  return gather(e, op.getOperand(), op.getDimensionNumbers(),
                IndexedWindows::of(op));
}

static LogicalResult writeDynamicGather(NodeWriter &e,
                                        stablehlo::DynamicGatherOp op) {
  auto windows = IndexedWindows::of(op);
  return windows
             ? gather(e, op.getOperand(), op.getDimensionNumbers(), *windows)
             : e.unsupported("of slices of computed sizes");
}

static LogicalResult writeTake(NodeWriter &e, nn::TakeOp op) {
  return e.result("Gather", e.operands(),
                  {{"axis", static_cast<int64_t>(op.getAxis())}});
}

static LogicalResult writeTakeAlong(NodeWriter &e, nn::TakeAlongOp op) {
  return e.result("GatherElements", e.operands(),
                  {{"axis", static_cast<int64_t>(op.getAxis())}});
}

/// The sizes of all dimensions, as a vector.
static Name shapeVector(NodeWriter &e, Value value) {
  auto type = tensorOf(value);
  return type.hasStaticShape() ? e.integers(type.getShape())
                               : e.make("Shape", {e.operand(value)});
}

/// The start indices of dynamic_slice and dynamic_update_slice in \p whole,
/// clamped for a slice of the sizes \p sizes, as a vector.
static Name clampedStarts(NodeWriter &e, ValueRange starts, Value whole,
                          ArrayRef<int64_t> sizes, const Name &sizesVector) {
  Type i64 = IntegerType::get(e.op->getContext(), 64);
  Names parts;
  for (Value start : starts) {
    Name number = e.cast(e.operand(start), elementOf(start), i64);
    parts.push_back(e.unsqueeze(number, {0}));
  }
  Ints known;
  for (auto [size, part] : llvm::zip_equal(tensorOf(whole).getShape(), sizes))
    if (!ShapedType::isDynamic(size) && !ShapedType::isDynamic(part))
      known.push_back(size - part);
  Name last = known.size() == sizes.size()
                  ? e.integers(known)
                  : e.make("Sub", {shapeVector(e, whole), sizesVector});
  Name all = parts.size() == 1 ? parts.front()
                               : e.make("Concat", parts, {{"axis", 0}});
  all = e.make("Max", {all, e.integers(Ints(sizes.size(), 0))});
  return e.make("Min", {all, last});
}

static LogicalResult writeDynamicSlice(NodeWriter &e,
                                       stablehlo::DynamicSliceOp op) {
  auto type = tensorOf(op.getOperand());
  Name x = e.operand(op.getOperand());
  if (type.getRank() == 0)
    return e.alias(x);
  Name sizes = e.integers(op.getSliceSizes());
  Name starts = clampedStarts(e, op.getStartIndices(), op.getOperand(),
                              op.getSliceSizes(), sizes);
  Name ends = e.make("Add", {starts, sizes});
  return e.result("Slice",
                  {x, starts, ends, e.integers(identity(type.getRank()))});
}

//===----------------------------------------------------------------------===//
// Scatter
//===----------------------------------------------------------------------===//

/// The coordinates of each element of \p value, whose shape is \p shape: a
/// tensor [value's..., rank] of i64.
static Name coordinatesOf(NodeWriter &e, Value value, const Name &shape) {
  auto type = tensorOf(value);
  const int64_t rank = type.getRank();
  if (!type.hasStaticShape()) {
    Names columns;
    for (int64_t dim = 0; dim < rank; ++dim)
      columns.push_back(e.unsqueeze(
          e.make("Expand", {countOf(e, value, dim, dim, rank), shape}),
          {rank}));
    return columns.size() == 1 ? columns.front()
                               : e.make("Concat", columns, {{"axis", rank}});
  }
  Ints grid, sizes(type.getShape());
  for (int64_t i = 0; i < type.getNumElements(); ++i) {
    Ints place(rank);
    for (int64_t dim = rank - 1, rest = i; dim >= 0; --dim) {
      place[dim] = rest % sizes[dim];
      rest /= sizes[dim];
    }
    grid.append(place);
  }
  sizes.push_back(rank);
  return e.integers(grid, sizes);
}

static LogicalResult
writeDynamicUpdateSlice(NodeWriter &e, stablehlo::DynamicUpdateSliceOp op) {
  auto type = tensorOf(op.getOperand()), update = tensorOf(op.getUpdate());
  if (type.getRank() == 0)
    return e.alias(e.operand(op.getUpdate()));
  Name shape = shapeVector(e, op.getUpdate());
  Name starts = clampedStarts(e, op.getStartIndices(), op.getOperand(),
                              update.getShape(), shape);
  Name rows = e.make("Add", {coordinatesOf(e, op.getUpdate(), shape), starts});
  return e.result("ScatterND", {e.operand(op.getOperand()), rows,
                                e.operand(op.getUpdate())});
}

/// ScatterND's reduction for the op's combination of updates; nothing if it has
/// none.
static std::optional<StringRef> reductionOf(NodeWriter &e,
                                            stablehlo::ScatterOp op) {
  Block &body = op.getUpdateComputation().front();
  Value result = body.getTerminator()->getOperand(0);
  if (result == body.getArgument(1))
    return "none";
  auto name = stablehlo::soleOperation(op.getUpdateComputation());
  if (!name)
    return std::nullopt;
  auto found =
      llvm::StringSwitch<std::optional<std::pair<StringRef, int>>>(*name)
          .Case("stablehlo.add", {{"add", 16}})
          .Case("stablehlo.multiply", {{"mul", 16}})
          .Case("stablehlo.maximum", {{"max", 18}})
          .Case("stablehlo.minimum", {{"min", 18}})
          .Default(std::nullopt);
  if (!found || elementOf(op.getInputs()[0]).isInteger(1))
    return std::nullopt;
  e.need(found->second);
  return found->first;
}

/// An update outside of the operand is skipped by scatter and an error in ONNX:
/// the operand is padded by one element in each listed dimension, to which
/// those updates go, and sliced afterwards.
static LogicalResult writeScatter(NodeWriter &e, stablehlo::ScatterOp op) {
  if (op.getInputs().size() != 1)
    return e.unsupported("of several tensors");
  std::optional<StringRef> reduction = reductionOf(e, op);
  if (!reduction)
    return e.unsupported("with this update computation");
  auto type = tensorOf(op.getInputs()[0]);
  const IndexedWindows w = IndexedWindows::of(op);
  Ints listed = w.listed(), order = w.order();
  if (listed.empty())
    return e.unsupported("without indices");
  Name rows = rowsOf(e, w);

  // Rows of a window that is out of bounds go to the padding.
  Type i64 = IntegerType::get(op.getContext(), 64);
  size_t batchRank = w.batchDims().size();
  Ints windowAxes;
  SmallVector<std::pair<Value, int64_t>> listedSizes;
  for (auto [i, dim] : llvm::enumerate(listed)) {
    listedSizes.push_back({w.tensor, dim});
    windowAxes.push_back(batchRank + i);
  }
  windowAxes.push_back(batchRank + listed.size());
  Name limits = sizesOf(e, listedSizes);
  Name low = e.make("Less", {rows, e.scalar(i64, 0)});
  Name high = e.make("GreaterOrEqual", {rows, limits});
  Name outside = e.cast(e.make("Or", {low, high}),
                        IntegerType::get(op.getContext(), 1), i64);
  Name isOutside =
      e.make("Greater", {e.reduce("ReduceMax", outside, windowAxes, true),
                         e.scalar(i64, 0)});
  Name places = e.where(isOutside, limits, rows);

  // Updates as [batch..., listed windows..., other windows...].
  const auto [added, permutation] = formats::fromUpdates(op, w);
  Name values = e.unsqueeze(
      e.transpose(e.operand(op.getUpdates()[0]), permutation), added);

  Ints zeros(type.getRank(), 0), extra(type.getRank(), 0);
  std::fill_n(extra.begin(), listed.size(), 1);
  Type element = type.getElementType();
  Name x = e.transpose(e.operand(op.getInputs()[0]), order);
  Name filler = e.scalar(element, 0);
  NodeAttributes attributes;
  if (*reduction != "none")
    attributes.push_back({"reduction", *reduction});
  Name done =
      e.make("ScatterND", {e.pad(x, filler, zeros, extra), places, values},
             attributes);
  for (int64_t &each : extra)
    each = -each;
  done = e.pad(done, filler, zeros, extra);
  return e.alias(e.transpose(done, inverse(order)));
}

//===----------------------------------------------------------------------===//
// Sorting and counting
//===----------------------------------------------------------------------===//

/// Negative for -0, positive for 0 and 0 for anything else: TopK treats zeros
/// as equal.
static Name signOfZeros(NodeWriter &e, const Name &x, Type element) {
  Name zero = e.scalar(element, 0);
  return e.where(e.make("Equal", {x, zero}),
                 e.make("Div", {e.scalar(element, 1), x}), zero);
}

/// TopK of all elements for each key, the last one first: each sort is stable,
/// so equal elements keep the order of the sorts before.
static LogicalResult writeSort(NodeWriter &e, stablehlo::SortOp op) {
  auto keys = stablehlo::sortKeys(op);
  if (!keys)
    return e.unsupported("by this comparator");
  auto type = tensorOf(op.getInputs()[0]);
  int64_t axis = op.getDimension();
  axis += axis < 0 ? type.getRank() : 0;
  auto takeAlong = [&](const Name &x, const Name &places) {
    return e.make("GatherElements", {x, places}, {{"axis", axis}});
  };
  Name sorted, places;
  auto sortBy = [&](const stablehlo::SortKey &key, Value input, bool byZeros) {
    Name x = e.operand(input);
    if (!places.empty())
      x = takeAlong(x, places);
    if (byZeros)
      x = signOfZeros(e, x, tensorOf(input).getElementType());
    Names made = e.makeMany(
        "TopK", {x, sizeOf(e, input, axis)},
        {{"axis", axis}, {"largest", key.isDescending}, {"sorted", 1}},
        {true, true});
    sorted = made[0];
    places = places.empty() ? made[1] : takeAlong(places, made[1]);
  };
  for (const stablehlo::SortKey &key : llvm::reverse(*keys)) {
    Value input = op.getInputs()[key.input];
    if (key.ordersZeros)
      sortBy(key, input, /*byZeros=*/true);
    sortBy(key, input, /*byZeros=*/false);
  }
  for (unsigned i = 0; i < op.getInputs().size(); ++i) {
    const bool isFirstKey = i == keys->front().input;
    Name result =
        isFirstKey ? sorted : takeAlong(e.operand(op.getInputs()[i]), places);
    if (failed(e.alias(result, i)))
      return failure();
  }
  return success();
}

static LogicalResult writeTopK(NodeWriter &e, nn::TopKOp op) {
  Name k = e.integers({static_cast<int64_t>(op.getK())});
  return e.result("TopK", {e.operand(op.getOperand()), k},
                  {{"axis", static_cast<int64_t>(op.getAxis())},
                   {"largest", op.getLargest()},
                   {"sorted", 1}});
}

template <typename Op>
static LogicalResult writeArg(NodeWriter &e, Op op, StringRef opType) {
  return e.result(opType, e.operands(),
                  {{"axis", static_cast<int64_t>(op.getAxis())},
                   {"keepdims", op.getKeepDimension()},
                   {"select_last_index", op.getSelectLast()}});
}
static LogicalResult writeArgMax(NodeWriter &e, nn::ArgMaxOp op) {
  return writeArg(e, op, "ArgMax");
}
static LogicalResult writeArgMin(NodeWriter &e, nn::ArgMinOp op) {
  return writeArg(e, op, "ArgMin");
}

static LogicalResult writeOneHot(NodeWriter &e, nn::OneHotOp op) {
  int64_t depth = tensorOf(op.getResult()).getDimSize(op.getAxis());
  if (ShapedType::isDynamic(depth))
    return e.unsupported("of unknown depth");
  Type i64 = IntegerType::get(op.getContext(), 64);
  return e.result("OneHot",
                  {e.operand(op.getIndices()),
                   e.scalar(i64, static_cast<double>(depth)),
                   e.operand(op.getValues())},
                  {{"axis", static_cast<int64_t>(op.getAxis())}});
}

static LogicalResult writeNonZero(NodeWriter &e, nn::NonZeroOp op) {
  return e.result("NonZero", e.operands());
}

static LogicalResult writeNonMaxSuppression(NodeWriter &e,
                                            nn::NonMaxSuppressionOp op) {
  return e.result("NonMaxSuppression", e.operands(),
                  {{"center_point_box", op.getCentred()}});
}

static LogicalResult writeCumulativeSum(NodeWriter &e, nn::CumulativeSumOp op) {
  Type i64 = IntegerType::get(op.getContext(), 64);
  Name axis = e.scalar(i64, static_cast<double>(op.getAxis()));
  return e.result(
      "CumSum", {e.operand(op.getOperand()), axis},
      {{"exclusive", op.getExclusive()}, {"reverse", op.getReverse()}});
}

WriterRules indexingRules() {
  static const WriterRule rules[] = {
      writerRule<writeGather>(),       writerRule<writeDynamicGather>(),
      writerRule<writeTake>(),         writerRule<writeTakeAlong>(),
      writerRule<writeDynamicSlice>(), writerRule<writeDynamicUpdateSlice>(),
      writerRule<writeScatter>(),      writerRule<writeSort>(),
      writerRule<writeTopK>(),         writerRule<writeArgMax>(),
      writerRule<writeArgMin>(),       writerRule<writeOneHot>(),
      writerRule<writeNonZero>(),      writerRule<writeNonMaxSuppression>(),
      writerRule<writeCumulativeSum>()};
  return rules;
}

} // namespace sinter::onnx
