//===- SafetyTest.cpp - threads and processes around the C interface ------===//
//
// Covers: bindings/c Binding Handles Session
//
//===----------------------------------------------------------------------===//

#include "InterfaceFixture.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace {

using sinter::test::sized, sinter::test::tensor;

/// Runs until it is cancelled.
const std::string endless = R"(
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %one = stablehlo.constant dense<1.0> : tensor<2xf32>
  %true = stablehlo.constant dense<true> : tensor<i1>
  %0 = stablehlo.while(%a = %x) : tensor<2xf32>
  cond {
    stablehlo.return %true : tensor<i1>
  } do {
    %1 = stablehlo.add %a, %one : tensor<2xf32>
    stablehlo.return %1 : tensor<2xf32>
  }
  return %0 : tensor<2xf32>
}
)";

/// Twice x, of any size, compiled for each one that occurs.
const std::string twice = R"(
func.func @main(%x: tensor<?xf32> {sinter.name = "x"}) -> tensor<?xf32> {
  %0 = stablehlo.add %x, %x : tensor<?xf32>
  return %0 : tensor<?xf32>
}
)";

class CSafety : public sinter::test::InterfaceFixture {
protected:
  /// A run of the session, in a thread; its status.
  sinter_status run(size_t count,
                    const sinter_cancellation *cancellation = nullptr) {
    std::vector<float> x(count, 1), y(count);
    const std::vector<int64_t> shape = {static_cast<int64_t>(count)};
    const sinter_tensor input = tensor(x, shape);
    sinter_tensor output = tensor(y, shape);
    const sinter_status status = sinter_session_run(
        session, &input, 1, &output, 1, nullptr, cancellation, nullptr);
    return status == SINTER_OK && y != std::vector<float>(count, 2)
               ? SINTER_WRONG_RESULT
               : status;
  }
};

TEST_F(CSafety, CancelsARunThatWouldNotEnd) {
  for (const char *backend : {"cpu", "interpreter"}) {
    SCOPED_TRACE(backend);
    open(endless);
    SINTER_ASSERT_OK(sinter_options_set(options, "backend", backend, &error));
    compile();
    sinter_cancellation *cancellation = nullptr;
    SINTER_ASSERT_OK(sinter_cancellation_new(&cancellation, &error));
    std::atomic<int> status = -1;
    std::thread runner([&] { status = run(2, cancellation); });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_EQ(status, -1);
    // Meanwhile nothing that it uses can be freed.
    SINTER_EXPECT_REFUSED(SINTER_USAGE, "the session is in use",
                          sinter_session_free(session, &error));
    sinter_cancellation_cancel(cancellation);
    runner.join();
    EXPECT_EQ(status, SINTER_CANCELLED);
    sinter_cancellation_free(cancellation);
    SINTER_ASSERT_OK(sinter_session_free(session, &error));
    session = nullptr;
    SINTER_ASSERT_OK(sinter_model_free(model, &error));
    model = nullptr;
    SINTER_ASSERT_OK(sinter_options_free(options, &error));
    InterfaceFixture::SetUp();
  }
}

