//===- DataTypes.h - element types in Paddle's files ----------------------===//

#ifndef SINTER_FORMATS_PADDLE_FILE_DATATYPES_H
#define SINTER_FORMATS_PADDLE_FILE_DATATYPES_H

#include "runtime/ElementType.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sinter::paddle {

struct DataType {
  /// VarType.Type.
  int32_t number;
  ElementType type;
  /// PIR's names in a value's type ("f32", after "0.t_") and in an attribute
  /// ("float32"); empty if PIR has no such values.
  std::string_view pirTag, pirName;
};

/// The element type of data type \p number (VarType.Type); nothing for types
/// that are no element type (strings) and for unknown ones.
std::optional<ElementType> elementTypeOfNumber(int64_t number);

/// The VarType.Type of \p type; nothing if Paddle lacks the type.
std::optional<int32_t> numberOfElementType(ElementType type);

/// "STRINGS", for messages; the number itself for an unknown one.
std::string nameOfTypeNumber(int64_t number);

// Looks up PIR's types by tag, name, VarType.Type or element type; null if
// there is none.
const DataType *pirTypeTagged(std::string_view tag);
const DataType *pirTypeNamed(std::string_view name);
const DataType *pirTypeNumbered(int64_t number);
const DataType *pirTypeOf(ElementType type);

/// PIR's name of a type that an operator takes from its operand; -1 in
/// ProgramDesc.
inline constexpr std::string_view undefinedType = "Undefined(ALL_DTYPE)";

} // namespace sinter::paddle

#endif // SINTER_FORMATS_PADDLE_FILE_DATATYPES_H
