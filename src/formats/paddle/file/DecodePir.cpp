//===- DecodePir.cpp - programs from PIR's JSON ---------------------------===//
//
// The text is read from front to back, an operator at a time. What Program has
// no operators for (parameters, inputs and outputs, lists of values, the ends
// of regions) stays as text in Program::encoded, where all others stand as the
// count of them. An operator's `encoded` is its text after its number among all
// of the file's operators, with a colon between.
//
//===----------------------------------------------------------------------===//

#include "formats/paddle/file/PirControlFlow.h"
#include "formats/paddle/file/PirOperator.h"
#include "formats/paddle/file/PirProgram.h"
#include "formats/paddle/file/PirTypes.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace sinter::paddle {

namespace {

/// Regions inside of regions at most.
constexpr int deepestRegions = 64;

/// What an operand names.
struct Value {
  /// Of the variable; empty for one that is absent.
  std::string name;
  bool isList = false, isVisible = true, isArray = false;
  std::optional<ElementType> type;
  /// Of a list: its variables.
  std::vector<std::string> elements;
  /// Of a constant.
  AttributeValue constant;
};

/// What becomes of the values that end a region.
struct Ending {
  enum Form : uint8_t { None, Then, Else, Loop };
  Form form = None;
  std::vector<std::string> results;
  PirLoop loop;
};

class Decoder {
public:
  explicit Decoder(std::string_view text) : text(text), copied(text.data()) {}

  Result<Program> decode();

private:
  Error broken(const std::string &why) const { return invalidModel(why); }
  bool stop(Error error) {
    if (!problem)
      problem = std::move(error);
    return false;
  }
  bool stopAt(const RawPirOperator &raw, const std::string &why) {
    return stop(broken("operator '" + raw.name + "': " + why));
  }
  /// A reader of a part of the text.
  JsonReader readerOf(std::string_view part) const {
    return JsonReader(part, part.data() - text.data());
  }
  bool check(const JsonReader &in) {
    return in.failed() ? stop(broken(in.problem())) : !problem;
  }

  bool decodeHeader(JsonReader &in);
  bool decodeRegions(JsonReader &in, const std::vector<Ending> &endings,
                     std::vector<int64_t> *indices);
  bool decodeBlock(JsonReader &in, int64_t index, const Ending &ending);
  bool decodeArguments(JsonReader &in, int64_t index, const Ending &ending);
  bool decodeOperator(JsonReader &in, int64_t index, const Ending &ending);
  bool translate(const RawPirOperator &raw, int64_t block);

  bool addParameter(const RawPirOperator &raw, int64_t block);
  bool addInput(const RawPirOperator &raw, int64_t block);
  bool addOutput(const RawPirOperator &raw, int64_t block);
  bool addList(const RawPirOperator &raw);
  bool addParts(const RawPirOperator &raw);
  bool addHidden(const RawPirOperator &raw, int64_t block, bool &isHidden);
  bool addBranch(const RawPirOperator &raw, int64_t block);
  bool addLoop(const RawPirOperator &raw, int64_t block);
  bool addOther(const RawPirOperator &raw, int64_t block);
  bool addEnd(const RawPirOperator &raw, int64_t block, const Ending &ending);
  void append(int64_t block, std::vector<Operator> operators, size_t ordinal);

  const Value *lookup(int64_t id);
  const Value *operand(const RawPirOperator &raw, size_t i);
  bool operandNames(const RawPirOperator &raw, size_t i,
                    std::vector<std::string> &names);
  /// Defines a value; null, with an error, if there is one already.
  Value *define(int64_t id, std::string name);
  /// Declares result \p i as a variable of its own.
  Value *declare(const RawPirOperator &raw, size_t i, int64_t block);
  void declare(int64_t block, Variable variable, std::string name);

  bool bindOperands(const RawPirOperator &raw, const PirOperator *row,
                    Operator &op, std::string &overwritten);
  bool bindAttributeOperand(const PirOperand &operand, const Value &value,
                            Operator &op);
  bool bindResults(const RawPirOperator &raw, const PirOperator *row,
                   int64_t block, Operator &op, const std::string &overwritten);
  void addCastType(const RawPirOperator &raw, Operator &op);

