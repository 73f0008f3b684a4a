//===- NnTrees.cpp - ensembles of decision trees --------------------------===//

#include "graph/nn/NnTrees.h"
#include "interpreter/Evaluation.h"
#include "interpreter/Numbers.h"

#include <cmath>

using namespace mlir;

namespace sinter::interpreter {

namespace {

/// Goes through the trees of an operation, from its definition.
class Forest {
public:
  explicit Forest(nn::TreeEnsembleOp op)
      : features(op.getFeatures()), thresholds(op.getThresholds()),
        modes(op.getModes()), whereTrue(op.getTrueChildren()),
        whereFalse(op.getFalseChildren()) {}

  /// The leaf to which \p row comes from \p root.
  int32_t leafOf(int32_t root, std::span<const double> row) const {
    int32_t at = root;
    while (at >= 0)
      at = holds(at, row[features[at]]) ? whereTrue[at] : whereFalse[at];
    return ~at;
  }

private:
  bool holds(int32_t node, double x) const {
    if (std::isnan(x) && (modes[node] & nn::treeHoldsForNaN) != 0)
      return true;
    const double threshold = thresholds[node];
    switch (static_cast<nn::TreeMode>(modes[node] & ~nn::treeHoldsForNaN)) {
    case nn::TreeMode::LessOrEqual:
      return x <= threshold;
    case nn::TreeMode::Less:
      return x < threshold;
    case nn::TreeMode::GreaterOrEqual:
      return x >= threshold;
    case nn::TreeMode::Greater:
      return x > threshold;
    case nn::TreeMode::Equal:
      return x == threshold;
    case nn::TreeMode::NotEqual:
      return x != threshold;
    }
    return false;
  }

  ArrayRef<int32_t> features;
  ArrayRef<double> thresholds;
  ArrayRef<int8_t> modes;
  ArrayRef<int32_t> whereTrue, whereFalse;
};

/// What the targets get, one weight after the other.
class TargetSums {
public:
  explicit TargetSums(nn::TreeEnsembleOp op)
      : op(op), aggregate(op.getAggregate()), sums(op.getTargetCount()),
        areGiven(op.getTargetCount()) {}

  void begin() {
    std::ranges::fill(sums, 0.0);
    areGiven.assign(areGiven.size(), false);
  }
  void add(int32_t leaf) {
    for (int32_t i = op.getLeafStarts()[leaf]; i < op.getLeafStarts()[leaf + 1];
         ++i)
      add(op.getTargets()[i], op.getWeights()[i]);
  }
  std::span<const double> end() {
    if (aggregate == "average")
      for (double &sum : sums)
        sum /= static_cast<double>(op.getRoots().size());
    return sums;
  }

private:
  void add(int32_t target, double weight) {
    double &sum = sums[target];
    if (aggregate == "sum" || aggregate == "average")
      sum += weight;
    else if (!areGiven[target])
      sum = weight;
    else
      sum = aggregate == "minimum" ? std::min(sum, weight)
                                   : std::max(sum, weight);
    areGiven[target] = true;
  }

  nn::TreeEnsembleOp op;
  StringRef aggregate;
  std::vector<double> sums;
  std::vector<bool> areGiven;
};

} // namespace

static Result<Tensors> evaluateTreeEnsemble(const Call &call) {
  auto op = call.as<nn::TreeEnsembleOp>();
  const Tensor &x = call[0];
  const int64_t width = x.dim(1);
  for (int32_t feature : op.getFeatures())
    if (feature >= width)
      return invalidModel("a tree asks for feature " + std::to_string(feature) +
                          " of " + std::to_string(width));
  const Forest forest(op);
  TargetSums sums(op);
  const auto targets = static_cast<int64_t>(op.getTargetCount());
  return produce(call.resultElement(), {x.dim(0), targets},
                 [&](Tensor &result) {
                   std::vector<double> row(width);
                   for (int64_t n = 0; n < x.dim(0); ++n) {
                     loadReals(x, n * width, row);
                     sums.begin();
                     for (int32_t root : op.getRoots())
                       sums.add(forest.leafOf(root, row));
                     storeReals(result, n * targets, sums.end());
                   }
                 });
}

void registerNnTrees(Registry &registry) {
  registry.add<nn::TreeEnsembleOp>(evaluateTreeEnsemble);
}

} // namespace sinter::interpreter
