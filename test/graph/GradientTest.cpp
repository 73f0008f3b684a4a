// Gradients, held against central finite differences in f64.

#include "graph/Constants.h"
#include "graph/Model.h"
#include "graph/Types.h"
#include "graph/interfaces/Differentiable.h"
#include "interpreter/Interpreter.h"
#include "mlir/Parser/Parser.h"
#include "runtime/Random.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace sinter;

namespace {

constexpr double step = 1e-5;

struct Range {
  double low = -1, high = 1;
};

Tensor randomOf(Type type, uint64_t seed, Range range) {
  auto tensor = cast<RankedTensorType>(type);
  Tensor value(*elementTypeOf(tensor.getElementType()),
               Shape(tensor.getShape()));
  fillRandom(value, seed, {range.low, range.high, 16});
  return value;
}

Tensor copyOf(const Tensor &tensor) {
  return Tensor::of<double>(tensor.type(), tensor.shape(),
                            tensor.values<double>());
}

Model parse(const std::string &text) {
  auto context = makeContext();
  auto module = parseSourceString<ModuleOp>(text, context.get());
  EXPECT_TRUE(module) << text;
  return Model(context, std::move(module));
}

/// The sum of all results' elements, each times its weight.
double weightedSum(const Model &model, ArrayRef<Tensor> inputs,
                   ArrayRef<Tensor> weights) {
  auto results = interpret(model.entry(), inputs);
  EXPECT_TRUE(results) << (results ? "" : results.error().message);
  double sum = 0;
  for (auto [result, weight] : llvm::zip_equal(*results, weights))
    for (int64_t i = 0; i < result.size(); ++i)
      sum += result.toDouble(i) * weight.toDouble(i);
  return sum;
}

/// Makes `main` return the gradients of the weighted sum by its arguments.
LogicalResult differentiate(Model &model, ArrayRef<Tensor> weights) {
  func::FuncOp entry = model.entry();
  Operation *end = entry.front().getTerminator();
  OpBuilder builder(end);
  SmallVector<Value> seeds;
  for (const Tensor &weight : weights)
    seeds.push_back(makeConstant(builder, entry.getLoc(), weight));
  auto gradients =
      backpropagate(builder, end->getOperands(), seeds, entry.getArguments());
  if (failed(gradients))
    return failure();
  for (auto [gradient, argument] :
       llvm::zip_equal(*gradients, entry.getArguments()))
    if (!gradient) {
      auto type = cast<RankedTensorType>(argument.getType());
      gradient = makeConstant(builder, entry.getLoc(),
                              Tensor(*elementTypeOf(type.getElementType()),
                                     Shape(type.getShape())));
    }
  end->setOperands(*gradients);
  entry.setFunctionType(
      builder.getFunctionType(entry.getArgumentTypes(), TypeRange(*gradients)));
  return model.module().verify();
}

/// \p body is the text of `main` without "func.func @main"; all its arguments
/// and results are f64.
void check(const std::string &body, Range range = {}) {
  SCOPED_TRACE(body);
  Model model = parse("func.func @main" + body);
  ASSERT_TRUE(model.module());
  for (uint64_t seed : {1, 20}) {
    std::vector<Tensor> inputs, weights;
    for (Type type : model.entry().getArgumentTypes())
      inputs.push_back(randomOf(type, seed + inputs.size(), range));
    for (Type type : model.entry().getResultTypes())
      weights.push_back(randomOf(type, seed + 50 + weights.size(), {}));
    Model gradient = model.clone();
    ASSERT_TRUE(succeeded(differentiate(gradient, weights)));
    auto got = interpret(gradient.entry(), inputs);
    ASSERT_TRUE(got) << got.error().message;
    for (size_t k = 0; k < inputs.size(); ++k) {
      ASSERT_EQ((*got)[k].shape(), inputs[k].shape());
      for (int64_t i = 0; i < inputs[k].size(); ++i) {
        std::vector<Tensor> moved = inputs;
        double sums[2];
        for (int side : {0, 1}) {
          moved[k] = copyOf(inputs[k]);
          moved[k].set<double>(i,
                               inputs[k].toDouble(i) + (side ? step : -step));
          sums[side] = weightedSum(model, moved, weights);
        }
        const double want = (sums[1] - sums[0]) / (2 * step);
        ASSERT_NEAR((*got)[k].toDouble(i), want, 1e-6 + 1e-6 * std::abs(want))
            << "argument " << k << ", element " << i;
      }
    }
  }
}

void checkUnary(const std::string &op, Range range = {}) {
  check("(%x: tensor<2x5xf64>) -> tensor<2x5xf64> { %y = " + op +
            " %x : tensor<2x5xf64>\n return %y : tensor<2x5xf64> }",
        range);
}

void checkBinary(const std::string &op, Range range = {}) {
  check("(%x: tensor<7xf64>, %z: tensor<7xf64>) -> tensor<7xf64> { %y = " + op +
            " %x, %z : tensor<7xf64>\n return %y : tensor<7xf64> }",
        range);
}

} // namespace

