//===- ValueInfo.cpp - what the C interface says of an input or output ----===//

#include "bindings/c/ValueInfo.h"

namespace sinter::c {

ValueInfo::ValueInfo(const TensorSpec &spec,
                     const std::vector<std::string> &names, bool ranked,
                     bool feedsShapes)
    : type(spec.type), name(std::make_shared<const std::string>(spec.name)),
      shape(std::make_shared<const Shape>(spec.shape)), ranked(ranked),
      feedsShapes(feedsShapes) {
  auto all = std::make_shared<std::vector<std::string>>(names);
  all->resize(spec.shape.size());
  auto pointers = std::make_shared<std::vector<const char *>>();
  for (const std::string &each : *all)
    pointers->push_back(each.c_str());
  symbols = std::move(all);
  texts = std::move(pointers);
}

ValueInfo::ValueInfo(const ModelInput &input)
    : ValueInfo(input.spec, input.symbols, input.ranked, input.feedsShapes) {}

ValueInfo::ValueInfo(const ModelOutput &output)
    : ValueInfo(output, {}, output.ranked, false) {}

ValueInfo::ValueInfo(const TensorSpec &state)
    : ValueInfo(state, {}, true, false) {}

sinter_value_info ValueInfo::info() const {
  sinter_value_info info = {};
  info.struct_size = sizeof(info);
  info.name = name->c_str();
  info.type = typeOf(type);
  info.rank = ranked ? static_cast<int32_t>(shape->size()) : -1;
  info.shape = shape->data();
  info.symbols = texts->data();
  info.feeds_shapes = feedsShapes;
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

constexpr int typeCount = SINTER_C128 + 1;

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
  return known ? byteSize(*known) : 0;
}

} // extern "C"
