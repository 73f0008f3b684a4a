// Covers: runtime ProgramExecutor
// Covers: runtime/host Checks

#include "runtime/Cancellation.h"
#include "runtime/ProgramExecutor.h"
#include "runtime/TestProgram.h"

#include <chrono>
#include <functional>
#include <gtest/gtest.h>
#include <thread>

#if defined(__x86_64__)

using namespace sinter;
using namespace sinter::test;

namespace {

using enum BufferSpace;
using enum BufferAccess;

class CancellationTest : public testing::Test {
protected:
  std::unique_ptr<ProgramExecutor> executorWith(Program program,
                                                unsigned threads = 1) {
    ProgramExecutorOptions options;
    options.functions["test.then"] = [this](const HostCall &) {
      ++calls;
      if (then)
        then();
      return Result<void>();
    };
    auto executor = ProgramExecutor::create(
        std::make_shared<Program>(std::move(program)),
        std::make_shared<ThreadPool>(threads), std::move(options));
    EXPECT_TRUE(executor) << (executor ? "" : executor.error().message());
    return executor ? std::move(*executor) : nullptr;
  }
  /// A step that calls `then`.
  static Step call() {
    Step step;
    step.kind = StepKind::HostCall;
    step.hostFunction = "test.then";
    return step;
  }

  std::vector<Tensor> inputs = {Tensor(ElementType::I32, {1000})};
  Cancellation cancellation;
  std::function<void()> then;
  int calls = 0;
};

void expectCancelled(const Result<std::vector<Tensor>> &results) {
  ASSERT_FALSE(results);
  EXPECT_EQ(results.error().kind, ErrorKind::Cancelled);
  EXPECT_EQ(results.error().message(), "the run was cancelled");
}

TEST_F(CancellationTest, BeforeARun) {
  auto executor = executorWith(testProgram());
  cancellation.cancel();
  expectCancelled(executor->run(inputs, &cancellation));
  EXPECT_TRUE(executor->run(inputs));
  cancellation.reset();
  EXPECT_TRUE(executor->run(inputs, &cancellation));
}

TEST_F(CancellationTest, BetweenSteps) {
  Program program = testProgram();
  program.steps.insert(program.steps.begin() + 1, call());
  program.steps.push_back(call());
  auto executor = executorWith(program);
  then = [&] { cancellation.cancel(); };
  expectCancelled(executor->run(inputs, &cancellation));
  EXPECT_EQ(calls, 1);
  // The same executor gives the right results again.
  then = nullptr;
  cancellation.reset();
  auto results = executor->run(inputs, &cancellation);
  ASSERT_TRUE(results);
  EXPECT_EQ((*results)[0].at<int32_t>(999), 1);
  EXPECT_EQ((*results)[1].at<int32_t>(0), 10);
  EXPECT_EQ((*results)[2].at<int32_t>(0), 42);
}

/// A loop without an end.
TEST_F(CancellationTest, FromAnotherThreadInALoop) {
  for (bool hasBody : {true, false}) {
    Program program = testProgram();
    program.constants.push_back(constantOf({1}));
    Step loop;
    loop.kind = StepKind::While;
    loop.buffers = {{Arena, InOut, 0, 64, 1}};
    loop.bodies = {{}, {}};
    if (hasBody)
      loop.bodies[1] = {call()};
    program.steps = {copyStep({Constant, In, 2, 0, 1}, {Arena, Out, 0, 64, 1}),
                     loop};
    auto executor = executorWith(program);
    cancellation.reset();
    std::thread other([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      cancellation.cancel();
    });
    expectCancelled(executor->run(inputs, &cancellation));
    other.join();
  }
}

/// Kernels that would take an hour, task by task.
TEST_F(CancellationTest, BetweenTasksOfAKernel) {
  for (unsigned threads : {1u, 3u}) {
    Program program = testProgram();
    constexpr int64_t tasks = int64_t(1) << 62;
    // IsBelowTen does the same whatever the task.
    program.kernels[IsBelowTen].tasks = tasks;
    Step step = kernelStep(
        IsBelowTen, {{Constant, In, 0, 0, 4}, {Arena, Out, 0, 64, 1}}, tasks);
    // Calls of many tasks at once would be over at once.
    step.flops = 20e6 * static_cast<double>(tasks);
    program.steps = {step, call()};
    auto executor = executorWith(program, threads);
    cancellation.reset();
    std::thread other([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      cancellation.cancel();
    });
    expectCancelled(executor->run(inputs, &cancellation));
    other.join();
  }
  EXPECT_EQ(calls, 0);
}

/// Tasks in pieces give what they give at once.
TEST_F(CancellationTest, ChangesNoResults) {
  for (double flops : {0.0, 1e6, 100e6, 7e9, 1e15})
    for (unsigned threads : {1u, 3u}) {
      Program program = testProgram();
      program.steps[0].flops = flops;
      auto executor = executorWith(program, threads);
      for (int32_t i = 0; i < 1000; ++i)
        inputs[0].set(i, 3 * i);
      auto results = executor->run(inputs, &cancellation);
      ASSERT_TRUE(results);
      for (int32_t i = 0; i < 1000; ++i)
        ASSERT_EQ((*results)[0].at<int32_t>(i), 3 * i + 1);
    }
}

/// n = n + 1, with calls before, between and behind what writes it.
TEST_F(CancellationTest, StatesAreWholeOrUndefined) {
  Program program = testProgram();
  program.states = {{{"n", ElementType::I32, {}}, 0},
                    {{"m", ElementType::I32, {}}, 0}};
  const BufferReference n{BufferSpace::State, InOut, 0, 0, 4},
      m{BufferSpace::State, InOut, 1, 0, 4}, next{Arena, InOut, 0, 0, 4};
  program.steps = {call(),
                   kernelStep(AddOne, {n, next}),
                   copyStep(next, n),
                   call(),
                   copyStep(next, m),
                   call()};
  program.outputs.clear();
  auto executor = executorWith(program);
  int last = 0;
  then = [&] {
    if (calls == last)
      cancellation.cancel();
  };
  auto cancelAt = [&](int call) {
    calls = 0;
    last = call;
    cancellation.reset();
    return executor->run(inputs, &cancellation);
  };
  // Nothing was written.
  expectCancelled(cancelAt(1));
  EXPECT_TRUE(executor->hasDefinedStates());
  EXPECT_EQ(executor->state(0).at<int32_t>(0), 7);
  // One was, the other was not.
  expectCancelled(cancelAt(2));
  EXPECT_FALSE(executor->hasDefinedStates());
  const auto refused = executor->run(inputs);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::Usage);
  EXPECT_NE(refused.error().message().find("states are undefined"),
            std::string::npos);
  int32_t read = 0;
  EXPECT_EQ(executor->readState(0, {ElementType::I32, {}, &read}).error().kind,
            ErrorKind::Usage);
  // Until they are set, each of them, or reset.
  const int32_t hundred = 100;
  ASSERT_TRUE(executor->setState(0, {ElementType::I32, {}, &hundred}));
  EXPECT_FALSE(executor->run(inputs));
  ASSERT_TRUE(executor->setState(1, {ElementType::I32, {}, &hundred}));
  ASSERT_TRUE(executor->run(inputs));
  EXPECT_EQ(executor->state(1).at<int32_t>(0), 101);
  expectCancelled(cancelAt(2));
  executor->resetStates();
  ASSERT_TRUE(executor->run(inputs));
  EXPECT_EQ(executor->state(0).at<int32_t>(0), 8);
  EXPECT_EQ(executor->state(1).at<int32_t>(0), 8);
  // All steps were done: so was the run.
  EXPECT_TRUE(cancelAt(3));
  EXPECT_TRUE(executor->hasDefinedStates());
  EXPECT_EQ(executor->state(1).at<int32_t>(0), 9);
}

