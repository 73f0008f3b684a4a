//===- TrainerTest.cpp - training a small model as a library does ---------===//
//
// y = x w, of two features and two classes; which feature is larger is the
// class.
//
//===----------------------------------------------------------------------===//
//
// Covers: data BatchQueue TrainingData TrainingDataLoader
// Covers: train Epoch Losses TrainOptions TrainingHistory

#include "train/Trainer.h"
#include "TemporaryFolder.h"
#include "runtime/MappedFile.h"
#include "runtime/Npy.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

namespace sinter {
namespace {

namespace fs = std::filesystem;
using test::TemporaryFolder;

constexpr int64_t sampleCount = 16;

constexpr const char *classifier = R"(
func.func @main(%x: tensor<?x2xf32> {sinter.name = "x"}) -> tensor<?x2xf32> {
  %w = stablehlo.constant dense<[[-0.5, 0.25], [0.125, -0.75]]> : tensor<2x2xf32>
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<?x2xf32>, tensor<2x2xf32>) -> tensor<?x2xf32>
  return %y : tensor<?x2xf32>
}
)";

/// Keeps what it is told.
class Watcher : public TrainObserver {
public:
  void step(const DoneStep &step, const Epoch &) override {
    steps.push_back(step);
  }
  void epoch(const DoneEpoch &epoch, const TrainingHistory &history) override {
    epochs.push_back(epoch);
    EXPECT_EQ(history.epochs().size(), epoch.number + 1);
  }

  std::vector<DoneStep> steps;
  std::vector<DoneEpoch> epochs;
};

class TrainerTest : public testing::TestWithParam<Backend> {
protected:
  TrainerTest() { folder.write("net.mlir", classifier); }

  static SessionOptions session(Backend backend = Backend::Cpu) {
    SessionOptions session;
    session.backend = backend;
    session.threads = 2;
    return session;
  }

  /// Four epochs of four steps each.
  TrainOptions options() {
    TrainOptions options;
    options.model = folder.file("net.mlir");
    options.dataArrays = samples();
    options.rate.rate = 0.5;
    options.epochs = 4;
    options.batch = 4;
    options.seed = 7;
    options.training.optimizer.kind = autodiff::Optimizer::Adam;
    options.note = [this](const std::string &text) { notes += text + "\n"; };
    return options;
  }

  static NamedTensors samples() {
    std::vector<float> x;
    std::vector<int64_t> classes;
    for (int64_t i = 0; i < sampleCount; ++i) {
      const auto angle = static_cast<float>(i) * 2.4F + 0.3F;
      x.insert(x.end(), {std::cos(angle), std::sin(angle)});
      classes.push_back(x[2 * i] > x[2 * i + 1] ? 0 : 1);
    }
    return {{"x", Tensor::of<float>(ElementType::F32, {sampleCount, 2}, x)},
            {"target",
             Tensor::of<int64_t>(ElementType::I64, {sampleCount}, classes)}};
  }

  static std::unique_ptr<Trainer> open(TrainOptions options,
                                       SessionOptions how = session()) {
    auto trainer = Trainer::open(std::move(options), std::move(how));
    if (!trainer)
      ADD_FAILURE() << trainer.error().message();
    return trainer ? std::move(*trainer) : nullptr;
  }

  static Error refused(TrainOptions options) {
    auto trainer = Trainer::open(std::move(options), session());
    if (!trainer)
      return trainer.takeError();
    return {ErrorKind::WrongResult, "it was not refused"};
  }

  /// Does all steps, after what a checkpoint says; the weights.
  static NamedTensors trained(Trainer &trainer, Watcher &watcher) {
    if (Result<void> ready = trainer.resume(); !ready) {
      ADD_FAILURE() << ready.error().message();
      return {};
    }
    auto stopped = trainer.train(watcher);
    if (!stopped || *stopped) {
      ADD_FAILURE() << (stopped ? (*stopped)->text()
                                : stopped.error().message());
      return {};
    }
    Result<NamedTensors> values = trainer.values();
    if (!values)
      ADD_FAILURE() << values.error().message();
    return values ? std::move(*values) : NamedTensors();
  }
  static NamedTensors trained(TrainOptions options) {
    std::unique_ptr<Trainer> trainer = open(std::move(options));
    Watcher watcher;
    return trainer ? trained(*trainer, watcher) : NamedTensors();
  }

