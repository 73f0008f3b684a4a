#include "backend/cpu/layout/BFloat16Products.h"

#include "backend/cpu/emit/ConvolutionKernel.h"
#include "backend/cpu/emit/Elemental.h"
#include "backend/cpu/ir/CpuOps.h"
#include "backend/cpu/ir/DeadCode.h"
#include "backend/cpu/ir/ProductSides.h"
#include "backend/cpu/target/PassSetting.h"
#include "backend/cpu/weights/ComputeWeights.h"
#include "backend/cpu/weights/HalfWeights.h"
#include "graph/Constants.h"
#include "graph/Dim.h"
#include "graph/ProductPrecision.h"
#include "graph/nn/TensorBuilder.h"
#include "graph/stablehlo/StablehloOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace sinter::cpu {

static constexpr llvm::StringLiteral bfloat16Label = "bfloat16-products";

/// Of a conversion of what may be rounded, until the pass is done.
static constexpr llvm::StringLiteral roundedAttribute = "sinter.rounded";

ArrayRef<PatternInfo> bfloat16ProductsPatterns() {
  static const PatternInfo infos[] = {
      {bfloat16Label,
       "low_bit_product(convert<f32>(v : bf16), w) -> low_bit_product(v, w)",
       "cpu-form-bfloat16-products"}};
  return infos;
}

/// What moves elements between a conversion and a product.
static bool rearrangesOrPads(Operation *op) {
  if (auto pad = dyn_cast<stablehlo::PadOp>(op))
    return isPositiveZero(pad.getPaddingValue());
  return isa<stablehlo::ReshapeOp, stablehlo::TransposeOp, PackOp>(op);
}

/// \p wide, rounded where it is computed: once for all who read it so.
static Value rounded(OpBuilder builder, Value wide) {
  for (Operation *user : wide.getUsers())
    if (isa<stablehlo::ConvertOp>(user) && user->hasAttr(roundedAttribute))
      return user->getResult(0);
  builder.setInsertionPointAfterValue(wide);
  Value narrow = nn::TensorBuilder(builder, wide.getLoc())
                     .convert(wide, builder.getBF16Type());
  narrow.getDefiningOp()->setAttr(roundedAttribute, builder.getUnitAttr());
  return narrow;
}

namespace {
/// What moved elements to where they are read.
struct Moved {
  Value from;
  SmallVector<Operation *> moves; ///< The last one first.

  /// As far back as \p isPassed says.
  Moved(Value value, llvm::function_ref<bool(Operation *)> isPassed)
      : from(value) {
    for (Operation *made = from.getDefiningOp();
         made && rearrangesOrPads(made) && isPassed(made);
         made = from.getDefiningOp()) {
      moves.push_back(made);
      from = made->getOperand(0);
    }
  }

  /// The same moves of \p narrow, of bf16, in the place of \p from.
  Value of(OpBuilder &builder, Value narrow) const {
    for (Operation *move : llvm::reverse(moves)) {
      IRMapping mapping;
      mapping.map(move->getOperand(0), narrow);
      if (auto pad = dyn_cast<stablehlo::PadOp>(move))
        mapping.map(pad.getPaddingValue(),
                    nn::TensorBuilder(builder, pad.getLoc())
                        .convert(pad.getPaddingValue(), builder.getBF16Type()));
      narrow = builder.clone(*move, mapping)->getResult(0);
      narrow.setType(tensorOf(narrow).clone(builder.getBF16Type()));
    }
    return narrow;
  }
};
} // namespace

/// The numbers of \p wide, of f32, as bf16; null where they are not known to
/// be such.
static Value inBFloat16(OpBuilder &builder, Value wide) {
  const Moved moved(wide, [](Operation *) { return true; });
  auto convert = moved.from.getDefiningOp<stablehlo::ConvertOp>();
  return convert && tensorOf(convert.getOperand()).getElementType().isBF16()
             ? moved.of(builder, convert.getOperand())
             : Value();
}

/// Whether \p op may multiply what bf16 does not hold, rounded.
static bool mayRound(Operation *op) {
  return precisionOf(op) == Precision::BFloat16;
}

