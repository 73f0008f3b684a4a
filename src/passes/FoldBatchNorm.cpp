#include "passes/FoldBatchNorm.h"

#include "graph/Broadcast.h"
#include "graph/Constants.h"
#include "graph/Model.h"
#include "graph/Readers.h"
#include "graph/stablehlo/StablehloOps.h"
#include "graph/stablehlo/Sums.h"
#include "mlir/IR/PatternMatch.h"
#include "passes/FoldedNames.h"
#include "passes/Groups.h"
#include "passes/Matching.h"
#include "passes/Pass.h"
#include "passes/ScaledNumbers.h"
#include "passes/WeightedProduct.h"
#include "llvm/ADT/SetVector.h"
#include <cmath>

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter {

static constexpr StringLiteral passName = "fold-batch-norm";

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
       passName},
      {labels[0][1], "product(batch_norm(x), k) -> product(x, k') + b'",
       passName},
      {labels[1][0], "product(x, k) * s -> product(x, k')", passName},
      {labels[1][1], "product(x * s, k) -> product(x, k')", passName},
      {labels[2][0], "(product(x, k) + b) + c -> product(x, k) + b'", passName},
      {labels[2][1], "product(x + c, k) -> product(x, k) + b'", passName},
      {labels[3][0],
       "transpose(product(x, k)) * s -> transpose(product(x, k'))", passName},
      {labels[4][0], "f32(product(x, k) : bf16) * s -> f32(product(x, k'))",
       passName},
  };
  return infos;
}

namespace {

/// What is added to a product: an array whose dimension i is dimension
/// `place[i]` of the result.
struct Bias {
  std::vector<double> numbers;
  Shape shape;
  SmallVector<int64_t> place;
  std::string name;
};

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
                 ArrayRef<double> numbers, ArrayRef<double> scale);
  void scaleScales(WeightedProduct &product, const ChannelFold &fold,
                   ArrayRef<double> scale);
  Value addBias(OpBuilder &builder, Value value, const Bias &bias);
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

static Type elementOf(Value value) { return tensorOf(value).getElementType(); }

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

/// Whether the step is gone once its numbers are in the weights.
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

