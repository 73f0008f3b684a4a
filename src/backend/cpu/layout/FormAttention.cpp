#include "backend/cpu/layout/FormAttention.h"

#include "backend/cpu/cost/Estimates.h"
#include "backend/cpu/cost/GraphShapes.h"
#include "backend/cpu/ir/CpuOps.h"
#include "backend/cpu/target/PassSetting.h"
#include "graph/ProductPrecision.h"
#include "graph/Types.h"
#include "graph/UnitDimensions.h"
#include "graph/nn/Wide.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;

namespace sinter::cpu {

using nn::TensorBuilder;

static constexpr llvm::StringLiteral formAttentionLabel = "form-attention";

ArrayRef<PatternInfo> formAttentionPatterns() {
  static const PatternInfo infos[] = {
      {formAttentionLabel,
       "transpose(attention(transpose(q), ...)) -> cpu.attention(q, ...)",
       "cpu-form-attention"}};
  return infos;
}

/// Whether there is a kernel for it.
static bool hasKernel(nn::AttentionOp op) {
  for (Value operand : op->getOperands()) {
    Type element = tensorOf(operand).getElementType();
    if ((!element.isF32() && !nn::isNarrowFloat(element)) ||
        llvm::is_contained(tensorOf(operand).getShape(), 0))
      return false;
  }
  return !llvm::is_contained(tensorOf(op.getResult()).getShape(), 0);
}

/// Whether sizes of it are known only when the program runs.
static bool isDynamic(nn::AttentionOp op) {
  return llvm::any_of(op->getOperands(), [](Value operand) {
    return !tensorOf(operand).hasStaticShape();
  });
}

/// Whether the last dimension of \p tensor is dynamic.
static bool hasDynamicRows(Value tensor) {
  return ShapedType::isDynamic(tensorOf(tensor).getShape().back());
}

bool computesWhole(nn::AttentionOp op, const PassSetting &setting,
                   const PatternRun &run) {
  if (!run.isEnabled(formAttentionLabel) || !hasKernel(op))
    return false;
  // There may be any number of rows and keys, but depth and width are known.
  if (isDynamic(op))
    return !hasDynamicRows(op.getQuery()) && !hasDynamicRows(op.getValue());
  const Alternatives all = alternativesFor(
      asHeads(op), setting.target,
      AttentionTiles::allOf(askedPrecision(op).value_or(setting.precision)));
  // The kernel tells what it was chosen from when it is planned.
  return all.front().kernel != "products" ||
         setting.choose(op.getLoc(), all) != "products";
}

namespace {

using Dims = SmallVector<int64_t>;

/// A tensor, and which of its dimensions each of the operation's is.
struct Stored {
  Value value;
  Dims dims;
};

} // namespace

/// The tensor in front of the transposes, as far as \p isReadable.
static Stored
behindTransposes(Value value,
                 llvm::function_ref<bool(const Dims &)> isReadable) {
  Stored at{value,
            llvm::to_vector(llvm::seq<int64_t>(0, tensorOf(value).getRank()))};
  Stored best = at;
  while (auto transpose = at.value.getDefiningOp<stablehlo::TransposeOp>()) {
    for (int64_t &dim : at.dims)
      dim = transpose.getPermutation()[dim];
    at.value = transpose.getOperand();
    if (isReadable(at.dims))
      best = at;
  }
  return best;
}

static bool keepsLast(const Dims &dims) {
  return dims.back() == static_cast<int64_t>(dims.size()) - 1;
}

/// What is written in place of the operation's result, and the operation's
/// dimensions in the order in which they lie there in memory.
struct Written {
  Value value;
  Dims order;
};

/// Follows the result through what only moves its dimensions, as far as
/// elements that lay side by side still do.
static Written followResult(nn::AttentionOp op) {
  ArrayRef<int64_t> shape = tensorOf(op.getResult()).getShape();
  Written best{op.getResult(),
               llvm::to_vector(llvm::seq<int64_t>(0, shape.size()))};
  Written at = best;
  while (at.value.hasOneUse()) {
    Operation *user = *at.value.user_begin();
    auto moved = movedDimensions(user);
    if (!moved)
      break;
    for (int64_t &dim : *moved)
      dim = dim < 0 ? -1 : at.order[dim];
    at = {user->getResult(0), *moved};
    // Where those of size 1 are does not matter.
    Dims order;
    auto isUnit = [&](int64_t dim) { return dim < 0 || shape[dim] == 1; };
    llvm::copy_if(best.order, std::back_inserter(order), isUnit);
    llvm::copy_if(at.order, std::back_inserter(order), std::not_fn(isUnit));
    if (keepsLast(order))
      best = {at.value, order};
  }
  return best;
}

static void form(nn::AttentionOp op, PatternRun &run) {
  Stored query =
      behindTransposes(op.getQuery(), [](const Dims &) { return true; });
  Stored key = behindTransposes(op.getKey(), [](const Dims &dims) {
    return keepsLast(dims) ||
           dims[dims.size() - 2] == static_cast<int64_t>(dims.size()) - 1;
  });
  Stored value = behindTransposes(op.getValue(), keepsLast);
  Written result = followResult(op);
  OpBuilder builder(op);
  TensorBuilder emit(builder, op.getLoc());
  Type f32 = builder.getF32Type();
  auto resultType = RankedTensorType::get(
      applyPermutation(tensorOf(op.getResult()).getShape(), result.order), f32);
  Value mask = op.getMask();
  auto whole = builder.create<AttentionOp>(
      op.getLoc(), resultType, emit.convert(query.value, f32),
      emit.convert(key.value, f32), emit.convert(value.value, f32),
      mask ? emit.convert(mask, f32) : mask, op.getScaleAttr(),
      op.getCausalAttr(), op.getChosenAttr(),
      builder.getDenseI64ArrayAttr(query.dims),
      builder.getDenseI64ArrayAttr(key.dims),
      builder.getDenseI64ArrayAttr(value.dims),
      builder.getDenseI64ArrayAttr(invertPermutationVector(result.order)));
  if (std::optional<Precision> asked = askedPrecision(op))
    setPrecision(whole, *asked);
  Value last = result.value,
        made = emit.convert(whole.getResult(), tensorOf(last).getElementType());
  if (last.getType() != made.getType())
    made =
        builder.create<stablehlo::ReshapeOp>(op.getLoc(), last.getType(), made);
  run.replace(formAttentionLabel, last.getDefiningOp(), made);
  run.graphIsWhole(formAttentionLabel);
}

void formAttention(func::FuncOp function, PatternRun &run) {
  SmallVector<nn::AttentionOp> found;
  function.walk([&](nn::AttentionOp op) { found.push_back(op); });
  for (nn::AttentionOp op : found)
    form(op, run);
}

} // namespace sinter::cpu
