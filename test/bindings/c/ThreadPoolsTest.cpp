//===- ThreadPoolsTest.cpp - sessions on threads of their own -------------===//
//
// Covers: bindings/c ThreadPools
// Covers: runtime ThreadPool
//
//===----------------------------------------------------------------------===//

#include "InterfaceFixture.h"

#include <atomic>
#include <cmath>
#include <fstream>
#include <stdexcept>
#include <thread>
#include <utility>

namespace {

using sinter::test::sized, sinter::test::tensor;

/// Enough work that all threads get some.
const std::string wide = R"(
func.func @main(%x: tensor<512x2048xf32>) -> tensor<512x2048xf32> {
  %0 = stablehlo.tanh %x : tensor<512x2048xf32>
  %1 = stablehlo.exponential %0 : tensor<512x2048xf32>
  return %1 : tensor<512x2048xf32>
}
)";

/// The threads of this process.
int threadCount() {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("Threads:"))
      return std::stoi(line.substr(8));
  return 0;
}

/// A host with a thread a task.
struct Host {
  enum class Fault { None, LeavesOut, Repeats } fault;
  std::atomic<int> calls = 0;
  std::atomic<size_t> most = 0;

  static void run(void *user, size_t count, sinter_task task, void *data) {
    auto &host = *static_cast<Host *>(user);
    ++host.calls;
    host.most = std::max<size_t>(host.most, count);
    if (host.fault == Fault::LeavesOut)
      return task(data, count - 1);
    std::vector<std::thread> threads;
    for (size_t i = count; i-- > 0;)
      threads.emplace_back([=, fault = host.fault] {
        task(data, i);
        if (fault == Fault::Repeats) {
          task(data, i);
          task(data, i + 100);
        }
      });
    for (std::thread &each : threads)
      each.join();
  }

  sinter_host_threads given(size_t threads) {
    auto all = sized<sinter_host_threads>();
    all.user = this;
    all.threads = threads;
    all.run = run;
    return all;
  }
};

class CThreadPools : public sinter::test::InterfaceFixture {
protected:
  void TearDown() override {
    InterfaceFixture::TearDown();
    EXPECT_EQ(sinter_thread_pool_free(pool, nullptr), SINTER_OK);
  }

  std::vector<float> run() {
    std::vector<float> x(512 * 2048), y(x.size());
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = std::sin(static_cast<float>(i));
    const std::vector<int64_t> shape = {512, 2048};
    const sinter_tensor input = tensor(x, shape);
    sinter_tensor output = tensor(y, shape);
    EXPECT_EQ(sinter_session_run(session, &input, 1, &output, 1, nullptr,
                                 nullptr, nullptr),
              SINTER_OK);
    return y;
  }

  /// What one thread computes.
  std::vector<float> expected() {
    sinter_session *mine = std::exchange(session, nullptr);
    sinter_options *own = nullptr;
    EXPECT_EQ(sinter_options_new(&own, nullptr), SINTER_OK);
    EXPECT_EQ(sinter_options_set(own, "threads", "1", nullptr), SINTER_OK);
    EXPECT_EQ(sinter_compile(model, own, &session, nullptr), SINTER_OK);
    std::vector<float> y = run();
    EXPECT_EQ(sinter_session_free(session, nullptr), SINTER_OK);
    EXPECT_EQ(sinter_options_free(own, nullptr), SINTER_OK);
    session = mine;
    return y;
  }

  void ofHost(Host &host, size_t threads = 4) {
    const sinter_host_threads given = host.given(threads);
    SINTER_ASSERT_OK(sinter_thread_pool_of_host(&given, &pool, &error));
    SINTER_ASSERT_OK(sinter_options_set_thread_pool(options, pool, &error));
    open(wide);
    compile();
  }

  sinter_thread_pool *pool = nullptr;
};

TEST_F(CThreadPools, ASessionHasThreadsOfItsOwn) {
  open(wide);
  const int before = threadCount();
  SINTER_ASSERT_OK(sinter_thread_pool_new(3, &pool, &error));
  EXPECT_EQ(sinter_thread_pool_size(pool), 3U);
  EXPECT_EQ(threadCount(), before + 2);
  SINTER_ASSERT_OK(sinter_options_set_thread_pool(options, pool, &error));
  compile();
  // The session keeps the threads.
  EXPECT_EQ(sinter_thread_pool_free(pool, nullptr), SINTER_OK);
  pool = nullptr;
  EXPECT_EQ(threadCount(), before + 2);
  const std::vector<float> y = run();
  EXPECT_EQ(sinter_options_set_thread_pool(options, nullptr, nullptr),
            SINTER_OK);
  EXPECT_EQ(sinter_session_free(session, nullptr), SINTER_OK);
  session = nullptr;
  EXPECT_EQ(threadCount(), before);
  EXPECT_EQ(y, expected());
}

