//===- CodeImage.cpp - machine code as data -------------------------------===//

#include "runtime/CodeImage.h"
#include "runtime/ExternalSymbols.h"

#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <utility>

namespace sinter {

namespace {

constexpr size_t addressSize = sizeof(uint64_t);

Error badImage(std::string what) {
  return systemError("damaged program code: " + std::move(what));
}

/// Whether the sections are inside the slab, in order and on separate pages.
bool rangesAreSound(const CodeImage &image) {
  uint64_t end = 0;
  for (const CodeImage::Range &range : {image.text, image.rodata, image.data}) {
    if (range.size == 0)
      continue;
    if (range.offset % imagePageSize != 0 || range.offset < end ||
        range.offset > image.bytes.size() ||
        range.size > image.bytes.size() - range.offset)
      return false;
    end = range.offset + range.size;
  }
  return true;
}

bool protect(std::byte *base, CodeImage::Range range, int protection) {
  return range.size == 0 ||
         ::mprotect(base + range.offset, range.size, protection) == 0;
}

/// Relocates the copy of \p image at \p base.
void relocate(std::byte *base, const CodeImage &image) {
  std::vector<uint64_t> addresses;
  for (const std::string &name : image.externals)
    addresses.push_back(reinterpret_cast<uint64_t>(externalSymbol(name)));
  for (const Relocation &relocation : image.relocations) {
    const uint64_t symbol = relocation.symbol == Relocation::internal
                                ? reinterpret_cast<uint64_t>(base)
                                : addresses[relocation.symbol];
    const uint64_t address = symbol + static_cast<uint64_t>(relocation.addend);
    std::memcpy(base + relocation.offset, &address, addressSize);
  }
}

} // namespace

Result<void> verify(const CodeImage &image) {
  if (!rangesAreSound(image))
    return badImage("segments overlap or leave the image");
  for (uint64_t entry : image.entries)
    if (entry < image.text.offset ||
        entry - image.text.offset >= image.text.size)
      return badImage("a kernel begins outside the text");
  for (const std::string &name : image.externals)
    if (!externalSymbol(name))
      return badImage("calls '" + name +
                      "', which is not a function that kernels may call");
  const uint64_t size = image.bytes.size();
  for (const Relocation &relocation : image.relocations) {
    if (size < addressSize || relocation.offset > size - addressSize)
      return badImage("a relocation lies outside the image");
    if (relocation.symbol == Relocation::internal
            ? static_cast<uint64_t>(relocation.addend) > size
            : relocation.symbol >= image.externals.size())
      return badImage("a relocation refers to nothing");
  }
  return {};
}

Result<LoadedCode> LoadedCode::load(const CodeImage &image) {
  if (Result<void> sound = verify(image); !sound)
    return sound.takeError();
  LoadedCode code;
  code.entries = image.entries;
  if (image.bytes.empty())
    return code;
  void *memory = ::mmap(nullptr, image.bytes.size(), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return systemError(std::string("cannot allocate memory for code: ") +
                       std::strerror(errno));
  code.base = static_cast<std::byte *>(memory);
  code.size = image.bytes.size();
  std::memcpy(code.base, image.bytes.data(), image.bytes.size());
  relocate(code.base, image);
  if (!protect(code.base, image.text, PROT_READ | PROT_EXEC) ||
      !protect(code.base, image.rodata, PROT_READ))
    return systemError(std::string("cannot make memory executable: ") +
                       std::strerror(errno));
  char *begin = reinterpret_cast<char *>(code.base + image.text.offset);
  __builtin___clear_cache(begin, begin + image.text.size);
  return code;
}

LoadedCode::LoadedCode(LoadedCode &&other) noexcept
    : base(std::exchange(other.base, nullptr)),
      size(std::exchange(other.size, 0)), entries(std::move(other.entries)) {}

LoadedCode &LoadedCode::operator=(LoadedCode &&other) noexcept {
  std::swap(base, other.base);
  std::swap(size, other.size);
  std::swap(entries, other.entries);
  return *this;
}

LoadedCode::~LoadedCode() {
  if (base)
    ::munmap(base, size);
}

} // namespace sinter
