// Covers: runtime Hash

#include "runtime/Cache.h"
#include "TemporaryFolder.h"
#include "runtime/MappedFile.h"
#include "runtime/TestProgram.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

using namespace sinter;
using sinter::test::TemporaryFolder;

namespace {

TEST(HashTest, BordersCount) {
  EXPECT_NE(Hasher().add("ab").add("c").finish(),
            Hasher().add("a").add("bc").finish());
  EXPECT_EQ(Hasher().add("ab").finish(), Hasher().add("ab").finish());
  // XXH3-128 of nothing, as published.
  EXPECT_EQ(hashOf({}).text(), "99aa06d3014798d86001c324468d497f");
}

TEST(CacheTest, KeyDependsOnEverything) {
  auto file = std::as_bytes(std::span("model", 5));
  Hash128 plain = ProgramKey().addFile(file).finish();
  EXPECT_EQ(plain, ProgramKey().addFile(file).finish());
  EXPECT_NE(plain, ProgramKey().addFile(file).addOptions("-O").finish());
  EXPECT_NE(plain, ProgramKey().addFile(file.first(4)).finish());
}

TEST(CacheTest, DefaultFolder) {
  ::setenv("XDG_CACHE_HOME", "/x", 1);
  EXPECT_EQ(defaultCacheFolder(), "/x/sinter");
  ::setenv("XDG_CACHE_HOME", "relative", 1);
  ::setenv("HOME", "/h", 1);
  EXPECT_EQ(defaultCacheFolder(), "/h/.cache/sinter");
  ::unsetenv("XDG_CACHE_HOME");
}

#if defined(__x86_64__)

using sinter::test::testProgram;

TEST(CacheTest, FindsWhatWasStored) {
  TemporaryFolder folder;
  ProgramCache cache(folder.file("deep/er"),
                     [](const std::string &m) { FAIL() << m; });
  const Hash128 key{1, 2}, other{1, 3};
  EXPECT_FALSE(cache.lookup(key));
  cache.store(key, testProgram());
  EXPECT_TRUE(cache.lookup(key));
  EXPECT_FALSE(cache.lookup(other));
}

/// Code that calls functions of this process is of no use to others.
TEST(CacheTest, ProgramsOfAProcessAreNotKept) {
  TemporaryFolder folder;
  ProgramCache cache(folder.path(), [](const std::string &m) { FAIL() << m; });
  Program program = testProgram();
  program.isOfProcess = true;
  cache.store({1, 2}, program);
  EXPECT_FALSE(cache.lookup({1, 2}));
  EXPECT_EQ(folder.entries(), 0u);
}

TEST(CacheTest, DamagedEntryIsAbsent) {
  TemporaryFolder folder;
  int warnings = 0;
  ProgramCache cache(folder.path(), [&](const std::string &) { ++warnings; });
  const Hash128 key{1, 2};
  cache.store(key, testProgram());
  ASSERT_TRUE(writeFileAtomically(folder.file(key.text() + ".sinter"), "?"));
  EXPECT_FALSE(cache.lookup(key));
  EXPECT_EQ(warnings, 1);
  EXPECT_EQ(folder.entries(), 0u);
}

TEST(CacheTest, DamagedConstantsAreAbsent) {
  TemporaryFolder folder;
  std::string told;
  ProgramCache cache(folder.path(), [&](const std::string &m) { told = m; });
  const Hash128 key{1, 2};
  cache.store(key, testProgram());
  std::string file = *readFile(folder.file(key.text() + ".sinter"));
  file.back() ^= 1;
  folder.write(key.text() + ".sinter", file);
  EXPECT_FALSE(cache.lookup(key));
  EXPECT_NE(told.find("compiled anew"), std::string::npos) << told;
  EXPECT_EQ(folder.entries(), 0u);
  cache.store(key, testProgram());
  EXPECT_TRUE(cache.lookup(key));
}

TEST(CacheTest, ManyAtOnce) {
  TemporaryFolder folder;
  std::vector<std::thread> users;
  std::atomic<int> wrong = 0;
  // Several caches of one folder, as processes have them; little room.
  for (uint64_t user = 0; user < 4; ++user)
    users.emplace_back([&, user] {
      ProgramCache cache(
          folder.path(), [&](const std::string &) { ++wrong; },
          uint64_t(1) << 19);
      for (uint64_t round = 0; round < 25; ++round) {
        const Hash128 key{(user + round) % 5, 0};
        if (auto found = cache.lookup(key))
          wrong += found->constants.size() != 2;
        else
          cache.store(key, testProgram());
      }
    });
  for (std::thread &user : users)
    user.join();
  EXPECT_EQ(wrong, 0);
}

TEST(CacheTest, EntryBehindALink) {
  TemporaryFolder folder;
  ProgramCache cache(folder.path(), {});
  const Hash128 key{1, 2};
  const std::string entry = folder.file(key.text() + ".sinter");
  // What the link points to is nobody's program and stays as it is.
  folder.write("precious", "text");
  std::filesystem::create_symlink(folder.file("precious"), entry);
  EXPECT_FALSE(cache.lookup(key));
  EXPECT_FALSE(std::filesystem::is_symlink(entry));
  EXPECT_EQ(*readFile(folder.file("precious")), "text");
}

TEST(CacheTest, LeastRecentlyUsedGoes) {
  TemporaryFolder folder;
  const uint64_t entryBytes = [&] {
    ProgramCache probe(folder.file("probe"), {});
    probe.store({}, testProgram());
    return readFile(folder.file("probe/" + Hash128().text() + ".sinter"))
        ->size();
  }();
  const auto tick = [] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  };
  ProgramCache cache(folder.file("c"), {}, 2 * entryBytes);
  cache.store({1, 0}, testProgram());
  tick();
  cache.store({2, 0}, testProgram());
  tick();
  EXPECT_TRUE(cache.lookup({1, 0}));
  tick();
  cache.store({3, 0}, testProgram());
  EXPECT_TRUE(cache.lookup({1, 0}));
  EXPECT_FALSE(cache.lookup({2, 0}));
  EXPECT_TRUE(cache.lookup({3, 0}));
}

TEST(CacheTest, UnusableFolderWarnsOnce) {
  int warnings = 0;
  ProgramCache cache("/dev/null/none",
                     [&](const std::string &) { ++warnings; });
  cache.store({}, testProgram());
  cache.store({}, testProgram());
  EXPECT_FALSE(cache.lookup({}));
  EXPECT_EQ(warnings, 1);
  ProgramCache none("", [&](const std::string &) { ++warnings; });
  none.store({}, testProgram());
  EXPECT_EQ(warnings, 1);
}

#endif

} // namespace
