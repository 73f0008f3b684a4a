#include "graph/storage/DeclareStates.h"

#include "graph/Constants.h"
#include "graph/Types.h"
#include "graph/storage/Storage.h"
#include "runtime/OptionNames.h"
#include "runtime/StatePairs.h"
#include "runtime/Suggestions.h"
#include "runtime/TensorNames.h"

using namespace mlir;

namespace sinter {

bool isDynamicState(Model &model, StringRef pair) {
  const std::vector<TensorSpec> inputs = model.inputs(),
                                outputs = model.outputs();
  const auto found = findStatePair(pair, namesOf(outputs), namesOf(inputs));
  if (!found)
    return false;
  Result<Storage> storage = Storage::of(model);
  if (!storage)
    return false;
  func::FuncOp entry = model.entry();
  auto result = dyn_cast<RankedTensorType>(
      entry.getResultTypes()[storage->outputs()[found->first]]);
  auto argument = dyn_cast<RankedTensorType>(
      entry.getArgument(storage->inputs()[found->second]).getType());
  if (!result || !argument || result.getRank() != argument.getRank() ||
      result.getElementType() != argument.getElementType() ||
      (result.hasStaticShape() && argument.hasStaticShape()))
    return false;
  return llvm::all_of(llvm::zip_equal(result.getShape(), argument.getShape()),
                      [](auto sizes) {
                        const auto [one, other] = sizes;
                        return ShapedType::isDynamic(one) ||
                               ShapedType::isDynamic(other) || one == other;
                      });
}

Result<void> declareState(Model &model, StringRef pair) {
  Result<Storage> storage = Storage::of(model);
  if (!storage)
    return storage.takeError();
  const std::string what = "state '" + pair.str() + "'";
  const std::vector<TensorSpec> inputs = model.inputs(),
                                outputs = model.outputs();
  const auto found = findStatePair(pair, namesOf(outputs), namesOf(inputs));
  if (!found)
    return usageError(what + ": expected OUTPUT=INPUT; the outputs are " +
                      quotedList(namesOf(outputs)) + ", the inputs " +
                      quotedList(namesOf(inputs)));
  const auto [output, input] = *found;
  const unsigned argument = storage->inputs()[input],
                 result = storage->outputs()[output];
  func::FuncOp entry = model.entry();
  const Type type = entry.getArgument(argument).getType();
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape() ||
      entry.getResultTypes()[result] != type)
    return withHint(
        optionText("shape") + " of the inputs may fix sizes",
        usageError(what + ": output '" + outputs[output].name + "' is " +
                   toString(outputs[output].type, outputs[output].shape) +
                   ", input '" + inputs[input].name + "' " +
                   toString(inputs[input].type, inputs[input].shape) +
                   "; a state is of one type of known sizes"));
  std::optional<ElementType> element = elementTypeOf(tensor.getElementType());
  if (!element)
    return unsupported(what + ": a state has numbers");
  MLIRContext *context = model.context();
  auto name = StringAttr::get(context, inputs[input].name);
  entry.setArgAttr(argument, stateAttribute, name);
  entry.setArgAttr(
      argument, initialAttribute,
      toDenseAttribute(Tensor(*element, inputs[input].shape), context));
  entry.setResultAttr(result, stateAttribute, name);
  return {};
}

} // namespace sinter
