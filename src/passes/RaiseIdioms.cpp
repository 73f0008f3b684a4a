#include "passes/RaiseIdioms.h"

#include "graph/Constants.h"
#include "graph/Quantization.h"
#include "graph/nn/NnOps.h"
#include "graph/stablehlo/Sums.h"
#include "passes/Matching.h"
#include "passes/RaiseGelu.h"
#include "passes/RaiseNorms.h"
#include "passes/RaiseRows.h"
#include "passes/RulePass.h"
#include <cmath>

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter {

//===----------------------------------------------------------------------===//
// Pools
//===----------------------------------------------------------------------===//

namespace {
/// A window over the dimensions from the third on.
struct PoolWindow {
  SmallVector<int64_t> size, strides, dilations, low, high;
};
} // namespace

static std::optional<PoolWindow> poolWindow(ReduceWindowOp op) {
  auto type = tensorOf(op.getInputs()[0]);
  if (op.getInputs().size() != 1 || type.getRank() < 3 ||
      !type.hasStaticShape() || !tensorOf(op->getResult(0)).hasStaticShape() ||
      type.getElementType() != tensorOf(op->getResult(0)).getElementType())
    return std::nullopt;
  size_t rank = type.getRank();
  SmallVector<int64_t> ones(rank, 1);
  ArrayRef<int64_t> size = op.getWindowDimensions();
  ArrayRef<int64_t> strides = op.getWindowStrides().value_or(ones);
  ArrayRef<int64_t> base = op.getBaseDilations().value_or(ones);
  ArrayRef<int64_t> dilations = op.getWindowDilations().value_or(ones);
  SmallVector<int64_t> padding(2 * rank, 0);
  if (auto given = op.getPadding())
    padding = llvm::to_vector(given->getValues<int64_t>());
  PoolWindow window;
  for (size_t i = 0; i < rank; ++i) {
    int64_t low = padding[2 * i], high = padding[2 * i + 1];
    if (base[i] != 1 || low < 0 || high < 0)
      return std::nullopt;
    if (i < 2) {
      if (size[i] != 1 || strides[i] != 1 || low || high)
        return std::nullopt;
      continue;
    }
    window.size.push_back(size[i]);
    window.strides.push_back(strides[i]);
    window.dilations.push_back(dilations[i]);
    window.low.push_back(low);
    window.high.push_back(high);
  }
  return window;
}

/// Whether the window's body is \p Op and its initial value \p number.
template <typename Op>
static bool isWindowOf(ReduceWindowOp op, double number) {
  return op.getInputs().size() == 1 && isFloatTensor(op.getInputs()[0]) &&
         soleOperation(op.getBody()) == Op::getOperationName() &&
         splatValue(op.getInitValues()[0]) == number;
}

/// Whether \p op is a maximum of quantised elements with a per-tensor scale.
static bool isQuantizedMaximum(ReduceWindowOp op) {
  auto type = dyn_cast_or_null<quant::UniformQuantizedType>(
      quantizedOf(op.getInputs()[0].getType()));
  if (!type || op.getInputs().size() != 1 ||
      quantizedOf(op->getResult(0).getType()) != type ||
      quantizedOf(op.getInitValues()[0].getType()) != type ||
      soleOperation(op.getBody()) != MaxOp::getOperationName())
    return false;
  std::optional<Tensor> initial = constantTensor(op.getInitValues()[0]);
  return initial && initial->toInteger(0) == boundsOf(type).least;
}

static Value raiseMaxPool(ReduceWindowOp op, OpBuilder &builder) {
  if (!isWindowOf<MaxOp>(op, -std::numeric_limits<double>::infinity()) &&
      !isQuantizedMaximum(op))
    return {};
  std::optional<PoolWindow> window = poolWindow(op);
  if (!window)
    return {};
  return builder.create<nn::MaxPoolOp>(
      op.getLoc(), op->getResult(0).getType(), op.getInputs()[0], window->size,
      window->strides, window->dilations, window->low, window->high);
}

/// How many elements of the operand the window at each index covers along one
/// dimension.
static SmallVector<int64_t> presentAlong(const PoolWindow &window, size_t i,
                                         int64_t size, int64_t outputs) {
  SmallVector<int64_t> counts(outputs, 0);
  for (int64_t output = 0; output < outputs; ++output)
    for (int64_t tap = 0; tap < window.size[i]; ++tap) {
      int64_t at = output * window.strides[i] + tap * window.dilations[i] -
                   window.low[i];
      counts[output] += at >= 0 && at < size;
    }
  return counts;
}

/// Whether \p divisors, of the result's shape, are the counts of elements that
/// the windows cover.
static bool countsPresent(const Tensor &divisors, const PoolWindow &window,
                          RankedTensorType from, RankedTensorType to) {
  std::vector<double> counts = {1};
  for (size_t i = 0; i < window.size.size(); ++i) {
    std::vector<double> next;
    SmallVector<int64_t> along =
        presentAlong(window, i, from.getDimSize(i + 2), to.getDimSize(i + 2));
    for (double outer : counts)
      for (int64_t count : along)
        next.push_back(outer * count);
    counts = std::move(next);
  }
  for (int64_t i = 0; i < divisors.size(); ++i)
    if (divisors.toDouble(i) != counts[i % counts.size()])
      return false;
  return true;
}

/// The scalar that a window's sum is divided by, if it is a splat.
static std::optional<double> commonDivisor(Operation *op) {
  std::optional<double> number = splatValue(op->getOperand(1));
  if (!number || *number == 0)
    return std::nullopt;
  return isa<DivOp>(op) ? *number : 1 / *number;
}

template <typename Op>
static Value raiseAveragePool(Op op, OpBuilder &builder) {
  auto sum = op.getLhs().template getDefiningOp<ReduceWindowOp>();
  // A pool accumulates in f32; an accumulator of narrower floats is rounded at
  // each step.
  if (!sum || !isWindowOf<AddOp>(sum, 0) ||
      (carriedInF32(sum.getBody()) &&
       scanOf(dimsOf(sum.getInputs()[0]), sum.getWindow())) ||
      sum->getResult(0).getType() != op.getType())
    return {};
  std::optional<PoolWindow> window = poolWindow(sum);
  if (!window)
    return {};
  auto from = tensorOf(sum.getInputs()[0]), to = tensorOf(op);
  double whole = 1;
  for (int64_t size : window->size)
    whole *= size;
  std::optional<double> divisor = commonDivisor(op);
  const double slack = to.getElementType().isF64() ? 1e-15 : 1e-6;
  bool countsAll = divisor && std::abs(*divisor - whole) <= slack * whole;
  if (!countsAll) {
    constexpr int64_t mostCounted = int64_t(1) << 24;
    if (!isa<DivOp>(op) || to.getNumElements() > mostCounted ||
        whole * to.getNumElements() > mostCounted * 64.0)
      return {};
    std::optional<Tensor> divisors = constantValue(op.getRhs());
    if (!divisors || !countsPresent(*divisors, *window, from, to))
      return {};
  }
  return builder.create<nn::AveragePoolOp>(
      op.getLoc(), to, sum.getInputs()[0], window->size, window->strides,
      window->dilations, window->low, window->high, countsAll,
      ArrayRef<int64_t>());
}

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

static bool isUnit(int64_t size) { return size == 1; }

/// The sizes other than 1.
static SmallVector<int64_t> wideSizes(Value value) {
  SmallVector<int64_t> sizes(tensorOf(value).getShape());
  llvm::erase_if(sizes, isUnit);
  return sizes;
}

/// The source of \p value behind operations that do not change it: barriers, a
/// maximum with -inf, and reshapes that add or drop dimensions of size 1.
static Value unguarded(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    constexpr double least = -std::numeric_limits<double>::infinity();
    if (isa<OptimizationBarrierOp>(op))
      value = op->getOperand(cast<OpResult>(value).getResultNumber());
    else if (isa<MaxOp>(op) && splatValue(op->getOperand(0)) == least)
      value = op->getOperand(1);
    else if (isa<MaxOp>(op) && splatValue(op->getOperand(1)) == least)
      value = op->getOperand(0);
    else if (isa<ReshapeOp>(op) &&
             wideSizes(value) == wideSizes(op->getOperand(0)))
      value = op->getOperand(0);
    else
      break;
  }
  return value;
}

