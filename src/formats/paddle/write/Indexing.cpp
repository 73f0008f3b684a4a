// Gather, scatter, dynamic slices.

#include "formats/paddle/write/SizesAndIndices.h"
#include "formats/paddle/write/WriterRules.h"
#include "graph/IntegerRange.h"
#include "graph/nn/NnOps.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace sinter::paddle {

/// Indices that count from the beginning: Paddle has no negative ones.
static std::optional<Var> fromBeginning(OperatorWriter &e, Value indices,
                                        int64_t size) {
  Var var = e.operand(indices);
  if (IntegerRange::of(indices).low >= 0)
    return var;
  if (ShapedType::isDynamic(size))
    return std::nullopt;
  Var isNegative = e.compare("less_than", var, e.scalarFor(var, 0));
  Var more = e.cast(isNegative, var.element());
  Var whole = e.scalarFor(var, static_cast<double>(size));
  return e.binary("elementwise_add", var,
                  e.binary("elementwise_mul", more, whole));
}

/// Gathers \p x at \p indices along \p axis, which the indices' dimensions
/// replace; nothing if too many sizes are dynamic. The operator takes a vector
/// of indices.
static std::optional<Var> takeAt(OperatorWriter &e, const Var &x,
                                 const Var &indices, int64_t axis) {
  Ints shape(x.shape().take_front(axis));
  llvm::append_range(shape, indices.shape());
  llvm::append_range(shape, x.shape().drop_front(axis + 1));
  const bool isList = indices.rank() == 1;
  if (!isList && llvm::count_if(shape, ShapedType::isDynamic) > 1)
    return std::nullopt;
  const int64_t count = productOf(indices.shape());
  Ints taken(x.shape());
  taken[axis] = count;
  Var list = isList ? indices : e.reshape(indices, {count});
  Var result = e.make("gather", {{"X", x}, {"Index", list}}, {{"axis", axis}},
                      e.typed(taken, x.element()));
  return isList ? result : e.reshape(result, shape);
}

static LogicalResult writeTake(OperatorWriter &e, nn::TakeOp op) {
  auto type = tensorOf(op.getOperand());
  const auto axis = static_cast<int64_t>(op.getAxis());
  auto indices = fromBeginning(e, op.getIndices(), type.getDimSize(axis));
  if (!indices)
    return e.unsupported("along a dimension of unknown size");
  auto taken = takeAt(e, e.operand(op.getOperand()), *indices, axis);
  return taken ? e.alias(*taken) : e.unsupported("of several unknown sizes");
}

static LogicalResult writeTakeAlong(OperatorWriter &e, nn::TakeAlongOp op) {
  const auto axis = static_cast<int64_t>(op.getAxis());
  auto indices = fromBeginning(e, op.getIndices(),
                               tensorOf(op.getOperand()).getDimSize(axis));
  if (!indices)
    return e.unsupported("along a dimension of unknown size");
  return e.result("take_along_axis",
                  {{"Input", e.operand(op.getOperand())}, {"Index", *indices}},
                  {{"Axis", axis}}, "Result");
}

/// Whether windows span all dimensions but one, in which they have size 1, as
/// `gather` requires.
static bool takesAlongOne(const IndexedWindows &w) {
  return w.mapped.size() == 1 && w.listed().size() == 1 &&
         w.sizes[w.mapped[0]] == 1;
}

