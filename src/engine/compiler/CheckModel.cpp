//===- CheckModel.cpp - what every command asks of a model that was read --===//

#include "engine/compiler/CheckModel.h"

#include "graph/FirstError.h"
#include "graph/Types.h"
#include "graph/storage/Storage.h"

using namespace mlir;

namespace sinter {

/// Whether the bytes of a value of \p type can be counted; unknown sizes count
/// as 1, types that the runtime lacks as bytes.
static bool isCountable(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return true;
  Shape shape;
  for (int64_t size : tensor.getShape())
    shape.push_back(ShapedType::isDynamic(size) ? 1 : size);
  const std::optional<ElementType> element =
      elementTypeOf(tensor.getElementType());
  return byteCount(element.value_or(ElementType::UI8), shape).has_value();
}

/// The first value in \p module that is too large, in words; empty: none.
static std::string tooLarge(ModuleOp module) {
  FirstError reported(module.getContext());
  module.walk([&](Operation *op) {
    SmallVector<Type> types(op->getResultTypes());
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::append_range(types, block.getArgumentTypes());
    for (Type type : types) {
      if (isCountable(type))
        continue;
      op->emitError() << type << " is too large";
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return reported.takeWithPlace();
}

Result<void> checkModel(const Model &model) {
  const auto invalid = [&](const std::string &what) {
    const bool isNamed = what.find(model.path) != std::string::npos;
    return invalidModel(isNamed ? what : model.path + ": " + what);
  };
  if (rootsOf(model.module()).empty())
    return invalid(whyNoEntry(model.module()));
  if (const std::string what = tooLarge(model.module()); !what.empty())
    return invalid(what);
  if (model.entry())
    if (Result<Storage> storage = Storage::of(model); !storage)
      return invalid(storage.error().message);
  return {};
}

} // namespace sinter
