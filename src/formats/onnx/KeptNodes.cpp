//===- KeptNodes.cpp - nodes that stay ONNX nodes -------------------------===//
//
// If a model is to be written as ONNX again, a node that the graph language
// cannot express is kept: as a custom_call, with the node as its record
// (NodeGroups.h).
//
//   Unique(x)       ->  custom_call @onnx.Unique(x) : tensor<?xf32>
//   RandomNormal()  ->  custom_call @onnx.RandomNormal() : tensor<2x3xf32>
//   SequenceErase(s, i)  ->  custom_call @onnx.SequenceErase(s, i) : token
//
// Its results have the types that the file declares or that the reader
// inferred. Without such a type (a sequence, a tensor of unknown rank)
// the result is a token, and its users are kept, too. Nodes of nested graphs
// and functions cannot be kept by themselves: the node that has the graph, or
// calls the function, is kept.
//
// A sequence whose elements are known has both forms: the elements, and the
// result of a kept node for users that need the whole sequence. The form that
// ends up unused is dead.
//
//===----------------------------------------------------------------------===//

#include "formats/onnx/Importer.h"
#include "formats/onnx/NodeGroups.h"
#include "formats/onnx/Operators.h"
#include "formats/onnx/file/DataFiller.h"
#include "formats/onnx/file/DataTypes.h"
#include "formats/onnx/file/Domain.h"
#include "formats/onnx/file/NestedGraphs.h"
#include "graph/Types.h"
#include "graph/stablehlo/StablehloOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;

namespace sinter::onnx {

//===----------------------------------------------------------------------===//
// Back to before a node
//===----------------------------------------------------------------------===//

Importer::Checkpoint Importer::checkpoint(const Frame &frame) {
  if (!mayKeep(frame) && !options.branches.decide)
    return {};
  return {entryBlock->empty() ? nullptr : &entryBlock->back(),
          nodeRecords.size(), std::exchange(unsupportedNodes, {})};
}

void Importer::forgetCheckpoint(Checkpoint before) {
  if (before.unsupported.empty())
    return;
  // The list now holds the entries of one node.
  std::swap(before.unsupported, unsupportedNodes);
  unsupportedNodes.addAll(before.unsupported);
}

void Importer::rollBack(const Checkpoint &before) {
  // Initializers come first and stay.
  while (!entryBlock->empty()) {
    Operation *op = &entryBlock->back();
    if (op == before.last || op == constants.last())
      break;
    op->walk([&](Operation *each) { known.forget(each); });
    op->erase();
  }
  builder.setInsertionPointToEnd(entryBlock);
  forgetNodesAfter(static_cast<int64_t>(before.nodes) - 1);
}

void Importer::forgetNodesAfter(int64_t number) {
  nodeRecords.resize(number + 1);
  readNodes.resize(number + 1);
  // Numbers only grow.
  for (std::vector<int64_t> *list : {&wholeNodes, &lastingNodes})
    while (!list->empty() && list->back() > number)
      list->pop_back();
}

void Importer::keepInstead(const NodeProto &node, Frame &frame,
                           ArrayRef<Bound> inputs, ArrayRef<Type> types,
                           const Checkpoint &before,
                           const std::string &reason) {
  auto refused = std::exchange(unsupportedNodes, {});
  rollBack(before);
  if (keepNode(node, frame, inputs, types, false, reason))
    return;
  unsupportedNodes = std::move(refused);
  if (unsupportedNodes.empty())
    addUnsupported(node, frame, versionOf(frame, node.domain()).value_or(0),
                   reason.empty() ? "it cannot be kept" : reason);
  poison(node, frame);
}

//===----------------------------------------------------------------------===//
// The node's message
//===----------------------------------------------------------------------===//

namespace {

/// The names that a graph uses and does not define, in order.
class OuterNames {
public:
  std::vector<std::string> names;

  void addGraph(const GraphProto &graph,
                llvm::SmallVector<llvm::StringSet<>> &scopes) {
    llvm::StringSet<> own;
    for (const ValueInfoProto &input : graph.input())
      own.insert(input.name());
    for (const TensorProto &tensor : graph.initializer())
      own.insert(tensor.name());
    for (const SparseTensorProto &tensor : graph.sparse_initializer())
      own.insert(tensor.values().name());
    for (const NodeProto &node : graph.node())
      for (const std::string &output : node.output())
        own.insert(output);
    scopes.push_back(std::move(own));
    for (const NodeProto &node : graph.node()) {
      for (const std::string &input : node.input())
        use(input, scopes);
      forEachGraph(node,
                   [&](const GraphProto &inner) { addGraph(inner, scopes); });
    }
    for (const ValueInfoProto &output : graph.output())
      use(output.name(), scopes);
    scopes.pop_back();
  }

private:
  void use(const std::string &name,
           const llvm::SmallVector<llvm::StringSet<>> &scopes) {
    if (name.empty() || llvm::any_of(scopes, [&](const auto &scope) {
          return scope.contains(name);
        }))
      return;
    if (known.insert(name).second)
      names.push_back(name);
  }