/// A gather with the dimension numbers \p numbers.
static LogicalResult gather(OperatorWriter &e, Value operand,
                            stablehlo::GatherDimensionNumbersAttr numbers,
                            const IndexedWindows &w) {
  const int64_t rank = tensorOf(e.op->getResult(0)).getRank();
  if (w.listed().empty())
    return e.unsupported("without indices");
  if (takesAlongOne(w)) {
    const int64_t axis = w.mapped[0];
    auto taken = takeAt(e, e.operand(operand), startIndices(e, w, 0), axis);
    if (taken) {
      // [before..., batch..., behind...] to [batch..., axis, before...,
      // behind].
      const auto batch = static_cast<int64_t>(w.batchDims().size());
      Ints first, rest;
      for (int64_t i = 0; i < taken->rank(); ++i)
        (i >= axis && i < axis + batch ? first : rest).push_back(i);
      first.append(rest);
      Var ordered = e.unsqueeze(e.transpose(*taken, first), {batch});
      const auto [dropped, permutation] =
          formats::toResult(numbers, w, w.order(), rank);
      return e.alias(e.transpose(e.squeeze(ordered, dropped), permutation));
    }
  }
  const Ints order = w.order();
  Var rows = rowsOf(e, w);
  Var x = e.transpose(e.operand(operand), order);
  Ints shape(rows.shape().drop_back());
  llvm::append_range(shape, x.shape().drop_front(w.listed().size()));
  Var gathered = e.make("gather_nd", {{"X", x}, {"Index", rows}}, {},
                        e.typed(shape, x.element()));
  const auto [dropped, permutation] =
      formats::toResult(numbers, w, order, rank);
  return e.alias(e.transpose(e.squeeze(gathered, dropped), permutation));
}

static LogicalResult writeGather(OperatorWriter &e, stablehlo::GatherOp op) {
  return gather(e, op.getOperand(), op.getDimensionNumbers(),
                IndexedWindows::of(op));
}

static LogicalResult writeDynamicGather(OperatorWriter &e,
                                        stablehlo::DynamicGatherOp op) {
  auto windows = IndexedWindows::of(op);
  return windows
             ? gather(e, op.getOperand(), op.getDimensionNumbers(), *windows)
             : e.unsupported("of slices of computed sizes");
}

//===----------------------------------------------------------------------===//
// Scattering
//===----------------------------------------------------------------------===//

namespace {
/// How updates are combined: the operator, and its name in put_along_axis.
struct UpdateRule {
  StringRef op, reduce;
};
} // namespace

static std::optional<UpdateRule> updateRuleOf(stablehlo::ScatterOp op) {
  mlir::Block &body = op.getUpdateComputation().front();
  if (body.getTerminator()->getOperand(0) == body.getArgument(1))
    return UpdateRule{"", "assign"};
  static const UpdateRule updateRules[] = {{"stablehlo.add", "add"},
                                           {"stablehlo.multiply", "mul"},
                                           {"stablehlo.maximum", "amax"},
                                           {"stablehlo.minimum", "amin"}};
  auto name = stablehlo::soleOperation(op.getUpdateComputation());
  for (const UpdateRule &each : updateRules)
    if (name == each.op && !elementOf(op.getInputs()[0]).isInteger(1))
      return each;
  return std::nullopt;
}

/// The linear indices of the rows of \p w in the listed dimensions, a vector of
/// i64; those of windows out of bounds are the element count, the last of
/// \p strides.
static Var flatIndices(OperatorWriter &e, const IndexedWindows &w,
                       ArrayRef<SizeProduct> strides) {
  const Ints listed = w.listed();
  const auto batchRank = static_cast<int64_t>(w.batchDims().size());
  const auto rank = static_cast<int64_t>(listed.size());
  Ints windowAxes;
  Vars limits, steps;
  for (auto [i, dim] : llvm::enumerate(listed)) {
    limits.push_back(sizeOf(e, w.tensor, dim));
    steps.push_back(strides[i].var(e));
    windowAxes.push_back(batchRank + static_cast<int64_t>(i));
  }
  Var rows = rowsOf(e, w);
  Var low = e.compare("less_than", rows, e.integers({0}, {1}));
  Var high = e.compare("greater_equal", rows, e.concat(limits, 0));
  Var outside = e.cast(e.binary("logical_or", low, high), e.i64());
  windowAxes.push_back(batchRank + rank);
  Var isOutside = e.reduce("reduce_max", outside, windowAxes, /*keep=*/true);
  Var flat = e.reduce("reduce_sum",
                      e.binary("elementwise_mul", rows, e.concat(steps, 0)),
                      {batchRank + rank}, /*keep=*/true);
  // In bounds: the index; out of bounds: the end.
  Var away = e.binary("elementwise_sub", strides.back().var(e), flat);
  Var moved = e.binary("elementwise_add", flat,
                       e.binary("elementwise_mul", isOutside, away));
  return e.reshape(moved, {productOf(moved.shape())});
}

