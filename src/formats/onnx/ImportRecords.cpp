//===- ImportRecords.cpp - records of a file's nodes ----------------------===//
//
// What a writer needs to give a node back (NodeGroups.h), and which nodes
// passes leave alone (passes/Groups.h). A node that cannot be translated yet
// becomes nn.deferred, with its record.
//
//===----------------------------------------------------------------------===//

#include "formats/WireReader.h"
#include "formats/onnx/DynamicTypes.h"
#include "formats/onnx/Importer.h"
#include "formats/onnx/NodeContext.h"
#include "formats/onnx/NodeGroups.h"
#include "formats/onnx/Operators.h"
#include "formats/onnx/file/Domain.h"
#include "formats/onnx/file/Headers.h"
#include "formats/onnx/file/NestedGraphs.h"
#include "formats/onnx/file/TensorData.h"
#include "graph/Constants.h"
#include "graph/SizeSources.h"
#include "graph/nn/NnDeferred.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace sinter::onnx {

/// A copy of \p node without its attributes.
static NodeProto withoutAttributes(const NodeProto &node) {
  NodeProto copy;
  copy.set_op_type(node.op_type());
  if (node.has_domain())
    copy.set_domain(node.domain());
  if (node.has_overload())
    copy.set_overload(node.overload());
  copyHeader(node, copy);
  *copy.mutable_input() = node.input();
  *copy.mutable_output() = node.output();
  *copy.mutable_device_configurations() = node.device_configurations();
  return copy;
}

/// Copies the metadata of \p graph and its tensors without its nodes, except
/// Identity nodes that give outputs, which become plain values in the graph
/// language.
static void setShell(GraphProto &shell, const GraphProto &graph) {
  copyHeader(graph, shell);
  *shell.mutable_input() = graph.input();
  *shell.mutable_output() = graph.output();
  *shell.mutable_value_info() = graph.value_info();
  llvm::StringSet<> outputs;
  for (const ValueInfoProto &output : graph.output())
    outputs.insert(output.name());
  for (const NodeProto &node : graph.node())
    if (node.op_type() == "Identity" && isStandardDomain(node.domain()) &&
        node.output_size() == 1 && outputs.contains(node.output(0)))
      *shell.add_node() = withoutAttributes(node);
}

/// Whether the data of \p tensor, which stands in the file, could be put into
/// the message.
static bool takeData(TensorProto &tensor, const DataSource &source) {
  std::string fields;
  for (const TensorProto::Payload &payload : tensor.payload()) {
    const auto bytes = source.file.bytes;
    if (payload.offset() > bytes.size() ||
        payload.size() > bytes.size() - payload.offset())
      return false;
    const auto data = bytes.subspan(payload.offset(), payload.size());
    appendTag(fields, payload.field(), WireType::Bytes);
    appendVarint(fields, data.size());
    fields.append(reinterpret_cast<const char *>(data.data()), data.size());
  }
  tensor.clear_payload();
  return tensor.MergeFromString(fields);
}

/// The node with attribute references to its function resolved; its graphs
/// without their nodes, which have records of their own. Empty if it cannot be
/// given back. What attributes of other operators hold are weights, constants
/// of the graph; the tables of classical models are there only.
static std::string serialize(const NodeProto &node, const Frame &frame,
                             const DataSource &source) {
  NodeProto copy = withoutAttributes(node);
  const bool holdsTables = node.domain() == mlDomain;
  for (const AttributeProto &attribute : node.attribute()) {
    if (attribute.graphs_size() > 0 ||
        (attribute.t().payload_size() > 0 && !holdsTables) ||
        attribute.has_sparse_tensor() || attribute.tensors_size() > 0 ||
        attribute.sparse_tensors_size() > 0)
      return "";
    AttributeProto &kept = *copy.add_attribute();
    if (attribute.has_g()) {
      kept.set_name(attribute.name());
      kept.set_type(AttributeProto::GRAPH);
      if (attribute.has_doc_string())
        kept.set_doc_string(attribute.doc_string());
      setShell(*kept.mutable_g(), attribute.g());
      continue;
    }
    if (attribute.ref_attr_name().empty()) {
      kept = attribute;
      if (kept.t().payload_size() > 0 && !takeData(*kept.mutable_t(), source))
        return "";
      continue;
    }
    auto found = frame.attributes.find(attribute.ref_attr_name());
    if (found == frame.attributes.end() || found->second->has_g())
      return "";
    kept = *found->second;
    kept.set_name(attribute.name());
  }
  return copy.SerializePartialAsString();
}

