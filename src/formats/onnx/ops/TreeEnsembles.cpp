// Ensembles of trees of ai.onnx.ml.

#include "formats/import/Building.h"
#include "formats/onnx/Operators.h"
#include "formats/onnx/ops/ClassicalScores.h"
#include "formats/onnx/ops/TreeSource.h"

using namespace mlir;

namespace sinter::onnx {

static std::optional<StringRef> readAggregate(NodeContext &node) {
  const std::string name = node.getString("aggregate_function", "SUM");
  if (name == "SUM")
    return "sum";
  if (name == "AVERAGE")
    return "average";
  if (name == "MIN")
    return "minimum";
  if (name == "MAX")
    return "maximum";
  return node.fail("attribute 'aggregate_function' is not SUM, AVERAGE, MIN or "
                   "MAX");
}

static LogicalResult importTreeEnsembleRegressor(NodeContext &node) {
  Value x = rowsOf(node, node.operand(0), /*narrows=*/false);
  const auto transform = readPostTransform(node);
  const auto aggregate = readAggregate(node);
  const int64_t targets = node.getInt("n_targets", 1);
  if (!x || !transform || !aggregate)
    return failure();
  const auto source = readNumberedTrees(node, "target", targets);
  const auto base = floatsOrTensor(node, "base_values");
  if (!source || !base)
    return failure();
  if (!base->empty() && static_cast<int64_t>(base->size()) != targets)
    return node.fail("attribute 'base_values' needs one entry per target, " +
                     Twine(targets) + ", and has " + Twine(base->size()));
  Value scores = shifted(node, source->evaluate(node, x, *aggregate), *base);
  return node.result(node.cast(
      transformTargets(node, *transform, scores, targets), node.f32()));
}

static LogicalResult importTreeEnsemble(NodeContext &node) {
  Value operand = node.operand(0);
  Value x = rowsOf(node, operand, /*narrows=*/false);
  constexpr StringLiteral aggregates[] = {"average", "sum", "minimum",
                                          "maximum"};
  constexpr PostTransform transforms[] = {
      PostTransform::None, PostTransform::Softmax, PostTransform::Logistic,
      PostTransform::SoftmaxZero, PostTransform::Probit};
  const int64_t aggregate = node.getInt("aggregate_function", 1),
                transform = node.getInt("post_transform", 0);
  if (!x)
    return failure();
  if (aggregate < 0 || aggregate > 3 || transform < 0 || transform > 4)
    return node.fail("attribute 'aggregate_function' is not 0 to 3, or "
                     "'post_transform' is not 0 to 4");
  const auto source = readIndexedTrees(node);
  if (!source)
    return failure();
  Value scores = source->evaluate(node, x, aggregates[aggregate]);
  return node.result(node.cast(transformTargets(node, transforms[transform],
                                                scores, source->targetCount),
                               node.element(operand)));
}

//===----------------------------------------------------------------------===//
// Classifiers
//===----------------------------------------------------------------------===//

namespace {

/// What ONNX Runtime makes of the sums of a classifier, for which the standard
/// has no rule.
class TreeClassifier {
public:
  TreeClassifier(NodeContext &node, const TreeSource &source, Value x,
                 ClassLabels labels, PostTransform transform,
                 ArrayRef<double> base)
      : node(node), source(source), x(x), labels(std::move(labels)),
        transform(transform), base(base),
        sums(source.evaluate(node, x, "sum")) {}

  LogicalResult finish();

private:
  LogicalResult finishOne();
  LogicalResult finishTwo();
  LogicalResult finishMany();
  Value zeroLike(Value value) {
    return node.binary<stablehlo::MulOp>(value, node.one(value, 0));
  }
  /// \p value where trees gave anything to \p target, else 0.
  Value whereGiven(Value value, int64_t target);
  /// Whether trees gave anything to \p target, [N, 1]; null where it is known.
  Value givenTo(int64_t target);
  bool isBinary() const;
  bool arePositive() const {
    return llvm::all_of(source.weights, [](double each) { return each >= 0; });
  }
  Value both(Value first, Value second) {
    return besideEachOther(node, first, second);
  }
  LogicalResult results(Value label, Value scores) {
    return node.results({label, node.cast(scores, node.f32())});
  }
  Value labelOfTwo(Value positive);
  Value scoresOfOne(Value score);

