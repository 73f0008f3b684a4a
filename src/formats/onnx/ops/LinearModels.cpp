// Linear models and support vector machines of ai.onnx.ml.

#include "formats/import/Building.h"
#include "formats/import/Products.h"
#include "formats/onnx/Operators.h"
#include "formats/onnx/ops/ClassicalScores.h"
#include "formats/onnx/ops/PairwiseCoupling.h"

using namespace mlir;
using sinter::stablehlo::ComparisonDirection;

namespace sinter::onnx {

static LogicalResult importLinearRegressor(NodeContext &node) {
  Value x = rowsOf(node, node.operand(0), /*narrows=*/true);
  const auto transform = readPostTransform(node);
  const auto coefficients = node.getFloats("coefficients");
  const auto intercepts = node.getFloats("intercepts");
  const int64_t targets = node.getInt("targets", 1);
  if (!x || !transform)
    return failure();
  if (targets < 1 || coefficients.empty())
    return node.fail("there are no targets or no coefficients");
  if (!intercepts.empty() && static_cast<int64_t>(intercepts.size()) != targets)
    return node.fail("attribute 'intercepts' needs one entry per target, " +
                     Twine(targets) + ", and has " + Twine(intercepts.size()));
  Value scores = shifted(node, timesTransposed(node, x, coefficients, targets),
                         intercepts);
  return node.result(transformTargets(node, *transform, scores, targets));
}

/// The two scores of a classifier that computes one.
static Value bothScores(NodeContext &node, PostTransform transform,
                        Value score) {
  if (!score)
    return {};
  if (transform == PostTransform::Logistic)
    return besideEachOther(
        node, node.op<stablehlo::LogisticOp>(node.op<stablehlo::NegOp>(score)),
        node.op<stablehlo::LogisticOp>(score));
  return besideEachOther(
      node, node.binary<stablehlo::SubtractOp>(node.one(score, 1), score),
      score);
}

static LogicalResult importLinearClassifier(NodeContext &node) {
  Value x = rowsOf(node, node.operand(0), /*narrows=*/true);
  const auto transform = readPostTransform(node);
  auto labels = readLabels(node, "classlabels_ints");
  const auto coefficients = node.getFloats("coefficients");
  const auto intercepts = node.getFloats("intercepts");
  if (!x || !transform || !labels)
    return failure();
  const int64_t width = node.size(x, 1);
  int64_t classes = intercepts.size();
  if (classes == 0) {
    if (ShapedType::isDynamic(width) || width == 0)
      return node.unknown("neither the number of features nor of intercepts "
                          "is known");
    classes = static_cast<int64_t>(coefficients.size()) / width;
  }
  if (classes == 0 || coefficients.empty())
    return node.fail("there are no coefficients");
  if (classes > 1 && labels->size() < classes)
    return node.fail("there are " + Twine(labels->size()) + " labels for " +
                     Twine(classes) + " classes");
  Value scores = shifted(node, timesTransposed(node, x, coefficients, classes),
                         intercepts);
  if (classes > 1)
    return node.results({labelsOfGreatest(node, *labels, scores),
                         transformScores(node, *transform, scores)});
  const bool hasTwo = labels->size() == 2;
  if (hasTwo && *transform == PostTransform::Probit)
    return node.unsupported("PROBIT of one score for two classes");
  if (!hasTwo && labels->areStrings())
    labels->strings = {"0", "1"};
  else if (!hasTwo)
    labels->integers = {0, 1};
  Value label = labelsWhere(node, *labels, isAbove(node, scores, 0));
  if (hasTwo)
    return node.results({label, bothScores(node, *transform, scores)});
  return node.results({label, transformTargets(node, *transform, scores, 1)});
}

//===----------------------------------------------------------------------===//
// Support vector machines
//===----------------------------------------------------------------------===//

namespace {
/// A function of a row and a support vector.
struct VectorKernel {
  enum Kind { Linear, Polynomial, Radial, Sigmoid } kind = Linear;
  double gamma = 0, offset = 0, degree = 0;
};
} // namespace

static std::optional<VectorKernel> readKernel(NodeContext &node) {
  VectorKernel kernel;
  const std::string name = node.getString("kernel_type", "LINEAR");
  const auto parameters = node.getFloats("kernel_params");
  if (name == "POLY")
    kernel.kind = VectorKernel::Polynomial;
  else if (name == "RBF")
    kernel.kind = VectorKernel::Radial;
  else if (name == "SIGMOID")
    kernel.kind = VectorKernel::Sigmoid;
  else if (name != "LINEAR")
    return node.fail("attribute 'kernel_type' is not LINEAR, POLY, RBF or "
                     "SIGMOID");
  if (!parameters.empty() && parameters.size() != 3)
    return node.fail("attribute 'kernel_params' is not gamma, coef0 and "
                     "degree");
  if (parameters.size() == 3) {
    kernel.gamma = parameters[0];
    kernel.offset = parameters[1];
    kernel.degree = parameters[2];
  }
  return kernel;
}

/// exp(-gamma |x - v|^2). Differences are taken before they are squared, as
/// |x|^2 - 2 x v + |v|^2 would lose what is close.
static Value radial(NodeContext &node, Value x, ArrayRef<double> vectors,
                    int64_t count, double gamma) {
  const int64_t width = static_cast<int64_t>(vectors.size()) / count;
  Value all = numbers(node, node.element(x), vectors, {1, count, width});
  Value difference =
      node.binary<stablehlo::SubtractOp>(node.unsqueeze(x, {1}), all);
  Value distance = node.reduce<stablehlo::AddOp>(
      node.op<stablehlo::MulOp>(difference, difference), {2}, 0, false);
  return distance ? node.op<stablehlo::ExpOp>(node.binary<stablehlo::MulOp>(
                        distance, node.one(distance, -gamma)))
                  : Value();
}

/// The kernel of each row and each of \p count vectors, [N, count].
static Value kernelOf(NodeContext &node, const VectorKernel &kernel, Value x,
                      ArrayRef<double> vectors, int64_t count) {
  // Checks the sizes, too.
  Value product = timesTransposed(node, x, vectors, count);
  if (!product)
    return {};
  if (kernel.kind == VectorKernel::Linear)
    return product;
  if (kernel.kind == VectorKernel::Radial)
    return radial(node, x, vectors, count, kernel.gamma);
  Value sum = node.binary<stablehlo::AddOp>(
      node.binary<stablehlo::MulOp>(product, node.one(product, kernel.gamma)),
      node.one(product, kernel.offset));
  if (kernel.kind == VectorKernel::Sigmoid)
    return node.op<stablehlo::TanhOp>(sum);
  Value square = node.op<stablehlo::MulOp>(sum, sum);
  if (kernel.degree == 2)
    return square;
  if (kernel.degree == 3)
    return node.op<stablehlo::MulOp>(square, sum);
  return node.binary<stablehlo::PowOp>(sum, node.one(sum, kernel.degree));
}

static LogicalResult importSVMRegressor(NodeContext &node) {
  Value x = rowsOf(node, node.operand(0), /*narrows=*/true);
  const auto transform = readPostTransform(node);
  auto kernel = readKernel(node);
  const auto coefficients = node.getFloats("coefficients");
  const auto vectors = node.getFloats("support_vectors");
  const auto rho = node.getFloats("rho");
  const int64_t count = node.getInt("n_supports", 0);
  if (!x || !transform || !kernel)
    return failure();
  if (coefficients.empty() || rho.empty() || count < 0)
    return node.fail("there are no coefficients or no rho, or attribute "
                     "'n_supports' is negative");
  Value scores;
  if (count == 0) {
    scores = timesTransposed(node, x, coefficients, 1);
  } else {
    if (static_cast<int64_t>(coefficients.size()) != count)
      return node.fail("attribute 'coefficients' needs one entry per support "
                       "vector, " +
                       Twine(count) + ", and has " +
                       Twine(coefficients.size()));
    scores = timesTransposed(node, kernelOf(node, *kernel, x, vectors, count),
                             coefficients, 1);
  }
  scores = shifted(node, scores, {rho[0]});
  if (!scores)
    return failure();
  if (node.getBool("one_class", false))
    scores = select(node, isAbove(node, scores, 0), node.one(scores, 1),
                    node.one(scores, -1));
  return node.result(scores);
}

namespace {
struct VectorClassifier {
  ClassLabels labels;
  PostTransform transform;
  VectorKernel kernel;
  SmallVector<double> coefficients, vectors, rho, probA, probB;
  Ints perClass;
  int64_t count = 0; ///< Support vectors; none: linear.

