//===- InferDimensions.cpp - every unknown size gets a name ---------------===//

#include "backend/cpu/shapes/InferDimensions.h"

#include "backend/cpu/ir/DeadCode.h"
#include "backend/cpu/ir/OperationKind.h"
#include "backend/cpu/shapes/DynamicOperations.h"
#include "backend/cpu/shapes/NestPrograms.h"
#include "backend/cpu/shapes/OperationGuards.h"
#include "backend/cpu/shapes/ResultSizes.h"
#include "graph/Types.h"
#include "graph/nn/NnAssume.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

bool cpu::isDynamic(const Model &model) {
  return llvm::any_of(model.inputs(), [](const TensorSpec &input) {
    return llvm::is_contained(input.shape, -1);
  });
}

bool cpu::isAboutSizes(Operation *op) {
  using namespace stablehlo;
  if (isa<nn::ShapeOp, GetDimensionSizeOp, DynamicGatherOp>(op) &&
      isOfUnknownSize(op->getOperand(0).getType()))
    return true;
  // The window is as large as the axis.
  if (auto sum = dyn_cast<nn::CumulativeSumOp>(op);
      sum && tensorOf(sum).isDynamicDim(static_cast<unsigned>(sum.getAxis())))
    return true;
  return isa<DynamicBroadcastInDimOp, DynamicIotaOp, DynamicReshapeOp,
             nn::BroadcastLikeOp, RealDynamicSliceOp, DynamicGatherOp>(op) &&
         (isOfUnknownSize(op->getResult(0).getType()) ||
          isOfUnknownSize(op->getOperand(0).getType()));
}

namespace {

/// Goes through a function, from operation to operation.
class DimensionInference {
public:
  explicit DimensionInference(func::FuncOp function)
      : function(function), facts(function->getParentOfType<ModuleOp>()) {}

  Result<void> run();
  Result<void> collectGuards();
  Result<void> dropRepetitions();

private:
  Result<void> nameArguments(bool inTypes = true);
  /// The sizes of the results of an operation none of whose operands needs to
  /// be known; what has no expression is a size of its own.
  void estimate(Operation *op);
  /// Keeps the guards of inputs for whoever names sizes later.
  void keepGuards();
  bool repeatsNothing(nn::BroadcastLikeOp like) const;

  Result<void> follow(Operation *op);
  Result<void> setResultSizes(Operation *op);
  Result<void> requireJoined(Operation *op);
  Result<void> takeForGranted(nn::AssumeOp op);
  /// Branches and loops.
  Result<void> followRegions(Operation *op);
  Result<void> followIn(Block &block);
  Result<void> joinBranches(stablehlo::IfOp op);
  Result<void> checkCarried(stablehlo::WhileOp loop);
  Result<void> checkNoneDefined(Operation *op) const;
  void countWhatIsRead();

  func::FuncOp function;
  SizeFacts facts;
  ShapeValues values{facts};
  ComputedSizes computed{facts, values};
  ResultSizes results{facts, values, computed};
  EnteredRegions entered{facts, values, computed,
                         [this](Operation *op) { return bool(follow(op)); }};
  OperationGuards required{facts, values, entered};
  DynamicOperations operations{facts, values, entered};
};

} // namespace

/// The name of a dimension of an input: its symbol, or else where it is.
static std::string symbolOf(func::FuncOp function, BlockArgument argument,
                            size_t dimension) {
  const unsigned index = argument.getArgNumber();
  auto symbols = function.getArgAttrOfType<ArrayAttr>(index, dimsAttribute);
  auto given = function.getArgAttrOfType<StringAttr>(index, nameAttribute);
  if (symbols && dimension < symbols.size())
    if (auto symbol = dyn_cast<StringAttr>(symbols[dimension]);
        symbol && !symbol.empty())
      return symbol.str();
  const std::string input = given ? given.str() : "arg" + std::to_string(index);
  return input + "[" + std::to_string(dimension) + "]";
}

Result<void> DimensionInference::nameArguments(bool inTypes) {
  for (BlockArgument argument : function.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type)
      continue;
    Dims sizes;
    for (auto [dimension, size] : llvm::enumerate(type.getShape())) {
      if (!ShapedType::isDynamic(size)) {
        sizes.push_back(size);
        continue;
      }
      Result<SizeExpression> parameter =
          facts.inputSize(symbolOf(function, argument, dimension));
      if (!parameter)
        return parameter.takeError();
      sizes.push_back(*parameter);
    }
    if (inTypes)
      operations.setSizes(argument, sizes);
    else
      values.setDims(argument, sizes);
  }
  return {};
}

