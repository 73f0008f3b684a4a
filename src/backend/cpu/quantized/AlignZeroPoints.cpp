//===- AlignZeroPoints.cpp - unify kernels up to zero points --------------===//

#include "backend/cpu/quantized/AlignZeroPoints.h"

#include "graph/Constants.h"
#include "graph/Types.h"
#include "graph/nn/TensorBuilder.h"
#include "graph/stablehlo/StablehloOps.h"
#include "llvm/ADT/MapVector.h"

#include <cmath>
#include <unordered_map>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

namespace {

constexpr llvm::StringLiteral alignLabel = "align-zero-points",
                              ofPass = "cpu-share-kernels";

/// The form of a step that may have a zero point.
enum class Form {
  Converted,        ///< convert(x)
  ConvertedShifted, ///< convert(x) - z
  ClampedRounded,   ///< round(clamp(x))
  RoundedClamped,   ///< clamp(round(x))
  ShiftedRounded,   ///< round(clamp(x + z))
  RoundedShifted,   ///< clamp(round(x) + z)
  ShiftedTwice,     ///< clamp(round(x + y) + z)
};

/// A step of quantising or dequantising.
struct Step {
  Form form;
  /// The operand of the step, and its operations, the last one first.
  Value operand;
  SmallVector<Operation *, 3> operations;
  /// The clamp, if any, and the zero point.
  stablehlo::ClampOp clamp = {};
  Value shift = {};

  Operation *last() const { return operations.front(); }
};

bool isSplat(Value value) {
  auto constant = value.getDefiningOp<stablehlo::ConstantOp>();
  return constant && splatNumber(value);
}

/// Whether \p value is a splat of an integer small enough for exact float
/// arithmetic.
bool isSmallInteger(Value value) {
  constexpr double most = 1 << 22;
  const std::optional<double> number = splatNumber(value);
  return number && *number == std::trunc(*number) && std::abs(*number) <= most;
}

/// The addition of a splat constant that defines \p value, if \p value has one
/// use.
stablehlo::AddOp shiftOf(Value value) {
  auto sum = value.getDefiningOp<stablehlo::AddOp>();
  return sum && value.hasOneUse() && isSplat(sum.getRhs()) ? sum
                                                           : stablehlo::AddOp();
}

/// The rounding that defines \p value, if \p value has one use.
stablehlo::RoundNearestEvenOp roundingOf(Value value) {
  auto rounding = value.getDefiningOp<stablehlo::RoundNearestEvenOp>();
  return rounding && value.hasOneUse() ? rounding
                                       : stablehlo::RoundNearestEvenOp();
}

/// The rounding and clamping step that ends with the operand of \p op.
std::optional<Step> roundingStep(stablehlo::ConvertOp op) {
  Value value = op.getOperand();
  Type element = getElementTypeOrSelf(value);
  if (!(element.isF32() || element.isF64()) ||
      !isa<IntegerType>(getElementTypeOrSelf(op.getResult())))
    return std::nullopt;
  stablehlo::RoundNearestEvenOp last = roundingOf(value);
  Value cut = last ? last.getOperand() : value;
  auto clamp = cut.getDefiningOp<stablehlo::ClampOp>();
  if (!clamp || !cut.hasOneUse() || !isSmallInteger(clamp.getMin()) ||
      !isSmallInteger(clamp.getMax()))
    return std::nullopt;
  Value inside = clamp.getOperand();
  stablehlo::AddOp sum = shiftOf(inside);
  if (last && sum)
    return Step{Form::ShiftedRounded,
                sum.getLhs(),
                {last, clamp, sum},
                clamp,
                sum.getRhs()};
  if (last)
    return Step{Form::ClampedRounded, inside, {last, clamp}, clamp};
  if (sum && isSmallInteger(sum.getRhs()))
    if (stablehlo::RoundNearestEvenOp first = roundingOf(sum.getLhs()))
      return Step{Form::RoundedShifted,
                  first.getOperand(),
                  {clamp, sum, first},
                  clamp,
                  sum.getRhs()};
  if (stablehlo::RoundNearestEvenOp first = roundingOf(inside))
    return Step{
        Form::RoundedClamped, first.getOperand(), {clamp, first}, clamp};
  return std::nullopt;
}

/// The step that converts storage elements to floats by \p op.
std::optional<Step> conversionStep(stablehlo::ConvertOp op) {
  constexpr unsigned mostBits = 16;
  auto from = dyn_cast<IntegerType>(getElementTypeOrSelf(op.getOperand()));
  Type to = getElementTypeOrSelf(op.getResult());
  if (!from || from.getWidth() == 1 || from.getWidth() > mostBits ||
      !(to.isF32() || to.isF64()))
    return std::nullopt;
  Value number = op.getResult();
  auto distance = number.hasOneUse()
                      ? dyn_cast<stablehlo::SubtractOp>(*number.user_begin())
                      : stablehlo::SubtractOp();
  if (distance && distance.getLhs() == number && isSplat(distance.getRhs()))
    return Step{Form::ConvertedShifted, number, {distance}};
  return Step{Form::Converted, number, {op}};
}

/// The steps of \p kernel in order.
std::vector<Step> stepsOf(KernelOp kernel) {
  std::vector<Step> steps;
  for (auto op : kernel.getBody().front().getOps<stablehlo::ConvertOp>()) {
    if (std::optional<Step> step = roundingStep(op))
      steps.push_back(*step);
    if (std::optional<Step> step = conversionStep(op))
      steps.push_back(*step);
  }
  return steps;
}

Value zeroLike(nn::TensorBuilder &emit, Value like) {
  RankedTensorType type = tensorOf(like);
  return emit.make<stablehlo::ConstantOp>(DenseElementsAttr::get(
      type, FloatAttr::get(type.getElementType(), 0.0).getValue()));
}

/// Rewrites \p step, one that rounds, in \p form and erases the old operations.
void rewriteRounding(const Step &step, Form form) {
  OpBuilder builder(step.last());
  nn::TensorBuilder emit(builder, step.last()->getLoc());
  auto round = [&](Value value) {
    return emit.make<stablehlo::RoundNearestEvenOp>(value);
  };
  auto cut = [&](Value value) {
    stablehlo::ClampOp clamp = step.clamp;
    return emit.make<stablehlo::ClampOp>(clamp.getMin(), value, clamp.getMax());
  };
  auto shift = [&](Value value, Form of) {
    return emit.add(value,
                    step.form == of ? step.shift : zeroLike(emit, value));
  };
  Value value = step.operand;
  if (form == Form::ShiftedRounded || form == Form::ShiftedTwice)
    value = shift(value, Form::ShiftedRounded);
  if (form == Form::RoundedShifted || form == Form::ShiftedTwice)
    value = cut(shift(round(value), Form::RoundedShifted));
  else
    value = round(cut(value));
  step.last()->getResult(0).replaceAllUsesWith(value);
  for (Operation *op : step.operations)
    op->erase();
}

/// Adds a zero point to \p step, a conversion.
void shiftConversion(const Step &step) {
  OpBuilder builder(step.last()->getContext());
  builder.setInsertionPointAfter(step.last());
  nn::TensorBuilder emit(builder, step.last()->getLoc());
  Value distance = emit.sub(step.operand, zeroLike(emit, step.operand));
  Value(step.operand).replaceAllUsesExcept(distance, distance.getDefiningOp());
}

bool isConversion(Form form) {
  return form == Form::Converted || form == Form::ConvertedShifted;
}

/// Rewrites \p step in \p form, which includes all zero points of the step.
void rewrite(const Step &step, Form form) {
  if (step.form == form)
    return;
  if (isConversion(form))
    shiftConversion(step);
  else
    rewriteRounding(step, form);
}

/// Removes unused constants.
void removeUnusedConstants(KernelOp kernel) {
  for (auto constant : llvm::make_early_inc_range(
           kernel.getBody().front().getOps<stablehlo::ConstantOp>()))
    if (constant->use_empty())
      constant.erase();
}

/// The smallest form that includes all zero points of \p forms.
Form commonForm(ArrayRef<Form> forms) {
  if (llvm::all_equal(forms))
    return forms.front();
  if (isConversion(forms.front()))
    return Form::ConvertedShifted;
  const bool isBefore = llvm::is_contained(forms, Form::ShiftedRounded),
             isBehind = llvm::is_contained(forms, Form::RoundedShifted);
  return isBefore   ? isBehind ? Form::ShiftedTwice : Form::ShiftedRounded
         : isBehind ? Form::RoundedShifted
                    : Form::ClampedRounded;
}

/// The text of \p kernel with all possible zero points in each step.
std::string alignedForm(KernelOp kernel,
                        llvm::function_ref<std::string(KernelOp)> formOf) {
  auto copy = cast<KernelOp>(kernel->clone());
  const size_t count = stepsOf(copy).size();
  // Each step's operand may be the result of the previous one.
  for (size_t i = 0; i < count; ++i) {
    const Step step = stepsOf(copy)[i];
    rewrite(step, isConversion(step.form) ? Form::ConvertedShifted
                                          : Form::ShiftedTwice);
  }
  removeUnusedConstants(copy);
  std::string form = formOf(copy);
  copy->erase();
  return form;
}

} // namespace

