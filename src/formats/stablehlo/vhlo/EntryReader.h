//===- EntryReader.h - the attributes and types of a bytecode file --------===//

#ifndef SINTER_FORMATS_STABLEHLO_VHLO_ENTRYREADER_H
#define SINTER_FORMATS_STABLEHLO_VHLO_ENTRYREADER_H

#include "formats/stablehlo/vhlo/BytecodeFile.h"
#include "formats/stablehlo/vhlo/Conversion.h"

#include "mlir/IR/Location.h"
#include "runtime/Result.h"

#include <memory>

namespace sinter::vhlo {

/// Decodes entries on demand. An entry may refer to others, but not to itself,
/// and within limits of depth and total size.
///
/// Attributes of dialects other than `vhlo` and `builtin` (shardings of `sdy`,
/// say) are kept as text, or are "foreign" if there is none.
class EntryReader {
public:
  /// Large tensors share the file's bytes, which \p owner keeps alive.
  EntryReader(const BytecodeFile &file, mlir::MLIRContext *context,
              std::shared_ptr<const void> owner);

  /// The attribute or type at an index, of VHLO or builtin. Null with error()
  /// set on failure; null without it for a foreign attribute.
  mlir::Attribute attribute(uint64_t index);
  mlir::Type type(uint64_t index);
  /// A location; an unknown location if its kind is unknown.
  mlir::LocationAttr location(uint64_t index);

  const std::optional<Error> &error() const { return firstError; }

  /// From VHLO to StableHLO, with a cache of translations.
  Translator translator;

private:
  struct Decoded {
    enum State { New, Open, Done, Foreign } state = New;
    mlir::Attribute attribute;
    mlir::Type type;
    /// The number of entries that a walk through it visits.
    uint64_t weight = 0;
  };

  bool fail(ErrorKind kind, const llvm::Twine &message);
  bool broken(const char *what);
  /// Decodes an entry unless already decoded; false with error() on failure.
  bool resolve(llvm::ArrayRef<BytecodeFile::Entry> entries,
               std::vector<Decoded> &decoded, uint64_t index, bool isType);
  bool decode(const BytecodeFile::Entry &entry, Decoded &result, bool isType);
  bool decodeText(const BytecodeFile::Entry &entry, Decoded &result,
                  bool isType);

  mlir::Attribute versionedAttribute(ByteReader &reader);
  mlir::Type versionedType(ByteReader &reader);
  bool fields(const CodeRow &row, ByteReader &reader,
              llvm::SmallVectorImpl<mlir::Attribute> &fields);
  mlir::Attribute field(char kind, ByteReader &reader,
                        llvm::ArrayRef<mlir::Attribute> before);
  mlir::Attribute tensor(ByteReader &reader, mlir::Type versioned);

  mlir::Attribute builtinAttribute(ByteReader &reader);
  mlir::Attribute builtinLocation(uint64_t code, ByteReader &reader);
  mlir::Attribute builtinDictionary(ByteReader &reader);
  mlir::Attribute builtinArray(ByteReader &reader);
  mlir::Attribute builtinElements(ByteReader &reader);
  mlir::Type builtinType(ByteReader &reader);
  /// A sharding or an element of one; null if it is unknown.
  mlir::Attribute shardyAttribute(ByteReader &reader);

  /// \name Fields
  /// Null or false for fields that are missing or of another kind.
  /// @{
  mlir::Attribute referredAttribute(ByteReader &reader);
  bool referredAttributes(ByteReader &reader,
                          llvm::SmallVectorImpl<mlir::Attribute> &all);
  /// Alternating names and values, without foreign values, which are only
  /// annotations.
  bool pairs(ByteReader &reader, llvm::SmallVectorImpl<mlir::Attribute> &flat);
  mlir::Type referredType(ByteReader &reader);
  bool referredTypes(ByteReader &reader,
                     llvm::SmallVectorImpl<mlir::Type> &types);
  bool signedNumbers(ByteReader &reader,
                     llvm::SmallVectorImpl<int64_t> &values);
  mlir::StringAttr string(ByteReader &reader);
  mlir::Attribute integer(ByteReader &reader, mlir::Type type);
  mlir::Attribute floating(ByteReader &reader, mlir::Type type);
  template <typename A> A referred(ByteReader &reader) {
    return llvm::dyn_cast_or_null<A>(referredAttribute(reader));
  }
  /// @}

  const BytecodeFile &file;
  mlir::MLIRContext *context;
  std::shared_ptr<const void> owner;
  std::vector<Decoded> attributes, types;
  std::optional<Error> firstError;
  unsigned depth = 0;
  uint64_t weight = 0;
};

} // namespace sinter::vhlo

#endif // SINTER_FORMATS_STABLEHLO_VHLO_ENTRYREADER_H
