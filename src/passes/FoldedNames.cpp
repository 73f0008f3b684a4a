//===- FoldedNames.cpp - names for folded constants -----------------------===//

#include "passes/FoldedNames.h"

#include "graph/Model.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace sinter {

static constexpr StringLiteral suffix = "_fuse_bn";

FoldedNames::FoldedNames(ModuleOp module) {
  module.walk([&](Operation *op) {
    if (auto name = op->getAttrOfType<StringAttr>(nameAttribute))
      ++taken[name.getValue()];
    if (auto function = dyn_cast<func::FuncOp>(op)) {
      for (ArrayAttr attributes :
           {function.getArgAttrsAttr(), function.getResAttrsAttr()})
        if (attributes)
          for (auto each : attributes.getAsRange<DictionaryAttr>())
            if (auto name = each.getAs<StringAttr>(nameAttribute))
              ++taken[name.getValue()];
    }
  });
}

std::string FoldedNames::fused(StringRef base) {
  if (base.empty())
    return "";
  base.consume_back(suffix);
  std::string name = (base + suffix).str();
  for (unsigned i = 1; taken.contains(name); ++i)
    name = (base + suffix + "_" + Twine(i)).str();
  ++taken[name];
  return name;
}

void FoldedNames::release(StringRef name) {
  auto entry = taken.find(name);
  if (entry != taken.end() && --entry->second == 0)
    taken.erase(entry);
}

std::string FoldedNames::biasOf(StringRef weight) {
  weight.consume_back(suffix);
  return weight.empty() ? "" : (weight + "_bias").str();
}

} // namespace sinter