/// Whether one of \p ops, made for \p node, holds all graphs of the node, each
/// with a distinct value for each input and output.
static bool holdsAllGraphs(const NodeProto &node, ArrayRef<Operation *> ops) {
  if (!hasGraph(node))
    return true;
  auto holder = llvm::find_if(ops, holdsGraphs);
  if (holder == ops.end())
    return false;
  const std::optional<int64_t> number = sourceOf(*holder);
  for (const AttributeProto &attribute : node.attribute()) {
    if (!attribute.has_g())
      continue;
    auto held = heldGraph(*holder, attribute.name());
    const GraphProto &graph = attribute.g();
    if (!held || held->block->getNumArguments() !=
                     static_cast<unsigned>(graph.input_size()))
      return false;
    ValueRange given(held->block->getTerminator()->getOperands());
    if (given.size() != held->firstOutput + graph.output_size())
      return false;
    for (Value value : given.drop_front(held->firstOutput))
      if (Operation *op = value.getDefiningOp(); op && sourceOf(op) == number)
        return false;
  }
  return true;
}

/// Whether ONNX operators broadcast implicitly what \p op broadcasts.
static bool isImplicitBroadcast(Operation *op) {
  return isa<stablehlo::BroadcastInDimOp, nn::BroadcastLikeOp>(op) &&
         llvm::none_of(op->getUsers(), [](Operation *user) {
           return isa<stablehlo::ReshapeOp>(user);
         });
}

/// Whether a node that became \p ops could only be written as several nodes
/// once they are changed.
static bool becomesSeveralNodes(ArrayRef<Operation *> ops) {
  return llvm::count_if(
             ops, [](Operation *op) { return !isImplicitBroadcast(op); }) > 1;
}

/// Erases dead ops in the regions of \p op now: passes would do it later and
/// change the group.
static void eraseDeadInside(Operation *op, KnownValues &known) {
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (Operation &inner :
           llvm::make_early_inc_range(llvm::reverse(block))) {
        eraseDeadInside(&inner, known);
        if (isOpTriviallyDead(&inner)) {
          known.forget(&inner);
          inner.erase();
        }
      }
}

/// Whether a node slices a tensor with bounds that are known only at run time:
/// decomposed, it would be many nodes.
static bool computesBounds(NodeContext &node) {
  if (node.opType() != "Slice" && node.opType() != "Split")
    return false;
  for (int64_t i = 1; i < node.inputCount(); ++i)
    if (Value bound = node.bound(i).value; bound && !node.knownIntegers(bound))
      return true;
  return false;
}

/// Whether the only dynamic dimension of \p result, that of a Reshape or
/// Flatten, follows from the element count: then it can be written as one node
/// again, whatever computes the size.
static bool isReshapeSetByCount(StringRef opType, Value result) {
  if (!result || (opType != "Reshape" && opType != "Flatten"))
    return false;
  return hasOneUnknown(tensorOf(result)) && isSetByCount(tensorOf(result));
}

/// Whether the reader consumed the values of inputs of a node, or the graphs of
/// one that stays whole, so that only what it made of them is left, as several
/// operations.
bool Importer::cannotBeGivenBack(const NodeContext &node, const Operator &op) {
  auto record = cast<DictionaryAttr>(nodeRecords[node.index]);
  return !record.contains("proto") &&
         (op.staysWhole || !hasGraph(node.proto)) &&
         becomesSeveralNodes(node.made) && !comesApart(op.name) &&
         !node.outputs.empty() &&
         !isReshapeSetByCount(op.name, node.outputs[0].value);
}