TEST(Gradient, OfOneNumber) {
  for (const char *op :
       {"abs", "cosine", "exponential", "exponential_minus_one", "logistic",
        "negate", "sine", "tan", "tanh", "ceil", "floor", "round_nearest_afz",
        "round_nearest_even", "sign"})
    checkUnary(std::string("stablehlo.") + op);
  for (const char *op : {"cbrt", "log", "log_plus_one", "rsqrt", "sqrt"})
    checkUnary(std::string("stablehlo.") + op, {0.4, 1.6});
}

TEST(Gradient, OfTwoNumbers) {
  for (const char *op : {"add", "subtract", "multiply", "maximum", "minimum"})
    checkBinary(std::string("stablehlo.") + op);
  for (const char *op : {"divide", "power", "atan2", "remainder"})
    checkBinary(std::string("stablehlo.") + op, {0.4, 1.6});
}

TEST(Gradient, OfChoices) {
  check(R"((%x: tensor<6xf64>, %z: tensor<6xf64>) -> tensor<6xf64> {
    %p = stablehlo.constant dense<[true, false, true, true, false, false]> : tensor<6xi1>
    %y = stablehlo.select %p, %x, %z : tensor<6xi1>, tensor<6xf64>
    return %y : tensor<6xf64> })");
  check(
      R"((%l: tensor<f64>, %x: tensor<9xf64>, %h: tensor<f64>) -> tensor<9xf64> {
    %a = stablehlo.constant dense<-0.6> : tensor<f64>
    %low = stablehlo.minimum %l, %a : tensor<f64>
    %b = stablehlo.constant dense<0.6> : tensor<f64>
    %high = stablehlo.maximum %h, %b : tensor<f64>
    %w = stablehlo.constant dense<2.0> : tensor<9xf64>
    %v = stablehlo.multiply %x, %w : tensor<9xf64>
    %y = stablehlo.clamp %low, %v, %high : (tensor<f64>, tensor<9xf64>, tensor<f64>) -> tensor<9xf64>
    return %y : tensor<9xf64> })");
}

TEST(Gradient, OfMovements) {
  check(R"((%x: tensor<2x3x4xf64>) -> tensor<4x6xf64> {
    %t = stablehlo.transpose %x, dims = [2, 0, 1] : (tensor<2x3x4xf64>) -> tensor<4x2x3xf64>
    %y = stablehlo.reshape %t : (tensor<4x2x3xf64>) -> tensor<4x6xf64>
    return %y : tensor<4x6xf64> })");
  check(R"((%x: tensor<3x1x2xf64>) -> tensor<2x4x3x5xf64> {
    %y = stablehlo.broadcast_in_dim %x, dims = [2, 1, 0] : (tensor<3x1x2xf64>) -> tensor<2x4x3x5xf64>
    return %y : tensor<2x4x3x5xf64> })");
  check(R"((%x: tensor<7x5xf64>) -> tensor<3x2xf64> {
    %y = stablehlo.slice %x [1:7:2, 3:5] : (tensor<7x5xf64>) -> tensor<3x2xf64>
    return %y : tensor<3x2xf64> })");
  check(R"((%x: tensor<4x3xf64>, %v: tensor<f64>) -> tensor<8x1xf64> {
    %y = stablehlo.pad %x, %v, low = [2, -1], high = [-1, -1], interior = [1, 0]
        : (tensor<4x3xf64>, tensor<f64>) -> tensor<8x1xf64>
    return %y : tensor<8x1xf64> })");
  check(R"((%x: tensor<2x3xf64>, %z: tensor<2x1xf64>) -> tensor<2x4xf64> {
    %c = stablehlo.concatenate %x, %z, dim = 1 : (tensor<2x3xf64>, tensor<2x1xf64>) -> tensor<2x4xf64>
    %y = stablehlo.reverse %c, dims = [0, 1] : tensor<2x4xf64>
    return %y : tensor<2x4xf64> })");
  check(
      R"((%x: tensor<5x4xf64>, %u: tensor<2x2xf64>) -> (tensor<3x2xf64>, tensor<5x4xf64>) {
    %i = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.constant dense<9> : tensor<i32>
    %a = stablehlo.dynamic_slice %x, %i, %j, sizes = [3, 2]
        : (tensor<5x4xf64>, tensor<i32>, tensor<i32>) -> tensor<3x2xf64>
    %b = stablehlo.dynamic_update_slice %x, %u, %i, %j
        : (tensor<5x4xf64>, tensor<2x2xf64>, tensor<i32>, tensor<i32>) -> tensor<5x4xf64>
    return %a, %b : tensor<3x2xf64>, tensor<5x4xf64> })");
}

TEST(Gradient, OfIndexing) {
  // The same row twice, and one that is cut to the last.
  check(R"((%x: tensor<5x3xf64>) -> tensor<4x2xf64> {
    %i = stablehlo.constant dense<[[1, 0], [4, 1], [1, 0], [9, 7]]> : tensor<4x2xi64>
    %y = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [1],
        collapsed_slice_dims = [0], start_index_map = [0, 1], index_vector_dim = 1>,
        slice_sizes = array<i64: 1, 2>, indices_are_sorted = false}
        : (tensor<5x3xf64>, tensor<4x2xi64>) -> tensor<4x2xf64>
    return %y : tensor<4x2xf64> })");
  // Two updates of one row, and one outside.
  check(R"((%x: tensor<5x3xf64>, %u: tensor<4x3xf64>) -> tensor<5x3xf64> {
    %i = stablehlo.constant dense<[1, 4, 1, 7]> : tensor<4xi64>
    %y = "stablehlo.scatter"(%x, %i, %u) ({
    ^bb0(%a: tensor<f64>, %b: tensor<f64>):
      %s = stablehlo.add %a, %b : tensor<f64>
      stablehlo.return %s : tensor<f64>
    }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
        inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>,
        indices_are_sorted = false, unique_indices = false}
        : (tensor<5x3xf64>, tensor<4xi64>, tensor<4x3xf64>) -> tensor<5x3xf64>
    return %y : tensor<5x3xf64> })");
}