/// What \p op is to read in the place of its first operand; null where that is
/// neither of bf16 nor may be rounded.
static Value roundedInput(OpBuilder &builder, Operation *op) {
  Value wide = op->getOperand(0);
  if (!tensorOf(wide).getElementType().isF32())
    return {};
  if (Value narrow = inBFloat16(builder, wide))
    return narrow;
  if (!mayRound(op))
    return {};
  // What moves elements for others, too, does so once.
  const Moved moved(wide, [](Operation *move) {
    return isa<stablehlo::ReshapeOp>(move) || move->hasOneUse();
  });
  return moved.of(builder, rounded(builder, moved.from));
}

//===----------------------------------------------------------------------===//
// Matrix products
//===----------------------------------------------------------------------===//

namespace {
/// A matrix of weights, [depth, columns].
struct WeightSizes {
  int64_t depth = 1, columns = 0;

  WeightSizes(Value weights, ArrayRef<int64_t> summed) {
    for (int64_t dim : summed)
      depth *= tensorOf(weights).getDimSize(dim);
    if (depth > 0)
      columns = tensorOf(weights).getNumElements() / depth;
  }
};
} // namespace

/// Whether bf16 is the faster way for \p op by weights of such \p sizes. It
/// follows from these alone, so that a row has the same bits however many there
/// are.
static bool isWorthIt(Operation *op, WeightSizes sizes,
                      const PassSetting &setting) {
  if (sizes.depth == 0 || sizes.columns == 0)
    return false;
  const MatMulShape typical =
      MatMulShape::dense(rowsOfChoice, sizes.columns, sizes.depth);
  return setting.choose(op->getLoc(), alternativesForBFloat16(
                                          typical, setting.target)) == "bf16";
}

/// \p weights in bf16, computed when they are packed; null where they would be
/// rounded and \p op does not allow it. Integers are of 8 bits at most.
static Value lowBitWeights(OpBuilder &builder, Operation *op, Value weights) {
  if (elementOf(weights).isBF16())
    return weights;
  if (!isa<IntegerType>(elementOf(weights)) && !mayRound(op))
    return {};
  Value narrow = nn::TensorBuilder(builder, op->getLoc())
                     .convert(weights, builder.getBF16Type());
  return isWeight(narrow) ? computedLater(narrow) : Value();
}

/// Weights of fewer bits would be read as twice as many bytes or more, which
/// few rows wait for.
static bool areFewRows(LowBitProductOp op) {
  constexpr int64_t few = 32;
  if (elementOf(op.getWeights()).getIntOrFloatBitWidth() >= 16)
    return false;
  auto result = tensorOf(op.getResult());
  const WeightSizes sizes(op.getWeights(), op.getContracting());
  return !result.hasStaticShape() || isOfUnknownSize(result) ||
         result.getNumElements() < few * sizes.columns;
}

static void readBFloat16(LowBitProductOp op, const PassSetting &setting,
                         PatternRun &run) {
  OpBuilder builder(op);
  Value input = roundedInput(builder, op),
        weights = input ? lowBitWeights(builder, op, op.getWeights()) : Value();
  if (!weights ||
      !isWorthIt(op, {op.getWeights(), op.getContracting()}, setting))
    return;
  op.getLhsMutable().assign(input);
  op.getWeightsMutable().assign(weights);
  run.count(bfloat16Label);
}

/// \p op, of f32 by weights of f32, by both rounded.
static void roundFactors(stablehlo::DotGeneralOp op, PatternRun &run) {
  const stablehlo::ProductSide lhs = op.getSide(0), rhs = op.getSide(1);
  OpBuilder builder(op);
  Value weights = lowBitWeights(builder, op, op.getRhs());
  if (!weights)
    return;
  nn::TensorBuilder emit(builder, op.getLoc());
  Value product = builder.create<LowBitProductOp>(
      op.getLoc(), op.getType(),
      withContractedLast(emit, roundedInput(builder, op), lhs), weights,
      Value(), Value(), builder.getDenseI64ArrayAttr(rhs.contracting),
      builder.getI64IntegerAttr(0), IntegerAttr());
  setPrecision(product.getDefiningOp(), Precision::BFloat16);
  run.replace(bfloat16Label, op, product);
  op.erase();
}

