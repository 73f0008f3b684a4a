#include "graph/Model.h"

#include "graph/Types.h"
#include "graph/check/CheckOps.h"
#include "graph/chlo/ChloOps.h"
#include "graph/interfaces/AffineFlow.h"
#include "graph/interfaces/Differentiable.h"
#include "graph/interfaces/Rescale.h"
#include "graph/nn/NnOps.h"
#include "graph/sdy/SdyOps.h"
#include "graph/storage/Storage.h"
#include "graph/text/TextOps.h"
#include "mlir/Dialect/Quant/QuantOps.h"
#include "runtime/OptionNames.h"

using namespace mlir;

namespace sinter {

std::shared_ptr<MLIRContext> makeContext() {
  auto context =
      std::make_shared<MLIRContext>(MLIRContext::Threading::DISABLED);
  context->loadDialect<func::FuncDialect, quant::QuantizationDialect,
                       stablehlo::StablehloDialect, nn::NnDialect,
                       chlo::ChloDialect, check::CheckDialect,
                       check::InterpreterDialect, sdy::SdyDialect,
                       text::TextDialect>();
  // Attributes of other tools (mhlo.*, jax.*) are carried along; their values
  // may be of unregistered dialects, see parseStablehlo().
  context->allowUnregisteredDialects(false);
  attachGradients(context.get());
  attachRescales(context.get());
  attachAffineFlow(context.get());
  return context;
}

/// Functions with a body: the public ones, or all.
static SmallVector<func::FuncOp> functionsIn(ModuleOp module, bool isPublic) {
  SmallVector<func::FuncOp> functions;
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isExternal() && (!isPublic || function.isPublic()))
      functions.push_back(function);
  return functions;
}

/// The function that would be run, valid or not; null if there is none.
static func::FuncOp chosenOf(ModuleOp module,
                             ArrayRef<func::FuncOp> publicFunctions) {
  return publicFunctions.size() == 1
             ? publicFunctions.front()
             : module.lookupSymbol<func::FuncOp>(entryName);
}

func::FuncOp entryOf(ModuleOp module) {
  func::FuncOp function = chosenOf(module, functionsIn(module, true));
  if (!function || function.isExternal() || !function.getBody().hasOneBlock())
    return {};
  return function;
}

SmallVector<func::FuncOp> rootsOf(ModuleOp module) {
  if (func::FuncOp entry = entryOf(module))
    return {entry};
  SmallVector<func::FuncOp> functions = functionsIn(module, true);
  llvm::erase_if(functions, [](func::FuncOp function) {
    return !function.getBody().hasOneBlock();
  });
  return functions;
}

/// The names of \p functions, the first few if there are many.
static std::string namesOf(ArrayRef<func::FuncOp> functions) {
  constexpr size_t most = 8;
  std::string text;
  for (func::FuncOp function : functions.take_front(most))
    text += (text.empty() ? "@" : ", @") + function.getName().str();
  if (functions.size() > most)
    text += " and " + std::to_string(functions.size() - most) + " more";
  return text;
}

Result<void> selectEntry(ModuleOp module, const std::string &name) {
  auto wanted = module.lookupSymbol<func::FuncOp>(name);
  if (!wanted || wanted.isExternal())
    return usageError(optionText("function") + ": there is no function @" +
                      name + "; there are " +
                      namesOf(functionsIn(module, false)));
  for (func::FuncOp function : functionsIn(module, false))
    function.setPrivate();
  wanted.setPublic();
  return {};
}

std::string whyNoEntry(ModuleOp module) {
  const SmallVector<func::FuncOp> candidates = functionsIn(module, true);
  func::FuncOp chosen = chosenOf(module, candidates);
  if (chosen && !chosen.isExternal())
    return "@" + chosen.getName().str() + " has more than one block";
  if (candidates.empty())
    return "there is no function to run";
  return "there is no @main, but " + namesOf(candidates) +
         "; choose one with " + optionText("function");
}

func::FuncOp Model::entry() const {
  return moduleOwner ? entryOf(module()) : func::FuncOp();
}

Model Model::clone() const {
  return withModule(OwningOpRef<ModuleOp>(module().clone()));
}

Model Model::withModule(OwningOpRef<ModuleOp> module) const {
  Model other(contextOwner, std::move(module));
  other.path = path;
  return other;
}

/// The type and name of one argument or result.
static TensorSpec specOf(Type type, Attribute name, StringRef prefix,
                         size_t index) {
  TensorSpec spec;
  if (auto text = dyn_cast_or_null<StringAttr>(name))
    spec.name = text.str();
  else
    spec.name = (prefix + Twine(index)).str();
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    if (std::optional<ElementType> element =
            elementTypeOf(tensor.getElementType()))
      spec.type = *element;
    for (int64_t size : tensor.getShape())
      spec.shape.push_back(ShapedType::isDynamic(size) ? -1 : size);
  }
  return spec;
}

std::vector<TensorSpec> Model::inputs() const {
  std::vector<TensorSpec> specs;
  if (func::FuncOp function = entry())
    for (auto [index, type] : llvm::enumerate(function.getArgumentTypes()))
      if (!isState(function.getArgAttrDict(index)))
        specs.push_back(specOf(type, function.getArgAttr(index, nameAttribute),
                               "arg", index));
  return specs;
}

std::vector<TensorSpec> Model::outputs() const {
  std::vector<TensorSpec> specs;
  if (func::FuncOp function = entry())
    for (auto [index, type] : llvm::enumerate(function.getResultTypes()))
      if (!isState(function.getResultAttrDict(index)))
        specs.push_back(specOf(type,
                               function.getResultAttr(index, nameAttribute),
                               "result", index));
  return specs;
}

} // namespace sinter
