// Result type inference.

#include "graph/Inference.h"
#include "graph/PermutedType.h"
#include "graph/nn/NnOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using sinter::stablehlo::WindowDimension;
using sinter::stablehlo::windowedSize;

namespace sinter::nn {

SINTER_INFER(ShapeOp) {
  inferredReturnTypes.push_back(RankedTensorType::get(
      {tensorOf(operands[0]).getRank()}, IntegerType::get(context, 64)));
  return success();
}

/// The dimension that \p element is quantised along, if it is.
static std::optional<int64_t> quantizedAxis(Type element) {
  auto perAxis = dyn_cast<quant::UniformQuantizedPerAxisType>(element);
  return perAxis ? std::optional<int64_t>(perAxis.getQuantizedDimension())
                 : std::nullopt;
}

/// \p element with its quantised axis shifted by \p added if it is \p from or
/// later.
static Type movedAlong(Type element, int64_t from, int64_t added) {
  const std::optional<int64_t> axis = quantizedAxis(element);
  return axis && *axis >= from ? alongAxis(element, *axis + added) : element;
}

SINTER_INFER(BroadcastLikeOp) {
  auto type = tensorOf(operands[0]);
  SmallVector<int64_t> shape(type.getShape());
  for (Value other : operands.drop_front()) {
    auto joined = broadcastShapes(shape, tensorOf(other).getShape());
    if (!joined)
      return emitOptionalError(location, "shapes do not broadcast: ", type,
                               " and ", other.getType());
    shape = std::move(*joined);
  }
  const int64_t added = static_cast<int64_t>(shape.size()) - type.getRank();
  inferredReturnTypes.push_back(RankedTensorType::get(
      shape, movedAlong(type.getElementType(), 0, added)));
  return success();
}

SINTER_INFER(TakeOp) {
  Adaptor adaptor(operands, attributes, properties, regions);
  auto type = tensorOf(operands[0]), indices = tensorOf(operands[1]);
  int64_t axis = adaptor.getAxis();
  if (axis >= type.getRank())
    return emitOptionalError(location,
                             "axis is not a dimension of the operand");
  if (quantizedAxis(type.getElementType()) == axis)
    return emitOptionalError(location, "takes elements along the axis that the "
                                       "operand is quantised along");
  SmallVector<int64_t> shape(type.getShape().take_front(axis));
  llvm::append_range(shape, indices.getShape());
  llvm::append_range(shape, type.getShape().drop_front(axis + 1));
  inferredReturnTypes.push_back(RankedTensorType::get(
      shape, movedAlong(type.getElementType(), axis, indices.getRank() - 1)));
  return success();
}

SINTER_INFER(TakeAlongOp) {
  inferredReturnTypes.push_back(
      tensorOf(operands[1]).clone(tensorOf(operands[0]).getElementType()));
  return success();
}

SINTER_INFER(PadModeOp) {
  Adaptor adaptor(operands, attributes, properties, regions);
  auto type = tensorOf(operands[0]);
  ArrayRef<int64_t> low = adaptor.getLow(), high = adaptor.getHigh();
  if (static_cast<int64_t>(low.size()) != type.getRank() ||
      low.size() != high.size())
    return emitOptionalError(location,
                             "padding has not one element a dimension");
  SmallVector<int64_t> shape(type.getShape());
  for (auto [size, before, after] : llvm::zip_equal(shape, low, high))
    if (!ShapedType::isDynamic(size) &&
        (llvm::AddOverflow(size, before, size) ||
         llvm::AddOverflow(size, after, size) || size < 0))
      return emitOptionalError(location,
                               "a padded size is negative or too large");
  inferredReturnTypes.push_back(
      RankedTensorType::get(shape, type.getElementType()));
  return success();
}

template <typename Adaptor>
static LogicalResult inferArg(Adaptor adaptor, MLIRContext *context,
                              std::optional<Location> location,
                              SmallVectorImpl<Type> &types) {
  auto type = tensorOf(adaptor.getOperands()[0]);
  int64_t axis = adaptor.getAxis();
  if (axis >= type.getRank())
    return emitOptionalError(location,
                             "axis is not a dimension of the operand");
  SmallVector<int64_t> shape(type.getShape());
  if (adaptor.getKeepDimension())
    shape[axis] = 1;
  else
    shape.erase(shape.begin() + axis);
  types.push_back(RankedTensorType::get(shape, IntegerType::get(context, 64)));
  return success();
}
SINTER_INFER(ArgMaxOp) {
  return inferArg(Adaptor(operands, attributes, properties, regions), context,
                  location, inferredReturnTypes);
}
SINTER_INFER(ArgMinOp) {
  return inferArg(Adaptor(operands, attributes, properties, regions), context,
                  location, inferredReturnTypes);
}

SINTER_INFER(TopKOp) {
  Adaptor adaptor(operands, attributes, properties, regions);
  auto type = tensorOf(operands[0]);
  int64_t axis = adaptor.getAxis();
  int64_t k = adaptor.getK();
  if (axis >= type.getRank() ||
      (!type.isDynamicDim(axis) && k > type.getDimSize(axis)))
    return emitOptionalError(location, "axis is not a dimension of the operand "
                                       "or has fewer than k elements");
  SmallVector<int64_t> shape(type.getShape());
  shape[axis] = k;
  inferredReturnTypes.push_back(
      RankedTensorType::get(shape, type.getElementType()));
  inferredReturnTypes.push_back(
      RankedTensorType::get(shape, IntegerType::get(context, 64)));
  return success();
}

/// The shape of a pool's result for an operand [N, C, spatial...].
template <typename Adaptor>
static LogicalResult inferPool(Adaptor adaptor,
                               std::optional<Location> location, Type element,
                               SmallVectorImpl<Type> &types) {
  auto type = tensorOf(adaptor.getOperands()[0]);
  int64_t spatial = type.getRank() - 2;
  for (ArrayRef<int64_t> list :
       {adaptor.getWindow(), adaptor.getStrides(), adaptor.getDilations(),
        adaptor.getPaddingLow(), adaptor.getPaddingHigh()})
    if (static_cast<int64_t>(list.size()) != spatial)
      return emitOptionalError(location, "window, strides, dilations and "
                                         "padding have not one element a "
                                         "spatial dimension");
  SmallVector<int64_t> shape(type.getShape());
  for (int64_t i = 0; i < spatial; ++i) {
    WindowDimension window;
    window.size = adaptor.getWindow()[i];
    window.stride = adaptor.getStrides()[i];
    window.windowDilation = adaptor.getDilations()[i];
    window.paddingLow = adaptor.getPaddingLow()[i];
    window.paddingHigh = adaptor.getPaddingHigh()[i];
    std::optional<int64_t> size = windowedSize(shape[i + 2], window);
    if (!size || window.size < 1 || window.paddingLow < 0 ||
        window.paddingHigh < 0)
      return emitOptionalError(location, "spatial dimension ", i,
                               ": window, stride or dilation is not positive, "
                               "or padding is negative");
    shape[i + 2] = *size;
  }
  types.push_back(RankedTensorType::get(shape, element));
  return success();
}
#define INFER_POOL(Op, element)                                                \
  SINTER_INFER(Op) {                                                           \
    return inferPool(Adaptor(operands, attributes, properties, regions),       \
                     location, element, inferredReturnTypes);                  \
  }
INFER_POOL(MaxPoolOp, tensorOf(operands[0]).getElementType())
INFER_POOL(AveragePoolOp, tensorOf(operands[0]).getElementType())
INFER_POOL(LpPoolOp, tensorOf(operands[0]).getElementType())
INFER_POOL(MaxPoolIndicesOp, IntegerType::get(context, 64))

SINTER_INFER(LayerNormOp) {
  Adaptor adaptor(operands, attributes, properties, regions);
  auto type = tensorOf(operands[0]);
  int64_t axis = adaptor.getAxis();
  if (axis > type.getRank())
    return emitOptionalError(location,
                             "axis is not a dimension of the operand");
  SmallVector<int64_t> shape(type.getShape());
  std::fill(shape.begin() + axis, shape.end(), 1);
  Type statistics = RankedTensorType::get(shape, adaptor.getComputeType());
  inferredReturnTypes.append({type, statistics, statistics});
  return success();
}

SINTER_INFER(MeanVarNormOp) {
  auto type = tensorOf(operands[1]);
  inferredReturnTypes.append(4, type);
  return success();
}

/// The results of a recurrent layer: Y [T, D, N, H] and states [D, N, H].
static LogicalResult inferRecurrent(ValueRange operands, unsigned states,
                                    std::optional<Location> location,
                                    SmallVectorImpl<Type> &types) {
  auto x = tensorOf(operands[0]), r = tensorOf(operands[2]);
  if (x.getRank() != 3 || r.getRank() != 3)
    return emitOptionalError(location, "X, W and R have not three dimensions");
  int64_t directions = r.getDimSize(0), hidden = r.getDimSize(2);
  Type element = x.getElementType();
  types.push_back(RankedTensorType::get(
      {x.getDimSize(0), directions, x.getDimSize(1), hidden}, element));
  for (unsigned i = 0; i < states; ++i)
    types.push_back(
        RankedTensorType::get({directions, x.getDimSize(1), hidden}, element));
  return success();
}
SINTER_INFER(LstmOp) {
  return inferRecurrent(operands, 2, location, inferredReturnTypes);
}
SINTER_INFER(GruOp) {
  return inferRecurrent(operands, 1, location, inferredReturnTypes);
}
SINTER_INFER(RnnOp) {
  return inferRecurrent(operands, 1, location, inferredReturnTypes);
}

} // namespace sinter::nn
