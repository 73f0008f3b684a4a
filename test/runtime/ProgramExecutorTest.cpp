// Covers: runtime Arena CodeImage ExternalSymbols Program

#include "runtime/ProgramExecutor.h"
#include "runtime/ExternalSymbols.h"
#include "runtime/TestKernels.h"
#include "runtime/TestProgram.h"

#include <gtest/gtest.h>

#include <barrier>
#include <cmath>
#include <thread>
#include <xmmintrin.h>

#if defined(__x86_64__)

using namespace sinter;
using namespace sinter::test;

namespace {

using enum BufferSpace;
using enum BufferAccess;

std::unique_ptr<ProgramExecutor> executorFor(Program program,
                                             unsigned threads = 1) {
  auto executor =
      ProgramExecutor::create(std::make_shared<Program>(std::move(program)),
                              std::make_shared<ThreadPool>(threads));
  EXPECT_TRUE(executor) << (executor ? "" : executor.error().message());
  return executor ? std::move(*executor) : nullptr;
}

Tensor ascending() {
  Tensor tensor(ElementType::I32, {1000});
  for (int32_t i = 0; i < 1000; ++i)
    tensor.set(i, i);
  return tensor;
}

TEST(ProgramExecutorTest, RunsOnAnyNumberOfThreads) {
  for (unsigned threads : {1u, 2u, 5u}) {
    auto executor = executorFor(testProgram(), threads);
    ASSERT_TRUE(executor);
    std::vector<Tensor> inputs = {ascending()};
    auto first = executor->run(inputs);
    auto second = executor->run(inputs);
    ASSERT_TRUE(first && second);
    for (int i = 0; i < 1000; ++i)
      EXPECT_EQ((*first)[0].at<int32_t>(i), i + 1);
    EXPECT_EQ((*first)[1].at<int32_t>(0), 10);
    EXPECT_EQ((*first)[2].at<int32_t>(0), 42);
    EXPECT_NE((*first)[0].data(), (*second)[0].data());
    EXPECT_EQ((*second)[1].at<int32_t>(0), 10);
  }
}

/// Memory of outputs is used again once nobody has them, and not before.
TEST(ProgramExecutorTest, OutputsThatAreDroppedAreUsedAgain) {
  auto executor = executorFor(testProgram());
  ASSERT_TRUE(executor);
  std::vector<Tensor> inputs = {ascending()};
  const void *first = (*executor->run(inputs))[0].data();
  auto second = executor->run(inputs);
  EXPECT_EQ((*second)[0].data(), first);
  // One that is held, if only as another tensor, and the one before.
  const Tensor held = (*second)[0].reshaped({10, 100});
  second = executor->run(inputs);
  EXPECT_NE((*second)[0].data(), held.data());
  auto third = executor->run(inputs);
  EXPECT_NE((*third)[0].data(), held.data());
  EXPECT_NE((*third)[0].data(), (*second)[0].data());
  for (int i = 0; i < 1000; ++i)
    EXPECT_EQ(held.at<int32_t>(i), i + 1);
}

TEST(ProgramExecutorTest, StepsTakePartsOfAKernelsTasks) {
  for (unsigned threads : {1u, 3u}) {
    Program program = testProgram();
    Step first = program.steps[0], second = first;
    first.tasks = 300;
    second.firstTask = 300;
    second.tasks = 700;
    program.steps[0] = second;
    program.steps.insert(program.steps.begin(), first);
    auto executor = executorFor(program, threads);
    ASSERT_TRUE(executor);
    const std::vector<Tensor> inputs = {ascending()};
    auto results = executor->run(inputs);
    ASSERT_TRUE(results);
    for (int i = 0; i < 1000; ++i)
      EXPECT_EQ((*results)[0].at<int32_t>(i), i + 1);
  }
}

TEST(ProgramExecutorTest, TakesUnalignedInputs) {
  auto executor = executorFor(testProgram());
  ASSERT_TRUE(executor);
  auto bytes = std::make_shared<std::vector<std::byte>>(4001);
  std::memcpy(bytes->data() + 1, ascending().data(), 4000);
  std::vector<Tensor> inputs = {
      Tensor::share(ElementType::I32, {1000}, bytes->data() + 1, bytes)};
  auto results = executor->run(inputs);
  ASSERT_TRUE(results);
  EXPECT_EQ((*results)[0].at<int32_t>(999), 1000);
}

TEST(ProgramExecutorTest, WrongInputIsAnError) {
  auto executor = executorFor(testProgram());
  std::vector<Tensor> inputs = {Tensor(ElementType::F32, {1000})};
  EXPECT_EQ(executor->run(inputs).error().message(),
            "input 'x': expected 1000xi32, given 1000xf32");
}

TEST(ProgramExecutorTest, ProfilesEveryExecution) {
  auto executor = executorFor(testProgram(), 2);
  executor->setProfiling(true);
  std::vector<Tensor> inputs = {ascending()};
  ASSERT_TRUE(executor->run(inputs));
  // A kernel and a copy, 8 conditions, 7 bodies of two, copy, table.
  ASSERT_EQ(executor->layerTimes().size(), 1u + 1 + 8 + 2 * 7 + 1 + 1);
  EXPECT_EQ(executor->layerTimes()[0].name, "layer0");
  EXPECT_EQ(executor->layerTimes()[0].threads, 2u);
  EXPECT_EQ(executor->layerTimes()[1].threads, 1u);
}

TEST(ProgramExecutorTest, IfChoosesABody) {
  auto run = [](ElementType selector, int32_t value) {
    Program program = testProgram();
    program.outputs = {{"y", ElementType::I32, {}}};
    program.constants = {constantOf({value}), constantOf({10, 20, 30})};
    Step choice;
    choice.kind = StepKind::If;
    choice.selector = selector;
    choice.buffers = {{Constant, In, 0, 0, byteSize(selector)}};
    for (uint64_t i = 0; i < (selector == ElementType::I1 ? 2 : 3); ++i)
      choice.bodies.push_back(
          {copyStep({Constant, In, 1, 4 * i, 4}, {Output, Out, 0, 0, 4})});
    program.steps = {choice};
    std::vector<Tensor> inputs = {ascending()};
    return (*executorFor(program)->run(inputs))[0].at<int32_t>(0);
  };
  EXPECT_EQ(run(ElementType::I1, 1), 10);
  EXPECT_EQ(run(ElementType::I1, 0), 20);
  EXPECT_EQ(run(ElementType::I32, 1), 20);
  EXPECT_EQ(run(ElementType::I32, -1), 30);
  EXPECT_EQ(run(ElementType::I32, 7), 30);
}

TEST(ProgramExecutorTest, CallsHostFunctionsByName) {
  Program program = testProgram();
  program.outputs = {{"y", ElementType::I32, {1000}}};
  Step step;
  step.kind = StepKind::HostCall;
  step.layer = "here";
  step.hostFunction = "test.negate";
  step.configuration = "some text";
  step.buffers = {{Input, In, 0, 0, 4000}, {Output, Out, 0, 0, 4000}};
  step.tensors = {program.inputs[0], program.outputs[0]};
  program.steps = {step};
  auto create = [&] {
    return ProgramExecutor::create(std::make_shared<Program>(program),
                                   std::make_shared<ThreadPool>(1));
  };
  EXPECT_FALSE(create());
  registerHostFunction("test.negate", [](const HostCall &call) -> Result<void> {
    EXPECT_EQ(call.configuration, "some text");
    for (int64_t i = 0; i < call.inputs[0].size(); ++i)
      call.outputs[0].set<int32_t>(i, -call.inputs[0].at<int32_t>(i));
    return {};
  });
  std::vector<Tensor> inputs = {ascending()};
  auto results = (*create())->run(inputs);
  ASSERT_TRUE(bool(results));
  EXPECT_EQ((*results)[0].at<int32_t>(5), -inputs[0].at<int32_t>(5));

  registerHostFunction("test.negate", [](const HostCall &) -> Result<void> {
    return usageError("no");
  });
  auto failure = (*create())->run(inputs);
  ASSERT_FALSE(bool(failure));
  EXPECT_EQ(failure.error().message(), "'here': no");

  program.steps[0].tensors[0].shape = {999};
  EXPECT_FALSE(create());
}

TEST(ProgramExecutorTest, CallsOutsideFunctions) {
  Program program = testProgram();
  program.inputs = {{"x", ElementType::F32, {}}};
  program.outputs = {{"y", ElementType::F32, {}}};
  program.steps = {
      kernelStep(ApplyExp, {{Input, In, 0, 0, 4}, {Output, Out, 0, 0, 4}})};
  std::vector<Tensor> inputs = {
      Tensor::of<float>(ElementType::F32, {}, std::vector<float>{1.5f})};
  auto results = executorFor(program)->run(inputs);
  ASSERT_TRUE(results);
  EXPECT_EQ((*results)[0].at<float>(0), std::exp(1.5f));
}

TEST(ProgramExecutorTest, ScratchIsPerThread) {
  Program program = testProgram();
  program.outputs = {};
  Step step = kernelStep(
      AddOne, {{Input, In, 0, 0, 4000}, {Scratch, Out, 0, 0, 4000}}, 1000);
  step.flops = 1e9;
  program.steps = {step};
  std::vector<Tensor> inputs = {ascending()};
  EXPECT_TRUE(executorFor(program, 4)->run(inputs));
}

TEST(ProgramExecutorTest, RefusesOtherMachines) {
  Program program = testProgram();
  program.features.push_back("quantum");
  auto refused = ProgramExecutor::create(std::make_shared<Program>(program),
                                         std::make_shared<ThreadPool>(1));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::Unsupported);
  EXPECT_NE(refused.error().message().find("quantum"), std::string::npos);
  EXPECT_FALSE(checkHost("riscv64-unknown-linux-gnu", {}));
}

