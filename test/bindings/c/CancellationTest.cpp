//===- CancellationTest.cpp - long calls that a program cancels -----------===//
//
// Covers: bindings/c Options Rewrite Session Trainer Compare
// Covers: engine TrainingRun
// Covers: engine/compiler Compile SampleRuns
// Covers: backend/cpu/program KernelCompilation
// Covers: passes Pipelines
//
//===----------------------------------------------------------------------===//

#include "InterfaceFixture.h"

#include <atomic>
#include <cmath>
#include <filesystem>
#include <unistd.h>

namespace {

using sinter::test::tensor;

/// y = x w, without a bias.
const std::string oneProduct = R"(
func.func @main(%x: tensor<?x2xf32> {sinter.name = "x"}) -> tensor<?x1xf32> {
  %w = stablehlo.constant dense<[[0.0], [0.5]]> : tensor<2x1xf32>
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<?x2xf32>, tensor<2x1xf32>) -> tensor<?x1xf32>
  return %y : tensor<?x1xf32>
}
)";

constexpr unsigned layerCount = 48;

/// Layers of a product and elementwise operations, which are others in each: as
/// many kernels whose code nothing shares.
std::string manyKernels() {
  const std::string type = "tensor<4x4xf32>";
  std::string text = "func.func @main(%x0: " + type + ", %w: " + type +
                     ") -> " + type + " {\n";
  for (unsigned layer = 0; layer < layerCount; ++layer) {
    const auto value = [&](const std::string &step) {
      return "%v" + std::to_string(layer) + "_" + step;
    };
    std::string last = value("0");
    text += last + " = stablehlo.dot_general %x" + std::to_string(layer) +
            ", %w, contracting_dims = [1] x [0] : (" + type + ", " + type +
            ") -> " + type + "\n";
    for (unsigned bit = 0; bit < 6; ++bit) {
      const std::string next = value(std::to_string(bit + 1));
      text += next + " = stablehlo." +
              ((layer >> bit) % 2 ? "tanh " : "sine ") + last + " : " + type +
              "\n";
      last = next;
    }
    text += "%x" + std::to_string(layer + 1) + " = stablehlo.add " + last +
            ", %w : " + type + "\n";
  }
  return text + "return %x" + std::to_string(layerCount) + " : " + type +
         "\n}\n";
}

/// Cancels a call of the library from one of its own threads.
struct Canceller {
  sinter_cancellation *cancellation = nullptr;
  std::atomic<uint64_t> calls = 0, total = 0;

  static void progress(void *user, const char *, uint64_t, uint64_t total) {
    auto &self = *static_cast<Canceller *>(user);
    ++self.calls;
    self.total = total;
    sinter_cancellation_cancel(self.cancellation);
  }

  /// Cancels with the third sample.
  static int32_t sample(void *user, size_t index, sinter_tensor *inputs,
                        size_t) {
    static const int64_t shape[] = {4, 2};
    static float data[8];
    auto &self = *static_cast<Canceller *>(user);
    if (++self.calls == 3)
      sinter_cancellation_cancel(self.cancellation);
    for (size_t i = 0; i < 8; ++i)
      data[i] = std::sin(static_cast<float>(index * 8 + i));
    inputs[0].type = SINTER_F32;
    inputs[0].rank = 2;
    inputs[0].shape = shape;
    inputs[0].data = data;
    return 0;
  }
};

class CCancellation : public sinter::test::InterfaceFixture {
protected:
  void SetUp() override {
    InterfaceFixture::SetUp();
    SINTER_ASSERT_OK(sinter_cancellation_new(&canceller.cancellation, &error));
  }

  void TearDown() override {
    InterfaceFixture::TearDown();
    sinter_cancellation_free(canceller.cancellation);
  }

  /// The model's own options have none.
  void open(const std::string &text) {
    InterfaceFixture::open(text);
    SINTER_ASSERT_OK(sinter_options_set_cancellation(
        options, canceller.cancellation, &error));
  }

  static void set(sinter_options *of, const char *name, const char *value) {
    SINTER_ASSERT_OK(sinter_options_set(of, name, value, &error));
  }

  void cancel() { sinter_cancellation_cancel(canceller.cancellation); }
  void reset() { sinter_cancellation_reset(canceller.cancellation); }

  /// Whether two models give the same for the same inputs.
  sinter_status compareWithItself() {
    return sinter_model_compare(model, model, nullptr, 0, options, nullptr,
                                nullptr);
  }

