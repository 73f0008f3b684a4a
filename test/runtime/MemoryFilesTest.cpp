#include "runtime/MemoryFiles.h"
#include "runtime/MappedFile.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>

using namespace sinter;

static std::span<const std::byte> bytesOf(const std::string &text) {
  return std::as_bytes(std::span(text));
}

TEST(MemoryFiles, AreReadWithoutACopy) {
  const std::string text = "contents";
  const MemoryFolder folder;
  MemoryFolder other;
  other.add("a", bytesOf(text), nullptr);
  const std::string path = other.path("a");
  ASSERT_TRUE(isInMemory(path));
  auto file = MappedFile::open(path);
  ASSERT_TRUE(file) << file.error().message();
  EXPECT_EQ((*file)->text(), text);
  EXPECT_EQ(reinterpret_cast<const char *>((*file)->bytes().data()),
            text.data());
  EXPECT_FALSE(MappedFile::open(folder.path("a")));
  EXPECT_FALSE(MappedFile::open(other.path("b")));
}

TEST(MemoryFiles, StayForWhoeverHasOpenedThem) {
  auto text = std::make_shared<const std::string>("kept");
  std::string path;
  std::shared_ptr<const MappedFile> file;
  {
    MemoryFolder folder;
    folder.add("a", bytesOf(*text), text);
    path = folder.path("a");
    file = *MappedFile::open(path);
    text.reset();
  }
  EXPECT_EQ(file->text(), "kept");
  EXPECT_FALSE(isInMemory(path));
  EXPECT_FALSE(MappedFile::open(path));
}

TEST(MemoryFiles, AreWrittenAndListed) {
  const MemoryFolder folder;
  ASSERT_TRUE(writeFileAtomically(folder.path("b.txt"), "one"));
  const std::string two = "two", three = "three";
  const FileContents files[] = {
      {folder.path("a.txt"), {bytesOf(two), bytesOf(three)}},
      {folder.path("b.txt"), {bytesOf(three)}}};
  ASSERT_TRUE(writeFilesAtomically(files));
  const std::vector<FileInMemory> all = folder.files();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].name, "a.txt");
  EXPECT_EQ(std::string(reinterpret_cast<const char *>(all[0].bytes.data()),
                        all[0].bytes.size()),
            "twothree");
  EXPECT_EQ(all[1].bytes.size(), three.size());
}

/// External data of a model are looked up in the folder of its path.
TEST(MemoryFiles, LieInTheirBase) {
  MemoryFolder folder("/data/models");
  folder.add("m.onnx", {}, nullptr);
  EXPECT_TRUE(folder.path("m.onnx").starts_with("/data/models/"));
  EXPECT_EQ(folder.path("m.onnx").rfind('/'), std::strlen("/data/models"));
  EXPECT_TRUE(isInMemory(folder.path("m.onnx")));
  EXPECT_EQ(folder.path("../../etc/passwd").find("/../"), std::string::npos);
  EXPECT_FALSE(isInMemory("/data/models/memory:0:m.onnx"));
  EXPECT_FALSE(isInMemory("memory:x/m.onnx"));
}

TEST(MemoryFiles, ThreadsShareAFolder) {
  MemoryFolder folder;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&folder, t] {
      for (int i = 0; i < 100; ++i) {
        const std::string name = std::to_string(t);
        ASSERT_TRUE(writeFileAtomically(folder.path(name), name));
        ASSERT_EQ((*MappedFile::open(folder.path(name)))->text(), name);
        const MemoryFolder own;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(folder.files().size(), 4U);
}