TEST(ProgramExecutorTest, StateOutlivesARun) {
  Program program = testProgram();
  program.states = {{{"n", ElementType::I32, {}}, 0}};
  const BufferReference count{BufferSpace::State, BufferAccess::InOut, 0, 0, 4};
  const BufferReference next{Arena, InOut, 0, 0, 4};
  program.steps = {kernelStep(AddOne, {count, next}), copyStep(next, count)};
  auto executor = ProgramExecutor::create(std::make_shared<Program>(program),
                                          std::make_shared<ThreadPool>(1));
  ASSERT_TRUE(executor) << executor.error().message();
  ASSERT_EQ((*executor)->states().size(), 1u);
  EXPECT_EQ((*executor)->state(0).toInteger(0), 7);
  const std::vector<Tensor> inputs = {Tensor(ElementType::I32, {1000})};
  for (int run = 0; run < 3; ++run)
    ASSERT_TRUE((*executor)->run(inputs));
  EXPECT_EQ((*executor)->state(0).toInteger(0), 10);
  const int32_t hundred[] = {100};
  ASSERT_TRUE((*executor)->setState(
      0, Tensor::of<int32_t>(ElementType::I32, {}, hundred)));
  ASSERT_TRUE((*executor)->run(inputs));
  EXPECT_EQ((*executor)->state(0).toInteger(0), 101);
  EXPECT_FALSE((*executor)->setState(0, Tensor(ElementType::I32, {2})));
  EXPECT_FALSE((*executor)->setState(1, Tensor(ElementType::I32, {})));
  (*executor)->resetStates();
  EXPECT_EQ((*executor)->state(0).toInteger(0), 7);

  program.states[0].initial = 1;
  EXPECT_NE(verify(program).error().message().find("no valid initial value"),
            std::string::npos);
  program.states.clear();
  EXPECT_FALSE(verify(program));
}

