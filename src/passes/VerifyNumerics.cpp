#include "passes/VerifyNumerics.h"

#include "graph/Model.h"
#include "graph/Types.h"
#include "interpreter/Interpreter.h"
#include "runtime/Random.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mlir;

namespace sinter {

static std::string outputName(func::FuncOp function, unsigned index) {
  if (auto name =
          function.getResultAttrOfType<StringAttr>(index, nameAttribute))
    return name.str();
  return "result" + std::to_string(index);
}

Result<Observation> observe(ModuleOp module, int64_t unknownDimension) {
  auto function = module.lookupSymbol<func::FuncOp>(entryName);
  if (!function || function.isExternal())
    return invalidModel("there is no function 'main' to run");
  std::vector<Tensor> inputs;
  for (Type type : function.getArgumentTypes()) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    std::optional<ElementType> element =
        tensor ? elementTypeOf(tensor.getElementType()) : std::nullopt;
    if (!element)
      return unsupported("--verify-numerics cannot make inputs of this type");
    Shape shape;
    for (int64_t size : tensor.getShape())
      shape.push_back(ShapedType::isDynamic(size) ? unknownDimension : size);
    if (!byteCount(*element, shape))
      return invalidModel("an input is too large");
    Tensor input(*element, std::move(shape));
    fillRandom(input, /*seed=*/inputs.size() + 1);
    inputs.push_back(std::move(input));
  }
  auto outputs = interpret(function, inputs);
  if (!outputs)
    return outputs.takeError();
  Observation observation;
  for (unsigned i = 0; i < outputs->size(); ++i)
    observation.names.push_back(outputName(function, i));
  observation.outputs = std::move(*outputs);
  return observation;
}

static bool sameSpecial(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || a == b;
}

std::string difference(const Observation &before, const Observation &after,
                       double tolerance) {
  if (before.outputs.size() != after.outputs.size())
    return "the number of outputs changed";
  for (auto [index, name] : llvm::enumerate(before.names)) {
    const Tensor &was = before.outputs[index], &is = after.outputs[index];
    if (was.type() != is.type() || was.shape() != is.shape())
      return llvm::formatv("output '{0}' was {1} and is {2}", name,
                           toString(was.type(), was.shape()),
                           toString(is.type(), is.shape()))
          .str();
    double largest = 0;
    for (int64_t i = 0; i < was.size(); ++i)
      if (std::isfinite(was.toDouble(i)))
        largest = std::max(largest, std::abs(was.toDouble(i)));
    for (int64_t i = 0; i < was.size(); ++i) {
      double a = was.toDouble(i), b = is.toDouble(i);
      if (!sameSpecial(a, b) && !(std::abs(a - b) <= tolerance * largest))
        return llvm::formatv("output '{0}', element {1}: was {2}, is {3}", name,
                             i, a, b)
            .str();
    }
  }
  return "";
}

} // namespace sinter
