//===- Decompositions.cpp - what the backend's operations mean ------------===//
//
// Each as operations of the graph, so that whoever knows those knows these: the
// oracle, when passes are verified.
//
//===----------------------------------------------------------------------===//

#include "backend/cpu/ir/CpuOps.h"

#include "graph/nn/NnOps.h"
#include "graph/nn/TensorBuilder.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using sinter::nn::TensorBuilder;

namespace sinter::cpu {

using Decomposition = FailureOr<SmallVector<Value>>;

//===----------------------------------------------------------------------===//
// Blocks of channels
//===----------------------------------------------------------------------===//

/// [N, C, H, W] as \p shape, [N, CB, H, W, L]; lanes beyond C are zeros.
static Value packed(TensorBuilder &emit, Value x, ArrayRef<int64_t> shape) {
  const nn::Sizes sizes = emit.sizes(x);
  x = emit.padEnd(x, 1, shape[1] * shape[4] - tensorOf(x).getDimSize(1));
  x = emit.reshape(x, {sizes[0], shape[1], shape[4], sizes[2], sizes[3]});
  return emit.transpose(x, {0, 1, 3, 4, 2});
}

/// [N, CB, H, W, L] as [N, C, H, W].
static Value unpacked(TensorBuilder &emit, Value x, int64_t channels) {
  ArrayRef<int64_t> shape = tensorOf(x).getShape();
  const nn::Sizes sizes = emit.sizes(x);
  x = emit.transpose(x, {0, 1, 4, 2, 3});
  x = emit.reshape(x, {sizes[0], shape[1] * shape[4], sizes[2], sizes[3]});
  return emit.slice(x, 1, 0, channels);
}

Decomposition PackOp::decompose(OpBuilder &builder) {
  TensorBuilder emit(builder, getLoc());
  return SmallVector<Value>{
      packed(emit, getOperand(), tensorOf(getResult()).getShape())};
}

Decomposition UnpackOp::decompose(OpBuilder &builder) {
  TensorBuilder emit(builder, getLoc());
  return SmallVector<Value>{
      unpacked(emit, getOperand(), tensorOf(getResult()).getDimSize(1))};
}

Decomposition SplitTermsOp::decompose(OpBuilder &builder) {
  TensorBuilder emit(builder, getLoc());
  const int64_t count = tensorOf(getOperand()).getNumElements();
  auto result = tensorOf(getResult());
  Value bytes = emit.make<stablehlo::BitcastConvertOp>(
      RankedTensorType::get({count, 4}, result.getElementType()),
      emit.reshape(getOperand(), {count}));
  return SmallVector<Value>{emit.padEnd(emit.reshape(bytes, {4 * count}), 0,
                                        result.getNumElements() - 4 * count)};
}

Decomposition RecombineTermsOp::decompose(OpBuilder &builder) {
  TensorBuilder emit(builder, getLoc());
  auto result = tensorOf(getResult());
  const int64_t count = result.getNumElements();
  Value bytes = emit.slice(getOperand(), 0, 0, 4 * count);
  return SmallVector<Value>{
      emit.reshape(emit.make<stablehlo::BitcastConvertOp>(
                       RankedTensorType::get({count}, result.getElementType()),
                       emit.reshape(bytes, {count, 4})),
                   result.getShape())};
}

Decomposition MinMaxOp::decompose(OpBuilder &builder) {
  TensorBuilder emit(builder, getLoc());
  auto numbers = tensorOf(getOperand()), rows = tensorOf(getLeast());
  const auto dims =
      llvm::to_vector(llvm::seq<int64_t>(0, numbers.getRank() - 1));
  auto minOrMax = [&](bool isLeast) {
    const double initial =
        (isLeast ? 1 : -1) * std::numeric_limits<double>::infinity();
    ValueRange found = emit.reduce(
        {getOperand()}, {emit.scalar(initial, numbers.getElementType())}, dims,
        [&](TensorBuilder &emit, ValueRange values) {
          return SmallVector<Value>{isLeast ? emit.min(values[0], values[1])
                                            : emit.max(values[0], values[1])};
        });
    return emit.broadcast(found[0], {1}, rows.getShape());
  };
  Value least = minOrMax(true), greatest = minOrMax(false);
  return SmallVector<Value>{least, greatest};
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

/// The window of \p op along height and width, with the padding behind the last
/// element that the result's size asks for.
template <typename Op>
static std::array<stablehlo::WindowDimension, 2>
windowOf(Op op, ArrayRef<int64_t> sizes) {
  std::array<stablehlo::WindowDimension, 2> window;
  for (unsigned i : {0u, 1u}) {
    stablehlo::WindowDimension &each = window[i];
    const int64_t input = tensorOf(op.getInput()).getDimSize(i + 2);
    const int64_t output = tensorOf(op.getResult()).getDimSize(i + 2);
    each.size = sizes[i];
    each.stride = op.getStrides()[i];
    each.windowDilation = op.getDilations()[i];
    each.paddingLow = op.getPaddingLow()[i];
    each.paddingHigh = (output - 1) * each.stride +
                       (each.size - 1) * each.windowDilation + 1 - input -
                       each.paddingLow;
  }
  return window;
}

Decomposition ConvolutionOp::decompose(OpBuilder &builder) {
  // How packed weights lie is the kernel's own affair.
  if (getPackedFrom())
    return failure();
  TensorBuilder emit(builder, getLoc());
  auto window = windowOf(*this, kernelShape().drop_front(2));
  auto channels = static_cast<int64_t>(kernelShape()[1] * getGroups());
  Value x =
      hasPlanarInput() ? getInput() : unpacked(emit, getInput(), channels);
  auto result = tensorOf(getResult());
  Value weights = emit.convert(getWeights(), result.getElementType());
  x = emit.convert(x, result.getElementType());
  if (getZeroPoint() != 0)
    x = emit.sub(x, emit.splat(double(getZeroPoint()), tensorOf(x)));
  if (Value zero = getZero())
    x = emit.sub(
        x, emit.broadcast(
               emit.reshape(emit.convert(zero, result.getElementType()), {}),
               {}, tensorOf(x).getShape()));
  const int64_t spatial[] = {2, 3};
  auto numbers = stablehlo::ConvDimensionNumbersAttr::get(
      builder.getContext(), 0, 1, spatial, 1, 0, spatial, 0, 1, spatial);
  const int64_t padding[] = {window[0].paddingLow, window[0].paddingHigh,
                             window[1].paddingLow, window[1].paddingHigh};
  auto paddingType = RankedTensorType::get({2, 2}, builder.getI64Type());
  Value sums = emit.make<stablehlo::ConvolutionOp>(
      RankedTensorType::get({result.getDimSize(0),
                             static_cast<int64_t>(getOutputChannels()),
                             result.getDimSize(2), result.getDimSize(3)},
                            result.getElementType()),
      x, weights, getStridesAttr(),
      DenseIntElementsAttr::get(paddingType, ArrayRef<int64_t>(padding)),
      builder.getDenseI64ArrayAttr({1, 1}), getDilationsAttr(),
      DenseBoolArrayAttr(), numbers, builder.getI64IntegerAttr(getGroups()),
      builder.getI64IntegerAttr(1), ArrayAttr());
  return SmallVector<Value>{packed(emit, sums, result.getShape())};
}

Decomposition Int8ProductOp::decompose(OpBuilder &builder) {
  TensorBuilder emit(builder, getLoc());
  Type i32 = builder.getI32Type();
  return SmallVector<Value>{emit.make<stablehlo::DotGeneralOp>(
      tensorOf(getResult()), emit.convert(getLhs(), i32),
      emit.convert(getWeights(), i32),
      stablehlo::DotDimensionNumbersAttr::get(
          builder.getContext(), {}, {}, lhsContracting(), getContracting()),
      ArrayAttr(), stablehlo::DotAlgorithmAttr())};
}

Decomposition ZeroPointProductOp::decompose(OpBuilder &builder) {
  TensorBuilder emit(builder, getLoc());
  Type i32 = builder.getI32Type();
  auto distances = [&](Value bytes, Value zero) {
    Value wide = emit.convert(bytes, i32);
    if (!zero)
      return wide;
    return emit.sub(
        wide, emit.broadcast(emit.reshape(zero, {}), {}, emit.sizes(wide)));
  };
  Value rhs = getRhs();
  if (getTurned()) {
    const bool isUnsigned = tensorOf(rhs).getElementType().isUnsignedInteger();
    rhs = emit.make<stablehlo::BitcastConvertOp>(
        tensorOf(rhs).clone(multipliedRhs()),
        emit.make<stablehlo::XorOp>(
            rhs, emit.splatLike(isUnsigned ? 128 : -128, rhs)));
  }
  return SmallVector<Value>{emit.make<stablehlo::DotGeneralOp>(
      tensorOf(getResult()), distances(getLhs(), getLhsZero()),
      distances(rhs, getRhsZero()),
      stablehlo::DotDimensionNumbersAttr::get(
          builder.getContext(), getLhsBatching(), getRhsBatching(),
          getLhsContracting(), getRhsContracting()),
      ArrayAttr(), stablehlo::DotAlgorithmAttr())};
}

/// \p numbers, each \p block times along dimension \p dim, of which the first
/// \p size are left.
static Value overBlocks(TensorBuilder &emit, Value numbers, int64_t dim,
                        int64_t block, int64_t size) {
  const auto shape = llvm::to_vector(tensorOf(numbers).getShape());
  SmallVector<int64_t> spread = shape;
  spread.insert(spread.begin() + dim + 1, block);
  Value repeated =
      emit.broadcast(numbers, {0, dim == 0 ? int64_t(2) : int64_t(1)}, spread);
  SmallVector<int64_t> joined = shape;
  joined[dim] *= block;
  return emit.slice(emit.reshape(repeated, joined), dim, 0, size);
}

Decomposition LowBitProductOp::decompose(OpBuilder &builder) {
  TensorBuilder emit(builder, getLoc());
  Type f32 = builder.getF32Type();
  const stablehlo::ProductSide side{getWeights(), {}, getContracting()};
  SmallVector<int64_t> order = llvm::to_vector(getContracting()), columns;
  llvm::append_range(order, side.free());
  for (int64_t dim : side.free())
    columns.push_back(tensorOf(getWeights()).getShape()[dim]);
  Value weights = emit.transpose(emit.convert(getWeights(), f32), order);
  const auto shape = llvm::to_vector(tensorOf(weights).getShape());
  int64_t depth = 1, width = 1;
  for (auto [i, size] : llvm::enumerate(shape))
    (i < getContracting().size() ? depth : width) *= size;
  auto overBlocksOrColumns = [&](Value numbers) {
    numbers = emit.convert(numbers, f32);
    const auto ofColumns = static_cast<int64_t>(getColumns());
    return ofColumns == 0 ? overBlocks(emit, numbers, 0,
                                       static_cast<int64_t>(getBlock()), depth)
                          : overBlocks(emit, numbers, 1, ofColumns, width);
  };
  Value matrix = emit.reshape(weights, {depth, width});
  if (getZeros())
    matrix = emit.sub(matrix, overBlocksOrColumns(getZeros()));
  if (getScales())
    matrix = emit.mul(matrix, overBlocksOrColumns(getScales()));
  auto contracting = llvm::to_vector(
      llvm::seq<int64_t>(0, static_cast<int64_t>(getContracting().size())));
  return SmallVector<Value>{emit.make<stablehlo::DotGeneralOp>(
      tensorOf(getResult()), emit.convert(getLhs(), f32),
      emit.reshape(matrix, shape),
      stablehlo::DotDimensionNumbersAttr::get(builder.getContext(), {}, {},
                                              lhsContracting(), contracting),
      ArrayAttr(), stablehlo::DotAlgorithmAttr())};
}

Decomposition LookupOp::decompose(OpBuilder &builder) {
  TensorBuilder emit(builder, getLoc());
  Type byte = IntegerType::get(builder.getContext(), 8, IntegerType::Unsigned);
  Value x = getOperand();
  if (tensorOf(x).getElementType() != byte)
    x = emit.make<stablehlo::BitcastConvertOp>(tensorOf(x).clone(byte), x);
  return SmallVector<Value>{
      emit.take(getTable(), emit.convert(x, builder.getI32Type()), 0)};
}

Decomposition PoolOp::decompose(OpBuilder &builder) {
  TensorBuilder emit(builder, getLoc());
  auto spatial = windowOf(*this, getWindow());
  const stablehlo::WindowDimension single;
  const stablehlo::WindowDimension window[] = {single, single, spatial[0],
                                               spatial[1], single};
  Value x = getInput();
  Type element = tensorOf(getResult()).getElementType();
  x = emit.convert(x, element);
  if (getKind() == "max")
    return SmallVector<Value>{
        emit.reduceWindow<stablehlo::MaxOp>(x, emit.lowest(element), window)};
  if (getZeroPoint() != 0)
    x = emit.sub(x, double(static_cast<int64_t>(getZeroPoint())));
  auto sumOf = [&](Value value) {
    return emit.reduceWindow<stablehlo::AddOp>(value, emit.scalar(0, element),
                                               window);
  };
  Value sum = sumOf(x);
  if (getKind() == "average_window")
    return SmallVector<Value>{
        emit.div(sum, double(getWindow()[0] * getWindow()[1]))};
  return SmallVector<Value>{emit.div(sum, sumOf(emit.splat(1, tensorOf(x))))};
}

/// The convolution of \p input, [images * groups, C, H, W], by \p gradient,
/// [K * groups, C, H', W'], that gives a window of \p taps: [images, K *
/// groups, R, S]. What \p op says is of the convolution whose weights these are
/// gradients of.
template <typename Op>
static Value correlated(TensorBuilder &emit, Op op, Value input, Value gradient,
                        ArrayRef<int64_t> taps, int64_t groups) {
  auto from = tensorOf(input), by = tensorOf(gradient);
  SmallVector<int64_t> padding;
  for (unsigned i : {0u, 1u}) {
    const int64_t low = op.getPaddingLow()[i];
    padding.push_back(low);
    padding.push_back((taps[i] - 1) * op.getDilations()[i] +
                      (by.getDimSize(i + 2) - 1) * op.getStrides()[i] + 1 -
                      from.getDimSize(i + 2) - low);
  }
  Builder &b = emit.builder;
  const int64_t spatial[] = {2, 3};
  auto numbers = stablehlo::ConvDimensionNumbersAttr::get(
      b.getContext(), 0, 1, spatial, 1, 0, spatial, 0, 1, spatial);
  return emit.make<stablehlo::ConvolutionOp>(
      from.clone(
          {from.getDimSize(0) / groups, by.getDimSize(0), taps[0], taps[1]}),
      input, gradient, op.getDilationsAttr(),
      DenseIntElementsAttr::get(RankedTensorType::get({2, 2}, b.getI64Type()),
                                ArrayRef<int64_t>(padding)),
      b.getDenseI64ArrayAttr({1, 1}), op.getStridesAttr(), DenseBoolArrayAttr(),
      numbers, b.getI64IntegerAttr(1), b.getI64IntegerAttr(groups),
      ArrayAttr());
}

/// Each channel of each image is convolved by its gradient. Groups are of a
/// known number.
Decomposition DepthwiseGradientOp::decompose(OpBuilder &builder) {
  if (!tensorOf(getResult()).hasStaticShape())
    return failure();
  TensorBuilder emit(builder, getLoc());
  ArrayRef<int64_t> shape = tensorOf(getResult()).getShape();
  const int64_t channels = shape[1] * shape[4], planes = shape[0] * channels;
  auto planesOf = [&](Value blocked) {
    ArrayRef<int64_t> from = tensorOf(blocked).getShape();
    return emit.reshape(unpacked(emit, blocked, channels),
                        {planes, 1, from[2], from[3]});
  };
  Value sums = correlated(emit, *this, planesOf(getInput()),
                          planesOf(getGradient()), shape.slice(2, 2), planes);
  sums = emit.reshape(sums, {shape[0], channels, shape[2], shape[3]});
  return SmallVector<Value>{packed(emit, sums, shape)};
}

/// The smaller one.
static nn::Size least(TensorBuilder &emit, const nn::Size &a,
                      const nn::Size &b) {
  if (a.isKnown() && b.isKnown())
    return std::min(a.known(), b.known());
  return nn::Size::computed(emit.min(emit.extentOf(a), emit.extentOf(b)));
}

/// The images of each part are the channels of a convolution.
Decomposition WeightGradientOp::decompose(OpBuilder &builder) {
  TensorBuilder emit(builder, getLoc());
  ArrayRef<int64_t> shape = tensorOf(getResult()).getShape();
  const int64_t lanes = shape[5];
  const nn::Size all = nn::Size::of(getInput(), 0),
                 images = emit.quotient(emit.sum(all, shape[0] - 1), shape[0]);
  auto channelsOf = [&](Value blocked, int64_t part) {
    Value plain =
        unpacked(emit, blocked, tensorOf(blocked).getDimSize(1) * lanes);
    plain = emit.slice(plain, 0, least(emit, emit.product(images, part), all),
                       least(emit, emit.product(images, part + 1), all));
    return emit.transpose(plain, {1, 0, 2, 3});
  };
  SmallVector<Value> parts;
  for (int64_t part = 0; part < shape[0]; ++part) {
    // [C, K, R, S]
    Value sums = correlated(emit, *this, channelsOf(getInput(), part),
                            channelsOf(getGradient(), part), shape.slice(3, 2),
                            /*groups=*/1);
    sums = emit.reshape(
        sums, {1, shape[2], lanes, shape[1], lanes, shape[3], shape[4]});
    parts.push_back(emit.transpose(sums, {0, 3, 1, 5, 6, 2, 4}));
  }
  return SmallVector<Value>{parts.size() == 1 ? parts[0]
                                              : emit.concatenate(parts, 0)};
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

Decomposition AttentionOp::decompose(OpBuilder &builder) {
  TensorBuilder emit(builder, getLoc());
  Value query = emit.transpose(getQuery(), getQueryDims()),
        key = emit.transpose(getKey(), getKeyDims()),
        value = emit.transpose(getValue(), getValueDims());
  auto type = RankedTensorType::get(
      applyPermutation(tensorOf(getResult()).getShape(), getResultDims()),
      tensorOf(getResult()).getElementType());
  Value result = builder.create<nn::AttentionOp>(
      getLoc(), type, query, key, value, getMask(), getScaleAttr(),
      getCausalAttr(), getChosenAttr());
  return SmallVector<Value>{
      emit.transpose(result, invertPermutationVector(getResultDims()))};
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

/// The values that \p body yields for \p arguments, in the shapes of \p types.
static SmallVector<Value> inlined(TensorBuilder &emit, Block &body,
                                  ValueRange arguments, TypeRange types) {
  auto shaped = [&](Value value, Type type) {
    return value.getType() == type
               ? value
               : emit.reshape(value, cast<RankedTensorType>(type).getShape());
  };
  IRMapping mapping;
  for (auto [argument, value] : llvm::zip_equal(body.getArguments(), arguments))
    mapping.map(argument, shaped(value, argument.getType()));
  for (Operation &op : body.without_terminator())
    emit.builder.clone(op, mapping);
  SmallVector<Value> results;
  for (auto [value, type] :
       llvm::zip_equal(body.getTerminator()->getOperands(), types))
    results.push_back(shaped(mapping.lookup(value), type));
  return results;
}

Decomposition KernelOp::decompose(OpBuilder &builder) {
  TensorBuilder emit(builder, getLoc());
  return inlined(emit, getBody().front(), getInputs(), getResultTypes());
}

Decomposition ComputedConstantOp::decompose(OpBuilder &builder) {
  TensorBuilder emit(builder, getLoc());
  return inlined(emit, getBody().front(), {}, getResult().getType());
}

} // namespace sinter::cpu
