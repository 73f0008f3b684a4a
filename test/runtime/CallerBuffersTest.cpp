// Covers: runtime Executor ProgramExecutorBuffers ProgramExecutorSizes
// Covers: runtime ProgramMemory

#include "runtime/CallerBuffers.h"
#include "runtime/DynamicProgram.h"
#include "runtime/OutOfMemory.h"
#include "runtime/ProgramExecutor.h"
#include "runtime/TestProgram.h"

#include <gtest/gtest.h>
#include <numeric>

#if defined(__x86_64__)

using namespace sinter;
using namespace sinter::test;

namespace {

using enum BufferSpace;
using enum BufferAccess;
using Sizes = std::vector<int64_t>;
using Outputs = std::vector<std::optional<MutableTensorView>>;

std::unique_ptr<ProgramExecutor> executorOf(Program program) {
  auto executor =
      ProgramExecutor::create(std::make_shared<Program>(std::move(program)),
                              std::make_shared<ThreadPool>(2));
  EXPECT_TRUE(executor) << (executor ? "" : executor.error().message());
  return executor ? std::move(*executor) : nullptr;
}

/// x: i32[1000] with strides of \p step elements, and what is around it.
class LaidOutNumbers {
public:
  LaidOutNumbers(int64_t step, size_t offset, int32_t first)
      : bytes(4 * 1000 *
                  static_cast<size_t>(std::max<int64_t>(std::abs(step), 1)) +
              128),
        strides{4 * step} {
    auto start = reinterpret_cast<uintptr_t>(bytes.data());
    start = (start + 63) / 64 * 64 + offset;
    data = reinterpret_cast<std::byte *>(start);
    if (step < 0)
      data += 4 * 999 * -step;
    for (int32_t i = 0; i < 1000; ++i)
      set(i, first + i);
  }
  void set(int32_t i, int32_t value) {
    std::memcpy(data + i * strides[0], &value, 4);
  }
  int32_t at(int32_t i) const {
    int32_t value;
    std::memcpy(&value, data + i * strides[0], 4);
    return value;
  }
  MutableTensorView view() const {
    return {ElementType::I32, shape, data, strides};
  }

private:
  std::vector<std::byte> bytes;
  Sizes shape = {1000}, strides;

public:
  std::byte *data;
};

/// y = x + 1, and where the function of the host saw x and y.
Program watchedProgram() {
  Program program = testProgram();
  Step watch;
  watch.kind = StepKind::HostCall;
  watch.hostFunction = "test.watch";
  watch.buffers = {{Input, In, 0, 0, 4000}, {Output, InOut, 0, 0, 4000}};
  watch.tensors = {program.inputs[0], program.outputs[0]};
  program.steps.push_back(watch);
  return program;
}

TEST(CallerBuffersTest, AnyAlignmentAndStrides) {
  const void *x = nullptr, *y = nullptr;
  registerHostFunction("test.watch", [&](const HostCall &call) -> Result<void> {
    x = call.inputs[0].data();
    y = call.outputs[0].data();
    return {};
  });
  auto executor = executorOf(watchedProgram());
  ASSERT_TRUE(executor);
  for (int64_t from : {1, -1, 3, -2, 0})
    for (int64_t to : {1, 2, -1})
      for (size_t offset = 0; offset <= 64; ++offset) {
        const LaidOutNumbers in(from, offset, 5), out(to, 64 - offset, -1);
        int32_t count = 0;
        const TensorView inputs[] = {in.view()};
        const Outputs outputs = {
            out.view(), MutableTensorView{ElementType::I32, {}, &count},
            std::nullopt};
        auto results = executor->run(inputs, outputs);
        ASSERT_TRUE(results) << results.error().message();
        for (int32_t i = 0; i < 1000; ++i)
          ASSERT_EQ(out.at(i), in.at(i) + 1);
        EXPECT_EQ(count, 10);
        EXPECT_EQ((*results)[2].at<int32_t>(0), 42);
        // In place wherever languages put elements.
        EXPECT_EQ(x == in.data, from == 1 && offset % 4 == 0);
        EXPECT_EQ(y == out.data, to == 1 && offset % 4 == 0);
        if (to == 1)
          EXPECT_EQ((*results)[0].data(), out.data);
        EXPECT_EQ((*results)[0].at<int32_t>(9), in.at(9) + 1);
      }
}

/// Kernels may ask for more.
TEST(CallerBuffersTest, CopiesWhereAKernelWantsAlignment) {
  const void *x = nullptr, *y = nullptr;
  registerHostFunction("test.watch", [&](const HostCall &call) -> Result<void> {
    x = call.inputs[0].data();
    y = call.outputs[0].data();
    return {};
  });
  Program program = watchedProgram();
  // Without the loop, whose numbers are where these kernels would not have
  // them.
  program.steps.erase(program.steps.begin() + 1, program.steps.end() - 1);
  program.kernels[0].buffers[0].alignment = 32;
  program.kernels[0].buffers[1].alignment = 16;
  auto executor = executorOf(program);
  ASSERT_TRUE(executor);
  for (size_t offset : {0, 4, 16, 32}) {
    const LaidOutNumbers in(1, offset, 5), out(1, offset, -1);
    const TensorView inputs[] = {in.view()};
    const Outputs outputs = {out.view(), std::nullopt, std::nullopt};
    ASSERT_TRUE(executor->run(inputs, outputs));
    EXPECT_EQ(x == in.data, offset % 32 == 0);
    EXPECT_EQ(y == out.data, offset % 16 == 0);
    for (int32_t i = 0; i < 1000; ++i)
      ASSERT_EQ(out.at(i), in.at(i) + 1);
  }
}

TEST(CallerBuffersTest, InputsMayShareMemoryWithOutputs) {
  // The program reads x after it has written y.
  Program program = testProgram();
  program.outputs.push_back({"again", ElementType::I32, {1000}});
  program.steps.push_back(
      copyStep({Input, In, 0, 0, 4000}, {Output, Out, 3, 0, 4000}));
  auto executor = executorOf(program);
  ASSERT_TRUE(executor);
  for (int64_t apart : {0, 1, 999, 1000}) {
    std::vector<int32_t> memory(2000), again(1000);
    std::iota(memory.begin(), memory.end(), 0);
    const Sizes shape = {1000};
    const TensorView inputs[] = {{ElementType::I32, shape, memory.data()}};
    const Outputs outputs = {
        MutableTensorView{ElementType::I32, shape, memory.data() + apart},
        std::nullopt, std::nullopt,
        MutableTensorView{ElementType::I32, shape, again.data()}};
    ASSERT_TRUE(executor->run(inputs, outputs));
    for (int32_t i = 0; i < 1000; ++i) {
      ASSERT_EQ(again[i], i);
      ASSERT_EQ(memory[apart + i], i + 1);
    }
  }
}

TEST(CallerBuffersTest, WhatARunGivesMayBeWhereTheNextOneWrites) {
  auto executor = executorOf(testProgram());
  Tensor x(ElementType::I32, {1000});
  auto first = executor->run(std::span(&x, 1));
  ASSERT_TRUE(first);
  // y is input and output of the second run.
  const TensorView inputs[] = {viewOf((*first)[0])};
  const Outputs outputs = {MutableTensorView{ElementType::I32,
                                             (*first)[0].shape(),
                                             (*first)[0].mutableBytes()},
                           std::nullopt, std::nullopt};
  ASSERT_TRUE(executor->run(inputs, outputs));
  EXPECT_EQ((*first)[0].at<int32_t>(500), 2);
  ASSERT_TRUE(executor->run(std::span(&x, 1)));
  EXPECT_EQ((*first)[0].at<int32_t>(500), 2);
}

TEST(CallerBuffersTest, ErrorsNameTheTensor) {
  Program program = testProgram();
  program.outputs[1].shape = {1};
  auto executor = executorOf(program);
  ASSERT_TRUE(executor);
  std::vector<int32_t> memory(4000);
  const Sizes x = {1000}, one = {1}, other = {10, 100}, backwards = {-4},
              none = {0}, two = {2}, far = {INT64_MAX};
  auto wrong = [&](TensorView in, MutableTensorView y,
                   MutableTensorView count) {
    const TensorView inputs[] = {in};
    const Outputs outputs = {y, count, std::nullopt};
    auto results = executor->run(inputs, outputs);
    if (results)
      return std::string();
    EXPECT_EQ(results.error().kind, ErrorKind::Usage);
    return results.error().message();
  };
  const auto i32 = ElementType::I32;
  const TensorView in = {i32, x, memory.data()};
  const MutableTensorView y = {i32, x, memory.data() + 1000},
                          count = {i32, one, memory.data() + 3000};
  EXPECT_EQ(wrong(in, y, count), "");
  EXPECT_EQ(wrong({i32, other, memory.data()}, y, count),
            "input 'x': expected 1000xi32, given 10x100xi32");
  EXPECT_EQ(wrong({ElementType::F32, x, memory.data()}, y, count),
            "input 'x': expected 1000xi32, given 1000xf32");
  EXPECT_EQ(wrong({i32, x, nullptr}, y, count),
            "input 'x': 1000xi32 is at a null pointer");
  EXPECT_EQ(wrong({i32, x, memory.data(), far}, y, count),
            "input 'x': 1000xi32 has strides that overflow");
  EXPECT_EQ(wrong(in, {i32, one, memory.data()}, count),
            "output 'y': expected 1000xi32, given 1xi32");
  EXPECT_EQ(wrong(in, {ElementType::I64, x, memory.data()}, count),
            "output 'y': expected 1000xi32, given 1000xi64");
  EXPECT_EQ(wrong(in, {i32, x, nullptr}, count),
            "output 'y': 1000xi32 is at a null pointer");
  EXPECT_EQ(wrong(in, {i32, x, memory.data(), other}, count),
            "output 'y': 1000xi32 has 2 strides");
  EXPECT_EQ(wrong(in, {i32, x, memory.data(), none}, count),
            "output 'y': elements share memory with each other");
  EXPECT_EQ(wrong(in, {i32, x, memory.data(), two}, count),
            "output 'y': elements share memory with each other");
  EXPECT_EQ(wrong(in, y, {i32, one, memory.data() + 1500}),
            "outputs 'y' and 'count' share memory");
  EXPECT_EQ(wrong(in, {i32, x, memory.data() + 1999, backwards},
                  {i32, one, memory.data() + 1000}),
            "outputs 'y' and 'count' share memory");
  EXPECT_EQ(wrong(in, {i32, x, memory.data() + 1999, backwards},
                  {i32, one, memory.data() + 999}),
            "");
  const TensorView inputs[] = {in, in};
  EXPECT_EQ(executor->run(inputs, Outputs(3)).error().message(),
            "the model has 1 input, 2 given");
  EXPECT_EQ(executor->run(std::span(inputs, 1), Outputs(2)).error().message(),
            "the model has 3 outputs, 2 given");
}

TEST(CallerBuffersTest, StatesGoInAndOut) {
  Program program = testProgram();
  program.states = {{{"n", ElementType::I32, {3}}, 1}};
  program.outputs = {{"y", ElementType::I32, {3}}};
  const BufferReference n{BufferSpace::State, InOut, 0, 0, 12};
  program.steps = {
      kernelStep(AddOne, {n, {Arena, Out, 0, 0, 12}}, 3),
      copyStep({Arena, In, 0, 0, 12}, n),
      copyStep({BufferSpace::State, In, 0, 0, 12}, {Output, Out, 0, 0, 12})};
  auto executor = executorOf(program);
  ASSERT_TRUE(executor);
  int32_t memory[7] = {};
  const Sizes three = {3}, apart = {8}, same = {0}, two = {2};
  const MutableTensorView every = {ElementType::I32, three, memory + 1, apart};
  ASSERT_TRUE(executor->readState(0, every));
  EXPECT_EQ(std::vector<int32_t>(memory, memory + 7),
            (std::vector<int32_t>{0, 1, 0, 2, 0, 3, 0}));
  for (int32_t i : {1, 3, 5})
    memory[i] *= 10;
  ASSERT_TRUE(executor->setState(0, every));
  const std::vector<Tensor> inputs = {Tensor(ElementType::I32, {1000})};
  auto results = executor->run(inputs);
  ASSERT_TRUE(results);
  EXPECT_EQ((*results)[0].at<int32_t>(2), 31);
  // An output's memory is the caller's, whatever the state becomes.
  const TensorView x[] = {viewOf(inputs[0])};
  const Outputs outputs = {every};
  ASSERT_TRUE(executor->run(x, outputs));
  ASSERT_TRUE(executor->run(inputs));
  EXPECT_EQ(memory[5], 32);
  EXPECT_EQ(executor->state(0).at<int32_t>(2), 33);

  auto wrong = [&](const MutableTensorView &to) {
    EXPECT_EQ(executor->setState(0, TensorView(to)).error().message(),
              executor->readState(0, to).error().message());
    return executor->readState(0, to).error().message();
  };
  EXPECT_EQ(wrong({ElementType::I32, two, memory}),
            "state 'n': expected 3xi32, given 2xi32");
  EXPECT_EQ(wrong({ElementType::I32, three, nullptr}),
            "state 'n': 3xi32 is at a null pointer");
  EXPECT_EQ(executor->readState(0, {ElementType::I32, three, memory, same})
                .error()
                .message(),
            "state 'n': elements share memory with each other");
  EXPECT_EQ(executor->readState(1, every).error().message(),
            "there is no state 1");
}

//===----------------------------------------------------------------------===//
// Dynamic sizes
//===----------------------------------------------------------------------===//

/// x: i32[N] copied to y: i32[N], and, where \p computes says so, n: i32[1] as
/// the size of z: i32[M], which is the first M elements of x.
Program dynamicProgram(bool computes) {
  Program program = testProgram();
  program.steps.clear();
  program.arenaBytes = 0;
  auto dynamic = std::make_shared<DynamicProgram>();
  const SizeExpression n = SizeExpression::parameter(0),
                       m = SizeExpression::parameter(1);
  const auto bytesOf = [](const SizeExpression &size) {
    return *SizeExpression::productOf(size, 4);
  };
  dynamic->parameters = {"N", "M"};
  dynamic->sizes = {n};
  dynamic->inputs = {{n}, {1}};
  dynamic->outputs = {{n}};
  program.inputs = {{"x", ElementType::I32, {-1}},
                    {"n", ElementType::I32, {1}}};
  program.outputs = {{"y", ElementType::I32, {-1}}};
  dynamic->slots = {{Input, 0, bytesOf(n)}, {Output, 0, bytesOf(n)}};
  const auto add = [&](Step step) -> DynamicStep & {
    program.steps.push_back(std::move(step));
    DynamicStep &sizes = dynamic->steps.emplace_back();
    sizes.tasks = {{1, 1}};
    return sizes;
  };
  add(copyStep({Input, In, 0, 0, 0}, {Output, Out, 0, 1, 0}));
  if (computes) {
    dynamic->outputs.push_back({m});
    program.outputs.push_back({"z", ElementType::I32, {-1}});
    dynamic->slots.push_back({Input, 1, 4});
    dynamic->slots.push_back({Output, 1, bytesOf(m)});
    dynamic->slots.push_back({Input, 0, bytesOf(m)});
    Step size;
    size.kind = StepKind::Size;
    size.buffers = {{Input, In, 0, 2, 0}};
    size.tensors = {{"n", ElementType::I32, {1}}};
    add(size).defines = {{1, 0}};
    add(copyStep({Input, In, 0, 4, 0}, {Output, Out, 0, 3, 0}));
  } else {
    dynamic->parameters.pop_back();
  }
  program.dynamic = dynamic;
  return program;
}

TEST(CallerBuffersTest, TellsShapesBeforeARun) {
  auto executor = executorOf(dynamicProgram(true));
  ASSERT_TRUE(executor);
  const std::vector<Shape> shapes = {{7}, {1}};
  auto known = executor->outputShapes(shapes);
  ASSERT_TRUE(known) << known.error().message();
  EXPECT_EQ((*known)[0], Shape{7});
  EXPECT_EQ((*known)[1], std::nullopt);
  const std::vector<Shape> wrong = {{7, 7}, {1}};
  EXPECT_EQ(executor->outputShapes(wrong).error().message(),
            "input 'x': expected ?xi32, given 7x7xi32");
  EXPECT_EQ(executor->outputShapes(std::vector<Shape>{{7}}).error().message(),
            "the model has 2 inputs, 1 given");
  auto fixed = executorOf(testProgram());
  EXPECT_EQ((*fixed->outputShapes(std::vector<Shape>{{1000}}))[0], Shape{1000});
  EXPECT_FALSE(fixed->outputShapes(std::vector<Shape>{{10}}));
}

TEST(CallerBuffersTest, SizesThatFollowFromInputs) {
  auto executor = executorOf(dynamicProgram(false));
  ASSERT_TRUE(executor);
  const int32_t n = 0;
  const Sizes one = {1};
  for (int64_t size : {5, 900, 0, 64}) {
    std::vector<int32_t> memory(2 * size + 3);
    std::iota(memory.begin(), memory.end(), 100);
    const Sizes shape = {size}, every = {8}, more = {size + 1};
    const TensorView inputs[] = {
        {ElementType::I32, shape, memory.data() + 1, every},
        {ElementType::I32, one, &n}};
    std::vector<int32_t> result(size + 1);
    Outputs outputs = {
        MutableTensorView{ElementType::I32, shape, result.data()}};
    auto results = executor->run(inputs, outputs);
    ASSERT_TRUE(results) << results.error().message();
    EXPECT_EQ((*results)[0].shape(), Shape{size});
    for (int64_t i = 0; i < size; ++i)
      ASSERT_EQ(result[i], 101 + 2 * i);
    outputs[0]->shape = more;
    EXPECT_EQ(executor->run(inputs, outputs).error().message(),
              "output 'y': expected " + std::to_string(size) + "xi32, given " +
                  std::to_string(size + 1) + "xi32");
  }
}

TEST(CallerBuffersTest, SizesThatValuesDecide) {
  auto executor = executorOf(dynamicProgram(true));
  ASSERT_TRUE(executor);
  std::vector<int32_t> x(10), y(10), z(6);
  std::iota(x.begin(), x.end(), 100);
  const Sizes ten = {10}, one = {1}, six = {6}, three = {3}, apart = {8};
  auto run = [&](int32_t n, std::optional<MutableTensorView> of) {
    const TensorView inputs[] = {{ElementType::I32, ten, x.data()},
                                 {ElementType::I32, one, &n}};
    const Outputs outputs = {MutableTensorView{ElementType::I32, ten, y.data()},
                             of};
    return executor->run(inputs, outputs);
  };
  // The executor's own.
  auto results = run(4, std::nullopt);
  ASSERT_TRUE(results) << results.error().message();
  EXPECT_EQ((*results)[1].shape(), Shape{4});
  EXPECT_EQ((*results)[1].at<int32_t>(3), 103);
  // Whatever fits.
  for (int32_t n : {6, 1, 0}) {
    results = run(n, MutableTensorView{ElementType::I32, six, z.data()});
    ASSERT_TRUE(results) << results.error().message();
    EXPECT_EQ((*results)[1].shape(), Shape{n});
    EXPECT_EQ((*results)[1].data(), reinterpret_cast<std::byte *>(z.data()));
    for (int32_t i = 0; i < n; ++i)
      EXPECT_EQ(z[i], 100 + i);
  }
  // With gaps, of that shape alone.
  results = run(3, MutableTensorView{ElementType::I32, three, z.data(), apart});
  ASSERT_TRUE(results) << results.error().message();
  EXPECT_EQ(z[4], 102);
  EXPECT_EQ(run(2, MutableTensorView{ElementType::I32, three, z.data(), apart})
                .error()
                .message(),
            "output 'z': expected 2xi32, given 3xi32");
  y.assign(10, 0);
  const auto tooFew =
      run(7, MutableTensorView{ElementType::I32, six, z.data()});
  ASSERT_FALSE(tooFew);
  EXPECT_EQ(tooFew.error().kind, ErrorKind::Usage);
  EXPECT_EQ(tooFew.error().message(),
            "output 'z': 7xi32 takes 28 bytes, the buffer given has 24");
  // The run was done, and so is the next one.
  EXPECT_EQ(y[9], 109);
  EXPECT_TRUE(run(6, MutableTensorView{ElementType::I32, six, z.data()}));
}

} // namespace

#endif // __x86_64__