/// Those of \p dimensions along which \p value has more than one element.
static SmallVector<int64_t> wideAmong(ArrayRef<int64_t> dimensions,
                                      Value value) {
  auto type = tensorOf(value);
  SmallVector<int64_t> wide(dimensions);
  llvm::erase_if(wide, [&](int64_t i) { return isUnit(type.getDimSize(i)); });
  return wide;
}

/// Whether \p broadcast repeats its operand along \p dimensions of its result,
/// and the operand has the other dimensions, those of size 1 aside.
static bool repeatsAlong(BroadcastInDimOp broadcast,
                         ArrayRef<int64_t> dimensions) {
  Value result = broadcast.getResult(), operand = broadcast.getOperand();
  SmallVector<int64_t> kept, laid;
  for (int64_t i = 0; i < tensorOf(result).getRank(); ++i)
    if (!llvm::is_contained(dimensions, i))
      kept.push_back(i);
  for (auto [i, dimension] :
       llvm::enumerate(broadcast.getBroadcastDimensions()))
    if (!isUnit(tensorOf(operand).getDimSize(i)))
      laid.push_back(dimension);
  return laid == wideAmong(kept, result);
}

/// Whether \p reduce reduces \p of by \p Op, with initial value \p start.
template <typename Op>
static bool isReductionOf(ReduceOp reduce, Value of, double start) {
  return reduce && reduce.getInputs().size() == 1 &&
         reduce.getInputs()[0] == of &&
         soleOperation(reduce.getBody()) == Op::getOperationName() &&
         splatValue(reduce.getInitValues()[0]) == start;
}

