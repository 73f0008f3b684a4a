// Unique: distinct elements, or distinct slices along an axis.

#include "formats/import/Building.h"
#include "formats/onnx/Operators.h"
#include "formats/onnx/ops/Inputs.h"

using namespace mlir;
using sinter::stablehlo::ComparisonDirection;

namespace sinter::onnx {

/// A slice is compared number by number, so it has a bounded number of them.
static constexpr int64_t mostKeys = 1024;

/// Fills the comparator of a sort: the first pair of keys that differ decides.
/// Without NaN `lhs < rhs` orders totally; a NaN counts as greater than all.
static void fillLess(OpBuilder &builder, Location loc, Block &block,
                     int64_t keys) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&block);
  auto compare = [&](Value a, Value b, ComparisonDirection direction) -> Value {
    return builder.create<stablehlo::CompareOp>(
        loc, RankedTensorType::get({}, builder.getI1Type()), a, b, direction,
        stablehlo::ComparisonTypeAttr());
  };
  auto isNumber = [&](Value a) {
    return compare(a, a, ComparisonDirection::EQ);
  };
  auto make = [&]<typename Op>(Value a, Value b) -> Value {
    return builder.create<Op>(loc, a.getType(), a, b);
  };
  Value less, same;
  for (int64_t i = 0; i < keys; ++i) {
    Value a = block.getArgument(2 * i), b = block.getArgument(2 * i + 1);
    Value here = compare(a, b, ComparisonDirection::LT);
    if (isa<FloatType>(getElementTypeOrSelf(a))) {
      Value aFirst =
          builder.create<stablehlo::NotOp>(loc, here.getType(), isNumber(b));
      aFirst = make.operator()<stablehlo::AndOp>(isNumber(a), aFirst);
      here = make.operator()<stablehlo::OrOp>(here, aFirst);
    }
    less = less ? make.operator()<stablehlo::OrOp>(
                      less, make.operator()<stablehlo::AndOp>(same, here))
                : here;
    Value equal = compare(a, b, ComparisonDirection::EQ);
    same = same ? make.operator()<stablehlo::AndOp>(same, equal) : equal;
  }
  builder.create<stablehlo::ReturnOp>(loc, ValueRange(less));
}

/// The keys [n] sorted together, and where each came from. Equal ones keep
/// their order.
static std::optional<Values> sortByKeys(NodeContext &node, ArrayRef<Value> keys,
                                        int64_t n) {
  Values inputs(keys.begin(), keys.end());
  inputs.push_back(iota(node, {n}, 0, node.i64()));
  if (llvm::is_contained(inputs, Value()))
    return std::nullopt;
  OpBuilder &builder = node.builder();
  OperationState state(node.location(), stablehlo::SortOp::getOperationName());
  stablehlo::SortOp::build(builder, state, TypeRange(ValueRange(inputs)),
                           inputs, /*dimension=*/0, /*is_stable=*/true);
  Region &region = *state.regions.front();
  if (region.empty())
    region.emplaceBlock();
  Block &block = region.front();
  for (Value input : inputs) {
    Type scalar = RankedTensorType::get({}, node.element(input));
    block.addArguments({scalar, scalar}, {node.location(), node.location()});
  }
  fillLess(builder, node.location(), block, keys.size());
  Operation *op = node.create(state);
  if (!op)
    return std::nullopt;
  return Values(op->getResults());
}

/// \p updates [n] put to places \p at [n] of a vector of \p filler.
static Value put(NodeContext &node, Value updates, Value at, double filler,
                 Combine combine) {
  if (!updates || !at)
    return {};
  auto numbers = stablehlo::ScatterDimensionNumbersAttr::get(
      node.context(), {}, {0}, {}, {}, {0}, 1);
  return scatter(node,
                 node.splat(node.element(updates), filler, node.shape(updates)),
                 node.unsqueeze(at, {1}), updates, numbers, combine);
}

static Value take(NodeContext &node, Value from, Value at) {
  return node.op<nn::TakeOp>(from, at, uint64_t(0));
}

/// How many flags are set before each place, that place included, less one.
static Value rankOf(NodeContext &node, Value flags) {
  Value count = node.op<nn::CumulativeSumOp>(node.cast(flags, node.i64()),
                                             uint64_t(0), false, false);
  return node.binary<stablehlo::SubtractOp>(count, node.one(count, 1));
}

