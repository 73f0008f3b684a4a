//===- TrainerTest.cpp - training by steps of a program's own -------------===//
//
// Covers: bindings/c NewModel Trainer
// Covers: train BatchTrainer OpenTrainable
//
//===----------------------------------------------------------------------===//

#include "sinter.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace {

/// y = x w, without a bias.
const std::string linear = R"(
func.func @main(%x: tensor<?x2xf32> {sinter.name = "x"}) -> tensor<?x1xf32> {
  %w = stablehlo.constant dense<[[0.0], [0.5]]> : tensor<2x1xf32>
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<?x2xf32>, tensor<2x1xf32>) -> tensor<?x1xf32>
  return %y : tensor<?x1xf32>
}
)";

/// The message of a call's error, which is freed.
struct Failure {
  ~Failure() { sinter_error_free(error); }
  sinter_error **operator&() { return &error; }
  std::string message() const { return sinter_error_message(error); }

  sinter_error *error = nullptr;
};

#define SINTER_ASSERT_DONE(call)                                               \
  do {                                                                         \
    Failure error;                                                             \
    ASSERT_EQ((call), SINTER_OK) << error.message();                           \
  } while (false)

class CTrainer : public testing::Test {
protected:
  void SetUp() override {
    SINTER_ASSERT_DONE(sinter_options_new(&options, &error));
    set("no-cache", "true");
    set("threads", "1");
    set("loss", "mean-squared");
    set("lr", "0.25");
    SINTER_ASSERT_DONE(sinter_model_open_memory(linear.data(), linear.size(),
                                                "linear.mlir", nullptr, nullptr,
                                                &model, &error));
  }

  void TearDown() override {
    EXPECT_EQ(sinter_trainer_free(trainer, nullptr), SINTER_OK);
    EXPECT_EQ(sinter_model_free(model, nullptr), SINTER_OK);
    EXPECT_EQ(sinter_options_free(options, nullptr), SINTER_OK);
  }

  void set(const char *name, const char *value) {
    SINTER_ASSERT_DONE(sinter_options_set(options, name, value, &error));
  }

  void begin() {
    SINTER_ASSERT_DONE(sinter_trainer_new(model, options, &trainer, &error));
  }

  /// Two samples, with their targets; as sinter_trainer_step or another call.
  template <typename Call>
  sinter_status with(Call call, float first, double *loss,
                     sinter_error **error) {
    static const int64_t shapes[2][2] = {{2, 2}, {2, 1}};
    float x[] = {first, 0, 0, 1}, target[] = {1, 3};
    const sinter_tensor batch[] = {
        {sizeof(sinter_tensor), SINTER_F32, 2, shapes[0], nullptr, x},
        {sizeof(sinter_tensor), SINTER_F32, 2, shapes[1], nullptr, target}};
    return call(trainer, batch, 2, loss, error);
  }

  /// What the model with the present weights computes for the unit vectors.
  std::vector<float> weights() {
    sinter_model *trained = nullptr;
    sinter_session *session = nullptr;
    std::vector<float> x = {1, 0, 0, 1}, y(2, -1);
    EXPECT_EQ(sinter_trainer_model(trainer, &trained, nullptr), SINTER_OK);
    EXPECT_EQ(sinter_compile(trained, nullptr, &session, nullptr), SINTER_OK);
    const int64_t shape[] = {2, 2}, out[] = {2, 1};
    const sinter_tensor input = {sizeof(input), SINTER_F32, 2,
                                 shape,         nullptr,    x.data()};
    sinter_tensor output = {sizeof(output), SINTER_F32, 2, out,
                            nullptr,        y.data()};
    EXPECT_EQ(sinter_session_run(session, &input, 1, &output, 1, nullptr,
                                 nullptr, nullptr),
              SINTER_OK);
    EXPECT_EQ(sinter_session_free(session, nullptr), SINTER_OK);
    EXPECT_EQ(sinter_model_free(trained, nullptr), SINTER_OK);
    return y;
  }

  sinter_options *options = nullptr;
  sinter_model *model = nullptr;
  sinter_trainer *trainer = nullptr;
};

TEST_F(CTrainer, StepsFollowTheGradient) {
  begin();
  ASSERT_EQ(sinter_trainer_array_count(trainer), 2U);
  EXPECT_STREQ(sinter_trainer_array_name(trainer, 0), "x");
  EXPECT_STREQ(sinter_trainer_array_name(trainer, 1), "target");
  EXPECT_EQ(sinter_trainer_array_name(trainer, 2), nullptr);
  EXPECT_EQ(weights(), (std::vector<float>{0, 0.5}));
  // The mean of (w - t)^2 over two: its gradient is w - t.
  double loss = 0;
  SINTER_ASSERT_DONE(with(sinter_trainer_evaluate, 1, &loss, &error));
  EXPECT_EQ(loss, 3.625);
  SINTER_ASSERT_DONE(with(sinter_trainer_step, 1, &loss, &error));
  EXPECT_EQ(loss, 3.625);
  EXPECT_EQ(weights(), (std::vector<float>{0.25, 1.125}));
  double rate = 0;
  SINTER_ASSERT_DONE(sinter_trainer_learning_rate(trainer, &rate, &error));
  EXPECT_EQ(rate, 0.25);
  SINTER_ASSERT_DONE(sinter_trainer_set_learning_rate(trainer, 1, &error));
  SINTER_ASSERT_DONE(with(sinter_trainer_step, 1, nullptr, &error));
  EXPECT_EQ(weights(), (std::vector<float>{1, 3}));
  SINTER_ASSERT_DONE(with(sinter_trainer_evaluate, 1, &loss, &error));
  EXPECT_EQ(loss, 0);
  EXPECT_EQ(weights(), (std::vector<float>{1, 3}));
}

