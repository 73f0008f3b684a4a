// A tree ensemble by its tables, in stablehlo.

#include "graph/nn/TreeWalk.h"

using namespace mlir;
using sinter::stablehlo::ComparisonDirection;

namespace sinter::nn {

/// The words at \p place, taken apart: the number in the operand's width, and
/// the control as i64.
TreeWalk::Node TreeWalk::read(TensorBuilder &emit, Value place) const {
  const Type i64 = emit.integerType(64);
  auto bits = [&](Value x, double shift) -> Value {
    return emit.make<stablehlo::ShiftRightLogicalOp>(x,
                                                     emit.splatLike(shift, x));
  };
  Value i = emit.convert(place, i64);
  if (layout.isWide) {
    Value first = emit.mul(i, 2.0);
    Value word = emit.take(nodes, first, 0);
    Value number = emit.make<stablehlo::BitcastConvertOp>(
        tensorOf(word).clone(emit.builder.getF64Type()), word);
    return {number, emit.take(nodes, emit.add(first, 1.0), 0)};
  }
  Value word = emit.take(nodes, i, 0);
  Value low = emit.convert(emit.make<stablehlo::AndOp>(
                               word, emit.splatLike(double(0xffffffffU), word)),
                           emit.integerType(32));
  Value number = emit.make<stablehlo::BitcastConvertOp>(
      tensorOf(low).clone(emit.builder.getF32Type()), low);
  return {number, bits(word, 32)};
}

Value TreeWalk::nextPlace(TensorBuilder &emit, Value x, Value place) const {
  const Type i64 = emit.integerType(64);
  const Node node = read(emit, place);
  auto from = [&](unsigned shift) -> Value {
    return emit.make<stablehlo::ShiftRightLogicalOp>(
        node.control, emit.splatLike(shift, node.control));
  };
  auto bits = [&](unsigned shift, unsigned count) -> Value {
    Value down = from(shift);
    return emit.make<stablehlo::AndOp>(
        down, emit.splatLike(double((uint64_t(1) << count) - 1), down));
  };
  auto flag = [&](unsigned bit) {
    return emit.compare(ComparisonDirection::NE, bits(bit, 1), 0.0);
  };
  Value distance = from(layout.distanceShift());
  // Features are taken from the rows laid out one behind the other.
  const Sizes sizes = emit.sizes(place), rows = emit.sizes(x);
  Value row = emit.iota(sizes, 0, i64);
  Value at = emit.add(emit.mul(row, rows[1]),
                      bits(TreeLayout::featureShift, layout.featureBits));
  Value flat = emit.reshape(x, Sizes{emit.count(rows, {0, 1})});
  Value value = emit.convert(emit.take(flat, at, 0),
                             tensorOf(node.number).getElementType());
  Value holds = emit.compare(ComparisonDirection::LE, value, node.number);
  if (layout.hasEqual)
    holds = emit.make<stablehlo::AndOp>(
        holds, emit.make<stablehlo::OrOp>(
                   emit.make<stablehlo::NotOp>(flag(TreeLayout::equalBit)),
                   emit.compare(ComparisonDirection::GE, value, node.number)));
  if (layout.knowsNaN)
    holds = emit.make<stablehlo::OrOp>(
        holds, emit.make<stablehlo::AndOp>(
                   flag(TreeLayout::nanBit),
                   emit.compare(ComparisonDirection::NE, value, value)));
  Value isSecond = emit.make<stablehlo::AndOp>(
      emit.make<stablehlo::NotOp>(holds),
      emit.compare(ComparisonDirection::NE, distance, 0.0));
  return emit.convert(emit.add(emit.convert(place, i64),
                               emit.add(distance, emit.convert(isSecond, i64))),
                      emit.integerType(32));
}

/// What the trees give together, along dimension 1 of \p given [N, trees, ...].
/// What is NaN is not given.
Value TreeWalk::reduceTrees(TensorBuilder &emit, Value given,
                            bool isEmpty) const {
  const Type f64 = emit.builder.getF64Type();
  if (aggregate == "sum" || aggregate == "average")
    return emit.sum(given, {1});
  const bool isLeast = aggregate == "minimum";
  const double none = isLeast ? std::numeric_limits<double>::infinity()
                              : -std::numeric_limits<double>::infinity();
  Value isMissing = emit.compare(ComparisonDirection::NE, given, given);
  Value known = emit.select(isMissing, emit.splatLike(none, given), given);
  Value init = emit.scalar(none, f64);
  Value all = isLeast ? emit.reduce<stablehlo::MinOp>(known, init, {1})
                      : emit.reduce<stablehlo::MaxOp>(known, init, {1});
  if (!layout.hasRows && !isEmpty)
    return all;
  Value count =
      emit.sum(emit.convert(emit.make<stablehlo::NotOp>(isMissing), f64), {1});
  return emit.select(emit.compare(ComparisonDirection::GT, count, 0.0), all,
                     emit.splatLike(0, all));
}

Value TreeWalk::build(TensorBuilder &emit, Value x) const {
  OpBuilder &builder = emit.builder;
  const Type i32 = emit.integerType(32), f64 = builder.getF64Type();
  if (!tensorOf(x).getElementType().isF64())
    x = emit.convert(x, builder.getF32Type());
  const int64_t trees = tensorOf(roots).getDimSize(0);
  const Sizes sizes{emit.sizes(x)[0], trees};
  SmallVector<Value> carried = {emit.scalar(0, i32),
                                emit.broadcast(roots, {1}, sizes)};
  SmallVector<Type> types = {carried[0].getType(), carried[1].getType()};
  auto loop = builder.create<stablehlo::WhileOp>(emit.location, types, carried);
  {
    OpBuilder::InsertionGuard guard(builder);
    SmallVector<Location> locations(types.size(), emit.location);
    Block *condition =
        builder.createBlock(&loop.getCond(), {}, types, locations);
    TensorBuilder outer(builder, emit.location);
    builder.create<stablehlo::ReturnOp>(
        emit.location,
        outer.compare(ComparisonDirection::LT, condition->getArgument(0),
                      outer.scalar(static_cast<double>(layout.depth), i32)));
    Block *body = builder.createBlock(&loop.getBody(), {}, types, locations);
    TensorBuilder inner(builder, emit.location);
    Value level = body->getArgument(0), place = body->getArgument(1);
    Value next = nextPlace(inner, x, place);
    builder.create<stablehlo::ReturnOp>(
        emit.location, ValueRange{inner.add(level, 1.0), next});
  }
  Value number = read(emit, loop.getResult(1)).number, result;
  if (layout.hasRows) {
    Value row = emit.make<stablehlo::BitcastConvertOp>(
        tensorOf(number).clone(emit.integerType(layout.isWide ? 64 : 32)),
        number);
    const int64_t count = tensorOf(weights).getDimSize(0) / targets;
    Value table = emit.reshape(weights, Sizes{count, targets});
    result = reduceTrees(emit, emit.take(table, row, 0), false);
  } else {
    Value given = emit.convert(number, f64);
    SmallVector<Value> columns;
    for (int64_t k = 0; k < targets; ++k) {
      Value own = emit.slice(given, 1, Size(targetStarts[k]),
                             Size(targetStarts[k + 1]));
      Value all =
          reduceTrees(emit, own, targetStarts[k] == targetStarts[k + 1]);
      columns.push_back(emit.reshape(all, Sizes{sizes[0], 1}));
    }
    result = columns.size() == 1 ? columns[0] : emit.concatenate(columns, 1);
  }
  return aggregate == "average" ? emit.div(result, static_cast<double>(trees))
                                : result;
}

} // namespace sinter::nn
