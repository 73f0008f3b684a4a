//===- PirTypes.h - what PIR calls types of elements ----------------------===//

#ifndef SINTER_FORMATS_PADDLE_FILE_PIRTYPES_H
#define SINTER_FORMATS_PADDLE_FILE_PIRTYPES_H

#include "runtime/ElementType.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace sinter::paddle {

struct PirType {
  ElementType type;
  /// Of a value's type: "0.t_" and this.
  std::string_view tag;
  /// Of an attribute.
  std::string_view name;
  /// VarType.Type.
  int32_t number;
};

/// "f32".
const PirType *pirTypeTagged(std::string_view tag);
/// "float32".
const PirType *pirTypeNamed(std::string_view name);
const PirType *pirTypeNumbered(int64_t number);
const PirType *pirTypeOf(ElementType type);

/// What PIR calls a type that an operator takes from its operand; -1 in
/// ProgramDesc.
inline constexpr std::string_view undefinedType = "Undefined(ALL_DTYPE)";

} // namespace sinter::paddle

#endif // SINTER_FORMATS_PADDLE_FILE_PIRTYPES_H
