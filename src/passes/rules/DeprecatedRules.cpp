#include "graph/stablehlo/StablehloOps.h"
#include "passes/Matching.h"
#include "passes/RuleTables.h"

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter {

/// The decomposition that an operation defines, if it has exactly its types.
template <typename Op> static Values decomposed(Op op, OpBuilder &builder) {
  FailureOr<SmallVector<Value>> values = op.decompose(builder);
  if (failed(values) || values->size() != op->getNumResults())
    return {};
  return Values(values->begin(), values->end());
}

/// With its full size, the dimension does not change.
static Value setSizeSame(SetDimensionSizeOp op, OpBuilder &) {
  auto type = tensorOf(op.getOperand());
  std::optional<APInt> size = integerSplat(op.getSize());
  bool isSame = size && type == op.getType() && type.hasStaticShape() &&
                size->getSExtValue() == type.getDimSize(op.getDimension());
  return isSame ? Value(op.getOperand()) : Value();
}

static Value broadcastBroadcast(DynamicBroadcastInDimOp op,
                                OpBuilder &builder) {
  auto inner = op.getOperand().getDefiningOp<DynamicBroadcastInDimOp>();
  if (!inner)
    return {};
  SmallVector<int64_t> both;
  for (int64_t dimension : inner.getBroadcastDimensions())
    both.push_back(op.getBroadcastDimensions()[dimension]);
  return builder.create<DynamicBroadcastInDimOp>(
      op.getLoc(), op.getType(), inner.getOperand(), op.getOutputDimensions(),
      builder.getDenseI64ArrayAttr(both), DenseI64ArrayAttr(),
      DenseI64ArrayAttr());
}

static Value elementOfTuple(GetTupleElementOp op, OpBuilder &) {
  auto tuple = op.getOperand().getDefiningOp<TupleOp>();
  return tuple && op.getIndex() < tuple.getVal().size()
             ? tuple.getVal()[op.getIndex()]
             : Value();
}

/// A tuple of all elements of one tuple, in their order.
static Value tupleOfElements(TupleOp op, OpBuilder &) {
  Value whole;
  for (auto [index, value] : llvm::enumerate(op.getVal())) {
    auto element = value.getDefiningOp<GetTupleElementOp>();
    if (!element || element.getIndex() != index ||
        (whole && element.getOperand() != whole))
      return {};
    whole = element.getOperand();
  }
  return whole && whole.getType() == op.getType() ? whole : Value();
}

RuleTable deprecatedRules() {
  static const std::vector<RewriteRule> rules = {
      rule<GetTupleElementOp, elementOfTuple>(
          "tuple-element", "get_tuple_element(tuple(x, y), 1) -> y"),
      rule<TupleOp, tupleOfElements>("tuple-elements",
                                     "tuple(all elements of x) -> x"),
      rule<DotOp, decomposed<DotOp>>("dot-to-dot-general",
                                     "dot(x, y) -> dot_general(x, y)"),
      rule<BroadcastOp, decomposed<BroadcastOp>>(
          "broadcast-to-in-dim", "broadcast(x) -> broadcast_in_dim(x)"),
      rule<CreateTokenOp, decomposed<CreateTokenOp>>(
          "create-token-to-after-all", "create_token() -> after_all()"),
      rule<CrossReplicaSumOp, decomposed<CrossReplicaSumOp>>(
          "cross-replica-sum-to-all-reduce",
          "cross-replica-sum(x) -> all_reduce(x, add)"),
      rule<MapOp, decomposed<MapOp>>("map-inline",
                                     "map(x, y) {return a + b} -> add(x, y)"),
      rule<EinsumOp, decomposed<EinsumOp>>(
          "einsum-to-dot-general",
          "einsum(x, y, \"ij,jk->ik\") -> dot_general(x, y)"),
      rule<UnaryEinsumOp, decomposed<UnaryEinsumOp>>(
          "unary-einsum-to-reduce", "unary_einsum(x, \"ij->i\") -> reduce(x)"),
      rule<TorchIndexSelectOp, decomposed<TorchIndexSelectOp>>(
          "torch-index-select-to-gather",
          "torch_index_select(x, i) -> gather(x, i)"),
      rule<DynamicPadOp, decomposed<DynamicPadOp>>(
          "dynamic-pad-constant",
          "dynamic_pad(x, v, [1], [1], [0]) -> pad(x, v)"),
      rule<DynamicGatherOp, decomposed<DynamicGatherOp>>(
          "dynamic-gather-constant",
          "dynamic_gather(x, i, [1, 3]) -> gather(x, i)"),
      rule<DynamicConvOp, decomposed<DynamicConvOp>>(
          "dynamic-conv-constant",
          "dynamic_conv(x, k, [[1, 1]]) -> convolution(x, k)"),
      rule<DynamicBroadcastInDimOp, broadcastBroadcast>(
          "dynamic-broadcast-broadcast",
          "dynamic_broadcast_in_dim(dynamic_broadcast_in_dim(x)) -> "
          "dynamic_broadcast_in_dim(x)"),
      rule<SetDimensionSizeOp, setSizeSame>(
          "set-dimension-size-same",
          "set_dimension_size(x : 2x3, 3, dim 1) -> x"),
  };
  return {"Tuples, deprecated and dynamic operations", rules};
}

} // namespace sinter
