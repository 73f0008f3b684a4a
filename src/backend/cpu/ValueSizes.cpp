//===- ValueSizes.cpp - sizes that are computed ---------------------------===//

#include "backend/cpu/SizeNamer.h"
#include "graph/Types.h"
#include "graph/nn/TensorBuilder.h"

using namespace mlir;
using namespace sinter;
using namespace sinter::cpu;

/// Chains of operations on numbers are followed as far as this.
static constexpr unsigned deepestChain = 32;

bool SizeNamer::isComputed(const SizeExpression &size) const {
  return mayDefine && llvm::any_of(size.terms(), [&](const auto &term) {
           return llvm::any_of(term.parameters, [&](uint32_t parameter) {
             return parameter >= firstComputed;
           });
         });
}

bool SizeNamer::mustBeSame(const SizeExpression &a, const SizeExpression &b) {
  if (a == b)
    return true;
  const Known first = reduced(a), second = reduced(b);
  return (first && first == second) ||
         ((isComputed(a) || isComputed(b)) && expectEqual(a, b));
}

/// Whether a Size step reads \p numbers as they are.
static bool isReadable(Value numbers) {
  auto type = dyn_cast<RankedTensorType>(numbers.getType());
  return type && type.hasStaticShape() && type.getRank() <= 1 &&
         (type.getElementType().isSignlessInteger(32) ||
          type.getElementType().isSignlessInteger(64));
}

bool SizeNamer::isCount(Value numbers, unsigned depth) {
  using namespace stablehlo;
  const std::vector<Known> known = elementsOf(numbers);
  if (!known.empty() &&
      llvm::all_of(known, [](const Known &each) { return each.has_value(); }))
    return true;
  Operation *op = numbers.getDefiningOp();
  if (!op || depth == deepestChain)
    return false;
  if (auto found = counts.find(numbers); found != counts.end())
    return found->second;
  auto areCounts = [&] {
    return llvm::all_of(op->getOperands(), [&](Value operand) {
      return isCount(operand, depth + 1);
    });
  };
  auto call = dyn_cast<HostCallOp>(op);
  bool is = isa<GetDimensionSizeOp>(op) ||
            (call && call.getFunction() == "sinter.count_rows");
  if (isa<ConvertOp>(op))
    is = getElementTypeOrSelf(op->getOperand(0).getType()).isInteger(1) ||
         areCounts();
  else if (isa<ReshapeOp, BroadcastInDimOp, SliceOp, ConcatenateOp, AddOp,
               SubtractOp, MulOp>(op))
    // What a difference is of is not negative; if it is itself shows when it
    // is a size.
    is = areCounts();
  else if (auto reduce = dyn_cast<ReduceOp>(op))
    is = soleOperation(reduce.getBody()) == AddOp::getOperationName() &&
         areCounts();
  return counts[numbers] = is;
}

SizeExpression SizeNamer::define(Value numbers, size_t i, Operation *user) {
  std::string node = user->getName().getStringRef().str();
  if (auto name = user->getLoc()->findInstanceOf<NameLoc>())
    node = name.getName().str();
  const size_t number = table.parameters.size() - firstComputed;
  return define(numbers, i, user,
                "size " + std::to_string(number) + " of '" + node + "'");
}

SizeExpression SizeNamer::define(Value numbers, size_t i, Operation *user,
                                 std::string name) {
  const auto parameter = static_cast<uint32_t>(table.parameters.size());
  table.parameters.push_back(std::move(name));
  // Where the number is computed, if not in a branch or a loop that needs it.
  Operation *before = numbers.getParentBlock()->findAncestorOpInBlock(*user);
  OpBuilder builder(before ? before : user);
  builder.create<DefineSizesOp>(user->getLoc(), numbers,
                                ArrayRef<int64_t>(static_cast<int64_t>(i)),
                                ArrayRef<int64_t>(parameter));
  return SizeExpression::parameter(parameter);
}

/// What is said of the number where it comes from; nothing where that is no
/// number that can be read there.
Known SizeNamer::sizeThrough(Value numbers, size_t i, Operation *user,
                             unsigned depth) {
  using namespace stablehlo;
  Operation *op = numbers.getDefiningOp();
  if (!op || depth == deepestChain)
    return std::nullopt;
  auto operand = [&](unsigned number, size_t at) -> Known {
    Value value = op->getOperand(number);
    return isReadable(value) ? sizeFrom(value, at, user, depth + 1) : Known();
  };
  if (isa<ConvertOp, ReshapeOp>(op))
    return operand(0, i);
  if (isa<BroadcastInDimOp>(op) && isReadable(op->getOperand(0)) &&
      tensorOf(op->getOperand(0)).getNumElements() == 1)
    return operand(0, 0);
  if (isa<ConcatenateOp>(op)) {
    for (unsigned part = 0; part < op->getNumOperands(); ++part) {
      const auto count =
          static_cast<size_t>(tensorOf(op->getOperand(part)).getNumElements());
      if (i < count)
        return operand(part, i);
      i -= count;
    }
    return std::nullopt;
  }
  if (auto slice = dyn_cast<SliceOp>(op);
      slice && tensorOf(slice).getRank() == 1)
    return operand(0, slice.getStartIndices()[0] +
                          i * static_cast<size_t>(slice.getStrides()[0]));
  // Of numbers that may be negative only the result is a size.
  if (!isa<AddOp, SubtractOp, MulOp>(op) || !isCount(op->getOperand(0)) ||
      !isCount(op->getOperand(1)))
    return std::nullopt;
  const Known a = operand(0, i), b = operand(1, i);
  if (!a || !b)
    return std::nullopt;
  if (isa<AddOp>(op))
    return SizeExpression::sumOf(*a, *b);
  if (isa<MulOp>(op))
    return SizeExpression::productOf(*a, *b);
  const Known less = SizeExpression::productOf(*b, -1);
  return less ? SizeExpression::sumOf(*a, *less) : Known();
}

