// Gradients of branches and loops, by their operands and by the values that
// their regions capture.

#include "graph/gradient/Gradient.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/Support/MathExtras.h"

#include <optional>

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter::gradient {

SmallVector<Value> sourcesOf(Operation *op) {
  SmallVector<Value> sources(op->operand_begin(), op->operand_end());
  llvm::SetVector<Value> captured;
  for (Region &region : op->getRegions())
    getUsedValuesDefinedAbove(region, captured);
  llvm::append_range(sources, captured);
  return sources;
}

bool hasGradient(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && (isDifferentiable(value) || isComplex(value));
}

/// Copies the operations of \p block to \p builder's insertion point, with the
/// block's arguments in \p mapping; returns the copies of the values that the
/// block returns.
static SmallVector<Value> inlined(OpBuilder &builder, Block &block,
                                  IRMapping &mapping) {
  for (Operation &op : block.without_terminator())
    builder.clone(op, mapping);
  return llvm::map_to_vector(
      block.getTerminator()->getOperands(),
      [&](Value value) { return mapping.lookupOrDefault(value); });
}

/// \p gradients, with zeros in place of null.
static SmallVector<Value> withZeros(TensorBuilder &e, ArrayRef<Value> gradients,
                                    ArrayRef<Value> inputs) {
  SmallVector<Value> all;
  for (auto [gradient, input] : llvm::zip_equal(gradients, inputs))
    all.push_back(gradient ? gradient : e.splat(0, tensorOf(input)));
  return all;
}

Gradients backpropagateKnown(OpBuilder &builder, ArrayRef<Value> outputs,
                             ValueRange seeds, ArrayRef<Value> inputs) {
  SmallVector<Value> from, known;
  for (auto [output, seed] : llvm::zip_equal(outputs, seeds))
    if (seed) {
      from.push_back(output);
      known.push_back(seed);
    }
  llvm::SetVector<Value> once(inputs.begin(), inputs.end());
  auto gradients = backpropagate(builder, from, known, once.getArrayRef());
  if (failed(gradients))
    return failure();
  DenseMap<Value, Value> byInput;
  for (auto [input, gradient] : llvm::zip_equal(once, *gradients))
    byInput[input] = gradient;
  return llvm::map_to_vector(inputs, [&](Value input) {
    return std::exchange(byInput[input], Value());
  });
}

/// The same conditional, with branches that recompute the original ones and
/// backpropagate through them.
template <typename Op>
static Gradients chosen(Op op, TensorBuilder &e, ValueRange dy) {
  SmallVector<Value> sources = sourcesOf(op);
  auto inputs = llvm::to_vector(llvm::make_filter_range(sources, hasGradient));
  SmallVector<Value> gradients(sources.size());
  if (inputs.empty())
    return gradients;
  SmallVector<Type> types =
      llvm::map_to_vector(inputs, [](Value each) { return each.getType(); });
  OperationState state(e.location, op->getName());
  state.addOperands(op->getOperands());
  state.addTypes(types);
  for (unsigned i = 0; i < op->getNumRegions(); ++i)
    state.addRegion();
  Operation *choice = e.builder.create(state);
  for (auto [from, to] :
       llvm::zip_equal(op->getRegions(), choice->getRegions())) {
    OpBuilder inner = OpBuilder::atBlockEnd(&to.emplaceBlock());
    TensorBuilder emit(inner, e.location);
    IRMapping mapping;
    SmallVector<Value> outputs = inlined(inner, from.front(), mapping);
    auto part = backpropagateKnown(inner, outputs, dy, inputs);
    if (failed(part))
      return failure();
    inner.create<ReturnOp>(e.location, withZeros(emit, *part, inputs));
  }
  size_t next = 0;
  for (auto [source, gradient] : llvm::zip_equal(sources, gradients))
    if (hasGradient(source))
      gradient = choice->getResult(next++);
  return gradients;
}

//===----------------------------------------------------------------------===//
// while
//===----------------------------------------------------------------------===//

WhileOp
buildLoop(TensorBuilder &e, ArrayRef<Value> carried,
          llvm::function_ref<Value(TensorBuilder &, ValueRange)> condition,
          TensorBuilder::Body body) {
  SmallVector<Type> types =
      llvm::map_to_vector(carried, [](Value each) { return each.getType(); });
  SmallVector<Location> locations(types.size(), e.location);
  auto loop = e.builder.create<WhileOp>(e.location, types, carried);
  auto fill = [&](Region &region, TensorBuilder::Body build) {
    OpBuilder::InsertionGuard guard(e.builder);
    Block *block = e.builder.createBlock(&region, {}, types, locations);
    SmallVector<Value> results = build(e, block->getArguments());
    e.builder.create<ReturnOp>(e.location, results);
  };
  fill(loop.getCond(), [&](TensorBuilder &inner, ValueRange values) {
    return SmallVector<Value>{condition(inner, values)};
  });
  fill(loop.getBody(), body);
  return loop;
}

/// The value of \p value, if it is a constant integer scalar.
static std::optional<int64_t> integerOf(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  auto elements =
      constant ? dyn_cast<DenseIntElementsAttr>(constant.getValue()) : nullptr;
  if (!elements || elements.getNumElements() != 1)
    return std::nullopt;
  auto integer = dyn_cast<IntegerType>(elements.getElementType());
  if (!integer || integer.getWidth() < 2 || integer.getWidth() > 64)
    return std::nullopt;
  APInt number = *elements.value_begin<APInt>();
  if (!integer.isUnsigned())
    return number.getSExtValue();
  if (number.getActiveBits() > 63)
    return std::nullopt;
  return static_cast<int64_t>(number.getZExtValue());
}

/// The value of \p value before the loop, if it is a loop-invariant state or no
/// state at all.
static Value beforeLoop(WhileOp loop, Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getOwner() != &loop.getCond().front())
    return value;
  unsigned place = argument.getArgNumber();
  Block &body = loop.getBody().front();
  return body.getTerminator()->getOperand(place) == body.getArgument(place)
             ? loop->getOperand(place)
             : Value();
}

