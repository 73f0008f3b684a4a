#include "graph/stablehlo/WholeTensors.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace sinter::stablehlo;

namespace sinter {
namespace {

class Lifting {
public:
  Lifting(nn::TensorBuilder &emit, ArrayRef<int64_t> shape)
      : emit(emit), shape(shape), rank(static_cast<int64_t>(shape.size())) {}

  FailureOr<Values> run(Block &body) {
    for (Operation &op : body.without_terminator())
      if (failed(lift(op)))
        return failure();
    Values results;
    for (Value value : body.getTerminator()->getOperands())
      results.push_back(lifted(value));
    return results;
  }

  void map(Value inner, Value whole) { wholes[inner] = whole; }

private:
  SmallVector<int64_t> leading() const {
    return llvm::to_vector(llvm::seq<int64_t>(0, rank));
  }

  SmallVector<int64_t> moved(ArrayRef<int64_t> dimensions) const {
    return llvm::map_to_vector(dimensions,
                               [&](int64_t each) { return each + rank; });
  }

  /// The shape of all elements, followed by \p inner.
  SmallVector<int64_t> wholeShape(ArrayRef<int64_t> inner) const {
    SmallVector<int64_t> all(shape);
    llvm::append_range(all, inner);
    return all;
  }

  RankedTensorType wholeType(Value inner) const {
    auto type = tensorOf(inner);
    return RankedTensorType::get(wholeShape(type.getShape()),
                                 type.getElementType());
  }

  /// \p value for each element; a uniform value is broadcast.
  Value lifted(Value value) {
    if (Value whole = wholes.lookup(value))
      return whole;
    Value same = plain.lookupOrDefault(value);
    Value &repeated = repeats[same];
    if (!repeated)
      repeated = emit.broadcast(same,
                                moved(llvm::to_vector(llvm::seq<int64_t>(
                                    0, tensorOf(same).getRank()))),
                                wholeShape(tensorOf(same).getShape()));
    return repeated;
  }

  /// Broadcasts each element's scalar to the shape \p inner.
  Value spread(Value value, ArrayRef<int64_t> inner) {
    return emit.broadcast(value, leading(), wholeShape(inner));
  }

  /// Whether \p op uses a value that differs between elements.
  bool differs(Operation &op) {
    bool does = llvm::any_of(op.getOperands(), [&](Value operand) {
      return wholes.contains(operand);
    });
    visitUsedValuesDefinedAbove(op.getRegions(), [&](OpOperand *use) {
      does |= wholes.contains(use->get());
    });
    return does;
  }

  LogicalResult lift(Operation &op) {
    if (!differs(op)) {
      emit.builder.clone(op, plain);
      return success();
    }
    for (Value value : op.getResults())
      if (auto type = dyn_cast<RankedTensorType>(value.getType());
          !type || !type.hasStaticShape())
        return failure();
    if (auto choice = dyn_cast<IfOp>(op))
      return liftChoice(choice);
    if (auto sort = dyn_cast<SortOp>(op))
      return liftSort(sort);
    if (auto loop = dyn_cast<WhileOp>(op))
      return liftLoop(loop);
    if (op.getNumRegions() != 0 || op.getNumResults() != 1)
      return failure();
    Value result = op.getResult(0);
    if (op.hasTrait<OpTrait::Elementwise>() || isa<SelectOp, ClampOp>(op)) {
      liftElementwise(op);
      return success();
    }
    Value whole =
        llvm::TypeSwitch<Operation *, Value>(&op)
            .Case<BroadcastInDimOp, ReshapeOp, TransposeOp, SliceOp, ReverseOp>(
                [&](auto each) { return movedElements(each); })
            .Case([&](ConcatenateOp each) {
              Values parts = llvm::map_to_vector(
                  each.getInputs(), [&](Value part) { return lifted(part); });
              return emit.concatenate(
                  parts, static_cast<int64_t>(each.getDimension()) + rank);
            })
            .Default([](Operation *) { return Value(); });
    if (!whole)
      return failure();
    wholes[result] = whole;
    return success();
  }

  void liftElementwise(Operation &op) {
    Value result = op.getResult(0);
    OperationState state(op.getLoc(), op.getName());
    for (Value operand : op.getOperands()) {
      Value whole = lifted(operand);
      if (tensorOf(operand).getRank() < tensorOf(result).getRank())
        whole = spread(whole, tensorOf(result).getShape());
      state.addOperands(whole);
    }
    state.addTypes(wholeType(result));
    state.addAttributes(op.getAttrs());
    wholes[result] = emit.builder.create(state)->getResult(0);
  }

