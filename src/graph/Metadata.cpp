#include "graph/Metadata.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;

namespace sinter {

static NamedAttrList attributesOf(ModuleOp module) {
  auto kept = module->getAttrOfType<DictionaryAttr>(metadataAttribute);
  return kept ? NamedAttrList(kept) : NamedAttrList();
}

void setMetadata(ModuleOp module, StringRef key, StringRef text) {
  MLIRContext *context = module.getContext();
  NamedAttrList all = attributesOf(module);
  all.set(key, StringAttr::get(context, text));
  module->setAttr(metadataAttribute, all.getDictionary(context));
}

std::vector<std::pair<std::string, std::string>> metadataOf(ModuleOp module) {
  std::vector<std::pair<std::string, std::string>> entries;
  for (NamedAttribute each : attributesOf(module))
    if (auto text = dyn_cast<StringAttr>(each.getValue()))
      entries.emplace_back(each.getName().str(), text.getValue().str());
  return entries;
}

} // namespace sinter
