//===- DataTypes.h - what Paddle's files call the types of elements -------===//

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
  /// In PIR, of a value's type ("f32", behind "0.t_") and of an attribute
  /// ("float32"); empty where PIR has no such values.
  std::string_view pirTag, pirName;
};

/// The elements of data type \p number (VarType.Type); nothing for what no
/// tensor has (strings) and what is no data type.
std::optional<ElementType> elementTypeOfNumber(int64_t number);

/// The number of \p type; nothing where Paddle has no such elements.
std::optional<int32_t> numberOfElementType(ElementType type);

/// "STRINGS", for messages; the number itself where nobody knows it.
std::string nameOfTypeNumber(int64_t number);

// What PIR has, by its tag, its name, its number or its elements; null of
// anything else.
const DataType *pirTypeTagged(std::string_view tag);
const DataType *pirTypeNamed(std::string_view name);
const DataType *pirTypeNumbered(int64_t number);
const DataType *pirTypeOf(ElementType type);

/// What PIR calls a type that an operator takes from its operand; -1 in
/// ProgramDesc.
inline constexpr std::string_view undefinedType = "Undefined(ALL_DTYPE)";

} // namespace sinter::paddle

#endif // SINTER_FORMATS_PADDLE_FILE_DATATYPES_H
