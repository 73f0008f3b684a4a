//===- Operations.h - the versioned operations ----------------------------===//
//
// A portable artifact holds operations of VHLO, a dialect that only grows: an
// operation that changes gets a new version (`gather_v1`, `gather_v2`), and the
// old one stays. This is the table of all of them. The newest version of an
// operation has the name of StableHLO's operation, to which its attributes are
// translated; an older one is described by its difference from the next.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_STABLEHLO_VHLO_OPERATIONS_H
#define SINTER_FORMATS_STABLEHLO_VHLO_OPERATIONS_H

#include "formats/stablehlo/vhlo/Version.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <vector>

namespace sinter::vhlo {

/// How an attribute of VHLO is represented in StableHLO (VHLO; StableHLO).
enum class Translation {
  Plain,   ///< An attribute of the same kind.
  Dims,    ///< A tensor of i64; an array of i64.
  Flags,   ///< A tensor of i1; an array of i1.
  Mark,    ///< A boolean; a unit attribute, or none.
  Symbol,  ///< A string; a reference to a function.
  Symbols, ///< Strings; references to functions.
  Api,     ///< An enumeration; its value as an i32.
  Member,  ///< A field of a structure (see Structures.h).
};

/// The value in VHLO of an attribute that StableHLO may leave out, or in the
/// next version of an attribute that a version lacks.
enum class Default {
  None,          ///< It is required.
  False,         ///< A boolean.
  Zero,          ///< An i64.
  MinusOne,      ///< An i64.
  EmptyString,   //
  EmptyArray,    //
  EmptyDict,     //
  EmptyDims,     ///< An empty tensor of i64.
  Ones,          ///< A tensor of i64, one for each dimension of the window.
  Falses,        ///< A tensor of i1, likewise.
  NoPadding,     ///< A tensor of i64, two zeros for each dimension.
  NoneType,      ///< A type attribute of the none type.
  Precision,     ///< DEFAULT for both operands.
  Accuracy,      ///< The implementation's choice.
  NoCompareType, //
  OriginalApi,   //
  Config,  ///< An empty string, or for the typed interface an empty dictionary.
  Layouts, ///< An empty array, for operands and results alike.
};

struct AttributeRow {
  llvm::StringRef name;
  Translation translation = Translation::Plain;
  Default value = Default::None;
};

/// One version of an operation.
struct OperationRow {
  /// Without dialect and version: "gather".
  llvm::StringRef name;
  int version = 1;
  /// The first and last version of StableHLO that has it.
  Version since, until;
  /// The number of operands; -1: any.
  int operands = -1;
  /// Its attributes, by name.
  std::vector<AttributeRow> attributes;
  /// The structures that StableHLO's operation has in place of members, by
  /// name.
  std::vector<llvm::StringRef> structures;
  /// For all but the newest version: attributes that only the next version has,
  /// and those that only this one has, with their equivalent values.
  std::vector<AttributeRow> missing, extra;
  /// Whether it has no regions though the next version may.
  bool withoutRegions = false;

  /// "gather_v2".
  std::string versionedName() const;
};

/// All versions of all operations, those of one operation newest first.
llvm::ArrayRef<OperationRow> operationRows();

/// The row of "gather_v1", or null.
const OperationRow *findVersioned(llvm::StringRef versionedName);

/// The newest version of "gather", or null. Its older ones follow it.
const OperationRow *findNewest(llvm::StringRef name);

/// The next newer or older version of \p row's operation; null if there is
/// none.
const OperationRow *newer(const OperationRow *row);
const OperationRow *older(const OperationRow *row);

} // namespace sinter::vhlo

#endif // SINTER_FORMATS_STABLEHLO_VHLO_OPERATIONS_H
