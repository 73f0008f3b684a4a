// Gradients of what processes do together: of the sum of what all have by the
// operands of each, against differences.

#include "graph/Constants.h"
#include "graph/gradient/FiniteDifferences.h"
#include "graph/stablehlo/OpenTuples.h"
#include "interpreter/Environment.h"
#include "interpreter/Interpreter.h"
#include "runtime/ThreadGroup.h"

#include <gtest/gtest.h>
#include <mutex>

using namespace mlir;
using namespace sinter;
using namespace sinter::test;

/// What each process of a 2 x 2 grid gets; nothing where one fails.
static std::vector<Tensors> runOnGrid(const Model &model,
                                      const std::vector<Tensors> &inputs) {
  ThreadGroup group({2, 2});
  std::mutex turn;
  group.setTurns([&] { turn.unlock(); }, [&] { turn.lock(); });
  std::vector<Tensors> all(inputs.size());
  Result<void> done = group.run([&](Communicator &communicator) {
    std::lock_guard<std::mutex> lock(turn);
    Environment environment;
    environment.communicator =
        std::shared_ptr<Communicator>(std::shared_ptr<void>(), &communicator);
    auto results =
        interpret(model.entry(), inputs[communicator.rank()], {}, &environment);
    if (!results)
      return Result<void>(results.takeError());
    all[communicator.rank()] = std::move(*results);
    return Result<void>();
  });
  EXPECT_TRUE(done) << (done ? "" : done.error().message());
  return done ? all : std::vector<Tensors>();
}

/// The sum of all results' elements of all processes, times weights.
static double sumOf(const std::vector<Tensors> &results,
                    const std::vector<Tensor> &weights) {
  double sum = 0;
  for (const Tensors &each : results)
    for (auto [result, weight] : llvm::zip_equal(each, weights))
      for (int64_t i = 0; i < result.size(); ++i)
        sum += result.toDouble(i) * weight.toDouble(i);
  return sum;
}

/// \p body gives %y of \p result from %x : 4x2 of f64, which differs between
/// processes by what is drawn, and what it gives is squared, so that gradients
/// differ between them, too.
static void checkOnGrid(const std::string &body, const std::string &result) {
  SCOPED_TRACE(body);
  Model model =
      parse("func.func @main(%x: tensor<4x2xf64>) -> tensor<" + result +
            "> {\n" + body + "\n%z = stablehlo.multiply %y, %y : tensor<" +
            result + ">\nreturn %z : tensor<" + result + "> }");
  ASSERT_TRUE(model.module());
  inlineFutures(model.entry());
  std::vector<Tensors> inputs;
  for (uint64_t rank = 0; rank < 4; ++rank)
    inputs.push_back(
        {randomOf(model.entry().getArgumentTypes()[0], 7 + rank, {-1, 1})});
  std::vector<Tensor> weights = {
      randomOf(model.entry().getResultTypes()[0], 90, {})};
  Model gradient = model.clone();
  ASSERT_TRUE(succeeded(differentiate(gradient, weights)));
  const std::vector<Tensors> got = runOnGrid(gradient, inputs);
  ASSERT_EQ(got.size(), 4u);
  constexpr double step = 1e-5;
  for (size_t rank = 0; rank < 4; ++rank)
    for (int64_t i = 0; i < 8; ++i) {
      double sums[2];
      for (int side : {0, 1}) {
        std::vector<Tensors> moved = inputs;
        const Tensor &here = inputs[rank][0];
        moved[rank][0] = Tensor::of<double>(here.type(), here.shape(),
                                            here.values<double>());
        moved[rank][0].set<double>(i, here.toDouble(i) + (side ? step : -step));
        sums[side] = sumOf(runOnGrid(model, moved), weights);
      }
      ASSERT_NEAR(got[rank][0].toDouble(i), (sums[1] - sums[0]) / (2 * step),
                  1e-6)
          << "process " << rank << ", element " << i;
    }
}