TEST(Gradient, OfProducts) {
  check(R"((%a: tensor<3x4xf64>, %b: tensor<4x2xf64>) -> tensor<3x2xf64> {
    %y = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
        : (tensor<3x4xf64>, tensor<4x2xf64>) -> tensor<3x2xf64>
    return %y : tensor<3x2xf64> })");
  // Contracted and batching dimensions in another order on each side.
  check(
      R"((%a: tensor<4x2x3x5xf64>, %b: tensor<5x6x4x2xf64>) -> tensor<2x3x6xf64> {
    %y = stablehlo.dot_general %a, %b, batching_dims = [1] x [3], contracting_dims = [0, 3] x [2, 0]
        : (tensor<4x2x3x5xf64>, tensor<5x6x4x2xf64>) -> tensor<2x3x6xf64>
    return %y : tensor<2x3x6xf64> })");
}

namespace {
void checkConvolution(const std::string &lhs, const std::string &rhs,
                      const std::string &result, const std::string &numbers,
                      const std::string &window,
                      const std::string &groups = "1",
                      const std::string &batchGroups = "1") {
  check("(%x: " + lhs + ", %k: " + rhs + ") -> " + result +
        " { %y = stablehlo.convolution(%x, %k) dim_numbers = " + numbers +
        ", window = {" + window + "} {batch_group_count = " + batchGroups +
        " : i64, feature_group_count = " + groups + " : i64} : (" + lhs + ", " +
        rhs + ") -> " + result + "\n return %y : " + result + " }");
}
} // namespace

TEST(Gradient, OfConvolutions) {
  const std::string nchw = "[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]";
  const std::string nhwc = "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]";
  checkConvolution("tensor<2x2x5x4xf64>", "tensor<3x2x3x2xf64>",
                   "tensor<2x3x3x5xf64>", nchw,
                   "stride = [2, 1], pad = [[1, 1], [0, 2]]");
  checkConvolution("tensor<1x5x6x2xf64>", "tensor<2x2x2x3xf64>",
                   "tensor<1x3x4x3xf64>", nhwc, "rhs_dilate = [2, 2]");
  checkConvolution("tensor<1x1x3x3xf64>", "tensor<2x1x3x3xf64>",
                   "tensor<1x2x5x5xf64>", nchw,
                   "pad = [[1, 1], [1, 1]], lhs_dilate = [2, 2], reverse = "
                   "[true, false]");
  checkConvolution("tensor<1x4x4x4xf64>", "tensor<6x2x2x2xf64>",
                   "tensor<1x6x3x3xf64>", nchw, "", "2");
  checkConvolution("tensor<2x4x4x4xf64>", "tensor<4x1x3x3xf64>",
                   "tensor<2x4x2x2xf64>", nchw,
                   "stride = [2, 2], pad = [[1, 1], [1, 0]]", "4");
  checkConvolution("tensor<4x2x3x3xf64>", "tensor<4x2x2x2xf64>",
                   "tensor<2x4x2x2xf64>", nchw, "", "1", "2");
}

TEST(Gradient, OfReductions) {
  for (const char *op : {"add", "maximum", "minimum"})
    check(std::string("(%x: tensor<3x4x2xf64>, %i: tensor<f64>) -> "
                      "tensor<4xf64> { %y = stablehlo.reduce(%x init: %i) "
                      "applies stablehlo.") +
          op +
          " across dimensions = [0, 2] : (tensor<3x4x2xf64>, tensor<f64>) -> "
          "tensor<4xf64>\n return %y : tensor<4xf64> }");
}

TEST(Gradient, OfWindows) {
  check(R"((%x: tensor<6x5xf64>, %i: tensor<f64>) -> tensor<4x6xf64> {
    %y = "stablehlo.reduce_window"(%x, %i) ({
    ^bb0(%a: tensor<f64>, %b: tensor<f64>):
      %s = stablehlo.add %a, %b : tensor<f64>
      stablehlo.return %s : tensor<f64>
    }) {window_dimensions = array<i64: 2, 3>, window_strides = array<i64: 2, 1>,
        base_dilations = array<i64: 1, 2>, window_dilations = array<i64: 1, 2>,
        padding = dense<[[1, 1], [0, 1]]> : tensor<2x2xi64>}
        : (tensor<6x5xf64>, tensor<f64>) -> tensor<4x6xf64>
    return %y : tensor<4x6xf64> })");
  for (const char *op : {"maximum", "minimum"})
    check(std::string("(%x: tensor<6x5xf64>) -> tensor<3x2xf64> {\n"
                      "%i = stablehlo.constant dense<") +
          (op == std::string("maximum") ? "-9.0" : "9.0") +
          "> : tensor<f64>\n%y = \"stablehlo.reduce_window\"(%x, %i) ({\n"
          "^bb0(%a: tensor<f64>, %b: tensor<f64>):\n %s = stablehlo." +
          op +
          " %a, %b : tensor<f64>\n stablehlo.return %s : tensor<f64>\n"
          "}) {window_dimensions = array<i64: 2, 3>, window_strides = "
          "array<i64: 2, 2>} : (tensor<6x5xf64>, tensor<f64>) -> "
          "tensor<3x2xf64>\n return %y : tensor<3x2xf64> }");
}

