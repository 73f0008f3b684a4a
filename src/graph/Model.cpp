#include "graph/Model.h"

#include "graph/Types.h"
#include "graph/check/CheckOps.h"
#include "graph/chlo/ChloOps.h"
#include "graph/interfaces/Differentiable.h"
#include "graph/interfaces/Rescale.h"
#include "graph/nn/NnOps.h"
#include "graph/sdy/SdyOps.h"
#include "graph/storage/Storage.h"
#include "mlir/Dialect/Quant/QuantOps.h"

using namespace mlir;

namespace sinter {

std::shared_ptr<MLIRContext> makeContext() {
  auto context =
      std::make_shared<MLIRContext>(MLIRContext::Threading::DISABLED);
  context->loadDialect<func::FuncDialect, quant::QuantizationDialect,
                       stablehlo::StablehloDialect, nn::NnDialect,
                       chlo::ChloDialect, check::CheckDialect,
                       check::InterpreterDialect, sdy::SdyDialect>();
  // Attributes of other tools (mhlo.*, jax.*) are carried along; their values
  // may be of dialects that nobody knows, see parseStablehlo().
  context->allowUnregisteredDialects(false);
  attachGradients(context.get());
  attachRescales(context.get());
  return context;
}

func::FuncOp entryOf(ModuleOp module) {
  auto function = module.lookupSymbol<func::FuncOp>(entryName);
  if (!function || function.isExternal() || !function.getBody().hasOneBlock())
    return {};
  return function;
}

func::FuncOp Model::entry() const {
  return moduleOwner ? entryOf(module()) : func::FuncOp();
}

Model Model::clone() const {
  Model copy(contextOwner, OwningOpRef<ModuleOp>(module().clone()));
  copy.path = path;
  return copy;
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
