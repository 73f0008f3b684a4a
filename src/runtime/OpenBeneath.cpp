#include "runtime/OpenBeneath.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <linux/openat2.h>
#include <optional>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

using namespace sinter;

namespace {

std::string quoted(std::string_view text) {
  return "'" + std::string(text) + "'";
}

Error refused(std::string_view location, const std::string &reason) {
  return invalidModel("external data " + quoted(location) + ": " + reason);
}

/// The meaning of errno for a location that must not leave its folder.
Error openError(std::string_view location, int code) {
  switch (code) {
  case ELOOP:
    return refused(location, "is a symbolic link or lies behind one");
  case EXDEV:
    return refused(location, "leaves the model's folder");
  case ENOENT:
    return refused(location, "there is no such file in the model's folder");
  default:
    return refused(location, std::strerror(code));
  }
}

/// The path's components, or nothing if it is absolute, has a ".." or is empty.
/// "." and empty components are left out.
std::optional<std::vector<std::string>> components(std::string_view location) {
  if (location.empty() || location.front() == '/' ||
      location.find('\0') != std::string_view::npos)
    return std::nullopt;
  std::vector<std::string> parts;
  while (!location.empty()) {
    size_t slash = location.find('/');
    std::string_view part = location.substr(0, slash);
    if (part == "..")
      return std::nullopt;
    if (!part.empty() && part != ".")
      parts.emplace_back(part);
    location =
        slash == std::string_view::npos ? "" : location.substr(slash + 1);
  }
  if (parts.empty())
    return std::nullopt;
  return parts;
}

constexpr int fileFlags =
    O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW;

/// A descriptor, or minus errno.
int dynamicByKernel(int folder, const std::string &path) {
  struct open_how how = {};
  how.flags = fileFlags;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  long descriptor =
      syscall(SYS_openat2, folder, path.c_str(), &how, sizeof(how));
  return descriptor < 0 ? -errno : static_cast<int>(descriptor);
}

/// A descriptor, or minus errno.
int openByWalk(int folder, const std::vector<std::string> &parts) {
  int current = dup(folder);
  for (size_t i = 0; current >= 0 && i < parts.size(); ++i) {
    bool last = i + 1 == parts.size();
    int flags =
        last ? fileFlags : O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_DIRECTORY;
    int next = openat(current, parts[i].c_str(), flags);
    int code = errno;
    struct stat status;
    // A link instead of a folder gives ENOTDIR: report the link.
    if (next < 0 && code == ENOTDIR &&
        fstatat(current, parts[i].c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISLNK(status.st_mode))
      code = ELOOP;
    close(current);
    if (next < 0)
      return -code;
    current = next;
  }
  return current < 0 ? -errno : current;
}

/// Refuses files that are not regular or have a second name.
std::optional<std::string> problemOf(int descriptor) {
  struct stat status;
  if (fstat(descriptor, &status) != 0)
    return std::strerror(errno);
  if (!S_ISREG(status.st_mode))
    return "is not a regular file";
  if (status.st_nlink > 1)
    return "is a hard link; copy the file to give it only one name";
  return std::nullopt;
}

} // namespace

Result<int> sinter::openBeneath(const std::string &folder,
                                std::string_view location, OpenMethod method) {
  std::optional<std::vector<std::string>> parts = components(location);
  if (!parts)
    return refused(location, "is not a path inside the model's folder");
  std::string base = folder.empty() ? "." : folder;
  int root = open(base.c_str(), O_RDONLY | O_CLOEXEC | O_DIRECTORY);
  if (root < 0)
    return systemError(base + ": " + std::strerror(errno));
  std::string path;
  for (const std::string &part : *parts)
    path += (path.empty() ? "" : "/") + part;
  int descriptor = method == OpenMethod::Openat2 ? dynamicByKernel(root, path)
                                                 : openByWalk(root, *parts);
  // Old kernels lack openat2, and some containers forbid it.
  if (method == OpenMethod::Openat2 &&
      (descriptor == -ENOSYS || descriptor == -EPERM))
    descriptor = openByWalk(root, *parts);
  close(root);
  if (descriptor < 0)
    return openError(location, -descriptor);
  if (std::optional<std::string> problem = problemOf(descriptor)) {
    close(descriptor);
    return refused(location, *problem);
  }
  return descriptor;
}