TEST(Gradient, OfBatchNorms) {
  check(
      R"((%x: tensor<3x4x2xf64>, %s: tensor<4xf64>, %o: tensor<4xf64>, %m: tensor<4xf64>,
      %v: tensor<4xf64>) -> tensor<3x4x2xf64> {
    %y = "stablehlo.batch_norm_inference"(%x, %s, %o, %m, %v) {epsilon = 0.01 : f32, feature_index = 1 : i64}
        : (tensor<3x4x2xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>) -> tensor<3x4x2xf64>
    return %y : tensor<3x4x2xf64> })",
      {0.4, 1.6});
  check(R"((%x: tensor<3x4x2xf64>, %s: tensor<4xf64>, %o: tensor<4xf64>)
      -> (tensor<3x4x2xf64>, tensor<4xf64>, tensor<4xf64>) {
    %y:3 = "stablehlo.batch_norm_training"(%x, %s, %o) {epsilon = 0.1 : f32, feature_index = 1 : i64}
        : (tensor<3x4x2xf64>, tensor<4xf64>, tensor<4xf64>) -> (tensor<3x4x2xf64>, tensor<4xf64>, tensor<4xf64>)
    return %y#0, %y#1, %y#2 : tensor<3x4x2xf64>, tensor<4xf64>, tensor<4xf64> })");
}

/// What has no gradient of its own is differentiated through what it is made
/// of.
TEST(Gradient, ThroughDecompositions) {
  checkUnary("nn.relu");
  check(R"((%x: tensor<3x5xf64>) -> tensor<3x5xf64> {
    %y = "nn.softmax"(%x) {axes = array<i64: 1>} : (tensor<3x5xf64>) -> tensor<3x5xf64>
    return %y : tensor<3x5xf64> })");
}

TEST(Gradient, ThroughBodiesAndCallees) {
  check(R"((%x: tensor<4xf64>, %s: tensor<f64>) -> tensor<4xf64> {
    %y = "stablehlo.map"(%x, %x) ({
    ^bb0(%a: tensor<f64>, %b: tensor<f64>):
      %c = stablehlo.multiply %a, %b : tensor<f64>
      %d = stablehlo.add %c, %s : tensor<f64>
      stablehlo.return %d : tensor<f64>
    }) {dimensions = array<i64: 0>} : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xf64>
    return %y : tensor<4xf64> })");
  check(R"((%x: tensor<4xf64>, %z: tensor<4xf64>) -> tensor<4xf64> {
    %y = stablehlo.composite "a.b" %x, %z {decomposition = @inner} : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xf64>
    return %y : tensor<4xf64> }
  func.func private @inner(%a: tensor<4xf64>, %b: tensor<4xf64>) -> tensor<4xf64> {
    %t = stablehlo.tanh %a : tensor<4xf64>
    %y = stablehlo.multiply %t, %b : tensor<4xf64>
    return %y : tensor<4xf64> })");
  check(
      R"((%x: tensor<3x4xf64>, %s: tensor<4xf64>, %m: tensor<4xf64>, %v: tensor<4xf64>, %g: tensor<3x4xf64>)
      -> (tensor<3x4xf64>, tensor<4xf64>, tensor<4xf64>) {
    %y:3 = "stablehlo.batch_norm_grad"(%x, %s, %m, %v, %g) {epsilon = 0.1 : f32, feature_index = 1 : i64}
        : (tensor<3x4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<3x4xf64>)
        -> (tensor<3x4xf64>, tensor<4xf64>, tensor<4xf64>)
    return %y#0, %y#1, %y#2 : tensor<3x4xf64>, tensor<4xf64>, tensor<4xf64> })",
      {0.4, 1.6});
}

