//===- CallbacksTest.cpp - what the library tells its caller --------------===//
//
// Covers: bindings/c Options Rewrite Trainer
// Covers: engine TrainingRun
// Covers: engine/compiler SampleRuns Trainer
//
//===----------------------------------------------------------------------===//

#include "InterfaceFixture.h"

#include <cmath>
#include <map>
#include <mutex>
#include <unistd.h>
#include <utility>

namespace {

using sinter::test::tensor;

/// Prints what it gets.
const std::string printing = R"(
func.func @main(%x: tensor<?x2xf32> {sinter.name = "x"}) -> tensor<?x1xf32> {
  %w = stablehlo.constant dense<[[0.0], [0.5]]> : tensor<2x1xf32>
  "interpreter.print"(%w) : (tensor<2x1xf32>) -> ()
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<?x2xf32>, tensor<2x1xf32>) -> tensor<?x1xf32>
  return %y : tensor<?x1xf32>
}
)";

/// What was told.
struct Told {
  std::mutex mutex;
  std::string printed, logged;
  struct Stage {
    uint64_t calls = 0, done = 0, total = 0;
    bool isOrdered = true;
  };
  std::map<std::string, Stage> stages;

  static void print(void *user, const char *text, size_t size) {
    auto &told = *static_cast<Told *>(user);
    const std::lock_guard lock(told.mutex);
    told.printed.append(text, size);
  }
  static void log(void *user, const char *line) {
    auto &told = *static_cast<Told *>(user);
    const std::lock_guard lock(told.mutex);
    told.logged += std::string(line) + "\n";
  }
  static void progress(void *user, const char *stage, uint64_t done,
                       uint64_t total) {
    auto &told = *static_cast<Told *>(user);
    const std::lock_guard lock(told.mutex);
    Stage &of = told.stages[stage];
    of.isOrdered &= done <= total;
    of.done = std::max(of.done, done);
    of.total = total;
    ++of.calls;
  }
};

/// What standard output gets meanwhile.
class StandardOutput {
public:
  StandardOutput() : saved(::dup(1)) {
    std::fflush(stdout);
    if (::pipe(ends) == 0)
      ::dup2(ends[1], 1);
  }
  ~StandardOutput() { take(); }
  std::string take() {
    if (saved < 0)
      return "";
    std::fflush(stdout);
    ::dup2(saved, 1);
    ::close(std::exchange(saved, -1));
    ::close(ends[1]);
    std::string text(4096, '\0');
    const ssize_t size = ::read(ends[0], text.data(), text.size());
    ::close(ends[0]);
    text.resize(size > 0 ? static_cast<size_t>(size) : 0);
    return text;
  }

private:
  int saved, ends[2] = {-1, -1};
};

class CCallbacks : public sinter::test::InterfaceFixture {
protected:
  void listen() {
    SINTER_ASSERT_OK(
        sinter_options_set_print(options, Told::print, &told, &error));
    SINTER_ASSERT_OK(sinter_options_set_log(options, Told::log, &told, &error));
    SINTER_ASSERT_OK(
        sinter_options_set_progress(options, Told::progress, &told, &error));
  }

  void set(const char *name, const char *value) {
    SINTER_ASSERT_OK(sinter_options_set(options, name, value, &error));
  }

  /// A step of training and an evaluation.
  void train() {
    sinter_trainer *trainer = nullptr;
    SINTER_ASSERT_OK(sinter_trainer_new(model, options, &trainer, &error));
    std::vector<float> x = {1, 0, 0, 1}, target = {1, 3};
    const std::vector<int64_t> xShape = {2, 2}, targetShape = {2, 1};
    const sinter_tensor batch[] = {tensor(x, xShape),
                                   tensor(target, targetShape)};
    double loss = 0;
    SINTER_ASSERT_OK(sinter_trainer_step(trainer, batch, 2, &loss, &error));
    SINTER_ASSERT_OK(sinter_trainer_evaluate(trainer, batch, 2, &loss, &error));
    SINTER_ASSERT_OK(sinter_trainer_free(trainer, &error));
  }

  Told told;
};

