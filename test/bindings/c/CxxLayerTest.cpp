//===- CxxLayerTest.cpp - the C++ layer over the C interface --------------===//

#include "sinter.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory_resource>
#include <string>
#include <thread>

namespace {

const std::string doubled = R"(
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = stablehlo.add %x, %x : tensor<?xf32>
  return %0 : tensor<?xf32>
}
)";

sinter::Result<sinter::Model> openDoubled() {
  return sinter::Model::openMemory(std::as_bytes(std::span(doubled)),
                                   "doubled.mlir", "", {{"no-cache", "true"}});
}

TEST(CxxLayer, RunsOnMemoryOfTheCallerAndOfTheLibrary) {
  auto model = openDoubled();
  ASSERT_TRUE(model) << model.error().message();
  auto session = model->compile({{"threads", "1"}});
  ASSERT_TRUE(session) << session.error().message();
  std::array<float, 3> x = {1, 2, 3}, y = {};
  auto done = session->run({sinter::view(x, {3})}, {sinter::view(y, {3})});
  ASSERT_TRUE(done) << done.error().message();
  EXPECT_EQ(y, (std::array<float, 3>{2, 4, 6}));
  auto results = session->run({sinter::view(x, {3})});
  ASSERT_TRUE(results) << results.error().message();
  ASSERT_EQ(results->size(), 1U);
  EXPECT_TRUE(std::ranges::equal((*results)[0].values<float>(), y));
  EXPECT_TRUE((*results)[0].values<double>().empty());
}

TEST(CxxLayer, BindingsRunOften) {
  auto model = openDoubled();
  ASSERT_TRUE(model) << model.error().message();
  auto session = model->compile();
  ASSERT_TRUE(session) << session.error().message();
  auto binding = session->bind();
  ASSERT_TRUE(binding) << binding.error().message();
  std::array<float, 2> x = {}, y = {};
  ASSERT_TRUE(binding->setInput(0, sinter::view(x, {2})));
  ASSERT_TRUE(binding->setOutput(0, sinter::view(y, {2})));
  for (float value : {1.0F, 5.0F}) {
    x.fill(value);
    ASSERT_TRUE(binding->run());
    EXPECT_EQ(y[1], 2 * value);
  }
}

TEST(CxxLayer, ErrorsHaveTheirFields) {
  auto model = sinter::Model::open("/nonexistent/m.onnx");
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().status(), SINTER_SYSTEM);
  EXPECT_STREQ(model.error().file(), "/nonexistent/m.onnx");
}

/// x + s, which is kept in s.
const std::string summed = R"(
func.func @main(%x: tensor<2xf32> {sinter.name = "x"}, %s: tensor<2xf32> {sinter.state = "sum", sinter.initial = dense<[1.0, 2.0]> : tensor<2xf32>})
    -> (tensor<2xf32> {sinter.name = "y"}, tensor<2xf32> {sinter.state = "sum"}) {
  %0 = stablehlo.add %x, %s : tensor<2xf32>
  return %0, %0 : tensor<2xf32>, tensor<2xf32>
}
)";

sinter::Result<sinter::Model> openText(const std::string &text,
                                       sinter::Settings settings = {}) {
  return sinter::Model::openMemory(std::as_bytes(std::span(text)), "model.mlir",
                                   "", settings.set("no-cache", "true"));
}

TEST(CxxLayer, SessionsAndBindingsGoBackToSnapshots) {
  auto model = openText(summed);
  ASSERT_TRUE(model) << model.error().message();
  ASSERT_EQ(model->states().size(), 1U);
  EXPECT_STREQ(model->states()[0].name, "sum");
  auto session = model->compile();
  ASSERT_TRUE(session) << session.error().message();
  std::array<float, 2> x = {10, 20}, y = {}, held = {};
  auto binding = session->bind();
  ASSERT_TRUE(binding);
  ASSERT_TRUE(binding->setInput(0, sinter::view(x, {2})));
  ASSERT_TRUE(binding->setOutput(0, sinter::view(y, {2})));
  ASSERT_TRUE(binding->run());
  auto taken = binding->states().snapshot();
  ASSERT_TRUE(taken) << taken.error().message();
  auto read = sinter::Snapshot::open(taken->bytes());
  ASSERT_TRUE(read) << read.error().message();
  ASSERT_TRUE(session->states().restore(*read));
  ASSERT_TRUE(session->states().read(0, sinter::view(held, {2})));
  EXPECT_EQ(held, (std::array<float, 2>{11, 22}));
  ASSERT_TRUE(binding->run());
  EXPECT_EQ(y, (std::array<float, 2>{21, 42}));
  ASSERT_TRUE(binding->states().restore(*taken));
  ASSERT_TRUE(binding->states().read(0, sinter::view(held, {2})));
  EXPECT_EQ(held, (std::array<float, 2>{11, 22}));
  ASSERT_TRUE(binding->states().reset());
  ASSERT_TRUE(binding->states().write(0, sinter::view(x, {2})));
  ASSERT_TRUE(binding->run());
  EXPECT_EQ(y, (std::array<float, 2>{20, 40}));
  auto damaged = sinter::Snapshot::open(std::as_bytes(std::span(summed)));
  ASSERT_FALSE(damaged);
  EXPECT_EQ(damaged.error().status(), SINTER_SYSTEM);
}

