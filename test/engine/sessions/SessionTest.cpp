//===- SessionTest.cpp - sessions, their cache and their threads ----------===//
//
// With the compiler of TestCompiler.cpp.
//
//===----------------------------------------------------------------------===//
//
// Covers: engine ModelCache Session SessionExecutors SessionModel
// Covers: engine SessionOptions SessionPrograms SessionSizes

#include "engine/Session.h"
#include "TemporaryFolder.h"
#include "engine/CompilerLibrary.h"
#include "runtime/MappedFile.h"
#include "runtime/ProgramFile.h"
#include "runtime/ThreadPool.h"

#include <atomic>
#include <barrier>
#include <csignal>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <thread>

namespace sinter {
namespace {

namespace fs = std::filesystem;
using test::TemporaryFolder;

Tensor numbers(int64_t size, int32_t first) {
  Tensor tensor(ElementType::I32, {size});
  for (int64_t i = 0; i < size; ++i)
    tensor.set<int32_t>(i, first + static_cast<int32_t>(i));
  return tensor;
}

/// What is wrong with the results for \p input.
std::string wrongIn(const Result<std::vector<Tensor>> &results,
                    const Tensor &input) {
  if (!results)
    return results.error().message();
  for (int64_t i = 0; i < input.size(); ++i)
    if ((*results)[0].at<int32_t>(i) != input.at<int32_t>(i) + 1)
      return "element " + std::to_string(i);
  return (*results)[1].at<int32_t>(0) == 10 ? "" : "the loop's count";
}

/// A model's file and a cache.
class SessionTest : public testing::Test {
protected:
  SessionTest() {
    const Result<void> set = setCompilerLibrary(SINTER_TEST_COMPILER);
    EXPECT_TRUE(set) << set.error().message();
    folder.write("model.onnx", "any");
  }

  SessionOptions options() {
    SessionOptions options;
    options.cacheFolder = folder.file("cache");
    options.threads = 2;
    options.dynamicSizes = DynamicSizes::None;
    options.note = [this](const std::string &text) {
      const std::lock_guard lock(mutex);
      notes += text + "\n";
    };
    return options;
  }

  /// Opens a session and runs it once; what is wrong, or "".
  std::string runOnce(int64_t size, bool *fromCache = nullptr) {
    return runOnce(options(), size, fromCache);
  }
  std::string runOnce(SessionOptions how, int64_t size,
                      bool *fromCache = nullptr) {
    auto session = Session::open(folder.file("model.onnx"), std::move(how));
    if (!session)
      return session.error().message();
    const Tensor input = numbers(size, 5);
    if (auto ready = (*session)->prepare(std::span(&input, 1)); !ready)
      return ready.error().message();
    if (fromCache)
      *fromCache = (*session)->facts().fromCache;
    return wrongIn((*session)->executor().run(std::span(&input, 1)), input);
  }

  /// The programs in the cache.
  std::vector<fs::path> entries() const {
    std::vector<fs::path> found;
    for (const auto &entry : fs::directory_iterator(folder.file("cache")))
      if (entry.path().string().find("-model") == std::string::npos &&
          entry.path().string().find("-static") == std::string::npos)
        found.push_back(entry.path());
    return found;
  }

