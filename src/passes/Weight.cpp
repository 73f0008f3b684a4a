#include "passes/Weight.h"

#include "graph/Constants.h"
#include "graph/stablehlo/StablehloOps.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Groups.h"
#include "passes/Matching.h"
#include "runtime/ElementDispatch.h"
#include <numeric>

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter {

/// \p indices after a rearrangement: element i of the result was element
/// `from(index of i)` of the operand.
static std::vector<int64_t> rearrange(Operation *op,
                                      const std::vector<int64_t> &indices) {
  auto to = tensorOf(op->getResult(0));
  SmallVector<int64_t> from = stridesOf(tensorOf(op->getOperand(0)).getShape());
  int64_t offset = 0;
  SmallVector<int64_t> steps(from);
  if (auto transpose = dyn_cast<TransposeOp>(op)) {
    for (auto [index, dimension] : llvm::enumerate(transpose.getPermutation()))
      steps[index] = from[dimension];
  } else {
    for (int64_t dimension : cast<ReverseOp>(op).getDimensions()) {
      offset += (to.getDimSize(dimension) - 1) * from[dimension];
      steps[dimension] = -from[dimension];
    }
  }
  std::vector<int64_t> result(indices.size());
  SmallVector<int64_t> index(to.getRank(), 0);
  for (size_t i = 0; i < indices.size(); ++i) {
    int64_t flat = offset;
    for (int64_t d = 0; d < to.getRank(); ++d)
      flat += index[d] * steps[d];
    result[i] = indices[flat];
    for (int64_t d = to.getRank() - 1; d >= 0; --d) {
      if (++index[d] < to.getDimSize(d))
        break;
      index[d] = 0;
    }
  }
  return result;
}

std::optional<Weight> Weight::find(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape() || !isa<FloatType>(type.getElementType()))
    return std::nullopt;
  Weight weight;
  weight.seenShape = Shape(type.getShape());
  Value root = value;
  while (isa_and_nonnull<ReshapeOp, TransposeOp, ReverseOp>(
      root.getDefiningOp())) {
    weight.chain.push_back(root.getDefiningOp());
    root = root.getDefiningOp()->getOperand(0);
  }
  std::reverse(weight.chain.begin(), weight.chain.end());
  std::optional<Tensor> tensor = constantTensor(root);
  if (!tensor) {
    // Any other operation on constants: its result is the array.
    std::optional<ElementType> element = elementTypeOf(type.getElementType());
    if (!element || type.getNumElements() == 0 || !followsFromConstants(value))
      return std::nullopt;
    return computed(value, *element, [value] { return constantValue(value); });
  }
  weight.sourceName = constantName(root).str();
  if (tensor->size() == 0)
    return std::nullopt;
  weight.source = std::move(*tensor);
  weight.elementType = weight.source.type();
  if (llvm::all_of(weight.chain, llvm::IsaPred<ReshapeOp>))
    return weight;
  weight.places.resize(weight.source.size());
  std::iota(weight.places.begin(), weight.places.end(), 0);
  for (Operation *op : weight.chain)
    if (!isa<ReshapeOp>(op))
      weight.places = rearrange(op, weight.places);
  return weight;
}

Weight Weight::computed(Value value, ElementType type,
                        std::function<std::optional<Tensor>()> compute) {
  Weight weight;
  weight.seenShape = Shape(tensorOf(value).getShape());
  weight.sourceName = constantName(value).str();
  weight.elementType = type;
  weight.compute = std::move(compute);
  return weight;
}

std::optional<std::vector<double>> Weight::numbers() const {
  const std::optional<Tensor> all = values();
  if (!all)
    return std::nullopt;
  std::vector<double> result(all->size());
  dispatch(all->type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (!isStdComplex<T>)
      for (int64_t i = 0; i < all->size(); ++i)
        result[i] = static_cast<double>(all->at<T>(sourceIndex(i)));
  });
  return result;
}

Value Weight::rebuild(OpBuilder &builder, Location location,
                      const Tensor &values, StringRef name) const {
  Value value = makeConstant(builder, location, values, name);
  for (Operation *op : chain) {
    IRMapping mapping;
    mapping.map(op->getOperand(0), value);
    value = cloneApart(builder, op, mapping)->getResult(0);
  }
  return value;
}

ChannelOf::ChannelOf(const ChannelFold &fold, ArrayRef<int64_t> shape)
    : size(shape[fold.weightDim]) {
  SmallVector<int64_t> strides = stridesOf(shape);
  stride = strides[fold.weightDim];
  if (fold.groupDim && fold.groups > 1) {
    groups = fold.groups;
    groupStride = strides[*fold.groupDim] * (shape[*fold.groupDim] / groups);
  }
}

} // namespace sinter