/// Takes the chain's arithmetic away, and its conversions where \p isConverted:
/// what only moves elements stays where it is, as a part of its source node,
/// and moves what \p value holds.
void AffineFolder::takeAway(ArrayRef<ChannelStep> chain, Value value,
                            bool isConverted) {
  for (const ChannelStep &step : chain) {
    Value result = step.op->getResult(0);
    if (isTakenAway(step, isConverted)) {
      if (&step == &chain.back() && isConverted)
        run.replaced(labelOf(step.kind, /*isBefore=*/false), result, value);
      // What reads the shape alone may as well read that of the value.
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
  // What moves elements stays as it is.
  const bool stays = step->kind == AffineStepKind::Rearrange;
  if (whole.contains(step->op) && !(stays && whole.isOneNode(step->op)))
    return false;
  chain.push_back(std::move(*step));
  return true;
}

/// The steps from \p value on that nothing else reads.
SmallVector<ChannelStep>
AffineFolder::chainAfter(Value value, int64_t dimension, int64_t channels) {
  SmallVector<ChannelStep> chain;
  const Type element = elementOf(value);
  bool mayShift = true;
  while (OpOperand *reading = soleReading(value)) {
    Operation *user = reading->getOwner();
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
  // A conversion back to the product's own type belongs to it: then the chain
  // is of that type altogether.
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

/// The steps that lead to \p value and that nothing else reads, first to last.
SmallVector<ChannelStep> AffineFolder::chainBefore(Value value,
                                                   const ChannelFold &fold,
                                                   int64_t channels,
                                                   bool mayShift) {
  SmallVector<ChannelStep> chain;
  Block *block = value.getParentBlock();
  int64_t dimension = fold.activationDim;
  while (hasOneReader(value) && value.getDefiningOp() &&
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
    bool isBiasOfProduct = step->kind == AffineStepKind::Shift &&
                           isa_and_nonnull<ChannelwiseAffineOpInterface>(
                               step->from.getDefiningOp());
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

/// Erases \p op and what only it read, as far as nothing else reads it.
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
  // What is between constants and the product, and behind it, is of the factors
  // now, too.
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
                             ArrayRef<double> numbers, ArrayRef<double> scale) {
  if (product.keepsIntegers())
    return scaleScales(product, fold, scale);
  Operation *old =
      product.op->getOperand(product.weightOperand).getDefiningOp();
  OpBuilder builder(product.op);
  std::string name = names.fused(product.weight.name());
  Value value =
      product.weight.rebuild(builder, product.op->getLoc(), numbers, name);
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

/// \p numbers as \p element holds them.
static std::vector<double> rounded(ArrayRef<double> numbers, Type element) {
  const Tensor tensor = tensorOfDoubles(
      *elementTypeOf(element), {static_cast<int64_t>(numbers.size())}, numbers);
  std::vector<double> result;
  for (int64_t i = 0; i < tensor.size(); ++i)
    result.push_back(tensor.toDouble(i));
  return result;
}

/// The type of narrower floats that \p value is converted to, where nobody else
/// reads it; null otherwise.
static Type typeOfSoleConversion(Value value) {
  auto convert = value.hasOneUse() ? dyn_cast<ConvertOp>(*value.user_begin())
                                   : ConvertOp();
  return convert && isNarrowFloat(elementOf(convert)) ? elementOf(convert)
                                                      : Type();
}

bool AffineFolder::foldAfter(Operation *op) {
  for (WeightedProduct &product :
       weightedProductsOf(op, whole, run.keepsQuantizedConstants)) {
    if (product.quantized && product.quantized->isRounded() &&
        !run.allows(requantize))
      continue;
    for (const ChannelFold &fold : product.resultFolds()) {
      ChannelOf channelOf(fold, product.weight.shape());
      int64_t channels = channelOf.count();
      auto chain = chainAfter(product.result(), fold.activationDim, channels);
      if (chain.empty() || isOneAddition(chain))
        continue;
      ChannelAffine affine = composed(chain, channels);
      Type lastElement = elementOf(chain.back().op->getResult(0));
      auto numbers = scaledNumbers(product.weight, channelOf, affine.scale);
      if (!numbers || !product.takesUp(fold, affine.scale) ||
          !keepsRange(product.result(), chain, affine.scale) ||
          !roundsFinitely(*elementTypeOf(lastElement), affine.shift))
        continue;

      bool shifts = hasShift(chain);
      std::string biasName = FoldedNames::biasOf(product.weight.name());
      for (const ChannelStep &step : llvm::reverse(chain))
        if (!step.shiftName.empty())
          biasName = step.shiftName;
      // Only shifts leave the weight as it is.
      if (!isOne(affine.scale))
        setWeight(product, fold, *numbers, affine.scale);
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
      // What is added is added in the type that the chain ends with, or before
      // sums of f32 are rounded to that.
      const bool isRoundedLast =
          isNarrowFloat(lastElement) && elementOf(result).isF32();
      if (!isRoundedLast)
        convert();
      // A bias is of the weights' type, as the node that takes both has them.
      const Type narrow =
          isRoundedLast ? lastElement
                        : typeOfSoleConversion(chain.back().op->getResult(0));
      if (narrow &&
          elementOf(op->getOperand(product.weightOperand)) == narrow &&
          roundsFinitely(*elementTypeOf(narrow), affine.shift))
        affine.shift = rounded(affine.shift, narrow);
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

/// What a shift of the operand adds to each element of the result: the sum of
/// the weights that meet it; nothing if these cannot be computed.
static std::optional<Bias> shiftedSum(const WeightedProduct &product,
                                      ArrayRef<ChannelFold> folds,
                                      const ChannelOf &channelOf,
                                      ArrayRef<double> shift) {
  const std::optional<std::vector<double>> known = product.weight.numbers();
  if (!known)
    return std::nullopt;
  const std::vector<double> &weights = *known;
  Bias bias;
  SmallVector<ChannelOf> places;
  int64_t count = 1;
  for (const ChannelFold &fold : folds) {
    places.emplace_back(fold, product.weight.shape());
    bias.shape.push_back(places.back().count());
    bias.place.push_back(fold.activationDim);
    count *= places.back().count();
  }
  bias.numbers.assign(count, 0);
  std::vector<int64_t> placeOf(weights.size(), 0);
  for (const ChannelOf &each : places)
    each.forEach(weights.size(), [&](int64_t index, int64_t channel) {
      placeOf[index] = placeOf[index] * each.count() + channel;
    });
  channelOf.forEach(weights.size(), [&](int64_t index, int64_t channel) {
    bias.numbers[placeOf[index]] += weights[index] * shift[channel];
  });
  return bias;
}

bool AffineFolder::foldBefore(Operation *op) {
  for (WeightedProduct &product :
       weightedProductsOf(op, whole, run.keepsQuantizedConstants)) {
    const auto results = product.resultFolds();
    unsigned activation = 1 - product.weightOperand;
    for (const ChannelFold &fold : product.operandFolds()) {
      ChannelOf channelOf(fold, product.weight.shape());
      int64_t channels = channelOf.count();
      bool mayShift = !fold.padded && !results.empty();
      auto chain =
          chainBefore(op->getOperand(activation), fold, channels, mayShift);
      if (chain.empty())
        continue;
      ChannelAffine affine = composed(chain, channels);
      ElementType element =
          *elementTypeOf(tensorOf(product.result()).getElementType());
      auto numbers = scaledNumbers(product.weight, channelOf, affine.scale);
      if (!numbers || !product.takesUp(fold, affine.scale))
        continue;
      Bias bias;
      bool shifts = affine.shifts();
      if (shifts && isRoundedCoarsely(product.result()) &&
          llvm::any_of(affine.shift,
                       [](double each) { return std::abs(each) > mostShift; }))
        continue;
      if (shifts) {
        auto sum = shiftedSum(product, results, channelOf, affine.shift);
        if (!sum || !roundsFinitely(element, sum->numbers))
          continue;
        bias = std::move(*sum);
        bias.name = names.fused(FoldedNames::biasOf(product.weight.name()));
      }
      if (!isOne(affine.scale))
        setWeight(product, fold, *numbers, affine.scale);
      else
        groups.touch(op);
      if (shifts) {
        OpBuilder builder(op->getContext());
        builder.setInsertionPointAfterValue(product.result());
        Value sum = addBias(builder, product.result(), bias);
        // broadcast_like reads the product, too.
        Operation *add = sum.getDefiningOp();
        run.replaced(labelOf(chain.back().kind, /*isBefore=*/true),
                     product.result(), sum);
        product.result().replaceAllUsesExcept(
            sum, llvm::SmallPtrSet<Operation *, 2>{
                     add, add->getOperand(1).getDefiningOp()});
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
  // What stands after a product is folded first, so that a chain between two
  // products goes into the one that made it.
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
  StringRef getArgument() const final { return passName; }
  StringRef getDescription() const final {
    return "Fold batch norms and per-channel arithmetic into weights";
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
