#include "interface/OutputFiles.h"

#include "runtime/TemporaryFiles.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <unistd.h>

namespace sinter {

namespace fs = std::filesystem;

/// Whether files can be created in \p folder; \p path is the user's name of it.
static Result<void> checkWritable(const char *flag, const std::string &folder,
                                  const std::string &path) {
  if (::access(folder.c_str(), W_OK | X_OK) == 0)
    return {};
  return systemError(std::string(flag) + ": cannot write '" + path +
                     "': " + std::strerror(errno));
}

Result<void> prepareFolder(const char *flag, const std::string &folder) {
  if (folder.empty())
    return {};
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (!failed && !fs::is_directory(folder, failed) && !failed)
    failed = std::make_error_code(std::errc::not_a_directory);
  if (failed)
    return systemError(std::string(flag) + ": cannot make the folder '" +
                       folder + "': " + failed.message());
  removeLeftovers(folder);
  return checkWritable(flag, folder, folder);
}

Result<void> checkOutputFile(const char *flag, const std::string &path,
                             const std::string &model) {
  if (path.empty())
    return {};
  std::error_code ignored;
  if (fs::equivalent(path, model, ignored))
    return usageError(std::string(flag) + ": '" + path +
                      "' is the model itself");
  if (path.ends_with('/')) {
    removeLeftovers(path);
    // Folders are created or replaced in their parent.
    const fs::path around = fs::path(path).parent_path().parent_path();
    return checkWritable(flag, around.empty() ? "." : around.string(), path);
  }
  if (fs::is_directory(path, ignored))
    return systemError(std::string(flag) + ": '" + path + "' is a folder");
  std::string folder = fs::path(path).parent_path().string();
  if (folder.empty())
    folder = ".";
  removeLeftovers(folder, fs::path(path).filename().string());
  return checkWritable(flag, folder, path);
}

} // namespace sinter
