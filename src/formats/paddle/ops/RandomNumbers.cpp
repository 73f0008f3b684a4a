// Tensors of random values. The generator: import/Draws.h.

#include "formats/import/Draws.h"
#include "formats/paddle/OperatorContext.h"
#include "formats/paddle/Operators.h"

using namespace mlir;

namespace sinter::paddle {

/// The random generator of the operator; Paddle's seed 0 means no seed.
static formats::Draws drawsOf(OperatorContext &op) {
  const int64_t seed = op.getInt("seed", 0);
  return formats::Draws(op, seed == 0 ? std::nullopt : std::optional(seed));
}

/// Fails if the program is to be written again: there the operator still draws,
/// so that nothing may depend on the values drawn here.
static bool mayDraw(OperatorContext &op) {
  if (op.importer.options.keepsNodes)
    op.unknown("the values it draws are known only at run time");
  return !op.failed();
}

/// A uniform distribution.
static LogicalResult uniform(OperatorContext &op, ArrayRef<int64_t> shape) {
  Type element = op.elementType("dtype", 5);
  const double low = op.getFloat("min", -1), high = op.getFloat("max", 1);
  if (op.getInt("diag_num", 0) != 0)
    return op.unsupported("a diagonal of its own (attribute 'diag_num')");
  if (!mayDraw(op))
    return failure();
  return op.result("Out", spreadDraws(op, drawsOf(op).uniformTensor(op, shape),
                                      low, high - low, element));
}

/// A normal distribution.
static LogicalResult gaussian(OperatorContext &op, ArrayRef<int64_t> shape) {
  Type element = op.elementType("dtype", 5);
  const double mean = op.getFloat("mean", 0), spread = op.getFloat("std", 1);
  if (!mayDraw(op))
    return failure();
  return op.result("Out", spreadDraws(op, drawsOf(op).normalTensor(op, shape),
                                      mean, spread, element));
}

using Fill = LogicalResult (*)(OperatorContext &, ArrayRef<int64_t>);

/// Random values in a given shape.
template <Fill fill> static LogicalResult importRandom(OperatorContext &op) {
  auto shape = op.integersFrom({"ShapeTensor", "ShapeTensorList"}, "shape");
  return shape ? fill(op, *shape) : failure();
}

/// The same, with one size from a dimension of Input.
template <Fill fill>
static LogicalResult importRandomLike(OperatorContext &op) {
  Value like = op.operand("Input");
  Ints shape = op.getInts("shape");
  if (!like || op.failed())
    return failure();
  auto from = op.axis(op.getInt("input_dim_idx", 0), op.rank(like));
  auto to = op.axis(op.getInt("output_dim_idx", 0), shape.size());
  if (!from || !to)
    return failure();
  shape[*to] = op.size(like, *from);
  return fill(op, shape);
}

OperatorReaders randomReaders() {
  static const OperatorReader table[] = {
      {"gaussian_random", importRandom<gaussian>},
      {"gaussian_random_batch_size_like", importRandomLike<gaussian>},
      {"uniform_random", importRandom<uniform>},
      {"uniform_random_batch_size_like", importRandomLike<uniform>},
  };
  return table;
}

} // namespace sinter::paddle
