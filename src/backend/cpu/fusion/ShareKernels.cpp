//===- ShareKernels.cpp - share kernels that differ in constants ----------===//

#include "backend/cpu/fusion/ShareKernels.h"

#include "backend/cpu/ir/CpuOps.h"
#include "backend/cpu/ir/OperationKind.h"
#include "backend/cpu/quantized/AlignZeroPoints.h"
#include "graph/Constants.h"
#include "graph/Types.h"
#include "graph/stablehlo/StablehloOps.h"
#include "llvm/ADT/MapVector.h"

#include <cmath>

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

namespace {

constexpr llvm::StringLiteral label = "share-kernels",
                              shareKernelsPass = "cpu-share-kernels";

/// A kernel, and the constants in it that may become inputs, in order.
struct Candidate {
  KernelOp kernel;
  SmallVector<stablehlo::ConstantOp> numbers;
  /// Its int8 convolution with a zero point other than 0, if any.
  ConvolutionOp convolution;
};

/// Whether the value of \p use may be unknown to the code generator.
bool isPlainArithmetic(OpOperand &use) {
  Operation *user = use.getOwner();
  Type element = getElementTypeOrSelf(use.get().getType());
  if (isa<FloatType>(element))
    return isa<stablehlo::AddOp, stablehlo::SubtractOp, stablehlo::MulOp,
               stablehlo::DivOp>(user);
  return isa<IntegerType>(element) && element.getIntOrFloatBitWidth() >= 8 &&
         isa<stablehlo::AddOp, stablehlo::SubtractOp>(user);
}

/// The constants of \p kernel that only arithmetic uses, one per use: constants
/// that are equal in one layer may differ in another.
Candidate candidateOf(KernelOp kernel) {
  Candidate candidate{kernel, {}, {}};
  Block &body = kernel.getBody().front();
  for (auto convolution : body.getOps<ConvolutionOp>())
    if (convolution.getZeroPoint() != 0)
      candidate.convolution = convolution;
  SmallVector<OpOperand *> uses;
  for (Operation &op : body)
    for (OpOperand &operand : op.getOpOperands())
      if (auto constant = operand.get().getDefiningOp<stablehlo::ConstantOp>();
          constant && isSplatConstant(constant) && isPlainArithmetic(operand))
        uses.push_back(&operand);
  for (OpOperand *use : uses) {
    auto constant = use->get().getDefiningOp<stablehlo::ConstantOp>();
    OpBuilder builder(use->getOwner());
    auto own = cast<stablehlo::ConstantOp>(builder.clone(*constant));
    use->set(own.getResult());
    if (constant->use_empty())
      constant.erase();
    candidate.numbers.push_back(own);
  }
  return candidate;
}

DenseElementsAttr splatOf(RankedTensorType type, Attribute number) {
  return DenseElementsAttr::get(type, number);
}

Attribute numberOf(stablehlo::ConstantOp constant) {
  return cast<DenseElementsAttr>(constant.getValue())
      .getSplatValue<Attribute>();
}

/// The kernel's text without the values of these constants.
std::string formOf(Candidate &candidate) {
  SmallVector<ElementsAttr> numbers;
  for (stablehlo::ConstantOp constant : candidate.numbers) {
    numbers.push_back(constant.getValue());
    RankedTensorType type = tensorOf(constant.getResult());
    Builder builder(constant.getContext());
    constant.setValueAttr(
        splatOf(type, builder.getZeroAttr(type.getElementType())));
  }
  const auto zero =
      candidate.convolution ? candidate.convolution.getZeroPoint() : 0;
  if (candidate.convolution)
    candidate.convolution.setZeroPoint(1);
  std::string text = candidate.kernel.structure();
  if (candidate.convolution)
    candidate.convolution.setZeroPoint(zero);
  for (auto [constant, number] : llvm::zip_equal(candidate.numbers, numbers))
    constant.setValueAttr(number);
  return text;
}

/// Whether the constant is added to a value rounded to an integer. The code
/// generator must know that the sum is an integer, too.
bool isAddedToRounded(stablehlo::ConstantOp constant) {
  auto sum = dyn_cast<stablehlo::AddOp>(*constant->user_begin());
  return sum && sum.getLhs().getDefiningOp<stablehlo::RoundNearestEvenOp>();
}

/// f32 \p number as an i32, if it is an integer small enough for exact f32
/// sums.
std::optional<int32_t> integerOf(Attribute number) {
  auto real = dyn_cast<FloatAttr>(number);
  constexpr double most = 1 << 22;
  if (!real || !real.getType().isF32() ||
      std::abs(real.getValueAsDouble()) > most ||
      real.getValueAsDouble() != std::trunc(real.getValueAsDouble()))
    return std::nullopt;
  return static_cast<int32_t>(real.getValueAsDouble());
}

/// What the constant at index \p place becomes in all \p kernels of one form.
enum class Way { Stays, Input, IntegerInput };

Way wayOf(ArrayRef<Candidate *> kernels, size_t place) {
  auto number = [&](Candidate *each) { return numberOf(each->numbers[place]); };
  if (llvm::all_of(kernels, [&](Candidate *each) {
        return number(each) == number(kernels.front());
      }))
    return Way::Stays;
  if (!isAddedToRounded(kernels.front()->numbers[place]))
    return Way::Input;
  return llvm::all_of(kernels,
                      [&](Candidate *each) {
                        return integerOf(number(each)).has_value();
                      })
             ? Way::IntegerInput
             : Way::Input;
}

/// Turns \p constant of \p kernel into an input.
void lift(KernelOp kernel, stablehlo::ConstantOp constant, Way way) {
  RankedTensorType type = tensorOf(constant.getResult());
  Attribute number = numberOf(constant);
  Type element = type.getElementType();
  if (way == Way::IntegerInput) {
    element = IntegerType::get(kernel.getContext(), 32);
    number = IntegerAttr::get(element, *integerOf(number));
  }
  auto scalar = RankedTensorType::get({}, element);
  OpBuilder outside(kernel);
  Value input = outside.create<stablehlo::ConstantOp>(constant.getLoc(),
                                                      splatOf(scalar, number));
  kernel.getInputsMutable().append(input);
  Value argument =
      kernel.getBody().front().addArgument(scalar, constant.getLoc());
  OpBuilder inside(constant);
  if (way == Way::IntegerInput)
    argument = inside.create<stablehlo::ConvertOp>(
        constant.getLoc(), RankedTensorType::get({}, type.getElementType()),
        argument);
  Value spread = inside.create<stablehlo::BroadcastInDimOp>(
      constant.getLoc(), type, argument, ArrayRef<int64_t>());
  constant.getResult().replaceAllUsesWith(spread);
  constant.erase();
}

/// Turns the zero point of \p convolution, in \p kernel, into an input.
void liftZeroPoint(KernelOp kernel, ConvolutionOp convolution) {
  Type element = tensorOf(convolution.getInput()).getElementType();
  auto type = RankedTensorType::get({1}, element);
  const auto number =
      IntegerAttr::get(element, APInt(8, uint64_t(convolution.getZeroPoint())));
  OpBuilder outside(kernel);
  Value input = outside.create<stablehlo::ConstantOp>(convolution.getLoc(),
                                                      splatOf(type, number));
  kernel.getInputsMutable().append(input);
  convolution.getZeroMutable().assign(
      kernel.getBody().front().addArgument(type, convolution.getLoc()));
  convolution.setZeroPoint(0);
}

} // namespace