/// The reduction of \p of by \p Op that \p value broadcasts back to the shape
/// of \p of.
template <typename Op>
static ReduceOp repeatedReduction(Value value, Value of, double start) {
  auto broadcast = value.getDefiningOp<BroadcastInDimOp>();
  if (!broadcast || value.getType() != of.getType())
    return {};
  auto reduce = unguarded(broadcast.getOperand()).getDefiningOp<ReduceOp>();
  if (!isReductionOf<Op>(reduce, of, start))
    return {};
  return repeatsAlong(broadcast, reduce.getDimensions()) ? reduce : ReduceOp();
}

/// x - max(x): x and the dimensions of the maximum.
static std::optional<std::pair<Value, SmallVector<int64_t>>>
shiftedByMax(Value value) {
  auto shifted = value.getDefiningOp<SubtractOp>();
  if (!shifted || !isFloatTensor(shifted))
    return std::nullopt;
  auto reduce =
      repeatedReduction<MaxOp>(shifted.getRhs(), shifted.getLhs(),
                               -std::numeric_limits<double>::infinity());
  if (!reduce)
    return std::nullopt;
  return std::pair(shifted.getLhs(),
                   SmallVector<int64_t>(reduce.getDimensions()));
}

static Value raiseSoftmax(DivOp op, OpBuilder &builder) {
  auto powers = op.getLhs().getDefiningOp<ExpOp>();
  if (!powers)
    return {};
  auto shifted = shiftedByMax(powers.getOperand());
  auto sum = repeatedReduction<AddOp>(op.getRhs(), powers, 0);
  if (!shifted || !sum ||
      wideAmong(sum.getDimensions(), powers) !=
          wideAmong(shifted->second, powers))
    return {};
  return builder.create<nn::SoftmaxOp>(op.getLoc(), op.getType(),
                                       shifted->first, shifted->second);
}

static Value raiseLogSoftmax(SubtractOp op, OpBuilder &builder) {
  auto shifted = shiftedByMax(op.getLhs());
  auto broadcast = op.getRhs().getDefiningOp<BroadcastInDimOp>();
  auto log = broadcast
                 ? unguarded(broadcast.getOperand()).getDefiningOp<LogOp>()
                 : LogOp();
  auto sum =
      log ? unguarded(log.getOperand()).getDefiningOp<ReduceOp>() : ReduceOp();
  if (!shifted || !sum || sum.getInputs().size() != 1)
    return {};
  auto powers = sum.getInputs()[0].getDefiningOp<ExpOp>();
  if (!powers || powers.getOperand() != op.getLhs() ||
      !isReductionOf<AddOp>(sum, powers, 0) ||
      wideAmong(sum.getDimensions(), powers) !=
          wideAmong(shifted->second, powers) ||
      !repeatsAlong(broadcast, sum.getDimensions()))
    return {};
  return builder.create<nn::LogSoftmaxOp>(op.getLoc(), op.getType(),
                                          shifted->first, shifted->second);
}

//===----------------------------------------------------------------------===//
// Matmuls
//===----------------------------------------------------------------------===//

/// The dimensions of a matmul's right operand that are neither batching nor
/// contracting, if they are adjacent.
static std::optional<SmallVector<int64_t>> freeOnTheRight(DotGeneralOp op) {
  SmallVector<int64_t> free = op.rhsFree();
  if (!op.getSide(1).batching.empty() || free.size() < 2 ||
      free.back() - free.front() + 1 != static_cast<int64_t>(free.size()))
    return std::nullopt;
  return free;
}