/// A parameter that only a region reads, by a branch and by a loop.
TEST(Gradient, OfBranches) {
  for (const char *pred : {"true", "false"})
    check(std::string(
              "(%x: tensor<4xf64>, %p: tensor<4xf64>) -> tensor<4xf64> {\n"
              "%c = stablehlo.constant dense<") +
          pred + R"(> : tensor<i1>
    %y:2 = "stablehlo.if"(%c) ({
      %a = stablehlo.multiply %p, %x : tensor<4xf64>
      %i = stablehlo.constant dense<1> : tensor<i32>
      stablehlo.return %a, %i : tensor<4xf64>, tensor<i32>
    }, {
      %i = stablehlo.constant dense<2> : tensor<i32>
      stablehlo.return %x, %i : tensor<4xf64>, tensor<i32>
    }) : (tensor<i1>) -> (tensor<4xf64>, tensor<i32>)
    return %y#0 : tensor<4xf64> })");
  for (const char *index : {"0", "1", "7"})
    check(std::string(
              "(%x: tensor<4xf64>, %p: tensor<4xf64>) -> tensor<4xf64> {\n"
              "%c = stablehlo.constant dense<") +
          index + R"(> : tensor<i32>
    %t = stablehlo.constant dense<true> : tensor<i1>
    %q = stablehlo.tanh %p : tensor<4xf64>
    %y = "stablehlo.case"(%c) ({
      %a = stablehlo.multiply %q, %q : tensor<4xf64>
      stablehlo.return %a : tensor<4xf64>
    }, {
      %a = stablehlo.sine %x : tensor<4xf64>
      stablehlo.return %a : tensor<4xf64>
    }, {
      %a = "stablehlo.if"(%t) ({
        %b = stablehlo.multiply %q, %x : tensor<4xf64>
        stablehlo.return %b : tensor<4xf64>
      }, {
        stablehlo.return %x : tensor<4xf64>
      }) : (tensor<i1>) -> tensor<4xf64>
      stablehlo.return %a : tensor<4xf64>
    }) : (tensor<i32>) -> tensor<4xf64>
    return %y : tensor<4xf64> })");
}

TEST(Gradient, OfLoops) {
  // Three trips; a state is an integer, one passes through, a parameter is
  // captured.
  for (const char *end : {"0", "1", "7"})
    check(
        std::string(
            R"((%x: tensor<4xf64>, %p: tensor<4xf64>) -> (tensor<4xf64>, tensor<4xf64>) {
    %start = stablehlo.constant dense<1> : tensor<i32>
    %w:3 = "stablehlo.while"(%start, %x, %p) ({
    ^bb0(%i: tensor<i32>, %s: tensor<4xf64>, %r: tensor<4xf64>):
      %end = stablehlo.constant dense<)") +
        end + R"(> : tensor<i32>
      %c = stablehlo.compare LE, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    }, {
    ^bb0(%i: tensor<i32>, %s: tensor<4xf64>, %r: tensor<4xf64>):
      %two = stablehlo.constant dense<2> : tensor<i32>
      %next = stablehlo.add %i, %two : tensor<i32>
      %f = stablehlo.convert %i : (tensor<i32>) -> tensor<f64>
      %g = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f64>) -> tensor<4xf64>
      %a = stablehlo.multiply %s, %p : tensor<4xf64>
      %b = stablehlo.add %a, %g : tensor<4xf64>
      %d = stablehlo.sine %b : tensor<4xf64>
      %h = stablehlo.multiply %r, %s : tensor<4xf64>
      stablehlo.return %next, %d, %h : tensor<i32>, tensor<4xf64>, tensor<4xf64>
    }) : (tensor<i32>, tensor<4xf64>, tensor<4xf64>) -> (tensor<i32>, tensor<4xf64>, tensor<4xf64>)
    return %w#1, %w#2 : tensor<4xf64>, tensor<4xf64> })");
}

/// Values that are used twice, and what leads nowhere.
TEST(Gradient, OfGraphs) {
  check(R"((%x: tensor<4xf64>, %unused: tensor<4xf64>) -> tensor<4xf64> {
    %a = stablehlo.multiply %x, %x : tensor<4xf64>
    %b = stablehlo.tanh %a : tensor<4xf64>
    %dead = stablehlo.sine %unused : tensor<4xf64>
    %c = stablehlo.add %b, %x : tensor<4xf64>
    %d = stablehlo.multiply %c, %b : tensor<4xf64>
    return %d : tensor<4xf64> })");
}

TEST(Gradient, SaysWhatHasNone) {
  Model model = parse(R"(func.func @main(%x: tensor<4xf64>) -> tensor<4xf64> {
    %y = stablehlo.custom_call @nobody(%x) : (tensor<4xf64>) -> tensor<4xf64>
    return %y : tensor<4xf64> })");
  std::string message;
  ScopedDiagnosticHandler handler(model.context(), [&](Diagnostic &each) {
    message = each.str();
    return success();
  });
  EXPECT_TRUE(failed(differentiate(
      model, {randomOf(model.entry().getResultTypes()[0], 1, {})})));
  EXPECT_EQ(message, "'stablehlo.custom_call' op has no gradient");
}