/// A ceiling division of positive integers; nothing on overflow of `distance`.
static std::optional<int64_t> steps(int64_t from, int64_t to, int64_t by) {
  int64_t distance;
  if (llvm::SubOverflow(to, from, distance))
    return std::nullopt;
  if (distance <= 0)
    return 0;
  return distance / by + (distance % by != 0);
}

/// Whether \p type holds \p number.
static bool fits(int64_t number, IntegerType type) {
  return type.isUnsigned()
             ? number >= 0 &&
                   llvm::isUIntN(type.getWidth(), static_cast<uint64_t>(number))
             : llvm::isIntN(type.getWidth(), number);
}

std::optional<int64_t> tripsOf(WhileOp loop) {
  Block &cond = loop.getCond().front(), &body = loop.getBody().front();
  auto compare = cond.getTerminator()->getOperand(0).getDefiningOp<CompareOp>();
  if (!compare)
    return std::nullopt;
  auto counter = dyn_cast<BlockArgument>(compare.getLhs());
  if (!counter || counter.getOwner() != &cond)
    return std::nullopt;
  unsigned place = counter.getArgNumber();
  Operation *next = body.getTerminator()->getOperand(place).getDefiningOp();
  if (!next || !isa<AddOp, SubtractOp>(next))
    return std::nullopt;
  Value mine = body.getArgument(place);
  const bool isFirst = next->getOperand(0) == mine;
  const bool isSubtracted = isa<SubtractOp>(next);
  if (!isFirst && (isSubtracted || next->getOperand(1) != mine))
    return std::nullopt;
  Value other = next->getOperand(isFirst ? 1 : 0);
  Value limit = beforeLoop(loop, compare.getRhs());
  if (!limit)
    return std::nullopt;
  auto from = integerOf(loop->getOperand(place)), to = integerOf(limit),
       by = integerOf(other);
  if (!from || !to || !by || *by == 0 ||
      (isSubtracted && llvm::SubOverflow(int64_t(0), *by, *by)))
    return std::nullopt;
  int64_t end = *to, start = *from, stride = *by;
  switch (compare.getComparisonDirection()) {
  case ComparisonDirection::LT:
    break;
  case ComparisonDirection::LE:
    if (llvm::AddOverflow(end, int64_t(1), end))
      return std::nullopt;
    break;
  case ComparisonDirection::GE:
    if (llvm::SubOverflow(end, int64_t(1), end))
      return std::nullopt;
    [[fallthrough]];
  case ComparisonDirection::GT:
    // Count up from the end to the start instead.
    if (llvm::SubOverflow(int64_t(0), stride, stride))
      return std::nullopt;
    std::swap(start, end);
    break;
  default:
    return std::nullopt;
  }
  if (stride <= 0)
    return std::nullopt;
  const std::optional<int64_t> trips = steps(start, end, stride);
  if (!trips)
    return std::nullopt;
  // A counter that wraps around before it reaches the limit goes on.
  int64_t last = 0;
  if (llvm::MulOverflow(*trips, *by, last) ||
      llvm::AddOverflow(*from, last, last) ||
      !fits(last, cast<IntegerType>(tensorOf(counter).getElementType())))
    return std::nullopt;
  return trips;
}

