#include "driver/OutputFiles.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <unistd.h>

namespace sinter::driver {

namespace fs = std::filesystem;

/// Whether files can be made in \p folder; \p path is what the user named.
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
    // A folder is made, or one takes its place, in the folder around it.
    const fs::path around = fs::path(path).parent_path().parent_path();
    return checkWritable(flag, around.empty() ? "." : around.string(), path);
  }
  if (fs::is_directory(path, ignored))
    return systemError(std::string(flag) + ": '" + path + "' is a folder");
  const std::string folder = fs::path(path).parent_path().string();
  return checkWritable(flag, folder.empty() ? "." : folder, path);
}

std::string fileName(std::string name, std::set<std::string> &used) {
  constexpr size_t longest = 150;
  name.resize(std::min(name.size(), longest));
  for (char &letter : name)
    if (letter == '/' || static_cast<unsigned char>(letter) < ' ')
      letter = '_';
  if (name.empty() || name[0] == '.')
    name.insert(0, "_");
  std::string unique = name;
  for (int number = 1; !used.insert(unique).second; ++number)
    unique = name + "_" + std::to_string(number);
  return unique;
}

} // namespace sinter::driver
