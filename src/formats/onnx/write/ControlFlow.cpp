// Branches and loops, and calls, which are inlined.

#include "formats/onnx/write/WriterRules.h"
#include "graph/nn/NnDeferred.h"
#include "graph/stablehlo/StablehloOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace sinter::onnx {

/// Adds a node with graphs, whose outputs are the op's results, or a new tensor
/// for each.
static NodeProto &addNode(NodeWriter &e, StringRef opType,
                          ArrayRef<Name> inputs) {
  NodeProto &node = e.writer.addNode(opType);
  node.set_name(e.writer.freshNodeName(originOf(e.op)));
  for (const Name &input : inputs)
    node.add_input(input);
  return node;
}

static void setGraph(NodeProto &node, const char *name, GraphProto graph) {
  AttributeProto &attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(AttributeProto::GRAPH);
  *attribute.mutable_g() = std::move(graph);
}

/// A region as the graph of a branch.
static GraphProto branch(NodeWriter &e, Region &region, StringRef name) {
  GraphProto proto;
  proto.set_name(e.writer.freshNodeName(originOf(e.op) + "_" + name.str()));
  DynamicGraph graph{&proto, {}, {}};
  auto results = e.writer.writeRegion(region, graph, {});
  Operation *terminator = region.front().getTerminator();
  for (auto [tensor, value] : llvm::zip(results, terminator->getOperands()))
    e.writer.addOutput(graph, tensor, value.getType());
  return proto;
}

static LogicalResult writeIf(NodeWriter &e, stablehlo::IfOp op) {
  Name condition = e.operand(op.getPred());
  GraphProto yes = branch(e, op.getTrueBranch(), "then");
  const InnerNames beside = e.writer.release(yes);
  GraphProto no = branch(e, op.getFalseBranch(), "else");
  e.writer.take(beside);
  NodeProto &node = addNode(e, "If", {condition});
  setGraph(node, "then_branch", std::move(yes));
  setGraph(node, "else_branch", std::move(no));
  e.nameResults(node);
  return success();
}

/// An If for each branch but the last, which is the default.
static LogicalResult writeCase(NodeWriter &e, stablehlo::CaseOp op) {
  Name index = e.operand(op.getIndex());
  Type i32 = elementOf(op.getIndex());
  size_t count = op.getBranches().size();
  if (count == 1) {
    auto results =
        e.writer.writeRegion(op.getBranches()[0], e.writer.graph(), {});
    for (auto [i, tensor] : llvm::enumerate(results))
      if (failed(e.alias(tensor, i)))
        return failure();
    return success();
  }
  Names conditions;
  for (size_t i = 0; i + 1 < count; ++i)
    conditions.push_back(
        e.make("Equal", {index, e.scalar(i32, static_cast<double>(i))}));
  GraphProto rest = branch(e, op.getBranches()[count - 1], "branch");
  for (size_t i = count - 1; i-- > 0;) {
    GraphProto yes = branch(e, op.getBranches()[i], "branch");
    GraphProto outer;
    outer.set_name(e.writer.freshNodeName(originOf(op) + "_branches"));
    bool isLast = i == 0;
    NodeProto &node =
        isLast ? addNode(e, "If", {conditions[i]}) : *outer.add_node();
    if (!isLast) {
      node.set_op_type("If");
      node.set_name(e.writer.freshNodeName(originOf(op)));
      node.add_input(conditions[i]);
    }
    setGraph(node, "then_branch", std::move(yes));
    setGraph(node, "else_branch", std::move(rest));
    if (isLast) {
      e.nameResults(node);
      break;
    }
    for (Value value : op.getResults()) {
      Name name = e.writer.freshName(originOf(op) + "_output");
      node.add_output(name);
      e.writer.describe(*outer.add_output(), name, value.getType());
    }
    rest = std::move(outer);
  }
  return success();
}

