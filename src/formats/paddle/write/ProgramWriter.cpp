// Writes the entry function: operators in order.

#include "formats/paddle/write/ProgramWriter.h"

#include "formats/import/InOtherOps.h"
#include "formats/import/WriterRule.h"
#include "formats/paddle/write/OperatorWriter.h"
#include "formats/paddle/write/Quantized.h"
#include "formats/paddle/write/WriterRules.h"
#include "graph/Broadcast.h"
#include "graph/Constants.h"
#include "graph/Types.h"
#include "graph/WeightConstants.h"
#include "graph/nn/NnOps.h"
#include "graph/stablehlo/StablehloOps.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace sinter::paddle {

/// Maximum nesting depth of decompositions.
static constexpr int deepestNesting = 200;

ProgramWriter::ProgramWriter(ModuleOp module, Program readProgram)
    : module(module), entry(entryOf(module).getBody().front()),
      before(std::move(readProgram)) {
  if (!before.blocks.empty())
    for (const Variable &each : before.blocks.front().variables)
      beforeVariables[each.name] = &each;
}

void ProgramWriter::run() {
  if (giveBack())
    return;
  computeWithOperators(entryOf(module), unsupported);
  if (!unsupported.empty())
    return;
  plan();
  writeBlock();
  writeOutputs();
  if (!unsupported.empty())
    return;
  dropUnread();
  writeVariables();
}

/// Writes the original program if the module is unchanged since import.
bool ProgramWriter::giveBack() {
  if (before.blocks.empty() || !isUntouched(module))
    return false;
  llvm::StringMap<Tensor> tensors;
  module.walk([&](stablehlo::ConstantOp op) {
    auto name = op->getAttrOfType<StringAttr>(nameAttribute);
    auto tensor = name ? toTensor(op.getValue()) : std::nullopt;
    if (tensor)
      tensors.try_emplace(name.getValue(), *tensor);
  });
  if (auto unread =
          keptOfSource<DictionaryAttr>(module, formatName, parametersAttribute))
    for (NamedAttribute each : unread)
      if (auto value = dyn_cast<ElementsAttr>(each.getValue()))
        if (auto tensor = toTensor(value))
          tensors.try_emplace(each.getName().getValue(), *tensor);
  for (const Variable *each : before.parameters()) {
    auto found = tensors.find(each->name);
    if (found == tensors.end()) {
      parameters.clear();
      return false;
    }
    parameters[each->name] = found->second;
  }
  written = before;
  return true;
}

std::vector<WrittenParameter> ProgramWriter::takeParameters() {
  std::vector<WrittenParameter> list;
  for (auto &each : parameters)
    list.push_back({each.getKey().str(), each.getValue()});
  return list;
}

//===----------------------------------------------------------------------===//
// Which operators are given back
//===----------------------------------------------------------------------===//

void ProgramWriter::want(Value value, StringRef name) {
  reserved.insert(name);
  wanted.try_emplace(value, name.str());
}

void ProgramWriter::planGroup(ArrayAttr records, int64_t number,
                              ArrayRef<mlir::Operation *> ops) {
  if (number >= static_cast<int64_t>(records.size()))
    return;
  auto record = dyn_cast<DictionaryAttr>(records[number]);
  auto node = record ? formats::untouchedNode(record, ops) : std::nullopt;
  const Operator *source = node ? operatorAt(before, node->node) : nullptr;
  mlir::Operation *anchor =
      source ? formats::insertionPoint(*node, ops) : nullptr;
  if (!anchor)
    return;
  size_t inputs = 0, outputs = 0;
  for (const Slot &slot : source->inputs)
    inputs += slot.arguments.size();
  for (const Slot &slot : source->outputs)
    outputs += slot.arguments.size();
  if (inputs != node->inputs.size() || outputs != node->outputs.size())
    return;
  auto keptOperator = std::make_unique<KeptOperator>();
  keptOperator->source = source;
  keptOperator->anchor = anchor;
  keptOperator->node = std::move(*node);
  size_t i = 0;
  for (const Slot &slot : source->outputs)
    for (const std::string &name : slot.arguments) {
      reserved.insert(name);
      if (Value value = keptOperator->node.outputs[i++])
        want(value, name);
    }
  for (mlir::Operation *op : ops)
    keptOf[op] = keptOperator.get();
  kept.push_back(std::move(keptOperator));
}

