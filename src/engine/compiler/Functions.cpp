//===- Functions.cpp - the functions of a file that has no @main ----------===//

#include "engine/compiler/MlirCompiler.h"
#include "graph/stablehlo/StablehloOps.h"

#include <map>

using namespace mlir;

namespace sinter {

/// "f32 [N, 3]"; other types as MLIR prints them.
static std::string typeText(Type type, ArrayAttr symbols) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  const std::optional<ElementType> element =
      tensor ? elementTypeOf(tensor.getElementType()) : std::nullopt;
  if (!element) {
    std::string text;
    llvm::raw_string_ostream(text) << type;
    return text;
  }
  ModelInput argument;
  argument.spec.type = *element;
  for (int64_t size : tensor.getShape())
    argument.spec.shape.push_back(ShapedType::isDynamic(size) ? -1 : size);
  argument.symbols.resize(tensor.getRank());
  if (symbols && symbols.size() == argument.symbols.size())
    for (auto [to, from] : llvm::zip_equal(argument.symbols, symbols))
      if (auto symbol = dyn_cast<StringAttr>(from))
        to = symbol.str();
  return argument.text();
}

static std::string argumentName(Attribute given, StringRef prefix,
                                size_t index) {
  auto name = dyn_cast_or_null<StringAttr>(given);
  return name ? name.str() : (prefix + Twine(index)).str();
}

static FunctionDescription describe(func::FuncOp function) {
  FunctionDescription description;
  description.name = function.getName().str();
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes()))
    description.inputs.push_back(
        {argumentName(function.getArgAttr(i, nameAttribute), "arg", i),
         typeText(type,
                  function.getArgAttrOfType<ArrayAttr>(i, dimsAttribute))});
  for (auto [i, type] : llvm::enumerate(function.getResultTypes()))
    description.outputs.push_back(
        {argumentName(function.getResultAttr(i, nameAttribute), "result", i),
         typeText(type, {})});
  std::map<std::string, int64_t> counts;
  function.walk([&](Operation *op) {
    if (op != function && !isa<stablehlo::ConstantOp>(op) &&
        !op->hasTrait<OpTrait::IsTerminator>())
      ++counts[op->getName().getStringRef().str()];
  });
  description.operations.assign(counts.begin(), counts.end());
  return description;
}

Result<std::vector<FunctionDescription>>
MlirCompiler::functions(const ModelRequest &request) {
  auto source = ModelSource::open(request);
  if (!source)
    return source.takeError();
  std::vector<FunctionDescription> all;
  if (!(*source)->format().hasFunctions)
    return all;
  Result<std::shared_ptr<const Model>> model = (*source)->view();
  if (!model)
    return model.takeError();
  if (!(*model)->entry())
    for (func::FuncOp function : rootsOf((*model)->module()))
      all.push_back(describe(function));
  return all;
}

} // namespace sinter
