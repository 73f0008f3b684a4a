//===- AttributeKinds.h - attribute kinds that Paddle requires ------------===//

#ifndef SINTER_FORMATS_PADDLE_FILE_ATTRIBUTEKINDS_H
#define SINTER_FORMATS_PADDLE_FILE_ATTRIBUTEKINDS_H

#include "formats/paddle/file/Program.h"

#include <optional>
#include <string_view>

namespace sinter::paddle {

/// The kind (OpDesc.AttrType) of attribute \p name of operator \p type in a
/// program for all versions of Paddle: the declared one if that is known
/// (Paddle rejects others), else that of \p value, with 32 bits if they
/// suffice. Nothing for a value without a kind, or that does not fit the
/// declared kind.
std::optional<int> attributeKind(std::string_view type, std::string_view name,
                                 const AttributeValue &value);

} // namespace sinter::paddle

#endif // SINTER_FORMATS_PADDLE_FILE_ATTRIBUTEKINDS_H
