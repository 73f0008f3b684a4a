// Names, constants and blocks.

#include "formats/onnx/write/GraphWriter.h"
#include "formats/import/InOtherOps.h"
#include "formats/import/WriterRule.h"

#include "formats/onnx/file/Domain.h"
#include "formats/onnx/file/Headers.h"
#include "formats/onnx/file/NestedGraphs.h"
#include "formats/onnx/write/Quantized.h"
#include "formats/onnx/write/WriterRules.h"
#include "graph/Constants.h"
#include "graph/Literals.h"
#include "graph/Quantization.h"
#include "graph/nn/NnOps.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;

namespace sinter::onnx {

/// Maximum nesting depth of regions, and of decompositions.
static constexpr int deepestNesting = 200;
/// Maximum number of regions that are written, inlined calls included.
static constexpr int64_t mostRegions = 100'000;

GraphWriter::GraphWriter(ModuleOp module, int64_t version, bool forRuntime)
    : module(module), opsetVersion(version), forRuntime(forRuntime) {
  if (auto declared =
          keptOfSource<DictionaryAttr>(module, formatName, opsetsAttribute))
    for (NamedAttribute each : declared)
      if (auto number = dyn_cast<IntegerAttr>(each.getValue()))
        opsets[each.getName().str()] = number.getInt();
  opsets["ai.onnx"] = version;
}

TensorFacts GraphWriter::tensorFacts() const {
  TensorFacts facts;
  for (const auto &[value, name] : names)
    if (auto type = dyn_cast<RankedTensorType>(value.getType()))
      facts.types[name] = type;
  for (const auto &each : initializerValues) {
    facts.types[each.first().str()] =
        cast<RankedTensorType>(each.second.getType());
    auto dense = dyn_cast<DenseElementsAttr>(each.second);
    if (dense && dense.getNumElements() == 1 && dense.getElementType().isF32())
      facts.numbers[each.first().str()] = dense.getSplatValue<float>();
  }
  return facts;
}

void GraphWriter::run() {
  if (auto before =
          keptOfSource<StringAttr>(module, formatName, headerAttribute))
    if (!header.ParsePartialFromArray(before.getValue().data(),
                                      before.getValue().size()))
      header.Clear();
  auto function = entryOf(module);
  GraphProto &graph = *proto.mutable_graph();
  graph.set_name("graph");
  if (auto name = dyn_cast<NameLoc>(module.getLoc()))
    graph.set_name(name.getName().str());
  copyNotes(header.graph(), graph);
  convertToQdqForm(function, unsupported);
  // Stop here: an op without a form could be mistaken for one with a form.
  if (!unsupported.empty())
    return;
  for (const TensorProto &each : header.graph().initializer())
    initializerHeaders[each.name()] = &each;
  for (const SparseTensorProto &each : header.graph().sparse_initializer()) {
    initializerHeaders[each.values().name()] = &each.values();
    sparse.insert(each.values().name());
  }
  planNames();
  planBlock(function.getBody().front());
  DynamicGraph open{&graph, {}, {}};
  current = &open;
  writeInputs(function);
  writeBlock(function.getBody().front());
  writeOutputs(function);
  dropUnusedInitializers();
  writeAnnotations();
  writeLiterals();
  writeTensorInfos(header.graph());
  writeImports();
  current = nullptr;
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

void GraphWriter::reserve(Value value, StringRef name, bool isFixed) {
  if (name.empty())
    return;
  auto [found, isNew] = reserved.try_emplace(name);
  if (found->second.isFixed)
    return;
  found->second.isFixed = isFixed;
  if (value && wanted.try_emplace(value, name.str()).second)
    found->second.values.push_back(value);
}

/// The quantised value whose storage elements \p value is, if it has no other
/// use; there is no node between the two.
static Value beforeStorage(Value value) {
  auto cast = value.getDefiningOp<stablehlo::BitcastConvertOp>();
  Value elements = cast ? cast.getOperand() : Value();
  return cast && quantizedOf(elements.getType()) && elements.hasOneUse() &&
                 value.hasOneUse() && elements.getDefiningOp() &&
                 !elements.getDefiningOp<stablehlo::ConstantOp>()
             ? elements
             : value;
}

void GraphWriter::planNames() {
  auto function = entryOf(module);
  Block &entry = function.getBody().front();
  for (BlockArgument argument : function.getArguments()) {
    auto given = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                       nameAttribute);
    reserve(argument,
            given ? given.getValue().str()
                  : "arg" + std::to_string(argument.getArgNumber()),
            /*isFixed=*/true);
  }
  for (auto [i, value] :
       llvm::enumerate(entry.getTerminator()->getOperands())) {
    auto given = function.getResultAttrOfType<StringAttr>(i, nameAttribute);
    value = beforeStorage(value);
    bool own = value.getDefiningOp() && !wanted.contains(value) &&
               !value.getDefiningOp<stablehlo::ConstantOp>();
    reserve(own ? value : Value(),
            given ? given.getValue().str() : "result" + std::to_string(i),
            /*isFixed=*/true);
  }
  // A weight's name is reserved even if the weight is not written.
  function.walk([&](stablehlo::ConstantOp constant) {
    auto given = constant->getAttrOfType<StringAttr>(nameAttribute);
    if (!given)
      return;
    auto [place, isNew] = weights.try_emplace({constant.getValue(), given}, "");
    if (isNew)
      place->second = freshName(given.getValue());
    if (isLiteral(constant) && looksLikeWeight(tensorOf(constant.getResult())))
      literals.insert(place->second);
  });
  // Annotations may need their initializers again.
  for (const TensorProto &each : header.graph().initializer())
    if (each.has_data_type())
      used.insert(each.name());
}

/// \p base, or \p base with the smallest suffix for which \p isFree holds.
/// \p next holds the next suffix to try for each base.
static std::string
withSuffix(const std::string &base, llvm::StringMap<int64_t> &next,
           llvm::function_ref<bool(const std::string &)> isFree) {
  int64_t &number = next[base];
  std::string name;
  do
    name = number == 0 ? base : base + "_" + std::to_string(number);
  while (++number, !isFree(name));
  return name;
}

Name GraphWriter::freshName(StringRef wantedName) {
  return withSuffix(wantedName.empty() ? "tensor" : wantedName.str(),
                    nextNumbers, [&](const std::string &name) {
                      return !reserved.contains(name) &&
                             used.insert(name).second;
                    });
}

Name GraphWriter::freshNodeName(StringRef wantedName) {
  return withSuffix(
      wantedName.str(), nextNodeNumbers,
      [&](const std::string &name) { return usedNodes.insert(name).second; });
}

bool GraphWriter::hasFixedName(Value value) const {
  auto found = wanted.find(value);
  return found != wanted.end() && !used.contains(found->second);
}

Name GraphWriter::claim(Value value) {
  auto found = wanted.find(value);
  if (found != wanted.end()) {
    auto owner = reserved.find(found->second);
    bool own = owner == reserved.end() ||
               llvm::is_contained(owner->second.values, value);
    if (own && used.insert(found->second).second)
      return found->second;
    return freshName(found->second);
  }
  Operation *op = value.getDefiningOp();
  return freshName(op ? originOf(op) + "_output" : "value");
}

Name GraphWriter::constant(ElementsAttr value, StringRef wantedName) {
  Attribute key = StringAttr::get(value.getContext(), wantedName);
  Name &name = weights[{value, key}];
  if (name.empty())
    name = freshName(wantedName.empty() ? "constant" : wantedName);
  if (!written.insert(name).second)
    return name;
  // Also those that a rule derives from one.
  if (literals.contains(wantedName))
    literals.insert(name);
  initializerValues[name] = value;
  addInitializer(name, toTensor(value));
  return name;
}

bool GraphWriter::isBroadcast(Operation *op) {
  return isa_and_nonnull<stablehlo::BroadcastInDimOp, nn::BroadcastLikeOp>(op);
}

Name GraphWriter::name(Value value) {
  auto found = names.find(value);
  if (found != names.end())
    return found->second;
  Operation *op = value.getDefiningOp();
  if (auto constantOp = dyn_cast_or_null<stablehlo::ConstantOp>(op))
    return names[value] = constant(constantOp.getValue(), constantName(value));
  DynamicGraph *own = op ? graphs.lookup(op->getBlock()) : nullptr;
  if (isBroadcast(op) && own) {
    // In the graph of its own block, since others may use it, too.
    DynamicGraph *here = std::exchange(current, own);
    writeOp(op);
    current = here;
    found = names.find(value);
    if (found != names.end())
      return found->second;
  }
  if (op)
    addUnsupported(op, "its result is used before it is defined");
  return "";
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

NodeProto &GraphWriter::addNode(StringRef opType) {
  // Rules write nodes of version 13; these two are older and never changed.
  if (opType != "Identity" && opType != "Where")
    need(13);
  else if (opType == "Where")
    need(9);
  usesStandard = true;
  NodeProto &node = *current->proto->add_node();
  node.set_op_type(opType.str());
  return node;
}

void GraphWriter::addUnsupported(Operation *op, StringRef reason) {
  ++unsupported[formats::unwritten(op, reason)];
}

void GraphWriter::writeBlock(Block &block) {
  DynamicGraph *before = graphs.lookup(&block);
  graphs[&block] = current;
  // Decomposing adds ops, which are written there.
  std::vector<Operation *> ops;
  for (Operation &op : block.without_terminator())
    ops.push_back(&op);
  for (Operation *op : ops) {
    if (isa<stablehlo::ConstantOp>(op) || absorbed.contains(op))
      continue;
    if (auto found = keptOf.find(op); found != keptOf.end()) {
      if (found->second->anchor == op)
        writeKept(*found->second);
    } else if (auto both = biased.find(op); both != biased.end()) {
      writeBiased(op, both->second);
    } else if (auto parts = blockScales.find(op); parts != blockScales.end()) {
      writeBlockScales(op, parts->second);
    } else if (auto mean = means.find(op); mean != means.end()) {
      writeMean(op, mean->second);
    } else if (!isBroadcast(op)) {
      writeOp(op);
    }
  }
  if (before)
    graphs[&block] = before;
}

SmallVector<Name> GraphWriter::writeRegion(Region &region, DynamicGraph &graph,
                                           ArrayRef<Name> arguments) {
  // A region may be written twice: forget the names of its values.
  region.walk([&](Operation *op) {
    for (Value result : op->getResults())
      names.erase(result);
  });
  Block &block = region.front();
  if (depth >= deepestNesting || ++regions > mostRegions) {
    ++unsupported["regions nested too deeply, or too many"];
    return SmallVector<Name>(block.getTerminator()->getNumOperands());
  }
  ++depth;
  DynamicGraph *outer = std::exchange(current, &graph);
  for (auto [argument, name] : llvm::zip(block.getArguments(), arguments))
    names[argument] = name;
  writeBlock(block);
  SmallVector<Name> results;
  graphs[&block] = current;
  for (Value value : block.getTerminator()->getOperands()) {
    // Values that only the kept node itself uses have no tensor.
    Operation *op = value.getDefiningOp();
    const bool isHidden = op && absorbed.contains(op) && !names.contains(value);
    results.push_back(isHidden ? Name() : name(value));
  }
  graphs.erase(&block);
  current = outer;
  --depth;
  return results;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

bool GraphWriter::tryRule(Operation *op, std::string &reason) {
  const WriterRule *found = findWriterRule(op->getName().getStringRef());
  if (!found)
    return false;
  int nodes = current->proto->node_size();
  int64_t needed = required;
  size_t known = bound.size();
  NodeWriter node(*this, op);
  if (succeeded(found->write(node, op)))
    return true;
  reason = node.reason().str();
  required = needed;
  for (Value value : ArrayRef<Value>(bound).drop_front(known))
    names.erase(value);
  bound.resize(known);
  current->proto->mutable_node()->DeleteSubrange(
      nodes, current->proto->node_size() - nodes);
  return false;
}

bool GraphWriter::decompose(Operation *op) {
  if (depth >= deepestNesting)
    return false;
  const auto other = formats::inOtherOps(op);
  if (!other)
    return false;
  for (auto [result, value] :
       llvm::zip_equal(op->getResults(), other->values)) {
    auto found = wanted.find(result);
    Operation *definition = value.getDefiningOp();
    if (found != wanted.end() && definition && !names.contains(value) &&
        !isa<stablehlo::ConstantOp>(definition) && !wanted.contains(value)) {
      Name fixed = found->second;
      auto owner = reserved.find(fixed);
      if (owner != reserved.end())
        std::replace(owner->second.values.begin(), owner->second.values.end(),
                     Value(result), value);
      wanted[value] = fixed;
    }
  }
  ++depth;
  for (Operation *made : other->made)
    if (!isa<stablehlo::ConstantOp>(made) && !isBroadcast(made))
      writeOp(made);
  --depth;
  for (auto [result, value] :
       llvm::zip_equal(op->getResults(), other->values)) {
    Name tensor = name(value);
    result.replaceAllUsesWith(value);
    names[result] = tensor;
  }
  return true;
}

void GraphWriter::writeOp(Operation *op) {
  std::string reason;
  if (tryRule(op, reason) || decompose(op))
    return;
  addUnsupported(op, reason);
  // Its users are still visited, to list all failures at once.
  for (Value result : op->getResults())
    names[result] = "";
}

void GraphWriter::writeBlockScales(Operation *multiply,
                                   const BlockScales &parts) {
  NodeWriter node(*this, multiply);
  node.need(21);
  if (failed(node.result(
          "DequantizeLinear",
          {node.operand(parts.integers), node.operand(parts.scales)},
          {{"axis", parts.axis}, {"block_size", parts.size}})))
    addUnsupported(multiply, node.reason());
}

void GraphWriter::writeMean(Operation *divide, const Mean &mean) {
  NodeWriter node(*this, divide);
  const Name x = node.operand(mean.x);
  // No runtime has a GlobalAveragePool of f64.
  LogicalResult done =
      mean.isGlobalPool() && tensorOf(mean.x).getElementType().isF32()
          ? node.result("GlobalAveragePool", {x})
          : node.alias(node.reduce("ReduceMean", x, mean.axes, mean.keepsAxes));
  if (failed(done))
    addUnsupported(divide, node.reason());
}

void GraphWriter::writeBiased(Operation *add, const BiasedProduct &both) {
  Name bias = both.vector ? name(both.vector)
                          : constant(toAttribute(*both.tensor, both.tensorName,
                                                 module.getContext()),
                                     both.tensorName);
  // For users of the shape of the matmul or convolution.
  auto nameProduct = llvm::make_scope_exit([&] {
    names[both.product->getResult(0)] = names.lookup(add->getResult(0));
  });
  if (auto found = keptOf.find(both.product); found != keptOf.end())
    return writeKept(*found->second, add->getResult(0), bias);
  NodeWriter node(*this, both.product, add);
  node.bias = bias;
  const WriterRule *found =
      findWriterRule(both.product->getName().getStringRef());
  if (found && succeeded(found->write(node, both.product)))
    return;
  addUnsupported(both.product, node.reason());
  names[add->getResult(0)] = "";
}

} // namespace sinter::onnx
