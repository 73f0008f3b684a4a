//===- EntryReader.h - the attributes and types of a bytecode file --------===//

#ifndef SINTER_FORMATS_STABLEHLO_VHLO_ENTRYREADER_H
#define SINTER_FORMATS_STABLEHLO_VHLO_ENTRYREADER_H

#include "formats/stablehlo/vhlo/BytecodeFile.h"
#include "formats/stablehlo/vhlo/Conversion.h"

#include "mlir/IR/Location.h"
#include "runtime/Result.h"

#include <memory>

namespace sinter::vhlo {

/// Decodes entries as they are asked for. An entry may refer to others, but
/// not to itself, not too deeply, and not to more than is sensible to walk.
///
/// What dialects other than `vhlo` and `builtin` have (the shardings of `sdy`,
/// say) is kept as its text, or is "foreign" where there is none.
class EntryReader {
public:
  /// Large tensors share the file's bytes, which \p owner keeps alive.
  EntryReader(const BytecodeFile &file, mlir::MLIRContext *context,
              std::shared_ptr<const void> owner);

  /// The attribute or type with an index: VHLO's as they are, the others'
  /// builtin. Null with error() set; null without it for a foreign attribute.
  mlir::Attribute attribute(uint64_t index);
  mlir::Type type(uint64_t index);
  /// A location; unknown where it is of a kind that is.
  mlir::LocationAttr location(uint64_t index);

  const std::optional<Error> &error() const { return firstError; }

  /// From VHLO to StableHLO, remembering what was translated.
  Translator translator;

private:
  struct Decoded {
    enum State { New, Open, Done, Foreign } state = New;
    mlir::Attribute attribute;
    mlir::Type type;
    /// Entries that a walk through it meets.
    uint64_t weight = 0;
  };

  bool fail(ErrorKind kind, const llvm::Twine &message);
  bool broken(const char *what);
  /// Decodes an entry unless it is; false with error().
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
  /// A sharding or a part of one; null where it is none that is known.
  mlir::Attribute shardyAttribute(ByteReader &reader);

  /// \name Fields
  /// Null or false for what is not there or of another kind.
  /// @{
  mlir::Attribute referredAttribute(ByteReader &reader);
  bool referredAttributes(ByteReader &reader,
                          llvm::SmallVectorImpl<mlir::Attribute> &all);
  /// Names and values, one after the other, without foreign values: only
  /// annotations are foreign.
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