TEST_F(CTrainer, AccumulatesGradientsOfBatches) {
  set("accumulate", "2");
  begin();
  SINTER_ASSERT_DONE(with(sinter_trainer_step, 1, nullptr, &error));
  EXPECT_EQ(weights(), (std::vector<float>{0, 0.5}));
  SINTER_ASSERT_DONE(with(sinter_trainer_step, 1, nullptr, &error));
  EXPECT_EQ(weights(), (std::vector<float>{0.25, 1.125}));
}

TEST_F(CTrainer, AStepThatIsNotFiniteIsTheLast) {
  begin();
  SINTER_ASSERT_DONE(with(sinter_trainer_step, 1, nullptr, &error));
  Failure error;
  EXPECT_EQ(with(sinter_trainer_step, std::numeric_limits<float>::quiet_NaN(),
                 nullptr, &error),
            SINTER_WRONG_RESULT);
  EXPECT_NE(error.message().find("step 2"), std::string::npos)
      << error.message();
  EXPECT_NE(error.message().find("the input 'x' holds NaN"), std::string::npos)
      << error.message();
  EXPECT_EQ(weights(), (std::vector<float>{0.25, 1.125}));
  EXPECT_EQ(with(sinter_trainer_step, 1, nullptr, nullptr), SINTER_USAGE);
}

TEST_F(CTrainer, OptionsAndBatchesAreChecked) {
  const auto refused = [&](const char *name, const char *value,
                           const std::string &words) {
    sinter_options *wrong = nullptr;
    ASSERT_EQ(sinter_options_new(&wrong, nullptr), SINTER_OK);
    ASSERT_EQ(sinter_options_set(wrong, name, value, nullptr), SINTER_OK);
    Failure error;
    EXPECT_EQ(sinter_trainer_new(model, wrong, &trainer, &error), SINTER_USAGE);
    EXPECT_EQ(error.message().find("--"), std::string::npos);
    EXPECT_NE(error.message().find(words), std::string::npos)
        << error.message();
    EXPECT_EQ(sinter_options_free(wrong, nullptr), SINTER_OK);
  };
  refused("loss", "huge", "huber");
  refused("momentum", "-1", "momentum: a number from 0 on");
  refused("nesterov", "true", "nesterov needs momentum");
  refused("loss-output", "z", "no output 'z'");
  refused("epochs", "2", "there is no option 'epochs' here");

  begin();
  Failure count, shape, rate;
  EXPECT_EQ(sinter_trainer_step(trainer, nullptr, 1, nullptr, &count),
            SINTER_USAGE);
  EXPECT_NE(count.message().find("2 arrays"), std::string::npos)
      << count.message();
  EXPECT_EQ(sinter_trainer_step(trainer, nullptr, 2, nullptr, nullptr),
            SINTER_USAGE);
  float x[3] = {};
  const int64_t wide[] = {1, 3};
  const sinter_tensor one = {sizeof(one), SINTER_F32, 2, wide, nullptr, x};
  const sinter_tensor batch[] = {one, one};
  EXPECT_EQ(sinter_trainer_step(trainer, batch, 2, nullptr, &shape),
            SINTER_USAGE);
  EXPECT_NE(shape.message().find("batch: the array 'x' is a 1x3xf32"),
            std::string::npos)
      << shape.message();
  EXPECT_EQ(sinter_trainer_set_learning_rate(trainer, std::nan(""), &rate),
            SINTER_USAGE);
  EXPECT_EQ(sinter_trainer_new(nullptr, nullptr, &trainer, nullptr),
            SINTER_USAGE);
  EXPECT_EQ(sinter_trainer_step(nullptr, batch, 2, nullptr, nullptr),
            SINTER_USAGE);
  EXPECT_EQ(sinter_trainer_array_count(nullptr), 0U);
}

TEST_F(CTrainer, OutlivesItsModel) {
  begin();
  SINTER_ASSERT_DONE(sinter_model_free(model, &error));
  model = nullptr;
  SINTER_ASSERT_DONE(with(sinter_trainer_step, 1, nullptr, &error));
  EXPECT_EQ(weights(), (std::vector<float>{0.25, 1.125}));
  EXPECT_EQ(sinter_model_free(model, nullptr), SINTER_OK);
}

} // namespace
