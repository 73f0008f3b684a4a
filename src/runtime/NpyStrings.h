//===- NpyStrings.h - NumPy's arrays of strings ---------------------------===//
//
// NumPy has arrays of texts of equal length, which zeros fill up: of UTF-32
// ('U') and of bytes ('S').
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RUNTIME_NPYSTRINGS_H
#define SINTER_RUNTIME_NPYSTRINGS_H

#include "runtime/Tensor.h"

#include <string>
#include <vector>

namespace sinter {

/// How NumPy stores each string.
struct NpyStrings {
  /// UTF-32, not bytes.
  bool isUnicode = false;
  /// Characters of four bytes, or bytes.
  int64_t length = 0;
  bool bigEndian = false;

  int64_t bytes() const { return isUnicode ? 4 * length : length; }
};

/// The strings stored at \p data, as many as \p shape says. System error for
/// what is no character of Unicode.
Result<Tensor> readNpyStrings(const NpyStrings &form, const Shape &shape,
                              const std::byte *data);

/// How \p tensor, of strings, is stored: in UTF-32 if all are UTF-8, else as
/// bytes; at least one character long.
NpyStrings npyFormOf(const Tensor &tensor);
/// The bytes of all strings in that form. Unsupported if a string ends in a
/// zero, which NumPy cannot store.
Result<std::vector<std::byte>> npyBytesOf(const Tensor &tensor,
                                          const NpyStrings &form);

} // namespace sinter

#endif // SINTER_RUNTIME_NPYSTRINGS_H
