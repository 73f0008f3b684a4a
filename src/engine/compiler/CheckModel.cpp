//===- CheckModel.cpp - checks of all models after reading ----------------===//

#include "engine/compiler/CheckModel.h"

#include "graph/Constants.h"
#include "graph/FirstError.h"
#include "graph/Types.h"
#include "graph/stablehlo/StablehloOps.h"
#include "graph/storage/Storage.h"
#include "graph/text/TextOps.h"
#include "runtime/MachineMemory.h"

using namespace mlir;

namespace sinter {

/// Whether the byte count of a value of \p type fits; unknown sizes count as 1,
/// types that the runtime lacks as bytes.
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

/// Checks that the bytes of each value can be counted.
static Result<void> checkSizes(const Model &model) {
  FirstError reported(model.context());
  const WalkResult walked = model.module().walk([&](Operation *op) {
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
  if (walked.wasInterrupted())
    return reported.takeError(ErrorKind::InvalidModel, model.path);
  return {};
}

/// Whether every constant fits into this machine's memory: a few bytes of a
/// file may describe one of any size.
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
    std::string name = constantName(op).str();
    Error error =
        systemError("the constant " + (name.empty() ? "" : "'" + name + "' ") +
                    "of " + toString(*element, Shape(type.getShape())) +
                    " takes " + inGigabytes(*bytes) + "; this machine has " +
                    inGigabytes(memory) + " of memory");
    if (auto line = op->getLoc()->findInstanceOf<FileLineColLoc>())
      error.position = std::to_string(line.getLine());
    outcome = inFile(std::move(error), model.path);
    return WalkResult::interrupt();
  });
  return outcome;
}

/// Checks that strings are only where they may be.
static Result<void> checkStrings(const Model &model) {
  FirstError reported(model.context());
  const WalkResult walked = model.module().walk([&](Operation *op) {
    const bool hasStrings =
        llvm::any_of(op->getOperandTypes(), isStringTensor) ||
        llvm::any_of(op->getResultTypes(), isStringTensor);
    if (!hasStrings || text::takesStrings(op))
      return WalkResult::advance();
    op->emitOpError("takes no strings");
    return WalkResult::interrupt();
  });
  if (walked.wasInterrupted())
    return reported.takeError(ErrorKind::InvalidModel, model.path);
  if (func::FuncOp entry = model.entry())
    for (unsigned i = 0; i < entry.getNumArguments(); ++i)
      if (isStringTensor(entry.getArgument(i).getType()) &&
          entry.getArgAttr(i, stateAttribute))
        return inFile(invalidModel("a state is of strings"), model.path);
  return {};
}

Result<void> checkModel(const Model &model) {
  if (rootsOf(model.module()).empty())
    return inFile(invalidModel(whyNoEntry(model.module())), model.path);
  if (Result<void> countable = checkSizes(model); !countable)
    return countable;
  if (Result<void> constants = checkConstants(model); !constants)
    return constants;
  if (Result<void> strings = checkStrings(model); !strings)
    return strings;
  if (model.entry())
    if (Result<Storage> storage = Storage::of(model); !storage)
      return inFile(storage.takeError(), model.path);
  return {};
}

} // namespace sinter