/// Through the permutation, whose ties do not matter; places have no gradient.
TEST(Gradient, OfOrder) {
  for (const char *stable : {"false", "true"})
    for (const char *direction : {"LT", "GT"})
      check(
          std::string(R"((%x: tensor<4x5xf64>, %z: tensor<4x5xf64>)
      -> (tensor<4x5xf64>, tensor<4x5xf64>) {
    %n = stablehlo.iota dim = 0 : tensor<4x5xi32>
    %y:3 = "stablehlo.sort"(%x, %n, %z) ({
    ^bb0(%a: tensor<f64>, %b: tensor<f64>, %i: tensor<i32>, %j: tensor<i32>, %c: tensor<f64>, %d: tensor<f64>):
      %r = stablehlo.compare )") +
          direction +
          R"(, %a, %b : (tensor<f64>, tensor<f64>) -> tensor<i1>
      stablehlo.return %r : tensor<i1>
    }) {dimension = 0 : i64, is_stable = )" +
          stable +
          R"(} : (tensor<4x5xf64>, tensor<4x5xi32>, tensor<4x5xf64>) -> (tensor<4x5xf64>, tensor<4x5xi32>, tensor<4x5xf64>)
    return %y#0, %y#2 : tensor<4x5xf64>, tensor<4x5xf64> })");
  check(
      R"((%x: tensor<4xf64>, %z: tensor<4xf64>) -> (tensor<4xf64>, tensor<4xf64>) {
    %y:2 = stablehlo.optimization_barrier %x, %z : tensor<4xf64>, tensor<4xf64>
    %a = stablehlo.multiply %y#0, %y#1 : tensor<4xf64>
    return %a, %y#1 : tensor<4xf64>, tensor<4xf64> })");
}

TEST(Gradient, OfReductionsByAnyBody) {
  check(R"((%x: tensor<3x5x2xf64>, %i: tensor<f64>) -> tensor<5xf64> {
    %y = stablehlo.reduce(%x init: %i) applies stablehlo.multiply across dimensions = [2, 0]
        : (tensor<3x5x2xf64>, tensor<f64>) -> tensor<5xf64>
    return %y : tensor<5xf64> })");
  // The greatest, and what stands beside it.
  check(
      R"((%x: tensor<3x7xf64>, %z: tensor<3x7xf64>, %k: tensor<f64>) -> (tensor<3xf64>, tensor<3xf64>) {
    %i = stablehlo.constant dense<-9.0> : tensor<f64>
    %y:2 = "stablehlo.reduce"(%x, %z, %i, %k) ({
    ^bb0(%a: tensor<f64>, %b: tensor<f64>, %c: tensor<f64>, %d: tensor<f64>):
      %p = stablehlo.compare GT, %a, %c : (tensor<f64>, tensor<f64>) -> tensor<i1>
      %v = stablehlo.select %p, %a, %c : tensor<i1>, tensor<f64>
      %w = stablehlo.select %p, %b, %d : tensor<i1>, tensor<f64>
      stablehlo.return %v, %w : tensor<f64>, tensor<f64>
    }) {dimensions = array<i64: 1>} : (tensor<3x7xf64>, tensor<3x7xf64>, tensor<f64>, tensor<f64>) -> (tensor<3xf64>, tensor<3xf64>)
    return %y#0, %y#1 : tensor<3xf64>, tensor<3xf64> })");
  for (const char *op : {"multiply", "maximum"})
    check(std::string(
              R"((%x: tensor<6x5xf64>, %i: tensor<f64>) -> tensor<4x6xf64> {
    %y = "stablehlo.reduce_window"(%x, %i) ({
    ^bb0(%a: tensor<f64>, %b: tensor<f64>):
      %s = stablehlo.)") +
          op + R"( %a, %b : tensor<f64>
      stablehlo.return %s : tensor<f64>
    }) {window_dimensions = array<i64: 2, 3>, window_strides = array<i64: 2, 1>,
        base_dilations = array<i64: 1, 2>, window_dilations = array<i64: 1, 2>,
        padding = dense<[[1, 1], [0, 1]]> : tensor<2x2xi64>}
        : (tensor<6x5xf64>, tensor<f64>) -> tensor<4x6xf64>
    return %y : tensor<4x6xf64> })");
}

TEST(Gradient, OfSelectAndScatter) {
  check(
      R"((%x: tensor<5x6xf64>, %s: tensor<3x3xf64>, %i: tensor<f64>) -> tensor<5x6xf64> {
    %y = "stablehlo.select_and_scatter"(%x, %s, %i) ({
    ^bb0(%a: tensor<f64>, %b: tensor<f64>):
      %p = stablehlo.compare GE, %a, %b : (tensor<f64>, tensor<f64>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    }, {
    ^bb0(%a: tensor<f64>, %b: tensor<f64>):
      %r = stablehlo.add %a, %b : tensor<f64>
      stablehlo.return %r : tensor<f64>
    }) {window_dimensions = array<i64: 3, 2>, window_strides = array<i64: 2, 2>,
        padding = dense<[[1, 1], [0, 0]]> : tensor<2x2xi64>}
        : (tensor<5x6xf64>, tensor<3x3xf64>, tensor<f64>) -> tensor<5x6xf64>
    return %y : tensor<5x6xf64> })");
}

/// What rounds lets the gradient through.
TEST(Gradient, OfRounding) {
  for (const char *body :
       {"%y = stablehlo.reduce_precision %x, format = e5m2 : tensor<4xf32>",
        "%q = stablehlo.uniform_quantize %x : (tensor<4xf32>) -> "
        "tensor<4x!quant.uniform<i8:f32, 0.01:3>>\n"
        "%y = stablehlo.uniform_dequantize %q : "
        "(tensor<4x!quant.uniform<i8:f32, 0.01:3>>) -> tensor<4xf32>"}) {
    SCOPED_TRACE(body);
    Model model = parse(std::string("func.func @main(%x: tensor<4xf32>) -> "
                                    "tensor<4xf32> {\n") +
                        body + "\nreturn %y : tensor<4xf32> }");
    ASSERT_TRUE(model.module());
    Type type = model.entry().getArgumentTypes()[0];
    Tensor input = randomOf(type, 1, {}), weight = randomOf(type, 2, {});
    std::vector<Tensor> weights = {weight}, inputs = {input};
    ASSERT_TRUE(succeeded(differentiate(model, weights)));
    auto got = interpret(model.entry(), inputs);
    ASSERT_TRUE(got) << got.error().message;
    for (int64_t i = 0; i < weight.size(); ++i)
      EXPECT_EQ((*got)[0].toDouble(i), weight.toDouble(i));
  }
}

/// x^0 is flat, at zero too; the slope of x^1 is 1 there.
TEST(Gradient, OfPowersOfZero) {
  check(R"((%x: tensor<4xf64>) -> tensor<4xf64> {
    %z = stablehlo.constant dense<0.0> : tensor<4xf64>
    %p = stablehlo.constant dense<[0.0, 1.0, 2.0, 3.0]> : tensor<4xf64>
    %o = stablehlo.multiply %x, %z : tensor<4xf64>
    %a = stablehlo.add %o, %x : tensor<4xf64>
    %y = stablehlo.power %a, %p : tensor<4xf64>
    return %y : tensor<4xf64> })",
        {0, 0});
}

