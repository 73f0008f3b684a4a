//===- ContractBytes.h - kernel contracts in a file -----------------------===//

#ifndef SINTER_RUNTIME_CONTRACTBYTES_H
#define SINTER_RUNTIME_CONTRACTBYTES_H

#include "runtime/ByteStream.h"
#include "runtime/Program.h"

namespace sinter {

inline void writeContract(ByteWriter &out, const KernelContract &kernel) {
  out.number(kernel.tasks);
  out.list(kernel.buffers, [&](const BufferContract &buffer) {
    out.number(buffer.bytes);
    out.number(buffer.alignment);
    out.number(static_cast<uint8_t>(buffer.isWritten));
  });
}

/// The minimum size of a contract, and of a buffer's, in a file.
inline constexpr size_t bufferContractSize = 8 + 4 + 1, contractSize = 8 + 8;

inline KernelContract readContract(ByteReader &in) {
  KernelContract kernel;
  kernel.tasks = in.number<int64_t>();
  kernel.buffers = in.list(bufferContractSize, [&] {
    BufferContract buffer;
    buffer.bytes = in.number<uint64_t>();
    buffer.alignment = in.number<uint32_t>();
    buffer.isWritten = in.number<uint8_t>() != 0;
    return buffer;
  });
  return kernel;
}

} // namespace sinter

#endif // SINTER_RUNTIME_CONTRACTBYTES_H
