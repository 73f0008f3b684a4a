//===- DecompositionTest.cpp - nn operations against their decompositions -===//
//
// The interpreter's own evaluation of an nn operation and its decomposition are
// written independently of each other: they must agree.
//
//===----------------------------------------------------------------------===//

#include "graph/interfaces/Interfaces.h"
#include "interpreter/Evaluate.h"

#include <cmath>

using namespace sinter;

/// Numbers between -1 and 1 that differ from input to input.
static Tensor someNumbers(const TensorSpec &spec, uint32_t seed) {
  Tensor tensor(spec.type, spec.shape);
  for (float &value : tensor.mutableValues<float>()) {
    seed = seed * 1664525u + 1013904223u;
    value = static_cast<float>(seed >> 8) / (1 << 23) - 1.0f;
  }
  return tensor;
}

/// Runs `%r = <op>` of type \p type on f32 \p arguments ("%x: tensor<...>,
/// ...") both ways.
static void compare(const std::string &arguments, const std::string &op,
                    const std::string &type) {
  SCOPED_TRACE(op);
  auto context = makeContext();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(
      "func.func @main(" + arguments + ") -> " + type + " {\n" + op +
          "\nreturn %r : " + type + "\n}",
      context.get());
  ASSERT_TRUE(module);
  Model model(context, std::move(module));
  std::vector<Tensor> inputs;
  for (const TensorSpec &spec : model.inputs())
    inputs.push_back(
        someNumbers(spec, 17 + static_cast<uint32_t>(inputs.size())));
  auto direct = interpret(model.entry(), inputs);
  ASSERT_TRUE(direct) << direct.error().message;

  Model decomposed = model.clone();
  std::vector<DecomposableOpInterface> ops;
  decomposed.module().walk(
      [&](DecomposableOpInterface each) { ops.push_back(each); });
  ASSERT_EQ(ops.size(), 1u);
  mlir::OpBuilder builder(ops[0]);
  auto values = ops[0].decompose(builder);
  ASSERT_TRUE(mlir::succeeded(values));
  ops[0]->replaceAllUsesWith(*values);
  ops[0]->erase();
  auto through = interpret(decomposed.entry(), inputs);
  ASSERT_TRUE(through) << through.error().message;

  ASSERT_EQ(direct->front().shape(), through->front().shape());
  for (int64_t i = 0; i < direct->front().size(); ++i)
    ASSERT_NEAR(direct->front().toDouble(i), through->front().toDouble(i), 2e-6)
        << "element " << i;
}

static void unary(const std::string &op, const std::string &type) {
  compare("%x: " + type, "%r = nn." + op + " : " + type, type);
}

TEST(Decomposition, Normalization) {
  unary("softmax %x, axes = [1, 2]", "tensor<2x3x4xf32>");
  unary("log_softmax %x, axes = [0]", "tensor<2x3x4xf32>");
  unary("hardmax %x, axis = 1", "tensor<2x3x4xf32>");
  unary("lp_normalize %x, axis = 1 {p = 1 : i64}", "tensor<2x3x4xf32>");
  unary("lrn %x {size = 4 : i64, alpha = 0.5 : f64, beta = 0.75 : f64, "
        "bias = 2.0 : f64}",
        "tensor<2x5x4xf32>");
  compare("%x: tensor<2x6x5xf32>, %s: tensor<6xf32>, %b: tensor<6xf32>",
          "%r = nn.group_norm %x, %s, %b groups = 3 {epsilon = 0.01 : f64} : "
          "(tensor<2x6x5xf32>, tensor<6xf32>, tensor<6xf32>) -> "
          "tensor<2x6x5xf32>",
          "tensor<2x6x5xf32>");
  compare("%x: tensor<2x3x4xf32>, %s: tensor<3x4xf32>, %b: tensor<4xf32>",
          "%r, %m, %d = nn.layer_norm %x, %s, %b axis = 1 {epsilon = 0.01 : "
          "f64, compute_type = f32} : (tensor<2x3x4xf32>, tensor<3x4xf32>, "
          "tensor<4xf32>) -> (tensor<2x3x4xf32>, tensor<2x1x1xf32>, "
          "tensor<2x1x1xf32>)",
          "tensor<2x3x4xf32>");
}

