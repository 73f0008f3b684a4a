#include "graph/nn/TensorBuilder.h"

#include "graph/Constants.h"
#include "graph/PermutedType.h"
#include "graph/SizeSources.h"

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

/// \p value rounded to \p element. Not by attributes: the context would keep
/// one for each of a weight's scales.
static APFloat floatOf(double value, Type element) {
  APFloat result(value);
  bool losesInfo = false;
  result.convert(cast<FloatType>(element).getFloatSemantics(),
                 APFloat::rmNearestTiesToEven, &losesInfo);
  return result;
}

static DenseElementsAttr denseOf(ArrayRef<double> values,
                                 ArrayRef<int64_t> shape, Type element) {
  auto type = RankedTensorType::get(shape, element);
  if (auto complex = dyn_cast<ComplexType>(element)) {
    Type part = complex.getElementType();
    SmallVector<std::complex<APFloat>> numbers;
    for (double value : values)
      numbers.push_back({floatOf(value, part), floatOf(0, part)});
    return DenseElementsAttr::get(type, numbers);
  }
  if (element.isF32())
    return DenseElementsAttr::get(type,
                                  ArrayRef<float>(SmallVector<float>(values)));
  if (isa<FloatType>(element)) {
    SmallVector<APFloat> floats;
    for (double value : values)
      floats.push_back(floatOf(value, element));
    return DenseElementsAttr::get(type, floats);
  }
  SmallVector<APInt> integers;
  for (double value : values)
    integers.push_back(APInt(element.getIntOrFloatBitWidth(),
                             static_cast<int64_t>(value), /*isSigned=*/true));
  return DenseElementsAttr::get(type, integers);
}

Value TensorBuilder::scalar(double value, Type element) {
  return make<stablehlo::ConstantOp>(
      RankedTensorType::get({}, element),
      cast<ElementsAttr>(denseOf(value, {}, element)));
}

Value TensorBuilder::splat(double value, RankedTensorType type) {
  return spread(scalar(value, type.getElementType()), type);
}

Value TensorBuilder::splat(double value, const Sizes &sizes, Type element) {
  return broadcast(scalar(value, element), {}, sizes);
}

Value TensorBuilder::splatLike(double value, Value like) {
  return spreadLike(scalar(value, tensorOf(like).getElementType()), like);
}

Value TensorBuilder::spreadLike(Value scalar, Value like) {
  auto type = tensorOf(like).clone(tensorOf(scalar).getElementType());
  // Elementwise functions use one shape only.
  if (shaped && tensorOf(shaped).getShape() == type.getShape())
    return spread(scalar, type);
  return broadcast(scalar, {}, sizes(like));
}

