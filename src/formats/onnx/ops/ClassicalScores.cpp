// Scores and labels of classical models.

#include "formats/onnx/ops/ClassicalScores.h"

#include "formats/import/Building.h"
#include "formats/import/Products.h"
#include "formats/import/TextBuilding.h"

using namespace mlir;
using sinter::stablehlo::ComparisonDirection;

namespace sinter::onnx {

std::optional<PostTransform> readPostTransform(NodeContext &node) {
  const std::string name = node.getString("post_transform", "NONE");
  if (name == "NONE")
    return PostTransform::None;
  if (name == "LOGISTIC")
    return PostTransform::Logistic;
  if (name == "SOFTMAX")
    return PostTransform::Softmax;
  if (name == "SOFTMAX_ZERO")
    return PostTransform::SoftmaxZero;
  if (name == "PROBIT")
    return PostTransform::Probit;
  return node.fail("attribute 'post_transform' is not NONE, LOGISTIC, SOFTMAX, "
                   "SOFTMAX_ZERO or PROBIT");
}

Value probit(NodeContext &node, Value x) {
  if (!x)
    return {};
  auto number = [&](double value) { return node.one(x, value); };
  auto add = [&](Value a, Value b) {
    return node.binary<stablehlo::AddOp>(a, b);
  };
  auto times = [&](Value a, Value b) {
    return node.binary<stablehlo::MulOp>(a, b);
  };
  constexpr double winitzki = 0.147, pi = 3.14159265358979323846;
  Value y = add(times(x, number(2)), number(-1));
  Value log = node.op<stablehlo::LogOp>(times(
      node.binary<stablehlo::SubtractOp>(number(1), y), add(number(1), y)));
  Value v = add(times(log, number(0.5)), number(2 / (pi * winitzki)));
  Value root = node.op<stablehlo::SqrtOp>(node.op<stablehlo::SubtractOp>(
      times(v, v), times(log, number(1 / winitzki))));
  Value size =
      node.op<stablehlo::SqrtOp>(node.op<stablehlo::SubtractOp>(root, v));
  Value isNegative = node.compare(y, number(0), ComparisonDirection::LT);
  Value signedSize =
      select(node, isNegative, node.op<stablehlo::NegOp>(size), size);
  return times(signedSize, number(1.41421356237309504880));
}

/// exp(x - max) / sum, where both pass over zeros, which are multiplied by
/// exp(-max) instead.
static Value softmaxOfOthers(NodeContext &node, Value x) {
  Value most =
      node.reduce<stablehlo::MaxOp>(x, {1}, -std::numeric_limits<double>::max(),
                                    /*keep=*/true);
  Value isOther = node.compare(node.op<stablehlo::AbsOp>(x),
                               node.one(x, 0.0000001), ComparisonDirection::GT);
  Value power =
      node.op<stablehlo::ExpOp>(node.binary<stablehlo::SubtractOp>(x, most));
  Value sum = node.reduce<stablehlo::AddOp>(
      select(node, isOther, power, node.one(x, 0)), {1}, 0, /*keep=*/true);
  Value zero = node.binary<stablehlo::MulOp>(
      x, node.op<stablehlo::ExpOp>(node.op<stablehlo::NegOp>(most)));
  return node.binary<stablehlo::DivOp>(select(node, isOther, power, zero), sum);
}

Value transformScores(NodeContext &node, PostTransform transform,
                      Value scores) {
  if (!scores)
    return {};
  switch (transform) {
  case PostTransform::None:
    return scores;
  case PostTransform::Logistic:
    return node.op<stablehlo::LogisticOp>(scores);
  case PostTransform::Softmax:
    return node.op<nn::SoftmaxOp>(scores, ArrayRef<int64_t>{1});
  case PostTransform::SoftmaxZero:
    return softmaxOfOthers(node, scores);
  case PostTransform::Probit:
    return probit(node, scores);
  }
  return {};
}

Value transformTargets(NodeContext &node, PostTransform transform, Value scores,
                       int64_t targets) {
  return targets > 1 || transform == PostTransform::Probit
             ? transformScores(node, transform, scores)
             : scores;
}

Value shifted(NodeContext &node, Value scores, ArrayRef<double> shifts) {
  if (!scores || shifts.empty())
    return scores;
  return node.binary<stablehlo::AddOp>(
      scores, numbers(node, node.element(scores), shifts,
                      {1, static_cast<int64_t>(shifts.size())}));
}

Value isAbove(NodeContext &node, Value x, double bound) {
  return x ? node.compare(x, node.one(x, bound), ComparisonDirection::GT)
           : Value();
}

Value rowsOf(NodeContext &node, Value x, bool narrows) {
  if (!x)
    return {};
  if (node.rank(x) != 1 && node.rank(x) != 2)
    return node.fail("the input has neither one nor two dimensions");
  if (isa<ComplexType>(node.element(x)) || node.isBool(x))
    return node.fail("the input is not of numbers");
  if (node.rank(x) == 1)
    x = node.unsqueeze(x, {0});
  const bool stays =
      node.element(x).isF32() || (node.element(x).isF64() && !narrows);
  return stays ? x : node.cast(x, node.f32());
}

Value timesTransposed(NodeContext &node, Value x, ArrayRef<double> values,
                      int64_t rows) {
  if (!x)
    return {};
  const auto count = static_cast<int64_t>(values.size());
  if (rows <= 0 || count % rows != 0)
    return node.fail("a matrix of " + Twine(rows) + " rows has " +
                     Twine(count) + " coefficients");
  const int64_t columns = count / rows, width = node.size(x, 1);
  if (!ShapedType::isDynamic(width) && width != columns)
    return node.fail("the input has " + Twine(width) +
                     " features, the coefficients are for " + Twine(columns));
  Value matrix = numbers(node, node.element(x), values, {rows, columns});
  if (ShapedType::isDynamic(width))
    requireSize(node, {x, 1, "the input"}, {matrix, 1, "the coefficients"});
  return dotGeneral(node, x, matrix, {}, {}, {1}, {1});
}

Value besideEachOther(NodeContext &node, Value first, Value second) {
  return node.concatenate({first, second}, 1);
}

Value column(NodeContext &node, Value scores, int64_t index) {
  return node.sliceAxis(scores, 1, index, index + 1);
}

std::optional<ClassLabels> readLabels(NodeContext &node, StringRef integers) {
  ClassLabels labels;
  labels.integers = node.getInts(integers);
  labels.strings = node.getStrings("classlabels_strings");
  if (labels.size() == 0)
    return node.fail("there are no class labels");
  return labels;
}

Value labelsAt(NodeContext &node, const ClassLabels &labels, Value indices) {
  if (!indices)
    return {};
  if (labels.areStrings())
    return node.op<nn::TakeOp>(formats::stringConstant(node, labels.strings),
                               indices, uint64_t(0));
  // The usual ones are the indices themselves.
  if (llvm::equal(labels.integers,
                  llvm::seq<int64_t>(0, labels.integers.size())))
    return indices;
  return node.op<nn::TakeOp>(integers(node, labels.integers, {labels.size()}),
                             indices, uint64_t(0));
}

Value labelsWhere(NodeContext &node, const ClassLabels &labels,
                  Value isPositive) {
  return labelsAt(node, labels,
                  node.squeeze(node.cast(isPositive, node.i64()), {1}));
}

Value labelsOfGreatest(NodeContext &node, const ClassLabels &labels,
                       Value scores) {
  return labelsAt(node, labels,
                  node.op<nn::ArgMaxOp>(scores, uint64_t(1), false, false));
}

} // namespace sinter::onnx