TEST_F(CThreadPools, TheHostsThreadsDoTheWork) {
  Host host{Host::Fault::None};
  ofHost(host);
  EXPECT_EQ(sinter_thread_pool_size(pool), 4U);
  EXPECT_EQ(run(), expected());
  EXPECT_GT(host.calls, 0);
  EXPECT_GT(host.most, 1U);
  EXPECT_LE(host.most, 4U);
}

TEST_F(CThreadPools, AHostMayErr) {
  for (const auto fault : {Host::Fault::LeavesOut, Host::Fault::Repeats}) {
    Host host{fault};
    ofHost(host);
    EXPECT_EQ(run(), expected());
    EXPECT_GT(host.calls, 0);
    EXPECT_EQ(sinter_session_free(session, nullptr), SINTER_OK);
    EXPECT_EQ(sinter_model_free(model, nullptr), SINTER_OK);
    EXPECT_EQ(sinter_options_set_thread_pool(options, nullptr, nullptr),
              SINTER_OK);
    EXPECT_EQ(sinter_thread_pool_free(pool, nullptr), SINTER_OK);
    session = nullptr;
    model = nullptr;
    pool = nullptr;
  }
}

TEST_F(CThreadPools, AnExceptionOfTheHostIsAnError) {
  auto host = sized<sinter_host_threads>();
  host.threads = 2;
  host.run = [](void *, size_t, sinter_task task, void *data) {
    task(data, 1);
    throw std::runtime_error("the host has no more threads");
  };
  SINTER_ASSERT_OK(sinter_thread_pool_of_host(&host, &pool, &error));
  SINTER_ASSERT_OK(sinter_options_set_thread_pool(options, pool, &error));
  open(wide);
  compile();
  std::vector<float> x(512 * 2048), y(x.size());
  const std::vector<int64_t> shape = {512, 2048};
  const sinter_tensor input = tensor(x, shape);
  sinter_tensor output = tensor(y, shape);
  SINTER_EXPECT_REFUSED(SINTER_SYSTEM, "the host has no more threads",
                        sinter_session_run(session, &input, 1, &output, 1,
                                           nullptr, nullptr, &error));
}

TEST_F(CThreadPools, SessionsRunSideBySideOnOneHost) {
  Host host{Host::Fault::None};
  ofHost(host, 2);
  const std::vector<float> y = expected();
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&] {
      sinter_binding *binding = nullptr;
      wrong += sinter_binding_new(session, &binding, nullptr) != SINTER_OK;
      std::vector<float> x(512 * 2048), mine(x.size());
      for (size_t i = 0; i < x.size(); ++i)
        x[i] = std::sin(static_cast<float>(i));
      const std::vector<int64_t> shape = {512, 2048};
      const sinter_tensor input = tensor(x, shape),
                          output = tensor(mine, shape);
      wrong += sinter_binding_set_input(binding, 0, &input, nullptr) != 0;
      wrong += sinter_binding_set_output(binding, 0, &output, nullptr) != 0;
      for (int times = 0; times < 5; ++times) {
        wrong += sinter_binding_run(binding, nullptr, nullptr) != SINTER_OK;
        wrong += mine != y;
      }
      wrong += sinter_binding_free(binding, nullptr) != SINTER_OK;
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(CThreadPools, WrongArgumentsAreRefused) {
  Host host{Host::Fault::None};
  sinter_host_threads given = host.given(0);
  SINTER_EXPECT_REFUSED(SINTER_USAGE, "host.threads is 0",
                        sinter_thread_pool_of_host(&given, &pool, &error));
  given.threads = 2000;
  SINTER_EXPECT_REFUSED(SINTER_USAGE, "1 to 1024",
                        sinter_thread_pool_of_host(&given, &pool, &error));
  given = host.given(2);
  given.run = nullptr;
  SINTER_EXPECT_REFUSED(SINTER_USAGE, "host.run is NULL",
                        sinter_thread_pool_of_host(&given, &pool, &error));
  given = host.given(2);
  given.struct_size = 0;
  SINTER_EXPECT_REFUSED(SINTER_USAGE, "struct_size",
                        sinter_thread_pool_of_host(&given, &pool, &error));
  SINTER_EXPECT_REFUSED(SINTER_USAGE, "host is NULL",
                        sinter_thread_pool_of_host(nullptr, &pool, &error));
  SINTER_EXPECT_REFUSED(SINTER_USAGE, "pool is NULL",
                        sinter_thread_pool_new(2, nullptr, &error));
  SINTER_EXPECT_REFUSED(SINTER_USAGE, "a pool has up to",
                        sinter_thread_pool_new(SIZE_MAX, &pool, &error));
  EXPECT_EQ(sinter_thread_pool_size(nullptr), 0U);
  SINTER_ASSERT_OK(sinter_thread_pool_new(1, &pool, &error));
  sinter_thread_pool *freed = std::exchange(pool, nullptr);
  SINTER_ASSERT_OK(sinter_thread_pool_free(freed, &error));
  SINTER_EXPECT_REFUSED(SINTER_USAGE, "freed",
                        sinter_options_set_thread_pool(options, freed, &error));
}

} // namespace
