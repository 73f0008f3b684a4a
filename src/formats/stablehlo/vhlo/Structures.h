//===- Structures.h - attributes that VHLO splits -------------------------===//
//
// StableHLO has one attribute with fields (dimension numbers, a channel
// handle), VHLO an attribute for each field.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_STABLEHLO_VHLO_STRUCTURES_H
#define SINTER_FORMATS_STABLEHLO_VHLO_STRUCTURES_H

#include "mlir/IR/Attributes.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace sinter::vhlo {

/// The kind of a field: the builtin attribute that represents it.
enum class MemberKind {
  Int,  ///< An i64.
  Dims, ///< An array of i64.
  Type, ///< A type attribute.
  Bool,
};

struct Member {
  llvm::StringRef name;
  MemberKind kind;
};

struct Structure {
  /// Its name in the table of operations.
  llvm::StringRef name;
  /// The attribute's name in StableHLO.
  llvm::StringRef attribute;
  llvm::ArrayRef<Member> members;
  /// The fields of an attribute; none if it is not of the right kind.
  llvm::SmallVector<mlir::Attribute> (*take)(mlir::Attribute);
  /// The attribute with these fields, which are of the right kinds.
  mlir::Attribute (*make)(mlir::MLIRContext *, llvm::ArrayRef<mlir::Attribute>);
  /// The fields of an absent attribute; none if it is required.
  llvm::SmallVector<mlir::Attribute> (*absent)(mlir::MLIRContext *);
};

/// The structure with this name, or null.
const Structure *findStructure(llvm::StringRef name);

} // namespace sinter::vhlo

#endif // SINTER_FORMATS_STABLEHLO_VHLO_STRUCTURES_H