Value TensorBuilder::spread(Value scalar, RankedTensorType type) {
  if (type.hasStaticShape() || !shaped)
    return broadcast(scalar, {}, type.getShape());
  if (!shape)
    shape = shapeOf(shaped);
  return make<stablehlo::DynamicBroadcastInDimOp>(
      type, scalar, shape, builder.getDenseI64ArrayAttr({}),
      DenseI64ArrayAttr(), DenseI64ArrayAttr());
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

Sizes TensorBuilder::sizes(Value value) {
  Sizes result;
  // Values whose sizes come from the same source share its sizes.
  Value source = tensorOf(value).hasStaticShape() ? value : shapeSource(value);
  for (int64_t i = 0; i < tensorOf(value).getRank(); ++i)
    result.push_back(
        Size::of(tensorOf(value).isDynamicDim(i) ? source : value, i));
  return result;
}

Value TensorBuilder::sizeOf(Value value, int64_t dimension) {
  int64_t size = tensorOf(value).getDimSize(dimension);
  if (!ShapedType::isDynamic(size))
    return knownSize(size);
  Value &extent = extents[{value, dimension}];
  if (!extent) {
    // Right after the value, so that the size dominates all uses that the value
    // does.
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfterValue(value);
    extent = reshape(make<stablehlo::GetDimensionSizeOp>(
                         value, static_cast<uint64_t>(dimension)),
                     {1});
  }
  return extent;
}

Value TensorBuilder::extentOf(const Size &size) {
  if (size.isKnown())
    return knownSize(size.known());
  return size.dimension < 0 ? size.source : sizeOf(size.source, size.dimension);
}

Value TensorBuilder::vectorOf(const Sizes &sizes) {
  SmallVector<Value> parts;
  SmallVector<double> run;
  auto flush = [&] {
    int64_t length = run.size();
    if (length > 0 || (parts.empty() && sizes.empty()))
      parts.push_back(make<stablehlo::ConstantOp>(
          RankedTensorType::get({length}, integerType(32)),
          cast<ElementsAttr>(denseOf(run, {length}, integerType(32)))));
    run.clear();
  };
  for (const Size &size : sizes) {
    if (size.isKnown()) {
      run.push_back(static_cast<double>(size.known()));
      continue;
    }
    flush();
    parts.push_back(extentOf(size));
  }
  flush();
  return concatenate(parts, 0);
}

Value TensorBuilder::number(const Size &size, Type element) {
  if (size.isKnown())
    return scalar(static_cast<double>(size.known()), element);
  return convert(reshape(extentOf(size), {}), element);
}

/// The result of \p make for the extents of two sizes, not both static.
static Size computed(TensorBuilder &emit, const Size &a, const Size &b,
                     llvm::function_ref<Value(Value, Value)> make) {
  return Size::computed(make(emit.extentOf(a), emit.extentOf(b)));
}

Size TensorBuilder::sum(const Size &a, const Size &b) {
  if (a.isKnown() && b.isKnown())
    return a.known() + b.known();
  if (a == Size(0) || b == Size(0))
    return a == Size(0) ? b : a;
  return computed(*this, a, b, [&](Value x, Value y) { return add(x, y); });
}

Size TensorBuilder::difference(const Size &a, const Size &b) {
  if (a.isKnown() && b.isKnown())
    return a.known() - b.known();
  if (b == Size(0))
    return a;
  return computed(*this, a, b, [&](Value x, Value y) { return sub(x, y); });
}

Size TensorBuilder::product(const Size &a, const Size &b) {
  if (a.isKnown() && b.isKnown())
    return a.known() * b.known();
  if (a == Size(1) || b == Size(1))
    return a == Size(1) ? b : a;
  return computed(*this, a, b, [&](Value x, Value y) { return mul(x, y); });
}

Size TensorBuilder::quotient(const Size &a, const Size &b) {
  if (a.isKnown() && b.isKnown())
    return b.known() == 0 ? 0 : a.known() / b.known();
  if (a == b || b == Size(1))
    return a == b ? Size(1) : a;
  return computed(*this, a, b, [&](Value x, Value y) { return div(x, y); });
}

Size TensorBuilder::count(const Sizes &sizes, ArrayRef<int64_t> dims) {
  // Multiply the static sizes first, into a single factor.
  Size known = 1, all = 1;
  for (int64_t dim : dims)
    if (sizes[dim].isKnown())
      known = product(known, sizes[dim]);
    else
      all = product(all, sizes[dim]);
  return product(all, known);
}

Value TensorBuilder::knownSize(int64_t size) {
  return make<stablehlo::ConstantOp>(
      RankedTensorType::get({1}, integerType(32)),
      cast<ElementsAttr>(
          denseOf(static_cast<double>(size), {1}, integerType(32))));
}

Value TensorBuilder::integers(ArrayRef<int64_t> values) {
  int64_t size = values.size();
  Tensor tensor = Tensor::of<int64_t>(ElementType::I64, {size},
                                      {values.data(), values.size()});
  return makeConstant(builder, location, tensor);
}

Value TensorBuilder::floats(ArrayRef<double> values, Type element) {
  return make<stablehlo::ConstantOp>(
      RankedTensorType::get({static_cast<int64_t>(values.size())}, element),
      cast<ElementsAttr>(
          denseOf(values, {static_cast<int64_t>(values.size())}, element)));
}

static Value extreme(TensorBuilder &emit, Type element, bool low) {
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
Value TensorBuilder::lowest(Type element) {
  return extreme(*this, element, true);
}
Value TensorBuilder::greatest(Type element) {
  return extreme(*this, element, false);
}

//===----------------------------------------------------------------------===//
// Elementwise and data movement
//===----------------------------------------------------------------------===//

Value TensorBuilder::compare(stablehlo::ComparisonDirection direction, Value a,
                             Value b) {
  return make<stablehlo::CompareOp>(a, b, direction,
                                    stablehlo::ComparisonTypeAttr());
}

Value TensorBuilder::convert(Value x, Type element) {
  if (tensorOf(x).getElementType() == element)
    return x;
  return make<stablehlo::ConvertOp>(tensorOf(x).clone(element), x);
}

/// Whether the operation with static sizes in its type can be used.
static bool isWritten(const Sizes &sizes, Value x) {
  return sizes.areKnown() && tensorOf(x).hasStaticShape();
}

Value TensorBuilder::reshape(Value x, const Sizes &sizes) {
  auto type = tensorOf(x).clone(sizes.shape());
  if (type == x.getType() && (type.hasStaticShape() || sizes == this->sizes(x)))
    return x;
  if (isWritten(sizes, x))
    return make<stablehlo::ReshapeOp>(type, x);
  return make<stablehlo::DynamicReshapeOp>(type, x, vectorOf(sizes));
}

Value TensorBuilder::transpose(Value x, ArrayRef<int64_t> permutation) {
  return make<stablehlo::TransposeOp>(x, permutation);
}

Value TensorBuilder::broadcast(Value x, ArrayRef<int64_t> dims,
                               const Sizes &sizes) {
  Type element = tensorOf(x).getElementType();
  if (auto perAxis = dyn_cast<quant::UniformQuantizedPerAxisType>(element))
    element = alongAxis(element, dims[perAxis.getQuantizedDimension()]);
  auto type = tensorOf(x).clone(sizes.shape(), element);
  if (type == x.getType() && llvm::is_sorted(dims) &&
      (type.hasStaticShape() || sizes == this->sizes(x)))
    return x;
  if (isWritten(sizes, x))
    return make<stablehlo::BroadcastInDimOp>(type, x, dims);
  return make<stablehlo::DynamicBroadcastInDimOp>(
      type, x, vectorOf(sizes), builder.getDenseI64ArrayAttr(dims),
      DenseI64ArrayAttr(), DenseI64ArrayAttr());
}

Value TensorBuilder::broadcastTrailing(Value x, const Sizes &sizes) {
  int64_t rank = tensorOf(x).getRank();
  return broadcast(
      x, llvm::to_vector(llvm::seq<int64_t>(sizes.size() - rank, sizes.size())),
      sizes);
}

Value TensorBuilder::iota(const Sizes &sizes, int64_t dimension, Type element) {
  auto type = RankedTensorType::get(sizes.shape(), element);
  if (type.hasStaticShape())
    return make<stablehlo::IotaOp>(type, static_cast<uint64_t>(dimension));
  return make<stablehlo::DynamicIotaOp>(type, vectorOf(sizes),
                                        static_cast<uint64_t>(dimension));
}

Value TensorBuilder::slice(Value x, int64_t dimension, const Size &start,
                           const Size &limit) {
  int64_t rank = tensorOf(x).getRank();
  Sizes starts(rank, 0), limits = sizes(x), strides(rank, 1);
  starts[dimension] = start;
  limits[dimension] = limit;
  if (starts.areKnown() && isWritten(limits, x))
    return make<stablehlo::SliceOp>(x, starts.shape(), limits.shape(),
                                    strides.shape());
  SmallVector<int64_t> shape = limits.shape();
  shape[dimension] = difference(limit, start).known();
  return make<stablehlo::RealDynamicSliceOp>(tensorOf(x).clone(shape), x,
                                             vectorOf(starts), vectorOf(limits),
                                             vectorOf(strides));
}

Value TensorBuilder::slice(Value x, ArrayRef<int64_t> starts,
                           const Sizes &limits, ArrayRef<int64_t> strides) {
  if (isWritten(limits, x))
    return make<stablehlo::SliceOp>(x, starts, limits.shape(), strides);
  SmallVector<int64_t> shape;
  for (auto [start, limit, stride] : llvm::zip_equal(starts, limits, strides))
    shape.push_back(limit.isKnown()
                        ? llvm::divideCeil(limit.known() - start, stride)
                        : ShapedType::kDynamic);
  return make<stablehlo::RealDynamicSliceOp>(
      tensorOf(x).clone(shape), x, vectorOf(Sizes(starts)), vectorOf(limits),
      vectorOf(Sizes(strides)));
}

Value TensorBuilder::concatenate(ArrayRef<Value> values, int64_t dimension) {
  if (values.size() == 1)
    return values[0];
  return make<stablehlo::ConcatenateOp>(values,
                                        static_cast<uint64_t>(dimension));
}

Value TensorBuilder::pad(Value x, int64_t dimension, int64_t low, int64_t high,
                         int64_t interior) {
  if (low == 0 && high == 0 && interior == 0)
    return x;
  SmallVector<int64_t> before(tensorOf(x).getRank(), 0);
  SmallVector<int64_t> behind(before), between(before);
  before[dimension] = low;
  behind[dimension] = high;
  between[dimension] = interior;
  return make<stablehlo::PadOp>(x, scalar(0, tensorOf(x).getElementType()),
                                before, behind, between);
}

Value TensorBuilder::take(Value x, Value indices, int64_t axis) {
  auto type = tensorOf(x), indexType = tensorOf(indices);
  int64_t indexRank = indexType.getRank();
  SmallVector<int64_t> offsets;
  for (int64_t i = 0; i < type.getRank() - 1 + indexRank; ++i)
    if (i < axis || i >= axis + indexRank)
      offsets.push_back(i);
  SmallVector<int64_t> sliced(type.getShape());
  auto numbers = stablehlo::GatherDimensionNumbersAttr::get(
      builder.getContext(), offsets, {axis}, {}, {}, {axis}, indexRank);
  // An empty axis has no slice of size one; its result is empty too.
  sliced[axis] =
      type.isDynamicDim(axis) ? 1 : std::min<int64_t>(1, sliced[axis]);
  if (!ShapedType::isDynamicShape(sliced))
    return make<stablehlo::GatherOp>(x, indices, numbers, sliced,
                                     /*indices_are_sorted=*/false);
  Sizes taken = sizes(x);
  taken[axis] = sliced[axis];
  SmallVector<int64_t> shape(type.getShape().take_front(axis));
  llvm::append_range(shape, indexType.getShape());
  llvm::append_range(shape, type.getShape().drop_front(axis + 1));
  return make<stablehlo::DynamicGatherOp>(type.clone(shape), x, indices,
                                          vectorOf(taken), numbers,
                                          /*indices_are_sorted=*/false);
}

Value TensorBuilder::matmulTransposed(Value a, Value b) {
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

void TensorBuilder::fill(Region &region, TypeRange arguments, Body body) {
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

static SmallVector<Value> applyBinary(TensorBuilder &emit, StringRef op,
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

ValueRange TensorBuilder::reduce(ValueRange inputs, ValueRange inits,
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

Value TensorBuilder::reduceWith(Value x, Value init, ArrayRef<int64_t> dims,
                                StringRef op) {
  return reduce(ValueRange(x), ValueRange(init), dims,
                [&](TensorBuilder &emit, ValueRange arguments) {
                  return applyBinary(emit, op, arguments);
                })
      .front();
}

Value TensorBuilder::restore(Value reduced, ArrayRef<int64_t> dims,
                             const Sizes &sizes) {
  SmallVector<int64_t> kept;
  for (int64_t i = 0; i < static_cast<int64_t>(sizes.size()); ++i)
    if (!llvm::is_contained(dims, i))
      kept.push_back(i);
  return broadcast(reduced, kept, sizes);
}

Value TensorBuilder::sumKeep(Value x, ArrayRef<int64_t> dims) {
  return restore(sum(x, dims), dims, sizes(x));
}

Value TensorBuilder::maxKeep(Value x, ArrayRef<int64_t> dims) {
  Value most =
      reduce<stablehlo::MaxOp>(x, lowest(tensorOf(x).getElementType()), dims);
  return restore(most, dims, sizes(x));
}

Value TensorBuilder::meanKeep(Value x, ArrayRef<int64_t> dims) {
  return restore(div(sum(x, dims), count(sizes(x), dims)), dims, sizes(x));
}

ValueRange
TensorBuilder::reduceWindow(ValueRange inputs, ValueRange inits,
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

Value TensorBuilder::reduceWindowWith(
    Value x, Value init, ArrayRef<stablehlo::WindowDimension> window,
    StringRef op) {
  return reduceWindow(ValueRange(x), ValueRange(init), window,
                      [&](TensorBuilder &emit, ValueRange arguments) {
                        return applyBinary(emit, op, arguments);
                      })
      .front();
}

} // namespace sinter::nn