Known SizeNamer::sizeFrom(Value numbers, size_t i, Operation *user) {
  return sizeFrom(numbers, i, user, 0);
}

Known SizeNamer::sizeFrom(Value numbers, size_t i, Operation *user,
                          unsigned depth) {
  auto type = dyn_cast<RankedTensorType>(numbers.getType());
  if (!type || !type.hasStaticShape() || type.getRank() > 1 ||
      static_cast<int64_t>(i) >= type.getNumElements())
    return std::nullopt;
  std::vector<Known> known = elementsOf(numbers);
  known.resize(type.getNumElements());
  if (known[i] || !mayDefine)
    return known[i];
  Known size = sizeThrough(numbers, i, user, depth);
  if (!size && isReadable(numbers))
    size = define(numbers, i, user);
  if (size) {
    // What was found on the way has its own entries.
    std::vector<Known> &entry = elements[numbers];
    entry.resize(type.getNumElements());
    entry[i] = size;
  }
  return size;
}

SmallVector<Known> SizeNamer::sizesFrom(Value numbers, OpResult result) {
  SmallVector<Known> sizes;
  for (auto [i, size] : llvm::enumerate(tensorOf(result).getShape()))
    sizes.push_back(ShapedType::isDynamic(size)
                        ? sizeFrom(numbers, i, result.getOwner())
                        : Known(size));
  return sizes;
}

/// The last operands are the sizes, in order.
SmallVector<Known> SizeNamer::calledSizes(OpResult result) {
  auto call = cast<HostCallOp>(result.getOwner());
  size_t next = call.getInputs().size() - call.getSized();
  for (OpResult before :
       call->getResults().take_front(result.getResultNumber()))
    next += tensorOf(before).getNumDynamicDims();
  SmallVector<Known> sizes;
  for (int64_t size : tensorOf(result).getShape()) {
    if (!ShapedType::isDynamic(size)) {
      sizes.push_back(size);
      continue;
    }
    if (next == call.getInputs().size())
      return {};
    sizes.push_back(sizeFrom(call.getInputs()[next++], 0, call));
  }
  return sizes;
}

//===----------------------------------------------------------------------===//
// Assumptions
//===----------------------------------------------------------------------===//

bool SizeNamer::expectComparison(stablehlo::ComparisonDirection direction,
                                 const SizeExpression &a,
                                 const SizeExpression &b) {
  using Direction = stablehlo::ComparisonDirection;
  // Takes it for granted that large - small >= least.
  auto expect = [&](const SizeExpression &large, const SizeExpression &small,
                    int64_t least) {
    Known rest = differenceOf(large, small);
    if (rest)
      rest = SizeExpression::sumOf(*rest, -least);
    if (!rest || rest->number().value_or(0) < 0)
      return false;
    expectPositive(*rest);
    return true;
  };
  switch (direction) {
  case Direction::EQ:
    return expectEqual(a, b);
  case Direction::NE: {
    const Known rest = differenceOf(a, b);
    const Known square =
        rest ? SizeExpression::productOf(*rest, *rest) : Known();
    return square && expect(*square, 0, 1);
  }
  case Direction::GE:
    return expect(a, b, 0);
  case Direction::GT:
    return expect(a, b, 1);
  case Direction::LE:
    return expect(b, a, 0);
  case Direction::LT:
    return expect(b, a, 1);
  }
  llvm_unreachable("not a comparison");
}

