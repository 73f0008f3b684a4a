//===- SimplifyConvolutions.cpp - convolutions that the kernels take ------===//

#include "backend/cpu/layout/SimplifyConvolutions.h"

#include "backend/cpu/cost/Estimates.h"
#include "backend/cpu/cost/GraphShapes.h"
#include "backend/cpu/layout/ConvolutionColumns.h"
#include "backend/cpu/layout/ConvolutionPhases.h"
#include "backend/cpu/layout/ConvolutionProduct.h"
#include "backend/cpu/layout/DynamicWindows.h"
#include "backend/cpu/layout/WeightGradientForm.h"
#include "backend/cpu/quantized/Int8Products.h"
#include "backend/cpu/target/PassSetting.h"
#include "graph/Constants.h"
#include "graph/ExactSums.h"
#include "interpreter/Interpreter.h"
#include "passes/Groups.h"
#include "passes/LowerQuantized.h"

using namespace mlir;
using sinter::nn::TensorBuilder;

namespace sinter::cpu {

namespace {

class Simplifier {
public:
  Simplifier(stablehlo::ConvolutionOp op, OpBuilder &builder,
             const PassSetting &setting)
      : op(op), emit(builder, op.getLoc()), setting(setting),
        lanes(setting.target.f32Lanes) {}

  /// Nothing if the operation is best left as it is.
  Value run();
  Value runDynamic();
  Value runDynamicWindow();

private:
  bool isOrdinary() const;
  Value runIntegers();
  Value converted(Value value, Type element);
  Value compute(const PlainConvolution &plain);
  Value computeComplex(const PlainConvolution &plain);
  Value foldOutermost(const PlainConvolution &plain);
  Value mergeDimensions(const PlainConvolution &plain, int64_t first);

