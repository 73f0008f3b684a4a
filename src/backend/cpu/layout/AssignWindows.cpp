//===- AssignWindows.cpp - convolutions and pools on blocks ---------------===//

#include "backend/cpu/cost/EstimateFigures.h"
#include "backend/cpu/cost/GraphShapes.h"
#include "backend/cpu/ir/CpuOps.h"
#include "backend/cpu/kernels/conv/WeightGradient.h"
#include "backend/cpu/kernels/conv/WinogradArithmetic.h"
#include "backend/cpu/layout/DilatedRows.h"
#include "backend/cpu/layout/LayoutAssigner.h"
#include "backend/cpu/layout/RowsAsImages.h"
#include "backend/cpu/precision/ExactWidening.h"
#include "backend/cpu/weights/HalfWeights.h"
#include "backend/cpu/weights/ScaledWeights.h"
#include "graph/Constants.h"
#include "graph/ProductPrecision.h"
#include "interpreter/Interpreter.h"
#include "passes/LowerQuantized.h"
#include "runtime/BreakForTest.h"

using namespace mlir;
using sinter::nn::TensorBuilder;

namespace sinter::cpu {

/// What operations on a constant make of it, however large it is.
static std::optional<Tensor> valueOf(Value value) {
  if (std::optional<Tensor> constant = constantTensor(value))
    return constant;
  Operation *op = value.getDefiningOp();
  if (!op || !isa<stablehlo::ReverseOp, stablehlo::TransposeOp,
                  stablehlo::ReshapeOp, stablehlo::PadOp>(op))
    return std::nullopt;
  SmallVector<Tensor> operands;
  for (Value operand : op->getOperands()) {
    std::optional<Tensor> known = valueOf(operand);
    if (!known)
      return std::nullopt;
    operands.push_back(std::move(*known));
  }
  Result<std::vector<Tensor>> results = evaluate(op, operands);
  if (!results)
    return std::nullopt;
  return results->front();
}

/// [C, 1, R, S] of a depthwise convolution.
Value LayoutAssigner::depthwiseGradient(TensorBuilder &emit,
                                        const WeightGradientForm &form) {
  auto type = tensorOf(form.input);
  const int64_t channels = type.getDimSize(1);
  auto images = blockedType(
      type.clone({type.getDimSize(0), channels, form.taps[0], form.taps[1]}));
  Value sums = emit.make<DepthwiseGradientOp>(
      images, pack(emit, form.input), pack(emit, form.gradient), form.strides,
      form.dilations, form.paddingLow);
  sums = emit.transpose(emit.sum(sums, {0}), {0, 3, 1, 2});
  sums = emit.reshape(
      sums, {images.getDimSize(1) * lanes, 1, form.taps[0], form.taps[1]});
  return emit.slice(sums, 0, 0, channels);
}

/// [K, C, R, S] of any other.
Value LayoutAssigner::weightGradient(TensorBuilder &emit,
                                     const WeightGradientForm &form) {
  auto input = tensorOf(form.input), gradient = tensorOf(form.gradient);
  WeightGradientShape shape;
  shape.batch = input.getDimSize(0);
  shape.inputs = input.getDimSize(1);
  shape.outputs = gradient.getDimSize(1);
  const int64_t inputBlocks = llvm::divideCeil(shape.inputs, lanes),
                outputBlocks = llvm::divideCeil(shape.outputs, lanes);
  auto type = input.clone({shape.parts(lanes), outputBlocks, inputBlocks,
                           form.taps[0], form.taps[1], lanes, lanes});
  Value sums = emit.make<WeightGradientOp>(
      type, pack(emit, form.input), pack(emit, form.gradient),
      static_cast<uint64_t>(shape.inputs), static_cast<uint64_t>(shape.outputs),
      form.strides, form.dilations, form.paddingLow);
  sums = emit.transpose(emit.sum(sums, {0}), {0, 5, 1, 4, 2, 3});
  sums = emit.reshape(sums, {outputBlocks * lanes, inputBlocks * lanes,
                             form.taps[0], form.taps[1]});
  return emit.slice(emit.slice(sums, 0, 0, shape.outputs), 1, 0, shape.inputs);
}

/// Whether Winograd's method may multiply \p input by \p weights, as \p op asks
/// for: floats if it is not to be exact, bytes where it is.
bool LayoutAssigner::allowsFast(stablehlo::ConvolutionOp op, Value input,
                                Value weights) const {
  Type element = getElementTypeOrSelf(input.getType());
  if (!element.isInteger(8))
    return askedPrecision(op).value_or(setting.precision) != Precision::Exact &&
           !op->hasAttr(exactProductAttribute);
  std::optional<Tensor> known = valueOf(weights);
  if (!known || byteSize(known->type()) != 1 || isFloat(known->type()))
    return false;
  return WinogradArithmetic::holdsSums(*elementTypeOf(element), *known);
}

/// The dilation of what Winograd's method computes faster without; 1 where it
/// stays.
int64_t LayoutAssigner::dilationToUndo(const ConvolutionForm &form,
                                       RankedTensorType type) const {
  const int64_t dilation = form.dilations[0];
  const std::array<int64_t, 2> each = {dilation, dilation}, one = {1, 1};
  auto isShort = [&](int64_t size) {
    return !ShapedType::isDynamic(size) &&
           size < figures::fewestDilationsInImage * dilation;
  };
  const bool isUndone =
      dilation > 1 && dilation <= figures::mostUndoneDilation &&
      form.dilations == each && form.paddingLow == each &&
      form.paddingHigh == each && form.strides == one && form.upscale == one &&
      form.groups == 1 && form.weights[0] >= figures::fewestUndoneChannels &&
      form.weights[1] >= figures::fewestUndoneChannels &&
      form.weights[2] == 3 && form.weights[3] == 3 &&
      type.getElementType().isF32() && !isShort(type.getDimSize(2)) &&
      !isShort(type.getDimSize(3)) && !target.hasMatrixUnits;
  return isUndone ? dilation : 1;
}

bool LayoutAssigner::rewriteConvolution(stablehlo::ConvolutionOp op) {
  if (std::optional<WeightGradientForm> form = WeightGradientForm::of(op)) {
    OpBuilder builder(op);
    TensorBuilder emit(builder, op.getLoc());
    Value sums = form->isDepthwise ? depthwiseGradient(emit, *form)
                                   : weightGradient(emit, *form);
    Value result = form->result(emit, sums, op);
    patterns.replaced(blockChannelsLabel, op.getResult(), result);
    op.getResult().replaceAllUsesWith(result);
    return true;
  }
  // What stands in blocks already need not be brought there.
  if (hasFewProducts(op) && !blockedOf.count(op.getLhs()))
    return false;
  OpBuilder builder(op);
  TensorBuilder emit(builder, op.getLoc());
  std::optional<ConvolutionForm> form = ConvolutionForm::of(op, target);
  if (!form)
    return false;
  Value plain = form->plainInput(emit);
  auto type = imageType(tensorOf(plain));
  // The few channels of an image are read where they are.
  bool isPlanar = !blockedOf.count(plain) && form->groups == 1 &&
                  type.getDimSize(1) < lanes &&
                  !type.getElementType().isInteger(8);
  Value input = isPlanar ? asImage(emit, plain) : pack(emit, plain);
  Value weights = form->plainWeights(emit);
  if (std::optional<Tensor> known = valueOf(weights);
      known && !weights.getDefiningOp<stablehlo::ConstantOp>())
    weights =
        makeConstant(builder, op.getLoc(), *known, constantName(op.getRhs()));
  const bool isFast = allowsFast(op, input, weights);
  std::optional<DilatedRows> rows;
  auto computedType = type;
  if (const int64_t dilation = isFast ? dilationToUndo(*form, type) : 1;
      dilation > 1) {
    rows.emplace(emit, input, dilation);
    input = rows->apart(emit, input);
    form->dilations = form->paddingLow = form->paddingHigh = {1, 1};
    auto blocked = tensorOf(input);
    computedType = type.clone({type.getDimSize(0), type.getDimSize(1),
                               blocked.getDimSize(2), blocked.getDimSize(3)});
  }
  auto resultType = form->resultType(computedType);
  // What follows from sizes where they are known.
  DenseI64ArrayAttr paddingHigh;
  if (resultType.isDynamicDim(2) || resultType.isDynamicDim(3))
    paddingHigh = builder.getDenseI64ArrayAttr(form->paddingHigh);
  if (paddingHigh && type.getElementType().isInteger(8) &&
      brokenForTest() == "border")
    form->zeroPoint ^= 64;
  const Precision allowed = askedPrecision(op).value_or(setting.precision);
  Value result = emit.make<ConvolutionOp>(
      blockedType(resultType), input, weights, /*zero=*/Value(),
      static_cast<uint64_t>(resultType.getDimSize(1)),
      static_cast<uint64_t>(form->groups), DenseI64ArrayAttr(), isFast,
      form->strides, form->dilations, form->paddingLow, form->zeroPoint,
      paddingHigh, DenseI64ArrayAttr());
  auto product = result.getDefiningOp<ConvolutionOp>();
  if (allowed != Precision::Default)
    setPrecision(product, allowed);
  if (Value scaled = scaleBehindSums(product, setting, patterns))
    result = scaled;
  else
    storeInHalfPrecision(product, setting, patterns);
  if (rows)
    result = rows->together(emit, result);
  if (form->upscale != std::array<int64_t, 2>{1, 1}) {
    // Pixels that each became a window of pixels are put in their places.
    result = form->spread(emit, result, lanes);
    if (!result)
      return false;
  }
  if (form->isPlainResult(op)) {
    remember(op.getResult(), result);
    return true;
  }
  Value unpacked = emit.make<UnpackOp>(form->finalType(type), result);
  remember(unpacked, result);
  op.getResult().replaceAllUsesWith(form->plainResult(emit, unpacked, op));
  return true;
}

/// Whether f32, in which pools are computed, holds every number of a type.
static bool fitsF32(Type element) {
  unsigned widest = isa<FloatType>(element)     ? 32
                    : isa<IntegerType>(element) ? 16
                                                : 0;
  return widest && element.getIntOrFloatBitWidth() <= widest;
}

std::optional<Int8Distances> LayoutAssigner::blockedBytes(Value operand,
                                                          bool isMean) const {
  std::optional<Int8Distances> found = Int8Distances::match(operand);
  if (!found || found->variable || (!isMean && found->bytes != operand))
    return std::nullopt;
  found->bytes = blockedOf.lookup(found->bytes);
  return found->bytes ? found : std::nullopt;
}

template <typename Op> bool LayoutAssigner::rewritePool(Op op, StringRef kind) {
  auto found = blockedOf.find(op.getOperand());
  auto type = tensorOf(op.getResult());
  Type element = type.getElementType();
  if (found == blockedOf.end() || type.getRank() != 4 || !fitsF32(element) ||
      (kind != "max" && !isa<FloatType>(element)))
    return false;
  OpBuilder builder(op);
  TensorBuilder emit(builder, op.getLoc());
  // Every window must meet the operand.
  auto from = tensorOf(op.getOperand());
  for (int64_t i = 0; i < 2; ++i) {
    int64_t reach = (op.getWindow()[i] - 1) * op.getDilations()[i];
    if (reach < op.getPaddingLow()[i] || op.getDilations()[i] != 1)
      return false;
    if (type.isDynamicDim(i + 2)) {
      if (op.getPaddingHigh()[i] > reach)
        return false;
      continue;
    }
    int64_t last = (type.getDimSize(i + 2) - 1) * op.getStrides()[i] -
                   op.getPaddingLow()[i];
    if (from.isDynamicDim(i + 2) || last >= from.getDimSize(i + 2))
      return false;
  }
  DenseI64ArrayAttr paddingHigh;
  if (type.isDynamicDim(2) || type.isDynamicDim(3))
    paddingHigh = builder.getDenseI64ArrayAttr(op.getPaddingHigh());
  Type f32 = builder.getF32Type();
  auto pooled = [&](Value input, Type element, int64_t zeroPoint) {
    return emit.make<PoolOp>(blockedType(type).clone(element), input,
                             builder.getStringAttr(kind), op.getWindow(),
                             op.getStrides(), op.getDilations(),
                             op.getPaddingLow(), zeroPoint, paddingHigh);
  };
  const bool isMean = kind != "max";
  Value result;
  if (auto bytes = blockedBytes(op.getOperand(), isMean))
    result = pooled(bytes->bytes, isMean ? f32 : element, bytes->zeroPoint);
  else
    result = pooled(emit.convert(found->second, f32), f32, 0);
  Value narrow = emit.convert(result, element);
  // The greatest of numbers is one of them.
  if (!isMean && narrow != result)
    narrow.getDefiningOp()->setAttr(roundsNothingAttribute,
                                    builder.getUnitAttr());
  remember(op.getResult(), narrow);
  return true;
}

/// "average_window" or "average_present"; nothing where the divisor is neither.
static std::optional<StringRef> averageKind(nn::AveragePoolOp op) {
  auto isZero = [](int64_t each) { return each == 0; };
  bool noPadding = llvm::all_of(op.getPaddingLow(), isZero) &&
                   llvm::all_of(op.getPaddingHigh(), isZero);
  if (noPadding)
    return "average_window";
  if (!op.getCountPadding())
    return "average_present";
  if (llvm::all_of(op.getCeilPadding(), isZero))
    return "average_window";
  return std::nullopt;
}

bool LayoutAssigner::rewritePool(nn::MaxPoolOp op) {
  return rewritePool(op, "max");
}

bool LayoutAssigner::rewritePool(nn::AveragePoolOp op) {
  const std::optional<StringRef> kind = averageKind(op);
  return kind && rewritePool(op, *kind);
}

} // namespace sinter::cpu
