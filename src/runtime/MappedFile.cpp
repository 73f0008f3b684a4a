//===- MappedFile.cpp - mapped reads and atomic writes of files -----------===//

#include "runtime/MappedFile.h"
#include "runtime/MappedPages.h"
#include "runtime/MemoryFiles.h"
#include "runtime/TemporaryFiles.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <optional>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sinter {

namespace {

/// An open file that is closed on destruction.
class Descriptor {
public:
  explicit Descriptor(int number) : number(number) {}
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;
  ~Descriptor() {
    if (number >= 0)
      ::close(number);
  }
  explicit operator bool() const { return number >= 0; }
  int get() const { return number; }
  int release() { return std::exchange(number, -1); }

private:
  int number;
};

bool writeAll(int descriptor, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return false;
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return true;
}

bool writeAll(int descriptor,
              std::span<const std::span<const std::byte>> chunks) {
  return std::ranges::all_of(
      chunks, [&](auto chunk) { return writeAll(descriptor, chunk); });
}

/// The real target of \p path: the end of symbolic links.
std::string resolveLink(const std::string &path) {
  struct stat status;
  if (::lstat(path.c_str(), &status) != 0 || !S_ISLNK(status.st_mode))
    return path;
  char *resolved = ::realpath(path.c_str(), nullptr);
  if (!resolved)
    return path;
  std::string result = resolved;
  std::free(resolved);
  return result;
}

Result<void> writeDirectly(const std::string &path,
                           std::span<const std::span<const std::byte>> chunks) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file || !writeAll(file.get(), chunks))
    return fileError("write", path, errno);
  return {};
}

/// A file that is written beside another, which it then replaces.
class StagedFile {
public:
  explicit StagedFile(std::string path) : path(std::move(path)) {}
  StagedFile(const StagedFile &) = delete;
  StagedFile &operator=(const StagedFile &) = delete;

  /// A device or a pipe is written directly, and a link followed, unless only
  /// the owner gets access: such a file replaces them.
  Result<void> write(std::span<const std::span<const std::byte>> chunks,
                     WriteMode mode, Access access) {
    struct stat status;
    const bool exists = ::stat(path.c_str(), &status) == 0;
    if (exists && S_ISDIR(status.st_mode))
      return fileError("write", path, EISDIR);
    const bool isOwn = access == Access::OwnerOnly;
    if (exists && !S_ISREG(status.st_mode) && !isOwn)
      return writeDirectly(path, chunks);
    file.emplace(isOwn ? path : resolveLink(path), isOwn ? 0600 : 0666);
    const int descriptor = file->descriptor();
    const bool keepsMode = exists && !isOwn;
    const bool isComplete =
        descriptor >= 0 &&
        (!keepsMode || ::fchmod(descriptor, status.st_mode & 07777) == 0) &&
        writeAll(descriptor, chunks) &&
        (mode == WriteMode::Unsynchronised || ::fsync(descriptor) == 0);
    if (!isComplete)
      return fileError("write", path, errno);
    return {};
  }

  Result<void> commit() {
    if (file && !file->replaceTarget())
      return fileError("write", path, errno);
    return {};
  }

private:
  std::string path;
  std::optional<TemporaryFile> file;
};

} // namespace

Error fileError(std::string_view action, const std::string &path, int code) {
  return inFile(systemError("cannot " + std::string(action) + " '" + path +
                            "': " + std::strerror(code)),
                path);
}

Result<std::shared_ptr<const MappedFile>>
MappedFile::open(const std::string &path) {
  if (std::optional<FileInMemory> file = memoryFileAt(path)) {
    // Never null, since that says that the bytes are mapped.
    auto owner = std::make_shared<const FileInMemory>(std::move(*file));
    return std::shared_ptr<const MappedFile>(
        new MappedFile(owner->bytes, path, owner));
  }
  // Without O_NONBLOCK a pipe without a writer would wait for one.
  int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0)
    return fileError("open", path, errno);
  return fromDescriptor(descriptor, path);
}

Result<std::shared_ptr<const MappedFile>>
MappedFile::fromDescriptor(int descriptor, const std::string &path) {
  Descriptor file(descriptor);
  struct stat status;
  if (::fstat(file.get(), &status) != 0)
    return fileError("read", path, errno);
  if (S_ISDIR(status.st_mode))
    return fileError("read", path, EISDIR);
  if (!S_ISREG(status.st_mode))
    return systemError("cannot map '" + path + "': not a regular file");
  const auto size = static_cast<size_t>(status.st_size);
  std::span<const std::byte> contents;
  if (size != 0) {
    void *address =
        ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
    if (address == MAP_FAILED)
      return fileError("map", path, errno);
    contents = {static_cast<const std::byte *>(address), size};
    addMappedPages(contents);
  }
  return std::shared_ptr<const MappedFile>(
      new MappedFile(contents, path, nullptr));
}

MappedFile::~MappedFile() {
  if (contents.empty() || owner)
    return;
  removeMappedPages(contents);
  ::munmap(const_cast<std::byte *>(contents.data()), contents.size());
}

Result<std::string> readFile(const std::string &path, size_t limit) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file)
    return fileError("open", path, errno);
  std::string text;
  char buffer[1 << 16];
  while (true) {
    ssize_t got = ::read(file.get(), buffer, sizeof(buffer));
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return fileError("read", path, errno);
    if (got == 0)
      return text;
    if (static_cast<size_t>(got) > limit - text.size())
      return systemError("cannot read '" + path + "': larger than " +
                         std::to_string(limit) + " bytes");
    text.append(buffer, static_cast<size_t>(got));
  }
}

Result<void>
writeFileAtomically(const std::string &path,
                    std::span<const std::span<const std::byte>> chunks,
                    WriteMode mode, Access access) {
  if (writeMemoryFile(path, chunks))
    return {};
  StagedFile file(path);
  if (Result<void> written = file.write(chunks, mode, access); !written)
    return written;
  return file.commit();
}

Result<void> writeFilesAtomically(std::span<const FileContents> files) {
  std::deque<StagedFile> staged;
  for (const FileContents &each : files)
    if (writeMemoryFile(each.path, each.chunks))
      continue;
    else if (Result<void> written = staged.emplace_back(each.path).write(
                 each.chunks, WriteMode::Synchronised, Access::AsItWas);
             !written)
      return written;
  for (StagedFile &each : staged)
    if (Result<void> done = each.commit(); !done)
      return done;
  return {};
}

Result<void> writeFileAtomically(const std::string &path, std::string_view text,
                                 Access access) {
  const std::span<const std::byte> chunk =
      std::as_bytes(std::span(text.data(), text.size()));
  return writeFileAtomically(path, std::span(&chunk, 1),
                             WriteMode::Synchronised, access);
}

} // namespace sinter
