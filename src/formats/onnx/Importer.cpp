#include "formats/onnx/Importer.h"

#include "formats/onnx/NodeContext.h"
#include "formats/onnx/NodeGroups.h"
#include "formats/onnx/OpenTypes.h"
#include "formats/onnx/Operators.h"
#include "formats/onnx/file/DataTypes.h"
#include "formats/onnx/file/ModelCheck.h"
#include "graph/Constants.h"
#include "graph/nn/NnDeferred.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;

namespace sinter::onnx {

/// Nodes that are translated at most, unrolled loops included.
static constexpr int64_t mostNodes = 1'000'000;

Importer::Importer(OnnxFile file, const ReadOptions &options,
                   std::shared_ptr<MLIRContext> context)
    : file(std::move(file)), options(options), contextOwner(std::move(context)),
      builder(contextOwner.get()), reported(contextOwner.get()) {}

static std::string domainName(StringRef domain) {
  return domain == "ai.onnx" ? "" : domain.str();
}

/// Models of later versions of the operators of ai.onnx are refused, since what
/// their operators mean is not known.
static constexpr int64_t newestOpset = 28;

template <typename Imports>
static std::map<std::string, int64_t> opsetsOf(const Imports &imports) {
  std::map<std::string, int64_t> opsets;
  for (const OperatorSetIdProto &each : imports) {
    int64_t &version = opsets[domainName(each.domain())];
    version = std::max(version, each.version());
  }
  return opsets;
}

std::string Importer::takeDiagnostic() {
  std::string text = reported.take();
  return text.empty() ? "not valid" : text;
}

Result<Model> Importer::run() {
  MLIRContext *context = contextOwner.get();
  const GraphProto &graph = file.model().graph();
  Location location = NameLoc::get(builder.getStringAttr(
      oneLine(graph.name().empty() ? "graph" : graph.name())));
  module = ModuleOp::create(location);
  builder.setInsertionPointToEnd(module->getBody());
  auto function = builder.create<func::FuncOp>(
      location, entryName, FunctionType::get(context, {}, {}));
  entryBlock = function.addEntryBlock();
  builder.setInsertionPointToEnd(entryBlock);

  opsets = opsetsOf(file.model().opset_import());
  if (auto standard = opsets.find("");
      standard != opsets.end() && standard->second > newestOpset)
    return unsupported(file.name() + ": operator set " +
                       std::to_string(standard->second) +
                       " is newer than the newest that is known, " +
                       std::to_string(newestOpset));
  Frame frame;
  frame.opsets = &opsets;
  bindInitializers(graph, frame);
  if (auto done = bindInputs(graph, frame, function); !done)
    return done.takeError();
  importNodes(graph.node(), frame);
  if (firstError)
    return *firstError;
  if (!unsupportedNodes.empty())
    return unsupportedError();
  if (auto done = bindOutputs(graph, frame, function); !done)
    return done.takeError();

  recordUnits();
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*entryBlock)))
    if (isOpTriviallyDead(&op)) {
      known.forget(&op);
      op.erase();
    }
  NamedAttrList versions;
  for (const auto &[domain, version] : opsets)
    versions.set(domain.empty() ? "ai.onnx" : domain,
                 builder.getI64IntegerAttr(version));
  (*module)->setAttr(opsetsAttribute, versions.getDictionary(context));
  (*module)->setAttr(nodesAttribute, builder.getArrayAttr(nodeRecords));
  (*module)->setAttr(headerAttribute, headerAttr());
  if (ArrayAttr lines = notesAttr(); !lines.empty())
    (*module)->setAttr(notesAttribute, lines);
  Model model(contextOwner, std::move(module));
  model.path = file.name();
  return model;
}

//===----------------------------------------------------------------------===//
// Initialisers and names
//===----------------------------------------------------------------------===//

void Importer::bindInitializers(const GraphProto &graph, Frame &frame) {
  for (const TensorProto &tensor : graph.initializer())
    frame.initializers[tensor.name()] = &tensor;
  for (const SparseTensorProto &tensor : graph.sparse_initializer())
    frame.sparseInitializers[tensor.values().name()] = &tensor;
}

