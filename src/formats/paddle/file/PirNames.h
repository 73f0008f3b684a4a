//===- PirNames.h - PIR's names of the older operators --------------------===//
//
// PIR (Paddle 3) gave most operators other names (`add` for `elementwise_add`),
// operands and results by position instead of in named slots, and turned some
// attributes into operands (the shape of `reshape`). A table with one row per
// operator maps one form to the other; it is used in both directions.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_PADDLE_FILE_PIRNAMES_H
#define SINTER_FORMATS_PADDLE_FILE_PIRNAMES_H

#include "formats/paddle/file/Program.h"

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace sinter::paddle {

/// A row of the table.
struct PirRow {
  /// Without the dialect, which is pd_op.
  std::string_view name;
  /// In ProgramDesc.
  std::string_view legacy;
  /// By position, separated by spaces:
  /// - `X`: slot X. `X?` may be absent, `X*` is a list;
  /// - `=Out`: the operand that the operator overwrites, output slot Out;
  /// - `-`: an operand that the older operator lacks;
  /// - `axis=dim:KIND(=DEFAULT)(@SLOT(/LIST))`: attribute `dim`, `axis` in PIR,
  ///   which may be a tensor in slot SLOT, or a list of them in LIST. KIND is
  ///   `ints`, or that of a scalar.
  std::string_view operands;
  /// By position: slots as above. `MeanOut~Mean` is the variable of `Mean`.
  std::string_view results;
  /// In PIR's order: `name(=LEGACY):KIND(=DEFAULT)`. Without a default the
  /// older operator always has it. `!name=VALUE`: PIR supports only this value
  /// of the older attribute, its default. `+name=VALUE`: the value selects
  /// among the rows of one older operator.
  std::string_view attributes;
};

/// The kind of an attribute in PIR.
enum class PirKind : uint8_t {
  Bool,
  Int32,
  Int64,
  Float32,
  Float64,
  String,
  Int32s,
  Int64s,
  Float32s,
  Integers, ///< IntArray.
  DataType, ///< By name; by the number of VarType.Type in ProgramDesc.
  Place,    ///< Not in ProgramDesc.
  Scalars,  ///< Elements of the operator's own type.
};

struct PirOperand {
  enum Form : uint8_t { Tensor, List, Attribute, Overwritten, Nothing };
  Form form = Tensor;
  bool isOptional = false;
  /// May be empty for an attribute, as may listSlot.
  std::string_view slot, listSlot;
  /// For an attribute: its names, its kind (Integers, or that of a scalar), and
  /// the default's text.
  std::string_view name, legacy;
  PirKind kind = PirKind::Integers;
  std::optional<std::string_view> otherwise;
};

struct PirResult {
  std::string_view slot;
  bool isList = false, isOptional = false;
  /// The input slot whose variable it shares; may be empty.
  std::string_view sameAs;
};

struct PirAttribute {
  std::string_view name, legacy;
  PirKind kind = PirKind::Bool;
  std::optional<std::string_view> otherwise;
};

/// An attribute of the older operator with a fixed value.
struct FixedAttribute {
  std::string_view name, value;
  /// Whether it selects among rows.
  bool selects = false;
};

/// A parsed row.
struct PirOperator {
  std::string_view name, legacy;
  std::vector<PirOperand> operands;
  std::vector<PirResult> results;
  std::vector<PirAttribute> attributes;
  std::vector<FixedAttribute> fixed;
};

/// The table as it is written (PirTable.cpp).
std::span<const PirRow> pirRows();
/// The same, parsed.
std::span<const PirOperator> pirOperators();

/// The row of PIR's operator \p name ("pd_op.relu_"); null if it has none. An
/// in-place operator (`relu_`) has the row of the other one.
const PirOperator *findPirOperator(std::string_view name);

/// The row of \p op of the older vocabulary; null if it has none.
const PirOperator *findLegacyOperator(const Operator &op);

/// The value of kind \p kind in \p text of the table, in ProgramDesc's terms.
AttributeValue parseTableValue(PirKind kind, std::string_view text);

/// Whether \p value equals \p text of the table.
bool equalsTableValue(const AttributeValue &value, std::string_view text);

} // namespace sinter::paddle

#endif // SINTER_FORMATS_PADDLE_FILE_PIRNAMES_H
