// Reductions, and operators that search or sum along an axis.

#include "formats/import/Building.h"
#include "formats/paddle/Operators.h"
#include "formats/paddle/ops/Results.h"
#include "graph/nn/TensorBuilder.h"
#include <limits>

using namespace mlir;
using sinter::stablehlo::ComparisonDirection;

namespace sinter::paddle {

namespace {
/// The operands of a reduction.
struct Reduction {
  Value x;
  Ints axes;
  bool keeps = false;
};
} // namespace

static Ints allAxes(OperatorContext &op, Value x) {
  return llvm::to_vector(llvm::seq<int64_t>(0, op.rank(x)));
}

/// \p axisName and \p keepName are the operator's names of dim and keep_dim. No
/// axes mean all.
static std::optional<Reduction> readReduction(OperatorContext &op,
                                              StringRef axisName = "dim",
                                              StringRef keepName = "keep_dim") {
  Reduction reduction;
  reduction.x = op.operand("X");
  reduction.keeps = op.getBool(keepName, false);
  auto list = op.integersFrom({"AxisTensor", "AxisTensorList"}, axisName);
  if (!reduction.x || !list)
    return std::nullopt;
  if (!op.hasAttribute(axisName) && list->empty())
    list->push_back(0);
  const int64_t rank = op.rank(reduction.x);
  // A rank-0 operand has one element, whatever the axis.
  if (list->empty() || op.getBool("reduce_all", false) || rank == 0) {
    reduction.axes = allAxes(op, reduction.x);
    return reduction;
  }
  auto axes = op.axes(*list, rank);
  if (!axes)
    return std::nullopt;
  reduction.axes = std::move(*axes);
  return reduction;
}

/// The maximum of the element type, or the minimum.
static double typeLimit(OperatorContext &op, Value x, bool isGreatest) {
  if (op.isFloat(x)) {
    const double infinite = std::numeric_limits<double>::infinity();
    return isGreatest ? infinite : -infinite;
  }
  if (op.isBool(x))
    return isGreatest ? 1 : 0;
  // Out of range of the narrower types, for which it saturates.
  return isGreatest ? 0x1p64 : (op.isUnsigned(x) ? 0 : -0x1p63);
}

static Value sumOf(OperatorContext &op, const Reduction &r) {
  return op.reduce<stablehlo::AddOp>(r.x, r.axes, 0, r.keeps);
}
static Value meanOf(OperatorContext &op, const Reduction &r) {
  return op.binary<stablehlo::DivOp>(
      sumOf(op, r), op.countAlong(r.x, r.axes, op.element(r.x)));
}
static Value reduceMax(OperatorContext &op, const Reduction &r) {
  return op.reduce<stablehlo::MaxOp>(r.x, r.axes, typeLimit(op, r.x, false),
                                     r.keeps);
}
static Value reduceMin(OperatorContext &op, const Reduction &r) {
  return op.reduce<stablehlo::MinOp>(r.x, r.axes, typeLimit(op, r.x, true),
                                     r.keeps);
}
static Value productOf(OperatorContext &op, const Reduction &r) {
  return op.reduce<stablehlo::MulOp>(r.x, r.axes, 1, r.keeps);
}
static Value areAll(OperatorContext &op, const Reduction &r) {
  return op.reduce<stablehlo::AndOp>(r.x, r.axes, 1, r.keeps);
}
static Value isAny(OperatorContext &op, const Reduction &r) {
  return op.reduce<stablehlo::OrOp>(r.x, r.axes, 0, r.keeps);
}

/// Reductions of several operations round once, at the end; they compute in the
/// type out_dtype, if given.
template <Value (*reduce)(OperatorContext &, const Reduction &)>
static LogicalResult importReduce(OperatorContext &op) {
  auto reduction = readReduction(op);
  if (!reduction)
    return failure();
  Type element = op.getInt("out_dtype", -1) < 0
                     ? op.element(reduction->x)
                     : op.elementType("out_dtype", -1);
  reduction->x = formats::widened(op, op.cast(reduction->x, element));
  return op.result(
      "Out", asDeclared(op, "Out", op.cast(reduce(op, *reduction), element)));
}

static LogicalResult importMean(OperatorContext &op) {
  Value given = op.operand("X");
  if (!given)
    return failure();
  Reduction all{formats::widened(op, given), allAxes(op, given), false};
  return op.result(
      "Out",
      asDeclared(op, "Out", op.cast(meanOf(op, all), op.element(given))));
}

/// log(sum exp(x - m)) + m, where m is the maximum, so that nothing overflows.
static LogicalResult importLogSumExp(OperatorContext &op) {
  auto reduction = readReduction(op, "axis", "keepdim");
  if (!reduction)
    return failure();
  Type element = op.element(reduction->x);
  Reduction kept{formats::widened(op, reduction->x), reduction->axes, true};
  Value most = reduceMax(op, kept);
  if (!most)
    return failure();
  Value isFinite =
      op.typed<stablehlo::IsFiniteOp>(tensorOf(most).clone(op.i1()), most);
  most = select(op, isFinite, most, op.one(most, 0));
  Reduction powers = kept;
  powers.x =
      op.op<stablehlo::ExpOp>(op.binary<stablehlo::SubtractOp>(kept.x, most));
  Value result = op.binary<stablehlo::AddOp>(
      op.op<stablehlo::LogOp>(sumOf(op, powers)), most);
  if (!reduction->keeps)
    result = op.squeeze(result, reduction->axes);
  return op.result("Out", asDeclared(op, "Out", op.cast(result, element)));
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

/// The p-norm: for infinite p the maximum, for 0 the number of non-zeros.
static Value pNorm(OperatorContext &op, const Reduction &r, double p) {
  Reduction sizes = r;
  sizes.x = op.op<stablehlo::AbsOp>(r.x);
  if (!sizes.x)
    return {};
  if (p == 0) {
    sizes.x = op.cast(
        op.compare(sizes.x, op.one(sizes.x, 0), ComparisonDirection::NE),
        op.element(r.x));
    return sumOf(op, sizes);
  }
  if (std::isinf(p))
    return p > 0 ? reduceMax(op, sizes) : reduceMin(op, sizes);
  if (p == 1)
    return sumOf(op, sizes);
  if (p == 2) {
    sizes.x = op.op<stablehlo::MulOp>(r.x, r.x);
    return op.op<stablehlo::SqrtOp>(sumOf(op, sizes));
  }
  sizes.x = op.binary<stablehlo::PowOp>(sizes.x, op.one(sizes.x, p));
  Value sum = sumOf(op, sizes);
  return op.binary<stablehlo::PowOp>(sum, op.one(sum, 1 / p));
}

static LogicalResult importPNorm(OperatorContext &op) {
  Value given = op.operand("X");
  if (!given)
    return failure();
  Reduction r{formats::widened(op, given), {}, op.getBool("keepdim", false)};
  if (op.getBool("asvector", false)) {
    r.axes = allAxes(op, given);
  } else {
    auto axis = op.axis(op.getInt("axis", -1), op.rank(given));
    if (!axis)
      return failure();
    r.axes = {*axis};
  }
  Value norm = pNorm(op, r, op.getFloat("porder", 2));
  return op.result("Out",
                   asDeclared(op, "Out", op.cast(norm, op.element(given))));
}

static LogicalResult importFrobeniusNorm(OperatorContext &op) {
  auto r = readReduction(op);
  if (!r)
    return failure();
  Type element = op.element(r->x);
  r->x = formats::widened(op, r->x);
  return op.result("Out",
                   asDeclared(op, "Out", op.cast(pNorm(op, *r, 2), element)));
}

static LogicalResult importSquaredNorm(OperatorContext &op) {
  Value x = op.operand("X");
  if (!x)
    return failure();
  Reduction r{op.op<stablehlo::MulOp>(x, x), allAxes(op, x), false};
  return op.result("Out", asDeclared(op, "Out", sumOf(op, r)));
}

//===----------------------------------------------------------------------===//
// Along one axis
//===----------------------------------------------------------------------===//

/// \p x as one dimension.
static Value flatten(OperatorContext &op, Value x) {
  return op.reshape(x, Dims{op.product(op.dims(x))});
}

template <typename Op> static LogicalResult importArg(OperatorContext &op) {
  Value x = op.operand("X");
  auto axisList = op.integersFrom({"AxisTensor", "Axis"}, "axis");
  if (!x || !axisList)
    return failure();
  const bool isFlat = op.getBool("flatten", false) || op.rank(x) == 0;
  if (isFlat)
    x = flatten(op, x);
  auto axis = op.axis(isFlat || axisList->empty() ? (isFlat ? 0 : -1)
                                                  : axisList->front(),
                      op.rank(x));
  if (!axis)
    return failure();
  // -1 is the only behaviour before the attribute existed.
  const int64_t type = op.getInt("dtype", -1);
  Type element = type < 0 ? op.i64() : op.elementTypeOf(type);
  Value indices =
      op.op<Op>(x, static_cast<uint64_t>(*axis), op.getBool("keepdims", false),
                /*select_last=*/false);
  return op.result("Out", asDeclared(op, "Out", op.cast(indices, element)));
}

/// The k largest elements, for a k that is known only at run time.
static LogicalResult dynamicTopK(OperatorContext &op, Value x, int64_t axis,
                                 Value k, bool isLargest) {
  nn::TensorBuilder emit(op.builder(), op.location());
  k = op.reshape(k, ArrayRef<int64_t>{1});
  if (op.failed())
    return failure();
  auto [values, indices] = nn::takeTop(
      emit, x, axis, nn::Size::computed(emit.convert(k, emit.integerType(32))),
      isLargest);
  if (mlir::failed(op.result("Indices", indices)))
    return failure();
  return op.result("Out", values);
}

/// The first generation searches along the last axis.
static LogicalResult importTopK(OperatorContext &op) {
  Value x = op.operand("X");
  if (!x)
    return failure();
  auto axis = op.axis(op.getInt("axis", -1), op.rank(x));
  if (!axis)
    return failure();
  const bool isLargest = op.getBool("largest", true);
  if (op.has("K") && op.expandsUnknown() && !op.knownIntegers(op.operand("K")))
    return dynamicTopK(op, x, *axis, op.operand("K"), isLargest);
  auto k = op.integersFrom({"K"}, "k");
  if (!k)
    return failure();
  if (k->empty())
    k->push_back(1);
  if (k->size() != 1 || k->front() < 0)
    return op.fail("k is not one number that is not negative");
  mlir::Operation *top =
      op.inferred<nn::TopKOp>(x, static_cast<uint64_t>(k->front()),
                              static_cast<uint64_t>(*axis), isLargest);
  if (!top || mlir::failed(op.result("Indices", top->getResult(1))))
    return failure();
  return op.result("Out", top->getResult(0));
}

static LogicalResult importArgSort(OperatorContext &op) {
  Value x = op.operand("X");
  if (!x)
    return failure();
  auto axis = op.axis(op.getInt("axis", -1), op.rank(x));
  if (!axis)
    return failure();
  const int64_t size = op.size(x, *axis);
  const bool isDescending = op.getBool("descending", false);
  if (ShapedType::isDynamic(size)) {
    if (!op.expandsUnknown())
      return op.unknown("dimension " + Twine(*axis) + " is unknown");
    return dynamicTopK(op, x, *axis, op.dim(x, *axis).extent, isDescending);
  }
  mlir::Operation *sorted =
      op.inferred<nn::TopKOp>(x, static_cast<uint64_t>(size),
                              static_cast<uint64_t>(*axis), isDescending);
  if (!sorted || mlir::failed(op.result("Indices", sorted->getResult(1))))
    return failure();
  return op.result("Out", sorted->getResult(0));
}

static LogicalResult importCumulativeSum(OperatorContext &op) {
  Value x = op.operand("X");
  auto axisList = op.integersFrom({"AxisTensor"}, "axis");
  if (!x || !axisList)
    return failure();
  const bool isFlat = op.getBool("flatten", false);
  if (isFlat)
    x = flatten(op, x);
  auto axis =
      op.axis(isFlat || axisList->empty() ? -1 : axisList->front(), op.rank(x));
  if (!axis)
    return failure();
  return op.result("Out",
                   op.op<nn::CumulativeSumOp>(x, static_cast<uint64_t>(*axis),
                                              op.getBool("exclusive", false),
                                              op.getBool("reverse", false)));
}

OperatorReaders reductionReaders() {
  static const OperatorReader table[] = {
      {"arg_max", importArg<nn::ArgMaxOp>},
      {"arg_min", importArg<nn::ArgMinOp>},
      {"argsort", importArgSort},
      {"cumsum", importCumulativeSum},
      {"frobenius_norm", importFrobeniusNorm},
      {"logsumexp", importLogSumExp},
      {"mean", importMean},
      {"p_norm", importPNorm},
      {"reduce_all", importReduce<areAll>},
      {"reduce_amax", importReduce<reduceMax>},
      {"reduce_amin", importReduce<reduceMin>},
      {"reduce_any", importReduce<isAny>},
      {"reduce_max", importReduce<reduceMax>},
      {"reduce_mean", importReduce<meanOf>},
      {"reduce_min", importReduce<reduceMin>},
      {"reduce_prod", importReduce<productOf>},
      {"reduce_sum", importReduce<sumOf>},
      {"squared_l2_norm", importSquaredNorm},
      {"top_k", importTopK},
      {"top_k_v2", importTopK},
  };
  return table;
}

} // namespace sinter::paddle
