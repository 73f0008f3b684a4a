#include "passes/MoveRescales.h"

#include "graph/Model.h"
#include "graph/QuantizedProducts.h"
#include "graph/interfaces/Rescale.h"
#include "graph/nn/NnOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Pass.h"
#include "passes/QuantizedForms.h"
#include "passes/RescaleTree.h"
#include "passes/RescaledSums.h"

using namespace mlir;

namespace sinter {

//===----------------------------------------------------------------------===//
// By itself
//===----------------------------------------------------------------------===//

/// rescale(x) of x's type.
static Value dropRescale(Operation *op, OpBuilder &) {
  auto rescale = Rescale::of(op);
  return rescale && rescale->from == rescale->to && survives(rescale->to)
             ? rescale->operand
             : Value();
}

//===----------------------------------------------------------------------===//
// Down
//===----------------------------------------------------------------------===//

/// op(rescale(x), ...), where op keeps the order of elements.
static Value sinkRescale(Operation *op, OpBuilder &builder) {
  if (Rescale::of(op))
    return {};
  std::optional<RescaledTree> tree = RescaledTree::above(op);
  if (!tree)
    return {};
  Value result = op->getResult(0);
  const RescaleCost behind =
      RescaleCost::ofRescale(result, tree->typeBefore(), tree->typeAfter()) +
      RescaleCost::ofReaders(result);
  if (!(tree->cost() + behind).isLess())
    return {};
  PendingOperations pending(op->getContext());
  Value before = tree->build(pending.builder);
  if (!before)
    return {};
  Value after =
      makeRescale(pending.builder, tree->rescale(), before, tree->typeAfter());
  pending.insert(builder);
  return after;
}

/// op(rescale(x), ...), where op accepts any scale.
static Values absorbInOperand(Operation *op, OpBuilder &builder, bool isNear) {
  auto rescaled = dyn_cast<RescaleOpInterface>(op);
  if (!rescaled || Rescale::of(op) || givesSums(op) ||
      op->getNumRegions() != 0 || op->getNumResults() == 0)
    return {};
  for (unsigned i = 0; i < op->getNumOperands(); ++i) {
    Value operand = op->getOperand(i);
    if (!quantizedOf(operand.getType()) || !rescaled.absorbsRescaleOfOperand(i))
      continue;
    std::optional<RescaledTree> tree = RescaledTree::of(operand);
    if (!tree || !tree->cost().isLess())
      continue;
    const Rescale &rescale = tree->rescale();
    if (!rescale.function.keepsNumbers() &&
        !(isNear && rescale.function.cutsNothing(tree->numbers())))
      continue;
    PendingOperations pending(op->getContext());
    Value before = tree->build(pending.builder);
    if (!before)
      continue;
    IRMapping mapping;
    mapping.map(operand, before);
    Operation *copy = withOperands(pending.builder, op, mapping);
    if (!copy)
      continue;
    pending.insert(builder);
    return Values(copy->getResults());
  }
  return {};
}

static Values absorbExactly(Operation *op, OpBuilder &builder) {
  return absorbInOperand(op, builder, /*isNear=*/false);
}
static Values absorbNearly(Operation *op, OpBuilder &builder) {
  return absorbInOperand(op, builder, /*isNear=*/true);
}

//===----------------------------------------------------------------------===//
// Up
//===----------------------------------------------------------------------===//

/// rescale(op(...)), to where there is less to do.
static Value hoist(Operation *op, OpBuilder &builder, bool isNear, bool cuts) {
  auto rescale = Rescale::of(op);
  if (!rescale || rescale->isOfSums())
    return {};
  WantedTree tree(*rescale, isNear, cuts);
  if (!tree.find())
    return {};
  PendingOperations pending(op->getContext());
  Value wanted = tree.build(pending.builder);
  if (!wanted)
    return {};
  pending.insert(builder);
  return wanted;
}

static Value hoistExactly(Operation *op, OpBuilder &builder) {
  return hoist(op, builder, /*isNear=*/false, /*cuts=*/false);
}
static Value hoistNearly(Operation *op, OpBuilder &builder) {
  return hoist(op, builder, /*isNear=*/true, /*cuts=*/false);
}
static Value hoistAndCut(Operation *op, OpBuilder &builder) {
  return hoist(op, builder, /*isNear=*/true, /*cuts=*/true);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

ArrayRef<RewriteRule> moveRescalesRules() {
  static const std::vector<RewriteRule> rules = [] {
    std::vector<RewriteRule> all = {
        rule<Operation *, dropRescale>("drop-rescale",
                                       "rescale(x) -> x, of its type"),
        rule<Operation *, absorbExactly>(
            "absorb-rescale",
            "add(rescale(x), y) -> add(x, y), the same numbers"),
        rule<Operation *, hoistExactly>(
            "hoist-rescale", "rescale(broadcast(x)) -> broadcast(rescale(x)), "
                             "rescale(rescale(x)) -> rescale(x)"),
        rule<Operation *, sinkRescale>(
            "sink-rescale", "max_pool(rescale(x)) -> rescale(max_pool(x))"),
        rule<Operation *, hoistNearly>(
            "requantize-result",
            "rescale(max_pool(lrn(x))) -> max_pool(lrn(x)) : !quant",
            requantize),
        changingOperands(rule<Operation *, absorbNearly>(
            "requantize-operand",
            "add(reshape(rescale(x)), y) -> add(reshape(x), y)", requantize)),
        changingOperands(rule<Operation *, withoutRescaleOfSums>(
            "requantize-operand",
            "quantize(conv(rescale(x), w) + b) -> quantize(conv(x, w) + b')",
            requantize)),
        // The last one: see runOnOperation.
        rule<Operation *, hoistAndCut>(
            "requantize-clamped",
            "rescale(conv(x, w)) -> clamp(conv(x, w) : !quant)", requantize)};
    for (RewriteRule &each : all)
      each = takingApart(std::move(each));
    return all;
  }();
  return rules;
}

uint64_t countRescales(ModuleOp module) {
  uint64_t count = 0;
  module.walk([&](Operation *op) {
    auto rescale = Rescale::of(op);
    count += rescale && !rescale->isOfSums() && !isShiftForProducts(op);
  });
  return count;
}

static bool hasRescales(ModuleOp module) {
  return module
      .walk([](Operation *op) {
        return Rescale::of(op) ? WalkResult::interrupt()
                               : WalkResult::advance();
      })
      .wasInterrupted();
}

ArrayRef<PatternInfo> moveRescalesPatterns() {
  static const PatternInfo patterns[] = {
      {"drop-output-rescale",
       "return rescale(x) -> return x, with --change-outputs",
       "move-rescales"}};
  return patterns;
}

/// return rescale(x).
static void dropOutputRescales(ModuleOp module, PatternRun &run) {
  const StringRef label = moveRescalesPatterns().front().label;
  func::FuncOp entry = entryOf(module);
  if (!entry || !run.changesOutputs || !run.isEnabled(label))
    return;
  Operation *end = entry.front().getTerminator();
  OpBuilder builder(end);
  for (OpOperand &output : end->getOpOperands()) {
    std::optional<RescaledTree> tree = RescaledTree::of(output.get());
    if (!tree || !tree->cost().isLess() || !run.mayStep())
      continue;
    PendingOperations pending(module.getContext());
    Value before = tree->build(pending.builder);
    if (!before)
      continue;
    pending.insert(builder);
    output.set(before);
    entry.setFunctionType(FunctionType::get(
        entry.getContext(), entry.getArgumentTypes(), end->getOperandTypes()));
    run.count(label);
    run.outputChanged(output.getOperandNumber());
    run.graphIsWhole(label);
  }
}

namespace {
struct MoveRescales : LabelledPass<MoveRescales> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(MoveRescales)
  using LabelledPass::LabelledPass;
  StringRef getArgument() const final { return "move-rescales"; }
  StringRef getDescription() const final {
    return "Move rescales of quantised tensors to where they vanish";
  }
  /// Operations of both dialects implement RescaleOpInterface.
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<nn::NnDialect, stablehlo::StablehloDialect>();
  }
  void runOnOperation() final {
    if (!hasRescales(getOperation()))
      return;
    // The rule with a clamp comes last, for rescales that nothing absorbs on
    // either side.
    const ArrayRef<RewriteRule> rules = moveRescalesRules();
    for (ArrayRef<RewriteRule> each : {rules.drop_back(), rules})
      if (failed(applyRules(getOperation(), {each}, patternRun())))
        return signalPassFailure();
    dropOutputRescales(getOperation(), patternRun());
  }
};
} // namespace

std::unique_ptr<Pass> createMoveRescales(std::shared_ptr<PatternRun> run) {
  return std::make_unique<MoveRescales>(std::move(run));
}

} // namespace sinter
