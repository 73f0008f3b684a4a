#include "backend/cpu/layout/AssignLayouts.h"

#include "backend/cpu/cost/EstimateFigures.h"
#include "backend/cpu/cost/GraphShapes.h"
#include "backend/cpu/ir/CpuOps.h"
#include "backend/cpu/ir/OperationKind.h"
#include "backend/cpu/kernels/conv/WeightGradient.h"
#include "backend/cpu/kernels/conv/WinogradArithmetic.h"
#include "backend/cpu/layout/ConvolutionForm.h"
#include "backend/cpu/layout/DilatedRows.h"
#include "backend/cpu/layout/NormInBlocks.h"
#include "backend/cpu/layout/WeightGradientForm.h"
#include "backend/cpu/precision/ExactWidening.h"
#include "backend/cpu/quantized/Int8Products.h"
#include "backend/cpu/quantized/PairMinMax.h"
#include "backend/cpu/target/PassSetting.h"
#include "backend/cpu/weights/HalfWeights.h"
#include "backend/cpu/weights/ScaledWeights.h"
#include "graph/Constants.h"
#include "graph/ProductPrecision.h"
#include "graph/interfaces/Axes.h"
#include "graph/nn/TensorBuilder.h"
#include "interpreter/Interpreter.h"
#include "passes/LowerQuantized.h"
#include "runtime/BreakForTest.h"

#include <numeric>

using namespace mlir;
using sinter::nn::TensorBuilder;

namespace sinter::cpu {

static constexpr llvm::StringLiteral blockChannelsLabel = "block-channels";

ArrayRef<PatternInfo> assignLayoutsPatterns() {
  static const PatternInfo infos[] = {
      {blockChannelsLabel,
       "convolution(x, w) -> cpu.unpack(cpu.convolution(cpu.pack(x), w))",
       "cpu-assign-layouts"}};
  return infos;
}

namespace {

/// Walks a block once, in order; what is computed on blocks is remembered
/// beside the plain value, and unpacked when somebody needs that.
class LayoutAssigner {
public:
  LayoutAssigner(Block &block, const PassSetting &setting, PatternRun &run)
      : block(block), setting(setting), target(setting.target),
        lanes(target.f32Lanes), patterns(run) {}

  void run();

private:
  bool rewrite(Operation *op);
  bool rewriteConvolution(stablehlo::ConvolutionOp op);
  bool allowsFast(stablehlo::ConvolutionOp op, Value input,
                  Value weights) const;
  int64_t dilationToUndo(const ConvolutionForm &form,
                         RankedTensorType type) const;
  Value weightGradient(TensorBuilder &emit, const WeightGradientForm &form);
  Value depthwiseGradient(TensorBuilder &emit, const WeightGradientForm &form);
  template <typename Op> bool rewritePool(Op op, StringRef kind);
  /// The blocked bytes that a pool may read in the place of its operand, and
  /// their zero point.
  std::optional<Int8Distances> blockedBytes(Value operand, bool isMean) const;
  /// The greatest and the least of all numbers are those of each channel first.
  bool rewriteReduction(stablehlo::ReduceOp op);
  bool rewriteConcatenate(stablehlo::ConcatenateOp op);
  /// Whether blocks put beside each other hold what \p op joins.
  bool joinsWholeBlocks(stablehlo::ConcatenateOp op) const;
  bool rewriteResize(nn::ResizeOp op);
  bool rewriteNorm(nn::GroupNormOp op);
  /// What may be repeated, for all that is known of its sizes, and is not.
  bool rewriteRepeated(nn::BroadcastLikeOp op);
  /// What computes each channel by itself does so for blocks of them; what it
  /// makes of all pixels of a channel, of an image or of all, is plain again.
  bool rewriteByChannel(Operation *op);
  /// A copy of \p op that makes one number of each channel, in blocks.
  Value ofAllImages(Operation *op, const Axes &axes);
  /// A copy of \p op on blocks, whose result's type is still to be changed;
  /// null where there is none.
  Operation *onBlocks(Operation *op, const Axes &axes);

