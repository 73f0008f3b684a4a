// Probabilities of classes from those of pairs.

#include "formats/onnx/ops/PairwiseCoupling.h"

#include "formats/import/Building.h"
#include "formats/import/Regions.h"

using namespace mlir;
using sinter::stablehlo::ComparisonDirection;

namespace sinter::onnx {

namespace {

/// Builds the iteration, which goes through the classes one by one. All values
/// have a row for each of the input, so that rows end at their own time.
class Coupling {
public:
  Coupling(NodeContext &node, int64_t classes) : node(node), classes(classes) {}

  Value run(Value first);

private:
  Value add(Value a, Value b) { return node.binary<stablehlo::AddOp>(a, b); }
  Value sub(Value a, Value b) {
    return node.binary<stablehlo::SubtractOp>(a, b);
  }
  Value mul(Value a, Value b) { return node.binary<stablehlo::MulOp>(a, b); }
  Value div(Value a, Value b) { return node.binary<stablehlo::DivOp>(a, b); }
  Value sum(Value x, int64_t axis, bool keep) {
    return node.reduce<stablehlo::AddOp>(x, {axis}, 0, keep);
  }

  void setMatrix(Value first);
  Values step(ValueRange states);

  NodeContext &node;
  int64_t classes;
  /// The quadratic form [N, classes, classes] to minimise, and its diagonal.
  Value matrix, diagonal;
};

} // namespace

/// With r(i, j) how probable i is among i and j: the sum over j of r(j, i)^2 at
/// i, i, and -r(i, j) r(j, i) elsewhere.
void Coupling::setMatrix(Value first) {
  Value r = pairMatrix(node, classes, first);
  diagonal = sum(mul(r, r), 1, /*keep=*/false);
  if (!diagonal)
    return;
  std::vector<double> identity(classes * classes, 0.0);
  for (int64_t i = 0; i < classes; ++i)
    identity[i * classes + i] = 1;
  matrix = sub(mul(node.unsqueeze(diagonal, {1}),
                   numbers(node, node.f32(), identity, {1, classes, classes})),
               mul(r, node.transpose(r, {0, 2, 1})));
}

/// The states: a counter, the probabilities [N, classes], the matrix times
/// them, their product with that [N, 1], and 1 in rows that have ended.
Values Coupling::step(ValueRange states) {
  Value count = states[0], p = states[1], ended = states[4];
  Value size = node.scalar(node.i64(), static_cast<double>(classes));
  Value current = node.binary<stablehlo::RemOp>(count, size);
  // At the start of a round the products are computed anew.
  Value isStart = node.compare(current, node.scalar(node.i64(), 0),
                               ComparisonDirection::EQ);
  Value fresh = sum(mul(matrix, node.unsqueeze(p, {1})), 2, /*keep=*/false);
  if (!fresh)
    return {};
  Value freshTotal = sum(mul(p, fresh), 1, /*keep=*/true);
  Value error = node.reduce<stablehlo::MaxOp>(
      node.op<stablehlo::AbsOp>(sub(fresh, freshTotal)), {1}, 0, /*keep=*/true);
  Value isDone =
      node.compare(error, node.one(error, 0.005 / static_cast<double>(classes)),
                   ComparisonDirection::LT);
  ended =
      node.binary<stablehlo::MaxOp>(ended, mul(node.cast(isDone, node.f32()),
                                               node.cast(isStart, node.f32())));
  Value product = select(node, isStart, fresh, states[2]);
  Value total = select(node, isStart, freshTotal, states[3]);

  Value index = iota(node, Dims{classes}, 0, node.i64());
  Value here = node.unsqueeze(
      node.cast(node.compare(index, current, ComparisonDirection::EQ),
                node.f32()),
      {0});
  auto at = [&](Value x) { return sum(mul(x, here), 1, /*keep=*/true); };
  Value own = at(diagonal), ownProduct = at(product);
  Value row = sum(mul(matrix, node.unsqueeze(here, {2})), 1, /*keep=*/false);
  Value step = div(sub(total, ownProduct), own);
  Value scale = step ? add(step, node.one(step, 1)) : Value();
  Value nextTotal =
      div(div(add(total,
                  mul(step, add(mul(step, own), add(ownProduct, ownProduct)))),
              scale),
          scale);
  Value isOver =
      node.compare(ended, node.scalar(node.f32(), 0), ComparisonDirection::NE);
  auto unlessOver = [&](Value next, Value old) {
    return select(node, isOver, old, next);
  };
  return {add(count, node.scalar(node.i64(), 1)),
          unlessOver(div(add(p, mul(step, here)), scale), p),
          unlessOver(div(add(product, mul(step, row)), scale), product),
          unlessOver(nextTotal, total), ended};
}

Value Coupling::run(Value first) {
  if (!first)
    return {};
  setMatrix(first);
  if (!matrix || node.failed())
    return {};
  Dims rows{node.dim(first, 0), classes}, single{node.dim(first, 0), 1};
  auto filled = [&](const Dims &dims, double value) {
    return node.broadcastInDim(node.scalar(node.f32(), value), dims, {});
  };
  constexpr int64_t mostRounds = 100;
  Value end =
      node.scalar(node.i64(), static_cast<double>(mostRounds * classes));
  Values starts{node.scalar(node.i64(), 0),
                filled(rows, 1.0 / static_cast<double>(classes)),
                filled(rows, 0), filled(single, 0), filled(single, 0)};
  if (node.failed())
    return {};
  return formats::whileLoop(
      node, starts,
      [&](ValueRange states) {
        Value all = node.reduce<stablehlo::MinOp>(states[4], {0, 1}, 1, false);
        Value goesOn = node.compare(all, node.scalar(node.f32(), 0),
                                    ComparisonDirection::EQ);
        return node.op<stablehlo::AndOp>(
            goesOn, node.compare(states[0], end, ComparisonDirection::LT));
      },
      [&](ValueRange states) { return step(states); }, 1);
}

Value pairMatrix(NodeContext &node, int64_t classes, Value first) {
  if (!first)
    return {};
  const int64_t pairs = classes * (classes - 1) / 2;
  Value zero = node.binary<stablehlo::MulOp>(node.sliceAxis(first, 1, 0, 1),
                                             node.scalar(node.f32(), 0));
  Value second = node.binary<stablehlo::SubtractOp>(node.one(first, 1), first);
  Value all = node.concatenate({first, second, zero}, 1);
  std::vector<int64_t> places(classes * classes, 2 * pairs);
  int64_t pair = 0;
  for (int64_t i = 0; i < classes; ++i)
    for (int64_t j = i + 1; j < classes; ++j, ++pair) {
      places[i * classes + j] = pair;
      places[j * classes + i] = pairs + pair;
    }
  return node.op<nn::TakeOp>(all, integers(node, places, {classes, classes}),
                             uint64_t(1));
}

Value coupleProbabilities(NodeContext &node, int64_t classes, Value first) {
  return Coupling(node, classes).run(first);
}

} // namespace sinter::onnx