/// Output: the control words that 1,000 tasks ran with.
Program modeProgram() {
  Program program = testProgram();
  program.outputs = {{"mode", ElementType::I32, {1000}}};
  Step step = kernelStep(ReadMode, {{Output, Out, 0, 0, 4000}}, 1000);
  step.flops = 1e9;
  program.steps = {step};
  return program;
}

constexpr uint32_t flushBits = 0x8040, flags = 0x3f, nearest = 0x1f80;

TEST(ProgramExecutorTest, KernelsHaveTheirOwnFloatMode) {
  // Towards zero, and a flag that somebody left there.
  constexpr uint32_t ofCaller = nearest | 0x6000 | 0x20;
  const uint32_t before = _mm_getcsr();
  for (Denormals denormals : {Denormals::Flush, Denormals::Keep}) {
    ProgramExecutorOptions options;
    options.denormals = denormals;
    _mm_setcsr(ofCaller);
    auto executor =
        ProgramExecutor::create(std::make_shared<Program>(modeProgram()),
                                std::make_shared<ThreadPool>(3), options);
    ASSERT_TRUE(executor);
    const std::vector<Tensor> inputs = {ascending()};
    auto results = (*executor)->run(inputs);
    const uint32_t after = _mm_getcsr();
    _mm_setcsr(before);
    ASSERT_TRUE(results);
    EXPECT_EQ(after, ofCaller);
    for (int64_t i = 0; i < 1000; ++i)
      ASSERT_EQ((*results)[0].at<int32_t>(i) & ~flags,
                denormals == Denormals::Flush ? nearest | flushBits : nearest);
  }
}

