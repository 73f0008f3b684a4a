#include "passes/BindArguments.h"

#include "graph/Constants.h"
#include "graph/FirstError.h"
#include "graph/Types.h"
#include "passes/RefineTypes.h"
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
  if (auto place = dyn_cast<NameLoc>(function.getArgument(index).getLoc()))
    names.push_back(place.getName().str());
  return names;
}

static std::string listOfNames(const Model &model) {
  constexpr size_t most = 20;
  std::string list;
  const std::vector<TensorSpec> inputs = model.inputs();
  for (size_t i = 0; i < std::min(inputs.size(), most); ++i) {
    list += (i ? ", " : "") + inputs[i].name;
    // States stand among the arguments, and not among the inputs.
    if (inputs.size() != model.entry().getNumArguments())
      continue;
    for (const std::string &other : otherNames(model.entry(), i))
      list += " (" + other + ")";
  }
  return list + (inputs.size() > most ? ", ..." : "");
}

Result<unsigned> findArgument(const Model &model, const std::string &called) {
  const std::string name = called.starts_with("%") ? called.substr(1) : called;
  func::FuncOp function = model.entry();
  if (!function)
    return invalidModel(model.path + ": there is no function @main");
  const unsigned count = function.getNumArguments();
  for (unsigned i = 0; i < count; ++i)
    if (!name.empty() && ownName(function, i) == name)
      return i;
  SmallVector<unsigned> found;
  for (unsigned i = 0; i < count; ++i)
    if (llvm::is_contained(otherNames(function, i), name))
      found.push_back(i);
  if (found.size() > 1)
    return usageError("--bind: several arguments are called '" + name + "'");
  if (found.size() == 1)
    return found[0];
  const std::vector<TensorSpec> inputs = model.inputs();
  for (unsigned i = 0; i < count; ++i)
    if (inputs[i].name == name)
      return i;
  unsigned number = 0;
  if (!StringRef(name).getAsInteger(10, number) && number < count)
    return number;
  return usageError("--bind: there is no argument '" + name + "'; there are " +
                    listOfNames(model));
}

namespace {

/// The sizes that arrays give to the symbols of an entry function's arguments.
class SymbolSizes {
public:
  explicit SymbolSizes(func::FuncOp function) : function(function) {}

  /// Gives the argument the type of its array.
  Result<void> set(unsigned index, StringRef name, RankedTensorType type) {
    BlockArgument argument = function.getArgument(index);
    for (auto [dimension, symbol] : llvm::enumerate(symbolsOf(index))) {
      if (symbol.empty())
        continue;
      const int64_t size = type.getDimSize(dimension);
      auto [known, isNew] = sizes.insert({symbol, size});
      if (!isNew && known->second != size)
        return usageError("--bind: dimension " + symbol.str() + " is " +
                          std::to_string(known->second) + ", and of '" +
                          name.str() + "' it is " + std::to_string(size));
    }
    hasChanged |= argument.getType() != type;
    argument.setType(type);
    return {};
  }

  /// Gives the other arguments the sizes that their symbols have.
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

/// Whether an array of \p type can stand for an argument of type \p wanted.
static bool fits(Type wanted, RankedTensorType type) {
  auto tensor = dyn_cast<RankedTensorType>(wanted);
  return tensor && tensor.getElementType() == type.getElementType() &&
         succeeded(verifyCompatibleShape(tensor, type));
}

Result<void> bindArguments(Model &model, const NamedTensors &bound) {
  func::FuncOp function = model.entry();
  if (!function)
    return invalidModel(model.path + ": there is no function @main");
  llvm::SmallBitVector isBound(function.getNumArguments());
  OpBuilder builder = OpBuilder::atBlockBegin(&function.front());
  SymbolSizes sizes(function);
  for (const auto &[name, tensor] : bound) {
    Result<unsigned> index = findArgument(model, name);
    if (!index)
      return index.takeError();
    BlockArgument argument = function.getArgument(*index);
    const RankedTensorType type =
        tensorTypeOf(tensor.type(), tensor.shape(), model.context());
    if (isBound.test(*index))
      return usageError("--bind: '" + name + "' is bound twice");
    if (!fits(argument.getType(), type)) {
      std::string text;
      llvm::raw_string_ostream(text)
          << "--bind: '" << name << "' is " << argument.getType()
          << ", and the array is " << type;
      return usageError(text);
    }
    isBound.set(*index);
    if (Result<void> set = sizes.set(*index, name, type); !set)
      return set;
    const std::string own = ownName(function, *index);
    argument.replaceAllUsesWith(makeConstant(builder, argument.getLoc(), tensor,
                                             own.empty() ? name : own));
  }
  // The others keep what they are called, though their numbers change.
  const std::vector<TensorSpec> inputs = model.inputs();
  llvm::BitVector erased(function.getNumArguments());
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    if (isBound.test(i))
      erased.set(i);
    else if (ownName(function, i).empty() && erased.any())
      function.setArgAttr(i, nameAttribute,
                          builder.getStringAttr(inputs[i].name));
  }
  sizes.spread();
  function.eraseArguments(erased);
  if (!sizes.changed())
    return {};
  FirstError reported(model.context());
  if (failed(refineTypes(model.module(), Loops::MayChangeShapes)))
    return usageError("--bind: the arrays' shapes do not fit the model: " +
                      reported.take());
  return {};
}

} // namespace sinter