namespace {

/// The gradient of a loop of known trip count: the loop runs again and stacks
/// the states of each trip that the backward pass uses; then a loop goes back
/// over the trips.
class LoopGradient {
public:
  LoopGradient(WhileOp loop, TensorBuilder &e, int64_t trips)
      : loop(loop), e(e), trips(trips), states(loop->getNumOperands()),
        counterType(RankedTensorType::get({}, e.integerType(64))) {
    for (Value source : sourcesOf(loop))
      sources.push_back(source);
    for (unsigned i = 0; i < states; ++i)
      if (hasGradient(sources[i]))
        moving.push_back(i);
    for (Value source : ArrayRef(sources).drop_front(states))
      if (hasGradient(source))
        captured.push_back(source);
  }

  Gradients build(ValueRange dy) {
    const SmallVector<Operation *> stacks = unknownStacks();
    SmallVector<Value> carried = {counter(trips - 1)};
    for (unsigned i : moving)
      carried.push_back(dy[i] ? dy[i] : e.splat(0, tensorOf(sources[i])));
    for (Value source : captured)
      carried.push_back(e.splat(0, tensorOf(source)));
    bool isBuilt = true;
    auto back = buildLoop(
        e, carried,
        [&](TensorBuilder &inner, ValueRange values) {
          return inner.compare(ComparisonDirection::GE, values[0], 0);
        },
        [&](TensorBuilder &inner, ValueRange values) {
          auto next = goBack(inner, values, stacks);
          isBuilt = succeeded(next);
          return isBuilt ? *next : SmallVector<Value>(values);
        });
    if (!isBuilt)
      return failure();
    eraseUnread(back.getBody().front());
    keepStates(stacks);
    SmallVector<Value> gradients(sources.size());
    size_t place = 1;
    for (unsigned i : moving)
      gradients[i] = back->getResult(place++);
    for (size_t i = states; i < sources.size(); ++i)
      if (hasGradient(sources[i]))
        gradients[i] = back->getResult(place++);
    return gradients;
  }

private:
  Value counter(int64_t value) {
    return e.builder.create<ConstantOp>(
        e.location, DenseElementsAttr::get(counterType, value));
  }

  /// The start indices of trip \p number in a stack of rank \p rank.
  static SmallVector<Value> startIndices(TensorBuilder &inner, Value number,
                                         int64_t rank) {
    SmallVector<Value> indices(rank, inner.splat(0, tensorOf(number)));
    indices[0] = number;
    return indices;
  }

  /// Whether state \p i is loop-invariant.
  bool stays(unsigned i) {
    Block &body = loop.getBody().front();
    return body.getTerminator()->getOperand(i) == body.getArgument(i);
  }

  /// The type of the stack of \p state before each trip.
  RankedTensorType stackType(Value state) const {
    auto type = tensorOf(state);
    SmallVector<int64_t> shape = {trips};
    llvm::append_range(shape, type.getShape());
    return type.clone(shape);
  }

  /// A placeholder for the stack of each state that trips change, while it is
  /// unknown whether it has uses; null for the others.
  SmallVector<Operation *> unknownStacks() {
    SmallVector<Operation *> stacks;
    for (auto [i, state] : llvm::enumerate(loop->getOperands()))
      stacks.push_back(stays(i)
                           ? nullptr
                           : e.builder.create<UnrealizedConversionCastOp>(
                                 e.location, stackType(state), ValueRange()));
    return stacks;
  }

  static void eraseUnread(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (isOpTriviallyDead(&op))
        op.erase();
  }

  /// Replaces the placeholders in \p stacks that have uses by stacks of the
  /// states before each trip, which a run of the loop fills.
  void keepStates(ArrayRef<Operation *> stacks) {
    SmallVector<unsigned> kept;
    for (unsigned i = 0; i < states; ++i)
      if (stacks[i] && !stacks[i]->use_empty())
        kept.push_back(i);
    if (!kept.empty()) {
      OpBuilder::InsertionGuard guard(e.builder);
      e.builder.setInsertionPoint(stacks[kept.front()]);
      for (auto [i, stack] : llvm::zip_equal(kept, filledStacks(kept)))
        stacks[i]->getResult(0).replaceAllUsesWith(stack);
    }
    for (Operation *each : stacks)
      if (each)
        each->erase();
  }