TEST(Gradient, OfComplexNumbers) {
  const std::string z = "tensor<5xcomplex<f64>>";
  auto checkComplex = [&](const std::string &body) {
    check("(%a: tensor<5xf64>, %b: tensor<5xf64>, %c: tensor<5xf64>) -> "
          "(tensor<5xf64>, tensor<5xf64>) {\n"
          "%x = stablehlo.complex %a, %b : " +
              z + "\n%w = stablehlo.complex %c, %a : " + z + "\n" + body +
              "\n%r = stablehlo.real %y : (" + z + ") -> tensor<5xf64>\n" +
              "%i = stablehlo.imag %y : (" + z + ") -> tensor<5xf64>\n" +
              "return %r, %i : tensor<5xf64>, tensor<5xf64> }",
          {0.4, 1.2});
  };
  for (const char *op :
       {"cosine", "exponential", "exponential_minus_one", "log", "log_plus_one",
        "logistic", "negate", "rsqrt", "sine", "sqrt", "tan", "tanh"})
    checkComplex(std::string("%y = stablehlo.") + op + " %x : " + z);
  for (const char *op : {"add", "subtract", "multiply", "divide"})
    checkComplex(std::string("%y = stablehlo.") + op + " %x, %w : " + z);
  checkComplex(
      "%p = stablehlo.constant dense<true> : tensor<i1>\n"
      "%y = \"stablehlo.if\"(%p) ({\n%v = stablehlo.multiply %x, %w : " +
      z + "\nstablehlo.return %v : " + z +
      "\n}, {\nstablehlo.return %x : " + z + "\n}) : (tensor<i1>) -> " + z);
}

TEST(Gradient, OfComplexProducts) {
  check(
      R"((%a: tensor<3x4xf64>, %b: tensor<3x4xf64>, %c: tensor<4x2xf64>) -> (tensor<3x2xf64>, tensor<3x2xf64>) {
    %x = stablehlo.complex %a, %b : tensor<3x4xcomplex<f64>>
    %s = stablehlo.sine %c : tensor<4x2xf64>
    %w = stablehlo.complex %c, %s : tensor<4x2xcomplex<f64>>
    %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
        : (tensor<3x4xcomplex<f64>>, tensor<4x2xcomplex<f64>>) -> tensor<3x2xcomplex<f64>>
    %r = stablehlo.real %y : (tensor<3x2xcomplex<f64>>) -> tensor<3x2xf64>
    %i = stablehlo.imag %y : (tensor<3x2xcomplex<f64>>) -> tensor<3x2xf64>
    return %r, %i : tensor<3x2xf64>, tensor<3x2xf64> })");
}

TEST(Gradient, OfFourierTransforms) {
  for (const char *type : {"FFT", "IFFT"})
    check(
        std::string(
            R"((%a: tensor<2x3x4xf64>, %b: tensor<2x3x4xf64>) -> (tensor<2x3x4xf64>, tensor<2x3x4xf64>) {
    %x = stablehlo.complex %a, %b : tensor<2x3x4xcomplex<f64>>
    %y = stablehlo.fft %x, type = )") +
        type +
        R"(, length = [3, 4] : (tensor<2x3x4xcomplex<f64>>) -> tensor<2x3x4xcomplex<f64>>
    %r = stablehlo.real %y : (tensor<2x3x4xcomplex<f64>>) -> tensor<2x3x4xf64>
    %i = stablehlo.imag %y : (tensor<2x3x4xcomplex<f64>>) -> tensor<2x3x4xf64>
    return %r, %i : tensor<2x3x4xf64>, tensor<2x3x4xf64> })");
  for (const char *size : {"4", "5"}) {
    const std::string whole = std::string("tensor<3x") + size + "xf64>";
    const std::string half = "tensor<3x3xf64>", z = "tensor<3x3xcomplex<f64>>";
    const std::string length = std::string(", length = [3, ") + size + "]";
    check("(%a: " + whole + ") -> (" + half + ", " + half + ") {\n" +
          "%y = stablehlo.fft %a, type = RFFT" + length + " : (" + whole +
          ") -> " + z + "\n%r = stablehlo.real %y : (" + z + ") -> " + half +
          "\n%i = stablehlo.imag %y : (" + z + ") -> " + half +
          "\nreturn %r, %i : " + half + ", " + half + " }");
    check("(%a: " + half + ", %b: " + half + ") -> " + whole + " {\n" +
          "%x = stablehlo.complex %a, %b : " + z +
          "\n%y = stablehlo.fft %x, type = IRFFT" + length + " : (" + z +
          ") -> " + whole + "\nreturn %y : " + whole + " }");
  }
}

