//===- ProgramFile.h - a compiled program on disk -------------------------===//
//
// Little-endian. Constants begin at multiples of 64 bytes, so that they are
// used where the file is mapped:
//
//     header      magic "SINTERP\0", format version (u32), 0 (u32), size of the
//                 metadata (u64), XXH3-128 of the metadata (2 x u64), size of
//                 the file (u64)
//     metadata    everything but the constants' bytes, the code included; a
//                 constant is its place in the file. Then XXH3-64 of every 4 MB
//                 of what follows
//     constants
//
// So nothing in the file goes unchecked. To load it reads the constants once,
// on several threads; the first run, which reads them too, then finds them in
// memory. Files are written whole or not at all, into a folder of the user's
// own.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RUNTIME_PROGRAMFILE_H
#define SINTER_RUNTIME_PROGRAMFILE_H

#include "runtime/Program.h"

#include <memory>
#include <string>

namespace sinter {

/// Writes \p program to \p path, whole or not at all.
Result<void> saveProgram(const Program &program, const std::string &path);

/// Maps \p path and reads the program in it; its constants point into the
/// mapping. Whatever is wrong with the file is an error, System for a damaged
/// one and Unsupported for one of another format version; the program has
/// passed verify(). Whether it runs on this machine is for checkHost to say.
Result<std::shared_ptr<const Program>> loadProgram(const std::string &path);

} // namespace sinter

#endif // SINTER_RUNTIME_PROGRAMFILE_H