  RankedTensorType blockedType(RankedTensorType plain) const;
  Value pack(TensorBuilder &emit, Value plain);
  /// The blocked form of an operand, if it costs no reorder.
  /// The same, \p like being a value in blocks that has its sizes, or null.
  Value blockedOperand(TensorBuilder &emit, Value operand, Value like);
  Value blockedBroadcast(TensorBuilder &emit, stablehlo::BroadcastInDimOp op);
  Value blockedDynamicBroadcast(TensorBuilder &emit, Value operand, Value like);
  void remember(Value plain, Value blocked) { blockedOf[plain] = blocked; }
  /// Unpacks the results of a replaced op that somebody still reads.
  void unpackWhereRead(Operation *op);

  Block &block;
  const PassSetting &setting;
  const Target &target;
  int64_t lanes;
  PatternRun &patterns;
  llvm::DenseMap<Value, Value> blockedOf;
  /// Broadcasts repeated in the blocked shape; no reason by themselves to
  /// compute on blocks.
  llvm::DenseMap<Value, Value> broadcastOf;
  SmallVector<Operation *> replaced;
};

} // namespace

/// Whether values of \p rank dimensions may stand in blocks: [N, C, H, W], or
/// [N, C, W], which is an image of one row.
static bool isImageRank(int64_t rank) { return rank == 3 || rank == 4; }

/// Where dimension \p dim of such a value is in an image.
static int64_t placeInImage(int64_t rank, int64_t dim) {
  return rank == 3 && dim == 2 ? 3 : dim;
}

/// Which dimension of such a value each of its blocks' is.
static ArrayRef<int64_t> blockedOrder(int64_t rank) {
  static constexpr int64_t ofRows[] = {0, 1, -1, 2, -1},
                           ofImages[] = {0, 1, 2, 3, -1};
  return rank == 3 ? ArrayRef(ofRows) : ArrayRef(ofImages);
}

static RankedTensorType imageType(RankedTensorType plain) {
  SmallVector<int64_t> shape(plain.getShape());
  if (shape.size() == 3)
    shape.insert(shape.begin() + 2, 1);
  return RankedTensorType::get(shape, plain.getElementType());
}

static Value asImage(TensorBuilder &emit, Value plain) {
  const nn::Sizes sizes = emit.sizes(plain);
  return sizes.size() == 4
             ? plain
             : emit.reshape(plain, {sizes[0], sizes[1], 1, sizes[2]});
}

RankedTensorType LayoutAssigner::blockedType(RankedTensorType plain) const {
  const RankedTensorType image = imageType(plain);
  ArrayRef<int64_t> shape = image.getShape();
  int64_t blocks = llvm::divideCeil(shape[1], lanes);
  return RankedTensorType::get({shape[0], blocks, shape[2], shape[3], lanes},
                               plain.getElementType());
}

/// The elements of \p value, all the same, in another \p type; null where they
/// are not known to be.
static Value resizedSplat(TensorBuilder &emit, Value value,
                          RankedTensorType type) {
  auto constant = value.getDefiningOp<stablehlo::ConstantOp>();
  auto splat =
      constant ? dyn_cast<SplatElementsAttr>(constant.getValue()) : nullptr;
  return splat ? emit.make<stablehlo::ConstantOp>(splat.resizeSplat(type))
               : Value();
}

Value LayoutAssigner::pack(TensorBuilder &emit, Value plain) {
  Value &blocked = blockedOf[plain];
  if (blocked)
    return blocked;
  // One number stays one, beyond the last channel, too.
  auto type = blockedType(tensorOf(plain));
  blocked = resizedSplat(emit, plain, type);
  if (!blocked)
    blocked = emit.make<PackOp>(type, asImage(emit, plain));
  return blocked;
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

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

//===----------------------------------------------------------------------===//
// Channel by channel
//===----------------------------------------------------------------------===//

/// Broadcasts along channels from a vector that is cut into blocks; along other
/// dimensions as it was.
Value LayoutAssigner::blockedBroadcast(TensorBuilder &emit,
                                       stablehlo::BroadcastInDimOp op) {
  auto from = tensorOf(op.getOperand());
  RankedTensorType to = blockedType(tensorOf(op.getResult()));
  SmallVector<int64_t> dims;
  SmallVector<int64_t> shape;
  Value x = op.getOperand();
  int64_t channelPlace = -1;
  for (auto [index, dim] : llvm::enumerate(op.getBroadcastDimensions())) {
    if (from.getDimSize(index) == 1)
      continue;
    if (dim == 1)
      channelPlace = dims.size();
    dims.push_back(placeInImage(tensorOf(op.getResult()).getRank(), dim));
    shape.push_back(from.getDimSize(index));
  }
  // Dimension numbers must rise for the reshape to only drop ones.
  if (!llvm::is_sorted(dims))
    return {};
  if (channelPlace < 0)
    return emit.broadcast(emit.reshape(x, shape), dims, to.getShape());
  if (dims.size() != 1)
    return {};
  // What only has another shape is seen through, lest a kernel read what was
  // computed for each channel from memory for it.
  while (auto reshape = x.getDefiningOp<stablehlo::ReshapeOp>())
    x = reshape.getOperand();
  if (const int64_t missing = to.getDimSize(1) * lanes - shape[0])
    x = emit.padEnd(emit.reshape(x, shape), 0, missing);
  x = emit.reshape(x, {to.getDimSize(1), lanes});
  return emit.broadcast(x, {1, 4}, to.getShape());
}

/// What a broadcast to sizes that are not known repeats, and which of the
/// result's dimensions its own are.
static std::pair<Value, SmallVector<int64_t>> dynamicBroadcast(Value result) {
  SmallVector<int64_t> places;
  if (auto like = result.getDefiningOp<nn::BroadcastLikeOp>()) {
    const int64_t own = tensorOf(like.getOperand()).getRank(),
                  all = tensorOf(result).getRank();
    llvm::append_range(places, llvm::seq<int64_t>(all - own, all));
    return {like.getOperand(), places};
  }
  if (auto dynamic = result.getDefiningOp<stablehlo::DynamicBroadcastInDimOp>())
    return {dynamic.getOperand(),
            SmallVector<int64_t>(dynamic.getBroadcastDimensions())};
  return {};
}

/// The same of a broadcast to sizes that are not known, but are those of
/// \p like.
Value LayoutAssigner::blockedDynamicBroadcast(TensorBuilder &emit, Value result,
                                              Value like) {
  auto [operand, places] = dynamicBroadcast(result);
  Value x = operand;
  if (!x || !like || !llvm::is_sorted(places))
    return {};
  auto repeat = [&](Value blocked) -> Value {
    return emit.make<nn::BroadcastLikeOp>(
        tensorOf(like).clone(tensorOf(x).getElementType()), blocked, like);
  };
  auto from = tensorOf(x);
  const nn::Sizes own = emit.sizes(x);
  // Of one image with one pixel and one channel, as far as it has no others.
  SmallVector<nn::Size> sizes(4, nn::Size(1));
  const int64_t rank = tensorOf(result).getRank();
  for (auto [index, dim] : llvm::enumerate(places))
    sizes[placeInImage(rank, dim)] = own[index];
  auto isOne = [&](int64_t dim) { return sizes[dim] == nn::Size(1); };
  if (isOne(1)) {
    sizes.push_back(1);
    return repeat(emit.reshape(x, nn::Sizes(ArrayRef(sizes))));
  }
  if (!isOne(0) || !isOne(2) || !isOne(3)) {
    if (from.getRank() != rank)
      return {};
    Value blocked = blockedOf.lookup(x);
    return repeat(blocked ? blocked : pack(emit, x));
  }
  const int64_t channels = tensorOf(result).getDimSize(1),
                filled = tensorOf(like).getDimSize(1) * lanes;
  if (from.getNumElements() != channels)
    return {};
  x = emit.padEnd(emit.reshape(x, ArrayRef<int64_t>{channels}), 0,
                  filled - channels);
  return repeat(emit.reshape(x, {1, filled / lanes, 1, 1, lanes}));
}

Value LayoutAssigner::blockedOperand(TensorBuilder &emit, Value operand,
                                     Value like) {
  if (Value blocked = blockedOf.lookup(operand))
    return blocked;
  auto broadcast = operand.getDefiningOp<stablehlo::BroadcastInDimOp>();
  if (!broadcast)
    return blockedDynamicBroadcast(emit, operand, like);
  auto [entry, isNew] = broadcastOf.try_emplace(operand);
  if (isNew)
    entry->second = blockedBroadcast(emit, broadcast);
  return entry->second;
}

bool LayoutAssigner::rewriteConcatenate(stablehlo::ConcatenateOp op) {
  SmallVector<Value> operands;
  for (Value operand : op.getInputs())
    operands.push_back(blockedOf.lookup(operand));
  // To bring one into blocks takes longer than to unpack the others: a
  // concatenate does nothing else that blocks would make faster.
  if (llvm::is_contained(operands, Value()))
    return false;
  if (op.getDimension() != 1)
    return rewriteByChannel(op);
  if (!joinsWholeBlocks(op))
    return false;
  OpBuilder builder(op);
  TensorBuilder emit(builder, op.getLoc());
  remember(op.getResult(), emit.concatenate(operands, 1));
  return true;
}

bool LayoutAssigner::joinsWholeBlocks(stablehlo::ConcatenateOp op) const {
  return llvm::all_of(op.getInputs().drop_back(), [&](Value operand) {
    return tensorOf(operand).getDimSize(1) % lanes == 0;
  });
}

bool LayoutAssigner::rewriteRepeated(nn::BroadcastLikeOp op) {
  SmallVector<Value> blocked;
  const ArrayRef<int64_t> own = tensorOf(op.getOperand()).getShape();
  for (Value each : op->getOperands()) {
    blocked.push_back(blockedOf.lookup(each));
    // What has one pixel is repeated where it is read.
    if (!blocked.back() ||
        tensorOf(each).getDimSize(1) != tensorOf(op.getResult()).getDimSize(1))
      return false;
  }
  if (llvm::all_of(own.drop_front(2), [](int64_t size) { return size == 1; }))
    return false;
  OpBuilder builder(op);
  TensorBuilder emit(builder, op.getLoc());
  remember(op.getResult(),
           emit.make<nn::BroadcastLikeOp>(blockedType(tensorOf(op.getResult())),
                                          blocked.front(),
                                          ArrayRef(blocked).drop_front()));
  return true;
}

/// Where all that reads a larger image would unpack it, the smaller one is.
bool LayoutAssigner::rewriteResize(nn::ResizeOp op) {
  const bool isUnpacked = llvm::all_of(op->getUsers(), [&](Operation *user) {
    auto concatenate = dyn_cast<stablehlo::ConcatenateOp>(user);
    return concatenate && concatenate.getDimension() == 1 &&
           !joinsWholeBlocks(concatenate);
  });
  return !isUnpacked && rewriteByChannel(op);
}

bool LayoutAssigner::rewriteNorm(nn::GroupNormOp op) {
  Value blocked = blockedOf.lookup(op.getOperand());
  if (!blocked || !tensorOf(blocked).getElementType().isF32())
    return false;
  OpBuilder builder(op);
  TensorBuilder emit(builder, op.getLoc());
  remember(op.getResult(), normInBlocks(emit, op, blocked));
  return true;
}

/// Whether the channels stay apart, and only the operands that are like the
/// leading one have them.
static bool keepsChannels(const Axes &axes) {
  const AxisList &channels = axes.operands[axes.leading()][1];
  auto hasChannels = [&](const TensorAxes &each) {
    return llvm::any_of(each, [&](const AxisList &list) {
      return llvm::is_contained(list, channels.front());
    });
  };
  return channels.size() == 1 && axes.areAll(channels, AxisKind::Kept) &&
         llvm::all_of(llvm::seq(axes.operands.size()), [&](size_t i) {
           return axes.isLeading(i) || !hasChannels(axes.operands[i]);
         });
}

/// Whether \p op adds the elements of one tensor, and nothing else.
static bool isSumFromZero(stablehlo::ReduceOp op) {
  auto initial = op.getInitValues().size() == 1
                     ? constantTensor(op.getInitValues()[0])
                     : std::nullopt;
  return initial && initial->toDouble(0) == 0 &&
         stablehlo::soleOperation(op.getBody()) ==
             stablehlo::AddOp::getOperationName();
}

bool LayoutAssigner::rewriteByChannel(Operation *op) {
  auto interface = dyn_cast<AxesOpInterface>(op);
  if (!interface || op->getNumResults() != 1 ||
      llvm::none_of(op->getOperands(),
                    [&](Value each) { return blockedOf.count(each); }))
    return false;
  const Axes axes = interface.getAxes();
  const TensorAxes &leading = axes.operands[axes.leading()];
  const bool isRow = leading.size() == 3;
  if (!isImageRank(leading.size()) || !keepsChannels(axes))
    return false;
  const ArrayRef<AxisList> result = axes.results[0];
  const bool isBlocked = result == ArrayRef(leading),
             isOfAllPixels = result == ArrayRef(leading).take_front(2);
  auto plain = tensorOf(op->getResult(0));
  OpBuilder builder(op);
  TensorBuilder emit(builder, op->getLoc());
  if (!isRow && result == ArrayRef(leading).slice(1, 1)) {
    Value all = ofAllImages(op, axes);
    if (!all)
      return false;
    Value flat =
        emit.slice(emit.reshape(all, {sizeOf(all)}), 0, 0, plain.getDimSize(0));
    patterns.replaced(blockChannelsLabel, op->getResult(0), flat);
    op->getResult(0).replaceAllUsesWith(flat);
    return true;
  }
  Operation *copy = isBlocked || isOfAllPixels ? onBlocks(op, axes) : nullptr;
  if (!copy)
    return false;
  Value computed = copy->getResult(0);
  if (isBlocked) {
    computed.setType(blockedType(plain));
    remember(op->getResult(0), computed);
    patterns.changed(copy);
    return true;
  }
  const int64_t blocks = llvm::divideCeil(plain.getDimSize(1), lanes);
  SmallVector<int64_t> sizes = {plain.getDimSize(0), blocks, lanes};
  if (isRow)
    sizes.insert(sizes.begin() + 2, 1);
  computed.setType(RankedTensorType::get(sizes, plain.getElementType()));
  patterns.changed(copy);
  Value flat = channelsOf(emit, computed, plain.getDimSize(1));
  patterns.replaced(blockChannelsLabel, op->getResult(0), flat);
  op->getResult(0).replaceAllUsesWith(flat);
  return true;
}

Value LayoutAssigner::ofAllImages(Operation *op, const Axes &axes) {
  Operation *copy = onBlocks(op, axes);
  if (!copy)
    return {};
  patterns.changed(copy);
  Value computed = copy->getResult(0);
  auto plain = tensorOf(op->getResult(0));
  const int64_t blocks = llvm::divideCeil(plain.getDimSize(0), lanes);
  computed.setType(
      RankedTensorType::get({blocks, lanes}, plain.getElementType()));
  auto sum = dyn_cast<stablehlo::ReduceOp>(copy);
  ArrayRef<int64_t> shape = tensorOf(copy->getOperand(0)).getShape();
  if (!sum || shape[0] == 1 || !plain.getElementType().isF32() ||
      !isSumFromZero(sum))
    return computed;
  // Sums of images are added: there are more tasks for threads, and shorter
  // sums lose less.
  OpBuilder builder(op);
  TensorBuilder emit(builder, op->getLoc());
  Value images = emit.sum(sum.getInputs()[0], {2, 3});
  Value all = emit.sum(images, {0});
  copy->erase();
  return all;
}

/// A few rows of \p min and max of \p blocked, whose channels are whole blocks:
/// of as many tensors as can be in the same form.
static ValueRange minMaxOfRows(TensorBuilder &emit, const MinMaxOfAll &minMax,
                               Value blocked) {
  constexpr int64_t mostTasks = 16;
  auto type = tensorOf(blocked);
  const int64_t lanes = type.getShape().back();
  Value flat;
  if (type.hasStaticShape()) {
    const int64_t rows = sizeOf(blocked) / lanes,
                  tasks = std::gcd(rows, mostTasks);
    flat = emit.reshape(blocked, {tasks, rows / tasks, lanes});
  } else {
    const nn::Sizes sizes = emit.sizes(blocked);
    flat =
        emit.reshape(blocked, {sizes[0], emit.count(sizes, {1, 2, 3}), lanes});
  }
  return minMax.emit(emit, SmallVector<Value>(minMax.initial.size(), flat),
                     {1});
}

bool LayoutAssigner::rewriteReduction(stablehlo::ReduceOp op) {
  Value blocked =
      op.getInputs().empty() ? Value() : blockedOf.lookup(op.getInputs()[0]);
  const auto minMax =
      blocked ? MinMaxOfAll::match(op) : std::optional<MinMaxOfAll>();
  if (!minMax)
    return rewriteByChannel(op);
  OpBuilder builder(op);
  TensorBuilder emit(builder, op.getLoc());
  SmallVector<Value> parts;
  if (tensorOf(minMax->tensor).getDimSize(1) % lanes == 0) {
    llvm::append_range(parts, minMaxOfRows(emit, *minMax, blocked));
  } else {
    ValueRange ofChannels = minMax->emit(
        emit, SmallVector<Value>(op.getInputs().size(), blocked), {2, 3});
    for (Value each : ofChannels)
      parts.push_back(
          channelsOf(emit, each, tensorOf(minMax->tensor).getDimSize(1)));
  }
  ValueRange ofAll = minMax->emit(emit, parts, {0, 1});
  for (auto [was, is] : llvm::zip(op.getResults(), ofAll)) {
    patterns.replaced(blockChannelsLabel, was, is);
    was.replaceAllUsesWith(is);
  }
  return true;
}

Operation *LayoutAssigner::onBlocks(Operation *op, const Axes &axes) {
  OpBuilder builder(op);
  TensorBuilder emit(builder, op->getLoc());
  Operation *copy = builder.clone(*op);
  auto plain = tensorOf(op->getOperand(axes.leading()));
  if (!cast<AxesOpInterface>(copy).reorder(blockedOrder(plain.getRank()),
                                           blockedType(plain).getShape())) {
    copy->erase();
    return nullptr;
  }
  builder.setInsertionPoint(copy);
  Value like;
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    if (axes.isLeading(i) && !like)
      like = blockedOf.lookup(operand);
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    if (!axes.isLeading(i))
      continue;
    Value blocked = blockedOperand(emit, operand, like);
    copy->setOperand(i, blocked ? blocked : pack(emit, operand));
  }
  return copy;
}

//===----------------------------------------------------------------------===//
// The walk
//===----------------------------------------------------------------------===//

bool LayoutAssigner::rewrite(Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](stablehlo::ConvolutionOp op) { return rewriteConvolution(op); })
      .Case([&](nn::MaxPoolOp op) { return rewritePool(op, "max"); })
      .Case([&](nn::AveragePoolOp op) {
        std::optional<StringRef> kind = averageKind(op);
        return kind && rewritePool(op, *kind);
      })
      .Case([&](stablehlo::ConcatenateOp op) { return rewriteConcatenate(op); })
      .Case([&](nn::ResizeOp op) { return rewriteResize(op); })
      .Case([&](nn::GroupNormOp op) { return rewriteNorm(op); })
      .Case([&](nn::BroadcastLikeOp op) { return rewriteRepeated(op); })
      .Case([&](stablehlo::ReduceOp op) { return rewriteReduction(op); })
      .Default([&](Operation *op) { return rewriteByChannel(op); });
}