/// A step that hands the input of \p program to a function of the host.
Step callOfHost(const std::string &function, const Program &program) {
  Step step;
  step.kind = StepKind::HostCall;
  step.hostFunction = function;
  step.buffers = {{Input, In, 0, 0, 4000}};
  step.tensors = {program.inputs[0]};
  return step;
}

TEST(ProgramExecutorTest, HostFunctionsHaveTheCallersFloatMode) {
  for (bool fails : {false, true}) {
    Program program = modeProgram();
    program.steps.push_back(callOfHost("test.mode", program));
    uint32_t seen = 0;
    ProgramExecutorOptions options;
    options.functions["test.mode"] = [&](const HostCall &) -> Result<void> {
      seen = _mm_getcsr();
      return fails ? Result<void>(usageError("no")) : Result<void>();
    };
    auto executor =
        ProgramExecutor::create(std::make_shared<Program>(program),
                                std::make_shared<ThreadPool>(1), options);
    ASSERT_TRUE(executor);
    const uint32_t before = _mm_getcsr();
    const std::vector<Tensor> inputs = {ascending()};
    EXPECT_EQ(bool((*executor)->run(inputs)), !fails);
    EXPECT_EQ(_mm_getcsr() & ~flags, before & ~flags);
    EXPECT_EQ(seen & ~flags, before & ~flags);
  }
}

TEST(ProgramExecutorTest, DenormalsAreZeroUnlessKept) {
  Program program = testProgram();
  program.inputs = {{"x", ElementType::F32, {}}};
  program.outputs = {{"y", ElementType::F32, {}}};
  program.steps = {
      kernelStep(Double, {{Input, In, 0, 0, 4}, {Output, Out, 0, 0, 4}})};
  const std::vector<Tensor> inputs = {
      Tensor::of<float>(ElementType::F32, {}, std::vector<float>{1e-39f})};
  for (Denormals denormals : {Denormals::Flush, Denormals::Keep}) {
    ProgramExecutorOptions options;
    options.denormals = denormals;
    auto executor =
        ProgramExecutor::create(std::make_shared<Program>(program),
                                std::make_shared<ThreadPool>(1), options);
    ASSERT_TRUE(executor);
    EXPECT_EQ((*(*executor)->run(inputs))[0].at<float>(0),
              denormals == Denormals::Keep ? 2e-39f : 0.0f);
  }
}

