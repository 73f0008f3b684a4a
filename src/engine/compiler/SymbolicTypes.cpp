#include "engine/compiler/SymbolicTypes.h"

#include "backend/cpu/shapes/InferDimensions.h"
#include "engine/compiler/NamedSizes.h"
#include "engine/compiler/NodeTags.h"
#include "engine/compiler/TensorNames.h"
#include "graph/Types.h"

using namespace mlir;

namespace sinter {

/// \p type with \p names in place of its dynamic dimensions, those that have
/// one.
static std::string withNames(RankedTensorType type,
                             ArrayRef<std::string> names) {
  std::string text = typeText(type);
  size_t place = text.rfind('[');
  for (auto [size, name] : llvm::zip_equal(type.getShape(), names)) {
    if (!ShapedType::isDynamic(size))
      continue;
    place = text.find('?', place);
    if (place == std::string::npos)
      return text;
    if (name.empty()) {
      ++place;
      continue;
    }
    text.replace(place, 1, name);
    place += name.size();
  }
  return text;
}

SymbolicTypes::SymbolicTypes(const Model &model) {
  func::FuncOp entry = model.entry();
  if (!cpu::hasUnknownSizes(entry))
    return;
  nameInputs(entry);
  followSizes(model);
}

void SymbolicTypes::nameInputs(func::FuncOp entry) {
  for (BlockArgument argument : entry.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    auto symbols = entry.getArgAttrOfType<ArrayAttr>(argument.getArgNumber(),
                                                     dimsAttribute);
    if (!type || !symbols ||
        static_cast<int64_t>(symbols.size()) != type.getRank())
      continue;
    SmallVector<std::string> names;
    for (Attribute each : symbols) {
      auto symbol = dyn_cast<StringAttr>(each);
      names.push_back(symbol ? symbol.str() : "");
    }
    texts[argument] = withNames(type, names);
  }
}

/// Sizes of results, from a copy of the graph in which they have names.
void SymbolicTypes::followSizes(const Model &model) {
  Model copy = model.clone();
  SmallVector<Operation *> operations;
  model.entry().walk([&](Operation *op) { operations.push_back(op); });
  uint32_t next = 0;
  copy.entry().walk(
      [&](Operation *op) { op->setLoc(tagLocation(next++, model.context())); });
  const Result<NamedSizes> sized = NamedSizes::of(std::move(copy));
  if (!sized)
    return;
  // What stands for an operation has its location; the last one its results.
  sized->model.entry().walk([&](Operation *op) {
    const std::optional<uint32_t> number = tagIn(op->getLoc());
    if (!number || *number >= operations.size() ||
        operations[*number]->getNumResults() != op->getNumResults())
      return;
    for (auto [from, to] :
         llvm::zip_equal(op->getResults(), operations[*number]->getResults())) {
      auto type = dyn_cast<RankedTensorType>(to.getType());
      if (!isOfUnknownSize(type) || !hasNamedSizes(from.getType()) ||
          tensorOf(from).getRank() != type.getRank())
        continue;
      SmallVector<std::string> names;
      for (Dim size : dimsOf(from))
        names.push_back(sized->nameOf(size));
      texts[to] = withNames(type, names);
    }
  });
}

std::string SymbolicTypes::textOf(Value value) const {
  const auto known = texts.find(value);
  return known == texts.end() ? typeText(value.getType()) : known->second;
}

} // namespace sinter
