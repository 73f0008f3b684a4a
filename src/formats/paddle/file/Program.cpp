#include "formats/paddle/file/Program.h"

#include <algorithm>

namespace sinter::paddle {

const AttributeValue *
Operator::attribute(std::string_view attributeName) const {
  for (const Attribute &each : attributes)
    if (each.name == attributeName)
      return &each.value;
  return nullptr;
}

static const std::vector<std::string> *argumentsOf(const std::vector<Slot> &in,
                                                   std::string_view slot) {
  for (const Slot &each : in)
    if (each.name == slot)
      return &each.arguments;
  return nullptr;
}

const std::vector<std::string> *Operator::input(std::string_view slot) const {
  return argumentsOf(inputs, slot);
}

const std::vector<std::string> *Operator::output(std::string_view slot) const {
  return argumentsOf(outputs, slot);
}

std::vector<const Variable *> Program::parameters() const {
  std::vector<const Variable *> list;
  if (blocks.empty())
    return list;
  for (const Variable &each : blocks.front().variables)
    if (each.isPersistable && each.kind == VariableKind::Tensor)
      list.push_back(&each);
  std::ranges::sort(list, {}, [](const Variable *each) -> const std::string & {
    return each->name;
  });
  return list;
}

} // namespace sinter::paddle