void ProgramWriter::planPorts() {
  func::FuncOp function = entryOf(module);
  auto port = [](ArrayRef<Port> ports, StringRef name) {
    for (const Port &each : ports)
      if (each.name == name)
        return each;
    return Port{name.str(), name.str()};
  };
  for (BlockArgument argument : entry.getArguments()) {
    auto given = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                       nameAttribute);
    const std::string name =
        given ? given.str() : "x" + std::to_string(argument.getArgNumber());
    written.inputs.push_back(port(before.inputs, name));
    reserved.insert(written.inputs.back().variable);
  }
  for (auto [i, value] :
       llvm::enumerate(entry.getTerminator()->getOperands())) {
    auto given = function.getResultAttrOfType<StringAttr>(i, nameAttribute);
    const std::string name = given ? given.str() : "y" + std::to_string(i);
    written.outputs.push_back(port(before.outputs, name));
    reserved.insert(written.outputs.back().variable);
    if (value.getDefiningOp() && !value.getDefiningOp<stablehlo::ConstantOp>())
      want(value, written.outputs.back().variable);
  }
}

void ProgramWriter::planConstants() {
  module.walk([&](stablehlo::ConstantOp op) {
    auto name = op->getAttrOfType<StringAttr>(nameAttribute);
    if (!name || name.getValue().empty())
      return;
    auto [place, isNew] = weights.try_emplace({op.getValue(), name});
    if (!isNew)
      return;
    place->second = freshName(name.getValue());
    weightNames.insert(place->second);
    if (isListedWeight(op))
      trained.insert(place->second);
  });
}

