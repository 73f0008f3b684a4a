#include "formats/onnx/ops/WhileLoop.h"

#include "formats/onnx/ops/PackedSequence.h"
#include "formats/onnx/ops/ScanLoop.h"

using namespace mlir;

namespace sinter::onnx {

/// The type of a scan output's stack, which grows with each iteration.
static RankedTensorType stackType(NodeContext &node, Value gathered) {
  Ints shape(node.shape(gathered));
  shape.insert(shape.begin(), ShapedType::kDynamic);
  return node.tensorType(shape, node.element(gathered));
}

namespace {

/// Dimensions that the body changes are dynamic, and a sequence that it inserts
/// into has tensors of some type. Both follow only from importing the body, as
/// do the scan outputs; then it is imported again.
class WhileLoop {
public:
  WhileLoop(NodeContext &node, const WhileForm &form)
      : node(node), form(form), knowsStacks(form.gathered == 0) {}

  LogicalResult build() {
    if (!start())
      return failure();
    for (;;) {
      Operation *holder = readBody();
      if (!holder)
        return failure();
      if (isSettled)
        return finish(holder);
      const bool isReady = startStacks(holder);
      node.erase(holder);
      if (!isReady)
        return failure();
    }
  }

private:
  /// Sets up the states: the iteration index, the condition, and the tensors of
  /// the loop-carried values.
  bool start() {
    states.emplace_back(node, node.scalar(node.i64(), 0));
    states.emplace_back(node, form.condition ? form.condition
                                             : node.scalar(node.i1(), 1));
    for (const Bound &bound : form.carried) {
      if (bound.kind == Bound::Tensor) {
        states.emplace_back(node, bound.value);
        sequences.emplace_back();
        continue;
      }
      if (!bound.isSequence()) {
        node.unsupported("a loop that carries an optional");
        return false;
      }
      auto type = tensorTypeOf(node, bound);
      if (!type)
        return false;
      sequences.push_back(*type);
      if (*type && !addSequence(bound, *type))
        return false;
    }
    return !node.failed();
  }

  bool addSequence(const Bound &bound, RankedTensorType type) {
    auto packed = PackedSequence::of(node, bound, type);
    if (!packed)
      return false;
    for (Value value : packed->bound().elements)
      states.emplace_back(node, value);
    return !node.failed();
  }

  /// Packs the sequences again, before \p holder, as tensors of the types that
  /// the body requires.
  bool restart(Operation *holder) {
    OpBuilder::InsertionGuard guard(node.builder());
    node.builder().setInsertionPoint(holder);
    std::vector<Carried> old = std::move(states);
    states.assign(old.begin(), old.begin() + 2);
    auto next = old.begin() + 2;
    for (auto [bound, type, wanted] :
         llvm::zip_equal(form.carried, sequences, wantedTypes)) {
      const int64_t own = bound.kind == Bound::Tensor ? 1 : type ? 2 : 0;
      if (type == wanted)
        states.insert(states.end(), next, next + own);
      else if (!addSequence(bound, wanted))
        return false;
      next += own;
    }
    sequences = wantedTypes;
    return true;
  }

  SmallVector<Type> carriedTypes() const {
    SmallVector<Type> types;
    for (const Carried &state : states)
      types.push_back(state.type);
    llvm::append_range(types, stackTypes);
    return types;
  }

  /// Builds a loop with the body, or returns null. Sets `isSettled` if
  /// importing the body again would not change the types.
  Operation *readBody() {
    const SmallVector<Type> types = carriedTypes();
    Values starts;
    for (const Carried &state : states)
      starts.push_back(state.start);
    llvm::append_range(starts, stacks);
    Operation *holder =
        makeHolder(node, stablehlo::WhileOp::getOperationName(), starts, types);
    if (!fillCondition(holder->getRegion(0), types))
      return nullptr;
    Region &region = holder->getRegion(1);
    Block &block = region.emplaceBlock();
    block.addArguments(types,
                       SmallVector<Location>(types.size(), node.location()));
    for (auto [state, argument] : llvm::zip(states, block.getArguments()))
      state.mark(node.known(), argument);
    const std::vector<Bound> inputs = boundsOf(block.getArguments());
    found.clear();
    gives.clear();
    auto read = [&] { return form.body(inputs); };
    auto give = [&](const std::vector<Bound> &outputs) {
      return returned(block, outputs);
    };
    if (!fillRegion(node, region, read, give))
      return nullptr;
    if (wantedTypes != sequences) {
      isSettled = false;
      return restart(holder) ? holder : nullptr;
    }
    bool changed = false;
    if (!admitAll(
            node, states,
            block.getTerminator()->getOperands().take_front(states.size()),
            changed))
      return nullptr;
    isSettled = !changed && knowsStacks && found == stackTypes;
    return holder;
  }

