//===- RunInPlaceTest.cpp - compiled models on a caller's memory ----------===//
//
// Each model runs on inputs and outputs at any alignment and with any strides,
// and gives the bits that it gives on memory of the executor's own.
//
//===----------------------------------------------------------------------===//
//
// Covers: interpreter InterpreterExecutor
// Covers: backend/cpu/emit DynamicKernel

#include "Sweep.h"
#include "TemporaryFolder.h"
#include "engine/FallbackExecutor.h"
#include "engine/compiler/GuardedCompiler.h"
#include "runtime/ProgramExecutor.h"
#include "runtime/Random.h"

#include <gtest/gtest.h>
#include <thread>

using namespace sinter;

namespace {

/// How elements of a view lie.
enum class Order { Dense, Transposed, Backwards, Gaps, Repeated };

/// A tensor's elements in memory of a caller.
class Place {
public:
  /// At \p offset bytes from a multiple of 64. Repeated: along the first
  /// dimension all elements are the first ones.
  Place(ElementType type, Shape shape, Order order, size_t offset)
      : type(type), shape(std::move(shape)) {
    const size_t rank = this->shape.size();
    auto bytes = static_cast<int64_t>(byteSize(type));
    strides.resize(rank);
    int64_t first = 0;
    for (size_t i = 0; i < rank; ++i) {
      const size_t dim = order == Order::Transposed ? i : rank - 1 - i;
      strides[dim] = bytes;
      bytes *= std::max<int64_t>(this->shape[dim], 1);
      if (order == Order::Gaps)
        bytes += static_cast<int64_t>(byteSize(type)) * 2;
      if (order == Order::Backwards) {
        first += strides[dim] * std::max<int64_t>(this->shape[dim] - 1, 0);
        strides[dim] = -strides[dim];
      }
    }
    if (order == Order::Repeated && rank != 0)
      strides[0] = 0;
    memory.assign(static_cast<size_t>(bytes) + 192, std::byte(0x5a));
    data = memory.data() +
           (0 - reinterpret_cast<uintptr_t>(memory.data())) % 64 + offset +
           first;
  }
  MutableTensorView view() const { return {type, shape, data, strides}; }
  Tensor dense() const {
    Tensor tensor(type, shape);
    copyElements(view(), {type, shape, tensor.mutableBytes(), {}});
    return tensor;
  }

private:
  ElementType type;
  Shape shape;
  std::vector<int64_t> strides;
  std::vector<std::byte> memory;
  std::byte *data = nullptr;
};

bool areSame(const Tensor &a, const Tensor &b) {
  return a.type() == b.type() && a.shape() == b.shape() &&
         (a.bytes() == 0 || std::memcmp(a.data(), b.data(), a.bytes()) == 0);
}

/// Runs on \p inputs laid out so and gives what is wrong, or "". \p reference
/// runs on memory of its own, \p executor does not; both with the same states.
std::string differsAt(Executor &executor, Executor &reference,
                      std::span<const Tensor> values, Order from, Order to,
                      size_t offset) {
  std::vector<Place> inputs, outputs;
  std::vector<Tensor> given;
  std::vector<TensorView> inputViews;
  for (const Tensor &value : values) {
    Place &place =
        inputs.emplace_back(value.type(), value.shape(), from, offset);
    copyElements(viewOf(value), place.view());
    given.push_back(place.dense());
    inputViews.push_back(place.view());
  }
  auto expected = reference.run(given);
  if (!expected)
    return expected.error().message();
  std::vector<std::optional<MutableTensorView>> outputViews;
  for (const Tensor &tensor : *expected)
    outputViews.push_back(
        outputs.emplace_back(tensor.type(), tensor.shape(), to, 64 - offset)
            .view());
  auto results = executor.run(inputViews, outputViews);
  if (!results)
    return results.error().message();
  for (size_t i = 0; i < expected->size(); ++i)
    if (!areSame(outputs[i].dense(), (*expected)[i]) ||
        !areSame((*results)[i].owned(), (*expected)[i]))
      return "output " + std::to_string(i);
  for (size_t i = 0; i < executor.states().size(); ++i)
    if (!areSame(executor.state(i), reference.state(i)))
      return "state " + std::to_string(i);
  return "";
}

std::string differs(Executor &executor, Executor &reference,
                    std::span<const Tensor> values, test::Sweep &sweep) {
  for (Order from : {Order::Dense, Order::Transposed, Order::Backwards,
                     Order::Gaps, Order::Repeated})
    for (Order to : {Order::Dense, Order::Transposed, Order::Gaps})
      for (size_t offset = 0; offset <= 64; ++offset)
        if (sweep.takesNext())
          if (std::string wrong =
                  differsAt(executor, reference, values, from, to, offset);
              !wrong.empty())
            return wrong + " at " + std::to_string(offset) + ", order " +
                   std::to_string(int(from)) + " to " + std::to_string(int(to));
  return "";
}

GuardedCompiler &compilerOfRuns() {
  static GuardedCompiler compiler;
  return compiler;
}

class RunInPlaceTest : public testing::Test {
protected:
  void open(const std::string &text) {
    folder.write("m.mlir", text);
    ModelRequest request;
    request.path = folder.file("m.mlir");
    auto opened = compilerOfRuns().open(request);
    ASSERT_TRUE(opened) << opened.error().message();
    model = std::move(*opened);
  }
  static CompileRequest requestFor(const std::vector<Tensor> &inputs,
                                   std::vector<Shape> dynamic) {
    CompileRequest request;
    for (const Tensor &input : inputs)
      request.shapes.push_back(input.shape());
    request.values.resize(inputs.size());
    request.dynamic = std::move(dynamic);
    request.threads = 2;
    return request;
  }
  /// A program, which two executors run.
  std::shared_ptr<const Program> compile(const std::vector<Tensor> &inputs,
                                         std::vector<Shape> dynamic = {}) {
    auto program = model->compile(requestFor(inputs, std::move(dynamic)));
    EXPECT_TRUE(program) << program.error().message();
    return program ? *program : nullptr;
  }
  static std::unique_ptr<ProgramExecutor>
  executorOf(const std::shared_ptr<const Program> &program, unsigned threads) {
    auto executor =
        ProgramExecutor::create(program, std::make_shared<ThreadPool>(threads));
    EXPECT_TRUE(executor) << executor.error().message();
    return std::move(*executor);
  }
  std::unique_ptr<Executor> interpreterFor(const std::vector<Tensor> &inputs) {
    auto executor = model->interpret(requestFor(inputs, {}));
    EXPECT_TRUE(executor) << executor.error().message();
    return std::move(*executor);
  }
  /// By both backends, with several numbers of threads.
  void expectSame(const std::vector<Tensor> &inputs, test::Sweep &sweep,
                  std::vector<Shape> dynamic = {}) {
    auto program = compile(inputs, std::move(dynamic));
    ASSERT_TRUE(program);
    for (unsigned threads : {1u, 3u})
      EXPECT_EQ(differs(*executorOf(program, threads),
                        *executorOf(program, threads), inputs, sweep),
                "");
    EXPECT_EQ(differs(*interpreterFor(inputs), *interpreterFor(inputs), inputs,
                      sweep),
              "");
  }
  static Tensor random(ElementType type, Shape shape, uint64_t seed) {
    Tensor tensor(type, std::move(shape));
    if (type == ElementType::I1)
      for (int64_t i = 0; i < tensor.size(); ++i)
        tensor.set<uint8_t>(i, (i * 2654435769u >> 20) % 2);
    else
      fillRandom(tensor, seed, {-3, 3, 1});
    return tensor;
  }

