#include "formats/onnx/ops/TextSearch.h"

#include "formats/import/Building.h"
#include "formats/onnx/ops/RuntimeAttention.h"
#include <limits>

using namespace mlir;

namespace sinter::onnx {

using Direction = stablehlo::ComparisonDirection;

bool TextSearch::begin(int64_t mask) {
  if (!rules.read())
    return false;
  model = SearchModel::of(node, rules, mask);
  if (!model)
    return false;
  const Dim total = sizeOf(node, node.operand(1));
  batch = node.dim(model->prompt, 0);
  given = node.dim(model->prompt, 1);
  length = total.size;
  if (!total.isStatic()) {
    node.unknown("the length of the results is known only at run time");
  } else if (length > std::numeric_limits<int32_t>::max()) {
    node.unsupported("results of " + Twine(length) + " tokens");
  } else if (given.isStatic() && length <= given.size) {
    node.fail("max_length, " + Twine(length) +
              ", is not more than the length of the prompts, " +
              Twine(given.size));
  } else if (!given.isStatic() && node.requiresValues()) {
    node.require(
        node.compare(countAt({}), rules.number(length), Direction::LT));
  }
  if (node.failed())
    return false;
  sequences = node.sliceAxis(
      node.concatenate(
          {model->prompt,
           filled(node.builder().getI32Type(),
                  static_cast<double>(rules.padding), {batch, length})},
          1),
      1, 0, length);
  return !node.failed();
}

Value TextSearch::filled(Type element, double value, ArrayRef<Dim> dims) const {
  return node.broadcastInDim(node.scalar(element, value), dims, {});
}

void TextSearch::append(Value tokens, Value count) {
  sequences = node.op<stablehlo::DynamicUpdateSliceOp>(
      sequences, node.unsqueeze(tokens, {1}), Values{rules.number(0), count});
}

Value TextSearch::goesOn(Value done) const {
  return node.unary<stablehlo::NotOp>(
      node.reduce<stablehlo::AndOp>(done, {0}, 1, false));
}

Value TextSearch::countAt(Value index) const {
  Type i32 = node.builder().getI32Type();
  Value start = formats::sizeScalar(node, given, i32);
  return index
             ? node.binary<stablehlo::AddOp>(
                   node.binary<stablehlo::AddOp>(start, index), rules.number(1))
             : start;
}

Value TextSearch::mostRuns() const {
  return node.binary<stablehlo::SubtractOp>(
      node.scalar(node.i64(), static_cast<double>(length - 1)),
      formats::sizeScalar(node, given, node.i64()));
}

} // namespace sinter::onnx