  /// The body's condition, and fewer iterations than the limit.
  bool fillCondition(Region &region, ArrayRef<Type> types) {
    OpBuilder::InsertionGuard guard(node.builder());
    Block &block = region.emplaceBlock();
    block.addArguments(types,
                       SmallVector<Location>(types.size(), node.location()));
    node.builder().setInsertionPointToStart(&block);
    Value goOn = block.getArgument(1);
    if (form.limit)
      goOn = node.op<stablehlo::AndOp>(
          goOn, node.compare(block.getArgument(0), form.limit,
                             stablehlo::ComparisonDirection::LT));
    if (!goOn)
      return false;
    node.builder().create<stablehlo::ReturnOp>(node.location(), goOn);
    return true;
  }

  /// The body's arguments from the states: the iteration index, the condition
  /// and the loop-carried values.
  std::vector<Bound> boundsOf(ValueRange values) {
    std::vector<Bound> bounds = {Bound(values[0]), Bound(values[1])};
    unsigned next = 2;
    for (auto [bound, type] : llvm::zip_equal(form.carried, sequences)) {
      if (bound.kind == Bound::Tensor) {
        bounds.push_back(Bound(values[next++]));
      } else if (!type) {
        bounds.push_back(Bound::sequence({}));
      } else {
        bounds.push_back(
            PackedSequence(node, values[next], values[next + 1], type).bound());
        next += 2;
      }
    }
    return bounds;
  }

  /// The states, including the stacks, after an iteration that returned
  /// \p outputs.
  Values returned(Block &block, ArrayRef<Bound> outputs) {
    Values next = {node.binary<stablehlo::AddOp>(block.getArgument(0),
                                                 node.scalar(node.i64(), 1))};
    const size_t carried = form.carried.size();
    auto tensors = [&](ArrayRef<Bound> bounds) {
      return tensorsOf(node, bounds).value_or(Values());
    };
    llvm::append_range(next, tensors(outputs.take_front(1)));
    if (Value scalar = scalarOf(node, next.back()))
      next.back() = scalar;
    wantedTypes.clear();
    for (auto [bound, type, given] :
         llvm::zip_equal(form.carried, sequences, outputs.slice(1, carried))) {
      if (bound.kind == Bound::Tensor) {
        llvm::append_range(next, tensors(given));
        wantedTypes.emplace_back();
        continue;
      }
      if (!given.isSequence()) {
        node.fail("its body gives no sequence where the loop carries one");
        return {};
      }
      auto wanted = tensorTypeOf(node, given, type);
      wantedTypes.push_back(wanted ? *wanted : RankedTensorType());
      if (!wantedTypes.back())
        continue;
      if (auto packed = PackedSequence::of(node, given, *wanted))
        llvm::append_range(next, packed->bound().elements);
    }
    for (auto [i, value] :
         llvm::enumerate(tensors(outputs.drop_front(1 + carried)))) {
      found.push_back(stackType(node, value));
      gives.push_back(value);
      if (knowsStacks)
        next.push_back(
            node.concatenate(ValueRange{block.getArgument(states.size() + i),
                                        node.unsqueeze(value, {0})},
                             0));
    }
    return next;
  }

  /// Makes an empty stack, before \p holder, for each scan output of its body.
  bool startStacks(Operation *holder) {
    OpBuilder::InsertionGuard guard(node.builder());
    node.builder().setInsertionPoint(holder);
    Values outside;
    for (const Carried &state : states)
      outside.push_back(state.start);
    stacks.clear();
    for (Value value : gives) {
      Value stack = stackBefore(node, value, 0, outside);
      if (!stack) {
        node.unknown("a loop that gathers values of sizes that are computed "
                     "and whose number of iterations is known only at run "
                     "time");
        return false;
      }
      stacks.push_back(stack);
    }
    stackTypes = found;
    knowsStacks = true;
    return !node.failed();
  }

  LogicalResult finish(Operation *holder) {
    Operation *loop = closeHolder(node, holder, carriedTypes());
    if (!loop)
      return failure();
    for (auto [state, result] : llvm::zip(states, loop->getResults()))
      state.mark(node.known(), result);
    std::vector<Bound> results = boundsOf(loop->getResults());
    results.erase(results.begin(), results.begin() + 2);
    for (Value stack : loop->getResults().drop_front(states.size()))
      results.push_back(Bound(stack));
    return node.boundResults(std::move(results));
  }

  NodeContext &node;
  const WhileForm &form;
  std::vector<Carried> states;
  /// For each loop-carried sequence the type of its tensors; null for a tensor,
  /// and for a sequence that stays empty.
  SmallVector<RankedTensorType> sequences, wantedTypes;
  bool knowsStacks;
  SmallVector<Type> stackTypes;
  Values stacks;
  /// The types of the scan outputs of the last import of the body.
  SmallVector<Type> found;
  Values gives;
  bool isSettled = false;
};

} // namespace

LogicalResult whileLoop(NodeContext &node, const WhileForm &form) {
  return WhileLoop(node, form).build();
}

} // namespace sinter::onnx
