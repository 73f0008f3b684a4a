#include "graph/SizeSources.h"
#include "graph/stablehlo/StablehloOps.h"
#include "interpreter/Interpreter.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Groups.h"
#include "passes/Matching.h"
#include "passes/RuleTables.h"

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter {

/// Inlines \p region of \p op, which has no arguments, in front of the
/// operation, and returns its results. Nothing if these do not have the types
/// of \p op's results.
static Values inlined(Operation *op, Region &region, OpBuilder &builder) {
  Block &block = region.front();
  if (!llvm::equal(block.getTerminator()->getOperandTypes(),
                   op->getResultTypes()))
    return {};
  IRMapping mapping;
  for (Operation &each : block.without_terminator())
    builder.clone(each, mapping);
  Values results;
  for (Value value : block.getTerminator()->getOperands())
    results.push_back(mapping.lookupOrDefault(value));
  return results;
}

static bool hasNoOperations(Region &region) {
  return region.hasOneBlock() && llvm::hasSingleElement(region.front());
}

static Values ifConstant(IfOp op, OpBuilder &builder) {
  std::optional<double> pred = splatValue(op.getPred());
  if (!pred)
    return {};
  return inlined(op, *pred != 0 ? op.getTrueBranch() : op.getFalseBranch(),
                 builder);
}

/// Both branches only return values from outside, which have the same shape.
static Values ifToSelect(IfOp op, OpBuilder &builder) {
  if (!hasNoOperations(op.getTrueBranch()) ||
      !hasNoOperations(op.getFalseBranch()) || op->getNumResults() == 0)
    return {};
  Operation *yes = op.getTrueBranch().front().getTerminator();
  Operation *no = op.getFalseBranch().front().getTerminator();
  if (!llvm::equal(yes->getOperandTypes(), op->getResultTypes()) ||
      !llvm::equal(no->getOperandTypes(), op->getResultTypes()))
    return {};
  for (auto [a, b] : llvm::zip_equal(yes->getOperands(), no->getOperands()))
    if (auto type = dyn_cast<RankedTensorType>(a.getType());
        !type || (!type.hasStaticShape() && shapeSource(a) != shapeSource(b)))
      return {};
  Values results;
  for (auto [a, b] : llvm::zip_equal(yes->getOperands(), no->getOperands()))
    results.push_back(a == b
                          ? a
                          : builder.create<SelectOp>(op.getLoc(), a.getType(),
                                                     op.getPred(), a, b));
  return results;
}

static Values caseConstant(CaseOp op, OpBuilder &builder) {
  std::optional<double> index = splatValue(op.getIndex());
  if (!index || op.getBranches().empty())
    return {};
  size_t last = op.getBranches().size() - 1;
  size_t branch = *index < 0 || *index > static_cast<double>(last)
                      ? last
                      : static_cast<size_t>(*index);
  return inlined(op, op.getBranches()[branch], builder);
}

/// A case with one branch, which every index takes.
static Values caseOne(CaseOp op, OpBuilder &builder) {
  return op.getBranches().size() == 1
             ? inlined(op, op.getBranches().front(), builder)
             : Values();
}

/// Whether the condition of a loop is false before the first iteration: for any
/// values, or computed from constants.
static bool neverRuns(WhileOp op) {
  Block &block = op.getCond().front();
  std::optional<double> always =
      splatValue(block.getTerminator()->getOperand(0));
  if (always)
    return *always == 0;
  // Evaluated only where the condition depends on constants, and is small.
  constexpr int64_t largest = 4096;
  llvm::DenseMap<Value, Tensor> known;
  auto lookUp = [&](Value value) -> std::optional<Tensor> {
    if (auto found = known.find(value); found != known.end())
      return found->second;
    if (auto argument = dyn_cast<BlockArgument>(value))
      value = argument.getOwner() == &block
                  ? op.getOperand()[argument.getArgNumber()]
                  : value;
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || !type.hasStaticShape() || type.getNumElements() > largest)
      return std::nullopt;
    return constantValue(value);
  };
  for (Operation &each : block.without_terminator()) {
    if (each.getNumRegions() || each.getNumResults() != 1 ||
        !isMemoryEffectFree(&each) || !canEvaluate(&each))
      return false;
    SmallVector<Tensor> operands;
    for (Value operand : each.getOperands()) {
      std::optional<Tensor> tensor = lookUp(operand);
      if (!tensor)
        break;
      operands.push_back(std::move(*tensor));
    }
    if (operands.size() != each.getNumOperands())
      continue;
    if (auto results = evaluate(&each, operands))
      known[each.getResult(0)] = results->front();
  }
  std::optional<Tensor> condition =
      lookUp(block.getTerminator()->getOperand(0));
  return condition && condition->size() == 1 && condition->toInteger(0) == 0;
}