TEST_F(CancellationTest, OneOfThoseWhoTakeTurns) {
  Program program = testProgram();
  program.steps.insert(program.steps.begin(), call());
  auto executor = executorWith(program);
  then = [] { std::this_thread::sleep_for(std::chrono::microseconds(200)); };
  std::atomic<int> wrong = 0;
  std::thread other([&] {
    for (int run = 0; run < 100; ++run) {
      auto results = executor->run(inputs);
      wrong += !results || (*results)[1].at<int32_t>(0) != 10;
    }
  });
  for (int run = 0; run < 50; ++run) {
    cancellation.reset();
    std::thread third([&] { cancellation.cancel(); });
    auto results = executor->run(inputs, &cancellation);
    third.join();
    wrong += results ? (*results)[1].at<int32_t>(0) != 10
                     : results.error().kind != ErrorKind::Cancelled;
  }
  other.join();
  EXPECT_EQ(wrong, 0);
}

//===----------------------------------------------------------------------===//
// What programs print
//===----------------------------------------------------------------------===//

TEST(PrinterTest, GetsWhatProgramsPrint) {
  Program program = testProgram();
  Step print;
  print.kind = StepKind::HostCall;
  print.hostFunction = "sinter.print";
  print.configuration = "n";
  print.buffers = {{Constant, In, 0, 0, 4}};
  print.tensors = {{"n", ElementType::I32, {}}};
  program.steps = {print};
  program.outputs.clear();
  auto executor = ProgramExecutor::create(std::make_shared<Program>(program),
                                          std::make_shared<ThreadPool>(1));
  ASSERT_TRUE(executor);
  const std::vector<Tensor> inputs = {Tensor(ElementType::I32, {1000})};
  std::string printed;
  (*executor)->setPrinter([&](const std::string &text) { printed += text; });
  testing::internal::CaptureStdout();
  ASSERT_TRUE((*executor)->run(inputs));
  ASSERT_TRUE((*executor)->run(inputs));
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  const std::string line = printed.substr(0, printed.find('\n') + 1);
  EXPECT_EQ(line.find("n = "), 0u) << printed;
  EXPECT_EQ(printed, line + line);
  // Standard output is where nobody else is told.
  (*executor)->setPrinter({});
  testing::internal::CaptureStdout();
  ASSERT_TRUE((*executor)->run(inputs));
  EXPECT_EQ(testing::internal::GetCapturedStdout(), line);
  EXPECT_EQ(printed, line + line);
}

} // namespace

#endif // __x86_64__