  TemporaryFolder folder;
  std::mutex mutex;
  std::string notes;
};

TEST_F(SessionTest, SideBySide) {
  std::vector<std::thread> users;
  std::vector<std::string> wrong(4);
  std::barrier together(4);
  for (int32_t user = 0; user < 4; ++user)
    users.emplace_back([&, user] {
      together.arrive_and_wait();
      auto session = Session::open(folder.file("model.onnx"), options());
      if (!session) {
        wrong[user] = session.error().message();
        return;
      }
      for (int64_t round = 0; round < 20 && wrong[user].empty(); ++round) {
        // A new shape now and then: a program of its own, on the same threads.
        const Tensor input = numbers(500 + round / 5 * 100 + user, user);
        if (auto ready = (*session)->prepare(std::span(&input, 1)); !ready)
          wrong[user] = ready.error().message();
        for (int run = 0; run < 5 && wrong[user].empty(); ++run)
          wrong[user] =
              wrongIn((*session)->executor().run(std::span(&input, 1)), input);
      }
    });
  for (std::thread &user : users)
    user.join();
  for (const std::string &text : wrong)
    EXPECT_EQ(text, "");
  EXPECT_EQ(notes, "");
}

TEST_F(SessionTest, ThreadsShareASession) {
  auto session = Session::open(folder.file("model.onnx"), options());
  ASSERT_TRUE(session);
  const Tensor any = numbers(1000, 0);
  ASSERT_TRUE((*session)->prepare(std::span(&any, 1)));
  std::vector<std::thread> users;
  std::vector<std::string> wrong(4);
  for (int32_t user = 0; user < 4; ++user)
    users.emplace_back([&, user] {
      const Tensor input = numbers(1000, user);
      // Half of them with executors of their own.
      std::unique_ptr<Executor> own;
      if (user % 2 == 1) {
        const std::lock_guard lock(mutex);
        own = std::move(*(*session)->anotherExecutor());
      }
      Executor &executor = own ? *own : (*session)->executor();
      for (int run = 0; run < 100 && wrong[user].empty(); ++run)
        wrong[user] = wrongIn(executor.run(std::span(&input, 1)), input);
    });
  for (std::thread &user : users)
    user.join();
  for (const std::string &text : wrong)
    EXPECT_EQ(text, "");
}

/// Threads prepare for inputs of their own, and run what they get.
TEST_F(SessionTest, ThreadsPrepareInOneSession) {
  SessionOptions how = options();
  how.cacheFolder.clear();
  auto session = Session::open(folder.file("model.onnx"), how);
  ASSERT_TRUE(session);
  std::vector<std::thread> users;
  std::vector<std::string> wrong(4);
  for (int32_t user = 0; user < 4; ++user)
    users.emplace_back([&, user] {
      for (int64_t round = 0; round < 20 && wrong[user].empty(); ++round) {
        const Tensor input = numbers(100 + 10 * user + round % 3, user);
        auto executor = (*session)->executorFor(std::span(&input, 1));
        if (!executor) {
          wrong[user] = executor.error().message();
          return;
        }
        // Others may be prepared meanwhile.
        for (int run = 0; run < 5 && wrong[user].empty(); ++run)
          wrong[user] = wrongIn((*executor)->run(std::span(&input, 1)), input);
        const std::vector<std::optional<Tensor>> given = {input};
        if ((*session)->model().inputs.size() != 1 ||
            !(*session)->bind(given) || (*session)->facts().compileMs < 0)
          wrong[user] = "the session's facts";
      }
    });
  for (std::thread &user : users)
    user.join();
  for (const std::string &text : wrong)
    EXPECT_EQ(text, "");
}

/// Who compiles keeps nobody from running, or making executors for, what is
/// ready.
TEST_F(SessionTest, RunsDoNotWaitForACompilation) {
  std::mutex open;
  std::atomic<bool> isCompiling = false;
  SessionOptions how = options();
  how.cacheFolder.clear();
  how.choice = [&](const std::string &size) {
    if (size != "77")
      return;
    isCompiling = true;
    const std::lock_guard lock(open);
  };
  auto session = Session::open(folder.file("model.onnx"), how);
  ASSERT_TRUE(session);
  const Tensor input = numbers(10, 3), other = numbers(77, 4);
  ASSERT_TRUE((*session)->prepare(std::span(&input, 1)));
  std::string wrong;
  std::unique_lock closed(open);
  std::thread compiler([&] {
    auto executor = (*session)->executorFor(std::span(&other, 1));
    wrong = executor ? wrongIn((*executor)->run(std::span(&other, 1)), other)
                     : executor.error().message();
  });
  while (!isCompiling)
    std::this_thread::yield();
  const std::shared_ptr<Executor> ready = (*session)->readyExecutor();
  EXPECT_EQ(wrongIn(ready->run(std::span(&input, 1)), input), "");
  auto another = (*session)->anotherExecutor(2);
  ASSERT_TRUE(another);
  EXPECT_EQ(wrongIn((*another)->run(std::span(&input, 1)), input), "");
  closed.unlock();
  compiler.join();
  EXPECT_EQ(wrong, "");
  // What was ready before still runs.
  EXPECT_NE((*session)->readyExecutor(), ready);
  EXPECT_EQ(wrongIn(ready->run(std::span(&input, 1)), input), "");
}

TEST_F(SessionTest, AnotherExecutorHasTheThreadsThatAreWanted) {
  SessionOptions how = options();
  how.threads = 3;
  auto session = Session::open(folder.file("model.onnx"), how);
  ASSERT_TRUE(session);
  const Tensor input = numbers(1000, 0);
  ASSERT_TRUE((*session)->prepare(std::span(&input, 1)));
  for (const auto &[wanted, expected] :
       {std::pair(1u, 1u), {2u, 2u}, {3u, 3u}, {0u, 3u}}) {
    auto executor = (*session)->anotherExecutor(wanted);
    ASSERT_TRUE(executor);
    (*executor)->setProfiling(true);
    ASSERT_TRUE((*executor)->run(std::span(&input, 1)));
    // Its work is worth more threads than there are.
    EXPECT_EQ((*executor)->layerTimes()[0].threads, expected);
  }
}

TEST_F(SessionTest, AnotherExecutorRunsOnAPoolOfItsOwn) {
  auto session = Session::open(folder.file("model.onnx"), options());
  ASSERT_TRUE(session);
  const Tensor input = numbers(1000, 0);
  ASSERT_TRUE((*session)->prepare(std::span(&input, 1)));
  std::atomic<int> calls = 0;
  auto pool = std::make_shared<ThreadPool>(
      2, [&](size_t count, void (*task)(void *, size_t), void *data) {
        ++calls;
        for (size_t i = 0; i < count; ++i)
          task(data, i);
      });
  auto executor = (*session)->anotherExecutor(2, pool);
  ASSERT_TRUE(executor);
  EXPECT_EQ(wrongIn((*executor)->run(std::span(&input, 1)), input), "");
  const int own = calls;
  EXPECT_GT(own, 0);
  EXPECT_EQ(wrongIn((*session)->executor().run(std::span(&input, 1)), input),
            "");
  EXPECT_EQ(calls, own);
}

TEST_F(SessionTest, AFailedPrepareLeavesWhatIsReady) {
  auto session = Session::open(folder.file("model.onnx"), options());
  ASSERT_TRUE(session);
  const Tensor input = numbers(10, 3), tooLong = numbers(1001, 4);
  ASSERT_TRUE((*session)->prepare(std::span(&input, 1)));
  const std::shared_ptr<Executor> ready = (*session)->readyExecutor();
  EXPECT_FALSE((*session)->executorFor(std::span(&tooLong, 1)));
  EXPECT_NE((*session)->readyExecutor(), nullptr);
  EXPECT_EQ(wrongIn((*session)->executor().run(std::span(&input, 1)), input),
            "");
}

size_t threadsOfProcess() {
  return std::distance(fs::directory_iterator("/proc/self/task"),
                       fs::directory_iterator());
}

TEST_F(SessionTest, NewShapesAndSessionsMakeNoThreads) {
  SessionOptions how = options();
  how.threads = 3;
  auto first = Session::open(folder.file("model.onnx"), how);
  ASSERT_TRUE(first);
  Tensor input = numbers(10, 0);
  ASSERT_TRUE((*first)->prepare(std::span(&input, 1)));
  const size_t before = threadsOfProcess();
  auto second = Session::open(folder.file("model.onnx"), how);
  for (int64_t size : {20, 30, 1000}) {
    input = numbers(size, 0);
    for (auto *session : {&*first, &*second}) {
      ASSERT_TRUE((*session)->prepare(std::span(&input, 1)));
      EXPECT_EQ(
          wrongIn((*session)->executor().run(std::span(&input, 1)), input), "");
    }
  }
  EXPECT_EQ(threadsOfProcess(), before);
}

TEST_F(SessionTest, DamagedProgramsAreCompiledAnew) {
  bool fromCache = false;
  EXPECT_EQ(runOnce(100, &fromCache), "");
  EXPECT_FALSE(fromCache);
  EXPECT_EQ(runOnce(100, &fromCache), "");
  EXPECT_TRUE(fromCache);
  EXPECT_EQ(notes, "");
  ASSERT_EQ(entries().size(), 1u);
  const auto entry = entries()[0];
  // Constants stand at the end.
  std::string bytes = *readFile(entry.string());
  bytes[bytes.size() - 2] ^= 0x10;
  std::ofstream(entry, std::ios::binary) << bytes;
  EXPECT_EQ(runOnce(100, &fromCache), "");
  EXPECT_FALSE(fromCache);
  EXPECT_NE(notes.find("compiled anew"), std::string::npos) << notes;
  EXPECT_NE(notes.find("checksum"), std::string::npos) << notes;
  notes.clear();
  EXPECT_EQ(runOnce(100, &fromCache), "");
  EXPECT_TRUE(fromCache);
  EXPECT_EQ(notes, "");
}

/// A program that was compiled where the machine had more.
TEST_F(SessionTest, ProgramsThatDoNotRunHereAreCompiledAnew) {
  bool fromCache = false;
  EXPECT_EQ(runOnce(100), "");
  ASSERT_EQ(entries().size(), 1u);
  const std::string entry = entries()[0].string();
  {
    auto kept = loadProgram(entry);
    ASSERT_TRUE(kept) << kept.error().message();
    Program other = **kept;
    other.features.emplace_back("amx-tile-of-tomorrow");
    ASSERT_TRUE(saveProgram(other, entry));
  }
  EXPECT_EQ(runOnce(100, &fromCache), "");
  EXPECT_FALSE(fromCache);
  EXPECT_NE(notes.find("compiled anew"), std::string::npos) << notes;
  EXPECT_NE(notes.find("amx-tile-of-tomorrow"), std::string::npos) << notes;
  notes.clear();
  EXPECT_EQ(runOnce(100, &fromCache), "");
  EXPECT_TRUE(fromCache);
  EXPECT_EQ(notes, "");
}

/// What code is made for and how it computes keeps programs apart.
TEST_F(SessionTest, EveryWayToComputeHasItsProgram) {
  std::vector<SessionOptions> ways(5, options());
  ways[1].precision = Precision::Exact;
  ways[2].precision = Precision::BFloat16;
  ways[3].features = "-amx-tile";
  ways[4].denormals = Denormals::Keep;
  for (const bool isKept : {false, true})
    for (const SessionOptions &way : ways) {
      bool fromCache = false;
      EXPECT_EQ(runOnce(way, 100, &fromCache), "");
      EXPECT_EQ(fromCache, isKept);
    }
  EXPECT_EQ(entries().size(), ways.size());
  EXPECT_EQ(notes, "");
}

/// What is not opened is compiled for each size, and that is found out once.
TEST_F(SessionTest, RefusalsToOpenAreKept) {
  const std::string why = "the program is for these sizes only: the test's "
                          "compiler opens nothing\n";
  for (DynamicSizes sizes : {DynamicSizes::Unknown, DynamicSizes::Wanted}) {
    SessionOptions how = options();
    how.dynamicSizes = sizes;
    notes.clear();
    auto session = Session::open(folder.file("model.onnx"), how);
    ASSERT_TRUE(session);
    for (int64_t size : {40, 50, 40}) {
      const Tensor input = numbers(size, 5);
      ASSERT_TRUE((*session)->prepare(std::span(&input, 1)));
      EXPECT_EQ(
          wrongIn((*session)->executor().run(std::span(&input, 1)), input), "");
    }
    // The reason is kept, whoever asked first, and said once.
    EXPECT_EQ(notes, sizes == DynamicSizes::Unknown ? why : "");
    // Programs of known sizes are the same, whoever asked for them.
    EXPECT_EQ(entries().size(), 2u);
    bool fromCache = false;
    EXPECT_EQ(runOnce(how, 40, &fromCache), "");
    EXPECT_TRUE(fromCache);
    how.dynamicSizes = DynamicSizes::None;
    EXPECT_EQ(runOnce(how, 50, &fromCache), "");
    EXPECT_TRUE(fromCache);
  }
}

TEST_F(SessionTest, SizesKeepToTheirBounds) {
  SessionOptions how = options();
  how.most = {{"N", 100}};
  EXPECT_EQ(runOnce(how, 100), "");
  EXPECT_NE(runOnce(how, 101).find("dimension N is 101 in input 'x', and at "
                                   "most 100"),
            std::string::npos);
  how.most = {{"M", 100}};
  EXPECT_NE(runOnce(how, 100).find("no dynamic dimension is called 'M'"),
            std::string::npos);
}

TEST_F(SessionTest, DamagedDescriptionsAreReadAnew) {
  EXPECT_EQ(runOnce(100), "");
  for (const auto &entry : fs::directory_iterator(folder.file("cache")))
    if (entry.path().string().find("-model") != std::string::npos)
      std::ofstream(entry.path()) << "{\"inputs\": 7";
  EXPECT_EQ(runOnce(100), "");
}

TEST_F(SessionTest, CacheThatCannotBeUsedIsNoted) {
  folder.write("file", "");
  SessionOptions how = options();
  how.cacheFolder = folder.file("file") + "/cache";
  EXPECT_EQ(runOnce(how, 100), "");
  EXPECT_NE(notes.find("not cached"), std::string::npos) << notes;
  // A link that leads nowhere.
  fs::create_symlink(folder.file("nowhere/deep"), folder.file("link"));
  how = options();
  how.cacheFolder = folder.file("link");
  notes.clear();
  EXPECT_EQ(runOnce(how, 100), "");
  EXPECT_NE(notes.find("not cached"), std::string::npos) << notes;
  // One that leads to a folder.
  fs::create_directory(folder.file("real"));
  fs::create_symlink(folder.file("real"), folder.file("good"));
  how = options();
  how.cacheFolder = folder.file("good");
  notes.clear();
  bool fromCache = false;
  EXPECT_EQ(runOnce(how, 100), "");
  EXPECT_EQ(runOnce(how, 100, &fromCache), "");
  EXPECT_TRUE(fromCache);
  EXPECT_EQ(notes, "");
}

/// A disk without room, as a limit for files: nothing half written stays.
TEST_F(SessionTest, NoRoomInTheCache) {
  fs::create_directory(folder.file("cache"));
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto signal = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit little{10000, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &little), 0);
  const std::string wrong = runOnce(100);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, signal);
  EXPECT_EQ(wrong, "");
  EXPECT_NE(notes.find("not cached"), std::string::npos) << notes;
  EXPECT_TRUE(entries().empty());
}

} // namespace
} // namespace sinter
