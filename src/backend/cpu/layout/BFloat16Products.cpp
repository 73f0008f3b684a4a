#include "backend/cpu/layout/BFloat16Products.h"

#include "backend/cpu/PassSetting.h"
#include "backend/cpu/RemoveUnused.h"
#include "backend/cpu/emit/ConvolutionKernel.h"
#include "backend/cpu/ir/CpuOps.h"
#include "backend/cpu/layout/HalfWeights.h"
#include "graph/Constants.h"
#include "graph/nn/TensorBuilder.h"
#include "graph/stablehlo/StablehloOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace sinter::cpu {

static constexpr llvm::StringLiteral bfloat16Label = "bfloat16-products";

ArrayRef<PatternInfo> bfloat16ProductsPatterns() {
  static const PatternInfo infos[] = {
      {bfloat16Label,
       "narrow_product(convert<f32>(v : bf16), w) -> narrow_product(v, w)",
       "cpu-form-bfloat16-products"}};
  return infos;
}

/// What moves elements between a conversion and a product.
static bool movesElements(Operation *op) {
  if (auto pad = dyn_cast<stablehlo::PadOp>(op))
    return isPositiveZero(pad.getPaddingValue());
  return isa<stablehlo::ReshapeOp, stablehlo::TransposeOp, PackOp>(op);
}

/// The numbers of \p wide, of f32, as bf16; null where they are not known to
/// be such.
static Value inBFloat16(OpBuilder &builder, Value wide) {
  SmallVector<Operation *> moves;
  Operation *made = wide.getDefiningOp();
  while (made && movesElements(made)) {
    moves.push_back(made);
    made = made->getOperand(0).getDefiningOp();
  }
  auto convert = dyn_cast_or_null<stablehlo::ConvertOp>(made);
  if (!convert || !tensorOf(convert.getOperand()).getElementType().isBF16())
    return {};
  Value narrow = convert.getOperand();
  nn::TensorBuilder emit(builder, wide.getLoc());
  for (Operation *move : llvm::reverse(moves)) {
    IRMapping mapping;
    mapping.map(move->getOperand(0), narrow);
    if (auto pad = dyn_cast<stablehlo::PadOp>(move))
      mapping.map(pad.getPaddingValue(),
                  emit.convert(pad.getPaddingValue(), builder.getBF16Type()));
    Operation *copy = builder.clone(*move, mapping);
    narrow = copy->getResult(0);
    narrow.setType(tensorOf(narrow).clone(builder.getBF16Type()));
  }
  return narrow;
}

static void readBFloat16(NarrowProductOp op, const PassSetting &setting,
                         PatternRun &run) {
  auto weights = tensorOf(op.getWeights());
  if (!weights.getElementType().isBF16() || op.getBlock() != 0)
    return;
  int64_t depth = 1;
  for (int64_t dim : op.getContracting())
    depth *= weights.getDimSize(dim);
  const MatMulShape typical = MatMulShape::dense(
      rowsOfChoice, std::max<int64_t>(1, weights.getNumElements() / depth),
      depth);
  OpBuilder builder(op);
  Value narrow = inBFloat16(builder, op.getLhs());
  if (!narrow ||
      setting.choose(op.getLoc(), alternativesForBFloat16(
                                      typical, setting.target)) != "bf16")
    return;
  op.getLhsMutable().assign(narrow);
  run.count(bfloat16Label);
}

/// The weights of \p op in bf16, null where it does not hold them.
static Value narrowWeights(OpBuilder &builder, ConvolutionOp op) {
  if (tensorOf(op.getWeights()).getElementType().isBF16())
    return op.getWeights();
  const std::optional<Tensor> weights = constantTensor(op.getWeights());
  const std::optional<Tensor> narrow =
      weights ? inHalfPrecision(*weights) : std::nullopt;
  return narrow && narrow->type() == ElementType::BF16
             ? makeConstant(builder, op.getLoc(), *narrow,
                            constantName(op.getWeights()))
             : Value();
}

static void readBFloat16(ConvolutionOp op, const PassSetting &setting,
                         PatternRun &run) {
  if (op.hasPlanarInput() || op.getPackedFrom() ||
      !tensorOf(op.getInput()).getElementType().isF32() ||
      (!op.isDepthwise() && op.kernelShape()[1] % 2 != 0))
    return;
  OpBuilder builder(op);
  Value narrow = inBFloat16(builder, op.getInput());
  if (!narrow)
    return;
  if (!op.isDepthwise()) {
    Value weights = narrowWeights(builder, op);
    if (!weights ||
        setting.choose(op.getLoc(),
                       alternativesForBFloat16(nominalShape(op), op.getFast(),
                                               setting.target)) != "bf16")
      return;
    op.getWeightsMutable().assign(weights);
  }
  op.getInputMutable().assign(narrow);
  run.count(bfloat16Label);
}

void formBFloat16Products(func::FuncOp function, const PassSetting &setting,
                          PatternRun &run) {
  if (!multipliesBFloat16(setting.target) || !run.isEnabled(bfloat16Label))
    return;
  function.walk([&](Operation *op) {
    if (auto product = dyn_cast<NarrowProductOp>(op))
      readBFloat16(product, setting, run);
    else if (auto convolution = dyn_cast<ConvolutionOp>(op))
      readBFloat16(convolution, setting, run);
  });
  removeUnused(function);
  run.graphIsWhole(bfloat16Label);
}

} // namespace sinter::cpu
