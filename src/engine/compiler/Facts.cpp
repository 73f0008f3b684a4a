//===- Facts.cpp - what a graph consists of -------------------------------===//

#include "engine/compiler/MlirCompiler.h"
#include "engine/compiler/TensorNames.h"
#include "graph/Constants.h"
#include "graph/Types.h"
#include "graph/stablehlo/StablehloOps.h"
#include "graph/storage/Storage.h"
#include <map>

using namespace mlir;

namespace sinter {

/// Operations of a model by name, constants and function glue left out.
static Counts countOperations(const Model &model) {
  std::map<std::string, int64_t> counts;
  model.module().walk([&](Operation *op) {
    if (!isa<ModuleOp, func::FuncOp, func::ReturnOp, stablehlo::ReturnOp,
             stablehlo::ConstantOp>(op))
      ++counts[op->getName().getStringRef().str()];
  });
  return {counts.begin(), counts.end()};
}

static void countParameters(const Model &model, GraphFacts &facts) {
  model.module().walk([&](stablehlo::ConstantOp constant) {
    const auto type = cast<ShapedType>(constant.getType());
    const std::optional<ElementType> element =
        elementTypeOf(type.getElementType());
    facts.parameters += type.getNumElements();
    if (element)
      facts.parameterBytes +=
          type.getNumElements() * static_cast<int64_t>(byteSize(*element));
  });
}

static std::optional<int64_t> bytesOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  const std::optional<ElementType> element =
      tensor ? elementTypeOf(tensor.getElementType()) : std::nullopt;
  if (!element || !tensor.hasStaticShape())
    return std::nullopt;
  return byteCount(*element, Shape(tensor.getShape()));
}

/// Whether the values in the regions of \p op are tensors of their own; those
/// in other regions say how one tensor is computed.
static bool isControlFlow(Operation *op) {
  return isa<func::FuncOp, stablehlo::IfOp, stablehlo::CaseOp,
             stablehlo::WhileOp>(op);
}

static void listTensors(const Model &model, const Storage &storage,
                        GraphFacts &facts) {
  const TensorNames names(model);
  const auto add = [&](Value value, StringRef op) {
    facts.tensors.push_back({names.nameOf(value), storage.roleOf(value),
                             typeText(value.getType()),
                             bytesOf(value.getType()), op.str()});
  };
  func::FuncOp entry = model.entry();
  for (BlockArgument argument : entry.getArguments())
    add(argument, "");
  entry.walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (Value result : op->getResults())
      add(result, op->getName().getStringRef());
    return isControlFlow(op) ? WalkResult::advance() : WalkResult::skip();
  });
}

Result<GraphFacts> MlirCompilerModel::facts() {
  Result<Model> model = source->asItIs();
  if (!model)
    return model.takeError();
  GraphFacts facts;
  countParameters(*model, facts);
  facts.operations = countOperations(*model);
  Result<Storage> storage = Storage::of(*model);
  if (!storage)
    return storage.takeError();
  for (const StateTensor &state : storage->states())
    facts.state.push_back({state.spec, toTensor(state.initial)->owned()});
  listTensors(*model, *storage, facts);
  return facts;
}

} // namespace sinter
