#include "engine/compiler/ViewGraph.h"

#include "engine/compiler/SymbolicTypes.h"
#include "engine/compiler/TensorNames.h"
#include "graph/Constants.h"
#include "graph/Origin.h"
#include "graph/Source.h"
#include "graph/Types.h"
#include "graph/nn/NnOps.h"
#include "graph/stablehlo/StablehloOps.h"
#include "graph/storage/Storage.h"
#include "runtime/TensorRange.h"
#include "runtime/TensorText.h"
#include "runtime/Utf8.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace sinter {

namespace {

/// Of a constant as many elements are read for its range, and as many are
/// shown.
constexpr int64_t mostLooked = 1 << 16, mostShown = 8;
/// The length of an attribute's text, in bytes.
constexpr size_t longestAttribute = 400;

/// Builds the view of one graph.
class GraphViewer {
public:
  GraphViewer(const Model &model, const Storage &storage)
      : model(model), storage(storage), names(model), types(model) {}

  NodesOfGraph run();

private:
  /// What one node of the file became in one block.
  using Group = std::pair<int64_t, Block *>;

  uint32_t addNode(Operation *op);
  void addOperation(Operation *op);
  void name(ViewedNode &node, Operation *op);
  void connect(Operation *op);
  void useTensor(uint32_t node, Value value);
  uint32_t tensorOf(Value value);
  void describeConstant(Value value, ViewedTensor &tensor) const;

  const Model &model;
  const Storage &storage;
  const TensorNames names;
  const SymbolicTypes types;
  NodesOfGraph made;
  llvm::DenseMap<Group, uint32_t> groups;
  llvm::DenseMap<Value, uint32_t> tensors;
  /// Pairs of a node and a tensor that is an input or an output of it.
  llvm::DenseSet<std::pair<uint32_t, uint32_t>> isInput, isOutput;
};

/// Whether the operations in the regions of \p op are nodes of their own; those
/// of others compute single elements.
bool holdsNodes(Operation *op) {
  return isa<func::FuncOp, stablehlo::IfOp, stablehlo::CaseOp,
             stablehlo::WhileOp>(op);
}

/// Broadcasts of broadcasts are followed so far.
constexpr int longestChain = 8;

/// What a loop's argument begins with; other values themselves.
Value beginningOf(Value value) {
  while (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop =
        dyn_cast<stablehlo::WhileOp>(argument.getOwner()->getParentOp());
    if (!loop)
      break;
    value = loop->getOperand(argument.getArgNumber());
  }
  return value;
}

/// The value that is shown for \p value: what a loop's argument begins with,
/// and the constant that a broadcast repeats.
Value shownFor(Value value) {
  value = beginningOf(value);
  Value source = value;
  for (int i = 0; i < longestChain; ++i) {
    Operation *repeats = source.getDefiningOp();
    if (!isa_and_nonnull<stablehlo::BroadcastInDimOp, nn::BroadcastLikeOp>(
            repeats))
      break;
    source = beginningOf(repeats->getOperand(0));
  }
  return source.getDefiningOp<stablehlo::ConstantOp>() ? source : value;
}

/// Constants, and what repeats them.
bool isShownAsTensor(Operation *op) {
  return op->getNumResults() == 1 &&
         shownFor(op->getResult(0)).getDefiningOp<stablehlo::ConstantOp>();
}

std::string textOf(Attribute attribute) {
  if (auto elements = dyn_cast<ElementsAttr>(attribute);
      elements && elements.getNumElements() > largestDenseConstant)
    return typeText(elements.getType());
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (auto string = dyn_cast<StringAttr>(attribute))
    stream << string.getValue();
  else
    attribute.print(stream, /*elideType=*/true);
  // "array<i64: 1, 1>"
  if (isa<DenseArrayAttr>(attribute))
    text = "[" + StringRef(text).split(": ").second.rtrim('>').str() + "]";
  return shortened(text, longestAttribute);
}

/// The operations in a region that computes single elements: "add, maximum".
std::string textOf(Region &region) {
  llvm::SetVector<StringRef> found;
  region.walk([&](Operation *op) {
    if (!op->hasTrait<OpTrait::IsTerminator>() &&
        !isa<stablehlo::ConstantOp>(op))
      found.insert(op->getName().stripDialect());
  });
  return llvm::join(found, ", ");
}

ViewedOperation viewOperation(Operation *op) {
  ViewedOperation view;
  view.name = op->getName().getStringRef().str();
  for (NamedAttribute attribute : op->getAttrs())
    if (const StringRef name = attribute.getName().getValue();
        !name.starts_with("sinter."))
      view.attributes.emplace_back(name.str(), textOf(attribute.getValue()));
  if (!holdsNodes(op))
    for (Region &region : op->getRegions())
      if (std::string text = textOf(region); !text.empty())
        view.attributes.emplace_back("body", shortened(text, longestAttribute));
  return view;
}

/// What the file calls the operator that \p op came from; "" if it is not as
/// the reader made it.
StringRef operatorInFile(Operation *op, ModuleOp module) {
  const std::optional<int64_t> source = sourceOf(op);
  auto records = module->getAttrOfType<ArrayAttr>(sourceRecordsAttribute);
  if (!source || !records || *source >= static_cast<int64_t>(records.size()))
    return "";
  auto record = dyn_cast<DictionaryAttr>(records[*source]);
  auto name =
      record ? record.getAs<StringAttr>(recordedOperation) : StringAttr();
  return name ? name.getValue() : "";
}

} // namespace

