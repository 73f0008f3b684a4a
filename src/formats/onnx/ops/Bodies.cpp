#include "formats/onnx/ops/Bodies.h"

#include "graph/nn/NnDeferred.h"

using namespace mlir;

namespace sinter::onnx {

std::string innerPrefix(const NodeContext &node) {
  return cast<NameLoc>(node.location()).getName().str() + "/";
}

bool anyPoisoned(ArrayRef<Bound> values) {
  return llvm::any_of(
      values, [](const Bound &bound) { return bound.kind == Bound::Poisoned; });
}

std::optional<Values> tensorsOf(NodeContext &node, ArrayRef<Bound> bounds) {
  Values values;
  for (const Bound &bound : bounds) {
    if (bound.kind != Bound::Tensor)
      return node.unsupported("a nested graph gives something else than "
                              "tensors");
    values.push_back(bound.value);
  }
  return values;
}

bool fillRegion(NodeContext &node, Region &region,
                llvm::function_ref<std::optional<std::vector<Bound>>()> read,
                llvm::function_ref<Values(std::vector<Bound>)> select) {
  OpBuilder::InsertionGuard guard(node.builder());
  if (region.empty())
    region.emplaceBlock();
  node.builder().setInsertionPointToEnd(&region.front());
  auto outputs = read();
  if (!outputs)
    return false;
  if (anyPoisoned(*outputs)) {
    node.unsupported("its graph uses operators that are not supported");
    return false;
  }
  const Values values = select(std::move(*outputs));
  if (node.failed())
    return false;
  node.builder().create<stablehlo::ReturnOp>(node.location(), values);
  return true;
}

bool fillRegion(NodeContext &node, Region &region, const GraphProto &graph,
                ArrayRef<Bound> inputs,
                llvm::function_ref<Values(Values)> select) {
  auto read = [&] {
    return node.importer.importGraph(graph, node.frame, inputs,
                                     innerPrefix(node));
  };
  return fillRegion(node, region, read, [&](const std::vector<Bound> &outputs) {
    auto values = tensorsOf(node, outputs);
    return !values ? Values() : select ? select(*values) : *values;
  });
}

//===----------------------------------------------------------------------===//
// Deferred loops
//===----------------------------------------------------------------------===//

/// The types of a loop's results: loop-carried values, then scan outputs.
static std::optional<SmallVector<Type>> resultTypes(NodeContext &node,
                                                    const KeptLoop &loop,
                                                    ValueRange gathered,
                                                    int64_t rounds) {
  SmallVector<Type> types;
  for (const Carried &state : loop.states)
    types.push_back(state.type);
  for (auto [value, axis] : llvm::zip_equal(gathered, loop.axes)) {
    auto place = node.axis(axis, node.rank(value) + 1);
    if (!place)
      return std::nullopt;
    Ints shape(node.shape(value));
    shape.insert(shape.begin() + *place, rounds);
    types.push_back(node.tensorType(shape, node.element(value)));
  }
  return types;
}

/// The node without its graphs and with attribute references to its function
/// resolved.
static std::string withoutGraphs(NodeContext &node) {
  NodeProto proto;
  proto.set_op_type(node.proto.op_type());
  proto.set_domain(node.proto.domain());
  *proto.mutable_input() = node.proto.input();
  for (const AttributeProto &attribute : node.proto.attribute())
    if (const AttributeProto *found = node.attribute(attribute.name());
        found && !found->has_g()) {
      *proto.add_attribute() = *found;
      proto.mutable_attribute()->rbegin()->set_name(attribute.name());
    }
  return proto.SerializePartialAsString();
}

LogicalResult keepLoop(NodeContext &node, KeptLoop loop, StringRef reason) {
  KnownValues &known = node.known();
  auto name = nn::DeferredOp::getOperationName();
  for (;;) {
    Operation *holder = makeHolder(node, name, loop.operands, {});
    Region &region = holder->getRegion(0);
    Block &block = region.emplaceBlock();
    SmallVector<Type> types = loop.before;
    for (const Carried &state : loop.states)
      types.push_back(state.type);
    llvm::append_range(types, loop.after);
    block.addArguments(types,
                       SmallVector<Location>(types.size(), node.location()));
    std::vector<Bound> inputs(block.args_begin(), block.args_end());
    for (auto [state, argument] : llvm::zip(
             loop.states, block.getArguments().drop_front(loop.before.size())))
      state.mark(known, argument);
    if (!fillRegion(node, region, loop.body, inputs))
      return failure();
    ValueRange given(block.getTerminator()->getOperands());
    given = given.drop_front(loop.given);
    bool changed = false;
    if (!admitAll(node, loop.states, given.take_front(loop.states.size()),
                  changed))
      return failure();
    if (changed) {
      node.erase(holder);
      continue;
    }
    // A body that returns its condition argument, or true, never stops.
    Value goesOn = loop.given ? block.getTerminator()->getOperand(0) : Value();
    auto condition = node.knownIntegers(goesOn);
    const bool isCounted =
        loop.rounds && goesOn &&
        (goesOn == block.getArgument(1) ||
         (condition && condition->size() == 1 && condition->front() != 0));
    auto results = resultTypes(node, loop, given.drop_front(loop.states.size()),
                               isCounted ? *loop.rounds : ShapedType::kDynamic);
    if (!results)
      return failure();
    OperationState state(node.location(), name);
    nn::DeferredOp::build(node.builder(), state, *results, loop.operands,
                          node.opType(), reason,
                          node.builder().getStringAttr(withoutGraphs(node)), 1);
    state.regions[0]->takeBody(region);
    holder->erase();
    Operation *op = node.create(state);
    if (!op)
      return failure();
    for (auto [carried, result] : llvm::zip(loop.states, op->getResults()))
      carried.mark(known, result);
    Values values(op->getResults());
    for (auto [i, value] : llvm::enumerate(values))
      if (!node.wants(i))
        value = {};
    return node.results(values);
  }
}

} // namespace sinter::onnx