/// A bias of a matmul, where both are split into heads: added to the unsplit
/// matmul, and split after.
static Value addBeforeSplit(AddOp op, OpBuilder &builder) {
  auto dot = op.getLhs().getDefiningOp<DotGeneralOp>();
  auto bias = op.getRhs().getDefiningOp<BroadcastInDimOp>();
  auto free = dot && dot->hasOneUse() ? freeOnTheRight(dot) : std::nullopt;
  auto type = tensorOf(op);
  if (!free || !bias || !type.hasStaticShape() || !isFloatTensor(op.getRhs()) ||
      !tensorOf(dot.getRhs()).hasStaticShape())
    return {};
  int64_t kept = type.getRank() - free->size();
  auto trailing = llvm::to_vector(llvm::seq<int64_t>(kept, type.getRank()));
  ArrayRef<int64_t> columns = type.getShape().drop_front(kept);
  if (!llvm::equal(bias.getBroadcastDimensions(), trailing) ||
      tensorOf(bias.getOperand()).getShape() != columns)
    return {};
  int64_t count = 1;
  for (int64_t size : columns)
    count *= size;
  auto unsplit = [&](Value value, ArrayRef<int64_t> before,
                     ArrayRef<int64_t> after) -> Value {
    SmallVector<int64_t> shape(before);
    shape.push_back(count);
    llvm::append_range(shape, after);
    auto element = tensorOf(value).getElementType();
    return builder.create<ReshapeOp>(
        value.getLoc(), RankedTensorType::get(shape, element), value);
  };
  ArrayRef<int64_t> whole = tensorOf(dot.getRhs()).getShape();
  Value weights = unsplit(dot.getRhs(), whole.take_front(free->front()),
                          whole.drop_front(free->back() + 1));
  auto numbers = dot.getDotDimensionNumbers();
  SmallVector<int64_t> contracting;
  for (int64_t each : numbers.getRhsContractingDimensions())
    contracting.push_back(each < free->front()
                              ? each
                              : each - static_cast<int64_t>(free->size()) + 1);
  SmallVector<int64_t> shape(type.getShape().take_front(kept));
  shape.push_back(count);
  auto matrix = RankedTensorType::get(shape, type.getElementType());
  Value product = builder.create<DotGeneralOp>(
      dot.getLoc(), matrix, dot.getLhs(), weights,
      DotDimensionNumbersAttr::get(op.getContext(), {}, {},
                                   numbers.getLhsContractingDimensions(),
                                   contracting),
      dot.getPrecisionConfigAttr(), dot.getAlgorithmAttr());
  Value wide = builder.create<BroadcastInDimOp>(
      bias.getLoc(), matrix, unsplit(bias.getOperand(), {}, {}),
      ArrayRef<int64_t>(kept));
  Value sum = builder.create<AddOp>(op.getLoc(), matrix, product, wide);
  return builder.create<ReshapeOp>(op.getLoc(), type, sum);
}

ArrayRef<RewriteRule> raiseIdiomsRules() {
  static const std::vector<RewriteRule> own = {
      rule<ReduceWindowOp, raiseMaxPool>("raise-max-pool",
                                         "reduce_window(x, max) -> "
                                         "max_pool(x)"),
      rule<DivOp, raiseAveragePool<DivOp>>(
          "raise-average-pool",
          "reduce_window(x, add) / count -> average_pool(x)"),
      rule<MulOp, raiseAveragePool<MulOp>>(
          "raise-average-pool",
          "reduce_window(x, add) / count -> average_pool(x)"),
      rule<AddOp, addBeforeSplit>(
          "join-columns",
          "dot_general(x, w : KxHxD) + b -> reshape(dot_general(x, w : KxN) + "
          "b)"),
      rule<DivOp, raiseSoftmax>("raise-softmax",
                                "e / sum(e), e = exp(x - max(x)) -> "
                                "softmax(x)"),
      rule<SubtractOp, raiseLogSoftmax>(
          "raise-log-softmax",
          "y - log(sum(exp(y))), y = x - max(x) -> log_softmax(x)"),
  };
  static const std::vector<RewriteRule> rules = [] {
    std::vector<RewriteRule> all = own;
    llvm::append_range(all, raiseNormsRules());
    llvm::append_range(all, raiseGeluRules());
    llvm::append_range(all, raiseRowsRules());
    return all;
  }();
  return rules;
}

namespace {
struct RaiseIdioms : RulePass<RaiseIdioms> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(RaiseIdioms)
  using RulePass::RulePass;
  StringRef getArgument() const final { return "raise-idioms"; }
  StringRef getDescription() const final {
    return "Raise spelled-out operations to nn operations";
  }
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<nn::NnDialect>();
  }
  RuleList tables() const { return {raiseIdiomsRules()}; }
};
} // namespace

std::unique_ptr<Pass> createRaiseIdioms(std::shared_ptr<PatternRun> run) {
  return std::make_unique<RaiseIdioms>(std::move(run));
}

} // namespace sinter
