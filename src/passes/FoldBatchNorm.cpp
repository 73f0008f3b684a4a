#include "passes/FoldBatchNorm.h"

#include "graph/Broadcast.h"
#include "graph/Constants.h"
#include "graph/ElementUses.h"
#include "graph/Model.h"
#include "graph/nn/NnOps.h"
#include "graph/stablehlo/StablehloOps.h"
#include "graph/stablehlo/Sums.h"
#include "mlir/IR/PatternMatch.h"
#include "passes/ChannelAbsorption.h"
#include "passes/FoldedNames.h"
#include "passes/Groups.h"
#include "passes/Matching.h"
#include "passes/Pass.h"
#include "passes/ScaledNumbers.h"
#include "llvm/ADT/SetVector.h"
#include <cmath>

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter {

static constexpr StringLiteral foldBatchNormPass = "fold-batch-norm";

/// The labels, by the kind of step and whether it stands before the product.
static constexpr StringLiteral labels[5][2] = {
    {"fold-batch-norm-after", "fold-batch-norm-before"},
    {"fold-scale-after", "fold-scale-before"},
    {"fold-shift-after", "fold-shift-before"},
    {"fold-across-rearrangement", "fold-across-rearrangement"},
    {"fold-across-convert", "fold-across-convert"}};

static StringRef labelOf(AffineStepKind kind, bool isBefore) {
  return labels[static_cast<int>(kind)][isBefore];
}

ArrayRef<PatternInfo> foldBatchNormPatterns() {
  static const PatternInfo infos[] = {
      {labels[0][0], "batch_norm(product(x, k)) -> product(x, k') + b'",
       foldBatchNormPass},
      {labels[0][1], "product(batch_norm(x), k) -> product(x, k') + b'",
       foldBatchNormPass},
      {labels[1][0], "product(x, k) * s -> product(x, k')", foldBatchNormPass},
      {labels[1][1], "product(x * s, k) -> product(x, k')", foldBatchNormPass},
      {labels[2][0], "(product(x, k) + b) + c -> product(x, k) + b'",
       foldBatchNormPass},
      {labels[2][1], "product(x + c, k) -> product(x, k) + b'",
       foldBatchNormPass},
      {labels[3][0],
       "transpose(product(x, k)) * s -> transpose(product(x, k'))",
       foldBatchNormPass},
      {labels[4][0], "f32(product(x, k) : bf16) * s -> f32(product(x, k'))",
       foldBatchNormPass},
  };
  return infos;
}

bool foldsAffine(const PatternRun &run, bool isNorm, bool scales, bool shifts,
                 bool isBefore) {
  auto isEnabled = [&](AffineStepKind kind) {
    return run.isEnabled(labelOf(kind, isBefore));
  };
  if (isNorm)
    return isEnabled(AffineStepKind::BatchNorm);
  return (!scales || isEnabled(AffineStepKind::Scale)) &&
         (!shifts || isEnabled(AffineStepKind::Shift));
}

namespace {

class AffineFolder {
public:
  AffineFolder(ModuleOp module, PatternRun &run)
      : module(module), run(run), whole(module), names(module) {}

  void foldAll();

private:
  bool foldAfter(Operation *op);
  bool foldBefore(Operation *op);
  SmallVector<ChannelStep> chainAfter(Value value, int64_t dimension,
                                      int64_t channels);
  SmallVector<ChannelStep> chainBefore(Value value, const ChannelFold &fold,
                                       int64_t channels, bool mayShift);
  bool extend(SmallVector<ChannelStep> &chain, std::optional<ChannelStep> step,
              bool isBefore);
  void setWeight(WeightedProduct &product, const ChannelFold &fold,
                 const Tensor &values, ArrayRef<double> scale);
  void scaleScales(WeightedProduct &product, const ChannelFold &fold,
                   ArrayRef<double> scale);
  Value addBias(OpBuilder &builder, Value value, const Bias &bias);
  void addAfter(const WeightedProduct &product, const Bias &bias,
                ArrayRef<ChannelStep> chain);
  void setInside(const WeightedProduct &product, const Bias &bias);
  void takeAway(ArrayRef<ChannelStep> chain, Value value, bool isConverted);
  void eraseIfDead(Operation *op);
  void count(ArrayRef<ChannelStep> chain, bool isBefore);

  ModuleOp module;
  PatternRun &run;
  const WholeNodes whole;
  FoldedNames names;
  GroupTracker groups;
};

} // namespace

static ChannelAffine composed(ArrayRef<ChannelStep> chain, int64_t channels) {
  ChannelAffine affine = ChannelAffine::identity(channels);
  for (const ChannelStep &step : chain)
    affine = compose(step.affine, affine);
  return affine;
}

static bool hasShift(ArrayRef<ChannelStep> chain) {
  return llvm::any_of(chain, [](const ChannelStep &step) {
    return step.kind == AffineStepKind::BatchNorm ||
           step.kind == AffineStepKind::Shift || step.affine.shifts();
  });
}

/// Whether the chain is one addition, wherever it stands. (A subtraction
/// becomes one.)
static bool isOneAddition(ArrayRef<ChannelStep> chain) {
  SmallVector<Operation *> steps;
  for (const ChannelStep &step : chain)
    if (!step.isPassage())
      steps.push_back(step.op);
  return steps.size() == 1 && isa<AddOp>(steps[0]);
}

/// Whether the step is removed once its coefficients are in the weights.
static bool isTakenAway(const ChannelStep &step, bool isConverted) {
  return !step.isPassage() ||
         (isConverted && step.kind == AffineStepKind::Convert);
}

/// Gives the padding value the type of the elements that are padded now.
static void convertPadding(stablehlo::PadOp pad, Type element) {
  OpBuilder builder(pad);
  pad.getPaddingValueMutable().assign(builder.create<stablehlo::ConvertOp>(
      pad.getLoc(), RankedTensorType::get({}, element), pad.getPaddingValue()));
}

/// Removes the chain's arithmetic, and its conversions where \p isConverted.
/// Operations that only move elements stay in their source nodes, and move
/// those of \p value.
void AffineFolder::takeAway(ArrayRef<ChannelStep> chain, Value value,
                            bool isConverted) {
  for (const ChannelStep &step : chain) {
    Value result = step.op->getResult(0);
    if (isTakenAway(step, isConverted)) {
      if (&step == &chain.back() && isConverted)
        run.replaced(labelOf(step.kind, /*isBefore=*/false), result, value);
      // Uses of the shape alone can use that of the value.
      result.replaceAllUsesWith(value);
      continue;
    }
    run.changed(step.op);
    if (isConverted) {
      result.setType(tensorOf(result).clone(elementOf(value)));
      if (auto pad = dyn_cast<stablehlo::PadOp>(step.op))
        convertPadding(pad, elementOf(value));
    }
    value = result;
  }
  for (const ChannelStep &step : llvm::reverse(chain))
    if (isTakenAway(step, isConverted))
      eraseIfDead(step.op);
}

/// Appends an enabled step to the chain.
bool AffineFolder::extend(SmallVector<ChannelStep> &chain,
                          std::optional<ChannelStep> step, bool isBefore) {
  if (!step || !run.mayStep() || !run.isEnabled(labelOf(step->kind, isBefore)))
    return false;
  // Operations that move elements stay.
  const bool stays = step->kind == AffineStepKind::Rearrange;
  if (whole.contains(step->op) && !(stays && whole.isOneNode(step->op)))
    return false;
  chain.push_back(std::move(*step));
  return true;
}

/// The chain of steps from \p value on, each with one use.
SmallVector<ChannelStep>
AffineFolder::chainAfter(Value value, int64_t dimension, int64_t channels) {
  SmallVector<ChannelStep> chain;
  const Type element = elementOf(value);
  bool mayShift = true;
  while (OpOperand *use = soleElementUse(value)) {
    Operation *user = use->getOwner();
    if (user->getBlock() != value.getDefiningOp()->getBlock())
      break;
    std::optional<ChannelStep> step =
        channelStep(user, value, dimension, channels);
    if (!step)
      step = passage(user, value, dimension, channels);
    // Padding would have to be shifted, too.
    if (!step || (step->affine.shifts() && !mayShift) ||
        !extend(chain, std::move(step), /*isBefore=*/false))
      break;
    mayShift &= !chain.back().addsZeros;
    dimension = chain.back().dimension;
    value = user->getResult(0);
  }
  // A conversion back to the product's own type belongs to it: then the whole
  // chain is of that type.
  auto isReturn = [&](const ChannelStep &step) {
    return step.kind == AffineStepKind::Convert &&
           elementOf(step.op->getResult(0)) == element &&
           !llvm::all_of(
               chain, [](const ChannelStep &each) { return each.isPassage(); });
  };
  while (!chain.empty() && chain.back().isPassage() && !isReturn(chain.back()))
    chain.pop_back();
  return chain;
}

/// The chain of steps that computes \p value, each with one use, first to last.
SmallVector<ChannelStep> AffineFolder::chainBefore(Value value,
                                                   const ChannelFold &fold,
                                                   int64_t channels,
                                                   bool mayShift) {
  SmallVector<ChannelStep> chain;
  Block *block = value.getParentBlock();
  int64_t dimension = fold.activationDim;
  while (hasOneElementUse(value) && value.getDefiningOp() &&
         value.getParentBlock() == block) {
    Operation *op = value.getDefiningOp();
    std::optional<ChannelStep> step;
    for (Value operand : op->getOperands())
      if (!step && operand.getType() == value.getType())
        step = channelStep(op, operand, dimension, channels);
    if (!step)
      step = passageTo(op, dimension, channels);
    if (!step)
      break;
    auto product = dyn_cast_or_null<ChannelwiseAffineOpInterface>(
        step->from.getDefiningOp());
    const bool isBiasOfProduct = step->kind == AffineStepKind::Shift &&
                                 product && !product.getInnerBias();
    if ((step->affine.shifts() && !mayShift) || isBiasOfProduct ||
        !extend(chain, std::move(step), /*isBefore=*/true))
      break;
    dimension = dimensionBefore(chain.back());
    mayShift &= !chain.back().addsZeros;
    value = chain.back().from;
  }
  while (!chain.empty() && chain.back().isPassage())
    chain.pop_back();
  std::reverse(chain.begin(), chain.end());
  return chain;
}

void AffineFolder::count(ArrayRef<ChannelStep> chain, bool isBefore) {
  for (const ChannelStep &step : chain)
    run.count(labelOf(step.kind, isBefore));
}

/// Erases \p op, if it is dead, and its operands that are dead then.
void AffineFolder::eraseIfDead(Operation *op) {
  llvm::SmallSetVector<Operation *, 8> candidates;
  candidates.insert(op);
  while (!candidates.empty()) {
    Operation *each = candidates.pop_back_val();
    if (isa<ChannelwiseAffineOpInterface>(each) || !isOpTriviallyDead(each))
      continue;
    for (Value operand : each->getOperands())
      if (Operation *source = operand.getDefiningOp())
        candidates.insert(source);
    if (auto name = each->getAttrOfType<StringAttr>(nameAttribute))
      names.release(name.getValue());
    groups.touch(each);
    each->erase();
  }
}

/// The operations that \p value is computed with.
static SmallVector<Operation *> computationOf(Value value) {
  llvm::SmallSetVector<Operation *, 8> found;
  if (Operation *op = value.getDefiningOp())
    found.insert(op);
  for (size_t i = 0; i < found.size(); ++i)
    for (Value operand : found[i]->getOperands())
      if (Operation *op = operand.getDefiningOp())
        found.insert(op);
  return SmallVector<Operation *>(found.begin(), found.end());
}

/// The weight stays integers, with other scales.
void AffineFolder::scaleScales(WeightedProduct &product,
                               const ChannelFold &fold,
                               ArrayRef<double> scale) {
  // The operations between constants and the product, and behind it, depend on
  // the factors now, too.
  if (product.quantized)
    for (Operation *each : product.quantized->followers())
      run.changed(each);
  else
    for (Operation *each :
         computationOf(product.op->getOperand(product.weightOperand)))
      run.changed(each);
  for (Operation *old : product.scaleIntegers(fold, scale, names))
    if (old->use_empty())
      eraseIfDead(old);
  groups.touch(product.op);
}

void AffineFolder::setWeight(WeightedProduct &product, const ChannelFold &fold,
                             const Tensor &values, ArrayRef<double> scale) {
  if (product.keepsIntegers())
    return scaleScales(product, fold, scale);
  Operation *old =
      product.op->getOperand(product.weightOperand).getDefiningOp();
  OpBuilder builder(product.op);
  std::string name = names.fused(product.weight.name());
  Value value =
      product.weight.rebuild(builder, product.op->getLoc(), values, name);
  if (product.repeated)
    value = product.repeated->rebuild(builder, product.op->getLoc(), value);
  product.op->setOperand(product.weightOperand, value);
  groups.touch(product.op);
  eraseIfDead(old);
}

/// value + bias, the bias repeated along the other dimensions.
Value AffineFolder::addBias(OpBuilder &builder, Value value, const Bias &bias) {
  auto type = tensorOf(value);
  Location location = value.getLoc();
  ElementType element = *elementTypeOf(type.getElementType());
  Value constant = makeConstant(
      builder, location, tensorOfDoubles(element, bias.shape, bias.numbers),
      bias.name);
  Value repeated =
      broadcastTo(builder, location, type, constant, bias.place, value);
  return builder.create<AddOp>(location, type, value, repeated);
}

/// Makes \p bias the first half of the operation's own bias.
void AffineFolder::setInside(const WeightedProduct &product, const Bias &bias) {
  MutableOperandRange operand = *product.innerBias();
  Value old = operand.empty() ? Value() : operand[0].get();
  const std::optional<Tensor> values =
      old ? constantValue(old) : std::optional<Tensor>();
  const int64_t count = bias.shape.back();
  Shape shape = bias.shape;
  shape.back() *= 2;
  std::vector<double> all(bias.numbers.size() * 2);
  for (size_t i = 0; i < all.size(); ++i) {
    const auto index = static_cast<int64_t>(i);
    const int64_t row = index / (2 * count), column = index % (2 * count);
    if (column < count)
      all[i] = bias.numbers[row * count + column];
    else if (values)
      all[i] = values->toDouble(index);
  }
  const ElementType element =
      *elementTypeOf(elementOf(product.op->getOperand(product.weightOperand)));
  OpBuilder builder(product.op);
  operand.assign(makeConstant(builder, product.op->getLoc(),
                              tensorOfDoubles(element, shape, all), bias.name));
  run.changed(product.op);
  groups.touch(product.op);
  if (old)
    eraseIfDead(old.getDefiningOp());
}

bool AffineFolder::foldAfter(Operation *op) {
  for (WeightedProduct &product :
       weightedProductsOf(op, whole, run.keepsQuantizedConstants)) {
    if (product.quantized && product.quantized->isRounded() &&
        !run.allows(requantize))
      continue;
    for (const ChannelFold &fold : product.resultFolds()) {
      const int64_t channels = ChannelOf(fold, product.weight.shape()).count();
      auto chain = chainAfter(product.result(), fold.activationDim, channels);
      if (chain.empty() || isOneAddition(chain))
        continue;
      ChannelAffine affine = composed(chain, channels);
      Type lastElement = elementOf(chain.back().op->getResult(0));
      auto values = absorbedByResult(product, fold, affine, chain);
      if (!values)
        continue;

      bool shifts = hasShift(chain);
      std::string biasName = FoldedNames::biasOf(product.weight.name());
      for (const ChannelStep &step : llvm::reverse(chain))
        if (!step.shiftName.empty())
          biasName = step.shiftName;
      // Only shifts leave the weight as it is.
      if (!isOne(affine.scale))
        setWeight(product, fold, *values, affine.scale);
      else
        groups.touch(op);
      run.changed(op);
      Value result = product.result();
      llvm::SmallPtrSet<Operation *, 4> own;
      OpBuilder builder(op->getContext());
      builder.setInsertionPointAfterValue(result);
      auto convert = [&] {
        if (elementOf(result) == lastElement)
          return;
        result = builder.create<ConvertOp>(
            result.getLoc(), tensorOf(result).clone(lastElement), result);
        own.insert(result.getDefiningOp());
      };
      // The bias is added in the type that the chain ends with, or before f32
      // accumulators are rounded to that.
      const bool isRoundedLast =
          isNarrowFloat(lastElement) && elementOf(result).isF32();
      if (!isRoundedLast)
        convert();
      // A bias has the weights' type: the source node takes both in one type.
      const Type narrow =
          isRoundedLast ? lastElement
                        : typeOfSoleConversion(chain.back().op->getResult(0));
      if (narrow &&
          elementOf(op->getOperand(product.weightOperand)) == narrow &&
          roundsFinitely(*elementTypeOf(narrow), affine.shift))
        affine.shift = roundedTo(*elementTypeOf(narrow), affine.shift);
      if (shifts) {
        result = addBias(builder, result,
                         {std::move(affine.shift),
                          {channels},
                          {fold.activationDim},
                          names.fused(biasName)});
        // broadcast_like reads the product, too.
        own.insert(result.getDefiningOp());
        own.insert(result.getDefiningOp()->getOperand(1).getDefiningOp());
      }
      if (isRoundedLast)
        convert();
      product.result().replaceAllUsesExcept(result, own);
      count(chain, /*isBefore=*/false);
      const StringRef label = labelOf(chain.back().kind, /*isBefore=*/false);
      takeAway(chain, result, /*isConverted=*/true);
      run.graphIsWhole(label);
      return true;
    }
  }
  return false;
}

/// Adds the bias that makes up for the shift of a chain before the product.
void AffineFolder::addAfter(const WeightedProduct &product, const Bias &bias,
                            ArrayRef<ChannelStep> chain) {
  OpBuilder builder(product.op->getContext());
  builder.setInsertionPointAfterValue(product.result());
  Value sum = addBias(builder, product.result(), bias);
  // broadcast_like reads the product, too.
  Operation *add = sum.getDefiningOp();
  run.replaced(labelOf(chain.back().kind, /*isBefore=*/true), product.result(),
               sum);
  product.result().replaceAllUsesExcept(
      sum, llvm::SmallPtrSet<Operation *, 2>{
               add, add->getOperand(1).getDefiningOp()});
}

bool AffineFolder::foldBefore(Operation *op) {
  for (WeightedProduct &product :
       weightedProductsOf(op, whole, run.keepsQuantizedConstants)) {
    const auto results = product.resultFolds();
    unsigned activation = 1 - product.weightOperand;
    for (const ChannelFold &fold : product.operandFolds()) {
      const int64_t channels = ChannelOf(fold, product.weight.shape()).count();
      bool mayShift = !fold.padded && (!results.empty() || product.innerBias());
      auto chain =
          chainBefore(op->getOperand(activation), fold, channels, mayShift);
      if (chain.empty())
        continue;
      ChannelAffine affine = composed(chain, channels);
      auto absorbed = absorbedByOperand(product, fold, affine);
      if (!absorbed)
        continue;
      const bool shifts = absorbed->bias.has_value();
      if (!isOne(affine.scale))
        setWeight(product, fold, absorbed->values, affine.scale);
      else
        groups.touch(op);
      if (shifts) {
        Bias bias = std::move(*absorbed->bias);
        bias.name = names.fused(FoldedNames::biasOf(product.weight.name()));
        if (product.innerBias())
          setInside(product, bias);
        else
          addAfter(product, bias, chain);
      }
      count(chain, /*isBefore=*/true);
      const StringRef label = labelOf(chain.front().kind, /*isBefore=*/true);
      takeAway(chain, chain.front().from, /*isConverted=*/false);
      run.graphIsWhole(label);
      return true;
    }
  }
  return false;
}

void AffineFolder::foldAll() {
  SmallVector<Operation *> products;
  module.walk([&](Operation *op) {
    if (isa<ChannelwiseAffineOpInterface>(op) && !whole.contains(op))
      products.push_back(op);
  });
  // Chains behind a product are folded first, so that a chain between two
  // products goes into the first one.
  for (Operation *op : products)
    while (foldAfter(op)) {
    }
  for (Operation *op : products)
    if (foldBefore(op))
      foldAfter(op);
  groups.dissolve(module);
}

namespace {
struct FoldBatchNorm : LabelledPass<FoldBatchNorm> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FoldBatchNorm)
  using LabelledPass::LabelledPass;
  StringRef getArgument() const final { return foldBatchNormPass; }
  StringRef getDescription() const final {
    return "Fold batch norms and per-channel arithmetic into weights";
  }
  /// A bias of a dynamic shape is broadcast by an operation of nn.
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<nn::NnDialect, StablehloDialect>();
  }
  void runOnOperation() final {
    AffineFolder(getOperation(), patternRun()).foldAll();
  }
};
} // namespace

std::unique_ptr<Pass> createFoldBatchNorm(std::shared_ptr<PatternRun> run) {
  return std::make_unique<FoldBatchNorm>(std::move(run));
}

} // namespace sinter