  test::TemporaryFolder folder;
  std::unique_ptr<CompilerModel> model;
};

std::string replaced(std::string text, const std::string &what,
                     const std::string &with) {
  for (size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
  return text;
}

TEST_F(RunInPlaceTest, EveryType) {
  test::Sweep sweep(7);
  for (ElementType type :
       {ElementType::F32, ElementType::F64, ElementType::F16, ElementType::BF16,
        ElementType::I8, ElementType::I64, ElementType::I1, ElementType::UI8,
        ElementType::C64}) {
    // The last output is an input.
    std::string text = R"(
      func.func @main(%x: tensor<5x37xT>, %y: tensor<5x37xT>)
          -> (tensor<5x37xT>, tensor<37x5xT>, tensor<37xT>, tensor<5x37xT>) {
        %s = stablehlo.OP %x, %y : tensor<5x37xT>
        %t = stablehlo.transpose %s, dims = [1, 0] : (tensor<5x37xT>) -> tensor<37x5xT>
        %c = stablehlo.slice %x [2:3, 0:37] : (tensor<5x37xT>) -> tensor<1x37xT>
        %r = stablehlo.reshape %c : (tensor<1x37xT>) -> tensor<37xT>
        return %s, %t, %r, %x : tensor<5x37xT>, tensor<37x5xT>, tensor<37xT>, tensor<5x37xT>
      })";
    text = replaced(text, "xT", "x" + std::string(name(type)));
    open(replaced(text, "OP", type == ElementType::I1 ? "xor" : "add"));
    SCOPED_TRACE(std::string(name(type)));
    expectSame({random(type, {5, 37}, 1), random(type, {5, 37}, 2)}, sweep);
  }
}

/// Inputs on both sides, and with constants, of products that have kernels.
TEST_F(RunInPlaceTest, Products) {
  test::Sweep sweep(11);
  for (ElementType type : {ElementType::F32, ElementType::F64, ElementType::F16,
                           ElementType::BF16, ElementType::I8}) {
    const bool isInteger = type == ElementType::I8;
    std::string text = R"(
      func.func @main(%x: tensor<19x67xT>, %y: tensor<67x33xT>)
          -> (tensor<19x33xS>, tensor<19x33xS>) {
        %w = stablehlo.constant dense<3> : tensor<67x33xT>
        %p = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0]
            : (tensor<19x67xT>, tensor<67x33xT>) -> tensor<19x33xS>
        %q = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
            : (tensor<19x67xT>, tensor<67x33xT>) -> tensor<19x33xS>
        return %p, %q : tensor<19x33xS>, tensor<19x33xS>
      })";
    text = replaced(text, "xT", "x" + std::string(name(type)));
    text =
        replaced(text, "xS", "x" + std::string(isInteger ? "i32" : name(type)));
    open(isInteger ? text : replaced(text, "dense<3>", "dense<3.0>"));
    SCOPED_TRACE(std::string(name(type)));
    expectSame({random(type, {19, 67}, 1), random(type, {67, 33}, 2)}, sweep);
  }
}

