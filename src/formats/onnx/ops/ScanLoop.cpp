//===- ScanLoop.cpp - a Scan of dynamic length as a loop ------------------===//

#include "formats/onnx/ops/ScanLoop.h"

#include "formats/onnx/ops/Bodies.h"

using namespace mlir;

namespace sinter::onnx {

/// The size, available before a loop, of dimension \p i of \p value, which is
/// computed in the loop's body: static, or a dimension of one of \p outside
/// that is known to be equal. Nothing if there is none.
static std::optional<Dim> sizeOutside(NodeContext &node, Value value, int64_t i,
                                      ArrayRef<Value> outside) {
  if (const int64_t size = node.size(value, i); !ShapedType::isDynamic(size))
    return Dim(size);
  const formats::Element size = node.known().sizeOf(value, i);
  for (Value each : outside)
    for (int64_t dim = 0; dim < node.rank(each); ++dim)
      if (node.known().sizeOf(each, dim) == size)
        return node.dim(each, dim);
  return std::nullopt;
}

Value stackBefore(NodeContext &node, Value value, const Dim &length,
                  ArrayRef<Value> outside) {
  formats::Dims dims = {length};
  for (int64_t i = 0; i < node.rank(value); ++i) {
    const std::optional<Dim> size = sizeOutside(node, value, i, outside);
    if (!size)
      return {};
    dims.push_back(*size);
  }
  return node.broadcastInDim(node.scalar(node.element(value), 0), dims, {});
}

namespace {

/// The loop; its states are the step index, the loop-carried values and the
/// stacks of scan outputs.
class ScanLoop {
public:
  ScanLoop(NodeContext &node, const ScanForm &scan)
      : node(node), scan(scan),
        length(node.dim(scan.values[scan.carried], scan.inputAxes[0])),
        gathered(scan.body.output_size() - scan.carried) {
    for (Value value : ArrayRef(scan.values).take_front(scan.carried))
      states.emplace_back(node, value);
  }

  /// The types of scan outputs and of loop-carried values follow only from
  /// importing the body; then it is imported again.
  LogicalResult build() {
    limit = scalarOf(node, node.extents({length}));
    if (!limit)
      return failure();
    for (;;) {
      Operation *holder = readBody();
      if (!holder)
        return failure();
      if (!isSettled) {
        node.erase(holder);
        continue;
      }
      SmallVector<Type> types = carriedTypes();
      Operation *loop = closeHolder(node, holder, types);
      return loop ? finish(loop) : failure();
    }
  }

private:
  SmallVector<Type> carriedTypes() const {
    SmallVector<Type> types = {RankedTensorType::get({}, node.i64())};
    for (const Carried &state : states)
      types.push_back(state.type);
    for (Value stack : stacks)
      types.push_back(stack.getType());
    return types;
  }

  /// The index along the scan axis of step \p number; counted from the end if
  /// \p isReversed.
  Value scanIndex(Value number, bool isReversed) {
    if (!isReversed)
      return number;
    Value last =
        node.binary<stablehlo::SubtractOp>(limit, node.scalar(node.i64(), 1));
    return node.binary<stablehlo::SubtractOp>(last, number);
  }

  /// Builds a loop with the body, or returns null. Sets `isSettled` if
  /// importing the body again would not change the types.
  Operation *readBody() {
    Values start = {node.scalar(node.i64(), 0)};
    for (const Carried &state : states)
      start.push_back(state.start);
    llvm::append_range(start, stacks);
    const SmallVector<Type> types = carriedTypes();
    const SmallVector<Location> locations(types.size(), node.location());
    Operation *holder =
        makeHolder(node, stablehlo::WhileOp::getOperationName(), start, types);
    Block &condition = holder->getRegion(0).emplaceBlock();
    condition.addArguments(types, locations);
    Region &region = holder->getRegion(1);
    Block &block = region.emplaceBlock();
    block.addArguments(types, locations);
    if (!fillCondition(condition))
      return nullptr;
    std::vector<Bound> inputs;
    for (auto [state, argument] :
         llvm::zip(states, block.getArguments().drop_front())) {
      state.mark(node.known(), argument);
      inputs.push_back(Bound(argument));
    }
    if (!takeElements(block, inputs))
      return nullptr;
    Values found;
    auto withNumber = [&](Values outputs) {
      found.assign(outputs.begin() + scan.carried, outputs.end());
      return returned(block, std::move(outputs));
    };
    if (!fillRegion(node, region, scan.body, inputs, withNumber))
      return nullptr;
    bool changed = false;
    if (!admitAll(node, states,
                  block.getTerminator()->getOperands().slice(1, states.size()),
                  changed))
      return nullptr;
    isSettled = !changed && stacks.size() == found.size();
    if (!isSettled && !startStacks(holder, found))
      return nullptr;
    return holder;
  }

