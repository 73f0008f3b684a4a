//===- Operations.h - the versioned operations ----------------------------===//
//
// A portable artifact holds operations of VHLO, a dialect that only grows: an
// operation that changes gets a new version (`gather_v1`, `gather_v2`), and the
// old one stays. This is the table of all of them. The newest version of an
// operation has the name of StableHLO's operation, which its attributes are
// translated to; an older one is described by what sets it apart from the next.
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

/// How an attribute of VHLO stands in StableHLO.
enum class Translation {
  Plain,   ///< An attribute of the same kind.
  Dims,    ///< A tensor of i64; an array of i64.
  Flags,   ///< A tensor of i1; an array of i1.
  Mark,    ///< A boolean; a unit attribute, or none.
  Symbol,  ///< A string; a reference to a function.
  Symbols, ///< Strings; references to functions.
  Api,     ///< An enumeration; its number as an i32.
  Member,  ///< Part of a structure (see Structures.h).
};

/// What an attribute that StableHLO may leave out has then in VHLO, or what one
/// that a version lacks has in the next.
enum class Default {
  None,          ///< It must be there.
  False,         ///< A boolean.
  Zero,          ///< An i64.
  MinusOne,      ///< An i64.
  EmptyString,   //
  EmptyArray,    //
  EmptyDict,     //
  EmptyDims,     ///< A tensor of no i64.
  Ones,          ///< A tensor of i64, one for each dimension of the window.
  Falses,        ///< A tensor of i1, likewise.
  NoPadding,     ///< A tensor of i64, two zeros for each dimension.
  NoneType,      ///< A type attribute of the none type.
  Precision,     ///< DEFAULT for both operands.
  Accuracy,      ///< The implementation's choice.
  NoCompareType, //
  OriginalApi,   //
  Config,  ///< An empty string, or for the typed interface an empty dictionary.
  Layouts, ///< An empty array, and so for the operands as for the results.
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
  /// Its first and last version of StableHLO.
  Version since, until;
  /// Operands that it must have; -1: any number.
  int operands = -1;
  /// Its attributes, by name.
  std::vector<AttributeRow> attributes;
  /// What StableHLO's operation has in place of members, by name.
  std::vector<llvm::StringRef> structures;
  /// For all but the newest version: what the next has and this has not, and
  /// the other way round, with the values that mean the same.
  std::vector<AttributeRow> missing, extra;
  /// Whether it can have no regions though the next version can.
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