  llvm::StringSet<> known;
};

} // namespace

std::optional<std::string> Importer::wholeProto(const NodeProto &node) {
  NodeProto copy = node;
  if (!DataFiller(file).fill(copy))
    return std::nullopt;
  return copy.SerializePartialAsString();
}

//===----------------------------------------------------------------------===//
// The node
//===----------------------------------------------------------------------===//

/// The type that the file declares for the tensor called \p name; null if the
/// graph language cannot express it.
Type Importer::keptType(const std::string &name) {
  const TypeProto *type = declaredType(name);
  if (!type || !type->has_tensor_type() || !type->tensor_type().has_shape())
    return {};
  auto element = onnx::elementTypeOf(type->tensor_type().elem_type());
  if (!element)
    return {};
  SmallVector<int64_t> shape;
  // With --shape, the declared sizes may be those of other inputs.
  for (const auto &dim : type->tensor_type().shape().dim())
    shape.push_back(dim.has_dim_value() && dim.dim_value() >= 0 &&
                            options.shapes.empty()
                        ? dim.dim_value()
                        : ShapedType::kDynamic);
  if (!ShapedType::isDynamicShape(shape) && !byteCount(*element, shape))
    return {};
  return RankedTensorType::get(shape,
                               mlirTypeOf(*element, builder.getContext()));
}

void Importer::setDeclaredSymbols(Value value, const std::string &name) {
  const TypeProto *type = declaredType(name);
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !tensor || !options.shapes.empty())
    return;
  for (auto [i, dim] : llvm::enumerate(type->tensor_type().shape().dim()))
    if (static_cast<int64_t>(i) < tensor.getRank() && tensor.isDynamicDim(i) &&
        !dim.dim_param().empty())
      known.setSymbol(value, i, known.symbolNamed(dim.dim_param()));
}

/// The value that represents a bound name among a kept node's operands; null if
/// there is none.
static Value wholeOf(const Bound &bound) {
  return bound.whole ? bound.whole : bound.value;
}

/// Distinguishes calls of one operator that differ only in their attributes.
static std::string fingerprintOf(NodeProto node) {
  node.clear_name();
  node.clear_doc_string();
  node.clear_input();
  node.clear_output();
  return llvm::utohexstr(llvm::xxh3_64bits(node.SerializePartialAsString()),
                         /*LowerCase=*/true);
}

Operation *Importer::makeKeptCall(const NodeProto &node, StringRef name,
                                  ArrayRef<Value> operands,
                                  ArrayRef<Type> types) {
  const std::string domain =
      isStandardDomain(node.domain()) ? "" : oneLine(node.domain()) + ".";
  // An unknown operator may not be deterministic.
  const bool isKnown =
      findOperator(domainKey(node.domain()), node.op_type()) != nullptr;
  NamedAttrList attributes;
  attributes.set(
      "call_target_name",
      builder.getStringAttr("onnx." + domain + oneLine(node.op_type())));
  attributes.set("backend_config", builder.getStringAttr(fingerprintOf(node)));
  attributes.set("has_side_effect", builder.getBoolAttr(hasDrawn || !isKnown));
  OperationState state(NameLoc::get(builder.getStringAttr(oneLine(name.str()))),
                       stablehlo::CustomCallOp::getOperationName());
  state.addOperands(operands);
  state.addTypes(types);
  state.addAttributes(attributes);
  return builder.create(state);
}

bool Importer::keepNode(const NodeProto &node, Frame &frame,
                        ArrayRef<Bound> inputs, ArrayRef<Type> types,
                        bool isBeside, const std::string &reason) {
  if (!mayGiveBack(node.domain(), node.op_type(),
                   versionOf(frame, node.domain()).value_or(0)))
    return false;
  NodeRecord record;
  SmallVector<Value> operands;
  for (auto [name, input] : llvm::zip_equal(node.input(), inputs)) {
    record.inputs.push_back(name.empty() ? Value() : wholeOf(input));
    if (!name.empty())
      operands.push_back(wholeOf(input));
  }
  OuterNames outer;
  SmallVector<llvm::StringSet<>> scopes;
  forEachGraph(node,
               [&](const GraphProto &graph) { outer.addGraph(graph, scopes); });
  for (const std::string &name : outer.names) {
    const Bound *bound = lookup(frame, name);
    operands.push_back(bound ? wholeOf(*bound) : Value());
    record.captures.push_back({name, operands.back()});
  }
  auto proto = wholeProto(node);
  auto version = versionOf(frame, node.domain());
  if (!proto || !version || llvm::is_contained(operands, Value()))
    return false;

  SmallVector<Type> results;
  for (auto [i, name] : llvm::enumerate(node.output())) {
    Type type = i < types.size() && types[i] ? types[i]
                : isBeside                   ? Type()
                                             : keptType(name);
    results.push_back(type ? type
                           : stablehlo::TokenType::get(builder.getContext()));
  }
  const int64_t number = nodeRecords.size();
  record.name = node.name().empty()
                    ? node.op_type() + "_" + std::to_string(number)
                    : node.name();
  Operation *call = makeKeptCall(node, record.name, operands, results);
  setSource(call, number);
  record.opType = node.op_type();
  record.domain = node.domain();
  record.version = *version;
  record.node = std::move(*proto);
  record.ops = call;
  record.known.resize(record.inputs.size());
  for (auto [i, output] : llvm::enumerate(node.output())) {
    Value value = output.empty() ? Value() : call->getResult(i);
    record.outputs.push_back(value);
    if (!value)
      continue;
    if (isBeside) {
      frame.values[output].whole = value;
      continue;
    }
    const bool isTensor = isa<RankedTensorType>(value.getType());
    frame.values[output] = isTensor ? Bound(value) : Bound::kept(value);
    setDeclaredSymbols(value, output);
  }
  nodeRecords.push_back(toAttribute(record, builder.getContext()));
  readNodes.emplace_back();
  wholeNodes.push_back(number);
  lastingNodes.push_back(number);
  if (!isBeside && !reason.empty())
    ++keptNodes[oneLine(node.op_type()) + " (" + reason + ")"];
  return true;
}

} // namespace sinter::onnx
