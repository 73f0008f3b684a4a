#include "passes/Specialize.h"

#include "graph/Constants.h"
#include "graph/FirstError.h"
#include "graph/nn/NnOps.h"
#include "mlir/IR/Verifier.h"
#include "passes/Matching.h"
#include "passes/RefineShapes.h"

using namespace mlir;

namespace sinter {

static std::string inputName(func::FuncOp function, unsigned index) {
  if (auto name = function.getArgAttrOfType<StringAttr>(index, nameAttribute))
    return name.str();
  return "arg" + std::to_string(index);
}

/// The symbolic dimension of each dimension of an argument; "" where it has
/// none.
static SmallVector<StringRef> symbolsOf(func::FuncOp function, unsigned index) {
  auto type = dyn_cast<RankedTensorType>(function.getArgument(index).getType());
  SmallVector<StringRef> symbols(type ? type.getRank() : 0);
  if (auto dims = function.getArgAttrOfType<ArrayAttr>(index, dimsAttribute))
    for (auto [symbol, attribute] : llvm::zip(symbols, dims))
      if (auto text = dyn_cast<StringAttr>(attribute))
        symbol = text.getValue();
  return symbols;
}

static std::string dimensionText(StringRef input, size_t dimension) {
  return ("dimension " + Twine(dimension) + " of input '" + input + "'").str();
}

/// The sizes of symbolic dimensions, from those given and from the inputs'
/// shapes.
static Result<std::map<std::string, int64_t>>
bindSymbols(func::FuncOp function, const SpecializeOptions &options) {
  std::map<std::string, int64_t> sizes = options.symbols;
  for (const auto &[symbol, size] : sizes)
    if (size < 0)
      return usageError("dimension " + symbol + " cannot be " +
                        std::to_string(size));
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    std::string name = inputName(function, i);
    auto given = options.shapes.find(name);
    if (given == options.shapes.end())
      continue;
    auto type = dyn_cast<RankedTensorType>(function.getArgument(i).getType());
    if (!type || type.getRank() != static_cast<int64_t>(given->second.size()))
      return usageError("input '" + name + "' has " +
                        std::to_string(type ? type.getRank() : 0) +
                        " dimensions, and the shape given for it has " +
                        std::to_string(given->second.size()));
    SmallVector<StringRef> symbols = symbolsOf(function, i);
    for (auto [dimension, size] : llvm::enumerate(given->second)) {
      if (size == -1)
        continue;
      int64_t known = type.getDimSize(dimension);
      if (size < 0 || (!ShapedType::isDynamic(known) && known != size))
        return usageError(dimensionText(name, dimension) + " is " +
                          (size < 0 ? "not negative" : std::to_string(known)) +
                          ", not " + std::to_string(size));
      if (!ShapedType::isDynamic(known) || symbols[dimension].empty())
        continue;
      auto [bound, isNew] = sizes.insert({symbols[dimension].str(), size});
      if (!isNew && bound->second != size)
        return usageError(dimensionText(name, dimension) + " is " +
                          bound->first + ", which is " +
                          std::to_string(bound->second) + " elsewhere, not " +
                          std::to_string(size));
    }
  }
  return sizes;
}

static Result<void> checkNames(func::FuncOp function,
                               const SpecializeOptions &options) {
  llvm::StringSet<> names;
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    names.insert(inputName(function, i));
  auto check = [&](const std::string &name) -> Result<void> {
    if (names.contains(name))
      return {};
    return usageError("the model has no input '" + name + "'");
  };
  for (const auto &[name, shape] : options.shapes)
    if (auto checked = check(name); !checked)
      return checked;
  for (const auto &[name, value] : options.values)
    if (auto checked = check(name); !checked)
      return checked;
  return {};
}