  /// What manyKernels() gives.
  std::vector<float> runMany() const {
    const std::vector<int64_t> shape = {4, 4};
    std::vector<float> x(16), w(16), y(16);
    for (size_t i = 0; i < x.size(); ++i) {
      x[i] = std::sin(static_cast<float>(i));
      w[i] = std::cos(static_cast<float>(i));
    }
    const sinter_tensor in[] = {tensor(x, shape), tensor(w, shape)};
    sinter_tensor out = tensor(y, shape);
    EXPECT_EQ(
        sinter_session_run(session, in, 2, &out, 1, nullptr, nullptr, nullptr),
        SINTER_OK);
    return y;
  }

  /// Cancels steps and evaluations before there is a program, and after.
  void cancelSteps(const char *backend) {
    open(oneProduct);
    set(options, "loss", "mean-squared");
    set(options, "backend", backend);
    sinter_trainer *trainer = nullptr;
    SINTER_ASSERT_OK(sinter_trainer_new(model, options, &trainer, &error));
    std::vector<float> x = {1, 0, 0, 1}, target = {1, 3};
    const std::vector<int64_t> xShape = {2, 2}, targetShape = {2, 1};
    const sinter_tensor batch[] = {tensor(x, xShape),
                                   tensor(target, targetShape)};
    // ((0 - 1)^2 + (0.5 - 3)^2) / 2.
    double before = 3.625, after = 0;
    for (bool isReady : {false, true}) {
      if (isReady) {
        SINTER_ASSERT_OK(
            sinter_trainer_step(trainer, batch, 2, nullptr, &error));
        SINTER_ASSERT_OK(
            sinter_trainer_evaluate(trainer, batch, 2, &before, &error));
      }
      cancel();
      SINTER_EXPECT_REFUSED(
          SINTER_CANCELLED, "was cancelled",
          sinter_trainer_step(trainer, batch, 2, nullptr, &error));
      SINTER_EXPECT_REFUSED(
          SINTER_CANCELLED, "was cancelled",
          sinter_trainer_evaluate(trainer, batch, 2, &after, &error));
      reset();
      SINTER_ASSERT_OK(
          sinter_trainer_evaluate(trainer, batch, 2, &after, &error));
      EXPECT_EQ(after, before);
    }
    SINTER_ASSERT_OK(sinter_trainer_free(trainer, &error));
  }

  Canceller canceller;
};

TEST_F(CCancellation, ACancelledOneEndsEveryCallAtOnce) {
  open(oneProduct);
  cancel();
  sinter_model *made = nullptr;
  sinter_trainer *trainer = nullptr;
  const char *words = "cancelled";
  SINTER_EXPECT_REFUSED(SINTER_CANCELLED, words,
                        sinter_compile(model, options, &session, &error));
  SINTER_EXPECT_REFUSED(
      SINTER_CANCELLED, words,
      sinter_model_optimize(model, options, &made, nullptr, &error));
  char *page = nullptr;
  SINTER_EXPECT_REFUSED(SINTER_CANCELLED, words,
                        sinter_model_view(model, options, &page, &error));
  SINTER_EXPECT_REFUSED(SINTER_CANCELLED, words,
                        sinter_model_quantize(model, options, Canceller::sample,
                                              &canceller, 6, &made, nullptr,
                                              &error));
  SINTER_EXPECT_REFUSED(
      SINTER_CANCELLED, words,
      sinter_model_compare(model, model, nullptr, 0, options, nullptr, &error));
  SINTER_EXPECT_REFUSED(SINTER_CANCELLED, words,
                        sinter_trainer_new(model, options, &trainer, &error));
  EXPECT_EQ(session, nullptr);
  EXPECT_EQ(made, nullptr);
  EXPECT_EQ(trainer, nullptr);
  EXPECT_EQ(canceller.calls, 0U);
  reset();
  compile();
  EXPECT_EQ(compareWithItself(), SINTER_OK);
}

