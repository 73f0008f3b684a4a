//===- CheckProgram.cpp - check for unsupported programs ------------------===//

#include "backend/cpu/legalize/CheckProgram.h"

#include "graph/Types.h"
#include "mlir/Dialect/Quant/QuantTypes.h"
#include "runtime/Program.h"

#include <set>

using namespace mlir;
using namespace sinter;

Result<void> cpu::checkTypes(func::FuncOp function) {
  std::set<std::string> bad;
  auto check = [&](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    const std::optional<ElementType> element =
        type ? elementTypeOf(type.getElementType()) : std::nullopt;
    const bool hasSize =
        type && (hasNamedSizes(type) || (type.hasStaticShape() && element &&
                                         byteCount(*element, type.getShape())));
    if (element && hasSize && !isa<quant::QuantizedType>(type.getElementType()))
      return;
    std::string text;
    llvm::raw_string_ostream stream(text);
    stream << value.getType();
    bad.insert(text);
  };
  function.walk([&](Operation *op) {
    llvm::for_each(op->getResults(), check);
    for (Region &region : op->getRegions())
      if (!region.empty())
        llvm::for_each(region.getArguments(), check);
  });
  if (bad.empty())
    return {};
  std::string list;
  for (const std::string &type : bad)
    list += (list.empty() ? "" : ", ") + type;
  return unsupported("the CPU backend has no arithmetic on " + list);
}

Result<void> cpu::checkNesting(func::FuncOp function) {
  auto isDeeper = [](auto &self, Operation *op, unsigned depth) -> bool {
    for (Region &region : op->getRegions())
      for (Operation &inner : region.getOps())
        if (inner.getNumRegions() > 0 &&
            (depth == maxStepNesting || self(self, &inner, depth + 1)))
          return true;
    return false;
  };
  if (!isDeeper(isDeeper, function, 0))
    return {};
  return unsupported("control flow nests more than " +
                     std::to_string(maxStepNesting) + " deep");
}
