#include "engine/ProgramKeys.h"

#include "TemporaryFolder.h"
#include "engine/CompilerLibrary.h"
#include "runtime/MemoryFiles.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace sinter {
namespace {

/// A model of two files, and a compiler.
class ProgramKeysTest : public testing::Test {
protected:
  ProgramKeysTest() {
    folder.write("model.onnx", "any");
    folder.write("weights", "1234");
    folder.write("compiler.so", "none");
    EXPECT_TRUE(setCompilerLibrary(folder.file("compiler.so")));
    model.inputs.resize(1);
    model.dataFiles = {"weights"};
    request.shapes = {{2, 3}};
    request.dynamic = {{-1, 3}};
    request.values = {Tensor(ElementType::I32, {2, 3})};
  }
  ~ProgramKeysTest() override { EXPECT_TRUE(setCompilerLibrary("")); }

  std::string staticKey() {
    auto key = keys.staticProgram(model, request);
    return key ? key->text() : key.error().message();
  }
  std::string dynamicKey(size_t others = 0) {
    auto key = keys.dynamicProgram(model, request, others);
    return key ? key->text() : key.error().message();
  }

  test::TemporaryFolder folder;
  SessionOptions options;
  ModelDescription model;
  CompileRequest request;
  ProgramKeys keys{folder.file("model.onnx"), options};
};

TEST_F(ProgramKeysTest, FilesAreHashedOnce) {
  const std::string key = staticKey();
  EXPECT_EQ(keys.hashings(), 2u);
  EXPECT_EQ(staticKey(), key);
  EXPECT_NE(dynamicKey(), key);
  EXPECT_TRUE(keys.identity(model));
  EXPECT_EQ(keys.hashings(), 2u);
}

TEST_F(ProgramKeysTest, AnotherFileIsHashedAgain) {
  const std::string key = staticKey();
  folder.write("weights", "1235");
  EXPECT_NE(staticKey(), key);
  EXPECT_EQ(keys.hashings(), 3u);
  folder.write("weights", "1234");
  EXPECT_EQ(staticKey(), key);
}

TEST_F(ProgramKeysTest, SizesKeepProgramsApart) {
  const std::string own = staticKey(), all = dynamicKey();
  EXPECT_NE(dynamicKey(/*others=*/1), all);
  request.shapes = {{5, 3}};
  EXPECT_NE(staticKey(), own);
  EXPECT_EQ(dynamicKey(), all);
}

TEST_F(ProgramKeysTest, ValuesCountWhereTheyFeedShapes) {
  const std::string key = staticKey();
  request.values[0]->set<int32_t>(0, 7);
  EXPECT_EQ(staticKey(), key);
  model.inputs[0].feedsShapes = true;
  const std::string withSeven = staticKey();
  EXPECT_NE(withSeven, key);
  request.values[0]->set<int32_t>(0, 8);
  EXPECT_NE(staticKey(), withSeven);
  model.inputs[0].feedsShapes = false;
  request.forValues = true;
  EXPECT_NE(staticKey(), key);
}

/// Pages of a mapped file may be released when it was hashed, those of memory
/// not: they would be zero.
TEST_F(ProgramKeysTest, FilesInMemoryStay) {
  constexpr size_t page = 4096;
  const auto free = [](void *memory) { std::free(memory); };
  const std::unique_ptr<void, decltype(free)> memory(
      std::aligned_alloc(page, 2 * page), free);
  std::memset(memory.get(), 'x', 2 * page);
  const std::span<const std::byte> all{
      static_cast<const std::byte *>(memory.get()), 2 * page};
  MemoryFolder files;
  files.add("model.onnx", all.first(page + 100), nullptr);
  ProgramKeys own(files.path("model.onnx"), options);
  ASSERT_TRUE(own.identity(ModelDescription()));
  EXPECT_EQ(std::ranges::count(all, std::byte('x')), std::ptrdiff_t(2 * page));
}

TEST_F(ProgramKeysTest, FilesThatCannotBeReadAreErrors) {
  model.dataFiles = {"missing"};
  const Result<Hash128> key = keys.staticProgram(model, request);
  ASSERT_FALSE(key);
  EXPECT_EQ(key.error().kind, ErrorKind::System);
  EXPECT_NE(key.error().message().find("missing"), std::string::npos);
}

} // namespace
} // namespace sinter
