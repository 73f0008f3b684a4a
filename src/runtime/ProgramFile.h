//===- ProgramFile.h - a compiled program on disk -------------------------===//
//
// Little-endian. Constants begin at multiples of 64 bytes, so that they are
// used where the file is mapped:
//
//     header      magic "SINTERP\0", format version (u32), 0 (u32), size of the
//                 metadata (u64), XXH3-128 of the metadata (2 x u64), size of
//                 the file (u64)
//     metadata    everything but the constants' bytes, the code included; a
//                 constant is its offset in the file. Then XXH3-64 of every
//                 4 MB of what follows
//     constants
//
// So all of the file is checked. Loading reads the constants once, on several
// threads; the first run then finds them in memory. Files are written
// atomically, into a folder of the user.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_RUNTIME_PROGRAMFILE_H
#define SINTER_RUNTIME_PROGRAMFILE_H

#include "runtime/MappedFile.h"
#include "runtime/Program.h"

#include <memory>
#include <string>

namespace sinter {

/// Writes \p program to \p path atomically, readable by its owner only.
Result<void> saveProgram(const Program &program, const std::string &path);

/// Maps \p path and reads the program in it; its constants point into the
/// mapping. Errors: System for a damaged file, Unsupported for another format
/// version; the program has passed verify(). checkHost says whether it runs on
/// this machine.
Result<std::shared_ptr<const Program>> loadProgram(const std::string &path);
/// The same for a mapped file.
Result<std::shared_ptr<const Program>>
loadProgram(const std::shared_ptr<const MappedFile> &file);

} // namespace sinter

#endif // SINTER_RUNTIME_PROGRAMFILE_H