Result<void> DimensionInference::run() {
  if (Result<void> named = nameArguments(); !named)
    return named;
  facts.mayDefine = true;
  Block &body = function.front();
  for (Operation &op : llvm::make_early_inc_range(body.without_terminator())) {
    const bool branches = isControlFlow(&op);
    Result<void> done = follow(&op);
    if (done && branches)
      done = checkNoneDefined(&op);
    if (!done && branches)
      recordRefused(&op);
    if (!done)
      return done;
  }
  function.setFunctionType(
      FunctionType::get(function.getContext(), body.getArgumentTypes(),
                        body.getTerminator()->getOperandTypes()));
  // What only sizes were computed of is not computed any more.
  removeDeadCode(function);
  countWhatIsRead();
  if (Result<void> some = facts.checkGuards(); !some)
    return some;
  facts.table.setOf(function->getParentOfType<ModuleOp>());
  return {};
}

/// A run finds out a size once, so none may be computed in \p op.
Result<void> DimensionInference::checkNoneDefined(Operation *op) const {
  Operation *defined = nullptr;
  op->walk([&](DefineSizesOp size) { defined = size; });
  return defined ? refused(defined, "computes sizes in a branch or a loop")
                 : Result<void>();
}

/// Sizes that are still read are numbers which the program counts.
void DimensionInference::countWhatIsRead() {
  SmallVector<Operation *> counted;
  function.walk([&](Operation *op) {
    if (isa<stablehlo::GetDimensionSizeOp, nn::ShapeOp>(op) &&
        values.hasDims(op->getOperand(0)))
      counted.push_back(op);
  });
  for (Operation *op : counted)
    if (auto shape = dyn_cast<nn::ShapeOp>(op))
      operations.countSizes(shape);
    else
      operations.countSize(cast<stablehlo::GetDimensionSizeOp>(op));
}

void DimensionInference::estimate(Operation *op) {
  auto hasDims = [&](Value value) { return values.hasDims(value); };
  const bool isFollowed =
      op->getNumRegions() == 0 && llvm::all_of(op->getOperands(), hasDims);
  facts.guards.setNode(op);
  if (isFollowed)
    values.follow(op);
  for (OpResult result : op->getResults()) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!type)
      continue;
    SmallVector<Known> known;
    if (isFollowed)
      known = results.of(result);
    known.resize(type.getRank());
    Dims sizes;
    for (auto [size, inType] : llvm::zip(known, type.getShape()))
      sizes.push_back(!ShapedType::isDynamic(inType)
                          ? SizeExpression(inType)
                          : size.value_or(facts.unknownSize()));
    values.setDims(result, sizes);
  }
}

void DimensionInference::keepGuards() {
  facts.table.ofInputs(facts.inputs())
      .beginFor(function->getParentOfType<ModuleOp>());
}

Result<void> DimensionInference::collectGuards() {
  if (Result<void> named = nameArguments(/*inTypes=*/false); !named)
    return named;
  for (Operation &op : function.front().without_terminator()) {
    estimate(&op);
    if (Result<void> fits = required.require(&op); !fits)
      return fits;
    if (isa<stablehlo::ReshapeOp, stablehlo::DynamicReshapeOp>(op))
      required.requireSameCount(&op);
  }
  keepGuards();
  return {};
}

Result<void> DimensionInference::dropRepetitions() {
  if (Result<void> named = nameArguments(/*inTypes=*/false); !named)
    return named;
  for (Operation &op : function.front().without_terminator()) {
    estimate(&op);
    auto like = dyn_cast<nn::BroadcastLikeOp>(op);
    if (like && like.getOperand().getType() == like.getType() &&
        values.hasDims(like.getOperand()) && repeatsNothing(like))
      like.getResult().replaceAllUsesWith(like.getOperand());
  }
  keepGuards();
  return {};
}

/// What is taken to be of one size is found to be so where both are operands of
/// one elementwise operation.
bool DimensionInference::repeatsNothing(nn::BroadcastLikeOp like) const {
  const bool joins = llvm::all_of(like->getUsers(), isElementwise);
  return llvm::all_of(llvm::zip(values.dimsOf(like.getOperand()),
                                values.dimsOf(like.getResult())),
                      [&](const auto &pair) {
                        const auto &[own, all] = pair;
                        return own == all ||
                               (joins && facts.guards.areEqual(own, all));
                      });
}

Result<void> DimensionInference::setResultSizes(Operation *op) {
  for (OpResult result : op->getResults()) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!type)
      return refused(op, "its result is no ranked tensor");
    if (type.hasStaticShape()) {
      values.setStatic(result);
      continue;
    }
    if (op->getNumRegions() > 0 &&
        !isa<stablehlo::ReduceOp, stablehlo::ReduceWindowOp,
             stablehlo::ScatterOp, stablehlo::SelectAndScatterOp,
             stablehlo::SortOp>(op))
      return refused(op, "keeps no open size");
    Dims sizes;
    for (auto [dimension, size] : llvm::enumerate(results.of(result))) {
      if (!size)
        return refused(op, "dimension " + std::to_string(dimension) +
                               " of its result has no size before it runs");
      sizes.push_back(*size);
    }
    if (static_cast<int64_t>(sizes.size()) != type.getRank())
      return refused(op, "its result has no size before it runs");
    operations.setSizes(result, sizes);
  }
  return {};
}