  SmallVector<Value> filledStacks(ArrayRef<unsigned> kept) {
    SmallVector<Value> carried = {counter(0)};
    llvm::append_range(carried, loop->getOperands());
    for (unsigned i : kept)
      carried.push_back(e.splat(0, stackType(loop->getOperand(i))));
    auto run = buildLoop(
        e, carried,
        [&](TensorBuilder &inner, ValueRange values) {
          return inner.compare(ComparisonDirection::LT, values[0],
                               static_cast<double>(trips));
        },
        [&](TensorBuilder &inner, ValueRange values) {
          ValueRange now = values.slice(1, states);
          IRMapping mapping;
          mapping.map(loop.getBody().front().getArguments(), now);
          SmallVector<Value> next = {inner.add(values[0], 1)};
          llvm::append_range(
              next, inlined(inner.builder, loop.getBody().front(), mapping));
          for (auto [i, stack] :
               llvm::zip_equal(kept, values.drop_front(1 + states))) {
            SmallVector<int64_t> shape = {1};
            llvm::append_range(shape, tensorOf(now[i]).getShape());
            next.push_back(inner.make<DynamicUpdateSliceOp>(
                stack, inner.reshape(now[i], shape),
                startIndices(inner, values[0], shape.size())));
          }
          return next;
        });
    return SmallVector<Value>(run->getResults().drop_front(1 + states));
  }

  /// State \p i before trip \p number, a value of its own.
  Value stateBefore(TensorBuilder &inner, unsigned i, Operation *stack,
                    Value number) {
    if (!stack)
      return inner.builder.create<ReshapeOp>(
          inner.location, loop->getOperand(i).getType(), loop->getOperand(i));
    Value all = stack->getResult(0);
    SmallVector<int64_t> shape(tensorOf(all).getShape());
    shape[0] = 1;
    Value state = inner.make<DynamicSliceOp>(
        all, startIndices(inner, number, shape.size()), shape);
    return inner.reshape(state, ArrayRef(shape).drop_front());
  }

  /// One trip of the backward pass: \p values are its index, the gradients by
  /// the states after it and those by captured values so far.
  Gradients goBack(TensorBuilder &inner, ValueRange values,
                   ArrayRef<Operation *> stacks) {
    Block &body = loop.getBody().front();
    IRMapping mapping;
    SmallVector<Value> inputs, seeds(states);
    for (auto [i, stack] : llvm::enumerate(stacks)) {
      Value state = stateBefore(inner, i, stack, values[0]);
      mapping.map(body.getArgument(i), state);
      if (hasGradient(state))
        inputs.push_back(state);
    }
    for (auto [place, state] : llvm::enumerate(moving))
      seeds[state] = values[1 + place];
    llvm::append_range(inputs, captured);
    SmallVector<Value> outputs = inlined(inner.builder, body, mapping);
    auto gradients = backpropagateKnown(inner.builder, outputs, seeds, inputs);
    if (failed(gradients))
      return failure();
    SmallVector<Value> all = withZeros(inner, *gradients, inputs);
    for (size_t i = moving.size(); i < all.size(); ++i)
      all[i] = inner.add(values[1 + i], all[i]);
    all.insert(all.begin(), inner.sub(values[0], 1));
    return all;
  }

  WhileOp loop;
  TensorBuilder &e;
  int64_t trips;
  unsigned states;
  RankedTensorType counterType;
  /// The operands and captured values; the indices of states with a gradient;
  /// the captured values with one.
  SmallVector<Value> sources;
  SmallVector<unsigned> moving;
  SmallVector<Value> captured;
};

} // namespace

static Gradients repeatedly(WhileOp op, TensorBuilder &e, ValueRange dy) {
  auto isTensor = [](Value each) {
    return isa<RankedTensorType>(each.getType());
  };
  auto trips = tripsOf(op);
  if (!trips || !llvm::all_of(op->getOperands(), isTensor))
    return failure();
  if (*trips > 0)
    return LoopGradient(op, e, *trips).build(dy);
  // The results are the operands.
  SmallVector<Value> gradients(dy);
  gradients.resize(sourcesOf(op).size());
  return gradients;
}

void attachControlFlow(MLIRContext *context) {
  attach<IfOp, chosen<IfOp>>(context);
  attach<CaseOp, chosen<CaseOp>>(context);
  attach<WhileOp, repeatedly>(context);
}

} // namespace sinter::gradient
