#include "backend/cpu/quantized/Int8Products.h"

#include "backend/cpu/ir/CpuOps.h"
#include "backend/cpu/ir/ProductSides.h"
#include "backend/cpu/kernels/common/Arithmetic.h"
#include "backend/cpu/weights/ComputeWeights.h"
#include "graph/Broadcast.h"
#include "graph/Constants.h"
#include "graph/Quantization.h"
#include "graph/Types.h"

using namespace mlir;
using sinter::nn::TensorBuilder;

namespace sinter::cpu {

static bool isOfBytes(Value value) {
  return tensorOf(value).getElementType().isInteger(8);
}

/// The 8-bit tensor that \p value is a conversion of; null if it is none.
static Value bytesIn(Value value) {
  if (isOfBytes(value))
    return value;
  auto convert = value.getDefiningOp<stablehlo::ConvertOp>();
  Type element = tensorOf(value).getElementType();
  const bool holdsBytes =
      element.isF32() || element.isInteger(32) || element.isInteger(64);
  return convert && holdsBytes && isOfBytes(convert.getOperand())
             ? convert.getOperand()
             : Value();
}

/// The splat value of \p value, if the element type of \p bytes represents it.
static std::optional<int64_t> splatByte(Value value, Value bytes) {
  std::optional<double> number = splatNumber(value);
  const IntegerBounds bounds =
      boundsOf(cast<IntegerType>(tensorOf(bytes).getElementType()));
  if (!number || *number < double(bounds.least) ||
      *number > double(bounds.greatest) || *number != std::trunc(*number))
    return std::nullopt;
  return static_cast<int64_t>(*number);
}

/// The tensor of one element that \p value broadcasts; null if it does not.
static Value repeatedScalar(Value value) {
  const std::optional<Broadcast> broadcast = Broadcast::of(value);
  return broadcast && elementCount(tensorOf(broadcast->operand).getShape()) == 1
             ? broadcast->operand
             : Value();
}

std::optional<Int8Distances> Int8Distances::match(Value value) {
  // Floats represent differences of 8-bit integers exactly.
  if (auto convert = value.getDefiningOp<stablehlo::ConvertOp>();
      convert && tensorOf(value).getElementType().isF32() &&
      tensorOf(convert.getOperand()).getElementType().isInteger(32)) {
    std::optional<Int8Distances> found = match(convert.getOperand());
    return found && !found->variable ? found : std::nullopt;
  }
  if (Value bytes = bytesIn(value))
    return Int8Distances{bytes, 0, {}};
  auto difference = value.getDefiningOp<stablehlo::SubtractOp>();
  Value bytes = difference ? bytesIn(difference.getLhs()) : Value();
  if (!bytes)
    return std::nullopt;
  if (std::optional<int64_t> number = splatByte(difference.getRhs(), bytes))
    return Int8Distances{bytes, *number, {}};
  if (Value scalar = repeatedScalar(difference.getRhs());
      scalar && tensorOf(value).getElementType().isInteger(32))
    return Int8Distances{bytes, 0, scalar};
  return std::nullopt;
}

Int8Distances Int8Distances::preferredBy(const Target &target,
                                         TensorBuilder &emit) const {
  const bool isUnsigned = tensorOf(bytes).getElementType().isUnsignedInteger();
  const bool wantsUnsigned = Arithmetic::bestInt8(target) == ElementType::UI8;
  // 16-bit lanes hold 8-bit integers of either sign.
  if (isUnsigned == wantsUnsigned || Arithmetic::bytesAreWords(target))
    return *this;
  // Adds or subtracts 128, which flips the top bit.
  Value turned = emit.make<stablehlo::XorOp>(
      bytes, emit.splatLike(isUnsigned ? 128 : -128, bytes));
  auto type = IntegerType::get(emit.builder.getContext(), 8,
                               wantsUnsigned ? IntegerType::Unsigned
                                             : IntegerType::Signless);
  Int8Distances result = *this;
  result.bytes = emit.make<stablehlo::BitcastConvertOp>(
      tensorOf(bytes).clone(type), turned);
  const double shift = wantsUnsigned ? 128 : -128;
  if (variable)
    result.variable = emit.add(variable, emit.splat(shift, tensorOf(variable)));
  else
    result.zeroPoint += static_cast<int64_t>(shift);
  return result;
}

static bool isSigned(Value bytes) {
  return !tensorOf(bytes).getElementType().isUnsignedInteger();
}

std::optional<Tensor> signedBytes(Value weights) {
  if (!isa<IntegerType>(tensorOf(weights).getElementType()))
    return std::nullopt;
  // Widened i8 constants need no conversion.
  if (Value bytes = bytesIn(weights); bytes && isSigned(bytes))
    return computedWeight(bytes);
  std::optional<Tensor> known = computedWeight(weights);
  if (!known || known->type() == ElementType::I8)
    return known;
  const auto byte = IntegerType::get(weights.getContext(), 8);
  const IntegerBounds bounds = boundsOf(byte), held = boundsOfElements(*known);
  if (!bounds.contains(held.least) || !bounds.contains(held.greatest))
    return std::nullopt;
  return shifted(*known, byte, 0);
}

bool Int8Convolution::readsBytes(stablehlo::ConvolutionOp op) {
  auto widened = op.getRhs().getDefiningOp<stablehlo::ConvertOp>();
  if (!widened || !isOfBytes(widened.getOperand()) ||
      !isSigned(widened.getOperand()) ||
      !widened.getOperand().getDefiningOp<stablehlo::ConstantOp>() ||
      !tensorOf(op.getResult()).getElementType().isInteger(32) ||
      op.isDepthwise())
    return false;
  auto input = Int8Distances::match(op.getLhs());
  return input && !input->variable;
}

std::optional<Int8Convolution>
Int8Convolution::match(stablehlo::ConvolutionOp op) {
  if (!tensorOf(op.getResult()).getElementType().isInteger(32) ||
      op.isDepthwise())
    return std::nullopt;
  auto input = Int8Distances::match(op.getLhs());
  if (!input || input->variable)
    return std::nullopt;
  std::optional<Tensor> weights = signedBytes(op.getRhs());
  if (!weights)
    return std::nullopt;
  return Int8Convolution{*input, std::move(*weights)};
}

/// The sums of \p weights, of i8, over the dimensions \p contracting, in i32,
/// which wraps as accumulators do.
static Tensor sumsOver(const Tensor &weights, ArrayRef<int64_t> contracting) {
  const auto shape = weights.shape();
  auto isSummed = [&](size_t dim) {
    return llvm::is_contained(contracting, int64_t(dim));
  };
  SmallVector<int64_t> kept, strides(shape.size(), 0);
  int64_t size = 1;
  for (size_t dim = shape.size(); dim-- > 0;)
    if (!isSummed(dim)) {
      strides[dim] = size;
      size *= shape[dim];
      kept.insert(kept.begin(), shape[dim]);
    }
  std::vector<uint32_t> sums(size);
  // Contiguous elements have a common sum, or one each.
  const bool haveOneSum = shape.empty() || isSummed(shape.size() - 1);
  size_t outerDims = shape.size();
  int64_t length = 1;
  while (outerDims > 0 && isSummed(outerDims - 1) == haveOneSum)
    length *= shape[--outerDims];
  SmallVector<int64_t> place(outerDims, 0);
  int64_t at = 0;
  const auto *row = reinterpret_cast<const int8_t *>(weights.data());
  for (int64_t left = weights.size(); left > 0; left -= length) {
    if (haveOneSum) {
      uint32_t sum = 0;
      for (int64_t i = 0; i < length; ++i)
        sum += static_cast<uint32_t>(row[i]);
      sums[at] += sum;
    } else {
      for (int64_t i = 0; i < length; ++i)
        sums[at + i] += static_cast<uint32_t>(row[i]);
    }
    row += length;
    for (size_t dim = outerDims; dim-- > 0;) {
      at += strides[dim];
      if (++place[dim] < shape[dim])
        break;
      at -= strides[dim] * shape[dim];
      place[dim] = 0;
    }
  }
  Tensor result(ElementType::I32, Shape(kept.begin(), kept.end()));
  std::memcpy(result.mutableBytes(), sums.data(), result.bytes());
  return result;
}

/// \p op without padding, on a padded input.
static Value convolved(TensorBuilder &emit, stablehlo::ConvolutionOp op,
                       Value padded) {
  Operation *copy = emit.builder.clone(*op);
  auto unpadded = cast<stablehlo::ConvolutionOp>(copy);
  unpadded.setOperand(0, padded);
  unpadded.removePaddingAttr();
  return unpadded.getResult();
}

Value withoutVariableZeroPoint(stablehlo::ConvolutionOp op) {
  auto type = tensorOf(op.getResult());
  auto input = Int8Distances::match(op.getLhs());
  if (!type.getElementType().isInteger(32) || op.isDepthwise() || !input ||
      !input->variable || op.getBatchGroupCount() != 1)
    return {};
  std::optional<Tensor> weights = signedBytes(op.getRhs());
  if (!weights)
    return {};
  OpBuilder builder(op);
  TensorBuilder emit(builder, op.getLoc());
  auto numbers = op.getDimensionNumbers();
  auto bytes = tensorOf(input->bytes);
  SmallVector<int64_t> low(bytes.getRank(), 0), high(low), between(low);
  for (auto [dim, window] :
       llvm::zip(numbers.getInputSpatialDimensions(), op.getWindow())) {
    if (window.baseDilation != 1)
      return {};
    low[dim] = window.paddingLow;
    high[dim] = window.paddingHigh;
  }
  // The padded type must represent the padding value.
  Value zero = emit.reshape(input->variable, {}),
        byte = bytesIn(input->variable);
  if (!byte || tensorOf(byte).getElementType() != bytes.getElementType())
    return {};
  auto isZero = [](int64_t each) { return each == 0; };
  Value padded = input->bytes;
  if (!llvm::all_of(low, isZero) || !llvm::all_of(high, isZero))
    padded = emit.make<stablehlo::PadOp>(padded, emit.reshape(byte, {}), low,
                                         high, between);
  Value sums = convolved(emit, op, emit.convert(padded, type.getElementType()));
  SmallVector<int64_t> summed;
  const int64_t outputs = numbers.getKernelOutputFeatureDimension();
  for (int64_t dim = 0; dim < tensorOf(op.getRhs()).getRank(); ++dim)
    if (dim != outputs)
      summed.push_back(dim);
  Value ofOutputs =
      makeConstant(builder, op.getLoc(), sumsOver(*weights, summed));
  Value added = emit.mul(
      ofOutputs, emit.broadcast(zero, {}, tensorOf(ofOutputs).getShape()));
  return emit.sub(sums,
                  emit.broadcast(added,
                                 {int64_t(numbers.getOutputFeatureDimension())},
                                 emit.sizes(sums)));
}

std::optional<Int8Product> Int8Product::match(stablehlo::DotGeneralOp op) {
  const stablehlo::ProductSide lhs = op.getSide(0), rhs = op.getSide(1);
  if (!tensorOf(op.getResult()).getElementType().isInteger(32) ||
      !lhs.batching.empty() || lhs.contracting.empty() || !isMatrix(rhs))
    return std::nullopt;
  std::optional<Int8Distances> input = Int8Distances::match(op.getLhs());
  std::optional<Tensor> weights =
      input ? signedBytes(op.getRhs()) : std::nullopt;
  if (!weights)
    return std::nullopt;
  return Int8Product{op, *input, std::move(*weights)};
}

Value Int8Product::emit(const Target &target) const {
  stablehlo::DotGeneralOp op = this->op;
  const stablehlo::ProductSide lhs = op.getSide(0), rhs = op.getSide(1);
  auto type = tensorOf(op.getResult());
  OpBuilder builder(op);
  TensorBuilder emit(builder, op.getLoc());
  const Int8Distances input = this->input.preferredBy(target, emit);
  Value bytes = withContractedLast(emit, input.bytes, lhs);
  Value packed =
      makeConstant(builder, op.getLoc(), weights, constantName(op.getRhs()));
  Value sums = emit.make<Int8ProductOp>(type, bytes, packed, rhs.contracting);
  if (input.zeroPoint == 0 && !input.variable)
    return sums;
  // The contribution of the zero point to each column.
  Value ofColumns =
      makeConstant(builder, op.getLoc(), sumsOver(weights, rhs.contracting));
  ArrayRef<int64_t> columns = tensorOf(ofColumns).getShape();
  Value zero =
      input.variable
          ? emit.broadcast(emit.reshape(input.variable, {}), {}, columns)
          : emit.splat(double(input.zeroPoint), tensorOf(ofColumns));
  auto places = llvm::to_vector(llvm::seq<int64_t>(
      type.getRank() - int64_t(columns.size()), type.getRank()));
  return emit.sub(sums, emit.broadcast(emit.mul(ofColumns, zero), places,
                                       emit.sizes(sums)));
}

} // namespace sinter::cpu
