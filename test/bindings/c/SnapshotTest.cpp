//===- SnapshotTest.cpp - going back to earlier states --------------------===//
//
// Covers: bindings/c Snapshot
//
//===----------------------------------------------------------------------===//

#include "InterfaceFixture.h"

#include <atomic>
#include <cstring>
#include <thread>

namespace {

using sinter::test::sized, sinter::test::tensor;

/// Adds x to one state and counts runs in another.
const std::string sums = R"(
func.func @main(%x: tensor<2xf32>, %s: tensor<2xf32> {sinter.state = "sum", sinter.initial = dense<[1.0, 2.0]> : tensor<2xf32>},
    %n: tensor<i32> {sinter.state = "count", sinter.initial = dense<0> : tensor<i32>})
    -> (tensor<2xf32>, tensor<2xf32> {sinter.state = "sum"}, tensor<i32> {sinter.state = "count"}) {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0 = stablehlo.add %x, %s : tensor<2xf32>
  %1 = stablehlo.add %n, %one : tensor<i32>
  return %0, %0, %1 : tensor<2xf32>, tensor<2xf32>, tensor<i32>
}
)";

class CSnapshot : public sinter::test::InterfaceFixture {
protected:
  void SetUp() override {
    InterfaceFixture::SetUp();
    open(sums);
    compile();
  }

  void TearDown() override {
    sinter_snapshot_free(snapshot);
    InterfaceFixture::TearDown();
  }

  std::vector<float> run() {
    std::vector<float> x = {10, 20}, y(2);
    const sinter_tensor input = tensor(x, shape);
    sinter_tensor output = tensor(y, shape);
    EXPECT_EQ(sinter_session_run(session, &input, 1, &output, 1, nullptr,
                                 nullptr, nullptr),
              SINTER_OK);
    return y;
  }

  std::string bytes() {
    size_t size = 0;
    const void *data = sinter_snapshot_data(snapshot, &size);
    return {static_cast<const char *>(data), size};
  }

  const std::vector<int64_t> shape = {2};
  sinter_snapshot *snapshot = nullptr;
};

using Values = std::vector<float>;

TEST_F(CSnapshot, ASessionGoesBack) {
  run();
  SINTER_ASSERT_OK(sinter_session_snapshot(session, &snapshot, &error));
  EXPECT_EQ(run(), (Values{21, 42}));
  EXPECT_EQ(run(), (Values{31, 62}));
  SINTER_ASSERT_OK(sinter_session_restore(session, snapshot, &error));
  EXPECT_EQ(run(), (Values{21, 42}));
  SINTER_ASSERT_OK(sinter_session_reset_states(session, &error));
  EXPECT_EQ(run(), (Values{11, 22}));
  // A snapshot stays what it was.
  SINTER_ASSERT_OK(sinter_session_restore(session, snapshot, &error));
  EXPECT_EQ(run(), (Values{21, 42}));
}

TEST_F(CSnapshot, ShowsItsStates) {
  run();
  SINTER_ASSERT_OK(sinter_session_snapshot(session, &snapshot, &error));
  ASSERT_EQ(sinter_snapshot_state_count(snapshot), 2U);
  EXPECT_STREQ(sinter_snapshot_state_name(snapshot, 0), "sum");
  EXPECT_STREQ(sinter_snapshot_state_name(snapshot, 1), "count");
  auto state = sized<sinter_tensor>();
  SINTER_ASSERT_OK(sinter_snapshot_state(snapshot, 0, &state, &error));
  EXPECT_EQ(state.type, SINTER_F32);
  ASSERT_EQ(state.rank, 1);
  EXPECT_EQ(state.shape[0], 2);
  EXPECT_EQ(static_cast<const float *>(state.data)[1], 22);
  SINTER_ASSERT_OK(sinter_snapshot_state(snapshot, 1, &state, &error));
  EXPECT_EQ(state.type, SINTER_I32);
  EXPECT_EQ(state.rank, 0);
  EXPECT_EQ(*static_cast<const int32_t *>(state.data), 1);
}

