#include "passes/BindArguments.h"

#include "graph/Constants.h"
#include "graph/FirstError.h"
#include "graph/Types.h"
#include "graph/storage/Storage.h"
#include "passes/RefineTypes.h"
#include "runtime/OptionNames.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;

namespace sinter {

static std::string ownName(func::FuncOp function, unsigned index) {
  auto name = function.getArgAttrOfType<StringAttr>(index, nameAttribute);
  return name ? name.str() : "";
}

std::vector<std::string> otherNames(func::FuncOp function, unsigned index) {
  std::vector<std::string> names;
  for (NamedAttribute attribute :
       function_interface_impl::getArgAttrs(function, index))
    if (auto text = dyn_cast<StringAttr>(attribute.getValue());
        text && attribute.getName() != nameAttribute)
      names.push_back(text.str());
  if (auto location = dyn_cast<NameLoc>(function.getArgument(index).getLoc()))
    names.push_back(location.getName().str());
  return names;
}

/// The primary name of an argument that is an input.
static std::string nameOf(func::FuncOp function, unsigned index) {
  const std::string own = ownName(function, index);
  return own.empty() ? "arg" + std::to_string(index) : own;
}

ArgumentNames::ArgumentNames(func::FuncOp function) : function(function) {
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    if (isState(function.getArgAttrDict(i))) {
      for (const std::string &name : otherNames(function, i))
        states.insert(name);
      states.insert(std::to_string(i));
      states.insert("arg" + std::to_string(i));
      continue;
    }
    if (const std::string own = ownName(function, i); !own.empty())
      owned.try_emplace(own, i);
    for (const std::string &other : otherNames(function, i)) {
      auto [entry, isNew] = others.try_emplace(other, i);
      if (!isNew && entry->second != i)
        shared.insert(other);
    }
    places.try_emplace(nameOf(function, i), i);
    places.try_emplace(std::to_string(i), i);
  }
}

std::string ArgumentNames::list() const {
  constexpr size_t most = 20;
  std::string text;
  size_t count = 0;
  func::FuncOp entry = function;
  for (unsigned i = 0; i < entry.getNumArguments(); ++i) {
    if (isState(entry.getArgAttrDict(i)))
      continue;
    if (count++ == most)
      return text + ", ...";
    text += (text.empty() ? "" : ", ") + nameOf(entry, i);
    for (const std::string &other : otherNames(entry, i))
      text += " (" + other + ")";
  }
  return text.empty() ? "none" : text;
}

std::string bindOption(ArrayRef<std::string> files, size_t index) {
  const bool isFrom = index < files.size() && !files[index].empty();
  return isFrom ? optionText("bind") + " '" + files[index] + "'"
                : optionText("bind");
}

Result<unsigned> ArgumentNames::find(StringRef name, StringRef option) const {
  name.consume_front("%");
  const std::string quoted = "'" + name.str() + "'";
  if (auto found = owned.find(name); found != owned.end())
    return found->second;
  if (shared.contains(name))
    return usageError(option.str() + ": several arguments are called " +
                      quoted);
  for (const llvm::StringMap<unsigned> *names : {&others, &places})
    if (auto found = names->find(name); found != names->end())
      return found->second;
  if (states.contains(name))
    return withHint(
        "`sinter optimize --freeze` makes constants of states",
        usageError(option.str() + ": " + quoted + " is a state and no input"));
  return usageError(option.str() + ": there is no argument " + quoted +
                    "; there are " + list());
}

namespace {

/// The sizes that arrays bind to the symbolic dimensions of an entry function's
/// arguments.
class SymbolSizes {
public:
  explicit SymbolSizes(func::FuncOp function) : function(function) {}

  /// Gives the argument the type of its array.
  Result<void> set(unsigned index, StringRef name, RankedTensorType type,
                   const std::string &option) {
    BlockArgument argument = function.getArgument(index);
    for (auto [dimension, symbol] : llvm::enumerate(symbolsOf(index))) {
      if (symbol.empty())
        continue;
      const int64_t size = type.getDimSize(dimension);
      auto [known, isNew] = sizes.insert({symbol, size});
      if (!isNew && known->second != size)
        return usageError(option + ": dimension " + symbol.str() + " is " +
                          std::to_string(known->second) + ", and of '" +
                          name.str() + "' it is " + std::to_string(size));
    }
    hasChanged |= argument.getType() != type;
    argument.setType(type);
    return {};
  }