  static void expectSameBits(const NamedTensors &got,
                             const NamedTensors &expected) {
    ASSERT_FALSE(expected.empty());
    ASSERT_EQ(got.size(), expected.size());
    for (size_t i = 0; i < got.size(); ++i) {
      const Tensor &own = got[i].second, &other = expected[i].second;
      EXPECT_EQ(got[i].first, expected[i].first);
      ASSERT_EQ(own.bytes(), other.bytes());
      EXPECT_TRUE(
          std::equal(own.data(), own.data() + own.bytes(), other.data()))
          << got[i].first;
    }
  }

  TemporaryFolder folder;
  std::string notes;
};

TEST_P(TrainerTest, LossFalls) {
  TrainOptions how = options();
  how.validationArrays = samples();
  std::unique_ptr<Trainer> trainer = open(std::move(how), session(GetParam()));
  ASSERT_TRUE(trainer);
  EXPECT_EQ(trainer->totalSteps(), 16U);
  Watcher watcher;
  const NamedTensors values = trained(*trainer, watcher);
  EXPECT_EQ(trainer->steps(), 16U);
  EXPECT_EQ(trainer->weightCount(), 1U);
  ASSERT_EQ(watcher.steps.size(), 16U);
  ASSERT_EQ(watcher.epochs.size(), 4U);
  EXPECT_EQ(watcher.steps.back().number, 16U);
  EXPECT_EQ(watcher.steps.back().epoch, 3U);
  EXPECT_LT(watcher.epochs.back().trained.meanLoss(),
            watcher.epochs.front().trained.meanLoss() / 2);
  ASSERT_TRUE(watcher.epochs.back().judged);
  EXPECT_EQ(watcher.epochs.back().judged->accuracy(), 1);
  ASSERT_TRUE(trainer->best());
  EXPECT_EQ(trainer->best()->loss, watcher.epochs.back().judged->meanLoss());
  EXPECT_TRUE(trainer->finish());
}

INSTANTIATE_TEST_SUITE_P(Backends, TrainerTest,
                         testing::Values(Backend::Cpu, Backend::Interpreter),
                         [](const auto &info) {
                           return info.param == Backend::Cpu ? "Cpu"
                                                             : "Interpreter";
                         });

TEST_F(TrainerTest, CheckpointResumesToTheSameBits) {
  const NamedTensors whole = trained(options());
  TrainOptions kept = options();
  kept.checkpointFolder = folder.file("checkpoints");
  kept.checkpointSteps = 3;
  kept.keptCheckpoints = 100;
  expectSameBits(trained(kept), whole);
  // Back to the step 6, in the middle of an epoch.
  for (const auto &entry : fs::directory_iterator(kept.checkpointFolder))
    if (entry.path().filename().string() > "step-0000000006")
      fs::remove_all(entry.path());
  kept.resumes = true;
  std::unique_ptr<Trainer> trainer = open(kept);
  ASSERT_TRUE(trainer);
  Watcher watcher;
  expectSameBits(trained(*trainer, watcher), whole);
  ASSERT_EQ(watcher.steps.size(), 10U);
  EXPECT_EQ(watcher.steps.front().number, 7U);
  EXPECT_EQ(trainer->history().epochs().size(), 4U);
  EXPECT_EQ(notes, "going on after step 6\n");
}

TEST_F(TrainerTest, MoreEpochsGoOn) {
  TrainOptions kept = options();
  kept.checkpointFolder = folder.file("checkpoints");
  kept.epochs = 2;
  trained(kept);
  kept.epochs = 4;
  kept.resumes = true;
  expectSameBits(trained(kept), trained(options()));
  EXPECT_EQ(notes, "resumes: 2 epochs become 4\ngoing on after step 8\n");
  // All is done: the values are those of the last checkpoint.
  expectSameBits(trained(kept), trained(options()));
}

TEST_F(TrainerTest, OtherSettingsDoNotGoOn) {
  TrainOptions kept = options();
  kept.checkpointFolder = folder.file("checkpoints");
  trained(kept);
  std::unique_ptr<Trainer> again = open(kept);
  ASSERT_TRUE(again);
  Result<void> refused = again->resume();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message(),
            "checkpointFolder '" + kept.checkpointFolder +
                "' holds the checkpoints of a run; resumes goes on from the "
                "newest");
  kept.resumes = true;
  kept.seed = 8;
  std::unique_ptr<Trainer> other = open(kept);
  ASSERT_TRUE(other);
  refused = other->resume();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::Usage);
  EXPECT_EQ(refused.error().message(), "resumes: the run in '" +
                                           kept.checkpointFolder +
                                           "' had another seed (7, now 8)");
}

