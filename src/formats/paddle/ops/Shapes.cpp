// Reshape and similar, and shapes as values.

#include "formats/import/Reshaping.h"
#include "formats/paddle/Operators.h"
#include "formats/paddle/ops/Results.h"

using namespace mlir;

namespace sinter::paddle {

/// ShapeTensor, Shape, or else the attribute; 0 copies the operand's size.
static LogicalResult importReshape(OperatorContext &op) {
  Value x = op.operand("X");
  Value shape = op.integersValue({"ShapeTensor", "Shape"}, "shape");
  if (!x || !shape)
    return failure();
  if (op.rank(shape) != 1 || !op.isStatic(shape))
    return op.unknown("the number of dimensions is unknown");
  return op.result("Out", reshapeTo(op, x, shape, /*allowsZero=*/false,
                                    /*keepsShape=*/false));
}

static LogicalResult importSqueeze(OperatorContext &op) {
  Value x = op.operand("X");
  auto list = op.integersFrom({"AxesTensorList", "AxesTensor"}, "axes");
  if (!x || !list)
    return failure();
  auto axes = op.axes(*list, op.rank(x));
  if (!axes)
    return failure();
  // Without a list, all dimensions of size 1; else those in the list. With
  // ReadOptions::expandsUnknown the rank must be static: listed dimensions are
  // taken to have size 1, as in Paddle when it builds a program. If one is
  // larger at run time, that fails.
  const bool isAll = axes->empty();
  Ints gone;
  for (int64_t i = 0; i < op.rank(x); ++i)
    if (op.size(x, i) == 1 && (isAll || llvm::is_contained(*axes, i)))
      gone.push_back(i);
    else if (!isAll && op.expandsUnknown() &&
             ShapedType::isDynamic(op.size(x, i)) &&
             llvm::is_contained(*axes, i))
      gone.push_back(i);
    else if (ShapedType::isDynamic(op.size(x, i)) &&
             (isAll || llvm::is_contained(*axes, i)))
      return op.unknown("whether dimension " + Twine(i) +
                        " has one element is known only at run time");
  return op.result("Out", op.squeeze(x, gone));
}

/// Axes are inserted one by one, each relative to the result so far.
static LogicalResult importUnsqueeze(OperatorContext &op) {
  Value x = op.operand("X");
  auto list = op.integersFrom({"AxesTensorList", "AxesTensor"}, "axes");
  if (!x || !list)
    return failure();
  Dims sizes = op.dims(x);
  for (int64_t each : *list) {
    auto axis = op.axis(each, static_cast<int64_t>(sizes.size()) + 1);
    if (!axis)
      return failure();
    sizes.insert(sizes.begin() + *axis, Dim(1));
  }
  return op.result("Out", op.reshape(x, ArrayRef<Dim>(sizes)));
}

/// Merges dimensions [start, stop].
static Value joined(OperatorContext &op, Value x, int64_t start, int64_t stop) {
  Dims all = op.dims(x), sizes(all.begin(), all.begin() + start);
  sizes.push_back(
      op.product(ArrayRef<Dim>(all).slice(start, stop + 1 - start)));
  sizes.append(all.begin() + stop + 1, all.end());
  return op.reshape(x, ArrayRef<Dim>(sizes));
}

/// Flattens to two dimensions: those before the axis, and the others.
static LogicalResult importFlatten(OperatorContext &op) {
  Value x = op.operand("X");
  const int64_t axis = op.getInt("axis", 1);
  if (!x)
    return failure();
  if (axis < 0 || axis > op.rank(x))
    return op.fail("attribute 'axis' is out of range");
  Dims sizes = op.dims(x);
  return op.result(
      "Out",
      op.reshape(x, Dims{op.product(ArrayRef<Dim>(sizes).take_front(axis)),
                         op.product(ArrayRef<Dim>(sizes).drop_front(axis))}));
}

static LogicalResult importFlattenRange(OperatorContext &op) {
  Value x = op.operand("X");
  if (!x)
    return failure();
  const int64_t rank = op.rank(x);
  if (rank == 0)
    return op.result("Out", op.reshape(x, ArrayRef<int64_t>{1}));
  auto start = op.axis(op.getInt("start_axis", 1), rank),
       stop = op.axis(op.getInt("stop_axis", 1), rank);
  if (!start || !stop)
    return failure();
  if (*stop < *start)
    return op.fail("stop_axis lies before start_axis");
  return op.result("Out", joined(op, x, *start, *stop));
}

static LogicalResult shapeAs(OperatorContext &op, Type element) {
  Value x = op.operand("Input");
  if (!x)
    return failure();
  Value sizes =
      op.isStatic(x) ? op.integers(op.shape(x)) : op.op<nn::ShapeOp>(x);
  return op.result("Out", op.cast(sizes, element));
}
static LogicalResult importShape(OperatorContext &op) {
  return shapeAs(op, op.builder().getI32Type());
}
static LogicalResult importShape64(OperatorContext &op) {
  return shapeAs(op, op.i64());
}

static LogicalResult importSize(OperatorContext &op) {
  Value x = op.operand("Input");
  if (!x)
    return failure();
  Ints axes = llvm::to_vector(llvm::seq<int64_t>(0, op.rank(x)));
  return op.result("Out",
                   asDeclared(op, "Out", op.countAlong(x, axes, op.i64())));
}

OperatorReaders shapeReaders() {
  static const OperatorReader table[] = {
      {"flatten", importFlatten},
      {"flatten2", importFlatten},
      {"flatten_contiguous_range", importFlattenRange},
      {"reshape", importReshape},
      {"reshape2", importReshape},
      {"shape", importShape},
      {"shape64", importShape64},
      {"size", importSize},
      {"squeeze", importSqueeze},
      {"squeeze2", importSqueeze},
      {"unsqueeze", importUnsqueeze},
      {"unsqueeze2", importUnsqueeze},
  };
  return table;
}

} // namespace sinter::paddle
