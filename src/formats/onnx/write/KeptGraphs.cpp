// Nodes that are written as they were, and the graphs in them.

#include "formats/onnx/file/Domain.h"
#include "formats/onnx/file/Headers.h"
#include "formats/onnx/file/NestedGraphs.h"
#include "formats/onnx/write/GraphWriter.h"

using namespace mlir;

namespace sinter::onnx {

void GraphWriter::writeKept(const KeptNode &node, Value result,
                            const Name &bias) {
  SmallVector<Name> inputs;
  for (auto [i, input] : llvm::enumerate(node.node.inputs))
    inputs.push_back(input.value      ? name(input.value)
                     : input.constant ? constant(input.constant,
                                                 static_cast<int>(i) <
                                                         node.proto.input_size()
                                                     ? node.proto.input(i)
                                                     : "")
                                      : "");
  if (!bias.empty()) {
    inputs.resize(3);
    inputs[2] = bias;
  }
  NodeProto graphs;
  if (node.holder)
    writeGraphs(graphs, node);
  NodeProto &copy = *current->proto->add_node();
  copy = node.proto;
  if (node.holder)
    copy.mutable_attribute()->Swap(graphs.mutable_attribute());
  renameCaptured(copy, node);
  usesStandard |= isStandardDomain(copy.domain());
  copy.clear_input();
  copy.clear_output();
  // In its graph a node keeps its name; elsewhere the name has the prefix of
  // its origin.
  if (!copy.name().empty())
    copy.set_name(freshNodeName(
        current->proto == proto.mutable_graph() ? node.name : copy.name()));
  for (const Name &input : inputs)
    copy.add_input(input);
  for (auto [i, output] : llvm::enumerate(node.node.outputs)) {
    Name tensor;
    if (output) {
      Value value = result ? result : output;
      tensor = claim(value);
      names[value] = tensor;
      current->tensors.insert(tensor);
      if (!result && static_cast<int>(i) < node.proto.output_size() &&
          node.proto.output(i) == tensor)
        current->kept.insert(tensor);
    } else if (static_cast<int>(i) < node.proto.output_size() &&
               !node.proto.output(i).empty()) {
      // Nothing uses it, but the operator may require it.
      tensor = freshName(node.proto.output(i));
      current->tensors.insert(tensor);
    }
    copy.add_output(tensor);
  }
}

/// Renames the tensors that \p graph uses from outside to their current names.
static void renameIn(GraphProto &graph, llvm::StringMap<Name> renamed) {
  for (const ValueInfoProto &input : graph.input())
    renamed.erase(input.name());
  for (const TensorProto &tensor : graph.initializer())
    renamed.erase(tensor.name());
  for (const SparseTensorProto &tensor : graph.sparse_initializer())
    renamed.erase(tensor.values().name());
  for (const NodeProto &node : graph.node())
    for (const std::string &output : node.output())
      renamed.erase(output);
  if (renamed.empty())
    return;
  auto rename = [&](std::string &name) {
    if (auto found = renamed.find(name); found != renamed.end())
      name = found->second;
  };
  for (NodeProto &node : *graph.mutable_node()) {
    for (std::string &input : *node.mutable_input())
      rename(input);
    forEachGraph(node, [&](GraphProto &inner) { renameIn(inner, renamed); });
  }
  for (ValueInfoProto &output : *graph.mutable_output())
    rename(*output.mutable_name());
}

void GraphWriter::renameCaptured(NodeProto &node, const KeptNode &keptNode) {
  llvm::StringMap<Name> renamed;
  for (const auto &[before, value] : keptNode.node.captures)
    if (Name now = name(value); now != before)
      renamed[before] = now;
  if (renamed.empty())
    return;
  forEachGraph(node, [&](GraphProto &graph) { renameIn(graph, renamed); });
}

//===----------------------------------------------------------------------===//
// Nested graphs
//===----------------------------------------------------------------------===//

static void addInnerNames(const GraphProto &graph, InnerNames &names) {
  for (const ValueInfoProto &input : graph.input())
    names.tensors.push_back(input.name());
  for (const NodeProto &node : graph.node()) {
    names.nodes.push_back(node.name());
    names.tensors.insert(names.tensors.end(), node.output().begin(),
                         node.output().end());
    forEachGraph(node,
                 [&](const GraphProto &inner) { addInnerNames(inner, names); });
  }
}

InnerNames GraphWriter::release(const GraphProto &graph) {
  InnerNames names;
  addInnerNames(graph, names);
  for (const Name &name : names.tensors) {
    used.erase(name);
    nextNumbers.erase(name);
  }
  for (const Name &name : names.nodes) {
    usedNodes.erase(name);
    nextNodeNumbers.erase(name);
  }
  return names;
}

void GraphWriter::take(const InnerNames &names) {
  for (const Name &name : names.tensors)
    used.insert(name);
  for (const Name &name : names.nodes)
    usedNodes.insert(name);
}

void GraphWriter::addOutput(DynamicGraph &graph, Name tensor, Type type,
                            const ValueInfoProto *before,
                            const NodeProto *copy) {
  auto isNamed = [&](const ValueInfoProto &each) {
    return each.name() == tensor;
  };
  const bool wasInput = before && before->name() == tensor &&
                        llvm::any_of(graph.proto->input(), isNamed);
  if (llvm::any_of(graph.proto->output(), isNamed) ||
      (!wasInput && llvm::any_of(graph.proto->input(), isNamed)) ||
      !graph.tensors.contains(tensor)) {
    NodeProto &node = *graph.proto->add_node();
    usesStandard = true;
    if (copy) {
      node = *copy;
      node.clear_input();
      node.clear_output();
      if (!node.name().empty())
        node.set_name(freshNodeName(node.name()));
    } else {
      node.set_op_type("Identity");
      node.set_name(freshNodeName(tensor + "_copy"));
    }
    node.add_input(tensor);
    // The output's old name is free: no other tensor has it.
    const bool isFree =
        before && !before->name().empty() && used.insert(before->name()).second;
    tensor = isFree ? before->name() : freshName(tensor + "_copy");
    node.add_output(tensor);
    graph.tensors.insert(tensor);
  }
  describe(*graph.proto->add_output(), tensor, type, {}, before);
}

/// The current graph of \p holder in place of \p before, whose metadata are
/// kept.
GraphProto GraphWriter::writeGraph(const GraphProto &before, Operation *holder,
                                   const HeldGraph &held) {
  GraphProto graph;
  copyHeader(before, graph);
  DynamicGraph open{&graph, {}, {}};
  SmallVector<Name> arguments;
  for (auto [argument, input] :
       llvm::zip(held.block->getArguments(), before.input())) {
    arguments.push_back(claim(argument));
    open.tensors.insert(arguments.back());
    describe(*graph.add_input(), arguments.back(), argument.getType(), {},
             &input);
  }
  auto results = writeRegion(*held.block->getParent(), open, arguments);
  ValueRange given(held.block->getTerminator()->getOperands());
  llvm::StringMap<const NodeProto *> copies;
  for (const NodeProto &node : before.node())
    copies[node.output(0)] = &node;
  for (auto [tensor, value, output] :
       llvm::zip(ArrayRef(results).drop_front(held.firstOutput),
                 given.drop_front(held.firstOutput), before.output()))
    addOutput(open, tensor, value.getType(), &output,
              copies.lookup(output.name()));
  DynamicGraph *outer = std::exchange(current, &open);
  writeTensorInfos(before);
  current = outer;
  return graph;
}

/// Sets the attributes of \p node to those of \p kept, with the current graphs.
void GraphWriter::writeGraphs(NodeProto &node, const KeptNode &kept) {
  std::vector<InnerNames> beside;
  for (const AttributeProto &attribute : kept.proto.attribute()) {
    AttributeProto &copy = *node.add_attribute();
    copy = attribute;
    auto held = attribute.has_g() ? heldGraph(kept.holder, attribute.name())
                                  : std::nullopt;
    if (!held)
      continue;
    *copy.mutable_g() = writeGraph(attribute.g(), kept.holder, *held);
    beside.push_back(release(copy.g()));
  }
  for (const InnerNames &names : beside)
    take(names);
}

} // namespace sinter::onnx