static void readBFloat16(stablehlo::DotGeneralOp op, const PassSetting &setting,
                         PatternRun &run) {
  const stablehlo::ProductSide lhs = op.getSide(0), rhs = op.getSide(1);
  if (mayRound(op) && elementOf(op.getLhs()).isF32() &&
      elementOf(op.getRhs()).isF32() && elementOf(op.getResult()).isF32() &&
      isWeight(op.getRhs()) && lhs.batching.empty() &&
      !rhs.contracting.empty() && !rhs.free().empty() && isMatrix(rhs) &&
      isWorthIt(op, {op.getRhs(), rhs.contracting}, setting))
    roundFactors(op, run);
}

/// By weights with numbers of blocks: both are rounded, once numbers are in.
static void readBlocks(LowBitProductOp op, const PassSetting &setting,
                       PatternRun &run) {
  if (!mayRound(op) ||
      !isWorthIt(op, {op.getWeights(), op.getContracting()}, setting))
    return;
  OpBuilder builder(op);
  FailureOr<SmallVector<Value>> made = op.decompose(builder);
  auto product = succeeded(made)
                     ? made->front().getDefiningOp<stablehlo::DotGeneralOp>()
                     : stablehlo::DotGeneralOp();
  if (!product || !isWeight(product.getRhs()))
    return;
  setPrecision(product, Precision::BFloat16);
  run.replace(bfloat16Label, op, product.getResult());
  op.erase();
  roundFactors(product, run);
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

/// The weights of \p op in bf16, null where it does not hold them and may not
/// round them.
static Value lowBitWeights(OpBuilder &builder, ConvolutionOp op) {
  if (elementOf(op.getWeights()).isBF16())
    return op.getWeights();
  const std::optional<Tensor> weights = constantTensor(op.getWeights());
  if (!weights)
    return {};
  const bool isExact = !isFloat(weights->type());
  const std::optional<Tensor> narrow =
      isExact || mayRound(op)
          ? computedWeight(nn::TensorBuilder(builder, op.getLoc())
                               .convert(op.getWeights(), builder.getBF16Type()))
          : inHalfPrecision(*weights);
  if (!narrow || narrow->type() != ElementType::BF16)
    return {};
  return makeConstant(builder, op.getLoc(), *narrow,
                      constantName(op.getWeights()));
}

static void readBFloat16(ConvolutionOp op, const PassSetting &setting,
                         PatternRun &run) {
  if (op.hasPlanarInput() || op.getPackedFrom() ||
      !elementOf(op.getInput()).isF32() || !elementOf(op.getResult()).isF32())
    return;
  OpBuilder builder(op);
  // Channel by channel, and by Winograd's method, f32 is multiplied.
  Value input = inBFloat16(builder, op.getInput());
  if (op.isDepthwise()) {
    if (!input)
      return;
    op.getInputMutable().assign(input);
    run.count(bfloat16Label);
    return;
  }
  const Arithmetic groups = Arithmetic::ofBFloat16(setting.target);
  if (op.kernelShape()[1] % groups.kGroup != 0 ||
      (!input && (!mayRound(op) || alternativesFor(nominalShape(op), groups,
                                                   setting.target, op.getFast())
                                           .front()
                                           .kernel != "direct")))
    return;
  Value weights = lowBitWeights(builder, op);
  if (!weights ||
      setting.choose(op.getLoc(),
                     alternativesForBFloat16(nominalShape(op), op.getFast(),
                                             setting.target)) != "bf16")
    return;
  op.getInputMutable().assign(input ? input : roundedInput(builder, op));
  op.getWeightsMutable().assign(weights);
  run.count(bfloat16Label);
}

void formBFloat16Products(func::FuncOp function, const PassSetting &setting,
                          PatternRun &run) {
  if (!prefersBFloat16(setting.target) || !run.isEnabled(bfloat16Label))
    return;
  function.walk([&](Operation *op) {
    auto narrow = dyn_cast<LowBitProductOp>(op);
    if (narrow && areFewRows(narrow))
      return;
    if (narrow && narrow.getBlock() != 0)
      readBlocks(narrow, setting, run);
    else if (narrow)
      readBFloat16(narrow, setting, run);
    else if (auto product = dyn_cast<stablehlo::DotGeneralOp>(op))
      readBFloat16(product, setting, run);
    else if (auto convolution = dyn_cast<ConvolutionOp>(op))
      readBFloat16(convolution, setting, run);
  });
  function.walk(
      [](stablehlo::ConvertOp op) { op->removeAttr(roundedAttribute); });
  removeDeadCode(function);
  run.graphIsWhole(bfloat16Label);
}

} // namespace sinter::cpu
