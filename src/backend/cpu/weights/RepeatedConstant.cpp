#include "backend/cpu/weights/RepeatedConstant.h"

#include "backend/cpu/weights/ComputeWeights.h"
#include "graph/Constants.h"
#include "graph/Types.h"
#include "graph/stablehlo/StablehloOps.h"

using namespace mlir;

namespace sinter::cpu {

using Digits = RepeatedConstant::Digits;

static int64_t countOf(ArrayRef<RepeatedConstant::Digit> digits) {
  int64_t count = 1;
  for (const RepeatedConstant::Digit &digit : digits)
    count *= digit.size;
  return count;
}

/// \p tensor, rounded to \p element.
static std::optional<Tensor> convertedTo(const Tensor &tensor, Type element) {
  std::optional<ElementType> type = elementTypeOf(element);
  if (!type || isComplex(*type) || isComplex(tensor.type()))
    return std::nullopt;
  SmallVector<double> numbers;
  numbers.reserve(tensor.size());
  for (int64_t i = 0; i < tensor.size(); ++i)
    numbers.push_back(tensor.toDouble(i));
  return tensorOfDoubles(*type, tensor.shape(), numbers);
}

/// \p tensor, of \p shape, without repetition.
RepeatedConstant RepeatedConstant::whole(const Tensor &tensor,
                                         ArrayRef<int64_t> shape) {
  RepeatedConstant result;
  result.constant = tensor;
  result.sizes = llvm::to_vector(shape);
  result.dims.resize(shape.size());
  // All elements share one value, or each has its own.
  const bool isOne = tensor.size() == 1;
  int64_t stride = isOne ? 0 : 1;
  for (size_t dim = shape.size(); dim-- > 0;) {
    if (shape[dim] != 1)
      result.dims[dim] = {{shape[dim], stride}};
    stride *= shape[dim];
  }
  return result;
}

std::optional<RepeatedConstant> RepeatedConstant::of(Value value) {
  constexpr size_t mostOperations = 64;
  constexpr int64_t leastRepetition = 8;
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape())
    return std::nullopt;
  SmallVector<Operation *> path;
  Value source = value;
  std::optional<double> number;
  while (!(number = splatNumber(source)) &&
         !source.getDefiningOp<stablehlo::ConstantOp>()) {
    Operation *op = source.getDefiningOp();
    if (!op || path.size() == mostOperations)
      return std::nullopt;
    if (op->getNumOperands() != 1)
      break;
    path.push_back(op);
    source = op->getOperand(0);
  }
  std::optional<ElementType> element =
      elementTypeOf(tensorOf(source).getElementType());
  if (!element || isComplex(*element))
    return std::nullopt;
  // The converted constant could be the weights themselves.
  auto isConversion = [](Operation *op) {
    return isa<stablehlo::ConvertOp>(op);
  };
  const bool isRepeated = number || tensorOf(source).getNumElements() <=
                                        type.getNumElements() / leastRepetition;
  if (!isRepeated && (!source.getDefiningOp<stablehlo::ConstantOp>() ||
                      llvm::any_of(path, isConversion)))
    return std::nullopt;
  std::optional<Tensor> tensor = number
                                     ? tensorOfDoubles(*element, {1}, {*number})
                                     : computedWeight(source);
  if (!tensor)
    return std::nullopt;
  std::optional<RepeatedConstant> result =
      whole(*tensor, tensorOf(source).getShape());
  for (Operation *op : llvm::reverse(path)) {
    if (!isa<stablehlo::ConvertOp>(op)) {
      result = result->through(op);
    } else if (auto numbers =
                   convertedTo(result->constant,
                               tensorOf(op->getResult(0)).getElementType())) {
      result->constant = std::move(*numbers);
    } else {
      return std::nullopt;
    }
    if (!result)
      return std::nullopt;
  }
  return result;
}

std::optional<RepeatedConstant> RepeatedConstant::through(Operation *op) const {
  ArrayRef<int64_t> shape = tensorOf(op->getResult(0)).getShape();
  RepeatedConstant result;
  result.constant = constant;
  result.sizes = llvm::to_vector(shape);
  result.dims.resize(shape.size());
  if (auto broadcast = dyn_cast<stablehlo::BroadcastInDimOp>(op)) {
    for (auto [dim, size] : llvm::enumerate(shape))
      if (size != 1)
        result.dims[dim] = {{size, 0}};
    for (auto [from, to] : llvm::enumerate(broadcast.getBroadcastDimensions()))
      if (sizes[from] != 1)
        result.dims[to] = dims[from];
    return result;
  }
  if (auto transpose = dyn_cast<stablehlo::TransposeOp>(op)) {
    for (auto [to, from] : llvm::enumerate(transpose.getPermutation()))
      result.dims[to] = dims[from];
    return result;
  }
  if (auto slice = dyn_cast<stablehlo::SliceOp>(op)) {
    auto isAll = [](ArrayRef<int64_t> list, int64_t number) {
      return llvm::all_of(list, [&](int64_t each) { return each == number; });
    };
    if (!isAll(slice.getStartIndices(), 0) || !isAll(slice.getStrides(), 1))
      return std::nullopt;
    result.dims = dims;
    return result;
  }
  if (isa<stablehlo::ReshapeOp>(op))
    return reshaped(shape);
  return std::nullopt;
}

/// Regroups digits from the innermost on into the new dimensions.
std::optional<RepeatedConstant>
RepeatedConstant::reshaped(ArrayRef<int64_t> shape) const {
  Digits left;
  for (auto [size, digits] : llvm::zip_equal(sizes, dims)) {
    if (countOf(digits) != size)
      return std::nullopt;
    llvm::append_range(left, digits);
  }
  RepeatedConstant result;
  result.constant = constant;
  result.sizes = llvm::to_vector(shape);
  result.dims.resize(shape.size());
  for (size_t dim = shape.size(); dim-- > 0;) {
    Digits &digits = result.dims[dim];
    for (int64_t wanted = shape[dim]; wanted > 1;) {
      if (left.empty() || left.back().size == 0)
        return std::nullopt;
      Digit &inner = left.back();
      if (wanted % inner.size == 0) {
        digits.insert(digits.begin(), inner);
        wanted /= inner.size;
        left.pop_back();
        continue;
      }
      if (inner.size % wanted != 0)
        return std::nullopt;
      digits.insert(digits.begin(), {wanted, inner.stride});
      inner = {inner.size / wanted, inner.stride * wanted};
      wanted = 1;
    }
  }
  return result;
}

int64_t RepeatedConstant::size() const {
  int64_t count = 1;
  for (int64_t size : sizes)
    count *= size;
  return count;
}

std::optional<Digits>
RepeatedConstant::along(ArrayRef<int64_t> dimensions) const {
  Digits digits;
  for (int64_t dim : dimensions) {
    if (dimensions.size() > 1 && countOf(dims[dim]) != sizes[dim])
      return std::nullopt;
    llvm::append_range(digits, dims[dim]);
  }
  return digits;
}

int64_t RepeatedConstant::offsetOf(ArrayRef<Digit> digits, int64_t index) {
  int64_t offset = 0;
  for (const Digit &digit : llvm::reverse(digits)) {
    offset += index % digit.size * digit.stride;
    index /= digit.size;
  }
  return offset;
}

int64_t RepeatedConstant::repetition(ArrayRef<Digit> digits) {
  int64_t count = 1;
  for (const Digit &digit : llvm::reverse(digits)) {
    if (digit.stride != 0)
      break;
    count *= digit.size;
  }
  return count;
}

} // namespace sinter::cpu
