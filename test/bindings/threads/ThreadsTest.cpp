//===- ThreadsTest.cpp - threads in the C interface -----------------------===//
//
// With the compiler of SessionTest, which needs no MLIR: so the thread
// sanitizer sees all that happens. Its model takes x, i32 from 1 to 1000, and
// gives x + 1, 10 and 42.
//
// Covers: bindings/c Binding Handles HostAllocator Session ThreadPools
//
//===----------------------------------------------------------------------===//

#include "sinter.h"

#include "TemporaryFolder.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

/// An input and outputs of SIZE elements.
class Arrays {
public:
  explicit Arrays(int64_t size) : x(static_cast<size_t>(size)), y(x.size()) {
    shape[0] = size;
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = static_cast<int32_t>(3 * i);
  }

  sinter_tensor input() { return of(x.data(), 1); }
  sinter_tensor output(size_t index) {
    return index == 0 ? of(y.data(), 1) : of(&numbers[index - 1], 0);
  }
  bool isRight() const {
    for (size_t i = 0; i < x.size(); ++i)
      if (y[i] != x[i] + 1)
        return false;
    return numbers[0] == 10 && numbers[1] == 42;
  }

private:
  sinter_tensor of(int32_t *data, int32_t rank) const {
    return {sizeof(sinter_tensor), SINTER_I32, rank, shape, nullptr, data};
  }

  int64_t shape[1];
  std::vector<int32_t> x, y;
  int32_t numbers[2] = {};
};

class CThreads : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_EQ(sinter_set_compiler_library(SINTER_TEST_COMPILER, nullptr),
              SINTER_OK);
    ASSERT_EQ(sinter_options_new(&options, nullptr), SINTER_OK);
    set("no-cache", "true");
    folder.write("model.onnx", "any");
    ASSERT_EQ(sinter_model_open(folder.file("model.onnx").c_str(), options,
                                &model, nullptr),
              SINTER_OK);
    set("threads", "2");
    set("static", "true");
    compile(session);
  }

  void TearDown() override {
    EXPECT_EQ(sinter_session_free(session, nullptr), SINTER_OK);
    EXPECT_EQ(sinter_model_free(model, nullptr), SINTER_OK);
    EXPECT_EQ(sinter_options_free(options, nullptr), SINTER_OK);
    EXPECT_EQ(wrong, 0);
  }

  void set(const char *name, const char *value) {
    ASSERT_EQ(sinter_options_set(options, name, value, nullptr), SINTER_OK);
  }

  void compile(sinter_session *&made) {
    sinter_error *error = nullptr;
    ASSERT_EQ(sinter_compile(model, options, &made, &error), SINTER_OK)
        << sinter_error_message(error);
  }

  /// A run on SIZE elements; what it gave is right.
  sinter_status run(sinter_session *of, int64_t size,
                    const sinter_cancellation *cancellation = nullptr) {
    Arrays arrays(size);
    const sinter_tensor input = arrays.input();
    sinter_tensor outputs[] = {arrays.output(0), arrays.output(1),
                               arrays.output(2)};
    const sinter_status status = sinter_session_run(
        of, &input, 1, outputs, 3, nullptr, cancellation, nullptr);
    wrong += status == SINTER_OK && !arrays.isRight();
    return status;
  }

  /// TIMES runs of a binding on SIZE elements.
  void runBinding(sinter_session *of, int64_t size, int times) {
    Arrays arrays(size);
    sinter_binding *binding = nullptr;
    wrong += sinter_binding_new(of, &binding, nullptr) != SINTER_OK;
    const sinter_tensor input = arrays.input();
    wrong += sinter_binding_set_input(binding, 0, &input, nullptr) != SINTER_OK;
    for (size_t i = 0; i < 3; ++i) {
      const sinter_tensor output = arrays.output(i);
      wrong +=
          sinter_binding_set_output(binding, i, &output, nullptr) != SINTER_OK;
    }
    for (int i = 0; i < times; ++i) {
      wrong += sinter_binding_run(binding, nullptr, nullptr) != SINTER_OK;
      wrong += !arrays.isRight();
    }
    wrong += sinter_binding_free(binding, nullptr) != SINTER_OK;
  }

  void inThreads(int count, const std::function<void(int)> &body) {
    std::vector<std::thread> threads;
    for (int i = 0; i < count; ++i)
      threads.emplace_back([&body, i] { body(i); });
    for (std::thread &thread : threads)
      thread.join();
  }

  sinter::test::TemporaryFolder folder;
  sinter_options *options = nullptr;
  sinter_model *model = nullptr;
  sinter_session *session = nullptr;
  std::atomic<int> wrong = 0;
};

TEST_F(CThreads, RunSideBySide) {
  inThreads(4, [&](int number) {
    for (int i = 0; i < 30; ++i)
      wrong += run(session, 100) != SINTER_OK;
    runBinding(session, 100 + number, 30);
  });
}

TEST_F(CThreads, CompileBesideRuns) {
  inThreads(3, [&](int number) {
    for (int64_t size = 1; size < 30; ++size) {
      wrong += run(session, number == 0 ? 7 : size + 40 * number) != SINTER_OK;
      if (number != 2)
        continue;
      sinter_session *made = nullptr;
      wrong += sinter_compile(model, options, &made, nullptr) != SINTER_OK;
      wrong += run(made, size) != SINTER_OK;
      wrong += sinter_session_free(made, nullptr) != SINTER_OK;
    }
  });
}