static Values whileNever(WhileOp op, OpBuilder &) {
  return op->getNumResults() && neverRuns(op) ? Values(op.getOperand())
                                              : Values();
}

/// Which carried values of a loop to drop, and the replacement of each in the
/// body and behind the loop (null: it has no uses).
struct Dropped {
  llvm::SmallDenseMap<unsigned, Value> values;
};

/// Whether \p op, or an operation inside it, uses a value of \p block without a
/// mapping: then only dropped values depend on it.
static bool usesMissing(Operation &op, Block &block, const IRMapping &mapping) {
  bool missing = false;
  op.walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      missing |=
          operand.getParentBlock() == &block && !mapping.contains(operand);
  });
  return missing;
}

/// Gives \p copy, which replaces \p op, its trace numbers.
static void keepTraces(Operation *op, Operation *copy) {
  SmallVector<Operation *> all;
  copy->walk([&](Operation *each) { all.push_back(each); });
  const auto *next = all.begin();
  op->walk([&](Operation *each) {
    for (StringRef name : {traceAttribute, argumentTraceAttribute})
      if (Attribute traces = each->getAttr(name))
        (*next)->setAttr(name, traces);
    ++next;
  });
}

/// Creates the loop without the \p dropped values.
static Values withoutCarried(WhileOp op, const Dropped &dropped,
                             OpBuilder &builder) {
  SmallVector<Value> kept;
  SmallVector<Type> types;
  for (auto [index, value] : llvm::enumerate(op.getOperand()))
    if (!dropped.values.contains(index)) {
      kept.push_back(value);
      types.push_back(op->getResultTypes()[index]);
    }
  // The loop would have no carried values that could end it.
  if (kept.empty())
    return {};
  auto loop = builder.create<WhileOp>(op.getLoc(), types, kept);
  loop->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  // The indices of its results have changed.
  loop->removeAttr(traceAttribute);
  loop->removeAttr(argumentTraceAttribute);
  for (auto [from, to] : {std::pair(&op.getCond(), &loop.getCond()),
                          std::pair(&op.getBody(), &loop.getBody())}) {
    OpBuilder::InsertionGuard guard(builder);
    SmallVector<Location> locations(kept.size(), op.getLoc());
    Block *block = builder.createBlock(to, {}, types, locations);
    IRMapping mapping;
    unsigned next = 0;
    for (BlockArgument argument : from->getArguments()) {
      auto found = dropped.values.find(argument.getArgNumber());
      if (found == dropped.values.end())
        mapping.map(argument, block->getArgument(next++));
      else if (found->second)
        mapping.map(argument, found->second);
    }
    bool isBody = from == &op.getBody();
    Operation *end = from->front().getTerminator();
    for (Operation &each : from->front().without_terminator())
      if (!usesMissing(each, from->front(), mapping))
        keepTraces(&each, builder.clone(each, mapping));
    SmallVector<Value> returned;
    for (auto [index, value] : llvm::enumerate(end->getOperands()))
      if (!isBody || !dropped.values.contains(index))
        returned.push_back(mapping.lookupOrDefault(value));
    builder.create<ReturnOp>(op.getLoc(), returned);
  }
  Values results;
  unsigned next = 0;
  for (unsigned i = 0; i < op->getNumResults(); ++i) {
    auto found = dropped.values.find(i);
    results.push_back(found == dropped.values.end()
                          ? Value(loop->getResult(next++))
                          : found->second);
  }
  return results;
}