/// Sets the known sizes in the arguments' types.
static Result<void> setArgumentTypes(func::FuncOp function,
                                     const SpecializeOptions &options) {
  auto sizes = bindSymbols(function, options);
  if (!sizes)
    return sizes.takeError();
  for (BlockArgument argument : function.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type)
      continue;
    unsigned index = argument.getArgNumber();
    std::string name = inputName(function, index);
    auto given = options.shapes.find(name);
    SmallVector<StringRef> symbols = symbolsOf(function, index);
    SmallVector<int64_t> shape(type.getShape());
    for (auto [dimension, size] : llvm::enumerate(shape)) {
      if (!ShapedType::isDynamic(size))
        continue;
      auto bound = sizes->find(symbols[dimension].str());
      if (given != options.shapes.end() && given->second[dimension] >= 0)
        size = given->second[dimension];
      else if (!symbols[dimension].empty() && bound != sizes->end())
        size = bound->second;
      else if (!options.leavesDynamic)
        return unsupported(dimensionText(name, dimension) +
                           (symbols[dimension].empty()
                                ? std::string(" is")
                                : " (" + symbols[dimension].str() + ") is") +
                           " unknown; give its shape");
    }
    const bool isDynamic = llvm::is_contained(shape, ShapedType::kDynamic);
    if (!isDynamic && !byteCount(ElementType::C128, shape))
      return usageError("input '" + name + "' is too large");
    argument.setType(RankedTensorType::get(shape, type.getElementType()));
    if (!isDynamic)
      function.removeArgAttr(index, dimsAttribute);
  }
  return {};
}

/// Replaces the inputs whose values are given by constants.
static Result<void> setArgumentValues(func::FuncOp function,
                                      const SpecializeOptions &options) {
  OpBuilder builder = OpBuilder::atBlockBegin(&function.front());
  for (BlockArgument argument : function.getArguments()) {
    std::string name = inputName(function, argument.getArgNumber());
    auto given = options.values.find(name);
    if (given == options.values.end())
      continue;
    const Tensor &tensor = given->second;
    if (argument.getType() !=
        tensorTypeOf(tensor.type(), tensor.shape(), function.getContext()))
      return usageError("the value given for input '" + name + "' is " +
                        toString(tensor.type(), tensor.shape()));
    if (!argument.use_empty())
      argument.replaceAllUsesWith(
          makeConstant(builder, function.getLoc(), tensor));
  }
  return {};
}

/// An error that describes the first type that is not static.
static Result<void> checkStatic(ModuleOp module, func::FuncOp function) {
  Result<void> result;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op == function.getOperation())
      return WalkResult::advance();
    for (Type type : op->getResultTypes()) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      if (!tensor || tensor.hasStaticShape())
        continue;
      int64_t dimension = 0;
      while (!tensor.isDynamicDim(dimension))
        ++dimension;
      std::string node;
      if (auto name = op->getLoc()->findInstanceOf<NameLoc>())
        node = "node '" + name.getName().str() + "': ";
      result = unsupported(node + op->getName().getStringRef().str() +
                           ": dimension " + std::to_string(dimension) +
                           " of its result is known only when it runs");
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return result;
}

Result<void> specialize(Model &model, const SpecializeOptions &options) {
  Model result = model.clone();
  func::FuncOp function = result.entry();
  if (!function)
    return invalidModel(whyNoEntry(model.module()));
  ModuleOp module = result.module();
  if (auto done = checkNames(function, options); !done)
    return done;
  if (auto done = setArgumentTypes(function, options); !done)
    return done;
  if (auto done = setArgumentValues(function, options); !done)
    return done;

  FirstError reported(result.context());
  PatternRun run;
  // Where dimensions may stay dynamic, loop-carried values may grow.
  const Loops loops =
      options.leavesDynamic ? Loops::MayChangeShapes : Loops::KeepShapes;
  if (failed(refineShapes(module, loops, run)))
    return invalidModel("the shapes do not fit: " + reported.take());
  if (!options.leavesDynamic)
    if (auto done = checkStatic(module, function); !done)
      return done;
  if (failed(verify(module)))
    return invalidModel("the shapes do not fit: " + reported.take());
  model = std::move(result);
  return {};
}

} // namespace sinter