  void copyUntil(const char *end) {
    program.encoded.append(copied, end - copied);
    copied = end;
  }
  /// The operators that were left out.
  void endRun() {
    if (run > 0)
      program.encoded += std::to_string(run);
    run = 0;
  }

  std::string_view text;
  Program program;
  std::unordered_map<int64_t, Value> values;
  std::unordered_set<std::string> names;
  /// The ids that the regions around define, innermost last.
  std::vector<std::vector<int64_t>> scopes;
  std::vector<int64_t> columns;
  /// The block that is being read.
  int64_t current = -1;
  size_t nextOrdinal = 0;
  const char *copied;
  size_t run = 0;
  std::optional<Error> problem;
};

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Value *Decoder::define(int64_t id, std::string name) {
  auto [place, isNew] = values.try_emplace(id);
  if (!isNew) {
    stop(broken("value %" + std::to_string(id) + " is defined twice"));
    return nullptr;
  }
  place->second.name = std::move(name);
  scopes.back().push_back(id);
  return &place->second;
}

void Decoder::declare(int64_t block, Variable variable, std::string name) {
  std::vector<Variable> &list = program.blocks[block].variables;
  variable.name = std::move(name);
  variable.index = static_cast<int64_t>(list.size());
  list.push_back(std::move(variable));
}

Value *Decoder::declare(const RawPirOperator &raw, size_t i, int64_t block) {
  const RawPirOperator::Result &result = raw.results[i];
  const std::string name =
      result.type.isNull ? "" : "%" + std::to_string(result.id);
  Value *value = define(result.id, name);
  if (!value || result.type.isNull)
    return value;
  value->isList = result.type.isList;
  value->type = result.type.variable.type;
  value->isArray = result.type.variable.kind == VariableKind::TensorArray;
  if (!value->isList) {
    declare(block, result.type.variable, name);
    return value;
  }
  for (const Variable &element : result.type.elements) {
    value->elements.push_back(name + "." +
                              std::to_string(value->elements.size()));
    declare(block, element, value->elements.back());
  }
  return value;
}

const Value *Decoder::lookup(int64_t id) {
  const auto found = values.find(id);
  if (found != values.end() && found->second.isVisible)
    return &found->second;
  stop(
      broken("value %" + std::to_string(id) + " is used before it is defined"));
  return nullptr;
}

/// The operand's value; null for one that is absent, and with an error.
const Value *Decoder::operand(const RawPirOperator &raw, size_t i) {
  if (i >= raw.operands.size() || raw.operands[i] == 0)
    return nullptr;
  const Value *value = lookup(raw.operands[i]);
  return value && (value->isList || !value->name.empty()) ? value : nullptr;
}

bool Decoder::operandNames(const RawPirOperator &raw, size_t i,
                           std::vector<std::string> &list) {
  const Value *value = operand(raw, i);
  if (!value)
    return problem ? false : stopAt(raw, "an operand is missing");
  if (value->isList)
    return stopAt(raw, "an operand is a list");
  list.push_back(value->name);
  return true;
}

//===----------------------------------------------------------------------===//
// Parameters, ports and lists
//===----------------------------------------------------------------------===//

bool Decoder::addParameter(const RawPirOperator &raw, int64_t block) {
  if (raw.results.size() != 1 || raw.results[0].type.isList)
    return stopAt(raw, "a parameter has not one result");
  const std::string name =
      raw.isShort ? raw.parameterName : raw.string("parameter_name");
  if (name.empty())
    return stopAt(raw, "a parameter without a name");
  if (block != 0)
    return stopAt(raw, "parameter '" + name + "' in a region");
  if (name.starts_with('%') || !names.insert(name).second)
    return stopAt(raw, "the name of parameter '" + name +
                           "' is that of another value");
  Variable variable = raw.results[0].type.variable;
  variable.isPersistable = true;
  variable.stopsGradient = true;
  Value *value = define(raw.results[0].id, name);
  if (!value)
    return false;
  value->type = variable.type;
  declare(block, std::move(variable), name);
  return true;
}

bool Decoder::addInput(const RawPirOperator &raw, int64_t block) {
  if (raw.results.size() != 1 || raw.results[0].type.isList || block != 0)
    return stopAt(raw, "an input is a result of the main block");
  const int64_t id = raw.results[0].id;
  const std::string port = raw.string("name");
  std::string name = port;
  if (name.empty() || name.starts_with('%') || !names.insert(name).second)
    name = "%" + std::to_string(id);
  Value *value = define(id, name);
  if (!value)
    return false;
  value->type = raw.results[0].type.variable.type;
  declare(block, raw.results[0].type.variable, name);
  program.inputs.push_back({name, port.empty() ? name : port});
  return true;
}

bool Decoder::addOutput(const RawPirOperator &raw, int64_t block) {
  const Value *value = operand(raw, 0);
  if (problem)
    return false;
  if (!value || value->isList || block != 0)
    return stopAt(raw, "an output is a value of the main block");
  std::string name = raw.string("name");
  if (name.empty())
    name = raw.string("output_name");
  program.outputs.push_back({value->name, name.empty() ? value->name : name});
  columns.push_back(raw.integer("col", static_cast<int64_t>(columns.size())));
  for (const RawPirOperator::Result &result : raw.results)
    if (!define(result.id, value->name))
      return false;
  return true;
}

/// builtin.combine.
bool Decoder::addList(const RawPirOperator &raw) {
  std::vector<std::string> elements;
  for (size_t i = 0; i < raw.operands.size(); ++i)
    if (!operandNames(raw, i, elements))
      return false;
  if (raw.results.size() != 1)
    return stopAt(raw, "a list is one result");
  Value *value = define(raw.results[0].id, "");
  if (!value)
    return false;
  value->isList = true;
  value->elements = std::move(elements);
  return true;
}

/// builtin.split, builtin.slice: elements of a list.
bool Decoder::addParts(const RawPirOperator &raw) {
  const Value *list = operand(raw, 0);
  if (problem)
    return false;
  if (!list || !list->isList)
    return stopAt(raw, "its operand is no list");
  // Defining values moves the others.
  const std::vector<std::string> elements = list->elements;
  const bool isSlice = raw.name == "builtin.slice";
  const int64_t first = isSlice ? raw.integer("index", 0) : 0;
  const auto count = static_cast<int64_t>(elements.size());
  if (first < 0 || first >= std::max<int64_t>(count, 1) ||
      raw.results.size() != (isSlice ? 1 : elements.size()))
    return stopAt(raw, "the list has " + std::to_string(count) + " elements");
  for (size_t i = 0; i < raw.results.size(); ++i) {
    if (first + static_cast<int64_t>(i) >= count)
      return stopAt(raw, "the list is empty");
    Value *value = define(raw.results[i].id, elements[first + i]);
    if (!value)
      return false;
    value->type = raw.results[i].type.variable.type;
  }
  return true;
}

bool Decoder::addHidden(const RawPirOperator &raw, int64_t block,
                        bool &isHidden) {
  isHidden = true;
  if (raw.name == "builtin.parameter")
    return addParameter(raw, block);
  if (raw.name == "pd_op.data" || raw.name == "pd_op.feed")
    return addInput(raw, block);
  if (raw.name == "pd_op.fetch" || raw.name == "builtin.shadow_output")
    return addOutput(raw, block);
  if (raw.name == "builtin.combine")
    return addList(raw);
  if (raw.name == "builtin.split" || raw.name == "builtin.slice")
    return addParts(raw);
  if (raw.name == "pd_op.create_array" && raw.results.size() == 1)
    return declare(raw, 0, block) != nullptr;
  isHidden = false;
  return true;
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

/// An operand that is an attribute in the older vocabulary, unless that has a
/// slot for a tensor.
bool Decoder::bindAttributeOperand(const PirOperand &operand,
                                   const Value &value, Operator &op) {
  if (value.isList) {
    if (!operand.listSlot.empty())
      op.inputs.push_back({std::string(operand.listSlot), value.elements});
    else
      op.attributes.push_back(
          {std::string(operand.legacy), VariableNames{value.elements}});
  } else if (!operand.slot.empty()) {
    op.inputs.push_back({std::string(operand.slot), {value.name}});
  } else if (value.constant.index() != 0) {
    op.attributes.push_back({std::string(operand.legacy), value.constant});
  } else {
    op.attributes.push_back(
        {std::string(operand.legacy), VariableNames{{value.name}}});
  }
  return true;
}

bool Decoder::bindOperands(const RawPirOperator &raw, const PirOperator *row,
                           Operator &op, std::string &overwritten) {
  for (size_t i = 0; i < raw.operands.size(); ++i) {
    const Value *value = operand(raw, i);
    if (problem)
      return false;
    const PirOperand *described =
        row && i < row->operands.size() ? &row->operands[i] : nullptr;
    if (!described && row)
      return stopAt(
          raw, std::to_string(raw.operands.size()) + " operands, of which " +
                   std::to_string(row->operands.size()) + " are known");
    if (!value || (described && described->form == PirOperand::Nothing))
      continue;
    if (described && described->form == PirOperand::Overwritten)
      overwritten = value->name;
    else if (described && described->form == PirOperand::Attribute)
      bindAttributeOperand(*described, *value, op);
    else if (described && described->form == PirOperand::Tensor &&
             value->isList)
      return stopAt(raw, "operand " + std::to_string(i) + " is a list");
    else
      op.inputs.push_back(
          {described ? std::string(described->slot) : "#" + std::to_string(i),
           value->isList ? value->elements
                         : std::vector<std::string>{value->name}});
  }
  return true;
}

bool Decoder::bindResults(const RawPirOperator &raw, const PirOperator *row,
                          int64_t block, Operator &op,
                          const std::string &overwritten) {
  for (size_t i = 0; i < raw.results.size(); ++i) {
    const PirResult *described =
        row && i < row->results.size() ? &row->results[i] : nullptr;
    const std::string slot =
        described ? std::string(described->slot) : "#" + std::to_string(i);
    const std::string *same =
        overwritten.empty() || i > 0 ? nullptr : &overwritten;
    if (described && !described->sameAs.empty())
      if (const auto *list = op.input(described->sameAs);
          list && list->size() == 1)
        same = &list->front();
    if (same) {
      op.outputs.push_back({slot, {*same}});
      const Value *before = nullptr;
      for (const int64_t id : raw.operands)
        if (const auto found = values.find(id);
            found != values.end() && found->second.name == *same)
          before = &found->second;
      const bool isArray = before && before->isArray;
      const auto type = before ? before->type : std::nullopt;
      Value *value = define(raw.results[i].id, *same);
      if (!value)
        return false;
      value->isArray = isArray;
      value->type = type;
      continue;
    }
    const Value *value = declare(raw, i, block);
    if (!value)
      return false;
    if (value->isList)
      op.outputs.push_back({slot, value->elements});
    else if (!value->name.empty())
      op.outputs.push_back({slot, {value->name}});
  }
  return true;
}

/// A cast of the older kind says what it takes.
void Decoder::addCastType(const RawPirOperator &raw, Operator &op) {
  const Value *value = operand(raw, 0);
  const PirType *type =
      value && value->type ? pirTypeOf(*value->type) : nullptr;
  if (type)
    op.attributes.push_back({"in_dtype", int64_t(type->number)});
}

void Decoder::append(int64_t block, std::vector<Operator> operators,
                     size_t ordinal) {
  for (Operator &op : operators) {
    op.encoded = std::to_string(ordinal) + ":";
    op.encodedEra = Era::Pir;
    program.blocks[block].operators.push_back(std::move(op));
  }
}

bool Decoder::addOther(const RawPirOperator &raw, int64_t block) {
  Operator op;
  const PirOperator *row = findPirOperator(raw.name);
  op.type = row ? std::string(row->legacy) : raw.name;
  op.encoded = std::to_string(raw.ordinal) + ":";
  op.encoded += raw.text;
  op.encodedEra = Era::Pir;
  std::string overwritten;
  if (!bindOperands(raw, row, op, overwritten))
    return false;
  bindPirAttributes(raw, row, op);
  if (op.type == "cast")
    addCastType(raw, op);
  if (!bindResults(raw, row, block, op, overwritten))
    return false;
  if (raw.results.size() == 1)
    values.find(raw.results[0].id)->second.constant = constantOf(raw);
  // A custom region: its blocks are there, for those who list operators.
  if (!raw.regions.empty()) {
    op.encoded = std::to_string(raw.ordinal) + ":";
    JsonReader in = readerOf(raw.regions);
    std::vector<int64_t> indices;
    if (!decodeRegions(in, {}, &indices))
      return false;
    std::vector<BlockIndex> blocks;
    for (const int64_t index : indices)
      blocks.push_back({index});
    op.attributes.push_back({"blocks", std::move(blocks)});
  }
  program.blocks[block].operators.push_back(std::move(op));
  return true;
}

//===----------------------------------------------------------------------===//
// Branches and loops
//===----------------------------------------------------------------------===//

bool Decoder::addBranch(const RawPirOperator &raw, int64_t block) {
  std::vector<std::string> condition;
  if (!operandNames(raw, 0, condition))
    return false;
  PirBranch branch;
  branch.condition = condition.front();
  for (const RawPirOperator::Result &result : raw.results) {
    if (result.type.isList || result.type.isNull)
      return stopAt(raw, "a result is a list");
    branch.results.push_back("%" + std::to_string(result.id));
    for (const char *suffix : {".true", ".false"})
      declare(block, result.type.variable, branch.results.back() + suffix);
  }
  const Ending thenEnd{Ending::Then, branch.results, {}};
  const Ending elseEnd{Ending::Else, branch.results, {}};
  JsonReader in = readerOf(raw.regions);
  std::vector<int64_t> blocks;
  if (!decodeRegions(in, {thenEnd, elseEnd}, &blocks))
    return false;
  if (blocks.size() != 2)
    return stopAt(raw, "a branch has not two regions");
  branch.thenBlock = blocks[0];
  branch.elseBlock = blocks[1];
  Variable flag;
  flag.type = ElementType::I1;
  const std::string own = "%block" + std::to_string(branch.thenBlock);
  declare(block, flag, own + ".not");
  flag.type = ElementType::I32;
  if (!branch.results.empty())
    declare(block, flag, own + ".mask");
  for (size_t i = 0; i < raw.results.size(); ++i)
    if (!declare(raw, i, block))
      return false;
  append(block, makeBranch(branch), raw.ordinal);
  return true;
}

bool Decoder::addLoop(const RawPirOperator &raw, int64_t block) {
  std::vector<std::string> operands;
  std::vector<bool> isArray;
  for (size_t i = 0; i < raw.operands.size(); ++i) {
    if (!operandNames(raw, i, operands))
      return false;
    isArray.push_back(operand(raw, i)->isArray);
  }
  if (operands.size() != raw.results.size() + 1)
    return stopAt(raw, "a loop gives other values than it takes");
  PirLoop loop;
  loop.condition = operands.front();
  loop.initial.assign(operands.begin() + 1, operands.end());
  for (size_t i = 0; i < raw.results.size(); ++i) {
    // An array is written where it is.
    if (isArray[i + 1]) {
      loop.carried.push_back(loop.initial[i]);
      if (Value *value = define(raw.results[i].id, loop.initial[i]))
        value->isArray = true;
    } else if (const Value *value = declare(raw, i, block)) {
      if (value->isList || value->name.empty())
        return stopAt(raw, "a result is a list");
      loop.carried.push_back(value->name);
    }
    if (problem)
      return false;
  }
  loop.block = static_cast<int64_t>(program.blocks.size());
  loop.conditionVariable = "%block" + std::to_string(loop.block) + ".condition";
  Variable flag;
  flag.type = ElementType::I1;
  declare(block, flag, loop.conditionVariable);
  Ending ending{Ending::Loop, loop.carried, loop};
  JsonReader in = readerOf(raw.regions);
  std::vector<int64_t> blocks;
  if (!decodeRegions(in, {ending}, &blocks))
    return false;
  if (blocks.size() != 1)
    return stopAt(raw, "a loop has not one region");
  append(block, makeLoop(loop), raw.ordinal);
  return true;
}

/// cf.yield.
bool Decoder::addEnd(const RawPirOperator &raw, int64_t block,
                     const Ending &ending) {
  std::vector<std::string> yielded;
  for (size_t i = 0; i < raw.operands.size(); ++i)
    if (!operandNames(raw, i, yielded))
      return false;
  if (ending.form == Ending::None)
    return true;
  const bool isLoop = ending.form == Ending::Loop;
  if (yielded.size() != ending.results.size() + isLoop)
    return stopAt(raw, "a region ends with " + std::to_string(yielded.size()) +
                           " values where " +
                           std::to_string(ending.results.size() + isLoop) +
                           " are expected");
  std::vector<Operator> operators =
      isLoop ? makeLoopYield(ending.loop, yielded)
             : makeBranchYield(ending.results, yielded,
                               ending.form == Ending::Then);
  for (const Operator &op : operators) {
    const std::string &name = op.outputs.front().arguments.front();
    if (!name.ends_with(".next"))
      continue;
    Variable variable;
    for (const Variable &outer :
         program.blocks[program.blocks[block].parent].variables)
      if (outer.name + ".next" == name)
        variable = outer;
    declare(block, std::move(variable), name);
  }
  append(block, std::move(operators), raw.ordinal);
  return true;
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

bool Decoder::decodeOperator(JsonReader &in, int64_t index,
                             const Ending &ending) {
  RawPirOperator raw;
  raw.ordinal = nextOrdinal++;
  const bool wasRead = readPirOperator(in, raw);
  if (raw.isPrerelease)
    return stop(unsupported(
        "a PIR program of a form that was never released (its keys are not "
        "shortened); export the model with Paddle 3.0 or later"));
  if (!wasRead)
    return check(in);
  const char *const begin = raw.text.data();
  bool isHidden = raw.name == "cf.yield";
  if (!(isHidden ? addEnd(raw, index, ending)
                 : addHidden(raw, index, isHidden)))
    return false;
  if (isHidden || !raw.regions.empty()) {
    if (run > 0)
      endRun();
    // The text stays, but for operators in regions.
    if (isHidden)
      return true;
  } else if (run++ == 0) {
    copyUntil(begin);
  }
  if (raw.regions.empty())
    copied = begin + raw.text.size();
  if (raw.name == "pd_op.if")
    return addBranch(raw, index);
  if (raw.name == "pd_op.while")
    return addLoop(raw, index);
  return addOther(raw, index);
}

bool Decoder::decodeArguments(JsonReader &in, int64_t index,
                              const Ending &ending) {
  if (!in.enterArray())
    return check(in);
  while (in.nextElement()) {
    int64_t id = 0;
    PirValueType type;
    if (!in.enterObject())
      break;
    for (std::string_view key; in.nextKey(key);)
      if (key == "#")
        in.readInteger(id);
      else if (key == "TT")
        readValueType(in, type);
      else
        in.skip();
    if (!check(in))
      return false;
    std::vector<std::string> &arguments = program.blocks[index].arguments;
    // Keyword arguments repeat those that have a place.
    if (values.contains(id) && id < 0 &&
        std::ranges::count(scopes.back(), id) > 0)
      continue;
    const size_t place = arguments.size();
    const bool isCarried =
        ending.form == Ending::Loop && place < ending.results.size();
    const std::string name =
        isCarried ? ending.results[place] : "%" + std::to_string(id);
    Value *value = define(id, name);
    if (!value)
      return false;
    value->type = type.variable.type;
    value->isArray = type.variable.kind == VariableKind::TensorArray;
    arguments.push_back(name);
    if (!isCarried)
      declare(index, std::move(type.variable), name);
  }
  return check(in);
}

bool Decoder::decodeBlock(JsonReader &in, int64_t index, const Ending &ending) {
  if (!in.enterObject())
    return check(in);
  scopes.emplace_back();
  bool hasOperators = false;
  for (std::string_view key; in.nextKey(key);) {
    if (key == "id")
      return stop(unsupported(
          "a PIR program of a form that was never released (its keys are not "
          "shortened); export the model with Paddle 3.0 or later"));
    if ((key == "args" || key == "kwargs") && hasOperators)
      return stop(broken("a block has arguments after its operators"));
    if (key == "args" || key == "kwargs") {
      if (!decodeArguments(in, index, ending))
        return false;
    } else if (key == "ops") {
      hasOperators = true;
      if (!in.enterArray())
        break;
      while (in.nextElement())
        if (!decodeOperator(in, index, ending))
          return false;
      endRun();
    } else {
      in.skip();
    }
  }
  if (!check(in))
    return false;
  if (!hasOperators)
    return stop(broken("a block has no list of operators"));
  for (const int64_t id : scopes.back())
    values.find(id)->second.isVisible = false;
  scopes.pop_back();
  return true;
}

/// A list of regions, each of one block. The main region has none around it.
bool Decoder::decodeRegions(JsonReader &in, const std::vector<Ending> &endings,
                            std::vector<int64_t> *indices) {
  const int64_t parent = scopes.empty() ? -1 : current;
  if (static_cast<int>(scopes.size()) > deepestRegions)
    return stop(broken("regions are nested more than " +
                       std::to_string(deepestRegions) + " deep"));
  if (!in.enterArray())
    return check(in);
  for (size_t i = 0; in.nextElement(); ++i) {
    size_t blocks = 0;
    if (!in.enterObject())
      break;
    for (std::string_view key; in.nextKey(key);) {
      if (key != "blocks") {
        in.skip();
        continue;
      }
      if (!in.enterArray())
        break;
      while (in.nextElement()) {
        if (++blocks > 1)
          return stop(unsupported("a region of more than one block"));
        const auto index = static_cast<int64_t>(program.blocks.size());
        program.blocks.emplace_back().parent = parent;
        if (indices)
          indices->push_back(index);
        current = index;
        const bool done =
            decodeBlock(in, index, i < endings.size() ? endings[i] : Ending());
        current = parent;
        if (!done)
          return false;
      }
    }
    if (check(in) && blocks == 0)
      return stop(broken("a region without a block"));
  }
  return check(in);
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

bool Decoder::decodeHeader(JsonReader &in) {
  std::string magic;
  int64_t version = 0;
  if (!in.enterObject())
    return check(in);
  for (std::string_view key; in.nextKey(key);)
    if (key == "magic")
      in.readString(magic);
    else if (key == "version")
      in.readInteger(version);
    else
      in.skip();
  if (!check(in))
    return false;
  if (magic != "pir")
    return stop(broken("the header does not say that this is PIR"));
  if (version < 1 || version > 4)
    return stop(unsupported("a PIR program of version " +
                            std::to_string(version) +
                            "; versions 1 to 4 can be read"));
  return true;
}

Result<Program> Decoder::decode() {
  program.era = Era::Pir;
  JsonReader in(text);
  bool hasHeader = false, hasProgram = false;
  if (in.enterObject())
    for (std::string_view key; in.nextKey(key);) {
      if (key == "base_code") {
        hasHeader = true;
        decodeHeader(in);
      } else if (key == "program" && !hasProgram) {
        hasProgram = true;
        if (!in.enterObject())
          break;
        for (std::string_view member; in.nextKey(member);)
          if (member == "regions" && program.blocks.empty())
            decodeRegions(in, {}, nullptr);
          else
            in.skip();
      } else {
        in.skip();
      }
      if (problem)
        return *problem;
    }
  if (!check(in))
    return *problem;
  if (!in.atEnd())
    return broken("text after the program's end");
  if (!hasHeader)
    return broken("JSON without the header of a PIR program (base_code)");
  if (program.blocks.empty())
    return broken("the program has no block");
  copyUntil(text.data() + text.size());
  std::vector<std::pair<int64_t, size_t>> order;
  for (const int64_t column : columns)
    order.push_back({column, order.size()});
  std::ranges::sort(order);
  std::vector<Port> outputs;
  for (const auto &[column, i] : order)
    outputs.push_back(std::move(program.outputs[i]));
  program.outputs = std::move(outputs);
  return std::move(program);
}

} // namespace

Result<Program> decodePir(std::string_view text) {
  return Decoder(text).decode();
}

} // namespace sinter::paddle