TEST_F(RunInPlaceTest, Convolutions) {
  test::Sweep sweep(23);
  open(R"(
    func.func @main(%x: tensor<1x5x14x13xf32>)
        -> (tensor<1x17x14x13xf32>, tensor<1x5x7x6xf32>) {
      %w = stablehlo.constant dense<0.25> : tensor<17x5x3x3xf32>
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %c = stablehlo.convolution(%x, %w)
          dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
          window = {stride = [1, 1], pad = [[1, 1], [1, 1]]}
          {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
          : (tensor<1x5x14x13xf32>, tensor<17x5x3x3xf32>) -> tensor<1x17x14x13xf32>
      %p = "stablehlo.reduce_window"(%x, %zero) ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %m = stablehlo.maximum %a, %b : tensor<f32>
        stablehlo.return %m : tensor<f32>
      }) {window_dimensions = array<i64: 1, 1, 2, 2>, window_strides = array<i64: 1, 1, 2, 2>}
          : (tensor<1x5x14x13xf32>, tensor<f32>) -> tensor<1x5x7x6xf32>
      return %c, %p : tensor<1x17x14x13xf32>, tensor<1x5x7x6xf32>
    })");
  expectSame({random(ElementType::F32, {1, 5, 14, 13}, 1)}, sweep);
}

TEST_F(RunInPlaceTest, DynamicSizes) {
  test::Sweep sweep(23);
  open(R"(
    func.func @main(%x: tensor<?x37xf32>, %y: tensor<37x24xf32>)
        -> (tensor<?x24xf32>, tensor<?x37xf32>) {
      %p = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0]
          : (tensor<?x37xf32>, tensor<37x24xf32>) -> tensor<?x24xf32>
      %s = stablehlo.tanh %x : tensor<?x37xf32>
      return %p, %s : tensor<?x24xf32>, tensor<?x37xf32>
    })");
  const std::vector<Tensor> first = {random(ElementType::F32, {3, 37}, 1),
                                     random(ElementType::F32, {37, 24}, 2)};
  auto program = compile(first, {{-1, 37}, {37, 24}});
  ASSERT_TRUE(program);
  ASSERT_TRUE(program->dynamic);
  auto executor = executorOf(program, 2), reference = executorOf(program, 2);
  for (int64_t size : {3, 1, 20, 0, 7}) {
    const std::vector<Tensor> inputs = {random(ElementType::F32, {size, 37}, 1),
                                        first[1]};
    auto shapes = executor->outputShapes(
        std::vector<Shape>{inputs[0].shape(), inputs[1].shape()});
    ASSERT_TRUE(shapes);
    EXPECT_EQ((*shapes)[0], (Shape{size, 24}));
    EXPECT_EQ((*shapes)[1], (Shape{size, 37}));
    EXPECT_EQ(differs(*executor, *reference, inputs, sweep), "")
        << "size " << size;
  }
}

