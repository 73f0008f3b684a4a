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

  /// The shape of all elements, with \p inner behind it.
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

  /// \p value for each element; one that is the same for all is repeated.
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

  /// A scalar of each element in the shape of \p inner.
  Value spread(Value value, ArrayRef<int64_t> inner) {
    return emit.broadcast(value, leading(), wholeShape(inner));
  }

  /// Whether \p op reads what differs between elements.
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

  /// The comparator may not read what differs between elements.
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

  /// Which states of \p loop differ between elements after some trip: those
  /// that begin so, and those that a trip gives which reads such a one.
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
    auto isDiffering = [&](Value value) {
      return inner.contains(value) || wholes.contains(value);
    };
    for (bool isKnown = false; !std::exchange(isKnown, true);) {
      for (Operation &op : body.without_terminator()) {
        bool does = llvm::any_of(op.getOperands(), isDiffering);
        visitUsedValuesDefinedAbove(op.getRegions(), [&](OpOperand *use) {
          does |= isDiffering(use->get());
        });
        if (does)
          inner.insert(op.result_begin(), op.result_end());
      }
      for (auto [i, next] :
           llvm::enumerate(body.getTerminator()->getOperands()))
        if (!differing[i] && isDiffering(next)) {
          differing[i] = true;
          inner.insert(body.getArgument(i));
          isKnown = false;
        }
    }
    return differing;
  }

  /// One loop for all elements: how often it runs may not differ between them.
  LogicalResult liftLoop(WhileOp loop) {
    const SmallVector<bool> differing = differingStates(loop);
    Values states;
    for (auto [state, does] : llvm::zip_equal(loop->getOperands(), differing))
      states.push_back(does ? lifted(state) : plain.lookupOrDefault(state));
    OperationState state(loop.getLoc(), loop->getName());
    state.addOperands(states);
    state.addTypes(ValueRange(states).getTypes());
    state.addRegion();
    state.addRegion();
    auto whole = cast<WhileOp>(emit.builder.create(state));
    auto fill = [&](Region &from, Region &to, bool isCondition) {
      OpBuilder::InsertionGuard guard(emit.builder);
      Block *block = emit.builder.createBlock(
          &to, {}, ValueRange(states).getTypes(),
          SmallVector<Location>(states.size(), loop.getLoc()));
      // What is repeated in here is not seen behind it.
      DenseMap<Value, Value> outside;
      std::swap(outside, repeats);
      for (auto [i, argument] : llvm::enumerate(block->getArguments()))
        if (Value inner = from.front().getArgument(i); differing[i])
          wholes[inner] = argument;
        else
          plain.map(inner, argument);
      LogicalResult result = success();
      for (Operation &op : from.front().without_terminator())
        if (succeeded(result))
          result = lift(op);
      Values results;
      if (succeeded(result))
        for (auto [i, value] :
             llvm::enumerate(from.front().getTerminator()->getOperands())) {
          const bool isWhole = !isCondition && differing[i];
          if (!isWhole && wholes.contains(value))
            result = failure();
          results.push_back(isWhole ? lifted(value)
                                    : plain.lookupOrDefault(value));
        }
      emit.builder.create<ReturnOp>(loop.getLoc(), results);
      repeats = std::move(outside);
      return result;
    };
    if (failed(fill(loop.getCond(), whole.getCond(), true)) ||
        failed(fill(loop.getBody(), whole.getBody(), false)))
      return failure();
    for (auto [i, result] : llvm::enumerate(loop->getResults()))
      if (differing[i])
        wholes[result] = whole->getResult(i);
      else
        plain.map(result, whole->getResult(i));
    return success();
  }

  nn::TensorBuilder &emit;
  ArrayRef<int64_t> shape;
  int64_t rank;
  /// The values that differ between elements, for all of them.
  DenseMap<Value, Value> wholes;
  /// Copies of the operations that give the same for each.
  IRMapping plain;
  /// What these give, repeated for all elements.
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