TEST(CollectiveGradient, OfReductions) {
  for (const char *groups : {"dense<[[0, 1]]> : tensor<1x2xi64>",
                             "dense<[[0], [1]]> : tensor<2x1xi64>"})
    for (const char *combiner : {"add", "maximum", "minimum", "multiply"})
      checkOnGrid(std::string(R"(%y = "stablehlo.all_reduce"(%x) ({
      ^bb0(%a: tensor<f64>, %b: tensor<f64>):
        %r = stablehlo.)") +
                      combiner + R"( %a, %b : tensor<f64>
        stablehlo.return %r : tensor<f64>
    }) {replica_groups = )" +
                      groups + "} : (tensor<4x2xf64>) -> tensor<4x2xf64>",
                  "4x2xf64");
  // Over the whole grid.
  checkOnGrid(R"(%y = "stablehlo.all_reduce"(%x) ({
      ^bb0(%a: tensor<f64>, %b: tensor<f64>):
        %r = stablehlo.add %a, %b : tensor<f64>
        stablehlo.return %r : tensor<f64>
    }) {replica_groups = dense<[[0, 3, 2, 1]]> : tensor<1x4xi64>, use_global_device_ids,
        channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>} : (tensor<4x2xf64>) -> tensor<4x2xf64>)",
              "4x2xf64");
  checkOnGrid(
      R"(%y = "stablehlo.cross-replica-sum"(%x) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}
      : (tensor<4x2xf64>) -> tensor<4x2xf64>)",
      "4x2xf64");
}

/// Factors that are zero: one of them, and both.
TEST(CollectiveGradient, OfProductsWithZeros) {
  checkOnGrid(R"(%k = stablehlo.replica_id : tensor<ui32>
    %f = stablehlo.convert %k : (tensor<ui32>) -> tensor<f64>
    %s = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f64>) -> tensor<4x2xf64>
    %c = stablehlo.constant dense<[[0.0, 1.0], [0.0, 1.0], [1.0, 1.0], [1.0, 1.0]]> : tensor<4x2xf64>
    %m = stablehlo.maximum %s, %c : tensor<4x2xf64>
    %v = stablehlo.multiply %x, %m : tensor<4x2xf64>
    %q = "stablehlo.all_reduce"(%v) ({
      ^bb0(%a: tensor<f64>, %b: tensor<f64>):
        %r = stablehlo.multiply %a, %b : tensor<f64>
        stablehlo.return %r : tensor<f64>
    }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4x2xf64>) -> tensor<4x2xf64>
    %y = stablehlo.add %q, %x : tensor<4x2xf64>)",
              "4x2xf64");
}

/// A reduction by \p region to the second process of each group, which a tensor
/// says.
static void checkToComputedRoot(const std::string &region,
                                const std::string &groups) {
  checkOnGrid(
      "%one = stablehlo.constant dense<1> : tensor<1xi32>\n" +
          std::string(R"(%y = "stablehlo.collective_reduce"(%x, %one) )") +
          region + "{" + groups +
          ", has_dynamic_root} : (tensor<4x2xf64>, tensor<1xi32>) -> "
          "tensor<4x2xf64>",
      "4x2xf64");
}

/// Each process gets a part of what is combined, and one gets all of it: the
/// first of the group, or the one that an operand names.
TEST(CollectiveGradient, OfReductionsToSome) {
  const std::string groups =
      "replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>";
  for (const char *combiner : {"add", "maximum", "minimum", "multiply"}) {
    const std::string region = std::string(R"(({
      ^bb0(%a: tensor<f64>, %b: tensor<f64>):
        %r = stablehlo.)") + combiner +
                               R"( %a, %b : tensor<f64>
        stablehlo.return %r : tensor<f64>
    }) )";
    checkOnGrid(R"(%y = "stablehlo.reduce_scatter"(%x) )" + region +
                    "{scatter_dimension = 0 : i64, " + groups +
                    "} : (tensor<4x2xf64>) -> tensor<2x2xf64>",
                "2x2xf64");
    checkOnGrid(R"(%y = "stablehlo.collective_reduce"(%x) )" + region + "{" +
                    groups + "} : (tensor<4x2xf64>) -> tensor<4x2xf64>",
                "4x2xf64");
    checkToComputedRoot(region, groups);
  }
}

