//===- Image.h - object files linked into one block of memory -------------===//
//
// All the kernels of a program become one position-independent block of bytes
// (runtime/CodeImage.h) that can be mapped anywhere.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_BACKEND_CPU_CODEGEN_IMAGE_H
#define SINTER_BACKEND_CPU_CODEGEN_IMAGE_H

#include "backend/cpu/codegen/Codegen.h"
#include "runtime/CodeImage.h"
#include "runtime/Result.h"

#include <span>
#include <string>

namespace sinter::cpu {

/// Links \p objects, which must have been compiled for the same machine and may
/// call each other's functions. The image's entries are the functions
/// \p entryNames, in that order. Fails with a System error on malformed
/// objects, on a name that no object or more than one defines, and on
/// relocations that would tie the code to an address.
Result<CodeImage> link(std::span<const ObjectFile> objects,
                       std::span<const std::string> entryNames);

} // namespace sinter::cpu

#endif // SINTER_BACKEND_CPU_CODEGEN_IMAGE_H
