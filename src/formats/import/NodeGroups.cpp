#include "formats/import/NodeGroups.h"

#include "graph/Model.h"
#include "graph/nn/NnDeferred.h"
#include "graph/stablehlo/StablehloOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;

namespace sinter::formats {

namespace {
/// A group's fingerprint, its external operands, and the index of the external
/// operand of each use, in order.
struct Shape {
  uint64_t fingerprint;
  SmallVector<Value> externals;
  SmallVector<Value> uses;
};
} // namespace

/// The identity of a value that a group uses: equal constants of one name count
/// as the same value.
static std::pair<const void *, const void *> keyOf(Value value) {
  auto constant = value.getDefiningOp<stablehlo::ConstantOp>();
  if (!constant)
    return {value.getAsOpaquePointer(), nullptr};
  return {constant.getValue().getAsOpaquePointer(),
          constant->getAttr(nameAttribute).getAsOpaquePointer()};
}

static auto findIn(ArrayRef<Value> values, Value value) {
  return llvm::find_if(
      values, [&](Value each) { return each && keyOf(each) == keyOf(value); });
}

static void describeAttributes(Operation *op, raw_ostream &os) {
  os << '{';
  for (NamedAttribute attribute : op->getAttrDictionary())
    if (attribute.getName() != sourceAttribute)
      os << attribute.getName().getValue() << '=' << attribute.getValue()
         << ';';
  os << '}';
}

/// Name and attributes of an op and of all ops nested in it.
static void describeOp(Operation *op, raw_ostream &os) {
  os << op->getName();
  describeAttributes(op, os);
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (Operation &inner : block)
        describeOp(&inner, os);
}

static ElementsAttr constantOf(Value value) {
  auto constant = value.getDefiningOp<stablehlo::ConstantOp>();
  return constant ? constant.getValue() : ElementsAttr();
}

bool holdsGraphs(Operation *op) {
  return isa<stablehlo::IfOp, stablehlo::WhileOp>(op) ||
         (isa<nn::DeferredOp>(op) && op->getNumRegions() > 0);
}

SmallVector<Operation *> heldOps(ArrayRef<Operation *> ops) {
  SmallVector<Operation *> held;
  for (Operation *op : ops) {
    if (!holdsGraphs(op))
      continue;
    for (Region &region : op->getRegions())
      for (Operation &inner : region.getOps())
        if (auto number = sourceOf(&inner); number && number == sourceOf(op))
          held.push_back(&inner);
  }
  return held;
}

namespace {
/// Serialises a group for its fingerprint.
class GroupText {
public:
  explicit GroupText(ArrayRef<Operation *> ops)
      : number(ops.empty() ? std::nullopt : sourceOf(ops.front())), os(text) {
    for (Operation *op : ops)
      add(op);
  }
  Shape shape() {
    return {llvm::xxh3_64bits(os.str()), std::move(externals), std::move(uses)};
  }

private:
  void add(Operation *op) {
    if (holdsGraphs(op)) {
      os << op->getName();
      describeAttributes(op, os);
      for (Region &region : op->getRegions())
        for (Block &block : region)
          addHeld(block, /*isGraph=*/!isa<stablehlo::WhileOp>(op) ||
                             region.getRegionNumber() == 1);
    } else {
      describeOp(op, os);
    }
    for (Value operand : op->getOperands())
      addOperand(operand);
    os << '\n';
    numbers[op] = numbers.size();
  }

  /// Adds the node's own ops in \p block, and what it returns. Values of its
  /// own nodes that a graph returns may change.
  void addHeld(Block &block, bool isGraph) {
    os << '(' << block.getNumArguments() << ';';
    held.push_back(&block);
    for (Operation &op : block.without_terminator())
      if (sourceOf(&op) == number)
        add(&op);
    for (Value value : block.getTerminator()->getOperands()) {
      if (!isGraph || numbers.contains(value.getDefiningOp()))
        addOperand(value);
      else
        os << '_';
    }
    held.pop_back();
    os << ')';
  }

  void addOperand(Value operand) {
    auto inner = numbers.find(operand.getDefiningOp());
    if (inner != numbers.end()) {
      os << '%' << inner->second << '.'
         << cast<OpResult>(operand).getResultNumber();
      return;
    }
    // The position of a constant does not matter.
    if (!constantOf(operand) &&
        llvm::is_contained(held, operand.getParentBlock())) {
      if (auto argument = dyn_cast<BlockArgument>(operand))
        os << '^' << argument.getArgNumber();
      else
        os << '_';
      return;
    }
    if (seen.insert(keyOf(operand)).second)
      externals.push_back(operand);
    uses.push_back(operand);
    os << '$';
  }