/// A body of several operations, which does not give the same in another order:
/// to all, in parts, and to one.
TEST(CollectiveGradient, OfReductionsByAnyBody) {
  const std::string region = R"(({
      ^bb0(%a: tensor<f64>, %b: tensor<f64>):
        %s = stablehlo.sine %b : tensor<f64>
        %p = stablehlo.multiply %a, %s : tensor<f64>
        %r = stablehlo.add %p, %b : tensor<f64>
        stablehlo.return %r : tensor<f64>
    }) )",
                    whole = ": (tensor<4x2xf64>) -> tensor<4x2xf64>";
  const std::string global =
      "replica_groups = dense<[[0, 3, 2, 1]]> : tensor<1x4xi64>, "
      "use_global_device_ids, channel_handle = "
      "#stablehlo.channel_handle<handle "
      "= 1, type = 0>}";
  for (const std::string &groups :
       {std::string("replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>}"),
        std::string("replica_groups = dense<[[0], [1]]> : tensor<2x1xi64>}"),
        global})
    checkOnGrid(R"(%y = "stablehlo.all_reduce"(%x) )" + region + "{" + groups +
                    whole,
                "4x2xf64");
  checkOnGrid(
      R"(%y = "stablehlo.reduce_scatter"(%x) )" + region +
          "{scatter_dimension = 1 : i64, replica_groups = dense<[[1, 0]]> : "
          "tensor<1x2xi64>} : (tensor<4x2xf64>) -> tensor<4x1xf64>",
      "4x1xf64");
  checkOnGrid(R"(%y = "stablehlo.reduce_scatter"(%x) )" + region +
                  "{scatter_dimension = 0 : i64, " + global +
                  ": (tensor<4x2xf64>) -> tensor<1x2xf64>",
              "1x2xf64");
  const std::string groups =
      "replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>";
  checkOnGrid(R"(%y = "stablehlo.collective_reduce"(%x) )" + region + "{" +
                  groups + "}" + whole,
              "4x2xf64");
  checkToComputedRoot(region, groups);
}

/// A body that reads from outside what leads to the operand; each process has
/// its own.
TEST(CollectiveGradient, OfBodiesThatReadFromOutside) {
  checkOnGrid(
      R"(%first = stablehlo.slice %x [0:1, 0:1] : (tensor<4x2xf64>) -> tensor<1x1xf64>
    %k = stablehlo.reshape %first : (tensor<1x1xf64>) -> tensor<f64>
    %y = "stablehlo.all_reduce"(%x) ({
      ^bb0(%a: tensor<f64>, %b: tensor<f64>):
        %p = stablehlo.multiply %a, %k : tensor<f64>
        %r = stablehlo.add %p, %b : tensor<f64>
        stablehlo.return %r : tensor<f64>
    }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4x2xf64>) -> tensor<4x2xf64>)",
      "4x2xf64");
}

/// What was started is awaited at once.
TEST(CollectiveGradient, OfFutures) {
  checkOnGrid(R"(%f = "stablehlo.async_start"(%x) ({
    ^bb0(%a: tensor<4x2xf64>):
      %g = "stablehlo.all_gather"(%a) {all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}
          : (tensor<4x2xf64>) -> tensor<4x4xf64>
      stablehlo.return %g : tensor<4x4xf64>
    }) : (tensor<4x2xf64>) -> !stablehlo.future<tensor<4x4xf64>>
    %y = "stablehlo.async_done"(%f) : (!stablehlo.future<tensor<4x4xf64>>) -> tensor<4x4xf64>)",
              "4x4xf64");
}

TEST(CollectiveGradient, OfExchanges) {
  const std::string groups =
      "replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>";
  checkOnGrid(R"(%y = "stablehlo.all_gather"(%x) {all_gather_dim = 1 : i64, )" +
                  groups + "} : (tensor<4x2xf64>) -> tensor<4x4xf64>",
              "4x4xf64");
  checkOnGrid(R"(%y = "stablehlo.all_to_all"(%x) {split_dimension = 0 : i64,
      concat_dimension = 1 : i64, split_count = 2 : i64, )" +
                  groups + "} : (tensor<4x2xf64>) -> tensor<2x4xf64>",
              "2x4xf64");
  checkOnGrid(R"(%y = "stablehlo.collective_broadcast"(%x) {)" + groups +
                  "} : (tensor<4x2xf64>) -> tensor<4x2xf64>",
              "4x2xf64");
  for (const char *pairs : {"dense<[[0, 1]]> : tensor<1x2xi64>",
                            "dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>"})
    checkOnGrid(
        std::string(
            R"(%y = "stablehlo.collective_permute"(%x) {source_target_pairs = )") +
            pairs + "} : (tensor<4x2xf64>) -> tensor<4x2xf64>",
        "4x2xf64");
}
