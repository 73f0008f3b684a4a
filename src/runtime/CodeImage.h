//===- CodeImage.h - machine code as data ---------------------------------===//
//
// All kernels of a program in one slab of bytes that can be placed anywhere:
//
//     | text (r-x) | rodata (r--) | data (rw-) |     each starts on a page
//
// Addresses relative to the slab are resolved when the image is made. What
// remains is a list of relocations: offsets of absolute 8-byte addresses, of
// the slab itself or of one of the few external functions that kernels may
// call.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RUNTIME_CODEIMAGE_H
#define SINTER_RUNTIME_CODEIMAGE_H

#include "runtime/Result.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sinter {

/// The signature of a kernel: computes tasks [taskBegin, taskEnd) of its step,
/// on buffers in the order of the step's references. Results do not depend on
/// how the tasks are split into calls.
using KernelFunction = void(void *const *buffers, int64_t taskBegin,
                            int64_t taskEnd);

/// The largest page size of Linux on a supported target.
inline constexpr uint64_t imagePageSize = 65536;

struct Relocation {
  static constexpr uint32_t internal = UINT32_MAX;

  uint64_t offset = 0;        ///< Of the 8 bytes to set, in the slab.
  uint32_t symbol = internal; ///< Index into externals, or `internal`.
  int64_t addend = 0; ///< Added to the symbol; for internal, a slab offset.
};

struct CodeImage {
  /// A section of the slab. Its offset is a multiple of imagePageSize; the next
  /// section begins on a later page.
  struct Range {
    uint64_t offset = 0;
    uint64_t size = 0;
  };

  std::vector<std::byte> bytes;
  Range text, rodata, data;
  /// Offsets of the kernels' first instructions in the slab, all in text.
  std::vector<uint64_t> entries;
  std::vector<Relocation> relocations;
  /// Names from the list of ExternalSymbols.h.
  std::vector<std::string> externals;
};

/// Checks every offset, size, index and name, whatever the image's source.
Result<void> verify(const CodeImage &image);

/// An image in executable memory.
class LoadedCode {
public:
  /// Verifies, copies, relocates and protects \p image. No page is ever both
  /// writable and executable.
  static Result<LoadedCode> load(const CodeImage &image);

  LoadedCode(LoadedCode &&other) noexcept;
  LoadedCode &operator=(LoadedCode &&other) noexcept;
  ~LoadedCode();

  KernelFunction *kernel(size_t index) const {
    return reinterpret_cast<KernelFunction *>(base + entries[index]);
  }
  size_t kernelCount() const { return entries.size(); }

private:
  LoadedCode() = default;

  std::byte *base = nullptr;
  size_t size = 0;
  std::vector<uint64_t> entries;
};

} // namespace sinter

#endif // SINTER_RUNTIME_CODEIMAGE_H