  bool fillCondition(Block &block) {
    OpBuilder::InsertionGuard guard(node.builder());
    node.builder().setInsertionPointToStart(&block);
    Value goOn = node.compare(block.getArgument(0), limit,
                              stablehlo::ComparisonDirection::LT);
    if (goOn)
      node.builder().create<stablehlo::ReturnOp>(node.location(), goOn);
    return goOn != nullptr;
  }

  bool takeElements(Block &block, std::vector<Bound> &inputs) {
    OpBuilder::InsertionGuard guard(node.builder());
    node.builder().setInsertionPointToStart(&block);
    for (auto [i, value] :
         llvm::enumerate(ArrayRef(scan.values).drop_front(scan.carried))) {
      Value place =
          scanIndex(block.getArgument(0), scan.inputDirections[i] != 0);
      inputs.push_back(Bound(node.op<nn::TakeOp>(
          value, place, static_cast<uint64_t>(scan.inputAxes[i]))));
    }
    return !node.failed();
  }

  /// The values that the body passes to the next step.
  Values returned(Block &block, Values outputs) {
    Values next = {node.binary<stablehlo::AddOp>(block.getArgument(0),
                                                 node.scalar(node.i64(), 1))};
    next.append(outputs.begin(), outputs.begin() + scan.carried);
    for (size_t i = 0; i < stacks.size(); ++i) {
      Value element = node.unsqueeze(outputs[scan.carried + i], {0});
      Values at(node.rank(element), node.scalar(node.i64(), 0));
      at[0] = scanIndex(block.getArgument(0), scan.outputDirections[i] != 0);
      next.push_back(node.op<stablehlo::DynamicUpdateSliceOp>(
          block.getArgument(1 + scan.carried + i), element, at));
    }
    return next;
  }

  /// Makes stacks for values like \p found, one per step, before \p holder.
  bool startStacks(Operation *holder, ArrayRef<Value> found) {
    OpBuilder::InsertionGuard guard(node.builder());
    node.builder().setInsertionPoint(holder);
    stacks.clear();
    for (Value value : found) {
      Value stack = stackBefore(node, value, length, scan.values);
      if (!stack) {
        node.unknown("it gathers values of sizes that are computed, and the "
                     "number of steps is known only at run time");
        return false;
      }
      stacks.push_back(stack);
    }
    return !node.failed();
  }

  LogicalResult finish(Operation *loop) {
    Values results(loop->getResults().drop_front());
    for (auto [state, result] : llvm::zip(states, results))
      state.mark(node.known(), result);
    for (int64_t i = 0; i < gathered; ++i) {
      Value &result = results[scan.carried + i];
      const auto axis = node.axis(scan.outputAxes[i], node.rank(result));
      if (!axis)
        return failure();
      for (int64_t dim = 0; dim < node.rank(result); ++dim)
        if (const auto size = node.known().sizeOf(stacks[i], dim);
            !size.isInteger())
          node.known().setSymbol(result, dim, size.value);
      if (*axis == 0)
        continue;
      Ints order;
      for (int64_t dim = 1; dim < node.rank(result); ++dim)
        order.push_back(dim);
      order.insert(order.begin() + *axis, 0);
      result = node.transpose(result, order);
    }
    return node.results(results);
  }

  NodeContext &node;
  const ScanForm &scan;
  /// The number of steps.
  Dim length;
  Value limit;
  int64_t gathered;
  std::vector<Carried> states;
  Values stacks;
  bool isSettled = false;
};

} // namespace

LogicalResult scanLoop(NodeContext &node, const ScanForm &scan) {
  return ScanLoop(node, scan).build();
}

} // namespace sinter::onnx
