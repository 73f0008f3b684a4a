//===- DataTypes.h - how Paddle's files number the types of elements ------===//

#ifndef SINTER_FORMATS_PADDLE_FILE_DATATYPES_H
#define SINTER_FORMATS_PADDLE_FILE_DATATYPES_H

#include "runtime/ElementType.h"

#include <cstdint>
#include <optional>
#include <string>

namespace sinter::paddle {

/// The elements of data type \p number (VarType.Type); nothing for what no
/// tensor has (strings) and what is no data type.
std::optional<ElementType> elementTypeOfNumber(int64_t number);

/// The number of \p type; nothing where Paddle has no such elements.
std::optional<int32_t> numberOfElementType(ElementType type);

/// "STRINGS", for messages; the number itself where nobody knows it.
std::string nameOfTypeNumber(int64_t number);

} // namespace sinter::paddle

#endif // SINTER_FORMATS_PADDLE_FILE_DATATYPES_H
