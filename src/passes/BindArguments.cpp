#include "passes/BindArguments.h"

#include "graph/Constants.h"
#include "graph/Types.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;

namespace sinter {

static std::string ownName(func::FuncOp function, unsigned index) {
  auto name = function.getArgAttrOfType<StringAttr>(index, nameAttribute);
  return name ? name.str() : "";
}

/// Whether some attribute of an argument, or its location, is \p name.
static bool isAlsoCalled(func::FuncOp function, unsigned index,
                         StringRef name) {
  for (NamedAttribute attribute :
       function_interface_impl::getArgAttrs(function, index))
    if (auto text = dyn_cast<StringAttr>(attribute.getValue());
        text && text.getValue() == name)
      return true;
  auto place = dyn_cast<NameLoc>(function.getArgument(index).getLoc());
  return place && place.getName().getValue() == name;
}

static std::string listOfNames(const Model &model) {
  constexpr size_t most = 20;
  std::string list;
  const std::vector<TensorSpec> inputs = model.inputs();
  for (size_t i = 0; i < std::min(inputs.size(), most); ++i)
    list += (i ? ", " : "") + inputs[i].name;
  return list + (inputs.size() > most ? ", ..." : "");
}

Result<unsigned> findArgument(const Model &model, const std::string &name) {
  func::FuncOp function = model.entry();
  if (!function)
    return invalidModel(model.path + ": there is no function @main");
  const unsigned count = function.getNumArguments();
  for (unsigned i = 0; i < count; ++i)
    if (!name.empty() && ownName(function, i) == name)
      return i;
  SmallVector<unsigned> found;
  for (unsigned i = 0; i < count; ++i)
    if (isAlsoCalled(function, i, name))
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

Result<void> bindArguments(Model &model, const NamedTensors &bound) {
  func::FuncOp function = model.entry();
  if (!function)
    return invalidModel(model.path + ": there is no function @main");
  llvm::SmallBitVector isBound(function.getNumArguments());
  OpBuilder builder = OpBuilder::atBlockBegin(&function.front());
  for (const auto &[name, tensor] : bound) {
    Result<unsigned> index = findArgument(model, name);
    if (!index)
      return index.takeError();
    BlockArgument argument = function.getArgument(*index);
    const Type type =
        tensorTypeOf(tensor.type(), tensor.shape(), model.context());
    if (isBound.test(*index))
      return usageError("--bind: '" + name + "' is bound twice");
    if (argument.getType() != type) {
      std::string text;
      llvm::raw_string_ostream(text)
          << "--bind: '" << name << "' is " << argument.getType()
          << ", and the array is " << type;
      return usageError(text);
    }
    isBound.set(*index);
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
  function.eraseArguments(erased);
  return {};
}

} // namespace sinter