/// Windows are as many as their source elements, and joined tensors are alike.
Result<void> DimensionInference::requireJoined(Operation *op) {
  if (auto choice = dyn_cast<stablehlo::SelectAndScatterOp>(op))
    for (auto [window, size, count] :
         llvm::zip_equal(choice.getWindow(), values.dimsOf(choice.getOperand()),
                         values.dimsOf(choice.getSource()))) {
      // What the operation holds itself: none where a window has no room.
      if (size.number() && count.number())
        continue;
      if (const Known places = results.windowedSize(size, window);
          !places || !facts.guards.requireEqual(*places, count))
        return refused(op, "has not as many windows as its source elements");
    }
  if (auto concat = dyn_cast<stablehlo::ConcatenateOp>(op))
    for (Value input : concat.getInputs().drop_front())
      for (auto [i, size] : llvm::enumerate(values.dimsOf(input)))
        if (i != concat.getDimension() &&
            !facts.guards.requireEqual(size,
                                       values.dimsOf(concat.getInputs()[0])[i]))
          return refused(op, "joins tensors of other sizes");
  return {};
}

Result<void> DimensionInference::follow(Operation *op) {
  facts.guards.setNode(op);
  for (Value operand : op->getOperands())
    if (isa<RankedTensorType>(operand.getType()) && !values.hasDims(operand))
      return refused(op, "an operand has no known rank");
  if (auto assume = dyn_cast<nn::AssumeOp>(op))
    return takeForGranted(assume);
  values.follow(op);
  operations.foldNumbers(op);
  if (isControlFlow(op))
    return followRegions(op);
  if (Result<void> sized = setResultSizes(op); !sized)
    return sized;
  if (Result<void> joined = requireJoined(op); !joined)
    return joined;
  if (Result<void> fits = required.require(op); !fits)
    return fits;
  if (op->getNumResults() != 1)
    return {};
  if (Result<void> joined = operations.joinOperands(op); !joined)
    return joined;
  const Dims sizes = values.dimsOf(op->getResult(0));
  return operations.replace(op, sizes);
}

//===----------------------------------------------------------------------===//
// Assumptions
//===----------------------------------------------------------------------===//

/// What decides whether an integer is \p condition, before it had another type
/// or shape; \p holds is turned around with it.
static Value decisive(Value condition, bool &holds) {
  using namespace stablehlo;
  for (;;) {
    Operation *source = condition.getDefiningOp();
    if (!isa_and_nonnull<ConvertOp, ReshapeOp, NotOp>(source))
      return condition;
    Value operand = source->getOperand(0);
    Type element = getElementTypeOrSelf(operand);
    // Any other number than 0 is true, but the complement of 1 is not 0.
    if (!isa<IntegerType>(element) ||
        (isa<NotOp>(source) && !element.isInteger(1)))
      return condition;
    holds ^= isa<NotOp>(source);
    condition = operand;
  }
}

/// What \p op says of sizes becomes a limit of them. Of anything else the
/// program finds out whether it holds.
Result<void> DimensionInference::takeForGranted(nn::AssumeOp op) {
  bool holds = op.getHolds();
  Value condition = decisive(op.getCondition(), holds);
  bool mayHold = true;
  auto compare = condition.getDefiningOp<stablehlo::CompareOp>();
  const Known left = compare ? values.numberIn(compare.getLhs()) : Known(),
              right = compare ? values.numberIn(compare.getRhs()) : Known();
  if (const Known known = values.numberIn(condition);
      known && known->number()) {
    mayHold = (*known->number() != 0) == holds;
  } else if (left && right) {
    const auto direction = compare.getComparisonDirection();
    mayHold = facts.requireComparison(holds ? direction : oppositeOf(direction),
                                      *left, *right);
  } else {
    OpBuilder builder(op);
    nn::TensorBuilder emit(builder, op.getLoc());
    Value asExpected = op.getHolds()
                           ? Value(op.getCondition())
                           : emit.make<stablehlo::NotOp>(op.getCondition());
    Value number = emit.convert(asExpected, emit.integerType(64));
    mayHold = facts.requireComparison(
        stablehlo::ComparisonDirection::GE,
        computed.define(number, 0, op,
                        "what is assumed of '" + op.getNode().str() + "'"),
        1);
  }
  if (!mayHold)
    return refused(op, "sizes contradict what it takes for granted of '" +
                           op.getNode().str() + "'");
  op.erase();
  return {};
}

