//===- BytecodeFile.h - the sections of a bytecode file -------------------===//
//
// MLIR's bytecode (LLVM 19's docs/BytecodeFormat.md), versions 0 to 6, as far
// as portable artifacts use it. MLIR's own reader trusts its input: sizes,
// depths and references of attributes. This one checks them.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_STABLEHLO_VHLO_BYTECODEFILE_H
#define SINTER_FORMATS_STABLEHLO_VHLO_BYTECODEFILE_H

#include "formats/stablehlo/vhlo/ByteReader.h"

#include <string>
#include <vector>

namespace sinter::vhlo {

class BytecodeFile {
public:
  /// An attribute or a type, not yet decoded.
  struct Entry {
    llvm::StringRef dialect;
    llvm::ArrayRef<uint8_t> bytes;
    /// Whether the dialect encoded it; else the bytes are its text.
    bool isEncoded = false;
  };
  struct OperationName {
    llvm::StringRef dialect, name;
    /// Whether its properties are in the dialect's encoding; else they are an
    /// attribute.
    bool isRegistered = true;
  };

  /// Reads all but attributes, types and operations. False, with the reason in
  /// \p problem, on failure. The file refers to \p bytes.
  bool open(llvm::ArrayRef<uint8_t> bytes, std::string &problem);

  /// The address that the alignment of sections is relative to.
  const uint8_t *start() const { return first; }
  uint64_t version() const { return bytecodeVersion; }
  llvm::StringRef producer() const { return producerName; }
  llvm::ArrayRef<llvm::StringRef> dialects() const { return dialectNames; }
  llvm::ArrayRef<llvm::StringRef> strings() const { return allStrings; }
  llvm::ArrayRef<OperationName> operationNames() const { return names; }
  llvm::ArrayRef<Entry> attributes() const { return attributeEntries; }
  llvm::ArrayRef<Entry> types() const { return typeEntries; }
  llvm::ArrayRef<llvm::ArrayRef<uint8_t>> properties() const {
    return propertyEntries;
  }
  ByteReader operations() const { return ByteReader(sections[ir]); }

  /// Reads the header of a section and its bytes.
  bool section(ByteReader &reader, unsigned &id,
               llvm::ArrayRef<uint8_t> &bytes) const;

  /// \name Sections
  /// @{
  static constexpr unsigned stringSection = 0, dialectSection = 1,
                            entrySection = 2, offsetSection = 3, ir = 4,
                            versionSection = 7, propertySection = 8,
                            sectionCount = 9;
  /// @}

  /// \name Versions that changed the format
  /// @{
  static constexpr uint64_t withDialectVersions = 1, withIsolatedRegions = 2,
                            withUseOrders = 3, withElidedLocations = 4,
                            withProperties = 5, newest = 6;
  /// @}

private:
  bool readStrings();
  bool readDialects();
  bool readOperationNames(ByteReader &reader);
  bool readEntries();
  bool readGroups(ByteReader &offsets, ByteReader &data,
                  std::vector<Entry> &entries);
  bool readProperties();

  const uint8_t *first = nullptr;
  uint64_t bytecodeVersion = 0;
  llvm::StringRef producerName;
  llvm::ArrayRef<uint8_t> sections[sectionCount];
  std::vector<llvm::StringRef> allStrings, dialectNames;
  std::vector<OperationName> names;
  std::vector<Entry> attributeEntries, typeEntries;
  std::vector<llvm::ArrayRef<uint8_t>> propertyEntries;
};

/// Whether \p bytes begin as a bytecode file does.
bool isBytecode(llvm::ArrayRef<uint8_t> bytes);

/// What wrote \p bytes, as the header says; empty if there is none.
llvm::StringRef producerOf(llvm::ArrayRef<uint8_t> bytes);

} // namespace sinter::vhlo

#endif // SINTER_FORMATS_STABLEHLO_VHLO_BYTECODEFILE_H