  Value movedElements(BroadcastInDimOp op) {
    SmallVector<int64_t> dimensions = leading();
    llvm::append_range(dimensions, moved(op.getBroadcastDimensions()));
    return emit.broadcast(lifted(op.getOperand()), dimensions,
                          wholeShape(tensorOf(op.getResult()).getShape()));
  }
  Value movedElements(ReshapeOp op) {
    return emit.reshape(lifted(op.getOperand()),
                        wholeShape(tensorOf(op.getResult()).getShape()));
  }
  Value movedElements(TransposeOp op) {
    SmallVector<int64_t> order = leading();
    llvm::append_range(order, moved(op.getPermutation()));
    return emit.transpose(lifted(op.getOperand()), order);
  }
  Value movedElements(SliceOp op) {
    SmallVector<int64_t> starts(rank, 0), limits(shape), strides(rank, 1);
    llvm::append_range(starts, op.getStartIndices());
    llvm::append_range(limits, op.getLimitIndices());
    llvm::append_range(strides, op.getStrides());
    return emit.make<SliceOp>(lifted(op.getOperand()), starts, limits, strides);
  }
  Value movedElements(ReverseOp op) {
    return emit.make<ReverseOp>(lifted(op.getOperand()),
                                moved(op.getDimensions()));
  }

  /// The comparator must not use values that differ between elements.
  LogicalResult liftSort(SortOp op) {
    bool isFree = true;
    visitUsedValuesDefinedAbove(op->getRegions(), [&](OpOperand *use) {
      isFree &= !wholes.contains(use->get());
    });
    if (!isFree)
      return failure();
    SmallVector<Type> types;
    Values inputs;
    for (Value input : op.getInputs()) {
      inputs.push_back(lifted(input));
      types.push_back(inputs.back().getType());
    }
    int64_t dimension = static_cast<int64_t>(op.getDimension());
    if (dimension < 0)
      dimension += tensorOf(op.getInputs()[0]).getRank();
    auto sort = emit.builder.create<SortOp>(
        op.getLoc(), types, inputs, static_cast<uint64_t>(dimension + rank),
        op.getIsStable());
    IRMapping mapping(plain);
    op.getComparator().cloneInto(&sort.getComparator(), mapping);
    for (auto [result, whole] :
         llvm::zip_equal(op->getResults(), sort->getResults()))
      wholes[result] = whole;
    return success();
  }

  LogicalResult liftChoice(IfOp op) {
    Value condition = lifted(op.getPred());
    auto yes = run(op.getTrueBranch().front());
    auto no = run(op.getFalseBranch().front());
    if (failed(yes) || failed(no))
      return failure();
    for (auto [result, first, second] :
         llvm::zip_equal(op->getResults(), *yes, *no))
      wholes[result] = emit.select(
          spread(condition, tensorOf(result).getShape()), first, second);
    return success();
  }

  /// Adds to \p differing the results in \p block that depend on values in it,
  /// or on values outside that differ.
  void addDiffering(Block &block, llvm::DenseSet<Value> &differing) {
    auto isDiffering = [&](Value value) {
      return differing.contains(value) || wholes.contains(value);
    };
    for (Operation &op : block.without_terminator()) {
      bool does = llvm::any_of(op.getOperands(), isDiffering);
      visitUsedValuesDefinedAbove(op.getRegions(), [&](OpOperand *use) {
        does |= isDiffering(use->get());
      });
      if (does)
        differing.insert(op.result_begin(), op.result_end());
    }
  }

  /// Which states of \p loop differ between elements after some trip: those
  /// that differ initially, and those that depend on one that differs.
  SmallVector<bool> differingStates(WhileOp loop) {
    Block &body = loop.getBody().front();
    SmallVector<bool> differing;
    llvm::DenseSet<Value> inner;
    for (auto [state, argument] :
         llvm::zip_equal(loop->getOperands(), body.getArguments())) {
      differing.push_back(wholes.contains(state));
      if (differing.back())
        inner.insert(argument);
    }
    for (bool isKnown = false; !std::exchange(isKnown, true);) {
      addDiffering(body, inner);
      for (auto [i, next] :
           llvm::enumerate(body.getTerminator()->getOperands()))
        if (!differing[i] && (inner.contains(next) || wholes.contains(next))) {
          differing[i] = true;
          inner.insert(body.getArgument(i));
          isKnown = false;
        }
    }
    return differing;
  }

  /// Whether the trip count of \p loop may differ between elements.
  bool differsInLength(WhileOp loop, ArrayRef<bool> differing) {
    Block &condition = loop.getCond().front();
    llvm::DenseSet<Value> inner;
    for (auto [does, argument] :
         llvm::zip_equal(differing, condition.getArguments()))
      if (does)
        inner.insert(argument);
    addDiffering(condition, inner);
    Value goesOn = condition.getTerminator()->getOperand(0);
    return inner.contains(goesOn) || wholes.contains(goesOn);
  }

  /// A loop over \p states with empty regions.
  WhileOp emptyLoop(Location location, ValueRange states) {
    OperationState state(location, WhileOp::getOperationName());
    state.addOperands(states);
    state.addTypes(states.getTypes());
    state.addRegion();
    state.addRegion();
    return cast<WhileOp>(emit.builder.create(state));
  }