ArrayRef<PatternInfo> cpu::shareKernelsPatterns() {
  static const PatternInfo infos[] = {
      {label,
       "cpu.kernel(x) { x * 0.5 }, cpu.kernel(y) { y * 0.25 } -> "
       "cpu.kernel(x, 0.5) { x * s }, cpu.kernel(y, 0.25) { y * s }",
       shareKernelsPass}};
  return infos;
}

void cpu::shareKernels(func::FuncOp function, PatternRun &run) {
  if (!run.isEnabled(label))
    return;
  alignZeroPoints(
      function,
      [](KernelOp kernel) {
        Candidate candidate = candidateOf(kernel);
        return formOf(candidate);
      },
      run);
  std::vector<Candidate> candidates;
  function.walk(
      [&](KernelOp kernel) { candidates.push_back(candidateOf(kernel)); });
  llvm::MapVector<StringRef, SmallVector<Candidate *>> kernelsOf;
  std::vector<std::string> forms;
  forms.reserve(candidates.size());
  for (Candidate &candidate : candidates) {
    if (candidate.numbers.empty() && !candidate.convolution)
      continue;
    forms.push_back(formOf(candidate));
    kernelsOf[forms.back()].push_back(&candidate);
  }
  for (auto &[form, kernels] : kernelsOf) {
    const size_t count = kernels.front()->numbers.size();
    SmallVector<Way> ways;
    for (size_t place = 0; place < count; ++place)
      ways.push_back(wayOf(kernels, place));
    const ConvolutionOp first = kernels.front()->convolution;
    const bool countsAlike = llvm::all_of(kernels, [&](Candidate *each) {
      return !first || each->convolution.getZeroPoint() ==
                           ConvolutionOp(first).getZeroPoint();
    });
    for (Candidate *each : kernels) {
      if (!countsAlike) {
        liftZeroPoint(each->kernel, each->convolution);
        run.count(label);
      }
      for (auto [constant, way] : llvm::zip_equal(each->numbers, ways))
        if (way != Way::Stays) {
          lift(each->kernel, constant, way);
          run.count(label);
        }
    }
  }
}
