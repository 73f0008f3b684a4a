#include "runtime/MappedFile.h"
#include "TemporaryFolder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <sys/stat.h>

using namespace sinter;

namespace {

using sinter::test::TemporaryFolder;

TEST(MappedFileTest, WritesWithoutWaitingForTheDisk) {
  TemporaryFolder folder;
  const std::string path = folder.file("unsynchronised");
  const std::string text = "hello";
  const auto bytes = std::as_bytes(std::span(text));
  ASSERT_TRUE(writeFileAtomically(path, std::span(&bytes, 1),
                                  WriteMode::Unsynchronised));
  auto read = readFile(path);
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, text);
}

TEST(MappedFileTest, ReadsWhatWasWritten) {
  TemporaryFolder folder;
  std::string path = folder.file("a");
  ASSERT_TRUE(writeFileAtomically(path, "hello"));
  ASSERT_TRUE(writeFileAtomically(path, "hello again"));
  auto mapped = MappedFile::open(path);
  ASSERT_TRUE(mapped);
  EXPECT_EQ((*mapped)->text(), "hello again");
  EXPECT_EQ(*readFile(path), "hello again");
  EXPECT_FALSE(readFile(path, 4));
  EXPECT_EQ(folder.entries(), 1u);
}

TEST(MappedFileTest, EmptyFile) {
  TemporaryFolder folder;
  ASSERT_TRUE(writeFileAtomically(folder.file("e"), ""));
  auto mapped = MappedFile::open(folder.file("e"));
  ASSERT_TRUE(mapped);
  EXPECT_TRUE((*mapped)->bytes().empty());
}

TEST(MappedFileTest, ErrorsNameTheFile) {
  TemporaryFolder folder;
  auto missing = MappedFile::open(folder.file("none"));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::System);
  EXPECT_EQ(missing.error().message(), "cannot open '" + folder.file("none") +
                                           "': No such file or directory");
  EXPECT_FALSE(MappedFile::open(folder.path()));
  EXPECT_FALSE(MappedFile::open("/dev/null"));
  EXPECT_FALSE(writeFileAtomically(folder.file("no/such/folder"), "x"));
  EXPECT_FALSE(writeFileAtomically(folder.path(), "x"));
  EXPECT_EQ(folder.entries(), 0u);
}

TEST(MappedFileTest, KeepsModeAndLinks) {
  TemporaryFolder folder;
  ASSERT_TRUE(writeFileAtomically(folder.file("a"), "1"));
  ::chmod(folder.file("a").c_str(), 0600);
  std::filesystem::create_symlink("a", folder.file("link"));
  ASSERT_TRUE(writeFileAtomically(folder.file("link"), "2"));
  EXPECT_TRUE(std::filesystem::is_symlink(folder.file("link")));
  EXPECT_EQ(*readFile(folder.file("a")), "2");
  struct stat status;
  ASSERT_EQ(::stat(folder.file("a").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

/// Files that belong together: one that cannot be written keeps the others as
/// they were.
TEST(MappedFileTest, WritesSeveralOrNone) {
  TemporaryFolder folder;
  const auto contentsOf = [](std::string path, std::string_view text) {
    return FileContents{std::move(path), {std::as_bytes(std::span(text))}};
  };
  const std::string a = folder.file("a"), b = folder.file("b");
  ASSERT_TRUE(writeFilesAtomically(
      std::vector{contentsOf(a, "1"), contentsOf(b, "2")}));
  EXPECT_EQ(*readFile(a) + *readFile(b), "12");
  EXPECT_FALSE(writeFilesAtomically(std::vector{
      contentsOf(a, "3"), contentsOf(folder.file("no/folder"), "4")}));
  EXPECT_FALSE(writeFilesAtomically(
      std::vector{contentsOf(a, "3"), contentsOf(folder.path(), "4")}));
  EXPECT_EQ(*readFile(a), "1");
  EXPECT_EQ(folder.entries(), 2u);
}

TEST(MappedFileTest, WritesToDevices) {
  EXPECT_TRUE(writeFileAtomically("/dev/null", "x"));
}

} // namespace
