//===- Replicas.cpp - data-parallel training steps ------------------------===//

#include "autodiff/Replicas.h"

#include "graph/nn/NnOps.h"
#include "graph/stablehlo/StablehloOps.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace sinter::autodiff {

using nn::TensorBuilder;

/// The size of a full bucket, in bytes.
static constexpr int64_t bucketBytes = int64_t(16) << 20;

static int64_t gradientBytes(Value value) {
  auto type = tensorOf(value);
  return type.getNumElements() * ((type.getElementTypeBitWidth() + 7) / 8);
}

/// One all_reduce of tensors of one element type.
static ValueRange reduceTogether(TensorBuilder &emit, ValueRange values,
                                 uint32_t replicas) {
  OperationState state(values.front().getLoc(),
                       stablehlo::AllReduceOp::getOperationName());
  state.addOperands(values);
  state.addTypes(values.getTypes());
  SmallVector<int64_t> group = llvm::to_vector(llvm::seq<int64_t>(0, replicas));
  state.addAttribute(
      "replica_groups",
      DenseIntElementsAttr::get(
          RankedTensorType::get({1, static_cast<int64_t>(replicas)},
                                emit.integerType(64)),
          ArrayRef<int64_t>(group)));
  const Type scalar =
      RankedTensorType::get({}, tensorOf(values.front()).getElementType());
  SmallVector<Type> pair(2, scalar);
  emit.fill(*state.addRegion(), pair,
            [](TensorBuilder &body, ValueRange arguments) {
              return SmallVector<Value>{body.add(arguments[0], arguments[1])};
            });
  return emit.builder.create(state)->getResults();
}

SmallVector<Value> sumOverReplicas(TensorBuilder &emit, ValueRange values,
                                   uint32_t replicas) {
  struct Bucket {
    SmallVector<size_t> members;
    int64_t bytes = 0;
  };
  SmallVector<Value> sums(values);
  auto flush = [&](Bucket &bucket) {
    SmallVector<Value> members;
    for (size_t member : bucket.members)
      members.push_back(values[member]);
    if (!members.empty())
      for (auto [member, sum] : llvm::zip_equal(
               bucket.members, reduceTogether(emit, members, replicas)))
        sums[member] = sum;
    bucket = {};
  };
  llvm::MapVector<Type, Bucket> open;
  for (auto [number, value] : llvm::enumerate(values)) {
    Bucket &bucket = open[tensorOf(value).getElementType()];
    bucket.members.push_back(number);
    bucket.bytes += gradientBytes(value);
    if (bucket.bytes >= bucketBytes)
      flush(bucket);
  }
  for (auto &each : open)
    flush(each.second);
  return sums;
}

namespace {

/// Combines the statistics of one norm.
class StatisticsBuilder {
public:
  StatisticsBuilder(nn::MeanVarNormOp op, OpBuilder &builder, uint32_t replicas)
      : op(op), next(op->getNextNode()), emit(builder, op.getLoc()),
        replicas(replicas), statistic(tensorOf(op.getMean()).getElementType()),
        sums(statistic.isF64() ? statistic : builder.getF32Type()) {
    auto type = tensorOf(op.getOperand());
    count = static_cast<double>(type.getNumElements()) /
            static_cast<double>(
                std::max<int64_t>(type.getDimSize(op.getFeatureIndex()), 1));
  }

  /// Computes the mean of all samples, and the variance from the variances
  /// within the processes and between them (Chan, Golub and LeVeque 1983).
  void combine() {
    Value mean = wide(op.getMean()), variance = wide(op.getVariance());
    SmallVector<Value> first = sumOverReplicas(
        emit, {emit.mul(mean, count), emit.scalar(count, sums)}, replicas);
    Value all = emit.spreadLike(first[1], mean);
    Value whole = emit.div(first[0], all);
    Value apart = emit.sub(mean, whole);
    Value spread = emit.mul(emit.add(variance, emit.mul(apart, apart)), count);
    Value total = sumOverReplicas(emit, {spread}, replicas).front();
    Value biased = emit.div(total, all);
    Value kept = op.getUnbiased()
                     ? emit.div(total, emit.max(emit.sub(all, 1.0), 1.0))
                     : biased;
    replace(op.getMean(), narrow(whole));
    replace(op.getVariance(), narrow(biased));
    replace(op.getNewRunningMean(), moved(op.getRunningMean(), whole));
    replace(op.getNewRunningVariance(), moved(op.getRunningVariance(), kept));
  }

  /// Averages the running statistics alone, so that they are the same in all
  /// processes.
  void averageKept() {
    Value mean = wide(op.getNewRunningMean());
    Value variance = wide(op.getNewRunningVariance());
    SmallVector<Value> all =
        sumOverReplicas(emit,
                        {emit.mul(mean, count), emit.mul(variance, count),
                         emit.scalar(count, sums)},
                        replicas);
    Value elements = emit.spreadLike(all[2], mean);
    replace(op.getNewRunningMean(), narrow(emit.div(all[0], elements)));
    replace(op.getNewRunningVariance(), narrow(emit.div(all[1], elements)));
  }

  DenseMap<Value, Value> replaced;

private:
  Value wide(Value value) { return emit.convert(value, sums); }
  Value narrow(Value value) { return emit.convert(value, statistic); }

  Value moved(Value running, Value batch) {
    const double momentum = op.getMomentum().convertToDouble();
    return narrow(emit.add(emit.mul(wide(running), momentum),
                           emit.mul(batch, 1 - momentum)));
  }

  /// Replaces earlier uses of \p old.
  void replace(Value old, Value with) {
    replaced[old] = with;
    old.replaceUsesWithIf(with, [&](OpOperand &use) {
      Operation *user = op->getBlock()->findAncestorOpInBlock(*use.getOwner());
      return user && !user->isBeforeInBlock(next);
    });
  }

  nn::MeanVarNormOp op;
  /// New operations are inserted in front of it.
  Operation *next;
  TensorBuilder emit;
  uint32_t replicas;
  Type statistic, sums;
  double count = 1;
};

} // namespace

void shareStatistics(func::FuncOp function, uint32_t replicas, bool local,
                     llvm::MapVector<Value, Value> &moved) {
  SmallVector<nn::MeanVarNormOp> norms(
      function.front().getOps<nn::MeanVarNormOp>());
  for (nn::MeanVarNormOp op : norms) {
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    StatisticsBuilder statistics(op, builder, replicas);
    local ? statistics.averageKept() : statistics.combine();
    for (auto &[old, latest] : moved)
      if (Value now = statistics.replaced.lookup(latest))
        latest = now;
  }
}

} // namespace sinter::autodiff