void LayoutAssigner::unpackWhereRead(Operation *op) {
  for (Value result : op->getResults()) {
    Value blocked = blockedOf.lookup(result);
    if (!blocked || result.use_empty())
      continue;
    OpBuilder builder(op);
    builder.setInsertionPointAfterValue(blocked);
    TensorBuilder emit(builder, op->getLoc());
    auto type = tensorOf(result);
    Value plain = emit.make<UnpackOp>(imageType(type), blocked);
    if (type.getRank() == 3) {
      const nn::Sizes sizes = emit.sizes(plain);
      plain = emit.reshape(plain, {sizes[0], sizes[1], sizes[3]});
    }
    patterns.replaced(blockChannelsLabel, result, plain);
    result.replaceAllUsesWith(plain);
  }
}

void LayoutAssigner::run() {
  // Early-increment: new ops stand before the one they replace.
  for (Operation &op : llvm::make_early_inc_range(block.without_terminator()))
    if (rewrite(&op))
      replaced.push_back(&op);
  // From the last to the first, so that a reader that is itself replaced is
  // gone before its operands are looked at.
  for (Operation *op : llvm::reverse(replaced)) {
    unpackWhereRead(op);
    patterns.count(blockChannelsLabel);
    op->erase();
  }
}

/// What stands in branches and loops has layouts of its own.
static void assignIn(Block &block, const PassSetting &setting,
                     PatternRun &run) {
  LayoutAssigner(block, setting, run).run();
  for (Operation &op : block)
    if (isControlFlow(&op))
      for (Region &region : op.getRegions())
        assignIn(region.front(), setting, run);
}

void assignLayouts(func::FuncOp function, const PassSetting &setting,
                   PatternRun &run) {
  if (run.isEnabled(blockChannelsLabel))
    assignIn(function.getBody().front(), setting, run);
}

} // namespace sinter::cpu