  /// Fills a region of a loop with the results of \p build for its arguments.
  LogicalResult fill(Region &region, ValueRange states, Location location,
                     llvm::function_ref<FailureOr<Values>(ValueRange)> build) {
    OpBuilder::InsertionGuard guard(emit.builder);
    Block *block = emit.builder.createBlock(
        &region, {}, states.getTypes(),
        SmallVector<Location>(states.size(), location));
    // Values broadcast in here do not dominate later operations.
    DenseMap<Value, Value> outside;
    std::swap(outside, repeats);
    FailureOr<Values> results = build(block->getArguments());
    repeats = std::move(outside);
    emit.builder.create<ReturnOp>(location,
                                  succeeded(results) ? *results : Values());
    return LogicalResult(results);
  }

  LogicalResult liftLoop(WhileOp loop) {
    const SmallVector<bool> differing = differingStates(loop);
    return differsInLength(loop, differing) ? liftLongest(loop)
                                            : liftAlike(loop, differing);
  }

  /// Lifts a loop with the same trip count for all elements.
  LogicalResult liftAlike(WhileOp loop, ArrayRef<bool> differing) {
    Values states;
    for (auto [state, does] : llvm::zip_equal(loop->getOperands(), differing))
      states.push_back(does ? lifted(state) : plain.lookupOrDefault(state));
    WhileOp whole = emptyLoop(loop.getLoc(), states);
    auto build = [&](Block &from, bool isCondition, ValueRange arguments) {
      for (auto [i, argument] : llvm::enumerate(arguments))
        if (Value inner = from.getArgument(i); differing[i])
          wholes[inner] = argument;
        else
          plain.map(inner, argument);
      Values results;
      for (Operation &op : from.without_terminator())
        if (failed(lift(op)))
          return FailureOr<Values>(failure());
      for (auto [i, value] :
           llvm::enumerate(from.getTerminator()->getOperands()))
        results.push_back(!isCondition && differing[i]
                              ? lifted(value)
                              : plain.lookupOrDefault(value));
      return FailureOr<Values>(results);
    };
    for (bool isCondition : {true, false}) {
      Region &from = isCondition ? loop.getCond() : loop.getBody();
      Region &to = isCondition ? whole.getCond() : whole.getBody();
      if (failed(fill(to, states, loop.getLoc(), [&](ValueRange arguments) {
            return build(from.front(), isCondition, arguments);
          })))
        return failure();
    }
    for (auto [i, result] : llvm::enumerate(loop->getResults()))
      if (differing[i])
        wholes[result] = whole->getResult(i);
      else
        plain.map(result, whole->getResult(i));
    return success();
  }

  /// The results of \p block, of a region of a loop, for each element.
  FailureOr<Values> runOn(Block &block, ValueRange states) {
    for (auto [inner, whole] : llvm::zip_equal(block.getArguments(), states))
      wholes[inner] = whole;
    return run(block);
  }

  /// Lifts a loop with different trip counts: it runs as long as any element's
  /// loop does; elements that are done keep their states.
  LogicalResult liftLongest(WhileOp loop) {
    Block &condition = loop.getCond().front(), &body = loop.getBody().front();
    Values states = llvm::map_to_vector(
        loop->getOperands(), [&](Value each) { return lifted(each); });
    auto first = runOn(condition, states);
    if (failed(first))
      return failure();
    Values carried = states;
    carried.push_back(first->front());
    WhileOp whole = emptyLoop(loop.getLoc(), carried);
    auto anyGoesOn = [&](ValueRange arguments) -> FailureOr<Values> {
      Value none = emit.scalar(0, emit.builder.getI1Type());
      return Values{emit.reduce<OrOp>(arguments.back(), none, leading())};
    };
    auto next = [&](ValueRange arguments) -> FailureOr<Values> {
      ValueRange before = arguments.drop_back();
      Value runs = arguments.back();
      auto after = runOn(body, before);
      if (failed(after))
        return failure();
      for (auto [value, old, inner] :
           llvm::zip_equal(*after, before, body.getArguments()))
        value =
            emit.select(spread(runs, tensorOf(inner).getShape()), value, old);
      auto goesOn = runOn(condition, *after);
      if (failed(goesOn))
        return failure();
      after->push_back(emit.make<AndOp>(runs, goesOn->front()));
      return after;
    };
    if (failed(fill(whole.getCond(), carried, loop.getLoc(), anyGoesOn)) ||
        failed(fill(whole.getBody(), carried, loop.getLoc(), next)))
      return failure();
    for (auto [result, all] :
         llvm::zip_equal(loop->getResults(), whole->getResults().drop_back()))
      wholes[result] = all;
    return success();
  }

  nn::TensorBuilder &emit;
  ArrayRef<int64_t> shape;
  int64_t rank;
  /// The values that differ between elements, for all of them.
  DenseMap<Value, Value> wholes;
  /// Copies of the operations whose results are the same for all elements.
  IRMapping plain;
  /// The results of these, broadcast to all elements.
  DenseMap<Value, Value> repeats;
};

} // namespace

FailureOr<Values> applyToTensors(nn::TensorBuilder &emit, Block &body,
                                 ValueRange arguments,
                                 ArrayRef<int64_t> shape) {
  Lifting lifting(emit, shape);
  for (auto [inner, whole] : llvm::zip_equal(body.getArguments(), arguments))
    lifting.map(inner, whole);
  return lifting.run(body);
}

} // namespace sinter