/// Counts what is allocated.
class Counting : public std::pmr::memory_resource {
public:
  std::atomic<int> given = 0, live = 0;
  size_t most = SIZE_MAX;

private:
  void *do_allocate(size_t bytes, size_t alignment) override {
    if (bytes > most)
      throw std::bad_alloc();
    ++given;
    ++live;
    return std::pmr::new_delete_resource()->allocate(bytes, alignment);
  }
  void do_deallocate(void *memory, size_t bytes, size_t alignment) override {
    --live;
    std::pmr::new_delete_resource()->deallocate(memory, bytes, alignment);
  }
  bool do_is_equal(const memory_resource &other) const noexcept override {
    return this == &other;
  }
};

TEST(CxxLayer, MemoryIsTheCallers) {
  Counting memory;
  {
    auto model = openDoubled();
    ASSERT_TRUE(model);
    auto session = model->compile(sinter::Settings().memory(memory));
    ASSERT_TRUE(session) << session.error().message();
    std::array<float, 3> x = {1, 2, 3};
    auto results = session->run({sinter::view(x, {3})});
    ASSERT_TRUE(results) << results.error().message();
    EXPECT_EQ((*results)[0].values<float>()[2], 6);
    EXPECT_GE(memory.given, 1);
    memory.most = 4;
    std::array<float, 9> larger = {};
    auto refused = session->run({sinter::view(larger, {9})});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().status(), SINTER_SYSTEM);
  }
  EXPECT_EQ(memory.live, 0);
}

TEST(CxxLayer, ThreadsAreTheCallers) {
  std::atomic<int> tasks = 0;
  auto host = sinter::ThreadPool::ofHost(
      3, [&](size_t count, const std::function<void(size_t)> &task) {
        for (size_t i = 0; i < count; ++i) {
          std::thread([&] { task(i); }).join();
          ++tasks;
        }
      });
  ASSERT_TRUE(host) << host.error().message();
  EXPECT_EQ(host->size(), 3U);
  auto own = sinter::ThreadPool::make(2);
  ASSERT_TRUE(own);
  EXPECT_EQ(own->size(), 2U);
  auto model = openDoubled();
  ASSERT_TRUE(model);
  std::vector<float> x(1 << 20, 1), y(x.size());
  const auto count = static_cast<int64_t>(x.size());
  for (sinter::ThreadPool *pool : {&*host, &*own}) {
    auto session = model->compile(sinter::Settings().threads(*pool));
    ASSERT_TRUE(session) << session.error().message();
    std::ranges::fill(y, 0);
    ASSERT_TRUE(
        session->run({sinter::view(x, {count})}, {sinter::view(y, {count})}));
    EXPECT_TRUE(std::ranges::all_of(y, [](float each) { return each == 2; }));
  }
  EXPECT_GT(tasks, 1);
  auto none = sinter::ThreadPool::ofHost(0, {});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().status(), SINTER_USAGE);
}

/// A callback outlives the settings that it was given to.
TEST(CxxLayer, CallbacksLiveAsLongAsWhatUsesThem) {
  std::string printed;
  const auto make = [&] {
    sinter::Settings settings({{"no-cache", "true"}});
    settings.onPrint([&](std::string_view text) { printed += text; });
    return openText(R"(
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  interpreter.print %x : tensor<2xf32>
  return %x : tensor<2xf32>
}
)",
                    settings)
        ->compile();
  };
  auto session = make();
  ASSERT_TRUE(session) << session.error().message();
  std::array<float, 2> x = {3, 5}, y = {};
  ASSERT_TRUE(session->run({sinter::view(x, {2})}, {sinter::view(y, {2})}));
  EXPECT_NE(printed.find('5'), std::string::npos) << printed;
}

