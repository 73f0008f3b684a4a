//===- Image.h - object files linked into one block of memory -------------===//
//
// All the kernels of a program become one position-independent block of bytes:
// code, constants and data one after the other at page boundaries. Whoever
// loads it maps it anywhere, patches a few absolute addresses, and sets the
// pages' protection.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_CODEGEN_IMAGE_H
#define SINTER_BACKEND_CPU_CODEGEN_IMAGE_H

#include "backend/cpu/codegen/Codegen.h"
#include "runtime/Result.h"

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace sinter::cpu {

enum class Protection { ReadExecute, Read, ReadWrite };

/// A page-aligned part of the block, in whole pages.
struct ImageSegment {
  Protection protection;
  uint64_t offset;
  uint64_t size;
};

/// Eight bytes of the block that hold an absolute address once it is loaded.
struct ImageRelocation {
  /// Where, from the block's start.
  uint64_t offset;
  /// Index into CodeImage::externals, or -1 for the block's own start.
  int32_t external;
  /// What to add to that address.
  int64_t addend;
};

struct CodeImage {
  static constexpr uint64_t pageSize = 4096;

  std::vector<std::byte> bytes;
  std::vector<ImageSegment> segments;
  /// Functions with external linkage: where they start.
  std::map<std::string, uint64_t> symbols;
  std::vector<ImageRelocation> relocations;
  /// Functions of the C library that the kernels call (memcpy, expf, ...).
  std::vector<std::string> externals;
};

/// Links \p objects, which must have been compiled for the same machine. They
/// cannot refer to each other. Fails with a System error on malformed objects
/// and on relocations that would tie the code to an address.
Result<CodeImage> link(std::span<const ObjectFile> objects);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_CODEGEN_IMAGE_H
