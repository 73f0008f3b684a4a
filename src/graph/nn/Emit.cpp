#include "graph/nn/Emit.h"

#include "graph/Constants.h"

using namespace mlir;

namespace sinter::nn {

bool isStatic(Operation *op) {
  auto hasStaticShape = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.hasStaticShape();
  };
  return llvm::all_of(op->getOperandTypes(), hasStaticShape) &&
         llvm::all_of(op->getResultTypes(), hasStaticShape);
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

static Attribute numberAttribute(double value, Type element) {
  if (isa<FloatType>(element))
    return FloatAttr::get(element, value);
  return IntegerAttr::get(
      IntegerType::get(element.getContext(), element.getIntOrFloatBitWidth()),
      static_cast<int64_t>(value));
}

static DenseElementsAttr denseOf(ArrayRef<double> values,
                                 ArrayRef<int64_t> shape, Type element) {
  auto type = RankedTensorType::get(shape, element);
  if (auto complex = dyn_cast<ComplexType>(element)) {
    Type part = complex.getElementType();
    APFloat zero = cast<FloatAttr>(numberAttribute(0, part)).getValue();
    SmallVector<std::complex<APFloat>> numbers;
    for (double value : values)
      numbers.push_back(
          {cast<FloatAttr>(numberAttribute(value, part)).getValue(), zero});
    return DenseElementsAttr::get(type, numbers);
  }
  if (isa<FloatType>(element)) {
    SmallVector<APFloat> floats;
    for (double value : values)
      floats.push_back(
          cast<FloatAttr>(numberAttribute(value, element)).getValue());
    return DenseElementsAttr::get(type, floats);
  }
  SmallVector<APInt> integers;
  for (double value : values)
    integers.push_back(
        cast<IntegerAttr>(numberAttribute(value, element)).getValue());
  return DenseElementsAttr::get(type, integers);
}

Value Emit::scalar(double value, Type element) {
  return make<stablehlo::ConstantOp>(
      RankedTensorType::get({}, element),
      cast<ElementsAttr>(denseOf(value, {}, element)));
}

Value Emit::splat(double value, RankedTensorType type) {
  return spread(scalar(value, type.getElementType()), type);
}

Value Emit::broadcastToShapeOf(Value like, Value x, ArrayRef<int64_t> dims,
                               RankedTensorType type) {
  Value sizes;
  if (like == shaped) {
    if (!shape)
      shape = shapeOf(shaped);
    sizes = shape;
  } else {
    sizes = shapeOf(like);
  }
  return make<stablehlo::DynamicBroadcastInDimOp>(
      type, x, sizes, builder.getDenseI64ArrayAttr(dims), DenseI64ArrayAttr(),
      DenseI64ArrayAttr());
}

Value Emit::spread(Value scalar, RankedTensorType type) {
  return broadcast(scalar, {}, type.getShape());
}

Value Emit::splatLike(double value, Value like) {
  auto type = tensorOf(like);
  Value number = scalar(value, type.getElementType());
  const bool hasOwnShape =
      !type.hasStaticShape() &&
      (!shaped || tensorOf(shaped).getRank() != type.getRank());
  return hasOwnShape ? broadcastToShapeOf(like, number, {}, type)
                     : spread(number, type);
}

Value Emit::shapeOf(Value value) {
  SmallVector<Value> sizes;
  for (int64_t i = 0; i < tensorOf(value).getRank(); ++i)
    sizes.push_back(sizeOf(value, i));
  return concatenate(sizes, 0);
}

Value Emit::sizeOf(Value value, int64_t dimension) {
  int64_t size = tensorOf(value).getDimSize(dimension);
  if (!ShapedType::isDynamic(size))
    return knownSize(size);
  return reshape(make<stablehlo::GetDimensionSizeOp>(
                     value, static_cast<uint64_t>(dimension)),
                 {1});
}

Value Emit::knownSize(int64_t size) {
  return make<stablehlo::ConstantOp>(
      RankedTensorType::get({1}, integerType(32)),
      cast<ElementsAttr>(
          denseOf(static_cast<double>(size), {1}, integerType(32))));
}

Value Emit::integers(ArrayRef<int64_t> values) {
  int64_t size = values.size();
  Tensor tensor = Tensor::of<int64_t>(ElementType::I64, {size},
                                      {values.data(), values.size()});
  return makeConstant(builder, location, tensor);
}

Value Emit::floats(ArrayRef<double> values, Type element) {
  return make<stablehlo::ConstantOp>(
      RankedTensorType::get({static_cast<int64_t>(values.size())}, element),
      cast<ElementsAttr>(
          denseOf(values, {static_cast<int64_t>(values.size())}, element)));
}

static Value extreme(Emit &emit, Type element, bool low) {
  DenseElementsAttr value;
  auto type = RankedTensorType::get({}, element);
  if (auto floating = dyn_cast<FloatType>(element)) {
    value = DenseElementsAttr::get(
        type, APFloat::getInf(floating.getFloatSemantics(), low));
  } else {
    unsigned width = element.getIntOrFloatBitWidth();
    bool isUnsigned = element.isUnsignedInteger() || width == 1;
    value = DenseElementsAttr::get(
        type, isUnsigned
                  ? (low ? APInt::getZero(width) : APInt::getMaxValue(width))
              : low ? APInt::getSignedMinValue(width)
                    : APInt::getSignedMaxValue(width));
  }
  return emit.make<stablehlo::ConstantOp>(type, cast<ElementsAttr>(value));
}
Value Emit::lowest(Type element) { return extreme(*this, element, true); }
Value Emit::greatest(Type element) { return extreme(*this, element, false); }

//===----------------------------------------------------------------------===//
// Elementwise and data movement
//===----------------------------------------------------------------------===//

Value Emit::compare(stablehlo::ComparisonDirection direction, Value a,
                    Value b) {
  return make<stablehlo::CompareOp>(a, b, direction,
                                    stablehlo::ComparisonTypeAttr());
}

Value Emit::convert(Value x, Type element) {
  if (tensorOf(x).getElementType() == element)
    return x;
  return make<stablehlo::ConvertOp>(tensorOf(x).clone(element), x);
}

Value Emit::reshape(Value x, ArrayRef<int64_t> shape) {
  if (tensorOf(x).getShape() == shape)
    return x;
  return make<stablehlo::ReshapeOp>(
      RankedTensorType::get(shape, tensorOf(x).getElementType()), x);
}

Value Emit::reshapeLike(Value x, Value like) {
  auto type = tensorOf(like);
  if (type.hasStaticShape())
    return reshape(x, type.getShape());
  return make<stablehlo::DynamicReshapeOp>(
      type.clone(tensorOf(x).getElementType()), x, shapeOf(like));
}

Value Emit::appendOnes(Value x, int64_t count) {
  SmallVector<int64_t> shape(tensorOf(x).getShape());
  shape.append(count, 1);
  if (tensorOf(x).hasStaticShape())
    return reshape(x, shape);
  SmallVector<Value> sizes;
  for (int64_t i = 0; i < tensorOf(x).getRank(); ++i)
    sizes.push_back(sizeOf(x, i));
  sizes.append(count, knownSize(1));
  return make<stablehlo::DynamicReshapeOp>(tensorOf(x).clone(shape), x,
                                           concatenate(sizes, 0));
}

Value Emit::transpose(Value x, ArrayRef<int64_t> permutation) {
  return make<stablehlo::TransposeOp>(x, permutation);
}

Value Emit::broadcast(Value x, ArrayRef<int64_t> dims,
                      ArrayRef<int64_t> shape) {
  auto type = RankedTensorType::get(shape, tensorOf(x).getElementType());
  if (type.hasStaticShape() || !shaped ||
      tensorOf(shaped).getRank() != type.getRank())
    return tensorOf(x).getShape() == shape
               ? x
               : make<stablehlo::BroadcastInDimOp>(type, x, dims);
  return broadcastToShapeOf(shaped, x, dims, type);
}

Value Emit::broadcastTrailing(Value x, ArrayRef<int64_t> shape) {
  int64_t rank = tensorOf(x).getRank();
  return broadcast(
      x, llvm::to_vector(llvm::seq<int64_t>(shape.size() - rank, shape.size())),
      shape);
}

Value Emit::iota(ArrayRef<int64_t> shape, int64_t dimension, Type element) {
  return make<stablehlo::IotaOp>(RankedTensorType::get(shape, element),
                                 static_cast<uint64_t>(dimension));
}

Value Emit::slice(Value x, int64_t dimension, int64_t start, int64_t limit) {
  SmallVector<int64_t> starts(tensorOf(x).getRank(), 0);
  SmallVector<int64_t> limits(tensorOf(x).getShape());
  SmallVector<int64_t> strides(tensorOf(x).getRank(), 1);
  starts[dimension] = start;
  limits[dimension] = limit;
  return make<stablehlo::SliceOp>(x, starts, limits, strides);
}

Value Emit::concatenate(ArrayRef<Value> values, int64_t dimension) {
  if (values.size() == 1)
    return values[0];
  return make<stablehlo::ConcatenateOp>(values,
                                        static_cast<uint64_t>(dimension));
}

Value Emit::take(Value x, Value indices, int64_t axis) {
  auto type = tensorOf(x), indexType = tensorOf(indices);
  int64_t indexRank = indexType.getRank();
  SmallVector<int64_t> offsets;
  for (int64_t i = 0; i < type.getRank() - 1 + indexRank; ++i)
    if (i < axis || i >= axis + indexRank)
      offsets.push_back(i);
  SmallVector<int64_t> sizes(type.getShape());
  // An empty axis has no slice of size one; its result is empty too.
  sizes[axis] = sizes[axis] == 0 ? 0 : 1;
  auto numbers = stablehlo::GatherDimensionNumbersAttr::get(
      builder.getContext(), offsets, {axis}, {}, {}, {axis}, indexRank);
  if (ShapedType::isDynamicShape(sizes)) {
    // The sizes of the slices are those of x.
    SmallVector<Value> parts;
    SmallVector<int64_t> shape(type.getShape().take_front(axis));
    shape.append(indexType.getShape().begin(), indexType.getShape().end());
    llvm::append_range(shape, type.getShape().drop_front(axis + 1));
    for (int64_t i = 0; i < type.getRank(); ++i)
      parts.push_back(i == axis ? knownSize(sizes[axis]) : sizeOf(x, i));
    return make<stablehlo::DynamicGatherOp>(
        type.clone(shape), x, indices, concatenate(parts, 0), numbers,
        /*indices_are_sorted=*/builder.getBoolAttr(false));
  }
  return make<stablehlo::GatherOp>(x, indices, numbers, sizes,
                                   /*indices_are_sorted=*/false);
}

Value Emit::matmulTransposed(Value a, Value b) {
  auto numbers = stablehlo::DotDimensionNumbersAttr::get(builder.getContext(),
                                                         {}, {}, {1}, {1});
  auto type = RankedTensorType::get(
      {tensorOf(a).getDimSize(0), tensorOf(b).getDimSize(0)},
      tensorOf(a).getElementType());
  return make<stablehlo::DotGeneralOp>(type, a, b, numbers, ArrayAttr());
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

void Emit::fill(Region &region, TypeRange arguments, Body body) {
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Type> scalars;
  for (Type type : arguments)
    scalars.push_back(RankedTensorType::get(
        {}, cast<RankedTensorType>(type).getElementType()));
  SmallVector<Location> locations(scalars.size(), location);
  Block *block = builder.createBlock(&region, {}, scalars, locations);
  SmallVector<Value> results = body(*this, block->getArguments());
  builder.create<stablehlo::ReturnOp>(location, results);
}

static SmallVector<Value> applyBinary(Emit &emit, StringRef op,
                                      ValueRange arguments) {
  OperationState state(emit.location, op);
  state.addOperands(arguments);
  state.addTypes(arguments[0].getType());
  return {emit.builder.create(state)->getResult(0)};
}

static SmallVector<int64_t> without(ArrayRef<int64_t> shape,
                                    ArrayRef<int64_t> dims) {
  SmallVector<int64_t> rest;
  for (auto [i, size] : llvm::enumerate(shape))
    if (!llvm::is_contained(dims, static_cast<int64_t>(i)))
      rest.push_back(size);
  return rest;
}

ValueRange Emit::reduce(ValueRange inputs, ValueRange inits,
                        ArrayRef<int64_t> dims, Body body) {
  SmallVector<Type> types, arguments;
  for (Value input : inputs) {
    auto type = tensorOf(input);
    types.push_back(RankedTensorType::get(without(type.getShape(), dims),
                                          type.getElementType()));
  }
  arguments.append(types);
  arguments.append(types);
  SmallVector<int64_t> sorted(dims);
  llvm::sort(sorted);
  auto op = builder.create<stablehlo::ReduceOp>(location, types, inputs, inits,
                                                sorted);
  fill(op.getBody(), arguments, body);
  return op.getResults();
}

Value Emit::reduceWith(Value x, Value init, ArrayRef<int64_t> dims,
                       StringRef op) {
  return reduce(ValueRange(x), ValueRange(init), dims,
                [&](Emit &emit, ValueRange arguments) {
                  return applyBinary(emit, op, arguments);
                })
      .front();
}

Value Emit::restore(Value reduced, ArrayRef<int64_t> dims,
                    ArrayRef<int64_t> shape) {
  SmallVector<int64_t> kept;
  for (int64_t i = 0; i < static_cast<int64_t>(shape.size()); ++i)
    if (!llvm::is_contained(dims, i))
      kept.push_back(i);
  return broadcast(reduced, kept, shape);
}

Value Emit::sumKeep(Value x, ArrayRef<int64_t> dims) {
  return restore(sum(x, dims), dims, tensorOf(x).getShape());
}

Value Emit::maxKeep(Value x, ArrayRef<int64_t> dims) {
  Value most =
      reduce<stablehlo::MaxOp>(x, lowest(tensorOf(x).getElementType()), dims);
  return restore(most, dims, tensorOf(x).getShape());
}

Value Emit::overCount(Value sum, Value x, ArrayRef<int64_t> dims) {
  double known = 1;
  Value open;
  for (int64_t dim : dims) {
    if (!tensorOf(x).isDynamicDim(dim)) {
      known *= static_cast<double>(tensorOf(x).getDimSize(dim));
      continue;
    }
    Value size = convert(
        make<stablehlo::GetDimensionSizeOp>(x, static_cast<uint64_t>(dim)),
        integerType(64));
    open = open ? mul(open, size) : size;
  }
  if (!open)
    return div(sum, known);
  auto type = tensorOf(sum);
  Value count = mul(convert(open, type.getElementType()), known);
  return div(sum, type.hasStaticShape()
                      ? broadcast(count, {}, type.getShape())
                      : broadcastToShapeOf(sum, count, {}, type));
}

Value Emit::meanKeep(Value x, ArrayRef<int64_t> dims) {
  return restore(overCount(sum(x, dims), x, dims), dims,
                 tensorOf(x).getShape());
}

ValueRange Emit::reduceWindow(ValueRange inputs, ValueRange inits,
                              ArrayRef<stablehlo::WindowDimension> window,
                              Body body) {
  SmallVector<int64_t> sizes, strides, dilations, padding, baseDilations;
  for (const stablehlo::WindowDimension &dimension : window) {
    sizes.push_back(dimension.size);
    strides.push_back(dimension.stride);
    dilations.push_back(dimension.windowDilation);
    baseDilations.push_back(dimension.baseDilation);
    padding.append({dimension.paddingLow, dimension.paddingHigh});
  }
  SmallVector<Type> types, arguments;
  for (Value input : inputs) {
    auto type = tensorOf(input);
    SmallVector<int64_t> shape;
    for (auto [size, dimension] : llvm::zip_equal(type.getShape(), window))
      shape.push_back(stablehlo::windowedSize(size, dimension).value_or(0));
    types.push_back(RankedTensorType::get(shape, type.getElementType()));
  }
  arguments.append(types);
  arguments.append(types);
  auto paddingType = RankedTensorType::get(
      {static_cast<int64_t>(window.size()), 2}, builder.getI64Type());
  auto op = builder.create<stablehlo::ReduceWindowOp>(
      location, types, inputs, inits, builder.getDenseI64ArrayAttr(sizes),
      builder.getDenseI64ArrayAttr(strides),
      builder.getDenseI64ArrayAttr(baseDilations),
      builder.getDenseI64ArrayAttr(dilations),
      DenseIntElementsAttr::get(paddingType, padding));
  fill(op.getBody(), arguments, body);
  return op.getResults();
}

Value Emit::reduceWindowWith(Value x, Value init,
                             ArrayRef<stablehlo::WindowDimension> window,
                             StringRef op) {
  return reduceWindow(ValueRange(x), ValueRange(init), window,
                      [&](Emit &emit, ValueRange arguments) {
                        return applyBinary(emit, op, arguments);
                      })
      .front();
}

} // namespace sinter::nn
