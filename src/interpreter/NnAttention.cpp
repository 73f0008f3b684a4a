//===- NnAttention.cpp - scaled dot-product attention ---------------------===//
//
// Row by row of the result, by the definition; computed in double and rounded
// once.
//
//===----------------------------------------------------------------------===//

#include "graph/nn/NnOps.h"
#include "interpreter/Evaluation.h"
#include "interpreter/Numbers.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace mlir;

namespace sinter::interpreter {

namespace {

/// A tensor as matrices, [heads..., rows, columns].
struct Matrices {
  Shape shape;
  std::vector<double> numbers;

  explicit Matrices(const Tensor &tensor)
      : shape(tensor.shape()), numbers(tensor.size()) {
    loadReals(tensor, 0, numbers);
  }
  int64_t rows() const { return shape[shape.size() - 2]; }
  int64_t columns() const { return shape.back(); }

  /// Row \p i of the matrix of the head \p at of \p heads. Fewer heads here are
  /// shared, and a single row is broadcast.
  const double *row(ArrayRef<int64_t> at, ArrayRef<int64_t> heads,
                    int64_t i) const {
    int64_t matrix = 0;
    for (size_t d = 0; d < at.size(); ++d)
      matrix = matrix * shape[d] + at[d] / (heads[d] / shape[d]);
    return numbers.data() +
           (matrix * rows() + (rows() == 1 ? 0 : i)) * columns();
  }
};

} // namespace

/// Replaces scores by their softmax, the attention weights.
static void weigh(std::vector<double> &scores) {
  const double most = *std::ranges::max_element(scores);
  double sum = 0;
  for (double &s : scores)
    sum += s = std::exp(s - most);
  for (double &s : scores)
    s /= sum;
}

static Result<Tensors> evaluateAttention(const Call &call) {
  auto op = call.as<nn::AttentionOp>();
  const double scale = op.getScale().convertToDouble();
  const Matrices query(call[0]), key(call[1]), value(call[2]);
  const std::optional<Matrices> mask =
      op.getMask() ? std::optional<Matrices>(call[3]) : std::nullopt;
  const ArrayRef<int64_t> heads = ArrayRef<int64_t>(query.shape).drop_back(2);
  for (size_t d = 0; d < heads.size(); ++d) {
    if (key.shape[d] == 0 ? heads[d] != 0 : heads[d] % key.shape[d] != 0)
      return invalidModel("the query's heads are not a multiple of the key's");
    if (key.shape[d] != value.shape[d])
      return invalidModel("key and value differ in their heads");
    if (mask && mask->shape[d] != 1 && mask->shape[d] != heads[d])
      return invalidModel("the mask does not broadcast to the scores");
  }
  if (key.rows() == 0)
    return invalidModel("there are no rows of keys");
  if (key.rows() != value.rows() || key.columns() != query.columns())
    return invalidModel("query, key and value do not fit together");
  if (mask && (mask->columns() != key.rows() ||
               (mask->rows() != 1 && mask->rows() != query.rows())))
    return invalidModel("the mask does not broadcast to the scores");

  Shape shape = query.shape;
  shape.back() = value.columns();
  Tensor result(call.resultElement(), shape);
  std::vector<int64_t> at(heads.size(), 0);
  std::vector<double> scores(key.rows()), sums(value.columns());
  for (int64_t begin = 0; begin < result.size();) {
    for (int64_t i = 0; i < query.rows(); ++i, begin += value.columns()) {
      const double *q = query.row(at, heads, i);
      for (int64_t j = 0; j < key.rows(); ++j) {
        const double *k = key.row(at, heads, j);
        double sum = 0;
        for (int64_t d = 0; d < query.columns(); ++d)
          sum += q[d] * k[d];
        scores[j] = sum * scale;
        if (const double m = mask ? mask->row(at, heads, i)[j] : 0.0; m != 0)
          scores[j] = op.getChosen() ? m : scores[j] + m;
        if (op.getCausal() && j > i)
          scores[j] = -std::numeric_limits<double>::infinity();
      }
      weigh(scores);
      std::ranges::fill(sums, 0.0);
      for (int64_t j = 0; j < key.rows(); ++j) {
        const double *v = value.row(at, heads, j);
        for (int64_t d = 0; d < value.columns(); ++d)
          sums[d] += scores[j] * v[d];
      }
      storeReals(result, begin, sums);
    }
    for (size_t d = heads.size(); d > 0; --d) {
      if (++at[d - 1] < heads[d - 1])
        break;
      at[d - 1] = 0;
    }
  }
  return Tensors{result};
}

void registerNnAttention(Registry &registry) {
  registry.add<nn::AttentionOp>(evaluateAttention);
}

} // namespace sinter::interpreter
