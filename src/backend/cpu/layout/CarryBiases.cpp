#include "backend/cpu/layout/CarryBiases.h"

#include "backend/cpu/OperationKind.h"
#include "backend/cpu/ir/CpuOps.h"
#include "graph/Broadcast.h"
#include "graph/Readers.h"
#include "graph/Types.h"
#include "graph/nn/TensorBuilder.h"

using namespace mlir;
using sinter::nn::TensorBuilder;
using namespace sinter::stablehlo;

namespace sinter::cpu {

static constexpr llvm::StringLiteral label = "carry-bias";

ArrayRef<PatternInfo> carryBiasesPatterns() {
  static const PatternInfo infos[] = {
      {label,
       "add(convert<f16>(convolution(x, w)), b) -> "
       "convert<f16>(add(convolution(x, w), convert<f32>(b)))",
       "cpu-carry-biases", contract}};
  return infos;
}

/// Whether \p value repeats fewer elements.
static bool isRepeated(Value value) {
  const std::optional<Broadcast> broadcast = Broadcast::of(value);
  if (!broadcast || !tensorOf(broadcast->operand).hasStaticShape())
    return false;
  return isOfUnknownSize(value.getType()) ||
         sizeOf(broadcast->operand) < sizeOf(value);
}

/// A bias of f16 or bf16 in f32; nothing where \p value is none.
static Value widenedBias(Value value, TensorBuilder &emit, Type f32) {
  if (value.getDefiningOp<ConstantOp>())
    return emit.convert(value, f32);
  if (!isRepeated(value))
    return {};
  const Broadcast broadcast = *Broadcast::of(value);
  return broadcast.rebuild(emit.builder, emit.location,
                           emit.convert(broadcast.operand, f32));
}

/// Whether \p value is a product that is summed up in f32, or one times a
/// factor, and has only one reader.
static bool isProduct(Value value) {
  if (!hasOneReader(value) || !tensorOf(value).getElementType().isF32())
    return false;
  Operation *op = value.getDefiningOp();
  if (auto scaled = dyn_cast_or_null<MulOp>(op))
    return (isRepeated(scaled.getRhs()) && isProduct(scaled.getLhs())) ||
           (isRepeated(scaled.getLhs()) && isProduct(scaled.getRhs()));
  return isa_and_nonnull<ConvolutionOp, NarrowProductOp, DotGeneralOp>(op);
}

/// The product of which \p value is what f16 or bf16 holds.
static Value roundedProduct(Value value) {
  Type type = tensorOf(value).getElementType();
  auto convert = value.getDefiningOp<ConvertOp>();
  return convert && (type.isF16() || type.isBF16()) && hasOneReader(value) &&
                 isProduct(convert.getOperand())
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
    run.replace(label, op, sum);
    op.erase();
    run.graphIsWhole(label);
    return;
  }
}

void carryBiases(func::FuncOp function, PatternRun &run) {
  if (!run.isEnabled(label))
    return;
  SmallVector<AddOp> sums;
  function.walk([&](AddOp op) { sums.push_back(op); });
  for (AddOp op : sums)
    carryBias(op, run);
}

} // namespace sinter::cpu
