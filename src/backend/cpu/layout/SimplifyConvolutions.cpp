//===- SimplifyConvolutions.cpp - convolutions that the kernels take ------===//

#include "backend/cpu/layout/SimplifyConvolutions.h"

#include "backend/cpu/codegen/Target.h"
#include "backend/cpu/layout/ConvolutionPhases.h"
#include "backend/cpu/layout/ConvolutionProduct.h"

using namespace mlir;
using sinter::nn::Emit;

namespace sinter::cpu {

namespace {

class Simplifier {
public:
  Simplifier(stablehlo::ConvolutionOp op, OpBuilder &builder, int64_t lanes)
      : op(op), emit(builder, op.getLoc()), lanes(lanes) {}

  /// Nothing if the operation is best left as it is.
  Value run();

private:
  Value compute(const PlainConvolution &plain);
  Value computeComplex(const PlainConvolution &plain);
  Value foldOutermost(const PlainConvolution &plain);

  stablehlo::ConvolutionOp op;
  Emit emit;
  int64_t lanes;
};

} // namespace

/// The type that sums are taken in: as in the interpreter, of the result's
/// kind and no narrower than f32. Nothing for integers.
static Type sumType(Type result) {
  if (auto complex = dyn_cast<ComplexType>(result))
    return complex;
  if (!isa<FloatType>(result))
    return {};
  return result.isF64() ? result : Float32Type::get(result.getContext());
}

static bool mayBecomeProduct(const PlainConvolution &plain) {
  constexpr int64_t fewestOutputs = 4;
  return plain.groupOutputs() >= fewestOutputs && hasPatches(plain);
}

/// Whether there is something to compute, in floats, by sensible numbers.
static bool isSupported(stablehlo::ConvolutionOp op) {
  constexpr int64_t most = int64_t(1) << 31;
  for (Value value : {op.getLhs(), op.getRhs(), op.getResult()})
    if (!tensorOf(value).hasStaticShape() ||
        tensorOf(value).getNumElements() == 0)
      return false;
  for (Value value : {op.getLhs(), op.getRhs()})
    if (isa<ComplexType>(tensorOf(value).getElementType()) !=
            isa<ComplexType>(tensorOf(op.getResult()).getElementType()) ||
        !isa<FloatType, ComplexType>(tensorOf(value).getElementType()))
      return false;
  for (const stablehlo::WindowDimension &each : op.getWindow())
    for (int64_t number :
         {each.size, each.stride, each.paddingLow, each.paddingHigh,
          each.baseDilation, each.windowDilation})
      if (number > most || number < -most)
        return false;
  return static_cast<bool>(sumType(tensorOf(op.getResult()).getElementType()));
}

/// Whether the blocked kernels compute the operation as it stands.
static bool isOrdinary(stablehlo::ConvolutionOp op) {
  auto isF32 = [](Value value) {
    return tensorOf(value).getElementType().isF32();
  };
  if (!isF32(op.getLhs()) || !isF32(op.getRhs()) || !isF32(op.getResult()) ||
      op.getBatchGroupCount() != 1 || op.getSpatialRank() < 1 ||
      op.getSpatialRank() > 2)
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

Value Simplifier::run() {
  if (!isSupported(op) || isOrdinary(op))
    return {};
  Type element = tensorOf(op.getResult()).getElementType();
  Type sums = sumType(element);
  PlainConvolution plain = PlainConvolution::of(emit, op);
  plain.input = emit.convert(plain.input, sums);
  plain.kernel = emit.convert(plain.kernel, sums);
  Value result = compute(plain);
  if (!result)
    return {};
  return toResultOrder(emit, emit.convert(result, element), op);
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
  bool isF32 = tensorOf(plain.input).getElementType().isF32();
  if (plain.spatialRank() == 0 || (!isF32 && mayBecomeProduct(plain)))
    return computeAsProduct(emit, plain);
  if (isF32 && plain.spatialRank() > 2 && canUnfold(plain, 0))
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

/// The places of the outermost window become images, its taps channels.
Value Simplifier::foldOutermost(const PlainConvolution &plain) {
  auto bytes = [](const PlainConvolution &part) {
    return double(tensorOf(part.input).getNumElements()) /
           double(part.inputSize(0)) * double(part.window[0].size) *
           double(part.outputSize(0)) * sizeof(float);
  };
  auto fold = [&](const PlainConvolution &part) {
    const int64_t count = part.outputSize(0), taps = part.window[0].size;
    const int64_t channels = part.groups * part.groupInputs();
    PlainConvolution folded = part;
    folded.window.erase(folded.window.begin());
    // [N, D, groups, C / groups, rest...], then taps behind the groups.
    SmallVector<int64_t> split = {part.batch(), part.groups,
                                  part.groupInputs()};
    llvm::append_range(split, tensorOf(part.input).getShape().drop_front(2));
    auto order = llvm::to_vector(llvm::seq<int64_t>(0, int64_t(split.size())));
    std::rotate(order.begin() + 1, order.begin() + 3, order.begin() + 4);
    Value x = permute(emit, emit.reshape(part.input, split), order);
    x = unfold(emit, x, 1, 3, part.window[0], count);
    SmallVector<int64_t> shape = {part.batch() * count, taps * channels};
    llvm::append_range(shape, tensorOf(part.input).getShape().drop_front(3));
    folded.input = emit.reshape(x, shape);
    // [K, C / groups, taps, rest...] likewise.
    order =
        llvm::to_vector(llvm::seq<int64_t>(0, tensorOf(part.kernel).getRank()));
    std::swap(order[1], order[2]);
    SmallVector<int64_t> kernel = {part.outputs(), taps * part.groupInputs()};
    llvm::append_range(kernel, tensorOf(part.kernel).getShape().drop_front(3));
    folded.kernel = emit.reshape(permute(emit, part.kernel, order), kernel);

    Value result = compute(folded);
    SmallVector<int64_t> unfolded = {part.batch(), count};
    llvm::append_range(unfolded, tensorOf(result).getShape().drop_front());
    order = llvm::to_vector(llvm::seq<int64_t>(0, int64_t(unfolded.size())));
    std::swap(order[1], order[2]);
    return permute(emit, emit.reshape(result, unfolded), order);
  };
  return computeInPieces(emit, plain, bytes, fold);
}

void simplifyConvolutions(func::FuncOp function, const Target &target) {
  SmallVector<stablehlo::ConvolutionOp> found;
  function.walk([&](stablehlo::ConvolutionOp op) { found.push_back(op); });
  for (stablehlo::ConvolutionOp op : found) {
    OpBuilder builder(op);
    if (Value result = Simplifier(op, builder, target.f32Lanes).run()) {
      op.getResult().replaceAllUsesWith(result);
      op.erase();
    }
  }
}

} // namespace sinter::cpu
