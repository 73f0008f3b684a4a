//===- Conversion.h - between StableHLO and VHLO --------------------------===//
//
// Types and attributes are translated one by one by the tables of Codes.h and
// Structures.h, the attributes of an operation by its row. Messages name the
// type, attribute or version; the caller adds the operation.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_STABLEHLO_VHLO_CONVERSION_H
#define SINTER_FORMATS_STABLEHLO_VHLO_CONVERSION_H

#include "formats/stablehlo/vhlo/Dialect.h"
#include "formats/stablehlo/vhlo/Operations.h"

#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/DenseMap.h"

namespace sinter::vhlo {

/// The state of a translation in one direction: results so far, and the first
/// problem.
struct Translator {
  /// The result of \p convert for a type or attribute, cached. Failures are not
  /// cached.
  template <typename T, typename Convert> T once(T from, Convert convert) {
    if (auto known = made.lookup(from.getAsOpaquePointer()))
      return T::getFromOpaquePointer(known);
    const T result = convert(from);
    if (result)
      made[from.getAsOpaquePointer()] = result.getAsOpaquePointer();
    return result;
  }

  llvm::DenseMap<const void *, const void *> made;
  std::string problem;
  /// Whether the problem is a type that MLIR lacks.
  bool isLack = false;
};

/// \name To VHLO
/// Null, with the problem in the translator, for what VHLO cannot express.
/// @{
mlir::Type toVersioned(mlir::Type type, Translator &translator);
mlir::Attribute toVersioned(mlir::Attribute attribute, Translator &translator);
/// The attributes of \p row, the newest version of an operation that has
/// \p attributes in StableHLO; attributes that the row lacks (discardable ones)
/// go to \p others. False if one cannot be expressed or is missing.
bool toVersioned(const OperationRow &row, mlir::DictionaryAttr attributes,
                 mlir::NamedAttrList &versioned, mlir::NamedAttrList &others,
                 Translator &translator);
/// @}

/// \name From VHLO
/// Null, with the problem in the translator, for types that MLIR lacks and for
/// invalid types and attributes.
/// @{
mlir::Type fromVersioned(mlir::Type type, Translator &translator);
mlir::Attribute fromVersioned(mlir::Attribute attribute,
                              Translator &translator);
/// The inverse; default values are left out.
bool fromVersioned(const OperationRow &row, const mlir::NamedAttrList &all,
                   mlir::NamedAttrList &attributes, Translator &translator);
/// @}

/// Whether \p attribute belongs to a dialect that artifacts may hold beside
/// VHLO from version 1.11 on.
bool isForeign(mlir::Attribute attribute);

/// The attribute for \p value in an operation whose attributes of VHLO are
/// \p all (they determine the rank of a window, unless \p rank is not -1).
mlir::Attribute versionedDefault(Default value, mlir::MLIRContext *context,
                                 const mlir::NamedAttrList &all,
                                 int64_t rank = -1);

/// Whether \p attribute equals the default \p value.
bool isDefault(mlir::Attribute attribute, Default value,
               const mlir::NamedAttrList &all);

/// The text of a type or attribute in messages, truncated if long.
template <typename T> std::string textOf(T value) {
  std::string text;
  llvm::raw_string_ostream(text) << value;
  constexpr size_t longest = 80;
  if (text.size() > longest)
    text = text.substr(0, longest) + "...";
  return text;
}

/// The name of a type of VHLO in messages: "f8E3M4".
std::string describe(mlir::Type versioned);

} // namespace sinter::vhlo

#endif // SINTER_FORMATS_STABLEHLO_VHLO_CONVERSION_H