TEST_F(TrainerTest, WrittenModelHasTheWeights) {
  std::unique_ptr<Trainer> trainer = open(options());
  ASSERT_TRUE(trainer);
  Watcher watcher;
  trained(*trainer, watcher);
  ASSERT_TRUE(trainer->write(folder.file("out.mlir"), Overwrite::Nothing));
  auto before = readFile(folder.file("net.mlir"), 10000),
       after = readFile(folder.file("out.mlir"), 10000);
  ASSERT_TRUE(before && after);
  EXPECT_NE(*before, *after);
  EXPECT_NE(after->find("dot_general"), std::string::npos);
  // The model itself stays unless that is allowed.
  EXPECT_FALSE(trainer->write(folder.file("net.mlir"), Overwrite::Nothing));
  ASSERT_TRUE(trainer->writeStep(StepForm::Public, folder.file("step.mlir")));
  EXPECT_TRUE(fs::exists(folder.file("step.mlir")));
}

TEST_F(TrainerTest, FolderOfClasses) {
  const NamedTensors arrays = samples();
  for (int64_t i = 0; i < sampleCount; ++i) {
    const std::string name =
        arrays[1].second.toInteger(i) == 0 ? "left" : "right";
    fs::create_directories(folder.file("data/" + name));
    const Tensor row = Tensor::of<std::byte>(
        ElementType::F32, {1, 2}, {arrays[0].second.data() + 8 * i, 8});
    ASSERT_TRUE(writeNpy(
        folder.file("data/" + name + "/" + std::to_string(i) + ".npy"), row));
  }
  TrainOptions how = options();
  how.dataArrays.reset();
  how.data = folder.file("data");
  std::unique_ptr<Trainer> trainer = open(how);
  ASSERT_TRUE(trainer);
  Watcher watcher;
  trained(*trainer, watcher);
  ASSERT_EQ(watcher.epochs.size(), 4U);
  EXPECT_LT(watcher.epochs.back().trained.meanLoss(),
            watcher.epochs.front().trained.meanLoss() / 2);
  fs::create_directories(folder.file("data/third"));
  EXPECT_EQ(refused(how).message(),
            "data '" + how.data + "': the class 'third' has no sample");
}

TEST_F(TrainerTest, WhatIsNotFiniteEndsTheRun) {
  TrainOptions how = options();
  how.noShuffle = true;
  Tensor &x = how.dataArrays->front().second;
  x.set<float>(2 * 5, std::numeric_limits<float>::infinity());
  std::unique_ptr<Trainer> trainer = open(std::move(how));
  ASSERT_TRUE(trainer);
  Watcher watcher;
  auto stopped = trainer->train(watcher);
  ASSERT_TRUE(stopped) << stopped.error().message();
  ASSERT_TRUE(*stopped);
  EXPECT_EQ((*stopped)->step, 2U);
  EXPECT_FALSE((*stopped)->isLossFinite);
  EXPECT_EQ((*stopped)->text(),
            "the loss of step 2 is not a number: " + (*stopped)->why);
  EXPECT_NE((*stopped)->why.find("'x'"), std::string::npos) << (*stopped)->why;
  EXPECT_TRUE(watcher.epochs.empty());
}

TEST_F(TrainerTest, RefusedOptions) {
  TrainOptions how = options();
  how.resumes = true;
  EXPECT_EQ(refused(how).message(), "resumes needs checkpointFolder DIR");
  how = options();
  how.batch = 0;
  EXPECT_EQ(refused(how).kind, ErrorKind::Usage);
  how = options();
  how.writesBest = true;
  EXPECT_EQ(refused(how).message(), "writesBest needs validation");
  how = options();
  how.dataArrays->pop_back();
  EXPECT_EQ(refused(how).message(),
            "data: there is no array 'target'; it holds x");
  how = options();
  how.batch = 17;
  how.dropLast = true;
  EXPECT_EQ(refused(how).message(), "dropLast: there are 16 samples, which do "
                                    "not fill a batch of 17");
  how = options();
  how.dataArrays.reset();
  how.data = folder.file("none");
  EXPECT_EQ(refused(how).message(), "data: there is no '" + how.data + "'");
  EXPECT_EQ(refused(how).kind, ErrorKind::System);
}

} // namespace
} // namespace sinter
