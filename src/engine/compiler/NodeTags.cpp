#include "engine/compiler/NodeTags.h"

#include "graph/Origin.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;

namespace sinter {

static constexpr llvm::StringLiteral tagBegin = "sinter.node<", tagEnd = ">";

Location tagLocation(uint32_t number, MLIRContext *context) {
  return NameLoc::get(
      StringAttr::get(context, Twine(tagBegin) + Twine(number) + tagEnd));
}

std::optional<uint32_t> tagIn(StringRef layer) {
  uint32_t number = 0;
  if (layer.consume_front(tagBegin) && layer.consume_back(tagEnd) &&
      !layer.getAsInteger(10, number))
    return number;
  return std::nullopt;
}

std::optional<uint32_t> tagIn(Location location) {
  return tagIn(originOf(location));
}

std::string withoutTags(StringRef message,
                        llvm::function_ref<std::string(uint32_t)> nameOf) {
  std::string text;
  for (;;) {
    const size_t first = message.find(tagBegin);
    const size_t last = message.find(tagEnd, first);
    if (last == StringRef::npos)
      return text + message.str();
    text += message.take_front(first);
    const StringRef tag = message.slice(first, last + tagEnd.size());
    const std::optional<uint32_t> number = tagIn(tag);
    text += number ? nameOf(*number) : tag.str();
    message = message.drop_front(last + tagEnd.size());
  }
}

} // namespace sinter