Value Importer::makeInitializer(const class sinter::Tensor &tensor,
                                StringRef name) {
  OpBuilder::InsertionGuard guard(builder);
  if (lastInitializer)
    builder.setInsertionPointAfter(lastInitializer);
  else
    builder.setInsertionPointToStart(entryBlock);
  Value value = makeConstant(
      builder, NameLoc::get(builder.getStringAttr(oneLine(name.str()))), tensor,
      name);
  lastInitializer = value.getDefiningOp();
  return value;
}

const Bound *Importer::lookup(Frame &frame, StringRef name) {
  for (Frame *each = &frame; each; each = each->parent) {
    auto found = each->values.find(name);
    if (found != each->values.end())
      return &found->second;
    auto dense = each->initializers.find(name);
    auto sparse = each->sparseInitializers.find(name);
    if (dense == each->initializers.end() &&
        sparse == each->sparseInitializers.end())
      continue;
    auto tensor = dense != each->initializers.end()
                      ? file.tensorOf(*dense->second)
                      : file.tensorOf(*sparse->second);
    Bound bound = Bound::poisoned();
    if (tensor)
      bound = Bound(makeInitializer(*tensor, name));
    else if (!firstError)
      firstError = tensor.takeError();
    return &(each->values[name] = bound);
  }
  return nullptr;
}

