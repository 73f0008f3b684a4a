#include "formats/onnx/Importer.h"

#include "formats/onnx/NodeContext.h"
#include "formats/onnx/NodeGroups.h"
#include "formats/onnx/Operators.h"
#include "formats/onnx/file/DataTypes.h"
#include "formats/onnx/file/Domain.h"
#include "formats/onnx/file/ModelCheck.h"
#include "formats/onnx/ops/Minifloats.h"
#include "graph/Constants.h"
#include "graph/Metadata.h"
#include "graph/storage/DeclareStates.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "runtime/StatePairs.h"

using namespace mlir;

namespace sinter::onnx {

/// Maximum number of nodes that are translated, unrolled loops included.
static constexpr int64_t mostNodes = 1'000'000;

Importer::Importer(OnnxFile file, const ReadOptions &options,
                   std::shared_ptr<MLIRContext> context)
    : file(std::move(file)), options(options), contextOwner(std::move(context)),
      builder(contextOwner.get()), reported(contextOwner.get()) {}

/// Later versions of the operator set ai.onnx are rejected, since their
/// semantics are not known.
static constexpr int64_t newestOpset = 28;

template <typename Imports>
static std::map<std::string, int64_t> opsetsOf(const Imports &imports) {
  std::map<std::string, int64_t> opsets;
  for (const OperatorSetIdProto &each : imports) {
    int64_t &version = opsets[std::string(domainKey(each.domain()))];
    version = std::max(version, each.version());
  }
  return opsets;
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
    return inFile(unsupported("operator set " +
                              std::to_string(standard->second) +
                              " is newer than the newest that is known, " +
                              std::to_string(newestOpset)),
                  file.name());
  Frame frame;
  frame.opsets = &opsets;
  bindInitializers(graph, frame);
  if (auto done = bindInputs(graph, frame, function); !done)
    return done.takeError();
  importNodes(graph.node(), frame);
  if (firstError)
    return *firstError;
  if (!unsupportedNodes.empty())
    return unsupportedNodes.error(file.name());
  if (auto done = bindOutputs(graph, frame, function); !done)
    return inFile(done.takeError(), file.name());

  recordUnits();
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*entryBlock)))
    if (isOpTriviallyDead(&op)) {
      known.forget(&op);
      op.erase();
    }
  NamedAttrList versions;
  for (const auto &[domain, version] : opsets)
    if (!options.standardOperators || isStandardDomain(domain) ||
        domain == mlDomain)
      versions.set(domain.empty() ? "ai.onnx" : domain,
                   builder.getI64IntegerAttr(version));
  (*module)->setAttr(opsetsAttribute, versions.getDictionary(context));
  (*module)->setAttr(sourceFormatAttribute, builder.getStringAttr(formatName));
  (*module)->setAttr(sourceRecordsAttribute, builder.getArrayAttr(nodeRecords));
  (*module)->setAttr(headerAttribute, headerAttr());
  std::string states;
  for (const StringStringEntryProto &entry : file.model().metadata_props())
    if (entry.key() == statesKey)
      states = entry.value();
    else if (isKeptMetadata(entry.key()))
      setMetadata(*module, entry.key(), entry.value());
  if (ArrayAttr lines = notesAttr(); !lines.empty())
    (*module)->setAttr(sourceNotesAttribute, lines);
  Model model(contextOwner, std::move(module));
  model.path = file.name();
  for (const std::string &pair : statePairs(states))
    if (Result<void> done = declareState(model, pair); !done)
      return inFile(
          invalidModel(std::string(statesKey) + ": " + done.error().message()),
          file.name());
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
    const int32_t dataType = dense != each->initializers.end()
                                 ? dense->second->data_type()
                                 : sparse->second->values().data_type();
    if (tensor && codeTypeOf(dataType) && options.keepsNodes)
      tensor = unsupported("tensor '" + oneLine(name.str()) +
                           "' has elements of type " + dataTypeName(dataType));
    if (tensor)
      bound = boundOf(makeInitializer(*tensor, name), dataType);
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
  auto found = frame.opsets->find(std::string(domainKey(domain)));
  if (found == frame.opsets->end())
    return std::nullopt;
  return found->second;
}