  stablehlo::ConvolutionOp op;
  TensorBuilder emit;
  const PassSetting &setting;
  int64_t lanes;
};

} // namespace

/// The type that sums are taken in: as in the interpreter, of the result's
/// kind and no narrower than f32.
static Type sumType(Type result) {
  if (isa<ComplexType>(result) || result.isF64())
    return result;
  return Float32Type::get(result.getContext());
}

static bool mayBecomeProduct(const PlainConvolution &plain) {
  constexpr int64_t fewestOutputs = 4;
  return plain.groupOutputs() >= fewestOutputs && hasPatches(plain);
}

/// Windows that are larger than their few results, in groups that are no whole
/// blocks of channels: as blocks, most of the products would be by zero.
static bool hasFewPlaces(const PlainConvolution &plain, int64_t lanes) {
  constexpr int64_t mostPlaces = 64;
  int64_t places = 1, taps = 1;
  for (int64_t i = 0; i < plain.spatialRank(); ++i) {
    if (ShapedType::isDynamic(plain.outputSize(i)))
      return false;
    places *= plain.outputSize(i);
    taps *= plain.window[i].size;
    if (places > mostPlaces)
      return false;
  }
  return plain.groups > 1 && plain.groupOutputs() < lanes && taps > places &&
         !plain.isDepthwise();
}

/// Whether there is something to compute, of one kind of numbers, by sensible
/// sizes, as far as they are known.
static bool isSupported(stablehlo::ConvolutionOp op) {
  constexpr int64_t most = int64_t(1) << 31;
  auto kindOf = [](Value value) {
    Type element = tensorOf(value).getElementType();
    return isa<FloatType>(element)     ? 1
           : isa<ComplexType>(element) ? 2
           : isa<IntegerType>(element) ? 3
                                       : 0;
  };
  for (Value value : {op.getLhs(), op.getRhs(), op.getResult()})
    if (llvm::is_contained(tensorOf(value).getShape(), 0) ||
        kindOf(value) == 0 || kindOf(value) != kindOf(op.getResult()))
      return false;
  for (const stablehlo::WindowDimension &each : op.getWindow())
    for (int64_t number :
         {each.size, each.stride, each.paddingLow, each.paddingHigh,
          each.baseDilation, each.windowDilation})
      if (!ShapedType::isDynamic(number) && (number > most || number < -most))
        return false;
  return true;
}

/// Whether heights or widths are not known.
static bool hasDynamicArea(stablehlo::ConvolutionOp op) {
  auto input = tensorOf(op.getLhs());
  return llvm::any_of(op.getDimensionNumbers().getInputSpatialDimensions(),
                      [&](int64_t dim) { return input.isDynamicDim(dim); });
}

static bool isDynamic(stablehlo::ConvolutionOp op) {
  return !tensorOf(op.getLhs()).hasStaticShape() ||
         !tensorOf(op.getRhs()).hasStaticShape();
}

/// Whether the blocked kernels compute the operation as it stands, if they do
/// its elements.
static bool hasOrdinaryForm(stablehlo::ConvolutionOp op) {
  if (op.getBatchGroupCount() != 1 || op.getSpatialRank() < 1 ||
      op.getSpatialRank() > 2 || !tensorOf(op.getRhs()).hasStaticShape())
    return false;
  auto isDense = [](const stablehlo::WindowDimension &each) {
    return each.baseDilation == 1;
  };
  // Each pixel becomes a window of pixels of its own.
  auto isSpread = [](const stablehlo::WindowDimension &each) {
    return each.baseDilation == each.size && each.stride == 1 &&
           each.windowDilation == 1 && each.paddingLow == each.size - 1 &&
           each.paddingHigh == each.size - 1;
  };
  auto window = op.getWindow();
  return llvm::all_of(window, isDense) ||
         (op.getFeatureGroupCount() == 1 && llvm::all_of(window, isSpread));
}

/// What the sums of a convolution of integers may be.
static IntegerRange rangeOfSums(stablehlo::ConvolutionOp op) {
  return sinter::rangeOfSums(op, IntegerRange::of(op.getLhs()),
                             IntegerRange::of(op.getRhs()));
}

/// Whether the blocked kernels compute it as it stands: of f32, or of bytes
/// unless f32 holds the sums and takes less.
bool Simplifier::isOrdinary() const {
  auto isF32 = [](Value value) {
    return tensorOf(value).getElementType().isF32();
  };
  if (!hasOrdinaryForm(op))
    return false;
  stablehlo::ConvolutionOp convolution = op;
  if (isF32(convolution.getLhs()) && isF32(convolution.getRhs()) &&
      isF32(convolution.getResult()))
    return true;
  if (!Int8Convolution::match(op))
    return false;
  if (!holds(Float32Type::get(convolution.getContext()), rangeOfSums(op)))
    return true;
  const Arithmetic bytes = Arithmetic::ofBytes(setting.target);
  // Whatever the number of images is, each is computed in the same way.
  if (hasDynamicArea(op))
    return true;
  ConvolutionShape image = asImages(op);
  image.batch = 1;
  return setting.choose(emit.location,
                        alternativesForBytes(image, bytes, setting.target)) ==
         "bytes";
}

/// A constant is converted at once, whatever its size: it is going to be
/// packed.
Value Simplifier::converted(Value value, Type element) {
  Value result = emit.convert(value, element);
  std::optional<Tensor> constant = constantTensor(value);
  if (result == value || !constant)
    return result;
  Operation *convert = result.getDefiningOp();
  Result<std::vector<Tensor>> folded = evaluate(convert, {*constant});
  if (!folded)
    return result;
  result = makeConstant(emit.builder, emit.location, folded->front(),
                        constantName(value));
  convert->erase();
  return result;
}

/// In f32 as it stands, if that holds all sums.
Value Simplifier::runDynamic() {
  Type element = tensorOf(op.getResult()).getElementType();
  const Type f32 = emit.builder.getF32Type();
  const bool isExact = isa<IntegerType>(element);
  if (!hasOrdinaryForm(op) ||
      (isExact ? element.isInteger(1) || !holds(element, rangeOfSums(op)) ||
                     !holds(cast<FloatType>(f32), rangeOfSums(op))
               : sumType(element) != f32))
    return {};
  auto copy = cast<stablehlo::ConvolutionOp>(emit.builder.clone(*op));
  copy->setOperands({converted(op.getLhs(), f32), converted(op.getRhs(), f32)});
  copy->moveBefore(op);
  copy->removeDiscardableAttr(traceAttribute);
  Value sums = copy.getResult();
  sums.setType(tensorOf(sums).clone(f32));
  if (isExact)
    copy->setDiscardableAttr(exactProductAttribute, emit.builder.getUnitAttr());
  return emit.convert(sums, element);
}

/// One product, of integers in their own arithmetic.
Value Simplifier::runDynamicWindow() {
  Type element = tensorOf(op.getResult()).getElementType();
  const Type sums = isa<IntegerType>(element) ? element : sumType(element);
  op.setOperand(0, converted(op.getLhs(), sums));
  op.setOperand(1, converted(op.getRhs(), sums));
  Value result = computeByTaps(emit, PlainConvolution::of(emit, op), op);
  result = toResultOrder(emit, emit.convert(result, element), op);
  // What the type says more of its sizes than its operands do.
  auto known = tensorOf(op.getResult());
  nn::Sizes sizes = emit.sizes(result);
  for (auto [size, inType] : llvm::zip_equal(sizes, known.getShape()))
    if (!ShapedType::isDynamic(inType))
      size = inType;
  return result.getType() == known ? result : emit.reshape(result, sizes);
}

Value Simplifier::run() {
  if (!isSupported(op))
    return {};
  if (isOrdinary()) {
    if (!hasColumnsForOutputs(op, lanes) || WeightGradientForm::of(op))
      return {};
    return toResultOrder(
        emit, computeByColumns(emit, PlainConvolution::of(emit, op), op), op);
  }
  if (hasDynamicWindow(op))
    return canBeByTaps(op) ? runDynamicWindow() : Value();
  if (WeightGradientForm::of(op))
    return {};
  Type element = tensorOf(op.getResult()).getElementType();
  if (hasOrdinaryForm(op))
    if (Value result = withoutVariableZeroPoint(op))
      return result;
  if (isDynamic(op))
    if (Value result = runDynamic())
      return result;
  if (isa<IntegerType>(element))
    return runIntegers();
  Type sums = sumType(element);
  op.setOperand(0, converted(op.getLhs(), sums));
  op.setOperand(1, converted(op.getRhs(), sums));
  Value result = compute(PlainConvolution::of(emit, op));
  return toResultOrder(emit, emit.convert(result, element), op);
}

/// Channels [begin, end) of each group.
static PlainConvolution channelsOf(TensorBuilder &emit,
                                   const PlainConvolution &plain, int64_t begin,
                                   int64_t end) {
  if (begin == 0 && plain.groupInputs() == nn::Size(end))
    return plain;
  PlainConvolution part = plain;
  nn::Sizes shape = emit.sizes(plain.input);
  shape[1] = plain.groups * (end - begin);
  part.input =
      emit.reshape(emit.slice(emit.reshape(plain.input, plain.splitInput(emit)),
                              2, begin, end),
                   shape);
  part.kernel = emit.slice(plain.kernel, 1, begin, end);
  return part;
}

/// Integers are floats while their sums are exact: in f32, of so many channels
/// at a time as allow for it, or else in f64. Of an unknown number of channels
/// all are summed at once.
Value Simplifier::runIntegers() {
  constexpr int64_t fewestChannels = 4;
  Type element = tensorOf(op.getResult()).getElementType();
  FloatType f32 = emit.builder.getF32Type(), f64 = emit.builder.getF64Type();
  const IntegerRange sum = rangeOfSums(op);
  if (element.isInteger(1) || !holds(element, sum) || !holds(f64, sum))
    return {};
  auto numbers = op.getDimensionNumbers();
  const int64_t channels =
      tensorOf(op.getRhs())
          .getDimSize(numbers.getKernelInputFeatureDimension());
  // Exact sums must be taken as they stand.
  op->setDiscardableAttr(exactProductAttribute, emit.builder.getUnitAttr());
  const bool areDynamic = ShapedType::isDynamic(channels);
  int64_t piece = channels;
  if (!areDynamic && !holds(f32, sum)) {
    piece = static_cast<int64_t>(exactMagnitude(f32) /
                                 (sum.reach() / double(channels)));
    if (piece > lanes)
      piece -= piece % lanes;
  }
  bool isF32 = areDynamic ? holds(f32, sum)
                          : piece >= std::min(fewestChannels, channels);
  Type sums = isF32 ? f32 : f64;
  op.setOperand(0, converted(op.getLhs(), sums));
  op.setOperand(1, converted(op.getRhs(), sums));
  PlainConvolution plain = PlainConvolution::of(emit, op);
  Value result;
  if (areDynamic)
    result = emit.convert(compute(plain), element);
  for (int64_t begin = 0; begin < channels; begin += isF32 ? piece : channels) {
    int64_t end = isF32 ? std::min(begin + piece, channels) : channels;
    Value part =
        emit.convert(compute(channelsOf(emit, plain, begin, end)), element);
    result = result ? emit.add(result, part) : part;
  }
  return toResultOrder(emit, result, op);
}

/// The first of two neighbouring dimensions along which each pixel is by
/// itself.
static std::optional<int64_t>
mergeableDimension(const PlainConvolution &plain) {
  auto isAlone = [](const stablehlo::WindowDimension &each) {
    return each.size == 1 && each.stride == 1 && each.baseDilation == 1 &&
           each.paddingLow == 0 && each.paddingHigh == 0;
  };
  for (int64_t i = 0; i + 1 < plain.spatialRank(); ++i)
    if (isAlone(plain.window[i]) && isAlone(plain.window[i + 1]))
      return i;
  return std::nullopt;
}

Value Simplifier::compute(const PlainConvolution &plain) {
  if (isa<ComplexType>(tensorOf(plain.input).getElementType()))
    return computeComplex(plain);
  bool isDilated =
      llvm::any_of(plain.window, [](const stablehlo::WindowDimension &each) {
        return each.baseDilation != 1;
      });
  if (isDilated && !hasPhases(plain))
    return plain.emitOperation(emit, op);
  if (isDilated)
    return computeByPhases(
        emit, plain, lanes,
        [&](const PlainConvolution &part) { return compute(part); });
  // That depthwise convolutions take one after the other.
  constexpr int64_t mostTaps = 16;
  bool isF32 = tensorOf(plain.input).getElementType().isF32();
  if (plain.spatialRank() > 0 && hasFewPlaces(plain, lanes))
    return computeByPlaces(emit, plain);
  // What is convolved by activations of dynamic sizes has no kernel, either.
  const bool isByWeights = tensorOf(plain.kernel).hasStaticShape();
  if (plain.spatialRank() == 0 ||
      ((!isF32 || !isByWeights) && mayBecomeProduct(plain)))
    return computeAsProduct(emit, plain);
  if (plain.spatialRank() > 2)
    if (const std::optional<int64_t> first = mergeableDimension(plain))
      return mergeDimensions(plain, *first);
  if (isF32 && plain.spatialRank() > 2 && canUnfold(plain, 0) &&
      (!plain.isDepthwise() || plain.window[0].size <= mostTaps))
    return foldOutermost(plain);
  return plain.emitOperation(emit, op);
}

/// (a + bi) * (c + di) = (ac - bd) + (ad + bc)i
Value Simplifier::computeComplex(const PlainConvolution &plain) {
  auto part = [&](bool imaginaryInput, bool imaginaryKernel) {
    auto take = [&](Value value, bool isImaginary) {
      return isImaginary ? emit.make<stablehlo::ImagOp>(value)
                         : emit.make<stablehlo::RealOp>(value);
    };
    PlainConvolution real = plain;
    real.input = take(plain.input, imaginaryInput);
    real.kernel = take(plain.kernel, imaginaryKernel);
    return compute(real);
  };
  Value ac = part(false, false), bd = part(true, true);
  Value ad = part(false, true), bc = part(true, false);
  return emit.make<stablehlo::ComplexOp>(emit.sub(ac, bd), emit.add(ad, bc));
}

/// Two dimensions along which each pixel is by itself are one.
Value Simplifier::mergeDimensions(const PlainConvolution &plain,
                                  int64_t first) {
  const int64_t at = first + 2;
  auto merge = [&](Value x) {
    nn::Sizes sizes = emit.sizes(x);
    sizes[at] = emit.product(sizes[at], sizes[at + 1]);
    sizes.erase(sizes.begin() + at + 1);
    return emit.reshape(x, sizes);
  };
  PlainConvolution merged = plain;
  merged.window.erase(merged.window.begin() + first);
  merged.input = merge(plain.input);
  merged.kernel = merge(plain.kernel);
  Value result = compute(merged);
  const nn::Sizes from = emit.sizes(plain.input);
  nn::Sizes sizes = emit.sizes(result);
  sizes[at] = from[at];
  sizes.insert(sizes.begin() + at + 1, from[at + 1]);
  return emit.reshape(result, sizes);
}

/// The places of the outermost window become images, its taps channels.
Value Simplifier::foldOutermost(const PlainConvolution &plain) {
  auto bytes = [](const PlainConvolution &part) {
    return double(tensorOf(part.input).getNumElements()) /
           double(part.inputSize(0)) * double(part.window[0].size) *
           double(part.outputSize(0)) * sizeof(float);
  };
  auto fold = [&](const PlainConvolution &part) {
    const int64_t taps = part.window[0].size;
    PlainConvolution folded = part;
    folded.window.erase(folded.window.begin());
    // [N, D, groups, C / groups, rest...], then taps behind the groups.
    const nn::Sizes split = part.splitInput(emit);
    auto order = llvm::to_vector(llvm::seq<int64_t>(0, int64_t(split.size())));
    std::rotate(order.begin() + 1, order.begin() + 3, order.begin() + 4);
    Value x = permute(emit, emit.reshape(part.input, split), order);
    x = unfold(emit, x, 1, 3, part.window[0], part.outputSize(0));
    const nn::Size count = emit.sizes(x)[1];
    const nn::Size inputs = emit.product(taps, part.groupInputs());
    nn::Sizes shape = {emit.product(part.batch(), count),
                       emit.product(part.groups, inputs)};
    llvm::append_range(shape, split.drop_front(4));
    folded.input = emit.reshape(x, shape);
    // [K, C / groups, taps, rest...] likewise.
    order =
        llvm::to_vector(llvm::seq<int64_t>(0, tensorOf(part.kernel).getRank()));
    std::swap(order[1], order[2]);
    nn::Sizes kernel = {part.outputs(), inputs};
    llvm::append_range(kernel, emit.sizes(part.kernel).drop_front(3));
    folded.kernel = emit.reshape(permute(emit, part.kernel, order), kernel);

    Value result = compute(folded);
    nn::Sizes unfolded = {part.batch(), count};
    llvm::append_range(unfolded, emit.sizes(result).drop_front());
    order = llvm::to_vector(llvm::seq<int64_t>(0, int64_t(unfolded.size())));
    std::swap(order[1], order[2]);
    return permute(emit, emit.reshape(result, unfolded), order);
  };
  if (!plain.isDepthwise())
    return computeInPieces(emit, plain, bytes, fold);
  // One tap after the other, which keeps a channel a group.
  Value sum;
  const int64_t last =
      (plain.window[0].size - 1) * plain.window[0].windowDilation;
  for (int64_t tap = 0; tap < plain.window[0].size; ++tap) {
    PlainConvolution part = plain;
    stablehlo::WindowDimension &window = part.window[0];
    const int64_t start = tap * window.windowDilation;
    window.size = 1;
    window.paddingLow -= start;
    window.paddingHigh -= last - start;
    part.kernel = emit.slice(plain.kernel, 2, tap, tap + 1);
    Value product = fold(part);
    sum = sum ? emit.add(sum, product) : product;
  }
  return sum;
}

static constexpr llvm::StringLiteral simplifyConvolutionLabel =
    "simplify-convolution";

ArrayRef<PatternInfo> simplifyConvolutionsPatterns() {
  static const PatternInfo infos[] = {
      {simplifyConvolutionLabel,
       "convolution: 3-d, transposed, grouped by images, of f16, f64, integers "
       "or complex numbers -> convolutions by f32 [K, C, R, S], or products",
       "cpu-simplify-convolutions"}};
  return infos;
}

/// Who makes floats of the exact sums \p integers reads those of which
/// \p result, which takes their place, makes integers.
static void readSumsAsTheyAre(Value integers, Value result, PatternRun &run) {
  auto made = result.getDefiningOp<stablehlo::ConvertOp>();
  if (!made || !isa<IntegerType>(tensorOf(integers).getElementType()) ||
      !isa<FloatType>(tensorOf(made.getOperand()).getElementType()))
    return;
  for (Operation *user : llvm::to_vector(integers.getUsers()))
    if (isa<stablehlo::ConvertOp>(user) &&
        user->getResult(0).getType() == made.getOperand().getType()) {
      run.replaced(simplifyConvolutionLabel, user->getResult(0),
                   made.getOperand());
      user->getResult(0).replaceAllUsesWith(made.getOperand());
      user->erase();
    }
}

void simplifyConvolutions(func::FuncOp function, const PassSetting &setting,
                          PatternRun &run) {
  if (!run.isEnabled(simplifyConvolutionLabel))
    return;
  SmallVector<stablehlo::ConvolutionOp> found;
  function.walk([&](stablehlo::ConvolutionOp op) { found.push_back(op); });
  for (stablehlo::ConvolutionOp op : found) {
    OpBuilder builder(op);
    if (Value result = Simplifier(op, builder, setting).run()) {
      readSumsAsTheyAre(op.getResult(), result, run);
      run.replace(simplifyConvolutionLabel, op, result);
      op.erase();
      run.graphIsWhole(simplifyConvolutionLabel);
    }
  }
}

} // namespace sinter::cpu
