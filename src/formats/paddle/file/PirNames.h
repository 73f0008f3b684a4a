//===- PirNames.h - what PIR calls the older operators --------------------===//
//
// PIR (Paddle 3) gave most operators other names (`add` for `elementwise_add`),
// operands and results by position instead of in named slots, and turned some
// attributes into operands (the shape of `reshape`). A table with a row an
// operator says how one is written as the other; it is used in both directions.
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
  /// By position, parted by spaces:
  /// - `X`: slot X. `X?` may be absent, `X*` is a list;
  /// - `=Out`: what the operator writes over, output slot Out;
  /// - `-`: nothing that the older operator has;
  /// - `axis=dim:KIND(=DEFAULT)(@SLOT(/LIST))`: attribute `dim`, `axis` to PIR,
  ///   which stands in slot SLOT as a tensor, in LIST as a list of them. KIND
  ///   is `ints`, or that of a number.
  std::string_view operands;
  /// By position: slots as above. `MeanOut~Mean` is the variable of `Mean`.
  std::string_view results;
  /// In PIR's order: `name(=LEGACY):KIND(=DEFAULT)`. Without a default the
  /// older operator always has it. `!name=VALUE`: PIR has only what the older
  /// operator does with that value, its default. `+name=VALUE`: the value tells
  /// apart the rows of one older operator.
  std::string_view attributes;
};

/// How PIR holds an attribute.
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
  Scalars,  ///< Numbers of the operator's own type.
};

struct PirOperand {
  enum Form : uint8_t { Tensor, List, Attribute, Overwritten, Nothing };
  Form form = Tensor;
  bool isOptional = false;
  /// May be empty for an attribute, as may listSlot.
  std::string_view slot, listSlot;
  /// Of an attribute: its names, its kind (Integers, or of a number), and the
  /// default's text.
  std::string_view name, legacy;
  PirKind kind = PirKind::Integers;
  std::optional<std::string_view> otherwise;
};

struct PirResult {
  std::string_view slot;
  bool isList = false, isOptional = false;
  /// The input slot whose variable it is; may be empty.
  std::string_view sameAs;
};

struct PirAttribute {
  std::string_view name, legacy;
  PirKind kind = PirKind::Bool;
  std::optional<std::string_view> otherwise;
};

/// An attribute of the older operator that has one value.
struct FixedAttribute {
  std::string_view name, value;
  /// Whether it tells apart rows.
  bool selects = false;
};

/// A row taken apart.
struct PirOperator {
  std::string_view name, legacy;
  std::vector<PirOperand> operands;
  std::vector<PirResult> results;
  std::vector<PirAttribute> attributes;
  std::vector<FixedAttribute> fixed;
};

/// The table as it is written (PirTable.cpp).
std::span<const PirRow> pirRows();
/// The same, taken apart.
std::span<const PirOperator> pirOperators();

/// What PIR's operator \p name ("pd_op.relu_") is; null if it has no row. An
/// operator that writes over its operand (`relu_`) is the one that does not.
const PirOperator *findPirOperator(std::string_view name);

/// What \p op of the older vocabulary is in PIR; null if it has no row.
const PirOperator *findLegacyOperator(const Operator &op);

/// The value of kind \p kind that \p text of the table says; in ProgramDesc's
/// terms.
AttributeValue parseTableValue(PirKind kind, std::string_view text);

/// Whether \p value says the same as \p text of the table.
bool equalsTableValue(const AttributeValue &value, std::string_view text);

} // namespace sinter::paddle

#endif // SINTER_FORMATS_PADDLE_FILE_PIRNAMES_H
