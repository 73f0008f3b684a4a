//===- GuardedBuffers.cpp - a kernel's buffers between guard pages --------===//

#include "runtime/GuardedBuffers.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>

namespace sinter {

namespace {

/// A signalling NaN as any float, and a large value as any integer.
constexpr std::byte pattern{0x7f};

/// Memory between two inaccessible pages.
class GuardedBuffer {
public:
  static Result<GuardedBuffer> create(uint64_t bytes, uint64_t alignment) {
    const auto page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
    const auto rounded = [](uint64_t size, uint64_t to) {
      return (size + to - 1) / to * to;
    };
    const uint64_t taken = rounded(bytes, alignment);
    GuardedBuffer buffer;
    buffer.inside = rounded(std::max<uint64_t>(taken, 1), page);
    buffer.mappedBytes = buffer.inside + 2 * page;
    void *mapping = ::mmap(nullptr, buffer.mappedBytes, PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping == MAP_FAILED)
      return systemError(std::string("cannot allocate guarded memory: ") +
                         std::strerror(errno));
    buffer.mapping = static_cast<std::byte *>(mapping);
    std::byte *begin = buffer.mapping + page;
    if (::mprotect(begin, buffer.inside, PROT_READ | PROT_WRITE) != 0)
      return systemError(std::string("cannot guard memory: ") +
                         std::strerror(errno));
    std::fill_n(begin, buffer.inside, pattern);
    buffer.firstByte = begin;
    buffer.contents = {begin + (buffer.inside - taken), bytes};
    return buffer;
  }

  GuardedBuffer(GuardedBuffer &&other) noexcept
      : mapping(std::exchange(other.mapping, nullptr)),
        mappedBytes(other.mappedBytes), inside(other.inside),
        firstByte(other.firstByte), contents(other.contents) {}
  GuardedBuffer &operator=(GuardedBuffer &&) = delete;
  ~GuardedBuffer() {
    if (mapping)
      ::munmap(mapping, mappedBytes);
  }

  std::span<std::byte> bytes() const { return contents; }
  /// Whether the pattern around the contents is unchanged.
  bool isIntact() const {
    const std::byte *end = firstByte + inside;
    const auto isUntouched = [](std::byte each) { return each == pattern; };
    return std::all_of(static_cast<const std::byte *>(firstByte),
                       static_cast<const std::byte *>(contents.data()),
                       isUntouched) &&
           std::all_of(static_cast<const std::byte *>(contents.data() +
                                                      contents.size()),
                       end, isUntouched);
  }

private:
  GuardedBuffer() = default;

  std::byte *mapping = nullptr;
  uint64_t mappedBytes = 0, inside = 0;
  std::byte *firstByte = nullptr;
  std::span<std::byte> contents;
};

} // namespace

bool guardsBuffers() {
  static const bool wanted = [] {
    const char *text = std::getenv("SINTER_GUARD_BUFFERS");
    return text && std::string_view(text) == "1";
  }();
  return wanted;
}

Result<void> callGuarded(const KernelContract &contract,
                         std::span<void *const> buffers,
                         const std::function<void(void *const *)> &call) {
  std::vector<GuardedBuffer> copies;
  std::vector<void *> places;
  for (size_t i = 0; i < contract.buffers.size(); ++i) {
    const BufferContract &wanted = contract.buffers[i];
    Result<GuardedBuffer> copy =
        GuardedBuffer::create(wanted.bytes, wanted.alignment);
    if (!copy)
      return copy.takeError();
    if (wanted.bytes != 0)
      std::memcpy(copy->bytes().data(), buffers[i], wanted.bytes);
    places.push_back(copy->bytes().data());
    copies.push_back(std::move(*copy));
  }
  call(places.data());
  for (size_t i = 0; i < copies.size(); ++i) {
    const std::span<std::byte> bytes = copies[i].bytes();
    if (!copies[i].isIntact())
      return systemError("a kernel has written beside its buffer " +
                         std::to_string(i) + " of " +
                         std::to_string(bytes.size()) + " bytes");
    if (contract.buffers[i].isWritten && !bytes.empty())
      std::memcpy(buffers[i], bytes.data(), bytes.size());
    else if (!bytes.empty() &&
             std::memcmp(buffers[i], bytes.data(), bytes.size()) != 0)
      return systemError("a kernel has written to its buffer " +
                         std::to_string(i) + ", which it only reads");
  }
  return {};
}

} // namespace sinter
