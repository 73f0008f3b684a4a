//===- Einsum.cpp - einsum, unary_einsum, torch_index_select --------------===//

#include "graph/stablehlo/Einsum.h"
#include "graph/stablehlo/StablehloOps.h"
#include "interpreter/Evaluation.h"
#include "interpreter/Numbers.h"
#include "interpreter/Products.h"
#include "interpreter/Strided.h"

#include <algorithm>

using namespace mlir;

namespace sinter::interpreter {

//===----------------------------------------------------------------------===//
// Labels
//===----------------------------------------------------------------------===//

namespace {

/// The labels of dimensions: letters.
using Labels = SmallVector<char>;

/// A tensor whose dimensions have labels.
struct Labelled {
  Tensor tensor;
  Labels labels;

  bool has(char label) const { return llvm::is_contained(labels, label); }
  int64_t dimensionOf(char label) const {
    return llvm::find(labels, label) - labels.begin();
  }
};

} // namespace

/// The tensor with each label once: for equal ones the diagonal.
static Result<Labelled> withUniqueLabels(const Tensor &tensor,
                                         StringRef labels) {
  if (static_cast<int64_t>(labels.size()) != tensor.rank())
    return invalidModel("'" + labels.str() + "' does not label the dimensions");
  const std::vector<int64_t> strides = rowMajorStrides(tensor.shape());
  Labels unique;
  Shape shape;
  Layout from;
  for (auto [i, label] : llvm::enumerate(labels)) {
    const auto known = llvm::find(unique, label);
    if (known == unique.end()) {
      unique.push_back(label);
      shape.push_back(tensor.dim(i));
      from.strides.push_back(strides[i]);
      continue;
    }
    const auto dimension = known - unique.begin();
    if (shape[dimension] != tensor.dim(i))
      return invalidModel("dimensions of one label differ in size");
    from.strides[dimension] += strides[i];
  }
  if (unique.size() == labels.size())
    return Labelled{tensor, unique};
  Tensor result(tensor.type(), shape);
  copyBox(byteSize(tensor.type()), shape, result.mutableBytes(),
          rowMajor(shape), tensor.data(), from);
  return Labelled{result, unique};
}

/// The sum over the dimensions whose labels \p keep rejects.
template <typename Keep>
static Result<Labelled> summedOut(const Labelled &from, Keep keep) {
  DotDimensions dimensions;
  Labels kept;
  Shape shape;
  for (auto [i, label] : llvm::enumerate(from.labels)) {
    if (keep(label)) {
      kept.push_back(label);
      continue;
    }
    dimensions.rhsContracting.push_back(dimensions.lhsContracting.size());
    dimensions.lhsContracting.push_back(i);
    shape.push_back(from.tensor.dim(i));
  }
  if (shape.empty())
    return from;
  Tensor one(from.tensor.type(), {});
  storeReals(one, 0, std::vector<double>{1});
  Result<Tensor> sum = dotGeneral(from.tensor.type(), from.tensor,
                                  splat(one, shape), dimensions);
  if (!sum)
    return sum.takeError();
  return Labelled{std::move(*sum), kept};
}

/// The dimensions in the order of \p labels, all of which exist.
static Result<Tensors> inOrder(const Labelled &from, StringRef labels) {
  SmallVector<int64_t> permutation;
  for (char label : labels) {
    if (!from.has(label) ||
        llvm::is_contained(permutation, from.dimensionOf(label)))
      return invalidModel("the result's labels are not the operands', each "
                          "once");
    permutation.push_back(from.dimensionOf(label));
  }
  return single(transposed(from.tensor, permutation));
}

//===----------------------------------------------------------------------===//
// einsum
//===----------------------------------------------------------------------===//

/// The parsed text of an operation on \p operands.
static Result<stablehlo::Einsum> parsed(StringRef text, ValueRange operands) {
  std::optional<stablehlo::Einsum> einsum =
      stablehlo::parseEinsum(text, stablehlo::ranksOf(operands));
  if (!einsum)
    return invalidModel("cannot understand the einsum '" + text.str() + "'");
  return *einsum;
}

static Result<Tensors> evaluateUnaryEinsum(const Call &call) {
  Result<stablehlo::Einsum> einsum =
      parsed(call.as<stablehlo::UnaryEinsumOp>().getEinsumConfig(),
             call.op->getOperands());
  if (!einsum)
    return einsum.takeError();
  Result<Labelled> operand = withUniqueLabels(call[0], einsum->operands[0]);
  if (!operand)
    return operand.takeError();
  Result<Labelled> summed = summedOut(*operand, [&](char label) {
    return StringRef(einsum->result).contains(label);
  });
  if (!summed)
    return summed.takeError();
  return inOrder(*summed, einsum->result);
}

/// Removes dimensions of size 1 whose label has a larger size in the other
/// operand: they broadcast.
static void dropBroadcast(Labelled &operand, const Labelled &other) {
  Labels labels;
  Shape shape;
  for (auto [i, label] : llvm::enumerate(operand.labels)) {
    if (operand.tensor.dim(i) == 1 && other.has(label) &&
        other.tensor.dim(other.dimensionOf(label)) != 1)
      continue;
    labels.push_back(label);
    shape.push_back(operand.tensor.dim(i));
  }
  operand = {operand.tensor.reshaped(shape), labels};
}

static Result<Tensors> evaluateEinsum(const Call &call) {
  Result<stablehlo::Einsum> einsum = parsed(
      call.as<stablehlo::EinsumOp>().getEinsumConfig(), call.op->getOperands());
  if (!einsum)
    return einsum.takeError();
  const StringRef wanted = einsum->result;
  Labelled operands[2];
  for (size_t i = 0; i < 2; ++i) {
    Result<Labelled> unique = withUniqueLabels(call[i], einsum->operands[i]);
    if (!unique)
      return unique.takeError();
    operands[i] = std::move(*unique);
  }
  dropBroadcast(operands[0], operands[1]);
  dropBroadcast(operands[1], operands[0]);
  for (size_t i = 0; i < 2; ++i) {
    Result<Labelled> summed = summedOut(operands[i], [&](char label) {
      return operands[1 - i].has(label) || wanted.contains(label);
    });
    if (!summed)
      return summed.takeError();
    operands[i] = std::move(*summed);
  }
  DotDimensions dimensions;
  Labels result, leftFree, rightFree;
  for (auto [i, label] : llvm::enumerate(operands[0].labels)) {
    if (!operands[1].has(label)) {
      leftFree.push_back(label);
      continue;
    }
    const bool isBatching = wanted.contains(label);
    if (isBatching)
      result.push_back(label);
    (isBatching ? dimensions.lhsBatching : dimensions.lhsContracting)
        .push_back(i);
    (isBatching ? dimensions.rhsBatching : dimensions.rhsContracting)
        .push_back(operands[1].dimensionOf(label));
  }
  for (char label : operands[1].labels)
    if (!operands[0].has(label))
      rightFree.push_back(label);
  llvm::append_range(result, leftFree);
  llvm::append_range(result, rightFree);
  Result<Tensor> product = dotGeneral(call.resultElement(), operands[0].tensor,
                                      operands[1].tensor, dimensions);
  if (!product)
    return product.takeError();
  return inOrder({std::move(*product), result}, wanted);
}

//===----------------------------------------------------------------------===//
// torch_index_select
//===----------------------------------------------------------------------===//

/// The slices of dimension `dim` at the given indices, clamped to the range as
/// in gather.
static Result<Tensors> evaluateTorchIndexSelect(const Call &call) {
  auto op = call.as<stablehlo::TorchIndexSelectOp>();
  const Tensor &operand = call[0], &index = call[1];
  auto dim = static_cast<int64_t>(op.getDim());
  dim += dim < 0 ? operand.rank() : 0;
  const auto batchDims = static_cast<int64_t>(op.getBatchDims());
  if (dim < 0 || dim >= operand.rank() || batchDims < 0 || batchDims > dim ||
      batchDims > index.rank() || !isInteger(index.type()))
    return invalidModel("dim or batch_dims do not fit the operands");
  int64_t batches = 1, outer = 1, inner = 1, picks = 1;
  Shape shape;
  for (int64_t i = 0; i < dim; ++i) {
    if (i < batchDims && index.dim(i) != operand.dim(i))
      return invalidModel("the operands' batches differ");
    (i < batchDims ? batches : outer) *= operand.dim(i);
    shape.push_back(operand.dim(i));
  }
  for (int64_t i = batchDims; i < index.rank(); ++i) {
    picks *= index.dim(i);
    shape.push_back(index.dim(i));
  }
  for (int64_t i = dim + 1; i < operand.rank(); ++i) {
    inner *= operand.dim(i);
    shape.push_back(operand.dim(i));
  }
  const int64_t size = operand.dim(dim);
  if (size == 0 && elementCount(shape) != 0)
    return invalidModel("dimension " + std::to_string(dim) +
                        " of the operand has no elements");
  return produce(operand.type(), shape, [&](Tensor &result) {
    if (result.size() == 0)
      return;
    const size_t bytes = inner * byteSize(operand.type());
    const std::vector<int64_t> indices = integers(index);
    for (int64_t b = 0; b < batches; ++b)
      for (int64_t o = 0; o < outer; ++o)
        for (int64_t p = 0; p < picks; ++p) {
          const int64_t picked =
              std::clamp<int64_t>(indices[b * picks + p], 0, size - 1);
          std::memcpy(
              result.mutableBytes() + ((b * outer + o) * picks + p) * bytes,
              operand.data() + ((b * outer + o) * size + picked) * bytes,
              bytes);
        }
  });
}

void registerEinsum(Registry &registry) {
  registry.add<stablehlo::EinsumOp>(evaluateEinsum);
  registry.add<stablehlo::UnaryEinsumOp>(evaluateUnaryEinsum);
  registry.add<stablehlo::TorchIndexSelectOp>(evaluateTorchIndexSelect);
}

} // namespace sinter::interpreter
