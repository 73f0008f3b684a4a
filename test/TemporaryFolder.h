//===- TemporaryFolder.h - a folder that lives as long as a test ----------===//

#ifndef SINTER_TEST_TEMPORARYFOLDER_H
#define SINTER_TEST_TEMPORARYFOLDER_H

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

namespace sinter::test {

class TemporaryFolder {
public:
  TemporaryFolder() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "sinter-XXXXXX").string();
    if (const char *made = ::mkdtemp(pattern.data()))
      name = made;
    else
      throw std::filesystem::filesystem_error(
          pattern, std::error_code(errno, std::generic_category()));
  }
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(name, ignored);
  }

  const std::string &path() const { return name; }
  std::string file(const std::string &entry) const {
    return name + "/" + entry;
  }
  /// Writes \p contents to the file \p entry, fast. A new file each time, as
  /// file systems bring one that is overwritten to the disk at once.
  void write(const std::string &entry, std::string_view contents) const {
    std::filesystem::remove(file(entry));
    std::ofstream(file(entry), std::ios::binary) << contents;
  }
  size_t entries() const {
    return std::distance(std::filesystem::directory_iterator(name), {});
  }

private:
  std::string name;
};

} // namespace sinter::test

#endif // SINTER_TEST_TEMPORARYFOLDER_H
