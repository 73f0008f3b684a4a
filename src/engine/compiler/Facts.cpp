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

/// Counts operations by name, without function glue and parameters, which are
/// constants.
static void countOperations(const Model &model, GraphFacts &facts) {
  llvm::DenseMap<OperationName, int64_t> counts;
  model.module().walk([&](Operation *op) {
    if (auto constant = dyn_cast<stablehlo::ConstantOp>(op)) {
      const auto type = cast<ShapedType>(constant.getType());
      const std::optional<ElementType> element =
          elementTypeOf(type.getElementType());
      facts.parameters += type.getNumElements();
      if (element)
        facts.parameterBytes +=
            type.getNumElements() * static_cast<int64_t>(byteSize(*element));
    } else if (!isa<ModuleOp, func::FuncOp, func::ReturnOp,
                    stablehlo::ReturnOp>(op)) {
      ++counts[op->getName()];
    }
  });
  std::map<std::string, int64_t> sorted;
  for (const auto &[name, count] : counts)
    sorted.emplace(name.getStringRef().str(), count);
  facts.operations.assign(sorted.begin(), sorted.end());
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
/// in other regions compute single elements.
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
  Result<std::shared_ptr<const Model>> view = source->view();
  if (!view)
    return view.takeError();
  const Model &model = **view;
  GraphFacts facts;
  countOperations(model, facts);
  Result<Storage> storage = Storage::of(model);
  if (!storage)
    return storage.takeError();
  for (const StateTensor &state : storage->states())
    facts.state.push_back({state.spec, toTensor(state.initial)->owned()});
  listTensors(model, *storage, facts);
  return facts;
}

} // namespace sinter
