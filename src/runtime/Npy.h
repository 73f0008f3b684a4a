//===- Npy.h - NumPy's array files ----------------------------------------===//
//
// The .npy format, versions 1 to 3 (NumPy enhancement proposal 1 and
// numpy.lib.format). Element types that NumPy does not have are written as the
// type that keeps their bits, for NumPy to reinterpret with .view():
//
//     bf16             '<V2', as the ml_dtypes package does, and read back as
//     bf16 8-bit floats     '|u1', their codes i2, i4, ui2, ui4 '|i1', '|u1',
//     their values
//
// Strings are NumPy's texts of equal length (NpyStrings.h).
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RUNTIME_NPY_H
#define SINTER_RUNTIME_NPY_H

#include "runtime/MappedFile.h"
#include "runtime/Tensor.h"

#include <string>

namespace sinter {

/// The array in the .npy file \p path, in row-major order and this machine's
/// byte order. The elements stay in the mapped file if they can be used in
/// place. Errors name the file and what is wrong.
Result<Tensor> readNpy(const std::string &path);

/// The array in the bytes of a .npy file, which \p owner keeps alive. \p name
/// is for messages.
Result<Tensor> parseNpy(std::span<const std::byte> bytes,
                        std::shared_ptr<const void> owner,
                        const std::string &name);

/// The size of the .npy file that begins with \p bytes; nothing if they end
/// before its header does. For files that follow each other in a stream. Errors
/// as of parseNpy().
Result<std::optional<uint64_t>> npySize(std::span<const std::byte> bytes,
                                        const std::string &name);

/// \p array as a tensor of \p type if NumPy lacks that type and \p array stands
/// for one: by the bits of what writeNpy writes, for bf16 also by those of ui16
/// or by values of f32, which are rounded; else unchanged.
Tensor asStored(Tensor array, ElementType type);

/// Writes \p tensor to \p path, whole or not at all.
Result<void> writeNpy(const std::string &path, const Tensor &tensor,
                      WriteMode mode = WriteMode::Synchronised);

} // namespace sinter

#endif // SINTER_RUNTIME_NPY_H
