#include "backend/cpu/precision/CarryBiases.h"

#include "backend/cpu/ir/CpuOps.h"
#include "backend/cpu/ir/OperationKind.h"
#include "graph/Broadcast.h"
#include "graph/ElementUses.h"
#include "graph/Types.h"
#include "graph/nn/TensorBuilder.h"

using namespace mlir;
using sinter::nn::TensorBuilder;
using namespace sinter::stablehlo;

namespace sinter::cpu {

static constexpr llvm::StringLiteral carryBiasLabel = "carry-bias";

ArrayRef<PatternInfo> carryBiasesPatterns() {
  static const PatternInfo infos[] = {
      {carryBiasLabel,
       "add(convert<f16>(convolution(x, w)), b) -> "
       "convert<f16>(add(convolution(x, w), convert<f32>(b)))",
       "cpu-carry-biases", contract}};
  return infos;
}

/// Whether \p value is a broadcast of fewer elements.
static bool isRepeated(Value value) {
  const std::optional<Broadcast> broadcast = Broadcast::of(value);
  if (!broadcast || !tensorOf(broadcast->operand).hasStaticShape())
    return false;
  return isOfUnknownSize(value.getType()) ||
         sizeOf(broadcast->operand) < sizeOf(value);
}

/// An f16 or bf16 bias, widened to f32; null if \p value is no bias.
static Value widenedBias(Value value, TensorBuilder &emit, Type f32) {
  if (value.getDefiningOp<ConstantOp>())
    return emit.convert(value, f32);
  if (!isRepeated(value))
    return {};
  const Broadcast broadcast = *Broadcast::of(value);
  return broadcast.rebuild(emit.builder, emit.location,
                           emit.convert(broadcast.operand, f32));
}

/// Whether \p value is a product with an f32 accumulator, possibly times a
/// factor, with a single use.
static bool isProduct(Value value) {
  if (!hasOneElementUse(value) || !tensorOf(value).getElementType().isF32())
    return false;
  Operation *op = value.getDefiningOp();
  if (auto scaled = dyn_cast_or_null<MulOp>(op))
    return (isRepeated(scaled.getRhs()) && isProduct(scaled.getLhs())) ||
           (isRepeated(scaled.getLhs()) && isProduct(scaled.getRhs()));
  return isa_and_nonnull<ConvolutionOp, LowBitProductOp, DotGeneralOp>(op);
}

/// The f32 product that is rounded to \p value, of f16 or bf16; else null.
static Value roundedProduct(Value value) {
  Type type = tensorOf(value).getElementType();
  auto convert = value.getDefiningOp<ConvertOp>();
  return convert && (type.isF16() || type.isBF16()) &&
                 hasOneElementUse(value) && isProduct(convert.getOperand())
             ? convert.getOperand()
             : Value();
}

static void carryBias(AddOp op, PatternRun &run) {
  for (auto [value, bias] :
       {std::pair(op.getLhs(), op.getRhs()), {op.getRhs(), op.getLhs()}}) {
    Value product = roundedProduct(value);
    if (!product)
      continue;
    OpBuilder builder(op);
    TensorBuilder emit(builder, op.getLoc());
    Value wide = widenedBias(bias, emit, builder.getF32Type());
    if (!wide)
      continue;
    Value sum =
        emit.convert(emit.add(product, wide), tensorOf(op).getElementType());
    run.replace(carryBiasLabel, op, sum);
    op.erase();
    run.graphIsWhole(carryBiasLabel);
    return;
  }
}

void carryBiases(func::FuncOp function, PatternRun &run) {
  if (!run.isEnabled(carryBiasLabel))
    return;
  SmallVector<AddOp> sums;
  function.walk([&](AddOp op) { sums.push_back(op); });
  for (AddOp op : sums)
    carryBias(op, run);
}

} // namespace sinter::cpu