  std::optional<int64_t> number;
  std::string text;
  llvm::raw_string_ostream os;
  SmallVector<Value> externals, uses;
  DenseSet<std::pair<const void *, const void *>> seen;
  DenseMap<Operation *, size_t> numbers;
  SmallVector<Block *> held;
};
} // namespace

/// The key of the node itself in a record.
static constexpr StringLiteral nodeKey = "proto";

static Shape describeGroup(ArrayRef<Operation *> ops) {
  return GroupText(ops).shape();
}

/// `inputs` of the entry; nothing if an input is neither used nor known.
static std::optional<SmallVector<Attribute>> inputsOf(const GroupRecord &record,
                                                      ArrayRef<Value> externals,
                                                      Builder &builder) {
  SmallVector<Attribute> result;
  for (auto [i, input] : llvm::enumerate(record.inputs)) {
    ElementsAttr constant =
        i < record.known.size() ? record.known[i] : ElementsAttr();
    if (!input && !constant) {
      result.push_back(builder.getUnitAttr());
      continue;
    }
    if (input) {
      auto found = findIn(externals, input);
      if (found != externals.end()) {
        result.push_back(builder.getI64IntegerAttr(found - externals.begin()));
        continue;
      }
      if (ElementsAttr own = constantOf(input))
        constant = own;
    }
    if (!constant)
      return std::nullopt;
    result.push_back(constant);
  }
  return result;
}

static std::optional<SmallVector<Attribute>>
constantsOf(const GroupRecord &record, ArrayRef<Value> externals,
            Builder &builder) {
  SmallVector<Attribute> result;
  for (Value external : externals) {
    bool isCaptured = llvm::any_of(record.captures, [&](const auto &each) {
      return keyOf(each.second) == keyOf(external);
    });
    if (isCaptured ||
        findIn(record.inputs, external) != ArrayRef(record.inputs).end()) {
      result.push_back(builder.getUnitAttr());
      continue;
    }
    ElementsAttr constant = constantOf(external);
    if (!constant)
      return std::nullopt;
    result.push_back(constant);
  }
  return result;
}

static std::optional<SmallVector<Attribute>>
outputsOf(const GroupRecord &record, Builder &builder) {
  SmallVector<Attribute> result;
  for (Value output : record.outputs) {
    if (!output) {
      result.push_back(builder.getUnitAttr());
      continue;
    }
    auto found = llvm::find(record.ops, output.getDefiningOp());
    if (found == record.ops.end())
      return std::nullopt;
    int64_t place[] = {
        found - record.ops.begin(),
        static_cast<int64_t>(cast<OpResult>(output).getResultNumber())};
    result.push_back(builder.getDenseI64ArrayAttr(place));
  }
  return result;
}

/// `captures` of the entry; nothing if one is not used.
static std::optional<SmallVector<Attribute>>
capturesOf(const GroupRecord &record, ArrayRef<Value> externals,
           Builder &builder) {
  SmallVector<Attribute> result;
  for (const auto &[name, value] : record.captures) {
    auto found = findIn(externals, value);
    if (found == externals.end())
      return std::nullopt;
    result.push_back(builder.getArrayAttr(
        {builder.getStringAttr(name),
         builder.getI64IntegerAttr(found - externals.begin())}));
  }
  return result;
}

void setGroup(NamedAttrList &entry, const GroupRecord &record,
              MLIRContext *context) {
  Builder builder(context);
  Shape shape = describeGroup(record.ops);
  auto inputs = inputsOf(record, shape.externals, builder);
  auto constants = constantsOf(record, shape.externals, builder);
  auto outputs = outputsOf(record, builder);
  auto captures = capturesOf(record, shape.externals, builder);
  if (record.node.empty() || record.ops.empty() || !inputs || !constants ||
      !outputs || !captures)
    return;
  entry.set(nodeKey, builder.getStringAttr(record.node));
  entry.set("group", builder.getI64IntegerAttr(shape.fingerprint));
  SmallVector<int64_t> uses;
  for (Value value : shape.uses)
    uses.push_back(findIn(shape.externals, value) - shape.externals.begin());
  entry.set("uses", builder.getDenseI64ArrayAttr(uses));
  entry.set("inputs", builder.getArrayAttr(*inputs));
  entry.set("constants", builder.getArrayAttr(*constants));
  entry.set("outputs", builder.getArrayAttr(*outputs));
  if (!captures->empty())
    entry.set("captures", builder.getArrayAttr(*captures));
}

/// The current values of the \p count external operands that the group had. Two
/// of them may have become one value; returns nothing if one became two.
static std::optional<SmallVector<Value>>
externalsOf(DictionaryAttr record, const Shape &shape, size_t count) {
  auto uses = record.getAs<DenseI64ArrayAttr>("uses");
  if (!uses || static_cast<size_t>(uses.size()) != shape.uses.size())
    return std::nullopt;
  SmallVector<Value> externals(count);
  for (auto [number, value] : llvm::zip_equal(uses.asArrayRef(), shape.uses)) {
    if (number < 0 || number >= static_cast<int64_t>(count))
      return std::nullopt;
    Value &external = externals[number];
    if (external && keyOf(external) != keyOf(value))
      return std::nullopt;
    external = value;
  }
  return llvm::is_contained(externals, Value()) ? std::nullopt
                                                : std::optional(externals);
}

std::optional<UntouchedNode> untouchedNode(DictionaryAttr record,
                                           ArrayRef<Operation *> ops) {
  auto encoded = record.getAs<StringAttr>(nodeKey);
  auto group = record.getAs<IntegerAttr>("group");
  auto inputs = record.getAs<ArrayAttr>("inputs");
  auto constants = record.getAs<ArrayAttr>("constants");
  auto outputs = record.getAs<ArrayAttr>("outputs");
  if (!encoded || !group || !inputs || !constants || !outputs || ops.empty())
    return std::nullopt;
  Shape shape = describeGroup(ops);
  auto externals = externalsOf(record, shape, constants.size());
  if (static_cast<uint64_t>(group.getInt()) != shape.fingerprint || !externals)
    return std::nullopt;
  for (auto [constant, external] : llvm::zip_equal(constants, *externals))
    if (!isa<UnitAttr>(constant) && constant != constantOf(external))
      return std::nullopt;

  UntouchedNode node;
  node.node = encoded.getValue();
  for (Attribute input : inputs) {
    auto &entry = node.inputs.emplace_back();
    if (auto number = dyn_cast<IntegerAttr>(input)) {
      if (number.getInt() < 0 ||
          number.getInt() >= static_cast<int64_t>(externals->size()))
        return std::nullopt;
      entry.value = (*externals)[number.getInt()];
    } else {
      entry.constant = dyn_cast<ElementsAttr>(input);
    }
  }
  if (auto captures = record.getAs<ArrayAttr>("captures"))
    for (Attribute each : captures) {
      auto capture = dyn_cast<ArrayAttr>(each);
      if (!capture || capture.size() != 2)
        return std::nullopt;
      auto name = dyn_cast<StringAttr>(capture[0]);
      auto number = dyn_cast<IntegerAttr>(capture[1]);
      if (!name || !number || number.getInt() < 0 ||
          number.getInt() >= static_cast<int64_t>(externals->size()))
        return std::nullopt;
      node.captures.push_back({name.str(), (*externals)[number.getInt()]});
    }
  for (Attribute output : outputs) {
    Value value;
    if (auto place = dyn_cast<DenseI64ArrayAttr>(output)) {
      if (place.size() != 2 || place[0] < 0 ||
          place[0] >= static_cast<int64_t>(ops.size()) || place[1] < 0 ||
          place[1] >= static_cast<int64_t>(ops[place[0]]->getNumResults()))
        return std::nullopt;
      value = ops[place[0]]->getResult(place[1]);
    }
    node.outputs.push_back(value);
  }
  const std::optional<int64_t> number = sourceOf(ops.front());
  // Nested ones have the mark, too.
  auto isMember = [&](Operation *user) { return sourceOf(user) == number; };
  for (Operation *op : ops)
    for (Value result : op->getResults())
      if (!llvm::is_contained(node.outputs, result) &&
          !llvm::all_of(result.getUsers(), isMember))
        return std::nullopt;
  for (Operation *op : heldOps(ops))
    for (Operation *user : op->getUsers())
      if (!isMember(user) && user != op->getBlock()->getTerminator())
        return std::nullopt;
  return node;
}

Operation *insertionPoint(const UntouchedNode &node,
                          ArrayRef<Operation *> ops) {
  Block *block = ops.front()->getBlock();
  llvm::SmallPtrSet<Operation *, 8> members(ops.begin(), ops.end());
  auto usedAfter = [&](Operation *place) {
    for (Value output : node.outputs)
      if (output)
        for (Operation *user : output.getUsers()) {
          Operation *here = block->findAncestorOpInBlock(*user);
          if (here && !members.contains(here) && here->isBeforeInBlock(place))
            return false;
        }
    return true;
  };
  if (usedAfter(ops.back()))
    return ops.back();
  for (Operation *op : ops)
    for (Value operand : op->getOperands()) {
      Operation *definition = operand.getDefiningOp();
      if (definition && definition->getBlock() == block &&
          !members.contains(definition) &&
          !isa<stablehlo::ConstantOp>(definition) &&
          !definition->isBeforeInBlock(ops.front()))
        return nullptr;
    }
  return ops.front();
}

/// Buffer size of the text to hash.
static constexpr size_t hashedAtOnce = 1 << 20;

uint64_t fingerprintOf(Block &block) {
  std::string text;
  llvm::raw_string_ostream os(text);
  DenseMap<Value, size_t> numbers;
  auto number = [&](ValueRange values) {
    for (Value value : values)
      numbers.try_emplace(value, numbers.size());
  };
  number(block.getArguments());
  block.walk<WalkOrder::PreOrder>([&](Operation *op) {
    os << op->getName() << op->getNumResults();
    describeAttributes(op, os);
    for (Value operand : op->getOperands())
      os << '%' << numbers.lookup(operand);
    number(op->getResults());
    for (Region &region : op->getRegions()) {
      os << '(' << region.getBlocks().size();
      for (Block &inner : region)
        number(inner.getArguments());
    }
    os << '\n';
    if (text.size() >= hashedAtOnce) {
      const uint64_t before = llvm::xxh3_64bits(text);
      text.clear();
      os << before << '\n';
    }
  });
  return llvm::xxh3_64bits(text);
}

} // namespace sinter::formats
