//===- ProgramSkeleton.h - the bytes that are kept of a ProgramDesc -------===//
//
// Program::encoded of a program that was read from protobuf: the message of the
// file, with each run of operators replaced by its length. feed and fetch of
// the main block, which Program has as ports, are kept.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_PADDLE_FILE_PROGRAMSKELETON_H
#define SINTER_FORMATS_PADDLE_FILE_PROGRAMSKELETON_H

#include "formats/WireReader.h"
#include "runtime/ByteStream.h"

#include <string>
#include <string_view>

namespace sinter::paddle {

inline std::string_view viewOf(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

/// Appends a field that holds a message, a string or bytes.
void appendField(std::string &out, uint32_t number, std::string_view content);

/// Appends a run of \p count operators to a block. It is encoded as the field
/// of operators, but as a varint instead of messages.
void appendRun(std::string &block, uint64_t count);

/// Whether \p field of a block is such a run; its value is the count.
bool isRun(const WireField &field);

} // namespace sinter::paddle

#endif // SINTER_FORMATS_PADDLE_FILE_PROGRAMSKELETON_H
