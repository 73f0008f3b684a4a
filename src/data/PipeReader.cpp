#include "data/PipeReader.h"

#include "runtime/MappedFile.h"
#include "runtime/OutOfMemory.h"

#include <algorithm>
#include <cerrno>
#include <poll.h>
#include <unistd.h>

namespace sinter {

bool PipeReader::isReady() const {
  pollfd wanted{descriptor, POLLIN, 0};
  return hasEnded || !ahead().empty() || ::poll(&wanted, 1, 0) > 0;
}

Result<bool> PipeReader::fill(size_t wanted) {
  constexpr size_t piece = size_t(1) << 16;
  if (taken > 0 && (taken == buffer.size() || taken >= piece)) {
    buffer.erase(buffer.begin(), buffer.begin() + static_cast<long>(taken));
    taken = 0;
  }
  return catchingOutOfMemory("'" + name + "'", [&]() -> Result<bool> {
    while (!hasEnded && buffer.size() - taken < wanted) {
      const size_t before = buffer.size();
      // A header may lie about its array, so that memory grows with what is
      // there.
      buffer.resize(before + std::max(piece, std::min(before, wanted)));
      ssize_t got = 0;
      do
        got =
            ::read(descriptor, buffer.data() + before, buffer.size() - before);
      while (got < 0 && errno == EINTR);
      buffer.resize(before + static_cast<size_t>(std::max<ssize_t>(got, 0)));
      if (got < 0)
        return fileError("read", name, errno);
      hasEnded = got == 0;
    }
    return buffer.size() - taken >= wanted;
  });
}

} // namespace sinter