TEST(ProgramExecutorTest, ThreadsTakeTurnsAtOneExecutor) {
  auto executor = executorFor(testProgram(), 2);
  ASSERT_TRUE(executor);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> callers;
  std::barrier together(4);
  for (int32_t caller = 0; caller < 4; ++caller)
    callers.emplace_back([&, caller] {
      Tensor input(ElementType::I32, {1000});
      for (int64_t i = 0; i < 1000; ++i)
        input.set(i, caller);
      together.arrive_and_wait();
      for (int round = 0; round < 200; ++round) {
        auto results = executor->run(std::span(&input, 1));
        wrong += !results || (*results)[1].at<int32_t>(0) != 10;
        for (int64_t i = 0; results && i < 1000; i += 37)
          wrong += (*results)[0].at<int32_t>(i) != caller + 1;
      }
    });
  for (std::thread &caller : callers)
    caller.join();
  EXPECT_EQ(wrong, 0);
}

TEST(ProgramExecutorTest, ExecutorsRunSideBySideOnOnePool) {
  auto pool = std::make_shared<ThreadPool>(3);
  auto program = std::make_shared<Program>(testProgram());
  std::atomic<int> wrong = 0;
  std::vector<std::thread> callers;
  for (int32_t caller = 0; caller < 4; ++caller)
    callers.emplace_back([&, caller] {
      auto executor = ProgramExecutor::create(program, pool);
      Tensor input(ElementType::I32, {1000});
      for (int64_t i = 0; i < 1000; ++i)
        input.set(i, caller);
      for (int round = 0; round < 300; ++round) {
        auto results = (*executor)->run(std::span(&input, 1));
        wrong += !results || (*results)[1].at<int32_t>(0) != 10;
        for (int64_t i = 0; results && i < 1000; ++i)
          wrong += (*results)[0].at<int32_t>(i) != caller + 1;
      }
    });
  for (std::thread &caller : callers)
    caller.join();
  EXPECT_EQ(wrong, 0);
}

TEST(ProgramExecutorTest, AFunctionOfTheModelCannotRunTheModel) {
  Program program = modeProgram();
  program.steps = {callOfHost("test.again", program)};
  ProgramExecutor *self = nullptr;
  ProgramExecutorOptions options;
  options.functions["test.again"] = [&](const HostCall &call) -> Result<void> {
    auto again = self->run(call.inputs);
    return again ? Result<void>() : again.takeError();
  };
  auto executor =
      ProgramExecutor::create(std::make_shared<Program>(program),
                              std::make_shared<ThreadPool>(1), options);
  self = executor->get();
  const std::vector<Tensor> inputs = {ascending()};
  auto results = self->run(inputs);
  ASSERT_FALSE(results);
  EXPECT_NE(results.error().message().find("needs one of its own"),
            std::string::npos);
}