/// The listed dimensions are merged and padded by one element for updates that
/// are out of bounds.
static LogicalResult writeScatter(OperatorWriter &e, stablehlo::ScatterOp op) {
  if (op.getInputs().size() != 1)
    return e.unsupported("of several tensors");
  auto how = updateRuleOf(op);
  if (!how)
    return e.unsupported("with this update computation");
  const IndexedWindows w = IndexedWindows::of(op);
  const Value input = op.getInputs()[0];
  const Ints listed = w.listed(), order = w.order();
  if (listed.empty())
    return e.unsupported("without indices");
  const auto strides = stridesOf(e, input, listed);
  const SizeProduct &count = strides.back();
  SizeProduct rest;
  for (int64_t dim : ArrayRef(order).drop_front(listed.size()))
    rest.multiply(e, input, dim);
  Var ids = flatIndices(e, w, strides);

  Var x = e.transpose(e.operand(input), order);
  Var rows = reshape(e, x, {count.known(), rest.known()},
                     [&] { return Vars{count.var(e), rest.var(e)}; });
  Settings filler = {{"shape", Ints{1, rest.known() < 0 ? -1 : rest.known()}},
                     {"dtype", *e.typeNumber(x.element())},
                     {"value", 0.0},
                     {"force_cpu", false}};
  std::vector<Given> fillerSizes;
  if (ShapedType::isDynamic(rest.known()))
    fillerSizes.emplace_back(
        "ShapeTensor", e.cast(e.concat({e.integers({1}, {1}), rest.var(e)}, 0),
                              IntegerType::get(op.getContext(), 32)));
  Var beyond =
      e.make("fill_constant", std::move(fillerSizes), std::move(filler),
             e.typed({1, rest.known()}, x.element()));
  rows = e.concat({rows, beyond}, 0);

  const auto [added, permutation] = formats::fromUpdates(op, w);
  Var updates = e.transpose(e.operand(op.getUpdates()[0]), permutation);
  updates = reshape(e, updates, {ids.shape()[0], rest.known()}, [&] {
    return Vars{e.cast(shapeOf(e, ids), e.i64()), rest.var(e)};
  });
  Var done = rows;
  if (how->reduce == "assign") {
    done = e.make("scatter", {{"X", rows}, {"Ids", ids}, {"Updates", updates}},
                  {{"overwrite", true}}, rows.type);
  } else if (how->reduce == "add") {
    done = e.make(
        "scatter_nd_add",
        {{"X", rows}, {"Index", e.unsqueeze(ids, {1})}, {"Updates", updates}},
        {}, rows.type);
  } else {
    Var index = expand(e, e.unsqueeze(ids, {1}), updates.shape(),
                       {e.cast(shapeOf(e, updates), e.i64())});
    done = e.make(
        "put_along_axis",
        {{"Input", rows}, {"Index", index}, {"Value", updates}},
        {{"Axis", 0}, {"Reduce", how->reduce.str()}, {"Include_self", true}},
        rows.type, "Result");
  }
  // Drop the last row.
  Var inside =
      e.slice(done, {0}, {0}, {count.known() < 0 ? -1 : count.known()}, {1});
  Var whole = reshape(e, inside, x.shape(),
                      [&] { return Vars{e.cast(shapeOf(e, x), e.i64())}; });
  return e.alias(e.transpose(whole, inverse(order)));
}

//===----------------------------------------------------------------------===//
// Dynamic slices
//===----------------------------------------------------------------------===//

/// The indices \p starts, clamped for a slice of the sizes \p sizeAlong of
/// \p whole: a vector of one i64 for each.
static Vars clampedStarts(OperatorWriter &e, ValueRange starts, Value whole,
                          llvm::function_ref<Var(int64_t)> sizeAlong) {
  Vars parts;
  for (auto [dim, start] : llvm::enumerate(starts)) {
    const auto axis = static_cast<int64_t>(dim);
    Var offset = e.reshape(e.cast(e.operand(start), e.i64()), {1});
    Var last =
        e.binary("elementwise_sub", sizeOf(e, whole, axis), sizeAlong(axis));
    offset = e.binary("elementwise_max", offset, e.integers({0}, {1}));
    parts.push_back(e.binary("elementwise_min", offset, last));
  }
  return parts;
}