TEST(CxxLayer, TrainsAndCompares) {
  auto model = openText(R"(
func.func @main(%x: tensor<?x2xf32> {sinter.name = "x"}) -> tensor<?x1xf32> {
  %w = stablehlo.constant dense<[[0.0], [0.5]]> : tensor<2x1xf32>
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<?x2xf32>, tensor<2x1xf32>) -> tensor<?x1xf32>
  return %y : tensor<?x1xf32>
}
)");
  ASSERT_TRUE(model) << model.error().message();
  auto trainer = model->train({{"loss", "mean-squared"}, {"lr", "0.25"}});
  ASSERT_TRUE(trainer) << trainer.error().message();
  EXPECT_EQ(trainer->arrays(), (std::vector<std::string>{"x", "target"}));
  std::array<float, 4> x = {1, 0, 0, 1};
  std::array<float, 2> target = {1, 3};
  EXPECT_FALSE(trainer->step({}));
  auto before = trainer->evaluate(
      {sinter::view(x, {2, 2}), sinter::view(target, {2, 1})});
  ASSERT_TRUE(before) << before.error().message();
  auto loss =
      trainer->step({sinter::view(x, {2, 2}), sinter::view(target, {2, 1})});
  ASSERT_TRUE(loss) << loss.error().message();
  EXPECT_EQ(*loss, *before);
  EXPECT_EQ(*trainer->learningRate(), 0.25);
  ASSERT_TRUE(trainer->setLearningRate(0));
  EXPECT_FALSE(trainer->setLearningRate(-1));
  auto trained = trainer->model();
  ASSERT_TRUE(trained) << trained.error().message();
  auto same = model->compare(*model, {sinter::view(x, {2, 2})});
  ASSERT_TRUE(same) << same.error().message();
  EXPECT_TRUE(same->agrees);
  auto other = model->compare(*trained, {sinter::view(x, {2, 2})});
  ASSERT_TRUE(other) << other.error().message();
  EXPECT_FALSE(other->agrees);
  EXPECT_NE(other->report.find('{'), std::string::npos);
  EXPECT_FALSE(model->compare(*trained, {sinter::view(target, {2})}));
}

TEST(CxxLayer, TellsWhatAModelSays) {
  auto model = openText("module @net attributes {test.maker = \"nobody\"} {" +
                        doubled + "}");
  ASSERT_TRUE(model) << model.error().message();
  EXPECT_STREQ(model->info().graph, "net");
  EXPECT_EQ(model->metadata("test.maker"), "nobody");
  EXPECT_EQ(model->metadata("test.other"), std::nullopt);
  ASSERT_EQ(model->inputs().size(), 1U);
  EXPECT_STREQ(model->inputs()[0].aliases[0], "x");
  EXPECT_EQ(model->outputs()[0].rank, 1);
}

TEST(CxxLayer, CancelsRuns) {
  auto model = openDoubled();
  ASSERT_TRUE(model);
  auto session = model->compile();
  ASSERT_TRUE(session);
  auto cancellation = sinter::Cancellation::make();
  ASSERT_TRUE(cancellation);
  std::array<float, 3> x = {1, 2, 3}, y = {};
  const std::vector<sinter::TensorView> in = {sinter::view(x, {3})},
                                        out = {sinter::view(y, {3})};
  cancellation->cancel();
  auto refused = session->run(in, out, &*cancellation);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().status(), SINTER_CANCELLED);
  cancellation->reset();
  EXPECT_TRUE(session->run(in, out, &*cancellation));
}

TEST(CxxLayer, CancelsCalls) {
  auto model = openDoubled();
  ASSERT_TRUE(model);
  auto cancellation = sinter::Cancellation::make();
  ASSERT_TRUE(cancellation);
  sinter::Settings settings;
  settings.cancellation(*cancellation);
  cancellation->cancel();
  auto refused = model->compile(settings);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().status(), SINTER_CANCELLED);
  cancellation->reset();
  EXPECT_TRUE(model->compile(settings));
}

} // namespace
