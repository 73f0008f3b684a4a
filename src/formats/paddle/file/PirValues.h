//===- PirValues.h - attributes and types in PIR's JSON -------------------===//

#ifndef SINTER_FORMATS_PADDLE_FILE_PIRVALUES_H
#define SINTER_FORMATS_PADDLE_FILE_PIRVALUES_H

#include "formats/paddle/file/JsonReader.h"
#include "formats/paddle/file/PirNames.h"
#include "formats/paddle/file/Program.h"

#include <string>
#include <string_view>
#include <vector>

namespace sinter::paddle {

/// The type of a value: of a tensor, of an array of them, or of a list of
/// values.
struct PirValueType {
  Variable variable;
  bool isList = false, isNull = false;
  /// The types of the values of a list.
  std::vector<Variable> elements;
};

/// Reads `{"#":"0.t_dtensor","D":[…]}`.
bool readValueType(JsonReader &in, PirValueType &type);

/// Reads `{"#":"0.a_i32","D":2}`. Values that are not used here become
/// monostate.
bool readAttributeValue(JsonReader &in, AttributeValue &value);

/// Appends \p text as JSON.
void appendJsonString(std::string &out, std::string_view text);

/// Appends \p variable's type as that of a tensor. False if PIR has no such
/// elements.
bool appendTensorType(std::string &out, const Variable &variable);

/// Appends \p value as an attribute of kind \p kind. False if the kind cannot
/// hold it.
bool appendAttributeValue(std::string &out, const AttributeValue &value,
                          PirKind kind);

} // namespace sinter::paddle

#endif // SINTER_FORMATS_PADDLE_FILE_PIRVALUES_H
