#include "graph/nn/NnTrees.h"

#include "graph/nn/TreeTables.h"
#include "graph/nn/TreeWalk.h"
#include "graph/nn/Wide.h"

using namespace mlir;
using namespace sinter;

#define GET_OP_CLASSES
#include "graph/nn/NnTrees.cpp.inc"

namespace sinter::nn {

LogicalResult TreeEnsembleOp::inferReturnTypes(
    MLIRContext *context, std::optional<Location> location, ValueRange operands,
    DictionaryAttr attributes, OpaqueProperties properties, RegionRange regions,
    SmallVectorImpl<Type> &types) {
  Adaptor adaptor(operands, attributes, properties, regions);
  auto type = tensorOf(operands[0]);
  if (type.getRank() != 2)
    return emitOptionalError(location,
                             "the operand is not [N, features]: ", type);
  types.push_back(RankedTensorType::get(
      {type.getDimSize(0), static_cast<int64_t>(adaptor.getTargetCount())},
      type.getElementType()));
  return success();
}

/// Whether children and roots are nodes behind \p after, or leaves.
static LogicalResult verifyChildren(TreeEnsembleOp op, ArrayRef<int32_t> list,
                                    StringRef name, bool areChildren) {
  const auto nodes = static_cast<int64_t>(op.getFeatures().size()),
             leaves = static_cast<int64_t>(op.getLeafStarts().size()) - 1;
  for (auto [i, child] : llvm::enumerate(list)) {
    if (child < 0 ? ~child >= leaves : child >= nodes)
      return op.emitOpError()
             << name << "[" << i << "] is " << child << ", but there are "
             << nodes << " nodes and " << leaves << " leaves";
    if (areChildren && child >= 0 && child <= static_cast<int64_t>(i))
      return op.emitOpError() << name << "[" << i << "] is " << child
                              << ", which does not follow its parent";
  }
  return success();
}

static LogicalResult verifyNodes(TreeEnsembleOp op) {
  const size_t nodes = op.getFeatures().size();
  if (op.getThresholds().size() != nodes || op.getModes().size() != nodes ||
      op.getTrueChildren().size() != nodes ||
      op.getFalseChildren().size() != nodes)
    return op.emitOpError("features, thresholds, modes, true_children and "
                          "false_children differ in length");
  const int64_t features = tensorOf(op.getOperand()).getDimSize(1);
  for (auto [i, feature] : llvm::enumerate(op.getFeatures()))
    if (feature < 0 ||
        (!ShapedType::isDynamic(features) && feature >= features))
      return op.emitOpError("features[")
             << i << "] is " << feature << ", of " << features << " features";
  constexpr auto last = static_cast<int8_t>(TreeMode::NotEqual);
  for (auto [i, mode] : llvm::enumerate(op.getModes()))
    if (mode < 0 || (mode & ~treeHoldsForNaN) > last)
      return op.emitOpError("modes[")
             << i << "] is " << int(mode) << ", neither 0 to 5 nor 8 to 13";
  return success();
}

static LogicalResult verifyLeaves(TreeEnsembleOp op) {
  ArrayRef<int32_t> starts = op.getLeafStarts();
  if (op.getTargets().size() != op.getWeights().size())
    return op.emitOpError("targets and weights differ in length");
  if (starts.empty() || starts.front() != 0 || !llvm::is_sorted(starts) ||
      starts.back() != static_cast<int64_t>(op.getTargets().size()))
    return op.emitOpError("leaf_starts does not ascend from 0 to the number of "
                          "weights");
  const auto count = static_cast<int64_t>(op.getTargetCount());
  for (auto [i, target] : llvm::enumerate(op.getTargets()))
    if (target < 0 || target >= count)
      return op.emitOpError("targets[")
             << i << "] is " << target << ", of " << count << " targets";
  return success();
}

LogicalResult TreeEnsembleOp::verify() {
  if (!llvm::is_contained({"sum", "average", "minimum", "maximum"},
                          getAggregate()))
    return emitOpError("aggregate is \"")
           << getAggregate()
           << "\", not \"sum\", \"average\", \"minimum\" or \"maximum\"";
  if (getRoots().empty())
    return emitOpError("there are no trees");
  constexpr uint64_t most = uint64_t(1) << 30;
  if (getTargetCount() > uint64_t(mostTreeTargets))
    return emitOpError("there are ")
           << getTargetCount() << " targets, more than " << mostTreeTargets;
  if (getFeatures().size() > most)
    return emitOpError("there are too many nodes");
  if (failed(verifyLeaves(*this)) || failed(verifyNodes(*this)))
    return failure();
  if (failed(verifyChildren(*this, getTrueChildren(), "true_children", true)) ||
      failed(
          verifyChildren(*this, getFalseChildren(), "false_children", true)) ||
      failed(verifyChildren(*this, getRoots(), "roots", false)))
    return failure();
  return success();
}

FailureOr<SmallVector<Value>> TreeEnsembleOp::decompose(OpBuilder &builder) {
  std::optional<TreeTables> tables = treeTablesOf(*this);
  if (!tables)
    return failure();
  TensorBuilder emit(builder, getLoc());
  // Then there is no element to gather.
  if (tensorOf(getOperand()).getDimSize(0) == 0)
    return SmallVector<Value>{emit.splat(
        0, emit.sizes(getResult()), tensorOf(getResult()).getElementType())};
  TreeWalk walk{tables->layout, getAggregate(),
                static_cast<int64_t>(getTargetCount())};
  walk.nodes = tableConstant(emit, ElementType::I64, tables->nodes);
  walk.roots = tableConstant(emit, ElementType::I32, tables->roots);
  walk.targetStarts = tables->targetStarts;
  if (tables->layout.hasRows)
    walk.weights = tableConstant(emit, ElementType::F64, tables->weights);
  return SmallVector<Value>{emit.convert(
      walk.build(emit, getOperand()), tensorOf(getResult()).getElementType())};
}

} // namespace sinter::nn