TEST_F(CCancellation, CompilingEndsBetweenKernels) {
  const std::string folder = std::filesystem::temp_directory_path().string() +
                             "/sinter-cancel-" + std::to_string(::getpid());
  open(manyKernels());
  sinter_options *cached = nullptr;
  SINTER_ASSERT_OK(sinter_options_new(&cached, &error));
  set(cached, "no-cache", "false");
  set(cached, "cache-dir", folder.c_str());
  set(cached, "threads", "1");
  SINTER_ASSERT_OK(
      sinter_options_set_cancellation(cached, canceller.cancellation, &error));
  SINTER_ASSERT_OK(sinter_options_set_progress(cached, Canceller::progress,
                                               &canceller, &error));
  SINTER_EXPECT_REFUSED(SINTER_CANCELLED, "the compilation was cancelled",
                        sinter_compile(model, cached, &session, &error));
  EXPECT_GE(canceller.total, layerCount);
  EXPECT_EQ(canceller.calls, 1U);
  // What was compiled before is in the cache, and sound.
  reset();
  SINTER_ASSERT_OK(
      sinter_options_set_progress(cached, nullptr, nullptr, &error));
  compile();
  const std::vector<float> expected = runMany();
  for (const char *what : {"kernels of the cache", "a program of it"}) {
    SCOPED_TRACE(what);
    SINTER_ASSERT_OK(sinter_session_free(session, &error));
    session = nullptr;
    SINTER_ASSERT_OK(sinter_compile(model, cached, &session, &error));
    EXPECT_EQ(runMany(), expected);
  }
  SINTER_ASSERT_OK(sinter_options_free(cached, &error));
  std::filesystem::remove_all(folder);
}

TEST_F(CCancellation, ItEndsWhatASessionCompilesLater) {
  open(oneProduct);
  set(options, "static", "true");
  compile();
  std::vector<float> x = {1, 2, 3, 4}, y(2);
  const std::vector<int64_t> xShape = {2, 2}, yShape = {2, 1};
  const sinter_tensor in = tensor(x, xShape);
  sinter_tensor out = tensor(y, yShape);
  cancel();
  SINTER_EXPECT_REFUSED(
      SINTER_CANCELLED, "the model's rewriting was cancelled",
      sinter_session_run(session, &in, 1, &out, 1, nullptr, nullptr, &error));
  reset();
  SINTER_ASSERT_OK(
      sinter_session_run(session, &in, 1, &out, 1, nullptr, nullptr, &error));
  EXPECT_EQ(y, (std::vector<float>{1, 2}));
  // A program that is there runs: a run has a cancellation of its own.
  cancel();
  SINTER_ASSERT_OK(
      sinter_session_run(session, &in, 1, &out, 1, nullptr, nullptr, &error));
}

TEST_F(CCancellation, QuantisingEndsWithTheSample) {
  open(oneProduct);
  set(options, "for", "any");
  sinter_model *quantized = nullptr;
  SINTER_EXPECT_REFUSED(SINTER_CANCELLED, "was cancelled",
                        sinter_model_quantize(model, options, Canceller::sample,
                                              &canceller, 6, &quantized,
                                              nullptr, &error));
  EXPECT_EQ(canceller.calls, 3U);
  EXPECT_EQ(quantized, nullptr);
  reset();
  SINTER_ASSERT_OK(sinter_model_quantize(model, options, Canceller::sample,
                                         &canceller, 6, &quantized, nullptr,
                                         &error));
  SINTER_ASSERT_OK(sinter_model_free(quantized, &error));
}

TEST_F(CCancellation, ComparingEndsWhileItCompiles) {
  open(manyKernels());
  set(options, "threads", "1");
  SINTER_ASSERT_OK(sinter_options_set_progress(options, Canceller::progress,
                                               &canceller, &error));
  EXPECT_EQ(compareWithItself(), SINTER_CANCELLED);
  EXPECT_EQ(canceller.calls, 1U);
}

TEST_F(CCancellation, ACancelledStepLeavesTheWeights) { cancelSteps("cpu"); }

TEST_F(CCancellation, ACancelledStepOfTheInterpreterDoes) {
  cancelSteps("interpreter");
}

TEST_F(CCancellation, OptionsKeepIt) {
  open(oneProduct);
  cancel();
  sinter_cancellation_free(canceller.cancellation);
  EXPECT_EQ(compareWithItself(), SINTER_CANCELLED);
  SINTER_EXPECT_REFUSED(
      SINTER_USAGE, "cancellation",
      sinter_options_set_cancellation(options, canceller.cancellation, &error));
  canceller.cancellation = nullptr;
  SINTER_ASSERT_OK(sinter_options_set_cancellation(options, nullptr, &error));
  EXPECT_EQ(compareWithItself(), SINTER_OK);
}

} // namespace
