#include "runtime/MappedPages.h"
#include "TemporaryFolder.h"
#include "runtime/MappedFile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

using namespace sinter;

namespace {

using sinter::test::TemporaryFolder;

constexpr size_t size = size_t(16) << 20;

/// Kilobytes of mapped files that are in memory.
long residentFiles() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("RssFile:"))
      return std::atol(line.c_str() + 8);
  return -1;
}

bool isAll(std::span<const std::byte> bytes, char value) {
  return std::all_of(bytes.begin(), bytes.end(), [&](std::byte each) {
    return each == static_cast<std::byte>(value);
  });
}

TEST(MappedPages, AreReadAgain) {
  TemporaryFolder folder;
  ASSERT_TRUE(writeFileAtomically(folder.file("a"), std::string(size, 'x')));
  auto mapped = MappedFile::open(folder.file("a"));
  ASSERT_TRUE(mapped);
  const auto bytes = (*mapped)->bytes();
  EXPECT_TRUE(isAll(bytes, 'x'));
  const long before = residentFiles();
  releasePages(bytes.subspan(100, size / 2));
  // Code that ran in between was read in, too, a few pages at a time.
  EXPECT_LT(residentFiles(), before - long(size / 4 / 1024));
  EXPECT_TRUE(isAll(bytes, 'x'));
}

TEST(MappedPages, NothingElseIsTouched) {
  std::vector<std::byte> own(size, static_cast<std::byte>('x'));
  releasePages(own);
  EXPECT_TRUE(isAll(own, 'x'));
  TemporaryFolder folder;
  ASSERT_TRUE(writeFileAtomically(folder.file("a"), std::string(size, 'x')));
  auto mapped = MappedFile::open(folder.file("a"));
  ASSERT_TRUE(mapped);
  releasePages({(*mapped)->bytes().data(), size + 4096});
  releasePages({});
  releasePages(own);
  EXPECT_TRUE(isAll(own, 'x'));
}

} // namespace