/// The condition is computed before the loop, and at the end of its body for
/// the next iteration.
static LogicalResult writeWhile(NodeWriter &e, stablehlo::WhileOp op) {
  Names initial = e.operands();
  Type i64 = IntegerType::get(op.getContext(), 64);
  Type i1 = IntegerType::get(op.getContext(), 1);
  auto first = e.writer.writeRegion(op.getCond(), e.writer.graph(), initial);
  GraphProto body;
  body.set_name(e.writer.freshNodeName(originOf(op) + "_body"));
  DynamicGraph graph{&body, {}, {}};
  auto addInput = [&](StringRef wanted, Type type) {
    Name name = e.writer.freshName(wanted);
    e.writer.describe(*body.add_input(), name, type);
    graph.tensors.insert(name);
    return name;
  };
  std::string origin = originOf(op);
  addInput(origin + "_round", RankedTensorType::get({}, i64));
  addInput(origin + "_condition", RankedTensorType::get({}, i1));
  Names carried;
  for (Value value : op.getBody().front().getArguments())
    carried.push_back(addInput(origin + "_carried", value.getType()));
  auto results = e.writer.writeRegion(op.getBody(), graph, carried);
  auto next = e.writer.writeRegion(op.getCond(), graph, results);
  e.writer.addOutput(graph, next.front(), RankedTensorType::get({}, i1));
  for (auto [tensor, value] : llvm::zip(results, op.getResults()))
    e.writer.addOutput(graph, tensor, value.getType());
  Names inputs = {"", first.front()};
  inputs.append(initial);
  NodeProto &node = addNode(e, "Loop", inputs);
  setGraph(node, "body", std::move(body));
  e.nameResults(node);
  return success();
}

/// A deferred node: its graphs are written again. One without graphs is given
/// back whole or not at all.
static LogicalResult writeDeferred(NodeWriter &e, nn::DeferredOp op) {
  NodeProto kept;
  if (!op.getNode() ||
      !kept.ParsePartialFromArray(op.getNode()->data(), op.getNode()->size()))
    return e.unsupported("for '" + op.getKind().str() + "', because " +
                         op.getReason().str());
  Names operands = e.operands();
  std::string origin = originOf(op);
  GraphProto body;
  body.set_name(e.writer.freshNodeName(origin + "_body"));
  DynamicGraph graph{&body, {}, {}};
  Block &block = op.getBodies().front().front();
  Names arguments;
  for (Value argument : block.getArguments()) {
    Name name = e.writer.freshName(origin + "_input");
    e.writer.describe(*body.add_input(), name, argument.getType());
    graph.tensors.insert(name);
    arguments.push_back(name);
  }
  auto results = e.writer.writeRegion(op.getBodies().front(), graph, arguments);
  for (auto [tensor, value] :
       llvm::zip(results, block.getTerminator()->getOperands()))
    e.writer.addOutput(graph, tensor, value.getType());
  Names inputs;
  size_t next = 0;
  for (const std::string &input : kept.input())
    inputs.push_back(
        input.empty() || next == operands.size() ? Name() : operands[next++]);
  NodeProto &node = addNode(e, op.getKind(), inputs);
  node.set_domain(kept.domain());
  *node.mutable_attribute() = kept.attribute();
  setGraph(node, "body", std::move(body));
  e.nameResults(node);
  return success();
}

static LogicalResult writeCall(NodeWriter &e, func::CallOp op) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      op, op.getCalleeAttr());
  if (!callee || callee.isExternal() || !callee.getBody().hasOneBlock())
    return e.unsupported("of a function without a body");
  auto results =
      e.writer.writeRegion(callee.getBody(), e.writer.graph(), e.operands());
  for (auto [i, tensor] : llvm::enumerate(results))
    if (failed(e.alias(tensor, i)))
      return failure();
  return success();
}

WriterRules controlFlowRules() {
  static const WriterRule rules[] = {
      writerRule<writeIf>(), writerRule<writeCase>(), writerRule<writeWhile>(),
      writerRule<writeDeferred>(), writerRule<writeCall>()};
  return rules;
}

} // namespace sinter::onnx