/// A carried value that no iteration changes, or that is an empty tensor, is
/// used from outside the loop.
static Values whileInvariant(WhileOp op, OpBuilder &builder) {
  Dropped dropped;
  Block &body = op.getBody().front();
  for (auto [index, value] :
       llvm::enumerate(body.getTerminator()->getOperands()))
    if ((value == body.getArgument(index) ||
         isEmpty(Value(op->getResult(index)))) &&
        op.getOperand()[index].getType() == op->getResultTypes()[index])
      dropped.values[index] = op.getOperand()[index];
  return dropped.values.empty() ? Values()
                                : withoutCarried(op, dropped, builder);
}

/// The body's values that \p value is computed from, itself included, as far as
/// \p block defines them.
static void addSources(Value value, Block &block,
                       llvm::DenseSet<Value> &sources) {
  SmallVector<Value> open = {value};
  while (!open.empty()) {
    Value each = open.pop_back_val();
    if (!sources.insert(each).second)
      continue;
    Operation *op = each.getDefiningOp();
    if (!op || op->getBlock() != &block)
      continue;
    op->walk([&](Operation *inner) {
      llvm::append_range(open, inner->getOperands());
    });
  }
}

/// A carried value that neither the result, nor the condition, nor any other
/// carried value needs.
static Values whileDead(WhileOp op, OpBuilder &builder) {
  Block &body = op.getBody().front(), &cond = op.getCond().front();
  if (!isMemoryEffectFree(op))
    return {};
  Operation *end = body.getTerminator();
  llvm::DenseSet<Value> inCondition;
  addSources(cond.getTerminator()->getOperand(0), cond, inCondition);
  llvm::SmallBitVector live(op->getNumResults());
  for (unsigned i = 0; i < op->getNumResults(); ++i)
    live[i] = !op->getResult(i).use_empty() ||
              inCondition.contains(cond.getArgument(i));
  for (bool changed = true; changed;) {
    changed = false;
    llvm::DenseSet<Value> needed;
    for (unsigned i : live.set_bits())
      addSources(end->getOperand(i), body, needed);
    for (unsigned i = 0; i < op->getNumResults(); ++i)
      if (!live[i] && needed.contains(body.getArgument(i)))
        live[i] = changed = true;
  }
  Dropped dropped;
  for (unsigned i = 0; i < op->getNumResults(); ++i)
    if (!live[i])
      dropped.values[i] = Value();
  if (dropped.values.empty())
    return {};
  return withoutCarried(op, dropped, builder);
}

RuleTable controlRules() {
  static const std::vector<RewriteRule> rules = {
      rule<IfOp, ifConstant>("if-constant", "if true {a} else {b} -> a"),
      rule<IfOp, ifToSelect>("if-to-select",
                             "if p {return x} else {return y} -> p ? x : y"),
      rule<CaseOp, caseConstant>("case-constant", "case 1 of {a} {b} {c} -> b"),
      rule<CaseOp, caseOne>("case-one", "case i of {a} -> a"),
      rule<WhileOp, whileNever>("while-never", "while false {...} (x) -> x"),
      rule<WhileOp, whileInvariant>(
          "while-invariant",
          "while (i, x) {return i', x} -> while (i) {return i'}, x"),
      rule<WhileOp, whileDead>("while-dead",
                               "while (i, x) {...} where nothing needs x -> "
                               "while (i) {...}"),
  };
  return {"Branches and loops", rules};
}

} // namespace sinter