const TypeProto *Importer::declaredType(StringRef name) {
  if (!declaredTypes) {
    const GraphProto &graph = file.model().graph();
    declaredTypes.emplace();
    for (const auto *list : {&graph.value_info(), &graph.output()})
      for (const ValueInfoProto &info : *list)
        if (info.has_type())
          (*declaredTypes)[info.name()] = &info.type();
  }
  return declaredTypes->lookup(name);
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

std::optional<int64_t> Importer::versionOf(const Frame &frame,
                                           StringRef domain) {
  auto found = frame.opsets->find(domainName(domain));
  if (found == frame.opsets->end())
    return std::nullopt;
  return found->second;
}

void Importer::addUnsupported(const NodeProto &node, const Frame &frame,
                              int64_t version, const std::string &reason) {
  std::string domain = node.domain().empty() ? "ai.onnx" : node.domain();
  std::string what = oneLine(node.op_type()) + " (" + oneLine(domain) + " " +
                     std::to_string(version) + ")";
  Unsupported &entry =
      unsupportedNodes[reason.empty() ? what : what + ": " + reason];
  if (entry.count++ == 0)
    entry.first = frame.prefix + describe(node);
}

Error Importer::unsupportedError() const {
  std::string text = file.name() + ": unsupported: ";
  bool first = true;
  for (const auto &[what, entry] : unsupportedNodes) {
    text += first ? "" : "; ";
    text += std::to_string(entry.count) + " x " + what +
            (entry.count > 1 ? ", first at " : ", at ") + entry.first;
    first = false;
  }
  return unsupported(text);
}

void Importer::poison(const NodeProto &node, Frame &frame) {
  for (const std::string &output : node.output())
    if (!output.empty())
      frame.values[output] = Bound::poisoned();
}

void Importer::importNodes(
    const google::protobuf::RepeatedPtrField<NodeProto> &nodes, Frame &frame) {
  for (const NodeProto &node : nodes) {
    if (firstError)
      return;
    importNode(node, frame);
  }
}

/// The node with the attributes of the function that it stands in.
static std::string serialize(NodeProto node, const Frame &frame) {
  for (AttributeProto &attribute : *node.mutable_attribute()) {
    if (attribute.has_g() || attribute.graphs_size() > 0 ||
        attribute.t().payload_size() > 0 || attribute.has_sparse_tensor() ||
        attribute.tensors_size() > 0 || attribute.sparse_tensors_size() > 0)
      return "";
    if (attribute.ref_attr_name().empty())
      continue;
    auto found = frame.attributes.find(attribute.ref_attr_name());
    std::string name = attribute.name();
    if (found == frame.attributes.end())
      return "";
    attribute = *found->second;
    attribute.set_name(name);
  }
  return node.SerializePartialAsString();
}

/// Whether ONNX broadcasts the operands of what reads the result of \p op.
static bool isImplied(Operation *op) {
  return isa<stablehlo::BroadcastInDimOp, nn::BroadcastLikeOp>(op) &&
         llvm::none_of(op->getUsers(), [](Operation *user) {
           return isa<stablehlo::ReshapeOp>(user);
         });
}

/// Whether a node that became \p ops could only be written as several, once
/// they are no longer what they were.
static bool isSeveral(ArrayRef<Operation *> ops) {
  return llvm::count_if(ops, [](Operation *op) { return !isImplied(op); }) > 1;
}

/// Passes would, and then the group were not what it was.
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

/// Whether the reader used values of a node's inputs up, so that only what it
/// made of them is left, and that is several operations.
bool Importer::cannotBeGivenBack(const NodeContext &node, const Operator &op) {
  auto record = cast<DictionaryAttr>(nodeRecords[node.index]);
  const bool hasGraph =
      llvm::any_of(node.proto.attribute(), [](const AttributeProto &each) {
        return each.has_g() || each.graphs_size() > 0;
      });
  return !record.contains("proto") && !hasGraph && isSeveral(node.ops) &&
         !comesApart(op.name);
}

void Importer::recordGroup(NodeContext &node, const Operator &op) {
  llvm::SmallPtrSet<Operation *, 8> giving;
  for (const Bound &bound : node.outputs) {
    if (bound.value)
      giving.insert(bound.value.getDefiningOp());
    for (Value each : bound.elements)
      giving.insert(each.getDefiningOp());
  }
  // Helpers make ops that turn out not to be needed.
  std::vector<Operation *> alive;
  for (Operation *op : llvm::reverse(node.ops)) {
    if (!giving.contains(op) && isOpTriviallyDead(op)) {
      known.forget(op);
      op->erase();
    } else {
      alive.push_back(op);
    }
  }
  std::reverse(alive.begin(), alive.end());
  for (Operation *op : alive)
    eraseDeadInside(op, known);
  node.ops = alive;
  NodeRecord record;
  record.opType = node.proto.op_type();
  record.domain = node.proto.domain();
  record.name = cast<NameLoc>(node.location()).getName().str();
  record.version = node.version();
  record.ops = alive;
  bool tensors = true;
  for (int64_t i = 0; i < node.inputCount(); ++i) {
    const Bound &bound = node.bound(i);
    tensors &= bound.kind != Bound::Sequence;
    record.inputs.push_back(bound.value);
    ElementsAttr attribute;
    if (bound.value && !llvm::any_of(alive, [&](Operation *op) {
          return llvm::is_contained(op->getOperands(), bound.value);
        }))
      if (auto tensor = known.tensor(bound.value))
        attribute = sinter::toAttribute(*tensor, node.proto.input(i),
                                        builder.getContext());
    record.known.push_back(attribute);
  }
  for (int64_t i = 0; i < node.outputCount(); ++i) {
    bool wanted = node.wants(i);
    tensors &= !wanted || node.outputs[i].kind == Bound::Tensor;
    record.outputs.push_back(wanted ? node.outputs[i].value : Value());
  }
  if (tensors)
    record.proto = serialize(node.proto, node.frame);
  auto entry = toAttribute(record, builder.getContext());
  nodeRecords[node.index] = entry;
  ReadNode &read = readNodes[node.index];
  read.opType = domainName(record.domain).empty() ? record.opType : "";
  read.inputs.assign(record.inputs.begin(), record.inputs.end());
  read.outputs.assign(record.outputs.begin(), record.outputs.end());
  if (op.staysWhole)
    lastingNodes.push_back(node.index);
  if (op.staysWhole || (entry.contains("proto") && isSeveral(alive) &&
                        !comesApart(record.opType)))
    wholeNodes.push_back(node.index);
}

/// Writes down what passes leave alone.
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
  (*module)->setAttr(wholeNodesAttribute, builder.getArrayAttr(units));
  (*module)->setAttr(lastingNodesAttribute,
                     builder.getDenseI64ArrayAttr(lastingNodes));
}