TEST_F(CThreads, CancelWhileOthersRun) {
  sinter_cancellation *cancellation = nullptr;
  ASSERT_EQ(sinter_cancellation_new(&cancellation, nullptr), SINTER_OK);
  std::atomic<int> running = 3;
  inThreads(4, [&](int number) {
    if (number == 0) {
      while (running > 0) {
        sinter_cancellation_cancel(cancellation);
        std::this_thread::yield();
        sinter_cancellation_reset(cancellation);
        std::this_thread::yield();
      }
      return;
    }
    for (int i = 0; i < 50; ++i) {
      const sinter_status status = run(session, 500, cancellation);
      wrong += status != SINTER_OK && status != SINTER_CANCELLED;
    }
    --running;
  });
  sinter_cancellation_free(cancellation);
}

TEST_F(CThreads, FreeWhileOthersRunIsAnErrorOfOneOfThem) {
  for (int times = 0; times < 20; ++times) {
    sinter_session *shared = nullptr;
    compile(shared);
    inThreads(4, [&](int number) {
      if (number == 0) {
        while (sinter_session_free(shared, nullptr) == SINTER_USAGE)
          std::this_thread::yield();
        return;
      }
      sinter_status status = SINTER_OK;
      while (status == SINTER_OK) {
        status = run(shared, 20);
        // Else somebody always runs.
        std::this_thread::sleep_for(std::chrono::microseconds(200));
      }
      wrong += status != SINTER_USAGE;
    });
  }
}

TEST_F(CThreads, ShareOptionsAndModels) {
  inThreads(4, [&](int number) {
    for (int i = 0; i < 20; ++i) {
      if (number == 0)
        wrong += sinter_options_set_log(
                     options, [](void *, const char *) {}, nullptr, nullptr) !=
                 SINTER_OK;
      sinter_session *made = nullptr;
      wrong += sinter_compile(model, options, &made, nullptr) != SINTER_OK;
      wrong += sinter_session_state_count(made) != 0;
      wrong += run(made, 5) != SINTER_OK;
      sinter_snapshot *snapshot = nullptr;
      wrong += sinter_session_snapshot(made, &snapshot, nullptr) != SINTER_OK;
      wrong += sinter_session_restore(made, snapshot, nullptr) != SINTER_OK;
      wrong += sinter_snapshot_data(snapshot, nullptr) == nullptr;
      sinter_snapshot_free(snapshot);
      wrong += sinter_session_free(made, nullptr) != SINTER_OK;
    }
  });
}

void runTasks(void *, size_t count, sinter_task task, void *data) {
  std::vector<std::thread> threads;
  for (size_t i = 1; i < count; ++i)
    threads.emplace_back([=] { task(data, i); });
  task(data, 0);
  for (std::thread &thread : threads)
    thread.join();
}

TEST_F(CThreads, PoolsOfTheirOwnAndOfTheHost) {
  const sinter_host_threads host = {sizeof(host), nullptr, 3, runTasks};
  for (const bool isHosts : {false, true}) {
    sinter_thread_pool *pool = nullptr;
    ASSERT_EQ(isHosts ? sinter_thread_pool_of_host(&host, &pool, nullptr)
                      : sinter_thread_pool_new(3, &pool, nullptr),
              SINTER_OK);
    ASSERT_EQ(sinter_options_set_thread_pool(options, pool, nullptr),
              SINTER_OK);
    sinter_session *shared = nullptr;
    compile(shared);
    ASSERT_EQ(sinter_thread_pool_free(pool, nullptr), SINTER_OK);
    inThreads(3, [&](int) {
      for (int i = 0; i < 10; ++i)
        wrong += run(shared, 1000) != SINTER_OK;
      runBinding(shared, 1000, 10);
    });
    ASSERT_EQ(sinter_session_free(shared, nullptr), SINTER_OK);
  }
  ASSERT_EQ(sinter_options_set_thread_pool(options, nullptr, nullptr),
            SINTER_OK);
}

TEST_F(CThreads, AllocateSideBySide) {
  std::atomic<int> live = 0;
  const sinter_allocator allocator = {
      sizeof(allocator), &live,
      [](void *user, size_t size, size_t alignment) {
        ++*static_cast<std::atomic<int> *>(user);
        return std::aligned_alloc(alignment, (size + alignment - 1) /
                                                 alignment * alignment);
      },
      [](void *user, void *memory, size_t, size_t) {
        --*static_cast<std::atomic<int> *>(user);
        std::free(memory);
      }};
  ASSERT_EQ(sinter_options_set_allocator(options, &allocator, nullptr),
            SINTER_OK);
  sinter_session *shared = nullptr;
  compile(shared);
  ASSERT_EQ(sinter_options_set_allocator(options, nullptr, nullptr), SINTER_OK);
  inThreads(4, [&](int) {
    for (int i = 0; i < 20; ++i) {
      Arrays arrays(300);
      const sinter_tensor input = arrays.input();
      sinter_tensor outputs[3] = {};
      for (sinter_tensor &each : outputs)
        each.struct_size = sizeof(each);
      sinter_value *values[3] = {};
      wrong += sinter_session_run(shared, &input, 1, outputs, 3, values,
                                  nullptr, nullptr) != SINTER_OK;
      wrong += static_cast<const int32_t *>(outputs[0].data)[2] != 7;
      for (sinter_value *each : values)
        sinter_value_free(each);
    }
  });
  EXPECT_GT(live, 0);
  ASSERT_EQ(sinter_session_free(shared, nullptr), SINTER_OK);
  EXPECT_EQ(live, 0);
}

} // namespace
