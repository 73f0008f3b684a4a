//===- Conversion.h - between StableHLO and VHLO --------------------------===//
//
// Types and attributes go one by one through the tables of Codes.h and
// Structures.h; the attributes of an operation as its row says. Problems are
// told in words that name the type, attribute or version; who calls adds the
// operation.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_STABLEHLO_VHLO_CONVERSION_H
#define SINTER_FORMATS_STABLEHLO_VHLO_CONVERSION_H

#include "formats/stablehlo/vhlo/Dialect.h"
#include "formats/stablehlo/vhlo/Operations.h"

#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/DenseMap.h"

namespace sinter::vhlo {

/// Translates in one direction: what was translated, and what went wrong first.
struct Translator {
  /// What \p convert makes of a type or attribute, made once. Nothing is kept
  /// of what failed.
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
/// Null, with what is wrong in the translator, for what VHLO cannot say.
/// @{
mlir::Type toVersioned(mlir::Type type, Translator &translator);
mlir::Attribute toVersioned(mlir::Attribute attribute, Translator &translator);
/// The attributes of \p row, the newest version of an operation that has
/// \p attributes in StableHLO; what the row does not know (discardable ones)
/// goes to \p others. False if one cannot be said or lacks.
bool toVersioned(const OperationRow &row, mlir::DictionaryAttr attributes,
                 mlir::NamedAttrList &versioned, mlir::NamedAttrList &others,
                 Translator &translator);
/// @}

/// \name From VHLO
/// Null, with what is wrong in the translator, for what is not to be expressed:
/// types that MLIR lacks, and what makes no sense.
/// @{
mlir::Type fromVersioned(mlir::Type type, Translator &translator);
mlir::Attribute fromVersioned(mlir::Attribute attribute,
                              Translator &translator);
/// The other way round; values that are defaults are left out.
bool fromVersioned(const OperationRow &row, const mlir::NamedAttrList &all,
                   mlir::NamedAttrList &attributes, Translator &translator);
/// @}

/// Whether \p attribute belongs to a dialect that artifacts may hold beside
/// VHLO from version 1.11 on.
bool isForeign(mlir::Attribute attribute);

/// What \p value stands for, for an operation whose attributes of VHLO are
/// \p all (the rank of a window is theirs, or \p rank where it is not -1).
mlir::Attribute versionedDefault(Default value, mlir::MLIRContext *context,
                                 const mlir::NamedAttrList &all,
                                 int64_t rank = -1);

/// Whether \p attribute says the same as \p value.
bool isDefault(mlir::Attribute attribute, Default value,
               const mlir::NamedAttrList &all);

/// The text of a type or attribute in messages, the start of a long one.
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