/// The state is an output, too, and keeps its own memory.
TEST_F(RunInPlaceTest, States) {
  test::Sweep sweep(5);
  open(R"(
    func.func @main(%x: tensor<8x9xf32>,
        %s: tensor<8x9xf32> {sinter.state = "s", sinter.initial = dense<0.5> : tensor<8x9xf32>})
        -> (tensor<8x9xf32> {sinter.state = "s"}, tensor<8x9xf32>, tensor<8x9xf32>) {
      %a = stablehlo.add %x, %s : tensor<8x9xf32>
      return %a, %a, %s : tensor<8x9xf32>, tensor<8x9xf32>, tensor<8x9xf32>
    })");
  expectSame({random(ElementType::F32, {8, 9}, 1)}, sweep);
}

/// No kernel asks for more than elements need.
TEST_F(RunInPlaceTest, InputsAreInPlaceForKernels) {
  open(R"(
    func.func @main(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
      %y = stablehlo.tanh %x : tensor<64x64xf32>
      return %y : tensor<64x64xf32>
    })");
  const std::vector<Tensor> inputs = {random(ElementType::F32, {64, 64}, 1)};
  auto program = compile(inputs);
  ASSERT_TRUE(program);
  for (const Step &step : program->steps)
    for (size_t i = 0; i < step.buffers.size(); ++i)
      if (step.kind == StepKind::Kernel &&
          (step.buffers[i].space == BufferSpace::Input ||
           step.buffers[i].space == BufferSpace::Output))
        EXPECT_EQ(program->kernels[step.kernel].buffers[i].alignment, 4u);
}

TEST_F(RunInPlaceTest, CancelsTheInterpreter) {
  open(R"(
    func.func @main(%x: tensor<i64>,
        %s: tensor<i64> {sinter.state = "s", sinter.initial = dense<1> : tensor<i64>})
        -> (tensor<i64>, tensor<i64> {sinter.state = "s"}) {
      %one = stablehlo.constant dense<1> : tensor<i64>
      %n = stablehlo.add %s, %one : tensor<i64>
      %r = stablehlo.while(%i = %x) : tensor<i64>
       cond {
        %go = stablehlo.compare NE, %i, %one : (tensor<i64>, tensor<i64>) -> tensor<i1>
        stablehlo.return %go : tensor<i1>
      } do {
        %next = stablehlo.multiply %i, %i : tensor<i64>
        stablehlo.return %next : tensor<i64>
      }
      return %r, %n : tensor<i64>, tensor<i64>
    })");
  const int64_t forEver = 0, once = 1;
  const std::vector<Tensor> endless = {Tensor::of(ElementType::I64, {},
                                                  std::span(&forEver, 1))},
                            short_ = {Tensor::of(ElementType::I64, {},
                                                 std::span(&once, 1))};
  auto program = compile(endless);
  ASSERT_TRUE(program);
  std::vector<std::unique_ptr<Executor>> all;
  all.push_back(interpreterFor(endless));
  all.push_back(executorOf(program, 1));
  for (const std::unique_ptr<Executor> &executor : all) {
    Cancellation cancellation;
    std::thread other([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      cancellation.cancel();
    });
    auto results = executor->run(endless, &cancellation);
    other.join();
    ASSERT_FALSE(results);
    EXPECT_EQ(results.error().kind, ErrorKind::Cancelled);
    if (!executor->hasDefinedStates())
      executor->resetStates();
    EXPECT_EQ(executor->state(0).at<int64_t>(0), 1);
    results = executor->run(short_);
    ASSERT_TRUE(results) << results.error().message();
    EXPECT_EQ((*results)[0].at<int64_t>(0), 1);
    EXPECT_EQ(executor->state(0).at<int64_t>(0), 2);
  }
}

/// Where a run falls back to a program for its values, it writes where the
/// caller wants it, and takes its printer and cancellation along.
TEST_F(RunInPlaceTest, FallbackExecutorsWriteInPlace) {
  open(R"(
    func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
      %y = stablehlo.negate %x : tensor<8xf32>
      return %y : tensor<8xf32>
    })");
  const std::vector<Tensor> inputs = {random(ElementType::F32, {8}, 1)};
  auto program = compile(inputs);
  ASSERT_TRUE(program);
  FallbackExecutor executor(
      executorOf(program, 1),
      [](std::span<const Tensor>, const Error &why)
          -> Result<std::unique_ptr<Executor>> { return why; });
  EXPECT_EQ((*executor.outputShapes(std::vector<Shape>{inputs[0].shape()}))[0],
            Shape{8});
  test::Sweep sweep;
  EXPECT_EQ(differs(executor, *executorOf(program, 1), inputs, sweep), "");
  Cancellation cancellation;
  cancellation.cancel();
  EXPECT_EQ(executor.run(inputs, &cancellation).error().kind,
            ErrorKind::Cancelled);
  EXPECT_TRUE(executor.hasDefinedStates());
}

} // namespace