  int64_t classes() const { return labels.size(); }
  int64_t pairs() const { return classes() * (classes() - 1) / 2; }
  bool hasProbabilities() const { return !probA.empty(); }
};
} // namespace

static std::optional<VectorClassifier> readClassifier(NodeContext &node) {
  VectorClassifier model;
  const auto transform = readPostTransform(node);
  const auto kernel = readKernel(node);
  auto labels = readLabels(node, "classlabels_ints");
  if (!transform || !kernel || !labels)
    return std::nullopt;
  model.transform = *transform;
  model.kernel = *kernel;
  model.labels = std::move(*labels);
  model.coefficients = node.getFloats("coefficients");
  model.vectors = node.getFloats("support_vectors");
  model.rho = node.getFloats("rho");
  model.probA = node.getFloats("prob_a");
  model.probB = node.getFloats("prob_b");
  model.perClass = node.getInts("vectors_per_class");
  constexpr int64_t most = int64_t(1) << 24;
  for (int64_t each : model.perClass) {
    if (each < 0 || each > most || model.count > most)
      return node.fail("attribute 'vectors_per_class' is out of range");
    model.count += each;
  }
  if (model.probA.size() != model.probB.size())
    return node.fail("attributes 'prob_a' and 'prob_b' differ in length");
  if (model.coefficients.empty() || model.rho.empty())
    return node.fail("there are no coefficients or no rho");
  if (model.count == 0)
    return model;
  const int64_t classes = model.classes();
  if (classes > 4096)
    return node.unsupported("more than 4096 classes");
  if (static_cast<int64_t>(model.perClass.size()) != classes)
    return node.fail(
        "attribute 'vectors_per_class' needs one entry per label, " +
        Twine(classes) + ", and has " + Twine(model.perClass.size()));
  if (static_cast<int64_t>(model.coefficients.size()) <
      (classes - 1) * model.count)
    return node.fail("attribute 'coefficients' needs " + Twine(classes - 1) +
                     " rows, one fewer than classes, of one entry per support "
                     "vector, " +
                     Twine(model.count));
  if (static_cast<int64_t>(model.rho.size()) < model.pairs() ||
      (model.hasProbabilities() &&
       static_cast<int64_t>(model.probA.size()) < model.pairs()))
    return node.fail("attributes 'rho', 'prob_a' and 'prob_b' need one entry "
                     "per pair of classes, " +
                     Twine(model.pairs()));
  return model;
}

/// For each pair of classes i < j the number that is positive for i, [N,
/// pairs].
static Value comparePairs(NodeContext &node, const VectorClassifier &model,
                          Value kernels) {
  const int64_t classes = model.classes(), count = model.count;
  Ints starts{0};
  for (int64_t each : model.perClass)
    starts.push_back(starts.back() + each);
  if (model.pairs() > (int64_t(1) << 26) / count)
    return node.unsupported(Twine(count) + " support vectors of " +
                            Twine(classes) + " classes");
  std::vector<double> weights(model.pairs() * count, 0.0);
  SmallVector<double> shifts;
  int64_t pair = 0;
  for (int64_t i = 0; i < classes; ++i)
    for (int64_t j = i + 1; j < classes; ++j, ++pair) {
      auto set = [&](int64_t from, int64_t to, int64_t row) {
        for (int64_t v = from; v < to; ++v)
          weights[pair * count + v] = model.coefficients[row * count + v];
      };
      set(starts[i], starts[i + 1], j - 1);
      set(starts[j], starts[j + 1], i);
      shifts.push_back(model.rho[pair]);
    }
  return shifted(node, timesTransposed(node, kernels, weights, model.pairs()),
                 shifts);
}

/// How many pairs each class wins, [N, classes], as numbers.
static Value countVotes(NodeContext &node, const VectorClassifier &model,
                        Value pairs) {
  Value isFirst = isAbove(node, pairs, 0);
  if (!isFirst)
    return {};
  Value wins =
      pairMatrix(node, model.classes(), node.cast(isFirst, node.f32()));
  return node.reduce<stablehlo::AddOp>(wins, {2}, 0, /*keep=*/false);
}

/// The label of a classifier without support vectors.
static Value linearLabel(NodeContext &node, const VectorClassifier &model,
                         Value scores) {
  Value greatest = labelsOfGreatest(node, model.labels, scores);
  if (model.classes() != 2 || model.hasProbabilities() || !scores)
    return greatest;
  const bool allPositive =
      llvm::all_of(model.coefficients, [](double each) { return each >= 0; });
  Value most = node.reduce<stablehlo::MaxOp>(
      scores, {1}, -std::numeric_limits<double>::infinity(), /*keep=*/true);
  if (!most)
    return {};
  Value isSecond = allPositive ? node.compare(most, node.one(most, 0.5),
                                              ComparisonDirection::GE)
                               : isAbove(node, most, 0);
  Value index = node.op<nn::ArgMaxOp>(scores, uint64_t(1), true, false);
  return labelsWhere(
      node, model.labels,
      node.op<stablehlo::OrOp>(isSecond, isAbove(node, index, 0)));
}

/// How probable the first of each two classes is, [N, pairs].
static Value pairProbabilities(NodeContext &node, const VectorClassifier &model,
                               Value pairs) {
  if (!pairs)
    return {};
  ArrayRef<double> all(model.probA);
  Value factors = numbers(node, node.element(pairs),
                          all.take_front(model.pairs()), {1, model.pairs()});
  Value sums = shifted(node, node.binary<stablehlo::MulOp>(pairs, factors),
                       ArrayRef<double>(model.probB).take_front(model.pairs()));
  Value first = node.op<stablehlo::LogisticOp>(node.op<stablehlo::NegOp>(sums));
  constexpr double least = 1e-7;
  return node.op<stablehlo::ClampOp>(node.scalar(node.f32(), least), first,
                                     node.scalar(node.f32(), 1 - least));
}

static LogicalResult importSVMClassifier(NodeContext &node) {
  Value x = rowsOf(node, node.operand(0), /*narrows=*/true);
  auto model = readClassifier(node);
  if (!x || !model)
    return failure();
  if (model->count == 0) {
    Value scores =
        timesTransposed(node, x, model->coefficients, model->classes());
    scores = shifted(node, scores,
                     SmallVector<double>(model->classes(), model->rho[0]));
    return node.results(
        {linearLabel(node, *model, scores),
         transformTargets(node, model->transform, scores, model->classes())});
  }
  if (model->classes() < 2)
    return node.fail("support vectors are of fewer than two classes");
  Value pairs = comparePairs(
      node, *model,
      kernelOf(node, model->kernel, x, model->vectors, model->count));
  Value label =
      labelsOfGreatest(node, model->labels, countVotes(node, *model, pairs));
  if (model->hasProbabilities())
    return node.results(
        {label, transformScores(node, model->transform,
                                coupleProbabilities(
                                    node, model->classes(),
                                    pairProbabilities(node, *model, pairs)))});
  if (model->classes() > 2)
    return node.results(
        {label, transformScores(node, model->transform, pairs)});
  if (model->transform == PostTransform::Probit)
    return node.unsupported("PROBIT of one score for two classes");
  if (model->transform != PostTransform::None || !pairs)
    return node.results({label, bothScores(node, model->transform, pairs)});
  return node.results(
      {label, besideEachOther(node, node.op<stablehlo::NegOp>(pairs), pairs)});
}

llvm::ArrayRef<Operator> linearModelOperators() {
  static const Operator table[] = {
      {"LinearClassifier", mlDomain, 1, importLinearClassifier, 1, 1, false,
       true},
      {"LinearRegressor", mlDomain, 1, importLinearRegressor, 1, 1, false,
       true},
      {"SVMClassifier", mlDomain, 1, importSVMClassifier, 1, 1, false, true},
      {"SVMRegressor", mlDomain, 1, importSVMRegressor, 1, 1, false, true},
  };
  return table;
}

} // namespace sinter::onnx
