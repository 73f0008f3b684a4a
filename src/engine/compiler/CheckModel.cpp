//===- CheckModel.cpp - what every command asks of a model that was read --===//

#include "engine/compiler/CheckModel.h"

#include "graph/Constants.h"
#include "graph/FirstError.h"
#include "graph/Types.h"
#include "graph/stablehlo/StablehloOps.h"
#include "graph/storage/Storage.h"
#include "runtime/MachineMemory.h"

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

/// Whether this machine can hold every constant: a few bytes of a file may
/// stand for one of any size.
static Result<void> checkConstants(const Model &model) {
  const uint64_t memory = memoryOfMachine();
  Result<void> outcome;
  model.module().walk([&](stablehlo::ConstantOp op) {
    auto type = cast<RankedTensorType>(op.getType());
    const std::optional<ElementType> element =
        elementTypeOf(type.getElementType());
    const std::optional<int64_t> bytes =
        element && type.hasStaticShape() ? byteCount(*element, type.getShape())
                                         : std::nullopt;
    if (!bytes || uint64_t(*bytes) <= memory)
      return WalkResult::advance();
    std::string name = constantName(op).str(), place = model.path;
    if (auto line = op->getLoc()->findInstanceOf<FileLineColLoc>())
      place += ":" + std::to_string(line.getLine());
    outcome = systemError(
        place + ": the constant " + (name.empty() ? "" : "'" + name + "' ") +
        "of " + toString(*element, Shape(type.getShape())) + " takes " +
        inGigabytes(*bytes) + "; this machine has " + inGigabytes(memory) +
        " of memory");
    return WalkResult::interrupt();
  });
  return outcome;
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
  if (Result<void> constants = checkConstants(model); !constants)
    return constants;
  if (model.entry())
    if (Result<Storage> storage = Storage::of(model); !storage)
      return invalid(storage.error().message);
  return {};
}

} // namespace sinter
