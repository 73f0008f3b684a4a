#include "graph/Source.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace sinter {

std::optional<int64_t> sourceOf(Operation *op) {
  auto number = op->getAttrOfType<IntegerAttr>(sourceAttribute);
  return number && isSourceNumber(number.getInt())
             ? std::optional(number.getInt())
             : std::nullopt;
}

void setSource(Operation *op, int64_t number) {
  op->setAttr(sourceAttribute,
              Builder(op->getContext()).getI64IntegerAttr(number));
}

void removeSource(Operation *op) { op->removeAttr(sourceAttribute); }

bool isSourceAttribute(StringRef name) {
  return name.consume_front(sourceAttribute) &&
         (name.empty() || name.starts_with("."));
}

void dropSources(ModuleOp module) {
  module.walk([](Operation *op) {
    SmallVector<StringAttr> ours;
    for (NamedAttribute attribute : op->getDiscardableAttrs())
      if (isSourceAttribute(attribute.getName().getValue()))
        ours.push_back(attribute.getName());
    for (StringAttr name : ours)
      op->removeDiscardableAttr(name);
  });
}

std::map<std::string, std::set<std::string>> operationsInFile(ModuleOp module) {
  std::map<std::string, std::set<std::string>> operations;
  auto records = module->getAttrOfType<ArrayAttr>(sourceRecordsAttribute);
  if (!records)
    return operations;
  for (Attribute each : records) {
    auto record = dyn_cast<DictionaryAttr>(each);
    if (!record)
      continue;
    auto name = record.getAs<StringAttr>(recordedName);
    auto operation = record.getAs<StringAttr>(recordedOperation);
    if (name && operation)
      operations[name.str()].insert(operation.str());
  }
  return operations;
}

std::vector<std::string> sourceNotes(ModuleOp module) {
  std::vector<std::string> notes;
  if (auto lines = module->getAttrOfType<ArrayAttr>(sourceNotesAttribute))
    for (Attribute each : lines)
      if (auto line = dyn_cast<StringAttr>(each))
        notes.push_back(line.str());
  return notes;
}

} // namespace sinter