  NodeContext &node;
  const TreeSource &source;
  Value x;
  ClassLabels labels;
  PostTransform transform;
  ArrayRef<double> base;
  Value sums;
  Value counts;
};

} // namespace

Value TreeClassifier::givenTo(int64_t target) {
  if (source.isGiven(target) != TreeSource::Given::Sometimes)
    return {};
  if (!counts)
    counts = source.evaluate(node, x, "maximum", /*counts=*/true);
  return isAbove(node, column(node, counts, target), 0);
}

Value TreeClassifier::whereGiven(Value value, int64_t target) {
  if (!value || source.isGiven(target) == TreeSource::Given::Always)
    return value;
  Value isGiven = givenTo(target);
  return isGiven ? select(node, isGiven, value, zeroLike(value))
                 : zeroLike(value);
}

/// Whether one of two classes has all weights.
bool TreeClassifier::isBinary() const {
  return labels.size() == 2 && llvm::all_equal(source.targets) &&
         !source.targets.empty();
}

/// The label of two classes by the sum of the second, or of the only one. Where
/// both have weights, it is 0 or 1 (a string: that one of the labels).
Value TreeClassifier::labelOfTwo(Value positive) {
  if (isBinary())
    return labelsWhere(node, labels,
                       isAbove(node, positive, arePositive() ? 0.5 : 0));
  ClassLabels own = labels;
  if (!own.areStrings())
    own.integers = {0, 1};
  return labelsWhere(node, own, isAbove(node, positive, 0));
}

/// Both scores of two classes where only the first one has a sum.
Value TreeClassifier::scoresOfOne(Value score) {
  if (!score)
    return {};
  if (transform == PostTransform::Probit)
    return both(probit(node, score), zeroLike(score));
  if (!isBinary() && base.size() == 1)
    return both(score, zeroLike(score));
  Value opposite = node.op<stablehlo::NegOp>(score);
  if (transform == PostTransform::Logistic)
    return both(node.op<stablehlo::LogisticOp>(opposite),
                node.op<stablehlo::LogisticOp>(score));
  if (isBinary() && arePositive())
    return both(node.binary<stablehlo::SubtractOp>(node.one(score, 1), score),
                score);
  return both(opposite, score);
}

LogicalResult TreeClassifier::finishOne() {
  ClassLabels own = labels;
  if (own.areStrings())
    return node.unsupported("a classifier of one class that is a string");
  own.integers = {0, 1};
  Value score = shifted(node, sums, base.take_back(1));
  Value label = labelsWhere(node, own, isAbove(node, score, 0));
  if (base.size() == 2)
    return results(
        label,
        column(node,
               transformScores(node, transform,
                               both(node.op<stablehlo::NegOp>(score), score)),
               0));
  return results(label, transformTargets(node, transform, score, 1));
}

/// A class to which no tree gives anything has the score 0, base value or not;
/// base values of two are taken for those of the second class.
LogicalResult TreeClassifier::finishTwo() {
  using Given = TreeSource::Given;
  Value a = column(node, sums, 0), b = column(node, sums, 1);
  if (!a || !b)
    return failure();
  const auto plus = [&](Value value, double by) {
    return by == 0 ? value : shifted(node, value, {by});
  };
  Value first = whereGiven(plus(a, base.empty() ? 0 : base[0]), 0);
  // Where the second class has a sum.
  Value second = base.size() == 2 ? plus(a, base[1]) : b;
  Value scores = transformScores(
      node, transform,
      both(base.size() == 2 ? whereGiven(node.op<stablehlo::NegOp>(second), 0)
                            : first,
           second));
  const Given given = source.isGiven(1);
  if (given == Given::Always)
    return results(labelOfTwo(second), scores);
  // Where it has none.
  Value others =
      base.size() == 2
          ? transformScores(node, transform, both(first, zeroLike(first)))
          : scoresOfOne(plus(a, base.empty() ? 0 : base[0]));
  if (given == Given::Never)
    return results(labelOfTwo(first), others);
  Value isSecond = givenTo(1);
  return results(labelOfTwo(select(node, isSecond, second, first)),
                 select(node, isSecond, scores, others));
}

LogicalResult TreeClassifier::finishMany() {
  Value scores = shifted(node, sums, base), compared = scores;
  // Without base values, what has no sum is not chosen.
  bool anyMissing = false;
  for (int64_t k = 0; base.empty() && k < labels.size() && !anyMissing; ++k)
    anyMissing = source.isGiven(k) != TreeSource::Given::Always;
  if (anyMissing && scores) {
    Value given = source.evaluate(node, x, "maximum", /*counts=*/true);
    compared =
        select(node, isAbove(node, given, 0), scores,
               node.one(scores, -std::numeric_limits<double>::infinity()));
  }
  return results(labelsOfGreatest(node, labels, compared),
                 transformScores(node, transform, scores));
}

LogicalResult TreeClassifier::finish() {
  if (!sums)
    return failure();
  if (labels.size() == 1)
    return finishOne();
  return labels.size() == 2 ? finishTwo() : finishMany();
}

static LogicalResult importTreeEnsembleClassifier(NodeContext &node) {
  Value x = rowsOf(node, node.operand(0), /*narrows=*/false);
  const auto transform = readPostTransform(node);
  const auto labels = readLabels(node, "classlabels_int64s");
  if (!x || !transform || !labels)
    return failure();
  const auto source = readNumberedTrees(node, "class", labels->size());
  const auto base = floatsOrTensor(node, "base_values");
  if (!source || !base)
    return failure();
  const auto count = static_cast<int64_t>(base->size());
  if (labels->size() > 2 ? count != 0 && count != labels->size() : count > 2)
    return node.fail("attribute 'base_values' has " + Twine(count) +
                     " elements for " + Twine(labels->size()) + " classes");
  return TreeClassifier(node, *source, x, *labels, *transform, *base).finish();
}

llvm::ArrayRef<Operator> treeEnsembleOperators() {
  static const Operator table[] = {
      {"TreeEnsemble", mlDomain, 5, importTreeEnsemble, 1, 1, false, true},
      {"TreeEnsembleClassifier", mlDomain, 1, importTreeEnsembleClassifier, 1,
       1, false, true},
      {"TreeEnsembleRegressor", mlDomain, 1, importTreeEnsembleRegressor, 1, 1,
       false, true},
  };
  return table;
}

} // namespace sinter::onnx