TEST_F(CSafety, ABindingInUseCannotBeChangedOrFreed) {
  open(endless);
  compile();
  sinter_binding *binding = nullptr;
  sinter_cancellation *cancellation = nullptr;
  SINTER_ASSERT_OK(sinter_cancellation_new(&cancellation, &error));
  SINTER_ASSERT_OK(sinter_binding_new(session, &binding, &error));
  std::vector<float> x(2);
  const std::vector<int64_t> shape = {2};
  const sinter_tensor input = tensor(x, shape);
  SINTER_ASSERT_OK(sinter_binding_set_input(binding, 0, &input, &error));
  std::atomic<int> status = -1;
  std::thread runner(
      [&] { status = sinter_binding_run(binding, cancellation, nullptr); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  auto output = sized<sinter_tensor>();
  sinter_snapshot *snapshot = nullptr;
  SINTER_EXPECT_REFUSED(SINTER_USAGE, "in use",
                        sinter_binding_free(binding, &error));
  SINTER_EXPECT_REFUSED(SINTER_USAGE, "used by another thread",
                        sinter_binding_run(binding, nullptr, &error));
  SINTER_EXPECT_REFUSED(SINTER_USAGE, "used by another thread",
                        sinter_binding_set_input(binding, 0, &input, &error));
  SINTER_EXPECT_REFUSED(SINTER_USAGE, "used by another thread",
                        sinter_binding_output(binding, 0, &output, &error));
  SINTER_EXPECT_REFUSED(SINTER_USAGE, "used by another thread",
                        sinter_binding_snapshot(binding, &snapshot, &error));
  SINTER_EXPECT_REFUSED(SINTER_USAGE, "used by another thread",
                        sinter_binding_reset_states(binding, &error));
  SINTER_EXPECT_REFUSED(SINTER_USAGE, "in use",
                        sinter_session_free(session, &error));
  sinter_cancellation_cancel(cancellation);
  runner.join();
  EXPECT_EQ(status, SINTER_CANCELLED);
  sinter_cancellation_free(cancellation);
  SINTER_ASSERT_OK(sinter_binding_free(binding, &error));
}

TEST_F(CSafety, CompilesBesideRuns) {
  open(twice);
  SINTER_ASSERT_OK(sinter_options_set(options, "static", "true", &error));
  compile();
  std::atomic<int> wrong = 0;
  std::atomic<bool> stops = false;
  ASSERT_EQ(run(1), SINTER_OK);
  std::thread runner([&] {
    while (!stops)
      wrong += run(1) != SINTER_OK;
  });
  std::thread other([&] {
    for (int times = 0; times < 3; ++times) {
      sinter_session *made = nullptr;
      wrong += sinter_compile(model, options, &made, nullptr) != SINTER_OK;
      wrong += sinter_session_free(made, nullptr) != SINTER_OK;
    }
  });
  for (size_t count = 2; count < 10; ++count)
    wrong += run(count) != SINTER_OK;
  other.join();
  stops = true;
  runner.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(CSafety, WhoeverFreesWhileOthersCallGetsAnErrorOrTheyDo) {
  open(twice);
  for (int times = 0; times < 20; ++times) {
    compile();
    std::atomic<int> wrong = 0;
    std::vector<std::thread> runners;
    for (int t = 0; t < 3; ++t)
      runners.emplace_back([&] {
        // Fails once the session is gone.
        sinter_status status = SINTER_OK;
        while (status == SINTER_OK) {
          status = run(3);
          // Else somebody always runs.
          std::this_thread::sleep_for(std::chrono::microseconds(200));
        }
        wrong += status != SINTER_USAGE;
      });
    while (sinter_session_free(session, nullptr) != SINTER_OK)
      std::this_thread::yield();
    for (std::thread &runner : runners)
      runner.join();
    session = nullptr;
    EXPECT_EQ(wrong, 0);
  }
}

TEST_F(CSafety, AChildMayStartAnotherProgramAndNothingElse) {
  open(twice);
  compile();
  // With the threads of the process at work.
  ASSERT_EQ(run(1 << 20), SINTER_OK);
  int text[2];
  ASSERT_EQ(::pipe(text), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    sinter_error *error = nullptr;
    sinter_snapshot *snapshot = nullptr;
    int wrong = sinter_session_snapshot(session, &snapshot, &error);
    wrong -= SINTER_USAGE;
    const std::string message = sinter_error_message(error);
    wrong |= sinter_session_free(session, nullptr) != SINTER_USAGE;
    wrong |= run(1) != SINTER_USAGE;
    if (::write(text[1], message.data(), message.size()) < 0 || wrong != 0)
      ::_exit(1);
    ::execl("/bin/true", "true", static_cast<char *>(nullptr));
    ::_exit(2);
  }
  ::close(text[1]);
  std::string message(500, '\0');
  const ssize_t size = ::read(text[0], message.data(), message.size());
  ::close(text[0]);
  message.resize(size > 0 ? static_cast<size_t>(size) : 0);
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_NE(message.find("may only start another program"), std::string::npos)
      << message;
  // The parent goes on.
  EXPECT_EQ(run(1 << 20), SINTER_OK);
}

TEST_F(CSafety, SignalsOfTheCallerStay) {
  struct sigaction before[32], after;
  for (int number = 1; number < 32; ++number)
    ::sigaction(number, nullptr, &before[number]);
  open(twice);
  compile();
  ASSERT_EQ(run(1000), SINTER_OK);
  for (int number = 1; number < 32; ++number) {
    ::sigaction(number, nullptr, &after);
    EXPECT_EQ(after.sa_handler, before[number].sa_handler) << number;
  }
}

} // namespace
