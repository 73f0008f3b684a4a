//===- PirOperator.h - one operator in PIR's JSON -------------------------===//

#ifndef SINTER_FORMATS_PADDLE_FILE_PIROPERATOR_H
#define SINTER_FORMATS_PADDLE_FILE_PIROPERATOR_H

#include "formats/paddle/file/PirValues.h"

#include <string>
#include <string_view>
#include <vector>

namespace sinter::paddle {

struct RawPirOperator {
  struct Result {
    int64_t id = 0;
    PirValueType type;
  };
  /// The index among all operators of the file.
  size_t ordinal = 0;
  /// With the dialect: "pd_op.conv2d".
  std::string name;
  /// Ids; 0 for an operand that is absent.
  std::vector<int64_t> operands;
  std::vector<Result> results;
  std::vector<Attribute> attributes;
  /// Whether it is a parameter in the short form ("p").
  bool isShort = false;
  std::string parameterName;
  /// Whether it is marked as not trained.
  bool isFrozen = false;
  /// The array of regions; empty if there are none.
  std::string_view regions;
  std::string_view text;
  /// Whether it was written by a pre-release of Paddle 3.0.
  bool isPrerelease = false;

  const AttributeValue *attribute(std::string_view attributeName) const;
  /// The attribute; \p otherwise or empty if it is absent or of another kind.
  std::string string(std::string_view attributeName) const;
  int64_t integer(std::string_view attributeName, int64_t otherwise) const;
};

/// Reads the next operator, skipping its regions. Its views refer to the
/// reader's text.
bool readPirOperator(JsonReader &in, RawPirOperator &raw);

/// The attributes of \p raw under their older names, and in older forms.
void bindPirAttributes(const RawPirOperator &raw, const PirOperator *row,
                       Operator &op);

/// The value of a constant operator, a list of integers or a scalar; monostate
/// for others.
AttributeValue constantOf(const RawPirOperator &raw);

} // namespace sinter::paddle

#endif // SINTER_FORMATS_PADDLE_FILE_PIROPERATOR_H