/// Makes one op of a node that lacks sizes or values, so that a writer can give
/// it back. The node's error stays where that cannot be.
bool Importer::defer(NodeContext &node) {
  if (serialize(node.proto, node.frame).empty())
    return false;
  Values inputs;
  for (int64_t i = 0; i < node.inputCount(); ++i) {
    const Bound &bound = node.bound(i);
    if (bound.kind == Bound::Sequence)
      return false;
    if (bound.value)
      inputs.push_back(bound.value);
  }
  const ErrorInNode why = *node.error;
  node.error.reset();
  auto types = openTypes(node);
  if (!types || node.failed()) {
    node.error = why;
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

void Importer::importNode(const NodeProto &node, Frame &frame) {
  auto version = versionOf(frame, node.domain());
  auto invalid = [&](const std::string &reason) {
    firstError = invalidModel(file.name() + ": " + frame.prefix +
                              describe(node) + ": " + reason);
  };
  if (++nodeCount > mostNodes)
    return invalid("more than " + std::to_string(mostNodes) +
                   " nodes once loops and functions are written out");
  SmallVector<Bound> inputs;
  bool poisoned = false, readsKept = false;
  for (const std::string &name : node.input()) {
    if (name.empty()) {
      inputs.push_back(Bound());
      continue;
    }
    const Bound *bound = lookup(frame, name);
    if (firstError)
      return;
    if (!bound)
      return invalid("input '" + oneLine(name) + "' is not defined");
    poisoned |= bound->kind == Bound::Poisoned;
    readsKept |= bound->kind == Bound::Kept;
    inputs.push_back(*bound);
  }
  auto refuse = [&](const std::string &reason) {
    if (mayKeep(frame) && keepNode(node, frame, inputs, {}, false, reason))
      return;
    addUnsupported(node, frame, version.value_or(0), reason);
    poison(node, frame);
  };
  if (readsKept)
    return refuse("reads what a node gives that is kept as it is");
  if (const FunctionProto *function =
          findFunction(node.domain(), node.op_type(), node.overload()))
    return poisoned ? poison(node, frame)
                    : importCall(node, *function, frame, inputs);
  const Operator *op = findOperator(domainName(node.domain()), node.op_type());
  if (!version)
    return op ? invalid(
                    "the model does not import the operator set of domain '" +
                    oneLine(node.domain()) + "'")
              : refuse("the operator is not known");
  if (!op)
    return refuse("the operator is not known");
  if (*version < op->since)
    return refuse("only version " + std::to_string(op->since) +
                  " and newer are known");
  if (poisoned)
    return poison(node, frame);
  translate(node, frame, inputs, *version, *op);
}

/// Operators whose graph is written out when it is read: a file is better off
/// with the node.
static bool isWrittenOut(const Operator &op) {
  return op.name == "Scan" || op.name == "SequenceMap";
}

void Importer::translate(const NodeProto &node, Frame &frame,
                         ArrayRef<Bound> inputs, int64_t version,
                         const Operator &op) {
  const Checkpoint before = checkpoint();
  const bool keeps = mayKeep(frame);
  hasDrawn &= !keeps;
  NodeContext context(*this, frame, node, version, nodeRecords.size());
  nodeRecords.push_back(builder.getDictionaryAttr({}));
  readNodes.emplace_back();
  reported.take();
  if (context.inputCount() > op.maxInputs)
    context.fail("has " + Twine(context.inputCount()) + " inputs, at most " +
                 Twine(op.maxInputs) + " are allowed");
  for (auto [i, input] : llvm::enumerate(inputs)) {
    if (input.kind == Bound::Sequence && !op.takesAnyValue)
      context.fail("input " + Twine(i) + " is a sequence, not a tensor");
  }
  for (int i = 0; i < op.minInputs; ++i) {
    bool listed = i < node.input_size() && !node.input(i).empty();
    if (!listed || (!op.takesAnyValue && !context.has(i)))
      context.fail("input " + Twine(i) + " is missing");
  }
  bool done = !context.failed() && succeeded(op.import(context));
  if (firstError)
    return;
  if (context.error && context.error->waits && options.keepsUnknown)
    done = defer(context);
  const bool isUnsupported = unsupportedNodes.size() > before.unsupported ||
                             ((!done || context.failed()) && context.error &&
                              context.error->kind == ErrorKind::Unsupported);
  if (keeps && (isUnsupported || hasDrawn || isWrittenOut(op))) {
    SmallVector<Type> types;
    if (!isUnsupported && done)
      for (const Bound &output : context.outputs)
        types.push_back(output.kind == Bound::Tensor && output.value
                            ? output.value.getType()
                            : Type());
    const std::string reason =
        isUnsupported && context.error ? context.error->reason : "";
    const auto refused = std::move(unsupportedNodes);
    unsupportedNodes = {};
    rollBack(before);
    if (keepNode(node, frame, inputs, types, false, reason))
      return;
    unsupportedNodes = refused;
    if (!isUnsupported)
      return addUnsupported(node, frame, version, "it cannot be kept"),
             poison(node, frame);
  }
  if (!done || context.failed()) {
    ErrorInNode why = context.error.value_or(
        ErrorInNode{ErrorKind::InvalidModel, "not valid"});
    if (why.kind == ErrorKind::Unsupported) {
      addUnsupported(node, frame, version, why.reason);
      return poison(node, frame);
    }
    firstError = Error{why.kind, file.name() + ": " + frame.prefix +
                                     describe(node) + ": " + why.reason};
    return;
  }
  bool isTensor = op.name != "Optional";
  for (int64_t i = 0; i < context.outputCount(); ++i)
    if (context.wants(i)) {
      frame.values[node.output(i)] = context.outputs[i];
      isTensor &= context.outputs[i].kind == Bound::Tensor;
    }
  recordGroup(context, op);
  // What can be written neither as it was nor as one node.
  if (keeps && isTensor && cannotBeGivenBack(context, op)) {
    SmallVector<Type> types;
    for (const Bound &output : context.outputs)
      types.push_back(output.value ? output.value.getType() : Type());
    rollBack(before);
    if (!keepNode(node, frame, inputs, types, false, "")) {
      addUnsupported(node, frame, version, "it cannot be kept");
      poison(node, frame);
    }
    return;
  }
  // Whether somebody needs the sequence as such shows later.
  if (keeps && !isTensor)
    keepNode(node, frame, inputs, {}, true, "");
}

//===----------------------------------------------------------------------===//
// Nested graphs and functions
//===----------------------------------------------------------------------===//

std::optional<std::vector<Bound>> Importer::importGraph(const GraphProto &graph,
                                                        Frame &parent,
                                                        ArrayRef<Bound> inputs,
                                                        StringRef prefix) {
  Frame frame;
  frame.parent = &parent;
  frame.opsets = parent.opsets;
  frame.attributes = parent.attributes;
  frame.isFunction = parent.isFunction;
  frame.prefix = prefix.str();
  frame.depth = parent.depth + 1;
  bindInitializers(graph, frame);
  if (static_cast<size_t>(graph.input_size()) != inputs.size()) {
    if (!firstError)
      firstError =
          invalidModel(file.name() + ": graph '" + oneLine(graph.name()) +
                       "' has " + std::to_string(graph.input_size()) +
                       " inputs, is given " + std::to_string(inputs.size()));
    return std::nullopt;
  }
  for (auto [input, bound] : llvm::zip_equal(graph.input(), inputs))
    frame.values[input.name()] = bound;
  importNodes(graph.node(), frame);
  std::vector<Bound> outputs;
  for (const ValueInfoProto &output : graph.output()) {
    const Bound *bound = firstError ? nullptr : lookup(frame, output.name());
    if (firstError)
      return std::nullopt;
    if (!bound) {
      firstError = invalidModel(file.name() + ": output '" +
                                oneLine(output.name()) + "' of graph '" +
                                oneLine(graph.name()) + "' is not defined");
      return std::nullopt;
    }
    if (bound->kind == Bound::Kept) {
      ++unsupportedNodes["a graph that gives what a kept node gives"].count;
      outputs.push_back(Bound::poisoned());
      continue;
    }
    outputs.push_back(*bound);
  }
  return outputs;
}

static std::string functionKey(StringRef domain, StringRef name,
                               StringRef overload) {
  std::string key = domainName(domain);
  for (StringRef part : {name, overload}) {
    key.push_back('\0');
    key += part;
  }
  return key;
}

const FunctionProto *Importer::findFunction(StringRef domain, StringRef name,
                                            StringRef overload) {
  const auto &list = file.model().functions();
  if (functions.empty())
    for (const FunctionProto &function : list)
      functions[functionKey(function.domain(), function.name(),
                            function.overload())] = &function;
  return list.empty() ? nullptr
                      : functions.lookup(functionKey(domain, name, overload));
}

std::optional<std::vector<Bound>>
Importer::importFunction(const FunctionProto &function, Frame &caller,
                         const NodeProto &node, ArrayRef<Bound> inputs) {
  auto [opsetEntry, isNew] = functionOpsets.try_emplace(&function);
  if (isNew) {
    opsetEntry->second = opsetsOf(function.opset_import());
    if (opsetEntry->second.empty())
      opsetEntry->second = opsets;
  }
  Frame frame;
  frame.opsets = &opsetEntry->second;
  frame.isFunction = true;
  frame.depth = caller.depth + 1;
  frame.prefix = caller.prefix +
                 (node.name().empty() ? node.op_type() : node.name()) + "/";
  for (const AttributeProto &otherwise : function.attribute_proto())
    frame.attributes[otherwise.name()] = &otherwise;
  for (const AttributeProto &attribute : node.attribute()) {
    const AttributeProto *given = &attribute;
    if (!attribute.ref_attr_name().empty()) {
      auto found = caller.attributes.find(attribute.ref_attr_name());
      if (found == caller.attributes.end())
        continue;
      given = found->second;
    }
    frame.attributes[attribute.name()] = given;
  }
  for (auto [i, input] : llvm::enumerate(function.input()))
    frame.values[input] = i < inputs.size() ? inputs[i] : Bound();
  importNodes(function.node(), frame);
  std::vector<Bound> outputs;
  for (const std::string &output : function.output()) {
    const Bound *bound = firstError ? nullptr : lookup(frame, output);
    if (firstError)
      return std::nullopt;
    outputs.push_back(bound ? *bound : Bound());
  }
  return outputs;
}

void Importer::importCall(const NodeProto &node, const FunctionProto &function,
                          Frame &frame, ArrayRef<Bound> inputs) {
  const Checkpoint before = checkpoint();
  const bool keeps = mayKeep(frame);
  hasDrawn &= !keeps;
  auto outputs = importFunction(function, frame, node, inputs);
  if (!outputs || firstError)
    return;
  const bool isUnsupported = unsupportedNodes.size() > before.unsupported;
  if (keeps && (isUnsupported || hasDrawn)) {
    SmallVector<Type> types;
    if (!isUnsupported)
      for (const Bound &output : *outputs)
        types.push_back(output.kind == Bound::Tensor && output.value
                            ? output.value.getType()
                            : Type());
    const auto refused = std::move(unsupportedNodes);
    unsupportedNodes = {};
    rollBack(before);
    if (keepNode(node, frame, inputs, types, false,
                 refused.empty() ? "" : refused.begin()->first)) {
      keepsCalls = true;
      return;
    }
    unsupportedNodes = refused;
    return poison(node, frame);
  }
  for (int i = 0; i < node.output_size(); ++i) {
    if (node.output(i).empty())
      continue;
    if (i >= static_cast<int>(outputs->size())) {
      firstError = invalidModel(file.name() + ": " + describe(node) +
                                ": the function has only " +
                                std::to_string(outputs->size()) + " outputs");
      return;
    }
    frame.values[node.output(i)] = (*outputs)[i];
  }
}

} // namespace sinter::onnx