ArrayRef<PatternInfo> cpu::alignZeroPointsPatterns() {
  static const PatternInfo infos[] = {
      {alignLabel,
       "cpu.kernel { round(clamp(x)) }, cpu.kernel { round(clamp(y + 3)) } -> "
       "cpu.kernel { round(clamp(x + 0)) }, cpu.kernel { round(clamp(y + 3)) }",
       ofPass}};
  return infos;
}

void cpu::alignZeroPoints(func::FuncOp function,
                          llvm::function_ref<std::string(KernelOp)> formOf,
                          PatternRun &run) {
  if (!run.isEnabled(alignLabel))
    return;
  llvm::MapVector<std::string, std::vector<KernelOp>,
                  std::unordered_map<std::string, unsigned>>
      kernelsOf;
  function.walk([&](KernelOp kernel) {
    if (!stepsOf(kernel).empty())
      kernelsOf[alignedForm(kernel, formOf)].push_back(kernel);
  });
  for (auto &[form, kernels] : kernelsOf) {
    const size_t count = stepsOf(kernels.front()).size();
    for (size_t i = 0; i < count; ++i) {
      const auto steps = llvm::map_to_vector(
          kernels, [&](KernelOp kernel) { return stepsOf(kernel)[i]; });
      const Form common = commonForm(llvm::map_to_vector(
          steps, [](const Step &step) { return step.form; }));
      for (const Step &step : steps)
        if (step.form != common) {
          rewrite(step, common);
          run.count(alignLabel);
        }
    }
    llvm::for_each(kernels, removeUnusedConstants);
  }
}