/// Adds the names that \p nodes and the graphs in them use.
static void addUsed(const google::protobuf::RepeatedPtrField<NodeProto> &nodes,
                    llvm::StringSet<> &names) {
  for (const NodeProto &node : nodes) {
    for (const std::string &input : node.input())
      names.insert(input);
    forEachGraph(node, [&](const GraphProto &graph) {
      addUsed(graph.node(), names);
      for (const ValueInfoProto &output : graph.output())
        names.insert(output.name());
    });
  }
}

bool Importer::isUsed(StringRef name) {
  if (!usedNames) {
    usedNames.emplace();
    const GraphProto &graph = file.model().graph();
    addUsed(graph.node(), *usedNames);
    for (const ValueInfoProto &output : graph.output())
      usedNames->insert(output.name());
    for (const FunctionProto &function : file.model().functions()) {
      addUsed(function.node(), *usedNames);
      for (const std::string &output : function.output())
        usedNames->insert(output);
    }
  }
  return usedNames->contains(name);
}

/// Erases dead ops that the translation of \p node made.
void Importer::eraseUnneeded(NodeContext &node) {
  llvm::SmallPtrSet<Operation *, 8> giving;
  for (auto [number, bound] : llvm::enumerate(node.outputs)) {
    // The translation returns all possible outputs of the operator.
    if (!node.wants(static_cast<int64_t>(number)))
      bound = Bound();
    // What nothing uses is not left for passes to remove, which would change
    // the group.
    else if (!isUsed(node.proto.output(static_cast<int>(number))))
      continue;
    if (bound.value)
      giving.insert(bound.value.getDefiningOp());
    for (Value each : bound.elements)
      giving.insert(each.getDefiningOp());
  }
  std::vector<Operation *> alive;
  llvm::DenseSet<Operation *> gone;
  llvm::DenseSet<Value> goneValues;
  for (Operation *op : llvm::reverse(node.made)) {
    if (gone.contains(op))
      continue;
    if (giving.contains(op) || !isOpTriviallyDead(op)) {
      alive.push_back(op);
      continue;
    }
    for (Bound &output : node.outputs)
      if (output.value && output.value.getDefiningOp() == op)
        output = Bound();
    op->walk([&](Operation *each) {
      gone.insert(each);
      goneValues.insert(each->result_begin(), each->result_end());
      for (Region &region : each->getRegions())
        goneValues.insert(region.args_begin(), region.args_end());
      known.forget(each);
    });
    op->erase();
  }
  // Nodes of the node's graphs came after it.
  const auto isGone = [&](Value value) { return goneValues.contains(value); };
  for (size_t i = node.index + 1; i < readNodes.size(); ++i)
    if (llvm::any_of(readNodes[i].inputs, isGone) ||
        llvm::any_of(readNodes[i].outputs, isGone))
      readNodes[i] = ReadNode();
  std::reverse(alive.begin(), alive.end());
  // Ops made for the nodes of a graph have records of their own.
  for (Operation *op : alive)
    if (!holdsGraphs(op))
      eraseDeadInside(op, known);
  node.made = std::move(alive);
}

/// The known value of an input that the reader consumed; null if the node's
/// operations use the input.
ElementsAttr Importer::usedUp(NodeContext &node, int64_t input) {
  Value value = node.bound(input).value;
  const bool isRead = llvm::any_of(node.made, [&](Operation *op) {
    return llvm::is_contained(op->getOperands(), value);
  });
  auto tensor = value && !isRead ? known.tensor(value) : std::nullopt;
  return tensor ? sinter::toAttribute(*tensor, node.proto.input(input),
                                      builder.getContext())
                : ElementsAttr();
}

