#include "engine/compiler/NamedSizes.h"

#include "backend/cpu/pipeline/Registration.h"
#include "backend/cpu/shapes/InferDimensions.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;

namespace sinter {

Result<NamedSizes> NamedSizes::of(Model model) {
  cpu::loadCpuDialect(model.context());
  if (Result<void> done = cpu::inferDimensions(model.entry()); !done)
    return done.takeError();
  std::optional<cpu::SizeTable> table = cpu::SizeTable::of(model.module());
  return NamedSizes{std::move(model),
                    table ? std::move(*table) : cpu::SizeTable()};
}

std::string NamedSizes::nameOf(Dim size) const {
  if (size.isUnknown())
    return "";
  return table.expressionOf(size).text(table.parameters);
}

bool NamedSizes::isOfInputs(Dim size) const {
  if (size.isUnknown())
    return false;
  llvm::DenseSet<uint32_t> own;
  for (BlockArgument argument : model.entry().getArguments())
    if (auto type = dyn_cast<RankedTensorType>(argument.getType()))
      for (Dim each : dimsOf(type))
        if (each.isNamed())
          if (auto parameter = table.expressionOf(each).asParameter())
            own.insert(*parameter);
  const SizeExpression expression = table.expressionOf(size);
  for (const SizeExpression::Term &term : expression.terms())
    for (uint32_t parameter : term.parameters)
      if (!own.contains(parameter))
        return false;
  return true;
}

} // namespace sinter