static stablehlo::ComparisonDirection
oppositeOf(stablehlo::ComparisonDirection direction) {
  using Direction = stablehlo::ComparisonDirection;
  switch (direction) {
  case Direction::EQ:
    return Direction::NE;
  case Direction::NE:
    return Direction::EQ;
  case Direction::GE:
    return Direction::LT;
  case Direction::GT:
    return Direction::LE;
  case Direction::LE:
    return Direction::GT;
  case Direction::LT:
    return Direction::GE;
  }
  llvm_unreachable("not a comparison");
}

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
Result<void> SizeNamer::takeForGranted(nn::AssumeOp op) {
  bool holds = op.getHolds();
  Value condition = decisive(op.getCondition(), holds);
  auto numberOf = [&](Value value) {
    const std::vector<Known> known = elementsOf(value);
    return known.size() == 1 ? known.front() : Known();
  };
  bool mayHold = true;
  auto compare = condition.getDefiningOp<stablehlo::CompareOp>();
  const Known left = compare ? numberOf(compare.getLhs()) : Known(),
              right = compare ? numberOf(compare.getRhs()) : Known();
  if (const Known known = numberOf(condition); known && known->number()) {
    mayHold = (*known->number() != 0) == holds;
  } else if (left && right) {
    const auto direction = compare.getComparisonDirection();
    mayHold = expectComparison(holds ? direction : oppositeOf(direction), *left,
                               *right);
  } else {
    OpBuilder builder(op);
    nn::TensorBuilder emit(builder, op.getLoc());
    Value asExpected = op.getHolds()
                           ? Value(op.getCondition())
                           : emit.make<stablehlo::NotOp>(op.getCondition());
    Value number = emit.convert(asExpected, emit.integerType(64));
    mayHold = expectComparison(
        stablehlo::ComparisonDirection::GE,
        define(number, 0, op,
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

Value SizeNamer::numberOf(const SizeExpression &size, Operation *user) {
  OpBuilder builder(user);
  nn::TensorBuilder emit(builder, user->getLoc());
  return counted(emit, size, emit.integerType(64));
}

Result<void> SizeNamer::followIn(Block &block) {
  // What a loop carries is as large as what it begins with.
  for (auto [argument, start] :
       llvm::zip(block.getArguments(), block.getParentOp()->getOperands())) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type || !isa<RankedTensorType>(start.getType()))
      return refused(block.getParentOp(), "carries no ranked tensor");
    if (type.hasStaticShape())
      dims[argument] = Dims(type.getShape().begin(), type.getShape().end());
    else
      setSizes(argument, Dims(dimsOf(start)));
  }
  for (Operation &op : llvm::make_early_inc_range(block.without_terminator()))
    if (Result<void> done = follow(&op); !done)
      return done;
  return {};
}

/// What must hold of sizes in a branch must hold whether it is taken or not:
/// for other sizes there is another program.
Result<void> SizeNamer::followRegions(Operation *op) {
  const size_t sizes = table.sizes.size();
  for (Region &region : op->getRegions())
    if (Result<void> done = followIn(region.front()); !done)
      return done;
  if (auto loop = dyn_cast<stablehlo::WhileOp>(op))
    if (Result<void> same = checkCarried(loop); !same)
      return same;
  for (const SizeExpression &size : ArrayRef(table.sizes).drop_front(sizes))
    expectPositive(size);
  if (auto choice = dyn_cast<stablehlo::IfOp>(op))
    if (Result<void> done = joinBranches(choice); !done)
      return done;
  for (OpResult result : op->getResults()) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!type)
      return refused(op, "its result is no ranked tensor");
    if (dims.contains(result))
      continue;
    if (!type.hasStaticShape())
      return refused(op, "its result has no size before it runs");
    dims[result] = Dims(type.getShape().begin(), type.getShape().end());
  }
  return {};
}

/// The sizes of what \p loop carries must stay the same, which those of inputs
/// are taken to do.
Result<void> SizeNamer::checkCarried(stablehlo::WhileOp loop) {
  Operation *terminator = loop.getBody().front().getTerminator();
  for (auto [start, end, result] :
       llvm::zip_equal(loop->getOperands(), terminator->getOpOperands(),
                       loop->getResults())) {
    if (tensorOf(result).hasStaticShape())
      continue;
    const Dims sizes = dimsOf(start);
    for (auto [size, next] : llvm::zip_equal(sizes, dimsOf(end.get())))
      if (!expectEqual(size, next))
        return refused(loop, "carries a size that changes");
    if (dimsOf(end.get()) != sizes)
      end.set(withSizes(terminator, end.get(), sizes));
    setSizes(result, sizes);
  }
  return {};
}

/// A size that differs is that of the branch which is taken: a number that is
/// computed before.
Result<void> SizeNamer::joinBranches(stablehlo::IfOp op) {
  Operation *ends[] = {op.getTrueBranch().front().getTerminator(),
                       op.getFalseBranch().front().getTerminator()};
  for (OpResult result : op->getResults()) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!type || type.hasStaticShape())
      continue;
    const unsigned number = result.getResultNumber();
    const Dims yes = dimsOf(ends[0]->getOperand(number)),
               no = dimsOf(ends[1]->getOperand(number));
    Dims sizes;
    for (auto [a, b] : llvm::zip(yes, no)) {
      if (a == b) {
        sizes.push_back(a);
        continue;
      }
      OpBuilder builder(op);
      Value chosen = builder.create<stablehlo::SelectOp>(
          op.getLoc(), op.getPred(), numberOf(a, op), numberOf(b, op));
      sizes.push_back(define(chosen, 0, op));
    }
    setSizes(result, sizes);
    for (Operation *end : ends) {
      Value value = end->getOperand(number);
      if (dimsOf(value) == sizes)
        continue;
      OpBuilder builder(end);
      Value asChosen = builder.create<stablehlo::ReshapeOp>(
          op.getLoc(), result.getType(), value);
      dims[asChosen] = sizes;
      end->setOperand(number, asChosen);
    }
  }
  return {};
}
