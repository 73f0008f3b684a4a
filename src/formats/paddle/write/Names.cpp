// Which variable holds which value, and when.

#include "formats/paddle/write/ProgramWriter.h"
#include "formats/paddle/write/Quantized.h"
#include "graph/Constants.h"
#include "graph/Types.h"
#include "graph/stablehlo/StablehloOps.h"

using namespace mlir;

namespace sinter::paddle {

Name ProgramWriter::freshName(StringRef wantedName) {
  const std::string base = wantedName.empty() ? "tmp" : wantedName.str();
  int64_t &number = nextNumbers[base];
  while (true) {
    std::string name = number == 0 ? base : base + "_" + std::to_string(number);
    ++number;
    if (reserved.insert(name).second)
      return name;
  }
}

/// The declaration of a new variable.
static Variable variableOf(StringRef name, RankedTensorType type) {
  Variable variable;
  variable.name = name.str();
  variable.type = heldType(type);
  for (int64_t size : type.getShape())
    variable.dims.push_back(ShapedType::isDynamic(size) ? -1 : size);
  return variable;
}

void ProgramWriter::declare(const Variable &variable) {
  declared[variable.name] = variable;
  if (current != 0)
    homes[variable.name] = current;
}

Name ProgramWriter::declareNew(StringRef wantedName, RankedTensorType type) {
  Name name = freshName(wantedName);
  declare(variableOf(name, type));
  return name;
}

const Name &ProgramWriter::bind(Value value, Name name) {
  if (current != 0)
    named.push_back(value);
  return names[value] = std::move(name);
}

void ProgramWriter::addParameter(const Name &name, const Tensor &tensor) {
  parameters[name] = tensor;
  Variable variable;
  variable.name = name;
  variable.type = tensor.type();
  variable.dims.assign(tensor.shape().begin(), tensor.shape().end());
  variable.isPersistable = true;
  variable.stopsGradient = !trained.contains(name);
  if (const Variable *old = beforeVariables.lookup(name))
    if (old->isPersistable && old->type == variable.type &&
        old->dims == variable.dims)
      variable = *old;
  declared[name] = variable;
  holders[name] = {Value(), /*isParameter=*/true};
}

/// The name for a parameter; a new name if it is a value of PIR with only an
/// id.
static std::string parameterName(StringRef wanted) {
  if (wanted.empty())
    return "constant";
  return wanted.consume_front("%") ? "constant_" + wanted.str() : wanted.str();
}

Name ProgramWriter::constant(const Tensor &tensor, StringRef wantedName) {
  Name name = freshName(parameterName(wantedName));
  // Also those that a rule derives from one.
  if (trained.contains(wantedName))
    trained.insert(name);
  addParameter(name, tensor);
  return name;
}

Name ProgramWriter::constantNamed(ElementsAttr value, StringRef wantedName) {
  Name &name =
      weights[{value, StringAttr::get(value.getContext(), wantedName)}];
  if (!name.empty() && parameters.contains(name))
    return name;
  auto tensor = toTensor(value);
  if (!tensor) {
    ++unsupported["constants of a type that Paddle lacks"];
    return "";
  }
  if (name.empty())
    name = freshName(parameterName(wantedName));
  addParameter(name, *tensor);
  return name;
}

//===----------------------------------------------------------------------===//
// Live ranges
//===----------------------------------------------------------------------===//

size_t ProgramWriter::positionOf(mlir::Operation *op) {
  mlir::Operation *here = entry.findAncestorOpInBlock(*op);
  if (auto found = keptOf.find(here); found != keptOf.end())
    here = found->second->anchor;
  auto found = positions.find(here);
  // Ops made by a rule or a decomposition are written at the current position.
  return found == positions.end() ? position : found->second;
}

size_t ProgramWriter::lastUse(Value value) {
  size_t result = 0;
  for (mlir::Operation *user : value.getUsers()) {
    result = std::max(result, positionOf(user));
    // A broadcast is written at its uses.
    if (isBroadcast(user))
      result = std::max(result, lastUse(user->getResult(0)));
  }
  return result;
}

bool ProgramWriter::mayHold(StringRef name, Type type) {
  if (weightNames.contains(name))
    return false;
  auto tensor = cast<RankedTensorType>(type);
  auto sameType = [&](const Variable &variable) {
    return variable.kind == VariableKind::Tensor && !variable.isPersistable &&
           variable.type == heldType(tensor);
  };
  if (auto known = declared.find(name); known != declared.end()) {
    if (!sameType(known->second))
      return false;
  } else if (const Variable *old = beforeVariables.lookup(name)) {
    if (!sameType(*old))
      return false;
  }
  auto holder = holders.find(name);
  if (holder == holders.end() || !holder->second.value)
    return holder == holders.end() || !holder->second.isParameter;
  const size_t last = lastUse(holder->second.value);
  return readsFirst ? last <= position : last < position;
}

Name ProgramWriter::take(const Name &name, Value value, RankedTensorType type) {
  auto holder = holders.find(name);
  // A later use of that value would read another one.
  if (holder != holders.end() && holder->second.value)
    names.erase(holder->second.value);
  holders[name] = {value, false};
  reserved.insert(name);
  if (!declared.contains(name)) {
    const Variable *old = beforeVariables.lookup(name);
    declare(old && old->kind == VariableKind::Tensor &&
                    old->type == heldType(type)
                ? *old
                : variableOf(name, type));
  }
  return name;
}

Name ProgramWriter::claim(Value value) {
  auto type = tensorOf(value);
  auto found = wanted.find(value);
  const Name name =
      found != wanted.end() && mayHold(found->second, type)
          ? found->second
          : freshName(found != wanted.end() ? found->second
                                            : originOf(value.getDefiningOp()));
  return bind(value, take(name, value, type));
}

/// An unused output.
Name ProgramWriter::deadOutput(const Name &name) {
  const Variable *old = beforeVariables.lookup(name);
  auto holder = holders.find(name);
  const bool isFree =
      holder == holders.end() ||
      (!holder->second.isParameter &&
       (!holder->second.value || lastUse(holder->second.value) <= position));
  Name now = isFree ? name : freshName(name);
  if (isFree && holder != holders.end() && holder->second.value)
    names.erase(holder->second.value);
  holders[now] = {};
  if (old && !declared.contains(now)) {
    Variable variable = *old;
    if (!isFree) {
      variable.name = now;
      variable.index = -1;
      variable.isPersistable = false;
    }
    declared[now] = variable;
  }
  return now;
}

Name ProgramWriter::name(Value value) {
  auto found = names.find(value);
  if (found != names.end())
    return found->second;
  mlir::Operation *op = value.getDefiningOp();
  if (auto constantOp = dyn_cast_or_null<stablehlo::ConstantOp>(op)) {
    Name given = constantNamed(constantOp.getValue(), constantName(value));
    return bind(value, std::move(given));
  }
  if (isBroadcast(op)) {
    writeOp(op);
    found = names.find(value);
    if (found != names.end())
      return found->second;
    if (Value parts = decomposed.lookup(value))
      return bind(value, name(parts));
  }
  if (op)
    addUnsupported(op, "its result is used before it is defined");
  return "";
}

} // namespace sinter::paddle