void GraphViewer::name(ViewedNode &node, Operation *op) {
  node.name = originOf(op->getLoc());
  if (node.name.empty() && op->getNumResults() > 0)
    node.name = names.nameOf(op->getResult(0));
  const StringRef inFile = operatorInFile(op, model.module());
  node.op = inFile.empty() ? op->getName().stripDialect().str() : inFile.str();
}

/// The node of \p op: that of its group, or a new one.
uint32_t GraphViewer::addNode(Operation *op) {
  const uint32_t next = made.view.nodes.size();
  if (const std::optional<int64_t> source = sourceOf(op)) {
    const auto [group, isNew] =
        groups.try_emplace(Group(*source, op->getBlock()), next);
    if (!isNew)
      return group->second;
  }
  ViewedNode &node = made.view.nodes.emplace_back();
  name(node, op);
  if (auto owner = made.nodeOf.find(op->getParentOp());
      owner != made.nodeOf.end())
    node.owner = owner->second;
  return next;
}

void GraphViewer::addOperation(Operation *op) {
  const uint32_t node = addNode(op);
  made.nodeOf[op] = node;
  made.view.nodes[node].operations.push_back(viewOperation(op));
}

void GraphViewer::describeConstant(Value value, ViewedTensor &tensor) const {
  std::optional<Tensor> values = constantTensor(value);
  if (!values)
    return;
  const TensorRange range = rangeOf(*values, mostLooked);
  ConstantFacts &facts = tensor.constant.emplace();
  facts.min = range.min;
  facts.max = range.max;
  facts.mean = range.mean;
  facts.elements = values->size();
  facts.looked = range.looked;
  for (int64_t i = 0; i < std::min(values->size(), mostShown); ++i)
    facts.first.push_back(elementText(*values, i));
}

uint32_t GraphViewer::tensorOf(Value value) {
  value = shownFor(value);
  const auto [known, isNew] =
      tensors.try_emplace(value, made.view.tensors.size());
  if (!isNew)
    return known->second;
  ViewedTensor tensor;
  tensor.name = names.nameOf(value);
  tensor.type = types.textOf(value);
  tensor.role = storage.roleOf(value);
  auto type = dyn_cast<RankedTensorType>(value.getType());
  const std::optional<ElementType> element =
      type ? elementTypeOf(type.getElementType()) : std::nullopt;
  if (element && type.hasStaticShape())
    tensor.bytes = byteCount(*element, Shape(type.getShape()));
  describeConstant(value, tensor);
  made.view.tensors.push_back(std::move(tensor));
  return known->second;
}

/// Makes \p value an input of \p node, unless the node computes it.
void GraphViewer::useTensor(uint32_t node, Value value) {
  Operation *producer = shownFor(value).getDefiningOp();
  if (auto of = made.nodeOf.find(producer);
      of != made.nodeOf.end() && of->second == node)
    return;
  const uint32_t tensor = tensorOf(value);
  if (isInput.insert({node, tensor}).second)
    made.view.nodes[node].inputs.push_back(tensor);
}

/// Adds the inputs and outputs that the node of \p op has by it.
void GraphViewer::connect(Operation *op) {
  const uint32_t node = made.nodeOf[op];
  for (Value operand : op->getOperands())
    useTensor(node, operand);
  if (holdsNodes(op))
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Value result : block.getTerminator()->getOperands())
          useTensor(node, result);
  for (Value result : op->getResults()) {
    const bool isInner =
        !result.use_empty() && llvm::all_of(result.getUsers(), [&](auto *user) {
          const auto of = made.nodeOf.find(user);
          return of != made.nodeOf.end() && of->second == node;
        });
    if (const uint32_t tensor = isInner ? 0 : tensorOf(result);
        !isInner && isOutput.insert({node, tensor}).second)
      made.view.nodes[node].outputs.push_back(tensor);
  }
}

NodesOfGraph GraphViewer::run() {
  func::FuncOp entry = model.entry();
  SmallVector<Operation *> shown;
  entry.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op == entry || op->hasTrait<OpTrait::IsTerminator>() ||
        isShownAsTensor(op))
      return WalkResult::advance();
    addOperation(op);
    shown.push_back(op);
    return holdsNodes(op) ? WalkResult::advance() : WalkResult::skip();
  });
  for (BlockArgument argument : entry.getArguments())
    made.view.inputs.push_back(tensorOf(argument));
  for (Operation *op : shown)
    connect(op);
  for (Value result : entry.front().getTerminator()->getOperands())
    made.view.outputs.push_back(tensorOf(result));
  return std::move(made);
}

Result<NodesOfGraph> viewGraph(const Model &model) {
  Result<Storage> storage = Storage::of(model);
  if (!storage)
    return inFile(storage.takeError(), model.path);
  return GraphViewer(model, *storage).run();
}

} // namespace sinter