TEST(Gradient, OfTriangularMatrices) {
  for (const char *isLeft : {"true", "false"})
    for (const char *isLower : {"true", "false"})
      for (const char *isUnit : {"true", "false"})
        for (const char *transpose : {"NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"})
          check(
              std::string(
                  R"((%a: tensor<2x3x3xf64>, %b: tensor<2x3x3xf64>) -> tensor<2x3x3xf64> {
    %y = "stablehlo.triangular_solve"(%a, %b) {left_side = )") +
                  isLeft + ", lower = " + isLower + ", unit_diagonal = " +
                  isUnit + ", transpose_a = #stablehlo<transpose " + transpose +
                  R"(>} : (tensor<2x3x3xf64>, tensor<2x3x3xf64>) -> tensor<2x3x3xf64>
    return %y : tensor<2x3x3xf64> })",
              {0.8, 1.6});
  for (const char *isLower : {"true", "false"})
    check(std::string(R"((%x: tensor<2x3x3xf64>) -> tensor<2x3x3xf64> {
    %d = stablehlo.constant dense<[[4.0, 0.0, 0.0], [0.0, 5.0, 0.0], [0.0, 0.0, 6.0]]> : tensor<3x3xf64>
    %e = stablehlo.broadcast_in_dim %d, dims = [1, 2] : (tensor<3x3xf64>) -> tensor<2x3x3xf64>
    %a = stablehlo.add %x, %e : tensor<2x3x3xf64>
    %y = stablehlo.cholesky %a, lower = )") +
          isLower + R"( : tensor<2x3x3xf64>
    return %y : tensor<2x3x3xf64> })");
}

/// One error for one cause, at the operation inside the branch, and the way.
/// From 0 by 100 an i8 is never 120 or more as soon as it looks: it wraps.
TEST(Gradient, CountsNoTripsOfACounterThatWraps) {
  Model model = parse(R"(func.func @main(%x: tensor<f64>) -> tensor<f64> {
    %i = stablehlo.constant dense<0> : tensor<i8>
    %end = stablehlo.constant dense<120> : tensor<i8>
    %by = stablehlo.constant dense<100> : tensor<i8>
    %y:2 = "stablehlo.while"(%i, %x) ({
    ^bb0(%a: tensor<i8>, %b: tensor<f64>):
      %c = stablehlo.compare LT, %a, %end : (tensor<i8>, tensor<i8>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    }, {
    ^bb0(%a: tensor<i8>, %b: tensor<f64>):
      %n = stablehlo.add %a, %by : tensor<i8>
      %s = stablehlo.sine %b : tensor<f64>
      stablehlo.return %n, %s : tensor<i8>, tensor<f64>
    }) : (tensor<i8>, tensor<f64>) -> (tensor<i8>, tensor<f64>)
    return %y#1 : tensor<f64> })");
  std::string message;
  ScopedDiagnosticHandler handler(model.context(), [&](Diagnostic &each) {
    message = each.str();
    return success();
  });
  EXPECT_TRUE(failed(differentiate(
      model, {randomOf(model.entry().getResultTypes()[0], 1, {})})));
  EXPECT_NE(message.find("has no gradient"), std::string::npos) << message;
}

TEST(Gradient, SaysTheWay) {
  Model model = parse(R"(func.func @main(%x: tensor<4xf64>) -> tensor<4xf64> {
    %t = stablehlo.tanh %x : tensor<4xf64>
    %p = stablehlo.constant dense<true> : tensor<i1>
    %y = "stablehlo.if"(%p) ({
      %n = stablehlo.negate %t : tensor<4xf64>
      %c = stablehlo.custom_call @nobody(%n) : (tensor<4xf64>) -> tensor<4xf64>
      %s = stablehlo.sine %c : tensor<4xf64>
      stablehlo.return %s : tensor<4xf64>
    }, {
      stablehlo.return %t : tensor<4xf64>
    }) : (tensor<i1>) -> tensor<4xf64>
    return %y : tensor<4xf64> })");
  std::vector<std::string> messages;
  ScopedDiagnosticHandler handler(model.context(), [&](Diagnostic &each) {
    messages.push_back(each.str());
    return success();
  });
  EXPECT_TRUE(failed(differentiate(
      model, {randomOf(model.entry().getResultTypes()[0], 1, {})})));
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_TRUE(StringRef(messages[0])
                  .starts_with("'stablehlo.custom_call' op has no gradient; "
                               "what is differentiated depends on it through "
                               "stablehlo.sine at "))
      << messages[0];
  EXPECT_NE(messages[0].find("through stablehlo.negate at "), std::string::npos)
      << messages[0];
}
