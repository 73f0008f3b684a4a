//===- ProgramSkeleton.h - what of a ProgramDesc is kept as bytes ---------===//
//
// Program::encoded of a program that was read from protobuf: the message as it
// stood in the file, but in the place of operators stands how many there were.
// feed and fetch of the main block, which Program's ports stand for, are still
// there.
//
//===----------------------------------------------------------------------===//

#ifndef SINTER_FORMATS_PADDLE_FILE_PROGRAMSKELETON_H
#define SINTER_FORMATS_PADDLE_FILE_PROGRAMSKELETON_H

#include "formats/WireReader.h"

#include <string>
#include <string_view>

namespace sinter::paddle {

inline std::span<const std::byte> bytesOf(std::string_view text) {
  return std::as_bytes(std::span(text));
}

inline std::string_view viewOf(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

/// Appends a field that holds a message, a string or bytes.
void appendField(std::string &out, uint32_t number, std::string_view content);

/// Appends a run of \p count operators to a block. As a field it is one that no
/// reader of Paddle's has: a number where operators are messages.
void appendRun(std::string &block, uint64_t count);

/// Whether \p field of a block is such a run; its value is the count.
bool isRun(const WireField &field);

} // namespace sinter::paddle

#endif // SINTER_FORMATS_PADDLE_FILE_PROGRAMSKELETON_H