  /// Gives the other arguments the sizes bound to their symbolic dimensions.
  void spread() {
    for (unsigned i = 0; i < function.getNumArguments(); ++i) {
      SmallVector<StringRef> symbols = symbolsOf(i);
      auto type = dyn_cast<RankedTensorType>(function.getArgument(i).getType());
      if (!type || static_cast<int64_t>(symbols.size()) != type.getRank())
        continue;
      SmallVector<int64_t> shape(type.getShape());
      for (auto [size, symbol] : llvm::zip_equal(shape, symbols))
        if (auto known = sizes.find(symbol);
            ShapedType::isDynamic(size) && known != sizes.end()) {
          size = known->second;
          symbol = "";
        }
      if (ArrayRef(shape) == type.getShape())
        continue;
      hasChanged = true;
      function.getArgument(i).setType(
          RankedTensorType::get(shape, type.getElementType()));
      Builder builder(function.getContext());
      if (llvm::all_of(symbols, [](StringRef each) { return each.empty(); }))
        function.removeArgAttr(i, dimsAttribute);
      else
        function.setArgAttr(i, dimsAttribute, builder.getStrArrayAttr(symbols));
    }
  }

  /// Whether some argument has another type than before.
  bool changed() const { return hasChanged; }

private:
  SmallVector<StringRef> symbolsOf(unsigned index) {
    SmallVector<StringRef> symbols;
    if (auto dims = function.getArgAttrOfType<ArrayAttr>(index, dimsAttribute))
      for (Attribute each : dims)
        symbols.push_back(isa<StringAttr>(each)
                              ? cast<StringAttr>(each).getValue()
                              : StringRef());
    return symbols;
  }

  func::FuncOp function;
  std::map<StringRef, int64_t> sizes;
  bool hasChanged = false;
};

} // namespace

/// Whether an array of \p type can replace an argument of type \p wanted.
static bool fits(Type wanted, RankedTensorType type) {
  auto tensor = dyn_cast<RankedTensorType>(wanted);
  return tensor && tensor.getElementType() == type.getElementType() &&
         succeeded(verifyCompatibleShape(tensor, type));
}

Result<void> bindArguments(Model &model, const NamedTensors &bound,
                           ArrayRef<std::string> files) {
  func::FuncOp function = model.entry();
  if (!function)
    return inFile(invalidModel("there is no function @main"), model.path);
  llvm::SmallBitVector isBound(function.getNumArguments());
  OpBuilder builder = OpBuilder::atBlockBegin(&function.front());
  const ArgumentNames names(function);
  SymbolSizes sizes(function);
  for (size_t i = 0; i < bound.size(); ++i) {
    const auto &[name, tensor] = bound[i];
    const std::string option = bindOption(files, i);
    Result<unsigned> index = names.find(name, option);
    if (!index)
      return index.takeError();
    BlockArgument argument = function.getArgument(*index);
    const RankedTensorType type =
        tensorTypeOf(tensor.type(), tensor.shape(), model.context());
    if (isBound.test(*index))
      return usageError(option + ": '" + name + "' is bound twice");
    if (!fits(argument.getType(), type)) {
      std::string text;
      llvm::raw_string_ostream(text)
          << option << ": '" << name << "' is " << argument.getType()
          << ", and the array is " << type;
      return usageError(text);
    }
    isBound.set(*index);
    if (Result<void> set = sizes.set(*index, name, type, option); !set)
      return set;
    const std::string own = ownName(function, *index);
    argument.replaceAllUsesWith(makeConstant(builder, argument.getLoc(), tensor,
                                             own.empty() ? name : own));
  }
  // The other arguments keep their names, though their indices change.
  llvm::BitVector erased(function.getNumArguments());
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    if (isBound.test(i))
      erased.set(i);
    else if (ownName(function, i).empty() && erased.any())
      function.setArgAttr(i, nameAttribute,
                          builder.getStringAttr(nameOf(function, i)));
  }
  sizes.spread();
  function.eraseArguments(erased);
  if (!sizes.changed())
    return {};
  FirstError reported(model.context());
  if (failed(refineTypes(model.module(), Loops::MayChangeShapes)))
    return usageError(
        optionText("bind") +
        ": the arrays' shapes do not fit the model: " + reported.take());
  return {};
}

} // namespace sinter
