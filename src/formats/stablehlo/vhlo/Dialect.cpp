//===- Dialect.cpp - VHLO in memory ---------------------------------------===//

#include "formats/stablehlo/vhlo/Dialect.h"

#include "formats/stablehlo/vhlo/TensorBytes.h"

#include "mlir/Bytecode/BytecodeImplementation.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;

MLIR_DEFINE_EXPLICIT_TYPE_ID(sinter::vhlo::VersionedAttr)
MLIR_DEFINE_EXPLICIT_TYPE_ID(sinter::vhlo::VersionedType)
MLIR_DEFINE_EXPLICIT_TYPE_ID(sinter::vhlo::VhloDialect)

namespace sinter::vhlo {

//===----------------------------------------------------------------------===//
// Storage
//===----------------------------------------------------------------------===//

namespace detail {

using Key = std::pair<uint64_t, ArrayRef<Attribute>>;

struct VersionedStorage : public AttributeStorage {
  using KeyTy = Key;
  VersionedStorage(uint64_t code, ArrayRef<Attribute> fields)
      : code(code), fields(fields) {}
  bool operator==(const KeyTy &key) const {
    return key.first == code && key.second == fields;
  }
  static llvm::hash_code hashKey(const KeyTy &key) {
    return llvm::hash_combine(key.first, key.second);
  }
  static VersionedStorage *construct(AttributeStorageAllocator &allocator,
                                     const KeyTy &key) {
    return new (allocator.allocate<VersionedStorage>())
        VersionedStorage(key.first, allocator.copyInto(key.second));
  }

  uint64_t code;
  ArrayRef<Attribute> fields;
};

struct VersionedTypeStorage : public TypeStorage {
  using KeyTy = Key;
  VersionedTypeStorage(uint64_t code, ArrayRef<Attribute> fields)
      : code(code), fields(fields) {}
  bool operator==(const KeyTy &key) const {
    return key.first == code && key.second == fields;
  }
  static llvm::hash_code hashKey(const KeyTy &key) {
    return llvm::hash_combine(key.first, key.second);
  }
  static VersionedTypeStorage *construct(TypeStorageAllocator &allocator,
                                         const KeyTy &key) {
    return new (allocator.allocate<VersionedTypeStorage>())
        VersionedTypeStorage(key.first, allocator.copyInto(key.second));
  }

  uint64_t code;
  ArrayRef<Attribute> fields;
};

} // namespace detail

VersionedAttr VersionedAttr::get(MLIRContext *context, uint64_t code,
                                 ArrayRef<Attribute> fields) {
  return Base::get(context, code, fields);
}
uint64_t VersionedAttr::code() const { return getImpl()->code; }
ArrayRef<Attribute> VersionedAttr::fields() const { return getImpl()->fields; }

VersionedType VersionedType::get(MLIRContext *context, uint64_t code,
                                 ArrayRef<Attribute> fields) {
  return Base::get(context, code, fields);
}
uint64_t VersionedType::code() const { return getImpl()->code; }
ArrayRef<Attribute> VersionedType::fields() const { return getImpl()->fields; }

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

namespace {

/// Writes codes with their fields.
class Encoder : public BytecodeDialectInterface {
public:
  explicit Encoder(Dialect *dialect) : BytecodeDialectInterface(dialect) {}

  LogicalResult writeAttribute(Attribute attribute,
                               DialectBytecodeWriter &writer) const override {
    auto versioned = dyn_cast<VersionedAttr>(attribute);
    const CodeRow *row =
        versioned ? findAttributeCode(versioned.code()) : nullptr;
    if (!row)
      return failure();
    write(*row, versioned.fields(), writer);
    return success();
  }

  LogicalResult writeType(Type type,
                          DialectBytecodeWriter &writer) const override {
    auto versioned = dyn_cast<VersionedType>(type);
    const CodeRow *row = versioned ? findTypeCode(versioned.code()) : nullptr;
    if (!row)
      return failure();
    write(*row, versioned.fields(), writer);
    return success();
  }

private:
  static void write(const CodeRow &row, ArrayRef<Attribute> fields,
                    DialectBytecodeWriter &writer) {
    writer.writeVarInt(row.code);
    for (auto [kind, field] : llvm::zip_equal(StringRef(row.fields), fields))
      writeField(kind, field, writer);
  }

  static void writeField(char kind, Attribute field,
                         DialectBytecodeWriter &writer) {
    switch (kind) {
    case 'v':
      return writer.writeVarInt(cast<IntegerAttr>(field).getInt());
    case 'z':
      return writer.writeSignedVarInt(cast<IntegerAttr>(field).getInt());
    case 'I':
      return writer.writeAPIntWithKnownWidth(
          cast<IntegerAttr>(field).getValue());
    case 'd':
    case 'F':
      return writer.writeAPFloatWithKnownSemantics(
          cast<FloatAttr>(field).getValue());
    case 'Z':
      return writer.writeSignedVarInts(
          cast<DenseI64ArrayAttr>(field).asArrayRef());
    case 'D':
      return writer.writeList(
          cast<DenseF64ArrayAttr>(field).asArrayRef(), [&](double value) {
            writer.writeAPFloatWithKnownSemantics(APFloat(value));
          });
    case 'S':
      return writer.writeOwnedString(cast<StringAttr>(field).getValue());
    case 'T':
      return writer.writeType(cast<TypeAttr>(field).getValue());
    case 'A':
      return writer.writeAttribute(field);
    case 'O':
      writer.writeVarInt(!isa<UnitAttr>(field));
      if (!isa<UnitAttr>(field))
        writer.writeAttribute(field);
      return;
    case 'Q':
      return writer.writeOptionalAttribute(isa<UnitAttr>(field) ? Attribute()
                                                                : field);
    case 'L':
      return writer.writeList(
          cast<ArrayAttr>(field).getValue(), [&](Attribute type) {
            writer.writeType(cast<TypeAttr>(type).getValue());
          });
    case 'M':
      return writer.writeAttributes(cast<ArrayAttr>(field).getValue());
    case 'P': {
      const ArrayRef<Attribute> flat = cast<ArrayAttr>(field).getValue();
      writer.writeVarInt(flat.size() / 2);
      for (Attribute attribute : flat)
        writer.writeAttribute(attribute);
      return;
    }
    case 'B':
      return writer.writeOwnedBlob(rawBytes(field));
    default:
      llvm_unreachable("the table of codes has no such field");
    }
  }
};

void printFields(ArrayRef<Attribute> fields, DialectAsmPrinter &printer) {
  printer << "<";
  llvm::interleaveComma(fields, printer.getStream(),
                        [&](Attribute field) { printer << field; });
  printer << ">";
}

} // namespace

VhloDialect::VhloDialect(MLIRContext *context)
    : Dialect(getDialectNamespace(), context, TypeID::get<VhloDialect>()) {
  addAttributes<VersionedAttr>();
  addTypes<VersionedType>();
  addInterfaces<Encoder>();
  addOperations();
}

void VhloDialect::printAttribute(Attribute attribute,
                                 DialectAsmPrinter &printer) const {
  auto versioned = cast<VersionedAttr>(attribute);
  const CodeRow *row = findAttributeCode(versioned.code());
  printer << (row ? row->name : "unknown");
  printFields(versioned.fields(), printer);
}

void VhloDialect::printType(Type type, DialectAsmPrinter &printer) const {
  auto versioned = cast<VersionedType>(type);
  const CodeRow *row = findTypeCode(versioned.code());
  printer << (row ? row->name : "unknown");
  printFields(versioned.fields(), printer);
}

} // namespace sinter::vhlo
