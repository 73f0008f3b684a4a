// Decompositions of deprecated operations into their replacements.

#include "graph/Quantization.h"
#include "graph/Values.h"
#include "graph/nn/TensorBuilder.h"
#include "graph/stablehlo/Einsum.h"
#include "mlir/Dialect/Quant/QuantTypes.h"

using namespace mlir;
using sinter::nn::isStatic;
using sinter::nn::TensorBuilder;

namespace sinter::stablehlo {

FailureOr<Values> BroadcastOp::decompose(OpBuilder &builder) {
  if (!isStatic(*this))
    return failure();
  SmallVector<int64_t> places;
  int64_t before = getBroadcastSizes().size();
  for (int64_t i = 0; i < tensorOf(getOperand()).getRank(); ++i)
    places.push_back(before + i);
  return Values{builder.create<BroadcastInDimOp>(
      getLoc(), getType(), getOperand(), builder.getDenseI64ArrayAttr(places))};
}

FailureOr<Values> CreateTokenOp::decompose(OpBuilder &builder) {
  return Values{builder.create<AfterAllOp>(getLoc(), ValueRange())};
}

FailureOr<Values> CrossReplicaSumOp::decompose(OpBuilder &builder) {
  OperationState state(getLoc(), AllReduceOp::getOperationName());
  state.addOperands(getOperand());
  state.addTypes(getType());
  state.addAttribute("replica_groups", getReplicaGroupsAttr());
  TensorBuilder emit(builder, getLoc());
  SmallVector<Type> pair(2, getOperand().getType());
  emit.fill(*state.addRegion(), pair,
            [](TensorBuilder &emit, ValueRange arguments) {
              return Values{emit.add(arguments[0], arguments[1])};
            });
  return Values{builder.create(state)->getResult(0)};
}

static bool isQuantised(Type type) {
  return isa<quant::QuantizedType>(getElementTypeOrSelf(type));
}

/// Whether a quantised dot has no equivalent dot_general, which has more
/// constraints, (C13) to (C20).
static bool isOwnQuantisedDot(DotOp op) {
  auto elementOf = [](Value value) {
    return dyn_cast<quant::QuantizedType>(
        getElementTypeOrSelf(value.getType()));
  };
  auto lhs = elementOf(op.getLhs()), rhs = elementOf(op.getRhs()),
       result = elementOf(op.getResult());
  if (!lhs && !rhs && !result)
    return false;
  if (!lhs || !rhs || !result || lhs.getStorageType() != rhs.getStorageType() ||
      lhs.isSigned() != rhs.isSigned() ||
      lhs.getExpressedType() != rhs.getExpressedType() ||
      lhs.getExpressedType() != result.getExpressedType())
    return true;
  if (auto perAxis = dyn_cast<quant::UniformQuantizedPerAxisType>(rhs))
    return perAxis.getQuantizedDimension() == 0 ||
           llvm::any_of(perAxis.getZeroPoints(),
                        [](int64_t zero) { return zero != 0; });
  auto uniform = dyn_cast<quant::UniformQuantizedType>(rhs);
  return !uniform || uniform.getZeroPoint() != 0 ||
         !isa<quant::UniformQuantizedType>(result);
}

FailureOr<Values> DotOp::decompose(OpBuilder &builder) {
  if (isOwnQuantisedDot(*this))
    return failure();
  int64_t last = tensorOf(getLhs()).getRank() - 1;
  auto numbers =
      DotDimensionNumbersAttr::get(getContext(), {}, {}, {last}, {0});
  return Values{builder.create<DotGeneralOp>(getLoc(), getType(), getLhs(),
                                             getRhs(), numbers,
                                             getPrecisionConfigAttr())};
}

//===----------------------------------------------------------------------===//
// Einsum
//===----------------------------------------------------------------------===//

namespace {
/// A value and the letters of its dimensions.
struct Labelled {
  Value value;
  std::string labels;
};
} // namespace

/// Sums over dimension \p dimension.
static void sumOver(TensorBuilder &emit, Labelled &term, size_t dimension) {
  term.value = emit.sum(term.value, {static_cast<int64_t>(dimension)});
  term.labels.erase(dimension, 1);
}

/// Keeps each letter once: elements off the diagonal are set to zero.
static void takeDiagonals(TensorBuilder &emit, Labelled &term) {
  for (size_t i = 0; i < term.labels.size(); ++i)
    for (size_t j = i + 1; j < term.labels.size();) {
      if (term.labels[i] != term.labels[j]) {
        ++j;
        continue;
      }
      auto type = tensorOf(term.value);
      Type index = emit.integerType(64);
      Value isDiagonal = emit.compare(ComparisonDirection::EQ,
                                      emit.iota(type.getShape(), i, index),
                                      emit.iota(type.getShape(), j, index));
      term.value = emit.select(isDiagonal, term.value, emit.splat(0, type));
      sumOver(emit, term, j);
    }
}

/// Sums over the letters that neither the result nor \p other has.
static void sumUnneeded(TensorBuilder &emit, Labelled &term, StringRef result,
                        StringRef other) {
  for (size_t i = term.labels.size(); i-- > 0;)
    if (!result.contains(term.labels[i]) && !other.contains(term.labels[i]))
      sumOver(emit, term, i);
}

/// Transposes the dimensions to the order of \p result.
static Value arrange(TensorBuilder &emit, const Labelled &term,
                     StringRef result) {
  SmallVector<int64_t> permutation;
  for (char label : result)
    permutation.push_back(term.labels.find(label));
  return emit.transpose(term.value, permutation);
}

/// A sum of quantised values is an integer sum times a factor, which no
/// operation on quantised tensors expresses; so quantised einsums are not
/// decomposed.
FailureOr<Values> UnaryEinsumOp::decompose(OpBuilder &builder) {
  std::optional<Einsum> einsum =
      parseEinsum(getEinsumConfig(), ranksOf(getOperand()));
  if (!einsum || !isStatic(*this) || isQuantised(getOperand().getType()) ||
      isQuantised(getType()))
    return failure();
  TensorBuilder emit(builder, getLoc());
  Labelled term{getOperand(), einsum->operands[0]};
  takeDiagonals(emit, term);
  sumUnneeded(emit, term, einsum->result, "");
  return Values{arrange(emit, term, einsum->result)};
}

FailureOr<Values> EinsumOp::decompose(OpBuilder &builder) {
  std::optional<Einsum> einsum =
      parseEinsum(getEinsumConfig(), ranksOf(getOperands()));
  if (!einsum || !isStatic(*this) ||
      llvm::any_of(getOperandTypes(), isQuantised) || isQuantised(getType()))
    return failure();
  TensorBuilder emit(builder, getLoc());
  Labelled lhs{getLhs(), einsum->operands[0]};
  Labelled rhs{getRhs(), einsum->operands[1]};
  takeDiagonals(emit, lhs);
  takeDiagonals(emit, rhs);
  sumUnneeded(emit, lhs, einsum->result, rhs.labels);
  sumUnneeded(emit, rhs, einsum->result, lhs.labels);
  // Letters of both operands are batching or contracting, the others free.
  SmallVector<int64_t> lhsBatch, rhsBatch, lhsContract, rhsContract, shape;
  std::string batch, lhsFree, rhsFree;
  SmallVector<int64_t> lhsSizes, rhsSizes;
  for (auto [i, label] : llvm::enumerate(lhs.labels)) {
    size_t place = rhs.labels.find(label);
    int64_t size = tensorOf(lhs.value).getDimSize(i);
    if (place == std::string::npos) {
      lhsFree += label;
      lhsSizes.push_back(size);
    } else if (StringRef(einsum->result).contains(label)) {
      batch += label;
      lhsBatch.push_back(i);
      rhsBatch.push_back(place);
      shape.push_back(size);
    } else {
      lhsContract.push_back(i);
      rhsContract.push_back(place);
    }
  }
  for (auto [i, label] : llvm::enumerate(rhs.labels))
    if (lhs.labels.find(label) == std::string::npos) {
      rhsFree += label;
      rhsSizes.push_back(tensorOf(rhs.value).getDimSize(i));
    }
  shape.append(lhsSizes);
  shape.append(rhsSizes);
  auto numbers = DotDimensionNumbersAttr::get(getContext(), lhsBatch, rhsBatch,
                                              lhsContract, rhsContract);
  auto type =
      RankedTensorType::get(shape, tensorOf(getResult()).getElementType());
  Labelled product{
      emit.make<DotGeneralOp>(type, lhs.value, rhs.value, numbers, ArrayAttr()),
      batch + lhsFree + rhsFree};
  return Values{arrange(emit, product, einsum->result)};
}

//===----------------------------------------------------------------------===//
// torch_index_select
//===----------------------------------------------------------------------===//

FailureOr<Values> TorchIndexSelectOp::decompose(OpBuilder &builder) {
  if (!isStatic(*this))
    return failure();
  auto operand = tensorOf(getOperand()), index = tensorOf(getIndex());
  int64_t dim = getDim();
  dim += dim < 0 ? operand.getRank() : 0;
  // An empty dimension has no slices.
  if (llvm::is_contained(operand.getShape(), 0)) {
    const bool isEmpty =
        llvm::is_contained(tensorOf(getResult()).getShape(), 0);
    if (!isEmpty || quantizedOf(getType()))
      return failure();
    return Values{
        TensorBuilder(builder, getLoc()).splat(0, tensorOf(getResult()))};
  }
  int64_t batch = getBatchDims(), indices = index.getRank() - batch;
  SmallVector<int64_t> batching, offsets, sizes(operand.getShape());
  for (int64_t i = 0; i < batch; ++i) {
    batching.push_back(i);
    sizes[i] = 1;
  }
  sizes[dim] = 1;
  for (int64_t i = batch; i < tensorOf(getResult()).getRank(); ++i)
    if (i < dim || i >= dim + indices)
      offsets.push_back(i);
  auto numbers = GatherDimensionNumbersAttr::get(
      getContext(), offsets, {dim}, batching, batching, {dim}, index.getRank());
  return Values{builder.create<GatherOp>(
      getLoc(), getType(), getOperand(), getIndex(), numbers,
      builder.getDenseI64ArrayAttr(sizes), BoolAttr())};
}

} // namespace sinter::stablehlo
