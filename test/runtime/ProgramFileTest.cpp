#include "runtime/ProgramFile.h"
#include "TemporaryFolder.h"
#include "runtime/Hash.h"
#include "runtime/MappedFile.h"
#include "runtime/ProgramExecutor.h"
#include "runtime/TestProgram.h"

#include <gtest/gtest.h>

#if defined(__x86_64__)

using namespace sinter;
using namespace sinter::test;

namespace {

constexpr size_t headerSize = 48;

/// The file of testProgram(), which tests then damage.
std::string savedProgram(const TemporaryFolder &folder) {
  EXPECT_TRUE(saveProgram(testProgram(), folder.file("p")));
  return *readFile(folder.file("p"));
}

TEST(ProgramFileTest, LoadsWhatWasSaved) {
  TemporaryFolder folder;
  savedProgram(folder);
  auto loaded = loadProgram(folder.file("p"));
  ASSERT_TRUE(loaded) << loaded.error().message;
  const Program expected = testProgram();
  EXPECT_EQ((*loaded)->features, expected.features);
  EXPECT_EQ((*loaded)->inputs, expected.inputs);
  EXPECT_EQ((*loaded)->outputs, expected.outputs);
  ASSERT_EQ((*loaded)->constants.size(), 2u);
  EXPECT_TRUE(std::ranges::equal((*loaded)->constants[1].bytes,
                                 expected.constants[1].bytes));

  auto executor =
      ProgramExecutor::create(*loaded, std::make_shared<ThreadPool>(2));
  ASSERT_TRUE(executor);
  std::vector<Tensor> inputs = {Tensor(ElementType::I32, {1000})};
  auto results = (*executor)->run(inputs);
  ASSERT_TRUE(results);
  EXPECT_EQ((*results)[0].at<int32_t>(999), 1);
  EXPECT_EQ((*results)[1].at<int32_t>(0), 10);
}

TEST(ProgramFileTest, EveryDamagedByteIsFound) {
  TemporaryFolder folder;
  const std::string good = savedProgram(folder);
  // The last 12 bytes and the padding before are constants, not metadata; the
  // middle of the file is one long run of code padding.
  for (size_t i = 0; i < good.size() - 140; i += i < 600 ? 1 : 397) {
    if (i >= 12 && i < 16)
      continue; // Reserved.
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x41);
    folder.write("bad", bad);
    EXPECT_FALSE(loadProgram(folder.file("bad"))) << "byte " << i;
  }
}

TEST(ProgramFileTest, TruncatedFilesAreErrors) {
  TemporaryFolder folder;
  const std::string good = savedProgram(folder);
  for (size_t size : {size_t(0), size_t(7), size_t(47), size_t(48),
                      size_t(1000), good.size() - 100, good.size() - 1}) {
    folder.write("bad", std::string_view(good).substr(0, size));
    EXPECT_FALSE(loadProgram(folder.file("bad"))) << size;
  }
  folder.write("bad", good + "x");
  EXPECT_FALSE(loadProgram(folder.file("bad")));
}

TEST(ProgramFileTest, NonsenseWithARightChecksumDoesNotCrash) {
  TemporaryFolder folder;
  const std::string good = savedProgram(folder);
  uint64_t metadataSize;
  std::memcpy(&metadataSize, good.data() + 16, 8);
  auto tryByte = [&](size_t i, char value) {
    std::string bad = good;
    bad[i] = value;
    const Hash128 hash = hashOf(std::as_bytes(
        std::span(bad.data() + headerSize, size_t(metadataSize))));
    std::memcpy(bad.data() + 24, &hash.low, 8);
    std::memcpy(bad.data() + 32, &hash.high, 8);
    folder.write("bad", bad);
    // Names and numbers may change without harm; what loads has been verified.
    if (auto loaded = loadProgram(folder.file("bad")))
      EXPECT_TRUE(verify(**loaded));
  };
  const size_t end = headerSize + metadataSize;
  for (char value : {'\0', '\x01', '\x7f', '\xff'}) {
    for (size_t i = headerSize; i < headerSize + 300; i += 3)
      tryByte(i, value);
    for (size_t i = end - 900; i < end; i += 3)
      tryByte(i, value);
  }
}

TEST(ProgramFileTest, OtherVersionsAreUnsupported) {
  TemporaryFolder folder;
  std::string other = savedProgram(folder);
  other[8] = 99;
  folder.write("p", other);
  auto loaded = loadProgram(folder.file("p"));
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().kind, ErrorKind::Unsupported);
}

} // namespace

#endif // __x86_64__