static LogicalResult writeDynamicSlice(OperatorWriter &e,
                                       stablehlo::DynamicSliceOp op) {
  auto type = tensorOf(op.getOperand());
  Var x = e.operand(op.getOperand());
  if (type.getRank() == 0)
    return e.alias(x);
  const Ints sizes(op.getSliceSizes());
  Var starts = e.concat(
      clampedStarts(e, op.getStartIndices(), op.getOperand(),
                    [&](int64_t dim) { return e.integers({sizes[dim]}, {1}); }),
      0);
  Var ends =
      e.binary("elementwise_add", starts, e.integers(sizes, {type.getRank()}));
  return e.alias(e.sliceAt(x, starts, ends, Ints(sizes.size(), 1),
                           tensorOf(op.getResult())));
}

/// The linear indices of the elements of \p update, flattened, in a tensor with
/// strides \p strides.
static Var linearIndices(OperatorWriter &e, Value update,
                         ArrayRef<SizeProduct> strides) {
  auto type = tensorOf(update);
  const int64_t rank = type.getRank();
  const bool isKnown =
      type.hasStaticShape() &&
      llvm::none_of(strides.drop_back(), [](const SizeProduct &each) {
        return ShapedType::isDynamic(each.known());
      });
  if (!isKnown) {
    std::optional<Var> sum;
    for (int64_t dim = 0; dim < rank; ++dim) {
      Var along =
          e.binary("elementwise_mul", countAlong(e, update, dim, dim, rank),
                   strides[dim].var(e));
      sum = sum ? e.binary("elementwise_add", *sum, along) : along;
    }
    return e.reshape(*sum, {productOf(sum->shape())});
  }
  Ints offsets;
  const int64_t count = type.getNumElements();
  for (int64_t i = 0; i < count; ++i) {
    int64_t offset = 0, left = i;
    for (int64_t dim = rank - 1; dim >= 0; --dim) {
      offset += left % type.getDimSize(dim) * strides[dim].known();
      left /= type.getDimSize(dim);
    }
    offsets.push_back(offset);
  }
  return e.integers(offsets, {count});
}

/// Scatters the update's elements by linear index.
static LogicalResult
writeDynamicUpdateSlice(OperatorWriter &e, stablehlo::DynamicUpdateSliceOp op) {
  auto type = tensorOf(op.getOperand()), update = tensorOf(op.getUpdate());
  if (type.getRank() == 0)
    return e.alias(e.operand(op.getUpdate()));
  const auto strides = stridesOf(e, op.getOperand(), identity(type.getRank()));
  const Vars starts =
      clampedStarts(e, op.getStartIndices(), op.getOperand(), [&](int64_t dim) {
        return sizeOf(e, op.getUpdate(), dim);
      });
  Vars steps;
  for (const SizeProduct &each : ArrayRef(strides).drop_back())
    steps.push_back(each.var(e));
  Var first = e.reduce(
      "reduce_sum",
      e.binary("elementwise_mul", e.concat(starts, 0), e.concat(steps, 0)), {0},
      /*keep=*/true);
  Var ids = e.binary("elementwise_add",
                     linearIndices(e, op.getUpdate(), strides), first);
  Var x = e.operand(op.getOperand());
  Var flat = e.reshape(x, {productOf(type.getShape())});
  Var updates =
      e.reshape(e.operand(op.getUpdate()), {productOf(update.getShape())});
  Var done =
      e.make("scatter", {{"X", flat}, {"Ids", ids}, {"Updates", updates}},
             {{"overwrite", true}}, flat.type);
  return e.alias(reshape(e, done, type.getShape(),
                         [&] { return Vars{e.cast(shapeOf(e, x), e.i64())}; }));
}

WriterRules indexingRules() {
  static const WriterRule rules[] = {writerRule<writeTake>(),
                                     writerRule<writeTakeAlong>(),
                                     writerRule<writeGather>(),
                                     writerRule<writeDynamicGather>(),
                                     writerRule<writeScatter>(),
                                     writerRule<writeDynamicSlice>(),
                                     writerRule<writeDynamicUpdateSlice>()};
  return rules;
}

} // namespace sinter::paddle
