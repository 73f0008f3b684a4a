// Scaled dot-product attention: type inference, verification, decomposition
// into `stablehlo`.

#include "graph/Inference.h"
#include "graph/ProductPrecision.h"
#include "graph/nn/Wide.h"
#include "graph/stablehlo/Verify.h"

using namespace mlir;

namespace sinter::nn {

using stablehlo::differ;

/// Whether all operands have the same rank, at least 2.
static bool agreeInRank(ValueRange operands) {
  return llvm::all_of(operands, [&](Value operand) {
    return tensorOf(operand).getRank() >= 2 &&
           tensorOf(operand).getRank() == tensorOf(operands[0]).getRank();
  });
}

SINTER_INFER(AttentionOp) {
  auto query = tensorOf(operands[0]), value = tensorOf(operands[2]);
  if (!agreeInRank(operands))
    return emitOptionalError(location, "operands are not all of one rank, "
                                       "which is at least 2 (C1)");
  SmallVector<int64_t> shape(query.getShape());
  shape.back() = value.getShape().back();
  inferredReturnTypes.push_back(
      RankedTensorType::get(shape, query.getElementType()));
  return success();
}

LogicalResult AttentionOp::verify() {
  // This verifier runs before the check of inferred types.
  if (!agreeInRank(getOperands()))
    return emitOpError("operands are not all of one rank, which is at least 2 "
                       "(C1)");
  Type element = tensorOf(getQuery()).getElementType();
  for (Value operand : getOperands())
    if (tensorOf(operand).getElementType() != element)
      return emitOpError("operands differ in element type (C1)");
  ArrayRef<int64_t> query = tensorOf(getQuery()).getShape(),
                    key = tensorOf(getKey()).getShape(),
                    value = tensorOf(getValue()).getShape();
  size_t heads = query.size() - 2;
  if (differ(query[heads + 1], key[heads + 1]))
    return emitOpError("query and key differ in their last dimension (C2)");
  if (differ(key[heads], value[heads]))
    return emitOpError("key and value differ in their number of rows (C2)");
  for (size_t i = 0; i < heads; ++i) {
    if (differ(key[i], value[i]))
      return emitOpError("key and value differ in dimension ") << i << " (C3)";
    if (ShapedType::isDynamic(query[i]) || ShapedType::isDynamic(key[i]))
      continue;
    if (key[i] == 0 ? query[i] != 0 : query[i] % key[i] != 0)
      return emitOpError("the query's dimension ")
             << i << " is not a multiple of the key's (C4)";
  }
  if (key[heads] == 0)
    return emitOpError("there are no rows of keys (C6)");
  if (!getMask())
    return getChosen() ? emitOpError("there is no mask that is `chosen` (C7)")
                       : success();
  ArrayRef<int64_t> mask = tensorOf(getMask()).getShape();
  bool broadcasts = !differ(mask.back(), key[heads]);
  for (size_t i = 0; i <= heads; ++i)
    broadcasts &= mask[i] == 1 || !differ(mask[i], query[i]);
  if (!broadcasts)
    return emitOpError("the mask does not broadcast to the scores (C5)");
  return success();
}

/// The key or value with each head repeated for the query's heads that use it.
static Value repeatHeads(TensorBuilder &emit, Value x, const Sizes &query) {
  Sizes shape = emit.sizes(x);
  size_t heads = shape.size() - 2;
  if (shape.take_front(heads) == query.take_front(heads))
    return x;
  SmallVector<int64_t> dims;
  Sizes apart, joined(shape);
  for (size_t i = 0; i < shape.size(); ++i) {
    dims.push_back(apart.size());
    apart.push_back(shape[i]);
    if (i >= heads)
      continue;
    apart.push_back(shape[i] == Size(0) ? Size(1)
                                        : emit.quotient(query[i], shape[i]));
    joined[i] = query[i];
  }
  return emit.reshape(emit.broadcast(x, dims, apart), joined);
}

/// The causal mask: where row i attends to row j.
static Value causalMask(TensorBuilder &emit, const Sizes &scores) {
  Sizes shape = scores.take_back(2);
  Type index = emit.integerType(32);
  Value sees =
      emit.compare(stablehlo::ComparisonDirection::GE,
                   emit.iota(shape, 0, index), emit.iota(shape, 1, index));
  return emit.broadcastTrailing(sees, scores);
}

FailureOr<SmallVector<Value>> AttentionOp::decompose(OpBuilder &builder) {
  if (auto wide = decomposeInF32(*this, builder))
    return *wide;
  TensorBuilder emit(builder, getLoc());
  Sizes query = emit.sizes(getQuery());
  Value key = repeatHeads(emit, getKey(), query);
  Value value = repeatHeads(emit, getValue(), query);
  int64_t heads = query.size() - 2;
  SmallVector<int64_t> batching = llvm::to_vector(llvm::seq<int64_t>(0, heads));
  Type element = tensorOf(getQuery()).getElementType();
  auto product = [&](Value lhs, Value rhs, int64_t rhsContracting,
                     const Sizes &shape) -> Value {
    auto numbers = stablehlo::DotDimensionNumbersAttr::get(
        builder.getContext(), batching, batching, {heads + 1},
        {rhsContracting});
    Value result = emit.make<stablehlo::DotGeneralOp>(
        RankedTensorType::get(shape.shape(), element), lhs, rhs, numbers,
        ArrayAttr(), stablehlo::DotAlgorithmAttr());
    if (std::optional<Precision> asked = askedPrecision(*this))
      setPrecision(result.getDefiningOp(), *asked);
    return result;
  };
  Sizes scoresShape(query);
  scoresShape.back() = Size::of(key, heads);
  Value scores = product(getQuery(), key, heads + 1, scoresShape);
  if (double scale = getScale().convertToDouble(); scale != 1)
    scores = emit.mul(scores, scale);
  if (Value mask = getMask()) {
    Value added = emit.broadcastTrailing(mask, scoresShape);
    scores = getChosen()
                 ? emit.select(emit.compare(stablehlo::ComparisonDirection::EQ,
                                            added, emit.splatLike(0.0, added)),
                               scores, added)
                 : emit.add(scores, added);
  }
  if (getCausal())
    scores = emit.select(
        causalMask(emit, scoresShape), scores,
        emit.splatLike(-std::numeric_limits<double>::infinity(), scores));
  Sizes resultShape(query);
  resultShape.back() = Size::of(value, heads + 1);
  Value weights = emit.make<SoftmaxOp>(scores, ArrayRef<int64_t>{heads + 1});
  return SmallVector<Value>{product(weights, value, heads, resultShape)};
}

} // namespace sinter::nn