TEST_F(CCallbacks, CompilingTellsItsProgress) {
  listen();
  open(printing);
  set("shape", "x:2x2");
  compile();
  ASSERT_TRUE(told.stages.contains("compile"));
  const Told::Stage &stage = told.stages["compile"];
  EXPECT_GT(stage.total, 0U);
  EXPECT_EQ(stage.done, stage.total);
  EXPECT_EQ(stage.calls, stage.total);
  EXPECT_TRUE(stage.isOrdered);
}

TEST_F(CCallbacks, TrainingPrintsAndTellsItsProgress) {
  for (const char *backend : {"cpu", "interpreter"}) {
    SCOPED_TRACE(backend);
    told.printed.clear();
    told.stages.clear();
    listen();
    open(printing);
    set("loss", "mean-squared");
    set("backend", backend);
    StandardOutput output;
    train();
    EXPECT_EQ(output.take(), "");
    // Once for the step, once for the evaluation, whose weights are others.
    const std::string kind = "tensor<2x1xf32>", weight = "5.000000e-01";
    const size_t first = told.printed.find(kind);
    ASSERT_NE(first, std::string::npos) << told.printed;
    EXPECT_NE(told.printed.find(kind, first + 1), std::string::npos)
        << told.printed;
    EXPECT_NE(told.printed.find(weight), std::string::npos) << told.printed;
    EXPECT_EQ(told.printed.find(weight), told.printed.rfind(weight))
        << told.printed;
    EXPECT_EQ(told.stages.contains("compile"), std::string(backend) == "cpu");
    SINTER_ASSERT_OK(sinter_model_free(model, &error));
    model = nullptr;
    SINTER_ASSERT_OK(sinter_options_free(options, &error));
    InterfaceFixture::SetUp();
  }
}

TEST_F(CCallbacks, WithoutACallbackNothingIsPrinted) {
  open(printing);
  set("loss", "mean-squared");
  StandardOutput output;
  train();
  EXPECT_EQ(output.take(), "");
}

int32_t sineSample(void *, size_t index, sinter_tensor *inputs, size_t) {
  static const int64_t shape[] = {4, 2};
  static float data[8];
  for (size_t i = 0; i < 8; ++i)
    data[i] = std::sin(static_cast<float>(index * 8 + i));
  inputs[0].type = SINTER_F32;
  inputs[0].rank = 2;
  inputs[0].shape = shape;
  inputs[0].data = data;
  return 0;
}

TEST_F(CCallbacks, QuantisingPrintsAndTellsItsProgress) {
  listen();
  open(printing);
  set("for", "any");
  sinter_model *quantized = nullptr;
  StandardOutput output;
  SINTER_ASSERT_OK(sinter_model_quantize(model, options, sineSample, nullptr, 6,
                                         &quantized, nullptr, &error));
  EXPECT_EQ(output.take(), "");
  EXPECT_NE(told.printed, "");
  EXPECT_FALSE(told.stages.empty());
  for (const auto &[name, stage] : told.stages) {
    EXPECT_TRUE(stage.isOrdered) << name;
    EXPECT_GT(stage.total, 0U) << name;
  }
  SINTER_ASSERT_OK(sinter_model_free(quantized, &error));
}

TEST_F(CCallbacks, NotesGoToTheLog) {
  listen();
  // Only the interpreter runs a function of the process on a computed size.
  open(R"(
func.func @main(%x: tensor<6xf32>) -> tensor<?x?xf32> {
  %n = nn.non_zero %x : (tensor<6xf32>) -> tensor<1x?xi64>
  %s = stablehlo.get_dimension_size %n, dim = 1 : (tensor<1x?xi64>) -> tensor<i32>
  %v = stablehlo.reshape %s : (tensor<i32>) -> tensor<1xi32>
  %sizes = stablehlo.concatenate %v, %v, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %two = stablehlo.constant dense<2.0> : tensor<f32>
  %a = stablehlo.dynamic_broadcast_in_dim %two, %sizes, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x?xf32>
  %c = stablehlo.cholesky %a, lower = true : tensor<?x?xf32>
  return %c : tensor<?x?xf32>
}
)");
  compile();
  EXPECT_TRUE(told.logged.ends_with("runs on the interpreter, which is slow\n"))
      << told.logged;
}

} // namespace
