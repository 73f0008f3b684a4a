#include "graph/storage/Storage.h"

#include "graph/Constants.h"
#include "graph/stablehlo/StablehloOps.h"
#include <map>

using namespace mlir;

namespace sinter {

bool isState(DictionaryAttr attributes) {
  return attributes && attributes.contains(stateAttribute);
}

namespace {

/// Finds the states of an entry function and checks them.
class StateFinder {
public:
  explicit StateFinder(func::FuncOp entry) : entry(entry) {}

  Result<std::vector<StateTensor>> find() {
    for (unsigned i = 0; i < entry.getNumArguments(); ++i)
      if (Result<void> taken = takeArgument(i); !taken)
        return taken.takeError();
    std::map<std::string, unsigned> results;
    for (unsigned i = 0; i < entry.getNumResults(); ++i)
      if (Result<void> taken = takeResult(i, results); !taken)
        return taken.takeError();
    for (const StateTensor &state : states)
      if (!results.contains(state.spec.name))
        return broken(state.spec.name, "no result has it");
    return std::move(states);
  }

private:
  static Error broken(const std::string &name, const std::string &what) {
    return invalidModel("state '" + name + "': " + what);
  }

  /// The state's name in \p attributes; none if they are not a state's.
  static Result<std::optional<std::string>> nameIn(DictionaryAttr attributes,
                                                   const std::string &who) {
    if (!isState(attributes))
      return std::optional<std::string>();
    auto name = dyn_cast<StringAttr>(attributes.get(stateAttribute));
    if (!name || name.empty())
      return invalidModel(who + ": sinter.state is not a name");
    return std::optional<std::string>(name.str());
  }

  Result<void> takeArgument(unsigned index) {
    DictionaryAttr attributes = entry.getArgAttrDict(index);
    const std::string who = "argument " + std::to_string(index);
    Result<std::optional<std::string>> name = nameIn(attributes, who);
    if (!name)
      return name.takeError();
    Attribute initial =
        attributes ? attributes.get(initialAttribute) : Attribute();
    if (!*name)
      return initial ? Result<void>(invalidModel(
                           who + " has sinter.initial and is no state"))
                     : Result<void>();
    for (const StateTensor &other : states)
      if (other.spec.name == **name)
        return broken(**name, "two arguments have it");
    auto type = dyn_cast<RankedTensorType>(entry.getArgument(index).getType());
    std::optional<ElementType> element =
        type ? elementTypeOf(type.getElementType()) : std::nullopt;
    if (!element || !type.hasStaticShape())
      return broken(**name, "its size is not known");
    auto value = dyn_cast_or_null<ElementsAttr>(initial);
    if (!value)
      return broken(**name, "its argument has no initial value");
    if (value.getType() != type)
      return broken(**name, "the initial value is of another type");
    if (!toTensor(value))
      return broken(**name, "the initial value cannot be read");
    StateTensor state;
    state.spec = {**name, *element,
                  Shape(type.getShape().begin(), type.getShape().end())};
    state.argument = index;
    state.initial = value;
    states.push_back(std::move(state));
    return {};
  }

  Result<void> takeResult(unsigned index,
                          std::map<std::string, unsigned> &results) {
    DictionaryAttr attributes = entry.getResultAttrDict(index);
    const std::string who = "result " + std::to_string(index);
    if (attributes && attributes.contains(initialAttribute))
      return invalidModel(who + " has sinter.initial, which belongs to the "
                                "argument");
    Result<std::optional<std::string>> name = nameIn(attributes, who);
    if (!name)
      return name.takeError();
    if (!*name)
      return {};
    if (!results.emplace(**name, index).second)
      return broken(**name, "two results have it");
    for (StateTensor &state : states) {
      if (state.spec.name != **name)
        continue;
      if (entry.getResultTypes()[index] !=
          entry.getArgument(state.argument).getType())
        return broken(**name, "argument and result differ in type");
      state.result = index;
      return {};
    }
    return broken(**name, "no argument has it");
  }

  func::FuncOp entry;
  std::vector<StateTensor> states;
};

/// Whether a function other than \p entry has states.
bool hasStateElsewhere(ModuleOp module, func::FuncOp entry) {
  bool found = false;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    auto function = dyn_cast<func::FuncOp>(op);
    if (!function)
      return WalkResult::advance();
    if (function == entry)
      return WalkResult::skip();
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      found |= isState(function.getArgAttrDict(i));
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      found |= isState(function.getResultAttrDict(i));
    return WalkResult::skip();
  });
  return found;
}

} // namespace

Result<Storage> Storage::of(ModuleOp module) {
  func::FuncOp entry = entryOf(module);
  if (!entry)
    return invalidModel(whyNoEntry(module));
  if (hasStateElsewhere(module, entry))
    return invalidModel(
        "a function that is not the one that is run has sinter.state");
  Result<std::vector<StateTensor>> states = StateFinder(entry).find();
  if (!states)
    return states.takeError();
  Storage storage;
  storage.list = std::move(*states);
  for (BlockArgument argument : entry.getArguments()) {
    bool state = isState(entry.getArgAttrDict(argument.getArgNumber()));
    storage.roles[argument] = state ? Role::State : Role::Input;
    if (!state)
      storage.inputArguments.push_back(argument.getArgNumber());
  }
  entry.walk([&](stablehlo::ConstantOp constant) {
    storage.roles[constant.getResult()] = Role::Constant;
  });
  OperandRange returned = entry.front().getTerminator()->getOperands();
  for (auto [i, value] : llvm::enumerate(returned))
    if (!isState(entry.getResultAttrDict(i))) {
      storage.outputResults.push_back(i);
      storage.roles.try_emplace(value, Role::Output);
    }
  for (const StateTensor &state : storage.list)
    storage.roles.try_emplace(returned[state.result], Role::State);
  return storage;
}

Role Storage::roleOf(Value value) const {
  auto found = roles.find(value);
  return found == roles.end() ? Role::Temporary : found->second;
}

} // namespace sinter
