//===- BytecodeFile.cpp - the sections of a bytecode file -----------------===//

#include "formats/stablehlo/vhlo/BytecodeFile.h"

#include "llvm/ADT/STLExtras.h"

using llvm::ArrayRef;
using llvm::StringRef;

namespace sinter::vhlo {

static constexpr uint8_t magic[] = {'M', 'L', 0xEF, 'R'};

bool isBytecode(ArrayRef<uint8_t> bytes) {
  return bytes.size() >= std::size(magic) &&
         bytes.take_front(std::size(magic)) == ArrayRef<uint8_t>(magic);
}

bool BytecodeFile::section(ByteReader &reader, unsigned &id,
                           ArrayRef<uint8_t> &bytes) const {
  constexpr uint8_t isAligned = 0x80;
  uint8_t head;
  uint64_t size, alignment;
  if (!reader.byte(head) || !reader.number(size))
    return false;
  id = head & ~isAligned;
  if (head & isAligned)
    if (!reader.number(alignment) || !reader.align(alignment, first))
      return false;
  return reader.take(size, bytes);
}

StringRef producerOf(ArrayRef<uint8_t> bytes) {
  uint64_t version;
  StringRef producer;
  if (!isBytecode(bytes))
    return producer;
  ByteReader reader(bytes.drop_front(std::size(magic)));
  return reader.number(version) && reader.text(producer) ? producer
                                                         : StringRef();
}

bool BytecodeFile::open(ArrayRef<uint8_t> bytes, std::string &problem) {
  if (!isBytecode(bytes)) {
    problem = "does not begin as MLIR's bytecode does";
    return false;
  }
  first = bytes.data();
  ByteReader reader(bytes.drop_front(std::size(magic)));
  if (!reader.number(bytecodeVersion) || !reader.text(producerName)) {
    problem = "ends in its header";
    return false;
  }
  if (bytecodeVersion > newest) {
    problem = "is in version " + std::to_string(bytecodeVersion) +
              " of MLIR's bytecode; versions 0 to " + std::to_string(newest) +
              " are supported";
    return false;
  }
  unsigned seen = 0;
  while (!reader.empty()) {
    unsigned id;
    ArrayRef<uint8_t> content;
    if (!section(reader, id, content)) {
      problem = "ends in a section";
      return false;
    }
    if (id >= sectionCount || seen >> id & 1) {
      problem = "has an unknown section, or one twice";
      return false;
    }
    seen |= 1u << id;
    sections[id] = content;
  }
  for (unsigned id = stringSection; id <= ir; ++id)
    if (!(seen >> id & 1)) {
      problem = "lacks section " + std::to_string(id);
      return false;
    }
  struct Step {
    bool (BytecodeFile::*read)();
    const char *what;
  };
  static constexpr Step steps[] = {
      {&BytecodeFile::readStrings, "strings"},
      {&BytecodeFile::readDialects, "dialects"},
      {&BytecodeFile::readEntries, "attributes and types"},
      {&BytecodeFile::readProperties, "properties"}};
  for (const Step &step : steps)
    if (!(this->*step.read)()) {
      problem = "has a broken table of " + std::string(step.what);
      return false;
    }
  return true;
}

/// Sizes, last string first, then the strings, each zero-terminated.
bool BytecodeFile::readStrings() {
  ByteReader reader(sections[stringSection]);
  uint64_t count;
  if (!reader.count(count))
    return false;
  std::vector<uint64_t> sizes(count);
  uint64_t total = 0;
  for (uint64_t &size : llvm::reverse(sizes)) {
    if (!reader.number(size) || size == 0 || size > sections[0].size())
      return false;
    total += size;
  }
  if (total != reader.remaining())
    return false;
  for (uint64_t size : sizes) {
    ArrayRef<uint8_t> bytes;
    if (!reader.take(size, bytes) || bytes.back() != 0)
      return false;
    allStrings.push_back(
        {reinterpret_cast<const char *>(bytes.data()), bytes.size() - 1});
  }
  return true;
}

bool BytecodeFile::readDialects() {
  ByteReader reader(sections[dialectSection]);
  uint64_t count;
  if (!reader.count(count))
    return false;
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t index;
    bool hasVersion = false;
    if (version() < withDialectVersions ? !reader.number(index)
                                        : !reader.flagged(index, hasVersion))
      return false;
    if (index >= allStrings.size())
      return false;
    dialectNames.push_back(allStrings[index]);
    unsigned id;
    ArrayRef<uint8_t> ignored;
    if (hasVersion && (!section(reader, id, ignored) || id != versionSection))
      return false;
  }
  return readOperationNames(reader);
}

bool BytecodeFile::readOperationNames(ByteReader &reader) {
  uint64_t total;
  if (version() >= withElidedLocations && !reader.number(total))
    return false;
  while (!reader.empty()) {
    uint64_t dialect, count;
    if (!reader.number(dialect) || dialect >= dialectNames.size() ||
        !reader.count(count))
      return false;
    for (uint64_t i = 0; i < count; ++i) {
      uint64_t index;
      OperationName name;
      name.dialect = dialectNames[dialect];
      if (version() < withProperties
              ? !reader.number(index)
              : !reader.flagged(index, name.isRegistered))
        return false;
      if (index >= allStrings.size())
        return false;
      name.name = allStrings[index];
      names.push_back(name);
    }
  }
  return true;
}

bool BytecodeFile::readEntries() {
  ByteReader offsets(sections[offsetSection]), data(sections[entrySection]);
  uint64_t attributeCount, typeCount;
  if (!offsets.count(attributeCount) || !offsets.count(typeCount))
    return false;
  attributeEntries.resize(attributeCount);
  typeEntries.resize(typeCount);
  return readGroups(offsets, data, attributeEntries) &&
         readGroups(offsets, data, typeEntries) && offsets.empty();
}

/// Entries are grouped by dialect.
bool BytecodeFile::readGroups(ByteReader &offsets, ByteReader &data,
                              std::vector<Entry> &entries) {
  for (size_t index = 0; index < entries.size();) {
    uint64_t dialect, count;
    if (!offsets.number(dialect) || dialect >= dialectNames.size() ||
        !offsets.number(count) || count > entries.size() - index)
      return false;
    // Empty groups would never end.
    if (count == 0)
      return false;
    for (; count > 0; --count, ++index) {
      uint64_t size;
      if (!offsets.flagged(size, entries[index].isEncoded) ||
          !data.take(size, entries[index].bytes))
        return false;
      entries[index].dialect = dialectNames[dialect];
    }
  }
  return true;
}

bool BytecodeFile::readProperties() {
  ByteReader reader(sections[propertySection]);
  uint64_t count = 0;
  if (!reader.empty() && !reader.count(count))
    return false;
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t size;
    ArrayRef<uint8_t> bytes;
    if (!reader.number(size) || !reader.take(size, bytes))
      return false;
    propertyEntries.push_back(bytes);
  }
  return reader.empty();
}

} // namespace sinter::vhlo