/// The numbers that are to be compared: one vector [n] for each place in a
/// slice.
static std::optional<Values> keysOf(NodeContext &node, Value rows) {
  int64_t n = node.shape(rows)[0], width = node.shape(rows)[1];
  if (width > mostKeys)
    return node.unsupported("slices of more than " + Twine(mostKeys) +
                            " elements");
  Values keys;
  for (int64_t i = 0; i < width; ++i) {
    Value key = node.reshape(node.sliceAxis(rows, 1, i, i + 1), Ints{n});
    // Zeros of either sign are one number.
    if (key && node.isFloat(key))
      key = select(node,
                   node.compare(key, node.one(key, 0), ComparisonDirection::EQ),
                   node.one(key, 0), key);
    keys.push_back(key);
  }
  return keys;
}

/// Which of the sorted keys differ from the one before them.
static Value startsOf(NodeContext &node, ArrayRef<Value> sorted, int64_t n) {
  Value differs;
  for (Value key : sorted) {
    Value here =
        node.compare(node.sliceAxis(key, 0, 1, n),
                     node.sliceAxis(key, 0, 0, n - 1), ComparisonDirection::NE);
    differs = differs ? node.op<stablehlo::OrOp>(differs, here) : here;
  }
  Value first = node.splat(node.i1(), 1, {1});
  return n == 1 ? first : node.concatenate(ValueRange({first, differs}), 0);
}

/// The elements are sorted; where an element differs from the one before it a
/// group starts. Groups are numbered as they are sorted or, if `sorted` is 0,
/// by their first elements' places.
static LogicalResult importUnique(NodeContext &node) {
  Value x = node.operand(0);
  if (!x)
    return failure();
  int64_t axis = 0;
  if (node.hasAttribute("axis")) {
    auto given = node.axis(node.getInt("axis", 0), node.rank(x));
    if (!given)
      return failure();
    axis = *given;
  }
  if (!node.isStatic(x))
    return node.unsupported("an input of unknown size");
  int64_t total = 1;
  for (int64_t size : node.shape(x))
    total *= size;
  if (!node.hasAttribute("axis"))
    x = node.reshape(x, Ints{total});
  int64_t n = node.shape(x)[axis];
  if (total == 0)
    return node.unsupported("an input without elements");
  Ints order{axis};
  for (int64_t i = 0; i < node.rank(x); ++i)
    if (i != axis)
      order.push_back(i);
  Value rows = node.reshape(node.transpose(x, order), Ints{n, total / n});
  if (!rows)
    return failure();
  auto keys = keysOf(node, rows);
  auto sorted = keys ? sortByKeys(node, *keys, n) : std::nullopt;
  if (!sorted)
    return failure();
  Value from = sorted->pop_back_val();
  Value starts = startsOf(node, *sorted, n);
  Value group = rankOf(node, starts);
  // Each group's first element: equal ones kept their order.
  Value first = put(node, from, group, static_cast<double>(n), Combine::Min);
  Value inverse = put(node, group, from, 0, Combine::Replace);
  Value found = starts;
  bool isSorted = node.getBool("sorted", true);
  if (!isSorted) {
    found = put(node, node.cast(starts, node.i64()), from, 0, Combine::Replace);
    inverse = take(node, rankOf(node, found), take(node, first, inverse));
  }
  if (!found)
    return failure();
  Value places = node.squeeze(
      node.typed<nn::NonZeroOp>(
          node.tensorType({1, ShapedType::kDynamic}, node.i64()), found),
      {0});
  Value indices = isSorted ? take(node, from, places) : places;
  Value counts =
      put(node, node.splat(node.i64(), 1, {n}), inverse, 0, Combine::Add);
  counts = take(node, counts, take(node, inverse, indices));
  return node.results({node.op<nn::TakeOp>(x, indices, uint64_t(axis)), indices,
                       inverse, counts});
}

llvm::ArrayRef<Operator> uniqueOperators() {
  static const Operator table[] = {
      {"Unique", "", 11, importUnique, 1, 1},
  };
  return table;
}

} // namespace sinter::onnx