void ProgramWriter::plan() {
  written.era = before.era;
  written.version = before.version;
  written.encoded = before.encoded;
  written.blocks.resize(1);
  planPorts();
  planConstants();
  findConstantSources();
  llvm::MapVector<int64_t, SmallVector<mlir::Operation *>> groups;
  for (auto [i, op] : llvm::enumerate(entry)) {
    positions[&op] = i;
    if (auto number = sourceOf(&op))
      groups[*number].push_back(&op);
  }
  if (auto records =
          keptOfSource<ArrayAttr>(module, formatName, sourceRecordsAttribute))
    for (auto &[number, ops] : groups)
      planGroup(records, number, ops);
  for (auto [argument, port] :
       llvm::zip_equal(entry.getArguments(), written.inputs))
    names[argument] = take(port.variable, argument, tensorOf(argument));
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

bool ProgramWriter::isBroadcast(mlir::Operation *op) const {
  return op && op->getNumResults() == 1 && !keptOf.contains(op) &&
         Broadcast::of(op->getResult(0));
}

void ProgramWriter::writeBlock() {
  // Decomposing adds ops, which are written there.
  std::vector<mlir::Operation *> ops;
  for (mlir::Operation &op : entry.without_terminator())
    ops.push_back(&op);
  for (mlir::Operation *op : ops) {
    position = positions.lookup(op);
    if (auto found = keptOf.find(op); found == keptOf.end())
      writeAny(op);
    else if (found->second->anchor == op)
      writeKept(*found->second);
  }
}

void ProgramWriter::writeOps(mlir::Block &block) {
  std::vector<mlir::Operation *> ops;
  for (mlir::Operation &op : block.without_terminator())
    ops.push_back(&op);
  for (mlir::Operation *op : ops)
    writeAny(op);
}

/// Constants and broadcasts are written at their uses.
void ProgramWriter::writeAny(mlir::Operation *op) {
  if (!isa<stablehlo::ConstantOp>(op) && !isBroadcast(op))
    writeOp(op);
}

/// Finds the operators that produce constants, by output variables that no
/// other operator writes.
void ProgramWriter::findConstantSources() {
  if (before.blocks.empty())
    return;
  llvm::StringMap<int64_t> writes;
  for (const paddle::Block &block : before.blocks)
    for (const Operator &op : block.operators)
      for (const Slot &slot : op.outputs)
        for (const std::string &name : slot.arguments)
          ++writes[name];
  for (const Operator &op : before.blocks.front().operators) {
    const auto *names = op.output("Out");
    if ((op.type == "assign_value" || op.type == "fill_constant") &&
        llvm::all_of(op.inputs,
                     [](const Slot &slot) { return slot.arguments.empty(); }) &&
        names && names->size() == 1 && writes.lookup(names->front()) == 1)
      constantSources[names->front()] = &op;
  }
}

/// Keeps the operator that produced the constant \p name of type \p type; false
/// if there is none.
bool ProgramWriter::keepConstant(const Name &name, RankedTensorType type) {
  if (holders.contains(name))
    return keptConstants.contains(name);
  const Operator *source = constantSources.lookup(name);
  if (!source || declared.contains(name))
    return false;
  keptConstants.insert(name);
  take(name, Value(), type);
  add(*source);
  return true;
}

void ProgramWriter::writeKept(const KeptOperator &keptOperator) {
  Operator op = *keptOperator.source;
  const formats::UntouchedNode &node = keptOperator.node;
  llvm::StringMap<Name> renamed;
  size_t i = 0;
  for (Slot &slot : op.inputs)
    for (std::string &argument : slot.arguments) {
      const auto &input = node.inputs[i++];
      const bool isKept =
          !input.value && input.constant &&
          keepConstant(argument,
                       cast<RankedTensorType>(input.constant.getType()));
      const Name now = input.value ? name(input.value)
                       : input.constant && !isKept
                           ? constantNamed(input.constant, argument)
                           : argument;
      renamed[argument] = now;
      argument = now;
    }
  readsFirst = true;
  i = 0;
  for (Slot &slot : op.outputs)
    for (std::string &argument : slot.arguments) {
      if (Value value = node.outputs[i++]) {
        argument = claim(value);
        continue;
      }
      // In-place outputs, such as running statistics, stay in place.
      auto same = renamed.find(argument);
      argument = same != renamed.end() ? same->second : deadOutput(argument);
    }
  readsFirst = false;
  // An operator that was part of a branch or loop of PIR is separate now.
  if (op.encodedEra == Era::Pir && op.encoded.ends_with(':'))
    op.encoded.clear();
  add(std::move(op));
}

bool ProgramWriter::tryRule(mlir::Operation *op, std::string &reason) {
  const WriterRule *rule = findWriterRule(op->getName().getStringRef());
  if (!rule)
    return false;
  const size_t count = operators.size();
  OperatorWriter writer(*this, op);
  if (succeeded(rule->write(writer, op)) && !writer.isBroken())
    return true;
  reason = writer.reason().str();
  writer.undo();
  operators.resize(count);
  return false;
}

bool ProgramWriter::decompose(mlir::Operation *op) {
  if (depth >= deepestNesting)
    return false;
  const auto other = formats::inOtherOps(op);
  if (!other)
    return false;
  for (mlir::Operation *made : other->made)
    positions[made] = position;
  for (auto [result, value] :
       llvm::zip_equal(op->getResults(), other->values)) {
    auto found = wanted.find(result);
    mlir::Operation *definition = value.getDefiningOp();
    if (found != wanted.end() && definition && !names.contains(value) &&
        !isa<stablehlo::ConstantOp>(definition)) {
      Name name = found->second;
      wanted.try_emplace(value, name);
    }
    result.replaceAllUsesWith(value);
    decomposed[result] = value;
  }
  ++depth;
  for (mlir::Operation *made : other->made)
    writeAny(made);
  --depth;
  return true;
}

void ProgramWriter::writeOp(mlir::Operation *op) {
  std::string reason;
  if (writeControlFlow(op) || tryRule(op, reason) || decompose(op))
    return;
  addUnsupported(op, reason);
  // Its users are still visited, to list all failures at once.
  for (Value result : op->getResults())
    bind(result, "");
}

void ProgramWriter::addUnsupported(mlir::Operation *op, StringRef reason) {
  ++unsupported[formats::unwritten(op, reason)];
}

//===----------------------------------------------------------------------===//
// Outputs and variables
//===----------------------------------------------------------------------===//

/// Assigns results that are not in their output variables to these, after
/// moving other values out of the way.
void ProgramWriter::writeOutputs() {
  mlir::Operation *terminator = entry.getTerminator();
  position = positions.lookup(terminator);
  std::vector<std::pair<size_t, Name>> moved;
  for (auto [i, value] : llvm::enumerate(terminator->getOperands())) {
    const Name now = name(value);
    if (now.empty() || now == written.outputs[i].variable)
      continue;
    moved.push_back({i, now});
  }
  // Two of them may be swapped.
  if (moved.size() > 1)
    for (auto &[i, now] : moved) {
      const Name aside = declareNew(now, tensorOf(terminator->getOperand(i)));
      addAssign(now, aside);
      now = aside;
    }
  for (auto &[i, now] : moved) {
    const Name &to = written.outputs[i].variable;
    Value value = terminator->getOperand(i);
    const bool isTaken =
        parameters.contains(to) ||
        llvm::any_of(llvm::enumerate(terminator->getOperands()),
                     [&](auto each) {
                       return each.value() != value &&
                              names.lookup(each.value()) == to &&
                              written.outputs[each.index()].variable == to;
                     });
    if (isTaken) {
      ++unsupported["two outputs called " + to];
      continue;
    }
    auto type = tensorOf(value);
    declared.erase(to);
    take(to, Value(), type);
    addAssign(now, to);
  }
}

/// Adds the variables that \p op, and operators in its block, read.
static void addReads(const Program &program, const Operator &op,
                     llvm::StringSet<> &reads) {
  for (const Slot &slot : op.inputs)
    reads.insert(slot.arguments.begin(), slot.arguments.end());
  for (const paddle::Attribute &each : op.attributes) {
    if (const auto *names = std::get_if<VariableNames>(&each.value))
      reads.insert(names->names.begin(), names->names.end());
    if (const auto *block = std::get_if<BlockIndex>(&each.value))
      for (const Operator &inner : program.blocks[block->index].operators)
        addReads(program, inner, reads);
  }
}

/// Removes operators without used results: rules may not use operators that
/// they added.
void ProgramWriter::dropUnread() {
  llvm::StringSet<> read;
  for (const Port &port : written.outputs)
    read.insert(port.variable);
  std::vector<Operator> left;
  for (Operator &op : llvm::reverse(operators)) {
    bool isRead = op.outputs.empty();
    for (const Slot &slot : op.outputs)
      for (const std::string &name : slot.arguments)
        isRead |= read.contains(name);
    if (!isRead)
      continue;
    // A block may leave a variable that its operator writes unchanged.
    if (!op.attribute("sub_block"))
      for (const Slot &slot : op.outputs)
        for (const std::string &name : slot.arguments)
          read.erase(name);
    addReads(written, op, read);
    left.push_back(std::move(op));
  }
  operators.assign(std::make_move_iterator(left.rbegin()),
                   std::make_move_iterator(left.rend()));
}

/// Declares the variables that operators use: existing ones in their order,
/// then new ones.
void ProgramWriter::writeVariables() {
  llvm::StringSet<> used;
  written.blocks.front().operators = std::move(operators);
  for (const paddle::Block &block : written.blocks)
    for (const Operator &op : block.operators)
      for (const auto *slots : {&op.inputs, &op.outputs})
        for (const Slot &slot : *slots)
          used.insert(slot.arguments.begin(), slot.arguments.end());
  for (const auto *ports : {&written.inputs, &written.outputs})
    for (const Port &port : *ports)
      used.insert(port.variable);
  std::vector<Variable> &list = written.blocks.front().variables;
  if (!before.blocks.empty())
    for (const Variable &each : before.blocks.front().variables) {
      const bool isPort =
          each.kind == VariableKind::Feed || each.kind == VariableKind::Fetch;
      auto now = declared.find(each.name);
      const bool isSame = now == declared.end() || now->second.index >= 0;
      if (isPort || (isSame && used.contains(each.name))) {
        list.push_back(each);
        used.erase(each.name);
      }
    }
  std::vector<StringRef> names;
  for (const auto &each : declared)
    if (used.contains(each.getKey()))
      names.push_back(each.getKey());
  llvm::sort(names);
  for (StringRef each : names)
    written.blocks[homes.lookup(each)].variables.push_back(declared[each]);
  llvm::StringSet<> listed;
  for (const Variable &variable : list)
    listed.insert(variable.name);
  std::vector<std::string> unread;
  for (const auto &each : parameters)
    if (!listed.contains(each.getKey()))
      unread.push_back(each.getKey().str());
  for (const std::string &each : unread)
    parameters.erase(each);
}

} // namespace sinter::paddle