TEST(ProgramTest, VerifyHoldsKernelsToTheirContracts) {
  using Change = void (*)(Program &);
  const std::pair<Change, const char *> changes[] = {
      {[](Program &p) { p.kernels.pop_back(); }, "not described"},
      {[](Program &p) { p.kernels[0].tasks = 999; }, "more tasks"},
      {[](Program &p) { p.steps[0].firstTask = 1; }, "more tasks"},
      {[](Program &p) { p.steps[0].firstTask = INT64_MAX; }, "more tasks"},
      {[](Program &p) { p.steps[0].firstTask = -1; }, "malformed"},
      {[](Program &p) { p.kernels[0].buffers.pop_back(); }, "other buffers"},
      {[](Program &p) { p.kernels[0].buffers[1].bytes = 4001; },
       "does not take"},
      {[](Program &p) { p.kernels[0].buffers[0].isWritten = true; },
       "does not take"},
      {[](Program &p) { p.kernels[0].buffers[0].alignment = 0; }, "alignment"},
      {[](Program &p) { p.kernels[0].buffers[0].alignment = 128; },
       "alignment"},
      {[](Program &p) { p.kernels[0].buffers[1].alignment = 8; },
       "does not take"},
      {[](Program &p) {
         Step &addOne = p.steps[2].bodies[1][0];
         addOne.buffers[1].offset = 0;
       },
       "writes where it reads"},
      {[](Program &p) {
         Step &addOne = p.steps[2].bodies[1][0];
         addOne.buffers[0] = {Arena, In, 0, 0, 8};
       },
       "writes where it reads"},
  };
  for (size_t i = 0; i < std::size(changes); ++i) {
    Program program = testProgram();
    changes[i].first(program);
    auto sound = verify(program);
    ASSERT_FALSE(sound) << "change " << i;
    EXPECT_NE(sound.error().message().find(changes[i].second),
              std::string::npos)
        << "change " << i << ": " << sound.error().message();
  }
  // Two that are only read may be the same.
  Program program = testProgram();
  program.kernels[AddOne].buffers.push_back({4, 4, false});
  program.steps[0].buffers.push_back(program.steps[0].buffers[0]);
  for (Step *step : {&program.steps[2].bodies[1][0]})
    step->buffers.push_back({Arena, In, 0, 0, 4});
  EXPECT_TRUE(verify(program));
}

TEST(ProgramTest, VerifyFindsWhatIsOutOfRange) {
  EXPECT_TRUE(verify(testProgram()));
  using Change = void (*)(Program &);
  const Change changes[] = {
      [](Program &p) { p.arenaBytes = 64; },
      [](Program &p) { p.arenaBytes = UINT64_MAX; },
      [](Program &p) { p.steps[0].kernel = 6; },
      [](Program &p) { p.steps[0].tasks = 0; },
      [](Program &p) { p.steps[0].flops = NAN; },
      [](Program &p) { p.steps[0].buffers[0].index = 1; },
      [](Program &p) { p.steps[0].buffers[0].bytes = 4001; },
      [](Program &p) { p.steps[0].buffers[0].offset = UINT64_MAX; },
      [](Program &p) { p.steps[0].buffers[0].access = Out; },
      [](Program &p) { p.steps[1].buffers[0].access = InOut; },
      [](Program &p) { p.steps[1].buffers[1].bytes = 8; },
      [](Program &p) { p.steps[2].bodies.pop_back(); },
      [](Program &p) { p.steps[2].buffers[0].bytes = 4; },
      [](Program &p) { p.outputs[0].shape = {-1}; },
      [](Program &p) { p.steps[0].kind = static_cast<StepKind>(9); },
      [](Program &p) { p.code.entries[0] = p.code.text.size; },
      [](Program &p) { p.code.relocations[0].offset = UINT64_MAX - 3; },
      [](Program &p) { p.code.relocations[0].symbol = 1; },
      [](Program &p) { p.code.relocations[1].addend = -1; },
      [](Program &p) { p.code.externals[0] = "system"; },
      [](Program &p) { p.code.rodata.offset = 4096; },
      [](Program &p) { p.code.rodata.size = UINT64_MAX; },
      [](Program &p) {
        p.constants[0].bytes = p.constants[1].bytes.subspan(4);
      },
  };
  for (size_t i = 0; i < std::size(changes); ++i) {
    Program program = testProgram();
    changes[i](program);
    EXPECT_FALSE(verify(program)) << "change " << i;
  }
}

TEST(ExternalSymbolsTest, OnlyTheList) {
  EXPECT_TRUE(externalSymbol("expf"));
  EXPECT_TRUE(externalSymbol("__truncsfhf2"));
  EXPECT_FALSE(externalSymbol("system"));
  EXPECT_GT(externalSymbolNames().size(), 60u);
  auto toHalf =
      reinterpret_cast<_Float16 (*)(float)>(externalSymbol("__truncsfhf2"));
  EXPECT_EQ(static_cast<float>(toHalf(1.5f)), 1.5f);
}

} // namespace

#endif // __x86_64__
