#include "engine/compiler/NodeTraces.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace sinter {

void addOnce(Labels &labels, StringRef label) {
  if (!llvm::is_contained(labels, label))
    labels.push_back(label.str());
}

NodeTraces::NodeTraces(const Model &model, const NodesOfGraph &nodes) {
  numbers.number(model.module());
  for (auto [value, number] : ValueNumbers::valuesOf(model.module()))
    if (auto node = nodes.nodeOf.find(value.getDefiningOp());
        node != nodes.nodeOf.end())
      nodeOf[number] = node->second;
  numbers.whenReplaced = [this](StringRef label, Value,
                                ArrayRef<int64_t> replaced) {
    for (int64_t number : replaced)
      addOnce(labels[number], label);
  };
}

const Labels &NodeTraces::labelsOf(int64_t number) const {
  static const Labels none;
  const auto found = labels.find(number);
  return found == labels.end() ? none : found->second;
}

} // namespace sinter
