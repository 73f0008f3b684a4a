// Reductions, and operators that search or sum along an axis.

#include "formats/import/Building.h"
#include "formats/import/Regions.h"
#include "formats/onnx/NodeContext.h"
#include "formats/onnx/Operators.h"
#include "graph/nn/TensorBuilder.h"
#include "graph/stablehlo/Sums.h"
#include <limits>

using namespace mlir;
using sinter::stablehlo::ComparisonDirection;

namespace sinter::onnx {

//===----------------------------------------------------------------------===//
// Reduce*
//===----------------------------------------------------------------------===//

namespace {
/// The operands of a Reduce operator.
struct Reduction {
  Value x;
  Ints axes;
  bool keep = true;
};
} // namespace

/// No axes mean all, or none with `noop_with_empty_axes`: then the element-wise
/// steps before and after the reduction still apply.
static std::optional<Reduction> readReduction(NodeContext &node) {
  Reduction reduction;
  reduction.x = node.operand(0);
  reduction.keep = node.getBool("keepdims", true);
  auto given = node.integersFrom(1, "axes");
  if (!reduction.x || !given)
    return std::nullopt;
  int64_t rank = node.rank(reduction.x);
  if (given->empty() && !node.getBool("noop_with_empty_axes", false))
    *given = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  auto axes = node.axes(*given, rank);
  if (!axes)
    return std::nullopt;
  reduction.axes = std::move(*axes);
  return reduction;
}

static Value sum(NodeContext &node, Value x, const Reduction &reduction) {
  return node.reduce<stablehlo::AddOp>(x, reduction.axes, 0, reduction.keep);
}

static double infinity() { return std::numeric_limits<double>::infinity(); }

/// The maximum of the element type, or the minimum; exact for every type.
static double typeLimit(NodeContext &node, Value x, bool greatest) {
  if (node.isFloat(x))
    return greatest ? infinity() : -infinity();
  if (node.isBool(x))
    return greatest ? 1 : 0;
  // Out of range of the narrower types, for which it saturates.
  return greatest ? 0x1p64 : (node.isUnsigned(x) ? 0 : -0x1p63);
}

template <Value (*reduce)(NodeContext &, const Reduction &)>
static LogicalResult importReduce(NodeContext &node) {
  auto reduction = readReduction(node);
  if (!reduction)
    return failure();
  return node.result(reduce(node, *reduction));
}

/// The same for reductions of several operations: computed in f32 for narrower
/// floats and rounded once.
template <Value (*reduce)(NodeContext &, const Reduction &)>
static LogicalResult importReduceInF32(NodeContext &node) {
  auto reduction = readReduction(node);
  if (!reduction)
    return failure();
  Type element = node.element(reduction->x);
  reduction->x = widened(node, reduction->x);
  return node.result(node.cast(reduce(node, *reduction), element));
}

static Value reduceSum(NodeContext &node, const Reduction &reduction) {
  return sum(node, reduction.x, reduction);
}
static Value reduceMean(NodeContext &node, const Reduction &reduction) {
  Value count =
      node.countAlong(reduction.x, reduction.axes, node.element(reduction.x));
  return node.binary<stablehlo::DivOp>(sum(node, reduction.x, reduction),
                                       count);
}
static Value reduceMax(NodeContext &node, const Reduction &reduction) {
  return node.reduce<stablehlo::MaxOp>(reduction.x, reduction.axes,
                                       typeLimit(node, reduction.x, false),
                                       reduction.keep);
}
static Value reduceMin(NodeContext &node, const Reduction &reduction) {
  return node.reduce<stablehlo::MinOp>(reduction.x, reduction.axes,
                                       typeLimit(node, reduction.x, true),
                                       reduction.keep);
}
static Value reduceProd(NodeContext &node, const Reduction &reduction) {
  return node.reduce<stablehlo::MulOp>(reduction.x, reduction.axes, 1,
                                       reduction.keep);
}
static Value reduceL1(NodeContext &node, const Reduction &reduction) {
  Value x = reduction.x;
  return sum(node, node.isUnsigned(x) ? x : node.op<stablehlo::AbsOp>(x),
             reduction);
}
static Value reduceSumSquare(NodeContext &node, const Reduction &reduction) {
  return sum(node, node.op<stablehlo::MulOp>(reduction.x, reduction.x),
             reduction);
}

/// \p function of a value; of an integer, computed in f64 and truncated.
template <typename Op> static Value inFloat(NodeContext &node, Value x) {
  if (!x || node.isFloat(x))
    return node.op<Op>(x);
  Value result = node.op<Op>(node.cast(x, node.builder().getF64Type()));
  return node.cast(result, node.element(x));
}

static Value reduceL2(NodeContext &node, const Reduction &reduction) {
  return inFloat<stablehlo::SqrtOp>(node, reduceSumSquare(node, reduction));
}
static Value reduceLogSum(NodeContext &node, const Reduction &reduction) {
  return inFloat<stablehlo::LogOp>(node, reduceSum(node, reduction));
}

/// log(sum exp(x - m)) + m, where m is the maximum, so that nothing overflows;
/// an infinite m (also that of no elements) counts as 0.
static Value reduceLogSumExp(NodeContext &node, const Reduction &reduction) {
  Type element = node.element(reduction.x);
  bool integer = !node.isFloat(reduction.x);
  Value x = integer ? node.cast(reduction.x, node.builder().getF64Type())
                    : reduction.x;
  Reduction kept{x, reduction.axes, true};
  Value most = reduceMax(node, kept);
  if (!most)
    return {};
  Value finite =
      node.typed<stablehlo::IsFiniteOp>(node.type(most).clone(node.i1()), most);
  most = select(node, finite, most, node.one(most, 0));
  Value exponentials =
      node.op<stablehlo::ExpOp>(node.binary<stablehlo::SubtractOp>(x, most));
  Value result = node.binary<stablehlo::AddOp>(
      node.op<stablehlo::LogOp>(sum(node, exponentials, kept)), most);
  if (!reduction.keep)
    result = node.squeeze(result, reduction.axes);
  return node.cast(result, element);
}

//===----------------------------------------------------------------------===//
// Along one axis
//===----------------------------------------------------------------------===//

template <typename Op> static LogicalResult importArg(NodeContext &node) {
  Value x = node.operand(0);
  if (!x)
    return failure();
  auto axis = node.axis(node.getInt("axis", 0), node.rank(x));
  if (!axis)
    return failure();
  return node.result(node.op<Op>(x, static_cast<uint64_t>(*axis),
                                 node.getBool("keepdims", true),
                                 node.getBool("select_last_index", false)));
}

/// The k largest elements, for a k that is known only at run time.
static LogicalResult dynamicTopK(NodeContext &node, Value x) {
  nn::TensorBuilder emit(node.builder(), node.location());
  auto axis = node.axis(node.getInt("axis", -1), node.rank(x));
  Value k = node.reshape(node.operand(1), ArrayRef<int64_t>{1});
  if (!axis || !k)
    return failure();
  auto [values, indices] = nn::takeTop(
      emit, x, *axis, nn::Size::computed(emit.convert(k, emit.integerType(32))),
      node.getBool("largest", true));
  return node.results({values, indices});
}

/// k is an attribute before opset 10. Unsorted results may be sorted.
static LogicalResult importTopK(NodeContext &node) {
  Value x = node.operand(0);
  if (node.expandsUnknown() && node.version() >= 10 && x && node.operand(1) &&
      !node.knownIntegers(node.operand(1)))
    return dynamicTopK(node, x);
  auto k = node.version() < 10 ? Ints{node.getInt("k", -1)}
                               : node.integersFrom(1, "k");
  if (!x || !k)
    return failure();
  auto axis = node.axis(node.getInt("axis", -1), node.rank(x));
  if (!axis)
    return failure();
  if (k->size() != 1 || k->front() < 0)
    return node.fail("k is not one number that is not negative");
  Operation *top = node.inferred<nn::TopKOp>(
      x, static_cast<uint64_t>(k->front()), static_cast<uint64_t>(*axis),
      node.getBool("largest", true));
  if (!top)
    return failure();
  return node.results({top->getResult(0), top->getResult(1)});
}

/// The axis of a cumulative sum or product of \p x, its second input.
static std::optional<int64_t> scannedAxis(NodeContext &node, Value x) {
  auto given = node.integersFrom(1, "axis");
  if (!x || !given)
    return std::nullopt;
  if (given->size() != 1)
    return node.fail("axis is not one number");
  return node.axis(given->front(), node.rank(x));
}

static LogicalResult importCumSum(NodeContext &node) {
  Value x = node.operand(0);
  auto axis = scannedAxis(node, x);
  if (!axis)
    return failure();
  return node.result(node.op<nn::CumulativeSumOp>(
      x, static_cast<uint64_t>(*axis), node.getBool("exclusive", false),
      node.getBool("reverse", false)));
}

/// The running product along \p axis of dynamic size: a loop that keeps the
/// product so far.
static Value multiplyInLoop(NodeContext &node, Value x, int64_t axis,
                            const stablehlo::Scan &scan) {
  Dims slice = node.dims(x);
  const Dim size = slice[axis];
  slice[axis] = 1;
  Value zero = node.scalar(node.i64(), 0), one = node.scalar(node.i64(), 1);
  Value limit = sizeScalar(node, size, node.i64());
  Value start = node.broadcastInDim(node.scalar(node.element(x), 1), slice, {});
  auto placeOf = [&](Value step) {
    return scan.isReverse
               ? node.binary<stablehlo::SubtractOp>(
                     node.binary<stablehlo::SubtractOp>(limit, one), step)
               : step;
  };
  return formats::whileLoop(
      node, {zero, start, x},
      [&](ValueRange states) {
        return node.compare(states[0], limit,
                            stablehlo::ComparisonDirection::LT);
      },
      [&](ValueRange states) -> Values {
        Value place = placeOf(states[0]);
        Value now = node.op<nn::TakeOp>(x, node.reshape(place, Ints{1}),
                                        static_cast<uint64_t>(axis));
        Value product = node.binary<stablehlo::MulOp>(states[1], now);
        Values starts(node.rank(x), zero);
        starts[axis] = place;
        Value all = node.op<stablehlo::DynamicUpdateSliceOp>(
            states[2], scan.isExclusive ? states[1] : product, starts);
        return {node.binary<stablehlo::AddOp>(states[0], one), product, all};
      },
      2);
}

/// The same along an axis of known size, as windows that end at each element.
static Value multiplyInWindows(NodeContext &node, Value x, int64_t axis,
                               const stablehlo::Scan &scan) {
  Value one = node.scalar(node.element(x), 1);
  if (!one)
    return {};
  const int64_t rank = node.rank(x);
  const stablehlo::WindowDimension window = stablehlo::scanWindow(
      node.size(x, axis), {0, scan.isReverse, scan.isExclusive});
  Ints sizes(rank, 1), padding(2 * rank, 0);
  sizes[axis] = window.size;
  padding[2 * axis] = window.paddingLow;
  padding[2 * axis + 1] = window.paddingHigh;
  OpBuilder &builder = node.builder();
  DenseI64ArrayAttr ones = builder.getDenseI64ArrayAttr(Ints(rank, 1));
  OperationState state(node.location(),
                       stablehlo::ReduceWindowOp::getOperationName());
  stablehlo::ReduceWindowOp::build(
      builder, state, TypeRange(x.getType()), ValueRange(x), ValueRange(one),
      builder.getDenseI64ArrayAttr(sizes), ones, ones, ones,
      DenseIntElementsAttr::get(RankedTensorType::get({rank, 2}, node.i64()),
                                ArrayRef<int64_t>(padding)));
  nn::TensorBuilder emit(builder, node.location());
  emit.fill(*state.regions.front(), {one.getType(), one.getType()},
            [](nn::TensorBuilder &emit, ValueRange pair) {
              return SmallVector<Value>{emit.mul(pair[0], pair[1])};
            });
  Operation *op = node.create(state);
  return op ? op->getResult(0) : Value();
}

static LogicalResult importCumProd(NodeContext &node) {
  Value x = node.operand(0);
  auto axis = scannedAxis(node, x);
  if (!axis)
    return failure();
  const stablehlo::Scan scan{static_cast<size_t>(*axis),
                             node.getBool("reverse", false),
                             node.getBool("exclusive", false)};
  const int64_t size = node.size(x, *axis);
  if (size == 0)
    return node.result(x);
  if (!node.isStatic(x))
    return node.result(multiplyInLoop(node, x, *axis, scan));
  return node.result(multiplyInWindows(node, x, *axis, scan));
}

llvm::ArrayRef<Operator> reductionOperators() {
  static const Operator table[] = {
      {"ArgMax", "", 1, importArg<nn::ArgMaxOp>, 1, 1},
      {"ArgMin", "", 1, importArg<nn::ArgMinOp>, 1, 1},
      {"CumProd", "", 26, importCumProd, 2, 2, false, true},
      {"CumSum", "", 11, importCumSum, 2, 2},
      {"ReduceL1", "", 1, importReduce<reduceL1>, 1, 2},
      {"ReduceL2", "", 1, importReduceInF32<reduceL2>, 1, 2},
      {"ReduceLogSum", "", 1, importReduceInF32<reduceLogSum>, 1, 2},
      {"ReduceLogSumExp", "", 1, importReduceInF32<reduceLogSumExp>, 1, 2},
      {"ReduceMax", "", 1, importReduce<reduceMax>, 1, 2},
      {"ReduceMean", "", 1, importReduceInF32<reduceMean>, 1, 2},
      {"ReduceMin", "", 1, importReduce<reduceMin>, 1, 2},
      {"ReduceProd", "", 1, importReduce<reduceProd>, 1, 2},
      {"ReduceSum", "", 1, importReduce<reduceSum>, 1, 2},
      {"ReduceSumSquare", "", 1, importReduceInF32<reduceSumSquare>, 1, 2},
      {"TopK", "", 1, importTopK, 1, 2},
  };
  return table;
}

} // namespace sinter::onnx