TEST_F(CSnapshot, GoesToMemoryAndToAnotherSession) {
  run();
  SINTER_ASSERT_OK(sinter_session_snapshot(session, &snapshot, &error));
  const std::string kept = bytes();
  sinter_snapshot_free(snapshot);
  SINTER_ASSERT_OK(
      sinter_snapshot_open(kept.data(), kept.size(), &snapshot, &error));
  EXPECT_EQ(bytes(), kept);
  SINTER_ASSERT_OK(sinter_session_free(session, &error));
  compile();
  SINTER_ASSERT_OK(sinter_session_restore(session, snapshot, &error));
  EXPECT_EQ(run(), (Values{21, 42}));
}

TEST_F(CSnapshot, ABindingHasStatesOfItsOwn) {
  sinter_binding *binding = nullptr;
  SINTER_ASSERT_OK(sinter_binding_new(session, &binding, &error));
  SINTER_EXPECT_REFUSED(SINTER_USAGE, "input 0 is not bound",
                        sinter_binding_snapshot(binding, &snapshot, &error));
  std::vector<float> x = {10, 20}, y(2), held(2);
  const sinter_tensor input = tensor(x, shape), output = tensor(y, shape),
                      state = tensor(held, shape);
  SINTER_ASSERT_OK(sinter_binding_set_input(binding, 0, &input, &error));
  SINTER_ASSERT_OK(sinter_binding_set_output(binding, 0, &output, &error));
  // Before a run, the initial ones.
  SINTER_ASSERT_OK(sinter_binding_read_state(binding, 0, &state, &error));
  EXPECT_EQ(held, (Values{1, 2}));
  SINTER_ASSERT_OK(sinter_binding_snapshot(binding, &snapshot, &error));
  SINTER_ASSERT_OK(sinter_binding_run(binding, nullptr, &error));
  SINTER_ASSERT_OK(sinter_binding_run(binding, nullptr, &error));
  EXPECT_EQ(y, (Values{21, 42}));
  held = {-1, -2};
  SINTER_ASSERT_OK(sinter_binding_write_state(binding, 0, &state, &error));
  SINTER_ASSERT_OK(sinter_binding_run(binding, nullptr, &error));
  EXPECT_EQ(y, (Values{9, 18}));
  SINTER_ASSERT_OK(sinter_binding_restore(binding, snapshot, &error));
  SINTER_ASSERT_OK(sinter_binding_run(binding, nullptr, &error));
  EXPECT_EQ(y, (Values{11, 22}));
  EXPECT_EQ(run(), (Values{11, 22}));
  SINTER_EXPECT_REFUSED(SINTER_USAGE, "",
                        sinter_binding_read_state(binding, 2, &state, &error));
  SINTER_EXPECT_REFUSED(SINTER_USAGE, "to is NULL",
                        sinter_binding_read_state(binding, 0, nullptr, &error));
  SINTER_ASSERT_OK(sinter_binding_free(binding, &error));
}

TEST_F(CSnapshot, StatesThatDifferAreRefusedAndNoneIsSet) {
  run();
  SINTER_ASSERT_OK(sinter_session_snapshot(session, &snapshot, &error));
  const auto refused = [&](const std::string &from, const std::string &to,
                           const std::string &words) {
    std::string text = sums;
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos;
         at += to.size())
      text.replace(at, from.size(), to);
    sinter_model *other = nullptr;
    sinter_session *its = nullptr;
    SINTER_ASSERT_OK(sinter_model_open_memory(text.data(), text.size(),
                                              "other.mlir", nullptr, options,
                                              &other, &error));
    SINTER_ASSERT_OK(sinter_compile(other, options, &its, &error));
    SINTER_EXPECT_REFUSED(SINTER_USAGE, words,
                          sinter_session_restore(its, snapshot, &error));
    std::vector<float> held(2);
    const sinter_tensor state = tensor(held, shape);
    SINTER_ASSERT_OK(sinter_session_read_state(its, 0, &state, &error));
    EXPECT_EQ(held, (Values{1, 2}));
    SINTER_ASSERT_OK(sinter_session_free(its, &error));
    SINTER_ASSERT_OK(sinter_model_free(other, &error));
  };
  refused("\"count\"", "\"runs\"", "no state 'runs'");
  refused("i32>", "i64>", "the snapshot has i32, the model i64");
}

