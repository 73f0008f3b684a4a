//===- Idx.h - arrays of bytes in the form of MNIST -----------------------===//
//
//   0 0 8 N                  ui8, N dimensions
//   size, size, ...          32 bits each, the most significant byte first
//   the elements
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RUNTIME_IDX_H
#define SINTER_RUNTIME_IDX_H

#include "runtime/Tensor.h"

#include <string>

namespace sinter {

/// Whether the file \p path, possibly compressed by gzip, begins like one.
bool isIdx(const std::string &path);

/// The array of ui8 in the file \p path, possibly compressed by gzip.
/// InvalidModel if the header is invalid, the elements are of another type, or
/// their number is not the header's; System if the file cannot be read.
Result<Tensor> readIdx(const std::string &path);

} // namespace sinter

#endif // SINTER_RUNTIME_IDX_H
