//===- Dialect.h - VHLO in memory -----------------------------------------===//
//
// The input of MLIR's bytecode writer: operations, attributes and types of the
// dialect `vhlo`. There is one class for all attributes and one for all types,
// each a code of Codes.h with its fields, and one model for all operations of
// Operations.h. Nothing here is verified, or printed except for debugging: the
// tables define the dialect, and Conversion.h translates.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_STABLEHLO_VHLO_DIALECT_H
#define SINTER_FORMATS_STABLEHLO_VHLO_DIALECT_H

#include "formats/stablehlo/vhlo/Codes.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"

namespace sinter::vhlo {

namespace detail {
struct VersionedStorage;
struct VersionedTypeStorage;
} // namespace detail

/// An attribute of VHLO. A field is a builtin attribute:
///
///   v z I   an i64         d F  a float          S    a string
///   Z       an i64 array   D    an f64 array     T    a type attribute
///   L M P   an array (P: name, value, name, ...)
///   A       the attribute  O Q  the attribute, or unit if there is none
///   B       an attribute with the bytes (see TensorBytes.h)
class VersionedAttr
    : public mlir::Attribute::AttrBase<VersionedAttr, mlir::Attribute,
                                       detail::VersionedStorage> {
public:
  using Base::Base;
  static constexpr llvm::StringLiteral name = "vhlo.attribute";

  static VersionedAttr get(mlir::MLIRContext *context, uint64_t code,
                           llvm::ArrayRef<mlir::Attribute> fields);

  uint64_t code() const;
  llvm::ArrayRef<mlir::Attribute> fields() const;
  mlir::Attribute field(size_t index) const { return fields()[index]; }
  /// A field that is an integer.
  int64_t number(size_t index = 0) const {
    return llvm::cast<mlir::IntegerAttr>(field(index)).getInt();
  }
  /// A field that is a list of attributes.
  llvm::ArrayRef<mlir::Attribute> list(size_t index = 0) const {
    return llvm::cast<mlir::ArrayAttr>(field(index)).getValue();
  }
  /// A field that is a type.
  mlir::Type type(size_t index = 0) const {
    return llvm::cast<mlir::TypeAttr>(field(index)).getValue();
  }
};

/// A type of VHLO; its fields are like an attribute's.
class VersionedType
    : public mlir::Type::TypeBase<VersionedType, mlir::Type,
                                  detail::VersionedTypeStorage> {
public:
  using Base::Base;
  static constexpr llvm::StringLiteral name = "vhlo.type";

  static VersionedType get(mlir::MLIRContext *context, uint64_t code,
                           llvm::ArrayRef<mlir::Attribute> fields = {});

  uint64_t code() const;
  llvm::ArrayRef<mlir::Attribute> fields() const;
  mlir::Attribute field(size_t index) const { return fields()[index]; }
};

/// The attribute \p attribute if it is VHLO's with this code, else null.
inline VersionedAttr asVersioned(mlir::Attribute attribute, uint64_t code) {
  auto versioned = llvm::dyn_cast_or_null<VersionedAttr>(attribute);
  return versioned && versioned.code() == code ? versioned : VersionedAttr();
}

class VhloDialect : public mlir::Dialect {
public:
  explicit VhloDialect(mlir::MLIRContext *context);
  static constexpr llvm::StringLiteral getDialectNamespace() { return "vhlo"; }

  void printAttribute(mlir::Attribute attribute,
                      mlir::DialectAsmPrinter &printer) const override;
  void printType(mlir::Type type,
                 mlir::DialectAsmPrinter &printer) const override;

private:
  void addOperations();
};

} // namespace sinter::vhlo

MLIR_DECLARE_EXPLICIT_TYPE_ID(sinter::vhlo::VersionedAttr)
MLIR_DECLARE_EXPLICIT_TYPE_ID(sinter::vhlo::VersionedType)
MLIR_DECLARE_EXPLICIT_TYPE_ID(sinter::vhlo::VhloDialect)

#endif // SINTER_FORMATS_STABLEHLO_VHLO_DIALECT_H