TEST_F(CSnapshot, DamagedBytesAreRefused) {
  SINTER_ASSERT_OK(sinter_session_snapshot(session, &snapshot, &error));
  const std::string good = bytes();
  sinter_snapshot *other = nullptr;
  for (size_t size = 0; size < good.size(); ++size)
    SINTER_EXPECT_REFUSED(
        SINTER_SYSTEM, "damaged",
        sinter_snapshot_open(good.data(), size, &other, &error));
  for (size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 1);
    SINTER_EXPECT_REFUSED(
        SINTER_SYSTEM, "damaged",
        sinter_snapshot_open(bad.data(), bad.size(), &other, &error));
  }
  EXPECT_EQ(other, nullptr);
}

TEST_F(CSnapshot, IsOfOneTimeWhileOtherThreadsRun) {
  std::atomic<bool> stops = false;
  std::thread runner([&] {
    while (!stops)
      run();
  });
  for (int times = 0; times < 200; ++times) {
    sinter_snapshot *taken = nullptr;
    SINTER_ASSERT_OK(sinter_session_snapshot(session, &taken, &error));
    auto sum = sized<sinter_tensor>(), count = sized<sinter_tensor>();
    SINTER_ASSERT_OK(sinter_snapshot_state(taken, 0, &sum, &error));
    SINTER_ASSERT_OK(sinter_snapshot_state(taken, 1, &count, &error));
    const auto runs =
        static_cast<float>(*static_cast<const int32_t *>(count.data));
    EXPECT_EQ(static_cast<const float *>(sum.data)[0], 1 + 10 * runs);
    if (runs > 1000)
      SINTER_ASSERT_OK(sinter_session_restore(session, taken, &error));
    sinter_snapshot_free(taken);
  }
  stops = true;
  runner.join();
}

TEST_F(CSnapshot, WrongArgumentsAreRefused) {
  SINTER_EXPECT_REFUSED(SINTER_USAGE, "snapshot is NULL",
                        sinter_session_snapshot(session, nullptr, &error));
  SINTER_EXPECT_REFUSED(SINTER_USAGE, "snapshot is NULL",
                        sinter_session_restore(session, nullptr, &error));
  SINTER_EXPECT_REFUSED(SINTER_USAGE, "session is NULL",
                        sinter_session_snapshot(nullptr, &snapshot, &error));
  SINTER_EXPECT_REFUSED(SINTER_USAGE, "bytes is NULL",
                        sinter_snapshot_open(nullptr, 1, &snapshot, &error));
  size_t size = 5;
  EXPECT_EQ(sinter_snapshot_data(nullptr, &size), nullptr);
  EXPECT_EQ(size, 0U);
  EXPECT_EQ(sinter_snapshot_state_count(nullptr), 0U);
  EXPECT_EQ(sinter_snapshot_state_name(nullptr, 0), nullptr);
  SINTER_ASSERT_OK(sinter_session_snapshot(session, &snapshot, &error));
  EXPECT_EQ(sinter_snapshot_state_name(snapshot, 2), nullptr);
  auto state = sized<sinter_tensor>();
  SINTER_EXPECT_REFUSED(SINTER_USAGE, "no state 2",
                        sinter_snapshot_state(snapshot, 2, &state, &error));
  SINTER_EXPECT_REFUSED(SINTER_USAGE, "tensor is NULL",
                        sinter_snapshot_state(snapshot, 0, nullptr, &error));
  sinter_snapshot *freed = std::exchange(snapshot, nullptr);
  sinter_snapshot_free(freed);
  SINTER_EXPECT_REFUSED(SINTER_USAGE, "freed",
                        sinter_session_restore(session, freed, &error));
  sinter_snapshot_free(freed);
}

} // namespace