TEST(Decomposition, Pooling) {
  const std::string window =
      " %x, window = [3, 2] strides = [2, 1] {dilations = array<i64: 1, 2>, "
      "padding_low = array<i64: 1, 0>, padding_high = array<i64: 2, 1>";
  const std::string type = "} : (tensor<1x2x6x5xf32>) -> tensor<1x2x4x4xf32>";
  for (const std::string &op :
       {"max_pool" + window,
        "average_pool" + window + ", count_padding = false",
        "average_pool" + window +
            ", count_padding = true, ceil_padding = array<i64: 1, 0>",
        "lp_pool" + window + ", p = 2 : i64"})
    compare("%x: tensor<1x2x6x5xf32>", "%r = nn." + op + type,
            "tensor<1x2x4x4xf32>");
}

TEST(Decomposition, Recurrent) {
  auto layer = [](const std::string &name, int gates, const std::string &more,
                  const std::string &functions, int states) {
    const std::string rows = std::to_string(3 * gates);
    const std::string w = "tensor<2x" + rows + "x4xf32>";
    const std::string r = "tensor<2x" + rows + "x3xf32>";
    const std::string b = "tensor<2x" + std::to_string(6 * gates) + "xf32>";
    std::string results = "tensor<3x2x2x3xf32>", names = "%r";
    for (int i = 0; i < states; ++i) {
      results += ", tensor<2x2x3xf32>";
      names += ", %s" + std::to_string(i);
    }
    compare("%x: tensor<3x2x4xf32>, %w: " + w + ", %u: " + r + ", %b: " + b +
                ", %h: tensor<2x2x3xf32>",
            names + " = \"nn." + name +
                "\"(%x, %w, %u, %b, %h) {direction = \"bidirectional\", "
                "activations = [" +
                functions + ", " + functions + "], " + more +
                "} : (tensor<3x2x4xf32>, " + w + ", " + r + ", " + b +
                ", tensor<2x2x3xf32>) -> (" + results + ")",
            "tensor<3x2x2x3xf32>");
  };
  layer("lstm", 4,
        "input_forget = false, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, "
        "1, 0, 0>",
        R"("Sigmoid", "Tanh", "Tanh")", 2);
  layer("gru", 3,
        "linear_before_reset = false, operandSegmentSizes = array<i32: 1, 1, "
        "1, 1, 0, 1>",
        R"("Sigmoid", "Tanh")", 1);
  layer("gru", 3,
        "linear_before_reset = true, clip = 0.5 : f64, operandSegmentSizes = "
        "array<i32: 1, 1, 1, 1, 0, 1>",
        R"("HardSigmoid", "Softsign")", 1);
  layer("rnn", 1, "operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 1>",
        R"("Relu")", 1);
}

TEST(Decomposition, Resize) {
  auto resize = [](const std::string &how, const std::string &flags) {
    compare("%x: tensor<1x5x4xf32>",
            "%r = nn.resize %x, scales = [1.0, 0.6, 2.5], " + how + " {" +
                flags + "} : (tensor<1x5x4xf32>) -> tensor<1x3x10xf32>",
            "tensor<1x3x10xf32>");
  };
  const std::string plain = "exclude_outside = false, antialias = false";
  for (const std::string coordinates :
       {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel",
        "align_corners", "asymmetric"}) {
    for (const std::string mode : {"linear", "cubic"})
      resize("\"" + mode + "\", \"" + coordinates + "\", \"floor\"", plain);
    for (const std::string nearest :
         {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"})
      resize("\"nearest\", \"" + coordinates + "\", \"" + nearest + "\"",
             plain);
  }
  resize(R"("cubic", "half_pixel", "floor")",
         "exclude_outside = true, antialias = false");
  resize(R"("linear", "half_pixel", "floor")",
         "exclude_outside = false, antialias = true");
}
