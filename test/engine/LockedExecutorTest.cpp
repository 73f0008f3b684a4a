//===- LockedExecutorTest.cpp - runs that others have to wait for ---------===//

#include "engine/LockedExecutor.h"

#include <gtest/gtest.h>
#include <thread>

using namespace sinter;

namespace {

/// Gives its input back, and has one state.
class Echo : public Executor {
public:
  explicit Echo(std::function<void()> during) : during(std::move(during)) {}

  std::span<const TensorSpec> inputs() const override { return specs; }
  std::span<const TensorSpec> outputs() const override { return specs; }
  Result<std::vector<Tensor>> runOn(const RunRequest &request) override {
    if (Result<void> fit = checkInputs(specs, request.inputs); !fit)
      return fit.takeError();
    if (Result<void> goesOn = Cancellation::check(request.cancellation);
        !goesOn)
      return goesOn.takeError();
    during();
    if (printer)
      printer("printed\n");
    return std::vector<Tensor>(request.inputs.begin(), request.inputs.end());
  }
  std::span<const TensorSpec> states() const override { return specs; }
  Tensor state(size_t) const override { return held; }
  void resetStates() override { held = Tensor(ElementType::I32, {2}); }
  void setPrinter(const Printer &printing) override { printer = printing; }

private:
  void replaceState(size_t, Tensor value) override { held = std::move(value); }

  std::vector<TensorSpec> specs = {{"x", ElementType::I32, {2}}};
  std::function<void()> during;
  Printer printer;
  Tensor held = Tensor(ElementType::I32, {2});
};

TEST(LockedExecutorTest, RunsHoldTheLock) {
  std::recursive_mutex lock;
  bool isFree = true;
  LockedExecutor executor(std::make_unique<Echo>([&] {
                            std::thread([&] {
                              isFree = lock.try_lock();
                              if (isFree)
                                lock.unlock();
                            }).join();
                          }),
                          lock);
  std::string printed;
  executor.setPrinter([&](const std::string &text) { printed += text; });
  const std::vector<Tensor> inputs = {Tensor(ElementType::I32, {2})};
  ASSERT_TRUE(executor.run(inputs));
  EXPECT_FALSE(isFree);
  EXPECT_EQ(printed, "printed\n");
  // Who holds it may run, and nobody does afterwards.
  {
    const std::lock_guard held(lock);
    EXPECT_TRUE(executor.run(inputs));
  }
  std::thread([&] {
    isFree = lock.try_lock();
    if (isFree)
      lock.unlock();
  }).join();
  EXPECT_TRUE(isFree);
}

TEST(LockedExecutorTest, IsWhatItHolds) {
  std::recursive_mutex lock;
  LockedExecutor executor(std::make_unique<Echo>([] {}), lock);
  const std::vector<int32_t> values = {3, 4};
  ASSERT_TRUE(
      executor.setState(0, Tensor::of<int32_t>(ElementType::I32, {2}, values)));
  EXPECT_EQ(executor.state(0).at<int32_t>(1), 4);
  EXPECT_TRUE(executor.hasDefinedStates());
  executor.resetStates();
  EXPECT_EQ(executor.state(0).at<int32_t>(1), 0);
  EXPECT_EQ(executor.outputs()[0].name, "x");
  EXPECT_EQ((*executor.outputShapes(std::vector<Shape>{{2}}))[0], Shape{2});
  Cancellation cancellation;
  cancellation.cancel();
  const std::vector<Tensor> inputs = {Tensor(ElementType::I32, {2})};
  EXPECT_EQ(executor.run(inputs, &cancellation).error().kind,
            ErrorKind::Cancelled);
}

/// An executor that knows nothing of a caller's memory still runs on it.
TEST(LockedExecutorTest, CopiesWhereNothingIsDoneInPlace) {
  std::recursive_mutex lock;
  LockedExecutor executor(std::make_unique<Echo>([] {}), lock);
  int32_t from[3] = {1, 0, 2}, to[4] = {};
  const std::vector<int64_t> shape = {2}, two = {8}, back = {-12};
  const TensorView inputs[] = {{ElementType::I32, shape, from, two}};
  const std::optional<MutableTensorView> outputs[] = {
      MutableTensorView{ElementType::I32, shape, to + 3, back}};
  auto results = executor.run(inputs, outputs);
  ASSERT_TRUE(results) << results.error().message();
  EXPECT_EQ(to[3], 1);
  EXPECT_EQ(to[0], 2);
}

} // namespace
