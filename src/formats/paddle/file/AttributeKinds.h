//===- AttributeKinds.h - as what kinds Paddle wants attributes -----------===//

#ifndef SINTER_FORMATS_PADDLE_FILE_ATTRIBUTEKINDS_H
#define SINTER_FORMATS_PADDLE_FILE_ATTRIBUTEKINDS_H

#include "formats/paddle/file/Program.h"

#include <optional>
#include <string_view>

namespace sinter::paddle {

/// The kind (OpDesc.AttrType) in which a program for all versions of Paddle
/// holds attribute \p name of operator \p type: the one that Paddle declares
/// where that is known (it refuses others), else the one that \p value has, in
/// 32 bits where they suffice. Nothing for a value of no kind, or that the kind
/// cannot hold.
std::optional<int> attributeKind(std::string_view type, std::string_view name,
                                 const AttributeValue &value);

} // namespace sinter::paddle

#endif // SINTER_FORMATS_PADDLE_FILE_ATTRIBUTEKINDS_H
