//===- ValueInfo.cpp - what the C interface says of an input or output ----===//

#include "bindings/c/ValueInfo.h"

namespace sinter::c {

struct ValueInfo::Content {
  TensorSpec spec;
  std::vector<std::string> symbols, aliases;
  bool ranked = true, feedsShapes = false;
  std::vector<const char *> symbolTexts = {}, aliasTexts = {};
};

ValueInfo::ValueInfo(Content given) {
  auto all = std::make_shared<Content>(std::move(given));
  all->symbols.resize(all->spec.shape.size());
  for (const std::string &each : all->symbols)
    all->symbolTexts.push_back(each.c_str());
  for (const std::string &each : all->aliases)
    all->aliasTexts.push_back(each.c_str());
  content = std::move(all);
}

ValueInfo::ValueInfo(const ModelInput &input)
    : ValueInfo(Content{input.spec, input.symbols, input.otherNames,
                        input.ranked, input.feedsShapes}) {}

ValueInfo::ValueInfo(const ModelOutput &output)
    : ValueInfo(Content{output, output.symbols, {}, output.ranked}) {}

ValueInfo::ValueInfo(const TensorSpec &state)
    : ValueInfo(Content{state, {}, {}}) {}

sinter_value_info ValueInfo::info() const {
  const Content &all = *content;
  sinter_value_info info = {};
  info.struct_size = sizeof(info);
  info.name = all.spec.name.c_str();
  info.type = typeOf(all.spec.type);
  info.rank = all.ranked ? static_cast<int32_t>(all.spec.shape.size()) : -1;
  info.shape = all.spec.shape.data();
  info.symbols = all.symbolTexts.data();
  info.feeds_shapes = all.feedsShapes;
  info.alias_count = all.aliasTexts.size();
  info.aliases = all.aliasTexts.data();
  return info;
}

Result<void> giveInfo(std::span<const ValueInfo> all, size_t index,
                      const char *what, sinter_value_info *to) {
  if (index >= all.size())
    return usageError("there is no " + std::string(what) + " " +
                      std::to_string(index) + ", but " +
                      std::to_string(all.size()));
  return giveStruct(all[index].info(), to, "info");
}

// The header spells them out, so that they stay what they are.
#define X(name, text, bytes, bits, kind)                                       \
  static_assert(static_cast<int>(ElementType::name) == SINTER_##name);
SINTER_ELEMENT_TYPES(X)
#undef X

constexpr int typeCount = SINTER_STRING + 1;

Result<ElementType> elementTypeOf(sinter_type type) {
  const int number = static_cast<int>(type);
  if (number < 0 || number >= typeCount)
    return usageError("there is no element type " + std::to_string(number));
  return static_cast<ElementType>(number);
}

sinter_type typeOf(ElementType type) { return static_cast<sinter_type>(type); }

} // namespace sinter::c

using namespace sinter;
using namespace sinter::c;

extern "C" {

const char *sinter_type_name(sinter_type type) {
  Result<ElementType> known = elementTypeOf(type);
  return known ? name(*known).data() : nullptr;
}

size_t sinter_type_size(sinter_type type) {
  Result<ElementType> known = elementTypeOf(type);
  if (!known)
    return 0;
  return isString(*known) ? sizeof(sinter_string) : byteSize(*known);
}

} // extern "C"
