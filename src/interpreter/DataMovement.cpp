//===- DataMovement.cpp - moves and concatenates elements -----------------===//

#include "graph/Constants.h"
#include "graph/stablehlo/StablehloOps.h"
#include "interpreter/Evaluation.h"
#include "interpreter/Numbers.h"
#include "interpreter/Strided.h"

#include <algorithm>
#include <limits>

using namespace mlir;

namespace sinter::interpreter {

static Result<Tensors> evaluateConstant(const Call &call) {
  std::optional<Tensor> value =
      toTensor(call.as<stablehlo::ConstantOp>().getValue());
  if (!value)
    return invalidModel("the value's bytes are missing or do not match its "
                        "type, or the element type is not supported");
  return single(*value);
}

/// The elements of \p from in \p shape, read by \p layout.
static Result<Tensors> rearranged(const Tensor &from, const Shape &shape,
                                  const Layout &layout) {
  return produce(from.type(), shape, [&](Tensor &result) {
    copyBox(byteSize(from.type()), shape, result.mutableBytes(),
            rowMajor(shape), from.data(), layout);
  });
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

static Result<Tensors> iota(ElementType type, const Shape &shape, size_t axis) {
  if (axis >= shape.size())
    return invalidModel("iota_dimension is not a dimension of the result");
  return produce(type, shape, [&](Tensor &result) {
    const AxisView view(shape, static_cast<int64_t>(axis));
    for (int64_t i = 0; i < result.size(); ++i) {
      const int64_t value[] = {i / view.inner % view.size};
      storeIntegers(result, i, value);
    }
  });
}

static Result<Tensors> evaluateIota(const Call &call) {
  auto op = call.as<stablehlo::IotaOp>();
  Result<Shape> shape = staticShape(call.resultType());
  if (!shape)
    return shape.takeError();
  return iota(call.resultElement(), *shape, op.getIotaDimension());
}

static Result<Tensors> evaluateDynamicIota(const Call &call) {
  auto op = call.as<stablehlo::DynamicIotaOp>();
  return iota(call.resultElement(), integers(call[0]), op.getIotaDimension());
}

static Result<Tensors> broadcastInDim(const Tensor &operand, const Shape &shape,
                                      ArrayRef<int64_t> dimensions) {
  const std::vector<int64_t> strides = rowMajorStrides(operand.shape());
  Layout from{0, std::vector<int64_t>(shape.size(), 0)};
  for (auto [i, dimension] : llvm::enumerate(dimensions)) {
    if (operand.dim(i) == 1)
      continue;
    if (operand.dim(i) != shape[dimension])
      return invalidModel(
          "dimension " + std::to_string(i) + " of the operand has size " +
          std::to_string(operand.dim(i)) + ", neither 1 nor the result's " +
          std::to_string(shape[dimension]));
    from.strides[dimension] = strides[i];
  }
  return rearranged(operand, shape, from);
}

static Result<Tensors> evaluateBroadcastInDim(const Call &call) {
  auto op = call.as<stablehlo::BroadcastInDimOp>();
  // A dynamic dimension of the result has the operand's size.
  Shape shape = toShape(call.resultType().getShape());
  for (auto [i, dimension] : llvm::enumerate(op.getBroadcastDimensions()))
    if (ShapedType::isDynamic(shape[dimension]))
      shape[dimension] = call[0].dim(i);
  return broadcastInDim(call[0], shape, op.getBroadcastDimensions());
}

static Result<Tensors> evaluateDynamicBroadcastInDim(const Call &call) {
  auto op = call.as<stablehlo::DynamicBroadcastInDimOp>();
  const Shape shape = integers(call[1]);
  ArrayRef<int64_t> dimensions = op.getBroadcastDimensions();
  if (static_cast<int64_t>(dimensions.size()) != call[0].rank() ||
      llvm::any_of(dimensions, [&](int64_t dimension) {
        return dimension < 0 || dimension >= static_cast<int64_t>(shape.size());
      }))
    return invalidModel("broadcast_dimensions are not dimensions of the "
                        "result, one for each of the operand");
  return broadcastInDim(call[0], shape, dimensions);
}

static Result<Tensors> reshape(const Tensor &operand, Shape shape) {
  if (elementCount(shape) != operand.size())
    return invalidModel("cannot reshape " +
                        toString(operand.type(), operand.shape()) + " to " +
                        toString(operand.type(), shape));
  return single(operand.reshaped(std::move(shape)));
}

static Result<Tensors> evaluateReshape(const Call &call) {
  // One dynamic dimension of the result follows from the others.
  Shape shape = toShape(call.resultType().getShape());
  auto open = std::ranges::find(shape, ShapedType::kDynamic);
  if (open != shape.end()) {
    *open = 1;
    std::optional<int64_t> others = elementCount(shape);
    if (!others || *others == 0 || call[0].size() % *others != 0)
      return invalidModel("the result's shape does not follow from the operand "
                          "of " +
                          toString(call[0].type(), call[0].shape()));
    *open = call[0].size() / *others;
  }
  return reshape(call[0], std::move(shape));
}

static Result<Tensors> evaluateDynamicReshape(const Call &call) {
  return reshape(call[0], integers(call[1]));
}

static Result<Tensors> evaluateGetDimensionSize(const Call &call) {
  auto op = call.as<stablehlo::GetDimensionSizeOp>();
  const int64_t size[] = {call[0].dim(op.getDimension())};
  return single(integerTensor(ElementType::I32, {}, size));
}

//===----------------------------------------------------------------------===//
// Moving
//===----------------------------------------------------------------------===//

static Result<Tensors> evaluateTranspose(const Call &call) {
  auto op = call.as<stablehlo::TransposeOp>();
  return single(transposed(call[0], op.getPermutation()));
}

static Result<Tensors> slice(const Tensor &operand, ArrayRef<int64_t> starts,
                             ArrayRef<int64_t> limits,
                             ArrayRef<int64_t> strides) {
  Layout from = rowMajor(operand.shape());
  Shape shape;
  if (starts.size() != limits.size() || starts.size() != strides.size() ||
      static_cast<int64_t>(starts.size()) != operand.rank())
    return invalidModel("start, limit and stride have not one element a "
                        "dimension");
  for (size_t i = 0; i < operand.shape().size(); ++i) {
    if (starts[i] < 0 || starts[i] > limits[i] || limits[i] > operand.dim(i) ||
        strides[i] < 1)
      return invalidModel("dimension " + std::to_string(i) +
                          ": not 0 <= start <= limit <= size, or the stride "
                          "is not positive");
    const int64_t reach = limits[i] - starts[i];
    shape.push_back(reach / strides[i] + (reach % strides[i] != 0));
    from.offset += starts[i] * from.strides[i];
    // The stride of a dimension of one element does not count, and may be huge.
    if (shape.back() > 1)
      from.strides[i] *= strides[i];
  }
  return rearranged(operand, shape, from);
}

static Result<Tensors> evaluateSlice(const Call &call) {
  auto op = call.as<stablehlo::SliceOp>();
  return slice(call[0], op.getStartIndices(), op.getLimitIndices(),
               op.getStrides());
}

static Result<Tensors> evaluateRealDynamicSlice(const Call &call) {
  return slice(call[0], integers(call[1]), integers(call[2]),
               integers(call[3]));
}

/// The scalars in \p indices, clamped so that a box of \p sizes from there lies
/// inside \p shape.
static Result<std::vector<int64_t>> clampedStart(ArrayRef<Tensor> indices,
                                                 const Shape &shape,
                                                 ArrayRef<int64_t> sizes) {
  std::vector<int64_t> starts;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (sizes[i] > shape[i])
      return invalidModel("dimension " + std::to_string(i) +
                          ": the slice is larger than the operand");
    int64_t start = integers(indices[i]).front();
    const int64_t last = shape[i] - sizes[i];
    // A ui64 beyond int64_t lies behind the end, too.
    if (indices[i].type() == ElementType::UI64 && start < 0)
      start = last;
    starts.push_back(std::clamp<int64_t>(start, 0, last));
  }
  return starts;
}

static Result<Tensors> evaluateDynamicSlice(const Call &call) {
  auto op = call.as<stablehlo::DynamicSliceOp>();
  ArrayRef<int64_t> sizes = op.getSliceSizes();
  Result<std::vector<int64_t>> starts =
      clampedStart(call.operands.drop_front(), call[0].shape(), sizes);
  if (!starts)
    return starts.takeError();
  std::vector<int64_t> limits = *starts;
  for (size_t i = 0; i < limits.size(); ++i)
    limits[i] += sizes[i];
  return slice(call[0], *starts, limits,
               std::vector<int64_t>(limits.size(), 1));
}

static Result<Tensors> evaluateDynamicUpdateSlice(const Call &call) {
  const Tensor &operand = call[0], &update = call[1];
  Result<std::vector<int64_t>> starts = clampedStart(
      call.operands.drop_front(2), operand.shape(), update.shape());
  if (!starts)
    return starts.takeError();
  const Shape box = update.shape();
  Layout to = rowMajor(operand.shape());
  for (size_t i = 0; i < starts->size(); ++i)
    to.offset += (*starts)[i] * to.strides[i];
  Tensor result = call.writable(0);
  copyBox(byteSize(result.type()), box, result.mutableBytes(), to,
          update.data(), rowMajor(box));
  return single(std::move(result));
}

/// Along one dimension of pad: which elements of the operand are kept, and the
/// index of the first in the result.
namespace {
struct PaddedDimension {
  int64_t first = 0, count = 0, place = 0;
};
} // namespace

/// Element i goes to low + i * step, if that is inside [0, size).
static PaddedDimension padDimension(int64_t count, int64_t low, int64_t step,
                                    int64_t size) {
  PaddedDimension result;
  if (low < 0)
    result.first = -low / step + (-low % step != 0);
  if (result.first >= count)
    return result;
  result.place = low + result.first * step;
  if (result.place < size)
    result.count =
        std::min(count - result.first, (size - 1 - result.place) / step + 1);
  return result;
}

/// The size of a padded dimension; nothing if it is negative or overflows.
static std::optional<int64_t> paddedSize(int64_t count, int64_t low,
                                         int64_t high, int64_t interior) {
  int64_t size;
  if (low == std::numeric_limits<int64_t>::min() ||
      __builtin_mul_overflow(std::max<int64_t>(count - 1, 0), interior,
                             &size) ||
      __builtin_add_overflow(size, count, &size) ||
      __builtin_add_overflow(size, low, &size) ||
      __builtin_add_overflow(size, high, &size) || size < 0)
    return std::nullopt;
  return size;
}

static Result<Tensors> pad(const Tensor &operand, const Tensor &value,
                           ArrayRef<int64_t> low, ArrayRef<int64_t> high,
                           ArrayRef<int64_t> interior) {
  const auto rank = static_cast<size_t>(operand.rank());
  if (low.size() != rank || high.size() != rank || interior.size() != rank)
    return invalidModel("the padding has not one element a dimension");
  Shape shape;
  for (size_t i = 0; i < rank; ++i) {
    std::optional<int64_t> size =
        paddedSize(operand.dim(i), low[i], high[i], interior[i]);
    if (!size || interior[i] < 0)
      return invalidModel("dimension " + std::to_string(i) +
                          ": the padded size is negative or too large");
    shape.push_back(*size);
  }
  if (Result<void> ok = checkSize(operand.type(), shape); !ok)
    return ok.takeError();

  Shape box;
  Layout from = rowMajor(operand.shape()), to = rowMajor(shape);
  for (size_t i = 0; i < rank; ++i) {
    // Between fewer than two elements there is nothing to pad.
    const int64_t step = operand.dim(i) > 1 ? interior[i] + 1 : 1;
    const PaddedDimension padded =
        padDimension(operand.dim(i), low[i], step, shape[i]);
    box.push_back(padded.count);
    from.offset += padded.first * from.strides[i];
    to.offset += padded.place * to.strides[i];
    if (padded.count > 1)
      to.strides[i] *= step;
  }
  Tensor result = splat(value, shape);
  copyBox(byteSize(operand.type()), box, result.mutableBytes(), to,
          operand.data(), from);
  return single(std::move(result));
}

static Result<Tensors> evaluatePad(const Call &call) {
  auto op = call.as<stablehlo::PadOp>();
  return pad(call[0], call[1], op.getEdgePaddingLow(), op.getEdgePaddingHigh(),
             op.getInteriorPadding());
}

static Result<Tensors> evaluateDynamicPad(const Call &call) {
  return pad(call[0], call[1], integers(call[2]), integers(call[3]),
             integers(call[4]));
}

/// Elements beyond the new size are dropped; new ones, up to the bound, are
/// zero.
static Result<Tensors> evaluateSetDimensionSize(const Call &call) {
  auto op = call.as<stablehlo::SetDimensionSizeOp>();
  const Tensor &operand = call[0];
  const auto axis = static_cast<size_t>(op.getDimension());
  const int64_t size = integers(call[1]).front();
  Shape shape = operand.shape();
  if (axis >= shape.size() || size < 0)
    return invalidModel("there is no such dimension, or the size is negative");
  Shape box = shape;
  box[axis] = std::min(box[axis], size);
  shape[axis] = size;
  return produce(operand.type(), shape, [&](Tensor &result) {
    copyBox(byteSize(operand.type()), box, result.mutableBytes(),
            rowMajor(shape), operand.data(), rowMajor(operand.shape()));
  });
}

/// New dimensions come first.
static Result<Tensors> evaluateBroadcast(const Call &call) {
  Shape shape = toShape(call.as<stablehlo::BroadcastOp>().getBroadcastSizes());
  SmallVector<int64_t> dimensions;
  for (int64_t size : call[0].shape()) {
    dimensions.push_back(static_cast<int64_t>(shape.size()));
    shape.push_back(size);
  }
  return broadcastInDim(call[0], shape, dimensions);
}

static Result<Tensors> evaluateReverse(const Call &call) {
  auto op = call.as<stablehlo::ReverseOp>();
  Layout from = rowMajor(call[0].shape());
  for (int64_t dimension : op.getDimensions()) {
    from.offset += (call[0].dim(dimension) - 1) * from.strides[dimension];
    from.strides[dimension] = -from.strides[dimension];
  }
  return rearranged(call[0], call[0].shape(), from);
}

static Result<Tensors> evaluateConcatenate(const Call &call) {
  const size_t axis = call.as<stablehlo::ConcatenateOp>().getDimension();
  Shape shape = call[0].shape();
  for (const Tensor &input : call.operands.drop_front()) {
    for (size_t i = 0; i < shape.size(); ++i)
      if (i != axis && input.dim(i) != shape[i])
        return invalidModel("inputs differ in dimension " + std::to_string(i));
    if (__builtin_add_overflow(shape[axis], input.dim(axis), &shape[axis]))
      return invalidModel("the result is too large");
  }
  return produce(call[0].type(), shape, [&](Tensor &result) {
    Layout to = rowMajor(shape);
    for (const Tensor &input : call.operands) {
      copyBox(byteSize(input.type()), input.shape(), result.mutableBytes(), to,
              input.data(), rowMajor(input.shape()));
      to.offset += input.dim(axis) * to.strides[axis];
    }
  });
}

void registerDataMovement(Registry &registry) {
  using namespace stablehlo;
  registry.add<ConstantOp>(evaluateConstant);
  registry.add<IotaOp>(evaluateIota);
  registry.add<DynamicIotaOp>(evaluateDynamicIota);
  registry.add<BroadcastInDimOp>(evaluateBroadcastInDim);
  registry.add<DynamicBroadcastInDimOp>(evaluateDynamicBroadcastInDim);
  registry.add<ReshapeOp>(evaluateReshape);
  registry.add<DynamicReshapeOp>(evaluateDynamicReshape);
  registry.add<GetDimensionSizeOp>(evaluateGetDimensionSize);
  registry.add<TransposeOp>(evaluateTranspose);
  registry.add<SliceOp>(evaluateSlice);
  registry.add<RealDynamicSliceOp>(evaluateRealDynamicSlice);
  registry.add<DynamicSliceOp>(evaluateDynamicSlice);
  registry.add<DynamicUpdateSliceOp>(evaluateDynamicUpdateSlice);
  registry.add<PadOp>(evaluatePad);
  registry.add<DynamicPadOp>(evaluateDynamicPad);
  registry.add<SetDimensionSizeOp>(evaluateSetDimensionSize);
  registry.add<BroadcastOp>(evaluateBroadcast);
  registry.add<ReverseOp>(evaluateReverse);
  registry.add<ConcatenateOp>(evaluateConcatenate);
}

} // namespace sinter::interpreter