//===----------------------------------------------------------------------===//
// Branches and loops
//===----------------------------------------------------------------------===//

Result<void> DimensionInference::followIn(Block &block) {
  // What a loop carries is as large as what it begins with.
  for (auto [argument, start] :
       llvm::zip(block.getArguments(), block.getParentOp()->getOperands())) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type || !isa<RankedTensorType>(start.getType()))
      return refused(block.getParentOp(), "carries no ranked tensor");
    if (type.hasStaticShape())
      values.setStatic(argument);
    else
      operations.setSizes(argument, Dims(values.dimsOf(start)));
  }
  for (Operation &op : llvm::make_early_inc_range(block.without_terminator()))
    if (Result<void> done = follow(&op); !done)
      return done;
  return {};
}

/// What must hold of sizes in a branch must hold whether it is taken or not:
/// for other sizes there is another program.
Result<void> DimensionInference::followRegions(Operation *op) {
  for (Region &region : op->getRegions())
    if (Result<void> done = followIn(region.front()); !done)
      return done;
  if (auto loop = dyn_cast<stablehlo::WhileOp>(op))
    if (Result<void> same = checkCarried(loop); !same)
      return same;
  if (auto choice = dyn_cast<stablehlo::IfOp>(op))
    if (Result<void> done = joinBranches(choice); !done)
      return done;
  for (OpResult result : op->getResults()) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!type)
      return refused(op, "its result is no ranked tensor");
    if (values.hasDims(result))
      continue;
    if (!type.hasStaticShape())
      return refused(op, "its result has no size before it runs");
    values.setStatic(result);
  }
  return {};
}

/// The sizes of what \p loop carries must stay the same, which those of inputs
/// are taken to do.
Result<void> DimensionInference::checkCarried(stablehlo::WhileOp loop) {
  Operation *terminator = loop.getBody().front().getTerminator();
  for (auto [start, end, result] :
       llvm::zip_equal(loop->getOperands(), terminator->getOpOperands(),
                       loop->getResults())) {
    if (tensorOf(result).hasStaticShape())
      continue;
    const Dims sizes = values.dimsOf(start);
    for (auto [size, next] : llvm::zip_equal(sizes, values.dimsOf(end.get())))
      if (!facts.guards.requireEqual(size, next))
        return refused(loop, "carries a size that changes");
    if (values.dimsOf(end.get()) != sizes)
      end.set(operations.withSizes(terminator, end.get(), sizes));
    operations.setSizes(result, sizes);
  }
  return {};
}

/// A size that differs is that of the branch which is taken: a number that is
/// computed before.
Result<void> DimensionInference::joinBranches(stablehlo::IfOp op) {
  Operation *ends[] = {op.getTrueBranch().front().getTerminator(),
                       op.getFalseBranch().front().getTerminator()};
  for (OpResult result : op->getResults()) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!type || type.hasStaticShape())
      continue;
    const unsigned number = result.getResultNumber();
    const Dims yes = values.dimsOf(ends[0]->getOperand(number)),
               no = values.dimsOf(ends[1]->getOperand(number));
    Dims sizes;
    for (auto [a, b] : llvm::zip(yes, no)) {
      if (a == b) {
        sizes.push_back(a);
        continue;
      }
      OpBuilder builder(op);
      Value chosen = builder.create<stablehlo::SelectOp>(
          op.getLoc(), op.getPred(), operations.numberOf(a, op),
          operations.numberOf(b, op));
      sizes.push_back(computed.define(chosen, 0, op));
    }
    operations.setSizes(result, sizes);
    for (Operation *end : ends) {
      Value value = end->getOperand(number);
      if (values.dimsOf(value) == sizes)
        continue;
      OpBuilder builder(end);
      Value asChosen = builder.create<stablehlo::ReshapeOp>(
          op.getLoc(), result.getType(), value);
      values.setDims(asChosen, sizes);
      end->setOperand(number, asChosen);
    }
  }
  return {};
}

bool cpu::hasUnknownSizes(func::FuncOp function) {
  return llvm::any_of(function.getArgumentTypes(), isOfUnknownSize) ||
         hasResultOfUnknownSize(function);
}

Result<void> cpu::collectGuards(func::FuncOp function) {
  return DimensionInference(function).collectGuards();
}

Result<void> cpu::dropRepetitions(func::FuncOp function) {
  return DimensionInference(function).dropRepetitions();
}

Result<void> cpu::inferDimensions(func::FuncOp function) {
  const bool assumes =
      function.walk([](nn::AssumeOp) { return WalkResult::interrupt(); })
          .wasInterrupted();
  if ((!assumes && !hasUnknownSizes(function)) ||
      SizeTable::of(function->getParentOfType<ModuleOp>()))
    return {};
  return DimensionInference(function).run();
}