void Importer::recordGroup(NodeContext &node, const Operator &op) {
  eraseUnneeded(node);
  // Ops in regions belong to the op that holds them.
  Block *block = builder.getInsertionBlock();
  std::vector<Operation *> group = node.made;
  llvm::erase_if(group, [&](Operation *op) { return op->getBlock() != block; });
  NodeRecord record;
  record.opType = node.proto.op_type();
  record.domain = node.proto.domain();
  record.name = cast<NameLoc>(node.location()).getName().str();
  record.version = node.version();
  record.ops = group;
  bool tensors = true;
  for (int64_t i = 0; i < node.inputCount(); ++i) {
    tensors &= !node.bound(i).isSequence();
    record.inputs.push_back(node.bound(i).value);
    record.known.push_back(usedUp(node, i));
  }
  for (int64_t i = 0; i < node.outputCount(); ++i) {
    const bool wanted = node.wants(i) &&
                        (node.outputs[i].value || isUsed(node.proto.output(i)));
    tensors &= !wanted || node.outputs[i].kind == Bound::Tensor;
    record.outputs.push_back(wanted ? node.outputs[i].value : Value());
  }
  const bool isGivenBack =
      mayGiveBack(record.domain, record.opType, record.version);
  if (tensors && isGivenBack && holdsAllGraphs(node.proto, group))
    record.node = serialize(node.proto, node.frame, file.source());
  auto entry = toAttribute(record, builder.getContext());
  nodeRecords[node.index] = entry;
  ReadNode &read = readNodes[node.index];
  read.opType = isStandardDomain(record.domain) ? record.opType : "";
  read.inputs.assign(record.inputs.begin(), record.inputs.end());
  read.outputs.assign(record.outputs.begin(), record.outputs.end());
  if (op.staysWhole && isGivenBack)
    lastingNodes.push_back(node.index);
  const bool isApart =
      (comesApart(record.opType) && !computesBounds(node)) ||
      (node.outputCount() == 1 &&
       isReshapeSetByCount(record.opType, node.outputs[0].value));
  if ((op.staysWhole && isGivenBack) ||
      (entry.contains("proto") && becomesSeveralNodes(node.made) && !isApart))
    wholeNodes.push_back(node.index);
}

/// Records the groups that passes leave alone.
void Importer::recordUnits() {
  SmallVector<Attribute> units;
  llvm::DenseSet<int64_t> taken;
  for (ArrayRef<int64_t> unit : findKnownForms(readNodes)) {
    units.push_back(builder.getDenseI64ArrayAttr(unit));
    taken.insert(unit.begin(), unit.end());
  }
  for (int64_t number : wholeNodes)
    if (!taken.contains(number))
      units.push_back(builder.getDenseI64ArrayAttr(number));
  (*module)->setAttr(wholeSourcesAttribute, builder.getArrayAttr(units));
  (*module)->setAttr(lastingSourcesAttribute,
                     builder.getDenseI64ArrayAttr(lastingNodes));
}

/// Makes one op for a node that lacks sizes or values, so that a writer can
/// give it back. If that is impossible, the node's error stays.
bool Importer::defer(NodeContext &node) {
  if (!mayGiveBack(node.domain(), node.opType(), node.version()))
    return false;
  if (hasGraph(node.proto) ||
      serialize(node.proto, node.frame, file.source()).empty())
    return false;
  Values inputs;
  for (int64_t i = 0; i < node.inputCount(); ++i) {
    const Bound &bound = node.bound(i);
    if (bound.isSequence())
      return false;
    if (bound.value)
      inputs.push_back(bound.value);
  }
  const formats::BuildError why = *node.problem;
  node.problem.reset();
  auto types = dynamicTypes(node);
  if (!types || node.failed()) {
    node.problem = why;
    return false;
  }
  OperationState state(node.location(), nn::DeferredOp::getOperationName());
  nn::DeferredOp::build(builder, state, TypeRange(*types), inputs,
                        node.proto.op_type(), why.reason, StringAttr(), 0);
  Operation *op = node.create(state);
  if (!op)
    return false;
  Values results(op->getResults());
  for (int64_t i = 0; i < node.outputCount(); ++i)
    if (!node.wants(i))
      results[i] = {};
  return succeeded(node.results(results));
}

} // namespace sinter::onnx