Error Importer::inNode(const NodeProto &node, const Frame &frame,
                       Error error) const {
  error = atNode(node, std::move(error));
  error.where = oneLine(frame.prefix) + error.where;
  return inFile(std::move(error), file.name());
}

void Importer::addUnsupported(const NodeProto &node, const Frame &frame,
                              int64_t version, const std::string &reason) {
  std::string domain = node.domain().empty() ? "ai.onnx" : node.domain();
  std::string what = oneLine(node.op_type()) + " (" + oneLine(domain) + " " +
                     std::to_string(version) + ")";
  unsupportedNodes.add(what, reason, frame.prefix + describe(node));
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

void Importer::importNode(const NodeProto &node, Frame &frame) {
  auto version = versionOf(frame, node.domain());
  auto invalid = [&](const std::string &reason) {
    firstError = inNode(node, frame, invalidModel(reason));
  };
  if (++nodeCount > mostNodes)
    return invalid("more than " + std::to_string(mostNodes) +
                   " nodes once loops and functions are written out");
  hasDrawn &= !mayKeep(frame);
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
    return refuse("uses a result of a node that is kept as it is");
  const FunctionProto *function =
      findFunction(node.domain(), node.op_type(), node.overload());
  const Operator *op =
      function ? nullptr
               : findOperator(domainKey(node.domain()), node.op_type());
  if (!function) {
    if (!version)
      return op ? invalid("the model does not import the operator set of "
                          "domain '" +
                          oneLine(node.domain()) + "'")
                : refuse("the operator is not known");
    if (!op)
      return refuse("the operator is not known");
    if (*version < op->since)
      return refuse("only version " + std::to_string(op->since) +
                    " and newer are known");
  }
  if (poisoned)
    return poison(node, frame);
  Checkpoint before = checkpoint(frame);
  if (function)
    importCall(node, *function, frame, inputs, before);
  else
    translate(node, frame, inputs, *version, *op, before);
  forgetCheckpoint(std::move(before));
}

/// Operators whose graph is unrolled on import: a written file is smaller with
/// the node.
static bool isUnrolled(const Operator &op) {
  return op.name == "Scan" || op.name == "SequenceMap";
}

/// Fails if \p op does not take this number of inputs, or this kind.
static void checkInputs(NodeContext &node, const Operator &op) {
  if (node.inputCount() > op.maxInputs)
    node.fail("has " + Twine(node.inputCount()) + " inputs, at most " +
              Twine(op.maxInputs) + " are allowed");
  for (int64_t i = 0; i < node.inputCount() && !op.takesAnyValue; ++i)
    if (node.bound(i).isSequence())
      node.fail("input " + Twine(i) + " is a sequence, not a tensor");
  const bool hasNumbersOnly = !takesStrings(op);
  for (int64_t i = 0; i < node.inputCount() && hasNumbersOnly; ++i)
    if (const Bound &bound = node.bound(i);
        bound.value && isStringTensor(bound.value.getType()))
      node.fail("input " + Twine(i) + " is of strings, which it does not take");
  for (int64_t i = 0; i < op.minInputs; ++i) {
    bool listed = i < node.proto.input_size() && !node.proto.input(i).empty();
    if (!listed || (!op.takesAnyValue && !node.has(i)))
      node.fail("input " + Twine(i) + " is missing");
  }
}

/// The types of tensors, null for other outputs.
static SmallVector<Type> typesOf(ArrayRef<Bound> outputs) {
  return llvm::map_to_vector(outputs, [](const Bound &output) {
    return output.kind == Bound::Tensor && output.value ? output.value.getType()
                                                        : Type();
  });
}

/// Input 0 if it consists of codes, of which \p op only moves the elements.
static const Bound *movedCodes(NodeContext &node, const Operator &op) {
  if (!op.domain.empty() || node.inputCount() == 0 || !isCoded(node, 0) ||
      !movesCodes(op.name))
    return nullptr;
  const Bound &first = node.bound(0);
  for (int64_t i = 1; i < node.inputCount(); ++i)
    if (op.name == "Concat" && node.bound(i).dataType != first.dataType)
      node.fail("the inputs differ in element type");
  node.allowCodes();
  return &first;
}

void Importer::translate(const NodeProto &node, Frame &frame,
                         ArrayRef<Bound> inputs, int64_t version,
                         const Operator &op, const Checkpoint &before) {
  const bool keeps =
      mayKeep(frame) && mayGiveBack(node.domain(), node.op_type(), version);
  NodeContext context(*this, frame, node, version, nodeRecords.size());
  nodeRecords.push_back(builder.getDictionaryAttr({}));
  readNodes.emplace_back();
  reported.take();
  checkInputs(context, op);
  const Bound *moved = movedCodes(context, op);
  bool done = !context.failed() && succeeded(op.import(context));
  if (done && moved)
    context.makeCoded(moved->dataType);
  if (std::exchange(startsAgain, false)) {
    rollBack(before);
    unsupportedNodes = {};
    firstError.reset();
    return translate(node, frame, inputs, version, op, before);
  }
  if (firstError)
    return;
  if (context.problem && context.problem->waits && options.keepsUnknown)
    done = defer(context);
  done &= !context.failed();
  const formats::BuildError why = context.problem.value_or(
      formats::BuildError{ErrorKind::InvalidModel, "not valid"});
  const bool isUnsupported = !done && why.kind == ErrorKind::Unsupported;
  if (keeps && (isUnsupported || !unsupportedNodes.empty()))
    return keepInstead(node, frame, inputs, {}, before, done ? "" : why.reason);
  if (keeps && done && (hasDrawn || isUnrolled(op)))
    return keepInstead(node, frame, inputs, typesOf(context.outputs), before);
  if (isUnsupported) {
    addUnsupported(node, frame, version, why.reason);
    return poison(node, frame);
  }
  if (!done) {
    firstError = inNode(node, frame, Error(why.kind, why.reason));
    return;
  }
  recordGroup(context, op);
  bool isTensor = op.name != "Optional";
  for (int64_t i = 0; i < context.outputCount(); ++i)
    if (context.wants(i) && isUsed(node.output(i))) {
      frame.values[node.output(i)] = context.outputs[i];
      isTensor &= context.outputs[i].kind == Bound::Tensor;
    }
  // Keep what can be written neither as it was nor as one node, unless it must
  // be expanded.
  if (keeps && isTensor && !options.expandsUnknown &&
      cannotBeGivenBack(context, op))
    return keepInstead(node, frame, inputs, typesOf(context.outputs), before);
  // Only later nodes show whether the sequence itself is used.
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
      firstError = inFile(
          invalidModel("graph '" + oneLine(graph.name()) + "' has " +
                       std::to_string(graph.input_size()) +
                       " inputs, is given " + std::to_string(inputs.size())),
          file.name());
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
      firstError = inFile(invalidModel("output '" + oneLine(output.name()) +
                                       "' of graph '" + oneLine(graph.name()) +
                                       "' is not defined"),
                          file.name());
      return std::nullopt;
    }
    if (bound->kind == Bound::Kept) {
      unsupportedNodes.add("a graph that returns a result of a kept node", "",
                           "output '" + oneLine(output.name()) + "'");
      outputs.push_back(Bound::poisoned());
      continue;
    }
    outputs.push_back(*bound);
  }
  return outputs;
}

static std::string functionKey(StringRef domain, StringRef name,
                               StringRef overload) {
  std::string key(domainKey(domain));
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
                          Frame &frame, ArrayRef<Bound> inputs,
                          const Checkpoint &before) {
  auto outputs = importFunction(function, frame, node, inputs);
  if (!outputs || firstError)
    return;
  if (mayKeep(frame) && (!unsupportedNodes.empty() || hasDrawn)) {
    const bool isWhole = unsupportedNodes.empty();
    keepsCalls = true;
    return keepInstead(node, frame, inputs,
                       isWhole ? typesOf(*outputs) : SmallVector<Type>(),
                       before, isWhole ? "" : unsupportedNodes.name());
  }
  ++inlinedFunctions[oneLine(function.domain().empty()
                                 ? function.name()
                                 : function.domain() + "." + function.name())];
  for (int i = 0; i < node.output_size(); ++i) {
    if (node.output(i).empty())
      continue;
    if (i >= static_cast<int>(outputs->size())) {
      firstError =
          inNode(node, frame,
                 invalidModel("the function has only " +
                              std::to_string(outputs->size()) + " outputs"));
      return;
    }
    frame.values[node.output(i)] = (*outputs)[i];
  }
}

} // namespace sinter::onnx
