//===- TrainBatchNorms.cpp - batch norms with the batch's statistics ------===//

#include "autodiff/TrainBatchNorms.h"

#include "graph/Momentum.h"
#include "graph/nn/NnOps.h"
#include "graph/stablehlo/StablehloOps.h"

using namespace mlir;

namespace sinter::autodiff {

using stablehlo::BatchNormInferenceOp;

/// The norms whose statistics are arguments of the function.
static SmallVector<BatchNormInferenceOp> normsOf(func::FuncOp function) {
  SmallVector<BatchNormInferenceOp> norms;
  for (auto norm : function.front().getOps<BatchNormInferenceOp>())
    if (isa<BlockArgument>(norm.getMean()) &&
        isa<BlockArgument>(norm.getVariance()))
      norms.push_back(norm);
  return norms;
}

/// The operations of the file that already compute the batch's statistics.
static SmallVector<nn::MeanVarNormOp> statisticsOf(func::FuncOp function) {
  SmallVector<nn::MeanVarNormOp> all;
  for (auto op : function.front().getOps<nn::MeanVarNormOp>())
    if (isa<BlockArgument>(op.getRunningMean()) &&
        isa<BlockArgument>(op.getRunningVariance()))
      all.push_back(op);
  return all;
}

llvm::SetVector<Value> runningStatistics(func::FuncOp function) {
  llvm::SetVector<Value> statistics;
  for (BatchNormInferenceOp norm : normsOf(function)) {
    statistics.insert(norm.getMean());
    statistics.insert(norm.getVariance());
  }
  for (nn::MeanVarNormOp op : statisticsOf(function)) {
    statistics.insert(op.getRunningMean());
    statistics.insert(op.getRunningVariance());
  }
  return statistics;
}

llvm::MapVector<Value, Value> trainBatchNorms(func::FuncOp function,
                                              std::optional<double> momentum) {
  llvm::MapVector<Value, Value> moved;
  // Norms that share statistics update them one after the other.
  auto latest = [&](Value statistic) {
    auto found = moved.find(statistic);
    return found == moved.end() ? statistic : found->second;
  };
  for (nn::MeanVarNormOp op : statisticsOf(function)) {
    const Value mean = op.getRunningMean(), variance = op.getRunningVariance();
    op.getRunningMeanMutable().assign(latest(mean));
    op.getRunningVarianceMutable().assign(latest(variance));
    moved[mean] = op.getNewRunningMean();
    moved[variance] = op.getNewRunningVariance();
  }
  for (BatchNormInferenceOp norm : normsOf(function)) {
    OpBuilder builder(norm);
    Value mean = norm.getMean(), variance = norm.getVariance();
    auto batch = builder.create<nn::MeanVarNormOp>(
        norm.getLoc(), norm.getOperand(), latest(mean), latest(variance),
        norm.getFeatureIndex(), APFloat(momentum.value_or(momentumOf(norm))),
        /*unbiased=*/true);
    norm.getMeanMutable().assign(batch.getMean());
    norm.getVarianceMutable().assign(batch.getVariance());
    moved[mean] = batch.getNewRunningMean();
    moved[variance] = batch.getNewRunningVariance();
  }
  return moved;
}

} // namespace sinter::autodiff
